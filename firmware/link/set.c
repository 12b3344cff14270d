/* Implements firmware/link/set.h. */
#include "firmware/link/set.h"
#include "firmware/params/bytes.h"

#include <string.h>

static uint32_t name_crc(const char *name) {
    return crc32_add(0, name, strlen(name));
}

static uint32_t word_at(const store_t *store, uint32_t at) {
    uint8_t bytes[4];
    store_read(store, at, bytes, sizeof bytes);
    return get_u32(bytes);
}

static uint32_t joints_of(const app_t *app, uint32_t parameter) {
    app_status_t status;
    app_status(app, &status);
    return parameter_table[parameter].per_joint ? status.joints : 1;
}

int set_image(const store_t *store, uint32_t *length) {
    *length = 0;
    if (store->current == STORE_NONE)
        return STORE_E_EMPTY;
    if (store->length < SET_IMAGE)
        return STORE_E_CONTENT;
    if (word_at(store, 0) != SET_VERSION)
        return STORE_E_VERSION;
    const uint32_t image = word_at(store, 4);
    if (image % 4 != 0 || image > store->length - SET_IMAGE ||
        store->length - SET_IMAGE - image < 12)
        return STORE_E_CONTENT;
    *length = image;
    return STORE_OK;
}

static int put_word(store_t *store, uint32_t word) {
    uint8_t bytes[4];
    put_u32(bytes, word);
    return store_put(store, bytes, sizeof bytes);
}

int set_put_head(store_t *store, uint32_t image_length) {
    const int status = put_word(store, SET_VERSION);
    return status == STORE_OK ? put_word(store, image_length) : status;
}

static int put_parameter(store_t *store, const app_t *app, uint32_t parameter, uint32_t joint) {
    uint8_t entry[SET_PARAMETER];
    float value = 0;
    (void)app_lasting(app, parameter, joint, &value);
    put_f32(put_u32(put_u32(entry, name_crc(parameter_table[parameter].name)), joint), value);
    return store_put(store, entry, sizeof entry);
}

int set_put_no_tables(store_t *store) {
    static const uint32_t words[] = {0, 1, 0}; /* no parameters; decimation 1, no fields */
    int status = STORE_OK;
    for (uint32_t i = 0; i < sizeof words / sizeof words[0] && status == STORE_OK; i++)
        status = put_word(store, words[i]);
    return status;
}

int set_put_tables(store_t *store, const app_t *app, const telemetry_t *telemetry) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < PARAMETERS; t++)
        count += joints_of(app, t);
    int status = put_word(store, count);
    for (uint32_t t = 0; t < PARAMETERS && status == STORE_OK; t++) {
        const uint32_t joints = joints_of(app, t);
        for (uint32_t joint = 0; joint < joints && status == STORE_OK; joint++)
            status = put_parameter(store, app, t, joint);
    }
    if (status == STORE_OK)
        status = put_word(store, telemetry->every);
    if (status == STORE_OK)
        status = put_word(store, telemetry->fields);
    for (uint32_t i = 0; i < telemetry->fields && status == STORE_OK; i++)
        status = put_word(store, name_crc(sample_table[telemetry->field[i]].name));
    return status;
}

/* Returns the offset of the parameters in the set; *count is their number. */
static uint32_t parameters_at(const store_t *store, uint32_t *count) {
    uint32_t image;
    *count = 0;
    if (set_image(store, &image) != STORE_OK)
        return 0;
    const uint32_t at = SET_IMAGE + image + 4;
    const uint32_t stored = word_at(store, at - 4);
    if (stored <= (store->length - at) / SET_PARAMETER)
        *count = stored;
    return at;
}

bool set_contains(const store_t *store, uint32_t parameter, uint32_t joint, float value) {
    uint32_t count;
    uint32_t at = parameters_at(store, &count);
    const uint32_t name = name_crc(parameter_table[parameter].name);
    for (; count > 0; count--, at += SET_PARAMETER) {
        uint8_t entry[SET_PARAMETER];
        store_read(store, at, entry, sizeof entry);
        if (get_u32(entry) == name && get_u32(entry + 4) == joint) {
            uint8_t wanted[4];
            put_f32(wanted, value);
            return memcmp(entry + 8, wanted, sizeof wanted) == 0;
        }
    }
    return false;
}

static bool take_parameter(const uint8_t entry[SET_PARAMETER], app_t *app) {
    for (uint32_t t = 0; t < PARAMETERS; t++)
        if (get_u32(entry) == name_crc(parameter_table[t].name))
            return app_set(app, t, get_u32(entry + 4), get_f32(entry + 8)) == APP_OK;
    return false;
}

/* Takes the parameters in several rounds, because whether one is accepted may depend on another:
 * the rate on rate_check and on the arm, the arm on everything else. Returns how many are refused
 * to the end. */
static uint32_t take_parameters(const store_t *store, app_t *app, uint32_t at, uint32_t count) {
    uint32_t refused = 1;
    for (int round = 0; round < 3 && refused > 0; round++) {
        refused = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint8_t entry[SET_PARAMETER];
            store_read(store, at + k * SET_PARAMETER, entry, sizeof entry);
            refused += take_parameter(entry, app) ? 0 : 1;
        }
    }
    return refused;
}

bool set_chosen(const store_t *store, const telemetry_t *telemetry) {
    uint32_t count;
    const uint32_t at = parameters_at(store, &count) + count * SET_PARAMETER;
    if (store->length - at < 8 + 4u * telemetry->fields || word_at(store, at) != telemetry->every ||
        word_at(store, at + 4) != telemetry->fields)
        return false;
    for (uint32_t i = 0; i < telemetry->fields; i++)
        if (word_at(store, at + 8 + 4 * i) != name_crc(sample_table[telemetry->field[i]].name))
            return false;
    return true;
}

uint32_t set_take_tables(const store_t *store, app_t *app, uint8_t field[SAMPLE_FIELDS],
                         uint32_t *fields, uint32_t *every) {
    uint32_t count;
    uint32_t at = parameters_at(store, &count);
    uint32_t unknown = take_parameters(store, app, at, count);
    at += count * SET_PARAMETER;
    *fields = *every = 0;
    if (at == 0 || store->length - at < 8)
        return unknown;
    *every = word_at(store, at);
    const uint32_t chosen = word_at(store, at + 4);
    for (uint32_t i = 0; i < chosen && at + 12 + 4 * i <= store->length; i++) {
        const uint32_t name = word_at(store, at + 8 + 4 * i);
        uint32_t f = 0;
        while (f < SAMPLE_FIELDS && name_crc(sample_table[f].name) != name)
            f++;
        if (f < SAMPLE_FIELDS && *fields < SAMPLE_FIELDS)
            field[(*fields)++] = (uint8_t)f;
        else
            unknown++;
    }
    return unknown;
}
