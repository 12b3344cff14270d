/* Implements tools/bench/thumb.h from the encodings in the ARMv7-M architecture reference manual,
 * chapters A5 to A7. */
#include "tools/bench/thumb.h"

#include <stddef.h>

enum { SP = 13, LR = 14, PC = 15 };

static unsigned bits(unsigned word, int high, int low) {
    return word >> low & ((2u << (high - low)) - 1);
}

static uint64_t core(unsigned r) {
    return THUMB_CORE(r & 15);
}

/* Returns an FPU register as a register set, given its field and extra bit in the instruction. */
static uint64_t fpu(bool twice, unsigned field, unsigned extra) {
    return twice ? (uint64_t)3 << (16 + 2 * field) : THUMB_FPU(field << 1 | extra);
}

static unsigned count_ones(uint64_t set) {
    unsigned n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

static void set_kind(thumb_t *t, thumb_class_t kind, uint64_t reads, uint64_t writes) {
    t->kind = kind;
    t->reads = reads;
    t->writes = writes;
}

/* An instruction that writes the program counter counts as a branch, whatever else it does. */
static void settle_branch(thumb_t *t) {
    if (!(t->writes & core(PC)))
        return;
    if (t->kind == THUMB_LOAD || t->kind == THUMB_LOADS)
        t->kind = THUMB_RETURN;
    else if (t->kind == THUMB_ALU || t->kind == THUMB_MOVE)
        t->kind = THUMB_BRANCH;
}

static void memory_one(thumb_t *t, bool load, uint64_t address, unsigned rt) {
    t->words = 1;
    t->address = address;
    set_kind(t, load ? THUMB_LOAD : THUMB_STORE, address | (load ? 0 : core(rt)),
             load ? core(rt) : 0);
}

static void memory_list(thumb_t *t, bool load, unsigned base, bool writeback, uint64_t list) {
    t->words = (uint8_t)count_ones(list);
    t->address = core(base);
    set_kind(t, load ? THUMB_LOADS : THUMB_STORES, core(base) | (load ? 0 : list),
             (load ? list : 0) | (writeback ? core(base) : 0));
}

/* Decodes the sixteen operations on two low registers. */
static void decode_low_registers(thumb_t *t, unsigned h) {
    const unsigned op = bits(h, 9, 6);
    const uint64_t rd = core(bits(h, 2, 0)), rm = core(bits(h, 5, 3));
    switch (op) {
    case 8:  /* tst */
    case 10: /* cmp */
    case 11: /* cmn */
        set_kind(t, THUMB_ALU, rd | rm, THUMB_FLAGS);
        break;
    case 9: /* rsb */
        set_kind(t, THUMB_ALU, rm, rd | THUMB_FLAGS);
        break;
    case 13:
        set_kind(t, THUMB_MUL, rd | rm, rd | THUMB_FLAGS);
        break;
    case 15: /* mvn */
        set_kind(t, THUMB_MOVE, rm, rd | THUMB_FLAGS);
        break;
    case 5: /* adc */
    case 6: /* sbc */
        set_kind(t, THUMB_ALU, rd | rm | THUMB_FLAGS, rd | THUMB_FLAGS);
        break;
    default:
        set_kind(t, THUMB_ALU, rd | rm, rd | THUMB_FLAGS);
        t->shifted = op == 2 || op == 3 || op == 4 || op == 7;
    }
}

static void decode_high_registers(thumb_t *t, unsigned h) {
    const uint64_t rd = core(bits(h, 7, 7) << 3 | bits(h, 2, 0)), rm = core(bits(h, 6, 3));
    switch (bits(h, 9, 8)) {
    case 0:
        set_kind(t, THUMB_ALU, rd | rm, rd);
        break;
    case 1:
        set_kind(t, THUMB_ALU, rd | rm, THUMB_FLAGS);
        break;
    case 2:
        set_kind(t, THUMB_MOVE, rm, rd);
        break;
    default: /* bx, blx */
        set_kind(t, THUMB_BRANCH, rm, core(PC) | (bits(h, 7, 7) ? core(LR) : 0));
    }
}

static void decode_misc16(thumb_t *t, unsigned h) {
    const uint64_t rd = core(bits(h, 2, 0)), rm = core(bits(h, 5, 3));
    if ((h & 0xF500) == 0xB100) {
        set_kind(t, THUMB_BRANCH_IF, rd, core(PC)); /* cbz, cbnz */
    } else if (bits(h, 11, 8) == 0) {
        set_kind(t, THUMB_ALU, core(SP), core(SP));
    } else if (bits(h, 11, 8) == 2 || bits(h, 11, 8) == 10) { /* extend, reverse */
        set_kind(t, THUMB_ALU, rm, rd);
        t->shifted = true;
    } else if (bits(h, 11, 9) == 2) {
        memory_list(t, false, SP, true, bits(h, 7, 0) | (bits(h, 8, 8) ? core(LR) : 0));
    } else if (bits(h, 11, 9) == 6) {
        memory_list(t, true, SP, true, bits(h, 7, 0) | (bits(h, 8, 8) ? core(PC) : 0));
    } else if (bits(h, 11, 8) == 15 && bits(h, 3, 0)) {
        set_kind(t, THUMB_IT, THUMB_FLAGS, 0);
    }
}

static void decode16(thumb_t *t, unsigned h) {
    const uint64_t r0 = core(bits(h, 2, 0)), r3 = core(bits(h, 5, 3)), r6 = core(bits(h, 8, 6));
    const uint64_t r8 = core(bits(h, 10, 8));
    switch (bits(h, 15, 13)) {
    case 0:
        if (bits(h, 12, 11) == 3) {
            set_kind(t, THUMB_ALU, r3 | (bits(h, 10, 10) ? 0 : r6), r0 | THUMB_FLAGS);
        } else {
            set_kind(t, bits(h, 12, 6) ? THUMB_ALU : THUMB_MOVE, r3, r0 | THUMB_FLAGS);
            t->shifted = t->kind == THUMB_ALU;
        }
        break;
    case 1:
        if (bits(h, 12, 11) == 0)
            set_kind(t, THUMB_MOVE, 0, r8 | THUMB_FLAGS);
        else
            set_kind(t, THUMB_ALU, r8, THUMB_FLAGS | (bits(h, 12, 11) == 1 ? 0 : r8));
        break;
    case 2:
        if (bits(h, 12, 10) == 0)
            decode_low_registers(t, h);
        else if (bits(h, 12, 10) == 1)
            decode_high_registers(t, h);
        else if (bits(h, 12, 11) == 1)
            memory_one(t, true, core(PC), bits(h, 10, 8));
        else
            memory_one(t, bits(h, 11, 9) >= 3, r3 | r6, bits(h, 2, 0));
        break;
    case 3:
        memory_one(t, bits(h, 11, 11), r3, bits(h, 2, 0));
        break;
    case 4:
        if (bits(h, 12, 12))
            memory_one(t, bits(h, 11, 11), core(SP), bits(h, 10, 8));
        else
            memory_one(t, bits(h, 11, 11), r3, bits(h, 2, 0));
        break;
    case 5:
        if (bits(h, 12, 12))
            decode_misc16(t, h);
        else
            set_kind(t, THUMB_ALU, bits(h, 11, 11) ? core(SP) : core(PC), r8);
        break;
    case 6:
        if (!bits(h, 12, 12)) {
            const bool load = bits(h, 11, 11);
            const bool writeback = !load || !(h >> bits(h, 10, 8) & 1);
            memory_list(t, load, bits(h, 10, 8), writeback, bits(h, 7, 0));
        } else if (bits(h, 11, 8) < 14) {
            set_kind(t, THUMB_BRANCH_IF, THUMB_FLAGS, core(PC));
        }
        break;
    default:
        set_kind(t, THUMB_BRANCH, 0, core(PC));
    }
    settle_branch(t);
}

/* Decodes operations that have both a shifted-register and an immediate form. */
static void decode_data(thumb_t *t, unsigned op, bool s, unsigned rn, unsigned rd,
                        uint64_t operand) {
    const uint64_t flags = s ? THUMB_FLAGS : 0;
    const uint64_t carry = op == 10 || op == 11 ? THUMB_FLAGS : 0; /* adc, sbc */
    if ((op == 2 || op == 3) && rn == PC)                          /* mov, mvn */
        set_kind(t, THUMB_MOVE, operand, core(rd) | flags);
    else if ((op == 0 || op == 4 || op == 8 || op == 13) && rd == PC && s) /* tst teq cmn cmp */
        set_kind(t, THUMB_ALU, core(rn) | operand, THUMB_FLAGS);
    else
        set_kind(t, THUMB_ALU, core(rn) | operand | carry, core(rd) | flags);
}

static void decode_plain_immediate(thumb_t *t, unsigned op, unsigned rn, unsigned rd) {
    switch (op) {
    case 4: /* movw */
        set_kind(t, THUMB_MOVE, 0, core(rd));
        break;
    case 12: /* movt */
        set_kind(t, THUMB_MOVE, core(rd), core(rd));
        break;
    case 22: /* bfi; bfc has no rn */
        set_kind(t, THUMB_ALU, core(rd) | (rn == PC ? 0 : core(rn)), core(rd));
        t->shifted = true;
        break;
    default:
        set_kind(t, THUMB_ALU, core(rn), core(rd));
        t->shifted = op >= 16;
    }
}

static void decode_memory32(thumb_t *t, unsigned a, unsigned b) {
    const unsigned rn = bits(a, 3, 0), rt = bits(b, 15, 12);
    const bool load = bits(a, 4, 4);
    uint64_t address = core(rn), writeback = 0;
    if (rn != PC && !bits(a, 7, 7)) {
        if (bits(b, 11, 11))
            writeback = bits(b, 8, 8) ? core(rn) : 0;
        else
            address |= core(bits(b, 3, 0));
    }
    if (load && rt == PC && bits(a, 6, 5) != 2)
        return; /* a hint */
    memory_one(t, load, address, rt);
    t->writes |= writeback;
}

static void decode_dual(thumb_t *t, unsigned a, unsigned b) {
    const unsigned rn = bits(a, 3, 0);
    const bool load = bits(a, 4, 4);
    if (bits(a, 8, 8) || bits(a, 5, 5)) { /* ldrd, strd */
        memory_list(t, load, rn, bits(a, 5, 5), core(bits(b, 15, 12)) | core(bits(b, 11, 8)));
    } else if (bits(a, 7, 4) == 13 && bits(b, 7, 5) == 0) {
        set_kind(t, THUMB_TABLE, core(rn) | core(bits(b, 3, 0)), core(PC));
    } else { /* exclusive */
        memory_one(t, load, core(rn), bits(b, 15, 12));
        if (!load)
            t->writes |= core(bits(a, 7, 7) ? bits(b, 3, 0) : bits(b, 11, 8)); /* strexb, strex */
    }
}

static void decode_multiply(thumb_t *t, unsigned a, unsigned b) {
    const unsigned ra = bits(b, 15, 12), rd = bits(b, 11, 8);
    const uint64_t factors = core(bits(a, 3, 0)) | core(bits(b, 3, 0));
    if (!bits(a, 7, 7)) {
        set_kind(t, ra == PC ? THUMB_MUL : THUMB_MLA, factors | (ra == PC ? 0 : core(ra)),
                 core(rd));
        t->addend = ra == PC ? 0 : core(ra);
        return;
    }
    switch (bits(a, 6, 4)) {
    case 1:
    case 3:
        set_kind(t, THUMB_DIV, factors, core(rd));
        break;
    case 0:
    case 2:
        set_kind(t, THUMB_MULL, factors, core(ra) | core(rd));
        break;
    default:
        t->addend = core(ra) | core(rd);
        set_kind(t, THUMB_MLAL, factors | t->addend, core(ra) | core(rd));
    }
}

static void decode_fpu_memory(thumb_t *t, unsigned a, unsigned b) {
    const unsigned vd = bits(b, 15, 12), d = bits(a, 6, 6);
    const bool load = bits(a, 4, 4);
    const uint64_t base = core(bits(a, 3, 0));
    if ((a & 0x01E0) == 0x0040) { /* transfers of two core registers */
        const unsigned m = bits(b, 3, 0) << 1 | bits(b, 5, 5);
        const uint64_t fp =
            t->twice ? fpu(true, bits(b, 3, 0), 0) : THUMB_FPU(m) | (m < 31 ? THUMB_FPU(m + 1) : 0);
        const uint64_t two = core(bits(b, 15, 12)) | core(bits(a, 3, 0));
        t->words = 2;
        set_kind(t, THUMB_FCORE, load ? fp : two, load ? two : fp);
        return;
    }
    if (bits(a, 8, 8) && !bits(a, 5, 5)) {
        const uint64_t fp = fpu(t->twice, vd, d);
        t->words = t->twice ? 2 : 1;
        t->address = base;
        set_kind(t, load ? THUMB_FLOAD : THUMB_FSTORE, base | (load ? 0 : fp), load ? fp : 0);
        return;
    }
    uint64_t list = 0;
    const unsigned first = t->twice ? 2 * vd : vd << 1 | d;
    t->words = (uint8_t)bits(b, 7, 0);
    for (unsigned i = 0; i < t->words && first + i < 32; i++)
        list |= THUMB_FPU(first + i);
    t->address = base;
    set_kind(t, load ? THUMB_FLOADS : THUMB_FSTORES, base | (load ? 0 : list),
             (load ? list : 0) | (bits(a, 5, 5) ? base : 0));
}

/* Decodes operations with one operand: vmov, vabs, vneg, vsqrt, vcmp, vcvt. */
static void decode_fpu_unary(thumb_t *t, unsigned a, unsigned b, uint64_t vd, uint64_t vm) {
    const unsigned op = bits(a, 3, 0);
    const uint64_t single_d = fpu(false, bits(b, 15, 12), bits(a, 6, 6));
    const uint64_t double_d = fpu(true, bits(b, 15, 12), 0);
    const uint64_t single_m = fpu(false, bits(b, 3, 0), bits(b, 5, 5));
    const bool high = bits(b, 7, 7);
    if (!bits(b, 6, 6))
        set_kind(t, THUMB_FMOVE, 0, vd);
    else if (op == 0)
        set_kind(t, high ? THUMB_FSIGN : THUMB_FMOVE, vm, vd);
    else if (op == 1)
        set_kind(t, high ? THUMB_FSQRT : THUMB_FSIGN, vm, vd);
    else if (op == 4 || op == 5)
        set_kind(t, THUMB_FCMP, vd | (op == 4 ? vm : 0), THUMB_FPFLAGS);
    else if (op == 7 && high)
        set_kind(t, THUMB_FCVT, vm, t->twice ? single_d : double_d);
    else if (op == 8)
        set_kind(t, THUMB_FCVT, single_m, vd);
    else if (op == 12 || op == 13)
        set_kind(t, THUMB_FCVT, vm, single_d);
    /* conversion from or to fixed point: source and destination are the same register */
    else if (op >= 10)
        set_kind(t, THUMB_FCVT, vd, vd);
    else
        set_kind(t, THUMB_FCVT, vm, vd);
}

static void decode_fpu(thumb_t *t, unsigned a, unsigned b) {
    t->twice = bits(b, 8, 8);
    if (bits(b, 11, 9) != 5)
        return; /* not the FPU but another coprocessor */
    if (!bits(a, 9, 9)) {
        decode_fpu_memory(t, a, b);
        return;
    }
    const uint64_t vd = fpu(t->twice, bits(b, 15, 12), bits(a, 6, 6));
    const uint64_t vn = fpu(t->twice, bits(a, 3, 0), bits(b, 7, 7));
    const uint64_t vm = fpu(t->twice, bits(b, 3, 0), bits(b, 5, 5));
    if (bits(b, 4, 4)) {
        const uint64_t rt = core(bits(b, 15, 12));
        const bool to_core = bits(a, 4, 4);
        if (bits(a, 7, 5) == 7) { /* vmrs, vmsr; pc as destination means the flags */
            const uint64_t to = rt == core(PC) ? THUMB_FLAGS : rt;
            set_kind(t, THUMB_FCORE, to_core ? THUMB_FPFLAGS : rt, to_core ? to : THUMB_FPFLAGS);
        } else {
            const uint64_t one = t->twice ? THUMB_FPU(2 * bits(a, 3, 0) + bits(a, 5, 5))
                                          : fpu(false, bits(a, 3, 0), bits(b, 7, 7));
            t->words = 1;
            set_kind(t, THUMB_FCORE, to_core ? one : rt, to_core ? rt : one);
        }
        return;
    }
    if (bits(a, 12, 12) && bits(a, 11, 8) == 14 && bits(a, 15, 13) == 7) {
        if (!bits(a, 7, 7)) /* vsel */
            set_kind(t, THUMB_FMOVE, vn | vm | THUMB_FLAGS, vd);
        else if (bits(a, 5, 4) == 0)
            set_kind(t, THUMB_FADD, vn | vm, vd);
        else
            set_kind(t, THUMB_FCVT, vm, vd);
        return;
    }
    switch (bits(a, 7, 7) << 2 | bits(a, 5, 4)) {
    case 0:
    case 1:
    case 5:
    case 6:
        t->addend = vd;
        set_kind(t, THUMB_FMLA, vd | vn | vm, vd);
        break;
    case 2:
        set_kind(t, THUMB_FMUL, vn | vm, vd);
        break;
    case 3:
        set_kind(t, THUMB_FADD, vn | vm, vd);
        break;
    case 4:
        set_kind(t, THUMB_FDIV, vn | vm, vd);
        break;
    default:
        decode_fpu_unary(t, a, b, vd, vm);
    }
}

static void decode_branch32(thumb_t *t, unsigned a, unsigned b) {
    if (bits(b, 14, 14))
        set_kind(t, THUMB_BRANCH, 0, core(PC) | core(LR)); /* bl */
    else if (bits(b, 12, 12))
        set_kind(t, THUMB_BRANCH, 0, core(PC));
    else if (bits(a, 9, 7) != 7)
        set_kind(t, THUMB_BRANCH_IF, THUMB_FLAGS, core(PC));
}

static void decode32(thumb_t *t, unsigned a, unsigned b) {
    const unsigned rn = bits(a, 3, 0), rd = bits(b, 11, 8);
    const uint64_t rm = core(bits(b, 3, 0));
    if (bits(a, 12, 11) == 1) {
        if (bits(a, 10, 10)) {
            decode_fpu(t, a, b);
        } else if (bits(a, 9, 9)) {
            const bool shift = bits(b, 14, 12) || bits(b, 7, 4);
            decode_data(t, bits(a, 8, 5), bits(a, 4, 4), rn, rd, rm);
            t->shifted = shift;
            if (t->kind == THUMB_MOVE && shift && bits(a, 8, 5) == 2)
                t->kind = THUMB_ALU; /* lsl, lsr, asr, ror by a constant */
        } else if (bits(a, 6, 6)) {
            decode_dual(t, a, b);
        } else {
            memory_list(t, bits(a, 4, 4), rn, bits(a, 5, 5), b);
        }
    } else if (bits(a, 12, 11) == 2) {
        if (bits(b, 15, 15))
            decode_branch32(t, a, b);
        else if (bits(a, 9, 9))
            decode_plain_immediate(t, bits(a, 8, 4), rn, rd);
        else
            decode_data(t, bits(a, 8, 5), bits(a, 4, 4), rn, rd, 0);
    } else if (bits(a, 10, 10)) {
        decode_fpu(t, a, b);
    } else if (!bits(a, 9, 9)) {
        decode_memory32(t, a, b);
    } else if (bits(a, 8, 8)) {
        decode_multiply(t, a, b);
    } else { /* shift by a register, extend, parallel, saturating, clz, rev */
        set_kind(t, THUMB_ALU, rm | (rn == PC ? 0 : core(rn)),
                 core(rd) | (bits(a, 4, 4) && !bits(a, 7, 7) && !bits(b, 7, 7) ? THUMB_FLAGS : 0));
        t->shifted = true;
    }
    settle_branch(t);
}

thumb_t thumb_decode(uint16_t first, uint16_t second) {
    thumb_t t = {.kind = THUMB_OTHER, .bytes = first >> 11 > 28 ? 4 : 2};
    if (t.bytes == 2)
        decode16(&t, first);
    else
        decode32(&t, first, second);
    return t;
}

static const struct {
    const char *name, *group;
} classes[THUMB_CLASS_COUNT] = {
#define X(name, text, group) {text, group},
    THUMB_CLASSES(X)
#undef X
};

const char *thumb_class_name(thumb_class_t kind) {
    return classes[kind].name;
}

const char *thumb_class_group(thumb_class_t kind) {
    return classes[kind].group;
}
