/*
 * The application: the tick, which reads top to bottom as sense, estimate, refer, compute, feed
 * back, drive, tell, simulate; and what the background may ask of it. The background never writes
 * what the tick reads, except words of 32 bits: requests are flags that the tick takes up at its
 * beginning, new constants are made in the spare half and taken over between two ticks. The rest is
 * done at rest with the tick away (tick_away), and what must not change between looking and
 * writing, a few words, with interrupts locked (app_clock_lock). What is read together is read
 * again if a tick came.
 */
#include "firmware/core/image.h"
#include "firmware/core/image_flex.h"

#include DYN_REAL_H

#include "firmware/core/generated.h"
#include "firmware/core/instance.h"
#include "firmware/core/number.h"

#include <math.h>
#include <string.h>

typedef CORE_T(app) app_self;
typedef CORE_T(control) control_t;
typedef CORE_T(guard) guard_t;
typedef CORE_T(loop) loop_t;
typedef CORE_T(sample) sample_t;

/* Part of a period that a tick may take: the background needs the rest. */
#define BUDGET 0.9f

/* ------------------------------------------------------------------------------------ the tick */

/* Turns are counted: an encoder shows where it is within one. */
static void read_encoders(app_self *app, const control_t *c, const app_inputs_t *in) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const int32_t wrap = c->joint[i].wrap;
        int32_t moved = (in->counts[i] - app->loop.counts[i]) % wrap;
        moved += moved < -wrap / 2 ? wrap : moved > wrap / 2 ? -wrap : 0;
        app->loop.counts[i] += (in->counts_valid >> i) & 1 ? moved : 0;
    }
}

static void sense(app_self *app, const control_t *c, const app_inputs_t *in) {
    if (c->simulated)
        CORE(plant_counts)(&app->plant, app->loop.counts);
    else
        read_encoders(app, c, in);
    CORE(control_sense)(c, &app->loop);
}

/* The record for telemetry, made in its place in the ring. */
static void tell(app_self *app, const control_t *c) {
    const loop_t *s = &app->loop;
    if (c->sample_every == 0 || ++app->since_sample < c->sample_every)
        return;
    app->since_sample = 0;
    if (app->head - app->tail >= APP_SAMPLES) {
        app->dropped++;
        return;
    }
    sample_t *out = &app->memory.ring[app->head % APP_SAMPLES];
    out->tick = app->ticks;
    out->state = app->state | app->fault << 8 | (uint32_t)(app->motion.kind != MOTION_HOLD) << 16;
    out->limited = s->limited;
    out->unproved = s->unproved;
    out->cost = app->cost;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        out->q_ref[i] = s->q_ref[i];
        out->qd_ref[i] = s->qd_ref[i];
        out->qdd_ref[i] = s->qdd_ref[i];
        out->q[i] = s->q[i];
        out->qd[i] = s->qd_hat[i];
        out->q_arm[i] = c->simulated ? app->plant.q[i] : s->q[i];
        out->tau_model[i] = s->tau_model[i];
        out->tau[i] = s->tau[i];
        out->volt[i] = s->volt[i];
    }
    app->head++;
}

static void simulate(app_self *app, const control_t *c, const app_outputs_t *out) {
    if (!c->simulated)
        return;
    app->plant.open = !out->enable;
    CORE(plant_drive)(c, &app->plant, out->duty_q15, app->loop.tau);
    CORE(plant_step)(c, &app->plant, &app->scratch, !out->enable && c->brakes);
}

/* What the hardware of a simulated arm would have read. */
static app_inputs_t seen(const app_self *app, const control_t *c, const app_inputs_t *in) {
    if (!c->simulated)
        return *in;
    const uint32_t defect = app->plant.defect, bit = 1u << app->plant.defect_joint;
    return (app_inputs_t){.counts_valid =
                              defect == DEFECT_LOST || defect == DEFECT_PARITY ? ~bit : UINT32_MAX,
                          .parity = defect == DEFECT_PARITY ? bit : 0,
                          .supply_mV = app->plant.supply_mV,
                          .switches = CORE(homing_switches)(&app->motion, &app->plant),
                          .overrun = in->overrun || defect == DEFECT_LATE,
                          .broken = in->broken || defect == DEFECT_BREAK};
}

/* The loop is closed, and no fault is latched. */
static bool closed(const app_self *app) {
    return app->state == APP_STATE_RUNNING || app->state == APP_STATE_STOPPING ||
           app->state == APP_STATE_HOMING;
}

/* ---------------------------------------------------------------------------- faults and stops */

static void duty_none(const app_self *app, app_outputs_t *out) {
    for (uint32_t i = 0; i < app->n; i++)
        out->duty_q15[i] = 0;
}

/* The reference goes on from where the arm is, and brakes. */
static void catch_arm(app_self *app, const control_t *c) {
    loop_t *s = &app->loop;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        s->q_mid[i] = s->q_hat[i];
        s->qd_mid[i] = real_clamp(s->qd_hat[i], c->arm->joint[i].sure.qd);
    }
    CORE(guard_start)(c, &app->guard, s);
}

