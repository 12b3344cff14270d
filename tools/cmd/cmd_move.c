/* move: moves the arm of a board to joint positions or to a pose of its end effector. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware/app/errors.h"
#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/diagnostics.h"
#include "tools/cmd/commands.h"
#include "tools/lead/lead.h"
#include "tools/lead/rehearsal.h"

typedef struct {
    client_t *client;
    rehearsal_t *rehearsal;
    position_t position;
    double start[DYN_MAX_JOINTS], target[DYN_MAX_JOINTS];
    dyn_pose_t pose; /* with --pose */
    double part;     /* --speed */
    double seconds;  /* --duration, later the duration of the motion; 0: none yet */
    plan_t plan;
} move_t;

static const char *joint_name(const move_t *m, int joint) {
    return joint >= 0 ? m->client->device.joint[joint] : m->client->device.board;
}

/* ------------------------------------------------------------------------------------- the target */

static int take_numbers(const request_t *request, move_t *m) {
    double pose[6];
    const uint32_t n = m->client->device.joints;
    m->part = 1;
    if (request_has(request, OPTION_TO) == request_has(request, OPTION_POSE))
        return diag_error(NULL, "give --to Q1,Q2,... or --pose X,Y,Z,R,P,Y",
                          "the target is missing, or there are two");
    if (request_has(request, OPTION_LINE) && !request_has(request, OPTION_POSE))
        return diag_error("--line", "give the end of the line with --pose",
                          "a line of the end effector ends at a pose");
    if (request_has(request, OPTION_LINE) && request_has(request, OPTION_PROFILE))
        return diag_error("--profile", "leave out --profile",
                          "a line has its own profile: a quintic along its length");
    if (request_has(request, OPTION_SPEED) && request_has(request, OPTION_DURATION))
        return diag_error("--speed", "leave out one of them",
                          "--duration says already how fast the arm moves");
    if ((request_has(request, OPTION_TO) &&
         request_list(request, OPTION_TO, m->target, n, n, NULL) != EXIT_YES) ||
        (request_has(request, OPTION_POSE) &&
         request_list(request, OPTION_POSE, pose, 6, 6, NULL) != EXIT_YES) ||
        (request_has(request, OPTION_SPEED) &&
         request_list(request, OPTION_SPEED, &m->part, 1, 1, NULL) != EXIT_YES) ||
        (request_has(request, OPTION_DURATION) &&
         request_list(request, OPTION_DURATION, &m->seconds, 1, 1, NULL) != EXIT_YES))
        return EXIT_BAD;
    if (!(m->part > 0 && m->part <= 1))
        return diag_error("--speed", "write a fraction such as 0.2",
                          "%g is not above 0 and at most 1", m->part);
    if (request_has(request, OPTION_DURATION) && !(m->seconds > 0))
        return diag_error("--duration", "write a time in seconds", "%g is not above 0", m->seconds);
    if (request_has(request, OPTION_POSE))
        m->pose = dyn_pose_rpy(pose, pose + 3);
    return EXIT_YES;
}

static int take_profile(const request_t *request, motion_t *motion) {
    const char *name =
        request_has(request, OPTION_PROFILE) ? request->value[OPTION_PROFILE] : "quintic";
    for (motion->kind = MOTION_QUINTIC; motion->kind <= MOTION_TRAPEZOID; motion->kind++)
        if (!strcmp(name, motion_name(motion->kind)))
            return EXIT_YES;
    return diag_error("--profile", "choose quintic, cycloid or trapezoid", "there is no profile %s",
                      name);
}

/* Names a joint that is at its limit, which is why a pose cannot be reached; "" if none is. */
static const char *limited_joint(const move_t *m, const ik_answer_t *nearest, double *limit) {
    const dyn_model_t *model = rehearsal_model(m->rehearsal);
    for (uint32_t i = 0; i < model->n; i++) {
        const double *l = model->joint[i].drive.limits.position;
        for (int k = 0; k < 2 && l[1] > l[0]; k++)
            if (fabs(nearest->q[i] - l[k]) < 1e-6) {
                *limit = l[k];
                return m->client->device.joint[i];
            }
    }
    return "";
}

static int out_of_reach(const move_t *m, const char *what, const ik_answer_t *nearest) {
    double limit = 0;
    char why[CLIENT_NAME + 60] = "";
    const char *joint = limited_joint(m, nearest, &limit);
    if (*joint)
        snprintf(why, sizeof why, ", with the joint %s at its limit %.4f", joint, limit);
    diag_error("--pose", "choose a pose within reach and limits",
               "%s: the arm comes to %.3g m and %.3g rad of it%s; nothing has moved", what,
               nearest->position_m, nearest->angle_rad, why);
    return EXIT_NO;
}

