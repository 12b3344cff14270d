/* Implements test/support/supervisor_model.h: the tick. */
#include "test/support/supervisor_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Best stops of firmware/FAULTS.md. */
static const uint8_t best[MODEL_FAULTS] = {
    [F_OVERRUN] = STOP_DAMP,         [F_ENCODER] = STOP_DAMP,         [F_ESTOP] = STOP_RELEASE,
    [F_NUMBER] = STOP_DAMP,          [F_MODEL] = STOP_DAMP,           [F_PARITY] = STOP_DAMP,
    [F_TRACKING] = STOP_HOLD,        [F_POSITION] = STOP_HOLD,        [F_VELOCITY] = STOP_DAMP,
    [F_TORQUE] = STOP_LOWER,         [F_VOLTAGE] = STOP_LOWER,        [F_SETPOINT] = STOP_HOLD,
    [F_SUPPLY_LOW] = STOP_RELEASE,   [F_SUPPLY_HIGH] = STOP_DAMP,     [F_GENERATED] = STOP_RELEASE,
    [F_WATCHDOG] = STOP_RELEASE,     [F_CRASH] = STOP_RELEASE,        [F_IMAGE] = STOP_RELEASE,
    [F_DIRECTION] = STOP_DAMP,       [F_HOMING] = STOP_HOLD,          [F_DRIVER] = STOP_RELEASE,
    [F_LOST_TICKS] = STOP_HOLD,      [F_TICK_STOPPED] = STOP_RELEASE, [F_CLOCK] = STOP_RELEASE,
    [F_BOARD_SUPPLY] = STOP_RELEASE, [F_SUPPLY_SENSOR] = STOP_HOLD,   [F_MAGNET] = STOP_DAMP,
    [F_BACKGROUND] = STOP_HOLD,      [F_REVERSALS] = STOP_DAMP,       [F_HOST] = STOP_HOLD,
    [F_TOOL_SPEED] = STOP_HOLD,      [F_THERMAL] = STOP_HOLD,         [F_STUCK] = STOP_DAMP,
    [F_NOISE] = STOP_DAMP,
};

/* Faults with the best stop hold that the arm cannot mend. */
static const uint64_t INPUTS = BIT(F_LOST_TICKS) | BIT(F_SUPPLY_SENSOR) | BIT(F_BACKGROUND);
static const uint64_t CAUSES =
    BIT(F_ESTOP) | BIT(F_DRIVER) | BIT(F_TICK_STOPPED) | BIT(F_CLOCK) | BIT(F_BOARD_SUPPLY);

static bool torqueless(const supervisor_model_t *m) {
    return model_now(m, PARAMETER_feedback, 0) == 0 && model_now(m, PARAMETER_feedforward, 0) == 0;
}

/* ------------------------------------------------------------------------------------ requests */

static void close_loop(supervisor_model_t *m) {
    model_reach(m, m->homing ? EVENT_HOME : EVENT_CLOSED, m->homing ? HOMING : RUNNING);
    m->closing = m->homing = false;
}

static void take_requests(supervisor_model_t *m) {
    if (m->leaving) {
        if (m->state == FAULTED)
            m->stop = STOP_RELEASE;
        else
            m->state = m->loaded ? IDLE : UNCONFIGURED;
        model_discard(m);
    } else if (m->closing && (m->state == IDLE || m->state == DAMPING)) {
        m->at_loop = m->unready = 0;
        m->opened = !model_brakes(m);
        model_close_heat(m);
        close_loop(m);
    } else if (m->closing && m->state == RUNNING)
        close_loop(m);
    if (m->stopping && (m->state == RUNNING || m->state == HOMING)) {
        model_discard(m);
        m->state = STOPPING;
        m->at_state = 0;
    }
    m->leaving = m->stopping = m->closing = m->kind_waits = false;
}

/* ----------------------------------------------------------------------------------- lease */

/* The lease is counted before the requests are taken up: a motion that waits is discarded. */
static void count_lease(supervisor_model_t *m, found_t *found) {
    if (m->lease == 0 || --m->lease > 0)
        return;
    model_overrides_end(m, false);
    if (m->state == HOMING || (m->state == RUNNING && m->seen.moving && !m->leaving))
        model_find(found, BIT(F_HOST), !m->stopping && !m->leaving, !m->stopping);
    else if (m->state == RUNNING && (m->seen.busy || m->kind_waits || m->stream || m->closing))
        model_find(found, BIT(F_HOST), false, !m->stopping);
    model_discard(m);
}

