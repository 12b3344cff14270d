/*
 * Frames on a byte stream: content and checksum are encoded with COBS, so that the byte 0 occurs
 * only at the ends of frames. A reader that starts in the middle, or after noise, is synchronised
 * at the next 0.
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
    FRAME_EMPTY = 0,                /* frame_take: no frame is complete yet */
};

/* Bytes of memory that a reader or writer needs for frames with this much content. */
#define FRAME_READ_ROOM(content)  ((content) + FRAME_CRC)
#define FRAME_WRITE_ROOM(content) ((content) + FRAME_OVERHEAD)

typedef struct {
    uint32_t good;
    uint32_t damaged;  /* frames with a wrong checksum or invalid COBS */
    uint32_t overlong; /* frames with more content than there is room for */
} frame_stats_t;

/* Turns bytes into frames. The caller provides the memory. */
typedef struct {
    uint8_t *data;
    uint16_t room;
    uint16_t used;
    uint8_t left;   /* bytes until the next COBS code */
    bool zero_next; /* the next code stands for a 0 in the content */
    bool begun, over;
    frame_stats_t stats;
} frame_reader_t;

void frame_reader_init(frame_reader_t *reader, uint8_t *memory, size_t room);

/* Returns the size of the content that this byte completed; the content stays in reader->data until
 * the next call. Returns FRAME_EMPTY if no frame is complete, or if the complete frame is invalid,
 * which is counted. */
size_t frame_take(frame_reader_t *reader, uint8_t byte);

/* A frame is built in place: the caller writes the content to memory + FRAME_WRITE_AT, then
 * frame_close encodes it. The frame begins at `memory`; frame_close returns the number of bytes to
 * send. */
enum { FRAME_WRITE_AT = 2 };
size_t frame_close(uint8_t *memory, size_t content);

#endif
