/* test/support/hal/chip.h: time, events, interrupts, and the two stacks of test and program. Also the
 * parts of the HAL that a host cannot compile: interrupts, sleep, reset, crash records. */
#include "test/support/hal/chip_inside.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "hal/cortexm/counter.h"
#include "hal/cortexm/link.h"
#include "hal/cpu.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/irq.h"
#include "hal/reset.h"
#include "hal/stm32/vectors.h"
#include "test/support/hal/regmodel.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { LINES = 97, EVENTS_MAX = 64, STACK_BYTES = 1 << 18, THREAD = 256, NMI = -2 };

chip_world_t chip_world;
chip_report_t chip_report;

static uint64_t now, until, next; /* next: nothing happens before this time */
static bool requests_changed;

/* ---------------------------------------------------------------------------------------- stacks */

static ucontext_t of_test, of_program;
static char *stack;
static bool alive, on_program; /* the program can run; it runs now */
static void (*entry)(void);
#ifdef __SANITIZE_ADDRESS__
static const void *test_bottom;
static size_t test_size;
#endif

static void to_program(void) {
    on_program = true;
#ifdef __SANITIZE_ADDRESS__
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, stack, STACK_BYTES);
#endif
    swapcontext(&of_test, &of_program);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void to_test(void) {
    on_program = false;
#ifdef __SANITIZE_ADDRESS__
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, test_bottom, test_size);
#endif
    swapcontext(&of_program, &of_test);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake, &test_bottom, &test_size);
#endif
}

static void begin_program(void) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, &test_bottom, &test_size);
#endif
    entry();
    chip_wrong("the program has ended");
    chip_reset_now(CHIP_RESET_SOFTWARE);
}

/* ----------------------------------------------------------------------------------- interrupts */

typedef struct {
    int irq;
    void (*handler)(void);
} vector_t;

#define VECTOR(number, handler) {number, handler},
static const vector_t vectors[] = {VECTORS_STM32F446(VECTOR)};
enum { VECTORS = sizeof vectors / sizeof vectors[0] };

static struct {
    bool enabled[LINES], pended[LINES];
    uint8_t priority[LINES];
    bool nmi;
    bool locked;
    int running; /* priority of the running handler; THREAD: the background */
    int irq;     /* its line; -1: none */
} nvic;

static jmp_buf tick_left;
static unsigned tick_accesses, tick_accesses_last;
static struct {
    unsigned access;
    chip_event_t event;
    void *argument;
} in_tick;
static struct {
    unsigned access;
    chip_stop_t how;
} stop_tick;
static bool dead; /* the core executes nothing any more */

static bool has_handler(int irq) {
    for (unsigned i = 0; i < VECTORS; i++)
        if (vectors[i].irq == irq)
            return true;
    return false;
}

static bool requested(int irq) {
    return nvic.pended[irq] || chip_timer_requests(irq) || chip_line_requests(irq) ||
           chip_core_requests(irq);
}

static bool in_the_tick(void) {
    return nvic.irq == board.tick.irq;
}

static void run_handler(void (*handler)(void), int irq, int priority) {
    const int before = nvic.running, irq_before = nvic.irq;
    const bool ticks = irq == board.tick.irq;
    nvic.running = priority;
    nvic.irq = irq;
    chip_report.interrupts++;
    if (ticks)
        tick_accesses = 0;
    if (!ticks || setjmp(tick_left) == 0)
        handler();
    if (ticks)
        tick_accesses_last = tick_accesses;
    nvic.running = before;
    nvic.irq = irq_before;
    requests_changed = true;
}

/* Returns the most urgent vector that is enabled, requested and more urgent than the running code, or
 * NULL. */
static const vector_t *most_urgent(int than) {
    const vector_t *best = NULL;
    for (const vector_t *v = vectors; v < vectors + VECTORS; v++) {
        const int least = best == NULL ? than : nvic.priority[best->irq];
        if (nvic.enabled[v->irq] && nvic.priority[v->irq] < least && requested(v->irq))
            best = v;
    }
    return best;
}

static void deliver(void) {
    while (requests_changed && !dead && !chip_flash_busy()) {
        requests_changed = false;
        if (nvic.nmi && nvic.running > NMI) {
            nvic.nmi = false;
#ifdef CHIP_NMI
            run_handler(CHIP_NMI, -1, NMI);
#else
            chip_wrong("an NMI without a handler");
#endif
            continue;
        }
        const vector_t *vector = nvic.locked ? NULL : most_urgent(nvic.running);
        if (vector == NULL)
            return;
        nvic.pended[vector->irq] = false;
        run_handler(vector->handler, vector->irq, nvic.priority[vector->irq]);
    }
}

bool chip_locked(void) {
    return nvic.locked;
}

void chip_pend(int irq) {
    nvic.pended[irq] = true;
    requests_changed = true;
}

void chip_nmi(void) {
    nvic.nmi = true;
    requests_changed = true;
}

