/*
 * Elastic arms in motion: the simulations of the reference values, conservation of energy in the
 * plane and in space, the way to the rigid arm, natural frequencies, and more modes.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/f64.h"
#include "test/dyn_arms.h"
#include "test/flex_reference.h"
#include "test/harness.h"
#include "test/robot_help.h"

enum { SIZE = DYN_FLEX_MAX };

static flex_arm_t made;
static dyn_arm_f64_t arm;
static dyn_flex_f64_t flex;
static dyn_flex_forward_scratch_f64_t scratch;

static void prepare(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&made.model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_f64(&made.model, &made.flex, NULL, &flex));
}

/* ------------------------------------------------------------------- Dormand and Prince, order 5 */

typedef void (*drive_t)(double t, double *tau);

static void no_drive(double t, double *tau) {
    (void)t;
    for (uint32_t i = 0; i < flex.n; i++)
        tau[i] = 0;
}

static void rates(drive_t drive, double t, const double *y, double *yd) {
    const uint32_t n = flex.size;
    double tau[SIZE];
    drive(t, tau);
    memcpy(yd, y + n, n * sizeof *y);
    TEST_ASSERT_EQUAL_INT(DYN_OK,
                          dyn_flex_forward_f64(&arm, &flex, &scratch, y, y + n, tau, yd + n));
}

static const double node[7] = {0, 1 / 5., 3 / 10., 4 / 5., 8 / 9., 1, 1};
static const double part[7][6] = {
    {0},
    {1 / 5.},
    {3 / 40., 9 / 40.},
    {44 / 45., -56 / 15., 32 / 9.},
    {19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729.},
    {9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656.},
    {35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84.}};
static const double fault[7] = {71 / 57600.,      0,           -71 / 16695., 71 / 1920.,
                                -17253 / 339200., 22 / 525.,   -1 / 40.};

/* From t to end; *h is the step, which adapts. tolerance: of each component, absolute. */
static void integrate(drive_t drive, double t, double end, double tolerance, double *h, double *y) {
    const uint32_t n = 2 * flex.size;
    double k[7][2 * SIZE], x[2 * SIZE];
    while (t < end) {
        const bool last = t + *h >= end;
        const double step = last ? end - t : *h;
        for (int s = 0; s < 7; s++) {
            for (uint32_t i = 0; i < n; i++) {
                x[i] = y[i];
                for (int m = 0; m < s; m++)
                    x[i] += step * part[s][m] * k[m][i];
            }
            rates(drive, t + node[s] * step, x, k[s]);
        }
        double worst = 1e-30;
        for (uint32_t i = 0; i < n; i++) {
            double e = 0;
            for (int s = 0; s < 7; s++)
                e += step * fault[s] * k[s][i];
            worst = fmax(worst, fabs(e) / (tolerance * (1 + fabs(y[i]))));
        }
        if (worst <= 1) {
            t = last ? end : t + step;
            memcpy(y, x, n * sizeof *y);
        }
        if (!last || worst > 1)
            *h = step * fmin(4, fmax(0.2, 0.9 * pow(worst, -0.2)));
    }
}

/* -------------------------------------------------------------------------------------- energy */

static double kinetic(const double *y) {
    static dyn_flex_scratch_f64_t own;
    static double I[SIZE * (SIZE + 1) / 2];
    const uint32_t n = flex.size;
    double sum = 0;
    dyn_flex_mass_f64(&arm, &flex, &own, y, I);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            sum += (i == k ? 0.5 : 1) * I[i * (i + 1) / 2 + k] * y[n + i] * y[n + k];
    return sum;
}

/* Two seconds without drive: the largest change of energy as a part of the largest kinetic one. */
static double energy_drift(double *y) {
    double h = 1e-4, most = kinetic(y), drift = 0;
    const double begin = kinetic(y) + flex_reference_potential(&made, y);
    for (int k = 0; k < 40; k++) {
        integrate(no_drive, k * 0.05, (k + 1) * 0.05, 1e-12, &h, y);
        const double T = kinetic(y);
        most = fmax(most, T);
        drift = fmax(drift, fabs(T + flex_reference_potential(&made, y) - begin));
    }
    return drift / most;
}

