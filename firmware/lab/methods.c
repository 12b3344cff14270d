/* The table of methods and the functions that read it. */
#include "firmware/lab/methods.h"

#include <string.h>

const method_t method_table[METHOD_COUNT] = {
#define X(problem, method, form, kernel, scratch, ...) {PROBLEM_##problem, #method, __VA_ARGS__},
    METHOD_TABLE(X)
#undef X
};

static const struct {
    const char *name, *meaning;
    size_t blocks;
} problems[PROBLEM_COUNT] = {
#define X(name, text, blocks, meaning) {text, meaning, blocks},
    PROBLEM_TABLE(X)
#undef X
};

const char *problem_name(problem_t problem) {
    return problems[problem].name;
}

const char *problem_meaning(problem_t problem) {
    return problems[problem].meaning;
}

size_t problem_inputs(problem_t problem, uint32_t n) {
    return problems[problem].blocks * n;
}

size_t problem_outputs(problem_t problem, uint32_t n) {
    switch (problem) {
    case PROBLEM_MASS:
    case PROBLEM_CORIOLIS:
        return (size_t)n * n;
    case PROBLEM_FK:
        return 12;
    case PROBLEM_JACOBIAN:
        return (size_t)6 * n;
    default:
        return n;
    }
}

bool method_generated(method_id_t method) {
    const char *name = method_table[method].name;
    return name[0] == 'g' && name[1] == 'e' && name[2] == 'n';
}

const char *method_name(method_id_t method) {
    const char *name = method_table[method].name;
    /* Problems from PROBLEM_FK on have a single method beside the generated one; it is called "-".
     * The numbers of the problems are compared, not the names of the methods, because
     * tools/dev/stack.py has no stack bound for strcmp. */
    return method_table[method].problem < PROBLEM_FK || method_generated(method) ? name : "-";
}

method_id_t method_find(problem_t problem, const char *name) {
    for (int i = 0; i < METHOD_COUNT; i++)
        if (method_table[i].problem == problem && (!name || !strcmp(name, method_table[i].name)))
            return (method_id_t)i;
    return METHOD_COUNT;
}

void method_list(problem_t problem, char *out, size_t size) {
    size_t used = 0;
    for (int i = 0; i < METHOD_COUNT; i++) {
        const char *name = method_name((method_id_t)i);
        const char *comma = used > 0 ? ", " : "";
        if (method_table[i].problem != problem || used + strlen(comma) + strlen(name) >= size)
            continue;
        memcpy(out + used, comma, strlen(comma));
        used += strlen(comma);
        memcpy(out + used, name, strlen(name));
        used += strlen(name);
    }
    out[used] = '\0';
}
