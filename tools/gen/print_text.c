/*
 * Writes the comments of generated files: arguments, assumptions, operation counts, bounds, names.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tools/gen/print.h"

enum { WIDTH = 100 };

void print_wrapped(FILE *out, const char *first, const char *rest, const char *format, ...) {
    char text[1000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    int column = fprintf(out, "%s", first);
    for (const char *word = text; *word; word += strspn(word, " ")) {
        const int size = (int)strcspn(word, " ");
        if (column + 1 + size > WIDTH)
            column = fprintf(out, "\n%s", rest) - 1;
        column += fprintf(out, " %.*s", size, word);
        word += size;
    }
    fputc('\n', out);
}

/* Writes an entry of the legend. */
static void print_entry(FILE *out, const char *names, const char *text) {
    char first[32];
    snprintf(first, sizeof first, " *   %-15s", names);
    print_wrapped(out, first, " *                  ", "%s", text);
}

static void print_assumptions(const gen_t *gen, FILE *out) {
    const uint32_t keep = gen->options.keep;
    const double noise = gen_noise(gen->options.real);
    PARAGRAPH(out, "%s %s%s",
              keep & GEN_NO_BASE
                  ? "The parameters of the links are not regrouped."
                  : "The parameters of the links are regrouped into base parameters.",
              keep & GEN_NO_ROTOR ? "Rotors are left out."
                                  : "Rotors are included where the robot has them.",
              keep & GEN_FRICTION ? "" : " There is no friction.");
    PARAGRAPH(out,
              "Rounding errors in the robot's numbers are removed: an angle within %g rad of a "
              "multiple of a quarter turn becomes that multiple. These become zero: a length below "
              "%g of the arm's reach; a component of gravity or of a centre of mass below %g of "
              "the length of that vector; a product of inertia below %g of the link's largest "
              "moment of inertia.",
              noise, noise, noise, noise);
    if (keep & GEN_FRICTION)
        PARAGRAPH(out,
                  "id and fd contain friction. Here Coulomb friction has its full value at every "
                  "speed except zero. In the general kernels it grows with the speed until the "
                  "speed reaches the joint's friction.width (default: 0.02 rad/s or m/s).");
    PARAGRAPH(out, "Multiplications (mul), additions (add) and divisions (div) of one call, "
                   "with numbers for the constants of the robot; 2 x counts as a multiplication. "
                   "Changes of sign, sums of angles, sines and cosines are not counted; the number "
                   "of angles is given separately.");
    for (int k = 0; k < GEN_KERNELS; k++) {
        const graph_ops_t *o = &gen->ops[k], *b = &gen->before[k];
        if (!gen->graph[k])
            continue;
        fprintf(out, " *   %-9s %4ld mul %4ld add", gen_kernel_info[k].name, o->mul, o->add);
        if (o->div)
            fprintf(out, " %2ld div", o->div);
        fprintf(out, ", %ld angles (before annealing %ld mul %ld add)\n", o->sincos, b->mul,
                b->add);
    }
    if (gen->graph[GEN_MASS] && gen->other.mul)
        PARAGRAPH(out,
                  "For comparison: before annealing, the inertia matrix %s takes %ld mul %ld add.",
                  gen->options.uicker_kahn ? "of the default strategy"
                                           : "in the closed form of Uicker and Kahn",
                  gen->other.mul, gen->other.add);
}

