/*
 * From the tree of a URDF to one serial chain: the chain is chosen, everything off it is frozen and
 * lumped into the link that carries it, and each of these things is named in a note.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/readers.h"
#include "tools/robot/urdf.h"

#define NONE SIZE_MAX

typedef struct {
    size_t joint_above; /* joint whose child this link is; NONE: the root */
    size_t moving;      /* moving joints between root and here */
    bool reached;
    size_t carrier;  /* chain joint that moves this link; NONE: the base */
    dyn_pose_t pose; /* in the link frame of the carrier, or in the root's */
} link_state_t;

typedef struct {
    size_t parent, child;
    bool moves;    /* may be part of a chain: not fixed, not mimic, not frozen by the user */
    bool on_chain; /* between root and tip */
    bool user;     /* frozen by the user */
    double value;  /* where it is frozen */
} joint_state_t;

typedef struct {
    const char *file;
    const urdf_t *urdf;
    const robot_options_t *options;
    messages_t *messages;
    link_state_t *link;
    joint_state_t *joint;
    size_t root, last, tip; /* links: last moving one, hand */
    size_t chain[DYN_MAX_JOINTS];
    uint32_t n;
} build_t;

static void say(build_t *b, message_severity_t severity, message_code_t code, uint32_t line,
                const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

static void say(build_t *b, message_severity_t severity, message_code_t code, uint32_t line,
                const char *subject, const char *cure, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages_add(b->messages, severity, code, (message_place_t){b->file, line, subject}, cure, "%s",
                 text);
}

static size_t find_link(const urdf_t *u, const char *name) {
    for (size_t i = 0; i < u->links; i++)
        if (strcmp(u->link[i].name, name) == 0)
            return i;
    return NONE;
}

static size_t find_joint(const urdf_t *u, const char *name) {
    for (size_t i = 0; i < u->joints; i++)
        if (strcmp(u->joint[i].name, name) == 0)
            return i;
    return NONE;
}

/* "did you mean x?" from the links or the joints, or NULL. */
static const char *suggest(const urdf_t *u, bool links, const char *word, char *out, size_t size) {
    const size_t count = links ? u->links : u->joints;
    const char **names = calloc(count + 1, sizeof *names);
    const char *near = NULL;
    for (size_t i = 0; names && i < count; i++)
        names[i] = links ? u->link[i].name : u->joint[i].name;
    if (names)
        near = messages_nearest(word, names);
    if (near)
        snprintf(out, size, "did you mean %s?", near);
    else
        snprintf(out, size, "check its spelling");
    free(names);
    return out;
}

/* ------------------------------------------------------------------------------------------ the
 * tree */

static void check_names(build_t *b) {
    const urdf_t *u = b->urdf;
    for (size_t i = 1; i < u->links; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(u->link[i].name, u->link[k].name) == 0) {
                say(b, MESSAGE_ERROR, MESSAGE_DUPLICATE_NAME, u->link[i].line, u->link[i].name,
                    "rename one of them", "a link of this name stands already in line %u",
                    (unsigned)u->link[k].line);
                break;
            }
    for (size_t i = 1; i < u->joints; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(u->joint[i].name, u->joint[k].name) == 0) {
                say(b, MESSAGE_ERROR, MESSAGE_DUPLICATE_NAME, u->joint[i].line, u->joint[i].name,
                    "rename one of them", "a joint of this name stands already in line %u",
                    (unsigned)u->joint[k].line);
                break;
            }
}

static void connect_joint(build_t *b, size_t i) {
    const urdf_joint_t *j = &b->urdf->joint[i];
    joint_state_t *state = &b->joint[i];
    char cure[ROBOT_NAME_MAX + 32];
    state->parent = find_link(b->urdf, j->parent);
    state->child = find_link(b->urdf, j->child);
    if (state->parent == NONE || state->child == NONE) {
        const char *missing = state->parent == NONE ? j->parent : j->child;
        say(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, j->line, j->name,
            suggest(b->urdf, true, missing, cure, sizeof cure), "there is no link \"%s\"", missing);
        return;
    }
    if (j->type == URDF_OTHER)
        say(b, MESSAGE_ERROR, MESSAGE_JOINT_TYPE, j->line, j->name,
            "make it fixed, or describe its freedoms as revolute and prismatic joints",
            "a joint of type \"%s\" cannot be part of a serial arm", j->type_name);
    if (j->type != URDF_FIXED && j->axis[0] == 0 && j->axis[1] == 0 && j->axis[2] == 0)
        say(b, MESSAGE_ERROR, MESSAGE_AXIS, j->line_axis ? j->line_axis : j->line, j->name,
            "give its direction in the joint frame, such as xyz=\"0 0 1\"",
            "the axis has length zero");
    link_state_t *child = &b->link[state->child];
    if (child->joint_above != NONE)
        say(b, MESSAGE_ERROR, MESSAGE_TREE, j->line, j->name,
            "a serial arm is a tree: cut the loop at one joint",
            "the link %s is already the child of joint %s: two parents make a loop", j->child,
            b->urdf->joint[child->joint_above].name);
    else
        child->joint_above = i;
}

static void find_root(build_t *b) {
    const urdf_t *u = b->urdf;
    b->root = NONE;
    for (size_t i = 0; i < u->links; i++) {
        if (b->link[i].joint_above != NONE)
            continue;
        if (b->root != NONE) {
            say(b, MESSAGE_ERROR, MESSAGE_TREE, u->link[i].line, u->link[i].name,
                "connect one to the other with a joint, or remove it",
                "two links without a parent: %s and %s", u->link[b->root].name, u->link[i].name);
            return;
        }
        b->root = i;
    }
    if (b->root == NONE)
        say(b, MESSAGE_ERROR, MESSAGE_TREE, u->line, NULL, "cut the loop at one joint",
            "every link is the child of another: the joints form a loop");
}

/* Marks what can be reached, and counts the moving joints on the way, without recursion: a child is
 * reached in a later round, a loop never. */
static void walk_tree(build_t *b) {
    const urdf_t *u = b->urdf;
    b->link[b->root].reached = true;
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < u->joints; i++) {
            const joint_state_t *j = &b->joint[i];
            link_state_t *child = &b->link[j->child];
            if (child->reached || !b->link[j->parent].reached)
                continue;
            child->reached = true;
            child->moving = b->link[j->parent].moving + (j->moves ? 1 : 0);
            more = true;
        }
    }
    for (size_t i = 0; i < u->links; i++)
        if (!b->link[i].reached) {
            say(b, MESSAGE_ERROR, MESSAGE_TREE, u->link[i].line, u->link[i].name,
                "cut the loop at one joint",
                "the link cannot be reached from the root %s: its joints form a loop",
                u->link[b->root].name);
            return;
        }
}

