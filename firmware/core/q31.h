/* The application in q31, as its callers see it. */
#ifndef FIRMWARE_CORE_Q31_H
#define FIRMWARE_CORE_Q31_H

#include "dyn/q31.h"
#include "firmware/core/image.h"

#define DYN_REAL q31
#include "firmware/core/instance.h"
#undef DYN_REAL

#endif
