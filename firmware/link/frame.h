/*
 * Frames on a byte stream: content and checksum in COBS, which leaves the byte 0 for the ends of
 * frames only. A reader that starts in the middle, or after noise, is in step again at the next 0.
 *
 * Content is at most FRAME_CONTENT_MAX bytes, so that COBS is a single block: it adds one byte, and
 * both directions work in place.
 *
 *     0x00 | COBS( content | CRC-32 of the content, little-endian ) | 0x00
 */
#ifndef FIRMWARE_LINK_FRAME_H
#define FIRMWARE_LINK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/params/bytes.h"

enum {
    FRAME_CRC = 4,
    FRAME_CONTENT_MAX = 254 - FRAME_CRC,
    FRAME_OVERHEAD = 3 + FRAME_CRC, /* bytes on the line in addition to the content */
    FRAME_EMPTY = 0,                /* frame_take: nothing is complete yet */
};

/* Bytes of memory for frames with this much content. */
#define FRAME_READ_ROOM(content)  ((content) + FRAME_CRC)
#define FRAME_WRITE_ROOM(content) ((content) + FRAME_OVERHEAD)

typedef struct {
    uint32_t good;
    uint32_t damaged;  /* checksum or COBS wrong */
    uint32_t overlong; /* more content than there is room for */
} frame_stats_t;

/* Turns bytes into frames. The memory is the caller's. */
typedef struct {
    uint8_t *data;
    uint16_t room;
    uint16_t used;
    uint8_t left;   /* bytes until the next code of COBS */
    bool zero_next; /* the next code stands for a 0 in the content */
    bool begun, over;
    frame_stats_t stats;
} frame_reader_t;

void frame_reader_init(frame_reader_t *reader, uint8_t *memory, size_t room);

/* Size of the content that this byte completed; it stays in reader->data until the next call.
 * FRAME_EMPTY if no frame is complete, or if what is complete is no valid frame (that is
 * counted). */
size_t frame_take(frame_reader_t *reader, uint8_t byte);

/* A frame is built in place: the caller writes the content to memory + FRAME_WRITE_AT, then
 * frame_close makes the frame around it. The frame begins at `memory`; returns its size on the
 * line. */
enum { FRAME_WRITE_AT = 2 };
size_t frame_close(uint8_t *memory, size_t content);

#endif
