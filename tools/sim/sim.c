/* The simulation of an arm: right-hand side, steps, events and record. */
#include "tools/sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/stops.h"

/* What stands in the integrator's state behind q and qd. */
enum { WORK_MOTOR, WORK_FRICTION, WORK_HAND, WORKS };

struct sim {
    sim_arm_t arm;
    sim_input_t input;
    sim_wrench_t wrench;
    sim_options_t options;
    rk_t *rk;
    size_t size; /* of the state: q, qd, works */
    double *y, *next;
    double t, begin;             /* begin: of the grid of samples and holds */
    double h;                    /* proposed by the error control */
    double held[DYN_MAX_JOINTS]; /* the input where it is constant between two times */
    double jump;                 /* when the source changes next */
    unsigned long ticks, samples;
    stops_t stops;
    double lost;   /* in the stops, J */
    double energy; /* at the start, J */
    uint32_t limited;
    unsigned long steps, rejected;
    unsigned long changes; /* of the stops */
};

const char *sim_status_text(int status) {
    switch (status) {
    case SIM_OK:
        return "done";
    case SIM_STOPPED:
        return "stopped";
    case SIM_E_NUMBER:
        return "the motion grew beyond all numbers: the steps are too long, or the drive is "
               "unstable";
    case SIM_E_STEP:
        return "the tolerance cannot be met with steps that the time still resolves";
    case SIM_E_STOPS:
        return "several joints at their stops hinder each other without end";
    case SIM_E_MEMORY:
        return "no memory left";
    default:
        return dyn_status_cause(status);
    }
}

/* ------------------------------------------------------------------------------------------ record
 */

enum { ROW_ENERGIES = 7 }; /* kinetic, potential, motor, friction, hand, stops, balance */

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
                       .hand = e[4],
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

/* -------------------------------------------------------------------------------- right-hand side
 */

typedef struct {
    double position[DYN_MAX_JOINTS], speed[DYN_MAX_JOINTS]; /* of the joints */
    double torque[DYN_MAX_JOINTS], volt[DYN_MAX_JOINTS], friction[DYN_MAX_JOINTS];
    double hand[SIM_COORDINATES_MAX];
    double force[SIM_COORDINATES_MAX];
} forces_t;

static void joints_of(const sim_t *sim, const double *y, forces_t *f) {
    for (uint32_t i = 0; i < sim->arm.joints; i++) {
        f->position[i] = y[sim->arm.coordinate[i]];
        f->speed[i] = y[sim->arm.n + sim->arm.coordinate[i]];
    }
}

static int drive(sim_t *sim, double t, forces_t *f) {
    const sim_arm_t *arm = &sim->arm;
    double own[DYN_MAX_JOINTS];
    const double *value = sim->held;
    if (!(sim->options.hold_s > 0) && !sim->input.next) {
        const int status = sim->input.value(sim->input.self, t, f->position, f->speed, own);
        if (status != SIM_OK)
            return status;
        value = own;
    }
    if (sim->input.quantity == SIM_VOLTAGE) {
        memcpy(f->volt, value, arm->joints * sizeof *value);
        sim->limited |= arm->torque(arm->self, f->speed, f->volt, f->torque);
    } else {
        memcpy(f->torque, value, arm->joints * sizeof *value);
        (void)arm->voltage(arm->self, f->speed, f->torque, f->volt);
    }
    return SIM_OK;
}

static int find_forces(sim_t *sim, double t, const double *y, forces_t *f) {
    const sim_arm_t *arm = &sim->arm;
    joints_of(sim, y, f);
    const int status = drive(sim, t, f);
    arm->friction(arm->self, f->speed, f->friction);
    memset(f->hand, 0, arm->n * sizeof *f->hand);
    if (sim->wrench.value) {
        double wrench[6];
        sim->wrench.value(sim->wrench.self, t, wrench);
        arm->hand(arm->self, y, wrench, f->hand);
    }
    memcpy(f->force, f->hand, arm->n * sizeof *f->force);
    for (uint32_t i = 0; i < arm->joints; i++)
        f->force[arm->coordinate[i]] += f->torque[i] - f->friction[i];
    return status;
}

