/* Computes the mode shapes of beams and the integrals over them (tools/robot/modes.h). */
#include "tools/robot/modes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* --------------------------------------------------------------------------------------- shapes */

double modes_root(uint32_t k) {
    /* Newton's method on cos b + 1/cosh b = 0. Unlike cos b cosh b + 1, this function does not grow
     * with b. From (k + 1/2) pi it needs a few steps. */
    double b = k == 0 ? 1.875 : (k + 0.5) * pi;
    for (int i = 0; i < 50; i++) {
        const double step = (cos(b) + 1 / cosh(b)) / (-sin(b) - tanh(b) / cosh(b));
        b -= step;
        if (fabs(step) < 1e-16 * b)
            break;
    }
    return b;
}

/*
 * phi = cosh bx - cos bx - sigma (sinh bx - sin bx), sigma = (cosh b + cos b) / (sinh b + sin b).
 * For higher modes cosh and sinh cancel. Written with exponentials nothing cancels: phi = (growth
 * e^bx + (1 + sigma) e^-bx) / 2 - cos bx + sigma sin bx, growth = 1 - sigma.
 */
static void closed_bending(modes_shape_t *s, uint32_t k) {
    const double b = modes_root(k), below = sinh(b) + sin(b);
    s->beta = b;
    s->sigma = (cosh(b) + cos(b)) / below;
    s->growth = (sin(b) - cos(b) - exp(-b)) / below;
    s->sign = k % 2 == 0 ? 1 : -1;
}

static double bending_at(const modes_shape_t *s, double x, int order) {
    const double b = s->beta / s->length, at = b * x;
    const double up = s->growth * exp(at) / 2, down = (1 + s->sigma) * exp(-at) / 2;
    switch (order) {
    case 0:
        return s->sign * (up + down - cos(at) + s->sigma * sin(at));
    case 1:
        return s->sign * b * (up - down + sin(at) + s->sigma * cos(at));
    default:
        return s->sign * b * b * (up + down + cos(at) - s->sigma * sin(at));
    }
}

static double torsion_at(const modes_shape_t *s, double x, int order) {
    const double b = s->beta / s->length;
    return s->sign * sqrt(2) *
           (order == 0   ? sin(b * x)
            : order == 1 ? b * cos(b * x)
                         : -b * b * sin(b * x));
}

/*
 * Finds the second derivatives of the spline. Inside: m_i-1 + 4 m_i + m_i+1 = 6 (y_i-1 - 2 y_i +
 * y_i+1) / h^2. At an end with zero slope: 2 m_0 + m_1 = 6 (y_1 - y_0) / h^2. At an end with zero
 * curvature: m = 0. The tridiagonal system is eliminated from the root to the end.
 */
static void spline(modes_shape_t *s, double *work) {
    const uint32_t last = s->count - 1;
    const double h = s->length / last, *y = s->value;
    const bool flat_root = s->kind != DYN_FLEX_TORSION, flat_end = !flat_root;
    double *m = s->second;
    work[0] = flat_root ? 0.5 : 0;
    m[0] = flat_root ? 3 * (y[1] - y[0]) / (h * h) : 0;
    for (uint32_t i = 1; i < last; i++) {
        const double below = 4 - work[i - 1];
        work[i] = 1 / below;
        m[i] = (6 * (y[i - 1] - 2 * y[i] + y[i + 1]) / (h * h) - m[i - 1]) / below;
    }
    /* m_n-1 + 2 m_n = -6 (y_n - y_n-1) / h^2 */
    m[last] = flat_end
                  ? (-6 * (y[last] - y[last - 1]) / (h * h) - m[last - 1]) / (2 - work[last - 1])
                  : 0;
    for (uint32_t i = last; i-- > 0;)
        m[i] -= work[i] * m[i + 1];
}

static double table_at(const modes_shape_t *s, double x, int order) {
    const double h = s->length / (s->count - 1);
    uint32_t i = (uint32_t)fmax(0, x / h);
    if (i > s->count - 2)
        i = s->count - 2;
    const double u = x / h - i, v = 1 - u, *y = &s->value[i], *m = &s->second[i];
    switch (order) {
    case 0:
        return v * y[0] + u * y[1] + h * h / 6 * ((v * v * v - v) * m[0] + (u * u * u - u) * m[1]);
    case 1:
        return (y[1] - y[0]) / h + h / 6 * ((1 - 3 * v * v) * m[0] + (3 * u * u - 1) * m[1]);
    default:
        return v * m[0] + u * m[1];
    }
}

