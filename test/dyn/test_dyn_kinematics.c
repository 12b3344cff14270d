/*
 * Tests the pose of the end effector and the Jacobian: against products of the joint poses, against
 * the reference values in all three conventions, and in f32 and q31 against f64.
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
static double q[DYN_MAX_JOINTS], J[6 * DYN_MAX_JOINTS], expected_J[6 * DYN_MAX_JOINTS];

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
}

static void random_q(void) {
    for (uint32_t i = 0; i < model.n; i++)
        q[i] = dyn_arms_uniform(&seed) * model.joint[i].drive.limits.position[1];
}

/* Returns the length of the stretched arm, which is the lever arm of an angle error. */
static double reach(void) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += fabs(model.base.p[i]) + fabs(model.tool.p[i]);
    for (uint32_t i = 0; i < model.n; i++)
        sum += fabs(model.joint[i].a) + fabs(model.joint[i].d) +
               (model.joint[i].type == DYN_PRISMATIC ? 0.5 : 0);
    return sum;
}

/* Computes pose and Jacobian from 3x3 matrices, independently of the kernel. */
static dyn_pose_t compose(double *jacobian) {
    static dyn_pose_t frame[DYN_MAX_JOINTS];
    const uint32_t n = model.n;
    dyn_pose_t T = model.base;
    for (uint32_t i = 0; i < n; i++) {
        const dyn_pose_t step = dyn_pose_joint(&model.joint[i], q[i]);
        T = frame[i] = dyn_pose_compose(&T, &step);
    }
    T = dyn_pose_compose(&T, &model.tool);
    for (uint32_t i = 0; i < n; i++) {
        double z[3], r[3];
        for (int k = 0; k < 3; k++) {
            z[k] = frame[i].r[k][2];
            r[k] = T.p[k] - frame[i].p[k];
        }
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t u = (k + 1) % 3, v = (k + 2) % 3;
            const bool prismatic = model.joint[i].type == DYN_PRISMATIC;
            jacobian[k * n + i] = prismatic ? z[k] : z[u] * r[v] - z[v] * r[u];
            jacobian[(3 + k) * n + i] = prismatic ? 0 : z[k];
        }
    }
    return T;
}

static double pose_part(const dyn_pose_t *T, uint32_t k) {
    return k % 4 < 3 ? T->r[k / 4][k % 4] : T->p[k / 4];
}

static void test_f64_against_products_of_poses(void) {
    double out[12];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        for (int s = 0; s < STATES; s++) {
            random_q();
            const dyn_pose_t T = compose(expected_J);
            dyn_pose_f64(&arm, q, out);
            dyn_jacobian_f64(&arm, q, J);
            for (uint32_t i = 0; i < 12; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-13 * (1 + reach()), pose_part(&T, i), out[i]);
            for (uint32_t i = 0; i < 6 * model.n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-13 * (1 + reach()), expected_J[i], J[i]);
        }
    }
}

/*
 * Error in f32 per joint, for a unit vector. The rounded input angle is off by pi 2^-24 = 1.9e-7.
 * Sine and cosine are off by 1.2e-7 each, together 1.7e-7. Each of the two plane rotations rounds a
 * component at most four times, by up to 2^-24, together 4.8e-7. The sum is below 9e-7; for a point
 * it is multiplied by the reach. Base and tool count as one more joint. The cross product in the
 * Jacobian doubles the error.
 */
static void test_f32_against_f64(void) {
    static float fq[DYN_MAX_JOINTS], fJ[6 * DYN_MAX_JOINTS];
    double out[12], worst = 0;
    float fout[12];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        const double bound = 9e-7 * (model.n + 1) * fmax(1, reach());
        for (int s = 0; s < STATES; s++) {
            random_q();
            for (uint32_t i = 0; i < model.n; i++)
                fq[i] = (float)q[i];
            dyn_pose_f64(&arm, q, out);
            dyn_jacobian_f64(&arm, q, J);
            dyn_pose_f32(&arm_f32, fq, fout);
            dyn_jacobian_f32(&arm_f32, fq, fJ);
            for (int i = 0; i < 12; i++) {
                TEST_ASSERT_DOUBLE_WITHIN(bound, out[i], (double)fout[i]);
                if (k == DYN_ARMS_PUMA)
                    worst = fmax(worst, fabs(out[i] - (double)fout[i]));
            }
            for (uint32_t i = 0; i < 6 * model.n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(2 * bound, J[i], (double)fJ[i]);
        }
    }
    harness_note_number("puma560, pose f32 against f64, 1e-9", (int64_t)(worst * 1e9));
}

static const dyn_units_t units = {
    .length = -2, .time = -4, .mass = {[0 ... DYN_MAX_JOINTS - 1] = 6}};

