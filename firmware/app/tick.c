/* The tick: sense, estimate, refer, compute, feed back, drive, supervise, record, simulate, in that
 * order. The interrupt calls app_tick and nothing else. */
#include "firmware/app/tick.h"

#include <string.h>

#include "firmware/app/handover.h"
#include "firmware/control/number.h"
#include "firmware/safety/homing.h"

/* Counts the turns: an encoder reports only its position within one turn. After too many ticks
 * without a reading (an erase of the flash takes a second or two) the turns are not known, and the
 * joint must be homed again. */
static void read_encoders(app_t *app, const control_t *c, const app_inputs_t *in) {
    const uint32_t all = joints_mask(c->arm->n);
    const bool read = (in->counts_valid & all) == all;
    app->seen |= in->counts_valid;
    app->missed += in->lost + !read;
    if (app->missed > c->blind)
        app->loop.unhomed |= c->turning;
    if (read)
        app->missed = 0;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const int32_t wrap = c->joint[i].wrap;
        int32_t moved = (in->counts[i] - app->loop.counts[i]) % wrap;
        moved += moved < -wrap / 2 ? wrap : moved > wrap / 2 ? -wrap : 0;
        app->loop.counts[i] += (in->counts_valid >> i) & 1 ? moved : 0;
    }
}

void app_sense(app_t *app, const control_t *c, const app_inputs_t *in) {
    if (c->simulated)
        sim_arm_counts(&app->sim_arm, app->loop.counts);
    else
        read_encoders(app, c, in);
    control_sense(c, &app->loop);
}

/* Writes the record for telemetry directly into the ring. */
static void record_sample(app_t *app, const control_t *c) {
    const loop_t *s = &app->loop;
    if (c->sample_every == 0 || ++app->since_sample < c->sample_every)
        return;
    app->since_sample = 0;
    if (app->head - app->tail >= APP_SAMPLES) {
        app->dropped++;
        return;
    }
    sample_t *out = &app->memory.ring[app->head % APP_SAMPLES];
    out->tick = app->ticks;
    out->state = app->safety.state | app->safety.fault << 8 |
                 (uint32_t)(app->motion.kind != MOTION_HOLD) << 16 | app->notice << 17 |
                 (uint32_t)lease_held(&app->lease) << 19;
    out->limited = s->limited;
    out->unproved = s->unproved;
    out->cost = app->cost;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        out->q_ref[i] = s->q_ref[i];
        out->qd_ref[i] = s->qd_ref[i];
        out->qdd_ref[i] = s->qdd_ref[i];
        out->q[i] = s->q[i];
        out->qd[i] = s->qd_hat[i];
        out->q_arm[i] = c->simulated ? app->sim_arm.q[i] : s->q[i];
        out->tau_model[i] = s->tau_model[i];
        out->tau[i] = s->tau[i];
        out->volt[i] = s->volt[i];
    }
    app->head++;
}

static void simulate(app_t *app, const control_t *c, const app_outputs_t *out) {
    if (!c->simulated)
        return;
    app->sim_arm.open = !out->enable;
    sim_arm_drive(c, &app->sim_arm, out->duty_q15, app->loop.tau);
    sim_arm_step(c, &app->sim_arm, &app->memory.scratch, !out->enable && c->brakes);
}

static void duty_none(const app_t *app, app_outputs_t *out) {
    for (uint32_t i = 0; i < app->n; i++)
        out->duty_q15[i] = 0;
}

static supervised_t supervised(app_t *app, const control_t *c) {
    return (supervised_t){c, &app->memory.scratch, &app->loop, &app->motion};
}

/* Not inlined: its stack frame must not be part of the tick's frame, from which the kernels are
 * called. */
static __attribute__((noinline)) void take(app_t *app, const control_t *c, finding_t f) {
    const supervised_t all = supervised(app, c);
    supervisor_take(&app->safety, &all, f);
}

INLINE void judge(app_t *app, const control_t *c, finding_t f) {
    if (f.fault != APP_FAULT_NONE)
        take(app, c, f);
}

/* Finds points that arrive too late. A streamed motion that ran out of points is already
 * braking. */
static finding_t guard_stream(app_t *app, const control_t *c) {
    motion_state_t *m = &app->motion;
    const uint32_t waited = app->ticks - app->point_tick;
    finding_t f = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
    const bool late =
        c->setpoint != 0 && m->kind == MOTION_POINTS && !m->as.points.ended && waited > c->setpoint;
    if (m->starved != 0 || late) {
        f.fault = APP_FAULT_SETPOINT;
        f.value = (real)(int32_t)waited;
        f.limit = (real)(int32_t)(m->starved != 0 ? m->starved : c->setpoint);
        m->starved = 0;
    }
    return f;
}

