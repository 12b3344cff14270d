/* Tells fixed.c about the arm: limits, units, and bounds that interval arithmetic cannot find. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/proof/check.h"
#include "tools/proof/range.h"
#include "tools/gen/gen.h"

typedef struct {
    const gen_t *gen;
    gen_kernel_t kernel;
    const dyn_units_t *units;
    int reach; /* exponent of the length unit of the positions in fk and jacobian */
} arm_t;

static bool prismatic(const arm_t *a, uint32_t i) {
    return a->gen->model.joint[i].type == DYN_PRISMATIC;
}

int gen_input_bits(const gen_t *gen, const dyn_units_t *units, gen_array_t array, uint32_t i) {
    const dyn_q31_exponents_t e = dyn_q31_exponents(&gen->model, units, i);
    if (array == GEN_Q && gen->model.joint[i].type == DYN_REVOLUTE)
        return 32;
    return DYN_Q31_BITS - (array == GEN_Q     ? e.position
                           : array == GEN_QD  ? e.velocity
                           : array == GEN_QDD ? e.acceleration
                                              : e.torque);
}

static int input_exponent(const void *context, int32_t array, int32_t index) {
    const arm_t *a = context;
    return gen_input_bits(a->gen, a->units, (gen_array_t)array, (uint32_t)index);
}

static void input_range(const void *context, int32_t array, int32_t index, double *lo, double *hi) {
    const arm_t *a = context;
    const dyn_limits_t *l = &a->gen->model.joint[index].drive.limits;
    /* Nothing limits an input torque before the kernel, so it may have any value of its format. */
    double most = ldexp(1, 31 - input_exponent(context, array, index));
    if (array == GEN_QD)
        most = l->velocity;
    else if (array == GEN_QDD)
        most = l->acceleration;
    else if (array == GEN_Q && !prismatic(a, (uint32_t)index))
        most = 100; /* 100 rad contains many turns, so the bound is valid for every angle */
    *lo = -most;
    *hi = most;
    if (array == GEN_Q && l->position[1] > l->position[0]) {
        *lo = l->position[0];
        *hi = l->position[1];
    }
}

static int result_exponent(const void *context, int result) {
    const arm_t *a = context;
    const uint32_t n = a->gen->arm.n, i = (uint32_t)result;
    switch (a->kernel) {
    case GEN_FD:
        return gen_input_bits(a->gen, a->units, GEN_QDD, i);
    case GEN_MASS: {
        uint32_t row = 0;
        while ((row + 1) * (row + 2) / 2 <= i)
            row++;
        const uint32_t column = i - row * (row + 1) / 2;
        const int lengths = 2 - prismatic(a, row) - prismatic(a, column);
        return DYN_Q31_BITS - a->units->mass[column] - lengths * a->units->length;
    }
    case GEN_FK:
        return DYN_Q31_BITS - (i % 4 == 3 ? a->reach : 0);
    case GEN_JACOBIAN:
        return DYN_Q31_BITS -
               (i / n < 3 ? a->reach - (prismatic(a, i % n) ? a->units->length : 0) : 0);
    default:
        return gen_input_bits(a->gen, a->units, GEN_TAU, i);
    }
}

/* ------------------------------------------------------------------------------- further bounds */

enum { KNOWN_MAX = GEN_NAMES_MAX, SAMPLES = 2000 };

typedef struct {
    fixed_known_t item[KNOWN_MAX];
    int count;
} known_t;

static void learn(known_t *k, const double *value, double lo, double hi, bool guessed) {
    if (k->count == KNOWN_MAX || value[0] == 0 || value[1] == 0)
        return;
    fixed_known_t *item = &k->item[k->count++];
    *item = (fixed_known_t){.lo = lo, .hi = hi, .guessed = guessed};
    memcpy(item->value, value, sizeof item->value);
}

/* The same for a quantity that is positive, of which the node may have the negative. */
static void learn_positive(known_t *k, const double *value, double lo, double hi, bool guessed) {
    const bool negative = value[0] < 0;
    learn(k, value, negative ? -hi : lo, negative ? -lo : hi, guessed);
}

/* Adds a bound for each result. The values at the probes tell which node is the result. */
static void learn_results(const gen_t *gen, gen_kernel_t kernel, const double *bound, known_t *k) {
    const graph_t *g = gen->graph[kernel];
    const size_t size = (size_t)graph_size(g);
    double *value = calloc(size * GEN_PROBES, sizeof *value);
    if (!value)
        abort();
    for (int probe = 0; probe < GEN_PROBES; probe++)
        graph_eval(g, gen_probe, &probe, value + (size_t)probe * size);
    for (int i = 0; i < graph_outputs(g); i++) {
        const size_t r = (size_t)(graph_result(g, i) >> 1);
        const double v[GEN_PROBES] = {value[r], value[size + r]};
        learn(k, v, -bound[i], bound[i], false);
    }
    free(value);
}

/* Adds bounds of the torques from tools/proof/range.h. They are tighter than those of interval
 * arithmetic, because they use norms of vectors. */
