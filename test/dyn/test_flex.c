/*
 * Tests the kernels of elastic links in double precision: against the reference values of the arm
 * of paper 004, against a model from first principles for spatial arms, and against each other.
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
static dyn_flex_scratch_f64_t scratch;
static dyn_flex_forward_scratch_f64_t forward;
static dyn_flex_static_scratch_f64_t still;

static void prepare(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&made.model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_f64(&made.model, &made.flex, NULL, &flex));
}

/* ----------------------------------------------------------------------------- reference values */

static cJSON *golden(void) {
    const char *folder = getenv("GOLDEN");
    char path[512];
    snprintf(path, sizeof path, "%s/flexible2.json", folder ? folder : "../shared/golden");
    size_t size;
    char *text = help_read(path, &size);
    if (!text)
        TEST_IGNORE_MESSAGE("no reference values (../shared/golden or $GOLDEN)");
    cJSON *json = cJSON_Parse(text);
    free(text);
    TEST_ASSERT_NOT_NULL_MESSAGE(json, path);
    return json;
}

static const cJSON *item(const cJSON *object, const char *key) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    TEST_ASSERT_NOT_NULL_MESSAGE(found, key);
    return found;
}

static void numbers(const cJSON *object, const char *key, int n, double *out) {
    const cJSON *list = item(object, key);
    TEST_ASSERT_EQUAL_INT(n, cJSON_GetArraySize(list));
    for (int i = 0; i < n; i++)
        out[i] = cJSON_GetArrayItem(list, i)->valuedouble;
}

/* The largest differences so far. */
static struct { double golden, matrix, gravity, velocity; } worst;

static void compare_state(const cJSON *state, const cJSON *want) {
    double theta[4], thetad[4], tau[2], Re[4], force[4], I[10];
    numbers(state, "Theta", 4, theta);
    numbers(state, "Thetad", 4, thetad);
    numbers(state, "tau", 2, tau);
    numbers(want, "Re", 4, Re);
    dyn_flex_mass_f64(&arm, &flex, &scratch, theta, I);
    dyn_flex_bias_f64(&arm, &flex, &scratch, theta, thetad, force);
    dyn_flex_strain_f64(&flex, theta, thetad, force);
    for (int i = 0; i < 4; i++) {
        const double drive = i % 2 == 0 ? tau[i / 2] : 0;
        worst.golden = fmax(worst.golden, fabs(Re[i] - drive + force[i]));
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, Re[i], drive - force[i]);
        for (int k = 0; k <= i; k++) {
            const double want_I =
                cJSON_GetArrayItem(cJSON_GetArrayItem(item(want, "I"), i), k)->valuedouble;
            worst.golden = fmax(worst.golden, fabs(I[i * (i + 1) / 2 + k] - want_I));
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, want_I, I[i * (i + 1) / 2 + k]);
        }
    }
}

static void test_matrix_and_right_hand_side_are_the_reference_values(void) {
    cJSON *json = golden();
    const cJSON *state;
    int count = 0;
    flex_arm(FLEX_ARM_PLANAR, &made);
    prepare();
    cJSON_ArrayForEach(state, item(json, "states")) {
        double theta[4], thetad[4], tau[4] = {0}, joint[2], want[4], got[4], pose[12], tip[2];
        compare_state(state, state);
        numbers(state, "Theta", 4, theta);
        numbers(state, "Thetad", 4, thetad);
        numbers(state, "tau", 2, joint);
        tau[0] = joint[0];
        tau[2] = joint[1];
        numbers(state, "Thetadd", 4, want);
        numbers(state, "tip", 2, tip);
        TEST_ASSERT_EQUAL_INT(DYN_OK,
                              dyn_flex_forward_f64(&arm, &flex, &forward, theta, thetad, tau, got));
        /* The tolerance includes the condition number of the matrix, about 1e4. */
        for (int i = 0; i < 4; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-11 * (1 + fabs(want[0]) + fabs(want[2])), want[i], got[i]);
        made.model.tool.p[0] = 1;
        prepare();
        dyn_flex_pose_f64(&arm, &flex, theta, pose);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, tip[0], pose[3]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, tip[1], pose[7]);
        count++;
    }
    TEST_ASSERT_EQUAL_INT(5, count);
    cJSON_Delete(json);
}

