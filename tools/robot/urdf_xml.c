/*
 * The XML of a URDF, read with expat. Document types are refused as a whole: no URDF needs one, and
 * with them go external entities and entities that expand without end.
 */
#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/schema.h"
#include "tools/robot/urdf.h"

typedef enum {
    AT_ROOT,
    AT_ROBOT,
    AT_LINK,
    AT_INERTIAL,
    AT_JOINT,
    AT_TRANSMISSION,
    AT_TRANSMISSION_PART, /* joint or actuator in it */
    AT_REDUCTION,
    AT_SKIPPED /* and everything in it */
} at_t;

/* Things that are read over, told once with their count. */
typedef struct {
    char what[96];
    uint32_t line;
    unsigned count;
} skipped_t;

enum { SKIPPED_MAX = 24 };

typedef struct {
    const char *file;
    messages_t *messages;
    XML_Parser parser;
    urdf_t *out;
    at_t stack[URDF_DEPTH_MAX];
    unsigned depth;
    size_t elements;
    bool stopped, told_xacro;
    char prefix[ROBOT_NAME_MAX]; /* "urdf:" where the root is <urdf:robot> */
    char reduction[64];
    size_t reduction_size;
    char reduction_joint[ROBOT_NAME_MAX];
    unsigned reduction_joints;
    double reduction_value;
    uint32_t reduction_line;
    bool saw_mass, saw_inertia, saw_parent, saw_child;
    unsigned seen; /* children of the joint or of the inertial, one bit each */
    skipped_t skipped[SKIPPED_MAX];
    size_t skipped_count;
} reader_t;

static uint32_t here(const reader_t *r) {
    return (uint32_t)XML_GetCurrentLineNumber(r->parser);
}

static const char *subject(const reader_t *r) {
    for (unsigned i = r->depth; i-- > 0;) {
        if (r->stack[i] == AT_LINK && r->out->links > 0)
            return r->out->link[r->out->links - 1].name;
        if (r->stack[i] == AT_JOINT && r->out->joints > 0)
            return r->out->joint[r->out->joints - 1].name;
    }
    return NULL;
}

static void complain(reader_t *r, message_code_t code, const char *cure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void complain(reader_t *r, message_code_t code, const char *cure, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages_add(r->messages, MESSAGE_ERROR, code, (message_place_t){r->file, here(r), subject(r)},
                 cure, "%s", text);
}

static void stop(reader_t *r, message_code_t code, const char *cure, const char *text) {
    if (!r->stopped)
        complain(r, code, cure, "%s", text);
    r->stopped = true;
    XML_StopParser(r->parser, XML_FALSE);
}

static void skip(reader_t *r, const char *what) {
    for (size_t i = 0; i < r->skipped_count; i++)
        if (strcmp(r->skipped[i].what, what) == 0) {
            r->skipped[i].count++;
            return;
        }
    if (r->skipped_count == SKIPPED_MAX) {
        snprintf(r->skipped[SKIPPED_MAX - 1].what, sizeof r->skipped[0].what, "further elements");
        r->skipped[SKIPPED_MAX - 1].count++;
        return;
    }
    skipped_t *s = &r->skipped[r->skipped_count++];
    snprintf(s->what, sizeof s->what, "%.90s", what);
    s->line = here(r);
    s->count = 1;
}

/* ----------------------------------------------------------------------------------------
 * attributes */

static bool is_xacro(reader_t *r, const char *text) {
    if (!strstr(text, "${") && !strstr(text, "$("))
        return false;
    if (!r->told_xacro)
        complain(r, MESSAGE_XACRO, "run xacro first and give the URDF that it writes",
                 "\"%.80s\" is a xacro expression", text);
    r->told_xacro = true;
    return true;
}

static const char *attribute(const XML_Char **attributes, const char *key) {
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], key) == 0)
            return attributes[1];
    return NULL;
}

