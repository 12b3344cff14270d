/* Implements tools/proof/check.h: records the peaks and overflows of the backend `check`. */
#include "tools/proof/check.h"

#include "dyn/number/q31.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static check_site_t *sites;
static bool aborts = true;
static long overflows;

void check_begin(bool abort_on_overflow) {
    aborts = abort_on_overflow;
    overflows = 0;
    for (check_site_t *s = sites; s; s = s->next) {
        memset(s->low, 0, sizeof s->low);
        memset(s->high, 0, sizeof s->high);
    }
}

long check_overflows(void) {
    return overflows;
}

void check_list(check_site_t *site) {
    site->listed = true;
    site->next = sites;
    sites = site;
}

void check_overflow(const char *what, int64_t value) {
    overflows++;
    if (!aborts)
        return;
    fprintf(stderr, "q31: %s overflows with %" PRId64 ": the limits or the units are wrong\n", what,
            value);
    abort();
}

double check_peak(const char *name, uint32_t joint, int part) {
    double peak = -1;
    for (const check_site_t *s = sites; s; s = s->next) {
        const char *point = strrchr(s->name, '.');
        const char *plain = point ? point + 1 : s->name;
        size_t length = strcspn(plain, "[");
        if (strlen(name) == length && !strncmp(plain, name, length)) {
            peak = fmax(peak, (double)s->high[joint][part]);
            peak = fmax(peak, -(double)s->low[joint][part]);
        }
    }
    return peak < 0 ? peak : ldexp(peak, -DYN_Q31_BITS);
}
