/* The chip's flash as the memory of firmware/params/store.h. */
#ifndef FIRMWARE_MEDIUM_H
#define FIRMWARE_MEDIUM_H

#include "firmware/params/store.h"

const store_medium_t *flash_medium(void);

#endif
