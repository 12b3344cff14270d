/* A copy of the state of a board before a change: the running image, the stored image and every
 * parameter. The state is restored if the change fails. */
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
    snapshot_value_t *value;
    uint32_t values;
} snapshot_t;

/* Reads the state. Returns 0, or -1 with the client's error; call snapshot_free in either case. */
int snapshot_take(client_t *client, snapshot_t *before);
void snapshot_free(snapshot_t *before);

/*
 * True if this image equals the running image (which = 0) or the stored image (1), byte for byte.
 */
bool snapshot_same(client_t *client, uint8_t which, const uint8_t *image, size_t length);

typedef enum {
    SNAPSHOT_UNTOUCHED, /* both images were unchanged; parameters that differed were set back */
    SNAPSHOT_PUT_BACK,
    SNAPSHOT_LOST /* the state could not be restored; the client has the error */
} before_result_t;
before_result_t snapshot_restore(client_t *client, const snapshot_t *before);

#endif
