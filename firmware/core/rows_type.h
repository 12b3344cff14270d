/* The end of firmware/core/rows_<type>.c: the type as a table of functions. Without an include
 * guard. */
#include "firmware/core/app_types.h"

#define ROWS_BEGIN()           ((void)0)
#define ROWS_OVERFLOWS()       0
#define ROWS_NOW()             app_clock()
#define ROWS_STEPS(start, end) app_clock_steps(start, end)
#define ROWS_MORE              bool fits; /* the arm is the one that code was generated for */
#define ROWS_GENERATED_STATUS  (e->fits ? DYN_OK : DYN_E_TYPE)
#include "firmware/core/generated.h"
#ifdef GENERATED_H
#define ROWS_GENERATED(e, method) generated(e, method)
static int generated(evaluator_t *e, method_id_t method);
#else
#define ROWS_GENERATED(e, method) DYN_E_TYPE
#endif
#include "firmware/core/rows_body.h"

#ifdef GENERATED_H
#include "firmware/core/image.h"

static int generated(evaluator_t *e, method_id_t method) {
    switch (method_table[method].problem) {
    case PROBLEM_ID:
        GENERATED(id)(e->in[0], e->in[1], e->in[2], e->out);
        return DYN_OK;
    case PROBLEM_MASS:
        GENERATED(mass)(e->in[0], e->packed);
        return DYN_OK;
    case PROBLEM_FD:
#ifdef GEN_Q31_WITHOUT_FD /* where fixed point cannot hold it */
        return DYN_E_TYPE;
#else
        GENERATED(fd)(e->in[0], e->in[1], e->in[2], e->out);
        return DYN_OK;
#endif
    case PROBLEM_BIAS:
        GENERATED(bias)(e->in[0], e->in[1], e->out);
        return DYN_OK;
    case PROBLEM_GRAVITY:
        GENERATED(gravity)(e->in[0], e->out);
        return DYN_OK;
    case PROBLEM_FK:
        GENERATED(fk)(e->in[0], e->out);
        return DYN_OK;
    case PROBLEM_JACOBIAN:
        GENERATED(jacobian)(e->in[0], e->out);
        return DYN_OK;
    default:
        return DYN_E_TYPE;
    }
}

static bool fits(const image_t *image) {
    return GENERATED_FITS(image);
}
#else
static bool fits(const image_t *image) {
    (void)image;
    return false;
}
#endif

static void allow(evaluator_t *e, bool generated_fits) {
    e->fits = generated_fits;
}

static uint32_t cost(const evaluator_t *e) {
    return e->cost;
}

#ifdef ROWS_HAS
_Static_assert(sizeof(struct evaluator) <= ROWS_EVALUATOR_ROOM, "the board has memory for it");
#endif

const rows_type_t ROWS_TYPE = {fits, prepare, allow, set_wrench, ready, row, cost};
