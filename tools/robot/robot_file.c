/*
 * Reads robot files: converts the structures that libcyaml loads (robot_schema.c) to robot_t, with
 * the checks that no schema can express (keys of each convention, elastic links, ranges).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/modes.h"
#include "tools/robot/readers.h"

typedef struct {
    const tree_t *tree;
    messages_t *messages;
    const char *subject;
} context_t;

static void complain(const context_t *c, message_code_t code, uint32_t line, const char *cure,
                     const char *text) {
    messages_add(c->messages, MESSAGE_ERROR, code,
                 (message_place_t){c->tree->file, line, c->subject}, cure, "%s", text);
}

static void copy(double *to, const double *from, size_t n) {
    memcpy(to, from, n * sizeof *to);
}

void reader_common(const tree_t *tree, const raw_robot_t *raw, robot_t *out) {
    const tree_node_t *root = tree->root, *control = tree_get(root, "control");
    memcpy(out->name, raw->name, sizeof out->name);
    out->convention = (dyn_convention_t)raw->convention;
    copy(out->gravity, raw->gravity, 3);
    copy(out->base_xyz, raw->base.xyz, 3);
    copy(out->base_rpy, raw->base.rpy, 3);
    copy(out->tool_xyz, raw->tool.xyz, 3);
    copy(out->tool_rpy, raw->tool.rpy, 3);
    out->payload.mass = raw->payload.mass;
    copy(out->payload.com, raw->payload.com, 3);
    copy(out->payload.inertia, raw->payload.inertia, 6);
    out->line_name = tree_line(root, "name");
    out->line_gravity = tree_line(root, "gravity");
    out->line_base = tree_line(root, "base");
    out->line_control = tree_line(root, "control");
    out->line_tool = tree_line(root, "tool");
    out->line_payload = tree_line(root, "payload");
    out->line_joints = tree_line(root, "joints");
    out->has |= out->line_base ? IMAGE_HAS_BASE : 0u;
    out->has |= out->line_tool ? IMAGE_HAS_TOOL : 0u;
    out->has |= out->line_payload ? IMAGE_HAS_PAYLOAD : 0u;
    out->has |= tree_get(control, "rate") ? IMAGE_HAS_RATE : 0u;
    out->has |= tree_get(control, "feedback") ? IMAGE_HAS_FEEDBACK : 0u;
    out->has |= tree_get(root, "brakes") ? IMAGE_HAS_BRAKES : 0u;
    out->has |= raw->brakes ? IMAGE_BRAKES : 0u;
    out->rate_hz = out->has & IMAGE_HAS_RATE ? raw->control.rate : 1000;
    out->feedback = (uint32_t)raw->control.feedback;
    out->n = raw->joints_count;
}

static uint32_t flag_if(const tree_node_t *map, const char *key, uint32_t flag) {
    return tree_get(map, key) ? (uint32_t)flag : 0u;
}

static void above_zero(const context_t *c, const tree_node_t *map, const char *key, double value) {
    char text[64];
    snprintf(text, sizeof text, "%s is not above zero", key);
    if (tree_get(map, key) && !(value > 0))
        complain(c, MESSAGE_VALUE, tree_line(map, key), "give a positive number, or leave it out",
                 text);
}

static void read_frame(const context_t *c, const tree_node_t *node, const raw_joint_t *raw,
                       robot_joint_t *joint, dyn_convention_t convention) {
    const bool frames = convention == DYN_CONVENTION_FRAMES;
    dyn_source_joint_t *s = &joint->source;
    s->theta = raw->dh.theta;
    s->d = raw->dh.d;
    s->a = raw->dh.a;
    s->alpha = raw->dh.alpha;
    copy(s->xyz, raw->origin.xyz, 3);
    copy(s->rpy, raw->origin.rpy, 3);
    copy(s->axis, raw->axis, 3);
    joint->line.frame = tree_line(node, frames ? "origin" : "dh");
    joint->line.axis = tree_line(node, "axis");
    static const char *const wanted[3] = {"dh", "origin", "axis"};
    for (size_t i = 0; i < 3; i++) {
        const bool here = tree_get(node, wanted[i]) != NULL, used = frames == (i > 0);
        char text[120];
        if (used && !here) {
            snprintf(text, sizeof text, "the key \"%s\" is missing", wanted[i]);
            complain(c, MESSAGE_MISSING_KEY, node->line,
                     frames ? "convention `frames` needs origin: and axis:"
                            : "conventions dh and mdh need dh: {theta, d, a, alpha}",
                     text);
        } else if (here && !used) {
            snprintf(text, sizeof text, "the key \"%s\" is not used in this convention", wanted[i]);
            complain(c, MESSAGE_CONVENTION, tree_line(node, wanted[i]),
                     "remove it, or change convention:", text);
        }
    }
}

static void read_limits(const tree_node_t *map, const raw_joint_t *raw, robot_joint_t *joint) {
    joint->source.drive.limits = raw->limits;
    joint->has |= flag_if(map, "position", IMAGE_JOINT_HAS_POSITION) |
                  flag_if(map, "velocity", IMAGE_JOINT_HAS_VELOCITY) |
                  flag_if(map, "acceleration", IMAGE_JOINT_HAS_ACCELERATION) |
                  flag_if(map, "torque", IMAGE_JOINT_HAS_TORQUE);
    joint->line.position = tree_line(map, "position");
    joint->line.velocity = tree_line(map, "velocity");
    joint->line.torque = tree_line(map, "torque");
}

static void read_motor(const context_t *c, const tree_node_t *map, const raw_joint_t *raw,
                       robot_joint_t *joint) {
    dyn_motor_t *motor = &joint->source.drive.motor;
    *motor = raw->motor;
    joint->has |= flag_if(map, "resistance", IMAGE_JOINT_HAS_RESISTANCE) |
                  flag_if(map, "torque_constant", IMAGE_JOINT_HAS_TORQUE_CONSTANT) |
                  flag_if(map, "gear", IMAGE_JOINT_HAS_GEAR) |
                  flag_if(map, "rotor_inertia", IMAGE_JOINT_HAS_ROTOR_INERTIA) |
                  flag_if(map, "voltage", IMAGE_JOINT_HAS_VOLTAGE);
    if (map && !(joint->has & IMAGE_JOINT_HAS_GEAR))
        motor->gear = 1;
    if (joint->has & IMAGE_JOINT_HAS_GEAR && motor->gear == 0)
        complain(c, MESSAGE_VALUE, tree_line(map, "gear"), "write 1 for a direct drive",
                 "the gear is zero");
}

static void read_friction(const tree_node_t *map, const raw_joint_t *raw, robot_joint_t *joint) {
    dyn_friction_t *friction = &joint->source.drive.friction;
    joint->has |= flag_if(map, "viscous", IMAGE_JOINT_HAS_VISCOUS) |
                  flag_if(map, "coulomb", IMAGE_JOINT_HAS_COULOMB);
    friction->viscous = raw->friction.viscous;
    if (raw->friction.coulomb_count == 1) {
        friction->coulomb[0] = 0 - raw->friction.coulomb[0];
        friction->coulomb[1] = raw->friction.coulomb[0];
    } else if (raw->friction.coulomb_count == 2) {
        copy(friction->coulomb, raw->friction.coulomb, 2);
    }
}

static void read_encoder(const context_t *c, const tree_node_t *map, const raw_joint_t *raw,
                         robot_joint_t *joint) {
    robot_encoder_t *e = &joint->encoder;
    *e = raw->encoder;
    joint->has |= flag_if(map, "counts", IMAGE_JOINT_HAS_COUNTS) |
                  flag_if(map, "sign", IMAGE_JOINT_HAS_SIGN) |
                  flag_if(map, "offset", IMAGE_JOINT_HAS_OFFSET) |
                  flag_if(map, "ratio", IMAGE_JOINT_HAS_RATIO);
    if (!(joint->has & IMAGE_JOINT_HAS_SIGN))
        e->sign = 1;
    if (!(joint->has & IMAGE_JOINT_HAS_RATIO))
        e->ratio = 1;
    if (joint->has & IMAGE_JOINT_HAS_COUNTS && e->counts == 0)
        complain(c, MESSAGE_VALUE, tree_line(map, "counts"),
                 "give the counts per turn or per metre, such as 16384", "encoder.counts is zero");
}

void reader_joint(const tree_t *tree, const tree_node_t *node, const raw_joint_t *raw,
                  robot_joint_t *joint, dyn_convention_t convention, messages_t *messages) {
    context_t c = {tree, messages, raw->name};
    memcpy(joint->name, raw->name, sizeof joint->name);
    joint->source.type = (dyn_joint_type_t)raw->type;
    joint->line.joint = node->line;
    joint->line.type = tree_line(node, "type");
    joint->line.limits = tree_line(node, "limits");
    joint->line.motor = tree_line(node, "motor");
    joint->line.friction = tree_line(node, "friction");
    joint->line.encoder = tree_line(node, "encoder");
    joint->line.gains = tree_line(node, "gains");
    read_frame(&c, node, raw, joint, convention);
    read_limits(tree_get(node, "limits"), raw, joint);
    read_motor(&c, tree_get(node, "motor"), raw, joint);
    read_friction(tree_get(node, "friction"), raw, joint);
    read_encoder(&c, tree_get(node, "encoder"), raw, joint);
    if (tree_get(node, "homing"))
        joint->homing = (robot_homing_t){
            raw->homing.side ? (int)raw->homing.to : -(int)raw->homing.to, raw->homing.position};
    joint->thermal = raw->thermal;
    above_zero(&c, tree_get(node, "thermal"), "continuous", raw->thermal.continuous);
    above_zero(&c, tree_get(node, "thermal"), "time", raw->thermal.time);
    const tree_node_t *gains = tree_get(node, "gains");
    joint->has |=
        flag_if(gains, "kp", IMAGE_JOINT_HAS_KP) | flag_if(gains, "kd", IMAGE_JOINT_HAS_KD);
    joint->kp = raw->gains.kp;
    joint->kd = raw->gains.kd;
}

void reader_duplicates(const robot_t *robot, messages_t *messages) {
    for (uint32_t i = 1; i < robot->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(robot->joint[i].name, robot->joint[k].name) == 0) {
                messages_add(messages, MESSAGE_ERROR, MESSAGE_DUPLICATE_NAME,
                             (message_place_t){robot->file, robot->joint[i].line.joint,
                                               robot->joint[i].name},
                             "rename one of them", "joints %u and %u have the same name",
                             (unsigned)k + 1, (unsigned)i + 1);
                break;
            }
}

static void check_shapes(const context_t *c, const tree_node_t *flex, const raw_flex_t *raw) {
    const uint32_t modes[3] = {raw->modes.xy, raw->modes.xz, raw->modes.torsion};
    uint32_t found[3] = {0};
    const tree_node_t *list = tree_get(flex, "shapes");
    for (uint32_t i = 0; i < raw->shapes_count; i++) {
        const raw_shape_t *s = &raw->shapes[i];
        double largest = 0;
        found[s->plane]++;
        for (uint32_t k = 0; k < s->values_count; k++)
            largest = fmax(largest, fabs(s->values[k]));
        if (s->values[0] != 0)
            complain(c, MESSAGE_FLEX, tree_at(list, i)->line, "begin with 0: the root is clamped",
                     "the mode shape is not zero at the root");
        else if (largest == 0)
            complain(c, MESSAGE_FLEX, tree_at(list, i)->line, "give its deflection",
                     "the mode shape is zero everywhere");
    }
    for (size_t p = 0; p < 3; p++) {
        char text[120];
        snprintf(text, sizeof text, "for %s there are %u shapes, but %u modes", raw_planes[p].str,
                 (unsigned)found[p], (unsigned)modes[p]);
        if (found[p] > 0 && found[p] != modes[p])
            complain(c, MESSAGE_FLEX, list->line,
                     "give one shape for each mode, or leave the shapes of this plane out", text);
    }
}

static void check_flex(const context_t *c, const tree_node_t *node, const raw_robot_t *robot,
                       uint32_t i) {
    const tree_node_t *flex = tree_get(node, "flex"), *modes = tree_get(flex, "modes");
    const raw_flex_t *raw = &robot->joints[i].flex;
    const bool last = i + 1 == robot->joints_count;
    if (robot->convention != DYN_CONVENTION_MDH)
        complain(c, MESSAGE_FLEX, flex->line, "write the arm with convention: mdh",
                 "elastic links exist only in convention mdh");
    if (!(raw->length > 0))
        complain(c, MESSAGE_FLEX, tree_line(flex, "length"), "give a positive length in metres",
                 "flex.length is not positive");
    if (!(raw->mass_per_length > 0))
        complain(c, MESSAGE_FLEX, tree_line(flex, "mass_per_length"),
                 "give a positive number in kg/m", "flex.mass_per_length is not positive");
    const struct {
        const char *mode, *stiffness;
        uint32_t count;
        double value;
    } kind[3] = {{"xy", "EI_z", raw->modes.xy, raw->EI_z},
                 {"xz", "EI_y", raw->modes.xz, raw->EI_y},
                 {"torsion", "GJ", raw->modes.torsion, raw->GJ}};
    for (size_t k = 0; k < 3; k++) {
        char text[120];
        uint32_t line = tree_line(modes, kind[k].mode);
        if (kind[k].count > ROBOT_MODES_MAX) {
            snprintf(text, sizeof text, "modes.%s is %u; at most %u modes are possible",
                     kind[k].mode, (unsigned)kind[k].count, ROBOT_MODES_MAX);
            complain(c, MESSAGE_FLEX, line,
                     "use fewer modes; two or three are nearly always enough", text);
        }
        if (kind[k].count > 0 && !(kind[k].value > 0)) {
            snprintf(text, sizeof text, "modes.%s needs a positive %s", kind[k].mode,
                     kind[k].stiffness);
            complain(c, MESSAGE_FLEX, line, "give the stiffness in N m^2, or set the modes to 0",
                     text);
        }
    }
    if (last && raw->modes.torsion > 0 && !(raw->polar_inertia > 0))
        complain(c, MESSAGE_FLEX, flex->line,
                 "add polar_inertia (kg m^2 per metre about x), or set torsion: 0",
                 "torsion of the last link needs polar_inertia, because nothing beyond this link "
                 "has inertia");
    if (raw->modes.torsion > 1 && !(raw->polar_inertia > 0))
        complain(c, MESSAGE_FLEX, flex->line,
                 "add polar_inertia (kg m^2 per metre about x), or set torsion: 1",
                 "several modes of torsion need polar_inertia, because only the inertia along the "
                 "beam distinguishes them");
    check_shapes(c, flex, raw);
    if (!last && raw->length > 0) {
        const double a = robot->joints[i + 1].dh.a;
        char text[160];
        snprintf(text, sizeof text, "flex.length is %.9g, but `a` of the next joint is %.9g",
                 raw->length, a);
        /* Both numbers are typed by a person: they must agree to nine digits. */
        if (fabs(a - raw->length) > 1e-9 * raw->length)
            complain(c, MESSAGE_FLEX, tree_line(flex, "length"),
                     "the beam ends where the next joint begins: make the two lengths equal", text);
    }
}

