/* Counts the operations of the kernels of elastic links by running them. */
#ifndef TOOLS_EVAL_OPS_ELASTIC_H
#define TOOLS_EVAL_OPS_ELASTIC_H

#include "dyn/model/flex_model.h"
#include "tools/proof/count.h"

/* X(NAME, "problem", "what is counted") */
#define OPS_ELASTIC_TABLE(X)                                                                       \
    X(BIAS, "bias", "vector Re of the paper, steps 1 to 6, with the stiffness")                    \
    X(MASS, "mass", "matrix I of the paper, steps 7 to 10, computed alone")                        \
    X(EQUATIONS, "equations", "Re and I together")                                                 \
    X(FD, "fd", "forward dynamics with Cholesky")                                                  \
    X(ID, "id", "inverse dynamics: joint torques and accelerations of the modes")                  \
    X(STATIC, "static", "one iteration of the quasi-static feedforward")

typedef enum {
#define X(name, problem, help) OPS_ELASTIC_##name,
    OPS_ELASTIC_TABLE(X)
#undef X
        OPS_ELASTIC_COUNT
} ops_elastic_t;

/* Counts the operations of one call for this arm without rotors. */
count_ops_t ops_elastic(const dyn_model_t *model, const dyn_flex_model_t *flex, ops_elastic_t what);

#endif
