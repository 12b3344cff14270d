/* The link of the board: firmware/link/server.h over the HAL. Called from the background only. */
#ifndef FIRMWARE_PORT_H
#define FIRMWARE_PORT_H

#include "firmware/app/app.h"

enum { LINK_BAUD = 921600 };

/* Loads the stored set into the application, which is initialised; the UART is, too. */
void link_start(app_t *app);
/* Answers what came and sends what is due; never waits. True while bytes keep coming: then the core
 * should not sleep. The emulator's time jumps over every sleep, and bytes arrive only outside of
 * one. */
bool link_poll(void);

#endif
