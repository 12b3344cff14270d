/*
 * Wrench on the end effector: tau -= J^T W, the end effector terms of Swartz's equation (13) by the
 * inward half of the recursion (8) to (10). W = [f, n] is what the surroundings exert on the end
 * effector, at its origin and on its axes. So Swartz's text defines f_hand, but his equations have
 * the opposite sign. Call it after inverse dynamics. Forward dynamics needs tau + J^T W as its
 * input: call this kernel with -W before it.
 *
 * Operations (revolute; test_dyn_wrench): 20n + 4 multiplications, 13n + 6 additions, of which the
 * tool takes 24 and 18. No scratch. q31: W in the mass unit of the last link, force in kg
 * length / time^2, moment in kg length^2 / time^2.
 */
#include "dyn/number/real.h"

#include "dyn/number/rigid.h"

typedef struct {
    vec f, n;
} load;

INLINE real axis_part(const joint *j, load W) {
    return j->prismatic ? W.f.z : W.n.z;
}

INLINE load load_to_parent(const joint *j, frame A, load W) {
    const vec f = child_to_half(A, vec_to_parent_unit(j, W.f));
    vec n = child_to_half(A, vec_to_parent_unit(j, W.n));
    n = vec_add_cross(n, A.p, f);
    return (load){half_to_parent(A, f), half_to_parent(A, n)};
}

void DYN(wrench_torque)(const arm *a, const real q[], const real wrench[6], real tau[]) {
    const joint *j = a->joint;
    load W;
    W.f = pose_turn(&a->tool, vec_make(wrench[0], wrench[1], wrench[2]));
    W.n = pose_turn(&a->tool, vec_make(wrench[3], wrench[4], wrench[5]));
    W.n = vec_add_cross(W.n, pose_origin(&a->tool), W.f);
    for (uint32_t i = a->n - 1; i > 0; i--) {
        NAMED(i, W.f);
        NAMED(i, W.n);
        tau[i] = real_sub(tau[i], axis_part(&j[i], W));
        W = load_to_parent(&j[i], frame_at(&j[i], q[i]), W);
    }
    /* The component of W on the first joint's axis is the same at every angle, so no position is
     * needed. */
    tau[0] = real_sub(tau[0], axis_part(j, W));
}
