/* Implements test/support/link_board.h. */
#include "test/support/link_board.h"

#include <string.h>

#include "test/support/planar_image.h"

uint32_t board_random(board_t *board) {
    board->random ^= board->random << 13;
    board->random ^= board->random >> 17;
    board->random ^= board->random << 5;
    return board->random;
}

static void push(board_t *board, board_line_t *line, uint8_t byte) {
    unsigned copies = 1;
    if (board->damage > 0 && board_random(board) % board->damage == 0) {
        const uint32_t kind = board_random(board) % 3;
        copies = kind == 0 ? 0 : kind == 1 ? 1 : 2;
        byte = (uint8_t)(byte ^ (kind == 1 ? 1u << board_random(board) % 8 : 0));
    }
    for (; copies > 0 && line->head - line->tail < BOARD_LINE; copies--) {
        line->bytes[line->head++ % BOARD_LINE] = byte;
    }
}

static size_t pull(board_line_t *line, uint8_t *bytes, size_t most) {
    size_t n = 0;
    while (n < most && line->tail != line->head) {
        bytes[n++] = line->bytes[line->tail++ % BOARD_LINE];
    }
    return n;
}

static size_t board_read(void *context, uint8_t *bytes, size_t most) {
    return pull(&((board_t *)context)->to, bytes, most);
}

static size_t board_free(void *context) {
    const board_t *board = context;
    const size_t used = board->from.head - board->from.tail;
    return used < board->line_room ? board->line_room - used : 0;
}

static bool board_write(void *context, const uint8_t *bytes, size_t count) {
    board_t *board = context;
    if (board_free(board) < count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        push(board, &board->from, bytes[i]);
    }
    return true;
}

static void board_counters(void *context, uint32_t counter[COUNTERS]) {
    const board_t *board = context;
    counter[COUNTER_RECEIVED] = (uint32_t)board->to.tail;
}

static const uint8_t *board_crash(void *context, size_t *size) {
    const board_t *board = context;
    *size = board->crash_size;
    return board->crash_size > 0 ? board->crash : NULL;
}

static void board_crash_clear(void *context) {
    ((board_t *)context)->crash_size = 0;
}

static void board_reset(void *context) {
    board_t *board = context;
    board->resets++;
    board_start(board);
}

void board_tick(board_t *board, uint32_t ticks) {
    app_inputs_t in = {0};
    app_outputs_t out;
    for (; ticks > 0; ticks--) {
        app_tick(&board->app, &in, &out);
    }
}

void board_start(board_t *board) {
    app_init(&board->app);
    server_start(&board->server, &board->app, &board->port);
    board_tick(board, 2);
}

void board_make(board_t *board) {
    memset(board, 0, sizeof *board);
    memset(board->memory, 0xff, sizeof board->memory);
    board->random = 1;
    board->line_room = 4096;
    board->ticks_per_poll = 1;
    board->flash = (power_cut_flash_t){.slot_bytes = BOARD_SLOT,
                                       .page_bytes = 4096,
                                       .unit = 4,
                                       .memory = board->memory,
                                       .cut_at = UINT64_MAX,
                                       .random = 1};
    board->medium = power_cut_medium(&board->flash);
    board->port = (server_port_t){.board = "in the test",
                                  .build = "0123abcd",
                                  .baud = 921600,
                                  .flags = HELLO_PERSISTENT | HELLO_STORE,
                                  .context = board,
                                  .read = board_read,
                                  .write = board_write,
                                  .write_free = board_free,
                                  .counters = board_counters,
                                  .medium = &board->medium,
                                  .image = board->image[0],
                                  .incoming = board->image[1],
                                  .image_room = BOARD_ROOM,
                                  .crash = board_crash,
                                  .crash_clear = board_crash_clear,
                                  .reset = board_reset};
    board_start(board);
}

/* The board runs while the client waits. If the board sends nothing, the read times out at once. */
static int client_read(void *context, uint8_t *bytes, size_t most, int timeout_ms) {
    board_t *board = context;
    (void)timeout_ms;
    for (unsigned i = 0; i < 20; i++) {
        board_tick(board, board->ticks_per_poll);
        server_poll(&board->server);
        const size_t n = pull(&board->from, bytes, most);
        if (n > 0) {
            return (int)n;
        }
    }
    return 0;
}

static int client_write(void *context, const uint8_t *bytes, size_t size) {
    board_t *board = context;
    for (size_t i = 0; i < size; i++) {
        push(board, &board->to, bytes[i]);
    }
    return 0;
}

client_t *board_client(board_t *board) {
    const port_calls_t calls = {client_read, client_write, board};
    port_error_t error;
    client_t *client = client_over(port_from(&calls), &error);
    if (client != NULL) {
        client->tries = 100;
    }
    return client;
}

uint32_t board_image(uint8_t *bytes, size_t room, const char *name) {
    static image_t image;
    size_t size = 0;
    planar_image(&image);
    image.name = name;
    image.arm.gravity[1] = -9.81f;
    for (unsigned i = 0; i < image.n; i++) {
        image_joint_t *j = &image.joint[i];
        j->has = IMAGE_JOINT_HAS_POSITION | IMAGE_JOINT_HAS_VELOCITY |
                 IMAGE_JOINT_HAS_ACCELERATION | IMAGE_JOINT_HAS_TORQUE | IMAGE_JOINT_HAS_KP |
                 IMAGE_JOINT_HAS_KD | IMAGE_JOINT_HAS_COUNTS;
        j->kp[0] = 100;
        j->kd[0] = 10;
    }
    return image_write(&image, bytes, room, &size, NULL) == IMAGE_OK ? (uint32_t)size : 0;
}
