/*
 * Code that runs in RAM because the flash is being erased. linker/sections.ld puts .ramfunc beside
 * .data, so the start-up code copies it. Such a function may use only what the compiler inlines: a
 * call into flash would stall until the erase has ended.
 */
#ifndef HAL_RAMFUNC_H
#define HAL_RAMFUNC_H

#ifdef __arm__
/* long_call, because RAM is out of reach of a BL instruction in flash. */
#define HAL_RAMFUNC __attribute__((section(".ramfunc"), noinline, long_call))
#else
#define HAL_RAMFUNC
#endif

#endif
