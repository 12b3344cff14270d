/* Writes one kernel as a C function: expressions, statements, results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/print.h"

enum { INLINE_OPS = 5 };

static void expression(const printer_t *p, int32_t id);

/* In fixed point the node that stores the number is printed. */
static int32_t resolved(const printer_t *p, int32_t id) {
    return p->fixed ? fixed_stored(p->fixed, id) : id;
}

static void operand(const printer_t *p, int32_t id, bool factor) {
    id = resolved(p, id);
    const graph_node_t *n = graph_at(p->g, id);
    if (n->op == GRAPH_CONST)
        if (p->fixed)
            fprintf(p->out, "%d", (int)p->fixed->node[id].raw);
        else
            print_real(p->out, p->how->real, graph_value(p->g, id));
    else if (n->op == GRAPH_INPUT)
        fprintf(p->out, "%s[%d]", gen_array_name[n->a], (int)n->b);
    else if (p->inlined[id]) {
        const bool brackets = factor && n->op == GRAPH_ADD;
        fputs(brackets ? "(" : "", p->out);
        expression(p, id);
        fputs(brackets ? ")" : "", p->out);
    } else
        fputs(p->var[id], p->out);
}

/* What stands on the right of * or /. */
static void right_operand(const printer_t *p, int32_t id) {
    const bool brackets = p->inlined[id] && graph_at(p->g, id)->op == GRAPH_MUL;
    fputs(brackets ? "(" : "", p->out);
    operand(p, id, true);
    fputs(brackets ? ")" : "", p->out);
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
    /* An inlined operand comes first, so that the sum reads from the left. */
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
            right_operand(p, n->b >> 1);
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
            right_operand(p, n->a >> 1);
        }
        break;
    case GRAPH_SQRT:
        call(p, "sqrt", n);
        break;
    case GRAPH_MIN:
        call(p, "fmin", n);
        break;
    case GRAPH_SIGN:
        fprintf(p->out, "(%s)((", print_type(p->how));
        operand(p, n->a >> 1, true);
        fputs(" > 0) - (", p->out);
        operand(p, n->a >> 1, true);
        fputs(" < 0))", p->out);
        break;
    default:
        break;
    }
}

/* Returns the number of operations in an inlined node. */
static int inlined_ops(const printer_t *p, int32_t id) {
    const graph_node_t *n = graph_at(p->g, id);
    if (!p->inlined[id])
        return 0;
    return 1 + inlined_ops(p, n->a >> 1) + (graph_uses_b(n->op) ? inlined_ops(p, n->b >> 1) : 0);
}

