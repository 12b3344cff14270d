/*
 * Compares every kernel in double with the Orocos KDL, a library that shares no code with ours, on
 * random chains in all three conventions, with revolute and prismatic joints, rotors, tool, base
 * and payload.
 */
#include "dyn/number/f64.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_forward.h"
#include "test/support/dyn/dyn_kdl.h"
#include "test/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DYN_REAL f64
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL

#ifdef TEST_LONG
enum { CHAINS = 1000 };
#else
enum { CHAINS = 30 };
#endif
enum { LONGEST = 12, STATES = 2 };

static dyn_source_t source;
static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_methods_scratch_f64_t scratch;
static dyn_arms_random_t seed;
static double q[LONGEST], qd[LONGEST], qdd[LONGEST];

static double uniform(double size) {
    return size * dyn_arms_uniform(&seed);
}

static void fill(double *x, int n, double size) {
    for (int i = 0; i < n; i++)
        x[i] = uniform(size);
}

/* The moments of inertia are between 0.03 and 0.05 kg m^2, so that any three satisfy the triangle
 * inequality; the products of inertia are smaller. */
static void random_body(dyn_body_t *body) {
    body->mass = 2 + uniform(1.5);
    fill(body->com, 3, 0.2);
    for (int k = 0; k < 3; k++) {
        body->inertia[k] = 0.04 + uniform(0.01);
        body->inertia[3 + k] = uniform(0.002);
    }
}

static void random_chain(uint32_t n, dyn_convention_t convention) {
    source = (dyn_source_t){.convention = convention, .n = n};
    fill(source.gravity, 3, 10);
    fill(source.base_xyz, 3, 1);
    fill(source.base_rpy, 3, 3);
    fill(source.tool_xyz, 3, 0.2);
    fill(source.tool_rpy, 3, 3);
    random_body(&source.payload);
    for (uint32_t i = 0; i < n; i++) {
        dyn_source_joint_t *j = &source.joint[i];
        j->type = uniform(1) > 0.4 ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->theta = uniform(3);
        j->alpha = uniform(3);
        j->a = uniform(0.3);
        j->d = uniform(0.3);
        fill(j->xyz, 3, 0.3);
        fill(j->rpy, 3, 3);
        fill(j->axis, 3, 1);
        random_body(&j->link);
        fill(j->inertia_rpy, 3, 3);
        if (uniform(1) > 0) {
            j->drive.motor.gear = 50 + uniform(20);
            j->drive.motor.rotor_inertia = 1e-4 * (1.5 + uniform(1));
        }
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

static void random_state(void) {
    for (uint32_t i = 0; i < source.n; i++) {
        q[i] = uniform(source.joint[i].type == DYN_PRISMATIC ? 0.3 : 3);
        qd[i] = uniform(2);
        qdd[i] = uniform(5);
    }
}

static void expect(const char *problem, const char *method, const double *expected,
                   const double *got, uint32_t n, double tolerance) {
    char text[160];
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(got[i] - expected[i]) <= tolerance)
            continue;
        snprintf(text, sizeof text, "%s %s, convention %d, n = %u, element %u: %.17g, KDL %.17g",
                 problem, method, (int)source.convention, source.n, i, got[i], expected[i]);
        TEST_FAIL_MESSAGE(text);
    }
}

static double allowed(const double *expected, uint32_t n) {
    return 1e-10 * (1 + forward_largest(n, expected));
}

/* Runs the check on every chain in several states. */
static void on_every_chain(uint64_t start, void (*check)(kdl_arm_t *oracle)) {
    seed.state = start;
    for (uint32_t n = 1; n <= LONGEST; n++)
        for (int k = 0; k < 3 * CHAINS; k++) {
            random_chain(n, (dyn_convention_t)(k % 3));
            kdl_arm_t *oracle = kdl_arm_new(&source);
            for (int s = 0; s < STATES; s++) {
                random_state();
                memset(&scratch, 0xA5, sizeof scratch);
                check(oracle);
            }
            kdl_arm_free(oracle);
        }
}

static void check_inverse(kdl_arm_t *oracle) {
    const uint32_t n = source.n;
    double expected[LONGEST], got[LONGEST], wrench[6];
    fill(wrench, 6, 20);
    for (const dyn_inverse_row_f64_t *row = dyn_inverses_f64; row->name; row++) {
        kdl_inverse(oracle, q, qd, qdd, NULL, expected);
        row->run(&arm, &scratch, q, qd, qdd, got);
        dyn_rotor_inverse_f64(&arm, qdd, got);
        expect("id", row->name, expected, got, n, allowed(expected, n));
        kdl_inverse(oracle, q, qd, qdd, wrench, expected);
        dyn_wrench_torque_f64(&arm, q, wrench, got);
        expect("id with wrench", row->name, expected, got, n, allowed(expected, n));
    }
}

