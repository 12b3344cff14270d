/* Shows and sets the variables of the interactive program, for tools/shell/shell_inside.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/shell/shell_inside.h"

const shell_variable_t shell_variables[VARIABLES] = {
#define X(id, name, other, help) {name, other, help},
    VARIABLE_TABLE(X)
#undef X
};

static void print_numbers(const char *name, const double *value, uint32_t count) {
    out_format("%s =", name);
    for (uint32_t i = 0; i < count; i++)
        out_format(" %.9g", value[i] + 0.0); /* + 0.0 turns -0 into 0 */
    out_text("\n");
}

static void print_gravity(const shell_t *sh) {
    const double *g = sh->robot->gravity;
    if (g[0] != 0 || g[1] != 0) {
        print_numbers("gravity", g, 3);
        return;
    }
    if (g[2] == 0)
        out_text("gravity = 0\n");
    else
        out_format("gravity = %.9g  (the base's Z axis points %s; as a vector 0 0 %.9g)\n", -g[2],
                   g[2] > 0 ? "down" : "up", g[2]);
}

static void limited(const shell_t *sh, double *out) {
    for (uint32_t i = 0; i < sh->arm->joints; i++) {
        const double most = sh->robot->model.joint[i].drive.motor.voltage;
        const double v = sh->voltage[i];
        out[i] = most > 0 && fabs(v) > most ? copysign(most, v) : v;
    }
}

int shell_print_variable(const shell_t *sh, variable_t variable) {
    const char *name = shell_variables[variable].name;
    const uint32_t n = sh->arm->joints;
    double within[DYN_MAX_JOINTS];
    switch (variable) {
    case VARIABLE_GRAVITY:
        print_gravity(sh);
        break;
    case VARIABLE_PERIOD:
        print_numbers(name, &sh->period_s, 1);
        break;
    case VARIABLE_TIMESTEP:
        print_numbers(name, &sh->timestep_s, 1);
        break;
    case VARIABLE_THETA:
        print_numbers(name, sh->theta, n);
        break;
    case VARIABLE_OMEGA:
        print_numbers(name, sh->omega, n);
        break;
    case VARIABLE_ALPHA:
        print_numbers(name, sh->alpha, n);
        break;
    case VARIABLE_TORQUE:
        print_numbers(name, sh->torque, n);
        break;
    case VARIABLE_VOLTAGE:
    case VARIABLE_DACOUT:
        if (shell_need_motors(sh, name) != EXIT_YES)
            return EXIT_BAD;
        limited(sh, within);
        print_numbers(name, variable == VARIABLE_DACOUT ? within : sh->voltage, n);
        break;
    case VARIABLE_FORCE:
        print_numbers(name, sh->pull.constant, 3);
        break;
    case VARIABLE_MOMENT:
        print_numbers(name, sh->pull.constant + 3, 3);
        break;
    case VARIABLE_METHOD:
        out_format("%s = %s\n", name, method_name(sh->method));
        break;
    case VARIABLE_INTEGRATOR:
        out_format("%s = %s\n", name, sh->integrator->name);
        break;
    case VARIABLES:
        break;
    }
    return EXIT_YES;
}

/* Reads numbers and returns how many there are, or -1 after printing which word is not a number. */
static long scan_numbers(const shell_t *sh, const char *name, const char *text, double *value,
                         size_t most) {
    size_t count = 0;
    for (;;) {
        text += strspn(text, " \t,");
        if (!*text)
            return (long)count;
        double number;
        const char *end = number_scan(text, &number);
        if (!end || !isfinite(number) || (*end && !strchr(" \t,", *end))) {
            shell_error(sh, "write numbers such as -0.5 or 1e-3, separated by blanks",
                        "%s: '%.*s' is not a finite number", name, (int)strcspn(text, " \t,"),
                        text);
            return -1;
        }
        if (count < most)
            value[count] = number;
        count++;
        text = end;
    }
}

static int set_gravity(shell_t *sh, const char *text) {
    double value[3], before[3];
    const long count = scan_numbers(sh, "gravity", text, value, 3);
    if (count < 0)
        return EXIT_BAD;
    if (count != 1 && count != 3)
        return shell_error(sh,
                           "write one number for gravity along Z, or the three numbers of a vector",
                           "gravity has 1 or 3 numbers, not %ld", count);
    memcpy(before, sh->robot->gravity, sizeof before);
    const double down[3] = {0, 0, -value[0]};
    int status = arm_set_gravity(sh->request, sh->robot, count == 1 ? down : value);
    if (status == EXIT_YES)
        status = shell_make_arm(sh);
    if (status != EXIT_YES)
        (void)arm_set_gravity(sh->request, sh->robot, before);
    return status;
}

