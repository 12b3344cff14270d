/*
 * Lets several programs use one line to a board at the same time. Each connects to a socket and
 * speaks the protocol of the link as if it were alone: the hub sends one request at a time, a STOP
 * before all others, gives each its own sequence number on the line, and takes the answer back to
 * who asked. After a STOP of another program the holder of the lease gets LINK_STOPPED for its next
 * motion, so that a key that repeats or a stream does not undo the stop. Samples go to who chose the fields. Another choice is refused (LINK_TAKEN) while
 * somebody streams, unless it comes from the holder of the lease; the same choice is shared.
 *
 * The programs repeat their requests, and a repetition keeps its number on the line. The hub itself
 * repeats one only when a frame from the board arrives damaged, because it may have been the answer.
 */
#ifndef TOOLS_LINK_HUB_H
#define TOOLS_LINK_HUB_H

#include "tools/link/port.h"

/* Messages between program and hub that do not reach the board. */
enum {
    HUB_CONTROL = 0x70,  /* request: u8 what; answer: status */
    HUB_GREETING = 0x7e, /* from the hub, once: text with the names of the other programs */
};
/* What HUB_CONTROL asks of a virtual board. */
typedef enum { CONTROL_RESET, CONTROL_POWER, CONTROL_CRASH, CONTROL_END } hub_control_t;

typedef struct {
    /* Before an answer goes to a program: what the board has done must be kept by now. Returns 0, or
     * -1 if that failed; the program is then told that the board could not store it. */
    int (*answering)(void *context);
    /* Carries out a control request. Returns a link_status_t. */
    int (*control)(void *context, uint8_t what);
    void *context;
} hub_calls_t;

typedef struct hub hub_t;

/* Listens at a socket. The calls may be NULL. Returns NULL with *error filled in. */
hub_t *hub_open(const char *path, const hub_calls_t *calls, port_error_t *error);
void hub_close(hub_t *hub);
/* Forgets a hub that another process serves after fork. */
void hub_leave(hub_t *hub);

/* Sets the file of the line to the board, which stays the caller's; -1: there is none now. Requests
 * wait meanwhile. */
void hub_line(hub_t *hub, int file);
/* Number of programs that are connected. */
int hub_users(const hub_t *hub);

/* Bits that hub_turn returns. */
enum { HUB_LINE_CLOSED = 1, HUB_OTHER = 2, HUB_OTHERS = 2 };
/* Handles what has come from programs and board, and waits for it at most timeout_ms. `other` has
 * more files to wait for, or -1; HUB_OTHER << i says that file i can be read or is closed. */
unsigned hub_turn(hub_t *hub, const int other[HUB_OTHERS], int timeout_ms);

#endif
