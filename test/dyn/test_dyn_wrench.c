/*
 * Tests the wrench on the end effector: against the Jacobian, against the reference values in the
 * axes of end effector and base, and in f32 and q31 against f64.
 */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"

#include <math.h>

#ifndef __arm__
#include "test/support/dyn/reference.h"
#include "tools/proof/check.h"
#include "tools/proof/count.h"
#include "tools/gen/trace.h"
#endif

#ifdef __arm__
enum { STATES = 2 };
#else
enum { STATES = 50 };
#endif

static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_arm_f32_t arm_f32;
static dyn_arm_q31_t arm_q31;
static dyn_arms_random_t seed;
static double q[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS], wrench[6];

static dyn_pose_t random_pose(double size) {
    double xyz[3], rpy[3];
    for (int i = 0; i < 3; i++) {
        xyz[i] = size * dyn_arms_uniform(&seed);
        rpy[i] = 3 * dyn_arms_uniform(&seed);
    }
    return dyn_pose_rpy(xyz, rpy);
}

static void arm_with_tool(uint32_t k) {
    seed.state = 1000 + k;
    dyn_arms_model(k, &model);
    model.base = random_pose(0.3);
    model.tool = random_pose(0.2);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

/* Makes a wrench of at most 20 N and 5 N m. tau starts with 1 N m, because the kernel must add to
 * it. */
static void random_case(void) {
    for (uint32_t i = 0; i < model.n; i++) {
        q[i] = dyn_arms_uniform(&seed) * model.joint[i].drive.limits.position[1];
        tau[i] = 1;
    }
    for (int i = 0; i < 6; i++)
        wrench[i] = dyn_arms_uniform(&seed) * (i < 3 ? 20 : 5);
}

/* Returns the largest torque that a wrench can cause. An angle error of e rad changes a torque by
 * at most e times this. */
static double largest_torque(void) {
    double sum = 0.6;
    for (uint32_t i = 0; i < model.n; i++)
        sum += fabs(model.joint[i].a) + fabs(model.joint[i].d) +
               (model.joint[i].type == DYN_PRISMATIC ? 0.5 : 0);
    return 1 + 20 * 1.8 * sum + 5 * 1.8;
}

static void test_f64_is_the_transposed_jacobian(void) {
    static double J[6 * DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        const uint32_t n = model.n;
        for (int s = 0; s < STATES; s++) {
            double pose[12], world[6];
            random_case();
            dyn_pose_f64(&arm, q, pose);
            dyn_jacobian_f64(&arm, q, J);
            for (int i = 0; i < 3; i++) {
                world[i] = world[3 + i] = 0;
                for (int c = 0; c < 3; c++) {
                    world[i] += pose[4 * i + c] * wrench[c];
                    world[3 + i] += pose[4 * i + c] * wrench[3 + c];
                }
            }
            dyn_wrench_torque_f64(&arm, q, wrench, tau);
            for (uint32_t i = 0; i < n; i++) {
                double expected = 1;
                for (uint32_t r = 0; r < 6; r++)
                    expected -= J[r * n + i] * world[r];
                TEST_ASSERT_DOUBLE_WITHIN(1e-13 * largest_torque(), expected, tau[i]);
            }
        }
    }
}

/*
 * Error in f32 per joint: 9e-7 of the magnitudes of force and moment, as for the pose
 * (test_dyn_kinematics). The cross product of the force with p adds three roundings of 2^-24 to the
 * moment.
 */
static void test_f32_against_f64(void) {
    static float fq[DYN_MAX_JOINTS], ftau[DYN_MAX_JOINTS];
    float fwrench[6];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        const double bound = (9e-7 + 1.8e-7) * (model.n + 1) * largest_torque();
        for (int s = 0; s < STATES; s++) {
            random_case();
            for (uint32_t i = 0; i < model.n; i++) {
                fq[i] = (float)q[i];
                ftau[i] = 1;
            }
            for (int i = 0; i < 6; i++)
                fwrench[i] = (float)wrench[i];
            dyn_wrench_torque_f64(&arm, q, wrench, tau);
            dyn_wrench_torque_f32(&arm_f32, fq, fwrench, ftau);
            for (uint32_t i = 0; i < model.n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(bound, tau[i], (double)ftau[i]);
        }
    }
}

/* Mass units shrink by a factor of two with every second joint, so that the kernel must shift. Arms
 * of more than 12 joints have one mass unit. */
static dyn_units_t units_of(uint32_t n) {
    dyn_units_t units = {.length = -2, .time = -4};
    for (uint32_t i = 0; i < n; i++)
        units.mass[i] = (int8_t)(n > 12 ? 6 : 7 - (int)i / 2);
    return units;
}

/*
 * Error in q31 per joint: 8e-9 of force and moment from angle, sine and rotation
 * (test_dyn_kinematics), and 6 units of force and moment: 4 for the truncation of a rotation, one
 * for the mass shift and one for the cross product. An error of the force acts on the torque
 * through the lever of the arm.
 */
static void test_q31_against_f64(void) {
    static int32_t iq[DYN_MAX_JOINTS], itau[DYN_MAX_JOINTS];
    int32_t iwrench[6];
    double worst = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        const uint32_t n = model.n;
        const dyn_units_t units = units_of(n);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        for (int s = 0; s < STATES; s++) {
            const int force = units.mass[n - 1] + units.length - 2 * units.time;
            random_case();
            for (int i = 0; i < 6; i++) {
                const int exponent = force + (i < 3 ? 0 : units.length);
                iwrench[i] = dyn_q31_from(wrench[i], exponent);
                wrench[i] = dyn_q31_to(iwrench[i], exponent);
            }
            for (uint32_t i = 0; i < n; i++) {
                iq[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(q[i], units.length)
                                                             : dyn_q31_angle(q[i]);
                itau[i] = dyn_q31_from(1, dyn_q31_exponents(&model, &units, i).torque);
            }
            dyn_wrench_torque_f64(&arm, q, wrench, tau);
            dyn_wrench_torque_q31(&arm_q31, iq, iwrench, itau);
            for (uint32_t i = 0; i < n; i++) {
                const double torque_unit =
                    ldexp(1, units.mass[0] + 2 * units.length - 2 * units.time - 28);
                const double lever = largest_torque() / 20 / ldexp(1, units.length);
                const double bound =
                    (n + 1) * (8e-9 * largest_torque() + 6 * torque_unit * (1 + lever));
                const double got = dyn_q31_to(itau[i], dyn_q31_exponents(&model, &units, i).torque);
                TEST_ASSERT_DOUBLE_WITHIN(bound, tau[i], got);
                if (k == DYN_ARMS_PUMA)
                    worst = fmax(worst, fabs(got - tau[i]));
            }
        }
    }
    harness_note_number("puma560, wrench q31 against f64, 1e-9 N m", (int64_t)(worst * 1e9));
}

#ifndef __arm__
static void test_reference_wrenches(void) {
    static dyn_ne_scratch_f64_t scratch;
    const reference_arm_t *arms;
    const uint32_t count = reference_read(&arms);
    uint32_t seen = 0;
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t n = arms[k].model.n;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&arms[k].model, NULL, &arm));
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *state = &arms[k].state[s];
            if (!state->has_tool)
                continue;
            double largest = 0, pose[12], tip[6];
            for (uint32_t i = 0; i < n; i++)
                largest = fmax(largest, fabs(state->tau_wrench[i]));
            dyn_ne_inverse_f64(&arm, &scratch, state->q, state->qd, state->qdd, tau);
            dyn_rotor_inverse_f64(&arm, state->qdd, tau);
            dyn_wrench_torque_f64(&arm, state->q, state->wrench, tau);
            for (uint32_t i = 0; i < n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + largest), state->tau_wrench[i], tau[i]);
            /* The same wrench, given in the axes of the base. */
            dyn_pose_f64(&arm, state->q, pose);
            for (int c = 0; c < 6; c++) {
                tip[c] = 0;
                for (int r = 0; r < 3; r++)
                    tip[c] += pose[4 * r + c % 3] * state->wrench_base[c / 3 * 3 + r];
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * 50, state->wrench[c], tip[c]);
            }
            dyn_ne_inverse_f64(&arm, &scratch, state->q, state->qd, state->qdd, tau);
            dyn_rotor_inverse_f64(&arm, state->qdd, tau);
            dyn_wrench_torque_f64(&arm, state->q, tip, tau);
            for (uint32_t i = 0; i < n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + largest), state->tau_wrench[i], tau[i]);
            seen++;
        }
    }
    TEST_ASSERT_GREATER_THAN_UINT32(35, seen);
}

