/* Part of test/support/supervisor_model.h: robots, motions and the requests that end them. */
#include "test/support/supervisor_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool model_judge(supervisor_model_t *m, const char *request, reasons_t against, int result) {
    const uint32_t bit = result == APP_OK ? 0 : result <= -31 ? 1u << 31 : 1u << -result;
    if (result == APP_OK && against.hard != 0)
        return COMPLAIN(m, "%s was accepted in state %u; reasons against it: %#x", request,
                        (unsigned)m->state, (unsigned)against.hard);
    if (result != APP_OK && !(bit & (against.hard | against.soft)))
        return COMPLAIN(m, "%s was refused with %d in state %u; reasons against it: %#x", request,
                        result, (unsigned)m->state, (unsigned)(against.hard | against.soft));
    return true;
}

/* Whether the last tick has left the outputs on. */
bool model_outputs_on(const supervisor_model_t *m) {
    return m->seen.enable;
}

bool model_at_rest(const supervisor_model_t *m, const model_seen_t *seen) {
    for (uint32_t i = 0; i < m->image.n; i++)
        if (seen->qd_ref[i] != 0)
            return false;
    return true;
}

/* The motion that has not begun, and the stream that leads one, are forgotten. */
void model_discard(supervisor_model_t *m) {
    m->closing = m->kind_waits = m->stream = m->stream_waits = m->homing = false;
}

bool model_told(supervisor_model_t *m, const model_seen_t *told) {
    if (told->state != m->state || told->fault != m->fault)
        return COMPLAIN(m, "after a request: state %u, fault %u instead of %u, %u",
                        (unsigned)told->state, (unsigned)told->fault, (unsigned)m->state,
                        (unsigned)m->fault);
    if (m->state == FAULTED && told->stop != m->stop)
        return COMPLAIN(m, "after a request: stop %u instead of %u", (unsigned)told->stop,
                        (unsigned)m->stop);
    memcpy(m->seen.q, told->q, sizeof m->seen.q);
    memcpy(m->seen.q_ref, told->q_ref, sizeof m->seen.q_ref);
    m->seen.busy = told->busy;
    m->seen.unhomed = told->unhomed;
    return true;
}

/* --------------------------------------------------------------------------------------- robot */

static void give(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float value) {
    m->value[parameter][joint] = (model_value_t){value, value, FREE};
}

/* What the robot file says becomes the parameter; its silence about brakes, too. */
void model_take_image(supervisor_model_t *m, const image_t *image) {
    m->image = *image;
    give(m, PARAMETER_rate_hz, 0, image->arm.rate_hz[0]);
    if (image->has & IMAGE_HAS_FEEDBACK)
        give(m, PARAMETER_feedback, 0, (float)image->feedback);
    if (model_real(m) && model_now(m, PARAMETER_feedback, 0) == FEEDBACK_OFF)
        give(m, PARAMETER_feedback, 0, FEEDBACK_PD);
    give(m, PARAMETER_payload_mass, 0, image->arm.payload_mass[0]);
    for (uint32_t k = 0; k < 3; k++)
        give(m, PARAMETER_payload_x + k, 0, image->arm.payload_com[k]);
    const bool stated = image->has & IMAGE_HAS_BRAKES, brakes = image->has & IMAGE_BRAKES;
    give(m, PARAMETER_brakes, 0, stated ? (float)brakes : -1);
    for (uint32_t i = 0; i < image->n; i++) {
        const image_joint_t *j = &image->joint[i];
        give(m, PARAMETER_kp, i, j->kp[0]);
        give(m, PARAMETER_kd, i, j->kd[0]);
        give(m, PARAMETER_encoder_offset, i, j->offset[0]);
        give(m, PARAMETER_encoder_sign, i, j->sign[0]);
        give(m, PARAMETER_encoder_ratio, i, j->ratio[0]);
        give(m, PARAMETER_position_lower, i, j->position[0]);
        give(m, PARAMETER_position_upper, i, j->position[1]);
        give(m, PARAMETER_home, i, image->home_how[i]);
        give(m, PARAMETER_home_position, i, image->home_position[i]);
    }
}

