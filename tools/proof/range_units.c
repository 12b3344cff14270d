/* Runs whole kernels of the backend `range` within the limits of an arm, and chooses the units of
 * q31 from the bounds. */
#include "tools/proof/range_inside.h"

#include "dyn/number/q31.h"

#include <string.h>

void range_ne(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
              real tau[]) {
    static dyn_ne_scratch_range_t scratch;
    dyn_ne_inverse_range(arm, &scratch, q, qd, qdd, tau);
}

void range_ne_drive(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
                    real tau[]) {
    range_ne(arm, q, qd, qdd, tau);
    dyn_rotor_inverse_range(arm, qdd, tau);
    dyn_friction_range(arm, qd, tau);
    if (dyn_ready_range(arm, DYN_NEEDS_DRIVES) != DYN_OK)
        range_now.constants_fit = false;
}

/* Names the constants of a body, so that the choice of units makes room for them. */
static void name_body(uint32_t i, real m, vec l, dyn_sym_range_t J) {
    range_named_real("const_m", i, m);
    range_named_vec("const_l", i, l);
    range_named_vec("const_J", i, range_vec_make(J.xx, J.yy, J.zz));
    range_named_vec("const_Jx", i, range_vec_make(J.xy, J.yz, J.xz));
}

void range_ga(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
              real tau[]) {
    static dyn_ga_scratch_range_t scratch;
    if (dyn_ready_range(arm, DYN_NEEDS_ga) != DYN_OK)
        range_now.constants_fit = false;
    for (uint32_t i = 0; i < arm->n; i++)
        name_body(i, arm->joint[i].ga.M, arm->joint[i].ga.gamma, arm->joint[i].ga.E);
    dyn_ga_inverse_range(arm, &scratch, q, qd, qdd, tau);
}

void range_fast(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
                real tau[]) {
    static dyn_fast_scratch_range_t scratch;
    if (dyn_ready_range(arm, DYN_NEEDS_fast) != DYN_OK)
        range_now.constants_fit = false;
    const char *const problem = range_now.problem;
    if (*problem)
        range_problem("constants");
    for (uint32_t i = 0; i < arm->n; i++)
        name_body(i, arm->joint[i].fast.M, arm->joint[i].fast.l, arm->joint[i].fast.J);
    range_problem(problem);
    dyn_fast_inverse_range(arm, &scratch, q, qd, qdd, tau);
}

static void all_mass(const dyn_arm_range_t *arm, const real q[]) {
    static dyn_fast_scratch_range_t scratch;
    static real M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    range_problem("mass");
    dyn_fast_mass_range(arm, &scratch, q, M);
    dyn_rotor_mass_range(arm, M);
}

void range_all(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
               real tau[]) {
    static dyn_fast_scratch_range_t scratch;
    range_problem("gravity");
    dyn_fast_gravity_range(arm, &scratch, q, tau);
    range_problem("bias");
    dyn_fast_bias_range(arm, &scratch, q, qd, tau);
    all_mass(arm, q);
    range_problem("id");
    range_fast(arm, q, qd, qdd, tau);
    dyn_rotor_inverse_range(arm, qdd, tau);
    dyn_friction_range(arm, qd, tau);
    if (dyn_ready_range(arm, DYN_NEEDS_DRIVES) != DYN_OK)
        range_now.constants_fit = false;
}

static real input(double lo, double hi, int exponent) {
    real out = {ldexp(lo, -exponent), ldexp(hi, -exponent), 0};
    if (range_now.format == RANGE_Q31)
        out.err = q31_unit / 2;
    return recorded(out);
}

static bool limits_given(const dyn_model_joint_t *j) {
    const dyn_limits_t *l = &j->drive.limits;
    if (!(l->velocity > 0) || !(l->acceleration > 0))
        return false;
    return j->type == DYN_REVOLUTE || l->position[1] > l->position[0];
}

static void set_inputs(const dyn_model_t *model, const dyn_units_t *units, real *q, real *qd,
                       real *qdd) {
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_model_joint_t *j = &model->joint[i];
        const dyn_limits_t *l = &j->drive.limits;
        const dyn_q31_exponents_t e = dyn_q31_exponents(model, units, i);
        if (j->type == DYN_PRISMATIC) {
            q[i] = input(l->position[0], l->position[1], e.position);
        } else {
            /* The proof covers every angle, not only those within the limits. So it also holds for
             * an arm that was pushed beyond its limits, and no code has to check the angle. */
            q[i] = (real){-3.1415926535897936, 3.1415926535897936, 0};
            if (range_now.format == RANGE_Q31)
                q[i].err = 0x1p-33 * 6.2832;
        }
        qd[i] = input(-l->velocity, l->velocity, e.velocity);
        qdd[i] = input(-l->acceleration, l->acceleration, e.acceleration);
    }
}

