/* Asks the person at the terminal before something that cannot be taken back. */
#ifndef TOOLS_CLI_CONFIRM_H
#define TOOLS_CLI_CONFIRM_H

#include <signal.h>

/* Prints the question and "Go on? [y/N]". Returns EXIT_YES, or EXIT_BAD after printing that nothing
 * was done. Without a terminal it asks nothing and prints `what` as an error with its cure.
 * `interrupted` is what a caller's handler of SIGINT, SIGQUIT, SIGTERM and SIGHUP sets, which then
 * ends the question; NULL if the caller has no handler. */
int confirm(const char *what, const char *cure, const char *question,
            const volatile sig_atomic_t *interrupted);

#endif