uint32_t irq_lock(void) {
    const bool before = nvic.locked;
    nvic.locked = true;
    return before;
}

void irq_unlock(uint32_t state) {
    nvic.locked = state != 0;
    requests_changed = true;
    if (on_program)
        deliver();
}

void irq_enable(int irq, unsigned priority) {
    if (!has_handler(irq))
        chip_wrong("an interrupt without a handler is enabled");
    nvic.enabled[irq] = true;
    nvic.priority[irq] = (uint8_t)priority;
    requests_changed = true;
}

void irq_disable(int irq) {
    nvic.enabled[irq] = false;
}

void irq_pend(int irq) {
    chip_pend(irq);
}

/* ----------------------------------------------------------------------------------------- time */

static struct {
    uint64_t time;
    chip_event_t event;
    void *argument;
} events[EVENTS_MAX];
static unsigned event_count;
static struct {
    chip_event_t event;
    void *argument;
} background, watch;

static const struct {
    const chip_device_t *device;
    const unsigned *count;
} parts[] = {{chip_timers, &chip_timers_count},
             {chip_pins, &chip_pins_count},
             {chip_lines, &chip_lines_count},
             {chip_core, &chip_core_count}};
enum { PARTS = sizeof parts / sizeof parts[0] };

#define EACH_DEVICE(device)                                                                        \
    for (unsigned part_ = 0; part_ < PARTS; part_++)                                               \
        for (const chip_device_t *device = parts[part_].device,                                    \
                                 *end_ = device + *parts[part_].count;                             \
             device < end_; device++)

