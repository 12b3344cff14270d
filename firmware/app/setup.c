/* Makes the settings of the joints from the robot image, and the constants of the tick from
 * settings and parameters. Runs in the background: the tick sees only the result. */
#include "firmware/app/setup.h"

#include <math.h>
#include <string.h>

#include "firmware/app/fit.h"
#include "firmware/control/number.h"

/* Defaults for values that the robot file does not state. */
#define VOLTS_DEFAULT    24.0f /* V; nominal supply if no motor has a voltage limit */
#define COUNTS_REVOLUTE  16384.0f
#define COUNTS_PRISMATIC 65536.0f /* per metre */
#define TORQUE_FIRST_S   0.01f    /* the loop holds the arm for this time before the brakes open */

setup_t setup_from(const app_t *app) {
    return (setup_t){app->n,     app->arm,       app->flex,  &app->units,
                     app->joint, app->parameter, app->volts, app->tool_m};
}

/* Adds what the hardware decides: the range of the supply sensor, how often an encoder's reading
 * wraps, how long its turns can be followed without a reading, and the times of the brakes. The simulated arm has ideal hardware.
 * Not inlined, for the sake of the stack. */
static __attribute__((noinline)) void hardware_setup(const app_t *app, control_t *out) {
    const float rate = app->parameter[PARAMETER_rate_hz];
    hardware_t h;
    app_hardware(&h);
    out->turning = 0;
    out->blind = UINT16_MAX;
    out->brake_torque = out->brake_open = out->brake_close = 0;
    if (out->simulated || (h.flags & HARDWARE_UNKNOWN))
        return;
    out->brake_torque = 1;
    /* a sensor at the end of its range may stand for any higher voltage */
    if (h.supply_full_mV > 0 && out->supply_most_mV >= h.supply_full_mV)
        out->supply_most_mV = h.supply_full_mV - 1;
    for (uint32_t i = 0; i < app->n && i < HARDWARE_JOINTS; i++) {
        out->joint[i].wrap = fit_wrap(app, &h, i);
        if (fit_turns(app, &h, i)) {
            out->turning |= 1u << i;
            out->blind = (uint16_t)fmin(out->blind, fit_blind(app, &h, i));
        }
    }
    /* The limits of a joint whose turns are not known are not watched: it must not move on. */
    out->unread = out->unread < out->blind ? out->unread : out->blind;
    if (out->brakes) {
        out->brake_torque = (uint16_t)ceilf(TORQUE_FIRST_S * rate);
        out->brake_open = (uint16_t)ceilf(h.brake_open_ms * 0.001f * rate);
        out->brake_close = (uint16_t)ceilf(h.brake_close_ms * 0.001f * rate);
    }
}

bool setup_control(const app_t *app, control_t *out) {
    const setup_t from = setup_from(app);
    guard_setup(&from, out);
    thermal_setup(&from, out);
    const bool fits = control_setup(&from, out);
    hardware_setup(app, out);
    return fits;
}

/* Returns the exponent of the smallest unit of position that can represent the whole range of the
 * joint and a motion across that range. Before homing the position may be wrong by a whole range,
 * which doubles what must be represented. */
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
    const image_joint_t *f = in;
    *out = (settings_t){.prismatic = in->type == DYN_PRISMATIC,
                        .position = {f->position[0], f->position[1]},
                        .velocity = f->velocity[0] > 0 ? f->velocity[0] : IMAGE_VELOCITY_DEFAULT,
                        .acceleration = f->acceleration[0],
                        .torque = f->torque[0],
                        .volt = f->voltage[0],
                        .counts = f->counts[0],
                        .sign = f->sign[0],
                        .offset = f->offset[0],
                        .ratio = f->ratio[0],
                        .kp = f->kp[0],
                        .kd = f->kd[0]};
    out->motor = f->gear[0] != 0 && f->torque_constant[0] != 0 && f->resistance[0] > 0;
    out->paced = f->velocity[0] > 0;
    out->bounded = out->position[1] > out->position[0];
    if (!(out->acceleration > 0))
        out->acceleration = out->velocity / IMAGE_RISE_DEFAULT_S;
    if (!(out->counts > 0))
        out->counts = out->prismatic ? COUNTS_PRISMATIC : COUNTS_REVOLUTE;
}

/* Returns the part of its torque limit that a motor can give for ever, as settings_t has it. */
static uint16_t lasting_of(float torque, float limit) {
    const float part = torque < limit ? torque / limit : 1;
    return torque > 0 ? (uint16_t)fmaxf(1, LASTING_ALL * part) : 0;
}

