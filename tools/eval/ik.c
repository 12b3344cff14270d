/* Implements the inverse kinematics of ik.h. */
#include "tools/eval/ik.h"

#include <math.h>
#include <string.h>

#include "dyn/number/f64.h"

enum { MOST_STEPS = 200 };

/* The iteration stops at this error: far below the promised 1e-9, and far above rounding (1e-15 for
 * each joint). */
static const double close_enough = 1e-12;

typedef struct {
    const ik_t *ik;
    const dyn_pose_t *effector;
    uint32_t n;
    /* reach of the arm in m; relates lengths to angles */
    double reach;
    double low[DYN_MAX_JOINTS], high[DYN_MAX_JOINTS]; /* limits, or infinite */
} problem_set_t;

typedef struct {
    double q[DYN_MAX_JOINTS];
    double error[6]; /* position error / reach, then rotation vector; on world axes */
    double cost;     /* half the squared error */
} try_t;

void ik_middle(const dyn_model_t *model, double start[]) {
    for (uint32_t i = 0; i < model->n; i++) {
        const double *l = model->joint[i].drive.limits.position;
        start[i] = l[1] > l[0] ? (l[0] + l[1]) / 2 : 0;
    }
}

/* Computes the rotation vector of r, which is axis times angle. */
void ik_rotation_vector(const double r[3][3], double out[3]) {
    const double v[3] = {(r[2][1] - r[1][2]) / 2, (r[0][2] - r[2][0]) / 2, (r[1][0] - r[0][1]) / 2};
    const double sine = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double cosine = (r[0][0] + r[1][1] + r[2][2] - 1) / 2;
    const double angle = atan2(sine, cosine);
    if (sine > 1e-6 || cosine > 0) {
        const double k = sine > 1e-12 ? angle / sine : 1;
        for (int i = 0; i < 3; i++)
            out[i] = k * v[i];
        return;
    }
    /* The rotation is half a turn: the axis is an eigenvector of r, taken from the largest column
     * of r + 1. */
    int big = 0;
    for (int i = 1; i < 3; i++)
        if (r[i][i] > r[big][big])
            big = i;
    double length = 0;
    for (int i = 0; i < 3; i++) {
        out[i] = r[i][big] + (i == big ? 1 : 0);
        length += out[i] * out[i];
    }
    for (int i = 0; i < 3; i++)
        out[i] *= angle / sqrt(length);
}

static void measure(const problem_set_t *p, try_t *t) {
    double pose[12], turn[3][3];
    uint32_t unused;
    eval_f64.row(p->ik->evaluator, METHOD_FK_only, t->q, pose, &unused);
    for (int i = 0; i < 3; i++) {
        t->error[i] = (p->effector->p[i] - pose[4 * i + 3]) / p->reach;
        for (int j = 0; j < 3; j++) {
            turn[i][j] = 0;
            for (int k = 0; k < 3; k++)
                turn[i][j] += p->effector->r[i][k] * pose[4 * j + k];
        }
    }
    ik_rotation_vector(turn, t->error + 3);
    t->cost = 0;
    for (int i = 0; i < 6; i++)
        t->cost += t->error[i] * t->error[i] / 2;
}

/* Computes the gradient J^T e and the packed matrix J^T J, with lengths in units of the reach. */
static void linearise(const problem_set_t *p, const try_t *t, double *gradient, double *square) {
    double J[6 * DYN_MAX_JOINTS];
    uint32_t unused;
    const uint32_t n = p->n;
    eval_f64.row(p->ik->evaluator, METHOD_JACOBIAN_only, t->q, J, &unused);
    for (uint32_t i = 0; i < 3 * n; i++)
        J[i] /= p->reach;
    for (uint32_t i = 0; i < n; i++) {
        gradient[i] = 0;
        for (uint32_t k = 0; k < 6; k++)
            gradient[i] += J[k * n + i] * t->error[k];
        for (uint32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < 6; k++)
                sum += J[k * n + i] * J[k * n + j];
            square[i * (i + 1) / 2 + j] = sum;
        }
    }
}

/* Computes the damped step. Joints that press against a limit stay fixed. Returns false if no joint
 * can move or the matrix cannot be factored. */
