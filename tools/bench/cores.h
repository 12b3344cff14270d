// clang-format off
/*
 * How long a straight run of instructions takes on a core: an ESTIMATE, not a measurement. Code and
 * data come without wait states (flash accelerator or RAM), nothing interrupts, and each run of
 * instructions starts with an empty pipeline.
 *
 * From the tables of instruction timings in the technical reference manuals (TRM) of the M3 and M4:
 *
 *                          M3      M4
 *   alu, mov               1       1
 *   mul                    1       1
 *   mla                    2       1
 *   smull, umull           5       1      M3: 3 to 5 by the size of the factors; ours are full words
 *   smlal, umlal           7       1      M3: 4 to 7
 *   sdiv, udiv             12      12     2 to 12
 *   ldr, vldr              2       2      1 directly behind another single load or store, unless
 *                                         that gives it its address; one more for a double
 *   str, vstr              1       1      written behind the next instruction; one more for a double
 *   ldm, stm, push, vldm   1 + words      also ldrd, strd
 *   branch, not taken      1       1
 *   branch, taken          3       3      1 + 1 to 3 for the pipeline; also bl, bx; a table one more
 *   pop with pc            3 + words
 *   it                     1       1      sometimes 0
 *   vadd, vmul, vcmp,      -       1
 *   vcvt, vneg, vmov       -       1
 *   vmla, vfma             -       3
 *   vdiv, vsqrt            -       14
 *   vmov of two words      -       2
 *   use                    -       1      an FPU result that the very next instruction reads: the TRM
 *                                         says one cycle longer; not so for the addend of a vmla.
 *                                         Counted apart: core_cost_t.uses
 *
 * M7: two instructions a cycle, in order. Nothing official is public; the latencies are those of
 * the pipeline description that compilers schedule by: alu and mov 1, mul 2, load 2, vadd and vmul
 * 3, vmla 6, in double vmul 6 and vmla 10, vdiv 16 and 31. Two instructions go together unless the
 * second reads what the first writes or both want the one load-store unit, the one FPU, the one
 * multiplier, the one shifter or the branch unit. A load or store of several words goes alone, two
 * words a cycle; a double-precision vmul keeps the FPU for 3 cycles, vmla for 4, a division for all
 * of its latency. A taken branch costs one more cycle (predicted; a wrong prediction is not
 * modelled).
 */
// clang-format on
#ifndef TOOLS_BENCH_CORES_H
#define TOOLS_BENCH_CORES_H

#include "tools/bench/thumb.h"

#include <stddef.h>

typedef enum { CORE_M3, CORE_M4F, CORE_M7, CORE_COUNT } core_t;

typedef struct {
    uint32_t cycles; /* cycles if a final conditional branch is not taken; without uses */
    uint32_t uses;   /* M4F: more cycles for results used at once. M7: 0, they are in cycles */
} core_cost_t;

/* Returns CORE_COUNT if there is no such core. */
core_t core_named(const char *name);
core_cost_t core_block(core_t core, const thumb_t code[], size_t n);
/* Additional cycles of a conditional branch that is taken. */
uint32_t core_taken(core_t core);
/*
 * Additional cycles (possibly negative) of a run that continues another without a branch, because
 * the emulator cuts runs at the ends of its pages. Zero for the M7, whose estimate is then a cycle
 * or two too high.
 */
int32_t core_join(core_t core, const thumb_t *last, const thumb_t *first);

#endif
