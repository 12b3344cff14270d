/* The state of a run of `appell sim`, shared by the reader of its options (cmd_sim_options.c) and
 * the command (cmd_sim.c). */
#ifndef TOOLS_CMD_CMD_SIM_H
#define TOOLS_CMD_CMD_SIM_H

#include "dyn/model/flex_model.h"
#include "firmware/lab/methods.h"
#include "tools/cli/command.h"
#include "tools/robot/robot.h"
#include "tools/sim/firmware.h"
#include "tools/sim/source.h"

typedef struct {
    const request_t *request;
    const robot_t *robot;
    method_id_t method;
    bool elastic;
    dyn_flex_model_t flex;
    sim_system_t *arm;
    sim_options_t options;
    double duration_s;
    double q[SIM_COORDINATES_MAX], qd[SIM_COORDINATES_MAX];
    sim_motion_t motion;
    source_t source;
    firmware_t *firmware;
    pull_t pull;
    sim_record_t record;
    double processor_s;
    unsigned long steps, rejected, evaluations, impacts;
    uint32_t limited;
} sim_job_t;

/* Sets start, source, duration and steps of job->arm from the options. Returns EXIT_YES, or
 * EXIT_BAD after printing what is wrong. */
int sim_take_options(sim_job_t *job);

#endif
