/* Help, completion and man page, all made from the tables of command.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command.h"
#include "firmware/lab/methods.h"
#include "tools/cli/out.h"
#include "tools/cli/say.h"

static const char promise[] =
    "The dynamics of robot arms: any arm in, checked, understood, computed.";

static const char about[] =
    "ROBOT is a robot file (YAML), a URDF, a parts database, a robot image, or the name of a "
    "robot in $APPELL_ROBOTS or tools/robots. ROWS is a file of rows, by default standard input: "
    "numbers separated by blanks or commas, one row a line, # starts a comment. All units are SI, "
    "angles in rad. One row of output for each row of input, with all digits.\n"
    "\n"
    "Exit code: 0 yes, 1 the answer is no, 2 bad usage or bad input.";

enum { WIDTH = 96 };

/* Wraps text between columns `indent` and WIDTH; `column` is the present position. */
static void wrap(const char *text, int indent, int column) {
    while (*text) {
        const size_t gap = strspn(text, " ");
        size_t size = strcspn(text + gap, " \n");
        if (column > indent && column + (int)(gap > 0) + (int)size > WIDTH) {
            out_text("\n");
            column = 0;
        }
        if (column < indent) {
            out_format("%*s", indent - column, "");
            column = indent;
        } else if (gap > 0 && column > indent) {
            out_text(" ");
            column++;
        }
        out_bytes(text + gap, size);
        column += (int)size;
        text += gap + size;
        if (*text == '\n') {
            out_text("\n");
            column = 0;
            text++;
        }
    }
    out_text("\n");
}

static void verbatim(const char *text, int indent) {
    while (*text) {
        const size_t size = strcspn(text, "\n");
        out_format("%*s", size > 0 ? indent : 0, "");
        out_bytes(text, size);
        out_text("\n");
        text += size + (text[size] == '\n');
    }
}

static bool listed(const command_t *command, option_id_t option) {
    /* A problem with only one method has no choice to offer. */
    if (option == OPTION_METHOD && command->problem >= 0) {
        char list[200];
        method_list((problem_t)command->problem, list, sizeof list);
        if (!strcmp(list, "-"))
            return false;
    }
    return command_takes(command, option);
}

static void option_name(const option_t *o, char *out, size_t size) {
    int used = snprintf(out, size, "--%s", o->name);
    if (o->letter)
        used = snprintf(out, size, "-%c, --%s", o->letter, o->name);
    if (o->argument)
        snprintf(out + used, size - (size_t)used, " %s", o->argument);
}

void help_all(void) {
    out_format("appell: %s\n\nusage: appell COMMAND [OPTIONS] ARGUMENTS\n\n", promise);
    for (const command_t *c = command_table; c->name; c++)
        out_format("  %-11s %s\n", c->name, c->summary);
    out_text("\n");
    wrap(about, 0, 0);
    out_text("\n`appell help COMMAND` tells more and has an example.\n");
}

void help_command(const command_t *command) {
    char synopsis[80];
    out_format("appell %s: %s\n\nusage: appell %s %s\n\n", command->name, command->summary,
               command->name, command_synopsis(command, synopsis, sizeof synopsis));
    wrap(command->text, 0, 0);
    if (command->problem >= 0 && listed(command, OPTION_METHOD)) {
        char list[200];
        method_list((problem_t)command->problem, list, sizeof list);
        out_format("\nMethods: %s.\n", list);
    }
    out_text("\nOptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!listed(command, (option_id_t)i))
            continue;
        char name[100];
        option_name(&option_table[i], name, sizeof name);
        out_format("  %s", name);
        const int used = (int)strlen(name) + 2;
        if (used > 26)
            out_text("\n");
        wrap(command_option_help(command, (option_id_t)i), 28, used > 26 ? 0 : used);
    }
    out_text("\nExample:\n");
    verbatim(command->example, 2);
}

int help_run(const request_t *request) {
    if (request->arguments == 0) {
        help_all();
        return EXIT_YES;
    }
    const command_t *command = command_find(request->argument[0]);
    if (!command)
        return command_unknown(request->argument[0]);
    help_command(command);
    return EXIT_YES;
}

