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
 *   JOINT: one for each joint; unit with "|" between revolute and prismatic
 *   when: ANY, or IDLE: only while the outputs are off; | WHOLE: only integers
 *   default: value if the robot image does not give one
 *   help: a sentence without capital and full stop, for `appell get` and firmware/PARAMETERS.md
 * A comment inside the tables is the subject that the parameters below it belong to.
 */
#define PARAMETER_ONE_TABLE(X)                                                                     \
    /* Control loop. */                                                                            \
    X(rate_hz, ONE, IDLE | WHOLE, "Hz", 100, 20000, 1000, "control.rate",                          \
      "the control loop runs so many ticks a second")                                              \
    X(feedback, ONE, ANY | WHOLE, "", 0, 2, 1, "control.feedback",                                 \
      "the feedback is 0 off, 1 PD, 2 computed torque")                                            \
    X(feedforward, ONE, ANY | WHOLE, "", 0, 2, 2, "",                                              \
      "the model along the reference gives 0 nothing, 1 gravity, 2 inertia, velocity terms, "      \
      "gravity, rotors and friction")                                                              \
    X(observer_hz, ONE, ANY, "Hz", 1, 2000, 50, "",                                                \
      "the observer estimates speeds with this bandwidth, at most a fifth of rate_hz")             \
    X(torque_hz, ONE, ANY, "Hz", 0.01f, 200, 5, "",                                                \
      "computed torque brings errors to zero with this bandwidth, critically damped")              \
    X(limits_scale, ONE, IDLE, "", 0.01f, 1, 1, "",                                                \
      "the loop uses this fraction of the torque and velocity limits; gravity must still fit")     \
    X(rate_check, ONE, IDLE | WHOLE, "", 0, 1, 1, "",                                              \
      "1 refuses a rate whose tick would take more than 90 % of the period, 0 takes any rate")     \
    X(stages, ONE, ANY | WHOLE, "", 0, 1, 0, "", "1 measures what each stage of the tick costs")   \
    /* Payload. */                                                                                 \
    X(payload_mass, ONE, ANY, "kg", 0, 1000, 0, "payload.mass",                                    \
      "the model carries this mass on its last link")                                              \
    X(payload_x, ONE, ANY, "m", -10, 10, 0, "payload.com",                                         \
      "its center of mass has this x in the last link frame")                                      \
    X(payload_y, ONE, ANY, "m", -10, 10, 0, "payload.com",                                         \
      "its center of mass has this y in the last link frame")                                      \
    X(payload_z, ONE, ANY, "m", -10, 10, 0, "payload.com",                                         \
      "its center of mass has this z in the last link frame")                                      \
    /* Motions and telemetry. */                                                                   \
    X(jog_timeout_s, ONE, ANY, "s", 0.01f, 10, 0.5f, "",                                           \
      "a jog that nobody repeats ends after this time")                                            \
    X(sample_every, ONE, ANY | WHOLE, "ticks", 0, 1000000, 1, "",                                  \
      "the board makes a telemetry sample every so many ticks; 0 makes none")                      \
    /* Guards. */                                                                                  \
    X(guard_tracking, ONE, ANY, "rad or m", 1e-4f, 10, 0.25f, "",                                  \
      "fault tracking: a joint is farther than this from its reference")                           \
    X(guard_position, ONE, ANY, "rad or m", 0, 1, 0.015f, "",                                      \
      "fault position: a joint is farther than this beyond its position limit")                    \
    X(guard_speed, ONE, ANY, "", 1, 10, 1.5f, "",                                                  \
      "fault velocity: a joint is faster than this times its velocity limit")                      \
    X(guard_limit_s, ONE, ANY, "s", 0.01f, 10, 0.3f, "",                                           \
      "fault torque or voltage: a joint is at that limit in every tick for this time")             \
    X(guard_supply_low, ONE, ANY, "", 0, 1, 0.7f, "",                                              \
      "fault supply low: the supply is below this times the nominal voltage")                      \
    X(guard_supply_high, ONE, ANY, "", 1, 3, 1.25f, "",                                            \
      "fault supply high: the supply is above this times the nominal voltage")                     \
    X(guard_encoder_ticks, ONE, ANY | WHOLE, "ticks", 0, 1000, 5, "",                              \
      "fault encoder or parity: an encoder fails for more than so many ticks in a row")            \
    X(guard_overruns, ONE, ANY | WHOLE, "ticks", 0, 1000, 1, "",                                   \
      "fault overrun: more than so many ticks in a row come too late")                             \
    X(guard_setpoint, ONE, ANY | WHOLE, "ticks", 0, 1000000, 0, "",                                \
      "fault setpoint: no control point comes for so many ticks; 0 waits until none is left")      \
    X(guard_direction, ONE, ANY | WHOLE, "", 0, 1, 1, "",                                          \
      "1 looks for joints that accelerate against their torque for about 30 ms; 0 does not")       \
    /* Stops. */                                                                                   \
    X(hold_fraction, ONE, ANY, "", 0, 1, 0.8f, "",                                                 \
      "a stop holds where gravity takes at most this fraction of every torque limit, else it "     \
      "lowers")                                                                                    \
    X(brakes, ONE, ANY | WHOLE, "", 0, 1, 1, "",                                                   \
      "1 says that brakes outside of the board hold the arm while the outputs are off; 0: it has " \
      "none")                                                                                      \
    /* Homing. */                                                                                  \
    X(home_speed, ONE, ANY, "", 0.01f, 0.5f, 0.1f, "",                                             \
      "homing moves at this fraction of the velocity limit; the last touch is at a quarter of it") \
    X(home_torque, ONE, ANY, "", 0.01f, 1, 0.1f, "",                                               \
      "homing presses with this fraction of the torque limit beyond the torque of the model")      \
    /* Simulated arm. */                                                                           \
    X(arm, ONE, IDLE | WHOLE, "", 0, 1, 0, "",                                                     \
      "the loop moves 0 an arm that the board simulates, 1 the real one at its outputs")           \
    X(sim_mass, ONE, ANY, "", 0.25f, 4, 1, "",                                                     \
      "the simulated arm has this times the masses of the model")                                  \
    X(sim_friction, ONE, ANY, "", 0, 4, 1, "",                                                     \
      "the simulated arm has this times the friction of the model")                                \
    X(sim_noise, ONE, ANY | WHOLE, "counts", 0, 1000, 0, "",                                       \
      "the encoders of the simulated arm are wrong by at most so much, at random")                 \
    X(sim_shift, ONE, IDLE | WHOLE, "counts", -1e6f, 1e6f, 0, "",                                  \
      "the encoders of the simulated arm are off by so much until the arm is homed")               \
    LAB_X(X, sim_defect, ONE, ANY | WHOLE, "", 0, 13, 0, "",                                       \
          "the simulated arm has the defect 0 none, 1 motor reversed, 2 encoder reversed, "        \
          "3 encoder lost, 4 parity, 5 joint jammed, 6 supply low, 7 supply high, 8 e-stop, "      \
          "9 ticks late, 10 not a number, 11 encoder scale, 12 no inertia, 13 weak supply")        \
    LAB_X(X, sim_defect_joint, ONE, ANY | WHOLE, "", 0, 31, 0, "",                                 \
          "the joint of this number, from 0, has the defect")

