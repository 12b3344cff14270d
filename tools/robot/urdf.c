/*
 * Makes one serial chain from the tree of a URDF: chooses the chain (urdf_chain.c), fixes all links
 * that are not on it and lumps each into the link that carries it (urdf_arm.c). A note names each
 * lumped link.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/readers.h"
#include "tools/robot/urdf_build.h"

void urdf_add(urdf_build_t *b, message_severity_t severity, message_code_t code, uint32_t line,
              const char *subject, const char *cure, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages_add(b->messages, severity, code, (message_place_t){b->file, line, subject}, cure, "%s",
                 text);
}

size_t urdf_find_link(const urdf_t *u, const char *name) {
    for (size_t i = 0; i < u->links; i++)
        if (strcmp(u->link[i].name, name) == 0)
            return i;
    return URDF_NONE;
}

size_t urdf_find_joint(const urdf_t *u, const char *name) {
    for (size_t i = 0; i < u->joints; i++)
        if (strcmp(u->joint[i].name, name) == 0)
            return i;
    return URDF_NONE;
}

static bool inside(const urdf_joint_t *j, double value) {
    if (j->type == URDF_CONTINUOUS || !j->has_lower || !j->has_upper)
        return true;
    return value >= j->lower && value <= j->upper;
}

static void note_joint(urdf_build_t *b, size_t i) {
    const urdf_joint_t *j = &b->urdf->joint[i];
    const urdf_joint_state_t *state = &b->joint[i];
    const char *unit = j->type == URDF_PRISMATIC ? "m" : "rad";
    if (j->type == URDF_FIXED || (state->moves && state->on_chain))
        return;
    if (j->line_mimic && !state->user) {
        size_t master = i;
        while (b->urdf->joint[master].line_mimic && !b->joint[master].user)
            master = urdf_find_joint(b->urdf, b->urdf->joint[master].mimic);
        const bool runs = b->joint[master].moves && b->joint[master].on_chain;
        urdf_add(b, runs ? MESSAGE_WARNING : MESSAGE_NOTE, MESSAGE_MIMIC, j->line_mimic, j->name,
                 runs ? "choose a tip before the mimicked joint, or freeze that joint" : NULL,
                 runs ? "the joint mimics %s, a moving joint of the chain; in a serial arm joints "
                        "are independent, so this joint is fixed at %g %s"
                      : "the joint mimics %s and is fixed at %g %s",
                 runs ? b->urdf->joint[master].name : j->mimic, state->value, unit);
    } else {
        urdf_add(b, MESSAGE_NOTE, MESSAGE_FROZEN, j->line, j->name,
                 state->user ? NULL : "choose another position with --freeze",
                 "%s, so it is frozen at %g %s",
                 state->user ? "--freeze names the joint" : "the joint is not on the chain",
                 state->value, unit);
    }
    if (!inside(j, state->value))
        urdf_add(b, MESSAGE_WARNING, MESSAGE_FROZEN, j->line_limit, j->name,
                 "choose a possible position with --freeze",
                 "the position %g %s is outside of the joint's limits %g to %g", state->value, unit,
                 j->lower, j->upper);
}

static void note_link(urdf_build_t *b, size_t i) {
    const urdf_link_t *link = &b->urdf->link[i];
    const urdf_link_state_t *state = &b->link[i];
    const bool carrier = state->carrier != URDF_NONE && b->joint[state->carrier].child == i;
    if (carrier) {
        if (!link->inertial)
            urdf_add(b, MESSAGE_NOTE, MESSAGE_NO_INERTIA, link->line, link->name, NULL,
                     "the link has no <inertial>, so it counts as massless");
        return;
    }
    if (state->carrier == URDF_NONE) {
        if (link->body.mass != 0)
            urdf_add(b, MESSAGE_NOTE, MESSAGE_LUMPED, link->line, link->name, NULL,
                     "%.6g kg belong to the base and never move", link->body.mass);
        else
            urdf_add(b, MESSAGE_NOTE, MESSAGE_LUMPED, link->line, link->name, NULL,
                     "the link belongs to the base and has no mass");
        return;
    }
    urdf_add(b, MESSAGE_NOTE, MESSAGE_LUMPED, link->line, link->name, NULL,
             "%.6g kg%s move with the link %s", link->body.mass,
             link->inertial ? "" : " (no <inertial>)",
             b->urdf->link[b->joint[state->carrier].child].name);
}

static void build(urdf_build_t *b, robot_t *out) {
    const urdf_t *u = b->urdf;
    if (!urdf_choose_chain(b))
        return;
    urdf_add(b, MESSAGE_NOTE, MESSAGE_CHAIN, u->line, u->link[b->root].name, NULL,
             "the chain has %u moving joint%s, from this link to %s; the tool frame is that of %s; "
             "gravity is %s this link",
             (unsigned)b->n, b->n == 1 ? "" : "s", u->link[b->last].name, u->link[b->tip].name,
             b->options->gravity ? "given by --gravity along the axes of"
                                 : "9.81 m/s^2 along -z of");
    for (size_t i = 0; i < u->joints; i++)
        note_joint(b, i);
    for (size_t i = 0; i < u->links; i++)
        note_link(b, i);
    urdf_take_arm(b, out);
    if (!urdf_take_pieces(b, out))
        urdf_add(b, MESSAGE_ERROR, MESSAGE_MEMORY, 0, NULL, NULL, "there is not enough memory");
}

int reader_urdf(const char *file, const char *bytes, size_t size, const robot_options_t *options,
                robot_t *out, messages_t *messages) {
    urdf_t urdf;
    const size_t errors = messages->errors;
    out->format = ROBOT_FORMAT_URDF;
    if (urdf_read(file, bytes, size, &urdf, messages) == 0) {
        urdf_build_t *b = calloc(1, sizeof *b);
        urdf_link_state_t *link = calloc(urdf.links + 1, sizeof *link);
        urdf_joint_state_t *joint = calloc(urdf.joints + 1, sizeof *joint);
        if (b && link && joint) {
            *b = (urdf_build_t){.file = file,
                                .urdf = &urdf,
                                .options = options,
                                .messages = messages,
                                .link = link,
                                .joint = joint,
                                .root = URDF_NONE};
            build(b, out);
        } else {
            messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, (message_place_t){file, 0, NULL},
                         "", "there is not enough memory");
        }
        free(b);
        free(link);
        free(joint);
    }
    urdf_free(&urdf);
    return messages->errors == errors ? 0 : -1;
}
