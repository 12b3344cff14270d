/*
 * Tests the inertia matrices `wo1` and `crba` and forward dynamics `crba`: in double against the
 * reference values and each other, in float and fixed point against double; also their operation
 * counts, their graph and their cost on the target.
 */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_forward.h"
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#ifdef __arm__
#include "test/support/cost.h"
#else
#include "test/support/dyn/reference.h"
#include "tools/proof/check.h"
#include "tools/proof/count.h"
#include "tools/gen/trace.h"
#endif

static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_crba_scratch_f64_t mass_scratch;
static dyn_crba_forward_scratch_f64_t scratch;
static dyn_wo1_scratch_f64_t wo1_scratch;
static dyn_arm_f32_t arm_f32;
static dyn_crba_scratch_f32_t mass_scratch_f32;
static dyn_crba_forward_scratch_f32_t scratch_f32;
static dyn_arm_q31_t arm_q31;
static dyn_crba_scratch_q31_t mass_scratch_q31;
static dyn_crba_forward_scratch_q31_t scratch_q31;
static double M[DYN_PACKED], other[DYN_PACKED];

static uint32_t packed(uint32_t n) {
    return n * (n + 1) / 2;
}

static void load(uint32_t k) {
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

/* Compares both methods in every pose of every compiled-in arm. */
static void test_both_matrices_are_the_same(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        if (model.n > FORWARD_JOINTS)
            continue;
        for (uint32_t s = 0; s < dyn_arms_states(k) && s < FORWARD_STATES; s++) {
            const dyn_arms_state_t state = dyn_arms_state(k, s);
            dyn_crba_mass_f64(&arm, &mass_scratch, state.q, M);
            dyn_wo1_mass_f64(&arm, &wo1_scratch, state.q, other);
            const double within = 1e-10 * (1 + spd_largest(model.n, M));
            for (uint32_t i = 0; i < packed(model.n); i++)
                TEST_ASSERT_DOUBLE_WITHIN(within, M[i], other[i]);
        }
    }
}

static void check_forward(const double *q, const double *qd, const double *tau,
                          const double *expected) {
    static double qdd[DYN_MAX_JOINTS];
    dyn_crba_mass_f64(&arm, &mass_scratch, q, M);
    dyn_rotor_mass_f64(&arm, M);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_crba_forward_f64(&arm, &scratch, q, qd, tau, qdd));
    const double within = forward_tolerance(model.n, M, expected);
    for (uint32_t i = 0; i < model.n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within, expected[i], qdd[i]);
}

/* The torques of the reference plus those of the rotors must give the accelerations of the
 * reference. */
static void test_forward_undoes_inverse(void) {
    static double tau[DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        if (model.n > FORWARD_JOINTS)
            continue;
        for (uint32_t s = 0; s < dyn_arms_states(k) && s < FORWARD_STATES; s++) {
            const dyn_arms_state_t state = dyn_arms_state(k, s);
            memcpy(tau, state.tau, model.n * sizeof tau[0]);
            dyn_rotor_inverse_f64(&arm, state.qdd, tau);
            check_forward(state.q, state.qd, tau, state.qdd);
        }
    }
}

/* Tests an arm with massless links and arms with a single joint. */
static void test_massless_links_and_short_arms(void) {
    load(DYN_ARMS_PUMA);
    const dyn_arms_state_t state = dyn_arms_state(DYN_ARMS_PUMA, 0);
    model.joint[5].link = model.joint[4].link = (dyn_body_t){0};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    dyn_crba_mass_f64(&arm, &mass_scratch, state.q, M);
    dyn_wo1_mass_f64(&arm, &wo1_scratch, state.q, other);
    for (uint32_t i = 0; i < packed(6); i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, M[i], other[i]);
    TEST_ASSERT_TRUE(M[packed(6) - 1] == 0);
    /* Without its rotor joint 6 has no inertia, so its acceleration is undefined, and the status
     * reports that. */
    double tau[6] = {0}, qdd[6];
    for (int i = 0; i < 6; i++)
        model.joint[i].drive.motor.gear = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT,
                          dyn_crba_forward_f64(&arm, &scratch, state.q, state.qd, tau, qdd));

    for (int type = 0; type < 2; type++) {
        load(DYN_ARMS_PUMA);
        model.n = 1;
        model.joint[0] = model.joint[2];
        model.joint[0].alpha = model.joint[0].a = model.joint[0].theta = model.joint[0].d = 0;
        model.joint[0].type = type ? DYN_PRISMATIC : DYN_REVOLUTE;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        const dyn_body_t *b = &model.joint[0].link;
        const double expected =
            type ? b->mass
                 : b->inertia[2] + b->mass * (b->com[0] * b->com[0] + b->com[1] * b->com[1]);
        dyn_crba_mass_f64(&arm, &mass_scratch, state.q, M);
        dyn_wo1_mass_f64(&arm, &wo1_scratch, state.q, other);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, expected, M[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, expected, other[0]);
    }
}

