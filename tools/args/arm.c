/* Loads arms for the commands. */
#include "tools/args/arm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/params/image.h"
#include "tools/cli/number.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"
#include "tools/robot/modes.h"

typedef struct {
    robot_freeze_t item[FREEZE_MAX];
    char name[FREEZE_MAX][ROBOT_NAME_MAX];
} freezes_t;

static int take_freezes(const request_t *request, freezes_t *out) {
    static const char cure[] = "write --freeze JOINT=VALUE, in rad or m";
    for (size_t i = 0; i < request->freezes; i++) {
        const char *text = request->freeze[i], *equals = strrchr(text, '=');
        const size_t size = equals ? (size_t)(equals - text) : 0;
        double value;
        const char *end = equals ? number_scan(equals + 1, &value) : NULL;
        if (size == 0 || size >= ROBOT_NAME_MAX || !end || *end || !isfinite(value))
            return diag_error(NULL, cure, "--freeze: '%s' is not of the form JOINT=VALUE", text);
        memcpy(out->name[i], text, size);
        out->name[i][size] = '\0';
        out->item[i] = (robot_freeze_t){out->name[i], value};
    }
    return EXIT_YES;
}

static int load(const request_t *request, robot_symbols_t *symbols, robot_t *robot,
                messages_t *messages) {
    static freezes_t freezes;
    double gravity[3];
    robot_options_t options = {.image_magic = IMAGE_MAGIC,
                               .image_magic_size = sizeof IMAGE_MAGIC - 1,
                               .image_reader = robot_image_read,
                               .symbols = symbols};
    if (take_freezes(request, &freezes) != EXIT_YES)
        return EXIT_BAD;
    options.freeze = freezes.item;
    options.freeze_count = request->freezes;
    options.tip = request->value[OPTION_TIP];
    if (request_has(request, OPTION_GRAVITY)) {
        if (request_list(request, OPTION_GRAVITY, gravity, 3, 3, NULL) != EXIT_YES)
            return EXIT_BAD;
        options.gravity = gravity;
    }
    if (request_has(request, OPTION_PARALLEL)) {
        if (request_list(request, OPTION_PARALLEL, &options.parallel_rad, 1, 1, NULL) != EXIT_YES)
            return EXIT_BAD;
        if (!(options.parallel_rad > 0 && options.parallel_rad < 0.1))
            return diag_error(NULL, "write an angle such as 1e-5",
                              "--parallel: the angle must be above 0 and below 0.1 rad");
    }
    return robot_load(request->argument[0], &options, robot, messages) == 0 ? EXIT_YES : EXIT_NO;
}

/* Applies --limits V,A to joints whose limits are missing in the file. */
static int take_limits(const request_t *request, robot_t *robot) {
    double value[2];
    if (!request_has(request, OPTION_LIMITS))
        return EXIT_YES;
    if (request_list(request, OPTION_LIMITS, value, 2, 2, NULL) != EXIT_YES)
        return EXIT_BAD;
    if (!(value[0] > 0 && value[1] > 0))
        return diag_error(NULL, "write --limits V,A", "--limits: both limits must be above zero");
    for (uint32_t i = 0; i < robot->n; i++) {
        /* Changes both copies: the robot image is made from the drives as in the file, the kernels
         * use the model. */
        dyn_limits_t *const limits[] = {&robot->model.joint[i].drive.limits,
                                        &robot->joint[i].source.drive.limits};
        for (int k = 0; k < 2; k++) {
            dyn_limits_t *l = limits[k];
            l->velocity = l->velocity > 0 ? l->velocity : value[0];
            l->acceleration = l->acceleration > 0 ? l->acceleration : value[1];
        }
        robot->joint[i].has |= IMAGE_JOINT_HAS_VELOCITY | IMAGE_JOINT_HAS_ACCELERATION;
    }
    return EXIT_YES;
}

static robot_t *load_with(const request_t *request, robot_symbols_t *symbols,
                          messages_t *messages) {
    messages_t own = MESSAGES_INIT;
    robot_t *robot = calloc(1, sizeof *robot);
    if (!robot) {
        diag_no_memory();
        return NULL;
    }
    int status = load(request, symbols, robot, messages ? messages : &own);
    if (status == EXIT_YES)
        status = take_limits(request, robot);
    if (!messages)
        diag_messages(&own, request_has(request, OPTION_QUIET));
    messages_free(&own);
    if (status == EXIT_YES)
        return robot;
    arm_free(robot);
    return NULL;
}

robot_t *arm_load(const request_t *request, messages_t *messages) {
    return load_with(request, NULL, messages);
}

void arm_free(robot_t *robot) {
    if (robot)
        robot_free(robot);
    free(robot);
}

/* Makes the model again after a change of the description. */
static int settle(const request_t *request, robot_t *robot) {
    messages_t messages = MESSAGES_INIT;
    const double parallel =
        request_has(request, OPTION_PARALLEL) ? strtod(request->value[OPTION_PARALLEL], NULL) : 0;
    const int status = robot_settle(robot, parallel, &messages);
    diag_messages(&messages, true);
    messages_free(&messages);
    return status == 0 ? EXIT_YES : EXIT_BAD;
}