int range_run(range_inverse_t kernel, const dyn_model_t *model, const dyn_units_t *units,
              range_format_t format, range_report_t *report) {
    static const dyn_units_t si_units = {0};
    static dyn_arm_range_t arm;
    real q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < model->n; i++)
        if (!limits_given(&model->joint[i]))
            return DYN_E_NUMBER;
    if (!units || format == RANGE_F32)
        units = &si_units;
    memset(report, 0, sizeof *report);
    range_now.format = format;
    range_now.report = report;
    range_now.inside = 0;
    range_now.problem = "";
    range_now.constants_fit = true;
    report->format = format;
    report->n = model->n;
    report->status = dyn_prepare_range(model, units, &arm);
    if (report->status == DYN_OK && !range_now.constants_fit)
        report->status = DYN_E_UNITS;
    if (report->status != DYN_OK && report->status != DYN_E_UNITS)
        return report->status;
    set_inputs(model, units, q, qd, qdd);
    kernel(&arm, q, qd, qdd, tau);
    if (report->status == DYN_OK && !range_now.constants_fit)
        report->status = DYN_E_UNITS;
    for (uint32_t i = 0; i < model->n; i++) {
        int e = dyn_q31_exponents(model, units, i).torque;
        range_named_real("tau", i, tau[i]);
        report->tau_bound[i] = ldexp(executed(tau[i]), e);
        report->tau_error[i] = ldexp(tau[i].err, e);
    }
    report->fits = report->status == DYN_OK;
    double tightest = -1;
    for (uint32_t i = 0; i < report->entries; i++) {
        range_entry_t *e = &report->entry[i];
        double own = 0, part;
        for (int k = 0; k < e->parts; k++)
            own = fmax(own, e->bound[k] / q31_limit);
        part = fmax(own, e->inside);
        e->headroom = -log2(part);
        if (format == RANGE_F32)
            continue;
        if (!(part < 1))
            report->fits = false;
        /* A large value counts twice: in its own entry, and as `inside` of the entry before. The
         * factor makes its own entry the tightest one. */
        if (fmax(part, own * 1.000001) > tightest) {
            tightest = fmax(part, own * 1.000001);
            report->tightest = i;
        }
    }
    return DYN_OK;
}

const range_entry_t *range_find(const range_report_t *report, const char *problem, const char *name,
                                uint32_t joint) {
    for (uint32_t i = 0; i < report->entries; i++) {
        const range_entry_t *e = &report->entry[i];
        if (e->joint == joint && !strcmp(e->name, name) &&
            (!problem || !strcmp(e->problem, problem)))
            return e;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------ choice of units */
static double inertia_of(const dyn_model_t *model, uint32_t i, int length) {
    const dyn_body_t last = dyn_model_last_link(model);
    const dyn_body_t *body = i == model->n - 1 ? &last : &model->joint[i].link;
    double largest = fabs(body->mass);
    for (int k = 0; k < 6; k++)
        largest = fmax(largest, ldexp(fabs(body->inertia[k]), -2 * length));
    return largest / q31_limit;
}

/*
 * Finds the smallest mass unit of each link with which nothing overflows. Two exact runs, with mass
 * units that differ by a factor of two, show which values contain mass: those halve when the unit
 * doubles. Returns false if something overflows whatever the mass units are.
 */
static bool choose_masses(range_inverse_t kernel, const dyn_model_t *model, dyn_units_t *units,
                          range_report_t *report) {
    static range_report_t other;
    const int high = 40;
    double part[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < model->n; i++)
        units->mass[i] = (int8_t)(high - 1);
    range_run(kernel, model, units, RANGE_EXACT, &other);
    for (uint32_t i = 0; i < model->n; i++)
        units->mass[i] = (int8_t)high;
    range_run(kernel, model, units, RANGE_EXACT, report);
    if (!report->fits)
        return false;
    for (uint32_t i = 0; i < model->n; i++)
        part[i] = ldexp(inertia_of(model, i, units->length), -high);
    for (uint32_t i = 0; i < report->entries; i++) {
        const range_entry_t *e = &report->entry[i];
        if (e->headroom - other.entry[i].headroom > 0.5)
            part[e->joint] = fmax(part[e->joint], exp2(-e->headroom));
    }
    /* The factor 1.001 makes room for the rounding errors, which the proof adds later. */
    int least = -60;
    for (uint32_t i = model->n; i-- > 0;) {
        int mass = part[i] > 0 ? high + (int)ceil(log2(part[i] * 1.001)) : least;
        least = mass > least ? mass : least;
        units->mass[i] = (int8_t)least;
    }
    /* Mass units of neighbouring links must not differ by more than an int32 can be shifted. */
    for (uint32_t i = 1; i < model->n; i++)
        if (units->mass[i] < units->mass[i - 1] - 30)
            units->mass[i] = (int8_t)(units->mass[i - 1] - 30);
    return true;
}

static double worst_error(const range_report_t *r) {
    double worst = 0;
    for (uint32_t i = 0; i < r->n; i++)
        worst = fmax(worst, r->tau_error[i] / (r->tau_bound[i] > 0 ? r->tau_bound[i] : 1));
    return worst;
}

int range_choose_units(range_inverse_t kernel, const dyn_model_t *model, dyn_units_t *units,
                       range_report_t *report) {
    static range_report_t trial, nearest;
    double best = HUGE_VAL, least_over = HUGE_VAL;
    int status = range_run(kernel, model, NULL, RANGE_EXACT, &trial);
    if (status != DYN_OK)
        return status;
    for (int length = -6; length <= 4; length++) {
        for (int time = -10; time <= 2; time++) {
            dyn_units_t u = {.length = (int8_t)length, .time = (int8_t)time};
            if (choose_masses(kernel, model, &u, &trial))
                range_run(kernel, model, &u, RANGE_Q31, &trial);
            if (trial.fits && worst_error(&trial) < best) {
                best = worst_error(&trial);
                *units = u;
                *report = trial;
            }
            double over = -trial.entry[trial.tightest].headroom;
            if (!trial.fits && over < least_over) {
                least_over = over;
                nearest = trial;
            }
        }
    }
    if (best < HUGE_VAL)
        return DYN_OK;
    *report = nearest;
    return DYN_E_UNITS;
}
