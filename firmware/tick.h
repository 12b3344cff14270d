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

#endif
