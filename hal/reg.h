// Access to hardware registers: the only place where a driver touches an address.
// On the target a volatile load or store. With HAL_REG_MODEL (host tests) the same drivers talk to
// a register model in RAM that records the sequence of accesses (test/regmodel.c).
#ifndef HAL_REG_H
#define HAL_REG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef HAL_REG_MODEL
uint32_t reg_read(const volatile uint32_t *reg);
void reg_write(volatile uint32_t *reg, uint32_t value);
uint16_t reg_read16(const volatile uint16_t *reg);
void reg_write16(volatile uint16_t *reg, uint16_t value);
#else
static inline uint32_t reg_read(const volatile uint32_t *reg) {
    return *reg;
}
static inline void reg_write(volatile uint32_t *reg, uint32_t value) {
    *reg = value;
}
static inline uint16_t reg_read16(const volatile uint16_t *reg) {
    return *reg;
}
static inline void reg_write16(volatile uint16_t *reg, uint16_t value) {
    *reg = value;
}
#endif

static inline void reg_set(volatile uint32_t *reg, uint32_t bits) {
    reg_write(reg, reg_read(reg) | bits);
}

static inline void reg_clear(volatile uint32_t *reg, uint32_t bits) {
    reg_write(reg, reg_read(reg) & ~bits);
}

// Replaces the bits of mask by those of value.
static inline void reg_modify(volatile uint32_t *reg, uint32_t mask, uint32_t value) {
    reg_write(reg, (reg_read(reg) & ~mask) | value);
}

// Waits until (*reg & mask) == value, for at most max_polls reads. Every wait on a hardware flag
// goes through here or states its own bound: the emulator does not model most of the flags.
static inline bool reg_wait(const volatile uint32_t *reg, uint32_t mask, uint32_t value,
                            uint32_t max_polls) {
    for (uint32_t i = 0; i < max_polls; i++) {
        if ((reg_read(reg) & mask) == value) {
            return true;
        }
    }
    return false;
}

#endif
