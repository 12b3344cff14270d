/* The expression graph of tools/backend/trace.h and its printer. */
#include "tools/backend/trace.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef dyn_real_trace_t real;

struct trace_graph {
    trace_node_t *node;
    int32_t used, room;
    int32_t *bucket; /* open addressing, node + 1, 0: free */
    int32_t buckets; /* a power of two */
};

static trace_graph_t *current;

static void *must(void *memory) {
    if (!memory) {
        fprintf(stderr, "trace: no memory for the expression graph\n");
        exit(2);
    }
    return memory;
}

trace_graph_t *trace_new(void) {
    trace_graph_t *g = must(calloc(1, sizeof *g));
    g->room = 4096;
    g->buckets = 16384;
    g->node = must(malloc((size_t)g->room * sizeof *g->node));
    g->bucket = must(calloc((size_t)g->buckets, sizeof *g->bucket));
    return g;
}

void trace_free(trace_graph_t *graph) {
    if (current == graph)
        current = NULL;
    free(graph->node);
    free(graph->bucket);
    free(graph);
}

void trace_use(trace_graph_t *graph) {
    current = graph;
}

int32_t trace_size(const trace_graph_t *graph) {
    return graph->used;
}

const trace_node_t *trace_at(const trace_graph_t *graph, int32_t id) {
    assert(id >= 0 && id < graph->used);
    return &graph->node[id];
}

static bool is_leaf(trace_op_t op) {
    return op == TRACE_CONST || op == TRACE_INPUT;
}

/* Constants are equal when their bits are. */
static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t hash_of(const trace_node_t *n) {
    uint64_t h = (uint64_t)n->op * 0x9e3779b97f4a7c15u ^ bits_of(n->value);
    h = (h ^ (uint32_t)n->a) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29) ^ (uint32_t)n->b) * 0x94d049bb133111ebu;
    if (n->op == TRACE_INPUT)
        for (const char *c = n->name; *c; c++)
            h = (h ^ (unsigned char)*c) * 0x100000001b3u;
    return (uint32_t)(h ^ (h >> 32));
}

static bool same(const trace_node_t *x, const trace_node_t *y) {
    return x->op == y->op && x->a == y->a && x->b == y->b &&
           bits_of(x->value) == bits_of(y->value) &&
           (x->op != TRACE_INPUT || !strcmp(x->name, y->name));
}

static void insert(trace_graph_t *g, int32_t id) {
    uint32_t mask = (uint32_t)g->buckets - 1, at = hash_of(&g->node[id]) & mask;
    while (g->bucket[at])
        at = (at + 1) & mask;
    g->bucket[at] = id + 1;
}

static void grow(trace_graph_t *g) {
    g->room *= 2;
    g->buckets *= 2;
    g->node = must(realloc(g->node, (size_t)g->room * sizeof *g->node));
    free(g->bucket);
    g->bucket = must(calloc((size_t)g->buckets, sizeof *g->bucket));
    for (int32_t i = 0; i < g->used; i++)
        insert(g, i);
}

/* The one node that is equal to this. */
static real unique(trace_node_t n) {
    trace_graph_t *g = current;
    assert(g && "trace_use first");
    uint32_t mask = (uint32_t)g->buckets - 1, at = hash_of(&n) & mask;
    for (; g->bucket[at]; at = (at + 1) & mask)
        if (same(&g->node[g->bucket[at] - 1], &n))
            return (real){g->bucket[at] - 1};
    if (g->used == g->room) {
        grow(g);
        mask = (uint32_t)g->buckets - 1;
        for (at = hash_of(&n) & mask; g->bucket[at]; at = (at + 1) & mask)
            ;
    }
    g->node[g->used] = n;
    g->bucket[at] = g->used + 1;
    return (real){g->used++};
}

static const trace_node_t *of(real a) {
    return &current->node[a.id];
}

static bool is_const(real a) {
    return of(a)->op == TRACE_CONST;
}

static bool is_value(real a, double value) {
    return is_const(a) && of(a)->value == value;
}

static bool is_neg(real a) {
    return of(a)->op == TRACE_NEG;
}

static real inner(real a) {
    return (real){of(a)->a};
}

real trace_const(double value) {
    /* One zero only: -0 would be a node of its own. */
    return unique((trace_node_t){.op = TRACE_CONST, .value = value == 0 ? 0 : value});
}

