/* The table of tools/motion/faults_rows.h. */
#include "tools/motion/faults_rows.h"

#include <string.h>

#include "firmware/app/errors.h"
#include "firmware/lab/defects.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/faults.h"

/* rad or m; distance from the pose to the position limits that the arm falls through */
#define NEAR   0.05
#define WAY    0.5f /* rad or m; way of the motions */
#define LONG_S 5.0f /* s that a motion takes during which the host is lost */

#define LIKE_REST "not findable: an arm at rest reads the same; found in motion"
#define TOLD      "no fault: `appell status` tells the load"
#define TOO_STIFF "the loop would be unstable in every pose"
#define HELD      "no fault: it is held on"
#define JOG_ENDS  "no fault: the jog ends by itself"
#define BY_CHIP   "by the chip"
#define ASKED     "no fault: it was asked for"

const faults_row_t faults_row[] = {
    {.how = "ticks come late",
     .fault = APP_FAULT_OVERRUN,
     .board = true,
     .defect = DEFECT_LATE,
     .stop = APP_STOP_DAMP},
    {.how = "an encoder is lost",
     .fault = APP_FAULT_ENCODER,
     .board = true,
     .defect = DEFECT_LOST,
     .stop = APP_STOP_DAMP},
    {.how = "an encoder has wrong parity",
     .fault = APP_FAULT_PARITY,
     .board = true,
     .defect = DEFECT_PARITY,
     .stop = APP_STOP_DAMP},
    {.how = "emergency stop",
     .falls = true,
     .fault = APP_FAULT_ESTOP,
     .board = true,
     .defect = DEFECT_ESTOP,
     .stop = APP_STOP_RELEASE},
    {.how = "a torque is NaN",
     .fault = APP_FAULT_NUMBER,
     .board = true,
     .defect = DEFECT_NUMBER,
     .floats = true,
     .stop = APP_STOP_DAMP},
    {.how = "the supply voltage drops",
     .falls = true,
     .fault = APP_FAULT_SUPPLY_LOW,
     .board = true,
     .defect = DEFECT_LOW,
     .stop = APP_STOP_RELEASE},
    {.how = "the supply voltage rises",
     .fault = APP_FAULT_SUPPLY_HIGH,
     .board = true,
     .defect = DEFECT_HIGH,
     .stop = APP_STOP_DAMP},
    {.how = "motor wires swapped",
     .fault = APP_FAULT_DIRECTION,
     .board = true,
     .defect = DEFECT_MOTOR,
     .stop = APP_STOP_DAMP},
    {.how = "a joint jams; tight tracking guard",
     .fault = APP_FAULT_TRACKING,
     .board = true,
     .defect = DEFECT_JAMMED,
     .situation = FAULTS_QUINTIC,
     .stop = APP_STOP_HOLD,
     .set = {{"guard_tracking", 0.02f}}},
    {.how = "a joint jams; loose tracking guard",
     .fault = APP_FAULT_TORQUE,
     .board = true,
     .defect = DEFECT_JAMMED,
     .situation = FAULTS_QUINTIC,
     .stop = APP_STOP_LOWER,
     .set = {{"guard_tracking", 10}}},
    {.how = "the arm falls without torque",
     .fault = APP_FAULT_VELOCITY,
     .board = true,
     .defect = DEFECT_LIMP,
     .stop = APP_STOP_DAMP,
     .set = {{"guard_tracking", 10},
             {"guard_speed", 1},
             {"guard_direction", 0},
             {"guard_limit_s", 10}}},
    {.how = "the inertia matrix is singular",
     .fault = APP_FAULT_MODEL,
     .board = true,
     .defect = DEFECT_INERTIA,
     .stop = APP_STOP_DAMP},
    {.how = "the arm falls past a limit",
     .fault = APP_FAULT_POSITION,
     .board = true,
     .defect = DEFECT_LIMP,
     .tight = true,
     .stop = APP_STOP_HOLD,
     .set = {{"guard_tracking", 10},
             {"guard_speed", 10},
             {"guard_direction", 0},
             {"guard_limit_s", 10}}},
    {.how = "the supply is too weak",
     .fault = APP_FAULT_VOLTAGE,
     .board = true,
     .defect = DEFECT_WEAK,
     .stop = APP_STOP_DAMP, /* after lower, for which the supply is too weak */
     .varies = true,
     .set = {{"guard_tracking", 10}, {"guard_supply_low", 0.01f}}},
    {.how = "points stop coming",
     .fault = APP_FAULT_SETPOINT,
     .board = true,
     .situation = FAULTS_DRY,
     .stop = APP_STOP_HOLD},
    {.how = "a switch is not found",
     .fault = APP_FAULT_HOMING,
     .board = true,
     .situation = FAULTS_HOME,
     .stop = APP_STOP_HOLD,
     .set = {{"home_speed", 0.5f}}},

    /* Encoders that lie. */
    {.how = "encoder stuck, at rest", .why = LIKE_REST, .defect = DEFECT_STUCK, .lies = true},
    {.how = "encoder stuck, in motion",
     .fault = APP_FAULT_TORQUE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_STUCK,
     .situation = FAULTS_QUINTIC,
     .lies = true},
    {.how = "encoder jumps by 1/16 turn, at rest",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_JUMP,
     .lies = true},
    {.how = "encoder jumps by 1/16 turn, in motion",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_JUMP,
     .situation = FAULTS_QUINTIC,
     .lies = true},
    {.how = "encoder noise of 15 counts, at rest",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_NOISE_15,
     .lies = true},
    {.how = "encoder noise of 15 counts, in motion",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_NOISE_15,
     .situation = FAULTS_QUINTIC,
     .lies = true},
    {.how = "encoder noise of 30 counts, at rest",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_NOISE_30,
     .lies = true},
    {.how = "encoder noise of 30 counts, in motion",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_NOISE_30,
     .situation = FAULTS_QUINTIC,
     .lies = true},
    {.how = "encoder noise of 60 counts, at rest",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_NOISE_60,
     .lies = true},
    {.how = "encoder noise of 60 counts, in motion",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_NOISE_60,
     .situation = FAULTS_QUINTIC,
     .lies = true},
    {.how = "low six bits stuck, at rest",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_BITS,
     .lies = true},
    {.how = "low six bits stuck, in motion",
     .fault = APP_FAULT_ENCODER_NOISE,
     .stop = APP_STOP_DAMP,
     .defect = DEFECT_BITS,
     .situation = FAULTS_QUINTIC,
     .lies = true},

    /* Gains, obstacles, loads. */
    {.how = "kp times 1000, in motion",
     .fault = APP_FAULT_UNSTABLE,
     .stop = APP_STOP_DAMP,
     .kp = 1000,
     .situation = FAULTS_QUINTIC},
    {.how = "kd times 100, in motion",
     .answer = APP_E_GAIN,
     .why = TOO_STIFF,
     .kd = 100,
     .situation = FAULTS_QUINTIC},
    {.how = "a joint jams; default guards",
     .fault = APP_FAULT_TORQUE,
     .stop = APP_STOP_LOWER,
     .defect = DEFECT_JAMMED,
     .situation = FAULTS_QUINTIC},
    {.how = "3 kg not in the model, at rest",
     .fault = APP_FAULT_DIRECTION,
     .stop = APP_STOP_DAMP,
     .arm_kg = 3},
    {.how = "3 kg not in the model, in motion",
     .noticed = true,
     .why = TOLD,
     .arm_kg = 3,
     .situation = FAULTS_QUINTIC},
    {.how = "10 kg not in the model, at rest",
     .fault = APP_FAULT_DIRECTION,
     .stop = APP_STOP_DAMP,
     .arm_kg = 10},
    {.how = "10 kg not in the model, in motion",
     .fault = APP_FAULT_DIRECTION,
     .stop = APP_STOP_DAMP,
     .arm_kg = 10,
     .situation = FAULTS_QUINTIC},
    {.how = "3 kg in the model alone, at rest", .noticed = true, .why = TOLD, .model_kg = 3},
    {.how = "10 kg in the model alone, at rest",
     .fault = APP_FAULT_DIRECTION,
     .stop = APP_STOP_DAMP,
     .model_kg = 10},

    /* The host is lost. */
    {.how = "host lost while the arm is held", .why = HELD, .lost = true},
    {.how = "host lost during a motion",
     .fault = APP_FAULT_HOST,
     .stop = APP_STOP_HOLD,
     .lost = true,
     .situation = FAULTS_QUINTIC},
    {.how = "host lost while points are streamed",
     .fault = APP_FAULT_HOST,
     .stop = APP_STOP_HOLD,
     .lost = true,
     .situation = FAULTS_POINTS},
    {.how = "host lost while it jogs", .why = JOG_ENDS, .lost = true, .situation = FAULTS_JOG},
    {.how = "host lost during homing",
     .fault = APP_FAULT_HOST,
     .stop = APP_STOP_HOLD,
     .lost = true,
     .situation = FAULTS_HOME},

    /* Electronics. */
    {.how = "the supply sensor is dead",
     .fault = APP_FAULT_SUPPLY_SENSOR,
     .stop = APP_STOP_HOLD,
     .defect = DEFECT_SENSOR},
    {.how = "a motor driver reports a fault",
     .fault = APP_FAULT_DRIVER,
     .stop = APP_STOP_RELEASE,
     .defect = DEFECT_DRIVER,
     .falls = true},
    {.how = "the tick has stopped",
     .fault = APP_FAULT_TICK_STOPPED,
     .stop = APP_STOP_RELEASE,
     .latch = APP_FAULT_TICK_STOPPED,
     .when = "45 ms, by a timer",
     .falls = true},
    {.how = "the clock has failed",
     .fault = APP_FAULT_CLOCK,
     .stop = APP_STOP_RELEASE,
     .latch = APP_FAULT_CLOCK,
     .when = BY_CHIP,
     .falls = true},
    {.how = "the supply of the chip drops",
     .fault = APP_FAULT_POWER,
     .stop = APP_STOP_RELEASE,
     .latch = APP_FAULT_POWER,
     .when = BY_CHIP,
     .falls = true},
    {.how = "somebody releases the arm",
     .why = ASKED,
     .stop = APP_STOP_RELEASE,
     .released = true,
     .falls = true},
};
const uint32_t faults_rows = sizeof faults_row / sizeof faults_row[0];

