/*
 * The description of an arm: a serial chain of one-degree-of-freedom joints in modified (proximal,
 * Craig's) Denavit-Hartenberg frames, SI units, double precision. dyn/model/convert.h converts
 * every input convention into this one. No kernel reads the model: dyn_prepare_<real> computes the
 * constants of each number backend from it, once, when the model is loaded.
 *
 *     parent to child:  T_i(q) = Rx(alpha) Tx(a) Rz(theta) Tz(d),   theta + q or d + q
 *
 * The base frame lies on the first axis: alpha, a, theta and d of the first joint are always zero,
 * so that its motion is a plain rotation about z or displacement along z. This loses no generality,
 * because base and gravity contain the pose of the file's base frame.
 */
#ifndef DYN_MODEL_MODEL_H
#define DYN_MODEL_MODEL_H

#include "dyn/model/status.h"

#include <stddef.h>
#include <stdint.h>

#ifndef DYN_MAX_JOINTS
#define DYN_MAX_JOINTS 32
#endif

typedef enum { DYN_REVOLUTE = 0, DYN_PRISMATIC = 1 } dyn_joint_type_t;

/* Pose of a frame: x_outer = r x_inner + p. */
typedef struct {
    double r[3][3];
    double p[3];
} dyn_pose_t;

typedef struct {
    double mass;   /* kg */
    double com[3]; /* centre of mass in the frame of the body, m */
    double
        inertia[6]; /* xx yy zz xy yz xz about the centre of mass: matrix elements, sign included */
} dyn_body_t;

typedef struct {
    double position[2];  /* lower and upper limit, rad or m; both zero: not given */
    double velocity;     /* largest magnitude, rad/s or m/s; zero: not given */
    double acceleration; /* largest magnitude, rad/s^2 or m/s^2; zero: not given */
    double torque;       /* largest magnitude, N m or N; zero: not given */
} dyn_limits_t;

typedef struct {
    double resistance;      /* ohm */
    double torque_constant; /* N m / A, before the gear */
    double gear;            /* motor rad per joint rad or m, sign included; zero: no motor */
    double rotor_inertia;   /* kg m^2, before the gear; the joint feels gear^2 times this */
    double voltage;         /* supply voltage, V: the motor's limit */
} dyn_motor_t;

typedef struct {
    double viscous;    /* N m s/rad or N s/m, at the joint */
    double coulomb[2]; /* N m or N: the value at negative speed, <= 0, and at positive, >= 0 */
    double width;      /* speed from which Coulomb friction is complete; 0: DYN_FRICTION_WIDTH */
} dyn_friction_t;

/* Default width of the friction's transition, rad/s or m/s. A narrower width is closer to Coulomb's
 * law but stiffer: with 0.02 rad/s the waist of a PUMA 560 (27 N m on 3.8 kg m^2) comes to rest
 * with a time constant of 2 ms, which a simulation step of 1 ms can still follow. */
#define DYN_FRICTION_WIDTH 0.02

/* The data of a joint that are the same in every convention. */
typedef struct {
    dyn_limits_t limits;
    dyn_motor_t motor;
    dyn_friction_t friction;
} dyn_drive_t;

typedef struct {
    dyn_joint_type_t type;
    double alpha, a; /* link twist and length: Craig's alpha_i-1, a_i-1 */
    double theta, d; /* joint angle and offset at q = 0 */
    dyn_body_t link; /* in the frame of this joint */
    dyn_drive_t drive;
} dyn_model_joint_t;

typedef struct {
    uint32_t n;
    double gravity[3];  /* acceleration of gravity in our base frame, m/s^2; points down */
    dyn_pose_t base;    /* our base frame in the world */
    dyn_pose_t tool;    /* tool frame in our last link frame */
    dyn_body_t payload; /* in our last link frame */
    dyn_model_joint_t joint[DYN_MAX_JOINTS];
} dyn_model_t;

/*
 * Units of the fixed-point backend, as exponents of two: the unit of length is 2^length m, of time
 * 2^time s, of mass 2^mass[i] kg for link i. The mass unit never grows towards the end effector.
 * Floats need no units.
 */
typedef struct {
    int8_t length;
    int8_t time;
    int8_t mass[DYN_MAX_JOINTS];
} dyn_units_t;

#ifdef __cplusplus
extern "C" {
#endif

dyn_pose_t dyn_pose_identity(void);
dyn_pose_t dyn_pose_compose(const dyn_pose_t *outer, const dyn_pose_t *inner);
dyn_pose_t dyn_pose_inverse(const dyn_pose_t *pose);
/* Translation, then Rz(yaw) Ry(pitch) Rx(roll): the URDF order. */
dyn_pose_t dyn_pose_rpy(const double xyz[3], const double rpy[3]);
/* Pose of joint frame i in its parent's frame at position q. */
dyn_pose_t dyn_pose_joint(const dyn_model_joint_t *joint, double q);

/* Computes cosine and sine that are exact at multiples of a quarter turn, so that
 * "1.5707963267948966" gives a zero and not 6e-17: the code generator must see structural zeros. */
void dyn_exact_turn(double angle, double *cosine, double *sine);

/* Returns the body expressed in the outer frame; `pose` is the pose of the body's own frame in the
 * outer frame. */
dyn_body_t dyn_body_move(const dyn_body_t *body, const dyn_pose_t *pose);
/* Joins two bodies rigidly; both are given in the same frame. */
dyn_body_t dyn_body_join(const dyn_body_t *one, const dyn_body_t *two);

/* The last link joined with the payload. */
dyn_body_t dyn_model_last_link(const dyn_model_t *model);
/* Rotor inertia seen at the joint, kg m^2 or kg. */
double dyn_model_rotor(const dyn_model_joint_t *joint);
/* Returns 0, or the first defect of the model as a negative dyn_status_t. */
int dyn_model_check(const dyn_model_t *model);

#ifdef __cplusplus
}
#endif

#endif
