/* Implements tools/cli/text.h. */
#include "tools/cli/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t text_character(const char *text) {
    static const unsigned least[5] = {0, ' ', 0xa0, 0x800, 0x10000}; /* 0x80 to 0x9f are controls */
    const unsigned char *s = (const unsigned char *)text;
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
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[size] || code == 0x7f || code > 0x10ffff || surrogate ? 0 : size;
}

size_t text_visible(const char **text, char *out, size_t size, const char *keep) {
    size_t used = 0;
    while (**text) {
        size_t kept = text_character(*text);
        if (kept == 0 && strchr(keep, **text))
            kept = 1;
        const size_t wide = kept > 0 ? kept : 4;
        if (used + wide >= size)
            break;
        if (kept > 0)
            memcpy(out + used, *text, kept);
        else
            snprintf(out + used, 5, "\\x%02x", (unsigned char)**text);
        used += wide;
        *text += kept > 0 ? kept : 1;
    }
    out[used] = '\0';
    return used;
}
