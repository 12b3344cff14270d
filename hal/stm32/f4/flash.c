/* The flash controller of the F2 and F4 (RM0090 "Embedded Flash memory interface"): sectors of 128
 * KB, which take up to two seconds to erase, and words of 32 bits; programming these needs 2.7 V or
 * more. */
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/flash_chip.h"
#include "hal/stm32/flash_control.h"

enum { WORD_MS = 1 }; /* data sheet: at most 0.1 ms */

/* Discards both caches, which may contain old content. They can be reset only while they are off
 * (RM0090, FLASH_ACR). */
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
    /* Locks interrupts, because a handler in flash would stall for the whole erase. */
    uint32_t state = irq_lock();
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
    if (status != FLASH_OK)
        return status;
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
