/* ik: turns rows of end-effector poses into rows of joint positions. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/eval/ik.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/rows.h"
#include "tools/cli/diagnostics.h"
#include "tools/robot/schema.h"

static int start_within_limits(const robot_t *robot, const double *start) {
    for (uint32_t i = 0; i < robot->n; i++) {
        const double *l = robot->model.joint[i].drive.limits.position;
        if (l[1] > l[0] && (start[i] < l[0] || start[i] > l[1]))
            return diag_error(NULL, "choose a start within the limits",
                              "--start: joint %s is at %g, outside of its limits %g .. %g",
                              robot->joint[i].name, start[i], l[0], l[1]);
    }
    return EXIT_YES;
}

static int take_options(const request_t *request, const robot_t *robot, ik_t *ik) {
    long seed = 1;
    ik->restarts = 100;
    ik_middle(ik->model, ik->start);
    if (request_has(request, OPTION_START) &&
        (request_list(request, OPTION_START, ik->start, robot->n, robot->n, NULL) != EXIT_YES ||
         start_within_limits(robot, ik->start) != EXIT_YES))
        return EXIT_BAD;
    if (request_has(request, OPTION_RESTARTS) &&
        request_integer(request, OPTION_RESTARTS, 0, 1000000, &ik->restarts) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_SEED) &&
        request_integer(request, OPTION_SEED, 0, 1000000000, &seed) != EXIT_YES)
        return EXIT_BAD;
    ik->seed = (uint64_t)seed;
    return EXIT_YES;
}

/* Prints a solution. For a pose out of reach it prints a comment (null in JSON) in place of the
 * row. */
static void print_row(const ik_t *ik, const rows_t *rows, bool json, bool found,
                      const ik_answer_t *answer) {
    if (json && found) {
        json_numbers(NULL, answer->q, ik->model->n, 17);
    } else if (json) {
        json_null(NULL);
    } else if (!found) {
        out_format("# row %lu: not reached, %.3g m and %.3g rad away\n", rows->row,
                   answer->position_m, answer->angle_rad);
    } else {
        out_row(answer->q, ik->model->n, 17);
    }
}

static int run_rows(const ik_t *ik, rows_t *rows, bool json, unsigned long *reached) {
    static const char meaning[] = "x y z roll pitch yaw of the tool frame";
    double row[6];
    int found;
    if (isatty(rows->file))
        diag_note(NULL, "type rows of 6 numbers (%s); control-D ends the input", meaning);
    while ((found = rows_next(rows, row, 6, meaning)) > 0 && !out_failed()) {
        for (int i = 0; i < 6; i++)
            if (fabs(row[i]) > SCHEMA_NUMBER_MAX) /* the square of a larger value could overflow */
                return rows_error(rows, "give the pose in metres and radians",
                                  "%g is larger than 1e15 in magnitude", row[i]);
        const dyn_pose_t effector = dyn_pose_rpy(row, row + 3);
        ik_answer_t answer = {.position_m = 0};
        const bool good = ik_solve(ik, &effector, &answer);
        *reached += good;
        print_row(ik, rows, json, good, &answer);
        if (!good)
            rows_error(
                rows, "choose a pose within reach and limits, or try more --restarts",
                "no solution in %ld attempts; the nearest attempt is %.3g m and %.3g rad away",
                answer.attempts, answer.position_m, answer.angle_rad);
    }
    return found < 0 ? EXIT_BAD : *reached == rows->row ? EXIT_YES : EXIT_NO;
}

static int run_with(const request_t *request, const robot_t *robot, ik_t *ik) {
    rows_t rows;
    unsigned long reached = 0;
    if (take_options(request, robot, ik) != EXIT_YES ||
        rows_open(&rows, request->arguments > 1 ? request->argument[1] : NULL) != EXIT_YES)
        return EXIT_BAD;
    const bool json = request_has(request, OPTION_JSON);
    if (json) {
        json_begin(NULL);
        json_string("command", "ik");
        json_string("robot", robot->name);
        json_list("rows");
    }
    const int status = run_rows(ik, &rows, json, &reached);
    if (json) {
        json_list_end();
        json_integer("reached", (long)reached);
        json_integer("asked", (long)rows.row);
        json_end();
    }
    out_flush();
    if (rows.row > 1 && !request_has(request, OPTION_QUIET))
        diag_note(NULL, "%lu of %lu poses reached (%.1f %%)", reached, rows.row,
                  100.0 * (double)reached / (double)rows.row);
    rows_close(&rows);
    return status;
}

int cmd_ik(const request_t *request) {
    robot_t *robot = arm_load_rigid(request);
    if (!robot)
        return EXIT_BAD;
    int prepared;
    ik_t ik = {.model = &robot->model,
               .evaluator = eval_f64.make(&robot->model, NULL, NULL, &prepared)};
    const int status = ik.evaluator ? run_with(request, robot, &ik) : diag_no_memory();
    if (ik.evaluator)
        eval_f64.drop(ik.evaluator);
    arm_free(robot);
    return status;
}
