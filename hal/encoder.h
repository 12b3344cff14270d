/* Absolute joint encoders: AS5047P (14 bit) over SPI, one chip select per joint. */
#ifndef HAL_ENCODER_H
#define HAL_ENCODER_H

#include <stdint.h>

typedef enum {
    ENCODER_OK = 0,
    ENCODER_ERR_PARITY = -1, /* the frame's parity bit is wrong: noise or a broken wire */
    /* the chip set its error flag: it did not understand the request before */
    ENCODER_ERR_FLAG = -2,
    ENCODER_ERR_TIMEOUT = -3, /* the SPI did not finish: no clock, or the bus is not modelled */
    ENCODER_ERR_ABSENT = -4,  /* all ones or all zeros on the line: no chip, no supply */
} encoder_status_t;

enum { ENCODER_COUNTS = 16384 };

unsigned encoder_count(void);
void encoder_init(void);

/* The angle of one encoder, 0 to 16383, as of the request before (the chip answers one frame late:
 * at 1 kHz the value is one tick old). The output is left alone unless ENCODER_OK is returned. */
encoder_status_t encoder_read(unsigned encoder, uint16_t *counts);

/* A request frame of the AS5047P: even parity in bit 15, read in bit 14, address below. */
uint16_t encoder_request(uint16_t address);

#endif
