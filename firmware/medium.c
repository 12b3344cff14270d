/* firmware/medium.h, implemented with hal/flash.h. */
#include "firmware/medium.h"
#include "hal/flash.h"

static int slot_erase(void *context, unsigned slot, uint32_t bytes) {
    const flash_geometry_t *g = flash_geometry();
    const uint32_t unit = g->erase_unit;
    (void)context;
    return flash_erase(g->slot[slot].address, (bytes + unit - 1) / unit * unit);
}

static int slot_program(void *context, unsigned slot, uint32_t offset, const void *data,
                        uint32_t n) {
    (void)context;
    return flash_program(flash_geometry()->slot[slot].address + offset, data, n);
}

static void slot_read(void *context, unsigned slot, uint32_t offset, void *data, uint32_t n) {
    (void)context;
    flash_read(flash_geometry()->slot[slot].address + offset, data, n);
}

const store_medium_t *flash_medium(void) {
    static store_medium_t medium = {
        .erase = slot_erase, .program = slot_program, .read = slot_read};
    medium.slot_bytes = flash_geometry()->slot[0].size;
    medium.write_unit = flash_geometry()->write_unit;
    return &medium;
}
