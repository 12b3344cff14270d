/* The state of the simulated hardware that a host test can read, in addition to the headers of
 * hal/. */
#ifndef HAL_HOST_HOST_H
#define HAL_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

enum { HOST_IRQ_MAX = 128, HOST_IRQ_OFF = 255 };

typedef struct {
    unsigned lock_depth;     /* current depth; 0: every irq_lock has had its irq_unlock */
    unsigned lock_depth_max; /* largest depth since host_irq_reset */
    unsigned lock_count;
    unsigned unlock_errors;         /* irq_unlock without irq_lock, or with the wrong state */
    unsigned pended[HOST_IRQ_MAX];  /* calls of irq_pend per line */
    uint8_t priority[HOST_IRQ_MAX]; /* priority of an enabled line; HOST_IRQ_OFF: the line is
                                     * disabled */
} host_irq_t;

extern host_irq_t host_irq;
void host_irq_reset(void);

#endif
