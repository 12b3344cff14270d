/* Helpers that the tests of tools/robot share: loading from text, torques, messages after a
 * failure. */
#ifndef TEST_SUPPORT_ROBOT_HELP_H
#define TEST_SUPPORT_ROBOT_HELP_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/robot/robot.h"

/* Text that grows; without memory the program ends. */
typedef struct {
    char *data;
    size_t size, room;
} help_text_t;

void help_put(help_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void help_put_numbers(help_text_t *text, const double *value, size_t count, const char *between);
void help_text_free(help_text_t *text);

/* Loads a robot that must have no errors; otherwise prints the messages and fails the test. */
robot_t *help_load(const char *what, const robot_options_t *options, messages_t *messages);
robot_t *help_parse(const char *file, const char *text, size_t size, const robot_options_t *options,
                    messages_t *messages);
void help_free(robot_t *robot);
void help_print(const messages_t *messages);

/* Computes torques with the f64 kernel `ne`, optionally with rotors. */
void help_torque(const dyn_model_t *model, const double *q, const double *qd, const double *qdd,
                 bool rotors, double *tau);

/* Returns the message with this code and subject (NULL: any) whose text or cure contains `part`. */
const message_t *help_find(const messages_t *messages, message_code_t code, const char *subject,
                           const char *part);

/* Returns a whole file, zero-terminated, or NULL if it does not exist. The caller frees it. */
char *help_read(const char *path, size_t *size);

/* Seeded random numbers in -1 .. 1. */
double help_random(uint64_t *state);

#endif
