/* The supervisor: the state of the arm, the first fault, and the stop that follows it. It acts on
 * the findings of the guards before the outputs change. */
#ifndef FIRMWARE_SAFETY_SUPERVISOR_H
#define FIRMWARE_SAFETY_SUPERVISOR_H

#include <stdbool.h>

#include "firmware/control/reference.h"
#include "firmware/safety/faults.h"
#include "firmware/safety/guard.h"
#include "firmware/safety/thermal.h"

typedef struct {
    volatile uint32_t state, fault; /* app_state_id_t, app_fault_t */
    /* The first fault: its joint, the value found and its limit; and the stop that follows. */
    volatile uint32_t fault_joint, stop;
    real_t fault_value, fault_limit;
    /* ticks until the outputs are on and the brakes open; until then the arm only holds */
    uint16_t opening;
    uint16_t waiting; /* ticks in which the outputs should be on and are not */
    uint16_t closing; /* ticks since the brakes began to close; the loop holds until they hold */
    guard_t guard;
    thermal_t thermal; /* no fault, stop or motion resets it */
} supervisor_t;

/* The data that the supervisor acts on: the constants of the tick, the loop and the motion. */
typedef struct {
    const control_t *control;
    scratch_t *scratch;
    loop_t *loop;
    motion_state_t *motion;
} supervised_t;

/* Returns whether the loop is closed and no fault is latched. */
static inline bool supervisor_closed(const supervisor_t *v) {
    return v->state == APP_STATE_RUNNING || v->state == APP_STATE_STOPPING ||
           v->state == APP_STATE_HOMING;
}

/* Returns whether the loop is closed, or a stop after a fault still needs it closed. */
static inline bool supervisor_drives(const supervisor_t *v) {
    return supervisor_closed(v) || (v->state == APP_STATE_FAULT && v->stop <= APP_STOP_LOWER);
}

/* Returns whether the motors damp the arm: the outputs are on, the duty cycles are zero. */
static inline bool supervisor_damps(const supervisor_t *v) {
    return (v->state == APP_STATE_FAULT || v->state == APP_STATE_DAMPING) &&
           v->stop == APP_STOP_DAMP;
}

/* Called in every tick with a closed loop: returns whether the brakes are to be open. `ready`: the
 * outputs are on. The loop gives torque for some ticks before the brakes open. */
bool supervisor_opens(supervisor_t *v, const control_t *control, bool ready);
/* Returns whether the brakes are still closed after a start: a stop then needs no torque. */
bool supervisor_shut(const supervisor_t *v, const control_t *control);
/* Called in every tick in which the arm rests and its brakes may take over: closes them, and returns
 * whether they hold, or there are none. */
bool supervisor_braked(supervisor_t *v, const control_t *control);

/* Latches a fault without a controlled stop: the outputs are off from the next tick on. */
void supervisor_latch(supervisor_t *v, finding_t finding);
/* Takes a finding of a guard. The first finding latches. A further finding while the arm is held,
 * lowered or damped replaces the stop with a worse one. */
void supervisor_take(supervisor_t *v, const supervised_t *all, finding_t finding);

/* Called in every tick after a fault, until it is cleared and the arm is not damped any more:
 * continues the stop until the brakes hold the arm. */
void supervisor_stop(supervisor_t *v, const supervised_t *all);

#endif
