/* The link of the board: firmware/link/server.h on the HAL. Called only in the background. */
#ifndef FIRMWARE_PORT_H
#define FIRMWARE_PORT_H

#include "firmware/app/app.h"

enum { LINK_BAUD = 921600 };

/* Loads the stored set into the application. Application and UART must be initialised. */
void link_start(app_t *app);
/* Answers what came and sends what is due; never waits. True while bytes keep coming: then the
 * core must not sleep. The emulator's time jumps over every sleep, and bytes arrive only between
 * sleeps. */
bool link_poll(void);

#endif