bool modes_shape(const robot_flex_t *beam, dyn_flex_kind_t kind, uint32_t k, modes_shape_t *out) {
    const robot_shape_t *table = kind == DYN_FLEX_XY   ? beam->shape_xy
                                 : kind == DYN_FLEX_XZ ? beam->shape_xz
                                                       : beam->shape_torsion;
    *out = (modes_shape_t){.kind = kind, .length = beam->length, .sign = 1};
    if (!table) {
        if (kind != DYN_FLEX_TORSION) {
            closed_bending(out, k);
        } else {
            out->beta = (k + 0.5) * pi;
            out->sign = k % 2 == 0 ? 1 : -1;
        }
        return true;
    }
    out->count = table[k].count;
    out->value = malloc(out->count * sizeof *out->value);
    out->second = malloc(out->count * sizeof *out->second);
    double *work = malloc(out->count * sizeof *work);
    const bool good = out->value && out->second && work;
    if (good) {
        memcpy(out->value, table[k].value, out->count * sizeof *out->value);
        spline(out, work);
    }
    free(work);
    return good;
}

void modes_shape_free(modes_shape_t *shape) {
    free(shape->value);
    free(shape->second);
    shape->value = shape->second = NULL;
}

double modes_at(const modes_shape_t *shape, double x, int order) {
    if (shape->value)
        return table_at(shape, x, order);
    return shape->kind == DYN_FLEX_TORSION ? torsion_at(shape, x, order)
                                           : bending_at(shape, x, order);
}

/* ------------------------------------------------------------------------------------ integrals */

/* Gauss-Legendre quadrature, 8 points on -1 .. 1. */
static const double point[4] = {0.18343464249564980494, 0.52553240991632898582,
                                0.79666647741362673959, 0.96028985649753623168};
static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                 0.22238103445337447054, 0.10122853629037625915};

/* Number of pieces for a closed-form shape. Each is about a ninth of a wave of the eighth bending
 * mode; 8 points are exact to the last digits on such a piece. */
#define PIECES 32u

/* One factor of an integrand: a derivative of a shape, x, or 1. */
typedef struct {
    const modes_shape_t *shape;
    int order; /* order of the derivative; if shape is NULL, the power of x */
} factor_t;

static double factor_at(factor_t f, double x) {
    return f.shape ? modes_at(f.shape, x, f.order) : f.order == 0 ? 1 : x;
}

static uint32_t pieces_of(factor_t f) {
    return f.shape && f.shape->value ? f.shape->count - 1 : PIECES;
}

/* Integrates the product a b over the beam, in pieces that end wherever a piece of a or of b
 * ends. */
static double integral(double length, factor_t a, factor_t b) {
    const uint32_t na = pieces_of(a), nb = pieces_of(b);
    double sum = 0, from = 0;
    for (uint32_t i = 0, k = 0; i < na && k < nb;) {
        const double to_a = length * (i + 1) / na, to_b = length * (k + 1) / nb;
        const double to = fmin(to_a, to_b), middle = (from + to) / 2, half = (to - from) / 2;
        for (int p = 0; p < 4; p++)
            for (int side = -1; side <= 1; side += 2) {
                const double x = middle + side * half * point[p];
                sum += half * weight[p] * factor_at(a, x) * factor_at(b, x);
            }
        from = to;
        i += to_a <= to;
        k += to_b <= to;
    }
    return sum;
}

dyn_body_t modes_stiff(const robot_flex_t *beam) {
    const double l = beam->length, m = beam->mass_per_length * l, across = m * l * l / 12;
    return (dyn_body_t){m, {l / 2, 0, 0}, {beam->polar_inertia * l, across, across, 0, 0, 0}};
}

typedef struct {
    const robot_flex_t *beam;
    modes_shape_t shape[DYN_FLEX_LINK_MODES];
    uint32_t modes;
} beam_t;

static double stiffness_of(const robot_flex_t *beam, dyn_flex_kind_t kind) {
    return kind == DYN_FLEX_XY ? beam->EI_z : kind == DYN_FLEX_XZ ? beam->EI_y : beam->GJ;
}

static void mode_pair(const beam_t *b, uint32_t k, uint32_t g, dyn_flex_mode_t *out) {
    const modes_shape_t *one = &b->shape[k], *two = &b->shape[g];
    const bool torsion = one->kind == DYN_FLEX_TORSION, same = one->kind == two->kind;
    const double l = b->beam->length;
    const int order = torsion ? 1 : 2;
    if (torsion == (two->kind == DYN_FLEX_TORSION))
        out->mass[g] = (torsion ? b->beam->polar_inertia : b->beam->mass_per_length) *
                       integral(l, (factor_t){one, 0}, (factor_t){two, 0});
    if (same)
        out->stiffness[g] = stiffness_of(b->beam, one->kind) *
                            integral(l, (factor_t){one, order}, (factor_t){two, order});
}

