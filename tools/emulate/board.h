/*
 * A virtual board that stays: an emulator, a debugger's line to it, and a hub that several programs
 * connect to. A reset, or the loss of power, starts another emulator behind the same socket: memory
 * that a reset keeps, and the flash, are carried over.
 */
#ifndef TOOLS_EMULATE_BOARD_H
#define TOOLS_EMULATE_BOARD_H

#include <stdbool.h>

#include "tools/link/port.h"

typedef struct {
    const char *name;     /* of the virtual board */
    const char *firmware; /* BOARD, BOARD/lab or FILE.elf */
    const char *flash;    /* file that keeps the flash */
    bool erase;           /* begin with an empty flash */
    int parent;           /* the board ends when this file can be read or is closed; -1: never */
} virtual_board_t;

/* Runs the board until it is ended. `ready` gets a byte when programs can connect, or the text of an
 * error, and is closed then. Returns 0, or -1. */
int virtual_board_run(const virtual_board_t *board, int ready);

#endif
