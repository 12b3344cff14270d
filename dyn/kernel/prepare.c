/* Computes the prepared constants of one number backend from the model in double precision. Runs
 * once when a model is loaded. Host and board run the same code, so that a proof on the host is
 * valid for the same numbers on the board. */
#include "dyn/number/real.h"

#include <stddef.h>

static const dyn_units_t si_units = {0};

static bool prepare_body(const dyn_body_t *body, int length, int mass, joint *j) {
    const double *I = body->inertia;
    real s[3];
    bool fits = real_from_model(body->mass, mass, &j->m);
    for (int i = 0; i < 3; i++)
        fits = real_from_model(body->com[i], length, &s[i]) && fits;
    j->s = vec_make(s[0], s[1], s[2]);
    const int unit = mass + 2 * length;
    fits = real_from_model(I[0], unit, &j->J.xx) && fits;
    fits = real_from_model(I[1], unit, &j->J.yy) && fits;
    fits = real_from_model(I[2], unit, &j->J.zz) && fits;
    fits = real_from_model(I[3], unit, &j->J.xy) && fits;
    fits = real_from_model(I[4], unit, &j->J.yz) && fits;
    fits = real_from_model(I[5], unit, &j->J.xz) && fits;
    return fits;
}

static turn prepare_turn(double angle) {
    double c, s;
    dyn_exact_turn(angle, &c, &s);
    return (turn){turn_from_model(c), turn_from_model(s)};
}

static bool prepare_joint(const dyn_model_joint_t *in, int length, joint *j) {
    const bool prismatic = in->type == DYN_PRISMATIC;
    j->prismatic = prismatic;
    j->x = prepare_turn(in->alpha);
    j->fixed_z = prepare_turn(prismatic ? in->theta : 0);
    bool fits = real_from_model(in->a, length, &j->a);
    fits = real_from_model(prismatic ? 0 : in->d, length, &j->fixed_d) && fits;
    if (prismatic)
        fits = real_from_model(in->d, length, &j->offset) && fits;
    else
        j->offset = angle_from_model(in->theta);
    return fits;
}

/* The vector from the centre of mass of the parent link to the origin of this joint's frame. */
static bool prepare_r(const dyn_model_joint_t *before, const dyn_model_joint_t *in, int length,
                      joint *j) {
    double c, s;
    real out[3];
    bool fits = true;
    dyn_exact_turn(in->alpha, &c, &s);
    double r[3] = {in->a, -s * in->d, c * in->d};
    for (int i = 0; before && i < 3; i++)
        r[i] -= before->link.com[i];
    for (int i = 0; i < 3; i++)
        fits = real_from_model(r[i], length, &out[i]) && fits;
    j->r = vec_make(out[0], out[1], out[2]);
    return fits;
}

/* Prepares the rotor inertia. If these units cannot represent it, it is set to zero and the result
 * is false; the rigid links alone may still be computed in these units. */
static bool prepare_rotor(const dyn_model_joint_t *in, int length, int mass, joint *j) {
    const double rotor = dyn_model_rotor(in);
    const int unit = in->type == DYN_PRISMATIC ? mass : mass + 2 * length;
    const bool fits = real_fits(rotor, unit);
    (void)real_from_model(fits ? rotor : 0, unit, &j->rotor);
    j->geared = fits && rotor != 0;
    return fits;
}

/* Prepares a body about the origin of its frame. If these units cannot represent one of the
 * constants, all are zero and the result is false. */
static bool prepare_origin_body(const dyn_body_t *body, int length, int mass, joint *j) {
    const double *c = body->com, m = body->mass;
    const double value[9] = {m * c[0],
                             m * c[1],
                             m * c[2],
                             body->inertia[0] + m * (c[1] * c[1] + c[2] * c[2]),
                             body->inertia[1] + m * (c[2] * c[2] + c[0] * c[0]),
                             body->inertia[2] + m * (c[0] * c[0] + c[1] * c[1]),
                             body->inertia[3] - m * c[0] * c[1],
                             body->inertia[4] - m * c[1] * c[2],
                             body->inertia[5] - m * c[0] * c[2]};
    real out[9];
    bool fits = true;
    for (int i = 0; i < 9; i++)
        fits = real_fits(value[i], mass + (i < 3 ? 1 : 2) * length) && fits;
    for (int i = 0; i < 9; i++)
        (void)real_from_model(fits ? value[i] : 0, mass + (i < 3 ? 1 : 2) * length, &out[i]);
    j->ms = vec_make(out[0], out[1], out[2]);
    j->I = sym_make(out[3], out[4], out[5], out[6], out[7], out[8]);
    return fits;
}

