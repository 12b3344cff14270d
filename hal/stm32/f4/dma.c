/* hal/stm32/dma.h on a stream of the F2 and F4 (RM0090 "DMA controller"). */
#include "hal/stm32/dma.h"
#include "hal/stm32/chip.h"

enum { OFF_MS = 1 }; /* a running transfer of a byte ends first, which takes a few bus cycles */

static unsigned flag_shift(unsigned stream) {
    return (stream & 2) * 8 + (stream & 1) * 6; /* 0, 6, 16, 22 */
}

bool dma_receive(const board_dma_t *dma, const volatile uint32_t *from, uint8_t *ring,
                 uint32_t size) {
    if (dma->regs == NULL)
        return false;
    dma_stream_t *stream = &dma->regs->stream[dma->stream];
    rcc_enable(dma->clock);
    reg_write(&stream->CR, 0);
    /* The stream must be off to be configured, and must not start with an old flag. */
    if (!reg_wait(&stream->CR, DMA_CR_EN, 0, wait_polls(clock_info()->core_hz, OFF_MS)))
        return false;
    reg_write(&dma->regs->IFCR[dma->stream / 4], (uint32_t)DMA_FLAGS << flag_shift(dma->stream));
    reg_write(&stream->PAR, (uint32_t)(uintptr_t)from);
    reg_write(&stream->M0AR, (uint32_t)(uintptr_t)ring);
    reg_write(&stream->NDTR, size);
    /* Without the FIFO a byte is in memory a few bus cycles after it is counted. */
    reg_write(&stream->FCR, 0);
    /* DIR, PSIZE and MSIZE are zero: from peripheral to memory, in bytes. */
    uint32_t control = (uint32_t)dma->channel << DMA_CR_CHSEL_SHIFT | DMA_CR_PL_VERY_HIGH |
                       DMA_CR_MINC | DMA_CR_CIRC | DMA_CR_TCIE | DMA_CR_HTIE;
    reg_write(&stream->CR, control);
    reg_write(&stream->CR, control | DMA_CR_EN);
    return (reg_read(&stream->CR) & DMA_CR_EN) != 0;
}

uint32_t dma_left(const board_dma_t *dma) {
    return reg_read(&dma->regs->stream[dma->stream].NDTR);
}

unsigned dma_marks(const board_dma_t *dma) {
    unsigned shift = flag_shift(dma->stream), half = dma->stream / 4;
    uint32_t flags = reg_read(&dma->regs->ISR[half]) >> shift & (DMA_FLAG_HT | DMA_FLAG_TC);
    if (flags != 0)
        reg_write(&dma->regs->IFCR[half], flags << shift);
    return (flags & DMA_FLAG_HT ? DMA_MIDDLE : 0) | (flags & DMA_FLAG_TC ? DMA_END : 0);
}
