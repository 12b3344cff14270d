/*
 * What can be changed on a running board, by name. SI floats at the boundary; the backend's units
 * are made from them outside the tick, and a change takes effect between two ticks.
 */
#ifndef FIRMWARE_CORE_TUNABLES_H
#define FIRMWARE_CORE_TUNABLES_H

#include <stdint.h>

enum { FEEDBACK_OFF, FEEDBACK_PD, FEEDBACK_COMPUTED_TORQUE };
enum { FEEDFORWARD_OFF, FEEDFORWARD_GRAVITY, FEEDFORWARD_FULL };

/*
 * X(name, ONE or JOINT, when, "unit", least, most, default, "help")
 *   JOINT: one for each joint; unit with "|" between revolute and prismatic
 *   when: ANY, or IDLE: only while the outputs are off
 *   default: for what the image of the robot does not give
 */
#define TUNABLE_TABLE(X)                                                                           \
    X(rate_hz, ONE, IDLE, "Hz", 100, 20000, 1000, "ticks of the control loop in a second")         \
    X(feedback, ONE, ANY, "", 0, 2, 1, "0 off, 1 PD, 2 computed torque")                           \
    X(feedforward, ONE, ANY, "", 0, 2, 2,                                                          \
      "model along the reference: 0 off, 1 gravity only, 2 inertia, velocity terms, gravity, "     \
      "rotors, friction")                                                                          \
    X(observer_hz, ONE, ANY, "Hz", 1, 2000, 50,                                                    \
      "bandwidth of the observer that estimates speeds; at most a fifth of rate_hz is used")       \
    X(torque_hz, ONE, ANY, "Hz", 0.01f, 200, 5,                                                    \
      "computed torque: bandwidth of the critically damped error")                                 \
    X(kp, JOINT, ANY, "N m/rad|N/m", 0, 1e9f, 0, "PD: feedback of position")                       \
    X(kd, JOINT, ANY, "N m s/rad|N s/m", 0, 1e9f, 0, "PD: feedback of velocity")                   \
    X(payload_mass, ONE, ANY, "kg", 0, 1000, 0, "payload that the model has in the hand")          \
    X(payload_x, ONE, ANY, "m", -10, 10, 0, "its centre of mass in the last link frame")           \
    X(payload_y, ONE, ANY, "m", -10, 10, 0, "likewise")                                            \
    X(payload_z, ONE, ANY, "m", -10, 10, 0, "likewise")                                            \
    X(sample_every, ONE, ANY, "ticks", 0, 1000000, 1, "a telemetry sample every so many; 0: none") \
    X(jog_timeout_s, ONE, ANY, "s", 0.01f, 10, 0.5f, "a jog that is not repeated ends after this") \
    X(plant, ONE, IDLE, "", 0, 1, 1,                                                               \
      "1: an arm is simulated beside the controller, 0: the hardware is used")                     \
    X(plant_mass, ONE, ANY, "", 0.25f, 4, 1, "masses of the simulated arm by those of the model")  \
    X(plant_friction, ONE, ANY, "", 0, 4, 1, "likewise its friction")                              \
    X(plant_noise, ONE, ANY, "counts", 0, 1000, 0, "largest error of its encoders")                \
    X(stages, ONE, ANY, "", 0, 1, 0, "1: measure what each stage of the tick costs")               \
    X(rate_check, ONE, IDLE, "", 0, 1, 1,                                                          \
      "0: take a rate that the measured cost of a tick does not allow, to see it fail")

typedef enum {
#define X(name, shape, when, unit, least, most, fallback, help) TUNABLE_##name,
    TUNABLE_TABLE(X)
#undef X
        TUNABLES
} tunable_t;

typedef struct {
    const char *name, *unit, *help;
    float least, most, fallback;
    uint8_t per_joint, idle_only;
} tunable_info_t;

extern const tunable_info_t tunable_table[TUNABLES];

#endif
