/* What all commands share that move the arm of a board: who agreed to it, signals that stop it, and
 * what is printed at the end. */
#ifndef TOOLS_LEAD_LEAD_H
#define TOOLS_LEAD_LEAD_H

#include <signal.h>

#include "tools/cli/command.h"
#include "tools/lead/position.h"
#include "tools/lead/rest.h"

/* The signal that came since lead_catch: control-C, control-\, the end of the terminal, or a request
 * to end. A command that sees it returns, and lead_close stops the arm. */
extern volatile sig_atomic_t lead_signal;

/* From here on the signals are noted; lead_open calls it. */
void lead_catch(void);
/* Opens the board for a command that moves its robot, starts the samples if `position` is not NULL,
 * and takes the lease under the command's name. Returns NULL after printing what is wrong. */
client_t *lead_open(const request_t *request, position_t *position);
/* Starts the samples and takes the lease, for lead_open and for a board that is open. The samples of
 * another program are shared if they tell where the arm is; otherwise it gets none from now on.
 * Returns 0, or -1 with client->error. */
int lead_take(client_t *client, const char *name, position_t *position);
/* Asks the person at the terminal before the outputs of a real arm come on. Returns EXIT_YES, or a
 * code after printing why not. */
int lead_agree(const request_t *request, client_t *client);
/* Starts a motion, unless a signal has come. Returns 0, or -1: lead_refused says why. */
int lead_motion(client_t *client, const motion_t *motion);
/* Like board_error, but names the fault that is the reason of a refusal. After a signal it prints
 * nothing, because lead_close tells what became of the arm. */
int lead_refused(client_t *client);
/* Ends a command with this code. After a signal it first stops the arm and prints what holds it; the
 * process then ends by the signal, so that a shell sees 128 + signal. */
int lead_close(client_t *client, int code);

/* Prints what the arm does now and, if they are not NULL, where it is and how far from its target;
 * `what` is the first half of the last line, "" for none. Returns EXIT_NO if there is a fault. */
int lead_report(const request_t *request, client_t *client, const rest_t *rest,
                const position_t *position, const char *what);

#endif
