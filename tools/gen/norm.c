/* Bounds norms for tools/gen/norm.h. */
#include "tools/gen/norm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES = 48 };

typedef double matrix_t[NORM_PARTS][NORM_PARTS];

/* A held vector that the new one depends on. */
typedef struct {
    int32_t vector;
    matrix_t at[NORM_PROBES]; /* dy/dx at the probes, weighted */
    matrix_t most;            /* bound of the size of each element */
    bool depends;             /* dy/dx depends on held vectors */
    bool constant;            /* the norm of dy/dx is that of every state */
    double gain;              /* bound of the norm of dy/dx */
} source_t;

typedef struct {
    double lo, hi;
} span_t;

/* A derivative of a component of y. */
typedef struct {
    double at[NORM_PROBES];
    span_t wide;
    bool depends; /* on held vectors */
} slope_t;

typedef struct {
    const norm_from_t *from;
    int32_t *id, count, room; /* the nodes between the vector and its sources, operands first */
    bool *held;               /* whether each of them depends on held vectors */
    source_t source[SOURCES];
    int sources;
    bool lost; /* there is an operation without a derivative here, or too many sources */
} cone_t;

double norm_weight(int part) {
    return part < 3 ? 1 : 1.41421356237309504880;
}

static const graph_node_t *node_of(const cone_t *c, int32_t id) {
    return graph_at(c->from->g, id);
}

static source_t *source_of(cone_t *c, int32_t vector) {
    for (int i = 0; i < c->sources; i++)
        if (c->source[i].vector == vector)
            return &c->source[i];
    c->lost = c->lost || c->sources == SOURCES;
    if (c->lost)
        return NULL;
    source_t *s = &c->source[c->sources++];
    memset(s, 0, sizeof *s);
    s->vector = vector;
    return s;
}

static void grow(cone_t *c, int32_t room) {
    c->id = realloc(c->id, (size_t)room * sizeof *c->id);
    c->held = realloc(c->held, (size_t)room * sizeof *c->held);
    if (!c->id || !c->held)
        abort();
    c->room = room;
}

static bool held_at(const cone_t *c, ref_t a) {
    return c->from->slot[a >> 1] > 0 && c->held[c->from->slot[a >> 1] - 1];
}

static void collect(cone_t *c, int32_t id) {
    const graph_node_t *n = node_of(c, id);
    if (c->from->slot[id] > 0)
        return;
    if (n->op == GRAPH_ADD || n->op == GRAPH_MUL) {
        collect(c, n->a >> 1);
        collect(c, n->b >> 1);
    } else if (n->op == GRAPH_HOLD)
        (void)source_of(c, n->b / GRAPH_PARTS);
    else if (n->op > GRAPH_COS)
        c->lost = true;
    if (c->count == c->room)
        grow(c, 2 * c->room);
    c->held[c->count] = n->op == GRAPH_HOLD || ((n->op == GRAPH_ADD || n->op == GRAPH_MUL) &&
                                                (held_at(c, n->a) || held_at(c, n->b)));
    c->id[c->count++] = id;
    c->from->slot[id] = c->count;
}

static span_t span_product(span_t a, span_t b) {
    const double p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    return (span_t){fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                    fmax(fmax(p[0], p[1]), fmax(p[2], p[3]))};
}

static span_t turned(span_t a, ref_t sign) {
    return sign & 1 ? (span_t){-a.hi, -a.lo} : a;
}

static double size_of(span_t a) {
    return fmax(fabs(a.lo), fabs(a.hi));
}

/* The values that a node may have in the computation. */
static span_t executed(const cone_t *c, int32_t id) {
    const fixed_node_t *n = &c->from->node[id];
    return (span_t){n->lo - n->err, n->hi + n->err};
}

/* Adds the derivative by an operand of a sum or product to that of the operand. */
static void pass(const cone_t *c, const graph_node_t *n, int k, const slope_t *at, slope_t *to) {
    const ref_t a = k ? n->b : n->a, other = k ? n->a : n->b;
    const bool product = n->op == GRAPH_MUL;
    const double sign = a & 1 ? -1 : 1;
    span_t more = at->wide;
    if (product)
        more = span_product(more, executed(c, other >> 1));
    more = turned(more, a);
    to->wide = (span_t){to->wide.lo + more.lo, to->wide.hi + more.hi};
    to->depends = to->depends || at->depends || (product && held_at(c, other));
    for (int p = 0; p < NORM_PROBES; p++) {
        const double *value = c->from->value + p * graph_size(c->from->g);
        to->at[p] += sign * at->at[p] * (product ? value[other >> 1] : 1);
    }
}