static uint64_t sooner(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void chip_reschedule(void) {
    next = CHIP_NEVER;
    EACH_DEVICE(device)
    if (device->due != NULL)
        next = sooner(next, device->due());
    for (unsigned i = 0; i < event_count; i++)
        next = sooner(next, events[i].time);
    requests_changed = true;
}

static void observe(void) {
    if (watch.event != NULL)
        watch.event(watch.argument);
}

static void act(void) {
    while (now >= next) {
        EACH_DEVICE(device)
        if (device->due != NULL && device->due() <= now)
            device->event();
        for (unsigned i = 0; i < event_count;) {
            if (events[i].time > now) {
                i++;
                continue;
            }
            const chip_event_t event = events[i].event;
            void *argument = events[i].argument;
            events[i] = events[--event_count];
            event(argument);
        }
        chip_reschedule();
        observe();
    }
}

/* Everything that happens at the present time. */
static void settle(void) {
    act();
    deliver();
    while (on_program && now >= until)
        to_test();
}

/* Nothing is executed until the next event. */
static void pass(void) {
    now = sooner(next, until) > now ? sooner(next, until) : now;
    settle();
}

void chip_spend(uint64_t ns) {
    const uint64_t end = now + ns;
    while (now < end) {
        now = sooner(end, next > now ? next : now);
        act();
    }
}

static void stop_here(void) {
    const chip_stop_t how = stop_tick.how;
    stop_tick.how = CHIP_STOP_NONE;
    chip_report.stopped_at = now;
    if (how == CHIP_STOP_LEFT) {
        nvic.enabled[board.tick.irq] = false;
        nvic.locked = false;
        longjmp(tick_left, 1);
    }
    dead = how == CHIP_STOP_LOCKED;
    for (;;)
        pass();
}

static void before_access(void) {
    if (!on_program)
        return;
    if (in_the_tick()) {
        const unsigned access = tick_accesses++;
        if (in_tick.event != NULL && in_tick.access == access) {
            const chip_event_t event = in_tick.event;
            in_tick.event = NULL;
            event(in_tick.argument);
            observe();
        }
        if (stop_tick.how != CHIP_STOP_NONE && stop_tick.access == access)
            stop_here();
    }
    now += CHIP_ACCESS_NS;
    if (now >= next || now >= until || requests_changed)
        settle();
}

uint64_t chip_now(void) {
    return now;
}

void chip_at(uint64_t time, chip_event_t event, void *argument) {
    if (event_count == EVENTS_MAX) {
        fputs("chip: too many events\n", stderr);
        abort();
    }
    events[event_count].time = time;
    events[event_count].event = event;
    events[event_count++].argument = argument;
    next = sooner(next, time);
}

void chip_in_tick(unsigned access, chip_event_t event, void *argument) {
    in_tick.access = access;
    in_tick.event = event;
    in_tick.argument = argument;
}

void chip_in_background(chip_event_t event, void *argument) {
    background.event = event;
    background.argument = argument;
}

void chip_watch(chip_event_t event, void *argument) {
    watch.event = event;
    watch.argument = argument;
}

unsigned chip_accesses_in_tick(void) {
    return tick_accesses_last;
}

void chip_stop_tick(unsigned access, chip_stop_t how) {
    stop_tick.access = access;
    stop_tick.how = how;
}

bool chip_run_until(uint64_t time) {
    until = time;
    while (now < until && alive)
        to_program();
    while (now < until)
        pass();
    return alive;
}

bool chip_run(uint64_t ns) {
    return chip_run_until(now + ns);
}

/* -------------------------------------------------------------------------------------- devices */

void chip_wrong(const char *what) {
    if (chip_report.wrong++ == 0)
        chip_report.what = what;
}

static const chip_device_t *device_at(uint32_t address) {
    static const chip_device_t *last;
    if (last != NULL && address >= last->first && address <= last->last)
        return last;
    EACH_DEVICE(device)
    if (address >= device->first && address <= device->last) {
        last = device;
        return device;
    }
    return NULL;
}

static uint32_t read_model(uint32_t address, uint32_t stored) {
    const chip_device_t *device = device_at(address);
    if (device == NULL || device->read == NULL)
        return stored;
    return device->gate != 0 && !chip_gate_open(device->gate) ? 0 : device->read(address);
}

static uint32_t write_model(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    const chip_device_t *device = device_at(address);
    if (width != 32)
        chip_wrong("an access that is not of 32 bits");
    if (device == NULL || device->write == NULL)
        return value;
    if (device->gate != 0 && !chip_gate_open(device->gate)) {
        if (address < GPIO_BASE ||
            address > 0x40021FFF) /* motor_off may be called before all else */
            chip_wrong("a write to a device without a clock");
        return stored;
    }
    device->write(address, value);
    chip_reschedule();
    observe();
    return value;
}

static void reset_devices(void) {
    memset(&nvic, 0, sizeof nvic);
    nvic.running = THREAD;
    nvic.irq = -1;
    EACH_DEVICE(device)
    if (device->reset != NULL)
        device->reset();
    chip_reschedule();
}

void chip_reset_now(chip_reset_t why) {
    chip_report.reset = why;
    chip_report.reset_at = now;
    alive = false;
    reset_devices();
    while (on_program) /* the program never runs again */
        to_test();
}

void chip_power_up(void (*program)(void)) {
    if (stack == NULL)
        stack = malloc(STACK_BYTES);
    regmodel_reset();
    regmodel_device(0x1000, 0xFFFFFFFF, read_model, write_model);
    regmodel_hook(before_access);
    memset(&chip_report, 0, sizeof chip_report);
    memset(&chip_world, 0, sizeof chip_world);
    chip_world.lsi_hz = 32000;
    chip_world.hse_hz = board.clock.hse_hz;
    chip_world.iwdg_extra = 2;
    chip_world.erase_ns = CHIP_MS(1000);
    chip_world.iwdg_cycles = 5;
    chip_world.supply_mV = 24000;
    for (unsigned i = 0; i < CHIP_ENCODERS; i++)
        chip_world.encoder[i].powered = true;
    now = until = 0;
    event_count = 0;
    dead = false;
    background.event = watch.event = in_tick.event = NULL;
    stop_tick.how = CHIP_STOP_NONE;
    reset_devices();
    entry = program;
    alive = true;
    getcontext(&of_program);
    of_program.uc_stack.ss_sp = stack;
    of_program.uc_stack.ss_size = STACK_BYTES;
    of_program.uc_link = NULL;
    makecontext(&of_program, begin_program, 0);
}

/* ----------------------------------------------------------------------- the core's part of hal/ */

/* WFI: sleeps until an enabled line is requested, even if interrupts are locked. */
void cpu_idle(void) {
    if (background.event != NULL) {
        const chip_event_t event = background.event;
        background.event = NULL;
        event(background.argument);
    }
    const unsigned before = chip_report.interrupts;
    requests_changed = true;
    deliver();
    while (chip_report.interrupts == before && most_urgent(THREAD) == NULL)
        pass();
    requests_changed = true;
    deliver();
}

_Noreturn void reset_system(void) {
    chip_reset_now(CHIP_RESET_SOFTWARE);
    abort(); /* not reached: the program never runs again */
}

void cycles_init(void) {
    (void)counter_start();
}

uint32_t cycles_now(void) {
    return counter_now();
}

uint32_t cycles_steps(uint32_t start, uint32_t end) {
    return counter_elapsed(start, end);
}

uint32_t cycles_of_steps(uint32_t steps) {
    return steps;
}

uint32_t cycles_steps_hz(void) {
    return counter_hz();
}

uint32_t cycles_between(uint32_t start, uint32_t end) {
    return counter_elapsed(start, end);
}

bool cycles_are_instructions(void) {
    return false;
}

/* An unexpected exception: the crash record, then a reset. */
void fault_entry(void) {
    chip_wrong("a fault of the core");
    chip_reset_now(CHIP_RESET_SOFTWARE);
}

const fault_record_t *fault_record(void) {
    return NULL;
}

void fault_record_clear(void) {}

void fault_record_print(const fault_record_t *record) {
    (void)record;
}

const uint8_t *fault_build_id(void) {
    static const uint8_t id[20] = {1, 2, 3, 4};
    return id;
}
