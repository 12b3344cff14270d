/* Evaluates the graphs of a robot and the general kernels, which they are compared with
 * (tools/gen/gen.h). */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "dyn/number/trig.h"

/* ----------------------------------------------------------------------------------- evaluation */

static double lookup(void *context, int32_t array, int32_t index) {
    const gen_state_t *state = context;
    return state->array[array][index];
}

void gen_state_values(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state,
                      double *value) {
    gen_state_t copy = *state;
    graph_eval(gen->graph[kernel], lookup, &copy, value);
}

void gen_eval_f64(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out) {
    const graph_t *g = gen->graph[kernel];
    double *value = malloc(((size_t)graph_size(g) + 1) * sizeof *value);
    if (!value)
        abort();
    gen_state_values(gen, kernel, state, value);
    for (int i = 0; i < graph_outputs(g); i++) {
        const ref_t r = graph_result(g, i);
        out[i] = r & 1 ? -value[r >> 1] : value[r >> 1];
    }
    free(value);
}

static float f32_node(const graph_t *g, int32_t id, const float *v, const gen_state_t *state) {
    const graph_node_t *n = graph_at(g, id);
    const float a = n->op > GRAPH_INPUT ? (n->a & 1 ? -v[n->a >> 1] : v[n->a >> 1]) : 0;
    const float b = graph_uses_b(n->op) || (n->op == GRAPH_ANGLE && n->b != GRAPH_NONE)
                        ? (n->b & 1 ? -v[n->b >> 1] : v[n->b >> 1])
                        : 0;
    float c, s;
    switch (n->op) {
    case GRAPH_CONST:
        return (float)graph_value(g, id);
    case GRAPH_INPUT:
        return (float)state->array[n->a][n->b];
    case GRAPH_ANGLE:
        return (a + b) + (float)graph_value(g, id);
    case GRAPH_SIN:
    case GRAPH_COS:
        dyn_sincos_f32(a, &c, &s);
        return n->op == GRAPH_SIN ? s : c;
    case GRAPH_ADD:
        return a + b;
    case GRAPH_MUL:
        return a * b;
    case GRAPH_RECIP:
        return 1 / a;
    case GRAPH_HOLD:
        return a;
    case GRAPH_SQRT:
        return sqrtf(a);
    case GRAPH_CLAMP:
        return fmaxf(-b, fminf(b, a));
    case GRAPH_MIN:
        return fminf(a, b);
    case GRAPH_SIGN:
        return a > 0 ? 1.0f : a < 0 ? -1.0f : 0.0f;
    default:
        return 0;
    }
}

void gen_eval_f32(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out) {
    const graph_t *g = gen->graph[kernel];
    int32_t count, *order = graph_order(g, &count);
    float *value = malloc(((size_t)graph_size(g) + 1) * sizeof *value);
    if (!value)
        abort();
    for (int32_t i = 0; i < count; i++)
        value[order[i]] = f32_node(g, order[i], value, state);
    for (int i = 0; i < graph_outputs(g); i++) {
        const ref_t r = graph_result(g, i);
        out[i] = (double)(r & 1 ? -value[r >> 1] : value[r >> 1]);
    }
    free(value);
    free(order);
}

/* ------------------------------------------------------------------------------------ reference */

