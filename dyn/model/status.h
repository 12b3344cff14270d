/* The return values of the functions of dyn/: 0 or one of the negative numbers of this table.
 * This is the only place for number, name, cause and cure; firmware and tool take their texts
 * from it. */
#ifndef DYN_MODEL_STATUS_H
#define DYN_MODEL_STATUS_H

/* name, number, cause, cure */
#define DYN_STATUS_TABLE(X)                                                                        \
    X(DYN_OK, 0, "nothing is wrong", "")                                                           \
    X(DYN_E_JOINTS, -1, "the arm has no joint, or too many",                                       \
      "change the number of joints; --tip and --freeze shorten a URDF")                            \
    X(DYN_E_TYPE, -2, "a joint type or a convention is unknown",                                   \
      "use revolute or prismatic joints, and convention dh, mdh or frames")                        \
    X(DYN_E_NUMBER, -3, "a number of the arm is missing or not finite",                            \
      "use SI units, and give every joint its limits")                                             \
    X(DYN_E_AXIS, -4, "the axis has length zero",                                                  \
      "give the direction of the axis in the joint frame, such as [0, 0, 1]")                      \
    X(DYN_E_BASE, -5, "the frame constants of the first joint are not zero",                       \
      "use dyn_convert, which moves these constants into the base")                                \
    X(DYN_E_UNITS, -6, "with these units a constant of the arm does not fit the number format",    \
      "choose units that `appell scale` proves, or compute in f32")                                \
    X(DYN_E_PIVOT, -7, "the inertia matrix is not positive definite",                              \
      "`appell check` names the joints that move no mass")

typedef enum {
#define DYN_STATUS_ENUM(name, number, cause, cure) name = number,
    DYN_STATUS_TABLE(DYN_STATUS_ENUM)
#undef DYN_STATUS_ENUM
} dyn_status_t;

#ifdef __cplusplus
extern "C" {
#endif

/* These functions never return NULL. For a number that is not in the table the cause says so. */
const char *dyn_status_name(int status);
const char *dyn_status_cause(int status);
const char *dyn_status_cure(int status);

/* Groups of constants that a kernel needs besides those of the links. The argument of
 * dyn_ready_<real> is such groups joined by |. Each method has its own name: DYN_NEEDS_ne,
 * DYN_NEEDS_fast, ... */
enum {
    DYN_NEEDS_LINKS = 0,
    DYN_NEEDS_BODIES = 1 << 0,    /* links as bodies about the origins of their frames */
    DYN_NEEDS_GA_BODIES = 1 << 1, /* the constants that paper 000 computes off-line */
    DYN_NEEDS_REGROUPED = 1 << 2, /* base inertial parameters */
    DYN_NEEDS_DRIVES = 1 << 3,    /* rotors, friction, motors and the tool */

    DYN_NEEDS_ne = DYN_NEEDS_LINKS,
    DYN_NEEDS_wo1 = DYN_NEEDS_LINKS,
    DYN_NEEDS_only = DYN_NEEDS_LINKS, /* for problems that have only one method */
    DYN_NEEDS_crba = DYN_NEEDS_BODIES,
    DYN_NEEDS_aba = DYN_NEEDS_BODIES,
    DYN_NEEDS_denoc = DYN_NEEDS_BODIES,
    DYN_NEEDS_ga = DYN_NEEDS_GA_BODIES,
    DYN_NEEDS_fast = DYN_NEEDS_REGROUPED
};

#ifdef __cplusplus
}
#endif

#endif