/* --------------------------------------------------------------------------------------- stops */

static bool motors(const supervisor_model_t *m) {
    for (uint32_t i = 0; i < m->image.n; i++)
        if (m->image.joint[i].gear[0] == 0 || m->image.joint[i].resistance[0] == 0)
            return false;
    return true;
}

/* The stops that are right after this fault: bit s for stop s. */
static uint32_t right_stops(const supervisor_model_t *m, uint32_t fault, const model_seen_t *seen) {
    double payload[4], least = 1e9, most = 0;
    const double *pose[] = {seen->q, seen->q_ref, m->seen.q};
    const double fraction = (double)model_now(m, PARAMETER_hold_fraction, 0);
    const bool feedback = model_now(m, PARAMETER_feedback, 0) != 0;
    const uint32_t first = best[fault];
    uint32_t right = 0;
    model_payload(m, payload);
    for (size_t k = 0; k < sizeof pose / sizeof pose[0]; k++) {
        const double share = model_load_share(m, pose[k], payload);
        least = fmin(least, 0.98 * share - 1e-3);
        most = fmax(most, 1.02 * share + 1e-3);
    }
    if (first <= STOP_HOLD && feedback && least <= fraction)
        right |= 1u << STOP_HOLD;
    if (first <= STOP_LOWER && feedback && least <= 1 && !(right && most <= fraction))
        right |= 1u << STOP_LOWER;
    if (first <= STOP_DAMP && motors(m) && !(right && most <= 1))
        right |= 1u << STOP_DAMP;
    if (right == 0 || (!motors(m) && most > 1) || first == STOP_RELEASE)
        right |= 1u << STOP_RELEASE;
    /* The brakes of the simulated arm open in the tick that closes the loop. */
    if (model_brakes(m) && !m->opened && !seen->brake_open)
        return 1u << STOP_RELEASE | (model_real(m) ? 0 : right);
    if (model_brakes(m) && (m->brakes_open <= model_ticks(m, 0.001 * m->board->brake_open_ms) + 3 ||
                            !m->seen.brake_open))
        right |= 1u << STOP_RELEASE; /* they are on their way */
    return right;
}

/* The stops that may follow a further finding in state fault. */
static uint32_t worse_stops(const supervisor_model_t *m, uint64_t faults) {
    uint32_t right = 0;
    for (uint32_t f = 1; f < MODEL_FAULTS; f++) {
        if (!(faults >> f & 1))
            continue;
        const bool release = best[f] == STOP_RELEASE || !motors(m);
        if (m->stop <= STOP_LOWER)
            right |= 1u << (release ? STOP_RELEASE : STOP_DAMP);
        else if (m->stop == STOP_DAMP && best[f] == STOP_RELEASE)
            right |= 1u << STOP_RELEASE;
    }
    return right;
}

static bool latch(supervisor_model_t *m, const model_seen_t *seen, const found_t *found,
                  const app_inputs_t *in) {
    if (seen->fault == 0 || seen->fault >= MODEL_FAULTS || !(found->may >> seen->fault & 1))
        return COMPLAIN(m, "fault %u in state %s without a reason (may %#llx)",
                        (unsigned)seen->fault, model_state_name[m->state],
                        (unsigned long long)found->may);
    if ((MODEL_PHYSICS >> seen->fault & 1) && m->quiet > model_ticks(m, 0.5) && model_sound(m, in))
        return COMPLAIN(m, "fault %u of a sound arm that was held quietly", (unsigned)seen->fault);
    const uint64_t others = (found->must | (found->may & ~MODEL_PHYSICS)) & ~BIT(seen->fault);
    m->stop = seen->stop;
    uint32_t right = model_loops(m) || m->state == DAMPING ? right_stops(m, seen->fault, seen)
                                                           : 1u << STOP_RELEASE;
    if (m->state == DAMPING)
        right = right >> STOP_DAMP & 1 || best[seen->fault] != STOP_RELEASE ? 1u << STOP_DAMP
                                                                            : 1u << STOP_RELEASE;
    m->stop = STOP_HOLD;
    /* Two findings in one tick; an arm that was moved before the torque came may be found twice. */
    if (others != 0)
        right |= worse_stops(m, others);
    if (seen->fault == F_TRACKING && model_real(m) && m->at_free < 5)
        right |= worse_stops(m, BIT(F_TRACKING));
    m->stop = seen->stop;
    if (!(right >> seen->stop & 1))
        return COMPLAIN(m, "stop %u after fault %u in state %s; right are %#x",
                        (unsigned)seen->stop, (unsigned)seen->fault, model_state_name[m->state],
                        (unsigned)right);
    m->at_stop = 0;
    model_reach(m, EVENT_FINDING, FAULTED);
    model_discard(m);
    m->fault = seen->fault;
    m->faults[m->fault]++;
    memset(m->limit_run, 0, sizeof m->limit_run);
    m->again = true;
    m->was_calm = m->quiet > model_ticks(m, 0.5) && model_sound(m, in);
    model_overrides_end(m, true);
    return true;
}

