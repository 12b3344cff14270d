/* The link of the board: runs firmware/link/server.h on the HAL. Call it only in the background. */
#ifndef FIRMWARE_PORT_H
#define FIRMWARE_PORT_H

#include "firmware/app/app.h"

enum { LINK_BAUD = 921600 };

/* Loads the stored set into the application. Application and UART must be initialised before. */
void link_start(app_t *app);
/* Answers at most one request and sends the samples that are due; never waits. Returns true while
 * bytes arrive, and for 200 calls afterwards: then the core must not sleep, because the emulator's
 * time jumps over every sleep, and bytes arrive only between sleeps. */
bool link_poll(void);

#endif
