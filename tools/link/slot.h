/* Makes the bytes of a slot of the store (firmware/params/store.h). A board that finds them in its
 * flash starts with this robot. */
#ifndef TOOLS_LINK_SLOT_H
#define TOOLS_LINK_SLOT_H

#include <stddef.h>
#include <stdint.h>

/* Returns a slot with the image, but without parameters and telemetry; the caller frees it. NULL if
 * there is no memory. */
uint8_t *slot_make(const uint8_t *image, size_t image_size, size_t *size);

#endif
