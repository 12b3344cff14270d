/*
 * The code generator: makes the graphs of all kernels for one robot, anneals and evaluates them,
 * and writes them as C11 (one header, one source, a table of the base parameters).
 */
#ifndef TOOLS_GEN_GEN_H
#define TOOLS_GEN_GEN_H

#include <stdio.h>

#include "dyn/number/q31.h"
#include "tools/gen/fixed.h"
#include "tools/gen/form.h"

typedef enum {
    GEN_ID,
    GEN_MASS,
    GEN_BIAS,
    GEN_GRAVITY_TORQUE, /* gravity torques */
    GEN_FD,
    GEN_FK,
    GEN_JACOBIAN,
    GEN_KERNELS
} gen_kernel_t;

typedef struct {
    const char *name;   /* end of the function's name, after the prefix */
    const char *result; /* name of the function's result array */
    const char *text;   /* description of the result */
    uint32_t inputs;    /* bits of gen_array_t, without the arrays that are kept as arguments */
} gen_kernel_info_t;

extern const gen_kernel_info_t gen_kernel_info[GEN_KERNELS];

typedef enum { GEN_F32, GEN_F64, GEN_Q31 } gen_real_t;

/* A closed form with more monomials is given up: this many take about 0.7 GB. */
enum { GEN_MONOMIALS = 4000000 };
/* Room for the sentence that says why a kernel is left out. */
enum { GEN_WHY = 320 };

typedef struct {
    uint32_t keep;    /* bits of gen_keep_t */
    uint32_t kernels; /* bits of the wanted kernels; 0: all kernels */
    double effort;    /* effort of the annealer; 1 is --effort 10, the default; 0 skips it */
    gen_real_t real;  /* number type of the generated code; gen_noise depends on it */
    const dyn_units_t *units; /* fixed point only, otherwise NULL */
    /* make the inertia matrix by the closed form; no_closed_form is set if there is none */
    bool uicker_kahn;
    int32_t monomials; /* most monomials of that closed form; 0: GEN_MONOMIALS */
    bool both; /* also count what the inertia matrix costs by the strategy that is not chosen */
    /* Called from time to time; may be NULL. */
    void (*progress)(void *context, const char *kernel, double part, graph_ops_t ops);
    void *context;
} gen_options_t;

typedef struct {
    gen_options_t options;
    dyn_model_t model; /* the model as given; it is the reference */
    /* the model without the noise of its numbers; the graphs are made from it */
    dyn_model_t traced;
    gen_arm_t arm;
    graph_t *graph[GEN_KERNELS];     /* NULL: not requested, not made, or lost */
    graph_ops_t before[GEN_KERNELS]; /* operations before annealing */
    graph_ops_t ops[GEN_KERNELS];
    graph_ops_t other; /* inertia matrix by the strategy not chosen, before annealing */
    gen_names_t *names[GEN_KERNELS];
    bool no_closed_form; /* the closed form was requested but does not exist: there are no graphs */
    uint32_t lost;       /* bits of the requested kernels that were removed by gen_lose */
    char why[GEN_KERNELS][GEN_WHY]; /* why a kernel is lost */
} gen_t;

/*
 * Returns the relative size below which a number of the robot is a rounding error and not geometry:
 * a deviation from a quarter turn, or a length relative to the reach (gen_quiet). For double it is
 * 1e-13, a tenth of the 1e-12 to which the torques agree with those of the general kernels; proved
 * fixed point uses the same. For float it is 1e-10, far below the resolution of 6e-8, so a right
 * angle that a file gives with 11 digits counts as exact.
 */
double gen_noise(gen_real_t real);
gen_t *gen_make(const dyn_model_t *model, const gen_options_t *options);
void gen_free(gen_t *gen);
/* Removes a kernel for which fixed_lost is true; without `fixed`, one whose results are no finite
 * numbers. */
void gen_lose(gen_t *gen, gen_kernel_t kernel, const fixed_t *fixed);
uint32_t gen_results(const gen_t *gen, gen_kernel_t kernel);
/* Returns the length of an input array. */
uint32_t gen_array_size(const gen_t *gen, gen_array_t array);
/* Returns the bits of the arrays that a kernel takes, including those kept as arguments. */
uint32_t gen_inputs(const gen_t *gen, gen_kernel_t kernel);

/* The inputs of a kernel. Arrays that are kept as arguments must be set. */
typedef struct {
    const double *array[GEN_ARRAYS];
} gen_state_t;
/* Computes the values of all nodes; value has room for graph_size of them. */
void gen_state_values(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state,
                      double *value);
void gen_eval_f64(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);
/* Evaluates a kernel like the generated code in float: same rounding, same order of operations. */
void gen_eval_f32(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);

/* The reference: results of the general kernels for the same state. */
void gen_reference(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);
/* Computes by how much each result changes if the noise of the model is removed. */
void gen_quiet_error(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);

/* Implemented in check.c. The self-test has this many states. */
enum { GEN_STATES = 4 };
/* Returns a random value for state `which`, within the limits of the joint if it has any. */
double gen_state_value(const gen_t *gen, gen_array_t array, uint32_t i, int which);
/* Computes how far rounding to float or double may move each result at this state: twice the running
 * error, because the running error is a first-order bound and the reference has its own error. */
void gen_tolerance(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, bool single,
                   double *tolerance);
/* Compares a kernel with the general one at the states of the self-test. */
typedef enum { GEN_RIGHT, GEN_WRONG, GEN_NO_NUMBER } gen_verdict_t;
gen_verdict_t gen_check(const gen_t *gen, gen_kernel_t kernel);

typedef struct {
    gen_real_t real;
    const char *robot; /* name of the robot in its file */
    const char *joint[DYN_MAX_JOINTS];
    const char *prefix;  /* prefix of the functions, a C identifier */
    const char *command; /* command line that generated the file, for the comment on top */
    uint32_t hash;       /* hash of the robot as in firmware/params/image.h */
    bool hashed;
    /* q31 only */
    const dyn_units_t *units;
    const fixed_t *const *fixed; /* one entry for each kernel */
} gen_print_t;

/* Returns the bits of element i of an input in fixed point: the raw number is the SI value times
 * 2^bits. The position of a revolute joint is in turns and has 32 bits. */
int gen_input_bits(const gen_t *gen, const dyn_units_t *units, gen_array_t array, uint32_t i);
/* Chooses the fixed-point formats of a kernel in these units. The model must have limits of
 * velocity and acceleration; a limit that is not given counts as zero. Never returns NULL. */
fixed_t *gen_fixed(const gen_t *gen, gen_kernel_t kernel, const dyn_units_t *units);

/* Says, without a full stop, what makes the errors of a kernel large: a pivot of forward dynamics
 * whose least value is not known or does not exceed its error, else the result with the largest
 * error relative to its format. */
void gen_doubt(const gen_t *gen, gen_kernel_t kernel, const fixed_t *fixed, char *text,
               size_t size);

void gen_print_header(const gen_t *gen, const gen_print_t *how, FILE *out);
void gen_print_source(const gen_t *gen, const gen_print_t *how, FILE *out);
/* Writes how the base parameters in the code follow from the parameters of the links. */
void gen_print_base(const gen_t *gen, const char *robot, FILE *out);

/* Orders the statements so that few values are alive at a time. Returns the ids of the computed
 * nodes; the caller frees the array. */
int32_t *gen_schedule(const graph_t *g, int registers, int32_t *count);

#endif
