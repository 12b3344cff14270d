/*
 * The assumed modes of elastic links: shapes, and the integrals over them that the kernels need
 * (dyn/model/flex_model.h; paper 004, equations (34) to (42) and (52) to (54)).
 *
 * Shapes are those of the clamped-free beam, scaled so that the mean of phi^2 over the length is 1
 * and phi(l) > 0: of bending (then phi(l) = 2) and of torsion (sqrt 2). Or they are tables of the
 * robot file, used as they are: a cubic spline through the values, with the clamped root's slope of
 * zero and no bending moment at the end; for torsion without curvature at the root and without
 * torque at the end.
 */
#ifndef TOOLS_ROBOT_MODES_H
#define TOOLS_ROBOT_MODES_H

#include "dyn/model/flex_model.h"
#include "tools/robot/robot.h"

typedef struct {
    dyn_flex_kind_t kind;
    double length; /* m */
    /* Closed form: frequency times length, what stands before the growing exponential, sign. */
    double beta, growth, sigma, sign;
    /* Table: values and second derivatives at count equal steps; NULL for the closed form. */
    double *value, *second;
    uint32_t count;
} modes_shape_t;

/* beta l of clamped-free bending, k = 0, 1, ...: root of cos b cosh b = -1. */
double modes_root(uint32_t k);

/* Shape k of its kind. false where the memory is exhausted; to be freed in either case. */
bool modes_shape(const robot_flex_t *beam, dyn_flex_kind_t kind, uint32_t k, modes_shape_t *out);
void modes_shape_free(modes_shape_t *shape);
/* phi and its derivatives by x, 0 <= x <= length, 0 <= order <= 2. */
double modes_at(const modes_shape_t *shape, double x, int order);

/* The undeformed beam as a rigid link: a thin rod. */
dyn_body_t modes_stiff(const robot_flex_t *beam);

/* The integrals of one beam. 0, or -1 with an error among the messages. */
int modes_link(const robot_flex_t *beam, message_place_t place, dyn_flex_link_t *out,
               messages_t *messages);

/*
 * The elastic side of the arm, for dyn_prepare_flex beside robot->model. 0, or -1 with errors: more
 * joints or modes than the kernels are built for.
 */
int modes_robot(const robot_t *robot, dyn_flex_model_t *out, messages_t *messages);

#endif