static void payload_changes(void) {
    model.payload = (dyn_body_t){2.5, {0.1, -0.2, 0.3}, {0.02, 0.03, 0.04, 0.001, -0.002, 0.003}};
}

/* prepare_payload gives the same arm as a full prepare. */
static void test_payload_can_change_alone(void) {
    load(DYN_ARMS_PUMA);
    const dyn_arms_state_t state = dyn_arms_state(DYN_ARMS_PUMA, 0);
    dyn_crba_mass_f64(&arm, &mass_scratch, state.q, M);
    const double before = M[0];
    payload_changes();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_f64(&model, NULL, &arm));
    dyn_crba_mass_f64(&arm, &mass_scratch, state.q, M);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    dyn_wo1_mass_f64(&arm, &wo1_scratch, state.q, other);
    for (uint32_t i = 0; i < packed(6); i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, other[i], M[i]);
    TEST_ASSERT_TRUE(fabs(before - M[0]) > 0.01);
}

static void test_f32_against_f64(void) {
    dyn_arms_random_t seed = {88172645463325252u};
    static forward_state_t s;
    static forward_f32_t f;
    static float Mf[DYN_PACKED], qdd_f[DYN_MAX_JOINTS];
    static double qdd[DYN_MAX_JOINTS], bias[DYN_MAX_JOINTS];
    double worst = 0, puma = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        if (model.n > FORWARD_JOINTS)
            continue;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        for (int t = 0; t < FORWARD_STATES; t++) {
            forward_random(&model, &seed, &s);
            forward_to_f32(&model, &s, &f);
            dyn_crba_mass_f64(&arm, &mass_scratch, s.q, M);
            dyn_crba_mass_f32(&arm_f32, &mass_scratch_f32, f.q, Mf);
            for (uint32_t i = 0; i < packed(model.n); i++) {
                const double off = fabs((double)Mf[i] - M[i]);
                TEST_ASSERT_TRUE(off <= forward_matrix_error_f32(model.n, M));
                worst = fmax(worst, off / spd_largest(model.n, M));
            }
            dyn_rotor_mass_f64(&arm, M);
            dyn_ne_bias_f64(&arm, &wo1_scratch, s.q, s.qd, bias);
            TEST_ASSERT_EQUAL_INT(DYN_OK,
                                  dyn_crba_forward_f64(&arm, &scratch, s.q, s.qd, s.tau, qdd));
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, dyn_crba_forward_f32(&arm_f32, &scratch_f32, f.q, f.qd, f.tau, qdd_f));
            const double force = fmax(forward_largest(model.n, bias), 10);
            const double within = forward_error_f32(model.n, M, force, qdd);
            for (uint32_t i = 0; i < model.n; i++) {
                const double off = fabs((double)qdd_f[i] - qdd[i]);
                TEST_ASSERT_TRUE(off <= within);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(model.n, qdd));
            }
        }
    }
    harness_note_number("crba f32: matrix, worst error of its largest element, 1e-9",
                        (int64_t)(worst * 1e9));
    harness_note_number("crba f32: forward dynamics of the puma560, relative, 1e-9",
                        (int64_t)(puma * 1e9));
}

static void check_q31_matrix(const dyn_units_t *units, const int32_t *raw) {
    for (uint32_t r = 0; r < model.n; r++)
        for (uint32_t c = 0; c <= r; c++) {
            const int e = forward_element_exponent(&model, units, r, c);
            TEST_ASSERT_DOUBLE_WITHIN(forward_matrix_error_q31(model.n, e), M[packed(r) + c],
                                      dyn_q31_to(raw[packed(r) + c], e));
        }
}

/*
 * True if Cholesky's method may refuse the matrix because a pivot is below 1/64. The pivots of the
 * equilibrated matrix are not below its smallest eigenvalue, which is not below the smallest
 * eigenvalue of the matrix scaled to a diagonal of ones.
 */
static bool may_be_refused(void) {
    double smallest, largest;
    for (uint32_t r = 0; r < model.n; r++)
        for (uint32_t c = 0; c <= r; c++)
            other[packed(r) + c] =
                M[packed(r) + c] / sqrt(M[packed(r + 1) - 1] * M[packed(c + 1) - 1]);
    spd_eigenvalues(model.n, other, &smallest, &largest);
    return smallest < 0x1p-6;
}

