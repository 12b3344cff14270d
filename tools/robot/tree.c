/* Builds the tree of tree.h from the events of libyaml. The depth and the number of nodes are
 * limited, so that no input can exhaust the memory or the stack. */
#include "tools/robot/tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct block {
    struct block *next;
    size_t used, size;
    char data[];
} block_t;

/* An anchor becomes known only at the end of its node, so a node cannot contain itself. */
typedef struct anchor {
    const char *name;
    const tree_node_t *node;
    struct anchor *next;
} anchor_t;

typedef struct {
    tree_t *tree;
    messages_t *messages;
    yaml_parser_t parser;
    anchor_t *anchors;
    bool failed;
} reader_t;

static void *take(tree_t *tree, size_t size) {
    enum { BLOCK = 64 << 10 };
    block_t *block = tree->blocks;
    size = (size + 15) & ~(size_t)15;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (block_t){.next = tree->blocks, .size = room};
        tree->blocks = block;
    }
    /* The header of a block is three words of 8 bytes, so the data after it is aligned well enough
     * for pointers. */
    void *out = block->data + block->used;
    block->used += size;
    memset(out, 0, size);
    return out;
}

static const char *take_text(tree_t *tree, const char *text, size_t size) {
    char *out = take(tree, size + 1);
    if (out)
        memcpy(out, text, size);
    return out;
}

static void *fail(reader_t *r, message_code_t code, size_t line, const char *cure,
                  const char *text) {
    if (!r->failed)
        messages_add(r->messages, MESSAGE_ERROR, code,
                     (message_place_t){r->tree->file, (uint32_t)line, NULL}, cure, "%s", text);
    r->failed = true;
    return NULL;
}

static bool next_event(reader_t *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event))
        return true;
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        fail(r, MESSAGE_MEMORY, 0, NULL, "there is not enough memory for the YAML parser");
        return false;
    }
    /* A reader error (bad encoding) has no line. */
    size_t line = p->error == YAML_READER_ERROR ? 0 : p->problem_mark.line + 1;
    if (!r->failed)
        messages_add(r->messages, MESSAGE_ERROR, MESSAGE_SYNTAX,
                     (message_place_t){r->tree->file, (uint32_t)line, NULL},
                     "check indentation, brackets and quotes at and above this line",
                     "not well-formed YAML: %s%s%s", p->context ? p->context : "",
                     p->context ? ": " : "", p->problem ? p->problem : "unknown problem");
    r->failed = true;
    return false;
}

static tree_node_t *new_node(reader_t *r, tree_kind_t kind, size_t line) {
    if (r->tree->nodes >= TREE_NODES_MAX)
        return fail(r, MESSAGE_LIMIT, line, "a robot has 32 joints at most: is this a robot file?",
                    "the file has more than 50000 values (aliases expanded)");
    tree_node_t *node = take(r->tree, sizeof *node);
    if (!node)
        return fail(r, MESSAGE_MEMORY, line, NULL, "there is not enough memory");
    r->tree->nodes++;
    node->kind = kind;
    node->line = (uint32_t)line;
    return node;
}

/* Ends of the two linked lists of a node, values and keys, where entries are appended. */
typedef struct {
    tree_node_t *last, *last_key;
} tail_t;

static void append(tree_node_t *parent, tail_t *tail, tree_node_t *key, tree_node_t *item) {
    if (tail->last)
        tail->last->next = item;
    else
        parent->item = item;
    tail->last = item;
    if (key) {
        if (tail->last_key)
            tail->last_key->next_key = key;
        else
            parent->key = key;
        tail->last_key = key;
    }
    parent->count++;
}