/* From 2^52 on the next double is another angle by a radian: such a position has no sine. */
static bool have_sines(const sim_t *sim, const double *q) {
    for (uint32_t i = 0; i < sim->arm.n; i++)
        if (!(fabs(q[i]) < 0x1p52))
            return false;
    return true;
}

static int find_accelerations(sim_t *sim, const double *y, const forces_t *f, double *qdd) {
    const double *qd = y + sim->arm.n;
    const int status = sim->arm.acceleration(sim->arm.self, y, qd, f->force, qdd);
    if (status == DYN_E_PIVOT && !have_sines(sim, y))
        return SIM_E_NUMBER; /* the matrix is none because the motion ran away */
    if (status != SIM_OK || !sim->stops.held)
        return status;
    return stops_hold(&sim->stops, y, qd, qdd);
}

static int rate(void *context, double t, const double *y, double *dy) {
    sim_t *sim = context;
    const uint32_t n = sim->arm.n;
    forces_t f;
    int status = find_forces(sim, t, y, &f);
    if (status == SIM_OK)
        status = find_accelerations(sim, y, &f, dy + n);
    memcpy(dy, y + n, n * sizeof *dy);
    double *work = dy + 2 * (size_t)n;
    work[WORK_MOTOR] = work[WORK_FRICTION] = work[WORK_HAND] = 0;
    for (uint32_t i = 0; i < sim->arm.joints; i++) {
        work[WORK_MOTOR] += f.torque[i] * f.speed[i];
        work[WORK_FRICTION] += f.friction[i] * f.speed[i];
    }
    if (sim->arm.damping)
        work[WORK_FRICTION] += sim->arm.damping(sim->arm.self, y + n);
    if (sim->wrench.value)
        for (uint32_t i = 0; i < n; i++)
            work[WORK_HAND] += f.hand[i] * y[n + i];
    return status;
}

/* ------------------------------------------------------------------------------------------ steps
 */

static bool finite_state(const sim_t *sim, const double *y) {
    for (size_t i = 0; i < sim->size; i++)
        if (!isfinite(y[i]))
            return false;
    return true;
}

/* Something about the stops changes between here and `next`. */
static int event(sim_t *sim, double t, const double *next, bool *is) {
    *is = stops_beyond(&sim->stops, next) != 0;
    if (*is || !sim->stops.held)
        return SIM_OK;
    double qdd[SIM_COORDINATES_MAX];
    forces_t f;
    int status = find_forces(sim, t, next, &f);
    if (status == SIM_OK)
        status = find_accelerations(sim, next, &f, qdd);
    *is = stops_pulled(&sim->stops) != 0;
    return status;
}

/* Halves the step until the event lies between two times that are next to each other. */
static int locate(sim_t *sim, double *h) {
    double low = 0, high = *h;
    while (high - low > 1e-13 * (1 + fabs(sim->t))) {
        const double middle = low + (high - low) / 2;
        bool is;
        int status = rk_try(sim->rk, sim->t, middle, sim->y, sim->next);
        if (status == SIM_OK)
            status = event(sim, sim->t + middle, sim->next, &is);
        if (status != SIM_OK)
            return status;
        if (is)
            high = middle;
        else
            low = middle;
    }
    *h = high;
    return rk_try(sim->rk, sim->t, high, sim->y, sim->next);
}

static void accept(sim_t *sim, double h) {
    double *swap = sim->y;
    sim->y = sim->next;
    sim->next = swap;
    sim->t += h;
    sim->steps++;
    rk_accept(sim->rk);
}