static void test_q31_against_f64(void) {
    int refused = 0;
    dyn_arms_random_t seed = {362436069u};
    static forward_state_t s;
    static forward_q31_t raw;
    static int32_t Mq[DYN_PACKED], qdd_q[DYN_MAX_JOINTS];
    static dyn_wo1_scratch_q31_t wo1_q31;
    static double qdd[DYN_MAX_JOINTS], error[DYN_MAX_JOINTS];
    double worst = 0, puma = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        if (model.n > FORWARD_JOINTS)
            continue;
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.body_status);
        TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.drive_status);
        for (int t = 0; t < FORWARD_STATES; t++) {
            forward_random(&model, &seed, &s);
            forward_to_q31(&model, &units, &s, &raw);
            dyn_crba_mass_f64(&arm, &mass_scratch, s.q, M);
            dyn_crba_mass_q31(&arm_q31, &mass_scratch_q31, raw.q, Mq);
            check_q31_matrix(&units, Mq);
            dyn_wo1_mass_q31(&arm_q31, &wo1_q31, raw.q, Mq);
            check_q31_matrix(&units, Mq);
            dyn_rotor_mass_f64(&arm, M);
            TEST_ASSERT_EQUAL_INT(DYN_OK,
                                  dyn_crba_forward_f64(&arm, &scratch, s.q, s.qd, s.tau, qdd));
            if (dyn_crba_forward_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.tau, qdd_q)) {
                TEST_ASSERT_TRUE(model.n > 8 && may_be_refused());
                refused++;
                continue;
            }
            forward_error_q31(&model, &units, M, qdd, error);
            for (uint32_t i = 0; i < model.n; i++) {
                const int e = dyn_q31_exponents(&model, &units, i).acceleration;
                const double off = fabs(dyn_q31_to(qdd_q[i], e) - qdd[i]);
                TEST_ASSERT_TRUE(off <= error[i]);
                worst = fmax(worst, off / error[i]);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(model.n, qdd));
            }
        }
    }
    harness_note_number("crba q31: states whose matrix is refused", refused);
    harness_note_number("crba q31: forward dynamics, worst part of the bound, 1e-6",
                        (int64_t)(worst * 1e6));
    harness_note_number("crba q31: forward dynamics of the puma560, relative, 1e-9",
                        (int64_t)(puma * 1e9));
}

static void test_bodies_that_do_not_fit_are_reported(void) {
    const dyn_units_t narrow = {.length = -4, .time = -4, .mass = {2}};
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    model.n = 1;
    model.joint[0].link = (dyn_body_t){17.4, {0.45, 0, 0}, {0.1, 0.1, 0.1, 0, 0, 0}};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &narrow, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, arm_q31.body_status);
}

#ifndef __arm__
/* Compares with the values in the files for all arms: M with rotors, accelerations from torques,
 * and bias. */
static void test_reference_values(void) {
    const reference_arm_t *arms;
    const uint32_t count = reference_read(&arms);
    uint32_t matrices = 0;
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    for (uint32_t k = 0; k < count; k++) {
        model = arms[k].model;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        for (uint32_t t = 0; t < arms[k].states; t++) {
            const reference_state_t *s = &arms[k].state[t];
            if (s->has_M) {
                const double within = 1e-10 * (1 + spd_largest(model.n, s->M));
                dyn_crba_mass_f64(&arm, &mass_scratch, s->q, M);
                dyn_wo1_mass_f64(&arm, &wo1_scratch, s->q, other);
                dyn_rotor_mass_f64(&arm, M);
                dyn_rotor_mass_f64(&arm, other);
                for (uint32_t i = 0; i < packed(model.n); i++) {
                    TEST_ASSERT_DOUBLE_WITHIN(within, s->M[i], M[i]);
                    TEST_ASSERT_DOUBLE_WITHIN(within, s->M[i], other[i]);
                }
                matrices++;
            }
            if (s->has_tau)
                check_forward(s->q, s->qd, s->fd_tau, s->fd_qdd);
            if (s->has_bias) {
                double bias[DYN_MAX_JOINTS];
                dyn_ne_bias_f64(&arm, &wo1_scratch, s->q, s->qd, bias);
                for (uint32_t i = 0; i < model.n; i++)
                    TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + forward_largest(model.n, s->bias)),
                                              s->bias[i], bias[i]);
            }
        }
    }
    TEST_ASSERT_TRUE(matrices > 200);
}

static dyn_arm_count_t arm_count;
static dyn_crba_scratch_count_t mass_scratch_count;
static dyn_ne_scratch_count_t ne_scratch_count;
static dyn_crba_forward_scratch_count_t scratch_count;
static dyn_real_count_t in_count[3][DYN_MAX_JOINTS], M_count[DYN_PACKED], x_count[DYN_MAX_JOINTS];

