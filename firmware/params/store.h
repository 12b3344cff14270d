/*
 * The store: two slots, one of which always contains the last good set, at whatever moment the
 * power fails. A set is a sequence of bytes; firmware/link/set.h defines their meaning.
 *
 * A write goes to the slot that does not contain the newest set. It erases the slot, programs the
 * bytes, reads them back, and only then programs the head, which makes the slot valid. A slot with
 * an incomplete head, or with bytes that do not match the checksum, contains no set. The other slot
 * is untouched until the next write.
 *
 * Layout of a slot, little-endian words:
 *
 *     byte  content
 *       0   STORE_MAGIC
 *       4   sequence number, one more than that of the last set; the newest wins, modulo 2^32
 *       8   length of the set in bytes
 *      12   CRC-32 of the set
 *      16   zero
 *      20   CRC-32 of the bytes 0 to 19
 *      24   the set (STORE_HEAD is this offset)
 */
#ifndef FIRMWARE_PARAMS_STORE_H
#define FIRMWARE_PARAMS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_MAGIC 0x314c5041u /* "APL1" */
enum { STORE_HEAD = 24, STORE_SLOTS = 2, STORE_NONE = -1, STORE_UNIT_MAX = 8 };

/* X(number, NAME, "cause", "cure") */
#define STORE_ERROR_TABLE(X)                                                                       \
    X(-1, EMPTY, "the store of the board is empty", "write a robot into it with `appell flash`")   \
    X(-2, ROOM, "robot image and parameters are larger than a slot of the store",                  \
      "use a robot with fewer joints")                                                             \
    X(-3, MEDIUM, "the flash memory cannot be erased or programmed",                               \
      "emulated chips cannot keep data; on a real board check whether the flash is "               \
      "write-protected or worn out")                                                               \
    X(-4, VERIFY, "the bytes that were read back differ from those that were written",             \
      "write the robot again")                                                                     \
    X(-5, ORDER, "the bytes arrived out of order", "repeat the transfer from the beginning")       \
    X(-6, VERSION,                                                                                 \
      "robot and parameters in the store were written by another version of the firmware",         \
      "write the robot again with `appell flash`, then set its parameters")                        \
    X(-7, CONTENT, "the stored set is damaged: its lengths do not match its content",              \
      "write the robot again with `appell flash`")

typedef enum {
    STORE_OK = 0,
#define X(number, name, cause, cure) STORE_E_##name = number,
    STORE_ERROR_TABLE(X)
#undef X
} store_status_t;

/* The memory that the store uses. erase and program return 0, or another value if they failed. */
typedef struct {
    void *context;
    uint32_t slot_bytes;
    uint32_t write_unit; /* bytes programmed at once, at most STORE_UNIT_MAX */
    int (*erase)(void *context, unsigned slot, uint32_t bytes); /* erases at least the first
                                                                 * `bytes` */
    int (*program)(void *context, unsigned slot, uint32_t offset, const void *data, uint32_t n);
    void (*read)(void *context, unsigned slot, uint32_t offset, void *data, uint32_t n);
} store_medium_t;

typedef struct {
    const store_medium_t *medium;
    int current; /* slot of the newest good set; STORE_NONE: no set */
    uint32_t sequence, length, crc;
    /* the set being written */
    bool writing;
    uint32_t write_most, written, write_crc;
    uint8_t unit[STORE_UNIT_MAX]; /* bytes that do not fill a write unit yet */
} store_t;

/* Reads both slots and finds the newest set. Returns STORE_OK or STORE_E_EMPTY. */
int store_open(store_t *store, const store_medium_t *medium);
/* Reads part of the newest set; offset + n must be within its length. */
void store_read(const store_t *store, uint32_t offset, void *data, uint32_t n);

/* Writes a set in pieces: store_begin with the largest possible size, store_put for each piece,
 * store_commit. The last set stays valid until store_commit returns STORE_OK; if anything fails, it
 * remains valid. */
int store_begin(store_t *store, uint32_t most);
int store_put(store_t *store, const void *data, uint32_t n);
/* Returns the slot that is being written, so that the caller can read it, from STORE_HEAD on,
 * before it is valid. */
unsigned store_spare(const store_t *store);
int store_commit(store_t *store);

#endif
