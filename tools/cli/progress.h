/*
 * Shows how far a long command is, in one line of standard error that is drawn again and again. It
 * appears when a command has taken half a second, only on a terminal, and not with --quiet. Whatever
 * is printed next removes it.
 */
#ifndef TOOLS_CLI_PROGRESS_H
#define TOOLS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Shows no progress from now on: --quiet. */
void progress_off(void);
/* Draws "what [#####     ] done of all"; the last of `all` removes the line. */
void progress_show(const char *what, uint64_t done, uint64_t all);
/* Removes the line. Also called by everything that prints. */
void progress_clear(void);

#endif
