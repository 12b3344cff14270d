/*
 * Tests the store over a real flash driver with a model of the controller; the tests of the drivers
 * include this file. It writes sets alternately into both slots, in pieces that are not multiples
 * of a write unit. If the controller fails in the middle, the previous set remains.
 */
#ifndef TEST_SUPPORT_HAL_FLASH_STORE_CHECK_H
#define TEST_SUPPORT_HAL_FLASH_STORE_CHECK_H

#include <string.h>

#include "firmware/params/store.h"
#include "firmware/medium.h"
#include "test/support/harness.h"
#include "test/support/hal/regmodel.h"

enum { STORE_CHECK_BYTES = 1500, STORE_CHECK_PIECE = 61 };

static int store_check_write(store_t *store, uint8_t seed, void (*before)(uint32_t at)) {
    int status = store_begin(store, STORE_CHECK_BYTES);
    for (uint32_t at = 0; at < STORE_CHECK_BYTES && status == STORE_OK;) {
        uint8_t piece[STORE_CHECK_PIECE];
        const uint32_t left = STORE_CHECK_BYTES - at;
        const uint32_t n = left < STORE_CHECK_PIECE ? left : STORE_CHECK_PIECE;
        for (uint32_t i = 0; i < n; i++) {
            piece[i] = (uint8_t)((at + i) * 7 + seed);
        }
        if (before != NULL) {
            before(at);
        }
        regmodel_log_clear();
        status = store_put(store, piece, n);
        at += n;
    }
    regmodel_log_clear();
    return status == STORE_OK ? store_commit(store) : status;
}

static void store_check_content(uint8_t seed) {
    store_t store;
    TEST_ASSERT_EQUAL(STORE_OK, store_open(&store, flash_medium()));
    TEST_ASSERT_EQUAL_UINT32(STORE_CHECK_BYTES, store.length);
    for (uint32_t at = 0; at < STORE_CHECK_BYTES; at++) {
        uint8_t byte;
        store_read(&store, at, &byte, 1);
        TEST_ASSERT_EQUAL_HEX8((uint8_t)(at * 7 + seed), byte);
    }
}

static void store_check(void (*fail_soon)(uint32_t at)) {
    store_t store;
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, flash_medium()));
    for (uint8_t seed = 1; seed <= 5; seed++) {
        const int before = store.current;
        TEST_ASSERT_EQUAL(STORE_OK, store_check_write(&store, seed, NULL));
        TEST_ASSERT_NOT_EQUAL(before, store.current);
        store_check_content(seed);
    }
    TEST_ASSERT_EQUAL(STORE_E_MEDIUM, store_check_write(&store, 99, fail_soon));
    store_check_content(5);
    TEST_ASSERT_EQUAL(STORE_OK, store_open(&store, flash_medium()));
    TEST_ASSERT_EQUAL(STORE_OK, store_check_write(&store, 6, NULL));
    store_check_content(6);
}

#endif