/* Numbers separated by blanks, exactly `count` of them. */
static bool parse_numbers(reader_t *r, const char *element, const char *key, const char *text,
                          double *out, size_t count) {
    size_t found = 0;
    if (is_xacro(r, text))
        return false;
    for (const char *s = text; *s;) {
        s += strspn(s, " \t\r\n");
        size_t size = strcspn(s, " \t\r\n");
        if (size == 0)
            break;
        char word[64];
        double value = 0;
        snprintf(word, sizeof word, "%.*s", size < 63 ? (int)size : 63, s);
        if (size > 62 || !schema_number(word, &value)) {
            complain(r, MESSAGE_NUMBER, "write a finite decimal number",
                     "<%s %s>: \"%s\" is not a finite decimal number", element, key, word);
            return false;
        }
        if (fabs(value) > SCHEMA_NUMBER_MAX) {
            complain(r, MESSAGE_NUMBER, "use SI units", "<%s %s>: %g is larger than 1e15", element,
                     key, value);
            return false;
        }
        if (found < count)
            out[found] = value;
        found++;
        s += size;
    }
    if (found == count)
        return true;
    complain(r, MESSAGE_COUNT, "separate the numbers by blanks",
             "<%s %s> has %zu numbers where %zu are expected", element, key, found, count);
    return false;
}

/* False where the attribute is absent or bad; a bad one is told. */
static bool numbers(reader_t *r, const XML_Char **attributes, const char *element, const char *key,
                    double *out, size_t count) {
    const char *text = attribute(attributes, key);
    return text && parse_numbers(r, element, key, text, out, count);
}

static bool needed_number(reader_t *r, const XML_Char **attributes, const char *element,
                          const char *key, double *out) {
    if (!attribute(attributes, key)) {
        char cure[80];
        snprintf(cure, sizeof cure, "add %s=\"...\"", key);
        complain(r, MESSAGE_MISSING_KEY, cure, "<%s> has no attribute \"%s\"", element, key);
        return false;
    }
    return numbers(r, attributes, element, key, out, 1);
}

static void name_into(reader_t *r, const XML_Char **attributes, const char *element,
                      const char *key, char out[ROBOT_NAME_MAX]) {
    const char *text = attribute(attributes, key);
    if (!text || !*text) {
        char cure[80];
        snprintf(cure, sizeof cure, "add %s=\"...\"", key);
        complain(r, MESSAGE_MISSING_KEY, cure, "<%s> has no attribute \"%s\"", element, key);
        return;
    }
    if (strlen(text) >= ROBOT_NAME_MAX) {
        complain(r, MESSAGE_LIMIT, "shorten it", "a name of more than %u bytes",
                 ROBOT_NAME_MAX - 1);
        return;
    }
    for (const char *s = text; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) {
            complain(r, MESSAGE_VALUE, "use letters, digits and signs",
                     "a control character in a name");
            return;
        }
    if (!is_xacro(r, text))
        strcpy(out, text);
}

static void not_negative(reader_t *r, const char *element, const char *key, double value) {
    if (value < 0)
        complain(r, MESSAGE_VALUE, "give its amount", "<%s %s> is negative", element, key);
}

/* What may stand in an element. Elsewhere (geometry, colours) nobody looks. */
static const struct {
    const char *element;
    const char *keys[8];
    bool shapes; /* the arm is another one without it: a warning, not a note */
} ATTRIBUTES[] = {
    {"link", {"name", "type"}, false}, /* type was used by old exporters */
    {"joint", {"name", "type"}, false},
    {"inertial", {NULL}, true},
    {"origin", {"xyz", "rpy"}, true},
    {"mass", {"value"}, true},
    {"inertia", {"ixx", "iyy", "izz", "ixy", "iyz", "ixz"}, true},
    {"parent", {"link"}, false},
    {"child", {"link"}, false},
    {"axis", {"xyz"}, true},
    {"limit", {"lower", "upper", "effort", "velocity"}, false},
    {"dynamics", {"damping", "friction"}, false},
    {"mimic", {"joint", "multiplier", "offset"}, true},
};

static void unknown_attributes(reader_t *r, const XML_Char **attributes, const char *element) {
    size_t e = 0;
    while (e < sizeof ATTRIBUTES / sizeof *ATTRIBUTES &&
           strcmp(ATTRIBUTES[e].element, element) != 0)
        e++;
    if (e == sizeof ATTRIBUTES / sizeof *ATTRIBUTES)
        return;
    for (; *attributes; attributes += 2) {
        const char *const *k = ATTRIBUTES[e].keys;
        const char *key = attributes[0];
        while (*k && strcmp(*k, key) != 0)
            k++;
        if (*k || strncmp(key, "xmlns", 5) == 0)
            continue;
        const char *near = messages_nearest(key, ATTRIBUTES[e].keys);
        if (ATTRIBUTES[e].shapes || near) {
            char cure[80] = "remove it; units are those of URDF, turns are given as rpy";
            if (near)
                snprintf(cure, sizeof cure, "did you mean %s?", near);
            messages_add(r->messages, MESSAGE_WARNING, MESSAGE_UNKNOWN_KEY,
                         (message_place_t){r->file, here(r), subject(r)}, cure,
                         "attribute %.40s of <%s> is not used", key, element);
        } else {
            char what[96];
            snprintf(what, sizeof what, "attribute %.40s of <%s>", key, element);
            skip(r, what);
        }
    }
}

