/* Wraps the double kernels of elastic links in the interface of the simulation. */
#include "tools/sim/elastic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/modes.h"
#include "tools/sim/drives.h"

/* Number of straight pieces with which a beam is drawn. */
enum { PIECES = 12 };

typedef struct {
    driven_t driven;
    const robot_t *robot;
    dyn_flex_model_t flex;
    dyn_flex_f64_t elastic;
    dyn_flex_scratch_f64_t scratch;
    dyn_flex_forward_scratch_f64_t forward;
    dyn_flex_static_scratch_f64_t still;
    /* joint positions and static deflections of the last call of inverse() */
    double settled[DYN_FLEX_MAX];
    modes_shape_t shape[DYN_FLEX_MAX_JOINTS][DYN_FLEX_LINK_MODES];
} elastic_arm_t;

static int acceleration(void *self, const double *q, const double *qd, const double *force,
                        double *qdd) {
    elastic_arm_t *e = self;
    return dyn_flex_forward_f64(&e->driven.prepared, &e->elastic, &e->forward, q, qd, force, qdd);
}

/* Computes the joint torques for a motion of the joints. */
static int inverse(void *self, const double *q, const double *qd, const double *qdd,
                   double *torque) {
    elastic_arm_t *e = self;
    double lost[DYN_MAX_JOINTS] = {0};
    for (uint32_t i = 0; i < e->driven.model.n; i++)
        e->settled[e->elastic.link[i].at] = q[i];
    /* Starts from zero deflection, so that the result depends on the arguments alone. After 30
     * rounds only rounding errors remain. */
    for (uint32_t i = 0; i < e->driven.model.n; i++)
        for (uint32_t k = 1; k <= e->elastic.link[i].modes; k++)
            e->settled[e->elastic.link[i].at + k] = 0;
    dyn_flex_static_f64(&e->driven.prepared, &e->elastic, &e->still, qd, qdd, NULL, 30, e->settled,
                        torque);
    dyn_friction_f64(&e->driven.prepared, qd, lost);
    for (uint32_t i = 0; i < e->driven.model.n; i++)
        torque[i] += lost[i];
    return SIM_OK;
}

void elastic_settle(sim_system_t *arm, double *q) {
    elastic_arm_t *e = arm->self;
    const double rest[DYN_MAX_JOINTS] = {0};
    double joint[DYN_MAX_JOINTS] = {0}, torque[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < arm->joints; i++)
        joint[i] = q[arm->coordinate[i]];
    (void)inverse(e, joint, rest, rest, torque);
    memcpy(q, e->settled, arm->n * sizeof *q);
}

/* ----------------------------------------------------------------------------- shape and energy */

/* Computes the bending of link i at x: deflections along y and z in out[0] and out[1], their slopes
 * in out[2] and out[3], torsion in out[4]. */
static void bent(const elastic_arm_t *e, uint32_t i, const double *delta, double x, double out[5]) {
    const dyn_flex_link_t *link = &e->flex.link[i];
    memset(out, 0, 5 * sizeof *out);
    for (uint32_t k = 0; k < dyn_flex_modes(link); k++) {
        const modes_shape_t *s = &e->shape[i][k];
        const int plane = (int)s->kind;
        if (s->kind == DYN_FLEX_TORSION) {
            out[4] += delta[k] * modes_at(s, x, 0);
        } else {
            out[plane] += delta[k] * modes_at(s, x, 0);
            out[2 + plane] += delta[k] * modes_at(s, x, 1);
        }
    }
}

/* Like bent() at the end of the beam, but from the mode values that the kernels use there. */
static void bent_end(const elastic_arm_t *e, uint32_t i, const double *delta, double out[5]) {
    const dyn_flex_link_t *link = &e->flex.link[i];
    memset(out, 0, 5 * sizeof *out);
    for (uint32_t k = 0; k < dyn_flex_modes(link); k++) {
        const dyn_flex_mode_t *mode = &link->mode[k];
        const int kind = (int)e->shape[i][k].kind;
        if (kind == DYN_FLEX_TORSION) {
            out[4] += delta[k] * mode->slope;
        } else {
            out[kind] += delta[k] * mode->tip;
            out[2 + kind] += (kind == DYN_FLEX_XY ? 1 : -1) * delta[k] * mode->slope;
        }
    }
}

static dyn_pose_t turned(double x, double y, double z, const double p[3]) {
    return dyn_pose_rpy(p, (const double[3]){x, y, z});
}