/* ---------------------------------------------------------------------------- frozen joints,
 * mimics */

static void take_freezes(build_t *b) {
    const urdf_t *u = b->urdf;
    for (size_t k = 0; k < b->options->freeze_count; k++) {
        const robot_freeze_t *f = &b->options->freeze[k];
        char cure[ROBOT_NAME_MAX + 32];
        size_t i = find_joint(u, f->joint);
        if (i == NONE) {
            say(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, 0, f->joint,
                suggest(u, false, f->joint, cure, sizeof cure), "there is no joint to freeze");
        } else if (u->joint[i].type == URDF_FIXED) {
            say(b, MESSAGE_ERROR, MESSAGE_VALUE, u->joint[i].line, f->joint, "leave it out",
                "a fixed joint has no position to freeze it at");
        } else if (!isfinite(f->value)) {
            say(b, MESSAGE_ERROR, MESSAGE_NUMBER, u->joint[i].line, f->joint,
                "give a finite position", "the position to freeze it at is not finite");
        } else {
            b->joint[i].user = true;
            b->joint[i].moves = false;
            b->joint[i].value = f->value;
        }
    }
}

/* Value of a mimic joint from its master's; false where the masters go round in a circle. */
static bool resolve_mimic(build_t *b, size_t i) {
    const urdf_joint_t *j = &b->urdf->joint[i];
    joint_state_t *state = &b->joint[i];
    size_t steps = 0;
    double scale = 1, shift = 0;
    if (state->user || !j->line_mimic)
        return true;
    /* value = multiplier * master + offset, along the masters until one that is no mimic. */
    size_t k = i;
    while (b->urdf->joint[k].line_mimic && !b->joint[k].user) {
        const urdf_joint_t *m = &b->urdf->joint[k];
        char cure[ROBOT_NAME_MAX + 32];
        size_t master = find_joint(b->urdf, m->mimic);
        if (master == NONE) {
            say(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, m->line_mimic, m->name,
                suggest(b->urdf, false, m->mimic, cure, sizeof cure),
                "it mimics \"%s\", which does not exist", m->mimic);
            return false;
        }
        shift += scale * m->offset;
        scale *= m->multiplier;
        k = master;
        if (++steps > b->urdf->joints) {
            say(b, MESSAGE_ERROR, MESSAGE_MIMIC, j->line_mimic, j->name,
                "let one of them move on its own",
                "mimic joints that follow each other in a circle");
            return false;
        }
    }
    state->value = scale * b->joint[k].value + shift;
    return true;
}

