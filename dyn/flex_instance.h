/*
 * Types and prototypes of the elastic kernels in one number backend; a part of dyn/instance.h, and
 * a template like it. The kernels take the prepared arm (frames, rotors, base, tool) and beside it
 * the prepared elastic side. Theta, its rates and generalised forces are arrays in the order of
 * dyn/flex_model.h.
 */
#include "dyn/flex_model.h"

/* A link: what is constant of it, in the order in which a kernel meets it. */
typedef struct {
    uint8_t modes;    /* 0: rigid */
    uint8_t y, z;     /* of these, bending along y and along z; the rest is torsion */
    uint8_t at;       /* where q of its joint stands in Theta */
    DYN_T(real) a;    /* from the link before along its x; 0 where that is a beam and carries it */
    DYN_T(real) M;    /* mass */
    DYN_T(vec) b;     /* first moment of the straight link about its origin */
    DYN_T(sym) E;     /* Euler's tensor of the straight link about its origin */
    DYN_T(real) l;    /* length of the beam */
    DYN_T(turn) next; /* alpha of the next joint, behind this link; of the last: none */
    DYN_T(real) next_angle;
    DYN_T(gain) damping; /* s */
    DYN_T(real) tip[DYN_FLEX_LINK_MODES], slope[DYN_FLEX_LINK_MODES];
    DYN_T(real) weight[DYN_FLEX_LINK_MODES], moment[DYN_FLEX_LINK_MODES];
    DYN_T(real) mass[DYN_FLEX_LINK_MODES][DYN_FLEX_LINK_MODES];
    DYN_T(gain) stiffness[DYN_FLEX_LINK_MODES][DYN_FLEX_LINK_MODES];
    DYN_T(gain) compliance[DYN_FLEX_LINK_MODES][DYN_FLEX_LINK_MODES]; /* its inverse */
} DYN_T(flex_body);

/* The elastic side of a prepared arm. Only the first n links of a copy need memory. */
typedef struct {
    uint32_t n, size; /* joints; coordinates */
    uint32_t linear;  /* the paper's E of (6) */
    uint32_t loaded;  /* the last link is a beam and something hangs on its end */
    /* What hangs there, about the end of the beam and on its axes. */
    DYN_T(real) end_M;
    DYN_T(vec) end_b;
    DYN_T(sym) end_E;
    DYN_T(pose) tool; /* hand in the frame at the end of the last link */
    DYN_T(flex_body) link[DYN_FLEX_MAX_JOINTS];
} DYN_T(flex);

/* What a link leaves for the way back, and for another kernel at the same Theta. */
typedef struct {
    DYN_T(turn) z;              /* of the joint */
    DYN_T(real) d;              /* along its axis */
    DYN_T(turn) bend_z, bend_y; /* E of (6): of the end about z, then about y, ... */
    DYN_T(turn) next;           /* ... then about x, together with alpha of the next joint */
    DYN_T(vec) theta;           /* of the linear form */
    DYN_T(vec) tip;             /* from the origin to the end of the beam */
    DYN_T(vec) b;               /* first moment, B3 of (25) */
    DYN_T(sym) E;               /* Euler's tensor; B9 of (31) is its trace times 1 less it */
    /* First moment weighted with a shape, along y and z; along x it is `moment`. Of (32), (33). */
    DYN_T(real) uy[DYN_FLEX_LINK_MODES], uz[DYN_FLEX_LINK_MODES];
    DYN_T(vec) f, n; /* force and moment about the origin that are the link's own: S and T */
} DYN_T(flex_link);

typedef struct {
    DYN_T(flex_link) link[DYN_FLEX_MAX_JOINTS];
} DYN_T(flex_scratch);

/* Constants from both models; units may be NULL (SI) for all but q31. 0 or a negative dyn_status_t.
 * The arm must have been prepared from the same model and units. */
int DYN(prepare_flex)(const dyn_model_t *model, const dyn_flex_model_t *flex,
                      const dyn_units_t *units, DYN_T(flex) *out);

/*
 * dyn/flex.c: generalised forces for given accelerations, I Theta'' - Re with zero torques and
 * without the stiffness; gravity is in them. `bias`: with zero accelerations; with the stiffness
 * that is minus Re of the paper for zero torques. `gravity`: at rest.
 */
void DYN(flex_inverse)(const DYN_T(arm) *arm, const DYN_T(flex) *flex, DYN_T(flex_scratch) *scratch,
                       const DYN_T(real) theta[], const DYN_T(real) thetad[],
                       const DYN_T(real) thetadd[], DYN_T(real) force[]);
