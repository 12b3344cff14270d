/* What the entries of the command table run. Each returns an exit code. */
#ifndef TOOLS_CMD_COMMANDS_H
#define TOOLS_CMD_COMMANDS_H

#include "tools/cli/command.h"
#include "tools/robot/robot.h"

int rows_run(const request_t *request);
/* The same for an arm with elastic links. */
int elastic_rows_run(const request_t *request, const robot_t *robot);
int ik_run(const request_t *request);
int sim_command_run(const request_t *request);
int info_run(const request_t *request);
int check_run(const request_t *request);
int ops_run(const request_t *request);
int scale_run(const request_t *request);
int run_run(const request_t *request);
int gen_run(const request_t *request);
int image_run(const request_t *request);
int params_run(const request_t *request);
int flash_run(const request_t *request);
int save_run(const request_t *request);
int get_run(const request_t *request);
int set_run(const request_t *request);
int monitor_run(const request_t *request);
int dump_run(const request_t *request);
int home_run(const request_t *request);
int inspect_run(const request_t *request);
int clear_run(const request_t *request);
int faults_run(const request_t *request);
int certify_run(const request_t *request);
int selftest_run(const request_t *request);
int torture_run(const request_t *request);
int parts_run(const request_t *request);

#endif
