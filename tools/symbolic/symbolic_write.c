/* Writes names, angles, sums and entries of the dictionary for tools/symbolic/symbolic_write.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/symbolic/symbolic_write.h"

enum { WIDTH = 100 };

writer_t symbolic_writer(const symbolic_t *s, notation_t notation) {
    writer_t w = {s, notation, notation == CODE || s->by_dictionary, 0};
    while (w.singles < s->entries && s->entry[w.singles].before < 0)
        w.singles++;
    return w;
}

/* ---------------------------------------------------------------------------------------- names */

void symbolic_latex_name(const char *name, FILE *out) {
    const size_t letters = strcspn(name, "0123456789_");
    if (letters <= 3 && strspn(name + letters, "0123456789") == strlen(name + letters))
        fprintf(out, name[1] ? "%c_{%s}" : "%c%s", name[0], name + 1);
    else {
        fputs("\\mathrm{", out);
        for (; *name; name++)
            fprintf(out, *name == '_' ? "\\%c" : "%c", *name);
        fputc('}', out);
    }
}

static void write_name(const writer_t *w, const char *name, FILE *out) {
    if (w->notation == LATEX)
        symbolic_latex_name(name, out);
    else
        fprintf(out, w->notation == CODE ? "p->%s" : "%s", name);
}

void symbolic_write_angle(const writer_t *w, const symbolic_angle_t *a, FILE *out) {
    bool first = true;
    if (a->named >= 0) {
        write_name(w, w->s->alpha_name[a->named], out);
        return;
    }
    for (uint32_t i = 0; i < w->s->closed->n; i++)
        if (a->joints >> i & 1) {
            const char *plus = first ? "" : " + ";
            if (w->notation == CODE)
                fprintf(out, "%sq[%u]", plus, (unsigned)i);
            else
                fprintf(out, w->notation == LATEX ? "%sq_{%u}" : "%sq%u", plus, (unsigned)i + 1);
            first = false;
        }
    if (a->offset != 0)
        fprintf(out, " %c %.*g", a->offset < 0 ? '-' : '+', w->notation == CODE ? 17 : w->s->digits,
                fabs(a->offset));
}

/* c23 is the cosine of q2 + q3; with joint numbers of two digits c2_3, and c2_to_13. */
static void short_angle(const writer_t *w, const symbolic_angle_t *a, char *out, size_t size) {
    const bool wide = w->s->closed->n > 9;
    uint32_t first = 0, last = 0, count = 0;
    char joints[64] = "";
    for (uint32_t i = 0; i < w->s->closed->n; i++)
        if (a->joints >> i & 1) {
            first = count++ ? first : i + 1;
            last = i + 1;
            const size_t used = strlen(joints);
            if (used + 4 < sizeof joints)
                snprintf(joints + used, sizeof joints - used,
                         wide && used ? (w->notation == LATEX ? ",%u" : "_%u") : "%u",
                         (unsigned)(i + 1));
        }
    if (wide && count > 2)
        snprintf(out, size, w->notation == LATEX ? "%u \\ldots %u" : "%u_to_%u", (unsigned)first,
                 (unsigned)last);
    else
        snprintf(out, size, "%s", joints);
    if (a->offset != 0)
        snprintf(out + strlen(out), size - strlen(out), "o");
}

void symbolic_write_variable(const writer_t *w, int variable, FILE *out) {
    char angle[80];
    if (variable < POLY_ANGLE) {
        fprintf(out,
                w->notation == LATEX  ? "q_{%d}"
                : w->notation == CODE ? "q[%d]"
                                      : "q%d",
                variable - POLY_POSITION + (w->notation != CODE));
        return;
    }
    const symbolic_angle_t a = symbolic_angle(w->s, variable);
    if (w->s->words && w->notation != CODE && a.named < 0) {
        const bool sum = (a.joints & (a.joints - 1)) || a.offset != 0;
        fprintf(out, "%s%s%s", w->notation == LATEX ? "\\" : "", a.sine ? "sin" : "cos",
                sum ? "(" : " ");
        symbolic_write_angle(w, &a, out);
        fputs(sum ? ")" : "", out);
        return;
    }
    if (a.named >= 0) { /* c_beta */
        fprintf(out, w->notation == LATEX ? "%c_{" : "%c_", a.sine ? 's' : 'c');
        if (w->notation == LATEX)
            symbolic_latex_name(w->s->alpha_name[a.named], out);
        fputs(w->notation == LATEX ? "}" : w->s->alpha_name[a.named], out);
        return;
    }
    short_angle(w, &a, angle, sizeof angle);
    fprintf(out, w->notation == LATEX ? "%c_{%s}" : "%c%s", a.sine ? 's' : 'c', angle);
}

