/* Computes the constants of the elastic kernels (dyn/number/arm_flex.inc) from the two models. Runs
 * once when a model is loaded. */
#include "dyn/number/real.h"

#include <math.h>
#include <stddef.h>

#include "dyn/number/gain.h"
#include "dyn/model/pseudo_inertia.h"

typedef DYN_T(flex) flex;
typedef DYN_T(flex_body) flex_body;

static const dyn_units_t si_units = {0};

/* Units of a link as exponents of two, and whether all constants have fitted so far. */
typedef struct {
    int length, time, mass;
    bool fits;
} unit;

static real put(unit *u, double value, int exponent) {
    real out;
    u->fits = real_from_model(value, exponent, &out) && u->fits;
    return out;
}

static DYN_T(gain) put_gain(unit *u, double value, int exponent) {
    DYN_T(gain) out;
    u->fits = gain_from_model(value, exponent, &out) && u->fits;
    return out;
}

static vec put_vec(unit *u, const double x[3], int exponent) {
    return vec_make(put(u, x[0], exponent), put(u, x[1], exponent), put(u, x[2], exponent));
}

/* Stores mass, first moment and Euler's tensor of a body about the origin. */
static void put_body(unit *u, const dyn_body_t *in, real *M, vec *b, sym *E) {
    const dyn_pseudo_t s = dyn_pseudo_body(in);
    const double first[3] = {s.p[0][3], s.p[1][3], s.p[2][3]};
    const int moment = u->mass + 2 * u->length;
    *M = put(u, in->mass, u->mass);
    *b = put_vec(u, first, u->mass + u->length);
    *E = sym_make(put(u, s.p[0][0], moment), put(u, s.p[1][1], moment), put(u, s.p[2][2], moment),
                  put(u, s.p[0][1], moment), put(u, s.p[1][2], moment), put(u, s.p[0][2], moment));
}

static turn put_turn(double angle) {
    double c, s;
    dyn_exact_turn(angle, &c, &s);
    return (turn){turn_from_model(c), turn_from_model(s)};
}

/* Stores the constants of the modes. Bending amplitudes have the unit of length and torsion
 * amplitudes have no unit, so that the unit of a product of two modes depends on their kinds. */
static void put_modes(unit *u, const dyn_flex_link_t *in, flex_body *out) {
    const uint32_t modes = dyn_flex_modes(in), bends = modes - in->modes[DYN_FLEX_TORSION];
    double compliance[DYN_FLEX_LINK_MODES][DYN_FLEX_LINK_MODES];
    out->damping = put_gain(u, in->damping, u->time);
    for (uint32_t k = 0; k < modes; k++) {
        const dyn_flex_mode_t *mode = &in->mode[k];
        const int own = k < bends ? 0 : u->length;
        out->tip[k] = put(u, mode->tip, 0);
        out->slope[k] = put(u, mode->slope, own - u->length);
        out->weight[k] = put(u, mode->weight, u->mass + 2 * own);
        out->moment[k] = put(u, mode->moment, u->mass + u->length);
        for (uint32_t g = 0; g < modes; g++) {
            const int length = own + (g < bends ? 0 : u->length);
            out->mass[k][g] = put(u, mode->mass[g], u->mass + length);
            out->stiffness[k][g] = put_gain(u, mode->stiffness[g], u->mass + length - 2 * u->time);
            compliance[k][g] = mode->stiffness[g];
        }
    }
    (void)dyn_flex_invert(modes, compliance); /* cannot fail after dyn_flex_check */
    for (uint32_t k = 0; k < modes; k++)
        for (uint32_t g = 0; g < modes; g++) {
            const int length = (k < bends ? 0 : u->length) + (g < bends ? 0 : u->length);
            out->compliance[k][g] = put_gain(u, compliance[k][g], 2 * u->time - u->mass - length);
        }
}

static void put_tool(unit *u, const dyn_pose_t *tool, double before, DYN_T(pose) *out) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            out->r[i][k] = turn_from_model(tool->r[i][k]);
        out->p[i] = put(u, tool->p[i] - (i == 0 ? before : 0), u->length);
    }
}

static void put_link(unit *u, const dyn_model_t *model, const dyn_flex_model_t *in, uint32_t i,
                     flex_body *out) {
    const dyn_flex_link_t *link = &in->link[i];
    const bool beam = dyn_flex_modes(link) > 0, last = i + 1 == model->n;
    const bool on_beam = i > 0 && dyn_flex_modes(&in->link[i - 1]) > 0;
    /* A payload on an elastic last link is a body at the end of the beam (`loaded`); on a rigid
     * last link it is part of that link. */
    const dyn_body_t body = last && !beam ? dyn_model_last_link(model) : model->joint[i].link;
    const double next = last ? 0 : model->joint[i + 1].alpha;
    out->modes = (uint8_t)dyn_flex_modes(link);
    out->y = (uint8_t)link->modes[DYN_FLEX_XY];
    out->z = (uint8_t)link->modes[DYN_FLEX_XZ];
    out->at = (uint8_t)dyn_flex_index(in, i);
    out->a = put(u, on_beam ? 0 : model->joint[i].a, u->length);
    out->l = put(u, beam ? link->length : 0, u->length);
    out->next = put_turn(next);
    out->next_angle = angle_from_model(next);
    put_body(u, &body, &out->M, &out->b, &out->E);
    put_modes(u, link, out);
}

static bool has_body(const dyn_body_t *body) {
    bool some = body->mass != 0;
    for (int i = 0; i < 6; i++)
        some = some || body->inertia[i] != 0;
    return some;
}

int DYN(prepare_flex)(const dyn_model_t *model, const dyn_flex_model_t *in,
                      const dyn_units_t *units, flex *out) {
    const int status = dyn_flex_check(model, in);
    if (status != DYN_OK)
        return status;
    if (!units)
        units = &si_units;
    const uint32_t last = model->n - 1;
    const bool beam = dyn_flex_modes(&in->link[last]) > 0;
    unit u = {units->length, units->time, 0, true};
    out->n = model->n;
    out->size = dyn_flex_size(model, in);
    out->linear = in->linear;
    for (uint32_t i = 0; i <= last; i++) {
        u.mass = units->mass[i];
        put_link(&u, model, in, i, &out->link[i]);
    }
    const double l = beam ? in->link[last].length : 0;
    dyn_body_t end = model->payload;
    end.com[0] -= l;
    out->loaded = beam && has_body(&model->payload);
    if (!out->loaded)
        end = (dyn_body_t){0};
    put_body(&u, &end, &out->end_M, &out->end_b, &out->end_E);
    put_tool(&u, &model->tool, l, &out->tool);
    return u.fits ? DYN_OK : DYN_E_UNITS;
}
