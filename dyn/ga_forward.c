/*
 * Forward dynamics `ga`: Mata et al. (2002), sections 3 and 4.2: D q'' = tau - bias (17), with the
 * inertia matrix of dyn/ga_mass.c, the bias by dyn/ga.c with zero accelerations (corrected: gravity
 * is part of it) and Cholesky's decomposition. Rotors come on the diagonal.
 *
 * Operations at n = 6 (revolute, without rotors; test_dyn_ga): 966 multiplications, 822 additions,
 * 6 reciprocals and 6 square roots; the paper 1042 and 905. Scratch: sizeof(dyn_ga_mass_link) for
 * each joint and the packed matrix.
 */
#include DYN_REAL_H

int DYN(ga_forward)(const arm *a, DYN_T(ga_forward_scratch) *scratch, const real q[],
                    const real qd[], const real tau[], real qdd[]) {
    real *D = scratch->D, *diagonal = D;
    DYN(ga_mass)(a, &scratch->ga, q, D);
    DYN(ga_bias)(a, &scratch->ga, q, qd, qdd);
    for (uint32_t i = 0; i < a->n; i++) {
        qdd[i] = real_sub(tau[i], qdd[i]);
        *diagonal = add_rotor(&a->joint[i], *diagonal);
        diagonal += i + 2;
    }
    return DYN(cholesky_mass)(a, D, qdd);
}
