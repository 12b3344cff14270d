/* The data that the interrupt passes to app_tick and takes from it. firmware/tick.c accesses the
 * hardware. */
#ifndef FIRMWARE_CONTROL_IO_H
#define FIRMWARE_CONTROL_IO_H

#include <stdint.h>

#include "dyn/model/model.h"

/* The inputs that the interrupt has read. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* encoder counts, within one turn */
    uint32_t counts_valid;          /* bit i: counts[i] was read in this tick */
    int32_t supply_mV;              /* motor supply, mV; 0 or less: not measured */
    uint32_t parity;                /* bit i: counts[i] is missing because its parity was wrong */
    uint32_t switches;              /* bit i: the home switch of joint i is closed */
    uint8_t overrun;                /* the last tick was not finished in time */
    uint8_t estop;                  /* the emergency stop has switched the motors off */
} app_inputs_t;

/* The outputs that the interrupt writes. */
typedef struct {
    int32_t duty_q15[DYN_MAX_JOINTS]; /* fraction of the supply, Q15; torque mode: fraction of the
                                       * torque limit */
    uint8_t enable;                   /* the motors are on */
    uint8_t hardware;                 /* the real arm is controlled; otherwise the simulated one */
} app_outputs_t;

/* Returns a mask: bit i is set if the board has an input for the home switch of joint i. Returns 0
 * if the program does not provide this function. */
uint32_t app_switches(void);

#endif
