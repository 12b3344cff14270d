/*
 * hal/encoder.h: AS5047P on an SPI bus, one select line for each (data sheet, "SPI interface"), and
 * quadrature encoders on timers.
 *
 * The AS5047P answers a request with the next frame. So encoder_start begins a chain of two frames
 * for each chip: first all chips are asked for the angle, then all are asked for a diagnostic
 * register while they answer the angle. The answer to the diagnostic request comes with the first
 * frame of the next chain. The interrupt of the SPI ends a frame and begins the next one; nothing
 * waits for a frame.
 *
 * A frame of zeros may be an angle, or a line that is dead. Therefore the register is DIAAGC, which
 * is never zero in a chip that works. Every answer tells whether the chip has an error to report;
 * only then is the register ERRFL, which clears it.
 */
#include "hal/encoder.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/gpio.h"
#include "hal/stm32/handlers.h"

enum {
    ADDRESS_ERRFL = 0x0001, /* framing error, invalid command, parity error; reading clears them */
    ADDRESS_DIAAGC = 0x3FFC,
    ADDRESS_ANGLECOM = 0x3FFF,
    DIAAGC_LF = 1 << 8,    /* the offsets are compensated: the chip has started */
    DIAAGC_COF = 1 << 9,   /* the CORDIC overflowed: the angle is wrong */
    DIAAGC_MAGH = 1 << 10, /* field too strong */
    DIAAGC_MAGL = 1 << 11, /* field too weak */
    FRAME_READ = 1 << 14,
    FRAME_PARITY = 1 << 15,
    FRAME_ERROR = 1 << 14,
    FRAME_DATA = 0x3FFF,
    FRAME_ONES = 0xFFFF, /* a line that nothing drives; its pull-up is on */
};

enum {
    /*
     * The chip allows 10 MHz, but its answer comes 51 ns after the clock's edge (t_MISO) and is
     * taken half a period after it. 6 MHz leaves 32 ns for the cable and the edges: about 2 m.
     */
    CLOCK_MAX_HZ = 6000000,
    /* t_L and t_CSn, ns: from select to the first clock edge, and high time between frames */
    SELECT_NS = 350,
    BUSY_POLLS = 50, /* the frame ends half a clock after its last bit: 4 bus cycles at bus / 8 */
    /*
     * One interrupt in core cycles, the pause apart: 115 instructions (counted in the code that the
     * compiler makes for the M3 and the M4) of 1.5 cycles, 24 cycles to enter and leave, and three
     * reads that wait 12 cycles for the peripheral bus. An estimate; no board has measured it.
     */
    IRQ_CYCLES = 230,
};

/* Filter of the quadrature inputs: a level counts after 8 equal samples at the timer's clock / 16,
 * 1.5 us at 84 MHz. Ringing of the motors is shorter; 1.3 million counts a second still pass. */
enum { QUADRATURE_FILTER = 12, QUADRATURE_TOP = 0xFFFF };

/* A reading: 0 if there is none, or GARBLED, or the chip's frame with THERE in place of parity. */
enum { NONE = 0, GARBLED = 1, THERE = 1 << 15 };
static uint16_t reading[BOARD_ENCODERS_MAX];

/* The frame on the bus: that of joint `step` which asks for the angle, or, from encoder.count on,
 * the one that fetches it. */
enum { IDLE = 255 };
static uint8_t step = IDLE;
static uint8_t pause_reads;
/* What is known of each chip: bits 8 to 11 of its last answer to DIAAGC, and more. No answer yet is
 * like an answer without LF. */
enum {
    KNOWN_LF = DIAAGC_LF >> 8,
    KNOWN_COF = DIAAGC_COF >> 8,
    KNOWN_MAGNET = (DIAAGC_MAGL | DIAAGC_MAGH) >> 8,
    KNOWN_DIAAGC = KNOWN_LF | KNOWN_COF | KNOWN_MAGNET,
    KNOWN_ABSENT = 1 << 4, /* that answer was a dead line */
    KNOWN_ALIVE = 1 << 5,  /* this chain brought that answer, from a chip */
    KNOWN_ASKED = 1 << 6,  /* the last request was DIAAGC */
};
static uint8_t known[BOARD_ENCODERS_MAX];

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

static const board_quadrature_t *quadrature(unsigned encoder) {
    const board_quadrature_t *q = &board.encoder.quadrature[encoder];
    return q->regs != NULL ? q : NULL;
}

