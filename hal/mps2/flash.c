/* hal/flash.h on a board without flash: the two slots of the store are in RAM that start-up does
 * not clear. They survive a warm reset and behave like flash: erased bytes are 0xFF, and
 * programming only clears bits. */
#include "hal/flash.h"
#include "hal/reg.h"

enum { ERASE_UNIT = 4096, SLOT_BYTES = 65536 };

__attribute__((section(".noinit"), aligned(ERASE_UNIT))) static uint8_t memory[2][SLOT_BYTES];

static flash_geometry_t geometry = {.erase_unit = ERASE_UNIT,
                                    .write_unit = 4,
                                    .erase_unit_ms = 1,
                                    .persistent = false,
                                    .writable = true};

const uint32_t flash_kept = 0;

const flash_geometry_t *flash_geometry(void) {
    geometry.persistent = reg_read(&flash_kept) != 0;
    for (unsigned i = 0; i < 2; i++)
        geometry.slot[i] = (flash_slot_t){(uint32_t)(uintptr_t)memory[i], SLOT_BYTES};
    return &geometry;
}

static bool inside_slot(uint32_t address, uint32_t size) {
    const flash_geometry_t *g = flash_geometry();
    for (unsigned i = 0; i < 2; i++) {
        const flash_slot_t *slot = &g->slot[i];
        if (address >= slot->address && size <= slot->size &&
            address - slot->address <= slot->size - size)
            return true;
    }
    return false;
}

int flash_erase(uint32_t address, uint32_t size) {
    if (!inside_slot(address, size))
        return FLASH_ERR_RANGE;
    uint32_t start = address & ~(uint32_t)(ERASE_UNIT - 1);
    uint32_t end = (address + size + ERASE_UNIT - 1) & ~(uint32_t)(ERASE_UNIT - 1);
    for (uint32_t a = start; a < end; a++)
        *(volatile uint8_t *)(uintptr_t)a = 0xFF;
    return FLASH_OK;
}

int flash_program(uint32_t address, const void *data, size_t n) {
    if ((address | (uint32_t)n) % geometry.write_unit != 0)
        return FLASH_ERR_ALIGN;
    if (!inside_slot(address, (uint32_t)n))
        return FLASH_ERR_RANGE;
    const uint8_t *from = data;
    volatile uint8_t *to = (volatile uint8_t *)(uintptr_t)address;
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)(to[i] & from[i]);
        if (to[i] != from[i])
            return FLASH_ERR_VERIFY;
    }
    return FLASH_OK;
}

void flash_read(uint32_t address, void *data, size_t n) {
    const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)address;
    uint8_t *to = data;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}
