/* Samples inside of the client: frames put together to whole samples, credit paid for them. */
#ifndef TOOLS_LINK_STREAM_H
#define TOOLS_LINK_STREAM_H

#include "tools/link/client.h"

void stream_take(client_t *client, const uint8_t *frame, size_t size);
int stream_pay(client_t *client);

#endif
