/* Reads from a board what each stage of its tick costs. */
#ifndef TOOLS_MOTION_COSTS_H
#define TOOLS_MOTION_COSTS_H

#include <stdint.h>

#include "firmware/app/app.h"
#include "tools/link/client.h"

/* Costs in the unit of the board's counter: cycles, or instructions in the emulator. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], mean[STAGES + 1], most[STAGES + 1]; /* [STAGES]: whole tick */
} costs_t;
int costs_fetch(client_t *client, costs_t *costs);

#endif
