/*
 * Samples of the application as frames: which fields, how often, whether the line can carry them,
 * and how many were lost.
 *
 * A sample of more values than a frame holds travels in several frames with the same tick. Nothing
 * here waits: a sample stays in the ring of the application until the line has room, and what the
 * ring cannot hold is counted there.
 */
#ifndef FIRMWARE_LINK_TELEMETRY_H
#define FIRMWARE_LINK_TELEMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/app/app.h"
#include "firmware/link/protocol.h"

enum { TELEMETRY_LINE_PERCENT = 90, TELEMETRY_BITS = 10 }; /* start, eight, stop */

typedef struct {
    uint8_t field[SAMPLE_FIELDS];
    uint8_t fields; /* 0: off */
    uint8_t sequence;
    uint16_t at;           /* values of the oldest sample that are sent already */
    uint32_t every;        /* ticks */
    uint32_t credit;       /* samples that may still be sent */
    uint8_t paid;          /* there was some since the choice: what is lost from then on counts */
    uint32_t sent, unpaid; /* samples since the choice: sent; dropped for lack of credit */
    uint32_t lost_before;  /* what the application had lost then */
} telemetry_t;

/*
 * What a choice needs of the line: bytes of a sample, bits a second, and how many there are for it.
 */
typedef struct {
    uint32_t bytes, needed, available;
} telemetry_budget_t;

uint32_t telemetry_values(const telemetry_t *telemetry, uint32_t joints);
telemetry_budget_t telemetry_budget(uint32_t values, uint32_t payload, uint32_t rate_hz,
                                    uint32_t every, uint32_t baud);

/* LINK_OK; LINK_BUDGET or LINK_INDEX or LINK_APP, and the choice before stays. No field: off. */
int telemetry_choose(telemetry_t *telemetry, app_t *app, const uint8_t *field, size_t fields,
                     uint32_t every, uint32_t payload, uint32_t baud, telemetry_budget_t *budget);
/* LINK_OK, or LINK_BUDGET where the choice would no longer fit the line with this value of rate_hz
 * or sample_every; a value that has no meaning is for app_set to refuse. */
int telemetry_allows(const telemetry_t *telemetry, const app_t *app, uint32_t parameter,
                     float value, uint32_t payload, uint32_t baud);
/* So many samples more may be sent. */
void telemetry_pay(telemetry_t *telemetry, const app_t *app, uint32_t samples);
uint32_t telemetry_lost(const telemetry_t *telemetry, const app_t *app);

/* The next frame into `memory`, which holds FRAME_WRITE_ROOM(PROTOCOL_HEAD + payload) bytes, if it
 * is not longer than `room`. Its size, or 0: nothing to send, or no room. */
size_t telemetry_next(telemetry_t *telemetry, app_t *app, uint32_t joints, uint8_t *memory,
                      uint32_t payload, size_t room);

#endif
