/* Names in place of numbers in a robot file (robot_symbols_t): for formulas, which need no
 * numbers. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/robot/readers.h"
#include "tools/robot/schema.h"

enum { MASS = 3, COM = 4, INERTIA = 7 };

/* The least moment and the largest product of inertia that the file has as numbers. */
typedef struct {
    double moment, product;
} given_t;

/* A number for a name: positive, different for different names, the same wherever a name stands, and
 * such that bodies can have it: products of inertia are small beside moments. */
static double number_for(const char *name, int slot, given_t given) {
    const double unit = fmax(1, 8 * given.product);
    uint32_t h = 2166136261u;
    for (const char *s = name; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    const double part = (double)(h >> 8) / 0x1000000;
    return slot >= INERTIA + 3 ? (0.02 + 0.1 * part) * fmin(given.moment, 0.5 * unit)
           : slot >= INERTIA   ? (0.5 + 0.2 * part) * unit
           : slot == MASS      ? 1 + part
                               : 0.1 + 0.3 * part;
}

/* A name begins with a letter; letters, digits and underscores follow. What programs print in place
 * of an infinite or undefined number is not a name. */
static bool is_name(const char *text) {
    double value;
    size_t size = strlen(text);
    if (!strcasecmp(text, "nan") || !strcasecmp(text, "inf") || !strcasecmp(text, "infinity"))
        return false;
    for (const char *s = text; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
            return false;
    return isalpha((unsigned char)*text) && size < ROBOT_SYMBOL_SIZE &&
           !schema_number(text, &value);
}

static void take(robot_symbols_t *symbols, const tree_node_t *node, uint32_t joint, int slot,
                 given_t given) {
    if (!node || node->kind != TREE_SCALAR)
        return;
    const bool minus = node->text[0] == '-';
    const char *name = node->text + minus;
    if (!is_name(name))
        return;
    snprintf(symbols->name[joint][slot], ROBOT_SYMBOL_SIZE, "%s", name);
    snprintf(symbols->number[joint][slot], ROBOT_SYMBOL_SIZE, "%s%.15g", minus ? "-" : "",
             number_for(name, slot, given));
    if (!symbols->any) {
        snprintf(symbols->first, ROBOT_SYMBOL_SIZE, "%s", name);
        symbols->line = node->line;
    }
    symbols->any = true;
    ((tree_node_t *)(uintptr_t)node)->text = symbols->number[joint][slot];
}

static void find_given(const tree_node_t *inertia, given_t *given) {
    for (size_t k = 0; k < 6; k++) {
        const tree_node_t *node = tree_at(inertia, k);
        double value;
        if (!node || node->kind != TREE_SCALAR || !schema_number(node->text, &value))
            continue;
        if (k >= 3)
            given->product = fmax(given->product, fabs(value));
        else if (value > 0)
            given->moment = fmin(given->moment, value);
    }
}

void symbols_take(const tree_t *tree, robot_symbols_t *symbols) {
    static const char *const dh_key[] = {"d", "a", "alpha"};
    const tree_node_t *list = tree_get(tree->root, "joints");
    given_t given = {HUGE_VAL, 0};
    for (uint32_t i = 0; i < DYN_MAX_JOINTS && tree_at(list, i); i++)
        find_given(tree_get(tree_get(tree_at(list, i), "link"), "inertia"), &given);
    for (uint32_t i = 0; i < DYN_MAX_JOINTS && tree_at(list, i); i++) {
        const tree_node_t *dh = tree_get(tree_at(list, i), "dh");
        const tree_node_t *link = tree_get(tree_at(list, i), "link");
        for (int k = 0; k < 3; k++)
            take(symbols, tree_get(dh, dh_key[k]), i, k, given);
        take(symbols, tree_get(link, "mass"), i, MASS, given);
        for (int k = 0; k < 3; k++)
            take(symbols, tree_at(tree_get(link, "com"), (size_t)k), i, COM + k, given);
        for (int k = 0; k < 6; k++)
            take(symbols, tree_at(tree_get(link, "inertia"), (size_t)k), i, INERTIA + k, given);
    }
}

void symbols_link(robot_symbols_t *symbols, uint32_t joint, dyn_body_t *link) {
    char name[16];
    symbols->any = true;
    /* the names are made where the formulas are; these only choose the numbers */
    snprintf(name, sizeof name, "link%u", (unsigned)joint);
    for (int slot = MASS; slot < ROBOT_SYMBOLS; slot++) {
        name[0] = (char)('a' + slot);
        const double number = number_for(name, slot, (given_t){HUGE_VAL, 0});
        snprintf(symbols->number[joint][slot], ROBOT_SYMBOL_SIZE, "%.15g", number);
        *(slot == MASS     ? &link->mass
          : slot < INERTIA ? &link->com[slot - COM]
                           : &link->inertia[slot - INERTIA]) = number;
    }
}
