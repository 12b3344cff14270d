/* Reads the board's description of itself, for tools/link/client.h: its robot, parameters, fields
 * and methods, its state, fault, counters and last crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/control/sample.h"
#include "firmware/params/bytes.h"
#include "firmware/params/parameters.h"
#include "tools/link/client_inside.h"

typedef struct {
    uint8_t bytes[8192];
    const uint8_t *at, *end;
} record_t;

/* Returns whether the bytes have this many texts after the first `fixed` bytes. */
static bool has_texts(const uint8_t *bytes, uint32_t used, uint32_t fixed, uint32_t texts) {
    uint32_t found = 0;
    for (uint32_t i = fixed; i < used; i++)
        found += bytes[i] == 0;
    return found >= texts;
}

/* Reads a record up to its n-th text after `fixed` bytes, in pieces of at most `most` bytes; texts 0:
 * the whole record. */
static int describe_head(client_t *client, topic_t topic, uint32_t index, uint32_t fixed,
                         uint32_t texts, uint32_t most, record_t *record) {
    uint32_t used = 0, total = 1;
    while (used < total && !(texts > 0 && has_texts(record->bytes, used, fixed, texts))) {
        uint8_t request[5] = {(uint8_t)topic, (uint8_t)index, 0, 0,
                              (uint8_t)client_piece(client, most)};
        put_u16(request + 2, used);
        if (client_ask(client, ASK_DESCRIBE, request, sizeof request) != 0)
            return -1;
        total = client->reply_size >= 2 ? get_u16(client->reply) : 0;
        const size_t piece = client->reply_size >= 2 ? client->reply_size - 2 : 0;
        if (total > sizeof record->bytes || used + piece > total || piece == 0) {
            port_fail(&client->error, "use `appell` and firmware of the same version",
                      "the board's description of itself cannot be decoded");
            return -1;
        }
        memcpy(record->bytes + used, client->reply + 2, piece);
        used += (uint32_t)piece;
    }
    record->at = record->bytes;
    record->end = record->bytes + used;
    return 0;
}

static int describe(client_t *client, topic_t topic, uint32_t index, record_t *record) {
    return describe_head(client, topic, index, 0, 0, client->device.payload, record);
}

static uint8_t take_u8(record_t *r) {
    return r->at < r->end ? *r->at++ : 0;
}

static uint32_t take_u32(record_t *r) {
    const bool whole = r->end - r->at >= 4;
    const uint32_t value = whole ? get_u32(r->at) : 0;
    r->at += whole ? 4 : 0;
    return value;
}

static float take_f32(record_t *r) {
    uint8_t bytes[4];
    put_u32(bytes, take_u32(r));
    return get_f32(bytes);
}

static void take_text(record_t *r, char *out, size_t size) {
    client_take_text(&r->at, r->end, out, size);
}

int client_discover_robot(client_t *client) {
    static record_t r;
    device_t *d = &client->device;
    if (describe(client, TOPIC_ROBOT, 0, &r) != 0)
        return -1;
    d->joints = take_u8(&r);
    if (d->joints > DYN_MAX_JOINTS)
        d->joints = 0;
    for (uint32_t i = 0; i < d->joints; i++)
        d->prismatic[i] = take_u8(&r);
    take_text(&r, d->robot, sizeof d->robot);
    for (uint32_t i = 0; i < d->joints; i++)
        take_text(&r, d->joint[i], sizeof d->joint[i]);
    return 0;
}

/* A board with little flash sends no help: the tool knows the same parameters and fields. */
static bool help_parameter(device_parameter_t *t) {
    for (uint32_t k = 0; k < PARAMETERS; k++)
        if (!strcmp(t->name, parameter_table[k].name)) {
            snprintf(t->help, sizeof t->help, "%s", parameter_table[k].help);
            return true;
        }
    return false;
}

static bool help_field(device_field_t *f) {
    for (uint32_t k = 0; k < SAMPLE_FIELDS; k++)
        if (!strcmp(f->name, sample_table[k].name)) {
            snprintf(f->help, sizeof f->help, "%s", sample_table[k].help);
            return true;
        }
    return false;
}

/* Takes a record of a parameter: two texts, and its help if `whole`. */
static void take_parameter(record_t *r, device_parameter_t *t, bool whole) {
    t->per_joint = take_u8(r);
    const uint8_t when = take_u8(r);
    t->idle_only = when & 1;
    t->weaker = (int8_t)((when >> 1 & 1) - (when >> 2 & 1));
    t->least = take_f32(r);
    t->most = take_f32(r);
    t->fallback = take_f32(r);
    take_text(r, t->name, sizeof t->name);
    take_text(r, t->unit, sizeof t->unit);
    if (whole)
        take_text(r, t->help, sizeof t->help);
}