static const char *times(const writer_t *w) {
    return w->notation == CODE ? " * " : w->notation == LATEX ? "\\," : " ";
}

static void write_power(const writer_t *w, int exponent, FILE *out) {
    if (exponent > 1)
        fprintf(out, w->notation == LATEX ? "^{%d}" : "^%d", exponent);
}

/* Writes the factors of a monomial from `from` to before `to` (numbers of variables). */
static bool write_factors(const writer_t *w, int32_t monomial, int from, int to, bool first,
                          FILE *out) {
    int count;
    const poly_factor_t *factor = poly_factors(w->s->closed->d, monomial, &count);
    for (int i = 0; i < count; i++) {
        const int variable = factor[i] / POLY_EXPONENT, exponent = factor[i] % POLY_EXPONENT;
        if (variable < from || variable >= to)
            continue;
        for (int k = 0; k < (w->notation == CODE ? exponent : 1); k++) {
            fputs(first ? "" : times(w), out);
            first = false;
            if (variable >= POLY_PARAMETERS)
                symbolic_write_variable(w, variable, out);
            else
                for (int p = 0; p < w->s->parameters; p++)
                    if (symbolic_variable(&w->s->parameter[p]) == variable)
                        write_name(w, w->s->parameter[p].name, out);
        }
        if (w->notation != CODE)
            write_power(w, exponent, out);
    }
    return first;
}

/* -------------------------------------------------------------------------------------- formulas */

static int sign_of(const symbolic_t *s, int32_t monomial) {
    int count, sign = 1;
    const poly_factor_t *factor = poly_factors(s->closed->d, monomial, &count);
    for (int i = 0; i < count; i++)
        if (factor[i] / POLY_EXPONENT >= POLY_ANGLE && factor[i] % POLY_EXPONENT % 2)
            sign *= symbolic_angle(s, factor[i] / POLY_EXPONENT).sign;
    return sign;
}

static void write_number(const writer_t *w, double value, FILE *out) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", w->notation == CODE ? 17 : w->s->digits, value);
    const char *e = strchr(text, 'e');
    if (w->notation == LATEX && e)
        fprintf(out, "%.*s \\cdot 10^{%d}", (int)(e - text), text, atoi(e + 1));
    else
        fprintf(out, "%s%s", text, w->notation == CODE && !strpbrk(text, ".e") ? ".0" : "");
}

/* Writes one part of a coefficient, without its sign. Returns true if nothing was written. */
static bool write_part(const writer_t *w, const symbolic_part_t *part, bool alone, FILE *out) {
    const double k = fabs(part->k);
    int count;
    const poly_factor_t *factor = poly_factors(w->s->closed->d, part->monomial, &count);
    const bool names = count > 0 && factor[0] / POLY_EXPONENT < POLY_PARAMETERS;
    const bool number = k != 1 || (alone && !names);
    if (number)
        write_number(w, k, out);
    return write_factors(w, part->monomial, 0, POLY_PARAMETERS, !number, out);
}

/* Writes the product of an entry: from the dictionary, or written out. */
static void write_product(const writer_t *w, int32_t entry, bool first, FILE *out) {
    if (!w->by_dictionary || entry < w->singles) {
        write_factors(w, w->s->entry[entry].monomial, POLY_PARAMETERS, POLY_VARIABLES, first, out);
        return;
    }
    fprintf(out, w->notation == LATEX ? "%so_{%d}" : "%so%d", first ? "" : times(w),
            entry - w->singles + 1);
}

