/* Prints the fault that a board has latched, and why it refused the robot in its store. */
#ifndef TOOLS_ARGS_BOARD_FAULT_H
#define TOOLS_ARGS_BOARD_FAULT_H

#include "tools/link/client.h"

/* Prints fault, joint, value, limit, cause, cure and stop; nothing if there is neither a fault nor a
 * refused robot. */
void board_fault_text(const client_t *client, const device_status_t *status,
                      const device_fault_t *fault);
/* Writes the same as members of the present object. */
void board_fault_json(const client_t *client, const device_status_t *status,
                      const device_fault_t *fault);

#endif
