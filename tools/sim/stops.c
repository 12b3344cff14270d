/*
 * Joint stops. Let A_hh be the block of the inverse inertia matrix that belongs to the held joints
 * h. The reactions r solve A_hh r = -qdd_h, and the impulses p of an impact solve A_hh p = -qd_h.
 * The columns of the inverse matrix are differences of the arm's own forward dynamics, which is
 * affine in the forces.
 */
#include "tools/sim/stops.h"

#include <math.h>
#include <string.h>

typedef struct {
    uint32_t count;
    uint32_t joint[DYN_MAX_JOINTS];
    double column[DYN_MAX_JOINTS][SIM_COORDINATES_MAX]; /* columns of the inverse inertia matrix */
} columns_t;

uint32_t stops_beyond(const stops_t *stops, const double *q) {
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < stops->arm->joints; i++) {
        const double *l = stops->arm->limit[i], at = q[stops->arm->coordinate[i]];
        if (l[1] > l[0] && !(stops->held >> i & 1) && (at < l[0] || at > l[1]))
            beyond |= (uint32_t)1 << i;
    }
    return beyond;
}

uint32_t stops_pulled(const stops_t *stops) {
    uint32_t pulled = 0;
    for (uint32_t i = 0; i < stops->arm->joints; i++)
        if (stops->held >> i & 1 && stops->reaction[i] * stops->side[i] > 0)
            pulled |= (uint32_t)1 << i;
    return pulled;
}

static int find_columns(const sim_system_t *arm, uint32_t set, const double *q, const double *qd,
                        columns_t *out) {
    double force[SIM_COORDINATES_MAX] = {0}, rest[SIM_COORDINATES_MAX];
    int status = arm->acceleration(arm->self, q, qd, force, rest);
    out->count = 0;
    for (uint32_t i = 0; i < arm->joints && status == 0; i++) {
        if (!(set >> i & 1))
            continue;
        double *column = out->column[out->count];
        force[arm->coordinate[i]] = 1;
        status = arm->acceleration(arm->self, q, qd, force, column);
        force[arm->coordinate[i]] = 0;
        for (uint32_t k = 0; k < arm->n; k++)
            column[k] -= rest[k];
        out->joint[out->count++] = i;
    }
    return status;
}

/* Solves A_hh x = b by elimination; x is b before the call. The matrix is positive definite, so no
 * pivoting is needed. */
static int solve(const sim_system_t *arm, const columns_t *c, double *x) {
    double a[DYN_MAX_JOINTS][DYN_MAX_JOINTS];
    const uint32_t n = c->count;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            a[i][j] = c->column[j][arm->coordinate[c->joint[i]]];
    for (uint32_t k = 0; k < n; k++) {
        if (!(a[k][k] > 0))
            return DYN_E_PIVOT;
        for (uint32_t i = k + 1; i < n; i++) {
            const double f = a[i][k] / a[k][k];
            for (uint32_t j = k; j < n; j++)
                a[i][j] -= f * a[k][j];
            x[i] -= f * x[k];
        }
    }
    for (uint32_t k = n; k-- > 0;) {
        for (uint32_t j = k + 1; j < n; j++)
            x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
    return SIM_OK;
}

static void add_columns(const sim_system_t *arm, const columns_t *c, const double *x, double *out) {
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = 0; k < arm->n; k++)
            out[k] += c->column[i][k] * x[i];
    for (uint32_t i = 0; i < c->count; i++)
        out[arm->coordinate[c->joint[i]]] = 0; /* exactly zero instead of a rounding error */
}

int stops_react(stops_t *stops, const double *q, const double *qd, double *qdd) {
    const sim_system_t *arm = stops->arm;
    columns_t columns;
    double x[DYN_MAX_JOINTS];
    if (!stops->held)
        return SIM_OK;
    int status = find_columns(arm, stops->held, q, qd, &columns);
    for (uint32_t i = 0; i < columns.count; i++)
        x[i] = -qdd[arm->coordinate[columns.joint[i]]];
    if (status == SIM_OK)
        status = solve(arm, &columns, x);
    if (status != SIM_OK)
        return status;
    for (uint32_t i = 0; i < columns.count; i++)
        stops->reaction[columns.joint[i]] = x[i];
    add_columns(arm, &columns, x, qdd);
    return SIM_OK;
}

/* Returns the joints whose stop would have to pull. */
static uint32_t pulling(const stops_t *stops, const columns_t *c, const double *impulse) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (impulse[i] * stops->side[c->joint[i]] > 0)
            set |= (uint32_t)1 << c->joint[i];
    return set;
}

int stops_impact(stops_t *stops, uint32_t hit, double *q, double *qd, double *lost) {
    const sim_system_t *arm = stops->arm;
    columns_t columns;
    double impulse[DYN_MAX_JOINTS] = {0}, before[DYN_MAX_JOINTS] = {0};
    for (uint32_t i = 0; i < arm->joints; i++)
        if (hit >> i & 1) {
            double *at = &q[arm->coordinate[i]];
            stops->side[i] = *at > arm->limit[i][1] ? 1 : -1;
            *at = arm->limit[i][*at > arm->limit[i][1]];
            stops->held |= (uint32_t)1 << i;
            stops->impacts++;
        }
    for (uint32_t pulled = 1; pulled;) {
        int status = find_columns(arm, stops->held, q, qd, &columns);
        for (uint32_t i = 0; i < columns.count; i++)
            impulse[i] = before[i] = -qd[arm->coordinate[columns.joint[i]]];
        if (status == SIM_OK)
            status = solve(arm, &columns, impulse);
        if (status != SIM_OK)
            return status;
        pulled = pulling(stops, &columns, impulse) & ~hit;
        stops->held &= ~pulled;
    }
    for (uint32_t i = 0; i < columns.count; i++)
        /* work of the impulse p: p (qd before + qd after) / 2, where qd after is 0 */
        *lost += 0.5 * impulse[i] * before[i];
    add_columns(arm, &columns, impulse, qd);
    return SIM_OK;
}