/* Goes from a component back to its sources and adds the derivatives. */
static void differentiate(cone_t *c, int32_t root, int row, int part) {
    const int32_t *slot = c->from->slot;
    slope_t *slope = calloc((size_t)c->count + 1, sizeof *slope);
    if (!slope)
        abort();
    for (int p = 0; p < NORM_PROBES; p++)
        slope[slot[root] - 1].at[p] = 1;
    slope[slot[root] - 1].wide = (span_t){1, 1};
    for (int32_t i = slot[root]; i-- > 0;) {
        const graph_node_t *n = node_of(c, c->id[i]);
        if (n->op == GRAPH_HOLD) {
            source_t *s = source_of(c, n->b / GRAPH_PARTS);
            const int column = n->b % GRAPH_PARTS;
            const double weight = norm_weight(part) / norm_weight(column);
            for (int p = 0; p < NORM_PROBES; p++)
                s->at[p][row][column] = slope[i].at[p] * weight;
            s->most[row][column] = size_of(slope[i].wide) * weight;
            s->depends = s->depends || slope[i].depends;
        } else if (n->op == GRAPH_ADD || n->op == GRAPH_MUL)
            for (int k = 0; k < 2; k++)
                pass(c, n, k, &slope[i], &slope[slot[(k ? n->b : n->a) >> 1] - 1]);
    }
    free(slope);
}

static void multiply(const matrix_t A, const matrix_t B, double factor, matrix_t out) {
    for (int i = 0; i < NORM_PARTS; i++)
        for (int j = 0; j < NORM_PARTS; j++) {
            out[i][j] = 0;
            for (int k = 0; k < NORM_PARTS; k++)
                out[i][j] += A[i][k] * factor * B[k][j];
        }
}

static double trace_of(const matrix_t A) {
    double trace = 0;
    for (int i = 0; i < NORM_PARTS; i++)
        trace += A[i][i];
    return trace;
}

static void square_of(const matrix_t A, matrix_t out) {
    matrix_t turned;
    for (int i = 0; i < NORM_PARTS; i++)
        for (int j = 0; j < NORM_PARTS; j++)
            turned[i][j] = A[j][i];
    multiply(turned, A, 1, out);
}

/* Returns the largest singular value: the trace of a large power of A^T A has only its largest
 * eigenvalue left, and is never below it. */
static double largest_singular(const matrix_t A) {
    enum { SQUARINGS = 32 };
    matrix_t P, Q;
    double power = 1, log_of = 0;
    square_of(A, P);
    for (int round = 0; round < SQUARINGS; round++, power /= 2) {
        const double trace = trace_of(P);
        if (trace == 0)
            return 0;
        if (!isfinite(trace))
            return INFINITY;
        log_of += power * log(trace);
        multiply(P, P, 1 / trace, Q);
        memcpy(P, Q, sizeof P);
        for (int i = 0; i < NORM_PARTS; i++)
            for (int j = 0; j < NORM_PARTS; j++)
                P[i][j] /= trace;
    }
    return exp(log_of / 2);
}

/* Bounds the norm of a matrix of which only the sizes of the elements are bounded. */
static double widest(const matrix_t A) {
    double row = 0, column = 0, all = 0;
    for (int i = 0; i < NORM_PARTS; i++) {
        double r = 0, k = 0;
        for (int j = 0; j < NORM_PARTS; j++) {
            r += A[i][j];
            k += A[j][i];
            all += A[i][j] * A[i][j];
        }
        row = fmax(row, r);
        column = fmax(column, k);
    }
    return fmin(sqrt(all), sqrt(row * column));
}

/* Far above the rounding of double, far below what matters to a bound. */
static const double alike = 1e-9, margin = 1 + 1e-6;

static bool same(double a, double b) {
    return fabs(a - b) <= alike * fabs(a);
}

/* True if all singular values are equal: the traces of the powers of A^T A are. Analytic functions
 * of the state that agree at two generic states are constant; the largest singular value alone is
 * not analytic, because another one may overtake it; but it is compared, too, because the traces
 * hardly see a small change of equal singular values. */
