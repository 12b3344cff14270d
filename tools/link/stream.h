/* Samples inside of the client: frames put together to whole samples, credit paid for them. */
#ifndef TOOLS_LINK_STREAM_H
#define TOOLS_LINK_STREAM_H

#include "tools/link/client.h"

void stream_take(client_t *client, const uint8_t *frame, size_t size);
int stream_pay(client_t *client);
/* A field as the board has it now, by its number; tools/link/client.c. */
int stream_field(client_t *client, uint32_t field);

#endif
