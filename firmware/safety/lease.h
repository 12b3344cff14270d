/* The lease: which client moves the arm, and whether it is still there. The board counts its time
 * in ticks, never in the client. */
#ifndef FIRMWARE_SAFETY_LEASE_H
#define FIRMWARE_SAFETY_LEASE_H

#include <stdbool.h>
#include <stdint.h>

/* Longest time from one renewal to the next, in ms of the board's time. The simulated arm hurts
 * nobody, and an emulator may be many times faster than its host. */
enum { LEASE_MS = 1000, LEASE_SIMULATED_MS = 60000 };

typedef struct {
    volatile uint32_t token; /* chosen by the client; 0: it has ended */
    volatile uint32_t left;  /* ticks until it lapses; 0: nobody has the lease */
    uint32_t ms;             /* time for which it was last taken */
} lease_t;

static inline bool lease_held(const lease_t *lease) {
    return lease->left > 0;
}

/* Returns whether this client has the lease. */
static inline bool lease_mine(const lease_t *lease, uint32_t token) {
    return lease->left > 0 && lease->token == token;
}

/* Returns the ticks of the lease from a renewal on. */
static inline uint32_t lease_ticks(const lease_t *lease, uint32_t rate_hz) {
    return lease->ms * rate_hz / 1000 + 1;
}

/* Returns whether it has lapsed. This is a state and not an event: if a tick misses it, the next one
 * does not. */
static inline bool lease_lapsed(const lease_t *lease) {
    return lease->left == 0 && lease->token != 0;
}

/* Called in every tick, also while the tick does nothing else. */
static inline void lease_tick(lease_t *lease) {
    if (lease->left > 0)
        lease->left--;
}

#endif
