/* tools/link/client.h: requests, discovery, images. Samples: tools/link/stream.c. */
#include "tools/link/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "firmware/app/errors.h"
#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "firmware/link/server.h"
#include "tools/link/stream.h"

/* A minute for an emulated board, which is as slow as its machine; one that has gone closes the
 * line. */
enum { TRIES = 6, TRIES_EMULATED = 30, TIMEOUT_MS = 2000, GREET_TRIES = 40, GREET_MS = 500 };

/* ------------------------------------------------------------------------------------- texts */

static const struct {
    const char *cause, *cure;
} status_text[] = {
#define X(number, name, cause, cure) [number] = {cause, cure},
    LINK_STATUS_TABLE(X)
#undef X
};

static const struct {
    int status;
    const char *cause, *cure;
} store_text[] = {
#define X(number, name, cause, cure) {number, cause, cure},
    STORE_ERROR_TABLE(X)
#undef X
};

static const char *text_of(int reason, bool cure) {
    if (reason > APP_E_IMAGE)
        return cure ? app_cure(reason) : app_cause(reason);
    if (reason > REASON_STORE)
        return cure ? image_cure(reason - APP_E_IMAGE) : image_cause(reason - APP_E_IMAGE);
    for (size_t i = 0; i < sizeof store_text / sizeof store_text[0]; i++)
        if (store_text[i].status == reason - REASON_STORE)
            return cure ? store_text[i].cure : store_text[i].cause;
    return cure ? "use tool and firmware of one version" : "a reason that this tool does not know";
}

const char *reason_cause(int reason) {
    return text_of(reason, false);
}

const char *reason_cure(int reason) {
    return text_of(reason, true);
}

/* ---------------------------------------------------------------------------------- requests */

static int closed(client_t *client) {
    client->status = -1;
    port_fail(&client->error,
              port_firmware(client->port) ? "see what the emulator says above"
                                          : "check the cable and the power of the board",
              "the line to the board was closed");
    return -1;
}

static void take_frame(client_t *client, size_t size) {
    const uint8_t *frame = client->rx;
    if (size > PROTOCOL_HEAD && frame[0] == PROTOCOL_SAMPLE) {
        stream_take(client, frame, size);
    } else if (client->waiting && size > PROTOCOL_HEAD && frame[0] == client->wait_message &&
               frame[1] == client->wait_sequence) {
        client->waiting = false;
        client->status = frame[2];
        client->reply_size = size - PROTOCOL_HEAD - 1;
        memcpy(client->reply, frame + PROTOCOL_HEAD + 1, client->reply_size);
    }
}

