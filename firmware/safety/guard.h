/* The guards find faults: they check the inputs and the results of the control step before the
 * outputs change. Each call returns at most one finding. */
#ifndef FIRMWARE_SAFETY_GUARD_H
#define FIRMWARE_SAFETY_GUARD_H

#include "firmware/control/control.h"
#include "firmware/control/io.h"
#include "firmware/control/setup.h"
#include "firmware/safety/effort.h"
#include "firmware/safety/faults.h"

/* State of the guards from tick to tick (firmware/safety/guard.c and direction.c). */
typedef struct {
    uint32_t outside;  /* bit i: joint i has been beyond its position limit since the loop was
                        * closed */
    int32_t supply_mV; /* measured supply; below 0: see firmware/control/io.h */
    /* late: consecutive ticks that overran; unread: consecutive ticks in which an encoder gave no
     * valid value; phase: tick within the period of the direction check; stopped: ticks since the
     * stop began */
    uint16_t late, unread, phase, stopped;
    struct { /* values at the last check; all divided by 16 */
        real_t qd, off, push, gained;
    } step[DYN_MAX_JOINTS];
    /* half of the unexplained torque of the joint in doubt; 0: no doubt */
    real_t missing;
    uint8_t wrong[DYN_MAX_JOINTS]; /* checks that found the joint wrong, minus those that did not */
    uint8_t doubted;               /* joint that was last in doubt */
    effort_t effort;
} guard_t;

/* A finding of a guard. */
typedef struct {
    uint32_t fault, joint; /* APP_FAULT_NONE: no fault */
    real_t value, limit;
} finding_t;

/* Makes the limits of the guards; called in the background. */
void guard_setup(const setup_t *from, control_t *control);

/* `latched`: the fault that is latched. */
finding_t guard_inputs(const control_t *control, guard_t *guard, const app_inputs_t *in,
                       uint32_t latched);
/* Called after the control step. direction_guard returns the joint that turns against its motor, or
 * APP_NO_JOINT (firmware/safety/direction.c). guard_loop takes that joint and checks everything
 * else. */
uint32_t direction_guard(const control_t *control, scratch_t *scratch, guard_t *guard,
                         const loop_t *loop);
/* Called by guard_loop (firmware/safety/effort.c). */
finding_t effort_guard(const control_t *control, effort_t *effort, const loop_t *loop,
                       int32_t supply_mV);
finding_t guard_loop(const control_t *control, guard_t *guard, const loop_t *loop, uint32_t wrong);
/* Called while a person leads the arm: bounds the speed of the tool by those of the joints. */
finding_t guard_tool(const control_t *control, const loop_t *loop);
/* Resets the guards before the loop is closed at the measured position, and after a fault when the
 * loop begins to hold or lower the arm. */
void guard_start(const control_t *control, guard_t *guard, const loop_t *loop);

#endif
