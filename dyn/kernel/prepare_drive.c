/* Prepared constants of everything except the rigid links: friction, motors (dyn/kernel/drive.c),
 * base and tool (dyn/kernel/kinematics.c, dyn/kernel/wrench.c). A constant that the units of q31
 * cannot represent is set to zero and reported: the rigid links may still be computed in these
 * units. */
#include "dyn/number/q31.h"

#include "dyn/number/real.h"

#include "dyn/number/gain.h"
#include "dyn/number/rigid.h"

#include <math.h>
#include <stddef.h>

static bool extra_real(double value, int exponent, real *out) {
    const bool fits = real_fits(value, exponent);
    (void)real_from_model(fits ? value : 0, exponent, out);
    return fits;
}

static bool prepare_friction(const dyn_friction_t *f, dyn_q31_exponents_t e, drive *d) {
    const double width = f->width > 0 ? f->width : DYN_FRICTION_WIDTH;
    bool fits = gain_from_model(1 / width, -e.velocity, &d->per_width);
    fits = gain_from_model(f->viscous, e.torque - e.velocity, &d->viscous) && fits;
    fits = extra_real((f->coulomb[1] - f->coulomb[0]) / 4, e.torque, &d->coulomb) && fits;
    return extra_real((f->coulomb[1] + f->coulomb[0]) / 8, e.torque, &d->uneven) && fits;
}

static bool prepare_motor(const dyn_motor_t *m, dyn_q31_exponents_t e, drive *d) {
    const double k = m->gear * m->torque_constant; /* N m / A at the joint */
    const bool drives = k != 0 && m->resistance > 0;
    const int volt_tau = e.voltage - e.torque, volt_qd = e.voltage - e.velocity;
    double limit = m->voltage > 0 ? m->voltage : 1e30;
    if (!real_fits(limit, e.voltage))
        limit = ldexp(7.9999999, e.voltage);
    (void)real_from_model(limit, e.voltage, &d->volt_max);
    bool fits = gain_from_model(drives ? m->resistance / k : 0, volt_tau, &d->volt_tau);
    fits = gain_from_model(drives ? k : 0, volt_qd, &d->volt_qd) && fits;
    fits = gain_from_model(drives ? k / m->resistance : 0, -volt_tau, &d->tau_volt) && fits;
    return gain_from_model(drives ? -k * k / m->resistance : 0, e.torque - e.velocity,
                           &d->tau_qd) &&
           fits;
}

static bool prepare_pose(const dyn_pose_t *in, int length, pose *out) {
    bool fits = true;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            out->r[r][c] = turn_from_model(in->r[r][c]);
        fits = extra_real(in->p[r], length, &out->p[r]) && fits;
    }
    return fits;
}

/* Returns an upper bound of the distance of any joint origin, or of the tool, from the origin of
 * the world. */
static double longest_reach(const dyn_model_t *model, int length) {
    double reach = 0;
    for (int k = 0; k < 3; k++)
        reach += fabs(model->base.p[k]) + fabs(model->tool.p[k]);
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_model_joint_t *j = &model->joint[i];
        const double *l = j->drive.limits.position;
        /* The range of a prismatic joint without limits is that of the number format of q. */
        const double travel = l[1] > l[0] ? fmax(fabs(l[0]), fabs(l[1])) : ldexp(8, length);
        reach += fabs(j->a) + fabs(j->d) + (j->type == DYN_PRISMATIC ? travel : 0);
    }
    return reach;
}

static bool prepare_tool(const dyn_model_t *model, int length, arm *out) {
    const double reach = longest_reach(model, length);
    real p[3];
    out->reach_shift = 0;
    while (out->reach_shift < 31 && !(reach < ldexp(7.99, length + (int)out->reach_shift)))
        out->reach_shift++;
    const int unit = length + (int)out->reach_shift;
    bool fits = prepare_pose(&model->tool, length, &out->tool);
    fits = prepare_pose(&model->base, unit, &out->base) && fits;
    for (int k = 0; k < 3; k++)
        p[k] = out->base.p[k];
    out->base_reach = vec_make(p[0], p[1], p[2]);
    return fits;
}

/* Converts a limit of the model. If the limit is missing or does not fit, the result is the end of
 * the number format; in floats it is always 1e30, times the sign. */
static real proved_limit(double value, bool given, int sign, int exponent) {
    const double none = 1e30;
    double limit = sign * ldexp(7.99, exponent);
    real out;
    if (real_fits(none, exponent))
        limit = sign * none;
    else if (given && real_fits(value, exponent))
        limit = value;
    (void)real_from_model(limit, exponent, &out);
    return out;
}

static void prepare_proved(const dyn_model_joint_t *in, dyn_q31_exponents_t e, joint *j) {
    const dyn_limits_t *l = &in->drive.limits;
    const bool bounded = in->type == DYN_PRISMATIC && l->position[1] > l->position[0];
    j->proved.qd = proved_limit(l->velocity, l->velocity > 0, 1, e.velocity);
    j->proved.qdd = proved_limit(l->acceleration, l->acceleration > 0, 1, e.acceleration);
    j->proved.low = proved_limit(l->position[0], bounded, -1, e.position);
    j->proved.high = proved_limit(l->position[1], bounded, 1, e.position);
}

int DYN(prepare_drive)(const dyn_model_t *model, const dyn_units_t *units, arm *out) {
    static const dyn_units_t si_units = {0};
    if (!units)
        units = &si_units;
    bool fits = prepare_tool(model, units->length, out);
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_drive_t *in = &model->joint[i].drive;
        const dyn_q31_exponents_t e = dyn_q31_exponents(model, units, i);
        fits = prepare_friction(&in->friction, e, &out->joint[i].drive) && fits;
        fits = prepare_motor(&in->motor, e, &out->joint[i].drive) && fits;
        prepare_proved(&model->joint[i], e, &out->joint[i]);
    }
    return fits ? DYN_OK : DYN_E_UNITS;
}
