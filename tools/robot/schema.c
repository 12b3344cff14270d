/* Implements schema.h: checks a tree and passes it on to libcyaml. */
#include "tools/robot/schema.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *file;
    messages_t *messages;
    char subject[80]; /* name of the joint, link or part that is being checked */
    char path[160];   /* path of the key below the subject, such as "link.inertia" */
} walk_t;

static void complain(walk_t *w, message_code_t code, uint32_t line, const char *cure,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

static void complain(walk_t *w, message_code_t code, uint32_t line, const char *cure,
                     const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages_add(w->messages, MESSAGE_ERROR, code, (message_place_t){w->file, line, w->subject},
                 cure, "%s%s%s", w->path, *w->path ? ": " : "", text);
}

bool schema_number(const char *text, double *value) {
    const char *s = text;
    while (isspace((unsigned char)*s))
        s++;
    const char *start = s;
    if (*s == '+' || *s == '-')
        s++;
    size_t digits = 0;
    while (isdigit((unsigned char)*s))
        s++, digits++;
    if (*s == '.')
        s++;
    while (isdigit((unsigned char)*s))
        s++, digits++;
    if (digits == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        if (*s == '+' || *s == '-')
            s++;
        if (!isdigit((unsigned char)*s))
            return false;
        while (isdigit((unsigned char)*s))
            s++;
    }
    while (isspace((unsigned char)*s))
        s++;
    if (*s != '\0')
        return false;
    *value = strtod(start, NULL);
    return isfinite(*value);
}

static const char *kind_name(tree_kind_t kind) {
    return kind == TREE_SCALAR ? "a single value" : kind == TREE_LIST ? "a list" : "a mapping";
}

static bool is_scalar(walk_t *w, const tree_node_t *node, const char *wanted) {
    if (node->kind == TREE_SCALAR)
        return true;
    complain(w, MESSAGE_TYPE, node->line, "see the keys in tools/robots/README.md",
             "found %s, expected %s", kind_name(node->kind), wanted);
    return false;
}

static void check_float(walk_t *w, const tree_node_t *node) {
    double value;
    if (!is_scalar(w, node, "a number"))
        return;
    if (!schema_number(node->text, &value))
        complain(w, MESSAGE_NUMBER, node->line, "write a finite decimal number such as -1.5e-3",
                 "\"%.60s\" is not a finite decimal number", node->text);
    else if (fabs(value) > SCHEMA_NUMBER_MAX)
        complain(w, MESSAGE_NUMBER, node->line, "use SI units",
                 "%g is larger than 1e15 in magnitude", value);
}

static void check_uint(walk_t *w, const tree_node_t *node) {
    if (!is_scalar(w, node, "a whole number"))
        return;
    size_t size = strlen(node->text);
    if (size == 0 || size > 6 || strspn(node->text, "0123456789") != size)
        complain(w, MESSAGE_NUMBER, node->line, "write a whole number such as 2",
                 "\"%.60s\" is not a whole number from 0 to 999999", node->text);
}

static void check_string(walk_t *w, const tree_node_t *node, const cyaml_schema_value_t *schema) {
    if (!is_scalar(w, node, "text"))
        return;
    size_t size = strlen(node->text);
    if (size < schema->string.min)
        complain(w, MESSAGE_VALUE, node->line, "give it a name", "the text is empty");
    else if (size > schema->string.max)
        complain(w, MESSAGE_LIMIT, node->line, "shorten it", "the text is longer than %u bytes",
                 (unsigned)schema->string.max);
    for (const char *s = node->text; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) {
            complain(w, MESSAGE_VALUE, node->line, "use letters, digits and punctuation",
                     "the name contains a control character");
            break;
        }
}

static void check_enum(walk_t *w, const tree_node_t *node, const cyaml_schema_value_t *schema) {
    enum { MOST = 16 };
    const char *known[MOST + 1] = {0};
    char all[160] = "";
    if (!is_scalar(w, node, "a word"))
        return;
    for (uint32_t i = 0; i < schema->enumeration.count && i < MOST; i++) {
        known[i] = schema->enumeration.strings[i].str;
        if (strcmp(known[i], node->text) == 0)
            return;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", known[i]);
    }
    const char *near = messages_nearest(node->text, known);
    char cure[240];
    if (near)
        snprintf(cure, sizeof cure, "did you mean %s? allowed values: %s", near, all);
    else
        snprintf(cure, sizeof cure, "choose one of %s", all);
    complain(w, MESSAGE_VALUE, node->line, cure, "\"%.60s\" is not an allowed value", node->text);
}

static void check_value(walk_t *w, const tree_node_t *node, const cyaml_schema_value_t *schema);

static void descend(walk_t *w, const char *key, size_t *mark) {
    *mark = strlen(w->path);
    snprintf(w->path + *mark, sizeof w->path - *mark, "%s%s", *mark ? "." : "", key);
}

static void check_key(walk_t *w, const tree_node_t *key, const tree_node_t *value,
                      const cyaml_schema_field_t *fields) {
    enum { MOST = 32 };
    const char *known[MOST + 1] = {0};
    size_t count = 0, mark;
    for (const cyaml_schema_field_t *f = fields; f->key; f++) {
        if (strcmp(f->key, key->text) == 0) {
            descend(w, f->key, &mark);
            check_value(w, value, &f->value);
            w->path[mark] = '\0';
            return;
        }
        if (count < MOST)
            known[count++] = f->key;
    }
    char cure[400] = "did you mean ";
    const char *near = messages_nearest(key->text, known);
    if (near) {
        snprintf(cure + strlen(cure), sizeof cure - strlen(cure), "%s?", near);
    } else {
        strcpy(cure, "known here:");
        for (size_t i = 0; i < count; i++) {
            size_t used = strlen(cure);
            snprintf(cure + used, sizeof cure - used, " %s", known[i]);
        }
    }
    complain(w, MESSAGE_UNKNOWN_KEY, key->line, cure, "unknown key \"%.60s\"", key->text);
}

static void check_map(walk_t *w, const tree_node_t *node, const cyaml_schema_value_t *schema) {
    if (node->kind != TREE_MAP) {
        complain(w, MESSAGE_TYPE, node->line, "write {key: value, ...}, or leave the key out",
                 "found %s, expected a mapping", kind_name(node->kind));
        return;
    }
    const tree_node_t *value = node->item;
    for (const tree_node_t *k = node->key; k; k = k->next_key, value = value->next)
        check_key(w, k, value, schema->mapping.fields);
    for (const cyaml_schema_field_t *f = schema->mapping.fields; f->key; f++)
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && !tree_get(node, f->key)) {
            char cure[80];
            snprintf(cure, sizeof cure, "add %s:", f->key);
            complain(w, MESSAGE_MISSING_KEY, node->line, cure, "the key \"%s\" is missing", f->key);
        }
}