encoder_info_t encoder_info(unsigned encoder) {
    if (encoder >= board.encoder.count)
        return (encoder_info_t){0, false};
    bool timer = quadrature(encoder) != NULL;
    return (encoder_info_t){timer ? QUADRATURE_TOP + 1 : FRAME_DATA + 1, !timer};
}

/* Waits at least SELECT_NS. A read on the peripheral bus takes at least two of its cycles, a delay
 * that no core clock, compiler or cache can shorten. */
static void pause(void) {
    for (unsigned i = pause_reads; i > 0; i--)
        (void)reg_read(&board.encoder.regs->CR2);
}

/* Takes the answer to the last diagnostic request and chooses the next one. */
static void diagnose(unsigned joint, uint32_t answer) {
    bool dead = answer == 0 || answer == FRAME_ONES;
    bool error = !dead && (answer & FRAME_ERROR) != 0;
    uint32_t now = known[joint] & ~(uint32_t)KNOWN_ALIVE;
    if ((now & KNOWN_ASKED) != 0 && !error && !odd(answer))
        now = dead ? KNOWN_ABSENT : (answer >> 8 & KNOWN_DIAAGC) | KNOWN_ALIVE;
    known[joint] = (uint8_t)(error ? now & ~(uint32_t)KNOWN_ASKED : now | KNOWN_ASKED);
}

/* A frame of zeros is an angle only if the chip was alive a moment ago. */
static uint16_t angle(unsigned joint, uint32_t frame) {
    if (frame == 0 && (known[joint] & KNOWN_ALIVE) == 0)
        return NONE;
    return (uint16_t)(odd(frame) ? GARBLED : frame | THERE);
}

/* Begins the frame `next`, or the first one after it that belongs to an AS5047P. */
static void send(unsigned next) {
    const board_encoders_t *e = &board.encoder;
    unsigned joint, last = step;
    for (;; next++) {
        if (next >= 2 * e->count) {
            step = IDLE;
            return;
        }
        joint = next < e->count ? next : next - e->count;
        if (quadrature(joint) == NULL)
            break;
    }
    if (last == joint)
        pause(); /* the only chip on the bus: no other frame keeps it deselected for long enough */
    step = (uint8_t)next;
    gpio_write(e->select[joint], false);
    pause();
    reg_write(&e->regs->DR, next < e->count              ? encoder_request(ADDRESS_ANGLECOM)
                            : known[joint] & KNOWN_ASKED ? encoder_request(ADDRESS_DIAAGC)
                                                         : encoder_request(ADDRESS_ERRFL));
}

void encoder_irq(void) {
    const board_encoders_t *e = &board.encoder;
    if ((reg_read(&e->regs->SR) & SPI_SR_RXNE) == 0)
        return;
    uint32_t frame = reg_read(&e->regs->DR) & 0xFFFF;
    /* The chain was given up, or the clock does not return to its idle level: encoder_start will
     * begin again. */
    if (step == IDLE || !reg_wait(&e->regs->SR, SPI_SR_BSY, 0, BUSY_POLLS))
        return;
    unsigned now = step, joint = now < e->count ? now : now - e->count;
    gpio_write(e->select[joint], true);
    if (now < e->count)
        diagnose(joint, frame);
    else
        reading[joint] = angle(joint, frame);
    send(now + 1);
}

/* Returns BR of the SPI: its clock is that of the bus divided by 2^(BR + 1). */
static uint32_t clock_divider(void) {
    uint32_t rate = 0, bus_hz = clock_bus_hz(board.encoder.clock);
    while (rate < 7 && bus_hz >> (rate + 1) > CLOCK_MAX_HZ)
        rate++;
    return rate;
}

/* Switches the SPI off, which ends any frame, and on again; all chips are deselected. */
static void restart(void) {
    const board_encoders_t *e = &board.encoder;
    uint32_t rate = clock_divider();
    uint32_t config = SPI_CR1_CPHA | SPI_CR1_MSTR | rate << SPI_CR1_BR_SHIFT | SPI_CR1_SSI |
                      SPI_CR1_SSM | SPI_CR1_DFF;
    step = IDLE;
    reg_write(&e->regs->CR1, config);
    for (unsigned i = 0; i < e->count; i++) {
        gpio_write(e->select[i], true);
        known[i] &= (uint8_t)~KNOWN_ASKED; /* the next answer may be to another request */
    }
    (void)reg_read(&e->regs->DR); /* discards a frame that came in */
    reg_write(&e->regs->CR1, config | SPI_CR1_SPE);
    pause();
}

