/*
 * Constants of control step and simulated arm from the settings of the robot and the tunables. In
 * double and in the background: the tick only ever sees the result.
 */
#include "firmware/app/setup.h"

#include "firmware/control/number.h"

#include <math.h>

#define TURN 6.28318530717958647692

/* What a robot file that is silent gets. */
#define VOLTS_DEFAULT         24.0f /* of a motor without a limit */
#define COUNTS_REVOLUTE       16384.0f
#define COUNTS_PRISMATIC      65536.0f /* per metre */
#define FREE_RANGE            25.0     /* rad or m, either way, of a joint without limits */
#define STOP_MARGIN           0.02     /* rad or m behind the limit is where the joint stops */
#define PLANT_STEP_S          0.001001 /* the longest step of the simulated arm */
#define OBSERVER_PART_OF_RATE 0.2
#define NO_LIMIT              1e30
#define LOOK_S                0.006 /* between two looks at the directions */
#define WRONG_PART            0.02  /* of the velocity limit: off the reference */
/* Torque that tells a direction, by kd and the speed that is a count of the encoder. Over 6 ms that
 * speed is an acceleration, and with the inertia kd / 2w of a loop of 5 Hz a torque of 2.7 kd times
 * it; the inertia that a joint has while the others do not move is up to twice that. */
#define FIRM        5.5
#define SINK_PART   0.1  /* of the velocity limit: how fast a stop lowers */
#define WEAK_SUPPLY 0.05 /* of the nominal one: too little to hold an arm */
#define DAMP_S      0.5

/* Units of a joint: whole numbers are raw, a part is a number of the format. */
typedef struct {
    int p, v, a, tau, volt; /* of the loop */
    int slide;              /* of the kernels: position of a prismatic joint */
} exponents_t;

enum { WHOLE = DYN_Q31_BITS, PART = 0 };

static exponents_t exponents(const app_t *app, uint32_t i) {
    const settings_t *s = &app->joint[i];
    const dyn_q31_exponents_t e = dyn_q31_joint_exponents(
        s->prismatic ? DYN_PRISMATIC : DYN_REVOLUTE, (double)s->volt, &app->units, i);
    return (exponents_t){s->unit, e.velocity, e.acceleration, e.torque, e.voltage, e.position};
}

/* A limit that a float does not have and a number format does. */
static real open_end(double bound, int exponent) {
    real out;
    const double end = real_holds(NO_LIMIT, exponent) ? NO_LIMIT : bound;
    const double most = ldexp(7.9, exponent);
    (void)real_from_model(real_holds(end, exponent) ? end : most, exponent, &out);
    return out;
}

static bool step_make(double h, exponents_t e, step_t *out) {
    bool fits = gain_from_model(h / 2, e.p - e.v, &out->q_qd);
    fits = gain_from_model(h / 2, e.v - e.a, &out->qd_qdd) && fits;
    return gain_from_model(h * h / 8, e.p - e.a, &out->q_qdd) && fits;
}

/* rad or m of a count, with its sign. */
static double count_size(const settings_t *s) {
    return (double)s->sign * (s->prismatic ? 1 : TURN) / ((double)s->counts * (double)s->ratio);
}

static bool sensor_make(const settings_t *s, exponents_t e, control_joint_t *out) {
    const double per_rad = ldexp(1 / TURN, 32);
    bool fits = gain_from_model(count_size(s), e.p - WHOLE, &out->per_count);
    fits = real_from_model((double)s->offset, e.p, &out->offset) && fits;
    out->wrap = (int32_t)s->counts;
    if (s->prismatic)
        return gain_from_model(1, e.slide - e.p, &out->angle) && fits;
    return gain_from_model(per_rad, WHOLE - e.p, &out->angle) && fits;
}

/* Poles of the observer at exp(-w h) both: a part 1 - p^2 of the position, (1 - p)^2 / h of speed.
 */
static double observer_pole(const app_t *app) {
    const double rate = (double)app->tunable[TUNABLE_rate_hz];
    const double hz = fmin((double)app->tunable[TUNABLE_observer_hz], OBSERVER_PART_OF_RATE * rate);
    return exp(-TURN * hz / rate);
}

