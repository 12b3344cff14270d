/*
 * Every kernel takes the same number of instructions for every state, in f32 where there is an FPU
 * and in q31 everywhere. The test prints the counts of the PUMA 560, so that one run gives the
 * whole table; each count includes one or two instructions for the call through the table.
 */
#include "dyn/number/f32.h"
#include "dyn/number/q31.h"
#include "test/support/cost.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"

#include <string.h>

#ifdef __ARM_FP
#define DYN_REAL f32
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL
#endif
#define DYN_REAL q31
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL

enum { STATES = 100, JOINTS = 7 };

static dyn_model_t model;

static cost_t costs[48];
static uint32_t cost_count, varying;

static void see(uint32_t kernel, uint32_t start, uint32_t end) {
    TEST_ASSERT_TRUE(kernel < sizeof costs / sizeof costs[0]);
    for (; cost_count <= kernel; cost_count++)
        costs[cost_count] = (cost_t)COST_NONE;
    cost_see(&costs[kernel], start, end);
}

static void expect(const char *real, const char *problem, const char *method, const char *robot,
                   uint32_t kernel) {
    char text[120];
    strcpy(text, real);
    strcat(text, " ");
    strcat(text, problem);
    strcat(text, " ");
    strcat(text, method);
    strcat(text, ", ");
    strcat(text, robot);
    if (!strcmp(robot, "puma560"))
        harness_note_number(text, costs[kernel].most);
    TEST_ASSERT_GREATER_THAN_UINT32_MESSAGE(30, costs[kernel].least, text);
    if (costs[kernel].least != costs[kernel].most) {
        harness_note_number(strcat(text, " NOT CONSTANT, least"), costs[kernel].least);
        varying++;
    }
}

#define MEASURE(call)                                                                              \
    do {                                                                                           \
        const uint32_t start_ = cycles_now();                                                      \
        call;                                                                                      \
        see(kernel++, start_, cycles_now());                                                       \
    } while (0)