/*
 * Computes the joint frames and the frames at the ends of the links. The kernels compute the same
 * frames but do not export them. test_elastic.py would find that energy is not conserved if the two
 * differed.
 */
static void frames_of(const elastic_arm_t *e, const double *q, dyn_pose_t *frame, dyn_pose_t *end) {
    dyn_pose_t at = e->driven.model.base;
    for (uint32_t i = 0; i < e->driven.model.n; i++) {
        dyn_model_joint_t j = e->driven.model.joint[i];
        const uint32_t index = e->elastic.link[i].at;
        if (i > 0 && e->elastic.link[i - 1].modes > 0)
            j.a = 0; /* the preceding beam already spans this distance */
        const dyn_pose_t step = dyn_pose_joint(&j, q[index]);
        frame[i] = at = dyn_pose_compose(&at, &step);
        if (e->elastic.link[i].modes > 0) {
            double u[5];
            const double l = e->flex.link[i].length;
            bent_end(e, i, q + index + 1, u);
            const dyn_pose_t tip = turned(u[4], -u[3], u[2], (const double[3]){l, u[0], u[1]});
            at = dyn_pose_compose(&at, &tip);
        }
        end[i] = at;
    }
}

static void effector_of(const elastic_arm_t *e, const dyn_pose_t *end, dyn_pose_t *effector) {
    const uint32_t last = e->driven.model.n - 1;
    dyn_pose_t tool = e->driven.model.tool;
    if (e->elastic.link[last].modes > 0)
        tool.p[0] -= e->flex.link[last].length;
    *effector = dyn_pose_compose(&end[last], &tool);
}

/* Returns the potential energy of a mass in gravity, from its mass and first moment in a frame:
 * minus gravity times mass times position. */
static double lifted(const elastic_arm_t *e, const dyn_pose_t *frame, double mass,
                     const double moment[3]) {
    const dyn_pose_t *base = &e->driven.model.base;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double *row = frame->r[k];
        sum -= e->driven.arm.gravity[k] * (mass * (frame->p[k] - base->p[k]) + row[0] * moment[0] +
                                           row[1] * moment[1] + row[2] * moment[2]);
    }
    return sum;
}

static double gravity_energy(const elastic_arm_t *e, const double *q) {
    dyn_pose_t frame[DYN_FLEX_MAX_JOINTS], end[DYN_FLEX_MAX_JOINTS];
    const uint32_t last = e->driven.model.n - 1;
    double sum = 0;
    frames_of(e, q, frame, end);
    for (uint32_t i = 0; i <= last; i++) {
        const dyn_body_t *b = &e->driven.model.joint[i].link;
        const dyn_flex_link_t *link = &e->flex.link[i];
        double moment[3] = {b->mass * b->com[0], b->mass * b->com[1], b->mass * b->com[2]};
        for (uint32_t k = 0; k < link->modes[DYN_FLEX_XY] + link->modes[DYN_FLEX_XZ]; k++)
            moment[k < link->modes[DYN_FLEX_XY] ? 1 : 2] +=
                link->mode[k].weight * q[e->elastic.link[i].at + 1 + k];
        sum += lifted(e, &frame[i], b->mass, moment);
    }
    const dyn_body_t *load = &e->driven.model.payload;
    const double before = e->elastic.link[last].modes > 0 ? e->flex.link[last].length : 0;
    const double moment[3] = {load->mass * (load->com[0] - before), load->mass * load->com[1],
                              load->mass * load->com[2]};
    return sum + lifted(e, &end[last], load->mass, moment);
}

static void energy(void *self, const double *q, const double *qd, double *kinetic,
                   double *potential) {
    elastic_arm_t *e = self;
    const uint32_t n = e->elastic.size;
    double I[DYN_FLEX_MAX * (DYN_FLEX_MAX + 1) / 2], strain[DYN_FLEX_MAX] = {0}, sum = 0;
    dyn_flex_mass_f64(&e->driven.prepared, &e->elastic, &e->scratch, q, I);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++)
            sum += (i == k ? 0.5 : 1) * I[i * (i + 1) / 2 + k] * qd[i] * qd[k];
    for (uint32_t i = 0; i < e->driven.model.n; i++)
        if (e->driven.prepared.joint[i].geared)
            sum += e->driven.prepared.joint[i].rotor * pow(qd[e->elastic.link[i].at], 2) / 2;
    *kinetic = sum;
    sum = gravity_energy(e, q);
    dyn_flex_strain_f64(&e->elastic, q, NULL, strain);
    for (uint32_t k = 0; k < n; k++)
        sum += q[k] * strain[k] / 2;
    *potential = sum;
}

