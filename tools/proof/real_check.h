/* The number operations of the backend `check`, for kernels: those of q31 with overflow checks. */
#ifndef TOOLS_PROOF_REAL_CHECK_H
#define TOOLS_PROOF_REAL_CHECK_H

#include "dyn/number/q31.h"
#include "tools/proof/check.h"

#define DYN_REAL check

static inline int32_t check_cut(int64_t sum, int bits) {
    int64_t value = sum >> bits;
    if (value > INT32_MAX || value < -INT32_MAX)
        check_overflow("a truncated sum of products", value);
    return (int32_t)value;
}

static inline int32_t check_cut_turn(int64_t sum) {
    int64_t value = (sum >> 32) * 4;
    if (value > INT32_MAX || value < -INT32_MAX)
        check_overflow("a rotated vector", value);
    return (int32_t)value;
}

static inline int32_t check_sum(int32_t a, int32_t b) {
    int64_t value = (int64_t)a + b;
    if (value > INT32_MAX || value < -INT32_MAX)
        check_overflow("a sum", value);
    return (int32_t)value;
}

static inline int64_t check_sum64(int64_t a, int64_t b) {
    int64_t value;
    if (__builtin_add_overflow(a, b, &value))
        check_overflow("a sum of products", value);
    return value;
}

static inline void check_part(check_site_t *site, uint32_t joint, int part, int32_t value) {
    if (value < site->low[joint][part])
        site->low[joint][part] = value;
    if (value > site->high[joint][part])
        site->high[joint][part] = value;
}

static inline void check_real(check_site_t *site, uint32_t joint, int32_t value) {
    if (!site->listed)
        check_list(site);
    check_part(site, joint, 0, value);
}

static inline void check_vec(check_site_t *site, uint32_t joint, dyn_vec_check_t value) {
    if (!site->listed)
        check_list(site);
    check_part(site, joint, 0, value.x);
    check_part(site, joint, 1, value.y);
    check_part(site, joint, 2, value.z);
}

#define Q31_CUT(sum, bits) check_cut(sum, bits)
#define Q31_CUT_TURN(sum)  check_cut_turn(sum)
#define Q31_SUM(a, b)      check_sum(a, b)
#define Q31_SUM64(a, b)    check_sum64(a, b)
#define Q31_UP(a, bits)    check_cut((int64_t)(a) * ((int64_t)1 << (bits)), 0)
#define NAMED(joint, value)                                                                        \
    do {                                                                                           \
        static check_site_t site_ = {.name = #value};                                              \
        _Generic((value), dyn_vec_check_t                                                          \
                 : check_vec, int32_t                                                              \
                 : check_real)(&site_, joint, value);                                              \
    } while (0)

#include "dyn/number/real_q31.h"

#endif
