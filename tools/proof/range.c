/* Bounds of numbers and vectors for the backend `range` (tools/proof/range.h). */
#include "tools/proof/range_inside.h"

#include "dyn/number/q31.h"

#include <stdio.h>
#include <string.h>

range_now_t range_now;

real range_neg(real a) {
    return (real){-a.hi, -a.lo, a.err};
}

real range_add(real a, real b) {
    if (is_zero(a))
        return b;
    if (is_zero(b))
        return a;
    real out = sum_exact(a, b);
    if (range_now.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return recorded(out);
}

real range_shift(real a, unsigned shift) {
    double k = ldexp(1, -(int)shift);
    real out = {a.lo * k, a.hi * k, a.err * k};
    if (range_now.format == RANGE_Q31 && shift > 0 && !is_zero(a))
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
    if (range_now.format == RANGE_F32 && !exact) {
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
    if (range_now.format == RANGE_F32) {
        double more = f32_half_ulp * executed(out.value);
        out.rounding += more;
        out.value.err += more;
    }
    return out;
}

/* Rounds a sum of products once, at its end. In q31 the rounding costs at most how.unit, which is
 * added to the error. */
static void round_once(acc *sum, rounding_t how) {
    if (range_now.format != RANGE_F32)
        record(sum->magnitude, how.limit);
    if (range_now.format == RANGE_Q31 && !is_zero(sum->value)) {
        sum->rounding += how.unit;
        sum->value.err += how.unit;
    }
}

real range_acc_round(acc sum) {
    round_once(&sum, acc_rounding);
    return recorded(sum.value);
}

real range_turn_round(acc sum) {
    round_once(&sum, turn_rounding);
    return recorded(sum.value);
}

/* Returns the extreme values of cos over an interval of angles. */
static real cosine_of(double lo, double hi) {
    const double pi = 3.14159265358979323846;
    real out = {fmin(cos(lo), cos(hi)), fmax(cos(lo), cos(hi)), 0};
    /* If the interval contains a multiple of pi, cos reaches +1 or -1; if it contains two, cos
     * reaches both. The 1e-9 only widens the bound. */
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
    if (range_now.format == RANGE_Q31)
        err += q31_trig;
    if (range_now.format == RANGE_F32)
        err += f32_trig + (is_zero(offset) ? 0 : f32_half_ulp * fmax(fabs(lo), fabs(hi)));
    *cosine = cosine_of(lo, hi);
    *sine = cosine_of(lo - half_pi, hi - half_pi);
    cosine->err = sine->err = err;
}

real range_recip(real a) {
    /* The executed value may differ from the exact one by err, so the interval must cover both. */
    double lo = a.lo - a.err, hi = a.hi + a.err;
    if (lo <= 0 && hi >= 0)
        return recorded((real){-HUGE_VAL, HUGE_VAL, HUGE_VAL});
    real out = {out_lo(1 / a.hi), out_hi(1 / a.lo), 0};
    double nearest = fmin(fabs(lo), fabs(hi));
    out.err = widen(a.err / (nearest * nearest));
    if (range_now.format == RANGE_Q31)
        out.err += q31_unit * (2 + size(out) * 0x1p-3);
    if (range_now.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return recorded(out);
}

real range_sqrt(real a) {
    double lo = fmax(0, a.lo), nearest = fmax(0, a.lo - a.err);
    real out = {out_lo(sqrt(lo)), out_hi(sqrt(fmax(0, a.hi))), 0};
    /* The error of the root is at most min(sqrt(e), e / (2 sqrt(x))), where e is the error of x. */
    out.err = fmin(sqrt(a.err), nearest > 0 ? widen(a.err / (2 * sqrt(nearest))) : HUGE_VAL);
    if (range_now.format == RANGE_Q31)
        out.err += q31_unit;
    if (range_now.format == RANGE_F32)
        out.err += f32_half_ulp * executed(out);
    return recorded(out);
}

real range_clamp(real a, real limit) {
    return (real){fmin(limit.hi, fmax(-limit.hi, a.lo)), fmax(-limit.hi, fmin(limit.hi, a.hi)),
                  fmax(a.err, limit.err)};
}

bool range_gain_constant(double value, int exponent, real *out) {
    double scaled = ldexp(value, -exponent);
    *out = (real){scaled, scaled, 0};
    /* The mantissa is at least 2^29 and is rounded by at most half a unit, which is 2^-30 of the
     * value. */
    if (range_now.format == RANGE_Q31)
        out->err = fabs(scaled) * 0x1p-30;
    if (range_now.format == RANGE_F32)
        out->err = fabs((double)(float)scaled - scaled);
    return range_now.format != RANGE_Q31 || fabs(scaled) < 0x1p30;
}

real range_gain_wide(real k, real a) {
    real out = range_acc_mul(k, a).value;
    if (range_now.format == RANGE_Q31 && !is_zero(out))
        out.err += q31_unit;
    return out;
}

real range_gain_mul(real k, real a) {
    return recorded(range_gain_wide(k, a));
}

real range_wide_add(real a, real b) {
    real out = sum_exact(a, b);
    if (range_now.format == RANGE_F32)
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
    return range_now.format == RANGE_F32 ? a : range_wide_clamp(a, largest, beyond);
}

bool range_fits(double value, int exponent) {
    return range_now.format != RANGE_Q31 || fabs(ldexp(value, -exponent)) < q31_limit;
}

bool range_constant(double value, int exponent, real *out) {
    double scaled = ldexp(value, -exponent);
    *out = (real){scaled, scaled, 0};
    if (range_now.format == RANGE_Q31) {
        out->err = fabs(dyn_q31_to(dyn_q31_from(value, exponent), 0) - scaled);
        if (!(fabs(scaled) < q31_limit))
            range_now.constants_fit = false;
    }
    if (range_now.format == RANGE_F32)
        out->err = fabs((double)(float)scaled - scaled);
    return true;
}

real range_turn_constant(double cs) {
    real out = {cs, cs, 0};
    if (range_now.format == RANGE_Q31)
        out.err = fabs(ldexp(rint(ldexp(cs, 30)), -30) - cs);
    if (range_now.format == RANGE_F32)
        out.err = fabs((double)(float)cs - cs);
    return out;
}

real range_angle_constant(double rad) {
    real out = {rad, rad, 0};
    if (range_now.format == RANGE_Q31 && rad != 0)
        out.err = 0x1p-33 * 6.2832;
    if (range_now.format == RANGE_F32)
        out.err = fabs((double)(float)rad - rad);
    return out;
}

real range_angle(real rad) {
    if (range_now.format == RANGE_Q31 && !is_zero(rad))
        /* the binary angle is truncated by at most one unit, 2^-32 of a turn */
        rad.err += 0x1p-32 * 6.2832;
    return rad;
}

/* ---------------------------------------------------------------------------------------- names */
void range_problem(const char *problem) {
    range_now.problem = problem;
}

/* Finds or adds the entry of a name. Drops what stands before the point: "m.w" and "here.f" are
 * stored as w and f. */
static range_entry_t *entry_of(const char *name, uint32_t joint) {
    const char *point = strrchr(name, '.');
    char plain[sizeof range_now.report->entry[0].name];
    snprintf(plain, sizeof plain, "%s", point ? point + 1 : name);
    plain[strcspn(plain, "[")] = 0;
    range_report_t *r = range_now.report;
    for (uint32_t i = 0; i < r->entries; i++)
        if (r->entry[i].joint == joint && !strcmp(r->entry[i].name, plain) &&
            !strcmp(r->entry[i].problem, range_now.problem))
            return &r->entry[i];
    if (r->entries == RANGE_ENTRIES)
        return &r->entry[RANGE_ENTRIES - 1];
    range_entry_t *e = &r->entry[r->entries++];
    memset(e, 0, sizeof *e);
    e->problem = range_now.problem;
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
    e->inside = fmax(e->inside, range_now.inside);
    range_now.inside = 0;
}

void range_named_real(const char *name, uint32_t joint, real a) {
    name_parts(name, joint, &a, 1);
}

void range_named_vec(const char *name, uint32_t joint, vec a) {
    const real part[3] = {a.x, a.y, a.z};
    name_parts(name, joint, part, 3);
}

/* -------------------------------------------------------------------------------------- vectors */
/* Tightens the components by the norm, and the norm by the components. */
vec range_tighten(vec a) {
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
    return range_tighten((vec){x, y, z, HUGE_VAL, HUGE_VAL});
}

/*
 * Makes a vector from three sums of products. The caller also bounds the norm of the exact vector
 * by `norm` and the norm of the error that comes from the operands by `brought`; the rounding of
 * the components is added here.
 */
vec range_vec_round(acc x, acc y, acc z, rounding_t how, double norm, double brought) {
    acc part[3] = {x, y, z};
    real value[3];
    for (int i = 0; i < 3; i++) {
        round_once(&part[i], how);
        value[i] = part[i].value;
    }
    vec out = {value[0], value[1], value[2], widen(norm), 0};
    out.norm_err = widen(brought) + norm3(part[0].rounding, part[1].rounding, part[2].rounding);
    out = range_tighten(out);
    recorded(out.x);
    recorded(out.y);
    recorded(out.z);
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
    out = range_tighten(out);
    if (range_now.format == RANGE_F32) {
        out.x.err += f32_half_ulp * executed(out.x);
        out.y.err += f32_half_ulp * executed(out.y);
        out.z.err += f32_half_ulp * executed(out.z);
        out.norm_err += f32_half_ulp * executed_norm(out);
    }
    recorded(out.x);
    recorded(out.y);
    recorded(out.z);
    return out;
}

vec range_vec_scale(real k, vec a) {
    return range_vec_round(range_acc_mul(k, a.x), range_acc_mul(k, a.y), range_acc_mul(k, a.z),
                           acc_rounding, size(k) * a.norm,
                           size(k) * a.norm_err + k.err * executed_norm(a));
}

vec range_vec_cross(vec a, vec b) {
    return range_vec_round(minor(a.y, b.z, a.z, b.y), minor(a.z, b.x, a.x, b.z),
                           minor(a.x, b.y, a.y, b.x), acc_rounding, a.norm * b.norm,
                           cross_error(a, b));
}

vec range_vec_cross2(vec a, vec b, vec c, vec d) {
    return range_vec_round(range_acc_add(minor(a.y, b.z, a.z, b.y), minor(c.y, d.z, c.z, d.y)),
                           range_acc_add(minor(a.z, b.x, a.x, b.z), minor(c.z, d.x, c.x, d.z)),
                           range_acc_add(minor(a.x, b.y, a.y, b.x), minor(c.x, d.y, c.y, d.x)),
                           acc_rounding, a.norm * b.norm + c.norm * d.norm,
                           cross_error(a, b) + cross_error(c, d));
}

vec range_vec_turn(int axis, bool back, dyn_turn_range_t t, vec a) {
    if (turns_not(t))
        return a;
    real u = axis == 0 ? a.y : axis == 1 ? a.z : a.x, v = axis == 0 ? a.z : axis == 1 ? a.x : a.y;
    real s = back ? range_neg(t.s) : t.s;
    acc first = range_acc_add(range_acc_mul(t.c, u), range_acc_mul(s, v));
    acc second = range_acc_add(range_acc_mul(t.c, v), range_acc_mul(range_neg(s), u));
    /* The exact turn keeps the length of the vector within the plane; the executed cosine and sine
     * differ from the exact ones by their errors. */
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
        round_once(both[i], turn_rounding);
        rounding[i] = both[i]->rounding;
        x->err = fmin(x->err, brought + rounding[i]);
    }
    vec out = a;
    *(axis == 0 ? &out.y : axis == 1 ? &out.z : &out.x) = first.value;
    *(axis == 0 ? &out.z : axis == 1 ? &out.x : &out.y) = second.value;
    out.norm_err =
        widen(a.norm_err + off * (plane + plane_err) + norm3(rounding[0], rounding[1], 0));
    out = range_tighten(out);
    recorded(out.x);
    recorded(out.y);
    recorded(out.z);
    return out;
}

vec range_vec_shift(vec a, unsigned shift) {
    double k = ldexp(1, -(int)shift);
    vec out = {range_shift(a.x, shift), range_shift(a.y, shift), range_shift(a.z, shift),
               a.norm * k, a.norm_err * k};
    if (range_now.format == RANGE_Q31 && shift > 0 && !vec_is_zero(a))
        out.norm_err += norm3(q31_unit, q31_unit, q31_unit);
    return range_tighten(out);
}
