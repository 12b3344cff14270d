/* The schema of robot files as libcyaml tables. The schema of parts databases uses some of the same
 * sections. */
#include "tools/robot/readers.h"

const cyaml_schema_value_t raw_number = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};

const cyaml_strval_t raw_joint_types[2] = {{"revolute", DYN_REVOLUTE},
                                           {"prismatic", DYN_PRISMATIC}};
const cyaml_strval_t raw_conventions[3] = {
    {"dh", DYN_CONVENTION_DH}, {"mdh", DYN_CONVENTION_MDH}, {"frames", DYN_CONVENTION_FRAMES}};
static const cyaml_strval_t feedbacks[3] = {
    {"off", FEEDBACK_OFF}, {"pd", FEEDBACK_PD}, {"computed_torque", FEEDBACK_COMPUTED_TORQUE}};
const cyaml_strval_t raw_yes_no[2] = {{"false", 0}, {"true", 1}};
const cyaml_strval_t raw_planes[3] = {
    {"xy", RAW_PLANE_XY}, {"xz", RAW_PLANE_XZ}, {"torsion", RAW_PLANE_TORSION}};

#define NUMBER(key, flags, structure, member) CYAML_FIELD_FLOAT(key, flags, structure, member)
#define NUMBERS(key, flags, structure, member, count)                                              \
    CYAML_FIELD_SEQUENCE_FIXED(key, flags, structure, member, &raw_number, count)

const cyaml_schema_field_t raw_pose_fields[] = {NUMBERS("xyz", RAW_OPTIONAL, raw_pose_t, xyz, 3),
                                                NUMBERS("rpy", RAW_OPTIONAL, raw_pose_t, rpy, 3),
                                                CYAML_FIELD_END};
const cyaml_schema_field_t raw_origin_fields[] = {
    NUMBERS("xyz", 0, raw_pose_t, xyz, 3), NUMBERS("rpy", 0, raw_pose_t, rpy, 3), CYAML_FIELD_END};

typedef __typeof__(((raw_joint_t *)0)->dh) raw_dh_t;
const cyaml_schema_field_t raw_dh_fields[] = {
    NUMBER("theta", 0, raw_dh_t, theta), NUMBER("d", 0, raw_dh_t, d), NUMBER("a", 0, raw_dh_t, a),
    NUMBER("alpha", 0, raw_dh_t, alpha), CYAML_FIELD_END};

const cyaml_schema_field_t raw_limits_fields[] = {
    NUMBERS("position", RAW_OPTIONAL, dyn_limits_t, position, 2),
    NUMBER("velocity", RAW_OPTIONAL, dyn_limits_t, velocity),
    NUMBER("acceleration", RAW_OPTIONAL, dyn_limits_t, acceleration),
    NUMBER("torque", RAW_OPTIONAL, dyn_limits_t, torque), CYAML_FIELD_END};

const cyaml_schema_field_t raw_motor_fields[] = {
    NUMBER("resistance", RAW_OPTIONAL, dyn_motor_t, resistance),
    NUMBER("torque_constant", RAW_OPTIONAL, dyn_motor_t, torque_constant),
    NUMBER("gear", RAW_OPTIONAL, dyn_motor_t, gear),
    NUMBER("rotor_inertia", RAW_OPTIONAL, dyn_motor_t, rotor_inertia),
    NUMBER("voltage", RAW_OPTIONAL, dyn_motor_t, voltage),
    CYAML_FIELD_END};

typedef __typeof__(((raw_joint_t *)0)->friction) raw_friction_t;
const cyaml_schema_field_t raw_friction_fields[] = {
    NUMBER("viscous", RAW_OPTIONAL, raw_friction_t, viscous),
    CYAML_FIELD_SEQUENCE("coulomb", RAW_OPTIONAL | CYAML_FLAG_POINTER, raw_friction_t, coulomb,
                         &raw_number, 1, 2),
    CYAML_FIELD_END};

const cyaml_schema_field_t raw_encoder_fields[] = {
    NUMBER("counts", RAW_OPTIONAL, robot_encoder_t, counts),
    NUMBER("sign", RAW_OPTIONAL, robot_encoder_t, sign),
    NUMBER("offset", RAW_OPTIONAL, robot_encoder_t, offset),
    NUMBER("ratio", RAW_OPTIONAL, robot_encoder_t, ratio), CYAML_FIELD_END};

typedef __typeof__(((raw_joint_t *)0)->homing) raw_homing_t;
static const cyaml_strval_t home_to[2] = {{"stop", 1}, {"switch", 2}};
static const cyaml_strval_t home_side[2] = {{"lower", 0}, {"upper", 1}};
const cyaml_schema_field_t raw_homing_fields[] = {
    CYAML_FIELD_ENUM("to", RAW_STRICT, raw_homing_t, to, home_to, 2),
    CYAML_FIELD_ENUM("side", RAW_STRICT, raw_homing_t, side, home_side, 2),
    NUMBER("position", 0, raw_homing_t, position), CYAML_FIELD_END};