int DYN(ready)(const arm *a, uint32_t needs) {
    if (a->link_status != DYN_OK)
        return a->link_status;
    if (needs & DYN_NEEDS_BODIES && a->body_status != DYN_OK)
        return a->body_status;
    if (needs & DYN_NEEDS_GA_BODIES && a->ga_status != DYN_OK)
        return a->ga_status;
    if (needs & DYN_NEEDS_REGROUPED && a->fast_status != DYN_OK)
        return a->fast_status;
    if (needs & DYN_NEEDS_DRIVES && a->drive_status != DYN_OK)
        return a->drive_status;
    return DYN_OK;
}

int DYN(prepare_payload)(const dyn_model_t *model, const dyn_units_t *units, arm *out) {
    if (!units)
        units = &si_units;
    const int checked = dyn_model_check(model);
    if (checked != DYN_OK)
        return out->link_status = checked;
    /* If n differs, the rest of the arm was never prepared or was prepared for another model; a new
     * payload does not change that. */
    if (out->n != model->n)
        return out->link_status = out->link_status != DYN_OK ? out->link_status : DYN_E_JOINTS;
    const uint32_t last = model->n - 1;
    const dyn_body_t body = dyn_model_last_link(model);
    /* All joints are prepared again, because the status is about all of them: a smaller payload may
     * fit now. */
    bool fit = prepare_origin_body(&body, units->length, units->mass[last], &out->joint[last]);
    for (uint32_t i = 0; i < last; i++)
        fit = prepare_origin_body(&model->joint[i].link, units->length, units->mass[i],
                                  &out->joint[i]) &&
              fit;
    out->body_status = fit ? DYN_OK : DYN_E_UNITS;
    DYN(prepare_regroup)(model, units, out);
    fit = prepare_body(&body, units->length, units->mass[last], &out->joint[last]);
    return out->link_status = fit ? DYN_OK : DYN_E_UNITS;
}

int DYN(prepare)(const dyn_model_t *model, const dyn_units_t *units, arm *out) {
    out->n = 0; /* prepare_payload fails on n = 0 until the rest is prepared */
    out->link_status = dyn_model_check(model);
    if (out->link_status != DYN_OK)
        return out->link_status;
    if (!units)
        units = &si_units;
    real g[3];
    bool fits = true, drives_fit = true;
    for (int i = 0; i < 3; i++)
        fits = real_from_model(-model->gravity[i], units->length - 2 * units->time, &g[i]) && fits;
    out->base_acceleration = vec_make(g[0], g[1], g[2]);
    for (uint32_t i = 0; i < model->n; i++) {
        joint *j = &out->joint[i];
        int shift = i > 0 ? units->mass[i - 1] - units->mass[i] : 0;
        fits = fits && shift >= 0 && shift < 32;
        j->mass_shift = (uint8_t)shift;
        fits = prepare_joint(&model->joint[i], units->length, j) && fits;
        fits = prepare_body(&model->joint[i].link, units->length, units->mass[i], j) && fits;
        fits = prepare_r(i > 0 ? &model->joint[i - 1] : NULL, &model->joint[i], units->length, j) &&
               fits;
        drives_fit =
            prepare_rotor(&model->joint[i], units->length, units->mass[i], j) && drives_fit;
    }
    const int drive_status = DYN(prepare_drive)(model, units, out);
    out->drive_status = drives_fit ? drive_status : DYN_E_UNITS;
    if (!fits)
        return out->link_status = DYN_E_UNITS;
    out->n = model->n;
    return DYN(prepare_payload)(model, units, out);
}
