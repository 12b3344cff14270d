/*
 * Checks the tables of the integrators with Butcher's conditions for rooted trees. A method has
 * order p if  sum b_i Phi_i = 1 / gamma  for every tree with at most p nodes, and not order p + 1
 * if one tree with p + 1 nodes fails. Also tests the step control on an equation with a known
 * solution.
 */
#include <math.h>
#include <string.h>

#include "test/support/harness.h"
#include "tools/sim/rk.h"

enum { NODES_MAX = 7, CHILDREN_MAX = NODES_MAX - 1, TREES_MAX = 200 };

/* A tree is the multiset of its subtrees, given by their indices; subtrees have lower indices than
 * their trees. */
typedef struct {
    int nodes, children;
    int child[CHILDREN_MAX];
    double gamma;
} tree_t;

static tree_t tree[TREES_MAX];
static int trees;

/* Adds every tree that extends `base` by subtrees with `left` nodes in total. The indices of these
 * subtrees are at most `most` and never increase, so that no tree is added twice. */
static void grow(tree_t base, int left, int most) {
    if (left == 0) {
        base.gamma = base.nodes;
        for (int i = 0; i < base.children; i++)
            base.gamma *= tree[base.child[i]].gamma;
        TEST_ASSERT_LESS_THAN(TREES_MAX, trees);
        tree[trees++] = base;
        return;
    }
    for (int i = 0; i <= most; i++)
        if (tree[i].nodes <= left) {
            tree_t more = base;
            more.child[more.children++] = i;
            grow(more, left - tree[i].nodes, i);
        }
}

static void make_trees(void) {
    trees = 0;
    for (int nodes = 1; nodes <= NODES_MAX; nodes++)
        grow((tree_t){.nodes = nodes}, nodes - 1, trees - 1);
}

/* Phi of a tree for stage i is the product over its subtrees of sum_j a_ij Phi_j. */
static double stage_weight(const rk_method_t *m, const tree_t *t, int i) {
    double product = 1;
    for (int k = 0; k < t->children; k++) {
        double sum = 0;
        for (int j = 0; j < i; j++)
            sum += m->a[i][j] * stage_weight(m, &tree[t->child[k]], j);
        product *= sum;
    }
    return product;
}

/* Returns the largest |sum b Phi - 1 / gamma| of all trees with this many nodes. */
static double defect(const rk_method_t *m, const double *b, int nodes) {
    double worst = 0;
    for (int t = 0; t < trees; t++) {
        if (tree[t].nodes != nodes)
            continue;
        double sum = 0;
        for (int i = 0; i < m->stages; i++)
            sum += b[i] * stage_weight(m, &tree[t], i);
        worst = fmax(worst, fabs(sum - 1 / tree[t].gamma));
    }
    return worst;
}

static void test_trees_are_all_there(void) {
    make_trees();
    static const int known[] = {1, 1, 2, 4, 9, 20, 48}; /* rooted trees, Cayley 1857 */
    int count[NODES_MAX + 1] = {0};
    for (int t = 0; t < trees; t++)
        count[tree[t].nodes]++;
    for (int n = 1; n <= NODES_MAX; n++)
        TEST_ASSERT_EQUAL_INT(known[n - 1], count[n]);
}

/* The coefficients are below 12, and the sums over their products are at most 1. 1e-12 allows some
 * thousand roundings of 1.1e-16. A condition that fails is off by more than 1e-5. */
static void test_orders(void) {
    make_trees();
    for (const rk_method_t *m = rk_methods; m->name; m++) {
        for (int i = 0; i < m->stages; i++) {
            double sum = 0;
            for (int j = 0; j < m->stages; j++)
                sum += m->a[i][j];
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-14, m->c[i], sum, m->name);
        }
        for (int p = 1; p <= m->order; p++)
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-12, 0, defect(m, m->b, p), m->name);
        TEST_ASSERT_TRUE_MESSAGE(defect(m, m->b, m->order + 1) > 1e-5, m->name);
        if (!m->estimates)
            continue;
        for (int p = 1; p < m->order; p++)
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-12, 0, defect(m, m->low, p), m->name);
        TEST_ASSERT_TRUE_MESSAGE(defect(m, m->low, m->order) > 1e-5, m->name);
    }
}

