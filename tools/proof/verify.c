/* Runs states of an arm through the checked q31 and through double precision and compares the
 * results. */
#include "tools/proof/verify.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "tools/proof/check.h"

/* Peaks are kept by name and not by problem, so each problem runs alone for BLOCK states before the
 * next one. */
enum { BLOCK = 1000, PACKED = DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2 };

typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
    int32_t raw_q[DYN_MAX_JOINTS], raw_qd[DYN_MAX_JOINTS], raw_qdd[DYN_MAX_JOINTS];
} state_t;

/* Limits of a joint, and the factors between its SI values and its raw q31 numbers. */
typedef struct {
    double low, high, velocity, acceleration;
    double per_position, per_velocity, per_acceleration; /* raw numbers per SI unit */
    double tau;                                          /* N m or N per raw number */
} scale_t;

typedef struct {
    const dyn_model_t *model;
    uint32_t n;
    uint64_t random;
    scale_t scale[DYN_MAX_JOINTS];
    double element[PACKED]; /* SI value of one raw unit of each matrix element */
    /* factor that converts an element to the unit of the diagonal element of its column */
    double diagonal[PACKED];
    dyn_arm_check_t arm;
    dyn_arm_f64_t exact;
    dyn_fast_scratch_check_t scratch;
    dyn_fast_scratch_f64_t scratch_f64;
    state_t state[BLOCK];
} bench_t;

const char *verify_name(verify_problem_t problem) {
    static const char *const names[] = {
#define X(name, text) text,
        VERIFY_TABLE(X)
#undef X
    };
    return names[problem];
}

/* Returns a random number from -1 to 1 (xorshift64*). */
static double uniform(bench_t *b) {
    b->random ^= b->random >> 12;
    b->random ^= b->random << 25;
    b->random ^= b->random >> 27;
    return ldexp((double)(int32_t)((b->random * 2685821657736338717u) >> 32), -31);
}

static double corner(bench_t *b) {
    return uniform(b) < 0 ? -1 : 1;
}

/*
 * Of every four states, one is random within the limits, one has all speeds and accelerations at
 * their limits with random signs, one has the positions at their limits too, and in one the speeds
 * of all joints are at their limits with the same sign, and so are the accelerations.
 */
static void make_state(bench_t *b, long number, state_t *s) {
    const int kind = (int)(number % 4);
    const double together = corner(b), pull = corner(b);
    for (uint32_t i = 0; i < b->n; i++) {
        const scale_t *k = &b->scale[i];
        const double u = kind == 2 ? corner(b) : uniform(b);
        const double v = kind == 0 ? uniform(b) : kind == 3 ? together : corner(b);
        const double w = kind == 0 ? uniform(b) : kind == 3 ? pull : corner(b);
        s->q[i] = (k->low + k->high) / 2 + u * (k->high - k->low) / 2;
        s->qd[i] = v * k->velocity;
        s->qdd[i] = w * k->acceleration;
        /* The angle of a revolute joint wraps around; the position of a prismatic joint fits,
         * because the units were chosen for its limits. */
        s->raw_q[i] = (int32_t)(uint32_t)(int64_t)rint(s->q[i] * k->per_position);
        s->raw_qd[i] = (int32_t)rint(s->qd[i] * k->per_velocity);
        s->raw_qdd[i] = (int32_t)rint(s->qdd[i] * k->per_acceleration);
    }
}

static void see_torques(const bench_t *b, const int32_t raw[], const double exact[],
                        verify_joint_t out[]) {
    for (uint32_t i = 0; i < b->n; i++) {
        out[i].largest = fmax(out[i].largest, fabs(exact[i]));
        out[i].error = fmax(out[i].error, fabs(raw[i] * b->scale[i].tau - exact[i]));
    }
}

static void see_matrix(const bench_t *b, const int32_t raw[], const double exact[],
                       verify_joint_t out[]) {
    for (uint32_t i = 0, k = 0; i < b->n; i++)
        for (uint32_t j = 0; j <= i; j++, k++) {
            const double off = fabs(raw[k] * b->element[k] - exact[k]);
            out[j].largest = fmax(out[j].largest, fabs(exact[k]) * b->diagonal[k]);
            out[j].error = fmax(out[j].error, off * b->diagonal[k]);
        }
}

