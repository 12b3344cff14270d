/*
 * Standard output whose failures are handled in one place: if the reader has gone, the program ends
 * quietly; a full disk is an error. After a failure nothing more is written, and out_close reports
 * it.
 */
#ifndef TOOLS_CLI_OUT_H
#define TOOLS_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>

void out_begin(void);
/* Writes bytes as they are: images, and what is known to be printable. */
void out_bytes(const char *bytes, size_t size);
/* Both make control characters visible, except tabs and line ends (tools/cli/text.h). */
void out_text(const char *text);
void out_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints like "%.{digits}g"; digits is 9 or 17. */
void out_number(double value, int digits);
/* Prints a line of numbers separated by blanks. */
void out_row(const double *value, size_t count, int digits);
/* Also flushes stdio, because out_close closes the descriptor that stdio uses. */
void out_flush(void);
/* True after a failure: nobody reads the output, so the command should end. */
bool out_failed(void);
/* Flushes and closes the output. Returns `code`; if the reader has gone, EXIT_YES unless `code` is
 * EXIT_BAD; after another failure EXIT_BAD, with a message. */
int out_close(int code);

#endif