/* A stop begins, or a better one was not possible after all. */
static void begin_stop(app_self *app, const control_t *c, uint32_t best) {
    app->stop = CORE(stop_choose)(c, &app->scratch, &app->loop, best);
    app->guard.stopped = 0;
    if (app->stop <= APP_STOP_LOWER)
        CORE(reference_brake)(&app->motion);
    else
        app->motion.kind = MOTION_HOLD;
}

static void latch(app_self *app, CORE_T(finding) f) {
    app->fault = f.fault;
    app->fault_joint = f.joint;
    app->fault_value = f.value;
    app->fault_limit = f.limit;
    app->stop = APP_STOP_RELEASE;
    app->state = app_state_next(app->state, APP_EVENT_FAULT);
}

/* The first finding latches; one while the arm is held or lowered makes the stop a worse one. */
static void judge(app_self *app, const control_t *c, CORE_T(finding) f) {
    if (f.fault == APP_FAULT_NONE)
        return;
    if (closed(app)) {
        latch(app, f);
        begin_stop(app, c, app_fault_stop(f.fault));
        if (app->stop <= APP_STOP_LOWER && f.fault != APP_FAULT_SETPOINT)
            catch_arm(app, c);
    } else if (app->state == APP_STATE_FAULT && app->stop < APP_STOP_RELEASE) {
        const uint32_t best = app_fault_stop(f.fault);
        if (app->stop < APP_STOP_DAMP || best > app->stop)
            begin_stop(app, c, best > APP_STOP_DAMP ? best : APP_STOP_DAMP);
    }
}

/* A streamed motion that ran out of points is braking already. */
static CORE_T(finding) guard_stream(app_self *app, const control_t *c) {
    CORE_T(motion) *m = &app->motion;
    const uint32_t waited = app->ticks - app->point_tick;
    CORE_T(finding) f = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
    const bool late =
        c->setpoint != 0 && m->kind == MOTION_KNOTS && !m->as.knots.ended && waited > c->setpoint;
    if (m->starved != 0 || late) {
        f.fault = APP_FAULT_SETPOINT;
        f.value = (real)(int32_t)waited;
        f.limit = (real)(int32_t)(m->starved != 0 ? m->starved : c->setpoint);
        m->starved = 0;
    }
    return f;
}

/* What the control step made is looked at before it gets out. */
static void supervise(app_self *app, const control_t *c, app_outputs_t *out) {
    judge(app, c, guard_stream(app, c));
    judge(app, c, CORE(guard_loop)(c, &app->scratch, &app->guard, &app->loop));
    if (app->state != APP_STATE_FAULT || app->stop <= APP_STOP_LOWER)
        return;
    duty_none(app, out);
    out->enable = app->stop == APP_STOP_DAMP;
}

void CORE(app_fault)(app_self *app, uint32_t fault) {
    const CORE_T(finding) f = {fault, APP_NO_JOINT, 0, 0};
    const uint32_t lock = app_clock_lock();
    if (app->state != APP_STATE_FAULT) {
        latch(app, f);
        app->motion.kind = MOTION_HOLD;
    }
    app_clock_unlock(lock);
}

/* A stage begins. */
INLINE void mark(app_self *app, const control_t *c, uint32_t stage) {
    if (c->watch)
        app->stamp[stage] = app_clock();
}

/* The control step. */
void CORE(app_stages_run)(app_self *app, const control_t *c, const app_inputs_t *in,
                          app_outputs_t *out) {
    loop_t *s = &app->loop;
    mark(app, c, STAGE_SENSE);
    sense(app, c, in);
    mark(app, c, STAGE_ESTIMATE);
    CORE(control_estimate)(c, s);
    mark(app, c, STAGE_REFERENCE);
    if (app->motion.kind == MOTION_HOME)
        judge(app, c, CORE(homing_step)(c, &app->motion, s, in->switches));
    CORE(reference_step)(c, &app->motion, s);
    mark(app, c, STAGE_DYNAMICS);
    CORE(control_dynamics)(c, &app->scratch, s);
    app->unproved += s->unproved != 0;
    if (c->simulated && app->plant.defect == DEFECT_NUMBER) /* a NaN of floats */
        memset(&s->tau_model[app->plant.defect_joint], 0xff, sizeof s->tau_model[0]);
    mark(app, c, STAGE_FEEDBACK);
    CORE(control_feedback)(c, s);
    if (app->motion.kind == MOTION_HOME)
        CORE(homing_limit)(c, &app->motion, s);
    mark(app, c, STAGE_DRIVE);
    CORE(control_drive)(c, in->supply_mV, s, out->duty_q15);
    mark(app, c, STAGE_GUARD);
    supervise(app, c, out);
    mark(app, c, STAGE_SAMPLE);
    tell(app, c);
    mark(app, c, STAGE_PLANT);
    simulate(app, c, out);
    mark(app, c, STAGES);
}