/* Finds joint positions for the pose, those near the present ones first. */
static int solve_pose(move_t *m) {
    int prepared;
    ik_answer_t answer;
    ik_t ik = {.model = rehearsal_model(m->rehearsal), .restarts = 100, .seed = 1};
    memcpy(ik.start, m->start, sizeof ik.start);
    ik.evaluator = eval_f64.make(ik.model, NULL, NULL, &prepared);
    if (!ik.evaluator)
        return diag_no_memory();
    const bool found = ik_solve(&ik, &m->pose, &answer);
    eval_f64.drop(ik.evaluator);
    memcpy(m->target, answer.q, sizeof m->target);
    return found ? EXIT_YES : out_of_reach(m, "the pose is out of reach", &answer);
}

/* ------------------------------------------------------------------------------------- the plan */

static int refused(const move_t *m, int error, int joint, const char *place) {
    diag_error(joint_name(m, joint), app_cure(error), "%s%s; nothing has moved", app_cause(error),
               place);
    return EXIT_NO;
}

/* The board chooses the shortest time within the limits; a part of the speed takes so much longer. */
static int plan_profile(move_t *m) {
    motion_t *motion = &m->plan.motion;
    int joint;
    bool there = true;
    for (uint32_t i = 0; i < m->client->device.joints; i++) {
        motion->value[i] = (float)m->target[i];
        there = there && motion->value[i] == (float)m->start[i];
    }
    if (there) { /* a motion that takes no time is none */
        motion->kind = MOTION_HOLD;
        m->seconds = 0;
        return EXIT_YES;
    }
    motion->duration_s = (float)m->seconds;
    int status = rehearsal_profile(m->rehearsal, m->start, motion, &m->seconds, &joint);
    if (status == APP_OK && m->part < 1) {
        motion->duration_s = (float)(m->seconds / m->part);
        status = rehearsal_profile(m->rehearsal, m->start, motion, &m->seconds, &joint);
    }
    return status == APP_OK ? EXIT_YES : refused(m, status, joint, "");
}

static int try_line(move_t *m, double seconds, int *joint, uint32_t *point, int *status) {
    plan_gap_t gap;
    char what[120];
    free(m->plan.point);
    m->plan.point = NULL;
    if (plan_from(rehearsal_model(m->rehearsal), m->start, &m->pose, seconds, &m->plan, &gap) !=
        0) {
        snprintf(what, sizeof what,
                 "the line leaves the reach after %.0f %% of the way, at [%.3f %.3f %.3f] m",
                 100 * gap.part, gap.at[0], gap.at[1], gap.at[2]);
        return out_of_reach(m, what, &gap.nearest);
    }
    *status = rehearsal_points(m->rehearsal, &m->plan, joint, point);
    return EXIT_YES;
}

/* Tries longer and longer times, until all control points are within the limits. */
static int plan_line_within(move_t *m) {
    enum { TRIES = 45 };
    const double longer = 1.12, least_s = 0.25;
    double seconds = m->seconds > 0 ? m->seconds : least_s;
    int joint = -1, status = APP_OK;
    uint32_t point = 0;
    for (int i = 0; i < TRIES; i++, seconds *= longer) {
        const int code = try_line(m, seconds, &joint, &point, &status);
        if (code != EXIT_YES)
            return code;
        if (m->seconds > 0 || (status != APP_E_VELOCITY && status != APP_E_ACCELERATION))
            break;
    }
    if (status == APP_OK && m->part < 1) {
        const int code = try_line(m, seconds /= m->part, &joint, &point, &status);
        if (code != EXIT_YES)
            return code;
    }
    if (status != APP_OK) {
        char place[100];
        const double part = plan_point_part(&m->plan, point);
        const double *a = m->plan.from, *b = m->plan.to;
        snprintf(place, sizeof place, " after %.0f %% of the line, at [%.3f %.3f %.3f] m",
                 100 * part, a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]),
                 a[2] + part * (b[2] - a[2]));
        return refused(m, status, joint, place);
    }
    m->seconds = seconds;
    for (uint32_t i = 0; i < m->client->device.joints; i++)
        m->target[i] = (double)m->plan.motion.value[i];
    return EXIT_YES;
}

static int plan(const request_t *request, move_t *m) {
    device_status_t status;
    if (take_numbers(request, m) != EXIT_YES || take_profile(request, &m->plan.motion) != EXIT_YES)
        return EXIT_BAD;
    if (client_status(m->client, &status) != 0 ||
        position_wait(m->client, &m->position, &status) != 0)
        return board_error(m->client);
    m->rehearsal = rehearsal_open(m->client);
    if (!m->rehearsal)
        return board_error(m->client);
    /* a loop that holds goes on from its reference, and not from where the arm sags */
    const bool held = status.state == APP_STATE_RUNNING && m->position.at_ref >= 0;
    memcpy(m->start, held ? m->position.q_ref : m->position.q, sizeof m->start);
    if (request_has(request, OPTION_LINE))
        return plan_line_within(m);
    const int code = request_has(request, OPTION_POSE) ? solve_pose(m) : EXIT_YES;
    return code == EXIT_YES ? plan_profile(m) : code;
}

