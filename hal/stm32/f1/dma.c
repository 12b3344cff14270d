/* hal/stm32/dma.h on a channel of the F1 (RM0041 "DMA controller"). */
#include "hal/stm32/dma.h"
#include "hal/stm32/chip.h"

static dma_channel_t *channel_of(const board_dma_t *dma) {
    return &dma->regs->channel[dma->stream - 1];
}

static unsigned flag_shift(const board_dma_t *dma) {
    return 4u * (dma->stream - 1u);
}

bool dma_receive(const board_dma_t *dma, const volatile uint32_t *from, uint8_t *ring,
                 uint32_t size) {
    if (dma->regs == NULL)
        return false;
    dma_channel_t *channel = channel_of(dma);
    rcc_enable(dma->clock);
    reg_write(&channel->CCR, 0);
    reg_write(&dma->regs->IFCR, (uint32_t)DMA_FLAGS << flag_shift(dma));
    reg_write(&channel->CPAR, (uint32_t)(uintptr_t)from);
    reg_write(&channel->CMAR, (uint32_t)(uintptr_t)ring);
    reg_write(&channel->CNDTR, size);
    /* DIR, PSIZE and MSIZE are zero: from peripheral to memory, in bytes. */
    uint32_t control =
        DMA_CCR_PL_VERY_HIGH | DMA_CCR_MINC | DMA_CCR_CIRC | DMA_CCR_HTIE | DMA_CCR_TCIE;
    reg_write(&channel->CCR, control);
    reg_write(&channel->CCR, control | DMA_CCR_EN);
    return (reg_read(&channel->CCR) & DMA_CCR_EN) != 0;
}

uint32_t dma_left(const board_dma_t *dma) {
    return reg_read(&channel_of(dma)->CNDTR);
}

unsigned dma_marks(const board_dma_t *dma) {
    unsigned shift = flag_shift(dma);
    uint32_t flags = reg_read(&dma->regs->ISR) >> shift & (DMA_FLAG_HT | DMA_FLAG_TC);
    if (flags != 0)
        reg_write(&dma->regs->IFCR, flags << shift);
    return (flags & DMA_FLAG_HT ? DMA_MIDDLE : 0) | (flags & DMA_FLAG_TC ? DMA_END : 0);
}
