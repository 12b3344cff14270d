/*
 * A register model for host tests of drivers; it implements hal/reg.h with HAL_REG_MODEL. Registers
 * keep the addresses of the chip and are never dereferenced. By default a register is a plain word,
 * 0 at first, that reads as written; a test can add devices with behaviour. Writes to chosen ranges
 * are logged, so that a test can check the sequence that the manual demands.
 */
#ifndef TEST_SUPPORT_HAL_REGMODEL_H
#define TEST_SUPPORT_HAL_REGMODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGMODEL_ADDRESS(reg) ((uint32_t)(uintptr_t)(reg))

/* Clears everything: contents, devices, log, counts. */
void regmodel_reset(void);

/* Accesses that do not come from the driver: they reach no device and are not logged. */
uint32_t regmodel_get(const volatile void *reg);
void regmodel_set(const volatile void *reg, uint32_t value);

/*
 * A device handles the addresses first to last. read gets the stored word and returns the value for
 * the driver; write gets the access and returns the word to store. Either may be NULL. If two
 * devices overlap, the one added last handles the access.
 */
typedef uint32_t (*regmodel_read_t)(uint32_t address, uint32_t stored);
typedef uint32_t (*regmodel_write_t)(uint32_t address, unsigned width, uint32_t value,
                                     uint32_t stored);
void regmodel_device(uint32_t first, uint32_t last, regmodel_read_t read, regmodel_write_t write);

/* Calls a function before every access of a driver; NULL: none. test/support/hal/chip.c lets time
 * pass there, and interrupts come. */
void regmodel_hook(void (*hook)(void));

/* These addresses read 0 and ignore writes, like peripherals that the emulator does not model. */
void regmodel_absent(uint32_t first, uint32_t last);

unsigned regmodel_read_count(const volatile void *reg);
unsigned regmodel_write_count(const volatile void *reg);

/* Adds this range to the ranges whose writes are logged (none by default). */
void regmodel_log(uint32_t first, uint32_t last);
void regmodel_log_clear(void);

typedef struct {
    uint32_t address;
    unsigned width; /* 32 or 16 bits */
    uint32_t value;
} regmodel_write_log_t;

unsigned regmodel_log_count(void);
regmodel_write_log_t regmodel_log_at(unsigned index);

/* The test fails at the first difference between the log and this table. */
typedef struct {
    const volatile void *reg;
    uint32_t value;
} regmodel_expect_t;
void regmodel_expect(const regmodel_expect_t *expected, unsigned count, int line);
#define EXPECT_WRITES(...)                                                                         \
    do {                                                                                           \
        const regmodel_expect_t expected_[] = {__VA_ARGS__};                                       \
        regmodel_expect(expected_, sizeof expected_ / sizeof expected_[0], __LINE__);              \
    } while (0)
#define EXPECT_NO_WRITES() regmodel_expect(NULL, 0, __LINE__)

/* RCC_CR and RCC_CFGR: each ready flag is set this many polls after its switch, or never. */
enum { REGMODEL_NEVER = 1000000000 };
typedef struct {
    unsigned hsi_polls, hse_polls, pll_polls, switch_polls;
} regmodel_rcc_t;
extern regmodel_rcc_t regmodel_rcc; /* all 0 after regmodel_reset */
void regmodel_rcc_start(void);      /* state after a reset: the internal oscillator runs */

#endif
