/*
 * Input lines of the interactive program: from a terminal with editing, history and completion
 * (libedit), or from a script. Prompts appear on a terminal only.
 */
#ifndef TOOLS_SHELL_LINE_H
#define TOOLS_SHELL_LINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct line line_t;

/* Returns word i of those that may begin a line, or NULL after the last. */
typedef const char *(*line_words_t)(size_t i);

/* Opens a script, or standard input (which may be a terminal) if path is NULL or "-". Returns NULL
 * after printing the reason. */
line_t *line_open(const char *path, line_words_t words);
void line_close(line_t *line);
bool line_terminal(const line_t *line);

typedef enum { LINE_READ, LINE_END, LINE_INTERRUPTED } line_status_t;

/* Reads the next line without its newline; *text is valid until the next call. */
line_status_t line_next(line_t *line, const char *prompt, const char **text);

/* Returns the place for messages: "script.txt:12", or the program's name on a terminal. */
const char *line_place(const line_t *line);

#endif