static dyn_pose_t joint_pose(const urdf_joint_t *j, double value) {
    dyn_pose_t origin = dyn_pose_rpy(j->xyz, j->rpy);
    if (j->type == URDF_FIXED || value == 0)
        return origin;
    const double length =
        sqrt(j->axis[0] * j->axis[0] + j->axis[1] * j->axis[1] + j->axis[2] * j->axis[2]);
    const double u[3] = {j->axis[0] / length, j->axis[1] / length, j->axis[2] / length};
    dyn_pose_t motion = dyn_pose_identity();
    if (j->type == URDF_PRISMATIC) {
        for (int i = 0; i < 3; i++)
            motion.p[i] = u[i] * value;
    } else {
        /* Rodrigues: cos 1 + sin [u] + (1 - cos) u u^T */
        double c, s;
        dyn_exact_turn(value, &c, &s);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                motion.r[i][k] = (1 - c) * u[i] * u[k] + (i == k ? c : 0);
        motion.r[0][1] -= s * u[2];
        motion.r[1][0] += s * u[2];
        motion.r[0][2] += s * u[1];
        motion.r[2][0] -= s * u[1];
        motion.r[1][2] -= s * u[0];
        motion.r[2][1] += s * u[0];
    }
    return dyn_pose_compose(&origin, &motion);
}

/* ----------------------------------------------------------------------------------------- the
 * chain */

static void choose_default(build_t *b) {
    const urdf_t *u = b->urdf;
    size_t best = NONE, ties = 0;
    char others[300] = "";
    for (size_t i = 0; i < u->joints; i++) {
        if (!b->joint[i].moves)
            continue;
        const size_t child = b->joint[i].child;
        if (best == NONE || b->link[child].moving > b->link[best].moving) {
            best = child;
            ties = 0;
            others[0] = '\0';
        } else if (b->link[child].moving == b->link[best].moving) {
            size_t used = strlen(others);
            snprintf(others + used, sizeof others - used, "%s%s", ties ? ", " : "",
                     u->link[child].name);
            ties++;
        }
    }
    if (best == NONE) {
        say(b, MESSAGE_ERROR, MESSAGE_CHAIN, u->line, NULL, "check the types of the joints",
            "no joint moves: there is no arm in this file");
        return;
    }
    b->last = b->tip = best;
    if (ties > 0)
        say(b, MESSAGE_NOTE, MESSAGE_CHAIN, u->link[best].line, u->link[best].name,
            "choose another with --tip", "the chain ends here; as many joints move towards %s",
            others);
}

