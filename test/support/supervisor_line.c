/* Implements test/support/supervisor_line.h. */
#include "test/support/supervisor_line.h"

#include <string.h>

#include "firmware/link/server_room.h"
#include "test/support/power_cut.h"

enum { SLOT = 16384, JOINTS = 2 };

static server_t server;
static uint8_t memory[2 * SLOT], image[2][SLOT / 2];
static power_cut_flash_t flash = {
    .slot_bytes = SLOT, .page_bytes = 4096, .unit = 4, .memory = memory, .random = 1};
static store_medium_t medium;

static size_t no_bytes(void *context, uint8_t *bytes, size_t most) {
    (void)context, (void)bytes, (void)most;
    return 0;
}

static bool no_line(void *context, const uint8_t *bytes, size_t count) {
    (void)context, (void)bytes, (void)count;
    return true;
}

static size_t no_room(void *context) {
    (void)context;
    return 0;
}

static void resets(void *context) {
    (void)context;
}

static const server_port_t port = {.board = "in the test",
                                   .build = "0123abcd",
                                   .baud = 921600,
                                   .flags = HELLO_PERSISTENT | HELLO_STORE,
                                   .read = no_bytes,
                                   .write = no_line,
                                   .write_free = no_room,
                                   .medium = &medium,
                                   .image = image[0],
                                   .incoming = image[1],
                                   .image_room = sizeof image[0],
                                   .reset = resets};

void line_start(app_t *app, bool forget) {
    if (forget)
        memset(memory, 0xff, sizeof memory);
    medium = power_cut_medium(&flash);
    power_cut_power_up(&flash, UINT64_MAX);
    memset(&server, 0, sizeof server);
    server_start(&server, app, &port);
}

void line_poll(void) {
    (void)server_poll(&server);
}

/* ------------------------------------------------------------------------------------- requests */

static uint8_t asked[PROTOCOL_PAYLOAD_MAX], answer[PROTOCOL_PAYLOAD_MAX];
static size_t size;

static void put_word(uint32_t word) {
    put_u32(asked + size, word);
    size += 4;
}

static void put_byte(uint32_t byte) {
    asked[size++] = (uint8_t)byte;
}

static void put_numbers(const float number[], uint32_t count) {
    for (uint32_t i = 0; i < count; i++, size += 4)
        put_f32(asked + size, number[i]);
}

/* Sends the bytes that were put, and forgets them. */
static int ask(int (*serve)(server_t *, exchange_t *)) {
    exchange_t x = {asked, size, answer, sizeof answer, 0};
    const int status = serve(&server, &x);
    size = 0;
    switch (status) {
    case LINK_OK:
        return APP_OK;
    case LINK_APP:
        return (int16_t)get_u16(answer);
    case LINK_STATE:
        return APP_E_STATE;
    case LINK_LEASED:
        return APP_E_LEASE;
    case LINK_INDEX:
        return APP_E_PARAMETER;
    case LINK_SIZE:
        return APP_E_NUMBER;
    default:
        return LINE_STATUS - status;
    }
}

uint32_t line_flags(void) {
    (void)ask(serve_STATUS);
    return answer[2];
}

uint32_t line_sequence(void) {
    (void)ask(serve_STATUS);
    return get_u32(answer + 25);
}

int line_send(const uint8_t *bytes, size_t count) {
    put_byte(TARGET_APP);
    put_word((uint32_t)count);
    put_word(crc32_add(0, bytes, count));
    int result = ask(serve_IMAGE_BEGIN);
    for (size_t at = 0; result == APP_OK && at < count;) {
        const size_t some = count - at < 200 ? count - at : 200;
        put_word((uint32_t)at);
        memcpy(asked + size, bytes + at, some);
        size += some;
        at += some;
        result = ask(serve_IMAGE_DATA);
    }
    return result;
}

int line_load(void) {
    put_byte(TARGET_APP);
    return ask(serve_IMAGE_END);
}

int line_motion(uint32_t token, const motion_t *motion) {
    put_word(token);
    put_byte(motion->kind);
    put_numbers(&motion->duration_s, 1);
    put_numbers(motion->value, server_joints(&server));
    return ask(serve_MOTION);
}

int line_points(uint32_t token, const float q[], uint32_t points) {
    put_word(token);
    put_numbers(q, points * JOINTS);
    return ask(serve_POINTS);
}

int line_stop(void) {
    put_byte(0);
    return ask(serve_STOP);
}

int line_release(uint32_t token) {
    put_byte(1);
    put_word(token);
    return ask(serve_STOP);
}

int line_clear(void) {
    return ask(serve_CLEAR);
}

int line_place(uint32_t token, const float q[]) {
    put_word(token);
    put_numbers(q, server_joints(&server));
    return ask(serve_PLACE);
}

int line_set(uint32_t parameter, uint32_t joint, float value) {
    put_byte(parameter);
    put_byte(joint);
    put_numbers(&value, 1);
    return ask(serve_SET);
}

int line_override(uint32_t token, uint32_t parameter, uint32_t joint, float value) {
    put_word(token);
    put_byte(parameter);
    put_byte(joint);
    put_numbers(&value, 1);
    return ask(serve_OVERRIDE);
}

int line_lease(uint32_t token, uint32_t ms) {
    put_word(token);
    put_u16(asked + size, ms < 65535 ? ms : 65535);
    size += 2;
    memcpy(asked + size, "test", 5);
    size += 5;
    return ask(serve_LEASE);
}

int line_save(void) {
    return ask(serve_SAVE);
}

int line_reset(void) {
    put_word(0x4c504152);
    return ask(serve_RESET);
}
