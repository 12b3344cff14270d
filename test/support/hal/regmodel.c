/* Implements the register model: a table of words by address, devices on top of it, and a log of
 * writes. */
#include "test/support/hal/regmodel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/reg.h"
#include "hal/stm32/regs.h"
#include "test/support/harness.h"

enum { WORDS_MAX = 1 << 18, DEVICES_MAX = 32, RANGES_MAX = 16, LOG_MAX = 100000 };

typedef struct {
    uint32_t address; /* address of the aligned word; 0: unused entry */
    uint32_t value;
    unsigned reads, writes;
} word_t;

typedef struct {
    uint32_t first, last;
    regmodel_read_t read;
    regmodel_write_t write;
} device_t;

static word_t words[WORDS_MAX];
static device_t devices[DEVICES_MAX];
static unsigned device_count;
static struct { uint32_t first, last; } ranges[RANGES_MAX];
static unsigned range_count;
static regmodel_write_log_t log_entries[LOG_MAX];
static unsigned log_used;
static void (*access_hook)(void);

static void broken(const char *why, uint32_t address) {
    fprintf(stderr, "register model: %s, address 0x%08x\n", why, (unsigned)address);
    abort();
}

static word_t *word_of(uint32_t address) {
    address &= ~3u;
    if (address < 0x1000) {
        broken("an address that no peripheral has", address);
    }
    uint32_t slot = (address >> 2) * 2654435761u >> 14;
    while (words[slot].address != address) {
        if (words[slot].address == 0) {
            words[slot].address = address;
            break;
        }
        slot = (slot + 1) % WORDS_MAX;
    }
    return &words[slot];
}

void regmodel_reset(void) {
    memset(words, 0, sizeof words);
    device_count = range_count = log_used = 0;
    access_hook = NULL;
    regmodel_rcc = (regmodel_rcc_t){0};
}

uint32_t regmodel_get(const volatile void *reg) {
    return word_of(REGMODEL_ADDRESS(reg))->value;
}

void regmodel_set(const volatile void *reg, uint32_t value) {
    word_of(REGMODEL_ADDRESS(reg))->value = value;
}

void regmodel_device(uint32_t first, uint32_t last, regmodel_read_t read, regmodel_write_t write) {
    if (device_count == DEVICES_MAX) {
        broken("too many devices", first);
    }
    devices[device_count++] = (device_t){first, last, read, write};
}

void regmodel_hook(void (*hook)(void)) {
    access_hook = hook;
}

static uint32_t zero_read(uint32_t address, uint32_t stored) {
    (void)address;
    (void)stored;
    return 0;
}

void regmodel_absent(uint32_t first, uint32_t last) {
    regmodel_device(first, last, zero_read, NULL);
}

static const device_t *device_of(uint32_t address) {
    for (unsigned i = device_count; i-- > 0;) {
        if (address >= devices[i].first && address <= devices[i].last) {
            return &devices[i];
        }
    }
    return NULL;
}

unsigned regmodel_read_count(const volatile void *reg) {
    return word_of(REGMODEL_ADDRESS(reg))->reads;
}

unsigned regmodel_write_count(const volatile void *reg) {
    return word_of(REGMODEL_ADDRESS(reg))->writes;
}

void regmodel_log(uint32_t first, uint32_t last) {
    if (range_count == RANGES_MAX) {
        broken("too many logged ranges", first);
    }
    ranges[range_count].first = first;
    ranges[range_count++].last = last;
}

void regmodel_log_clear(void) {
    log_used = 0;
}

unsigned regmodel_log_count(void) {
    return log_used;
}

regmodel_write_log_t regmodel_log_at(unsigned index) {
    if (index >= log_used) {
        broken("no such log entry", index);
    }
    return log_entries[index];
}

void regmodel_expect(const regmodel_expect_t *expected, unsigned count, int line) {
    char text[160];
    for (unsigned i = 0; i < count || i < log_used; i++) {
        const char *what = NULL;
        if (i >= log_used) {
            what = "is missing";
        } else if (i >= count) {
            what = "is not expected";
        } else if (log_entries[i].address != REGMODEL_ADDRESS(expected[i].reg) ||
                   log_entries[i].value != expected[i].value) {
            what = "differs";
        }
        if (what != NULL) {
            uint32_t want_reg = i < count ? REGMODEL_ADDRESS(expected[i].reg) : 0;
            uint32_t want = i < count ? expected[i].value : 0;
            uint32_t got_reg = i < log_used ? log_entries[i].address : 0;
            uint32_t got = i < log_used ? log_entries[i].value : 0;
            snprintf(text, sizeof text,
                     "write %u %s: expected 0x%08x = 0x%08x, was 0x%08x = 0x%08x", i, what,
                     (unsigned)want_reg, (unsigned)want, (unsigned)got_reg, (unsigned)got);
            UNITY_TEST_FAIL((UNITY_LINE_TYPE)line, text);
        }
    }
}

