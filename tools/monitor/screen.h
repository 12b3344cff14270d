/*
 * The text of the live screen of `appell monitor`: head lines, a table with a row for each joint and
 * a column for each field, the last event, and the line that is being typed. It is a function of its
 * arguments alone. Whatever does not fit the terminal is on another page; nothing wraps or scrolls.
 */
#ifndef TOOLS_MONITOR_SCREEN_H
#define TOOLS_MONITOR_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"

/* A smaller terminal is served as one of SCREEN_NARROW x SCREEN_LOW. */
enum {
    SCREEN_HEADS = 3,
    SCREEN_NARROW = 40,
    SCREEN_LOW = 10,
    SCREEN_WIDE = 400,
    SCREEN_HIGH = 200
};

typedef struct {
    const char *name, *unit;
    bool per_joint;
    const double *value; /* one, or one for each joint */
    const double (
        *limit)[2]; /* lower and upper limit of each joint; NULL, or lower >= upper: none */
} screen_field_t;

typedef struct {
    unsigned width, height; /* of the terminal, in characters */
    bool colour;
    const char *head[SCREEN_HEADS];
    bool alarm; /* the second head line tells a fault */
    uint32_t joints, fields;
    const char *joint[DYN_MAX_JOINTS];
    const screen_field_t *field;
    uint32_t field_page, joint_page; /* counted from 0; beyond the last one it begins again */
    const char *event;               /* "": the screen explains its marks instead */
    const char *typed;               /* the command that is being typed; NULL: no prompt */
} screen_t;

/* How near a value is to its limits: from 90 % of the way from the middle on, and at the limit. */
typedef enum { SCREEN_FREE, SCREEN_NEAR, SCREEN_AT } screen_nearness_t;
screen_nearness_t screen_nearness(double value, const double limit[2]);

/* Writes the lines of the screen, separated by line ends. Returns their length in bytes; what does
 * not fit into `size` is left out. */
size_t screen_text(const screen_t *screen, char *out, size_t size);

#endif
