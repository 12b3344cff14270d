/* Inputs of the arm and wrenches on its end effector: constants, schedules from files, motions. */
#ifndef TOOLS_SIM_SOURCE_H
#define TOOLS_SIM_SOURCE_H

#include "tools/sim/motion.h"
#include "tools/sim/sim.h"
#include "tools/sim/table.h"

/* Neither a source_t nor a pull_t may be moved or copied: input.self and wrench.self point to
 * them. */
typedef struct {
    sim_input_t input;
    uint32_t n;
    double constant[DYN_MAX_JOINTS];
    table_t schedule;
    double period_s; /* period of a schedule whose rows have no times; otherwise zero */
    double from_s;   /* time at which a schedule begins */
    const sim_system_t *arm;
    const sim_motion_t *motion;
    const sim_wrench_t *wrench; /* wrench that the motion compensates; NULL: none */
} source_t;

/* Makes a constant input; it is zero if value is NULL. */
void source_constant(source_t *source, sim_quantity_t quantity, uint32_t n, const double *value);
/*
 * Reads a schedule. With rows `t v1 .. vn`, each row applies from its time t until the next row;
 * the input is zero before the first row and stays constant after the last. With rows `v1 .. vn`,
 * each row applies for one period. Returns EXIT_YES, or EXIT_BAD after printing what is wrong.
 */
int source_schedule(source_t *source, sim_quantity_t quantity, uint32_t n, const char *path,
                    double period_s);
/* Feeds forward the torques of a motion, or the voltages for them, without feedback from the arm.
 * The torques compensate `wrench` too. */
void source_motion(source_t *source, sim_quantity_t quantity, const sim_system_t *arm,
                   const sim_motion_t *motion, const sim_wrench_t *wrench);
void source_free(source_t *source);

/* Returns the duration of a schedule; if its rows have times, that is the time of the last row. 0:
 * no schedule. */
double source_end(const source_t *source);

typedef struct {
    sim_wrench_t wrench;
    double constant[6];
    table_t schedule;
} pull_t;

void pull_constant(pull_t *pull, const double wrench[6]);
/* Reads rows `t fx fy fz nx ny nz`. The wrench is interpolated linearly between rows; it is
 * constant before the first and after the last row. */
int pull_schedule(pull_t *pull, const char *path);
void pull_free(pull_t *pull);

#endif
