/* Exact conversion of an arm given in distal DH, proximal DH or general frames into the one model
 * of dyn/model/model.h. The joint variables keep their meaning, sign and zero; only constants
 * change. */
#ifndef DYN_MODEL_CONVERT_H
#define DYN_MODEL_CONVERT_H

#include "dyn/model/model.h"

typedef enum {
    DYN_CONVENTION_DH, /* distal: T = Rz(theta) Tz(d) Tx(a) Rx(alpha), link frame after the joint */
    DYN_CONVENTION_MDH,   /* proximal: T = Rx(alpha) Tx(a) Rz(theta) Tz(d) */
    DYN_CONVENTION_FRAMES /* T = Trans(xyz) Rz(y) Ry(p) Rx(r), then motion about or along the
                           * axis */
} dyn_convention_t;

typedef struct {
    dyn_joint_type_t type;
    double theta, d, a, alpha;      /* DH and MDH */
    double xyz[3], rpy[3], axis[3]; /* FRAMES; the axis need not be of unit length */
    dyn_body_t link;                /* in the link frame of the convention */
    double inertia_rpy[3];          /* axes of link.inertia relative to the link frame */
    dyn_drive_t drive;
} dyn_source_joint_t;

typedef struct {
    dyn_convention_t convention;
    uint32_t n;
    double gravity[3];               /* in the base frame of the file */
    double base_xyz[3], base_rpy[3]; /* pose of that base in the world */
    double tool_xyz[3], tool_rpy[3]; /* tool frame in the last link frame of the file */
    dyn_body_t payload;              /* in the last link frame of the file */
    dyn_source_joint_t joint[DYN_MAX_JOINTS];
} dyn_source_t;

typedef struct {
    uint32_t joint;      /* index of the joint where an error was found */
    uint32_t bent_joint; /* the joint whose axis was turned most to make it parallel to the previous
                          * axis */
    double bent_angle;   /* angle of that turn, rad; 0 if no axis was turned */
    dyn_pose_t last_link; /* last link frame of the file in our last link frame */
} dyn_report_t;

/* Two axes that are parallel within this angle (rad) are made exactly parallel. Otherwise their
 * common normal would lie about (distance / angle) away, which costs digits and, in fixed point,
 * range. A file that writes 1.5708 for a quarter turn needs 1e-5; 1e-9 changes no torque in the
 * tenth digit. */
#define DYN_PARALLEL_DEFAULT 1e-9

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0 or a negative dyn_status_t. report may be NULL. */
int dyn_convert(const dyn_source_t *source, double parallel_rad, dyn_model_t *model,
                dyn_report_t *report);

#ifdef __cplusplus
}
#endif

#endif
