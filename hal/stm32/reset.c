/* The reason for the last reset, from the flags of RCC_CSR (same bits on F1, F2 and F4). */
#include "hal/reset.h"
#include "hal/stm32/chip.h"

reset_reason_t reset_reason(void) {
    /* Every reset also pulls the pin, and flags accumulate until they are cleared, so the rarest
     * reasons are checked first. */
    static const struct {
        uint32_t flags;
        reset_reason_t reason;
    } order[] = {
        {RCC_CSR_LPWRRSTF, RESET_LOW_POWER},
        {RCC_CSR_WWDGRSTF, RESET_WINDOW_WATCHDOG},
        {RCC_CSR_IWDGRSTF, RESET_WATCHDOG},
        {RCC_CSR_SFTRSTF, RESET_SOFTWARE},
        {RCC_CSR_PORRSTF | RCC_CSR_BORRSTF, RESET_POWER},
        {RCC_CSR_PINRSTF, RESET_PIN},
    };
    static bool known;
    static reset_reason_t reason;
    if (!known) {
        known = true;
        uint32_t flags = reg_read(&RCC->CSR);
        for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++) {
            if (flags & order[i].flags) {
                reason = order[i].reason;
                break;
            }
        }
        reg_set(&RCC->CSR, RCC_CSR_RMVF);
    }
    return reason;
}
