/* A copy of the state of a board before a change: the running image, the stored image and every
 * parameter. The state is restored if the change fails. */
#ifndef TOOLS_LINK_BEFORE_H
#define TOOLS_LINK_BEFORE_H

#include "tools/link/client.h"

typedef struct {
    uint8_t parameter, joint;
    bool saved;
    float value;
} before_value_t;

typedef struct {
    uint8_t *image[2]; /* [0] the running image, [1] the stored image; NULL: none */
    uint32_t length[2];
    before_value_t *value;
    uint32_t values;
} before_t;

/* Reads the state. Returns 0, or -1 with the client's error; call before_free in either case. */
int before_take(client_t *client, before_t *before);
void before_free(before_t *before);

/*
 * True if this image equals the running image (which = 0) or the stored image (1), byte for byte.
 */
bool before_same(client_t *client, uint8_t which, const uint8_t *image, size_t length);

typedef enum {
    BEFORE_UNTOUCHED, /* both images were unchanged; parameters that differed were set back */
    BEFORE_PUT_BACK,
    BEFORE_LOST /* the state could not be restored; the client has the error */
} before_result_t;
before_result_t before_restore(client_t *client, const before_t *before);

#endif
