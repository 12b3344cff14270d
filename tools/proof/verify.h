/*
 * The proof of q31 against states: random ones and corners of the limits through the checked
 * variant of q31 (tools/proof/check.h), held against the bounds and against double precision. It
 * proves nothing; it would find a mistake in the proof.
 */
#ifndef TOOLS_PROOF_VERIFY_H
#define TOOLS_PROOF_VERIFY_H

#include "tools/proof/range.h"

/* X(NAME, "name as in the report") */
#define VERIFY_TABLE(X)                                                                            \
    X(ID, "id")                                                                                    \
    X(BIAS, "bias")                                                                                \
    X(GRAVITY, "gravity")                                                                          \
    X(MASS, "mass")

typedef enum {
#define X(name, text) VERIFY_##name,
    VERIFY_TABLE(X)
#undef X
        VERIFY_COUNT
} verify_problem_t;

const char *verify_name(verify_problem_t problem);

/*
 * One joint, SI; for mass the elements of its column, in the unit of the one on the diagonal (where
 * one joint is revolute and the other prismatic, with the unit of length of q31 for a metre).
 */
typedef struct {
    double largest; /* exact value seen */
    double error;   /* worst seen */
    double allowed; /* guaranteed */
} verify_joint_t;

typedef struct {
    long states, overflows;
    long outside; /* named intermediates beyond their bounds */
    long above;   /* joints with an error above the guaranteed one */
    verify_joint_t joint[VERIFY_COUNT][DYN_MAX_JOINTS];
    double seen[RANGE_ENTRIES]; /* largest component of an entry of the report, its units */
    double loosest_bits;        /* how far the loosest bound is above the largest value seen ... */
    uint32_t loosest;           /* ... and which entry that is */
} verify_t;

/* With the report of range_all for these units. 0, or the status of dyn_prepare. */
int verify_states(const dyn_model_t *model, const dyn_units_t *units, const range_report_t *report,
                  long states, uint64_t seed, verify_t *out);

/* Whether anything contradicts the proof. */
bool verify_holds(const verify_t *result);

#endif
