/* inspect: finds friction and payload of an arm by slow motions and compares them with its
 * model. */
#include <math.h>
#include <stdlib.h>

#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/motion/inspect.h"

/* Default of --tolerance: allowed differences of torques relative to the torque limits. */
#define ALLOWED 0.02
/* Smaller differences from the model are not reported, because an error of one encoder count has
 * the same effect in the feedback. */
#define FACTOR_SMALL  0.02
#define PAYLOAD_SMALL 0.1 /* kg */

static bool by_factor(const inspect_t *r) {
    return r->rms_factor < r->rms_payload;
}

static bool good(const inspect_t *r, double allowed) {
    for (uint32_t i = 0; i < r->n; i++)
        if (r->joint[i].off > allowed * r->joint[i].limit)
            return false;
    return true;
}

static void print_json(const inspect_t *r, const robot_t *robot, double allowed) {
    json_begin(NULL);
    json_list("joints");
    for (uint32_t i = 0; i < r->n; i++) {
        const inspect_joint_t *j = &r->joint[i];
        json_begin(NULL);
        json_string("joint", robot->joint[i].name);
        json_numbers("coulomb_model", j->model.coulomb, 2, 9);
        json_numbers("coulomb", j->found.coulomb, 2, 9);
        json_number("viscous_model", j->model.viscous);
        json_number("viscous", j->found.viscous);
        json_number("off", j->off);
        json_number("off_after", j->off_after);
        json_number("limit", j->limit);
        json_bool("good", j->off <= allowed * j->limit);
        json_end();
    }
    json_list_end();
    json_number("payload_model", r->payload);
    json_number("payload", r->payload_found);
    json_number("mass_factor", r->factor);
    json_string("explained_by", !r->distinct ? "either" : by_factor(r) ? "masses" : "payload");
    json_integer("rows", (long)r->rows);
    json_bool("good", good(r, allowed));
    json_end();
}

/* Prints what to change, if a difference exceeds the tolerance. */
static void advise(const inspect_t *r, const robot_t *robot, double allowed) {
    for (uint32_t i = 0; i < r->n; i++) {
        const inspect_joint_t *j = &r->joint[i];
        if (j->off <= allowed * j->limit)
            continue;
        out_format(
            "%s: commanded and modelled torques differ by up to %.2f (%.1f %% of the limit), "
            "and by up to %.2f after this change in the robot file: friction: {viscous: "
            "%.4g, coulomb: [%.4g, %.4g]}\n",
            robot->joint[i].name, j->off, 100 * j->off / j->limit, j->off_after, j->found.viscous,
            j->found.coulomb[0], j->found.coulomb[1]);
    }
    const bool heavier = fabs(r->factor - 1) > FACTOR_SMALL && (by_factor(r) || !r->distinct);
    const bool loaded =
        fabs(r->payload_found - r->payload) > PAYLOAD_SMALL && (!by_factor(r) || !r->distinct);
    if (heavier)
        out_format("all masses seem to be %.3f times those of the model; weigh the links, or check "
                   "the gear ratios and torque constants\n",
                   r->factor);
    if (heavier && loaded)
        out_text("or (these motions cannot distinguish the two) ");
    if (loaded)
        out_format("the end effector carries %.3f kg instead of %.3f kg; cure: appell set "
                   "payload_mass %.3f\n",
                   r->payload_found, r->payload, fmax(0, r->payload_found));
}

static void print(const inspect_t *r, const robot_t *robot, double allowed) {
    out_format("%-14s %23s %23s %17s %17s\n", "", "coulomb, N m or N", "", "viscous", "torques");
    out_format("%-14s %11s %11s %11s %11s %8s %8s %8s %8s\n", "joint", "model -", "found -",
               "model +", "found +", "model", "found", "differ", "limit");
    for (uint32_t i = 0; i < r->n; i++) {
        const inspect_joint_t *j = &r->joint[i];
        out_format("%-14.14s %11.3f %11.3f %11.3f %11.3f %8.3f %8.3f %8.3f %8.1f%s\n",
                   robot->joint[i].name, j->model.coulomb[0], j->found.coulomb[0],
                   j->model.coulomb[1], j->found.coulomb[1], j->model.viscous, j->found.viscous,
                   j->off, j->limit, j->off <= allowed * j->limit ? "" : "  too far");
    }
    out_format("payload: %.3f kg in the model, %.3f kg found; instead of a different payload, all "
               "masses may be %.4f times those of the model\n",
               r->payload, r->payload_found, r->factor);
    advise(r, robot, allowed);
    out_format("%s: differences up to %.1f %% of the torque limits are allowed; %u samples at "
               "constant speed were used\n",
               good(r, allowed) ? "good" : "NOT good", 100 * allowed, (unsigned)r->rows);
}

static int with_board(const request_t *request, const robot_t *robot, client_t *client) {
    static inspect_t report;
    double allowed = ALLOWED;
    if (request_has(request, OPTION_TOLERANCE) &&
        request_list(request, OPTION_TOLERANCE, &allowed, 1, 1, NULL) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_SET)) {
        const int status = board_set(client, request->value[OPTION_SET]);
        if (status != EXIT_YES)
            return status;
    }
    if (client_lead(client, "inspect") != 0 || inspect(client, robot, &report) != 0)
        return board_error(client);
    if (request_has(request, OPTION_JSON))
        print_json(&report, robot, allowed);
    else
        print(&report, robot, allowed);
    return good(&report, allowed) ? EXIT_YES : EXIT_NO;
}

int cmd_inspect(const request_t *request) {
    robot_t *robot = arm_load_rigid(request);
    client_t *client = robot ? board_open_with(request, robot, NULL) : NULL;
    const int status = client ? with_board(request, robot, client) : EXIT_BAD;
    if (client)
        client_close(client);
    arm_free(robot);
    return status;
}
