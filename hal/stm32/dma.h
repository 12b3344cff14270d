/* Receiving by DMA: the DMA writes the bytes of a peripheral into a ring without the program. Two
 * marks, the middle and the end of the ring, raise the interrupt of the stream when they are
 * passed. */
#ifndef HAL_STM32_DMA_H
#define HAL_STM32_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/stm32/board.h"

/* Buffer of the DMA: linker/sections.ld puts it into memory that the DMA reaches. */
#ifdef __arm__
#define DMA_BUFFER __attribute__((section(".bss.dma_buffers")))
#else
#define DMA_BUFFER
#endif

enum { DMA_MIDDLE = 1, DMA_END = 2 };

/*
 * Starts at the first byte of the ring of `size` bytes, at most 65,535. false: there is no DMA. The
 * test switches it on and reads whether it stays on: where the emulator has no DMA, its registers
 * read 0. A read of another address would not tell: one of the emulated machines answers at every
 * address.
 */
bool dma_receive(const board_dma_t *dma, const volatile uint32_t *from, uint8_t *ring,
                 uint32_t size);

/* Bytes from the DMA's position to the end of the ring: `size` down to 1. */
uint32_t dma_left(const board_dma_t *dma);

/* The marks passed since the last call. Only returned marks are cleared: a mark that is passed
 * meanwhile is returned by the next call. */
unsigned dma_marks(const board_dma_t *dma);

#endif
