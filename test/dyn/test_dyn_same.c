/*
 * Tests that results have the same bits on every machine, and that every state takes the same
 * number of instructions. This file contains hashes of the torques of 1,000 states, which host and
 * target must both give.
 */
#include "dyn/number/f32.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_yardstick.h"
#include "test/support/harness.h"

#include <string.h>

#ifdef __arm__
#include "test/support/cost.h"
#endif

enum { STATES = 1000 };

static dyn_model_t model;
static dyn_arm_f32_t arm_f32;
static dyn_ne_scratch_f32_t scratch_f32;
static dyn_arm_q31_t arm_q31;
static dyn_ne_scratch_q31_t scratch_q31;

/* range_choose_units finds these units for the PUMA with the limits of dyn_arms_model;
 * test_dyn_range checks that. */
static const dyn_units_t puma_units = {.length = -2, .time = -3, .mass = {4, 4, 2, 0, -1, -4}};

static uint32_t hash_word(uint32_t hash, uint32_t word) {
    /* FNV-1a, byte by byte. */
    for (int i = 0; i < 4; i++, word >>= 8)
        hash = (hash ^ (word & 0xFF)) * 16777619u;
    return hash;
}

static void state_f32(dyn_arms_random_t *seed, uint32_t n, float *q, float *qd, float *qdd) {
    for (uint32_t i = 0; i < n; i++) {
        /* Divides by a power of two, so that every machine gets the same float. */
        q[i] = (float)dyn_arms_random(seed) / 536870912.0f;
        qd[i] = (float)dyn_arms_random(seed) / 1073741824.0f;
        qdd[i] = (float)dyn_arms_random(seed) / 268435456.0f;
    }
}

static uint32_t hash_f32(uint32_t k) {
    dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};
    static float q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    uint32_t hash = 2166136261u;
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int s = 0; s < STATES; s++) {
        state_f32(&seed, model.n, q, qd, qdd);
        dyn_ne_inverse_f32(&arm_f32, &scratch_f32, q, qd, qdd, tau);
        for (uint32_t i = 0; i < model.n; i++) {
            uint32_t word;
            memcpy(&word, &tau[i], sizeof word);
            hash = hash_word(hash, word);
        }
    }
    return hash;
}

static uint32_t arm_named(const char *name) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++)
        if (!strcmp(dyn_arms_name(k), name))
            return k;
    TEST_FAIL_MESSAGE("no such arm");
    return 0;
}

static void test_f32_torques_are_the_same_bits_everywhere(void) {
    TEST_ASSERT_EQUAL_HEX32(0xC5678538, hash_f32(DYN_ARMS_PUMA));
    TEST_ASSERT_EQUAL_HEX32(0xF39F9565, hash_f32(arm_named("chain14_urdf")));
    TEST_ASSERT_EQUAL_HEX32(0xA477B801, hash_f32(arm_named("chain18_std_dh")));
}

static void state_q31(dyn_arms_random_t *seed, int32_t *q, int32_t *qd, int32_t *qdd) {
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &puma_units, i);
        q[i] = dyn_arms_random(seed);
        /* Makes speeds up to 3 rad/s and accelerations up to 10 rad/s^2 in integers: the limit
         * times a random number below one. */
        qd[i] = (int32_t)(((int64_t)dyn_q31_from(3, e.velocity) * dyn_arms_random(seed)) >> 31);
        qdd[i] =
            (int32_t)(((int64_t)dyn_q31_from(10, e.acceleration) * dyn_arms_random(seed)) >> 31);
    }
}

static void prepare_puma_q31(void) {
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &puma_units, &arm_q31));
}

static void test_q31_torques_are_the_same_bits_everywhere(void) {
    dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};
    int32_t q[6], qd[6], qdd[6], tau[6];
    uint32_t hash = 2166136261u;
    prepare_puma_q31();
    for (int s = 0; s < STATES; s++) {
        state_q31(&seed, q, qd, qdd);
        dyn_ne_inverse_q31(&arm_q31, &scratch_q31, q, qd, qdd, tau);
        for (uint32_t i = 0; i < 6; i++)
            hash = hash_word(hash, (uint32_t)tau[i]);
    }
    TEST_ASSERT_EQUAL_HEX32(0x9BAFA588, hash);
}

/* The yardstick computes the same torques, bit for bit, so comparing costs with it is fair. */
static void test_yardstick_computes_the_same(void) {
    dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};
    static float q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
    static float tau[2][DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_model(k, &model);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        for (int s = 0; s < 10; s++) {
            state_f32(&seed, model.n, q, qd, qdd);
            dyn_ne_inverse_f32(&arm_f32, &scratch_f32, q, qd, qdd, tau[0]);
            dyn_yardstick_inverse(&arm_f32, &scratch_f32, q, qd, qdd, tau[1]);
            for (uint32_t i = 0; i < model.n; i++)
                TEST_ASSERT_TRUE(tau[0][i] == tau[1][i]);
        }
    }
}

#ifdef __arm__
static void test_q31_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    int32_t q[6], qd[6], qdd[6], tau[6];
    cost_t cost = COST_NONE;
    prepare_puma_q31();
    for (int s = 0; s < STATES; s++) {
        state_q31(&seed, q, qd, qdd);
        const uint32_t start = cycles_now();
        dyn_ne_inverse_q31(&arm_q31, &scratch_q31, q, qd, qdd, tau);
        cost_see(&cost, start, cycles_now());
    }
    harness_note_number("instructions of ne q31, puma560", cost.most);
    TEST_ASSERT_EQUAL_UINT32(cost.least, cost.most);
    TEST_ASSERT_GREATER_THAN_UINT32(1000, cost.least);
}

#ifdef __ARM_FP
static void test_f32_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    float q[6], qd[6], qdd[6], tau[6];
    cost_t ours = COST_NONE, yardstick = COST_NONE;
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int s = 0; s < STATES; s++) {
        state_f32(&seed, 6, q, qd, qdd);
        uint32_t start = cycles_now();
        dyn_ne_inverse_f32(&arm_f32, &scratch_f32, q, qd, qdd, tau);
        cost_see(&ours, start, cycles_now());
        start = cycles_now();
        dyn_yardstick_inverse(&arm_f32, &scratch_f32, q, qd, qdd, tau);
        cost_see(&yardstick, start, cycles_now());
    }
    harness_note_number("instructions of ne f32, puma560", ours.most);
    harness_note_number("instructions of the yardstick", yardstick.most);
    TEST_ASSERT_EQUAL_UINT32(ours.least, ours.most);
    TEST_ASSERT_GREATER_THAN_UINT32(1000, ours.least);
    TEST_ASSERT_LESS_OR_EQUAL_UINT32(yardstick.least, ours.most);
    TEST_ASSERT_LESS_OR_EQUAL_UINT32(1900, ours.most);
}
#endif
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_f32_torques_are_the_same_bits_everywhere)
    TEST(test_q31_torques_are_the_same_bits_everywhere)
    TEST(test_yardstick_computes_the_same)
#ifdef __arm__
    TEST(test_q31_takes_the_same_instructions_for_every_state)
#ifdef __ARM_FP
    TEST(test_f32_takes_the_same_instructions_for_every_state)
#endif
#endif
TEST_LIST_END
// clang-format on
