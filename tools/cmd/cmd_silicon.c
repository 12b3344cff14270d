/* silicon: runs the self-test image of a board (test/silicon) and writes its report; silicon
 * compare: prints reports side by side, with the cycles of the bench's model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/args/budget.h"
#include "tools/cli/confirm.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/file.h"
#include "tools/cli/out.h"
#include "tools/cmd/commands.h"
#include "tools/link/port.h"
#include "tools/link/silicon.h"

enum { SILENCE_MS = 60000, POLL_MS = 100, CHUNK = 256, REPORTS_MAX = ARGUMENTS_MAX - 1 };
/* Half of the smallest receive ring (UART_RX_RING of the 8 KB board). */
enum { EMULATED_AHEAD = 64 };

typedef struct {
    port_t *port;
    const char *name; /* of the port */
    bool live;        /* print each result when it comes */
    silicon_report_t report;
    char line[SILICON_LINE];
    size_t used;
    uint32_t echoed; /* bytes with the top bit set, which the board sent back */
} run_t;

static int failed(const run_t *run, const char *what) {
    return diag_error(run->name,
                      "check that the board runs the self-test image: make silicon "
                      "BOARD=x PORT=P writes and starts it",
                      "%s", what);
}

/* Reads what has come, and takes one line out of it. Returns 1 if there is a line, 0 if none came
 * in time, -1 if the port is closed. */
static int take_line(run_t *run, int timeout_ms, char line[SILICON_LINE]) {
    for (;;) {
        const char *end = memchr(run->line, '\n', run->used);
        if (end || run->used == sizeof run->line) {
            const size_t size = end ? (size_t)(end - run->line) : run->used - 1;
            memcpy(line, run->line, size);
            line[size] = '\0';
            run->used -= size + 1;
            memmove(run->line, run->line + size + 1, run->used);
            return 1;
        }
        uint8_t bytes[SILICON_LINE];
        const int n = port_read(run->port, bytes, sizeof run->line - run->used, timeout_ms);
        if (n <= 0)
            return n;
        for (int i = 0; i < n; i++) {
            if (bytes[i] & 0x80)
                run->echoed++;
            else
                run->line[run->used++] = (char)bytes[i];
        }
    }
}

/* Sends the counted bytes and the final E as fast as the line takes them. Reads meanwhile, because
 * the driver of the port keeps only some thousand bytes. The emulator's line has no baud rate: there
 * the echo sets the pace, otherwise a busy machine delivers a chunk faster than the board can read
 * it. A byte that is lost all the same is not waited for longer than the silence of a dead board. */
static int send_stream(run_t *run, uint32_t count) {
    uint8_t chunk[CHUNK];
    const bool paced = run->report.emulated;
    run->echoed = 0;
    for (uint32_t at = 0; at < count;) {
        uint32_t n = 0;
        for (; n < (paced ? EMULATED_AHEAD : CHUNK) && at < count; at++)
            chunk[n++] = (uint8_t)(0x80 | (at & 0x7f));
        if (port_write(run->port, chunk, n) != 0)
            return -1;
        do {
            const int came = port_read(run->port, chunk, sizeof chunk, paced ? SILENCE_MS : 0);
            for (int i = 0; i < came; i++)
                run->echoed += chunk[i] >> 7;
            if (came <= 0)
                break;
        } while (paced && run->echoed < at);
    }
    return port_write(run->port, (const uint8_t *)"E", 1);
}

static void show(const run_t *run) {
    char text[SILICON_LINE + 100];
    if (!run->live)
        return;
    silicon_format(&run->report.test[run->report.test_count - 1], text, sizeof text);
    out_format("%s\n", text);
    out_flush();
}

/* Adds what the host knows: how much of the echo arrived. */
static void add_echo(run_t *run) {
    const silicon_test_t *sent = silicon_find(&run->report, "uart_echoed");
    char line[SILICON_LINE];
    uint32_t ignored;
    if (!sent)
        return;
    const double lost = sent->value - run->echoed;
    snprintf(line, sizeof line, "silicon: uart_lost = %.0f bytes (expected 0 to 0) %s", lost,
             lost == 0 ? "ok" : "FAIL");
    if (silicon_read_line(&run->report, line, &ignored) == SILICON_LINE_TEST)
        show(run);
}

