/* The state that urdf.c, urdf_chain.c and urdf_arm.c share while they make a serial chain from a
 * URDF. */
#ifndef TOOLS_ROBOT_URDF_BUILD_H
#define TOOLS_ROBOT_URDF_BUILD_H

#include "tools/robot/robot.h"
#include "tools/robot/urdf.h"

#define URDF_NONE SIZE_MAX

typedef struct {
    size_t joint_above; /* the joint that has this link as child; URDF_NONE: the link is the root */
    size_t moving;      /* number of moving joints from the root to this link */
    bool reached;
    size_t carrier;  /* joint of the chain that moves this link; URDF_NONE: the base */
    dyn_pose_t pose; /* pose in the link frame of the carrier, or of the root */
} urdf_link_state_t;

typedef struct {
    size_t parent, child;
    /* may be in a chain: the joint is not fixed, not a mimic, and not frozen by the user */
    bool moves;
    bool on_chain; /* the joint is between root and tip */
    bool user;     /* the user has frozen the joint */
    double value;  /* position at which the joint is frozen */
} urdf_joint_state_t;

typedef struct {
    const char *file;
    const urdf_t *urdf;
    const robot_options_t *options;
    messages_t *messages;
    urdf_link_state_t *link;
    urdf_joint_state_t *joint;
    /* indices of the root, the last moving link and the end effector's link */
    size_t root, last, tip;
    size_t chain[DYN_MAX_JOINTS];
    uint32_t n;
} urdf_build_t;

void urdf_add(urdf_build_t *b, message_severity_t severity, message_code_t code, uint32_t line,
              const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* These find a link or joint by its name and return URDF_NONE if there is none. */
size_t urdf_find_link(const urdf_t *u, const char *name);
size_t urdf_find_joint(const urdf_t *u, const char *name);

/* Chooses the chain and computes the poses of the links. Returns false with errors. */
bool urdf_choose_chain(urdf_build_t *b);
void urdf_take_arm(urdf_build_t *b, robot_t *out);
/* Returns false if there is no memory. */
bool urdf_take_pieces(const urdf_build_t *b, robot_t *out);

#endif
