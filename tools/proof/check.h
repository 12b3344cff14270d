/*
 * Backend `check`: computes on the host, bit for bit like q31, and checks every sum for overflow.
 * An overflow ends the program or is counted. The largest value of each named intermediate is kept,
 * for comparison with the bounds of tools/proof/range.h.
 */
#ifndef TOOLS_PROOF_CHECK_H
#define TOOLS_PROOF_CHECK_H

#include <stdbool.h>
#include <stdint.h>

typedef int32_t dyn_real_check_t;

#define DYN_REAL check
#include "dyn/number/arm.inc"
#undef DYN_REAL

/* Resets peaks and overflows. */
void check_begin(bool abort_on_overflow);
long check_overflows(void);
/* Returns the largest absolute value of a component since check_begin, in units of the number
 * format, or -1 if no value has this name. */
double check_peak(const char *name, uint32_t joint, int part);

/* Used only by real_check.h: one place in a kernel that names a value. */
typedef struct check_site {
    const char *name;
    struct check_site *next;
    bool listed;
    int32_t low[DYN_MAX_JOINTS][3], high[DYN_MAX_JOINTS][3];
} check_site_t;

void check_list(check_site_t *site);
void check_overflow(const char *what, int64_t value);

#endif
