/* The tables of the application as constants: names and texts by number. */
#include "firmware/core/app_types.h"
#include "firmware/core/image.h"

#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

const sample_info_t sample_table[SAMPLE_FIELDS] = {
#define ONE                            0
#define JOINT                          1
#define X(name, shape, quantity, help) {#name, help, shape, QUANTITY_##quantity},
    SAMPLE_TABLE(X)
#undef X
};

#define ANY  0
#define IDLE 1
const tunable_info_t tunable_table[TUNABLES] = {
#define X(name, shape, when, unit, least, most, fallback, help)                                    \
    {#name, unit, help, least, most, fallback, shape, when},
    TUNABLE_TABLE(X)
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

const char *motion_name(unsigned kind) {
    static const char *const name[] = {
#define X(number, name, text, help) text,
        MOTION_TABLE(X)
#undef X
    };
    return kind < COUNT(name) ? name[kind] : "unknown";
}

const char *stage_name(unsigned stage) {
    static const char *const name[] = {
#define X(name, text, help) text,
        STAGE_TABLE(X)
#undef X
    };
    return stage < COUNT(name) ? name[stage] : "tick";
}

const char *app_state_name(unsigned state) {
    static const char *const name[] = {
#define X(number, name, text, does) text,
        APP_STATE_TABLE(X)
#undef X
    };
    return state < COUNT(name) ? name[state] : "unknown";
}

static const struct {
    const char *name, *cause, *cure;
} faults[] = {
#define X(number, name, text, cause, cure) [number] = {text, cause, cure},
    APP_FAULT_TABLE(X)
#undef X
};

const char *app_fault_name(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].name : "unknown";
}

const char *app_fault_cause(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].cause : "a fault that this build does not know";
}

const char *app_fault_cure(unsigned fault) {
    return fault < COUNT(faults) ? faults[fault].cure : "use a tool of the board's version";
}

static const struct {
    int number;
    const char *cause, *cure;
} errors[] = {
#define X(number, name, cause, cure) {number, cause, cure},
    APP_ERROR_TABLE(X)
#undef X
};

const char *app_cause(int error) {
    for (size_t i = 0; i < COUNT(errors); i++)
        if (errors[i].number == error)
            return errors[i].cause;
    return error < APP_E_IMAGE ? image_cause(error - APP_E_IMAGE) : "nothing is wrong";
}

const char *app_cure(int error) {
    for (size_t i = 0; i < COUNT(errors); i++)
        if (errors[i].number == error)
            return errors[i].cure;
    return error < APP_E_IMAGE ? image_cure(error - APP_E_IMAGE) : "";
}

/* Without a counter nothing costs anything. */
__attribute__((weak)) uint32_t app_clock(void) {
    return 0;
}

__attribute__((weak)) uint32_t app_clock_steps(uint32_t start, uint32_t end) {
    return end - start;
}

__attribute__((weak)) uint32_t app_clock_hz(void) {
    return 0;
}

__attribute__((weak)) uint32_t app_clock_cost(uint32_t steps) {
    return steps;
}