/* E in equation (6) of the paper, taken as printed, is a different model. The reference values
 * contain this model too. */
static void test_the_linear_form_is_the_papers_own(void) {
    cJSON *json = golden();
    const cJSON *state;
    flex_arm(FLEX_ARM_PLANAR, &made);
    made.flex.linear = true;
    prepare();
    cJSON_ArrayForEach(state, item(json, "states"))
        compare_state(state, item(state, "paper_linearised_E"));
    harness_measured("flex.golden", "%.0e", worst.golden);
    cJSON_Delete(json);
}

/* ------------------------------------------------------------------------ from first principles */

static void random_state(dyn_arms_random_t *seed, double amplitude, double *theta, double *thetad,
                         double *thetadd) {
    for (uint32_t k = 0; k < flex.size; k++) {
        theta[k] = amplitude * dyn_arms_uniform(seed);
        thetad[k] = dyn_arms_uniform(seed);
        thetadd[k] = 5 * dyn_arms_uniform(seed);
    }
    for (uint32_t i = 0; i < flex.n; i++)
        theta[flex.link[i].at] = (arm.joint[i].prismatic ? 0.3 : 3) * dyn_arms_uniform(seed);
}

static double largest_of(const double *x, uint32_t n) {
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static void each_arm(void (*check)(const double *theta, const double *thetad,
                                   const double *thetadd)) {
    dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};
    for (int a = 0; a < FLEX_ARMS; a++) {
        flex_arm((flex_arm_name_t)a, &made);
        prepare();
        for (int s = 0; s < 3; s++) {
            double theta[SIZE], thetad[SIZE], thetadd[SIZE];
            random_state(&seed, 0.03, theta, thetad, thetadd);
            check(theta, thetad, thetadd);
        }
    }
}

static void check_matrix(const double *theta, const double *thetad, const double *thetadd) {
    static double want[SIZE * SIZE], got[SIZE * (SIZE + 1) / 2], force[2][SIZE];
    const uint32_t n = flex.size;
    dyn_flex_mass_f64(&arm, &flex, &scratch, theta, got);
    flex_reference_mass(&made, theta, want);
    const double most = 1 + largest_of(want, n * n), tolerance = 1e-13 * most;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++) {
            const double is = got[i * (i + 1) / 2 + k];
            worst.matrix = fmax(worst.matrix, fabs(is - want[i * n + k]) / most);
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance, want[i * n + k], is, made.name);
        }
    /* The matrix also follows from the forces that accelerations add to the bias. */
    dyn_flex_inverse_f64(&arm, &flex, &scratch, theta, thetad, thetadd, force[0]);
    dyn_flex_bias_f64(&arm, &flex, &scratch, theta, thetad, force[1]);
    for (uint32_t i = 0; i < n; i++) {
        double sum = force[1][i];
        for (uint32_t k = 0; k < n; k++)
            sum += want[i * n + k] * thetadd[k];
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(100 * tolerance, sum, force[0][i], made.name);
    }
}

/* The tolerance is relative to 1 + the largest force. */
static void near_forces(double tolerance, const double *want, const double *got, double *most) {
    const double scale = 1 + largest_of(want, flex.size);
    for (uint32_t i = 0; i < flex.size; i++) {
        *most = fmax(*most, fabs(got[i] - want[i]) / scale);
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance * scale, want[i], got[i], made.name);
    }
}

