/*
 * The inertia matrix and the gravity torques of an arm as formulas that a person can read: the
 * closed form of tools/gen/closed.h with numbers or with names of parameters, its dictionary of
 * monomials, and its printers (text, Markdown with LaTeX, C).
 */
#ifndef TOOLS_SYMBOLIC_SYMBOLIC_H
#define TOOLS_SYMBOLIC_SYMBOLIC_H

#include <stdio.h>

#include "dyn/model/convert.h"
#include "tools/gen/closed.h"

/* The numbers of a joint and its link that can have a name. */
typedef enum {
    SYMBOLIC_D,
    SYMBOLIC_A,
    SYMBOLIC_ALPHA,
    SYMBOLIC_MASS,
    SYMBOLIC_COM,                          /* x y z */
    SYMBOLIC_INERTIA = SYMBOLIC_COM + 3,   /* xx yy zz xy yz xz */
    SYMBOLIC_ROTOR = SYMBOLIC_INERTIA + 6, /* at the joint: times the gear squared */
    SYMBOLIC_KINDS
} symbolic_kind_t;

enum { SYMBOLIC_NAME = 24, SYMBOLIC_MOST = DYN_MAX_JOINTS * SYMBOLIC_KINDS + 16 };

/* Names of numbers by joint and kind; an empty name gets the usual one, such as m2. The last is
 * that of the payload. */
extern const char *const symbolic_usual[SYMBOLIC_KINDS]; /* without the number of the joint */
typedef char symbolic_names_t[DYN_MAX_JOINTS + 1][SYMBOLIC_KINDS][SYMBOLIC_NAME];

typedef struct {
    char name[SYMBOLIC_NAME];
    symbolic_kind_t kind;
    uint32_t joint; /* n: the payload; above that: gravity */
    double value;
    bool given; /* by the file, in place of a number: the value is only one for the check */
    bool used;  /* in a result */
} symbolic_parameter_t;

/* An element of the dictionary: an earlier element times a factor. */
typedef struct {
    int32_t monomial;
    int32_t before; /* index of that element; -1: a factor alone */
    int variable;
    bool matrix; /* the inertia matrix needs it */
} symbolic_entry_t;

typedef struct {
    const char *robot; /* name */
    closed_t *closed;
    bool named; /* parameters have names */
    int parameters;
    symbolic_parameter_t parameter[SYMBOLIC_MOST];
    double alpha[DYN_MAX_JOINTS]; /* named constant angles */
    char alpha_name[DYN_MAX_JOINTS][SYMBOLIC_NAME];
    /* Products of sines, cosines and positions that the results need, shorter ones first. */
    int32_t entries;
    symbolic_entry_t *entry;
    bool words; /* cos q3 is written instead of c3: up to 9 joints, and no product of two of them */
    int digits; /* of the numbers in text and Markdown */
    bool by_dictionary; /* text: sums over the dictionary instead of products */
    /* Multiplications of the dictionary, of the coefficients with its entries, and additions: of
     * the inertia matrix alone, and of matrix and gravity. */
    struct {
        long dictionary, mul, add;
    } matrix, all;
    /* Of symbolic_check: random states, and the largest difference to the kernels, relative to the
     * largest element of H and to what the weights can exert at most. */
    int states;
    double worst_H, worst_G;
} symbolic_t;

/* Makes the formulas with numbers. Returns NULL if they have more than `most` monomials. */
symbolic_t *symbolic_numbers(const dyn_model_t *model, int32_t most, closed_progress_t *progress);
/* Makes the formulas with names. The source is in the convention DH or MDH. */
symbolic_t *symbolic_named(const dyn_source_t *source, symbolic_names_t names, int32_t most,
                           closed_progress_t *progress);
void symbolic_free(symbolic_t *s);

/* Fills in s->closed and the parameters; implemented in symbolic_arm.c, as is the next. */
closed_t *symbolic_arm(symbolic_t *s, const dyn_source_t *source, symbolic_names_t names,
                       int32_t most);
/* Returns the variable of a parameter in the polynomials; of an angle its cosine. */
int symbolic_variable(const symbolic_parameter_t *p);

/* Computes H (packed, as in closed_t) and G at q. */
void symbolic_value(const symbolic_t *s, const double *q, double *H, double *G);
bool symbolic_gravity(const symbolic_t *s);

/* Compares with the kernels of dyn/ at random states. Returns true if they agree to `most`. */
bool symbolic_check(symbolic_t *s, const dyn_model_t *model, double most);

/* A term that is shown: all terms of a polynomial with the same product of sines, cosines and
 * positions. Its coefficient is the sum over parts: a number times names of parameters. */
typedef struct {
    int32_t entry; /* of the dictionary; -1: the product is 1 */
    int32_t first, parts;
} symbolic_term_t;

typedef struct {
    double k;
    int32_t monomial; /* its factors that are parameters */
} symbolic_part_t;

typedef struct {
    symbolic_term_t *term;
    symbolic_part_t *part;
    int32_t terms;
} symbolic_sum_t;

/* Sorts the terms of a result: constant first, then short products before long ones. */
symbolic_sum_t symbolic_sum(const symbolic_t *s, const poly_t *p);
void symbolic_sum_free(symbolic_sum_t *sum);

/* A sine or cosine as it is written: quarter turns in its offset are taken out. */
typedef struct {
    int sign;
    bool sine;
    uint32_t joints; /* bits; 0: a named constant angle */
    int named;       /* index of the named angle */
    double offset;
} symbolic_angle_t;
symbolic_angle_t symbolic_angle(const symbolic_t *s, int variable);

void symbolic_text(const symbolic_t *s, FILE *out);
void symbolic_markdown(const symbolic_t *s, FILE *out);
void symbolic_c(const symbolic_t *s, const char *prefix, const char *command, FILE *out);

#endif
