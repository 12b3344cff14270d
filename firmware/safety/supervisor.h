/* The supervisor: the state that the arm is in, the first fault, and the stop that goes on after
 * it. It looks at what the control step has made before anything is put out. */
#ifndef FIRMWARE_SAFETY_SUPERVISOR_H
#define FIRMWARE_SAFETY_SUPERVISOR_H

#include <stdbool.h>

#include "firmware/control/reference.h"
#include "firmware/safety/faults.h"
#include "firmware/safety/guard.h"

typedef struct {
    volatile uint32_t state, fault; /* app_state_id_t, app_fault_t */
    /* The first fault: its joint, what was seen and what is allowed; and the stop that goes on. */
    volatile uint32_t fault_joint, stop;
    real_t fault_value, fault_limit;
    guard_t guard;
} supervisor_t;

/* What the supervisor decides about: the constants of the tick, and what moves. */
typedef struct {
    const control_t *control;
    scratch_t *scratch;
    loop_t *loop;
    motion_state_t *motion;
} supervised_t;

/* The loop is closed, and no fault is latched. */
static inline bool supervisor_closed(const supervisor_t *v) {
    return v->state == APP_STATE_RUNNING || v->state == APP_STATE_STOPPING ||
           v->state == APP_STATE_HOMING;
}

/* The loop is closed, or a stop after a fault still needs it. */
static inline bool supervisor_drives(const supervisor_t *v) {
    return supervisor_closed(v) || (v->state == APP_STATE_FAULT && v->stop <= APP_STOP_LOWER);
}

/* Latches a fault without a stop: the outputs are off from the next tick on. */
void supervisor_latch(supervisor_t *v, finding_t finding);
/* The first finding latches; one while the arm is held or lowered makes the stop a worse one. */
void supervisor_take(supervisor_t *v, const supervised_t *all, finding_t finding);

/* After a fault, in every tick: goes on with the stop until brakes have the arm. */
void supervisor_stop(supervisor_t *v, const supervised_t *all);

#endif
