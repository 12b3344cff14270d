/*
 * The application: everything that the board does with an arm, in the caller's memory, without
 * hardware access. Firmware and host compile the same source. On the board the interrupt calls
 * app_tick and nothing else; the background calls everything else.
 *
 * The background never writes data that the tick reads, except single words of 32 bits. Requests
 * are flags that the tick takes up at its beginning. New constants are made in the spare set and
 * taken over between two ticks (firmware/app/handover.h). A reader that needs several values of the
 * same tick reads them again if a tick came meanwhile.
 */
#ifndef FIRMWARE_APP_APP_H
#define FIRMWARE_APP_APP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/app/errors.h"
#include "firmware/app/stages.h"
#include "firmware/control/clock.h"
#include "firmware/control/control.h"
#include "firmware/control/io.h"
#include "firmware/control/motion.h"
#include "firmware/control/reference.h"
#include "firmware/control/sample.h"
#include "firmware/params/image.h"
#include "firmware/params/parameters.h"
#include "firmware/params/settings.h"
#include "firmware/safety/faults.h"
#include "firmware/safety/lease.h"
#include "firmware/safety/supervisor.h"
#include "firmware/sim_arm/sim_arm.h"

/* Values that a command uses for its own purpose. The parameters return to the values beneath when
 * the command's lease ends or lapses, guards also at a fault. The last rows are for commands that
 * change a value of each joint. */
enum { APP_OVERRIDES = 12 + 2 * DYN_MAX_JOINTS };
typedef struct {
    uint8_t parameter;
    uint8_t joint : 5;
    uint8_t over : 2; /* OVERRIDE_...: why it waits until it can be taken back */
} override_t;
_Static_assert(DYN_MAX_JOINTS <= 32, "the number of a joint has 5 bits");
typedef struct {
    uint32_t count;
    float beneath[APP_OVERRIDES];
    override_t row[APP_OVERRIDES];
} overrides_t;
/* its lease is over, or it is of a guard and there was a fault; the value beneath was also refused
 * while the outputs were on */
enum { OVERRIDE_OVER = 1, OVERRIDE_REFUSED = 3 };

/* Bits of app_t.notice and, shifted, of a sample's state; the bit between is that of the lease
 * there. NOTICE_LOAD: the arm carries another load than the model. */
enum { NOTICE_WEAKER = 1 << 0, NOTICE_OVERRIDDEN = 1 << 1, NOTICE_LOAD = 1 << 3 };

typedef struct app {
    /* Most of these are written by the tick. The background writes the requests, detached, tail,
     * loaded and point_tick, clears stages, prepares motions and sets the errors of the simulated
     * arm. It writes the rest only while the tick is detached or interrupts are locked. */
    supervisor_t safety;
    volatile uint32_t ticks, overruns, lost; /* lost: ticks that did not happen */
    /* ticks in which an input of the model was clamped to its proved range */
    volatile uint32_t unproved;
    volatile uint32_t closing;    /* request: close the loop */
    volatile uint32_t stopping;   /* request: brake the motion */
    volatile uint32_t leaving;    /* request: outputs off at once */
    volatile uint32_t pending;    /* request: use the other control set from the next tick on */
    volatile uint32_t detached;   /* set by tick_detach: the tick only counts */
    volatile uint32_t now;        /* the tick uses control[now] */
    volatile uint32_t head, tail; /* samples since the start: written by the tick; read by the
                                   * background */
    volatile uint32_t dropped;    /* samples lost because the background was late */
    volatile uint32_t loaded;     /* an arm is loaded */
    volatile uint32_t enabled;    /* the outputs are on */
    volatile uint32_t notice;     /* NOTICE_...; written by the background */
    uint32_t rested;              /* tick since which the arm has been held, or was last judged */
    lease_t lease;
    volatile uint32_t point_tick; /* tick in which the newest point of a streamed motion arrived */
    uint32_t since_sample;
    uint32_t cost; /* cost of the last tick, in counter steps */
    uint32_t stamp[STAGES + 1];
    app_stages_t stages;
    control_t control[APP_CONTROLS];
    loop_t loop;
    motion_state_t motion;
    sim_arm_t sim_arm;
    /* Written by the background. */
    uint32_t n, loads, tick_steps;
    /* Tick in which another arm (simulated, real or newly loaded) came under control. Each detached
     * tick adds one, because it reads no encoders. A motion of the real arm cannot start before the
     * second tick after `switched`. */
    volatile uint32_t switched;
    volatile uint32_t seen; /* bit i: encoder i has been read since `switched` was set */
    uint32_t missed;        /* ticks since the last complete reading of the encoders */
    uint32_t where;         /* the joint that the last refusal concerns */
    float volts;            /* nominal supply, V */
    float tool_m;           /* distance of the tool from the origin of the last link, m */
    overrides_t overrides;
    dyn_units_t units;
    settings_t joint[DYN_MAX_JOINTS];
    float parameter[PARAMETERS_ONE];
    union {
        struct {
            sample_t ring[APP_SAMPLES];
            scratch_t scratch; /* of the tick */
        };
        image_t image; /* the parsed image, only while it is loaded */
    } memory;
    const arm_t *arm;   /* the arm prepared last; the simulated arm shares it if there is only
                         * one */
    const flex_t *flex; /* elastic links of that arm, or NULL; the simulated arm is always rigid */
#if APP_ARMS > 0
    arm_t arms[APP_ARMS]; /* the last element is the simulated arm */
    dyn_model_t model;
#if APP_FLEX
    flex_t beams[2]; /* elastic links of the first two arms */
    dyn_flex_model_t flex_model;
#endif
#endif
} app_t;