/* A refused image changes nothing but the reading of the encoders and the heat, which nobody knows:
 * the previous robot is loaded again, with its parameters. */
bool model_load(supervisor_model_t *m, const image_t *image, uint32_t robot, bool good,
                int result) {
    reasons_t against = {0, 0};
    if (model_outputs_on(m) || m->closing)
        against.hard |= REASON(APP_E_STATE);
    else if (m->stream_waits || m->leaving || m->dropped)
        against.soft |= REASON(APP_E_STATE);
    if (m->lease > 0)
        against.hard |= REASON(APP_E_LEASE);
    if (!good)
        against.hard |= 1u << 31;
    if (!model_judge(m, "load", against, result))
        return false;
    if (result == APP_E_STATE || result == APP_E_LEASE)
        return true;
    model_discard(m);
    m->since_switch = m->read = 0;
    m->warmed = false;
    model_overrides_end(m, false);
    if (!good) {
        model_reach(m, EVENT_REFUSED, m->state);
        return true;
    }
    model_take_image(m, image);
    m->loaded = m->sent = true;
    m->robot = robot;
    model_cap_lease(m);
    model_reach(m, EVENT_LOADED, m->state == FAULTED ? FAULTED : IDLE);
    return true;
}

/* -------------------------------------------------------------------------------------- motion */

typedef struct {
    double velocity, acceleration, torque, lower, upper;
    bool limited;
} limits_t;

static limits_t limits_of(const supervisor_model_t *m, uint32_t i) {
    const image_joint_t *j = &m->image.joint[i];
    const double scale = (double)model_now(m, PARAMETER_limits_scale, 0);
    const double v = (double)(j->velocity[0] > 0 ? j->velocity[0] : IMAGE_VELOCITY_DEFAULT);
    const double a =
        j->acceleration[0] > 0 ? (double)j->acceleration[0] : v / (double)IMAGE_RISE_DEFAULT_S;
    const double lower = (double)model_now(m, PARAMETER_position_lower, i),
                 upper = (double)model_now(m, PARAMETER_position_upper, i);
    return (limits_t){v * scale, a, (double)j->torque[0] * scale, lower, upper, lower < upper};
}

/* Speed and acceleration that the way d in the time T needs at least, and at most with any
 * profile of this kind. */
static void against_profile(uint32_t kind, double d, double T, const limits_t *l,
                            reasons_t *against) {
    static const double speed[2][3] = {{1.875, 2, 1}, {1.875, 2, 2}};
    static const double bend[2][3] = {{5.7735, 6.2832, 4}, {5.7735, 6.2832, 1e9}};
    const uint32_t both = REASON(APP_E_VELOCITY) | REASON(APP_E_ACCELERATION);
    const uint32_t k = kind - MOTION_QUINTIC;
    if (speed[0][k] * d / T > 1.03 * l->velocity || bend[0][k] * d / T / T > 1.03 * l->acceleration)
        against->hard |= both;
    else if (speed[1][k] * d / T > 0.97 * l->velocity ||
             bend[1][k] * d / T / T > 0.97 * l->acceleration)
        against->soft |= both;
}

static void against_target(const supervisor_model_t *m, const motion_t *motion,
                           reasons_t *against) {
    const double *from = m->state == IDLE ? m->seen.q : m->seen.q_ref;
    const double T = (double)motion->duration_s,
                 tick = 1 / (double)model_now(m, PARAMETER_rate_hz, 0);
    double far = 0;
    for (uint32_t i = 0; i < m->image.n; i++) {
        const limits_t l = limits_of(m, i);
        const double to = (double)motion->value[i], d = fabs(to - from[i]);
        far = fmax(far, d);
        if (l.limited && (to < l.lower - 1e-5 || to > l.upper + 1e-5))
            against->hard |= REASON(APP_E_POSITION);
        else if (l.limited && (to < l.lower + 1e-5 || to > l.upper - 1e-5))
            against->soft |= REASON(APP_E_POSITION);
        if (T > 0 && d > 1e-6)
            against_profile(motion->kind, d, T, &l, against);
    }
    if (T < 0)
        against->hard |= REASON(APP_E_TIME) | REASON(APP_E_NUMBER);
    if (far < 1e-4 || (T > 0 && T < 5 * tick) || T > 60)
        against->soft |= REASON(APP_E_TIME);
}

