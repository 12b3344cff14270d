/* Implements tools/monitor/terminal.h. */
#include "tools/monitor/terminal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tools/cli/out.h"

enum { TYPED = 64 };

static struct {
    bool shown, keys;
    struct termios before;
    char typed[TYPED];
    size_t size;
} terminal;

/* Moves the cursor or clears a line; out_text would make the sequence visible. */
static void control(const char *sequence) {
    out_bytes(sequence, strlen(sequence));
}

void terminal_begin(bool keys) {
    struct termios raw;
    if (keys && tcgetattr(STDIN_FILENO, &terminal.before) == 0) {
        raw = terminal.before;
        /* ISIG stays; the suspend character goes, because a stopped program renews no lease. */
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
        raw.c_iflag &= ~(tcflag_t)IXON;
        raw.c_iflag |= ICRNL;
        raw.c_cc[VSUSP] = _POSIX_VDISABLE;
        raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
        terminal.keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    control("\033[?1049h\033[H");
    terminal.shown = true;
    atexit(terminal_end);
}

void terminal_end(void) {
    if (terminal.shown) {
        control("\033[?1049l");
        out_flush();
    }
    if (terminal.keys)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
    terminal.shown = terminal.keys = false;
}

void terminal_size(unsigned *width, unsigned *height) {
    struct winsize size = {0};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    *width = known ? size.ws_col : 80;
    *height = known && size.ws_row > 0 ? size.ws_row : 24;
}

bool terminal_colour(void) {
    const char *unwanted = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(unwanted && *unwanted);
}

void terminal_show(const char *text) {
    control("\033[H");
    while (*text) {
        const size_t size = strcspn(text, "\n");
        /* Cleared before it is written: behind a full line the cursor is on its last character. */
        control("\033[2K");
        out_bytes(text, size);
        text += size;
        if (*text) {
            control("\n");
            text++;
        }
    }
    control("\033[J");
    out_flush();
}

static const struct {
    const char *sequence;
    int key;
} keys[] = {{"\033[D", KEY_LEFT},     {"\033OD", KEY_LEFT},       {"\033[C", KEY_RIGHT},
            {"\033OC", KEY_RIGHT},    {"\033[5~", KEY_PAGE_UP},   {"\033[A", KEY_PAGE_UP},
            {"\033OA", KEY_PAGE_UP},  {"\033[6~", KEY_PAGE_DOWN}, {"\033[B", KEY_PAGE_DOWN},
            {"\033OB", KEY_PAGE_DOWN}};

/* Returns the bytes of the key at the beginning of what was typed. */
static size_t first_key(int *key) {
    const char *typed = terminal.typed;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const size_t size = strlen(keys[i].sequence);
        if (terminal.size >= size && !memcmp(typed, keys[i].sequence, size)) {
            *key = keys[i].key;
            return size;
        }
    }
    *key = typed[0] == '\b' ? KEY_BACKSPACE : (unsigned char)typed[0];
    if (typed[0] != '\033')
        return 1;
    /* A sequence that means nothing here is passed over up to its last character. */
    size_t size = 1;
    if (size < terminal.size && (typed[size] == '[' || typed[size] == 'O')) {
        size++;
        while (size < terminal.size && typed[size] < '@')
            size++;
        size += size < terminal.size;
    }
    *key = KEY_NONE;
    return size;
}

int terminal_key(void) {
    int key = KEY_NONE;
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!terminal.keys)
        return KEY_NONE;
    if (terminal.size < TYPED && poll(&wait, 1, 0) > 0) {
        const ssize_t n = read(STDIN_FILENO, terminal.typed + terminal.size, TYPED - terminal.size);
        terminal.size += n > 0 ? (size_t)n : 0;
    }
    while (terminal.size > 0 && key == KEY_NONE) {
        const size_t used = first_key(&key);
        terminal.size -= used;
        memmove(terminal.typed, terminal.typed + used, terminal.size);
    }
    return key;
}
