/* Lets a board compute rows. The robot is loaded into an idle board for this purpose only, not for
 * its control loop. */
#ifndef TOOLS_ARGS_REMOTE_H
#define TOOLS_ARGS_REMOTE_H

#include "dyn/number/q31.h"
#include "firmware/lab/methods.h"
#include "tools/args/board.h"

typedef struct {
    client_t *client;  /* NULL: the host computes itself */
    uint32_t method;   /* index of the method on the board */
    char real[8];      /* number type that the board computes with */
    dyn_units_t units; /* units of q31 */
    uint32_t cost;     /* cost of the last row: instructions or cycles of the kernel */
} remote_t;

/*
 * Opens the board of --port and loads the robot. real: number type; NULL means that of the board's
 * control loop. lab: if the port starts an emulator, it runs the laboratory build. Returns
 * EXIT_YES; EXIT_BAD, after printing what the board has, if its build lacks the method or the type;
 * otherwise the result of board_error.
 */
int remote_open(const request_t *request, const robot_t *robot, method_id_t method,
                const char *real, const double *wrench, bool lab, remote_t *out);
int remote_row(remote_t *remote, const double *in, size_t inputs, double *out, size_t outputs,
               uint32_t *limited);
void remote_close(remote_t *remote);

#endif
