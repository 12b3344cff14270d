/*
 * The firmware's control step in the loop of the simulation: the application of firmware/app in
 * f32, as the board runs it with a real arm. It reads the counts of the robot's encoders and
 * answers with duty cycles of the supply or, for joints without motors, of the torque limits.
 */
#ifndef TOOLS_SIM_FIRMWARE_H
#define TOOLS_SIM_FIRMWARE_H

#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

typedef struct firmware firmware_t;

/*
 * Commands a cycloid to `to` in duration_s, after which the loop holds the arm there. Use the input
 * with sample period *period_s, the tick of the robot's rate. Prints the reason and returns NULL if
 * it fails.
 */
firmware_t *firmware_make(const robot_t *robot, const double *to, double duration_s,
                          sim_input_t *input, double *period_s);
void firmware_free(firmware_t *firmware);

/* After the run: why the motion was refused or which fault ended it, with a cure; else NULL. */
const char *firmware_fault(const firmware_t *firmware, const char **cure);

#endif