/* Adds the torques of this tick to the heat of the motors. After a fault their heat is no reason to
 * drop an arm that is held or lowered. Stages that are run without a tick, to measure their time,
 * neither warm nor cool a motor; that time lacks this guard, 1 or 2 % of a tick. Not inlined, as
 * take(). */
static __attribute__((noinline)) void warm(app_t *app, const control_t *c) {
    if (app->detached)
        return;
    const finding_t f = thermal_guard(c, &app->safety.thermal, &app->loop);
    if (supervisor_closed(&app->safety))
        judge(app, c, f);
}

/* Returns whether a fault has taken the torques from the arm. */
static bool ended(const supervisor_t *v) {
    return v->state == APP_STATE_FAULT && v->stop > APP_STOP_LOWER;
}

/* Checks the results of the control step before they reach the outputs. */
static void supervise(app_t *app, const control_t *c, app_outputs_t *out) {
    supervisor_t *v = &app->safety;
    const uint32_t wrong = direction_guard(c, &app->memory.scratch, &v->guard, &app->loop);
    if (app->safety.opening == 0)
        judge(app, c, guard_stream(app, c));
    else
        app->point_tick = app->ticks; /* a full buffer waits for the brakes */
    judge(app, c, guard_loop(c, &v->guard, &app->loop, wrong));
    /* A jog that is not repeated brakes. */
    const uint32_t kind = app->motion.kind;
    if ((kind == MOTION_JOG || kind == MOTION_BRAKE) && v->state == APP_STATE_RUNNING)
        judge(app, c, guard_tool(c, &app->loop));
    if (!ended(v))
        warm(app, c);
    if (!ended(v))
        return;
    duty_none(app, out);
    out->enable = supervisor_damps(v);
    out->brake_open = out->enable && !c->brakes;
}

/* Notes the time at which a stage begins. */
INLINE void mark(app_t *app, const control_t *c, uint32_t stage) {
    if (c->watch)
        app->stamp[stage] = app_clock();
}

/* Finds a motion of the real arm that was planned from another position: somebody has moved the arm
 * before the outputs came on. The reference must not jump back there. A jump of an eighth of
 * guard_tracking is allowed: the feedback then pushes with an eighth of what that guard allows. */
