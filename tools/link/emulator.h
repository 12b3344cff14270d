/* Starts an emulator with the firmware of a board. Its serial line, and the debugger's, are sockets. */
#ifndef TOOLS_LINK_EMULATOR_H
#define TOOLS_LINK_EMULATOR_H

#include <limits.h>
#include <sys/types.h>

#include "tools/link/port.h"

typedef struct {
    char firmware[PATH_MAX];
    char text[1000];  /* the command line up to what emulator_start adds */
    char loader[100]; /* places the file `slot` into the flash */
    /* Files that the emulator inherits; -1: none. With `gdb` it waits for the debugger. */
    int line, gdb, slot;
} emulator_t;

/* Finds the firmware of BOARD, BOARD/lab or FILE.elf, and how its board is emulated. Returns 0, or -1
 * with *error filled in. */
int emulator_find(const char *name, emulator_t *out, port_error_t *error);
/* Starts it; it ends with this process. Returns the process, or -1 with *error filled in. */
pid_t emulator_start(emulator_t *emulator, port_error_t *error);

#endif
