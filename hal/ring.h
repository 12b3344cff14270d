/* A ring of bytes between one writer and one reader; one of them is an interrupt. The capacity is a
 * power of two. head and tail only increase, and wrap with the integer. */
#ifndef HAL_RING_H
#define HAL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps data and counter in order: bytes are written before head counts them, and read before tail
 * frees their place. `volatile` alone does not keep the compiler from moving the other accesses. */
static inline void ring_order(void) {
    atomic_signal_fence(memory_order_seq_cst);
}

typedef struct {
    uint8_t *data;
    uint32_t size;          /* power of two */
    volatile uint32_t head; /* bytes written so far */
    volatile uint32_t tail; /* bytes read so far */
} ring_t;

static inline uint32_t ring_used(const ring_t *ring) {
    return ring->head - ring->tail;
}

static inline uint32_t ring_free(const ring_t *ring) {
    return ring->size - ring_used(ring);
}

static inline bool ring_put(ring_t *ring, uint8_t byte) {
    if (ring_free(ring) == 0)
        return false;
    ring->data[ring->head & (ring->size - 1)] = byte;
    ring_order();
    ring->head = ring->head + 1;
    return true;
}

static inline bool ring_get(ring_t *ring, uint8_t *byte) {
    if (ring_used(ring) == 0)
        return false;
    *byte = ring->data[ring->tail & (ring->size - 1)];
    ring_order();
    ring->tail = ring->tail + 1;
    return true;
}

/* Writes all n bytes or none. */
static inline bool ring_write(ring_t *ring, const uint8_t *data, size_t n) {
    if (n > ring_free(ring))
        return false;
    uint32_t head = ring->head;
    for (size_t i = 0; i < n; i++)
        ring->data[head++ & (ring->size - 1)] = data[i];
    ring_order();
    ring->head = head;
    return true;
}

static inline size_t ring_read(ring_t *ring, uint8_t *data, size_t n) {
    size_t taken = 0;
    while (taken < n && ring_get(ring, &data[taken]))
        taken++;
    return taken;
}

#endif
