/*
 * The body of an evaluator of elastic arms, without an include guard: tools/appell/elastic_<type>.c
 * defines ELASTIC_TYPE and includes it. For floats: an elastic arm in q31 would need limits of its
 * deflections, which a robot file does not have.
 */
#include <stdlib.h>
#include <string.h>

enum { MOST = DYN_FLEX_MAX };

struct elastic {
    DYN_T(arm) arm;
    DYN_T(arm) weightless; /* without gravity, for the Coriolis matrix */
    DYN_T(flex) flex;
    DYN_T(flex_scratch) scratch;
    DYN_T(flex_forward_scratch) forward;
    DYN_T(flex_static_scratch) still;
    int wrenched;
    real wrench[6];
    real in[3][MOST], load[MOST], out[MOST * MOST];
};

static void take(const double *in, uint32_t count, real *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = (real)in[i];
}

/* Generalised forces of the wrench; zero without one. */
static void hand_load(elastic_t *e) {
    for (uint32_t k = 0; k < e->flex.size; k++)
        e->load[k] = 0;
    if (!e->wrenched)
        return;
    DYN(flex_wrench)(&e->arm, &e->flex, &e->scratch, e->in[0], e->wrench, e->load);
    for (uint32_t k = 0; k < e->flex.size; k++)
        e->load[k] = -e->load[k];
}

static void joint_speeds(const elastic_t *e, real *speed) {
    for (uint32_t i = 0; i < e->flex.n; i++)
        speed[i] = e->in[1][e->flex.link[i].at];
}

/* The torques first, then what belongs to the modes. */
static void joints_first(const elastic_t *e, const real *theta, double *out) {
    const DYN_T(flex) *f = &e->flex;
    uint32_t next = f->n;
    for (uint32_t i = 0; i < f->n; i++) {
        out[i] = (double)theta[f->link[i].at];
        for (uint32_t k = 1; k <= f->link[i].modes; k++)
            out[next++] = (double)theta[f->link[i].at + k];
    }
}

static int row_id(elastic_t *e, const double *in, double *out) {
    const uint32_t n = e->flex.n, size = e->flex.size;
    real lost[MOST] = {0}, speed[MOST];
    take(in, size, e->in[0]);
    take(in + size, size, e->in[1]);
    take(in + 2 * size, n, e->in[2]);
    hand_load(e);
    const int status = DYN(flex_torque)(&e->arm, &e->flex, &e->forward, e->in[0], e->in[1],
                                        e->in[2], e->load, e->out);
    joint_speeds(e, speed);
    DYN(friction)(&e->arm, speed, lost);
    joints_first(e, e->out, out);
    for (uint32_t i = 0; i < n; i++)
        out[i] += (double)lost[i];
    return status;
}

static int row_static(elastic_t *e, const double *in, double *out) {
    const DYN_T(flex) *f = &e->flex;
    real theta[MOST] = {0}, tau[MOST], lost[MOST] = {0};
    for (uint32_t i = 0; i < f->n; i++)
        theta[f->link[i].at] = (real)in[i];
    take(in + f->n, f->n, e->in[1]);
    take(in + 2 * f->n, f->n, e->in[2]);
    for (int round = 0; round < ELASTIC_ROUNDS; round++) {
        memcpy(e->in[0], theta, sizeof theta);
        hand_load(e);
        DYN(flex_static)(&e->arm, f, &e->still, e->in[1], e->in[2], e->load, 1, theta, tau);
    }
    DYN(friction)(&e->arm, e->in[1], lost);
    joints_first(e, theta, out);
    for (uint32_t i = 0; i < f->n; i++)
        out[i] = (double)(tau[i] + lost[i]);
    return DYN_OK;
}

static int row_fd(elastic_t *e, const double *in, double *out) {
    const DYN_T(flex) *f = &e->flex;
    real lost[MOST] = {0}, speed[MOST];
    take(in, f->size, e->in[0]);
    take(in + f->size, f->size, e->in[1]);
    hand_load(e);
    joint_speeds(e, speed);
    DYN(friction)(&e->arm, speed, lost);
    for (uint32_t i = 0; i < f->n; i++)
        e->load[f->link[i].at] += (real)in[2 * f->size + i] - lost[i];
    const int status =
        DYN(flex_forward)(&e->arm, f, &e->forward, e->in[0], e->in[1], e->load, e->out);
    for (uint32_t k = 0; k < f->size; k++)
        out[k] = (double)e->out[k];
    return status;
}

static void row_bias(elastic_t *e, const double *in, double *out) {
    const DYN_T(flex) *f = &e->flex;
    take(in, f->size, e->in[0]);
    take(in + f->size, f->size, e->in[1]);
    hand_load(e);
    DYN(flex_bias)(&e->arm, f, &e->scratch, e->in[0], e->in[1], e->out);
    DYN(flex_strain)(f, e->in[0], e->in[1], e->out);
    for (uint32_t k = 0; k < f->size; k++)
        out[k] = (double)(e->out[k] - e->load[k]);
}

