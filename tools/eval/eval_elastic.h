/*
 * Evaluates rows by the kernels of elastic links in one number type:
 * tools/eval/eval_elastic_body.inc is compiled once for each type. An elastic arm has more
 * coordinates (Theta: joints and modes) than joints.
 *
 *     problem     a row in                    a row out
 *     id          Theta, Theta', q''          torques of the joints, then delta''
 *     id --static q, q', q''                  torques of the joints, then delta
 *     mass        Theta                       size x size
 *     fd          Theta, Theta', torques      Theta''
 *     bias        Theta, Theta'               size, with the stiffness
 *     gravity     Theta                       size, without the stiffness
 *     coriolis    Theta, Theta'               size x size
 *     fk, jacobian  Theta                     12; 6 x size
 *     volt        q', torques                 volts
 */
#ifndef TOOLS_EVAL_EVAL_ELASTIC_H
#define TOOLS_EVAL_EVAL_ELASTIC_H

#include <stdbool.h>

#include "dyn/model/flex_model.h"
#include "firmware/lab/methods.h"

/* Number of rounds of the quasi-static iteration. Every row starts anew, not from the result of the
 * row before. */
enum { ELASTIC_ROUNDS = 30 };

typedef struct eval_elastic eval_elastic_t;

typedef struct {
    const char *name;
    int digits; /* significant digits of a printed number */
    /* Makes an evaluator, or returns NULL if there is no memory. *status is the status of
     * dyn_prepare. If wrench is NULL, there is none. */
    eval_elastic_t *(*make)(const dyn_model_t *model, const dyn_flex_model_t *flex,
                            const double *wrench, int *status);
    void (*drop)(eval_elastic_t *elastic);
    /* Evaluates one row. Returns DYN_OK or DYN_E_PIVOT. Bit i of *limited is set if the voltage of
     * joint i was limited. */
    int (*row)(eval_elastic_t *elastic, problem_t problem, bool quasi_static, const double *in,
               double *out, uint32_t *limited);
} eval_elastic_type_t;

extern const eval_elastic_type_t eval_elastic_f64, eval_elastic_f32;

/* Number of values in an input row, and in an output row. */
size_t eval_elastic_inputs(problem_t problem, bool quasi_static, uint32_t n, uint32_t size);
size_t eval_elastic_outputs(problem_t problem, uint32_t n, uint32_t size);
/* Returns the names of the inputs for messages, such as "Theta Thetad qdd". */
const char *eval_elastic_meaning(problem_t problem, bool quasi_static);

#endif
