/* Makes the graphs of all kernels for one robot (tools/gen/gen.h). */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/trace.h"
#include "tools/gen/anneal.h"
#include "tools/gen/closed.h"
#include "tools/proof/units.h"

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
static graph_t *trace_kinematics(const dyn_model_t *model, bool held, bool jacobian) {
    static dyn_arm_trace_t arm;
    static dyn_real_trace_t q[DYN_MAX_JOINTS], out[6 * DYN_MAX_JOINTS + 12];
    graph_t *g = graph_new();
    trace_use(g);
    if (held)
        trace_hold();
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
    /* Effort shrinks with size: a graph of more than 800 operations gets fewer moves than one of
     * 800, so that 30 joints take less than a minute at the default effort. */
    double ops = (double)(gen->before[kernel].mul + gen->before[kernel].add);
    ops = ops > 800 ? 800 * sqrt(sqrt(800 / ops)) : ops;
    const long all = (long)fmin(4e8, per_op[kernel] * gen->options.effort * ops);
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

/* Traces a kernel, with held vectors if gen->arm.held is set. */
static graph_t *trace_kernel(gen_t *gen, gen_kernel_t kernel, gen_names_t *names) {
    static const form_kind_t kind[GEN_KERNELS] = {FORM_ID, FORM_MASS, FORM_BIAS, FORM_GRAVITY,
                                                  FORM_FD};
    return kernel >= GEN_FK ? trace_kinematics(&gen->traced, gen->arm.held, kernel == GEN_JACOBIAN)
                            : form_best(&gen->arm, kind[kernel], &anneal_m4f, names);
}

static double fixed_error(gen_t *gen, gen_kernel_t kernel, graph_t *g) {
    gen->graph[kernel] = g;
    fixed_t *f = gen_fixed(gen, kernel, gen->options.units);
    double most = 0;
    for (int i = 0; i < graph_outputs(g); i++)
        most = isnan(f->result_error[i]) ? HUGE_VAL : fmax(most, f->result_error[i]);
    fixed_free(f);
    gen->graph[kernel] = NULL;
    return most;
}

/* Traces a kernel; in fixed point with held vectors if that lowers the guaranteed error by more than
 * two bits, because the annealer saves less where vectors are held. */
static graph_t *trace_best(gen_t *gen, gen_kernel_t kernel) {
    static const double worth = 4;
    gen_names_t *names = calloc(2, sizeof *names);
    if (!names)
        abort();
    gen->arm.held = false;
    gen->names[kernel] = names;
    graph_t *g = trace_kernel(gen, kernel, names);
    if (!gen->options.units || !g)
        return g;
    const double plain = fixed_error(gen, kernel, g);
    gen->arm.held = true;
    graph_t *held = trace_kernel(gen, kernel, names + 1);
    if (fixed_error(gen, kernel, held) * worth < plain) {
        names[0] = names[1];
        graph_free(g);
        return held;
    }
    graph_free(held);
    return g;
}

/* Makes the graph of a kernel before it is annealed. `closed` is the closed form of the inertia
 * matrix or NULL; it is consumed if the kernel is the inertia matrix. */
static graph_t *prepare(gen_t *gen, gen_kernel_t kernel, graph_t *closed) {
    graph_t *trace = trace_best(gen, kernel);
    if (kernel != GEN_MASS || !closed)
        return trace;
    graph_t *chosen = gen->options.uicker_kahn ? closed : trace;
    graph_t *other = gen->options.uicker_kahn ? trace : closed;
    gen->other = graph_count(other);
    graph_free(other);
    return chosen;
}

/* Most monomials of the closed form where it is only counted, for comparison. */
enum { MONOMIALS_ASIDE = 3000 };

static void show_closed_form(void *context, uint32_t done, uint32_t of, int32_t monomials) {
    const gen_options_t *o = context;
    (void)monomials;
    if (o->progress && done < of)
        o->progress(o->context, "closed form", (double)done / of, (graph_ops_t){0});
}

/* Returns the closed form of the inertia matrix, or NULL if it is too large or does not exist. */
static graph_t *closed_form(gen_t *gen) {
    graph_t *g = NULL;
    if (gen->options.keep & GEN_KEEP_PAYLOAD)
        return NULL;
    const int32_t asked = gen->options.monomials > 0 ? gen->options.monomials : GEN_MONOMIALS;
    const int32_t most = gen->options.uicker_kahn ? asked : MONOMIALS_ASIDE;
    closed_t *c = closed_from_arm(&gen->arm, most);
    for (int k = 0; k < 3; k++)
        poly_free(&c->gravity[k]);
    c->progress = show_closed_form;
    c->context = &gen->options;
    if (closed_derive(c))
        g = closed_graph(c);
    closed_free(c);
    return g;
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
    /* Ranges, bounds and self-test use the same acceleration limits as the proof of fixed point. */
    for (uint32_t i = 0; options->units && i < model->n; i++) {
        dyn_limits_t *l = &gen->model.joint[i].drive.limits;
        l->acceleration = units_acceleration(l);
    }
    gen->traced = gen_quiet(&gen->model, gen_noise(options->real));
    gen_arm(&gen->traced, options->keep, &gen->arm);
    graph_t *closed = NULL;
    if ((options->both || options->uicker_kahn) &&
        (!options->kernels || (options->kernels & BIT(GEN_MASS))))
        closed = closed_form(gen);
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

void gen_lose(gen_t *gen, gen_kernel_t kernel, const fixed_t *fixed) {
    if (fixed)
        gen_doubt(gen, kernel, fixed, gen->why[kernel], sizeof gen->why[kernel]);
    else
        snprintf(gen->why[kernel], sizeof gen->why[kernel],
                 "its results are not finite, as of an arm with a joint that moves no mass");
    graph_free(gen->graph[kernel]);
    gen->graph[kernel] = NULL;
    gen->lost |= BIT(kernel);
}
