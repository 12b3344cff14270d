/* Implements test/support/supervisor_rig.h. */
#include "test/support/supervisor_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/supervisor_line.h"
#include "test/support/planar_image.h"

enum { N = 2, ALL = (1 << N) - 1, COUNTS = 16384, ROBOTS = 5 };
static const double ENCODER_TURN = 6.283185307179586;

rig_t rig;
static app_t app;
static app_inputs_t in;
static app_outputs_t out;
static hardware_t board;
static uint8_t stays;
static image_t image;
static float point[N];

/* Disturbances and how many ticks they last. */
static struct {
    uint32_t unread, unread_how, unread_for, lost, late_for, stalled_for, unready_for, busy_for;
    int32_t supply;
    uint32_t supply_for, overruns;
    double push;
    uint32_t push_for, token, led_for;
} now;

void app_hardware(hardware_t *hardware) {
    *hardware = board;
}

uint32_t app_unlatch(void) {
    in.latched &= stays;
    return in.latched;
}

/* --------------------------------------------------------------------------------------- robots */

static void give_motors(image_t *i) {
    for (uint32_t k = 0; k < N; k++) {
        image_joint_t *j = &i->joint[k];
        j->resistance[0] = 1;
        j->torque_constant[0] = 0.05f;
        j->gear[0] = 100;
        j->rotor_inertia[0] = 1e-5f;
        j->voltage[0] = 24;
        j->viscous[0] = 0.5f;
    }
}

/* 0: no motors, brakes unstated; 1: motors, no brakes; 2: motors and brakes; 3: a shoulder that can
 * hardly hold the arm stretched out, an elbow with little voltage, no brakes; 4: the shoulder is homed at a switch. */
static void make_robot(uint32_t which, image_t *i) {
    planar_image(i);
    i->arm.gravity[1] = -9.81f;
    i->arm.tool_xyz[0] = 0.5f;
    i->has |= IMAGE_HAS_TOOL;
    for (uint32_t k = 0; k < N; k++) { /* critically damped at 20 rad/s with the other joint free */
        i->joint[k].kp[0] = (k == 0 ? 60.0f : 8.0f) + (which > 0 ? 40.0f : 0);
        i->joint[k].kd[0] = i->joint[k].kp[0] / 10;
    }
    if (which > 0) {
        give_motors(i);
        i->has |= IMAGE_HAS_BRAKES;
    }
    if (which == 2)
        i->has |= IMAGE_BRAKES;
    if (which == 3) {
        i->joint[0].torque[0] = 11;
        i->joint[1].voltage[0] = 6;
    }
    if (which == 4) {
        i->home_how[0] = 2;
        i->home_position[0] = 0.3f;
    }
}

/* ------------------------------------------------------------------------------------- real arm */

static struct { double x[N], v[N], zero[N]; } arm;

static void torques(double tau[N]) {
    for (uint32_t i = 0; i < N; i++) {
        const image_joint_t *j = &image.joint[i];
        const double duty = out.duty_q15[i] / 32768.0,
                     k = (double)(j->torque_constant[0] * j->gear[0]);
        if (!out.enable || !out.hardware)
            tau[i] = 0;
        else if (j->gear[0] == 0)
            tau[i] = duty * (double)j->torque[0];
        else
            tau[i] = k * (24 * duty - k * arm.v[i]) / (double)j->resistance[0];
        tau[i] -= (double)j->viscous[0] * arm.v[i];
    }
    tau[0] += now.push_for > 0 ? now.push : 0;
}

/* Two links of 1 kg and 0.5 m with their mass at 0.25 m and 0.02 kg m^2, in the plane of gravity. */
static void accelerate(const double tau[N], double a[N]) {
    const double g = 9.81, c2 = cos(arm.x[1]), s2 = sin(arm.x[1]);
    const double rotor =
        (double)(image.joint[0].rotor_inertia[0] * image.joint[0].gear[0] * image.joint[0].gear[0]);
    const double m22 = 0.02 + 0.0625, m12 = m22 + 0.125 * c2,
                 m11 = 0.02 + 0.0625 + 0.25 + m22 + 0.25 * c2 + rotor;
    const double c = -0.125 * s2, g2 = g * 0.25 * cos(arm.x[0] + arm.x[1]),
                 g1 = g * 0.75 * cos(arm.x[0]) + g2;
    const double t1 = tau[0] - c * (2 * arm.v[0] + arm.v[1]) * arm.v[1] - g1,
                 t2 = tau[1] + c * arm.v[0] * arm.v[0] - g2;
    const double m22r = m22 + rotor, det = m11 * m22r - m12 * m12;
    a[0] = (m22r * t1 - m12 * t2) / det;
    a[1] = (m11 * t2 - m12 * t1) / det;
}

