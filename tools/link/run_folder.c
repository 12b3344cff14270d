/* Implements tools/link/run_folder.h. */
#include "tools/link/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BOARD_END ".board"

static void folder_name(char *out, size_t size) {
    const char *base = getenv("XDG_RUNTIME_DIR");
    if (base && *base)
        snprintf(out, size, "%s/appell", base);
    else
        snprintf(out, size, "/tmp/appell-%u", (unsigned)getuid());
}

/* Makes the folder if it is missing. A folder of somebody else is refused, because a program there
 * could pass itself off as a board. */
static int folder(char *out, size_t size, port_error_t *error) {
    struct stat is;
    folder_name(out, size);
    if ((mkdir(out, 0700) == 0 || errno == EEXIST) && lstat(out, &is) == 0 && S_ISDIR(is.st_mode) &&
        is.st_uid == getuid() && (is.st_mode & 077) == 0)
        return 0;
    port_fail(error, "set XDG_RUNTIME_DIR to a folder that is yours alone (mode 700)",
              "%s cannot be used for the sockets of shared ports", out);
    return -1;
}

static int socket_path(const char *name, const char *end, char path[RUN_PATH],
                       port_error_t *error) {
    char own[PATH_MAX];
    if (folder(own, sizeof own, error) != 0)
        return -1;
    if (snprintf(path, RUN_PATH, "%.*s/%s%s", RUN_PATH, own, name, end) < RUN_PATH)
        return 0;
    port_fail(error, "set XDG_RUNTIME_DIR to a folder with a shorter path",
              "%s/%s%s is too long for a socket", own, name, end);
    return -1;
}

int run_board(const char *name, char path[RUN_PATH], port_error_t *error) {
    if (*name && strlen(name) < RUN_NAME && !strchr(name, '/') && *name != '.')
        return socket_path(name, BOARD_END, path, error);
    port_fail(error, "use letters, digits and -, at most 47", "'%.60s' cannot name a virtual board",
              name);
    return -1;
}

int run_serial(const char *device, char path[RUN_PATH], port_error_t *error) {
    char real[PATH_MAX];
    if (!realpath(device, real))
        snprintf(real, sizeof real, "%s", device);
    for (char *c = real; *c; c++)
        *c = *c == '/' ? '_' : *c;
    return socket_path(real, ".port", path, error);
}

int run_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file >= 0 && connect(file, (struct sockaddr *)&address, sizeof address) == 0)
        return file;
    const int why = errno;
    if (file >= 0)
        close(file);
    errno = why;
    return -1;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

int run_boards(char name[RUN_BOARDS][RUN_NAME]) {
    const size_t end = strlen(BOARD_END);
    char own[PATH_MAX], path[RUN_PATH];
    port_error_t error;
    int count = 0;
    DIR *dir = folder(own, sizeof own, &error) == 0 ? opendir(own) : NULL;
    for (struct dirent *entry; dir && count < RUN_BOARDS && (entry = readdir(dir));) {
        const size_t length = strlen(entry->d_name);
        if (length <= end || length - end >= RUN_NAME ||
            strcmp(entry->d_name + length - end, BOARD_END) != 0)
            continue;
        snprintf(name[count], RUN_NAME, "%.*s", (int)(length - end), entry->d_name);
        const int file = run_board(name[count], path, &error) == 0 ? run_connect(path) : -1;
        if (file >= 0) {
            close(file);
            count++;
        }
    }
    if (dir)
        closedir(dir);
    qsort(name, (size_t)count, RUN_NAME, by_name);
    return count;
}

int run_default(char *port, size_t size, port_error_t *error) {
    char name[RUN_BOARDS][RUN_NAME], list[PORT_TEXT] = "";
    const char *given = getenv("APPELL_PORT");
    size_t used = 0;
    if (given && *given) {
        snprintf(port, size, "%s", given);
        return 0;
    }
    const int count = run_boards(name);
    if (count == 1) {
        snprintf(port, size, "virtual:%s", name[0]);
        return 0;
    }
    for (int i = 0; i < count && used < sizeof list - 1; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s--port virtual:%s",
                                 i == 0           ? "choose one: "
                                 : i == count - 1 ? " or "
                                                  : ", ",
                                 name[i]);
    if (count > 0)
        port_fail(error, list, "%d virtual boards run", count);
    else
        port_fail(error,
                  "start a virtual board (`appell emulate netduinoplus2`), or name the port of a "
                  "real one, for example --port /dev/ttyACM0",
                  "the command needs a board, and no virtual board runs");
    return -1;
}
