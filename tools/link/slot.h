/* Makes the bytes of a slot of the store (firmware/params/store.h) that a board finds in its flash
 * when it starts with this robot. */
#ifndef TOOLS_LINK_SLOT_H
#define TOOLS_LINK_SLOT_H

#include <stddef.h>
#include <stdint.h>

/* The slot holds the image, but neither parameters nor telemetry. To be freed; NULL if there is no
 * memory. */
uint8_t *slot_make(const uint8_t *image, size_t image_size, size_t *size);

#endif
