/* Evaluates generated graphs for the row commands (tools/eval/eval_gen.h). */
#include "tools/eval/eval_gen.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/cli/progress.h"

double eval_gen_effort = 1;
char eval_gen_why[GEN_WHY];

static void progress(void *context, const char *kernel, double part, graph_ops_t ops) {
    (void)context;
    (void)ops;
    progress_show(kernel, (uint64_t)(100 * part), 100);
}

static gen_kernel_t kernel_of(problem_t problem) {
    switch (problem) {
    case PROBLEM_ID:
        return GEN_ID;
    case PROBLEM_MASS:
        return GEN_MASS;
    case PROBLEM_FD:
        return GEN_FD;
    case PROBLEM_BIAS:
        return GEN_BIAS;
    case PROBLEM_GRAVITY:
        return GEN_GRAVITY_TORQUE;
    case PROBLEM_FK:
        return GEN_FK;
    case PROBLEM_JACOBIAN:
        return GEN_JACOBIAN;
    default:
        return GEN_KERNELS;
    }
}

void eval_gen_set(eval_gen_t *e, gen_real_t real, const dyn_model_t *model,
                  const dyn_units_t *units) {
    e->real = real;
    e->model = malloc(sizeof *e->model);
    if (e->model)
        *e->model = *model;
    e->units = units;
}

int eval_gen_make(eval_gen_t *e, problem_t problem) {
    const gen_kernel_t kernel = kernel_of(problem);
    const dyn_units_t *units = e->units;
    snprintf(eval_gen_why, sizeof eval_gen_why, "there is no memory, or no such kernel");
    if (kernel == GEN_KERNELS || !e->model)
        return DYN_E_TYPE;
    if (e->gen)
        return DYN_OK;
    /* In fixed point the bounds of forward dynamics follow from the inertia matrix, so its graph is
     * needed too. */
    const bool matrix = units && kernel == GEN_FD;
    const gen_options_t options = {.kernels = 1u << kernel | (matrix ? 1u << GEN_MASS : 0),
                                   .effort = eval_gen_effort,
                                   .progress = progress,
                                   .real = e->real,
                                   .units = units};
    e->kernel = kernel;
    e->gen = gen_make(e->model, &options);
    if (e->gen && units)
        e->fixed = gen_fixed(e->gen, kernel, units);
    if (e->fixed && fixed_lost(e->fixed)) {
        gen_doubt(e->gen, kernel, e->fixed, eval_gen_why, sizeof eval_gen_why);
        fixed_free(e->fixed);
        gen_free(e->gen);
        e->fixed = NULL;
        e->gen = NULL;
    }
    return e->gen ? DYN_OK : DYN_E_TYPE;
}

void eval_gen_drop(eval_gen_t *e) {
    fixed_free(e->fixed);
    gen_free(e->gen);
    free(e->model);
}

/* in[2] is the acceleration for inverse dynamics and the torque for forward dynamics. */
static void set_state(const eval_gen_t *e, double in[3][DYN_MAX_JOINTS], gen_state_t *state) {
    state->array[GEN_Q] = in[0];
    state->array[GEN_QD] = in[1];
    state->array[GEN_QDD] = state->array[GEN_TAU] = in[2];
    (void)e;
}

void eval_gen_f64(const eval_gen_t *e, double in[3][DYN_MAX_JOINTS], double *out) {
    gen_state_t state = {{0}};
    set_state(e, in, &state);
    gen_eval_f64(e->gen, e->kernel, &state, out);
}

void eval_gen_f32(const eval_gen_t *e, float in[3][DYN_MAX_JOINTS], float *out) {
    static double wide[3][DYN_MAX_JOINTS], result[6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    gen_state_t state = {{0}};
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < e->gen->arm.n; i++)
            wide[k][i] = (double)in[k][i];
    set_state(e, wide, &state);
    gen_eval_f32(e->gen, e->kernel, &state, result);
    for (uint32_t i = 0; i < gen_results(e->gen, e->kernel); i++)
        out[i] = (float)result[i];
}

static int32_t raw_input(void *context, int32_t array, int32_t index) {
    const int32_t(*in)[DYN_MAX_JOINTS] = context;
    return in[array == GEN_TAU ? 2 : array][index];
}

void eval_gen_q31(const eval_gen_t *e, int32_t in[3][DYN_MAX_JOINTS], int32_t *out) {
    fixed_eval(e->fixed, raw_input, in, out);
}

count_ops_t eval_gen_count(const dyn_model_t *model, problem_t problem) {
    count_ops_t ops = {0};
    eval_gen_t e = {0};
    eval_gen_set(&e, GEN_F32, model, NULL);
    if (eval_gen_make(&e, problem) == DYN_OK) {
        const graph_ops_t *o = &e.gen->ops[e.kernel];
        ops.mul = o->mul;
        ops.add = o->add;
        ops.div = o->div;
        ops.sqrt = o->sqrt;
        ops.sincos = o->sincos;
    }
    eval_gen_drop(&e);
    return ops;
}
