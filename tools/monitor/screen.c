/* Implements tools/monitor/screen.h. */
#include "tools/monitor/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* CELL: columns of a value: a blank, the number, a mark. TALL: from this height on there is room for
 * units and for more than one line of text. */
enum { CELL = 12, NAME_MOST = 16, TALL = 20, EVENT_LINES = 3, ONE_LINES = 2 };

#define MARKS  "! marks a value near its limit, # one at its limit"
#define NORMAL "\033[0m"
#define RED    "\033[31m"
#define YELLOW "\033[33m"

typedef struct {
    char *out;
    size_t size, used;
    unsigned width, height, column, line;
} page_t;

/* What is where, for one size of the terminal. */
typedef struct {
    unsigned name;          /* columns of the joints' names */
    uint32_t columns, rows; /* fields and joints on a page */
    uint32_t field_pages, joint_pages;
    uint32_t first_field, first_joint;
} layout_t;

screen_nearness_t screen_nearness(double value, const double limit[2]) {
    const double middle = (limit[0] + limit[1]) / 2, half = (limit[1] - limit[0]) / 2;
    const double part = half > 0 ? fabs(value - middle) / half : 0;
    /* A value that was clipped at its limit may be less by the rounding of a number type. */
    return part >= 0.999 ? SCREEN_AT : part >= 0.9 ? SCREEN_NEAR : SCREEN_FREE;
}

/* ---------------------------------------------------------------------------------- characters */

static void put_bytes(page_t *page, const char *bytes, size_t size) {
    if (page->line < page->height && page->used + size < page->size) {
        memcpy(page->out + page->used, bytes, size);
        page->used += size;
    }
}

/* Returns the bytes of the character at `text`; *shown gets it, or ? if its width on a terminal is
 * not known to be one column. */
