/* Implements tools/sim/sim.h: construction, the run from event to event, the record. */
#include "tools/sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/sim_inside.h"

const char *sim_status_text(int status) {
    switch (status) {
    case SIM_OK:
        return "done";
    case SIM_STOPPED:
        return "stopped";
    case SIM_E_NUMBER:
        return "the motion diverged: the steps are too long, or the drive is unstable";
    case SIM_E_STEP:
        return "the tolerance cannot be met: the steps became too short to advance the time";
    case SIM_E_STOPS:
        return "joints reach and leave their stops endlessly at the same instant";
    case SIM_E_MEMORY:
        return "there is not enough memory";
    default:
        return dyn_status_cause(status);
    }
}

/* number of energies in a row: kinetic, potential, motor, friction, effector, stops, balance */
enum { ROW_ENERGIES = 7 };

sim_row_t sim_record_row(const sim_record_t *record, size_t index) {
    const double *p = record->number + index * record->width;
    const uint32_t n = record->n, joints = record->joints;
    const double *e = p + 1 + 3 * n + 2 * joints;
    return (sim_row_t){.t = p[0],
                       .q = p + 1,
                       .qd = p + 1 + n,
                       .qdd = p + 1 + 2 * n,
                       .torque = p + 1 + 3 * n,
                       .volt = p + 1 + 3 * n + joints,
                       .kinetic = e[0],
                       .potential = e[1],
                       .motor = e[2],
                       .friction = e[3],
                       .effector = e[4],
                       .stops = e[5],
                       .balance = e[6]};
}

void sim_record_free(sim_record_t *record) {
    free(record->number);
    *record = (sim_record_t){0};
}

static double *record_more(const sim_t *sim, sim_record_t *record) {
    record->n = sim->arm.n;
    record->joints = sim->arm.joints;
    record->width = 1 + 3 * (size_t)record->n + 2 * (size_t)record->joints + ROW_ENERGIES;
    if (record->rows == record->room) {
        const size_t room = record->room ? 2 * record->room : 256;
        double *more = realloc(record->number, room * record->width * sizeof *more);
        if (!more)
            return NULL;
        record->number = more;
        record->room = room;
    }
    return record->number + record->width * record->rows++;
}

static double total_energy(sim_t *sim, double *kinetic, double *potential) {
    sim->arm.energy(sim->arm.self, sim->y, sim->y + sim->arm.n, kinetic, potential);
    return *kinetic + *potential;
}

static int take_sample(sim_t *sim, sim_record_t *record) {
    const uint32_t n = sim->arm.n, joints = sim->arm.joints;
    double *p = record_more(sim, record);
    sim_forces_t f;
    if (!p)
        return SIM_E_MEMORY;
    int status = sim_forces(sim, sim->t, sim->y, &f);
    if (status == SIM_OK)
        status = sim_accelerations(sim, sim->y, &f, p + 1 + 2 * n);
    p[0] = sim->t;
    memcpy(p + 1, sim->y, 2 * (size_t)n * sizeof *p);
    memcpy(p + 1 + 3 * n, f.torque, joints * sizeof *p);
    memcpy(p + 1 + 3 * n + joints, f.volt, joints * sizeof *p);
    double *e = p + 1 + 3 * n + 2 * joints;
    const double *work = sim->y + 2 * (size_t)n;
    const double energy = total_energy(sim, &e[0], &e[1]);
    e[2] = work[WORK_MOTOR];
    e[3] = work[WORK_FRICTION];
    e[4] = work[WORK_EFFECTOR];
    e[5] = sim->lost;
    e[6] = energy - sim->energy - (e[2] - e[3] + e[4] - e[5]);
    return status;
}

static double grid(const sim_t *sim, double period, unsigned long index) {
    return sim->begin + period * (double)index;
}

/* Reads the input where a sample period begins or the source jumps. */
static int take_input(sim_t *sim, double now) {
    sim_forces_t f;
    if (sim->options.period_s > 0) {
        if (grid(sim, sim->options.period_s, sim->ticks) > now)
            return SIM_OK;
        sim->ticks++;
    } else {
        if (!sim->input.next || sim->jump > now)
            return SIM_OK;
        sim->jump = sim->input.next(sim->input.self, now);
    }
    sim_joints(sim, sim->y, &f);
    rk_restart(sim->rk);
    return sim->input.value(sim->input.self, now, f.position, f.speed, sim->held);
}

