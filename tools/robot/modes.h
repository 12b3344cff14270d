/*
 * The assumed modes of elastic links: shapes, and the integrals over them that the kernels need
 * (dyn/model/flex_model.h; paper 004, equations (34) to (42) and (52) to (54)).
 *
 * By default the shapes are those of the clamped-free beam, scaled so that the mean of phi^2 over
 * the length is 1 and phi(l) > 0. Then phi(l) is 2 for bending and sqrt 2 for torsion. A robot file
 * may give tables instead, which are used without scaling: a cubic spline goes through the values.
 * For bending the slope is zero at the clamped root and the bending moment is zero at the end; for
 * torsion the second derivative is zero at the root and the torque is zero at the end.
 */
#ifndef TOOLS_ROBOT_MODES_H
#define TOOLS_ROBOT_MODES_H

#include "dyn/model/flex_model.h"
#include "tools/robot/robot.h"

typedef struct {
    dyn_flex_kind_t kind;
    double length; /* m */
    /* Closed form: beta (wave number times length), the coefficient of the growing exponential,
     * sigma, and the sign. */
    double beta, growth, sigma, sign;
    /* Table: values and second derivatives at `count` equally spaced points; NULL for the closed
     * form. */
    double *value, *second;
    uint32_t count;
} modes_shape_t;

/* Returns beta (wave number times length) of the clamped-free bending mode k = 0, 1, ...: a root of
 * cos beta cosh beta = -1. */
double modes_root(uint32_t k);

/* Makes mode shape k of this kind. Returns false if there is no memory; call modes_shape_free in
 * either case. */
bool modes_shape(const robot_flex_t *beam, dyn_flex_kind_t kind, uint32_t k, modes_shape_t *out);
void modes_shape_free(modes_shape_t *shape);
/* Returns phi or its derivative with respect to x, for 0 <= x <= length and 0 <= order <= 2. */
double modes_at(const modes_shape_t *shape, double x, int order);

/* Returns the undeformed beam as a rigid link, which is a thin rod. */
dyn_body_t modes_stiff(const robot_flex_t *beam);

/* Computes the integrals of one beam. Returns 0, or -1 with an error among the messages. */
int modes_link(const robot_flex_t *beam, message_place_t place, dyn_flex_link_t *out,
               messages_t *messages);

/* Makes the elastic part of the arm, which dyn_prepare_flex needs in addition to robot->model.
 * Returns 0, or -1 with errors: the kernels are built for fewer joints or modes, a stiffness matrix
 * is not positive definite, or there is no memory. */
int modes_robot(const robot_t *robot, dyn_flex_model_t *out, messages_t *messages);

#endif
