/* The mass distribution of a body as one symmetric 4x4 matrix P: the integral of (r, 1) (r, 1)^T
 * dm. Its blocks are Euler's tensor about the origin, the first moment and the mass. P is linear in
 * the mass, and a change of frame is T P T^T, so that bodies in one frame are joined and taken
 * apart by plain sums. */
#ifndef DYN_MODEL_PSEUDO_INERTIA_H
#define DYN_MODEL_PSEUDO_INERTIA_H

#include "dyn/model/model.h"

typedef struct {
    double p[4][4];
} dyn_pseudo_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the matrix of a body, in the frame of the body. */
dyn_pseudo_t dyn_pseudo_body(const dyn_body_t *body);
/* sum += T part T^T, where `pose` (T) is the pose of the part's own frame. */
void dyn_pseudo_add(dyn_pseudo_t *sum, const dyn_pseudo_t *part, const dyn_pose_t *pose);

/*
 * Returns the base inertial parameters of link i; call it from the last link to the first. The part
 * of a link that moves rigidly with the parent link at every position of the joint is counted at
 * the parent and not here:
 *   revolute   mass on the axis: m, the first moment m z and Jzz
 *   prismatic  Euler's tensor, which a displacement of the axes does not change
 * The torques stay exactly the same. `carry` passes that part from link to link; begin with zero.
 * The frame of a revolute link is moved along its axis to the foot of the common normal from the
 * parent: see dyn_pseudo_rise.
 */
dyn_pseudo_t dyn_pseudo_regroup(const dyn_model_t *model, uint32_t i, dyn_pseudo_t *carry);

/* Returns the rise of a link whose parent is link `before`. The frames of the regrouped links have
 * the axes of the model's frames, but the origin of a revolute link is moved by -d along its axis.
 * The vector from the parent's origin is then (a, 0, rise) on the parent's axes, where rise is the
 * d of the parent joint (0 if the parent joint is prismatic). A prismatic joint adds its own d
 * along its axis. */
double dyn_pseudo_rise(const dyn_model_t *model, uint32_t before);

#ifdef __cplusplus
}
#endif

#endif