static void compute(bench_t *b, verify_problem_t problem, const state_t *s, verify_joint_t out[]) {
    int32_t raw[PACKED];
    double exact[PACKED];
    const int32_t *q = s->raw_q, *qd = s->raw_qd, *qdd = s->raw_qdd;
    switch (problem) {
    case VERIFY_ID:
        dyn_fast_inverse_check(&b->arm, &b->scratch, q, qd, qdd, raw);
        dyn_rotor_inverse_check(&b->arm, qdd, raw);
        dyn_friction_check(&b->arm, qd, raw);
        dyn_fast_inverse_f64(&b->exact, &b->scratch_f64, s->q, s->qd, s->qdd, exact);
        dyn_rotor_inverse_f64(&b->exact, s->qdd, exact);
        dyn_friction_f64(&b->exact, s->qd, exact);
        see_torques(b, raw, exact, out);
        break;
    case VERIFY_BIAS:
        dyn_fast_bias_check(&b->arm, &b->scratch, q, qd, raw);
        dyn_fast_bias_f64(&b->exact, &b->scratch_f64, s->q, s->qd, exact);
        see_torques(b, raw, exact, out);
        break;
    case VERIFY_GRAVITY:
        dyn_fast_gravity_check(&b->arm, &b->scratch, q, raw);
        dyn_fast_gravity_f64(&b->exact, &b->scratch_f64, s->q, exact);
        see_torques(b, raw, exact, out);
        break;
    default:
        dyn_fast_mass_check(&b->arm, &b->scratch, q, raw);
        dyn_rotor_mass_check(&b->arm, raw);
        dyn_fast_mass_f64(&b->exact, &b->scratch_f64, s->q, exact);
        dyn_rotor_mass_f64(&b->exact, exact);
        see_matrix(b, raw, exact, out);
    }
}

/* --------------------------------------------------------------------------------------- set-up */

static void set_scales(bench_t *b, const dyn_units_t *units) {
    const double turn = 6.28318530717958647692;
    for (uint32_t i = 0, k = 0; i < b->n; i++) {
        const dyn_model_joint_t *j = &b->model->joint[i];
        const dyn_limits_t *l = &j->drive.limits;
        const dyn_q31_exponents_t e = dyn_q31_exponents(b->model, units, i);
        const bool prismatic = j->type == DYN_PRISMATIC, given = l->position[1] > l->position[0];
        b->scale[i] =
            (scale_t){given ? l->position[0] : -turn / 2,
                      given ? l->position[1] : turn / 2,
                      l->velocity,
                      l->acceleration,
                      prismatic ? ldexp(1, DYN_Q31_BITS - e.position) : ldexp(1 / turn, 32),
                      ldexp(1, DYN_Q31_BITS - e.velocity),
                      ldexp(1, DYN_Q31_BITS - e.acceleration),
                      ldexp(1, e.torque - DYN_Q31_BITS)};
        /* The unit of a matrix element contains one length for each revolute joint of its two
         * joints, and the mass unit of the joint with the smaller index. */
        for (uint32_t m = 0; m <= i; m++, k++) {
            const int turns = !prismatic + (b->model->joint[m].type == DYN_REVOLUTE);
            b->element[k] = ldexp(1, units->mass[m] + turns * units->length - DYN_Q31_BITS);
            b->diagonal[k] = b->element[m * (m + 3) / 2] / b->element[k];
        }
    }
}

/* Takes the guaranteed errors from the report. */
static void set_allowed(const bench_t *b, const range_report_t *report, verify_t *out) {
    for (uint32_t i = 0; i < b->n; i++)
        for (int p = 0; p < VERIFY_COUNT; p++) {
            const range_entry_t *e = range_find(report, verify_name((verify_problem_t)p),
                                                p == VERIFY_MASS ? "M" : "tau", i);
            const double unit = p == VERIFY_MASS ? b->element[i * (i + 3) / 2] : b->scale[i].tau;
            out->joint[p][i].allowed = e ? ldexp(e->error, DYN_Q31_BITS) * unit : 0;
        }
}

