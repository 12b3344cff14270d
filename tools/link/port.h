/*
 * A line of bytes to a board: a serial device, a socket, an emulator that is started for it, or
 * functions of the caller (a board in the same process).
 *
 *     /dev/ttyACM0[@BAUD]   tcp:HOST:PORT   unix:PATH   qemu:BOARD   qemu:FILE.elf
 */
#ifndef TOOLS_LINK_PORT_H
#define TOOLS_LINK_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PORT_BAUD = 921600, PORT_TEXT = 400 };

typedef struct port port_t;

/* What is wrong and what to do about it. */
typedef struct {
    char what[PORT_TEXT], cure[PORT_TEXT];
} port_error_t;

void port_fail(port_error_t *error, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * What lies in the flash of an emulated board that takes a robot in no other way: its chip has no
 * RAM for an image, and the emulator no flash that can be written. firmware.slot beside the
 * firmware says where; every other board does without.
 */
typedef struct {
    const uint8_t *bytes;
    size_t size;
} port_flash_t;

/* NULL with *error filled in. To be closed by port_close, which ends the emulator, too. `flash` may
 * be NULL. */
port_t *port_open(const char *name, const port_flash_t *flash, port_error_t *error);

/* read: bytes, 0 where none came in time, -1 where the line is closed. write: 0 or -1. */
typedef struct {
    int (*read)(void *context, uint8_t *bytes, size_t most, int timeout_ms);
    int (*write)(void *context, const uint8_t *bytes, size_t size);
    void *context;
} port_calls_t;
port_t *port_from(const port_calls_t *calls);

void port_close(port_t *port);
int port_read(port_t *port, uint8_t *bytes, size_t most, int timeout_ms);
int port_write(port_t *port, const uint8_t *bytes, size_t size);

/* To wait for it together with something else; -1 where there is none. */
int port_file(const port_t *port);
/* The emulator behind it: its firmware file; NULL for everything else. */
const char *port_firmware(const port_t *port);
/* What to look at where nobody answers. */
const char *port_silent(const port_t *port);
/* Something to tell the user that is no error, or NULL. */
const char *port_note(const port_t *port);

/*
 * Milliseconds for which a USB adapter collects bytes before it hands them over, from the sysfs of
 * the machine (normally at /sys); -1 where the device has no such timer. The file that sets it goes
 * to `path`.
 */
int port_latency_ms(const char *device, const char *sysfs, char *path, size_t size);

#endif