static void choose_tip(build_t *b, const char *name) {
    char cure[ROBOT_NAME_MAX + 32];
    size_t tip = find_link(b->urdf, name);
    if (tip == NONE) {
        say(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, 0, name,
            suggest(b->urdf, true, name, cure, sizeof cure), "there is no link of this name");
        return;
    }
    if (b->link[tip].moving == 0) {
        say(b, MESSAGE_ERROR, MESSAGE_CHAIN, b->urdf->link[tip].line, name,
            "choose a link further out", "no joint moves between the root %s and this link",
            b->urdf->link[b->root].name);
        return;
    }
    b->tip = b->last = tip;
    while (!b->joint[b->link[b->last].joint_above].moves)
        b->last = b->joint[b->link[b->last].joint_above].parent;
}

static void mark_chain(build_t *b) {
    size_t count = b->link[b->last].moving;
    if (count > DYN_MAX_JOINTS) {
        say(b, MESSAGE_ERROR, MESSAGE_LIMIT, b->urdf->link[b->last].line,
            b->urdf->link[b->last].name, "choose a shorter chain with --tip, or freeze joints",
            "%zu moving joints, at most %u are possible", count, DYN_MAX_JOINTS);
        return;
    }
    b->n = (uint32_t)count;
    for (size_t l = b->tip; b->link[l].joint_above != NONE;) {
        const size_t j = b->link[l].joint_above;
        b->joint[j].on_chain = true;
        if (b->joint[j].moves)
            b->chain[--count] = j;
        l = b->joint[j].parent;
    }
}

/* Carrier and pose of every link, parents before children: again in rounds. */
static void place_links(build_t *b) {
    const urdf_t *u = b->urdf;
    for (size_t i = 0; i < u->links; i++)
        b->link[i].reached = false;
    b->link[b->root].reached = true;
    b->link[b->root].carrier = NONE;
    b->link[b->root].pose = dyn_pose_identity();
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < u->joints; i++) {
            const joint_state_t *j = &b->joint[i];
            const link_state_t *parent = &b->link[j->parent];
            link_state_t *child = &b->link[j->child];
            if (child->reached || !parent->reached)
                continue;
            child->reached = more = true;
            if (j->moves && j->on_chain) {
                child->carrier = i;
                child->pose = dyn_pose_identity();
            } else {
                const dyn_pose_t pose = joint_pose(&u->joint[i], j->value);
                child->carrier = parent->carrier;
                child->pose = dyn_pose_compose(&parent->pose, &pose);
            }
        }
    }
}

/* --------------------------------------------------------------------------------------------
 * notes */

static bool inside(const urdf_joint_t *j, double value) {
    if (j->type == URDF_CONTINUOUS || !j->has_lower || !j->has_upper)
        return true;
    return value >= j->lower && value <= j->upper;
}

static void note_joint(build_t *b, size_t i) {
    const urdf_joint_t *j = &b->urdf->joint[i];
    const joint_state_t *state = &b->joint[i];
    const char *unit = j->type == URDF_PRISMATIC ? "m" : "rad";
    if (j->type == URDF_FIXED || (state->moves && state->on_chain))
        return;
    if (j->line_mimic && !state->user) {
        size_t master = i;
        while (b->urdf->joint[master].line_mimic && !b->joint[master].user)
            master = find_joint(b->urdf, b->urdf->joint[master].mimic);
        const bool runs = b->joint[master].moves && b->joint[master].on_chain;
        say(b, runs ? MESSAGE_WARNING : MESSAGE_NOTE, MESSAGE_MIMIC, j->line_mimic, j->name,
            runs ? "choose a tip before its master, or freeze the master" : NULL,
            runs ? "it follows %s, which moves on the chain; a serial arm cannot say that: held at "
                   "%g %s"
                 : "it follows %s and is held at %g %s",
            runs ? b->urdf->joint[master].name : j->mimic, state->value, unit);
    } else {
        say(b, MESSAGE_NOTE, MESSAGE_FROZEN, j->line, j->name,
            state->user ? NULL : "choose another position with --freeze", "%s: frozen at %g %s",
            state->user ? "as asked" : "off the chain", state->value, unit);
    }
    if (!inside(j, state->value))
        say(b, MESSAGE_WARNING, MESSAGE_FROZEN, j->line_limit, j->name,
            "choose a possible position with --freeze",
            "the position %g %s is outside of its limits %g to %g", state->value, unit, j->lower,
            j->upper);
}

