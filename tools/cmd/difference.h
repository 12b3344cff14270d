/* What a board would have otherwise with another image: numbers of the image, and parameters.
 * Printed on standard output. */
#ifndef TOOLS_CMD_DIFFERENCE_H
#define TOOLS_CMD_DIFFERENCE_H

#include "tools/link/before.h"

/* What a new image changes of the old one; NULL: there was none. How many things; 0: nothing that
 * has a name. */
unsigned difference_images(const uint8_t *old, uint32_t old_length, const uint8_t *image,
                           size_t length);
/* Parameters that were set on the board since the image that runs, and that the new one sets anew.
 * How many; printed where `print`. The client has discovered the parameters. */
unsigned difference_parameters(const client_t *client, const before_t *before, const uint8_t *image,
                               size_t length, bool print);
/* Parameters that no image sets, where they are not at their defaults: a new robot inherits
 * them. */
void difference_stays(const client_t *client, const before_t *before, const uint8_t *image,
                      size_t length);

#endif
