/* Prints errors and notes to standard error. */
#include "tools/cli/diagnostics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cli/progress.h"
#include "tools/cli/text.h"

static char command_place[64] = "appell";
static bool without_notes;

void diag_quiet(void) {
    without_notes = true;
    progress_off();
}

void diag_command(const char *name) {
    snprintf(command_place, sizeof command_place, "appell %.50s", name);
}

const char *diag_place(void) {
    return command_place;
}

static void diag_print(const char *place, const char *kind, const char *cure, const char *format,
                       va_list arguments) {
    char text[1024], line[8192], part[8192];
    vsnprintf(text, sizeof text, format, arguments);
    snprintf(line, sizeof line, "%s: %s: %s%s%s", place ? place : command_place, kind, text,
             cure && *cure ? "; " : "", cure ? cure : "");
    const char *at = line;
    text_visible(&at, part, sizeof part, "");
    progress_clear();
    fprintf(stderr, "%s\n", part);
}

int diag_error(const char *place, const char *cure, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diag_print(place, "error", cure, format, arguments);
    va_end(arguments);
    return EXIT_BAD;
}

void diag_note(const char *place, const char *format, ...) {
    va_list arguments;
    if (without_notes)
        return;
    va_start(arguments, format);
    diag_print(place, "note", NULL, format, arguments);
    va_end(arguments);
}

int diag_no_memory(void) {
    return diag_error(NULL, NULL, "there is not enough memory");
}

void diag_messages(const messages_t *messages, bool quiet) {
    for (size_t i = 0; i < messages->count; i++) {
        const message_t *m = &messages->item[i];
        if (quiet && m->severity != MESSAGE_ERROR)
            continue;
        const int size = messages_format(m, NULL, 0);
        char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
        if (!text)
            continue;
        messages_format(m, text, (size_t)size + 1);
        fprintf(stderr, "%s\n", text);
        free(text);
    }
    if (messages->dropped > 0)
        fprintf(stderr, "and %zu more\n", messages->dropped);
}
