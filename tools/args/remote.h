/* Rows computed by a board: the robot goes into it for that only, while it is idle. */
#ifndef TOOLS_ARGS_REMOTE_H
#define TOOLS_ARGS_REMOTE_H

#include "dyn/number/q31.h"
#include "firmware/lab/methods.h"
#include "tools/args/board.h"

typedef struct {
    client_t *client;  /* NULL: nothing is remote */
    uint32_t method;   /* its number on the board */
    char real[8];      /* number type that computes */
    dyn_units_t units; /* of q31 */
    uint32_t cost;     /* of the last row: instructions or cycles of the kernel */
} remote_t;

/*
 * Opens the board of --port and puts the robot into it. real NULL: the type of the board's control
 * loop. lab: where that starts an emulator, it runs the laboratory. EXIT_YES; EXIT_BAD where its build lacks the method or the type, with the list of what it
 * has; or what board_error says.
 */
int remote_open(const request_t *request, const robot_t *robot, method_id_t method,
                const char *real, const double *wrench, bool lab, remote_t *out);
int remote_row(remote_t *remote, const double *in, size_t inputs, double *out, size_t outputs,
               uint32_t *limited);
void remote_close(remote_t *remote);

#endif
