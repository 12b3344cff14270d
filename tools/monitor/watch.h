/*
 * The board that `appell monitor` watches: its samples, its state and its limits, over resets of the
 * board and over a line that is closed and comes back.
 */
#ifndef TOOLS_MONITOR_WATCH_H
#define TOOLS_MONITOR_WATCH_H

#include <limits.h>

#include "tools/link/client.h"

enum { WATCH_FIELDS = 64, WATCH_TEXT = 1000 };

/* Quantities that have limits for each joint. */
typedef enum {
    LIMIT_POSITION,
    LIMIT_VELOCITY,
    LIMIT_ACCELERATION,
    LIMIT_TORQUE,
    LIMIT_VOLTAGE,
    LIMITS
} limit_kind_t;

typedef enum {
    WATCH_ON,     /* samples come */
    WATCH_SILENT, /* the line is open, but no samples come */
    WATCH_CLOSED  /* the line is closed; there is no client */
} watch_phase_t;

typedef struct {
    char port[PATH_MAX];
    const char *name[WATCH_FIELDS]; /* fields of --fields */
    uint32_t names, every;          /* 0: the choice of the board, or else q and tau */
    client_t *client;               /* NULL while the line is closed */
    watch_phase_t phase;
    device_status_t status; /* as last read */
    device_fault_t fault;
    double limit[LIMITS][DYN_MAX_JOINTS][2];
    uint32_t tick;              /* the last tick that is known */
    uint64_t samples;           /* of the client, when they were last counted */
    int64_t heard_ms, tried_ms; /* when the last sample came, and when the board was last asked */
    char lost_at[16];           /* time of day of the last sample before a gap */
    unsigned gaps;              /* how often that has happened */
    bool was_reset;             /* the ticks have begun again; the owner takes note and clears it */
    bool motion_lost;           /* a motion was under way when the lease was lost */
    bool dead;                  /* the emulator of this command has ended; it cannot go on */
    char event[WATCH_TEXT];     /* what has happened */
    bool reported;              /* `event` is not news */
} watch_t;

/* Milliseconds of a clock that never goes back. */
int64_t watch_now_ms(void);
/* Says what has happened, once: the same text twice in a row is no news. */
void watch_report(watch_t *watch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Chooses the fields and starts the samples, with watch->client open; nobody gets them before
 * client->on_sample is set. Returns 0, or -1 with the client's error. */
int watch_start(watch_t *watch);
/* Receives what has come, for at most timeout_ms. After a silence or a closed line it asks the board
 * again, from time to time, and goes on by itself. Returns true when samples come again after a gap:
 * their fields may be others. */
bool watch_turn(watch_t *watch, int timeout_ms);
/* Reads state and fault. Returns false if the board does not answer. */
bool watch_look(watch_t *watch);
/* Reads the limits that are valid now. What cannot be read is not marked on the screen. */
void watch_limits(watch_t *watch);
/* Returns which limits a field has, or LIMITS. */
limit_kind_t watch_limit_of(const char *field);
void watch_end(watch_t *watch);

#endif
