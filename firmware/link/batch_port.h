/*
 * Batch evaluation on this board, for the link, in the number types of this build (BATCH_REALS in
 * the Makefile).
 */
#ifndef FIRMWARE_LINK_BATCH_PORT_H
#define FIRMWARE_LINK_BATCH_PORT_H

#include "firmware/link/server.h"

/* Uses the memory of incoming images for rows: an image is not needed after its arm is prepared.
 * Returns NULL if this build has no batch evaluation, or if the memory is too small for a row. */
const server_batch_t *batch_service(void *memory, size_t size);

#endif
