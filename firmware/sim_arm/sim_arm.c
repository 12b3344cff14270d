/*
 * The simulated arm: forward dynamics with motors, friction, joint stops and encoders, for running
 * without a robot. Its masses and friction may differ from the controller's model.
 *
 * If all masses are f times those of the model, (f M + R) qdd = tau - f bias - friction, where R is
 * the inertia of the rotors, which f does not change. The equation is divided by f: then only R,
 * tau and friction differ from the model, and no number exceeds the range that the format has for
 * the model itself.
 *
 * A step uses the acceleration at its beginning; that is exact if the acceleration is constant. A
 * collision with a joint stop is inelastic.
 *
 * Friction is implicit: (M + R + D) qdd = tau - bias - friction with D_i = h/2 dF/dqd. This is the
 * friction in the middle of the step to second order, and it is stable for every inertia. D_i is
 * never less than h F/qd minus half of the joint's inertia, so that friction alone cannot reverse
 * the motion of a joint within a step. D acts on accelerations only, so a joint at constant speed
 * or at rest feels F itself. Motor torques stay explicit: the drive compensates the motors' speed
 * at the beginning of the step.
 */
#include "firmware/sim_arm/sim_arm.h"

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

/* Writes the speeds for friction and bias to k->qd. In fixed point these kernels are proved only
 * within the limits of the arm, so a faster joint is treated as one at its limit. */
INLINE void proved_speeds(const sim_arm_t *p, scratch_t *k) {
    for (uint32_t i = 0; i < p->arm->n; i++)
        k->qd[i] = real_clamp(p->qd[i], p->arm->joint[i].proved.qd);
}

/* Writes the torque of the motors minus friction, divided by twice the mass factor, to k->tau. */
INLINE void drive_torque(const control_t *c, const sim_arm_t *p, scratch_t *k) {
    const uint32_t n = p->arm->n;
    uint32_t beyond;
    (void)DYN(motor_torque)(p->arm, p->qd, p->input, k->tau);
    for (uint32_t i = 0; i < n; i++)
        k->qdd[i] = real_known(0);
    proved_speeds(p, k);
    DYN(friction)(p->arm, k->qd, k->qdd);
    for (uint32_t i = 0; i < n; i++) {
        const real tau = p->open ? real_known(0) : c->joint[i].motor ? k->tau[i] : p->input[i];
        const real left = wide_fit(wide_sub(tau, real_mul(p->friction, k->qdd[i])), &beyond);
        k->tau[i] = real_mul(p->half_per_mass, left);
    }
}

INLINE real fit_mul(real a, real b) {
    uint32_t beyond;
    return wide_fit(wide_mul(a, b), &beyond);
}

INLINE real fit_add(real a, real b) {
    uint32_t beyond;
    return wide_fit(wide_sub(a, real_neg(b)), &beyond);
}

/*
 * Returns the inertia m of the joint plus its D, both divided by twice the mass factor.
 * dyn/kernel/drive.c defines the friction F = t (coulomb + uneven t), t = x (3 - x^2), x = qd /
 * width. Two slopes are used: dF/dx and F/x. Beyond the width F/x falls with the speed, in fixed
 * point down to an eighth. Both slopes are multiplied by the increase of x that a unit of
 * acceleration causes in half a step; this turns a torque into an inertia.
 *
 * Not inlined: its frame must not be on the stack while the dynamics run.
 */
__attribute__((noinline)) static real add_friction(const sim_arm_t *p, uint32_t i, real m) {
    const DYN_T(drive) *d = &p->arm->joint[i].drive;
    uint32_t beyond;
    const wider speed = gain_wide(d->per_width, real_clamp(p->qd[i], p->arm->joint[i].proved.qd));
    const real x = wide_clamp(speed, real_known(1), &beyond);
    const real widths = real_size(wide_fit(speed, &beyond));
    const real fall = real_recip(widths > real_known(1) ? widths : real_known(1));
    const real rest = real_sub(real_known(3), real_mul(x, x));
    const real uneven = real_mul(d->uneven, real_mul(x, rest));
    const real even = real_add(d->coulomb, uneven);
    const real steep = real_mul(real_known(3), real_sub(real_known(1), real_mul(x, x)));
    const real gained = gain_mul(p->joint[i].half.qd_qdd, real_known(1));
    const real dx = wide_fit(gain_wide(d->per_width, gained), &beyond);
    const real viscous = gain_mul(d->viscous, gained);
    real middle = fit_add(viscous, fit_mul(steep, fit_mul(dx, real_add(even, uneven))));
    real stop = fit_add(viscous, fit_mul(real_mul(rest, fall), fit_mul(dx, even)));
    middle = fit_mul(p->half_per_mass, fit_mul(p->friction, middle));
    stop = fit_mul(p->half_per_mass, fit_mul(p->friction, stop));
    stop = fit_add(stop, fit_add(stop, real_neg(real_half(m))));
    const real more = stop > middle ? stop : middle;
    return fit_add(m, more > real_known(0) ? more : real_known(0));
}

/* Defect: a joint does not move. Removes its row and column and its torque from the equations. */
static void jam(scratch_t *k, uint32_t at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (i != at)
            k->M[i > at ? i * (i + 1) / 2 + at : at * (at + 1) / 2 + i] = real_known(0);
    k->tau[at] = real_known(0);
}

