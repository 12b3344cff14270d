/*
 * Tests the encoder driver with a model of the SPI, of AS5047P chips on it and of a quadrature
 * encoder. As in the data sheet, a chip takes a request when it is deselected and answers it with
 * the next frame, parity is even, a request that it does not understand or a frame of less than 16
 * bits sets an error flag in every answer until ERRFL is read, and the select timing is checked.
 * Compiled for both families: three chips and a quadrature encoder, and one chip alone on its bus.
 */
#include "test/support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "hal/encoder.h"
#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/handlers.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

#ifdef HAL_STM32F1
enum { ENCODERS = 2, TIMER = 0, CHIPS = 1, BUS_HZ = 24000000, IRQ = 35, CORE_HZ = 24000000 };
static const unsigned chip_joint[CHIPS] = {1};
#define SPI SPI1
#define TIM TIM3
const board_t board = {
    .encoder = {.regs = SPI1,
                .clock = RCC_SPI1,
                .sck = PIN(B, 3),
                .miso = PIN(B, 4),
                .mosi = PIN(B, 5),
                .power = PIN(B, 2),
                .irq = IRQ,
                .count = ENCODERS,
                .select = {0, PIN(C, 5)},
                .quadrature = {{TIM3, RCC_TIM3, .a = PIN(A, 6), .b = PIN(A, 7)}}},
};
#else
enum { ENCODERS = 4, TIMER = 2, CHIPS = 3, BUS_HZ = 42000000, IRQ = 36, CORE_HZ = 168000000 };
static const unsigned chip_joint[CHIPS] = {0, 1, 3};
#define SPI SPI2
#define TIM TIM4
const board_t board = {
    .encoder = {.regs = SPI2,
                .clock = RCC_SPI2,
                .sck = PIN(B, 10),
                .miso = PIN(C, 2),
                .mosi = PIN(C, 3),
                .af = 5,
                .power = PIN(B, 2),
                .irq = IRQ,
                .count = ENCODERS,
                .select = {PIN(C, 4), PIN(C, 5), 0, PIN(C, 7)},
                .quadrature = {[2] = {TIM4, RCC_TIM4, .a = PIN(B, 6), .b = PIN(B, 7), .af = 2}}},
};
#endif
enum { FRAMES = 2 * CHIPS, FIRST = CHIPS == 1 ? 1 : 0, LAST = CHIPS == 1 ? 1 : 3 };

/* --------------------------------------------------------------- model of the bus and the chips */
typedef struct {
    uint16_t angle, answer; /* answer: word that the next frame returns */
    uint16_t diagnosis;     /* DIAAGC */
    uint16_t errors;        /* ERRFL */
    bool gone;              /* chip absent or line broken: it reads bus.line_idle */
    unsigned errors_read;
    uint64_t released; /* bus time at which the chip was last deselected */
} chip_t;

static chip_t chip[ENCODERS];
static struct {
    int selected; /* -1: none */
    bool dead;    /* the SPI has no clock */
    bool stuck;   /* BSY stays set */
    bool on;
    bool shifting; /* a frame is on the line */
    bool clocked;  /* the selected chip has got 16 bits */
    bool received; /* RXNE */
    unsigned busy; /* number of status reads that still show BSY */
    uint16_t out, data, line_idle;
    uint16_t miso_noise, mosi_noise; /* bits that the next frame gets wrong */
    unsigned frames;
    uint16_t request[4 * FRAMES]; /* the last requests, from request[0] since log_start */
    int joint[4 * FRAMES];
    unsigned logged;
    unsigned wrong; /* number of broken timing or bus rules */
    uint64_t reads; /* all reads of the bus, at least two bus cycles each; measures time */
    uint64_t selected_at;
} bus;

static uint16_t even(uint32_t value15) {
    return (uint16_t)(value15 | (uint32_t)(__builtin_popcount(value15) % 2) << 15);
}

/* The data sheet requires 350 ns before the first clock edge and between frames (t_L, t_CSn). */
static void check_time(uint64_t since) {
    bus.wrong += (bus.reads - since) * 2 * 1000000000 < (uint64_t)350 * BUS_HZ;
}

enum { FRERR = 1, INVCOMM = 2, PARERR = 4 };