static void test_names(void) {
    static const struct {
        const char *name;
        int order;
    } wanted[] = {{"rk3", 3}, {"rk4", 4}, {"rk45", 5}, {"rk56", 6}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const rk_method_t *m = rk_find(wanted[i].name);
        TEST_ASSERT_NOT_NULL(m);
        TEST_ASSERT_EQUAL_INT(wanted[i].order, m->order);
    }
    TEST_ASSERT_NULL(rk_find("rk9"));
}

/* The equation y'' = -y, with an additional integral that the error control must ignore. */
static int circle(void *context, double t, const double *y, double *rate) {
    unsigned long *calls = context;
    (void)t;
    ++*calls;
    rate[0] = y[1];
    rate[1] = -y[0];
    rate[2] = 1e6 * y[0];
    return 0;
}

static void test_step_control(void) {
    static const char *const names[] = {"rk45", "rk56"};
    for (size_t i = 0; i < 2; i++) {
        unsigned long calls = 0, steps = 0, kept = 0;
        rk_t *rk = rk_make(rk_find(names[i]), 3, 2, circle, &calls);
        double y[3] = {1, 0, 0}, next[3], t = 0, h;
        const double end = 10, tolerance = 1e-9;
        TEST_ASSERT_NOT_NULL(rk);
        TEST_ASSERT_EQUAL_INT(0, rk_begin(rk, t, y, tolerance, &h));
        while (t < end) {
            h = fmin(h, end - t);
            TEST_ASSERT_EQUAL_INT(0, rk_try(rk, t, h, y, next));
            const double error = rk_error(rk, y, next, tolerance);
            steps++;
            if (error <= 1) {
                rk_accept(rk);
                memcpy(y, next, sizeof y);
                t += h;
                kept++;
            }
            h = rk_propose(rk, h, error);
        }
        /* Each step adds an error of at most tolerance (1 + 1), which the circle does not
         * amplify. */
        TEST_ASSERT_DOUBLE_WITHIN(2 * tolerance * (double)kept, cos(end), y[0]);
        TEST_ASSERT_DOUBLE_WITHIN(2 * tolerance * (double)kept, -sin(end), y[1]);
        TEST_ASSERT_EQUAL_UINT(calls, rk_evaluations(rk));
        /* rk45 has seven stages; the first one reuses the last stage of the previous step or the
         * first stage of a rejected trial. */
        TEST_ASSERT_EQUAL_UINT(i == 0 ? 1 + 6 * steps : kept + 7 * steps, calls);
        TEST_ASSERT_LESS_THAN(steps / 5 + 3, steps - kept); /* most proposed steps are accepted */
        rk_free(rk);
    }
}

/* A right-hand side that fails ends the trial, which returns its status. */
static int broken(void *context, double t, const double *y, double *rate) {
    (void)y;
    rate[0] = 1;
    return t > *(double *)context ? -7 : 0;
}

static void test_failure_is_passed_on(void) {
    double until = 0.1, y = 0, next = 0;
    rk_t *rk = rk_make(rk_find("rk4"), 1, 1, broken, &until);
    TEST_ASSERT_EQUAL_INT(0, rk_try(rk, 0, 0.1, &y, &next));
    TEST_ASSERT_DOUBLE_WITHIN(1e-16, 0.1, next);
    TEST_ASSERT_EQUAL_INT(-7, rk_try(rk, 0, 0.3, &y, &next));
    rk_free(rk);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_trees_are_all_there)
    TEST(test_orders)
    TEST(test_names)
    TEST(test_step_control)
    TEST(test_failure_is_passed_on)
TEST_LIST_END
// clang-format on