static finding_t guard_begin(const control_t *c, const motion_state_t *m, const loop_t *s) {
    const bool points = m->kind == MOTION_POINTS && m->as.points.head != m->as.points.tail;
    const bool profile =
        m->kind == MOTION_QUINTIC || m->kind == MOTION_CYCLOID || m->kind == MOTION_TRAPEZOID;
    if (m->count == 0 && (points || profile) && !c->simulated)
        for (uint32_t i = 0; i < c->arm->n; i++) {
            const real from = points ? m->as.points.point[m->as.points.tail % APP_POINTS][i]
                                     : m->as.profile.start[i];
            const real near = real_half(real_half(real_half(c->joint[i].track)));
            if (real_exceeds(from, s->q_mid[i], near) || real_exceeds(s->q_mid[i], from, near))
                return (finding_t){APP_FAULT_TRACKING, i, real_sub(from, s->q_mid[i]), near};
        }
    return (finding_t){APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
}

/* Advances the motion, once the brakes are open; homing first checks whether it has found its stop
 * or switch. Not inlined, as take(). */
static __attribute__((noinline)) void refer(app_t *app, const control_t *c,
                                            const app_inputs_t *in) {
    app->safety.waiting = (uint16_t)(in->ready ? 0 : app->safety.waiting + 1);
    if (!in->ready) { /* the outputs come on later: there must be no jump then */
        control_settle(c, &app->loop);
        reference_rest(c, &app->loop);
        if (app->safety.waiting > c->damp) /* or never */
            judge(app, c, (finding_t){APP_FAULT_DRIVER, APP_NO_JOINT, 0, 0});
    }
    if (app->safety.opening > 0)
        return;
    if (app->motion.kind == MOTION_HOME)
        judge(app, c, homing_step(c, &app->motion, &app->loop, in->switches));
    judge(app, c, guard_begin(c, &app->motion, &app->loop));
    reference_step(c, &app->motion, &app->loop);
}

static void compute(app_t *app, const control_t *c) {
    loop_t *s = &app->loop;
    control_dynamics(c, &app->memory.scratch, s);
    app->unproved += s->unproved != 0;
    if (c->simulated && defect_is(&app->sim_arm.defect, DEFECT_NUMBER)) /* NaN in floats */
        memset(&s->tau_model[defect_joint(&app->sim_arm.defect)], 0xff, sizeof s->tau_model[0]);
}

static void feed_back(app_t *app, const control_t *c) {
    control_feedback(c, &app->loop);
    if (app->motion.kind == MOTION_HOME)
        homing_limit(c, &app->motion, &app->loop);
}

/* One control step, all stages. */
void app_stages_run(app_t *app, const control_t *c, const app_inputs_t *in, app_outputs_t *out) {
    mark(app, c, STAGE_SENSE);
    app_sense(app, c, in);
    mark(app, c, STAGE_ESTIMATE);
    control_estimate(c, &app->loop);
    mark(app, c, STAGE_REFERENCE);
    refer(app, c, in);
    mark(app, c, STAGE_DYNAMICS);
    compute(app, c);
    mark(app, c, STAGE_FEEDBACK);
    feed_back(app, c);
    mark(app, c, STAGE_DRIVE);
    control_drive(c, in->supply_mV, &app->loop, out->duty_q15);
    mark(app, c, STAGE_GUARD);
    supervise(app, c, out);
    mark(app, c, STAGE_SAMPLE);
    record_sample(app, c);
    mark(app, c, STAGE_SIM_ARM);
    simulate(app, c, out);
    mark(app, c, STAGES);
}

/* A tick with an open loop: the outputs are off, or the windings are shorted to damp the arm. The
 * reference follows the measured position. */
static void rest(app_t *app, const control_t *c, const app_inputs_t *in, app_outputs_t *out) {
    loop_t *s = &app->loop;
    app_sense(app, c, in);
    control_settle(c, s);
    reference_rest(c, s);
    for (uint32_t i = 0; i < c->arm->n; i++)
        s->tau_model[i] = s->tau[i] = s->volt[i] = real_known(0);
    duty_none(app, out);
    s->limited = s->unproved = 0;
    if (!out->enable) /* shorted windings get hot in a way that is not known */
        warm(app, c);
    record_sample(app, c);
    simulate(app, c, out);
}

static void close_loop(app_t *app, const control_t *c) {
    app->safety.state = app_state_next(
        app->safety.state, app->motion.kind == MOTION_HOME ? APP_EVENT_HOME : APP_EVENT_CLOSE);
    control_settle(c, &app->loop);
    reference_rest(c, &app->loop);
    guard_start(c, &app->safety.guard, &app->loop);
    thermal_start(c, &app->safety.thermal);
    app->safety.opening = (uint16_t)(c->brake_torque + c->brake_open);
    app->safety.closing = app->safety.waiting = 0;
    app->since_sample = c->sample_every; /* the first tick is recorded */
}

/* Acts on a lease that has lapsed: the client that moved the arm is gone. An arm that is held goes
 * on being held, and a motion that has not begun never begins. Every tick sees to it again, until
 * there is another lease or a motion that needs none. */
static void host_lost(app_t *app, const control_t *c) {
    const bool open = !supervisor_closed(&app->safety);
    if (open && app->safety.state != APP_STATE_FAULT)
        app->motion.kind = MOTION_HOLD;
    app->closing = 0;
    if (app->stopping) /* it brakes from this tick on */
        return;
    if (app->safety.state == APP_STATE_HOMING ||
        (app->safety.state == APP_STATE_RUNNING && app->motion.kind != MOTION_HOLD))
        judge(app, c, (finding_t){APP_FAULT_HOST, APP_NO_JOINT, 0, 0});
}

static void take_requests(app_t *app) {
    const control_t *c = &app->control[app->now];
    if (lease_lapsed(&app->lease))
        host_lost(app, c);
    if (app->closing &&
        (app->safety.state == APP_STATE_IDLE || app->safety.state == APP_STATE_DAMPING))
        close_loop(app, c);
    app->closing = 0;
    if (app->safety.state == APP_STATE_RUNNING && app->motion.kind == MOTION_HOME)
        app->safety.state = app_state_next(app->safety.state, APP_EVENT_HOME);
    if (app->stopping &&
        (app->safety.state == APP_STATE_RUNNING || app->safety.state == APP_STATE_HOMING)) {
        app->safety.state = app_state_next(app->safety.state, APP_EVENT_STOP);
        if (supervisor_shut(&app->safety, c)) { /* the brakes never let go */
            app->motion.kind = MOTION_HOLD;
            app->safety.closing = c->brake_close;
        } else {
            reference_brake(&app->motion);
        }
    }
    app->stopping = 0;
    const bool ends =
        app->safety.state == APP_STATE_STOPPING || app->safety.state == APP_STATE_HOMING;
    if (app->motion.kind != MOTION_HOME)
        app->loop.pressing = 0;
    if (ends && app->motion.kind == MOTION_HOLD && supervisor_braked(&app->safety, c))
        app->safety.state =
            app_state_next(app->safety.state, c->brakes ? APP_EVENT_RESTED : APP_EVENT_RESUME);
    if (app->leaving) {
        app->safety.stop = APP_STOP_RELEASE;
        app->safety.state = app_state_next(app->safety.state, APP_EVENT_OFF);
        app->motion.kind = MOTION_HOLD;
    }
    app->leaving = 0;
}

/* Checks the inputs before the control step uses them. */
static __attribute__((noinline)) void guard(app_t *app, const control_t *c,
                                            const app_inputs_t *in) {
    app->overruns += in->overrun;
    app->lost += in->lost;
    const finding_t f = guard_inputs(c, &app->safety.guard, in, app->safety.fault);
    /* The hardware may switch the outputs of the real arm off at any time, also while they are
     * off. */
    if (!c->simulated && in->latched && app->safety.state == APP_STATE_IDLE) {
        supervisor_latch(&app->safety, f);
        app->motion.kind = MOTION_HOLD;
        app->closing = 0;
    }
    judge(app, c, f);
    if (c->simulated && app->sim_arm.singular)
        judge(app, c, (finding_t){APP_FAULT_MODEL, APP_NO_JOINT, 0, 0});
    if (app->safety.state == APP_STATE_FAULT || app->safety.state == APP_STATE_DAMPING) {
        const supervised_t all = supervised(app, c);
        supervisor_stop(&app->safety, &all);
    }
}

static void count_costs(app_t *app) {
    app_stages_t *s = &app->stages;
    s->ticks++;
    for (uint32_t k = 0; k <= STAGES; k++) {
        const uint32_t from = k < STAGES ? k : 0, to = k < STAGES ? k + 1 : STAGES;
        const uint32_t cost = app_clock_steps(app->stamp[from], app->stamp[to]);
        s->least[k] = cost < s->least[k] ? cost : s->least[k];
        s->most[k] = cost > s->most[k] ? cost : s->most[k];
        s->sum[k] += cost;
    }
}

static void step(app_t *app, const control_t *c, const app_inputs_t *in, app_outputs_t *out) {
    const app_inputs_t now = c->simulated ? sim_arm_inputs(&app->sim_arm, &app->motion, in) : *in;
    out->hardware = !c->simulated;
    guard(app, c, &now);
    if (supervisor_drives(&app->safety)) {
        out->enable = 1;
        out->brake_open = supervisor_opens(&app->safety, c, now.ready);
        app_stages_run(app, c, &now, out);
        if (c->watch)
            count_costs(app);
    } else {
        out->enable = supervisor_damps(&app->safety);
        out->brake_open = out->enable && !c->brakes;
        rest(app, c, &now, out);
    }
}

void app_tick(app_t *app, const app_inputs_t *in, app_outputs_t *out) {
    const uint32_t start = app_clock();
    app->ticks++;
    out->enable = out->brake_open = 0;
    lease_tick(&app->lease);
    if (app->detached) {
        app->switched++; /* this tick reads no encoders */
        app->missed += 1 + in->lost;
        app->lost += in->lost;
        return;
    }
    if (app->loaded) {
        if (!control_keeps(app))
            control_take(app);
        take_requests(app);
        step(app, &app->control[app->now], in, out);
    }
    app->enabled = out->enable;
    app->cost = app_clock_steps(start, app_clock());
}

void app_fault(app_t *app, uint32_t fault) {
    const finding_t f = {fault, APP_NO_JOINT, 0, 0};
    const uint32_t lock = app_clock_lock();
    if (app->safety.state != APP_STATE_FAULT) {
        supervisor_latch(&app->safety, f);
        app->motion.kind = MOTION_HOLD;
    }
    app_clock_unlock(lock);
}
