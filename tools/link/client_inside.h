/* What the files of the client share, tools/link/client.h. */
#ifndef TOOLS_LINK_CLIENT_INSIDE_H
#define TOOLS_LINK_CLIENT_INSIDE_H

#include "tools/link/client.h"

/* The text that *at points to, at most to `end`; *at then points behind its zero. */
const char *client_next_text(const uint8_t **at, const uint8_t *end);
/* The lists of parameters, fields and methods are unknown again. */
void client_forget(device_t *device);

/* A frame of samples: put together to whole samples. */
void stream_take(client_t *client, const uint8_t *frame, size_t size);
/* Credit for the samples that were taken. */
int stream_pay(client_t *client);
/* A field as the board has it now, by its number. */
int client_discover_field(client_t *client, uint32_t field);

#endif
