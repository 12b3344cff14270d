/*
 * A plugin for the emulator. It counts, by class, the instructions between two marker functions of
 * the bench program, and estimates the cycles of a core (tools/bench/cores.h).
 *
 *     -plugin count.so,core=m4f,begin=0x...,end=0x...,row=0x...,out=FILE[,where=FILE]
 *
 * A measurement goes from each call of `begin` to the next call of `end`. A call of `row` ends a
 * group of measurements and writes one line to FILE: `calls least most cycles uses` and the
 * instructions by class. All except `calls` and `least` are those of the most expensive call. With
 * `where`, the plugin also writes how often each address was executed in that call.
 *
 * The plugin works with blocks of translated code: it computes the cost of a block when the block
 * is translated; when the block runs, it only counts the run. The emulator enters a block at its
 * start and leaves it at its end, except where a device is read; between the markers no code reads
 * a device.
 *
 * It uses version 1 of the plugin interface, declared here because no package has its header. An
 * emulator with another version reports that and does not start; tools/bench/bench.py then runs
 * without the plugin.
 */
#include "tools/bench/cores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef struct {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
} qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef enum { QEMU_PLUGIN_CB_NO_REGS } qemu_plugin_cb_flags_t;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*run)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*run)(unsigned, void *),
                                          qemu_plugin_cb_flags_t flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

EXPORT extern int qemu_plugin_version;
int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

typedef struct block {
    uint64_t start, end;      /* end: address of the next code if the last branch is not taken */
    bool may_branch, runs_on; /* ends with a conditional branch, ends without any branch */
    thumb_t first, last;
    uint32_t n;
    core_cost_t cost;
    uint16_t by_class[THUMB_CLASS_COUNT];
    uint32_t *address;      /* address of each instruction; NULL without `where` */
    thumb_class_t *kind;    /* class of each instruction */
    uint64_t runs;          /* number of runs in the present measurement */
    struct block *next_run; /* next in the list of blocks that have runs */
} block_t;

typedef struct {
    uint64_t instructions, cycles, uses;
    uint64_t by_class[THUMB_CLASS_COUNT];
} tally_t;

static core_t core = CORE_COUNT;
static uint64_t at_begin, at_end, at_row;
static FILE *out, *where;

static bool counting;
static block_t *ran; /* list of the blocks that ran in the present measurement */
static block_t *last;
static uint64_t taken;
static int64_t joined; /* cycles to add where the emulator cut a run in two; may be negative */
static uint64_t calls, least;
static tally_t dearest;

/* Blocks and their runs in the most expensive measurement; they tell how often each address was
 * executed. */
static struct run {
    const block_t *block;
    uint64_t runs;
} * runs_then;
static size_t runs_used, runs_room;

static void *must(void *memory) {
    if (!memory) {
        fprintf(stderr, "bench plugin: no memory\n");
        exit(2);
    }
    return memory;
}

static void begin(void) {
    counting = true;
    last = NULL;
    taken = 0;
    joined = 0;
}

static void keep_runs(void) {
    runs_used = 0;
    for (const block_t *b = ran; b; b = b->next_run) {
        if (runs_used == runs_room) {
            runs_room = runs_room ? 2 * runs_room : 256;
            runs_then = must(realloc(runs_then, runs_room * sizeof *runs_then));
        }
        runs_then[runs_used++] = (struct run){b, b->runs};
    }
}

static void finish(void) {
    tally_t tally = {.cycles = taken * core_taken(core) + (uint64_t)joined};
    counting = false;
    for (const block_t *b = ran; b; b = b->next_run) {
        tally.instructions += b->runs * b->n;
        tally.cycles += b->runs * b->cost.cycles;
        tally.uses += b->runs * b->cost.uses;
        for (int k = 0; k < THUMB_CLASS_COUNT; k++)
            tally.by_class[k] += b->runs * b->by_class[k];
    }
    if (calls == 0 || tally.instructions < least)
        least = tally.instructions;
    if (calls == 0 || tally.cycles + tally.uses > dearest.cycles + dearest.uses) {
        dearest = tally;
        if (where)
            keep_runs();
    }
    calls++;
    while (ran) {
        block_t *b = ran;
        ran = b->next_run;
        b->next_run = NULL;
        b->runs = 0;
    }
}

