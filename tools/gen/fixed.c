/* Chooses exponents and computes bounds and errors for tools/gen/fixed.h. */
#include "tools/gen/fixed.h"

#include <math.h>
#include <stdlib.h>

#include "tools/gen/norm.h"

/*
 * The product of two numbers that use all their bits leaves one of its upper 32 bits empty; loose
 * bounds of the factors leave more bits empty. If more bits than the slack are empty, fewer than CUT
 * low bits are cut off, which costs two more instructions. Long arms, whose vectors are held, lose
 * bits at every joint and have less slack.
 */
enum { SLACK = 3, SLACK_HELD = 1, TURN_BITS = 30, CUT = 32 };

/* Largest error of the sine and cosine of dyn/number/trig.h in q30. */
static const double trig_error = 3e-9;

/* Rounding of the offset of an angle, in rad: angles are counted in turns times 2^32. */
static double offset_error(double offset) {
    const double units = ldexp(offset / 6.28318530717958647692, 32);
    return fabs(units - rint(units)) * ldexp(6.28318530717958647692, -32);
}

static double size_of(const fixed_node_t *n) {
    return fmax(fabs(n->lo), fabs(n->hi));
}

/* Returns the largest exponent with which a value of size `most` fits an int32. */
static int room_for(double most) {
    int e;
    if (most == 0)
        return 62;
    (void)frexp(most * (1 + 1e-12), &e); /* most < 2^e */
    return 31 - e;
}

static double unit(int exponent) {
    return ldexp(1, -exponent);
}

static void widest_sine(double lo, double hi, double shift, double *least, double *most) {
    const double half = 3.14159265358979323846;
    lo += shift;
    hi += shift;
    *least = fmin(sin(lo), sin(hi));
    *most = fmax(sin(lo), sin(hi));
    if (ceil((lo - half / 2) / (2 * half)) <= floor((hi - half / 2) / (2 * half)))
        *most = 1;
    if (ceil((lo + half / 2) / (2 * half)) <= floor((hi + half / 2) / (2 * half)))
        *least = -1;
}

static fixed_node_t flip(fixed_node_t n, ref_t a) {
    if (a & 1) {
        const double t = n.lo;
        n.lo = -n.hi;
        n.hi = -t;
    }
    return n;
}

static void bound_product(fixed_node_t *n, fixed_node_t a, fixed_node_t b, bool square) {
    const double p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    n->lo = fmin(fmin(p[0], p[1]), fmin(p[2], p[3]));
    n->hi = fmax(fmax(p[0], p[1]), fmax(p[2], p[3]));
    if (square)
        n->lo = a.lo <= 0 && a.hi >= 0 ? 0 : fmin(p[0], p[3]);
    n->err = size_of(&a) * b.err + size_of(&b) * a.err + a.err * b.err;
    n->own = (size_of(&a) + a.err) * b.own + (size_of(&b) + b.err) * a.own + a.own * b.own;
}

static bool power_of_two(double value) {
    int e;
    return frexp(value, &e) == 0.5;
}

static void place_product(const fixed_t *f, fixed_node_t *n, const graph_node_t *g, int slack) {
    const fixed_node_t *a = &f->node[g->a >> 1], *b = &f->node[g->b >> 1];
    for (int k = 0; k < 2; k++) {
        double c;
        if (graph_is_const(f->g, k ? g->b : g->a, &c) && power_of_two(c)) {
            const fixed_node_t *other = k ? a : b;
            n->err = other->err * c;
            n->own = other->own * c;
            n->exponent = other->exponent - ilogb(c);
            n->cut = 0;
            return;
        }
    }
    const int natural = a->exponent + b->exponent - CUT;
    const int spare = room_for(fmax(fabs(n->lo), fabs(n->hi)) + n->err) - natural;
    n->cut = (int8_t)(spare > slack ? CUT - (spare < CUT - 1 ? spare : CUT - 1) : CUT);
    n->exponent = natural + CUT - n->cut;
    n->err += unit(n->exponent);
    n->own += unit(n->exponent);
}

static void place_sum(const fixed_t *f, fixed_node_t *n, const graph_node_t *g) {
    const fixed_node_t *part[2] = {&f->node[g->a >> 1], &f->node[g->b >> 1]};
    int e = part[0]->exponent < part[1]->exponent ? part[0]->exponent : part[1]->exponent;
    const int room = room_for(size_of(n) + n->err + 4 * unit(e));
    if (room < e)
        e = room;
    /* Each shifted operand also fits by itself, because a shift to the right does not make it
     * larger. */
    n->exponent = e;
    for (int k = 0; k < 2; k++) {
        const int down = part[k]->exponent - e;
        n->down[k] = (int8_t)(down > 31 ? 31 : down);
        n->err += down > 0 ? unit(e) : 0;
        n->own += down > 0 ? unit(e) : 0;
    }
}

