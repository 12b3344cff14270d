/* The error for a method that there is not. */
#ifndef TOOLS_ARGS_METHOD_H
#define TOOLS_ARGS_METHOD_H

#include "firmware/lab/methods.h"

/* Prints that the problem has no method of this name, the most similar one, and all. Returns
 * EXIT_BAD. */
int method_unknown(problem_t problem, const char *name);

#endif
