/* Implements tools/emulate/gdb.h. */
#include "tools/emulate/gdb.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MS = 10000, PIECE = 1024 }; /* PIECE: bytes of memory in one packet */

static int put(const gdb_t *gdb, const char *text) {
    char packet[2 * PIECE + 64];
    unsigned sum = 0;
    for (const char *c = text; *c; c++)
        sum += (unsigned char)*c;
    const int size = snprintf(packet, sizeof packet, "$%s#%02x", text, sum & 0xff);
    return size < (int)sizeof packet &&
                   send(gdb->file, packet, (size_t)size, MSG_NOSIGNAL) == (ssize_t)size
               ? 0
               : -1;
}

/* Takes the next packet out of what has come. Returns false if none is complete. */
static bool next(gdb_t *gdb, char *out, size_t size) {
    const char *begin = memchr(gdb->text, '$', gdb->used);
    const char *end = begin ? memchr(begin, '#', gdb->used - (size_t)(begin - gdb->text)) : NULL;
    if (!end || (size_t)(end - gdb->text) + 3 > gdb->used)
        return false;
    const size_t length = (size_t)(end - begin) - 1, taken = (size_t)(end - gdb->text) + 3;
    snprintf(out, size, "%.*s", (int)length, begin + 1);
    gdb->used -= taken;
    memmove(gdb->text, end + 3, gdb->used);
    return send(gdb->file, "+", 1, MSG_NOSIGNAL) == 1;
}

static int receive(gdb_t *gdb, int timeout_ms) {
    struct pollfd wait = {.fd = gdb->file, .events = POLLIN};
    const int ready = poll(&wait, 1, timeout_ms);
    if (ready <= 0)
        return ready;
    const ssize_t n = read(gdb->file, gdb->text + gdb->used, sizeof gdb->text - gdb->used);
    if (n <= 0)
        return -1;
    gdb->used += (size_t)n;
    return 1;
}

static int answer(gdb_t *gdb, char *out, size_t size) {
    while (!next(gdb, out, size))
        if (receive(gdb, ANSWER_MS) <= 0)
            return -1;
    return 0;
}

/* Asks something. A packet T.. is no answer: it says that the core has stopped once more. */
static int ask(gdb_t *gdb, const char *text, char *out, size_t size) {
    if (put(gdb, text) != 0)
        return -1;
    do {
        if (answer(gdb, out, size) != 0)
            return -1;
    } while (*out == 'T' && *text != '?');
    return 0;
}

static int ask_ok(gdb_t *gdb, const char *text) {
    char out[64];
    return ask(gdb, text, out, sizeof out) == 0 && !strcmp(out, "OK") ? 0 : -1;
}

static void to_hex(const uint8_t *bytes, size_t size, char *out) {
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digit[bytes[i] >> 4];
        out[2 * i + 1] = digit[bytes[i] & 15];
    }
    out[2 * size] = '\0';
}

static bool from_hex(const char *text, uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return false;
        bytes[i] = (uint8_t)value;
    }
    return true;
}

int gdb_begin(gdb_t *gdb, int file) {
    char out[256];
    *gdb = (gdb_t){.file = file};
    return ask(gdb, "?", out, sizeof out);
}

int gdb_read(gdb_t *gdb, uint32_t address, uint8_t *bytes, size_t size) {
    char text[64], out[2 * PIECE + 8];
    for (size_t at = 0; at < size; at += PIECE) {
        const size_t n = size - at < PIECE ? size - at : PIECE;
        snprintf(text, sizeof text, "m%x,%zx", (unsigned)(address + at), n);
        if (ask(gdb, text, out, sizeof out) != 0 || strlen(out) != 2 * n ||
            !from_hex(out, bytes + at, n))
            return -1;
    }
    return 0;
}

int gdb_write(gdb_t *gdb, uint32_t address, const uint8_t *bytes, size_t size) {
    char text[2 * PIECE + 64];
    for (size_t at = 0; at < size; at += PIECE) {
        const size_t n = size - at < PIECE ? size - at : PIECE;
        const int head = snprintf(text, sizeof text, "M%x,%zx:", (unsigned)(address + at), n);
        to_hex(bytes + at, n, text + head);
        if (ask_ok(gdb, text) != 0)
            return -1;
    }
    return 0;
}

int gdb_break(gdb_t *gdb, uint32_t address) {
    char text[64];
    snprintf(text, sizeof text, "Z0,%x,2", (unsigned)(address & ~1u));
    return ask_ok(gdb, text);
}

int gdb_registers(gdb_t *gdb, uint32_t r[GDB_REGISTERS]) {
    uint8_t bytes[4 * GDB_REGISTERS];
    if (ask(gdb, "g", gdb->registers, sizeof gdb->registers) != 0 ||
        strlen(gdb->registers) < 2 * sizeof bytes || !from_hex(gdb->registers, bytes, sizeof bytes))
        return -1;
    for (int i = 0; i < GDB_REGISTERS; i++)
        r[i] = (uint32_t)bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 |
               (uint32_t)bytes[4 * i + 2] << 16 | (uint32_t)bytes[4 * i + 3] << 24;
    return 0;
}

int gdb_set(gdb_t *gdb, const uint32_t r[GDB_REGISTERS]) {
    char text[sizeof gdb->registers + 1];
    uint8_t bytes[4 * GDB_REGISTERS];
    char hex[2 * sizeof bytes + 1];
    for (int i = 0; i < 4 * GDB_REGISTERS; i++)
        bytes[i] = (uint8_t)(r[i / 4] >> 8 * (i % 4));
    to_hex(bytes, sizeof bytes, hex);
    memcpy(gdb->registers, hex, 2 * sizeof bytes);
    snprintf(text, sizeof text, "G%s", gdb->registers);
    return ask_ok(gdb, text);
}

int gdb_go(gdb_t *gdb) {
    gdb->runs = true;
    return put(gdb, "c");
}

int gdb_halt(gdb_t *gdb) {
    char out[64];
    if (!gdb->runs)
        return 0;
    gdb->runs = false;
    return send(gdb->file, "\003", 1, MSG_NOSIGNAL) == 1 ? answer(gdb, out, sizeof out) : -1;
}

int gdb_stopped(gdb_t *gdb) {
    char out[64];
    if (receive(gdb, 0) < 0)
        return -1;
    if (!next(gdb, out, sizeof out))
        return 0;
    gdb->runs = false;
    return 1;
}
