/* Implements tools/cli/progress.h. */
#include "tools/cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* FIRST_MS is the time until the line appears, EVERY_MS that between two drawings. */
enum { FIRST_MS = 500, EVERY_MS = 100, WIDTH = 40 };

static struct {
    bool off, begun, shown;
    int64_t next_ms;
} line;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void progress_off(void) {
    line.off = true;
}

void progress_show(const char *what, uint64_t done, uint64_t all) {
    static const char full[WIDTH + 1] = "########################################";
    if (line.off || !isatty(STDERR_FILENO))
        return;
    if (done >= all) {
        progress_clear();
        line.begun = false;
        return;
    }
    const int64_t now = now_ms();
    if (!line.begun)
        line.next_ms = now + FIRST_MS;
    line.begun = true;
    if (now < line.next_ms)
        return;
    const int part = (int)(done * WIDTH / all);
    fprintf(stderr, "\r%s [%-*.*s] %llu of %llu\033[K", what, WIDTH, part, full,
            (unsigned long long)done, (unsigned long long)all);
    fflush(stderr);
    line.shown = true;
    line.next_ms = now + EVERY_MS;
}

void progress_clear(void) {
    if (!line.shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    line.shown = false;
}
