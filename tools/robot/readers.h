/* Declarations shared by the readers of all formats; only for use within tools/robot. */
#ifndef TOOLS_ROBOT_READERS_H
#define TOOLS_ROBOT_READERS_H

#include "tools/robot/robot.h"
#include "tools/robot/schema.h"
#include "tools/robot/tree.h"

/* ------------------------------------------------------- libcyaml's view of the common sections */

typedef struct {
    double xyz[3], rpy[3];
} raw_pose_t;

typedef struct {
    uint32_t plane; /* a raw_plane_t */
    double *values;
    uint32_t values_count;
} raw_shape_t;

typedef enum { RAW_PLANE_XY, RAW_PLANE_XZ, RAW_PLANE_TORSION } raw_plane_t;

typedef struct {
    double length, mass_per_length, EI_y, EI_z, GJ, damping, polar_inertia;
    struct {
        uint32_t xy, xz, torsion;
    } modes;
    raw_shape_t *shapes;
    uint32_t shapes_count;
} raw_flex_t;

typedef struct {
    double mass, com[3], inertia[6], rpy[3];
} raw_link_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    uint32_t type; /* a dyn_joint_type_t */
    struct {
        double theta, d, a, alpha;
    } dh;
    raw_pose_t origin;
    double axis[3];
    raw_link_t link;
    char part_link[ROBOT_NAME_MAX]; /* only in a parts database: name of the link */
    dyn_limits_t limits;
    dyn_motor_t motor;
    struct {
        double viscous, *coulomb;
        uint32_t coulomb_count;
    } friction;
    robot_encoder_t encoder;
    struct {
        uint32_t to, side;
        double position;
    } homing;
    robot_thermal_t thermal;
    struct {
        double kp, kd;
    } gains;
    raw_flex_t flex;
} raw_joint_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    uint32_t convention; /* a dyn_convention_t */
    double gravity[3];
    raw_pose_t base, tool;
    struct {
        double rate;
        uint32_t feedback;
    } control;
    uint32_t brakes; /* 0 or 1 */
    raw_link_t payload;
    raw_joint_t *joints;
    uint32_t joints_count;
} raw_robot_t;

/* Schemas of a number, of a robot file, of a pose with optional keys, and of the fields that robot
 * files and parts databases share. */
extern const cyaml_schema_value_t raw_number, raw_robot_value;
extern const cyaml_schema_field_t raw_pose_fields[], raw_dh_fields[], raw_origin_fields[],
    raw_limits_fields[], raw_motor_fields[], raw_friction_fields[], raw_encoder_fields[],
    raw_homing_fields[], raw_thermal_fields[], raw_gains_fields[], raw_control_fields[],
    raw_payload_fields[];
extern const cyaml_strval_t raw_joint_types[2], raw_conventions[3], raw_planes[3], raw_yes_no[2];

#define RAW_OPTIONAL CYAML_FLAG_OPTIONAL
#define RAW_STRICT   CYAML_FLAG_STRICT

#define RAW_JOINT_FIELDS                                                                           \
    CYAML_FIELD_STRING("name", 0, raw_joint_t, name, 1),                                           \
        CYAML_FIELD_ENUM("type", RAW_STRICT, raw_joint_t, type, raw_joint_types, 2),               \
        CYAML_FIELD_MAPPING("dh", RAW_OPTIONAL, raw_joint_t, dh, raw_dh_fields),                   \
        CYAML_FIELD_MAPPING("origin", RAW_OPTIONAL, raw_joint_t, origin, raw_origin_fields),       \
        CYAML_FIELD_SEQUENCE_FIXED("axis", RAW_OPTIONAL, raw_joint_t, axis, &raw_number, 3),       \
        CYAML_FIELD_MAPPING("limits", RAW_OPTIONAL, raw_joint_t, limits, raw_limits_fields),       \
        CYAML_FIELD_MAPPING("motor", RAW_OPTIONAL, raw_joint_t, motor, raw_motor_fields),          \
        CYAML_FIELD_MAPPING("friction", RAW_OPTIONAL, raw_joint_t, friction, raw_friction_fields), \
        CYAML_FIELD_MAPPING("encoder", RAW_OPTIONAL, raw_joint_t, encoder, raw_encoder_fields),    \
        CYAML_FIELD_MAPPING("homing", RAW_OPTIONAL, raw_joint_t, homing, raw_homing_fields),       \
        CYAML_FIELD_MAPPING("thermal", RAW_OPTIONAL, raw_joint_t, thermal, raw_thermal_fields),    \
        CYAML_FIELD_MAPPING("gains", RAW_OPTIONAL, raw_joint_t, gains, raw_gains_fields)

#define RAW_ROBOT_FIELDS(structure, joint_value)                                                   \
    CYAML_FIELD_STRING("name", 0, structure, name, 1),                                             \
        CYAML_FIELD_ENUM("convention", RAW_STRICT, structure, convention, raw_conventions, 3),     \
        CYAML_FIELD_SEQUENCE_FIXED("gravity", 0, structure, gravity, &raw_number, 3),              \
        CYAML_FIELD_MAPPING("base", RAW_OPTIONAL, structure, base, raw_pose_fields),               \
        CYAML_FIELD_MAPPING("control", RAW_OPTIONAL, structure, control, raw_control_fields),      \
        CYAML_FIELD_ENUM("brakes", RAW_OPTIONAL | RAW_STRICT, structure, brakes, raw_yes_no, 2),   \
        CYAML_FIELD_SEQUENCE("joints", CYAML_FLAG_POINTER, structure, joints, joint_value, 1,      \
                             DYN_MAX_JOINTS),                                                      \
        CYAML_FIELD_MAPPING("tool", RAW_OPTIONAL, structure, tool, raw_pose_fields),               \
        CYAML_FIELD_MAPPING("payload", RAW_OPTIONAL, structure, payload, raw_payload_fields)

/* ---------------------------------------------------------------------------- shared by readers */

/* Reads the top-level keys of the file, except what is inside the joints, and their line
 * numbers. */
void reader_common(const tree_t *tree, const raw_robot_t *raw, robot_t *out);
/* Reads a joint without its link: frame, limits, motor, friction, encoder, homing, heat and gains. */
void reader_joint(const tree_t *tree, const tree_node_t *node, const raw_joint_t *raw,
                  robot_joint_t *joint, dyn_convention_t convention, messages_t *messages);
/* Reports names that two joints share. */
void reader_duplicates(const robot_t *robot, messages_t *messages);

int reader_robot_file(const tree_t *tree, robot_symbols_t *symbols, robot_t *out,
                      messages_t *messages);
/* Implemented in symbols.c: puts numbers in the place of names in the joints of a tree. */
void symbols_take(const tree_t *tree, robot_symbols_t *symbols);
/* Gives a joint without mass data numbers for all of it. */
void symbols_link(robot_symbols_t *symbols, uint32_t joint, dyn_body_t *link);
int reader_parts(const tree_t *tree, robot_t *out, messages_t *messages);
int reader_urdf(const char *file, const char *bytes, size_t size, const robot_options_t *options,
                robot_t *out, messages_t *messages);

/* Computes roll, pitch and yaw of a rotation, such that dyn_pose_rpy gives the same rotation to the
 * last digits. */
void reader_rpy(const dyn_pose_t *pose, double rpy[3]);
/* Returns the body with its tensor on the axes of the link frame. In `body` the axes of the tensor
 * are turned by rpy. */
dyn_body_t reader_turned(const dyn_body_t *body, const double rpy[3]);

#endif
