/* Latches faults and runs the stops that follow them, until the arm is at rest. */
#include "firmware/safety/supervisor.h"

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/stop.h"

/* Sets the reference to the estimated state of the arm; it brakes from there. */
static void catch_arm(supervisor_t *v, const supervised_t *all) {
    const control_t *c = all->control;
    loop_t *s = all->loop;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        s->q_mid[i] = s->q_hat[i];
        s->qd_mid[i] = real_clamp(s->qd_hat[i], c->arm->joint[i].proved.qd);
    }
    guard_start(c, &v->guard, s);
}

/* Begins a stop, or replaces the present stop with a worse one. */
static void begin_stop(supervisor_t *v, const supervised_t *all, uint32_t best) {
    v->stop = stop_choose(all->control, all->scratch, all->loop, best);
    v->guard.stopped = 0;
    if (v->stop <= APP_STOP_LOWER)
        reference_brake(all->motion);
    else
        all->motion->kind = MOTION_HOLD;
}

/* Without feedback and feedforward nothing but the brakes holds the arm. */
bool supervisor_opens(supervisor_t *v, const control_t *c, bool ready) {
    const bool torque = c->feedback != FEEDBACK_OFF || c->feedforward != FEEDFORWARD_OFF;
    v->opening = (uint16_t)(v->opening - (ready && v->opening > 0));
    return !c->brakes || (torque && !supervisor_shut(v, c) && v->closing == 0);
}

bool supervisor_shut(const supervisor_t *v, const control_t *c) {
    return c->brakes && v->opening > c->brake_open;
}

bool supervisor_braked(supervisor_t *v, const control_t *c) {
    if (!c->brakes || v->closing >= c->brake_close)
        return true;
    v->closing++;
    return false;
}

void supervisor_latch(supervisor_t *v, finding_t f) {
    v->fault = f.fault;
    v->fault_joint = f.joint;
    v->fault_value = f.value;
    v->fault_limit = f.limit;
    v->stop = APP_STOP_RELEASE;
    v->state = app_state_next(v->state, APP_EVENT_FAULT);
}

void supervisor_take(supervisor_t *v, const supervised_t *all, finding_t f) {
    const uint32_t best = app_fault_stop(f.fault);
    if (supervisor_closed(v)) {
        supervisor_latch(v, f);
        begin_stop(v, all, supervisor_shut(v, all->control) ? APP_STOP_RELEASE : best);
        if (v->stop <= APP_STOP_LOWER && f.fault != APP_FAULT_SETPOINT)
            catch_arm(v, all);
    } else if (v->state == APP_STATE_DAMPING) {
        supervisor_latch(v, f);
        begin_stop(v, all, best > APP_STOP_DAMP ? best : APP_STOP_DAMP);
    } else if (v->state == APP_STATE_FAULT && (v->stop < APP_STOP_DAMP || best > v->stop)) {
        begin_stop(v, all, best > APP_STOP_DAMP ? best : APP_STOP_DAMP);
    }
}

void supervisor_stop(supervisor_t *v, const supervised_t *all) {
    const control_t *c = all->control;
    guard_t *g = &v->guard;
    const bool still = all->motion->kind == MOTION_HOLD;
    g->stopped = (uint16_t)(g->stopped + (g->stopped < UINT16_MAX));
    if (v->stop == APP_STOP_LOWER && (!c->brakes || !still))
        stop_lower(c, all->scratch, all->loop, all->motion);
    if (c->brakes &&
        (v->stop == APP_STOP_DAMP ? g->stopped > c->damp : still && supervisor_braked(v, c))) {
        v->stop = APP_STOP_RELEASE;
        v->state = app_state_next(v->state, APP_EVENT_RESTED); /* a fault stays until cleared */
    }
}
