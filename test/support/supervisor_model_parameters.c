/* Part of test/support/supervisor_model.h: parameters, overrides, lease, and whether robot and
 * hardware fit. */
#include "test/support/supervisor_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Guards, and whether a larger value makes them weaker (1) or a smaller one (-1). Of guard_setpoint 0
 * is the weakest value, then larger ones. */
static const struct {
    const char *name;
    int weaker;
} guard[] = {
    {"guard_tracking", 1},    {"guard_position", 1},    {"guard_speed", 1},
    {"guard_limit_s", 1},     {"guard_supply_high", 1}, {"guard_encoder_ticks", 1},
    {"guard_overruns", 1},    {"hold_fraction", 1},     {"home_speed", 1},
    {"home_torque", 1},       {"jog_timeout_s", 1},     {"tool_speed", 1},
    {"guard_supply_low", -1}, {"guard_direction", -1},  {"rate_check", -1},
    {"guard_setpoint", 1},    {"guard_reversals", 1},
};

static int weaker_way(uint32_t parameter) {
    for (size_t i = 0; i < sizeof guard / sizeof guard[0]; i++)
        if (!strcmp(guard[i].name, parameter_table[parameter].name))
            return guard[i].weaker;
    return 0;
}

static bool weaker(uint32_t parameter, float from, float to) {
    const int way = weaker_way(parameter);
    if (parameter == PARAMETER_guard_setpoint)
        return from != 0 && (to == 0 || to > from);
    return way > 0 ? to > from : way < 0 && to < from;
}

float model_now(const supervisor_model_t *m, uint32_t parameter, uint32_t joint) {
    return m->value[parameter][joint].now;
}

/* Without a robot there is no arm. */
bool model_real(const supervisor_model_t *m) {
    return m->loaded && model_now(m, PARAMETER_arm, 0) == ARM_REAL;
}

/* If nobody has said whether the arm has brakes, the simulated arm has them. */
bool model_brakes(const supervisor_model_t *m) {
    const float brakes = model_now(m, PARAMETER_brakes, 0);
    return brakes == 1 || (brakes == -1 && !model_real(m));
}

/* ------------------------------------------------------------------------------------- gravity */

typedef struct {
    double x[3], y[3], z[3], p[3];
} frame_t;

static void next_frame(const image_joint_t *j, double q, const frame_t *from, frame_t *to) {
    const double ca = cos((double)j->alpha[0]), sa = sin((double)j->alpha[0]);
    const double turn = (double)j->theta[0] + (j->type == 0 ? q : 0);
    const double d = (double)j->d[0] + (j->type == 0 ? 0 : q);
    for (int k = 0; k < 3; k++) {
        const double y = ca * from->y[k] + sa * from->z[k];
        to->z[k] = -sa * from->y[k] + ca * from->z[k];
        to->x[k] = cos(turn) * from->x[k] + sin(turn) * y;
        to->y[k] = -sin(turn) * from->x[k] + cos(turn) * y;
        to->p[k] = from->p[k] + (double)j->a[0] * from->x[k] + d * to->z[k];
    }
}

static double energy(const frame_t *f, const float gravity[3], double mass, const double at[3]) {
    double u = 0;
    for (int k = 0; k < 3; k++)
        u -= mass * (double)gravity[k] *
             (f->p[k] + at[0] * f->x[k] + at[1] * f->y[k] + at[2] * f->z[k]);
    return u;
}

static double potential(const supervisor_model_t *m, const double q[], const double payload[4]) {
    frame_t f[2] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}};
    double u = 0;
    for (uint32_t i = 0; i < m->image.n; i++) {
        const image_joint_t *j = &m->image.joint[i];
        const double com[3] = {(double)j->com[0], (double)j->com[1], (double)j->com[2]};
        next_frame(j, q[i], &f[i % 2], &f[1 - i % 2]);
        u += energy(&f[1 - i % 2], m->image.arm.gravity, (double)j->mass[0], com);
    }
    return u + energy(&f[m->image.n % 2], m->image.arm.gravity, payload[0], payload + 1);
}