static void check_gravity(const double *theta, const double *thetad, const double *thetadd) {
    (void)thetad, (void)thetadd;
    double rest[SIZE] = {0}, want[SIZE], got[SIZE];
    dyn_flex_bias_f64(&arm, &flex, &scratch, theta, rest, got);
    flex_reference_gravity(&made, theta, want);
    near_forces(1e-12, want, got, &worst.gravity);
    memset(got, 0, sizeof got);
    dyn_flex_strain_f64(&flex, theta, NULL, got);
    flex_reference_strain(&made, theta, want);
    near_forces(1e-12, want, got, &worst.gravity);
}

static void check_coriolis(const double *theta, const double *thetad, const double *thetadd) {
    (void)thetadd;
    double rest[SIZE] = {0}, want[SIZE], with[SIZE], without[SIZE];
    dyn_flex_bias_f64(&arm, &flex, &scratch, theta, rest, without);
    dyn_flex_bias_f64(&arm, &flex, &scratch, theta, thetad, with);
    flex_reference_coriolis(&made, theta, thetad, want);
    /* The differences in the reference have an error of h^4 / 30 times the fifth derivative. A
     * second mode turns the end by 16 rad per metre, and the matrix contains that angle twice. The
     * error is therefore (32 h)^4 / 30 = 2e-9 of the slope. */
    for (uint32_t i = 0; i < flex.size; i++)
        with[i] -= without[i];
    near_forces(1e-8, want, with, &worst.velocity);
}

static void check_effector(const double *theta, const double *thetad, const double *thetadd) {
    (void)thetadd;
    const uint32_t n = flex.size;
    static double want[6 * SIZE], got[6 * SIZE];
    double force[SIZE] = {0}, wrench[6] = {3, -2, 5, 0.7, 0.1, -0.4};
    dyn_flex_pose_f64(&arm, &flex, theta, got);
    flex_reference_pose(&made, theta, want);
    for (uint32_t i = 0; i < 12; i++)
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-13, want[i], got[i], made.name);
    double R[12];
    memcpy(R, want, sizeof R);
    dyn_flex_jacobian_f64(&arm, &flex, theta, got);
    flex_reference_jacobian(&made, theta, want);
    for (uint32_t i = 0; i < 6 * n; i++)
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-12 * (1 + largest_of(want, 6 * n)), want[i], got[i],
                                          made.name);
    /* The kernel must give -J^T W, with W turned from the axes of the end effector to those of the
     * world. */
    dyn_flex_wrench_f64(&arm, &flex, &scratch, theta, wrench, force);
    for (uint32_t c = 0; c < n; c++) {
        double sum = 0;
        for (uint32_t i = 0; i < 6; i++)
            for (uint32_t k = 0; k < 3; k++)
                sum -= want[i * n + c] * R[4 * (i % 3) + k] * wrench[i / 3 * 3 + k];
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-11 * (1 + fabs(sum)), sum, force[c], made.name);
    }
    (void)thetad;
}

static void test_the_matrix_is_that_of_the_moving_matter(void) {
    each_arm(check_matrix);
    harness_measured("flex.matrix", "%.0e", worst.matrix);
}

static void test_gravity_and_strain_are_slopes_of_the_energy(void) {
    each_arm(check_gravity);
    harness_measured("flex.gravity", "%.0e", worst.gravity);
}

static void test_velocity_forces_are_lagranges(void) {
    each_arm(check_coriolis);
    harness_measured("flex.velocity", "%.0e", worst.velocity);
}

static void test_effector_jacobian_and_wrench(void) {
    each_arm(check_effector);
}

/* --------------------------------------------------------------------------- against each other */

/* Without modes (m_i = 0) all links are rigid and the results must equal those of the rigid
 * kernels. */