typedef struct {
    uint32_t state, fault;          /* app_state_id_t, app_fault_t */
    uint32_t fault_joint;           /* APP_NO_JOINT: the fault concerns the whole arm */
    float fault_value, fault_limit; /* SI; app_fault_quantity says which quantity */
    uint32_t stop;                  /* app_stop_t: how the arm is stopped after the fault */
    uint32_t enabled;               /* the outputs are on */
    uint32_t limited;               /* ticks with a joint at a limit of torque or voltage */
    uint32_t unhomed;               /* bit i: joint i is not homed */
    uint32_t joints;
    uint32_t moving; /* a motion runs, or waits for its points or for the next tick */
    uint32_t ticks, overruns;
    uint32_t unproved;           /* ticks in which an input of the model was beyond its proved
                                  * range */
    uint32_t underruns;          /* streamed motions that ran out of points and were stopped */
    uint32_t samples, dropped;   /* samples recorded; samples lost because the background was
                                  * late */
    uint32_t rate_hz;            /* rate at which app_tick must be called, Hz */
    uint32_t loads;              /* arms loaded since the start */
    uint32_t tick_steps;         /* counter steps of a tick, measured when arm, rate or a limit was
                                  * last set */
    float q[DYN_MAX_JOINTS];     /* measured position, rad or m */
    float q_ref[DYN_MAX_JOINTS]; /* reference position, rad or m */
} app_status_t;

/* Must be called before every other function. */
void app_init(app_t *app);

/* Loads the robot of a robot image. Refused unless the outputs are off. The caller may reuse the
 * bytes afterwards, except if APP_ARMS is 0: then the constants in the image are used in place.
 * Returns APP_OK or a negative app_error_t; a result below -100 is -100 plus an image_status_t. */
int app_load(app_t *app, const uint8_t *bytes, size_t size);
/* Lends the memory of motions, APP_LENT floats, until the next motion is requested; app_load does
 * not touch it. Returns NULL if the outputs are on or the next tick will switch them on. A motion
 * that still waits for its points is discarded. */
enum { APP_LENT = APP_POINTS * DYN_MAX_JOINTS };
float *app_lend(app_t *app);
/* Like app_load, for an arm that is already prepared and stays in flash. */
int app_load_arm(app_t *app, const uint8_t *bytes, size_t size, const arm_t *arm);

/* One tick. Only the interrupt calls it. */
void app_tick(app_t *app, const app_inputs_t *in, app_outputs_t *out);

