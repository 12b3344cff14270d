/*
 * Mass, centre of mass and inertia of the simple solids of parts databases, in closed form. Round
 * solids stand with their base on the plane z = 0 and reach up to z = length; box and sphere are
 * centred at the origin.
 */
#ifndef TOOLS_ROBOT_SOLID_H
#define TOOLS_ROBOT_SOLID_H

#include <stdint.h>

#include "dyn/model/model.h"

typedef enum {
    SOLID_CYLINDER,      /* radius, length */
    SOLID_SEMI_CYLINDER, /* radius, length; the half with y >= 0 of a cylinder */
    SOLID_CONE,          /* radius at z = 0; length up to the apex */
    SOLID_FRUSTUM,       /* radius at z = 0, top_radius at z = length; length */
    SOLID_SPHERE,        /* radius */
    SOLID_BOX,           /* size: the three full edge lengths */
    SOLID_TUBE           /* radius is the outer radius; inner_radius, length */
} solid_shape_t;

typedef struct {
    solid_shape_t shape;
    double radius, inner_radius, top_radius, length; /* m */
    double size[3];                                  /* m */
} solid_t;

/* m^3 */
double solid_volume(const solid_t *solid);
/* Returns the body of a homogeneous solid with this mass. */
dyn_body_t solid_body(const solid_t *solid, double mass);
/* Joins bodies rigidly. All are in one frame; a hole is a body of negative mass and inertia. */
dyn_body_t solid_join(const dyn_body_t *body, uint32_t count);

#endif
