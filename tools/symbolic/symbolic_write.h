/*
 * Private to the printer of formulas: symbolic_write.c writes their parts in each notation,
 * symbolic_print.c whole files.
 */
#ifndef TOOLS_SYMBOLIC_SYMBOLIC_WRITE_H
#define TOOLS_SYMBOLIC_SYMBOLIC_WRITE_H

#include <stdio.h>

#include "tools/symbolic/symbolic.h"

typedef enum { TEXT, LATEX, CODE } notation_t;

typedef struct {
    const symbolic_t *s;
    notation_t notation;
    bool by_dictionary;
    int singles; /* entries of the dictionary that are one factor alone */
} writer_t;

writer_t symbolic_writer(const symbolic_t *s, notation_t notation);
/* A name with its index below: m_{1}, I_{xx3}. */
void symbolic_latex_name(const char *name, FILE *out);
/* The angle as a sum: q2 + q3. */
void symbolic_write_angle(const writer_t *w, const symbolic_angle_t *a, FILE *out);
/* Writes a sine, a cosine or a position without its sign. */
void symbolic_write_variable(const writer_t *w, int variable, FILE *out);
/* Writes every element of H and G as a sum, each between `indent` and `end`. */
void symbolic_write_all(const writer_t *w, const char *indent, const char *end, FILE *out);
/* Writes entry i of the dictionary as the product that it is. */
void symbolic_write_entry(const writer_t *w, int32_t i, const char *begin, const char *end,
                          FILE *out);

#endif
