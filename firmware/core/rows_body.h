/*
 * A row through a kernel, in one number type: converts it to the units of the type, calls the
 * kernel of a method, adds what is beside the rigid links (rotors, friction, wrench) and converts
 * the result back to SI. Without an include guard: firmware/core/rows_<type>.c for the board and
 * tools/appell/eval_<type>.c for the tool define how numbers come in and go out, and include it
 * after the header of the type. REAL_IN, REAL_OUT, ANGLE_IN   between doubles and the type
 *     ROWS_BEGIN, ROWS_OVERFLOWS    overflows of the arithmetic, where it counts them
 *     ROWS_NOW, ROWS_STEPS          the counter for the cost of a kernel, where there is one
 *     ROWS_MORE                     further members of an evaluator
 *     ROWS_GENERATED(e, method)     runs the code that was generated for the arm: a dyn_status_t
 *     ROWS_GENERATED_STATUS         DYN_OK where there is some
 */
#include <string.h>

#include "firmware/core/rows.h"

struct evaluator {
    dyn_units_t units;
    uint8_t prismatic[DYN_MAX_JOINTS];
    dyn_q31_exponents_t exponent[DYN_MAX_JOINTS];
    DYN_T(arm) arm;
    union {
#define X(problem, method, form, kernel, scratch, ...) DYN_T(scratch) problem##_##method;
        METHOD_TABLE(X)
#undef X
    } scratch;
    int wrenched;
    real wrench[6], wrench_back[6];
    real in[3][DYN_MAX_JOINTS];
    union {
        real packed[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2]; /* inertia matrix */
        real out[DYN_MAX_JOINTS * DYN_MAX_JOINTS];              /* everything else */
    };
    uint32_t limited;
    uint32_t cost; /* of the last kernel call */
    ROWS_MORE
};

/* How a kernel of each form is called, s its scratch. Only these know the order of a row. */
#define CALL_INVERSE(k, s)  (DYN(k)(&e->arm, s, e->in[0], e->in[1], e->in[2], e->out), DYN_OK)
#define CALL_BIAS(k, s)     (DYN(k)(&e->arm, s, e->in[0], e->in[1], e->out), DYN_OK)
#define CALL_REST(k, s)     (DYN(k)(&e->arm, s, e->in[0], e->in[2], e->out), DYN_OK)
#define CALL_HOLD(k, s)     (DYN(k)(&e->arm, s, e->in[0], e->out), DYN_OK)
#define CALL_MASS(k, s)     (DYN(k)(&e->arm, s, e->in[0], e->packed), DYN_OK)
#define CALL_FORWARD(k, s)  DYN(k)(&e->arm, s, e->in[0], e->in[1], e->in[2], e->out)
#define CALL_CORIOLIS(k, s) (DYN(k)(&e->arm, s, e->in[0], e->in[1], e->out), DYN_OK)
#define CALL_POSE(k, s)     ((void)(s), DYN(k)(&e->arm, e->in[0], e->out), DYN_OK)
#define CALL_JACOBIAN       CALL_POSE
#define CALL_VOLT(k, s)                                                                            \
    ((void)(s), e->limited = DYN(k)(&e->arm, e->in[0], e->in[1], e->out), DYN_OK)
#define CALL_GENERATED(k, s) ((void)(s), ROWS_GENERATED(e, method))

static int call(evaluator_t *e, method_id_t method) {
    switch (method) {
#define X(problem, method, form, kernel, scratch_, ...)                                            \
    case METHOD_##problem##_##method:                                                              \
        return CALL_##form(kernel, &e->scratch.problem##_##method);
        METHOD_TABLE(X)
#undef X
    case METHOD_COUNT:
        break;
    }
    return DYN_E_TYPE;
}

/* Forward dynamics: what friction takes and the surroundings give is not left for the links. */
static void before(evaluator_t *e, problem_t problem) {
    real lost[DYN_MAX_JOINTS];
    if (problem != PROBLEM_FD)
        return;
    for (uint32_t i = 0; i < e->arm.n; i++)
        lost[i] = real_known(0);
    DYN(friction)(&e->arm, e->in[1], lost);
    for (uint32_t i = 0; i < e->arm.n; i++)
        e->in[2][i] = real_sub(e->in[2][i], lost[i]);
    if (e->wrenched)
        DYN(wrench_torque)(&e->arm, e->in[0], e->wrench_back, e->in[2]);
}

