/* The twin of a board that was built with generated code: evaluates the graph of that code with the
 * same result in every bit. */
#include "tools/motion/twin_gen.h"

#include <string.h>

#include "firmware/app/app.h"
#include "tools/eval/eval_gen.h"

static eval_gen_t inverse, gravity;

static void run_inverse(const float q[], const float qd[], const float qdd[], float tau[]) {
    float in[3][DYN_MAX_JOINTS] = {{0}};
    const size_t size = inverse.gen->arm.n * sizeof **in;
    memcpy(in[0], q, size);
    memcpy(in[1], qd, size);
    memcpy(in[2], qdd, size);
    eval_gen_f32(&inverse, in, tau);
}

static void run_gravity(const float q[], float tau[]) {
    float in[3][DYN_MAX_JOINTS] = {{0}};
    memcpy(in[0], q, gravity.gen->arm.n * sizeof **in);
    eval_gen_f32(&gravity, in, tau);
}

int twin_gen_use(const dyn_model_t *model) {
    static const control_twin_t twin = {run_inverse, run_gravity};
    eval_gen_set(&inverse, GEN_F32, model, NULL);
    eval_gen_set(&gravity, GEN_F32, model, NULL);
    const int status = eval_gen_make(&inverse, PROBLEM_ID);
    control_twin = status == DYN_OK ? &twin : NULL;
    return status == DYN_OK ? eval_gen_make(&gravity, PROBLEM_GRAVITY) : status;
}

void twin_gen_drop(void) {
    control_twin = NULL;
    eval_gen_drop(&inverse);
    eval_gen_drop(&gravity);
    inverse = gravity = (eval_gen_t){0};
}
