/*
 * The control step, stage by stage, from encoder counts to duty cycles. Pure functions of
 * constants, state and inputs, the same on board and host.
 *
 * A torque acts from this tick to the next. The feedback compares the estimate with the reference
 * at the tick. The model is evaluated in the middle of the period, which removes the lag of half a
 * tick that a constant output causes.
 *
 * Choices: With PD the feedforward is the model along the reference, so that sensor noise does not
 * pass through it. Computed torque is the model at the estimated state, with the reference
 * acceleration plus the feedback. Both take friction at the reference speed, because the estimated
 * speed changes its sign at rest. Back-EMF is taken at the estimated speed, because it depends on
 * the real one.
 */
#include "firmware/control/control.h"

#include "firmware/control/generated.h"
#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

/* Rigid links: inverse dynamics with rotors, and gravity torques. Generated code contains the
 * constants of the arm; app_load has compared them with the image. */
#ifdef GENERATED_H
INLINE void rigid_inverse(const arm *a, scratch_t *s, const real q[], const real qd[],
                          const real qdd[], real tau[]) {
    (void)a, (void)s;
    GENERATED(id)(q, qd, qdd, tau);
}

INLINE void rigid_gravity(const arm *a, scratch_t *s, const real q[], real tau[]) {
    (void)a, (void)s;
    GENERATED(gravity)(q, tau);
}
#else
#ifdef CONTROL_TWIN
const control_twin_t *control_twin;
#endif

INLINE void rigid_inverse(const arm *a, scratch_t *s, const real q[], const real qd[],
                          const real qdd[], real tau[]) {
#ifdef CONTROL_TWIN
    if (control_twin) {
        control_twin->inverse(q, qd, qdd, tau);
        return;
    }
#endif
    DYN(fast_inverse)(a, &s->fast, q, qd, qdd, tau);
    DYN(rotor_inverse)(a, qdd, tau);
}

INLINE void rigid_gravity(const arm *a, scratch_t *s, const real q[], real tau[]) {
#ifdef CONTROL_TWIN
    if (control_twin) {
        control_twin->gravity(q, tau);
        return;
    }
#endif
    DYN(fast_gravity)(a, &s->fast, q, tau);
}
#endif

#if APP_FLEX
/* Elastic links: computes the torques with the static deflection that the motion causes. Each tick
 * makes one iteration from the deflection of the last tick, from which the new one differs
 * little. */
INLINE void elastic_inverse(const control_t *c, scratch_t *k, loop_t *s, const real q[],
                            const real qd[], const real qdd[]) {
    for (uint32_t i = 0; i < c->arm->n; i++)
        s->theta[c->flex->link[i].at] = q[i];
    DYN(flex_static)(c->arm, c->flex, &k->flex, qd, qdd, NULL, 1, s->theta, s->tau_model);
}
/* Clears the deflection: that of the last motion is no useful start for the next. */
INLINE void undeflect(loop_t *s) {
    for (uint32_t k = 0; k < DYN_FLEX_MAX; k++)
        s->theta[k] = real_known(0);
}
#define ELASTIC(c) ((c)->flex != NULL)
#else
#define undeflect(s)                         ((void)(s))
#define elastic_inverse(c, k, s, q, qd, qdd) ((void)(q))
#define ELASTIC(c)                           false
#endif

/* Inverse dynamics with rotors, for rigid or elastic links. */
INLINE void control_inverse(const control_t *c, scratch_t *k, loop_t *s, const real q[],
                            const real qd[], const real qdd[]) {
    if (ELASTIC(c)) {
        elastic_inverse(c, k, s, q, qd, qdd);
        return;
    }
    rigid_inverse(c->arm, k, q, qd, qdd, s->tau_model);
}

/* Computes the gravity torques at k->q; k->qd and k->qdd must be zero. */
INLINE void control_gravity(const control_t *c, scratch_t *k, loop_t *s) {
    if (!ELASTIC(c)) {
        rigid_gravity(c->arm, k, k->q, s->tau_model);
        return;
    }
    elastic_inverse(c, k, s, k->q, k->qd, k->qdd);
}

void control_sense(const control_t *c, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        uint32_t beyond;
        wider q = wide_add(gain_count_wide(j->per_count, s->counts[i]), j->offset);
        q = wide_add(q, s->zero[i]);
        s->q[i] = wide_fit(q, &beyond);
    }
}

void control_settle(const control_t *c, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        s->q_hat[i] = s->q[i];
        s->qd_hat[i] = real_known(0);
        s->qdd_ref[i] = real_known(0);
    }
    undeflect(s);
#if APP_CONTROLS > 1
    s->fading = 0; /* there is no torque to go on from */
#endif
}

/* A tracking observer. The estimate advances with the reference acceleration of the last tick and
 * is corrected by a fraction of the measured error. Its double pole lies at exp(-w h), which
 * smooths the quantisation of the encoder; the reference acceleration avoids a lag while the arm
 * follows. */
void control_estimate(const control_t *c, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        const real bend = real_twice(gain_mul(j->half.q_qdd, s->qdd_ref[i])); /* qdd h^2 / 4 */
        const wider glide = wide_add(gain_wide(j->half.q_qd, s->qd_hat[i]), bend);
        const wider turned = gain_wide(j->half.qd_qdd, s->qdd_ref[i]);
        uint32_t beyond;
        const real q = wide_fit(wide_add(wide_add(glide, glide), s->q_hat[i]), &beyond);
        const real off = wide_fit(wide_sub(s->q[i], q), &beyond);
        const wider qd = wide_add(wide_add(turned, turned), s->qd_hat[i]);
        s->q_hat[i] = real_add(q, real_mul(c->observe, off));
        s->qd_hat[i] = wide_clamp(wide_add(qd, gain_wide(j->observe, off)), j->qd_max, &beyond);
    }
}