/* The loop is open: outputs off and brakes on, or the windings are shorted. The reference stays
 * with the arm. */
static void rest(app_self *app, const control_t *c, const app_inputs_t *in, app_outputs_t *out) {
    loop_t *s = &app->loop;
    sense(app, c, in);
    CORE(control_settle)(c, s);
    CORE(reference_rest)(c, s);
    for (uint32_t i = 0; i < c->arm->n; i++)
        s->tau_model[i] = s->tau[i] = s->volt[i] = real_known(0);
    duty_none(app, out);
    s->limited = s->unproved = 0;
    tell(app, c);
    simulate(app, c, out);
}

static void take_changes(app_self *app) {
    if (app->pending) {
        app->now = (app->now + 1) % APP_CONTROLS;
        app->pending = 0;
    }
}

static void close_loop(app_self *app, const control_t *c) {
    app->state = app_state_next(app->state,
                                app->motion.kind == MOTION_HOME ? APP_EVENT_HOME : APP_EVENT_CLOSE);
    CORE(control_settle)(c, &app->loop);
    CORE(reference_rest)(c, &app->loop);
    CORE(guard_start)(c, &app->guard, &app->loop);
    app->since_sample = c->sample_every; /* the first tick is told */
}

static void take_requests(app_self *app) {
    const control_t *c = &app->control[app->now];
    if (app->closing && app->state == APP_STATE_IDLE)
        close_loop(app, c);
    app->closing = 0;
    if (app->state == APP_STATE_RUNNING && app->motion.kind == MOTION_HOME)
        app->state = app_state_next(app->state, APP_EVENT_HOME);
    if (app->stopping && (app->state == APP_STATE_RUNNING || app->state == APP_STATE_HOMING)) {
        app->state = app_state_next(app->state, APP_EVENT_STOP);
        CORE(reference_brake)(&app->motion);
    }
    app->stopping = 0;
    const bool ends = app->state == APP_STATE_STOPPING || app->state == APP_STATE_HOMING;
    if (app->motion.kind != MOTION_HOME)
        app->loop.pressing = 0;
    if (ends && app->motion.kind == MOTION_HOLD)
        app->state = app_state_next(app->state, c->brakes ? APP_EVENT_RESTED : APP_EVENT_RESUME);
    if (app->leaving) {
        app->stop = APP_STOP_RELEASE;
        app->state = app_state_next(app->state, APP_EVENT_OFF);
        app->motion.kind = MOTION_HOLD;
    }
    app->leaving = 0;
}

static void guard(app_self *app, const control_t *c, const app_inputs_t *in) {
    app->overruns += in->overrun;
    judge(app, c, CORE(guard_inputs)(c, &app->guard, in));
    if (app->plant.broken)
        judge(app, c, (CORE_T(finding)){APP_FAULT_MODEL, APP_NO_JOINT, 0, 0});
}

/* After a fault: goes on with the stop until brakes have the arm. */
static void stop_step(app_self *app, const control_t *c) {
    guard_t *g = &app->guard;
    const bool still = app->motion.kind == MOTION_HOLD;
    g->stopped = (uint16_t)(g->stopped + (g->stopped < UINT16_MAX));
    if (app->stop == APP_STOP_LOWER && (!c->brakes || !still))
        CORE(stop_lower)(c, &app->scratch, &app->loop, &app->motion);
    if (c->brakes && (app->stop == APP_STOP_DAMP ? g->stopped > c->damp : still))
        app->stop = APP_STOP_RELEASE;
}

static void count_costs(app_self *app) {
    app_stages_t *s = &app->stages;
    s->ticks++;
    for (uint32_t k = 0; k <= STAGES; k++) {
        const uint32_t from = k < STAGES ? k : 0, to = k < STAGES ? k + 1 : STAGES;
        const uint32_t cost = app_clock_steps(app->stamp[from], app->stamp[to]);
        s->least[k] = cost < s->least[k] ? cost : s->least[k];
        s->most[k] = cost > s->most[k] ? cost : s->most[k];
        s->sum[k] += cost;
    }
}

static void step(app_self *app, const control_t *c, const app_inputs_t *in, app_outputs_t *out) {
    const app_inputs_t now = seen(app, c, in);
    out->hardware = !c->simulated;
    guard(app, c, &now);
    const bool stops = app->state == APP_STATE_FAULT;
    if (stops)
        stop_step(app, c);
    if (closed(app) || (stops && app->stop <= APP_STOP_LOWER)) {
        out->enable = 1;
        CORE(app_stages_run)(app, c, &now, out);
        if (c->watch)
            count_costs(app);
    } else {
        out->enable = stops && app->stop == APP_STOP_DAMP;
        rest(app, c, &now, out);
    }
}

