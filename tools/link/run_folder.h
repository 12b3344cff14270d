/*
 * The folder in which the programs of one user find each other: the sockets of virtual boards
 * (NAME.board) and of serial ports that are in use (DEVICE.port). It is $XDG_RUNTIME_DIR/appell, or
 * /tmp/appell-UID; nobody else may enter it.
 */
#ifndef TOOLS_LINK_RUN_FOLDER_H
#define TOOLS_LINK_RUN_FOLDER_H

#include <stddef.h>

#include "tools/link/port.h"

enum {
    RUN_PATH = 108,
    RUN_NAME = 48,
    RUN_BOARDS = 16
}; /* RUN_PATH: what a socket's name may have */

/* Writes the path of the socket of a virtual board. Returns 0, or -1 with *error filled in. */
int run_board(const char *name, char path[RUN_PATH], port_error_t *error);
/* Writes the path of the socket under which a serial device is shared. */
int run_serial(const char *device, char path[RUN_PATH], port_error_t *error);

/* Connects to a socket. Returns its file descriptor, or -1 with errno. */
int run_connect(const char *path);

/* Lists the virtual boards that run, by name. Returns their number. */
int run_boards(char name[RUN_BOARDS][RUN_NAME]);

/* Finds the port of a command that names none: $APPELL_PORT, or the only virtual board that runs.
 * Returns 0, or -1 with *error filled in. */
int run_default(char *port, size_t size, port_error_t *error);

#endif
