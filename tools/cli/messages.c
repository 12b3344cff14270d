/* Implements the list of messages of messages.h. */
#include "tools/cli/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/text.h"

void messages_free(messages_t *messages) {
    for (size_t i = 0; i < messages->count; i++) {
        free(messages->item[i].file);
        free(messages->item[i].subject);
        free(messages->item[i].text);
        free(messages->item[i].cure);
    }
    free(messages->item);
    *messages = (messages_t){0};
}

/* Copies text that may come from a file, for output on a terminal; the length is limited. */
static char *copy_clean(const char *text) {
    char out[1000];
    text = text ? text : "";
    text_visible(&text, out, sizeof out, "");
    return strdup(out);
}

void messages_add(messages_t *messages, message_severity_t severity, message_code_t code,
                  message_place_t place, const char *cure, const char *format, ...) {
    if (severity == MESSAGE_ERROR)
        messages->errors++;
    if (severity == MESSAGE_WARNING)
        messages->warnings++;
    if (messages->count == MESSAGES_MAX) {
        messages->dropped++;
        return;
    }
    if (messages->count == messages->room) {
        size_t room = messages->room ? 2 * messages->room : 16;
        message_t *item = realloc(messages->item, room * sizeof *item);
        if (!item) {
            messages->dropped++;
            return;
        }
        messages->item = item;
        messages->room = room;
    }
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    message_t *m = &messages->item[messages->count];
    *m = (message_t){.severity = severity, .code = code, .line = place.line};
    m->file = copy_clean(place.file);
    m->subject = copy_clean(place.subject);
    m->text = copy_clean(text);
    m->cure = copy_clean(cure);
    if (!m->file || !m->subject || !m->text || !m->cure) {
        free(m->file);
        free(m->subject);
        free(m->text);
        free(m->cure);
        messages->dropped++;
        return;
    }
    messages->count++;
}

const char *messages_code_name(message_code_t code) {
    switch (code) {
#define X(number, name, text, about)                                                               \
    case MESSAGE_##name:                                                                           \
        return text;
        MESSAGE_TABLE(X)
#undef X
    }
    return "unknown";
}

const char *messages_code_about(message_code_t code) {
    switch (code) {
#define X(number, name, text, about)                                                               \
    case MESSAGE_##name:                                                                           \
        return about;
        MESSAGE_TABLE(X)
#undef X
    }
    return "";
}

const char *messages_severity_name(message_severity_t severity) {
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}

int messages_format(const message_t *m, char *out, size_t size) {
    char line[16] = "";
    if (m->line > 0)
        snprintf(line, sizeof line, ":%u", (unsigned)m->line);
    return snprintf(out, size, "%s%s%s%s: %s%s%s%s%s [%s]", m->file, line, *m->file ? ": " : "",
                    messages_severity_name(m->severity), m->subject, *m->subject ? ": " : "",
                    m->text, *m->cure ? "; " : "", m->cure, messages_code_name(m->code));
}

/* Returns the number of edits (insert, delete, replace, swap neighbours) between two words of at
 * most 31 letters. */
static unsigned distance(const char *a, const char *b) {
    enum { LONGEST = 32 };
    size_t n = strlen(a), m = strlen(b);
    if (n >= LONGEST || m >= LONGEST)
        return LONGEST;
    unsigned d[LONGEST][LONGEST];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *messages_nearest(const char *word, const char *const *known) {
    const char *best = NULL;
    /* About a third of the letters may be wrong; a prefix such as "vel" matches too. */
    unsigned least = (unsigned)strlen(word) / 3 + 2;
    for (; *known; known++) {
        unsigned d = distance(word, *known);
        if (strlen(word) >= 3 && strncmp(word, *known, strlen(word)) == 0)
            d = 1;
        if (d < least) {
            least = d;
            best = *known;
        }
    }
    return best;
}

char *messages_suggest(char *out, size_t size, const char *word, const char *const *known,
                       const char *otherwise) {
    const char *near = messages_nearest(word, known);
    snprintf(out, size, "%s%s%s%s", near ? "did you mean " : "", near ? near : "", near ? "? " : "",
             otherwise);
    return out;
}
