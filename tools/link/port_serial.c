/* Serial devices for tools/link/port.h: opens a device, sets its speed, and explains why it cannot
 * be opened. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tools/link/hub.h"
#include "tools/link/port_inside.h"
#include "tools/link/run_folder.h"

/* Lists the serial devices of this machine, for a message. */
static void list_devices(char *out, size_t size) {
    static const char *const patterns[] = {"/dev/ttyACM*", "/dev/ttyUSB*", "/dev/serial/by-id/*"};
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc && used + 2 < size; k++) {
            const int n =
                snprintf(out + used, size - used, "%s%s", used ? ", " : "", found.gl_pathv[k]);
            used += (size_t)n < size - used ? (size_t)n : size - used - 1;
        }
        globfree(&found);
    }
}

/* Finds the process that has the device open, as far as the user's permissions allow. */
static bool find_user(const char *device, char *out, size_t size) {
    char real[PATH_MAX], path[PATH_MAX], target[PATH_MAX];
    glob_t found;
    bool seen = false;
    if (!realpath(device, real) || glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !seen; i++) {
        const ssize_t n = readlink(found.gl_pathv[i], target, sizeof target - 1);
        const long pid = strtol(found.gl_pathv[i] + strlen("/proc/"), NULL, 10);
        if (n <= 0 || pid == getpid())
            continue;
        target[n] = '\0';
        if (strcmp(target, real) != 0)
            continue;
        char name[64] = "?";
        snprintf(path, sizeof path, "/proc/%ld/comm", pid);
        FILE *file = fopen(path, "r");
        if (file) {
            if (fgets(name, sizeof name, file))
                name[strcspn(name, "\n")] = '\0';
            fclose(file);
        }
        snprintf(out, size, "%s, process %ld", name, pid);
        seen = true;
    }
    globfree(&found);
    return seen;
}

static void fail_busy(const char *device, port_error_t *error) {
    char user[120];
    if (find_user(device, user, sizeof user))
        port_fail(error, "end that program, or use another port", "%s is in use by %s", device,
                  user);
    else
        port_fail(error, "end the program that has it open (`fuser -v` names it)",
                  "%s is in use by another program", device);
}

static void fail_no_device(const char *device, port_error_t *error) {
    char list[300], cure[PORT_TEXT], path[PATH_MAX];
    list_devices(list, sizeof list);
    snprintf(path, sizeof path, "/dev/%.200s", device);
    if (!strchr(device, '/') && access(path, F_OK) == 0)
        snprintf(cure, sizeof cure, "write %.200s", path);
    else if (!strchr(device, '/') && !strncmp(device, "tty", 3))
        snprintf(cure, sizeof cure,
                 "write the whole path, /dev/%.80s; there is no such device now, but these: %.200s",
                 device, *list ? list : "none");
    else if (!strchr(device, '/'))
        snprintf(
            cure, sizeof cure,
            "name a serial device (%.200s), virtual:NAME, tcp:HOST:PORT, unix:PATH or qemu:BOARD",
            *list ? list : "/dev/ttyACM0");
    else if (*list)
        snprintf(cure, sizeof cure, "connect the board, or use one of these: %s", list);
    else
        snprintf(cure, sizeof cure,
                 "connect the board: this machine has no serial device now; without a board use "
                 "qemu:netduinoplus2");
    port_fail(error, cure, "%s does not exist", device);
}

static void fail_cannot_open(const char *device, int why, port_error_t *error) {
    char cure[PORT_TEXT];
    switch (why) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        fail_no_device(device, error);
        return;
    case EACCES:
    case EPERM: {
        snprintf(
            cure, sizeof cure,
            "join its group, on most systems dialout: sudo usermod -aG dialout $USER, then log in "
            "again");
        port_fail(error, cure, "you have no permission for %s", device);
        return;
    }
    case EBUSY:
        fail_busy(device, error);
        return;
    default:
        port_fail(error, "name a serial device, tcp:HOST:PORT, unix:PATH or qemu:BOARD",
                  "%s cannot be opened: %s", device, strerror(why));
    }
}

static const struct {
    unsigned baud;
    speed_t code;
} speeds[] = {{9600, B9600},       {19200, B19200},     {38400, B38400},    {57600, B57600},
              {115200, B115200},   {230400, B230400},   {460800, B460800},  {921600, B921600},
              {1000000, B1000000}, {2000000, B2000000}, {3000000, B3000000}};

static int set_line(int file, unsigned baud) {
    struct termios line;
    speed_t code = B0;
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++)
        if (speeds[i].baud == baud)
            code = speeds[i].code;
    if (code == B0 || tcgetattr(file, &line) != 0)
        return -1;
    cfmakeraw(&line);
    line.c_cflag |= CLOCAL | CREAD;
    line.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
    line.c_cc[VMIN] = 1; /* reading 0 bytes means the end of the line */
    line.c_cc[VTIME] = 0;
    cfsetispeed(&line, code);
    cfsetospeed(&line, code);
    if (tcsetattr(file, TCSANOW, &line) != 0)
        return -1;
    return tcgetattr(file, &line) == 0 && cfgetospeed(&line) == code ? 0 : -1;
}

