/* Writes the formulas of tools/symbolic/symbolic.h as text, as Markdown with LaTeX, and as C. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/print.h"
#include "tools/symbolic/symbolic_write.h"

static const char *const meaning[SYMBOLIC_KINDS] = {"d",
                                                    "a",
                                                    "alpha",
                                                    "mass",
                                                    "centre x",
                                                    "centre y",
                                                    "centre z",
                                                    "moment of inertia xx",
                                                    "moment of inertia yy",
                                                    "moment of inertia zz",
                                                    "product of inertia xy",
                                                    "product of inertia yz",
                                                    "product of inertia xz",
                                                    "rotor inertia times gear^2"};

static void describe(const symbolic_t *s, const symbolic_parameter_t *p, FILE *out) {
    if (p->joint > DYN_MAX_JOINTS)
        fprintf(out, "acceleration of gravity%s", p->name[1] ? " along an axis of the base" : "");
    else if (p->joint == s->closed->n)
        fprintf(out, "payload: %s", meaning[p->kind]);
    else
        fprintf(out, "%s %u: %s", p->kind <= SYMBOLIC_ALPHA ? "joint" : "link",
                (unsigned)p->joint + 1, meaning[p->kind]);
}

static void write_counts(const symbolic_t *s, char next, FILE *out) {
    fprintf(out, "H takes %ld multiplications, %ld of them for the dictionary, and %ld additions",
            s->matrix.dictionary + s->matrix.mul, s->matrix.dictionary, s->matrix.add);
    if (symbolic_gravity(s))
        fprintf(out, "; with G %ld, %ld and %ld", s->all.dictionary + s->all.mul, s->all.dictionary,
                s->all.add);
    fprintf(out, ".%cSines and cosines%s are not counted.", next,
            s->named ? ", and the operations inside the coefficients," : "");
}

static void write_check(const symbolic_t *s, char next, FILE *out) {
    fprintf(out,
            "Checked at %d random states against the kernels: H differs by at most %.1e of its "
            "largest element",
            s->states, s->worst_H);
    if (symbolic_gravity(s))
        fprintf(out, ",%cG by %.1e of the largest torque of the weights", next, s->worst_G);
    fputs(".", out);
}

/* Finds the sines and cosines that the formulas contain, as bits: 1 cosine, 2 sine. */
static void find_angles(const symbolic_t *s, uint8_t used[POLY_RANGES + POLY_NAMED_ANGLES]) {
    memset(used, 0, POLY_RANGES + POLY_NAMED_ANGLES);
    for (int32_t i = 0; i < s->entries; i++)
        if (s->entry[i].variable >= POLY_ANGLE)
            used[(s->entry[i].variable - POLY_ANGLE) / 2] |=
                (uint8_t)(1 << (s->entry[i].variable - POLY_ANGLE) % 2);
}

/* Says what c23 and s23 mean. */
static void write_angles(const writer_t *w, FILE *out) {
    uint8_t used[POLY_RANGES + POLY_NAMED_ANGLES];
    const bool latex = w->notation == LATEX;
    find_angles(w->s, used);
    for (int i = 0; i < POLY_RANGES + POLY_NAMED_ANGLES; i++) {
        const char *both = used[i] == 3 ? ", " : "", *slash = latex ? "\\" : "";
        if (!used[i])
            continue;
        fputs(latex ? "- $" : "  ", out);
        for (int k = 0; k < 2; k++)
            if (used[i] >> k & 1) {
                symbolic_write_variable(w, POLY_ANGLE + 2 * i + k, out);
                fputs(k == 0 ? both : "", out);
            }
        fputs(" = ", out);
        for (int k = 0; k < 2; k++)
            if (used[i] >> k & 1)
                fprintf(out, "%s%s%s", slash,
                        symbolic_angle(w->s, POLY_ANGLE + 2 * i + k).sine ? "sin" : "cos",
                        k == 0 ? both : "");
        const symbolic_angle_t a = symbolic_angle(w->s, POLY_ANGLE + 2 * i);
        fputc('(', out);
        symbolic_write_angle(w, &a, out);
        fputs(latex ? ")$\n" : ")\n", out);
    }
}

void symbolic_text(const symbolic_t *s, FILE *out) {
    const writer_t w = symbolic_writer(s, TEXT);
    fprintf(out, "%s, %u joint%s: inertia matrix H(q)%s, in SI units\n\n", s->robot,
            (unsigned)s->closed->n, s->closed->n == 1 ? "" : "s",
            symbolic_gravity(s) ? " and gravity torques G(q)" : "");
    if (!s->words) {
        write_angles(&w, out);
        fputc('\n', out);
    }
    for (int32_t i = w.singles; i < s->entries && s->by_dictionary; i++)
        symbolic_write_entry(&w, i, "  ", "\n", out);
    fputs(s->by_dictionary && s->entries > w.singles ? "\n" : "", out);
    symbolic_write_all(&w, "  ", "\n", out);
    if (s->named)
        fputs("\n", out);
    for (int i = 0; i < s->parameters; i++)
        if (s->parameter[i].used) {
            fprintf(out, "  %-6s ", s->parameter[i].name);
            if (s->parameter[i].given)
                fprintf(out, "%-15s", "");
            else
                fprintf(out, "= %-12.*g ", s->digits, s->parameter[i].value);
            describe(s, &s->parameter[i], out);
            fputc('\n', out);
        }
    fputc('\n', out);
    write_counts(s, '\n', out);
    fputc('\n', out);
    write_check(s, '\n', out);
    fputc('\n', out);
}