/* Writes the order, units, frames and signs of the arguments. */
static void print_arguments(const gen_t *gen, const gen_print_t *how, FILE *out) {
    const uint32_t keep = gen->options.keep;
    const double(*r)[3] = (const double(*)[3])gen->traced.base.r;
    bool prismatic = false;
    int used = fprintf(out, " * Joints:");
    for (uint32_t i = 0; i < gen->arm.n; i++) {
        prismatic = prismatic || gen->arm.joint[i].prismatic;
        if (used + (int)strlen(how->joint[i]) > WIDTH - 12)
            used = fprintf(out, "\n *  ") - 1;
        fputc(' ', out);
        print_comment(how->joint[i], out);
        used += 1 + (int)strlen(how->joint[i]);
        const char *end = gen->arm.joint[i].prismatic ? " (prismatic)" : "";
        used += fprintf(out, "%s%s", end, i + 1 < gen->arm.n ? "," : ".");
    }
    fputc('\n', out);
    PARAGRAPH(out,
              "SI units%s: q rad%s, qd and qdd the same per s and per s^2, tau N m%s, M kg m^2%s, "
              "positions m. tau is the torque%s of the drives on the arm; at rest it balances "
              "gravity. The end effector and the world frame are those of the robot's file.",
              how->real == GEN_Q31 ? " before scaling" : "", prismatic ? " (prismatic: m)" : "",
              prismatic ? " (N)" : "", prismatic ? " (kg m, kg)" : "", prismatic ? " (force)" : "");
    if (keep & GEN_KEEP_GRAVITY)
        PARAGRAPH(out,
                  "gravity[3]: acceleration of gravity in m/s^2, a vector that points down, in the "
                  "arm's base frame. The axes of this frame in the world are the columns of (%.9g "
                  "%.9g %.9g; %.9g %.9g %.9g; %.9g %.9g %.9g).",
                  r[0][0], r[0][1], r[0][2], r[1][0], r[1][1], r[1][2], r[2][0], r[2][1], r[2][2]);
    if (keep & GEN_KEEP_PAYLOAD)
        PARAGRAPH(out,
                  "payload[10]: mass (kg), first moment (kg m) and Euler's tensor xx yy zz xy yz "
                  "xz (kg m^2). The function %s_payload computes them from mass, centre of mass "
                  "and inertia.",
                  how->prefix);
    if (keep & GEN_KEEP_WRENCH)
        PARAGRAPH(out,
                  "wrench[6]: force (N), then moment (N m) about the origin of the tool frame, "
                  "both along the axes of the tool frame. The surroundings exert them on the end "
                  "effector.");
    fputs(" *\n", out);
}

/* Writes what the variable names in the functions mean. */
void print_legend(const gen_t *gen, const gen_print_t *how, FILE *out) {
    fputs("/*\n", out);
    PARAGRAPH(out,
              "Names. The numbers in a name are those of joints or links, counted from 1; x, y and "
              "z are axes; a name that begins with m_ is a value with its sign changed.");
    print_entry(out, "q23, s23, c23", "q[1] + q[2], its sine and its cosine");
    if (gen->arm.n > 9)
        print_entry(out, "s2_3, s2_to_13",
                    "if the arm has more than 9 joints: sine of q[1] + q[2], sine of q[1] + ... + "
                    "q[12]; s2_in_13 if some angles between these two are not in the sum");
    print_entry(out, "w, wd, a",
                "angular velocity and angular acceleration of a link, and acceleration of its "
                "origin relative to free fall; on the axes of the link");
    print_entry(out, "F, N",
                "force on a link, and moment about its origin, that its own motion needs");
    print_entry(out, "f, n",
                "the same for a link with everything beyond it; on the axes of its group");
    print_entry(out, "L, J",
                "first moment and Euler's tensor of a link with everything beyond it; on the axes "
                "of its group");
    print_entry(out, "D4, U4_2, S3_2",
                "factors of the inertia matrix M = U D U^T, computed from the end effector to the "
                "base: pivots D and columns U; S3_2 is what the elimination has left of M[3][2]");
    print_entry(out, "t", "everything else: values that have no name in mechanics");
    PARAGRAPH(out,
              "Joints with parallel axes form a group. The axes of a group are those of its first "
              "link before that link turns. The links are those of the table %s_base.csv.",
              how->prefix);
    fputs(" */\n\n", out);
}

void print_top(const gen_t *gen, const gen_print_t *how, FILE *out) {
    fputs("/*\n * Dynamics of the arm ", out);
    print_comment(how->robot, out);
    fprintf(out, ", %u joint%s.\n * Do not edit: this file was generated by\n *     ",
            (unsigned)gen->arm.n, gen->arm.n == 1 ? "" : "s");
    print_comment(how->command, out);
    fputs("\n *\n", out);
    print_arguments(gen, how, out);
    print_assumptions(gen, out);
    fputs(" */\n", out);
}
