/* State and set-up of the effort guard (firmware/safety/effort.c). */
#ifndef FIRMWARE_SAFETY_EFFORT_H
#define FIRMWARE_SAFETY_EFFORT_H

#include "firmware/control/control.h"
#include "firmware/control/setup.h"

typedef struct {
    uint32_t limited; /* ticks with a joint at a limit of torque or voltage */
    uint32_t pushes;  /* bit i: the last strong torque of joint i was positive */
    /* half ticks: each tick of the joint at a limit adds two, each other tick takes one away */
    uint16_t at_limit[DYN_MAX_JOINTS];
    uint16_t since_leak;               /* ticks since one was taken from every count of reversals */
    uint8_t reversals[DYN_MAX_JOINTS]; /* reversals of strong torque, less those that leaked */
    uint8_t strained;                  /* at_limit of a joint is not zero */
} effort_t;

/* Makes the constants; called in the background. */
void effort_setup(const setup_t *from, control_t *control);
/* Forgets limits and reversals, before the loop is closed or begins to stop the arm. */
void effort_start(effort_t *effort);

#endif
