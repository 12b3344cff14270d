/*
 * Types and prototypes of one number backend. A template without an include guard: dyn/f32.h,
 * dyn/f64.h, dyn/q31.h and tools/backend/ define DYN_REAL and the type of a number and include it,
 * so that one program can hold all backends beside each other. A kernel is declared here, once.
 *
 * Before: DYN_REAL (f32, ...), a type dyn_real_<DYN_REAL>_t, and, where a vector keeps more than
 * its components (range: its norm), DYN_VEC_MORE, a tensor DYN_SYM_MORE.
 */
#include "dyn/model.h"
#include "dyn/name.h"

#ifndef DYN_VEC_MORE
#define DYN_VEC_MORE
#endif
#ifndef DYN_SYM_MORE
#define DYN_SYM_MORE
#endif

typedef struct {
    DYN_T(real) x, y, z;
    DYN_VEC_MORE
} DYN_T(vec);

/* A symmetric 3x3 tensor: matrix elements, sign included. */
typedef struct {
    DYN_T(real) xx, yy, zz, xy, yz, xz;
    DYN_SYM_MORE
} DYN_T(sym);

/* A plane rotation. In q31 these two alone are Q30, the rest is Q28. */
typedef struct {
    DYN_T(real) c, s;
} DYN_T(turn);

/* A factor with an exponent of its own: in q31 k is a mantissa and the product is cut by `cut`
 * bits. */
typedef struct {
    DYN_T(real) k;
    uint32_t cut;
} DYN_T(gain);

/* A constant pose; the rotation in the format of a turn. */
typedef struct {
    DYN_T(real) r[3][3], p[3];
} DYN_T(pose);

/* Friction and motor of a joint, as dyn/drive.c wants them. */
typedef struct {
    DYN_T(gain) per_width, viscous;
    DYN_T(real) coulomb, uneven;   /* (P - N) / 4, (P + N) / 8 */
    DYN_T(gain) volt_tau, volt_qd; /* R / (N Kt), Kt N */
    DYN_T(gain) tau_volt, tau_qd;  /* N Kt / R, -(N Kt)^2 / R */
    DYN_T(real) volt_max;
} DYN_T(drive);

/*
 * Within which the kernels may be asked: the limits that the units of q31 were proved for. A float
 * knows none. Positions are those of a prismatic joint; an angle may have any value.
 */
typedef struct {
    DYN_T(real) qd, qdd; /* of either sign */
    DYN_T(real) low, high;
} DYN_T(sure);

/* dyn/ga.c and dyn/ga_mass.c: what Mata et al. compute off-line, in frame i
 * (dyn/prepare_regroup.c). */
typedef struct {
    DYN_T(vec) s;  /* s_i-1,i: from the origin before to ours, on its axes; sliding not included */
    DYN_T(sym) J;  /* Euler's tensor about the centre of mass, (11) */
    DYN_T(real) M; /* mass of this link and of all behind it */
    DYN_T(vec) gamma; /* first moment with M_i+1 at the next origin, as far as that is fixed here */
    DYN_T(sym) E;     /* inertia about our origin, likewise */
} DYN_T(ga_body);

/* dyn/fast.c and its kin: base inertial parameters, about the origins of dyn/spread.h. */
typedef struct {
    DYN_T(real) rise; /* from the origin before to ours: (a, 0, rise) and d of a prismatic joint */
    DYN_T(real) m;    /* prismatic; zero else */
    DYN_T(real) M;    /* the same with all links behind */
    uint8_t heavy;    /* M is not zero */
    DYN_T(vec) l;     /* first moment; its z is zero where revolute */
    DYN_T(sym) J;     /* Euler's tensor; zz is zero where revolute, all of it where prismatic */
} DYN_T(fast_body);

