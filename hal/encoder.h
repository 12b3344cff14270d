/* Joint encoders, of the kind that the board's table gives to each joint: AS5047P (14 bit, absolute
 * within a turn) over SPI, or a quadrature encoder counted by a timer. */
#ifndef HAL_ENCODER_H
#define HAL_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    ENCODER_OK = 0,
    ENCODER_ERR_PARITY = -1, /* wrong parity bit: noise or a broken wire */
    ENCODER_ERR_FLAG = -2,   /* the chip did not understand a request: noise on the clock */
    /* there is no new reading: the SPI did not finish, or the emulator does not model it */
    ENCODER_ERR_TIMEOUT = -3,
    ENCODER_ERR_ABSENT = -4, /* all ones or all zeros on the line: no chip, or no supply */
    ENCODER_ERR_MAGNET = -5, /* the magnet is missing, too far away or too near */
    ENCODER_ERR_CORDIC = -6, /* the chip could not compute an angle, or has not finished starting */
} encoder_status_t;

typedef struct {
    uint32_t counts; /* the reading wraps at this number of counts */
    bool absolute;   /* one wrap is one turn, and the position within it is known at power-up */
} encoder_info_t;

unsigned encoder_count(void);
encoder_info_t encoder_info(unsigned encoder);
void encoder_init(void);

/* Starts one reading of every encoder and returns at once; interrupts do the rest. The tick calls
 * it at its end, so that the readings wait for the next tick. */
void encoder_start(void);

/* Gives the reading that encoder_start began, 0 to counts - 1, once; never waits. A quadrature
 * encoder gives its count of now. *counts changes only if ENCODER_OK is returned. A diagnostic of the chip (magnet, CORDIC, flag) is reported
 * instead of the reading from the tick in which it was read until it is gone. */
encoder_status_t encoder_read(unsigned encoder, uint16_t *counts);

/* Returns the time that one reading of all encoders takes, ns. It begins at the end of a tick and
 * must have ended before the next one. */
uint32_t encoder_busy_ns(void);

/* Makes a read request of the AS5047P: even parity in bit 15, the read flag in bit 14, the address
 * below. */
uint16_t encoder_request(uint16_t address);

#endif
