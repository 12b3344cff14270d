/* Output of a simulation: rows as CSV, plots made by gnuplot, an animation as an HTML page. */
#ifndef TOOLS_SIM_OUTPUT_OUTPUT_H
#define TOOLS_SIM_OUTPUT_OUTPUT_H

#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

/* Names and units of the coordinates and joints. */
typedef struct {
    const char *title;
    char coordinate[SIM_COORDINATES_MAX][64];
    bool metres[SIM_COORDINATES_MAX]; /* true: m, false: rad */
    bool mode[SIM_COORDINATES_MAX];   /* amplitude of a mode, not a joint */
    char joint[DYN_MAX_JOINTS][64];
    bool prismatic[DYN_MAX_JOINTS];
    bool motor[DYN_MAX_JOINTS]; /* the voltage of the motor is known */
} output_names_t;

void output_names(output_names_t *names, const robot_t *robot);

/* All three return EXIT_YES, or EXIT_BAD after printing the reason. output_csv writes to standard
 * output if path is "-". */
int output_csv(const sim_record_t *record, const output_names_t *names, const char *path);
/* The suffix of the path chooses the format: .png, .svg or .pdf. */
int output_plot(const sim_record_t *record, const output_names_t *names, const char *path);
/* Writes one HTML file that a browser shows without other files. */
int output_animation(const sim_system_t *arm, const sim_record_t *record,
                     const output_names_t *names, const char *path);

#endif