/* Reads lines until the end of the report. */
static int drive(run_t *run) {
    bool started = false;
    char line[SILICON_LINE];
    for (int silent_ms = 0; silent_ms < SILENCE_MS; silent_ms += POLL_MS) {
        const int got = take_line(run, POLL_MS, line);
        uint32_t number = 0;
        if (got < 0)
            return failed(run, "the port was closed");
        if (got == 0)
            continue;
        silent_ms = 0;
        const uint32_t before = run->report.test_count;
        switch (silicon_read_line(&run->report, line, &number)) {
        case SILICON_LINE_READY:
            if (before > 0)
                return failed(run, "the board has started again during the test");
            if (!started && run->live)
                out_format("%s (%s, idcode %s, cpuid %s, build %s)%s\n", run->report.board,
                           run->report.chip, run->report.idcode, run->report.cpuid,
                           run->report.build, run->report.emulated ? ", emulated" : "");
            if (!started && port_write(run->port, (const uint8_t *)"S", 1) != 0)
                return failed(run, "the board takes no bytes");
            started = true;
            break;
        case SILICON_LINE_TEST:
            show(run);
            if (!strcmp(run->report.test[before].name, "uart_echoed"))
                add_echo(run);
            break;
        case SILICON_LINE_SEND:
            if (send_stream(run, number) != 0)
                return failed(run, "the board takes no bytes");
            break;
        case SILICON_LINE_END:
            number += silicon_find(&run->report, "uart_lost") != NULL;
            return started && number == run->report.test_count
                       ? EXIT_YES
                       : failed(run, "the board has counted other results than have arrived");
        case SILICON_LINE_BAD:
            if (started)
                return failed(run, "a line of the board is garbled");
            break;
        case SILICON_LINE_OTHER:
            break;
        }
    }
    return failed(run, started ? "the board has been silent for 60 s"
                               : "no self-test image has answered for 60 s");
}

/* The path of the text beside the JSON file. */
static void text_path(const char *json, char *out, size_t size) {
    const char *dot = strrchr(json, '.');
    const bool suffix = dot && !strcmp(dot, ".json");
    snprintf(out, size, "%.*s.txt", (int)(suffix ? (size_t)(dot - json) : strlen(json)), json);
}

static void write_text(const silicon_report_t *r, FILE *stream) {
    char text[SILICON_LINE + 100];
    fprintf(stream, "board %s\nchip %s, idcode %s, cpuid %s\nbuild %s\n%s\n\n", r->board, r->chip,
            r->idcode, r->cpuid, r->build, r->emulated ? "in the emulator" : "on silicon");
    for (uint32_t i = 0; i < r->test_count; i++) {
        silicon_format(&r->test[i], text, sizeof text);
        fprintf(stream, "%s\n", text);
    }
    fprintf(stream, "\n%u ok, %u failed, %u unseen\n", silicon_count(r, SILICON_OK),
            silicon_count(r, SILICON_FAIL), silicon_count(r, SILICON_UNSEEN));
}

static int write_report(const request_t *request, const silicon_report_t *r) {
    char path[400];
    file_text_t file;
    int status = EXIT_YES;
    if (request_has(request, OPTION_OUTPUT)) {
        const char *json = request->value[OPTION_OUTPUT];
        text_path(json, path, sizeof path);
        FILE *stream = file_text_begin(&file);
        if (stream)
            silicon_write_json(r, stream);
        status = file_text_end(&file, json);
        stream = status == EXIT_YES ? file_text_begin(&file) : NULL;
        if (stream)
            write_text(r, stream);
        if (status == EXIT_YES)
            status = file_text_end(&file, path);
        if (status == EXIT_YES && !request_has(request, OPTION_JSON))
            out_format("the report is in %s and %s\n", json, path);
    }
    if (status == EXIT_YES && request_has(request, OPTION_JSON)) {
        FILE *stream = file_text_begin(&file);
        if (stream)
            silicon_write_json(r, stream);
        status = file_text_end(&file, "-");
    }
    return status;
}

/* Asks before anything is erased or driven. */
static int agree(const request_t *request, const port_t *port) {
    if (request_has(request, OPTION_YES) || port_firmware(port))
        return EXIT_YES;
    return confirm("the test erases the stored robots and drives the motor pins",
                   "repeat with --yes if nothing is connected to the board",
                   "The test erases the stored robots and drives the motor pins. Nothing may be "
                   "connected to the board but its cable.",
                   NULL);
}

