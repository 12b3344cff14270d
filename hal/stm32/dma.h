/* Receiving by DMA: bytes of a peripheral go round and round in a ring without the program, and two
 * marks, the middle and the end of the ring, raise the interrupt of the stream when they are
 * passed. */
#ifndef HAL_STM32_DMA_H
#define HAL_STM32_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/stm32/board.h"

/* A ring of the DMA: linker/sections.ld sees to it that it lies in memory that the DMA reaches. */
#ifdef __arm__
#define DMA_BUFFER __attribute__((section(".bss.dma_buffers")))
#else
#define DMA_BUFFER
#endif

enum { DMA_MIDDLE = 1, DMA_END = 2 };

/*
 * Starts with the first byte of the ring of `size` bytes, at most 65,535. false: there is no DMA.
 * That is seen by switching it on and looking whether it stays on: where the emulator has no DMA,
 * its registers read 0, and no other address says more (one of the machines answers on every one).
 */
bool dma_receive(const board_dma_t *dma, const volatile uint32_t *from, uint8_t *ring,
                 uint32_t size);

/* Bytes until the end of the ring: size down to 1. */
uint32_t dma_left(const board_dma_t *dma);

/* The marks passed since the last call. Only what is returned is forgotten: a mark that is passed
 * meanwhile is there the next time. */
unsigned dma_marks(const board_dma_t *dma);

#endif
