/* Implements tools/emulate/flash_file.h. */
#include "tools/emulate/flash_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char format[8] = "appellF1";

int flash_file_open(flash_file_t *flash, const char *path, bool erase, port_error_t *error) {
    char head[sizeof format];
    *flash = (flash_file_t){.page = calloc(FLASH_PAGES, sizeof *flash->page)};
    snprintf(flash->path, sizeof flash->path, "%s", path);
    if (!flash->page) {
        port_fail(error, "close some programs", "there is not enough memory");
        return -1;
    }
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT)
        return 0;
    bool whole = false;
    if (file) {
        const bool known =
            fread(head, 1, sizeof head, file) == sizeof head && !memcmp(head, format, sizeof head);
        flash->pages =
            known && !erase ? fread(flash->page, sizeof *flash->page, FLASH_PAGES, file) : 0;
        const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
        whole = erase ? known || size == 0
                      : known && !ferror(file) &&
                            size == (long)(sizeof format + flash->pages * sizeof *flash->page);
        fclose(file);
    }
    if (whole)
        return 0;
    port_fail(error,
              erase ? "name another file"
                    : "name another file, or begin with an empty flash: --erase",
              "%s is not the flash of a virtual board, or is damaged", path);
    return -1;
}

void flash_file_close(flash_file_t *flash) {
    free(flash->page);
    flash->page = NULL;
}

static flash_page_t *page_at(const flash_file_t *flash, uint32_t address) {
    for (size_t i = 0; i < flash->pages; i++)
        if (flash->page[i].address == address - address % FLASH_PAGE)
            return &flash->page[i];
    return NULL;
}

int flash_file_erase(flash_file_t *flash, uint32_t address, size_t size) {
    for (uint32_t a = address; a < address + size; a++) {
        flash_page_t *page = page_at(flash, a);
        if (!page && flash->pages == FLASH_PAGES)
            return -1;
        if (!page) {
            page = &flash->page[flash->pages++];
            page->address = a - a % FLASH_PAGE;
            memset(page->bytes, 0xff, sizeof page->bytes);
        }
        const uint32_t end = page->address + FLASH_PAGE;
        const size_t left = address + size - a, n = left < end - a ? left : end - a;
        memset(page->bytes + a % FLASH_PAGE, 0xff, n);
        a += (uint32_t)n - 1;
    }
    flash->changed = true;
    return 0;
}

int flash_file_program(flash_file_t *flash, uint32_t address, const uint8_t *bytes, size_t size) {
    int differ = 0;
    for (size_t i = 0; i < size; i++) {
        flash_page_t *page = page_at(flash, address + (uint32_t)i);
        if (!page)
            return -1;
        uint8_t *at = &page->bytes[(address + i) % FLASH_PAGE];
        *at &= bytes[i];
        differ |= *at != bytes[i];
    }
    flash->changed = true;
    return differ;
}

int flash_file_write(flash_file_t *flash) {
    char next[sizeof flash->path + 8];
    if (!flash->changed)
        return 0;
    snprintf(next, sizeof next, "%s.new", flash->path);
    FILE *file = fopen(next, "wb");
    if (!file)
        return -1;
    bool good = fwrite(format, sizeof format, 1, file) == 1 &&
                fwrite(flash->page, sizeof *flash->page, flash->pages, file) == flash->pages;
    good = fflush(file) == 0 && fsync(fileno(file)) == 0 && good;
    good = fclose(file) == 0 && good;
    if (!good || rename(next, flash->path) != 0)
        return -1;
    flash->changed = false;
    return 0;
}
