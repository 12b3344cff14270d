/* Implements firmware/params/store.h. */
#include "firmware/params/store.h"
#include "firmware/params/bytes.h"

#include <string.h>

enum {
    AT_MAGIC = 0,
    AT_SEQUENCE = 4,
    AT_LENGTH = 8,
    AT_CRC = 12,
    AT_ZERO = 16,
    AT_HEAD_CRC = 20,
    PIECE = 32
};

/* Each call into the medium is in its own function, so that tools/dev/stack.py --indirect can
 * compute a bound on the stack. */
__attribute__((noinline)) static void medium_read(const store_medium_t *m, unsigned slot,
                                                  uint32_t offset, void *data, uint32_t n) {
    m->read(m->context, slot, offset, data, n);
}

__attribute__((noinline)) static int medium_erase(const store_medium_t *m, unsigned slot,
                                                  uint32_t bytes) {
    return m->erase(m->context, slot, bytes);
}

__attribute__((noinline)) static int medium_program(const store_medium_t *m, unsigned slot,
                                                    uint32_t offset, const void *data, uint32_t n) {
    return m->program(m->context, slot, offset, data, n);
}

static uint32_t crc_of_slot(const store_medium_t *m, unsigned slot, uint32_t length) {
    uint8_t piece[PIECE];
    uint32_t crc = 0;
    for (uint32_t at = 0; at < length;) {
        const uint32_t n = length - at < PIECE ? length - at : PIECE;
        medium_read(m, slot, STORE_HEAD + at, piece, n);
        crc = crc32_add(crc, piece, n);
        at += n;
    }
    return crc;
}

static bool read_head(const store_medium_t *m, unsigned slot, uint8_t head[STORE_HEAD]) {
    medium_read(m, slot, 0, head, STORE_HEAD);
    return get_u32(head + AT_MAGIC) == STORE_MAGIC && get_u32(head + AT_ZERO) == 0 &&
           get_u32(head + AT_HEAD_CRC) == crc32_add(0, head, AT_HEAD_CRC) &&
           get_u32(head + AT_LENGTH) <= m->slot_bytes - STORE_HEAD &&
           get_u32(head + AT_CRC) == crc_of_slot(m, slot, get_u32(head + AT_LENGTH));
}

int store_open(store_t *store, const store_medium_t *medium) {
    *store = (store_t){.medium = medium, .current = STORE_NONE};
    for (unsigned slot = 0; slot < STORE_SLOTS; slot++) {
        uint8_t head[STORE_HEAD];
        if (!read_head(medium, slot, head))
            continue;
        const uint32_t sequence = get_u32(head + AT_SEQUENCE);
        if (store->current == STORE_NONE || (int32_t)(sequence - store->sequence) > 0) {
            store->current = (int)slot;
            store->sequence = sequence;
            store->length = get_u32(head + AT_LENGTH);
            store->crc = get_u32(head + AT_CRC);
        }
    }
    return store->current == STORE_NONE ? STORE_E_EMPTY : STORE_OK;
}

void store_read(const store_t *store, uint32_t offset, void *data, uint32_t n) {
    const store_medium_t *m = store->medium;
    medium_read(m, (unsigned)store->current, STORE_HEAD + offset, data, n);
}

unsigned store_spare(const store_t *store) {
    return store->current == 0 ? 1 : 0;
}

int store_begin(store_t *store, uint32_t most) {
    const store_medium_t *m = store->medium;
    const uint32_t padding = m->write_unit - 1;
    store->writing = false;
    if (most > m->slot_bytes - STORE_HEAD - padding)
        return STORE_E_ROOM;
    if (medium_erase(m, store_spare(store), STORE_HEAD + most + padding) != 0)
        return STORE_E_MEDIUM;
    store->writing = true;
    store->write_most = most;
    store->written = 0;
    store->write_crc = 0;
    return STORE_OK;
}

static int fail(store_t *store, int status) {
    store->writing = false;
    return status;
}

/* Programs whole write units; a remainder waits in store->unit. */
static int put_units(store_t *store, const uint8_t *data, uint32_t n) {
    const store_medium_t *m = store->medium;
    const uint32_t unit = m->write_unit;
    while (n > 0) {
        const uint32_t held = store->written % unit;
        const uint32_t at = STORE_HEAD + store->written - held;
        uint32_t taken;
        if (held == 0 && n >= unit) {
            taken = n - n % unit;
            if (medium_program(m, store_spare(store), at, data, taken) != 0)
                return STORE_E_MEDIUM;
        } else {
            taken = n < unit - held ? n : unit - held;
            memcpy(store->unit + held, data, taken);
            if (held + taken == unit &&
                medium_program(m, store_spare(store), at, store->unit, unit) != 0)
                return STORE_E_MEDIUM;
        }
        data += taken;
        n -= taken;
        store->written += taken;
    }
    return STORE_OK;
}

/* Programs the remainder, padded with 0xff. */
static int put_rest(store_t *store) {
    const store_medium_t *m = store->medium;
    const uint32_t held = store->written % m->write_unit;
    if (held == 0)
        return STORE_OK;
    memset(store->unit + held, 0xff, m->write_unit - held);
    return medium_program(m, store_spare(store), STORE_HEAD + store->written - held, store->unit,
                          m->write_unit) == 0
               ? STORE_OK
               : STORE_E_MEDIUM;
}

int store_put(store_t *store, const void *data, uint32_t n) {
    if (!store->writing || n > store->write_most - store->written)
        return fail(store, STORE_E_ORDER);
    store->write_crc = crc32_add(store->write_crc, data, n);
    const int status = put_units(store, data, n);
    return status == STORE_OK ? status : fail(store, status);
}

int store_commit(store_t *store) {
    const store_medium_t *m = store->medium;
    const unsigned slot = store_spare(store);
    uint8_t head[STORE_HEAD];
    if (!store->writing)
        return STORE_E_ORDER;
    store->writing = false;
    if (put_rest(store) != STORE_OK)
        return STORE_E_MEDIUM;
    if (crc_of_slot(m, slot, store->written) != store->write_crc)
        return STORE_E_VERIFY;
    put_u32(head + AT_MAGIC, STORE_MAGIC);
    put_u32(head + AT_SEQUENCE, store->current == STORE_NONE ? 1 : store->sequence + 1);
    put_u32(head + AT_LENGTH, store->written);
    put_u32(head + AT_CRC, store->write_crc);
    put_u32(head + AT_ZERO, 0);
    put_u32(head + AT_HEAD_CRC, crc32_add(0, head, AT_HEAD_CRC));
    if (medium_program(m, slot, 0, head, STORE_HEAD) != 0)
        return STORE_E_MEDIUM;
    store_t seen;
    if (store_open(&seen, m) != STORE_OK || seen.current != (int)slot)
        return STORE_E_VERIFY;
    *store = seen;
    return STORE_OK;
}