/* Bytes that have come, as far as the answer that is waited for. 0: none in time. */
static int take_bytes(client_t *client, int timeout_ms) {
    uint8_t bytes[4096];
    const int n = port_read(client->port, bytes, sizeof bytes, timeout_ms);
    for (int i = 0; i < n; i++) {
        const size_t size = frame_take(&client->reader, bytes[i]);
        if (size > 0)
            take_frame(client, size);
    }
    return n;
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int wait_answer(client_t *client, int timeout_ms) {
    const int64_t until = now_ms() + timeout_ms;
    while (client->waiting) {
        const int64_t left = until - now_ms();
        const int n = left > 0 ? take_bytes(client, (int)left) : 0;
        if (n < 0)
            return -1;
        if (n == 0)
            return 0;
    }
    return 1;
}

/* A refusal with a reason: the answer holds it first, and a joint behind. */
static int refused(client_t *client, link_message_t message) {
    const int status = client->status;
    if ((status == LINK_APP || status == LINK_STORE) && client->reply_size >= 2) {
        client->reason = (int16_t)get_u16(client->reply);
        if ((message == ASK_MOTION || message == ASK_IMAGE_END) && client->reply_size >= 3)
            client->place = client->reply[2] == 0xff ? -1 : client->reply[2];
        const bool named = client->place >= 0 && (uint32_t)client->place < client->device.joints;
        port_fail(&client->error, reason_cure(client->reason), "the board refuses: %s%s%s",
                  reason_cause(client->reason), named ? ", joint " : "",
                  named ? client->device.joint[client->place] : "");
        return -1;
    }
    const bool known = (size_t)status < sizeof status_text / sizeof status_text[0];
    port_fail(&client->error, known ? status_text[status].cure : "use one version of both",
              "the board refuses: %s", known ? status_text[status].cause : "an unknown status");
    return -1;
}

static int ask(client_t *client, link_message_t message, const void *payload, size_t size,
               int tries, int timeout_ms) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
    uint8_t *content = frame + FRAME_WRITE_AT;
    content[0] = (uint8_t)message;
    content[1] = client->next++;
    if (size > 0)
        memcpy(content + PROTOCOL_HEAD, payload, size);
    client->wait_message = (uint8_t)(message | PROTOCOL_REPLY);
    client->wait_sequence = content[1];
    client->waiting = true;
    client->status = client->place = -1;
    client->reason = 0;
    client->reply_size = 0;
    const size_t bytes = frame_close(frame, PROTOCOL_HEAD + size);
    for (int i = 0; i < tries; i++) {
        client->repeated += i > 0;
        if (port_write(client->port, frame, bytes) != 0)
            return closed(client);
        const int answered = wait_answer(client, timeout_ms);
        if (answered < 0)
            return closed(client);
        if (answered > 0)
            return client->status == LINK_OK ? 0 : refused(client, message);
    }
    client->waiting = false;
    port_fail(&client->error, port_silent(client->port),
              "the board does not answer (%d tries of %d ms)", tries, timeout_ms);
    return -1;
}

int client_ask(client_t *client, link_message_t message, const void *payload, size_t size) {
    return ask(client, message, payload, size, client->tries, client->timeout_ms);
}

int client_ask_long(client_t *client, link_message_t message, const void *payload, size_t size) {
    return ask(client, message, payload, size, 2, CLIENT_LONG_MS);
}

int client_poll(client_t *client, int timeout_ms) {
    const int n = take_bytes(client, timeout_ms);
    return n < 0 ? closed(client) : stream_pay(client) != 0 ? -1 : n;
}

/* ------------------------------------------------------------------------------ opening */

/* Texts one behind the other, each with its zero. */
static const char *next_text(const uint8_t **at, const uint8_t *end) {
    const char *text = (const char *)*at;
    const uint8_t *zero = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    if (!zero)
        return "";
    *at = zero + 1;
    return text;
}

static int hello(client_t *client, int tries, int timeout_ms) {
    const uint8_t version = PROTOCOL_VERSION;
    device_t *d = &client->device;
    if (ask(client, ASK_HELLO, &version, 1, tries, timeout_ms) != 0)
        return -1;
    const uint8_t *r = client->reply, *end = r + client->reply_size;
    if (client->reply_size < 14) {
        port_fail(&client->error, "use tool and firmware of one version",
                  "the board's greeting is too short");
        return -1;
    }
    d->version = r[0];
    d->payload = r[1];
    d->joints_max = r[2];
    d->flags = r[3];
    d->baud = get_u32(r + 4);
    d->tunables = r[8];
    d->fields = r[9];
    d->methods = r[10];
    r += 11;
    snprintf(d->board, sizeof d->board, "%s", next_text(&r, end));
    snprintf(d->real, sizeof d->real, "%s", next_text(&r, end));
    snprintf(d->build, sizeof d->build, "%s", next_text(&r, end));
    return 0;
}

