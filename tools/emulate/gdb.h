/*
 * The few words of gdb's remote protocol by which a virtual board is steered: memory (also its
 * flash, which only a debugger can write in the emulator), registers, breakpoints. The core must
 * stand still for all calls but gdb_go, gdb_halt and gdb_stopped. Functions return 0, or -1 if the
 * emulator does not answer as it should.
 */
#ifndef TOOLS_EMULATE_GDB_H
#define TOOLS_EMULATE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_LR = 14, GDB_PC = 15, GDB_REGISTERS = 16 };

typedef struct {
    int file; /* socket to the emulator */
    bool runs;
    char text[8192]; /* bytes that came and are not handled yet */
    size_t used;
    char registers[1024]; /* the answer with the registers, as the emulator wrote it */
} gdb_t;

/* Begins over a socket to an emulator that stands still (-S). */
int gdb_begin(gdb_t *gdb, int file);
int gdb_read(gdb_t *gdb, uint32_t address, uint8_t *bytes, size_t size);
int gdb_write(gdb_t *gdb, uint32_t address, const uint8_t *bytes, size_t size);
int gdb_break(gdb_t *gdb, uint32_t address);
int gdb_registers(gdb_t *gdb, uint32_t r[GDB_REGISTERS]);
/* Changes registers after gdb_registers. */
int gdb_set(gdb_t *gdb, const uint32_t r[GDB_REGISTERS]);
int gdb_go(gdb_t *gdb);
int gdb_halt(gdb_t *gdb);
/* Reads what has come while the core runs. Returns 1 if it has stopped, 0 if not, -1 if the emulator
 * has ended. */
int gdb_stopped(gdb_t *gdb);

#endif
