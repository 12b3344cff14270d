/*
 * Tests the encoder driver with a model of the SPI bus and of AS5047P chips on it. As in the data
 * sheet, the answer comes one frame late, parity is even, reading ERRFL clears the error flag, and
 * the select timing is checked.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/encoder.h"
#include "hal/stm32/board.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

enum { ENCODERS = 2, BUS_HZ = 42000000 };

const board_t board = {
    .encoder = {.regs = SPI2,
                .clock = RCC_SPI2,
                .sck = PIN(B, 10),
                .miso = PIN(C, 2),
                .mosi = PIN(C, 3),
                .af = 5,
                .power = PIN(B, 2),
                .count = ENCODERS,
                .select = {PIN(C, 4), PIN(C, 5)}},
};

/* --------------------------------------------------------------- model of the bus and the chips */
typedef struct {
    uint16_t angle, answer; /* answer: word that the next frame returns */
    bool error;
    bool garble; /* the chip flips a bit of its frame */
    bool gone;   /* chip absent; the pull-up sets the line */
    uint16_t diagnosis;
    unsigned errors_read;
    uint64_t released; /* bus time at which the chip was last deselected */
} chip_t;

static chip_t chip[ENCODERS];
static struct {
    int selected; /* -1: none */
    bool dead;    /* the bus has no clock */
    bool received;
    unsigned busy; /* number of status reads that still show BSY */
    uint16_t data, line_idle;
    unsigned frames;
    uint16_t last_request;
    unsigned wrong; /* number of broken timing or bus rules */
    uint64_t reads; /* all reads of the bus, at least two bus cycles each; measures time */
    uint64_t selected_at;
} bus;

static uint16_t even(uint16_t value15) {
    return (uint16_t)(value15 | (__builtin_popcount(value15) % 2) << 15);
}

/* The data sheet requires 350 ns before the first clock edge and between frames (t_L, t_CSn). */
static void check_time(uint64_t since) {
    bus.wrong += (bus.reads - since) * 2 * 1000000000 < (uint64_t)350 * BUS_HZ;
}

static void execute(chip_t *c, uint16_t request) {
    uint16_t address = request & 0x3FFF, value = 0;
    bool known = address == 0x3FFF || address == 0x3FFC || address == 0x0001;
    if (!known || __builtin_popcount(request) % 2 != 0 || (request & 1 << 14) == 0) {
        c->error = true;
    } else if (address == 0x3FFF) {
        value = c->angle;
    } else if (address == 0x3FFC) {
        value = c->diagnosis;
    } else {
        value = c->error ? 4 : 0;
        c->error = false;
        c->errors_read++;
    }
    c->answer = even((uint16_t)(value | (c->error ? 1 << 14 : 0)));
}

static uint32_t spi_read(uint32_t address, uint32_t stored) {
    bus.reads++;
    if (address == REGMODEL_ADDRESS(&SPI2->SR)) {
        uint32_t status =
            (bus.received ? SPI_SR_RXNE : 0) | SPI_SR_TXE | (bus.busy > 0 ? SPI_SR_BSY : 0);
        bus.busy -= bus.busy > 0 && !bus.dead;
        return status;
    }
    if (address == REGMODEL_ADDRESS(&SPI2->DR)) {
        bus.received = false;
        return bus.data;
    }
    return stored;
}

static uint32_t spi_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == REGMODEL_ADDRESS(&SPI2->DR)) {
        bus.frames++;
        bus.last_request = (uint16_t)value;
        bus.wrong += bus.selected < 0;
        check_time(bus.selected_at);
        bus.busy = 4; /* BSY ends half a clock period after the word */
        if (!bus.dead) {
            chip_t *c = bus.selected < 0 ? NULL : &chip[bus.selected];
            uint16_t word = c == NULL || c->gone ? bus.line_idle : c->answer;
            if (c != NULL && !c->gone) {
                word ^= c->garble ? 1 << 5 : 0;
                execute(c, (uint16_t)value);
            }
            /* After an overrun the unread word stays. */
            bus.data = bus.received ? bus.data : word;
            bus.received = true;
        }
    }
    return value;
}

