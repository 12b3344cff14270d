/*
 * hal/watchdog.h on the independent watchdog (RM0090 and RM0041, "Independent watchdog").
 *
 * The watchdog's oscillator is inaccurate (17 to 47 kHz on the F4). The reload value is computed
 * for the highest frequency in the data sheet, so that the watchdog never resets before timeout_ms;
 * it may take up to three times as long.
 */
#include "hal/watchdog.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"

enum {
    PRESCALER_MAX = 6, /* divides by 4 << 6 = 256 */
    RELOAD_MAX = 4095,
    UPDATE_MS =
        100, /* PR and RLR are updated within 6 cycles of the divided oscillator: 90 ms at 17 kHz */
};

int watchdog_start(uint32_t timeout_ms) {
    if (timeout_ms == 0 || timeout_ms > UINT32_MAX / board.lsi_max_hz)
        return WATCHDOG_ERR_RANGE;
    uint32_t ticks = (timeout_ms * board.lsi_max_hz + 999) / 1000; /* ticks of the undivided
                                                                    * oscillator */
    uint32_t prescaler = 0;
    while (prescaler < PRESCALER_MAX && ticks > (RELOAD_MAX + 1u) * (4u << prescaler))
        prescaler++;
    uint32_t reload = (ticks + (4u << prescaler) - 1) / (4u << prescaler) - 1;
    if (reload > RELOAD_MAX)
        return WATCHDOG_ERR_RANGE;
    uint32_t polls = wait_polls(clock_info()->core_hz, UPDATE_MS);
    /* Freezes the watchdog while a debugger halts the core, because the core cannot feed it then;
     * the motor outputs are off during a halt (motor.c). */
    reg_set(DBGMCU_FREEZE_WATCHDOG, DBGMCU_FREEZE_IWDG);
    /* Starting the watchdog also starts its oscillator, without which the updates would never
     * end. */
    reg_write(&IWDG->KR, IWDG_KEY_START);
    if (!reg_wait(&IWDG->SR, IWDG_SR_PVU | IWDG_SR_RVU, 0, polls))
        return WATCHDOG_ERR_TIMEOUT;
    reg_write(&IWDG->KR, IWDG_KEY_ACCESS);
    reg_write(&IWDG->PR, prescaler);
    reg_write(&IWDG->RLR, reload);
    if (!reg_wait(&IWDG->SR, IWDG_SR_PVU | IWDG_SR_RVU, 0, polls))
        return WATCHDOG_ERR_TIMEOUT;
    /* An emulator without a watchdog also ends here, because its registers keep nothing. */
    if (reg_read(&IWDG->RLR) != reload || reg_read(&IWDG->PR) != prescaler)
        return WATCHDOG_ERR_TIMEOUT;
    reg_write(&IWDG->KR, IWDG_KEY_FEED);
    return WATCHDOG_OK;
}

void watchdog_feed(void) {
    reg_write(&IWDG->KR, IWDG_KEY_FEED);
}
