/* Output of the controller comparison of `appell demo`: tables, JSON, rows as CSV, and a
 * picture. */
#ifndef TOOLS_MOTION_REPORT_H
#define TOOLS_MOTION_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/link/client.h"
#include "tools/motion/costs.h"
#include "tools/motion/plan.h"
#include "tools/motion/record.h"
#include "tools/robot/robot.h"

/* Results of the comparison are indexed [mass][controller]. */
enum { REPORT_MASSES = 2, REPORT_CONTROLLERS = 3 };
extern const char *const report_controller[REPORT_CONTROLLERS];
typedef struct {
    const plan_t *plan;
    record_t record[REPORT_MASSES][REPORT_CONTROLLERS];
} result_t;

/* Returns the width of the column with the names of the joints. */
int report_width(const robot_t *robot);
void report_errors(const robot_t *robot, const result_t *result);
/* Writes the tracking errors of all motions as the list "motions", in rad or m. */
void report_json(const robot_t *robot, const result_t *result, size_t results);
void report_costs(const costs_t *costs, bool instructions, double cycles_per_instruction);
int report_csv(const client_t *client, const char *path, const record_t *record);
/* Returns 0, or EXIT_BAD after printing what is wrong. */
int report_plot(const robot_t *robot, const result_t *result, size_t results, const char *path);

#endif
