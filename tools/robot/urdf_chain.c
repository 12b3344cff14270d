/*
 * Finds the chain of a URDF, for tools/robot/urdf_build.h: connects the joints into a tree, marks
 * those that move by themselves, finds the path from the root to the tip, and computes the pose of
 * every link.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/urdf_build.h"

/* Writes and returns "did you mean x?" with the nearest name of a link or joint, or "check its
 * spelling" if no name is near. */
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

static void check_names(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    for (size_t i = 1; i < u->links; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(u->link[i].name, u->link[k].name) == 0) {
                urdf_add(b, MESSAGE_ERROR, MESSAGE_DUPLICATE_NAME, u->link[i].line, u->link[i].name,
                         "rename one of them", "line %u already has a link of this name",
                         (unsigned)u->link[k].line);
                break;
            }
    for (size_t i = 1; i < u->joints; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(u->joint[i].name, u->joint[k].name) == 0) {
                urdf_add(b, MESSAGE_ERROR, MESSAGE_DUPLICATE_NAME, u->joint[i].line,
                         u->joint[i].name, "rename one of them",
                         "line %u already has a joint of this name", (unsigned)u->joint[k].line);
                break;
            }
}

static void connect_joint(urdf_build_t *b, size_t i) {
    const urdf_joint_t *j = &b->urdf->joint[i];
    urdf_joint_state_t *state = &b->joint[i];
    char cure[ROBOT_NAME_MAX + 32];
    state->parent = urdf_find_link(b->urdf, j->parent);
    state->child = urdf_find_link(b->urdf, j->child);
    if (state->parent == URDF_NONE || state->child == URDF_NONE) {
        const char *missing = state->parent == URDF_NONE ? j->parent : j->child;
        urdf_add(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, j->line, j->name,
                 suggest(b->urdf, true, missing, cure, sizeof cure), "there is no link \"%s\"",
                 missing);
        return;
    }
    if (j->type == URDF_OTHER)
        urdf_add(b, MESSAGE_ERROR, MESSAGE_JOINT_TYPE, j->line, j->name,
                 "make it fixed, or describe its freedoms as revolute and prismatic joints",
                 "a joint of type \"%s\" cannot be part of a serial arm", j->type_name);
    if (j->type != URDF_FIXED && j->axis[0] == 0 && j->axis[1] == 0 && j->axis[2] == 0)
        urdf_add(b, MESSAGE_ERROR, MESSAGE_AXIS, j->line_axis ? j->line_axis : j->line, j->name,
                 "give the direction of the axis in the joint frame, such as xyz=\"0 0 1\"",
                 "the axis has length zero");
    urdf_link_state_t *child = &b->link[state->child];
    if (child->joint_above != URDF_NONE)
        urdf_add(b, MESSAGE_ERROR, MESSAGE_TREE, j->line, j->name,
                 "links and joints must form a tree: cut the loop at one joint",
                 "the link %s is already the child of joint %s: two parents make a loop", j->child,
                 b->urdf->joint[child->joint_above].name);
    else
        child->joint_above = i;
}

static void find_root(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    b->root = URDF_NONE;
    for (size_t i = 0; i < u->links; i++) {
        if (b->link[i].joint_above != URDF_NONE)
            continue;
        if (b->root != URDF_NONE) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_TREE, u->link[i].line, u->link[i].name,
                     "connect one to the other with a joint, or remove one of them",
                     "two links have no parent: %s and %s", u->link[b->root].name, u->link[i].name);
            return;
        }
        b->root = i;
    }
    if (b->root == URDF_NONE)
        urdf_add(b, MESSAGE_ERROR, MESSAGE_TREE, u->line, NULL, "cut the loop at one joint",
                 "every link is the child of another: the joints form a loop");
}

/*
 * Marks the links that can be reached from the root and counts the moving joints on their paths.
 * Works in rounds instead of recursion: each round reaches at least the children of the links that
 * were reached before it. Links in a loop are never reached.
 */
