/* Implements firmware/params/bytes.h. */
#include "firmware/params/bytes.h"

#include <string.h>

/* Processes four bits at a time with a table of 64 bytes, which is half as fast as a table of a
 * kilobyte. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size) {
    static const uint32_t step[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                      0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *byte = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc = step[(crc ^ byte[i]) & 15] ^ crc >> 4;
        crc = step[(crc ^ (uint32_t)byte[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

uint16_t get_u16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t get_u32(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

float get_f32(const uint8_t *at) {
    const uint32_t bits = get_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double get_f64(const uint8_t *at) {
    const uint64_t bits = get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint8_t *put_u16(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

uint8_t *put_u32(uint8_t *at, uint32_t value) {
    return put_u16(put_u16(at, value), value >> 16);
}

uint8_t *put_f32(uint8_t *at, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_u32(at, bits);
}

uint8_t *put_f64(uint8_t *at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_u32(put_u32(at, (uint32_t)bits), (uint32_t)(bits >> 32));
}
