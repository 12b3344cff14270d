/* The content of a URDF file: links and joints with their lines, before a chain is chosen.
 * urdf_xml.c reads it, urdf.c makes the chain from it. */
#ifndef TOOLS_ROBOT_URDF_H
#define TOOLS_ROBOT_URDF_H

#include "tools/robot/robot.h"

#define URDF_ELEMENTS_MAX 200000u
#define URDF_ITEMS_MAX    1000u /* maximum number of links, of joints and of transmissions */
#define URDF_DEPTH_MAX    64u

typedef enum {
    URDF_FIXED,
    URDF_REVOLUTE,
    URDF_CONTINUOUS,
    URDF_PRISMATIC,
    URDF_OTHER /* floating, planar or unknown; refused */
} urdf_type_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    uint32_t line, line_mass, line_inertia, line_origin;
    bool inertial;
    dyn_body_t body; /* in the link frame; the axes of the tensor are turned by inertia_rpy */
    double inertia_rpy[3];
} urdf_link_t;

typedef struct {
    char name[ROBOT_NAME_MAX], parent[ROBOT_NAME_MAX], child[ROBOT_NAME_MAX], mimic[ROBOT_NAME_MAX];
    char type_name[ROBOT_NAME_MAX];
    urdf_type_t type;
    uint32_t line, line_origin, line_axis, line_limit, line_dynamics, line_mimic;
    double xyz[3], rpy[3], axis[3];
    bool has_lower, has_upper, has_velocity, has_effort, has_damping, has_friction;
    double lower, upper, velocity, effort, damping, friction;
    double multiplier, offset; /* position = multiplier * position of the mimicked joint + offset */
    double reduction;          /* gear reduction of the joint's transmission; 0: none */
    uint32_t line_reduction;
} urdf_joint_t;

typedef struct {
    char joint[ROBOT_NAME_MAX];
    uint32_t line;
    double reduction;
} urdf_transmission_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    uint32_t line;
    urdf_link_t *link;
    urdf_joint_t *joint;
    urdf_transmission_t *transmission; /* only used within urdf_read */
    size_t links, joints, transmissions, link_room, joint_room, transmission_room;
} urdf_t;

/* Returns 0, or -1 with errors; call urdf_free in either case. */
int urdf_read(const char *file, const char *bytes, size_t size, urdf_t *out, messages_t *messages);
void urdf_free(urdf_t *urdf);

#endif
