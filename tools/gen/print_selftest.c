/* Writes the self-test: states, the results of the general kernels for them, and tolerances. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tools/gen/print.h"

enum { STATES = 4 };

typedef struct {
    const gen_t *gen;
    const gen_print_t *how;
    FILE *out;
    double in[GEN_ARRAYS][DYN_MAX_JOINTS];
} selftest_t;

/* Returns a random value, within the limits of the joint if it has any. */
static double state_value(const gen_t *gen, gen_array_t array, uint32_t i, int which) {
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

static int q31_input_bits(const gen_t *gen, const gen_print_t *how, gen_array_t array, uint32_t i) {
    const dyn_q31_exponents_t e = dyn_q31_exponents(&gen->model, how->units, i);
    const int exponent = array == GEN_Q     ? e.position
                         : array == GEN_QD  ? e.velocity
                         : array == GEN_QDD ? e.acceleration
                                            : e.torque;
    return DYN_Q31_BITS - exponent;
}

static void print_inputs(selftest_t *t, gen_kernel_t kernel, int which) {
    const uint32_t inputs = gen_inputs(t->gen, kernel);
    for (int a = 0; a < GEN_ARRAYS; a++) {
        if (!(inputs & 1u << a))
            continue;
        const uint32_t size = gen_array_size(t->gen, (gen_array_t)a);
        fprintf(t->out, "    {");
        for (uint32_t i = 0; i < size; i++) {
            double *x = &t->in[a][i];
            *x = state_value(t->gen, (gen_array_t)a, i, which);
            fputs(i ? ", " : "", t->out);
            if (t->how->real == GEN_Q31) {
                const bool angle = a == GEN_Q && t->gen->model.joint[i].type == DYN_REVOLUTE;
                const int bits = q31_input_bits(t->gen, t->how, (gen_array_t)a, i);
                const int32_t raw =
                    angle ? dyn_q31_angle(*x) : dyn_q31_from(*x, DYN_Q31_BITS - bits);
                *x = angle ? dyn_q31_angle_rad(raw) : ldexp((double)raw, -bits);
                fprintf(t->out, "%d", (int)raw);
            } else {
                if (t->how->real == GEN_F32)
                    *x = (double)(float)*x;
                print_real(t->out, t->how->real, *x);
            }
        }
        fputs("},\n", t->out);
    }
}

/*
 * Tolerance for floats: twice the running error at this state, because the running error is a
 * first-order bound and the reference has its own error. Tolerance for fixed point: the guaranteed
 * error.
 */
static void tolerances(const selftest_t *t, gen_kernel_t kernel, const gen_state_t *state,
                       double *tolerance) {
    const graph_t *g = t->gen->graph[kernel];
    const size_t size = (size_t)graph_size(g) + 1;
    double *value = calloc(size, sizeof *value), *error = calloc(size, sizeof *error);
    if (!value || !error)
        abort();
    double most = 0;
    const bool single = t->how->real == GEN_F32;
    gen_state_values(t->gen, kernel, state, value);
    graph_errors(g, value, single ? 5.96e-8 : 1.2e-16, single ? 1.5e-7 : 2.3e-16, error);
    for (int i = 0; i < graph_outputs(g); i++) {
        const int32_t r = graph_result(g, i) >> 1;
        tolerance[i] =
            t->how->real == GEN_Q31 ? t->how->fixed[kernel]->result_error[i] : 2 * error[r];
        most = fmax(most, fabs(value[r]));
    }
    /* The reference differs for two more reasons: the general kernel in double rounds too, and it
     * uses the model with the noise of its file. */
    gen_quiet_error(t->gen, kernel, state, error);
    for (int i = 0; i < graph_outputs(g); i++) {
        tolerance[i] += 1e-12 * (1 + most) + error[i];
        /* In forward dynamics of a long arm the running error can grow beyond FLT_MAX. */
        if (single)
            tolerance[i] = fmin(tolerance[i], (double)FLT_MAX);
    }
    free(value);
    free(error);
}

static void print_selftest_of(selftest_t *t, gen_kernel_t kernel) {
    static double expected[STATES][6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS],
        tolerance[STATES][6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    const gen_t *gen = t->gen;
    const char *type = print_type(t->how), *name = gen_kernel_info[kernel].name;
    const uint32_t inputs = gen_inputs(gen, kernel), results = gen_results(gen, kernel);
    fprintf(t->out, "static const struct {\n    %s ", type);
    const char *comma = "";
    for (int a = 0; a < GEN_ARRAYS; a++)
        if (inputs & 1u << a) {
            fprintf(t->out, "%s%s[%u]", comma, gen_array_name[a],
                    (unsigned)gen_array_size(gen, (gen_array_t)a));
            comma = ", ";
        }
    fprintf(t->out, ";\n    %s expected[%u], tolerance[%u];\n} %s_cases[%d] = {\n", type,
            (unsigned)results, (unsigned)results, name, STATES);
    for (int s = 0; s < STATES; s++) {
        gen_state_t state = {{0}};
        fputs("    {\n", t->out);
        print_inputs(t, kernel, s);
        for (int a = 0; a < GEN_ARRAYS; a++)
            state.array[a] = inputs & 1u << a ? t->in[a] : NULL;
        gen_reference(gen, kernel, &state, expected[s]);
        tolerances(t, kernel, &state, tolerance[s]);
        for (int k = 0; k < 2; k++) {
            fputs("    {", t->out);
            for (uint32_t i = 0; i < results; i++) {
                double x = k ? tolerance[s][i] : expected[s][i];
                fputs(i ? (i % 6 == 0 ? ",\n     " : ", ") : "", t->out);
                if (t->how->real == GEN_Q31) {
                    x = ldexp(x, t->how->fixed[kernel]->result_exponent[i]);
                    x = k ? ceil(x) + 1 : rint(x);
                    fprintf(t->out, "%.0f", fmax(-2147483647.0, fmin(2147483647.0, x)));
                } else
                    print_real(t->out, t->how->real, x);
            }
            fputs("},\n", t->out);
        }
        fputs("    },\n", t->out);
    }
    fputs("};\n\n", t->out);
}

void print_selftest(const gen_t *gen, const gen_print_t *how, FILE *out) {
    selftest_t t = {.gen = gen, .how = how, .out = out};
    fputs("/* Results of the general kernels in double precision, and how far rounding may move "
          "the result\n * at each state. */\n",
          out);
    uint32_t most = 0;
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->graph[k]) {
            print_selftest_of(&t, (gen_kernel_t)k);
            most =
                gen_results(gen, (gen_kernel_t)k) > most ? gen_results(gen, (gen_kernel_t)k) : most;
        }
    const char *type = print_type(how);
    fprintf(out,
            "static int wrong(const %s *is, const %s *expected, const %s *tolerance, int count) {\n"
            "    int sum = 0;\n"
            "    for (int i = 0; i < count; i++) {\n",
            type, type, type);
    if (how->real == GEN_Q31)
        fputs("        const int64_t off = (int64_t)is[i] - expected[i];\n"
              "        sum += off > tolerance[i] || -off > tolerance[i];\n",
              out);
    else
        fprintf(out,
                "        const %s off = is[i] - expected[i];\n"
                "        sum += !(off <= tolerance[i] && -off <= tolerance[i]);\n",
                type);
    fprintf(out,
            "    }\n    return sum;\n}\n\nint %s_selftest(void) {\n    static %s is[%u];\n    int "
            "sum = 0;\n",
            how->prefix, type, (unsigned)most);
    for (int k = 0; k < GEN_KERNELS; k++) {
        if (!gen->graph[k])
            continue;
        const char *name = gen_kernel_info[k].name;
        fprintf(out, "    for (int i = 0; i < %d; i++) {\n        %s_%s(", STATES, how->prefix,
                name);
        for (int a = 0; a < GEN_ARRAYS; a++)
            if (gen_inputs(gen, (gen_kernel_t)k) & 1u << a)
                fprintf(out, "%s_cases[i].%s, ", name, gen_array_name[a]);
        fprintf(out,
                "is);\n        sum += wrong(is, %s_cases[i].expected, %s_cases[i].tolerance, "
                "%u);\n    }\n",
                name, name, (unsigned)gen_results(gen, (gen_kernel_t)k));
    }
    fputs("    return sum;\n}\n", out);
}
