/*
 * What the program says beside its answer: errors and notes on standard error. An error says where,
 * what and how to mend it, in one line:  PLACE: error: WHAT; CURE
 */
#ifndef TOOLS_CLI_SAY_H
#define TOOLS_CLI_SAY_H

#include <stdbool.h>

#include "tools/cli/messages.h"

/* Exit codes. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_BAD = 2 };

/* Names the program, or the program and its command, where an error has no other place. */
void say_command(const char *name);
const char *say_place(void);

/* place and cure may be NULL. Always returns EXIT_BAD. */
int say_error(const char *place, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void say_note(const char *place, const char *format, ...) __attribute__((format(printf, 2, 3)));
int say_no_memory(void);

/* All errors, and unless quiet all warnings and notes, of the readers. */
void say_messages(const messages_t *messages, bool quiet);

#endif
