/* The terminal of a live screen: its size, its keys one by one, and its restoration. */
#ifndef TOOLS_MONITOR_TERMINAL_H
#define TOOLS_MONITOR_TERMINAL_H

#include <stdbool.h>

/* Keys that are no characters. */
typedef enum {
    KEY_NONE = 0,
    KEY_STOP = 0x18, /* control-X */
    KEY_ERASE_LINE = 0x15,
    KEY_BACKSPACE = 0x7f,
    KEY_ENTER = '\n',
    KEY_LEFT = 0x100,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN
} terminal_key_t;

/* Shows another screen than that of the shell. With `keys`, standard input gives keys at once and
 * without echo; control-C stays a signal. The program's exit also ends it. */
void terminal_begin(bool keys);
/* Restores screen and keys; a second call does nothing. */
void terminal_end(void);

void terminal_size(unsigned *width, unsigned *height);
/* Colours are for terminals only, and not wanted if NO_COLOR is set (no-color.org). */
bool terminal_colour(void);
/* Replaces what the terminal shows by these lines; the cursor stays behind the last one. */
void terminal_show(const char *text);
/* Returns the next key that was typed, a byte of a character or a terminal_key_t; KEY_NONE: none. */
int terminal_key(void);

#endif
