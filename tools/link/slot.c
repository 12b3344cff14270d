/* Implements tools/link/slot.h: the code of the store itself writes the slot, into memory. */
#include "tools/link/slot.h"

#include <stdlib.h>
#include <string.h>

#include "firmware/link/set.h"

typedef struct {
    uint8_t *bytes; /* bytes of the slot */
    uint32_t size;
} memory_t;

static int memory_erase(void *context, unsigned slot, uint32_t bytes) {
    memory_t *memory = context;
    (void)slot;
    memset(memory->bytes, 0xff, bytes < memory->size ? bytes : memory->size);
    return 0;
}

static int memory_program(void *context, unsigned slot, uint32_t offset, const void *data,
                          uint32_t n) {
    memory_t *memory = context;
    (void)slot;
    memcpy(memory->bytes + offset, data, n);
    return 0;
}

static void memory_read(void *context, unsigned slot, uint32_t offset, void *data, uint32_t n) {
    const memory_t *memory = context;
    (void)slot;
    memcpy(data, memory->bytes + offset, n);
}

static int write_set(store_t *store, const uint8_t *image, uint32_t size, uint32_t most) {
    int status = store_begin(store, most);
    if (status == STORE_OK)
        status = set_put_head(store, size);
    if (status == STORE_OK)
        status = store_put(store, image, size);
    if (status == STORE_OK)
        status = set_put_no_tables(store);
    return status == STORE_OK ? store_commit(store) : status;
}

uint8_t *slot_make(const uint8_t *image, size_t image_size, size_t *size) {
    const uint32_t most = SET_TABLES + (uint32_t)image_size;
    memory_t memory = {calloc(1, STORE_HEAD + most), STORE_HEAD + most};
    const store_medium_t medium = {.context = &memory,
                                   .slot_bytes = memory.size,
                                   .write_unit = 1,
                                   .erase = memory_erase,
                                   .program = memory_program,
                                   .read = memory_read};
    store_t store;
    *size = 0;
    if (!memory.bytes)
        return NULL;
    (void)store_open(&store, &medium); /* finds no set, because the memory is empty */
    if (write_set(&store, image, (uint32_t)image_size, most) != STORE_OK) {
        free(memory.bytes);
        return NULL;
    }
    *size = STORE_HEAD + store.length;
    return memory.bytes;
}
