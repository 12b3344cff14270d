/* Reception by DMA: the DMA writes the bytes of a peripheral into a ring without the core. When it
 * passes one of two marks, the middle and the end of the ring, the stream raises its interrupt. */
#ifndef HAL_STM32_DMA_H
#define HAL_STM32_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/stm32/board.h"

/* A buffer of the DMA: linker/sections.ld puts it into memory that the DMA can access. */
#ifdef __arm__
#define DMA_BUFFER __attribute__((section(".bss.dma_buffers")))
#else
#define DMA_BUFFER
#endif

enum { DMA_MIDDLE = 1, DMA_END = 2 };

/*
 * Starts receiving at the first byte of the ring, which has `size` bytes, at most 65,535. Returns
 * false if there is no DMA. To find out, it switches the DMA on and reads whether it stays on:
 * where the emulator has no DMA, its registers read 0. Reading another address would prove nothing,
 * because one of the emulated machines answers at every address.
 */
bool dma_receive(const board_dma_t *dma, const volatile uint32_t *from, uint8_t *ring,
                 uint32_t size);

/* Returns the number of bytes from the DMA's position to the end of the ring: `size` down to 1. */
uint32_t dma_left(const board_dma_t *dma);

/* Returns the marks passed since the last call. Only these marks are cleared: the next call returns
 * a mark that is passed meanwhile. */
unsigned dma_marks(const board_dma_t *dma);

#endif