int port_latency_ms(const char *device, const char *sysfs, char *path, size_t size) {
    char real[PATH_MAX];
    if (!realpath(device, real))
        return -1;
    const char *name = strrchr(real, '/') + 1;
    static const char *const places[] = {"%s/class/tty/%s/device/latency_timer",
                                         "%s/bus/usb-serial/devices/%s/latency_timer"};
    for (int i = 0; i < 2; i++) {
        int ms;
        /* Two calls instead of places[i], so that the compiler can check the formats. */
        if (i == 0)
            snprintf(path, size, places[0], sysfs, name);
        else
            snprintf(path, size, places[1], sysfs, name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        const bool read = fscanf(file, "%d", &ms) == 1;
        fclose(file);
        if (read)
            return ms;
    }
    return -1;
}

static void note_latency(port_t *port, const char *device) {
    const char *sysfs = getenv("APPELL_SYSFS");
    char path[PATH_MAX];
    const int ms = port_latency_ms(device, sysfs ? sysfs : "/sys", path, sizeof path);
    if (ms > 1)
        snprintf(port->note, sizeof port->note,
                 "the USB adapter collects bytes for %d ms, so at most %d requests per second are "
                 "possible and samples come in bursts; cure: echo 1 | sudo tee %s",
                 ms, 1000 / ms, path);
}

/* Opens the device for this program alone. Returns the file, or -1 with *error filled in; *busy says
 * that another program has it. */
static int open_device(const char *device, unsigned baud, bool *busy, port_error_t *error) {
    *busy = false;
    const int file = open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        *busy = errno == EBUSY;
        fail_cannot_open(device, errno, error);
        return -1;
    }
    if (!isatty(file))
        port_fail(error, "name a serial device, tcp:HOST:PORT, unix:PATH or qemu:BOARD",
                  "%s is not a serial device", device);
    else if (flock(file, LOCK_EX | LOCK_NB) != 0 || ioctl(file, TIOCEXCL) != 0)
        *busy = true;
    else if (set_line(file, baud) != 0)
        port_fail(error, "choose the speed that the board was built for: DEVICE@BAUD",
                  "%s does not support %u baud", device, baud);
    else
        return file;
    close(file);
    return -1;
}

/* Serves the device to all programs that connect, until the last one has left. The first one has
 * connected already. */
static _Noreturn void serve(hub_t *hub, int device) {
    bool used = false;
    const int null = open("/dev/null", O_RDWR);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        (void)dup2(null, i);
    (void)setsid(); /* a control-C is for the programs */
    hub_line(hub, device);
    for (;;) {
        const unsigned told = hub_turn(hub, NULL, -1);
        const int users = hub_users(hub);
        if (told & HUB_LINE_CLOSED || (users == 0 && used))
            break;
        used |= users > 0;
    }
    hub_close(hub);
    _exit(0);
}

/* Starts the process that serves the device, and connects to it. */
static int share(port_t *port, const char *device, const char *path, int file,
                 port_error_t *error) {
    hub_t *hub = hub_open(path, NULL, error);
    port->file = hub ? run_connect(path) : -1;
    const pid_t child = port->file >= 0 ? fork() : -1;
    if (child == 0) {
        close(port->file);
        if (fork() == 0) /* not a child of this program, which need not wait for it */
            serve(hub, file);
        _exit(0);
    }
    if (hub)
        hub_leave(hub);
    close(file);
    if (child < 0) {
        if (hub)
            port_fail(error, "close some programs", "%s cannot be served: %s", path,
                      strerror(errno));
        return -1;
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    if (port_greet_hub(port, path, error) != 0)
        return -1;
    note_latency(port, device);
    return 0;
}

int port_open_serial(port_t *port, const char *name, port_error_t *error) {
    enum { TRIES = 25, TRY_MS = 20 };
    char device[PATH_MAX], path[RUN_PATH];
    unsigned baud = PORT_BAUD;
    port->serial = true;
    snprintf(device, sizeof device, "%s", name);
    char *at = strrchr(device, '@');
    if (at && at[1] >= '0' && at[1] <= '9') {
        baud = (unsigned)strtoul(at + 1, NULL, 10);
        *at = '\0';
    }
    if (run_serial(device, path, error) != 0)
        return -1;
    for (int i = 0; i < TRIES; i++) {
        bool busy;
        if (port_open_hub(port, path, error) == 0)
            return 0;
        if (errno == ETIMEDOUT)
            return -1;
        const int file = open_device(device, baud, &busy, error);
        if (file >= 0)
            return share(port, device, path, file, error);
        if (!busy)
            return -1;
        (void)poll(NULL, 0, TRY_MS); /* one that starts or ends has the device for a moment */
    }
    fail_busy(device, error);
    return -1;
}
