/* What ends in a fault: guards of the inputs and of all that the control step has made of them,
 * before anything is put out. The first finding counts. */
#ifndef FIRMWARE_SAFETY_GUARD_H
#define FIRMWARE_SAFETY_GUARD_H

#include "firmware/control/control.h"
#include "firmware/control/io.h"
#include "firmware/control/setup.h"
#include "firmware/safety/faults.h"

/* What the guards remember from tick to tick, firmware/safety/guard.c and direction.c. */
typedef struct {
    uint32_t outside;  /* bit i: joint i was beyond its limit when the loop was closed */
    uint32_t limited;  /* ticks with a joint at a limit */
    uint32_t clipped;  /* bit i: the limit that joint i was at in the last tick was of torque */
    int32_t supply_mV; /* as it was measured; 0: it is not */
    uint16_t late, unread, phase, stopped; /* ticks */
    uint16_t at_limit[DYN_MAX_JOINTS];     /* ticks in a row at that limit */
    struct {                               /* at the last look; 16ths */
        real_t qd, off, push, gained;
    } look[DYN_MAX_JOINTS];
    real_t missing;                /* half of the torque that a look left in doubt; 0: no doubt */
    uint8_t wrong[DYN_MAX_JOINTS]; /* looks that saw the wrong direction, more than did not */
    uint8_t doubted;               /* the joint that was last in doubt */
    uint8_t strained;              /* a joint was at a limit in the last tick */
} guard_t;

/* What a guard has found. */
typedef struct {
    uint32_t fault, joint; /* APP_FAULT_NONE: all is well */
    real_t value, limit;
} finding_t;

/* Limits of the guards, in the background. */
void guard_setup(const setup_t *from, control_t *control);

finding_t guard_inputs(const control_t *control, guard_t *guard, const app_inputs_t *in);
/* After the control step: the joint that turns another way than its motor pushes it, or
 * APP_NO_JOINT (firmware/safety/direction.c); and everything else, with that joint. */
uint32_t direction_guard(const control_t *control, scratch_t *scratch, guard_t *guard,
                         const loop_t *loop);
finding_t guard_loop(const control_t *control, guard_t *guard, const loop_t *loop, uint32_t wrong);
/* The loop is about to be closed where the arm is; also after a finding, before looks go on. */
void guard_start(const control_t *control, guard_t *guard, const loop_t *loop);

#endif