/* Returns the power lost to damping. It is computed for a straight arm, where the stiffness force
 * is zero, so that only the damping force remains. */
static double damping(void *self, const double *qd) {
    const elastic_arm_t *e = self;
    const double straight[DYN_FLEX_MAX] = {0};
    double force[DYN_FLEX_MAX] = {0}, power = 0;
    dyn_flex_strain_f64(&e->elastic, straight, qd, force);
    for (uint32_t k = 0; k < e->elastic.size; k++)
        power += force[k] * qd[k];
    return power;
}

/* -------------------------------------------------------------------------- drives and pictures */

static void effector_forces(void *self, const double *q, const double *wrench, double *force) {
    elastic_arm_t *e = self;
    double back[6];
    for (int k = 0; k < 6; k++)
        back[k] = -wrench[k];
    memset(force, 0, e->elastic.size * sizeof *force);
    dyn_flex_wrench_f64(&e->driven.prepared, &e->elastic, &e->scratch, q, back, force);
}

static void place(const dyn_pose_t *frame, double x, double y, double z, double *out) {
    for (int k = 0; k < 3; k++)
        out[k] = frame->p[k] + frame->r[k][0] * x + frame->r[k][1] * y + frame->r[k][2] * z;
}

/* Draws the arm as a line that follows the bent beams; rigid links are drawn as in
 * tools/sim/rigid.c. */
static void shape(void *self, const double *q, double (*point)[3], dyn_pose_t *effector) {
    elastic_arm_t *e = self;
    dyn_pose_t frame[DYN_FLEX_MAX_JOINTS], end[DYN_FLEX_MAX_JOINTS];
    frames_of(e, q, frame, end);
    effector_of(e, end, effector);
    memcpy(*point++, e->driven.model.base.p, sizeof *point);
    for (uint32_t i = 0; i < e->driven.model.n; i++) {
        if (i == 0 || e->elastic.link[i - 1].modes == 0)
            place(i > 0 ? &end[i - 1] : &e->driven.model.base, e->driven.model.joint[i].a, 0, 0,
                  *point++);
        memcpy(*point++, frame[i].p, sizeof *point);
        for (uint32_t k = 1; e->elastic.link[i].modes > 0 && k <= PIECES; k++) {
            double u[5];
            const double x = e->flex.link[i].length * k / PIECES;
            bent(e, i, q + e->elastic.link[i].at + 1, x, u);
            place(&frame[i], x, u[0], u[1], *point++);
        }
    }
    memcpy(*point, effector->p, sizeof *point);
}

static void describe(elastic_arm_t *e) {
    sim_system_t *arm = &e->driven.arm;
    const dyn_model_t *model = &e->driven.model;
    *arm = (sim_system_t){.n = e->elastic.size,
                          .acceleration = acceleration,
                          .energy = energy,
                          .damping = damping,
                          .inverse = inverse,
                          .effector = effector_forces,
                          .shape = shape};
    drives_describe(&e->driven);
    uint32_t points = 1;
    for (uint32_t i = 0; i < model->n; i++) {
        arm->coordinate[i] = e->elastic.link[i].at;
        if (i == 0 || e->elastic.link[i - 1].modes == 0)
            arm->owner[points++ - 1] = (uint8_t)i;
        arm->owner[points++ - 1] = (uint8_t)(model->joint[i].type == DYN_PRISMATIC ? i + 1 : i);
        for (uint32_t k = 1; e->elastic.link[i].modes > 0 && k <= PIECES; k++)
            arm->owner[points++ - 1] = (uint8_t)(i + 1);
    }
    arm->owner[points++ - 1] = (uint8_t)model->n;
    arm->points = points;
}

static bool take_shapes(elastic_arm_t *e) {
    bool good = true;
    for (uint32_t i = 0; i < e->driven.model.n; i++) {
        const dyn_flex_link_t *link = &e->flex.link[i];
        uint32_t at = 0;
        for (int kind = 0; kind < DYN_FLEX_KINDS; kind++)
            for (uint32_t k = 0; k < link->modes[kind]; k++)
                good = modes_shape(&e->robot->joint[i].flex, (dyn_flex_kind_t)kind, k,
                                   &e->shape[i][at++]) &&
                       good;
    }
    return good;
}

