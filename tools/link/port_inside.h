/* The private struct of tools/link/port.h, and the functions that open each kind of port. They
 * return 0, or -1 with *error filled in. */
#ifndef TOOLS_LINK_PORT_INSIDE_H
#define TOOLS_LINK_PORT_INSIDE_H

#include <limits.h>
#include <sys/types.h>

#include "tools/link/port.h"

struct port {
    int file;
    char name[PATH_MAX];
    pid_t emulator; /* 0: none */
    bool serial;
    bool alone; /* the port is a socket that serves one program at a time */
    bool hub;   /* ... or one of a hub, which serves many */
    char firmware[PATH_MAX];
    char note[PORT_TEXT + PATH_MAX];
    port_calls_t calls;
};

int port_open_serial(port_t *port, const char *name, port_error_t *error);
int port_open_tcp(port_t *port, const char *name, port_error_t *error);
/* A socket of a hub (tools/link/hub.h). port->note says who else uses it. */
int port_open_hub(port_t *port, const char *path, port_error_t *error);
/* Reads the greeting over port->file, which is connected to a hub. */
int port_greet_hub(port_t *port, const char *path, port_error_t *error);
int port_open_virtual(port_t *port, const char *name, port_error_t *error);
int port_open_unix(port_t *port, const char *path, port_error_t *error);
int port_open_emulator(port_t *port, const char *name, const port_flash_t *flash,
                       port_error_t *error);

#endif
