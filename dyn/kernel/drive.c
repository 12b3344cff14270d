/*
 * Rotors, friction and motors: the terms that a joint adds to the dynamics of the rigid links. N.
 * M. Swartz, "Arm Dynamics Simulation" (1982): the viscous friction of (10), the motors of (11) and
 * (12).
 *
 * Rotors. A rotor turns N times as fast as its joint, so the joint feels N^2 times its inertia.
 * rotor_mass adds that to the diagonal of the inertia matrix; rotor_inverse adds it, times the
 * acceleration, to the torque. The gyroscopic coupling with the rotation of the links is neglected,
 * as usual.
 *
 * Friction. tau += viscous qd + F(qd). F is Coulomb's friction with the corner at rest made smooth:
 * with x = qd / width, clamped to -1 .. 1, and s = x (3 - x^2) / 2, which has no kink where it
 * meets -1 and 1,
 *
 *     F = s ((P - N) / 2 + (P + N) / 2 s)
 *
 * with P >= 0 and N <= 0 the friction at positive and negative speed. Beyond the width s is exactly
 * the sign of the speed and F is P or N; F(0) = 0; F never drives the joint, and it grows with the
 * speed if P and -N differ by a factor of less than 3. The code computes t = 2 s; the constants
 * contain the missing factors 1/2 and 1/4.
 *
 * Motors. With a gear N (motor turns per joint turn, its sign included) and tau at the joint:
 *     V = R / (N Kt) tau + Kt N qd        (11)
 *     tau = N Kt / R (V - Kt N qd)        (12)
 * tau is the whole torque of the motor at the joint. For (11) it contains the torque of the links
 * and those that rotor_inverse and friction add; the torque from (12) also accelerates the rotor in
 * forward dynamics. V is clamped to the supply. Bit i of the return value is set if that changed
 * the voltage of joint i (for (12) in q31 also if the torque is beyond the number format). A joint
 * without a motor, a torque constant or a resistance gets no voltage and gives no torque.
 *
 * Different from the paper: gear, saturation, Coulomb friction.
 * Operations for n joints (test_dyn_drive): rotor_inverse n M, n A; rotor_mass n A, which the
 * backend `count` leaves out; friction 6n M, 4n A; voltage 2n M, n A; motor_torque 2n M, n A. No
 * scratch. q31: speeds, accelerations and torques in the units of dyn_q31_exponents, volts in
 * 2^voltage V.
 */
#include "dyn/number/real.h"

#include "dyn/number/gain.h"

void DYN(rotor_inverse)(const arm *a, const real qdd[], real tau[]) {
    for (uint32_t i = 0; i < a->n; i++) {
        const real rotor = a->joint[i].rotor;
        NAMED(i, rotor);
        tau[i] = real_add(tau[i], real_mul(rotor, qdd[i]));
        NAMED(i, tau[i]);
    }
}

void DYN(rotor_mass)(const arm *a, real M[]) {
    for (uint32_t i = 0; i < a->n; i++) {
        real *const diagonal = &M[i * (i + 3) / 2];
        *diagonal = add_rotor(&a->joint[i], *diagonal);
        NAMED(i, M[i * (i + 3) / 2]);
    }
}

void DYN(friction)(const arm *a, const real qd[], real tau[]) {
    for (uint32_t i = 0; i < a->n; i++) {
        const drive *d = &a->joint[i].drive;
        uint32_t beyond;
        const real x = wide_clamp(gain_wide(d->per_width, qd[i]), real_known(1), &beyond);
        const real t = real_mul(x, real_sub(real_known(3), real_mul(x, x)));
        const real coulomb = real_mul(t, real_add(d->coulomb, real_mul(d->uneven, t)));
        const real viscous = gain_mul(d->viscous, qd[i]);
        tau[i] = real_add(tau[i], real_add(coulomb, viscous));
        NAMED(i, viscous);
        NAMED(i, tau[i]);
    }
}

uint32_t DYN(voltage)(const arm *a, const real qd[], const real tau[], real volt[]) {
    uint32_t saturated = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const drive *d = &a->joint[i].drive;
        uint32_t beyond;
        const wider v = wide_add(gain_wide(d->volt_tau, tau[i]), gain_wide(d->volt_qd, qd[i]));
        volt[i] = wide_clamp(v, d->volt_max, &beyond); /* (11) */
        saturated |= beyond << i;
    }
    return saturated;
}

uint32_t DYN(motor_torque)(const arm *a, const real qd[], const real volt[], real tau[]) {
    uint32_t saturated = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const drive *d = &a->joint[i].drive;
        uint32_t beyond, unfit;
        const real v = wide_clamp(volt[i], d->volt_max, &beyond);
        tau[i] = wide_fit(wide_add(gain_wide(d->tau_volt, v), gain_wide(d->tau_qd, qd[i])),
                          &unfit); /* (12); tau_qd is negative */
        saturated |= (beyond | unfit) << i;
    }
    return saturated;
}