static void walk_tree(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    b->link[b->root].reached = true;
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < u->joints; i++) {
            const urdf_joint_state_t *j = &b->joint[i];
            urdf_link_state_t *child = &b->link[j->child];
            if (child->reached || !b->link[j->parent].reached)
                continue;
            child->reached = true;
            child->moving = b->link[j->parent].moving + (j->moves ? 1 : 0);
            more = true;
        }
    }
    for (size_t i = 0; i < u->links; i++)
        if (!b->link[i].reached) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_TREE, u->link[i].line, u->link[i].name,
                     "cut the loop at one joint",
                     "the link cannot be reached from the root %s: its joints form a loop",
                     u->link[b->root].name);
            return;
        }
}

static void take_freezes(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    for (size_t k = 0; k < b->options->freeze_count; k++) {
        const robot_freeze_t *f = &b->options->freeze[k];
        char cure[ROBOT_NAME_MAX + 32];
        size_t i = urdf_find_joint(u, f->joint);
        if (i == URDF_NONE) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, 0, f->joint,
                     suggest(u, false, f->joint, cure, sizeof cure),
                     "there is no joint of this name to freeze");
        } else if (u->joint[i].type == URDF_FIXED) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_VALUE, u->joint[i].line, f->joint,
                     "remove it from --freeze", "a fixed joint cannot be frozen");
        } else if (!isfinite(f->value)) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_NUMBER, u->joint[i].line, f->joint,
                     "give a finite position", "the position given with --freeze is not finite");
        } else {
            b->joint[i].user = true;
            b->joint[i].moves = false;
            b->joint[i].value = f->value;
        }
    }
}

/* Computes the position of a mimic joint from the joint that it follows. Returns false with an
 * error if that joint does not exist or if the joints follow each other in a cycle. */