static void move_arm(double h) {
    enum { STEPS = 8 };
    const bool braked = model_now(&rig.model, PARAMETER_brakes, 0) == 1 && !out.brake_open;
    for (int k = 0; k < STEPS; k++) {
        double tau[N], a[N];
        torques(tau);
        accelerate(tau, a);
        for (uint32_t i = 0; i < N; i++) {
            arm.v[i] = braked ? 0 : arm.v[i] + a[i] * h / STEPS;
            arm.x[i] += arm.v[i] * h / STEPS;
            if (fabs(arm.x[i]) > 3.04) { /* mechanical stops */
                arm.x[i] = copysign(3.04, arm.x[i]);
                arm.v[i] = 0;
            }
        }
    }
}

static void read_arm(void) {
    for (uint32_t i = 0; i < N; i++) {
        const int32_t counts = (int32_t)lround((arm.x[i] - arm.zero[i]) / ENCODER_TURN * COUNTS);
        in.counts[i] = (counts % COUNTS + COUNTS) % COUNTS;
        const bool closed = arm.x[i] >= 0.3;
        in.switches = (in.switches & ~(1u << i)) | (uint32_t)closed << i;
    }
}

/* ----------------------------------------------------------------------------------------- ticks */

static double number(const sample_t *s, uint32_t field, uint32_t joint) {
    const uint32_t word = app_sample_word(s, field, joint);
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static void look_status(model_seen_t *seen) {
    app_status_t status;
    app_status(&app, &status);
    seen->state = status.state;
    seen->fault = status.fault;
    seen->stop = status.stop;
    seen->busy = status.moving;
    seen->unhomed = status.unhomed;
    for (uint32_t i = 0; i < status.joints && i < MODEL_JOINTS; i++) {
        seen->q[i] = (double)status.q[i];
        seen->q_ref[i] = (double)status.q_ref[i];
    }
}

static bool look_tick(model_seen_t *seen) {
    const sample_t *s;
    bool sampled = false;
    *seen = rig.model.seen;
    look_status(seen);
    seen->enable = out.enable;
    seen->brake_open = out.brake_open;
    seen->hardware = out.hardware;
    for (uint32_t i = 0; i < N; i++)
        seen->duty[i] = out.duty_q15[i] / 32768.0;
    while ((s = app_sample_peek(&app)) != NULL) {
        sampled = true;
        const uint32_t bits = app_sample_word(s, SAMPLE_state, 0);
        seen->moving = bits >> 16 & 1;
        seen->weaker = bits >> 17 & 1;
        seen->overridden = bits >> 18 & 1;
        seen->leased = bits >> 19 & 1;
        seen->limited = app_sample_word(s, SAMPLE_limited, 0);
        for (uint32_t i = 0; i < N; i++) {
            seen->q_ref[i] = number(s, SAMPLE_q_ref, i);
            seen->qd_ref[i] = number(s, SAMPLE_qd_ref, i);
            seen->q[i] = number(s, SAMPLE_q, i);
            seen->qd[i] = number(s, SAMPLE_qd, i);
            seen->tau[i] = number(s, SAMPLE_tau, i);
        }
        app_sample_release(&app);
    }
    return sampled;
}

static uint32_t lasts(uint32_t *ticks) {
    return *ticks > 0 ? (*ticks)-- : 0;
}

static void make_inputs(void) {
    const bool unread = lasts(&now.unread_for) > 0;
    read_arm();
    in.counts_valid = unread ? ALL & ~now.unread : ALL;
    in.parity = unread && now.unread_how == 1 ? now.unread : 0;
    in.unwell = unread && now.unread_how == 2 ? now.unread : 0;
    in.supply_mV = lasts(&now.supply_for) > 0 ? now.supply : 24000;
    in.lost = now.lost;
    in.overrun = lasts(&now.late_for) > 0;
    in.stalled = lasts(&now.stalled_for) > 0;
    in.latched |= stays;
    in.ready = lasts(&now.unready_for) == 0 && out.enable && out.hardware;
    now.overruns += in.overrun && rig.model.loaded;
    now.lost = 0;
    board.active = stays;
    board.latched = in.latched;
}

static bool check_values(void) {
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < (parameter_table[p].per_joint ? N : 1); j++) {
            float value, lasting;
            if (app_get(&app, p, j, &value) != APP_OK)
                continue; /* without a robot there are no joints */
            lasting = value;
            if (app_lasting(&app, p, j, &lasting) != APP_OK)
                return COMPLAIN(&rig.model, "no lasting value");
            if (!model_value(&rig.model, p, j, value, lasting))
                return false;
        }
    return true;
}

