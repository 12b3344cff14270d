/* Mass distributions in double precision, for preparing models. Not used in the tick. */
#include "dyn/model/pseudo_inertia.h"

#include <stdbool.h>

dyn_pseudo_t dyn_pseudo_body(const dyn_body_t *body) {
    static const int at[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    const double *I = body->inertia, *c = body->com;
    const double half = 0.5 * (I[0] + I[1] + I[2]);
    dyn_pseudo_t out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out.p[i][j] = (i == j ? half : 0) - I[at[i][j]] + body->mass * c[i] * c[j];
        out.p[i][3] = out.p[3][i] = body->mass * c[i];
    }
    out.p[3][3] = body->mass;
    return out;
}

void dyn_pseudo_add(dyn_pseudo_t *sum, const dyn_pseudo_t *part, const dyn_pose_t *pose) {
    double half[3][4]; /* T P; the last row of T changes nothing */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            half[i][j] = pose->p[i] * part->p[3][j];
            for (int k = 0; k < 3; k++)
                half[i][j] += pose->r[i][k] * part->p[k][j];
        }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double moved = half[i][3] * pose->p[j];
            for (int k = 0; k < 3; k++)
                moved += half[i][k] * pose->r[j][k];
            sum->p[i][j] += moved;
        }
        sum->p[i][3] += half[i][3];
        sum->p[3][i] += half[i][3];
    }
    sum->p[3][3] += part->p[3][3];
}

double dyn_pseudo_rise(const dyn_model_t *model, uint32_t before) {
    const dyn_model_joint_t *j = &model->joint[before];
    return j->type == DYN_PRISMATIC ? 0 : j->d;
}

/* Removes the part with the given rows and columns from `whole` and returns it. */
static dyn_pseudo_t take(dyn_pseudo_t *whole, int first, int last) {
    dyn_pseudo_t out = {0};
    for (int i = first; i <= last; i++)
        for (int j = first; j <= last; j++) {
            out.p[i][j] = whole->p[i][j];
            whole->p[i][j] = 0;
        }
    return out;
}

dyn_pseudo_t dyn_pseudo_regroup(const dyn_model_t *model, uint32_t i, dyn_pseudo_t *carry) {
    const dyn_model_joint_t *j = &model->joint[i];
    const dyn_body_t body = i == model->n - 1 ? dyn_model_last_link(model) : j->link;
    const dyn_pseudo_t literal = dyn_pseudo_body(&body);
    dyn_pose_t up = dyn_pose_identity();
    dyn_pseudo_t own = *carry;
    up.p[2] = dyn_pseudo_rise(model, i);
    dyn_pseudo_add(&own, &literal, &up);
    *carry = (dyn_pseudo_t){0};

    const bool prismatic = j->type == DYN_PRISMATIC;
    const dyn_pseudo_t part = prismatic ? take(&own, 0, 2) : take(&own, 2, 3);
    if (i == 0)
        return own;
    /* Moves the part that was taken out into the parent's frame, where it is the same at every
     * position of the joint. */
    dyn_model_joint_t at = *j;
    at.d = 0;
    dyn_pose_t pose = dyn_pose_joint(&at, 0);
    pose.p[2] += dyn_pseudo_rise(model, i - 1);
    dyn_pseudo_add(carry, &part, &pose);
    return own;
}