uint32_t faults_settings(const faults_row_t *row, const bounds_t *w,
                         faults_setting_t out[FAULTS_SETTINGS]) {
    const double *limit = w->robot->model.joint[w->joint].drive.limits.position;
    const double at = w->pose[w->joint];
    const bool lower = at - limit[0] < limit[1] - at;
    uint32_t count = 0;
    for (int k = 0; k < 4 && row->set[k].name; k++)
        out[count++] = row->set[k];
    out[count++] = (faults_setting_t){"sim_defect_joint", (float)w->joint, false};
    if (row->tight) {
        out[count++] = (faults_setting_t){"position_lower", (float)(at - NEAR), true};
        out[count++] = (faults_setting_t){"position_upper", (float)(at + NEAR), true};
    }
    if (row->situation == FAULTS_HOME) { /* beyond the nearer stop, where it is never found */
        out[count++] = (faults_setting_t){"home", lower ? -HOME_SWITCH : HOME_SWITCH, true};
        out[count++] =
            (faults_setting_t){"home_position", (float)(lower ? limit[0] - 1 : limit[1] + 1), true};
    }
    return count;
}

static float way(const bounds_t *w) {
    const double *limit = w->robot->model.joint[w->joint].drive.limits.position;
    return w->pose[w->joint] < (limit[0] + limit[1]) / 2 ? WAY : -WAY;
}

