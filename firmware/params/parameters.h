/* The parameters: values that can be changed by name on a running board. They are SI floats; the
 * background converts them to the units of the build, and a change takes effect between two
 * ticks. */
#ifndef FIRMWARE_PARAMS_PARAMETERS_H
#define FIRMWARE_PARAMS_PARAMETERS_H

#include <stdint.h>

#include "firmware/params/variant.h"

enum { FEEDBACK_OFF, FEEDBACK_PD, FEEDBACK_COMPUTED_TORQUE, FEEDBACKS };
enum { ARM_SIMULATED, ARM_REAL };
enum { FEEDFORWARD_OFF, FEEDFORWARD_GRAVITY, FEEDFORWARD_FULL };

/*
 * X(name, ONE or JOINT, when, "unit", least, most, default, "key of the robot file", "help")
 *   JOINT: one value for each joint; "|" separates the units of revolute and prismatic joints
 *   when: ANY, or IDLE (only while the outputs are off); WHOLE is added if only integers are valid,
 *   UP or DOWN if it is a guard that gets weaker with a larger or a smaller value: such a value is
 *   accepted only while the outputs are off
 *   default: value if the robot image does not give one
 *   help: a sentence without capital and full stop, for `appell get` and firmware/PARAMETERS.md
 * A comment inside the tables names the subject of the parameters below it.
 */
