/*
 * The bench of elastic links: problem `flex` in f32, on the arm of paper 004 (two elastic links
 * with one mode each) and on a spatial arm. The methods are bias, mass, forward, torque (the
 * inverse problem) and static (one round of the quasi-static feedforward).
 */
#include "test/bench/bench.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/flex_arms.h"

typedef enum { EMPTY, BIAS, MASS, FORWARD, TORQUE, STATIC, METHODS } method_t;
static const char *const method_names[METHODS] = {"empty",   "bias",   "mass",
                                                  "forward", "torque", "static"};

static flex_arm_t made;
static dyn_flex_f32_t flex;
static dyn_flex_forward_scratch_f32_t scratch;
static dyn_flex_static_scratch_f32_t still;
static float theta[DYN_FLEX_MAX], rate[DYN_FLEX_MAX], more[DYN_FLEX_MAX];

/* Arm and result share the memory of the other benchmarks (test/bench/bench.h). */
#define ARM    bench_memory.f32.arm
#define RESULT bench_memory.f32.matrix[0]

/* An empty call, to measure the cost of calling alone. */
static BENCH_APART void empty_call(const dyn_arm_f32_t *a, const dyn_flex_f32_t *f, void *s) {
    (void)a, (void)f, (void)s;
}

static void call(method_t method) {
    switch (method) {
    case BIAS:
        dyn_flex_bias_f32(&ARM, &flex, &scratch.link, theta, rate, RESULT);
        break;
    case MASS:
        dyn_flex_mass_f32(&ARM, &flex, &scratch.link, theta, RESULT);
        break;
    case FORWARD:
        (void)dyn_flex_forward_f32(&ARM, &flex, &scratch, theta, rate, more, RESULT);
        break;
    case TORQUE:
        (void)dyn_flex_torque_f32(&ARM, &flex, &scratch, theta, rate, more, NULL, RESULT);
        break;
    case STATIC:
        dyn_flex_static_f32(&ARM, &flex, &still, rate, more, NULL, 1, theta, RESULT);
        break;
    default:
        empty_call(&ARM, &flex, &scratch);
    }
}

static void random_state(dyn_arms_random_t *seed) {
    const float part = 1.0f / 2147483648.0f;
    for (uint32_t k = 0; k < flex.size; k++) {
        theta[k] = 0.02f * part * (float)dyn_arms_random(seed);
        rate[k] = 2 * part * (float)dyn_arms_random(seed);
        more[k] = 5 * part * (float)dyn_arms_random(seed);
    }
    for (uint32_t i = 0; i < flex.n; i++)
        theta[flex.link[i].at] = 3 * part * (float)dyn_arms_random(seed);
}

static bench_cost_t measure(method_t method, uint32_t states) {
    dyn_arms_random_t seed = {0x2545F4914F6CDD1Du};
    bench_cost_t cost = {UINT32_MAX, 0};
    for (uint32_t k = 0; k < states; k++) {
        random_state(&seed);
        const uint32_t start = bench_clock();
        bench_begin();
        call(method);
        bench_end();
        const uint32_t spent = bench_elapsed(start, bench_clock());
        cost.least = spent < cost.least ? spent : cost.least;
        cost.most = spent > cost.most ? spent : cost.most;
    }
    bench_row();
    return cost;
}

/* Checks coarsely that something was computed; the tests of the kernels check the accuracy. */
static const char *verdict(void) {
    float sum = 0;
    for (uint32_t k = 0; k < flex.n; k++)
        sum += RESULT[k] * RESULT[k];
    return sum > 0 && sum < 1e12f ? "same" : "DIFFERENT";
}

void bench_run_flex(const bench_choice_t *choice) {
    static const struct {
        const char *name;
        flex_arm_name_t arm;
    } robots[] = {{"flex2", FLEX_ARM_PLANAR}, {"flexspace", FLEX_ARM_SPACE}};
#ifdef __ARM_FP
    const bool floats = true;
#else
    const bool floats = false; /* software floats would not measure the kernels */
#endif
    if (!floats || !bench_chosen(choice->problem, "flex") || !bench_chosen(choice->real, "f32"))
        return;
    for (uint32_t r = 0; r < sizeof robots / sizeof robots[0]; r++) {
        if (!bench_chosen(choice->robot, robots[r].name))
            continue;
        flex_arm(robots[r].arm, &made);
        (void)dyn_prepare_f32(&made.model, NULL, &ARM);
        (void)dyn_prepare_flex_f32(&made.model, &made.flex, NULL, &flex);
        const bench_cost_t base = measure(EMPTY, 1);
        bench_print(robots[r].name, flex.n, "flex", "empty", "f32", base, "same");
        for (int m = BIAS; m < METHODS; m++) {
            if (!bench_chosen(choice->method, method_names[m]))
                continue;
            bench_cost_t cost = measure((method_t)m, choice->states);
            cost.least -= base.least;
            cost.most -= base.least;
            bench_print(robots[r].name, flex.n, "flex", method_names[m], "f32", cost, verdict());
        }
    }
}
