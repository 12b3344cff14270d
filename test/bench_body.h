/*
 * The measuring loop for one number type. A template: test/bench_f32.c and its kin define DYN_REAL,
 * include test/dyn_methods.h, define what follows and include this.
 *
 *     BENCH_REAL      "f32"
 *     BENCH_LIMIT(value, exponent)   what the largest random number stands for
 *     BENCH_PART(limit, random)      limit * random / 2^31
 *     BENCH_ANGLE     limit of a revolute joint's position
 *     BENCH_WIDE      holds the difference of two numbers
 *     BENCH_YARDSTICK there are tables yardstick_inverses, yardstick_masses, yardstick_forwards
 */
#include "test/bench.h"
#include "test/dyn_arms.h"

#include <stddef.h>

/* clang-format off */
#define MEMORY_(real) bench_memory.real
#define MEMORY(real)  MEMORY_(real)
/* clang-format on */

typedef DYN_T(real) number_t;
typedef DYN_T(arm) arm_t;
typedef DYN_T(methods_scratch) scratch_t;

enum { Q, QD, QDD, TAU, KINDS };
enum { RESULTS = DYN_MAX_JOINTS * DYN_MAX_JOINTS };

static scratch_t scratch;
static number_t limit[KINDS][DYN_MAX_JOINTS];
static number_t state[KINDS][DYN_MAX_JOINTS];

/* Kernels by their arguments. Each goes through a jump, as the tables have it. */
typedef struct {
    const char *name;
    void (*run)(const arm_t *arm, const number_t q[], number_t out[]);
} pose_row_t;
typedef struct {
    const char *name;
    uint32_t (*run)(const arm_t *arm, const number_t qd[], const number_t tau[], number_t out[]);
} volt_row_t;

typedef union {
    DYN_T(inverse_row) inverse;
    DYN_T(bias_row) bias;
    DYN_T(mass_row) mass;
    DYN_T(forward_row) forward;
    pose_row_t pose;
    volt_row_t volt;
} row_t;

typedef enum { INVERSE, BIAS, MASS, FORWARD, POSE, VOLT } form_t;

static void random_state(dyn_arms_random_t *seed, uint32_t n) {
    for (int k = 0; k < KINDS; k++)
        for (uint32_t i = 0; i < n; i++)
            state[k][i] = BENCH_PART(limit[k][i], dyn_arms_random(seed));
}

/* What calling and measuring alone cost. */
static BENCH_APART void empty_inverse(const arm_t *arm, scratch_t *s, const number_t q[],
                                      const number_t qd[], const number_t qdd[], number_t tau[]) {
    (void)arm, (void)s, (void)q, (void)qd, (void)qdd, (void)tau;
}
static BENCH_APART void empty_bias(const arm_t *arm, scratch_t *s, const number_t q[],
                                   const number_t qd[], number_t out[]) {
    (void)arm, (void)s, (void)q, (void)qd, (void)out;
}
static BENCH_APART void empty_mass(const arm_t *arm, scratch_t *s, const number_t q[],
                                   number_t out[]) {
    (void)arm, (void)s, (void)q, (void)out;
}
static BENCH_APART int empty_forward(const arm_t *arm, scratch_t *s, const number_t q[],
                                     const number_t qd[], const number_t tau[], number_t qdd[]) {
    (void)s, (void)q, (void)qd, (void)tau, (void)qdd;
    return (int)(uintptr_t)arm; /* is there already: nothing but the return */
}

static BENCH_APART void empty_pose(const arm_t *arm, const number_t q[], number_t out[]) {
    (void)arm, (void)q, (void)out;
}
static BENCH_APART uint32_t empty_volt(const arm_t *arm, const number_t qd[], const number_t tau[],
                                       number_t out[]) {
    (void)qd, (void)tau, (void)out;
    return (uint32_t)(uintptr_t)arm;
}

static const row_t empty[] = {
    [INVERSE] = {.inverse = {"empty", empty_inverse}},
    [BIAS] = {.bias = {"empty", empty_bias}},
    [MASS] = {.mass = {"empty", empty_mass}},
    [FORWARD] = {.forward = {"empty", empty_forward}},
    [POSE] = {.pose = {"empty", empty_pose}},
    [VOLT] = {.volt = {"empty", empty_volt}},
};

