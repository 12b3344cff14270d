/* The table of the parameters, and the ranges in which numbers from outside must lie. */
#include "firmware/params/parameters.h"

#include <math.h>

#define ONE   0
#define JOINT 1
#define ANY   0
#define IDLE  1
#define WHOLE 2
#define SIGN  4
#define UP    8
#define DOWN  16
const parameter_info_t parameter_table[PARAMETERS] = {
#define X(name, shape, when, unit, least, most, fallback, key, help)                               \
    {#name,                                                                                        \
     unit,                                                                                         \
     HELP(help),                                                                                   \
     least,                                                                                        \
     most,                                                                                         \
     fallback,                                                                                     \
     shape,                                                                                        \
     (when)&IDLE,                                                                                  \
     ((when)&SIGN) != 0    ? SPAN_SIGN                                                             \
     : ((when)&WHOLE) != 0 ? SPAN_WHOLE                                                            \
                           : SPAN_ALL,                                                             \
     ((when)&UP) != 0     ? 1                                                                      \
     : ((when)&DOWN) != 0 ? -1                                                                     \
                          : 0},
    PARAMETER_TABLE(X)
#undef X
};

bool span_contains(span_t range, float value) {
    return value >= range.least && value <= range.most &&
           (range.whole == SPAN_ALL || value == rintf(value)) &&
           (range.whole != SPAN_SIGN || value != 0);
}

span_t parameter_span(uint32_t parameter) {
    const parameter_info_t *info = &parameter_table[parameter];
    return (span_t){info->least, info->most, info->whole};
}
