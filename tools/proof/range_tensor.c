/*
 * Bounds of tensors for the backend `range`. A turn keeps the eigenvalues of a symmetric tensor, so
 * a tensor is bounded by its elements and by the interval of its eigenvalues; intervals of elements
 * alone would grow at every plane rotation.
 */
#include "tools/proof/range_inside.h"

#include <string.h>

static const double root2 = 1.4142135623730952; /* rounded up */

/* ---------------------------------------------------------------------------------- eigenvalues */
/* The eigenvalues of the exact tensor are between lo and hi. */
typedef struct {
    double lo, hi;
} span_t;

static double error_of(real a) {
    return a.err;
}

static double radius_of(real a) {
    return (a.hi - a.lo) / 2;
}

static double frobenius(sym J, double (*of)(real)) {
    const double d[3] = {of(J.xx), of(J.yy), of(J.zz)}, e[3] = {of(J.xy), of(J.yz), of(J.xz)};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += d[i] * d[i] + 2 * e[i] * e[i];
    return widen(sqrt(sum));
}

static double middle(real a) {
    return (a.lo + a.hi) / 2;
}

/*
 * Bounds the eigenvalues by the elements. Computes the eigenvalues of the tensor in the middle of
 * the intervals as roots of its characteristic polynomial (trigonometric solution of the cubic) and
 * widens them on both sides by how much the elements vary. Near its ends the arc cosine is accurate
 * only to 2e-8; the added 1e-7 covers that.
 */
static span_t span_of_elements(sym T) {
    const double xx = middle(T.xx), yy = middle(T.yy), zz = middle(T.zz), xy = middle(T.xy),
                 yz = middle(T.yz), xz = middle(T.xz);
    const double q = (xx + yy + zz) / 3, a = xx - q, b = yy - q, c = zz - q;
    const double p = sqrt((a * a + b * b + c * c + 2 * (xy * xy + yz * yz + xz * xz)) / 6);
    const double third = 2.0943951023931953; /* a third of a turn */
    double angle = 0;
    if (p > 0) {
        const double determinant =
            a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
        angle = acos(fmax(-1, fmin(1, determinant / (2 * p * p * p)))) / 3;
    }
    const double more = frobenius(T, radius_of) + 1e-7 * p + 1e-14 * fabs(q);
    return (span_t){q + 2 * p * cos(angle + third) - more, q + 2 * p * cos(angle) + more};
}

/* The stored bounds of the eigenvalues are valid as long as no element has changed. */
static bool still_known(const sym *T) {
    const real now[6] = {T->xx, T->yy, T->zz, T->xy, T->yz, T->xz};
    bool same = T->known;
    for (int i = 0; i < 6; i++)
        same = same && now[i].lo == T->of[i].lo && now[i].hi == T->of[i].hi &&
               now[i].err == T->of[i].err;
    return same;
}

static span_t span_of(sym T) {
    span_t span = span_of_elements(T);
    if (still_known(&T))
        span = (span_t){fmax(span.lo, T.lo), fmin(span.hi, T.hi)};
    return span;
}

/* Bounds the Frobenius norm of the error. */
static double off_of(sym T) {
    const double off = frobenius(T, error_of);
    return still_known(&T) ? fmin(off, T.off) : off;
}

static void narrow(real *a, double lo, double hi, double err) {
    a->lo = fmax(a->lo, lo);
    a->hi = fmin(a->hi, hi);
    a->err = fmin(a->err, err);
}

/*
 * Adds bounds of the eigenvalues and of the error's norm to a tensor. They also tighten the
 * elements: diagonal elements lie among the eigenvalues, and no other element is larger than half
 * the distance between the smallest and the largest eigenvalue.
 */
