/* Part of test/support/supervisor_model.h: what the guards find, from the inputs of a tick and from
 * what telemetry shows of the arm. */
#include "test/support/supervisor_model.h"

#include <math.h>
#include <string.h>

/* Rounding of a float against the double of the model, relative. */
#define BAND 1e-4

void model_find(found_t *found, uint64_t faults, bool must, bool may) {
    if (must)
        found->must |= faults;
    if (must || may)
        found->may |= faults;
}

double model_ticks(const supervisor_model_t *m, double seconds) {
    return seconds * m->rate;
}

bool model_loops(const supervisor_model_t *m) {
    return m->state == HOMING || m->state == RUNNING || m->state == STOPPING ||
           (m->state == FAULTED && m->stop <= STOP_LOWER);
}

static void find_causes(const supervisor_model_t *m, const app_inputs_t *in, found_t *found) {
    static const uint8_t fault[] = {F_ESTOP, F_DRIVER, F_TICK_STOPPED, F_CLOCK, F_BOARD_SUPPLY};
    for (uint32_t k = 0; model_real(m) && k < sizeof fault; k++)
        model_find(found, BIT(fault[k]), in->latched >> k & 1, false);
}

static void find_encoders(supervisor_model_t *m, const app_inputs_t *in, found_t *found) {
    const uint64_t faults = BIT(F_ENCODER) | BIT(F_PARITY) | BIT(F_MAGNET);
    const double guard = (double)model_now(m, PARAMETER_guard_encoder_ticks, 0);
    const uint32_t all = (1u << m->image.n) - 1;
    m->unread_any = (in->counts_valid & all) == all ? 0 : m->unread_any + 1;
    for (uint32_t i = 0; model_real(m) && i < m->image.n; i++) {
        const bool read = in->counts_valid >> i & 1;
        m->unread_for[i] = read ? 0 : m->unread_for[i] + 1;
        const bool turns =
            model_now(m, PARAMETER_home, i) != 0 || model_now(m, PARAMETER_encoder_ratio, i) != 1;
        model_find(found, faults, m->unread_for[i] > guard && m->at_loop >= guard,
                   m->unread_any > guard || (turns && !read));
    }
}

static void find_supply(const supervisor_model_t *m, const app_inputs_t *in, found_t *found) {
    const double nominal =
        m->image.joint[0].voltage[0] > 0 ? (double)m->image.joint[0].voltage[0] : 24;
    const double volts = in->supply_mV / 1000.0;
    const double low = nominal * (double)model_now(m, PARAMETER_guard_supply_low, 0),
                 high = nominal * (double)model_now(m, PARAMETER_guard_supply_high, 0);
    if (!model_real(m) || in->supply_mV == SUPPLY_UNMEASURED)
        return;
    if (in->supply_mV == SUPPLY_FAILED) {
        model_find(found, BIT(F_SUPPLY_SENSOR), m->at_loop > 0, true);
        return;
    }
    model_find(found, BIT(F_SUPPLY_LOW), m->at_loop > 0 && volts < low - 2e-3, volts < low + 2e-3);
    model_find(found, BIT(F_SUPPLY_HIGH), m->at_loop > 0 && volts > high + 2e-3,
               volts > high - 2e-3);
}

static void find_inputs(supervisor_model_t *m, const app_inputs_t *in, found_t *found) {
    find_encoders(m, in, found);
    find_supply(m, in, found);
    /* In the tick that closes the loop, the inputs may have been judged before. */
    const bool closed = m->at_loop > 0;
    model_find(found, BIT(F_LOST_TICKS), in->lost > 0 && closed, in->lost > 0);
    model_find(found, BIT(F_BACKGROUND), in->stalled && closed && model_real(m), in->stalled);
    m->late = in->overrun ? m->late + 1 : 0;
    const double overruns = (double)model_now(m, PARAMETER_guard_overruns, 0);
    model_find(found, BIT(F_OVERRUN), m->late > overruns && m->at_loop >= overruns,
               m->late > overruns || (in->overrun && in->lost > 0));
    m->unready = model_real(m) && m->seen.enable && !in->ready ? m->unready + 1 : 0;
    model_find(found, BIT(F_DRIVER), m->unready > model_ticks(m, 0.5) + 3,
               m->unready > model_ticks(m, 0.5) - 3);
}

/* Torque flows and the arm is free, so that reference and arm are compared. */
bool model_free(const supervisor_model_t *m, const app_inputs_t *in) {
    return (!model_real(m) || (in->ready && m->unready == 0)) && (!model_brakes(m) || m->opened);
}