void CORE(app_tick)(app_self *app, const app_inputs_t *in, app_outputs_t *out) {
    const uint32_t start = app_clock();
    app->ticks++;
    out->enable = 0;
    if (app->away) {
        app->switched++; /* it reads nothing */
        return;
    }
    if (app->loaded) {
        take_changes(app);
        take_requests(app);
        step(app, &app->control[app->now], in, out);
    }
    app->enabled = out->enable;
    app->cost = app_clock_steps(start, app_clock());
}

/* ------------------------------------------------------------------------------ the background */

void CORE(app_init)(app_self *app) {
    memset(app, 0, sizeof *app);
    app->where = UINT32_MAX;
    app->fault_joint = APP_NO_JOINT;
    app->stop = APP_STOP_RELEASE;
    for (uint32_t i = 0; i < TUNABLES_ONE; i++)
        app->tunable[i] = tunable_table[i].fallback;
    CORE(app_stages_clear)(app);
}

static bool outputs_off(const app_self *app) {
    const uint32_t state = app->state;
    return state == APP_STATE_UNCONFIGURED || state == APP_STATE_IDLE ||
           (state == APP_STATE_FAULT && app->stop == APP_STOP_RELEASE);
}

/* The request is looked at before the state, which the tick that takes it changes; without one no
 * tick switches anything on. */
bool CORE(app_rests)(const app_self *app) {
    return !app->closing && outputs_off(app);
}

/* The set of constants that the next tick will use, and the one that may be written. */
static control_t *control_next(app_self *app) {
    return &app->control[(app->now + app->pending) % APP_CONTROLS];
}

static control_t *control_spare(app_self *app) {
    app->pending = 0; /* from here on the tick leaves all as it is */
    return &app->control[(app->now + 1) % APP_CONTROLS];
}

/* New constants for the tick; app_set lets it come back. */
static int change_control(app_self *app) {
    if (APP_CONTROLS == 1 && !CORE(app_rests)(app))
        return APP_E_STATE;
    if (APP_CONTROLS == 1)
        CORE(tick_away)(app);
    const bool fits = CORE(setup_control)(app, control_spare(app));
    atomic_signal_fence(memory_order_seq_cst);
    app->pending = fits;
    return fits ? APP_OK : APP_E_UNITS;
}

/* Puts arm and loop to rest, between two ticks or with the tick away. */
static int place(app_self *app, const float q[]) {
    bool fits = true;
    for (uint32_t i = 0; i < app->n; i++) {
        fits = CORE(setup_position)(app, i, q[i], &app->plant.q[i]) && fits;
        app->plant.qd[i] = real_known(0);
    }
    return fits ? APP_OK : APP_E_UNITS;
}

static void place_home(app_self *app) {
    float q[DYN_MAX_JOINTS];
    app->loop.unhomed = 0;
    for (uint32_t i = 0; i < app->n; i++) {
        app->loop.zero[i] = real_known(0);
        app->loop.unhomed |= (uint32_t)(app->joint[i].home != 0) << i;
        (void)CORE(setup_position)(app, i, app->joint[i].offset, &app->plant.zero[i]);
        const float *limit = app->joint[i].position;
        q[i] = app->joint[i].bounded ? fminf(fmaxf(0, limit[0]), limit[1]) : 0;
    }
    (void)place(app, q);
    app->plant.random = 1;
    app->plant.broken = 0;
}

/* What a tick takes: all its stages once, on the arm at rest, with the outputs going nowhere. */
static void rehearse(app_self *app, control_t *c) {
    static const app_inputs_t nothing;
    app_outputs_t out = {.enable = 1};
    const uint32_t feedforward = c->feedforward, head = app->head;
    c->feedforward = FEEDFORWARD_FULL;
    sense(app, c, &nothing);
    CORE(control_settle)(c, &app->loop);
    CORE(reference_rest)(c, &app->loop);
    const uint32_t state = app_clock_lock(), start = app_clock();
    CORE(app_stages_run)(app, c, &nothing, &out);
    app->tick_steps = app_clock_steps(start, app_clock());
    app_clock_unlock(state);
    c->feedforward = feedforward;
    app->head = head;
}

/* What was read of the hardware is not this arm's; with the tick away. */
static void forget_readings(app_self *app) {
    const uint32_t lock = app_clock_lock();
    app->switched = app->ticks;
    app_clock_unlock(lock);
}

/* Everything that depends on arm and rate, with the tick away. Taken over at once: left pending,
 * the next change would make the tick go on with constants that are not this arm's, or none at all.
 */
static int settle(app_self *app) {
    control_t *c = control_spare(app);
    if (!CORE(setup_control)(app, c) || !CORE(setup_plant)(app, &app->plant))
        return APP_E_UNITS;
    float q[DYN_MAX_JOINTS] = {0};
    for (uint32_t i = 0; i < app->n; i++)
        q[i] = CORE(setup_position_si)(app, i, app->plant.q[i]);
    rehearse(app, c);
    (void)place(app, q);
    app->pending = 1;
    take_changes(app);
    const float rate = app->tunable[TUNABLE_rate_hz], hz = (float)app_clock_hz();
    if (hz > 0 && app->tunable[TUNABLE_rate_check] != 0 &&
        (float)app->tick_steps * rate > BUDGET * hz)
        return APP_E_RATE;
    return APP_OK;
}

