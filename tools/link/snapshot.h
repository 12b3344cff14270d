/* A copy of what is configured on a board: the running image, the stored image, every parameter and
 * the choice of telemetry fields. A board is brought into such a state: into the previous one if a
 * change fails, or into that of a file. */
#ifndef TOOLS_LINK_SNAPSHOT_H
#define TOOLS_LINK_SNAPSHOT_H

#include "tools/link/client.h"

typedef struct {
    uint8_t parameter, joint;
    bool saved;
    float value;
} snapshot_value_t;

typedef struct {
    uint8_t *image[2]; /* [0] the running image, [1] the stored image; NULL: none */
    uint32_t length[2];
    snapshot_value_t *value; /* without overrides */
    uint32_t values;
    uint8_t chosen[256]; /* numbers of the telemetry fields; sample_every is among the values */
    uint32_t choices;
    uint32_t tick; /* of the board at that time; a smaller one later means that it was reset */
} snapshot_t;

/* Reads the state. Returns 0, or -1 with the client's error; call snapshot_free in either case. */
int snapshot_take(client_t *client, snapshot_t *before);
void snapshot_free(snapshot_t *before);

/*
 * True if this image equals the running image (which = 0) or the stored image (1), byte for byte.
 */
bool snapshot_same(client_t *client, uint8_t which, const uint8_t *image, size_t length);

/* True if both numbers have the same bits; 0 and -0 differ. */
bool snapshot_same_bits(float a, float b);
/* True if both have the same running image, values and fields, bit for bit. */
bool snapshot_equal(const snapshot_t *a, const snapshot_t *b);
/* True if a reset keeps everything: the stored image is the running one, and all values are saved.
 */
bool snapshot_saved(const snapshot_t *state);

/*
 * Makes the board run an image, values and fields; saves nothing, except on a board that runs its
 * image where it is stored. An image that runs already is not sent, so the joints stay homed. The
 * real arm is chosen last, after all that it depends on. Returns 0, or -1 with the client's error.
 */
int snapshot_run(client_t *client, const snapshot_t *wanted, client_progress_t progress,
                 void *user);

typedef enum {
    SNAPSHOT_UNTOUCHED, /* both images were unchanged; parameters that differed were set back */
    SNAPSHOT_PUT_BACK,
    SNAPSHOT_LOST /* the state could not be restored; the client has the error */
} before_result_t;
before_result_t snapshot_restore(client_t *client, const snapshot_t *before);

#endif