client_t *client_over(port_t *port, port_error_t *error) {
    client_t *client = calloc(1, sizeof *client);
    if (!port || !client) {
        port_close(port);
        free(client);
        port_fail(error, "close some programs", "there is not enough memory");
        return NULL;
    }
    client->port = port;
    client->timeout_ms = TIMEOUT_MS;
    client->next = (uint8_t)(now_ms() * 37 >> 2); /* not that of the session before */
    frame_reader_init(&client->reader, client->rx, sizeof client->rx);
    if (hello(client, GREET_TRIES, GREET_MS) == 0) {
        client->tries = client->device.flags & HELLO_EMULATED ? TRIES_EMULATED : TRIES;
        return client;
    }
    *error = client->error;
    client_close(client);
    return NULL;
}

client_t *client_open(const char *name, const port_flash_t *flash, port_error_t *error) {
    port_t *port = port_open(name, flash, error);
    return port ? client_over(port, error) : NULL;
}

static void forget(device_t *d) {
    free(d->tunable);
    free(d->field);
    free(d->method);
    d->tunable = NULL;
    d->field = NULL;
    d->method = NULL;
}

void client_close(client_t *client) {
    if (!client)
        return;
    /* Whoever comes next finds the choice as it was. One try: the line may be gone. */
    client->tries = 1;
    if (client->choices > 0 && client->status >= 0 && !port_firmware(client->port))
        (void)client_stream_end(client);
    port_close(client->port);
    forget(&client->device);
    free(client);
}

/* ----------------------------------------------------------------------------- discovery */

typedef struct {
    uint8_t bytes[8192];
    const uint8_t *at, *end;
} record_t;