/* The acceleration that computed torque commands. */
INLINE real wanted(const control_joint_t *j, const loop_t *s, uint32_t i) {
    uint32_t beyond;
    const wider error = wide_add(gain_wide(j->kp, wide_sub(s->q_ref[i], s->q_hat[i])),
                                 gain_wide(j->kd, wide_sub(s->qd_ref[i], s->qd_hat[i])));
    return wide_fit(wide_add(error, s->qdd_ref[i]), &beyond);
}

INLINE uint32_t exceeds(real asked, real given, real limit) {
    return real_size(real_sub(asked, given)) > real_slack(limit);
}

/* Clamps the inputs of the model, q, qd and qdd in the scratch, to the limits for which the units
 * of fixed point were proved, even if the image states wider limits. Sets the bit of a joint in
 * `unproved` if this changes an input by more than rounding. */
INLINE void admit(const control_t *c, scratch_t *k, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const DYN_T(proved) *proved = &c->arm->joint[i].proved;
        const real q = k->q[i], qd = k->qd[i], qdd = k->qdd[i];
        if (c->arm->joint[i].prismatic)
            k->q[i] = q < proved->low ? proved->low : q > proved->high ? proved->high : q;
        k->qd[i] = real_clamp(qd, proved->qd);
        k->qdd[i] = real_clamp(qdd, proved->qdd);
        s->unproved |= (exceeds(q, k->q[i], proved->high) | exceeds(qd, k->qd[i], proved->qd) |
                        exceeds(qdd, k->qdd[i], proved->qdd))
                       << i;
    }
}

INLINE void model_at_state(const control_t *c, scratch_t *k, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        k->q[i] = gain_turn(c->joint[i].angle, s->q_hat[i]);
        k->qd[i] = s->qd_hat[i];
        k->qdd[i] = wanted(&c->joint[i], s, i);
    }
    admit(c, k, s);
    control_inverse(c, k, s, k->q, k->qd, k->qdd);
    for (uint32_t i = 0; i < c->arm->n; i++)
        k->qd[i] = real_clamp(s->qd_mid[i], c->arm->joint[i].proved.qd);
    DYN(friction)(c->arm, k->qd, s->tau_model);
}

INLINE void model_along_reference(const control_t *c, scratch_t *k, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        k->qd[i] = s->qd_mid[i];
        k->qdd[i] = s->qdd_ref[i];
    }
    admit(c, k, s);
    control_inverse(c, k, s, k->q, k->qd, k->qdd);
    DYN(friction)(c->arm, k->qd, s->tau_model);
}

INLINE void model_at_rest(const control_t *c, scratch_t *k, loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++)
        k->qd[i] = k->qdd[i] = real_known(0);
    admit(c, k, s);
    control_gravity(c, k, s);
}

void control_dynamics(const control_t *c, scratch_t *k, loop_t *s) {
    s->unproved = 0;
    if (c->feedback == FEEDBACK_COMPUTED_TORQUE) {
        model_at_state(c, k, s);
        return;
    }
    for (uint32_t i = 0; i < c->arm->n; i++)
        k->q[i] = gain_turn(c->joint[i].angle, s->q_mid[i]);
    if (c->feedforward == FEEDFORWARD_FULL)
        model_along_reference(c, k, s);
    else if (c->feedforward == FEEDFORWARD_GRAVITY)
        model_at_rest(c, k, s);
    else
        for (uint32_t i = 0; i < c->arm->n; i++)
            s->tau_model[i] = real_known(0);
}

#if APP_CONTROLS > 1
/* New gains, payload or feedforward must not make the torque jump: it goes on from the old one. */
INLINE wider faded(const control_t *c, loop_t *s, uint32_t i, wider tau) {
    uint32_t beyond;
    if (s->fading == c->fade_ticks)
        s->bump[i] = wide_fit(wide_sub((wider)s->tau[i], tau), &beyond);
    else
        s->bump[i] = real_mul(s->bump[i], c->fade);
    return wide_add(tau, s->bump[i]);
}
#define FADED(s) ((s)->fading -= (s)->fading > 0)
#else
#define faded(c, s, i, tau) (tau)
#define FADED(s)            ((void)(s))
#endif

/* Adds the feedback with PD only: with computed torque the model already contains it. */
void control_feedback(const control_t *c, loop_t *s) {
    const bool pd = c->feedback == FEEDBACK_PD;
    s->limited = 0;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        uint32_t beyond;
        wider tau = s->tau_model[i];
        if (pd) {
            tau = wide_add(tau, gain_wide(j->kp, wide_sub(s->q_ref[i], s->q_hat[i])));
            tau = wide_add(tau, gain_wide(j->kd, wide_sub(s->qd_ref[i], s->qd_hat[i])));
        }
        if (loop_fades(s))
            tau = faded(c, s, i, tau);
        s->tau[i] = wide_clamp(tau, j->tau_max, &beyond);
        s->limited |= beyond << i;
    }
    FADED(s);
    s->clipped = s->limited;
}

void control_drive(const control_t *c, int32_t supply_mV, loop_t *s, int32_t duty_q15[]) {
    real inverse = real_known(1); /* nominal supply divided by the measured one */
    if (supply_mV > 0)
        inverse = real_recip(gain_count(c->supply_per_mV, supply_mV));
    s->limited |= DYN(voltage)(c->arm, s->qd_hat, s->tau, s->volt);
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        const real duty = j->motor ? real_mul(gain_mul(j->duty, s->volt[i]), inverse)
                                   : gain_mul(j->duty, s->tau[i]);
        s->limited |= (uint32_t)(real_size(duty) > real_known(1)) << i;
        duty_q15[i] = real_q15(real_clamp(duty, real_known(1)));
    }
}