static bool feedback_make(const app_t *app, const settings_t *s, exponents_t e,
                          control_joint_t *out) {
    const double w = TURN * (double)app->tunable[TUNABLE_torque_hz];
    const double pole = observer_pole(app), rate = (double)app->tunable[TUNABLE_rate_hz];
    const bool torque = app->tunable[TUNABLE_feedback] == FEEDBACK_COMPUTED_TORQUE;
    const int to = torque ? e.a : e.tau;
    bool fits = gain_from_model((1 - pole) * (1 - pole) * rate, e.v - e.p, &out->observe);
    fits = gain_from_model(torque ? w * w : (double)s->kp, to - e.p, &out->kp) && fits;
    fits = gain_from_model(torque ? 2 * w : (double)s->kd, to - e.v, &out->kd) && fits;
    out->tau_max = open_end(ldexp(7.9, e.tau), e.tau);
    const double torque_most = (double)s->torque * (double)app->tunable[TUNABLE_limits_part];
    if (torque_most > 0 && real_holds(torque_most, e.tau))
        (void)real_from_model(torque_most, e.tau, &out->tau_max);
    out->qd_max = open_end(ldexp(7.9, e.v), e.v);
    out->motor = s->motor;
    if (s->motor)
        return gain_from_model(1 / (double)app->volts, PART - e.volt, &out->duty) && fits;
    return gain_from_model(s->torque > 0 ? 1 / (double)s->torque : 0, PART - e.tau, &out->duty) &&
           fits;
}

static bool jog_make(const settings_t *s, double h, exponents_t e, control_joint_t *out) {
    const double v = (double)s->velocity, a = (double)s->acceleration;
    bool fits = gain_from_model(1 / h, e.a - e.v, &out->qdd_qd);
    fits = real_from_model(a * h, e.v, &out->qd_change) && fits;
    fits = gain_from_model(v / (2 * a), e.p - e.v, &out->brake_q) && fits;
    fits = gain_from_model(1 / v, PART - e.v, &out->brake_part) && fits;
    fits = real_from_model((double)s->position[0], e.p, &out->lower) && fits;
    out->bounded = s->bounded;
    return real_from_model((double)s->position[1], e.p, &out->upper) && fits;
}

/* A bound, or the end of the number format where that is nearer. */
static real bound(double value, int exponent) {
    real out;
    const double most = ldexp(7.9, exponent);
    (void)real_from_model(real_holds(value, exponent) ? value : most, exponent, &out);
    return out;
}

/* Limits of the guards. Quantisation moves the estimated speed by up to `step` either way, which
 * the check of the directions must not take for motion. */
static void guard_make(const app_t *app, uint32_t i, exponents_t e, control_joint_t *out) {
    const settings_t *s = &app->joint[i];
    const float *t = app->tunable;
    const double pole = observer_pole(app), v = (double)s->velocity;
    const double fast = (double)t[TUNABLE_guard_speed] * v * (double)t[TUNABLE_limits_part];
    const double step = fabs(count_size(s)) * (1 + (double)t[TUNABLE_plant_noise]) * (1 - pole) *
                        (1 - pole) * (double)t[TUNABLE_rate_hz];
    out->track = bound((double)t[TUNABLE_guard_tracking], e.p);
    out->beyond = bound((double)t[TUNABLE_guard_position], e.p);
    out->fast = bound(fast, e.v);
    out->wrong = bound(fmax(v * WRONG_PART, 2 * step) / 16, e.v);
    /* More than noise, and than three quarters of Coulomb friction, so that friction may be half as
     * much again as in the model, or half of it: a joint that brakes takes what the model says, and
     * that half. */
    const double half = real_to_model(app->arm->joint[i].drive.coulomb, e.tau);
    out->firm = bound(FIRM * (double)s->kd * step + 1.5 * half, e.tau);
    out->sink = bound(v * SINK_PART, e.v);
}

static uint16_t ticks_of(const app_t *app, double seconds) {
    return (uint16_t)fmin(ceil(seconds * (double)app->tunable[TUNABLE_rate_hz]), UINT16_MAX);
}

static void supervisor_make(const app_t *app, control_t *out) {
    const float *t = app->tunable;
    const double nominal = 1000 * (double)app->volts;
    (void)real_from_model((double)t[TUNABLE_hold_part], PART, &out->lasting);
    out->supply_least_mV = (int32_t)(nominal * (double)t[TUNABLE_guard_supply_low]);
    out->supply_most_mV = (int32_t)(nominal * (double)t[TUNABLE_guard_supply_high]);
    out->patience = ticks_of(app, (double)t[TUNABLE_guard_patience_s]);
    out->segment = t[TUNABLE_guard_direction] != 0 ? ticks_of(app, LOOK_S) : 0;
    (void)real_from_model(out->segment > 0 ? 1.0 / out->segment : 0, PART, &out->per_look);
    out->damp = ticks_of(app, DAMP_S);
    out->setpoint = (uint32_t)t[TUNABLE_guard_setpoint];
    out->unread = (uint16_t)t[TUNABLE_guard_encoder_ticks];
    out->late = (uint16_t)t[TUNABLE_guard_overruns];
    out->brakes = t[TUNABLE_brakes] != 0;
    out->damping = 1;
    for (uint32_t i = 0; i < app->n; i++)
        out->damping &= app->joint[i].motor;
}