static int take_arm(app_self *app, const DYN_T(arm) *ready) {
    if (DYN(ready)(ready, DYN_NEEDS_fast | DYN_NEEDS_DRIVES) != DYN_OK)
        return APP_E_UNITS;
    app->arm = ready;
    app->plant.arm = ready;
    return APP_OK;
}

/* Floats hold anything; fixed point only what was proved. */
static bool is_float(void) {
    real one;
    return real_from_model(1e9, 0, &one);
}

/* Reads the image, takes over its settings. */
static int read_image(app_self *app, const uint8_t *bytes, size_t size) {
    image_where_t where;
    const int status = image_read(bytes, size, &app->memory.image, &where);
    if (status != IMAGE_OK) {
        app->where = where.joint;
        return APP_E_IMAGE + status;
    }
#ifdef GENERATED_H
    if (!GENERATED_FITS(&app->memory.image))
        return APP_E_GENERATED;
#endif
    app->units = (dyn_units_t){0};
    if (!image_units(&app->memory.image, &app->units) && !is_float())
        return APP_E_UNPROVED;
    return CORE(setup_settings)(app);
}

/* The constants of fixed point travel in the image. */
static int none_travels(const image_t *image, const void *to) {
    (void)image, (void)to;
    return IMAGE_E_CODE;
}
#define arm_in_image(image, to)                                                                    \
    _Generic((to), const dyn_arm_q31_t ** : image_arm_q31, default : none_travels)(image, to)

#if APP_ARMS > 0 && APP_FLEX
/* The elastic links of the image. Fixed point has no proof for them: limits of deflections. */
static int make_flex(app_self *app) {
    const image_t *image = &app->memory.image;
    real one;
    app->flex = NULL;
    if (!image_elastic(image))
        return APP_OK;
    if (!real_from_model(1e9, 0, &one))
        return APP_E_FLEX;
    const int status = image_get_flex(image, NULL, &app->flex_model);
    if (status != IMAGE_OK)
        return APP_E_IMAGE + status;
    if (DYN(prepare_flex)(&app->model, &app->flex_model, &app->units, &app->beams[0]) != DYN_OK)
        return APP_E_ARM;
    app->flex = &app->beams[0];
    for (uint32_t k = 0; k < DYN_FLEX_MAX; k++)
        app->loop.theta[k] = real_known(0);
    return APP_OK;
}

/* With another payload, beside the arm that has it. */
static inline bool change_flex(app_self *app, uint32_t spare) {
    if (!app->flex)
        return true;
    app->flex = &app->beams[spare];
    return DYN(prepare_flex)(&app->model, &app->flex_model, &app->units, &app->beams[spare]) ==
           DYN_OK;
}
#else
static int make_flex(app_self *app) {
    app->flex = NULL;
    return app->memory.image.section[IMAGE_SECTION_FLEX].bytes ? APP_E_FLEX : APP_OK;
}

static inline bool change_flex(app_self *app, uint32_t spare) {
    (void)app, (void)spare;
    return true;
}
#endif

#if APP_ARMS > 0
/* From the model, or the image's own constants, into our memory; the simulated arm is a copy. */
static int make_arm(app_self *app) {
    const DYN_T(arm) *travelled;
    if (image_model(&app->memory.image, &app->model) != DYN_OK)
        return APP_E_ARM;
    const int found = arm_in_image(&app->memory.image, &travelled);
    if (found == IMAGE_OK)
        memcpy(&app->arms[0], travelled, offsetof(DYN_T(arm), joint[app->n]));
    else if (!is_float()) /* constants made here would have limits that nothing was proved for */
        return APP_E_IMAGE + found;
    else if (DYN(prepare)(&app->model, &app->units, &app->arms[0]) != DYN_OK)
        return APP_E_UNITS;
    app->arms[APP_ARMS - 1] = app->arms[0];
    const int status = take_arm(app, &app->arms[0]);
    app->plant.arm = &app->arms[APP_ARMS - 1];
    return status;
}
#else
static int make_arm(app_self *app) {
    const DYN_T(arm) *travelled;
    const int found = arm_in_image(&app->memory.image, &travelled);
    return found == IMAGE_OK ? take_arm(app, travelled) : APP_E_IMAGE + found;
}
#endif

/* With the tick away; ready: an arm that is prepared already, or NULL. */
static int load(app_self *app, const uint8_t *bytes, size_t size, const DYN_T(arm) *ready) {
    int status = read_image(app, bytes, size);
    if (status == APP_OK)
        status = ready ? take_arm(app, ready) : make_arm(app);
    if (status == APP_OK)
        status = make_flex(app);
    if (status != APP_OK)
        return status;
    place_home(app);
    forget_readings(app);
    return settle(app);
}