/* The help is most of a record. It is read only if this program does not know the name. */
static int discover_parameter(client_t *client, uint32_t i) {
    enum { FIXED = 14, TEXTS = 2, HEAD = 48 };
    static record_t r;
    device_parameter_t *t = &client->device.parameter[i];
    if (describe_head(client, TOPIC_PARAMETER, i, FIXED, TEXTS, HEAD, &r) != 0)
        return -1;
    take_parameter(&r, t, false);
    if (help_parameter(t))
        return 0;
    if (describe(client, TOPIC_PARAMETER, i, &r) != 0)
        return -1;
    take_parameter(&r, t, true);
    return 0;
}

static void take_field(record_t *r, device_field_t *f, bool whole) {
    f->per_joint = take_u8(r);
    f->kind = take_u8(r);
    const uint32_t exponents = take_u8(r);
    for (uint32_t k = 0; k < exponents; k++) {
        const int8_t exponent = (int8_t)take_u8(r);
        if (k < DYN_MAX_JOINTS)
            f->exponent[k] = exponent;
    }
    take_text(r, f->name, sizeof f->name);
    take_text(r, f->unit[0], sizeof f->unit[0]);
    take_text(r, f->unit[1], sizeof f->unit[1]);
    if (whole)
        take_text(r, f->help, sizeof f->help);
}

int client_discover_field(client_t *client, uint32_t i) {
    /* at most an exponent for each joint, or one, comes before the texts, in fixed point only */
    enum { FIXED = 3, TEXTS = 3, HEAD = 48 };
    static record_t r;
    device_field_t *f = &client->device.field[i];
    const uint32_t exponents = strcmp(client->device.real, "q31") ? 0 : client->device.joints + 1;
    if (describe_head(client, TOPIC_FIELD, i, FIXED + exponents, TEXTS, HEAD, &r) != 0)
        return -1;
    take_field(&r, f, false);
    if (help_field(f))
        return 0;
    if (describe(client, TOPIC_FIELD, i, &r) != 0)
        return -1;
    take_field(&r, f, true);
    return 0;
}

int client_leader(client_t *client, char name[CLIENT_NAME]) {
    static record_t r;
    if (describe(client, TOPIC_LEASE, 0, &r) != 0)
        return -1;
    for (int i = 0; i < 4; i++)
        (void)take_u8(&r);
    take_text(&r, name, CLIENT_NAME);
    return 0;
}

int client_heat(client_t *client, uint8_t percent[DYN_MAX_JOINTS]) {
    static record_t r;
    if (client->device.joints == 0)
        return 0;
    if (describe(client, TOPIC_HEAT, 0, &r) != 0)
        return -1;
    for (uint32_t i = 0; i < client->device.joints; i++)
        percent[i] = take_u8(&r);
    return 0;
}

int client_overridden(client_t *client, uint32_t k, device_override_t *out) {
    static record_t r;
    if (describe(client, TOPIC_OVERRIDE, k, &r) != 0)
        return client->status == LINK_INDEX ? 1 : -1;
    out->parameter = take_u8(&r);
    out->joint = take_u8(&r);
    out->beneath = take_f32(&r);
    return 0;
}

static int discover_method(client_t *client, uint32_t i) {
    static record_t r;
    device_method_t *m = &client->device.method[i];
    if (describe(client, TOPIC_METHOD, i, &r) != 0)
        return -1;
    m->problem = take_u8(&r);
    m->reals = take_u8(&r);
    take_text(&r, m->problem_name, sizeof m->problem_name);
    take_text(&r, m->name, sizeof m->name);
    return 0;
}

typedef int (*discover_t)(client_t *client, uint32_t index);

static int discover_list(client_t *client, void **list, size_t size, uint32_t count,
                         discover_t one) {
    if (*list)
        return 0;
    *list = calloc(count + 1u, size);
    if (!*list) {
        port_fail(&client->error, "close some programs", "there is not enough memory");
        return -1;
    }
    int status = 0;
    for (uint32_t i = 0; i < count && status == 0; i++)
        status = one(client, i);
    return status;
}

int client_discover_some(client_t *client, unsigned what) {
    device_t *d = &client->device;
    int status = client_discover_robot(client);
    if (status == 0 && what & DISCOVER_PARAMETERS)
        status = discover_list(client, (void **)&d->parameter, sizeof *d->parameter, d->parameters,
                               discover_parameter);
    if (status == 0 && what & DISCOVER_FIELDS)
        status = discover_list(client, (void **)&d->field, sizeof *d->field, d->fields,
                               client_discover_field);
    if (status == 0 && what & DISCOVER_METHODS)
        status = discover_list(client, (void **)&d->method, sizeof *d->method, d->methods,
                               discover_method);
    return status;
}

