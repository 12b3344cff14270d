// clang-format off
/*
 * Estimates the time of a straight run of instructions on a core. This is an ESTIMATE, not a
 * measurement. It assumes that code and data come without wait states (flash accelerator or RAM),
 * that nothing interrupts, and that each run of instructions starts with an empty pipeline.
 *
 * Cycles from the instruction timings in the technical reference manuals (TRM) of the M3 and M4:
 *
 *                          M3      M4
 *   alu, mov               1       1
 *   mul                    1       1
 *   mla                    2       1
 *   smull, umull           5       1      M3: 3 to 5, depending on the factors; ours are full words
 *   smlal, umlal           7       1      M3: 4 to 7
 *   sdiv, udiv             12      12     2 to 12, depending on the numbers
 *   ldr, vldr              2       2      1 directly after another single load or store, unless
 *                                         that one loads the address; one more for a double
 *   str                    1       1      the write overlaps with the next instruction
 *   vstr                   -       2      1 directly after another single load or store; one more
 *                                         for a double
 *   ldm, stm, push, vldm   1 + words      also ldrd, strd
 *   branch, not taken      1       1
 *   branch, taken          3       3      1 + 1 to 3 to refill the pipeline; also bl, bx; a jump
 *                                         through a table takes one more
 *   pop with pc            3 + words
 *   it                     1       1      sometimes 0
 *   vadd, vmul, vcmp,      -       1
 *   vcvt, vneg, vmov       -       1
 *   vmla, vfma             -       3
 *   vdiv, vsqrt            -       14
 *   vmov of two words      -       2
 *   use                    -       1      one cycle more if the next instruction reads an FPU
 *                                         result, except as the addend of a vmla. Counted
 *                                         separately, in core_cost_t.uses
 *
 * The M7 issues up to two instructions per cycle, in order. No official timings are public; the
 * latencies are those of the pipeline description with which compilers schedule: alu and mov 1, mul
 * 2, load 2, vadd and vmul 3, vmla 6, vdiv 16; in double precision vmul 6, vmla 10, vdiv 31. Two
 * instructions issue together unless the second reads a result of the first or both need the same
 * unit: load-store unit, FPU, multiplier, shifter or branch unit. A load or store of several words
 * issues alone and moves two words per cycle. A double-precision vmul occupies the FPU for 3
 * cycles, a vmla for 4, and a division for all of its latency. A taken branch costs one more cycle
 * (predicted; a wrong prediction is not modelled).
 */
// clang-format on
#ifndef TOOLS_BENCH_CORES_H
#define TOOLS_BENCH_CORES_H

#include "tools/bench/thumb.h"

#include <stddef.h>

typedef enum { CORE_M3, CORE_M4F, CORE_M7, CORE_COUNT } core_t;

typedef struct {
    uint32_t cycles; /* cycles without `uses`, if a final conditional branch is not taken */
    /* M4F: extra cycles for results used at once; M7: 0, because `cycles` includes them */
    uint32_t uses;
} core_cost_t;

/* Returns the core of this name, or CORE_COUNT if there is none. */
core_t core_named(const char *name);
core_cost_t core_block(core_t core, const thumb_t code[], size_t n);
/* Returns the additional cycles of a conditional branch that is taken. */
uint32_t core_taken(core_t core);
/*
 * Returns the additional cycles (possibly negative) of a run that continues another without a
 * branch. Such runs exist because the emulator cuts code at the ends of its pages. Zero for the M7,
 * whose estimate is then a cycle or two too high.
 */
int32_t core_join(core_t core, const thumb_t *last, const thumb_t *first);

#endif
