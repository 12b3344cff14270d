/* Writes JSON (tools/cli/json.h). */
#include "tools/cli/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/out.h"
#include "tools/cli/text.h"

enum { DEEPEST = 16 };

static struct {
    int depth;
    bool some[DEEPEST]; /* the object or list at this depth already has an entry */
} json;

static void put_string(const char *text) {
    out_text("\"");
    while (*text) {
        const unsigned char *s = (const unsigned char *)text;
        const bool c1 = s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0; /* U+0080 to U+009F */
        const size_t size = text_character(text);
        if (*s == '"' || *s == '\\')
            out_format("\\%c", *s);
        else if (size > 0)
            out_bytes(text, size);
        else
            out_format("\\u%04x", c1 ? s[1] : *s < 0x80 ? *s : 0xfffdu); /* JSON must be UTF-8 */
        text += size > 0 ? size : 1u + c1;
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