#define PARAMETER_ONE_TABLE(X)                                                                     \
    /* Control loop. */                                                                            \
    X(rate_hz, ONE, IDLE | WHOLE, "Hz", 100, 20000, 1000, "control.rate",                          \
      "the control loop runs this many ticks per second")                                          \
    X(feedback, ONE, ANY | WHOLE, "", 0, 2, 1, "control.feedback",                                 \
      "selects the feedback: 0 off, 1 PD, 2 computed torque")                                      \
    X(feedforward, ONE, ANY | WHOLE, "", 0, 2, 2, "",                                              \
      "selects the model torques that are fed forward along the reference: 0 none, 1 gravity, 2 "  \
      "all (inertia, velocity terms, gravity, rotors and friction)")                               \
    X(observer_hz, ONE, ANY, "Hz", 1, 2000, 50, "",                                                \
      "the observer estimates speeds with this bandwidth, at most a fifth of rate_hz")             \
    X(torque_hz, ONE, ANY, "Hz", 0.01f, 200, 5, "",                                                \
      "computed torque control corrects errors with this bandwidth, critically damped")            \
    X(limits_scale, ONE, IDLE, "", 0.01f, 1, 1, "",                                                \
      "the loop uses this fraction of the torque and velocity limits; the torques must still "     \
      "carry the arm against gravity")                                                             \
    X(rate_check, ONE, IDLE | WHOLE | DOWN, "", 0, 1, 1, "",                                       \
      "1 makes the board refuse a rate at which a tick would take more than 90 % of the period; "  \
      "0 allows any rate")                                                                         \
    X(stages, ONE, ANY | WHOLE, "", 0, 1, 0, "",                                                   \
      "1 makes the board measure the cost of each stage of a tick; 0 does not")                    \
    /* Payload. */                                                                                 \
    X(payload_mass, ONE, ANY, "kg", 0, 1000, 0, "payload.mass",                                    \
      "the model carries this mass on its last link")                                              \
    X(payload_x, ONE, ANY, "m", -10, 10, 0, "payload.com",                                         \
      "the payload's center of mass has this x in the last link frame")                            \
    X(payload_y, ONE, ANY, "m", -10, 10, 0, "payload.com",                                         \
      "the payload's center of mass has this y in the last link frame")                            \
    X(payload_z, ONE, ANY, "m", -10, 10, 0, "payload.com",                                         \
      "the payload's center of mass has this z in the last link frame")                            \
    /* Motions and telemetry. */                                                                   \
    X(jog_timeout_s, ONE, ANY | UP, "s", 0.01f, 10, 0.5f, "",                                      \
      "a jog ends this long after its last request")                                               \
    X(tool_speed, ONE, ANY | UP, "m/s", 0.001f, 100, 0.25f, "",                                    \
      "while a person leads the arm (jog), the tool is not faster than this")                      \
    X(sample_every, ONE, ANY | WHOLE, "ticks", 0, 1000000, 1, "",                                  \
      "the board takes one telemetry sample in this many ticks; 0 takes none")                     \
    /* Guards. */                                                                                  \
    X(guard_tracking, ONE, ANY | UP, "rad or m", 1e-4f, 10, 0.25f, "",                             \
      "raises the fault `tracking` if a joint is farther than this from its reference")            \
    X(guard_position, ONE, ANY | UP, "rad or m", 0, 1, 0.015f, "",                                 \
      "raises the fault `position` if a joint is farther than this beyond its position limit")     \
    X(guard_speed, ONE, ANY | UP, "", 1, 10, 1.5f, "",                                             \
      "raises the fault `velocity` if a joint is faster than this multiple of its velocity limit") \
    X(guard_limit_s, ONE, ANY | UP, "s", 0.01f, 10, 0.07f, "",                                     \
      "raises the fault `torque` or `voltage` if a joint stays at its torque or voltage limit "    \
      "for this time; time off the limit counts against it by half")                               \
    X(guard_reversals, ONE, ANY | UP, "1/s", 1, 1000, 20, "",                                      \
      "raises the fault `unstable` if the torque of a joint swings more often than this between "  \
      "both directions, beyond half of its limit in each; eight more are allowed")                 \
    X(guard_supply_low, ONE, ANY | DOWN, "", 0, 1, 0.7f, "",                                       \
      "raises the fault `supply low` if the supply is below this fraction of the nominal voltage") \
    X(guard_supply_high, ONE, ANY | UP, "", 1, 3, 1.25f, "",                                       \
      "raises the fault `supply high` if the supply is above this multiple of the nominal "        \
      "voltage")                                                                                   \
    X(guard_encoder_ticks, ONE, ANY | WHOLE | UP, "ticks", 0, 1000, 5, "",                         \
      "raises the fault `encoder` or `parity` if an encoder fails in more than this many "         \
      "consecutive ticks")                                                                         \
    X(guard_overruns, ONE, ANY | WHOLE | UP, "ticks", 0, 1000, 1, "",                              \
      "raises the fault `overrun` if more than this many consecutive ticks are late")              \
    X(guard_setpoint, ONE, ANY | WHOLE | UP, "ticks", 0, 1000000, 0, "",                           \
      "raises the fault `setpoint` if no control point arrives for more than this many ticks; 0 "  \
      "raises it only when no point is left")                                                      \
    X(guard_direction, ONE, ANY | WHOLE | DOWN, "", 0, 1, 1, "",                                   \
      "1 raises the fault `direction` if a joint accelerates against its torque for about 30 ms; " \
      "0 switches this check off")                                                                 \
    /* Stops. */                                                                                   \
    X(hold_fraction, ONE, ANY | UP, "", 0, 1, 0.8f, "",                                            \
      "a stop may hold the arm only if gravity needs at most this fraction of every joint's "      \
      "torque limit")                                                                              \
    X(brakes, ONE, ANY | WHOLE, "", -1, 1, -1, "brakes",                                           \
      "1 if the arm has brakes that hold it while the outputs are off; 0 if it has none; -1 if "   \
      "nobody has said it: the simulated arm then has brakes, and the real arm cannot be chosen")  \
    /* Homing. */                                                                                  \
    X(home_speed, ONE, ANY | UP, "", 0.01f, 0.5f, 0.1f, "",                                        \
      "homing moves at this fraction of the velocity limit; the second approach is at a quarter "  \
      "of that speed")                                                                             \
    X(home_torque, ONE, ANY | UP, "", 0.01f, 1, 0.1f, "",                                          \
      "homing presses against a stop with the torque of the model plus this fraction of the "      \
      "torque limit")                                                                              \
    /* Simulated arm. */                                                                           \
    X(arm, ONE, IDLE | WHOLE, "", 0, 1, 0, "",                                                     \
      "selects the arm that the loop moves: 0 an arm that the board simulates, 1 the real arm at " \
      "the outputs")                                                                               \
    X(sim_mass, ONE, ANY, "", 0.25f, 4, 1, "",                                                     \
      "the masses of the simulated arm are those of the model times this factor")                  \
    X(sim_friction, ONE, ANY, "", 0, 4, 1, "",                                                     \
      "the friction of the simulated arm is that of the model times this factor")                  \
    X(sim_noise, ONE, ANY | WHOLE, "counts", 0, 1000, 0, "",                                       \
      "the encoders of the simulated arm have random errors up to this size")                      \
    X(sim_shift, ONE, IDLE | WHOLE, "counts", -1e6f, 1e6f, 0, "",                                  \
      "the encoders of the simulated arm have this constant error until the arm is homed")         \
    LAB_X(X, sim_defect, ONE, ANY | WHOLE, "", 0, 22, 0, "",                                       \
          "selects a defect of the simulated arm: 0 none, 1 motor reversed, 2 encoder reversed, "  \
          "3 encoder lost, 4 parity error, 5 joint jammed, 6 supply low, 7 supply high, 8 "        \
          "e-stop, 9 ticks late, 10 not a number, 11 wrong encoder scale, 12 no inertia, 13 "      \
          "weak supply, 14 motors limp, 15 encoder stuck, 16 encoder jump, 17, 18, 19 noise of "   \
          "15, 30, 60 counts, 20 lowest six bits stuck, 21 supply sensor dead, 22 driver fault")   \
    LAB_X(X, sim_defect_joint, ONE, ANY | WHOLE, "", 0, 31, 0, "",                                 \
          "number of the joint with the defect, counted from 0")