/* Lets go of joints that nothing presses against their stops. */
static int settle(sim_t *sim) {
    for (uint32_t i = 0; i <= sim->arm.joints && sim->stops.held; i++) {
        double qdd[SIM_COORDINATES_MAX];
        forces_t f;
        int status = find_forces(sim, sim->t, sim->y, &f);
        if (status == SIM_OK)
            status = find_accelerations(sim, sim->y, &f, qdd);
        if (status != SIM_OK)
            return status;
        const uint32_t pulled = stops_pulled(&sim->stops);
        if (!pulled)
            break;
        sim->stops.held &= ~pulled;
    }
    rk_restart(sim->rk);
    return SIM_OK;
}

static int change_stops(sim_t *sim) {
    const uint32_t hit = stops_beyond(&sim->stops, sim->y);
    int status = SIM_OK;
    sim->changes++;
    if (hit)
        status = stops_impact(&sim->stops, hit, sim->y, sim->y + sim->arm.n, &sim->lost);
    return status == SIM_OK ? settle(sim) : status;
}

/* Accepts the step of h that has been tried; with an event within, only up to that. */
static int finish(sim_t *sim, double h) {
    bool changed = false;
    int status = finite_state(sim, sim->next) ? SIM_OK : SIM_E_NUMBER;
    if (status == SIM_OK && sim->options.stops)
        status = event(sim, sim->t + h, sim->next, &changed);
    if (status == SIM_OK && changed)
        status = locate(sim, &h);
    if (status != SIM_OK)
        return status;
    accept(sim, h);
    return changed ? change_stops(sim) : SIM_OK;
}

static int fixed_step(sim_t *sim, double h) {
    const int status = rk_try(sim->rk, sim->t, h, sim->y, sim->next);
    return status == SIM_OK ? finish(sim, h) : status;
}

/* A step whose error is within the tolerance, at most as long as the span. */
static int controlled_step(sim_t *sim, double span) {
    for (;;) {
        const bool whole = sim->h >= span;
        const double h = whole ? span : sim->h;
        if (h < 1e-14 * (1 + fabs(sim->t)) && !whole)
            return SIM_E_STEP;
        const int status = rk_try(sim->rk, sim->t, h, sim->y, sim->next);
        if (status != SIM_OK && status != DYN_E_PIVOT && status != SIM_E_NUMBER)
            return status;
        const double error = status == SIM_OK
                                 ? rk_error(sim->rk, sim->y, sim->next, sim->options.tolerance)
                                 : HUGE_VAL;
        const double proposal = rk_propose(sim->rk, h, error);
        if (!(error <= 1)) {
            sim->rejected++;
            sim->h = proposal;
            continue;
        }
        if (!whole || proposal > sim->h)
            sim->h = proposal; /* a step that only filled a gap says nothing about longer ones */
        return finish(sim, h);
    }
}

static double resolution(double t) {
    return 1e-12 * (1 + fabs(t));
}

static bool wants_stop(const sim_t *sim) {
    return sim->options.stop && sim->options.stop(sim->options.stop_self, sim->t);
}

/* Up to `edge`, before which nothing jumps. */
static int integrate(sim_t *sim, double edge) {
    const double from = sim->t, span = edge - from;
    const double steps = fmax(1, ceil(span / sim->options.step_s - 1e-9));
    double done = 0;
    int idle = 0;
    if (sim->options.tolerance > 0 && !(sim->h > 0)) {
        const int status = rk_begin(sim->rk, sim->t, sim->y, sim->options.tolerance, &sim->h);
        if (status != SIM_OK)
            return status;
    }
    while (edge - sim->t > resolution(edge)) {
        const double before = sim->t;
        const unsigned long changes = sim->changes;
        int status;
        if (sim->options.tolerance > 0) {
            status = controlled_step(sim, edge - sim->t);
        } else {
            const double goal = done + 1 < steps ? from + span * (done + 1) / steps : edge;
            status = fixed_step(sim, goal - sim->t);
            if (goal - sim->t <= resolution(goal))
                done++;
        }
        if (status != SIM_OK)
            return status;
        const bool moved = sim->t - before > resolution(edge);
        idle = moved ? 0 : idle + (sim->changes > changes);
        if (idle > 64)
            return SIM_E_STOPS;
        if (wants_stop(sim))
            return SIM_STOPPED;
    }
    sim->t = edge;
    return SIM_OK;
}

