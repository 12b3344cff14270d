/* Makes an arm from the chain that was chosen in a URDF (tools/robot/urdf_build.h): its joints, the
 * body that each joint carries, and a list of all links before they are lumped together. */
#include <stdlib.h>
#include <string.h>

#include "tools/robot/readers.h"
#include "tools/robot/urdf_build.h"

static bool has_inertia(const dyn_body_t *body) {
    bool some = body->mass != 0;
    for (int i = 0; i < 6; i++)
        some = some || body->inertia[i] != 0;
    return some;
}

/* Sums the bodies that joint i carries, in the frame of its link. If nothing is lumped into the
 * link, its body stays unchanged to the last bit. */
static void lump(const urdf_build_t *b, size_t i, robot_joint_t *out) {
    const urdf_t *u = b->urdf;
    const urdf_link_t *own = &u->link[b->joint[i].child];
    bool lumped = false;
    dyn_body_t sum = reader_turned(&own->body, own->inertia_rpy);
    for (size_t k = 0; k < u->links; k++) {
        if (b->link[k].carrier != i || k == b->joint[i].child || !has_inertia(&u->link[k].body))
            continue;
        dyn_body_t body = reader_turned(&u->link[k].body, u->link[k].inertia_rpy);
        body = dyn_body_move(&body, &b->link[k].pose);
        sum = dyn_body_join(&sum, &body);
        lumped = true;
    }
    out->source.link = lumped ? sum : own->body;
    if (!lumped)
        memcpy(out->source.inertia_rpy, own->inertia_rpy, sizeof own->inertia_rpy);
    if (lumped || own->inertial)
        out->has |= ROBOT_JOINT_INERTIAL;
}

static void take_drive(urdf_build_t *b, const urdf_joint_t *j, robot_joint_t *out) {
    dyn_drive_t *drive = &out->source.drive;
    out->has |= j->type == URDF_CONTINUOUS ? ROBOT_JOINT_ENDLESS : 0u;
    if (j->type == URDF_CONTINUOUS && (j->has_lower || j->has_upper))
        urdf_add(b, MESSAGE_NOTE, MESSAGE_IGNORED, j->line_limit, j->name, NULL,
                 "a continuous joint has no range: lower and upper are not used");
    if (j->type != URDF_CONTINUOUS && (j->has_lower || j->has_upper)) {
        out->has |= IMAGE_JOINT_HAS_POSITION;
        drive->limits.position[0] = j->lower;
        drive->limits.position[1] = j->upper;
    }
    drive->limits.velocity = j->velocity;
    drive->limits.torque = j->effort;
    drive->friction.viscous = j->damping;
    /* 0 - x instead of -x, because -x would be -0 for zero friction */
    drive->friction.coulomb[0] = 0 - j->friction;
    drive->friction.coulomb[1] = j->friction;
    out->has |= j->has_velocity ? IMAGE_JOINT_HAS_VELOCITY : 0u;
    out->has |= j->has_effort ? IMAGE_JOINT_HAS_TORQUE : 0u;
    out->has |= j->has_damping ? IMAGE_JOINT_HAS_VISCOUS : 0u;
    out->has |= j->has_friction ? IMAGE_JOINT_HAS_COULOMB : 0u;
    if (j->reduction == 0)
        return;
    /* A reduction of 1 is not taken as a gear: exporters write 1 if they know no reduction. */
    const bool gear = j->reduction != 1;
    if (gear) {
        drive->motor.gear = j->reduction;
        out->has |= IMAGE_JOINT_HAS_GEAR;
    }
    urdf_add(b, MESSAGE_NOTE, MESSAGE_TRANSMISSION, j->line_reduction, j->name, NULL,
             gear ? "mechanicalReduction %g is taken as the gear of the motor"
                  : "mechanicalReduction %g is not used, because exporters write this value if "
                    "they do not know the gear",
             j->reduction);
}