static void execute(chip_t *c, uint16_t request) {
    uint16_t address = request & 0x3FFF, value = 0;
    bool known = address == 0x3FFF || address == 0x3FFC || address == 0x0001;
    if (__builtin_popcount(request) % 2 != 0) {
        c->errors |= PARERR;
    } else if (!known || (request & 1 << 14) == 0) {
        c->errors |= INVCOMM;
    } else if (address == 0x3FFF) {
        value = c->angle;
    } else if (address == 0x3FFC) {
        value = c->diagnosis;
    } else {
        value = c->errors;
        c->errors = 0;
        c->errors_read++;
    }
    c->answer = even(value | (c->errors != 0 ? 1u << 14 : 0));
}

/* Ends the frame on the line: 16 bits went in each direction. */
static void clock_frame(void) {
    chip_t *c = bus.selected < 0 ? NULL : &chip[bus.selected];
    uint16_t word = c == NULL || c->gone ? bus.line_idle : c->answer ^ bus.miso_noise;
    bus.out ^= bus.mosi_noise;
    bus.miso_noise = bus.mosi_noise = 0;
    bus.data = bus.received ? bus.data : word; /* after an overrun the unread word stays */
    bus.received = bus.clocked = true;
    bus.shifting = false;
    bus.busy = 4; /* BSY ends half a clock period after the word */
}

/* Lets the hardware go on for this many frames; true if there was that much to do. */
static bool run(unsigned frames) {
    for (; frames > 0 && bus.shifting && !bus.dead; frames--) {
        bus.reads += 100;
        clock_frame();
        TEST_ASSERT_EQUAL_HEX32(1 << 6, regmodel_get(&SPI->CR2) & 1 << 6); /* RXNEIE */
        encoder_irq();
    }
    return frames == 0;
}

static uint32_t spi_read(uint32_t address, uint32_t stored) {
    bus.reads++;
    if (address == REGMODEL_ADDRESS(&SPI->SR)) {
        bool busy = bus.busy > 0 || bus.shifting || bus.stuck;
        bus.busy -= bus.busy > 0;
        return (bus.received ? SPI_SR_RXNE : 0) | SPI_SR_TXE | (busy ? SPI_SR_BSY : 0);
    }
    if (address == REGMODEL_ADDRESS(&SPI->DR)) {
        bus.received = false;
        return bus.data;
    }
    return stored;
}

static uint32_t spi_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == REGMODEL_ADDRESS(&SPI->CR1)) {
        bus.on = (value & SPI_CR1_SPE) != 0;
        bus.shifting = bus.shifting && bus.on;
    }
    if (address == REGMODEL_ADDRESS(&SPI->DR)) {
        bus.wrong += bus.selected < 0 || !bus.on || bus.shifting;
        check_time(bus.selected_at);
        bus.frames++;
        bus.out = (uint16_t)value;
        bus.shifting = true;
        bus.clocked = false;
        if (bus.logged < sizeof bus.request / sizeof bus.request[0]) {
            bus.request[bus.logged] = bus.out;
            bus.joint[bus.logged++] = bus.selected;
        }
    }
    return value;
}

static void deselect(int i) {
    chip_t *c = &chip[i];
    /* In the middle of a frame only if the SPI was switched off: the driver gave the frame up. */
    bus.wrong += bus.shifting || bus.busy > 0;
    if (!c->gone && bus.clocked)
        execute(c, bus.out);
    else if (!c->gone)
        c->errors |= FRERR;
    bus.selected = -1;
    c->released = bus.reads;
}

static uint32_t select_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)address;
    (void)width;
    (void)stored;
    for (int i = 0; i < ENCODERS; i++) {
        if (board.encoder.select[i] == 0)
            continue;
        unsigned pin = PIN_NUMBER(board.encoder.select[i]);
        if (value & 1u << (pin + 16)) {     /* low level: selected */
            bus.wrong += bus.selected >= 0; /* two chips are selected */
            check_time(chip[i].released);
            bus.selected = i;
            bus.selected_at = bus.reads;
            bus.clocked = false;
        }
        if ((value & 1u << pin) && bus.selected == i)
            deselect(i);
    }
    return value;
}