void symbolic_markdown(const symbolic_t *s, FILE *out) {
    const writer_t w = symbolic_writer(s, LATEX);
    fputs("# ", out);
    for (const char *c = s->robot; *c; c++) /* a name must not be read as markup */
        fprintf(out, ispunct((unsigned char)*c) ? "\\%c" : "%c", *c);
    fprintf(out, ": inertia matrix H(q)%s\n\n",
            symbolic_gravity(s) ? " and gravity torques G(q)" : "");
    if (!s->words) {
        write_angles(&w, out);
        fputc('\n', out);
        if (s->by_dictionary) {
            fputs("$$\n\\begin{aligned}\n", out);
            for (int32_t i = w.singles; i < s->entries; i++)
                symbolic_write_entry(&w, i, "&", " \\\\\n", out);
            fputs("\\end{aligned}\n$$\n\n", out);
        }
    }
    symbolic_write_all(&w, "$$\n\\begin{aligned}\n", "\n\\end{aligned}\n$$\n\n", out);
    if (s->named)
        fputs("\n| parameter | value | what |\n|---|---|---|\n", out);
    for (int i = 0; i < s->parameters; i++)
        if (s->parameter[i].used) {
            fputs("| $", out);
            symbolic_latex_name(s->parameter[i].name, out);
            fputs("$ | ", out);
            if (!s->parameter[i].given)
                fprintf(out, "%.*g ", s->digits, s->parameter[i].value);
            fputs("| ", out);
            describe(s, &s->parameter[i], out);
            fputs(" |\n", out);
        }
    fputc('\n', out);
    write_counts(s, ' ', out);
    fputs("\n\n", out);
    write_check(s, ' ', out);
    fputc('\n', out);
}

void symbolic_c(const symbolic_t *s, const char *prefix, const char *command, FILE *out) {
    const writer_t w = symbolic_writer(s, CODE);
    const unsigned n = (unsigned)s->closed->n;
    fputs("/*\n * Inertia matrix and gravity torques of the arm ", out);
    print_comment(s->robot, out);
    fputs(
        " in closed form: a dictionary of monomials, and\n * sums over it. SI units. Element i, j "
        "of the matrix, counted from 0, is H[i (i + 1) / 2 + j], j <= i.\n * Do not edit: made "
        "by\n *     ",
        out);
    print_comment(command, out);
    fputc('\n', out);
    char *facts = NULL;
    size_t size;
    FILE *stream = graph_must(open_memstream(&facts, &size));
    write_counts(s, ' ', stream);
    fputc(' ', stream);
    write_check(s, ' ', stream);
    (void)graph_must(fclose(stream) == 0 ? facts : NULL);
    print_wrapped(out, " *", " *", "%s", facts);
    free(facts);
    fputs(" */\n#include <math.h>\n\n", out);
    bool given = false, moves = false;
    for (int i = 0; i < s->parameters; i++)
        if (s->parameter[i].used) {
            fprintf(out, "%s    double %s; /* ", given ? "" : "typedef struct {\n",
                    s->parameter[i].name);
            if (!s->parameter[i].given)
                fprintf(out, "%.*g; ", s->digits, s->parameter[i].value);
            describe(s, &s->parameter[i], out);
            fputs(" */\n", out);
            given = true;
        }
    if (given)
        fprintf(out, "} %s_parameters_t;\n\n", prefix);
    char first[160] = "", last[32] = "";
    if (given)
        snprintf(first, sizeof first, "const %s_parameters_t *p, ", prefix);
    if (symbolic_gravity(s))
        snprintf(last, sizeof last, ", double G[%u]", n);
    for (int declared = 0; declared < 2; declared++)
        fprintf(out, "void %s_symbolic(%sconst double q[%u], double H[%u]%s)%s\n", prefix, first, n,
                n * (n + 1) / 2, last, declared ? " {" : ";\n");
    for (int32_t i = 0; i < s->entries; i++)
        moves = moves || s->entry[i].variable < POLY_ANGLE + 2 * POLY_RANGES;
    fputs(moves ? "" : "    (void)q;\n", out);
    uint8_t used[POLY_RANGES + POLY_NAMED_ANGLES];
    find_angles(s, used);
    for (int v = 0; v < 2 * (POLY_RANGES + POLY_NAMED_ANGLES); v++)
        if (used[v / 2] >> v % 2 & 1) {
            const symbolic_angle_t a = symbolic_angle(s, POLY_ANGLE + v);
            fputs("    const double ", out);
            symbolic_write_variable(&w, POLY_ANGLE + v, out);
            fprintf(out, " = %s(", a.sine ? "sin" : "cos");
            symbolic_write_angle(&w, &a, out);
            fputs(");\n", out);
        }
    for (int32_t i = w.singles; i < s->entries; i++)
        symbolic_write_entry(&w, i, "    const double ", ";\n", out);
    symbolic_write_all(&w, "    ", ";\n", out);
    fputs("}\n", out);
}
