/* A YAML document as a tree with line numbers. libcyaml fills C structures but forgets the lines of
 * the values, which messages need, and whether an optional key was given. */
#ifndef TOOLS_ROBOT_TREE_H
#define TOOLS_ROBOT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cli/messages.h"

#define TREE_DEPTH_MAX 24u /* levels of nesting; a robot file needs 6 */
/* 32 joints with all keys need 3,000 nodes; tables of mode shapes need more */
#define TREE_NODES_MAX 50000u

typedef enum { TREE_SCALAR, TREE_LIST, TREE_MAP } tree_kind_t;

typedef struct tree_node {
    tree_kind_t kind;
    uint32_t line;
    const char *text;       /* text of a scalar */
    size_t count;           /* number of entries of a list or map */
    struct tree_node *key;  /* key of the first entry; NULL in a list */
    struct tree_node *item; /* first entry; the others follow through `next` */
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

/* Returns the value of a key, or NULL. The node may be NULL or not a map. */
const tree_node_t *tree_get(const tree_node_t *map, const char *key);
/* Returns an entry of a list, or NULL. */
const tree_node_t *tree_at(const tree_node_t *list, size_t index);
/* Returns the line of a key's value, or 0. */
uint32_t tree_line(const tree_node_t *map, const char *key);

#endif