static uint32_t select_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)address;
    (void)width;
    (void)stored;
    for (int i = 0; i < ENCODERS; i++) {
        if (value & 1u << (4 + i + 16)) {   /* low level: selected */
            bus.wrong += bus.selected >= 0; /* two chips are selected */
            check_time(chip[i].released);
            bus.selected = i;
            bus.selected_at = bus.reads;
        }
        if (value & 1u << (4 + i)) {
            bus.wrong += bus.selected == i && bus.busy > 0 &&
                         !bus.dead; /* deselected in the middle of a frame */
            if (bus.selected == i) {
                bus.selected = -1;
                chip[i].released = bus.reads;
            }
        }
    }
    return value;
}

/* Lets enough time pass between two calls of the driver. */
static void time_passes(void) {
    bus.reads += 1000000;
}

static encoder_status_t read_encoder(unsigned encoder, uint16_t *counts) {
    time_passes();
    return encoder_read(encoder, counts);
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    memset(&bus, 0, sizeof bus);
    memset(chip, 0, sizeof chip);
    bus.selected = -1;
    bus.line_idle = 0xFFFF;
    bus.reads = 1000000;
    for (unsigned i = 0; i < ENCODERS; i++) {
        chip[i].diagnosis = 0x0180; /* offset loop finished, gain 128 */
        chip[i].angle = (uint16_t)(1000 * (i + 1));
    }
    fake_clock = (clock_info_t){.core_hz = 168000000};
    fake_bus_hz = BUS_HZ;
    regmodel_device(REGMODEL_ADDRESS(SPI2), REGMODEL_ADDRESS(&SPI2->DR), spi_read, spi_write);
    regmodel_device(REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR), REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR),
                    NULL, select_write);
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, bus.wrong, "bus rules or select timing");
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
    regmodel_log(REGMODEL_ADDRESS(SPI2), REGMODEL_ADDRESS(&SPI2->CR2));
    encoder_init();
    /* CPHA, MSTR, bus / 8 = 5.25 MHz (BR = 2; bus / 4 would be 10.5 MHz), SSI, SSM, DFF; SPE is set
     * last. */
    const uint32_t config = 1 << 0 | 1 << 2 | 2 << 3 | 1 << 8 | 1 << 9 | 1 << 11;
    EXPECT_WRITES({&SPI2->CR1, 0}, {&SPI2->CR2, 0}, {&SPI2->CR1, config},
                  {&SPI2->CR1, config | 1 << 6});
    TEST_ASSERT_EQUAL_HEX32(1 << 14, regmodel_get(&RCC->APB1ENR));
    TEST_ASSERT_EQUAL_HEX32(1 << 2, regmodel_get(&GPIO(PORT_B)->BSRR)); /* power on */
    TEST_ASSERT_EQUAL_UINT(ENCODERS, bus.frames); /* init sends one request to each chip */
}

static void test_the_clock_never_exceeds_ten_megahertz(void) {
    for (uint32_t hz = 8000000; hz <= 90000000; hz += 1000000) {
        fake_bus_hz = hz;
        time_passes();
        encoder_init();
        uint32_t rate = regmodel_get(&SPI2->CR1) >> 3 & 7;
        TEST_ASSERT_LESS_OR_EQUAL_UINT32(10000000, hz >> (rate + 1));
        TEST_ASSERT_TRUE(rate == 0 || hz >> rate > 10000000); /* the fastest allowed divider */
    }
    bus.wrong = 0; /* the timing checks assume BUS_HZ */
}

