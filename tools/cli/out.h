/*
 * Standard output with one place for its failures: a reader that went away ends the program
 * quietly, a full disk is an error. After a failure nothing more is written and out_close tells.
 */
#ifndef TOOLS_CLI_OUT_H
#define TOOLS_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>

void out_begin(void);
void out_bytes(const char *bytes, size_t size);
void out_text(const char *text);
void out_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As "%.{digits}g", digits 9 or 17. */
void out_number(double value, int digits);
/* A line of numbers with blanks between them. */
void out_row(const double *value, size_t count, int digits);
/* What was written through stdio goes out, too: out_close closes the descriptor under it. */
void out_flush(void);
/* Nobody takes our output any more: there is no use in going on. */
bool out_failed(void);
/* Flushes. The exit code of the command, or EXIT_BAD and a message where writing failed. */
int out_close(int code);

#endif