static void background(void) {
    if (lasts(&now.busy_for) > 0)
        return;
    if (rig.defect != RIG_OVERRIDE_STAYS)
        line_poll();
    model_poll(&rig.model);
}

static bool tick(void) {
    model_seen_t seen;
    app_status_t status;
    make_inputs();
    if (rig.defect == RIG_LEASE_STAYS && rig.model.lease == 1)
        (void)app_lease(&app, rig.model.token, 1000);
    const app_outputs_t before = out;
    app_inputs_t given = in;
    if (rig.defect == RIG_LATCH_IGNORED)
        given.latched = 0;
    app_tick(&app, &given, &out);
    if (rig.defect == RIG_LATE_RELEASE && before.enable && !out.enable)
        out.enable = 1;
    if (rig.defect == RIG_BRAKES_EARLY && out.enable && !before.enable)
        out.brake_open = 1;
    rig.ticks++;
    if (!look_tick(&seen) && rig.model.loaded)
        return COMPLAIN(&rig.model, "no sample");
    move_arm(1 / (double)model_now(&rig.model, PARAMETER_rate_hz, 0));
    if (lasts(&now.push_for) > 0)
        model_disturb(&rig.model);
    if (getenv("SUPERVISOR_TRACE"))
        printf("t %llu st %u f %u s %u en %u br %u mv %u busy %u lim %x | q %.5f %.5f ref %.5f "
               "%.5f qd %.4f %.4f rd %.4f %.4f tau %.3f %.3f\n",
               (unsigned long long)rig.ticks, seen.state, seen.fault, seen.stop, seen.enable,
               seen.brake_open, seen.moving, seen.busy, seen.limited, seen.q[0], seen.q[1],
               seen.q_ref[0], seen.q_ref[1], seen.qd[0], seen.qd[1], seen.qd_ref[0], seen.qd_ref[1],
               seen.tau[0], seen.tau[1]);
    if (!model_tick(&rig.model, &in, &seen))
        return false;
    const bool defect = model_defect(&rig.model);
    background();
    app_status(&app, &status);
    if (defect)
        now.overruns = status.overruns; /* a defect of the simulated arm may be late ticks */
    if (status.overruns != now.overruns)
        return COMPLAIN(&rig.model, "an overrun that was not there");
    return true;
}

/* -------------------------------------------------------------------------------------- requests */

static bool request(bool right, int result) {
    model_seen_t told = rig.model.seen;
    rig.requests++;
    rig.model.polled = false;
    rig.accepted += result == APP_OK;
    if (!right)
        return false;
    look_status(&told);
    if (((line_flags() & STATUS_UNRESTORED) != 0) != rig.model.unrestored)
        return COMPLAIN(&rig.model, "what could not be restored is not told, or not any more");
    return model_told(&rig.model, &told) && check_values();
}

static uint32_t token_of(uint32_t token) {
    return token != LEADER ? token : rig.model.lease > 0 ? rig.model.token : 0;
}

static bool do_motion(const script_event_t *e) {
    const motion_t motion = {.kind = e->a[0], .duration_s = e->v[0], .value = {e->v[1], e->v[2]}};
    const uint32_t token = token_of(e->a[1]);
    const int result = line_motion(token, &motion);
    if (result == APP_OK && motion.kind == MOTION_POINTS) {
        app_status_t status;
        app_status(&app, &status);
        for (uint32_t i = 0; i < N; i++)
            point[i] = rig.model.state == IDLE ? status.q[i] : status.q_ref[i];
    }
    return request(model_motion(&rig.model, token, &motion, result), result);
}