motion_t faults_motion(const faults_row_t *row, const bounds_t *w) {
    static const uint32_t kind[] = {
        [FAULTS_REST] = MOTION_HOLD,     [FAULTS_QUINTIC] = MOTION_QUINTIC,
        [FAULTS_POINTS] = MOTION_POINTS, [FAULTS_DRY] = MOTION_POINTS,
        [FAULTS_JOG] = MOTION_JOG,       [FAULTS_HOME] = MOTION_HOME};
    motion_t motion = {.kind = kind[row->situation],
                       .duration_s = row->situation == FAULTS_DRY      ? 0.02f
                                     : row->situation == FAULTS_POINTS ? 0.1f
                                     : row->lost                       ? LONG_S
                                                                       : 0};
    for (uint32_t i = 0; i < w->robot->n && motion.kind == MOTION_QUINTIC; i++)
        motion.value[i] = (float)w->pose[i];
    if (motion.kind == MOTION_QUINTIC)
        motion.value[w->joint] += way(w);
    if (motion.kind == MOTION_JOG)
        motion.value[w->joint] = way(w) / 4; /* per second */
    if (motion.kind == MOTION_HOME)
        motion.value[w->joint] = 1;
    return motion;
}

void faults_point(const faults_row_t *row, const bounds_t *w, uint32_t k, float *point) {
    for (uint32_t i = 0; i < w->robot->n; i++)
        point[i] = (float)w->pose[i];
    if (row->situation == FAULTS_POINTS)
        point[w->joint] += way(w) * (float)k / (4 * FAULTS_POINTS_SENT);
}
