/*
 * Orders the statements depth first, so that a computed value is used soon. Tries many orders of
 * operands and results and keeps the one that needs the fewest values outside the registers. The
 * same graph always gives the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/gen/gen.h"

typedef struct {
    const graph_t *g;
    int32_t *order, count;
    bool *done;
    int32_t *weight; /* number of nodes in the tree of each node; shared nodes count each time */
    uint64_t random;
    int noise; /* in how many of 16 cases the lighter operand comes first */
} plan_t;

static uint32_t draw(plan_t *p) {
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (uint32_t)(p->random >> 32);
}

static bool computed(const graph_node_t *n) {
    return n->op > GRAPH_INPUT && n->op != GRAPH_OUT;
}

static void visit(plan_t *p, int32_t id) {
    const graph_node_t *n = graph_at(p->g, id);
    if (p->done[id] || !computed(n))
        return;
    p->done[id] = true;
    int32_t first = n->a >> 1;
    const bool two = graph_uses_b(n->op) || (n->op == GRAPH_ANGLE && n->b != GRAPH_NONE);
    if (two) {
        int32_t second = n->b >> 1;
        const bool swap = p->weight[second] > p->weight[first];
        if (swap != (draw(p) % 16 < (uint32_t)p->noise)) {
            const int32_t t = first;
            first = second;
            second = t;
        }
        visit(p, first);
        visit(p, second);
    } else
        visit(p, first);
    p->order[p->count++] = id;
}

/* Cost of an order: the number of live values that exceed the registers, summed over the
 * statements, plus 0.01 for every live value. */
static double pressure(const graph_t *g, const int32_t *order, int32_t count, int registers,
                       int32_t *last) {
    double sum = 0;
    int alive = 0;
    for (int32_t i = 0; i < count; i++) {
        const graph_node_t *n = graph_at(g, order[i]);
        last[order[i]] = i;
        last[n->a >> 1] = i;
        if (graph_uses_b(n->op))
            last[n->b >> 1] = i;
    }
    for (int32_t i = 0; i < count; i++) {
        const graph_node_t *n = graph_at(g, order[i]);
        alive++;
        if (computed(graph_at(g, n->a >> 1)) && last[n->a >> 1] == i)
            alive--;
        if (graph_uses_b(n->op) && n->b >> 1 != n->a >> 1 && computed(graph_at(g, n->b >> 1)) &&
            last[n->b >> 1] == i)
            alive--;
        if (last[order[i]] == i)
            alive--; /* a result without other users is stored at once */
        sum += (alive > registers ? 1.0 * (alive - registers) : 0) + 0.01 * alive;
    }
    return sum;
}

static int32_t weigh(const graph_t *g, int32_t id, int32_t *weight) {
    const graph_node_t *n = graph_at(g, id);
    if (!computed(n))
        return 0;
    if (weight[id] == 0) {
        int32_t w = 1 + weigh(g, n->a >> 1, weight);
        if (graph_uses_b(n->op))
            w += weigh(g, n->b >> 1, weight);
        weight[id] = w > 1000000 ? 1000000 : w;
    }
    return weight[id];
}

int32_t *gen_schedule(const graph_t *g, int registers, int32_t *count) {
    const size_t size = (size_t)graph_size(g) + 1;
    const int outputs = graph_outputs(g);
    int32_t *best = malloc(size * sizeof *best), *last = malloc(size * sizeof *last);
    int *result = malloc((size_t)outputs * sizeof *result);
    plan_t p = {.g = g, .random = 0x2545f4914f6cdd1du};
    p.order = malloc(size * sizeof *p.order);
    p.done = malloc(size);
    p.weight = calloc(size, sizeof *p.weight);
    if (!best || !last || !result || !p.order || !p.done || !p.weight)
        abort();
    for (int i = 0; i < outputs; i++)
        weigh(g, graph_result(g, i) >> 1, p.weight);
    double least = 1e300;
    const int tries = size > 4000 ? 50 : 400;
    for (int k = 0; k < tries; k++) {
        memset(p.done, 0, size);
        p.count = 0;
        p.noise = k % 8;
        for (int i = 0; i < outputs; i++) {
            /* Takes the results in reverse order, in order, or in random order, in turn. */
            result[i] = k % 3 == 0 ? outputs - 1 - i : i;
            if (k % 3 == 2) {
                const int j = (int)(draw(&p) % (uint32_t)(i + 1));
                result[i] = result[j];
                result[j] = i;
            }
        }
        for (int i = 0; i < outputs; i++)
            visit(&p, graph_result(g, result[i]) >> 1);
        const double cost = pressure(g, p.order, p.count, registers, last);
        if (cost < least) {
            least = cost;
            memcpy(best, p.order, (size_t)p.count * sizeof *best);
            *count = p.count;
        }
    }
    free(last);
    free(result);
    free(p.order);
    free(p.done);
    free(p.weight);
    return best;
}
