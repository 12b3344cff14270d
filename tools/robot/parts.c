/*
 * Reads parts databases (Swartz 1982, "Dynamic Description"). Simple solids, called sections, make
 * parts; parts make links, in frames that suit the drawings; the links are then transformed into
 * the frames of the arm. tools/robots/README.md describes the schema.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/readers.h"
#include "tools/robot/solid.h"

#define SECTIONS_MAX 500u
#define PARTS_MAX    500u

typedef struct {
    char name[ROBOT_NAME_MAX];
    double density;
} raw_material_t;

typedef struct {
    uint32_t shape;
    double radius, inner_radius, top_radius, length, size[3];
    double density, mass;
    char material[ROBOT_NAME_MAX];
    uint32_t hole;
    raw_pose_t pose;
} raw_section_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    raw_section_t *sections;
    uint32_t sections_count;
} raw_part_t;

typedef struct {
    char part[ROBOT_NAME_MAX];
    raw_pose_t pose;
} raw_use_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    raw_pose_t frame;
    raw_use_t *parts;
    uint32_t parts_count;
} raw_part_link_t;

typedef struct {
    raw_robot_t robot;
    raw_material_t *materials;
    uint32_t materials_count;
    raw_part_t *parts;
    uint32_t parts_count;
    raw_part_link_t *links;
    uint32_t links_count;
} raw_parts_t;

static const cyaml_strval_t shapes[] = {
    {"cylinder", SOLID_CYLINDER}, {"semi_cylinder", SOLID_SEMI_CYLINDER},
    {"cone", SOLID_CONE},         {"frustum", SOLID_FRUSTUM},
    {"sphere", SOLID_SPHERE},     {"box", SOLID_BOX},
    {"tube", SOLID_TUBE}};

static const cyaml_schema_field_t material_fields[] = {
    CYAML_FIELD_STRING("name", 0, raw_material_t, name, 1),
    CYAML_FIELD_FLOAT("density", 0, raw_material_t, density), CYAML_FIELD_END};
static const cyaml_schema_value_t material_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_material_t, material_fields)};

static const cyaml_schema_field_t section_fields[] = {
    CYAML_FIELD_ENUM("shape", RAW_STRICT, raw_section_t, shape, shapes,
                     sizeof shapes / sizeof shapes[0]),
    CYAML_FIELD_FLOAT("radius", RAW_OPTIONAL, raw_section_t, radius),
    CYAML_FIELD_FLOAT("inner_radius", RAW_OPTIONAL, raw_section_t, inner_radius),
    CYAML_FIELD_FLOAT("top_radius", RAW_OPTIONAL, raw_section_t, top_radius),
    CYAML_FIELD_FLOAT("length", RAW_OPTIONAL, raw_section_t, length),
    CYAML_FIELD_SEQUENCE_FIXED("size", RAW_OPTIONAL, raw_section_t, size, &raw_number, 3),
    CYAML_FIELD_FLOAT("density", RAW_OPTIONAL, raw_section_t, density),
    CYAML_FIELD_FLOAT("mass", RAW_OPTIONAL, raw_section_t, mass),
    CYAML_FIELD_STRING("material", RAW_OPTIONAL, raw_section_t, material, 1),
    CYAML_FIELD_ENUM("hole", RAW_OPTIONAL | RAW_STRICT, raw_section_t, hole, raw_yes_no, 2),
    CYAML_FIELD_MAPPING("pose", RAW_OPTIONAL, raw_section_t, pose, raw_pose_fields),
    CYAML_FIELD_END};
static const cyaml_schema_value_t section_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_section_t, section_fields)};

static const cyaml_schema_field_t part_fields[] = {
    CYAML_FIELD_STRING("name", 0, raw_part_t, name, 1),
    CYAML_FIELD_SEQUENCE("sections", CYAML_FLAG_POINTER, raw_part_t, sections, &section_value, 1,
                         SECTIONS_MAX),
    CYAML_FIELD_END};
static const cyaml_schema_value_t part_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_part_t, part_fields)};

static const cyaml_schema_field_t use_fields[] = {
    CYAML_FIELD_STRING("part", 0, raw_use_t, part, 1),
    CYAML_FIELD_MAPPING("pose", RAW_OPTIONAL, raw_use_t, pose, raw_pose_fields), CYAML_FIELD_END};
static const cyaml_schema_value_t use_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_use_t, use_fields)};

static const cyaml_schema_field_t link_fields[] = {
    CYAML_FIELD_STRING("name", 0, raw_part_link_t, name, 1),
    CYAML_FIELD_MAPPING("frame", RAW_OPTIONAL, raw_part_link_t, frame, raw_pose_fields),
    CYAML_FIELD_SEQUENCE("parts", CYAML_FLAG_POINTER, raw_part_link_t, parts, &use_value, 1,
                         PARTS_MAX),
    CYAML_FIELD_END};
static const cyaml_schema_value_t link_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_part_link_t, link_fields)};

static const cyaml_schema_field_t joint_fields[] = {
    RAW_JOINT_FIELDS, CYAML_FIELD_STRING("link", 0, raw_joint_t, part_link, 1), CYAML_FIELD_END};
static const cyaml_schema_value_t joint_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_joint_t, joint_fields)};

/* raw_robot_t is the first member of raw_parts_t, so its offsets are valid there. */
static const cyaml_schema_field_t parts_fields[] = {
    RAW_ROBOT_FIELDS(raw_robot_t, &joint_value),
    CYAML_FIELD_SEQUENCE("materials", RAW_OPTIONAL | CYAML_FLAG_POINTER, raw_parts_t, materials,
                         &material_value, 1, PARTS_MAX),
    CYAML_FIELD_SEQUENCE("parts", CYAML_FLAG_POINTER, raw_parts_t, parts, &part_value, 1,
                         PARTS_MAX),
    CYAML_FIELD_SEQUENCE("links", CYAML_FLAG_POINTER, raw_parts_t, links, &link_value, 1,
                         DYN_MAX_JOINTS),
    CYAML_FIELD_END};
