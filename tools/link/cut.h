/*
 * Flash that loses its power: a medium of firmware/params/store.h in memory, whose supply can be
 * cut at any operation, in the middle of a word too. For `appell torture` and for the tests.
 *
 * One operation is one erase of a page or one write unit that is programmed. The operation at which
 * the power fails is done in part: of a page some units are erased, some hold anything and the rest
 * is as before; of a write unit some of the bits that should be cleared are. After it nothing works
 * until cut_power_up.
 */
#ifndef TOOLS_LINK_CUT_H
#define TOOLS_LINK_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/params/store.h"

typedef struct {
    uint32_t slot_bytes, page_bytes, unit;
    uint8_t *memory;     /* both slots, one behind the other; the caller's */
    uint64_t operations; /* since cut_power_up */
    uint64_t cut_at;     /* the operation that fails, counted from 0; UINT64_MAX: none */
    uint64_t random;     /* state of the generator, not 0 */
    bool dead;
    bool misused; /* a bit that was 0 should have become 1: not what flash can do */
} cut_flash_t;

store_medium_t cut_medium(cut_flash_t *flash);
void cut_power_up(cut_flash_t *flash, uint64_t cut_at);
uint64_t cut_random(cut_flash_t *flash);

typedef struct {
    uint64_t sequences;  /* writes that were begun */
    uint64_t cuts;       /* of them, at how many operations the power failed */
    uint64_t kept, made; /* how often the old, how often the new set was there afterwards */
} cut_result_t;

/*
 * Writes `set` over `old` with the power failing at every single operation of it, `sequences` times
 * with other torn bits and starting slots. 0; or -1 where a set was lost or damaged, *result then
 * says where it was.
 */
int cut_torture(cut_flash_t *flash, const uint8_t *old, uint32_t old_length, const uint8_t *set,
                uint32_t length, uint64_t sequences, cut_result_t *result);

#endif
