/*
 * Inverse dynamics `ne`: the recursive Newton-Euler equations of Luh, Walker and Paul as N. M.
 * Swartz gives them in "Arm Dynamics Simulation" (1982), the Inverse Arm, equations (1) to (10).
 *
 * Symbols as in the paper: w, wd are angular velocity and acceleration of a link, vd linear
 * acceleration of its origin, vs that of its centre of mass, F and N net force and moment, f and n
 * the load from its parent, s the centre of mass, J the inertia about it, p from the parent's
 * origin to ours, A the frame change, Z = (0, 0, 1).
 *
 * Different from the paper: frames are modified Denavit-Hartenberg, so that the axis of joint i is
 * Z of frame i itself and p is (a, 0, d) in the half-turned frame; prismatic joints are added; the
 * friction of (10) is not part of the recursion. (3) is not needed. Corrected: in appendix (5)
 * w x s + s x (w x s) must be wd x s + w x (w x s); (10) runs over all joints, N to 1.
 *
 * Operations (revolute, n >= 2; test_dyn_count): 111n - 96 multiplications, 84n - 87 additions;
 * with zero acceleration, ne_bias, 111n - 115 and 83n - 103 (n >= 3).
 * Scratch: sizeof(dyn_ne_link) for each joint, 36 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/newton.h"

/* If `still` is set, no joint accelerates; the compiler knows these zeros. */
INLINE void recursion(const arm *a, ne_scratch *scratch, const real q[], const real qd[],
                      const real qdd[], bool still, real tau[]) {
    const joint *j = a->joint;
    ne_link *link = scratch->link;
    const uint32_t last = a->n - 1;
    const load none = {vec_zero(), vec_zero()};
    motion m = {vec_zero(), vec_zero(), a->base_acceleration};
    ne_link first;

    /* The base is at rest: the compiler knows these zeros, which makes the first link cheap. Only
     * the component of the first link's own load on its axis is needed. */
    m = outward(0, j, frame_first(j, q[0]), m, qd[0], still ? real_known(0) : qdd[0], &first);
    tau[0] = along_axis(j, total(0, &first, none));
    for (uint32_t i = 1; i <= last; i++)
        m = outward(i, &j[i], frame_at(&j[i], q[i]), m, qd[i], still ? real_known(0) : qdd[i],
                    &link[i]);
    if (last == 0)
        return;

    /* The last link carries no other link: the compiler knows these zeros too. */
    load here = total(last, &link[last], none);
    tau[last] = along_axis(&j[last], here);
    NAMED(last, tau[last]);
    load down = inward(&j[last], &link[last], here);
    for (uint32_t i = last - 1; i > 0; i--) {
        here = total(i, &link[i], down);
        tau[i] = along_axis(&j[i], here);
        NAMED(i, tau[i]);
        down = inward(&j[i], &link[i], here);
    }
    NAMED(0, down.f);
    NAMED(0, down.n);
    tau[0] = real_add(tau[0], along_axis(j, down));
    NAMED(0, tau[0]);
}

void DYN(ne_inverse)(const arm *a, ne_scratch *scratch, const real q[], const real qd[],
                     const real qdd[], real tau[]) {
    recursion(a, scratch, q, qd, qdd, false, tau);
}

void DYN(ne_bias)(const arm *a, ne_scratch *scratch, const real q[], const real qd[], real tau[]) {
    recursion(a, scratch, q, qd, qd, true, tau);
}