/* Runs the kernels in the order of the tables, then those that have a single method. */
#define CONSTANT_TEST(REAL, REAL_T)                                                                \
    static dyn_arm_##REAL##_t arm_##REAL;                                                          \
    static dyn_methods_scratch_##REAL##_t scratch_##REAL;                                          \
    static int solved_##REAL;                                                                      \
                                                                                                   \
    static void run_##REAL(const REAL_T *q, const REAL_T *qd, const REAL_T *qdd,                   \
                           const REAL_T *wrench) {                                                 \
        static REAL_T tau[JOINTS], out[JOINTS * JOINTS];                                           \
        const dyn_arm_##REAL##_t *a = &arm_##REAL;                                                 \
        dyn_methods_scratch_##REAL##_t *work = &scratch_##REAL;                                    \
        uint32_t kernel = 0;                                                                       \
        for (const dyn_inverse_row_##REAL##_t *m = dyn_inverses_##REAL; m->name; m++)              \
            MEASURE(m->run(a, work, q, qd, qdd, tau));                                             \
        for (const dyn_bias_row_##REAL##_t *m = dyn_biases_##REAL; m->name; m++)                   \
            MEASURE(m->run(a, work, q, qd, out));                                                  \
        for (const dyn_mass_row_##REAL##_t *m = dyn_gravities_##REAL; m->name; m++)                \
            MEASURE(m->run(a, work, q, out));                                                      \
        for (const dyn_mass_row_##REAL##_t *m = dyn_masses_##REAL; m->name; m++)                   \
            MEASURE(m->run(a, work, q, out));                                                      \
        for (const dyn_bias_row_##REAL##_t *m = dyn_corioles_##REAL; m->name; m++)                 \
            MEASURE(m->run(a, work, q, qd, out));                                                  \
        for (const dyn_forward_row_##REAL##_t *m = dyn_forwards_##REAL; m->name; m++) {            \
            int status;                                                                            \
            MEASURE(status = m->run(a, work, q, qd, tau, out));                                    \
            solved_##REAL += status == DYN_OK;                                                     \
        }                                                                                          \
        MEASURE(dyn_pose_##REAL(a, q, out));                                                       \
        MEASURE(dyn_jacobian_##REAL(a, q, out));                                                   \
        MEASURE(dyn_wrench_torque_##REAL(a, q, wrench, tau));                                      \
        MEASURE(dyn_rotor_inverse_##REAL(a, qdd, tau));                                            \
        MEASURE(dyn_rotor_mass_##REAL(a, out));                                                    \
        MEASURE(dyn_friction_##REAL(a, qd, tau));                                                  \
        MEASURE(dyn_voltage_##REAL(a, qd, tau, out));                                              \
        MEASURE(dyn_motor_torque_##REAL(a, qd, out, tau));                                         \
    }                                                                                              \
                                                                                                   \
    static void expect_##REAL(const char *robot) {                                                 \
        uint32_t kernel = 0, forwards = 0;                                                         \
        for (const dyn_inverse_row_##REAL##_t *m = dyn_inverses_##REAL; m->name; m++)              \
            expect(#REAL, "id", m->name, robot, kernel++);                                         \
        for (const dyn_bias_row_##REAL##_t *m = dyn_biases_##REAL; m->name; m++)                   \
            expect(#REAL, "bias", m->name, robot, kernel++);                                       \
        for (const dyn_mass_row_##REAL##_t *m = dyn_gravities_##REAL; m->name; m++)                \
            expect(#REAL, "gravity", m->name, robot, kernel++);                                    \
        for (const dyn_mass_row_##REAL##_t *m = dyn_masses_##REAL; m->name; m++)                   \
            expect(#REAL, "mass", m->name, robot, kernel++);                                       \
        for (const dyn_bias_row_##REAL##_t *m = dyn_corioles_##REAL; m->name; m++)                 \
            expect(#REAL, "coriolis", m->name, robot, kernel++);                                   \
        for (const dyn_forward_row_##REAL##_t *m = dyn_forwards_##REAL; m->name; m++, forwards++)  \
            expect(#REAL, "fd", m->name, robot, kernel++);                                         \
        for (uint32_t i = 0; singles[i]; i++)                                                      \
            expect(#REAL, singles[i], "-", robot, kernel++);                                       \
        TEST_ASSERT_EQUAL_UINT32(cost_count, kernel);                                              \
        TEST_ASSERT_EQUAL_UINT32(0, varying);                                                      \
        TEST_ASSERT_EQUAL_INT(STATES *(int)forwards, solved_##REAL);                               \
    }

static const char *const singles[] = {
    "fk", "jacobian", "wrench", "rotor id", "rotor mass", "friction", "volt", "motor torque", NULL};

/* Loads an arm and gives it drives. Some speeds are then below the width of the friction, and some
 * voltages exceed the supply. */
static void arm_with_drives(const char *name) {
    uint32_t k = 0;
    while (strcmp(dyn_arms_name(k), name) != 0)
        TEST_ASSERT_TRUE(++k < dyn_arms_count());
    dyn_arms_model(k, &model);
    TEST_ASSERT_TRUE(model.n <= JOINTS);
    for (uint32_t i = 0; i < model.n; i++) {
        dyn_drive_t *d = &model.joint[i].drive;
        d->motor.resistance = 1.6;
        d->motor.torque_constant = 0.2;
        d->motor.voltage = 20;
        d->friction = (dyn_friction_t){0.3, {-0.2, 0.3}, 0.5};
    }
    cost_count = varying = 0;
}

#ifdef __ARM_FP
CONSTANT_TEST(f32, float)

static void measure_f32(const char *robot) {
    dyn_arms_random_t seed = {12345};
    float q[JOINTS], qd[JOINTS], qdd[JOINTS], wrench[6];
    arm_with_drives(robot);
    solved_f32 = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int s = 0; s < STATES; s++) {
        for (uint32_t i = 0; i < model.n; i++) {
            const dyn_limits_t *l = &model.joint[i].drive.limits;
            q[i] = (float)(l->position[1] * dyn_arms_uniform(&seed));
            qd[i] = (float)(l->velocity * dyn_arms_uniform(&seed));
            qdd[i] = (float)(l->acceleration * dyn_arms_uniform(&seed));
        }
        for (int i = 0; i < 6; i++)
            wrench[i] = (float)dyn_arms_uniform(&seed);
        run_f32(q, qd, qdd, wrench);
    }
    expect_f32(robot);
}

static void test_f32_puma(void) {
    measure_f32("puma560");
}

static void test_f32_with_prismatic_joints(void) {
    measure_f32("chain14_urdf");
    measure_f32("chain12_std_dh");
}
#endif

CONSTANT_TEST(q31, int32_t)

static void measure_q31(const char *robot, const dyn_units_t *units) {
    dyn_arms_random_t seed = {12345};
    int32_t q[JOINTS], qd[JOINTS], qdd[JOINTS], wrench[6];
    arm_with_drives(robot);
    solved_q31 = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.drive_status);
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.body_status);
    for (int s = 0; s < STATES; s++) {
        for (uint32_t i = 0; i < model.n; i++) {
            const dyn_limits_t *l = &model.joint[i].drive.limits;
            const dyn_q31_exponents_t e = dyn_q31_exponents(&model, units, i);
            const double at = l->position[1] * dyn_arms_uniform(&seed);
            q[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(at, e.position)
                                                        : dyn_q31_angle(at);
            qd[i] = dyn_q31_from(l->velocity * dyn_arms_uniform(&seed), e.velocity);
            qdd[i] = dyn_q31_from(l->acceleration * dyn_arms_uniform(&seed), e.acceleration);
        }
        for (int i = 0; i < 6; i++)
            wrench[i] = dyn_arms_random(&seed) >> 8;
        run_q31(q, qd, qdd, wrench);
    }
    expect_q31(robot);
}

static void test_q31_puma(void) {
    /* test_dyn_drive proves these units for `ne` with rotors. */
    const dyn_units_t units = {.length = -2, .time = -3, .mass = {4, 4, 2, 0, -1, -1}};
    measure_q31("puma560", &units);
}

static void test_q31_with_prismatic_joints(void) {
    const dyn_units_t units = {.length = -1, .time = -3, .mass = {5, 5, 5, 5, 5}};
    const dyn_units_t more = {.length = -1, .time = -3, .mass = {6, 6, 6, 6, 6}};
    measure_q31("chain14_urdf", &units);
    measure_q31("chain12_std_dh", &more);
}

// clang-format off
TEST_LIST_BEGIN
#ifdef __ARM_FP
    TEST(test_f32_puma)
    TEST(test_f32_with_prismatic_joints)
#endif
    TEST(test_q31_puma)
    TEST(test_q31_with_prismatic_joints)
TEST_LIST_END
// clang-format on
