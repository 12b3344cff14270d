/*
 * A x' = x by A = U D U^T from the last joint to the first, A as packed lower triangle, both in
 * place. A template: dyn/fast_forward.c includes it once with loops and once unrolled.
 *
 * Before: SOLVE(name), what the functions are called, and SOLVE_LOOP, what stands before each loop.
 *
 * Numbers without an exponent (q31; floats do nothing of this, see dyn/scale.h): the matrix has
 * come equilibrated, diagonal in [1, 4). Whatever a pivot has become, its row is scaled up again
 * before it is used: with d in [1, 4) and no other diagonal element above 4 the row is below 4, and
 * its quotients by d are below 2, as long as A is positive definite. A pivot below 2^-20 has only a
 * few bits that are not rounding, and is refused like one that is not positive. In floats that is
 * one that does not exceed what rounding may leave of its diagonal element.
 */

/* Takes joint i out of the matrix and of the right-hand side of those before it; leaves its row of
 * U. */
INLINE void SOLVE(eliminate)(uint32_t i, real A[], real x[], int8_t more[]) {
    real *Ai = A + i * (i + 1) / 2, *Aj = Ai;
    const int up = real_headroom(Ai[i]) >> 1 & 15; /* never negative, and the compiler knows */
    const real recip = real_recip(real_scale(Ai[i], 2 * up));
    const real xi = real_scale_clamped(x[i], up);
    SOLVE_LOOP
    for (uint32_t j = 0; j < i; j++)
        Ai[j] = real_scale(Ai[j], up);
    SOLVE_LOOP
    for (uint32_t j = i; j-- > 0;) {
        const real u = real_mul(Ai[j], recip);
        Aj -= j + 1;
        SOLVE_LOOP
        for (uint32_t k = 0; k <= j; k++)
            Aj[k] = real_sub(Aj[k], real_mul(u, Ai[k]));
        x[j] = real_sub(x[j], real_mul(u, xi));
        Ai[j] = u;
    }
    x[i] = real_mul(xi, recip);
    more[i] = (int8_t)up;
}

/* x_i from those of the joints before it. */
INLINE void SOLVE(substitute)(uint32_t i, const real Ai[], real x[], const int8_t more[]) {
    if (i > 0) {
        acc sum = acc_mul(Ai[0], x[0]);
        SOLVE_LOOP
        for (uint32_t j = 1; j < i; j++)
            sum = acc_mac(sum, Ai[j], x[j]);
        x[i] = real_sub(x[i], acc_round(sum));
    }
    x[i] = real_scale_clamped(x[i], more[i]);
}

INLINE pivot SOLVE(solve)(uint32_t n, real A[], real x[]) {
    int8_t more[DYN_MAX_JOINTS];
    real least[DYN_MAX_JOINTS];
    pivot worst = pivot_begin();
    SOLVE_LOOP
    for (uint32_t i = 0; i < n; i++)
        least[i] = real_least(A[i * (i + 3) / 2]);
    SOLVE_LOOP
    for (uint32_t i = n; i-- > 0;) {
        worst = pivot_see_above(worst, A[i * (i + 3) / 2], least[i], 20);
        SOLVE(eliminate)(i, A, x, more);
    }
    SOLVE_LOOP
    for (uint32_t i = 0; i < n; i++)
        SOLVE(substitute)(i, A + i * (i + 1) / 2, x, more);
    return worst;
}

#undef SOLVE
#undef SOLVE_LOOP