static void place_recip(fixed_t *f, fixed_node_t *n, const graph_node_t *g) {
    fixed_node_t a = f->node[g->a >> 1];
    const bool negative = a.hi < 0;
    if (negative)
        a = flip(a, 1);
    double least = a.lo - a.err;
    if (least <= 0) {
        f->proved = false;
        least = fmax(size_of(&a), 1e-30) * ldexp(1, -12);
    }
    n->lo = 1 / (a.hi + a.err);
    n->hi = 1 / least;
    /* fixed_recip shifts by 0 to 63 bits: a larger exponent would only saturate, and a smaller one
     * leaves no bit. */
    n->exponent = (int)fmax(-1 - a.exponent, fmin(room_for(n->hi), 62 - a.exponent));
    n->err = a.err / (least * least) + unit(n->exponent) + 1e-9 * n->hi;
    n->own = n->err; /* not smaller */
    n->down[0] = (int8_t)(62 - n->exponent - a.exponent);
    n->down[1] = negative;
    if (negative)
        *n = flip(*n, 1);
}

/* The state while the nodes of a graph are placed. */
typedef struct {
    fixed_t *f;
    const fixed_options_t *o;
    double *value;  /* of every node, at every probe */
    double *inside; /* the same at probes within the limits, for norm_bound */
    double *cap; /* bound of the size of a node, from the norm of the vector that it belongs to */
    bool *done;  /* placed */
    int32_t *holder; /* a node that holds this one, or 0 */
    int32_t *slot;   /* for norm_bound */
    int32_t *beside; /* the next component of the same held vector, or 0 */
    int32_t *part;   /* by number: the first component of a held vector, or 0 */
    bool *begun;     /* by number */
    norm_t *norm;    /* by number */
    int32_t vectors;
} placing_t;

static void tighten(const placing_t *p, fixed_node_t *n, int32_t id) {
    const double *value = p->value;
    const int32_t size = graph_size(p->f->g);
    for (int k = 0; k < p->o->known_count; k++) {
        const fixed_known_t *known = &p->o->known[k];
        const double ratio = value[id] / known->value[0];
        if (!isfinite(ratio) || ratio == 0 ||
            fabs(value[size + id] / known->value[1] - ratio) > 1e-9 * fabs(ratio))
            continue;
        const double lo = ratio * (ratio > 0 ? known->lo : known->hi);
        const double hi = ratio * (ratio > 0 ? known->hi : known->lo);
        n->lo = fmax(n->lo, lo);
        n->hi = fmin(n->hi, hi);
        p->f->proved = p->f->proved && !known->guessed;
    }
    n->lo = fmax(n->lo, -p->cap[id]);
    n->hi = fmin(n->hi, p->cap[id]);
}

static void place(placing_t *p, int32_t id) {
    fixed_t *f = p->f;
    const fixed_options_t *o = p->o;
    const graph_node_t *g = graph_at(f->g, id);
    fixed_node_t *n = &f->node[id];
    const fixed_node_t none = {0};
    const fixed_node_t a = g->op > GRAPH_INPUT ? flip(f->node[g->a >> 1], g->a) : none;
    const fixed_node_t b = graph_uses_b(g->op) || (g->op == GRAPH_ANGLE && g->b != GRAPH_NONE)
                               ? flip(f->node[g->b >> 1], g->b)
                               : none;
    switch (g->op) {
    case GRAPH_CONST:
        n->lo = n->hi = graph_value(f->g, id);
        n->exponent = n->hi == 0 ? 31 : 30 - ilogb(n->hi);
        n->raw = (int32_t)fmin(rint(ldexp(n->hi, n->exponent)), 2147483647.0);
        n->err = n->own = fmax(0.5 * unit(n->exponent), n->hi - ldexp(n->raw, -n->exponent));
        break;
    case GRAPH_INPUT:
        o->input_range(o->context, g->a, g->b, &n->lo, &n->hi);
        n->exponent = o->input_exponent(o->context, g->a, g->b);
        break;
    case GRAPH_ANGLE:
        n->lo = a.lo + b.lo + graph_value(f->g, id);
        n->hi = a.hi + b.hi + graph_value(f->g, id);
        n->err = a.err + b.err + offset_error(graph_value(f->g, id));
        break;
    case GRAPH_SIN:
    case GRAPH_COS:
        widest_sine(a.lo, a.hi, g->op == GRAPH_COS ? 1.57079632679489661923 : 0, &n->lo, &n->hi);
        n->exponent = TURN_BITS;
        n->err = n->own = trig_error + a.err;
        break;
    case GRAPH_MUL:
        bound_product(n, a, b, g->a == g->b);
        tighten(p, n, id);
        place_product(f, n, g, p->vectors > 0 ? SLACK_HELD : SLACK);
        break;
    case GRAPH_ADD:
        n->lo = a.lo + b.lo;
        n->hi = a.hi + b.hi;
        n->err = a.err + b.err;
        n->own = a.own + b.own;
        tighten(p, n, id);
        place_sum(f, n, g);
        break;
    case GRAPH_RECIP:
        place_recip(f, n, g);
        break;
    case GRAPH_HOLD: /* visit_vector places it */
        abort();
    default:
        f->proved = false; /* sqrt, clamp, min and sign have no fixed-point code */
    }
}