static void learn_torques(const gen_t *gen, gen_kernel_t kernel, known_t *k) {
    static range_report_t report;
    double bound[DYN_MAX_JOINTS] = {0};
    if (range_run(range_fast, &gen->traced, NULL, RANGE_EXACT, &report) != DYN_OK)
        return;
    for (uint32_t i = 0; i < gen->arm.n; i++) {
        const dyn_model_joint_t *j = &gen->model.joint[i];
        bound[i] = report.tau_bound[i] + dyn_model_rotor(j) * j->drive.limits.acceleration;
    }
    learn_results(gen, kernel, bound, k);
}

/* Bounds the diagonal of the inertia matrix. */
static bool matrix_bounds(const gen_t *gen, const dyn_units_t *units, double *diagonal) {
    if (!gen->graph[GEN_MASS])
        return false;
    fixed_t *mass = gen_fixed(gen, GEN_MASS, units);
    for (uint32_t i = 0; mass && i < gen->arm.n; i++)
        diagonal[i] = mass->result_bound[i * (i + 3) / 2];
    fixed_free(mass);
    return mass != NULL;
}

/* Finds the least pivot of each joint over random states. Only joints without a rotor need it; a
 * rotor bounds the pivot from below. */
static void sample_pivots(const gen_t *gen, double *least) {
    static double M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    const uint32_t n = gen->arm.n;
    double q[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < n; i++)
        least[i] = 1e300;
    for (int s = 0; s < SAMPLES; s++) {
        int context = 100 + s;
        for (uint32_t i = 0; i < n; i++) {
            const dyn_limits_t *l = &gen->model.joint[i].drive.limits;
            const double part = gen_probe(&context, GEN_Q, (int32_t)i),
                         span = l->position[1] - l->position[0];
            q[i] = span > 0 ? l->position[0] + 0.5 * (part + 1) * span : 3.14159 * part;
        }
        gen_eval_f64(gen, GEN_MASS, &(gen_state_t){{[GEN_Q] = q}}, M);
        for (uint32_t i = n; i-- > 0;) {
            double *Mi = M + i * (i + 1) / 2;
            least[i] = fmin(least[i], Mi[i]);
            for (uint32_t j = 0; j < i; j++)
                for (uint32_t k = 0; k <= j; k++)
                    M[j * (j + 1) / 2 + k] -= Mi[j] * Mi[k] / Mi[i];
        }
    }
}

/* True if this number in a name is the number of a joint. Joints count from 1 in names. */
static bool names_joint(const gen_t *gen, unsigned number) {
    return number >= 1 && number <= gen->arm.n;
}

/*
 * The inertia matrix M is the sum of a positive semidefinite matrix and the rotors on the diagonal,
 * and so is every Schur complement in its elimination. So no pivot is below the rotor inertia of
 * its joint. No element exceeds the square root of the product of its two diagonal elements, and
 * elimination never increases a diagonal element.
 */
static void learn_pivots(const gen_t *gen, const dyn_units_t *units, known_t *k) {
    double diagonal[DYN_MAX_JOINTS] = {0}, least[DYN_MAX_JOINTS] = {0}, sampled[DYN_MAX_JOINTS];
    const gen_names_t *names = gen->names[GEN_FD];
    if (!names || !matrix_bounds(gen, units, diagonal))
        return;
    sample_pivots(gen, sampled);
    for (uint32_t i = 0; i < gen->arm.n; i++) {
        least[i] = gen->options.keep & GEN_NO_ROTOR ? 0 : dyn_model_rotor(&gen->model.joint[i]);
        sampled[i] *= 0.5;
    }
    for (int i = 0; i < names->count; i++) {
        const gen_name_t *name = &names->name[i];
        unsigned row, column;
        int end = 0;
        if (sscanf(name->name, "D%u%n", &row, &end) == 1 && !name->name[end] &&
            names_joint(gen, row)) {
            const bool guessed = least[row - 1] <= 0;
            learn_positive(k, name->value, guessed ? sampled[row - 1] : least[row - 1],
                           diagonal[row - 1], guessed);
        } else if (sscanf(name->name, "S%u_%u", &row, &column) == 2 && names_joint(gen, row) &&
                   names_joint(gen, column)) {
            const double most = sqrt(diagonal[row - 1] * diagonal[column - 1]);
            if (row == column)
                learn_positive(k, name->value, 0, most, false);
            else
                learn(k, name->value, -most, most, false);
        } else if (sscanf(name->name, "U%u_%u", &row, &column) == 2 && names_joint(gen, row) &&
                   names_joint(gen, column)) {
            const bool guessed = least[row - 1] <= 0;
            const double most =
                sqrt(diagonal[column - 1] / (guessed ? sampled[row - 1] : least[row - 1]));
            learn(k, name->value, -most, most, guessed);
        }
    }
}

