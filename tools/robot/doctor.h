/* Functions shared by the files of the import doctor. tools/robot/robot.h declares its entry points
 * robot_check and robot_possible. */
#ifndef TOOLS_ROBOT_DOCTOR_H
#define TOOLS_ROBOT_DOCTOR_H

#include "tools/robot/robot.h"

typedef struct {
    const robot_t *robot;
    messages_t *messages;
    bool errors_only;
} doctor_t;

void doctor_add(doctor_t *d, message_severity_t severity, message_code_t code, uint32_t line,
                const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

double doctor_length(const double v[3]);
/* Returns the largest absolute value among n numbers. */
double doctor_largest(const double *x, size_t n);

/* Checks a position and a rotation; either may be NULL. */
void doctor_check_pose(doctor_t *d, const double xyz[3], const double rpy[3], uint32_t line,
                       const char *subject);

/* These check the bodies as written in the source, the link of a joint, its size compared with its
 * reach, and the payload. */
void doctor_check_pieces(doctor_t *d);
void doctor_check_link(doctor_t *d, const robot_joint_t *joint);
void doctor_check_shape(doctor_t *d, uint32_t joint);
void doctor_check_payload(doctor_t *d);
/* Returns the larger of the distances in m from the origin of link i to the origins of the previous
 * and the next link frame (after the last link: to the tool), plus the travel of a prismatic
 * joint. */
double doctor_link_reach(const robot_t *robot, uint32_t i);

/* Checks all numbers as a board does that gets the robot image. Call it only if there were no
 * errors: the other checks have better words. */
void doctor_check_numbers(doctor_t *d);

/* Makes the checks that compute with the arm. Call it only if there were no errors. */
void doctor_check_motion(doctor_t *d);

#endif
