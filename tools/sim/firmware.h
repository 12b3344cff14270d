/*
 * The firmware's own control step in the loop of the simulation: the application of
 * firmware/app in f32, as the board runs it with an arm attached. It sees the counts of the robot's encoders and
 * answers with duty cycles of the supply.
 */
#ifndef TOOLS_SIM_FIRMWARE_H
#define TOOLS_SIM_FIRMWARE_H

#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

typedef struct firmware firmware_t;

/*
 * A cycloid to these positions in this time, then it holds. The input is to be used with a hold of
 * *period_s, the tick of the robot's rate. NULL after saying why not.
 */
firmware_t *firmware_make(const robot_t *robot, const double *to, double duration_s,
                          sim_input_t *input, double *period_s);
void firmware_free(firmware_t *firmware);

/* After the run: why the motion was refused or what fault has ended it, with a cure; or NULL. */
const char *firmware_fault(const firmware_t *firmware, const char **cure);

#endif
