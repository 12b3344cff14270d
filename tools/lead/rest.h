/* What holds the arm after a command, read from the board and never from what was asked of it. */
#ifndef TOOLS_LEAD_REST_H
#define TOOLS_LEAD_REST_H

#include <stdbool.h>

#include "tools/link/client.h"

typedef struct {
    device_status_t status;
    device_fault_t fault;
    float arm, brakes, feedback; /* the parameters of these names */
} rest_t;

/* All return 0, or -1 with client->error. They read the list of parameters if nobody has. */
int rest_read(client_t *client, rest_t *rest);
/* Waits until the board has taken up what was asked last and the arm rests: a stop, a fault or a
 * motion has come to its end. An arm without brakes that is lowered never does. */
int rest_wait(client_t *client, rest_t *rest);
/* Stops the arm, ends the lease and waits. A board with a fault has stopped it already and refuses:
 * no error. */
int rest_stop(client_t *client, rest_t *rest);

/* Returns a sentence without its full stop: what holds the arm, or that nothing does. */
const char *rest_text(const rest_t *rest);
/* Returns whether the arm falls, as far as the board knows, when its outputs go off. */
bool rest_falls(const rest_t *rest);

#endif