/* Returns whether the outputs are off and will stay off until the next request. */
bool app_rests(const app_t *app);
void app_status(const app_t *app, app_status_t *status);
/* Returns the heat of a joint in percent, as thermal_percent. */
uint32_t app_heat(const app_t *app, uint32_t joint);
/* Returns the joint that the last refusal concerns; UINT32_MAX: none. */
uint32_t app_where(const app_t *app);

/*
 * Starts a motion if the arm is idle or the last motion has ended; a JOG also replaces a JOG. If
 * the arm is idle, the loop is closed at the measured position. POINTS starts when half of the
 * buffer is full or the last point has arrived. Its first point must be at the position of the arm.
 * The application stores the first and the last point three times, so that the curve begins and
 * ends in them, at rest. If the points run out, the motion brakes and an underrun is counted.
 */
int app_motion_start(app_t *app, const motion_t *motion);
/* Takes all of the control points, or none if one of them is refused. */
int app_points_push(app_t *app, const float q[], uint32_t points);
static inline int app_point_push(app_t *app, const float q[]) {
    return app_points_push(app, q, 1);
}
int app_points_end(app_t *app);
uint32_t app_point_credits(const app_t *app); /* points that can be pushed now */
/* Brings the motion to rest, then switches the outputs off, or holds an arm without brakes. */
int app_stop(app_t *app);
/* Switches the outputs off at once. */
int app_off(app_t *app);
/* Clears a fault; no output changes. If the loop still holds or lowers the arm, it then holds it
 * (state running); an arm that is damped stays so (state damping) until a motion of kind HOLD holds
 * it or app_off releases it; otherwise the board becomes idle, or unconfigured if no robot is
 * loaded. Returns APP_E_STATE if
 * there is no fault, or while the arm still brakes; APP_E_LATCHED while the hardware keeps the
 * outputs of the real arm off, because the emergency stop is pressed for example. */
int app_clear(app_t *app);
/* Latches a fault. Call it only at the tick's interrupt priority or above. */
void app_fault(app_t *app, uint32_t fault);
/* Moves the simulated arm to a position, at rest. Only in the state idle. */
int app_place(app_t *app, const float q[]);

/* Sets and gets a parameter by its number in parameter_table. joint is 0 for parameters that are
 * not per joint. */
int app_set(app_t *app, uint32_t parameter, uint32_t joint, float value);
int app_get(const app_t *app, uint32_t parameter, uint32_t joint, float *value);
/* Returns whether a guard is weaker with `value` than with `than`. */
bool app_weaker(uint32_t parameter, float value, float than);

/* Takes the lease for the client with this token or renews it, for so many ms of the board's time,
 * at most LEASE_MS with the real arm; 0 ends it. If it is not renewed in time, it lapses: what moves
 * then stops with the fault `host`, and the overrides end. APP_E_LEASE: another client has it. */
int app_lease(app_t *app, uint32_t token, uint32_t ms);
/* Sets a parameter until the lease of this client ends; a guard until a fault. APP_E_STATE: of a guard,
 * while there is a fault. */
int app_override(app_t *app, uint32_t token, uint32_t parameter, uint32_t joint, float value);
/* Like app_get, but without overrides: the value that is saved. */
int app_lasting(const app_t *app, uint32_t parameter, uint32_t joint, float *value);
/* The turn of the background: ends overrides that are over, and judges the load of an arm at rest. */
void app_poll(app_t *app);
/* Returns the load beside the model, from the present torques; they tell it only while the loop holds
 * the arm at rest. */
residual_t app_residual(const app_t *app);

/* Returns the oldest sample, or NULL. The sample stays valid until it is released. */
const sample_t *app_sample_peek(const app_t *app);
void app_sample_release(app_t *app);
/* Returns a field of a sample as the 32 bits that telemetry sends. */
uint32_t app_sample_word(const sample_t *sample, uint32_t field, uint32_t joint);
/* Returns the exponent of a quantity at a joint: value = raw 2^(exponent - 28). In floats it is
 * always 28. */
int app_exponent(const app_t *app, uint32_t quantity, uint32_t joint);
const char *app_real_name(void);

/* Costs of the stages, in steps of the counter app_clock. */
void app_stages(const app_t *app, app_stages_t *out);
void app_stages_clear(app_t *app);

#endif