#define PARAMETER_JOINT_TABLE(X)                                                                   \
    /* Control loop. */                                                                            \
    X(kp, JOINT, ANY, "N m/rad|N/m", 0, 1e9f, 0, "gains.kp",                                       \
      "PD answers an error of the position with this torque")                                      \
    X(kd, JOINT, ANY, "N m s/rad|N s/m", 0, 1e9f, 0, "gains.kd",                                   \
      "PD answers an error of the velocity with this torque")                                      \
    /* Encoder. */                                                                                 \
    X(encoder_offset, JOINT, IDLE, "rad|m", -100, 100, 0, "encoder.offset",                        \
      "the joint is here where its encoder reads zero; `appell home --at` sets it")                \
    X(encoder_sign, JOINT, IDLE | WHOLE, "", -1, 1, 1, "encoder.sign",                             \
      "the encoder counts 1 with the joint, -1 against it")                                        \
    X(encoder_ratio, JOINT, IDLE, "", 1e-3f, 1e6f, 1, "encoder.ratio",                             \
      "the encoder makes so many turns for a turn (or a meter) of the joint")                      \
    /* Position limits. */                                                                         \
    X(position_lower, JOINT, IDLE, "rad|m", -100, 100, 0, "limits.position",                       \
      "motions of the joint end above this position")                                              \
    X(position_upper, JOINT, IDLE, "rad|m", -100, 100, 0, "limits.position",                       \
      "motions end below this one; a joint whose limits are equal or exchanged has none")          \
    /* Homing. */                                                                                  \
    X(home, JOINT, IDLE | WHOLE, "", -2, 2, 0, "homing.to, homing.side",                           \
      "the joint finds its position by 0 an absolute encoder, 1 its upper stop, -1 its lower "     \
      "stop, 2 a switch above, -2 a switch below")                                                 \
    X(home_position, JOINT, IDLE, "rad|m", -100, 100, 0, "homing.position",                        \
      "that stop or switch is at this position")

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
} parameter_info_t;

extern const parameter_info_t parameter_table[PARAMETERS];

#endif
