/* Absolute joint encoders: AS5047P (14 bit) over SPI, one chip select per joint. */
#ifndef HAL_ENCODER_H
#define HAL_ENCODER_H

#include <stdint.h>

typedef enum {
    ENCODER_OK = 0,
    ENCODER_ERR_PARITY = -1, /* wrong parity bit: noise or a broken wire */
    /* the chip set its error flag: it did not understand the last request */
    ENCODER_ERR_FLAG = -2,
    /* the SPI did not finish: it has no clock, or the emulator does not model it */
    ENCODER_ERR_TIMEOUT = -3,
    ENCODER_ERR_ABSENT = -4, /* all ones or all zeros on the line: no chip, or no supply */
} encoder_status_t;

enum { ENCODER_COUNTS = 16384 };

unsigned encoder_count(void);
void encoder_init(void);

/* Reads the angle that the encoder had at the previous read, 0 to 16383. The chip answers one frame
 * late, so that at 1 kHz the value is one tick (1 ms) old. *counts changes only if ENCODER_OK is
 * returned. */
encoder_status_t encoder_read(unsigned encoder, uint16_t *counts);

/* Makes a read request of the AS5047P: even parity in bit 15, the read flag in bit 14, the address
 * below. */
uint16_t encoder_request(uint16_t address);

#endif