static bench_cost_t measure(const row_t *row, form_t form, uint32_t states, number_t out[]) {
    const arm_t *arm = &MEMORY(DYN_REAL).arm;
    dyn_arms_random_t seed = {0x2545F4914F6CDD1Du};
    bench_cost_t cost = {UINT32_MAX, 0};
    for (uint32_t k = 0; k < states; k++) {
        uint32_t start, end;
        random_state(&seed, arm->n);
        switch (form) {
        case INVERSE:
            start = bench_clock();
            bench_begin();
            row->inverse.run(arm, &scratch, state[Q], state[QD], state[QDD], out);
            bench_end();
            end = bench_clock();
            break;
        case BIAS:
            start = bench_clock();
            bench_begin();
            row->bias.run(arm, &scratch, state[Q], state[QD], out);
            bench_end();
            end = bench_clock();
            break;
        case MASS:
            start = bench_clock();
            bench_begin();
            row->mass.run(arm, &scratch, state[Q], out);
            bench_end();
            end = bench_clock();
            break;
        case POSE:
            start = bench_clock();
            bench_begin();
            row->pose.run(arm, state[Q], out);
            bench_end();
            end = bench_clock();
            break;
        case VOLT:
            start = bench_clock();
            bench_begin();
            (void)row->volt.run(arm, state[QD], state[TAU], out);
            bench_end();
            end = bench_clock();
            break;
        default:
            start = bench_clock();
            bench_begin();
            (void)row->forward.run(arm, &scratch, state[Q], state[QD], state[TAU], out);
            bench_end();
            end = bench_clock();
        }
        const uint32_t spent = bench_elapsed(start, end);
        cost.least = spent < cost.least ? spent : cost.least;
        cost.most = spent > cost.most ? spent : cost.most;
    }
    bench_row();
    return cost;
}

/*
 * A gross check, of the last state: that a kernel which is timed computes what the first of its
 * problem computes. The tests of the kernels say how exactly. Forward dynamics of a long chain
 * amplify the rounding of float by the condition of the inertia matrix and cannot be compared.
 */
static const char *verdict_of(const char *problem, uint32_t results) {
    const number_t *first = MEMORY(DYN_REAL).matrix[0], *now = MEMORY(DYN_REAL).matrix[1];
    BENCH_WIDE largest = 0;
    if (problem[0] == 'f' && problem[1] == 'd' && MEMORY(DYN_REAL).arm.n > 7)
        return "unchecked";
    for (uint32_t i = 0; i < results; i++) {
        const BENCH_WIDE a = first[i];
        largest = a > largest ? a : -a > largest ? -a : largest;
    }
    for (uint32_t i = 0; i < results; i++) {
        const BENCH_WIDE off = (BENCH_WIDE)now[i] - first[i];
        if (!(off <= largest / 512 && -off <= largest / 512)) /* so that NaN is different */
            return "DIFFERENT";
    }
    return largest > 0 ? "same" : "DIFFERENT";
}

typedef struct {
    const bench_robot_t *robot;
    const bench_choice_t *choice;
    const char *problem;
    form_t form;
    uint32_t results; /* numbers that the kernel gives */
    bool first;       /* of its problem */
    bench_cost_t base;
} group_t;

static group_t group_begin(const bench_robot_t *robot, const bench_choice_t *choice,
                           const char *problem, form_t form, uint32_t results) {
    group_t g = {robot, choice, problem, form, results, true, {0, 0}};
    if (bench_chosen(choice->problem, problem)) {
        g.base = measure(&empty[form], form, 1, MEMORY(DYN_REAL).matrix[1]);
        bench_print(robot->name, robot->model.n, problem, "empty", BENCH_REAL, g.base, "same");
    }
    return g;
}

static void group_row(group_t *g, const char *method, const row_t *row) {
    if (!bench_chosen(g->choice->problem, g->problem) || !bench_chosen(g->choice->method, method))
        return;
    number_t *out = MEMORY(DYN_REAL).matrix[!g->first];
    for (uint32_t i = 0; i < RESULTS; i++)
        out[i] = 0;
    bench_cost_t cost = measure(row, g->form, g->choice->states, out);
    if (g->first) {
        for (uint32_t i = 0; i < g->results; i++)
            MEMORY(DYN_REAL).matrix[1][i] = out[i];
        g->first = false;
    }
    /* The wrapper's jump stands for the return of the empty call. */
    cost.least -= g->base.least;
    cost.most -= g->base.least;
    bench_print(g->robot->name, g->robot->model.n, g->problem, method, BENCH_REAL, cost,
                verdict_of(g->problem, g->results));
}