static void test_energy_is_conserved_in_the_plane(void) {
    double y[2 * SIZE] = {-0.3, 0.01, 0.5, -0.008, 0.5, 0, -1, 0};
    flex_arm(FLEX_ARM_PLANAR, &made);
    prepare();
    const double drift = energy_drift(y);
    harness_note_number("drift in the plane, 1e-12 of the kinetic energy", (int64_t)(drift * 1e12));
    TEST_ASSERT_TRUE(drift < 1e-8);
}

/* Axes that are not parallel, bending in both planes, torsion, a load: the term w x theta' that
 * (70) drops is seen here. The sections of the second arm have damping, which must not act. */
static void test_energy_is_conserved_in_space(void) {
    double y[2 * SIZE] = {0.3, -0.4, 0.01, 0.005, 0.02, 0.8, -0.01, 0.006, 0.5, 1, 0, 0, 0, -2};
    flex_arm(FLEX_ARM_SPACE, &made);
    prepare();
    const double drift = energy_drift(y);
    harness_note_number("drift in space, 1e-12 of the kinetic energy", (int64_t)(drift * 1e12));
    TEST_ASSERT_TRUE(drift < 1e-8);
}

/* With damping the energy falls, and never rises. */
static void test_damping_takes_energy(void) {
    double y[2 * SIZE] = {0.1, 0.01, 0.005, 0, 0, 0.2, 0.01}, h = 1e-4;
    flex_arm(FLEX_ARM_SPACE, &made);
    made.beam[1].damping = made.beam[2].damping = 2e-3;
    flex_arm_beam(&made, 1);
    flex_arm_beam(&made, 2);
    prepare();
    double before = kinetic(y) + flex_reference_potential(&made, y), begin = before;
    for (int k = 0; k < 20; k++) {
        integrate(no_drive, k * 0.01, (k + 1) * 0.01, 1e-10, &h, y);
        const double now = kinetic(y) + flex_reference_potential(&made, y);
        TEST_ASSERT_TRUE(now < before + 1e-9);
        before = now;
    }
    TEST_ASSERT_TRUE(begin - before > 1e-2);
}

/* ------------------------------------------------------------------------------ reference values */

static const cJSON *item(const cJSON *object, const char *key) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    TEST_ASSERT_NOT_NULL_MESSAGE(found, key);
    return found;
}

static void row_of(const cJSON *list, int at, int n, double *out) {
    const cJSON *row = at < 0 ? list : cJSON_GetArrayItem(list, at);
    for (int i = 0; i < n; i++)
        out[i] = cJSON_GetArrayItem(row, i)->valuedouble;
}

/* The torques of a simulation, from its note. */
static const char *note;

static void noted_drive(double t, double *tau) {
    tau[0] = tau[1] = 0;
    if (strstr(note, "bang"))
        tau[0] = t < 1 ? 1 : -1;
    (void)t;
}

static void follow(const cJSON *sim) {
    double y[2 * SIZE] = {0}, h = 1e-4;
    const cJSON *times = item(sim, "t"), *angles = item(sim, "Theta"), *speeds = item(sim, "Thetad");
    note = item(sim, "note")->valuestring;
    row_of(item(sim, "Theta0"), -1, 4, y);
    row_of(item(sim, "Thetad0"), -1, 4, y + 4);
    double t = 0, worst = 0;
    for (int k = 1; k < cJSON_GetArraySize(times); k++) {
        const double to = cJSON_GetArrayItem(times, k)->valuedouble;
        double want[8];
        integrate(noted_drive, t, to, 1e-11, &h, y);
        t = to;
        row_of(angles, k, 4, want);
        row_of(speeds, k, 4, want + 4);
        for (int i = 0; i < 8; i++) {
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-6, want[i], y[i], item(sim, "name")->valuestring);
            worst = fmax(worst, fabs(want[i] - y[i]));
        }
    }
    harness_note(item(sim, "name")->valuestring);
    harness_note_number("  farthest from the reference values, 1e-12", (int64_t)(worst * 1e12));
}

static void test_two_seconds_are_the_reference_values(void) {
    const char *folder = getenv("GOLDEN");
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/flexible2.json", folder ? folder : "../shared/golden");
    char *text = help_read(path, &size);
    if (!text)
        TEST_IGNORE_MESSAGE("no reference values (../shared/golden or $GOLDEN)");
    cJSON *json = cJSON_Parse(text);
    free(text);
    flex_arm(FLEX_ARM_PLANAR, &made);
    prepare();
    const cJSON *sim;
    cJSON_ArrayForEach(sim, item(json, "sims"))
        follow(sim);
    cJSON_Delete(json);
}