/* Faults of one guard, which are told apart by details. */
static uint64_t family(uint32_t fault) {
    static const uint64_t family[] = {BIT(F_ENCODER) | BIT(F_PARITY) | BIT(F_MAGNET),
                                      BIT(F_TORQUE) | BIT(F_VOLTAGE)};
    for (size_t k = 0; k < sizeof family / sizeof family[0]; k++)
        if (family[k] >> fault & 1)
            return family[k];
    return BIT(fault);
}

/* The stop of a fault that is latched: it may only get worse, for a reason. */
static bool stop_again(supervisor_model_t *m, const model_seen_t *seen, const found_t *found) {
    const bool rest = model_at_rest(m, seen);
    const double half = model_ticks(m, 0.5);
    uint32_t right = 1u << m->stop;
    /* An input that is still wrong is no further finding; a calm arm gives no other reason. */
    const bool calm = m->was_calm && m->disturbed == 0 && m->at_stop < model_ticks(m, 0.5);
    const uint64_t same = INPUTS >> m->fault & 1 ? BIT(m->fault) : 0;
    const uint64_t others = ~same & ~(calm ? MODEL_PHYSICS : 0);
    const uint64_t further = found->must & others & ~MODEL_PHYSICS & ~family(m->fault);
    if (worse_stops(m, further) != 0)
        right = worse_stops(m, found->may & others & ~MODEL_PHYSICS);
    else
        right |= worse_stops(m, found->may & others);
    if (m->stop <= STOP_LOWER && model_brakes(m) && (rest || !m->opened) && !seen->brake_open)
        right |= 1u << STOP_RELEASE;
    if (m->stop == STOP_DAMP && model_brakes(m) && m->at_stop + 3 >= half)
        right = m->at_stop > half + 3 ? 1u << STOP_RELEASE : right | 1u << STOP_RELEASE;
    if (!(right >> seen->stop & 1))
        return COMPLAIN(m, "stop %u became %u after fault %u (right %#x, found %#llx)",
                        (unsigned)m->stop, (unsigned)seen->stop, (unsigned)m->fault,
                        (unsigned)right, (unsigned long long)found->must);
    if (m->stop != seen->stop)
        m->at_stop = 0;
    m->stop = seen->stop;
    if (seen->fault != m->fault)
        return COMPLAIN(m, "fault %u became %u", (unsigned)m->fault, (unsigned)seen->fault);
    return true;
}

/* ---------------------------------------------------------------------------------------- states */

/* The end of a stop or of homing: at rest, and brakes closed. */
static bool end_at_rest(supervisor_model_t *m, const model_seen_t *seen) {
    /* A closed loop may not know yet that the arm has brakes now, or none. */
    const bool either = m->brakes_changed <= 16 && (seen->state == IDLE || seen->state == RUNNING);
    const uint32_t end = either ? seen->state : model_brakes(m) ? IDLE : RUNNING;
    const double shut = !either && model_brakes(m) && m->opened && model_real(m)
                            ? model_ticks(m, 0.001 * m->board->brake_close_ms)
                            : 0;
    const bool rest = model_at_rest(m, seen);
    if (seen->state == end) {
        if (!rest)
            return COMPLAIN(m, "%s ended in motion", model_state_name[m->state]);
        if (m->brakes_shut + 2 < shut)
            return COMPLAIN(m, "the torque went %u ticks after the brakes began to close",
                            (unsigned)m->brakes_shut);
        model_reach(m, end == IDLE ? EVENT_RESTED : EVENT_RESUMED, end);
        return true;
    }
    if (m->state == STOPPING && rest && m->at_rest > shut + model_ticks(m, 0.2) + 5 &&
        m->at_state > shut + model_ticks(m, 0.2) + 5)
        return COMPLAIN(m, "stopping does not end at rest after %u ticks", (unsigned)m->at_rest);
    return true;
}

