/* Opens the board that --port names, for the commands. */
#ifndef TOOLS_ARGS_BOARD_H
#define TOOLS_ARGS_BOARD_H

#include "tools/cli/command.h"
#include "tools/link/client.h"
#include "tools/robot/robot.h"

/* Options of every command that needs a board. */
#define BOARD_OPTIONS OPTION_PORT, OPTION_QUIET, OPTION_VERBOSE, OPTION_HELP

/*
 * May be combined with DISCOVER_.... BOARD_LAB: if the port starts an emulator, it runs the
 * laboratory build. BOARD_BARE: reads nothing from the board, not even its robot.
 */
enum { BOARD_LAB = 1 << 8, BOARD_BARE = 1 << 9 };
/* Connects and reads the robot and the lists of DISCOVER_... in `what`. Returns NULL after printing
 * what is wrong. */
client_t *board_open(const request_t *request, unsigned what);
/* Prints the client's error, and a note if the board has crashed. Returns EXIT_NO if the board
 * refused, EXIT_BAD if the link failed. */
int board_error(client_t *client);

/* Texts of a part FIT_..., and the names of the joints that do not fit in it. */
const char *board_fit_cause(unsigned part);
const char *board_fit_cure(unsigned part);
void board_fit_joints(const client_t *client, const device_hardware_t *hardware, unsigned part,
                      char *text, size_t size);

/* Returns EXIT_YES, or EXIT_BAD after printing that `what` needs the laboratory build. */
int board_needs_lab(const client_t *client, const char *what);

/* Makes the image of a robot; the caller frees it. Returns NULL after printing the reason. */
uint8_t *board_image(const request_t *request, const robot_t *robot, size_t *size);

/* Makes sure that the board runs this image, and reads all lists. Somebody's other robot is not
 * replaced. If `what` is not NULL, it names a command that is for the simulated arm only. Returns
 * EXIT_YES, or a code after printing what is wrong; nothing has changed then. */
int board_give(client_t *client, const char *what, const uint8_t *image, size_t size);
/* Opens the board of a port, with board_give. An emulated board without RAM for an image gets the
 * image in its flash. Returns NULL after printing what is wrong. */
client_t *board_open_image(const char *port, const char *what, const uint8_t *image, size_t size);
/* Like board_open_image, for a robot and the option --port; without --port the board is the
 * emulated netduinoplus2. */
client_t *board_open_with(const request_t *request, const robot_t *robot, const char *what);
/* Overrides parameters from NAME=VALUE or NAME[JOINT]=VALUE, separated by commas, until the command
 * ends; `arm` cannot be overridden and is set. Without a joint it sets all joints. */
int board_set(client_t *client, const char *list);

/* Stops the arm and waits until the outputs are off or the board is in a fault. Returns EXIT_YES;
 * if the outputs stay on EXIT_NO, after printing that; otherwise the result of
 * board_error. */
int board_outputs_off(const request_t *request, client_t *client);

/* Shows how many bytes were sent (tools/cli/progress.h); for use as a client_progress_t. */
void board_progress(void *user, uint32_t done, uint32_t all);

/* Returns the name of the state: "idle", "fault"... */
const char *board_state(const device_status_t *status);
/* Returns a hint if values that are saved on the board do not survive a loss of power, otherwise
 * NULL. */
const char *board_not_persistent(const client_t *client);

#endif
