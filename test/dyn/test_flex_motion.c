/*
 * Tests elastic arms in motion: the simulations of the reference values, conservation of energy in
 * the plane and in space, convergence to the rigid arm, natural frequencies, and more modes.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/flex_reference.h"
#include "test/support/harness.h"
#include "test/support/robot_help.h"

enum { SIZE = DYN_FLEX_MAX };

static flex_arm_t made;
static dyn_arm_f64_t arm;
static dyn_flex_f64_t flex;
static dyn_flex_forward_scratch_f64_t scratch;

static void prepare(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&made.model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_f64(&made.model, &made.flex, NULL, &flex));
}

/* ------------------------------------------------------------------ Dormand and Prince, order 5 */

typedef void (*drive_t)(double t, double *tau);

static void no_drive(double t, double *tau) {
    (void)t;
    for (uint32_t i = 0; i < flex.size; i++)
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
static const double fault[7] = {71 / 57600.,      0,         -71 / 16695., 71 / 1920.,
                                -17253 / 339200., 22 / 525., -1 / 40.};

/* Integrates from t to end. *h is the step, which adapts; tolerance times 1 + |y| is the error
 * allowed for a component in one step. */
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

/* --------------------------------------------------------------------------------------- energy */

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

/* Simulates two seconds without drive; returns the largest change of energy relative to the largest
 * kinetic energy. */
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
    harness_measured("flex.drift_plane", "%.0e", drift);
    TEST_ASSERT_TRUE(drift < 1e-8);
}

/* Axes that are not parallel, bending in both planes, torsion and a payload: in such a motion the
 * term w x theta', which equation (70) drops, has a visible effect on the energy. */
static void test_energy_is_conserved_in_space(void) {
    double y[2 * SIZE] = {0.3, -0.4, 0.01, 0.005, 0.02, 0.8, -0.01, 0.006, 0.5, 1, 0, 0, 0, -2};
    flex_arm(FLEX_ARM_SPACE, &made);
    prepare();
    const double drift = energy_drift(y);
    harness_note_number("drift in space, 1e-12 of the kinetic energy", (int64_t)(drift * 1e12));
    harness_measured("flex.drift_space", "%.0e", drift);
    TEST_ASSERT_TRUE(drift < 1e-8);
}

/* With damping the energy falls and never rises. */
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

/* ----------------------------------------------------------------------------- reference values */

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

/* Returns the largest difference from the reference. */
static double follow(const cJSON *sim) {
    double y[2 * SIZE] = {0}, h = 1e-4;
    const cJSON *times = item(sim, "t"), *angles = item(sim, "Theta"),
                *speeds = item(sim, "Thetad");
    const int n = cJSON_GetArraySize(item(sim, "Theta0"));
    TEST_ASSERT_EQUAL_INT(flex.size, n);
    row_of(item(sim, "Theta0"), -1, n, y);
    row_of(item(sim, "Thetad0"), -1, n, y + n);
    double t = 0, worst = 0;
    for (int k = 1; k < cJSON_GetArraySize(times); k++) {
        const double to = cJSON_GetArrayItem(times, k)->valuedouble;
        double want[8] = {0};
        integrate(no_drive, t, to, 1e-11, &h, y);
        t = to;
        row_of(angles, k, n, want);
        row_of(speeds, k, n, want + n);
        for (int i = 0; i < 2 * n; i++) {
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-6, want[i], y[i], item(sim, "name")->valuestring);
            worst = fmax(worst, fabs(want[i] - y[i]));
        }
    }
    harness_note(item(sim, "name")->valuestring);
    harness_note_number("  farthest from the reference values, 1e-12", (int64_t)(worst * 1e12));
    return worst;
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
    const cJSON *sims = item(json, "sims");
    TEST_ASSERT_EQUAL_INT(3, cJSON_GetArraySize(sims));
    flex_arm(FLEX_ARM_PLANAR, &made);
    prepare();
    double worst = follow(cJSON_GetArrayItem(sims, 0));
    made.model.gravity[1] = 0;
    prepare();
    worst = fmax(worst, follow(cJSON_GetArrayItem(sims, 1)));
    /* The rigid limit is the same arm without any mode. */
    flex_arm(FLEX_ARM_PLANAR, &made);
    memset(&made.flex, 0, sizeof made.flex);
    prepare();
    worst = fmax(worst, follow(cJSON_GetArrayItem(sims, 2)));
    harness_measured("flex.motion", "%.0e", worst);
    cJSON_Delete(json);
}

