/*
 * Explicit Runge-Kutta integrators of y' = f(t, y) in double precision. One function runs all
 * methods from tables of coefficients and knows nothing about arms. It is here and not in dyn/,
 * because no board runs it and because it calls its right-hand side through a pointer.
 *
 *     rk3    order 3, Swartz 1982 (Kutta's third-order rule); c3 is corrected to end in - h k1
 *     rk4    order 4, the classical method
 *     rk45   order 5 with an error estimate of order 4, Dormand and Prince 1980 (paper 000)
 *     rk56   order 6 with an error estimate of order 5, Verner 1978 (paper 002)
 *
 * A step may be tried several times before it is accepted:
 *
 *     rk_t *rk = rk_make(rk_find("rk45"), size, size, rate, context);
 *     rk_restart(rk);                       y or the right-hand side has jumped
 *     rk_try(rk, t, h, y, next);            next is the result of a step of h; y stays
 *     if (rk_error(rk, y, next, 1e-9) <= 1) rk_accept(rk), t += h, y = next;
 */
#ifndef TOOLS_SIM_RK_H
#define TOOLS_SIM_RK_H

#include <stdbool.h>
#include <stddef.h>

enum { RK_STAGES_MAX = 8 };

typedef struct {
    const char *name;
    int order;
    int stages;
    bool first_is_last; /* the last stage of a step is also the first of the next step */
    bool estimates;     /* the method has an error estimate */
    double c[RK_STAGES_MAX];
    double a[RK_STAGES_MAX][RK_STAGES_MAX];
    double b[RK_STAGES_MAX];
    double low[RK_STAGES_MAX]; /* weights of the result of one order less */
} rk_method_t;

/* The list ends with a method without a name. The first method is the default. */
extern const rk_method_t rk_methods[];
const rk_method_t *rk_find(const char *name);

/* Right-hand side: computes y' and returns 0, or a negative number that rk_try then returns. */
typedef int (*rk_rate_t)(void *context, double t, const double *y, double *rate);

typedef struct rk rk_t;

/* Makes an integrator of `size` numbers; the error estimate covers the first `controlled` of them.
 * Returns NULL if there is no memory. */
rk_t *rk_make(const rk_method_t *method, size_t size, size_t controlled, rk_rate_t rate,
              void *context);
void rk_free(rk_t *rk);

void rk_restart(rk_t *rk);
int rk_try(rk_t *rk, double t, double h, const double *y, double *next);
void rk_accept(rk_t *rk);

/* Returns the largest |error| / (tolerance (1 + |y|)) of the last trial, or 0 if the method has no
 * estimate. */
double rk_error(const rk_t *rk, const double *y, const double *next, double tolerance);
/* From the error of a step h, proposes a step with an error a little below the tolerance. */
double rk_propose(const rk_t *rk, double h, double error);
/* Proposes a first step for this tolerance. Evaluates the right-hand side once; rk_try reuses the
 * result. */
int rk_begin(rk_t *rk, double t, const double *y, double tolerance, double *h);

unsigned long rk_evaluations(const rk_t *rk);

#endif
