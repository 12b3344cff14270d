/* The timers and the independent watchdog of the chip model (RM0390 chapters 16 to 19 and 20). */
#include "test/support/hal/chip_inside.h"

#include <string.h>

#include "test/support/hal/regmodel.h"

enum { TIMERS = 8, CHANNELS = 4, FULL16 = 0xFFFF };
enum { CR1_UDIS = 1 << 1, CR1_OPM = 1 << 3, EGR_BG = 1 << 7, CCMR_OCPE = 1 << 3, SMCR_SMS = 7 };
enum { BDTR_AOE = 1 << 14, BDTR_LOCK = 3 << 8 };

typedef struct {
    tim_t *regs;
    rcc_bit_t clock;
    int update_irq, break_irq; /* break_irq -1: a timer without BKIN */
    bool wide;                 /* 32 bits */
    bool basic;                /* no channels */
} timer_info_t;

/* TIM1 to TIM8; index 0 is TIM1. */
#define TIMER_AT(address) REG_BLOCK(tim_t, address)
static const timer_info_t info[TIMERS] = {
    {TIMER_AT(0x40010000), RCC_BIT(RCC_BUS_APB2, 0), 25, 24, false, false},
    {TIMER_AT(0x40000000), RCC_BIT(RCC_BUS_APB1, 0), 28, -1, true, false},
    {TIMER_AT(0x40000400), RCC_BIT(RCC_BUS_APB1, 1), 29, -1, false, false},
    {TIMER_AT(0x40000800), RCC_BIT(RCC_BUS_APB1, 2), 30, -1, false, false},
    {TIMER_AT(0x40000C00), RCC_BIT(RCC_BUS_APB1, 3), 50, -1, true, false},
    {TIMER_AT(0x40001000), RCC_BIT(RCC_BUS_APB1, 4), 54, -1, false, true},
    {TIMER_AT(0x40001400), RCC_BIT(RCC_BUS_APB1, 5), 55, -1, false, true},
    {TIMER_AT(0x40010400), RCC_BIT(RCC_BUS_APB2, 1), 44, 43, false, false},
};

static struct {
    tim_t r;
    /* The values that the counter uses; the registers are their preload. */
    uint32_t arr, psc, ccr[CHANNELS];
    uint64_t zero; /* time at which the counter was 0, if it runs */
    uint32_t held; /* count, if it does not run */
    int32_t world; /* encoder mode: count of the encoder */
} timer[TIMERS];

static uint32_t full(unsigned i) {
    return info[i].wide ? UINT32_MAX : FULL16;
}

static bool counts(unsigned i) {
    return (timer[i].r.CR1 & TIM_CR1_CEN) != 0 && (timer[i].r.SMCR & SMCR_SMS) == 0;
}

/* ns of this many steps of the counter. */
static uint64_t steps_ns(unsigned i, uint64_t steps) {
    const uint32_t hz = chip_timer_hz(info[i].clock);
    const uint64_t cycles = steps * (timer[i].psc + 1);
    return cycles / hz * 1000000000u + cycles % hz * 1000000000u / hz;
}

static uint32_t count_at(unsigned i, uint64_t ns) {
    const uint32_t hz = chip_timer_hz(info[i].clock);
    const uint64_t cycles = ns / 1000000000u * hz + ns % 1000000000u * hz / 1000000000u;
    return (uint32_t)(cycles / (timer[i].psc + 1));
}

static uint64_t period_ns(unsigned i) {
    return steps_ns(i, (uint64_t)timer[i].arr + 1);
}

static void load_shadows(unsigned i) {
    timer[i].arr = timer[i].r.ARR;
    timer[i].psc = timer[i].r.PSC;
    for (unsigned k = 0; k < CHANNELS; k++)
        timer[i].ccr[k] = timer[i].r.CCR[k];
}

/* Takes up the periods that have ended. */
static void follow(unsigned i) {
    if (!counts(i) || chip_now() < timer[i].zero)
        return;
    const uint64_t period = period_ns(i), gone = (chip_now() - timer[i].zero) / period;
    if (gone == 0)
        return;
    timer[i].zero += gone * period;
    if ((timer[i].r.CR1 & CR1_UDIS) == 0) {
        load_shadows(i);
        timer[i].r.SR |= TIM_SR_UIF;
    }
    if (timer[i].r.CR1 & CR1_OPM) {
        timer[i].r.CR1 &= ~(uint32_t)TIM_CR1_CEN;
        timer[i].held = 0;
    }
}