static void mode_of(const beam_t *b, uint32_t k, dyn_flex_mode_t *out) {
    const modes_shape_t *s = &b->shape[k];
    const factor_t one = {NULL, 0}, x = {NULL, 1}, phi = {s, 0};
    const double l = b->beam->length, mu = b->beam->mass_per_length;
    *out = (dyn_flex_mode_t){0};
    if (s->kind == DYN_FLEX_TORSION) {
        out->slope = modes_at(s, l, 0);
        out->weight = b->beam->polar_inertia * integral(l, one, phi);
    } else {
        out->tip = modes_at(s, l, 0);
        out->slope = (s->kind == DYN_FLEX_XY ? 1 : -1) * modes_at(s, l, 1);
        out->weight = mu * integral(l, one, phi);
        out->moment = mu * integral(l, x, phi);
    }
    for (uint32_t g = 0; g < b->modes; g++)
        mode_pair(b, k, g, out);
}

static int too_many(messages_t *messages, message_place_t place, uint32_t modes) {
    messages_add(messages, MESSAGE_ERROR, MESSAGE_FLEX, place,
                 "take fewer modes, or build with a larger DYN_FLEX_LINK_MODES",
                 "one link has %u modes; the kernels are built for at most %u", (unsigned)modes,
                 DYN_FLEX_LINK_MODES);
    return -1;
}

int modes_link(const robot_flex_t *beam, message_place_t place, dyn_flex_link_t *out,
               messages_t *messages) {
    const uint32_t of_kind[DYN_FLEX_KINDS] = {beam->modes_xy, beam->modes_xz, beam->modes_torsion};
    beam_t b = {.beam = beam};
    const uint32_t modes = of_kind[0] + of_kind[1] + of_kind[2];
    bool good = true;
    if (modes > DYN_FLEX_LINK_MODES)
        return too_many(messages, place, modes);
    *out = (dyn_flex_link_t){.length = beam->length, .damping = beam->damping};
    for (int kind = 0; kind < DYN_FLEX_KINDS; kind++) {
        out->modes[kind] = of_kind[kind];
        for (uint32_t k = 0; k < of_kind[kind]; k++)
            good = modes_shape(beam, (dyn_flex_kind_t)kind, k, &b.shape[b.modes++]) && good;
    }
    for (uint32_t k = 0; good && k < modes; k++)
        mode_of(&b, k, &out->mode[k]);
    for (uint32_t k = 0; k < modes; k++)
        modes_shape_free(&b.shape[k]);
    if (!good)
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, NULL,
                     "there is not enough memory");
    return good ? 0 : -1;
}

int modes_robot(const robot_t *robot, dyn_flex_model_t *out, messages_t *messages) {
    *out = (dyn_flex_model_t){.linear = false};
    if (robot->n > DYN_FLEX_MAX_JOINTS) {
        messages_add(
            messages, MESSAGE_ERROR, MESSAGE_FLEX,
            (message_place_t){robot->file, robot->line_joints, NULL},
            "compute with --rigid, or build with a larger DYN_FLEX_MAX_JOINTS",
            "the robot has %u joints; the kernels for elastic links are built for at most %u",
            (unsigned)robot->n, DYN_FLEX_MAX_JOINTS);
        return -1;
    }
    if (robot->integrals)
        *out = *robot->integrals;
    for (uint32_t i = 0; i < robot->n && !robot->integrals; i++) {
        const robot_joint_t *joint = &robot->joint[i];
        const message_place_t place = {robot->file, joint->line.flex, joint->name};
        if (joint->elastic && modes_link(&joint->flex, place, &out->link[i], messages) != 0)
            return -1;
    }
    const uint32_t size = dyn_flex_size(&robot->model, out);
    const message_place_t place = {robot->file, robot->line_joints, NULL};
    const int status = size > DYN_FLEX_MAX ? DYN_OK : dyn_flex_check(&robot->model, out);
    if (size > DYN_FLEX_MAX)
        messages_add(
            messages, MESSAGE_ERROR, MESSAGE_FLEX, place,
            "take fewer modes, or build with a larger DYN_FLEX_MAX",
            "the robot has %u joints and modes in total; the kernels are built for at most %u",
            (unsigned)size, DYN_FLEX_MAX);
    else if (status != DYN_OK)
        messages_add(messages, MESSAGE_ERROR, MESSAGE_FLEX, place,
                     "check whether a link has the same shape twice",
                     "the stiffness matrix of a link's modes is not positive definite");
    return size > DYN_FLEX_MAX || status != DYN_OK ? -1 : 0;
}
