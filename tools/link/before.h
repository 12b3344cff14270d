/* What a board had before it was given something else: the image that runs, the one that is stored,
 * every parameter. Put back where the change went wrong. */
#ifndef TOOLS_LINK_BEFORE_H
#define TOOLS_LINK_BEFORE_H

#include "tools/link/client.h"

typedef struct {
    uint8_t parameter, joint;
    bool saved;
    float value;
} before_value_t;

typedef struct {
    uint8_t *image[2]; /* as client_read_image counts them: that runs, stored; NULL: none */
    uint32_t length[2];
    before_value_t *value;
    uint32_t values;
} before_t;

/* 0, or -1 with the client's error; to be freed in any case. */
int before_take(client_t *client, before_t *before);
void before_free(before_t *before);

/* Is this image, byte for byte, what runs (which 0) or what is stored (1)? */
bool before_same(client_t *client, uint8_t which, const uint8_t *image, size_t length);

typedef enum {
    BEFORE_UNTOUCHED, /* all is as it was */
    BEFORE_PUT_BACK,
    BEFORE_LOST /* with the client's error */
} before_result_t;
before_result_t before_restore(client_t *client, const before_t *before);

#endif
