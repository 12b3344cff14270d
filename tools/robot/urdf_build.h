/* A URDF on its way to a serial chain: what urdf.c, urdf_chain.c and urdf_arm.c share. */
#ifndef TOOLS_ROBOT_URDF_BUILD_H
#define TOOLS_ROBOT_URDF_BUILD_H

#include "tools/robot/robot.h"
#include "tools/robot/urdf.h"

#define URDF_NONE SIZE_MAX

typedef struct {
    size_t joint_above; /* joint whose child this link is; URDF_NONE: the root */
    size_t moving;      /* moving joints between root and here */
    bool reached;
    size_t carrier;  /* chain joint that moves this link; URDF_NONE: the base */
    dyn_pose_t pose; /* in the link frame of the carrier, or in the root's */
} urdf_link_state_t;

typedef struct {
    size_t parent, child;
    bool moves;    /* may be part of a chain: not fixed, not mimic, not frozen by the user */
    bool on_chain; /* between root and tip */
    bool user;     /* frozen by the user */
    double value;  /* where it is frozen */
} urdf_joint_state_t;

typedef struct {
    const char *file;
    const urdf_t *urdf;
    const robot_options_t *options;
    messages_t *messages;
    urdf_link_state_t *link;
    urdf_joint_state_t *joint;
    size_t root, last, tip; /* links: last moving one, end effector */
    size_t chain[DYN_MAX_JOINTS];
    uint32_t n;
} urdf_build_t;

void urdf_say(urdf_build_t *b, message_severity_t severity, message_code_t code, uint32_t line,
              const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* By name; URDF_NONE where there is none. */
size_t urdf_find_link(const urdf_t *u, const char *name);
size_t urdf_find_joint(const urdf_t *u, const char *name);

/* Chooses the chain and places the links. False with errors. */
bool urdf_choose_chain(urdf_build_t *b);
void urdf_take_arm(urdf_build_t *b, robot_t *out);
/* False where the memory is gone. */
bool urdf_take_pieces(const urdf_build_t *b, robot_t *out);

#endif
