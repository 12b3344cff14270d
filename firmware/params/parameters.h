/* What can be changed on a running board, by name. SI floats at the boundary; the backend's units
 * are made from them outside the tick, and a change takes effect between two ticks. */
#ifndef FIRMWARE_PARAMS_PARAMETERS_H
#define FIRMWARE_PARAMS_PARAMETERS_H

#include <stdint.h>

#include "firmware/params/variant.h"

enum { FEEDBACK_OFF, FEEDBACK_PD, FEEDBACK_COMPUTED_TORQUE, FEEDBACKS };
enum { ARM_SIMULATED, ARM_REAL };
enum { FEEDFORWARD_OFF, FEEDFORWARD_GRAVITY, FEEDFORWARD_FULL };

/*
 * X(name, ONE or JOINT, when, "unit", least, most, default, "help")
 *   JOINT: one for each joint; unit with "|" between revolute and prismatic
 *   when: ANY, or IDLE: only while the outputs are off; | WHOLE: it has no fractions
 *   default: for what the image of the robot does not give
 */
#define PARAMETER_ONE_TABLE(X)                                                                     \
    X(rate_hz, ONE, IDLE | WHOLE, "Hz", 100, 20000, 1000, "ticks of the control loop in a second") \
    X(feedback, ONE, ANY | WHOLE, "", 0, 2, 1, "0 off, 1 PD, 2 computed torque")                   \
    X(feedforward, ONE, ANY | WHOLE, "", 0, 2, 2,                                                  \
      "model along the reference: 0 off, 1 gravity only, 2 inertia, velocity terms, gravity, "     \
      "rotors, friction")                                                                          \
    X(observer_hz, ONE, ANY, "Hz", 1, 2000, 50,                                                    \
      "bandwidth of the observer that estimates speeds; at most a fifth of rate_hz is used")       \
    X(torque_hz, ONE, ANY, "Hz", 0.01f, 200, 5,                                                    \
      "computed torque: bandwidth of the critically damped error")                                 \
    X(payload_mass, ONE, ANY, "kg", 0, 1000, 0, "payload that the model has in the end effector")  \
    X(payload_x, ONE, ANY, "m", -10, 10, 0, "its centre of mass in the last link frame")           \
    X(payload_y, ONE, ANY, "m", -10, 10, 0, "likewise")                                            \
    X(payload_z, ONE, ANY, "m", -10, 10, 0, "likewise")                                            \
    X(sample_every, ONE, ANY | WHOLE, "ticks", 0, 1000000, 1,                                      \
      "a telemetry sample every so many; 0: none")                                                 \
    X(jog_timeout_s, ONE, ANY, "s", 0.01f, 10, 0.5f, "a jog that is not repeated ends after this") \
    X(arm, ONE, IDLE | WHOLE, "", 0, 1, 0,                                                         \
      "which arm is controlled: 0 the one that the board simulates, 1 the real one")               \
    X(sim_mass, ONE, ANY, "", 0.25f, 4, 1, "masses of the simulated arm, relative to the model")   \
    X(sim_friction, ONE, ANY, "", 0, 4, 1, "likewise its friction")                                \
    X(sim_noise, ONE, ANY | WHOLE, "counts", 0, 1000, 0, "largest error of its encoders")          \
    X(stages, ONE, ANY | WHOLE, "", 0, 1, 0, "1: measure what each stage of the tick costs")       \
    X(rate_check, ONE, IDLE | WHOLE, "", 0, 1, 1,                                                  \
      "0: take a rate that the measured cost of a tick does not allow, to see it fail")            \
    X(guard_tracking, ONE, ANY, "rad or m", 1e-4f, 10, 0.25f,                                      \
      "fault where a joint is farther than this from its reference")                               \
    X(guard_position, ONE, ANY, "rad or m", 0, 1, 0.015f,                                          \
      "fault where a joint is farther than this beyond its position limit")                        \
    X(guard_speed, ONE, ANY, "", 1, 10, 1.5f,                                                      \
      "fault where a joint is faster than this times its velocity limit")                          \
    X(guard_limit_s, ONE, ANY, "s", 0.01f, 10, 0.3f,                                               \
      "fault where a torque or a voltage is at its limit for so long")                             \
    X(guard_supply_low, ONE, ANY, "", 0, 1, 0.7f, "lowest motor supply by the nominal one")        \
    X(guard_supply_high, ONE, ANY, "", 1, 3, 1.25f, "highest motor supply by the nominal one")     \
    X(guard_encoder_ticks, ONE, ANY | WHOLE, "ticks", 0, 1000, 5,                                  \
      "ticks in a row that an encoder may fail")                                                   \
    X(guard_overruns, ONE, ANY | WHOLE, "ticks", 0, 1000, 1,                                       \
      "ticks in a row that may come too late")                                                     \
    X(guard_setpoint, ONE, ANY | WHOLE, "ticks", 0, 1000000, 0,                                    \
      "fault where no point of a streamed motion came for so many; 0: only where it runs dry")     \
    X(guard_direction, ONE, ANY | WHOLE, "", 0, 1, 1,                                              \
      "1: fault where a joint accelerates against its torque for about 30 ms")                     \
    X(hold_fraction, ONE, ANY, "", 0, 1, 0.8f,                                                     \
      "part of the torque limits that motors may give for long: with less a stop may hold")        \
    X(brakes, ONE, ANY | WHOLE, "", 0, 1, 1, "1: brakes hold the arm while the outputs are off")   \
    X(limits_scale, ONE, IDLE, "", 0.01f, 1, 1,                                                    \
      "part of torque and velocity limits that is used: well below 1 for commissioning")           \
    X(home_speed, ONE, ANY, "", 0.01f, 0.5f, 0.1f,                                                 \
      "homing: speed by the velocity limit; the last touch is at a quarter of it")                 \
    X(home_torque, ONE, ANY, "", 0.01f, 1, 0.1f,                                                   \
      "homing: torque by its limit that may press beyond what the model says the arm needs")       \
    X(sim_shift, ONE, IDLE | WHOLE, "counts", -1e6f, 1e6f, 0,                                      \
      "counts that the encoders of the simulated arm are off by, until homing finds it out")       \
    LAB_X(                                                                                         \
        X, sim_defect, ONE, ANY | WHOLE, "", 0, 13, 0,                                             \
        "what is wrong with the simulated arm: 0 nothing, 1 motor reversed, 2 encoder reversed, "  \
        "3 encoder lost, 4 parity, 5 joint jammed, 6 supply low, 7 supply high, 8 e-stop, "        \
        "9 ticks late, 10 not a number, 11 encoder scale, 12 no inertia, 13 weak supply")          \
    LAB_X(X, sim_defect_joint, ONE, ANY | WHOLE, "", 0, 31, 0,                                     \
          "number of the joint that has it, from 0")

