/*
 * Runs the drivers on the emulated boards, where most of the hardware is missing. No driver faults
 * or hangs, and each returns what its header promises for missing hardware. The UART sends although
 * the emulator has no transmit interrupt.
 */
#include "test/support/harness.h"

#include "hal/clock.h"
#include "hal/encoder.h"
#include "hal/flash.h"
#include "hal/latch.h"
#include "hal/motor.h"
#include "hal/reset.h"
#include "hal/supply.h"
#include "hal/uart.h"
#include "hal/watchdog.h"

static void test_clock(void) {
    TEST_ASSERT_TRUE(clock_info()->emulated);
    TEST_ASSERT_GREATER_THAN_UINT32(0, clock_info()->core_hz);
}

static void test_motors_are_absent_and_stay_off(void) {
    motor_safe();
    motor_off();
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_init(20000));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_enable());
    motor_set(0, MOTOR_DUTY_ONE);
    TEST_ASSERT_FALSE(motor_enabled());
    TEST_ASSERT_EQUAL_UINT(0, motor_info().count);
    motor_brake_open(true);
    motor_off();
}

/* The registers read 0, which must not look like an e-stop or a driver's fault. */
static void test_nothing_is_latched(void) {
    TEST_ASSERT_EQUAL_HEX32(0, latch_active());
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
    TEST_ASSERT_FALSE(latch_estop_seen());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
}

static void test_encoders_are_absent(void) {
    encoder_init();
    for (unsigned k = 0; k < 3; k++) {
        encoder_start();
        for (unsigned i = 0; i <= encoder_count(); i++) {
            uint16_t counts = 42;
            encoder_status_t status = encoder_read(i, &counts);
            TEST_ASSERT_TRUE(status == ENCODER_ERR_ABSENT || status == ENCODER_ERR_TIMEOUT);
            TEST_ASSERT_EQUAL_UINT16(42, counts);
        }
    }
}

static void test_supply_has_no_value(void) {
    supply_init();
    for (unsigned i = 0; i < 1100; i++) {
        int32_t mV = 42;
        TEST_ASSERT_NOT_EQUAL(SUPPLY_OK, supply_read(&mV));
        TEST_ASSERT_EQUAL_INT32(42, mV);
    }
}

static void test_watchdog_does_not_start(void) {
    TEST_ASSERT_NOT_EQUAL(WATCHDOG_OK, watchdog_start());
    TEST_ASSERT_FALSE(watchdog_running());
    TEST_ASSERT_FALSE(watchdog_tick(true));
    watchdog_feed();
}

static void test_flash_does_not_pretend(void) {
    const flash_geometry_t *g = flash_geometry();
    TEST_ASSERT_FALSE(g->persistent);
    int status = flash_erase(g->slot[1].address, g->erase_unit);
    if (status == FLASH_OK) { /* the emulator has RAM in place of flash */
        uint32_t word = 0;
        flash_read(g->slot[1].address, &word, sizeof word);
        TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, word);
    } else {
        TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, status);
        TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_program(g->slot[1].address, "abcd", 4));
    }
}

static void test_no_reset_flags(void) {
    TEST_ASSERT_EQUAL_INT(RESET_UNKNOWN, reset_reason());
}

static void test_uart_sends_everything(void) {
    uart_stats_t stats;
    uart_init(115200);
    uart_put_polled('.');
    uart_stats(&stats);
    uint32_t before = stats.sent;
    for (unsigned i = 0; i < 100; i++) {
        TEST_ASSERT_TRUE(uart_write("0123456789", 10));
        for (unsigned k = 0; k < 10000; k++) { /* the interrupt sends the bytes at once */
            uart_stats(&stats);
            if (stats.sent == before + 10 * (i + 1)) {
                break;
            }
        }
    }
    TEST_ASSERT_EQUAL_UINT32(before + 1000, stats.sent);
    TEST_ASSERT_EQUAL_UINT32(0, stats.tx_dropped);
}

TEST_LIST_BEGIN
TEST(test_clock)
TEST(test_motors_are_absent_and_stay_off)
TEST(test_nothing_is_latched)
TEST(test_encoders_are_absent)
TEST(test_supply_has_no_value)
TEST(test_watchdog_does_not_start)
TEST(test_flash_does_not_pretend)
TEST(test_no_reset_flags)
TEST(test_uart_sends_everything)
TEST_LIST_END
