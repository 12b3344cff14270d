/* Forces on elastic links besides inertia: the stiffness, (56) of paper 004, damping proportional
 * to the stiffness, and a wrench on the end effector. The wrench acts on a mode through the
 * deflection and the turn that the mode gives to the end of the beam; the paper leaves this out. */
#include "dyn/number/real.h"

#include "dyn/flex/flex.h"
#include "dyn/number/rigid.h"

INLINE void strain(const flex *f, const real theta[], const real thetad[], real force[]) {
    for (uint32_t i = 0; i < f->n; i++) {
        const flex_body *B = &f->link[i];
        const uint32_t at = B->at + 1u;
        for (uint32_t k = 0; k < B->modes; k++) {
            real x = theta[at + k];
            if (thetad)
                x = real_add(x, gain_mul(B->damping, thetad[at + k]));
            for (uint32_t g = kind_begin(B, k); g < kind_end(B, k); g++)
                force[at + g] = real_add(force[at + g], gain_mul(B->stiffness[k][g], x));
        }
    }
}

void DYN(flex_strain)(const flex *f, const real theta[], const real thetad[], real force[]) {
    strain(f, theta, thetad, force);
}

void DYN(flex_wrench)(const arm *a, const flex *f, flex_scratch *scratch, const real theta[],
                      const real wrench[6], real force[]) {
    flex_link *link = scratch->link;
    const uint32_t last = f->n - 1;
    for (uint32_t i = 0; i <= last; i++)
        flex_place(a, f, i, theta, &link[i]);
    load end;
    end.f = pose_turn(&f->tool, vec_make(wrench[0], wrench[1], wrench[2]));
    end.n = pose_turn(&f->tool, vec_make(wrench[3], wrench[4], wrench[5]));
    end.n = vec_add_cross(end.n, pose_origin(&f->tool), end.f);
    const turn x = turn_load(&link[last].next);
    end = (load){vec_turn_back_x(x, end.f), vec_turn_back_x(x, end.n)};
    for (uint32_t i = last;; i--) {
        const flex_body *B = &f->link[i];
        if (B->modes > 0) {
            grip g;
            end = load_from_end(f, B, &link[i], end, &g);
            for (uint32_t k = 0; k < B->modes; k++) {
                real *at = &force[B->at + 1 + k];
                *at = real_sub(*at, mode_load(B, k, g));
            }
        }
        force[B->at] = real_sub(force[B->at], along_axis(&a->joint[i], end));
        if (i == 0)
            break;
        end = load_inward(a, f, link, i, end);
    }
}