static bool resolve_mimic(urdf_build_t *b, size_t i) {
    const urdf_joint_t *j = &b->urdf->joint[i];
    urdf_joint_state_t *state = &b->joint[i];
    size_t steps = 0;
    double scale = 1, shift = 0;
    if (state->user || !j->line_mimic)
        return true;
    /* Composes value = multiplier * master + offset along the chain of followed joints, up to one
     * that is not a mimic. */
    size_t k = i;
    while (b->urdf->joint[k].line_mimic && !b->joint[k].user) {
        const urdf_joint_t *m = &b->urdf->joint[k];
        char cure[ROBOT_NAME_MAX + 32];
        size_t master = urdf_find_joint(b->urdf, m->mimic);
        if (master == URDF_NONE) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, m->line_mimic, m->name,
                     suggest(b->urdf, false, m->mimic, cure, sizeof cure),
                     "the joint mimics \"%s\", which does not exist", m->mimic);
            return false;
        }
        shift += scale * m->offset;
        scale *= m->multiplier;
        k = master;
        if (++steps > b->urdf->joints) {
            urdf_add(b, MESSAGE_ERROR, MESSAGE_MIMIC, j->line_mimic, j->name,
                     "remove <mimic> from one of them", "mimic joints follow each other in a loop");
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
        /* Rotation by Rodrigues' formula: cos 1 + sin [u] + (1 - cos) u u^T. */
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

static void choose_default(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    size_t best = URDF_NONE, ties = 0;
    char others[300] = "";
    for (size_t i = 0; i < u->joints; i++) {
        if (!b->joint[i].moves)
            continue;
        const size_t child = b->joint[i].child;
        if (best == URDF_NONE || b->link[child].moving > b->link[best].moving) {
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
    if (best == URDF_NONE) {
        urdf_add(b, MESSAGE_ERROR, MESSAGE_CHAIN, u->line, NULL, "check the types of the joints",
                 "the file contains no arm: none of its joints moves");
        return;
    }
    b->last = b->tip = best;
    if (ties > 0)
        urdf_add(b, MESSAGE_NOTE, MESSAGE_CHAIN, u->link[best].line, u->link[best].name,
                 "choose another with --tip",
                 "this link was chosen as the end of the chain; a chain to %s has just as many "
                 "moving joints",
                 others);
}

static void choose_tip(urdf_build_t *b, const char *name) {
    char cure[ROBOT_NAME_MAX + 32];
    size_t tip = urdf_find_link(b->urdf, name);
    if (tip == URDF_NONE) {
        urdf_add(b, MESSAGE_ERROR, MESSAGE_UNKNOWN_NAME, 0, name,
                 suggest(b->urdf, true, name, cure, sizeof cure), "there is no link of this name");
        return;
    }
    if (b->link[tip].moving == 0) {
        urdf_add(b, MESSAGE_ERROR, MESSAGE_CHAIN, b->urdf->link[tip].line, name,
                 "choose a link beyond a moving joint",
                 "no joint between the root %s and this link moves", b->urdf->link[b->root].name);
        return;
    }
    b->tip = b->last = tip;
    while (!b->joint[b->link[b->last].joint_above].moves)
        b->last = b->joint[b->link[b->last].joint_above].parent;
}

static void mark_chain(urdf_build_t *b) {
    size_t count = b->link[b->last].moving;
    if (count > DYN_MAX_JOINTS) {
        urdf_add(b, MESSAGE_ERROR, MESSAGE_LIMIT, b->urdf->link[b->last].line,
                 b->urdf->link[b->last].name, "choose a shorter chain with --tip, or freeze joints",
                 "the chain has %zu moving joints; at most %u are possible", count, DYN_MAX_JOINTS);
        return;
    }
    b->n = (uint32_t)count;
    for (size_t l = b->tip; b->link[l].joint_above != URDF_NONE;) {
        const size_t j = b->link[l].joint_above;
        b->joint[j].on_chain = true;
        if (b->joint[j].moves)
            b->chain[--count] = j;
        l = b->joint[j].parent;
    }
}

/* Computes carrier and pose of every link in rounds, parents before children. */
static void place_links(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    for (size_t i = 0; i < u->links; i++)
        b->link[i].reached = false;
    b->link[b->root].reached = true;
    b->link[b->root].carrier = URDF_NONE;
    b->link[b->root].pose = dyn_pose_identity();
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < u->joints; i++) {
            const urdf_joint_state_t *j = &b->joint[i];
            const urdf_link_state_t *parent = &b->link[j->parent];
            urdf_link_state_t *child = &b->link[j->child];
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

bool urdf_choose_chain(urdf_build_t *b) {
    const urdf_t *u = b->urdf;
    const size_t errors = b->messages->errors;
#define STOP_ON_ERROR()                                                                            \
    if (b->messages->errors != errors)                                                             \
    return false
    check_names(b);
    for (size_t i = 0; i < u->links; i++)
        b->link[i].joint_above = URDF_NONE;
    for (size_t i = 0; i < u->joints; i++) {
        const urdf_joint_t *j = &u->joint[i];
        b->joint[i].moves = j->type != URDF_FIXED && !j->line_mimic;
        connect_joint(b, i);
    }
    STOP_ON_ERROR();
    if (u->links == 0) {
        urdf_add(b, MESSAGE_ERROR, MESSAGE_TREE, u->line, NULL, "give a complete URDF",
                 "the file holds no links");
        return false;
    }
    find_root(b);
    take_freezes(b);
    STOP_ON_ERROR();
    walk_tree(b);
    STOP_ON_ERROR();
    for (size_t i = 0; i < u->joints; i++)
        if (!resolve_mimic(b, i))
            return false;
    if (b->options->tip)
        choose_tip(b, b->options->tip);
    else
        choose_default(b);
    STOP_ON_ERROR();
    mark_chain(b);
    STOP_ON_ERROR();
    place_links(b);
#undef STOP_ON_ERROR
    return true;
}
