/* firmware/port.h: connects the server to the hardware. */
#include "firmware/port.h"
#include "firmware/link/server.h"
#include "hal/clock.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/flash.h"
#include "hal/reset.h"
#include "hal/uart.h"

#include <string.h>

#include "firmware/medium.h"
#include "firmware/link/batch_port.h"
#include "firmware/tick.h"

/* Bytes of each of two buffers, for the running and for the incoming image. 0 is for a board with
 * little RAM, which receives images into flash and uses them there. */
#ifndef LINK_IMAGE_ROOM
#define LINK_IMAGE_ROOM 12288
#endif

static server_t server;
static server_port_t port;
static char build[9];

#if LINK_IMAGE_ROOM > 0
static _Alignas(8) uint8_t image[LINK_IMAGE_ROOM], incoming[LINK_IMAGE_ROOM];
#endif

/* ----------------------------------------------------------------------------------------- UART */

static size_t link_read(void *context, uint8_t *bytes, size_t most) {
    (void)context;
    return uart_read(bytes, most);
}

static bool link_write(void *context, const uint8_t *bytes, size_t count) {
    (void)context;
    return uart_write(bytes, count);
}

static size_t link_room(void *context) {
    (void)context;
    return uart_write_free();
}

static void link_counters(void *context, uint32_t counter[COUNTERS]) {
    uart_stats_t line;
    tick_stats_t ticks;
    (void)context;
    uart_stats(&line);
    tick_stats(&ticks);
    counter[COUNTER_BEST] = ticks.best;
    counter[COUNTER_WORST] = ticks.worst;
    counter[COUNTER_RECEIVED] = line.received;
    counter[COUNTER_RX_LOST] = line.rx_dropped + line.rx_overrun;
    counter[COUNTER_TX_LOST] = line.tx_dropped;
}

/* ---------------------------------------------------------------------------------------- crash */

#define X(name, words)                                                                             \
    _Static_assert(offsetof(fault_record_t, name) - offsetof(fault_record_t, cause) ==             \
                           offsetof(crash_t, name) &&                                              \
                       sizeof((fault_record_t){0}.name) == sizeof((crash_t){0}.name),              \
                   "crash_t must have the layout of fault_record_t");
CRASH_TABLE(X)
#undef X
#define X(number, name, text) _Static_assert((int)FAULT_##name == (number), "the same causes");
CRASH_CAUSES(X)
#undef X

static const uint8_t *link_crash(void *context, size_t *size) {
    const fault_record_t *record = fault_record();
    (void)context;
    *size = sizeof(crash_t);
    return record != NULL ? (const uint8_t *)&record->cause : NULL;
}

static void link_crash_clear(void *context) {
    (void)context;
    fault_record_clear();
}

/* Waits until the answer to the request, which is still in the ring, has been sent; then resets the
 * board. The longest answer takes 3 ms at 921,600 baud. Ten ticks take 10 ms at the default rate,
 * 1 kHz, and 100 ms at the lowest rate, 100 Hz. */
static void link_reset(void *context) {
    enum { TICKS = 10 };
    const uint32_t start = tick_count();
    (void)context;
    while (tick_count() - start < TICKS) {
    }
    reset_system();
}

static void name_build(void) {
    const uint8_t *id = fault_build_id();
    for (unsigned i = 0; i < 8; i++)
        build[i] = "0123456789abcdef"[(id[i / 2] >> (i % 2 == 0 ? 4 : 0)) & 15];
}

void link_start(app_t *app) {
    const flash_geometry_t *g = flash_geometry();
    const bool emulated = clock_info()->emulated;
    name_build();
    port = (server_port_t){.board = BOARD_NAME,
                           .build = build,
                           .baud = LINK_BAUD,
                           .read = link_read,
                           .write = link_write,
                           .write_free = link_room,
                           .counters = link_counters,
                           .medium = flash_medium(),
                           .crash = link_crash,
                           .crash_clear = link_crash_clear,
                           .reset = link_reset};
    port.flags =
        (uint8_t)((emulated ? HELLO_EMULATED : 0) | (g->persistent ? HELLO_PERSISTENT : 0) |
                  (g->writable ? HELLO_STORE : 0) |
                  (cycles_are_instructions() ? HELLO_INSTRUCTIONS : 0));
#ifdef FIRMWARE_LAB
    port.flags |= HELLO_LAB;
#endif
#if LINK_IMAGE_ROOM > 0
    port.image = image;
    port.incoming = incoming;
    port.image_room = LINK_IMAGE_ROOM;
    port.batch = batch_service(incoming, sizeof incoming);
#else
    port.flags |= HELLO_IN_PLACE;
    for (unsigned i = 0; i < STORE_SLOTS; i++)
        port.slot[i] = (const uint8_t *)(uintptr_t)g->slot[i].address;
#endif
    server_start(&server, app, &port);
}

bool link_poll(void) {
    enum { AWAKE_POLLS = 200 };
    static uint32_t awake;
    if (server_poll(&server))
        awake = AWAKE_POLLS;
    else if (awake > 0)
        awake--;
    return awake > 0;
}