static bool same_singular(const matrix_t A, const matrix_t B) {
    matrix_t P[2], power[2], next;
    square_of(A, P[0]);
    square_of(B, P[1]);
    const double first = trace_of(P[0]), scale = first > 0 ? 1 / first : 0;
    bool equal = same(first, trace_of(P[1]));
    memcpy(power, P, sizeof power);
    for (int k = 1; k < NORM_PARTS && equal; k++) {
        for (int i = 0; i < 2; i++) {
            multiply(power[i], P[i], scale, next);
            memcpy(power[i], next, sizeof next);
        }
        equal = fabs(trace_of(power[0]) - trace_of(power[1])) <= alike * first;
    }
    return equal;
}

static void find_gains(cone_t *c) {
    for (int i = 0; i < c->sources; i++) {
        source_t *s = &c->source[i];
        s->constant = !s->depends;
        double largest = largest_singular(s->at[0]);
        for (int p = 1; p < NORM_PROBES; p++) {
            const double other = largest_singular(s->at[p]);
            s->constant = s->constant && same_singular(s->at[0], s->at[p]) && same(largest, other);
            largest = fmax(largest, other);
        }
        s->gain = margin * (s->constant ? largest : widest(s->most));
    }
}

/* Bounds the norm of the vector with the sources of constant gain set to zero. */
static double rest_of(cone_t *c, const int32_t root[], const int part[], int parts) {
    const int32_t *slot = c->from->slot;
    double sum = 0;
    span_t *span = calloc((size_t)c->count + 1, sizeof *span);
    if (!span)
        abort();
    for (int32_t i = 0; i < c->count; i++) {
        const graph_node_t *n = node_of(c, c->id[i]);
        if (n->op == GRAPH_ADD) {
            const span_t a = turned(span[slot[n->a >> 1] - 1], n->a);
            const span_t b = turned(span[slot[n->b >> 1] - 1], n->b);
            span[i] = (span_t){a.lo + b.lo, a.hi + b.hi};
        } else if (n->op == GRAPH_MUL) {
            span[i] = span_product(span[slot[n->a >> 1] - 1], span[slot[n->b >> 1] - 1]);
            if (n->a == n->b)
                span[i].lo = fmax(span[i].lo, 0);
        } else if (n->op != GRAPH_HOLD || !source_of(c, n->b / GRAPH_PARTS)->constant)
            span[i] = (span_t){c->from->node[c->id[i]].lo, c->from->node[c->id[i]].hi};
    }
    for (int i = 0; i < parts; i++) {
        const double x = size_of(span[slot[root[i]] - 1]) * norm_weight(part[i]);
        sum += x * x;
    }
    free(span);
    return sqrt(sum);
}

/* Returns the norm at a probe. */
static double norm_at(const cone_t *c, int probe, const int32_t root[], const int part[],
                      int parts) {
    const double *value = c->from->value + probe * graph_size(c->from->g);
    double sum = 0;
    for (int i = 0; i < parts; i++)
        sum += pow(value[root[i]] * norm_weight(part[i]), 2);
    return sqrt(sum);
}

norm_t norm_bound(const norm_from_t *from, const int32_t root[], const int part[], int parts) {
    static cone_t cone;
    norm_t y = {INFINITY, INFINITY};
    cone = (cone_t){.from = from};
    grow(&cone, 256);
    for (int i = 0; i < parts; i++)
        collect(&cone, root[i]);
    if (!cone.lost) {
        for (int i = 0; i < parts; i++)
            differentiate(&cone, root[i], i, part[i]);
        find_gains(&cone);
        y = (norm_t){rest_of(&cone, root, part, parts), 0};
        for (int i = 0; i < cone.sources; i++) {
            const source_t *s = &cone.source[i];
            y.size += s->constant ? s->gain * from->norm[s->vector].size : 0;
            y.error += s->gain * from->norm[s->vector].error;
        }
        double largest = norm_at(&cone, 0, root, part, parts);
        bool constant = largest > 0;
        for (int p = 1; p < NORM_PROBES; p++) {
            const double other = norm_at(&cone, p, root, part, parts);
            constant = constant && same(largest, other);
            largest = fmax(largest, other);
        }
        if (constant)
            y.size = fmin(y.size, largest * margin);
    }
    for (int32_t i = 0; i < cone.count; i++)
        from->slot[cone.id[i]] = 0;
    free(cone.id);
    free(cone.held);
    return y;
}