static bool timer_there;
static uint32_t timer_read(uint32_t address, uint32_t stored) {
    (void)address;
    return timer_there ? stored : 0;
}

/* One tick: reads what the last chain brought, and starts the next one, which ends. */
static encoder_status_t status[ENCODERS];
static uint16_t counts[ENCODERS];
static void start_and_run(void) {
    bus.reads += 1000000;
    encoder_start();
    TEST_ASSERT_TRUE(run(FRAMES));
    TEST_ASSERT_FALSE(bus.shifting);
}

static void read_all(void) {
    for (unsigned i = 0; i < ENCODERS; i++)
        status[i] = encoder_read(i, &counts[i]);
}

static void tick(void) {
    start_and_run();
    read_all();
}

/* Brings the driver to the state in which it accepts readings. */
static void ready(void) {
    encoder_init();
    tick();
    tick();
    for (unsigned i = 0; i < ENCODERS; i++)
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[i]);
}

static void log_start(void) {
    bus.logged = 0;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    memset(&bus, 0, sizeof bus);
    memset(chip, 0, sizeof chip);
    bus.selected = -1;
    bus.line_idle = 0xFFFF;
    bus.reads = 1000000;
    timer_there = true;
    for (unsigned i = 0; i < ENCODERS; i++) {
        chip[i].diagnosis = 0x0180; /* offset loop finished, gain 128 */
        chip[i].angle = (uint16_t)(1000 * (i + 1));
        counts[i] = 42;
    }
    fake_clock = (clock_info_t){.core_hz = CORE_HZ};
    fake_bus_hz = BUS_HZ;
    regmodel_device(REGMODEL_ADDRESS(SPI), REGMODEL_ADDRESS(&SPI->DR), spi_read, spi_write);
    regmodel_device(REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR), REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR),
                    NULL, select_write);
    regmodel_device(REGMODEL_ADDRESS(TIM), REGMODEL_ADDRESS(&TIM->BDTR), timer_read, NULL);
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, bus.wrong, "bus rules or select timing");
    if (!bus.shifting && !bus.stuck)
        TEST_ASSERT_EQUAL_INT_MESSAGE(-1, bus.selected, "a chip is left selected");
}

/* ---------------------------------------------------------------------------------------- tests */
static void test_requests_have_even_parity(void) {
    TEST_ASSERT_EQUAL_HEX16(0xFFFF, encoder_request(0x3FFF));
    TEST_ASSERT_EQUAL_HEX16(0x4001, encoder_request(0x0001)); /* two bits are set: even parity */
    TEST_ASSERT_EQUAL_HEX16(0xC000, encoder_request(0x0000));
    TEST_ASSERT_EQUAL_HEX16(0xFFFC, encoder_request(0x3FFC)); /* 13 ones, so parity is set */
    for (uint32_t a = 0; a < 0x4000; a++) {
        uint16_t frame = encoder_request((uint16_t)a);
        TEST_ASSERT_EQUAL_INT(0, __builtin_popcount(frame) % 2);
        TEST_ASSERT_EQUAL_HEX16(a | 1 << 14, frame & 0x7FFF);
    }
}

static void test_init_is_the_manuals_sequence(void) {
    regmodel_log(REGMODEL_ADDRESS(SPI), REGMODEL_ADDRESS(&SPI->CR2));
    encoder_init();
    /* CPHA, MSTR, BR, SSI, SSM, DFF; SPE is set last. 42 MHz / 8 = 5.25 MHz, 24 MHz / 4 = 6 MHz. */
    const uint32_t rate = BUS_HZ == 42000000 ? 2 : 1;
    const uint32_t config = 1 << 0 | 1 << 2 | rate << 3 | 1 << 8 | 1 << 9 | 1 << 11;
    EXPECT_WRITES({&SPI->CR1, 0}, {&SPI->CR2, 1 << 6}, {&SPI->CR1, config},
                  {&SPI->CR1, config | 1 << 6});
#ifndef HAL_STM32F1 /* whose pull-up of MISO is the last write */
    TEST_ASSERT_EQUAL_HEX32(1 << 2, regmodel_get(&GPIO(PORT_B)->BSRR)); /* power on */
#endif
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_SENSE, host_irq.priority[IRQ]);
    TEST_ASSERT_EQUAL_UINT(0, bus.frames);
}

