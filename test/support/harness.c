/*
 * The main program of every test: runs the table of cases with Unity and reports.
 *
 * Before each case it prints `RUN name`, so that the runner (tools/dev/runtests.py) can name a case
 * that crashed or hung. On the target it starts like the firmware, prints through semihosting and
 * ends the emulator with an exit code. A fault resets the target; the progress is kept in RAM that
 * survives the reset. A reset that no test announced is a failure of the running case.
 */
#include "test/support/harness.h"

static void put_text(const char *text) {
    while (*text != '\0') {
        harness_put(*text++);
    }
}

__attribute__((weak)) void setUp(void) {}
__attribute__((weak)) void tearDown(void) {}

void harness_note(const char *text) {
    put_text("NOTE ");
    put_text(text);
    harness_put('\n');
    harness_flush();
}

void harness_note_number(const char *text, int64_t value) {
    put_text("NOTE ");
    put_text(text);
    harness_put(' ');
    UnityPrintNumber((UNITY_INT)value);
    harness_put('\n');
    harness_flush();
}

static void run_case(const harness_case_t *test) {
    put_text("RUN ");
    put_text(test->name);
    harness_put('\n');
    harness_flush();
    UnityDefaultTestRun(test->run, test->name, test->line);
    harness_flush();
}

#ifdef __arm__

#include "hal/clock.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/tick.h"
#include "test/support/semihost.h"

/* Weak, because a test of the tick defines its own function. */
__attribute__((weak)) void tick_interrupt(void) {}

int main(void);

enum { PROGRESS_MAGIC = 0x54455354 };

__attribute__((section(".noinit"))) static struct {
    uint32_t magic;
    uint32_t next; /* index of the running case */
    uint32_t tests, failures, ignores;
    uint32_t reset_expected;
} progress;

static bool resumed;

void harness_put(char c) {
    semihost_put(c);
}

void harness_measured(const char *name, const char *format, ...) {
    (void)name, (void)format;
}

void harness_flush(void) {
    semihost_flush();
}

void harness_expect_reset(void) {
    progress.reset_expected = 1;
}

bool harness_after_reset(void) {
    return resumed;
}

/* Reports an unannounced reset as a crash of the running case. */
static void report_crash(void) {
    const fault_record_t *record = fault_record();
    put_text(harness_file);
    put_text(":0:");
    put_text(harness_cases[progress.next].name);
    put_text(":FAIL: the target was reset: ");
    put_text(record == NULL ? "no crash record" : fault_cause_name((fault_cause_t)record->cause));
    if (record != NULL) {
        put_text(" pc=");
        UnityPrintNumberHex(record->pc, 8);
        put_text(" lr=");
        UnityPrintNumberHex(record->lr, 8);
    }
    harness_put('\n');
    fault_record_clear();
    progress.tests++;
    progress.failures++;
    progress.next++;
}

int main(void) {
    (void)clock_init();
    cycles_init();
    bool again = progress.magic == PROGRESS_MAGIC && progress.next < harness_case_count;
    if (!again) {
        progress.magic = PROGRESS_MAGIC;
        progress.next = progress.tests = progress.failures = progress.ignores = 0;
        progress.reset_expected = 0;
    } else if (progress.reset_expected) {
        progress.reset_expected = 0;
        resumed = true;
    } else {
        report_crash();
    }
    UnityBegin(harness_file);
    Unity.NumberOfTests = progress.tests;
    Unity.TestFailures = progress.failures;
    Unity.TestIgnores = progress.ignores;
    while (progress.next < harness_case_count) {
        run_case(&harness_cases[progress.next]);
        resumed = false;
        progress.tests = (uint32_t)Unity.NumberOfTests;
        progress.failures = (uint32_t)Unity.TestFailures;
        progress.ignores = (uint32_t)Unity.TestIgnores;
        progress.next++;
    }
    int failures = UnityEnd();
    harness_flush();
    progress.magic = 0;
    semihost_exit(failures == 0 ? 0 : 1);
}

#else

#include <stdarg.h>
#include <stdio.h>

void harness_measured(const char *name, const char *format, ...) {
    va_list values;
    va_start(values, format);
    printf("measured %s ", name);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
}

void harness_put(char c) {
    putchar(c);
}

void harness_flush(void) {
    fflush(stdout);
}

int main(void) {
    UnityBegin(harness_file);
    for (unsigned i = 0; i < harness_case_count; i++) {
        run_case(&harness_cases[i]);
    }
    return UnityEnd() == 0 ? 0 : 1;
}

#endif
