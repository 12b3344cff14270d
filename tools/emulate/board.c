/* Implements tools/emulate/board.h. */
#include "tools/emulate/board.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "firmware/link/protocol.h"
#include "tools/emulate/flash_file.h"
#include "tools/emulate/gdb.h"
#include "tools/link/elf.h"
#include "tools/link/emulator.h"
#include "tools/link/hub.h"
#include "tools/link/run_folder.h"

/* What the functions of hal/flash.h return. */
enum { FLASH_OK = 0, FLASH_ERR_RANGE = -1, FLASH_ERR_HARDWARE = -5, FLASH_ERR_VERIFY = -6 };

/* Addresses in the firmware at which the board is steered. */
typedef struct {
    uint32_t erase, program, reset, kept, memory_from, memory_to;
} places_t;

typedef struct {
    const virtual_board_t *is;
    emulator_t emulator; /* as found; each start uses a copy */
    places_t at;
    flash_file_t flash;
    gdb_t gdb;
    pid_t process;
    int line;
    uint8_t *memory; /* what a reset keeps, from memory_from to memory_to */
    bool memory_kept;
    hub_t *hub;
    bool ends;
} machine_t;

static volatile sig_atomic_t ended;

static void end(int signal) {
    (void)signal;
    ended = 1;
}

/* ----------------------------------------------------------------------------- emulator on and off */

static int find_places(machine_t *m, port_error_t *error) {
    static const struct {
        const char *name;
        size_t offset;
    } symbol[] = {{"flash_erase", offsetof(places_t, erase)},
                  {"flash_program", offsetof(places_t, program)},
                  {"reset_system", offsetof(places_t, reset)},
                  {"flash_kept", offsetof(places_t, kept)},
                  {"__noinit_start", offsetof(places_t, memory_from)},
                  {"__noinit_end", offsetof(places_t, memory_to)}};
    const char *why;
    elf_t *elf = elf_open(m->emulator.firmware, &why);
    for (size_t i = 0; i < sizeof symbol / sizeof symbol[0]; i++)
        if (!elf || !elf_find(elf, symbol[i].name,
                              (uint32_t *)(void *)((char *)&m->at + symbol[i].offset))) {
            port_fail(error, "build the firmware again", "%.300s: %s", m->emulator.firmware,
                      elf ? "a symbol is missing" : why);
            elf_close(elf);
            return -1;
        }
    elf_close(elf);
    m->memory = calloc(1, m->at.memory_to - m->at.memory_from + 1);
    return m->memory ? 0 : -1;
}

/* The emulator's clock must not outrun a person's. */
static void in_real_time(char *text) {
    static const char fast[] = "sleep=off", real[] = "sleep=on ";
    char *at = strstr(text, fast);
    if (at)
        memcpy(at, real, sizeof real - 1);
}

/* Fills memory and flash, and lets the core run. */
static int fill(machine_t *m) {
    const uint8_t kept[4] = {1};
    if (gdb_break(&m->gdb, m->at.erase) != 0 || gdb_break(&m->gdb, m->at.program) != 0 ||
        gdb_break(&m->gdb, m->at.reset) != 0 ||
        gdb_write(&m->gdb, m->at.kept, kept, sizeof kept) != 0)
        return -1;
    if (m->memory_kept &&
        gdb_write(&m->gdb, m->at.memory_from, m->memory, m->at.memory_to - m->at.memory_from) != 0)
        return -1;
    for (size_t i = 0; i < m->flash.pages; i++)
        if (gdb_write(&m->gdb, m->flash.page[i].address, m->flash.page[i].bytes, FLASH_PAGE) != 0)
            return -1;
    return gdb_go(&m->gdb);
}

static int power_on(machine_t *m, port_error_t *error) {
    emulator_t e = m->emulator;
    int line[2], debug[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, debug) != 0) {
        port_fail(error, "close some files or free some memory", "%s", strerror(errno));
        return -1;
    }
    in_real_time(e.text);
    e.line = line[1];
    e.gdb = debug[1];
    m->process = emulator_start(&e, error);
    close(line[1]);
    close(debug[1]);
    m->line = line[0];
    (void)fcntl(m->line, F_SETFL, O_NONBLOCK);
    if (m->process > 0 && (gdb_begin(&m->gdb, debug[0]) != 0 || fill(m) != 0)) {
        port_fail(error, "install the emulator again: tools/dev/setup.sh emu",
                  "the emulator does not answer the debugger");
        return -1;
    }
    hub_line(m->hub, m->line);
    return m->process > 0 ? 0 : -1;
}

static void power_off(machine_t *m) {
    hub_line(m->hub, -1);
    if (m->process > 0) {
        kill(m->process, SIGKILL);
        while (waitpid(m->process, NULL, 0) < 0 && errno == EINTR) {
        }
        close(m->line);
        close(m->gdb.file);
    }
    m->process = 0;
}

/* Keeps what a reset does not clear. */
static void keep_memory(machine_t *m) {
    m->memory_kept =
        gdb_read(&m->gdb, m->at.memory_from, m->memory, m->at.memory_to - m->at.memory_from) == 0;
}

/* A board that cannot start again ends; its programs see a closed line. */
static void start_again(machine_t *m) {
    port_error_t error;
    power_off(m);
    m->ends = power_on(m, &error) != 0;
}

/* ------------------------------------------------------------------------------ what it stops at */

