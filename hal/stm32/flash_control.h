/* Shared by the flash controllers of the families: keys, waiting in RAM, results. Only the flash.c
 * of a family includes this file; it uses that family's registers. */
#ifndef HAL_STM32_FLASH_CONTROL_H
#define HAL_STM32_FLASH_CONTROL_H

#include "hal/flash.h"
#include "hal/ramfunc.h"
#include "hal/stm32/chip.h"

/* Waits until the flash is idle and returns the last status. Any fetch or load from flash would
 * stall the core until then, so this runs in RAM. It feeds the watchdog in every round and gives up
 * after max_polls. If the flash is busy even then, the return to flash stalls the core, and the
 * watchdog, which is no longer fed, resets it. */
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

/* Clears the errors of the last operation, which would block the next one. Writing ones clears
 * them. */
static void clear_flags(void) {
    reg_write(&FLASH->SR, FLASH_SR_ERRORS | FLASH_SR_EOP);
}

static int unlock(uint32_t max_polls) {
    /* The keys work only on a locked register, so lock it first if other code left it unlocked. If
     * the register does not keep the bit, this is the emulator. */
    if ((reg_read(&FLASH->CR) & FLASH_CR_LOCK) == 0) {
        lock();
        if ((reg_read(&FLASH->CR) & FLASH_CR_LOCK) == 0)
            return FLASH_ERR_LOCKED;
    }
    if (wait_while_busy(max_polls) & FLASH_SR_BSY)
        return FLASH_ERR_TIMEOUT;
    reg_write(&FLASH->KEYR, FLASH_KEY1);
    reg_write(&FLASH->KEYR, FLASH_KEY2);
    if (reg_read(&FLASH->CR) & FLASH_CR_LOCK)
        return FLASH_ERR_LOCKED;
    clear_flags();
    return FLASH_OK;
}

#endif
