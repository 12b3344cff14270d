/*
 * A model of the flash controller of the F100 and of its memory, for the tests that run the real
 * driver (hal/stm32/f1/flash.c) on the host. PM0063 requires: unlock with two keys in order; erase
 * a page by PER, then AR, then STRT; program with PG by half-word writes to erased memory; wait for
 * BSY.
 *
 * The power can be cut at any operation. That operation then changes only a part of its page or
 * half-word, and nothing works until flash_f1_power_up.
 */
#ifndef TEST_SUPPORT_HAL_FLASH_F1_MODEL_H
#define TEST_SUPPORT_HAL_FLASH_F1_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { PAGE = 0x400, SLOT = 0x2000, SLOT0 = 0x0801C000, SLOT1 = 0x0801E000 };

typedef struct {
    uint32_t *memory; /* contents of both slots */
    uint32_t cr, sr, ar;
    unsigned key;       /* 0, 1: waits for first, second key; 2: open; 3: locked until reset */
    unsigned busy;      /* number of polls for which the next operation keeps BSY set */
    unsigned busy_left; /* polls left for the running operation */
    uint32_t fail_with; /* error flags with which the next operation ends */
    bool refuse_keys;
    uint16_t stuck_mask; /* these bits of each half-word are not programmed */
    unsigned wrong;      /* number of accesses that the manual forbids */
    unsigned fed_while_busy;
    unsigned unlocked_irq;
    uint64_t operations,
        cut_at; /* operations since power-up; number of the one at which the power fails */
    bool dead;
    uint32_t random;
} flash_f1_t;
extern flash_f1_t flash_f1;

/*
 * Resets the controller and uses this memory, or internal memory of zeros if NULL. Also resets
 * test/support/hal/regmodel.h and adds its devices there.
 */
void flash_f1_start(uint32_t *memory);
/* Switches the power on; it fails at operation cut_at, counted from 0 (UINT64_MAX: never). */
void flash_f1_power_up(uint64_t cut_at);
uint32_t flash_f1_word(uint32_t address);
bool flash_f1_locked(void);

#endif
