/* The rows of `make bench` for the PUMA 560 (id, mass, fd, tick), in cycles of the chip. The
 * measuring loops are those of the bench; the product has only the method `fast`. */
#include "test/silicon/silicon.h"

#ifdef SILICON_BENCH
#include "test/bench/bench.h"

#include <string.h>

#define TEST_DYN_METHODS_ROWS
#define DYN_ROWS_INVERSE(X) X(fast, fast_scratch)
#define DYN_ROWS_BIAS(X)    X(fast, fast_scratch)
#define DYN_ROWS_GRAVITY(X) X(fast, fast_scratch)
#define DYN_ROWS_MASS(X)    X(fast, fast_scratch)
#define DYN_ROWS_CORIOLIS(X)
#define DYN_ROWS_FORWARD(X) X(fast, fast_forward_scratch)

/* As in test/bench/bench_q31.c and bench_f32.c. */
#ifdef CONTROL_Q31
#define DYN_REAL                     q31
#define BENCH_RUN                    bench_run_q31
#define BENCH_REAL                   "q31"
#define BENCH_ANGLE                  INT32_MAX
#define BENCH_LIMIT(value, exponent) dyn_q31_from(value, exponent)
#define BENCH_PART(limit, random)    ((int32_t)(((int64_t)(limit) * (random)) >> 31))
#define BENCH_WIDE                   int64_t
#else
#define DYN_REAL                     f32
#define BENCH_RUN                    bench_run_f32
#define BENCH_REAL                   "f32"
#define BENCH_ANGLE                  (3.14159265f / 2147483648.0f)
#define BENCH_LIMIT(value, exponent) ((void)(exponent), (float)(value) / 2147483648.0f)
#define BENCH_PART(limit, random)    ((limit) * (float)(random))
#define BENCH_WIDE                   float
#endif
#include "test/support/dyn/dyn_methods.inc"
#include "test/bench/bench_body.inc"

bench_memory_t bench_memory;

void bench_print(const char *robot, uint32_t n, const char *problem, const char *method,
                 const char *real, bench_cost_t cost, const char *verdict) {
    const char *const part[] = {"cycles.", robot, ".", problem, ".", method, ".", real};
    char name[80] = "";
    (void)n;
    if (!strcmp(method, "empty"))
        return;
    for (unsigned i = 0; i < sizeof part / sizeof part[0]; i++)
        strcat(name, part[i]); /* at most 60 bytes: all names are those of the bench */
    result_cycles(name, cost.most, !strcmp(verdict, "same"));
    strcat(name, ".least");
    result_cycles(name, cost.least, !strcmp(verdict, "same"));
}

void step_cycles(void) {
    static bench_robot_t robot;
    const bench_choice_t kernels = {.problem = "id,mass,fd", .states = BENCH_STATES};
    const bench_choice_t tick = {.method = "-,arm", .states = BENCH_STATES};
    robot.name = bench_robot_name(0);
    bench_robot_model(0, &robot.model);
    bench_robot_units(&robot.model, &robot.units);
    BENCH_RUN(&robot, &kernels);
    bench_run(&tick);
}
#else
void step_cycles(void) {
    unseen("cycles", "this board has no memory for the bench");
}
#endif