static void find_joint(supervisor_model_t *m, uint32_t i, bool sure, const model_seen_t *seen,
                       found_t *found) {
    const image_joint_t *j = &m->image.joint[i];
    const double off = fabs(seen->q_ref[i] - seen->q[i]),
                 tracking = (double)model_now(m, PARAMETER_guard_tracking, 0);
    /* An arm that was moved before the torque came is not taken to its target. */
    model_find(found, BIT(F_TRACKING), false, model_real(m) && m->at_free < 5);
    model_find(found, BIT(F_TRACKING),
               sure && off > tracking * (1 + BAND) + 1e-6 &&
                   !(m->state == HOMING && m->seek >> i & 1),
               off > tracking * (1 - BAND) - 1e-6);
    const double lower = (double)model_now(m, PARAMETER_position_lower, i),
                 upper = (double)model_now(m, PARAMETER_position_upper, i),
                 guard = (double)model_now(m, PARAMETER_guard_position, 0);
    if (lower < upper) {
        const double beyond = fmax(lower - seen->q[i], seen->q[i] - upper);
        model_find(found, BIT(F_POSITION),
                   sure && beyond > guard + 1e-5 && !m->outside[i] && !(seen->unhomed >> i & 1) &&
                       m->state != HOMING,
                   beyond > guard - 1e-5);
    }
    const double speed = (double)model_now(m, PARAMETER_guard_speed, 0) * (double)j->velocity[0] *
                         (double)model_now(m, PARAMETER_limits_scale, 0);
    model_find(found, BIT(F_VELOCITY), sure && fabs(seen->qd[i]) > speed * (1 + BAND),
               fabs(seen->qd[i]) > speed * (1 - BAND));
    const double T = model_ticks(m, (double)model_now(m, PARAMETER_guard_limit_s, 0));
    const bool limited = seen->limited >> i & 1;
    /* in half ticks: time off the limit counts against it by half */
    m->limit_for[i] = limited ? m->limit_for[i] + 2 : m->limit_for[i] - (m->limit_for[i] > 0);
    m->limit_run[i] = limited ? m->limit_run[i] + 1 : 0;
    model_find(found, BIT(F_TORQUE) | BIT(F_VOLTAGE), sure && m->limit_run[i] > T + 3,
               m->limit_for[i] >= 2 * (T - 3));
}

/* The guard leaves room for the noise of the estimated speeds: a step of an encoder's count in a
 * double pole at observer_hz is at most count w^2 / rate of speed, up and down. */
static double tool_noise(const supervisor_model_t *m) {
    const double w = 6.283185307179586 * (double)model_now(m, PARAMETER_observer_hz, 0);
    double qd[MODEL_JOINTS] = {0};
    for (uint32_t i = 0; i < m->image.n; i++) {
        const double turn = (double)m->image.joint[i].counts[0] *
                            fabs((double)model_now(m, PARAMETER_encoder_ratio, i));
        const double counts = 2 * (1 + m->noise);
        qd[i] = turn > 0 ? counts * 6.283185307179586 / turn * w * w / m->rate : 0;
    }
    return model_tool_speed(m, qd);
}

static void find_motion(const supervisor_model_t *m, const app_inputs_t *in,
                        const model_seen_t *seen, found_t *found) {
    model_find(found, BIT(F_HOMING), false, m->state == HOMING);
    if (m->kind == MOTION_POINTS && m->stream) {
        const double guard = (double)model_now(m, PARAMETER_guard_setpoint, 0);
        const double period = model_ticks(m, m->point_s);
        const bool open = model_free(m, in) &&
                          m->brakes_open > model_ticks(m, 0.001 * m->board->brake_open_ms) + 3;
        model_find(found, BIT(F_SETPOINT),
                   open && guard > 0 && !m->ended && m->at_request > guard + 2,
                   guard > 0 && m->at_request > guard - 2);
        model_find(found, BIT(F_SETPOINT),
                   open && !m->ended && m->pushed > 14 && m->at_request > (m->pushed + 5) * period,
                   !m->ended && m->pushed > 0 && m->at_request >= period - 2);
    }
    if (m->kind != MOTION_JOG)
        return;
    const double most =
        (double)(model_now(m, PARAMETER_tool_speed, 0) * model_now(m, PARAMETER_guard_speed, 0));
    const double speed = model_tool_speed(m, seen->qd);
    model_find(found, BIT(F_TOOL_SPEED),
               m->state == RUNNING && seen->moving && speed > 1.35 * most + tool_noise(m),
               speed > 0.99 * most);
}

/* The heat h of a motor follows dh/dt = (tau^2 - h) / T, with its torque limit as unit of torque. The
 * robots of the tester do not state `thermal`: they have the lasting torque hold_fraction and stand
 * their limit for 30 s with the default of it, which gives T. */
static double thermal_constant(void) {
    const double f = (double)parameter_table[PARAMETER_hold_fraction].fallback;
    return 30 / -log(1 - f * f);
}

/* A motor with more heat than this trips. */
static double trip(const supervisor_model_t *m) {
    const double f = (double)model_now(m, PARAMETER_hold_fraction, 0);
    return f * f;
}

/* Nobody knows how hot a motor is that was not driven since the start. */
void model_close_heat(supervisor_model_t *m) {
    for (uint32_t i = 0; i < m->image.n && !m->warmed; i++)
        m->motor[i].heat = fmax(m->motor[i].heat, 31.0 / 32 * trip(m));
    m->warmed = true;
}

