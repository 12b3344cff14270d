/* crash: prints the crash record of a board with the symbol names of its firmware. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/link/elf.h"

static const char *const causes[] = {
#define X(number, name, text) [number] = text,
    CRASH_CAUSES(X)
#undef X
};

static const struct {
    uint32_t bit;
    const char *text;
} cfsr_bits[] = {{1u << 0, "instruction fetch not allowed"},
                 {1u << 1, "data access not allowed"},
                 {1u << 3, "unstacking not allowed"},
                 {1u << 4, "stacking not allowed"},
                 {1u << 8, "instruction bus error"},
                 {1u << 9, "precise data bus error"},
                 {1u << 10, "imprecise data bus error"},
                 {1u << 11, "unstacking bus error"},
                 {1u << 12, "stacking bus error"},
                 {1u << 16, "undefined instruction"},
                 {1u << 17, "invalid state"},
                 {1u << 18, "invalid return"},
                 {1u << 19, "no coprocessor"},
                 {1u << 24, "unaligned access"},
                 {1u << 25, "divide by zero"}};

static void take(const uint8_t *bytes, crash_t *crash) {
    uint32_t *word = (uint32_t *)(void *)crash;
    for (size_t i = 0; i < sizeof *crash / 4; i++)
        word[i] = get_u32(bytes + 4 * i);
}

static void print_address(const elf_t *elf, const char *what, uint32_t address) {
    char name[200];
    const bool named = elf && elf_name(elf, address, name, sizeof name);
    out_format("%-10s %08x%s%s\n", what, (unsigned)address, named ? "  " : "", named ? name : "");
}

static void print_record(const elf_t *elf, const crash_t *c) {
    const uint32_t cause = c->cause[0];
    out_format("crash      %s (number %u since power-up)\n",
               cause < sizeof causes / sizeof causes[0] ? causes[cause] : "of an unknown kind",
               (unsigned)c->count[0]);
    print_address(elf, "pc", c->pc[0]);
    print_address(elf, "lr", c->lr[0]);
    out_format("sp         %08x\nxpsr       %08x, exception %u\n", (unsigned)c->sp[0],
               (unsigned)c->xpsr[0], (unsigned)c->exception[0]);
    if (!c->frame_valid[0])
        out_text("           (the core could not save pc, lr, xpsr, r0 to r3 and r12)\n");
    for (int i = 0; i < 13; i++)
        out_format("r%-2d %08x%s", i, (unsigned)c->r[i], i % 4 == 3 || i == 12 ? "\n" : "   ");
    out_format("cfsr       %08x", (unsigned)c->cfsr[0]);
    for (size_t i = 0; i < sizeof cfsr_bits / sizeof cfsr_bits[0]; i++)
        if (c->cfsr[0] & cfsr_bits[i].bit)
            out_format(", %s", cfsr_bits[i].text);
    out_format("\nhfsr       %08x\n", (unsigned)c->hfsr[0]);
    if (c->cfsr[0] & 1u << 7)
        out_format("mmfar      %08x, the address that was not allowed\n", (unsigned)c->mmfar[0]);
    if (c->cfsr[0] & 1u << 15)
        out_format("bfar       %08x, the address that did not answer\n", (unsigned)c->bfar[0]);
    for (uint32_t i = 0; i < c->stack_words[0] && i < 16; i++) {
        char what[16];
        snprintf(what, sizeof what, "[sp+%u]", (unsigned)(4 * i));
        print_address(elf, what, c->stack[i]);
    }
}

static void json_address(const char *key, const elf_t *elf, uint32_t address) {
    char name[200] = "";
    json_begin(key);
    json_integer("address", (long)address);
    if (elf && elf_name(elf, address, name, sizeof name))
        json_string("name", name);
    json_end();
}

/* Writes the record, or null if there is none. */
static void json_record(const char *board, const elf_t *elf, const crash_t *c) {
    json_begin(NULL);
    json_string("board", board);
    if (!c) {
        json_null("crash");
        json_end();
        return;
    }
    const uint32_t cause = c->cause[0];
    json_begin("crash");
    json_string("cause", cause < sizeof causes / sizeof causes[0] ? causes[cause] : "unknown");
    json_integer("count", (long)c->count[0]);
    json_address("pc", elf, c->pc[0]);
    json_address("lr", elf, c->lr[0]);
    json_integer("sp", (long)c->sp[0]);
    json_integer("xpsr", (long)c->xpsr[0]);
    json_integer("exception", (long)c->exception[0]);
    json_bool("frame_valid", c->frame_valid[0]);
    json_list("r");
    for (int i = 0; i < 13; i++)
        json_integer(NULL, (long)c->r[i]);
    json_list_end();
    json_integer("cfsr", (long)c->cfsr[0]);
    json_integer("hfsr", (long)c->hfsr[0]);
    json_integer("mmfar", (long)c->mmfar[0]);
    json_integer("bfar", (long)c->bfar[0]);
    json_list("stack");
    for (uint32_t i = 0; i < c->stack_words[0] && i < 16; i++)
        json_address(NULL, elf, c->stack[i]);
    json_list_end();
    json_end();
    json_end();
}

/* Opens the firmware file for its symbol names. It must be the build that crashed. */
static elf_t *open_firmware(const request_t *request, const client_t *client,
                            const crash_t *crash) {
    char path[200];
    const char *why, *file = request->value[OPTION_FIRMWARE];
    uint8_t id[20];
    for (int i = 0; i < 5; i++)
        put_u32(id + 4 * i, crash->build_id[i]);
    if (!file)
        file = port_firmware(client->port);
    if (!file) {
        snprintf(path, sizeof path, "build/%.60s/%sfirmware.elf", client->device.board,
                 client->device.flags & HELLO_LAB ? "lab/" : "");
        file = path;
    }
    elf_t *elf = elf_open(file, &why);
    if (!elf) {
        diag_note(file,
                  "%s, so addresses are shown without names; give the firmware with --firmware ELF",
                  why);
        return NULL;
    }
    const uint8_t *have = elf_build_id(elf);
    if (have && !memcmp(have, id, sizeof id))
        return elf;
    diag_note(file,
              "the build that crashed has an id that begins with %02x%02x%02x%02x; this file is "
              "another build, so its names are not used",
              id[0], id[1], id[2], id[3]);
    elf_close(elf);
    return NULL;
}

int cmd_crash(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_ROBOT);
    uint8_t *bytes;
    size_t size;
    if (!client)
        return EXIT_BAD;
    const bool json = request_has(request, OPTION_JSON);
    int status = EXIT_YES;
    if (client_crash(client, &bytes, &size, !request_has(request, OPTION_LEAVE)) != 0) {
        status = board_error(client);
    } else if (!bytes && json) {
        json_record(client->device.board, NULL, NULL);
    } else if (!bytes) {
        out_format("%s: no crash since power-up, or its record has been cleared\n",
                   client->device.board);
    } else if (size < sizeof(crash_t)) {
        status = diag_error(client->device.board, "use `appell` and firmware of the same version",
                            "the crash record has %zu bytes, expected %zu", size, sizeof(crash_t));
    } else {
        crash_t crash;
        take(bytes, &crash);
        elf_t *elf = open_firmware(request, client, &crash);
        if (json)
            json_record(client->device.board, elf, &crash);
        else
            print_record(elf, &crash);
        elf_close(elf);
    }
    free(bytes);
    client_close(client);
    return status;
}