static const cyaml_schema_value_t parts_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, raw_parts_t, parts_fields)};

/* --------------------------------------------------------------------------------------- checks */

typedef struct {
    const tree_t *tree;
    messages_t *messages;
    const raw_parts_t *raw;
} context_t;

static void complain(const context_t *c, message_code_t code, uint32_t line, const char *subject,
                     const char *cure, const char *text) {
    messages_add(c->messages, MESSAGE_ERROR, code, (message_place_t){c->tree->file, line, subject},
                 cure, "%s", text);
}

/* The dimensions that each shape has. A surplus key is an error just like a missing one. */
static const struct {
    const char *key;
    uint32_t shapes;
} dimensions[] = {{"radius", 1u << SOLID_CYLINDER | 1u << SOLID_SEMI_CYLINDER | 1u << SOLID_CONE |
                                 1u << SOLID_FRUSTUM | 1u << SOLID_SPHERE | 1u << SOLID_TUBE},
                  {"length", 1u << SOLID_CYLINDER | 1u << SOLID_SEMI_CYLINDER | 1u << SOLID_CONE |
                                 1u << SOLID_FRUSTUM | 1u << SOLID_TUBE},
                  {"inner_radius", 1u << SOLID_TUBE},
                  {"top_radius", 1u << SOLID_FRUSTUM},
                  {"size", 1u << SOLID_BOX}};

static bool check_dimensions(const context_t *c, const tree_node_t *node, const char *part,
                             const raw_section_t *s) {
    const size_t before = c->messages->errors;
    char text[120];
    for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++) {
        const bool wanted = dimensions[i].shapes >> s->shape & 1u;
        const tree_node_t *here = tree_get(node, dimensions[i].key);
        if (wanted && !here) {
            snprintf(text, sizeof text, "a %s needs %s", shapes[s->shape].str, dimensions[i].key);
            complain(c, MESSAGE_MISSING_KEY, node->line, part, "give it in metres", text);
        } else if (here && !wanted) {
            snprintf(text, sizeof text, "a %s has no %s", shapes[s->shape].str, dimensions[i].key);
            complain(c, MESSAGE_VALUE, here->line, part, "remove it, or choose another shape",
                     text);
        }
    }
    if (c->messages->errors != before)
        return false;
    const solid_shape_t shape = (solid_shape_t)s->shape;
    bool good = shape == SOLID_BOX ? s->size[0] > 0 && s->size[1] > 0 && s->size[2] > 0
                                   : s->radius > 0 && (shape == SOLID_SPHERE || s->length > 0);
    if (shape == SOLID_TUBE)
        good = good && s->inner_radius >= 0 && s->inner_radius < s->radius;
    if (shape == SOLID_FRUSTUM)
        good = good && s->top_radius >= 0;
    if (!good)
        complain(c, MESSAGE_VALUE, node->line, part,
                 "give positive lengths, and an inner radius below the outer one",
                 "the solid has no volume");
    return good;
}