#define PARAMETER_JOINT_TABLE(X)                                                                   \
    X(kp, JOINT, ANY, "N m/rad|N/m", 0, 1e9f, 0, "PD: feedback of position")                       \
    X(kd, JOINT, ANY, "N m s/rad|N s/m", 0, 1e9f, 0, "PD: feedback of velocity")                   \
    X(encoder_offset, JOINT, IDLE, "rad|m", -100, 100, 0,                                          \
      "position where the encoder reads zero: homing by a known position sets it")                 \
    X(encoder_sign, JOINT, IDLE | WHOLE, "", -1, 1, 1, "1 or -1: which way the encoder counts")    \
    X(encoder_ratio, JOINT, IDLE, "", 1e-3f, 1e6f, 1,                                              \
      "turns of the encoder by those of the joint")                                                \
    X(position_lower, JOINT, IDLE, "rad|m", -100, 100, 0, "soft limit of the position")            \
    X(position_upper, JOINT, IDLE, "rad|m", -100, 100, 0,                                          \
      "likewise; limits that are equal or exchanged are none")                                     \
    X(home, JOINT, IDLE | WHOLE, "", -2, 2, 0,                                                     \
      "how the joint finds its position: 0 absolute encoder, 1 its upper stop, -1 its lower "      \
      "stop, 2 a switch above, -2 a switch below")                                                 \
    X(home_position, JOINT, IDLE, "rad|m", -100, 100, 0, "where that stop or switch is")

#define PARAMETER_TABLE(X)                                                                         \
    PARAMETER_ONE_TABLE(X)                                                                         \
    PARAMETER_JOINT_TABLE(X)

typedef enum {
#define X(name, shape, when, unit, least, most, fallback, help) PARAMETER_##name,
    PARAMETER_TABLE(X)
#undef X
        PARAMETERS,
    PARAMETERS_ONE = PARAMETER_kp /* so many are not per joint */
} parameter_t;

/* How a joint finds its position; a sign is the direction in which to look. */
enum { HOME_ABSOLUTE, HOME_STOP, HOME_SWITCH };

typedef struct {
    const char *name, *unit, *help;
    float least, most, fallback;
    uint8_t per_joint, idle_only, whole;
} parameter_info_t;

extern const parameter_info_t parameter_table[PARAMETERS];

#endif
