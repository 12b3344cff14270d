/* Finds the friction and the payload that explain the torques of slow motions on a board, for
 * comparison with the model. `appell inspect` uses it. */
#ifndef TOOLS_MOTION_INSPECT_H
#define TOOLS_MOTION_INSPECT_H

#include "tools/link/client.h"
#include "tools/robot/robot.h"

/* Friction of a joint: Coulomb torques at negative and positive speed, and viscous torque per
 * speed. */
typedef struct {
    double coulomb[2], viscous;
} inspect_friction_t;

typedef struct {
    inspect_friction_t model, found;
    double off;       /* largest difference between commanded and modelled torque */
    double off_after; /* the same difference with the friction and payload that were found */
    double limit;     /* torque limit; if there is none, the largest commanded torque */
} inspect_joint_t;

typedef struct {
    uint32_t n, rows;
    inspect_joint_t joint[DYN_MAX_JOINTS];
    double payload, payload_found; /* kg */
    double factor;                 /* factor of all masses: the other explanation */
    /* RMS residual of each explanation, relative to torque limits */
    double rms_payload, rms_factor;
    bool distinct; /* the two explanations differ by more than chance */
} inspect_t;

/* Runs the motions. The robot must be loaded on the board and its outputs off. Returns 0, or -1
 * with client->error. */
int inspect(client_t *client, const robot_t *robot, inspect_t *out);

#endif
