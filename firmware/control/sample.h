/*
 * The fields that the tick records for telemetry, in one fixed-size record. The record, its
 * encoding and the tool's columns are all made from this table.
 *
 * Every element is a word of 32 bits. QUANTITY_NONE is an unsigned integer. All other quantities
 * are `real`: a float on a board with f32; on a board with q31 an int32 with the value raw
 * 2^(exponent - 28), where app_exponent returns the exponent for quantity and joint.
 */
#ifndef FIRMWARE_CONTROL_SAMPLE_H
#define FIRMWARE_CONTROL_SAMPLE_H

#include "firmware/control/type.h"

/* X(NAME, "unit of a revolute joint", "unit of a prismatic joint") */
#define QUANTITY_TABLE(X)                                                                          \
    X(NONE, "", "")                                                                                \
    X(POSITION, "rad", "m")                                                                        \
    X(VELOCITY, "rad/s", "m/s")                                                                    \
    X(ACCELERATION, "rad/s^2", "m/s^2")                                                            \
    X(TORQUE, "N m", "N")                                                                          \
    X(VOLTAGE, "V", "V")                                                                           \
    /* only in faults; the supply is an integer in mV in the firmware */                           \
    X(SUPPLY, "V", "V")                                                                            \
    X(TOOL_SPEED, "m/s", "m/s")

typedef enum {
#define X(name, revolute, prismatic) QUANTITY_##name,
    QUANTITY_TABLE(X)
#undef X
        QUANTITIES
} quantity_t;

/* X(name, ONE or JOINT, quantity, "help"). JOINT: the field has one element for each joint. */
#define SAMPLE_TABLE(X)                                                                            \
    X(tick, ONE, NONE, "ticks since the firmware started")                                         \
    X(state, ONE, NONE,                                                                            \
      "bits 0 to 7 are the state, bits 8 to 15 the fault; bit 16 is set during a motion, bit 17 "  \
      "if a guard is weaker than its default, bit 18 if a command overrides a parameter, bit 19 "  \
      "if a command has the lease")                                                                \
    X(limited, ONE, NONE, "bit i is set if torque or voltage of joint i was at its limit")         \
    X(unproved, ONE, NONE,                                                                         \
      "bit i is set if a value of joint i left its proved range in q31 and was clamped")           \
    X(cost, ONE, NONE, "cost of the previous tick, in counts of the board's cycle counter")        \
    X(q_ref, JOINT, POSITION, "reference position")                                                \
    X(qd_ref, JOINT, VELOCITY, "reference velocity")                                               \
    X(qdd_ref, JOINT, ACCELERATION, "reference acceleration")                                      \
    X(q, JOINT, POSITION, "measured position")                                                     \
    X(qd, JOINT, VELOCITY, "estimated velocity")                                                   \
    X(q_arm, JOINT, POSITION,                                                                      \
      "true position of a simulated arm, or measured position of a real arm")                      \
    X(tau_model, JOINT, TORQUE,                                                                    \
      "model torque: the feedforward or, with computed torque control, the whole torque")          \
    X(tau, JOINT, TORQUE, "commanded torque, after the torque limit")                              \
    X(volt, JOINT, VOLTAGE,                                                                        \
      "motor voltage, limited to the supply voltage; 0 if the joint has no motor")

typedef enum {
#define X(name, shape, quantity, help) SAMPLE_##name,
    SAMPLE_TABLE(X)
#undef X
        SAMPLE_FIELDS
} sample_field_t;

typedef struct {
    const char *name, *help;
    uint8_t per_joint;
    uint8_t quantity; /* quantity_t */
} sample_info_t;

#define SAMPLE_MEMBER_ONE(name, type)   type name;
#define SAMPLE_MEMBER_JOINT(name, type) type name[DYN_MAX_JOINTS];
#define SAMPLE_TYPE_NONE                uint32_t
#define SAMPLE_TYPE_POSITION            real_t
#define SAMPLE_TYPE_VELOCITY            real_t
#define SAMPLE_TYPE_ACCELERATION        real_t
#define SAMPLE_TYPE_TORQUE              real_t
#define SAMPLE_TYPE_VOLTAGE             real_t
typedef struct {
#define X(name, shape, quantity, help) SAMPLE_MEMBER_##shape(name, SAMPLE_TYPE_##quantity)
    SAMPLE_TABLE(X)
#undef X
} sample_t;
#undef SAMPLE_MEMBER_ONE
#undef SAMPLE_MEMBER_JOINT
#undef SAMPLE_TYPE_NONE
#undef SAMPLE_TYPE_POSITION
#undef SAMPLE_TYPE_VELOCITY
#undef SAMPLE_TYPE_ACCELERATION
#undef SAMPLE_TYPE_TORQUE
#undef SAMPLE_TYPE_VOLTAGE

extern const sample_info_t sample_table[SAMPLE_FIELDS];
/* Returns the unit of a quantity at a revolute or prismatic joint. */
const char *quantity_unit(unsigned quantity, unsigned prismatic);

#endif
