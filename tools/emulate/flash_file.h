/* What a virtual board has written into its flash, kept in a file: pages by address. The file begins
 * with a word that names its format; a damaged or foreign file is refused and not overwritten. */
#ifndef TOOLS_EMULATE_FLASH_FILE_H
#define TOOLS_EMULATE_FLASH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/link/port.h"

enum { FLASH_PAGE = 1024, FLASH_PAGES = 1024 };

typedef struct {
    uint32_t address;
    uint8_t bytes[FLASH_PAGE];
} flash_page_t;

typedef struct {
    char path[4096];
    flash_page_t *page;
    size_t pages;
    bool changed; /* since it was written */
} flash_file_t;

/* Reads the file; a missing one is an empty flash. With `erase` it begins empty, but the file of another
 * program is refused all the same. Returns 0, or -1 with *error filled in. */
int flash_file_open(flash_file_t *flash, const char *path, bool erase, port_error_t *error);
void flash_file_close(flash_file_t *flash);
/* Fills with 0xFF, and makes pages for it. Returns -1 if there are too many pages. */
int flash_file_erase(flash_file_t *flash, uint32_t address, size_t size);
/* Programs as flash does: bits become 0 and never 1. Returns -1 for a page that was never erased, 1 if
 * the bytes there differ afterwards. */
int flash_file_program(flash_file_t *flash, uint32_t address, const uint8_t *bytes, size_t size);
/* Writes the file if something has changed, so that a crash leaves the old or the new one. Returns 0,
 * or -1 with errno. */
int flash_file_write(flash_file_t *flash);

#endif