static void revolute_chain(uint32_t n) {
    static dyn_source_t source;
    source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = n, .gravity = {0, 0, -9.81}};
    for (uint32_t i = 0; i < n; i++) {
        source.joint[i].alpha = 0.3;
        source.joint[i].a = 0.4;
        source.joint[i].d = 0.1;
        source.joint[i].link = (dyn_body_t){1, {0.1, 0.2, 0.3}, {1, 1, 1, 0.1, 0.1, 0.1}};
        for (int r = 0; r < 3; r++)
            in_count[r][i] = count_input(0.1);
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &arm_count));
    count_begin();
}

/* The operation counts are those that the headers of the kernels state. */
static void test_counts_for_revolute_arms(void) {
    for (int n = 2; n <= 30; n++) {
        revolute_chain((uint32_t)n);
        dyn_crba_mass_count(&arm_count, &mass_scratch_count, in_count[0], M_count);
        count_ops_t ops = count_all();
        TEST_ASSERT_EQUAL_INT(10 * n * n + 19 * n - 29, ops.mul);
        TEST_ASSERT_EQUAL_INT(6 * n * n + 33 * n - 39, ops.add);
        TEST_ASSERT_EQUAL_INT(n - 1, ops.sincos);
        TEST_ASSERT_EQUAL_INT(0, ops.div + ops.sqrt);
        TEST_ASSERT_TRUE(ops.mul <= 12 * n * n + 56 * n - 27 && ops.add <= 7 * n * n + 67 * n - 56);

        count_begin();
        dyn_wo1_mass_count(&arm_count, &ne_scratch_count, in_count[0], M_count);
        ops = count_all();
        TEST_ASSERT_EQUAL_INT(32 * n * n - 37 * n + 11, ops.mul);
        TEST_ASSERT_EQUAL_INT(24 * n * n - 31 * n + 11, ops.add);

        count_begin();
        dyn_ne_bias_count(&arm_count, &ne_scratch_count, in_count[0], in_count[1], x_count);
        ops = count_all();
        if (n > 2) {
            TEST_ASSERT_EQUAL_INT(111 * n - 115, ops.mul);
            TEST_ASSERT_EQUAL_INT(83 * n - 103, ops.add);
        }
        count_begin();
        TEST_ASSERT_EQUAL_INT(DYN_OK,
                              dyn_crba_forward_count(&arm_count, &scratch_count, in_count[0],
                                                     in_count[1], in_count[2], x_count));
        ops = count_all();
        if (n > 2) {
            TEST_ASSERT_EQUAL_INT((n * n * n + 72 * n * n + 893 * n) / 6 - 184, ops.mul);
            TEST_ASSERT_EQUAL_INT((n * n * n + 45 * n * n + 770 * n) / 6 - 183, ops.add);
        }
        if (n == 6) {
            harness_note_number("fd crba n=6 multiplications", ops.mul);
            harness_note_number("fd crba n=6 additions", ops.add);
            /* Limits: the counts of the method of Walker and Orin in table 4 of paper 000. */
            TEST_ASSERT_TRUE(ops.mul <= 1627 && ops.add <= 1261);
        }
    }
}

static double lookup(void *context, int32_t array, int32_t index) {
    const forward_state_t *s = context;
    return array == 0 ? s->q[index] : array == 1 ? s->qd[index] : s->tau[index];
}

static void test_graphs_evaluate_to_the_same(void) {
    static dyn_arm_trace_t arm_trace;
    static dyn_crba_scratch_trace_t mass_scratch_trace;
    static dyn_crba_forward_scratch_trace_t scratch_trace;
    static dyn_real_trace_t in[3][DYN_MAX_JOINTS], x[DYN_MAX_JOINTS], M_trace[DYN_PACKED];
    dyn_arms_random_t seed = {5};
    double qdd[DYN_MAX_JOINTS], traced[DYN_PACKED];
    graph_t *graph = graph_new();
    trace_use(graph);
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &arm_trace));
    for (int32_t i = 0; i < 6; i++) {
        in[0][i] = trace_input(0, i);
        in[1][i] = trace_input(1, i);
        in[2][i] = trace_input(2, i);
    }
    dyn_crba_mass_trace(&arm_trace, &mass_scratch_trace, in[0], M_trace);
    TEST_ASSERT_EQUAL_INT(
        DYN_OK, dyn_crba_forward_trace(&arm_trace, &scratch_trace, in[0], in[1], in[2], x));
    for (int t = 0; t < 10; t++) {
        static forward_state_t s;
        forward_random(&model, &seed, &s);
        dyn_crba_mass_f64(&arm, &mass_scratch, s.q, M);
        trace_values(graph, lookup, &s, M_trace, (int)packed(6), traced);
        for (uint32_t i = 0; i < packed(6); i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + spd_largest(6, M)), M[i], traced[i]);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_crba_forward_f64(&arm, &scratch, s.q, s.qd, s.tau, qdd));
        trace_values(graph, lookup, &s, x, 6, traced);
        for (uint32_t i = 0; i < 6; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + forward_largest(6, qdd)), qdd[i], traced[i]);
    }
    graph_free(graph);
}