static void test_without_modes_it_is_the_rigid_arm(void) {
    static dyn_ne_scratch_f64_t ne;
    static dyn_crba_scratch_f64_t crba;
    dyn_arms_random_t seed = {42};
    for (uint32_t n = 1; n <= DYN_FLEX_MAX_JOINTS; n++) {
        double q[SIZE], qd[SIZE], qdd[SIZE], want[SIZE], got[SIZE], M[2][SIZE * SIZE];
        flex_chain(n, 0, 1, 1, &made);
        if (n > 2)
            made.model.joint[2].type = DYN_PRISMATIC;
        made.model.payload = (dyn_body_t){1, {0.1, 0.2, 0.3}, {0.1, 0.1, 0.1, 0, 0, 0}};
        prepare();
        TEST_ASSERT_EQUAL_UINT32(n, flex.size);
        random_state(&seed, 3, q, qd, qdd);
        dyn_ne_inverse_f64(&arm, &ne, q, qd, qdd, want);
        dyn_flex_inverse_f64(&arm, &flex, &scratch, q, qd, qdd, got);
        for (uint32_t i = 0; i < n; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + largest_of(want, n)), want[i], got[i]);
        dyn_crba_mass_f64(&arm, &crba, q, M[0]);
        dyn_flex_mass_f64(&arm, &flex, &scratch, q, M[1]);
        for (uint32_t i = 0; i < n * (n + 1) / 2; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + largest_of(M[0], n)), M[0][i], M[1][i]);
    }
}

/* Computes the torques and elastic accelerations of a joint motion. With these torques, forward
 * dynamics must give that motion. */
static void check_inverse(const double *theta, const double *thetad, const double *thetadd) {
    double qdd[SIZE] = {0}, tau[SIZE] = {0}, out[SIZE], back[SIZE];
    for (uint32_t i = 0; i < flex.n; i++)
        qdd[i] = thetadd[flex.link[i].at];
    TEST_ASSERT_EQUAL_INT(
        DYN_OK, dyn_flex_torque_f64(&arm, &flex, &forward, theta, thetad, qdd, NULL, out));
    for (uint32_t i = 0; i < flex.n; i++)
        tau[flex.link[i].at] = out[flex.link[i].at];
    TEST_ASSERT_EQUAL_INT(DYN_OK,
                          dyn_flex_forward_f64(&arm, &flex, &forward, theta, thetad, tau, back));
    const double tolerance = 1e-10 * (1 + largest_of(back, flex.size));
    for (uint32_t i = 0; i < flex.n; i++) {
        const uint32_t at = flex.link[i].at;
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance, qdd[i], back[at], made.name);
        for (uint32_t k = 1; k <= flex.link[i].modes; k++)
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance, out[at + k], back[at + k], made.name);
    }
}

static void test_the_inverse_problem_undoes_forward_dynamics(void) {
    each_arm(check_inverse);
}

/* At the deflection that `static` finds, the force on the modes is zero, because the stiffness
 * carries the load. */
static void check_static(const double *theta, const double *thetad, const double *thetadd) {
    double at[SIZE] = {0}, qd[SIZE], qdd[SIZE], tau[SIZE], rate[SIZE] = {0}, more[SIZE] = {0};
    double force[SIZE], strain[SIZE] = {0}, first = 0, last = 0;
    for (uint32_t i = 0; i < flex.n; i++) {
        const uint32_t k = flex.link[i].at;
        at[k] = theta[k];
        qd[i] = rate[k] = thetad[k];
        qdd[i] = more[k] = thetadd[k];
    }
    for (int round = 0; round < 40; round++) {
        double before[SIZE];
        memcpy(before, at, sizeof before);
        dyn_flex_static_f64(&arm, &flex, &still, qd, qdd, NULL, 1, at, tau);
        last = 0;
        for (uint32_t k = 0; k < flex.size; k++)
            last = fmax(last, fabs(at[k] - before[k]));
        if (round == 0)
            first = last;
    }
    /* For all these arms each round at least halves the error, down to rounding. */
    TEST_ASSERT_TRUE_MESSAGE(first > 1e-4 && last < 1e-12, made.name);
    dyn_flex_inverse_f64(&arm, &flex, &scratch, at, rate, more, force);
    dyn_flex_strain_f64(&flex, at, NULL, strain);
    for (uint32_t i = 0; i < flex.n; i++) {
        const uint32_t k = flex.link[i].at;
        const double rotor = arm.joint[i].geared ? arm.joint[i].rotor * qdd[i] : 0;
        TEST_ASSERT_DOUBLE_WITHIN(1e-8, force[k] + rotor, tau[i]);
        for (uint32_t m = 1; m <= flex.link[i].modes; m++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0, force[k + m] + strain[k + m]);
    }
    /* One call with forty rounds gives the same result. */
    double once[SIZE];
    for (uint32_t k = 0; k < flex.size; k++)
        once[k] = 0;
    for (uint32_t i = 0; i < flex.n; i++)
        once[flex.link[i].at] = theta[flex.link[i].at];
    dyn_flex_static_f64(&arm, &flex, &still, qd, qdd, NULL, 40, once, tau);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(at, once, flex.size);
}

