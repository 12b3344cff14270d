/*
 * The machine behind the pins of test/support/hal/chip.h: motors, an arm of MuJoCo
 * (test/support/mujoco_arm.h), its encoders, home switches and brake. It moves with the time of the
 * chip.
 */
#ifndef TEST_SUPPORT_HAL_RIG_H
#define TEST_SUPPORT_HAL_RIG_H

#include "test/support/hal/chip.h"
#include "test/support/mujoco_arm.h"
#include "tools/robot/robot.h"

typedef struct {
    mujoco_arm_t arm;
    const robot_t *robot;
    double supply; /* V */
    bool frozen;   /* the arm does not move: for tests of everything else */
    bool braked;   /* the arm has brakes, with the times of the board's table */
    /* bit i: the home switch of joint i is worked by the arm; closed beyond switch_at, on side
     * switch_side. A switch of `glitches` shows the opposite. */
    uint32_t switches, glitches;
    double switch_at[CHIP_ENCODERS];
    int switch_side[CHIP_ENCODERS];
    uint8_t quadrature[CHIP_ENCODERS]; /* the timer that counts the encoder; 0: an AS5047P */
    /* the largest speed so far, relative to the velocity limit */
    double fastest;
} rig_t;
extern rig_t rig;

enum { RIG_STEP_US = 100 };

/* Puts the arm at q, at rest, and lets it move from now on. The encoders are wired as the robot file
 * says. */
void rig_start(const robot_t *robot, const double *q);
double rig_position(unsigned joint);
double rig_speed(unsigned joint);

#endif
