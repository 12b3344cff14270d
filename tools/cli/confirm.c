/* Implements tools/cli/confirm.h. */
#include "tools/cli/confirm.h"

#include <stdio.h>
#include <sys/select.h>
#include <unistd.h>

#include "tools/cli/diagnostics.h"

/* Asks, and returns whether a line can be read. The signals of a person who leaves are blocked until
 * the wait itself lets them through, so that none is lost before it. */
static bool asked(const char *question, const volatile sig_atomic_t *interrupted) {
    sigset_t leave, before;
    fd_set input;
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    sigemptyset(&leave);
    sigaddset(&leave, SIGINT);
    sigaddset(&leave, SIGQUIT);
    sigaddset(&leave, SIGTERM);
    sigaddset(&leave, SIGHUP);
    sigprocmask(SIG_BLOCK, &leave, &before);
    fprintf(stderr, "%s Go on? [y/N] ", question);
    const bool ready = !(interrupted && *interrupted) &&
                       pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

int confirm(const char *what, const char *cure, const char *question,
            const volatile sig_atomic_t *interrupted) {
    char answer[16] = "";
    if (!isatty(STDIN_FILENO))
        return diag_error(NULL, cure, "%s, and there is no terminal to ask at", what);
    if (asked(question, interrupted) && fgets(answer, sizeof answer, stdin) &&
        (*answer == 'y' || *answer == 'Y'))
        return EXIT_YES;
    return diag_error(NULL, NULL, "nothing was done");
}
