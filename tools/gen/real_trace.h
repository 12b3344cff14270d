/* The number operations of the backend `trace`, for kernels. */
#ifndef TOOLS_GEN_REAL_TRACE_H
#define TOOLS_GEN_REAL_TRACE_H

#include "tools/gen/trace.h"

#define DYN_REAL trace
#define INLINE   static inline __attribute__((unused))

typedef dyn_real_trace_t real;
typedef real acc;

/* Does nothing: the printer finds names by the values of the nodes (gen_names_t of
 * tools/gen/form.h). */
#define NAMED(joint, value) ((void)(joint), (void)(value))

#define real_known(value)   trace_const(value)
#define real_neg(a)         trace_neg(a)
#define real_add(a, b)      trace_add(a, b)
#define real_sub(a, b)      trace_sub(a, b)
#define real_mul(a, b)      trace_mul(a, b)
#define acc_mul(a, b)       real_mul(a, b)
#define acc_mac(sum, a, b)  real_add(sum, real_mul(a, b))
#define acc_msub(sum, a, b) real_sub(sum, real_mul(a, b))
#define acc_round(sum)      (sum)
#define turn_mul            acc_mul
#define turn_mac            acc_mac
#define turn_msub           acc_msub
#define turn_round          acc_round
#define turn_known          real_known
#define turn_real(cs)       (cs)

#define real_sincos      trace_sincos
#define real_recip(a)    trace_recip(a)
#define real_sqrt(a)     trace_other(GRAPH_SQRT, a, a)
#define real_clamp(a, b) trace_other(GRAPH_CLAMP, a, b)

#define real_shift_mass(a, shift) ((void)(shift), (a))

/* Straight-line code cannot branch on a pivot. The smallest pivot becomes a node of the graph, but
 * pivot_ok cannot read its value and accepts every pivot. */
typedef struct {
    real smallest;
} pivot;

INLINE pivot pivot_begin(void) {
    return (pivot){trace_const(1e30)};
}

INLINE pivot pivot_see(pivot p, real d) {
    return (pivot){trace_other(GRAPH_MIN, p.smallest, d)};
}

INLINE bool pivot_ok(pivot p) {
    (void)p;
    return true;
}

/* Straight-line code does not report that it has clamped. */
#define real_beyond(a, limit) ((void)(a), (void)(limit), 0u)

INLINE bool real_fits(double value, int exponent) {
    (void)value;
    (void)exponent;
    return true;
}

INLINE bool real_from_model(double value, int exponent, real *out) {
    (void)exponent;
    *out = trace_const(value);
    return true;
}

#define turn_from_model  trace_const
#define angle_from_model trace_const

#define vec_joined trace_joined

#include "dyn/number/vec.inc"

#endif