static robot_shape_t *take_shapes(const raw_flex_t *raw, raw_plane_t plane, uint32_t modes) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < raw->shapes_count; i++)
        found += raw->shapes[i].plane == plane;
    if (found == 0 || found != modes)
        return NULL;
    robot_shape_t *out = calloc(modes, sizeof *out);
    found = 0;
    for (uint32_t i = 0; out && i < raw->shapes_count; i++) {
        const raw_shape_t *s = &raw->shapes[i];
        if (s->plane != plane)
            continue;
        out[found].value = malloc(s->values_count * sizeof *s->values);
        if (out[found].value) {
            out[found].count = s->values_count;
            copy(out[found].value, s->values, s->values_count);
        }
        found++;
    }
    return out;
}

static void read_flex(const raw_flex_t *raw, robot_joint_t *joint) {
    robot_flex_t *f = &joint->flex;
    joint->elastic = true;
    *f = (robot_flex_t){.length = raw->length,
                        .mass_per_length = raw->mass_per_length,
                        .EI_y = raw->EI_y,
                        .EI_z = raw->EI_z,
                        .GJ = raw->GJ,
                        .damping = raw->damping,
                        .polar_inertia = raw->polar_inertia,
                        .modes_xy = raw->modes.xy,
                        .modes_xz = raw->modes.xz,
                        .modes_torsion = raw->modes.torsion};
    if (f->modes_xy <= ROBOT_MODES_MAX)
        f->shape_xy = take_shapes(raw, RAW_PLANE_XY, f->modes_xy);
    if (f->modes_xz <= ROBOT_MODES_MAX)
        f->shape_xz = take_shapes(raw, RAW_PLANE_XZ, f->modes_xz);
    if (f->modes_torsion <= ROBOT_MODES_MAX)
        f->shape_torsion = take_shapes(raw, RAW_PLANE_TORSION, f->modes_torsion);
    joint->source.link = modes_stiff(f);
}