int CORE(app_load_arm)(app_self *app, const uint8_t *bytes, size_t size, const DYN_T(arm) *ready) {
    app->where = UINT32_MAX;
    if (!CORE(app_rests)(app))
        return APP_E_STATE;
    CORE(tick_away)(app);
    const int status = load(app, bytes, size, ready);
    app->head = app->tail = 0; /* the image lay where the samples are */
    app->since_sample = 0;
    app->motion.kind = MOTION_HOLD;
    app->loads += status == APP_OK;
    app->loaded = status == APP_OK;
    app->n = status == APP_OK ? app->n : 0;
    app->state =
        app_state_next(app->state, status == APP_OK ? APP_EVENT_LOADED : APP_EVENT_REFUSED);
    CORE(tick_back)(app);
    return status;
}

bool CORE(app_lend)(app_self *app) {
    const bool free = CORE(app_rests)(app);
    if (free)
        app->motion.kind = MOTION_HOLD;
    return free;
}

int CORE(app_load)(app_self *app, const uint8_t *bytes, size_t size) {
    return CORE(app_load_arm)(app, bytes, size, NULL);
}

/* Decided between two ticks: one that closes the loop in between would make a release of a stop. */
int CORE(app_stop)(app_self *app) {
    if (app->state == APP_STATE_FAULT)
        return APP_E_STATE;
    const uint32_t lock = app_clock_lock();
    if (outputs_off(app))
        app->leaving = 1; /* a motion may be waiting for the next tick, or for its points */
    else
        app->stopping = 1;
    app_clock_unlock(lock);
    return APP_OK;
}

int CORE(app_off)(app_self *app) {
    app->leaving = 1;
    return APP_OK;
}

/* Where the loop holds an arm without brakes it goes on holding. Between two ticks: the stop may
 * become a worse one or end in any of them. */
int CORE(app_clear)(app_self *app) {
    const uint32_t lock = app_clock_lock();
    const uint32_t stop = app->stop;
    const bool holds = stop <= APP_STOP_LOWER;
    const bool clears = app->state == APP_STATE_FAULT &&
                        !(stop == APP_STOP_HOLD && app->motion.kind != MOTION_HOLD);
    if (clears) {
        if (stop == APP_STOP_LOWER)
            app->stopping = 1; /* the loop is closed, and the reference goes down */
        app->plant.broken = 0;
        app->guard.late = app->guard.unread = 0;
        app->fault = APP_FAULT_NONE;
        app->fault_joint = APP_NO_JOINT;
        app->state = app_state_next(APP_STATE_FAULT, !app->loaded ? APP_EVENT_FORGET
                                                     : holds      ? APP_EVENT_RESUME
                                                                  : APP_EVENT_CLEAR);
    }
    app_clock_unlock(lock);
    return clears ? APP_OK : APP_E_STATE;
}

int CORE(app_place)(app_self *app, const float q[]) {
    app->where = UINT32_MAX;
    if (!CORE(app_rests)(app) || app->state != APP_STATE_IDLE)
        return APP_E_STATE;
    if (app->tunable[TUNABLE_plant] == 0)
        return APP_E_PLANT;
    for (uint32_t i = 0; i < app->n; i++) {
        const CORE_T(settings) *s = &app->joint[i];
        app->where = i;
        if (!isfinite(q[i]))
            return APP_E_NUMBER;
        if (s->bounded && !(q[i] >= s->position[0] && q[i] <= s->position[1]))
            return APP_E_POSITION;
    }
    app->where = UINT32_MAX;
    CORE(tick_away)(app);
    app->motion.kind = MOTION_HOLD; /* points that it waits for would begin where the arm was */
    const int status = place(app, q);
    const control_t *c = control_next(app);
    static const app_inputs_t nothing;
    sense(app, c, &nothing); /* so that a motion may start before the next tick */
    CORE(tick_back)(app);
    return status;
}

/* -------------------------------------------------------------------------------- tunables */

static bool names_joint(const app_self *app, uint32_t tunable, uint32_t at) {
    return tunable < TUNABLES && at < (tunable_table[tunable].per_joint ? app->n : 1);
}

/* How a joint finds its position has changed: it does not know it any more, or knows it by itself.
 * Its unit may be another one, and what is kept in it. */
static void change_home(app_self *app, uint32_t at) {
    CORE_T(settings) *s = &app->joint[at];
    const float q = CORE(setup_position_si)(app, at, app->plant.q[at]);
    const float zero = CORE(setup_position_si)(app, at, app->plant.zero[at]);
    s->unit = CORE(setup_unit)(s);
    (void)CORE(setup_position)(app, at, q, &app->plant.q[at]);
    (void)CORE(setup_position)(app, at, zero, &app->plant.zero[at]);
    app->loop.zero[at] = real_known(0);
    app->loop.unhomed = (app->loop.unhomed & ~(1u << at)) | (uint32_t)(s->home != 0) << at;
}

