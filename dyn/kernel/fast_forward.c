/*
 * Forward dynamics `fast`: solves M q'' = tau - bias. dyn/kernel/fast.c computes the bias, and
 * dyn/kernel/fast_mass.c computes M from the same sines and cosines. M = U D U^T is factorised from
 * the end effector to the base, without square roots (dyn/kernel/fast_solve.inc). Rotors are added
 * to the diagonal.
 *
 * An arm of six joints has a solver without loops: its matrix fits into the registers of a
 * Cortex-M4F. Forward dynamics of the PUMA 560 takes 2,348 instructions instead of 2,961, for 1,012
 * bytes of code.
 *
 * Operations (revolute, without rotors, n >= 3; test_dyn_fast), solver included: (n^3 + 69n^2 +
 * 518n)/6 - 134 multiplications, (n^3 + 42n^2 + 539n)/6 - 141 additions, n reciprocals; for n = 6
 * 834 multiplications and 686 additions. Scratch: sizeof(dyn_fast_link) for each joint and the
 * packed matrix.
 */
#include "dyn/number/real.h"

#include "dyn/number/scale.h"

#define SOLVE(name) looped_##name
#define SOLVE_LOOP
#include "dyn/kernel/fast_solve.inc"

#define SIX         6
#define SOLVE(name) six_##name
#define SOLVE_LOOP  _Pragma("GCC unroll 6")
#include "dyn/kernel/fast_solve.inc"

/* Row and column i of the matrix are multiplied by 2^up; the right-hand side, which is in the mass
 * unit of link i, by 2^up_unit. */
typedef struct {
    int8_t up[DYN_MAX_JOINTS], up_unit[DYN_MAX_JOINTS];
} scales;

/* Brings row i into one mass unit and its diagonal element into [1, 4), as in dyn/kernel/solve.c.
 * Does nothing in floats. */
INLINE void equilibrate(uint32_t i, int unit, real Mi[], real x[], scales *s) {
    const int up = (unit + real_headroom(Mi[i])) >> 1;
    s->up[i] = (int8_t)up;
    s->up_unit[i] = (int8_t)(up - unit);
    for (uint32_t j = 0; j <= i; j++)
        Mi[j] = real_scale(Mi[j], up + s->up_unit[j]);
    x[i] = real_scale_clamped(x[i], s->up_unit[i]);
}

INLINE pivot solve_six(const real M[], real x[]) {
    real A[SIX * (SIX + 1) / 2], y[SIX];
#pragma GCC unroll 21
    for (uint32_t i = 0; i < SIX * (SIX + 1) / 2; i++)
        A[i] = M[i];
#pragma GCC unroll 6
    for (uint32_t i = 0; i < SIX; i++)
        y[i] = x[i];
    const pivot worst = six_solve(SIX, A, y);
#pragma GCC unroll 6
    for (uint32_t i = 0; i < SIX; i++)
        x[i] = y[i];
    return worst;
}

int DYN(fast_forward)(const arm *a, DYN_T(fast_forward_scratch) *scratch, const real q[],
                      const real qd[], const real tau[], real qdd[]) {
    real *M = scratch->M, *row = M;
    scales s;
    int unit = 0;
    DYN(fast_bias)(a, &scratch->fast, q, qd, qdd);
    DYN(fast_mass_placed)(a, scratch->fast.link, M);
    for (uint32_t i = 0; i < a->n; i++) {
        const joint *j = &a->joint[i];
        qdd[i] = real_sub(tau[i], qdd[i]);
        row[i] = add_rotor(j, row[i]);
        unit += j->mass_shift;
        equilibrate(i, unit, row, qdd, &s);
        row += i + 1;
    }
    const pivot worst =
        DYN_MAX_JOINTS >= SIX && a->n == SIX ? solve_six(M, qdd) : looped_solve(a->n, M, qdd);
    for (uint32_t i = 0; i < a->n; i++)
        /* cppcheck-suppress uninitvar ; in floats the scale is not set and not read */
        qdd[i] = real_scale_clamped(qdd[i], s.up[i]);
    return pivot_ok(worst) ? DYN_OK : DYN_E_PIVOT;
}
