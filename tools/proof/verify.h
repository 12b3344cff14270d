/*
 * Tests the proof of q31: runs random states and corners of the limits through the checked variant
 * of q31 (tools/proof/check.h) and compares the results with the bounds and with double precision.
 * The test proves nothing by itself; it would find a mistake in the proof.
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
 * Results for one joint in SI units. For the inertia matrix: results for the elements in the
 * joint's column, in the unit of the diagonal element (if one of the two joints is revolute and the
 * other prismatic, q31's unit of length takes the place of the metre).
 */
typedef struct {
    double largest; /* largest exact value */
    double error;   /* largest error */
    double allowed; /* guaranteed error */
} verify_joint_t;

typedef struct {
    long states, overflows;
    long outside; /* components of named intermediates above their bounds, once per block */
    long above;   /* joints, in all problems, with an error above the guaranteed error */
    verify_joint_t joint[VERIFY_COUNT][DYN_MAX_JOINTS];
    /* largest component seen for each entry of the report, in the entry's units */
    double seen[RANGE_ENTRIES];
    /* number of bits by which the loosest bound exceeds the largest value seen */
    double loosest_bits;
    uint32_t loosest; /* index of the entry with the loosest bound */
} verify_t;

/* Told before every block of states; may be NULL. */
typedef void (*verify_progress_t)(uint64_t done, uint64_t all);

/* Runs `states` states of the arm and compares them with `report`, which range_run must have made
 * with range_all in the same units. Returns 0, or the status of dyn_prepare. */
int verify_states(const dyn_model_t *model, const dyn_units_t *units, const range_report_t *report,
                  long states, uint64_t seed, verify_progress_t progress, verify_t *out);

/* False if anything contradicts the proof. */
bool verify_holds(const verify_t *result);

#endif
