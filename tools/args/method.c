/* Implements tools/args/method.h. */
#include "tools/args/method.h"

#include <stdio.h>

#include "tools/cli/diagnostics.h"

int method_unknown(problem_t problem, const char *name) {
    const char *known[METHOD_COUNT + 1] = {NULL};
    char list[200], otherwise[240], cure[300];
    size_t count = 0;
    for (int i = 0; i < METHOD_COUNT; i++)
        if (method_table[i].problem == problem)
            known[count++] = method_table[i].name;
    method_list(problem, list, sizeof list);
    snprintf(otherwise, sizeof otherwise, "choose one of: %s", list);
    messages_suggest(cure, sizeof cure, name, known, otherwise);
    return diag_error(NULL, cure, "there is no method '%s' for %s", name, problem_name(problem));
}
