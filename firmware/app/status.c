/* Data that the background reads from the application: status, samples, costs of the stages. */
#include <string.h>

#include "firmware/app/setup.h"
#include "firmware/control/number.h"

/* Returns true if a tick came since `ticks` was read. The values may then belong to two ticks and
 * must be read again. */
static bool ticked(const app_t *app, uint32_t ticks) {
    atomic_signal_fence(memory_order_seq_cst);
    return app->ticks != ticks;
}

void app_status(const app_t *app, app_status_t *out) {
    real value, limit;
    do {
        *out = (app_status_t){.ticks = app->ticks};
        atomic_signal_fence(memory_order_seq_cst);
        out->state = app->safety.state;
        out->fault = app->safety.fault;
        out->fault_joint = app->safety.fault_joint;
        out->stop = app->safety.stop;
        out->enabled = app->enabled;
        out->moving = app->motion.kind != MOTION_HOLD;
        value = app->safety.fault_value;
        limit = app->safety.fault_limit;
    } while (ticked(app, out->ticks));
    out->joints = app->n;
    out->overruns = app->overruns;
    out->unproved = app->unproved;
    out->underruns = app->motion.underruns;
    out->samples = app->head;
    out->dropped = app->dropped;
    out->rate_hz = (uint32_t)app->parameter[PARAMETER_rate_hz];
    out->loads = app->loads;
    out->tick_steps = app->tick_steps;
    out->limited = app->safety.guard.effort.limited;
    out->unhomed = app->loop.unhomed;
    const uint32_t at = out->fault_joint < app->n ? out->fault_joint : 0;
    const unsigned quantity = app_fault_quantity(out->fault);
    const int exponent = app_exponent(app, quantity, at);
    const float unit = quantity == QUANTITY_SUPPLY ? 0.001f : 1;
    out->fault_value = (float)real_to_model(value, exponent) * unit;
    out->fault_limit = (float)real_to_model(limit, exponent) * unit;
    for (uint32_t i = 0; i < app->n; i++) {
        out->q[i] = setup_position_si(app, i, app->loop.q[i]);
        out->q_ref[i] = setup_position_si(app, i, app->loop.q_ref[i]);
    }
}

uint32_t app_heat(const app_t *app, uint32_t at) {
    return thermal_percent(&app->control[app->now], &app->safety.thermal, at);
}

uint32_t app_where(const app_t *app) {
    return app->where;
}

const sample_t *app_sample_peek(const app_t *app) {
    return app->head == app->tail ? NULL : &app->memory.ring[app->tail % APP_SAMPLES];
}

void app_sample_release(app_t *app) {
    if (app->head != app->tail)
        app->tail++;
    /* The place of a sample is its number modulo the size of the ring, which must not jump when the
     * number wraps. */
    const uint32_t lock = app_clock_lock();
    if (app->head == app->tail && app->head > INT32_MAX)
        app->head = app->tail = 0;
    app_clock_unlock(lock);
}

#define WORD_ONE(name)   ((const uint8_t *)&sample->name)
#define WORD_JOINT(name) ((const uint8_t *)&sample->name[at])
uint32_t app_sample_word(const sample_t *sample, uint32_t field, uint32_t at) {
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

const char *app_real_name(void) {
    return CONTROL_REAL_NAME;
}

void app_stages(const app_t *app, app_stages_t *out) {
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

void app_stages_clear(app_t *app) {
    uint32_t ticks;
    do { /* repeats if a tick has counted meanwhile */
        ticks = app->ticks;
        atomic_signal_fence(memory_order_seq_cst);
        memset(&app->stages, 0, sizeof app->stages);
        for (uint32_t k = 0; k <= STAGES; k++)
            app->stages.least[k] = UINT32_MAX;
    } while (ticked(app, ticks));
}

residual_t app_residual(const app_t *app) {
    const setup_t from = setup_from(app);
    return sensors_residual(&from, &app->loop);
}

/* A quarter of a second after the loop has begun to hold the arm, and as often again, the
 * feedback's share of the torques is the residual of gravity. What it told stays told while the arm
 * moves. */
void setup_judge_load(app_t *app) {
    const uint32_t quarter = (uint32_t)app->parameter[PARAMETER_rate_hz] / 4;
    const bool held = app->safety.state == APP_STATE_RUNNING && app->motion.kind == MOTION_HOLD;
    if (!app->enabled)
        app->notice &= ~(uint32_t)NOTICE_LOAD;
    if (!held)
        app->rested = app->ticks;
    if (app->ticks - app->rested < quarter)
        return;
    app->rested = app->ticks;
    app->notice &= ~(uint32_t)NOTICE_LOAD;
    if (app_residual(app).joint != APP_NO_JOINT)
        app->notice |= NOTICE_LOAD;
}
