/* The two models of the interactive program, for tools/shell/shell_inside.h: inverse_arm, on the
 * variables or on a file of sets, and forward_arm. */
#include <stdio.h>
#include <string.h>

#include "tools/cli/diagnostics.h"
#include "tools/shell/shell_inside.h"

static int inverse_of_variables(shell_t *sh) {
    const int status =
        sim_inverse(sh->arm, sh->theta, sh->omega, sh->alpha, sh->pull.constant, sh->torque);
    if (status != DYN_OK)
        return shell_error(sh, NULL, "%s", sim_status_text(status));
    shell_voltage_from_torque(sh);
    shell_print_variable(sh, VARIABLE_TORQUE);
    return sh->motors ? shell_print_variable(sh, VARIABLE_VOLTAGE) : EXIT_YES;
}

static void print_set(shell_t *sh, const double *torque, const double *voltage) {
    const double *const part[] = {torque, voltage};
    char text[40];
    for (int k = 0; k < (sh->motors ? 2 : 1); k++)
        for (uint32_t i = 0; i < sh->arm->joints; i++) {
            snprintf(text, sizeof text, "%s%.9g", k > 0 || i > 0 ? " " : "", part[k][i] + 0.0);
            shell_print_text(sh, text);
        }
    shell_print_text(sh, "\n");
}

static void note_limited(const shell_t *sh, const unsigned long *limited, size_t sets) {
    for (uint32_t i = 0; i < sh->arm->joints; i++)
        if (limited[i] > 0)
            diag_note(NULL, "joint %s: the supply of %g V limited the voltage in %lu of %zu sets",
                      sh->robot->joint[i].name, sh->robot->model.joint[i].drive.motor.voltage,
                      limited[i], sets);
}

static int inverse_of_sets(shell_t *sh, const table_t *sets, const char *path) {
    const uint32_t n = sh->arm->joints;
    unsigned long limited[DYN_MAX_JOINTS] = {0};
    shell_print_text(sh, sh->motors ? "# torque of all joints, then voltage of all joints\n"
                                    : "# torque of all joints\n");
    for (size_t k = 0; k < sets->rows; k++) {
        const double *q = sets->number + k * sets->width, *qd = q + n, *qdd = qd + n;
        double torque[DYN_MAX_JOINTS] = {0}, voltage[DYN_MAX_JOINTS] = {0};
        const int status = sim_inverse(sh->arm, q, qd, qdd, sh->pull.constant, torque);
        if (status != DYN_OK)
            return shell_error(sh, NULL, "%s:%lu: %s", path, sets->line[k],
                               sim_status_text(status));
        uint32_t beyond = sh->motors ? sh->arm->voltage(sh->arm->self, qd, torque, voltage) : 0;
        for (uint32_t i = 0; beyond; i++, beyond >>= 1)
            limited[i] += beyond & 1;
        print_set(sh, torque, voltage);
    }
    if (!request_has(sh->request, OPTION_QUIET))
        note_limited(sh, limited, sets->rows);
    return shell_print_end(sh);
}

int shell_inverse_arm(shell_t *sh, const char *words) {
    const size_t width = 3 * (size_t)sh->arm->joints;
    table_t sets;
    words += strspn(words, " \t");
    if (!*words)
        return inverse_of_variables(sh);
    if (table_read(&sets, words, &width, 1,
                   "write rows of theta, omega and alpha, each with one number per joint") !=
        EXIT_YES)
        return EXIT_BAD;
    const int status = inverse_of_sets(sh, &sets, words);
    table_free(&sets);
    return status;
}

int shell_forward_arm(shell_t *sh, const char *words) {
    double force[DYN_MAX_JOINTS], effector[DYN_MAX_JOINTS];
    (void)words;
    sh->arm->friction(sh->arm->self, sh->omega, force);
    sh->arm->effector(sh->arm->self, sh->theta, sh->pull.constant, effector);
    for (uint32_t i = 0; i < sh->arm->joints; i++)
        force[i] = sh->torque[i] - force[i] + effector[i];
    const int status = sh->arm->acceleration(sh->arm->self, sh->theta, sh->omega, force, sh->alpha);
    if (status != DYN_OK)
        return shell_error(sh, "`appell check` names the joints that move no mass", "%s",
                           sim_status_text(status));
    return shell_print_variable(sh, VARIABLE_ALPHA);
}