/* With the checked q31 numbers nothing overflows in these units, and the results are the same
 * bits. */
static void test_checked_q31(void) {
    static dyn_arm_check_t arm_check;
    static dyn_crba_forward_scratch_check_t scratch_check;
    static int32_t checked[DYN_MAX_JOINTS], raw_qdd[DYN_MAX_JOINTS];
    dyn_arms_random_t seed = {17};
    static forward_state_t s;
    static forward_q31_t raw;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        if (model.n > 8)
            continue;
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &arm_check));
        check_begin(false);
        for (int t = 0; t < 2000; t++) {
            forward_random(&model, &seed, &s);
            forward_to_q31(&model, &units, &s, &raw);
            dyn_crba_forward_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.tau, raw_qdd);
            dyn_crba_forward_check(&arm_check, &scratch_check, raw.q, raw.qd, raw.tau, checked);
            TEST_ASSERT_EQUAL_INT32_ARRAY(raw_qdd, checked, model.n);
        }
        TEST_ASSERT_EQUAL_INT(0, check_overflows());
    }
}
#else
static void test_q31_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    dyn_units_t units = {0};
    static forward_state_t s;
    static forward_q31_t raw;
    int32_t Mq[21], x[6];
    cost_t mass = COST_NONE, forward = mass;
    load(DYN_ARMS_PUMA);
    forward_units(&model, &units);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
    for (int t = 0; t < 200; t++) {
        forward_random(&model, &seed, &s);
        forward_to_q31(&model, &units, &s, &raw);
        uint32_t start = cycles_now();
        dyn_crba_mass_q31(&arm_q31, &mass_scratch_q31, raw.q, Mq);
        cost_see(&mass, start, cycles_now());
        start = cycles_now();
        dyn_crba_forward_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.tau, x);
        cost_see(&forward, start, cycles_now());
    }
    cost_print("instructions of crba_mass q31, puma560", mass);
    cost_print("instructions of crba_forward q31, puma560", forward);
}

#ifdef __ARM_FP
static void test_f32_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    static dyn_wo1_scratch_f32_t wo1_f32;
    static forward_state_t s;
    static forward_f32_t f;
    float Mf[21], x[6];
    cost_t mass = COST_NONE, forward = mass, wo1 = mass;
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int t = 0; t < 200; t++) {
        forward_random(&model, &seed, &s);
        forward_to_f32(&model, &s, &f);
        uint32_t start = cycles_now();
        dyn_crba_mass_f32(&arm_f32, &mass_scratch_f32, f.q, Mf);
        cost_see(&mass, start, cycles_now());
        start = cycles_now();
        dyn_wo1_mass_f32(&arm_f32, &wo1_f32, f.q, Mf);
        cost_see(&wo1, start, cycles_now());
        start = cycles_now();
        dyn_crba_forward_f32(&arm_f32, &scratch_f32, f.q, f.qd, f.tau, x);
        cost_see(&forward, start, cycles_now());
    }
    cost_print("instructions of crba_mass f32, puma560", mass);
    cost_print("instructions of wo1_mass f32, puma560", wo1);
    cost_print("instructions of crba_forward f32, puma560", forward);
}
#endif
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_both_matrices_are_the_same)
    TEST(test_forward_undoes_inverse)
    TEST(test_massless_links_and_short_arms)
    TEST(test_payload_can_change_alone)
    TEST(test_f32_against_f64)
    TEST(test_q31_against_f64)
    TEST(test_bodies_that_do_not_fit_are_reported)
#ifndef __arm__
    TEST(test_reference_values)
    TEST(test_counts_for_revolute_arms)
    TEST(test_graphs_evaluate_to_the_same)
    TEST(test_checked_q31)
#else
    TEST(test_q31_takes_the_same_instructions_for_every_state)
#ifdef __ARM_FP
    TEST(test_f32_takes_the_same_instructions_for_every_state)
#endif
#endif
TEST_LIST_END
// clang-format on