/* Inlines nodes that are used once, have no name and are short. */
static void choose_inlined(printer_t *p, const int32_t *order, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const graph_node_t *n = graph_at(p->g, order[i]);
        if (n->op > GRAPH_INPUT)
            p->uses[n->a >> 1] += n->op == GRAPH_HOLD ? 2 : 1; /* what it holds has a variable */
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
    fprintf(p->out, "    const %s %s = ", print_type(p->how), p->var[id]);
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

/* Prints sine and cosine together, where the first of them is used. */
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
    const char *t = print_type(p->how);
    const char *c = pair[0] >= 0 ? p->var[pair[0]] : NULL,
               *s = pair[1] >= 0 ? p->var[pair[1]] : NULL;
    char other[PRINT_VAR + 2];
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

/* Writes a comment that names the result of the following statements. */
static void print_heading(const printer_t *p, gen_kernel_t kernel, uint32_t i) {
    static const char *const part[6] = {"velocity along x",         "velocity along y",
                                        "velocity along z",         "angular velocity about x",
                                        "angular velocity about y", "angular velocity about z"};
    const uint32_t n = p->gen->arm.n;
    uint32_t joint = kernel == GEN_JACOBIAN ? i % n : i, row = 0;
    fprintf(p->out, "\n    /* %s[%u]: ", gen_kernel_info[kernel].result, (unsigned)i);
    switch (kernel) {
    case GEN_MASS:
        while ((row + 1) * (row + 2) / 2 <= i)
            row++;
        joint = i - row * (row + 1) / 2;
        if (row != joint) {
            print_comment(p->how->joint[row], p->out);
            fputs(" and ", p->out);
        }
        break;
    case GEN_FK:
        if (i % 4 == 3)
            fprintf(p->out, "%c of the end effector */\n", "xyz"[i / 4]);
        else
            fprintf(p->out, "component %c of the end effector's axis %c */\n", "xyz"[i / 4],
                    "xyz"[i % 4]);
        return;
    case GEN_JACOBIAN:
        fprintf(p->out, "%s due to ", part[i / n]);
        break;
    case GEN_FD:
        fputs("acceleration of ", p->out);
        break;
    default:
        fprintf(p->out, "%s of ", p->gen->arm.joint[joint].prismatic ? "force" : "torque");
    }
    print_comment(p->how->joint[joint], p->out);
    fputs(" */\n", p->out);
}

/* Writes a comment before the reciprocal of each pivot, to divide the long list of statements of
 * forward dynamics. */
static void print_pivot(const printer_t *p, int32_t id) {
    const char *name = p->var[graph_at(p->g, id)->a >> 1];
    unsigned row, column;
    if (!strncmp(name, "m_", 2))
        name += 2;
    if (sscanf(name, "D%u", &row) != 1 &&
        (sscanf(name, "S%u_%u", &row, &column) != 2 || row != column))
        return;
    fputs("\n    /* the pivot of ", p->out);
    print_comment(p->how->joint[row - 1], p->out);
    fputs(" */\n", p->out);
}

/* ------------------------------------------------------------------------------------ functions */

void print_signature(const gen_t *gen, const gen_print_t *how, gen_kernel_t k, FILE *out) {
    enum { WIDTH = 98 }; /* " {" may follow */
    const uint32_t inputs = gen_inputs(gen, k);
    int column = fprintf(out, "void %s_%s(", how->prefix, gen_kernel_info[k].name);
    const char *gap = "";
    for (int a = 0; a <= GEN_ARRAYS; a++) {
        const bool last = a == GEN_ARRAYS;
        char text[60];
        if (!last && !(inputs & 1u << a))
            continue;
        snprintf(text, sizeof text, "%s%s %s[%u]%s", last ? "" : "const ", print_type(how),
                 last ? gen_kernel_info[k].result : gen_array_name[a],
                 (unsigned)(last ? gen_results(gen, k) : gen_array_size(gen, (gen_array_t)a)),
                 last ? ")" : ",");
        if (*gap && column + 1 + (int)strlen(text) > WIDTH) {
            gap = "\n    ";
            column = 3;
        }
        fprintf(out, "%s%s", gap, text);
        column += (int)(*gap != 0) + (int)strlen(text);
        gap = " ";
    }
}

/*
 * True if the compiler must keep the order of statements. In a function with many more values than
 * registers, the compiler's scheduler would undo the order that gen_schedule found. Shorter
 * functions gain from the scheduler, and fixed point is compiled without it anyway.
 */
static bool in_order(const gen_print_t *how, gen_kernel_t kernel) {
    return how->real == GEN_F32 && kernel == GEN_FD;
}

void print_function(const gen_t *gen, const gen_print_t *how, gen_kernel_t kernel, FILE *out) {
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
    print_name_nodes(&p, gen->names[kernel], order, count);
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
    /* Stores each result as soon as it is computed, with a comment above the statements that lead
     * to it. */
    int32_t start = 0;
    for (int32_t i = 0; i <= count; i++) {
        /* Finds the result that the next run of statements leads to. */
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
            fprintf(out, "    const %s %s = ", print_type(how), p.var[id]);
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
        fputs("\n    /* results that are constants or inputs */\n", out);
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
