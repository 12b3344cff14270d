/* What the commands that write C code share: names of functions, and limits. */
#ifndef TOOLS_CMD_CMD_GEN_H
#define TOOLS_CMD_CMD_GEN_H

#include "tools/cli/command.h"

/* Makes a C identifier from the name of a robot: letters, digits and underscores; the first is not
 * a digit. */
void gen_prefix(const char *name, char *out, size_t size);
/* Checks --prefix, the common beginning of file and function names. Its case is kept. */
int gen_check_prefix(const request_t *request);

/*
 * Returns the command line for the comment in a generated file, with every option that changes a
 * byte of the file. The robot's folder and the output path are left out, so that the file is the
 * same wherever it is made. The caller frees the text. On failure prints the reason and returns
 * NULL.
 */
char *gen_command(const char *command, const request_t *request);

#endif
