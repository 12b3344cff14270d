/* Starts emulators (tools/link/emulator.h), and opens the ports qemu:BOARD and qemu:FILE.elf for
 * tools/link/port.h. */
#define _GNU_SOURCE /* for pipe2 and memfd_create */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/cli/messages.h"
#include "tools/link/emulator.h"
#include "tools/link/port_inside.h"

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Tests whether a board has an emulator: its board.mk names a machine. */
static bool has_machine(const char *boards, const char *name) {
    char path[PATH_MAX], line[200];
    bool found = false;
    if (snprintf(path, sizeof path, "%s/%s/board.mk", boards, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = !strncmp(line, "QEMU_MACHINE ", 13);
    if (file)
        fclose(file);
    return found;
}

enum { BOARDS_MOST = 32, BOARD_ROOM = 64 };

/* Lists the boards with an emulator, whose folders are beside the folder `build`. Returns their
 * number, 0 without these folders. */
static size_t list_boards(const char *build, char board[BOARDS_MOST][BOARD_ROOM]) {
    char boards[PATH_MAX];
    size_t count = 0;
    snprintf(boards, sizeof boards, "%.*s/../boards", PATH_MAX - 20, build);
    DIR *dir = opendir(boards);
    for (struct dirent *entry; dir && count < BOARDS_MOST && (entry = readdir(dir));)
        if (strlen(entry->d_name) < BOARD_ROOM && has_machine(boards, entry->d_name))
            memcpy(board[count++], entry->d_name, strlen(entry->d_name) + 1);
    if (dir)
        closedir(dir);
    qsort(board, count, BOARD_ROOM, by_name);
    return count;
}

/* Says why there is no firmware of this board in the folder `build`: it is not built, or there is no
 * such board. Names the boards that are built, and how to build another. */
static int fail_board(const char *build, const char *name, port_error_t *error) {
    static char board[BOARDS_MOST][BOARD_ROOM];
    const char *known[BOARDS_MOST + 1] = {NULL};
    const char *lab = strchr(name, '/') ? " LAB=1" : "", *build_it = NULL;
    char word[BOARD_ROOM], path[PATH_MAX], list[2][PORT_TEXT / 3] = {"", ""}, cure[PORT_TEXT];
    const size_t count = list_boards(build, board);
    size_t used[2] = {0, 0};
    bool exists = count == 0;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "/"), name);
    for (size_t i = 0; i < count; i++) {
        known[i] = board[i];
        exists = exists || !strcmp(board[i], word);
        snprintf(path, sizeof path, "%.*s/%s%s/firmware.elf", PATH_MAX - 100, build, board[i],
                 *lab ? "/lab" : "");
        const int k = access(path, R_OK) != 0;
        build_it = k > 0 ? board[i] : build_it;
        if (used[k] < sizeof list[k])
            used[k] += (size_t)snprintf(list[k] + used[k], sizeof list[k] - used[k], "%s%s",
                                        used[k] > 0 ? ", "
                                        : k == 0    ? "built are "
                                                    : "; not built are ",
                                        board[i]);
    }
    build_it = exists ? word : build_it;
    snprintf(path, sizeof path, "%s%s%s%s%s%s", list[0], list[1],
             build_it ? "; build the firmware: make BOARD=" : "", build_it ? build_it : "",
             build_it ? lab : "", build_it ? " firmware" : "");
    if (exists)
        snprintf(cure, sizeof cure, "%.*s", PORT_TEXT - 1, path + strspn(path, "; "));
    else
        messages_suggest(cure, sizeof cure, word, known, path + strspn(path, "; "));
    port_fail(error, cure,
              exists ? "the firmware of %s is not built"
                     : "there is no board %s that can be emulated",
              word);
    return -1;
}

/* Finds the firmware: build/BOARD/firmware.elf relative to build/host/appell, or FILE.elf itself.
 * BOARD/lab means the laboratory build. */
static int find_firmware(const char *name, char *out, size_t size, port_error_t *error) {
    char own[PATH_MAX] = "";
    const size_t length = strlen(name);
    if (length > 4 && !strcmp(name + length - 4, ".elf")) {
        snprintf(out, size, "%s", name);
    } else {
        const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
        own[n > 0 ? n : 0] = '\0';
        for (int i = 0; i < 2; i++) { /* removes "host/appell" from the path */
            char *slash = strrchr(own, '/');
            if (slash)
                *slash = '\0';
        }
        if (snprintf(out, size, "%s/%s/firmware.elf", own, name) >= (int)size)
            *out = '\0';
    }
    if (access(out, R_OK) == 0)
        return 0;
    if (own[0] != '\0')
        return fail_board(own, name, error);
    port_fail(error, "name a file that can be read", "the firmware %.200s cannot be read: %s", out,
              strerror(errno));
    return -1;
}

/* Reads the file with the emulator's arguments for this board, which make wrote beside the
 * firmware. */
