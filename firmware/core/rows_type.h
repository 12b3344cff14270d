/* The end of firmware/core/rows_<type>.c: the type as a table of functions. Without an include
 * guard. */
#include "firmware/core/app_types.h"

#define ROWS_BEGIN()           ((void)0)
#define ROWS_OVERFLOWS()       0
#define ROWS_NOW()             app_clock()
#define ROWS_STEPS(start, end) app_clock_steps(start, end)
#include "firmware/core/rows_body.h"

static uint32_t cost(const evaluator_t *e) {
    return e->cost;
}

#ifdef ROWS_HAS
_Static_assert(sizeof(struct evaluator) <= ROWS_EVALUATOR_ROOM, "the board has memory for it");
#endif

const rows_type_t ROWS_TYPE = {prepare, set_wrench, ready, row, cost};
