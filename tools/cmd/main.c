/* appell, the host tool: finds the command in the table, parses its options and runs it. */
#include <stdio.h>
#include <string.h>

#include "firmware/app/version.h"
#include "tools/cli/command.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/progress.h"
#include "tools/link/client.h"

static int run(int argc, char **argv) {
    if (argc < 2) {
        help_all();
        return EXIT_BAD;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        help_all();
        return EXIT_YES;
    }
    if (!strcmp(name, "--version")) {
        out_format("appell %s (%s)\n", version_number, version_commit);
        return EXIT_YES;
    }
    if (name[0] == '-')
        return diag_error(NULL, "the command comes first: appell COMMAND [OPTIONS] ...",
                          "%s is not a command", name);
    const command_t *command = command_find(name);
    if (!command)
        return command_unknown(name);
    request_t request;
    diag_command(name);
    const int status = command_parse(command, argc - 1, argv + 1, &request);
    if (status != EXIT_YES)
        return status;
    if (request_has(&request, OPTION_HELP)) {
        help_command(command);
        return EXIT_YES;
    }
    if (request_has(&request, OPTION_QUIET))
        diag_quiet();
    if (request_has(&request, OPTION_VERBOSE)) {
        progress_off(); /* both use standard error */
        client_verbose();
    }
    return command->run(&request);
}

int main(int argc, char **argv) {
    out_begin();
    return out_close(run(argc, argv));
}
