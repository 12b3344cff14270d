/* Reads the elements of a URDF, for tools/robot/urdf_xml.h: which values of each element go into
 * the urdf_t, and which children it may have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/urdf_xml.h"

/* Reports an element that is not used. It is a warning if the name resembles a known one, because a
 * mistyped or misplaced element changes the arm. */
static void skip_element(reader_t *r, const char *name, const char *place,
                         const char *const *known) {
    const char *near = known ? messages_nearest(name, known) : NULL;
    char text[96];
    if (near) {
        snprintf(text, sizeof text, "did you mean <%s>?", near);
        messages_add(r->messages, MESSAGE_WARNING, MESSAGE_UNKNOWN_KEY,
                     (message_place_t){r->file, xml_here(r), xml_subject(r)}, text,
                     "<%.60s>%s is not used", name, place);
        return;
    }
    snprintf(text, sizeof text, "<%.60s>%s", name, place);
    xml_skip(r, text);
}

/* Makes room for one more entry of a list. Returns false with a message if that is impossible. */
static bool grow(reader_t *r, void **list, size_t size, size_t count, size_t *room) {
    if (count >= URDF_ITEMS_MAX) {
        xml_stop(r, MESSAGE_LIMIT, "is this one arm?",
                 "the file has more than 1000 links, joints or transmissions");
        return false;
    }
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 32;
    void *bigger = realloc(*list, more * size);
    if (!bigger) {
        xml_stop(r, MESSAGE_MEMORY, NULL, "there is not enough memory");
        return false;
    }
    *list = bigger;
    *room = more;
    return true;
}

static at_t begin_link(reader_t *r, const XML_Char **attributes) {
    urdf_t *u = r->out;
    void *list = u->link;
    if (!grow(r, &list, sizeof *u->link, u->links, &u->link_room))
        return AT_SKIPPED;
    u->link = list;
    urdf_link_t *link = &u->link[u->links++];
    *link = (urdf_link_t){.line = xml_here(r)};
    xml_name(r, attributes, "link", "name", link->name);
    return AT_LINK;
}

