/* Telemetry for tools/link/client.h: chooses fields, receives samples, renews credit. */
#include "tools/link/client_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/messages.h"

static uint32_t size_of(const client_t *client, uint32_t field) {
    return client->device.field[field].per_joint ? client->device.joints : 1;
}

static uint32_t values_of(const client_t *client) {
    uint32_t values = 0;
    for (uint32_t i = 0; i < client->choices; i++)
        values += size_of(client, client->chosen[i]);
    return values;
}

static double number(const device_field_t *field, uint32_t joint, uint32_t word) {
    uint8_t bytes[4];
    put_u32(bytes, word);
    switch (field->kind) {
    case KIND_F32:
        return (double)get_f32(bytes);
    case KIND_Q31:
        return ldexp((double)(int32_t)word, field->exponent[joint] - 28);
    default:
        return (double)word;
    }
}

static void finish(client_t *client) {
    sample_in_t *s = &client->sample;
    uint32_t at = 0;
    for (uint32_t i = 0; i < client->choices; i++) {
        const device_field_t *field = &client->device.field[client->chosen[i]];
        for (uint32_t k = 0; k < size_of(client, client->chosen[i]); k++, at++)
            s->value[at] = number(field, k, s->word[at]);
    }
    s->values = at;
    client->samples++;
    client->credit -= client->credit > 0;
    if (client->on_sample)
        client->on_sample(client->user, s);
}

void stream_take(client_t *client, const uint8_t *frame, size_t size) {
    const uint8_t *payload = frame + PROTOCOL_HEAD;
    if (size < PROTOCOL_HEAD + PROTOCOL_SAMPLE_HEAD)
        return;
    const uint32_t count = (uint32_t)(size - PROTOCOL_HEAD - PROTOCOL_SAMPLE_HEAD) / 4;
    const uint32_t tick = get_u32(payload), first = get_u16(payload + 6);
    const uint16_t lost = get_u16(payload + 4);
    sample_in_t *s = &client->sample;
    const uint8_t torn = client->sample_seen ? (uint8_t)(frame[1] - client->sample_sequence) : 0;
    client->torn += torn;
    client->sample_sequence = (uint8_t)(frame[1] + 1);
    client->sample_seen = true;
    if (client->choices == 0)
        return; /* the sample belongs to the choice of another client */
    /* What was lost has used up credit, too. Of a sample in several frames each counts: rather too
     * much credit than a stream that stops. */
    client->credit -= torn < client->credit ? torn : client->credit;
    client->lost_total += (uint16_t)(lost - client->lost_last);
    client->lost_last = s->lost = lost;
    if (first == 0) {
        s->tick = tick;
        client->filled = 0;
    }
    const uint32_t values = values_of(client);
    if (tick != s->tick || first != client->filled || first + count > values ||
        values > CLIENT_VALUES_MAX)
        return; /* a frame of this sample was lost */
    for (uint32_t i = 0; i < count; i++)
        s->word[first + i] = get_u32(payload + PROTOCOL_SAMPLE_HEAD + 4 * i);
    client->filled = first + count;
    if (client->filled == values)
        finish(client);
}

/* Renews the credit when half of the window is left, not only at its end, because the request takes
 * its time. */
int stream_pay(client_t *client) {
    uint8_t request[4];
    if (client->choices == 0 || client->credit > client->window / 2)
        return 0;
    const uint32_t more = client->window - client->credit;
    put_u32(request, more);
    /* added before the request, because samples arrive during the wait for the answer */
    client->credit += more;
    return client_ask(client, ASK_CREDIT, request, sizeof request);
}

/*
 * Computes the smallest number of ticks between samples with which the refused fields fit the line.
 */
