/* Implements test/support/hal/flash_f1_model.h. */
#include "test/support/hal/flash_f1_model.h"

#include <string.h>

#include "hal/host/host.h"
#include "hal/stm32/board.h"
#include "test/support/hal/regmodel.h"

const board_t board = {
    .flash = {.geometry = {.slot = {{SLOT0, SLOT}, {SLOT1, SLOT}},
                           .erase_unit = PAGE,
                           .write_unit = 2,
                           .erase_unit_ms = 40}},
};

flash_f1_t flash_f1;

static uint32_t *word(uint32_t address) {
    return &flash_f1.memory[(address - SLOT0) / 4];
}

static uint32_t draw(void) {
    flash_f1.random ^= flash_f1.random << 13;
    flash_f1.random ^= flash_f1.random >> 17;
    flash_f1.random ^= flash_f1.random << 5;
    return flash_f1.random;
}

bool flash_f1_locked(void) {
    return (flash_f1.cr & FLASH_CR_LOCK) != 0;
}

/* True if the power fails during this operation; after that the driver gets errors until
 * power-up. */
static bool begin(void) {
    flash_f1_t *f = &flash_f1;
    const bool cut = !f->dead && f->operations++ == f->cut_at;
    f->busy_left = f->busy;
    f->sr |= FLASH_SR_BSY;
    f->dead |= cut;
    f->fail_with = f->dead ? FLASH_SR_ERRORS : f->fail_with;
    return cut;
}

static uint32_t flash_read_model(uint32_t address, uint32_t stored) {
    flash_f1_t *f = &flash_f1;
    if (address == REGMODEL_ADDRESS(&FLASH->CR)) {
        return f->cr;
    }
    if (address == REGMODEL_ADDRESS(&FLASH->SR)) {
        if (f->sr & FLASH_SR_BSY) {
            f->unlocked_irq += (f->cr & FLASH_CR_PER) != 0 && host_irq.lock_depth == 0;
            if (f->busy_left == 0) {
                f->sr = (f->sr & ~(uint32_t)FLASH_SR_BSY) |
                        (f->fail_with ? f->fail_with : FLASH_SR_EOP);
                f->fail_with = 0;
            } else if (f->busy_left != REGMODEL_NEVER) {
                f->busy_left--;
            }
        }
        return f->sr;
    }
    return stored;
}

static void write_key(uint32_t value) {
    flash_f1_t *f = &flash_f1;
    if (!flash_f1_locked() || f->key == 3) {
        f->key = 3;
        f->cr |= FLASH_CR_LOCK;
    } else if (f->key == 0 && value == FLASH_KEY1 && !f->refuse_keys) {
        f->key = 1;
    } else if (f->key == 1 && value == FLASH_KEY2) {
        f->key = 2;
        f->cr &= ~(uint32_t)FLASH_CR_LOCK;
    } else {
        f->key = 3;
    }
}

static void erase(uint32_t address) {
    const bool cut = begin();
    for (uint32_t a = address; a < address + PAGE; a += 4) {
        const uint32_t kind = cut ? draw() % 3 : flash_f1.fail_with == 0 ? 0 : 2;
        *word(a) = kind == 0 ? 0xFFFFFFFFu : kind == 1 ? draw() : *word(a);
    }
}

static void write_control(uint32_t value) {
    flash_f1_t *f = &flash_f1;
    if (flash_f1_locked()) {
        f->wrong += value != FLASH_CR_LOCK;
        return;
    }
    const bool selected = (f->cr & FLASH_CR_PER) != 0;
    f->cr = value & ~(uint32_t)FLASH_CR_STRT;
    if (value & FLASH_CR_LOCK) {
        f->cr = FLASH_CR_LOCK;
        f->key = 0;
    } else if (value & FLASH_CR_STRT) {
        f->wrong += !selected || f->ar % PAGE != 0 || f->ar < SLOT0 || f->ar >= SLOT1 + SLOT;
        f->wrong += (f->sr & FLASH_SR_BSY) != 0 || (f->sr & FLASH_SR_ERRORS) != 0;
        erase(f->ar);
    }
}

static uint32_t flash_write_model(uint32_t address, unsigned width, uint32_t value,
                                  uint32_t stored) {
    flash_f1_t *f = &flash_f1;
    (void)stored;
    f->wrong += width != 32;
    if (address == REGMODEL_ADDRESS(&FLASH->KEYR)) {
        write_key(value);
    } else if (address == REGMODEL_ADDRESS(&FLASH->SR)) {
        f->sr &= ~(value & (uint32_t)(FLASH_SR_ERRORS | FLASH_SR_EOP));
    } else if (address == REGMODEL_ADDRESS(&FLASH->AR)) {
        f->wrong += (f->cr & FLASH_CR_PER) == 0;
        f->ar = value;
    } else if (address == REGMODEL_ADDRESS(&FLASH->CR)) {
        write_control(value);
    }
    return value;
}

static uint32_t memory_read_model(uint32_t address, uint32_t stored) {
    (void)stored;
    return *word(address);
}

/* If the power fails, only some bits of the half-word are programmed. */
static uint32_t memory_write_model(uint32_t address, unsigned width, uint32_t value,
                                   uint32_t stored) {
    flash_f1_t *f = &flash_f1;
    if (flash_f1_locked() || (f->cr & FLASH_CR_PG) == 0 || width != 16 || (f->sr & FLASH_SR_BSY)) {
        f->wrong++;
        return stored;
    }
    const unsigned shift = 8 * (address & 2);
    const bool cut = begin();
    if (!f->dead && (*word(address) >> shift & 0xFFFF) != 0xFFFF) {
        f->fail_with = FLASH_SR_PGERR; /* only erased half-words can be programmed */
    }
    const uint32_t left = f->stuck_mask | (cut ? draw() & 0xFFFF : 0);
    if (cut || f->fail_with == 0) {
        *word(address) &= ~(0xFFFFu << shift) | (value | left) << shift;
    }
    return stored;
}

static uint32_t watchdog_write_model(uint32_t address, unsigned width, uint32_t value,
                                     uint32_t stored) {
    (void)address;
    (void)width;
    (void)stored;
    flash_f1.fed_while_busy += value == IWDG_KEY_FEED && (flash_f1.sr & FLASH_SR_BSY) != 0;
    return value;
}

uint32_t flash_f1_word(uint32_t address) {
    return *word(address);
}

void flash_f1_power_up(uint64_t cut_at) {
    flash_f1.cr = FLASH_CR_LOCK;
    flash_f1.sr = flash_f1.ar = 0;
    flash_f1.key = 0;
    flash_f1.fail_with = 0;
    flash_f1.dead = false;
    flash_f1.operations = 0;
    flash_f1.cut_at = cut_at;
}

void flash_f1_start(uint32_t *memory) {
    static uint32_t own[2 * SLOT / 4];
    regmodel_reset();
    host_irq_reset();
    memset(own, 0, sizeof own);
    flash_f1 = (flash_f1_t){.memory = memory != NULL ? memory : own, .random = 1};
    flash_f1_power_up(UINT64_MAX);
    regmodel_device(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->AR), flash_read_model,
                    flash_write_model);
    regmodel_device(SLOT0, SLOT1 + SLOT - 1, memory_read_model, memory_write_model);
    regmodel_device(REGMODEL_ADDRESS(&IWDG->KR), REGMODEL_ADDRESS(&IWDG->KR), NULL,
                    watchdog_write_model);
}
