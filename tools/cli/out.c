/* Implements the buffered standard output of tools/cli/out.h. */
#include "tools/cli/out.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/number.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/progress.h"
#include "tools/cli/text.h"

static struct {
    char buffer[1 << 16];
    size_t used;
    int error; /* errno of the first failure, or 0 */
} out;

void out_begin(void) {
    /* A write to a closed pipe should fail with EPIPE and not end the program with a signal. */
    signal(SIGPIPE, SIG_IGN);
}

void out_flush(void) {
    size_t done = 0;
    if (out.used > 0)
        progress_clear();
    while (done < out.used && !out.error) {
        const ssize_t n = write(STDOUT_FILENO, out.buffer + done, out.used - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            out.error = errno;
    }
    out.used = 0;
    if (!out.error && (fflush(stdout) != 0 || ferror(stdout)))
        out.error = errno;
}

void out_bytes(const char *bytes, size_t size) {
    while (size > 0) {
        size_t part = sizeof out.buffer - out.used;
        part = part < size ? part : size;
        memcpy(out.buffer + out.used, bytes, part);
        out.used += part;
        bytes += part;
        size -= part;
        if (out.used == sizeof out.buffer)
            out_flush();
    }
}

void out_text(const char *text) {
    char part[512];
    while (*text) {
        const size_t size = text_visible(&text, part, sizeof part, "\n\t");
        out_bytes(part, size);
    }
}

void out_format(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < (int)sizeof text) {
        out_text(size > 0 ? text : "");
        return;
    }
    char *more = malloc((size_t)size + 1);
    if (!more) {
        out.error = ENOMEM;
        return;
    }
    va_start(arguments, format);
    vsnprintf(more, (size_t)size + 1, format, arguments);
    va_end(arguments);
    out_text(more);
    free(more);
}

void out_number(double value, int digits) {
    if (sizeof out.buffer - out.used < NUMBER_ROOM)
        out_flush();
    out.used += number_print(out.buffer + out.used, value, digits);
}

void out_row(const double *value, size_t count, int digits) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            out_bytes(" ", 1);
        out_number(value[i], digits);
    }
    out_bytes("\n", 1);
}

bool out_failed(void) {
    return out.error != 0;
}

int out_close(int code) {
    out_flush();
    if (!out.error && close(STDOUT_FILENO) != 0 && errno != EBADF)
        out.error = errno;
    if (out.error == EPIPE)
        return code == EXIT_BAD ? EXIT_BAD : EXIT_YES;
    if (out.error)
        return diag_error("standard output", "free some space, or write elsewhere",
                          "writing failed: %s", strerror(out.error));
    return code;
}
