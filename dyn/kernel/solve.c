/*
 * Packed symmetric solvers: Cholesky A = L L^T and A = U D U^T, in place on the lower triangle
 * A[i(i+1)/2 + j], j <= i. U is unit upper triangular, and U_ij lies where A_ji was: the
 * factorisation begins at the last joint, like those of Saha (paper 002, 4.2) and Featherstone. The
 * diagonals of L and D are stored as reciprocals. A pivot that is not positive causes no branch:
 * the factorisation goes on, and the status at the end says that the result is invalid.
 *
 * Operations (test_dyn_solve), factor and solve:
 *   cholesky  n(n-1)(n-2)/6 + n^2       multiplications   n^2 + n
 *             n(n-1)(n-2)/6 + n(n-1)/2  additions         n^2 - n     n reciprocals, n square roots
 *   udu       n(n-1)(n-2)/6 + n^2       multiplications   n^2
 *             n(n-1)(n-2)/6 + n(n-1)/2  additions         n^2 - n     n reciprocals
 * For n = 6, factor and solve take 56 + 42 multiplications and 35 + 30 additions with cholesky,
 * 56 + 36 and 35 + 30 with udu. In each factorisation n multiplications are for the status: they
 * compute the threshold that a pivot must exceed (dyn/number/scale.h).
 *
 * q31 needs an equilibrated matrix, with its diagonal in [1, 4); all other elements are then below
 * 4. The reciprocal of a pivot must fit the format, so that udu refuses a pivot of 1/8 or less.
 * Cholesky takes the reciprocal of the root and refuses a pivot of 1/64 or less. The sums of
 * products are below 4 too, by Cauchy and Schwarz, as long as A is positive definite. udu_mass and
 * cholesky_mass equilibrate by powers of two, which they take from each matrix; in floats that
 * would change no bit, so it is left out.
 */
#include "dyn/number/real.h"

#include "dyn/number/scale.h"

/* Returns a - x_0 y_0 - ... - x_n-1 y_n-1; q31 rounds only once. */
INLINE real minus_dot(real a, const real *x, const real *y, uint32_t n) {
    if (n == 0)
        return a;
    acc sum = acc_mul(x[0], y[0]);
    for (uint32_t k = 1; k < n; k++)
        sum = acc_mac(sum, x[k], y[k]);
    return real_sub(a, acc_round(sum));
}

/* a - sum over k > i of A_ki x_k, where `at` is row i of A. */
INLINE real minus_column(real a, const real *at, const real *x, uint32_t i, uint32_t n) {
    if (i + 1 == n)
        return a;
    at += i + 1;
    acc sum = acc_mul(at[i], x[i + 1]);
    for (uint32_t k = i + 2; k < n; k++) {
        at += k;
        sum = acc_mac(sum, at[i], x[k]);
    }
    return real_sub(a, acc_round(sum));
}

INLINE real *row(real A[], uint32_t i) {
    return A + i * (i + 1) / 2;
}

int DYN(cholesky_factor)(uint32_t n, real A[]) {
    pivot worst = pivot_begin();
    real *Li = A;
    for (uint32_t i = 0; i < n; i++) {
        const real *Lj = A;
        for (uint32_t j = 0; j < i; j++) {
            Li[j] = real_mul(minus_dot(Li[j], Li, Lj, j), Lj[j]);
            Lj += j + 1;
        }
        const real least = real_least(Li[i]), d = minus_dot(Li[i], Li, Li, i);
        worst = pivot_see_above(worst, d, least, 6);
        Li[i] = real_recip_sqrt(d);
        Li += i + 1;
    }
    return pivot_ok(worst) ? DYN_OK : DYN_E_PIVOT;
}

void DYN(cholesky_solve)(uint32_t n, const real L[], real x[]) {
    const real *Li = L;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = real_mul(minus_dot(x[i], Li, x, i), Li[i]);
        Li += i + 1;
    }
    for (uint32_t i = n; i-- > 0;) {
        Li -= i + 1;
        x[i] = real_mul(minus_column(x[i], Li, x, i, n), Li[i]);
    }
}

