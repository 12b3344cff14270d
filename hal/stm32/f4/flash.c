// The flash controller of the F2 and F4 (RM0090 "Embedded Flash memory interface"): sectors of 128
// KB that take up to two seconds, words of 32 bit, which need 2.7 V or more.
#include "hal/irq.h"
#include "hal/ramfunc.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/flash_chip.h"

enum { WORD_MS = 1 }; // data sheet: 0.1 ms at most

// Any fetch or load from flash stalls the core until the flash is idle again, so this runs in RAM.
// It feeds the watchdog on every turn and gives up after max_polls. Returns the last status.
// (A flash that is busy even then holds the core in the return to flash; the watchdog, no longer
// fed, ends that.)
HAL_RAMFUNC static uint32_t wait_while_busy(uint32_t max_polls) {
    uint32_t status;
    do {
        reg_write(&IWDG->KR, IWDG_KEY_FEED);
        status = reg_read(&FLASH->SR);
    } while ((status & FLASH_SR_BSY) && max_polls-- > 1);
    return status;
}

HAL_RAMFUNC static uint32_t start_and_wait(uint32_t control, uint32_t max_polls) {
    reg_write(&FLASH->CR, control);
    return wait_while_busy(max_polls);
}

static int result_of(uint32_t status) {
    return status & FLASH_SR_BSY      ? FLASH_ERR_TIMEOUT
           : status & FLASH_SR_ERRORS ? FLASH_ERR_HARDWARE
                                      : FLASH_OK;
}

static void lock(void) {
    reg_write(&FLASH->CR, FLASH_CR_LOCK);
}

static int unlock(uint32_t max_polls) {
    // Left open by somebody else: the keys are for a locked register only. A register that does not
    // hold the bit is the emulator's.
    if ((reg_read(&FLASH->CR) & FLASH_CR_LOCK) == 0) {
        lock();
        if ((reg_read(&FLASH->CR) & FLASH_CR_LOCK) == 0) {
            return FLASH_ERR_LOCKED;
        }
    }
    if (wait_while_busy(max_polls) & FLASH_SR_BSY) {
        return FLASH_ERR_TIMEOUT;
    }
    reg_write(&FLASH->KEYR, FLASH_KEY1);
    reg_write(&FLASH->KEYR, FLASH_KEY2);
    if (reg_read(&FLASH->CR) & FLASH_CR_LOCK) {
        return FLASH_ERR_LOCKED;
    }
    // Errors of an operation before would block the next one. They are cleared by writing ones.
    reg_write(&FLASH->SR, FLASH_SR_ERRORS | FLASH_SR_EOP);
    return FLASH_OK;
}

// Both caches may hold what was there before; they can be reset only while they are off
// (RM0090, FLASH_ACR).
static void flush_caches(void) {
    uint32_t acr = reg_read(&FLASH->ACR);
    uint32_t off = acr & ~(uint32_t)(FLASH_ACR_ICEN | FLASH_ACR_DCEN);
    reg_write(&FLASH->ACR, off);
    reg_write(&FLASH->ACR, off | FLASH_ACR_ICRST | FLASH_ACR_DCRST);
    reg_write(&FLASH->ACR, off);
    reg_write(&FLASH->ACR, acr);
}

static uint32_t sector_of(uint32_t address) {
    const flash_geometry_t *g = &board.flash.geometry;
    unsigned slot = address - g->slot[0].address < g->slot[0].size ? 0 : 1;
    return board.flash.sector[slot] + (address - g->slot[slot].address) / g->erase_unit;
}

int flash_chip_erase(uint32_t address) {
    uint32_t max_polls = wait_polls(clock_info()->core_hz, board.flash.geometry.erase_unit_ms);
    uint32_t control = FLASH_CR_SER | sector_of(address) << FLASH_CR_SNB_SHIFT | FLASH_CR_PSIZE_32;
    uint32_t state = irq_lock(); // a handler in flash would hang with the core for the whole erase
    int status = unlock(max_polls);
    if (status == FLASH_OK) {
        reg_write(&FLASH->CR, control);
        status = result_of(start_and_wait(control | FLASH_CR_STRT, max_polls));
        lock();
        flush_caches();
    }
    irq_unlock(state);
    return status;
}

int flash_chip_program(uint32_t address, const uint8_t *data, size_t n) {
    uint32_t max_polls = wait_polls(clock_info()->core_hz, WORD_MS);
    int status = unlock(max_polls);
    if (status != FLASH_OK) {
        return status;
    }
    reg_write(&FLASH->CR, FLASH_CR_PG | FLASH_CR_PSIZE_32);
    for (size_t i = 0; i < n && status == FLASH_OK; i += 4) {
        uint32_t word = (uint32_t)data[i] | (uint32_t)data[i + 1] << 8 |
                        (uint32_t)data[i + 2] << 16 | (uint32_t)data[i + 3] << 24;
        reg_write((volatile uint32_t *)(uintptr_t)(address + (uint32_t)i), word);
        status = result_of(wait_while_busy(max_polls));
    }
    lock();
    return status;
}