static int fitting(client_t *client, uint32_t *bytes, uint32_t *rate_hz, uint32_t *every) {
    device_status_t status;
    *bytes = get_u16(client->reply);
    const uint32_t available = get_u32(client->reply + 6);
    if (client_status(client, &status) != 0)
        return -1;
    *rate_hz = status.rate_hz;
    *every = (uint32_t)(((uint64_t)*bytes * 10 * status.rate_hz + available - 1) /
                        (available ? available : 1));
    return 0;
}

/* Turns the refusal of the board into an error that shows the calculation. */
static int over_budget(client_t *client, uint32_t every) {
    const uint32_t needed = get_u32(client->reply + 2), available = get_u32(client->reply + 6);
    uint32_t bytes, rate_hz, fits;
    char cure[PORT_TEXT];
    if (fitting(client, &bytes, &rate_hz, &fits) != 0)
        return -1;
    client->status = LINK_BUDGET;
    snprintf(cure, sizeof cure, "take one sample in %u ticks, or choose fewer fields",
             (unsigned)fits);
    port_fail(&client->error, cure,
              "the line is too slow: %u bytes per sample x 10 bits x %u ticks/s / %u ticks per "
              "sample = %u bit/s, but %u baud leave %u bit/s for samples",
              (unsigned)bytes, (unsigned)rate_hz, (unsigned)every, (unsigned)needed,
              (unsigned)client->device.baud, (unsigned)available);
    return -1;
}

int client_field(client_t *client, const char *name) {
    for (uint32_t i = 0; i < client->device.fields; i++)
        if (!strcmp(client->device.field[i].name, name))
            return (int)i;
    const char *known[256] = {NULL}; /* a board tells the number of its fields in a byte */
    char list[PORT_TEXT] = "choose from: ", cure[PORT_TEXT];
    size_t used = strlen(list);
    for (uint32_t i = 0; i < client->device.fields; i++) {
        known[i] = client->device.field[i].name;
        if (used < sizeof list - 1)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                     known[i]);
    }
    messages_suggest(cure, sizeof cure, name, known, list);
    port_fail(&client->error, cure, "the board has no field %s", name);
    return -1;
}

int client_choice(client_t *client, uint8_t chosen[256], uint32_t *choices, uint32_t *every) {
    const uint8_t request[4] = {TOPIC_CHOICE};
    if (client_ask(client, ASK_DESCRIBE, request, sizeof request) != 0)
        return -1;
    const uint8_t *r = client->reply;
    *choices = client->reply_size >= 7 ? r[6] : 0;
    if (client->reply_size < 7u + *choices)
        *choices = 0;
    *every = *choices > 0 ? get_u32(r + 2) : 0;
    memcpy(chosen, r + 7, *choices);
    for (uint32_t i = 0; i < *choices; i++)
        if (chosen[i] >= client->device.fields)
            *choices = 0;
    return 0;
}

static int choose(client_t *client, const uint8_t *chosen, uint32_t choices, uint32_t every) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    client->choices = 0;
    put_u32(request, every);
    if (choices > 0)
        memcpy(request + 4, chosen, choices);
    if (every == 0 && choices > 0) { /* as often as the line can carry */
        uint32_t bytes, rate_hz;
        put_u32(request, every = 1);
        if (client_ask(client, ASK_TELEMETRY, request, 4 + choices) != 0 &&
            client->status == LINK_BUDGET && client->reply_size >= 10) {
            if (fitting(client, &bytes, &rate_hz, &every) != 0)
                return -1;
            put_u32(request, every);
        }
    }
    if (client_ask(client, ASK_TELEMETRY, request, 4 + choices) != 0)
        return client->status == LINK_BUDGET && client->reply_size >= 10
                   ? over_budget(client, every)
                   : -1;
    if (choices > 0)
        memcpy(client->chosen, chosen, choices);
    client->choices = choices;
    client->every = every;
    client->credit = client->filled = client->lost_total = 0;
    client->lost_last = 0;
    client->sample_seen = false;
    client->torn = 0;
    return 0;
}

