/* Prints what another image would change on a board: numbers of the image, and parameters. The text
 * goes to standard output. */
#ifndef TOOLS_CMD_DIFFERENCE_H
#define TOOLS_CMD_DIFFERENCE_H

#include "tools/link/snapshot.h"

/* Prints what the new image changes. If old is NULL, there was no image. Returns the number of
 * changes; 0 means that no named value changes. */
unsigned difference_images(const uint8_t *old, uint32_t old_length, const uint8_t *image,
                           size_t length);
/*
 * Counts the parameters that were set on the board since its image was loaded and that the new
 * image sets again. Prints them if `print` is true. The client must have read the list of
 * parameters.
 */
unsigned difference_parameters(const client_t *client, const snapshot_t *before,
                               const uint8_t *image, size_t length, bool print);
/* Prints the parameters of the whole arm that the new image does not set and that are not at their
 * defaults: the new robot inherits them. */
void difference_stays(const client_t *client, const snapshot_t *before, const uint8_t *image,
                      size_t length);

#endif