static uint32_t access_read(uint32_t address) {
    if (access_hook != NULL) {
        access_hook();
    }
    word_t *word = word_of(address);
    const device_t *device = device_of(address);
    word->reads++;
    if (device != NULL && device->read != NULL) {
        /* The device may change its other registers; `word` stays valid, because the table does not
         * move. */
        return device->read(address & ~3u, word->value);
    }
    return word->value;
}

static void access_write(uint32_t address, unsigned width, uint32_t value) {
    if (address % (width / 8) != 0) {
        broken("unaligned access", address);
    }
    if (access_hook != NULL) {
        access_hook();
    }
    word_t *word = word_of(address);
    const device_t *device = device_of(address);
    word->writes++;
    for (unsigned i = 0; i < range_count; i++) {
        if (address >= ranges[i].first && address <= ranges[i].last) {
            if (log_used == LOG_MAX) {
                broken("the log is full", address);
            }
            log_entries[log_used++] = (regmodel_write_log_t){address, width, value};
            break;
        }
    }
    if (device != NULL && device->write != NULL) {
        word->value = device->write(address, width, value, word->value);
    } else if (device == NULL || device->read != zero_read) {
        unsigned shift = width == 16 ? 8 * (address & 2) : 0;
        uint32_t mask = width == 16 ? 0xFFFFu << shift : 0xFFFFFFFFu;
        word->value = (word->value & ~mask) | (value << shift & mask);
    }
}

uint32_t reg_read(const volatile uint32_t *reg) {
    return access_read(REGMODEL_ADDRESS(reg));
}

void reg_write(volatile uint32_t *reg, uint32_t value) {
    access_write(REGMODEL_ADDRESS(reg), 32, value);
}

uint16_t reg_read16(const volatile uint16_t *reg) {
    uint32_t address = REGMODEL_ADDRESS(reg);
    return (uint16_t)(access_read(address) >> 8 * (address & 2));
}

void reg_write16(volatile uint16_t *reg, uint16_t value) {
    access_write(REGMODEL_ADDRESS(reg), 16, value);
}

/* ------------------------------------------------------------------------------------------ RCC */
regmodel_rcc_t regmodel_rcc;
static struct { unsigned hsi, hse, pll, clock_switch; /* number of polls so far */ } waited;

static uint32_t ready(uint32_t value, uint32_t on, uint32_t flag, unsigned *polls, unsigned delay) {
    if ((value & on) == 0) {
        *polls = 0;
        return value & ~flag;
    }
    if (delay != REGMODEL_NEVER && *polls >= delay) {
        return value | flag;
    }
    ++*polls;
    return value & ~flag;
}

static uint32_t rcc_cr_read(uint32_t address, uint32_t value) {
    (void)address;
    value = ready(value, RCC_CR_HSION, RCC_CR_HSIRDY, &waited.hsi, regmodel_rcc.hsi_polls);
    value = ready(value, RCC_CR_HSEON, RCC_CR_HSERDY, &waited.hse, regmodel_rcc.hse_polls);
    return ready(value, RCC_CR_PLLON, RCC_CR_PLLRDY, &waited.pll, regmodel_rcc.pll_polls);
}

static uint32_t rcc_cfgr_read(uint32_t address, uint32_t value) {
    (void)address;
    uint32_t wanted = value & RCC_CFGR_SW, running = value >> 2 & RCC_CFGR_SW;
    if (wanted == running) {
        waited.clock_switch = 0;
    } else if (regmodel_rcc.switch_polls != REGMODEL_NEVER &&
               waited.clock_switch++ >= regmodel_rcc.switch_polls) {
        running = wanted;
    }
    return (value & ~(uint32_t)RCC_CFGR_SWS) | running << 2;
}

static uint32_t rcc_cfgr_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)address;
    (void)width;
    /* The program cannot write the field of the running source; the field follows the choice in
     * rcc_cfgr_read. */
    uint32_t running = rcc_cfgr_read(address, stored) & RCC_CFGR_SWS;
    return (value & ~(uint32_t)RCC_CFGR_SWS) | running;
}

void regmodel_rcc_start(void) {
    memset(&waited, 0, sizeof waited);
    regmodel_set(&RCC->CR, RCC_CR_HSION);
    regmodel_device(REGMODEL_ADDRESS(&RCC->CR), REGMODEL_ADDRESS(&RCC->CR), rcc_cr_read, NULL);
    regmodel_device(REGMODEL_ADDRESS(&RCC->CFGR), REGMODEL_ADDRESS(&RCC->CFGR), rcc_cfgr_read,
                    rcc_cfgr_write);
}