/* True if one number is given where the schema has a list of one or two numbers. */
static bool is_single(const tree_node_t *node, const cyaml_schema_value_t *schema) {
    return node->kind == TREE_SCALAR && schema->type == CYAML_SEQUENCE &&
           schema->sequence.min == 1 && schema->sequence.max == 2 &&
           schema->sequence.entry->type == CYAML_FLOAT;
}

static void check_list(walk_t *w, const tree_node_t *node, const cyaml_schema_value_t *schema) {
    const cyaml_schema_value_t *entry = schema->sequence.entry;
    if (is_single(node, schema)) {
        check_float(w, node);
        return;
    }
    if (node->kind != TREE_LIST) {
        complain(w, MESSAGE_TYPE, node->line,
                 entry->type == CYAML_FLOAT ? "write [number, number, ...]"
                                            : "write one entry per line, and \"- \" before each",
                 "found %s, expected a list", kind_name(node->kind));
        return;
    }
    const size_t min = schema->sequence.min, max = schema->sequence.max;
    if (node->count < min || node->count > max) {
        if (min == max)
            complain(w, MESSAGE_COUNT, node->line,
                     "give the expected numbers in the order of tools/robots/README.md",
                     "found %zu entries, expected %zu", node->count, min);
        else
            complain(w, MESSAGE_COUNT, node->line, "add or remove entries",
                     "found %zu entries, expected %zu to %zu", node->count, min, max);
        if (node->count > max)
            return;
    }
    char subject[sizeof w->subject], path[sizeof w->path];
    memcpy(subject, w->subject, sizeof subject);
    memcpy(path, w->path, sizeof path);
    size_t number = 0;
    for (const tree_node_t *i = node->item; i; i = i->next) {
        number++;
        const tree_node_t *name = tree_get(i, "name");
        if (i->kind == TREE_MAP && name && name->kind == TREE_SCALAR) {
            snprintf(w->subject, sizeof w->subject, "%.70s", name->text);
            w->path[0] = '\0';
        } else if (entry->type == CYAML_MAPPING) {
            snprintf(w->path, sizeof w->path, "%.100s[%zu]", path, number);
        }
        check_value(w, i, entry);
        memcpy(w->subject, subject, sizeof subject);
        memcpy(w->path, path, sizeof path);
    }
}

