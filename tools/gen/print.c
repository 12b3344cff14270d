/* Writes the graphs of one robot as C11: a header, a source, a table of base parameters. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/trig.h"
#include "tools/gen/gen.h"

enum { INLINE_OPS = 5, VAR = 24, WIDTH = 100 };

typedef struct {
    const gen_t *gen;
    const gen_print_t *how;
    FILE *out;
    const graph_t *g;
    const fixed_t *fixed;
    char (*var)[VAR];
    bool *inlined;
    int32_t *uses;
} printer_t;

static const char *type_of(const gen_print_t *how) {
    return how->real == GEN_F32 ? "float" : how->real == GEN_F64 ? "double" : "int32_t";
}

static void print_real(FILE *out, gen_real_t real, double value) {
    char text[40];
    snprintf(text, sizeof text, real == GEN_F32 ? "%.9g" : "%.17g", value);
    fputs(text, out);
    if (!strpbrk(text, ".en"))
        fputs(".0", out);
    if (real == GEN_F32)
        fputc('f', out);
}

/* Words of a file into a comment of C: they can neither end it nor begin another. */
static void comment(const char *text, FILE *out) {
    for (char before = 0; *text; before = *text++) {
        const bool edge = (before == '*' && *text == '/') || (before == '/' && *text == '*');
        fputs(edge ? " " : "", out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

/* ---------------------------------------------------------------------------------------- names */

static bool named_like(const gen_name_t *n, const double *value, int32_t id, int32_t size,
                       double sign) {
    for (int k = 0; k < GEN_PROBES; k++) {
        const double v = value[k * size + id];
        if (!(fabs(v - sign * n->value[k]) <= 1e-10 * fabs(v)))
            return false;
    }
    return true;
}

/* Bits of the joints whose angles are summed. */
static uint32_t joints_of(const graph_t *g, int32_t id) {
    const graph_node_t *a = graph_at(g, id);
    if (a->op == GRAPH_INPUT)
        return 1u << a->b;
    return joints_of(g, a->a >> 1) | (a->b != GRAPH_NONE ? joints_of(g, a->b >> 1) : 0);
}

/*
 * q2 + q3 gives s23. Where a joint may have two digits it is s2_3, and more than two joints are
 * named by their ends: s2_to_13, or s2_in_13 where some between are missing.
 */
static void name_angle(uint32_t joints, uint32_t n, char letter, char name[VAR]) {
    int joint[DYN_MAX_JOINTS], count = 0;
    for (int i = 0; i < DYN_MAX_JOINTS; i++)
        if (joints >> i & 1)
            joint[count++] = i + 1;
    const int first = joint[0], last = joint[count - 1];
    if (n > 9 && count > 2) {
        snprintf(name, VAR, "%c%d_%s_%d", letter, first, last - first < count ? "to" : "in", last);
        return;
    }
    int used = snprintf(name, VAR, "%c%d", letter, first);
    for (int k = 1; k < count; k++)
        used += snprintf(name + used, VAR - (size_t)used, n > 9 ? "_%d" : "%d", joint[k]);
}

static bool taken(const printer_t *p, const int32_t *order, int32_t upto, const char *name) {
    for (int32_t i = 0; i < upto; i++)
        if (!strcmp(p->var[order[i]], name))
            return true;
    return false;
}

static void name_nodes(printer_t *p, const gen_names_t *names, const int32_t *order,
                       int32_t count) {
    const int32_t size = graph_size(p->g);
    double *value = calloc((size_t)size * GEN_PROBES, sizeof *value);
    int plain = 0;
    if (!value)
        abort();
    for (int probe = 0; probe < GEN_PROBES; probe++)
        graph_eval(p->g, gen_probe, &probe, value + probe * size);
    for (int32_t i = 0; i < count; i++) {
        const int32_t id = order[i];
        const graph_node_t *n = graph_at(p->g, id);
        char *name = p->var[id];
        if (n->op == GRAPH_SIN || n->op == GRAPH_COS || n->op == GRAPH_ANGLE) {
            const char letter = n->op == GRAPH_SIN ? 's' : n->op == GRAPH_COS ? 'c' : 'q';
            name_angle(joints_of(p->g, n->op == GRAPH_ANGLE ? id : n->a >> 1), p->gen->arm.n,
                       letter, name);
            /* The same joints with another offset. */
            char *end = name + strlen(name);
            for (int k = 1; taken(p, order, i, name); k++)
                snprintf(end, VAR - (size_t)(end - name), k > 1 ? "o%d" : "o", k);
            continue;
        }
        for (int k = 0; names && k < names->count && !*name; k++)
            for (int sign = 0; sign < 2 && !*name; sign++)
                if (named_like(&names->name[k], value, id, size, sign ? -1 : 1)) {
                    snprintf(name, VAR, "%s%s", sign ? "m_" : "", names->name[k].name);
                    if (taken(p, order, i, name))
                        *name = '\0';
                }
        if (!*name)
            snprintf(name, VAR, "t%d", ++plain);
    }
    free(value);
}

/* ---------------------------------------------------------------------------------- expressions */

static void expression(const printer_t *p, int32_t id);

/* fixed: a product with a power of two is the other factor. */
static int32_t resolved(const printer_t *p, int32_t id) {
    if (!p->fixed)
        return id;
    const graph_node_t *n = graph_at(p->g, id);
    while (n->op == GRAPH_MUL && p->fixed->node[id].cut == 0) {
        double c;
        int e;
        id = (graph_is_const(p->g, n->a, &c) && frexp(c, &e) == 0.5 ? n->b : n->a) >> 1;
        n = graph_at(p->g, id);
    }
    return id;
}

static void operand(const printer_t *p, int32_t id, bool factor) {
    id = resolved(p, id);
    const graph_node_t *n = graph_at(p->g, id);
    if (n->op == GRAPH_CONST) {
        if (p->fixed)
            fprintf(p->out, "%d", (int)p->fixed->node[id].raw);
        else
            print_real(p->out, p->how->real, graph_value(p->g, id));
    } else if (n->op == GRAPH_INPUT)
        fprintf(p->out, "%s[%d]", gen_array_name[n->a], (int)n->b);
    else if (p->inlined[id]) {
        const bool brackets = factor && n->op == GRAPH_ADD;
        fputs(brackets ? "(" : "", p->out);
        expression(p, id);
        fputs(brackets ? ")" : "", p->out);
    } else
        fputs(p->var[id], p->out);
}

static void shifted(const printer_t *p, int32_t id, int down, bool second) {
    if (down > 0)
        fputc('(', p->out);
    operand(p, id, second || down > 0);
    if (down > 0)
        fprintf(p->out, " >> %d)", down);
}

static void sum(const printer_t *p, int32_t id) {
    const graph_node_t *n = graph_at(p->g, id);
    int first = 0;
    ref_t r[2] = {n->a, n->b};
    /* What was written out stands in front, so that the sum reads from the left. */
    if (!(n->b & 1) && p->inlined[resolved(p, n->b >> 1)] && !p->inlined[resolved(p, n->a >> 1)])
        first = 1;
    for (int k = 0; k < 2; k++) {
        const int which = k == 0 ? first : !first;
        if (k == 1)
            fputs(r[which] & 1 ? " - " : " + ", p->out);
        if (p->fixed)
            shifted(p, r[which] >> 1, p->fixed->node[id].down[which], k == 1);
        else
            operand(p, r[which] >> 1, k == 1);
    }
}

static void call(const printer_t *p, const char *name, const graph_node_t *n) {
    fprintf(p->out, "%s%s(%s", name, p->how->real == GEN_F32 ? "f" : "", n->a & 1 ? "-" : "");
    operand(p, n->a >> 1, true);
    if (graph_uses_b(n->op)) {
        fprintf(p->out, ", %s", n->b & 1 ? "-" : "");
        operand(p, n->b >> 1, true);
    }
    fputc(')', p->out);
}

static void expression(const printer_t *p, int32_t id) {
    const graph_node_t *n = graph_at(p->g, id);
    switch (n->op) {
    case GRAPH_MUL:
        if (p->fixed) {
            const int cut = p->fixed->node[id].cut;
            fprintf(p->out, cut == 32 ? "high(" : "cut(");
            operand(p, n->a >> 1, false);
            fputs(", ", p->out);
            operand(p, n->b >> 1, false);
            if (cut != 32)
                fprintf(p->out, ", %d", cut);
            fputc(')', p->out);
            break;
        }
        if (p->inlined[n->b >> 1] && !p->inlined[n->a >> 1]) {
            operand(p, n->b >> 1, true);
            fputs(" * ", p->out);
            operand(p, n->a >> 1, true);
        } else {
            operand(p, n->a >> 1, true);
            fputs(" * ", p->out);
            const int32_t b = n->b >> 1;
            const bool brackets = p->inlined[b] && graph_at(p->g, b)->op == GRAPH_MUL;
            fputs(brackets ? "(" : "", p->out);
            operand(p, b, true);
            fputs(brackets ? ")" : "", p->out);
        }
        break;
    case GRAPH_ADD:
        sum(p, id);
        break;
    case GRAPH_RECIP:
        if (p->fixed) {
            const bool negative = p->fixed->node[id].down[1];
            fputs(negative ? "-recip(-" : "recip(", p->out);
            operand(p, n->a >> 1, negative);
            fprintf(p->out, ", %d)", p->fixed->node[id].down[0]);
        } else {
            print_real(p->out, p->how->real, 1);
            fputs(" / ", p->out);
            operand(p, n->a >> 1, true);
        }
        break;
    case GRAPH_SQRT:
        call(p, "sqrt", n);
        break;
    case GRAPH_MIN:
        call(p, "fmin", n);
        break;
    case GRAPH_SIGN:
        fprintf(p->out, "(%s)((", type_of(p->how));
        operand(p, n->a >> 1, true);
        fputs(" > 0) - (", p->out);
        operand(p, n->a >> 1, true);
        fputs(" < 0))", p->out);
        break;
    default:
        break;
    }
}

/* Operations that an inlined node brings with it. */
static int inlined_ops(const printer_t *p, int32_t id) {
    const graph_node_t *n = graph_at(p->g, id);
    if (!p->inlined[id])
        return 0;
    return 1 + inlined_ops(p, n->a >> 1) + (graph_uses_b(n->op) ? inlined_ops(p, n->b >> 1) : 0);
}

/* What is used once, has no name and is short stands where it is used. */
static void choose_inlined(printer_t *p, const int32_t *order, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const graph_node_t *n = graph_at(p->g, order[i]);
        if (n->op > GRAPH_INPUT)
            p->uses[n->a >> 1]++;
        if (graph_uses_b(n->op))
            p->uses[n->b >> 1]++;
    }
    for (int i = 0; i < graph_outputs(p->g); i++)
        p->uses[graph_result(p->g, i) >> 1] += 2;
    for (int32_t i = 0; i < count; i++) {
        const int32_t id = order[i];
        const graph_node_t *n = graph_at(p->g, id);
        if ((n->op != GRAPH_ADD && n->op != GRAPH_MUL) || p->uses[id] != 1 || p->var[id][0] != 't')
            continue;
        if (p->fixed && p->fixed->node[id].cut == 0 && n->op == GRAPH_MUL)
            continue;
        p->inlined[id] = true;
        if (inlined_ops(p, id) > INLINE_OPS)
            p->inlined[id] = false;
    }
}

static void print_angle(const printer_t *p, int32_t id) {
    const graph_node_t *n = graph_at(p->g, id);
    const double offset = graph_value(p->g, id);
    fprintf(p->out, "    const %s %s = ", type_of(p->how), p->var[id]);
    if (p->fixed) {
        const double turns = offset / 6.28318530717958647692;
        const uint32_t raw = (uint32_t)(int64_t)rint(ldexp(turns - rint(turns), 32));
        fputs("(int32_t)((uint32_t)", p->out);
        operand(p, n->a >> 1, false);
        if (n->b != GRAPH_NONE) {
            fputs(" + (uint32_t)", p->out);
            operand(p, n->b >> 1, false);
        }
        fprintf(p->out, " + %uu);\n", (unsigned)raw);
        return;
    }
    operand(p, n->a >> 1, false);
    if (n->b != GRAPH_NONE) {
        fputs(" + ", p->out);
        operand(p, n->b >> 1, false);
    }
    if (offset != 0) {
        fputs(" + ", p->out);
        print_real(p->out, p->how->real, offset);
    }
    fputs(";\n", p->out);
}

/* Sine and cosine come together, where the first of them is wanted. */
static void print_sincos(const printer_t *p, int32_t id, const int32_t *order, int32_t count,
                         bool *printed) {
    const graph_node_t *n = graph_at(p->g, id);
    int32_t pair[2] = {-1, -1};
    for (int32_t i = 0; i < count; i++) {
        const graph_node_t *o = graph_at(p->g, order[i]);
        if ((o->op == GRAPH_SIN || o->op == GRAPH_COS) && o->a == n->a) {
            pair[o->op == GRAPH_SIN] = order[i];
            printed[order[i]] = true;
        }
    }
    if (p->how->real == GEN_F64) {
        for (int k = 0; k < 2; k++)
            if (pair[k] >= 0) {
                fprintf(p->out, "    const double %s = %s(", p->var[pair[k]], k ? "sin" : "cos");
                operand(p, n->a >> 1, false);
                fputs(");\n", p->out);
            }
        return;
    }
    const char *t = type_of(p->how);
    const char *c = pair[0] >= 0 ? p->var[pair[0]] : NULL,
               *s = pair[1] >= 0 ? p->var[pair[1]] : NULL;
    char other[VAR + 2];
    snprintf(other, sizeof other, "%s_", p->var[id]);
    fprintf(p->out, "    %s %s, %s;\n    sincos_(", t, c ? c : other, s ? s : other);
    operand(p, n->a >> 1, false);
    fprintf(p->out, ", &%s, &%s);\n", c ? c : other, s ? s : other);
}

static void print_result(const printer_t *p, gen_kernel_t kernel, int i) {
    const ref_t r = graph_result(p->g, i);
    const char *sign = r & 1 ? "-" : "";
    fprintf(p->out, "    %s[%d] = ", gen_kernel_info[kernel].result, i);
    if (!p->fixed) {
        fputs(sign, p->out);
        operand(p, r >> 1, r & 1);
    } else {
        const int down = p->fixed->node[r >> 1].exponent - p->fixed->result_exponent[i];
        fputs(sign, p->out);
        if (down < 0) {
            fputs(p->fixed->clamped[i] ? "clamped(" : "up(", p->out);
            operand(p, r >> 1, false);
            fprintf(p->out, ", %d)", -down);
        } else
            shifted(p, r >> 1, down > 31 ? 31 : down, r & 1);
    }
    fputs(";\n", p->out);
}

/* What a run of statements leads to. */
static void print_heading(const printer_t *p, gen_kernel_t kernel, uint32_t i) {
    static const char *const part[6] = {"velocity along x", "velocity along y", "velocity along z",
                                        "turning about x",  "turning about y",  "turning about z"};
    const uint32_t n = p->gen->arm.n;
    uint32_t joint = kernel == GEN_JACOBIAN ? i % n : i, row = 0;
    fprintf(p->out, "\n    /* %s[%u]: ", gen_kernel_info[kernel].result, (unsigned)i);
    switch (kernel) {
    case GEN_MASS:
        while ((row + 1) * (row + 2) / 2 <= i)
            row++;
        joint = i - row * (row + 1) / 2;
        if (row != joint) {
            comment(p->how->joint[row], p->out);
            fputs(" and ", p->out);
        }
        break;
    case GEN_FK:
        if (i % 4 == 3)
            fprintf(p->out, "%c of the hand */\n", "xyz"[i / 4]);
        else
            fprintf(p->out, "%c of the hand's axis %c */\n", "xyz"[i / 4], "xyz"[i % 4]);
        return;
    case GEN_JACOBIAN:
        fprintf(p->out, "%s by ", part[i / n]);
        break;
    case GEN_FD:
        fputs("acceleration of ", p->out);
        break;
    default:
        fprintf(p->out, "%s of ", p->gen->arm.joint[joint].prismatic ? "force" : "torque");
    }
    comment(p->how->joint[joint], p->out);
    fputs(" */\n", p->out);
}

/* Forward dynamics has one long run of statements: elimination goes from pivot to pivot. */
static void print_pivot(const printer_t *p, int32_t id) {
    const char *name = p->var[graph_at(p->g, id)->a >> 1];
    unsigned row, column;
    if (!strncmp(name, "m_", 2))
        name += 2;
    if (sscanf(name, "D%u", &row) != 1 &&
        (sscanf(name, "S%u_%u", &row, &column) != 2 || row != column))
        return;
    fputs("\n    /* the pivot of ", p->out);
    comment(p->how->joint[row - 1], p->out);
    fputs(" */\n", p->out);
}

/* ------------------------------------------------------------------------------------ functions */

static void print_signature(const gen_t *gen, const gen_print_t *how, gen_kernel_t k, FILE *out) {
    const uint32_t inputs = gen_inputs(gen, k);
    fprintf(out, "void %s_%s(", how->prefix, gen_kernel_info[k].name);
    for (int a = 0; a < GEN_ARRAYS; a++)
        if (inputs & 1u << a)
            fprintf(out, "const %s %s[%u], ", type_of(how), gen_array_name[a],
                    (unsigned)gen_array_size(gen, (gen_array_t)a));
    fprintf(out, "%s %s[%u])", type_of(how), gen_kernel_info[k].result,
            (unsigned)gen_results(gen, k));
}

/*
 * Of a function with many more values than registers the compiler's scheduler undoes the order that
 * gen_schedule found. Shorter ones gain from it, and fixed point is compiled without it anyway.
 */
static bool in_order(const gen_print_t *how, gen_kernel_t kernel) {
    return how->real == GEN_F32 && kernel == GEN_FD;
}

static void print_function(const gen_t *gen, const gen_print_t *how, gen_kernel_t kernel,
                           FILE *out) {
    const graph_t *g = gen->graph[kernel];
    const size_t size = (size_t)graph_size(g) + 1;
    printer_t p = {.gen = gen, .how = how, .out = out, .g = g};
    p.fixed = how->real == GEN_Q31 ? how->fixed[kernel] : NULL;
    p.var = calloc(size, sizeof *p.var);
    p.inlined = calloc(size, sizeof *p.inlined);
    p.uses = calloc(size, sizeof *p.uses);
    bool *printed = calloc(size, sizeof *printed);
    int *first = malloc(size * sizeof *first);
    if (!p.var || !p.inlined || !p.uses || !printed || !first)
        abort();
    int32_t count, *order = gen_schedule(g, how->real == GEN_Q31 ? 9 : 26, &count);
    name_nodes(&p, gen->names[kernel], order, count);
    choose_inlined(&p, order, count);
    fprintf(out, "/* %s */\n%s", gen_kernel_info[kernel].text,
            in_order(how, kernel) ? "IN_ORDER\n" : "");
    print_signature(gen, how, kernel, out);
    fputs(" {\n", out);
    for (int a = 0; a < GEN_ARRAYS; a++)
        if (gen_inputs(gen, kernel) & 1u << a)
            fprintf(out, "    (void)%s;\n", gen_array_name[a]);
    int stored = 0;
    const int results = graph_outputs(g);
    bool *done = calloc((size_t)results, sizeof *done);
    if (!done)
        abort();
    /* A result is stored as soon as it is there, with a line above what leads to it. */
    int32_t start = 0;
    for (int32_t i = 0; i <= count; i++) {
        /* Which results does the next run of statements lead to? */
        if (i == start) {
            int32_t end = i;
            int result = -1;
            for (; end < count && result < 0; end++)
                for (int r = 0; r < results; r++)
                    if (!done[r] && graph_result(g, r) >> 1 == order[end] && result < 0)
                        result = r;
            if (result >= 0)
                print_heading(&p, kernel, (uint32_t)result);
            start = end;
        }
        if (i == count)
            break;
        const int32_t id = order[i];
        const graph_node_t *n = graph_at(g, id);
        if (n->op == GRAPH_ANGLE)
            print_angle(&p, id);
        else if (n->op == GRAPH_SIN || n->op == GRAPH_COS) {
            if (!printed[id])
                print_sincos(&p, id, order, count, printed);
        } else if (!p.inlined[id] && resolved(&p, id) == id) {
            if (n->op == GRAPH_RECIP)
                print_pivot(&p, id);
            fprintf(out, "    const %s %s = ", type_of(how), p.var[id]);
            expression(&p, id);
            fputs(";\n", out);
        }
        for (int r = 0; r < results; r++)
            if (!done[r] && graph_result(g, r) >> 1 == id) {
                print_result(&p, kernel, r);
                done[r] = true;
                stored++;
            }
    }
    if (stored < results)
        fputs("\n    /* constant, or an input */\n", out);
    for (int r = 0; r < results; r++)
        if (!done[r])
            print_result(&p, kernel, r);
    fputs("}\n\n", out);
    free(done);
    free(order);
    free(first);
    free(printed);
    free(p.uses);
    free(p.inlined);
    free(p.var);
}

/* ---------------------------------------------------------------------------------------- files */

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

/* Order, units, frames and signs of the arguments. */
static void print_arguments(const gen_t *gen, const gen_print_t *how, FILE *out) {
    const uint32_t keep = gen->options.keep;
    const double(*r)[3] = (const double(*)[3])gen->traced.base.r;
    bool slides = false;
    int used = fprintf(out, " * Joints:");
    for (uint32_t i = 0; i < gen->arm.n; i++) {
        slides = slides || gen->arm.joint[i].prismatic;
        if (used + (int)strlen(how->joint[i]) > WIDTH - 12)
            used = fprintf(out, "\n *  ") - 1;
        fputc(' ', out);
        comment(how->joint[i], out);
        used += 1 + (int)strlen(how->joint[i]);
        const char *end = gen->arm.joint[i].prismatic ? " (slides)" : "";
        used += fprintf(out, "%s%s", end, i + 1 < gen->arm.n ? "," : ".");
    }
    fprintf(out,
            "\n * SI units%s: q rad%s, qd and qdd per second, tau N m%s, M kg m^2%s, positions m. "
            "tau is\n * what the drives do to the arm; at rest it holds the weight. Hand and world "
            "are those of the robot's\n * file.\n",
            how->real == GEN_Q31 ? " before they are scaled" : "", slides ? " (slides: m)" : "",
            slides ? " (N)" : "", slides ? " (kg m, kg)" : "");
    if (keep & GEN_KEEP_GRAVITY)
        fprintf(
            out,
            " * gravity[3]: its acceleration, m/s^2, pointing down, on the axes of the arm's "
            "base frame. That frame's\n * axes in the world are the columns of (%.9g %.9g %.9g; "
            "%.9g %.9g %.9g; %.9g %.9g %.9g).\n",
            r[0][0], r[0][1], r[0][2], r[1][0], r[1][1], r[1][2], r[2][0], r[2][1], r[2][2]);
    if (keep & GEN_KEEP_WRENCH)
        fputs(" * wrench[6]: force (N), then moment about the hand's origin (N m), that the "
              "surroundings exert on the\n * hand, on the axes of the hand.\n",
              out);
    if (keep & GEN_KEEP_PAYLOAD)
        fputs(
            " * payload[10]: mass (kg), first moment (kg m), Euler's tensor xx yy zz xy yz xz (kg "
            "m^2), as the function\n * ..._payload makes them.\n",
            out);
    fputs(" *\n", out);
}

/* Of the names in the functions. */
static void print_legend(const gen_t *gen, FILE *out) {
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
        " *   D4, U4_2, S3_2  factors of the inertia matrix from the hand, M = U D U^T: pivots, "
        "columns, and what\n"
        " *                   is left of M[3][2] on the way\n"
        " *   t               everything else: parts that belong to no single quantity\n"
        " * Joints with parallel axes are a group; its axes are those of its first link before it "
        "turns. Links\n"
        " * are the regrouped ones of the table ..._base.csv.\n"
        " */\n\n",
        out);
}

static void print_top(const gen_t *gen, const gen_print_t *how, FILE *out) {
    fputs("/*\n * Dynamics of the arm ", out);
    comment(how->robot, out);
    fprintf(out, ", %u joints, generated: do not edit.\n *     ", (unsigned)gen->arm.n);
    comment(how->command, out);
    fputs("\n *\n", out);
    print_arguments(gen, how, out);
    print_assumptions(gen, out);
    fputs(" */\n", out);
}

static void upper(const char *text, FILE *out) {
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

static void print_bounds(const gen_t *gen, const gen_print_t *how, FILE *out) {
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
            "not one bit of\n * an acceleration is sure.\n",
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
        upper(how->prefix, out);
        fputc('_', out);
        upper(gen_kernel_info[k].name, out);
        fputs("_BITS {", out);
        for (int i = 0; i < graph_outputs(f->g); i++)
            fprintf(out, "%s%d", i ? ", " : "", f->result_exponent[i]);
        fputs("}\n", out);
    }
}

void gen_print_header(const gen_t *gen, const gen_print_t *how, FILE *out) {
    print_top(gen, how, out);
    fputs("#ifndef ", out);
    upper(how->prefix, out);
    fputs("_GEN_H\n#define ", out);
    upper(how->prefix, out);
    fputs("_GEN_H\n\n#include <stdint.h>\n\n", out);
    fputs("#define ", out);
    upper(how->prefix, out);
    fprintf(out, "_JOINTS %u\n", (unsigned)gen->arm.n);
    if (how->hashed) {
        fputs("/* Of the parameters that the code was made from: image_model_hash of their image. "
              "*/\n#define ",
              out);
        upper(how->prefix, out);
        fprintf(out, "_MODEL_HASH 0x%08xu\n", (unsigned)how->hash);
    }
    if (how->real == GEN_Q31)
        print_bounds(gen, how, out);
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->lost & 1u << k) {
            fputs("#define ", out);
            upper(how->prefix, out);
            fputs("_WITHOUT_", out);
            upper(gen_kernel_info[k].name, out);
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
                "\n/* The argument `payload` of a body in the last link frame: inertia xx yy zz xy "
                "yz xz about its "
                "centre. */\nvoid %s_payload(%s mass, const %s com[3], const %s inertia[6], %s "
                "payload[10]);\n",
                how->prefix, type_of(how), type_of(how), type_of(how), type_of(how));
    fprintf(out,
            "\n/* Compares with the general kernels at some states: how many results are wrong; 0 "
            "is right. */\nint "
            "%s_selftest(void);\n\n#endif\n",
            how->prefix);
}

