/*
 * Chooses the names of variables in generated code: by angle, by physical quantity, or by number.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/print.h"

static bool named_like(const gen_name_t *n, const double *value, int32_t id, int32_t size,
                       double sign) {
    for (int k = 0; k < GEN_PROBES; k++) {
        const double v = value[k * size + id];
        if (!(fabs(v - sign * n->value[k]) <= 1e-10 * fabs(v)))
            return false;
    }
    return true;
}

/* Returns a bit set of the joints whose angles are in the sum. */
static uint32_t joints_of(const graph_t *g, int32_t id) {
    const graph_node_t *a = graph_at(g, id);
    if (a->op == GRAPH_INPUT)
        return 1u << a->b;
    return joints_of(g, a->a >> 1) | (a->b != GRAPH_NONE ? joints_of(g, a->b >> 1) : 0);
}

/*
 * Names a sine or cosine by its joints: the sine of q2 + q3 is s23. If joint numbers can have two
 * digits, it is s2_3, and a sum of more than two joints is named by its first and last joint:
 * s2_to_13, or s2_in_13 if some joints between them are missing.
 */
static void name_angle(uint32_t joints, uint32_t n, char letter, char name[PRINT_VAR]) {
    int joint[DYN_MAX_JOINTS] = {0}, count = 0;
    for (int i = 0; i < DYN_MAX_JOINTS; i++)
        if (joints >> i & 1)
            joint[count++] = i + 1;
    assert(count > 0);
    const int first = joint[0], last = joint[count - 1];
    if (n > 9 && count > 2) {
        snprintf(name, PRINT_VAR, "%c%d_%s_%d", letter, first, last - first < count ? "to" : "in",
                 last);
        return;
    }
    int used = snprintf(name, PRINT_VAR, "%c%d", letter, first);
    for (int k = 1; k < count; k++)
        used += snprintf(name + used, PRINT_VAR - (size_t)used, n > 9 ? "_%d" : "%d", joint[k]);
}

static bool taken(const printer_t *p, const int32_t *order, int32_t upto, const char *name) {
    for (int32_t i = 0; i < upto; i++)
        if (!strcmp(p->var[order[i]], name))
            return true;
    return false;
}

void print_name_nodes(printer_t *p, const gen_names_t *names, const int32_t *order, int32_t count) {
    const int32_t size = graph_size(p->g);
    double *value = calloc((size_t)size * GEN_PROBES, sizeof *value);
    int plain = 0;
    if (!value)
        abort();
    for (int probe = 0; probe < GEN_PROBES; probe++)
        graph_eval(p->g, gen_probe, &probe, value + probe * size);
    for (int32_t i = 0; i < count; i++) {
        const int32_t id = order[i];
        const graph_node_t *n = graph_at(p->g, id);
        char *name = p->var[id];
        if (n->op == GRAPH_SIN || n->op == GRAPH_COS || n->op == GRAPH_ANGLE) {
            const char letter = n->op == GRAPH_SIN ? 's' : n->op == GRAPH_COS ? 'c' : 'q';
            name_angle(joints_of(p->g, n->op == GRAPH_ANGLE ? id : n->a >> 1), p->gen->arm.n,
                       letter, name);
            /* Another angle with the same joints but another offset may already have this name. */
            char *end = name + strlen(name);
            for (int k = 1; taken(p, order, i, name); k++)
                snprintf(end, PRINT_VAR - (size_t)(end - name), k > 1 ? "o%d" : "o", k);
            continue;
        }
        for (int k = 0; names && k < names->count && !*name; k++)
            for (int sign = 0; sign < 2 && !*name; sign++)
                if (named_like(&names->name[k], value, id, size, sign ? -1 : 1)) {
                    snprintf(name, PRINT_VAR, "%s%s", sign ? "m_" : "", names->name[k].name);
                    if (taken(p, order, i, name))
                        *name = '\0';
                }
        if (!*name)
            snprintf(name, PRINT_VAR, "t%d", ++plain);
    }
    free(value);
}
