/*
 * Elastic links: forward dynamics (94) by Cholesky's factorisation, and the inverse problem, both
 * from the results of dyn/flex/flex.c and dyn/flex/flex_mass.c.
 *
 *   forward   I Theta'' = Re                                       tau is given, Theta'' unknown
 *   torque    I_dd delta'' = Re_d - I_dq q'', then tau from (57)   q'' is given
 *   static    K delta = Re_d without K at delta' = delta'' = 0     q, q', q'' are given
 *
 * `static` iterates: each round takes the forces at the deflection of the previous round. Each
 * round divides the error by the ratio of the stiffness to the change of the load with deflection.
 * This ratio is about 1 / slope at the end of a beam: 10 or more for the two links of paper 004.
 *
 * For numbers without an exponent (q31) the matrix is equilibrated by powers of two as in
 * dyn/kernel/solve.c, with the mass unit of the link that a coordinate belongs to. In floats this
 * is empty.
 */
#include "dyn/number/real.h"

#include "dyn/flex/flex.h"
#include "dyn/number/scale.h"

typedef DYN_T(flex_forward_scratch) forward_scratch;

INLINE real *row_of(real I[], uint32_t at) {
    return I + at * (at + 1) / 2;
}

INLINE void add_rotors(const arm *a, const flex *f, real I[]) {
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t at = f->link[i].at;
        real *x = row_of(I, at) + at;
        if (a->joint[i].geared)
            *x = add_rotor(&a->joint[i], *x);
    }
}

/* Computes for each coordinate the number of bits by which its mass unit is smaller than that of
 * the first coordinate. */
INLINE void unit_shifts(const arm *a, const flex *f, bool joints, int8_t shift[]) {
    int unit = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        unit += a->joint[i].mass_shift;
        for (uint32_t k = joints ? 0 : 1; k <= f->link[i].modes; k++)
            shift[at++] = (int8_t)unit;
    }
}

/* Solves A x' = x. A is packed, and its element (i, j) is in the mass unit of coordinate j. A and x
 * are overwritten. */
INLINE int solve(uint32_t n, const int8_t shift[], real A[], real x[]) {
    int8_t up[DYN_FLEX_MAX];
    real *row = A;
    for (uint32_t i = 0; i < n; i++) {
        up[i] = (int8_t)((shift[i] + real_headroom(row[i])) >> 1);
        for (uint32_t j = 0; j <= i; j++)
            row[j] = real_scale(row[j], up[i] + up[j] - shift[j]);
        x[i] = real_scale_clamped(x[i], up[i] - shift[i]);
        row += i + 1;
    }
    const int status = DYN(cholesky_factor)(n, A);
    DYN(cholesky_solve)(n, A, x);
    for (uint32_t i = 0; i < n; i++)
        x[i] = real_scale_clamped(x[i], up[i]);
    return status;
}

int DYN(flex_forward)(const arm *a, const flex *f, forward_scratch *scratch, const real theta[],
                      const real thetad[], const real force[], real thetadd[]) {
    int8_t shift[DYN_FLEX_MAX];
    DYN(flex_bias)(a, f, &scratch->link, theta, thetad, thetadd);
    DYN(flex_strain)(f, theta, thetad, thetadd);
    for (uint32_t k = 0; k < f->size; k++)
        thetadd[k] = real_sub(force[k], thetadd[k]);
    DYN(flex_mass_placed)(a, f, &scratch->link, scratch->I);
    add_rotors(a, f, scratch->I);
    unit_shifts(a, f, true, shift);
    return solve(f->size, shift, scratch->I, thetadd);
}

/* Copies joint values into the order of Theta and sets the modes to zero. */
INLINE void joints_only(const flex *f, const real q[], real out[]) {
    for (uint32_t i = 0; i < f->n; i++) {
        const flex_body *B = &f->link[i];
        out[B->at] = q[i];
        for (uint32_t k = 1; k <= B->modes; k++)
            out[B->at + k] = real_merged(real_known(0));
    }
}