#define PARAMETER_JOINT_TABLE(X)                                                                   \
    /* Control loop. */                                                                            \
    X(kp, JOINT, ANY, "N m/rad|N/m", 0, 1e9f, 0, "gains.kp",                                       \
      "torque (or force) with which the PD feedback answers a position error of 1 rad (or 1 m)")   \
    X(kd, JOINT, ANY, "N m s/rad|N s/m", 0, 1e9f, 0, "gains.kd",                                   \
      "torque (or force) with which the PD feedback answers a velocity error of 1 rad/s (or 1 "    \
      "m/s)")                                                                                      \
    /* Encoder. */                                                                                 \
    X(encoder_offset, JOINT, IDLE, "rad|m", -100, 100, 0, "encoder.offset",                        \
      "position of the joint at which its encoder reads zero; `appell home --at` sets it")         \
    X(encoder_sign, JOINT, IDLE | WHOLE, "", -1, 1, 1, "encoder.sign",                             \
      "1 if the encoder counts up when the joint moves forward, -1 if it counts down")             \
    X(encoder_ratio, JOINT, IDLE, "", 1e-3f, 1e6f, 1, "encoder.ratio",                             \
      "the encoder makes this many turns per turn (or meter) of the joint")                        \
    /* Position limits. */                                                                         \
    X(position_lower, JOINT, IDLE, "rad|m", -100, 100, 0, "limits.position",                       \
      "lower limit for motions of the joint")                                                      \
    X(position_upper, JOINT, IDLE, "rad|m", -100, 100, 0, "limits.position",                       \
      "upper limit for motions of the joint; if it is not above the lower limit, the joint has "   \
      "no limits")                                                                                 \
    /* Homing. */                                                                                  \
    X(home, JOINT, IDLE | WHOLE, "", -2, 2, 0, "homing.to, homing.side",                           \
      "how the joint finds its position: 0 absolute encoder, 1 upper stop, -1 lower stop, 2 "      \
      "switch at the upper end, -2 switch at the lower end")                                       \
    X(home_position, JOINT, IDLE, "rad|m", -100, 100, 0, "homing.position",                        \
      "position of the stop or switch that `home` selects")

#define PARAMETER_TABLE(X)                                                                         \
    PARAMETER_ONE_TABLE(X)                                                                         \
    PARAMETER_JOINT_TABLE(X)

typedef enum {
#define X(name, shape, when, unit, least, most, fallback, key, help) PARAMETER_##name,
    PARAMETER_TABLE(X)
#undef X
        PARAMETERS,
    PARAMETERS_ONE = PARAMETER_kp /* number of parameters that are not per joint */
} parameter_t;

/* The ways in which a joint can find its position. In the parameter `home` the sign is the
 * direction of the search. */
enum { HOME_ABSOLUTE, HOME_STOP, HOME_SWITCH };

typedef struct {
    const char *name, *unit, *help;
    float least, most, fallback;
    uint8_t per_joint, idle_only, whole;
    int8_t weaker; /* 1 or -1: a guard that gets weaker with a larger or a smaller value; else 0 */
} parameter_info_t;

extern const parameter_info_t parameter_table[PARAMETERS];

#endif
