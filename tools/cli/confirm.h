/* Asks the person at the terminal before something that cannot be taken back. */
#ifndef TOOLS_CLI_CONFIRM_H
#define TOOLS_CLI_CONFIRM_H

/* Prints the question and "Go on? [y/N]". Returns EXIT_YES, or EXIT_BAD after printing that nothing
 * was done. Without a terminal it asks nothing and prints `what` as an error with its cure. */
int confirm(const char *what, const char *cure, const char *question);

#endif
