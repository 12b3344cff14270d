/* Geometry shared by the readers: rotations as roll, pitch and yaw, and turned bodies. */
#include <math.h>

#include "tools/robot/readers.h"

void reader_rpy(const dyn_pose_t *pose, double rpy[3]) {
    /*
     * Undoes yaw first and reads pitch and roll from the remaining rotation. Near a pitch of 90
     * degrees roll and yaw alone are badly conditioned, but the rotation that they make together is
     * still exact.
     */
    const double(*r)[3] = pose->r;
    double yaw = atan2(r[1][0], r[0][0]), c, s;
    dyn_exact_turn(yaw, &c, &s);
    rpy[2] = yaw;
    rpy[1] = atan2(-r[2][0], c * r[0][0] + s * r[1][0]);
    rpy[0] = atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1]);
}

dyn_body_t reader_turned(const dyn_body_t *body, const double rpy[3]) {
    const double nowhere[3] = {0, 0, 0};
    dyn_pose_t axes = dyn_pose_rpy(nowhere, rpy);
    dyn_body_t out = *body;
    for (int i = 0; i < 3; i++)
        out.com[i] = 0;
    out = dyn_body_move(&out, &axes);
    for (int i = 0; i < 3; i++)
        out.com[i] = body->com[i];
    return out;
}
