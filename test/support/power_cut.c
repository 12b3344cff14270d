/* Implements test/support/power_cut.h. */
#include "test/support/power_cut.h"

#include <string.h>

uint64_t power_cut_random(power_cut_flash_t *flash) {
    flash->random ^= flash->random << 13;
    flash->random ^= flash->random >> 7;
    flash->random ^= flash->random << 17;
    return flash->random;
}

/* Counts the operation and returns true if the power fails during it or has failed before. */
static bool power_cut_now(power_cut_flash_t *flash) {
    if (flash->operations++ == flash->cut_at)
        flash->dead = true;
    return flash->dead;
}

static void erase_torn(power_cut_flash_t *flash, uint8_t *page) {
    const uint64_t kind = power_cut_random(flash) % 3;
    for (uint32_t i = 0; i < flash->page_bytes; i++) {
        const uint64_t r = power_cut_random(flash);
        if (kind == 0 || (kind == 1 && r & 256))
            page[i] |= (uint8_t)r; /* an erasure sets bits to 1; only some are set yet */
        else if (kind == 2)
            page[i] = r & 256 ? 0xff : page[i];
    }
}

static int power_cut_erase(void *context, unsigned slot, uint32_t bytes) {
    power_cut_flash_t *flash = context;
    for (uint32_t at = 0; at < bytes; at += flash->page_bytes) {
        uint8_t *page = flash->memory + slot * flash->slot_bytes + at;
        if (flash->dead)
            return -1;
        if (power_cut_now(flash)) {
            erase_torn(flash, page);
            return -1;
        }
        memset(page, 0xff, flash->page_bytes);
    }
    return 0;
}

static int power_cut_program(void *context, unsigned slot, uint32_t offset, const void *data,
                             uint32_t n) {
    power_cut_flash_t *flash = context;
    const uint8_t *from = data;
    if ((offset | n) % flash->unit != 0 || offset + n > flash->slot_bytes) {
        flash->misused = true;
        return -1;
    }
    for (uint32_t i = 0; i < n; i += flash->unit) {
        uint8_t *to = flash->memory + slot * flash->slot_bytes + offset + i;
        if (flash->dead)
            return -1;
        const bool cut = power_cut_now(flash);
        for (uint32_t k = 0; k < flash->unit; k++) {
            flash->misused |= (from[i + k] & ~to[k]) != 0;
            to[k] &= (uint8_t)(from[i + k] | (cut ? (uint8_t)power_cut_random(flash) : 0));
        }
        if (cut)
            return -1;
    }
    return 0;
}

static void power_cut_read(void *context, unsigned slot, uint32_t offset, void *data, uint32_t n) {
    const power_cut_flash_t *flash = context;
    memcpy(data, flash->memory + slot * flash->slot_bytes + offset, n);
}

store_medium_t power_cut_medium(power_cut_flash_t *flash) {
    return (store_medium_t){.context = flash,
                            .slot_bytes = flash->slot_bytes,
                            .write_unit = flash->unit,
                            .erase = power_cut_erase,
                            .program = power_cut_program,
                            .read = power_cut_read};
}

void power_cut_power_up(power_cut_flash_t *flash, uint64_t cut_at) {
    flash->dead = false;
    flash->operations = 0;
    flash->cut_at = cut_at;
}

static int write_set(store_t *store, const uint8_t *set, uint32_t length) {
    int status = store_begin(store, length);
    for (uint32_t at = 0; at < length && status == STORE_OK;) {
        /* pieces of 57 bytes, so that writes do not end at whole words */
        const uint32_t n = length - at < 57 ? length - at : 57;
        status = store_put(store, set + at, n);
        at += n;
    }
    return status == STORE_OK ? store_commit(store) : status;
}

static bool holds(const power_cut_flash_t *flash, const store_t *store, const uint8_t *set,
                  uint32_t length) {
    return store->current != STORE_NONE && store->length == length &&
           !memcmp(flash->memory + (uint32_t)store->current * flash->slot_bytes + STORE_HEAD, set,
                   length);
}

/* Makes one write during which the power fails at operation `at`. Returns 1 if the write was
 * complete before that, 0 if it was cut, -1 if a set was lost. */
static int power_cut_once(power_cut_flash_t *flash, const store_medium_t *medium, uint64_t at,
                          const uint8_t *old, uint32_t old_length, const uint8_t *set,
                          uint32_t length, power_cut_result_t *result) {
    store_t store;
    power_cut_power_up(flash, at);
    if (store_open(&store, medium) != STORE_OK || !holds(flash, &store, old, old_length))
        return -1;
    const int status = write_set(&store, set, length);
    result->sequences++;
    if (!flash->dead)
        return status == STORE_OK && holds(flash, &store, set, length) ? 1 : -1;
    result->cuts++;
    if (status == STORE_OK)
        return -1; /* success was reported although the power had failed */
    power_cut_power_up(flash, UINT64_MAX);
    if (store_open(&store, medium) != STORE_OK)
        return -1;
    const bool is_old = holds(flash, &store, old, old_length);
    if (!is_old && !holds(flash, &store, set, length))
        return -1;
    *(is_old ? &result->kept : &result->made) += 1;
    return 0;
}

int power_cut_torture(power_cut_flash_t *flash, const uint8_t *old, uint32_t old_length,
                      const uint8_t *set, uint32_t length, uint64_t sequences,
                      power_cut_result_t *result) {
    const store_medium_t medium = power_cut_medium(flash);
    *result = (power_cut_result_t){0};
    for (uint64_t i = 0; i < sequences; i++) {
        for (uint64_t at = 0;; at++) {
            store_t store;
            power_cut_power_up(flash, UINT64_MAX);
            /* Writes the old set. Slots still contain leftovers of earlier writes, and each write
             * goes to the other slot. */
            (void)store_open(&store, &medium);
            if (write_set(&store, old, old_length) != STORE_OK)
                return -1;
            const int done =
                power_cut_once(flash, &medium, at, old, old_length, set, length, result);
            if (done < 0 || flash->misused)
                return -1;
            if (done > 0)
                break;
        }
    }
    return 0;
}