/* Computes row i of U and returns D_i: w_j = A_ij - sum over k > j of w_k U_jk, then
 * U_ij = w_j / D_j and D_i = A_ii - sum of w_j U_ij. */
INLINE real udu_eliminate(uint32_t n, real A[], uint32_t i) {
    for (uint32_t j = n - 1; j-- > i + 1;) {
        const real *at = row(A, j + 1);
        acc sum = acc_mul(at[i], at[j]);
        for (uint32_t k = j + 2; k < n; k++) {
            at += k;
            sum = acc_mac(sum, at[i], at[j]);
        }
        real *w = row(A, j) + i;
        *w = real_sub(*w, acc_round(sum));
    }
    real d = row(A, i)[i];
    if (i == n - 1)
        return d;
    real *at = row(A, i + 1);
    real u = real_mul(at[i], at[i + 1]);
    acc sum = acc_mul(at[i], u);
    at[i] = u;
    for (uint32_t j = i + 2; j < n; j++) {
        at += j;
        u = real_mul(at[i], at[j]);
        sum = acc_mac(sum, at[i], u);
        at[i] = u;
    }
    return real_sub(d, acc_round(sum));
}

int DYN(udu_factor)(uint32_t n, real A[]) {
    pivot worst = pivot_begin();
    for (uint32_t i = n; i-- > 0;) {
        real *Dii = row(A, i) + i;
        const real least = real_least(*Dii), d = udu_eliminate(n, A, i);
        worst = pivot_see_above(worst, d, least, 3);
        *Dii = real_recip(d);
    }
    return pivot_ok(worst) ? DYN_OK : DYN_E_PIVOT;
}

void DYN(udu_solve)(uint32_t n, const real U[], real x[]) {
    const real *Ui = U + n * (n + 1) / 2;
    for (uint32_t i = n; i-- > 0;) {
        Ui -= i + 1;
        x[i] = minus_column(x[i], Ui, x, i, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        x[i] = minus_dot(real_mul(x[i], Ui[i]), Ui, x, i);
        Ui += i + 1;
    }
}

/* Row and column i of the matrix are multiplied by 2^up[i]. */
typedef struct {
    int8_t up[DYN_MAX_JOINTS];
    int8_t up_unit[DYN_MAX_JOINTS]; /* up[i] minus the sum of mass_shift over joints 0 to i */
} scales;

/* Equilibrates the matrix. M_ij is in the mass unit of the link with the smaller index on entry; on
 * return all elements are in one unit. */
INLINE void equilibrate(const arm *a, real M[], real x[], scales *s) {
    real *Mi = M;
    int unit = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        unit += a->joint[i].mass_shift;
        const int up = (unit + real_headroom(Mi[i])) >> 1;
        s->up[i] = (int8_t)up;
        s->up_unit[i] = (int8_t)(up - unit);
        for (uint32_t j = 0; j <= i; j++)
            Mi[j] = real_scale(Mi[j], up + s->up_unit[j]);
        x[i] = real_scale_clamped(x[i], s->up_unit[i]);
        Mi += i + 1;
    }
}

INLINE void scale_back(uint32_t n, const scales *s, real x[]) {
    for (uint32_t i = 0; i < n; i++)
        x[i] = real_scale_clamped(x[i], s->up[i]);
}

int DYN(cholesky_mass)(const arm *a, real M[], real x[]) {
    scales s;
    equilibrate(a, M, x, &s);
    int status = DYN(cholesky_factor)(a->n, M);
    DYN(cholesky_solve)(a->n, M, x);
    scale_back(a->n, &s, x);
    return status;
}

int DYN(udu_mass)(const arm *a, real M[], real x[]) {
    scales s;
    equilibrate(a, M, x, &s);
    int status = DYN(udu_factor)(a->n, M);
    DYN(udu_solve)(a->n, M, x);
    scale_back(a->n, &s, x);
    return status;
}
