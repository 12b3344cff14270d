/* The tables of the application as constants: names and texts by their numbers. */
#include "firmware/app/errors.h"
#include "firmware/app/stages.h"
#include "firmware/control/clock.h"
#include "firmware/control/io.h"
#include "firmware/control/motion.h"
#include "firmware/control/sample.h"
#include "firmware/lab/defects.h"
#include "firmware/params/image.h"
#include "firmware/params/variant.h"
#include "firmware/safety/faults.h"

#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

const sample_info_t sample_table[SAMPLE_FIELDS] = {
#define ONE                            0
#define JOINT                          1
#define X(name, shape, quantity, help) {#name, HELP(help), shape, QUANTITY_##quantity},
    SAMPLE_TABLE(X)
#undef X
};

const char *quantity_unit(unsigned quantity, unsigned prismatic) {
    static const char *const unit[][2] = {
#define X(name, revolute, prismatic) {revolute, prismatic},
        QUANTITY_TABLE(X)
#undef X
    };
    return quantity < COUNT(unit) ? unit[quantity][prismatic != 0] : "";
}

/* NAME_OF defines a function that returns the text of a table entry by its number. */
#define TEXT(number, name, text, help) text,
#define NAME_OF(function, TABLE)                                                                   \
    const char *function(unsigned number) {                                                        \
        static const char *const name[] = {TABLE(TEXT)};                                           \
        return number < COUNT(name) ? name[number] : "unknown";                                    \
    }
NAME_OF(motion_name, MOTION_TABLE)
NAME_OF(defect_name, DEFECT_TABLE)
NAME_OF(app_state_name, APP_STATE_TABLE)

const char *stage_name(unsigned stage) {
    static const char *const name[] = {
#define X(name, text, help) text,
        STAGE_TABLE(X)
#undef X
    };
    return stage < COUNT(name) ? name[stage] : "tick";
}

unsigned app_state_next(unsigned state, unsigned event) {
    /* 0: no change; otherwise the next state plus 1. */
    static const uint8_t next[APP_STATES][APP_EVENTS] = {
#define X(from, event, to) [APP_STATE_##from][APP_EVENT_##event] = APP_STATE_##to + 1,
        APP_TRANSITION_TABLE(X)
#undef X
    };
    if (state >= APP_STATES || event >= APP_EVENTS || next[state][event] == 0)
        return state;
    return next[state][event] - 1u;
}

static const struct {
    const char *name, *does;
} stops[] = {
#define X(number, name, text, does) [number] = {text, HELP(does)},
    APP_STOP_TABLE(X)
#undef X
};

const char *app_stop_name(unsigned stop) {
    return stop < COUNT(stops) ? stops[stop].name : "unknown";
}

const char *app_stop_does(unsigned stop) {
    return stop < COUNT(stops) ? stops[stop].does : "";
}

static const struct {
    const char *name, *cause, *cure;
    uint8_t quantity, stop;
} faults[] = {
#define X(number, name, text, quantity, stop, cause, cure)                                         \
    [number] = {text, HELP(cause), HELP(cure), QUANTITY_##quantity, APP_STOP_##stop},
    APP_FAULT_TABLE(X)
#undef X
};

const char *app_fault_name(unsigned fault) {
    return fault < COUNT(faults) && faults[fault].name ? faults[fault].name : "unknown";
}

const char *app_fault_cause(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].cause : "a fault that this build does not know";
}

const char *app_fault_cure(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].cure
                                 : "use `appell` and firmware of the same version";
}

unsigned app_fault_quantity(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].quantity : QUANTITY_NONE;
}

unsigned app_fault_stop(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].stop : APP_STOP_RELEASE;
}

static const struct {
    const char *cause, *cure;
} errors[] = {
#define X(number, name, cause, cure) [-(number)-1] = {HELP(cause), HELP(cure)},
    APP_ERROR_TABLE(X)
#undef X
};

const char *app_cause(int error) {
    if (error < 0 && -error <= (int)COUNT(errors))
        return errors[-error - 1].cause;
    return error < APP_E_IMAGE ? image_cause(error - APP_E_IMAGE) : "nothing is wrong";
}

const char *app_cure(int error) {
    if (error < 0 && -error <= (int)COUNT(errors))
        return errors[-error - 1].cure;
    return error < APP_E_IMAGE ? image_cure(error - APP_E_IMAGE) : "";
}

/* Defaults for functions that the program around the core may provide: no counter, no lock, no
 * hardware. */
__attribute__((weak)) uint32_t app_clock(void) {
    return 0;
}

__attribute__((weak)) uint32_t app_clock_steps(uint32_t start, uint32_t end) {
    return end - start;
}

__attribute__((weak)) void app_hardware(hardware_t *out) {
    *out = (hardware_t){.flags = HARDWARE_UNKNOWN};
}

__attribute__((weak)) uint32_t app_unlatch(void) {
    return 0;
}

__attribute__((weak)) uint32_t app_clock_hz(void) {
    return 0;
}

__attribute__((weak)) uint32_t app_clock_cost(uint32_t steps) {
    return steps;
}

__attribute__((weak)) uint32_t app_clock_lock(void) {
    return 0;
}

__attribute__((weak)) void app_clock_unlock(uint32_t state) {
    (void)state;
}
