/*
 * A model of the STM32F446 for host tests: the devices that the drivers use, with simulated time and
 * interrupts, on the registers of test/support/hal/regmodel.h. The pins are wired as the table of the
 * board says (boards/nucleo-f446re).
 *
 * Every register access takes CHIP_ACCESS_NS. Between two accesses devices act, events of the test
 * happen, and interrupts come. The program runs on its own stack: chip_run lets it run until a time
 * and returns to the test, wherever the program is then. Computing takes no time.
 *
 * Facts are from RM0390 (F446) and from the data sheet of the AS5047P.
 */
#ifndef TEST_SUPPORT_HAL_CHIP_H
#define TEST_SUPPORT_HAL_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHIP_ACCESS_NS = 50, CHIP_ENCODERS = 6, CHIP_BREAKS = 2 };
#define CHIP_US(us) ((uint64_t)(us)*1000)
#define CHIP_MS(ms) ((uint64_t)(ms)*1000000)

typedef enum {
    CHIP_MAGNET_GOOD,
    CHIP_MAGNET_FAR,  /* the field is too low; the angle is still right */
    CHIP_MAGNET_NEAR, /* the field is too high; the angle is still right */
    CHIP_MAGNET_GONE, /* the angle is noise */
} chip_magnet_t;

/* The world outside of the chip, which a test may change at any time; the functions below change
 * what the hardware notices at once. */
typedef struct {
    uint32_t switches;    /* bit i: the home switch of joint i is closed */
    int32_t supply_mV;    /* motor supply */
    bool supply_broken;   /* the wire to the divider is broken: the pin is at ground */
    bool adc_dead;        /* no conversion ends */
    double lsi_hz;        /* the watchdog's oscillator */
    uint32_t hse_hz;      /* the external oscillator */
    uint64_t erase_ns;    /* time that the erase of a sector takes */
    double iwdg_extra;    /* the watchdog bites after RLR plus 0 to 2 steps */
    unsigned iwdg_cycles; /* cycles of the divided oscillator that an update of PR or RLR takes */
    struct {
        double turns; /* the angle of the magnet, in turns */
        bool powered;
        chip_magnet_t magnet;
        uint16_t noise; /* this mask is toggled in the next answer, once */
    } encoder[CHIP_ENCODERS];
} chip_world_t;
extern chip_world_t chip_world;

/* Power-up: registers, flash, world and time as after power-up; `program` will run from its first
 * line. */
void chip_power_up(void (*program)(void));

/* Lets the program run for this time, or until time `until`. Returns false if the program does not
 * run any more, because the chip was reset; time passes all the same. */
bool chip_run(uint64_t ns);
bool chip_run_until(uint64_t until);
uint64_t chip_now(void); /* ns since power-up */

/* Events of the test. They run between two accesses, on the stack of the program: they may change
 * the world and must not fail the test. */
typedef void (*chip_event_t)(void *argument);
void chip_at(uint64_t time, chip_event_t event, void *argument);
/* The event happens before the access with this number inside the next tick; the first is 0. */
void chip_in_tick(unsigned access, chip_event_t event, void *argument);
/* Runs once in the background of the program, when it would sleep. */
void chip_in_background(chip_event_t event, void *argument);
/* Runs after every event and every write, which alone can change an output; NULL: nothing. */
void chip_watch(chip_event_t event, void *argument);
unsigned chip_accesses_in_tick(void); /* accesses of the last complete tick */

/* The tick stops at this access, for ever. */
typedef enum {
    CHIP_STOP_NONE,
    CHIP_STOP_LOOP,   /* it loops in the tick; more urgent interrupts still come */
    CHIP_STOP_LOCKED, /* it loops with interrupts locked */
    CHIP_STOP_LEFT,   /* it is left and never comes again; everything else goes on */
} chip_stop_t;
void chip_stop_tick(unsigned access, chip_stop_t how);

/* The emergency stop, and its contacts one by one (one for each motor timer). */
void chip_estop(bool open);
void chip_estop_contact(unsigned index, bool open);
bool chip_estop_open(void); /* a contact is open */
void chip_driver_fault(bool active);
void chip_hse_fail(void);      /* the external oscillator stops */
void chip_power_low(bool low); /* the supply of the chip is below the threshold of the PVD */
void chip_quadrature(unsigned timer, int32_t count); /* the counter of TIM<timer> in encoder mode */

/* What a motor stage does: PWM + direction with slow decay, or IN/IN, as the board says. */
typedef struct {
    double level; /* mean voltage as a fraction of the supply, -1 to 1 */
    bool coasts;  /* the motor is open: no torque. Otherwise level 0 shorts the windings */
    bool on; /* the chip can drive this motor: its timer has MOE set, and the enable pin is high */
} chip_motor_t;
chip_motor_t chip_motor(unsigned motor);
bool chip_outputs_on(void); /* any motor is on */
bool chip_brake_open(void); /* level of the brake pin; false if there is none */
/* Whether the chip drives every pin of the stages low. A pin that it does not drive floats. */
bool chip_stages_low(void);

/* The line to the host. */
void chip_line_send(const void *bytes, size_t count);
size_t chip_line_receive(void *bytes, size_t most);

typedef enum { CHIP_RESET_NONE, CHIP_RESET_WATCHDOG, CHIP_RESET_SOFTWARE } chip_reset_t;
typedef struct {
    chip_reset_t reset; /* why the program does not run any more */
    uint64_t reset_at;
    unsigned wrong;      /* accesses that the manual forbids, interrupts without a handler */
    const char *what;    /* the first of them */
    uint64_t stopped_at; /* when chip_stop_tick stopped the tick; 0: not yet */
    unsigned interrupts;
    unsigned erases;
} chip_report_t;
extern chip_report_t chip_report;

#endif