/* ----------------------------------------------------------------------------------- the motion */

enum { POLL_MS = 20, LONG_S = 2 };

static void progress(const move_t *m, double seconds) {
    const bool shown = m->seconds > LONG_S && isatty(STDERR_FILENO);
    if (shown && seconds < 0)
        fputs("\r                              \r", stderr);
    else if (shown)
        fprintf(stderr, "\r%3.0f %%, %.1f of %.1f s ", fmin(100, 100 * seconds / m->seconds),
                seconds, m->seconds);
}

/* Sends the control points as the board grants room for them. A refusal is no error here: somebody
 * has stopped the arm, or a fault has, and the state of the board tells. */
static int send_points(move_t *m) {
    const uint32_t n = m->client->device.joints, most = m->client->device.payload - 4u;
    uint32_t sent = 0, credits = 1;
    device_status_t status;
    while (sent < m->plan.points && lead_signal == 0) {
        uint32_t now = m->plan.points - sent < credits ? m->plan.points - sent : credits;
        const uint32_t fit = client_piece(m->client, most) / (4 * n), room = fit > 0 ? fit : 1;
        now = now < room ? now : room;
        if (now > 0 &&
            client_points(m->client, m->plan.point + (size_t)sent * n, now, &credits) != 0)
            return m->client->status >= 0 && m->client->reason == APP_E_STATE ? 0 : -1;
        sent += now;
        if (credits > 0)
            continue;
        if (client_poll(m->client, POLL_MS) < 0 || client_status(m->client, &status) != 0)
            return -1;
        if (!(status.flags & STATUS_MOVING))
            return 0;
        credits = status.point_credits;
        progress(m, (double)sent * (double)m->plan.motion.duration_s);
    }
    if (lead_signal != 0 || client_points(m->client, NULL, 0, &credits) == 0)
        return 0;
    return m->client->status >= 0 && m->client->reason == APP_E_STATE ? 0 : -1;
}

/* Waits until the motion is over. The board reports a motion as soon as it has accepted one, so a
 * slow host cannot miss the end. */
static int wait_end(move_t *m, uint32_t first) {
    device_status_t status;
    do {
        if (client_poll(m->client, POLL_MS) < 0 || client_status(m->client, &status) != 0)
            return -1;
        progress(m, (status.tick - first) / (double)status.rate_hz);
    } while (lead_signal == 0 && status.state != APP_STATE_FAULT && status.flags & STATUS_MOVING);
    return 0;
}

static bool arrived(const move_t *m, const rest_t *rest) {
    /* rounding of positions in floats and in fixed point */
    const double close = 1e-4;
    if (rest->status.state != APP_STATE_RUNNING)
        return false;
    for (uint32_t i = 0; m->position.at_ref >= 0 && i < m->position.n; i++)
        if (fabs(m->position.q_ref[i] - m->target[i]) > close)
            return false;
    return true;
}

static int move(const request_t *request, move_t *m) {
    rest_t rest;
    device_status_t first;
    char what[80];
    const int planned = plan(request, m);
    const int agreed = planned == EXIT_YES ? lead_agree(request, m->client) : planned;
    if (agreed != EXIT_YES || lead_signal != 0)
        return agreed;
    if (client_status(m->client, &first) != 0)
        return board_error(m->client);
    if (m->seconds > LONG_S && !request_has(request, OPTION_QUIET))
        diag_note(m->client->device.board, "the motion takes %.1f s", m->seconds);
    if (lead_motion(m->client, &m->plan.motion) != 0)
        return lead_refused(m->client);
    int failed = m->plan.motion.kind == MOTION_POINTS ? send_points(m) : 0;
    failed = failed != 0 ? failed : wait_end(m, first.tick);
    progress(m, -1);
    if (failed != 0)
        return lead_refused(m->client);
    if (lead_signal != 0)
        return EXIT_BAD;
    if (rest_wait(m->client, &rest) != 0 ||
        position_wait(m->client, &m->position, &rest.status) != 0)
        return board_error(m->client);
    const bool there = arrived(m, &rest);
    if (there && m->seconds > 0)
        snprintf(what, sizeof what, "moved in %.2f s", m->seconds);
    else
        snprintf(what, sizeof what, there ? "at the target already" : "stopped before the target");
    const int code = lead_report(request, m->client, &rest, &m->position, what);
    return code == EXIT_YES && !there ? EXIT_NO : code;
}

int cmd_move(const request_t *request) {
    move_t m = {.seconds = 0};
    m.client = lead_open(request, &m.position);
    if (!m.client)
        return EXIT_BAD;
    const int code = move(request, &m);
    rehearsal_close(m.rehearsal);
    free(m.plan.point);
    return lead_close(m.client, code);
}
