/* The arm of the interactive program, for tools/shell/shell_inside.h: loads another arm, remakes
 * its kernels, converts between torques and voltages. */
#include <string.h>

#include "tools/args/arm.h"
#include "tools/shell/shell_inside.h"
#include "tools/sim/rigid.h"

void shell_forget_run(shell_t *sh) {
    sim_free(sh->sim);
    sh->sim = NULL;
}

void shell_torque_from_voltage(shell_t *sh) {
    if (sh->motors)
        (void)sh->arm->torque(sh->arm->self, sh->omega, sh->voltage, sh->torque);
}

void shell_voltage_from_torque(shell_t *sh) {
    if (sh->motors)
        (void)sh->arm->voltage(sh->arm->self, sh->omega, sh->torque, sh->voltage);
}

static bool has_motors(const robot_t *robot) {
    for (uint32_t i = 0; i < robot->n; i++)
        if (robot_motor_missing(robot, i))
            return false;
    return true;
}

int shell_make_arm(shell_t *sh) {
    int status;
    sim_system_t *arm = rigid_make(&sh->robot->model, sh->method, &status);
    if (!arm)
        return shell_error(sh, "see `appell check`", "%s", sim_status_text(status));
    shell_forget_run(sh);
    rigid_free(sh->arm);
    sh->arm = arm;
    sh->motors = has_motors(sh->robot);
    return EXIT_YES;
}

int shell_take_robot(shell_t *sh, robot_t *robot) {
    robot_t *before = sh->robot;
    sh->robot = robot;
    if (shell_make_arm(sh) != EXIT_YES) {
        sh->robot = before;
        arm_free(robot);
        return EXIT_BAD;
    }
    arm_free(before);
    sim_record_free(&sh->record);
    sh->period_s = 1 / robot->rate_hz;
    memset(sh->theta, 0, sizeof sh->theta);
    memset(sh->omega, 0, sizeof sh->omega);
    memset(sh->alpha, 0, sizeof sh->alpha);
    memset(sh->torque, 0, sizeof sh->torque);
    memset(sh->voltage, 0, sizeof sh->voltage);
    pull_constant(&sh->pull, (const double[6]){0});
    return EXIT_YES;
}

int shell_need_motors(const shell_t *sh, const char *what) {
    if (sh->motors)
        return EXIT_YES;
    return shell_error(
        sh, "use torque, or give each motor a resistance and a torque_constant in the robot file",
        "%s: the motor data of a joint are incomplete, so no voltage can be used", what);
}