static int remember(client_t *client) {
    if (!client->found_known &&
        client_choice(client, client->found, &client->founds, &client->found_every) != 0)
        return -1;
    client->found_known = true;
    return 0;
}

/* Reads the fixed-point units of the chosen fields again, because they depend on the arm and on
 * some parameters. */
static int renew_units(client_t *client, const uint8_t *chosen, uint32_t choices) {
    for (uint32_t i = 0; i < choices; i++)
        if (client->device.field[chosen[i]].kind == KIND_Q31 &&
            client_discover_field(client, chosen[i]) != 0)
            return -1;
    return 0;
}

int client_stream(client_t *client, const char *const *name, uint32_t names, uint32_t every,
                  uint32_t window, client_sample_t on_sample, void *user) {
    uint8_t chosen[256] = {0};
    uint32_t choices = names, own_every = 0;
    if (!client->device.field && client_discover_some(client, DISCOVER_FIELDS) != 0)
        return -1;
    for (uint32_t i = 0; i < names; i++) {
        const int field = client_field(client, name[i]);
        if (field < 0)
            return -1;
        if (memchr(chosen, field, i)) {
            port_fail(&client->error, "name each field once", "the field %s is named twice",
                      name[i]);
            return -1;
        }
        chosen[i] = (uint8_t)field;
    }
    if (remember(client) != 0 ||
        (names == 0 && client_choice(client, chosen, &choices, &own_every) != 0))
        return -1;
    if (choices == 0) {
        port_fail(&client->error, "name the fields: --fields q,tau", "no fields are chosen");
        return -1;
    }
    if (renew_units(client, chosen, choices) != 0 ||
        choose(client, chosen, choices, every > 0 ? every : own_every) != 0)
        return -1;
    client->on_sample = on_sample;
    client->user = user;
    client->window = window;
    return stream_pay(client);
}

/* Ends the samples: a new choice of fields has no credit, so the board sends nothing. */
static int end_with(client_t *client, const uint8_t *chosen, uint32_t choices, uint32_t every) {
    const int status = choose(client, chosen, choices, every);
    client->choices = 0;
    client->on_sample = NULL;
    return status;
}

int client_choose(client_t *client, const uint8_t *chosen, uint32_t choices) {
    return end_with(client, chosen, choices, 0);
}

int client_stream_end(client_t *client) {
    if (!client->device.field && client_discover_some(client, DISCOVER_FIELDS) != 0)
        return -1;
    if (remember(client) != 0)
        return -1;
    const int status = end_with(client, client->found, client->founds, client->found_every);
    /* The restored fields may no longer fit the line at the board's present rate; then no field is
     * chosen. */
    return status != 0 && client->status >= 0 ? end_with(client, NULL, 0, 0) : status;
}

int client_stream_keep(client_t *client) {
    uint8_t chosen[256];
    memcpy(chosen, client->chosen, sizeof chosen);
    return end_with(client, chosen, client->choices, client->every);
}

void client_value_title(const client_t *client, uint32_t value, char *name, size_t size,
                        const char **unit) {
    for (uint32_t i = 0; i < client->choices; i++) {
        const device_field_t *field = &client->device.field[client->chosen[i]];
        const uint32_t count = size_of(client, client->chosen[i]);
        if (value >= count) {
            value -= count;
            continue;
        }
        if (field->per_joint)
            snprintf(name, size, "%s[%s]", field->name, client->device.joint[value]);
        else
            snprintf(name, size, "%s", field->name);
        *unit = field->unit[field->per_joint ? client->device.prismatic[value] != 0 : 0];
        return;
    }
    snprintf(name, size, "?");
    *unit = "";
}

int client_value_of(const client_t *client, const char *name) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < client->choices; i++) {
        if (!strcmp(client->device.field[client->chosen[i]].name, name))
            return (int)at;
        at += size_of(client, client->chosen[i]);
    }
    return -1;
}
