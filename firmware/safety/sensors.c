/*
 * Sensor guard: encoders that jump, are noisy, lose bits or are stuck. SENSORS.md derives the
 * limits. All of it works on counts, whole numbers, so it is the same in every number type.
 *
 * Jump, in every tick: a reading that is farther from the last one than the speed before and a
 * tick of the strongest acceleration allow. To lose speed takes no more than an obstacle; only
 * speed that was gained tells of a jump.
 *
 * The other checks take turns, one joint in a tick, because they last longer than n ticks:
 * Noise: the mean change of the step, against the amplitude that turns a quarter of the torque
 * limit into noise.
 * Bits: steps that differ and are all multiples of a power of two.
 * Stuck: the feedback has changed by more than friction can hold back, and the reading has not
 * changed by a single count.
 */
#include "firmware/safety/sensors.h"

#include <math.h>
#include <string.h>

#include "firmware/params/parameters.h"
#include "firmware/safety/guard.h"
#include "firmware/safety/within.h"

#define QUIET_COUNTS     2    /* noise of a good encoder */
#define GAIN_PART        0.25 /* speed gained in a tick, as a part of the velocity limit */
#define STRONGEST        4 /* acceleration while the loop corrects, divided by the acceleration limit */
#define NOISE_PART       0.25  /* torque that noise may cause, as a part of the torque limit */
#define NOISE_LEAST      4     /* counts: twice the noise of a good encoder */
#define NOISE_BEND       1.25  /* mean change of the step, divided by the amplitude of the noise */
#define STUCK_PART       0.125 /* torque beyond friction that must move a joint, like NOISE_PART */
#define NEVER            1e30
#define STUCK_S          0.02    /* s in which it must */
#define LOAD_PART        0.03125 /* torque beside the model that is told, beyond friction */
#define STANDARD_GRAVITY 9.81
#define REACH_LEAST_M    0.05 /* a joint whose axis meets the tool tells little of a mass there */
enum { MEAN = 16, COARSE_TURNS = 32, BEND_MOST = UINT16_MAX / MEAN };

static const finding_t nothing = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};

INLINE int32_t magnitude(int32_t counts) {
    return counts < 0 ? -counts : counts;
}

INLINE finding_t found(uint32_t fault, uint32_t at, int32_t value, int32_t limit) {
    return (finding_t){fault, at, (real)value, (real)limit};
}

/* Notes all readings; returns a joint whose reading jumped, or APP_NO_JOINT. The gained speed is
 * computed only if the step has changed by more than its limit. */
INLINE uint32_t jumped(const control_t *c, sensors_t *v, const loop_t *s, int32_t *gained) {
    uint32_t out = APP_NO_JOINT;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const uint16_t counts = (uint16_t)s->counts[i];
        const int32_t step = (int16_t)(uint16_t)(counts - v->counts[i]), before = v->step[i];
        const uint32_t most = c->joint[i].jump;
        v->counts[i] = counts;
        v->step[i] = (int16_t)step;
        if ((uint32_t)(step - before) + most <= 2 * most ||
            magnitude(step) - magnitude(before) <= (int32_t)most)
            continue;
        *gained = magnitude(step) - magnitude(before);
        out = i;
    }
    return out;
}

#if APP_SENSORS
INLINE bool noisy(const control_joint_t *j, sensors_t *v, uint32_t i, int32_t bend) {
    const int32_t size = magnitude(bend) < BEND_MOST ? magnitude(bend) : BEND_MOST;
    v->noise[i] = (uint16_t)(v->noise[i] + size - v->noise[i] / MEAN);
    return v->noise[i] > j->noise;
}

INLINE bool coarse(const control_joint_t *j, sensors_t *v, uint32_t i, int32_t before) {
    if ((v->step[i] | before) & j->low_bits)
        v->coarse[i] = 0;
    else if (v->step[i] != before)
        v->coarse[i]++;
    return v->coarse[i] > COARSE_TURNS;
}

/* While the torque fades after a change of the constants, the feedback says nothing, and what homing
 * presses against is a stop. At the torque limit the feedback of computed torque goes on growing
 * without effect; then the judgement before counts. */
