/*
 * Decodes an instruction of ARMv7-M with VFPv4/v5: its class and the registers that it reads and
 * writes. The decoder works on the code bytes, because not every build of the emulator has a
 * disassembler. test/system/test_bench.py compares every instruction of the bench programs with the
 * disassembler of binutils.
 */
#ifndef TOOLS_BENCH_THUMB_H
#define TOOLS_BENCH_THUMB_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, "name", "group"). A summary adds the classes of a group. */
#define THUMB_CLASSES(X)                                                                           \
    X(ALU, "alu", "arithmetic") /* add, logic, shift, compare, extend, bit field */                \
    X(MOVE, "mov", "moves")     /* mov, mvn, movw, movt */                                         \
    X(MUL, "mul", "arithmetic") /* 32-bit product */                                               \
    X(MLA, "mla", "arithmetic")                                                                    \
    X(MULL, "mull", "arithmetic") /* 64-bit product */                                             \
    X(MLAL, "mlal", "arithmetic")                                                                  \
    X(DIV, "div", "arithmetic")                                                                    \
    X(LOAD, "ldr", "loads")                                                                        \
    X(LOADS, "ldm", "loads") /* ldm, pop, ldrd */                                                  \
    X(STORE, "str", "stores")                                                                      \
    X(STORES, "stm", "stores")      /* stm, push, strd */                                          \
    X(BRANCH, "b", "branches")      /* always taken: b, bl, bx, blx, mov pc */                     \
    X(BRANCH_IF, "bcc", "branches") /* b<cond>, cbz */                                             \
    X(TABLE, "tbb", "branches")                                                                    \
    X(RETURN, "pop_pc", "branches") /* ldm, pop or ldr with pc */                                  \
    X(IT, "it", "branches")                                                                        \
    X(FADD, "vadd", "arithmetic") /* vadd, vsub, vmaxnm, vminnm */                                 \
    X(FMUL, "vmul", "arithmetic")                                                                  \
    X(FMLA, "vmla", "arithmetic") /* vmla, vfma and their negated forms */                         \
    X(FDIV, "vdiv", "arithmetic")                                                                  \
    X(FSQRT, "vsqrt", "arithmetic")                                                                \
    X(FCMP, "vcmp", "arithmetic")                                                                  \
    X(FCVT, "vcvt", "arithmetic")  /* vcvt, vrint */                                               \
    X(FSIGN, "vneg", "arithmetic") /* vneg, vabs */                                                \
    X(FMOVE, "vmov", "moves")      /* move between FPU registers or of a constant, vsel */         \
    X(FCORE, "vmov_core", "moves") /* move between core and FPU, vmrs */                           \
    X(FLOAD, "vldr", "loads")                                                                      \
    X(FLOADS, "vldm", "loads")                                                                     \
    X(FSTORE, "vstr", "stores")                                                                    \
    X(FSTORES, "vstm", "stores")                                                                   \
    X(OTHER, "other", "other")

typedef enum {
#define X(name, text, group) THUMB_##name,
    THUMB_CLASSES(X)
#undef X
        THUMB_CLASS_COUNT
} thumb_class_t;

/* A register set has one bit for each of r0 to r15, s0 to s31 (d0 is s0 and s1), the flags of the
 * core and of the FPU. */
#define THUMB_CORE(r)  ((uint64_t)1 << (r))
#define THUMB_FPU(s)   ((uint64_t)1 << (16 + (s)))
#define THUMB_FLAGS    ((uint64_t)1 << 48)
#define THUMB_FPFLAGS  ((uint64_t)1 << 49)
#define THUMB_SET_BITS 50

typedef struct {
    thumb_class_t kind;
    uint8_t bytes;    /* 2 or 4 */
    uint8_t words;    /* number of words that a load or store moves */
    bool twice;       /* double precision */
    bool shifted;     /* an ALU operand goes through the shifter or is extended */
    uint64_t address; /* registers that form the address of a load or store; also in reads */
    uint64_t addend;  /* register of a multiply-accumulate's addend; also in reads */
    uint64_t reads, writes;
} thumb_t;

/* Decodes the instruction in two halfwords; the second is used only if the first begins a 32-bit
 * instruction. */
thumb_t thumb_decode(uint16_t first, uint16_t second);

const char *thumb_class_name(thumb_class_t kind);
const char *thumb_class_group(thumb_class_t kind);

#endif