real trace_input(const char *array, int32_t index) {
    trace_node_t n = {.op = TRACE_INPUT, .a = index};
    snprintf(n.name, sizeof n.name, "%s", array);
    return unique(n);
}

static real make(trace_op_t op, real a, real b) {
    bool commutes = op == TRACE_ADD || op == TRACE_MUL || op == TRACE_MIN;
    if (commutes && a.id > b.id) {
        real t = a;
        a = b;
        b = t;
    }
    return unique((trace_node_t){.op = op, .a = a.id, .b = b.id});
}

static real negate(real a) {
    if (is_const(a))
        return trace_const(-of(a)->value);
    if (is_neg(a))
        return inner(a);
    return make(TRACE_NEG, a, a);
}

static real subtract(real a, real b);

static real add(real a, real b) {
    if (is_const(a) && is_const(b))
        return trace_const(of(a)->value + of(b)->value);
    if (is_value(a, 0))
        return b;
    if (is_value(b, 0))
        return a;
    if (is_neg(a) && is_neg(b))
        return negate(add(inner(a), inner(b)));
    if (is_neg(b))
        return subtract(a, inner(b));
    if (is_neg(a))
        return subtract(b, inner(a));
    return make(TRACE_ADD, a, b);
}

static real subtract(real a, real b) {
    if (is_const(a) && is_const(b))
        return trace_const(of(a)->value - of(b)->value);
    if (a.id == b.id)
        return trace_const(0);
    if (is_value(a, 0))
        return negate(b);
    if (is_value(b, 0))
        return a;
    if (is_neg(b))
        return add(a, inner(b));
    if (is_neg(a))
        return negate(add(inner(a), b));
    if (a.id > b.id)
        return negate(make(TRACE_SUB, b, a));
    return make(TRACE_SUB, a, b);
}

static real multiply(real a, real b) {
    if (is_const(a) && is_const(b))
        return trace_const(of(a)->value * of(b)->value);
    if (is_value(a, 0) || is_value(b, 0))
        return trace_const(0);
    if (is_value(a, 1))
        return b;
    if (is_value(b, 1))
        return a;
    if (is_neg(a) || is_neg(b)) {
        real product = multiply(is_neg(a) ? inner(a) : a, is_neg(b) ? inner(b) : b);
        return is_neg(a) && is_neg(b) ? product : negate(product);
    }
    if (is_const(a) && of(a)->value < 0)
        return negate(multiply(negate(a), b));
    if (is_const(b) && of(b)->value < 0)
        return negate(multiply(a, negate(b)));
    return make(TRACE_MUL, a, b);
}

static double clamp_value(double a, double limit) {
    return fmax(-limit, fmin(limit, a));
}

real trace_node(trace_op_t op, real a, real b) {
    const bool folds = is_const(a) && is_const(b);
    const double x = of(a)->value, y = of(b)->value;
    switch (op) {
    case TRACE_ADD:
        return add(a, b);
    case TRACE_SUB:
        return subtract(a, b);
    case TRACE_MUL:
        return multiply(a, b);
    case TRACE_NEG:
        return negate(a);
    case TRACE_RECIP:
        if (is_neg(a))
            return negate(trace_node(op, inner(a), inner(a)));
        return folds ? trace_const(1 / x) : make(op, a, a);
    case TRACE_SQRT:
        return folds ? trace_const(sqrt(x)) : make(op, a, a);
    case TRACE_SIN:
        return folds ? trace_const(sin(x)) : make(op, a, a);
    case TRACE_COS:
        return folds ? trace_const(cos(x)) : make(op, a, a);
    case TRACE_CLAMP:
        return folds ? trace_const(clamp_value(x, y)) : make(op, a, b);
    case TRACE_MIN:
        return folds ? trace_const(fmin(x, y)) : make(op, a, b);
    case TRACE_CONST:
    case TRACE_INPUT:
    case TRACE_ANGLE:
        break;
    }
    assert(!"an operation that trace_node does not make");
    return a;
}