static void test_the_clock_never_exceeds_six_megahertz(void) {
    for (uint32_t hz = 8000000; hz <= 90000000; hz += 1000000) {
        fake_bus_hz = hz;
        encoder_init();
        uint32_t rate = regmodel_get(&SPI->CR1) >> 3 & 7;
        TEST_ASSERT_LESS_OR_EQUAL_UINT32(6000000, hz >> (rate + 1));
        TEST_ASSERT_TRUE(rate == 0 || hz >> rate > 6000000); /* the fastest allowed divider */
    }
}

static void test_every_encoder_describes_itself(void) {
    TEST_ASSERT_EQUAL_UINT(ENCODERS, encoder_count());
    for (unsigned i = 0; i < ENCODERS; i++) {
        encoder_info_t info = encoder_info(i);
        TEST_ASSERT_EQUAL_UINT32(i == TIMER ? 65536 : 16384, info.counts);
        TEST_ASSERT_EQUAL(i != TIMER, info.absolute);
    }
    TEST_ASSERT_EQUAL_UINT32(0, encoder_info(ENCODERS).counts);
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_ABSENT, encoder_read(ENCODERS, counts));
}

static void test_start_does_not_wait(void) {
    ready();
    start_and_run(); /* a reading that nobody takes, and that must not be taken for the next one */
    bus.reads += 1000000;
    uint64_t before = bus.reads;
    unsigned frames = bus.frames;
    encoder_start();
    TEST_ASSERT_EQUAL_UINT(frames + 1, bus.frames); /* the first frame is on the line */
    TEST_ASSERT_TRUE(bus.shifting);
    TEST_ASSERT_LESS_THAN_UINT64(20, bus.reads - before); /* one pause of 350 ns */
    read_all();
    for (unsigned c = 0; c < CHIPS; c++)
        TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, status[chip_joint[c]]);
    TEST_ASSERT_TRUE(run(FRAMES));
}

/* All are asked for their angle before the first one is fetched. */
static void test_the_frames_of_a_chain(void) {
    ready();
    log_start();
    tick();
    TEST_ASSERT_EQUAL_UINT(FRAMES, bus.logged);
    for (unsigned c = 0; c < CHIPS; c++) {
        TEST_ASSERT_EQUAL_INT(chip_joint[c], bus.joint[c]);
        TEST_ASSERT_EQUAL_HEX16(0xFFFF, bus.request[c]);
        TEST_ASSERT_EQUAL_INT(chip_joint[c], bus.joint[CHIPS + c]);
        TEST_ASSERT_EQUAL_HEX16(0xFFFC, bus.request[CHIPS + c]); /* DIAAGC */
    }
}

static void test_no_reading_before_the_chip_has_said_that_it_works(void) {
    for (unsigned i = 0; i < ENCODERS; i++)
        chip[i].answer = even(7777); /* a stale angle in the chip */
    encoder_init();
    read_all();
    for (unsigned c = 0; c < CHIPS; c++)
        TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, status[chip_joint[c]]);
    tick(); /* the angle is there, but not yet the answer to DIAAGC */
    for (unsigned c = 0; c < CHIPS; c++) {
        TEST_ASSERT_EQUAL_INT(ENCODER_ERR_CORDIC, status[chip_joint[c]]);
        TEST_ASSERT_EQUAL_UINT16(42, counts[chip_joint[c]]);
    }
    tick();
    for (unsigned c = 0; c < CHIPS; c++) {
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[chip_joint[c]]);
        TEST_ASSERT_EQUAL_UINT16(chip[chip_joint[c]].angle, counts[chip_joint[c]]);
    }
}

static void test_the_angle_is_that_of_this_chain_and_given_once(void) {
    ready();
    for (unsigned i = 0; i < ENCODERS; i++)
        chip[i].angle = (uint16_t)(5000 + i);
    tick();
    for (unsigned c = 0; c < CHIPS; c++) {
        unsigned i = chip_joint[c];
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[i]);
        TEST_ASSERT_EQUAL_UINT16(5000 + i, counts[i]);
        counts[i] = 42;
        TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, encoder_read(i, &counts[i]));
        TEST_ASSERT_EQUAL_UINT16(42, counts[i]);
    }
}

