// The parameter slots of the chip's flash as the memory of firmware/core/store.h.
#ifndef FIRMWARE_MEDIUM_H
#define FIRMWARE_MEDIUM_H

#include "firmware/core/store.h"

const store_medium_t *flash_medium(void);

#endif
