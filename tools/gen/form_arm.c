/* Computes the constants of one arm for tools/gen/form.h: groups of parallel axes, regrouped
 * masses, the last frame. */
#include <math.h>
#include <string.h>

#include "tools/gen/form.h"

/* ---------------------------------------------------------------------------------------- noise */

double gen_quiet_angle(double angle, double noise) {
    const double quarter = 1.57079632679489661923, turns = rint(angle / quarter);
    return fabs(angle - turns * quarter) < noise ? turns * quarter : angle;
}

static void quiet_pose(dyn_pose_t *pose, double noise, double reach) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double whole = rint(pose->r[i][j]);
            if (fabs(pose->r[i][j] - whole) < noise)
                pose->r[i][j] = whole;
        }
        if (fabs(pose->p[i]) < noise * reach)
            pose->p[i] = 0;
    }
}

/* Noise is measured relative to the body's own values, so that a small link is kept: it may be the
 * only mass that its joint moves. */
static void quiet_body(dyn_body_t *b, double noise) {
    const double far = fmax(fabs(b->com[0]), fmax(fabs(b->com[1]), fabs(b->com[2])));
    const double most = fmax(b->inertia[0], fmax(b->inertia[1], b->inertia[2]));
    for (int k = 0; k < 3; k++) {
        b->com[k] = fabs(b->com[k]) < noise * far ? 0 : b->com[k];
        b->inertia[3 + k] = fabs(b->inertia[3 + k]) < noise * most ? 0 : b->inertia[3 + k];
    }
}

dyn_model_t gen_quiet(const dyn_model_t *model, double noise) {
    dyn_model_t m = *model;
    double reach = fabs(m.tool.p[0]) + fabs(m.tool.p[1]) + fabs(m.tool.p[2]);
    for (uint32_t i = 0; i < m.n; i++)
        reach += fabs(m.joint[i].a) + fabs(m.joint[i].d);
    for (uint32_t i = 0; i < m.n; i++) {
        dyn_model_joint_t *j = &m.joint[i];
        j->alpha = gen_quiet_angle(j->alpha, noise);
        j->theta = gen_quiet_angle(j->theta, noise);
        j->a = fabs(j->a) < noise * reach ? 0 : j->a;
        j->d = fabs(j->d) < noise * reach ? 0 : j->d;
        quiet_body(&j->link, noise);
    }
    quiet_body(&m.payload, noise);
    quiet_pose(&m.base, noise, reach);
    quiet_pose(&m.tool, noise, reach);
    const double g = fabs(m.gravity[0]) + fabs(m.gravity[1]) + fabs(m.gravity[2]);
    /* gravity along an axis may have rounding errors in the other two components */
    for (int k = 0; k < 3; k++)
        m.gravity[k] = fabs(m.gravity[k]) < noise * g ? 0 : m.gravity[k];
    return m;
}

/* ------------------------------------------------------------------------------------ constants */

/* If axes are parallel, the position of a link's origin along its axis does not matter. So the d of
 * each revolute joint except the first is passed on to the next joint of its group. */
static void slide_origins(dyn_model_t *m) {
    for (uint32_t i = 1; i + 1 < m->n; i++) {
        dyn_model_joint_t *j = &m->joint[i], *next = &m->joint[i + 1];
        double c, s;
        dyn_exact_turn(next->alpha, &c, &s);
        if (j->type != DYN_REVOLUTE || s != 0 || c < 0 || j->d == 0)
            continue;
        dyn_pose_t up = dyn_pose_identity();
        up.p[2] = j->d;
        j->link = dyn_body_move(&j->link, &up);
        next->d += j->d;
        j->d = 0;
    }
}

static void turn_last(dyn_model_t *m, double angle) {
    dyn_model_joint_t *j = &m->joint[m->n - 1];
    const double none[3] = {0}, back[3] = {0, 0, -angle};
    const dyn_pose_t pose = dyn_pose_rpy(none, back);
    j->theta += angle;
    j->link = dyn_body_move(&j->link, &pose);
    m->payload = dyn_body_move(&m->payload, &pose);
    m->tool = dyn_pose_compose(&pose, &m->tool);
}

