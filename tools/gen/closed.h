/*
 * Inertia matrix and gravity torques of an arm in closed form, as polynomials in the sines and
 * cosines of its angles (tools/gen/poly.h): the method of Bansevicius et al. (2005), after Uicker
 * and Kahn,
 *
 *     H_ij = sum over k >= max(i, j) of trace(dW_k/dq_i P_k dW_k^T/dq_j)          (2), corrected
 *
 * with W_k the 4 x 4 pose of link k and P_k its 4 x 4 mass distribution
 * (dyn/model/pseudo_inertia.h). The lengths, masses and inertias are polynomials, too: numbers, or
 * names of parameters.
 *
 * For i <= j, dW_k/dq_i is W_i Q_i W_i^-1 W_k, where Q_i is constant. So the sum over the links is
 * taken inside the trace, W_i drops out of it, and nothing is multiplied out that cancels later:
 *
 *     H_ij = trace(Q_i E),  E = W_ij C_j Q_j^T R_ij^T,  C_j = sum over k >= j of W_jk P_k W_jk^T
 *
 * where W_ij is the pose of link j in the frame of link i, R_ij its rotation, and C_j the mass
 * distribution of everything beyond joint j. The gravity torque is -g^T Q_i C_i (0, 0, 0, 1)^T.
 */
#ifndef TOOLS_GEN_CLOSED_H
#define TOOLS_GEN_CLOSED_H

#include "tools/gen/form.h"
#include "tools/gen/poly.h"

enum { CLOSED_P = 10 }; /* upper triangle of a symmetric 4 x 4 matrix, row by row */

/* A joint and its link in proximal DH, with the meaning of gen_joint_t. */
typedef struct {
    bool prismatic;
    bool starts; /* first of a group of parallel axes */
    bool still;  /* the angle of this joint does not matter, because its link is round */
    poly_t ca, sa, a, rise, d;
    double theta;
    poly_t P[CLOSED_P];
    poly_t rotor;
} closed_joint_t;

/* Called from time to time with the joints done. */
typedef void closed_progress_t(void *context, uint32_t done, uint32_t of, int32_t monomials);

typedef struct {
    uint32_t n;
    poly_dictionary_t *d;
    closed_joint_t joint[DYN_MAX_JOINTS];
    poly_t gravity[3];
    poly_t H[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2]; /* H_ij at i (i + 1) / 2 + j, j <= i */
    poly_t G[DYN_MAX_JOINTS];
    closed_progress_t *progress; /* may be NULL */
    void *context;
} closed_t;

/* Makes an arm without joints' data; the caller fills them in. */
closed_t *closed_new(uint32_t n, int32_t most_monomials);
/* Makes the arm with numbers for all parameters. */
closed_t *closed_from_arm(const gen_arm_t *arm, int32_t most_monomials);
void closed_free(closed_t *c);

/* Where the entry at row r and column s of a symmetric 4 x 4 matrix is stored. */
int closed_at(int r, int s);

/* Derives H, and G if there is gravity. Returns false if the polynomials are too large. */
bool closed_derive(closed_t *c);

/* The angle q_first + ... + q_last as sum of its offsets, and the joints that turn in it. */
double closed_offset(const closed_t *c, uint32_t first, uint32_t last);
uint32_t closed_turning(const closed_t *c, uint32_t first, uint32_t last);
/* Computes the variables of the angles and positions at q; `value` has POLY_VARIABLES elements. */
void closed_state(const closed_t *c, const double *q, double *value);

/* Makes the graph of H: the dictionary of monomials, and sums over it. */
graph_t *closed_graph(const closed_t *c);

#endif
