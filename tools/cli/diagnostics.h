/*
 * Prints errors and notes to standard error, apart from the program's results. An error names
 * place, cause and cure in one line:
 *
 * PLACE: error: WHAT; CURE
 */
#ifndef TOOLS_CLI_DIAGNOSTICS_H
#define TOOLS_CLI_DIAGNOSTICS_H

#include <stdbool.h>

#include "tools/cli/messages.h"

/* Exit codes: yes or success, no, bad input or failure. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_BAD = 2 };

/* Errors without a place begin with "appell" or, after this call, with "appell NAME". */
void diag_command(const char *name);
const char *diag_place(void);

/* Prints neither notes nor progress from now on: --quiet. */
void diag_quiet(void);

/* Prints an error; place and cure may be NULL. Always returns EXIT_BAD. */
int diag_error(const char *place, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(const char *place, const char *format, ...) __attribute__((format(printf, 2, 3)));
int diag_no_memory(void);

/* Prints all errors of the readers and, unless quiet, all warnings and notes. */
void diag_messages(const messages_t *messages, bool quiet);

#endif