static void regroup(const dyn_model_t *m, gen_arm_t *arm) {
    dyn_pseudo_t carry = {0}, own[DYN_MAX_JOINTS];
    double largest[3] = {0};
    for (uint32_t i = m->n; i-- > 0;) {
        own[i] = dyn_pseudo_regroup(m, i, &carry);
        if (arm->keep & GEN_NO_BASE) {
            /* The link without regrouping, about the origin that the formulations use. */
            const dyn_body_t body = i == m->n - 1 ? dyn_model_last_link(m) : m->joint[i].link;
            const dyn_pseudo_t literal = dyn_pseudo_body(&body);
            dyn_pose_t up = dyn_pose_identity();
            up.p[2] = dyn_pseudo_rise(m, i);
            own[i] = (dyn_pseudo_t){0};
            dyn_pseudo_add(&own[i], &literal, &up);
            carry = (dyn_pseudo_t){0};
        }
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) {
                double *most = &largest[(r == 3) + (c == 3)];
                *most = fmax(*most, fabs(own[i].p[r][c]));
            }
    }
    for (uint32_t i = 0; i < m->n; i++) {
        gen_joint_t *j = &arm->joint[i];
        /* Entries below the rounding error of entries of the same kind become zero. */
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++)
                if (fabs(own[i].p[r][c]) < 1e-14 * largest[(r == 3) + (c == 3)])
                    own[i].p[r][c] = 0;
        const double(*p)[4] = (const double(*)[4])own[i].p;
        const double J[6] = {p[0][0], p[1][1], p[2][2], p[0][1], p[1][2], p[0][2]};
        memcpy(j->J, J, sizeof J);
        for (int k = 0; k < 3; k++)
            j->l[k] = p[k][3];
        j->m = p[3][3];
    }
}

/*
 * Adds a rotor to its link where this does not change the dynamics of the arm. The rotor of the
 * first joint turns with its link. The rotor of the second joint can be added to its link if its
 * axis is perpendicular to the first axis: then the link turns about this axis with the speed of
 * the joint alone, so the same inertia in the link has the same kinetic energy.
 * In Euler's tensor an inertia Izz adds half at xx and at yy and subtracts half at zz; the zz part
 * belongs to the link before.
 */
static void regroup_rotors(gen_arm_t *arm) {
    gen_joint_t *j = arm->joint;
    uint32_t second = 1;
    if (!j[0].prismatic) {
        j[0].J[0] += j[0].rotor;
        arm->joined |= j[0].rotor != 0 ? 1u << 0 : 0;
        j[0].rotor = 0;
    }
    while (second < arm->n && !j[second].starts)
        second++;
    if (second != 1 || second >= arm->n || j[1].prismatic || j[0].prismatic || j[1].ca != 0)
        return;
    j[1].J[0] += j[1].rotor / 2;
    j[1].J[1] += j[1].rotor / 2;
    j[0].J[1] -= j[1].rotor / 2;
    arm->joined |= j[1].rotor != 0 ? 1u << 1 : 0;
    j[1].rotor = 0;
}

static bool is_round(const gen_joint_t *j) {
    const double least = 1e-12 * fabs(j->J[0] + j->J[1]);
    return !j->prismatic && j->l[0] == 0 && j->l[1] == 0 && fabs(j->J[0] - j->J[1]) <= least &&
           fabs(j->J[3]) <= least && fabs(j->J[4]) <= least && fabs(j->J[5]) <= least;
}

static void take(const dyn_model_t *m, gen_arm_t *arm) {
    arm->n = m->n;
    for (int k = 0; k < 3; k++)
        arm->gravity[k] = m->gravity[k];
    for (uint32_t i = 0; i < m->n; i++) {
        const dyn_model_joint_t *from = &m->joint[i];
        gen_joint_t *j = &arm->joint[i];
        j->prismatic = from->type == DYN_PRISMATIC;
        dyn_exact_turn(from->alpha, &j->ca, &j->sa);
        j->starts = i == 0 || j->sa != 0 || j->ca < 0;
        j->a = from->a;
        j->rise = i > 0 ? dyn_pseudo_rise(m, i - 1) : 0;
        j->theta = from->theta;
        j->d = j->prismatic ? from->d : 0;
        j->rotor = arm->keep & GEN_NO_ROTOR ? 0 : dyn_model_rotor(from);
        j->viscous = from->drive.friction.viscous;
        for (int k = 0; k < 2; k++)
            j->coulomb[k] = from->drive.friction.coulomb[k];
    }
    regroup(m, arm);
    if (!(arm->keep & GEN_NO_BASE))
        regroup_rotors(arm);
    arm->tool = m->tool;
    arm->tool.p[2] += dyn_pseudo_rise(m, m->n - 1);
}

void gen_arm(const dyn_model_t *model, uint32_t keep, gen_arm_t *arm) {
    dyn_model_t m = *model;
    *arm = (gen_arm_t){.keep = keep};
    if (keep & GEN_KEEP_PAYLOAD)
        m.payload = (dyn_body_t){0};
    if (!(keep & GEN_NO_BASE))
        slide_origins(&m);
    take(&m, arm);
    gen_joint_t *last = &arm->joint[m.n - 1];
    arm->round =
        !(keep & (GEN_KEEP_PAYLOAD | GEN_KEEP_WRENCH | GEN_NO_BASE)) && m.n > 1 && is_round(last);
    if (arm->round) {
        last->theta = 0;
    } else if (!(keep & (GEN_KEEP_PAYLOAD | GEN_KEEP_WRENCH | GEN_NO_BASE)) && m.n > 1 &&
               last->starts && !last->prismatic && last->l[1] != 0) {
        const double angle = atan2(last->l[1], last->l[0]);
        turn_last(&m, angle);
        take(&m, arm);
        arm->joint[m.n - 1].l[1] = 0;
        arm->turned = angle;
    }
}
