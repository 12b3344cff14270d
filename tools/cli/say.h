/*
 * Prints errors and notes to standard error, apart from the program's results. An error names
 * place, cause and cure in one line:
 *
 * PLACE: error: WHAT; CURE
 */
#ifndef TOOLS_CLI_SAY_H
#define TOOLS_CLI_SAY_H

#include <stdbool.h>

#include "tools/cli/messages.h"

/* Exit codes: yes or success, no, bad input or failure. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_BAD = 2 };

/* Errors without a place begin with "appell" or, after this call, with "appell NAME". */
void say_command(const char *name);
const char *say_place(void);

/* Prints an error; place and cure may be NULL. Always returns EXIT_BAD. */
int say_error(const char *place, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void say_note(const char *place, const char *format, ...) __attribute__((format(printf, 2, 3)));
int say_no_memory(void);

/* Prints all errors of the readers and, unless quiet, all warnings and notes. */
void say_messages(const messages_t *messages, bool quiet);

#endif