static void row_gravity(elastic_t *e, const double *in, double *out) {
    const real rest[MOST] = {0};
    take(in, e->flex.size, e->in[0]);
    DYN(flex_bias)(&e->arm, &e->flex, &e->scratch, e->in[0], rest, e->out);
    for (uint32_t k = 0; k < e->flex.size; k++)
        out[k] = (double)e->out[k];
}

/*
 * The forces of velocity are a quadratic form c(v) = G(v, v); the column of C for coordinate k is
 * G(v, e_k) = (c(v + e_k) - c(v - e_k)) / 4, which are Christoffel's symbols: dI/dt - 2 C is skew.
 */
static void row_coriolis(elastic_t *e, const double *in, double *out) {
    const uint32_t size = e->flex.size;
    take(in, size, e->in[0]);
    for (uint32_t k = 0; k < size; k++) {
        take(in + size, size, e->in[1]);
        take(in + size, size, e->in[2]);
        e->in[1][k] += 1;
        e->in[2][k] -= 1;
        DYN(flex_bias)(&e->weightless, &e->flex, &e->scratch, e->in[0], e->in[1], e->out);
        DYN(flex_bias)(&e->weightless, &e->flex, &e->scratch, e->in[0], e->in[2], e->load);
        for (uint32_t i = 0; i < size; i++)
            out[i * size + k] = (double)(e->out[i] - e->load[i]) / 4;
    }
}

static void row_mass(elastic_t *e, const double *in, double *out) {
    const DYN_T(flex) *f = &e->flex;
    const uint32_t size = f->size;
    take(in, size, e->in[0]);
    DYN(flex_mass)(&e->arm, f, &e->scratch, e->in[0], e->out);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t k = 0; k <= i; k++)
            out[i * size + k] = out[k * size + i] = (double)e->out[i * (i + 1) / 2 + k];
    for (uint32_t i = 0; i < f->n; i++)
        if (e->arm.joint[i].geared)
            out[f->link[i].at * size + f->link[i].at] += (double)e->arm.joint[i].rotor;
}

static void give(const elastic_t *e, uint32_t count, double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = (double)e->out[i];
}

static int row(elastic_t *e, problem_t problem, bool quasi_static, const double *in, double *out,
               uint32_t *limited) {
    *limited = 0;
    switch (problem) {
    case PROBLEM_ID:
        return quasi_static ? row_static(e, in, out) : row_id(e, in, out);
    case PROBLEM_FD:
        return row_fd(e, in, out);
    case PROBLEM_MASS:
        row_mass(e, in, out);
        return DYN_OK;
    case PROBLEM_BIAS:
        row_bias(e, in, out);
        return DYN_OK;
    case PROBLEM_GRAVITY:
        row_gravity(e, in, out);
        return DYN_OK;
    case PROBLEM_CORIOLIS:
        row_coriolis(e, in, out);
        return DYN_OK;
    case PROBLEM_FK:
        take(in, e->flex.size, e->in[0]);
        DYN(flex_pose)(&e->arm, &e->flex, e->in[0], e->out);
        give(e, 12, out);
        return DYN_OK;
    case PROBLEM_JACOBIAN:
        take(in, e->flex.size, e->in[0]);
        DYN(flex_jacobian)(&e->arm, &e->flex, e->in[0], e->out);
        give(e, 6 * e->flex.size, out);
        return DYN_OK;
    case PROBLEM_VOLT:
        take(in, e->flex.n, e->in[0]);
        take(in + e->flex.n, e->flex.n, e->in[1]);
        *limited = DYN(voltage)(&e->arm, e->in[0], e->in[1], e->out);
        give(e, e->flex.n, out);
        return DYN_OK;
    case PROBLEM_COUNT:
        break;
    }
    return DYN_E_TYPE;
}

static elastic_t *make(const dyn_model_t *model, const dyn_flex_model_t *flex, const double *wrench,
                       int *status) {
    elastic_t *e = calloc(1, sizeof *e);
    dyn_model_t *weightless = malloc(sizeof *weightless);
    if (e && weightless) {
        *weightless = *model;
        memset(weightless->gravity, 0, sizeof weightless->gravity);
        *status = DYN(prepare)(model, NULL, &e->arm);
        if (*status == DYN_OK)
            *status = DYN(prepare)(weightless, NULL, &e->weightless);
        if (*status == DYN_OK)
            *status = DYN(prepare_flex)(model, flex, NULL, &e->flex);
        e->wrenched = wrench != NULL;
        if (wrench)
            take(wrench, 6, e->wrench);
    } else {
        free(e);
        e = NULL;
    }
    free(weightless);
    return e;
}

static void drop(elastic_t *e) {
    free(e);
}

const elastic_type_t ELASTIC_TYPE = {ELASTIC_NAME, ELASTIC_DIGITS, make, drop, row};