/* Each motor is judged once in 32 ticks, and a thousandth above what trips. So the heat may be that of
 * two windows ago; rounding adds less than 2^-30 in a window. */
static void find_heat(supervisor_model_t *m, const model_seen_t *seen, found_t *found) {
    const double windows = thermal_constant() * m->rate / 32;
    const bool damped = m->state == DAMPING || (m->state == FAULTED && m->stop == STOP_DAMP);
    for (uint32_t i = 0; i < m->image.n; i++) {
        const double limit = (double)m->image.joint[i].torque[0];
        const double tau = model_loops(m) ? seen->tau[i] / limit : 0;
        if (limit == 0 || damped)
            continue;
        m->motor[i].heat += (tau * tau - m->motor[i].heat) / (32 * windows);
        m->motor[i].peak = fmax(tau * tau, m->motor[i].peak * (1 - 1.0 / 64));
        const double band =
            2e-3 * trip(m) + 3 * fmax(m->motor[i].peak, trip(m)) / windows + windows * 0x1p-29;
        const bool closed = m->state == HOMING || m->state == RUNNING || m->state == STOPPING;
        m->motor[i].hot_for =
            closed && m->motor[i].heat > trip(m) + band ? m->motor[i].hot_for + 1 : 0;
        model_find(found, BIT(F_THERMAL), closed && m->motor[i].hot_for > 64,
                   closed && m->motor[i].heat > trip(m) - band);
    }
}

bool model_defect(const supervisor_model_t *m) {
#ifdef FIRMWARE_LAB
    return model_now(m, PARAMETER_sim_defect, 0) != 0;
#else
    return m == NULL;
#endif
}

/* Findings that no parameter decides about. */
static const uint64_t CERTAIN = BIT(F_ESTOP) | BIT(F_DRIVER) | BIT(F_TICK_STOPPED) | BIT(F_CLOCK) |
                                BIT(F_BOARD_SUPPLY) | BIT(F_SUPPLY_SENSOR) | BIT(F_LOST_TICKS) |
                                BIT(F_BACKGROUND) | BIT(F_HOST);

/* Gains, model and inputs are such that a resting arm gives no reason for a fault. */
bool model_sound(const supervisor_model_t *m, const app_inputs_t *in) {
    static const uint32_t same[] = {PARAMETER_observer_hz,  PARAMETER_torque_hz,
                                    PARAMETER_limits_scale, PARAMETER_sim_mass,
                                    PARAMETER_sim_friction, PARAMETER_sim_noise};
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++)
        if (model_now(m, same[k], 0) != parameter_table[same[k]].fallback)
            return false;
    for (uint32_t i = 0; i < m->image.n; i++)
        if (model_now(m, PARAMETER_kp, i) != m->image.joint[i].kp[0] ||
            model_now(m, PARAMETER_kd, i) != m->image.joint[i].kd[0] ||
            model_now(m, PARAMETER_encoder_ratio, i) != m->image.joint[i].ratio[0] ||
            model_now(m, PARAMETER_encoder_sign, i) != m->image.joint[i].sign[0] ||
            fabsf(model_now(m, PARAMETER_encoder_offset, i)) > 100) /* rad that a float resolves */
            return false;
    return model_now(m, PARAMETER_feedback, 0) != 0 &&
           model_now(m, PARAMETER_feedforward, 0) != 0 &&
           model_now(m, PARAMETER_payload_mass, 0) == m->image.arm.payload_mass[0] &&
           model_now(m, PARAMETER_rate_hz, 0) >= 500 && !model_defect(m) && !in->lost &&
           !in->overrun && (in->counts_valid & ((1u << m->image.n) - 1)) == (1u << m->image.n) - 1;
}

void model_find_all(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen,
                    found_t *found) {
    find_causes(m, in, found);
    find_heat(m, seen, found);
    if (!model_loops(m)) {
        memset(m->limit_run, 0, sizeof m->limit_run);
        memset(m->limit_for, 0, sizeof m->limit_for);
        found_t inputs = {0, 0};
        find_inputs(m, in, &inputs);
        /* While the arm is damped, the inputs may still be watched. */
        if (m->state == DAMPING || (m->state == FAULTED && m->stop == STOP_DAMP))
            found->may |= inputs.may | (!model_real(m) && model_defect(m) ? ~(uint64_t)0 : 0);
        return;
    }
    find_inputs(m, in, found);
    for (uint32_t i = 0; i < m->image.n; i++)
        find_joint(m, i, model_free(m, in), seen, found);
    find_motion(m, in, seen, found);
    /* A closed loop takes over changes of parameters at most every 16 ticks. */
    if (m->at_change <= 16)
        found->must &= CERTAIN;
    found->may |= MODEL_PHYSICS;
    if (!model_real(m) && model_defect(m))
        found->may |= ~(uint64_t)0; /* a defect of the simulated arm */
    if (model_now(m, PARAMETER_guard_direction, 0) == 0)
        found->may &= ~BIT(F_DIRECTION);
}
