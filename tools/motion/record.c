/* Stores rows of samples and computes the tracking errors in them. */
#include "tools/motion/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t per_joint[] = {
#define X(name, joint) joint,
    RECORD_FIELDS(X)
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
    record->width = record_at(record, RECORD_FIELD_COUNT);
    if (record->rows == record->room && grow(record) != 0)
        return -1;
    const size_t at = (size_t)record->rows * record->width;
    record->tick[record->rows] = tick;
    memcpy(record->word + at, word, record->width * sizeof *word);
    memcpy(record->value + at, value, record->width * sizeof *value);
    /* state, fault and motion; the other bits tell of lease and overrides, which the twin lacks */
    record->word[at + record_at(record, RECORD_state)] &= 0x1ffff;
    record->rows++;
    return 0;
}

/* Counts lost samples. The shortest step between two rows is taken as the regular step. */
static uint32_t gaps(const record_t *record) {
    uint32_t step = UINT32_MAX, lost = 0;
    for (uint32_t r = 1; r < record->rows; r++)
        if (record->tick[r] - record->tick[r - 1] < step)
            step = record->tick[r] - record->tick[r - 1];
    for (uint32_t r = 1; r < record->rows && step > 0; r++)
        lost += (record->tick[r] - record->tick[r - 1]) / step - 1;
    return lost;
}

void record_finish(record_t *record) {
    double all = 0;
    record->limited = 0;
    record->missing = gaps(record);
    for (uint32_t i = 0; i < record->joints; i++) {
        double sum = 0, peak = 0;
        for (uint32_t r = 0; r < record->rows; r++) {
            const double off =
                record_value(record, r, RECORD_q_ref, i) - record_value(record, r, RECORD_q_arm, i);
            sum += off * off;
            peak = fmax(peak, fabs(off));
        }
        record->rms[i] = record->rows ? sqrt(sum / record->rows) : 0;
        record->peak[i] = peak;
        all += record->rms[i] * record->rms[i];
    }
    record->rms_all = record->joints ? sqrt(all / record->joints) : 0;
    for (uint32_t r = 0; r < record->rows; r++)
        record->limited += record_value(record, r, RECORD_limited, 0) != 0;
}

void record_free(record_t *record) {
    free(record->tick);
    free(record->word);
    free(record->value);
    *record = (record_t){0};
}

/* Finds the row of the twin at which the record begins: the first row with the same reference, or
 * row 0 if there is none. */
static uint32_t first_row(const record_t *record, const record_t *twin) {
    const uint32_t from = record_at(record, RECORD_q_ref), to = record_at(record, RECORD_q_arm);
    for (uint32_t r = 0; record->rows > 0 && r < twin->rows; r++)
        if (!memcmp(record->word + from, twin->word + (size_t)r * twin->width + from,
                    (to - from) * sizeof *twin->word))
            return r;
    return 0;
}

uint64_t record_differences(const record_t *record, const record_t *twin, uint64_t *compared,
                            uint32_t *missing) {
    const uint32_t first = first_row(record, twin), width = record->width;
    uint64_t different = record->fault != twin->fault;
    uint32_t r = 0, t = first;
    *missing += first;
    while (r < record->rows || t < twin->rows) {
        const uint32_t here = r < record->rows ? record->tick[r] - record->tick[0] : UINT32_MAX;
        const uint32_t there = t < twin->rows ? twin->tick[t] - twin->tick[first] : UINT32_MAX;
        if (here > there) {
            t++;
            ++*missing;
            continue;
        }
        for (uint32_t k = 0; k < width; k++)
            different += here < there ||
                         record->word[(size_t)r * width + k] != twin->word[(size_t)t * width + k];
        *compared += width;
        r++;
        t += here == there;
    }
    return different;
}
