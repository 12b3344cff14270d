/* Implements tools/link/elf.h: reads the few structures of ELF32 that are needed, each with checked
 * bounds. */
#include "tools/link/elf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct elf {
    uint8_t *bytes;
    size_t size;
    const Elf32_Sym *symbol;
    size_t symbols;
    const char *names;
    size_t names_size;
    const uint8_t *build_id;
};

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t used = 0, room = 0;
    while (file) {
        if (used == room) {
            room = room > 0 ? 2 * room : 1u << 16;
            uint8_t *more = realloc(bytes, room);
            if (!more)
                break;
            bytes = more;
        }
        const size_t n = fread(bytes + used, 1, room - used, file);
        used += n;
        if (n == 0)
            break;
    }
    if (file)
        fclose(file);
    *size = used;
    return bytes;
}

static bool within(const elf_t *elf, uint32_t offset, uint32_t size) {
    return offset <= elf->size && size <= elf->size - offset;
}

static void take_section(elf_t *elf, const Elf32_Ehdr *head, const Elf32_Shdr *s) {
    if (s->sh_type == SHT_SYMTAB && within(elf, s->sh_offset, s->sh_size) &&
        s->sh_offset % 4 == 0 && s->sh_link < head->e_shnum) {
        const Elf32_Shdr *names =
            (const Elf32_Shdr *)(const void *)(elf->bytes + head->e_shoff) + s->sh_link;
        if (!within(elf, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
            elf->bytes[names->sh_offset + names->sh_size - 1] != 0)
            return;
        elf->symbol = (const Elf32_Sym *)(const void *)(elf->bytes + s->sh_offset);
        elf->symbols = s->sh_size / sizeof(Elf32_Sym);
        elf->names = (const char *)elf->bytes + names->sh_offset;
        elf->names_size = names->sh_size;
    }
    /*
     * A GNU build id is a note with name size 4, description size 20, type 3, "GNU" and 20 bytes.
     */
    if (s->sh_type == SHT_NOTE && s->sh_size >= 36 && within(elf, s->sh_offset, s->sh_size) &&
        !memcmp(elf->bytes + s->sh_offset, "\4\0\0\0\24\0\0\0\3\0\0\0GNU", 16))
        elf->build_id = elf->bytes + s->sh_offset + 16;
}

elf_t *elf_open(const char *path, const char **why) {
    elf_t *elf = calloc(1, sizeof *elf);
    *why = "there is not enough memory";
    if (!elf)
        return NULL;
    elf->bytes = read_file(path, &elf->size);
    const Elf32_Ehdr *head = (const Elf32_Ehdr *)(const void *)elf->bytes;
    *why = "it cannot be read";
    if (elf->bytes && elf->size > 0) {
        *why = "it is not an ELF file of a 32-bit core";
        if (elf->size >= sizeof *head && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
            head->e_ident[EI_CLASS] == ELFCLASS32 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
            head->e_shoff % 4 == 0 && head->e_shentsize == sizeof(Elf32_Shdr) &&
            within(elf, head->e_shoff, (uint32_t)(head->e_shnum * sizeof(Elf32_Shdr)))) {
            const Elf32_Shdr *section =
                (const Elf32_Shdr *)(const void *)(elf->bytes + head->e_shoff);
            for (uint32_t i = 0; i < head->e_shnum; i++)
                take_section(elf, head, section + i);
            return elf;
        }
    }
    elf_close(elf);
    return NULL;
}

void elf_close(elf_t *elf) {
    if (elf)
        free(elf->bytes);
    free(elf);
}

bool elf_name(const elf_t *elf, uint32_t address, char *out, size_t size) {
    address &= ~1u; /* clears the Thumb bit */
    for (size_t i = 0; i < elf->symbols; i++) {
        const Elf32_Sym *s = &elf->symbol[i];
        const uint32_t start = s->st_value & ~1u;
        if (ELF32_ST_TYPE(s->st_info) != STT_FUNC || s->st_name >= elf->names_size ||
            address < start || address - start >= (s->st_size > 0 ? s->st_size : 2))
            continue;
        snprintf(out, size, "%s + %u", elf->names + s->st_name, (unsigned)(address - start));
        return true;
    }
    return false;
}

bool elf_find(const elf_t *elf, const char *name, uint32_t *address) {
    for (size_t i = 0; i < elf->symbols; i++) {
        const Elf32_Sym *s = &elf->symbol[i];
        if (s->st_name >= elf->names_size || s->st_shndx == SHN_UNDEF ||
            strcmp(elf->names + s->st_name, name) != 0)
            continue;
        *address = s->st_value & ~(ELF32_ST_TYPE(s->st_info) == STT_FUNC ? 1u : 0u);
        return true;
    }
    return false;
}

const uint8_t *elf_build_id(const elf_t *elf) {
    return elf->build_id;
}