fixed_t *gen_fixed(const gen_t *gen, gen_kernel_t kernel, const dyn_units_t *units) {
    static dyn_arm_check_t prepared;
    known_t *known = calloc(1, sizeof *known);
    arm_t a = {.gen = gen, .kernel = kernel, .units = units};
    if (!known)
        abort();
    if (kernel >= GEN_FK && dyn_prepare_check(&gen->traced, units, &prepared) == DYN_OK)
        a.reach = units->length + (int)prepared.reach_shift;
    if (kernel == GEN_ID || kernel == GEN_BIAS || kernel == GEN_GRAVITY_TORQUE)
        learn_torques(gen, kernel, known);
    if (kernel == GEN_FD)
        learn_pivots(gen, units, known);
    const fixed_options_t options = {.input_exponent = input_exponent,
                                     .input_range = input_range,
                                     .result_exponent = result_exponent,
                                     .context = &a,
                                     .known = known->item,
                                     .known_count = known->count};
    fixed_t *f = fixed_make(gen->graph[kernel], &options);
    free(known);
    return f;
}

/* ------------------------------------------------------------------------------ what is not sure */

/* Returns the joint of the pivot of which this node is a multiple, or n. */
static uint32_t pivot_joint(const gen_t *gen, const double *value, size_t size, int32_t id,
                            double *multiple) {
    const gen_names_t *names = gen->names[GEN_FD];
    for (int i = 0; names && i < names->count; i++) {
        const gen_name_t *name = &names->name[i];
        const double ratio = value[id] / name->value[0];
        unsigned row, column;
        int end = 0;
        const bool is = (sscanf(name->name, "D%u%n", &row, &end) == 1 && !name->name[end]) ||
                        (sscanf(name->name, "S%u_%u%n", &row, &column, &end) == 2 && row == column);
        if (is && names_joint(gen, row) && isfinite(ratio) && ratio != 0 &&
            fabs(value[size + (size_t)id] / name->value[1] - ratio) <= 1e-9 * fabs(ratio)) {
            *multiple = fabs(ratio);
            return row - 1;
        }
    }
    return gen->arm.n;
}

/* Finds the first pivot, from the end effector, that is not kept above its error. */
static bool doubt_pivot(const gen_t *gen, const fixed_t *f, char *text, size_t size) {
    const size_t nodes = (size_t)graph_size(f->g);
    double *value = calloc(nodes * GEN_PROBES, sizeof *value);
    bool found = false;
    if (!value)
        abort();
    for (int probe = 0; probe < GEN_PROBES; probe++)
        graph_eval(f->g, gen_probe, &probe, value + (size_t)probe * nodes);
    for (int32_t i = 0; i < f->count && !found; i++) {
        const graph_node_t *g = graph_at(f->g, f->order[i]);
        if (g->op != GRAPH_RECIP)
            continue;
        const int32_t id = g->a >> 1;
        double multiple;
        const uint32_t joint = pivot_joint(gen, value, nodes, id, &multiple);
        if (joint == gen->arm.n)
            continue;
        const double rotor =
            gen->options.keep & GEN_NO_ROTOR ? 0 : dyn_model_rotor(&gen->model.joint[joint]);
        const double error = f->node[id].err,
                     least = fmin(fabs(f->node[id].lo), fabs(f->node[id].hi));
        found = !(rotor > 0) || error >= least;
        if (!(rotor > 0))
            snprintf(text, size,
                     "joint %u has no rotor, so its pivot of the inertia matrix has no guaranteed "
                     "lower bound%s",
                     (unsigned)joint + 1,
                     fixed_lost(f) ? ", and with a sampled one the errors fill the number format"
                                   : "; the least pivot comes from samples");
        else if (found)
            snprintf(text, size,
                     "the error bound of the pivot of joint %u, %.2g, exceeds the least value of "
                     "this pivot, the rotor inertia %.2g; the bound grows with every joint that is "
                     "eliminated before it",
                     (unsigned)joint + 1, error / multiple, rotor);
    }
    free(value);
    return found;
}

void gen_doubt(const gen_t *gen, gen_kernel_t kernel, const fixed_t *f, char *text, size_t size) {
    if (kernel == GEN_FD && doubt_pivot(gen, f, text, size))
        return;
    if (!fixed_lost(f)) {
        snprintf(text, size, "a bound of what it divides by comes from samples");
        return;
    }
    int worst = 0;
    double most = 0;
    for (int i = 0; i < graph_outputs(f->g); i++) {
        const double part = ldexp(f->result_error[i], f->result_exponent[i]);
        if (!isfinite(part)) {
            snprintf(text, size, "the error of %s[%d] has no bound", gen_kernel_info[kernel].result,
                     i);
            return;
        }
        worst = part > most ? i : worst;
        most = fmax(most, part);
    }
    snprintf(text, size,
             "the error bound of %s[%d], %.2g, reaches half of the range of its number format, "
             "%.2g",
             gen_kernel_info[kernel].result, worst, f->result_error[worst],
             ldexp(1, 31 - f->result_exponent[worst]));
}