void model_payload(const supervisor_model_t *m, double payload[4]) {
    for (uint32_t k = 0; k < 4; k++)
        payload[k] = (double)model_now(m, PARAMETER_payload_mass + k, 0);
}

double model_load_share(const supervisor_model_t *m, const double q[], const double payload[4]) {
    const double step = 1e-4, scale = (double)model_now(m, PARAMETER_limits_scale, 0);
    double most = 0;
    for (uint32_t i = 0; i < m->image.n; i++) {
        double a[MODEL_JOINTS], b[MODEL_JOINTS];
        memcpy(a, q, sizeof a);
        memcpy(b, q, sizeof b);
        a[i] -= step;
        b[i] += step;
        const double limit = (double)m->image.joint[i].torque[0] * scale;
        const double tau = (potential(m, b, payload) - potential(m, a, payload)) / (2 * step);
        if (limit > 0)
            most = fmax(most, fabs(tau) / limit);
    }
    return most;
}

/* The sum over the joints of their speed times the distance that the tool can have from their axis:
 * the lengths of the frames that follow, stretched out. */
double model_tool_speed(const supervisor_model_t *m, const double qd[]) {
    const float *tool = m->image.arm.tool_xyz;
    double reach = hypot(hypot((double)tool[0], (double)tool[1]), (double)tool[2]), sum = 0;
    for (uint32_t i = m->image.n; i-- > 0;) {
        const image_joint_t *j = &m->image.joint[i];
        sum += fabs(qd[i]) * (j->type == 0 ? reach : 1);
        reach += hypot((double)j->a[0], (double)j->d[0]);
    }
    return sum;
}

/* ----------------------------------------------------------------------------------------- fit */

/* Computed torque has gains of its own. */
static bool gains(const supervisor_model_t *m, uint32_t i) {
    return model_now(m, PARAMETER_kp, i) > 0 && model_now(m, PARAMETER_kd, i) > 0;
}

/* Bits of firmware/app/fit_table.h that the tester can cause. *unsure: a parameter that decides about
 * turns of an encoder is not what the robot file gave. */
uint32_t model_fit(const supervisor_model_t *m, bool choosing, bool *unsure) {
    uint32_t bits = 0;
    *unsure = false;
    for (uint32_t i = 0; i < m->image.n; i++) {
        const image_joint_t *j = &m->image.joint[i];
        if (!gains(m, i) && model_now(m, PARAMETER_feedback, 0) == FEEDBACK_PD)
            bits |= 1u << 4;
        const float lower = model_now(m, PARAMETER_position_lower, i),
                    upper = model_now(m, PARAMETER_position_upper, i);
        const bool turns = model_now(m, PARAMETER_encoder_ratio, i) != 1 ||
                           lower < j->position[0] || upper > j->position[1] || lower >= upper;
        *unsure = *unsure || turns || model_now(m, PARAMETER_rate_hz, 0) < 500;
    }
    if (choosing && model_now(m, PARAMETER_feedback, 0) == 0)
        bits |= 1u << 9;
    if (model_now(m, PARAMETER_brakes, 0) == -1)
        bits |= 1u << 10;
    if (model_now(m, PARAMETER_brakes, 0) == 1 && !(m->board->flags & HARDWARE_BRAKE))
        bits |= 1u << 11;
    if (!(m->board->flags & HARDWARE_WATCHDOG))
        bits |= 1u << 13;
    if (m->board->active & CAUSE_ESTOP)
        bits |= 1u << 15;
    if (!(m->board->flags & HARDWARE_ESTOP_SEEN))
        bits |= 1u << 16;
    return bits;
}

/* ---------------------------------------------------------------------------------- parameters */

static bool is_payload(uint32_t p) {
    return p >= PARAMETER_payload_mass && p <= PARAMETER_payload_z;
}

