/* What an arm really takes, beside what its model says: slow motions on a board, and the friction
 * and payload that explain their torques; `appell inspect` uses it. */
#ifndef TOOLS_MOTION_INSPECT_H
#define TOOLS_MOTION_INSPECT_H

#include "tools/link/client.h"
#include "tools/robot/robot.h"

/* Friction of a joint: torques at negative and positive speed, and per speed. */
typedef struct {
    double coulomb[2], viscous;
} inspect_friction_t;

typedef struct {
    inspect_friction_t model, found;
    double off;       /* largest difference of commanded and modelled torque */
    double off_after; /* what is left with what was found */
    double limit;     /* of the torque; the largest commanded one where there is none */
} inspect_joint_t;

typedef struct {
    uint32_t n, rows;
    inspect_joint_t joint[DYN_MAX_JOINTS];
    double payload, payload_found;  /* kg */
    double factor;                  /* of all masses, which explains the torques, too */
    double rms_payload, rms_factor; /* what either leaves of them, by the torque limits */
    bool told_apart;                /* the difference of the two is more than chance */
} inspect_t;

/* 0, or -1 with client->error. The robot is in the board and its outputs are off. */
int inspect(client_t *client, const robot_t *robot, inspect_t *out);

#endif