static tree_node_t *copy_node(reader_t *r, const tree_node_t *from, size_t line, unsigned depth) {
    if (depth > TREE_DEPTH_MAX)
        return fail(r, MESSAGE_LIMIT, line,
                    "write the robot file with fewer levels, as in tools/robots",
                    "the file is nested too deeply");
    tree_node_t *out = new_node(r, from->kind, from->line);
    if (!out)
        return NULL;
    out->text = from->text;
    tail_t tail = {0};
    const tree_node_t *key = from->key;
    for (const tree_node_t *i = from->item; i; i = i->next) {
        tree_node_t *k = NULL;
        if (key) {
            k = copy_node(r, key, line, depth + 1);
            key = key->next_key;
            if (!k)
                return NULL;
        }
        tree_node_t *v = copy_node(r, i, line, depth + 1);
        if (!v)
            return NULL;
        append(out, &tail, k, v);
    }
    return out;
}

static bool remember(reader_t *r, const yaml_char_t *name, const tree_node_t *node) {
    if (!name)
        return true;
    anchor_t *anchor = take(r->tree, sizeof *anchor);
    const char *text = take_text(r->tree, (const char *)name, strlen((const char *)name));
    if (!anchor || !text) {
        fail(r, MESSAGE_MEMORY, node->line, NULL, "there is not enough memory");
        return false;
    }
    *anchor = (anchor_t){text, node, r->anchors};
    r->anchors = anchor;
    return true;
}

static tree_node_t *read_node(reader_t *r, yaml_event_t *event, unsigned depth);

static bool is_duplicate(const tree_node_t *map, const char *key) {
    for (const tree_node_t *k = map->key; k; k = k->next_key)
        if (strcmp(k->text, key) == 0)
            return true;
    return false;
}

static tree_node_t *read_map(reader_t *r, size_t line, unsigned depth) {
    enum { KEYS_MAX = 100 }; /* limits the search for duplicates, whose time is quadratic */
    tree_node_t *map = new_node(r, TREE_MAP, line);
    tail_t tail = {0};
    while (map) {
        yaml_event_t event;
        if (!next_event(r, &event))
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return map;
        }
        size_t at = event.start_mark.line + 1;
        tree_node_t *key = read_node(r, &event, depth);
        if (!key)
            return NULL;
        if (key->kind != TREE_SCALAR)
            return fail(r, MESSAGE_TYPE, at, "write key: value", "this key is a list or a mapping");
        if (map->count >= KEYS_MAX)
            return fail(r, MESSAGE_LIMIT, at, "remove keys; no mapping of a robot file has so many",
                        "a mapping has more than 100 keys");
        if (is_duplicate(map, key->text)) {
            messages_add(r->messages, MESSAGE_ERROR, MESSAGE_DUPLICATE_KEY,
                         (message_place_t){r->tree->file, (uint32_t)at, NULL},
                         "keep one of the two", "the key \"%s\" occurs twice in one mapping",
                         key->text);
            r->failed = true;
        }
        if (!next_event(r, &event))
            return NULL;
        tree_node_t *value = read_node(r, &event, depth);
        if (!value)
            return NULL;
        append(map, &tail, key, value);
    }
    return NULL;
}

static tree_node_t *read_list(reader_t *r, size_t line, unsigned depth) {
    tree_node_t *list = new_node(r, TREE_LIST, line);
    tail_t tail = {0};
    while (list) {
        yaml_event_t event;
        if (!next_event(r, &event))
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return list;
        }
        tree_node_t *item = read_node(r, &event, depth);
        if (!item)
            return NULL;
        append(list, &tail, NULL, item);
    }
    return NULL;
}

static tree_node_t *read_alias(reader_t *r, const yaml_event_t *event, unsigned depth) {
    size_t line = event->start_mark.line + 1;
    for (const anchor_t *a = r->anchors; a; a = a->next)
        if (strcmp(a->name, (const char *)event->data.alias.anchor) == 0)
            return copy_node(r, a->node, line, depth);
    return fail(r, MESSAGE_ALIAS, line, "define it above with &name, or write the value out",
                "an alias (*name) has no anchor before it");
}

