/* A copy of what a board has before a change: the running image, the stored image, every parameter.
 * It is restored if the change fails. */
#ifndef TOOLS_LINK_BEFORE_H
#define TOOLS_LINK_BEFORE_H

#include "tools/link/client.h"

typedef struct {
    uint8_t parameter, joint;
    bool saved;
    float value;
} before_value_t;

typedef struct {
    uint8_t *image[2]; /* [0] running, [1] stored, as in client_read_image; NULL: none */
    uint32_t length[2];
    before_value_t *value;
    uint32_t values;
} before_t;

/* Returns 0, or -1 with the client's error. Free it in either case. */
int before_take(client_t *client, before_t *before);
void before_free(before_t *before);

/* True if this image is byte for byte the running one (which 0) or the stored one (1). */
bool before_same(client_t *client, uint8_t which, const uint8_t *image, size_t length);

typedef enum {
    BEFORE_UNTOUCHED, /* nothing has changed */
    BEFORE_PUT_BACK,
    BEFORE_LOST /* could not restore; the client has the error */
} before_result_t;
before_result_t before_restore(client_t *client, const before_t *before);

#endif
