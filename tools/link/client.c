/* Sends requests and receives answers for tools/link/client.h; opens and closes a client. */
#include "tools/link/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "firmware/params/bytes.h"
#include "tools/link/client_inside.h"

/* An emulated board gets TRIES_EMULATED tries (a minute), because it is as slow as its host. If the
 * emulator has ended, the line is closed and nothing waits. */
enum { TRIES = 6, TRIES_EMULATED = 30, TIMEOUT_MS = 2000, GREET_TRIES = 40, GREET_MS = 500 };

static const struct {
    const char *cause, *cure;
} status_text[] = {
#define X(number, name, cause, cure) [number] = {cause, cure},
    LINK_STATUS_TABLE(X)
#undef X
};

/* ------------------------------------------------------------------------------------- requests */

static int closed(client_t *client) {
    client->status = -1;
    port_fail(&client->error,
              port_firmware(client->port) ? "read the messages of the emulator above"
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

/* Receives the bytes that have come and handles their frames. Returns the number of bytes, 0 if
 * none came in time, or -1 if the line is closed. */
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

/* Fills in the error for a refusal. Some refusals have a reason: then the answer contains its
 * number and, for some messages, a joint. */
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
    port_fail(&client->error,
              known ? status_text[status].cure : "use `appell` and firmware of the same version",
              "the board refuses: %s",
              known ? status_text[status].cause
                    : "this `appell` does not know the answer's status");
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
              "the board does not answer (%d attempts of %d ms each)", tries, timeout_ms);
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

/* -------------------------------------------------------------------------------------- opening */

/* Takes the next of several texts that follow each other, each ended by a zero. */
const char *client_next_text(const uint8_t **at, const uint8_t *end) {
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
        port_fail(&client->error, "use `appell` and firmware of the same version",
                  "the board's answer to HELLO is too short");
        return -1;
    }
    d->version = r[0];
    d->payload = r[1];
    d->joints_max = r[2];
    d->flags = r[3];
    d->baud = get_u32(r + 4);
    d->parameters = r[8];
    d->fields = r[9];
    d->methods = r[10];
    r += 11;
    snprintf(d->board, sizeof d->board, "%s", client_next_text(&r, end));
    snprintf(d->real, sizeof d->real, "%s", client_next_text(&r, end));
    snprintf(d->build, sizeof d->build, "%s", client_next_text(&r, end));
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
    /* a first sequence number that very probably differs from the last session's */
    client->next = (uint8_t)(now_ms() * 37 >> 2);
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

void client_forget(device_t *d) {
    free(d->parameter);
    free(d->field);
    free(d->method);
    d->parameter = NULL;
    d->field = NULL;
    d->method = NULL;
}

void client_close(client_t *client) {
    if (!client)
        return;
    /* Restores the board's own choice of fields for the next client. Only one try, because the line
     * may be gone. */
    client->tries = 1;
    if (client->choices > 0 && client->status >= 0 && !port_firmware(client->port))
        (void)client_stream_end(client);
    port_close(client->port);
    client_forget(&client->device);
    free(client);
}

int client_reset(client_t *client) {
    uint8_t request[4];
    put_u32(request, RESET_WORD);
    if (client_ask(client, ASK_RESET, request, sizeof request) != 0)
        return -1;
    return hello(client, GREET_TRIES, GREET_MS);
}
