/* The latch of the motor outputs: the causes for which hardware has switched them off. It has one
 * owner, hal/stm32/latch.c. Hardware and interrupts set a cause at any time. Only latch_clear,
 * which a person asks for, takes causes back, and only those whose input is quiet. motor_enable
 * fails while a cause is set; nothing else clears one. */
#ifndef HAL_LATCH_H
#define HAL_LATCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LATCH_ESTOP = 1 << 0,  /* the emergency stop: its contact is open, or not wired */
    LATCH_DRIVER = 1 << 1, /* the fault pin of the motor drivers */
    LATCH_TICK = 1 << 2,   /* the tick has stopped (hal/watchdog.h) */
    LATCH_CLOCK = 1 << 3,  /* the external oscillator has failed */
    LATCH_POWER = 1 << 4,  /* the supply of the chip is too low */
};

/* Configures the inputs; called by motor_init. */
void latch_init(void);
/* Looks at the inputs and returns all causes that are latched. Called once in every tick, which
 * tells them: nobody else calls it. */
uint32_t latch_read(void);
/* The same for motor_enable: a cause that only it has found is not known yet, and cannot be
 * cleared. */
uint32_t latch_look(void);
/* Returns the causes whose input is active now. */
uint32_t latch_active(void);
/* Returns whether every e-stop input has been active since the start: then their wires and the
 * contact are known to work. */
bool latch_estop_seen(void);
/* Switches the outputs off at once and latches a cause. May be called at any priority. */
void latch_set(uint32_t cause);
/* Clears the causes that latch_read has returned and whose input is quiet; returns those that
 * stay. */
uint32_t latch_clear(void);

#endif
