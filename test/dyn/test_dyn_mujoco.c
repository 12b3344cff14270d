/*
 * The inverse dynamics of MuJoCo, on the arm that test/support/mujoco_arm.c makes, against our kernels
 * in double: the arm behind the registers (test/firmware/test_seam.c) is the arm of the robot file.
 */
#include "test/support/harness.h"

#include <math.h>

#include "test/support/mujoco_arm.h"
#include "test/support/robot_help.h"

enum { STATES = 1000 };

/* Both compute in double, along chains of at most 6 joints: some hundred roundings of 1e-16, relative
 * to the largest torque. 1e-11 leaves room for their sum; a wrong sign or frame differs by 1. */
#define TOLERANCE 1e-11

static void agree(const char *name) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(name, NULL, &messages);
    const uint32_t n = robot->model.n;
    mujoco_arm_t arm;
    mujoco_arm_make(&arm, &robot->model, 1e-4, 0);
    /* compares rigid bodies and rotors: friction is not in our kernel */
    arm.model->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_PASSIVE;
    uint64_t random = 42;
    double worst = 0;
    for (unsigned k = 0; k < STATES; k++) {
        double tau[DYN_MAX_JOINTS], largest = 0, error = 0;
        for (uint32_t i = 0; i < n; i++) {
            arm.data->qpos[i] = 3 * help_random(&random);
            arm.data->qvel[i] = 5 * help_random(&random);
            arm.data->qacc[i] = 20 * help_random(&random);
        }
        mj_inverse(arm.model, arm.data);
        help_torque(&robot->model, arm.data->qpos, arm.data->qvel, arm.data->qacc, true, tau);
        for (uint32_t i = 0; i < n; i++) {
            largest = fmax(largest, fabs(tau[i]));
            error = fmax(error, fabs(tau[i] - arm.data->qfrc_inverse[i]));
        }
        worst = fmax(worst, error / largest);
    }
    harness_note_number("largest relative difference, 1e-18:", (int64_t)(worst * 1e18));
    TEST_ASSERT_TRUE(worst < TOLERANCE);
    mujoco_arm_free(&arm);
    help_free(robot);
    messages_free(&messages);
}

static void test_puma(void) {
    agree("puma560");
}

static void test_stanford_with_its_prismatic_joint(void) {
    agree("stanford");
}

TEST_LIST_BEGIN
TEST(test_puma)
TEST(test_stanford_with_its_prismatic_joint)
TEST_LIST_END
