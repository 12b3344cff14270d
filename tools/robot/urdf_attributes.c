/* Reads the attributes of a URDF's elements, for tools/robot/urdf_xml.h: numbers, names, and
 * unknown attributes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/robot/schema.h"
#include "tools/robot/urdf_xml.h"

static bool is_xacro(reader_t *r, const char *text) {
    if (!strstr(text, "${") && !strstr(text, "$("))
        return false;
    if (!r->xacro_noted)
        xml_complain(r, MESSAGE_XACRO, "run xacro first and give the URDF that it writes",
                     "\"%.80s\" is a xacro expression", text);
    r->xacro_noted = true;
    return true;
}

const char *xml_attribute(const XML_Char **attributes, const char *key) {
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], key) == 0)
            return attributes[1];
    return NULL;
}

bool xml_parse_numbers(reader_t *r, const char *element, const char *key, const char *text,
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
            xml_complain(r, MESSAGE_NUMBER, "write a finite decimal number",
                         "<%s %s>: \"%s\" is not a finite decimal number", element, key, word);
            return false;
        }
        if (fabs(value) > SCHEMA_NUMBER_MAX) {
            xml_complain(r, MESSAGE_NUMBER, "use SI units",
                         "<%s %s>: %g is larger than 1e15 in magnitude", element, key, value);
            return false;
        }
        if (found < count)
            out[found] = value;
        found++;
        s += size;
    }
    if (found == count)
        return true;
    xml_complain(r, MESSAGE_COUNT, "separate the numbers by blanks",
                 "<%s %s> has %zu numbers, expected %zu", element, key, found, count);
    return false;
}

bool xml_numbers(reader_t *r, const XML_Char **attributes, const char *element, const char *key,
                 double *out, size_t count) {
    const char *text = xml_attribute(attributes, key);
    return text && xml_parse_numbers(r, element, key, text, out, count);
}

bool xml_needed_number(reader_t *r, const XML_Char **attributes, const char *element,
                       const char *key, double *out) {
    if (!xml_attribute(attributes, key)) {
        char cure[80];
        snprintf(cure, sizeof cure, "add %s=\"...\"", key);
        xml_complain(r, MESSAGE_MISSING_KEY, cure, "<%s> has no attribute \"%s\"", element, key);
        return false;
    }
    return xml_numbers(r, attributes, element, key, out, 1);
}

void xml_name(reader_t *r, const XML_Char **attributes, const char *element, const char *key,
              char out[ROBOT_NAME_MAX]) {
    const char *text = xml_attribute(attributes, key);
    if (!text || !*text) {
        char cure[80];
        snprintf(cure, sizeof cure, "write %s=\"...\"", key);
        xml_complain(r, MESSAGE_MISSING_KEY, cure,
                     "the attribute \"%s\" of <%s> is missing or empty", key, element);
        return;
    }
    if (strlen(text) >= ROBOT_NAME_MAX) {
        xml_complain(r, MESSAGE_LIMIT, "shorten it", "a name has more than %u bytes",
                     ROBOT_NAME_MAX - 1);
        return;
    }
    for (const char *s = text; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) {
            xml_complain(r, MESSAGE_VALUE, "use letters, digits and punctuation",
                         "the name contains a control character");
            return;
        }
    if (!is_xacro(r, text))
        strcpy(out, text);
}

void xml_not_negative(reader_t *r, const char *element, const char *key, double value) {
    if (value < 0)
        xml_complain(r, MESSAGE_VALUE, "give a positive number", "<%s %s> is negative", element,
                     key);
}

/* Known attributes of each element. Other elements (geometry, colours) are not checked. */
static const struct {
    const char *element;
    const char *keys[8];
    bool shapes; /* the element changes the arm, so an unknown attribute is a warning, not a note */
} ATTRIBUTES[] = {
    {"link", {"name", "type"}, false}, /* old exporters wrote a type for links */
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

void xml_unknown_attributes(reader_t *r, const XML_Char **attributes, const char *element) {
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
            char cure[80] = "remove it; a URDF has fixed units, and its rotations are given as rpy";
            if (near)
                snprintf(cure, sizeof cure, "did you mean %s?", near);
            messages_add(r->messages, MESSAGE_WARNING, MESSAGE_UNKNOWN_KEY,
                         (message_place_t){r->file, xml_here(r), xml_subject(r)}, cure,
                         "attribute %.40s of <%s> is not used", key, element);
        } else {
            char what[96];
            snprintf(what, sizeof what, "attribute %.40s of <%s>", key, element);
            xml_skip(r, what);
        }
    }
}
