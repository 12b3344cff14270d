/* Parses the command lines of all commands. */
#include "tools/cli/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/lab/methods.h"
#include "tools/cli/number.h"
#include "tools/cli/diagnostics.h"

const option_t option_table[OPTION_COUNT] = {
#define X(name, text, letter, argument, kind, help) {text, letter, argument, ARGUMENT_##kind, help},
    OPTION_TABLE(X)
#undef X
};

const command_t *command_find(const char *name) {
    for (const command_t *c = command_table; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

bool command_takes(const command_t *command, option_id_t option) {
    const option_id_t *o = command->options;
    while (*o != OPTION_COUNT && *o != option)
        o++;
    return *o == option;
}

bool command_lists(const command_t *command, option_id_t option) {
    if (option == OPTION_METHOD && command->problem >= 0) {
        char list[200];
        method_list((problem_t)command->problem, list, sizeof list);
        if (!strcmp(list, "-"))
            return false;
    }
    return command_takes(command, option);
}

const char *command_synopsis(const command_t *command, char *out, size_t size) {
    snprintf(out, size, "[OPTIONS]%s%s", *command->arguments ? " " : "", command->arguments);
    return out;
}

const char *command_option_help(const command_t *command, option_id_t option) {
    for (const option_help_t *h = option_help_table; h->run; h++)
        if (h->run == command->run && h->option == option)
            return h->help;
    return option_table[option].help;
}

/* Names of former versions, which are not similar to the new ones. */
static const struct {
    const char *name, *cure;
} former[] = {{"run", "`appell demo ROBOT` compares controllers, `appell move` moves the arm"},
              {"params",
               "`appell flash ROBOT --no-save` loads a robot until the next reset, `appell "
               "save` saves it"},
              {"dump", "`appell crash` fetches the record of a crash"}};

int command_unknown(const char *name) {
    const char *known[64] = {NULL};
    size_t count = 0;
    for (const command_t *c = command_table; c->name && count < 63; c++)
        known[count++] = c->name;
    char cure[120];
    for (size_t i = 0; i < sizeof former / sizeof former[0]; i++)
        if (!strcmp(former[i].name, name))
            return diag_error(NULL, former[i].cure, "there is no command '%s' any more", name);
    messages_suggest(cure, sizeof cure, name, known, "`appell help` lists the commands");
    return diag_error(NULL, cure, "there is no command '%s'", name);
}

static int unknown_option(const command_t *command, const char *given) {
    const char *known[OPTION_COUNT + 1] = {NULL};
    size_t count = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (command_takes(command, (option_id_t)i))
            known[count++] = option_table[i].name;
    char name[64], cure[160];
    snprintf(name, sizeof name, "%s", given + strspn(given, "-"));
    name[strcspn(name, "=")] = '\0';
    const char *near = messages_nearest(name, known);
    int used = near ? snprintf(cure, sizeof cure, "did you mean --%s? ", near) : 0;
    snprintf(cure + used, sizeof cure - (size_t)used, "`appell help %s` lists the options",
             command->name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!strcmp(option_table[i].name, name))
            return diag_error(NULL, cure, "this command has no option --%s", name);
    return diag_error(NULL, cure, "unknown option %s", given);
}

static int find_option(const command_t *command, const char *given, size_t size) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_t *o = &option_table[i];
        if (!command_takes(command, (option_id_t)i))
            continue;
        if (given[1] == '-' ? strlen(o->name) == size - 2 && !memcmp(o->name, given + 2, size - 2)
                            : o->letter && size == 2 && given[1] == o->letter)
            return i;
    }
    return -1;
}

static int take_option(const command_t *command, char **argv, int argc, int *at,
                       request_t *request) {
    const char *given = argv[*at];
    const size_t size = strcspn(given, "=");
    const int i = find_option(command, given, size);
    if (i < 0)
        return unknown_option(command, given);
    const option_t *o = &option_table[i];
    const char *value = given[size] ? given + size + 1 : NULL;
    if (!o->argument && value)
        return diag_error(NULL, "remove the = and what follows it", "option --%s takes no value",
                          o->name);
    if (o->argument && !value) {
        if (*at + 1 >= argc) {
            char cure[120];
            snprintf(cure, sizeof cure, "write --%s %s", o->name, o->argument);
            return diag_error(NULL, cure, "option --%s needs a value", o->name);
        }
        value = argv[++*at];
    }
    if (i == OPTION_FREEZE) {
        if (request->freezes == FREEZE_MAX)
            return diag_error(NULL, NULL, "--freeze: at most %d joints can be frozen", FREEZE_MAX);
        request->freeze[request->freezes++] = value;
    }
    request->given[i] = true;
    request->value[i] = value;
    return EXIT_YES;
}

