/* Runge-Kutta integrators. test/tools/sim/test_sim_rk.c checks the tables of coefficients against
 * the order conditions of all rooted trees. */
#include "tools/sim/rk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const rk_method_t rk_methods[] = {
    {.name = "rk4",
     .order = 4,
     .stages = 4,
     .c = {0, 1 / 2., 1 / 2., 1},
     .a = {{0}, {1 / 2.}, {0, 1 / 2.}, {0, 0, 1}},
     .b = {1 / 6., 1 / 3., 1 / 3., 1 / 6.}},
    {.name = "rk3",
     .order = 3,
     .stages = 3,
     .c = {0, 1 / 2., 1},
     .a = {{0}, {1 / 2.}, {-1, 2}},
     .b = {1 / 6., 4 / 6., 1 / 6.}},
    {.name = "rk45",
     .order = 5,
     .stages = 7,
     .first_is_last = true,
     .estimates = true,
     .c = {0, 1 / 5., 3 / 10., 4 / 5., 8 / 9., 1, 1},
     .a = {{0},
           {1 / 5.},
           {3 / 40., 9 / 40.},
           {44 / 45., -56 / 15., 32 / 9.},
           {19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729.},
           {9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656.},
           {35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84.}},
     .b = {35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84., 0},
     .low = {5179 / 57600., 0, 7571 / 16695., 393 / 640., -92097 / 339200., 187 / 2100., 1 / 40.}},
    {.name = "rk56",
     .order = 6,
     .stages = 8,
     .estimates = true,
     .c = {0, 1 / 6., 4 / 15., 2 / 3., 5 / 6., 1, 1 / 15., 1},
     .a = {{0},
           {1 / 6.},
           {4 / 75., 16 / 75.},
           {5 / 6., -8 / 3., 5 / 2.},
           {-165 / 64., 55 / 6., -425 / 64., 85 / 96.},
           {12 / 5., -8, 4015 / 612., -11 / 36., 88 / 255.},
           {-8263 / 15000., 124 / 75., -643 / 680., -81 / 250., 2484 / 10625.},
           {3501 / 1720., -300 / 43., 297275 / 52632., -319 / 2322., 24068 / 84065., 0,
            3850 / 26703.}},
     .b = {3 / 40., 0, 875 / 2244., 23 / 72., 264 / 1955., 0, 125 / 11592., 43 / 616.},
     .low = {13 / 160., 0, 2375 / 5984., 5 / 16., 12 / 85., 3 / 44.}},
    {.name = NULL}};

const rk_method_t *rk_find(const char *name) {
    for (const rk_method_t *m = rk_methods; m->name; m++)
        if (!strcmp(m->name, name))
            return m;
    return NULL;
}

struct rk {
    const rk_method_t *method;
    size_t size, controlled;
    rk_rate_t rate;
    void *context;
    bool first_known;         /* k[0] is already computed for the start of the next trial */
    double h;                 /* step of the last trial */
    double *k[RK_STAGES_MAX]; /* derivatives of the stages */
    double *stage;
    unsigned long evaluations;
};

rk_t *rk_make(const rk_method_t *method, size_t size, size_t controlled, rk_rate_t rate,
              void *context) {
    rk_t *rk = calloc(1, sizeof *rk + (RK_STAGES_MAX + 1) * size * sizeof(double));
    if (!rk)
        return NULL;
    double *room = (double *)(rk + 1);
    for (int i = 0; i < RK_STAGES_MAX; i++)
        rk->k[i] = room + (size_t)i * size;
    rk->stage = room + RK_STAGES_MAX * size;
    rk->method = method;
    rk->size = size;
    rk->controlled = controlled;
    rk->rate = rate;
    rk->context = context;
    return rk;
}

void rk_free(rk_t *rk) {
    free(rk);
}

void rk_restart(rk_t *rk) {
    rk->first_known = false;
}

static int evaluate(rk_t *rk, double t, const double *y, double *rate) {
    rk->evaluations++;
    return rk->rate(rk->context, t, y, rate);
}

static int first_stage(rk_t *rk, double t, const double *y) {
    if (rk->first_known)
        return 0;
    const int status = evaluate(rk, t, y, rk->k[0]);
    rk->first_known = status == 0;
    return status;
}

/* Computes out = y + h times the sum of weight_i k_i over the first `stages` stages. */
static void combine(const rk_t *rk, double h, const double *weight, int stages, const double *y,
                    double *out) {
    for (size_t j = 0; j < rk->size; j++) {
        double sum = 0;
        for (int i = 0; i < stages; i++)
            sum += weight[i] * rk->k[i][j];
        out[j] = y[j] + h * sum;
    }
}

int rk_try(rk_t *rk, double t, double h, const double *y, double *next) {
    const rk_method_t *m = rk->method;
    int status = first_stage(rk, t, y);
    rk->h = h;
    for (int i = 1; i < m->stages && status == 0; i++) {
        combine(rk, h, m->a[i], i, y, rk->stage);
        status = evaluate(rk, t + m->c[i] * h, rk->stage, rk->k[i]);
    }
    if (status == 0)
        combine(rk, h, m->b, m->stages, y, next);
    return status;
}

void rk_accept(rk_t *rk) {
    rk->first_known = rk->method->first_is_last;
    if (rk->first_known) {
        double *last = rk->k[rk->method->stages - 1];
        rk->k[rk->method->stages - 1] = rk->k[0];
        rk->k[0] = last;
    }
}

double rk_error(const rk_t *rk, const double *y, const double *next, double tolerance) {
    const rk_method_t *m = rk->method;
    double worst = 0;
    if (!m->estimates)
        return 0;
    for (size_t j = 0; j < rk->controlled; j++) {
        double error = 0;
        for (int i = 0; i < m->stages; i++)
            error += (m->b[i] - m->low[i]) * rk->k[i][j];
        const double scale = tolerance * (1 + fmax(fabs(y[j]), fabs(next[j])));
        const double relative = fabs(rk->h * error) / scale;
        if (!isfinite(relative))
            return HUGE_VAL;
        worst = fmax(worst, relative);
    }
    return worst;
}

double rk_propose(const rk_t *rk, double h, double error) {
    /* The error estimate is the error of the result of one order less; it is proportional to
     * h^order. */
    const double factor = error > 0 ? 0.9 * pow(error, -1.0 / rk->method->order) : 5;
    return h * (factor > 5 ? 5 : factor >= 0.2 ? factor : 0.2);
}

int rk_begin(rk_t *rk, double t, const double *y, double tolerance, double *h) {
    const int status = first_stage(rk, t, y);
    double fastest = 0;
    for (size_t j = 0; j < rk->controlled && status == 0; j++)
        fastest = fmax(fastest, fabs(rk->k[0][j]) / (1 + fabs(y[j])));
    /* A tenth of the fastest characteristic time, times tolerance^(1/order), because the error of a
     * step is proportional to h^order. */
    *h = 0.1 * pow(tolerance, 1.0 / rk->method->order) / fmax(fastest, 1e-3);
    return status;
}

unsigned long rk_evaluations(const rk_t *rk) {
    return rk->evaluations;
}