static int set_positive(shell_t *sh, variable_t variable, const char *text) {
    const char *name = shell_variables[variable].name;
    double value;
    const long count = scan_numbers(sh, name, text, &value, 1);
    if (count < 0)
        return EXIT_BAD;
    if (count != 1 || !(value > 0))
        return shell_error(sh, "write one number above zero, in s", "%s: %s", name,
                           count != 1 ? "one number is expected" : "the number must be above zero");
    shell_forget_run(sh);
    *(variable == VARIABLE_PERIOD ? &sh->period_s : &sh->timestep_s) = value;
    return EXIT_YES;
}

static int set_word(shell_t *sh, variable_t variable, const char *text) {
    char cure[240] = "choose one of: rk3, rk4, rk45, rk56";
    if (variable == VARIABLE_INTEGRATOR) {
        const rk_method_t *found = rk_find(text);
        if (!found)
            return shell_error(sh, cure, "there is no integrator '%s'", text);
        shell_forget_run(sh);
        sh->integrator = found;
        return EXIT_YES;
    }
    const method_id_t found = method_find(PROBLEM_FD, text), before = sh->method;
    if (found >= METHOD_COUNT) {
        char list[200];
        method_list(PROBLEM_FD, list, sizeof list);
        snprintf(cure, sizeof cure, "choose one of: %s", list);
        return shell_error(sh, cure, "there is no method '%s'", text);
    }
    sh->method = found;
    const int status = shell_make_arm(sh);
    if (status != EXIT_YES)
        sh->method = before;
    return status;
}

static int set_vector(shell_t *sh, variable_t variable, const char *text) {
    const char *name = shell_variables[variable].name;
    const bool wrench = variable == VARIABLE_FORCE || variable == VARIABLE_MOMENT;
    const uint32_t n = wrench ? 3 : sh->arm->joints;
    double value[DYN_MAX_JOINTS];
    double *const of[VARIABLES] = {
        [VARIABLE_THETA] = sh->theta,         [VARIABLE_OMEGA] = sh->omega,
        [VARIABLE_ALPHA] = sh->alpha,         [VARIABLE_TORQUE] = sh->torque,
        [VARIABLE_VOLTAGE] = sh->voltage,     [VARIABLE_DACOUT] = sh->voltage,
        [VARIABLE_FORCE] = sh->pull.constant, [VARIABLE_MOMENT] = sh->pull.constant + 3};
    if ((variable == VARIABLE_VOLTAGE || variable == VARIABLE_DACOUT) &&
        shell_need_motors(sh, name) != EXIT_YES)
        return EXIT_BAD;
    const long count = scan_numbers(sh, name, text, value, n);
    if (count < 0)
        return EXIT_BAD;
    if (count != (long)n)
        return shell_error(sh,
                           wrench ? "give the components along x, y and z of the tool frame"
                                  : "give one number for each joint",
                           "%s: got %ld number%s, expected %u", name, count, count == 1 ? "" : "s",
                           (unsigned)n);
    memcpy(of[variable], value, n * sizeof *value);
    if (variable == VARIABLE_THETA || variable == VARIABLE_OMEGA)
        shell_forget_run(sh);
    if (variable == VARIABLE_DACOUT)
        limited(sh, sh->voltage);
    if (variable == VARIABLE_TORQUE)
        shell_voltage_from_torque(sh);
    else if (variable == VARIABLE_OMEGA || variable == VARIABLE_VOLTAGE ||
             variable == VARIABLE_DACOUT)
        shell_torque_from_voltage(sh);
    return EXIT_YES;
}

int shell_set_variable(shell_t *sh, variable_t variable, const char *text) {
    switch (variable) {
    case VARIABLE_GRAVITY:
        return set_gravity(sh, text);
    case VARIABLE_PERIOD:
    case VARIABLE_TIMESTEP:
        return set_positive(sh, variable, text);
    case VARIABLE_METHOD:
    case VARIABLE_INTEGRATOR:
        return set_word(sh, variable, text);
    default:
        return set_vector(sh, variable, text);
    }
}
