/* Functions shared by the files of the client (tools/link/client.h). */
#ifndef TOOLS_LINK_CLIENT_INSIDE_H
#define TOOLS_LINK_CLIENT_INSIDE_H

#include "tools/link/client.h"

/* Copies the text at *at, which ends before `end`, and moves *at behind its final zero. Control
 * characters become visible, because the text goes to terminals, files and plotting programs. */
void client_take_text(const uint8_t **at, const uint8_t *end, char *out, size_t size);
/* Frees the lists of parameters, fields and methods, so that they are read again. */
void client_forget(device_t *device);

/* Print a line if --verbose is given: the port, what the board says of itself, and each request with
 * its answer (client_trace.c). */
void trace_port(const char *name);
void trace_hello(const client_t *client);
void trace_answer(const client_t *client, link_message_t message, int64_t ms, int repeats);
/* Prints the last requests; the client is closed. */
void trace_end(void);

/* Adds a received frame to the current sample and delivers the sample once it is complete. */
void stream_take(client_t *client, const uint8_t *frame, size_t size);
/* Renews the credit for samples when at most half of the window is left. */
int stream_pay(client_t *client);
/* Reads the present description of a field by its number. */
int client_discover_field(client_t *client, uint32_t field);

#endif
