// Rows on this board, for the link: the number types that its build has (ROWS_REALS in board.mk).
#ifndef FIRMWARE_ROWS_H
#define FIRMWARE_ROWS_H

#include "firmware/core/server.h"

// NULL: this board has no memory for it.
const server_rows_t *rows_service(void);

#endif