static void visit(placing_t *p, int32_t id);

static void visit_operands(placing_t *p, int32_t id) {
    const graph_node_t *g = graph_at(p->f->g, id);
    if (g->op > GRAPH_INPUT)
        visit(p, g->a >> 1);
    if (graph_uses_b(g->op) || (g->op == GRAPH_ANGLE && g->b != GRAPH_NONE))
        visit(p, g->b >> 1);
}

/* Places all components of a held vector, whose norm bounds them and their errors. */
static void visit_vector(placing_t *p, int32_t number) {
    const graph_t *g = p->f->g;
    fixed_node_t *node = p->f->node;
    int32_t hold[NORM_PARTS], root[NORM_PARTS];
    int part[NORM_PARTS], parts = 0;
    double rounding = 0, size = 0, error = 0;
    p->begun[number] = true;
    for (int32_t id = p->part[number]; id; id = p->beside[id]) {
        hold[parts] = id;
        root[parts] = graph_at(g, id)->a >> 1;
        part[parts] = graph_at(g, id)->b % GRAPH_PARTS;
        const int32_t op = graph_at(g, root[parts])->op;
        (op == GRAPH_ADD || op == GRAPH_MUL ? visit_operands : visit)(p, root[parts++]);
    }
    const norm_from_t from = {g, node, p->inside, p->norm, p->slot};
    norm_t *norm = &p->norm[number];
    *norm = norm_bound(&from, root, part, parts);
    for (int i = 0; i < parts; i++) {
        const double weight = norm_weight(part[i]);
        p->cap[root[i]] = fmin(p->cap[root[i]], norm->size / weight);
        visit(p, root[i]);
        const fixed_node_t *n = &node[root[i]];
        rounding += pow(n->own * weight, 2);
        size += pow(size_of(n) * weight, 2);
        error += pow(n->err * weight, 2);
    }
    *norm = (norm_t){fmin(norm->size, sqrt(size)), fmin(norm->error + sqrt(rounding), sqrt(error))};
    for (int i = 0; i < parts; i++) {
        fixed_node_t *n = &node[hold[i]];
        *n = node[root[i]];
        n->err = fmin(n->err, norm->error / norm_weight(part[i]));
        n->own = 0;
        p->done[hold[i]] = true;
    }
}

static void visit(placing_t *p, int32_t id) {
    const graph_node_t *g = graph_at(p->f->g, id);
    const int32_t hold = g->op == GRAPH_HOLD ? id : p->holder[id];
    const int32_t number = hold ? graph_at(p->f->g, hold)->b / GRAPH_PARTS : 0;
    if (hold && !p->begun[number])
        visit_vector(p, number);
    if (p->done[id])
        return;
    visit_operands(p, id);
    place(p, id);
    p->done[id] = true;
}

static void *zeros(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory)
        abort();
    return memory;
}

static void find_vectors(placing_t *p) {
    const graph_t *g = p->f->g;
    for (int32_t i = 0; i < p->f->count; i++) {
        const graph_node_t *n = graph_at(g, p->f->order[i]);
        if (n->op == GRAPH_HOLD && n->b / GRAPH_PARTS >= p->vectors)
            p->vectors = n->b / GRAPH_PARTS + 1;
    }
    p->part = zeros((size_t)p->vectors, sizeof *p->part);
    p->begun = zeros((size_t)p->vectors, sizeof *p->begun);
    p->norm = zeros((size_t)p->vectors, sizeof *p->norm);
    for (int32_t i = 0; i < p->f->count; i++) {
        const int32_t id = p->f->order[i];
        const graph_node_t *n = graph_at(g, id);
        if (n->op != GRAPH_HOLD)
            continue;
        p->holder[n->a >> 1] = id;
        p->beside[id] = p->part[n->b / GRAPH_PARTS];
        p->part[n->b / GRAPH_PARTS] = id;
    }
}

