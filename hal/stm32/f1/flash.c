// The flash controller of the F100 (PM0063): pages of 1 KB, half-words.
// It needs the internal oscillator, which clock.c leaves on.
#include "hal/irq.h"
#include "hal/ramfunc.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/flash_chip.h"

enum { HALF_WORD_MS = 1 }; // data sheet: 70 us at most

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

static void clear_flags(void) {
    reg_write(&FLASH->SR, FLASH_SR_ERRORS | FLASH_SR_EOP); // by writing ones
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
    clear_flags();
    return FLASH_OK;
}

int flash_chip_erase(uint32_t address) {
    uint32_t max_polls = wait_polls(clock_info()->core_hz, board.flash.geometry.erase_unit_ms);
    uint32_t state = irq_lock(); // a handler in flash would hang with the core for the whole erase
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
    if (status != FLASH_OK) {
        return status;
    }
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
