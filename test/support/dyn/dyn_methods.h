/*
 * Every method of every problem, as tables: a new kernel is one row here, and every test that runs
 * over a table has it. A template without an include guard, like dyn/number/arm.inc: one instance
 * for each number backend in a program.
 *
 *     #define DYN_REAL f64
 *     #include "test/support/dyn/dyn_methods.h"
 *     #undef DYN_REAL
 *
 * gives the type dyn_methods_scratch_f64_t, memory for any one kernel, and the tables
 * dyn_inverses_f64, dyn_biases_f64, dyn_gravities_f64, dyn_masses_f64, dyn_corioles_f64 and
 * dyn_forwards_f64 with a name and a function each, ended by a row without a name.
 */
#ifndef TEST_DYN_METHODS_ROWS
#define TEST_DYN_METHODS_ROWS
/* X(method, scratch of its kernel) */
#define DYN_ROWS_INVERSE(X)                                                                        \
    X(ne, ne_scratch)                                                                              \
    X(ga, ga_scratch)                                                                              \
    X(denoc, denoc_scratch)                                                                        \
    X(fast, fast_scratch)
#define DYN_ROWS_BIAS(X)                                                                           \
    X(ne, ne_scratch)                                                                              \
    X(ga, ga_scratch)                                                                              \
    X(denoc, denoc_scratch)                                                                        \
    X(fast, fast_scratch)
#define DYN_ROWS_GRAVITY(X)                                                                        \
    X(denoc, denoc_scratch)                                                                        \
    X(fast, fast_scratch)
#define DYN_ROWS_MASS(X)                                                                           \
    X(wo1, wo1_scratch)                                                                            \
    X(crba, crba_scratch)                                                                          \
    X(ga, ga_scratch)                                                                              \
    X(denoc, denoc_mass_scratch)                                                                   \
    X(fast, fast_scratch)
#define DYN_ROWS_CORIOLIS(X) X(denoc, denoc_coriolis_scratch)
#define DYN_ROWS_FORWARD(X)                                                                        \
    X(crba, crba_forward_scratch)                                                                  \
    X(ga, ga_forward_scratch)                                                                      \
    X(aba, aba_scratch)                                                                            \
    X(denoc, denoc_forward_scratch)                                                                \
    X(fast, fast_forward_scratch)
#endif

#define MEMBER_INVERSE(m, s)  DYN_T(s) m##_inverse;
#define MEMBER_BIAS(m, s)     DYN_T(s) m##_bias;
#define MEMBER_GRAVITY(m, s)  DYN_T(s) m##_gravity;
#define MEMBER_MASS(m, s)     DYN_T(s) m##_mass;
#define MEMBER_CORIOLIS(m, s) DYN_T(s) m##_coriolis;
#define MEMBER_FORWARD(m, s)  DYN_T(s) m##_forward;

typedef union {
    DYN_ROWS_INVERSE(MEMBER_INVERSE)
    DYN_ROWS_BIAS(MEMBER_BIAS)
    DYN_ROWS_GRAVITY(MEMBER_GRAVITY)
    DYN_ROWS_MASS(MEMBER_MASS)
    DYN_ROWS_CORIOLIS(MEMBER_CORIOLIS)
    DYN_ROWS_FORWARD(MEMBER_FORWARD)
} DYN_T(methods_scratch);

typedef struct {
    const char *name;
    void (*run)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch, const DYN_T(real) q[],
                const DYN_T(real) qd[], const DYN_T(real) qdd[], DYN_T(real) tau[]);
} DYN_T(inverse_row);

/* Bias: n torques; Coriolis: n x n. */
typedef struct {
    const char *name;
    void (*run)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch, const DYN_T(real) q[],
                const DYN_T(real) qd[], DYN_T(real) out[]);
} DYN_T(bias_row);

/* Gravity: n torques; mass: the packed triangle. */
typedef struct {
    const char *name;
    void (*run)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch, const DYN_T(real) q[],
                DYN_T(real) out[]);
} DYN_T(mass_row);

typedef struct {
    const char *name;
    int (*run)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch, const DYN_T(real) q[],
               const DYN_T(real) qd[], const DYN_T(real) tau[], DYN_T(real) qdd[]);
} DYN_T(forward_row);

