/* Access to hardware registers: the only file through which drivers access an address. On the
 * target each access is a volatile load or store. With HAL_REG_MODEL (host tests) the same
 * drivers use a register model in RAM that records the sequence of accesses
 * (test/support/hal/regmodel.c). */
#ifndef HAL_REG_H
#define HAL_REG_H

#include <stdbool.h>
#include <stdint.h>

/* Always inlined, because code in RAM (hal/ramfunc.h) must not call into the flash that it
 * erases. */
#define REG_INLINE static inline __attribute__((always_inline))

#ifdef HAL_REG_MODEL
uint32_t reg_read(const volatile uint32_t *reg);
void reg_write(volatile uint32_t *reg, uint32_t value);
uint16_t reg_read16(const volatile uint16_t *reg);
void reg_write16(volatile uint16_t *reg, uint16_t value);
#else
REG_INLINE uint32_t reg_read(const volatile uint32_t *reg) {
    return *reg;
}
REG_INLINE void reg_write(volatile uint32_t *reg, uint32_t value) {
    *reg = value;
}
REG_INLINE uint16_t reg_read16(const volatile uint16_t *reg) {
    return *reg;
}
REG_INLINE void reg_write16(volatile uint16_t *reg, uint16_t value) {
    *reg = value;
}
#endif

REG_INLINE void reg_set(volatile uint32_t *reg, uint32_t bits) {
    reg_write(reg, reg_read(reg) | bits);
}

REG_INLINE void reg_clear(volatile uint32_t *reg, uint32_t bits) {
    reg_write(reg, reg_read(reg) & ~bits);
}

/* Replaces the bits in mask by those of value. */
REG_INLINE void reg_modify(volatile uint32_t *reg, uint32_t mask, uint32_t value) {
    reg_write(reg, (reg_read(reg) & ~mask) | value);
}

/* Waits until (*reg & mask) == value, for at most max_polls reads. Every wait for a hardware flag
 * uses this function or states its own bound, because the emulator does not model most of the
 * flags. */
REG_INLINE bool reg_wait(const volatile uint32_t *reg, uint32_t mask, uint32_t value,
                         uint32_t max_polls) {
    for (uint32_t i = 0; i < max_polls; i++)
        if ((reg_read(reg) & mask) == value)
            return true;
    return false;
}

#endif
