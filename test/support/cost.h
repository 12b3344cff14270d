/* Measures the cost of a call on the target over many states: the smallest and the largest number
 * of instructions. */
#ifndef TEST_SUPPORT_COST_H
#define TEST_SUPPORT_COST_H

#include "hal/cycles.h"
#include "test/support/harness.h"

typedef struct {
    uint32_t least, most;
} cost_t;

#define COST_NONE                                                                                  \
    { UINT32_MAX, 0 }

static inline void cost_see(cost_t *cost, uint32_t start, uint32_t end) {
    const uint32_t spent = cycles_between(start, end);
    cost->least = spent < cost->least ? spent : cost->least;
    cost->most = spent > cost->most ? spent : cost->most;
}

/* Prints the cost. Asserts that it is the same for every state and above that of an empty call. */
static inline void cost_print(const char *what, cost_t cost) {
    harness_note_number(what, cost.most);
    TEST_ASSERT_EQUAL_UINT32(cost.least, cost.most);
    TEST_ASSERT_GREATER_THAN_UINT32(100, cost.least);
}

#endif
