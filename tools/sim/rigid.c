/* Wraps the double kernels of rigid links in the interface of the simulation. */
#include "tools/sim/rigid.h"

#include <stdlib.h>
#include <string.h>

#include "tools/eval/eval.h"
#include "tools/sim/drives.h"

typedef struct {
    driven_t driven;
    dyn_body_t last; /* last link with the payload */
    method_id_t forward, inverse;
    /* evaluator without friction, because the simulation computes friction itself */
    evaluator_t *links;
    evaluator_t *everything; /* evaluator with friction */
} rigid_t;

static int evaluate(evaluator_t *evaluator, method_id_t method, uint32_t n, const double *q,
                    const double *qd, const double *third, double *out) {
    double in[3 * DYN_MAX_JOINTS];
    uint32_t limited;
    memcpy(in, q, n * sizeof *in);
    memcpy(in + n, qd, n * sizeof *in);
    memcpy(in + 2 * n, third, n * sizeof *in);
    return eval_f64.row(evaluator, method, in, out, &limited);
}

static int acceleration(void *self, const double *q, const double *qd, const double *force,
                        double *qdd) {
    rigid_t *r = self;
    return evaluate(r->links, r->forward, r->driven.model.n, q, qd, force, qdd);
}

static int inverse(void *self, const double *q, const double *qd, const double *qdd,
                   double *torque) {
    rigid_t *r = self;
    return evaluate(r->everything, r->inverse, r->driven.model.n, q, qd, qdd, torque);
}

/* Computes the world frame of each link and of the end effector. */
static void frames_of(const rigid_t *r, const double *q, dyn_pose_t *frame, dyn_pose_t *effector) {
    dyn_pose_t at = r->driven.model.base;
    for (uint32_t i = 0; i < r->driven.model.n; i++) {
        const dyn_pose_t joint = dyn_pose_joint(&r->driven.model.joint[i], q[i]);
        at = dyn_pose_compose(&at, &joint);
        frame[i] = at;
    }
    *effector = dyn_pose_compose(&at, &r->driven.model.tool);
}

static void energy(void *self, const double *q, const double *qd, double *kinetic,
                   double *potential) {
    rigid_t *r = self;
    const uint32_t n = r->driven.model.n;
    double M[DYN_MAX_JOINTS * DYN_MAX_JOINTS], sum = 0;
    dyn_pose_t frame[DYN_MAX_JOINTS], effector;
    uint32_t limited;
    (void)eval_f64.row(r->links, METHOD_MASS_crba, q, M, &limited);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            sum += M[i * n + j] * qd[i] * qd[j] / 2;
    *kinetic = sum;
    frames_of(r, q, frame, &effector);
    sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const dyn_body_t *b = i + 1 < n ? &r->driven.model.joint[i].link : &r->last;
        for (int k = 0; k < 3; k++) {
            const double *row = frame[i].r[k];
            const double place = frame[i].p[k] - r->driven.model.base.p[k] + row[0] * b->com[0] +
                                 row[1] * b->com[1] + row[2] * b->com[2];
            sum -= b->mass * r->driven.arm.gravity[k] * place;
        }
    }
    *potential = sum;
}

static void effector_forces(void *self, const double *q, const double *wrench, double *force) {
    rigid_t *r = self;
    double back[6];
    for (int k = 0; k < 6; k++)
        back[k] = -wrench[k];
    memset(force, 0, r->driven.model.n * sizeof *force);
    dyn_wrench_torque_f64(&r->driven.prepared, q, back, force);
}

static void set_point(double *point, const dyn_pose_t *frame, double x, double z) {
    for (int k = 0; k < 3; k++)
        point[k] = frame->p[k] + frame->r[k][0] * x + frame->r[k][2] * z;
}

/* Draws the arm as a line along its frames: along x by the next joint's a, along that joint's z by
 * d, and at the end to the tool. */
static void shape(void *self, const double *q, double (*point)[3], dyn_pose_t *effector) {
    rigid_t *r = self;
    dyn_pose_t frame[DYN_MAX_JOINTS];
    frames_of(r, q, frame, effector);
    memcpy(point[0], r->driven.model.base.p, sizeof point[0]);
    point++;
    for (uint32_t i = 0; i < r->driven.model.n; i++) {
        const dyn_pose_t *parent = i > 0 ? &frame[i - 1] : &r->driven.model.base;
        set_point(point[0], parent, r->driven.model.joint[i].a, 0);
        memcpy(point[1], frame[i].p, sizeof point[1]);
        point += 2;
    }
    memcpy(point[0], effector->p, sizeof point[0]);
}

/* Returns the inverse-dynamics method of the same name, or ne. */
static method_id_t inverse_of(method_id_t forward) {
    const method_id_t same = method_find(PROBLEM_ID, method_table[forward].name);
    return same < METHOD_COUNT ? same : METHOD_ID_ne;
}

static void describe(rigid_t *r) {
    sim_system_t *arm = &r->driven.arm;
    const dyn_model_t *model = &r->driven.model;
    *arm = (sim_system_t){.n = model->n,
                          .points = 2 * model->n + 2,
                          .acceleration = acceleration,
                          .energy = energy,
                          .inverse = inverse,
                          .effector = effector_forces,
                          .shape = shape};
    drives_describe(&r->driven);
    for (uint32_t i = 0; i < model->n; i++) {
        arm->coordinate[i] = i;
        arm->owner[2 * i] = (uint8_t)i;
        arm->owner[2 * i + 1] = (uint8_t)(model->joint[i].type == DYN_PRISMATIC ? i + 1 : i);
    }
    arm->owner[2 * model->n] = (uint8_t)model->n;
}

sim_system_t *rigid_make(const dyn_model_t *model, method_id_t method, int *status) {
    rigid_t *r = calloc(1, sizeof *r);
    dyn_model_t *smooth = malloc(sizeof *smooth);
    *status = SIM_E_MEMORY;
    if (r && smooth) {
        *smooth = r->driven.model = *model;
        for (uint32_t i = 0; i < model->n; i++)
            smooth->joint[i].drive.friction = (dyn_friction_t){0};
        r->last = dyn_model_last_link(model);
        r->forward = method;
        r->inverse = inverse_of(method);
        r->links = eval_f64.make(smooth, NULL, NULL, status);
        r->everything = eval_f64.make(model, NULL, NULL, status);
        if (!r->links || !r->everything)
            *status = SIM_E_MEMORY;
        else
            *status = dyn_prepare_f64(model, NULL, &r->driven.prepared);
        describe(r);
    }
    free(smooth);
    if (*status == DYN_OK)
        return &r->driven.arm;
    if (r && r->driven.arm.self)
        rigid_free(&r->driven.arm);
    else
        free(r);
    return NULL;
}

void rigid_free(sim_system_t *arm) {
    if (!arm)
        return;
    rigid_t *r = arm->self;
    if (r->links)
        eval_f64.drop(r->links);
    if (r->everything)
        eval_f64.drop(r->everything);
    free(r);
}