/* ---------------------------------------------------------------------------- stiff and stiffer */

/* Returns the largest difference between the joint angles and those of the rigid arm during half a
 * second of fall. */
static double distance_to_rigid(double factor) {
    static double rigid[11][2];
    double y[2 * SIZE] = {-0.5, 0, 0.8, 0}, h = 1e-4, worst = 0;
    flex_arm(FLEX_ARM_PLANAR, &made);
    for (uint32_t i = 0; i < 2; i++) {
        made.beam[i].EI_z *= factor;
        flex_arm_beam(&made, i);
    }
    if (factor == 0) {
        memset(&made.flex, 0, sizeof made.flex);
        y[1] = y[2];
        y[2] = 0;
    }
    prepare();
    for (int k = 1; k <= 10; k++) {
        integrate(no_drive, (k - 1) * 0.05, k * 0.05, 1e-10, &h, y);
        for (uint32_t i = 0; i < 2; i++) {
            if (factor == 0)
                rigid[k][i] = y[flex.link[i].at];
            worst = fmax(worst, fabs(y[flex.link[i].at] - rigid[k][i]));
        }
    }
    return worst;
}

/* The deflection is proportional to 1 / EI, and so is the vibration that the arm starts with. */
static void test_stiffer_beams_approach_the_rigid_arm(void) {
    TEST_ASSERT_EQUAL_DOUBLE(0, distance_to_rigid(0));
    const double soft = distance_to_rigid(1), stiff = distance_to_rigid(1e2),
                 stiffer = distance_to_rigid(1e4);
    harness_note_number("joints from the rigid arm, EI as given, nrad", (int64_t)(soft * 1e9));
    harness_note_number("  EI times 100, nrad", (int64_t)(stiff * 1e9));
    harness_note_number("  EI times 10,000, nrad", (int64_t)(stiffer * 1e9));
    harness_measured("flex.stiff", "%.1e, %.1e, %.1e", soft, stiff, stiffer);
    TEST_ASSERT_TRUE(stiff < soft / 30 && stiffer < stiff / 30);
    TEST_ASSERT_TRUE(stiffer < 2e-5);
}

/* ------------------------------------------------------------------------------ vibrating beams */

/* Returns the natural frequencies, ascending: the square roots of the eigenvalues of (K, M), by
 * Jacobi's rotations. */
static void frequencies(uint32_t n, double M[][8], double K[][8], double *out) {
    double A[8][8];
    /* With M = L L^T, the matrix A = L^-1 K L^-T has the same eigenvalues. */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = M[i][j];
            for (uint32_t k = 0; k < j; k++)
                sum -= M[i][k] * M[j][k];
            M[i][j] = i == j ? sqrt(sum) : sum / M[j][j];
        }
    memcpy(A, K, sizeof A);
    for (int side = 0; side < 2; side++) {
        for (uint32_t c = 0; c < n; c++)
            for (uint32_t i = 0; i < n; i++) {
                for (uint32_t k = 0; k < i; k++)
                    A[i][c] -= M[i][k] * A[k][c];
                A[i][c] /= M[i][i];
            }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i; j++) {
                const double swap = A[i][j];
                A[i][j] = A[j][i];
                A[j][i] = swap;
            }
    }
    for (int sweep = 0; sweep < 50; sweep++)
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++) {
                if (A[p][q] == 0)
                    continue;
                const double angle = 0.5 * atan2(2 * A[p][q], A[q][q] - A[p][p]);
                const double c = cos(angle), s = sin(angle);
                for (uint32_t k = 0; k < n; k++) {
                    const double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y;
                    A[k][q] = s * x + c * y;
                }
                for (uint32_t k = 0; k < n; k++) {
                    const double x = A[p][k], y = A[q][k];
                    A[p][k] = c * x - s * y;
                    A[q][k] = s * x + c * y;
                }
            }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        const double value = sqrt(fmax(0, A[i][i]));
        for (; at > 0 && out[at - 1] > value; at--)
            out[at] = out[at - 1];
        out[at] = value;
    }
}

