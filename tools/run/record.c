/* Rows of samples and the tracking errors in them. */
#include "tools/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t per_joint[] = {
#define X(name, joint) joint,
    RUN_FIELDS(X)
#undef X
};

uint32_t record_at(const record_t *record, uint32_t field) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < field; i++)
        at += per_joint[i] ? record->joints : 1;
    return at;
}

double record_value(const record_t *record, uint32_t row, uint32_t field, uint32_t joint) {
    return record->value[(size_t)row * record->width + record_at(record, field) + joint];
}

static int grow(record_t *record) {
    const uint32_t room = record->room ? 2 * record->room : 1024;
    uint32_t *tick = realloc(record->tick, room * sizeof *tick);
    if (tick)
        record->tick = tick;
    uint32_t *word = realloc(record->word, (size_t)room * record->width * sizeof *word);
    if (word)
        record->word = word;
    double *value = realloc(record->value, (size_t)room * record->width * sizeof *value);
    if (value)
        record->value = value;
    if (!tick || !word || !value)
        return -1;
    record->room = room;
    return 0;
}

int record_add(record_t *record, uint32_t tick, const uint32_t *word, const double *value) {
    record->width = record_at(record, RUN_FIELD_COUNT);
    if (record->rows == record->room && grow(record) != 0)
        return -1;
    const size_t at = (size_t)record->rows * record->width;
    record->tick[record->rows] = tick;
    memcpy(record->word + at, word, record->width * sizeof *word);
    memcpy(record->value + at, value, record->width * sizeof *value);
    record->rows++;
    return 0;
}

void record_finish(record_t *record) {
    double all = 0;
    record->limited = 0;
    for (uint32_t i = 0; i < record->joints; i++) {
        double sum = 0, peak = 0;
        for (uint32_t r = 0; r < record->rows; r++) {
            const double off =
                record_value(record, r, RUN_q_ref, i) - record_value(record, r, RUN_q_arm, i);
            sum += off * off;
            peak = fmax(peak, fabs(off));
        }
        record->rms[i] = record->rows ? sqrt(sum / record->rows) : 0;
        record->peak[i] = peak;
        all += record->rms[i] * record->rms[i];
    }
    record->rms_all = record->joints ? sqrt(all / record->joints) : 0;
    for (uint32_t r = 0; r < record->rows; r++)
        record->limited += record_value(record, r, RUN_limited, 0) != 0;
}

void record_free(record_t *record) {
    free(record->tick);
    free(record->word);
    free(record->value);
    *record = (record_t){0};
}

uint64_t record_differences(const record_t *one, const record_t *other, uint64_t *compared) {
    const uint32_t rows = one->rows < other->rows ? one->rows : other->rows;
    const uint32_t missing = one->rows + other->rows - 2 * rows;
    uint64_t different = (uint64_t)missing * one->width;
    for (size_t i = 0; i < (size_t)rows * one->width; i++)
        different += one->word[i] != other->word[i];
    *compared += (uint64_t)(rows + missing) * one->width;
    return different;
}