static void against_jog(const supervisor_model_t *m, const motion_t *motion, reasons_t *against) {
    double speed[MODEL_JOINTS];
    for (uint32_t i = 0; i < m->image.n; i++)
        speed[i] = (double)motion->value[i];
    const double tool = model_tool_speed(m, speed) / (double)model_now(m, PARAMETER_tool_speed, 0);
    if (tool > 1 + 1e-5)
        against->hard |= REASON(APP_E_TOOL_SPEED);
    else if (tool > 1 - 1e-5)
        against->soft |= REASON(APP_E_TOOL_SPEED);
    for (uint32_t i = 0; i < m->image.n; i++) {
        const limits_t l = limits_of(m, i);
        const double v = fabs((double)motion->value[i]);
        if (v > l.velocity * (1 + 1e-6))
            against->hard |= REASON(APP_E_VELOCITY);
        else if (v > l.velocity * (1 - 1e-6))
            against->soft |= REASON(APP_E_VELOCITY);
    }
}

static void against_home(const supervisor_model_t *m, const motion_t *motion, reasons_t *against) {
    uint32_t joints = 0, joint = 0;
    for (uint32_t i = 0; i < m->image.n; i++)
        if (motion->value[i] != 0) {
            joints++;
            joint = i;
        }
    if (joints != 1) {
        against->hard |= REASON(APP_E_SEEK) | REASON(APP_E_NUMBER) | REASON(APP_E_KIND);
        return;
    }
    const float how = model_now(m, PARAMETER_home, joint);
    if (how == 0 || (fabsf(how) == HOME_STOP && m->image.joint[joint].torque[0] == 0) ||
        (fabsf(how) == HOME_SWITCH && model_real(m) && !(m->board->switches >> joint & 1)))
        against->hard |= REASON(APP_E_SEEK);
}

/* The states in which a motion may begin. */
static void against_state(const supervisor_model_t *m, uint32_t kind, reasons_t *against) {
    const bool jogs = kind == MOTION_JOG && m->kind == MOTION_JOG;
    const uint32_t state = REASON(APP_E_STATE);
    if (m->state == IDLE || m->state == DAMPING) {
        if (m->state == DAMPING && kind != MOTION_HOLD)
            against->hard |= state;
        if (m->closing && m->kind != MOTION_HOLD && !jogs)
            against->hard |= state;
        if (m->leaving || m->stopping || m->stream_waits || m->dropped)
            against->soft |= state;
    } else if (m->state == RUNNING) {
        if (m->stopping || m->leaving)
            against->hard |= state;
        if (m->seen.busy && !jogs)
            against->hard |= state;
        /* A jog that already brakes after its time-out is not replaced for sure. */
        if (m->seen.busy && m->at_request >= (uint32_t)(model_now(m, PARAMETER_jog_timeout_s, 0) *
                                                        model_now(m, PARAMETER_rate_hz, 0)) -
                                                 1)
            against->soft |= state;
    } else
        against->hard |= state;
}

