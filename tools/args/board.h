/* The board that --port names, for the commands. */
#ifndef TOOLS_ARGS_BOARD_H
#define TOOLS_ARGS_BOARD_H

#include "tools/cli/command.h"
#include "tools/link/client.h"
#include "tools/robot/robot.h"

/* Every command that needs a board takes these. */
#define BOARD_OPTIONS OPTION_PORT, OPTION_QUIET, OPTION_HELP

/* With DISCOVER_...: where the port starts an emulator, it runs the laboratory. */
enum { BOARD_LAB = 1 << 8 };
/* Opens and greets it, discovers its robot and DISCOVER_...; NULL after saying what is wrong. */
client_t *board_open(const request_t *request, unsigned what);
/* Says the client's error, and of a board that has crashed that it has. EXIT_NO where the board
 * refused, EXIT_BAD where the line failed. */
int board_error(client_t *client);

/* EXIT_YES, or EXIT_BAD after saying that `what` needs the laboratory. */
int board_needs_lab(const client_t *client, const char *what);

/* Image of a robot, to be freed; NULL after saying why not. */
uint8_t *board_image(const request_t *request, const robot_t *robot, size_t *size);

/* The board of a port with this robot in it, everything discovered; an emulated board without RAM
 * for an image finds the robot in its flash. NULL after saying what is wrong. */
client_t *board_open_image(const char *port, const uint8_t *image, size_t size);
/* The same for the robot and --port; without one it is the emulated netduinoplus2. */
client_t *board_open_with(const request_t *request, const robot_t *robot);
/* NAME=VALUE, or NAME[JOINT]=VALUE, between commas; all joints where none is named. */
int board_set(client_t *client, const char *list);

/* Brings the board to rest with its outputs off. EXIT_YES, or EXIT_NO after saying why not. */
int board_outputs_off(const request_t *request, client_t *client);

/* A bar on standard error where that is a terminal: a client_progress_t. */
void board_progress(void *user, uint32_t done, uint32_t all);

/* "idle", "fault"... of a status. */
const char *board_state(const device_status_t *status);
/* What a value that is not saved, or a board that keeps nothing, must say. */
const char *board_not_persistent(const client_t *client);

#endif
