/* Part of test/support/supervisor_model.h: the limits of the robot, whatever was requested. */
#include "test/support/supervisor_model.h"

#include <math.h>
#include <stdio.h>

static void note(supervisor_model_t *m, uint32_t quantity, double share) {
    m->most[quantity] = fmax(m->most[quantity], share);
}

/* The torque that the outputs of the real arm ask for. A motor at the limit of its voltage gets what
 * its speed leaves. */
static bool check_duty(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen,
                       uint32_t i, double limit) {
    const image_joint_t *j = &m->image.joint[i];
    const double k = (double)(j->torque_constant[0] * j->gear[0]), step = 1.0 / 32768;
    const double supply =
        in->supply_mV > 0 ? in->supply_mV / 1000.0 : (double)m->image.joint[0].voltage[0];
    double torque = seen->duty[i] * (double)j->torque[0], room = step * (double)j->torque[0];
    if (k > 0) {
        torque = k * (seen->duty[i] * supply - k * seen->qd[i]) / (double)j->resistance[0];
        room = 1e-3 * limit + 2 * step * supply * k / (double)j->resistance[0];
    }
    if (!model_real(m) || limit == 0 || (k > 0 && seen->limited >> i & 1))
        return true;
    note(m, MOST_OUTPUT, fabs(torque) / limit);
    if (fabs(torque) > limit + room)
        return COMPLAIN(m, "torque %g at the outputs, limit %g", torque, limit);
    return true;
}

static bool check_speed(supervisor_model_t *m, const model_seen_t *seen, uint32_t i, double speed) {
    /* Motions last whole ticks. A stop takes over the speed that the arm has. */
    const bool begins = m->state == RUNNING || m->state == HOMING || m->at_state > 1;
    const bool within = fabs(m->seen.qd_ref[i]) <= speed * (1 + 5.0 / m->rate);
    const double most =
        begins && within
            ? speed * (1 + 5.0 / m->rate)
            : fmax(fabs(m->seen.qd_ref[i]), fmax(fabs(m->seen.qd[i]), fabs(seen->qd[i]))) + speed;
    if (begins && within)
        note(m, MOST_SPEED, fabs(seen->qd_ref[i]) / speed);
    if (fabs(seen->qd_ref[i]) > most)
        return COMPLAIN(m, "reference speed %g above its limit %g", seen->qd_ref[i], speed);
    return true;
}

static bool check_position(supervisor_model_t *m, const model_seen_t *seen, uint32_t i) {
    const double lower = (double)model_now(m, PARAMETER_position_lower, i),
                 upper = (double)model_now(m, PARAMETER_position_upper, i);
    const double beyond = fmax(lower - seen->q_ref[i], seen->q_ref[i] - upper);
    /* A stop begins where the arm is. */
    const double arm =
        fmax(lower - fmin(seen->q[i], m->seen.q[i]), fmax(seen->q[i], m->seen.q[i]) - upper);
    if (!(lower < upper) || m->state == HOMING || seen->unhomed >> i & 1 || m->outside[i])
        return true;
    if (m->state == RUNNING)
        note(m, MOST_BEYOND, beyond);
    if (beyond > fmax(1e-4, arm + 5e-3))
        return COMPLAIN(m, "reference of joint %u is %g beyond its position limit", (unsigned)i,
                        beyond);
    return true;
}

/* While a person leads, the tool's speed is bounded as the reference is, unless tool_speed was
 * lowered meanwhile. */
static bool check_tool(supervisor_model_t *m, const model_seen_t *seen) {
    const double now = (double)model_now(m, PARAMETER_tool_speed, 0);
    const bool jogs = m->state == RUNNING && m->kind == MOTION_JOG && seen->moving;
    m->tool_most = jogs ? fmax(m->tool_most, now) : now;
    if (!jogs)
        return true;
    const double speed = model_tool_speed(m, seen->qd_ref);
    note(m, MOST_TOOL, speed / m->tool_most);
    if (speed > m->tool_most * (1 + 1e-4))
        return COMPLAIN(m, "reference of the tool %g m/s above tool_speed %g", speed, m->tool_most);
    return true;
}

bool model_limits(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen) {
    const double scale = (double)model_now(m, PARAMETER_limits_scale, 0);
    for (uint32_t i = 0; model_loops(m) && i < m->image.n; i++) {
        const image_joint_t *j = &m->image.joint[i];
        const double torque = (double)j->torque[0] * scale;
        if (torque > 0)
            note(m, MOST_TORQUE, fabs(seen->tau[i]) / torque);
        if (torque > 0 && fabs(seen->tau[i]) > torque * (1 + 1e-6))
            return COMPLAIN(m, "torque %g above its limit %g", seen->tau[i], torque);
        if (!check_duty(m, in, seen, i, torque) ||
            !check_speed(m, seen, i, (double)j->velocity[0] * scale) || !check_position(m, seen, i))
            return false;
    }
    return check_tool(m, seen);
}
