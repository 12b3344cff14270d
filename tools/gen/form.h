/*
 * The dynamics of one robot as expression graphs: the regrouped constants of the arm (gen_arm_t)
 * and the formulations that are cheapest when every constant is a number.
 *
 * Parallel axes form a group. Inside a group everything turns about one direction, so link j is
 * turned relative to the frame of the group (the link before, turned by its alpha) by the SUM of
 * the joint angles. A vector goes between the two in one turn, and angular velocities differ only
 * in z. Mass is regrouped as in dyn/model/pseudo_inertia.h: a revolute link has a first moment
 * without z, Euler's tensor without zz, and no mass.
 */
#ifndef TOOLS_GEN_FORM_H
#define TOOLS_GEN_FORM_H

#include "dyn/model/model.h"
#include "dyn/model/pseudo_inertia.h"
#include "tools/gen/graph.h"

/* Arrays of inputs. */
typedef enum {
    GEN_Q,
    GEN_QD,
    GEN_QDD,
    GEN_TAU,
    GEN_GRAVITY, /* 3: kept as a run-time argument */
    GEN_PAYLOAD, /* 10: m, first moment, Euler's tensor xx yy zz xy yz xz about the last origin */
    GEN_WRENCH,  /* 6: force f and moment n of the surroundings on the end effector */
    GEN_ARRAYS
} gen_array_t;

extern const char *const gen_array_name[GEN_ARRAYS];

typedef enum {
    GEN_KEEP_GRAVITY = 1 << 0,
    GEN_KEEP_PAYLOAD = 1 << 1,
    GEN_KEEP_WRENCH = 1 << 2,
    GEN_FRICTION = 1 << 3, /* with sign(), which dyn/kernel/drive.c smooths */
    GEN_NO_BASE = 1 << 4,  /* links without regrouping */
    GEN_NO_ROTOR = 1 << 5
} gen_keep_t;

typedef struct {
    bool prismatic;
    bool starts;      /* starts a group: its axis is not parallel to the one before */
    double ca, sa, a; /* turn about x and shift along x before the joint */
    double rise;      /* shift along z of the link before */
    double theta, d;  /* at q = 0; d for a prismatic joint only */
    double m, l[3];
    double J[6]; /* Euler's tensor xx yy zz xy yz xz */
    double rotor, viscous;
    double coulomb[2]; /* at negative (<= 0) and at positive speed */
} gen_joint_t;

typedef struct {
    uint32_t n;
    uint32_t keep;
    double gravity[3];
    dyn_pose_t tool; /* end effector in the last link's frame of the formulations */
    bool round;      /* the last link is a body of revolution about its axis */
    uint32_t joined; /* bits: joints whose rotor is included in the links */
    double turned;   /* rotation of the last link's frame about its axis that makes entries zero */
    gen_joint_t joint[DYN_MAX_JOINTS];
} gen_arm_t;

/* The model with its noise removed: deviations from a quarter turn, lengths small relative to the
 * reach, parts of a first moment or an inertia small relative to the largest of the link. */
dyn_model_t gen_quiet(const dyn_model_t *model, double noise);
void gen_arm(const dyn_model_t *model, uint32_t keep, gen_arm_t *arm);

/* Choices inside the formulations whose cost depends on the arm; bits. */
typedef enum {
    FORM_BODIES = 1 << 0, /* all bodies of a group except the last use the axes of the group */
    FORM_LAST = 1 << 1,   /* the last body of a group uses them too */
    FORM_SHIFT = 1 << 2,  /* accelerations of origins use the axes of the group */
    FORM_DIRECT = 1 << 3, /* Omega is made without the angular acceleration of the link */
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

/*
 * Quantities of the mechanics, identified by their values at the two probes: however the graph is
 * rewritten, a node with these values is that quantity or its negative.
 */
enum { GEN_PROBES = 2, GEN_NAMES_MAX = 2048, GEN_NAME = 12 };

typedef struct {
    char name[GEN_NAME];
    double value[GEN_PROBES];
} gen_name_t;

typedef struct {
    int count;
    gen_name_t name[GEN_NAMES_MAX];
} gen_names_t;

/* A graph_lookup_t that gives the state of probe *(int *)context. */
double gen_probe(void *context, int32_t array, int32_t index);

/* Makes a graph whose results are those of the problem; choice has FORM_CHOICES bits for each
 * group. */
graph_t *form_trace(const gen_arm_t *arm, form_kind_t kind, const uint8_t choice[DYN_MAX_JOINTS],
                    gen_names_t *names);
/* The cheapest graph over its choices. */
graph_t *form_best(const gen_arm_t *arm, form_kind_t kind, const graph_cost_t *cost,
                   gen_names_t *names);
/*
 * Uicker and Kahn's closed form of the inertia matrix with a dictionary of monomials; NULL if there
 * are too many of them.
 */
enum { FORM_UICKER_KAHN_MAX = 8 };
graph_t *form_uicker_kahn(const gen_arm_t *arm);

#endif
