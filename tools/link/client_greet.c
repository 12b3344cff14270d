/* Says HELLO to a board, for tools/link/client.h, and tells what does answer there if it is not a
 * board with this firmware: nothing, the text of another program, or noise. */
#include <stdio.h>
#include <string.h>

#include "tools/cli/text.h"
#include "tools/link/client_inside.h"

/* Real silicon has booted after SOON_TRIES. An emulator is as slow as its host, and gets LATE_TRIES
 * more. */
enum { SOON_TRIES = 3, LATE_TRIES = 40, TRY_MS = 500, EXCERPT = 60 };

static int hello(client_t *client, int tries) {
    const uint8_t version = PROTOCOL_VERSION;
    const int usual_tries = client->tries, usual_ms = client->timeout_ms;
    client->tries = tries;
    client->timeout_ms = TRY_MS;
    const int status = client_ask(client, ASK_HELLO, &version, 1);
    client->tries = usual_tries;
    client->timeout_ms = usual_ms;
    return status;
}

static bool silent(const client_t *client) {
    return client->status < 0 && !client->closed;
}

static int take_answer(client_t *client) {
    device_t *d = &client->device;
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
    client_take_text(&r, end, d->board, sizeof d->board);
    client_take_text(&r, end, d->real, sizeof d->real);
    client_take_text(&r, end, d->build, sizeof d->build);
    trace_hello(client);
    return 0;
}

/* Text is mostly printable; of the bytes of a wrong baud rate hardly half are. */
static bool is_text(const uint8_t *bytes, size_t size) {
    size_t good = 0;
    for (size_t i = 0; i < size; i++)
        good += (bytes[i] >= ' ' && bytes[i] < 0x7f) || bytes[i] == '\r' || bytes[i] == '\n' ||
                bytes[i] == '\t' || bytes[i] == 0x1b;
    return good * 10 >= size * 9;
}

static void explain(client_t *client) {
    char raw[EXCERPT + 1], excerpt[4 * EXCERPT + 1];
    const size_t size = client->heard_size < EXCERPT ? client->heard_size : EXCERPT;
    const char *at = raw;
    memcpy(raw, client->heard, size);
    raw[size] = '\0';
    if (client->frames > 0)
        port_fail(
            &client->error,
            "check that transmit and receive are not joined, and that no other program speaks "
            "to the board past this one",
            "the board does not answer: frames of this protocol come, but none is an answer");
    else if (size == 0)
        port_fail(&client->error, port_silent(client->port),
                  "the board does not answer: nothing comes from this port");
    else if (is_text(client->heard, size) && text_visible(&at, excerpt, sizeof excerpt, ""))
        port_fail(
            &client->error,
            "if this is another program, choose another port, or write this firmware into the "
            "board: `make BOARD=... flash`; if it is this firmware, check the wire to its "
            "receive pin",
            "the board does not answer: text comes from this port, \"%s%s\"", excerpt,
            client->heard_size > size ? "..." : "");
    else
        port_fail(&client->error,
                  "give the baud rate that the board was built for, DEVICE@BAUD; then check the "
                  "ground wire",
                  "the board does not answer: the bytes that come are noise (%02x %02x %02x %02x "
                  "...)",
                  client->heard[0], client->heard[1 % size], client->heard[2 % size],
                  client->heard[3 % size]);
}

int client_greet(client_t *client, bool patient) {
    client->heard_size = client->frames = 0;
    int status = hello(client, SOON_TRIES);
    if (status != 0 && patient && silent(client)) {
        fprintf(stderr, "appell: note: the board does not answer yet; it may still be starting\n");
        status = hello(client, LATE_TRIES);
    }
    if (status != 0 && silent(client))
        explain(client);
    return status == 0 ? take_answer(client) : -1;
}