static int describe(client_t *client, topic_t topic, uint32_t index, record_t *record) {
    uint32_t used = 0, total = 1;
    while (used < total) {
        uint8_t request[4] = {(uint8_t)topic, (uint8_t)index};
        put_u16(request + 2, used);
        if (client_ask(client, ASK_DESCRIBE, request, sizeof request) != 0)
            return -1;
        total = client->reply_size >= 2 ? get_u16(client->reply) : 0;
        const size_t piece = client->reply_size >= 2 ? client->reply_size - 2 : 0;
        if (total > sizeof record->bytes || used + piece > total || piece == 0) {
            port_fail(&client->error, "use tool and firmware of one version",
                      "the board describes itself in a way that cannot be understood");
            return -1;
        }
        memcpy(record->bytes + used, client->reply + 2, piece);
        used += (uint32_t)piece;
    }
    record->at = record->bytes;
    record->end = record->bytes + total;
    return 0;
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
    snprintf(out, size, "%s", next_text(&r->at, r->end));
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

static int discover_tunable(client_t *client, uint32_t i) {
    static record_t r;
    device_tunable_t *t = &client->device.tunable[i];
    if (describe(client, TOPIC_TUNABLE, i, &r) != 0)
        return -1;
    t->per_joint = take_u8(&r);
    t->idle_only = take_u8(&r);
    t->least = take_f32(&r);
    t->most = take_f32(&r);
    t->fallback = take_f32(&r);
    take_text(&r, t->name, sizeof t->name);
    take_text(&r, t->unit, sizeof t->unit);
    take_text(&r, t->help, sizeof t->help);
    return 0;
}

int stream_field(client_t *client, uint32_t i) {
    static record_t r;
    device_field_t *f = &client->device.field[i];
    if (describe(client, TOPIC_FIELD, i, &r) != 0)
        return -1;
    f->per_joint = take_u8(&r);
    f->kind = take_u8(&r);
    const uint32_t exponents = take_u8(&r);
    for (uint32_t k = 0; k < exponents; k++) {
        const int8_t exponent = (int8_t)take_u8(&r);
        if (k < DYN_MAX_JOINTS)
            f->exponent[k] = exponent;
    }
    take_text(&r, f->name, sizeof f->name);
    take_text(&r, f->unit[0], sizeof f->unit[0]);
    take_text(&r, f->unit[1], sizeof f->unit[1]);
    take_text(&r, f->help, sizeof f->help);
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
    if (status == 0 && what & DISCOVER_TUNABLES)
        status = discover_list(client, (void **)&d->tunable, sizeof *d->tunable, d->tunables,
                               discover_tunable);
    if (status == 0 && what & DISCOVER_FIELDS)
        status =
            discover_list(client, (void **)&d->field, sizeof *d->field, d->fields, stream_field);
    if (status == 0 && what & DISCOVER_METHODS)
        status = discover_list(client, (void **)&d->method, sizeof *d->method, d->methods,
                               discover_method);
    return status;
}

int client_discover(client_t *client) {
    forget(&client->device);
    return client_discover_some(client, DISCOVER_ALL);
}

int client_fault(client_t *client, device_fault_t *fault) {
    if (client_ask(client, ASK_FAULT, NULL, 0) != 0)
        return -1;
    const uint8_t *r = client->reply;
    if (client->reply_size < 16) {
        port_fail(&client->error, "use tool and firmware of one version", "a fault too short");
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
    if (client->reply_size < 29) {
        port_fail(&client->error, "use tool and firmware of one version", "a status too short");
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
                                .knot_credits = get_u16(r + 23),
                                .sequence = get_u32(r + 25)};
    return 0;
}

int client_counters(client_t *client, uint32_t counter[COUNTERS]) {
    if (client_ask(client, ASK_COUNTERS, NULL, 0) != 0)
        return -1;
    for (uint32_t i = 0; i < COUNTERS; i++)
        counter[i] = client->reply_size >= 4 * (i + 1) ? get_u32(client->reply + 4 * i) : 0;
    return 0;
}

/* ------------------------------------------------------------------------------- tunables */

static int find_joint(client_t *client, const char *text, size_t size) {
    const device_t *d = &client->device;
    char name[CLIENT_NAME], *end;
    if (size >= sizeof name)
        return -1;
    memcpy(name, text, size);
    name[size] = '\0';
    for (uint32_t i = 0; i < d->joints; i++)
        if (!strcmp(d->joint[i], name))
            return (int)i;
    const long number = strtol(name, &end, 10);
    return size > 0 && !*end && number >= 1 && number <= (long)d->joints ? (int)number - 1 : -1;
}

int client_tunable(client_t *client, const char *name, uint32_t *tunable, int *joint) {
    const device_t *d = &client->device;
    const size_t size = strcspn(name, "[");
    for (uint32_t i = 0; i < d->tunables; i++) {
        const device_tunable_t *t = &d->tunable[i];
        if (strlen(t->name) != size || memcmp(t->name, name, size) != 0)
            continue;
        *tunable = i;
        *joint = t->per_joint ? -1 : 0;
        if (!name[size])
            return 0;
        const char *inside = name + size + 1;
        const char *close = strchr(inside, ']');
        *joint = t->per_joint && close && !close[1]
                     ? find_joint(client, inside, (size_t)(close - inside))
                     : -1;
        if (*joint >= 0)
            return 0;
        port_fail(&client->error, "write NAME[JOINT] with the name or number (from 1) of a joint",
                  "%s: there is no such joint", name);
        return -1;
    }
    port_fail(&client->error, "`appell get --port P` lists all", "the board has no tunable %s",
              name);
    return -1;
}

int client_get(client_t *client, uint32_t tunable, uint32_t joint, float *value, bool *saved) {
    const uint8_t request[2] = {(uint8_t)tunable, (uint8_t)joint};
    if (client_ask(client, ASK_GET, request, sizeof request) != 0)
        return -1;
    *value = client->reply_size >= 5 ? get_f32(client->reply) : NAN;
    *saved = client->reply_size >= 5 && client->reply[4];
    return 0;
}

int client_set(client_t *client, uint32_t tunable, uint32_t joint, float value, float *now) {
    uint8_t request[6] = {(uint8_t)tunable, (uint8_t)joint};
    put_f32(request + 2, value);
    if (client_ask(client, ASK_SET, request, sizeof request) != 0) {
        if (client->status == LINK_BUDGET)
            port_fail(&client->error,
                      "choose fewer first: `appell monitor --every N`, or fewer --fields",
                      "the line is too slow for the samples that are chosen, with this");
        return -1;
    }
    *now = client->reply_size >= 4 ? get_f32(client->reply) : NAN;
    return 0;
}

/* --------------------------------------------------------------------------------- images */

int client_send_image(client_t *client, uint8_t target, const uint8_t *image, uint32_t length,
                      bool *kept, client_progress_t progress, void *user) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    const uint32_t most = client->device.payload - 4u;
    request[0] = target;
    put_u32(request + 1, length);
    put_u32(request + 5, crc32_add(0, image, length));
    if (client_ask_long(client, ASK_IMAGE_BEGIN, request, 9) != 0)
        return -1;
    for (uint32_t at = 0; at < length;) {
        const uint32_t n = length - at < most ? length - at : most;
        put_u32(request, at);
        memcpy(request + 4, image + at, n);
        if (client_ask(client, ASK_IMAGE_DATA, request, 4 + n) != 0)
            return -1;
        at += n;
        if (progress)
            progress(user, at, length);
    }
    if (client_ask_long(client, ASK_IMAGE_END, &target, 1) != 0)
        return -1;
    *kept = client->reply_size >= 4 && client->reply[3];
    if (target == TARGET_APP) { /* the choice was for the arm before */
        client->found_known = true;
        client->founds = 0;
    }
    return 0;
}

static void *no_image(client_t *client, uint8_t *image) {
    free(image);
    port_fail(&client->error, "use tool and firmware of one version",
              "the board's image has no sensible length");
    return NULL;
}

uint8_t *client_read_image(client_t *client, uint8_t which, uint32_t *length) {
    uint8_t request[6] = {which};
    enum { HEAD = 16 }; /* firmware/params/image.h */
    *length = 0;
    request[5] = HEAD;
    if (client_ask(client, ASK_IMAGE_READ, request, sizeof request) != 0) {
        if (client->status == LINK_INDEX)
            client->error.what[0] = '\0'; /* there is none: no error */
        return NULL;
    }
    const uint32_t total = client->reply_size == HEAD ? get_u32(client->reply + HEAD - 4) : 0;
    uint8_t *image = total >= HEAD && total < 1u << 20 ? malloc(total + 1) : NULL;
    if (!image)
        return no_image(client, NULL);
    const uint32_t most = client->device.payload - 1u;
    for (uint32_t at = 0; at < total;) {
        const uint32_t n = total - at < most ? total - at : most;
        put_u32(request + 1, at);
        request[5] = (uint8_t)n;
        if (client_ask(client, ASK_IMAGE_READ, request, sizeof request) != 0) {
            free(image);
            return NULL;
        }
        if (client->reply_size != n)
            return no_image(client, image);
        memcpy(image + at, client->reply, n);
        at += n;
    }
    *length = total;
    return image;
}

int client_save(client_t *client, bool *persistent) {
    if (client_ask_long(client, ASK_SAVE, NULL, 0) != 0)
        return -1;
    *persistent = client->reply_size > 0 && client->reply[0];
    return 0;
}

/* -------------------------------------------------------------------------------- motions */

int client_motion(client_t *client, const motion_t *motion) {
    uint8_t request[5 + 4 * DYN_MAX_JOINTS];
    const uint32_t n =
        motion->kind == MOTION_HOLD || motion->kind == MOTION_KNOTS ? 0 : client->device.joints;
    request[0] = (uint8_t)motion->kind;
    put_f32(request + 1, motion->duration_s);
    for (uint32_t i = 0; i < n; i++)
        put_f32(request + 5 + 4 * i, motion->value[i]);
    return client_ask(client, ASK_MOTION, request, 5 + 4 * (size_t)n);
}

int client_knots(client_t *client, const float *point, uint32_t points, uint32_t *credits) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    const uint32_t numbers = points * client->device.joints;
    if (numbers * 4 > client->device.payload) {
        port_fail(&client->error, "send fewer at once", "%u points do not fit a frame",
                  (unsigned)points);
        return -1;
    }
    for (uint32_t i = 0; i < numbers; i++)
        put_f32(request + 4 * i, point[i]);
    const int status = client_ask(client, ASK_KNOTS, request, 4 * (size_t)numbers);
    *credits = client->reply_size >= 4 ? get_u16(client->reply + 2) : 0;
    return status;
}

