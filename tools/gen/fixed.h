/*
 * Fixed point: chooses the power of two with which each node of a graph is stored, so that nothing
 * can overflow for any state within the limits of the arm, and bounds the errors of the results.
 *
 * Straight-line code has no loop in which bounds could grow. So every node gets its own bound by
 * interval arithmetic and the largest exponent that this bound allows. Where more is known (a
 * torque, an element of the inertia matrix, a pivot, the norm of a held vector), the bound is
 * tightened. A product keeps the
 * upper 32 bits of 64, one SMULL on a Cortex-M3. A sum aligns its operands with a shift inside the
 * add instruction. A product with a power of two costs nothing.
 */
#ifndef TOOLS_GEN_FIXED_H
#define TOOLS_GEN_FIXED_H

#include "tools/gen/form.h"

typedef struct {
    double lo, hi;
    double err;   /* largest error of the computed value */
    double own;   /* the part of it that is not passed on from held values */
    int exponent; /* the value is raw * 2^-exponent */
    int8_t cut;   /* MUL: low bits cut off the 64-bit product; 0: only the exponent changes */
    /* ADD: right shift of each operand in bits; RECIP: down[0] is `down` of fixed_recip, down[1] is
     * 1 if the divisor is negative */
    int8_t down[2];
    int32_t raw; /* CONST: the stored integer */
} fixed_node_t;

typedef struct {
    const graph_t *g;
    fixed_node_t *node;
    int32_t *order, count;
    int *result_exponent; /* exponent with which each result must be returned */
    bool *clamped;        /* whether a result must be clamped to its format */
    double *result_bound, *result_error;
    /* false if a bound came from samples, a divisor may reach zero, or a node has no fixed-point
     * code */
    bool proved;
} fixed_t;

/* A bound of a quantity, tighter than the one that interval arithmetic finds. */
typedef struct {
    /* values of the quantity at the probe inputs; a node whose values are proportional to these is
     * the same quantity times a constant */
    double value[GEN_PROBES];
    double lo, hi;
    bool guessed; /* the bound comes from samples, so nothing that uses it is proved */
} fixed_known_t;

typedef struct {
    /* An input or a result is raw * 2^-exponent; the angle of a revolute joint is a binary angle.
     * input_range gives the limits of an input. */
    int (*input_exponent)(const void *context, int32_t array, int32_t index);
    void (*input_range)(const void *context, int32_t array, int32_t index, double *lo, double *hi);
    int (*result_exponent)(const void *context, int result);
    const void *context;
    const fixed_known_t *known;
    int known_count;
} fixed_options_t;

/* Returns the node whose stored integer is that of this node, too: a held value has that of what it
 * holds, a product with a power of two that of its other factor. */
int32_t fixed_stored(const fixed_t *f, int32_t id);
/* True if some result has no certain bit: its error may reach half of what its format holds. */
bool fixed_lost(const fixed_t *f);
fixed_t *fixed_make(const graph_t *g, const fixed_options_t *options);
void fixed_free(fixed_t *f);
/* Computes bit for bit what the generated code computes. */
typedef int32_t (*fixed_lookup_t)(void *context, int32_t array, int32_t index);
void fixed_eval(const fixed_t *f, fixed_lookup_t input, void *context, int32_t *result);

/* Generated code contains the same two functions. They have no branch, so that every state takes the
 * same instructions.
 *
 * fixed_recip returns 2^(62 - down) / a for a > 0, by Newton's iteration on the mantissa, or the
 * largest number; down is 0 to 63. fixed_clamped returns a 2^bits, or the largest multiple of
 * 2^bits with the sign of a. */
int32_t fixed_recip(int32_t a, int down);
int32_t fixed_clamped(int32_t a, int bits);

#endif