static int set_payload(const request_t *request, robot_t *robot) {
    double value[10] = {0};
    size_t count = 0;
    if (request_list(request, OPTION_PAYLOAD, value, 1, 10, &count) != EXIT_YES)
        return EXIT_BAD;
    if ((count != 1 && count != 4 && count != 10) || value[0] < 0)
        return diag_error(
            NULL, "write --payload M, M,X,Y,Z or M,X,Y,Z,IXX,IYY,IZZ,IXY,IYZ,IXZ", "--payload: %s",
            value[0] < 0 ? "the mass is negative" : "1, 4 or 10 numbers are expected");
    robot->has |= IMAGE_HAS_PAYLOAD;
    robot->line_payload = 0; /* messages about the payload must not name a line of the file */
    robot->payload.mass = value[0];
    memcpy(robot->payload.com, value + 1, sizeof robot->payload.com);
    memcpy(robot->payload.inertia, value + 4, sizeof robot->payload.inertia);
    return settle(request, robot);
}

static void leave_out(const request_t *request, robot_t *robot) {
    for (uint32_t i = 0; i < robot->n; i++) {
        /* Changes both copies: the robot image is made from the drives as in the file, the kernels
         * use the model. */
        dyn_drive_t *const drives[] = {&robot->model.joint[i].drive, &robot->joint[i].source.drive};
        for (int k = 0; k < 2; k++) {
            if (request_has(request, OPTION_NO_ROTOR))
                drives[k]->motor.rotor_inertia = 0;
            if (request_has(request, OPTION_NO_FRICTION))
                drives[k]->friction = (dyn_friction_t){0};
        }
        /* The gains are for the arm with its rotors; without them no loop is closed. */
        if (request_has(request, OPTION_NO_ROTOR))
            robot->joint[i].kp = robot->joint[i].kd = 0;
    }
}

/* Returns false, after printing the errors, for an arm that cannot exist. Its results would be
 * wrong but look plausible. */
static bool possible(const robot_t *robot) {
    messages_t messages = MESSAGES_INIT;
    const bool good = robot_possible(robot, &messages) == 0;
    diag_messages(&messages, true);
    messages_free(&messages);
    return good;
}

static robot_t *load_compute(const request_t *request, robot_symbols_t *symbols) {
    robot_t *robot = load_with(request, symbols, NULL);
    if (!robot)
        return NULL;
    if ((request_has(request, OPTION_PAYLOAD) && set_payload(request, robot) != EXIT_YES) ||
        !possible(robot)) {
        arm_free(robot);
        return NULL;
    }
    leave_out(request, robot);
    return robot;
}

robot_t *arm_load_compute(const request_t *request) {
    return load_compute(request, NULL);
}

int arm_set_gravity(const request_t *request, robot_t *robot, const double gravity[3]) {
    memcpy(robot->gravity, gravity, sizeof robot->gravity);
    const int status = settle(request, robot);
    leave_out(request, robot);
    return status;
}

bool arm_elastic(const request_t *request, const robot_t *robot) {
    return robot->elastic && !request_has(request, OPTION_RIGID);
}

void arm_stiffen(robot_t *robot) {
    robot->elastic = false;
    for (uint32_t i = 0; i < robot->n; i++)
        robot->joint[i].elastic = false;
}

robot_t *arm_load_symbols(const request_t *request, robot_symbols_t *symbols) {
    robot_t *robot = load_compute(request, symbols);
    if (!robot)
        return NULL;
    if (!arm_elastic(request, robot)) {
        arm_stiffen(robot);
        return robot;
    }
    diag_error(robot->file, "use --rigid to treat the links as stiff beams",
               "the arm has elastic links, but `appell %s` works for rigid links only",
               request->command->name);
    arm_free(robot);
    return NULL;
}

robot_t *arm_load_rigid(const request_t *request) {
    return arm_load_symbols(request, NULL);
}

int arm_flex(const request_t *request, const robot_t *robot, dyn_flex_model_t *flex) {
    messages_t messages = MESSAGES_INIT;
    const int status = modes_robot(robot, flex, &messages);
    diag_messages(&messages, true);
    messages_free(&messages);
    flex->linear = request_has(request, OPTION_LINEAR);
    return status == 0 ? EXIT_YES : EXIT_BAD;
}

int arm_need_motors(const robot_t *robot) {
    for (uint32_t i = 0; i < robot->n; i++) {
        const char *missing = robot_motor_missing(robot, i);
        if (missing)
            return diag_error(robot->file,
                              "give motor: {resistance: ..., torque_constant: ..., gear: ...}",
                              "joint %s: %s is missing, so the motor voltage cannot be computed",
                              robot->joint[i].name, missing);
    }
    return EXIT_YES;
}
