/* The reader of a URDF's XML: declarations that urdf_xml.c, urdf_elements.c and urdf_attributes.c
 * share. */
#ifndef TOOLS_ROBOT_URDF_XML_H
#define TOOLS_ROBOT_URDF_XML_H

#include <expat.h>

#include "tools/robot/urdf.h"

typedef enum {
    AT_ROOT,
    AT_ROBOT,
    AT_LINK,
    AT_INERTIAL,
    AT_JOINT,
    AT_TRANSMISSION,
    AT_TRANSMISSION_PART, /* joint or actuator of a transmission */
    AT_REDUCTION,
    AT_SKIPPED /* an element that is skipped with everything inside it */
} at_t;

/* A kind of skipped elements, which is reported once with its count. */
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
    bool stopped, xacro_noted;
    char prefix[ROBOT_NAME_MAX]; /* "urdf:" if the root is <urdf:robot> */
    char reduction[64];
    size_t reduction_size;
    char reduction_joint[ROBOT_NAME_MAX];
    unsigned reduction_joints;
    double reduction_value;
    uint32_t reduction_line;
    bool saw_mass, saw_inertia, saw_parent, saw_child;
    unsigned seen; /* bits of the children that were seen in the present joint or inertial */
    skipped_t skipped[SKIPPED_MAX];
    size_t skipped_count;
} reader_t;

/* Return the present line, and the name of the link or joint that it belongs to, or NULL. */
uint32_t xml_here(const reader_t *r);
const char *xml_subject(const reader_t *r);
void xml_complain(reader_t *r, message_code_t code, const char *cure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds an error and ends the reading. */
void xml_stop(reader_t *r, message_code_t code, const char *cure, const char *text);
/* Counts a skipped element of this kind. */
void xml_skip(reader_t *r, const char *what);

/* Returns the value of an attribute, or NULL. */
const char *xml_attribute(const XML_Char **attributes, const char *key);
/* Reads exactly `count` numbers separated by blanks. */
bool xml_parse_numbers(reader_t *r, const char *element, const char *key, const char *text,
                       double *out, size_t count);
/* Returns false if the attribute is absent or bad; a bad one gets a message. */
bool xml_numbers(reader_t *r, const XML_Char **attributes, const char *element, const char *key,
                 double *out, size_t count);
bool xml_needed_number(reader_t *r, const XML_Char **attributes, const char *element,
                       const char *key, double *out);
void xml_name(reader_t *r, const XML_Char **attributes, const char *element, const char *key,
              char out[ROBOT_NAME_MAX]);
void xml_not_negative(reader_t *r, const char *element, const char *key, double value);
void xml_unknown_attributes(reader_t *r, const XML_Char **attributes, const char *element);

/* xml_begin_root begins the root element, xml_in_P an element inside the element P. The at_t that
 * some of them return is the reader's new position. xml_end_transmission ends a transmission and
 * stores its reduction. */
at_t xml_begin_root(reader_t *r, const char *name, const XML_Char **attributes);
at_t xml_in_robot(reader_t *r, const char *name, const XML_Char **attributes);
at_t xml_in_link(reader_t *r, const char *name);
void xml_in_inertial(reader_t *r, const char *name, const XML_Char **attributes);
void xml_in_joint(reader_t *r, const char *name, const XML_Char **attributes);
at_t xml_in_transmission(reader_t *r, const char *name, const XML_Char **attributes);
void xml_end_transmission(reader_t *r);

#endif
