/* What the interrupt reads and writes; the hardware itself is the business of firmware/tick.c. */
#ifndef FIRMWARE_CONTROL_IO_H
#define FIRMWARE_CONTROL_IO_H

#include <stdint.h>

#include "dyn/model/model.h"

/* What the interrupt has read. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* of the encoders, within one turn */
    uint32_t counts_valid;          /* bit i: counts[i] is of this tick */
    int32_t supply_mV;              /* motor supply; not positive: not measured */
    uint32_t parity;                /* bit i: it is not, because its parity was wrong */
    uint32_t switches;              /* bit i: the home switch of joint i is closed */
    uint8_t overrun;                /* the tick before was not finished in time */
    uint8_t estop;                  /* the emergency stop has switched the motors off */
} app_inputs_t;

/* What it writes. */
typedef struct {
    int32_t duty_q15[DYN_MAX_JOINTS]; /* of the supply; torque mode: of the torque limit */
    uint8_t enable;                   /* the motors are on */
    uint8_t hardware;                 /* an arm is attached; else it is simulated */
} app_outputs_t;

/* Bit i: the board has an input for the home switch of joint i. The program provides it; where it
 * does not, there is none. */
uint32_t app_switches(void);

#endif
