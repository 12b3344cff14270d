/* Implements tools/cli/confirm.h. */
#include "tools/cli/confirm.h"

#include <stdio.h>
#include <unistd.h>

#include "tools/cli/diagnostics.h"

int confirm(const char *what, const char *cure, const char *question) {
    char answer[16] = "";
    if (!isatty(STDIN_FILENO))
        return diag_error(NULL, cure, "%s, and there is no terminal to ask at", what);
    fprintf(stderr, "%s Go on? [y/N] ", question);
    if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
        return EXIT_YES;
    return diag_error(NULL, NULL, "nothing was done");
}