static urdf_type_t joint_type(const char *name) {
    static const char *const names[] = {"fixed", "revolute", "continuous", "prismatic"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (urdf_type_t)i;
    return URDF_OTHER;
}

static at_t begin_joint(reader_t *r, const XML_Char **attributes) {
    urdf_t *u = r->out;
    void *list = u->joint;
    if (!grow(r, &list, sizeof *u->joint, u->joints, &u->joint_room))
        return AT_SKIPPED;
    u->joint = list;
    urdf_joint_t *joint = &u->joint[u->joints++];
    *joint = (urdf_joint_t){.line = xml_here(r), .axis = {1, 0, 0}, .multiplier = 1};
    r->saw_parent = r->saw_child = false;
    r->seen = 0;
    xml_name(r, attributes, "joint", "name", joint->name);
    xml_name(r, attributes, "joint", "type", joint->type_name);
    joint->type = joint_type(joint->type_name);
    return AT_JOINT;
}

at_t xml_in_robot(reader_t *r, const char *name, const XML_Char **attributes) {
    if (strcmp(name, "link") == 0)
        return begin_link(r, attributes);
    if (strcmp(name, "joint") == 0)
        return begin_joint(r, attributes);
    if (strcmp(name, "transmission") == 0) {
        r->reduction_joint[0] = '\0';
        r->reduction_joints = 0;
        r->reduction_value = 0;
        r->reduction_line = xml_here(r);
        return AT_TRANSMISSION;
    }
    static const char *const known[] = {"link", "joint", "transmission", NULL};
    if (strcmp(name, "material") != 0)
        skip_element(r, name, "", known);
    return AT_SKIPPED;
}

at_t xml_in_link(reader_t *r, const char *name) {
    urdf_link_t *link = &r->out->link[r->out->links - 1];
    if (strcmp(name, "inertial") == 0) {
        if (link->inertial)
            xml_complain(r, MESSAGE_DUPLICATE_KEY, "keep one of the two",
                         "the link has a second <inertial>");
        link->inertial = true;
        r->saw_mass = r->saw_inertia = false;
        r->seen = 0;
        link->line_mass = link->line_inertia = link->line_origin = xml_here(r);
        return AT_INERTIAL;
    }
    static const char *const known[] = {"inertial", NULL};
    if (strcmp(name, "visual") != 0 && strcmp(name, "collision") != 0)
        skip_element(r, name, " of a link", known);
    return AT_SKIPPED;
}

/* Reports a repeated element, because it is not defined which one is valid: other readers take the
 * first. */
static void only_once(reader_t *r, const char *name, const char *const names[]) {
    for (unsigned i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0) {
            if (r->seen & 1u << i)
                xml_complain(r, MESSAGE_DUPLICATE_KEY, "keep one of the two",
                             "there is a second <%s>", name);
            r->seen |= 1u << i;
        }
}

void xml_in_inertial(reader_t *r, const char *name, const XML_Char **attributes) {
    static const char *const names[] = {"mass", "inertia", "origin", NULL};
    static const char *const six[6] = {"ixx", "iyy", "izz", "ixy", "iyz", "ixz"};
    urdf_link_t *link = &r->out->link[r->out->links - 1];
    only_once(r, name, names);
    if (strcmp(name, "mass") == 0) {
        r->saw_mass = true;
        link->line_mass = xml_here(r);
        xml_needed_number(r, attributes, "mass", "value", &link->body.mass);
    } else if (strcmp(name, "inertia") == 0) {
        r->saw_inertia = true;
        link->line_inertia = xml_here(r);
        for (int i = 0; i < 6; i++)
            xml_needed_number(r, attributes, "inertia", six[i], &link->body.inertia[i]);
    } else if (strcmp(name, "origin") == 0) {
        link->line_origin = xml_here(r);
        xml_numbers(r, attributes, "origin", "xyz", link->body.com, 3);
        xml_numbers(r, attributes, "origin", "rpy", link->inertia_rpy, 3);
    } else {
        skip_element(r, name, " of <inertial>", names);
    }
}

void xml_in_joint(reader_t *r, const char *name, const XML_Char **attributes) {
    static const char *const names[] = {"origin", "parent",   "child", "axis",
                                        "limit",  "dynamics", "mimic", NULL};
    urdf_joint_t *j = &r->out->joint[r->out->joints - 1];
    only_once(r, name, names);
    if (strcmp(name, "origin") == 0) {
        j->line_origin = xml_here(r);
        xml_numbers(r, attributes, "origin", "xyz", j->xyz, 3);
        xml_numbers(r, attributes, "origin", "rpy", j->rpy, 3);
    } else if (strcmp(name, "parent") == 0) {
        r->saw_parent = true;
        xml_name(r, attributes, "parent", "link", j->parent);
    } else if (strcmp(name, "child") == 0) {
        r->saw_child = true;
        xml_name(r, attributes, "child", "link", j->child);
    } else if (strcmp(name, "axis") == 0) {
        j->line_axis = xml_here(r);
        if (!xml_attribute(attributes, "xyz"))
            xml_complain(r, MESSAGE_MISSING_KEY, "add xyz=\"0 0 1\"",
                         "<axis> has no attribute \"xyz\"");
        xml_numbers(r, attributes, "axis", "xyz", j->axis, 3);
    } else if (strcmp(name, "limit") == 0) {
        j->line_limit = xml_here(r);
        j->has_lower = xml_numbers(r, attributes, "limit", "lower", &j->lower, 1);
        j->has_upper = xml_numbers(r, attributes, "limit", "upper", &j->upper, 1);
        j->has_effort = xml_numbers(r, attributes, "limit", "effort", &j->effort, 1);
        j->has_velocity = xml_numbers(r, attributes, "limit", "velocity", &j->velocity, 1);
        xml_not_negative(r, "limit", "effort", j->effort);
        xml_not_negative(r, "limit", "velocity", j->velocity);
    } else if (strcmp(name, "dynamics") == 0) {
        j->line_dynamics = xml_here(r);
        j->has_damping = xml_numbers(r, attributes, "dynamics", "damping", &j->damping, 1);
        j->has_friction = xml_numbers(r, attributes, "dynamics", "friction", &j->friction, 1);
        xml_not_negative(r, "dynamics", "damping", j->damping);
        xml_not_negative(r, "dynamics", "friction", j->friction);
    } else if (strcmp(name, "mimic") == 0) {
        j->line_mimic = xml_here(r);
        xml_name(r, attributes, "mimic", "joint", j->mimic);
        xml_numbers(r, attributes, "mimic", "multiplier", &j->multiplier, 1);
        xml_numbers(r, attributes, "mimic", "offset", &j->offset, 1);
    } else {
        skip_element(r, name, " of a joint", names);
    }
}

at_t xml_in_transmission(reader_t *r, const char *name, const XML_Char **attributes) {
    if (strcmp(name, "joint") == 0) {
        r->reduction_joints++;
        xml_name(r, attributes, "joint", "name", r->reduction_joint);
        return AT_TRANSMISSION_PART;
    }
    if (strcmp(name, "actuator") == 0)
        return AT_TRANSMISSION_PART;
    if (strcmp(name, "mechanicalReduction") == 0) {
        r->reduction_size = 0;
        r->reduction_line = xml_here(r);
        return AT_REDUCTION;
    }
    /* Type and hardware interface of a transmission do not change the arm, so they are skipped
     * silently. */
    if (strcmp(name, "type") != 0 && strcmp(name, "hardwareInterface") != 0)
        skip_element(r, name, " of a transmission", NULL);
    return AT_SKIPPED;
}

at_t xml_begin_root(reader_t *r, const char *name, const XML_Char **attributes) {
    const char *colon = strrchr(name, ':');
    const char *local = colon ? colon + 1 : name;
    if (strcmp(local, "robot") != 0) {
        char text[120];
        snprintf(text, sizeof text, "the root element is <%.60s>; that of a URDF is <robot>", name);
        xml_stop(r, MESSAGE_FORMAT,
                 strcmp(local, "sdf") == 0 ? "convert the SDF to a URDF first" : "give a URDF",
                 text);
        return AT_SKIPPED;
    }
    if (colon && (size_t)(colon + 1 - name) < sizeof r->prefix)
        snprintf(r->prefix, sizeof r->prefix, "%.*s", (int)(colon + 1 - name), name);
    r->out->line = xml_here(r);
    if (xml_attribute(attributes, "name"))
        xml_name(r, attributes, "robot", "name", r->out->name);
    return AT_ROBOT;
}

void xml_end_transmission(reader_t *r) {
    if (r->reduction_value == 0)
        return;
    if (r->reduction_joints != 1) {
        xml_skip(r, "transmission of several joints");
        return;
    }
    /* The joint of the transmission may follow later in the file, so its name is looked up after
     * everything is read. */
    urdf_t *u = r->out;
    void *list = u->transmission;
    if (!grow(r, &list, sizeof *u->transmission, u->transmissions, &u->transmission_room))
        return;
    u->transmission = list;
    urdf_transmission_t *t = &u->transmission[u->transmissions++];
    *t = (urdf_transmission_t){.line = r->reduction_line, .reduction = r->reduction_value};
    strcpy(t->joint, r->reduction_joint);
}
