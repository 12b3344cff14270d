/* Clocks, power, flash and cycle counter of the chip model (RM0390 chapters 3, 5, 6; PM0214). */
#include "test/support/hal/chip_inside.h"

#include <string.h>

#include "test/support/hal/regmodel.h"

/* --------------------------------------------------------------------------------------- clocks */

enum { CR_CSSON = 1 << 19, CIR_CSSF = 1 << 7, CIR_CSSC = 1 << 23, CSR_RMVF_BIT = 24 };
static rcc_t rcc;
static bool hse_failed;

static uint32_t hz_of(uint32_t cfgr) {
    if ((cfgr & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL)
        return RCC_HSI_HZ;
    const uint32_t source =
        rcc.PLLCFGR & RCC_PLLCFGR_SRC_HSE ? chip_world.hse_hz : (uint32_t)RCC_HSI_HZ;
    const uint32_t m = rcc.PLLCFGR & 63, n = rcc.PLLCFGR >> 6 & 511;
    return source / m * n / (2 * ((rcc.PLLCFGR >> 16 & 3) + 1));
}

static uint32_t divider(uint32_t field) {
    return field < 4 ? 1 : 2u << (field - 4);
}

static uint32_t bus_divider(rcc_bit_t clock) {
    return clock >> 8 == RCC_BUS_APB1   ? divider(rcc.CFGR >> RCC_CFGR_PPRE1_SHIFT & 7)
           : clock >> 8 == RCC_BUS_APB2 ? divider(rcc.CFGR >> RCC_CFGR_PPRE2_SHIFT & 7)
                                        : 1;
}

static uint32_t bus_hz[RCC_BUS_APB2 + 1], timer_hz[RCC_BUS_APB2 + 1];

static void set_clocks(void) {
    for (unsigned bus = RCC_BUS_AHB; bus <= RCC_BUS_APB2; bus++) {
        const uint32_t by = bus_divider(RCC_BIT(bus, 0));
        bus_hz[bus] = hz_of(rcc.CFGR) / by;
        timer_hz[bus] = bus_hz[bus] * (by > 1 ? 2 : 1);
    }
}

uint32_t chip_core_hz(void) {
    return bus_hz[RCC_BUS_AHB];
}

uint32_t chip_bus_hz(rcc_bit_t clock) {
    return bus_hz[clock >> 8];
}

uint32_t chip_timer_hz(rcc_bit_t clock) {
    return timer_hz[clock >> 8];
}

bool chip_gate_open(rcc_bit_t clock) {
    const uint32_t word = clock >> 8 == RCC_BUS_AHB    ? rcc.AHB1ENR
                          : clock >> 8 == RCC_BUS_APB1 ? rcc.APB1ENR
                                                       : rcc.APB2ENR;
    return (word >> (clock & 31) & 1) != 0;
}

static uint64_t cycles_base;
static uint32_t cycles_before;

static uint32_t cycles(void) {
    return cycles_before +
           (uint32_t)((chip_now() - cycles_base) * (chip_core_hz() / 1000000) / 1000);
}

static void set_cycles(uint32_t value) {
    cycles_before = value;
    cycles_base = chip_now();
}

static void set_cfgr(uint32_t value) {
    const uint32_t count = cycles();
    chip_timers_before_clock();
    rcc.CFGR = value;
    set_clocks();
    chip_timers_after_clock();
    set_cycles(count);
}

/* The ready flags follow at once. */
static void write_cr(uint32_t value) {
    const uint32_t on = value & ~(uint32_t)(RCC_CR_HSIRDY | RCC_CR_HSERDY | RCC_CR_PLLRDY);
    rcc.CR = on | (on & RCC_CR_HSION ? RCC_CR_HSIRDY : 0) |
             ((on & RCC_CR_HSEON) && !hse_failed ? RCC_CR_HSERDY : 0) |
             (on & RCC_CR_PLLON ? RCC_CR_PLLRDY : 0);
}

static void rcc_write(uint32_t address, uint32_t value) {
    const uint32_t offset = address - REGMODEL_ADDRESS(RCC);
    if (offset == offsetof(rcc_t, CR)) {
        write_cr(value);
    } else if (offset == offsetof(rcc_t, CFGR)) {
        set_cfgr((value & ~(uint32_t)RCC_CFGR_SWS) | (value & RCC_CFGR_SW) << 2);
        if (chip_core_hz() > 30000000 && (regmodel_get(&FLASH->ACR) & FLASH_ACR_LATENCY) < 5)
            chip_wrong("the flash has too few wait states");
    } else if (offset == offsetof(rcc_t, CIR)) {
        rcc.CIR = value & CIR_CSSC ? rcc.CIR & ~(uint32_t)CIR_CSSF : rcc.CIR;
    } else if (offset == offsetof(rcc_t, CSR)) {
        rcc.CSR = value >> CSR_RMVF_BIT & 1 ? 0 : rcc.CSR;
    } else if (offset < sizeof rcc) {
        memcpy((char *)&rcc + offset, &value, sizeof value);
    }
}

static uint32_t rcc_read(uint32_t address) {
    const uint32_t offset = address - REGMODEL_ADDRESS(RCC);
    uint32_t word = 0;
    if (offset < sizeof rcc)
        memcpy(&word, (const char *)&rcc + offset, sizeof word);
    return word;
}

static void rcc_reset(void) {
    memset(&rcc, 0, sizeof rcc);
    rcc.CR = RCC_CR_HSION | RCC_CR_HSIRDY;
    rcc.CSR = RCC_CSR_PINRSTF |
              (chip_report.reset == CHIP_RESET_WATCHDOG   ? RCC_CSR_IWDGRSTF
               : chip_report.reset == CHIP_RESET_SOFTWARE ? RCC_CSR_SFTRSTF
                                                          : RCC_CSR_PORRSTF | RCC_CSR_BORRSTF);
    hse_failed = false;
    set_clocks();
    set_cycles(0);
}

/* With the clock security system the chip goes on with the internal oscillator, and the motor timers
 * get a break. Without it everything that hangs on this clock stops. */
void chip_hse_fail(void) {
    hse_failed = true;
    if ((rcc.CR & CR_CSSON) == 0) {
        chip_stop_tick(0, CHIP_STOP_LOCKED);
        return;
    }
    set_cfgr(rcc.CFGR & ~(uint32_t)(RCC_CFGR_SW | RCC_CFGR_SWS));
    write_cr(rcc.CR & ~(uint32_t)(RCC_CR_HSEON | RCC_CR_PLLON | CR_CSSON));
    rcc.CIR |= CIR_CSSF;
    chip_break_all();
    chip_nmi();
    chip_reschedule();
}

/* TIM11 captures at each eighth edge of HSE / 31, if it is set up for that. */
enum { TIM11_AT = 0x40014800, TIM11_OR = 0x50, OR_HSE = 2, CAPTURE_CYCLES = 31 * 8 };
static struct {
    tim_t r;
    uint32_t choice;
    uint64_t taken; /* number of the capture that was read last */
} tim11;

static uint64_t captures(void) {
    const bool runs = (tim11.r.CR1 & TIM_CR1_CEN) && (tim11.r.CCER & 1) && tim11.choice == OR_HSE &&
                      (tim11.r.CCMR[0] & 0xF) == 0xD && (rcc.CFGR >> 16 & 31) == 31 &&
                      (rcc.CR & RCC_CR_HSERDY);
    return runs ? chip_now() * (chip_world.hse_hz / 1000) / 1000000 / CAPTURE_CYCLES : tim11.taken;
}

static uint32_t tim11_read(uint32_t address) {
    const uint32_t offset = address - TIM11_AT;
    uint32_t word = 0;
    if (offset == offsetof(tim_t, SR))
        return captures() != tim11.taken ? 1 << 1 : 0;
    if (offset == offsetof(tim_t, CCR)) {
        tim11.taken = captures();
        const uint64_t at = tim11.taken * CAPTURE_CYCLES * 1000000 / (chip_world.hse_hz / 1000);
        return (uint32_t)(at * (chip_timer_hz(RCC_BIT(RCC_BUS_APB2, 18)) / 1000000) / 1000) &
               0xFFFF;
    }
    if (offset < sizeof tim11.r)
        memcpy(&word, (const char *)&tim11.r + offset, sizeof word);
    return word;
}

static void tim11_write(uint32_t address, uint32_t value) {
    const uint32_t offset = address - TIM11_AT;
    if (offset == TIM11_OR)
        tim11.choice = value;
    else if (offset < sizeof tim11.r)
        memcpy((char *)&tim11.r + offset, &value, sizeof value);
    if (offset == offsetof(tim_t, CR1))
        tim11.taken = captures();
}

static void tim11_reset(void) {
    memset(&tim11, 0, sizeof tim11);
}

static uint32_t dwt_read(uint32_t address) {
    return address == 0xE0001004 ? cycles() : regmodel_get((void *)(uintptr_t)address);
}

static void dwt_write(uint32_t address, uint32_t value) {
    if (address == 0xE0001004)
        set_cycles(value);
}

/* -------------------------------------------------------------------------------- power and EXTI */

enum { PVD_IRQ = 1, PVD_LINE = 1 << 16, CR_PVDE = 1 << 4, CSR_PVDO = 1 << 2 };
enum { EXTI_IMR = 0x00, EXTI_RTSR = 0x08, EXTI_FTSR = 0x0C, EXTI_PR = 0x14 };
static uint32_t exti[6], pwr_cr;
static bool power_low;

void chip_power_low(bool low) {
    const uint32_t edge = low ? exti[EXTI_RTSR / 4] : exti[EXTI_FTSR / 4];
    if (low != power_low && (pwr_cr & CR_PVDE) && (edge & PVD_LINE))
        exti[EXTI_PR / 4] |= PVD_LINE;
    power_low = low;
    chip_reschedule();
}

static uint32_t pwr_read(uint32_t address) {
    const bool status = address == REGMODEL_ADDRESS(&PWR->CSR);
    return status ? (power_low && (pwr_cr & CR_PVDE) ? CSR_PVDO : 0) : pwr_cr;
}

static void pwr_write(uint32_t address, uint32_t value) {
    if (address == REGMODEL_ADDRESS(&PWR->CR))
        pwr_cr = value;
}

static uint32_t exti_read(uint32_t address) {
    return exti[address % 0x400 / 4 % 6];
}

static void exti_write(uint32_t address, uint32_t value) {
    uint32_t *reg = &exti[address % 0x400 / 4 % 6];
    *reg = address % 0x400 == EXTI_PR ? *reg & ~value : value;
}

static void power_reset(void) {
    memset(exti, 0, sizeof exti);
    pwr_cr = 0;
}

bool chip_core_requests(int irq) {
    enum { ADC_IRQ = 18 };
    return irq == PVD_IRQ   ? (exti[EXTI_PR / 4] & exti[EXTI_IMR / 4] & PVD_LINE) != 0
           : irq == ADC_IRQ ? chip_adc_requests()
                            : false;
}

/* ---------------------------------------------------------------------------------------- flash */

enum { SLOT_FIRST = 0x08040000, SLOT_LAST = 0x0807FFFF, SECTOR = 0x20000, SECTOR_FIRST = 6 };
enum { PROGRAM_NS = 16000, ERASE_POLL_NS = 20000, SR_PGSERR = 1 << 7 };
static uint32_t memory[(SLOT_LAST - SLOT_FIRST + 1) / 4];
static struct {
    uint32_t cr, sr;
    unsigned key; /* 0, 1: waits for first, second key; 3: locked until reset */
    uint64_t busy_until;
    bool erases;
} flash;

bool chip_flash_busy(void) {
    return flash.erases && chip_now() < flash.busy_until;
}

static uint32_t flash_register_read(uint32_t address) {
    if (address == REGMODEL_ADDRESS(&FLASH->CR))
        return flash.cr;
    if (address != REGMODEL_ADDRESS(&FLASH->SR))
        return regmodel_get((void *)(uintptr_t)address);
    if (chip_flash_busy())
        chip_spend(
            ERASE_POLL_NS); /* a poll stands for many, so that an erase costs little to run */
    return flash.sr | (chip_now() < flash.busy_until ? FLASH_SR_BSY : 0);
}

static void begin(uint64_t ns, bool erases) {
    flash.busy_until = chip_now() + ns;
    flash.erases = erases;
}

static void erase(unsigned sector) {
    if (sector < SECTOR_FIRST || sector > SECTOR_FIRST + 1) {
        chip_wrong("a sector outside of the store is erased");
        return;
    }
    memset(&memory[(sector - SECTOR_FIRST) * (SECTOR / 4)], 0xFF, SECTOR);
    chip_report.erases++;
    begin(chip_world.erase_ns, true);
}

static void flash_register_write(uint32_t address, uint32_t value) {
    const bool locked = (flash.cr & FLASH_CR_LOCK) != 0;
    if (address == REGMODEL_ADDRESS(&FLASH->KEYR)) {
        const bool right = locked && ((flash.key == 0 && value == FLASH_KEY1) ||
                                      (flash.key == 1 && value == FLASH_KEY2));
        flash.key = right ? flash.key + 1 : 3;
        if (flash.key == 2)
            flash.cr &= ~FLASH_CR_LOCK;
    } else if (address == REGMODEL_ADDRESS(&FLASH->SR)) {
        flash.sr &= ~value;
    } else if (address == REGMODEL_ADDRESS(&FLASH->CR)) {
        if (locked)
            return;
        flash.cr = value & ~(uint32_t)FLASH_CR_STRT;
        if (value & FLASH_CR_LOCK)
            flash.key = 0;
        else if ((value & FLASH_CR_STRT) && (value & FLASH_CR_SER))
            erase(value >> FLASH_CR_SNB_SHIFT & 15);
    }
}

/* A load from the flash waits until the erase has ended. */
static uint32_t memory_read(uint32_t address) {
    if (chip_now() < flash.busy_until)
        chip_spend(flash.busy_until - chip_now());
    return memory[(address - SLOT_FIRST) / 4];
}

static void memory_write(uint32_t address, uint32_t value) {
    const bool ready =
        (flash.cr & (FLASH_CR_LOCK | FLASH_CR_PG)) == FLASH_CR_PG && chip_now() >= flash.busy_until;
    if (!ready) {
        chip_wrong("the flash is written while it is locked or busy");
        flash.sr |= SR_PGSERR;
        return;
    }
    memory[(address - SLOT_FIRST) / 4] &= value;
    begin(PROGRAM_NS, false);
}

static void flash_register_reset(void) {
    static bool erased; /* once: its content outlives resets and power-ups */
    if (!erased)
        memset(memory, 0xFF, sizeof memory);
    erased = true;
    memset(&flash, 0, sizeof flash);
    flash.cr = FLASH_CR_LOCK;
}

const chip_device_t chip_core[] = {
    {0x40023800, 0x40023BFF, 0, rcc_reset, rcc_read, rcc_write, NULL, NULL},
    {0x40007000, 0x400073FF, RCC_BIT(RCC_BUS_APB1, 28), power_reset, pwr_read, pwr_write, NULL,
     NULL},
    {0x40013C00, 0x40013FFF, 0, NULL, exti_read, exti_write, NULL, NULL},
    {TIM11_AT, TIM11_AT + 0x3FF, RCC_BIT(RCC_BUS_APB2, 18), tim11_reset, tim11_read, tim11_write,
     NULL, NULL},
    {0xE0001000, 0xE0001FFF, 0, NULL, dwt_read, dwt_write, NULL, NULL},
    {0x40023C00, 0x40023FFF, 0, flash_register_reset, flash_register_read, flash_register_write,
     NULL, NULL},
    {SLOT_FIRST, SLOT_LAST, 0, NULL, memory_read, memory_write, NULL, NULL},
};
const unsigned chip_core_count = sizeof chip_core / sizeof chip_core[0];
