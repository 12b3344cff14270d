/*
 * completion: writes scripts for bash and zsh from the tables of commands, options, parameters,
 * telemetry fields, faults and boards. Robots are files that come and go, so the scripts call
 * `appell completion robots` for them.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/control/sample.h"
#include "firmware/lab/methods.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/faults.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/cmd/commands.h"
#include "tools/robot/robot.h"

/* ---------------------------------------------------------------------------------------- words */

/* Writes the words of a list with blanks between them, as a shell needs them. */
static void split_words(const char *list, const char *separators) {
    while (*list) {
        const size_t size = strcspn(list, separators);
        out_bytes(list, size);
        out_text(size > 0 && list[size] ? " " : "");
        list += size + (list[size] != '\0');
    }
}

static void board_words(void) {
    for (size_t i = 0; certify_board(i); i++)
        out_format("%s ", certify_board(i));
}

static void parameter_words(void) {
    for (size_t i = 0; i < PARAMETERS; i++)
        out_format("%s ", parameter_table[i].name);
}

static void field_words(void) {
    for (size_t i = 0; i < SAMPLE_FIELDS; i++)
        out_format("%s ", sample_table[i].name);
}

/* Writes each fault as one word: `faults` accepts a hyphen in place of a blank. */
static void fault_words(void) {
    for (unsigned i = 1; i < APP_FAULTS; i++) {
        for (const char *c = app_fault_name(i); *c; c++)
            out_bytes(*c == ' ' ? "-" : c, 1);
        out_text(" ");
    }
}

static void method_words(const command_t *command) {
    char list[200];
    method_list((problem_t)(command->problem >= 0 ? command->problem : PROBLEM_ID), list,
                sizeof list);
    split_words(list, ", ");
}

enum { PLACE_WORD = 40, PLACE_WORDS = 16 };

typedef struct {
    char word[PLACE_WORDS][PLACE_WORD];
    unsigned words;
} offered_t;

/* Returns whether the word was there before: two alternatives may have the same one. */
static bool offered_before(offered_t *offered, const char *word) {
    for (unsigned i = 0; i < offered->words; i++)
        if (!strcmp(offered->word[i], word))
            return true;
    if (offered->words < PLACE_WORDS)
        snprintf(offered->word[offered->words++], PLACE_WORD, "%s", word);
    return false;
}

/*
 * Calls `take` for every word that may be argument number `place` of a command. The synopsis has
 * alternatives, such as "[explain FAULT | provoke ROBOT]" or "bash|zsh", and repetitions, such as
 * "FILE..."; options and their values are skipped.
 */
static void place_words(const command_t *command, int place, void (*take)(const char *word)) {
    int at = 0;
    char word[PLACE_WORD];
    offered_t offered = {0};
    for (const char *c = command->arguments; *c;) {
        c += strspn(c, " []");
        const size_t size = strcspn(c, " []|");
        snprintf(word, sizeof word, "%.*s", (int)size, c);
        c += size;
        if (word[0] == '-') {
            c += strspn(c, " ");
            c += strcspn(c, " ");
            continue;
        }
        char *dots = strstr(word, "...");
        if (dots)
            *dots = '\0';
        if (word[0] && (at == place || (dots && at < place)) && !offered_before(&offered, word))
            take(word);
        if (*c == '|' && c[1] != ' ')
            c++; /* another word at the same place */
        else if (!strncmp(c + strspn(c, " "), "| ", 2))
            c += strspn(c, " |"), at = 0;
        else if (word[0])
            at++;
    }
}

/* ----------------------------------------------------------------------------------------- bash */

static void bash_word(const char *word) {
    out_format("%s ", word);
}

