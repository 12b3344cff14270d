/*
 * Tests the watchdog with a model of the IWDG and of TIM6 in simulated time. PR and RLR can be
 * written only after 0x5555 and while no update is under way; an update takes up to 6 steps of the
 * prescaler, and a feed meanwhile takes the old value or the new one. The prescaler runs on when
 * the counter is fed, so a reload of n bites at one of the edges n + 1 and n + 2 after the feed.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/latch.h"
#include "hal/stm32/board.h"
#include "hal/stm32/handlers.h"
#include "hal/watchdog.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

#ifdef HAL_STM32F1
enum { LSI_MIN = 30000, LSI_MAX = 60000, TIMER_CLOCK = 24000000, PRESCALER = 5 };
enum { RELOAD_OFF = 2344, RELOAD_ON = 9, FREEZE = 1 << 8 | 1 << 19 };
#else
enum { LSI_MIN = 17000, LSI_MAX = 47000, TIMER_CLOCK = 84000000, PRESCALER = 4 };
enum { RELOAD_OFF = 3672, RELOAD_ON = 11, FREEZE = 1 << 12 | 1 << 4 };
#endif
static const uint32_t lsi_hz[] = {LSI_MIN, 32000, LSI_MAX};
enum { LSI_COUNT = 3, DEATHS = 1000 };

const board_t board = {.lsi_min_hz = LSI_MIN, .lsi_max_hz = LSI_MAX};

/* All times in nanoseconds. */
typedef uint64_t ns_t;
#define MS(ms) ((ns_t)(ms)*1000000)
#define NEVER  UINT64_MAX

static struct {
    ns_t now, per_poll; /* per_poll: time that one read of SR takes */
    uint32_t hz;        /* of the oscillator */
    ns_t phase;         /* an edge of the prescaler */
    bool started, open, stuck;
    uint32_t prescaler, reload, old_reload; /* reload: as written; old_reload: during an update */
    ns_t updated_at;                        /* end of the update */
    ns_t fed_at, bites_at;
    unsigned fed, extra; /* extra: 1 or 2 edges more than the reload */
} dog;

static struct {
    bool tick_dead, irqs_dead, background_dead;
    uint32_t rate_hz;
    ns_t next_tick, next_timer, last_tick, timer_error_ppm;
    bool outputs, armed;
    unsigned lose; /* ticks that do not come */
} sim;

static uint32_t latched;
static unsigned latch_calls;
static ns_t latched_at;

void latch_set(uint32_t cause) {
    latched |= cause;
    latch_calls++;
    latched_at = dog.now;
}

static uint32_t random_word(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static ns_t random_below(ns_t limit) {
    return ((ns_t)random_word() << 32 | random_word()) % limit;
}

static ns_t step(void) {
    return (4ull << dog.prescaler) * 1000000000ull / dog.hz;
}

static bool updating(void) {
    return dog.stuck || dog.now < dog.updated_at;
}

static void feed(void) {
    uint32_t value = updating() && random_word() % 2 ? dog.old_reload : dog.reload;
    /* The first edge after now is less than a step away. */
    ns_t first = dog.now + step() - (dog.now - dog.phase) % step();
    dog.fed++;
    dog.fed_at = dog.now;
    dog.bites_at = dog.started ? first + (value + dog.extra - 1) * step() : NEVER;
}

static uint32_t dog_read(uint32_t address, uint32_t stored) {
    (void)stored;
    if (address == REGMODEL_ADDRESS(&IWDG->SR)) {
        dog.now += dog.per_poll;
        return updating() ? IWDG_SR_RVU : 0;
    }
    return address == REGMODEL_ADDRESS(&IWDG->PR)    ? dog.prescaler
           : address == REGMODEL_ADDRESS(&IWDG->RLR) ? dog.reload
                                                     : 0;
}

static uint32_t dog_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == REGMODEL_ADDRESS(&IWDG->KR)) {
        dog.open = value == 0x5555; /* any other key closes the registers */
        dog.started = dog.started || value == 0xCCCC;
        if (value == 0xAAAA)
            feed();
        return 0;
    }
    if (!dog.open)
        return 0;
    if (address == REGMODEL_ADDRESS(&IWDG->PR))
        dog.prescaler = value;
    if (address == REGMODEL_ADDRESS(&IWDG->RLR)) {
        TEST_ASSERT_FALSE(updating()); /* the manual forbids it */
        dog.old_reload = dog.reload;
        dog.reload = value;
        dog.updated_at = dog.now + 1 + random_below(6 * step());
    }
    return 0;
}