static int run_board(const request_t *request) {
    static run_t run;
    port_error_t error;
    if (!request_has(request, OPTION_PORT))
        return diag_error(NULL, "name the board's port: --port /dev/ttyACM0", "--port is missing");
    if (request_has(request, OPTION_OUTPUT)) {
        char folder[400];
        snprintf(folder, sizeof folder, "%s", request->value[OPTION_OUTPUT]);
        char *slash = strrchr(folder, '/');
        if (slash) {
            *slash = '\0';
            (void)mkdir(folder, 0777); /* file_check says what is wrong */
        }
        if (file_check(request->value[OPTION_OUTPUT]) != EXIT_YES)
            return EXIT_BAD;
    }
    run.name = request->value[OPTION_PORT];
    run.live = !request_has(request, OPTION_JSON);
    run.port = port_open(run.name, NULL, &error);
    if (!run.port)
        return diag_error(NULL, error.cure, "%s", error.what);
    int status = agree(request, run.port);
    if (status == EXIT_YES)
        status = drive(&run);
    port_close(run.port);
    if (status != EXIT_YES)
        return status;
    if (run.live)
        out_format("%u ok, %u failed, %u unseen\n", silicon_count(&run.report, SILICON_OK),
                   silicon_count(&run.report, SILICON_FAIL),
                   silicon_count(&run.report, SILICON_UNSEEN));
    status = write_report(request, &run.report);
    return status == EXIT_YES && silicon_count(&run.report, SILICON_FAIL) > 0 ? EXIT_NO : status;
}

/* -------------------------------------------------------------------------------------- compare */

static int load(const char *path, silicon_report_t *report) {
    static char text[1 << 17];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    if (size == 0 || size == sizeof text)
        return diag_error(path, "name a file that `appell silicon -o` wrote",
                          "the file cannot be read, is empty or is too long");
    const char *why = silicon_read_json(text, size, report);
    return why ? diag_error(path, "name a file that `appell silicon -o` wrote",
                            "this is not a report: %s", why)
               : EXIT_YES;
}

/* One cell: the value, and for a row of the bench its ratio to the model. */
static void cell(const silicon_report_t *report, const char *name, char *out, size_t size) {
    const silicon_test_t *t = silicon_find(report, name);
    char robot[24], problem[16], method[16], real[8];
    double instructions, cycles;
    if (!t || t->verdict == SILICON_UNSEEN) {
        snprintf(out, size, "%s", t ? "unseen" : "-");
        return;
    }
    const int used =
        snprintf(out, size, "%.0f%s", t->value, t->verdict == SILICON_FAIL ? " FAIL" : "");
    if (sscanf(name, "cycles.%23[^.].%15[^.].%15[^.].%7[^.]", robot, problem, method, real) != 4 ||
        !budget_row(report->board, robot, problem, method, real, &instructions, &cycles))
        return;
    const double model = !strcmp(t->unit, "cycles") ? cycles : instructions;
    snprintf(out + used, size - (size_t)used, " = %.2f x %.0f", t->value / model, model);
}

/* The unit of a test in the first report that has seen it. */
static const char *unit_of(const silicon_report_t *report, int reports, const char *name) {
    for (int k = 0; k < reports; k++) {
        const silicon_test_t *t = silicon_find(&report[k], name);
        if (t && *t->unit)
            return t->unit;
    }
    return "";
}

static bool named_before(const silicon_report_t *report, int reports, const char *name) {
    bool found = false;
    for (int k = 0; k < reports && !found; k++)
        found = silicon_find(&report[k], name) != NULL;
    return found;
}

static int compare(const request_t *request) {
    static silicon_report_t report[REPORTS_MAX];
    const int reports = request->arguments - 1;
    uint32_t failures = 0;
    if (reports < 1)
        return diag_error(NULL, "usage: appell silicon compare REPORT...", "REPORT is missing");
    for (int k = 0; k < reports; k++) {
        if (load(request->argument[k + 1], &report[k]) != EXIT_YES)
            return EXIT_BAD;
        failures += silicon_count(&report[k], SILICON_FAIL);
    }
    out_format("%-34s %-12s", "test", "unit");
    for (int k = 0; k < reports; k++) {
        char title[64];
        snprintf(title, sizeof title, "%s%s", report[k].board,
                 report[k].emulated ? " (emulated)" : "");
        out_format(" %-27s", title);
    }
    out_text("\n");
    for (int k = 0; k < reports; k++)
        for (uint32_t i = 0; i < report[k].test_count; i++) {
            const silicon_test_t *t = &report[k].test[i];
            if (named_before(report, k, t->name))
                continue;
            out_format("%-34s %-12s", t->name, unit_of(report, reports, t->name));
            for (int c = 0; c < reports; c++) {
                char text[64];
                cell(&report[c], t->name, text, sizeof text);
                out_format(" %-27s", text);
            }
            out_text("\n");
        }
    out_text("A row of the bench is its value = ratio x model; the model is an estimate without "
             "wait states (tools/bench).\n");
    return failures > 0 ? EXIT_NO : EXIT_YES;
}

int cmd_silicon(const request_t *request) {
    if (request->arguments == 0)
        return run_board(request);
    if (strcmp(request->argument[0], "compare") != 0)
        return diag_error(NULL,
                          "usage: appell silicon --port P, or appell silicon compare REPORT...",
                          "'%s' is not a word of this command", request->argument[0]);
    return compare(request);
}