bool setup_control(const app_t *app, control_t *out) {
    const double h = 1 / (double)app->tunable[TUNABLE_rate_hz], pole = observer_pole(app);
    bool fits = real_from_model(1 - pole * pole, PART, &out->observe);
    out->arm = app->arm;
    out->flex = app->flex;
    out->feedback = (uint32_t)app->tunable[TUNABLE_feedback];
    out->feedforward = (uint32_t)app->tunable[TUNABLE_feedforward];
    out->simulated = app->tunable[TUNABLE_plant] != 0;
    out->sample_every = (uint32_t)app->tunable[TUNABLE_sample_every];
    out->watch = app->tunable[TUNABLE_stages] != 0;
    fits = gain_from_model(0.001 / (double)app->volts, PART - WHOLE, &out->supply_per_mV) && fits;
    supervisor_make(app, out);
    for (uint32_t i = 0; i < app->n; i++) {
        const exponents_t e = exponents(app, i);
        control_joint_t *j = &out->joint[i];
        guard_make(app, i, e, j);
        fits = step_make(h, e, &j->half) && fits;
        fits = sensor_make(&app->joint[i], e, j) && fits;
        fits = feedback_make(app, &app->joint[i], e, j) && fits;
        fits = jog_make(&app->joint[i], h, e, j) && fits;
    }
    return fits;
}

static bool plant_joint_make(const app_t *app, uint32_t i, double h, plant_joint_t *out) {
    const settings_t *s = &app->joint[i];
    const exponents_t e = exponents(app, i);
    bool fits = step_make(h, e, &out->half);
    fits = gain_from_model(2 / count_size(s), WHOLE - e.p, &out->per_q) && fits;
    fits = gain_from_model((double)app->volts / 32767, e.volt - WHOLE, &out->volt) && fits;
    out->qd_max = open_end(ldexp(7.9, e.v), e.v);
    out->high = open_end(ldexp(7.9, e.p), e.p);
    out->low = real_neg(out->high);
    if (s->bounded) {
        fits = real_from_model((double)s->position[0] - STOP_MARGIN, e.p, &out->low) && fits;
        fits = real_from_model((double)s->position[1] + STOP_MARGIN, e.p, &out->high) && fits;
    }
    return fits;
}

void setup_errors(const app_t *app, plant_t *out) {
    (void)real_from_model(0.5 / (double)app->tunable[TUNABLE_plant_mass], PART, &out->mass_part);
    (void)real_from_model((double)app->tunable[TUNABLE_plant_friction], PART, &out->friction);
    out->noise = (uint32_t)app->tunable[TUNABLE_plant_noise];
#ifdef FIRMWARE_LAB
    const uint32_t at = (uint32_t)app->tunable[TUNABLE_plant_defect_joint];
    out->defect = (defect_t){(uint32_t)app->tunable[TUNABLE_plant_defect], at < app->n ? at : 0};
#endif
    out->shift = (int32_t)app->tunable[TUNABLE_plant_shift];
    const float *t = app->tunable;
    const double supply =
        defect_is(&out->defect, DEFECT_LOW)    ? (double)t[TUNABLE_guard_supply_low] / 2
        : defect_is(&out->defect, DEFECT_HIGH) ? (double)t[TUNABLE_guard_supply_high] * 2
        : defect_is(&out->defect, DEFECT_WEAK) ? WEAK_SUPPLY
                                               : 1;
    out->supply_mV = supply != 1 ? (int32_t)(1000 * supply * (double)app->volts) : 0;
    (void)real_from_model(supply, PART, &out->supply);
}

bool setup_plant(const app_t *app, plant_t *out) {
    const double h = 1 / (double)app->tunable[TUNABLE_rate_hz];
    bool fits = true;
    out->steps = (uint32_t)ceil(h / PLANT_STEP_S);
    for (uint32_t i = 0; i < app->n; i++)
        fits = plant_joint_make(app, i, h / out->steps, &out->joint[i]) && fits;
    setup_errors(app, out);
    return fits;
}

