/*
 * Sends samples of the application as frames: chooses the fields and the rate, checks whether the
 * line is fast enough, and counts lost samples.
 *
 * A sample with more values than a frame holds is sent in several frames with the same tick.
 * Nothing here waits: a sample stays in the ring of the application until the line has room; the
 * application counts samples that the ring cannot hold.
 */
#ifndef FIRMWARE_LINK_TELEMETRY_H
#define FIRMWARE_LINK_TELEMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/app/app.h"
#include "firmware/link/protocol.h"

enum {
    TELEMETRY_LINE_PERCENT = 90,
    TELEMETRY_BITS = 10
}; /* bits of a byte on the line: start, eight data bits, stop */

typedef struct {
    uint8_t field[SAMPLE_FIELDS];
    uint8_t fields; /* number of fields; 0: telemetry is off */
    uint8_t sequence;
    uint16_t at;           /* values of the oldest sample that are already sent */
    uint32_t every;        /* ticks between two samples */
    uint32_t credit;       /* samples that may still be sent */
    uint8_t paid;          /* credit has come since the choice; losses count from then on */
    uint32_t sent, unpaid; /* samples since the choice: sent; dropped because there was no credit */
    uint32_t lost_before;  /* losses of the application when the first credit came */
} telemetry_t;

/*
 * The demand of a choice: bytes of a sample, bits per second needed, and bits per second available.
 */
typedef struct {
    uint32_t bytes, needed, available;
} telemetry_budget_t;

uint32_t telemetry_values(const telemetry_t *telemetry, uint32_t joints);
telemetry_budget_t telemetry_budget(uint32_t values, uint32_t payload, uint32_t rate_hz,
                                    uint32_t every, uint32_t baud);

/* Chooses the fields; without fields telemetry is off. Returns LINK_OK, or LINK_BUDGET, LINK_INDEX
 * or LINK_APP; then the last choice stays. */
int telemetry_choose(telemetry_t *telemetry, app_t *app, const uint8_t *field, size_t fields,
                     uint32_t every, uint32_t payload, uint32_t baud, telemetry_budget_t *budget);
/* Returns LINK_OK, or LINK_BUDGET if the choice would no longer fit the line with this value of
 * rate_hz or sample_every. Values out of range also give LINK_OK, because app_set refuses them. */
int telemetry_allows(const telemetry_t *telemetry, const app_t *app, uint32_t parameter,
                     float value, uint32_t payload, uint32_t baud);
/* Adds credit for this many samples. */
void telemetry_pay(telemetry_t *telemetry, const app_t *app, uint32_t samples);
uint32_t telemetry_lost(const telemetry_t *telemetry, const app_t *app);

/* Writes the next frame into `memory`, which has FRAME_WRITE_ROOM(PROTOCOL_HEAD + payload) bytes,
 * if the frame is not longer than `room`. Returns its size, or 0 if there is nothing to send or no
 * room. */
size_t telemetry_next(telemetry_t *telemetry, app_t *app, uint32_t joints, uint8_t *memory,
                      uint32_t payload, size_t room);

#endif
