/*
 * Every word of the vocabulary once, through one backend: a template like the kernels. Included by
 * a file that has the number operations of a backend and says how a number comes in and goes out.
 *
 * Before: WORD_IN(double), WORD_OUT(real), WORD_TURN_IN(double).
 */
#include "test/support/dyn/dyn_words_list.h"

void DYN(words)(const double x[WORDS_IN], double c, double s, double out[WORDS_OUT]);

static void put_vec(double **out, vec a) {
    *(*out)++ = WORD_OUT(a.x);
    *(*out)++ = WORD_OUT(a.y);
    *(*out)++ = WORD_OUT(a.z);
}

static void put_sym(double **out, sym a) {
    *(*out)++ = WORD_OUT(a.xx);
    *(*out)++ = WORD_OUT(a.yy);
    *(*out)++ = WORD_OUT(a.zz);
    *(*out)++ = WORD_OUT(a.xy);
    *(*out)++ = WORD_OUT(a.yz);
    *(*out)++ = WORD_OUT(a.xz);
}

void DYN(words)(const double x[WORDS_IN], double c, double s, double out[WORDS_OUT]) {
    real r[WORDS_IN];
    for (int i = 0; i < WORDS_IN; i++)
        r[i] = WORD_IN(x[i]);
    const vec a = vec_make(r[0], r[1], r[2]), b = vec_make(r[3], r[4], r[5]);
    const vec d = vec_make(r[6], r[7], r[8]), e = vec_make(r[9], r[10], r[11]);
    const sym J = {r[12], r[13], r[14], r[15], r[16], r[17]};
    const turn t = {WORD_TURN_IN(c), WORD_TURN_IN(s)};
    const frame A = {.x = t, .z = {t.s, real_neg(t.c)}, .p = frame_p(r[0], r[1])};

    put_vec(&out, vec_add(a, b));
    put_vec(&out, vec_sub(a, b));
    put_vec(&out, vec_scale(r[6], a));
    put_vec(&out, vec_cross(a, b));
    put_vec(&out, vec_add_cross(a, b, d));
    put_vec(&out, vec_add_cross2(a, b, d, a, e));
    put_vec(&out, sym_mul(J, a));
    put_vec(&out, sym_mul_add_cross(J, a, b, d));
    put_vec(&out, sym_euler(J, a, b));
    put_vec(&out, to_child(A, a));
    put_vec(&out, to_parent(A, a));
    put_vec(&out, to_parent(A, to_child(A, a)));
    put_sym(&out, sym_add(J, J));
    put_sym(&out, sym_to_parent(A, J));
    *out++ = WORD_OUT(vec_dot(a, b));
    *out++ = WORD_OUT(real_clamp(r[0], r[18]));
    *out++ = WORD_OUT(real_recip(r[18]));
    *out++ = WORD_OUT(real_recip(real_neg(r[18])));
    *out++ = WORD_OUT(real_sqrt(r[18]));
    *out++ = WORD_OUT(turn_real(t.c));
    *out++ = pivot_ok(pivot_see(pivot_see(pivot_begin(), r[18]), r[19]));
    *out++ = pivot_ok(pivot_see(pivot_see(pivot_begin(), r[18]), real_neg(r[19])));
}
