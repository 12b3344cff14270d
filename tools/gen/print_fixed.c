/*
 * Writes what the header of fixed-point code says about its numbers: the scale of every input and
 * result, bounds and errors, what is left out and why, and a program that calls the code.
 */
#include <math.h>

#include "tools/gen/print.h"

static void print_macro(const gen_print_t *how, const char *name, FILE *out) {
    fputs("#define ", out);
    print_upper(how->prefix, out);
    fputc('_', out);
    print_upper(name, out);
}

static void print_element(FILE *out, uint32_t i, int value) {
    fprintf(out, "%s%d", !i ? " {" : i % 15 ? ", " : ", \\\n    ", value);
}

static void print_results(const gen_t *gen, const gen_print_t *how, gen_kernel_t k, FILE *out) {
    if (!gen->graph[k])
        return;
    char name[32];
    snprintf(name, sizeof name, "%s_bits", gen_kernel_info[k].name);
    print_macro(how, name, out);
    for (uint32_t i = 0; i < gen_results(gen, k); i++)
        print_element(out, i, how->fixed[k]->result_exponent[i]);
    fputs("}\n", out);
}

static void print_bits(const gen_t *gen, const gen_print_t *how, FILE *out) {
    static const char *const name[] = {"q_bits", "qd_bits", "qdd_bits", "tau_bits"};
    static const gen_array_t array[] = {GEN_Q, GEN_QD, GEN_QDD, GEN_TAU};
    fputs("/* 1 if the joint is prismatic. */\n", out);
    print_macro(how, "prismatic", out);
    for (uint32_t i = 0; i < gen->arm.n; i++)
        print_element(out, i, gen->model.joint[i].type == DYN_PRISMATIC);
    fputs("}\n/* Bits of q, qd, qdd and tau, as arguments and as results. */\n", out);
    for (int k = 0; k < 4; k++) {
        print_macro(how, name[k], out);
        for (uint32_t i = 0; i < gen->arm.n; i++)
            print_element(out, i, gen_input_bits(gen, how->units, array[k], i));
        fputs("}\n", out);
    }
    fputs("/* Bits of M, pose and J. */\n", out);
    print_results(gen, how, GEN_MASS, out);
    print_results(gen, how, GEN_FK, out);
    print_results(gen, how, GEN_JACOBIAN, out);
}

/* ---------------------------------------------------------------------------------- the example */

/* Writes a state within the limits, in SI units, as the initialiser of an array. */
static void print_state(const gen_t *gen, gen_array_t array, FILE *out) {
    for (uint32_t i = 0; i < gen->arm.n; i++) {
        const dyn_limits_t *l = &gen->model.joint[i].drive.limits;
        const double span = l->position[1] - l->position[0];
        const double value = array == GEN_Q    ? span > 0 ? l->position[0] + 0.6 * span : 0.5
                             : array == GEN_QD ? 0.5 * l->velocity
                                               : 0.25 * l->acceleration;
        fprintf(out, "%s%.4g", !i ? "{" : i % 10 ? ", " : ",\n *         ", value);
    }
    fputs("};\n", out);
}

