/* Chooses a stop from model and pose. The loop may hold the arm if gravity takes no more than the
 * torques that the motors can give for ever, and lower the arm if gravity takes no more than the
 * torque limits; limits_scale lowers both. Otherwise shorted windings damp the arm if every joint has a motor; if not,
 * the arm is released. Without feedback the arm is neither held nor lowered. The caller gives the
 * best stop that the fault allows: after a lost encoder it is one that needs no encoder. */
#include "firmware/safety/stop.h"

#include "firmware/params/parameters.h"
#include "firmware/safety/within.h"

/* Writes the gravity torques to k->tau. */
static void gravity(const control_t *c, scratch_t *k, const real at[]) {
    for (uint32_t i = 0; i < c->arm->n; i++)
        k->q[i] = placed(c, i, at[i]);
    DYN(fast_gravity)(c->arm, &k->fast, k->q, k->tau);
}

uint32_t stop_weak(const control_t *c, scratch_t *k, const real q[], bool lasting) {
    gravity(c, k, q);
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        if (real_size(k->tau[i]) > (lasting ? real_mul(c->scale, j->lasting) : j->tau_max))
            return i;
    }
    return APP_NO_JOINT;
}

uint32_t stop_choose(const control_t *c, scratch_t *k, const loop_t *s, uint32_t best) {
    uint32_t stop = best;
    if (stop <= APP_STOP_LOWER && c->feedback == FEEDBACK_OFF)
        stop = APP_STOP_DAMP;
    if (stop == APP_STOP_HOLD && stop_weak(c, k, s->q_hat, true) != APP_NO_JOINT)
        stop = APP_STOP_LOWER;
    if (stop == APP_STOP_LOWER && stop_weak(c, k, s->q_hat, false) != APP_NO_JOINT)
        stop = APP_STOP_DAMP;
    if (stop == APP_STOP_DAMP && !c->damping)
        stop = APP_STOP_RELEASE;
    return stop;
}

/* Joints with small torques stand still, because near its balance a joint would move to and fro.
 * The whole jog is written in every tick, because the background may be filling the same memory
 * with a motion that it will not start. */
void stop_lower(const control_t *c, scratch_t *k, const loop_t *s, motion_state_t *m) {
    m->kind = MOTION_JOG;
    m->count = 0;
    m->last = UINT32_MAX;
    gravity(c, k, s->q_hat);
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        const real small = sixteenth(sixteenth(j->tau_max));
        m->as.jog.target[i] = k->tau[i] > small             ? real_neg(j->sink)
                              : real_neg(k->tau[i]) > small ? j->sink
                                                            : real_known(0);
    }
}