/* Constants of a joint and its link, in the order in which a kernel meets them; may be in flash. */
typedef struct {
    uint8_t prismatic;
    uint8_t mass_shift;  /* q31: mass unit of the parent is 2^mass_shift times ours */
    DYN_T(real) offset;  /* theta of a revolute, d of a prismatic joint at q = 0 */
    DYN_T(real) fixed_d; /* d of a revolute joint */
    DYN_T(turn) fixed_z; /* theta of a prismatic joint */
    DYN_T(turn) x;       /* alpha */
    DYN_T(real) a;
    DYN_T(real) m;     /* mass, the payload included in the last link */
    DYN_T(vec) s;      /* centre of mass: Swartz's s* */
    DYN_T(sym) J;      /* inertia about the centre of mass: Swartz's J* */
    DYN_T(vec) ms;     /* first moment m s, for kernels that sum bodies */
    DYN_T(sym) I;      /* inertia about the origin of the frame, likewise */
    DYN_T(real) rotor; /* rotor inertia seen at the joint, in the mass unit of the link */
    uint8_t geared;    /* there is a rotor, and it is not zero */
    DYN_T(vec) r;      /* Saha's r of the link before: from its centre of mass to our origin, on its
                          axes; without q where we slide */
    DYN_T(drive) drive; /* friction and motor */
    DYN_T(sure) sure;
    DYN_T(ga_body) ga;
    DYN_T(fast_body) fast;
} DYN_T(joint);

/* A prepared arm. Only the first n joints of a copy need memory. */
typedef struct {
    uint32_t n;
    uint32_t mixed;       /* some joint slides */
    int32_t link_status;  /* what prepare answered: no kernel may run; see DYN(ready) */
    int32_t drive_status; /* DYN_E_UNITS: a rotor, drive or tool does not fit and is left out */
    int32_t body_status;  /* DYN_E_UNITS: some ms or I does not fit these units and is left out */
    uint32_t reach_shift; /* q31: dyn/kinematics.c has a length unit 2^reach_shift times ours */
    int32_t ga_status;    /* the same for `ga` */
    int32_t fast_status;  /* the same for `fast` */
    DYN_T(vec) base_acceleration; /* minus gravity: the base accelerates upwards */
    DYN_T(pose) base, tool;       /* base in the world, hand in the last link frame */
    DYN_T(vec) base_reach;        /* origin of the base, in units of reach */
    DYN_T(joint) joint[DYN_MAX_JOINTS];
} DYN_T(arm);

/* What a link leaves between the outward and the inward pass of `ne`. */
typedef struct {
    DYN_T(turn) z;
    DYN_T(real) d;
    DYN_T(vec) F, n;
} DYN_T(ne_link);

typedef struct {
    DYN_T(ne_link) link[DYN_MAX_JOINTS];
} DYN_T(ne_scratch);

/* Constants from the model; units may be NULL (SI) for all but q31. 0 or a negative dyn_status_t.
 */
int DYN(prepare)(const dyn_model_t *model, const dyn_units_t *units, DYN_T(arm) *arm);
/*
 * Whether kernels that need these constants (DYN_NEEDS_... of dyn/status.h, several by |) may run
 * on a prepared arm: DYN_OK or DYN_E_UNITS. What does not fit the units is left out of the arm and
 * forbids its kernels, not the arm; this is the place to ask.
 */
int DYN(ready)(const DYN_T(arm) *arm, uint32_t needs);
/* The part of it that is friction, motors, base and tool; dyn_prepare does this too. */
int DYN(prepare_drive)(const dyn_model_t *model, const dyn_units_t *units, DYN_T(arm) *arm);
/*
 * Only what the payload changes, after model->payload was changed. On an arm whose prepare failed
 * for another reason than its load this fails too, for that reason.
 */
int DYN(prepare_payload)(const dyn_model_t *model, const dyn_units_t *units, DYN_T(arm) *arm);

/* Inverse dynamics, dyn/ne.c: tau of the rigid links with gravity, without rotors and friction. */
void DYN(ne_inverse)(const DYN_T(arm) *arm, DYN_T(ne_scratch) *scratch, const DYN_T(real) q[],
                     const DYN_T(real) qd[], const DYN_T(real) qdd[], DYN_T(real) tau[]);
/* The same with zero acceleration. */
void DYN(ne_bias)(const DYN_T(arm) *arm, DYN_T(ne_scratch) *scratch, const DYN_T(real) q[],
                  const DYN_T(real) qd[], DYN_T(real) tau[]);

