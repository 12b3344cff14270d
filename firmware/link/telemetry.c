/* Implements firmware/link/telemetry.h. */
#include "firmware/link/telemetry.h"

#include <string.h>

uint32_t telemetry_values(const telemetry_t *telemetry, uint32_t joints) {
    uint32_t values = 0;
    for (unsigned i = 0; i < telemetry->fields; i++)
        values += sample_table[telemetry->field[i]].per_joint ? joints : 1;
    return values;
}

telemetry_budget_t telemetry_budget(uint32_t values, uint32_t payload, uint32_t rate_hz,
                                    uint32_t every, uint32_t baud) {
    const uint32_t in_frame = (payload - PROTOCOL_SAMPLE_HEAD) / 4;
    const uint32_t frames = (values + in_frame - 1) / in_frame;
    const uint32_t bytes =
        values * 4 + frames * (PROTOCOL_SAMPLE_HEAD + PROTOCOL_HEAD + FRAME_OVERHEAD);
    const uint64_t bits = (uint64_t)bytes * TELEMETRY_BITS * rate_hz;
    return (telemetry_budget_t){.bytes = bytes,
                                .needed = (uint32_t)((bits + every - 1) / every),
                                .available =
                                    (uint32_t)((uint64_t)baud * TELEMETRY_LINE_PERCENT / 100)};
}

int telemetry_choose(telemetry_t *telemetry, app_t *app, const uint8_t *field, size_t fields,
                     uint32_t every, uint32_t payload, uint32_t baud, telemetry_budget_t *budget) {
    telemetry_t chosen = {.fields = (uint8_t)fields, .every = every};
    const uint32_t rate_hz = (uint32_t)app->parameter[PARAMETER_rate_hz];
    *budget = (telemetry_budget_t){0};
    if (fields > SAMPLE_FIELDS)
        return LINK_INDEX;
    for (size_t i = 0; i < fields; i++) {
        if (field[i] >= SAMPLE_FIELDS || memchr(field, field[i], i) != NULL)
            return LINK_INDEX;
        chosen.field[i] = field[i];
    }
    if (fields > 0) {
        if (every == 0)
            return LINK_INDEX;
        *budget =
            telemetry_budget(telemetry_values(&chosen, app->n), payload, rate_hz, every, baud);
        if (budget->needed > budget->available)
            return LINK_BUDGET;
        if (app_set(app, PARAMETER_sample_every, 0, (float)every) != APP_OK)
            return LINK_APP;
    }
    while (app_sample_peek(app) != NULL) /* discards samples that were recorded for the last
                                          * choice */
        app_sample_release(app);
    *telemetry = chosen;
    return LINK_OK;
}

int telemetry_allows(const telemetry_t *telemetry, const app_t *app, uint32_t parameter,
                     float value, uint32_t payload, uint32_t baud) {
    const parameter_info_t *info = &parameter_table[parameter];
    if (telemetry->fields == 0 || !(value >= info->least && value <= info->most))
        return LINK_OK;
    app_status_t status;
    app_status(app, &status);
    uint32_t rate_hz = status.rate_hz, every = telemetry->every;
    if (parameter == PARAMETER_rate_hz)
        rate_hz = (uint32_t)value;
    else if (parameter == PARAMETER_sample_every)
        every = (uint32_t)value;
    else
        return LINK_OK;
    if (every == 0) /* no samples are sent */
        return LINK_OK;
    const telemetry_budget_t budget =
        telemetry_budget(telemetry_values(telemetry, status.joints), payload, rate_hz, every, baud);
    return budget.needed > budget.available ? LINK_BUDGET : LINK_OK;
}

void telemetry_pay(telemetry_t *telemetry, const app_t *app, uint32_t samples) {
    const uint32_t room = UINT32_MAX - telemetry->credit;
    telemetry->credit += samples < room ? samples : room;
    if (!telemetry->paid) {
        telemetry->paid = 1;
        telemetry->lost_before = app->dropped;
    }
}

uint32_t telemetry_lost(const telemetry_t *telemetry, const app_t *app) {
    return telemetry->fields == 0 || !telemetry->paid
               ? 0
               : app->dropped - telemetry->lost_before + telemetry->unpaid;
}

/* Writes the values [at, at + count) of a sample, in the order of the choice. */
static void put_values(const telemetry_t *telemetry, const sample_t *sample, uint32_t joints,
                       uint32_t count, uint8_t *to) {
    uint32_t skip = telemetry->at;
    for (unsigned i = 0; i < telemetry->fields && count > 0; i++) {
        const uint32_t field = telemetry->field[i];
        const uint32_t size = sample_table[field].per_joint ? joints : 1;
        if (skip >= size) {
            skip -= size;
            continue;
        }
        for (uint32_t joint = skip; joint < size && count > 0; joint++, count--)
            to = put_u32(to, app_sample_word(sample, field, joint));
        skip = 0;
    }
}

size_t telemetry_next(telemetry_t *telemetry, app_t *app, uint32_t joints, uint8_t *memory,
                      uint32_t payload, size_t room) {
    const sample_t *sample;
    while ((sample = app_sample_peek(app)) != NULL &&
           (telemetry->fields == 0 || telemetry->credit == 0)) {
        telemetry->unpaid += telemetry->fields > 0 && telemetry->paid;
        telemetry->at = 0;
        app_sample_release(app);
    }
    if (sample == NULL)
        return 0;
    const uint32_t values = telemetry_values(telemetry, joints);
    const uint32_t in_frame = (payload - PROTOCOL_SAMPLE_HEAD) / 4;
    const uint32_t left = values > telemetry->at ? values - telemetry->at : 0;
    const uint32_t count = left < in_frame ? left : in_frame;
    const size_t content = PROTOCOL_HEAD + PROTOCOL_SAMPLE_HEAD + 4 * (size_t)count;
    if (FRAME_WRITE_ROOM(content) > room)
        return 0;
    uint8_t *at = memory + FRAME_WRITE_AT;
    at[0] = PROTOCOL_SAMPLE;
    at[1] = telemetry->sequence++;
    put_u32(at + 2, app_sample_word(sample, SAMPLE_tick, 0));
    put_u16(at + 6, telemetry_lost(telemetry, app));
    put_u16(at + 8, telemetry->at);
    put_values(telemetry, sample, joints, count, at + 10);
    telemetry->at = (uint16_t)(telemetry->at + count);
    if (telemetry->at >= values) {
        telemetry->at = 0;
        telemetry->credit--;
        telemetry->sent++;
        app_sample_release(app);
    }
    return frame_close(memory, content);
}