static void test_the_angle_is_the_one_before(void) {
    uint16_t counts = 0;
    encoder_init();
    chip[0].angle = 5000;
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(1000, counts);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(5000, counts);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(1, &counts));
    TEST_ASSERT_EQUAL_UINT16(2000, counts);
    TEST_ASSERT_EQUAL_HEX16(0xFFFF, bus.last_request);
}

static void test_every_angle_is_read_as_it_is(void) {
    uint16_t counts = 0;
    encoder_init();
    for (uint32_t a = 0; a < ENCODER_COUNTS; a++) {
        chip[0].angle = (uint16_t)a;
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts)); /* the previous answer */
        TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
        TEST_ASSERT_EQUAL_UINT16(a, counts); /* also 0, whose frame is all zeros */
    }
}

static void test_a_flipped_bit_is_caught_by_parity(void) {
    uint16_t counts = 42;
    encoder_init();
    chip[0].garble = true;
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_PARITY, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(42, counts);
    chip[0].garble = false;
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(1000, counts);
}

static void test_the_error_flag_is_reported_and_cleared(void) {
    uint16_t counts = 42;
    encoder_init();
    chip[0].error = true;
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts)); /* requested before the error */
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_FLAG, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT(1, chip[0].errors_read);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(1000, counts);
}

static void test_an_error_with_the_highest_angle_is_not_taken_for_an_open_line(void) {
    uint16_t counts = 42;
    chip[0].angle = 0x3FFF;
    chip[0].error = true;
    encoder_init(); /* the answer is 0xFFFF */
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_FLAG, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(0x3FFF, counts);
}

static void test_a_dead_line_is_absent(void) {
    uint16_t counts = 42;
    encoder_init();
    chip[1].gone = true;
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_ABSENT, read_encoder(1, &counts)); /* all ones */
    bus.line_idle = 0;
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_ABSENT,
                          read_encoder(1, &counts)); /* the line reads all zeros */
    TEST_ASSERT_EQUAL_UINT16(42, counts);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts)); /* the other encoder works */
}

static void test_no_clock_is_a_timeout_and_ends(void) {
    uint16_t counts = 42;
    encoder_init();
    time_passes();
    bus.dead = true;
    uint64_t before = bus.reads;
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_TIMEOUT, encoder_read(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(42, counts);
    /* The tick waits for the driver, so the time is limited: 500 reads of two bus cycles take 24
     * us. */
    TEST_ASSERT_LESS_THAN_UINT64(500, bus.reads - before);
}

static void test_a_late_word_is_not_taken_for_an_answer(void) {
    uint16_t counts = 42;
    encoder_init();
    bus.received = true; /* arrived after the driver had given up */
    bus.data = even(7777);
    TEST_ASSERT_EQUAL_INT(ENCODER_OK, read_encoder(0, &counts));
    TEST_ASSERT_EQUAL_UINT16(1000, counts);
}

static void test_an_encoder_that_is_not_there(void) {
    uint16_t counts = 42;
    TEST_ASSERT_EQUAL_UINT(ENCODERS, encoder_count());
    TEST_ASSERT_EQUAL_INT(ENCODER_ERR_ABSENT, encoder_read(ENCODERS, &counts));
    TEST_ASSERT_EQUAL_UINT(0, bus.frames);
}

TEST_LIST_BEGIN
TEST(test_requests_have_even_parity)
TEST(test_init_is_the_manuals_sequence)
TEST(test_the_clock_never_exceeds_ten_megahertz)
TEST(test_the_angle_is_the_one_before)
TEST(test_every_angle_is_read_as_it_is)
TEST(test_a_flipped_bit_is_caught_by_parity)
TEST(test_the_error_flag_is_reported_and_cleared)
TEST(test_an_error_with_the_highest_angle_is_not_taken_for_an_open_line)
TEST(test_a_dead_line_is_absent)
TEST(test_no_clock_is_a_timeout_and_ends)
TEST(test_a_late_word_is_not_taken_for_an_answer)
TEST(test_an_encoder_that_is_not_there)
TEST_LIST_END