static bool find_density(const context_t *c, const tree_node_t *node, const char *part,
                         const raw_section_t *s, double *density) {
    const tree_node_t *material = tree_get(node, "material");
    *density = s->density;
    if (!material)
        return true;
    for (uint32_t i = 0; i < c->raw->materials_count; i++)
        if (strcmp(c->raw->materials[i].name, s->material) == 0) {
            *density = c->raw->materials[i].density;
            return true;
        }
    char text[160];
    snprintf(text, sizeof text, "there is no material \"%s\"", s->material);
    complain(c, MESSAGE_UNKNOWN_NAME, material->line, part, "list it under materials:", text);
    return false;
}

static bool section_body(const context_t *c, const tree_node_t *node, const char *part,
                         const raw_section_t *s, dyn_body_t *out) {
    const int given = (tree_get(node, "density") != NULL) + (tree_get(node, "mass") != NULL) +
                      (tree_get(node, "material") != NULL);
    double density;
    if (given != 1) {
        complain(c, given ? MESSAGE_VALUE : MESSAGE_MISSING_KEY, node->line, part,
                 "give exactly one of density (kg/m^3), material and mass (kg)",
                 given ? "more than one of density, material and mass is given"
                       : "neither density nor material nor mass is given");
        return false;
    }
    if (!check_dimensions(c, node, part, s) || !find_density(c, node, part, s, &density))
        return false;
    const solid_t solid = {.shape = (solid_shape_t)s->shape,
                           .radius = s->radius,
                           .inner_radius = s->inner_radius,
                           .top_radius = s->top_radius,
                           .length = s->length,
                           .size = {s->size[0], s->size[1], s->size[2]}};
    double mass = tree_get(node, "mass") ? s->mass : density * solid_volume(&solid);
    if (!(mass > 0)) {
        complain(c, MESSAGE_MASS, node->line, part,
                 "give a positive value, also for a hole, and mark the hole with hole: true",
                 "density or mass is not positive");
        return false;
    }
    const dyn_body_t body = solid_body(&solid, s->hole ? -mass : mass);
    const dyn_pose_t pose = dyn_pose_rpy(s->pose.xyz, s->pose.rpy);
    *out = dyn_body_move(&body, &pose);
    return true;
}

static bool part_body(const context_t *c, const tree_node_t *node, const raw_part_t *part,
                      dyn_body_t *out) {
    const tree_node_t *list = tree_get(node, "sections");
    dyn_body_t *body = calloc(part->sections_count, sizeof *body);
    bool good = body != NULL;
    const tree_node_t *section = list->item;
    for (uint32_t i = 0; body && i < part->sections_count; i++, section = section->next)
        good = section_body(c, section, part->name, &part->sections[i], &body[i]) && good;
    if (good) {
        *out = solid_join(body, part->sections_count);
        if (!(out->mass > 0)) {
            complain(c, MESSAGE_MASS, node->line, part->name, "check the holes",
                     "the holes of this part weigh at least as much as its solids");
            good = false;
        }
    }
    free(body);
    return good;
}

static bool link_body(const context_t *c, const tree_node_t *node, const raw_part_link_t *link,
                      robot_t *robot, dyn_body_t *out) {
    const tree_node_t *use = tree_get(node, "parts")->item;
    dyn_body_t *body = calloc(link->parts_count, sizeof *body);
    bool good = body != NULL;
    for (uint32_t i = 0; body && i < link->parts_count; i++, use = use->next) {
        const raw_use_t *u = &link->parts[i];
        size_t k = 0;
        while (k < robot->parts && strcmp(robot->part[k].name, u->part) != 0)
            k++;
        if (k == robot->parts) {
            char text[160];
            snprintf(text, sizeof text, "there is no part \"%s\"", u->part);
            complain(c, MESSAGE_UNKNOWN_NAME, use->line, link->name, "list it under parts:", text);
            good = false;
            continue;
        }
        const dyn_pose_t pose = dyn_pose_rpy(u->pose.xyz, u->pose.rpy);
        body[i] = dyn_body_move(&robot->part[k].body, &pose);
        robot->part[k].uses++;
    }
    if (good) {
        /* Transforms from the frame of the drawing to the frame of the arm. */
        dyn_pose_t frame = dyn_pose_rpy(link->frame.xyz, link->frame.rpy);
        frame = dyn_pose_inverse(&frame);
        *out = solid_join(body, link->parts_count);
        *out = dyn_body_move(out, &frame);
    }
    free(body);
    return good;
}

static void name_twice(const context_t *c, const char *what, const tree_node_t *node,
                       const char *name) {
    char text[120];
    snprintf(text, sizeof text, "two %s have this name", what);
    complain(c, MESSAGE_DUPLICATE_NAME, node->line, name, "rename one of them", text);
}

