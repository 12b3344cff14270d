/* The control interrupt, its cost, and the application that it runs. */
#ifndef FIRMWARE_TICK_H
#define FIRMWARE_TICK_H

#include <stdint.h>

#include "firmware/app/app.h"

typedef struct {
    uint32_t ticks;
    uint32_t best, worst; /* cost inside the interrupt: cycles, or instructions under the
                           * emulator */
    uint32_t overruns;    /* ticks that were not finished when the next one was due */
} tick_stats_t;

app_t *tick_app(void);
uint32_t tick_count(void);
void tick_stats(tick_stats_t *out); /* copies consistent values */
/* Returns the causes that the last tick found latched (hal/latch.h). Only the tick reads the latch:
 * what it has not seen cannot be cleared. */
uint32_t tick_latched(void);
/* Called in every pass of the background. A second without a call is a fault. */
void tick_background(uint32_t rate_hz);

#endif