static float length(const float v[3]) {
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static uint16_t heating_of(float time_s) {
    return time_s > 0 ? (uint16_t)fminf(fmaxf(1, time_s * HEATING_PER_S), UINT16_MAX) : 0;
}

/* Returns the upper half of a positive float, rounded up. */
static uint16_t upper_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + UINT16_MAX) >> 16);
}

bool setup_gains_work(const settings_t *s, gains_t most) {
    return s->kp >= 0 && s->kd >= 0 && s->kp <= most.kp && s->kd <= most.kd;
}

gains_t setup_gains_most(const app_t *app, uint32_t at, float rate_hz) {
    const uint32_t bits = (uint32_t)app->joint[at].inertia << 16;
    const setup_t from = setup_from(app);
    const float *t = app->parameter;
    const float com[3] = {t[PARAMETER_payload_x], t[PARAMETER_payload_y], t[PARAMETER_payload_z]};
    const float r = setup_reach(&from, at) + length(com);
    float inertia;
    memcpy(&inertia, &bits, sizeof inertia);
    /* the payload of the image counts twice; it may be exchanged for a heavier one */
    return gains_most(inertia + t[PARAMETER_payload_mass] * r * r, rate_hz);
}

int setup_settings(app_t *app) {
    const image_t *image = &app->memory.image;
    app->n = image->n;
    app->volts = 0;
    for (uint32_t i = 0; i < app->n; i++) {
        settings_from(&image->joint[i], &app->joint[i]);
        app->joint[i].home = (float)image->home_how[i];
        app->joint[i].home_position = image->home_position[i];
        const image_thermal_t thermal = image_thermal(image, i);
        app->joint[i].heating = heating_of(thermal.time_s);
        app->joint[i].lasting = lasting_of(thermal.continuous, app->joint[i].torque);
        app->joint[i].inertia = upper_half(gains_inertia(image, i));
        if (!setup_gains_work(&app->joint[i],
                              gains_most(gains_inertia(image, i), image->arm.rate_hz[0]))) {
            app->where = i;
            return APP_E_GAIN;
        }
        app->joint[i].unit = setup_unit(&app->joint[i]);
        if (app->joint[i].motor)
            app->volts = fmaxf(app->volts, app->joint[i].volt);
    }
    if (!(app->volts > 0))
        app->volts = VOLTS_DEFAULT;
    /* A robot without a tool frame ends at twice the distance of the centre of mass of its last
     * link, as a uniform link would. */
    app->tool_m = fmaxf(length(image->arm.tool_xyz), 2 * length(image->joint[app->n - 1].com));
    app->parameter[PARAMETER_rate_hz] = image->arm.rate_hz[0];
    if (image->has & IMAGE_HAS_FEEDBACK)
        app->parameter[PARAMETER_feedback] = (float)image->feedback;
    /* Only a person switches the feedback of the real arm off, and only for this robot. */
    if (app->parameter[PARAMETER_arm] != ARM_SIMULATED &&
        app->parameter[PARAMETER_feedback] == FEEDBACK_OFF)
        app->parameter[PARAMETER_feedback] = parameter_table[PARAMETER_feedback].fallback;
    /* A fact of this robot: it does not inherit that of the last one. */
    app->parameter[PARAMETER_brakes] = image->has & IMAGE_HAS_BRAKES
                                           ? (float)((image->has & IMAGE_BRAKES) != 0)
                                           : parameter_table[PARAMETER_brakes].fallback;
    app->parameter[PARAMETER_payload_mass] = image->arm.payload_mass[0];
    app->parameter[PARAMETER_payload_x] = image->arm.payload_com[0];
    app->parameter[PARAMETER_payload_y] = image->arm.payload_com[1];
    app->parameter[PARAMETER_payload_z] = image->arm.payload_com[2];
    return APP_OK;
}

bool setup_position(const app_t *app, uint32_t at, float q, real *out) {
    return real_from_model((double)q, app->joint[at].unit, out);
}

float setup_position_si(const app_t *app, uint32_t at, real q) {
    return (float)real_to_model(q, app->joint[at].unit);
}

int app_exponent(const app_t *app, uint32_t quantity, uint32_t at) {
    const setup_t from = setup_from(app);
    const exponents_t e = setup_exponents(&from, at);
    // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): floats read none of it
    const int by_quantity[QUANTITIES] = {
        [QUANTITY_NONE] = WHOLE,   [QUANTITY_POSITION] = e.p,
        [QUANTITY_VELOCITY] = e.v, [QUANTITY_ACCELERATION] = e.a,
        [QUANTITY_TORQUE] = e.tau, [QUANTITY_VOLTAGE] = e.volt,
        [QUANTITY_SUPPLY] = WHOLE, [QUANTITY_TOOL_SPEED] = TOOL_SPEED};
    return CONTROL_FLOATS || quantity >= QUANTITIES ? WHOLE : by_quantity[quantity];
}
