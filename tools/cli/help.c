/* Prints help and the man page, both from the tables of command.h. */
#include <stdio.h>
#include <string.h>

#include "tools/cli/command.h"
#include "firmware/app/version.h"
#include "firmware/lab/methods.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

static const char promise[] = "dynamics of robot arms, on this machine and on a microcontroller";

static const char *const task_title[TASK_COUNT] = {
#define X(name, title) title,
    TASK_TABLE(X)
#undef X
};

static const char about[] =
    "ROBOT is a robot file (YAML), a URDF, a parts database, a robot image, or the name of a robot "
    "in $APPELL_ROBOTS or tools/robots. ROWS is a file of rows; default: standard input. A row is "
    "a line of numbers separated by blanks or commas; # starts a comment. Each row of input gives "
    "one row of output, with all digits. All units are SI; angles are in rad.\n\nExit codes: 0 "
    "success, or the answer is yes; 1 the answer is no; 2 bad usage, bad input or a failure.";

enum { WIDTH = 80 };

/* Wraps text between columns `indent` and WIDTH; `column` is the present column. */
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

static void option_name(const option_t *o, char *out, size_t size) {
    int used = snprintf(out, size, "--%s", o->name);
    if (o->letter)
        used = snprintf(out, size, "-%c, --%s", o->letter, o->name);
    if (o->argument)
        snprintf(out + used, size - (size_t)used, " %s", o->argument);
}

static bool task_has_any(task_t task) {
    for (const command_t *c = command_table; c->name; c++)
        if (c->task == task)
            return true;
    return false;
}

void help_all(void) {
    out_format("appell: %s\n\nusage: appell COMMAND [OPTIONS] ARGUMENTS\n", promise);
    for (int task = 0; task < TASK_COUNT; task++) {
        if (!task_has_any((task_t)task))
            continue;
        out_format("\n%s\n", task_title[task]);
        for (const command_t *c = command_table; c->name; c++)
            if ((int)c->task == task)
                out_format("  %-11s %s\n", c->name, c->summary);
    }
    out_text("\n");
    wrap(about, 0, 0);
    out_text("\n`appell help COMMAND` explains a command and shows examples.\n"
             "`appell --version` prints the version.\n");
}

void help_command(const command_t *command) {
    char synopsis[80];
    out_format("appell %s: %s\n\nusage: appell %s %s\n\n", command->name, command->summary,
               command->name, command_synopsis(command, synopsis, sizeof synopsis));
    wrap(command->text, 0, 0);
    if (command->problem >= 0 && command_lists(command, OPTION_METHOD)) {
        char list[200];
        method_list((problem_t)command->problem, list, sizeof list);
        out_format("\nMethods: %s.\n", list);
    }
    out_text("\nOptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!command_lists(command, (option_id_t)i))
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

/* Writes text escaped for troff. A backslash anywhere is a command, and so is a dot or quote at the
 * start of a line; a hyphen must be marked as a minus sign. */
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
    if (c->problem >= 0 && command_lists(c, OPTION_METHOD)) {
        char list[200];
        method_list((problem_t)c->problem, list, sizeof list);
        out_format(".PP\nMethods: %s.\n", list);
    }
    bool first = true;
    out_text(".PP\nOptions: ");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!command_lists(c, (option_id_t)i))
            continue;
        out_text(first ? "" : ", ");
        out_text("\\-\\-");
        troff(option_table[i].name, strlen(option_table[i].name), false);
        first = false;
    }
    out_text(".\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *own = command_option_help(c, (option_id_t)i);
        if (command_lists(c, (option_id_t)i) && own != option_table[i].help)
            troff_option(&option_table[i], own);
    }
    out_text(".PP\n.nf\n.RS\n");
    troff(c->example, strlen(c->example), true);
    out_text("\n.RE\n.fi\n");
}

int man_run(const request_t *request) {
    (void)request;
    out_format(".TH APPELL 1 \"\" \"appell %s\" \"User Commands\"\n.SH NAME\nappell \\- ",
               version_number);
    troff_text(promise);
    out_text(".SH SYNOPSIS\n.B appell\n.I COMMAND\n[\\fIOPTIONS\\fR] \\fIARGUMENTS\\fR\n"
             ".SH DESCRIPTION\n");
    troff_text(about);
    for (int task = 0; task < TASK_COUNT; task++) {
        if (!task_has_any((task_t)task))
            continue;
        out_format(".SH COMMANDS: %s\n", task_title[task]);
        for (const command_t *c = command_table; c->name; c++)
            if ((int)c->task == task)
                troff_command(c);
    }
    out_text(".SH OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        troff_option(&option_table[i], option_table[i].help);
    return EXIT_YES;
}