/* ------------------------------------------------------------------------------------- man page */

/* Escapes for troff: a backslash anywhere, and a dot or quote at the start of a line, are commands;
 * a hyphen is not a minus. */
static void troff(const char *text, size_t size, bool start) {
    for (size_t i = 0; i < size; i++) {
        if (start && (text[i] == '.' || text[i] == '\''))
            out_text("\\&");
        start = text[i] == '\n';
        if (text[i] == '\\')
            out_text("\\e");
        else if (text[i] == '-')
            out_text("\\-");
        else
            out_bytes(text + i, 1);
    }
}

static void troff_text(const char *text) {
    while (*text) {
        const char *end = strstr(text, "\n\n");
        const size_t size = end ? (size_t)(end - text) : strlen(text);
        troff(text, size, true);
        out_text(end ? "\n.PP\n" : "\n");
        text += size + (end ? 2 : 0);
    }
}

static void troff_option(const option_t *o, const char *help) {
    char name[100];
    option_name(o, name, sizeof name);
    out_text(".TP\n.B \"");
    troff(name, strlen(name), false);
    out_text("\"\n");
    troff_text(help);
}

static void troff_command(const command_t *c) {
    char synopsis[80];
    out_format(".SS \"appell %s ", c->name);
    command_synopsis(c, synopsis, sizeof synopsis);
    troff(synopsis, strlen(synopsis), false);
    out_text("\"\n");
    troff_text(c->summary);
    out_text(".PP\n");
    troff_text(c->text);
    if (c->problem >= 0 && listed(c, OPTION_METHOD)) {
        char list[200];
        method_list((problem_t)c->problem, list, sizeof list);
        out_format(".PP\nMethods: %s.\n", list);
    }
    bool first = true;
    out_text(".PP\nOptions: ");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!listed(c, (option_id_t)i))
            continue;
        out_text(first ? "" : ", ");
        out_text("\\-\\-");
        troff(option_table[i].name, strlen(option_table[i].name), false);
        first = false;
    }
    out_text(".\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *own = command_option_help(c, (option_id_t)i);
        if (listed(c, (option_id_t)i) && own != option_table[i].help)
            troff_option(&option_table[i], own);
    }
    out_text(".PP\n.nf\n.RS\n");
    troff(c->example, strlen(c->example), true);
    out_text("\n.RE\n.fi\n");
}

