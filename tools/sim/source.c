/* Sources of torques, voltages and wrenches: constants, schedules and motions. */
#include "tools/sim/source.h"

#include <math.h>
#include <string.h>

#include "tools/cli/diagnostics.h"

/* Returns the index of the row that applies at t, or -1 before the first row. A row has `width`
 * numbers, the time first. */
static ptrdiff_t row_at(const table_t *table, double t) {
    size_t low = 0, high = table->rows;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (table->number[middle * table->width] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return (ptrdiff_t)low - 1;
}

static double time_after(const table_t *table, double t) {
    const size_t next = (size_t)(row_at(table, t) + 1);
    return next < table->rows ? table->number[next * table->width] : HUGE_VAL;
}

/* --------------------------------------------------------------------------------------- inputs */

static int constant_value(void *self, double t, const double *position, const double *speed,
                          double *value) {
    const source_t *s = self;
    (void)t, (void)position, (void)speed;
    memcpy(value, s->constant, s->n * sizeof *value);
    return SIM_OK;
}

void source_constant(source_t *source, sim_quantity_t quantity, uint32_t n, const double *value) {
    *source = (source_t){.n = n, .input = {.quantity = quantity, .value = constant_value}};
    source->input.self = source;
    if (value)
        memcpy(source->constant, value, n * sizeof *value);
}

static int schedule_value(void *self, double t, const double *position, const double *speed,
                          double *value) {
    const source_t *s = self;
    const double *row = NULL;
    (void)position, (void)speed;
    t -= s->from_s;
    if (s->period_s > 0) {
        const double index = floor(t / s->period_s + 1e-9);
        const size_t last = s->schedule.rows - 1;
        row = s->schedule.number + (index < (double)last ? (size_t)index : last) * s->n;
    } else {
        const ptrdiff_t index = row_at(&s->schedule, t);
        if (index >= 0)
            row = s->schedule.number + (size_t)index * s->schedule.width + 1;
    }
    for (uint32_t i = 0; i < s->n; i++)
        value[i] = row ? row[i] : 0;
    return SIM_OK;
}

static double schedule_next(void *self, double t) {
    const source_t *s = self;
    t -= s->from_s;
    if (!(s->period_s > 0))
        return s->from_s + time_after(&s->schedule, t);
    const double index = floor(t / s->period_s + 1e-9) + 1;
    return index < (double)s->schedule.rows ? s->from_s + index * s->period_s : HUGE_VAL;
}

int source_schedule(source_t *source, sim_quantity_t quantity, uint32_t n, const char *path,
                    double period_s) {
    static const char cure[] =
        "write rows of t and one number per joint; or, with --period, rows without t";
    const size_t counts[] = {1 + (size_t)n, n};
    *source = (source_t){.n = n, .input = {.quantity = quantity, .value = schedule_value}};
    source->input.self = source;
    source->input.next = schedule_next;
    if (table_read(&source->schedule, path, counts, 2, cure) != EXIT_YES)
        return EXIT_BAD;
    if (source->schedule.width > n)
        return table_times(&source->schedule, path);
    if (!(period_s > 0))
        return diag_error(path, "give the period (--period S), or write the time first in each row",
                          "rows without a time need a period");
    source->period_s = period_s;
    return EXIT_YES;
}

double source_end(const source_t *source) {
    const table_t *s = &source->schedule;
    if (s->rows == 0 || source->period_s > 0)
        return source->period_s * (double)s->rows;
    return s->number[(s->rows - 1) * s->width];
}

static int motion_value(void *self, double t, const double *position, const double *speed,
                        double *value) {
    const source_t *s = self;
    const sim_system_t *arm = s->arm;
    double q[SIM_COORDINATES_MAX], qd[SIM_COORDINATES_MAX], qdd[SIM_COORDINATES_MAX];
    double torque[DYN_MAX_JOINTS], wrench[6];
    const bool pulled = s->wrench && s->wrench->value;
    (void)position, (void)speed;
    motion_at(s->motion, t, q, qd, qdd);
    if (pulled)
        s->wrench->value(s->wrench->self, t, wrench);
    const int status = sim_inverse(arm, q, qd, qdd, pulled ? wrench : NULL, torque);
    if (s->input.quantity == SIM_VOLTAGE)
        (void)arm->voltage(arm->self, qd, torque, value);
    else
        memcpy(value, torque, arm->joints * sizeof *value);
    return status;
}

void source_motion(source_t *source, sim_quantity_t quantity, const sim_system_t *arm,
                   const sim_motion_t *motion, const sim_wrench_t *wrench) {
    *source = (source_t){.n = arm->joints,
                         .input = {.quantity = quantity, .value = motion_value},
                         .arm = arm,
                         .motion = motion,
                         .wrench = wrench};
    source->input.self = source;
}

void source_free(source_t *source) {
    table_free(&source->schedule);
}

/* --------------------------------------------------------------------------------------- wrench */

static void pull_value(void *self, double t, double wrench[6]) {
    const pull_t *p = self;
    const table_t *s = &p->schedule;
    if (s->rows == 0) {
        memcpy(wrench, p->constant, sizeof p->constant);
        return;
    }
    const ptrdiff_t index = row_at(s, t);
    const double *a = s->number + s->width * (size_t)(index < 0 ? 0 : index);
    const bool between = index >= 0 && (size_t)index + 1 < s->rows;
    const double *b = between ? a + s->width : a;
    const double x = between ? (t - a[0]) / (b[0] - a[0]) : 0;
    for (int k = 1; k <= 6; k++)
        wrench[k - 1] = a[k] + x * (b[k] - a[k]);
}

static double pull_next(void *self, double t) {
    const pull_t *p = self;
    return time_after(&p->schedule, t);
}

void pull_constant(pull_t *pull, const double wrench[6]) {
    *pull = (pull_t){.wrench = {.value = pull_value}};
    pull->wrench.self = pull;
    memcpy(pull->constant, wrench, sizeof pull->constant);
}

int pull_schedule(pull_t *pull, const char *path) {
    const size_t counts[] = {7};
    *pull = (pull_t){.wrench = {.value = pull_value, .next = pull_next}};
    pull->wrench.self = pull;
    if (table_read(&pull->schedule, path, counts, 1, "write rows of t fx fy fz nx ny nz") !=
        EXIT_YES)
        return EXIT_BAD;
    return table_times(&pull->schedule, path);
}

void pull_free(pull_t *pull) {
    table_free(&pull->schedule);
}