static void read_link(const context_t *c, const tree_node_t *node, const raw_robot_t *robot,
                      uint32_t i, robot_joint_t *joint) {
    const raw_joint_t *raw = &robot->joints[i];
    const tree_node_t *link = tree_get(node, "link"), *flex = tree_get(node, "flex");
    if (!link == !flex) {
        complain(c, link ? MESSAGE_FLEX : MESSAGE_MISSING_KEY, node->line,
                 "give link: {mass, com, inertia} for a rigid link, or flex: for an elastic one",
                 link ? "both link and flex are given" : "neither link nor flex is given");
        return;
    }
    joint->has |= ROBOT_JOINT_INERTIAL;
    memcpy(joint->link_name, joint->name, sizeof joint->link_name);
    joint->line.link = (link ? link : flex)->line;
    joint->line.mass = joint->line.com = joint->line.inertia = joint->line.link;
    if (!link) {
        joint->line.flex = flex->line;
        check_flex(c, node, robot, i);
        read_flex(&raw->flex, joint);
        return;
    }
    joint->line.mass = tree_line(link, "mass");
    joint->line.com = tree_line(link, "com");
    joint->line.inertia = tree_line(link, "inertia");
    joint->source.link.mass = raw->link.mass;
    copy(joint->source.link.com, raw->link.com, 3);
    copy(joint->source.link.inertia, raw->link.inertia, 6);
    copy(joint->source.inertia_rpy, raw->link.rpy, 3);
}

int reader_robot_file(const tree_t *tree, robot_symbols_t *symbols, robot_t *out,
                      messages_t *messages) {
    void *data = NULL;
    const size_t errors = messages->errors;
    out->format = ROBOT_FORMAT_FILE;
    if (symbols)
        symbols_take(tree, symbols);
    if (schema_load(tree, &raw_robot_value, &data, messages) != 0)
        return -1;
    const raw_robot_t *raw = data;
    reader_common(tree, raw, out);
    const tree_node_t *list = tree_get(tree->root, "joints");
    for (uint32_t i = 0; i < out->n; i++) {
        const tree_node_t *node = tree_at(list, i);
        context_t c = {tree, messages, raw->joints[i].name};
        reader_joint(tree, node, &raw->joints[i], &out->joint[i], out->convention, messages);
        if (symbols && !tree_get(node, "link") && !tree_get(node, "flex"))
            symbols_link(symbols, i, &out->joint[i].source.link);
        else
            read_link(&c, node, raw, i, &out->joint[i]);
        out->elastic = out->elastic || out->joint[i].elastic;
    }
    schema_free(&raw_robot_value, data);
    reader_duplicates(out, messages);
    return messages->errors == errors ? 0 : -1;
}
