/* Sockets for tools/link/port.h: tcp:HOST:PORT, unix:PATH and virtual:NAME. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "firmware/link/protocol.h"
#include "tools/link/hub.h"
#include "tools/link/port_inside.h"
#include "tools/link/run_folder.h"

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

int port_open_hub(port_t *port, const char *path, port_error_t *error) {
    port->file = run_connect(path);
    return port_greet_hub(port, path, error);
}

int port_greet_hub(port_t *port, const char *path, port_error_t *error) {
    enum { GREETING_MS = 2000 };
    uint8_t rx[FRAME_READ_ROOM(FRAME_CONTENT_MAX)], byte;
    frame_reader_t reader;
    size_t size = 0;
    frame_reader_init(&reader, rx, sizeof rx);
    while (port->file >= 0 && size == 0) {
        const int got = port_read(port, &byte, 1, GREETING_MS);
        if (got != 1) {
            close(port->file);
            port->file = -1;
            errno = got == 0 ? ETIMEDOUT : ECONNRESET;
        } else {
            size = frame_take(&reader, byte);
        }
    }
    if (port->file < 0) {
        const int why = errno;
        port_fail(error,
                  why == ETIMEDOUT ? "end the process that serves this port (`fuser -v` names it)"
                                   : "try again",
                  "%s: %s", path, strerror(why));
        errno = why;
        return -1;
    }
    port->hub = true;
    rx[sizeof rx - 1] = '\0';
    if (size > PROTOCOL_HEAD + 1 && rx[0] == HUB_GREETING)
        snprintf(port->note, sizeof port->note, "the port is shared with %.*s",
                 (int)(size - PROTOCOL_HEAD - 1), (const char *)rx + PROTOCOL_HEAD);
    return 0;
}

int port_open_virtual(port_t *port, const char *name, port_error_t *error) {
    char path[RUN_PATH], runs[RUN_BOARDS][RUN_NAME], cure[PORT_TEXT];
    if (run_board(name, path, error) != 0)
        return -1;
    if (port_open_hub(port, path, error) == 0)
        return 0;
    const int count = run_boards(runs);
    size_t used =
        (size_t)snprintf(cure, sizeof cure, "start one: `appell emulate BOARD --name %.48s`%s",
                         name, count > 0 ? "; these run: " : "");
    for (int i = 0; i < count && used < sizeof cure; i++)
        used +=
            (size_t)snprintf(cure + used, sizeof cure - used, "%s%s", i > 0 ? ", " : "", runs[i]);
    port_fail(error, cure, "no virtual board %.60s runs", name);
    return -1;
}