static void note_link(build_t *b, size_t i) {
    const urdf_link_t *link = &b->urdf->link[i];
    const link_state_t *state = &b->link[i];
    const bool carrier = state->carrier != NONE && b->joint[state->carrier].child == i;
    if (carrier) {
        if (!link->inertial)
            say(b, MESSAGE_NOTE, MESSAGE_NO_INERTIA, link->line, link->name, NULL,
                "the link has no <inertial>: it counts as massless");
        return;
    }
    if (state->carrier == NONE) {
        if (link->body.mass != 0)
            say(b, MESSAGE_NOTE, MESSAGE_LUMPED, link->line, link->name, NULL,
                "%.6g kg stand with the base and never move", link->body.mass);
        else
            say(b, MESSAGE_NOTE, MESSAGE_LUMPED, link->line, link->name, NULL,
                "part of the base, without mass");
        return;
    }
    say(b, MESSAGE_NOTE, MESSAGE_LUMPED, link->line, link->name, NULL,
        "%.6g kg%s move with the link %s", link->body.mass,
        link->inertial ? "" : " (no <inertial>)",
        b->urdf->link[b->joint[state->carrier].child].name);
}

/* ------------------------------------------------------------------------------------------ the
 * arm */

static bool has_inertia(const dyn_body_t *body) {
    bool some = body->mass != 0;
    for (int i = 0; i < 6; i++)
        some = some || body->inertia[i] != 0;
    return some;
}

/* What joint i carries, in the frame of its link; untouched where nothing is lumped into it. */
static void lump(const build_t *b, size_t i, robot_joint_t *out) {
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

static void take_drive(build_t *b, const urdf_joint_t *j, robot_joint_t *out) {
    dyn_drive_t *drive = &out->source.drive;
    out->has |= j->type == URDF_CONTINUOUS ? ROBOT_JOINT_ENDLESS : 0u;
    if (j->type == URDF_CONTINUOUS && (j->has_lower || j->has_upper))
        say(b, MESSAGE_NOTE, MESSAGE_IGNORED, j->line_limit, j->name, NULL,
            "a continuous joint has no range: lower and upper are not used");
    if (j->type != URDF_CONTINUOUS && (j->has_lower || j->has_upper)) {
        out->has |= ROBOT_JOINT_POSITION;
        drive->limits.position[0] = j->lower;
        drive->limits.position[1] = j->upper;
    }
    drive->limits.velocity = j->velocity;
    drive->limits.torque = j->effort;
    drive->friction.viscous = j->damping;
    drive->friction.coulomb[0] = 0 - j->friction; /* +0 where there is none */
    drive->friction.coulomb[1] = j->friction;
    out->has |= j->has_velocity ? ROBOT_JOINT_VELOCITY : 0u;
    out->has |= j->has_effort ? ROBOT_JOINT_TORQUE : 0u;
    out->has |= j->has_damping ? ROBOT_JOINT_VISCOUS : 0u;
    out->has |= j->has_friction ? ROBOT_JOINT_COULOMB : 0u;
    if (j->reduction == 0)
        return;
    /* Exporters write 1 where they know nothing. */
    const bool gear = j->reduction != 1;
    if (gear) {
        drive->motor.gear = j->reduction;
        out->has |= ROBOT_JOINT_GEAR;
    }
    say(b, MESSAGE_NOTE, MESSAGE_TRANSMISSION, j->line_reduction, j->name, NULL,
        gear ? "mechanicalReduction %g is taken as the gear of the motor"
             : "mechanicalReduction %g says nothing about the motor",
        j->reduction);
}

static void take_joint(build_t *b, uint32_t k, robot_joint_t *out) {
    const size_t i = b->chain[k];
    const urdf_joint_t *j = &b->urdf->joint[i];
    const urdf_link_t *link = &b->urdf->link[b->joint[i].child];
    const link_state_t *parent = &b->link[b->joint[i].parent];
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

/* False where the memory is gone. */
static bool take_pieces(const build_t *b, robot_t *out) {
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
        piece->stands = b->link[i].carrier == NONE;
        if (b->link[i].joint_above == NONE)
            continue;
        const urdf_joint_t *j = &u->joint[b->link[i].joint_above];
        strcpy(piece->joint, j->name);
        memcpy(piece->xyz, j->xyz, sizeof piece->xyz);
        memcpy(piece->rpy, j->rpy, sizeof piece->rpy);
        piece->line_joint = j->line_origin ? j->line_origin : j->line;
    }
    return out->piece != NULL;
}

static void take_arm(build_t *b, robot_t *out) {
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
        out->has |= ROBOT_HAS_TOOL;
        memcpy(out->tool_xyz, b->link[b->tip].pose.p, sizeof out->tool_xyz);
        reader_rpy(&b->link[b->tip].pose, out->tool_rpy);
    }
    for (uint32_t k = 0; k < b->n; k++)
        take_joint(b, k, &out->joint[k]);
}

