/* Implements the annealer of tools/gen/anneal.h. */
#include "tools/gen/anneal.h"

#include <math.h>

/*
 * A sum or product is one instruction of one cycle. A constant must be loaded from the code (two
 * cycles, one instruction) but is used several times while it stays in a register; its price comes
 * from measurements of generated code. A division takes 14 cycles; its price is 12. Sine and cosine
 * together are 34 instructions, 17 each.
 */
const graph_cost_t anneal_m4f = {.mul = 1, .add = 1, .recip = 12, .sincos = 17, .constant = 0.25};

typedef struct {
    uint64_t state;
} random_t;

static uint32_t draw(random_t *r) {
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)(r->state >> 32);
}

static double uniform(random_t *r) {
    return (draw(r) + 0.5) / 4294967296.0;
}

static ref_t operand(const graph_node_t *n, int k) {
    return k ? n->b : n->a;
}

/* x = p + q with p = r + s becomes r + (s + q) or s + (r + q). */
static ref_t reassociate_sum(graph_t *g, ref_t p, ref_t q, random_t *r) {
    const graph_node_t *n = graph_at(g, p >> 1);
    const int which = (int)(draw(r) & 1), sign = p & 1;
    const ref_t stays = operand(n, which) ^ sign, moves = operand(n, !which) ^ sign;
    return graph_add(g, stays, graph_add(g, moves, q));
}

/* If `common` is a factor of p, returns the other factor, else GRAPH_NONE. */
static ref_t without(graph_t *g, ref_t p, int32_t common) {
    const graph_node_t *n = graph_at(g, p >> 1);
    if (p >> 1 == common)
        return 2 + (p & 1); /* node 1 is the constant 1 */
    if (n->op != GRAPH_MUL)
        return GRAPH_NONE;
    if (n->a >> 1 == common)
        return n->b ^ (p & 1);
    return n->b >> 1 == common ? n->a ^ (p & 1) : GRAPH_NONE;
}

/* True if the constant may be divided out. Dividing by the rounding noise of a robot file would
 * scale a sum by 1e12 and back, and a few such scalings leave the range of a float. */
static bool divides(double c) {
    return fabs(c) > 0x1p-20 && fabs(c) < 0x1p20;
}

/* x = r s + q becomes r (s + q / r), if r is also a factor of q or is a constant. */
static ref_t factor(graph_t *g, ref_t p, ref_t q, random_t *r) {
    const graph_node_t *n = graph_at(g, p >> 1);
    if (n->op != GRAPH_MUL)
        return GRAPH_NONE;
    const int which = (int)(draw(r) & 1);
    const ref_t common = operand(n, which), rest = operand(n, !which) ^ (p & 1);
    ref_t other = without(g, q, common >> 1);
    double c;
    if (other == GRAPH_NONE && graph_is_const(g, common, &c) && divides(c))
        other = graph_mul(g, graph_const(g, 1 / c), q);
    return other == GRAPH_NONE ? GRAPH_NONE : graph_mul(g, common, graph_add(g, rest, other));
}

/* x = p q with p = r + s becomes r q + s q. */
static ref_t distribute(graph_t *g, ref_t p, ref_t q) {
    const graph_node_t *n = graph_at(g, p >> 1);
    const ref_t a = n->a, b = n->b;
    const ref_t first = graph_mul(g, a, q);
    return graph_add(g, first, graph_mul(g, b, q));
}

static ref_t reassociate_product(graph_t *g, ref_t p, ref_t q, random_t *r) {
    const graph_node_t *n = graph_at(g, p >> 1);
    const int which = (int)(draw(r) & 1);
    const ref_t stays = operand(n, which), moves = operand(n, !which);
    return graph_mul(g, stays, graph_mul(g, moves, q));
}

/* Replaces s s by 1 - c c, or c c by 1 - s s. Makes the other function of the angle if needed. */
static ref_t pythagoras(graph_t *g, ref_t p) {
    const graph_node_t *n = graph_at(g, p >> 1);
    ref_t c, s;
    if (n->op != GRAPH_SIN && n->op != GRAPH_COS)
        return GRAPH_NONE;
    graph_sincos(g, n->a, &c, &s);
    const ref_t other = c >> 1 == p >> 1 ? s : c;
    return graph_sub(g, 2, graph_mul(g, other, other));
}

static ref_t rewrite_sum(graph_t *g, ref_t p, ref_t q, random_t *r) {
    const bool sum = graph_at(g, p >> 1)->op == GRAPH_ADD;
    if (sum && graph_at(g, p >> 1)->op == GRAPH_ADD && draw(r) % 4 != 0)
        return reassociate_sum(g, p, q, r);
    return factor(g, p, q, r);
}