/* Puts the run-time arguments into a model. */
static void set_model(const gen_t *gen, const gen_state_t *state, dyn_model_t *m) {
    if (state->array[GEN_GRAVITY])
        memcpy(m->gravity, state->array[GEN_GRAVITY], sizeof m->gravity);
    for (uint32_t i = 0; i < m->n; i++)
        if (gen->options.keep & GEN_NO_ROTOR)
            m->joint[i].drive.motor.rotor_inertia = 0;
    if (state->array[GEN_PAYLOAD]) {
        const double *p = state->array[GEN_PAYLOAD], rise = dyn_pseudo_rise(&gen->traced, m->n - 1);
        const double mass = p[0], half = p[4] + p[5] + p[6];
        /* The payload is given by Euler's tensor about the origin of the formulations, which lies
         * below the origin of the frame by `rise`. */
        dyn_body_t *b = &m->payload;
        b->mass = mass;
        for (int k = 0; k < 3; k++)
            b->com[k] = mass > 0 ? p[1 + k] / mass : 0;
        static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
        double central = 0;
        for (int k = 0; k < 3; k++)
            central += mass * b->com[k] * b->com[k];
        for (int k = 0; k < 6; k++) {
            const double J = p[4 + k] - mass * b->com[at[k][0]] * b->com[at[k][1]];
            b->inertia[k] = (k < 3 ? half - central : 0) - J;
        }
        b->com[2] -= rise;
    }
}

static void add_friction(const gen_t *gen, const double *qd, double sign, double *tau) {
    for (uint32_t i = 0; i < gen->arm.n && (gen->options.keep & GEN_FRICTION); i++) {
        const dyn_friction_t *f = &gen->model.joint[i].drive.friction;
        const double coulomb = qd[i] == 0 ? 0 : f->coulomb[qd[i] > 0];
        tau[i] += sign * (f->viscous * qd[i] + coulomb);
    }
}

static void reference(const gen_t *gen, const dyn_model_t *given, gen_kernel_t kernel,
                      const gen_state_t *state, double *out) {
    static dyn_model_t model;
    static dyn_arm_f64_t arm;
    static dyn_fast_forward_scratch_f64_t scratch;
    double left[DYN_MAX_JOINTS];
    const double *q = state->array[GEN_Q], *qd = state->array[GEN_QD], *qdd = state->array[GEN_QDD];
    const bool wrench = gen->options.keep & GEN_KEEP_WRENCH;
    model = *given;
    set_model(gen, state, &model);
    (void)dyn_prepare_f64(&model, NULL, &arm);
    switch (kernel) {
    case GEN_ID:
        dyn_fast_inverse_f64(&arm, &scratch.fast, q, qd, qdd, out);
        dyn_rotor_inverse_f64(&arm, qdd, out);
        add_friction(gen, qd, 1, out);
        if (wrench)
            dyn_wrench_torque_f64(&arm, q, state->array[GEN_WRENCH], out);
        break;
    case GEN_MASS:
        dyn_fast_mass_f64(&arm, &scratch.fast, q, out);
        dyn_rotor_mass_f64(&arm, out);
        break;
    case GEN_BIAS:
        dyn_fast_bias_f64(&arm, &scratch.fast, q, qd, out);
        if (wrench)
            dyn_wrench_torque_f64(&arm, q, state->array[GEN_WRENCH], out);
        break;
    case GEN_GRAVITY_TORQUE:
        dyn_fast_gravity_f64(&arm, &scratch.fast, q, out);
        break;
    case GEN_FD: {
        double back[6];
        memcpy(left, state->array[GEN_TAU], gen->arm.n * sizeof *left);
        add_friction(gen, qd, -1, left);
        for (int k = 0; wrench && k < 6; k++)
            back[k] = -state->array[GEN_WRENCH][k];
        if (wrench)
            dyn_wrench_torque_f64(&arm, q, back, left);
        (void)dyn_fast_forward_f64(&arm, &scratch, q, qd, left, out);
        break;
    }
    case GEN_FK:
        dyn_pose_f64(&arm, q, out);
        break;
    default:
        dyn_jacobian_f64(&arm, q, out);
    }
}

void gen_reference(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out) {
    reference(gen, &gen->model, kernel, state, out);
}

void gen_quiet_error(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out) {
    static double given[6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    reference(gen, &gen->model, kernel, state, given);
    reference(gen, &gen->traced, kernel, state, out);
    for (uint32_t i = 0; i < gen_results(gen, kernel); i++)
        out[i] = fabs(out[i] - given[i]);
}