static bool do_points(uint32_t count, uint32_t from, float step, float other) {
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t token = token_of(from);
        const int result = line_points(token, point, 1);
        if (!request(model_push(&rig.model, token, point, result), result))
            return false;
        if (result != APP_OK)
            return true;
        point[0] += step * (float)rig.model.pushed;
        point[1] += other * (float)rig.model.pushed;
    }
    return true;
}

static bool do_clear(void) {
    const int result = line_clear();
    if (rig.defect == RIG_CLEAR_RELEASES && result == APP_OK)
        (void)app_off(&app);
    return request(model_clear(&rig.model, result), result);
}

static bool do_lease(uint32_t token, uint32_t asked) {
    const uint32_t ms = asked < UINT16_MAX ? asked : UINT16_MAX;
    const int result = line_lease(token, ms);
    return request(model_lease(&rig.model, token, ms, result), result);
}

/* A client takes the lease, and renews it until it dies. */
static bool renew(void) {
    return lasts(&now.led_for) % 100 != 1 || do_lease(now.token, 1000);
}

static bool run_ticks(uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!renew() || !tick())
            return false;
    return true;
}

static bool do_load(uint32_t which, uint32_t taken, bool good) {
    static uint8_t bytes[4096];
    image_t robot;
    size_t size = 0;
    make_robot(which % ROBOTS, &robot);
    (void)image_write(&robot, bytes, sizeof bytes, &size, NULL);
    if (!good)
        bytes[40] ^= 1;
    int result = line_send(bytes, size);
    if (result == APP_OK) {
        if (taken != 0 && !do_lease(taken, 1000))
            return false;
        result = line_load();
    }
    if (result == APP_OK)
        image = robot;
    return request(model_load(&rig.model, &robot, which % ROBOTS, good, result), result);
}

static bool do_set(const script_event_t *e) {
    const int result = line_set(e->a[0], e->a[1], e->v[0]);
    return request(model_set(&rig.model, e->a[0], e->a[1], e->v[0], result), result);
}

static bool do_override(const script_event_t *e) {
    const uint32_t token = token_of(e->a[2]);
    const int result = line_override(token, e->a[0], e->a[1], e->v[0]);
    return request(model_override(&rig.model, token, e->a[0], e->a[1], e->v[0], result), result);
}

static bool do_save(void) {
    const int result = line_save();
    return request(model_save(&rig.model, line_sequence(), result), result);
}

/* The arm stays where it is. */
static bool power_up(bool forget, uint32_t fault) {
    model_seen_t told;
    app_init(&app);
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    memset(&now, 0, sizeof now);
    stays = 0;
    board = (hardware_t){.motors = ALL,
                         .encoders = ALL,
                         .absolute = ALL,
                         .switches = ALL,
                         .counts = {COUNTS, COUNTS},
                         .flags = HARDWARE_ESTOP | HARDWARE_BRAKE | HARDWARE_SUPPLY |
                                  HARDWARE_WATCHDOG | HARDWARE_CLOCK,
                         .brake_open_ms = 30,
                         .brake_close_ms = 40};
    line_start(&app, forget);
    if (forget)
        rig.model.stored.sequence = 0;
    model_reset(&rig.model, &board, &stays);
    image = rig.model.image;
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < (parameter_table[p].per_joint ? N : 1); j++) {
            float value;
            if (app_get(&app, p, j, &value) == APP_OK)
                model_started(&rig.model, p, j, value);
        }
    if (!model_told_start(&rig.model, line_flags() & STATUS_UNRESTORED))
        return false;
    if (fault != APP_FAULT_NONE) {
        app_fault(&app, fault);
        model_start_fault(&rig.model, fault);
    }
    told = rig.model.seen;
    look_status(&told);
    return model_told(&rig.model, &told) && tick();
}

static bool do_reset(uint32_t how) {
    static const uint32_t fault[] = {APP_FAULT_NONE, APP_FAULT_NONE, APP_FAULT_WATCHDOG,
                                     APP_FAULT_CRASH};
    if (how % 4 != 1)
        return power_up(false, fault[how % 4]);
    const int result = line_reset();
    if (!request(model_may_reset(&rig.model, result), result))
        return false;
    return result != APP_OK || power_up(false, APP_FAULT_NONE);
}

