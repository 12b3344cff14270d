/*
 * Evaluates rows of input with the kernels in one number type; tools/eval/eval_body.inc is compiled
 * once for each type. An evaluator converts a row to the units of its type, calls the kernel of a
 * method, adds what the kernel of rigid links lacks (rotors, friction, wrench) and converts the
 * result back to SI.
 */
#ifndef TOOLS_EVAL_EVAL_H
#define TOOLS_EVAL_EVAL_H

#include <stddef.h>
#include <stdint.h>

#include "dyn/number/q31.h"
#include "firmware/lab/methods.h"
#include "firmware/lab/batch.h"
#include "tools/proof/count.h"

typedef struct {
    const char *name;
    int digits; /* significant digits of a printed number */
    /* Makes an evaluator, or returns NULL if there is no memory. *status is the status of
     * dyn_prepare. If units is NULL, they are SI; if wrench is NULL, there is none. */
    evaluator_t *(*make)(const dyn_model_t *model, const dyn_units_t *units, const double *wrench,
                         int *status);
    void (*drop)(evaluator_t *evaluator);
    /* Returns DYN_OK, or DYN_E_UNITS if this arm cannot use the method in this number type. */
    int (*ready)(const evaluator_t *evaluator, method_id_t method);
    /* Evaluates one row. Returns DYN_OK, DYN_E_PIVOT, BATCH_OVERFLOW, or DYN_E_TYPE if code cannot
     * be generated. Bit i of *limited is set if the voltage of joint i was limited. */
    int (*row)(evaluator_t *evaluator, method_id_t method, const double *in, double *out,
               uint32_t *limited);
    /* Bytes of a prepared arm, and of the scratch memory of a method, for n joints. */
    size_t (*arm_bytes)(uint32_t n);
    size_t (*scratch_bytes)(method_id_t method, uint32_t n);
} eval_type_t;

extern const eval_type_t eval_f64, eval_f32, eval_q31;

/*
 * Counts the operations of the kernel alone, for this arm without rotors, as the papers count them.
 */
count_ops_t eval_count_ops(const dyn_model_t *model, method_id_t method);
/* Counts the operations with the arm's rotors, as the rows of the bench do. */
count_ops_t eval_count_arm(const dyn_model_t *model, method_id_t method);

#endif
