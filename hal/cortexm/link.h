/*
 * Addresses that the linker defines (linker/sections.ld), and functions for the vector table.
 */
#ifndef HAL_CORTEXM_LINK_H
#define HAL_CORTEXM_LINK_H

#include <stdint.h>

extern uint32_t __ram_start[], __ram_end[];
extern uint32_t __guard_bottom[], __stack_bottom[], __stack_top[];
extern uint32_t __fault_stack_top[];
extern uint32_t __data_load[], __data_start[], __data_end[], __bss_start[], __bss_end[];
extern const uint8_t
    __build_id_note[]; /* ELF note: name size, description size, type, "GNU", 20 bytes */

_Noreturn void reset_handler(void); /* defined in start.c */
/* Entry for hard, memory, bus and usage faults and for stray interrupts; defined in fault.c. */
void fault_entry(void);
void guard_init(void); /* protects the memory below the stack; defined in guard.c */
int main(void);

#endif
