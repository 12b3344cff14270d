/* A slot of a board's parameter store (firmware/params/store.h) as bytes: what a board finds in its
 * flash when it starts with this robot. */
#ifndef TOOLS_LINK_SLOT_H
#define TOOLS_LINK_SLOT_H

#include <stddef.h>
#include <stdint.h>

/* With the image and neither parameters nor telemetry. To be freed; NULL without memory. */
uint8_t *slot_make(const uint8_t *image, size_t image_size, size_t *size);

#endif