/* ----------------------------------------------------------------------------------- settings */

/* The smallest unit in which the joint's whole range, and a way through all of it, is a number;
 * before homing it may be counted from anywhere. */
int8_t setup_unit(const settings_t *s) {
    const double low = (double)s->position[0] - STOP_MARGIN;
    const double high = (double)s->position[1] + STOP_MARGIN;
    double most = s->bounded ? fmax(high - low, fmax(fabs(low), fabs(high))) : FREE_RANGE;
    most *= s->home != 0 ? 2 : 1;
    int exponent;
    (void)frexp(most / 7.9, &exponent);
    return (int8_t)exponent;
}

static void settings_from(const image_joint_t *in, settings_t *out) {
    const image_joint_numbers_t *f = &in->number;
    *out = (settings_t){.prismatic = in->type == DYN_PRISMATIC,
                        .position = {f->position[0], f->position[1]},
                        .velocity = f->velocity[0] > 0 ? f->velocity[0] : IMAGE_VELOCITY_DEFAULT,
                        .acceleration = f->acceleration[0],
                        .torque = f->torque[0],
                        .volt = f->voltage[0],
                        .counts = f->counts[0],
                        .sign = f->sign[0],
                        .offset = f->offset[0],
                        .ratio = f->ratio[0] != 0 ? f->ratio[0] : 1,
                        .kp = f->kp[0],
                        .kd = f->kd[0]};
    out->motor = f->gear[0] != 0 && f->torque_constant[0] != 0 && f->resistance[0] > 0;
    out->bounded = out->position[1] > out->position[0];
    if (!(out->acceleration > 0))
        out->acceleration = out->velocity / IMAGE_RISE_DEFAULT_S;
    if (!(out->counts > 0))
        out->counts = out->prismatic ? COUNTS_PRISMATIC : COUNTS_REVOLUTE;
}

int setup_settings(app_t *app) {
    const image_t *image = &app->memory.image;
    const float rate = image->arm.rate_hz[0];
    if (!(rate >= tunable_table[TUNABLE_rate_hz].least &&
          rate <= tunable_table[TUNABLE_rate_hz].most))
        return APP_E_RATE;
    if (rate != (float)(uint32_t)rate) /* the timer has no fractions */
        return APP_E_RANGE;
    app->n = image->n;
    app->volts = 0;
    for (uint32_t i = 0; i < app->n; i++) {
        settings_from(&image->joint[i], &app->joint[i]);
        app->joint[i].home = (float)image->home_how[i];
        app->joint[i].home_position = image->home_position[i];
        app->joint[i].unit = setup_unit(&app->joint[i]);
        if (app->joint[i].motor)
            app->volts = fmaxf(app->volts, app->joint[i].volt);
    }
    if (!(app->volts > 0))
        app->volts = VOLTS_DEFAULT;
    app->tunable[TUNABLE_rate_hz] = rate;
    if (image->has & IMAGE_HAS_FEEDBACK)
        app->tunable[TUNABLE_feedback] = (float)image->feedback;
    app->tunable[TUNABLE_payload_mass] = image->arm.payload_mass[0];
    app->tunable[TUNABLE_payload_x] = image->arm.payload_com[0];
    app->tunable[TUNABLE_payload_y] = image->arm.payload_com[1];
    app->tunable[TUNABLE_payload_z] = image->arm.payload_com[2];
    return APP_OK;
}

bool setup_position(const app_t *app, uint32_t at, float q, real *out) {
    return real_from_model((double)q, app->joint[at].unit, out);
}

float setup_position_si(const app_t *app, uint32_t at, real q) {
    return (float)real_to_model(q, app->joint[at].unit);
}

int app_exponent(const app_t *app, uint32_t quantity, uint32_t at) {
    const exponents_t e = exponents(app, at);
    const int by_quantity[QUANTITIES] = {
        [QUANTITY_NONE] = WHOLE,       [QUANTITY_POSITION] = e.p, [QUANTITY_VELOCITY] = e.v,
        [QUANTITY_ACCELERATION] = e.a, [QUANTITY_TORQUE] = e.tau, [QUANTITY_VOLTAGE] = e.volt,
        [QUANTITY_SUPPLY] = WHOLE};
    real one;
    const bool floats = real_from_model(1e9, 0, &one); /* beyond what a fixed point holds */
    return floats || quantity >= QUANTITIES ? WHOLE : by_quantity[quantity];
}