void trace_sincos(real q, real offset, real *cosine, real *sine) {
    assert(is_const(offset) && "an offset is a constant of the robot");
    double c, s, angle = of(offset)->value;
    dyn_exact_turn(angle, &c, &s);
    if (c == 0 || s == 0) {
        real qc = trace_node(TRACE_COS, q, q), qs = trace_node(TRACE_SIN, q, q);
        *cosine = c != 0 ? (c > 0 ? qc : negate(qc)) : (s > 0 ? negate(qs) : qs);
        *sine = c != 0 ? (c > 0 ? qs : negate(qs)) : (s > 0 ? qc : negate(qc));
        return;
    }
    real sum = is_const(q) ? trace_const(of(q)->value + angle)
                           : unique((trace_node_t){.op = TRACE_ANGLE, .a = q.id, .value = angle});
    *cosine = trace_node(TRACE_COS, sum, sum);
    *sine = trace_node(TRACE_SIN, sum, sum);
}

void trace_hint(const char *name, uint32_t joint, const char *part, real a) {
    trace_node_t *n = &current->node[a.id];
    if (n->op == TRACE_NEG)
        n = &current->node[n->a];
    if (is_leaf(n->op) || n->name[0])
        return;
    const char *point = strrchr(name, '.');
    const char *plain = point ? point + 1 : name;
    /* Joints from 1, as in the papers. */
    snprintf(n->name, sizeof n->name, "%.*s%u%s", (int)strcspn(plain, "["), plain, joint + 1, part);
}

static bool uses_b(trace_op_t op) {
    return op == TRACE_ADD || op == TRACE_SUB || op == TRACE_MUL || op == TRACE_CLAMP ||
           op == TRACE_MIN;
}

/* Which nodes the results need: to be freed by the caller. */
static bool *needed_by(const trace_graph_t *g, const real *results, int n) {
    bool *needed = must(calloc((size_t)g->used + 1, sizeof *needed));
    for (int i = 0; i < n; i++)
        needed[results[i].id] = true;
    for (int32_t i = g->used - 1; i >= 0; i--) {
        const trace_node_t *k = &g->node[i];
        if (!needed[i] || is_leaf(k->op))
            continue;
        needed[k->a] = true;
        if (uses_b(k->op))
            needed[k->b] = true;
    }
    return needed;
}

trace_ops_t trace_count(const trace_graph_t *graph, const real *results, int n) {
    bool *needed = needed_by(graph, results, n);
    trace_ops_t out = {0};
    for (int32_t i = 0; i < graph->used; i++) {
        if (!needed[i])
            continue;
        switch (graph->node[i].op) {
        case TRACE_MUL:
            out.mul++;
            break;
        case TRACE_ADD:
        case TRACE_SUB:
            out.add++;
            break;
        case TRACE_RECIP:
            out.div++;
            break;
        case TRACE_SQRT:
            out.sqrt++;
            break;
        case TRACE_SIN:
        case TRACE_COS:
            out.sincos++;
            break;
        default:
            break;
        }
    }
    free(needed);
    return out;
}

static double value_of(const trace_node_t *k, const double *v, trace_lookup_t input,
                       void *context) {
    const bool leaf = is_leaf(k->op);
    const double a = leaf ? 0 : v[k->a], b = uses_b(k->op) ? v[k->b] : 0;
    switch (k->op) {
    case TRACE_CONST:
        return k->value;
    case TRACE_INPUT:
        return input(context, k->name, k->a);
    case TRACE_ANGLE:
        return a + k->value;
    case TRACE_SIN:
        return sin(a);
    case TRACE_COS:
        return cos(a);
    case TRACE_NEG:
        return -a;
    case TRACE_ADD:
        return a + b;
    case TRACE_SUB:
        return a - b;
    case TRACE_MUL:
        return a * b;
    case TRACE_RECIP:
        return 1 / a;
    case TRACE_SQRT:
        return sqrt(a);
    case TRACE_CLAMP:
        return clamp_value(a, b);
    case TRACE_MIN:
        return fmin(a, b);
    }
    return 0;
}

void trace_eval(const trace_graph_t *graph, trace_lookup_t input, void *context,
                const real *results, int n, double *values) {
    bool *needed = needed_by(graph, results, n);
    double *v = must(calloc((size_t)graph->used + 1, sizeof *v));
    for (int32_t i = 0; i < graph->used; i++)
        if (needed[i])
            v[i] = value_of(&graph->node[i], v, input, context);
    for (int i = 0; i < n; i++)
        values[i] = v[results[i].id];
    free(v);
    free(needed);
}

/* ---------------------------------------------------------------------------------------- printing
 */