static void init_quadrature(const board_quadrature_t *q) {
    rcc_enable(q->clock);
    gpio_alternate_in(q->a, q->af, GPIO_PULL_UP);
    gpio_alternate_in(q->b, q->af, GPIO_PULL_UP);
    reg_write(&q->regs->CR1, 0);
    reg_write(&q->regs->SMCR, TIM_SMCR_ENCODER_3);
    reg_write(&q->regs->CCMR[0],
              (TIM_CCMR_INPUT | QUADRATURE_FILTER << TIM_CCMR_FILTER_SHIFT) * 0x101u);
    reg_write(&q->regs->CCER, 0); /* neither input is inverted */
    reg_write(&q->regs->ARR, QUADRATURE_TOP);
    reg_write(&q->regs->CR1, TIM_CR1_CEN);
}

void encoder_init(void) {
    const board_encoders_t *e = &board.encoder;
    for (unsigned i = 0; i < e->count; i++) {
        reading[i] = NONE;
        known[i] = 0;
        if (quadrature(i) != NULL)
            init_quadrature(quadrature(i));
        gpio_output(e->select[i], true); /* no chip is selected while the bus starts */
    }
    gpio_output(e->power, true);
    step = IDLE;
    if (e->regs == NULL)
        return; /* all encoders are quadrature encoders */
    rcc_enable(e->clock);
    pause_reads = (uint8_t)(SELECT_NS * (clock_bus_hz(e->clock) / 1000) / 2000000 + 1);
    reg_write(&e->regs->CR1, 0);
    reg_write(&e->regs->CR2, SPI_CR2_RXNEIE);
    restart();
    gpio_alternate_out(e->sck, e->af, GPIO_PULL_DOWN);
    gpio_alternate_out(e->mosi, e->af, GPIO_PULL_NONE);
    /* The input is pulled up: an absent encoder reads as all ones, which is no valid angle. */
    gpio_alternate_in(e->miso, e->af, GPIO_PULL_UP);
    irq_enable(e->irq, IRQ_PRIORITY_SENSE);
}

void encoder_start(void) {
    if (board.encoder.regs == NULL)
        return;
    if (step != IDLE)
        restart();
    for (unsigned i = 0; i < board.encoder.count; i++)
        reading[i] = NONE;
    send(0);
}

encoder_status_t encoder_read(unsigned encoder, uint16_t *counts) {
    if (encoder >= board.encoder.count)
        return ENCODER_ERR_ABSENT;
    const board_quadrature_t *q = quadrature(encoder);
    if (q != NULL) {
        if (reg_read(&q->regs->ARR) != QUADRATURE_TOP)
            return ENCODER_ERR_ABSENT; /* the emulator has no such timer */
        *counts = (uint16_t)reg_read(&q->regs->CNT);
        return ENCODER_OK;
    }
    uint32_t word = reading[encoder], state = known[encoder];
    reading[encoder] = NONE;
    if (state & KNOWN_ABSENT)
        return ENCODER_ERR_ABSENT;
    if (word == NONE)
        return ENCODER_ERR_TIMEOUT;
    if (word == GARBLED)
        return ENCODER_ERR_PARITY;
    if (word & FRAME_ERROR)
        return ENCODER_ERR_FLAG;
    if (state & KNOWN_MAGNET)
        return ENCODER_ERR_MAGNET;
    if ((state & (KNOWN_COF | KNOWN_LF)) != KNOWN_LF)
        return ENCODER_ERR_CORDIC;
    *counts = (uint16_t)(word & FRAME_DATA);
    return ENCODER_OK;
}

uint32_t encoder_busy_ns(void) {
    const board_encoders_t *e = &board.encoder;
    uint32_t frames = 0;
    if (e->regs == NULL)
        return 0;
    for (unsigned i = 0; i < board.encoder.count; i++)
        frames += quadrature(i) == NULL ? 2 : 0;
    /* A read of the pause takes up to four bus cycles instead of two. */
    uint32_t cycle_ps = 1000000000 / (clock_info()->core_hz / 1000);
    uint32_t frame_ns = 16 * (1000000000 / (clock_bus_hz(e->clock) >> (clock_divider() + 1)));
    return frames * (IRQ_CYCLES * cycle_ps / 1000 + 2 * SELECT_NS + frame_ns);
}
