/* Guaranteed bounds: the arithmetic of tools/backend/range.h, and the choice of q31's units by it.
 */
#include "tools/backend/range.h"

#include "dyn/q31.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef dyn_real_range_t real;
typedef dyn_vec_range_t vec;
typedef range_acc_t acc;

/* The run under way. Kernels have no argument for it: one run at a time. */
static struct {
    range_format_t format;
    range_report_t *report;
    double inside; /* largest part of a format used since the last name */
    bool constants_fit;
} run;

/* ------------------------------------------------------------------------- numbers of the formats
 */
/* q31: one unit of the last place is lost by a cut; a turn is rounded to Q30 and then cut to Q28.
 */
static const double q31_unit = 0x1p-28;
static const double q31_limit = 8.0 * (1 - 0x1p-31);
static const double acc_limit = 0x1p63 / 0x1p56, turn_limit = 0x1p63 / 0x1p58;
/* Error of dyn_sincos_q30 and dyn_sincos_f32: test_dyn_trig holds them to it. */
static const double q31_trig = 3e-9, f32_trig = 1.2e-7;
static const double f32_half_ulp = 0x1p-24;

/* The double arithmetic here is off by less than this part of any result. */
static double widen(double x) {
    return x * (1 + 1e-15);
}

static double size(real a) {
    return fmax(fabs(a.lo), fabs(a.hi));
}

static double executed(real a) {
    return size(a) + a.err;
}

static bool is_zero(real a) {
    return a.lo == 0 && a.hi == 0 && a.err == 0;
}

static void see(double value, double limit) {
    double part = value / limit;
    if (part > run.inside)
        run.inside = part;
}

static real seen(real a) {
    if (run.format != RANGE_F32)
        see(executed(a), q31_limit);
    return a;
}

static double out_lo(double x) {
    return x - fabs(x) * 1e-15;
}

static double out_hi(double x) {
    return x + fabs(x) * 1e-15;
}

real range_neg(real a) {
    return (real){-a.hi, -a.lo, a.err};
}

static real sum_exact(real a, real b) {
    return (real){out_lo(a.lo + b.lo), out_hi(a.hi + b.hi), widen(a.err + b.err)};
}

