/* Implements firmware/link/frame.h. */
#include "firmware/link/frame.h"

#include <string.h>

void frame_reader_init(frame_reader_t *reader, uint8_t *memory, size_t room) {
    *reader = (frame_reader_t){.data = memory, .room = (uint16_t)room};
}

static void keep(frame_reader_t *reader, uint8_t byte) {
    if (reader->used == reader->room)
        reader->over = true;
    else
        reader->data[reader->used++] = byte;
}

static size_t finish(frame_reader_t *reader) {
    const size_t used = reader->used;
    const bool begun = reader->begun, over = reader->over, whole = reader->left == 0;
    reader->used = 0;
    reader->left = 0;
    reader->zero_next = reader->begun = reader->over = false;
    if (!begun)
        return FRAME_EMPTY; /* two end bytes in a row */
    if (over) {
        reader->stats.overlong++;
        return FRAME_EMPTY;
    }
    if (!whole || used <= FRAME_CRC ||
        crc32_add(0, reader->data, used - FRAME_CRC) != get_u32(reader->data + used - FRAME_CRC)) {
        reader->stats.damaged++;
        return FRAME_EMPTY;
    }
    reader->stats.good++;
    return used - FRAME_CRC;
}

size_t frame_take(frame_reader_t *reader, uint8_t byte) {
    if (byte == 0)
        return finish(reader);
    reader->begun = true;
    if (reader->left > 0) {
        reader->left--;
        keep(reader, byte);
        return FRAME_EMPTY;
    }
    if (reader->zero_next)
        keep(reader, 0);
    reader->left = (uint8_t)(byte - 1);
    reader->zero_next = byte != 0xff;
    return FRAME_EMPTY;
}

size_t frame_close(uint8_t *memory, size_t content) {
    uint8_t *const first = memory + FRAME_WRITE_AT;
    put_u32(first + content, crc32_add(0, first, content));
    const size_t size = content + FRAME_CRC;
    /* COBS: each zero is replaced by the distance to the next zero; the byte before the content
     * contains the distance to the first. */
    size_t mark = 0;
    memory[0] = 0;
    for (size_t i = 1; i <= size; i++) {
        if (memory[1 + i] == 0) {
            memory[1 + mark] = (uint8_t)(i - mark);
            mark = i;
        }
    }
    memory[1 + mark] = (uint8_t)(size + 1 - mark);
    memory[2 + size] = 0;
    return size + 3;
}
