/* Implements tools/link/port.h for all kinds of ports. port_serial.c, port_socket.c and
 * port_emulator.c open them. */
#include "tools/link/port.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/link/port_inside.h"

void port_fail(port_error_t *error, const char *cure, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(error->what, sizeof error->what, format, list);
    va_end(list);
    snprintf(error->cure, sizeof error->cure, "%s", cure);
}

port_t *port_from(const port_calls_t *calls) {
    port_t *port = calloc(1, sizeof *port);
    if (port) {
        port->file = -1;
        port->calls = *calls;
    }
    return port;
}

port_t *port_open(const char *name, const port_flash_t *flash, port_error_t *error) {
    port_t *port = calloc(1, sizeof *port);
    if (!port) {
        port_fail(error, "close some programs", "there is not enough memory");
        return NULL;
    }
    port->file = -1;
    snprintf(port->name, sizeof port->name, "%s", name);
    /* so that writing to a closed line fails in port_write and does not end the program */
    signal(SIGPIPE, SIG_IGN);
    int status;
    if (!strncmp(name, "tcp:", 4))
        status = port_open_tcp(port, name + 4, error);
    else if (!strncmp(name, "unix:", 5))
        status = port_open_unix(port, name + 5, error);
    else if (!strncmp(name, "virtual:", 8))
        status = port_open_virtual(port, name + 8, error);
    else if (!strncmp(name, "qemu:", 5))
        status = port_open_emulator(port, name + 5, flash, error);
    else
        status = port_open_serial(port, name, error);
    port->alone = !strncmp(name, "tcp:", 4) || !strncmp(name, "unix:", 5);
    if (status == 0)
        return port;
    port_close(port);
    return NULL;
}

void port_close(port_t *port) {
    if (!port)
        return;
    if (port->file >= 0)
        close(port->file);
    if (port->emulator > 0) {
        kill(port->emulator, SIGKILL);
        while (waitpid(port->emulator, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(port);
}

int port_read(port_t *port, uint8_t *bytes, size_t most, int timeout_ms) {
    if (port->calls.read)
        return port->calls.read(port->calls.context, bytes, most, timeout_ms);
    struct pollfd wait = {.fd = port->file, .events = POLLIN};
    const int ready = poll(&wait, 1, timeout_ms);
    if (ready < 0)
        return errno == EINTR ? 0 : -1;
    if (ready == 0)
        return 0;
    const ssize_t n = read(port->file, bytes, most);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n > 0 ? (int)n : -1;
}

int port_write(port_t *port, const uint8_t *bytes, size_t size) {
    if (port->calls.write)
        return port->calls.write(port->calls.context, bytes, size);
    while (size > 0) {
        const ssize_t n = write(port->file, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd wait = {.fd = port->file, .events = POLLOUT};
            if (poll(&wait, 1, 10000) <= 0)
                return -1;
        } else if (n == 0 || errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

int port_file(const port_t *port) {
    return port->file;
}

const char *port_firmware(const port_t *port) {
    return port->emulator > 0 ? port->firmware : NULL;
}

const char *port_silent(const port_t *port) {
    if (port->alone)
        return "end any other program that uses this port, because it serves only one at a time; "
               "then check that a board with this firmware is connected to it";
    return "check that the board runs this firmware, that the baud rate is right and that transmit "
           "and receive are not swapped";
}

const char *port_name(const port_t *port) {
    return port->name;
}

bool port_serial(const port_t *port) {
    return port->serial;
}

bool port_hub(const port_t *port) {
    return port->hub;
}

const char *port_note(const port_t *port) {
    return *port->note ? port->note : NULL;
}