/* What is controlled now is another arm: its turns are counted from where it is. */
static void change_plant(app_self *app) {
    if (app->control[app->now].simulated == (app->tunable[TUNABLE_plant] != 0))
        return;
    for (uint32_t i = 0; i < app->n; i++) {
        app->loop.counts[i] = 0;
        change_home(app, i);
    }
    forget_readings(app);
}

static float *tunable_place(app_self *app, uint32_t tunable, uint32_t at) {
    CORE_T(settings) *s = &app->joint[at];
    switch (tunable) {
    case TUNABLE_kp:
        return &s->kp;
    case TUNABLE_kd:
        return &s->kd;
    case TUNABLE_encoder_offset:
        return &s->offset;
    case TUNABLE_encoder_sign:
        return &s->sign;
    case TUNABLE_encoder_ratio:
        return &s->ratio;
    case TUNABLE_position_lower:
        return &s->position[0];
    case TUNABLE_position_upper:
        return &s->position[1];
    case TUNABLE_home:
        return &s->home;
    case TUNABLE_home_position:
        return &s->home_position;
    default:
        return &app->tunable[tunable];
    }
}

int CORE(app_get)(const app_self *app, uint32_t tunable, uint32_t at, float *value) {
    if (!names_joint(app, tunable, at))
        return APP_E_TUNABLE;
    *value = *tunable_place((app_self *)(uintptr_t)app, tunable, at);
    return APP_OK;
}

#ifdef GENERATED_H
/* The payload is a number in the code. */
static int change_payload(app_self *app) {
    (void)app;
    return APP_E_GENERATED;
}
#elif APP_ARMS > 0
/* In what a tunable sets: mass and centre of mass. */
static bool same_payload(const dyn_body_t *a, const dyn_body_t *b) {
    return a->mass == b->mass && a->com[0] == b->com[0] && a->com[1] == b->com[1] &&
           a->com[2] == b->com[2];
}

/* The arm with another payload, prepared beside the one in use. */
static int change_payload(app_self *app) {
    dyn_model_t *model = &app->model;
    const dyn_body_t before = model->payload;
    const float *t = app->tunable;
    model->payload.mass = (double)t[TUNABLE_payload_mass];
    model->payload.com[0] = (double)t[TUNABLE_payload_x];
    model->payload.com[1] = (double)t[TUNABLE_payload_y];
    model->payload.com[2] = (double)t[TUNABLE_payload_z];
    app->pending = 0;
    DYN_T(arm) *spare = app->control[app->now].arm == &app->arms[0] ? &app->arms[1] : &app->arms[0];
    if (spare != app->arm)
        *spare = *app->arm;
    /* Fixed point is proved for the payload of the image. */
    const bool proved = is_float() || same_payload(&model->payload, &before);
    if (!proved || DYN(prepare_payload)(model, &app->units, spare) != DYN_OK ||
        DYN(ready)(spare, DYN_NEEDS_fast) != DYN_OK || !change_flex(app, spare == &app->arms[1])) {
        model->payload = before;
        return APP_E_UNITS;
    }
    app->arm = spare;
    return change_control(app);
}
#else
static int change_payload(app_self *app) {
    (void)app;
    return APP_E_MEMORY;
}
#endif

static int resettle(app_self *app) {
    app->motion.kind = MOTION_HOLD; /* one that waits for its points was made for what was before */
    return settle(app);
}

/* Makes a new value of a tunable work; of one that is for rest only with the tick away. */
static int apply(app_self *app, uint32_t tunable) {
    if (!app->loaded)
        return APP_OK;
    switch (tunable) {
    case TUNABLE_payload_mass:
    case TUNABLE_payload_x:
    case TUNABLE_payload_y:
    case TUNABLE_payload_z:
        return change_payload(app);
    case TUNABLE_plant_mass:
    case TUNABLE_plant_friction:
    case TUNABLE_plant_noise:
    case TUNABLE_plant_defect:
    case TUNABLE_plant_defect_joint:
    case TUNABLE_plant_shift:
        CORE(setup_errors)(app, &app->plant);
        return APP_OK;
    case TUNABLE_position_lower:
    case TUNABLE_position_upper:
        for (uint32_t i = 0; i < app->n; i++)
            app->joint[i].bounded = app->joint[i].position[1] > app->joint[i].position[0];
        return resettle(app);
    case TUNABLE_home:
    case TUNABLE_home_position:
        change_home(app, app->where);
        return resettle(app);
    case TUNABLE_encoder_offset:
    case TUNABLE_encoder_sign:
    case TUNABLE_encoder_ratio:
    case TUNABLE_rate_hz:
        return resettle(app);
    case TUNABLE_plant:
        change_plant(app);
        return resettle(app);
    default:
        return change_control(app);
    }
}

