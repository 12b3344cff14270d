/* hal/flash.h: the part that both families share. Only the two slots of the store can be written;
 * no call can change the running program. */
#include "hal/flash.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/flash_chip.h"

const uint32_t flash_kept = 0;

const flash_geometry_t *flash_geometry(void) {
    static flash_geometry_t geometry;
    geometry = board.flash.geometry;
    geometry.persistent = geometry.writable = !clock_info()->emulated || reg_read(&flash_kept) != 0;
    return &geometry;
}

static bool inside_slot(uint32_t address, size_t size) {
    for (unsigned i = 0; i < 2; i++) {
        const flash_slot_t *slot = &board.flash.geometry.slot[i];
        if (address >= slot->address && size <= slot->size &&
            address - slot->address <= slot->size - (uint32_t)size)
            return true;
    }
    return false;
}

static uint32_t word_at(uint32_t address) {
    return reg_read((const volatile uint32_t *)(uintptr_t)(address & ~3u));
}

int flash_erase(uint32_t address, uint32_t size) {
    if (!inside_slot(address, size))
        return FLASH_ERR_RANGE;
    uint32_t unit = board.flash.geometry.erase_unit;
    for (uint32_t a = address - address % unit; a < address + size; a += unit) {
        int status = flash_chip_erase(a);
        if (status != FLASH_OK)
            return status;
        for (uint32_t w = a; w < a + unit; w += 4)
            if (word_at(w) != 0xFFFFFFFFu)
                return FLASH_ERR_VERIFY;
    }
    return FLASH_OK;
}

int flash_program(uint32_t address, const void *data, size_t n) {
    if (!inside_slot(address, n))
        return FLASH_ERR_RANGE;
    if ((address | n) % board.flash.geometry.write_unit != 0)
        return FLASH_ERR_ALIGN;
    const uint8_t *bytes = data;
    int status = flash_chip_program(address, bytes, n);
    for (size_t i = 0; i < n && status == FLASH_OK; i++) {
        uint32_t a = address + (uint32_t)i;
        if ((uint8_t)(word_at(a) >> 8 * (a % 4)) != bytes[i])
            status = FLASH_ERR_VERIFY;
    }
    return status;
}

void flash_read(uint32_t address, void *data, size_t n) {
    uint8_t *to = data;
    for (size_t i = 0; i < n; i++) {
        uint32_t a = address + (uint32_t)i;
        to[i] = (uint8_t)(word_at(a) >> 8 * (a % 4));
    }
}
