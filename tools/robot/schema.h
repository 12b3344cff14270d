/*
 * Checks a YAML tree against a libcyaml schema. The schema exists only once, in libcyaml's own
 * tables. The check reports every deviation with its line, the nearest known key and a cure. If
 * there is no deviation, libcyaml itself loads the tree into the C structure.
 */
#ifndef TOOLS_ROBOT_SCHEMA_H
#define TOOLS_ROBOT_SCHEMA_H

#include <cyaml/cyaml.h>

#include "tools/cli/messages.h"
#include "tools/robot/tree.h"

/* No length, mass, stiffness or count of an arm in SI units is larger. */
#define SCHEMA_NUMBER_MAX 1e15

/* Accepts a finite decimal number and nothing else; blanks around it are allowed. */
bool schema_number(const char *text, double *value);

/* Loads a tree into a C structure. A list of one or two numbers may be written as one number
 * without brackets. Returns 0 with *data, to be freed by schema_free, or -1 with errors. */
int schema_load(const tree_t *tree, const cyaml_schema_value_t *schema, void **data,
                messages_t *messages);
void schema_free(const cyaml_schema_value_t *schema, void *data);

#endif
