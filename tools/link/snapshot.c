/* Implements tools/link/snapshot.h. */
#include "tools/link/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/params/parameters.h"

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
    out->value = calloc((size_t)d->parameters * DYN_MAX_JOINTS + 1, sizeof *out->value);
    if (!out->value)
        return no_memory(client);
    for (uint32_t t = 0; t < d->parameters; t++) {
        int status = 0;
        for (uint32_t joint = 0; joint < DYN_MAX_JOINTS && status == 0; joint++)
            status = take_value(client, t, joint, out);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* An override belongs to a running command: the value beneath it is what is configured. */
static int take_overridden(client_t *client, snapshot_t *out) {
    for (uint32_t k = 0;; k++) {
        device_override_t o;
        const int status = client_overridden(client, k, &o);
        if (status != 0)
            return status > 0 ? 0 : -1;
        for (uint32_t i = 0; i < out->values; i++)
            if (out->value[i].parameter == o.parameter && out->value[i].joint == o.joint)
                out->value[i].value = o.beneath;
    }
}

int snapshot_take(client_t *client, snapshot_t *out) {
    device_status_t status;
    uint32_t every;
    *out = (snapshot_t){0};
    if (client_status(client, &status) != 0)
        return -1;
    out->tick = status.tick;
    for (unsigned which = RUNS; which <= STORED; which++) {
        client->error.what[0] = '\0';
        out->image[which] = client_read_image(client, (uint8_t)which, &out->length[which]);
        if (!out->image[which] && client->error.what[0])
            return -1;
    }
    return take_values(client, out) != 0 || take_overridden(client, out) != 0 ||
                   client_choice(client, out->chosen, &out->choices, &every) != 0
               ? -1
               : 0;
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

static bool equal_bytes(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length) {
    return a && b ? a_length == b_length && !memcmp(a, b, a_length) : !a && !b;
}

bool snapshot_same_bits(float a, float b) {
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

bool snapshot_equal(const snapshot_t *a, const snapshot_t *b) {
    if (!equal_bytes(a->image[RUNS], a->length[RUNS], b->image[RUNS], b->length[RUNS]) ||
        a->values != b->values || a->choices != b->choices ||
        memcmp(a->chosen, b->chosen, a->choices) != 0)
        return false;
    for (uint32_t i = 0; i < a->values; i++)
        if (a->value[i].parameter != b->value[i].parameter ||
            a->value[i].joint != b->value[i].joint ||
            !snapshot_same_bits(a->value[i].value, b->value[i].value))
            return false;
    return true;
}

bool snapshot_saved(const snapshot_t *s) {
    for (uint32_t i = 0; i < s->values; i++)
        if (!s->value[i].saved)
            return false;
    return equal_bytes(s->image[RUNS], s->length[RUNS], s->image[STORED], s->length[STORED]);
}

static bool has(client_t *client, const snapshot_t *before, uint8_t which) {
    return snapshot_same(client, which, before->image[which], before->length[which]);
}

static int load(client_t *client, const snapshot_t *wanted, uint8_t which,
                client_progress_t progress, void *user) {
    bool kept;
    if (!wanted->image[which]) {
        port_fail(&client->error, "load a robot: `appell flash ROBOT`",
                  "the board had no robot before");
        return -1;
    }
    return client_send_image(client, TARGET_APP, wanted->image[which], wanted->length[which], &kept,
                             progress, user);
}

/* ---------------------------------------------------------------------------------- the values */

typedef enum { VALUE_SET, VALUE_WAS_SO, VALUE_REFUSED, VALUE_LOST } value_result_t;

static value_result_t set_value(client_t *client, const snapshot_value_t *v) {
    float now;
    bool saved;
    if (client_get(client, v->parameter, v->joint, &now, &saved) == 0 &&
        snapshot_same_bits(now, v->value))
        return VALUE_WAS_SO;
    if (client->status >= 0 && client_set(client, v->parameter, v->joint, v->value, &now) == 0)
        return VALUE_SET;
    return client->status >= 0 ? VALUE_REFUSED : VALUE_LOST;
}

static bool chooses_real(const client_t *client, const snapshot_value_t *v) {
    return !strcmp(client->device.parameter[v->parameter].name, "arm") && v->value != ARM_SIMULATED;
}

/* Puts the name before the error of a value that the board refuses. */
static void name_refused(client_t *client, const snapshot_value_t *v) {
    const device_parameter_t *t = &client->device.parameter[v->parameter];
    char what[PORT_TEXT], cure[PORT_TEXT], joint[16] = "";
    if (t->per_joint)
        snprintf(joint, sizeof joint, "[%u]", v->joint + 1u);
    snprintf(what, sizeof what, "%s", client->error.what);
    snprintf(cure, sizeof cure, "%s", client->error.cure);
    port_fail(&client->error, cure, "%.100s%s = %.9g: %.200s", t->name, joint, (double)v->value,
              what);
}

/* Goes once through the values. *set is how many were set. Returns how many were refused, or -1 if
 * the link failed; the error is that of the last one. */
static int set_round(client_t *client, const snapshot_t *wanted, bool all, bool real,
                     uint32_t *set) {
    int refused = 0, status = 0, reason = 0;
    port_error_t error = {0};
    *set = 0;
    for (uint32_t i = 0; i < wanted->values; i++) {
        const snapshot_value_t *v = &wanted->value[i];
        if ((!all && !v->saved) || chooses_real(client, v) != real)
            continue;
        const value_result_t result = set_value(client, v);
        if (result == VALUE_LOST)
            return -1;
        *set += result == VALUE_SET;
        if (result != VALUE_REFUSED)
            continue;
        name_refused(client, v);
        error = client->error;
        status = client->status;
        reason = client->reason;
        refused++;
    }
    if (refused > 0) {
        client->error = error;
        client->status = status;
        client->reason = reason;
    }
    return refused;
}

/* Sets the values in rounds as long as one helps, because whether a value is accepted may depend on
 * others; the real arm after all others. Returns 0, or -1 with the client's error. */
static int set_values(client_t *client, const snapshot_t *wanted, bool all) {
    uint32_t set;
    int refused;
    do
        refused = set_round(client, wanted, all, false, &set);
    while (refused > 0 && set > 0);
    return refused == 0 && set_round(client, wanted, all, true, &set) == 0 ? 0 : -1;
}

/* Sets values and fields. Fields that differ are taken away first: with them the line may be too
 * slow for the new rate. The values come again after the fields, which set sample_every. */
static int set_all(client_t *client, const snapshot_t *wanted, bool all) {
    uint8_t chosen[256];
    uint32_t choices, every;
    if (client_choice(client, chosen, &choices, &every) != 0)
        return -1;
    if (choices == wanted->choices && !memcmp(chosen, wanted->chosen, choices))
        return set_values(client, wanted, all);
    if (client_choose(client, NULL, 0) != 0 || set_values(client, wanted, all) != 0)
        return -1;
    return wanted->choices == 0 ? 0
           : client_choose(client, wanted->chosen, wanted->choices) != 0
               ? -1
               : set_values(client, wanted, all);
}

int snapshot_run(client_t *client, const snapshot_t *wanted, client_progress_t progress,
                 void *user) {
    const bool runs = has(client, wanted, RUNS);
    if (!runs && (client->error.what[0] != '\0' || load(client, wanted, RUNS, progress, user) != 0))
        return -1;
    return set_all(client, wanted, true);
}

/* ----------------------------------------------------------------------------------- restoring */

static bool store_again(client_t *client, const snapshot_t *before) {
    bool persistent;
    return load(client, before, STORED, NULL, NULL) == 0 && set_all(client, before, false) == 0 &&
           client_save(client, &persistent) == 0 && has(client, before, STORED);
}

/* Saves what runs if a value that was saved is not any more. */
static bool save_again(client_t *client, const snapshot_t *before) {
    for (uint32_t i = 0; i < before->values; i++) {
        const snapshot_value_t *v = &before->value[i];
        float now;
        bool saved, persistent;
        if (client_get(client, v->parameter, v->joint, &now, &saved) != 0)
            return false;
        if (v->saved && !saved)
            return client_save(client, &persistent) == 0;
    }
    return true;
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
    if (snapshot_run(client, before, NULL, NULL) != 0 || !save_again(client, before))
        return SNAPSHOT_LOST;
    if (!has(client, before, RUNS))
        return SNAPSHOT_LOST;
    return stored && runs ? SNAPSHOT_UNTOUCHED : SNAPSHOT_PUT_BACK;
}
