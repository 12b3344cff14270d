// The one checksum of the project: CRC-32 (ISO-HDLC, that of zip and Ethernet), for frames on the
// wire and for what lies in the parameter store.
#ifndef FIRMWARE_CORE_CRC_H
#define FIRMWARE_CORE_CRC_H

#include <stddef.h>
#include <stdint.h>

// Goes on from the checksum of the bytes before; 0 before the first.
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size);

#endif