sim_system_t *elastic_make(const robot_t *robot, const dyn_flex_model_t *flex, int *status) {
    elastic_arm_t *e = calloc(1, sizeof *e);
    *status = SIM_E_MEMORY;
    if (!e)
        return NULL;
    e->robot = robot;
    e->driven.model = robot->model;
    e->flex = *flex;
    e->driven.arm.self = e;
    *status = dyn_prepare_f64(&e->driven.model, NULL, &e->driven.prepared);
    if (*status == DYN_OK)
        *status = dyn_prepare_flex_f64(&e->driven.model, flex, NULL, &e->elastic);
    if (*status == DYN_OK && !take_shapes(e))
        *status = SIM_E_MEMORY;
    if (*status == DYN_OK) {
        describe(e);
        return &e->driven.arm;
    }
    elastic_free(&e->driven.arm);
    return NULL;
}

void elastic_free(sim_system_t *arm) {
    if (!arm)
        return;
    elastic_arm_t *e = arm->self;
    for (uint32_t i = 0; i < DYN_FLEX_MAX_JOINTS; i++)
        for (uint32_t k = 0; k < DYN_FLEX_LINK_MODES; k++)
            modes_shape_free(&e->shape[i][k]);
    free(e);
}

/* ---------------------------------------------------------------------------------- deflections */

const char *const elastic_kind_name[DYN_FLEX_KINDS] = {"xy", "xz", "torsion"};

/* Identifies a column after those of the end effector: a link, a kind of mode, the quantity, and
 * the middle or the end of the link. */
typedef struct {
    uint32_t link;
    int kind;
    elastic_what_t what;
    bool end; /* true: end of the link; false: middle */
} column_t;

static bool column_at(const elastic_arm_t *e, uint32_t index, column_t *out) {
    for (uint32_t i = 0; i < e->driven.model.n; i++)
        for (int kind = 0; kind < DYN_FLEX_KINDS; kind++) {
            if (e->flex.link[i].modes[kind] == 0)
                continue;
            const uint32_t columns = kind == DYN_FLEX_TORSION ? 2 : 4;
            if (index < columns) {
                const elastic_what_t what = kind == DYN_FLEX_TORSION ? ELASTIC_TORSION
                                            : index < 2              ? ELASTIC_DEFLECTION
                                                                     : ELASTIC_SLOPE;
                *out = (column_t){i, kind, what, index % 2 == 1};
                return true;
            }
            index -= columns;
        }
    return false;
}

uint32_t elastic_columns(const sim_system_t *arm) {
    uint32_t columns = 0;
    column_t column;
    while (column_at(arm->self, columns, &column))
        columns++;
    return 3 + columns;
}

elastic_what_t elastic_column_what(const sim_system_t *arm, uint32_t column) {
    column_t c = {.what = ELASTIC_EFFECTOR};
    if (column >= 3)
        (void)column_at(arm->self, column - 3, &c);
    return c.what;
}

void elastic_column_name(const sim_system_t *arm, uint32_t column, char *out, size_t size) {
    static const char *const what[] = {
        [ELASTIC_DEFLECTION] = "_deflection", [ELASTIC_SLOPE] = "_slope", [ELASTIC_TORSION] = ""};
    const elastic_arm_t *e = arm->self;
    column_t c;
    if (column < 3)
        snprintf(out, size, "effector_%c", "xyz"[column]);
    else if (column_at(e, column - 3, &c))
        snprintf(out, size, "%.40s_%s%s_%s", e->robot->joint[c.link].name,
                 elastic_kind_name[c.kind], what[c.what], c.end ? "end" : "mid");
}

void elastic_column_values(const sim_system_t *arm, const double *q, double *out) {
    const elastic_arm_t *e = arm->self;
    dyn_pose_t frame[DYN_FLEX_MAX_JOINTS], end[DYN_FLEX_MAX_JOINTS], effector;
    column_t c;
    frames_of(e, q, frame, end);
    effector_of(e, end, &effector);
    memcpy(out, effector.p, sizeof effector.p);
    for (uint32_t k = 0; column_at(e, k, &c); k++) {
        const double l = e->flex.link[c.link].length;
        double at[5];
        bent(e, c.link, q + e->elastic.link[c.link].at + 1, c.end ? l : l / 2, at);
        out[3 + k] = at[c.what == ELASTIC_TORSION ? 4 : c.kind + (c.what == ELASTIC_SLOPE ? 2 : 0)];
    }
}
