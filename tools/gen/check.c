/* Compares the graphs of a robot with the general kernels, at the states of the self-test. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tools/gen/gen.h"

double gen_state_value(const gen_t *gen, gen_array_t array, uint32_t i, int which) {
    int context = 10 + which;
    const double part = gen_probe(&context, array, (int32_t)i);
    const dyn_model_joint_t *j = &gen->model.joint[i < gen->model.n ? i : 0];
    const dyn_limits_t *l = &j->drive.limits;
    switch (array) {
    case GEN_Q:
        if (l->position[1] > l->position[0])
            return 0.5 *
                   (l->position[0] + l->position[1] + part * (l->position[1] - l->position[0]));
        return part * (j->type == DYN_PRISMATIC ? 0.5 : 3);
    case GEN_QD:
        return part * (l->velocity > 0 ? l->velocity : 1.5);
    case GEN_QDD:
        return part * (l->acceleration > 0 ? l->acceleration : 5);
    case GEN_TAU:
        return part * (l->torque > 0 ? 0.1 * l->torque : 1);
    case GEN_GRAVITY:
        return 10 * part;
    case GEN_PAYLOAD:
        return i == 0 ? 0.8 : i < 4 ? 0.05 * part : i < 7 ? 0.02 + 0.005 * part : 0.004 * part;
    default:
        return 5 * part;
    }
}

void gen_tolerance(const gen_t *gen, gen_kernel_t kernel, const gen_state_t *state, bool single,
                   double *tolerance) {
    const graph_t *g = gen->graph[kernel];
    const size_t size = (size_t)graph_size(g) + 1;
    double *value = graph_must(calloc(size, sizeof *value));
    double *error = graph_must(calloc(size, sizeof *error)), most = 0;
    gen_state_values(gen, kernel, state, value);
    graph_errors(g, value, single ? 5.96e-8 : 1.2e-16, single ? 1.5e-7 : 2.3e-16, error);
    for (int i = 0; i < graph_outputs(g); i++) {
        const int32_t r = graph_result(g, i) >> 1;
        tolerance[i] = 2 * error[r];
        most = fmax(most, fabs(value[r]));
    }
    /* The reference differs for two more reasons: the general kernel in double rounds too, and it
     * uses the model with the noise of its file. */
    gen_quiet_error(gen, kernel, state, error);
    for (int i = 0; i < graph_outputs(g); i++) {
        tolerance[i] += 1e-12 * (1 + most) + error[i];
        /* In forward dynamics of a long arm the running error can grow beyond FLT_MAX. */
        if (single)
            tolerance[i] = fmin(tolerance[i], (double)FLT_MAX);
    }
    free(value);
    free(error);
}

gen_verdict_t gen_check(const gen_t *gen, gen_kernel_t kernel) {
    static double ours[6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS],
        theirs[6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS], tolerance[6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    double in[GEN_ARRAYS][DYN_MAX_JOINTS];
    const double most = gen->options.real == GEN_F32 ? (double)FLT_MAX : DBL_MAX;
    gen_verdict_t verdict = GEN_RIGHT;
    for (int s = 0; s < GEN_STATES; s++) {
        gen_state_t state = {{0}};
        for (int a = 0; a < GEN_ARRAYS; a++)
            if (gen_inputs(gen, kernel) & 1u << a) {
                for (uint32_t i = 0; i < gen_array_size(gen, (gen_array_t)a); i++)
                    in[a][i] = gen_state_value(gen, (gen_array_t)a, i, s);
                state.array[a] = in[a];
            }
        gen_eval_f64(gen, kernel, &state, ours);
        gen_reference(gen, kernel, &state, theirs);
        /* That of floats: a wrong formula is far beyond it, and no badly conditioned arm is. */
        gen_tolerance(gen, kernel, &state, true, tolerance);
        for (uint32_t i = 0; i < gen_results(gen, kernel); i++) {
            if (!(fabs(ours[i]) <= most && fabs(theirs[i]) <= most))
                return GEN_NO_NUMBER;
            if (!(fabs(ours[i] - theirs[i]) <= tolerance[i]))
                verdict = GEN_WRONG;
        }
    }
    return verdict;
}
