/* image: converts a robot file to a robot image and back. parts: converts a parts database to a
 * robot file, or lists what it is made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/cli/file.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"

static int deliver(const char *path, const void *bytes, size_t size) {
    if (strcmp(path, "-") != 0)
        return file_write(path, bytes, size);
    out_bytes(bytes, size);
    return EXIT_YES;
}

static int deliver_robot(const request_t *request, const robot_t *robot) {
    file_text_t text;
    if (file_text_begin(&text))
        (void)robot_save(text.stream, robot); /* file_text_end sees a failure */
    return file_text_end(&text,
                         request_has(request, OPTION_OUTPUT) ? request->value[OPTION_OUTPUT] : "-");
}

/* Writes with --json what was made, as the answer of the command. The file itself may then not go to
 * standard output. */
static void print_made(const request_t *request, const robot_t *robot, size_t bytes) {
    if (!request_has(request, OPTION_JSON))
        return;
    json_begin(NULL);
    json_string("robot", robot->name);
    json_integer("joints", (long)robot->n);
    json_string("file", request->value[OPTION_OUTPUT]);
    if (bytes > 0)
        json_integer("bytes", (long)bytes);
    json_end();
}

static int json_needs_a_file(const request_t *request) {
    if (!request_has(request, OPTION_JSON) ||
        (request_has(request, OPTION_OUTPUT) && strcmp(request->value[OPTION_OUTPUT], "-") != 0))
        return EXIT_YES;
    return diag_error("--json",
                      "write the robot into a file: -o FILE; `appell info --json` shows it",
                      "standard output cannot carry the robot and JSON");
}

static int show(const request_t *request) {
    if (request->arguments > 0)
        return diag_error(NULL, "write `appell image --show FILE`, or `appell image ROBOT -o FILE`",
                          "--show IMAGE and ROBOT cannot be used together");
    request_t load = *request;
    load.argument[0] = request->value[OPTION_SHOW];
    load.arguments = 1;
    robot_t *robot = arm_load(&load, NULL);
    if (!robot)
        return EXIT_BAD;
    int status = robot->shapes_lost
                     ? diag_error(robot->file, "use the robot file that has the tables",
                                  "the mode shapes were given as tables, but the image "
                                  "contains only their integrals")
                 : robot->format == ROBOT_FORMAT_IMAGE
                     ? deliver_robot(request, robot)
                     : diag_error(robot->file, "make an image with `appell image ROBOT -o FILE`",
                                  "the file is not a robot image");
    if (status == EXIT_YES)
        print_made(request, robot, 0);
    arm_free(robot);
    return status;
}

int cmd_image(const request_t *request) {
    if (json_needs_a_file(request) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_SHOW))
        return show(request);
    if (!request_has(request, OPTION_OUTPUT))
        return diag_error(NULL, "write -o FILE (-o - for standard output)",
                          "an image is binary and is not printed without -o");
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    if (request_has(request, OPTION_RIGID))
        arm_stiffen(robot);
    messages_t messages = MESSAGES_INIT;
    size_t size = 0;
    uint8_t *bytes =
        robot_check(robot, &messages) == 0 ? robot_image_make(robot, &size, &messages) : NULL;
    diag_messages(&messages, request_has(request, OPTION_QUIET));
    messages_free(&messages);
    int status = bytes ? deliver(request->value[OPTION_OUTPUT], bytes, size) : EXIT_BAD;
    if (status == EXIT_YES)
        print_made(request, robot, size);
    free(bytes);
    arm_free(robot);
    return status;
}

/* ---------------------------------------------------------------------------- the list of parts */

static void list_head(const char *what, const char *uses) {
    out_format("%-22s %4s %11s  %9s %9s %9s ", what, uses, "mass", "x", "y", "z");
    for (int k = 0; k < 6; k++)
        out_format(" %12s", (const char *const[]){"Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz"}[k]);
    out_text("\n");
}

/* Rounding errors of the sums are printed as zero; --json has them. */
static void list_body(const char *name, const char *uses, const dyn_body_t *b) {
    const double least = 1e-12 * (b->inertia[0] + b->inertia[1] + b->inertia[2]);
    out_format("%-22s %4s %11.6g ", name, uses, b->mass);
    for (int k = 0; k < 3; k++)
        out_format(" %9.6f", fabs(b->com[k]) < 5e-7 ? 0.0 : b->com[k]);
    out_text(" ");
    for (int k = 0; k < 6; k++)
        out_format(" %12.6g", fabs(b->inertia[k]) < least ? 0.0 : b->inertia[k]);
    out_text("\n");
}

static void list_text(const robot_t *robot) {
    out_text(
        "Mass in kg, centre of mass in m, inertia about that centre in kg m^2: elements of the "
        "matrix.\nParts, each in its own frame:\n");
    list_head("part", "used");
    for (size_t i = 0; i < robot->parts; i++) {
        char uses[16];
        snprintf(uses, sizeof uses, "%u", (unsigned)robot->part[i].uses);
        list_body(robot->part[i].name, uses, &robot->part[i].body);
    }
    out_text("\nLinks, each in its link frame:\n");
    list_head("link", "");
    for (uint32_t i = 0; i < robot->n; i++)
        list_body(robot->joint[i].link_name, "", &robot->joint[i].source.link);
}

static void json_body(const char *name, const dyn_body_t *b) {
    json_begin(NULL);
    json_string("name", name);
    json_number("mass", b->mass);
    json_numbers("com", b->com, 3, 17);
    json_numbers("inertia", b->inertia, 6, 17);
}

static void list_json(const robot_t *robot) {
    json_begin(NULL);
    json_string("command", "parts");
    json_string("robot", robot->name);
    json_list("parts");
    for (size_t i = 0; i < robot->parts; i++) {
        json_body(robot->part[i].name, &robot->part[i].body);
        json_integer("used", (long)robot->part[i].uses);
        json_end();
    }
    json_list_end();
    json_list("links");
    for (uint32_t i = 0; i < robot->n; i++) {
        json_body(robot->joint[i].link_name, &robot->joint[i].source.link);
        json_string("joint", robot->joint[i].name);
        json_end();
    }
    json_list_end();
    json_end();
}

static int list_parts(const request_t *request, const robot_t *robot) {
    if (request_has(request, OPTION_JSON))
        list_json(robot);
    else
        list_text(robot);
    return EXIT_YES;
}

int cmd_parts(const request_t *request) {
    const bool list = request_has(request, OPTION_LIST);
    if (list && request_has(request, OPTION_OUTPUT))
        return diag_error("--list", "leave one of them out",
                          "--list prints tables, --output writes a robot file");
    if (!list && json_needs_a_file(request) != EXIT_YES)
        return EXIT_BAD;
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    int status = robot->format == ROBOT_FORMAT_PARTS
                     ? (list ? list_parts : deliver_robot)(request, robot)
                     : diag_error(robot->file, "see tools/robots/cmu-dd.yaml for an example",
                                  "the file is not a parts database: it has no key `parts:`");
    if (status == EXIT_YES && !list)
        print_made(request, robot, 0);
    arm_free(robot);
    return status;
}