static bool damped_step(const problem_set_t *p, const try_t *t, const double *gradient,
                        const double *square, double damping, try_t *next) {
    double A[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2], x[DYN_MAX_JOINTS];
    uint32_t used[DYN_MAX_JOINTS], m = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (!(t->q[i] <= p->low[i] && gradient[i] < 0) &&
            !(t->q[i] >= p->high[i] && gradient[i] > 0))
            used[m++] = i;
    if (m == 0)
        return false;
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j <= i; j++)
            A[i * (i + 1) / 2 + j] = square[used[i] * (used[i] + 1) / 2 + used[j]];
        A[i * (i + 3) / 2] += damping;
        x[i] = gradient[used[i]];
    }
    if (dyn_cholesky_factor_f64(m, A) != DYN_OK)
        return false;
    dyn_cholesky_solve_f64(m, A, x);
    *next = *t;
    for (uint32_t i = 0; i < m; i++)
        next->q[used[i]] = fmin(fmax(t->q[used[i]] + x[i], p->low[used[i]]), p->high[used[i]]);
    return true;
}

static bool arrived(const problem_set_t *p, const try_t *t) {
    const double *e = t->error;
    return sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) * fmax(p->reach, 1) <= close_enough &&
           sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5]) <= close_enough;
}

/* Descends from t->q to a minimum. Returns true if the minimum is the wanted pose. */
static bool descend(const problem_set_t *p, try_t *t) {
    double gradient[DYN_MAX_JOINTS], square[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    double trust = 1;
    measure(p, t);
    linearise(p, t, gradient, square);
    for (int i = 0; i < MOST_STEPS && !arrived(p, t); i++) {
        try_t next;
        /* The damping decreases with the error, which keeps the convergence quadratic. */
        const double damping = trust * t->cost + 1e-18;
        if (!damped_step(p, t, gradient, square, damping, &next))
            return false;
        measure(p, &next);
        if (next.cost < t->cost) {
            const double gain = next.cost / t->cost;
            *t = next;
            linearise(p, t, gradient, square);
            trust = fmax(trust / 4, 1e-6);
            if (gain > 0.9999 && t->cost > 1e-8)
                return false; /* slow convergence: a minimum that is not the wanted pose */
        } else {
            trust *= 8;
            if (trust > 1e12)
                return false;
        }
    }
    return arrived(p, t);
}

/* ------------------------------------------------------------------------------------- restarts */

static double uniform(uint64_t *state, double low, double high) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return low + (high - low) * ((double)(*state >> 11) * 0x1p-53);
}

static void set_up(const ik_t *ik, const dyn_pose_t *effector, problem_set_t *p) {
    const dyn_model_t *model = ik->model;
    *p = (problem_set_t){.ik = ik, .effector = effector, .n = model->n};
    for (int k = 0; k < 3; k++)
        p->reach += fabs(model->tool.p[k]);
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_model_joint_t *j = &model->joint[i];
        const double *l = j->drive.limits.position;
        const bool limited = l[1] > l[0];
        p->low[i] = limited ? l[0] : -HUGE_VAL;
        p->high[i] = limited ? l[1] : HUGE_VAL;
        p->reach += fabs(j->a) + fabs(j->d);
        if (limited && j->type == DYN_PRISMATIC)
            p->reach += fmax(fabs(l[0]), fabs(l[1]));
    }
    if (!(p->reach > 1e-6))
        p->reach = 1;
}

static void random_start(const problem_set_t *p, uint64_t *state, double q[]) {
    for (uint32_t i = 0; i < p->n; i++) {
        const double span =
            p->ik->model->joint[i].type == DYN_PRISMATIC ? p->reach : 3.141592653589793;
        q[i] = uniform(state, isfinite(p->low[i]) ? p->low[i] : -span,
                       isfinite(p->high[i]) ? p->high[i] : span);
    }
}

bool ik_solve(const ik_t *ik, const dyn_pose_t *effector, ik_answer_t *answer) {
    problem_set_t p;
    double best = HUGE_VAL;
    bool found = false;
    uint64_t state = ik->seed * 0x9e3779b97f4a7c15u + 0x1234567u;
    set_up(ik, effector, &p);
    for (answer->attempts = 0; answer->attempts <= ik->restarts && !found; answer->attempts++) {
        try_t t;
        memcpy(t.q, ik->start, sizeof t.q);
        if (answer->attempts > 0)
            random_start(&p, &state, t.q);
        for (uint32_t i = 0; i < p.n; i++)
            t.q[i] = fmin(fmax(t.q[i], p.low[i]), p.high[i]);
        found = descend(&p, &t);
        if (!found && !(t.cost < best))
            continue;
        best = t.cost;
        for (uint32_t i = 0; i < p.n; i++) {
            const bool turns = ik->model->joint[i].type == DYN_REVOLUTE && isinf(p.high[i]);
            /* Chooses the equivalent angle that is nearest to the start. */
            answer->q[i] =
                turns ? ik->start[i] + remainder(t.q[i] - ik->start[i], 6.283185307179586) : t.q[i];
        }
        const double *e = t.error;
        answer->position_m = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) * p.reach;
        answer->angle_rad = sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
    }
    return found;
}