static int read_arguments(const char *firmware, char *text, size_t size, port_error_t *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s.qemu", (int)(strlen(firmware) - 4), firmware);
    FILE *file = fopen(path, "r");
    const size_t n = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    if (n > 0)
        return 0;
    port_fail(error, "choose a board that the emulator has, or build the firmware again",
              "%.300s is missing or empty, so this board cannot be emulated", path);
    return -1;
}

/* Makes the argument that puts `flash` into the board's flash; it is empty if the board needs none.
 * *file is a descriptor of the bytes, which the emulator inherits. */
static int place_flash(const char *firmware, const port_flash_t *flash, char *out, size_t size,
                       int *file, port_error_t *error) {
    char path[PATH_MAX];
    unsigned long address = 0;
    *out = '\0';
    *file = -1;
    snprintf(path, sizeof path, "%.*s.slot", (int)(strlen(firmware) - 4), firmware);
    FILE *told = flash ? fopen(path, "r") : NULL;
    if (!told)
        return 0;
    const bool known = fscanf(told, "%lx", &address) == 1;
    fclose(told);
    if (!known) {
        port_fail(error, "build the firmware again", "%.300s contains no address", path);
        return -1;
    }
    *file = memfd_create("slot", MFD_CLOEXEC);
    if (*file < 0 || write(*file, flash->bytes, flash->size) != (ssize_t)flash->size) {
        port_fail(error, "close some files or free some memory",
                  "the robot cannot be put into the emulated flash: %s", strerror(errno));
        return -1;
    }
    snprintf(out, size, "loader,file=/proc/self/fd/%d,addr=0x%lx,force-raw=on", *file, address);
    return 0;
}

enum { ARGUMENTS_MOST = 40 };

int emulator_find(const char *name, emulator_t *out, port_error_t *error) {
    *out = (emulator_t){.line = -1, .gdb = -1, .slot = -1};
    return find_firmware(name, out->firmware, sizeof out->firmware, error) == 0
               ? read_arguments(out->firmware, out->text, sizeof out->text, error)
               : -1;
}

static void run_emulator(emulator_t *e, int told) {
    char *argument[ARGUMENTS_MOST + 16];
    char chardev[64], debug[64];
    int count = 0;
    for (char *word = strtok(e->text, " \n"); word && count < ARGUMENTS_MOST;
         word = strtok(NULL, " \n"))
        argument[count++] = word;
    snprintf(chardev, sizeof chardev, "socket,id=link,fd=%d", e->line);
    argument[count++] = (char *)"-chardev";
    argument[count++] = chardev;
    argument[count++] = (char *)"-serial";
    argument[count++] = (char *)"chardev:link";
    argument[count++] = (char *)"-kernel";
    argument[count++] = e->firmware;
    if (e->slot >= 0) {
        argument[count++] = (char *)"-device";
        argument[count++] = e->loader;
        fcntl(e->slot, F_SETFD, 0);
    }
    if (e->gdb >= 0) {
        snprintf(debug, sizeof debug, "socket,id=gdb,fd=%d", e->gdb);
        argument[count++] = (char *)"-chardev";
        argument[count++] = debug;
        argument[count++] = (char *)"-gdb";
        argument[count++] = (char *)"chardev:gdb";
        argument[count++] = (char *)"-S";
        fcntl(e->gdb, F_SETFD, 0);
    }
    argument[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* control-C reaches only appell, which stops the arm first and then ends the emulator */
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    fcntl(e->line, F_SETFD, 0);
    execvp(argument[0], argument);
    const int why = errno;
    (void)!write(told, &why, sizeof why);
    _exit(127);
}

pid_t emulator_start(emulator_t *e, port_error_t *error) {
    int told[2], why = 0;
    if (pipe2(told, O_CLOEXEC) != 0) {
        port_fail(error, "close some files or free some memory", "%s", strerror(errno));
        return -1;
    }
    const pid_t process = fork();
    if (process == 0)
        run_emulator(e, told[1]);
    close(told[1]);
    const bool failed = process < 0 || read(told[0], &why, sizeof why) > 0;
    close(told[0]);
    if (!failed)
        return process;
    port_fail(error, "install the emulator: tools/dev/setup.sh emu",
              "the emulator cannot be started: %s", strerror(why));
    return -1;
}

int port_open_emulator(port_t *port, const char *name, const port_flash_t *flash,
                       port_error_t *error) {
    emulator_t e;
    int line[2];
    if (emulator_find(name, &e, error) != 0 ||
        place_flash(e.firmware, flash, e.loader, sizeof e.loader, &e.slot, error) != 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
        port_fail(error, "close some files or free some memory", "qemu:%s: %s", name,
                  strerror(errno));
        return -1;
    }
    e.line = line[1];
    port->file = line[0];
    snprintf(port->firmware, sizeof port->firmware, "%s", e.firmware);
    port->emulator = emulator_start(&e, error);
    close(line[1]);
    if (e.slot >= 0)
        close(e.slot);
    return port->emulator > 0 ? 0 : -1;
}
