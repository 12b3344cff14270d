/* Writes the self-test: states, the results of the general kernels for them, and tolerances. */
#include <math.h>
#include <stdlib.h>

#include "tools/gen/print.h"

typedef struct {
    const gen_t *gen;
    const gen_print_t *how;
    FILE *out;
    double in[GEN_ARRAYS][DYN_MAX_JOINTS];
} selftest_t;

static void print_inputs(selftest_t *t, gen_kernel_t kernel, int which) {
    const uint32_t inputs = gen_inputs(t->gen, kernel);
    for (int a = 0; a < GEN_ARRAYS; a++) {
        if (!(inputs & 1u << a))
            continue;
        const uint32_t size = gen_array_size(t->gen, (gen_array_t)a);
        fprintf(t->out, "    {");
        for (uint32_t i = 0; i < size; i++) {
            double *x = &t->in[a][i];
            *x = gen_state_value(t->gen, (gen_array_t)a, i, which);
            fputs(i ? ", " : "", t->out);
            if (t->how->real == GEN_Q31) {
                const bool angle = a == GEN_Q && t->gen->model.joint[i].type == DYN_REVOLUTE;
                const int bits = gen_input_bits(t->gen, t->how->units, (gen_array_t)a, i);
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

/* Tolerance for floats: that of the running error. For fixed point: the guaranteed error. */
static void tolerances(const selftest_t *t, gen_kernel_t kernel, const gen_state_t *state,
                       double *tolerance) {
    gen_tolerance(t->gen, kernel, state, t->how->real == GEN_F32, tolerance);
    for (uint32_t i = 0; t->how->real == GEN_Q31 && i < gen_results(t->gen, kernel); i++)
        tolerance[i] += t->how->fixed[kernel]->result_error[i];
}

static void print_selftest_of(selftest_t *t, gen_kernel_t kernel) {
    static double expected[GEN_STATES][6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS],
        tolerance[GEN_STATES][6 * DYN_MAX_JOINTS * DYN_MAX_JOINTS];
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
            (unsigned)results, (unsigned)results, name, GEN_STATES);
    for (int s = 0; s < GEN_STATES; s++) {
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
        fprintf(out, "    for (int i = 0; i < %d; i++) {\n        %s_%s(", GEN_STATES, how->prefix,
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