static void test_quasi_static_deflection_balances_the_load(void) {
    each_arm(check_static);
}

/* The tip of a cantilever under its own weight sinks by l^4 mu g / 8 EI; the first three modes give
 * 99.9 % of that. */
static void test_a_cantilever_hangs_as_it_should(void) {
    double theta[SIZE] = {0}, none[SIZE] = {0}, tau[SIZE], pose[12];
    made = (flex_arm_t){.model = {.n = 1, .gravity = {0, -9.81, 0}},
                        .beam = {{.length = 1.2, .mu = 2, .EI_z = 500, .xy = 3}}};
    made.model.base = made.model.tool = dyn_pose_identity();
    made.model.tool.p[0] = 1.2;
    flex_arm_beam(&made, 0);
    prepare();
    dyn_flex_static_f64(&arm, &flex, &still, none, none, NULL, 20, theta, tau);
    dyn_flex_pose_f64(&arm, &flex, theta, pose);
    const double tip = -2 * 9.81 * pow(1.2, 4) / (8 * 500);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3 * fabs(tip), tip, pose[7]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2 * 1.2 * 9.81 * 0.6, tau[0]);
}

static void test_what_cannot_be_is_refused(void) {
    flex_arm(FLEX_ARM_SPACE, &made);
    made.flex.link[1].length = 0.8;
    TEST_ASSERT_EQUAL_INT(DYN_E_BASE, dyn_flex_check(&made.model, &made.flex));
    flex_arm(FLEX_ARM_SPACE, &made);
    made.flex.link[1].mode[0].stiffness[0] = -1;
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_flex_check(&made.model, &made.flex));
    flex_arm(FLEX_ARM_SPACE, &made);
    made.flex.link[1].mode[0].mass[1] = NAN;
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_flex_check(&made.model, &made.flex));
    flex_arm(FLEX_ARM_SPACE, &made);
    made.flex.link[1].modes[DYN_FLEX_XY] = UINT32_MAX;
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_flex_check(&made.model, &made.flex));
    flex_chain(DYN_FLEX_MAX_JOINTS, 6, 3, 3, &made);
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_flex_check(&made.model, &made.flex));
}

TEST_LIST_BEGIN
TEST(test_matrix_and_right_hand_side_are_the_reference_values)
TEST(test_the_linear_form_is_the_papers_own)
TEST(test_the_matrix_is_that_of_the_moving_matter)
TEST(test_gravity_and_strain_are_slopes_of_the_energy)
TEST(test_velocity_forces_are_lagranges)
TEST(test_effector_jacobian_and_wrench)
TEST(test_without_modes_it_is_the_rigid_arm)
TEST(test_the_inverse_problem_undoes_forward_dynamics)
TEST(test_quasi_static_deflection_balances_the_load)
TEST(test_a_cantilever_hangs_as_it_should)
TEST(test_what_cannot_be_is_refused)
TEST_LIST_END
