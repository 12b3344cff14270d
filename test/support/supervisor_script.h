/*
 * A script for the supervisor: requests, inputs and ticks, one event per line, as text and as data.
 * Random scripts come from a seed. A script that fails is shrunk to a short one that fails in the
 * same way.
 */
#ifndef TEST_SUPPORT_SUPERVISOR_SCRIPT_H
#define TEST_SUPPORT_SUPERVISOR_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* X(NAME, "name", whole numbers, numbers, "what they are") */
#define SCRIPT_TABLE(X)                                                                            \
    X(WAIT, "wait", 1, 0, "ticks")                                                                 \
    X(MOTION, "motion", 2, 3, "kind, token; duration, values of two joints")                       \
    X(POINTS, "points", 2, 2, "number of points, token; step from each to the next")               \
    X(POINTS_END, "points-end", 1, 0, "token")                                                     \
    X(STOP, "stop", 0, 0, "")                                                                      \
    X(RELEASE, "release", 1, 0, "token")                                                           \
    X(CLEAR, "clear", 0, 0, "")                                                                    \
    X(PLACE, "place", 1, 2, "token; position")                                                     \
    X(SET, "set", 2, 1, "parameter, joint; value")                                                 \
    X(OVERRIDE, "override", 3, 1, "parameter, joint, token; value")                                \
    X(LEASE, "lease", 2, 0, "token, ms")                                                           \
    X(LEASE_END, "lease-end", 1, 0, "token")                                                       \
    X(LEAD, "lead", 2, 0, "token, ticks: taken and renewed ten times a second from now on")        \
    X(LOAD, "load", 2, 0, "robot, token that takes the lease before the image ends, or 0")         \
    X(LOAD_BAD, "load-bad", 0, 0, "an image with a wrong checksum")                                \
    X(SAVE, "save", 0, 0, "")                                                                      \
    X(RESET, "reset", 1, 0, "0 power, 1 request, 2 watchdog, 3 crash")                             \
    X(LATCH, "latch", 2, 0, "causes, those that stay active")                                      \
    X(QUIET, "quiet", 0, 0, "the causes are not active any more")                                  \
    X(ESTOP_SEEN, "estop-seen", 1, 0, "1: it was tried since the start")                           \
    X(UNREAD, "unread", 3, 0, "encoders, ticks, 0 lost, 1 parity, 2 magnet")                       \
    X(LOST, "lost", 1, 0, "ticks that did not happen")                                             \
    X(OVERRUN, "overrun", 1, 0, "late ticks")                                                      \
    X(STALLED, "stalled", 1, 0, "ticks with a background that does not run")                       \
    X(SUPPLY, "supply", 2, 0, "mV + 2, ticks")                                                     \
    X(UNREADY, "unready", 1, 0, "ticks in which the outputs are not on")                           \
    X(BUSY, "busy", 1, 0, "ticks without a turn of the background")                                \
    X(PUSH, "push", 1, 1, "ticks; torque that a person puts on the shoulder of the real arm")

enum { LEADER = 9 }; /* a token: that of the client that has the lease, or 0 */

typedef enum {
#define X(NAME, name, whole, numbers, help) EVENT_##NAME##_OP,
    SCRIPT_TABLE(X)
#undef X
        SCRIPT_OPS
} script_op_t;

typedef struct {
    uint32_t op, a[3];
    float v[3];
} script_event_t;

enum { SCRIPT_MOST = 160 };
typedef struct {
    uint32_t count;
    script_event_t event[SCRIPT_MOST];
} script_t;

void script_random(script_t *script, uint64_t seed);
void script_print(const script_t *script, FILE *to);
/* Returns false if a line is not an event. */
bool script_read(script_t *script, FILE *from);

/* Runs a script; returns NULL, or the kind of its failure: the same pointer for the same kind. */
typedef const char *script_run_t(const script_t *script);
/* Removes events and shortens waits as long as the script fails in the same way. */
void script_shrink(script_t *script, script_run_t *run, const char *kind);

#endif
