/*
 * Reads the XML of a URDF with expat. Document types are refused: no URDF needs one, and without
 * them there are no external entities and no entities that expand without end. urdf_elements.c
 * reads the elements, urdf_attributes.c their attributes.
 */
#include "tools/robot/urdf_xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t xml_here(const reader_t *r) {
    return (uint32_t)XML_GetCurrentLineNumber(r->parser);
}

const char *xml_subject(const reader_t *r) {
    for (unsigned i = r->depth; i-- > 0;) {
        if (r->stack[i] == AT_LINK && r->out->links > 0)
            return r->out->link[r->out->links - 1].name;
        if (r->stack[i] == AT_JOINT && r->out->joints > 0)
            return r->out->joint[r->out->joints - 1].name;
    }
    return NULL;
}

void xml_complain(reader_t *r, message_code_t code, const char *cure, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages_add(r->messages, MESSAGE_ERROR, code,
                 (message_place_t){r->file, xml_here(r), xml_subject(r)}, cure, "%s", text);
}

void xml_stop(reader_t *r, message_code_t code, const char *cure, const char *text) {
    if (!r->stopped)
        xml_complain(r, code, cure, "%s", text);
    r->stopped = true;
    XML_StopParser(r->parser, XML_FALSE);
}

void xml_skip(reader_t *r, const char *what) {
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
    s->line = xml_here(r);
    s->count = 1;
}

static void XMLCALL on_begin(void *context, const XML_Char *name, const XML_Char **attributes) {
    reader_t *r = context;
    if (r->stopped)
        return;
    if (++r->elements > URDF_ELEMENTS_MAX) {
        xml_stop(r, MESSAGE_LIMIT, "is this one arm?", "the file has more than 200000 elements");
        return;
    }
    if (r->depth == URDF_DEPTH_MAX) {
        xml_stop(r, MESSAGE_LIMIT, "a URDF needs 6 levels",
                 "the file is nested deeper than 64 levels");
        return;
    }
    at_t at = AT_SKIPPED, where = r->depth ? r->stack[r->depth - 1] : AT_ROOT;
    const size_t prefix = strlen(r->prefix);
    if (prefix > 0 && strncmp(name, r->prefix, prefix) == 0)
        name += prefix;
    if (strncmp(name, "xacro:", 6) == 0) {
        if (!r->xacro_noted)
            xml_complain(r, MESSAGE_XACRO, "run xacro first and give the URDF that it writes",
                         "<%.60s> is a xacro element", name);
        r->xacro_noted = true;
    } else if (where == AT_ROOT) {
        at = xml_begin_root(r, name, attributes);
    } else if (where == AT_ROBOT) {
        at = xml_in_robot(r, name, attributes);
    } else if (where == AT_LINK) {
        at = xml_in_link(r, name);
    } else if (where == AT_INERTIAL) {
        xml_in_inertial(r, name, attributes);
    } else if (where == AT_JOINT) {
        xml_in_joint(r, name, attributes);
    } else if (where == AT_TRANSMISSION || where == AT_TRANSMISSION_PART) {
        at = xml_in_transmission(r, name, attributes);
    }
    if (r->stopped)
        return;
    r->stack[r->depth++] = at;
    /* Checked after the element is on the stack, so that messages about attributes of a link or
     * joint name that link or joint. */
    if (where == AT_INERTIAL || where == AT_JOINT || at == AT_LINK || at == AT_JOINT ||
        at == AT_INERTIAL)
        xml_unknown_attributes(r, attributes, name);
}

