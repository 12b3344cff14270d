/*
 * The expression graph of the code generator: the backend `trace` builds it, the annealer rewrites
 * it and the printer writes it as C. It is the only graph of the project.
 *
 * A reference is a node and a sign: 2 id + (1 if negative). So signs cost nothing, and a - b is the
 * same node as b - a. Equal expressions are one node (hash-consing with operands in canonical
 * order; constants that agree to about 2^-49 are equal). Constants are folded, operations with zero
 * or one vanish, c1 x + c2 x is one product, and a quarter turn in an angle exchanges sine and
 * cosine. Nodes know their users: a node that loses its last user is dropped at once, and
 * graph_replace puts an equal node in the place of another and simplifies all users again.
 * graph_undo undoes every change since graph_try.
 */
#ifndef TOOLS_GEN_GRAPH_H
#define TOOLS_GEN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef int32_t ref_t;

/* Returns the memory, or ends the program with a message if it is NULL. */
void *graph_must(void *memory);

typedef enum {
    GRAPH_FREE,
    GRAPH_CONST, /* value, positive or zero */
    GRAPH_INPUT, /* array `a`, element `b` */
    /* a + b + value, a sum of angles about parallel axes; not counted; b may be GRAPH_NONE */
    GRAPH_ANGLE,
    GRAPH_SIN,
    GRAPH_COS,
    GRAPH_ADD, /* a + b; the reference a is positive */
    GRAPH_MUL, /* a b; both references are positive */
    GRAPH_RECIP,
    GRAPH_SQRT,
    GRAPH_CLAMP, /* a clamped to -b .. b */
    GRAPH_MIN,
    GRAPH_SIGN,
    GRAPH_OUT, /* a result: a */
    GRAPH_HOLD /* a, component b % 8 of the held vector b / 8 (graph_hold) */
} graph_op_t;

enum { GRAPH_NONE = -1, GRAPH_NAME = 16 };

typedef struct {
    /* a and b are references; for an input they are plain numbers, for a held value b is one */
    int32_t op, a, b;
    int32_t refs;                     /* number of operands that refer to this node */
    int32_t use;                      /* first of the list of uses; a use is 2 user + operand */
    int32_t next_use[2], prev_use[2]; /* links of the use lists of the two operands */
    int32_t hash_next, hash_prev;     /* links of the list of the hash bucket */
    int32_t stamp;                    /* not used */
} graph_node_t;

/* Cost of a node for each operation; `constant` is added for a constant operand of a sum or
 * product. 2 x costs as much as a sum; operations without a price are free. */
typedef struct {
    double mul, add, recip, sincos, constant;
} graph_cost_t;

typedef struct graph graph_t;

typedef struct {
    /* signs and sums of angles are not counted; 2 x counts as a multiplication */
    long mul, add, div, sqrt;
    long sincos;    /* number of angles of which sine, cosine or both are used */
    long constants; /* number of different constants */
} graph_ops_t;

graph_t *graph_new(void);
void graph_free(graph_t *g);
/* Copies the nodes that the results need into a new graph without gaps, in the order of
 * computation. */
graph_t *graph_copy(const graph_t *g);

/* Only for graphs made by graph_copy: the graph that graph_load returns has the same ids. */
void graph_save(const graph_t *g, FILE *out);
graph_t *graph_load(FILE *in); /* NULL if the file is not a graph */

ref_t graph_const(graph_t *g, double value);
/* `array` is a number whose meaning the caller defines. */
ref_t graph_input(graph_t *g, int32_t array, int32_t index);
ref_t graph_add(graph_t *g, ref_t a, ref_t b);
ref_t graph_mul(graph_t *g, ref_t a, ref_t b);
ref_t graph_recip(graph_t *g, ref_t a);
/* Makes a node of one of the operations sqrt, clamp, min and sign. */
ref_t graph_other(graph_t *g, graph_op_t op, ref_t a, ref_t b);
/* Makes the sum a + b + offset. a and b are inputs or angles; b may be GRAPH_NONE. */
ref_t graph_angle(graph_t *g, ref_t a, ref_t b, double offset);
void graph_sincos(graph_t *g, ref_t angle, ref_t *cosine, ref_t *sine);

static inline ref_t graph_neg(ref_t a) {
    return a ^ 1;
}

static inline ref_t graph_sub(graph_t *g, ref_t a, ref_t b) {
    return graph_add(g, a, b ^ 1);
}

/*
 * Holds a value: no rewriting goes across it, so that what is known of a held vector stays true
 * (tools/gen/norm.h). `vector` is its number, `part` the component: 0 to 2 of a vector, 0 to 5 of a
 * symmetric tensor xx yy zz xy yz xz. Constants and inputs are returned as they are.
 */
enum { GRAPH_PARTS = 8 };
ref_t graph_hold(graph_t *g, ref_t a, int32_t vector, int32_t part);

/* Results are numbered in the order of graph_output. A node that a result needs is not dropped. */
void graph_output(graph_t *g, ref_t a);
int graph_outputs(const graph_t *g);
ref_t graph_result(const graph_t *g, int which);
/* Drops nodes that no result needs. */
void graph_sweep(graph_t *g);

int32_t graph_size(const graph_t *g); /* number of node slots: every id is smaller */
const graph_node_t *graph_at(const graph_t *g, int32_t id);
double graph_value(const graph_t *g, int32_t id); /* value of a constant or offset of an angle */
bool graph_is_const(const graph_t *g, ref_t a, double *value);
bool graph_uses_b(int32_t op);
graph_ops_t graph_count(const graph_t *g);
double graph_total(const graph_t *g, const graph_cost_t *cost);

/* Returns the ids of the *count nodes that the results need, operands before their users. The
 * caller frees the array. */
int32_t *graph_order(const graph_t *g, int32_t *count);
/* Computes the values of all nodes that the results need. input(context, array, index) returns an
 * input; `value` has graph_size elements. */
typedef double (*graph_lookup_t)(void *context, int32_t array, int32_t index);
void graph_eval(const graph_t *g, graph_lookup_t input, void *context, double *value);
/* Like graph_eval, but also computes nodes that no result needs. Only for a graph that was never
 * rewritten. */
void graph_eval_all(const graph_t *g, graph_lookup_t input, void *context, double *value);
/* Bounds the rounding error of each node to first order (running error analysis at one state), if
 * every operation has a relative error of `unit` and sine and cosine an absolute one of `trig`. */
void graph_errors(const graph_t *g, const double *value, double unit, double trig, double *error);

/*
 * Rewriting. After graph_cost_set, graph_cost is kept up to date. After graph_try, nodes may be
 * made and replaced until graph_keep or graph_undo; graph_replace replaces `id` by `by` everywhere.
 * graph_full is true if there was no room for a node, a constant would leave the safe range of a
 * float, or there were too many changes; then the try must be undone.
 */
void graph_cost_set(graph_t *g, const graph_cost_t *cost, int32_t room);
double graph_cost(const graph_t *g);
void graph_try(graph_t *g);
void graph_replace(graph_t *g, int32_t id, ref_t by);
bool graph_full(const graph_t *g);
/* Returns how many nodes were simplified again by all replacements: the work that they took. */
long graph_renewed(const graph_t *g);
/* Drops new nodes that are not used, so that graph_cost is correct. graph_keep does the same. */
void graph_settle(graph_t *g);
void graph_keep(graph_t *g);
void graph_undo(graph_t *g);

#endif
