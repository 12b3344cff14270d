/* The application in f64, as its callers see it. */
#ifndef FIRMWARE_CORE_F64_H
#define FIRMWARE_CORE_F64_H

#include "dyn/f64.h"
#include "firmware/core/image.h"

#define DYN_REAL f64
#include "firmware/core/instance.h"
#undef DYN_REAL

#endif