/* The motors must hold the arm with its payload in this pose. Lower limits may be refused, too. */
static void against_weakness(supervisor_model_t *m, uint32_t p, double value, reasons_t *against) {
    double payload[4];
    if (p == PARAMETER_limits_scale)
        against->soft |= REASON(APP_E_WEAK);
    if (!m->loaded || !is_payload(p))
        return;
    model_payload(m, payload);
    payload[p - PARAMETER_payload_mass] = value;
    const double share = model_load_share(m, m->seen.q, payload);
    if (share > 1.02 && model_outputs_on(m))
        against->hard |= REASON(APP_E_WEAK);
    if (share > 0.98)
        against->soft |= REASON(APP_E_WEAK);
}

/* Times that a client may ask for, ms of the board's time. */
enum { REAL_MOST_MS = 1000, SIMULATED_MOST_MS = 60000 };

/* It lasts so many further ticks, and lapses in the tick after them. */
static uint32_t lease_ticks(const supervisor_model_t *m, uint32_t ms) {
    const uint64_t rate = (uint64_t)model_now(m, PARAMETER_rate_hz, 0);
    return ms > 0 ? (uint32_t)(ms * rate / 1000) + 1 : 0;
}

/* Neither another rate nor the real arm makes the time of a lease longer than it may be. */
void model_cap_lease(supervisor_model_t *m) {
    if (model_real(m) && m->lease_ms > REAL_MOST_MS)
        m->lease_ms = REAL_MOST_MS;
    if (m->lease > lease_ticks(m, m->lease_ms))
        m->lease = lease_ticks(m, m->lease_ms);
}

static void against_arm(const supervisor_model_t *m, float value, reasons_t *against) {
    bool unsure = false;
    if (value == model_now(m, PARAMETER_arm, 0) && value != ARM_REAL)
        return;
    /* A command has lease and overrides for the arm that it found. */
    for (uint32_t p = 0; p < PARAMETERS && value != model_now(m, PARAMETER_arm, 0); p++)
        for (uint32_t j = 0; j < MODEL_JOINTS; j++) {
            const uint8_t override = m->value[p][j].override;
            against->hard |= override == OVERRIDDEN ? REASON(APP_E_OVERRIDE) : 0;
            against->soft |= override == ENDING ? REASON(APP_E_OVERRIDE) : 0;
        }
    if (value != model_now(m, PARAMETER_arm, 0) && m->lease > 0)
        against->hard |= REASON(APP_E_LEASE);
    if (value != ARM_REAL)
        return;
    if (!m->loaded)
        against->hard |= REASON(APP_E_STATE);
    else if (model_fit(m, true, &unsure) != 0)
        against->hard |= REASON(APP_E_FIT);
    else if (unsure)
        against->soft |= REASON(APP_E_FIT);
}

/* Whether PD with this gain holds a joint: stiffer than gravity with the torque limit could be, and
 * without feedforward with the whole limit at the largest error that the guard allows. */
static bool stiff(const supervisor_model_t *m, uint32_t i, float kp) {
    const float limit = m->image.joint[i].torque[0];
    if (model_now(m, PARAMETER_feedforward, 0) == FEEDFORWARD_OFF &&
        kp * model_now(m, PARAMETER_guard_tracking, 0) < limit)
        return false;
    return kp > 0 && kp >= limit;
}

/* Whether the arm may fall if the feedback becomes another one. */
static bool switches_off(const supervisor_model_t *m, float to, float from) {
    bool all = true;
    if (from == FEEDBACK_OFF || to == from)
        return false;
    for (uint32_t i = 0; i < m->image.n; i++)
        all =
            all && stiff(m, i, model_now(m, PARAMETER_kp, i)) && model_now(m, PARAMETER_kd, i) > 0;
    return to == FEEDBACK_OFF || (to == FEEDBACK_PD && !all) ||
           (to == FEEDBACK_COMPUTED_TORQUE &&
            model_now(m, PARAMETER_torque_hz, 0) < parameter_table[PARAMETER_torque_hz].fallback);
}