int CORE(app_set)(app_self *app, uint32_t tunable, uint32_t at, float value) {
    app->where = at;
    if (!names_joint(app, tunable, at))
        return APP_E_TUNABLE;
    const tunable_info_t *info = &tunable_table[tunable];
    if (!(value >= info->least && value <= info->most) ||
        (info->whole && value != (float)(int32_t)value) ||
        (tunable == TUNABLE_encoder_sign && fabsf(value) != 1))
        return APP_E_RANGE;
    if (info->idle_only && !CORE(app_rests)(app))
        return APP_E_STATE;
    float *place_of = tunable_place(app, tunable, at);
    const float before = *place_of;
    *place_of = value;
    if (info->idle_only)
        CORE(tick_away)(app); /* until what was refused is undone */
    const int status = apply(app, tunable);
    if (status != APP_OK) {
        *place_of = before;
        (void)apply(app, tunable);
    }
    CORE(tick_back)(app);
    return status;
}

/* --------------------------------------------------------------------------------- answers */

/* What was read is of one moment if no tick came while it was read. */
static bool ticked(const app_self *app, uint32_t ticks) {
    atomic_signal_fence(memory_order_seq_cst);
    return app->ticks != ticks;
}

void CORE(app_status)(const app_self *app, app_status_t *out) {
    real value, limit;
    do {
        *out = (app_status_t){.ticks = app->ticks};
        atomic_signal_fence(memory_order_seq_cst);
        out->state = app->state;
        out->fault = app->fault;
        out->fault_joint = app->fault_joint;
        out->stop = app->stop;
        out->enabled = app->enabled;
        out->moving = app->motion.kind != MOTION_HOLD;
        value = app->fault_value;
        limit = app->fault_limit;
    } while (ticked(app, out->ticks));
    out->joints = app->n;
    out->overruns = app->overruns;
    out->unproved = app->unproved;
    out->underruns = app->motion.underruns;
    out->samples = app->head;
    out->dropped = app->dropped;
    out->rate_hz = (uint32_t)app->tunable[TUNABLE_rate_hz];
    out->loads = app->loads;
    out->tick_steps = app->tick_steps;
    out->limited = app->guard.limited;
    out->unhomed = app->loop.unhomed;
    const uint32_t at = out->fault_joint < app->n ? out->fault_joint : 0;
    const unsigned quantity = app_fault_quantity(out->fault);
    const int exponent = CORE(app_exponent)(app, quantity, at);
    const float unit = quantity == QUANTITY_SUPPLY ? 0.001f : 1;
    out->fault_value = (float)real_to_model(value, exponent) * unit;
    out->fault_limit = (float)real_to_model(limit, exponent) * unit;
    for (uint32_t i = 0; i < app->n; i++) {
        out->q[i] = CORE(setup_position_si)(app, i, app->loop.q[i]);
        out->q_ref[i] = CORE(setup_position_si)(app, i, app->loop.q_ref[i]);
    }
}

uint32_t CORE(app_where)(const app_self *app) {
    return app->where;
}

const sample_t *CORE(app_sample_peek)(const app_self *app) {
    return app->head == app->tail ? NULL : &app->memory.ring[app->tail % APP_SAMPLES];
}

void CORE(app_sample_release)(app_self *app) {
    if (app->head != app->tail)
        app->tail++;
}

#define WORD_ONE(name)   ((const uint8_t *)&sample->name)
#define WORD_JOINT(name) ((const uint8_t *)&sample->name[at])
uint32_t CORE(app_sample_word)(const sample_t *sample, uint32_t field, uint32_t at) {
    uint32_t word = 0;
    const uint8_t *from = NULL;
    switch (field) {
#define X(name, shape, quantity, help)                                                             \
    case SAMPLE_##name:                                                                            \
        from = WORD_##shape(name);                                                                 \
        break;
        SAMPLE_TABLE(X)
#undef X
    default:
        return 0;
    }
    memcpy(&word, from, sizeof word);
    return word;
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
const char *CORE(app_real_name)(void) {
    return TEXT(DYN_REAL);
}

void CORE(app_stages)(const app_self *app, app_stages_t *out) {
    uint32_t ticks;
    do {
        ticks = app->ticks;
        atomic_signal_fence(memory_order_seq_cst);
        *out = app->stages;
    } while (ticked(app, ticks));
    for (uint32_t k = 0; k <= STAGES && out->ticks > 0; k++) {
        out->least[k] = app_clock_cost(out->least[k]);
        out->most[k] = app_clock_cost(out->most[k]);
        out->sum[k] = (uint64_t)app_clock_cost((uint32_t)(out->sum[k] / out->ticks)) * out->ticks;
    }
}

void CORE(app_stages_clear)(app_self *app) {
    uint32_t ticks;
    do { /* again where a tick has counted into it */
        ticks = app->ticks;
        atomic_signal_fence(memory_order_seq_cst);
        memset(&app->stages, 0, sizeof app->stages);
        for (uint32_t k = 0; k <= STAGES; k++)
            app->stages.least[k] = UINT32_MAX;
    } while (ticked(app, ticks));
}