static void test_every_angle_is_read_as_it_is(void) {
    ready();
    for (uint32_t a = 0; a < 16384; a++) {
        for (unsigned i = 0; i < ENCODERS; i++)
            chip[i].angle = (uint16_t)a;
        tick();
        for (unsigned c = 0; c < CHIPS; c++) {
            TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[chip_joint[c]]);
            TEST_ASSERT_EQUAL_UINT16(a, counts[chip_joint[c]]); /* also 0, a frame of zeros */
        }
    }
}

/* Runs a chain with noise on one of its frames. */
static void tick_with_noise(unsigned frame, uint16_t miso, uint16_t mosi) {
    bus.reads += 1000000;
    encoder_start();
    TEST_ASSERT_TRUE(run(frame));
    bus.miso_noise = miso;
    bus.mosi_noise = mosi;
    TEST_ASSERT_TRUE(run(FRAMES - frame));
    read_all();
}

static void test_a_flipped_bit_of_an_angle_spoils_that_reading_only(void) {
    ready();
    for (unsigned bit = 0; bit < 16; bit++) {
        for (unsigned c = 0; c < CHIPS; c++) {
            counts[chip_joint[c]] = 42;
            tick_with_noise(CHIPS + c, (uint16_t)(1u << bit), 0);
            for (unsigned k = 0; k < CHIPS; k++)
                TEST_ASSERT_EQUAL_INT(k == c ? ENCODER_ERR_PARITY : ENCODER_OK,
                                      status[chip_joint[k]]);
            TEST_ASSERT_EQUAL_UINT16(42, counts[chip_joint[c]]);
            tick();
            TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[chip_joint[c]]);
        }
    }
}

static void test_a_flipped_bit_of_a_diagnosis_spoils_nothing(void) {
    ready();
    for (unsigned bit = 0; bit < 16; bit++) {
        tick_with_noise(0, (uint16_t)(1u << bit), 0);
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]);
        tick();
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]);
    }
}

/* The chip then has not understood the request and says so in every answer until ERRFL is read. */
static void test_a_flipped_bit_of_a_request_is_reported_and_cleared(void) {
    ready();
    for (unsigned bit = 0; bit < 16; bit++) {
        for (unsigned frame = 0; frame < FRAMES; frame += CHIPS) {
            unsigned lost = 0, read = chip[FIRST].errors_read;
            tick_with_noise(frame, 0, (uint16_t)(1u << bit));
            for (unsigned k = 0; k < 5; k++) {
                lost += status[FIRST] != ENCODER_OK;
                TEST_ASSERT_TRUE(status[FIRST] == ENCODER_OK || status[FIRST] == ENCODER_ERR_FLAG);
                TEST_ASSERT_EQUAL_UINT16(chip[FIRST].angle, counts[FIRST]);
                tick();
            }
            TEST_ASSERT_EQUAL_UINT(frame == 0 ? 2 : 1, lost);
            TEST_ASSERT_EQUAL_UINT(read + 1, chip[FIRST].errors_read);
        }
    }
}

static void test_an_error_with_the_highest_angle_is_not_taken_for_an_open_line(void) {
    ready();
    chip[FIRST].angle = 0x3FFF;
    tick_with_noise(CHIPS, 0, 1);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]);
    tick(); /* the frame of the angle is 0xFFFF */
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_FLAG, status[FIRST]);
    tick();
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]);
    TEST_ASSERT_EQUAL_UINT16(0x3FFF, counts[FIRST]);
}

