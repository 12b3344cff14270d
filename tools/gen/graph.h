/*
 * The expression graph of the code generator: the backend `trace` builds it, the annealer rewrites
 * it and the printer writes it as C. It is the only graph of the project.
 *
 * A reference is a node and a sign: 2 id + (1 if negative), so signs cost nothing and a - b and b -
 * a are one node. Equal expressions are one node (hash-consing; operands in canonical order;
 * constants equal to 2^-49 are one). Constants fold, zeros and ones vanish, c1 x + c2 x is one
 * product, and a quarter turn in an angle becomes a change of names. Nodes know their users: an
 * unused node is dropped at once, and a node can be replaced by an equal one everywhere, with all
 * consequences. Every change between graph_try and graph_undo can be undone.
 */
#ifndef TOOLS_GEN_GRAPH_H
#define TOOLS_GEN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef int32_t ref_t;

typedef enum {
    GRAPH_FREE,
    GRAPH_CONST, /* value, positive or zero */
    GRAPH_INPUT, /* array `a`, element `b` */
    GRAPH_ANGLE, /* a + b + value: sum of parallel axes, not counted; b may be GRAPH_NONE */
    GRAPH_SIN,
    GRAPH_COS,
    GRAPH_ADD, /* a + b; a is positive */
    GRAPH_MUL, /* a b; both positive */
    GRAPH_RECIP,
    GRAPH_SQRT,
    GRAPH_CLAMP, /* a clamped to -b .. b */
    GRAPH_MIN,
    GRAPH_SIGN,
    GRAPH_OUT /* a result: a */
} graph_op_t;

enum { GRAPH_NONE = -1, GRAPH_NAME = 16 };

typedef struct {
    int32_t op, a, b;                 /* a, b: references; for an input plain numbers */
    int32_t refs;                     /* number of operands that refer to this node */
    int32_t use;                      /* first of these: 2 user + which operand */
    int32_t next_use[2], prev_use[2]; /* links of the use lists of the two operands */
    int32_t hash_next, hash_prev;     /* links of the bucket's list */
    int32_t stamp;                    /* number of the last walk that visited it */
} graph_node_t;

/* Cost of a node by its operation; a constant operand of a sum or product adds to it. */
typedef struct {
    double mul, add, recip, sincos, constant;
} graph_cost_t;

typedef struct graph graph_t;

typedef struct {
    long mul, add, div, sqrt; /* signs and angle sums are free; 2 x is a multiplication */
    long sincos;              /* angles whose sine or cosine or both are used */
    long constants;           /* number of different constants */
} graph_ops_t;

graph_t *graph_new(void);
void graph_free(graph_t *g);
/* Copies what the outputs need into another graph, compact and in the order of computation. */
graph_t *graph_copy(const graph_t *g);

/* For a graph made by graph_copy: the loaded graph has the same ids. */
void graph_save(const graph_t *g, FILE *out);
graph_t *graph_load(FILE *in); /* NULL if it is not a graph */

ref_t graph_const(graph_t *g, double value);
/* `array` is a number whose meaning the caller defines. */
ref_t graph_input(graph_t *g, int32_t array, int32_t index);
ref_t graph_add(graph_t *g, ref_t a, ref_t b);
ref_t graph_mul(graph_t *g, ref_t a, ref_t b);
ref_t graph_recip(graph_t *g, ref_t a);
/* For sqrt, clamp, min and sign. */
ref_t graph_other(graph_t *g, graph_op_t op, ref_t a, ref_t b);
/* a + b + offset, for inputs and angles only; b may be GRAPH_NONE. */
ref_t graph_angle(graph_t *g, ref_t a, ref_t b, double offset);
void graph_sincos(graph_t *g, ref_t angle, ref_t *cosine, ref_t *sine);

static inline ref_t graph_neg(ref_t a) {
    return a ^ 1;
}

static inline ref_t graph_sub(graph_t *g, ref_t a, ref_t b) {
    return graph_add(g, a, b ^ 1);
}

/* Results, in the order of their numbers; they keep the nodes that they need alive. */
void graph_output(graph_t *g, ref_t a);
int graph_outputs(const graph_t *g);
ref_t graph_result(const graph_t *g, int which);
/* Drops nodes that no result needs. */
void graph_sweep(graph_t *g);

int32_t graph_size(const graph_t *g); /* all ids are below */
const graph_node_t *graph_at(const graph_t *g, int32_t id);
double graph_value(const graph_t *g, int32_t id); /* value of a constant, offset of an angle */
bool graph_is_const(const graph_t *g, ref_t a, double *value);
bool graph_uses_b(int32_t op);
graph_ops_t graph_count(const graph_t *g);
double graph_total(const graph_t *g, const graph_cost_t *cost);

/* Ids of the nodes that results need, *count of them, in an order of computation. To be freed. */
int32_t *graph_order(const graph_t *g, int32_t *count);
/* Computes the values of all nodes. input(context, array, index) gives the inputs; `value` has
 * graph_size elements. */
typedef double (*graph_lookup_t)(void *context, int32_t array, int32_t index);
void graph_eval(const graph_t *g, graph_lookup_t input, void *context, double *value);
/* The same for a graph that was never rewritten, including nodes that no result needs. */
void graph_eval_all(const graph_t *g, graph_lookup_t input, void *context, double *value);
/*
 * Bounds the rounding error of each node to first order, if every operation has a relative error of
 * `unit` and sine and cosine an error of `trig`: running error analysis at this state.
 */
void graph_errors(const graph_t *g, const double *value, double unit, double trig, double *error);

/*
 * Rewriting. After graph_cost_set, graph_cost is the running total. Between graph_try and
 * graph_keep or graph_undo nodes may be made and replaced; graph_replace replaces `id` by `by`
 * everywhere. graph_full: there was no room for a node, or a constant would leave the safe range of
 * a float, so the try must be undone.
 */
void graph_cost_set(graph_t *g, const graph_cost_t *cost, int32_t room);
double graph_cost(const graph_t *g);
void graph_try(graph_t *g);
void graph_replace(graph_t *g, int32_t id, ref_t by);
bool graph_full(const graph_t *g);
/* Drops new nodes that are not used, so that the cost is right; graph_keep does so too. */
void graph_settle(graph_t *g);
void graph_keep(graph_t *g);
void graph_undo(graph_t *g);

#endif