static int do_erase(machine_t *m, const uint32_t r[]) {
    uint8_t blank[FLASH_PAGE];
    memset(blank, 0xff, sizeof blank);
    if (flash_file_erase(&m->flash, r[0], r[1]) != 0)
        return FLASH_ERR_RANGE;
    for (uint32_t at = 0; at < r[1]; at += FLASH_PAGE)
        if (gdb_write(&m->gdb, r[0] + at, blank, r[1] - at < FLASH_PAGE ? r[1] - at : FLASH_PAGE) !=
            0)
            return FLASH_ERR_HARDWARE;
    return FLASH_OK;
}

static int do_program(machine_t *m, const uint32_t r[]) {
    uint8_t bytes[FLASH_PAGE];
    for (uint32_t at = 0, n; at < r[2]; at += n) {
        n = r[2] - at < FLASH_PAGE ? r[2] - at : FLASH_PAGE;
        if (gdb_read(&m->gdb, r[1] + at, bytes, n) != 0)
            return FLASH_ERR_HARDWARE;
        const int status = flash_file_program(&m->flash, r[0] + at, bytes, n);
        if (status != 0)
            return status < 0 ? FLASH_ERR_RANGE : FLASH_ERR_VERIFY;
        if (gdb_write(&m->gdb, r[0] + at, bytes, n) != 0)
            return FLASH_ERR_HARDWARE;
    }
    return FLASH_OK;
}

/* The core has stopped: does the work of a function of the flash and returns from it, or resets. */
static void handle_stop(machine_t *m) {
    uint32_t r[GDB_REGISTERS] = {0};
    if (gdb_registers(&m->gdb, r) != 0) {
        start_again(m);
        return;
    }
    if (r[GDB_PC] == m->at.reset) {
        keep_memory(m);
        start_again(m);
        return;
    }
    if (r[GDB_PC] == m->at.erase || r[GDB_PC] == m->at.program) {
        r[0] = (uint32_t)(r[GDB_PC] == m->at.erase ? do_erase(m, r) : do_program(m, r));
        r[GDB_PC] = r[GDB_LR] & ~1u;
        if (gdb_set(&m->gdb, r) != 0)
            start_again(m);
    }
    if (!m->gdb.runs && gdb_go(&m->gdb) != 0)
        start_again(m);
}

/* -------------------------------------------------------------------------------- calls of the hub */

/* What a program is told to be saved is in the file. */
static int answering(void *context) {
    machine_t *m = context;
    return flash_file_write(&m->flash);
}

static int control(void *context, uint8_t what) {
    machine_t *m = context;
    uint32_t r[GDB_REGISTERS];
    switch (what) {
    case CONTROL_RESET:
        if (gdb_halt(&m->gdb) == 0)
            keep_memory(m);
        start_again(m);
        return LINK_OK;
    case CONTROL_POWER:
        m->memory_kept = false;
        start_again(m);
        return LINK_OK;
    case CONTROL_CRASH: /* goes on at an address without memory */
        if (gdb_halt(&m->gdb) != 0 || gdb_registers(&m->gdb, r) != 0)
            return LINK_STATE;
        r[GDB_PC] = 0xe0000000;
        return gdb_set(&m->gdb, r) == 0 && gdb_go(&m->gdb) == 0 ? LINK_OK : LINK_STATE;
    case CONTROL_END:
        m->ends = true;
        return LINK_OK;
    default:
        return LINK_INDEX;
    }
}

/* --------------------------------------------------------------------------------------- the board */

static void serve(machine_t *m) {
    while (!m->ends && !ended) {
        const int other[HUB_OTHERS] = {m->gdb.file, m->is->parent};
        const unsigned told = hub_turn(m->hub, other, -1);
        const int stopped = told & HUB_OTHER ? gdb_stopped(&m->gdb) : 0;
        if (told & HUB_OTHER << 1)
            m->ends = true;
        else if (stopped > 0)
            handle_stop(m);
        else if (stopped < 0 || told & HUB_LINE_CLOSED)
            start_again(m); /* the emulated core has locked up, and the emulator has ended */
    }
}

static int begin(machine_t *m, port_error_t *error) {
    const hub_calls_t calls = {.answering = answering, .control = control, .context = m};
    char path[RUN_PATH];
    if (run_board(m->is->name, path, error) != 0 ||
        emulator_find(m->is->firmware, &m->emulator, error) != 0 || find_places(m, error) != 0)
        return -1;
    const int there = run_connect(path);
    if (there >= 0) {
        close(there);
        port_fail(error,
                  "use it, end it (`appell emulate --stop`), or give this one another name: --name",
                  "a virtual board %s runs already", m->is->name);
        return -1;
    }
    if (flash_file_open(&m->flash, m->is->flash, m->is->erase, error) != 0)
        return -1;
    m->flash.changed = true; /* so that a place where nothing can be written is told now */
    if (flash_file_write(&m->flash) != 0) {
        port_fail(error, "name another file for the flash: --flash FILE",
                  "%s cannot be written: %s", m->is->flash, strerror(errno));
        return -1;
    }
    m->hub = hub_open(path, &calls, error);
    return m->hub ? power_on(m, error) : -1;
}

int virtual_board_run(const virtual_board_t *board, int ready) {
    static machine_t m;
    port_error_t error = {.what = "there is not enough memory"};
    m = (machine_t){.is = board};
    const int status = begin(&m, &error);
    signal(SIGTERM, end);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (status == 0)
        (void)!write(ready, "", 1);
    else
        (void)!write(ready, &error, sizeof error);
    close(ready);
    if (status == 0)
        serve(&m);
    if (m.hub) {
        power_off(&m);
        hub_close(m.hub);
    }
    if (m.flash.page && flash_file_write(&m.flash) != 0 && status == 0)
        fprintf(stderr, "%s: %s\n", m.flash.path, strerror(errno));
    flash_file_close(&m.flash);
    free(m.memory);
    return status;
}
