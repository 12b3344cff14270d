/*
 * Runs the application of the firmware as a source of voltages or torques (tools/sim/firmware.h).
 */
#include "tools/sim/firmware.h"

#include <math.h>
#include <stdlib.h>

#include "firmware/app/app.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"

struct firmware {
    app_t app;
    motion_t motion;
    bool begun;
    /* true: a duty cycle scales the supply voltage; false: it scales the torque limit */
    bool motors;
    int refused; /* why the motion did not start: an app_error_t */
};

/* Returns the encoder counts at a position, including whole turns. */
static int32_t counts_at(const app_t *app, uint32_t i, double position) {
    const double turn = app->joint[i].prismatic ? 1 : 2 * acos(-1);
    const double per_unit = (double)app->joint[i].sign * (double)app->joint[i].counts *
                            (double)app->joint[i].ratio / turn;
    return (int32_t)lround((position - (double)app->joint[i].offset) * per_unit);
}

/* Marks the arm as homed where it stands and starts the motion. Two ticks run first, because the
 * application knows the speed of the arm only after it has read its encoders twice. */
static void begin(firmware_t *f, const app_inputs_t *in, app_outputs_t *out) {
    for (uint32_t i = 0; i < f->app.n; i++)
        f->app.loop.counts[i] = in->counts[i];
    f->app.loop.unhomed = 0;
    for (int k = 0; k < 2; k++)
        app_tick(&f->app, in, out);
    f->refused = app_motion_start(&f->app, &f->motion);
    f->begun = true;
}

static int value(void *self, double t, const double *position, const double *speed, double *out) {
    firmware_t *f = self;
    app_inputs_t in = {.supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    app_outputs_t duty = {0};
    (void)t, (void)speed;
    for (uint32_t i = 0; i < f->app.n; i++) {
        in.counts[i] = counts_at(&f->app, i, position[i]);
        in.counts_valid |= (uint32_t)1 << i;
    }
    if (!f->begun)
        begin(f, &in, &duty);
    app_tick(&f->app, &in, &duty);
    for (uint32_t i = 0; i < f->app.n; i++) {
        const double whole = (double)(f->motors ? f->app.volts : f->app.joint[i].torque);
        out[i] = duty.enable ? whole * duty.duty_q15[i] / 32767
                             : 0; /* outputs off; unlike on a board, 0 V still brakes a motor */
    }
    return SIM_OK;
}

static int load(firmware_t *f, const robot_t *robot) {
    messages_t messages = MESSAGES_INIT;
    size_t size = 0;
    uint8_t *image = robot_image_make(robot, &size, &messages);
    diag_messages(&messages, true);
    messages_free(&messages);
    if (!image)
        return EXIT_BAD;
    app_init(&f->app);
    int status = app_load(&f->app, image, size);
    free(image);
    if (status == APP_OK)
        /* the arm of this simulation takes the place of the real arm */
        status = app_set(&f->app, PARAMETER_arm, 0, ARM_REAL);
    if (status == APP_OK)
        status = app_set(&f->app, PARAMETER_sample_every, 0, 0);
    if (status != APP_OK)
        return diag_error(robot->file, app_cure(status), "the firmware refuses this robot: %s",
                          app_cause(status));
    return EXIT_YES;
}

static int same_kind(firmware_t *f, const robot_t *robot) {
    f->motors = f->app.joint[0].motor;
    for (uint32_t i = 1; i < f->app.n; i++)
        if ((bool)f->app.joint[i].motor != f->motors)
            return diag_error(robot->file, "give all joints a motor, or none of them",
                              "joint %s %s motor, unlike the first joint", robot->joint[i].name,
                              f->motors ? "has no" : "has a");
    for (uint32_t i = 0; i < f->app.n && !f->motors; i++)
        if (!(f->app.joint[i].torque > 0))
            return diag_error(robot->file, "give limits: {torque: ...}, or motors",
                              "joint %s has neither a motor nor a torque limit, so no torque "
                              "corresponds to its duty cycle",
                              robot->joint[i].name);
    return EXIT_YES;
}

firmware_t *firmware_make(const robot_t *robot, const double *to, double duration_s,
                          sim_input_t *input, double *period_s) {
    firmware_t *f = calloc(1, sizeof *f);
    if (!f) {
        diag_no_memory();
        return NULL;
    }
    if (load(f, robot) != EXIT_YES || same_kind(f, robot) != EXIT_YES) {
        free(f);
        return NULL;
    }
    f->motion.kind = MOTION_CYCLOID;
    f->motion.duration_s = (float)duration_s;
    for (uint32_t i = 0; i < f->app.n; i++)
        f->motion.value[i] = (float)to[i];
    *period_s = 1 / (double)f->app.parameter[PARAMETER_rate_hz];
    *input =
        (sim_input_t){.quantity = f->motors ? SIM_VOLTAGE : SIM_TORQUE, .self = f, .value = value};
    return f;
}

void firmware_free(firmware_t *firmware) {
    free(firmware);
}

const char *firmware_fault(const firmware_t *firmware, const char **cure) {
    if (firmware->refused != APP_OK) {
        *cure = app_cure(firmware->refused);
        return app_cause(firmware->refused);
    }
    *cure = app_fault_cure(firmware->app.safety.fault);
    return firmware->app.safety.state == APP_STATE_FAULT
               ? app_fault_cause(firmware->app.safety.fault)
               : NULL;
}
