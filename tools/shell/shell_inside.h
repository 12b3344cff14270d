/* State and functions shared by the files of the interactive program. Functions of type int return
 * EXIT_YES, or EXIT_BAD after printing what is wrong. */
#ifndef TOOLS_SHELL_SHELL_INSIDE_H
#define TOOLS_SHELL_SHELL_INSIDE_H

#include <stdio.h>

#include "firmware/lab/methods.h"
#include "tools/cli/command.h"
#include "tools/cli/diagnostics.h"
#include "tools/robot/robot.h"
#include "tools/shell/line.h"
#include "tools/sim/source.h"

/* Variables that the user can set and show: X(NAME, "name", other name that is understood or NULL,
 * "help") */
#define VARIABLE_TABLE(X)                                                                          \
    X(GRAVITY, "gravity", NULL,                                                                    \
      "acceleration of gravity, m/s^2. One number g means the vector 0 0 -g in the base frame: g " \
      "is positive if the base's Z axis points up, negative if it points down. Three numbers "     \
      "give the vector itself, in the base frame")                                                 \
    X(PERIOD, "DACTimePeriod", NULL, "time between two changes of the voltages or torques, s")     \
    X(THETA, "theta", NULL, "position of each joint, rad or m")                                    \
    X(OMEGA, "omega", NULL,                                                                        \
      "speed of each joint, rad/s or m/s; a new speed changes the torque through the back EMF of " \
      "the motor")                                                                                 \
    X(ALPHA, "alpha", NULL,                                                                        \
      "acceleration of each joint, rad/s^2 or m/s^2; forward_arm computes it")                     \
    X(TORQUE, "torque", NULL,                                                                      \
      "torque of each motor at its joint, N m or N; setting it recomputes voltage")                \
    X(VOLTAGE, "voltage", NULL, "voltage of each motor, V; setting it recomputes torque")          \
    X(DACOUT, "DACOut", NULL,                                                                      \
      "output of the converter for each joint, V: the voltage, limited to the supply of the "      \
      "motor; setting it sets the voltage")                                                        \
    X(FORCE, "effector_force", "f_hand",                                                           \
      "force that the surroundings exert on the end effector, N: three numbers along the axes of " \
      "the tool frame, at its origin. The paper calls it f_hand, and so may you; its "             \
      "equation (13) has the opposite sign")                                                       \
    X(MOMENT, "effector_moment", "n_hand",                                                         \
      "moment that the surroundings exert on the end effector, N m: three numbers along the axes " \
      "of the tool frame. The paper calls it n_hand, and so may you; the sign is as for the "      \
      "force")                                                                                     \
    X(METHOD, "method", NULL, "method of forward dynamics: fast, crba, ga, aba, denoc or gen")     \
    X(INTEGRATOR, "integrator", NULL,                                                              \
      "method of integration: rk3 (as in Swartz 1982), rk4, rk45 or rk56")                         \
    X(TIMESTEP, "timestep", NULL, "step of the integrator and of the record, s; default 0.001")

typedef enum {
#define X(id, name, other, help) VARIABLE_##id,
    VARIABLE_TABLE(X)
#undef X
        VARIABLES
} variable_t;

typedef struct {
    const char *name, *other, *help;
} shell_variable_t;
extern const shell_variable_t shell_variables[VARIABLES];

typedef struct {
    const request_t *request;
    robot_t *robot;
    sim_system_t *arm;
    bool motors;
    line_t *line;
    double period_s, timestep_s;
    double theta[DYN_MAX_JOINTS], omega[DYN_MAX_JOINTS], alpha[DYN_MAX_JOINTS];
    double torque[DYN_MAX_JOINTS], voltage[DYN_MAX_JOINTS];
    pull_t pull; /* the wrench on the end effector, which is constant */
    method_id_t method;
    const rk_method_t *integrator;
    sim_t *sim; /* NULL before the first run, and after shell_forget_run */
    source_t source;
    sim_record_t record;
    FILE *output;
    char *output_name;
    bool over;
} shell_t;

/* Prints what is wrong and where in the script, and returns EXIT_BAD. */
int shell_error(const shell_t *sh, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the simulation. Call it after a change of the arm, its state or the integration, because the
 * run cannot continue then. */
void shell_forget_run(shell_t *sh);
/* Makes the kernels again from the present description of the robot. */
int shell_make_arm(shell_t *sh);
/* Replaces the robot. Takes ownership of the new one, even on failure. */
int shell_take_robot(shell_t *sh, robot_t *robot);
int shell_need_motors(const shell_t *sh, const char *what);
void shell_torque_from_voltage(shell_t *sh);
void shell_voltage_from_torque(shell_t *sh);

int shell_print_variable(const shell_t *sh, variable_t variable);
int shell_set_variable(shell_t *sh, variable_t variable, const char *text);

/* The commands. `words` is the rest of the line. */
int shell_inverse_arm(shell_t *sh, const char *words);
int shell_forward_arm(shell_t *sh, const char *words);
int shell_simulate(shell_t *sh, const char *words);
int shell_plot_simulation(shell_t *sh, const char *words);
int shell_print_simulation(shell_t *sh, const char *words);
int shell_write_graphic_file(shell_t *sh, const char *words);
int shell_open_output_file(shell_t *sh, const char *words);
int shell_close_output_file(shell_t *sh, const char *words);
int shell_database_read(shell_t *sh, const char *words);
int shell_show(shell_t *sh, const char *words);
int shell_quit(shell_t *sh, const char *words);
/* Writes text to the output file if one is open, otherwise to the screen. */
void shell_print_text(shell_t *sh, const char *text);
/* Prints an error if the output file could not be written. */
int shell_print_end(const shell_t *sh);
/* Closes the output file if one is open. */
void shell_close_output(shell_t *sh);

#endif