/* ----------------------------------------------------------------------------------- comparison */

static void keep_peaks(const range_report_t *report, verify_problem_t problem, verify_t *out) {
    for (uint32_t i = 0; i < report->entries; i++) {
        const range_entry_t *e = &report->entry[i];
        if (strcmp(e->problem, verify_name(problem)) != 0)
            continue;
        for (int part = 0; part < e->parts; part++) {
            const double peak = check_peak(e->name, e->joint, part);
            out->seen[i] = fmax(out->seen[i], peak);
            out->outside += peak > e->bound[part];
        }
    }
}

static double bound_of(const range_entry_t *e) {
    double bound = 0;
    for (int part = 0; part < e->parts; part++)
        bound = fmax(bound, e->bound[part]);
    return bound;
}

/* In a format of range 8, a bound below 2^-16 is only the rounding of a zero, so it does not count
 * as loose. */
static const double negligible = 0x1p-16;

/*
 * Entries with the same name and joint in several problems are one quantity in one number format,
 * so the largest bound is compared with the largest value of any problem. In a single problem a
 * quantity may always be zero although its bound is not, for example the gravity torque about a
 * vertical axis.
 */
static void find_loosest(const range_report_t *report, verify_t *out) {
    for (uint32_t i = 0; i < report->entries; i++) {
        const range_entry_t *e = &report->entry[i];
        double bound = 0, seen = 0;
        for (uint32_t k = 0; k < report->entries; k++) {
            const range_entry_t *other = &report->entry[k];
            if (other->joint == e->joint && !strcmp(other->name, e->name)) {
                bound = fmax(bound, bound_of(other));
                seen = fmax(seen, out->seen[k]);
            }
        }
        const double bits = seen > 0 ? log2(bound / seen) : HUGE_VAL;
        if (strcmp(e->problem, "constants") != 0 && bound > negligible &&
            bits > out->loosest_bits) {
            out->loosest_bits = bits;
            out->loosest = i;
        }
    }
}

static void run_block(bench_t *b, const range_report_t *report, long first, long count,
                      verify_t *out) {
    for (long k = 0; k < count; k++)
        make_state(b, first + k, &b->state[k]);
    for (int p = 0; p < VERIFY_COUNT; p++) {
        check_begin(false);
        for (long k = 0; k < count; k++)
            compute(b, (verify_problem_t)p, &b->state[k], out->joint[p]);
        keep_peaks(report, (verify_problem_t)p, out);
        out->overflows += check_overflows();
    }
}

/* The tolerance covers the rounding of the double reference over some hundred sums. */
static bool above(const verify_joint_t *j) {
    return j->error > j->allowed + 256 * DBL_EPSILON * j->largest;
}

int verify_states(const dyn_model_t *model, const dyn_units_t *units, const range_report_t *report,
                  long states, uint64_t seed, verify_progress_t progress, verify_t *out) {
    bench_t *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    memset(out, 0, sizeof *out);
    b->model = model;
    b->n = model->n;
    b->random = seed * 0x9E3779B97F4A7C15u + 88172645463325252u;
    int status = dyn_prepare_check(model, units, &b->arm);
    if (status == DYN_OK)
        status = dyn_prepare_f64(model, NULL, &b->exact);
    if (status == DYN_OK) {
        set_scales(b, units);
        set_allowed(b, report, out);
        for (long k = 0; k < states; k += BLOCK) {
            if (progress)
                progress((uint64_t)k, (uint64_t)states);
            run_block(b, report, k, states - k < BLOCK ? states - k : BLOCK, out);
        }
        out->states = states;
        for (int p = 0; p < VERIFY_COUNT; p++)
            for (uint32_t i = 0; i < b->n; i++)
                out->above += above(&out->joint[p][i]);
        find_loosest(report, out);
    }
    free(b);
    return status;
}

bool verify_holds(const verify_t *result) {
    return result->overflows == 0 && result->outside == 0 && result->above == 0;
}