void DYN(flex_bias)(const DYN_T(arm) *arm, const DYN_T(flex) *flex, DYN_T(flex_scratch) *scratch,
                    const DYN_T(real) theta[], const DYN_T(real) thetad[], DYN_T(real) force[]);
/* dyn/flex_load.c: force += K (delta + damping delta'); thetad may be NULL: at rest. */
void DYN(flex_strain)(const DYN_T(flex) *flex, const DYN_T(real) theta[],
                      const DYN_T(real) thetad[], DYN_T(real) force[]);
/* force -= J^T W, W = f, n that the surroundings exert on the hand, on its axes. */
void DYN(flex_wrench)(const DYN_T(arm) *arm, const DYN_T(flex) *flex, DYN_T(flex_scratch) *scratch,
                      const DYN_T(real) theta[], const DYN_T(real) wrench[6], DYN_T(real) force[]);

/* dyn/flex_mass.c: I(Theta) of (94), packed lower triangle, without rotors. */
void DYN(flex_mass)(const DYN_T(arm) *arm, const DYN_T(flex) *flex, DYN_T(flex_scratch) *scratch,
                    const DYN_T(real) theta[], DYN_T(real) I[]);
/* The same with what flex_inverse or flex_bias has left of the same Theta in its scratch. */
void DYN(flex_mass_placed)(const DYN_T(arm) *arm, const DYN_T(flex) *flex,
                           const DYN_T(flex_scratch) *scratch, DYN_T(real) I[]);

/* dyn/flex_forward.c. Rotors included, friction not. */
typedef struct {
    DYN_T(flex_scratch) link;
    DYN_T(real) I[DYN_FLEX_MAX * (DYN_FLEX_MAX + 1) / 2];
    DYN_T(real) part[DYN_FLEX_MAX * (DYN_FLEX_MAX + 1) / 2]; /* the block of the modes */
    DYN_T(real) x[DYN_FLEX_MAX];
} DYN_T(flex_forward_scratch);

typedef struct {
    DYN_T(flex_scratch) link;
    DYN_T(real) x[3][DYN_FLEX_MAX];
} DYN_T(flex_static_scratch);

/* force[]: generalised, the torques where joints stand, and what else acts. DYN_OK or DYN_E_PIVOT.
 */
int DYN(flex_forward)(const DYN_T(arm) *arm, const DYN_T(flex) *flex,
                      DYN_T(flex_forward_scratch) *scratch, const DYN_T(real) theta[],
                      const DYN_T(real) thetad[], const DYN_T(real) force[], DYN_T(real) thetadd[]);
/*
 * The inverse problem: joint motion and elastic state in, torques of the joints and accelerations
 * of the modes out, in the order of Theta: out[] is tau where a joint stands and delta'' where a
 * mode does. force[]: generalised forces that act beside the torques, NULL for none. DYN_OK or
 * DYN_E_PIVOT.
 */
int DYN(flex_torque)(const DYN_T(arm) *arm, const DYN_T(flex) *flex,
                     DYN_T(flex_forward_scratch) *scratch, const DYN_T(real) theta[],
                     const DYN_T(real) thetad[], const DYN_T(real) qdd[], const DYN_T(real) force[],
                     DYN_T(real) out[]);
/*
 * Quasi-static: the deflection that the joint motion holds, delta' and delta'' taken as zero, and
 * the torques for it; for a feedforward. theta[] carries q in and the deflection in and out: what
 * stands there is where the iteration begins, so that one round a tick follows a motion. `rounds`
 * is at least 1; the torques belong to the deflection before the last round. Constant time.
 */
void DYN(flex_static)(const DYN_T(arm) *arm, const DYN_T(flex) *flex,
                      DYN_T(flex_static_scratch) *scratch, const DYN_T(real) qd[],
                      const DYN_T(real) qdd[], const DYN_T(real) force[], uint32_t rounds,
                      DYN_T(real) theta[], DYN_T(real) tau[]);

/* dyn/flex_pose.c: 3 x 4 pose of the hand in the world; 6 x size Jacobian at its origin. */
void DYN(flex_pose)(const DYN_T(arm) *arm, const DYN_T(flex) *flex, const DYN_T(real) theta[],
                    DYN_T(real) out[12]);
void DYN(flex_jacobian)(const DYN_T(arm) *arm, const DYN_T(flex) *flex, const DYN_T(real) theta[],
                        DYN_T(real) J[]);
