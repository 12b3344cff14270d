/* The measuring loop of bench_body.inc in f64. */
#include "test/bench/bench.h"

#define DYN_REAL f64
#include "test/support/dyn/dyn_methods.inc"

#define BENCH_RUN                    bench_run_f64
#define BENCH_REAL                   "f64"
#define BENCH_ANGLE                  (3.14159265358979 / 2147483648.0)
#define BENCH_LIMIT(value, exponent) ((void)(exponent), (value) / 2147483648.0)
#define BENCH_PART(limit, random)    ((limit) * (double)(random))
#define BENCH_WIDE                   double
#include "test/bench/bench_body.inc"