#define WRAP_INVERSE(m, s)                                                                         \
    static void DYN(m##_inverse_row)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch,       \
                                     const DYN_T(real) q[], const DYN_T(real) qd[],                \
                                     const DYN_T(real) qdd[], DYN_T(real) tau[]) {                 \
        DYN(m##_inverse)(arm, &scratch->m##_inverse, q, qd, qdd, tau);                             \
    }
#define WRAP_BIAS(m, s)                                                                            \
    static void DYN(m##_bias_row)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch,          \
                                  const DYN_T(real) q[], const DYN_T(real) qd[],                   \
                                  DYN_T(real) out[]) {                                             \
        DYN(m##_bias)(arm, &scratch->m##_bias, q, qd, out);                                        \
    }
#define WRAP_GRAVITY(m, s)                                                                         \
    static void DYN(m##_gravity_row)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch,       \
                                     const DYN_T(real) q[], DYN_T(real) out[]) {                   \
        DYN(m##_gravity)(arm, &scratch->m##_gravity, q, out);                                      \
    }
#define WRAP_MASS(m, s)                                                                            \
    static void DYN(m##_mass_row)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch,          \
                                  const DYN_T(real) q[], DYN_T(real) out[]) {                      \
        DYN(m##_mass)(arm, &scratch->m##_mass, q, out);                                            \
    }
#define WRAP_CORIOLIS(m, s)                                                                        \
    static void DYN(m##_coriolis_row)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch,      \
                                      const DYN_T(real) q[], const DYN_T(real) qd[],               \
                                      DYN_T(real) out[]) {                                         \
        DYN(m##_coriolis)(arm, &scratch->m##_coriolis, q, qd, out);                                \
    }
#define WRAP_FORWARD(m, s)                                                                         \
    static int DYN(m##_forward_row)(const DYN_T(arm) *arm, DYN_T(methods_scratch) *scratch,        \
                                    const DYN_T(real) q[], const DYN_T(real) qd[],                 \
                                    const DYN_T(real) tau[], DYN_T(real) qdd[]) {                  \
        return DYN(m##_forward)(arm, &scratch->m##_forward, q, qd, tau, qdd);                      \
    }

DYN_ROWS_INVERSE(WRAP_INVERSE)
DYN_ROWS_BIAS(WRAP_BIAS)
DYN_ROWS_GRAVITY(WRAP_GRAVITY)
DYN_ROWS_MASS(WRAP_MASS)
DYN_ROWS_CORIOLIS(WRAP_CORIOLIS)
DYN_ROWS_FORWARD(WRAP_FORWARD)

#define ROW_INVERSE(m, s)  {#m, DYN(m##_inverse_row)},
#define ROW_BIAS(m, s)     {#m, DYN(m##_bias_row)},
#define ROW_GRAVITY(m, s)  {#m, DYN(m##_gravity_row)},
#define ROW_MASS(m, s)     {#m, DYN(m##_mass_row)},
#define ROW_CORIOLIS(m, s) {#m, DYN(m##_coriolis_row)},
#define ROW_FORWARD(m, s)  {#m, DYN(m##_forward_row)},

/* A test need not run over all of them. */
#define TABLE static const __attribute__((unused))
TABLE DYN_T(inverse_row) DYN(inverses)[] = {DYN_ROWS_INVERSE(ROW_INVERSE){0}};
TABLE DYN_T(bias_row) DYN(biases)[] = {DYN_ROWS_BIAS(ROW_BIAS){0}};
TABLE DYN_T(mass_row) DYN(gravities)[] = {DYN_ROWS_GRAVITY(ROW_GRAVITY){0}};
TABLE DYN_T(mass_row) DYN(masses)[] = {DYN_ROWS_MASS(ROW_MASS){0}};
TABLE DYN_T(bias_row) DYN(corioles)[] = {DYN_ROWS_CORIOLIS(ROW_CORIOLIS){0}};
TABLE DYN_T(forward_row) DYN(forwards)[] = {DYN_ROWS_FORWARD(ROW_FORWARD){0}};

#undef TABLE
#undef MEMBER_INVERSE
#undef MEMBER_BIAS
#undef MEMBER_GRAVITY
#undef MEMBER_MASS
#undef MEMBER_CORIOLIS
#undef MEMBER_FORWARD
#undef WRAP_INVERSE
#undef WRAP_BIAS
#undef WRAP_GRAVITY
#undef WRAP_MASS
#undef WRAP_CORIOLIS
#undef WRAP_FORWARD
#undef ROW_INVERSE
#undef ROW_BIAS
#undef ROW_GRAVITY
#undef ROW_MASS
#undef ROW_CORIOLIS
#undef ROW_FORWARD
