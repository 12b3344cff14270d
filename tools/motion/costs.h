/* Reads from a board how much time each stage of its tick takes. */
#ifndef TOOLS_MOTION_COSTS_H
#define TOOLS_MOTION_COSTS_H

#include <stdint.h>

#include "firmware/app/app.h"
#include "tools/link/client.h"

/* Costs in the unit of the board's counter: core cycles, or instructions in the emulator. */
typedef struct {
    uint32_t ticks;
    /* index STAGES is the whole tick */
    uint32_t least[STAGES + 1], mean[STAGES + 1], most[STAGES + 1];
} costs_t;
int costs_fetch(client_t *client, costs_t *costs);

#endif
