/* Implements the interactive program of tools/shell/shell.h: the loop over its lines, the table of
 * commands, and help. */
#include "tools/shell/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/shell/shell_inside.h"
#include "tools/sim/rigid.h"

int shell_error(const shell_t *sh, const char *cure, const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out_flush();
    return diag_error(line_place(sh->line), cure, "%s", text);
}

static int help(shell_t *sh, const char *words);

static const struct {
    const char *name, *argument, *help;
    int (*run)(shell_t *sh, const char *words);
} commands[] = {
    {"inverse_arm", "[FILE]",
     "compute torque, and voltage if there are motors, for theta, omega and alpha. FILE has many "
     "sets of them, a row `theta omega alpha` for each; the answer is then a row for each set, on "
     "the screen or in the open output file",
     shell_inverse_arm},
    {"forward_arm", "", "compute alpha for theta, omega and torque", shell_forward_arm},
    {"simulate", "",
     "simulate the motion under constant voltages (torques, if there are no motors) or a schedule. "
     "Asks whether to start a new simulation, to set theta and omega to zero, and to use a "
     "schedule file; then asks for the number of timesteps or the name of the file. The answers "
     "may be given on the same line: simulate yes no no 1000",
     shell_simulate},
    {"plot_simulation", "[FILE]",
     "plot the simulation as .png, .svg or .pdf; default simulation.png", shell_plot_simulation},
    {"print_simulation", "",
     "print the simulation, or write it into the open output file; asks for start, finish and "
     "step, in timesteps; for example: print_simulation 0 100 10",
     shell_print_simulation},
    {"write_graphic_file", "[FILE]", "write an animation for a browser; default simulation.html",
     shell_write_graphic_file},
    {"open_output_file", "FILE", "let print_simulation and inverse_arm FILE write into this file",
     shell_open_output_file},
    {"close_output_file", "", "let them write to the screen again", shell_close_output_file},
    {"database_read", "ROBOT",
     "load another arm, with its gravity and DACTimePeriod, and set its state, torques and wrench "
     "to zero",
     shell_database_read},
    {"show", "", "print all variables", shell_show},
    {"help", "[NAME]", "print this list, or explain one variable or command", help},
    {"quit", "", "end the program, as control-D does", shell_quit},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return i;
    return -1;
}

static int find_variable(const char *name) {
    for (int i = 0; i < VARIABLES; i++)
        if (!strcmp(shell_variables[i].name, name) ||
            (shell_variables[i].other && !strcmp(shell_variables[i].other, name)))
            return i;
    return -1;
}

/* Returns word i of those that may begin a line, for completion. */
static const char *first_word(size_t i) {
    return i < COMMANDS               ? commands[i].name
           : i < COMMANDS + VARIABLES ? shell_variables[i - COMMANDS].name
                                      : NULL;
}

static int unknown(const shell_t *sh, const char *name) {
    const char *known[COMMANDS + VARIABLES + 1];
    for (size_t i = 0; i <= COMMANDS + VARIABLES; i++)
        known[i] = first_word(i);
    const char *near = messages_nearest(name, known);
    char cure[160];
    snprintf(cure, sizeof cure, "%s%s%s`help` lists commands and variables",
             near ? "did you mean " : "", near ? near : "", near ? "? " : "");
    return shell_error(sh, cure, "there is no command or variable '%s'", name);
}

static void help_entry(const char *name, const char *argument, const char *text) {
    char head[60];
    snprintf(head, sizeof head, "%s %s", name, argument);
    out_format("  %-22s", head);
    size_t column = 24;
    while (*text) {
        const size_t size = strcspn(text, " ");
        if (column + size + 1 > 96) {
            out_format("\n%24s", "");
            column = 24;
        }
        out_text(" ");
        out_bytes(text, size);
        column += size + 1;
        text += size + (text[size] == ' ');
    }
    out_text("\n");
}

static int help(shell_t *sh, const char *words) {
    words += strspn(words, " \t");
    if (*words) {
        const int command = find_command(words), variable = find_variable(words);
        if (command < 0 && variable < 0)
            return unknown(sh, words);
        if (command >= 0)
            help_entry(words, commands[command].argument, commands[command].help);
        else
            help_entry(words, "", shell_variables[variable].help);
        return EXIT_YES;
    }
    out_text("Variables: `theta` shows the value of theta, `theta = 0 0.5 ...` sets it.\n");
    for (int i = 0; i < VARIABLES; i++)
        help_entry(shell_variables[i].name, "", shell_variables[i].help);
    out_text("Commands:\n");
    for (int i = 0; i < COMMANDS; i++)
        help_entry(commands[i].name, commands[i].argument, commands[i].help);
    return EXIT_YES;
}

static int run_line(shell_t *sh, const char *text) {
    char line[4096], name[64];
    snprintf(line, sizeof line, "%s", text);
    line[strcspn(line, "#")] = '\0';
    for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]);)
        line[--end] = '\0';
    const char *begin = line + strspn(line, " \t");
    const size_t size = strcspn(begin, " \t=");
    if (!*begin)
        return EXIT_YES;
    snprintf(name, sizeof name, "%.*s", (int)(size < 60 ? size : 60), begin);
    const char *rest = begin + size + strspn(begin + size, " \t");
    const int variable = find_variable(name), command = find_command(name);
    if (*rest == '=' && variable >= 0) {
        rest++;
        return shell_set_variable(sh, (variable_t)variable, rest + strspn(rest, " \t"));
    }
    if (variable >= 0 && *rest)
        return shell_error(sh, "`help` lists commands and variables",
                           "%s is a variable: `%s = ...` sets it", name, name);
    if (variable >= 0)
        return shell_print_variable(sh, (variable_t)variable);
    if (command < 0)
        return unknown(sh, name);
    return commands[command].run(sh, rest);
}

static int loop(shell_t *sh) {
    const char *text;
    while (!sh->over && !out_failed()) {
        const line_status_t status = line_next(sh->line, "sim> ", &text);
        if (status == LINE_END)
            break;
        if (status == LINE_INTERRUPTED)
            continue;
        /* copied, because a question reads another line into the same memory */
        char *copy = strdup(text);
        if (!copy)
            return diag_no_memory();
        const int code = run_line(sh, copy);
        free(copy);
        out_flush();
        if (code != EXIT_YES && !line_terminal(sh->line))
            return code;
    }
    return EXIT_YES;
}

int shell_run(const request_t *request, robot_t *robot, method_id_t method) {
    shell_t *sh = calloc(1, sizeof *sh);
    if (!sh) {
        arm_free(robot);
        return diag_no_memory();
    }
    sh->request = request;
    sh->method = method;
    sh->integrator = rk_find("rk3"); /* as in the paper of Swartz */
    sh->timestep_s = 0.001;
    sh->line = line_open(request->value[OPTION_SCRIPT], first_word);
    int status = EXIT_BAD;
    if (!sh->line)
        arm_free(robot);
    else
        status = shell_take_robot(sh, robot);
    if (status == EXIT_YES) {
        if (line_terminal(sh->line))
            out_format(
                "%s, %u joints. `help` lists commands and variables, control-D ends the program.\n",
                robot->name, (unsigned)robot->n);
        status = loop(sh);
    }
    shell_close_output(sh);
    shell_forget_run(sh);
    sim_record_free(&sh->record);
    source_free(&sh->source);
    rigid_free(sh->arm);
    arm_free(sh->robot);
    line_close(sh->line);
    free(sh);
    return status;
}