static size_t take_character(const char *text, const char **shown, size_t *size) {
    const unsigned char first = (unsigned char)text[0];
    size_t bytes = 1;
    while (first >= 0xc0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes++;
    const bool latin = bytes == 2 && first >= 0xc3 && first <= 0xc9;
    *shown = latin || (first >= ' ' && first < 0x7f) ? text : "?";
    *size = latin ? 2 : 1;
    return bytes;
}

/* Puts at most `most` columns of the text, and as many as the line has. */
static void put_some(page_t *page, const char *text, unsigned most) {
    for (unsigned n = 0; *text && n < most && page->column < page->width; n++, page->column++) {
        const char *shown;
        size_t size;
        text += take_character(text, &shown, &size);
        put_bytes(page, shown, size);
    }
}

static void put(page_t *page, const char *text) {
    put_some(page, text, page->width);
}

static void pad_to(page_t *page, unsigned column) {
    while (page->column < column && page->column < page->width)
        put(page, " ");
}

static void colour(const screen_t *s, page_t *page, const char *sequence) {
    if (s->colour)
        put_bytes(page, sequence, strlen(sequence));
}

/* Line ends are between lines, so that the last line of the terminal does not scroll it. */
static void begin_line(page_t *page) {
    if (page->used > 0 && page->line + 1 < page->height)
        put_bytes(page, "\n", 1);
    page->line += page->used > 0;
    page->column = 0;
}

/* Puts a text into `lines` lines, broken between words; what is left of them stays empty. */
static void put_wrapped(page_t *page, const char *text, unsigned lines) {
    for (unsigned i = 0; i < lines; i++) {
        size_t size = 0, last = 0;
        unsigned columns = 0;
        begin_line(page);
        while (text[size] && columns <= page->width) {
            const char *shown;
            size_t bytes;
            last = text[size] == ' ' ? size : last;
            size += take_character(text + size, &shown, &bytes);
            columns++;
        }
        const bool whole = columns <= page->width;
        const size_t end = whole || i + 1 == lines || last == 0 ? size : last;
        char part[4 * SCREEN_WIDE];
        snprintf(part, sizeof part, "%.*s", (int)end, text);
        put(page, part);
        text += end;
        text += strspn(text, " ");
    }
}

/* --------------------------------------------------------------------------------------- parts */

static unsigned columns_of(const char *text) {
    unsigned columns = 0;
    for (const char *shown; *text; columns++) {
        size_t size;
        text += take_character(text, &shown, &size);
    }
    return columns;
}

static unsigned event_lines(const screen_t *s) {
    return s->height >= TALL ? EVENT_LINES : 1;
}

/* Values of the whole arm are one text. */
static unsigned one_lines(const screen_t *s, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (uint32_t i = 0; i < s->fields && used < size; i++)
        if (!s->field[i].per_joint)
            used += (size_t)snprintf(text + used, size - used, "%s%s %.10g", used > 0 ? "  " : "",
                                     s->field[i].name, s->field[i].value[0]);
    const unsigned most = s->height >= TALL ? ONE_LINES : 1;
    const unsigned needed = used > 0 ? ((unsigned)used + s->width - 1) / s->width : 0;
    return needed < most ? needed : most;
}

static layout_t lay_out(const screen_t *s, uint32_t columns, unsigned above) {
    layout_t l = {.name = 5};
    for (uint32_t i = 0; i < s->joints; i++)
        if (columns_of(s->joint[i]) > l.name)
            l.name = columns_of(s->joint[i]);
    l.name = l.name < NAME_MOST ? l.name : NAME_MOST;
    /* at least "31-32 of 32" */
    l.name = s->width < 2 * SCREEN_NARROW || l.name < 11 ? 11 : l.name;
    l.columns = (s->width - l.name) / CELL;
    const unsigned below = event_lines(s) + (s->typed ? 2 : 0);
    l.rows = above + below < s->height ? s->height - above - below : 1;
    l.field_pages = columns > 0 ? (columns + l.columns - 1) / l.columns : 1;
    l.joint_pages = s->joints > 0 ? (s->joints + l.rows - 1) / l.rows : 1;
    l.first_field = s->field_page % l.field_pages * l.columns;
    l.first_joint = s->joint_page % l.joint_pages * l.rows;
    return l;
}

static void put_titles(const screen_t *s, page_t *page, const layout_t *l,
                       const screen_field_t *const *column, uint32_t columns, bool units) {
    char text[64];
    begin_line(page);
    const uint32_t last =
        l->first_joint + l->rows < s->joints ? l->first_joint + l->rows : s->joints;
    snprintf(text, sizeof text, l->joint_pages > 1 ? "%u-%u of %u" : "joint",
             (unsigned)l->first_joint + 1, (unsigned)last, (unsigned)s->joints);
    put_some(page, units ? "" : text, l->name);
    for (uint32_t i = 0; i < l->columns && l->first_field + i < columns; i++) {
        const screen_field_t *field = column[l->first_field + i];
        const char *title = units ? field->unit : field->name;
        const unsigned wide = columns_of(title) < CELL - 2 ? columns_of(title) : CELL - 2;
        pad_to(page, l->name + CELL * i + (CELL - 1 - wide));
        put_some(page, title, wide);
    }
}

static void put_joint(const screen_t *s, page_t *page, const layout_t *l,
                      const screen_field_t *const *column, uint32_t columns, uint32_t joint) {
    static const char *const mark[] = {" ", "!", "#"}, *const paint[] = {"", YELLOW, RED};
    begin_line(page);
    put_some(page, s->joint[joint], l->name);
    for (uint32_t i = 0; i < l->columns && l->first_field + i < columns; i++) {
        const screen_field_t *field = column[l->first_field + i];
        const double value = field->value[joint];
        const screen_nearness_t near =
            field->limit ? screen_nearness(value, field->limit[joint]) : SCREEN_FREE;
        char number[32];
        snprintf(number, sizeof number, "%*.5g", CELL - 2, value);
        pad_to(page, l->name + CELL * i + 1);
        colour(s, page, paint[near]);
        put_some(page, number, CELL - 2);
        put(page, mark[near]);
        colour(s, page, near != SCREEN_FREE ? NORMAL : "");
    }
}

static void put_prompt(const screen_t *s, page_t *page, const layout_t *l) {
    char keys[120];
    snprintf(keys, sizeof keys, "^X: stop  ^C: end  <- ->: fields %u/%u  PgUp PgDn: joints %u/%u",
             (unsigned)(s->field_page % l->field_pages) + 1, (unsigned)l->field_pages,
             (unsigned)(s->joint_page % l->joint_pages) + 1, (unsigned)l->joint_pages);
    begin_line(page);
    put(page, keys);
    begin_line(page);
    put(page, "> ");
    /* The end of a long line is shown; the last column stays free for the cursor. */
    const char *typed = s->typed;
    while (columns_of(typed) + 3 > page->width) {
        const char *shown;
        size_t size;
        typed += take_character(typed, &shown, &size);
    }
    put(page, typed);
}

size_t screen_text(const screen_t *screen, char *out, size_t size) {
    screen_t s = *screen;
    s.width = s.width < SCREEN_NARROW ? SCREEN_NARROW
              : s.width > SCREEN_WIDE ? SCREEN_WIDE
                                      : s.width;
    s.height = s.height < SCREEN_LOW ? SCREEN_LOW : s.height > SCREEN_HIGH ? SCREEN_HIGH : s.height;
    page_t page = {.out = out, .size = size, .width = s.width, .height = s.height};
    const screen_field_t *column[256];
    uint32_t columns = 0;
    char ones[512];
    for (uint32_t i = 0; i < s.fields && columns < 256; i++)
        if (s.field[i].per_joint)
            column[columns++] = &s.field[i];
    const unsigned lines = one_lines(&s, ones, sizeof ones), titles = s.height >= TALL ? 2 : 1;
    const layout_t l = lay_out(&s, columns, SCREEN_HEADS + lines + titles);
    for (unsigned i = 0; i < SCREEN_HEADS; i++) {
        begin_line(&page);
        colour(&s, &page, i == 1 && s.alarm ? RED : "");
        put(&page, *s.head[i] ? s.head[i] : " ");
        colour(&s, &page, i == 1 && s.alarm ? NORMAL : "");
    }
    if (lines > 0)
        put_wrapped(&page, ones, lines);
    for (unsigned i = 0; i < titles; i++)
        put_titles(&s, &page, &l, column, columns, i == 1);
    for (uint32_t k = l.first_joint; k < s.joints && k < l.first_joint + l.rows; k++)
        put_joint(&s, &page, &l, column, columns, k);
    put_wrapped(&page, *s.event ? s.event : MARKS, event_lines(&s));
    if (s.typed)
        put_prompt(&s, &page, &l);
    out[page.used < size ? page.used : size - 1] = '\0';
    return page.used;
}
