/* The functions that the command table calls. Each returns an exit code. */
#ifndef TOOLS_CMD_COMMANDS_H
#define TOOLS_CMD_COMMANDS_H

#include "tools/cli/command.h"
#include "tools/robot/robot.h"

int cmd_compute(const request_t *request);
/* Like cmd_compute, for an arm with elastic links. */
int cmd_compute_elastic(const request_t *request, const robot_t *robot);
int cmd_ik(const request_t *request);
int cmd_factor(const request_t *request);
int cmd_sim(const request_t *request);
int cmd_info(const request_t *request);
int cmd_check(const request_t *request);
int cmd_ops(const request_t *request);
int cmd_scale(const request_t *request);
int cmd_demo(const request_t *request);
int cmd_gen(const request_t *request);
int cmd_symbolic(const request_t *request);
int cmd_image(const request_t *request);
int cmd_config(const request_t *request);
int cmd_emulate(const request_t *request);
int cmd_flash(const request_t *request);
int cmd_save(const request_t *request);
int cmd_get(const request_t *request);
int cmd_set(const request_t *request);
int cmd_monitor(const request_t *request);
int cmd_crash(const request_t *request);
int cmd_home(const request_t *request);
int cmd_hold(const request_t *request);
int cmd_move(const request_t *request);
int cmd_jog(const request_t *request);
int cmd_stop(const request_t *request);
int cmd_release(const request_t *request);
int cmd_inspect(const request_t *request);
int cmd_clear(const request_t *request);
int cmd_status(const request_t *request);
int cmd_faults(const request_t *request);
int cmd_certify(const request_t *request);
int cmd_selftest(const request_t *request);
int cmd_silicon(const request_t *request);
int cmd_parts(const request_t *request);
int completion_run(const request_t *request);

/* Returns the name of board i that `certify` knows, or NULL after the last. */
const char *certify_board(size_t i);

#endif