static void after(evaluator_t *e, method_id_t method) {
    const problem_t problem = method_table[method].problem;
    const bool rotors = !method_generated(method); /* generated code has them in it */
    if (problem == PROBLEM_ID) {
        if (rotors)
            DYN(rotor_inverse)(&e->arm, e->in[2], e->out);
        DYN(friction)(&e->arm, e->in[1], e->out);
    }
    if ((problem == PROBLEM_ID || problem == PROBLEM_BIAS) && e->wrenched)
        DYN(wrench_torque)(&e->arm, e->in[0], e->wrench, e->out);
    if (problem == PROBLEM_MASS && rotors)
        DYN(rotor_mass)(&e->arm, e->packed);
}

/* ------------------------------------------------------------------------------- units of the
 * inputs */

static real position_in(const evaluator_t *e, uint32_t i, double value) {
    return e->prismatic[i] ? REAL_IN(value, e->exponent[i].position) : ANGLE_IN(value);
}

static void convert_in(evaluator_t *e, problem_t problem, const double *in) {
    const uint32_t n = e->arm.n;
    const double *const second = in + n, *const third = in + 2 * n;
    for (uint32_t i = 0; i < n; i++) {
        const dyn_q31_exponents_t *x = &e->exponent[i];
        if (problem == PROBLEM_VOLT) {
            e->in[0][i] = REAL_IN(in[i], x->velocity);
            e->in[1][i] = REAL_IN(second[i], x->torque);
            continue;
        }
        e->in[0][i] = position_in(e, i, in[i]);
        if (problem_inputs(problem, 1) > 1)
            e->in[1][i] = REAL_IN(second[i], x->velocity);
        if (problem == PROBLEM_ID)
            e->in[2][i] = REAL_IN(third[i], x->acceleration);
        else if (problem == PROBLEM_FD)
            e->in[2][i] = REAL_IN(third[i], x->torque);
        else
            e->in[2][i] = REAL_IN(0.0, 0); /* the speed at rest; `count` must not know that */
    }
}

/* ----------------------------------------------------------------------------- units of the
 * results */

/* Of the inertia that joint i feels when joint j accelerates. */
static int mass_exponent(const evaluator_t *e, uint32_t i, uint32_t j) {
    const int lengths = 2 - e->prismatic[i] - e->prismatic[j];
    return e->units.mass[i < j ? i : j] + lengths * e->units.length;
}

static void mass_out(const evaluator_t *e, double *out) {
    const uint32_t n = e->arm.n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            const double m = REAL_OUT(e->packed[i * (i + 1) / 2 + j], mass_exponent(e, i, j));
            out[i * n + j] = out[j * n + i] = m;
        }
}

static void coriolis_out(const evaluator_t *e, double *out) {
    const uint32_t n = e->arm.n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            out[i * n + j] = REAL_OUT(e->out[i * n + j], mass_exponent(e, i, j) - e->units.time);
}

static void pose_out(const evaluator_t *e, double *out) {
    const int length = e->units.length + (int)e->arm.reach_shift;
    for (int i = 0; i < 12; i++)
        out[i] = REAL_OUT(e->out[i], i % 4 == 3 ? length : 0);
}

static void jacobian_out(const evaluator_t *e, double *out) {
    const uint32_t n = e->arm.n;
    for (uint32_t i = 0; i < n; i++) {
        const int slide = e->prismatic[i] ? 0 : e->units.length;
        const int reach = slide + (int)e->arm.reach_shift;
        for (uint32_t k = 0; k < 6; k++)
            out[k * n + i] = REAL_OUT(e->out[k * n + i], k < 3 ? reach : 0);
    }
}

