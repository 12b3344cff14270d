/* tools/motion/faults_watch.h */
#include "tools/motion/faults_watch.h"

#include <math.h>
#include <string.h>

#include "firmware/safety/faults.h"

/* s for which an arm with brakes is damped, as in firmware/safety/guard.c */
#define DAMP_S 0.5

void faults_see(faults_watch_t *m, const sample_in_t *sample) {
    const uint32_t n = m->worst->robot->n;
    const double *q = sample->value + 1, *reference = q + n;
    const double h = (sample->tick - m->last_tick) / m->rate_hz;
    const bool fault = (sample->word[0] & 0xff) == m->marks;
    if (m->done) /* later faults do not count: a joint that stays jammed causes a second one */
        return;
    m->now_height = bounds_height(m->worst, q);
    for (uint32_t i = 0; i < n && m->samples > 0 && h > 0; i++) {
        double *most = m->failed ? &m->speed[i] : &m->before[i];
        *most = fmax(*most, fabs(q[i] - m->q[i]) / h);
        if (!m->failed && !fault)
            m->off[i] = fmax(m->off[i], fabs(reference[i] - q[i]));
    }
    if (fault && !m->failed) { /* the fault occurred between the last two samples */
        m->failed = true;
        m->first_tick = sample->tick;
        m->height = m->now_height;
        memcpy(m->at, q, n * sizeof *q);
    }
    if (!m->failed)
        m->sag = fmax(m->sag, bounds_height(m->worst, reference) - m->now_height);
    for (uint32_t i = 0; i < n && m->failed; i++)
        m->travel[i] = fmax(m->travel[i], fabs(q[i] - m->at[i]));
    if (m->failed)
        m->fall = fmax(m->fall, m->height - m->now_height);
    memcpy(m->q, q, n * sizeof *q);
    m->last_tick = sample->tick;
    m->done = m->failed && (m->last_tick - m->first_tick) / m->rate_hz >= m->seconds;
    m->samples++;
}

void faults_forget(faults_watch_t *m) {
    memset(m->before, 0, sizeof m->before);
    memset(m->off, 0, sizeof m->off);
    m->sag = 0;
}

static void take_most(faults_most_t *most, uint32_t i, double value, double bound) {
    if (i == 0 || value > most->value)
        *most = (faults_most_t){value, bound, i};
}

/*
 * The brakes of the simulated arm close at once when the outputs go off, so that a released arm
 * with brakes does not move at all, and one that is damped moves until the outputs go off. How far
 * a real arm drops until its brakes hold is in boards/README.md.
 */
static double watched_s(const faults_watch_t *m, uint32_t stop, bool brakes) {
    const double seconds = (m->last_tick - m->first_tick) / m->rate_hz;
    return !brakes                    ? seconds
           : stop == APP_STOP_RELEASE ? 0
           : stop == APP_STOP_DAMP    ? fmin(seconds, DAMP_S + 2 / m->rate_hz)
                                      : seconds;
}

faults_motion_t faults_after(const faults_watch_t *m, const faults_row_t *row, uint32_t stop,
                             bool brakes) {
    const bounds_t *w = m->worst;
    const double seconds = watched_s(m, stop, brakes);
    const bool still = brakes && stop == APP_STOP_RELEASE;
    double speed[DYN_MAX_JOINTS] = {0};
    faults_motion_t out = {.bounded = !row->lies || stop > APP_STOP_LOWER, .within = true};
    for (uint32_t i = 0; i < w->robot->n; i++) {
        speed[i] = still ? 0 : bounds_speed(w, stop, i, m->before, m->off[i], seconds);
        const double travel = bounds_travel(w, stop, i, speed[i], m->before, m->off[i], seconds);
        take_most(&out.speed, i, m->speed[i], speed[i]);
        take_most(&out.travel, i, m->travel[i], travel);
        out.within = out.within && m->speed[i] <= speed[i] && m->travel[i] <= travel;
    }
    out.fall = m->fall;
    out.fall_bound = bounds_fall(w, stop, speed, m->before, m->off, seconds);
    out.within = out.within && out.fall <= out.fall_bound;
    return out;
}

faults_motion_t faults_without(const faults_watch_t *m) {
    faults_motion_t out = {.fall = m->sag};
    for (uint32_t i = 0; i < m->worst->robot->n; i++) {
        take_most(&out.speed, i, m->before[i], 0);
        take_most(&out.travel, i, m->off[i], 0);
    }
    return out;
}
