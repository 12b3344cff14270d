/* Constants of the kernels `ga` and `fast` from the model: what paper 000 computes off-line (its
 * (11) and 4.2 step 1), and the base inertial parameters (dyn/model/pseudo_inertia.h). Both sum
 * over the links from a joint to the end effector, so that a payload changes them for all joints.
 * Everything is computed anew from the model: this stays exact however often the payload changes,
 * and costs a few 4x4 transforms per joint. */
#include "dyn/number/real.h"

#include "dyn/model/pseudo_inertia.h"

/* Stores a constant, or zero if these units cannot represent it. The status of the arm then forbids
 * the kernels that need the constant; all others may run. */
static bool put(double value, int exponent, real *out) {
    const bool fits = real_fits(value, exponent);
    (void)real_from_model(fits ? value : 0, exponent, out);
    return fits;
}

static bool put_vec(const double x[3], int exponent, vec *out) {
    real part[3];
    bool fits = true;
    for (int i = 0; i < 3; i++)
        fits = put(x[i], exponent, &part[i]) && fits;
    *out = vec_make(part[0], part[1], part[2]);
    return fits;
}

static bool put_sym(const double x[3][3], int exponent, sym *out) {
    bool fits = put(x[0][0], exponent, &out->xx);
    fits = put(x[1][1], exponent, &out->yy) && fits;
    fits = put(x[2][2], exponent, &out->zz) && fits;
    fits = put(x[0][1], exponent, &out->xy) && fits;
    fits = put(x[1][2], exponent, &out->yz) && fits;
    fits = put(x[0][2], exponent, &out->xz) && fits;
    return fits;
}

static void tensor_of(const dyn_pseudo_t *in, double out[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = in->p[i][k];
}

/* (11) solved for the inertia: I = trace(J) 1 - J. */
static void inertia_of(const dyn_pseudo_t *in, double out[3][3]) {
    const double trace = in->p[0][0] + in->p[1][1] + in->p[2][2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = (i == k ? trace : 0) - in->p[i][k];
}

/* Step 1 of section 4.2 for link i. *behind is M_i+1, the mass of all later links. */
static bool prepare_ga(const dyn_model_t *model, const dyn_units_t *units, uint32_t i,
                       double *behind, joint *j) {
    const dyn_body_t body = i == model->n - 1 ? dyn_model_last_link(model) : model->joint[i].link;
    const dyn_body_t centred = {0,
                                {0, 0, 0},
                                {body.inertia[0], body.inertia[1], body.inertia[2], body.inertia[3],
                                 body.inertia[4], body.inertia[5]}};
    const int length = units->length, mass = units->mass[i];
    dyn_model_joint_t at = model->joint[i];
    double x[3][3];
    if (at.type == DYN_PRISMATIC)
        at.d = 0;
    bool fits = put_vec(dyn_pose_joint(&at, 0).p, length, &j->ga.s);

    dyn_pseudo_t pseudo = dyn_pseudo_body(&centred);
    tensor_of(&pseudo, x);
    fits = put_sym((const double(*)[3])x, mass + 2 * length, &j->ga.J) && fits;

    /* gamma_i and E_i contain the masses of all later links as a point at the next origin, unless
     * the next joint is prismatic. */
    pseudo = dyn_pseudo_body(&body);
    if (i + 1 < model->n && model->joint[i + 1].type == DYN_REVOLUTE) {
        const dyn_pseudo_t point = {{{0}, {0}, {0}, {0, 0, 0, *behind}}};
        const dyn_pose_t next = dyn_pose_joint(&model->joint[i + 1], 0);
        dyn_pseudo_add(&pseudo, &point, &next);
    }
    const double gamma[3] = {pseudo.p[0][3], pseudo.p[1][3], pseudo.p[2][3]};
    *behind += body.mass;
    inertia_of(&pseudo, x);
    fits = put(*behind, mass, &j->ga.M) && fits;
    fits = put_vec(gamma, mass + length, &j->ga.gamma) && fits;
    return put_sym((const double(*)[3])x, mass + 2 * length, &j->ga.E) && fits;
}

static bool prepare_fast(const dyn_model_t *model, const dyn_units_t *units, uint32_t i,
                         dyn_pseudo_t *carry, double *behind, joint *j) {
    const int length = units->length, mass = units->mass[i];
    dyn_pseudo_t own = dyn_pseudo_regroup(model, i, carry);
    double x[3][3], l[3] = {own.p[0][3], own.p[1][3], own.p[2][3]};
    tensor_of(&own, x);
    if (i == 0) {
        /* The first link turns about an axis at rest: only Jxx + Jyy of its tensor matters. */
        x[0][0] += x[1][1];
        x[1][1] = x[0][1] = x[0][2] = x[1][2] = 0;
    }
    bool fits = put(i > 0 ? dyn_pseudo_rise(model, i - 1) : 0, length, &j->fast.rise);
    fits = put(own.p[3][3], mass, &j->fast.m) && fits;
    *behind += own.p[3][3];
    fits = put(*behind, mass, &j->fast.M) && fits;
    j->fast.heavy = *behind != 0;
    fits = put_vec(l, mass + length, &j->fast.l) && fits;
    return put_sym((const double(*)[3])x, mass + 2 * length, &j->fast.J) && fits;
}

void DYN(prepare_regroup)(const dyn_model_t *model, const dyn_units_t *units, arm *out) {
    dyn_pseudo_t carry = {0};
    double behind = 0, regrouped_behind = 0;
    bool ga_fits = true, fast_fits = true;
    out->mixed = 0;
    for (uint32_t i = model->n; i-- > 0;) {
        out->mixed |= model->joint[i].type == DYN_PRISMATIC;
        ga_fits = prepare_ga(model, units, i, &behind, &out->joint[i]) && ga_fits;
        fast_fits =
            prepare_fast(model, units, i, &carry, &regrouped_behind, &out->joint[i]) && fast_fits;
    }
    out->ga_status = ga_fits ? DYN_OK : DYN_E_UNITS;
    out->fast_status = fast_fits ? DYN_OK : DYN_E_UNITS;
}
