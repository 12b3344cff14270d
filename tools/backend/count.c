/* The book of operations behind tools/backend/count.h. */
#include "tools/backend/count.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t a, b;
    count_op_t op;
    bool needed;
} node_t;

static node_t *nodes; /* [0] is unused: node 0 is "no operation" */
static int32_t used = 1, room;

void count_begin(void) {
    used = 1;
}

dyn_real_count_t count_input(double value) {
    return (dyn_real_count_t){value, 0};
}

dyn_real_count_t count_op(count_op_t op, double value, dyn_real_count_t a, dyn_real_count_t b) {
    if (used >= room) {
        room = room ? 2 * room : 4096;
        nodes = realloc(nodes, (size_t)room * sizeof *nodes);
        if (!nodes) {
            fprintf(stderr, "count: no memory for %d operations\n", (int)room);
            exit(2);
        }
    }
    nodes[used] = (node_t){a.node, b.node, op, false};
    return (dyn_real_count_t){value, used++};
}

static count_ops_t sum(bool all) {
    count_ops_t out = {0};
    for (int32_t i = 1; i < used; i++) {
        if (!all && !nodes[i].needed)
            continue;
        switch (nodes[i].op) {
        case COUNT_ADD:
            out.add++;
            break;
        case COUNT_MUL:
            out.mul++;
            break;
        case COUNT_DIV:
            out.div++;
            break;
        case COUNT_SQRT:
            out.sqrt++;
            break;
        case COUNT_SINCOS:
            out.sincos++;
            break;
        }
    }
    return out;
}

count_ops_t count_all(void) {
    return sum(true);
}

count_ops_t count_needed(const dyn_real_count_t *results, int n) {
    for (int32_t i = 1; i < used; i++)
        nodes[i].needed = false;
    for (int i = 0; i < n; i++)
        if (results[i].node > 0)
            nodes[results[i].node].needed = true;
    /* Operands were made before their results. */
    for (int32_t i = used - 1; i > 0; i--) {
        if (!nodes[i].needed)
            continue;
        if (nodes[i].a > 0)
            nodes[nodes[i].a].needed = true;
        if (nodes[i].b > 0)
            nodes[nodes[i].b].needed = true;
    }
    return sum(false);
}
