/*
 * Tests the reset reason: the priority of the flags, that the flags are cleared once, and that the
 * answer stays. The driver keeps its answer until the next reset, so each case runs in its own
 * process.
 */
#include "test/support/harness.h"

#include <sys/wait.h>
#include <unistd.h>

#include "hal/reset.h"
#include "hal/stm32/regs.h"
#include "test/support/hal/regmodel.h"

/* Writing RMVF clears the flags, as the hardware does. */
static uint32_t csr_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)address;
    (void)width;
    return value & RCC_CSR_RMVF ? stored & 3 : stored;
}

static int reason_in_child(uint32_t flags, bool absent) {
    pid_t child = fork();
    if (child == 0) {
        regmodel_reset();
        regmodel_device(REGMODEL_ADDRESS(&RCC->CSR), REGMODEL_ADDRESS(&RCC->CSR), NULL, csr_write);
        regmodel_set(&RCC->CSR, flags | 3); /* LSION and LSIRDY are in the same register */
        if (absent) {
            regmodel_absent(REGMODEL_ADDRESS(&RCC->CSR), REGMODEL_ADDRESS(&RCC->CSR));
        }
        int reason = (int)reset_reason();
        bool cleared = absent || regmodel_get(&RCC->CSR) == 3;
        regmodel_set(&RCC->CSR, RCC_CSR_WWDGRSTF); /* must not be read again */
        bool stays = (int)reset_reason() == reason && regmodel_read_count(&RCC->CSR) <= 2;
        _exit(cleared && stays ? reason : 100);
    }
    int status = 0;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_every_flag_has_its_reason(void) {
    /* Every reset also sets the pin flag; power-up sets the brown-out flag, too. */
    const uint32_t pin = RCC_CSR_PINRSTF;
    TEST_ASSERT_EQUAL_INT(RESET_UNKNOWN, reason_in_child(0, false));
    TEST_ASSERT_EQUAL_INT(RESET_PIN, reason_in_child(pin, false));
    TEST_ASSERT_EQUAL_INT(RESET_POWER,
                          reason_in_child(pin | RCC_CSR_PORRSTF | RCC_CSR_BORRSTF, false));
    TEST_ASSERT_EQUAL_INT(RESET_POWER, reason_in_child(pin | RCC_CSR_BORRSTF, false));
    TEST_ASSERT_EQUAL_INT(RESET_SOFTWARE, reason_in_child(pin | RCC_CSR_SFTRSTF, false));
    TEST_ASSERT_EQUAL_INT(RESET_WATCHDOG, reason_in_child(pin | RCC_CSR_IWDGRSTF, false));
    TEST_ASSERT_EQUAL_INT(RESET_WINDOW_WATCHDOG, reason_in_child(pin | RCC_CSR_WWDGRSTF, false));
    TEST_ASSERT_EQUAL_INT(RESET_LOW_POWER, reason_in_child(pin | RCC_CSR_LPWRRSTF, false));
}

static void test_flags_left_from_power_up_do_not_hide_the_watchdog(void) {
    TEST_ASSERT_EQUAL_INT(
        RESET_WATCHDOG,
        reason_in_child(RCC_CSR_PORRSTF | RCC_CSR_PINRSTF | RCC_CSR_IWDGRSTF, false));
}

static void test_the_emulator_has_no_reason(void) {
    TEST_ASSERT_EQUAL_INT(RESET_UNKNOWN, reason_in_child(0, true));
}

TEST_LIST_BEGIN
TEST(test_every_flag_has_its_reason)
TEST(test_flags_left_from_power_up_do_not_hide_the_watchdog)
TEST(test_the_emulator_has_no_reason)
TEST_LIST_END
