/* What every program with rows of the bench needs (test/bench/bench.h): markers, clock, choice. */
#include "test/bench/bench.h"

#include "hal/cycles.h"

#include <string.h>

BENCH_APART void bench_begin(void) {
    __asm volatile("");
}

BENCH_APART void bench_end(void) {
    __asm volatile("");
}

BENCH_APART void bench_row(void) {
    __asm volatile("");
}

uint32_t bench_clock(void) {
    return cycles_now();
}

uint32_t bench_elapsed(uint32_t start, uint32_t end) {
    return cycles_between(start, end);
}

bool bench_chosen(const char *list, const char *name) {
    const size_t length = strlen(name);
    while (list) {
        const char *comma = strchr(list, ',');
        const size_t here = comma ? (size_t)(comma - list) : strlen(list);
        if (here == length && !strncmp(list, name, length))
            return true;
        if (!comma)
            return false;
        list = comma + 1;
    }
    return true;
}
