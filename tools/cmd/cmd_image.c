/* image: converts a robot file to a robot image and back. parts: converts a parts database to a
 * robot file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/cli/file.h"
#include "tools/cli/out.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"

/* Writes the bytes to the file of --output, or to standard output. */
static int deliver(const request_t *request, const void *bytes, size_t size) {
    if (request_has(request, OPTION_OUTPUT) && strcmp(request->value[OPTION_OUTPUT], "-") != 0)
        return file_write(request->value[OPTION_OUTPUT], bytes, size);
    out_bytes(bytes, size);
    return EXIT_YES;
}

static int deliver_robot(const request_t *request, const robot_t *robot) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return diag_no_memory();
    const int saved = robot_save(stream, robot);
    const int status =
        fclose(stream) == 0 && saved == 0 ? deliver(request, text, size) : diag_no_memory();
    free(text);
    return status;
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
    const int status =
        robot->shapes_lost ? diag_error(robot->file, "use the robot file that has the tables",
                                        "the mode shapes were given as tables, but the image "
                                        "contains only their integrals")
        : robot->format == ROBOT_FORMAT_IMAGE
            ? deliver_robot(request, robot)
            : diag_error(robot->file, "make an image with `appell image ROBOT -o FILE`",
                         "the file is not a robot image");
    arm_free(robot);
    return status;
}

int cmd_image(const request_t *request) {
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
    const int status = bytes ? deliver(request, bytes, size) : EXIT_BAD;
    free(bytes);
    arm_free(robot);
    return status;
}

int cmd_parts(const request_t *request) {
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    const int status = robot->format == ROBOT_FORMAT_PARTS
                           ? deliver_robot(request, robot)
                           : diag_error(robot->file, "see tools/robots/cmu-dd.yaml for an example",
                                        "the file is not a parts database: it has no key `parts:`");
    arm_free(robot);
    return status;
}