static bool follow_state(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen,
                         const found_t *found) {
    if (m->state == FAULTED)
        return stop_again(m, seen, found);
    if (seen->state == FAULTED)
        return latch(m, seen, found, in);
    /* The motion came to rest by itself; or a stop has ended, so that the loop is open. */
    const bool over = (found->must == BIT(F_HOST) && !seen->moving) ||
                      (m->state == STOPPING && seen->state == IDLE && !(found->must & CAUSES));
    if (found->must != 0 && !over)
        return COMPLAIN(m, "no fault in state %s although one of %#llx was found",
                        model_state_name[m->state], (unsigned long long)found->must);
    if (m->state == STOPPING || m->state == HOMING)
        return end_at_rest(m, seen);
    const double half = model_ticks(m, 0.5);
    if (m->state == DAMPING && model_brakes(m) && m->at_stop + 3 >= half &&
        (seen->state == IDLE || m->at_stop > half + 3)) {
        model_reach(m, EVENT_RESTED, IDLE);
        m->left = true; /* and not by a clear in this tick */
    }
    return true;
}

/* --------------------------------------------------------------------------------------- outputs */

static bool check_brakes(supervisor_model_t *m, const model_seen_t *seen) {
    const bool damps = m->state == DAMPING || (m->state == FAULTED && m->stop == STOP_DAMP);
    const bool brakes = model_brakes(m);
    if (!brakes || m->brakes_changed < model_ticks(m, 0.1)) {
        if (m->brakes_changed >= model_ticks(m, 0.1) && !seen->brake_open)
            return COMPLAIN(m, "the output of the brakes is closed, but there are none");
        return true;
    }
    if (damps && seen->brake_open)
        return COMPLAIN(m, "the brakes are open while the arm is damped");
    if (damps)
        return true;
    const bool starts = m->state == RUNNING || m->state == HOMING;
    if (torqueless(m))
        return true;
    /* A fault while the brakes close takes over the speed of the arm, and may lower it. */
    for (uint32_t i = 0; i < m->image.n; i++)
        if (!seen->brake_open && m->state != FAULTED && seen->qd_ref[i] != 0)
            return COMPLAIN(m, "the reference moves while the brakes are closed");
    if (starts && m->at_loop == 0 && model_real(m) && seen->brake_open)
        return COMPLAIN(m, "the brakes open before there is torque");
    const bool homed = m->state == HOMING && model_at_rest(m, seen); /* they close at its end */
    if (starts && m->opened && !seen->brake_open && !homed)
        return COMPLAIN(m, "the brakes close in state %s", model_state_name[m->state]);
    if (starts && !seen->brake_open && !homed && m->unready == 0 &&
        m->at_loop > model_ticks(m, 0.1) + 600)
        return COMPLAIN(m, "the brakes do not open");
    /* They may have opened in the tick of the fault, before it was found. */
    const bool found_now = m->state == FAULTED && m->at_stop == 0;
    if (!starts && seen->brake_open && !m->seen.brake_open && model_real(m) && !found_now)
        return COMPLAIN(m, "the brakes open again while the arm stops");
    return true;
}

static bool check_outputs(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen) {
    const bool on =
        model_loops(m) || m->state == DAMPING || (m->state == FAULTED && m->stop == STOP_DAMP);
    if (seen->enable != on)
        return COMPLAIN(m, "enable %u in state %s, stop %u", (unsigned)seen->enable,
                        model_state_name[m->state], (unsigned)m->stop);
    if (seen->enable && model_real(m) && in->latched)
        return COMPLAIN(m, "enabled against the latch");
    for (uint32_t i = 0; i < m->image.n; i++)
        if (seen->duty[i] != 0 && !model_loops(m))
            return COMPLAIN(m, "duty in state %s", model_state_name[m->state]);
    if (!on && seen->brake_open)
        return COMPLAIN(m, "brakes open in state %s", model_state_name[m->state]);
    if (m->loaded && seen->hardware != model_real(m))
        return COMPLAIN(m, "outputs of the wrong arm");
    if (m->cleared && m->state != FAULTED && !m->left && m->brakes_changed > 0 &&
        (seen->enable != m->seen.enable || seen->brake_open != m->seen.brake_open))
        return COMPLAIN(m, "clear changed the outputs");
    return !on || check_brakes(m, seen);
}