static ns_t timer_period(void) {
    uint64_t counts = (uint64_t)(regmodel_get(&TIM6->PSC) + 1) * (regmodel_get(&TIM6->ARR) + 1);
    return counts * (1000000000ull + sim.timer_error_ppm * 1000) / TIMER_CLOCK;
}

/* Advances to `until`, or to the bite if that comes first; returns true unless it bit. */
static bool run(ns_t until) {
    for (;;) {
        ns_t tick = sim.tick_dead || sim.irqs_dead ? NEVER : sim.next_tick;
        ns_t timer = sim.irqs_dead ? NEVER : sim.next_timer;
        ns_t next = tick < timer ? tick : timer;
        if (dog.bites_at <= next && dog.bites_at <= until) {
            dog.now = dog.bites_at;
            return false;
        }
        if (next > until) {
            dog.now = until;
            return true;
        }
        dog.now = next;
        if (next == timer) {
            sim.next_timer += timer_period();
            watchdog_irq();
            continue;
        }
        sim.next_tick += 1000000000u / sim.rate_hz;
        if (sim.lose > 0) {
            sim.lose--;
            continue;
        }
        sim.last_tick = dog.now;
        sim.armed = watchdog_tick(sim.outputs);
        if (!sim.background_dead)
            watchdog_feed();
    }
}

/* Starts the watchdog at a random phase and lets it tick for a while with the outputs off. */
static void start(uint32_t hz, uint32_t rate_hz) {
    memset(&dog, 0, sizeof dog);
    memset(&sim, 0, sizeof sim);
    latched = latch_calls = 0;
    dog.hz = hz;
    dog.reload = 0xFFF;
    dog.bites_at = NEVER;
    dog.extra = 1 + random_word() % 2;
    dog.now = MS(1000);
    dog.phase = random_below(MS(15));
    dog.per_poll = 4000; /* four cycles of a core at 1 MHz */
    sim.rate_hz = rate_hz;
    TEST_ASSERT_EQUAL_INT(WATCHDOG_OK, watchdog_start());
    dog.per_poll = 0;
    sim.next_timer = dog.now + timer_period();
    sim.next_tick = dog.now + random_below(1000000000u / rate_hz);
    TEST_ASSERT_TRUE(run(dog.now + random_below(MS(100))));
}

/* Switches the outputs on when the driver allows it, which it does within 40 ms. */
static void switch_on(void) {
    ns_t asked = dog.now + 1000000000u / sim.rate_hz;
    sim.outputs = true;
    while (!sim.armed && dog.now < asked + MS(100))
        TEST_ASSERT_TRUE(run(dog.now + 1000000u / 4));
    TEST_ASSERT_TRUE(sim.armed);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(asked + MS(40) + 1000000000u / sim.rate_hz, dog.now);
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    fake_clock = (clock_info_t){.core_hz = 1000000};
    fake_timer_hz = TIMER_CLOCK;
    regmodel_device(REGMODEL_ADDRESS(IWDG), REGMODEL_ADDRESS(&IWDG->SR), dog_read, dog_write);
}

static void test_start_is_the_manuals_sequence(void) {
    regmodel_log(REGMODEL_ADDRESS(IWDG), REGMODEL_ADDRESS(&IWDG->SR));
    regmodel_log(REGMODEL_ADDRESS(TIM6), REGMODEL_ADDRESS(&TIM6->ARR));
    memset(&dog, 0, sizeof dog);
    dog.hz = 32000;
    dog.per_poll = 4000;
    dog.extra = 1;
    TEST_ASSERT_EQUAL_INT(WATCHDOG_OK, watchdog_start());
    EXPECT_WRITES({&IWDG->KR, 0xCCCC}, {&IWDG->KR, 0x5555}, {&IWDG->PR, PRESCALER},
                  {&IWDG->RLR, RELOAD_OFF}, {&IWDG->KR, 0xAAAA}, {&TIM6->CR1, TIM_CR1_URS},
                  {&TIM6->PSC, TIMER_CLOCK / 10000 - 1}, {&TIM6->ARR, 49}, {&TIM6->EGR, TIM_EGR_UG},
                  {&TIM6->SR, 0}, {&TIM6->DIER, TIM_DIER_UIE},
                  {&TIM6->CR1, TIM_CR1_URS | TIM_CR1_CEN});
    TEST_ASSERT_FALSE(updating()); /* fed only after the values have taken effect */
    TEST_ASSERT_EQUAL_HEX32(FREEZE, regmodel_get(DBGMCU_FREEZE_WATCHDOG)); /* halts with the core */
    TEST_ASSERT_EQUAL_HEX32(1 << 4, regmodel_get(&RCC->APB1ENR));
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_BREAK, host_irq.priority[54]);
    TEST_ASSERT_TRUE(watchdog_running());
}

