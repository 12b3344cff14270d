/* What is left of a simulation: rows as CSV, plots by gnuplot, an animation as a page of HTML. */
#ifndef TOOLS_SIM_OUTPUT_OUTPUT_H
#define TOOLS_SIM_OUTPUT_OUTPUT_H

#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

/* How the coordinates and the joints are called. */
typedef struct {
    const char *title;
    char coordinate[SIM_COORDINATES_MAX][64];
    bool metres[SIM_COORDINATES_MAX]; /* in m, not in rad */
    bool mode[SIM_COORDINATES_MAX];   /* the amplitude of a mode, not a joint */
    char joint[DYN_MAX_JOINTS][64];
    bool prismatic[DYN_MAX_JOINTS];
} output_names_t;

void output_names(output_names_t *names, const robot_t *robot);

/* path "-": standard output. All: EXIT_YES, or EXIT_BAD after saying why not. */
int output_csv(const sim_record_t *record, const output_names_t *names, const char *path);
/* The ending of the path chooses: .png, .svg or .pdf. */
int output_plot(const sim_record_t *record, const output_names_t *names, const char *path);
/* One file that needs nothing but a browser. */
int output_animation(const sim_system_t *arm, const sim_record_t *record,
                     const output_names_t *names, const char *path);

#endif
