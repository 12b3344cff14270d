/* Why the chip started, and starting it again. */
#ifndef HAL_RESET_H
#define HAL_RESET_H

typedef enum {
    RESET_UNKNOWN = 0, /* no flag set: the emulator, or flags already cleared by a boot loader */
    RESET_POWER,
    RESET_PIN,
    RESET_SOFTWARE,
    RESET_WATCHDOG,
    RESET_WINDOW_WATCHDOG,
    RESET_LOW_POWER,
} reset_reason_t;

/* Reads the cause and clears the hardware's flags on the first call; the same answer ever after. */
reset_reason_t reset_reason(void);
const char *reset_reason_name(reset_reason_t reason);

_Noreturn void reset_system(void);

#endif