/* What the real arm needs, and every arm whose loop is still open. */
static void against_start(const supervisor_model_t *m, reasons_t *against) {
    const bool open = m->state == IDLE;
    double payload[4];
    bool unsure = false;
    if (open || m->state == DAMPING) {
        model_payload(m, payload);
        const double share = model_load_share(m, m->seen.q, payload);
        if (share > 1.02 && open && m->seen.unhomed == 0)
            against->hard |= REASON(APP_E_WEAK);
        else if (share > 0.98)
            against->soft |= REASON(APP_E_WEAK);
    }
    if (!model_real(m))
        return;
    const bool fits = model_fit(m, false, &unsure) == 0;
    if (!fits && open)
        against->hard |= REASON(APP_E_FIT);
    if (!fits || unsure)
        against->soft |= REASON(APP_E_FIT);
    const bool unread = m->since_switch < 2 || m->read != (1u << m->image.n) - 1;
    if (unread && open)
        against->hard |= REASON(APP_E_UNREAD);
    if (m->since_switch < 4)
        against->soft |= REASON(APP_E_UNREAD);
}

/* The numbers that the kind of motion uses. */
static bool finite_motion(const supervisor_model_t *m, const motion_t *motion) {
    const bool values = motion->kind >= MOTION_QUINTIC && motion->kind != MOTION_POINTS &&
                        motion->kind != MOTION_HOME,
               time = motion->kind >= MOTION_QUINTIC && motion->kind <= MOTION_POINTS;
    bool finite = !time || isfinite(motion->duration_s);
    for (uint32_t i = 0; values && i < m->image.n; i++)
        finite = finite && isfinite(motion->value[i]);
    return finite;
}

static reasons_t against_motion(supervisor_model_t *m, uint32_t token, const motion_t *motion) {
    reasons_t against = model_may(m, token, true);
    against.soft |= REASON(APP_E_NUMBER);
    const bool finite = finite_motion(m, motion);
    if (motion->duration_s >= 0 && isfinite(motion->duration_s) && isfinite(motion->value[0]) &&
        isfinite(motion->value[1]))
        against.soft = 0;
    if (motion->kind >= MOTIONS)
        against.hard |= REASON(APP_E_KIND);
    if (!finite) { /* another joint may be refused first */
        against.hard |= REASON(APP_E_NUMBER) | REASON(APP_E_TIME);
        against.soft |= REASON(APP_E_POSITION) | REASON(APP_E_VELOCITY) |
                        REASON(APP_E_ACCELERATION) | REASON(APP_E_TOOL_SPEED);
    }
    against_state(m, motion->kind, &against);
    if (!m->loaded || motion->kind >= MOTIONS)
        return against;
    against_start(m, &against);
    if (m->seen.unhomed != 0 && motion->kind != MOTION_HOLD && motion->kind != MOTION_HOME)
        against.hard |= REASON(APP_E_HOME);
    if (!finite)
        return against;
    if (motion->kind >= MOTION_QUINTIC && motion->kind <= MOTION_TRAPEZOID)
        against_target(m, motion, &against);
    if (motion->kind == MOTION_JOG)
        against_jog(m, motion, &against);
    if (motion->kind == MOTION_HOME)
        against_home(m, motion, &against);
    if (motion->kind == MOTION_POINTS && motion->duration_s <= 0)
        against.hard |= REASON(APP_E_TIME) | REASON(APP_E_NUMBER);
    else if (motion->kind == MOTION_POINTS)
        against.soft |= REASON(APP_E_TIME);
    return against;
}

bool model_motion(supervisor_model_t *m, uint32_t token, const motion_t *motion, int result) {
    if (!model_judge(m, "motion", against_motion(m, token, motion), result))
        return false;
    if (result != APP_OK) {
        m->stream_unsure = m->stream;
        return true;
    }
    const bool open = m->state == IDLE || m->state == DAMPING;
    model_discard(m);
    m->stream_unsure = false;
    m->leaving = m->stopping = false;
    m->at_request = 0;
    m->jog_s = (double)model_now(m, PARAMETER_jog_timeout_s, 0);
    m->kind = motion->kind;
    if (motion->kind == MOTION_POINTS) {
        m->stream = true;
        m->stream_waits = open;
        m->pushed = 0;
        m->ended = false;
        m->point_s = (double)motion->duration_s;
    } else {
        m->homing = motion->kind == MOTION_HOME;
        m->seek = 0;
        for (uint32_t i = 0; m->homing && i < m->image.n; i++)
            m->seek |= (uint32_t)(motion->value[i] != 0) << i;
        m->closing = open || m->homing;
        m->kind_waits = !open && motion->kind != MOTION_HOLD;
    }
    return true;
}

