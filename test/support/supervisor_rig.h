/*
 * Runs a script (test/support/supervisor_script.h) against the application and its model
 * (test/support/supervisor_model.h) in lockstep. The rig plays the board, the background, the host
 * and a real arm of two links.
 */
#ifndef TEST_SUPPORT_SUPERVISOR_RIG_H
#define TEST_SUPPORT_SUPERVISOR_RIG_H

#include "test/support/supervisor_model.h"
#include "test/support/supervisor_script.h"

/* Defects that the rig can give the application from outside, to see that they are found. */
enum {
    RIG_SOUND,
    RIG_CLEAR_RELEASES, /* clear switches the outputs off */
    RIG_LEASE_STAYS,    /* the lease never lapses */
    RIG_OVERRIDE_STAYS, /* overrides are never undone */
    RIG_LATE_RELEASE,   /* the outputs go off a tick late */
    RIG_LATCH_IGNORED,  /* the application does not see the latch of the hardware */
    RIG_STOP_IGNORED,   /* a stop is answered, but not carried out */
    RIG_BRAKES_EARLY,   /* the brakes open with the first torque */
    RIG_DEFECTS
};

typedef struct {
    uint64_t requests, accepted, ticks;
    uint32_t defect; /* RIG_... */
    supervisor_model_t model;
    char where[120]; /* of a disagreement */
} rig_t;

extern rig_t rig;

/* Returns NULL, or the kind of the first disagreement; rig.model.complaint says what it was. */
const char *rig_run(const script_t *script);

#endif