static void print_example(const gen_t *gen, const gen_print_t *how, FILE *out) {
    fputs("\n/*\n", out);
    PARAGRAPH(out, "A program that calls inverse dynamics with SI units. The state must be within "
                   "the limits of the robot.");
    fprintf(out,
            " *\n *     #include <math.h>\n *     #include <stdio.h>\n *     #include \"%s.h\"\n"
            " *\n *     #define N ",
            how->prefix);
    print_upper(how->prefix, out);
    fputs("_JOINTS\n *\n *     static const double q[N] = ", out);
    print_state(gen, GEN_Q, out);
    fputs(" *     static const double qd[N] = ", out);
    print_state(gen, GEN_QD, out);
    fputs(" *     static const double qdd[N] = ", out);
    print_state(gen, GEN_QDD, out);
    fputs(" *     static const int prismatic[N] = ", out);
    print_upper(how->prefix, out);
    fputs("_PRISMATIC;\n *     static const int q_bits[N] = ", out);
    print_upper(how->prefix, out);
    fputs("_Q_BITS, qd_bits[N] = ", out);
    print_upper(how->prefix, out);
    fputs("_QD_BITS;\n *     static const int qdd_bits[N] = ", out);
    print_upper(how->prefix, out);
    fputs("_QDD_BITS, tau_bits[N] = ", out);
    print_upper(how->prefix, out);
    fprintf(out,
            "_TAU_BITS;\n *\n"
            " *     // value 2^bits; the low 32 bits are an angle that wraps around\n"
            " *     static int32_t raw(double value, int bits) {\n"
            " *         return (int32_t)(uint32_t)llround(ldexp(value, bits));\n"
            " *     }\n *\n"
            " *     int main(void) {\n"
            " *         const double turn = 6.283185307179586;\n"
            " *         int32_t q_raw[N], qd_raw[N], qdd_raw[N], tau[N];\n"
            " *         for (int i = 0; i < N; i++) {\n"
            " *             q_raw[i] = raw(prismatic[i] ? q[i] : q[i] / turn, q_bits[i]);\n"
            " *             qd_raw[i] = raw(qd[i], qd_bits[i]);\n"
            " *             qdd_raw[i] = raw(qdd[i], qdd_bits[i]);\n"
            " *         }\n"
            " *         %s_id(q_raw, qd_raw, qdd_raw, tau);\n"
            " *         for (int i = 0; i < N; i++)\n"
            " *             printf(\"%%.9g\\n\", ldexp(tau[i], -tau_bits[i])); // N m, or N\n"
            " *         return 0;\n"
            " *     }\n */\n",
            how->prefix);
}

/* ------------------------------------------------------------------------------------- promises */

/* The least number of so many digits that is not below x: a promise must not be rounded down. */
static double rounded_up(double x, int digits) {
    if (!(x > 0) || isinf(x))
        return x;
    const double step = pow(10, floor(log10(x)) + 1 - digits);
    return ceil(x / step * (1 - 1e-12)) * step;
}

static void print_errors(const gen_t *gen, const gen_print_t *how, FILE *out) {
    for (int k = 0; k < GEN_KERNELS; k++) {
        if (!gen->graph[k])
            continue;
        const fixed_t *f = how->fixed[k];
        double bound = 0, error = 0;
        for (int i = 0; i < graph_outputs(f->g); i++) {
            bound = fmax(bound, f->result_bound[i]);
            error = fmax(error, f->result_error[i]);
        }
        fprintf(out, " *   %-9s bound %.4g error %.2g\n", gen_kernel_info[k].name,
                rounded_up(bound, 4), rounded_up(error, 2));
    }
}

void print_scaling(const gen_t *gen, const gen_print_t *how, FILE *out) {
    const bool unsure = gen->graph[GEN_FD] && !how->fixed[GEN_FD]->proved;
    fputs("\n/*\n", out);
    PARAGRAPH(out,
              "Fixed point. A number is its SI value times 2^bits, rounded, with the bits below. "
              "The position of a revolute joint is in turns and has 32 bits, so it wraps around. "
              "As long as the inputs are within the limits of the robot, nothing can overflow, and "
              "bound and error of each result%s are guaranteed.",
              unsure ? " except fd" : "");
    if (unsure) {
        char why[GEN_WHY];
        gen_doubt(gen, GEN_FD, how->fixed[GEN_FD], why, sizeof why);
        PARAGRAPH(out, "Those of fd are estimated: %s. fd saturates.", why);
    }
    print_errors(gen, how, out);
    fputs(" */\n", out);
    print_bits(gen, how, out);
    if (gen->graph[GEN_ID])
        print_example(gen, how, out);
}