static void test_a_diagnosis_lasts_until_it_is_gone(void) {
    static const struct {
        uint16_t diagnosis;
        encoder_status_t status;
    } cases[] = {
        {0x0100 | 1 << 11 | 0xFF, ENCODER_ERR_MAGNET}, /* MAGL: no magnet, gain at its end */
        {0x0100 | 1 << 10, ENCODER_ERR_MAGNET},        /* MAGH */
        {0x0180 | 1 << 9, ENCODER_ERR_CORDIC},         /* COF */
        {0x0080, ENCODER_ERR_CORDIC},                  /* LF is 0: starting */
    };
    ready();
    for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        chip[LAST].diagnosis = cases[k].diagnosis;
        tick(); /* asks */
        for (unsigned n = 0; n < 3; n++) {
            counts[LAST] = 42;
            tick();
            TEST_ASSERT_EQUAL_INT(cases[k].status, status[LAST]);
            TEST_ASSERT_EQUAL_UINT16(42, counts[LAST]);
            TEST_ASSERT_EQUAL_INT(CHIPS == 1 ? cases[k].status : ENCODER_OK, status[FIRST]);
        }
        /* Noise on the diagnosis does not take it back. */
        chip[LAST].diagnosis = 0x0180;
        tick_with_noise(CHIPS - 1, 1 << 3, 0);
        TEST_ASSERT_EQUAL_INT(cases[k].status, status[LAST]);
        tick();
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[LAST]);
    }
}

/* The line dies between two chains, or after noise that the driver answers by reading ERRFL. */
static void test_a_dead_line_is_absent_and_never_an_angle(void) {
    for (unsigned ones = 0; ones < 2; ones++) {
        for (unsigned noise = 0; noise < 4; noise++) {
            bus.reads += 1000000;
            ready();
            bus.line_idle = ones ? 0xFFFF : 0;
            if (noise > 0)
                tick_with_noise(noise == 1 ? 0 : FRAMES - 1, noise == 3 ? 1 : 0, noise < 3 ? 1 : 0);
            if (noise == 1)
                tick(); /* ERRFL was requested */
            chip[LAST].gone = true;
            for (unsigned k = 0; k < 6; k++) {
                counts[LAST] = 42;
                tick();
                TEST_ASSERT_NOT_EQUAL(ENCODER_OK, status[LAST]);
                TEST_ASSERT_EQUAL_UINT16(42, counts[LAST]);
                if (k >= 2)
                    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_ABSENT, status[LAST]);
                if (CHIPS > 1 && k >= 2)
                    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]); /* the others work */
            }
            chip[LAST].gone = false; /* plugged in again */
            for (unsigned k = 0; k < 4; k++)
                tick();
            TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[LAST]);
            TEST_ASSERT_EQUAL_UINT16(chip[LAST].angle, counts[LAST]);
        }
    }
}

/* A chain that is given up at each of its frames. The angles look like a wrong magnet, and the
 * diagnoses differ from the angles: nothing may be taken for the other. */
static void test_a_chain_that_did_not_end_is_given_up(void) {
    for (unsigned done = 0; done < FRAMES; done++) {
        bus.reads += 1000000;
        for (unsigned i = 0; i < ENCODERS; i++)
            chip[i].angle = 0x0D00;
        ready();
        bus.reads += 1000000;
        encoder_start();
        TEST_ASSERT_TRUE(run(done));
        counts[LAST] = 42;
        read_all(); /* the next tick comes too early */
        TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, status[LAST]);
        TEST_ASSERT_EQUAL_UINT16(42, counts[LAST]);
        unsigned hit = chip_joint[done % CHIPS]; /* its frame is cut off */
        for (unsigned k = 0; k < 2; k++) {       /* one chain shows the flag, one clears it */
            tick();
            for (unsigned c = 0; c < CHIPS; c++)
                TEST_ASSERT_EQUAL_INT(chip_joint[c] == hit ? ENCODER_ERR_FLAG : ENCODER_OK,
                                      status[chip_joint[c]]);
        }
        for (unsigned k = 0; k < 3; k++) {
            tick();
            for (unsigned c = 0; c < CHIPS; c++) {
                TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[chip_joint[c]]);
                TEST_ASSERT_EQUAL_UINT16(0x0D00, counts[chip_joint[c]]);
            }
        }
    }
}

static void test_no_clock_is_a_timeout_and_ends(void) {
    ready();
    bus.dead = true;
    for (unsigned k = 0; k < 3; k++) {
        bus.reads += 1000000;
        uint64_t before = bus.reads;
        encoder_start();
        TEST_ASSERT_FALSE(run(1));
        counts[LAST] = 42;
        read_all();
        TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, status[LAST]);
        TEST_ASSERT_EQUAL_UINT16(42, counts[LAST]);
        TEST_ASSERT_LESS_THAN_UINT64(40, bus.reads - before); /* the tick does not wait */
    }
    bus.dead = false;
    for (unsigned k = 0; k < 4; k++)
        tick();
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[LAST]);
}

