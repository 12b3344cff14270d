/*
 * Shared by the files of the C printer: print.c writes the header and the source, print_text.c
 * their comments, print_fixed.c the scaling of fixed point, print_code.c the functions,
 * print_name.c names their variables, print_selftest.c writes the self-test.
 */
#ifndef TOOLS_GEN_PRINT_H
#define TOOLS_GEN_PRINT_H

#include <stdio.h>

#include "tools/gen/gen.h"

enum { PRINT_VAR = 24 };

/* State of the printer while it writes one kernel. */
typedef struct {
    const gen_t *gen;
    const gen_print_t *how;
    FILE *out;
    const graph_t *g;
    const fixed_t *fixed;
    char (*var)[PRINT_VAR];
    bool *inlined;
    int32_t *uses;
} printer_t;

/* Returns the C type of a number. */
const char *print_type(const gen_print_t *how);
void print_real(FILE *out, gen_real_t real, double value);
/* Writes text from a robot file into a C comment. The text can neither end the comment nor begin
 * another one. */
void print_comment(const char *text, FILE *out);
void print_upper(const char *text, FILE *out);

/* Implemented in print_text.c: the comment on top of a file and the meaning of names. print_wrapped
 * writes a paragraph in lines of at most 100 characters; `first` begins the first line and `rest`
 * the others. */
void print_wrapped(FILE *out, const char *first, const char *rest, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void print_top(const gen_t *gen, const gen_print_t *how, FILE *out);
void print_legend(const gen_t *gen, const gen_print_t *how, FILE *out);
/* Writes a paragraph of a comment. */
#define PARAGRAPH(out, ...) print_wrapped(out, " *", " *", __VA_ARGS__)

/* Implemented in print_fixed.c: scales, bounds and errors of fixed point, and an example. */
void print_scaling(const gen_t *gen, const gen_print_t *how, FILE *out);

/* Implemented in print_code.c: writes one kernel. */
void print_signature(const gen_t *gen, const gen_print_t *how, gen_kernel_t k, FILE *out);
void print_function(const gen_t *gen, const gen_print_t *how, gen_kernel_t kernel, FILE *out);

/* Implemented in print_name.c: chooses a variable name for each of the `count` nodes in `order`. */
void print_name_nodes(printer_t *p, const gen_names_t *names, const int32_t *order, int32_t count);

/* Implemented in print_selftest.c: writes the self-test. */
void print_selftest(const gen_t *gen, const gen_print_t *how, FILE *out);

#endif
