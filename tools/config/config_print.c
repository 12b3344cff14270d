/* Writes configurations, for tools/config/config.h: as a file and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "firmware/params/bytes.h"
#include "tools/cli/json.h"
#include "tools/cli/text.h"
#include "tools/config/config.h"
#include "tools/image/robot_image.h"

enum { BYTES_PER_LINE = 32 };

/* Names come from the board: a line end among them must not become one of the file. */
static void put_visible(FILE *stream, const char *text) {
    char part[256];
    while (text_visible(&text, part, sizeof part, "") > 0)
        fputs(part, stream);
}

/* Writes the robot as comments, as `appell image --show` shows it. */
static void put_robot(FILE *stream, const config_t *config) {
    const robot_options_t options = {.image_magic = IMAGE_MAGIC,
                                     .image_magic_size = sizeof IMAGE_MAGIC - 1,
                                     .image_reader = robot_image_read};
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = calloc(1, sizeof *robot);
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    /* mode shapes that were tables are not in the image, so its robot file cannot be written */
    const bool known =
        robot && lines &&
        robot_parse("image", config->image, config->length, &options, robot, &messages) == 0 &&
        !robot->shapes_lost && robot_save(lines, robot) == 0;
    if (lines)
        (void)fclose(lines);
    fputs("\n# The robot in the image below. These lines are for reading only: the bytes count.\n",
          stream);
    for (char *line = known ? text : NULL; line && *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(stream, "#   %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (robot)
        robot_free(robot);
    free(robot);
    free(text);
    messages_free(&messages);
}

static void put_image(FILE *stream, const config_t *config) {
    put_robot(stream, config);
    fprintf(stream, "image = %u bytes, CRC-32 %08x\n", (unsigned)config->length,
            (unsigned)crc32_add(0, config->image, config->length));
    for (uint32_t at = 0; at < config->length; at += BYTES_PER_LINE) {
        fprintf(stream, "%04x: ", (unsigned)at);
        for (uint32_t i = at; i < at + BYTES_PER_LINE && i < config->length; i++)
            fprintf(stream, "%02x", config->image[i]);
        fputc('\n', stream);
    }
}

static void put_value(FILE *stream, const config_value_t *v, const image_t *image) {
    put_visible(stream, v->name);
    if (v->per_joint)
        fprintf(stream, "[%u]", v->joint + 1u);
    fprintf(stream, " = %.9g", (double)v->value);
    if (*v->unit) {
        fputc(' ', stream);
        put_visible(stream, v->unit);
    }
    if (v->per_joint && v->joint < image->n) {
        fputs("  # ", stream);
        put_visible(stream, image->joint_name[v->joint]);
    }
    fputc('\n', stream);
}

void config_print(FILE *stream, const config_t *config) {
    static image_t image;
    if (image_read(config->image, config->length, &image, NULL) != IMAGE_OK)
        image.n = 0;
    fprintf(stream,
            "appell-config %d\n"
            "# `appell config write FILE` gives this configuration to a board. Values may be "
            "edited;\n# what follows a # means nothing.\n\nboard = ",
            CONFIG_VERSION);
    put_visible(stream, config->board);
    fputs("\nfirmware = ", stream);
    put_visible(stream, config->build);
    fputs("\ntelemetry = ", stream);
    put_visible(stream, config->telemetry);
    fputs("\n\n", stream);
    for (uint32_t i = 0; i < config->values; i++)
        put_value(stream, &config->value[i], &image);
    put_image(stream, config);
}

void config_json(const config_t *config) {
    static image_t image;
    char *hex = calloc(config->length + 1, 2);
    const bool known = image_read(config->image, config->length, &image, NULL) == IMAGE_OK;
    json_begin(NULL);
    json_integer("version", CONFIG_VERSION);
    json_string("board", config->board);
    json_string("firmware", config->build);
    json_string("robot", known ? image.name : "");
    json_string("telemetry", config->telemetry);
    json_list("parameters");
    for (uint32_t i = 0; i < config->values; i++) {
        const config_value_t *v = &config->value[i];
        json_begin(NULL);
        json_string("name", v->name);
        if (v->per_joint) {
            json_integer("joint", v->joint + 1);
            json_string("of", known && v->joint < image.n ? image.joint_name[v->joint] : "");
        }
        json_number("value", (double)v->value);
        json_string("unit", v->unit);
        json_bool("saved", v->saved);
        json_end();
    }
    json_list_end();
    for (uint32_t i = 0; hex && i < config->length; i++)
        snprintf(hex + 2 * i, 3, "%02x", config->image[i]);
    json_string("image", hex ? hex : "");
    json_end();
    free(hex);
}