typedef struct {
    const trace_graph_t *graph;
    FILE *out;
    trace_type_t type;
} printer_t;

static void print_number(const printer_t *p, double value) {
    char text[40];
    snprintf(text, sizeof text, p->type == TRACE_F32 ? "%.9g" : "%.17g", value);
    fputs(text, p->out);
    if (!strpbrk(text, ".en"))
        fputs(".0", p->out);
    if (p->type == TRACE_F32)
        fputc('f', p->out);
}

/* A node as an operand: a leaf or a change of sign in place, all else by its variable. */
static void print_operand(const printer_t *p, int32_t id) {
    const trace_node_t *k = &p->graph->node[id];
    switch (k->op) {
    case TRACE_CONST:
        print_number(p, k->value);
        break;
    case TRACE_INPUT:
        fprintf(p->out, "%s[%d]", k->name, (int)k->a);
        break;
    case TRACE_NEG:
        fputs("(-", p->out);
        print_operand(p, k->a);
        fputc(')', p->out);
        break;
    default:
        if (k->name[0])
            fprintf(p->out, "%s_%d", k->name, (int)id);
        else
            fprintf(p->out, "t%d", (int)id);
    }
}

static void print_call(const printer_t *p, const char *function, const trace_node_t *k) {
    fprintf(p->out, "%s%s(", function, p->type == TRACE_F32 ? "f" : "");
    print_operand(p, k->a);
    if (uses_b(k->op)) {
        fputs(", ", p->out);
        print_operand(p, k->b);
    }
    fputc(')', p->out);
}

static void print_binary(const printer_t *p, char sign, const trace_node_t *k) {
    print_operand(p, k->a);
    fprintf(p->out, " %c ", sign);
    print_operand(p, k->b);
}

static void print_value(const printer_t *p, const trace_node_t *k) {
    switch (k->op) {
    case TRACE_ANGLE:
        print_operand(p, k->a);
        fputs(" + ", p->out);
        print_number(p, k->value);
        break;
    case TRACE_SIN:
        print_call(p, "sin", k);
        break;
    case TRACE_COS:
        print_call(p, "cos", k);
        break;
    case TRACE_ADD:
        print_binary(p, '+', k);
        break;
    case TRACE_SUB:
        print_binary(p, '-', k);
        break;
    case TRACE_MUL:
        print_binary(p, '*', k);
        break;
    case TRACE_RECIP:
        print_number(p, 1);
        fputs(" / ", p->out);
        print_operand(p, k->a);
        break;
    case TRACE_SQRT:
        print_call(p, "sqrt", k);
        break;
    case TRACE_MIN:
        print_call(p, "fmin", k);
        break;
    case TRACE_CLAMP:
        fprintf(p->out, "fmax%s(-", p->type == TRACE_F32 ? "f" : "");
        print_operand(p, k->b);
        fputs(", ", p->out);
        print_call(p, "fmin", k);
        fputc(')', p->out);
        break;
    case TRACE_CONST:
    case TRACE_INPUT:
    case TRACE_NEG:
        break;
    }
}

void trace_print(const trace_graph_t *graph, FILE *out, trace_type_t type, const char *name,
                 const char *const *arrays, const char *result, const real *results, int n) {
    const printer_t p = {graph, out, type};
    const char *t = type == TRACE_F32 ? "float" : "double";
    bool *needed = needed_by(graph, results, n);
    fprintf(out, "void %s(", name);
    for (const char *const *a = arrays; *a; a++)
        fprintf(out, "const %s %s[], ", t, *a);
    fprintf(out, "%s %s[]) {\n", t, result);
    for (const char *const *a = arrays; *a; a++)
        fprintf(out, "    (void)%s;\n", *a);
    for (int32_t i = 0; i < graph->used; i++) {
        const trace_node_t *k = &graph->node[i];
        if (!needed[i] || is_leaf(k->op) || k->op == TRACE_NEG)
            continue;
        fprintf(out, "    const %s ", t);
        print_operand(&p, i);
        fputs(" = ", out);
        print_value(&p, k);
        fputs(";\n", out);
    }
    for (int i = 0; i < n; i++) {
        fprintf(out, "    %s[%d] = ", result, i);
        print_operand(&p, results[i].id);
        fputs(";\n", out);
    }
    fputs("}\n", out);
    free(needed);
}
