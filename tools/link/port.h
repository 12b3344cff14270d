/*
 * A byte stream to a board: a serial device, a socket, an emulator that the port starts, or
 * functions of the caller (a board in the same process).
 *
 *     /dev/ttyACM0[@BAUD]   tcp:HOST:PORT   unix:PATH   virtual:NAME   qemu:BOARD   qemu:FILE.elf
 *
 * A serial device is shared: the first program that opens it starts a process that serves all that
 * open it after it (tools/link/hub.h), and ends with the last of them.
 */
#ifndef TOOLS_LINK_PORT_H
#define TOOLS_LINK_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PORT_BAUD = 921600, PORT_TEXT = 400 };

typedef struct port port_t;

/* The text of an error: what is wrong, and how to correct it. */
typedef struct {
    char what[PORT_TEXT], cure[PORT_TEXT];
} port_error_t;

void port_fail(port_error_t *error, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Initial flash contents of an emulated board. Some boards can get a robot in no other way: their
 * chip has no RAM for an image, and the emulator's flash cannot be written. For such a board the
 * file firmware.slot beside the firmware gives the address; boards without this file do not need
 * initial contents.
 */
typedef struct {
    const uint8_t *bytes;
    size_t size;
} port_flash_t;

/* Opens a port; `flash` may be NULL. On failure returns NULL and fills in *error. port_close also
 * ends the emulator. */
port_t *port_open(const char *name, const port_flash_t *flash, port_error_t *error);

/* Functions of the caller. read returns the number of bytes, 0 if none came in time, or -1 if the
 * line is closed. write returns 0 or -1. */
typedef struct {
    int (*read)(void *context, uint8_t *bytes, size_t most, int timeout_ms);
    int (*write)(void *context, const uint8_t *bytes, size_t size);
    void *context;
} port_calls_t;
port_t *port_from(const port_calls_t *calls);

void port_close(port_t *port);
int port_read(port_t *port, uint8_t *bytes, size_t most, int timeout_ms);
int port_write(port_t *port, const uint8_t *bytes, size_t size);

/* Returns the file descriptor, for waiting on several files at once, or -1 if there is none. */
int port_file(const port_t *port);
/* Returns the firmware file of the emulator, or NULL for every other port. */
const char *port_firmware(const port_t *port);
/* Returns whether other programs can use the board over this port at the same time. */
bool port_hub(const port_t *port);
/* Returns the name with which the port was opened. */
const char *port_name(const port_t *port);
/* Returns whether the port is a serial device: the board behind it is real, and boots at once. */
bool port_serial(const port_t *port);
/* Returns a hint for the user if the board does not answer. */
const char *port_silent(const port_t *port);
/* Returns a note for the user that is not an error, or NULL. */
const char *port_note(const port_t *port);

/*
 * Returns the time in ms for which a USB adapter collects bytes before it delivers them, or -1 if
 * the device has no such timer. Reads it from sysfs (normally /sys). `path` gets the name of the
 * file that sets the time.
 */
int port_latency_ms(const char *device, const char *sysfs, char *path, size_t size);

#endif
