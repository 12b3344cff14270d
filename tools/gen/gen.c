/* Makes the graphs of all kernels for one robot (tools/gen/gen.h). */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "dyn/number/trig.h"
#include "tools/gen/trace.h"
#include "tools/gen/anneal.h"

#define BIT(array) (1u << (array))

const gen_kernel_info_t gen_kernel_info[GEN_KERNELS] = {
    {"id", "tau", "inverse dynamics: the torques of a motion",
     BIT(GEN_Q) | BIT(GEN_QD) | BIT(GEN_QDD)},
    {"mass", "M", "inertia matrix, M[i (i + 1) / 2 + j] for j <= i", BIT(GEN_Q)},
    {"bias", "tau", "torques at zero acceleration", BIT(GEN_Q) | BIT(GEN_QD)},
    {"gravity", "tau", "torques at rest", BIT(GEN_Q)},
    {"fd", "qdd", "forward dynamics: the accelerations that torques cause",
     BIT(GEN_Q) | BIT(GEN_QD) | BIT(GEN_TAU)},
    {"fk", "pose", "pose of the end effector in the world, 3 x 4, row by row", BIT(GEN_Q)},
    {"jacobian", "J",
     "6 x n, row by row: first velocity, then angular velocity of the end effector", BIT(GEN_Q)}};

uint32_t gen_results(const gen_t *gen, gen_kernel_t kernel) {
    const uint32_t n = gen->arm.n;
    return kernel == GEN_MASS       ? n * (n + 1) / 2
           : kernel == GEN_FK       ? 12
           : kernel == GEN_JACOBIAN ? 6 * n
                                    : n;
}

uint32_t gen_array_size(const gen_t *gen, gen_array_t array) {
    return array == GEN_GRAVITY   ? 3
           : array == GEN_PAYLOAD ? 10
           : array == GEN_WRENCH  ? 6
                                  : gen->arm.n;
}

uint32_t gen_inputs(const gen_t *gen, gen_kernel_t kernel) {
    const uint32_t keep = gen->options.keep;
    uint32_t inputs = gen_kernel_info[kernel].inputs;
    const bool torque = kernel == GEN_ID || kernel == GEN_BIAS || kernel == GEN_FD;
    if ((keep & GEN_KEEP_GRAVITY) && (torque || kernel == GEN_GRAVITY_TORQUE))
        inputs |= BIT(GEN_GRAVITY);
    if ((keep & GEN_KEEP_PAYLOAD) && (torque || kernel == GEN_GRAVITY_TORQUE || kernel == GEN_MASS))
        inputs |= BIT(GEN_PAYLOAD);
    if ((keep & GEN_KEEP_WRENCH) && torque)
        inputs |= BIT(GEN_WRENCH);
    return inputs;
}

/*
 * Forward kinematics and Jacobian are traced from the unchanged kernels of dyn/kernel/kinematics.c.
 */
static graph_t *trace_kinematics(const dyn_model_t *model, bool jacobian) {
    static dyn_arm_trace_t arm;
    static dyn_real_trace_t q[DYN_MAX_JOINTS], out[6 * DYN_MAX_JOINTS + 12];
    graph_t *g = graph_new();
    trace_use(g);
    if (dyn_prepare_trace(model, NULL, &arm) != DYN_OK) {
        graph_free(g);
        return NULL;
    }
    for (uint32_t i = 0; i < model->n; i++)
        q[i] = trace_input(GEN_Q, (int32_t)i);
    if (jacobian)
        dyn_jacobian_trace(&arm, q, out);
    else
        dyn_pose_trace(&arm, q, out);
    trace_results(out, jacobian ? 6 * model->n : 12);
    graph_sweep(g);
    return g;
}

typedef struct {
    const gen_t *gen;
    gen_kernel_t kernel;
    long before, of; /* moves of the earlier stages, and of all stages together */
} stage_t;

static void show_progress(void *context, long done, long of, double least) {
    const stage_t *s = context;
    const gen_options_t *o = &s->gen->options;
    (void)of;
    (void)least;
    if (o->progress)
        o->progress(o->context, gen_kernel_info[s->kernel].name,
                    (double)(s->before + done) / (double)s->of, s->gen->before[s->kernel]);
}

/*
 * Anneals a graph in two stages. Two short coolings find different minima; the better result is
 * cooled once more, from a lower temperature. per_op is the number of moves for each operation of
 * the graph at effort 1; kernels that run in every tick get the most.
 */
