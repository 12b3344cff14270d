/* The number operations of the backend `range`, for kernels. It has its own vector operations,
 * because they also bound the norm. */
#ifndef TOOLS_PROOF_REAL_RANGE_H
#define TOOLS_PROOF_REAL_RANGE_H

#include "tools/proof/range.h"

#define DYN_REAL range
#define INLINE   static inline __attribute__((unused))

typedef dyn_real_range_t real;
typedef range_acc_t acc;

#define NAMED(joint, value)                                                                        \
    _Generic((value), dyn_vec_range_t                                                              \
             : range_named_vec, dyn_real_range_t                                                   \
             : range_named_real)(#value, joint, value)

#define real_known(value)   ((real){(value), (value), 0})
#define real_neg(a)         range_neg(a)
#define real_add(a, b)      range_add(a, b)
#define real_sub(a, b)      range_add(a, range_neg(b))
#define acc_mul(a, b)       range_acc_mul(a, b)
#define acc_mac(sum, a, b)  range_acc_add(sum, range_acc_mul(a, b))
#define acc_msub(sum, a, b) range_acc_add(sum, range_acc_mul(range_neg(a), b))
#define acc_round(sum)      range_acc_round(sum)
#define real_mul(a, b)      range_acc_round(range_acc_mul(a, b))
#define turn_mul            acc_mul
#define turn_mac            acc_mac
#define turn_msub           acc_msub
#define turn_round(sum)     range_turn_round(sum)
#define turn_known          real_known
#define turn_real(cs)       range_acc_round(range_acc_mul(cs, real_known(1)))
#define real_sincos         range_sincos
#define real_recip          range_recip
#define real_sqrt           range_sqrt
#define real_clamp          range_clamp

#define real_fits        range_fits
#define real_from_model  range_constant
#define turn_from_model  range_turn_constant
#define angle_from_model range_angle_constant

#define real_shift_mass range_shift

#define vec_make                      range_vec_make
#define vec_add                       range_vec_add
#define vec_scale                     range_vec_scale
#define vec_cross                     range_vec_cross
#define vec_add_cross2(u, a, b, c, d) range_vec_add(u, range_vec_cross2(a, b, c, d))
#define sym_mul                       range_sym_mul
#define sym_mul_add_cross             range_sym_mul_add_cross
#define sym_euler                     range_sym_euler
#define vec_turn_x(t, a)              range_vec_turn(0, false, t, a)
#define vec_turn_z(t, a)              range_vec_turn(2, false, t, a)
#define vec_turn_back_x(t, a)         range_vec_turn(0, true, t, a)
#define vec_turn_back_z(t, a)         range_vec_turn(2, true, t, a)
#define vec_turn_y(t, a)              range_vec_turn(1, false, t, a)
#define vec_turn_back_y(t, a)         range_vec_turn(1, true, t, a)
#define real_angle(rad)               range_angle(rad)
#define vec_to_parent_unit(j, a)      range_vec_shift(a, (j)->mass_shift)
#define sym_add                       range_sym_add
#define sym_turn_back_x(t, T)         range_sym_turn_back(0, t, T)
#define sym_turn_back_z(t, T)         range_sym_turn_back(2, t, T)
#define sym_to_parent_unit(j, T)      range_sym_shift_mass(T, (j)->mass_shift)

/* Replaces the operations of dyn/number/tensor.h. */
#define omega                     range_omega_t
#define omega_make                range_omega_make
#define omega_mul                 range_omega_mul
#define omega_euler_add_cross     range_omega_euler_add_cross
#define omega_carried(o)          (o)
#define sym_add_outer             range_sym_add_outer
#define sym_to_parent_xx_yy(A, T) range_sym_to_parent_xx_yy((A).x, (A).z, T)
/* Each takes one component from the whole vector, because the whole vector has a bounded norm. */
#define half_y(A, a)           (child_to_half(A, a).y)
#define to_parent_x(A, a)      (to_parent(A, a).x)
#define to_parent_y(A, a)      (to_parent(A, a).y)
#define to_parent_z(A, a)      (to_parent(A, a).z)
#define half_to_parent_z(A, a) (half_to_parent(A, a).z)

typedef dyn_real_range_t range_wide;
#define wider                    range_wide
#define gain_wide(g, a)          range_gain_wide((g).k, a)
#define gain_mul(g, a)           range_gain_mul((g).k, a)
#define wide_add                 range_wide_add
#define wide_clamp               range_wide_clamp
#define wide_fit                 range_wide_fit
#define gain_from_model(v, e, g) ((g)->cut = 0, range_gain_constant(v, e, &(g)->k))

/* Pivots are not bounded: `range` cannot run a kernel that eliminates. */
typedef struct {
    double smallest;
} pivot;

INLINE pivot pivot_begin(void) {
    return (pivot){8};
}

INLINE pivot pivot_see(pivot p, real d) {
    return (pivot){d.lo - d.err < p.smallest ? d.lo - d.err : p.smallest};
}

INLINE bool pivot_ok(pivot p) {
    return p.smallest > 0;
}

#include "dyn/number/vec.inc"

#endif