static void end_row(void) {
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, calls, least,
            dearest.instructions, dearest.cycles, dearest.uses);
    for (int k = 0; k < THUMB_CLASS_COUNT; k++)
        fprintf(out, " %" PRIu64, dearest.by_class[k]);
    fprintf(out, "\n");
    fflush(out);
    if (where) {
        for (size_t i = 0; i < runs_used; i++)
            for (uint32_t k = 0; k < runs_then[i].block->n; k++)
                fprintf(where, "%" PRIx32 " %" PRIu64 " %s\n", runs_then[i].block->address[k],
                        runs_then[i].runs, thumb_class_name(runs_then[i].block->kind[k]));
        fprintf(where, "row\n");
        fflush(where);
    }
    calls = 0;
    dearest = (tally_t){0};
    runs_used = 0;
}

static void run_block(unsigned cpu, void *data) {
    block_t *b = data;
    (void)cpu;
    if (b->start == at_begin) {
        begin();
        return;
    }
    if (!counting) {
        if (b->start == at_row)
            end_row();
        return;
    }
    if (last && last->may_branch && b->start != last->end)
        taken++;
    else if (last && last->runs_on && b->start == last->end)
        joined += core_join(core, &last->last, &b->first);
    if (b->start == at_end) {
        finish();
        return;
    }
    last = b;
    if (b->runs++ == 0) {
        b->next_run = ran;
        ran = b;
    }
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    const size_t n = qemu_plugin_tb_n_insns(tb);
    block_t *b = must(calloc(1, sizeof *b));
    thumb_t *code = must(calloc(n + 1, sizeof *code));
    (void)id;
    b->start = b->end = qemu_plugin_tb_vaddr(tb);
    b->n = (uint32_t)n;
    if (where) {
        b->address = must(calloc(n + 1, sizeof *b->address));
        b->kind = must(calloc(n + 1, sizeof *b->kind));
    }
    for (size_t i = 0; i < n; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint16_t half[2] = {0, 0};
        const size_t size = qemu_plugin_insn_size(insn);
        memcpy(half, qemu_plugin_insn_data(insn), size < 4 ? size : 4);
        code[i] = thumb_decode(half[0], half[1]);
        b->by_class[code[i].kind]++;
        b->end = qemu_plugin_insn_vaddr(insn) + size;
        b->may_branch = code[i].kind == THUMB_BRANCH_IF;
        if (b->address && b->kind) {
            b->address[i] = (uint32_t)qemu_plugin_insn_vaddr(insn);
            b->kind[i] = code[i].kind;
        }
    }
    if (n > 0) {
        b->first = code[0];
        b->last = code[n - 1];
        b->runs_on = !(b->last.writes & THUMB_CORE(15));
    }
    b->cost = core_block(core, code, n);
    free(code);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, run_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

static FILE *open_to_write(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        fprintf(stderr, "bench plugin: cannot write %s\n", path);
    return file;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        const size_t length = equals ? (size_t)(equals - argv[i]) : 0;
        if (length == 4 && !strncmp(argv[i], "core", 4))
            core = core_named(equals + 1);
        else if (length == 5 && !strncmp(argv[i], "begin", 5))
            at_begin = strtoull(equals + 1, NULL, 0);
        else if (length == 3 && !strncmp(argv[i], "end", 3))
            at_end = strtoull(equals + 1, NULL, 0);
        else if (length == 3 && !strncmp(argv[i], "row", 3))
            at_row = strtoull(equals + 1, NULL, 0);
        else if (length == 3 && !strncmp(argv[i], "out", 3))
            out = open_to_write(equals + 1);
        else if (length == 5 && !strncmp(argv[i], "where", 5))
            where = open_to_write(equals + 1);
        else {
            fprintf(stderr, "bench plugin: unknown argument %s\n", argv[i]);
            return 1;
        }
    }
    if (core == CORE_COUNT || !at_begin || !at_end || !at_row || !out) {
        fprintf(stderr, "bench plugin: needs core=m3|m4f|m7, begin=, end=, row= and out=\n");
        return 1;
    }
    fprintf(out, "calls least most cycles uses");
    for (int k = 0; k < THUMB_CLASS_COUNT; k++)
        fprintf(out, " %s", thumb_class_name((thumb_class_t)k));
    fprintf(out, "\n");
    fflush(out);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}
