/*
 * Writes the comments of generated files: arguments, assumptions, operation counts, bounds, names.
 */
#include <math.h>
#include <string.h>

#include "tools/gen/print.h"

enum { WIDTH = 100 };

static void print_assumptions(const gen_t *gen, FILE *out) {
    const uint32_t keep = gen->options.keep;
    fprintf(out,
            " * Multiplications and additions of one call. Constants of the robot are numbers; "
            "signs, sums of\n"
            " * angles and their sines and cosines are not counted, 2 x is a multiplication.\n"
            " * %s%s%s\n",
            keep & GEN_NO_BASE ? "Links as they are." : "Links regrouped to base parameters.",
            keep & GEN_NO_ROTOR ? " Without rotors." : " Rotors included where the robot has them.",
            keep & GEN_FRICTION ? "" : " No friction.");
    const double noise = gen_noise(gen->options.real);
    fprintf(
        out,
        " * Rounding of the robot's file is no geometry: an angle within %g of a quarter turn is "
        "one, a length\n * below %g of the reach is none, nor what a link has off its axes below "
        "%g of the rest.\n",
        noise, noise, noise);
    if (keep & GEN_FRICTION)
        fputs(" * Friction with sign() in id and fd: all of Coulomb's at any speed but zero. The "
              "general kernels let it\n * grow from zero up to the width of the joint, 0.02 rad/s "
              "(m/s) unless the robot gives another.\n",
              out);
    if (keep & (GEN_KEEP_GRAVITY | GEN_KEEP_PAYLOAD | GEN_KEEP_WRENCH))
        fprintf(out, " * Arguments at run time:%s%s%s.\n",
                keep & GEN_KEEP_GRAVITY ? " gravity" : "",
                keep & GEN_KEEP_PAYLOAD ? " payload" : "", keep & GEN_KEEP_WRENCH ? " wrench" : "");
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
        fprintf(out, " * The inertia matrix %s, not annealed: %ld mul %ld add.\n",
                gen->options.uicker_kahn ? "traced" : "by Uicker and Kahn's closed form",
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
    fprintf(out,
            "\n * SI units%s: q rad%s, qd and qdd per second, tau N m%s, M kg m^2%s, positions m. "
            "tau is\n * what the drives do to the arm; at rest it holds the weight. End effector "
            "and world "
            "are those of the robot's\n * file.\n",
            how->real == GEN_Q31 ? " before they are scaled" : "",
            prismatic ? " (prismatic: m)" : "", prismatic ? " (N)" : "",
            prismatic ? " (kg m, kg)" : "");
    if (keep & GEN_KEEP_GRAVITY)
        fprintf(
            out,
            " * gravity[3]: its acceleration, m/s^2, pointing down, on the axes of the arm's "
            "base frame. That frame's\n * axes in the world are the columns of (%.9g %.9g %.9g; "
            "%.9g %.9g %.9g; %.9g %.9g %.9g).\n",
            r[0][0], r[0][1], r[0][2], r[1][0], r[1][1], r[1][2], r[2][0], r[2][1], r[2][2]);
    if (keep & GEN_KEEP_WRENCH)
        fputs(
            " * wrench[6]: force (N), then moment about the end effector's origin (N m), that the "
            "surroundings exert on the\n * effector, on the axes of the end effector.\n",
            out);
    if (keep & GEN_KEEP_PAYLOAD)
        fputs(
            " * payload[10]: mass (kg), first moment (kg m), Euler's tensor xx yy zz xy yz xz (kg "
            "m^2), as the function\n * ..._payload makes them.\n",
            out);
    fputs(" *\n", out);
}

/* Writes what the variable names in the functions mean. */
void print_legend(const gen_t *gen, FILE *out) {
    fputs(
        "/*\n"
        " * Names. Numbers are those of joints and links, from 1; x y z axes; m_ before a name is "
        "its negative.\n"
        " *   q23, s23, c23   q[1] + q[2], its sine and cosine\n",
        out);
    if (gen->arm.n > 9)
        fputs(" *   s2_3, s2_to_13  of an arm with so many joints: sine of q[1] + q[2], of q[1] + "
              "... "
              "+ q[12];\n"
              " *                   s2_in_13 where some between are missing\n",
              out);
    fputs(
        " *   w, wd, a        of a link: angular velocity and acceleration, acceleration of its "
        "origin against\n"
        " *                   free fall; on its axes\n"
        " *   F, N            what moves a link itself: force, and moment about its origin\n"
        " *   f, n            what moves a link with all behind it: the same, on the axes of its "
        "group\n"
        " *   L, J            of a link with all behind it: first moment, Euler's tensor; on the "
        "axes of its group\n"
        " *   D4, U4_2, S3_2  factors of the inertia matrix from the end effector, M = U D U^T: "
        "pivots, "
        "columns, and what\n"
        " *                   is left of M[3][2] on the way\n"
        " *   t               everything else: parts that belong to no single quantity\n"
        " * Joints with parallel axes are a group; its axes are those of its first link before it "
        "turns. Links\n"
        " * are the regrouped ones of the table ..._base.csv.\n"
        " */\n\n",
        out);
}

void print_top(const gen_t *gen, const gen_print_t *how, FILE *out) {
    fputs("/*\n * Dynamics of the arm ", out);
    print_comment(how->robot, out);
    fprintf(out, ", %u joints, generated: do not edit.\n *     ", (unsigned)gen->arm.n);
    print_comment(how->command, out);
    fputs("\n *\n", out);
    print_arguments(gen, how, out);
    print_assumptions(gen, out);
    fputs(" */\n", out);
}

void print_bounds(const gen_t *gen, const gen_print_t *how, FILE *out) {
    fputs("\n/*\n * Fixed point. Positions of revolute joints are binary angles (2^32 is a turn); "
          "everything else is\n"
          " * value 2^bits with the bits below. Within the limits of the robot nothing can "
          "overflow; bound and\n"
          " * error of each result are guaranteed for every state within them",
          out);
    fputs(gen->graph[GEN_FD] && !how->fixed[GEN_FD]->proved
              ? ", but of fd: rotors do not hold\n * every pivot of its matrix above its error; "
                "it saturates.\n"
              : ".\n",
          out);
    if (gen->lost & 1u << GEN_FD)
        fputs(
            " * There is no fd: rotors do not hold every pivot of its matrix above its error, and "
            "not one bit of\n * an acceleration is proved.\n",
            out);
    for (int k = 0; k < GEN_KERNELS; k++)
        if (k != GEN_FD && (gen->lost & 1u << k))
            fprintf(out, " * There is no %s: its guaranteed error fills the format.\n",
                    gen_kernel_info[k].name);
    for (int k = 0; k < GEN_KERNELS; k++) {
        if (!gen->graph[k])
            continue;
        const fixed_t *f = how->fixed[k];
        double bound = 0, error = 0;
        for (int i = 0; i < graph_outputs(f->g); i++) {
            bound = fmax(bound, f->result_bound[i]);
            error = fmax(error, f->result_error[i]);
        }
        fprintf(out, " *   %-9s bound %.4g error %.2g\n", gen_kernel_info[k].name, bound, error);
    }
    fputs(" */\n", out);
    for (int k = 0; k < GEN_KERNELS; k++) {
        if (!gen->graph[k])
            continue;
        const fixed_t *f = how->fixed[k];
        fputs("#define ", out);
        print_upper(how->prefix, out);
        fputc('_', out);
        print_upper(gen_kernel_info[k].name, out);
        fputs("_BITS {", out);
        for (int i = 0; i < graph_outputs(f->g); i++)
            fprintf(out, "%s%d", i ? ", " : "", f->result_exponent[i]);
        fputs("}\n", out);
    }
}
