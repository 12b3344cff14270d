/*
 * hal/encoder.h: AS5047P on an SPI bus, one select line for each encoder (data sheet, "SPI
 * interface").
 *
 * Mode 1 (clock idles low, data is taken on the falling edge), 16 bits, at most 10 MHz. An answer
 * comes with the frame after its request, so every read requests the angle again and gets the angle
 * of the last request.
 */
#include "hal/encoder.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/gpio.h"

enum {
    ADDRESS_ERRFL = 0x0001,  /* reading it clears the error flag */
    ADDRESS_DIAAGC = 0x3FFC, /* gain and status; bit 8 is always set in a working chip */
    ADDRESS_ANGLECOM = 0x3FFF,
    FRAME_READ = 1 << 14,
    FRAME_PARITY = 1 << 15,
    FRAME_ERROR = 1 << 14,
    FRAME_DATA = 0x3FFF,
};

enum {
    CLOCK_MAX_HZ = 10000000,
    /* t_L and t_CSn, ns: from select to the first clock edge, and high time between frames */
    SELECT_NS = 350,
    TRANSFER_POLLS = 300, /* 16 bits at bus / 16 take 256 bus cycles; a poll takes at least two */
};

static bool odd(uint32_t word) {
    word ^= word >> 8;
    word ^= word >> 4;
    word ^= word >> 2;
    word ^= word >> 1;
    return word & 1;
}

uint16_t encoder_request(uint16_t address) {
    uint16_t frame = (uint16_t)(FRAME_READ | (address & FRAME_DATA));
    return (uint16_t)(frame | (odd(frame) ? FRAME_PARITY : 0));
}

unsigned encoder_count(void) {
    return board.encoder.count;
}

/* Waits at least SELECT_NS. A read on the peripheral bus takes at least two of its cycles, a delay
 * that no core clock, compiler or cache can shorten. */
static void pause(void) {
    uint32_t reads = SELECT_NS * (clock_bus_hz(board.encoder.clock) / 1000) / 2000000 + 1;
    while (reads-- > 0)
        (void)reg_read(&board.encoder.regs->CR2);
}

/* Exchanges one frame in each direction. Returns false if the SPI did not finish. */
static bool transfer(pin_t select, uint16_t out, uint16_t *in) {
    spi_t *spi = board.encoder.regs;
    if (reg_read(&spi->SR) & SPI_SR_RXNE)
        (void)reg_read(&spi->DR); /* discards data left by an aborted transfer */
    gpio_write(select, false);
    pause();
    reg_write(&spi->DR, out);
    bool done = reg_wait(&spi->SR, SPI_SR_RXNE, SPI_SR_RXNE, TRANSFER_POLLS);
    if (done) {
        *in = (uint16_t)reg_read(&spi->DR);
        /* Waits until the clock has returned to low. */
        done = reg_wait(&spi->SR, SPI_SR_BSY, 0, TRANSFER_POLLS);
    }
    gpio_write(select, true);
    return done;
}

/* Requests a register and reads its content with the next frame, which requests the angle again. */
static bool read_register(pin_t select, uint16_t address, uint16_t *answer) {
    uint16_t ignored;
    pause();
    if (!transfer(select, encoder_request(address), &ignored))
        return false;
    pause();
    return transfer(select, encoder_request(ADDRESS_ANGLECOM), answer);
}

void encoder_init(void) {
    const board_encoders_t *e = &board.encoder;
    if (e->count == 0)
        return;
    uint32_t rate = 0;
    while (rate < 7 && clock_bus_hz(e->clock) >> (rate + 1) > CLOCK_MAX_HZ)
        rate++;
    for (unsigned i = 0; i < e->count; i++)
        gpio_output(e->select[i], true); /* no encoder is selected while the bus starts */
    gpio_output(e->power, true);
    rcc_enable(e->clock);
    reg_write(&e->regs->CR1, 0);
    reg_write(&e->regs->CR2, 0);
    uint32_t config = SPI_CR1_CPHA | SPI_CR1_MSTR | rate << SPI_CR1_BR_SHIFT | SPI_CR1_SSI |
                      SPI_CR1_SSM | SPI_CR1_DFF;
    reg_write(&e->regs->CR1, config);
    reg_write(&e->regs->CR1, config | SPI_CR1_SPE);
    gpio_alternate_out(e->sck, e->af, GPIO_PULL_DOWN);
    gpio_alternate_out(e->mosi, e->af, GPIO_PULL_NONE);
    /* The input is pulled up: an absent encoder reads as all ones, which is no valid angle. */
    gpio_alternate_in(e->miso, e->af, GPIO_PULL_UP);
    for (unsigned i = 0; i < e->count; i++) {
        uint16_t ignored;
        (void)transfer(e->select[i], encoder_request(ADDRESS_ANGLECOM), &ignored);
    }
}

encoder_status_t encoder_read(unsigned encoder, uint16_t *counts) {
    if (encoder >= board.encoder.count)
        return ENCODER_ERR_ABSENT;
    pin_t select = board.encoder.select[encoder];
    uint16_t frame, answer;
    if (!transfer(select, encoder_request(ADDRESS_ANGLECOM), &frame))
        return ENCODER_ERR_TIMEOUT;
    if (frame == 0 || frame == 0xFFFF) {
        /*
         * This is a dead line, or the angle 0, or an error with the angle 16383: the status
         * register decides.
         */
        if (!read_register(select, ADDRESS_DIAAGC, &answer))
            return ENCODER_ERR_TIMEOUT;
        if (answer == 0 || answer == 0xFFFF)
            return ENCODER_ERR_ABSENT;
    }
    if (odd(frame))
        return ENCODER_ERR_PARITY;
    if (frame & FRAME_ERROR) {
        return read_register(select, ADDRESS_ERRFL, &answer) ? ENCODER_ERR_FLAG
                                                             : ENCODER_ERR_TIMEOUT;
    }
    *counts = frame & FRAME_DATA;
    return ENCODER_OK;
}
