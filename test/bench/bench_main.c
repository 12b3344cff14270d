/* The main program of the bench on the target: reads the choice, runs it (bench_kernels.c or
 * bench_tick.c), prints rows and ends the emulator (test/bench/bench.h). */
#include "test/bench/bench.h"

#include "hal/clock.h"
#include "hal/cycles.h"
#include "hal/tick.h"
#include "test/support/semihost.h"

#include <string.h>

enum { SYS_GET_CMDLINE = 0x15, LINE_BYTES = 256 };

static char line[LINE_BYTES];

void tick_interrupt(void) {}

static void put_text(const char *text) {
    while (*text != '\0')
        semihost_put(*text++);
    semihost_put(' ');
}

static void put_number(uint32_t number) {
    char digits[11];
    unsigned at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put_text(&digits[at]);
}

void bench_print(const char *name, uint32_t n, const char *problem, const char *method,
                 const char *real, bench_cost_t cost, const char *verdict) {
    put_text("bench");
    put_text(name);
    put_number(n);
    put_text(problem);
    put_text(method);
    put_text(real);
    put_number(cost.least);
    put_number(cost.most);
    put_text(verdict);
    semihost_put('\n');
}

static void read_line(void) {
#ifdef __arm__
    struct {
        char *text;
        uint32_t bytes;
    } block = {line, sizeof line};
    register uint32_t r0 __asm("r0") = SYS_GET_CMDLINE;
    register void *r1 __asm("r1") = &block;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    if (r0 != 0)
        line[0] = '\0';
#endif
}

static const char *value_of(const char *word, const char *key) {
    const size_t length = strlen(key);
    return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static uint32_t number_of(const char *digits) {
    uint32_t number = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        number = 10 * number + (uint32_t)(*digits - '0');
    return number;
}

static void read_choice(bench_choice_t *choice) {
    read_line();
    for (char *word = line, *next; word; word = next) {
        const char *value;
        next = strchr(word, ' ');
        if (next)
            *next++ = '\0';
        if ((value = value_of(word, "robot")))
            choice->robot = value;
        else if ((value = value_of(word, "problem")))
            choice->problem = value;
        else if ((value = value_of(word, "method")))
            choice->method = value;
        else if ((value = value_of(word, "real")))
            choice->real = value;
        else if ((value = value_of(word, "states")))
            choice->states = number_of(value);
    }
}

int main(void) {
    bench_choice_t choice = {.states = BENCH_STATES};
    (void)clock_init();
    cycles_init();
    read_choice(&choice);
    bench_run(&choice);
    semihost_exit(0);
}