/* A jog ends by itself if it is not repeated. */
static bool check_jog(supervisor_model_t *m, const model_seen_t *seen) {
    double brake = 0;
    for (uint32_t i = 0; i < m->image.n; i++)
        brake = fmax(brake, (double)(m->image.joint[i].velocity[0] /
                                     fmaxf(m->image.joint[i].acceleration[0], 0.1f)));
    const double most = model_ticks(m, m->jog_s + brake) + 10;
    /* It begins when torque and brakes are there. */
    const uint32_t since = m->at_request < m->at_free ? m->at_request : m->at_free;
    const double open =
        model_real(m) && model_brakes(m) ? model_ticks(m, 0.001 * m->board->brake_open_ms) : 0;
    if (m->state == RUNNING && m->kind == MOTION_JOG && seen->moving && since > most + open)
        return COMPLAIN(m, "a jog goes on %u ticks after its last request",
                        (unsigned)m->at_request);
    return true;
}

/* ----------------------------------------------------------------------------------------- tick */

static void count(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen) {
    const bool rest = model_at_rest(m, seen);
    m->at_rest = rest && m->unready == 0 ? m->at_rest + 1 : 0;
    m->at_state++;
    m->at_stop++;
    m->at_request++;
    m->at_loop++;
    m->since_switch++;
    m->read |= in->counts_valid;
    m->brakes_open = seen->brake_open ? m->brakes_open + 1 : 0;
    m->brakes_shut = seen->brake_open ? 0 : m->brakes_shut + 1;
    m->opened = m->opened || seen->brake_open;
    m->at_free = model_loops(m) && model_free(m, in) ? m->at_free + 1 : 0;
    m->brakes_changed++;
    m->at_change++;
    m->disturbed -= m->disturbed > 0;
    const bool calm =
        m->state == RUNNING && m->disturbed == 0 && rest && !seen->moving && seen->limited == 0;
    m->quiet = calm && model_sound(m, in) ? m->quiet + 1 : 0;
    m->cleared = m->left = m->dropped = false;
}

static void remember_outside(supervisor_model_t *m, const model_seen_t *seen) {
    for (uint32_t i = 0; i < m->image.n; i++) {
        const double lower = (double)model_now(m, PARAMETER_position_lower, i),
                     upper = (double)model_now(m, PARAMETER_position_upper, i);
        /* where arm and reference can come to rest; the observer may not know the speed yet */
        const double step = (seen->q[i] - m->seen.q[i]) * m->rate,
                     speed = fabs(step) > fabs(seen->qd[i]) ? step : seen->qd[i],
                     brake = 0.6 / fmax((double)m->image.joint[i].acceleration[0], 0.1),
                     end = seen->q[i] + brake * speed * fabs(speed),
                     end_ref = seen->q_ref[i] + brake * seen->qd_ref[i] * fabs(seen->qd_ref[i]);
        const double least = fmin(fmin(seen->q_ref[i], end_ref), fmin(seen->q[i], end)),
                     most = fmax(fmax(seen->q_ref[i], end_ref), fmax(seen->q[i], end));
        const bool out = least < lower - 1e-6 || most > upper + 1e-6;
        m->outside[i] = model_loops(m) && m->at_loop > 0 && !m->again ? m->outside[i] && out : out;
    }
}

void model_disturb(supervisor_model_t *m) {
    m->disturbed = m->rate;
}

bool model_tick(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen) {
    found_t found = {0, 0};
    m->rate = (uint32_t)model_now(m, PARAMETER_rate_hz, 0);
    m->left = m->leaving || m->stopping || m->closing;
    count_lease(m, &found);
    take_requests(m);
    remember_outside(m, seen);
    m->again = false;
    model_find_all(m, in, seen, &found);
    if (!follow_state(m, in, seen, &found))
        return false;
    if (seen->state != m->state || seen->fault != m->fault)
        return COMPLAIN(m, "state %u, fault %u instead of %u, %u", (unsigned)seen->state,
                        (unsigned)seen->fault, (unsigned)m->state, (unsigned)m->fault);
    if (m->state == FAULTED && seen->stop != m->stop)
        return COMPLAIN(m, "stop %u instead of %u", (unsigned)seen->stop, (unsigned)m->stop);
    if (m->loaded && seen->leased != (m->lease > 0))
        return COMPLAIN(m, "telemetry tells %u about a lease of %u more ticks",
                        (unsigned)seen->leased, (unsigned)m->lease);
    if (m->loaded && m->polled && !model_notices(m, seen))
        return false;
    const bool right =
        check_outputs(m, in, seen) && model_limits(m, in, seen) && check_jog(m, seen);
    count(m, in, seen);
    m->seen = *seen;
    return right;
}
