/*
 * The bench program: every problem, method and number type, timed on the robots below. Built for a
 * board it counts executed instructions. tools/bench/bench.py runs it with the plugin, which counts
 * between bench_begin and bench_end. Words on the command line of the emulator (semihosting) choose
 * what runs:
 *
 *     robot=puma560,chain6 problem=id method=fast,ne real=f32 states=100
 *
 * A word that is missing chooses everything; the name `-` stands for the only method of a problem.
 */
#ifndef TEST_BENCH_BENCH_H
#define TEST_BENCH_BENCH_H

#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"

#include <stdbool.h>

enum { BENCH_STATES = 100 };

typedef struct {
    const char *robot, *problem, *method, *real; /* names separated by commas; NULL: all */
    uint32_t states;
} bench_choice_t;

/* True if the name is in the list. A list that is NULL contains every name. */
bool bench_chosen(const char *list, const char *name);

/* The robots are puma560, stanford (with a prismatic joint), and chainN for N = 2, 3, 6, 7, 12, 20,
 * 30. All joints of a chain are revolute, every constant of a joint is a random number, and the
 * links get lighter towards the end effector. */
uint32_t bench_robot_count(void);
const char *bench_robot_name(uint32_t robot);
void bench_robot_model(uint32_t robot, dyn_model_t *model);
/* Chooses units in which composite bodies fit q31. */
void bench_robot_units(const dyn_model_t *model, dyn_units_t *units);

/* Limits of the random states, in SI units. */
#define BENCH_TRAVEL       0.5 /* to either side, prismatic joints */
#define BENCH_SPEED        3.0
#define BENCH_ACCELERATION 10.0
#define BENCH_TORQUE       10.0

/* The robot that is being measured. */
typedef struct {
    const char *name;
    dyn_model_t model;
    dyn_units_t units;
} bench_robot_t;

/* Memory for one number type at a time, because the board has only 128 KB. */
typedef union {
    struct {
        dyn_arm_f64_t arm;
        dyn_real_f64_t matrix[2][DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    } f64;
    struct {
        dyn_arm_f32_t arm;
        dyn_real_f32_t matrix[2][DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    } f32;
    struct {
        dyn_arm_q31_t arm;
        dyn_real_q31_t matrix[2][DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    } q31;
} bench_memory_t;
extern bench_memory_t bench_memory;

/* Returns a random part of a limit, where INT32_MAX stands for the limit itself. `left` is the
 * number of states that follow. Of four states one is random; the others look for instructions that
 * depend on the state: one has random signs and magnitudes down to a single unit, one is in a
 * corner (the limit, half of it, zero), and one is all over the range with a random half of the
 * values zero. The last state is a random one. */
int32_t bench_part(dyn_arms_random_t *seed, uint32_t left);

void bench_run_f32(const bench_robot_t *robot, const bench_choice_t *choice);
void bench_run_f64(const bench_robot_t *robot, const bench_choice_t *choice);
void bench_run_q31(const bench_robot_t *robot, const bench_choice_t *choice);
/* Each bench program defines this function: bench_kernels.c or bench_tick.c. */
void bench_run(const bench_choice_t *choice);
/* Runs the kernels of elastic links on their own robots: flex2 and flexspace. */
void bench_run_flex(const bench_choice_t *choice);
/* Runs the generated kernels (test/bench/bench_gen.c). */
void bench_run_gen(const bench_choice_t *choice);

/* A function with this attribute is not inlined, cloned, or merged with another function that has
 * the same code. */
#ifdef __clang__
#define BENCH_APART __attribute__((noinline))
#else
#define BENCH_APART __attribute__((noipa))
#endif

/* Smallest and largest number of instructions of a call. */
typedef struct {
    uint32_t least, most;
} bench_cost_t;

/* Markers for the plugin: one measurement lies between begin and end; row ends a group of
 * measurements. */
void bench_begin(void);
void bench_end(void);
void bench_row(void);

uint32_t bench_clock(void);
uint32_t bench_elapsed(uint32_t start, uint32_t end);
/* Prints a row; verdict says whether the result agrees with that of the first method of the
 * problem. */
void bench_print(const char *robot, uint32_t n, const char *problem, const char *method,
                 const char *real, bench_cost_t cost, const char *verdict);

#endif