static double next_edge(const sim_t *sim, double until) {
    double edge = fmin(until, grid(sim, sim->options.sample_s, sim->samples));
    const double margin = sim->t + sim_resolution(sim->t);
    if (sim->options.period_s > 0)
        edge = fmin(edge, grid(sim, sim->options.period_s, sim->ticks));
    else if (sim->input.next)
        edge = fmin(edge, sim->jump);
    if (sim->wrench.value && sim->wrench.next)
        edge = fmin(edge, sim->wrench.next(sim->wrench.self, margin));
    return edge;
}

static double last_sample(const sim_record_t *record) {
    return record->rows > 0 ? sim_record_row(record, record->rows - 1).t : -HUGE_VAL;
}

static int go(sim_t *sim, double until, sim_record_t *record) {
    for (;;) {
        const double now = sim->t + sim_resolution(sim->t);
        const bool sampled = grid(sim, sim->options.sample_s, sim->samples) <= now;
        int status = take_input(sim, now);
        if (status == SIM_OK && sim->options.stops)
            status = sim_settle(sim);
        sim->samples += sampled;
        if (status == SIM_OK && (sampled || (until <= now && last_sample(record) < sim->t)))
            status = take_sample(sim, record);
        if (status != SIM_OK || until <= now)
            return status;
        status = sim_integrate(sim, next_edge(sim, until));
        if (status == SIM_STOPPED) {
            const int last = take_sample(sim, record);
            return last == SIM_OK ? SIM_STOPPED : last;
        }
        if (status != SIM_OK)
            return status;
    }
}

int sim_run(sim_t *sim, double duration_s, sim_record_t *record) {
    return go(sim, sim->t + duration_s, record);
}

sim_t *sim_make(const sim_system_t *arm, const sim_input_t *input, const sim_wrench_t *wrench,
                const sim_options_t *options) {
    sim_t *sim = calloc(1, sizeof *sim);
    if (!sim)
        return NULL;
    sim->arm = *arm;
    sim->input = *input;
    if (wrench)
        sim->wrench = *wrench;
    sim->options = *options;
    sim->stops.arm = &sim->arm;
    sim->size = 2 * (size_t)arm->n + WORKS;
    sim->y = calloc(2 * sim->size, sizeof *sim->y);
    sim->next = sim->y ? sim->y + sim->size : NULL;
    sim->rk = rk_make(options->integrator, sim->size, 2 * (size_t)arm->n, sim_rate, sim);
    if (!sim->y || !sim->rk) {
        sim_free(sim);
        return NULL;
    }
    return sim;
}

void sim_free(sim_t *sim) {
    if (!sim)
        return;
    /* y and next are halves of one block, and accept() swaps them */
    free(sim->y < sim->next ? sim->y : sim->next);
    rk_free(sim->rk);
    free(sim);
}

void sim_set(sim_t *sim, const double *q, const double *qd) {
    const uint32_t n = sim->arm.n;
    double kinetic, potential;
    memset(sim->y, 0, sim->size * sizeof *sim->y);
    memcpy(sim->y, q, n * sizeof *q);
    memcpy(sim->y + n, qd, n * sizeof *qd);
    sim->t = sim->begin = sim->h = sim->lost = sim->jump = 0;
    sim->ticks = sim->samples = sim->steps = sim->rejected = 0;
    sim->stops.held = sim->limited = 0;
    sim->energy = total_energy(sim, &kinetic, &potential);
    rk_restart(sim->rk);
}

void sim_drive(sim_t *sim, const sim_input_t *input) {
    sim->input = *input;
    sim->jump = sim->t;
    /* The new source is sampled at once, and then on the same grid of sample periods as the old
     * source. */
    if (sim->ticks > 0 && sim->options.period_s > 0)
        sim->ticks = (unsigned long)ceil((sim->t - sim->begin) / sim->options.period_s - 1e-9);
    rk_restart(sim->rk);
}

double sim_time(const sim_t *sim) {
    return sim->t;
}

void sim_state(const sim_t *sim, double *q, double *qd) {
    memcpy(q, sim->y, sim->arm.n * sizeof *q);
    memcpy(qd, sim->y + sim->arm.n, sim->arm.n * sizeof *qd);
}

unsigned long sim_steps(const sim_t *sim) {
    return sim->steps;
}

unsigned long sim_rejected(const sim_t *sim) {
    return sim->rejected;
}

unsigned long sim_evaluations(const sim_t *sim) {
    return rk_evaluations(sim->rk);
}

uint32_t sim_at_stops(const sim_t *sim) {
    return sim->stops.held;
}

unsigned long sim_impacts(const sim_t *sim) {
    return sim->stops.impacts;
}

uint32_t sim_limited(const sim_t *sim) {
    return sim->limited;
}