int client_stop(client_t *client, bool at_once) {
    const uint8_t how = at_once;
    return client_ask(client, ASK_STOP, &how, 1);
}

int client_clear(client_t *client) {
    return client_ask(client, ASK_CLEAR, NULL, 0);
}

int client_off(client_t *client) {
    enum { POLLS = 2000 }; /* an answer takes a board longer than 10 us, its longest tick 10 ms */
    device_status_t first, now;
    if (client_stop(client, true) != 0 || client_status(client, &first) != 0)
        return -1;
    for (int i = 0; i < POLLS; i++) {
        if (client_status(client, &now) != 0)
            return -1;
        if (now.tick == first.tick)
            continue;
        if (now.state == APP_STATE_UNCONFIGURED || now.state == APP_STATE_IDLE)
            return 0;
        if (now.state == APP_STATE_FAULT && client_clear(client) != 0)
            return -1;
    }
    port_fail(&client->error, "look at the board's console", "the outputs do not go off");
    return -1;
}

int client_place(client_t *client, const float *q) {
    uint8_t request[4 * DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < client->device.joints; i++)
        put_f32(request + 4 * i, q[i]);
    return client_ask(client, ASK_PLACE, request, 4 * (size_t)client->device.joints);
}

int client_reset(client_t *client) {
    uint8_t request[4];
    put_u32(request, RESET_WORD);
    if (client_ask(client, ASK_RESET, request, sizeof request) != 0)
        return -1;
    return hello(client, GREET_TRIES, GREET_MS);
}

