/*
 * Tries motions before the arm moves: the application of the firmware runs in this process with the
 * robot, limits and payload of the board, and checks them as the board does.
 */
#ifndef TOOLS_LEAD_REHEARSAL_H
#define TOOLS_LEAD_REHEARSAL_H

#include "tools/link/client.h"
#include "tools/motion/plan.h"

typedef struct rehearsal rehearsal_t;

/* Reads the robot and its limits from the board. Returns NULL with client->error. */
rehearsal_t *rehearsal_open(client_t *client);
void rehearsal_close(rehearsal_t *rehearsal);

/* Returns the model of the robot, with the position limits that are set on the board. */
const dyn_model_t *rehearsal_model(const rehearsal_t *rehearsal);
/* Tries a motion with a profile from `start`. Returns 0 with the seconds that it takes, or an
 * app_error_t with the joint that it concerns; -1: none. */
int rehearsal_profile(rehearsal_t *rehearsal, const double start[], const motion_t *motion,
                      double *seconds, int *joint);
/* Tries the control points of a plan. Returns 0, or an app_error_t with joint and point. */
int rehearsal_points(rehearsal_t *rehearsal, const plan_t *plan, int *joint, uint32_t *point);
/* Returns the largest speed that a jog of this joint alone may have, rad/s or m/s. */
double rehearsal_jog_speed(const rehearsal_t *rehearsal, uint32_t joint);

#endif