static void bash_command(const command_t *c) {
    out_format("    %s)\n        options=\"", c->name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (command_lists(c, (option_id_t)i))
            out_format("--%s ", option_table[i].name);
    out_text("\"\n");
    if (command_lists(c, OPTION_METHOD)) {
        out_text("        methods=\"");
        method_words(c);
        out_text("\"\n");
    }
    out_text("        places=(\"");
    for (int place = 0; place < c->arguments_most; place++) {
        out_text(place > 0 ? "\" \"" : "");
        place_words(c, place, bash_word);
    }
    out_text("\") ;;\n");
}

/* Writes what the value of an option can be, in the words that the loop over $kinds handles. */
static void bash_option(const option_t *o) {
    static const char *const kinds[] = {[ARGUMENT_METHOD] = "$methods",
                                        [ARGUMENT_BOARD] = "BOARD",
                                        [ARGUMENT_PORT] = "PORT",
                                        [ARGUMENT_FILE] = "FILE",
                                        [ARGUMENT_PARAMETERS] = "ASSIGNMENT",
                                        [ARGUMENT_FIELDS] = "FIELDS"};
    const bool has = o->kind < (int)(sizeof kinds / sizeof kinds[0]) && kinds[o->kind];
    if (o->letter)
        out_format("    --%s | -%c) kinds=\"", o->name, o->letter);
    else
        out_format("    --%s) kinds=\"", o->name);
    if (o->kind == ARGUMENT_WORDS)
        split_words(o->argument, "|");
    else
        out_text(has ? kinds[o->kind] : "");
    out_text("\" ;;\n");
}

static void bash_script(void) {
    out_text("# Completion of appell for bash:  source <(appell completion bash)\n"
             "_appell() {\n"
             "    local tool=${1:-appell} word=${COMP_WORDS[COMP_CWORD]} "
             "before=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local options=\"\" methods=\"\" kinds=\"\" kind words=\"\" files=\"\" i at=0 "
             "value=\"\"\n"
             "    local -a places=()\n"
             "    local commands=\"");
    for (const command_t *c = command_table; c->name; c++)
        out_format("%s ", c->name);
    out_text("\"\n    local all_boards=\"");
    board_words();
    out_text("\"\n    local boards=\"");
    board_words();
    out_text("\"\n    local parameters=\"");
    parameter_words();
    out_text("\"\n    local fields=\"");
    field_words();
    out_text("\"\n    local faults=\"");
    fault_words();
    out_text("\"\n    local valued=\" ");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].kind != ARGUMENT_NONE) {
            out_format("--%s ", option_table[i].name);
            if (option_table[i].letter)
                out_format("-%c ", option_table[i].letter);
        }
    out_text(
        "\"\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    # bash splits words at : and =, so qemu:netduino2 and --real=f32 are three words.\n"
        "    if [ \"$word\" = : ] || [ \"$before\" = : ]; then\n"
        "        [ \"$word\" = : ] && word=\"\"\n"
        "        COMPREPLY=($(compgen -W \"$boards\" -- \"$word\"))\n"
        "        return\n"
        "    elif [ \"$word\" = = ]; then\n"
        "        word=\"\"\n"
        "    elif [ \"$before\" = = ]; then\n"
        "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
        "    fi\n"
        "    case ${COMP_WORDS[1]} in\n");
    for (const command_t *c = command_table; c->name; c++)
        bash_command(c);
    out_text("    esac\n"
             "    case $before in\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].kind != ARGUMENT_NONE)
            bash_option(&option_table[i]);
    out_text(
        "    *)\n"
        "        if [[ $word == -* ]]; then\n"
        "            COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "            return\n"
        "        fi\n"
        "        # The number of the argument, without options and their values.\n"
        "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
        "            if [ -n \"$value\" ]; then\n"
        "                [ \"${COMP_WORDS[i+1]}\" = = ] || [ \"${COMP_WORDS[i]}\" = = ] || "
        "value=\"\"\n"
        "            elif [[ \"$valued\" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
        "                value=yes\n"
        "            elif [[ ${COMP_WORDS[i]} != -* ]]; then\n"
        "                at=$((at + 1))\n"
        "            fi\n"
        "        done\n"
        "        kinds=${places[at]} ;;\n"
        "    esac\n"
        "    for kind in $kinds; do\n"
        "        case $kind in\n"
        "        ROBOT) words=\"$words $(\"${tool/#\\~/$HOME}\" completion robots 2>/dev/null)\" "
        "files=-f ;;\n"
        "        FILE | ROWS | IMAGE) files=-f ;;\n"
        "        NAME) words=\"$words $parameters\"\n"
        "            [ \"${COMP_WORDS[1]}\" = get ] && words=\"$words telemetry\" ;;\n"
        "        COMMAND) words=\"$words $commands\" ;;\n"
        "        FAULT) words=\"$words $faults\" ;;\n"
        "        BOARD) words=\"$words $all_boards\" ;;\n"
        "        ASSIGNMENT) words=\"$words $parameters\" value=${word%\"${word##*,}\"}\n"
        "            compopt -o nospace 2>/dev/null ;;\n"
        "        FIELDS) words=\"$words $fields\" value=${word%\"${word##*,}\"}\n"
        "            compopt -o nospace 2>/dev/null ;;\n"
        "        PORT) files=-f words=\"$words tcp: unix: $(printf 'qemu:%s ' $boards)\"\n"
        "            # Not a file name: bash would escape its colon.\n"
        "            [[ $word == */* ]] || compopt +o filenames 2>/dev/null ;;\n"
        "        [a-z]*) words=\"$words $kind\" ;;\n"
        "        esac\n"
        "    done\n"
        "    # Behind a comma the next name begins.\n"
        "    COMPREPLY=($(compgen $files -W \"$words\" ${value:+-P \"$value\"} -- "
        "\"${word#\"$value\"}\"))\n"
        "}\n"
        "complete -o filenames -F _appell appell\n");
}