static void check_bias(kdl_arm_t *oracle) {
    const uint32_t n = source.n;
    double gravity[LONGEST], coriolis[LONGEST], bias[LONGEST], got[LONGEST];
    double C[LONGEST * LONGEST];
    kdl_gravity(oracle, q, gravity);
    kdl_coriolis(oracle, q, qd, coriolis);
    for (uint32_t i = 0; i < n; i++)
        bias[i] = gravity[i] + coriolis[i];
    for (const dyn_bias_row_f64_t *row = dyn_biases_f64; row->name; row++) {
        row->run(&arm, &scratch, q, qd, got);
        expect("bias", row->name, bias, got, n, allowed(bias, n));
    }
    for (const dyn_mass_row_f64_t *row = dyn_gravities_f64; row->name; row++) {
        row->run(&arm, &scratch, q, got);
        expect("gravity", row->name, gravity, got, n, allowed(gravity, n));
    }
    for (const dyn_bias_row_f64_t *row = dyn_corioles_f64; row->name; row++) {
        row->run(&arm, &scratch, q, qd, C);
        for (uint32_t r = 0; r < n; r++) {
            got[r] = 0;
            for (uint32_t c = 0; c < n; c++)
                got[r] += C[r * n + c] * qd[c];
        }
        expect("coriolis", row->name, coriolis, got, n, allowed(coriolis, n));
    }
}

static void check_mass(kdl_arm_t *oracle) {
    const uint32_t n = source.n, size = n * (n + 1) / 2;
    double expected[LONGEST * (LONGEST + 1) / 2], got[LONGEST * (LONGEST + 1) / 2];
    kdl_mass(oracle, q, expected);
    for (const dyn_mass_row_f64_t *row = dyn_masses_f64; row->name; row++) {
        row->run(&arm, &scratch, q, got);
        dyn_rotor_mass_f64(&arm, got);
        expect("mass", row->name, expected, got, size, allowed(expected, size));
    }
}

static void check_forward(kdl_arm_t *oracle) {
    double tau[LONGEST], expected[LONGEST], got[LONGEST], M[LONGEST * (LONGEST + 1) / 2];
    fill(tau, (int)source.n, 10);
    kdl_mass(oracle, q, M);
    kdl_forward(oracle, q, qd, tau, expected);
    const double tolerance = forward_tolerance(source.n, M, expected);
    for (const dyn_forward_row_f64_t *row = dyn_forwards_f64; row->name; row++) {
        TEST_ASSERT_EQUAL_INT(DYN_OK, row->run(&arm, &scratch, q, qd, tau, got));
        expect("fd", row->name, expected, got, source.n, tolerance);
    }
}

static void check_kinematics(kdl_arm_t *oracle) {
    double pose[2][12], J[2][6 * LONGEST];
    kdl_pose(oracle, q, pose[0]);
    dyn_pose_f64(&arm, q, pose[1]);
    expect("fk", "", pose[0], pose[1], 12, allowed(pose[0], 12));
    kdl_jacobian(oracle, q, J[0]);
    dyn_jacobian_f64(&arm, q, J[1]);
    expect("jacobian", "", J[0], J[1], 6 * source.n, allowed(J[0], 6 * source.n));
}

static void test_inverse_dynamics_and_wrench(void) {
    on_every_chain(88172645463325252u, check_inverse);
}

static void test_bias_gravity_and_coriolis(void) {
    on_every_chain(362436069u, check_bias);
}

static void test_inertia_matrix(void) {
    on_every_chain(521288629u, check_mass);
}

static void test_forward_dynamics(void) {
    on_every_chain(123456789u, check_forward);
}

static void test_pose_and_jacobian(void) {
    on_every_chain(2463534242u, check_kinematics);
}

/* Shows that the comparison is sensitive: if the centre of mass of one link of our model moves by a
 * millimetre, the torques differ from those of the KDL. */
static void test_the_oracle_sees_a_difference(void) {
    double expected[LONGEST], got[LONGEST], worst = 0;
    seed.state = 42;
    random_chain(6, DYN_CONVENTION_FRAMES);
    random_state();
    kdl_arm_t *oracle = kdl_arm_new(&source);
    model.joint[4].link.com[1] += 1e-3;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    kdl_inverse(oracle, q, qd, qdd, NULL, expected);
    dyn_inverses_f64[0].run(&arm, &scratch, q, qd, qdd, got);
    dyn_rotor_inverse_f64(&arm, qdd, got);
    for (int i = 0; i < 6; i++)
        worst = fmax(worst, fabs(got[i] - expected[i]));
    TEST_ASSERT_TRUE(worst > 1e-4);
    kdl_arm_free(oracle);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_inverse_dynamics_and_wrench)
    TEST(test_bias_gravity_and_coriolis)
    TEST(test_inertia_matrix)
    TEST(test_forward_dynamics)
    TEST(test_pose_and_jacobian)
    TEST(test_the_oracle_sees_a_difference)
TEST_LIST_END
// clang-format on
