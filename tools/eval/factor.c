/*
 * Implements tools/eval/factor.h. The kernel itself is compiled here once more, under another name
 * and with DENOC_WATCH, so that its articulated masses can be read: nothing of it is written again.
 */
#include "tools/eval/factor.h"

#include <string.h>

#include "dyn/number/real_f64.h"

/* M^ of each joint, as the kernel has it: moment I wd + H a, force H^T wd + M a. */
static struct {
    sym I, M;
    vec H[3]; /* rows */
} watched[DYN_MAX_JOINTS];

#define dyn_denoc_forward_f64 factor_forward
#define DENOC_WATCHED         true
#define DENOC_WATCH(joint, mass)                                                                   \
    do {                                                                                           \
        const articulated mass_ = mass;                                                            \
        watched[joint].I = mass_.I;                                                                \
        watched[joint].M = mass_.M;                                                                \
        watched[joint].H[0] = mass_.H.x;                                                           \
        watched[joint].H[1] = mass_.H.y;                                                           \
        watched[joint].H[2] = mass_.H.z;                                                           \
    } while (0)
int factor_forward(const arm *a, dyn_denoc_forward_scratch_f64_t *scratch, const real q[],
                   const real qd[], const real tau[], real qdd[]);
#include "dyn/paper/denoc_forward.c"

static void put_block(double (*to)[6], int row, int column, const sym *s) {
    const double m[3][3] = {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    for (int r = 0; r < 3; r++)
        memcpy(&to[row + r][column], m[r], sizeof m[r]);
}

static void take_mass(uint32_t i, double (*to)[6]) {
    put_block(to, 0, 0, &watched[i].I);
    put_block(to, 3, 3, &watched[i].M);
    for (int r = 0; r < 3; r++) {
        const double h[3] = {watched[i].H[r].x, watched[i].H[r].y, watched[i].H[r].z};
        for (int c = 0; c < 3; c++)
            to[r][3 + c] = to[3 + c][r] = h[c];
    }
}

/* Returns psi_i = M^_i p_i / m^_i of (48); p_i picks the column of the joint's axis. */
static wrench psi_of(const factor_t *f, const joint *j, uint32_t i) {
    const int axis = j->prismatic ? 5 : 2;
    double psi[6];
    for (int r = 0; r < 6; r++)
        psi[r] = f->articulated[i][r][axis] / f->D[i];
    return (wrench){vec_make(psi[0], psi[1], psi[2]), vec_make(psi[3], psi[4], psi[5])};
}

/* Fills in column k of U: alpha_ik = p_i^T B_ki^T psi_k of (46), with the kernel's own B^T. */
static void take_column(const arm *a, const dyn_denoc_forward_scratch_f64_t *scratch,
                        const double *q, uint32_t k, factor_t *out) {
    const joint *j = a->joint;
    wrench g = psi_of(out, &j[k], k);
    out->U[k][k] = 1;
    for (uint32_t i = k; i > 0; i--) {
        g = wrench_to_before(&j[i], frame_kept(&j[i], &scratch->bias.link[i], q[i]), g);
        out->U[i - 1][k] = j[i - 1].prismatic ? g.f.z : g.n.z;
    }
}

int factor_compute(const dyn_arm_f64_t *a, const double *q, factor_t *out) {
    static const double rest[DYN_MAX_JOINTS];
    static dyn_denoc_forward_scratch_f64_t scratch;
    double qdd[DYN_MAX_JOINTS];
    const int status = factor_forward(a, &scratch, q, rest, rest, qdd);
    if (status != DYN_OK)
        return status;
    memset(out, 0, sizeof *out);
    out->n = a->n;
    for (uint32_t k = 0; k < a->n; k++) {
        take_mass(k, out->articulated[k]);
        const int axis = a->joint[k].prismatic ? 5 : 2;
        out->D[k] = add_rotor(&a->joint[k], out->articulated[k][axis][axis]);
        take_column(a, &scratch, q, k, out);
    }
    return DYN_OK;
}