/* ------------------------------------------------------------------------------------------ zsh */

/* Writes the first sentence of a help text, escaped for use inside '...[...]' and "name:text". */
static void zsh_text(const char *text) {
    size_t size = strlen(text);
    for (const char *const *end = (const char *const[]){";", ". ", NULL}; *end; end++) {
        const char *found = strstr(text, *end);
        if (found && (size_t)(found - text) < size)
            size = (size_t)(found - text);
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\'')
            out_text("'\\'");
        else if (strchr(":[]\\", text[i]))
            out_text("\\");
        out_bytes(text + i, 1);
    }
}

static void zsh_place(const char *word) {
    static const struct {
        const char *word, *action;
    } known[] = {{"ROBOT", "_appell_robots"}, {"FILE", "_files"},
                 {"ROWS", "_files"},          {"IMAGE", "_files"},
                 {"NAME", "_appell_names"},   {"COMMAND", "_appell_commands"},
                 {"FAULT", "_appell_faults"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i].word, word)) {
            out_format(" '%s:%s:%s'", word, word, known[i].action);
            return;
        }
    if (islower((unsigned char)*word))
        out_format(" '%s:%s:(%s)'", word, word, word);
}

static void zsh_value(const command_t *c, const option_t *o) {
    out_text(":");
    zsh_text(o->argument);
    out_text(":");
    switch (o->kind) {
    case ARGUMENT_METHOD:
        out_text("(");
        method_words(c);
        out_text(")");
        break;
    case ARGUMENT_WORDS:
        out_text("(");
        split_words(o->argument, "|");
        out_text(")");
        break;
    case ARGUMENT_BOARD:
        out_text("(");
        board_words();
        out_text(")");
        break;
    case ARGUMENT_PORT:
        out_text("_appell_ports");
        break;
    case ARGUMENT_FILE:
        out_text("_files");
        break;
    case ARGUMENT_PARAMETERS:
        out_text("_appell_assignments");
        break;
    case ARGUMENT_FIELDS:
        out_text("_appell_fields");
        break;
    default:
        out_text(" ");
        break;
    }
}

static void zsh_option(const command_t *c, option_id_t id) {
    const option_t *o = &option_table[id];
    out_text(" \\\n            ");
    if (o->letter)
        out_format("'(-%c --%s)'{-%c,--%s%s}", o->letter, o->name, o->letter, o->name,
                   o->argument ? "=" : "");
    else
        out_format("%s--%s%s", id == OPTION_FREEZE ? "'*'" : "", o->name, o->argument ? "=" : "");
    out_text("'[");
    zsh_text(command_option_help(c, id));
    out_text("]");
    if (o->argument)
        zsh_value(c, o);
    out_text("'");
}