/* -------------------------------------------------------------------------------------- points */

/* Without a robot, a request that has a number for each joint is malformed and renews nothing. */
static reasons_t may_with_joints(supervisor_model_t *m, uint32_t token, bool moves) {
    const uint32_t left = m->lease;
    reasons_t against = model_may(m, token, moves);
    if (!m->loaded) {
        against.hard |= REASON(APP_E_NUMBER);
        m->lease = left;
    }
    return against;
}

static reasons_t against_points(supervisor_model_t *m, uint32_t token) {
    reasons_t against = may_with_joints(m, token, true);
    /* After a stop, a point may be accepted until the tick that forgets it. */
    if (!(m->stream || m->dropped) || (m->state != IDLE && m->state != RUNNING))
        against.hard |= REASON(APP_E_STATE);
    if (m->stream_unsure || m->ended || m->dropped || m->stopping || m->leaving)
        against.soft |= REASON(APP_E_STATE);
    if (m->stream_waits)
        against_start(m, &against);
    if (m->stream_waits && m->seen.unhomed != 0)
        against.hard |= REASON(APP_E_HOME);
    return against;
}

static void close_stream(supervisor_model_t *m) {
    if (m->stream_waits) {
        m->stream_waits = false;
        m->closing = true;
    }
}

bool model_push(supervisor_model_t *m, uint32_t token, const float q[], int result) {
    reasons_t against = against_points(m, token);
    against.soft |= REASON(APP_E_START) | REASON(APP_E_VELOCITY) | REASON(APP_E_ACCELERATION) |
                    REASON(APP_E_POSITION) | REASON(APP_E_ROOM);
    for (uint32_t i = 0; i < m->image.n; i++) {
        const limits_t l = limits_of(m, i);
        if (!isfinite(q[i]))
            against.hard |= REASON(APP_E_NUMBER);
        else if (l.limited && ((double)q[i] < l.lower - 1e-4 || (double)q[i] > l.upper + 1e-4))
            against.hard |= REASON(APP_E_POSITION);
    }
    /* Whether robot and hardware fit is asked again when the points close the loop. */
    if (m->pushed + 3 < 16) {
        against.soft |=
            against.hard & (REASON(APP_E_FIT) | REASON(APP_E_UNREAD) | REASON(APP_E_WEAK));
        against.hard &= ~(REASON(APP_E_FIT) | REASON(APP_E_UNREAD) | REASON(APP_E_WEAK));
    }
    if (!model_judge(m, "point", against, result))
        return false;
    if (result != APP_OK) {
        m->stream_unsure = m->stream;
        return true;
    }
    if (!m->stream)
        return true;
    m->pushed++;
    m->at_request = 0;
    if (m->pushed + 2 >= 16)
        close_stream(m);
    return true;
}

bool model_end(supervisor_model_t *m, uint32_t token, int result) {
    reasons_t against = against_points(m, token);
    if (m->pushed == 0)
        against.soft |= REASON(APP_E_STATE) | REASON(APP_E_START) | REASON(APP_E_NUMBER);
    against.soft |= REASON(APP_E_ACCELERATION);
    if (!model_judge(m, "end of points", against, result))
        return false;
    if (result != APP_OK) {
        m->stream_unsure = m->stream;
        return true;
    }
    m->ended = m->stream;
    close_stream(m);
    return true;
}

/* ------------------------------------------------------------------------------ stop and clear */

