/* image: converts a robot file to a robot image and back. parts: converts a parts database to a
 * robot file. */
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

int cmd_parts(const request_t *request) {
    if (json_needs_a_file(request) != EXIT_YES)
        return EXIT_BAD;
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    int status = robot->format == ROBOT_FORMAT_PARTS
                     ? deliver_robot(request, robot)
                     : diag_error(robot->file, "see tools/robots/cmu-dd.yaml for an example",
                                  "the file is not a parts database: it has no key `parts:`");
    if (status == EXIT_YES)
        print_made(request, robot, 0);
    arm_free(robot);
    return status;
}
