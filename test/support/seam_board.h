/*
 * The whole firmware of the nucleo-f446re, from main to the registers, on a model of its chip
 * (test/support/hal/chip.h), with an arm of MuJoCo at the pins (test/support/hal/rig.h) and the
 * client of the tool at the line. Only what a user has is used: requests, wires, time.
 *
 * The board is started once; every scenario runs in a copy of the process.
 */
#ifndef TEST_SUPPORT_SEAM_BOARD_H
#define TEST_SUPPORT_SEAM_BOARD_H

#include "firmware/app/app.h"
#include "firmware/tick.h"
#include "test/support/hal/chip.h"
#include "test/support/hal/rig.h"
#include "test/support/harness.h"
#include "test/support/robot_help.h"
#include "tools/link/client.h"

enum { SEAM_JOINTS = 6, SEAM_COUNTS = 16384 };

extern robot_t *robot; /* the PUMA 560 with an encoder of the board at every joint */
extern client_t *client;

/* Runs a scenario in a copy of this process. The board has started, the robot is loaded, the real arm
 * is chosen, and the outputs are off. */
void in_copy(void (*scenario)(void));
/* The same with a board that has no power yet. The scenario calls seam_power_up, then seam_connect,
 * which loads the robot. These cases come before the first in_copy. */
void in_new_copy(void (*scenario)(void));
void seam_power_up(void);
void seam_connect(void);
void press_once(void); /* a person tries the emergency stop */

void send_robot(void);
int set(const char *name, double value); /* a parameter: "kp", "kp[2]"; -1: refused */
void must_set(const char *name, double value);
device_status_t status_now(void);
void expect_state(uint32_t state, uint32_t fault);
/* Waits until the board has a fault, at most this long, and compares it. */
void expect_stopped(uint32_t fault, uint64_t within);
int hold(void); /* 0, or -1: refused */
void must_hold(void);
/* Lets time pass while the client renews its lease. */
void live(unsigned ms);
void fail_if_wrong(void); /* the program did what the manual forbids */
double random_part(void); /* 0 to 1 */
void random_from(uint64_t seed);

#endif