INLINE bool stuck(const control_t *c, sensors_t *v, const loop_t *s, uint32_t i) {
    const real push = feedback(c, s, i);
    if (v->place[i] != v->counts[i] || (s->pressing >> i & 1) || loop_fades(s)) {
        v->place[i] = v->counts[i];
        v->push[i] = push;
        v->frozen[i] = 0;
    }
    const bool mute = c->feedback == FEEDBACK_COMPUTED_TORQUE && (s->clipped >> i & 1);
    const bool pushed =
        mute ? v->frozen[i] > 0 : real_size(real_sub(push, v->push[i])) > c->joint[i].stuck;
    v->frozen[i] = (uint8_t)(pushed ? v->frozen[i] + 1 : 0);
    return v->frozen[i] > c->stuck_turns;
}

/* The checks of the joint whose turn it is. `before` is its step in the last tick. */
INLINE finding_t take_turn(const control_t *c, sensors_t *v, const loop_t *s, uint32_t i,
                           int32_t before) {
    const control_joint_t *j = &c->joint[i];
    if (noisy(j, v, i, v->step[i] - before))
        return found(APP_FAULT_ENCODER_NOISE, i, v->noise[i] / MEAN, j->noise / MEAN);
    if (coarse(j, v, i, before))
        return found(APP_FAULT_STUCK, i, v->coarse[i], COARSE_TURNS);
    if (stuck(c, v, s, i))
        return found(APP_FAULT_STUCK, i, v->frozen[i], c->stuck_turns);
    return nothing;
}

static void forget(sensors_t *v) {
    memset(v->noise, 0, sizeof v->noise);
    memset(v->coarse, 0, sizeof v->coarse);
    memset(v->frozen, 0, sizeof v->frozen);
}
#else
#define take_turn(c, v, s, i, before) ((void)(before), nothing)
#define forget(v)                     ((void)(v))
#endif

finding_t sensors_guard(const control_t *c, sensors_t *v, const loop_t *s) {
    const uint32_t i = v->turn;
    const int32_t before = v->step[i];
    int32_t gained = 0;
    const uint32_t at = jumped(c, v, s, &gained);
    v->turn = (uint8_t)(i + 1 < c->arm->n ? i + 1 : 0);
    if (v->fresh > 0) {
        v->fresh--;
        return nothing;
    }
    if (at != APP_NO_JOINT)
        return found(APP_FAULT_ENCODER_NOISE, at, gained, c->joint[at].jump);
    return take_turn(c, v, s, i, before);
}

void sensors_start(sensors_t *v) {
    forget(v);
    v->fresh = 2;
}

static uint16_t counts_of(double counts) {
    return (uint16_t)fmin(ceil(counts), UINT16_MAX);
}

#if APP_SENSORS
/* Returns the torque that a reading causes which is off by a rad or a metre: that of the feedback
 * after one step of the observer. The gains of computed torque are accelerations; the rotor is the
 * least inertia that they can be for. */
static double stiffness(const setup_t *from, uint32_t i, double rotor) {
    const float *t = from->parameter;
    const double pole = setup_observer_pole(from), w = TURN * (double)t[PARAMETER_torque_hz];
    const bool torque = t[PARAMETER_feedback] == FEEDBACK_COMPUTED_TORQUE;
    const double kp = torque ? rotor * w * w : (double)from->joint[i].kp;
    const double kd = torque ? rotor * 2 * w : (double)from->joint[i].kd;
    return kp * (1 - pole * pole) + kd * (1 - pole) * (1 - pole) * (double)t[PARAMETER_rate_hz];
}

/* Returns the Coulomb friction in the direction where it is larger. */
static double coulomb_of(const setup_t *from, uint32_t i) {
    const drive_t *d = &from->arm->joint[i].drive;
    const int e = setup_exponents(from, i).tau;
    return 2 * real_to_model(d->coulomb, e) + 4 * fabs(real_to_model(d->uneven, e));
}

/* Returns the change of the feedback that must move the joint. Friction may be half as large again
 * as in the model, and it may have to change its direction. If the model is fed forward, it
 * contributes the change of its own friction. */
