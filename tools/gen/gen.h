/*
 * The code generator: graphs of all kernels for one robot, prepared, annealed, evaluated, and
 * written as C11 (one header, one source, a table of the base parameters).
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
    const char *name;   /* of the function behind the robot's */
    const char *result; /* array of its results */
    const char *text;   /* what it computes */
    uint32_t inputs;    /* bits of gen_array_t, apart from those that are kept */
} gen_kernel_info_t;

extern const gen_kernel_info_t gen_kernel_info[GEN_KERNELS];

typedef enum { GEN_F32, GEN_F64, GEN_Q31 } gen_real_t;

typedef struct {
    uint32_t keep;    /* gen_keep_t */
    uint32_t kernels; /* bits; 0: all */
    double effort;    /* of the annealer; 1 is the default, 0 leaves it out */
    gen_real_t real;  /* that will compute it: what counts as noise, gen_noise */
    bool uicker_kahn; /* the inertia matrix by the closed form, or nothing: no_closed_form */
    bool both;        /* count the other strategy too */
    /* Told now and then; may be NULL. */
    void (*progress)(void *context, const char *kernel, double part, graph_ops_t ops);
    void *context;
} gen_options_t;

typedef struct {
    gen_options_t options;
    dyn_model_t model;  /* as it was given: the reference */
    dyn_model_t traced; /* without the noise of its file: what the graphs compute */
    gen_arm_t arm;
    graph_t *graph[GEN_KERNELS];     /* NULL: not asked for */
    graph_ops_t before[GEN_KERNELS]; /* prepared, not annealed */
    graph_ops_t ops[GEN_KERNELS];
    graph_ops_t other; /* the inertia matrix by the other strategy, not annealed */
    gen_names_t *names[GEN_KERNELS];
    bool no_closed_form; /* that was asked for: there are no graphs */
    uint32_t lost;       /* bits: kernels that were asked for, but fixed point cannot hold */
} gen_t;

/*
 * Relative size below which a number of the robot is rounding and not geometry: an angle beside a
 * quarter turn, a length beside the reach. In double a tenth of the 1e-12 to which the torques are
 * those of the general kernels, and the same where fixed point is proved. Of the 6e-8 of a float
 * 1e-10 is nothing: a right angle that a file gives with 11 digits is one.
 */
double gen_noise(gen_real_t real);
gen_t *gen_make(const dyn_model_t *model, const gen_options_t *options);
void gen_free(gen_t *gen);
/* Without this kernel: fixed_lost. */
void gen_lose(gen_t *gen, gen_kernel_t kernel);
uint32_t gen_results(const gen_t *gen, gen_kernel_t kernel);
/* Numbers in an array of inputs. */
uint32_t gen_array_size(const gen_t *gen, gen_array_t array);
/* Which arrays a kernel takes, those that are kept included. */
uint32_t gen_inputs(const gen_t *gen, gen_kernel_t kernel);

/* Arrays that are kept as arguments must be set. */
typedef struct {
    const double *array[GEN_ARRAYS];
} gen_state_t;
/* Values of all nodes, with room for graph_size of them. */
void gen_state_values(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state,
                      double *value);
void gen_eval_f64(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);
/* As a float computes it, in the order of the generated code. */
void gen_eval_f32(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);

/* What the general kernels give for the same: the reference. */
void gen_reference(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);
/* How far from it the results are because the traced model has no noise. */
void gen_quiet_error(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, double *out);

typedef struct {
    gen_real_t real;
    const char *robot; /* as the file names it */
    const char *joint[DYN_MAX_JOINTS];
    const char *prefix;  /* of functions: a C identifier */
    const char *command; /* that made it, for the comment */
    uint32_t hash;       /* of the parameters: firmware/params/image.h */
    bool hashed;
    /* q31 only */
    const dyn_units_t *units;
    const fixed_t *const *fixed; /* of each kernel */
} gen_print_t;

/* Fixed point of a kernel in these units; NULL where the arm has no limits to prove it with. */
fixed_t *gen_fixed(const gen_t *gen, gen_kernel_t kernel, const dyn_units_t *units);

void gen_print_header(const gen_t *gen, const gen_print_t *how, FILE *out);
void gen_print_source(const gen_t *gen, const gen_print_t *how, FILE *out);
/* The mapping from the links to the base parameters that the code contains. */
void gen_print_base(const gen_t *gen, const char *robot, FILE *out);

/* Statements in an order that keeps few values alive; ids of what is computed, to be freed. */
int32_t *gen_schedule(const graph_t *g, int registers, int32_t *count);

#endif