static void test_counts(void) {
    static dyn_arm_count_t counted;
    static dyn_real_count_t in[DYN_MAX_JOINTS], out[DYN_MAX_JOINTS];
    dyn_real_count_t w[6];
    for (int n = 1; n <= 30; n++) {
        model = (dyn_model_t){
            .n = (uint32_t)n, .base = dyn_pose_identity(), .tool = dyn_pose_identity()};
        for (int i = 0; i < n; i++) {
            model.joint[i].link = (dyn_body_t){1, {0.1, 0.2, 0.3}, {1, 1, 1, 0, 0, 0}};
            model.joint[i].a = i > 0 ? 0.4 : 0;
            in[i] = count_input(0.1 * i);
            out[i] = count_input(0);
        }
        for (int i = 0; i < 6; i++)
            w[i] = count_input(1);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &counted));
        count_begin();
        dyn_wrench_torque_count(&counted, in, w, out);
        const count_ops_t ops = count_all();
        TEST_ASSERT_EQUAL_INT(20 * n + 4, ops.mul);
        TEST_ASSERT_EQUAL_INT(13 * n + 6, ops.add);
        TEST_ASSERT_EQUAL_INT(n - 1, ops.sincos);
    }
}

static void test_check_sees_no_overflow(void) {
    static dyn_arm_check_t checked;
    static int32_t iq[DYN_MAX_JOINTS], one[DYN_MAX_JOINTS], two[DYN_MAX_JOINTS];
    int32_t iwrench[6];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        const dyn_units_t units = units_of(model.n);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &checked));
        check_begin(false);
        for (int s = 0; s < 500; s++) {
            random_case();
            for (uint32_t i = 0; i < model.n; i++) {
                iq[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(q[i], units.length)
                                                             : dyn_q31_angle(q[i]);
                one[i] = two[i] = 0;
            }
            for (int i = 0; i < 6; i++)
                iwrench[i] = dyn_q31_from(wrench[i], units.mass[model.n - 1] - 2 * units.time +
                                                         units.length * (i < 3 ? 1 : 2));
            dyn_wrench_torque_q31(&arm_q31, iq, iwrench, one);
            dyn_wrench_torque_check(&checked, iq, iwrench, two);
            TEST_ASSERT_EQUAL_INT32_ARRAY(one, two, model.n);
        }
        TEST_ASSERT_EQUAL_INT(0, check_overflows());
    }
}

