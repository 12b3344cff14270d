/* Implements robot_help.h. */
#include "test/support/robot_help.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "test/support/harness.h"

static void *must(void *memory) {
    if (!memory) {
        fputs("there is not enough memory for the test\n", stderr);
        exit(1);
    }
    return memory;
}

void help_put(help_text_t *text, const char *format, ...) {
    for (;;) {
        va_list arguments;
        va_start(arguments, format);
        const size_t left = text->room - text->size;
        const int size =
            vsnprintf(text->data ? text->data + text->size : NULL, left, format, arguments);
        va_end(arguments);
        if ((size_t)size < left) {
            text->size += (size_t)size;
            return;
        }
        text->room = 2 * text->room + (size_t)size + 1024;
        text->data = must(realloc(text->data, text->room));
    }
}

void help_put_numbers(help_text_t *text, const double *value, size_t count, const char *between) {
    for (size_t i = 0; i < count; i++)
        help_put(text, "%s%.17g", i ? between : "", value[i]);
}

void help_text_free(help_text_t *text) {
    free(text->data);
    *text = (help_text_t){0};
}

void help_print(const messages_t *messages) {
    for (size_t i = 0; i < messages->count; i++) {
        char line[2500];
        messages_format(&messages->item[i], line, sizeof line);
        puts(line);
    }
}

static robot_t *checked(robot_t *robot, int status, const char *what, messages_t *messages) {
    if (status != 0) {
        help_print(messages);
        TEST_FAIL_MESSAGE(what);
    }
    return robot;
}

robot_t *help_load(const char *what, const robot_options_t *options, messages_t *messages) {
    robot_t *robot = must(calloc(1, sizeof *robot));
    return checked(robot, robot_load(what, options, robot, messages), what, messages);
}

robot_t *help_parse(const char *file, const char *text, size_t size, const robot_options_t *options,
                    messages_t *messages) {
    robot_t *robot = must(calloc(1, sizeof *robot));
    return checked(robot, robot_parse(file, text, size, options, robot, messages), file, messages);
}

void help_free(robot_t *robot) {
    if (robot)
        robot_free(robot);
    free(robot);
}

void help_torque(const dyn_model_t *model, const double *q, const double *qd, const double *qdd,
                 bool rotors, double *tau) {
    static dyn_arm_f64_t arm;
    static dyn_ne_scratch_f64_t scratch;
    TEST_ASSERT_EQUAL(DYN_OK, dyn_prepare_f64(model, NULL, &arm));
    dyn_ne_inverse_f64(&arm, &scratch, q, qd, qdd, tau);
    for (uint32_t i = 0; rotors && i < model->n; i++)
        tau[i] += dyn_model_rotor(&model->joint[i]) * qdd[i];
}

const message_t *help_find(const messages_t *messages, message_code_t code, const char *subject,
                           const char *part) {
    for (size_t i = 0; i < messages->count; i++) {
        const message_t *m = &messages->item[i];
        if (m->code == code && (!subject || strcmp(m->subject, subject) == 0) &&
            (strstr(m->text, part) || strstr(m->cure, part)))
            return m;
    }
    return NULL;
}

char *help_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    char *text = must(malloc((size_t)length + 1));
    *size = fread(text, 1, (size_t)length, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

double help_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (double)(int32_t)(uint32_t)((x * 0x2545F4914F6CDD1Du) >> 32) / 2147483648.0;
}