static graph_t *anneal(const gen_t *gen, gen_kernel_t kernel, const graph_t *from) {
    static const double per_op[GEN_KERNELS] = {19000, 12000, 3000, 3000, 10000, 2000, 2000};
    const graph_ops_t ops = gen->before[kernel];
    const long all =
        (long)fmin(4e8, per_op[kernel] * gen->options.effort * (double)(ops.mul + ops.add));
    if (all < 1000)
        return graph_copy(from);
    stage_t stage = {gen, kernel, 0, all};
    graph_cost_t cost = anneal_m4f;
    /*
     * The price of a constant also controls how readily the annealer pulls a constant out of a sum.
     * The prices 0.25, 0.1 and 0.05 were compared with three sets of seeds each: 0.1 reduced
     * inverse dynamics of the PUMA 560 from 291 - 293 operations to 284 - 289. For the PUMA with
     * full inertias, the Stanford arm, a UR5 and the other kernels, the three prices differ by no
     * more than the seeds do.
     */
    if (kernel == GEN_ID)
        cost.constant = 0.1;
    anneal_t how = {.cost = cost,
                    .moves = all * 6 / 10,
                    .seeds = 2,
                    .hot = 0.30,
                    .cold = 0.13,
                    .progress = show_progress,
                    .context = &stage};
    graph_t *first = anneal_cached(from, &how);
    stage.before = how.moves;
    how.moves = all - how.moves;
    how.seeds = 1;
    how.hot = 0.22;
    how.cold = 0.09;
    graph_t *second = anneal_cached(first, &how);
    graph_free(first);
    return second;
}

/* Traces a kernel. `closed` is the closed form of the inertia matrix or NULL; it is consumed if the
 * kernel is the inertia matrix. */
static graph_t *prepare(gen_t *gen, gen_kernel_t kernel, graph_t *closed) {
    static const form_kind_t kind[GEN_KERNELS] = {FORM_ID, FORM_MASS, FORM_BIAS, FORM_GRAVITY,
                                                  FORM_FD};
    if (kernel >= GEN_FK)
        return trace_kinematics(&gen->traced, kernel == GEN_JACOBIAN);
    gen->names[kernel] = calloc(1, sizeof *gen->names[kernel]);
    if (!gen->names[kernel])
        return NULL;
    graph_t *trace = form_best(&gen->arm, kind[kernel], &anneal_m4f, gen->names[kernel]);
    if (kernel != GEN_MASS || !closed)
        return trace;
    graph_t *chosen = gen->options.uicker_kahn ? closed : trace;
    graph_t *other = gen->options.uicker_kahn ? trace : closed;
    gen->other = graph_count(other);
    graph_free(other);
    return chosen;
}

double gen_noise(gen_real_t real) {
    return real == GEN_F32 ? 1e-10 : 1e-13;
}

gen_t *gen_make(const dyn_model_t *model, const gen_options_t *options) {
    gen_t *gen = calloc(1, sizeof *gen);
    if (!gen)
        return NULL;
    gen->options = *options;
    gen->model = *model;
    gen->traced = gen_quiet(model, gen_noise(options->real));
    gen_arm(&gen->traced, options->keep, &gen->arm);
    graph_t *closed = NULL;
    if ((options->both || options->uicker_kahn) &&
        (!options->kernels || (options->kernels & BIT(GEN_MASS))))
        closed = form_uicker_kahn(&gen->arm);
    gen->no_closed_form = options->uicker_kahn && !closed;
    for (int k = 0; k < GEN_KERNELS && !gen->no_closed_form; k++) {
        if (options->kernels && !(options->kernels & BIT(k)))
            continue;
        graph_t *g = prepare(gen, (gen_kernel_t)k, closed);
        if (!g)
            continue;
        gen->before[k] = graph_count(g);
        gen->graph[k] = anneal(gen, (gen_kernel_t)k, g);
        gen->ops[k] = graph_count(gen->graph[k]);
        if (options->progress)
            options->progress(options->context, gen_kernel_info[k].name, 1, gen->ops[k]);
        graph_free(g);
    }
    return gen;
}

void gen_free(gen_t *gen) {
    for (int k = 0; gen && k < GEN_KERNELS; k++) {
        graph_free(gen->graph[k]);
        free(gen->names[k]);
    }
    free(gen);
}

void gen_lose(gen_t *gen, gen_kernel_t kernel) {
    graph_free(gen->graph[kernel]);
    gen->graph[kernel] = NULL;
    gen->lost |= BIT(kernel);
}

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
