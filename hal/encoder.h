/* Absolute joint encoders: AS5047P (14 bit) over SPI, one chip select per joint. */
#ifndef HAL_ENCODER_H
#define HAL_ENCODER_H

#include <stdint.h>

typedef enum {
    ENCODER_OK = 0,
    ENCODER_ERR_PARITY = -1, /* wrong parity bit: noise or a broken wire */
    /* the chip set its error flag: it did not understand the last request */
    ENCODER_ERR_FLAG = -2,
    /* the SPI did not finish: no clock, or the emulator has no such bus */
    ENCODER_ERR_TIMEOUT = -3,
    ENCODER_ERR_ABSENT = -4, /* all ones or all zeros on the line: no chip, no supply */
} encoder_status_t;

enum { ENCODER_COUNTS = 16384 };

unsigned encoder_count(void);
void encoder_init(void);

/* The angle of one encoder, 0 to 16383, at the time of the last request: the chip answers one frame
 * late, so at 1 kHz the value is one tick old. *counts changes only if ENCODER_OK is returned. */
encoder_status_t encoder_read(unsigned encoder, uint16_t *counts);

/* A read request of the AS5047P: even parity in bit 15, read in bit 14, address below. */
uint16_t encoder_request(uint16_t address);

#endif