static uint32_t count_of(unsigned i) {
    if (timer[i].r.SMCR & SMCR_SMS)
        return timer[i].r.CR1 & TIM_CR1_CEN
                   ? (uint32_t)((uint32_t)timer[i].world % ((uint64_t)timer[i].arr + 1))
                   : timer[i].held;
    return counts(i) ? count_at(i, chip_now() - timer[i].zero) : timer[i].held;
}

static void set_count(unsigned i, uint32_t count) {
    timer[i].held = count;
    if (counts(i))
        timer[i].zero = chip_now() - steps_ns(i, count);
}

/* ---------------------------------------------------------------------------------------- break */

static int motor_timer_of(unsigned i) {
    for (unsigned k = 0; k < board.motor.timer_count; k++)
        if (board.motor.timers[k].regs == info[i].regs)
            return (int)k;
    return -1;
}

static bool break_active(unsigned i) {
    const int k = motor_timer_of(i);
    if (k < 0 || (timer[i].r.BDTR & TIM_BDTR_BKE) == 0)
        return false;
    const board_motor_timer_t *t = &board.motor.timers[k];
    const bool wired =
        chip_pin_mode(t->break_pin) == PIN_ALTERNATE && chip_pin_af(t->break_pin) == t->break_af;
    const bool level = wired && chip_pin_level(t->break_pin);
    return level == ((timer[i].r.BDTR & TIM_BDTR_BKP) != 0);
}

static void break_now(unsigned i) {
    timer[i].r.BDTR &= ~(uint32_t)TIM_BDTR_MOE;
    timer[i].r.SR |= TIM_SR_BIF;
}

void chip_break_look(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (info[i].break_irq >= 0 && break_active(i))
            break_now(i);
}

void chip_break_all(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (info[i].break_irq >= 0 && (timer[i].r.BDTR & TIM_BDTR_BKE))
            break_now(i);
}

/* LOCK can be written once after a reset. Level 1 protects dead time, break and AOE, level 2 also
 * OSSI and OSSR, level 3 also the modes of the channels. MOE is never protected. */
static void write_bdtr(unsigned i, uint32_t value) {
    const uint32_t level = timer[i].r.BDTR >> 8 & 3, old = timer[i].r.BDTR;
    const uint32_t free = level == 0   ? 0xFFFF
                          : level == 1 ? TIM_BDTR_MOE | TIM_BDTR_OSSI | TIM_BDTR_OSSR
                                       : TIM_BDTR_MOE;
    timer[i].r.BDTR = (old & ~free) | (value & free);
    if (timer[i].r.BDTR & BDTR_AOE)
        chip_wrong("AOE: the outputs would come back without software");
    chip_break_look();
}

bool chip_timer_moe(unsigned motor_timer) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (info[i].regs == board.motor.timers[motor_timer].regs)
            return (timer[i].r.BDTR & TIM_BDTR_MOE) != 0;
    return false;
}

