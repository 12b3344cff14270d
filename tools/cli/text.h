/*
 * Makes text from outside printable: names and texts of a board, of a file or of the command line
 * may contain escape sequences for the terminal. Every byte of a control character, and every byte
 * that is not UTF-8, becomes visible, such as \x1b.
 */
#ifndef TOOLS_CLI_TEXT_H
#define TOOLS_CLI_TEXT_H

#include <stddef.h>

/* Returns the number of bytes of the UTF-8 character at `text`, or 0 if its first byte must be made
 * visible. */
size_t text_character(const char *text);

/* Writes as much of *text as fits into `out`, with a final zero, and moves *text behind it. The
 * control characters in `keep` stay as they are. Returns the number of bytes without the zero. */
size_t text_visible(const char **text, char *out, size_t size, const char *keep);

#endif
