/* The clock tree: brings the core to its planned speed, or keeps it on the internal oscillator. */
#ifndef HAL_CLOCK_H
#define HAL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    CLOCK_CRYSTAL_PLL,  /* as planned: external crystal or clock through the PLL */
    CLOCK_INTERNAL_PLL, /* the crystal did not start: internal oscillator through the PLL */
    CLOCK_INTERNAL,     /* the PLL did not lock either: internal oscillator alone */
} clock_source_t;

typedef struct {
    clock_source_t source;
    uint32_t core_hz;
    uint32_t tick_timer_hz; /* input clock of the timer of hal/tick.h */
    uint32_t uart_hz;       /* input clock of the console UART */
    bool emulated;          /* no oscillator is modelled: time comes from the emulator */
    const char *note;       /* one sentence: why the clock is not as planned; NULL if it is */
} clock_info_t;

/* Never hangs: each wait is bounded, and `note` names the step that failed. */
const clock_info_t *clock_init(void);
const clock_info_t *clock_info(void);

#endif
