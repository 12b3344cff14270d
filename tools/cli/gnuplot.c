/* Implements tools/cli/gnuplot.h: gnuplot reads data and script from its standard input. */
#include "tools/cli/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/cli/file.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/text.h"

/* Picture formats: suffix, terminal of gnuplot, unit of its size, font, and pixels per unit. */
static const struct {
    const char *ending, *terminal, *unit, *font;
    double dots;
} kinds[] = {{".png", "pngcairo", "", "sans,11", 1},
             {".svg", "svg dynamic", "", "sans,13", 1},
             {".pdf", "pdfcairo", "cm", "sans,9", 50.5}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *const color[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#7f4f24", "#555555"};
enum { COLORS = sizeof color / sizeof color[0] };

static size_t kind_of(const char *path) {
    const size_t length = strlen(path);
    size_t kind = 0;
    while (kind < KINDS) {
        const size_t size = strlen(kinds[kind].ending);
        if (length > size && !strcmp(path + length - size, kinds[kind].ending))
            break;
        kind++;
    }
    return kind;
}

/* A doubled quote would do inside a text, but gnuplot reads two quotes at its beginning as an empty
 * text. So each quote is a text of its own. */
static void put_quoted(FILE *pipe, const char *text) {
    fputc('\'', pipe);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'.\"'\".'", pipe);
        else
            fputc(*text == '\n' ? ' ' : *text, pipe);
    }
    fputc('\'', pipe);
}

void gnuplot_quoted(FILE *pipe, const char *text) {
    char visible[512];
    text_visible(&text, visible, sizeof visible, "");
    put_quoted(pipe, visible);
}

void gnuplot_legend(FILE *pipe, const char *text) {
    fputs(" title ", pipe);
    gnuplot_quoted(pipe, text);
    fputs(" noenhanced", pipe);
}

static int known_kind(const char *path) {
    if (kind_of(path) < KINDS)
        return EXIT_YES;
    return diag_error(path, "choose .png, .svg or .pdf",
                      "the file type of the plot is not supported");
}

int gnuplot_check(const char *path) {
    return known_kind(path) == EXIT_YES ? file_check(path) : EXIT_BAD;
}

FILE *gnuplot_open(const char *path) {
    if (known_kind(path) != EXIT_YES)
        return NULL;
    /* tests whether the file can be written, because gnuplot's message would not name the cause */
    FILE *probe = fopen(path, "ab");
    if (!probe) {
        diag_error(path, "check the path and its permissions", "cannot be written: %s",
                   strerror(errno));
        return NULL;
    }
    fclose(probe);
    FILE *pipe = popen("exec gnuplot", "w");
    if (!pipe)
        diag_error(path, NULL, "gnuplot cannot be started: %s", strerror(errno));
    return pipe;
}

static void data_row(FILE *pipe, const double *value, size_t width) {
    for (size_t k = 0; k < width; k++)
        fprintf(pipe, "%.9g ", value[k]);
    fputc('\n', pipe);
}

void gnuplot_data(FILE *pipe, size_t rows, size_t width,
                  void (*take)(const void *self, size_t row, double *value), const void *self) {
    const size_t group = rows > GNUPLOT_ROWS ? 1 + 2 * (rows - 1) / GNUPLOT_ROWS : 1;
    double *first = malloc(4 * width * sizeof *first);
    fputs("$data << END\n", pipe);
    for (size_t i = 0; i < rows && first; i += group) {
        double *last = first + width, *least = first + 2 * width, *most = first + 3 * width;
        take(self, i, first);
        for (size_t k = 0; k < width; k++)
            last[k] = least[k] = most[k] = first[k];
        for (size_t r = i + 1; r < i + group && r < rows; r++) {
            take(self, r, last);
            for (size_t k = 0; k < width; k++) {
                least[k] = fmin(least[k], last[k]);
                most[k] = fmax(most[k], last[k]);
            }
        }
        for (size_t k = 0; k < width; k++) {
            const bool falls = last[k] < first[k];
            first[k] = falls ? most[k] : least[k];
            last[k] = falls ? least[k] : most[k];
        }
        data_row(pipe, first, width);
        if (group > 1)
            data_row(pipe, last, width);
    }
    fputs("END\n", pipe);
    free(first);
}

static void page(FILE *pipe, const char *path, uint32_t width, uint32_t height, const char *layout,
                 const char *title) {
    const size_t kind = kind_of(path);
    fprintf(pipe, "set terminal %s size %.4g%s,%.4g%s font '%s' background '#ffffff'\nset output ",
            kinds[kind].terminal, width / kinds[kind].dots, kinds[kind].unit,
            height / kinds[kind].dots, kinds[kind].unit, kinds[kind].font);
    put_quoted(pipe, path);
    fputc('\n', pipe);
    for (size_t i = 0; i < GNUPLOT_LINES; i++)
        fprintf(pipe, "set linetype %zu lc '%s' dt %zu\n", i + 1, color[i % COLORS],
                i / COLORS + 1);
    /* The axis label gets its own line above the legend. */
    fprintf(pipe,
            "set linetype cycle %d\n"
            "set grid xtics ytics lc '#dddddd' lt 1 lw 0.6\nset border lc '#444444'\n"
            "set key below maxrows 2 samplen 2 height 1.5\nset xlabel 't in s' offset 0,0.5\n"
            "set format y '%%g'\nset multiplot layout %s title ",
            GNUPLOT_LINES, layout);
    gnuplot_quoted(pipe, title);
    fputs(" noenhanced font ',15'\n", pipe);
}

void gnuplot_page(FILE *pipe, const char *path, uint32_t width, uint32_t height, uint32_t rows,
                  uint32_t columns, const char *title) {
    char layout[40];
    snprintf(layout, sizeof layout, "%u,%u", (unsigned)rows, (unsigned)columns);
    page(pipe, path, width, height, layout, title);
}

void gnuplot_page_columns(FILE *pipe, const char *path, uint32_t width, uint32_t height,
                          uint32_t rows, uint32_t columns, const char *title) {
    char layout[60];
    snprintf(layout, sizeof layout, "%u,%u columnsfirst", (unsigned)rows, (unsigned)columns);
    page(pipe, path, width, height, layout, title);
}

int gnuplot_close(FILE *pipe, const char *path) {
    fputs("unset multiplot\nset output\n", pipe);
    const int status = pclose(pipe);
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_YES;
    remove(path);
    const bool missing = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127;
    return diag_error(path, missing ? "install gnuplot-nox, or run tools/dev/setup.sh plot" : NULL,
                      missing ? "gnuplot, which draws the plots, is not installed"
                              : "gnuplot failed, see above");
}
