/*
 * Runs the kernels of the PUMA 560 in f64 for tools/bench/host.py. `bench_host PROBLEM METHOD` runs
 * one of them on 100 random states; without arguments the program prints a line `problem method
 * function` for each.
 */
#include "dyn/number/f64.h"
#include "test/support/dyn/dyn_arms.h"

#include <stdio.h>
#include <string.h>

#define DYN_REAL f64
#include "test/support/dyn/dyn_methods.inc"

enum { STATES = 100, N = 6 };

static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_methods_scratch_f64_t scratch;
static double in[3][N], out[N * (N + 1) / 2];
static volatile double used;

static void next_state(dyn_arms_random_t *seed) {
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < N; i++)
            in[r][i] = (r == 0 ? 3.14 : r == 1 ? 3.0 : 10.0) * dyn_arms_uniform(seed);
}

/* Runs the rows that the arguments choose, or prints the names of all rows. */
#define ROWS(table, problem, kernel, ...)                                                          \
    for (uint32_t k = 0; table[k].name; k++) {                                                     \
        dyn_arms_random_t seed = {88172645463325252u};                                             \
        if (!wanted) {                                                                             \
            printf("%s %s dyn_%s_%s_f64\n", problem, table[k].name, table[k].name, kernel);        \
            continue;                                                                              \
        }                                                                                          \
        if (strcmp(wanted[1], problem) != 0 || strcmp(wanted[2], table[k].name) != 0)              \
            continue;                                                                              \
        for (int state = 0; state < STATES; state++) {                                             \
            next_state(&seed);                                                                     \
            (void)table[k].run(&arm, &scratch, __VA_ARGS__, out);                                  \
            used = out[0];                                                                         \
        }                                                                                          \
    }

int main(int count, char **words) {
    char **wanted = count == 3 ? words : NULL;
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    if (dyn_prepare_f64(&model, NULL, &arm) != DYN_OK)
        return 1;
    ROWS(dyn_inverses_f64, "id", "inverse", in[0], in[1], in[2])
    ROWS(dyn_masses_f64, "mass", "mass", in[0])
    ROWS(dyn_forwards_f64, "fd", "forward", in[0], in[1], in[2])
    return 0;
}