const cyaml_schema_field_t raw_thermal_fields[] = {
    NUMBER("continuous", RAW_OPTIONAL, robot_thermal_t, continuous),
    NUMBER("time", RAW_OPTIONAL, robot_thermal_t, time), CYAML_FIELD_END};

typedef __typeof__(((raw_joint_t *)0)->gains) raw_gains_t;
const cyaml_schema_field_t raw_gains_fields[] = {NUMBER("kp", RAW_OPTIONAL, raw_gains_t, kp),
                                                 NUMBER("kd", RAW_OPTIONAL, raw_gains_t, kd),
                                                 CYAML_FIELD_END};

typedef __typeof__(((raw_robot_t *)0)->control) raw_control_t;
const cyaml_schema_field_t raw_control_fields[] = {
    NUMBER("rate", RAW_OPTIONAL, raw_control_t, rate),
    CYAML_FIELD_ENUM("feedback", RAW_OPTIONAL | RAW_STRICT, raw_control_t, feedback, feedbacks, 3),
    CYAML_FIELD_END};

const cyaml_schema_field_t raw_payload_fields[] = {
    NUMBER("mass", RAW_OPTIONAL, raw_link_t, mass),
    NUMBERS("com", RAW_OPTIONAL, raw_link_t, com, 3),
    NUMBERS("inertia", RAW_OPTIONAL, raw_link_t, inertia, 6), CYAML_FIELD_END};

static const cyaml_schema_field_t link_fields[] = {
    NUMBER("mass", 0, raw_link_t, mass), NUMBERS("com", 0, raw_link_t, com, 3),
    NUMBERS("inertia", 0, raw_link_t, inertia, 6), NUMBERS("rpy", RAW_OPTIONAL, raw_link_t, rpy, 3),
    CYAML_FIELD_END};

typedef __typeof__(((raw_flex_t *)0)->modes) raw_modes_t;
static const cyaml_schema_field_t modes_fields[] = {
    CYAML_FIELD_UINT("xy", RAW_OPTIONAL, raw_modes_t, xy),
    CYAML_FIELD_UINT("xz", RAW_OPTIONAL, raw_modes_t, xz),
    CYAML_FIELD_UINT("torsion", RAW_OPTIONAL, raw_modes_t, torsion), CYAML_FIELD_END};

#define SHAPE_POINTS_MIN 5u
#define SHAPE_POINTS_MAX 1001u

static const cyaml_schema_field_t shape_fields[] = {
    CYAML_FIELD_ENUM("plane", RAW_STRICT, raw_shape_t, plane, raw_planes, 3),
    CYAML_FIELD_SEQUENCE("values", CYAML_FLAG_POINTER, raw_shape_t, values, &raw_number,
                         SHAPE_POINTS_MIN, SHAPE_POINTS_MAX),
    CYAML_FIELD_END};
static const cyaml_schema_value_t shape_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_shape_t, shape_fields)};

static const cyaml_schema_field_t flex_fields[] = {
    NUMBER("length", 0, raw_flex_t, length),
    NUMBER("mass_per_length", 0, raw_flex_t, mass_per_length),
    NUMBER("EI_y", RAW_OPTIONAL, raw_flex_t, EI_y),
    NUMBER("EI_z", RAW_OPTIONAL, raw_flex_t, EI_z),
    NUMBER("GJ", RAW_OPTIONAL, raw_flex_t, GJ),
    CYAML_FIELD_MAPPING("modes", 0, raw_flex_t, modes, modes_fields),
    NUMBER("damping", RAW_OPTIONAL, raw_flex_t, damping),
    NUMBER("polar_inertia", RAW_OPTIONAL, raw_flex_t, polar_inertia),
    CYAML_FIELD_SEQUENCE("shapes", RAW_OPTIONAL | CYAML_FLAG_POINTER, raw_flex_t, shapes,
                         &shape_value, 1, 3 * ROBOT_MODES_MAX),
    CYAML_FIELD_END};

static const cyaml_schema_field_t joint_fields[] = {
    RAW_JOINT_FIELDS, CYAML_FIELD_MAPPING("link", RAW_OPTIONAL, raw_joint_t, link, link_fields),
    CYAML_FIELD_MAPPING("flex", RAW_OPTIONAL, raw_joint_t, flex, flex_fields), CYAML_FIELD_END};
static const cyaml_schema_value_t joint_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_joint_t, joint_fields)};

static const cyaml_schema_field_t robot_fields[] = {RAW_ROBOT_FIELDS(raw_robot_t, &joint_value),
                                                    CYAML_FIELD_END};
const cyaml_schema_value_t raw_robot_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, raw_robot_t, robot_fields)};
