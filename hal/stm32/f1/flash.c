/* The flash controller of the F100 (PM0063): pages of 1 KB, written in half-words. It needs the
 * internal oscillator, which clock.c leaves on. */
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/flash_chip.h"
#include "hal/stm32/flash_control.h"

enum { HALF_WORD_MS = 1 }; /* data sheet: at most 70 us */

int flash_chip_erase(uint32_t address) {
    uint32_t max_polls = wait_polls(clock_info()->core_hz, board.flash.geometry.erase_unit_ms);
    /* Locks interrupts, because a handler in flash would stall for the whole erase. */
    uint32_t state = irq_lock();
    int status = unlock(max_polls);
    if (status == FLASH_OK) {
        reg_write(&FLASH->CR, FLASH_CR_PER);
        reg_write(&FLASH->AR, address);
        status = result_of(start_and_wait(FLASH_CR_PER | FLASH_CR_STRT, max_polls));
        clear_flags();
        lock();
    }
    irq_unlock(state);
    return status;
}

int flash_chip_program(uint32_t address, const uint8_t *data, size_t n) {
    uint32_t max_polls = wait_polls(clock_info()->core_hz, HALF_WORD_MS);
    int status = unlock(max_polls);
    if (status != FLASH_OK)
        return status;
    reg_write(&FLASH->CR, FLASH_CR_PG);
    for (size_t i = 0; i < n && status == FLASH_OK; i += 2) {
        uint16_t half = (uint16_t)(data[i] | data[i + 1] << 8);
        reg_write16((volatile uint16_t *)(uintptr_t)(address + (uint32_t)i), half);
        status = result_of(wait_while_busy(max_polls));
        clear_flags();
    }
    lock();
    return status;
}
