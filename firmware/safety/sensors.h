/* State and set-up of the sensor guard (firmware/safety/sensors.c). */
#ifndef FIRMWARE_SAFETY_SENSORS_H
#define FIRMWARE_SAFETY_SENSORS_H

#include "firmware/control/control.h"
#include "firmware/control/setup.h"

typedef struct {
    uint16_t counts[DYN_MAX_JOINTS]; /* the last reading; no encoder has more bits in a turn */
    int16_t step[DYN_MAX_JOINTS];    /* the last change of the reading */
#if APP_SENSORS
    real_t push[DYN_MAX_JOINTS];    /* feedback when a turn last saw another reading, over 16 */
    uint16_t place[DYN_MAX_JOINTS]; /* the reading at the joint's last turn */
    uint16_t noise[DYN_MAX_JOINTS]; /* sixteen times the mean change of the step, counts */
    uint8_t coarse[DYN_MAX_JOINTS]; /* turns in a row with coarse steps only */
    uint8_t frozen[DYN_MAX_JOINTS]; /* turns in a row in which the push did not move the joint */
#endif
    uint8_t turn;  /* the joint whose turn it is */
    uint8_t fresh; /* ticks until two steps in a row are known */
} sensors_t;

/* Makes the constants; called in the background. */
void sensors_setup(const setup_t *from, control_t *out);
/* A load that the model does not know, or a weight in the model that is not there. */
typedef struct {
    uint32_t joint;     /* whose torque tells it; APP_NO_JOINT: none */
    float torque, mass; /* N m or N beside the model; at least this mass at the tool, kg */
} residual_t;
/* Judges the torques of an arm that the loop holds at rest; called in the background. */
residual_t sensors_residual(const setup_t *from, const loop_t *loop);
/* Forgets the readings: the loop closes, or the last tick had not all of them in time. */
void sensors_start(sensors_t *sensors);

#endif
