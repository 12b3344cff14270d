/* Conversions between SI units in double and the fixed-point numbers of dyn/number/q31.h. Not used
 * in the tick. */
#include "dyn/number/q31.h"

#include <math.h>
#include <stddef.h>

/* Part of the hash of dyn_q31_layout: increase MEANING when a constant keeps its place but changes
 * its meaning. */
enum { MEANING = 1 };

uint32_t dyn_q31_layout(void) {
#define ARM(member)    (uint16_t) offsetof(dyn_arm_q31_t, member)
#define JOINT(member)  (uint16_t) offsetof(dyn_joint_q31_t, member)
#define DRIVE(member)  (uint16_t) offsetof(dyn_drive_q31_t, member)
#define PROVED(member) (uint16_t) offsetof(dyn_proved_q31_t, member)
#define GA(member)     (uint16_t) offsetof(dyn_ga_body_q31_t, member)
#define FAST(member)   (uint16_t) offsetof(dyn_fast_body_q31_t, member)
    // clang-format off
    static const uint16_t places[] = {
        MEANING, DYN_Q31_BITS,
        ARM(n), ARM(mixed), ARM(link_status), ARM(drive_status), ARM(body_status), ARM(reach_shift),
        ARM(ga_status), ARM(fast_status), ARM(base_acceleration), ARM(base), ARM(tool),
        ARM(base_reach), ARM(joint),
        sizeof(dyn_joint_q31_t),
        JOINT(prismatic), JOINT(mass_shift), JOINT(offset), JOINT(fixed_d), JOINT(fixed_z),
        JOINT(x), JOINT(a), JOINT(m), JOINT(s), JOINT(J), JOINT(ms), JOINT(I), JOINT(rotor),
        JOINT(geared), JOINT(r), JOINT(drive), JOINT(proved), JOINT(ga), JOINT(fast),
        DRIVE(per_width), DRIVE(viscous), DRIVE(coulomb), DRIVE(uneven), DRIVE(volt_tau),
        DRIVE(volt_qd), DRIVE(tau_volt), DRIVE(tau_qd), DRIVE(volt_max),
        PROVED(qd), PROVED(qdd), PROVED(low), PROVED(high),
        GA(s), GA(J), GA(M), GA(gamma), GA(E),
        FAST(rise), FAST(m), FAST(M), FAST(heavy), FAST(l), FAST(J)
    };
    // clang-format on
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < sizeof places / sizeof places[0]; i++)
        hash = (hash ^ places[i]) * 16777619u;
    return hash;
}

int32_t dyn_q31_angle(double rad) {
    /* remainder() is exact, so a large angle has no error except that of 2 pi as a double. */
    const double turn = 6.28318530717958647692;
    double part = remainder(rad, turn) / turn;
    return (int32_t)(uint32_t)(int64_t)rint(ldexp(part, 32));
}

double dyn_q31_angle_rad(int32_t angle) {
    return ldexp((double)angle * 6.28318530717958647692, -32);
}

/* Returns the exponent of the voltage unit. The supply voltage is 2 to 4 units, and the format ends
 * at 8. If no supply voltage is given, the format ends at 1024 V. */
static int volt_exponent(double volts) {
    int exponent = 9;
    if (volts > 0)
        (void)frexp(volts, &exponent);
    return exponent - 2;
}

dyn_q31_exponents_t dyn_q31_joint_exponents(dyn_joint_type_t type, double volts,
                                            const dyn_units_t *units, uint32_t i) {
    int travel = type == DYN_PRISMATIC ? units->length : 0;
    int arm = type == DYN_PRISMATIC ? units->length : 2 * units->length;
    return (dyn_q31_exponents_t){.position = travel,
                                 .velocity = travel - units->time,
                                 .acceleration = travel - 2 * units->time,
                                 .torque = units->mass[i] + arm - 2 * units->time,
                                 .voltage = volt_exponent(volts)};
}

dyn_q31_exponents_t dyn_q31_exponents(const dyn_model_t *model, const dyn_units_t *units,
                                      uint32_t i) {
    const dyn_model_joint_t *joint = &model->joint[i];
    return dyn_q31_joint_exponents(joint->type, joint->drive.motor.voltage, units, i);
}

int32_t dyn_q31_from(double value, int exponent) {
    double raw = rint(ldexp(value, DYN_Q31_BITS - exponent));
    if (raw > 2147483647.0)
        return 2147483647;
    if (raw < -2147483647.0)
        return -2147483647;
    return (int32_t)raw;
}

double dyn_q31_to(int32_t raw, int exponent) {
    return ldexp((double)raw, exponent - DYN_Q31_BITS);
}

bool dyn_q31_gain(double value, int exponent, int32_t *k, uint32_t *cut) {
    int e;
    double mantissa = frexp(value, &e);
    e -= exponent;
    *k = 0;
    *cut = 0;
    if (mantissa == 0 || e < -32)
        return true;
    if (e > 30)
        return false;
    /* k is at most 2^30: a mantissa that was rounded up to 2^30 is still valid. */
    *k = (int32_t)rint(ldexp(mantissa, 30));
    *cut = (uint32_t)(30 - e);
    return true;
}