static sym sym_known(sym T, span_t span, double off) {
    const double half = widen((span.hi - span.lo) / 2);
    real *const on[3] = {&T.xx, &T.yy, &T.zz}, *const beside[3] = {&T.xy, &T.yz, &T.xz};
    for (int i = 0; i < 3; i++) {
        narrow(on[i], span.lo, span.hi, off);
        narrow(beside[i], -half, half, widen(off / 1.414213562373095));
    }
    T.known = true;
    T.lo = span.lo;
    T.hi = span.hi;
    T.off = off;
    const real now[6] = {T.xx, T.yy, T.zz, T.xy, T.yz, T.xz};
    memcpy(T.of, now, sizeof now);
    for (int i = 0; i < 6; i++)
        recorded(now[i]);
    return T;
}

/* ------------------------------------------------------------------------------- sums and turns */
/* For f32 the error of a whole tensor has no bound; the errors of the single elements are used
 * instead. */
static double off_known(double off) {
    return range_now.format == RANGE_F32 ? HUGE_VAL : widen(off);
}

static double unit_of(rounding_t how) {
    return range_now.format == RANGE_Q31 ? how.unit : 0;
}

/* A sum that is not checked for overflow here; the caller checks it later. */
static real sum_unrecorded(real a, real b) {
    if (is_zero(a))
        return b;
    if (is_zero(b))
        return a;
    real out = sum_exact(a, b);
    if (range_now.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return out;
}

static real round_unrecorded(acc sum, rounding_t how) {
    if (range_now.format != RANGE_F32)
        record(sum.magnitude, how.limit);
    if (!is_zero(sum.value))
        sum.value.err += unit_of(how);
    return sum.value;
}

sym range_sym_add(sym A, sym B) {
    const span_t a = span_of(A), b = span_of(B);
    const sym out = {.xx = sum_unrecorded(A.xx, B.xx),
                     .yy = sum_unrecorded(A.yy, B.yy),
                     .zz = sum_unrecorded(A.zz, B.zz),
                     .xy = sum_unrecorded(A.xy, B.xy),
                     .yz = sum_unrecorded(A.yz, B.yz),
                     .xz = sum_unrecorded(A.xz, B.xz)};
    return sym_known(out, (span_t){out_lo(a.lo + b.lo), out_hi(a.hi + b.hi)},
                     off_known(off_of(A) + off_of(B)));
}

/* All six elements are rounded. The three off the diagonal count twice in the norm, so the norm of
 * the rounding is sqrt(3 + 2 * 3) = 3 units. */
static const double rounding_of_all = 3;

sym range_sym_shift_mass(sym T, unsigned shift) {
    const double k = ldexp(1, -(int)shift);
    const span_t span = span_of(T);
    const sym out = {.xx = range_shift(T.xx, shift),
                     .yy = range_shift(T.yy, shift),
                     .zz = range_shift(T.zz, shift),
                     .xy = range_shift(T.xy, shift),
                     .yz = range_shift(T.yz, shift),
                     .xz = range_shift(T.xz, shift)};
    return sym_known(
        out, (span_t){span.lo * k, span.hi * k},
        off_known(off_of(T) * k + (shift > 0 ? rounding_of_all * unit_of(acc_rounding) : 0)));
}

/* Product of the exact values only, without errors. */
static real exact_mul(real a, real b) {
    a.err = b.err = 0;
    real out = range_acc_mul(a, b).value;
    out.err = 0;
    return out;
}

static acc pair(real a, real x, real b, real y) {
    return range_acc_add(range_acc_mul(a, x), range_acc_mul(b, y));
}

/* Computes T + p a^T + b p^T. The sum must be symmetric; then it equals T + (p c^T + c p^T) / 2
 * with c = a + b. The added part has the eigenvalues (p.c +- |p| |c|) / 2 and zero. */
sym range_sym_add_outer(sym T, vec p, vec a, vec b) {
    const vec c = range_vec_add(a, b);
    const span_t span = span_of(T);
    const double both = widen(p.norm * c.norm);
    real dot = sum_exact(sum_exact(exact_mul(p.x, c.x), exact_mul(p.y, c.y)), exact_mul(p.z, c.z));
    narrow(&dot, -both, both, 0);
    const span_t more = {fmin(0, (dot.lo - both) / 2), fmax(0, (dot.hi + both) / 2)};
    const double brought =
        p.norm * (a.norm_err + b.norm_err) + p.norm_err * (executed_norm(a) + executed_norm(b));
    const sym out = {.xx = sum_unrecorded(T.xx, range_acc_round(range_acc_mul(p.x, c.x))),
                     .yy = sum_unrecorded(T.yy, range_acc_round(range_acc_mul(p.y, c.y))),
                     .zz = sum_unrecorded(T.zz, range_acc_round(range_acc_mul(p.z, c.z))),
                     .xy = sum_unrecorded(T.xy, range_acc_round(pair(p.x, a.y, b.x, p.y))),
                     .yz = sum_unrecorded(T.yz, range_acc_round(pair(p.y, a.z, b.y, p.z))),
                     .xz = sum_unrecorded(T.xz, range_acc_round(pair(p.x, a.z, b.x, p.z)))};
    return sym_known(out, (span_t){out_lo(span.lo + more.lo), out_hi(span.hi + more.hi)},
                     off_known(off_of(T) + brought + rounding_of_all * unit_of(acc_rounding)));
}

/*
 * The elements within the plane of a turn, as block_turn_back of dyn/number/vec.inc computes them:
 * k = s (T11 - T22) + 2 c T12, then s k and c k. `wide` is the distance between the smallest and
 * the largest eigenvalue; it bounds the exact k and both of its terms. The norm of the error that
 * the tensor already has in (T11 - T22, 2 T12) is at most sqrt(2) times the norm of the tensor's
 * error. The turn adds errors, because the executed c and s differ from the exact ones by `off` and
 * because it rounds: `excess` is the norm of these added errors in (s k, c k).
 */
typedef struct {
    real sk, ck;
    double excess;
} plane_t;

static plane_t plane_turn(dyn_turn_range_t t, real T11, real T22, real T12, double wide,
                          double tensor_off) {
    const double off = norm3(t.c.err, t.s.err, 0), inside = widen(root2 * tensor_off);
    real D = sum_unrecorded(T11, range_neg(T22)), W = sum_exact(T12, T12);
    /* the distance between the eigenvalues of the block in this plane */
    wide = fmin(wide, norm3(size(D), size(W), 0));
    narrow(&D, -wide, wide, off_known(inside));
    narrow(&W, -wide, wide, off_known(inside));
    recorded(D);
    recorded(W);
    real k = round_unrecorded(pair(t.s, D, t.c, W), turn_rounding);
    const double excess = widen(off * (wide + inside) + unit_of(turn_rounding));
    narrow(&k, -wide, wide, off_known(inside + excess));
    recorded(k);
    plane_t out = {round_unrecorded(range_acc_mul(t.s, k), turn_rounding),
                   round_unrecorded(range_acc_mul(t.c, k), turn_rounding), 0};
    out.excess = widen(off * (wide + inside + excess) + excess + root2 * unit_of(turn_rounding));
    narrow(&out.sk, -wide, wide, HUGE_VAL);
    narrow(&out.ck, -wide, wide, HUGE_VAL);
    recorded(out.sk);
    recorded(out.ck);
    return out;
}

sym range_sym_turn_back(int axis, dyn_turn_range_t t, sym T) {
    if (turns_not(t))
        return T;
    const span_t span = span_of(T);
    const double wide = widen(span.hi - span.lo), tensor_off = off_of(T);
    real *const t11 = axis == 0 ? &T.yy : &T.xx, *const t22 = axis == 0 ? &T.zz : &T.yy,
                *const t12 = axis == 0 ? &T.yz : &T.xy;
    /* The two elements that couple the plane with the axis turn like a vector. */
    real *const first = axis == 0 ? &T.xy : &T.xz, *const second = axis == 0 ? &T.xz : &T.yz;
    const double side = fmin(norm3(size(*first), size(*second), 0), wide / 2);
    const double side_excess =
        widen(norm3(t.c.err, t.s.err, 0) * (side + tensor_off) + root2 * unit_of(turn_rounding));
    const real u = *first, v = *second;
    *first = round_unrecorded(pair(t.c, u, range_neg(t.s), v), turn_rounding);
    *second = round_unrecorded(pair(t.c, v, t.s, u), turn_rounding);
    narrow(first, -side, side, HUGE_VAL);
    narrow(second, -side, side, HUGE_VAL);

    const plane_t plane = plane_turn(t, *t11, *t22, *t12, wide, tensor_off);
    *t11 = sum_unrecorded(*t11, range_neg(plane.sk));
    *t22 = sum_unrecorded(*t22, plane.sk);
    *t12 = sum_unrecorded(plane.ck, range_neg(*t12));
    return sym_known(T, span, off_known(tensor_off + root2 * norm3(plane.excess, side_excess, 0)));
}

/* Computes xx + yy on the axes of the parent. This needs the whole turn about z, but only those
 * terms of the turn about x that change the sum. */
real range_sym_to_parent_xx_yy(dyn_turn_range_t x, dyn_turn_range_t z, sym T) {
    const sym half = range_sym_turn_back(2, z, T);
    const span_t span = span_of(half);
    const double wide = widen(span.hi - span.lo), tensor_off = off_of(half);
    const real trace = sum_exact(sum_exact(T.xx, T.yy), T.zz);
    real sum = range_add(half.xx, half.yy);
    const plane_t plane = plane_turn(x, half.yy, half.zz, half.yz, wide, tensor_off);
    sum = sum_unrecorded(sum, range_neg(plane.sk));
    narrow(&sum, fmax(2 * span.lo, out_lo(trace.lo - span.hi)),
           fmin(2 * span.hi, out_hi(trace.hi - span.lo)),
           off_known(root2 * tensor_off + plane.excess));
    return recorded(sum);
}

/* ------------------------------------------------------------------------------------- products */
static acc row_mul(real a, real b, real c, vec v) {
    return range_acc_add(range_acc_add(range_acc_mul(a, v.x), range_acc_mul(b, v.y)),
                         range_acc_mul(c, v.z));
}

/* Bounds the largest absolute eigenvalue by the smaller of the Frobenius norm and the largest row
 * sum. */
static double sym_norm(double xx, double yy, double zz, double xy, double yz, double xz) {
    double frobenius = sqrt(xx * xx + yy * yy + zz * zz + 2 * (xy * xy + yz * yz + xz * xz));
    return widen(fmin(frobenius, fmax(xx + xy + xz, fmax(xy + yy + yz, xz + yz + zz))));
}

static double sym_size(sym J) {
    const span_t span = span_of(J);
    const double largest = fmax(fabs(span.lo), fabs(span.hi));
    return fmin(largest,
                sym_norm(size(J.xx), size(J.yy), size(J.zz), size(J.xy), size(J.yz), size(J.xz)));
}

static double sym_error(sym J, vec a) {
    const double err =
        fmin(off_of(J), sym_norm(J.xx.err, J.yy.err, J.zz.err, J.xy.err, J.yz.err, J.xz.err));
    return sym_size(J) * a.norm_err + err * executed_norm(a);
}

vec range_sym_mul(sym J, vec a) {
    return range_vec_round(row_mul(J.xx, J.xy, J.xz, a), row_mul(J.xy, J.yy, J.yz, a),
                           row_mul(J.xz, J.yz, J.zz, a), acc_rounding, sym_size(J) * a.norm,
                           sym_error(J, a));
}

vec range_sym_mul_add_cross(sym J, vec a, vec b, vec c) {
    return range_vec_round(range_acc_add(row_mul(J.xx, J.xy, J.xz, a), minor(b.y, c.z, b.z, c.y)),
                           range_acc_add(row_mul(J.xy, J.yy, J.yz, a), minor(b.z, c.x, b.x, c.z)),
                           range_acc_add(row_mul(J.xz, J.yz, J.zz, a), minor(b.x, c.y, b.y, c.x)),
                           acc_rounding, sym_size(J) * a.norm + b.norm * c.norm,
                           sym_error(J, a) + cross_error(b, c));
}

static real exact_square(real a) {
    double least = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0;
    return (real){out_lo(least * least), out_hi(size(a) * size(a)), 0};
}

/* One component of w x (J w), about axis 3; axes 1 and 2 are perpendicular to it. Products that
 * cancel are left out: (J22 - J11) w1 w2 + J12 (w1^2 - w2^2) + J23 w1 w3 - J13 w2 w3. */
static real gyroscopic(real J11, real J22, real J12, real J23, real J13, real w1, real w2,
                       real w3) {
    real difference = {J22.lo - J11.hi, J22.hi - J11.lo, 0};
    real s1 = exact_square(w1), s2 = exact_square(w2);
    real squares = {s1.lo - s2.hi, s1.hi - s2.lo, 0};
    real out = sum_exact(exact_mul(difference, exact_mul(w1, w2)), exact_mul(J12, squares));
    out = sum_exact(out, exact_mul(J23, exact_mul(w1, w3)));
    return sum_exact(out, exact_mul(range_neg(J13), exact_mul(w2, w3)));
}

static real meet(real a, real better) {
    a.lo = fmax(a.lo, better.lo);
    a.hi = fmin(a.hi, better.hi);
    return a;
}

vec range_sym_euler(sym J, vec wd, vec w) {
    vec out = range_sym_mul_add_cross(J, wd, w, range_sym_mul(J, w));
    acc x = row_mul(J.xx, J.xy, J.xz, wd), y = row_mul(J.xy, J.yy, J.yz, wd),
        z = row_mul(J.xz, J.yz, J.zz, wd);
    out.x =
        meet(out.x, sum_exact(x.value, gyroscopic(J.yy, J.zz, J.yz, J.xz, J.xy, w.y, w.z, w.x)));
    out.y =
        meet(out.y, sum_exact(y.value, gyroscopic(J.zz, J.xx, J.xz, J.xy, J.yz, w.z, w.x, w.y)));
    out.z =
        meet(out.z, sum_exact(z.value, gyroscopic(J.xx, J.yy, J.xy, J.yz, J.xz, w.x, w.y, w.z)));
    return range_tighten(out);
}

/* -------------------------------------------------------------------------- acceleration tensor */
/* Like a product of a with itself, but the bound knows that a square is never negative. */
static real square(real a) {
    acc product = range_acc_mul(a, a);
    product.value.lo = fmax(product.value.lo, 0);
    return range_acc_round(product);
}

static range_omega_t omega_parts(vec w, vec wd) {
    range_omega_t o = {.norm = HUGE_VAL};
    real xy = range_acc_round(range_acc_mul(w.x, w.y));
    real yz = range_acc_round(range_acc_mul(w.y, w.z));
    real zx = range_acc_round(range_acc_mul(w.z, w.x));
    o.x2 = square(w.x);
    o.y2 = square(w.y);
    o.z2 = square(w.z);
    o.xx = range_add(o.y2, o.z2);
    o.yy = range_add(o.z2, o.x2);
    o.zz = range_add(o.x2, o.y2);
    o.xy = range_add(xy, range_neg(wd.z));
    o.yx = range_add(xy, wd.z);
    o.yz = range_add(yz, range_neg(wd.x));
    o.zy = range_add(yz, wd.x);
    o.zx = range_add(zx, range_neg(wd.y));
    o.xz = range_add(zx, wd.y);
    return o;
}

static double root_of_squares(const range_omega_t *o, double (*of)(real)) {
    const real *part[9] = {&o->xx, &o->yy, &o->zz, &o->xy, &o->yx, &o->yz, &o->zy, &o->zx, &o->xz};
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += of(*part[i]) * of(*part[i]);
    return widen(sqrt(sum));
}

/* Returns the range of the executed values as if they were exact. */
static vec as_executed(vec a) {
    real *part[3] = {&a.x, &a.y, &a.z};
    for (int i = 0; i < 3; i++)
        *part[i] = (real){part[i]->lo - part[i]->err, part[i]->hi + part[i]->err, 0};
    a.norm += a.norm_err;
    a.norm_err = 0;
    return a;
}

range_omega_t range_omega_make(vec w, vec wd) {
    range_omega_t o = omega_parts(w, wd);
    const range_omega_t rounded = omega_parts(as_executed(w), as_executed(wd));
    const double brought = 2 * w.norm * w.norm_err + w.norm_err * w.norm_err + wd.norm_err;
    o.norm = fmin(widen(w.norm * w.norm + wd.norm), root_of_squares(&o, size));
    o.norm_err =
        fmin(widen(brought) + root_of_squares(&rounded, error_of), root_of_squares(&o, error_of));
    /* No element is larger than the norm. */
    real *part[9] = {&o.xx, &o.yy, &o.zz, &o.xy, &o.yx, &o.yz, &o.zy, &o.zx, &o.xz};
    for (int i = 0; i < 9; i++) {
        part[i]->lo = fmax(part[i]->lo, -o.norm);
        part[i]->hi = fmin(part[i]->hi, o.norm);
        part[i]->err = fmin(part[i]->err, o.norm_err);
    }
    return o;
}

static acc row3(real a, real x, real b, real y, real c, real z) {
    return range_acc_add(range_acc_add(range_acc_mul(a, x), range_acc_mul(b, y)),
                         range_acc_mul(range_neg(c), z));
}

vec range_omega_mul(range_omega_t o, vec r) {
    return range_vec_round(row3(o.xy, r.y, o.xz, r.z, o.xx, r.x),
                           row3(o.yx, r.x, o.yz, r.z, o.yy, r.y),
                           row3(o.zx, r.x, o.zy, r.y, o.zz, r.z), acc_rounding, o.norm * r.norm,
                           o.norm * r.norm_err + o.norm_err * executed_norm(r));
}

static acc euler_part(real zx, real xy, real zy, real yy, real yx, real xz, real yz, real zz,
                      real z2, real y2, real J_yz) {
    acc sum = range_acc_add(range_acc_mul(zx, xy), range_acc_mul(zy, yy));
    sum = range_acc_add(sum, range_acc_mul(range_neg(yx), xz));
    sum = range_acc_add(sum, range_acc_mul(range_neg(yz), zz));
    return range_acc_add(sum, range_acc_mul(range_add(z2, range_neg(y2)), J_yz));
}

/* The axial vector of A - A^T is at most sqrt(2) times the norm of A; here A = Omega J. */
vec range_omega_euler_add_cross(range_omega_t o, sym J, vec a, vec b) {
    acc x = euler_part(o.zx, J.xy, o.zy, J.yy, o.yx, J.xz, o.yz, J.zz, o.z2, o.y2, J.yz);
    acc y = euler_part(o.xy, J.yz, o.xz, J.zz, o.zy, J.xy, o.zx, J.xx, o.x2, o.z2, J.xz);
    acc z = euler_part(o.yz, J.xz, o.yx, J.xx, o.xz, J.yz, o.xy, J.yy, o.y2, o.x2, J.xy);
    const double large = frobenius(J, size), off = frobenius(J, error_of);
    return range_vec_round(range_acc_add(x, minor(a.y, b.z, a.z, b.y)),
                           range_acc_add(y, minor(a.z, b.x, a.x, b.z)),
                           range_acc_add(z, minor(a.x, b.y, a.y, b.x)), acc_rounding,
                           root2 * o.norm * large + a.norm * b.norm,
                           root2 * (o.norm_err * (large + off) + o.norm * off) + cross_error(a, b));
}