static double lookup(void *context, int32_t array, int32_t index) {
    (void)context;
    return array == 0 ? q[index] : wrench[index];
}

static void test_trace_computes_the_same(void) {
    static dyn_arm_trace_t traced;
    dyn_real_trace_t in[6], w[6], out[6];
    double value[6];
    graph_t *graph = graph_new();
    trace_use(graph);
    arm_with_tool(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &traced));
    for (int i = 0; i < 6; i++) {
        in[i] = trace_input(0, i);
        w[i] = trace_input(1, i);
        out[i] = trace_const(1);
    }
    dyn_wrench_torque_trace(&traced, in, w, out);
    for (int s = 0; s < 100; s++) {
        random_case();
        trace_values(graph, lookup, NULL, out, 6, value);
        dyn_wrench_torque_f64(&arm, q, wrench, tau);
        for (int i = 0; i < 6; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * largest_torque(), tau[i], value[i]);
    }
    graph_free(graph);
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_f64_is_the_transposed_jacobian)
    TEST(test_f32_against_f64)
    TEST(test_q31_against_f64)
#ifndef __arm__
    TEST(test_reference_wrenches)
    TEST(test_counts)
    TEST(test_check_sees_no_overflow)
    TEST(test_trace_computes_the_same)
#endif
TEST_LIST_END
// clang-format on