static void XMLCALL on_end(void *context, const XML_Char *name) {
    reader_t *r = context;
    (void)name;
    if (r->stopped || r->depth == 0)
        return;
    switch (r->stack[r->depth - 1]) {
    case AT_INERTIAL:
        if (!r->saw_mass)
            xml_complain(r, MESSAGE_MISSING_KEY, "add <mass value=\"...\"/>",
                         "<inertial> has no <mass>");
        if (!r->saw_inertia)
            xml_complain(r, MESSAGE_MISSING_KEY, "add <inertia ixx=... />",
                         "<inertial> has no <inertia>");
        break;
    case AT_JOINT:
        if (!r->saw_parent || !r->saw_child)
            xml_complain(r, MESSAGE_MISSING_KEY,
                         "add <parent link=\"...\"/> and <child link=\"...\"/>",
                         "the joint has no <%s>", r->saw_parent ? "child" : "parent");
        break;
    case AT_REDUCTION: {
        char text[sizeof r->reduction];
        snprintf(text, sizeof text, "%.*s", (int)r->reduction_size, r->reduction);
        if (r->reduction_size == 0)
            xml_skip(r, "<mechanicalReduction> without a number");
        else if (xml_parse_numbers(r, "mechanicalReduction", "text", text, &r->reduction_value,
                                   1) &&
                 r->reduction_value == 0)
            xml_skip(r, "<mechanicalReduction> of 0");
        break;
    }
    case AT_TRANSMISSION:
        xml_end_transmission(r);
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
    xml_stop(context, MESSAGE_ENTITY, "remove the <!DOCTYPE ...>",
             "<!DOCTYPE> is refused: a URDF needs no entities");
}

static void XMLCALL on_entity(void *context, const XML_Char *name, int parameter,
                              const XML_Char *value, int size, const XML_Char *base,
                              const XML_Char *system, const XML_Char *public,
                              const XML_Char *notation) {
    (void)name, (void)parameter, (void)value, (void)size, (void)base;
    (void)system, (void)public, (void)notation;
    xml_stop(context, MESSAGE_ENTITY, "remove it", "entities are refused");
}

static void settle_transmissions(reader_t *r) {
    urdf_t *u = r->out;
    for (size_t i = 0; i < u->transmissions; i++) {
        const urdf_transmission_t *t = &u->transmission[i];
        size_t k = 0;
        while (k < u->joints && strcmp(u->joint[k].name, t->joint) != 0)
            k++;
        if (k < u->joints) {
            if (u->joint[k].reduction != 0)
                messages_add(
                    r->messages, MESSAGE_WARNING, MESSAGE_DUPLICATE_NAME,
                    (message_place_t){r->file, t->line, t->joint}, "keep one of them",
                    "the joint has a second transmission: its reduction %g is used instead of %g",
                    t->reduction, u->joint[k].reduction);
            u->joint[k].reduction = t->reduction;
            u->joint[k].line_reduction = t->line;
        } else {
            messages_add(r->messages, MESSAGE_WARNING, MESSAGE_UNKNOWN_NAME,
                         (message_place_t){r->file, t->line, t->joint}, "check its name",
                         "the transmission is for a joint that does not exist");
        }
    }
}

static void report_skipped(reader_t *r) {
    for (size_t i = 0; i < r->skipped_count; i++) {
        char times[40] = "";
        if (r->skipped[i].count > 1)
            snprintf(times, sizeof times, " (found %u times, first here)", r->skipped[i].count);
        messages_add(r->messages, MESSAGE_NOTE, MESSAGE_IGNORED,
                     (message_place_t){r->file, r->skipped[i].line, NULL}, "", "not used: %s%s",
                     r->skipped[i].what, times);
    }
}

int urdf_read(const char *file, const char *bytes, size_t size, urdf_t *out, messages_t *messages) {
    const size_t errors = messages->errors;
    *out = (urdf_t){0};
    reader_t *r = calloc(1, sizeof *r);
    XML_Parser parser = r ? XML_ParserCreate(NULL) : NULL;
    if (!parser) {
        free(r);
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, (message_place_t){file, 0, NULL}, "",
                     "there is not enough memory for the XML parser");
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
        xml_complain(r, MESSAGE_SYNTAX,
                     late ? "remove everything before <?xml"
                          : "check the tags at and above this line",
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