static uint32_t random_rate(void) {
    static const uint32_t rates[] = {100, 333, 1000, 4000};
    return rates[random_word() % 4];
}

/* The interrupt of the timer lives: it latches, and then the chip resets as well. */
static void test_a_tick_that_stops_switches_the_outputs_off(void) {
    for (unsigned i = 0; i < LSI_COUNT * DEATHS; i++) {
        start(lsi_hz[i % LSI_COUNT], random_rate());
        sim.timer_error_ppm = i % 2 ? 0 : 86957; /* an internal oscillator that is 8 % slow */
        switch_on();
        TEST_ASSERT_TRUE(run(dog.now + random_below(MS(100))));
        TEST_ASSERT_EQUAL_UINT(0, latch_calls);
        TEST_ASSERT_EQUAL_UINT32(RELOAD_ON, dog.reload);
        sim.tick_dead = true;
        TEST_ASSERT_FALSE(run(dog.now + MS(200)));
        TEST_ASSERT_EQUAL_UINT(1, latch_calls);
        TEST_ASSERT_EQUAL_HEX32(LATCH_TICK, latched);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(sim.last_tick + MS(WATCHDOG_TICK_MS), latched_at);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(sim.last_tick + (sim.timer_error_ppm ? MS(50) : MS(45)),
                                         latched_at);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(latched_at + MS(WATCHDOG_ON_MS), dog.now);
    }
}

static void test_dead_interrupts_reset_the_chip(void) {
    ns_t slowest = 0;
    for (unsigned i = 0; i < LSI_COUNT * DEATHS; i++) {
        start(lsi_hz[i % LSI_COUNT], random_rate());
        switch_on();
        TEST_ASSERT_TRUE(run(dog.now + random_below(MS(100))));
        ns_t died = dog.now;
        sim.irqs_dead = true;
        TEST_ASSERT_FALSE(run(died + MS(100)));
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(died + MS(WATCHDOG_ON_MS), dog.now);
        TEST_ASSERT_EQUAL_UINT(0, latch_calls);
        slowest = dog.now - died > slowest ? dog.now - died : slowest;
    }
    harness_note_number("slowest reset after dead interrupts, us: ", (int64_t)(slowest / 1000));
}

/* Two lost ticks at 100 Hz are 30 ms between ticks. */
static void test_lost_ticks_do_not_trip_it(void) {
    for (unsigned i = 0; i < LSI_COUNT; i++) {
        start(lsi_hz[i], 100);
        sim.background_dead = true; /* only the timer feeds */
        switch_on();
        for (unsigned k = 0; k < 1000; k++) {
            sim.lose = 2;
            TEST_ASSERT_TRUE(run(dog.now + MS(30) + random_below(MS(20))));
        }
        TEST_ASSERT_EQUAL_UINT(0, latch_calls);
    }
}

/* 2.5 periods of the timer pass before the earliest bite. */
static void test_one_late_interrupt_of_the_timer_does_not_reset(void) {
    for (unsigned i = 0; i < DEATHS; i++) {
        start(LSI_MAX, 1000);
        sim.background_dead = true;
        switch_on();
        TEST_ASSERT_TRUE(run(dog.now + random_below(MS(50))));
        sim.next_timer += timer_period() * 3 / 2;
        TEST_ASSERT_TRUE(run(dog.now + MS(50)));
    }
}

static void test_the_outputs_off_leave_time_for_an_erase(void) {
    for (unsigned i = 0; i < LSI_COUNT; i++) {
        start(lsi_hz[i], 1000);
        ns_t fed = dog.fed_at;
        sim.irqs_dead = true;
        TEST_ASSERT_TRUE(run(fed + MS(WATCHDOG_OFF_MS)));
        TEST_ASSERT_FALSE(run(fed + MS(14000)));
        TEST_ASSERT_EQUAL_UINT(0, latch_calls);
    }
}

