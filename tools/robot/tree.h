/*
 * A YAML document as a tree with line numbers. libcyaml fills C structures and forgets where the
 * values stood; messages need the lines, and whether an optional key was given is visible only in
 * the tree.
 */
#ifndef TOOLS_ROBOT_TREE_H
#define TOOLS_ROBOT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cli/messages.h"

#define TREE_DEPTH_MAX 24u    /* a robot file needs 6 */
#define TREE_NODES_MAX 50000u /* 32 full joints need 3,000; mode shapes need more */

typedef enum { TREE_SCALAR, TREE_LIST, TREE_MAP } tree_kind_t;

typedef struct tree_node {
    tree_kind_t kind;
    uint32_t line;
    const char *text;       /* of a scalar */
    size_t count;           /* entries of a list or map */
    struct tree_node *key;  /* of the first entry, NULL in a list */
    struct tree_node *item; /* first entry; the others follow by next */
    struct tree_node *next;
    struct tree_node *next_key;
} tree_node_t;

typedef struct {
    const char *file;
    tree_node_t *root;
    void *blocks;
    size_t nodes;
} tree_t;

/* Returns 0, or -1 with errors. Call tree_free in either case. Aliases are expanded; tags are
 * refused. */
int tree_parse(const char *file, const void *bytes, size_t size, tree_t *tree,
               messages_t *messages);
void tree_free(tree_t *tree);

/* Value of a key, or NULL. The node may be NULL or not a map. */
const tree_node_t *tree_get(const tree_node_t *map, const char *key);
/* Entry of a list, or NULL. */
const tree_node_t *tree_at(const tree_node_t *list, size_t index);
/* Line of a key's value, or 0. */
uint32_t tree_line(const tree_node_t *map, const char *key);

#endif