static ref_t rewrite_product(graph_t *g, ref_t p, ref_t q, random_t *r) {
    switch (graph_at(g, p >> 1)->op) {
    case GRAPH_ADD:
        return distribute(g, p, q);
    case GRAPH_MUL:
        return reassociate_product(g, p, q, r);
    case GRAPH_RECIP: {
        /* Moves the constant of k / (c x) out of the divisor. */
        const ref_t below = graph_at(g, p >> 1)->a;
        const graph_node_t *n = graph_at(g, below >> 1);
        double c;
        for (int k = 0; n->op == GRAPH_MUL && k < 2; k++)
            if (graph_is_const(g, operand(n, k), &c) && divides(c)) {
                const ref_t rest = graph_recip(g, operand(n, !k));
                return graph_mul(g, graph_mul(g, graph_const(g, 1 / c), q), rest);
            }
        return GRAPH_NONE;
    }
    default:
        return p == q ? pythagoras(g, p) : GRAPH_NONE;
    }
}

/* Tries one rewriting; false if the node had nothing to rewrite. */
static bool move(graph_t *g, int32_t id, double temperature, random_t *r) {
    const graph_node_t *n = graph_at(g, id);
    const int which = (int)(draw(r) & 1);
    const ref_t p = operand(n, which), q = operand(n, !which);
    const double before = graph_cost(g);
    graph_try(g);
    const ref_t by = n->op == GRAPH_ADD ? rewrite_sum(g, p, q, r) : rewrite_product(g, p, q, r);
    if (by == GRAPH_NONE || by >> 1 == id) {
        graph_undo(g);
        return false;
    }
    graph_replace(g, id, by);
    if (graph_full(g)) {
        graph_undo(g);
        return true;
    }
    graph_settle(g);
    const double worse = graph_cost(g) - before;
    if (worse <= 1e-9 || uniform(r) < exp(-worse / temperature))
        graph_keep(g);
    else
        graph_undo(g);
    return true;
}

typedef struct {
    const anneal_t *how;
    long done;
    double least;
} run_t;

/* Runs one cooling and returns the best graph. */
static graph_t *cool(const graph_t *from, long moves, uint64_t seed, run_t *run) {
    const anneal_t *how = run->how;
    graph_t *g = graph_copy(from), *best = NULL;
    random_t r = {seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du};
    graph_cost_set(g, &how->cost, 4 * graph_size(g) + 1024);
    double least = graph_cost(g);
    const double ratio = log(how->cold / how->hot) / (double)moves;
    double temperature = how->hot;
    /* A copy takes as long as many moves. So of a large graph a better one is kept only if the last
     * copy is as many moves old as it has nodes; and at the end. */
    enum { LARGE = 4096 };
    const int32_t pause = graph_size(from) < LARGE ? 0 : graph_size(from);
    /* Each move has its share of renewed nodes. A graph in which a change goes on through many users
     * takes more, and cools faster then; the first million is free. */
    enum { SHARE = 16, FREE = 1000000 };
    long copied = 0, shown = 0;
    for (long i = 0, cooled = 0; i < moves; i++) {
        const long spent = (graph_renewed(g) - FREE) / SHARE;
        i = spent < i ? i : spent < moves ? spent : moves - 1;
        if (i - cooled >= 256 || i == 0) {
            cooled = i - i % 256;
            temperature = how->hot * exp(ratio * (double)cooled);
        }
        const int32_t id = (int32_t)(((uint64_t)draw(&r) * (uint64_t)graph_size(g)) >> 32);
        const int32_t op = graph_at(g, id)->op;
        if (op != GRAPH_ADD && op != GRAPH_MUL)
            continue;
        move(g, id, temperature, &r);
        /* While the temperature is high, every best graph is soon replaced by a better one, so the
         * first quarter is not recorded. */
        if (graph_cost(g) < least - 1e-6 && i > moves / 4 && i - copied >= pause) {
            least = graph_cost(g);
            copied = i;
            graph_free(best);
            best = graph_copy(g);
        }
        if (++shown % 65536 == 0 && how->progress)
            how->progress(how->context, run->done + i, how->moves,
                          least < run->least ? least : run->least);
    }
    run->done += moves;
    if (graph_cost(g) < least - 1e-6) {
        graph_free(best);
        best = graph_copy(g);
    }
    graph_free(g);
    return best ? best : graph_copy(from);
}

graph_t *anneal_run(const graph_t *from, const anneal_t *how) {
    graph_t *best = graph_copy(from);
    run_t run = {how, 0, graph_total(best, &how->cost)};
    const int seeds = how->seeds > 0 ? how->seeds : 1;
    for (int k = 0; k < seeds; k++) {
        graph_t *g = cool(from, how->moves / seeds, (uint64_t)k + 1, &run);
        const double cost = graph_total(g, &how->cost);
        if (cost < run.least - 1e-9) {
            run.least = cost;
            graph_free(best);
            best = g;
        } else
            graph_free(g);
    }
    return best;
}