/* The timer feeds until the long time is in effect; the background may be busy meanwhile. */
static void test_the_change_to_off_needs_no_background(void) {
    for (unsigned i = 0; i < LSI_COUNT * DEATHS; i++) {
        start(lsi_hz[i % LSI_COUNT], random_rate());
        switch_on();
        TEST_ASSERT_TRUE(run(dog.now + random_below(MS(50))));
        sim.background_dead = true;
        sim.outputs = false;
        TEST_ASSERT_TRUE(run(dog.now + MS(100)));
        TEST_ASSERT_FALSE(sim.armed);
        unsigned fed = dog.fed;
        TEST_ASSERT_TRUE(run(dog.now + MS(WATCHDOG_OFF_MS - 110)));
        TEST_ASSERT_EQUAL_UINT(fed, dog.fed);
        TEST_ASSERT_FALSE(run(dog.now + MS(10000))); /* a dead background is found */
        TEST_ASSERT_EQUAL_UINT(0, latch_calls);
    }
}

static void test_it_goes_on_and_off_quickly(void) {
    start(LSI_MIN, 1000);
    for (unsigned i = 0; i < 2000; i++) {
        sim.outputs = random_word() % 2;
        TEST_ASSERT_TRUE(run(dog.now + random_below(MS(40))));
    }
    switch_on();
    sim.irqs_dead = true;
    TEST_ASSERT_FALSE(run(dog.now + MS(WATCHDOG_ON_MS)));
}

static void test_an_update_that_never_ends_keeps_the_outputs_off(void) {
    start(LSI_MIN, 1000);
    sim.outputs = true;
    TEST_ASSERT_TRUE(run(dog.now + 1000000));
    dog.stuck = true;
    sim.armed = false;
    TEST_ASSERT_TRUE(run(dog.now + MS(1000)));
    TEST_ASSERT_FALSE(sim.armed);
}

static void test_a_dead_tick_is_not_fed_by_anyone(void) {
    start(32000, 1000);
    switch_on();
    sim.tick_dead = true;
    TEST_ASSERT_TRUE(run(sim.last_tick + MS(46)));
    TEST_ASSERT_EQUAL_HEX32(LATCH_TICK, latched);
    sim.tick_dead = false; /* it comes back, and so does the background */
    unsigned fed = dog.fed;
    TEST_ASSERT_FALSE(run(dog.now + MS(50)));
    TEST_ASSERT_EQUAL_UINT(fed, dog.fed);
    TEST_ASSERT_EQUAL_UINT(1, latch_calls);
}

static void test_updates_that_never_end_are_reported(void) {
    memset(&dog, 0, sizeof dog);
    dog.hz = 32000;
    dog.stuck = true;
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_TIMEOUT, watchdog_start());
    /* The driver waits 100 ms, on a 1 MHz core with four cycles per poll. */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(25000, regmodel_read_count(&IWDG->SR));
    TEST_ASSERT_FALSE(watchdog_running());
    watchdog_feed(); /* what has started is still fed, or the board would reset for ever */
    TEST_ASSERT_EQUAL_UINT(1, dog.fed);
}

static void test_the_emulators_absence_is_reported(void) {
    regmodel_absent(REGMODEL_ADDRESS(TIM6), REGMODEL_ADDRESS(&TIM6->OR));
    memset(&dog, 0, sizeof dog);
    dog.hz = 32000;
    dog.per_poll = 4000;
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_TIMEOUT, watchdog_start());
    TEST_ASSERT_FALSE(watchdog_running());
    TEST_ASSERT_FALSE(watchdog_tick(true));
    regmodel_absent(REGMODEL_ADDRESS(IWDG), REGMODEL_ADDRESS(&IWDG->SR));
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_TIMEOUT, watchdog_start());
    TEST_ASSERT_FALSE(watchdog_running());
}

TEST_LIST_BEGIN
TEST(test_start_is_the_manuals_sequence)
TEST(test_a_tick_that_stops_switches_the_outputs_off)
TEST(test_dead_interrupts_reset_the_chip)
TEST(test_lost_ticks_do_not_trip_it)
TEST(test_one_late_interrupt_of_the_timer_does_not_reset)
TEST(test_the_outputs_off_leave_time_for_an_erase)
TEST(test_the_change_to_off_needs_no_background)
TEST(test_it_goes_on_and_off_quickly)
TEST(test_an_update_that_never_ends_keeps_the_outputs_off)
TEST(test_a_dead_tick_is_not_fed_by_anyone)
TEST(test_updates_that_never_end_are_reported)
TEST(test_the_emulators_absence_is_reported)
TEST_LIST_END
