/* The line of state that `emulate` and `status --watch` show while they run. */
#ifndef TOOLS_ARGS_WATCH_H
#define TOOLS_ARGS_WATCH_H

#include "tools/link/client.h"

/* Writes what a board does in one line, such as "running, moves". */
void watch_line(const device_status_t *status, char *text, size_t size);
/* Shows the line until control-C: on a terminal always the present one, otherwise each that differs
 * from the one before. `hint` ends the line on a terminal. Returns EXIT_YES after control-C, or
 * EXIT_BAD with client->error when the line to the board is closed. */
int watch_board(client_t *client, const char *name, const char *hint);

#endif