double chip_timer_high(unsigned motor_timer, unsigned channel, bool complementary) {
    for (unsigned i = 0; i < TIMERS; i++) {
        if (info[i].regs != board.motor.timers[motor_timer].regs)
            continue;
        follow(i);
        const unsigned c = channel - 1;
        const uint32_t enable = complementary ? TIM_CCER_CCNE : TIM_CCER_CCE;
        const uint32_t mode = timer[i].r.CCMR[c / 2] >> 8 * (c % 2) >> 4 & 7;
        if ((timer[i].r.BDTR & TIM_BDTR_MOE) == 0 || (timer[i].r.CCER & enable << 4 * c) == 0)
            return 0; /* idle: low by OIS, or open and pulled down */
        if (mode != 6)
            chip_wrong("a motor channel that is not in PWM mode 1");
        double high = (double)timer[i].ccr[c] / ((double)timer[i].arr + 1);
        high = high > 1 ? 1 : high;
        /* alone, the complementary output follows the same reference; with both it is inverse */
        const bool both = (timer[i].r.CCER & TIM_CCER_CCE << 4 * c) != 0;
        return complementary && both ? 1 - high : high;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------ registers */

static unsigned timer_at(uint32_t address) {
    for (unsigned i = 0; i < TIMERS; i++)
        if ((address & ~0x3FFu) == REGMODEL_ADDRESS(info[i].regs))
            return i;
    return 0;
}

static uint32_t timer_read(uint32_t address) {
    const unsigned i = timer_at(address), offset = address & 0x3FF;
    follow(i);
    if (offset == offsetof(tim_t, CNT))
        return count_of(i) & full(i);
    uint32_t word = 0;
    if (offset < sizeof(tim_t))
        memcpy(&word, (const char *)&timer[i].r + offset, sizeof word);
    return word;
}

static void write_mode(unsigned i, uint32_t *reg, uint32_t value) {
    if ((timer[i].r.BDTR & BDTR_LOCK) == BDTR_LOCK && *reg != value)
        chip_wrong("a locked mode of a motor timer is written");
    else
        *reg = value;
}

static void timer_write(uint32_t address, uint32_t value) {
    const unsigned i = timer_at(address), offset = address & 0x3FF;
    follow(i);
    if (offset == offsetof(tim_t, CR1)) {
        const uint32_t count = count_of(i);
        timer[i].r.CR1 = value;
        set_count(i, count);
    } else if (offset == offsetof(tim_t, SR)) {
        timer[i].r.SR &= value; /* rc_w0 */
        if (info[i].break_irq >= 0)
            chip_break_look(); /* BIF cannot be cleared while the input is active */
    } else if (offset == offsetof(tim_t, EGR)) {
        if (value & TIM_EGR_UG) {
            load_shadows(i);
            set_count(i, 0);
            if ((timer[i].r.CR1 & TIM_CR1_URS) == 0)
                timer[i].r.SR |= TIM_SR_UIF;
        }
        if (value & EGR_BG && info[i].break_irq >= 0)
            break_now(i);
    } else if (offset == offsetof(tim_t, CNT)) {
        set_count(i, value & full(i));
    } else if (offset == offsetof(tim_t, ARR)) {
        timer[i].r.ARR = value & full(i);
        if ((timer[i].r.CR1 & TIM_CR1_ARPE) == 0) {
            const uint32_t count = count_of(i);
            timer[i].arr = timer[i].r.ARR;
            if (counts(i) && count > timer[i].arr)
                chip_wrong("a counter beyond its new period runs to the end of its range");
        }
    } else if (offset >= offsetof(tim_t, CCR) && offset < offsetof(tim_t, BDTR)) {
        const unsigned c = (offset - (unsigned)offsetof(tim_t, CCR)) / 4;
        timer[i].r.CCR[c] = value;
        if ((timer[i].r.CCMR[c / 2] >> 8 * (c % 2) & CCMR_OCPE) == 0)
            timer[i].ccr[c] = value;
    } else if (offset == offsetof(tim_t, BDTR)) {
        write_bdtr(i, value & 0xFFFF);
    } else if (offset == offsetof(tim_t, CCER)) {
        write_mode(i, (uint32_t *)&timer[i].r.CCER, value);
    } else if (offset >= offsetof(tim_t, CCMR) && offset < offsetof(tim_t, CCER)) {
        write_mode(i, (uint32_t *)&timer[i].r.CCMR[(offset - offsetof(tim_t, CCMR)) / 4], value);
    } else if (offset < sizeof(tim_t)) {
        memcpy((char *)&timer[i].r + offset, &value, sizeof value);
    }
}

bool chip_timer_requests(int irq) {
    if (irq < 24 || (irq > 30 && irq < 43)) /* no line of a timer */
        return false;
    for (unsigned i = 0; i < TIMERS; i++) {
        const uint32_t flags = timer[i].r.DIER & timer[i].r.SR;
        if (flags != 0 && ((info[i].update_irq == irq && (flags & TIM_DIER_UIE)) ||
                           (info[i].break_irq == irq && (flags & TIM_DIER_BIE))))
            return true;
    }
    return false;
}

static uint64_t timers_due(void) {
    uint64_t first = CHIP_NEVER;
    for (unsigned i = 0; i < TIMERS; i++)
        if (counts(i) && (timer[i].r.DIER & TIM_DIER_UIE) && timer[i].zero + period_ns(i) < first)
            first = timer[i].zero + period_ns(i);
    return first;
}

static void timers_event(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (timer[i].r.DIER & TIM_DIER_UIE)
            follow(i);
}

static uint32_t count_before[TIMERS];

/* The counters keep their counts when their clock changes. */
void chip_timers_before_clock(void) {
    for (unsigned i = 0; i < TIMERS; i++) {
        follow(i);
        count_before[i] = count_of(i);
    }
}

void chip_timers_after_clock(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        set_count(i, count_before[i]);
}

static void timers_reset(void) {
    memset(timer, 0, sizeof timer);
    for (unsigned i = 0; i < TIMERS; i++)
        timer[i].r.ARR = timer[i].arr = full(i);
}

void chip_quadrature(unsigned number, int32_t count) {
    timer[number - 1].world = count;
}

/* ------------------------------------------------------------------------------------- watchdog */

enum { IWDG_DIVIDERS_MAX = 6 };
static struct {
    bool runs, open;
    uint32_t pr, rlr, rlr_before;
    uint64_t pr_until, rlr_until; /* the updates end then */
    double left;                  /* counts left at time `since` */
    uint64_t since;
} iwdg;

static double iwdg_count_ns(void) {
    const unsigned shift = iwdg.pr < IWDG_DIVIDERS_MAX ? iwdg.pr : IWDG_DIVIDERS_MAX;
    return 1e9 * (double)(4u << shift) / chip_world.lsi_hz;
}

static void iwdg_follow(void) {
    if (iwdg.runs)
        iwdg.left -= (double)(chip_now() - iwdg.since) / iwdg_count_ns();
    iwdg.since = chip_now();
}

static uint64_t iwdg_due(void) {
    return iwdg.runs ? iwdg.since + (uint64_t)(iwdg.left * iwdg_count_ns()) + 1 : CHIP_NEVER;
}

static void iwdg_event(void) {
    chip_reset_now(CHIP_RESET_WATCHDOG);
}

static uint32_t iwdg_read(uint32_t address) {
    const bool pvu = chip_now() < iwdg.pr_until, rvu = chip_now() < iwdg.rlr_until;
    if (address == REGMODEL_ADDRESS(&IWDG->PR))
        return pvu ? 0 : iwdg.pr;
    if (address == REGMODEL_ADDRESS(&IWDG->RLR))
        return rvu ? 0 : iwdg.rlr;
    if (address == REGMODEL_ADDRESS(&IWDG->SR))
        return (pvu ? IWDG_SR_PVU : 0) | (rvu ? IWDG_SR_RVU : 0);
    return 0;
}

/* A new value counts only when its update has ended. */
static uint32_t iwdg_reload(void) {
    return chip_now() < iwdg.rlr_until ? iwdg.rlr_before : iwdg.rlr;
}

static void iwdg_write(uint32_t address, uint32_t value) {
    iwdg_follow();
    const uint64_t update =
        iwdg.runs ? chip_now() + (uint64_t)(iwdg_count_ns() * chip_world.iwdg_cycles) : CHIP_NEVER;
    if (address == REGMODEL_ADDRESS(&IWDG->KR)) {
        iwdg.open = value == IWDG_KEY_ACCESS;
        if (value == IWDG_KEY_START && !iwdg.runs) {
            iwdg.runs = true;
            iwdg.left = iwdg_reload() + chip_world.iwdg_extra;
        } else if (value == IWDG_KEY_FEED) {
            iwdg.left = iwdg_reload() + chip_world.iwdg_extra;
        }
    } else if (!iwdg.open) {
        chip_wrong("the watchdog is written without its key");
    } else if (address == REGMODEL_ADDRESS(&IWDG->PR)) {
        if (chip_now() < iwdg.pr_until)
            chip_wrong("PR of the watchdog is written while it is updated");
        iwdg.pr = value & 7;
        iwdg.pr_until = update;
    } else if (address == REGMODEL_ADDRESS(&IWDG->RLR)) {
        if (chip_now() < iwdg.rlr_until)
            chip_wrong("RLR of the watchdog is written while it is updated");
        iwdg.rlr_before = iwdg.rlr;
        iwdg.rlr = value & 0xFFF;
        iwdg.rlr_until = update;
    }
}

static void iwdg_reset(void) {
    memset(&iwdg, 0, sizeof iwdg);
    iwdg.rlr = 0xFFF;
}

#define TIMER_DEVICE(address, clock)                                                               \
    { address, (address) + 0x3FF, clock, NULL, timer_read, timer_write, NULL, NULL }
const chip_device_t chip_timers[] = {
    {0x40000000, 0x400003FF, RCC_BIT(RCC_BUS_APB1, 0), timers_reset, timer_read, timer_write,
     timers_due, timers_event},
    TIMER_DEVICE(0x40000400, RCC_BIT(RCC_BUS_APB1, 1)),
    TIMER_DEVICE(0x40000800, RCC_BIT(RCC_BUS_APB1, 2)),
    TIMER_DEVICE(0x40000C00, RCC_BIT(RCC_BUS_APB1, 3)),
    TIMER_DEVICE(0x40001000, RCC_BIT(RCC_BUS_APB1, 4)),
    TIMER_DEVICE(0x40001400, RCC_BIT(RCC_BUS_APB1, 5)),
    TIMER_DEVICE(0x40010000, RCC_BIT(RCC_BUS_APB2, 0)),
    TIMER_DEVICE(0x40010400, RCC_BIT(RCC_BUS_APB2, 1)),
    {0x40003000, 0x400033FF, 0, iwdg_reset, iwdg_read, iwdg_write, iwdg_due, iwdg_event},
};
const unsigned chip_timers_count = sizeof chip_timers / sizeof chip_timers[0];
