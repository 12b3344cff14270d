/* What the stages of a tick cost on the board. */
#ifndef TOOLS_MOTION_COSTS_H
#define TOOLS_MOTION_COSTS_H

#include <stdint.h>

#include "firmware/app/app.h"
#include "tools/link/client.h"

/* What the tick costs on the board. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], mean[STAGES + 1], most[STAGES + 1]; /* the last: the whole tick */
} costs_t;
int costs_fetch(client_t *client, costs_t *costs);

#endif
