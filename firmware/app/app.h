/*
 * The application: everything that the board does with an arm, in the caller's memory, without
 * hardware. Firmware and host use the same source; on the board the interrupt calls app_tick and
 * nothing else, the background everything else.
 *
 * The background never writes what the tick reads, except words of 32 bits: requests are flags that
 * the tick takes up at its beginning, new constants are made in the spare half and taken over
 * between two ticks (firmware/app/handover.h). What is read together is read again if a tick came.
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
#include "firmware/safety/supervisor.h"
#include "firmware/sim_arm/sim_arm.h"

typedef struct app {
    /* Of the tick. */
    supervisor_t safety;
    volatile uint32_t ticks, overruns;
    volatile uint32_t unproved;   /* ticks in which the model got a limit for what was asked */
    volatile uint32_t closing;    /* the background asks for a closed loop, */
    volatile uint32_t stopping;   /* for a stop, */
    volatile uint32_t leaving;    /* for the outputs to be off; */
    volatile uint32_t pending;    /* the other control is the one to use from the next tick on; */
    volatile uint32_t away;       /* or it works on what is the tick's (tick_detach): only count */
    volatile uint32_t now;        /* control[now] is used */
    volatile uint32_t head, tail; /* samples ever made and taken */
    volatile uint32_t dropped;    /* samples lost because the background was late */
    volatile uint32_t loaded;     /* there is an arm */
    volatile uint32_t enabled;    /* the outputs are on */
    volatile uint32_t point_tick; /* when the last point of a streamed motion came */
    uint32_t since_sample;
    uint32_t cost; /* of the tick before */
    uint32_t stamp[STAGES + 1];
    app_stages_t stages;
    control_t control[APP_CONTROLS];
    loop_t loop;
    motion_state_t motion;
    sim_arm_t sim_arm;
    scratch_t scratch;
    /* Of the background. */
    uint32_t n, loads, tick_steps;
    /* Tick of the change from the simulated arm to the hardware, or back, or to another arm; later
     * by every tick that was away since, which reads nothing. */
    volatile uint32_t switched;
    uint32_t where; /* joint of the last refusal */
    float volts;    /* nominal supply */
    dyn_units_t units;
    settings_t joint[DYN_MAX_JOINTS];
    float parameter[PARAMETERS_ONE];
    union {
        sample_t ring[APP_SAMPLES];
        image_t image; /* while one is loaded */
    } memory;
    const arm_t *arm;   /* the newest; of the simulated arm too, where there is only one */
    const flex_t *flex; /* its elastic links, or NULL; the simulated arm is always stiff */
#if APP_ARMS > 0
    arm_t arms[APP_ARMS]; /* the last is the simulated one */
    dyn_model_t model;
#if APP_FLEX
    flex_t beams[2]; /* beside the first two arms */
    dyn_flex_model_t flex_model;
#endif
#endif
} app_t;

typedef struct {
    uint32_t state, fault;          /* app_state_id_t, app_fault_t */
    uint32_t fault_joint;           /* APP_NO_JOINT: of the whole arm */
    float fault_value, fault_limit; /* SI, of app_fault_quantity */
    uint32_t stop;                  /* app_stop_t: what goes on after the fault */
    uint32_t enabled;               /* the outputs are on */
    uint32_t limited;               /* ticks with a joint at a limit of torque or voltage */
    uint32_t unhomed;               /* bit i: joint i does not know its position */
    uint32_t joints;
    uint32_t moving; /* a motion is on; else the arm holds its position */
    uint32_t ticks, overruns;
    uint32_t unproved;           /* ticks in which fixed point was asked beyond its proof */
    uint32_t underruns;          /* streamed motions that ran out of points and were stopped */
    uint32_t samples, dropped;   /* handed over; lost because the background was late */
    uint32_t rate_hz;            /* the tick must be called at */
    uint32_t loads;              /* arms loaded since the start */
    uint32_t tick_steps;         /* counter steps of a tick, measured when the arm was loaded */
    float q[DYN_MAX_JOINTS];     /* measured position */
    float q_ref[DYN_MAX_JOINTS]; /* reference position */
} app_status_t;

/* Before everything else. */
void app_init(app_t *app);

/* Takes over the robot of a robot image; not while a motion is on. The bytes need not stay,
 * except with APP_ARMS 0, where the constants in the image are used in place. APP_OK or a negative
 * app_error_t; below -100 minus 100 it is an image_status_t. */
int app_load(app_t *app, const uint8_t *bytes, size_t size);
/* Memory for APP_LENT numbers, that of motions, until the next one is asked for; app_load leaves it
 * alone. NULL where the outputs are on, or will be with the next tick. A motion that waits for its
 * points is forgotten. */
enum { APP_LENT = APP_POINTS * DYN_MAX_JOINTS };
float *app_lend(app_t *app);
/* The same with an arm that is prepared already and stays where it is, in flash. */
int app_load_arm(app_t *app, const uint8_t *bytes, size_t size, const arm_t *arm);

/* One tick: the interrupt calls it, nobody else. */
void app_tick(app_t *app, const app_inputs_t *in, app_outputs_t *out);

/* The outputs are off, and no tick switches them on unless it is asked to. */
bool app_rests(const app_t *app);
void app_status(const app_t *app, app_status_t *status);
/* The joint that the last refusal was about; UINT32_MAX: none. */
uint32_t app_where(const app_t *app);

/*
 * Motions begin idle, or where one has ended; a JOG also replaces a JOG. From idle the loop is
 * closed at the measured position. POINTS starts when half of the buffer is full or the last point
 * has come; the first point, which must be where the arm is, and the last are repeated here, so
 * that the curve begins and ends in them, at rest. Out of points it brakes and counts an underrun.
 */
int app_motion_start(app_t *app, const motion_t *motion);
int app_point_push(app_t *app, const float q[]);
int app_points_end(app_t *app);
uint32_t app_point_credits(const app_t *app); /* points that can be pushed now */
/* Brakes, then switches the outputs off. */
int app_stop(app_t *app);
/* Switches the outputs off at once. */
int app_off(app_t *app);
/* After a fault: idle again. */
int app_clear(app_t *app);
/* Latches a fault, from the tick's priority or above. */
void app_fault(app_t *app, uint32_t fault);
/* Puts the simulated arm somewhere, at rest. Idle only. */
int app_place(app_t *app, const float q[]);

/* Parameters by their number in parameter_table; joint is 0 for those that are not per joint. */
int app_set(app_t *app, uint32_t parameter, uint32_t joint, float value);
int app_get(const app_t *app, uint32_t parameter, uint32_t joint, float *value);

/* The oldest sample, or NULL; it stays until it is released. */
const sample_t *app_sample_peek(const app_t *app);
void app_sample_release(app_t *app);
/* A field of a sample as the 32 bits that travel. */
uint32_t app_sample_word(const sample_t *sample, uint32_t field, uint32_t joint);
/* q31: the exponent of a quantity at a joint; floats: 28, so that raw 2^(exponent - 28) is right.
 */
int app_exponent(const app_t *app, uint32_t quantity, uint32_t joint);
const char *app_real_name(void);

/* What the stages cost; in steps of app_clock. */
void app_stages(const app_t *app, app_stages_t *out);
void app_stages_clear(app_t *app);

#endif
