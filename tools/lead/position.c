/* Implements tools/lead/position.h. */
#include "tools/lead/position.h"

#include <string.h>

enum { EVERY = 20, WINDOW = 400, POLL_MS = 50, SILENT_POLLS = 600 };

static void copy(const position_t *p, const sample_in_t *sample, int at, double *to) {
    if (at >= 0)
        memcpy(to, sample->value + at, p->n * sizeof *to);
}

static void take(void *user, const sample_in_t *sample) {
    position_t *p = user;
    p->tick = sample->tick;
    copy(p, sample, p->at_q, p->q);
    copy(p, sample, p->at_ref, p->q_ref);
    copy(p, sample, p->at_arm, p->q_arm);
    p->seen++;
}

int position_stream(client_t *client, position_t *p) {
    static const char *const fields[] = {"q", "q_ref", "q_arm"};
    const int n = (int)client->device.joints;
    *p = (position_t){.at_q = 0, .at_ref = n, .at_arm = 2 * n, .n = client->device.joints};
    if (client_stream(client, fields, 3, EVERY, WINDOW, take, p) == 0)
        return 0;
    /* no sample is used before it is known where its fields are */
    p->at_q = p->at_ref = p->at_arm = -1;
    if (client->status != LINK_TAKEN || client_stream(client, NULL, 0, 0, WINDOW, take, p) != 0)
        return -1;
    p->at_q = client_value_of(client, "q");
    p->at_ref = client_value_of(client, "q_ref");
    p->at_arm = client_value_of(client, "q_arm");
    p->seen = 0;
    if (p->at_q >= 0)
        return 0;
    client->status = LINK_TAKEN;
    port_fail(&client->error, "end that program, or let it receive q",
              "another program that shares this port receives samples without q");
    return -1;
}

int position_wait(client_t *client, position_t *p, const device_status_t *status) {
    for (int silent = 0; p->seen == 0 || (int32_t)(p->tick - status->tick) <= 0; silent++) {
        const uint32_t seen = p->seen;
        if (client_poll(client, POLL_MS) < 0)
            return -1;
        silent = p->seen != seen ? 0 : silent;
        if (silent >= SILENT_POLLS) {
            port_fail(&client->error, "look at the board's console", "the board sent no sample");
            return -1;
        }
    }
    return 0;
}
