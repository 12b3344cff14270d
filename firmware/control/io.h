/* The data that the interrupt passes to app_tick and takes from it. firmware/tick.c accesses the
 * hardware. */
#ifndef FIRMWARE_CONTROL_IO_H
#define FIRMWARE_CONTROL_IO_H

#include <stdint.h>

#include "dyn/model/model.h"

/* Causes for which the hardware has switched the motors off, until a person clears them
 * (hal/latch.h). */
enum {
    CAUSE_ESTOP = 1 << 0,
    CAUSE_DRIVER = 1 << 1,
    CAUSE_TICK = 1 << 2,
    CAUSE_CLOCK = 1 << 3,
    CAUSE_POWER = 1 << 4,
};

/* Values of supply_mV that are no voltage. */
enum { SUPPLY_UNMEASURED = -1 /* by this board */, SUPPLY_FAILED = -2 /* the sensor is silent */ };

/* The inputs that the interrupt has read. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* encoder counts, within one turn */
    uint32_t counts_valid;          /* bit i: counts[i] was read in this tick */
    uint32_t parity;                /* bit i: counts[i] is missing because its parity was wrong */
    uint32_t unwell;   /* bit i: counts[i] is missing because the encoder itself reports
                                     * a defect: no magnet, no angle, a request not understood */
    uint32_t switches; /* bit i: the home switch of joint i is closed */
    int32_t supply_mV; /* motor supply, mV, or a value of the enum above */
    uint32_t lost;     /* ticks that did not happen since the last one */
    uint8_t overrun;   /* the last tick was not finished in time */
    uint8_t latched;   /* CAUSE_...: the hardware has switched the motors off */
    uint8_t stalled;   /* the background has not run for a second */
    uint8_t ready;     /* the outputs were on at the end of the last tick */
} app_inputs_t;

/* The outputs that the interrupt writes. */
typedef struct {
    int32_t duty_q15[DYN_MAX_JOINTS]; /* fraction of the supply, Q15; torque mode: fraction of the
                                       * torque limit */
    uint8_t enable;                   /* the motors are on */
    uint8_t brake_open;               /* the brakes are open */
    uint8_t hardware;                 /* the real arm is controlled; otherwise the simulated one */
} app_outputs_t;

/* What the hardware is, for the checks before the real arm moves (firmware/app/fit.c). */
enum { HARDWARE_JOINTS = 8 }; /* more than any board has outputs */
typedef struct {
    uint32_t motors, encoders;        /* bit i: joint i has a motor output, an encoder input */
    uint32_t absolute;                /* bit i: the encoder knows its place within a turn */
    uint32_t switches;                /* bit i: joint i has an input for a home switch */
    uint32_t counts[HARDWARE_JOINTS]; /* the reading of an encoder wraps at this number */
    uint32_t busy_ns;                 /* time that reading and writing take in a tick */
    int32_t supply_full_mV;           /* the end of the supply sensor's range; 0: there is none */
    uint16_t flags;                   /* HARDWARE_... */
    uint16_t brake_open_ms, brake_close_ms; /* times that the brakes take */
    uint8_t active;                         /* CAUSE_... whose input is active now */
    uint8_t latched;                        /* CAUSE_... */
} hardware_t;

/* X(bit, NAME, "what it means if the bit is set", "and if it is not") */
#define HARDWARE_TABLE(X)                                                                          \
    X(0, ESTOP, "e-stop input", "no e-stop input")                                                 \
    X(1, ESTOP_SEEN, "the e-stop was seen open since the start",                                   \
      "the e-stop was not seen open since the start")                                              \
    X(2, ENABLE, "enable output", "no enable output")                                              \
    X(3, BRAKE, "brake output", "no brake output")                                                 \
    X(4, DRIVER_FAULT, "input for the fault pin of the motor drivers",                             \
      "no input for the fault pin of the motor drivers")                                           \
    X(5, DAMPS, "damp and release differ at the pins",                                             \
      "damp and release are the same at the pins: both are PWM low")                               \
    X(6, SUPPLY, "supply sensor", "no supply sensor: the supply guards are off")                   \
    X(7, WATCHDOG, "the watchdog runs", "the watchdog does not run")                               \
    X(8, CLOCK, "the clock is as planned", "the clock is not as planned")

enum {
#define X(bit, name, yes, no) HARDWARE_##name = 1 << (bit),
    HARDWARE_TABLE(X)
#undef X
        HARDWARE_UNKNOWN = 1 << 15 /* a program without hardware: nothing is checked */
};

/* Provided by the program; a program without hardware has none of them. app_hardware describes the
 * hardware. app_unlatch clears the causes whose input is quiet and returns those that stay. */
void app_hardware(hardware_t *out);
uint32_t app_unlatch(void);

#endif
