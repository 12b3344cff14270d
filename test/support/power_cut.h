/*
 * Flash that loses its power: a medium of firmware/params/store.h in memory, whose supply can be
 * cut at any operation, even in the middle of a word. For tests.
 *
 * One operation is the erasure of a page or the programming of one write unit. The operation at
 * which the power fails is done only in part. In a page that is being erased, some of the bytes are
 * erased, or some or all of the bytes have only a part of their bits set. In a write unit, only
 * some of the bits that should be cleared are cleared. After that, erasing and programming fail
 * until power_cut_power_up.
 */
#ifndef TEST_SUPPORT_POWER_CUT_H
#define TEST_SUPPORT_POWER_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/params/store.h"

typedef struct {
    uint32_t slot_bytes, page_bytes, unit;
    uint8_t *memory;     /* the bytes of both slots, one after the other; the caller owns them */
    uint64_t operations; /* number of operations since power_cut_power_up */
    uint64_t cut_at;     /* index of the operation that fails; UINT64_MAX: none */
    uint64_t random;     /* state of the random number generator, not 0 */
    bool dead;
    bool misused; /* a write was misaligned, left its slot, or tried to turn a 0 bit into 1 */
} power_cut_flash_t;

store_medium_t power_cut_medium(power_cut_flash_t *flash);
void power_cut_power_up(power_cut_flash_t *flash, uint64_t cut_at);
uint64_t power_cut_random(power_cut_flash_t *flash);

typedef struct {
    uint64_t sequences; /* number of writes that were started */
    uint64_t cuts;      /* number of times that the power failed */
    /* how often the old set (kept) or the new set (made) was there afterwards */
    uint64_t kept, made;
} power_cut_result_t;

/*
 * Writes `set` over `old` again and again, while the power fails at every single operation in turn.
 * Repeats this `sequences` times with other random bits and starting slots. Returns 0, or -1 if a
 * set was lost or damaged; *result then has the counts up to that write.
 */
int power_cut_torture(power_cut_flash_t *flash, const uint8_t *old, uint32_t old_length,
                      const uint8_t *set, uint32_t length, uint64_t sequences,
                      power_cut_result_t *result);

#endif