/*
 * Error in q31 per joint, for a unit vector. The angle is off by half a unit of a binary angle,
 * 7.3e-10; sine and cosine by 3e-9 each, together 4.3e-9; the two rotations truncate two components
 * each by up to 2^-28, together 1.05e-8. These largest values do not meet at every joint; 8e-9 per
 * joint is allowed, for a point times the reach. A point is also truncated six times per joint
 * (shift, sum, two rotations), with one unit of reach, 2^-28, allowed each time. Each constant adds
 * half a unit, and the final Q28 number one unit.
 */
static double q31_bound(double reach_unit) {
    return 8e-9 * (model.n + 2) * fmax(1, reach()) + 6 * (model.n + 2) * ldexp(reach_unit, -28) +
           0x1p-28;
}

static void test_q31_against_f64(void) {
    static int32_t iq[DYN_MAX_JOINTS], iJ[6 * DYN_MAX_JOINTS];
    double out[12], worst = 0;
    int32_t iout[12];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        const int unit = units.length + (int)arm_q31.reach_shift;
        TEST_ASSERT_TRUE(reach() < ldexp(8, unit));
        const double bound = q31_bound(ldexp(1, unit));
        for (int s = 0; s < STATES; s++) {
            random_q();
            for (uint32_t i = 0; i < model.n; i++)
                iq[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(q[i], units.length)
                                                             : dyn_q31_angle(q[i]);
            dyn_pose_f64(&arm, q, out);
            dyn_jacobian_f64(&arm, q, J);
            dyn_pose_q31(&arm_q31, iq, iout);
            dyn_jacobian_q31(&arm_q31, iq, iJ);
            for (int i = 0; i < 12; i++) {
                const double got = dyn_q31_to(iout[i], i % 4 < 3 ? 0 : unit);
                TEST_ASSERT_DOUBLE_WITHIN(bound, out[i], got);
                if (k == DYN_ARMS_PUMA)
                    worst = fmax(worst, fabs(out[i] - got));
            }
            for (uint32_t i = 0; i < 6 * model.n; i++) {
                const bool prismatic = model.joint[i % model.n].type == DYN_PRISMATIC;
                const int exponent = i >= 3 * model.n ? 0 : prismatic ? unit - units.length : unit;
                TEST_ASSERT_DOUBLE_WITHIN(2 * bound + ldexp(1, exponent - 28), J[i],
                                          dyn_q31_to(iJ[i], exponent));
            }
        }
    }
    harness_note_number("puma560, pose q31 against f64, 1e-10", (int64_t)(worst * 1e10));
}

/* J qd is the velocity of the end effector, also in the mixed units of q31. */
static void test_q31_jacobian_is_homogeneous(void) {
    static int32_t iq[DYN_MAX_JOINTS], iqd[DYN_MAX_JOINTS], iJ[6 * DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        const uint32_t n = model.n;
        if (n > 8)
            continue;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        const int unit = units.length + (int)arm_q31.reach_shift;
        random_q();
        double qd[8];
        for (uint32_t i = 0; i < n; i++) {
            const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
            qd[i] = dyn_arms_uniform(&seed);
            iq[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(q[i], units.length)
                                                         : dyn_q31_angle(q[i]);
            iqd[i] = dyn_q31_from(qd[i], e.velocity);
        }
        dyn_jacobian_f64(&arm, q, J);
        dyn_jacobian_q31(&arm_q31, iq, iJ);
        for (uint32_t r = 0; r < 3; r++) {
            double v = 0;
            int64_t iv = 0;
            for (uint32_t i = 0; i < n; i++) {
                v += J[r * n + i] * qd[i];
                iv += (int64_t)iJ[r * n + i] * iqd[i];
            }
            /* Per joint: |qd| is below 1 rad/s or m/s, so the error of J enters at most in full;
             * rounding qd to its unit adds at most 2^-24 times the reach. */
            TEST_ASSERT_DOUBLE_WITHIN(
                n * (2 * q31_bound(ldexp(1, unit)) + fmax(1, reach()) * 0x1p-24), v,
                dyn_q31_to((int32_t)(iv >> 28), unit - units.time));
        }
    }
}

/* Tests the stretched arm in the smallest units that its links allow. */
static void test_q31_reach_has_its_own_unit(void) {
    const dyn_units_t small = {.length = -4, .time = -4, .mass = {6, 6, 6, 6, 6, 6}};
    int32_t iq[6] = {0}, out[12];
    double expected[12];
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    model.base.p[0] = 1.5;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &small, &arm_q31));
    for (int i = 0; i < 6; i++)
        q[i] = 0;
    dyn_pose_f64(&arm, q, expected);
    dyn_pose_q31(&arm_q31, iq, out);
    TEST_ASSERT_TRUE(expected[3] > 1.5);
    for (int i = 3; i < 12; i += 4)
        TEST_ASSERT_DOUBLE_WITHIN(1e-7, expected[i],
                                  dyn_q31_to(out[i], small.length + (int)arm_q31.reach_shift));
}

