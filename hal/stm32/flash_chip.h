/*
 * The flash controller of a family. hal/stm32/flash.c calls it with checked address and length.
 */
#ifndef HAL_STM32_FLASH_CHIP_H
#define HAL_STM32_FLASH_CHIP_H

#include <stddef.h>
#include <stdint.h>

/* Erases the unit that begins at address. All interrupts are locked meanwhile, and the watchdog is
 * fed. Returns FLASH_OK or a negative error of hal/flash.h; the controller is locked again in
 * either case. */
int flash_chip_erase(uint32_t address);

/* Programs n bytes, a multiple of the write unit, at an aligned address. */
int flash_chip_program(uint32_t address, const uint8_t *data, size_t n);

#endif
