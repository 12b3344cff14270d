/* Makes the steps of the simulation, for tools/sim/sim_inside.h: fixed steps, steps chosen for a
 * tolerance, and the events of the joint stops. */
#include <math.h>

#include "tools/sim/sim_inside.h"

static bool finite_state(const sim_t *sim, const double *y) {
    for (size_t i = 0; i < sim->size; i++)
        if (!isfinite(y[i]))
            return false;
    return true;
}

/* Tests whether a joint reaches or leaves a stop between the present state and `next`. */
static int event(sim_t *sim, double t, const double *next, bool *is) {
    *is = stops_beyond(&sim->stops, next) != 0;
    if (*is || !sim->stops.held)
        return SIM_OK;
    double qdd[SIM_COORDINATES_MAX];
    sim_forces_t f;
    int status = sim_forces(sim, t, next, &f);
    if (status == SIM_OK)
        status = sim_accelerations(sim, next, &f, qdd);
    *is = stops_pulled(&sim->stops) != 0;
    return status;
}

/* Bisects the step until the event is known to the resolution of the time. */
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

int sim_settle(sim_t *sim) {
    for (uint32_t i = 0; i <= sim->arm.joints && sim->stops.held; i++) {
        double qdd[SIM_COORDINATES_MAX];
        sim_forces_t f;
        int status = sim_forces(sim, sim->t, sim->y, &f);
        if (status == SIM_OK)
            status = sim_accelerations(sim, sim->y, &f, qdd);
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
    return status == SIM_OK ? sim_settle(sim) : status;
}

/* Accepts the tried step h. If an event lies within the step, accepts it only up to the event. */
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

/* Makes one step within the tolerance, at most as long as the span. */
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
            /* a step that was shortened to the span must not make the next step smaller */
            sim->h = proposal;
        return finish(sim, h);
    }
}

double sim_resolution(double t) {
    return 1e-12 * (1 + fabs(t));
}

static bool wants_stop(const sim_t *sim) {
    return sim->options.stop && sim->options.stop(sim->options.stop_self, sim->t);
}

int sim_integrate(sim_t *sim, double edge) {
    const double from = sim->t, span = edge - from;
    const double steps = fmax(1, ceil(span / sim->options.step_s - 1e-9));
    double done = 0;
    int idle = 0;
    if (sim->options.tolerance > 0 && !(sim->h > 0)) {
        const int status = rk_begin(sim->rk, sim->t, sim->y, sim->options.tolerance, &sim->h);
        if (status != SIM_OK)
            return status;
    }
    while (edge - sim->t > sim_resolution(edge)) {
        const double before = sim->t;
        const unsigned long changes = sim->changes;
        int status;
        if (sim->options.tolerance > 0) {
            status = controlled_step(sim, edge - sim->t);
        } else {
            const double goal = done + 1 < steps ? from + span * (done + 1) / steps : edge;
            status = fixed_step(sim, goal - sim->t);
            if (goal - sim->t <= sim_resolution(goal))
                done++;
        }
        if (status != SIM_OK)
            return status;
        const bool moved = sim->t - before > sim_resolution(edge);
        idle = moved ? 0 : idle + (sim->changes > changes);
        if (idle > 64)
            return SIM_E_STOPS;
        if (wants_stop(sim))
            return SIM_STOPPED;
    }
    sim->t = edge;
    return SIM_OK;
}
