/*
 * An evaluator of the tool, without an include guard: memory and sizes around
 * firmware/core/rows_body.h.
 */
#include <stdlib.h>

#include "tools/appell/eval_gen.h"

#define ROWS_NOW()             0u
#define ROWS_STEPS(start, end) ((void)(start), (end))
#define ROWS_MORE              eval_gen_t gen; /* method gen: made when it is first called */
#define ROWS_GENERATED_STATUS  DYN_OK
#define ROWS_GENERATED(e, method)                                                                  \
    (eval_gen_make(&(e)->gen, method_table[method].problem) != DYN_OK                              \
         ? DYN_E_TYPE                                                                              \
         : (EVAL_GENERATED(&(e)->gen, (e)->in, (e)->out), DYN_OK))
#include "firmware/core/rows_body.h"

static evaluator_t *make(const dyn_model_t *model, const dyn_units_t *units, const double *wrench,
                         int *status) {
    evaluator_t *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *status = prepare(e, model, units);
    if (*status == DYN_OK && wrench)
        set_wrench(e, wrench);
    eval_gen_set(&e->gen, EVAL_GEN_REAL, model, EVAL_FIXED ? &e->units : NULL);
    return e;
}

static void drop(evaluator_t *e) {
    eval_gen_drop(&e->gen);
    free(e);
}

__attribute__((unused)) static size_t arm_bytes(uint32_t n) {
    return offsetof(DYN_T(arm), joint) + n * sizeof(DYN_T(joint));
}

/* Which scratch holds a packed matrix beside its links. */
#define TRIANGLES(pointer)                                                                         \
    _Generic((pointer), DYN_T(crba_forward_scratch) * : 1, DYN_T(ga_forward_scratch) * : 1,        \
             DYN_T(fast_forward_scratch) * : 1, default : 0)

/* For a build whose DYN_MAX_JOINTS is n. */
__attribute__((unused)) static size_t scratch_bytes(method_id_t method, uint32_t n) {
    const size_t most = DYN_MAX_JOINTS, triangle = sizeof(real) * most * (most + 1) / 2;
    size_t size = 0, triangles = 0;
    switch (method) {
#define X(problem, method, form, kernel, scratch_, ...)                                            \
    case METHOD_##problem##_##method:                                                              \
        size = sizeof(DYN_T(scratch_));                                                            \
        triangles = TRIANGLES((DYN_T(scratch_) *)0);                                               \
        break;
        METHOD_TABLE(X)
#undef X
    case METHOD_COUNT:
        break;
    }
    if (method_table[method].problem >= PROBLEM_FK || method_generated(method))
        return 0; /* these need none */
    return (size - triangles * triangle) / most * n + triangles * sizeof(real) * n * (n + 1) / 2;
}

#ifndef EVAL_NO_TYPE
const eval_type_t EVAL_TYPE = {EVAL_TYPE_NAME, EVAL_DIGITS, make,      drop,
                               ready,          row,         arm_bytes, scratch_bytes};
#endif
