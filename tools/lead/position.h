/* Where the arm is: measured positions, reference, and true positions of a simulated arm, from samples
 * of the board. */
#ifndef TOOLS_LEAD_POSITION_H
#define TOOLS_LEAD_POSITION_H

#include <stdbool.h>

#include "tools/link/client.h"

typedef struct {
    uint32_t tick, seen;
    int at_q, at_ref, at_arm; /* where the fields are in a sample; -1: not at all */
    uint32_t n;
    double q[DYN_MAX_JOINTS], q_ref[DYN_MAX_JOINTS], q_arm[DYN_MAX_JOINTS];
} position_t;

/* Starts the samples. While another program that shares the port receives other fields, this takes
 * the same ones, if they have q. Returns 0, or -1 with client->error. */
int position_stream(client_t *client, position_t *position);
/* Waits for a sample that is later than this status. */
int position_wait(client_t *client, position_t *position, const device_status_t *status);

#endif