static tree_node_t *read_scalar(reader_t *r, const yaml_event_t *event) {
    size_t line = event->start_mark.line + 1, size = event->data.scalar.length;
    const char *text = (const char *)event->data.scalar.value;
    if (memchr(text, 0, size))
        return fail(r, MESSAGE_SYNTAX, line, "is this a text file?",
                    "a value contains a zero byte");
    tree_node_t *node = new_node(r, TREE_SCALAR, line);
    if (node && !(node->text = take_text(r->tree, text, size)))
        return fail(r, MESSAGE_MEMORY, line, NULL, "there is not enough memory");
    return node;
}

/* Reads the node that begins with this event and deletes the event. */
static tree_node_t *read_node(reader_t *r, yaml_event_t *event, unsigned depth) {
    tree_node_t *node = NULL;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    const size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        break;
    }
    if (tag)
        fail(r, MESSAGE_SYNTAX, line, "remove it", "a YAML tag (!something) is not allowed");
    else if (depth >= TREE_DEPTH_MAX)
        fail(r, MESSAGE_LIMIT, line, "write the robot file with fewer levels; 6 are enough",
             "the file is nested deeper than 24 levels");
    else if (event->type == YAML_SCALAR_EVENT)
        node = read_scalar(r, event);
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        node = read_list(r, line, depth + 1);
    else if (event->type == YAML_MAPPING_START_EVENT)
        node = read_map(r, line, depth + 1);
    else if (event->type == YAML_ALIAS_EVENT)
        node = read_alias(r, event, depth);
    if (node && !remember(r, anchor, node))
        node = NULL;
    yaml_event_delete(event);
    return node;
}

static void read_document(reader_t *r) {
    yaml_event_t event;
    bool more = true;
    while (more && next_event(r, &event)) {
        size_t line = event.start_mark.line + 1;
        switch (event.type) {
        case YAML_STREAM_END_EVENT:
            more = false;
            yaml_event_delete(&event);
            break;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            yaml_event_delete(&event);
            break;
        default:
            if (r->tree->root) {
                fail(r, MESSAGE_SYNTAX, line, "write each robot into a file of its own",
                     "the file contains a second YAML document");
                yaml_event_delete(&event);
                return;
            }
            r->tree->root = read_node(r, &event, 0);
            if (!r->tree->root)
                return;
        }
    }
}

int tree_parse(const char *file, const void *bytes, size_t size, tree_t *tree,
               messages_t *messages) {
    *tree = (tree_t){.file = file};
    reader_t r = {.tree = tree, .messages = messages};
    if (!yaml_parser_initialize(&r.parser)) {
        fail(&r, MESSAGE_MEMORY, 0, NULL, "there is not enough memory for the YAML parser");
        return -1;
    }
    yaml_parser_set_input_string(&r.parser, bytes, size);
    read_document(&r);
    yaml_parser_delete(&r.parser);
    if (!r.failed && !tree->root)
        fail(&r, MESSAGE_SYNTAX, 0, "see tools/robots for examples", "the file holds no values");
    return r.failed ? -1 : 0;
}

void tree_free(tree_t *tree) {
    block_t *block = tree->blocks;
    while (block) {
        block_t *next = block->next;
        free(block);
        block = next;
    }
    *tree = (tree_t){0};
}

const tree_node_t *tree_get(const tree_node_t *map, const char *key) {
    if (!map || map->kind != TREE_MAP)
        return NULL;
    const tree_node_t *item = map->item;
    for (const tree_node_t *k = map->key; k; k = k->next_key, item = item->next)
        if (strcmp(k->text, key) == 0)
            return item;
    return NULL;
}

const tree_node_t *tree_at(const tree_node_t *list, size_t index) {
    if (!list || list->kind != TREE_LIST)
        return NULL;
    const tree_node_t *item = list->item;
    while (item && index-- > 0)
        item = item->next;
    return item;
}

uint32_t tree_line(const tree_node_t *map, const char *key) {
    const tree_node_t *node = tree_get(map, key);
    return node ? node->line : 0;
}
