/*
 * A model of the flash controller of the F100 and of the memory behind it, for the tests that run
 * the real driver (hal/stm32/f1/flash.c) on the host. PM0063: unlock with two keys in order, page
 * erase by PER, then AR, then STRT, program with PG by half-word writes to erased memory, wait for
 * BSY.
 *
 * Its power can be cut at any operation: the page or half-word of that one is done in part, and
 * nothing works until flash_f1_power_up.
 */
#ifndef TEST_SUPPORT_HAL_FLASH_F1_MODEL_H
#define TEST_SUPPORT_HAL_FLASH_F1_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { PAGE = 0x400, SLOT = 0x2000, SLOT0 = 0x0801C000, SLOT1 = 0x0801E000 };

typedef struct {
    uint32_t *memory; /* both slots */
    uint32_t cr, sr, ar;
    unsigned key;  /* 0: waits for the first key, 1: for the second, 2: open, 3: shut until reset */
    unsigned busy; /* polls that the next operation keeps BSY set */
    unsigned busy_left; /* of the operation that runs */
    uint32_t fail_with; /* error flags that the next operation ends with */
    bool refuse_keys;
    uint16_t stuck_mask; /* these bits of each programmed half-word do not take */
    unsigned wrong;      /* accesses that the manual forbids */
    unsigned fed_while_busy;
    unsigned unlocked_irq;
    uint64_t operations, cut_at; /* since power-up; the one at which the power fails */
    bool dead;
    uint32_t random;
} flash_f1_t;
extern flash_f1_t flash_f1;

/*
 * The controller after a reset, over this memory, or with NULL over some of its own that holds
 * zeros. Devices of test/support/hal/regmodel.h, which is reset, too.
 */
void flash_f1_start(uint32_t *memory);
/* cut_at: counted from 0; UINT64_MAX: never. */
void flash_f1_power_up(uint64_t cut_at);
uint32_t flash_f1_word(uint32_t address);
bool flash_f1_locked(void);

#endif