int client_discover(client_t *client) {
    client_forget(&client->device);
    return client_discover_some(client, DISCOVER_ALL);
}

int client_fault(client_t *client, device_fault_t *fault) {
    if (client_ask(client, ASK_FAULT, NULL, 0) != 0)
        return -1;
    const uint8_t *r = client->reply;
    if (client->reply_size < 16) {
        port_fail(&client->error, "use `appell` and firmware of the same version",
                  "the board's fault report is too short");
        return -1;
    }
    *fault = (device_fault_t){.fault = r[0],
                              .joint = r[1],
                              .stop = r[2],
                              .enabled = r[3],
                              .value = get_f32(r + 4),
                              .limit = get_f32(r + 8),
                              .limited = get_u32(r + 12)};
    return 0;
}

int client_status(client_t *client, device_status_t *status) {
    if (client_ask(client, ASK_STATUS, NULL, 0) != 0)
        return -1;
    const uint8_t *r = client->reply;
    if (client->reply_size < 46) {
        port_fail(&client->error, "use `appell` and firmware of the same version",
                  "the board's status is too short");
        return -1;
    }
    *status = (device_status_t){.state = r[0],
                                .fault = r[1],
                                .flags = r[2],
                                .joints = r[3],
                                .tick = get_u32(r + 4),
                                .rate_hz = get_u32(r + 8),
                                .image_length = get_u32(r + 12),
                                .image_crc = get_u32(r + 16),
                                .source = r[20],
                                .reason = (int16_t)get_u16(r + 21),
                                .point_credits = get_u16(r + 23),
                                .sequence = get_u32(r + 25),
                                .load_joint = r[29],
                                .load_torque = get_f32(r + 30),
                                .load_mass = get_f32(r + 34),
                                .unhomed = get_u32(r + 38),
                                .supply_mV = (int32_t)get_u32(r + 42)};
    return 0;
}

int client_counters(client_t *client, uint32_t counter[COUNTERS]) {
    if (client_ask(client, ASK_COUNTERS, NULL, 0) != 0)
        return -1;
    for (uint32_t i = 0; i < COUNTERS; i++)
        counter[i] = client->reply_size >= 4 * (i + 1) ? get_u32(client->reply + 4 * i) : 0;
    return 0;
}

int client_crash(client_t *client, uint8_t **bytes, size_t *size, bool clear) {
    uint8_t request[3] = {0};
    size_t used = 0, total = 1;
    *bytes = NULL;
    *size = 0;
    while (used < total) {
        put_u16(request + 1, (uint32_t)used);
        if (client_ask(client, ASK_CRASH, request, sizeof request) != 0 || client->reply_size < 2) {
            free(*bytes);
            *bytes = NULL;
            return -1;
        }
        total = get_u16(client->reply);
        const size_t piece = client->reply_size - 2;
        if (total == 0)
            return 0;
        if (!*bytes)
            *bytes = calloc(1, total);
        if (!*bytes || piece == 0 || used + piece > total)
            return -1;
        memcpy(*bytes + used, client->reply + 2, piece);
        used += piece;
    }
    *size = total;
    request[0] = clear;
    return clear ? client_ask(client, ASK_CRASH, request, sizeof request) : 0;
}

int client_hardware(client_t *client, device_hardware_t *out) {
    *out = (device_hardware_t){0};
    for (unsigned i = 0; i < HARDWARE_JOINTS || i < FITS_JOINT; i++) {
        const uint8_t index = (uint8_t)i;
        if (client_ask(client, ASK_HARDWARE, &index, 1) != 0)
            return -1;
        const uint8_t *r = client->reply;
        if (client->reply_size < 38) {
            port_fail(&client->error, "use `appell` and firmware of the same version",
                      "the board's description of its hardware is too short");
            return -1;
        }
        out->misfits = get_u32(r);
        if (i < FITS_JOINT)
            out->joints[i] = get_u32(r + 4);
        r += 8;
        out->is.motors = get_u32(r);
        out->is.encoders = get_u32(r + 4);
        out->is.absolute = get_u32(r + 8);
        out->is.switches = get_u32(r + 12);
        if (i < HARDWARE_JOINTS)
            out->is.counts[i] = get_u32(r + 16);
        out->is.brake_open_ms = get_u16(r + 20);
        out->is.brake_close_ms = get_u16(r + 22);
        out->is.flags = get_u16(r + 24);
        out->is.active = r[26];
        out->is.latched = r[27];
        out->is.busy_ns = 1000u * get_u16(r + 28);
    }
    return 0;
}
