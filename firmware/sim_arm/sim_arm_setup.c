/* Makes the constants of the simulated arm, in the background. */
#include <math.h>

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"
#include "firmware/sim_arm/sim_arm.h"

/* The longest integration step, s; a little more than 1 ms to allow for rounding. */
#define SIM_ARM_STEP_S 0.001001
#define WEAK_SUPPLY    0.05 /* fraction of the nominal supply: too little to hold an arm */
#define JUMP_PART      16   /* a jump of the encoder, as a part of its turn */

static bool sim_arm_joint_make(const setup_t *from, uint32_t i, double h, sim_arm_joint_t *out) {
    const settings_t *s = &from->joint[i];
    const exponents_t e = setup_exponents(from, i);
    bool fits = setup_step(h, e, &out->half);
    fits = gain_from_model(2 / setup_count(s), WHOLE - e.p, &out->per_q) && fits;
    fits = gain_from_model((double)from->volts / 32767, e.volt - WHOLE, &out->volt) && fits;
    out->qd_max = setup_open_end(ldexp(7.9, e.v), e.v);
    out->high = setup_open_end(ldexp(7.9, e.p), e.p);
    out->low = real_neg(out->high);
    if (s->bounded) {
        fits = real_from_model((double)s->position[0] - STOP_MARGIN, e.p, &out->low) && fits;
        fits = real_from_model((double)s->position[1] + STOP_MARGIN, e.p, &out->high) && fits;
    }
    return fits;
}

void sim_arm_setup_errors(const setup_t *from, sim_arm_t *out) {
    (void)real_from_model(0.5 / (double)from->parameter[PARAMETER_sim_mass], PART,
                          &out->half_per_mass);
    (void)real_from_model((double)from->parameter[PARAMETER_sim_friction], PART, &out->friction);
    out->noise = (uint32_t)from->parameter[PARAMETER_sim_noise];
#ifdef FIRMWARE_LAB
    const uint32_t at = (uint32_t)from->parameter[PARAMETER_sim_defect_joint];
    const uint32_t joint = at < from->n ? at : 0;
    out->defect = (defect_t){(uint32_t)from->parameter[PARAMETER_sim_defect], joint,
                             (int32_t)from->joint[joint].counts / JUMP_PART};
#endif
    out->shift = (int32_t)from->parameter[PARAMETER_sim_shift];
    const float *t = from->parameter;
    const double supply =
        defect_is(&out->defect, DEFECT_LOW)    ? (double)t[PARAMETER_guard_supply_low] / 2
        : defect_is(&out->defect, DEFECT_HIGH) ? (double)t[PARAMETER_guard_supply_high] * 2
        : defect_is(&out->defect, DEFECT_WEAK) ? WEAK_SUPPLY
                                               : 1;
    out->supply_mV = defect_is(&out->defect, DEFECT_SENSOR) ? SUPPLY_FAILED
                     : supply != 1 ? (int32_t)(1000 * supply * (double)from->volts)
                                   : SUPPLY_UNMEASURED;
    (void)real_from_model(supply, PART, &out->supply);
}

bool sim_arm_setup(const setup_t *from, sim_arm_t *out) {
    const double h = 1 / (double)from->parameter[PARAMETER_rate_hz];
    bool fits = true;
    out->steps = (uint32_t)ceil(h / SIM_ARM_STEP_S);
    for (uint32_t i = 0; i < from->n; i++)
        fits = sim_arm_joint_make(from, i, h / out->steps, &out->joint[i]) && fits;
    sim_arm_setup_errors(from, out);
    return fits;
}
