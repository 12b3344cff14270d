/* Implements the cycle tables of tools/bench/cores.h. */
#include "tools/bench/cores.h"

#include <string.h>

static const char *const names[CORE_COUNT] = {"m3", "m4f", "m7"};

core_t core_named(const char *name) {
    int core = 0;
    while (core < CORE_COUNT && strcmp(names[core], name) != 0)
        core++;
    return (core_t)core;
}

uint32_t core_taken(core_t core) {
    return core == CORE_M7 ? 1 : 2;
}

static bool is_single_access(const thumb_t *t) {
    return t->kind == THUMB_LOAD || t->kind == THUMB_FLOAD || t->kind == THUMB_STORE ||
           t->kind == THUMB_FSTORE;
}

static bool is_fpu_arithmetic(const thumb_t *t) {
    switch (t->kind) {
    case THUMB_FADD:
    case THUMB_FMUL:
    case THUMB_FMLA:
    case THUMB_FDIV:
    case THUMB_FSQRT:
    case THUMB_FCVT:
        return true;
    default:
        return false;
    }
}

/* Returns the cycles of one instruction on M3 and M4. before is NULL at the start of a run. */
static uint32_t one_at_a_time(core_t core, const thumb_t *t, const thumb_t *before) {
    const uint32_t more = t->words > 1 ? t->words - 1u : 0;
    const bool m3 = core == CORE_M3;
    switch (t->kind) {
    case THUMB_MLA:
        return m3 ? 2 : 1;
    case THUMB_MULL:
        return m3 ? 5 : 1;
    case THUMB_MLAL:
        return m3 ? 7 : 1;
    case THUMB_DIV:
        return 12;
    case THUMB_LOAD:
    case THUMB_FLOAD:
        if (before && is_single_access(before) && !(before->writes & t->address))
            return 1 + more;
        return 2 + more;
    case THUMB_FSTORE:
        return (before && is_single_access(before) ? 1 : 2) + more;
    case THUMB_STORE:
        return 1;
    case THUMB_LOADS:
    case THUMB_STORES:
    case THUMB_FLOADS:
    case THUMB_FSTORES:
        return 1u + t->words;
    case THUMB_RETURN:
        return 3u + t->words;
    case THUMB_BRANCH:
        return 3;
    case THUMB_TABLE:
        return 4;
    case THUMB_FMLA:
        return 3;
    case THUMB_FDIV:
    case THUMB_FSQRT:
        return 14;
    case THUMB_FCORE:
        return t->words > 1 ? 2 : 1;
    default:
        return 1;
    }
}

/*
 * True if an instruction reads the FPU result of the one directly before. The addend of a
 * multiply-accumulate does not count, because it is needed later; an addend that is also a factor
 * does not count either.
 */
static bool is_used_at_once(const thumb_t *before, const thumb_t *t) {
    const uint64_t wanted = t->kind == THUMB_FMLA ? t->reads & ~t->addend : t->reads;
    return is_fpu_arithmetic(before) && (wanted & before->writes);
}

static core_cost_t block_in_order(core_t core, const thumb_t code[], size_t n) {
    core_cost_t cost = {0};
    for (size_t i = 0; i < n; i++) {
        const thumb_t *t = &code[i], *before = i > 0 ? t - 1 : NULL;
        cost.cycles += one_at_a_time(core, t, before);
        cost.uses += before && is_used_at_once(before, t);
    }
    return cost;
}

int32_t core_join(core_t core, const thumb_t *last, const thumb_t *first) {
    if (core == CORE_M7)
        return 0;
    return (int32_t)one_at_a_time(core, first, last) - (int32_t)one_at_a_time(core, first, NULL) +
           is_used_at_once(last, first);
}

/*
 * Units that exist only once in the M7, so that two instructions cannot use them in the same cycle.
 */
enum {
    UNIT_MEMORY = 1,
    UNIT_FPU = 2,
    UNIT_MULTIPLY = 4,
    UNIT_SHIFT = 8,
    UNIT_BRANCH = 16,
    UNIT_ALL = 31
};

typedef struct {
    unsigned units;
    uint32_t latency; /* cycles until another instruction can read the result */
    uint32_t busy;    /* cycles for which the units accept no other instruction */
} stage_t;