static void check_value(walk_t *w, const tree_node_t *node, const cyaml_schema_value_t *schema) {
    switch (schema->type) {
    case CYAML_FLOAT:
        check_float(w, node);
        break;
    case CYAML_UINT:
        check_uint(w, node);
        break;
    case CYAML_STRING:
        check_string(w, node, schema);
        break;
    case CYAML_ENUM:
        check_enum(w, node, schema);
        break;
    case CYAML_MAPPING:
        check_map(w, node, schema);
        break;
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED:
        check_list(w, node, schema);
        break;
    default:
        complain(w, MESSAGE_TYPE, node->line, "report this",
                 "the schema has a type that is not checked");
    }
}

/* --------------------------------------------------------------- the checked tree as plain YAML */

typedef struct {
    char *data;
    size_t size, room;
    bool failed;
} text_t;

static void put(text_t *t, const char *data, size_t size) {
    if (t->failed)
        return;
    if (t->room - t->size < size) {
        size_t room = 2 * t->room + size + 4096;
        char *more = realloc(t->data, room);
        if (!more) {
            t->failed = true;
            return;
        }
        t->data = more;
        t->room = room;
    }
    memcpy(t->data + t->size, data, size);
    t->size += size;
}

static void put_quoted(text_t *t, const char *text) {
    put(t, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            put(t, "\\", 1);
        put(t, text, 1);
    }
    put(t, "\"", 1);
}

static void put_number(text_t *t, const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    size_t size = strlen(text);
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    put(t, text, size);
}

static const cyaml_schema_value_t *field_schema(const cyaml_schema_value_t *map, const char *key) {
    for (const cyaml_schema_field_t *f = map->mapping.fields; f->key; f++)
        if (strcmp(f->key, key) == 0)
            return &f->value;
    return NULL;
}

static void put_node(text_t *t, const tree_node_t *node, const cyaml_schema_value_t *schema) {
    if (is_single(node, schema)) {
        put(t, "[", 1);
        put_number(t, node->text);
        put(t, "]", 1);
    } else if (node->kind == TREE_SCALAR) {
        if (schema->type == CYAML_FLOAT)
            put_number(t, node->text);
        else
            put_quoted(t, node->text);
    } else {
        put(t, node->kind == TREE_MAP ? "{" : "[", 1);
        const tree_node_t *key = node->key;
        for (const tree_node_t *i = node->item; i; i = i->next) {
            const cyaml_schema_value_t *below = schema->sequence.entry;
            if (key) {
                put_quoted(t, key->text);
                put(t, ": ", 2);
                below = field_schema(schema, key->text);
                key = key->next_key;
            }
            put_node(t, i, below);
            /* Short lines keep the distance short over which libyaml searches for keys. */
            put(t, ",\n", i->next ? 2 : 0);
        }
        put(t, node->kind == TREE_MAP ? "}" : "]", 1);
    }
}

typedef struct {
    char text[256];
} log_t;

static void keep_log(cyaml_log_t level, void *context, const char *format, va_list arguments) {
    log_t *log = context;
    if (level >= CYAML_LOG_ERROR && !log->text[0])
        vsnprintf(log->text, sizeof log->text, format, arguments);
}

static cyaml_config_t configuration(log_t *log) {
    return (cyaml_config_t){
        .log_fn = keep_log, .log_ctx = log, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};
}

int schema_load(const tree_t *tree, const cyaml_schema_value_t *schema, void **data,
                messages_t *messages) {
    *data = NULL;
    walk_t w = {.file = tree->file, .messages = messages};
    size_t errors = messages->errors;
    check_value(&w, tree->root, schema);
    if (messages->errors != errors)
        return -1;

    text_t text = {0};
    put_node(&text, tree->root, schema);
    put(&text, "\n", 1);
    message_place_t place = {tree->file, 0, NULL};
    if (text.failed) {
        free(text.data);
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, "",
                     "there is not enough memory");
        return -1;
    }
    log_t log = {0};
    cyaml_config_t config = configuration(&log);
    cyaml_err_t status =
        cyaml_load_data((const uint8_t *)text.data, text.size, &config, schema, data, NULL);
    free(text.data);
    if (status == CYAML_OK)
        return 0;
    messages_add(messages, MESSAGE_ERROR, status == CYAML_ERR_OOM ? MESSAGE_MEMORY : MESSAGE_SYNTAX,
                 place, NULL, "the YAML library libcyaml refuses the file: %s (%s)",
                 cyaml_strerror(status), log.text);
    *data = NULL;
    return -1;
}

void schema_free(const cyaml_schema_value_t *schema, void *data) {
    log_t log = {0};
    cyaml_config_t config = configuration(&log);
    if (data)
        (void)cyaml_free(&config, schema, data, 0);
}
