/*
 * Tests faults on the target: each test causes one, which resets the core, and then checks the
 * crash record.
 */
#include "test/support/harness.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/irq.h"
#include "hal/uart.h"
#include "hal/cortexm/link.h"

#include <string.h>

static const fault_record_t *expect(fault_cause_t cause) {
    const fault_record_t *record = fault_record();
    TEST_ASSERT_NOT_NULL_MESSAGE(record, "no crash record after the reset");
    TEST_ASSERT_EQUAL_STRING(fault_cause_name(cause),
                             fault_cause_name((fault_cause_t)record->cause));
    TEST_ASSERT_EQUAL_MEMORY(fault_build_id(), record->build_id, sizeof record->build_id);
    return record;
}

/* Checks that the program counter in the record lies in the function that caused the fault. */
static void assert_pc_in(const fault_record_t *record, void (*function)(void), unsigned bytes) {
    uint32_t start = (uint32_t)(uintptr_t)function & ~1U;
    TEST_ASSERT_TRUE(record->frame_valid);
    TEST_ASSERT_TRUE_MESSAGE(record->pc >= start && record->pc < start + bytes,
                             "the recorded pc is not in the function that faulted");
}

enum { SMALL_FUNCTION_BYTES = 64 };

__attribute__((noinline)) static void divide_by_zero(void) {
    uint32_t quotient;
    __asm volatile("mov r4, #0x44\n"
                   "mov r0, #0\n"
                   "udiv %0, r0, r0\n"
                   : "=r"(quotient)
                   :
                   : "r0", "r4");
}

static void test_divide_by_zero(void) {
    if (!harness_after_reset()) {
        harness_expect_reset();
        divide_by_zero();
        TEST_FAIL_MESSAGE("a division by zero went unnoticed");
    }
    const fault_record_t *record = expect(FAULT_DIVIDE_BY_ZERO);
    assert_pc_in(record, divide_by_zero, SMALL_FUNCTION_BYTES);
    TEST_ASSERT_EQUAL_HEX32(0x44, record->r[4]);
    TEST_ASSERT_EQUAL_HEX32(0, record->r[0]);
    TEST_ASSERT_TRUE(record->stack_words > 0);
    fault_record_clear();
    TEST_ASSERT_NULL(fault_record());
}

__attribute__((noinline)) static void undefined_instruction(void) {
    __asm volatile("udf #0");
}

static void test_undefined_instruction(void) {
    if (!harness_after_reset()) {
        harness_expect_reset();
        undefined_instruction();
        TEST_FAIL_MESSAGE("an undefined instruction went unnoticed");
    }
    assert_pc_in(expect(FAULT_UNDEFINED_INSTRUCTION), undefined_instruction, SMALL_FUNCTION_BYTES);
    fault_record_clear();
}

/* No chip has memory at this address. The machine netduino2 never faults on an address. */
static volatile uint32_t *const nowhere = (volatile uint32_t *)0x90000000U;

__attribute__((noinline)) static void read_nowhere(void) {
    uint32_t value = *nowhere;
    __asm volatile("" : : "r"(value));
}

static void test_bad_address(void) {
    if (!harness_after_reset()) {
        harness_expect_reset();
        read_nowhere();
        if (strcmp(BOARD_NAME, "netduino2") == 0) {
            TEST_IGNORE_MESSAGE("this machine of the emulator answers on every address");
        }
        TEST_FAIL_MESSAGE("a read from an address without memory went unnoticed");
    }
    const fault_record_t *record = expect(FAULT_BAD_ADDRESS);
    assert_pc_in(record, read_nowhere, SMALL_FUNCTION_BYTES);
    TEST_ASSERT_EQUAL_HEX32((uint32_t)(uintptr_t)nowhere, record->bfar);
    fault_record_clear();
}

/* Takes 64 bytes of stack per level. The result is used after the call, so that the compiler cannot
 * turn the recursion into a loop. */
__attribute__((noinline)) static uint32_t dig(uint32_t depth) {
    volatile uint32_t hole[16];
    hole[depth & 15U] = depth;
    return depth == 0 ? 0 : dig(depth - 1) + hole[depth & 15U];
}

static void test_stack_overflow(void) {
    if (!harness_after_reset()) {
        harness_expect_reset();
        (void)dig(100000);
        TEST_FAIL_MESSAGE("the stack has no bottom");
    }
    (void)expect(FAULT_STACK_OVERFLOW);
    fault_record_clear();
}

/*
 * The overflow must not write beyond the stack, where the crash record and this word are.
 */
__attribute__((section(".noinit"))) static uint32_t beyond;

static void test_stack_overflow_spares_the_rest_of_ram(void) {
    if (!harness_after_reset()) {
        beyond = 0x600DF00D;
        harness_expect_reset();
        (void)dig(100000);
    }
    (void)expect(FAULT_STACK_OVERFLOW);
    TEST_ASSERT_EQUAL_HEX32(0x600DF00D, beyond);
    fault_record_clear();
}

__attribute__((noinline)) static void assert_false(void) {
    fault_assert();
}

static void test_assertion(void) {
    if (!harness_after_reset()) {
        harness_expect_reset();
        assert_false();
    }
    const fault_record_t *record = expect(FAULT_ASSERT);
    uint32_t start = (uint32_t)(uintptr_t)assert_false & ~1U;
    TEST_ASSERT_TRUE(record->pc > start && record->pc < start + SMALL_FUNCTION_BYTES);
    fault_record_clear();
}

/* Interrupt line 20 has no handler on any board. */
enum { UNUSED_IRQ = 20 };

static void test_interrupt_without_handler(void) {
    if (!harness_after_reset()) {
        harness_expect_reset();
        irq_enable(UNUSED_IRQ, IRQ_PRIORITY_UART);
        irq_pend(UNUSED_IRQ);
        __asm volatile("dsb\nisb");
        TEST_FAIL_MESSAGE("an interrupt without a handler went unnoticed");
    }
    TEST_ASSERT_EQUAL_UINT32(16 + UNUSED_IRQ, expect(FAULT_UNEXPECTED_INTERRUPT)->exception);
    fault_record_clear();
}

static void test_count_goes_on_over_clears(void) {
    uint32_t before = 0;
    if (!harness_after_reset()) {
        harness_expect_reset();
        fault_assert();
    }
    before = expect(FAULT_ASSERT)->count;
    /* Depending on the machine, this is the sixth to the eighth fault of this file. */
    TEST_ASSERT_TRUE(before >= 6 && before <= 8);
    fault_record_clear();
}

TEST_LIST_BEGIN
TEST(test_divide_by_zero)
TEST(test_undefined_instruction)
TEST(test_bad_address)
TEST(test_stack_overflow)
TEST(test_stack_overflow_spares_the_rest_of_ram)
TEST(test_assertion)
TEST(test_interrupt_without_handler)
TEST(test_count_goes_on_over_clears)
TEST_LIST_END
