/* Writes JSON (tools/cli/json.h). */
#include "tools/cli/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/out.h"

enum { DEEPEST = 16 };

static struct {
    int depth;
    bool some[DEEPEST]; /* the object or list at this depth already has an entry */
} json;

/* Returns the length of the UTF-8 sequence at s, or 0 if it is invalid, because JSON must be valid
 * UTF-8. */
static size_t sequence(const unsigned char *s) {
    static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t size = s[0] < 0x80             ? 1
                        : (s[0] & 0xe0) == 0xc0 ? 2
                        : (s[0] & 0xf0) == 0xe0 ? 3
                        : (s[0] & 0xf8) == 0xf0 ? 4
                                                : 0;
    unsigned code = size > 1 ? s[0] & (0x7fu >> size) : s[0];
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    if (size > 1 && (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
        return 0;
    return size;
}

static void put_string(const char *text) {
    out_text("\"");
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t size = sequence(s);
        if (size == 0) {
            out_text("\\ufffd");
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            out_format("\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            out_format("\\u%04x", *s);
        else
            out_bytes((const char *)s, size);
        s += size;
    }
    out_text("\"");
}

static void line(void) {
    out_text("\n");
    for (int i = 0; i < json.depth; i++)
        out_text("  ");
}

static void entry(const char *key) {
    if (json.depth > 0) {
        if (json.some[json.depth - 1])
            out_text(",");
        json.some[json.depth - 1] = true;
        line();
    }
    if (key) {
        put_string(key);
        out_text(": ");
    }
}

static void open_with(const char *key, const char *bracket) {
    entry(key);
    out_text(bracket);
    assert(json.depth < DEEPEST);
    json.some[json.depth++] = false;
}

static void close_with(const char *bracket) {
    assert(json.depth > 0);
    json.depth--;
    if (json.some[json.depth])
        line();
    out_text(bracket);
    if (json.depth == 0)
        out_text("\n");
}

void json_begin(const char *key) {
    open_with(key, "{");
}

void json_end(void) {
    close_with("}");
}

void json_list(const char *key) {
    open_with(key, "[");
}

void json_list_end(void) {
    close_with("]");
}

void json_string(const char *key, const char *text) {
    entry(key);
    put_string(text);
}

void json_number(const char *key, double value) {
    char text[40] = "null";
    entry(key);
    for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    out_text(text);
}

void json_integer(const char *key, long value) {
    entry(key);
    out_format("%ld", value);
}

void json_bool(const char *key, bool value) {
    entry(key);
    out_text(value ? "true" : "false");
}

void json_null(const char *key) {
    entry(key);
    out_text("null");
}

void json_numbers(const char *key, const double *value, size_t count, int digits) {
    entry(key);
    out_text("[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            out_text(", ");
        out_number(value[i], digits);
    }
    out_text("]");
}
