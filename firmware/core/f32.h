/* The application in f32, as its callers see it. */
#ifndef FIRMWARE_CORE_F32_H
#define FIRMWARE_CORE_F32_H

#include "dyn/f32.h"
#include "firmware/core/image.h"

#define DYN_REAL f32
#include "firmware/core/instance.h"
#undef DYN_REAL

#endif
