/* What drives the arm and what pulls at its end effector: constants, schedules from files,
 * motions. */
#ifndef TOOLS_SIM_SOURCE_H
#define TOOLS_SIM_SOURCE_H

#include "tools/sim/motion.h"
#include "tools/sim/sim.h"
#include "tools/sim/table.h"

/* Wants to stay where it is: input and wrench point into it. */
typedef struct {
    sim_input_t input;
    uint32_t n;
    double constant[DYN_MAX_JOINTS];
    table_t schedule;
    double period_s; /* of a schedule without times; else zero */
    double from_s;   /* when a schedule begins */
    const sim_system_t *arm;
    const sim_motion_t *motion;
    const sim_wrench_t *wrench; /* that the motion has to bear; NULL: none */
} source_t;

/* value NULL: zero. */
void source_constant(source_t *source, sim_quantity_t quantity, uint32_t n, const double *value);
/*
 * Rows `t v1 .. vn`, held from t until the next; nothing before the first, the last for ever. Or
 * rows `v1 .. vn`, one for each period. EXIT_YES, or EXIT_BAD after saying what is wrong.
 */
int source_schedule(source_t *source, sim_quantity_t quantity, uint32_t n, const char *path,
                    double period_s);
/* The torques of a motion, or the voltages for them, whatever the arm does; of a wrench what the
 * motion has to bear. */
void source_motion(source_t *source, sim_quantity_t quantity, const sim_system_t *arm,
                   const sim_motion_t *motion, const sim_wrench_t *wrench);
void source_free(source_t *source);

/* How long a schedule is; the last row of one with times counts nothing. 0: no schedule. */
double source_end(const source_t *source);

typedef struct {
    sim_wrench_t wrench;
    double constant[6];
    table_t schedule;
} pull_t;

void pull_constant(pull_t *pull, const double wrench[6]);
/* Rows `t fx fy fz nx ny nz`, straight lines between them, the first and last for ever. */
int pull_schedule(pull_t *pull, const char *path);
void pull_free(pull_t *pull);

#endif
