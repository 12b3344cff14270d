/* The reason for the last reset, and a reset by software. */
#ifndef HAL_RESET_H
#define HAL_RESET_H

typedef enum {
    RESET_UNKNOWN = 0, /* no flag is set: this is the emulator, or a boot loader cleared the
                        * flags */
    RESET_POWER,
    RESET_PIN,
    RESET_SOFTWARE,
    RESET_WATCHDOG,
    RESET_WINDOW_WATCHDOG,
    RESET_LOW_POWER,
} reset_reason_t;

/* The first call reads the reason and clears the hardware's flags; later calls return the same
 * reason. */
reset_reason_t reset_reason(void);
const char *reset_reason_name(reset_reason_t reason);

_Noreturn void reset_system(void);

#endif
