/* Writes JSON to standard output. Calls are nested like the objects and lists; commas, indentation
 * and escapes are automatic. */
#ifndef TOOLS_CLI_JSON_H
#define TOOLS_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* key must be NULL inside a list and at the top level. */
void json_begin(const char *key);
void json_end(void);
void json_list(const char *key);
void json_list_end(void);
void json_string(const char *key, const char *text);
/* Writes the shortest digits that give the same double when they are read; null if the value is not
 * finite. */
void json_number(const char *key, double value);
void json_integer(const char *key, long value);
void json_bool(const char *key, bool value);
void json_null(const char *key);
/* Writes a list on one line, such as [1, 2, 3]; digits is 9 or 17. */
void json_numbers(const char *key, const double *value, size_t count, int digits);

#endif
