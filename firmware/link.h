// The link of the board: firmware/core/server.h over the HAL. Called from the background only.
#ifndef FIRMWARE_LINK_H
#define FIRMWARE_LINK_H

#include "firmware/core/app.h"

enum { LINK_BAUD = 921600 };

// Loads the stored set into the application, which is initialised; the UART is, too.
void link_start(app_t *app);
// Answers what came and sends what is due; never waits. True while bytes keep coming: then the core
// should not sleep. The emulator's time jumps over every sleep, and bytes arrive only outside of
// one.
bool link_poll(void);

#endif
