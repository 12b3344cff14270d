/* Implements tools/link/snapshot.h. */
#include "tools/link/snapshot.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS, STORED };

static int no_memory(client_t *client) {
    port_fail(&client->error, "close some programs", "there is not enough memory");
    return -1;
}

/* Reads one value. Returns 1 if there is no such parameter or joint. */
static int take_value(client_t *client, uint32_t parameter, uint32_t joint, snapshot_t *out) {
    snapshot_value_t *v = &out->value[out->values];
    if (client_get(client, parameter, joint, &v->value, &v->saved) != 0)
        return client->status == LINK_INDEX ? 1 : -1;
    v->parameter = (uint8_t)parameter;
    v->joint = (uint8_t)joint;
    out->values++;
    return 0;
}

/* A parameter of the whole arm has one value; a parameter per joint has one for each joint. */
static int take_values(client_t *client, snapshot_t *out) {
    const device_t *d = &client->device;
    out->value = calloc((size_t)d->parameters * (DYN_MAX_JOINTS + 1) + 1, sizeof *out->value);
    if (!out->value)
        return no_memory(client);
    for (uint32_t t = 0; t < d->parameters; t++) {
        int status = 0;
        for (uint32_t joint = 0; joint <= DYN_MAX_JOINTS && status == 0; joint++)
            status = take_value(client, t, joint, out);
        if (status < 0)
            return -1;
    }
    return 0;
}

int snapshot_take(client_t *client, snapshot_t *out) {
    *out = (snapshot_t){0};
    for (unsigned which = RUNS; which <= STORED; which++) {
        client->error.what[0] = '\0';
        out->image[which] = client_read_image(client, (uint8_t)which, &out->length[which]);
        if (!out->image[which] && client->error.what[0])
            return -1;
    }
    return take_values(client, out);
}

void snapshot_free(snapshot_t *before) {
    free(before->image[RUNS]);
    free(before->image[STORED]);
    free(before->value);
    *before = (snapshot_t){0};
}

bool snapshot_same(client_t *client, uint8_t which, const uint8_t *image, size_t length) {
    uint32_t size;
    client->error.what[0] = '\0';
    uint8_t *there = client_read_image(client, which, &size);
    const bool none = !there && !client->error.what[0];
    const bool same =
        there ? image && size == length && !memcmp(there, image, length) : none && !image;
    free(there);
    return same;
}

static bool has(client_t *client, const snapshot_t *before, uint8_t which) {
    return snapshot_same(client, which, before->image[which], before->length[which]);
}

static int load(client_t *client, const snapshot_t *before, uint8_t which) {
    bool kept;
    if (!before->image[which]) {
        port_fail(&client->error, "load a robot: `appell flash ROBOT`",
                  "the board had no robot before");
        return -1;
    }
    return client_send_image(client, TARGET_APP, before->image[which], before->length[which], &kept,
                             NULL, NULL);
}

/* Sets the values in two rounds, because the range of one parameter may depend on another. Returns
 * how many values still differ, or -1 if the link failed. */
static int set_values(client_t *client, const snapshot_t *before, bool all) {
    int wrong = 0;
    for (int round = 0; round < 2; round++) {
        wrong = 0;
        for (uint32_t i = 0; i < before->values; i++) {
            const snapshot_value_t *v = &before->value[i];
            float now;
            bool saved;
            if (!all && !v->saved)
                continue;
            if (client_get(client, v->parameter, v->joint, &now, &saved) == 0 && now == v->value)
                continue;
            if (client_set(client, v->parameter, v->joint, v->value, &now) == 0)
                continue;
            if (client->status < 0)
                return -1;
            wrong++;
        }
    }
    return wrong;
}

static bool store_again(client_t *client, const snapshot_t *before) {
    bool persistent;
    return load(client, before, STORED) == 0 && set_values(client, before, false) == 0 &&
           client_save(client, &persistent) == 0 && has(client, before, STORED);
}

/* True if the link failed; then the state of the board is unknown. */
static bool failed(const client_t *client) {
    return client->error.what[0] != '\0';
}

before_result_t snapshot_restore(client_t *client, const snapshot_t *before) {
    const bool stored = has(client, before, STORED);
    if (failed(client))
        return SNAPSHOT_LOST;
    const bool runs = has(client, before, RUNS);
    if (failed(client))
        return SNAPSHOT_LOST;
    if (!stored && !store_again(client, before))
        return SNAPSHOT_LOST;
    if ((!runs || !stored) && !has(client, before, RUNS) && load(client, before, RUNS) != 0)
        return SNAPSHOT_LOST;
    if (set_values(client, before, true) != 0 || !has(client, before, RUNS))
        return SNAPSHOT_LOST;
    return stored && runs ? SNAPSHOT_UNTOUCHED : SNAPSHOT_PUT_BACK;
}