static void zsh_command(const command_t *c) {
    out_format("        %s)\n            _arguments", c->name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (command_lists(c, (option_id_t)i))
            zsh_option(c, (option_id_t)i);
    for (int place = 0; place < c->arguments_most; place++) {
        out_format(" \\\n            '%d:argument:->place%d'", place + 1, place);
    }
    out_text(" && return 0\n            case $state in\n");
    for (int place = 0; place < c->arguments_most; place++) {
        out_format("            place%d) _alternative", place);
        place_words(c, place, zsh_place);
        out_text(" ;;\n");
    }
    out_text("            esac ;;\n");
}

static void zsh_words(const char *name, void (*words)(void)) {
    out_format("_appell_%s() {\n    local -a words=(", name);
    words();
    out_text(")\n");
}

static void zsh_script(void) {
    out_text("#compdef appell\n"
             "# Completion of appell for zsh:  source <(appell completion zsh), after compinit;\n"
             "# or as the file _appell in a folder of $fpath.\n"
             "_appell_commands() {\n"
             "    local -a commands=(\n");
    for (const command_t *c = command_table; c->name; c++) {
        out_format("        '%s:", c->name);
        zsh_text(c->summary);
        out_text("'\n");
    }
    out_text("    )\n"
             "    _describe -t commands command commands\n"
             "}\n"
             "_appell_robots() {\n"
             "    local -a robots=(${(f)\"$(\"$appell_tool\" completion robots 2>/dev/null)\"})\n"
             "    _alternative 'robots:robot:compadd -a robots' 'files:file:_files'\n"
             "}\n");
    zsh_words("names", parameter_words);
    out_text("    [[ $appell_command = get ]] && words+=(telemetry)\n"
             "    compadd \"$@\" -a words\n"
             "}\n");
    zsh_words("assignments", parameter_words);
    out_text("    compset -P '*,'\n"
             "    compadd \"$@\" -S = -a words\n"
             "}\n");
    zsh_words("fields", field_words);
    out_text("    compset -P '*,'\n"
             "    compadd \"$@\" -qS , -a words\n"
             "}\n");
    zsh_words("faults", fault_words);
    out_text("    compadd \"$@\" -a words\n"
             "}\n"
             "_appell_ports() {\n"
             "    local -a boards=(");
    board_words();
    out_text(")\n"
             "    compadd -- qemu:${^boards}\n"
             "    compadd -S '' -- tcp: unix:\n"
             "    _files\n"
             "}\n"
             "_appell() {\n"
             "    local curcontext=$curcontext state line appell_tool=${~words[1]} appell_command\n"
             "    typeset -A opt_args\n"
             "    _arguments -C '(- *)--version[print the version]' '(- *)'{-h,--help}'[list the "
             "commands]' \\\n"
             "        '1:command:_appell_commands' '*::argument:->arguments' && return 0\n"
             "    [[ $state = arguments ]] || return 1\n"
             "    appell_command=$words[1]\n"
             "    case $appell_command in\n");
    for (const command_t *c = command_table; c->name; c++)
        zsh_command(c);
    out_text("    esac\n"
             "}\n"
             "if [[ $zsh_eval_context[-1] = loadautofunc ]]; then\n"
             "    _appell \"$@\"\n"
             "else\n"
             "    compdef _appell appell\n"
             "fi\n");
}

/* --------------------------------------------------------------------------------------- robots */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void robot_list(void) {
    char *folder[3], *name[256] = {NULL};
    const size_t folders = robot_folders(folder, 3);
    size_t count = 0;
    for (size_t i = 0; i < folders; i++) {
        DIR *open = opendir(folder[i]);
        for (const struct dirent *e; open && (e = readdir(open)) && count < 256;) {
            const char *dot = strrchr(e->d_name, '.');
            const bool robot =
                dot && dot != e->d_name &&
                (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".urdf"));
            name[count] = robot ? strndup(e->d_name, (size_t)(dot - e->d_name)) : NULL;
            count += name[count] != NULL;
        }
        if (open)
            closedir(open);
        free(folder[i]);
    }
    qsort(name, count, sizeof name[0], by_name);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(name[i], name[i - 1]) != 0)
            out_format("%s\n", name[i]);
    for (size_t i = 0; i < count; i++)
        free(name[i]);
}

int completion_run(const request_t *request) {
    const char *what = request->argument[0];
    if (!strcmp(what, "bash"))
        bash_script();
    else if (!strcmp(what, "zsh"))
        zsh_script();
    else if (!strcmp(what, "robots"))
        robot_list();
    else
        return diag_error(NULL, "write `appell completion bash` or `appell completion zsh`",
                          "there is no completion for '%s'", what);
    return EXIT_YES;
}
