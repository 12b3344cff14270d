/*
 * Fixed point: chooses the power of two with which each node of a graph is stored, so that nothing
 * can overflow for any state within the limits of the arm, and bounds the errors of the results.
 *
 * Straight-line code has no loop in which bounds could grow. So every node gets its own bound by
 * interval arithmetic, tightened where more is known (a torque, an element of the inertia matrix, a
 * pivot), and the exponent that this bound allows. A product keeps the upper 32 bits of 64, one
 * SMULL on a Cortex-M3. A sum aligns its operands with a shift inside the add instruction. A
 * product with a power of two costs nothing.
 */
#ifndef TOOLS_GEN_FIXED_H
#define TOOLS_GEN_FIXED_H

#include "tools/gen/form.h"

typedef struct {
    double lo, hi;
    double err;     /* largest error of the computed value */
    int exponent;   /* the value is raw 2^-exponent */
    int8_t cut;     /* MUL: bits that the 64-bit product loses; 0: only the exponent changes */
    int8_t down[2]; /* ADD: bits that the operands lose; RECIP: constant, both negative */
    int32_t raw;    /* of a constant: its number */
} fixed_node_t;

typedef struct {
    const graph_t *g;
    fixed_node_t *node;
    int32_t *order, count;
    int *result_exponent; /* wanted exponent of each result */
    bool *clamped;        /* whether a result must be clamped to its format */
    double *result_bound, *result_error;
    bool proved; /* no bound was guessed */
} fixed_t;

/* A bound of a quantity that does not follow from its operands. */
typedef struct {
    double value[GEN_PROBES]; /* values that identify it in the graph, up to a factor */
    double lo, hi;
    bool guessed; /* from samples: conclusions from it are not proved */
} fixed_known_t;

typedef struct {
    /* Exponents: an input or a result is raw 2^-exponent; the angle of a revolute joint is a binary
     * angle. input_range: limits of the inputs. */
    int (*input_exponent)(const void *context, int32_t array, int32_t index);
    void (*input_range)(const void *context, int32_t array, int32_t index, double *lo, double *hi);
    int (*result_exponent)(const void *context, int result);
    const void *context;
    const fixed_known_t *known;
    int known_count;
} fixed_options_t;

/* True if no bit of some result is certain: the bound of its error is half of its format. */
bool fixed_lost(const fixed_t *f);
fixed_t *fixed_make(const graph_t *g, const fixed_options_t *options);
void fixed_free(fixed_t *f);
/* Computes bit for bit what the generated code computes. */
typedef int32_t (*fixed_lookup_t)(void *context, int32_t array, int32_t index);
void fixed_eval(const fixed_t *f, fixed_lookup_t input, void *context, int32_t *result);

/* 2^(62 - down) / a for a > 0, by Newton's iteration on the mantissa; generated code contains the
 * same. */
int32_t fixed_recip(int32_t a, int down);

#endif
