/* The method gen of the evaluators: evaluates the same graph that `appell gen` would write as C. */
#ifndef TOOLS_EVAL_EVAL_GEN_H
#define TOOLS_EVAL_EVAL_GEN_H

#include "firmware/lab/methods.h"
#include "tools/proof/count.h"
#include "tools/gen/gen.h"

typedef struct {
    gen_real_t real;
    dyn_model_t *model;
    const dyn_units_t *units; /* units of fixed point; NULL: floating point */
    gen_t *gen;               /* NULL if no graph is made yet */
    fixed_t *fixed;
    gen_kernel_t kernel;
} eval_gen_t;

/* Effort of the annealer relative to the default; 1 unless a command sets it. */
extern double eval_gen_effort;
/* Why eval_gen_make refused the last kernel. */
extern char eval_gen_why[GEN_WHY];

/* Sets the arm, which is copied, and the units of fixed point (NULL for floating point), which must
 * live longer than `e`. */
void eval_gen_set(eval_gen_t *e, gen_real_t real, const dyn_model_t *model,
                  const dyn_units_t *units);
/* Makes the graph at the first call; later calls must be for the same problem. Returns DYN_OK, or
 * DYN_E_TYPE if no kernel is generated for the problem or fixed point cannot represent it. */
int eval_gen_make(eval_gen_t *e, problem_t problem);
void eval_gen_drop(eval_gen_t *e);

/* Evaluates the graph. `in` has position, speed, and acceleration or torque, in the units of the
 * number type. */
void eval_gen_f64(const eval_gen_t *e, double in[3][DYN_MAX_JOINTS], double *out);
void eval_gen_f32(const eval_gen_t *e, float in[3][DYN_MAX_JOINTS], float *out);
void eval_gen_q31(const eval_gen_t *e, int32_t in[3][DYN_MAX_JOINTS], int32_t *out);

count_ops_t eval_gen_count(const dyn_model_t *model, problem_t problem);

#endif