static void check_names(const context_t *c) {
    const raw_parts_t *raw = c->raw;
    const tree_node_t *root = c->tree->root;
    const tree_node_t *node = tree_get(root, "parts")->item;
    for (uint32_t i = 0; i < raw->parts_count; i++, node = node->next)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(raw->parts[i].name, raw->parts[k].name) == 0) {
                name_twice(c, "parts", node, raw->parts[i].name);
                break;
            }
    node = tree_get(root, "links")->item;
    for (uint32_t i = 0; i < raw->links_count; i++, node = node->next)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(raw->links[i].name, raw->links[k].name) == 0) {
                name_twice(c, "links", node, raw->links[i].name);
                break;
            }
    node = raw->materials_count ? tree_get(root, "materials")->item : NULL;
    for (uint32_t i = 0; i < raw->materials_count; i++, node = node->next)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(raw->materials[i].name, raw->materials[k].name) == 0) {
                name_twice(c, "materials", node, raw->materials[i].name);
                break;
            }
}

static void use_links(const context_t *c, const dyn_body_t *links, robot_t *out) {
    const raw_parts_t *raw = c->raw;
    bool used[DYN_MAX_JOINTS] = {false};
    const tree_node_t *node = tree_get(c->tree->root, "joints")->item;
    for (uint32_t i = 0; i < out->n; i++, node = node->next) {
        robot_joint_t *joint = &out->joint[i];
        const char *wanted = raw->robot.joints[i].part_link;
        uint32_t k = 0;
        while (k < raw->links_count && strcmp(raw->links[k].name, wanted) != 0)
            k++;
        char text[160];
        if (k == raw->links_count) {
            snprintf(text, sizeof text, "there is no link \"%s\"", wanted);
            complain(c, MESSAGE_UNKNOWN_NAME, tree_line(node, "link"), joint->name,
                     "list it under links:", text);
        } else if (used[k]) {
            snprintf(text, sizeof text, "two joints name the link \"%s\"", wanted);
            complain(c, MESSAGE_DUPLICATE_NAME, tree_line(node, "link"), joint->name,
                     "write it as `link:` of one joint only; parts may be used several times",
                     text);
        } else {
            const tree_node_t *link = tree_at(tree_get(c->tree->root, "links"), k);
            used[k] = true;
            memcpy(joint->link_name, raw->links[k].name, sizeof joint->link_name);
            joint->has |= ROBOT_JOINT_INERTIAL;
            joint->source.link = links[k];
            joint->line.link = joint->line.mass = joint->line.com = joint->line.inertia =
                link->line;
        }
    }
    for (uint32_t k = 0; k < raw->links_count; k++)
        if (!used[k])
            messages_add(c->messages, MESSAGE_WARNING, MESSAGE_IGNORED,
                         (message_place_t){c->tree->file,
                                           tree_at(tree_get(c->tree->root, "links"), k)->line,
                                           raw->links[k].name},
                         "write this name as `link:` of a joint",
                         "no joint carries this link, so it is left out");
}

int reader_parts(const tree_t *tree, robot_t *out, messages_t *messages) {
    void *data = NULL;
    const size_t errors = messages->errors;
    out->format = ROBOT_FORMAT_PARTS;
    if (schema_load(tree, &parts_value, &data, messages) != 0)
        return -1;
    const raw_parts_t *raw = data;
    const context_t c = {tree, messages, raw};
    reader_common(tree, &raw->robot, out);
    check_names(&c);
    dyn_body_t links[DYN_MAX_JOINTS] = {0};
    out->part = calloc(raw->parts_count, sizeof *out->part);
    if (out->part)
        out->parts = raw->parts_count;
    else
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY,
                     (message_place_t){tree->file, 0, NULL}, "", "there is not enough memory");
    const tree_node_t *node = tree_get(tree->root, "parts")->item;
    for (size_t i = 0; out->part && i < out->parts; i++, node = node->next) {
        memcpy(out->part[i].name, raw->parts[i].name, sizeof out->part[i].name);
        part_body(&c, node, &raw->parts[i], &out->part[i].body);
    }
    node = tree_get(tree->root, "links")->item;
    for (uint32_t i = 0; out->part && i < raw->links_count; i++, node = node->next)
        link_body(&c, node, &raw->links[i], out, &links[i]);
    node = tree_get(tree->root, "joints")->item;
    for (uint32_t i = 0; i < out->n; i++, node = node->next)
        reader_joint(tree, node, &raw->robot.joints[i], &out->joint[i], out->convention, messages);
    use_links(&c, links, out);
    schema_free(&parts_value, data);
    reader_duplicates(out, messages);
    return messages->errors == errors ? 0 : -1;
}
