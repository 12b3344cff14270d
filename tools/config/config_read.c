/* Reads configuration files, for tools/config/config.h. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/number.h"
#include "tools/config/config.h"

enum { ERRORS_MOST = 20 };

typedef struct {
    config_t *out;
    unsigned line, errors;
    uint32_t announced, crc; /* of the image; announced is 0 before its line */
} reader_t;

#define WRONG(reader, ...)                                                                         \
    ((reader)->errors++, config_wrong((reader)->out, (reader)->line, __VA_ARGS__))

static const char read_again[] = "take a copy that `appell config read -o FILE` wrote";

void config_wrong(const config_t *config, unsigned line, const char *cure, const char *format,
                  ...) {
    char place[CONFIG_LINE], number[16] = "", text[CONFIG_LINE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (line > 0)
        snprintf(number, sizeof number, ":%u", line);
    snprintf(place, sizeof place, "%.400s%s", config->file, number);
    diag_error(place, cure, "%s", text);
}

bool config_add(config_t *config, const config_value_t *value) {
    if (config->values == config->room) {
        const uint32_t room = 2 * config->room + 64;
        config_value_t *more = realloc(config->value, room * sizeof *more);
        if (!more)
            return false;
        config->value = more;
        config->room = room;
    }
    config->value[config->values++] = *value;
    return true;
}

const config_value_t *config_find(const config_t *config, const char *name, uint32_t joint) {
    for (uint32_t i = 0; i < config->values; i++)
        if (config->value[i].joint == joint && !strcmp(config->value[i].name, name))
            return &config->value[i];
    return NULL;
}

void config_free(config_t *config) {
    free(config->value);
    free(config->image);
    *config = (config_t){0};
}

/* Takes a line of the head into its place, once. */
static void take_text(reader_t *r, const char *key, const char *text, char *out, size_t size,
                      unsigned *line) {
    if (*line > 0) {
        WRONG(r, "keep one of them", "`%s` stands in line %u already", key, *line);
        return;
    }
    *line = r->line;
    if (strlen(text) >= size || !*text)
        WRONG(r, read_again, *text ? "`%s` is too long" : "`%s` has no value", key);
    else
        memcpy(out, text, strlen(text) + 1);
}

/* Takes "1488 bytes, CRC-32 5a6b7c8d". */
static void take_head(reader_t *r, const char *text) {
    unsigned length, crc;
    int used = 0;
    if (r->out->line_image > 0) {
        WRONG(r, "keep one of them", "`image` stands in line %u already", r->out->line_image);
        return;
    }
    r->out->line_image = r->line;
    if (sscanf(text, "%7u bytes, CRC-32 %8x%n", &length, &crc, &used) != 2 || text[used] != '\0' ||
        length == 0 || length > IMAGE_SIZE_MAX) {
        WRONG(r, read_again, "this is not the length and the checksum of an image");
        return;
    }
    r->announced = length;
    r->crc = crc;
    r->out->image = calloc(length, 1);
    if (!r->out->image) {
        r->errors++;
        (void)diag_no_memory();
    }
}

/* Takes "0040: 8941504c...". */
static void take_bytes(reader_t *r, const char *text) {
    config_t *c = r->out;
    unsigned at, byte;
    int used = 0;
    if (!c->image) {
        if (c->line_image == 0)
            WRONG(r, read_again, "bytes of an image stand before its line `image = ...`");
        return; /* the line of the image was wrong, which is told already */
    }
    if (sscanf(text, "%8x: %n", &at, &used) != 1 || used == 0 || at != c->length) {
        WRONG(r, read_again, "the bytes of the image go on at %04x, not here", (unsigned)c->length);
        return;
    }
    for (text += used; *text; text += 2) {
        if (strspn(text, "0123456789abcdef") < 2 || sscanf(text, "%2x", &byte) != 1 ||
            c->length >= r->announced) {
            WRONG(r, read_again,
                  c->length >= r->announced ? "the image has more bytes than its first line says"
                                            : "these are not bytes in hexadecimal");
            return;
        }
        c->image[c->length++] = (uint8_t)byte;
    }
}

/* Splits "kp[2]" into name and joint. */
static bool take_name(const char *text, config_value_t *v) {
    unsigned joint = 1;
    int used = 0;
    const size_t size = strcspn(text, "[");
    if (size == 0 || size >= sizeof v->name)
        return false;
    memcpy(v->name, text, size);
    v->name[size] = '\0';
    if (!text[size])
        return true;
    v->per_joint = true;
    if (sscanf(text + size, "[%3u]%n", &joint, &used) != 1 || used == 0 ||
        text[size + (size_t)used] || joint < 1 || joint > DYN_MAX_JOINTS)
        return false;
    v->joint = (uint8_t)(joint - 1);
    return true;
}

static void take_value(reader_t *r, const char *key, const char *text) {
    config_value_t v = {.saved = true, .line = r->line};
    double value;
    if (!take_name(key, &v)) {
        WRONG(r, "write PARAMETER = VALUE, or PARAMETER[JOINT] = VALUE with a joint from 1 on",
              "`%s` is not the name of a parameter", key);
        return;
    }
    const config_value_t *twice = config_find(r->out, v.name, v.joint);
    if (twice) {
        WRONG(r, "keep one of them", "`%s` stands in line %u already", key, twice->line);
        return;
    }
    const char *end = number_scan(text, &value);
    v.value = end && isfinite(value) ? (float)value : NAN;
    if (!end || !isfinite(v.value) || (*end && *end != ' ') || strlen(end) >= sizeof v.unit) {
        WRONG(r, "write a number and the unit, as `appell config read` does",
              "`%s` is not a finite number with a unit", text);
        return;
    }
    snprintf(v.unit, sizeof v.unit, "%s", end + strspn(end, " "));
    if (!config_add(r->out, &v)) {
        r->errors++;
        (void)diag_no_memory();
    }
}

static void take_line(reader_t *r, char *text) {
    config_t *c = r->out;
    char *equals = strstr(text, " = ");
    if (strchr("0123456789", *text)) {
        take_bytes(r, text);
        return;
    }
    if (!equals) {
        if (strspn(text, "abcdef0123456789") == strcspn(text, ":"))
            take_bytes(r, text);
        else
            WRONG(r, "write NAME = VALUE", "`%.60s` has no ` = `", text);
        return;
    }
    *equals = '\0';
    const char *value = equals + 3;
    if (!strcmp(text, "board"))
        take_text(r, text, value, c->board, sizeof c->board, &c->line_board);
    else if (!strcmp(text, "firmware"))
        take_text(r, text, value, c->build, sizeof c->build, &c->line_build);
    else if (!strcmp(text, "telemetry"))
        take_text(r, text, value, c->telemetry, sizeof c->telemetry, &c->line_telemetry);
    else if (!strcmp(text, "image"))
        take_head(r, value);
    else
        take_value(r, text, value);
}

/* Checks what can be checked only at the end: what is missing, and the checksum. */
static void finish(reader_t *r) {
    static image_t image;
    const config_t *c = r->out;
    const struct {
        const char *key;
        unsigned line;
    } head[] = {{"board", c->line_board},
                {"firmware", c->line_build},
                {"telemetry", c->line_telemetry},
                {"image", c->line_image}};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        if (head[i].line == 0) {
            r->errors++;
            diag_error(c->file, read_again, "the line `%s = ...` is missing", head[i].key);
        }
    if (!c->image || r->errors > 0)
        return;
    r->line = c->line_image;
    if (c->length != r->announced) {
        WRONG(r, read_again, "the image has %u bytes, and %u of them are in the file",
              (unsigned)r->announced, (unsigned)c->length);
        return;
    }
    if (crc32_add(0, c->image, c->length) != r->crc) {
        WRONG(r, read_again, "the image is damaged: its checksum is not that of its bytes");
        return;
    }
    const int status = image_read(c->image, c->length, &image, NULL);
    if (status != IMAGE_OK)
        WRONG(r, image_cure(status), "%s", image_cause(status));
}

static void first_line(reader_t *r, const char *text) {
    int version = 0, used = 0;
    if (sscanf(text, "appell-config %9d%n", &version, &used) != 1 || text[used] != '\0')
        WRONG(r, read_again,
              "this is not a configuration: its first line is not `appell-config %d`",
              CONFIG_VERSION);
    else if (version != CONFIG_VERSION)
        WRONG(r, "read the configuration again with this `appell`",
              "the file has version %d of the format, and this program reads version %d", version,
              CONFIG_VERSION);
}

static int read_lines(reader_t *r, FILE *stream) {
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    while (r->errors < ERRORS_MOST && (size = getline(&text, &room, stream)) >= 0) {
        r->line++;
        const size_t whole = strlen(text);
        text[strcspn(text, "#\n")] = '\0';
        size_t length = strlen(text);
        while (length > 0 && strchr(" \t\r", text[length - 1]))
            text[--length] = '\0';
        if (whole != (size_t)size || length >= CONFIG_LINE)
            WRONG(r, read_again, "this is not a line of a configuration");
        else if (r->line == 1)
            first_line(r, text);
        else if (length > 0)
            take_line(r, text);
        if (r->line == 1 && r->errors > 0)
            break; /* another format: its lines mean something else */
    }
    const int failed = ferror(stream);
    free(text);
    return failed;
}

int config_read(const char *path, config_t *out) {
    reader_t r = {.out = out};
    *out = (config_t){.file = path};
    FILE *stream = fopen(path, "r");
    const int failed = stream ? read_lines(&r, stream) : 1;
    const int reason = errno;
    if (stream)
        (void)fclose(stream);
    if (failed)
        return diag_error(path, "check the name and the permissions", "cannot be read: %s",
                          strerror(reason));
    if (r.line == 0)
        return diag_error(path, read_again, "the file is empty");
    if (r.line > 1 || r.errors == 0)
        finish(&r);
    return r.errors == 0 ? EXIT_YES : EXIT_BAD;
}