/* Whether a change takes torque from an arm that the loop holds. */
static bool takes_torque(const supervisor_model_t *m, uint32_t p, uint32_t j, float value) {
    const float now = model_now(m, p, j), feedback = model_now(m, PARAMETER_feedback, 0);
    if (p == PARAMETER_feedback)
        return switches_off(m, value, now);
    if (p == PARAMETER_feedforward)
        return value < now;
    if (p == PARAMETER_torque_hz)
        return feedback == FEEDBACK_COMPUTED_TORQUE && value < now &&
               value < parameter_table[p].fallback;
    if (feedback != FEEDBACK_PD)
        return false;
    return p == PARAMETER_kp ? value < now && !stiff(m, j, value)
                             : p == PARAMETER_kd && value == 0 && now != 0;
}

/* Reasons that come from the outputs being on, or from a motion that will switch them on. */
static void against_loosening(const supervisor_model_t *m, uint32_t p, uint32_t j, float value,
                              reasons_t *against) {
    const bool waits = m->closing || m->stream_waits || m->dropped, on = model_outputs_on(m);
    if (parameter_table[p].idle_only && (on || m->closing))
        against->hard |= REASON(APP_E_STATE);
    if (parameter_table[p].idle_only && waits)
        against->soft |= REASON(APP_E_STATE);
    if (p == PARAMETER_brakes && model_real(m) && (on || m->closing))
        against->hard |= REASON(APP_E_STATE);
    const bool guard_goes = weaker(p, model_now(m, p, j), value),
               torque_goes = takes_torque(m, p, j, value);
    if ((guard_goes && on) || (torque_goes && on && model_loops(m)))
        against->hard |= REASON(APP_E_LOOSE);
    if ((guard_goes || torque_goes) && waits)
        against->soft |= REASON(APP_E_LOOSE);
}

static bool in_range(uint32_t p, float value) {
    const parameter_info_t *info = &parameter_table[p];
    return isfinite(value) && value >= info->least && value <= info->most &&
           (!info->whole || value == floorf(value)) && (p != PARAMETER_encoder_sign || value != 0);
}

static reasons_t against_value(supervisor_model_t *m, uint32_t p, uint32_t j, float value,
                               bool overriding) {
    reasons_t against = {0, 0};
    if (p >= PARAMETERS || j >= (parameter_table[p].per_joint ? m->loaded ? m->image.n : 0 : 1)) {
        against.hard = REASON(APP_E_PARAMETER);
        return against;
    }
    if (!in_range(p, value))
        against.hard |= REASON(APP_E_RANGE);
    against_loosening(m, p, j, value, &against);
    if (in_range(p, value) && (is_payload(p) || p == PARAMETER_limits_scale))
        against_weakness(m, p, (double)value, &against);
    if (p == PARAMETER_arm)
        against_arm(m, value, &against);
    /* The largest gains follow from the robot. */
    if ((p == PARAMETER_kp && value > 10 * m->image.joint[j].kp[0]) ||
        (p == PARAMETER_kd && value > 10 * m->image.joint[j].kd[0]))
        against.soft |= REASON(APP_E_RANGE) | REASON(APP_E_POSITION) | REASON(APP_E_GAIN);
    /* Position limits that are exchanged are refused; two zeros are none. */
    if (p == PARAMETER_position_lower || p == PARAMETER_position_upper) {
        const float lower = p == PARAMETER_position_lower
                                ? value
                                : model_now(m, PARAMETER_position_lower, j),
                    upper = p == PARAMETER_position_upper
                                ? value
                                : model_now(m, PARAMETER_position_upper, j);
        if (!(lower < upper) && !(lower == 0 && upper == 0))
            against.hard |= REASON(APP_E_RANGE);
    }
    if (p == PARAMETER_rate_hz)
        against.soft |= REASON(APP_E_GAIN);
    const uint8_t override = m->value[p][j].override;
    if (!overriding && override == OVERRIDDEN)
        against.hard |= REASON(APP_E_OVERRIDE);
    if (override == ENDING)
        against.soft |= REASON(APP_E_OVERRIDE);
    if (overriding && p == PARAMETER_arm) /* it decides which others may be overridden */
        against.hard |= REASON(APP_E_OVERRIDE);
    if (overriding && p == PARAMETER_brakes && model_real(m))
        against.hard |= REASON(APP_E_OVERRIDE);
    if (overriding && !m->loaded && model_now(m, PARAMETER_arm, 0) == ARM_REAL)
        against.soft |= REASON(APP_E_OVERRIDE);
    if (overriding && model_real(m) && (parameter_table[p].idle_only || weaker_way(p) != 0))
        against.hard |= REASON(APP_E_OVERRIDE);
    /* A value that is there already needs no permission. */
    if (!overriding && value == model_now(m, p, j)) {
        against.soft |= against.hard;
        against.hard = 0;
    }
    return against;
}

