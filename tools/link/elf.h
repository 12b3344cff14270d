/* Finds functions by address and addresses by name, in the symbol table of the firmware's ELF file. */
#ifndef TOOLS_LINK_ELF_H
#define TOOLS_LINK_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct elf elf_t;

/* Returns NULL and sets *why if the file cannot be read or is not a 32-bit little-endian ELF. */
elf_t *elf_open(const char *path, const char **why);
void elf_close(elf_t *elf);

/* Writes a name like "function + 12". Returns false if no function contains the address. */
bool elf_name(const elf_t *elf, uint32_t address, char *out, size_t size);
/* Finds the address of a symbol. Returns false if there is none of this name. */
bool elf_find(const elf_t *elf, const char *name, uint32_t *address);
/* Returns the build id, 20 bytes, or NULL if there is none. */
const uint8_t *elf_build_id(const elf_t *elf);

#endif
