/* The measuring loop of bench_body.inc in q31. */
#include "test/bench/bench.h"

#define DYN_REAL q31
#include "test/support/dyn/dyn_methods.inc"

#define BENCH_RUN                    bench_run_q31
#define BENCH_REAL                   "q31"
#define BENCH_ANGLE                  INT32_MAX /* half a turn */
#define BENCH_LIMIT(value, exponent) dyn_q31_from(value, exponent)
#define BENCH_PART(limit, random)    ((int32_t)(((int64_t)(limit) * (random)) >> 31))
#define BENCH_WIDE                   int64_t
#define BENCH_ROUNDING               8
#include "test/bench/bench_body.inc"
