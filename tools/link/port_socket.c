/* Sockets for tools/link/port.h: tcp:HOST:PORT and unix:PATH. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/link/port_inside.h"

int port_open_tcp(port_t *port, const char *name, port_error_t *error) {
    char host[256];
    snprintf(host, sizeof host, "%s", name);
    char *colon = strrchr(host, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (!colon || colon == host || !colon[1]) {
        port_fail(error, "write tcp:HOST:PORT, for example tcp:localhost:4000",
                  "tcp:%s: the host or the port is missing", name);
        return -1;
    }
    *colon = '\0';
    const int looked = getaddrinfo(host, colon + 1, &hints, &found);
    if (looked != 0) {
        port_fail(error, "check host and port", "tcp:%s: %s", name, gai_strerror(looked));
        return -1;
    }
    int why = 0;
    for (const struct addrinfo *a = found; a && port->file < 0; a = a->ai_next) {
        const int one = 1;
        port->file = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (port->file < 0 || connect(port->file, a->ai_addr, a->ai_addrlen) != 0) {
            why = errno;
            if (port->file >= 0)
                close(port->file);
            port->file = -1;
            continue;
        }
        (void)setsockopt(port->file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    freeaddrinfo(found);
    if (port->file >= 0)
        return 0;
    port_fail(
        error,
        "start the program that should listen there, for example an emulator with -serial tcp:",
        "tcp:%s: %s", name, strerror(why));
    return -1;
}

int port_open_unix(port_t *port, const char *path, port_error_t *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        port_fail(error, "use a shorter path", "unix:%s: the path is too long for a socket", path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    port->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (port->file >= 0 && connect(port->file, (struct sockaddr *)&address, sizeof address) == 0)
        return 0;
    port_fail(
        error,
        "start the program that should listen there, for example an emulator with -serial unix:",
        "unix:%s: %s", path, strerror(errno));
    return -1;
}
