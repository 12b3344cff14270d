/*
 * The bench of generated kernels: the PUMA 560 of tools/robots with its rotors, in q31 and, if the
 * board has an FPU (BENCH_GEN_f32), in f32. The generated self-test checks their results.
 */
#include "test/bench/bench.h"
#include "test/support/dyn/dyn_arms.h"

#include BENCH_GEN_q31 /* a generated header */
#ifdef BENCH_GEN_f32
#include BENCH_GEN_f32
#endif

#include <string.h>

enum { N = GEN_Q31_JOINTS, KINDS = 4, RESULTS = 6 * N };

/* Scales the parts of bench_part: to at most 1 in SI units for f32, to the whole int32 for q31.
 * Most of these states are beyond the limits of the arm, where sums wrap around: every pivot, also
 * one that is zero or negative, must take the same instructions. */
#define PART_F32(part) ((float)(part) / 2147483648.0f)
#define PART_Q31(part) (part)

#define GEN_ROWS(real, number, part)                                                               \
    static number state_##real[KINDS][N], out_##real[RESULTS];                                     \
    static BENCH_APART void id_##real(void) {                                                      \
        gen_##real##_id(state_##real[0], state_##real[1], state_##real[2], out_##real);            \
    }                                                                                              \
    static BENCH_APART void mass_##real(void) {                                                    \
        gen_##real##_mass(state_##real[0], out_##real);                                            \
    }                                                                                              \
    static BENCH_APART void fd_##real(void) {                                                      \
        gen_##real##_fd(state_##real[0], state_##real[1], state_##real[3], out_##real);            \
    }                                                                                              \
    static BENCH_APART void bias_##real(void) {                                                    \
        gen_##real##_bias(state_##real[0], state_##real[1], out_##real);                           \
    }                                                                                              \
    static BENCH_APART void gravity_##real(void) {                                                 \
        gen_##real##_gravity(state_##real[0], out_##real);                                         \
    }                                                                                              \
    static BENCH_APART void fk_##real(void) {                                                      \
        gen_##real##_fk(state_##real[0], out_##real);                                              \
    }                                                                                              \
    static BENCH_APART void jacobian_##real(void) {                                                \
        gen_##real##_jacobian(state_##real[0], out_##real);                                        \
    }                                                                                              \
    static void choose_##real(dyn_arms_random_t *seed, uint32_t left) {                            \
        for (int k = 0; k < KINDS; k++)                                                            \
            for (int i = 0; i < N; i++)                                                            \
                state_##real[k][i] = part(bench_part(seed, left));                                 \
    }

GEN_ROWS(q31, int32_t, PART_Q31)
#ifdef BENCH_GEN_f32
GEN_ROWS(f32, float, PART_F32)
#endif

typedef struct {
    const char *problem;
    void (*run)(void);
} gen_row_t;

#define ROWS(real)                                                                                 \
    {                                                                                              \
        {"id", id_##real}, {"mass", mass_##real}, {"fd", fd_##real}, {"bias", bias_##real},        \
            {"gravity", gravity_##real}, {"fk", fk_##real}, {                                      \
            "jacobian", jacobian_##real                                                            \
        }                                                                                          \
    }
static const gen_row_t rows_q31[] = ROWS(q31);
#ifdef BENCH_GEN_f32
static const gen_row_t rows_f32[] = ROWS(f32);
#endif

static BENCH_APART void empty(void) {}

static bench_cost_t measure(void (*run)(void), void (*choose)(dyn_arms_random_t *, uint32_t),
                            uint32_t states) {
    dyn_arms_random_t seed = {0x2545F4914F6CDD1Du};
    bench_cost_t cost = {UINT32_MAX, 0};
    for (uint32_t s = 0; s < states; s++) {
        choose(&seed, states - 1 - s);
        const uint32_t start = bench_clock();
        bench_begin();
        run();
        bench_end();
        const uint32_t spent = bench_elapsed(start, bench_clock());
        cost.least = spent < cost.least ? spent : cost.least;
        cost.most = spent > cost.most ? spent : cost.most;
    }
    bench_row();
    return cost;
}

static void run_rows(const gen_row_t *rows, size_t count, const char *real,
                     void (*choose)(dyn_arms_random_t *, uint32_t), int wrong,
                     const bench_choice_t *choice) {
    for (size_t i = 0; i < count; i++) {
        if (!bench_chosen(choice->problem, rows[i].problem))
            continue;
        const bench_cost_t base = measure(empty, choose, 1);
        bench_print("puma560", N, rows[i].problem, "empty", real, base, "same");
        bench_cost_t cost = measure(rows[i].run, choose, choice->states);
        cost.least -= base.least;
        cost.most -= base.least;
        bench_print("puma560", N, rows[i].problem, "gen", real, cost, wrong ? "DIFFERENT" : "same");
    }
}

void bench_run_gen(const bench_choice_t *choice) {
    if (!bench_chosen(choice->robot, "puma560") || !bench_chosen(choice->method, "gen"))
        return;
#ifdef BENCH_GEN_f32
    if (bench_chosen(choice->real, "f32"))
        run_rows(rows_f32, sizeof rows_f32 / sizeof rows_f32[0], "f32", choose_f32,
                 gen_f32_selftest(), choice);
#endif
    if (bench_chosen(choice->real, "q31"))
        run_rows(rows_q31, sizeof rows_q31 / sizeof rows_q31[0], "q31", choose_q31,
                 gen_q31_selftest(), choice);
}
