/* Flash memory of the chip: erases and programs with bounded waits, and feeds the watchdog
 * meanwhile. The board defines the geometry: size of an erase, width of a write, place of the two
 * slots of the store. */
#ifndef HAL_FLASH_H
#define HAL_FLASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FLASH_OK = 0,
    FLASH_ERR_RANGE =
        -1, /* address outside the slots of the store; the program itself is never touched */
    FLASH_ERR_ALIGN = -2, /* address or length is not a multiple of the write unit */
    /* The unlock keys were refused: a reset is needed, or the emulator has no flash controller. */
    FLASH_ERR_LOCKED = -3,
    FLASH_ERR_TIMEOUT = -4, /* busy for longer than the data sheet's worst case */
    /* the controller reported a programming, protection or sequence error */
    FLASH_ERR_HARDWARE = -5,
    FLASH_ERR_VERIFY = -6, /* the bytes read back differ from those written */
};

typedef struct {
    uint32_t address;
    uint32_t size; /* bytes, a multiple of the erase unit */
} flash_slot_t;

typedef struct {
    flash_slot_t slot[2];   /* the two slots of the store */
    uint32_t erase_unit;    /* bytes that one erase clears (sector or page) */
    uint32_t write_unit;    /* bytes written at once: 4 or 2 */
    uint32_t erase_unit_ms; /* worst case of one erase in the data sheet, ms; interrupts are locked
                             * for this time */
    bool persistent;        /* false: the content is lost without power (emulator, or a store in
                             * RAM) */
    bool writable;          /* false: the emulator ignores writes */
} flash_geometry_t;

const flash_geometry_t *flash_geometry(void);

/* 0. A debugger that keeps the flash of an emulated chip (tools/emulate) writes 1 here, and does the
 * work of flash_erase and flash_program. */
extern const uint32_t flash_kept;

/* Erases every unit that overlaps [address, address + size), which must be inside one slot. */
int flash_erase(uint32_t address, uint32_t size);

/* Programs erased memory and reads it back. n and address are multiples of the write unit. */
int flash_program(uint32_t address, const void *data, size_t n);

/* Reads flash, or the RAM that replaces it. */
void flash_read(uint32_t address, void *data, size_t n);

#endif
