/* Computes the closed forms of solid.h. */
#include "tools/robot/solid.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double frustum_sum(double a, double b) {
    return a * a + a * b + b * b;
}

double solid_volume(const solid_t *s) {
    const double r = s->radius, l = s->length;
    switch (s->shape) {
    case SOLID_CYLINDER:
        return pi * r * r * l;
    case SOLID_SEMI_CYLINDER:
        return pi * r * r * l / 2;
    case SOLID_CONE:
        return pi * r * r * l / 3;
    case SOLID_FRUSTUM:
        return pi * l / 3 * frustum_sum(r, s->top_radius);
    case SOLID_SPHERE:
        return 4 * pi / 3 * r * r * r;
    case SOLID_BOX:
        return s->size[0] * s->size[1] * s->size[2];
    case SOLID_TUBE:
        return pi * (r - s->inner_radius) * (r + s->inner_radius) * l;
    }
    return 0;
}

static dyn_body_t diagonal(double mass, double z, double xx, double yy, double zz) {
    return (dyn_body_t){.mass = mass, .com = {0, 0, z}, .inertia = {xx, yy, zz, 0, 0, 0}};
}

/* Integrates over discs of radius r(z) = a + (b - a) z / l. A cone is the frustum with b = 0. */
static dyn_body_t frustum(double m, double a, double b, double l) {
    const double sum = frustum_sum(a, b);
    const double z = l / 4 * (a * a + 2 * a * b + 3 * b * b) / sum;
    const double fourth =
        a * a * a * a + a * a * a * b + a * a * b * b + a * b * b * b + b * b * b * b;
    const double zz = 0.3 * m * fourth / sum;
    /* xx is half of zz plus the moment of z^2, first about the base plane and then moved to the
     * centre of mass. */
    const double squares = l * l / 10 * (a * a + 3 * a * b + 6 * b * b) / sum;
    const double xx = zz / 2 + m * (squares - z * z);
    return diagonal(m, z, xx, xx, zz);
}

dyn_body_t solid_body(const solid_t *s, double m) {
    const double r = s->radius, l = s->length, x = s->size[0], y = s->size[1], z = s->size[2];
    double across;
    switch (s->shape) {
    case SOLID_CYLINDER:
        across = m * (3 * r * r + l * l) / 12;
        return diagonal(m, l / 2, across, across, m * r * r / 2);
    case SOLID_SEMI_CYLINDER: {
        /* distance of the centroid of a half disc from its diameter */
        const double c = 4 * r / (3 * pi);
        across = m * (r * r / 4 + l * l / 12);
        dyn_body_t body = diagonal(m, l / 2, across - m * c * c, across, m * (r * r / 2 - c * c));
        body.com[1] = c;
        return body;
    }
    case SOLID_CONE:
        return frustum(m, r, 0, l);
    case SOLID_FRUSTUM:
        return frustum(m, r, s->top_radius, l);
    case SOLID_SPHERE:
        across = 0.4 * m * r * r;
        return diagonal(m, 0, across, across, across);
    case SOLID_BOX:
        return diagonal(m, 0, m * (y * y + z * z) / 12, m * (x * x + z * z) / 12,
                        m * (x * x + y * y) / 12);
    case SOLID_TUBE: {
        const double squares = r * r + s->inner_radius * s->inner_radius;
        across = m * (3 * squares + l * l) / 12;
        return diagonal(m, l / 2, across, across, m * squares / 2);
    }
    }
    return (dyn_body_t){0};
}

dyn_body_t solid_join(const dyn_body_t *body, uint32_t count) {
    dyn_body_t out = {0};
    for (uint32_t k = 0; k < count; k++)
        out.mass += body[k].mass;
    if (out.mass == 0)
        return out;
    for (uint32_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            out.com[i] += body[k].mass / out.mass * body[k].com[i];
    for (uint32_t k = 0; k < count; k++) {
        const double m = body[k].mass, x = body[k].com[0] - out.com[0],
                     y = body[k].com[1] - out.com[1], z = body[k].com[2] - out.com[2];
        const double steiner[6] = {y * y + z * z, x * x + z * z, x * x + y * y,
                                   -x * y,        -y * z,        -x * z};
        for (int i = 0; i < 6; i++)
            out.inertia[i] += body[k].inertia[i] + m * steiner[i];
    }
    return out;
}
