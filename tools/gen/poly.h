/*
 * Polynomials in the sines and cosines of joint angles, in the positions of prismatic joints and in
 * named parameters, in a normal form: two polynomials of degree two at most in the angles of a group
 * of parallel axes, as all results are, have the same terms if they are equal for every state. A
 * monomial exists once, in a dictionary, and a term is a coefficient and the number of its
 * monomial.
 *
 * Angles are sums over a range of joints with parallel axes, q_a + ... + q_b. Products of two angles
 * of one group (ranges that begin at the same joint, a the shorter one) are written as
 *
 *     sin a sin b = cos(b - a) - cos a cos b,        sin a cos b = cos a sin b - sin(b - a),
 *
 * which for a = b is sin^2 = 1 - cos^2. poly_full is true once something did not fit, and every
 * result after that is meaningless. Where there is no memory the program
 * ends with a message.
 */
#ifndef TOOLS_GEN_POLY_H
#define TOOLS_GEN_POLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"

/* Variables are numbers: parameters, then positions, then cosine and sine of each angle. */
enum {
    POLY_PARAMETERS = 1024, /* most parameters */
    POLY_POSITION = POLY_PARAMETERS,
    POLY_ANGLE = POLY_POSITION + DYN_MAX_JOINTS,
    /* angles that are sums over a range of joints; behind them, those of named constant angles */
    POLY_RANGES = DYN_MAX_JOINTS * DYN_MAX_JOINTS,
    POLY_NAMED_ANGLES = DYN_MAX_JOINTS,
    POLY_VARIABLES = POLY_ANGLE + 2 * (POLY_RANGES + POLY_NAMED_ANGLES)
};

/* A factor of a monomial is POLY_EXPONENT variable + exponent. A product in H or G has at most two
 * factors of each joint's angle, two of each angle with a name, two positions and three parameters;
 * the exponent of an angle that all joints share is at most 2 n. */
typedef int32_t poly_factor_t;
enum { POLY_TERMS = 8, POLY_EXPONENT = 256, POLY_FACTORS = 4 * DYN_MAX_JOINTS + 16 };

typedef struct {
    int32_t monomial;
    double k;
    double size; /* sum of the magnitudes that went into k: what rounding is relative to */
} poly_term_t;

typedef struct poly_dictionary poly_dictionary_t;

typedef struct {
    poly_term_t *term;
    int32_t count, room;
    poly_dictionary_t *d; /* that counts the room; set with the first term */
} poly_t;

/* `most` limits the monomials of the dictionary and the terms of one polynomial; all polynomials
 * together have room for at most POLY_TERMS times as many terms. */
poly_dictionary_t *poly_new(int32_t most);
void poly_delete(poly_dictionary_t *d);
bool poly_full(const poly_dictionary_t *d);
int32_t poly_monomials(const poly_dictionary_t *d);
/* Returns the factors of a monomial in ascending order. Monomial 0 is 1 and has none. */
const poly_factor_t *poly_factors(const poly_dictionary_t *d, int32_t monomial, int *count);
/* Returns the monomial that is a product of some of the factors of another one, or -1 if no
 * polynomial needed it yet and it does not fit. */
int32_t poly_monomial(poly_dictionary_t *d, const poly_factor_t *factor, int count);

/* Variable of the cosine of q_first + ... + q_last; the sine is the next one. */
static inline int poly_cosine(uint32_t first, uint32_t last) {
    return POLY_ANGLE + 2 * (int)(first * DYN_MAX_JOINTS + last);
}

void poly_free(poly_t *p);
/* Each adds to `sum`: k, k x, k a and k a b. After additions, poly_gather makes the normal form. */
void poly_add_number(poly_dictionary_t *d, poly_t *sum, double k);
void poly_add_variable(poly_dictionary_t *d, poly_t *sum, double k, int variable);
void poly_add(poly_dictionary_t *d, poly_t *sum, double k, const poly_t *a);
void poly_add_product(poly_dictionary_t *d, poly_t *sum, double k, const poly_t *a,
                      const poly_t *b);
/* Combines equal monomials, drops what cancels except for rounding, and sorts by the monomials'
 * numbers. */
void poly_gather(poly_t *p);
/* value has POLY_VARIABLES elements. */
double poly_value(const poly_dictionary_t *d, const poly_t *p, const double *value);

#endif