/* A parameter that the file of the robot or an encoder depends on takes the arm away from under a
 * motion that waits, and makes the encoders unread. */
static void changed(supervisor_model_t *m, uint32_t p, float before) {
    m->at_change = 0;
    m->noise = fmax(m->noise, (double)model_now(m, PARAMETER_sim_noise, 0));
    if (p == PARAMETER_rate_check || p == PARAMETER_sim_shift) /* nothing depends on these */
        m->stream_unsure = m->stream;
    else if (parameter_table[p].idle_only && !m->closing)
        model_discard(m);
    if (p == PARAMETER_brakes && before != model_now(m, p, 0))
        m->brakes_changed = 0;
    if (p == PARAMETER_arm && before != model_now(m, p, 0)) {
        m->since_switch = 0;
        m->read = 0;
    }
    model_cap_lease(m);
}

static void accept_value(supervisor_model_t *m, uint32_t p, uint32_t j, float value,
                         bool overriding) {
    model_value_t *v = &m->value[p][j];
    const float before = v->now;
    v->now = value;
    v->override = overriding ? OVERRIDDEN : FREE;
    if (!overriding)
        v->lasting = value;
    changed(m, p, before);
}

bool model_set(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float value, int result) {
    const reasons_t against = against_value(m, parameter, joint, value, false);
    if (!model_judge(m, "set", against, result))
        return false;
    if (result == APP_OK)
        accept_value(m, parameter, joint, value, false);
    return true;
}

bool model_override(supervisor_model_t *m, uint32_t token, uint32_t parameter, uint32_t joint,
                    float value, int result) {
    reasons_t against = against_value(m, parameter, joint, value, true);
    if (token == 0 || token != m->token || m->lease == 0)
        against.hard |= REASON(APP_E_LEASE) | (token == 0 ? REASON(APP_E_NUMBER) : 0);
    if (m->state == FAULTED && parameter < PARAMETERS && weaker_way(parameter) != 0)
        against.hard |= REASON(APP_E_STATE); /* a fault ends overrides of guards */
    uint32_t count = 0;
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < MODEL_JOINTS; j++)
            count += m->value[p][j].override != FREE;
    if (count >= 12) /* the board has room for a limited number of them */
        against.soft |= REASON(APP_E_OVERRIDE);
    if (!model_judge(m, "override", against, result))
        return false;
    if (result == APP_OK)
        accept_value(m, parameter, joint, value, true);
    return true;
}

void model_overrides_end(supervisor_model_t *m, bool guards_only) {
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < MODEL_JOINTS; j++)
            if (m->value[p][j].override == OVERRIDDEN && (!guards_only || weaker_way(p) != 0))
                m->value[p][j].override = ENDING;
}

/* The bits of telemetry that tell of guards and overrides, after a turn of the background. */
bool model_notices(supervisor_model_t *m, const model_seen_t *seen) {
    bool loose = false, overridden = false, ending = false;
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < (parameter_table[p].per_joint ? MODEL_JOINTS : 1); j++) {
            loose = loose || weaker(p, parameter_table[p].fallback, m->value[p][j].now);
            overridden = overridden || m->value[p][j].override == OVERRIDDEN;
            ending = ending || m->value[p][j].override == ENDING;
        }
    if (seen->weaker != loose && !ending)
        return COMPLAIN(m, "telemetry tells %u about a weaker guard", (unsigned)seen->weaker);
    if (seen->overridden ? !overridden && !ending : overridden)
        return COMPLAIN(m, "telemetry tells %u about overrides", (unsigned)seen->overridden);
    return true;
}