/* ------------------------------------------------------------------------------------------
 * elements */

/* An element that is not used. One that looks like a mistyped or misplaced one changes the arm. */
static void skip_element(reader_t *r, const char *name, const char *place,
                         const char *const *known) {
    const char *near = known ? messages_nearest(name, known) : NULL;
    char text[96];
    if (near) {
        snprintf(text, sizeof text, "did you mean <%s>?", near);
        messages_add(r->messages, MESSAGE_WARNING, MESSAGE_UNKNOWN_KEY,
                     (message_place_t){r->file, here(r), subject(r)}, text, "<%.60s>%s is not used",
                     name, place);
        return;
    }
    snprintf(text, sizeof text, "<%.60s>%s", name, place);
    skip(r, text);
}

/* Room for one more; false, with a message, where there is none. */
static bool grow(reader_t *r, void **list, size_t size, size_t count, size_t *room) {
    if (count >= URDF_ITEMS_MAX) {
        stop(r, MESSAGE_LIMIT, "is this one arm?", "more than 1000 links, joints or transmissions");
        return false;
    }
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 32;
    void *bigger = realloc(*list, more * size);
    if (!bigger) {
        stop(r, MESSAGE_MEMORY, NULL, "no memory left");
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
    *link = (urdf_link_t){.line = here(r)};
    name_into(r, attributes, "link", "name", link->name);
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
    *joint = (urdf_joint_t){.line = here(r), .axis = {1, 0, 0}, .multiplier = 1};
    r->saw_parent = r->saw_child = false;
    r->seen = 0;
    name_into(r, attributes, "joint", "name", joint->name);
    name_into(r, attributes, "joint", "type", joint->type_name);
    joint->type = joint_type(joint->type_name);
    return AT_JOINT;
}

static at_t in_robot(reader_t *r, const char *name, const XML_Char **attributes) {
    if (strcmp(name, "link") == 0)
        return begin_link(r, attributes);
    if (strcmp(name, "joint") == 0)
        return begin_joint(r, attributes);
    if (strcmp(name, "transmission") == 0) {
        r->reduction_joint[0] = '\0';
        r->reduction_joints = 0;
        r->reduction_value = 0;
        r->reduction_line = here(r);
        return AT_TRANSMISSION;
    }
    static const char *const known[] = {"link", "joint", "transmission", NULL};
    if (strcmp(name, "material") != 0)
        skip_element(r, name, "", known);
    return AT_SKIPPED;
}

static at_t in_link(reader_t *r, const char *name) {
    urdf_link_t *link = &r->out->link[r->out->links - 1];
    if (strcmp(name, "inertial") == 0) {
        if (link->inertial)
            complain(r, MESSAGE_DUPLICATE_KEY, "keep one of the two", "a second <inertial>");
        link->inertial = true;
        r->saw_mass = r->saw_inertia = false;
        r->seen = 0;
        link->line_mass = link->line_inertia = link->line_origin = here(r);
        return AT_INERTIAL;
    }
    static const char *const known[] = {"inertial", NULL};
    if (strcmp(name, "visual") != 0 && strcmp(name, "collision") != 0)
        skip_element(r, name, " of a link", known);
    return AT_SKIPPED;
}

/* What says the same thing again would win or lose silently: other readers take the first. */
static void only_once(reader_t *r, const char *name, const char *const names[]) {
    for (unsigned i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0) {
            if (r->seen & 1u << i)
                complain(r, MESSAGE_DUPLICATE_KEY, "keep one of the two", "a second <%s>", name);
            r->seen |= 1u << i;
        }
}

static void in_inertial(reader_t *r, const char *name, const XML_Char **attributes) {
    static const char *const names[] = {"mass", "inertia", "origin", NULL};
    static const char *const six[6] = {"ixx", "iyy", "izz", "ixy", "iyz", "ixz"};
    urdf_link_t *link = &r->out->link[r->out->links - 1];
    only_once(r, name, names);
    if (strcmp(name, "mass") == 0) {
        r->saw_mass = true;
        link->line_mass = here(r);
        needed_number(r, attributes, "mass", "value", &link->body.mass);
    } else if (strcmp(name, "inertia") == 0) {
        r->saw_inertia = true;
        link->line_inertia = here(r);
        for (int i = 0; i < 6; i++)
            needed_number(r, attributes, "inertia", six[i], &link->body.inertia[i]);
    } else if (strcmp(name, "origin") == 0) {
        link->line_origin = here(r);
        numbers(r, attributes, "origin", "xyz", link->body.com, 3);
        numbers(r, attributes, "origin", "rpy", link->inertia_rpy, 3);
    } else {
        skip_element(r, name, " of <inertial>", names);
    }
}

static void in_joint(reader_t *r, const char *name, const XML_Char **attributes) {
    static const char *const names[] = {"origin", "parent",   "child", "axis",
                                        "limit",  "dynamics", "mimic", NULL};
    urdf_joint_t *j = &r->out->joint[r->out->joints - 1];
    only_once(r, name, names);
    if (strcmp(name, "origin") == 0) {
        j->line_origin = here(r);
        numbers(r, attributes, "origin", "xyz", j->xyz, 3);
        numbers(r, attributes, "origin", "rpy", j->rpy, 3);
    } else if (strcmp(name, "parent") == 0) {
        r->saw_parent = true;
        name_into(r, attributes, "parent", "link", j->parent);
    } else if (strcmp(name, "child") == 0) {
        r->saw_child = true;
        name_into(r, attributes, "child", "link", j->child);
    } else if (strcmp(name, "axis") == 0) {
        j->line_axis = here(r);
        if (!attribute(attributes, "xyz"))
            complain(r, MESSAGE_MISSING_KEY, "add xyz=\"0 0 1\"",
                     "<axis> has no attribute \"xyz\"");
        numbers(r, attributes, "axis", "xyz", j->axis, 3);
    } else if (strcmp(name, "limit") == 0) {
        j->line_limit = here(r);
        j->has_lower = numbers(r, attributes, "limit", "lower", &j->lower, 1);
        j->has_upper = numbers(r, attributes, "limit", "upper", &j->upper, 1);
        j->has_effort = numbers(r, attributes, "limit", "effort", &j->effort, 1);
        j->has_velocity = numbers(r, attributes, "limit", "velocity", &j->velocity, 1);
        not_negative(r, "limit", "effort", j->effort);
        not_negative(r, "limit", "velocity", j->velocity);
    } else if (strcmp(name, "dynamics") == 0) {
        j->line_dynamics = here(r);
        j->has_damping = numbers(r, attributes, "dynamics", "damping", &j->damping, 1);
        j->has_friction = numbers(r, attributes, "dynamics", "friction", &j->friction, 1);
        not_negative(r, "dynamics", "damping", j->damping);
        not_negative(r, "dynamics", "friction", j->friction);
    } else if (strcmp(name, "mimic") == 0) {
        j->line_mimic = here(r);
        name_into(r, attributes, "mimic", "joint", j->mimic);
        numbers(r, attributes, "mimic", "multiplier", &j->multiplier, 1);
        numbers(r, attributes, "mimic", "offset", &j->offset, 1);
    } else {
        skip_element(r, name, " of a joint", names);
    }
}

static at_t in_transmission(reader_t *r, const char *name, const XML_Char **attributes) {
    if (strcmp(name, "joint") == 0) {
        r->reduction_joints++;
        name_into(r, attributes, "joint", "name", r->reduction_joint);
        return AT_TRANSMISSION_PART;
    }
    if (strcmp(name, "actuator") == 0)
        return AT_TRANSMISSION_PART;
    if (strcmp(name, "mechanicalReduction") == 0) {
        r->reduction_size = 0;
        r->reduction_line = here(r);
        return AT_REDUCTION;
    }
    /* How a driver talks to the joint says nothing about the arm. */
    if (strcmp(name, "type") != 0 && strcmp(name, "hardwareInterface") != 0)
        skip_element(r, name, " of a transmission", NULL);
    return AT_SKIPPED;
}

static at_t begin_root(reader_t *r, const char *name, const XML_Char **attributes) {
    const char *colon = strrchr(name, ':');
    const char *local = colon ? colon + 1 : name;
    if (strcmp(local, "robot") != 0) {
        char text[120];
        snprintf(text, sizeof text, "the root element is <%.60s>, a URDF has <robot>", name);
        stop(r, MESSAGE_FORMAT,
             strcmp(local, "sdf") == 0 ? "convert the SDF to a URDF first" : "give a URDF", text);
        return AT_SKIPPED;
    }
    if (colon && (size_t)(colon + 1 - name) < sizeof r->prefix)
        snprintf(r->prefix, sizeof r->prefix, "%.*s", (int)(colon + 1 - name), name);
    r->out->line = here(r);
    if (attribute(attributes, "name"))
        name_into(r, attributes, "robot", "name", r->out->name);
    return AT_ROBOT;
}

static void XMLCALL on_begin(void *context, const XML_Char *name, const XML_Char **attributes) {
    reader_t *r = context;
    if (r->stopped)
        return;
    if (++r->elements > URDF_ELEMENTS_MAX) {
        stop(r, MESSAGE_LIMIT, "is this one arm?", "more than 200000 elements");
        return;
    }
    if (r->depth == URDF_DEPTH_MAX) {
        stop(r, MESSAGE_LIMIT, "a URDF needs 6 levels", "nested deeper than 64 levels");
        return;
    }
    at_t at = AT_SKIPPED, where = r->depth ? r->stack[r->depth - 1] : AT_ROOT;
    const size_t prefix = strlen(r->prefix);
    if (prefix > 0 && strncmp(name, r->prefix, prefix) == 0)
        name += prefix;
    if (strncmp(name, "xacro:", 6) == 0) {
        if (!r->told_xacro)
            complain(r, MESSAGE_XACRO, "run xacro first and give the URDF that it writes",
                     "<%.60s> is a xacro element", name);
        r->told_xacro = true;
    } else if (where == AT_ROOT) {
        at = begin_root(r, name, attributes);
    } else if (where == AT_ROBOT) {
        at = in_robot(r, name, attributes);
    } else if (where == AT_LINK) {
        at = in_link(r, name);
    } else if (where == AT_INERTIAL) {
        in_inertial(r, name, attributes);
    } else if (where == AT_JOINT) {
        in_joint(r, name, attributes);
    } else if (where == AT_TRANSMISSION || where == AT_TRANSMISSION_PART) {
        at = in_transmission(r, name, attributes);
    }
    if (r->stopped)
        return;
    r->stack[r->depth++] = at;
    /* Behind the push: a link or joint is the subject of its own attributes. */
    if (where == AT_INERTIAL || where == AT_JOINT || at == AT_LINK || at == AT_JOINT ||
        at == AT_INERTIAL)
        unknown_attributes(r, attributes, name);
}

static void end_transmission(reader_t *r) {
    if (r->reduction_value == 0)
        return;
    if (r->reduction_joints != 1) {
        skip(r, "transmission of several joints");
        return;
    }
    /* Its joint may stand further down: names are looked up when all is read. */
    urdf_t *u = r->out;
    void *list = u->transmission;
    if (!grow(r, &list, sizeof *u->transmission, u->transmissions, &u->transmission_room))
        return;
    u->transmission = list;
    urdf_transmission_t *t = &u->transmission[u->transmissions++];
    *t = (urdf_transmission_t){.line = r->reduction_line, .reduction = r->reduction_value};
    strcpy(t->joint, r->reduction_joint);
}

static void XMLCALL on_end(void *context, const XML_Char *name) {
    reader_t *r = context;
    (void)name;
    if (r->stopped || r->depth == 0)
        return;
    switch (r->stack[r->depth - 1]) {
    case AT_INERTIAL:
        if (!r->saw_mass)
            complain(r, MESSAGE_MISSING_KEY, "add <mass value=\"...\"/>",
                     "<inertial> has no <mass>");
        if (!r->saw_inertia)
            complain(r, MESSAGE_MISSING_KEY, "add <inertia ixx=... />",
                     "<inertial> has no <inertia>");
        break;
    case AT_JOINT:
        if (!r->saw_parent || !r->saw_child)
            complain(r, MESSAGE_MISSING_KEY, "add <parent link=\"...\"/> and <child link=\"...\"/>",
                     "the joint has no <%s>", r->saw_parent ? "child" : "parent");
        break;
    case AT_REDUCTION: {
        char text[sizeof r->reduction];
        snprintf(text, sizeof text, "%.*s", (int)r->reduction_size, r->reduction);
        if (r->reduction_size == 0)
            skip(r, "<mechanicalReduction> without a number");
        else if (parse_numbers(r, "mechanicalReduction", "text", text, &r->reduction_value, 1) &&
                 r->reduction_value == 0)
            skip(r, "<mechanicalReduction> of 0");
        break;
    }
    case AT_TRANSMISSION:
        end_transmission(r);
        break;
    default:
        break;
    }
    r->depth--;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int size) {
    reader_t *r = context;
    if (r->stopped || r->depth == 0 || r->stack[r->depth - 1] != AT_REDUCTION)
        return;
    for (; r->reduction_size == 0 && size > 0 && strchr(" \t\r\n", *text); text++)
        size--;
    size_t room = sizeof r->reduction - 1 - r->reduction_size;
    size_t take = (size_t)size < room ? (size_t)size : room;
    memcpy(r->reduction + r->reduction_size, text, take);
    r->reduction_size += take;
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int has_internal) {
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    stop(context, MESSAGE_ENTITY, "remove the <!DOCTYPE ...>",
         "a document type is refused: a URDF needs no entities");
}

static void XMLCALL on_entity(void *context, const XML_Char *name, int parameter,
                              const XML_Char *value, int size, const XML_Char *base,
                              const XML_Char *system, const XML_Char *public,
                              const XML_Char *notation) {
    (void)name, (void)parameter, (void)value, (void)size, (void)base;
    (void)system, (void)public, (void)notation;
    stop(context, MESSAGE_ENTITY, "remove it", "an entity is refused");
}

/* ------------------------------------------------------------------------------------------------
 */

static void settle_transmissions(reader_t *r) {
    urdf_t *u = r->out;
    for (size_t i = 0; i < u->transmissions; i++) {
        const urdf_transmission_t *t = &u->transmission[i];
        size_t k = 0;
        while (k < u->joints && strcmp(u->joint[k].name, t->joint) != 0)
            k++;
        if (k < u->joints) {
            if (u->joint[k].reduction != 0)
                messages_add(r->messages, MESSAGE_WARNING, MESSAGE_DUPLICATE_NAME,
                             (message_place_t){r->file, t->line, t->joint}, "keep one of them",
                             "a second transmission of this joint: %g instead of %g is used",
                             t->reduction, u->joint[k].reduction);
            u->joint[k].reduction = t->reduction;
            u->joint[k].line_reduction = t->line;
        } else {
            messages_add(r->messages, MESSAGE_WARNING, MESSAGE_UNKNOWN_NAME,
                         (message_place_t){r->file, t->line, t->joint}, "check its name",
                         "a transmission for a joint that does not exist");
        }
    }
}

static void report_skipped(reader_t *r) {
    for (size_t i = 0; i < r->skipped_count; i++)
        messages_add(r->messages, MESSAGE_NOTE, MESSAGE_IGNORED,
                     (message_place_t){r->file, r->skipped[i].line, NULL}, "",
                     "%s: not used (%u found, the first here)", r->skipped[i].what,
                     r->skipped[i].count);
}

int urdf_read(const char *file, const char *bytes, size_t size, urdf_t *out, messages_t *messages) {
    const size_t errors = messages->errors;
    *out = (urdf_t){0};
    reader_t *r = calloc(1, sizeof *r);
    XML_Parser parser = r ? XML_ParserCreate(NULL) : NULL;
    if (!parser) {
        free(r);
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, (message_place_t){file, 0, NULL}, "",
                     "no memory left for the XML parser");
        return -1;
    }
    *r = (reader_t){.file = file, .messages = messages, .parser = parser, .out = out};
    XML_SetUserData(parser, r);
    XML_SetElementHandler(parser, on_begin, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    XML_SetEntityDeclHandler(parser, on_entity);
    XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_NEVER);
    if (XML_Parse(parser, bytes, (int)size, 1) != XML_STATUS_OK && !r->stopped) {
        r->depth = 0;
        const bool late = XML_GetErrorCode(parser) == XML_ERROR_MISPLACED_XML_PI;
        complain(r, MESSAGE_SYNTAX,
                 late ? "remove what stands before <?xml" : "check the tags at and above this line",
                 "not well-formed XML: %s", XML_ErrorString(XML_GetErrorCode(parser)));
    }
    XML_ParserFree(parser);
    if (messages->errors == errors) {
        settle_transmissions(r);
        report_skipped(r);
    }
    free(r);
    return messages->errors == errors ? 0 : -1;
}

void urdf_free(urdf_t *urdf) {
    free(urdf->link);
    free(urdf->joint);
    free(urdf->transmission);
    *urdf = (urdf_t){0};
}