/* Writes one term without its sign and returns the sign: 1 or -1. */
static int write_term(const writer_t *w, const symbolic_sum_t *sum, int32_t k, FILE *out) {
    const symbolic_term_t *t = &sum->term[k];
    const symbolic_part_t *part = &sum->part[t->first];
    const int turned = t->entry >= 0 ? sign_of(w->s, w->s->entry[t->entry].monomial) : 1;
    int sign = part->k < 0 ? -1 : 1;
    bool first;
    if (t->parts == 1)
        first = write_part(w, part, t->entry < 0, out);
    else {
        first = false;
        fputs(t->entry >= 0 ? "(" : "", out);
        for (int32_t i = 0; i < t->parts; i++) {
            if (i > 0)
                /* in brackets relative to the sign before them */
                fprintf(out, " %c ", part[i].k * (t->entry >= 0 ? sign : 1) < 0 ? '-' : '+');
            (void)write_part(w, &part[i], true, out);
        }
        fputs(t->entry >= 0 ? ")" : "", out);
    }
    if (t->entry >= 0)
        write_product(w, t->entry, first, out);
    return sign * turned;
}

/* Writes a formula, in lines of at most WIDTH characters that end before a plus or minus. */
static void write_wrapped(const char *indent, const char *next, const char *text, FILE *out) {
    size_t column = strlen(indent);
    fputs(indent, out);
    while (*text) {
        size_t size = 1;
        while (text[size] && !(text[size] == ' ' && strchr("+-", text[size + 1]) &&
                               text[size + 1] && text[size + 2] == ' '))
            size++;
        if (*text == ' ' && column + size > WIDTH) {
            fputs(next, out);
            column = strlen(next);
        }
        fwrite(text, 1, size, out);
        column += size;
        text += size;
    }
}

static void write_sum(const writer_t *w, const char *indent, const char *name, const poly_t *p,
                      const char *end, FILE *out) {
    symbolic_sum_t sum = symbolic_sum(w->s, p);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = graph_must(open_memstream(&text, &size));
    fprintf(stream, w->notation == LATEX ? "%s &=%s" : "%s =%s", name,
            sum.terms > 0         ? ""
            : w->notation == CODE ? " 0.0"
                                  : " 0");
    for (int32_t k = 0; k < sum.terms; k++) {
        char *term = NULL;
        FILE *inner = graph_must(open_memstream(&term, &size));
        const int sign = write_term(w, &sum, k, inner);
        (void)graph_must(fclose(inner) == 0 ? term : NULL);
        fprintf(stream, " %s%s", sign < 0 ? (k > 0 ? "- " : "-") : k > 0 ? "+ " : "", term);
        free(term);
    }
    (void)graph_must(fclose(stream) == 0 ? text : NULL);
    static const char *const next[] = {"\n       ", " \\\\\n&\\quad", "\n        "};
    write_wrapped(indent, next[w->notation], text, out);
    fputs(end, out);
    free(text);
    symbolic_sum_free(&sum);
}

static void element_name(const writer_t *w, uint32_t i, uint32_t j, char out[24]) {
    if (w->notation == LATEX)
        snprintf(out, 24, w->s->closed->n > 9 ? "H_{%u,%u}" : "H_{%u%u}", (unsigned)i + 1,
                 (unsigned)j + 1);
    else if (w->notation == CODE)
        snprintf(out, 24, "H[%u]", (unsigned)(j * (j + 1) / 2 + i));
    else
        snprintf(out, 24, w->s->closed->n > 9 ? "H%u,%u" : "H%u%u", (unsigned)i + 1,
                 (unsigned)j + 1);
}

void symbolic_write_all(const writer_t *w, const char *indent, const char *end, FILE *out) {
    const closed_t *c = w->s->closed;
    char name[24];
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t j = i; j < c->n; j++) {
            element_name(w, i, j, name);
            write_sum(w, indent, name, &c->H[j * (j + 1) / 2 + i], end, out);
        }
    for (uint32_t i = 0; i < c->n && symbolic_gravity(w->s); i++) {
        snprintf(name, sizeof name,
                 w->notation == CODE    ? "G[%u]"
                 : w->notation == LATEX ? "G_{%u}"
                                        : "G%u",
                 (unsigned)i + (w->notation != CODE));
        fputs(i == 0 ? "\n" : "", out);
        write_sum(w, indent, name, &c->G[i], end, out);
    }
}

void symbolic_write_entry(const writer_t *w, int32_t i, const char *begin, const char *end,
                          FILE *out) {
    const symbolic_entry_t *e = &w->s->entry[i];
    fprintf(out, w->notation == LATEX ? "%so_{%d} = " : "%so%d = ", begin, i - w->singles + 1);
    write_product(w, e->before, true, out);
    fputs(times(w), out);
    symbolic_write_variable(w, e->variable, out);
    fputs(end, out);
}