/* The constants of `ga` and `fast`, dyn/prepare_regroup.c; part of prepare and prepare_payload. */
void DYN(prepare_regroup)(const dyn_model_t *model, const dyn_units_t *units, DYN_T(arm) *arm);

/* What a link leaves between the outward and the inward pass of dyn/ga.c. */
typedef struct {
    DYN_T(turn) z;
    DYN_T(real) d;
    DYN_T(vec) f, chi;
} DYN_T(ga_link);

/* And what dyn/ga_mass.c keeps of it: the last two for every joint before the one at hand. */
typedef struct {
    DYN_T(turn) z;
    DYN_T(real) d;
    DYN_T(vec) F, N;
    DYN_T(vec) w, s;
} DYN_T(ga_mass_link);

typedef union {
    DYN_T(ga_link) link[DYN_MAX_JOINTS];
    DYN_T(ga_mass_link) mass[DYN_MAX_JOINTS];
} DYN_T(ga_scratch);

/* Inverse dynamics, bias (accelerations zero), inertia matrix and forward dynamics of paper 000. */
void DYN(ga_inverse)(const DYN_T(arm) *arm, DYN_T(ga_scratch) *scratch, const DYN_T(real) q[],
                     const DYN_T(real) qd[], const DYN_T(real) qdd[], DYN_T(real) tau[]);
void DYN(ga_bias)(const DYN_T(arm) *arm, DYN_T(ga_scratch) *scratch, const DYN_T(real) q[],
                  const DYN_T(real) qd[], DYN_T(real) tau[]);
void DYN(ga_mass)(const DYN_T(arm) *arm, DYN_T(ga_scratch) *scratch, const DYN_T(real) q[],
                  DYN_T(real) M[]);