bool model_stop(supervisor_model_t *m, int result) {
    const reasons_t against = {m->state == FAULTED ? REASON(APP_E_STATE) : 0, 0};
    if (!model_judge(m, "stop", against, result))
        return false;
    if (result != APP_OK)
        return true;
    m->dropped = m->dropped || m->stream || m->closing;
    /* It does not take the hold from an arm that is damped. */
    const bool holds = m->state == DAMPING && m->closing;
    if (m->state == IDLE || m->state == UNCONFIGURED || (m->state == DAMPING && !holds))
        model_discard(m);
    m->stopping = m->state == RUNNING || m->state == HOMING || holds;
    m->reached[m->state][EVENT_STOP]++;
    return true;
}

bool model_off(supervisor_model_t *m, uint32_t token, int result) {
    if (!model_judge(m, "release", model_may(m, token, false), result))
        return false;
    if (result != APP_OK)
        return true;
    m->dropped = m->dropped || m->stream || m->closing;
    m->leaving = m->state != UNCONFIGURED && (m->state != IDLE || m->closing || m->stream_waits);
    model_discard(m);
    m->reached[m->state][EVENT_RELEASE]++;
    return true;
}

bool model_clear(supervisor_model_t *m, int result) {
    reasons_t against = {0, 0};
    const bool rest = model_at_rest(m, &m->seen),
               loops = m->stop == STOP_HOLD || m->stop == STOP_LOWER;
    if (m->state != FAULTED && m->unrestored) {
        m->unrestored = false;
        return model_judge(m, "clear", against, result);
    }
    if (m->state != FAULTED)
        against.hard |= REASON(APP_E_STATE);
    else {
        if (model_real(m) && *m->stays != 0)
            against.hard |= REASON(APP_E_LATCHED);
        /* In the tick in which the reference comes to rest its speed was not yet zero. */
        if (m->stop == STOP_HOLD && !rest && m->seen.moving)
            against.hard |= REASON(APP_E_STATE);
        if (m->stop == STOP_HOLD && m->seen.moving)
            against.soft |= REASON(APP_E_STATE);
        if (loops && model_brakes(m) && !m->seen.brake_open)
            against.hard |= REASON(APP_E_STATE);
    }
    if (!model_judge(m, "clear", against, result))
        return false;
    if (result != APP_OK)
        return true;
    m->fault = m->late = m->unread_any = 0; /* what lasts is counted anew */
    memset(m->unread_for, 0, sizeof m->unread_for);
    m->cleared = m->again = true;
    if (loops) {
        m->stopping = m->stop == STOP_LOWER;
        model_reach(m, EVENT_CLEAR_HELD, RUNNING);
    } else if (m->stop == STOP_DAMP)
        model_reach(m, EVENT_CLEAR_DAMPED, DAMPING);
    else
        model_reach(m, m->loaded ? EVENT_CLEAR_RELEASED : EVENT_CLEAR_EMPTY,
                    m->loaded ? IDLE : UNCONFIGURED);
    m->kind = MOTION_HOLD;
    return true;
}

bool model_place(supervisor_model_t *m, uint32_t token, const float q[], int result) {
    reasons_t against = may_with_joints(m, token, false);
    if (model_real(m))
        against.hard |= REASON(APP_E_SIMULATED);
    if (m->state != IDLE || m->closing)
        against.hard |= REASON(APP_E_STATE);
    if (m->leaving || m->stopping || m->stream_waits || m->dropped)
        against.soft |= REASON(APP_E_STATE);
    for (uint32_t i = 0; i < m->image.n; i++) {
        const limits_t l = limits_of(m, i);
        if (!isfinite(q[i]))
            against.hard |= REASON(APP_E_NUMBER);
        else if (l.limited && ((double)q[i] < l.lower - 1e-5 || (double)q[i] > l.upper + 1e-5))
            against.soft |= REASON(APP_E_POSITION);
    }
    if (!model_judge(m, "place", against, result))
        return false;
    if (result == APP_OK)
        model_discard(m);
    return true;
}