static void test_a_bus_that_stays_busy_is_a_timeout_and_ends(void) {
    ready();
    bus.stuck = true;
    bus.reads += 1000000;
    uint64_t before = bus.reads;
    encoder_start();
    TEST_ASSERT_FALSE(run(FRAMES));
    TEST_ASSERT_LESS_THAN_UINT64(300, bus.reads - before);
    read_all();
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, status[LAST]);
    bus.stuck = false;
    for (unsigned k = 0; k < 3; k++)
        tick();
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[LAST]);
}

static void test_interrupts_that_nobody_waits_for(void) {
    ready();
    unsigned frames = bus.frames;
    encoder_irq(); /* nothing has come in */
    bus.received = true;
    bus.data = even(7777);
    encoder_irq(); /* a word, but no chain */
    TEST_ASSERT_FALSE(bus.received);
    TEST_ASSERT_EQUAL_UINT(frames, bus.frames);
    read_all();
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, status[FIRST]);
    bus.reads += 1000000;
    encoder_start();
    encoder_irq(); /* the frame is still on the line */
    TEST_ASSERT_TRUE(run(FRAMES));
    read_all();
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, status[FIRST]);
    TEST_ASSERT_EQUAL_UINT16(chip[FIRST].angle, counts[FIRST]);
}

/* Noise of one bit in either direction, chains that are given up, wires that break and magnets that
 * go, at random: a reading is right, or it is none. */
static void test_at_random(void) {
    enum { TICKS = 100000 };
    unsigned good = 0;
    ready();
    srand(20);
    for (unsigned k = 0; k < TICKS; k++) {
        int what = rand() % 16;
        unsigned frame = (unsigned)rand() % FRAMES, i = chip_joint[rand() % CHIPS];
        for (unsigned n = 0; n < ENCODERS; n++) {
            chip[n].angle = (uint16_t)(rand() % 4 == 0 ? 0 : rand() & 0x3FFF);
            counts[n] = chip[n].angle;
        }
        bus.reads += 1000000;
        if (what == 0)
            chip[i].gone = !chip[i].gone;
        if (what == 1)
            bus.line_idle = (uint16_t)~bus.line_idle;
        if (what == 2)
            chip[i].diagnosis = rand() % 2 ? 0x0180 : 0x09FF;
        encoder_start();
        if (what == 3) {
            TEST_ASSERT_TRUE(run(frame));
            continue;
        }
        TEST_ASSERT_TRUE(run(frame));
        bus.miso_noise = (uint16_t)(what == 4 ? 1u << rand() % 16 : 0);
        bus.mosi_noise = (uint16_t)(what == 5 ? 1u << rand() % 16 : 0);
        TEST_ASSERT_TRUE(run(FRAMES - frame));
        read_all();
        for (unsigned c = 0; c < CHIPS; c++) {
            unsigned n = chip_joint[c];
            good += status[n] == ENCODER_OK;
            TEST_ASSERT_EQUAL_UINT16(chip[n].angle, counts[n]);
            TEST_ASSERT_FALSE(chip[n].gone && status[n] == ENCODER_OK);
        }
    }
    TEST_ASSERT_GREATER_THAN_UINT(TICKS * CHIPS / 8, good);
}