INLINE void without(const flex *f, const real force[], real out[]) {
    for (uint32_t k = 0; k < f->size; k++)
        out[k] = real_sub(out[k], force[k]);
}

/* Copies the block of the modes out of the packed matrix I. */
INLINE void take_modes(const flex *f, real I[], real part[]) {
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 1; k <= f->link[i].modes; k++) {
            const real *row = row_of(I, f->link[i].at + k);
            for (uint32_t j = 0; j <= i; j++) {
                const uint32_t most = j < i ? f->link[j].modes : k;
                for (uint32_t g = 1; g <= most; g++)
                    *part++ = row[f->link[j].at + g];
            }
        }
}

/* Returns the element (joint i, coordinate c) of I, in the mass unit of joint i. */
INLINE real coupling(const flex *f, real I[], const int8_t shift[], uint32_t i, uint32_t c) {
    const uint32_t at = f->link[i].at;
    if (c > at)
        return row_of(I, c)[at];
    return real_scale(row_of(I, at)[c], shift[at] - shift[c]);
}

int DYN(flex_torque)(const arm *a, const flex *f, forward_scratch *scratch, const real theta[],
                     const real thetad[], const real qdd[], const real force[], real out[]) {
    int8_t shift[DYN_FLEX_MAX];
    real *const x = scratch->x;
    uint32_t count = 0;
    joints_only(f, qdd, x);
    DYN(flex_inverse)(a, f, &scratch->link, theta, thetad, x, out);
    DYN(flex_strain)(f, theta, thetad, out);
    if (force)
        without(f, force, out);
    DYN(flex_mass_placed)(a, f, &scratch->link, scratch->I);
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 1; k <= f->link[i].modes; k++)
            x[count++] = real_neg(out[f->link[i].at + k]);
    take_modes(f, scratch->I, scratch->part);
    unit_shifts(a, f, false, shift);
    const int status = solve(count, shift, scratch->part, x);
    unit_shifts(a, f, true, shift);
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t at = f->link[i].at;
        uint32_t next = 0;
        if (a->joint[i].geared)
            out[at] = real_add(out[at], real_mul(a->joint[i].rotor, qdd[i]));
        for (uint32_t j = 0; j < f->n; j++)
            for (uint32_t k = 1; k <= f->link[j].modes; k++)
                out[at] =
                    real_add(out[at], real_mul(coupling(f, scratch->I, shift, i, f->link[j].at + k),
                                               x[next++]));
    }
    count = 0;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 1; k <= f->link[i].modes; k++)
            out[f->link[i].at + k] = x[count++];
    return status;
}

/* Computes delta = -K^-1 force. Each kind of mode is solved separately. */
INLINE void settle(const flex_body *B, const real force[], real theta[]) {
    const uint32_t at = B->at + 1u;
    for (uint32_t k = 0; k < B->modes; k++) {
        const uint32_t from = kind_begin(B, k), to = kind_end(B, k);
        real sum = gain_mul(B->compliance[k][from], force[at + from]);
        for (uint32_t g = from + 1; g < to; g++)
            sum = real_add(sum, gain_mul(B->compliance[k][g], force[at + g]));
        theta[at + k] = real_neg(sum);
    }
}

void DYN(flex_static)(const arm *a, const flex *f, DYN_T(flex_static_scratch) *scratch,
                      const real qd[], const real qdd[], const real force[], uint32_t rounds,
                      real theta[], real tau[]) {
    real *const rate = scratch->x[0], *const more = scratch->x[1], *const out = scratch->x[2];
    joints_only(f, qd, rate);
    joints_only(f, qdd, more);
    for (uint32_t r = 0; r < rounds; r++) {
        DYN(flex_inverse)(a, f, &scratch->link, theta, rate, more, out);
        if (force)
            without(f, force, out);
        for (uint32_t i = 0; i < f->n; i++)
            settle(&f->link[i], out, theta);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        tau[i] = out[f->link[i].at];
        if (a->joint[i].geared)
            tau[i] = real_add(tau[i], real_mul(a->joint[i].rotor, qdd[i]));
    }
}