/* Natural frequencies of one beam with this many modes; the joint is free or fixed. */
static void beam_frequencies(uint32_t modes, bool held, double *out) {
    static dyn_flex_scratch_f64_t own;
    double theta[SIZE] = {0}, I[SIZE], M[8][8] = {{0}}, K[8][8] = {{0}};
    made =
        (flex_arm_t){.model = {.n = 1}, .beam = {{.length = 1, .mu = 1, .EI_z = 1, .xy = modes}}};
    made.model.base = made.model.tool = dyn_pose_identity();
    flex_arm_beam(&made, 0);
    prepare();
    dyn_flex_mass_f64(&arm, &flex, &own, theta, I);
    const uint32_t skip = held ? 1 : 0, n = flex.size - skip;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            M[i][k] = M[k][i] = I[(i + skip) * (i + skip + 1) / 2 + k + skip];
    for (uint32_t c = skip; c < flex.size; c++) {
        double unit[SIZE] = {0}, force[SIZE] = {0};
        unit[c] = 1;
        dyn_flex_strain_f64(&flex, unit, NULL, force);
        for (uint32_t i = skip; i < flex.size; i++)
            K[i - skip][c - skip] = force[i];
    }
    frequencies(n, M, K, out);
}

/*
 * Textbook values of beta^2 are 3.516, 22.03, 61.70 for the clamped-free beam and 0, 15.418, 49.965
 * for the pinned-free beam. The clamped-free ones are exact, because they are the modes themselves.
 * The pinned-free ones are approached from above (Ritz), and more modes come closer.
 */
static void test_a_single_beam_has_its_natural_frequencies(void) {
    static const double clamped[3] = {3.516015269, 22.03449156, 61.69721441};
    static const double pinned[3] = {0, 15.41820572, 49.96486203};
    double f[8], before[3] = {0, 1e9, 1e9};
    beam_frequencies(3, true, f);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-8 * clamped[i], clamped[i], f[i]);
    for (uint32_t modes = 2; modes <= 6; modes++) {
        beam_frequencies(modes, false, f);
        TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0, f[0]);
        for (int i = 1; i < 3; i++) {
            TEST_ASSERT_TRUE(f[i] > pinned[i] && f[i] < before[i]);
            before[i] = f[i];
        }
    }
    harness_note_number("first frequency of the pinned beam above the exact one, ppm",
                        (int64_t)((f[1] / pinned[1] - 1) * 1e6));
    harness_measured("flex.pinned", "%.1g", (f[1] / pinned[1] - 1) * 1e6);
    TEST_ASSERT_TRUE(f[1] < 1.005 * pinned[1]);
    TEST_ASSERT_TRUE(f[2] < 1.02 * pinned[2]);
}

/* Returns the position of the tip after 0.4 s of fall with this many modes on both links. */
static void tip_after(uint32_t modes, double *out) {
    double y[2 * SIZE] = {0}, h = 1e-4, pose[12];
    flex_arm(FLEX_ARM_PLANAR, &made);
    for (uint32_t i = 0; i < 2; i++) {
        made.beam[i].xy = modes;
        flex_arm_beam(&made, i);
    }
    made.model.tool.p[0] = 1;
    prepare();
    y[flex.link[1].at] = 0.6;
    integrate(no_drive, 0, 0.4, 1e-9, &h, y);
    dyn_flex_pose_f64(&arm, &flex, y, pose);
    out[0] = pose[3];
    out[1] = pose[7];
}

static void test_the_tip_converges_with_more_modes(void) {
    double tip[4][2];
    for (uint32_t modes = 1; modes <= 4; modes++)
        tip_after(modes, tip[modes - 1]);
    double step[3];
    for (int i = 0; i < 3; i++)
        step[i] = hypot(tip[i + 1][0] - tip[i][0], tip[i + 1][1] - tip[i][1]);
    harness_note_number("tip moves from 1 to 2 modes, um", (int64_t)(step[0] * 1e6));
    harness_note_number("  from 2 to 3, um", (int64_t)(step[1] * 1e6));
    harness_note_number("  from 3 to 4, um", (int64_t)(step[2] * 1e6));
    harness_measured("flex.modes", "%.2f, %.3f, %.3f", step[0] * 1e3, step[1] * 1e3, step[2] * 1e3);
    TEST_ASSERT_TRUE(step[1] < step[0] / 2 && step[2] < step[1]);
}

TEST_LIST_BEGIN
TEST(test_energy_is_conserved_in_the_plane)
TEST(test_energy_is_conserved_in_space)
TEST(test_damping_takes_energy)
TEST(test_two_seconds_are_the_reference_values)
TEST(test_stiffer_beams_approach_the_rigid_arm)
TEST(test_a_single_beam_has_its_natural_frequencies)
TEST(test_the_tip_converges_with_more_modes)
TEST_LIST_END