static void convert_out(const evaluator_t *e, problem_t problem, double *out) {
    const dyn_q31_exponents_t *x = e->exponent;
    switch (problem) {
    case PROBLEM_MASS:
        mass_out(e, out);
        return;
    case PROBLEM_CORIOLIS:
        coriolis_out(e, out);
        return;
    case PROBLEM_FK:
        pose_out(e, out);
        return;
    case PROBLEM_JACOBIAN:
        jacobian_out(e, out);
        return;
    case PROBLEM_FD:
        for (uint32_t i = 0; i < e->arm.n; i++)
            out[i] = REAL_OUT(e->out[i], x[i].acceleration);
        return;
    case PROBLEM_VOLT:
        for (uint32_t i = 0; i < e->arm.n; i++)
            out[i] = REAL_OUT(e->out[i], x[i].voltage);
        return;
    default:
        for (uint32_t i = 0; i < e->arm.n; i++)
            out[i] = REAL_OUT(e->out[i], x[i].torque);
    }
}

/* -------------------------------------------------------------------------------------- the type
 */

__attribute__((unused)) static void set_wrench(evaluator_t *e, const double *wrench) {
    const int last = e->units.mass[e->arm.n - 1];
    const int force = last + e->units.length - 2 * e->units.time;
    for (int i = 0; i < 6; i++) {
        e->wrench[i] = REAL_IN(wrench[i], i < 3 ? force : force + e->units.length);
        e->wrench_back[i] = REAL_IN(-wrench[i], i < 3 ? force : force + e->units.length);
    }
    e->wrenched = 1;
}

/* DYN_OK or what dyn_prepare says. units NULL: SI. The evaluator may hold anything before. */
static int prepare(evaluator_t *e, const dyn_model_t *model, const dyn_units_t *units) {
    memset(e, 0, sizeof *e);
    if (units)
        e->units = *units;
    for (uint32_t i = 0; i < model->n; i++) {
        e->prismatic[i] = model->joint[i].type == DYN_PRISMATIC;
        e->exponent[i] = dyn_q31_exponents(model, &e->units, i);
    }
    return DYN(prepare)(model, &e->units, &e->arm);
}

/* Whether the arm has the constants of a method, by its name in METHOD_TABLE. */
#define STATUS_fast(arm)  DYN(ready)(arm, DYN_NEEDS_fast)
#define STATUS_ga(arm)    DYN(ready)(arm, DYN_NEEDS_ga)
#define STATUS_ne(arm)    DYN(ready)(arm, DYN_NEEDS_ne)
#define STATUS_wo1(arm)   DYN(ready)(arm, DYN_NEEDS_wo1)
#define STATUS_only(arm)  DYN(ready)(arm, DYN_NEEDS_only)
#define STATUS_crba(arm)  DYN(ready)(arm, DYN_NEEDS_crba)
#define STATUS_aba(arm)   DYN(ready)(arm, DYN_NEEDS_aba)
#define STATUS_denoc(arm) DYN(ready)(arm, DYN_NEEDS_denoc)
#define STATUS_gen(arm)   ROWS_GENERATED_STATUS

__attribute__((unused)) static int ready(const evaluator_t *e, method_id_t method) {
    const problem_t of = method_table[method].problem;
    const bool drives = of != PROBLEM_BIAS && of != PROBLEM_GRAVITY && of != PROBLEM_CORIOLIS;
    const int status = DYN(ready)(&e->arm, drives ? DYN_NEEDS_DRIVES : DYN_NEEDS_LINKS);
    if (status != DYN_OK)
        return status;
    switch (method) {
#define X(problem, method, ...)                                                                    \
    case METHOD_##problem##_##method:                                                              \
        return STATUS_##method(&e->arm);
        METHOD_TABLE(X)
#undef X
    case METHOD_COUNT:
        break;
    }
    return DYN_E_TYPE;
}

__attribute__((unused)) static int row(evaluator_t *e, method_id_t method, const double *in,
                                       double *out, uint32_t *limited) {
    const problem_t problem = method_table[method].problem;
    ROWS_BEGIN();
    e->limited = 0;
    convert_in(e, problem, in);
    before(e, problem);
    const uint32_t start = ROWS_NOW();
    const int status = call(e, method);
    e->cost = ROWS_STEPS(start, ROWS_NOW());
    after(e, method);
    convert_out(e, problem, out);
    *limited = e->limited;
    return status != DYN_OK ? status : ROWS_OVERFLOWS() > 0 ? ROWS_OVERFLOW : DYN_OK;
}