static __attribute__((noinline)) void jump_pose(const arm_t *arm, const number_t q[],
                                                number_t out[]) {
    DYN(pose)(arm, q, out);
}
static __attribute__((noinline)) void jump_jacobian(const arm_t *arm, const number_t q[],
                                                    number_t out[]) {
    DYN(jacobian)(arm, q, out);
}
static __attribute__((noinline)) uint32_t jump_voltage(const arm_t *arm, const number_t qd[],
                                                       const number_t tau[], number_t out[]) {
    return DYN(voltage)(arm, qd, tau, out);
}

/* Every row of a table that a row without a name ends. */
#define GROUP_ROWS(g, table, form)                                                                 \
    for (uint32_t i = 0; table[i].name; i++)                                                       \
        group_row(g, table[i].name, &(const row_t){.form = table[i]});

/* The yardsticks are written for joints that turn. */
#ifdef BENCH_YARDSTICK
#define YARDSTICK_ROWS(g, table, form)                                                             \
    if (!arm->mixed)                                                                               \
    GROUP_ROWS(g, table, form)
#else
#define YARDSTICK_ROWS(g, table, form)
#endif

void BENCH_RUN(const bench_robot_t *robot, const bench_choice_t *choice) {
    const uint32_t n = robot->model.n;
    if (!bench_chosen(choice->real, BENCH_REAL))
        return;
    for (uint32_t i = 0; i < n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&robot->model, &robot->units, i);
        limit[Q][i] = robot->model.joint[i].type == DYN_PRISMATIC
                          ? BENCH_LIMIT(BENCH_TRAVEL, e.position)
                          : BENCH_ANGLE;
        limit[QD][i] = BENCH_LIMIT(BENCH_SPEED, e.velocity);
        limit[QDD][i] = BENCH_LIMIT(BENCH_ACCELERATION, e.acceleration);
        limit[TAU][i] = BENCH_LIMIT(BENCH_TORQUE, e.torque);
    }
    arm_t *arm = &MEMORY(DYN_REAL).arm;
    if (DYN(prepare)(&robot->model, &robot->units, arm) != DYN_OK) {
        bench_print(robot->name, n, "prepare", "-", BENCH_REAL, (bench_cost_t){0, 0}, "DIFFERENT");
        return;
    }
    /* A constant that does not fit is left out of the arm, and what remains is another kernel. */
    const uint32_t all =
        DYN_NEEDS_DRIVES | DYN_NEEDS_BODIES | DYN_NEEDS_GA_BODIES | DYN_NEEDS_REGROUPED;
    if (DYN(ready)(arm, all) != DYN_OK)
        bench_print(robot->name, n, "units", "-", BENCH_REAL, (bench_cost_t){0, 0}, "DIFFERENT");

    group_t g = group_begin(robot, choice, "id", INVERSE, n);
    GROUP_ROWS(&g, DYN(inverses), inverse)
    YARDSTICK_ROWS(&g, yardstick_inverses, inverse)
    g = group_begin(robot, choice, "mass", MASS, n * (n + 1) / 2);
    GROUP_ROWS(&g, DYN(masses), mass)
    YARDSTICK_ROWS(&g, yardstick_masses, mass)
    g = group_begin(robot, choice, "fd", FORWARD, n);
    GROUP_ROWS(&g, DYN(forwards), forward)
    YARDSTICK_ROWS(&g, yardstick_forwards, forward)
    g = group_begin(robot, choice, "bias", BIAS, n);
    GROUP_ROWS(&g, DYN(biases), bias)
    g = group_begin(robot, choice, "gravity", MASS, n);
    GROUP_ROWS(&g, DYN(gravities), mass)
    g = group_begin(robot, choice, "coriolis", BIAS, n * n);
    GROUP_ROWS(&g, DYN(corioles), bias)
    g = group_begin(robot, choice, "fk", POSE, 12);
    group_row(&g, "-", &(const row_t){.pose = {"-", jump_pose}});
    g = group_begin(robot, choice, "jacobian", POSE, 6 * n);
    group_row(&g, "-", &(const row_t){.pose = {"-", jump_jacobian}});
    g = group_begin(robot, choice, "volt", VOLT, n);
    group_row(&g, "-", &(const row_t){.volt = {"-", jump_voltage}});
}
