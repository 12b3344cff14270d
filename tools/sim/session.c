/* Runs a simulation with a progress bar, and stops it at control-C. */
#include "tools/sim/session.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tools/cli/diagnostics.h"

static volatile sig_atomic_t interrupted;

static struct {
    double from, until;
    double began_s; /* time of the clock at the start of the run, in seconds */
    unsigned calls;
    bool shown, terminal;
} progress;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static double clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { BAR = 40, CALLS_BETWEEN = 200 };

static void draw(double t) {
    const double part = (t - progress.from) / (progress.until - progress.from);
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < part * BAR ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  t = %.3f s", bar, 100 * part, t);
    fflush(stderr);
    progress.shown = true;
}

bool session_stop(void *self, double t) {
    (void)self;
    /* Shows the bar only after 0.3 s, and reads the clock only every CALLS_BETWEEN steps. */
    if (progress.terminal && ++progress.calls % CALLS_BETWEEN == 0 &&
        clock_s() - progress.began_s > 0.3)
        draw(t);
    return interrupted;
}

int session_run(sim_t *sim, double duration_s, sim_record_t *record) {
    struct sigaction ours = {.sa_handler = on_interrupt}, before;
    interrupted = 0;
    progress.from = sim_time(sim);
    progress.until = progress.from + duration_s;
    progress.began_s = clock_s();
    progress.calls = 0;
    progress.shown = false;
    progress.terminal = isatty(STDERR_FILENO);
    sigaction(SIGINT, &ours, &before);
    const int status = sim_run(sim, duration_s, record);
    sigaction(SIGINT, &before, NULL);
    if (progress.shown) /* erases the bar */
        fprintf(stderr, "\r%*s\r", BAR + 32, "");
    return status;
}

double session_kinetic(const sim_record_t *record) {
    double most = 0;
    for (size_t i = 0; i < record->rows; i++)
        most = fmax(most, sim_record_row(record, i).kinetic);
    return most;
}

double session_balance(const sim_record_t *record) {
    double most = 0;
    for (size_t i = 0; i < record->rows; i++)
        most = fmax(most, fabs(sim_record_row(record, i).balance));
    return most;
}