real range_add(real a, real b) {
    if (is_zero(a))
        return b;
    if (is_zero(b))
        return a;
    real out = sum_exact(a, b);
    if (run.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return seen(out);
}

real range_shift(real a, unsigned shift) {
    double k = ldexp(1, -(int)shift);
    real out = {a.lo * k, a.hi * k, a.err * k};
    if (run.format == RANGE_Q31 && shift > 0 && !is_zero(a))
        out.err += q31_unit;
    return out;
}

acc range_acc_mul(real a, real b) {
    const double p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    acc out = {.value = {p[0], p[0], 0}};
    for (int i = 1; i < 4; i++) {
        out.value.lo = fmin(out.value.lo, p[i]);
        out.value.hi = fmax(out.value.hi, p[i]);
    }
    out.value.lo = out_lo(out.value.lo);
    out.value.hi = out_hi(out.value.hi);
    out.value.err = widen(size(a) * b.err + size(b) * a.err + a.err * b.err);
    out.magnitude = widen(executed(a) * executed(b));
    const bool exact =
        (a.lo == 1 && a.hi == 1 && a.err == 0) || (b.lo == 1 && b.hi == 1 && b.err == 0);
    if (run.format == RANGE_F32 && !exact) {
        out.rounding = f32_half_ulp * out.magnitude;
        out.value.err += out.rounding;
    }
    return out;
}

acc range_acc_add(acc a, acc b) {
    if (is_zero(a.value))
        return b;
    if (is_zero(b.value))
        return a;
    acc out = {.value = sum_exact(a.value, b.value),
               .magnitude = widen(a.magnitude + b.magnitude),
               .rounding = a.rounding + b.rounding};
    if (run.format == RANGE_F32) {
        double more = f32_half_ulp * executed(out.value);
        out.rounding += more;
        out.value.err += more;
    }
    return out;
}

/* One cut at the end of a sum of products; adds to the rounding that the caller wants to know. */
static real cut(acc *sum, double limit) {
    if (run.format != RANGE_F32)
        see(sum->magnitude, limit);
    if (run.format == RANGE_Q31 && !is_zero(sum->value)) {
        sum->rounding += q31_unit;
        sum->value.err += q31_unit;
    }
    return seen(sum->value);
}

real range_acc_round(acc sum) {
    return cut(&sum, acc_limit);
}

real range_turn_round(acc sum) {
    return cut(&sum, turn_limit);
}

/* Extreme values of cos over an interval of angles. */
static real cosine_of(double lo, double hi) {
    const double pi = 3.14159265358979323846;
    real out = {fmin(cos(lo), cos(hi)), fmax(cos(lo), cos(hi)), 0};
    /* A multiple of pi inside gives +1 or -1; the slack only widens. Two of them give both. */
    const double first = ceil(lo / pi - 1e-9), last = floor(hi / pi + 1e-9);
    if (first <= last) {
        const bool even = fmod(first, 2) == 0;
        if (even || last > first)
            out.hi = 1;
        if (!even || last > first)
            out.lo = -1;
    }
    out.lo = fmax(-1, out.lo - 1e-15);
    out.hi = fmin(1, out.hi + 1e-15);
    return out;
}

void range_sincos(real q, real offset, real *cosine, real *sine) {
    const double half_pi = 1.57079632679489661923;
    double lo = q.lo + offset.lo, hi = q.hi + offset.hi, err = q.err + offset.err;
    if (run.format == RANGE_Q31)
        err += q31_trig;
    if (run.format == RANGE_F32)
        err += f32_trig + (is_zero(offset) ? 0 : f32_half_ulp * fmax(fabs(lo), fabs(hi)));
    *cosine = cosine_of(lo, hi);
    *sine = cosine_of(lo - half_pi, hi - half_pi);
    cosine->err = sine->err = err;
}

real range_recip(real a) {
    /* The executed value may be anywhere within err: the bound is for both. */
    double lo = a.lo - a.err, hi = a.hi + a.err;
    if (lo <= 0 && hi >= 0)
        return seen((real){-HUGE_VAL, HUGE_VAL, HUGE_VAL});
    real out = {out_lo(1 / a.hi), out_hi(1 / a.lo), 0};
    double nearest = fmin(fabs(lo), fabs(hi));
    out.err = widen(a.err / (nearest * nearest));
    if (run.format == RANGE_Q31)
        out.err += q31_unit * (2 + size(out) * 0x1p-3);
    if (run.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return seen(out);
}

real range_sqrt(real a) {
    double lo = fmax(0, a.lo), nearest = fmax(0, a.lo - a.err);
    real out = {out_lo(sqrt(lo)), out_hi(sqrt(fmax(0, a.hi))), 0};
    /* sqrt(x + e) - sqrt(x) <= min(sqrt(e), e / 2 sqrt(x)). */
    out.err = fmin(sqrt(a.err), nearest > 0 ? widen(a.err / (2 * sqrt(nearest))) : HUGE_VAL);
    if (run.format == RANGE_Q31)
        out.err += q31_unit;
    if (run.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return seen(out);
}

real range_clamp(real a, real limit) {
    return (real){fmin(limit.hi, fmax(-limit.hi, a.lo)), fmax(-limit.hi, fmin(limit.hi, a.hi)),
                  fmax(a.err, limit.err)};
}

bool range_gain_constant(double value, int exponent, real *out) {
    double scaled = ldexp(value, -exponent);
    *out = (real){scaled, scaled, 0};
    /* Half a unit of a mantissa that is at least 2^29. */
    if (run.format == RANGE_Q31)
        out->err = fabs(scaled) * 0x1p-30;
    if (run.format == RANGE_F32)
        out->err = fabs((double)(float)scaled - scaled);
    return run.format != RANGE_Q31 || fabs(scaled) < 0x1p30;
}

real range_gain_wide(real k, real a) {
    real out = range_acc_mul(k, a).value;
    if (run.format == RANGE_Q31 && !is_zero(out))
        out.err += q31_unit;
    return out;
}

real range_gain_mul(real k, real a) {
    return seen(range_gain_wide(k, a));
}

real range_wide_add(real a, real b) {
    real out = sum_exact(a, b);
    if (run.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return out;
}

real range_wide_clamp(real a, real limit, uint32_t *beyond) {
    *beyond = executed(a) > limit.lo - limit.err;
    return range_clamp(a, limit);
}

real range_wide_fit(real a, uint32_t *beyond) {
    const real largest = {q31_limit, q31_limit, 0};
    *beyond = 0;
    return run.format == RANGE_F32 ? a : range_wide_clamp(a, largest, beyond);
}

bool range_holds(double value, int exponent) {
    return run.format != RANGE_Q31 || fabs(ldexp(value, -exponent)) < q31_limit;
}

bool range_constant(double value, int exponent, real *out) {
    double scaled = ldexp(value, -exponent);
    *out = (real){scaled, scaled, 0};
    if (run.format == RANGE_Q31) {
        out->err = fabs(dyn_q31_to(dyn_q31_from(value, exponent), 0) - scaled);
        if (!(fabs(scaled) < q31_limit))
            run.constants_fit = false;
    }
    if (run.format == RANGE_F32)
        out->err = fabs((double)(float)scaled - scaled);
    return true;
}

real range_turn_constant(double cs) {
    real out = {cs, cs, 0};
    if (run.format == RANGE_Q31)
        out.err = fabs(ldexp(rint(ldexp(cs, 30)), -30) - cs);
    if (run.format == RANGE_F32)
        out.err = fabs((double)(float)cs - cs);
    return out;
}

real range_angle_constant(double rad) {
    real out = {rad, rad, 0};
    if (run.format == RANGE_Q31 && rad != 0)
        out.err = 0x1p-33 * 6.2832;
    if (run.format == RANGE_F32)
        out.err = fabs((double)(float)rad - rad);
    return out;
}

/* ------------------------------------------------------------------------------------------ names
 */
/* "m.w" and "here.f" are called w and f: what stands before the point is the holder. */
static range_entry_t *entry_of(const char *name, uint32_t joint) {
    const char *point = strrchr(name, '.');
    char plain[sizeof run.report->entry[0].name];
    snprintf(plain, sizeof plain, "%s", point ? point + 1 : name);
    plain[strcspn(plain, "[")] = 0;
    range_report_t *r = run.report;
    for (uint32_t i = 0; i < r->entries; i++)
        if (r->entry[i].joint == joint && !strcmp(r->entry[i].name, plain))
            return &r->entry[i];
    if (r->entries == RANGE_ENTRIES)
        return &r->entry[RANGE_ENTRIES - 1];
    range_entry_t *e = &r->entry[r->entries++];
    memset(e, 0, sizeof *e);
    strcpy(e->name, plain);
    e->joint = joint;
    return e;
}

static void name_parts(const char *name, uint32_t joint, const real *part, int parts) {
    range_entry_t *e = entry_of(name, joint);
    e->parts = parts;
    for (int i = 0; i < parts; i++) {
        e->bound[i] = fmax(e->bound[i], executed(part[i]));
        e->error = fmax(e->error, part[i].err);
    }
    e->inside = fmax(e->inside, run.inside);
    run.inside = 0;
}

void range_named_real(const char *name, uint32_t joint, real a) {
    name_parts(name, joint, &a, 1);
}

void range_named_vec(const char *name, uint32_t joint, vec a) {
    const real part[3] = {a.x, a.y, a.z};
    name_parts(name, joint, part, 3);
}

/* ---------------------------------------------------------------------------------------- vectors
 */
static double norm3(double x, double y, double z) {
    return widen(sqrt(x * x + y * y + z * z));
}

/* What the norm knows about the components, and they about it. */
static vec tighten(vec a) {
    real *part[3] = {&a.x, &a.y, &a.z};
    for (int i = 0; i < 3; i++) {
        part[i]->lo = fmax(part[i]->lo, -a.norm);
        part[i]->hi = fmin(part[i]->hi, a.norm);
        part[i]->err = fmin(part[i]->err, a.norm_err);
    }
    a.norm = fmin(a.norm, norm3(size(a.x), size(a.y), size(a.z)));
    a.norm_err = fmin(a.norm_err, norm3(a.x.err, a.y.err, a.z.err));
    return a;
}

vec range_vec_make(real x, real y, real z) {
    return tighten((vec){x, y, z, HUGE_VAL, HUGE_VAL});
}

static double executed_norm(vec a) {
    return a.norm + a.norm_err;
}

/*
 * Three sums of products make a vector of which the norm is also known otherwise: its bound, and
 * the error that the operands bring along. What the components are cut comes on top.
 */
static vec vec_cut(acc x, acc y, acc z, double limit, double norm, double brought) {
    acc part[3] = {x, y, z};
    real value[3];
    for (int i = 0; i < 3; i++) {
        if (run.format != RANGE_F32)
            see(part[i].magnitude, limit);
        if (run.format == RANGE_Q31 && !is_zero(part[i].value)) {
            part[i].rounding += q31_unit;
            part[i].value.err += q31_unit;
        }
        value[i] = part[i].value;
    }
    vec out = {value[0], value[1], value[2], widen(norm), 0};
    out.norm_err = widen(brought) + norm3(part[0].rounding, part[1].rounding, part[2].rounding);
    out = tighten(out);
    seen(out.x);
    seen(out.y);
    seen(out.z);
    return out;
}

static bool vec_is_zero(vec a) {
    return is_zero(a.x) && is_zero(a.y) && is_zero(a.z);
}

vec range_vec_add(vec a, vec b) {
    if (vec_is_zero(a))
        return b;
    if (vec_is_zero(b))
        return a;
    vec out = {sum_exact(a.x, b.x), sum_exact(a.y, b.y), sum_exact(a.z, b.z),
               widen(a.norm + b.norm), widen(a.norm_err + b.norm_err)};
    out = tighten(out);
    if (run.format == RANGE_F32) {
        out.x.err += f32_half_ulp * executed(out.x);
        out.y.err += f32_half_ulp * executed(out.y);
        out.z.err += f32_half_ulp * executed(out.z);
        out.norm_err += f32_half_ulp * executed_norm(out);
    }
    seen(out.x);
    seen(out.y);
    seen(out.z);
    return out;
}

vec range_vec_scale(real k, vec a) {
    return vec_cut(range_acc_mul(k, a.x), range_acc_mul(k, a.y), range_acc_mul(k, a.z), acc_limit,
                   size(k) * a.norm, size(k) * a.norm_err + k.err * executed_norm(a));
}

static acc minor(real a1, real b2, real a2, real b1) {
    return range_acc_add(range_acc_mul(a1, b2), range_acc_mul(range_neg(a2), b1));
}

static double cross_error(vec a, vec b) {
    return a.norm * b.norm_err + b.norm * a.norm_err + a.norm_err * b.norm_err;
}

vec range_vec_cross(vec a, vec b) {
    return vec_cut(minor(a.y, b.z, a.z, b.y), minor(a.z, b.x, a.x, b.z), minor(a.x, b.y, a.y, b.x),
                   acc_limit, a.norm * b.norm, cross_error(a, b));
}

vec range_vec_cross2(vec a, vec b, vec c, vec d) {
    return vec_cut(range_acc_add(minor(a.y, b.z, a.z, b.y), minor(c.y, d.z, c.z, d.y)),
                   range_acc_add(minor(a.z, b.x, a.x, b.z), minor(c.z, d.x, c.x, d.z)),
                   range_acc_add(minor(a.x, b.y, a.y, b.x), minor(c.x, d.y, c.y, d.x)), acc_limit,
                   a.norm * b.norm + c.norm * d.norm, cross_error(a, b) + cross_error(c, d));
}

static acc row_mul(real a, real b, real c, vec v) {
    return range_acc_add(range_acc_add(range_acc_mul(a, v.x), range_acc_mul(b, v.y)),
                         range_acc_mul(c, v.z));
}

/* A bound on the largest eigenvalue by absolute value: the better of Frobenius and the row sums. */
static double sym_norm(double xx, double yy, double zz, double xy, double yz, double xz) {
    double frobenius = sqrt(xx * xx + yy * yy + zz * zz + 2 * (xy * xy + yz * yz + xz * xz));
    return widen(fmin(frobenius, fmax(xx + xy + xz, fmax(xy + yy + yz, xz + yz + zz))));
}

static double sym_size(dyn_sym_range_t J) {
    return sym_norm(size(J.xx), size(J.yy), size(J.zz), size(J.xy), size(J.yz), size(J.xz));
}

static double sym_error(dyn_sym_range_t J, vec a) {
    double err = sym_norm(J.xx.err, J.yy.err, J.zz.err, J.xy.err, J.yz.err, J.xz.err);
    return sym_size(J) * a.norm_err + err * executed_norm(a);
}

vec range_sym_mul(dyn_sym_range_t J, vec a) {
    return vec_cut(row_mul(J.xx, J.xy, J.xz, a), row_mul(J.xy, J.yy, J.yz, a),
                   row_mul(J.xz, J.yz, J.zz, a), acc_limit, sym_size(J) * a.norm, sym_error(J, a));
}

vec range_sym_mul_add_cross(dyn_sym_range_t J, vec a, vec b, vec c) {
    return vec_cut(range_acc_add(row_mul(J.xx, J.xy, J.xz, a), minor(b.y, c.z, b.z, c.y)),
                   range_acc_add(row_mul(J.xy, J.yy, J.yz, a), minor(b.z, c.x, b.x, c.z)),
                   range_acc_add(row_mul(J.xz, J.yz, J.zz, a), minor(b.x, c.y, b.y, c.x)),
                   acc_limit, sym_size(J) * a.norm + b.norm * c.norm,
                   sym_error(J, a) + cross_error(b, c));
}

/* An interval of the exact values only. */
static real exact_mul(real a, real b) {
    a.err = b.err = 0;
    real out = range_acc_mul(a, b).value;
    out.err = 0;
    return out;
}

static real exact_square(real a) {
    double least = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0;
    return (real){out_lo(least * least), out_hi(size(a) * size(a)), 0};
}

/* One component of w x (J w), about axis 3 with 1 and 2 across, without its cancelling products:
 * (J22 - J11) w1 w2 + J12 (w1^2 - w2^2) + J23 w1 w3 - J13 w2 w3. */
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

vec range_sym_euler(dyn_sym_range_t J, vec wd, vec w) {
    vec out = range_sym_mul_add_cross(J, wd, w, range_sym_mul(J, w));
    acc x = row_mul(J.xx, J.xy, J.xz, wd), y = row_mul(J.xy, J.yy, J.yz, wd),
        z = row_mul(J.xz, J.yz, J.zz, wd);
    out.x =
        meet(out.x, sum_exact(x.value, gyroscopic(J.yy, J.zz, J.yz, J.xz, J.xy, w.y, w.z, w.x)));
    out.y =
        meet(out.y, sum_exact(y.value, gyroscopic(J.zz, J.xx, J.xz, J.xy, J.yz, w.z, w.x, w.y)));
    out.z =
        meet(out.z, sum_exact(z.value, gyroscopic(J.xx, J.yy, J.xy, J.yz, J.xz, w.x, w.y, w.z)));
    return tighten(out);
}

vec range_vec_turn(int axis, bool back, dyn_turn_range_t t, vec a) {
    if (t.c.lo == 1 && t.c.hi == 1 && is_zero(t.s) && t.c.err == 0)
        return a;
    real u = axis == 0 ? a.y : a.x, v = axis == 0 ? a.z : a.y;
    real s = back ? range_neg(t.s) : t.s;
    acc first = range_acc_add(range_acc_mul(t.c, u), range_acc_mul(s, v));
    acc second = range_acc_add(range_acc_mul(t.c, v), range_acc_mul(range_neg(s), u));
    /* In its plane the exact turn keeps the length, and the executed one is (dc, ds) off. */
    double plane = fmin(a.norm, norm3(size(u), size(v), 0));
    double plane_err = fmin(a.norm_err, norm3(u.err, v.err, 0));
    double off = norm3(t.c.err, t.s.err, 0);
    double brought = plane_err + off * (plane + plane_err);
    acc *both[2] = {&first, &second};
    double rounding[2];
    for (int i = 0; i < 2; i++) {
        real *x = &both[i]->value;
        x->lo = fmax(x->lo, -plane);
        x->hi = fmin(x->hi, plane);
        if (run.format != RANGE_F32)
            see(both[i]->magnitude, turn_limit);
        if (run.format == RANGE_Q31 && !is_zero(*x)) {
            both[i]->rounding += q31_unit;
            x->err += q31_unit;
        }
        rounding[i] = both[i]->rounding;
        x->err = fmin(x->err, brought + rounding[i]);
    }
    vec out = a;
    *(axis == 0 ? &out.y : &out.x) = first.value;
    *(axis == 0 ? &out.z : &out.y) = second.value;
    out.norm_err =
        widen(a.norm_err + off * (plane + plane_err) + norm3(rounding[0], rounding[1], 0));
    out = tighten(out);
    seen(out.x);
    seen(out.y);
    seen(out.z);
    return out;
}

vec range_vec_shift(vec a, unsigned shift) {
    double k = ldexp(1, -(int)shift);
    vec out = {range_shift(a.x, shift), range_shift(a.y, shift), range_shift(a.z, shift),
               a.norm * k, a.norm_err * k};
    if (run.format == RANGE_Q31 && shift > 0 && !vec_is_zero(a))
        out.norm_err += norm3(q31_unit, q31_unit, q31_unit);
    return tighten(out);
}

/* ---------------------------------------------------------------------------- acceleration tensor
 */
/* A square does not become negative. */
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

static double error_of(real a) {
    return a.err;
}

/* The values that the executed arithmetic meets, as if they were exact. */
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
    return vec_cut(row3(o.xy, r.y, o.xz, r.z, o.xx, r.x), row3(o.yx, r.x, o.yz, r.z, o.yy, r.y),
                   row3(o.zx, r.x, o.zy, r.y, o.zz, r.z), acc_limit, o.norm * r.norm,
                   o.norm * r.norm_err + o.norm_err * executed_norm(r));
}

static acc euler_part(real zx, real xy, real zy, real yy, real yx, real xz, real yz, real zz,
                      real z2, real y2, real J_yz) {
    acc sum = range_acc_add(range_acc_mul(zx, xy), range_acc_mul(zy, yy));
    sum = range_acc_add(sum, range_acc_mul(range_neg(yx), xz));
    sum = range_acc_add(sum, range_acc_mul(range_neg(yz), zz));
    return range_acc_add(sum, range_acc_mul(range_add(z2, range_neg(y2)), J_yz));
}

static double frobenius(dyn_sym_range_t J, double (*of)(real)) {
    const double d[3] = {of(J.xx), of(J.yy), of(J.zz)}, e[3] = {of(J.xy), of(J.yz), of(J.xz)};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += d[i] * d[i] + 2 * e[i] * e[i];
    return widen(sqrt(sum));
}

/* The vector of A - A^T is at most sqrt(2) times as long as A is large, and A = Omega J. */
vec range_omega_euler_add_cross(range_omega_t o, dyn_sym_range_t J, vec a, vec b) {
    acc x = euler_part(o.zx, J.xy, o.zy, J.yy, o.yx, J.xz, o.yz, J.zz, o.z2, o.y2, J.yz);
    acc y = euler_part(o.xy, J.yz, o.xz, J.zz, o.zy, J.xy, o.zx, J.xx, o.x2, o.z2, J.xz);
    acc z = euler_part(o.yz, J.xz, o.yx, J.xx, o.xz, J.yz, o.xy, J.yy, o.y2, o.x2, J.xy);
    const double root2 = 1.4142135623730952;
    const double large = frobenius(J, size), off = frobenius(J, error_of);
    return vec_cut(range_acc_add(x, minor(a.y, b.z, a.z, b.y)),
                   range_acc_add(y, minor(a.z, b.x, a.x, b.z)),
                   range_acc_add(z, minor(a.x, b.y, a.y, b.x)), acc_limit,
                   root2 * o.norm * large + a.norm * b.norm,
                   root2 * (o.norm_err * (large + off) + o.norm * off) + cross_error(a, b));
}

/* ------------------------------------------------------------------------------------------- runs
 */
void range_ne(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
              real tau[]) {
    static dyn_ne_scratch_range_t scratch;
    dyn_ne_inverse_range(arm, &scratch, q, qd, qdd, tau);
}

void range_ne_drive(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
                    real tau[]) {
    range_ne(arm, q, qd, qdd, tau);
    dyn_rotor_inverse_range(arm, qdd, tau);
    dyn_friction_range(arm, qd, tau);
    if (arm->drive_status != DYN_OK)
        run.constants_fit = false;
}

/* A constant of the arm under a name, so that the choice of units makes room for it. */
static void name_body(uint32_t i, real m, vec l, dyn_sym_range_t J) {
    range_named_real("const_m", i, m);
    range_named_vec("const_l", i, l);
    range_named_vec("const_J", i, range_vec_make(J.xx, J.yy, J.zz));
    range_named_vec("const_Jx", i, range_vec_make(J.xy, J.yz, J.xz));
}

void range_ga(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
              real tau[]) {
    static dyn_ga_scratch_range_t scratch;
    if (arm->ga_status != DYN_OK)
        run.constants_fit = false;
    for (uint32_t i = 0; i < arm->n; i++)
        name_body(i, arm->joint[i].ga.M, arm->joint[i].ga.gamma, arm->joint[i].ga.E);
    dyn_ga_inverse_range(arm, &scratch, q, qd, qdd, tau);
}

void range_fast(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
                real tau[]) {
    static dyn_fast_scratch_range_t scratch;
    if (arm->fast_status != DYN_OK)
        run.constants_fit = false;
    for (uint32_t i = 0; i < arm->n; i++)
        name_body(i, arm->joint[i].fast.M, arm->joint[i].fast.l, arm->joint[i].fast.J);
    dyn_fast_inverse_range(arm, &scratch, q, qd, qdd, tau);
}

static real input(double lo, double hi, int exponent) {
    real out = {ldexp(lo, -exponent), ldexp(hi, -exponent), 0};
    if (run.format == RANGE_Q31)
        out.err = q31_unit / 2;
    return seen(out);
}

static bool limits_given(const dyn_model_joint_t *j) {
    const dyn_limits_t *l = &j->drive.limits;
    if (!(l->velocity > 0) || !(l->acceleration > 0))
        return false;
    return j->type == DYN_REVOLUTE || l->position[1] > l->position[0];
}

static void set_inputs(const dyn_model_t *model, const dyn_units_t *units, real *q, real *qd,
                       real *qdd) {
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_model_joint_t *j = &model->joint[i];
        const dyn_limits_t *l = &j->drive.limits;
        const dyn_q31_exponents_t e = dyn_q31_exponents(model, units, i);
        if (j->type == DYN_PRISMATIC) {
            q[i] = input(l->position[0], l->position[1], e.position);
        } else {
            /* Without limits of its own a revolute joint may stand anywhere. */
            bool free = !(l->position[1] > l->position[0]);
            q[i] = (real){free ? -3.1415926535897936 : l->position[0],
                          free ? 3.1415926535897936 : l->position[1], 0};
            if (run.format == RANGE_Q31)
                q[i].err = 0x1p-33 * 6.2832;
        }
        qd[i] = input(-l->velocity, l->velocity, e.velocity);
        qdd[i] = input(-l->acceleration, l->acceleration, e.acceleration);
    }
}

int range_run(range_inverse_t kernel, const dyn_model_t *model, const dyn_units_t *units,
              range_format_t format, range_report_t *report) {
    static const dyn_units_t si_units = {0};
    static dyn_arm_range_t arm;
    real q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < model->n; i++)
        if (!limits_given(&model->joint[i]))
            return DYN_E_NUMBER;
    if (!units || format == RANGE_F32)
        units = &si_units;
    memset(report, 0, sizeof *report);
    run.format = format;
    run.report = report;
    run.inside = 0;
    run.constants_fit = true;
    report->format = format;
    report->n = model->n;
    report->status = dyn_prepare_range(model, units, &arm);
    if (report->status == DYN_OK && !run.constants_fit)
        report->status = DYN_E_UNITS;
    if (report->status != DYN_OK && report->status != DYN_E_UNITS)
        return report->status;
    set_inputs(model, units, q, qd, qdd);
    kernel(&arm, q, qd, qdd, tau);
    if (report->status == DYN_OK && !run.constants_fit)
        report->status = DYN_E_UNITS;
    for (uint32_t i = 0; i < model->n; i++) {
        int e = dyn_q31_exponents(model, units, i).torque;
        range_named_real("tau", i, tau[i]);
        report->tau_bound[i] = ldexp(executed(tau[i]), e);
        report->tau_error[i] = ldexp(tau[i].err, e);
    }
    report->fits = report->status == DYN_OK;
    double tightest = -1;
    for (uint32_t i = 0; i < report->entries; i++) {
        range_entry_t *e = &report->entry[i];
        double own = 0, part;
        for (int k = 0; k < e->parts; k++)
            own = fmax(own, e->bound[k] / q31_limit);
        part = fmax(own, e->inside);
        e->headroom = -log2(part);
        if (format == RANGE_F32)
            continue;
        if (!(part < 1))
            report->fits = false;
        /* A value is also on the way to what was named before it: the one that bears the name wins.
         */
        if (fmax(part, own * 1.000001) > tightest) {
            tightest = fmax(part, own * 1.000001);
            report->tightest = i;
        }
    }
    return DYN_OK;
}

const range_entry_t *range_find(const range_report_t *report, const char *name, uint32_t joint) {
    for (uint32_t i = 0; i < report->entries; i++)
        if (report->entry[i].joint == joint && !strcmp(report->entry[i].name, name))
            return &report->entry[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------- choice of
 * units */
static double inertia_of(const dyn_model_t *model, uint32_t i, int length) {
    const dyn_body_t last = dyn_model_last_link(model);
    const dyn_body_t *body = i == model->n - 1 ? &last : &model->joint[i].link;
    double largest = fabs(body->mass);
    for (int k = 0; k < 6; k++)
        largest = fmax(largest, ldexp(fabs(body->inertia[k]), -2 * length));
    return largest / q31_limit;
}

/*
 * The smallest mass unit of each link that overflows nothing. Two exact runs, with units that
 * differ by a factor of two, tell what contains mass; that is proportional to the unit sought.
 * False where something overflows whatever the mass unit.
 */
static bool choose_masses(range_inverse_t kernel, const dyn_model_t *model, dyn_units_t *units,
                          range_report_t *report) {
    static range_report_t other;
    const int high = 40;
    double part[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < model->n; i++)
        units->mass[i] = (int8_t)(high - 1);
    range_run(kernel, model, units, RANGE_EXACT, &other);
    for (uint32_t i = 0; i < model->n; i++)
        units->mass[i] = (int8_t)high;
    range_run(kernel, model, units, RANGE_EXACT, report);
    if (!report->fits)
        return false;
    for (uint32_t i = 0; i < model->n; i++)
        part[i] = ldexp(inertia_of(model, i, units->length), -high);
    for (uint32_t i = 0; i < report->entries; i++) {
        const range_entry_t *e = &report->entry[i];
        if (e->headroom - other.entry[i].headroom > 0.5)
            part[e->joint] = fmax(part[e->joint], exp2(-e->headroom));
    }
    /* The part in a thousand is for the rounding errors, which the proof afterwards adds. */
    int least = -60;
    for (uint32_t i = model->n; i-- > 0;) {
        int mass = part[i] > 0 ? high + (int)ceil(log2(part[i] * 1.001)) : least;
        least = mass > least ? mass : least;
        units->mass[i] = (int8_t)least;
    }
    /* A shift of 31 is the most an int32 can make sense of. */
    for (uint32_t i = 1; i < model->n; i++)
        if (units->mass[i] < units->mass[i - 1] - 30)
            units->mass[i] = (int8_t)(units->mass[i - 1] - 30);
    return true;
}

static double worst_error(const range_report_t *r) {
    double worst = 0;
    for (uint32_t i = 0; i < r->n; i++)
        worst = fmax(worst, r->tau_error[i] / (r->tau_bound[i] > 0 ? r->tau_bound[i] : 1));
    return worst;
}

int range_choose_units(range_inverse_t kernel, const dyn_model_t *model, dyn_units_t *units,
                       range_report_t *report) {
    static range_report_t trial, nearest;
    double best = HUGE_VAL, least_over = HUGE_VAL;
    int status = range_run(kernel, model, NULL, RANGE_EXACT, &trial);
    if (status != DYN_OK)
        return status;
    for (int length = -6; length <= 4; length++) {
        for (int time = -10; time <= 2; time++) {
            dyn_units_t u = {.length = (int8_t)length, .time = (int8_t)time};
            if (choose_masses(kernel, model, &u, &trial))
                range_run(kernel, model, &u, RANGE_Q31, &trial);
            if (trial.fits && worst_error(&trial) < best) {
                best = worst_error(&trial);
                *units = u;
                *report = trial;
            }
            double over = -trial.entry[trial.tightest].headroom;
            if (!trial.fits && over < least_over) {
                least_over = over;
                nearest = trial;
            }
        }
    }
    if (best < HUGE_VAL)
        return DYN_OK;
    *report = nearest;
    return DYN_E_UNITS;
}
