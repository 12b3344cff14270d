/* Numbers and checksums as bytes: for frames, robot images and the store. */
#ifndef FIRMWARE_PARAMS_BYTES_H
#define FIRMWARE_PARAMS_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 (ISO-HDLC, as in zip and Ethernet). `crc` is the checksum of the preceding bytes, 0 at the
 * start. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size);

/* Little-endian numbers at any address. */
uint16_t get_u16(const uint8_t *at);
uint32_t get_u32(const uint8_t *at);
float get_f32(const uint8_t *at);
double get_f64(const uint8_t *at);
uint8_t *put_u16(uint8_t *at, uint32_t value); /* returns the address after the number */
uint8_t *put_u32(uint8_t *at, uint32_t value);
uint8_t *put_f32(uint8_t *at, float value);
uint8_t *put_f64(uint8_t *at, double value);

#endif
