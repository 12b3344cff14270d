/* The parts in which a robot may not fit the hardware. Board and tool share the table. */
#ifndef FIRMWARE_APP_FIT_TABLE_H
#define FIRMWARE_APP_FIT_TABLE_H

/* X(bit, NAME, "cause", "cure"); first the parts that concern joints, in FIT_JOINT_TABLE. Cause and
 * cure are sentences without capital and full stop. */
#define FIT_JOINT_TABLE(X)                                                                         \
    X(0, MOTOR, "this board has no motor output for the joint",                                    \
      "use a board with more outputs, or a robot with fewer joints")                               \
    X(1, ENCODER, "this board has no encoder input for the joint",                                 \
      "use a board with more inputs, or a robot with fewer joints")                                \
    X(2, COUNTS,                                                                                   \
      "`encoder.counts` of the robot file is not the number of counts per turn of the encoder",    \
      "correct `encoder.counts`: an AS5047P has 16384")                                            \
    X(3, TURNS,                                                                                    \
      "the position is not known at power-up: within the joint's limits the encoder makes more "   \
      "than one turn, or it counts from where it was switched on",                                 \
      "give the joint a `homing` entry, or limits within 98 % of a turn of an absolute encoder")   \
    X(4, GAINS, "nothing holds the joint: `kp` or `kd` is 0",                                      \
      "give the joint `gains` in the robot file, or set kp and kd")                                \
    X(5, VELOCITY, "the joint has no velocity limit", "give it `limits.velocity`")                 \
    X(6, TORQUE, "the joint has no torque limit", "give it `limits.torque`")                       \
    X(7, SPEED, "between two ticks the encoder can turn too far for its turns to be counted",      \
      "raise rate_hz, or lower `limits.velocity`")                                                 \
    X(8, SWITCH, "the joint homes at a switch, but this board has no input for one",               \
      "home it at a stop, or use a board with inputs for switches")

#define FIT_ARM_TABLE(X)                                                                           \
    X(9, FEEDBACK, "the feedback is off, so nothing holds the arm", "set feedback to 1 or 2")      \
    X(10, BRAKES, "nobody has said whether the arm has brakes",                                    \
      "write `brakes: true` or `brakes: false` into the robot file, or set brakes")                \
    X(11, BRAKE_OUTPUT, "the arm has brakes, but this board has no output that opens them",        \
      "use a board with a brake output; set brakes to 0 if nothing on this arm needs one")         \
    X(12, ESTOP_INPUT, "this board has no input for an emergency stop",                            \
      "use a board that has one")                                                                  \
    X(13, WATCHDOG, "the watchdog did not start",                                                  \
      "reset the board; if that does not help, the chip is defective")                             \
    X(14, CLOCK, "the board does not run from its planned oscillator",                             \
      "the first lines on the console say why; check the crystal or its supply, then reset")       \
    X(15, ESTOP_OPEN, "the emergency stop is pressed, or not wired",                               \
      "release it; its contact connects the e-stop pins with ground")                              \
    X(16, ESTOP_UNSEEN, "the emergency stop was not tried since the board started",                \
      "press it once and release it; if the fault e-stop comes, clear it with `appell clear`")

#define FIT_TABLE(X)                                                                               \
    FIT_JOINT_TABLE(X)                                                                             \
    FIT_ARM_TABLE(X)

enum {
#define X(bit, name, cause, cure) FIT_##name = (bit),
    FIT_TABLE(X)
#undef X
        FITS,
    FITS_JOINT = FIT_FEEDBACK
};

#endif
