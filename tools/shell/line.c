/* Reads lines with libedit, or from a file (tools/shell/line.h). */
#include "tools/shell/line.h"

#include <dirent.h>
#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

struct line {
    FILE *file;
    bool terminal, own; /* own: the file was opened here and line_close closes it */
    const char *name;
    unsigned long number;
    char place[300];
    char *text;
    size_t room;
    const char *prompt;
    line_words_t words;
    EditLine *edit;
    History *history;
};

/* ----------------------------------------------------------------------------------- completion */

/* The common prefix of all candidates for a completion, and their number. */
typedef struct {
    char text[1024];
    size_t count;
} common_t;

static void consider(common_t *common, const char *candidate) {
    if (common->count++ == 0) {
        snprintf(common->text, sizeof common->text, "%s", candidate);
        return;
    }
    size_t same = 0;
    while (common->text[same] && common->text[same] == candidate[same])
        same++;
    common->text[same] = '\0';
}

static void complete_word(const line_t *line, const char *begun, size_t size, common_t *common) {
    for (size_t i = 0; line->words(i); i++)
        if (!strncmp(line->words(i), begun, size))
            consider(common, line->words(i));
}

static void complete_file(const char *begun, size_t size, common_t *common) {
    char folder[1024], path[2048];
    size_t head = size; /* length of the folder in the word, with its final slash */
    while (head > 0 && begun[head - 1] != '/')
        head--;
    if (head >= sizeof folder)
        return;
    memcpy(folder, begun, head);
    folder[head] = '\0';
    DIR *dir = opendir(head > 0 ? folder : ".");
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        struct stat info;
        if (strncmp(e->d_name, begun + head, size - head) != 0 ||
            (e->d_name[0] == '.' && size == head))
            continue;
        snprintf(path, sizeof path, "%s%s", folder, e->d_name);
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            strncat(path, "/", sizeof path - strlen(path) - 1);
        consider(common, path);
    }
    if (dir)
        closedir(dir);
}

static void list_words(const line_t *line, const char *begun, size_t size) {
    fputc('\n', stdout);
    for (size_t i = 0; line->words(i); i++)
        if (!strncmp(line->words(i), begun, size))
            printf("%s  ", line->words(i));
    fputc('\n', stdout);
    fflush(stdout);
}

static unsigned char complete(EditLine *edit, int key) {
    line_t *line;
    const LineInfo *info = el_line(edit);
    const char *begun = info->cursor;
    common_t common = {.count = 0};
    (void)key;
    el_get(edit, EL_CLIENTDATA, &line);
    while (begun > info->buffer && begun[-1] != ' ' && begun[-1] != '\t')
        begun--;
    const size_t size = (size_t)(info->cursor - begun);
    const bool first = begun == info->buffer;
    if (first)
        complete_word(line, begun, size, &common);
    else
        complete_file(begun, size, &common);
    if (common.count == 0)
        return CC_ERROR;
    const bool whole = common.count == 1 && common.text[strlen(common.text) - 1] != '/';
    if (strlen(common.text) > size)
        el_insertstr(edit, common.text + size);
    else if (!whole && first)
        list_words(line, begun, size);
    if (whole)
        el_insertstr(edit, " ");
    return common.count > 1 && first ? CC_REDISPLAY : CC_REFRESH;
}

/* ---------------------------------------------------------------------------------------- lines */

static char *prompt_of(EditLine *edit) {
    static char prompt[120];
    line_t *line;
    el_get(edit, EL_CLIENTDATA, &line);
    snprintf(prompt, sizeof prompt, "%s", line->prompt);
    return prompt;
}

static void ignore_interrupt(int number) {
    (void)number;
}

static int open_terminal(line_t *line) {
    HistEvent event;
    line->edit = el_init("appell", stdin, stdout, stderr);
    line->history = history_init();
    if (!line->edit || !line->history)
        return diag_no_memory();
    history(line->history, &event, H_SETSIZE, 1000);
    history(line->history, &event, H_SETUNIQUE, 1);
    el_set(line->edit, EL_CLIENTDATA, line);
    el_set(line->edit, EL_PROMPT, prompt_of);
    el_set(line->edit, EL_EDITOR, "emacs");
    el_set(line->edit, EL_HIST, history, line->history);
    el_set(line->edit, EL_ADDFN, "appell-complete", "complete a word", complete);
    el_set(line->edit, EL_BIND, "^I", "appell-complete", NULL);
    el_set(line->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    return EXIT_YES;
}

line_t *line_open(const char *path, line_words_t words) {
    line_t *line = calloc(1, sizeof *line);
    if (!line) {
        diag_no_memory();
        return NULL;
    }
    line->words = words;
    line->own = path && strcmp(path, "-") != 0;
    line->name = line->own ? path : "stdin";
    line->file = line->own ? fopen(path, "r") : stdin;
    line->terminal = !line->own && isatty(STDIN_FILENO);
    int status = EXIT_YES;
    if (!line->file)
        status = diag_error(path, "check the path and its permissions", "cannot be opened: %s",
                            strerror(errno));
    else if (line->terminal)
        status = open_terminal(line);
    if (status == EXIT_YES)
        return line;
    line_close(line);
    return NULL;
}

void line_close(line_t *line) {
    if (!line)
        return;
    if (line->edit)
        el_end(line->edit);
    if (line->history)
        history_end(line->history);
    if (line->own && line->file)
        fclose(line->file);
    free(line->text);
    free(line);
}

bool line_terminal(const line_t *line) {
    return line->terminal;
}

const char *line_place(const line_t *line) {
    return line->terminal ? "sim" : line->place;
}

static line_status_t edit_line(line_t *line, const char **text) {
    struct sigaction ours = {.sa_handler = ignore_interrupt}, before;
    HistEvent event;
    int count = 0;
    /* without SA_RESTART, so that control-C ends the wait for a key */
    sigaction(SIGINT, &ours, &before);
    errno = 0;
    const char *read = el_gets(line->edit, &count);
    const int error = errno;
    sigaction(SIGINT, &before, NULL);
    if (!read || count <= 0) {
        fputc('\n', stdout);
        fflush(stdout);
        return error == EINTR ? LINE_INTERRUPTED : LINE_END;
    }
    if (strspn(read, " \t\n") < (size_t)count)
        history(line->history, &event, H_ENTER, read);
    free(line->text);
    line->text = strdup(read);
    if (!line->text)
        return LINE_END;
    *text = line->text;
    return LINE_READ;
}

line_status_t line_next(line_t *line, const char *prompt, const char **text) {
    out_flush();
    line->prompt = prompt;
    line->number++;
    snprintf(line->place, sizeof line->place, "%.250s:%lu", line->name, line->number);
    if (line->terminal) {
        const line_status_t status = edit_line(line, text);
        if (status == LINE_READ)
            line->text[strcspn(line->text, "\r\n")] = '\0';
        return status;
    }
    if (getline(&line->text, &line->room, line->file) < 0)
        return LINE_END;
    line->text[strcspn(line->text, "\r\n")] = '\0';
    *text = line->text;
    return LINE_READ;
}
