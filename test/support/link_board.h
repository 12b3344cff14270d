/*
 * A board inside the test: application and server of the firmware, a line that can lose and damage
 * bytes, and flash that can lose its power. The client talks to it through a port.
 */
#ifndef TEST_SUPPORT_LINK_BOARD_H
#define TEST_SUPPORT_LINK_BOARD_H

#include "firmware/link/server.h"
#include "tools/link/client.h"
#include "test/support/power_cut.h"

enum { BOARD_SLOT = 65536, BOARD_LINE = 16384, BOARD_ROOM = 20000 };

typedef struct {
    uint8_t bytes[BOARD_LINE];
    size_t head, tail;
} board_line_t;

typedef struct {
    app_t app;
    server_t server;
    server_port_t port;
    store_medium_t medium;
    power_cut_flash_t flash;
    board_line_t to, from;   /* bytes to the board; bytes from the board */
    uint32_t damage;         /* one of this many bytes is changed, lost or doubled; 0: none */
    uint32_t line_room;      /* capacity of the board's transmit ring */
    uint32_t ticks_per_poll; /* ticks of the board per poll of its server */
    uint32_t random;
    uint8_t crash[40];
    size_t crash_size;
    uint32_t resets;
    uint8_t memory[2 * BOARD_SLOT];
    uint8_t image[2][BOARD_ROOM];
} board_t;

void board_make(board_t *board);  /* power-up with empty flash */
void board_start(board_t *board); /* reset: clears everything except the flash */
void board_tick(board_t *board, uint32_t ticks);
client_t *board_client(board_t *board);
uint32_t board_random(board_t *board);

/* Writes the image of a two-joint arm with limits; returns its length in bytes. */
uint32_t board_image(uint8_t *bytes, size_t room, const char *name);

#endif