typedef struct {
    DYN_T(ga_link) link[DYN_MAX_JOINTS];
    DYN_T(real) D[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
} DYN_T(ga_forward_scratch);
int DYN(ga_forward)(const DYN_T(arm) *arm, DYN_T(ga_forward_scratch) *scratch,
                    const DYN_T(real) q[], const DYN_T(real) qd[], const DYN_T(real) tau[],
                    DYN_T(real) qdd[]);

/* What a link leaves behind in dyn/fast.c, dyn/fast_mass.c and dyn/fast_forward.c. */
typedef struct {
    DYN_T(turn) z;
    DYN_T(real) d; /* prismatic */
    DYN_T(vec) f, n;
} DYN_T(fast_link);

typedef struct {
    DYN_T(fast_link) link[DYN_MAX_JOINTS];
} DYN_T(fast_scratch);

void DYN(fast_inverse)(const DYN_T(arm) *arm, DYN_T(fast_scratch) *scratch, const DYN_T(real) q[],
                       const DYN_T(real) qd[], const DYN_T(real) qdd[], DYN_T(real) tau[]);
void DYN(fast_bias)(const DYN_T(arm) *arm, DYN_T(fast_scratch) *scratch, const DYN_T(real) q[],
                    const DYN_T(real) qd[], DYN_T(real) tau[]);
void DYN(fast_gravity)(const DYN_T(arm) *arm, DYN_T(fast_scratch) *scratch, const DYN_T(real) q[],
                       DYN_T(real) tau[]);

/* With what fast_inverse, fast_bias or fast_gravity has left of the same q in its scratch. */
void DYN(fast_mass_placed)(const DYN_T(arm) *arm, const DYN_T(fast_link) *link, DYN_T(real) M[]);
void DYN(fast_mass)(const DYN_T(arm) *arm, DYN_T(fast_scratch) *scratch, const DYN_T(real) q[],
                    DYN_T(real) M[]);

typedef struct {
    DYN_T(fast_scratch) fast;
    DYN_T(real) M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
} DYN_T(fast_forward_scratch);
int DYN(fast_forward)(const DYN_T(arm) *arm, DYN_T(fast_forward_scratch) *scratch,
                      const DYN_T(real) q[], const DYN_T(real) qd[], const DYN_T(real) tau[],
                      DYN_T(real) qdd[]);

/* dyn/drive.c: what comes on top of the rigid links. M is the packed lower triangle. */
void DYN(rotor_inverse)(const DYN_T(arm) *arm, const DYN_T(real) qdd[], DYN_T(real) tau[]);
void DYN(rotor_mass)(const DYN_T(arm) *arm, DYN_T(real) M[]);
void DYN(friction)(const DYN_T(arm) *arm, const DYN_T(real) qd[], DYN_T(real) tau[]);
/* Bit i of the answer: the voltage of joint i is saturated. */
uint32_t DYN(voltage)(const DYN_T(arm) *arm, const DYN_T(real) qd[], const DYN_T(real) tau[],
                      DYN_T(real) volt[]);
uint32_t DYN(motor_torque)(const DYN_T(arm) *arm, const DYN_T(real) qd[], const DYN_T(real) volt[],
                           DYN_T(real) tau[]);

/* dyn/kinematics.c: 3 x 4 pose of the hand in the world; 6 x n Jacobian at its origin. Row-major.
 */
void DYN(pose)(const DYN_T(arm) *arm, const DYN_T(real) q[], DYN_T(real) out[12]);
void DYN(jacobian)(const DYN_T(arm) *arm, const DYN_T(real) q[], DYN_T(real) J[]);

/* dyn/wrench.c: tau -= J^T W; W = f, n that the surroundings exert on the hand, on its axes. */
void DYN(wrench_torque)(const DYN_T(arm) *arm, const DYN_T(real) q[], const DYN_T(real) wrench[6],
                        DYN_T(real) tau[]);

/*
 * dyn/solve.c: symmetric positive definite matrices as the packed lower triangle, in place. DYN_OK
 * or DYN_E_PIVOT. In q31 factor and solve want an equilibrated matrix, diagonal in [1, 4).
 */
int DYN(cholesky_factor)(uint32_t n, DYN_T(real) A[]);
void DYN(cholesky_solve)(uint32_t n, const DYN_T(real) L[], DYN_T(real) x[]);
int DYN(udu_factor)(uint32_t n, DYN_T(real) A[]);
void DYN(udu_solve)(uint32_t n, const DYN_T(real) U[], DYN_T(real) x[]);
/* M x' = x for the inertia matrix of the arm in its own units, equilibrated where that is needed.
 */
int DYN(cholesky_mass)(const DYN_T(arm) *arm, DYN_T(real) M[], DYN_T(real) x[]);
int DYN(udu_mass)(const DYN_T(arm) *arm, DYN_T(real) M[], DYN_T(real) x[]);

/*
 * Inertia matrix of the rigid links, M[i (i + 1) / 2 + j] with j <= i, without rotors: dyn/wo1.c by
 * inverse dynamics, dyn/crba.c by composite bodies. In q31 an element is in the mass unit of link
 * j.
 */
typedef DYN_T(ne_scratch) DYN_T(wo1_scratch);
void DYN(wo1_mass)(const DYN_T(arm) *arm, DYN_T(wo1_scratch) *scratch, const DYN_T(real) q[],
                   DYN_T(real) M[]);

typedef struct {
    DYN_T(turn) z;
    DYN_T(real) d;
} DYN_T(crba_link);

typedef struct {
    DYN_T(crba_link) link[DYN_MAX_JOINTS];
} DYN_T(crba_scratch);
void DYN(crba_mass)(const DYN_T(arm) *arm, DYN_T(crba_scratch) *scratch, const DYN_T(real) q[],
                    DYN_T(real) M[]);

/* Forward dynamics with rotors, dyn/crba_forward.c: DYN_OK or DYN_E_PIVOT. */
typedef struct {
    DYN_T(ne_link) link[DYN_MAX_JOINTS];
    DYN_T(real) M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
} DYN_T(crba_forward_scratch);
int DYN(crba_forward)(const DYN_T(arm) *arm, DYN_T(crba_forward_scratch) *scratch,
                      const DYN_T(real) q[], const DYN_T(real) qd[], const DYN_T(real) tau[],
                      DYN_T(real) qdd[]);

/* Forward dynamics with rotors by articulated bodies, dyn/aba.c: DYN_OK or DYN_E_PIVOT. */
typedef struct {
    DYN_T(ne_link) ne;
    DYN_T(vec) n, f;      /* U: articulated inertia times the joint axis */
    DYN_T(real) recip, u; /* 1 / D; what is left of the torque */
    int32_t up;           /* q31: U and u are multiplied by 2^up, D by 4^up */
} DYN_T(aba_link);

typedef struct {
    DYN_T(aba_link) link[DYN_MAX_JOINTS];
} DYN_T(aba_scratch);
int DYN(aba_forward)(const DYN_T(arm) *arm, DYN_T(aba_scratch) *scratch, const DYN_T(real) q[],
                     const DYN_T(real) qd[], const DYN_T(real) tau[], DYN_T(real) qdd[]);

/* denoc (paper 002): dyn/denoc.c, denoc_mass.c, denoc_coriolis.c, denoc_forward.c. */
typedef struct {
    DYN_T(turn) z;
    DYN_T(vec) n, f; /* of gamma what is the link's own, about its centre of mass */
} DYN_T(denoc_link);

typedef struct {
    DYN_T(denoc_link) link[DYN_MAX_JOINTS];
} DYN_T(denoc_scratch);

/* tau of the rigid links with gravity; the same with zero acceleration; the same at rest. */
void DYN(denoc_inverse)(const DYN_T(arm) *arm, DYN_T(denoc_scratch) *scratch, const DYN_T(real) q[],
                        const DYN_T(real) qd[], const DYN_T(real) qdd[], DYN_T(real) tau[]);
void DYN(denoc_bias)(const DYN_T(arm) *arm, DYN_T(denoc_scratch) *scratch, const DYN_T(real) q[],
                     const DYN_T(real) qd[], DYN_T(real) tau[]);
void DYN(denoc_gravity)(const DYN_T(arm) *arm, DYN_T(denoc_scratch) *scratch, const DYN_T(real) q[],
                        DYN_T(real) tau[]);

typedef struct {
    DYN_T(turn) z;
    DYN_T(vec) c; /* from the mass centre of the link before to ours, on its axes: -c_i,i-1 */
} DYN_T(denoc_mass_link);

typedef struct {
    DYN_T(denoc_mass_link) link[DYN_MAX_JOINTS];
} DYN_T(denoc_mass_scratch);

/* Links only, no rotors; the packed lower triangle. */
void DYN(denoc_mass)(const DYN_T(arm) *arm, DYN_T(denoc_mass_scratch) *scratch,
                     const DYN_T(real) q[], DYN_T(real) M[]);

typedef struct {
    DYN_T(turn) z;
    DYN_T(vec) c, cd; /* as for the mass, and its rate */
    DYN_T(vec) w, v;  /* angular velocity, velocity of the centre of mass */
    DYN_T(vec) y;     /* what a force in the link does to its column */
} DYN_T(denoc_coriolis_link);

typedef struct {
    DYN_T(denoc_coriolis_link) link[DYN_MAX_JOINTS];
} DYN_T(denoc_coriolis_scratch);

/* C, n x n, row-major: C qd are the Coriolis and centrifugal torques, dM/dt - 2C is skew. */
void DYN(denoc_coriolis)(const DYN_T(arm) *arm, DYN_T(denoc_coriolis_scratch) *scratch,
                         const DYN_T(real) q[], const DYN_T(real) qd[], DYN_T(real) C[]);

typedef struct {
    DYN_T(vec) n, f;  /* psi / 2^up */
    DYN_T(real) rate; /* tau~ / 2^up */
    int32_t up;
} DYN_T(denoc_psi);

typedef struct {
    DYN_T(denoc_scratch) bias;
    DYN_T(denoc_psi) link[DYN_MAX_JOINTS];
} DYN_T(denoc_forward_scratch);

/* Joint accelerations, rotors included. DYN_OK or DYN_E_PIVOT. */
int DYN(denoc_forward)(const DYN_T(arm) *arm, DYN_T(denoc_forward_scratch) *scratch,
                       const DYN_T(real) q[], const DYN_T(real) qd[], const DYN_T(real) tau[],
                       DYN_T(real) qdd[]);

#include "dyn/flex_instance.h"

#undef DYN_VEC_MORE
#undef DYN_SYM_MORE