static bool do_input(const script_event_t *e) {
    switch (e->op) {
    case EVENT_LATCH_OP:
        in.latched |= (uint8_t)e->a[0];
        stays = (uint8_t)(e->a[1] & e->a[0]);
        if (e->a[0] & CAUSE_ESTOP)
            board.flags |= HARDWARE_ESTOP_SEEN;
        break;
    case EVENT_QUIET_OP:
        stays = 0;
        break;
    case EVENT_ESTOP_SEEN_OP:
        board.flags =
            (uint16_t)((board.flags & ~HARDWARE_ESTOP_SEEN) | (e->a[0] ? HARDWARE_ESTOP_SEEN : 0));
        break;
    case EVENT_UNREAD_OP:
        now.unread = e->a[0];
        now.unread_for = e->a[1];
        now.unread_how = e->a[2];
        break;
    case EVENT_LOST_OP:
        now.lost = e->a[0];
        break;
    case EVENT_OVERRUN_OP:
        now.late_for = e->a[0];
        break;
    case EVENT_STALLED_OP:
        now.stalled_for = e->a[0];
        break;
    case EVENT_SUPPLY_OP:
        now.supply = (int32_t)e->a[0] - 2;
        now.supply_for = e->a[1];
        break;
    case EVENT_UNREADY_OP:
        now.unready_for = e->a[0];
        break;
    case EVENT_BUSY_OP:
        now.busy_for = e->a[0];
        break;
    default:
        now.push_for = e->a[0];
        now.push = (double)e->v[0];
    }
    board.active = stays;
    return true;
}

static bool act(const script_event_t *e) {
    int result;
    uint32_t token;
    switch (e->op) {
    case EVENT_WAIT_OP:
        return run_ticks(e->a[0]);
    case EVENT_MOTION_OP:
        return do_motion(e);
    case EVENT_POINTS_OP:
        return do_points(e->a[0], e->a[1], e->v[0], e->v[1]);
    case EVENT_POINTS_END_OP:
        token = token_of(e->a[0]);
        result = line_points(token, NULL, 0);
        return request(model_end(&rig.model, token, result), result);
    case EVENT_STOP_OP:
        result =
            rig.defect == RIG_STOP_IGNORED && rig.model.state != FAULTED ? APP_OK : line_stop();
        return request(model_stop(&rig.model, result), result);
    case EVENT_RELEASE_OP:
        token = token_of(e->a[0]);
        result = line_release(token);
        return request(model_off(&rig.model, token, result), result);
    case EVENT_CLEAR_OP:
        return do_clear();
    case EVENT_PLACE_OP: {
        const float q[DYN_MAX_JOINTS] = {e->v[0], e->v[1]};
        token = token_of(e->a[0]);
        result = line_place(token, q);
        return request(model_place(&rig.model, token, q, result), result);
    }
    case EVENT_SET_OP:
        return do_set(e);
    case EVENT_OVERRIDE_OP:
        return do_override(e);
    case EVENT_LEASE_OP:
    case EVENT_LEASE_END_OP:
        return do_lease(e->a[0], e->op == EVENT_LEASE_OP ? e->a[1] : 0);
    case EVENT_LEAD_OP:
        now.token = e->a[0];
        now.led_for = 100 * (e->a[1] / 100) + 1; /* the first renewal is due at once */
        return true;
    case EVENT_LOAD_OP:
    case EVENT_LOAD_BAD_OP:
        return do_load(e->a[0], e->op == EVENT_LOAD_OP ? e->a[1] : 0, e->op == EVENT_LOAD_OP);
    case EVENT_SAVE_OP:
        return do_save();
    case EVENT_RESET_OP:
        return do_reset(e->a[0]);
    default:
        return do_input(e);
    }
}

const char *rig_run(const script_t *script) {
    memset(&arm, 0, sizeof arm);
    if (!power_up(true, APP_FAULT_NONE))
        return rig.model.complaint_kind;
    for (uint32_t k = 0; k < script->count; k++)
        if (!act(&script->event[k]) || !check_values()) {
            snprintf(rig.where, sizeof rig.where, "event %u, %u ticks in its state",
                     (unsigned)k + 1, (unsigned)rig.model.at_state);
            return rig.model.complaint_kind;
        }
    return NULL;
}