static void take_joint(urdf_build_t *b, uint32_t k, robot_joint_t *out) {
    const size_t i = b->chain[k];
    const urdf_joint_t *j = &b->urdf->joint[i];
    const urdf_link_t *link = &b->urdf->link[b->joint[i].child];
    const urdf_link_state_t *parent = &b->link[b->joint[i].parent];
    strcpy(out->name, j->name);
    strcpy(out->link_name, link->name);
    out->encoder.sign = out->encoder.ratio = 1;
    out->source.type = j->type == URDF_PRISMATIC ? DYN_PRISMATIC : DYN_REVOLUTE;
    memcpy(out->source.axis, j->axis, sizeof j->axis);
    const bool direct = k == 0 ? b->joint[i].parent == b->root
                               : b->joint[i].parent == b->joint[b->chain[k - 1]].child;
    if (direct) {
        memcpy(out->source.xyz, j->xyz, sizeof j->xyz);
        memcpy(out->source.rpy, j->rpy, sizeof j->rpy);
    } else {
        const dyn_pose_t own = dyn_pose_rpy(j->xyz, j->rpy);
        const dyn_pose_t origin = dyn_pose_compose(&parent->pose, &own);
        memcpy(out->source.xyz, origin.p, sizeof origin.p);
        reader_rpy(&origin, out->source.rpy);
    }
    lump(b, i, out);
    take_drive(b, j, out);
    out->line = (robot_joint_lines_t){.joint = j->line,
                                      .type = j->line,
                                      .frame = j->line_origin ? j->line_origin : j->line,
                                      .axis = j->line_axis ? j->line_axis : j->line,
                                      .link = link->line,
                                      .mass = link->inertial ? link->line_mass : link->line,
                                      .com = link->inertial ? link->line_origin : link->line,
                                      .inertia = link->inertial ? link->line_inertia : link->line,
                                      .limits = j->line_limit,
                                      .position = j->line_limit,
                                      .velocity = j->line_limit,
                                      .torque = j->line_limit,
                                      .friction = j->line_dynamics};
}

bool urdf_take_pieces(const urdf_build_t *b, robot_t *out) {
    const urdf_t *u = b->urdf;
    out->piece = calloc(u->links, sizeof *out->piece);
    for (size_t i = 0; out->piece && i < u->links; i++) {
        const urdf_link_t *link = &u->link[i];
        robot_piece_t *piece = &out->piece[out->pieces++];
        strcpy(piece->name, link->name);
        piece->inertial = link->inertial;
        piece->body = reader_turned(&link->body, link->inertia_rpy);
        memcpy(piece->inertia_rpy, link->inertia_rpy, sizeof piece->inertia_rpy);
        piece->line_mass = link->line_mass;
        piece->line_com = link->line_origin;
        piece->line_inertia = link->line_inertia;
        piece->stands = b->link[i].carrier == URDF_NONE;
        if (b->link[i].joint_above == URDF_NONE)
            continue;
        const urdf_joint_t *j = &u->joint[b->link[i].joint_above];
        strcpy(piece->joint, j->name);
        memcpy(piece->xyz, j->xyz, sizeof piece->xyz);
        memcpy(piece->rpy, j->rpy, sizeof piece->rpy);
        piece->line_joint = j->line_origin ? j->line_origin : j->line;
    }
    return out->piece != NULL;
}

void urdf_take_arm(urdf_build_t *b, robot_t *out) {
    static const double down[3] = {0, 0, -9.81};
    out->convention = DYN_CONVENTION_FRAMES;
    out->rate_hz = 1000;
    out->n = b->n;
    out->line_name = out->line_gravity = out->line_joints = b->urdf->line;
    memcpy(out->gravity, down, sizeof down);
    if (*b->urdf->name)
        strcpy(out->name, b->urdf->name);
    else
        strcpy(out->name, "robot");
    if (b->tip != b->last) {
        out->has |= IMAGE_HAS_TOOL;
        memcpy(out->tool_xyz, b->link[b->tip].pose.p, sizeof out->tool_xyz);
        reader_rpy(&b->link[b->tip].pose, out->tool_rpy);
    }
    for (uint32_t k = 0; k < b->n; k++)
        take_joint(b, k, &out->joint[k]);
}