/* Whether the motors may be too weak for the payload that comes back. */
static bool too_heavy(const supervisor_model_t *m) {
    double payload[4];
    uint32_t ending = 0;
    model_payload(m, payload);
    for (uint32_t k = 0; k < 4; k++) {
        const model_value_t *v = &m->value[PARAMETER_payload_mass + k][0];
        if (v->override == ENDING)
            payload[k] = (double)v->lasting;
        ending += v->override == ENDING;
    }
    return ending > 1 || model_load_share(m, m->seen.q, payload) > 0.98;
}

/* Nothing drops and nothing is loosened: what SET would refuse waits until the outputs are off. */
static bool must_wait(const supervisor_model_t *m, uint32_t p, uint32_t j) {
    const model_value_t *v = &m->value[p][j];
    if (is_payload(p) && m->loaded && too_heavy(m))
        return true;
    return parameter_table[p].idle_only || weaker(p, v->now, v->lasting) ||
           (model_loops(m) && takes_torque(m, p, j, v->lasting));
}

void model_poll(supervisor_model_t *m) {
    m->polled = true;
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < MODEL_JOINTS; j++) {
            model_value_t *v = &m->value[p][j];
            if (v->override != ENDING || (must_wait(m, p, j) && model_outputs_on(m)))
                continue;
            const float before = v->now;
            v->now = v->lasting;
            v->override = FREE;
            changed(m, p, before);
        }
}

/* Between the end of an override and the turn of the background either value may work. */
bool model_value(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float now,
                 float lasting) {
    model_value_t *v = &m->value[parameter][joint];
    const char *name = parameter_table[parameter].name;
    if (lasting != v->lasting)
        return COMPLAIN(m, "%s[%u] would be saved as %g, but is %g", name, (unsigned)joint,
                        (double)lasting, (double)v->lasting);
    if (v->override == ENDING && now == v->lasting && v->now != v->lasting)
        *v = (model_value_t){now, now, FREE};
    if (now != v->now)
        return COMPLAIN(m, "%s[%u] works with %g instead of %g (lasting %g)", name, (unsigned)joint,
                        (double)now, (double)v->now, (double)v->lasting);
    return true;
}

/* --------------------------------------------------------------------------------------- lease */

void model_renew(supervisor_model_t *m) {
    m->lease = lease_ticks(m, m->lease_ms);
}

bool model_lease(supervisor_model_t *m, uint32_t token, uint32_t ms, int result) {
    const bool held = m->lease > 0;
    const uint32_t most = model_real(m) ? REAL_MOST_MS : SIMULATED_MOST_MS;
    reasons_t against = {0, 0};
    if (token == 0)
        against.hard = REASON(APP_E_NUMBER);
    else if (held && token != m->token)
        against.hard = REASON(APP_E_LEASE);
    else if (!held && ms == 0)
        against.soft = REASON(APP_E_LEASE); /* the end of nothing */
    if (!model_judge(m, ms > 0 ? "lease" : "end of the lease", against, result))
        return false;
    if (result != APP_OK || (ms == 0 && !held))
        return true;
    m->token = token;
    m->lease_ms = ms < most ? ms : most;
    m->lease = lease_ticks(m, m->lease_ms);
    if (ms > 0)
        return true;
    model_overrides_end(m, false);
    if (m->state == RUNNING || m->state == HOMING) {
        if (m->seen.moving || m->seen.busy || m->kind_waits || (m->stream && !m->ended) ||
            m->state == HOMING)
            m->stopping = true;
    } else if (m->state == IDLE || m->state == DAMPING)
        model_discard(m);
    return true;
}
