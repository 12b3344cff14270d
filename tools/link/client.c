/* Sends requests and receives answers for tools/link/client.h; opens and closes a client. */
#include "tools/link/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "firmware/app/errors.h"
#include "firmware/params/bytes.h"
#include "firmware/safety/lease.h"
#include "tools/cli/text.h"
#include "tools/link/client_inside.h"

/* A request is sent again after four times what answers usually take, but after LEAST_MS to FIRST_MS,
 * then after longer and longer times up to TIMEOUT_MS, until TRIES * TIMEOUT_MS have passed: a line that loses bytes must not hold up the arm, and a slow board
 * must not be flooded. LONG_FIRST_MS is for requests that take the board long. An emulated board gets
 * TRIES_EMULATED (a minute), because it is as slow as its host; if the emulator has ended, the line is
 * closed and nothing waits. */
enum {
    LEAST_MS = 40,
    FIRST_MS = 100,
    LONG_FIRST_MS = 1000,
    TRIES = 6,
    TRIES_EMULATED = 30,
    TIMEOUT_MS = 2000
};

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
    client->closed = true;
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
        if (client->heard_size < sizeof client->heard)
            client->heard[client->heard_size++] = bytes[i];
        client->frames += size > 0;
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

/* Waits for the answer, but not after a damaged frame, which may have been it. */
static int wait_answer(client_t *client, int timeout_ms) {
    const uint32_t damaged = client->reader.stats.damaged;
    const int64_t until = now_ms() + timeout_ms;
    while (client->waiting) {
        if (client->reader.stats.damaged != damaged)
            return 0;
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
    const int64_t asked_ms = now_ms(), until = asked_ms + (int64_t)tries * timeout_ms;
    const int usual_ms = 4 * client->answer_ms;
    int wait_ms = timeout_ms == CLIENT_LONG_MS ? LONG_FIRST_MS
                  : usual_ms < LEAST_MS        ? LEAST_MS
                  : usual_ms < FIRST_MS        ? usual_ms
                                               : FIRST_MS;
    int sent = 0;
    client->asked++;
    do {
        client->repeated += sent > 0;
        if (port_write(client->port, frame, bytes) != 0)
            return closed(client);
        sent++;
        const uint32_t damaged = client->reader.stats.damaged;
        const int answered = wait_answer(client, wait_ms < timeout_ms ? wait_ms : timeout_ms);
        if (answered < 0)
            return closed(client);
        if (answered > 0) {
            if (sent == 1)
                client->answer_ms = (3 * client->answer_ms + (int)(now_ms() - asked_ms)) / 4;
            const int result = client->status == LINK_OK ? 0 : refused(client, message);
            trace_answer(client, message, now_ms() - asked_ms, sent - 1);
            return result;
        }
        if (client->reader.stats.damaged == damaged && wait_ms < timeout_ms)
            wait_ms += wait_ms / 2;
    } while (now_ms() < until);
    client->waiting = false;
    trace_answer(client, message, now_ms() - asked_ms, sent - 1);
    port_fail(&client->error, port_silent(client->port),
              "the board does not answer (%d attempts in %d s)", sent, tries * timeout_ms / 1000);
    return -1;
}

/* Sends LEASE; ms is 0 to end it. An emulator that only this command uses, or a board in the same
 * process, may be many times faster than the host, and is gone when the command dies. */
static int lease(client_t *client, uint32_t ms) {
    uint8_t request[6 + sizeof client->holder];
    put_u32(request, client->token);
    put_u16(request + 4, ms);
    memcpy(request + 6, client->holder, sizeof client->holder);
    client->renewed_ms = now_ms();
    return ask(client, ASK_LEASE, request, 6 + strlen(client->holder) + 1, client->tries,
               client->timeout_ms);
}

/* The board counts the time of the lease; this only asks often enough. */
static int renew(client_t *client) {
    enum { RENEW_MS = 200 };
    if (client->token == 0 || now_ms() - client->renewed_ms < RENEW_MS)
        return 0;
    const bool alone = port_firmware(client->port) || port_file(client->port) < 0;
    const char *asked = getenv("APPELL_LEASE_MS"); /* for emulators that outrun their host */
    const long ms = alone ? LEASE_SIMULATED_MS : asked ? strtol(asked, NULL, 10) : LEASE_MS;
    return lease(client, ms > 0 && ms <= LEASE_SIMULATED_MS ? (uint32_t)ms : LEASE_MS);
}

int client_lead(client_t *client, const char *name) {
    if (client->token != 0)
        return 0;
    while (client->token == 0)
        if (getrandom(&client->token, sizeof client->token, 0) < 0)
            client->token = (uint32_t)getpid();
    snprintf(client->holder, sizeof client->holder, "%s", name);
    client->renewed_ms = INT64_MIN / 2;
    if (renew(client) == 0)
        return 0;
    client->token = 0;
    const port_error_t refused = client->error;
    char leader[CLIENT_NAME];
    if (client->reason != APP_E_LEASE || client_leader(client, leader) != 0)
        client->error = refused;
    else
        port_fail(&client->error, "end that command first", "the command `%s` moves the arm",
                  leader);
    return -1;
}

int client_follow(client_t *client) {
    const int status = client->token != 0 ? lease(client, 0) : 0;
    client->token = 0;
    return status;
}

int client_ask(client_t *client, link_message_t message, const void *payload, size_t size) {
    /* A stop waits for nothing, and works for everybody, also for a client that lost its lease. */
    if (message != ASK_STOP && renew(client) != 0)
        return -1;
    return ask(client, message, payload, size, client->tries, client->timeout_ms);
}

int client_ask_long(client_t *client, link_message_t message, const void *payload, size_t size) {
    return ask(client, message, payload, size, 2, CLIENT_LONG_MS);
}

uint32_t client_piece(const client_t *client, uint32_t most) {
    enum { LOSSY = 16, SMALL = 56 };
    return client->repeated * LOSSY > client->asked && most > SMALL ? SMALL : most;
}

int client_poll(client_t *client, int timeout_ms) {
    const int n = take_bytes(client, timeout_ms);
    return n < 0 ? closed(client) : stream_pay(client) != 0 || renew(client) != 0 ? -1 : n;
}

/* -------------------------------------------------------------------------------------- opening */

void client_take_text(const uint8_t **at, const uint8_t *end, char *out, size_t size) {
    const char *text = (const char *)*at;
    const uint8_t *zero = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    if (!zero)
        text = "";
    else
        *at = zero + 1;
    text_visible(&text, out, size, "");
}

/* Connects over an open port. With `patient` the board may be an emulator that still starts
 * up. */
static client_t *connect_over(port_t *port, bool patient, port_error_t *error) {
    client_t *client = calloc(1, sizeof *client);
    if (!port || !client) {
        port_close(port);
        free(client);
        port_fail(error, "close some programs", "there is not enough memory");
        return NULL;
    }
    client->port = port;
    client->timeout_ms = TIMEOUT_MS;
    client->answer_ms = FIRST_MS;
    /* a first sequence number that very probably differs from the last session's */
    client->next = (uint8_t)(now_ms() * 37 >> 2);
    frame_reader_init(&client->reader, client->rx, sizeof client->rx);
    if (client_greet(client, patient) == 0) {
        client->tries = client->device.flags & HELLO_EMULATED ? TRIES_EMULATED : TRIES;
        return client;
    }
    *error = client->error;
    client_close(client);
    return NULL;
}

client_t *client_over(port_t *port, port_error_t *error) {
    return connect_over(port, port && !port_serial(port), error);
}

client_t *client_open(const char *name, const port_flash_t *flash, port_error_t *error) {
    trace_port(name);
    port_t *port = port_open(name, flash, error);
    return port ? client_over(port, error) : NULL;
}

client_t *client_reopen(const char *name, port_error_t *error) {
    port_t *port = port_open(name, NULL, error);
    return port ? connect_over(port, false, error) : NULL;
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
    client->on_sample = NULL; /* the command that looked at the samples has ended */
    if (client->status >= 0 && !port_firmware(client->port))
        (void)client_follow(client);
    if (client->choices > 0 && client->status >= 0 && !port_firmware(client->port))
        (void)client_stream_end(client);
    trace_end();
    port_close(client->port);
    client_forget(&client->device);
    free(client);
}

int client_reset(client_t *client) {
    uint8_t request[4];
    put_u32(request, RESET_WORD);
    if (client_ask(client, ASK_RESET, request, sizeof request) != 0)
        return -1;
    client->token = 0; /* the board has forgotten the lease */
    return client_greet(client, true);
}
