/*
 * Arms with elastic links as compiled-in data, for tests and bench on host and target. Beams are
 * uniform and clamped-free, so all integrals over their modes have closed forms. These are written
 * here and do not depend on the quadrature of tools/robot/modes.c.
 */
#ifndef TEST_SUPPORT_DYN_FLEX_ARMS_H
#define TEST_SUPPORT_DYN_FLEX_ARMS_H

#include "dyn/model/flex_model.h"

typedef struct {
    double length, mu; /* m, kg/m */
    double EI_y, EI_z, GJ, polar;
    double damping;
    uint32_t xy, xz,
        torsion; /* numbers of modes; all 0: a rigid link, which ignores the other members */
} flex_beam_t;

typedef struct {
    const char *name;
    dyn_model_t model;
    dyn_flex_model_t flex;
    flex_beam_t beam[DYN_FLEX_MAX_JOINTS];
} flex_arm_t;

typedef enum {
    FLEX_ARM_PLANAR,    /* paper 004, Table 3: two links, one mode each */
    FLEX_ARM_SPACE,     /* three joints on crossed axes: a rigid link, one bent in both planes and
                      * twisted, one bent in both planes with a payload */
    FLEX_ARM_PRISMATIC, /* four joints, the third prismatic; two beams, then two rigid links;
                         * offsets along the axes */
    FLEX_ARMS
} flex_arm_name_t;

void flex_arm(flex_arm_name_t name, flex_arm_t *out);
/* Makes a chain of revolute joints on crossed axes; each of the last `elastic` links has these
 * modes. */
void flex_chain(uint32_t n, uint32_t elastic, uint32_t xy, uint32_t xz, flex_arm_t *out);
/* Computes the rigid link and the integrals again after a beam was changed. */
void flex_arm_beam(flex_arm_t *arm, uint32_t i);

/* Returns phi or a derivative of the clamped-free shape k at x, by the formula of the textbook. */
double flex_bending(uint32_t k, double length, double x, int order);
double flex_torsion(uint32_t k, double length, double x, int order);

#endif
