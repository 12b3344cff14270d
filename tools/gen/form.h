/*
 * The dynamics of one robot as expression graphs: the regrouped constants of the arm (gen_arm_t)
 * and the formulations that are cheapest when every constant is a number.
 *
 * Parallel axes form a group. The frame of a group is the frame of the link before the group,
 * turned by alpha. Inside a group everything turns about one direction, so link j is turned
 * relative to this frame by the SUM of the joint angles. A vector goes between the two frames in
 * one turn, and angular velocities differ only in z. Mass is regrouped as in
 * dyn/model/pseudo_inertia.h: a revolute link has a first moment without z, Euler's tensor without
 * zz, and no mass.
 */
#ifndef TOOLS_GEN_FORM_H
#define TOOLS_GEN_FORM_H

#include "dyn/model/model.h"
#include "dyn/model/pseudo_inertia.h"
#include "tools/gen/graph.h"

/* Input arrays of the kernels. */
typedef enum {
    GEN_Q,
    GEN_QD,
    GEN_QDD,
    GEN_TAU,
    GEN_GRAVITY, /* 3 numbers, if gravity is kept as a run-time argument */
    /* 10 numbers: m, first moment, Euler's tensor xx yy zz xy yz xz about the last link's origin */
    GEN_PAYLOAD,
    GEN_WRENCH, /* 6 numbers: force f and moment n of the surroundings on the end effector */
    GEN_ARRAYS
} gen_array_t;

extern const char *const gen_array_name[GEN_ARRAYS];

typedef enum {
    GEN_KEEP_GRAVITY = 1 << 0,
    GEN_KEEP_PAYLOAD = 1 << 1,
    GEN_KEEP_WRENCH = 1 << 2,
    /* friction with sign(), where dyn/kernel/drive.c has a smooth function */
    GEN_FRICTION = 1 << 3,
    GEN_NO_BASE = 1 << 4, /* the masses of the links are not regrouped */
    GEN_NO_ROTOR = 1 << 5
} gen_keep_t;

typedef struct {
    bool prismatic;
    bool starts;      /* first of a group: its axis has another direction than the axis before */
    double ca, sa, a; /* turn about x and shift along x before the joint */
    double rise;      /* shift along the z axis of the link before */
    double theta, d;  /* values at q = 0; only a prismatic joint has d */
    double m, l[3];
    double J[6]; /* Euler's tensor xx yy zz xy yz xz */
    double rotor, viscous;
    double coulomb[2]; /* friction torque at negative and at positive speed */
} gen_joint_t;

typedef struct {
    uint32_t n;
    uint32_t keep;
    double gravity[3];
    /* pose of the end effector in the frame that the formulations use for the last link */
    dyn_pose_t tool;
    bool round;      /* the last link is a body of revolution about its axis */
    bool held;       /* the graphs hold their vectors (graph_hold): tighter bounds, dearer code */
    uint32_t joined; /* bits of the joints whose rotor is included in the links */
    /* angle in rad by which the last link's frame is turned about its axis to make l[1] zero */
    double turned;
    gen_joint_t joint[DYN_MAX_JOINTS];
} gen_arm_t;

/*
 * Returns the model without the noise of its numbers: small deviations from a quarter turn, lengths
 * that are small relative to the reach, components of a centre of mass or of gravity that are small
 * relative to the whole vector, and products of inertia that are small relative to the link's
 * largest moment of inertia.
 */
dyn_model_t gen_quiet(const dyn_model_t *model, double noise);
double gen_quiet_angle(double angle, double noise);
void gen_arm(const dyn_model_t *model, uint32_t keep, gen_arm_t *arm);

/* Bits that choose between formulations; which one is cheaper depends on the arm. */
typedef enum {
    FORM_BODIES = 1 << 0, /* all bodies of a group except the last use the axes of the group */
    FORM_LAST = 1 << 1,   /* the last body of a group uses the axes of the group too */
    FORM_SHIFT = 1 << 2,  /* accelerations of origins use the axes of the group */
    /* Omega is computed without first computing the angular acceleration of the link */
    FORM_DIRECT = 1 << 3,
    FORM_TURNED = 1 << 4, /* loads on a group's last link are summed before they are turned */
    FORM_CHOICES = 5
} form_choice_t;

typedef enum {
    FORM_ID,
    FORM_MASS, /* packed lower triangle */
    FORM_BIAS,
    FORM_GRAVITY,
    FORM_FD,
    FORM_KINDS
} form_kind_t;

/* Names of mechanical quantities. A quantity is identified by its values at the two probes: however
 * the graph is rewritten, a node with these values up to sign is that quantity up to sign. */
enum { GEN_PROBES = 2, GEN_NAMES_MAX = 8192, GEN_NAME = 12 };

typedef struct {
    char name[GEN_NAME];
    double value[GEN_PROBES];
} gen_name_t;

typedef struct {
    int count;
    gen_name_t name[GEN_NAMES_MAX];
} gen_names_t;

/* A graph_lookup_t that returns the inputs of the probe with the number *(int *)context. */
double gen_probe(void *context, int32_t array, int32_t index);

/* Makes a graph that computes the results of this kind. choice[i] has the bits of form_choice_t for
 * the group that starts with joint i. Records named quantities in `names`, unless it is NULL. */
graph_t *form_trace(const gen_arm_t *arm, form_kind_t kind, const uint8_t choice[DYN_MAX_JOINTS],
                    gen_names_t *names);
/* Searches the choices of one group after the other; makes the cheapest graph that it finds. */
graph_t *form_best(const gen_arm_t *arm, form_kind_t kind, const graph_cost_t *cost,
                   gen_names_t *names);

#endif