/* Writes the accelerations to k->tau. */
INLINE int accelerate(const control_t *c, const sim_arm_t *p, scratch_t *k) {
    const uint32_t n = p->arm->n;
    real *row = k->M;
    for (uint32_t i = 0; i < n; i++) {
        const DYN_T(proved) *proved = &p->arm->joint[i].proved;
        const real q = gain_turn(c->joint[i].angle, p->q[i]);
        const bool prismatic = p->arm->joint[i].prismatic;
        k->q[i] = prismatic && q < proved->low    ? proved->low
                  : prismatic && q > proved->high ? proved->high
                                                  : q;
    }
    DYN(fast_bias)(p->arm, &k->fast, k->q, k->qd, k->qdd);
    DYN(fast_mass_placed)(p->arm, k->fast.link, k->M);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j <= i; j++)
            row[j] = real_half(row[j]);
        row[i] = real_add(row[i], real_mul(p->half_per_mass, p->arm->joint[i].rotor));
        row[i] = add_friction(p, i, row[i]);
        row += i + 1;
        k->tau[i] = real_sub(k->tau[i], real_half(k->qdd[i]));
    }
    if (defect_is(&p->defect, DEFECT_JAMMED))
        jam(k, defect_joint(&p->defect), n);
    if (defect_is(&p->defect, DEFECT_INERTIA))
        k->M[0] = real_known(0);
    return DYN(cholesky_mass)(p->arm, k->M, k->tau);
}

INLINE void move(sim_arm_t *p, uint32_t i, real qdd) {
    const sim_arm_joint_t *j = &p->joint[i];
    const real bend = real_twice(gain_mul(j->half.q_qdd, qdd)); /* qdd h^2 / 4 */
    const real glide = real_add(gain_mul(j->half.q_qd, p->qd[i]), bend);
    const real qd = real_add(p->qd[i], real_twice(gain_mul(j->half.qd_qdd, qdd)));
    real q = real_add(p->q[i], real_twice(glide));
    const real inside = q < j->low ? j->low : q > j->high ? j->high : q;
    p->qd[i] = inside == q ? real_clamp(qd, j->qd_max) : real_known(0);
    p->q[i] = inside;
}

void sim_arm_step(const control_t *c, sim_arm_t *p, scratch_t *k, bool braked) {
    for (uint32_t step = 0; step < p->steps && !braked; step++) {
        drive_torque(c, p, k);
        if (accelerate(c, p, k) != DYN_OK) {
            p->singular = 1;
            return;
        }
        for (uint32_t i = 0; i < p->arm->n; i++)
            move(p, i, k->tau[i]);
        if (defect_is(&p->defect, DEFECT_JAMMED))
            p->qd[defect_joint(&p->defect)] = real_known(0);
    }
    for (uint32_t i = 0; i < p->arm->n && braked; i++)
        p->qd[i] = real_known(0);
}

void sim_arm_drive(const control_t *c, sim_arm_t *p, const int32_t duty_q15[], const real tau[]) {
    for (uint32_t i = 0; i < p->arm->n; i++)
        p->input[i] = c->joint[i].motor
                          ? real_mul(p->supply, gain_count(p->joint[i].volt, duty_q15[i]))
                          : tau[i];
    for (uint32_t i = 0; i < p->arm->n; i++)
        p->open |= duty_q15[i] != 0 && defect_is(&p->defect, DEFECT_LIMP);
    if (defect_is(&p->defect, DEFECT_MOTOR))
        p->input[defect_joint(&p->defect)] = real_neg(p->input[defect_joint(&p->defect)]);
}

/* Returns a number uniformly distributed in -most .. most, from a linear congruential generator
 * (Knuth). */
INLINE int32_t noise(sim_arm_t *p, uint32_t most) {
    p->random = p->random * 1664525u + 1013904223u;
    return (int32_t)(((uint64_t)p->random * (2 * most + 1)) >> 32) - (int32_t)most;
}

void sim_arm_counts(sim_arm_t *p, int32_t counts[]) {
    for (uint32_t i = 0; i < p->arm->n; i++) {
        const real turned = real_sub(p->q[i], p->zero[i]);
        const int32_t halves = gain_whole(p->joint[i].per_q, turned);
        const uint32_t most = p->noise + defect_noise(&p->defect, i);
        const int32_t nearest = ((halves + 1) >> 1) + p->shift + noise(p, most);
        if (defect_at(&p->defect, DEFECT_LOST, i) || defect_at(&p->defect, DEFECT_PARITY, i) ||
            defect_at(&p->defect, DEFECT_STUCK, i))
            continue; /* the last reading stays */
        counts[i] = defect_reading(&p->defect, i, nearest);
    }
}

/* Returns a mask: bit i is set if the switch of joint i is closed. */
static uint32_t switches(const motion_state_t *m, const sim_arm_t *p) {
    if (m->kind != MOTION_HOME || m->as.home.kind != HOME_SWITCH)
        return 0;
    const uint32_t i = m->as.home.joint;
    const bool closed =
        m->as.home.speed > 0 ? p->q[i] >= m->as.home.position : p->q[i] <= m->as.home.position;
    return (uint32_t)closed << i;
}

app_inputs_t sim_arm_inputs(const sim_arm_t *p, const motion_state_t *m, const app_inputs_t *in) {
    const bool parity = defect_is(&p->defect, DEFECT_PARITY);
    const uint32_t bit = 1u << (defect_joint(&p->defect) & 31);
    return (app_inputs_t){.counts_valid =
                              parity || defect_is(&p->defect, DEFECT_LOST) ? ~bit : UINT32_MAX,
                          .parity = parity ? bit : 0,
                          .supply_mV = p->supply_mV,
                          .switches = switches(m, p),
                          .overrun = in->overrun || defect_is(&p->defect, DEFECT_LATE),
                          .lost = in->lost,
                          .ready = 1,
                          .latched = defect_is(&p->defect, DEFECT_ESTOP)    ? CAUSE_ESTOP
                                     : defect_is(&p->defect, DEFECT_DRIVER) ? CAUSE_DRIVER
                                                                            : 0};
}
