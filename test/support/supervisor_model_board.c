/* Part of test/support/supervisor_model.h: who may ask, what is stored, how the board starts; and the
 * table of states, for the count of what was reached. */
#include "test/support/supervisor_model.h"

#include <stdio.h>
#include <string.h>

const char *const model_state_name[MODEL_STATES] = {"unconfigured", "idle",  "homing", "running",
                                                    "stopping",     "fault", "damping"};
const char *const model_event_name[MODEL_EVENTS] = {
    "robot loaded",    "robot refused", "motion starts",    "homing starts", "stop requested",
    "rest, brakes",    "released",      "finding",          "rest, held",    "cleared, off",
    "cleared, damped", "cleared, held", "cleared, no robot"};

/* The table of firmware/safety/README.md: a bit for each state that the event changes. */
#define FROM(state) (1u << (state))
static const uint8_t changes[MODEL_EVENTS] = {
    [EVENT_LOADED] = FROM(UNCONFIGURED) | FROM(IDLE),
    [EVENT_REFUSED] = FROM(IDLE),
    [EVENT_CLOSED] = FROM(IDLE) | FROM(DAMPING),
    [EVENT_HOME] = FROM(IDLE) | FROM(RUNNING),
    [EVENT_STOP] = FROM(HOMING) | FROM(RUNNING),
    [EVENT_RESTED] = FROM(HOMING) | FROM(STOPPING) | FROM(DAMPING),
    [EVENT_RELEASE] = FROM(IDLE) | FROM(HOMING) | FROM(RUNNING) | FROM(STOPPING) | FROM(DAMPING),
    [EVENT_FINDING] = FROM(UNCONFIGURED) | FROM(IDLE) | FROM(HOMING) | FROM(RUNNING) |
                      FROM(STOPPING) | FROM(DAMPING),
    [EVENT_RESUMED] = FROM(HOMING) | FROM(STOPPING),
    [EVENT_CLEAR_RELEASED] = FROM(FAULTED),
    [EVENT_CLEAR_DAMPED] = FROM(FAULTED),
    [EVENT_CLEAR_HELD] = FROM(FAULTED),
    [EVENT_CLEAR_EMPTY] = FROM(FAULTED),
};

bool model_changes(uint32_t state, uint32_t event) {
    return changes[event] >> state & 1;
}

void model_reach(supervisor_model_t *m, uint32_t event, uint32_t state) {
    m->reached[m->state][event]++;
    if (state != m->state)
        m->at_state = 0;
    m->state = state;
}

/* ---------------------------------------------------------------------------------------- tokens */

/* The holder of the lease, and anybody while nobody has it, except that the real arm moves only for
 * the holder. The request of the holder renews the lease. */
reasons_t model_may(supervisor_model_t *m, uint32_t token, bool moves) {
    const bool mine = m->lease > 0 && token == m->token;
    reasons_t against = {0, 0};
    if (!mine && (m->lease > 0 || (moves && model_real(m))))
        against.hard |= REASON(APP_E_LEASE);
    if (mine)
        model_renew(m);
    return against;
}

/* ---------------------------------------------------------------------------------------- store */

static uint32_t joints_of(const image_t *image, uint32_t parameter) {
    return parameter_table[parameter].per_joint ? image->n : 1;
}

/* Stored numbers are compared bit by bit. */
static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool differs(const supervisor_model_t *m) {
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < joints_of(&m->image, p); j++)
            if (bits_of(m->stored.value[p][j]) != bits_of(m->value[p][j].lasting))
                return true;
    return m->stored.sequence == 0 || m->stored.robot != m->robot;
}

/* SAVE writes if something has changed, and only then; a robot that was sent again may be written
 * again. */
bool model_save(supervisor_model_t *m, uint32_t sequence, int result) {
    reasons_t against = {0, 0};
    const bool written = sequence != m->stored.sequence;
    if (model_outputs_on(m) || m->closing)
        against.hard |= REASON(APP_E_STATE);
    if (m->dropped)
        against.soft |= REASON(APP_E_STATE);
    if (!m->loaded)
        against.hard |= 1u << 31;
    if (!model_judge(m, "save", against, result))
        return false;
    if (result != APP_OK)
        return !written || COMPLAIN(m, "a refused save has written");
    if (written != differs(m) && !(written && m->sent))
        return COMPLAIN(m, "save has written: %u", (unsigned)written);
    m->stored.sequence = sequence;
    m->stored.robot = m->robot;
    m->stored.image = m->image;
    m->sent = false;
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < joints_of(&m->image, p); j++)
            m->stored.value[p][j] = m->value[p][j].lasting;
    return true;
}

/* ---------------------------------------------------------------------------------------- start */

bool model_may_reset(supervisor_model_t *m, int result) {
    reasons_t against = {0, 0};
    if (model_outputs_on(m) || m->closing)
        against.hard |= REASON(APP_E_STATE);
    if (m->dropped)
        against.soft |= REASON(APP_E_STATE);
    if (m->lease > 0)
        against.hard |= REASON(APP_E_LEASE);
    return model_judge(m, "reset", against, result);
}

void model_reset(supervisor_model_t *m, const hardware_t *board, const uint8_t *stays) {
    const supervisor_model_t before = *m;
    memset(m, 0, sizeof *m);
    memcpy(m->reached, before.reached, sizeof m->reached);
    memcpy(m->faults, before.faults, sizeof m->faults);
    memcpy(m->most, before.most, sizeof m->most);
    m->unrestored_starts = before.unrestored_starts;
    m->stored = before.stored;
    m->board = board;
    m->stays = stays;
    for (uint32_t p = 0; p < PARAMETERS; p++)
        for (uint32_t j = 0; j < MODEL_JOINTS; j++)
            m->value[p][j].now = m->value[p][j].lasting = parameter_table[p].fallback;
    if (m->stored.sequence == 0)
        return;
    model_take_image(m, &m->stored.image);
    m->robot = m->stored.robot;
    m->loaded = true;
    m->state = IDLE;
}

/* The value of a parameter after the start. What differs from the stored one must be told. */
void model_started(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float value) {
    m->value[parameter][joint] = (model_value_t){value, value, FREE};
    if (m->stored.sequence != 0 && bits_of(m->stored.value[parameter][joint]) != bits_of(value))
        m->unrestored = true;
}

bool model_told_start(supervisor_model_t *m, bool unrestored) {
    if (unrestored != m->unrestored)
        return COMPLAIN(m, "status tells %u about stored values that were refused",
                        (unsigned)unrestored);
    m->unrestored_starts += unrestored;
    m->brakes_changed = 0;
    return true;
}

/* The reason for the start is a fault until it is cleared. */
void model_start_fault(supervisor_model_t *m, uint32_t fault) {
    model_reach(m, EVENT_FINDING, FAULTED);
    m->fault = fault;
    m->faults[fault]++;
    m->stop = STOP_RELEASE;
}