/* ----------------------------------------------------------------------------------- rows */

int client_wrench(client_t *client, const double wrench[6]) {
    uint8_t request[48];
    for (int i = 0; i < 6; i++)
        put_f64(request + 8 * i, wrench[i]);
    return client_ask(client, ASK_WRENCH, request, sizeof request);
}

int client_row(client_t *client, uint32_t method, const double *in, size_t inputs, double *out,
               size_t outputs, uint32_t *limited, uint32_t *cost) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    for (size_t at = 0; at < inputs;) {
        const size_t most = (client->device.payload - 2u) / 8;
        const size_t n = inputs - at < most ? inputs - at : most;
        put_u16(request, (uint32_t)at);
        for (size_t i = 0; i < n; i++)
            put_f64(request + 2 + 8 * i, in[at + i]);
        if (client_ask(client, ASK_ROW_PUT, request, 2 + 8 * n) != 0)
            return -1;
        at += n;
    }
    request[0] = (uint8_t)method;
    if (client_ask(client, ASK_ROW_RUN, request, 1) != 0)
        return -1;
    *limited = client->reply_size >= 10 ? get_u32(client->reply + 2) : 0;
    *cost = client->reply_size >= 10 ? get_u32(client->reply + 6) : 0;
    for (size_t at = 0; at < outputs;) {
        const size_t most = (client->device.payload - 1u) / 8;
        const size_t n = outputs - at < most ? outputs - at : most;
        put_u16(request, (uint32_t)at);
        request[2] = (uint8_t)n;
        if (client_ask(client, ASK_ROW_GET, request, 3) != 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            out[at + i] =
                client->reply_size >= 8 * (i + 1) ? get_f64(client->reply + 8 * i) : (double)NAN;
        at += n;
    }
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