#ifndef __arm__
static void test_reference_poses_and_jacobians(void) {
    const reference_arm_t *arms;
    const uint32_t count = reference_read(&arms);
    uint32_t seen = 0;
    double out[12];
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t n = arms[k].model.n;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&arms[k].model, NULL, &arm));
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *state = &arms[k].state[s];
            if (!state->has_tool)
                continue;
            double largest = 0;
            dyn_pose_f64(&arm, state->q, out);
            dyn_jacobian_f64(&arm, state->q, J);
            for (uint32_t i = 0; i < 6 * n; i++)
                largest = fmax(largest, fabs(state->J[i]));
            for (int i = 0; i < 12; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + largest), state->pose[i], out[i]);
            for (uint32_t i = 0; i < 6 * n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + largest), state->J[i], J[i]);
            seen++;
        }
    }
    TEST_ASSERT_GREATER_THAN_UINT32(35, seen);
}

static void revolute_chain(uint32_t n) {
    model = (dyn_model_t){.n = n, .base = dyn_pose_identity(), .tool = dyn_pose_identity()};
    for (uint32_t i = 0; i < n; i++) {
        model.joint[i].link = (dyn_body_t){1, {0.1, 0.2, 0.3}, {1, 1, 1, 0, 0, 0}};
        if (i > 0) {
            model.joint[i].alpha = 0.3;
            model.joint[i].a = 0.4;
            model.joint[i].d = 0.1;
        }
    }
}

static void test_counts(void) {
    static dyn_arm_count_t counted;
    static dyn_real_count_t in[DYN_MAX_JOINTS], out[6 * DYN_MAX_JOINTS];
    for (int n = 1; n <= 30; n++) {
        revolute_chain((uint32_t)n);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &counted));
        for (int i = 0; i < n; i++)
            in[i] = count_input(0.1 * i);
        count_begin();
        dyn_pose_count(&counted, in, out);
        count_ops_t ops = count_all();
        TEST_ASSERT_EQUAL_INT(24 * n + 21, ops.mul);
        TEST_ASSERT_EQUAL_INT(14 * n + 16, ops.add);
        TEST_ASSERT_EQUAL_INT(n, ops.sincos);
        count_begin();
        dyn_jacobian_count(&counted, in, out);
        ops = count_all();
        TEST_ASSERT_EQUAL_INT(36 * n - 9, ops.mul);
        TEST_ASSERT_EQUAL_INT(24 * n - 3, ops.add);
    }
}

/* With the checked q31 numbers nothing overflows within the limits, and the results are the same
 * bits. */
static void test_check_sees_no_overflow(void) {
    static dyn_arm_check_t checked;
    static int32_t iq[DYN_MAX_JOINTS], one[6 * DYN_MAX_JOINTS], two[6 * DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        arm_with_tool(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &checked));
        check_begin(false);
        for (int s = 0; s < 500; s++) {
            random_q();
            for (uint32_t i = 0; i < model.n; i++)
                iq[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(q[i], units.length)
                                                             : dyn_q31_angle(q[i]);
            dyn_pose_q31(&arm_q31, iq, one);
            dyn_pose_check(&checked, iq, two);
            TEST_ASSERT_EQUAL_INT32_ARRAY(one, two, 12);
            dyn_jacobian_q31(&arm_q31, iq, one);
            dyn_jacobian_check(&checked, iq, two);
            TEST_ASSERT_EQUAL_INT32_ARRAY(one, two, 6 * model.n);
        }
        TEST_ASSERT_EQUAL_INT(0, check_overflows());
    }
}

static double lookup(void *context, int32_t array, int32_t index) {
    (void)array;
    return ((const double *)context)[index];
}

static void test_trace_computes_the_same(void) {
    static dyn_arm_trace_t traced;
    dyn_real_trace_t in[6], out[12 + 36];
    double value[12 + 36], expected[12];
    graph_t *graph = graph_new();
    trace_use(graph);
    arm_with_tool(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &traced));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    for (int i = 0; i < 6; i++)
        in[i] = trace_input(0, i);
    dyn_pose_trace(&traced, in, out);
    dyn_jacobian_trace(&traced, in, out + 12);
    for (int s = 0; s < 100; s++) {
        random_q();
        trace_values(graph, lookup, q, out, 48, value);
        dyn_pose_f64(&arm, q, expected);
        dyn_jacobian_f64(&arm, q, J);
        for (int i = 0; i < 12; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected[i], value[i]);
        for (int i = 0; i < 36; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, J[i], value[12 + i]);
    }
    graph_free(graph);
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_f64_against_products_of_poses)
    TEST(test_f32_against_f64)
    TEST(test_q31_against_f64)
    TEST(test_q31_jacobian_is_homogeneous)
    TEST(test_q31_reach_has_its_own_unit)
#ifndef __arm__
    TEST(test_reference_poses_and_jacobians)
    TEST(test_counts)
    TEST(test_check_sees_no_overflow)
    TEST(test_trace_computes_the_same)
#endif
TEST_LIST_END
// clang-format on