static void test_quadrature_counts_all_edges_in_a_timer(void) {
    regmodel_log(REGMODEL_ADDRESS(TIM), REGMODEL_ADDRESS(&TIM->BDTR));
    encoder_init();
    /* SMS = 3; CC1S = CC2S = 1, IC1F = IC2F = 12; no input inverted; CEN last */
    EXPECT_WRITES({&TIM->CR1, 0}, {&TIM->SMCR, 3}, {&TIM->CCMR[0], 0xC1C1}, {&TIM->CCER, 0},
                  {&TIM->ARR, 0xFFFF}, {&TIM->CR1, 1});
    TEST_ASSERT_EQUAL_HEX32(CHIPS == 1 ? 1 << 1 : 1 << 2 | 1 << 14, regmodel_get(&RCC->APB1ENR));
#ifdef HAL_STM32F1
    TEST_ASSERT_EQUAL_HEX32(0x88u << 24, regmodel_get(&GPIO(PORT_A)->CR[0]) & 0xFFu << 24);
    TEST_ASSERT_EQUAL_HEX32(1 << 7, regmodel_get(&GPIO(PORT_A)->BSRR)); /* pulled up, each */
#else
    TEST_ASSERT_EQUAL_HEX32(0xA << 12, regmodel_get(&GPIO(PORT_B)->MODER) & 0xF << 12);
    TEST_ASSERT_EQUAL_HEX32(0x22u << 24, regmodel_get(&GPIO(PORT_B)->AFR[0]) & 0xFFu << 24);
    TEST_ASSERT_EQUAL_HEX32(0x5 << 12, regmodel_get(&GPIO(PORT_B)->PUPDR) & 0xF << 12);
#endif
    /* Backwards over 0: the timer wraps to its top, which the reading shows. */
    static const uint16_t way[] = {2, 1, 0, 0xFFFF, 0xFFFE, 0xFFFF, 0, 1};
    for (unsigned k = 0; k < sizeof way / sizeof way[0]; k++) {
        regmodel_set(&TIM->CNT, way[k]);
        counts[TIMER] = 42;
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, encoder_read(TIMER, &counts[TIMER]));
        TEST_ASSERT_EQUAL_HEX16(way[k], counts[TIMER]);
    }
}

static void test_a_timer_that_is_not_there(void) {
    timer_there = false;
    encoder_init();
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_ABSENT, encoder_read(TIMER, &counts[TIMER]));
    TEST_ASSERT_EQUAL_UINT16(42, counts[TIMER]);
}

/* The pauses alone, as the model counts them, are part of the time, and the frames on the wire: a
 * chain that has not ended when the next tick begins gives no reading. */
static void test_the_time_that_a_chain_takes(void) {
    ready();
    bus.reads += 1000000;
    uint64_t before = bus.reads;
    encoder_start();
    TEST_ASSERT_TRUE(run(FRAMES));
    uint64_t on_bus_ns = (bus.reads - before - 100 * FRAMES) * 2 * 1000000000 / BUS_HZ;
    on_bus_ns += FRAMES * 16ull * (BUS_HZ == 42000000 ? 8 : 4) * 1000000000 / BUS_HZ;
    TEST_ASSERT_GREATER_THAN_UINT64(on_bus_ns, encoder_busy_ns());
    TEST_ASSERT_LESS_THAN_UINT64(on_bus_ns + FRAMES * 400ull * 1000000000 / CORE_HZ,
                                 encoder_busy_ns());
    read_all();
}

TEST_LIST_BEGIN
TEST(test_requests_have_even_parity)
TEST(test_init_is_the_manuals_sequence)
TEST(test_the_clock_never_exceeds_six_megahertz)
TEST(test_every_encoder_describes_itself)
TEST(test_start_does_not_wait)
TEST(test_the_frames_of_a_chain)
TEST(test_no_reading_before_the_chip_has_said_that_it_works)
TEST(test_the_angle_is_that_of_this_chain_and_given_once)
TEST(test_every_angle_is_read_as_it_is)
TEST(test_a_flipped_bit_of_an_angle_spoils_that_reading_only)
TEST(test_a_flipped_bit_of_a_diagnosis_spoils_nothing)
TEST(test_a_flipped_bit_of_a_request_is_reported_and_cleared)
TEST(test_an_error_with_the_highest_angle_is_not_taken_for_an_open_line)
TEST(test_a_diagnosis_lasts_until_it_is_gone)
TEST(test_a_dead_line_is_absent_and_never_an_angle)
TEST(test_a_chain_that_did_not_end_is_given_up)
TEST(test_no_clock_is_a_timeout_and_ends)
TEST(test_a_bus_that_stays_busy_is_a_timeout_and_ends)
TEST(test_interrupts_that_nobody_waits_for)
TEST(test_at_random)
TEST(test_quadrature_counts_all_edges_in_a_timer)
TEST(test_a_timer_that_is_not_there)
TEST(test_the_time_that_a_chain_takes)
TEST_LIST_END