/* A word such as -2.5 is a negative number and not an option: `set NAME -2.5`. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
}

int command_parse(const command_t *command, int argc, char **argv, request_t *request) {
    bool options = true;
    *request = (request_t){.command = command};
    for (int i = 1; i < argc; i++) {
        if (options && !strcmp(argv[i], "--")) {
            options = false;
        } else if (options && is_option(argv[i])) {
            const int status = take_option(command, argv, argc, &i, request);
            if (status != EXIT_YES)
                return status;
        } else if (request->arguments >= command->arguments_most) {
            char cure[120], synopsis[80];
            snprintf(cure, sizeof cure, "usage: appell %s %s", command->name,
                     command_synopsis(command, synopsis, sizeof synopsis));
            return diag_error(NULL, cure, "one argument too many: '%s'", argv[i]);
        } else {
            request->argument[request->arguments++] = argv[i];
        }
    }
    if (request_has_any(request, OPTIONS(OPTION_HELP, OPTION_SHOW)))
        return EXIT_YES;
    if (request->arguments < command->arguments_least) {
        char cure[200], synopsis[80];
        snprintf(cure, sizeof cure, "usage: appell %s %s; `appell help %s` has an example",
                 command->name, command_synopsis(command, synopsis, sizeof synopsis),
                 command->name);
        const char *word = command->arguments;
        for (int i = 0; i < request->arguments; i++)
            word += strcspn(word, " ") + 1;
        const size_t size = strstr(word, " | ") ? strlen(word) : strcspn(word, " ");
        return diag_error(NULL, cure, "%.*s is missing", (int)size, word);
    }
    return EXIT_YES;
}

bool request_has(const request_t *request, option_id_t option) {
    return request->given[option];
}

bool request_has_any(const request_t *request, const option_id_t *options) {
    while (*options != OPTION_COUNT && !request->given[*options])
        options++;
    return *options != OPTION_COUNT;
}

int request_list(const request_t *request, option_id_t option, double *value, size_t least,
                 size_t most, size_t *count) {
    const char *s = request->value[option];
    const option_t *o = &option_table[option];
    char cure[160];
    size_t found = 0;
    snprintf(cure, sizeof cure, "write --%s %s", o->name, o->argument);
    for (;;) {
        s += strspn(s, " \t");
        double number;
        const char *after = number_scan(s, &number);
        if (!after || !isfinite(number) || !(*after == '\0' || strchr(", \t", *after)))
            return diag_error(NULL, cure, "--%s: '%s' is not a %s", o->name, request->value[option],
                              most == 1 ? "finite number" : "list of finite numbers");
        if (found < most)
            value[found] = number;
        found++;
        s = after + strspn(after, " \t");
        if (!*s)
            break;
        if (*s == ',')
            s++;
    }
    if (found < least || found > most)
        return diag_error(NULL, cure, "--%s: got %zu number%s, expected %s%zu", o->name, found,
                          found == 1 ? "" : "s",
                          least == most   ? ""
                          : found < least ? "at least "
                                          : "at most ",
                          found < least ? least : most);
    if (count)
        *count = found;
    return EXIT_YES;
}

int request_integer(const request_t *request, option_id_t option, long least, long most,
                    long *value) {
    const char *text = request->value[option];
    char *end;
    char cure[100];
    errno = 0;
    const long number = strtol(text, &end, 10);
    snprintf(cure, sizeof cure, "write a whole number from %ld to %ld", least, most);
    if (end == text || *end || errno || number < least || number > most)
        return diag_error(NULL, cure, "--%s: '%s' is not a possible value",
                          option_table[option].name, text);
    *value = number;
    return EXIT_YES;
}