static double must_move(const setup_t *from, uint32_t i, double most) {
    const bool fed = from->parameter[PARAMETER_feedback] == FEEDBACK_COMPUTED_TORQUE ||
                     from->parameter[PARAMETER_feedforward] == FEEDFORWARD_FULL;
    return (fed ? 1 : 3) * coulomb_of(from, i) + STUCK_PART * most;
}

/* Sets the limits of the turns. `bend` is the change of the step that the strongest acceleration
 * makes, counts. */
static void turn_setup(const setup_t *from, uint32_t i, double bend, control_joint_t *out) {
    const settings_t *s = &from->joint[i];
    const exponents_t e = setup_exponents(from, i);
    const float *t = from->parameter;
    const bool torque = t[PARAMETER_feedback] == FEEDBACK_COMPUTED_TORQUE;
    const double most = (double)s->torque * (double)t[PARAMETER_limits_scale];
    const double rotor = real_to_model(from->arm->joint[i].rotor, e.tau - e.a);
    const double per_count = stiffness(from, i, rotor) * fabs(setup_count(s));
    const double noise =
        most > 0 && per_count > 0 ? fmax(NOISE_PART * most / per_count, NOISE_LEAST) : UINT16_MAX;
    out->noise = counts_of(MEAN * (NOISE_BEND * noise + bend));
    for (out->low_bits = 7; out->low_bits < noise && out->low_bits < UINT8_MAX;)
        out->low_bits = (uint8_t)(2 * out->low_bits + 1);
    /* Without a torque limit or, in computed torque, a rotor, no feedback is known to move the
     * joint. */
    const double push = most > 0 && (rotor > 0 || !torque) ? must_move(from, i, most) : NEVER;
    out->stuck =
        torque ? setup_bound(push / fmax(rotor, 1e-9) / 16, e.a) : setup_bound(push / 16, e.tau);
}
/* With computed torque the model contains the feedback, so its share is not known without another
 * inverse dynamics; without gravity in the model the feedback carries it all. */
residual_t sensors_residual(const setup_t *from, const loop_t *loop) {
    residual_t out = {.joint = APP_NO_JOINT};
    const float *t = from->parameter;
    if (t[PARAMETER_feedback] != FEEDBACK_PD || t[PARAMETER_feedforward] == FEEDFORWARD_OFF)
        return out;
    for (uint32_t i = 0; i < from->n; i++) {
        const settings_t *s = &from->joint[i];
        const int e = setup_exponents(from, i).tau;
        const double beside = real_to_model(loop->tau[i], e) - real_to_model(loop->tau_model[i], e);
        const double reach = s->prismatic ? 1 : fmax((double)setup_reach(from, i), REACH_LEAST_M);
        const double mass = fabs(beside) / (STANDARD_GRAVITY * reach);
        const double known = coulomb_of(from, i) + LOAD_PART * (double)s->torque;
        if (s->torque > 0 && fabs(beside) > known && mass > (double)out.mass)
            out = (residual_t){i, (float)beside, (float)mass};
    }
    return out;
}
#else
residual_t sensors_residual(const setup_t *from, const loop_t *loop) {
    (void)from, (void)loop;
    return (residual_t){.joint = APP_NO_JOINT};
}
#define turn_setup(from, i, bend, out) ((void)0)
#endif

void sensors_setup(const setup_t *from, control_t *out) {
    const double rate = (double)from->parameter[PARAMETER_rate_hz];
    for (uint32_t i = 0; i < from->n; i++) {
        const settings_t *s = &from->joint[i];
        const double per_tick = 1 / (rate * fabs(setup_count(s)));
        const double bend = STRONGEST * (double)s->acceleration * per_tick / rate;
        out->joint[i].jump =
            counts_of(GAIN_PART * (double)s->velocity * per_tick + bend + 4 * QUIET_COUNTS + 2);
        turn_setup(from, i, bend, &out->joint[i]);
    }
    out->stuck_turns = (uint8_t)fmin(ceil(STUCK_S * rate / from->n), UINT8_MAX - 1);
}
