/* The interface of the q31 backend for callers. A number is an int32 with 28 fractional bits;
 * dyn_units_t defines the unit of each quantity. The angle of a revolute joint is a binary angle
 * (the whole int32 is one turn) and wraps around; speeds are in rad per unit of time. The torque of
 * joint i is in units of 2^mass[i] kg times length^2 / time^2 (length / time^2 for a prismatic
 * joint). */
#ifndef DYN_NUMBER_Q31_H
#define DYN_NUMBER_Q31_H

#include <stdbool.h>
#include <stdint.h>

#define DYN_Q31_BITS 28

typedef int32_t dyn_real_q31_t;

#define DYN_REAL q31
#include "dyn/number/arm.inc"
#undef DYN_REAL

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a hash of the layout of dyn_arm_q31_t (offsets of its members, DYN_Q31_BITS). A build
 * refuses constants that another build has prepared in another layout. The hash does not depend on
 * the number of joints that a build has room for. */
uint32_t dyn_q31_layout(void);

/* Conversions between double and fixed point, to the nearest value; for set-up and tests. */
int32_t dyn_q31_angle(double rad);
double dyn_q31_angle_rad(int32_t angle);
/* Exponents of two of the units of joint i: position (if prismatic), speed, acceleration, torque
 * and voltage. */
typedef struct {
    int position, velocity, acceleration, torque, voltage;
} dyn_q31_exponents_t;
dyn_q31_exponents_t dyn_q31_exponents(const dyn_model_t *model, const dyn_units_t *units,
                                      uint32_t i);
/* The same without a model. volts is the nominal supply voltage of the motor, 0 if none is
 * given. */
dyn_q31_exponents_t dyn_q31_joint_exponents(dyn_joint_type_t type, double volts,
                                            const dyn_units_t *units, uint32_t i);
int32_t dyn_q31_from(double value, int exponent);
double dyn_q31_to(int32_t raw, int exponent);
/* Finds k and cut with value = k 2^(exponent - cut), for dyn/number/gain.h. k is 0 if the value is
 * too small. Returns false if it is too large. */
bool dyn_q31_gain(double value, int exponent, int32_t *k, uint32_t *cut);

#ifdef __cplusplus
}
#endif

#endif