static void build(build_t *b, robot_t *out) {
    const urdf_t *u = b->urdf;
    const size_t errors = b->messages->errors;
#define STOP_ON_ERROR()                                                                            \
    if (b->messages->errors != errors)                                                             \
    return
    check_names(b);
    for (size_t i = 0; i < u->links; i++)
        b->link[i].joint_above = NONE;
    for (size_t i = 0; i < u->joints; i++) {
        const urdf_joint_t *j = &u->joint[i];
        b->joint[i].moves = j->type != URDF_FIXED && !j->line_mimic;
        connect_joint(b, i);
    }
    STOP_ON_ERROR();
    if (u->links == 0) {
        say(b, MESSAGE_ERROR, MESSAGE_TREE, u->line, NULL, "give a complete URDF",
            "the file holds no links");
        return;
    }
    find_root(b);
    take_freezes(b);
    STOP_ON_ERROR();
    walk_tree(b);
    STOP_ON_ERROR();
    for (size_t i = 0; i < u->joints; i++)
        if (!resolve_mimic(b, i))
            return;
    if (b->options->tip)
        choose_tip(b, b->options->tip);
    else
        choose_default(b);
    STOP_ON_ERROR();
    mark_chain(b);
    STOP_ON_ERROR();
    place_links(b);
    say(b, MESSAGE_NOTE, MESSAGE_CHAIN, u->line, u->link[b->root].name, NULL,
        "%u moving joint%s from here to %s, the hand is the frame of %s; gravity is %s this link",
        (unsigned)b->n, b->n == 1 ? "" : "s", u->link[b->last].name, u->link[b->tip].name,
        b->options->gravity ? "as asked, on the axes of" : "9.81 m/s^2 along -z of");
    for (size_t i = 0; i < u->joints; i++)
        note_joint(b, i);
    for (size_t i = 0; i < u->links; i++)
        note_link(b, i);
    take_arm(b, out);
    if (!take_pieces(b, out))
        say(b, MESSAGE_ERROR, MESSAGE_MEMORY, 0, NULL, NULL, "no memory left");
#undef STOP_ON_ERROR
}

int reader_urdf(const char *file, const char *bytes, size_t size, const robot_options_t *options,
                robot_t *out, messages_t *messages) {
    urdf_t urdf;
    const size_t errors = messages->errors;
    out->format = ROBOT_FORMAT_URDF;
    if (urdf_read(file, bytes, size, &urdf, messages) == 0) {
        build_t *b = calloc(1, sizeof *b);
        link_state_t *link = calloc(urdf.links + 1, sizeof *link);
        joint_state_t *joint = calloc(urdf.joints + 1, sizeof *joint);
        if (b && link && joint) {
            *b = (build_t){.file = file,
                           .urdf = &urdf,
                           .options = options,
                           .messages = messages,
                           .link = link,
                           .joint = joint,
                           .root = NONE};
            build(b, out);
        } else {
            messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, (message_place_t){file, 0, NULL},
                         "", "no memory left");
        }
        free(b);
        free(link);
        free(joint);
    }
    urdf_free(&urdf);
    return messages->errors == errors ? 0 : -1;
}
