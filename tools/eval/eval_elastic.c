/* Describes the input and output rows of elastic arms. */
#include "tools/eval/eval_elastic.h"

static const struct {
    uint32_t coordinates, joints; /* how many blocks of each length a row has */
    const char *meaning;
} row_in[PROBLEM_COUNT] = {[PROBLEM_ID] = {2, 1, "Theta Thetad qdd"},
                           [PROBLEM_MASS] = {1, 0, "Theta"},
                           [PROBLEM_FD] = {2, 1, "Theta Thetad tau"},
                           [PROBLEM_BIAS] = {2, 0, "Theta Thetad"},
                           [PROBLEM_GRAVITY] = {1, 0, "Theta"},
                           [PROBLEM_CORIOLIS] = {2, 0, "Theta Thetad"},
                           [PROBLEM_FK] = {1, 0, "Theta"},
                           [PROBLEM_JACOBIAN] = {1, 0, "Theta"},
                           [PROBLEM_VOLT] = {0, 2, "qd tau"}};

size_t eval_elastic_inputs(problem_t problem, bool quasi_static, uint32_t n, uint32_t size) {
    if (quasi_static)
        return (size_t)3 * n;
    return (size_t)row_in[problem].coordinates * size + (size_t)row_in[problem].joints * n;
}

size_t eval_elastic_outputs(problem_t problem, uint32_t n, uint32_t size) {
    return problem == PROBLEM_VOLT ? n : problem_outputs(problem, size);
}

const char *eval_elastic_meaning(problem_t problem, bool quasi_static) {
    return quasi_static ? "q qd qdd" : row_in[problem].meaning;
}
