/* The measuring loop of bench_body.inc in f32, and the yardsticks. */
#include "test/bench/bench.h"
#include "test/bench/bench_textbook.h"
#include "test/support/dyn/dyn_yardstick.h"

#define DYN_REAL f32
#include "test/support/dyn/dyn_methods.inc"

static textbook_scratch_t textbook;

static void textbook_inverse_row(const dyn_arm_f32_t *arm, dyn_methods_scratch_f32_t *scratch,
                                 const float q[], const float qd[], const float qdd[],
                                 float tau[]) {
    (void)scratch;
    textbook_inverse(arm, &textbook, q, qd, qdd, tau);
}

static void textbook_mass_row(const dyn_arm_f32_t *arm, dyn_methods_scratch_f32_t *scratch,
                              const float q[], float M[]) {
    (void)scratch;
    textbook_mass(arm, &textbook, q, M);
}

static int textbook_forward_row(const dyn_arm_f32_t *arm, dyn_methods_scratch_f32_t *scratch,
                                const float q[], const float qd[], const float tau[], float qdd[]) {
    (void)scratch;
    return textbook_forward(arm, &textbook, q, qd, tau, qdd);
}

/* dyn/paper/ne.c written by hand, without the vector operations of dyn/number. */
static void plain_inverse_row(const dyn_arm_f32_t *arm, dyn_methods_scratch_f32_t *scratch,
                              const float q[], const float qd[], const float qdd[], float tau[]) {
    dyn_yardstick_inverse(arm, &scratch->ne_inverse, q, qd, qdd, tau);
}

static const dyn_inverse_row_f32_t yardstick_inverses[] = {
    {"textbook", textbook_inverse_row}, {"plain", plain_inverse_row}, {0}};
static const dyn_mass_row_f32_t yardstick_masses[] = {{"textbook", textbook_mass_row}, {0}};
static const dyn_forward_row_f32_t yardstick_forwards[] = {{"textbook", textbook_forward_row}, {0}};

#define BENCH_RUN                    bench_run_f32
#define BENCH_REAL                   "f32"
#define BENCH_ANGLE                  (3.14159265f / 2147483648.0f)
#define BENCH_LIMIT(value, exponent) ((void)(exponent), (float)(value) / 2147483648.0f)
#define BENCH_PART(limit, random)    ((limit) * (float)(random))
#define BENCH_YARDSTICK
#define BENCH_WIDE float
#include "test/bench/bench_body.inc"