static void print_sine_f32(FILE *out) {
    fputs("static const float sine_[640] = {\n    ", out);
    for (int i = 0; i < 640; i++) {
        print_real(out, GEN_F32, (double)dyn_sine_f32[i]);
        fputs(i == 639 ? "};\n\n" : i % 6 == 5 ? ",\n    " : ", ", out);
    }
    fputs("/* Sine and cosine together, error below 1.2e-7 to 1e4 rad: the nearest of 512 angles, "
          "and the rest. */\n"
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
    fputs("/* The upper half of the product. */\n"
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
        fputs("/* a 2^bits, or the largest number. */\n"
              "static inline int32_t clamped(int32_t a, int bits) {\n"
              "    const int32_t most = INT32_MAX >> bits;\n"
              "    return a > most ? INT32_MAX : a < -most ? -INT32_MAX : (int32_t)((uint32_t)a << "
              "bits);\n}\n\n",
              out);
    if (recips)
        fputs("/* 2^(62 - down) / a by Newton's iteration on the mantissa; a is positive. "
              "Saturates. */\n"
              "static inline int32_t recip(int32_t a, int down) {\n"
              "    const int zeros = __builtin_clz((uint32_t)a | 1u), right = down - zeros;\n"
              "    const uint32_t m = (uint32_t)a << zeros;\n"
              "    uint32_t y = 3031741621u - (uint32_t)(((uint64_t)m * 2021161081u) >> 32);\n"
              "    for (int i = 0; i < 3; i++)\n"
              "        y = (uint32_t)(((uint64_t)y * (0x80000000u - (uint32_t)(((uint64_t)m * y) "
              ">> 32))) >> 30);\n"
              "    return right < 0 || (right == 0 && (y >> 31)) ? INT32_MAX : right > 31 ? 0 : "
              "(int32_t)(y >> "
              "right);\n}\n\n",
              out);
    fputs("/* Sine and cosine of a binary angle, 30 bits, error below 3e-9. */\n"
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
    const char *t = type_of(how);
    const double rise = dyn_spread_rise(&gen->traced, gen->model.n - 1);
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
    /* xy, yz, xz: the loop has made xy, yz, zx. */
    fprintf(out, "%s zx = mass * c[2] * c[0] - inertia[5];\n    payload[9] = zx;\n}\n\n", t);
}

/* ------------------------------------------------------------------------------------ self-test */

enum { STATES = 4 };

typedef struct {
    const gen_t *gen;
    const gen_print_t *how;
    FILE *out;
    double in[GEN_ARRAYS][DYN_MAX_JOINTS];
} selftest_t;

/* Within the limits where the robot has them. */
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
 * What may differ: twice the running error of this state for floats (twice, because that is to
 * first order and the reference has its own), the guaranteed error for fixed point.
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
    /* The general kernel in double is not exact either, and computes the arm with the noise of its
     * file. */
    gen_quiet_error(t->gen, kernel, state, error);
    for (int i = 0; i < graph_outputs(g); i++) {
        tolerance[i] += 1e-12 * (1 + most) + error[i];
        /* Along the pivots of a long arm the running error of forward dynamics grows past it. */
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
    const char *type = type_of(t->how), *name = gen_kernel_info[kernel].name;
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

static void print_selftest(const gen_t *gen, const gen_print_t *how, FILE *out) {
    selftest_t t = {.gen = gen, .how = how, .out = out};
    fputs("/* Results of the general kernels in double, and what rounding may differ from them at "
          "that state. */\n",
          out);
    uint32_t most = 0;
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->graph[k]) {
            print_selftest_of(&t, (gen_kernel_t)k);
            most =
                gen_results(gen, (gen_kernel_t)k) > most ? gen_results(gen, (gen_kernel_t)k) : most;
        }
    const char *type = type_of(how);
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

void gen_print_source(const gen_t *gen, const gen_print_t *how, FILE *out) {
    print_top(gen, how, out);
    fprintf(out, "#include \"%s.h\"\n\n", how->prefix);
    if (how->real != GEN_Q31)
        fputs("#include <math.h>\n\n", out);
    if (how->real == GEN_F32 && gen->graph[GEN_FD])
        fputs("/* The statements stand in an order that keeps few values alive. */\n"
              "#if defined(__GNUC__) && !defined(__clang__)\n"
              "#define IN_ORDER __attribute__((optimize(\"no-schedule-insns\", \"no-tree-ter\")))\n"
              "#else\n#define IN_ORDER\n#endif\n\n",
              out);
    if (how->real == GEN_F32)
        print_sine_f32(out);
    if (how->real == GEN_Q31)
        print_sine_q31(gen, how, out);
    print_legend(gen, out);
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
    comment(robot, out);
    fputs(": what of the links can influence a torque.\n"
          "# Link by link from the last to the first, about the origin where the arm before "
          "arrives (d of the\n"
          "# joints of a group of parallel axes gathered where the group is left): of a revolute "
          "link the mass, the\n"
          "# first moment along the axis and Euler's Jzz are counted to the link before, of a "
          "prismatic link\n"
          "# Euler's tensor. The torques stay exactly the same.\n",
          out);
    if (arm->joined & 1u << 0)
        fputs("# The rotor of joint 1 turns with its link: it is in Jxx of link 1.\n", out);
    if (arm->joined & 1u << 1)
        fputs("# The rotor of joint 2 turns as its link does about its own axis, perpendicular to "
              "the first: half of it\n"
              "# is in Jxx and half in Jyy of link 2, and half taken from Jyy of link 1.\n",
              out);
}

void gen_print_base(const gen_t *gen, const char *robot, FILE *out) {
    const gen_arm_t *arm = &gen->arm;
    if (!(arm->keep & GEN_NO_BASE))
        print_regrouped(arm, robot, out);
    else {
        fputs("# Inertial parameters of ", out);
        comment(robot, out);
        fputs(", link by link as they are (--no-base): nothing is regrouped.\n"
              "# About the origin where the arm before arrives: of a revolute link d below the "
              "frame of the joint.\n",
              out);
    }
    if (arm->keep & GEN_NO_ROTOR)
        fputs("# Without rotors.\n", out);
    fputs("# m kg; l = m c kg m; J Euler's tensor (integral of r r^T dm) about the origin, kg "
          "m^2; rotor kg m^2\n"
          "# (kg where the joint slides), as it is seen at the joint.\n",
          out);
    if (arm->round)
        fputs("# The last link is a body of revolution about its axis: its angle does not matter "
              "to a torque.\n",
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
    fputs("# From the links as they are: m, c in the frame of the joint, Euler's tensor about its "
          "origin.\n"
          "literal,m,lx,ly,lz,Jxx,Jyy,Jzz,Jxy,Jyz,Jxz\n",
          out);
    for (uint32_t i = 0; i < arm->n; i++) {
        const dyn_body_t b =
            i + 1 == arm->n ? dyn_model_last_link(&gen->model) : gen->model.joint[i].link;
        const dyn_spread_t s = dyn_spread_body(&b);
        fprintf(out, "%u,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                (unsigned)i + 1, s.p[3][3], s.p[0][3], s.p[1][3], s.p[2][3], s.p[0][0], s.p[1][1],
                s.p[2][2], s.p[0][1], s.p[1][2], s.p[0][2]);
    }
}