/* ------------------------------------------------------------------------------------------ the
 * run
 */

static double total_energy(sim_t *sim, double *kinetic, double *potential) {
    sim->arm.energy(sim->arm.self, sim->y, sim->y + sim->arm.n, kinetic, potential);
    return *kinetic + *potential;
}

static int take_sample(sim_t *sim, sim_record_t *record) {
    const uint32_t n = sim->arm.n, joints = sim->arm.joints;
    double *p = record_more(sim, record);
    forces_t f;
    if (!p)
        return SIM_E_MEMORY;
    int status = find_forces(sim, sim->t, sim->y, &f);
    if (status == SIM_OK)
        status = find_accelerations(sim, sim->y, &f, p + 1 + 2 * n);
    p[0] = sim->t;
    memcpy(p + 1, sim->y, 2 * (size_t)n * sizeof *p);
    memcpy(p + 1 + 3 * n, f.torque, joints * sizeof *p);
    memcpy(p + 1 + 3 * n + joints, f.volt, joints * sizeof *p);
    double *e = p + 1 + 3 * n + 2 * joints;
    const double *work = sim->y + 2 * (size_t)n;
    const double energy = total_energy(sim, &e[0], &e[1]);
    e[2] = work[WORK_MOTOR];
    e[3] = work[WORK_FRICTION];
    e[4] = work[WORK_HAND];
    e[5] = sim->lost;
    e[6] = energy - sim->energy - (e[2] - e[3] + e[4] - e[5]);
    return status;
}

static double grid(const sim_t *sim, double period, unsigned long index) {
    return sim->begin + period * (double)index;
}

/* A new value where a period of the hold begins or the source jumps. */
static int take_input(sim_t *sim, double now) {
    forces_t f;
    if (sim->options.hold_s > 0) {
        if (grid(sim, sim->options.hold_s, sim->ticks) > now)
            return SIM_OK;
        sim->ticks++;
    } else {
        if (!sim->input.next || sim->jump > now)
            return SIM_OK;
        sim->jump = sim->input.next(sim->input.self, now);
    }
    joints_of(sim, sim->y, &f);
    rk_restart(sim->rk);
    return sim->input.value(sim->input.self, now, f.position, f.speed, sim->held);
}

static double next_edge(const sim_t *sim, double until) {
    double edge = fmin(until, grid(sim, sim->options.sample_s, sim->samples));
    const double margin = sim->t + resolution(sim->t);
    if (sim->options.hold_s > 0)
        edge = fmin(edge, grid(sim, sim->options.hold_s, sim->ticks));
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
        const double now = sim->t + resolution(sim->t);
        const bool sampled = grid(sim, sim->options.sample_s, sim->samples) <= now;
        int status = take_input(sim, now);
        if (status == SIM_OK && sim->options.stops)
            status = settle(sim);
        sim->samples += sampled;
        if (status == SIM_OK && (sampled || (until <= now && last_sample(record) < sim->t)))
            status = take_sample(sim, record);
        if (status != SIM_OK || until <= now)
            return status;
        status = integrate(sim, next_edge(sim, until));
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

sim_t *sim_make(const sim_arm_t *arm, const sim_input_t *input, const sim_wrench_t *wrench,
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
    sim->rk = rk_make(options->integrator, sim->size, 2 * (size_t)arm->n, rate, sim);
    if (!sim->y || !sim->rk) {
        sim_free(sim);
        return NULL;
    }
    return sim;
}

void sim_free(sim_t *sim) {
    if (!sim)
        return;
    free(sim->y < sim->next ? sim->y : sim->next); /* accept() swaps the two halves */
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
    /* With a hold the new source is asked at once, and then at the periods as before. */
    if (sim->ticks > 0 && sim->options.hold_s > 0)
        sim->ticks = (unsigned long)ceil((sim->t - sim->begin) / sim->options.hold_s - 1e-9);
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
