/*
 * Tests the proof of q31 with random states and corners of the limits: runs them through the
 * checked variant of q31 (tools/proof/check.h) and compares with the bounds and with double
 * precision. It proves nothing; it would find a mistake in the proof.
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
 * One joint, SI. For mass: the elements of its column, in the unit of the diagonal element (if one
 * joint is revolute and the other prismatic, q31's unit of length stands for a metre).
 */
typedef struct {
    double largest; /* largest exact value */
    double error;   /* largest error */
    double allowed; /* guaranteed error */
} verify_joint_t;

typedef struct {
    long states, overflows;
    long outside; /* named intermediates beyond their bounds */
    long above;   /* joints with an error above the guaranteed error */
    verify_joint_t joint[VERIFY_COUNT][DYN_MAX_JOINTS];
    double seen[RANGE_ENTRIES]; /* largest component of each entry of the report, in its units */
    double loosest_bits;        /* how many bits the loosest bound is above the largest value ... */
    uint32_t loosest;           /* ... and the index of that entry */
} verify_t;

/* report: of range_all for these units. Returns 0, or the status of dyn_prepare. */
int verify_states(const dyn_model_t *model, const dyn_units_t *units, const range_report_t *report,
                  long states, uint64_t seed, verify_t *out);

/* False if anything contradicts the proof. */
bool verify_holds(const verify_t *result);

#endif
