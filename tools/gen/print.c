/* Writes the graphs of one robot as a C11 header and source, and its base parameters as CSV. */
#include "tools/gen/print.h"

#include <ctype.h>
#include <string.h>

#include "dyn/number/trig.h"

const char *print_type(const gen_print_t *how) {
    return how->real == GEN_F32 ? "float" : how->real == GEN_F64 ? "double" : "int32_t";
}

void print_real(FILE *out, gen_real_t real, double value) {
    char text[40];
    snprintf(text, sizeof text, real == GEN_F32 ? "%.9g" : "%.17g", value);
    fputs(text, out);
    if (!strpbrk(text, ".en"))
        fputs(".0", out);
    if (real == GEN_F32)
        fputc('f', out);
}

/* Writes text from a robot file into a C comment. The text can neither end the comment nor begin
 * another one. */
void print_comment(const char *text, FILE *out) {
    for (char before = 0; *text; before = *text++) {
        const bool edge = (before == '*' && *text == '/') || (before == '/' && *text == '*');
        fputs(edge ? " " : "", out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

void print_upper(const char *text, FILE *out) {
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

/* ---------------------------------------------------------------------------------------- files */

void gen_print_header(const gen_t *gen, const gen_print_t *how, FILE *out) {
    print_top(gen, how, out);
    fputs("#ifndef ", out);
    print_upper(how->prefix, out);
    fputs("_GEN_H\n#define ", out);
    print_upper(how->prefix, out);
    fputs("_GEN_H\n\n#include <stdint.h>\n\n", out);
    fputs("#define ", out);
    print_upper(how->prefix, out);
    fprintf(out, "_JOINTS %u\n", (unsigned)gen->arm.n);
    if (how->hashed) {
        fputs("/* image_model_hash of the robot image that the code was made from. */\n#define ",
              out);
        print_upper(how->prefix, out);
        fprintf(out, "_MODEL_HASH 0x%08xu\n", (unsigned)how->hash);
    }
    if (how->real == GEN_Q31)
        print_scaling(gen, how, out);
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->lost & 1u << k) {
            print_wrapped(out, "/*", " *", "There is no %s: %s. */", gen_kernel_info[k].name,
                          gen->why[k]);
            fputs("#define ", out);
            print_upper(how->prefix, out);
            fputs("_WITHOUT_", out);
            print_upper(gen_kernel_info[k].name, out);
            fputs(" 1\n", out);
        }
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->graph[k]) {
            fprintf(out, "\n/* %s */\n", gen_kernel_info[k].text);
            print_signature(gen, how, (gen_kernel_t)k, out);
            fputs(";\n", out);
        }
    if (gen->options.keep & GEN_KEEP_PAYLOAD)
        fprintf(out,
                "\n/* Computes the argument `payload` for a body in the last link frame: its mass, "
                "centre of mass,\n * and inertia xx yy zz xy yz xz about that centre. */\n"
                "void %s_payload(%s mass, const %s com[3], const %s inertia[6], %s "
                "payload[10]);\n",
                how->prefix, print_type(how), print_type(how), print_type(how), print_type(how));
    fprintf(out,
            "\n/* Compares the functions with results of the general kernels. Returns how many "
            "results are wrong:\n * 0 if all are right. */\nint %s_selftest(void);\n\n#endif\n",
            how->prefix);
}

static void print_sine_f32(FILE *out) {
    fputs("static const float sine_[640] = {\n    ", out);
    for (int i = 0; i < 640; i++) {
        print_real(out, GEN_F32, (double)dyn_sine_f32[i]);
        fputs(i == 639 ? "};\n\n" : i % 6 == 5 ? ",\n    " : ", ", out);
    }
    fputs("/* Sine and cosine, computed from the nearest of 512 angles in a table and the "
          "difference to it.\n * The error is below 1.2e-7 for angles up to 1e4 rad. */\n"
          "static inline void sincos_(float x, float *cosine, float *sine) {\n"
          "    union {\n        float f;\n        uint32_t u;\n    } t = {.f = x * "
          "81.487330863050417f + 12582912.0f};\n"
          "    const float *entry = &sine_[t.u & 511u];\n"
          "    const float k = t.f - 12582912.0f, S = entry[0], C = entry[128];\n"
          "    const float r = fmaf(-k, -3.4149522e-10f, fmaf(-k, 0.012271846644580364f, x));\n"
          "    const float h = r * r * 0.5f;\n"
          "    *sine = S + (C * r - S * h);\n"
          "    *cosine = C - (S * r + C * h);\n}\n\n",
          out);
}

static void print_sine_q31(const gen_t *gen, const gen_print_t *how, FILE *out) {
    bool cuts = false, ups = false, clamps = false, recips = false;
    for (int k = 0; k < GEN_KERNELS; k++) {
        const fixed_t *f = gen->graph[k] ? how->fixed[k] : NULL;
        for (int32_t i = 0; f && i < f->count; i++) {
            const int32_t id = f->order[i], op = graph_at(f->g, id)->op;
            cuts = cuts || (op == GRAPH_MUL && f->node[id].cut != 0 && f->node[id].cut != 32);
            recips = recips || op == GRAPH_RECIP;
        }
        for (int i = 0; f && i < graph_outputs(f->g); i++) {
            const int32_t r = graph_result(f->g, i) >> 1;
            const bool up = f->node[r].exponent < f->result_exponent[i];
            clamps = clamps || (up && f->clamped[i]);
            ups = ups || (up && !f->clamped[i]);
        }
    }
    fputs("static const int32_t sine_[320] = {\n    ", out);
    for (int i = 0; i < 320; i++) {
        fprintf(out, "%d", (int)dyn_sine_q30[i]);
        fputs(i == 319 ? "};\n\n" : i % 7 == 6 ? ",\n    " : ", ", out);
    }
    fputs("/* Returns the upper half of the product. */\n"
          "static inline int32_t high(int32_t a, int32_t b) {\n"
          "    return (int32_t)(((int64_t)a * b) >> 32);\n}\n\n",
          out);
    if (cuts)
        fputs("static inline int32_t cut(int32_t a, int32_t b, int bits) {\n"
              "    return (int32_t)(((int64_t)a * b) >> bits);\n}\n\n",
              out);
    if (ups)
        fputs("static inline int32_t up(int32_t a, int bits) {\n"
              "    return (int32_t)((uint32_t)a << bits);\n}\n\n",
              out);
    if (clamps)
        fputs(
            "/* Returns a 2^bits, or the largest multiple of 2^bits with the sign of a; without a "
            "branch. */\n"
            "static inline int32_t clamped(int32_t a, int bits) {\n"
            "    const uint32_t sign = (uint32_t)(a >> 31), size = ((uint32_t)a ^ sign) - sign;\n"
            "    const uint32_t most = (uint32_t)INT32_MAX >> bits, over = (most - size) >> 31;\n"
            "    const uint32_t least = (size & (over - 1u)) | (most & (0u - over));\n"
            "    return (int32_t)(((least << bits) ^ sign) - sign);\n}\n\n",
            out);
    if (recips)
        fputs("/* Returns 2^(62 - down) / a, or the largest number; a is positive. Newton's "
              "iteration on the\n * mantissa; without a branch. */\n"
              "static inline int32_t recip(int32_t a, int down) {\n"
              "    const int zeros = __builtin_clz((uint32_t)a | 1u);\n"
              "    const uint32_t m = (uint32_t)a << zeros;\n"
              "    uint32_t y = 3031741621u - (uint32_t)(((uint64_t)m * 2021161081u) >> 32);\n"
              "    for (int i = 0; i < 3; i++)\n"
              "        y = (uint32_t)(((uint64_t)y * (0x80000000u - (uint32_t)(((uint64_t)m * y) "
              ">> 32))) >> 30);\n"
              "    const uint64_t wide = ((uint64_t)y * (1u << zeros)) >> down;\n"
              "    const uint32_t over = (uint32_t)(wide >> 31);\n"
              "    return (int32_t)(((uint32_t)wide | (0u - ((over | (0u - over)) >> 31))) & "
              "INT32_MAX);\n}\n\n",
              out);
    fputs("/* Sine and cosine of a binary angle, times 2^30; the error is below 3e-9. */\n"
          "static inline void sincos_(int32_t angle, int32_t *cosine, int32_t *sine) {\n"
          "    const int32_t *entry = &sine_[((uint32_t)angle + 0x800000u) >> 24];\n"
          "    const int32_t S = entry[0], C = entry[64];\n"
          "    const int32_t r = high((int32_t)((uint32_t)angle << 8), 1686629713), r2 = high(r, "
          "r);\n"
          "    const int32_t s = r - (high(high(r, r2), 715827883) >> 8), h = -(r2 >> 5);\n"
          "    *sine = S + (int32_t)(((int64_t)C * s + (int64_t)S * h) >> 36);\n"
          "    *cosine = C + (int32_t)(((int64_t)C * h + (int64_t)S * -s) >> 36);\n}\n\n",
          out);
}

static void print_payload(const gen_t *gen, const gen_print_t *how, FILE *out) {
    const char *t = print_type(how);
    const double rise = dyn_pseudo_rise(&gen->traced, gen->model.n - 1);
    fprintf(out,
            "void %s_payload(%s mass, const %s com[3], const %s inertia[6], %s payload[10]) {\n"
            "    const %s half = (inertia[0] + inertia[1] + inertia[2]) / 2;\n"
            "    const %s c[3] = {com[0], com[1], com[2] + ",
            how->prefix, t, t, t, t, t, t);
    print_real(out, how->real, rise);
    fputs("};\n    payload[0] = mass;\n    for (int i = 0; i < 3; i++) {\n"
          "        payload[1 + i] = mass * c[i];\n"
          "        payload[4 + i] = half - inertia[i] + mass * c[i] * c[i];\n"
          "        payload[7 + i] = mass * c[i] * c[(i + 1) % 3] - inertia[3 + i];\n    }\n"
          "    const ",
          out);
    /* Writes xz once more; the loop above has already computed it as zx. */
    fprintf(out, "%s zx = mass * c[2] * c[0] - inertia[5];\n    payload[9] = zx;\n}\n\n", t);
}

void gen_print_source(const gen_t *gen, const gen_print_t *how, FILE *out) {
    print_top(gen, how, out);
    fprintf(out, "#include \"%s.h\"\n\n", how->prefix);
    if (how->real != GEN_Q31)
        fputs("#include <math.h>\n\n", out);
    if (how->real == GEN_F32 && gen->graph[GEN_FD])
        fputs("/* Keeps the compiler from reordering the statements: in this order few values "
              "are alive at once. */\n"
              "#if defined(__GNUC__) && !defined(__clang__)\n"
              "#define IN_ORDER __attribute__((optimize(\"no-schedule-insns\", \"no-tree-ter\")))\n"
              "#else\n#define IN_ORDER\n#endif\n\n",
              out);
    if (how->real == GEN_F32)
        print_sine_f32(out);
    if (how->real == GEN_Q31)
        print_sine_q31(gen, how, out);
    print_legend(gen, how, out);
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->graph[k])
            print_function(gen, how, (gen_kernel_t)k, out);
    if (gen->options.keep & GEN_KEEP_PAYLOAD)
        print_payload(gen, how, out);
    print_selftest(gen, how, out);
}

/* ------------------------------------------------------------------------------ base parameters */

static void print_regrouped(const gen_arm_t *arm, const char *robot, FILE *out) {
    fputs("# Base inertial parameters of ", out);
    print_comment(robot, out);
    fputs(".\n", out);
    print_wrapped(
        out, "#", "#",
        "They are the part of the links' inertial parameters that can influence a torque. "
        "They were computed from the last link to the first: of a revolute link the mass, the "
        "first moment along the axis and Jzz, of a prismatic link the whole tensor J, were added "
        "to the link before it. This changes no torque.");
    print_wrapped(
        out, "#", "#",
        "The origin of a revolute link is the foot of the common normal from the axis of the link "
        "before. It lies the Denavit-Hartenberg length d below the origin of the joint frame. In a "
        "group of parallel axes every d is added to that of the last joint of the group.");
    if (arm->joined & 1u << 0)
        fputs(
            "# The rotor of joint 1 is included in link 1: the rotor's inertia is added to Jxx.\n",
            out);
    if (arm->joined & 1u << 1)
        print_wrapped(out, "#", "#",
                      "The rotor of joint 2 is included in link 2, which changes no torque because "
                      "the axes of joints 1 and 2 are perpendicular: half of the rotor's inertia "
                      "is added to Jxx and half to Jyy of link 2, and half is subtracted from Jyy "
                      "of link 1.");
}

void gen_print_base(const gen_t *gen, const char *robot, FILE *out) {
    const gen_arm_t *arm = &gen->arm;
    if (!(arm->keep & GEN_NO_BASE))
        print_regrouped(arm, robot, out);
    else {
        fputs("# Inertial parameters of ", out);
        print_comment(robot, out);
        fputs(", link by link as they are (--no-base): nothing is regrouped.\n"
              "# The origin of a revolute link is d below the origin of the joint frame.\n",
              out);
    }
    if (arm->keep & GEN_NO_ROTOR)
        fputs("# Rotors are left out.\n", out);
    fputs(
        "# m: mass, kg. l: first moment m c, kg m. J: Euler's tensor (integral of r r^T dm) about "
        "the origin,\n"
        "# kg m^2. rotor: inertia of the rotor at the joint, kg m^2 (kg if the joint is "
        "prismatic).\n",
        out);
    if (arm->round)
        fputs("# The last link is a body of revolution about its axis, so its angle influences no "
              "torque.\n",
              out);
    if (arm->turned != 0)
        fprintf(out,
                "# The last frame is turned by %.17g rad about its axis, so that ly is zero.\n",
                arm->turned);
    fputs("link,m,lx,ly,lz,Jxx,Jyy,Jzz,Jxy,Jyz,Jxz,rotor\n", out);
    for (uint32_t i = 0; i < arm->n; i++) {
        const gen_joint_t *j = &arm->joint[i];
        fprintf(out, "%u,%.17g,%.17g,%.17g,%.17g", (unsigned)i + 1, j->m, j->l[0], j->l[1],
                j->l[2]);
        for (int k = 0; k < 6; k++)
            fprintf(out, ",%.17g", j->J[k]);
        fprintf(out, ",%.17g\n", j->rotor);
    }
    fputs("# The links as the robot gives them: m, l and J in the joint frame, about its origin.\n"
          "literal,m,lx,ly,lz,Jxx,Jyy,Jzz,Jxy,Jyz,Jxz\n",
          out);
    for (uint32_t i = 0; i < arm->n; i++) {
        const dyn_body_t b =
            i + 1 == arm->n ? dyn_model_last_link(&gen->model) : gen->model.joint[i].link;
        const dyn_pseudo_t s = dyn_pseudo_body(&b);
        fprintf(out, "%u,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                (unsigned)i + 1, s.p[3][3], s.p[0][3], s.p[1][3], s.p[2][3], s.p[0][0], s.p[1][1],
                s.p[2][2], s.p[0][1], s.p[1][2], s.p[0][2]);
    }
}
