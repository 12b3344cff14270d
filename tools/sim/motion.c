/* Reads motions from files and computes the cycloid. */
#include "tools/sim/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/diagnostics.h"
#include "tools/sim/table.h"

static size_t width(const sim_motion_t *m) {
    return 1 + 3 * (size_t)m->n;
}

static double *point(const sim_motion_t *m, size_t i) {
    return m->point + i * width(m);
}

/* Finds the second derivatives of a natural spline through the values of coordinate j by
 * elimination, then the first derivatives. */
static int spline(sim_motion_t *m, uint32_t j) {
    const size_t last = m->points - 1, position = 1 + j, speed = 1 + m->n + j,
                 bend = 1 + 2 * (size_t)m->n + j;
    double *ratio = calloc(m->points, sizeof *ratio);
    if (!ratio)
        return diag_no_memory();
    point(m, 0)[bend] = point(m, last)[bend] = 0;
    for (size_t i = 1; i < last; i++) {
        const double *a = point(m, i - 1), *c = point(m, i + 1);
        double *b = point(m, i);
        const double h = b[0] - a[0], k = c[0] - b[0];
        const double slope = (c[position] - b[position]) / k - (b[position] - a[position]) / h;
        const double pivot = 2 * (h + k) - h * ratio[i - 1];
        ratio[i] = k / pivot;
        b[bend] = (6 * slope - h * a[bend]) / pivot;
    }
    for (size_t i = last; i-- > 1;)
        point(m, i)[bend] -= ratio[i] * point(m, i + 1)[bend];
    for (size_t i = 0; i <= last; i++) {
        const size_t piece = i < last ? i : i - 1;
        const double *a = point(m, piece), *b = point(m, piece + 1);
        const double h = b[0] - a[0], slope = (b[position] - a[position]) / h;
        point(m, i)[speed] = i < last ? slope - h * (2 * a[bend] + b[bend]) / 6
                                      : slope + h * (a[bend] + 2 * b[bend]) / 6;
    }
    free(ratio);
    return EXIT_YES;
}

int motion_read(sim_motion_t *motion, const char *path, uint32_t n) {
    static const char cure[] =
        "write rows of t and positions, or of t, positions, speeds and accelerations";
    const size_t counts[] = {1 + (size_t)n, 1 + 3 * (size_t)n};
    table_t table;
    *motion = (sim_motion_t){.n = n};
    if (table_read(&table, path, counts, 2, cure) != EXIT_YES)
        return EXIT_BAD;
    int status = table_times(&table, path);
    if (table.rows < 2) {
        table_free(&table);
        return diag_error(path, "give at least the start and the end of the motion",
                          "the motion has only one row");
    }
    motion->points = table.rows;
    motion->point = calloc(table.rows, width(motion) * sizeof(double));
    if (!motion->point)
        status = diag_no_memory();
    for (size_t i = 0; status == EXIT_YES && i < table.rows; i++)
        memcpy(point(motion, i), table.number + i * table.width, table.width * sizeof(double));
    for (uint32_t j = 0; status == EXIT_YES && j < n && table.width == 1 + n; j++)
        status = spline(motion, j);
    table_free(&table);
    if (status != EXIT_YES)
        motion_free(motion);
    return status;
}

int motion_cycloid(sim_motion_t *motion, uint32_t n, const double *from, const double *to,
                   double duration_s) {
    *motion = (sim_motion_t){.n = n, .points = 2, .cycloid = true};
    motion->point = calloc(2, width(motion) * sizeof(double));
    if (!motion->point)
        return diag_no_memory();
    memcpy(point(motion, 0) + 1, from, n * sizeof *from);
    memcpy(point(motion, 1) + 1, to, n * sizeof *to);
    point(motion, 1)[0] = duration_s;
    return EXIT_YES;
}

void motion_free(sim_motion_t *motion) {
    free(motion->point);
    *motion = (sim_motion_t){0};
}

double motion_end(const sim_motion_t *motion) {
    return point(motion, motion->points - 1)[0];
}

static void rest_at(const sim_motion_t *m, size_t i, double *q, double *qd, double *qdd) {
    memcpy(q, point(m, i) + 1, m->n * sizeof *q);
    memset(qd, 0, m->n * sizeof *qd);
    memset(qdd, 0, m->n * sizeof *qdd);
}

static void cycloid_at(const sim_motion_t *m, double t, double *q, double *qd, double *qdd) {
    const double turn = 2 * acos(-1), T = motion_end(m), x = turn * t / T;
    for (uint32_t j = 0; j < m->n; j++) {
        const double from = point(m, 0)[1 + j], way = point(m, 1)[1 + j] - from;
        q[j] = from + way * (x - sin(x)) / turn;
        qd[j] = way * (1 - cos(x)) / T;
        qdd[j] = way * turn * sin(x) / (T * T);
    }
}

/* Evaluates the polynomial of degree 5 that has the given values and first and second derivatives
 * at both points. */
static void piece_at(const sim_motion_t *m, size_t i, double t, double *q, double *qd,
                     double *qdd) {
    const uint32_t n = m->n;
    const double *a = point(m, i), *b = point(m, i + 1);
    const double h = b[0] - a[0], x = (t - a[0]) / h;
    for (uint32_t j = 0; j < n; j++) {
        const double p0 = a[1 + j], v0 = a[1 + n + j] * h, w0 = a[1 + 2 * n + j] * h * h / 2;
        const double p = b[1 + j] - p0 - v0 - w0, v = b[1 + n + j] * h - v0 - 2 * w0,
                     w = b[1 + 2 * n + j] * h * h / 2 - w0;
        const double c3 = 10 * p - 4 * v + w, c4 = -15 * p + 7 * v - 2 * w, c5 = 6 * p - 3 * v + w;
        q[j] = p0 + x * (v0 + x * (w0 + x * (c3 + x * (c4 + x * c5))));
        qd[j] = (v0 + x * (2 * w0 + x * (3 * c3 + x * (4 * c4 + x * 5 * c5)))) / h;
        qdd[j] = (2 * w0 + x * (6 * c3 + x * (12 * c4 + x * 20 * c5))) / (h * h);
    }
}

void motion_at(const sim_motion_t *m, double t, double *q, double *qd, double *qdd) {
    size_t low = 0, high = m->points - 1;
    if (t < point(m, 0)[0]) {
        rest_at(m, 0, q, qd, qdd);
        return;
    }
    if (t > point(m, high)[0]) {
        rest_at(m, high, q, qd, qdd);
        return;
    }
    if (m->cycloid) {
        cycloid_at(m, t, q, qd, qdd);
        return;
    }
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (point(m, middle)[0] <= t)
            low = middle;
        else
            high = middle;
    }
    piece_at(m, low, t, q, qd, qdd);
}
