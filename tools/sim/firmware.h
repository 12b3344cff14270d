/*
 * Runs the firmware's control step in the loop of the simulation: the application of firmware/app
 * in f32, as the board runs it with a real arm. Its inputs are the counts of the robot's encoders.
 * Its outputs are duty cycles of the supply voltage or, for an arm without motors, of the torque
 * limits.
 */
#ifndef TOOLS_SIM_FIRMWARE_H
#define TOOLS_SIM_FIRMWARE_H

#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

typedef struct firmware firmware_t;

/*
 * Commands a cycloid to the position `to` in duration_s; after that the loop holds the arm there.
 * The caller must use the input with the sample period *period_s, which is one tick of the robot's
 * control loop. Prints the reason and returns NULL if this fails.
 */
firmware_t *firmware_make(const robot_t *robot, const double *to, double duration_s,
                          sim_input_t *input, double *period_s);
void firmware_free(firmware_t *firmware);

/* After the run: returns why the motion was refused or which fault ended it, and a cure. Returns
 * NULL if nothing failed. */
const char *firmware_fault(const firmware_t *firmware, const char **cure);

#endif