typedef struct {
    const fixed_options_t *options;
    int probe;
} inside_t;

/* Returns an input of a probe: a value in the outer half of what lies between its limits, where no
 * term of a sum is too small to be noticed. */
static double inside(void *context, int32_t array, int32_t index) {
    const inside_t *c = context;
    int probe = GEN_PROBES + c->probe;
    double lo, hi;
    c->options->input_range(c->options->context, array, index, &lo, &hi);
    const double part = gen_probe(&probe, array, index);
    return (lo + hi) / 2 + (hi - lo) / 4 * (part + (part < 0 ? -1 : 1));
}

static void place_all(fixed_t *f, const fixed_options_t *o) {
    const size_t size = (size_t)graph_size(f->g);
    placing_t p = {.f = f,
                   .o = o,
                   .value = zeros(size * GEN_PROBES, sizeof *p.value),
                   .inside = zeros(size * NORM_PROBES, sizeof *p.inside),
                   .cap = zeros(size, sizeof *p.cap),
                   .done = zeros(size, sizeof *p.done),
                   .holder = zeros(size, sizeof *p.holder),
                   .slot = zeros(size, sizeof *p.slot),
                   .beside = zeros(size, sizeof *p.beside)};
    for (size_t i = 0; i < size; i++)
        p.cap[i] = INFINITY;
    for (int probe = 0; probe < GEN_PROBES; probe++)
        graph_eval(f->g, gen_probe, &probe, p.value + (size_t)probe * size);
    for (int probe = 0; probe < NORM_PROBES; probe++) {
        inside_t context = {o, probe};
        graph_eval(f->g, inside, &context, p.inside + (size_t)probe * size);
    }
    find_vectors(&p);
    for (int32_t i = 0; i < f->count; i++)
        visit(&p, f->order[i]);
    free(p.value);
    free(p.inside);
    free(p.cap);
    free(p.done);
    free(p.holder);
    free(p.slot);
    free(p.beside);
    free(p.part);
    free(p.begun);
    free(p.norm);
}

fixed_t *fixed_make(const graph_t *g, const fixed_options_t *o) {
    const size_t size = (size_t)graph_size(g), results = (size_t)graph_outputs(g);
    fixed_t *f = zeros(1, sizeof *f);
    f->g = g;
    f->proved = true;
    f->node = zeros(size, sizeof *f->node);
    f->result_exponent = zeros(results, sizeof *f->result_exponent);
    f->result_bound = zeros(results, sizeof *f->result_bound);
    f->result_error = zeros(results, sizeof *f->result_error);
    f->clamped = zeros(results, sizeof *f->clamped);
    f->order = graph_order(g, &f->count);
    place_all(f, o);
    for (int i = 0; i < (int)results; i++) {
        const fixed_node_t *n = &f->node[graph_result(g, i) >> 1];
        f->result_exponent[i] = o->result_exponent(o->context, i);
        f->result_bound[i] = size_of(n) + n->err;
        f->result_error[i] = n->err + unit(f->result_exponent[i]);
        f->clamped[i] = ldexp(f->result_bound[i], f->result_exponent[i]) >= 2147483647.0;
    }
    return f;
}

int32_t fixed_stored(const fixed_t *f, int32_t id) {
    const graph_node_t *n = graph_at(f->g, id);
    if (n->op == GRAPH_HOLD)
        return fixed_stored(f, n->a >> 1);
    if (n->op != GRAPH_MUL || f->node[id].cut > 0)
        return id;
    double c;
    const bool first = graph_is_const(f->g, n->a, &c) && power_of_two(c);
    return fixed_stored(f, (first ? n->b : n->a) >> 1);
}

bool fixed_lost(const fixed_t *f) {
    for (int i = 0; i < graph_outputs(f->g); i++)
        if (!(ldexp(f->result_error[i], f->result_exponent[i]) < 0x1p30)) /* NaN is lost, too */
            return true;
    return false;
}

void fixed_free(fixed_t *f) {
    if (!f)
        return;
    free(f->node);
    free(f->order);
    free(f->result_exponent);
    free(f->result_bound);
    free(f->result_error);
    free(f->clamped);
    free(f);
}