int man_run(const request_t *request) {
    (void)request;
    out_text(".TH APPELL 1 \"\" \"appell\" \"User Commands\"\n.SH NAME\nappell \\- ");
    troff_text(promise);
    out_text(".SH SYNOPSIS\n.B appell\n.I COMMAND\n[\\fIOPTIONS\\fR] \\fIARGUMENTS\\fR\n"
             ".SH DESCRIPTION\n");
    troff_text(about);
    out_text(".SH COMMANDS\n");
    for (const command_t *c = command_table; c->name; c++)
        troff_command(c);
    out_text(".SH OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        troff_option(&option_table[i], option_table[i].help);
    return EXIT_YES;
}

/* ----------------------------------------------------------------------------------- completion */

/* Writes the words of a list as the shell wants them, whatever separates them. */
static void completion_words(const char *list, const char *separators) {
    while (*list) {
        const size_t size = strcspn(list, separators);
        out_bytes(list, size);
        out_text(size > 0 ? " " : "");
        list += size + (list[size] != '\0');
    }
}

static void completion_command(const command_t *c) {
    out_format("    %s)\n        options=\"", c->name);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (listed(c, (option_id_t)i))
            out_format("--%s ", option_table[i].name);
    out_text("\"\n");
    if (c->problem >= 0) {
        char list[200];
        method_list((problem_t)c->problem, list, sizeof list);
        out_text("        methods=\"");
        completion_words(list, ", ");
        out_text("\"\n");
    }
    out_text("        verbs=\"");
    for (const char *word = c->arguments; *word; word += strspn(word, " ")) {
        const size_t size = strcspn(word, " ");
        if (islower((unsigned char)*word))
            out_format("%.*s ", (int)size, word);
        word += size;
    }
    out_format("\" most=%d\n        ;;\n", c->arguments_most);
}

static void completion_option(const option_t *o) {
    char name[64];
    snprintf(name, sizeof name, o->letter ? "--%s|-%c" : "--%s", o->name, o->letter);
    out_format("    %s) COMPREPLY=(", name);
    switch (o->kind) {
    case ARGUMENT_METHOD:
        out_text("$(compgen -W \"$methods\" -- \"$word\")");
        break;
    case ARGUMENT_WORDS:
        out_text("$(compgen -W \"");
        completion_words(o->argument, "|");
        out_text("\" -- \"$word\")");
        break;
    case ARGUMENT_BOARD:
        out_text("$(compgen -W \"$boards\" -- \"$word\")");
        break;
    case ARGUMENT_PORT:
        out_text("$(compgen -f -W \"${boards// / qemu:} tcp: unix:\" -- \"$word\"))\n"
                 "        # Not as a file's name, whose colon would be quoted.\n"
                 "        [[ $word == */* ]] || compopt +o filenames 2>/dev/null\n"
                 "        return ;;\n");
        return;
    case ARGUMENT_FILE:
        out_text("$(compgen -f -- \"$word\")");
        break;
    default:
        break;
    }
    out_text("); return ;;\n");
}

int completion_run(const request_t *request) {
    if (strcmp(request->argument[0], "bash") != 0)
        return say_error(NULL, "write `appell completion bash`", "there is no completion for '%s'",
                         request->argument[0]);
    out_text("# Completion of appell for bash:  source <(appell completion bash)\n"
             "_appell() {\n"
             "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local commands=\"");
    for (const command_t *c = command_table; c->name; c++)
        out_format("%s ", c->name);
    out_text("\"\n"
             "    local options=\"\" methods=\"\" verbs=\"\" most=2 folder name robots=\"\" "
             "boards=\"\"\n"
             "    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"$before\" = help ]; then\n"
             "        COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
             "        return\n"
             "    fi\n"
             "    for name in boards/*/board.mk; do\n"
             "        grep -qs '^QEMU_MACHINE' \"$name\" && name=${name%/*} && "
             "boards=\"$boards ${name#*/}\"\n"
             "    done\n"
             "    # The shell takes a colon for a word: qemu : netduino2\n"
             "    if [ \"$before$word\" = qemu: ]; then\n"
             "        COMPREPLY=($(compgen -W \"$boards\"))\n"
             "        return\n"
             "    elif [ \"${COMP_WORDS[COMP_CWORD-2]}$before\" = qemu: ]; then\n"
             "        COMPREPLY=($(compgen -W \"$boards\" -- \"$word\"))\n"
             "        return\n"
             "    fi\n"
             "    case ${COMP_WORDS[1]} in\n");
    for (const command_t *c = command_table; c->name; c++)
        completion_command(c);
    out_text("    esac\n"
             "    case $before in\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].kind != ARGUMENT_NONE)
            completion_option(&option_table[i]);
    out_text(
        "    esac\n"
        "    if [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    COMPREPLY=()\n"
        "    for name in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
        "        [[ \" $verbs \" == *\" $name \"* ]] && verbs=\"\"\n"
        "    done\n"
        "    if [ -n \"$verbs\" ]; then\n"
        "        COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    [ \"$most\" -eq 0 ] && return\n"
        "    for folder in \"$APPELL_ROBOTS\" tools/robots; do\n"
        "        for name in \"$folder\"/*.yaml; do\n"
        "            [ -e \"$name\" ] && name=${name##*/} && robots=\"$robots ${name%.yaml}\"\n"
        "        done\n"
        "    done\n"
        "    COMPREPLY=($(compgen -f -W \"$robots\" -- \"$word\"))\n"
        "}\n"
        "complete -o filenames -F _appell appell\n");
    return EXIT_YES;
}