static stage_t m7_stage(const thumb_t *t) {
    switch (t->kind) {
    case THUMB_ALU:
        return (stage_t){t->shifted ? UNIT_SHIFT : 0, 1, 1};
    case THUMB_MOVE:
    case THUMB_IT:
    case THUMB_OTHER:
        return (stage_t){0, 1, 1};
    case THUMB_MUL:
    case THUMB_MULL:
    case THUMB_MLA:
    case THUMB_MLAL:
        return (stage_t){UNIT_MULTIPLY, 2, 1};
    case THUMB_DIV:
        return (stage_t){UNIT_ALL, 4, 4};
    case THUMB_LOAD:
        return (stage_t){UNIT_MEMORY, 2, 1};
    case THUMB_STORE:
        return (stage_t){UNIT_MEMORY, 1, 1};
    case THUMB_FLOAD:
        return t->twice ? (stage_t){UNIT_ALL, 3, 1} : (stage_t){UNIT_MEMORY, 2, 1};
    case THUMB_FSTORE:
        return t->twice ? (stage_t){UNIT_ALL, 1, 1} : (stage_t){UNIT_MEMORY, 1, 1};
    case THUMB_LOADS:
    case THUMB_FLOADS:
    case THUMB_STORES:
    case THUMB_FSTORES:
    case THUMB_RETURN:
        return (stage_t){UNIT_ALL, (t->words + 1u) / 2 + 1, (t->words + 1u) / 2};
    case THUMB_BRANCH:
    case THUMB_BRANCH_IF:
    case THUMB_TABLE:
        return (stage_t){UNIT_BRANCH, 1, 1};
    case THUMB_FMUL:
        return t->twice ? (stage_t){UNIT_FPU, 6, 3} : (stage_t){UNIT_FPU, 3, 1};
    case THUMB_FMLA:
        return t->twice ? (stage_t){UNIT_FPU, 10, 4} : (stage_t){UNIT_FPU, 6, 1};
    case THUMB_FDIV:
    case THUMB_FSQRT:
        return t->twice ? (stage_t){UNIT_FPU, 31, 31} : (stage_t){UNIT_FPU, 16, 16};
    case THUMB_FCORE:
        return (stage_t){t->words > 1 ? UNIT_ALL : 0, 1, 1};
    default:
        return (stage_t){UNIT_FPU, 3, 1};
    }
}

typedef struct {
    uint32_t cycle;    /* cycle in which the last instruction was issued */
    unsigned together; /* number of instructions issued in this cycle */
    unsigned units;    /* units that these instructions use */
    uint32_t ready[THUMB_SET_BITS];
    uint32_t free[5]; /* cycle from which each unit is free */
} m7_t;

static void m7_issue(m7_t *m, const thumb_t *t) {
    const stage_t stage = m7_stage(t);
    uint32_t at = m->cycle;
    /* A store needs its data one cycle later than its address, so the registers of the data may be
     * ready later. */
    const bool store = t->kind == THUMB_STORE || t->kind == THUMB_FSTORE;
    for (int r = 0; r < THUMB_SET_BITS; r++) {
        const uint64_t bit = (uint64_t)1 << r;
        if (!(t->reads & bit))
            continue;
        uint32_t ready = m->ready[r];
        if (store && !(t->address & bit) && ready > 0)
            ready--;
        at = ready > at ? ready : at;
    }
    for (int u = 0; u < 5; u++)
        if (stage.units >> u & 1 && m->free[u] > at)
            at = m->free[u];
    if (at == m->cycle && (m->together == 2 || (m->units & stage.units) ||
                           (m->together && stage.units == UNIT_ALL) || m->units == UNIT_ALL))
        at++;
    if (at > m->cycle) {
        m->cycle = at;
        m->together = 0;
        m->units = 0;
    }
    m->together++;
    m->units |= stage.units;
    for (int u = 0; u < 5; u++)
        if (stage.units >> u & 1)
            m->free[u] = at + stage.busy;
    for (int r = 0; r < THUMB_SET_BITS; r++)
        if (t->writes >> r & 1)
            m->ready[r] = at + stage.latency;
}

static core_cost_t block_by_two(const thumb_t code[], size_t n) {
    m7_t m = {0};
    for (size_t i = 0; i < n; i++)
        m7_issue(&m, &code[i]);
    uint32_t cycles = n > 0 ? m.cycle + 1 : 0;
    if (n > 0) {
        const thumb_t *last = &code[n - 1];
        const uint32_t busy = m7_stage(last).busy;
        cycles += busy - 1;
        if (last->kind == THUMB_BRANCH || last->kind == THUMB_TABLE || last->kind == THUMB_RETURN)
            cycles += core_taken(CORE_M7);
    }
    return (core_cost_t){cycles, 0};
}

core_cost_t core_block(core_t core, const thumb_t code[], size_t n) {
    return core == CORE_M7 ? block_by_two(code, n) : block_in_order(core, code, n);
}
