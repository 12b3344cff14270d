/* tools/link/port.h */
#define _GNU_SOURCE /* pipe2, memfd_create */
#include "tools/link/port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct port {
    int file;
    pid_t emulator; /* 0: none */
    bool shared;    /* a socket, to which others may connect, too */
    char firmware[PATH_MAX];
    char note[PORT_TEXT + PATH_MAX];
    port_calls_t calls;
};

void port_fail(port_error_t *error, const char *cure, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(error->what, sizeof error->what, format, list);
    va_end(list);
    snprintf(error->cure, sizeof error->cure, "%s", cure);
}

/* ------------------------------------------------------------------------------ serial devices */

/* Serial devices of this machine, for a message. */
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

/* Which process has the device open, as far as we may look. */
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

static void say_busy(const char *device, port_error_t *error) {
    char user[120];
    if (find_user(device, user, sizeof user))
        port_fail(error, "end that program, or use another port", "%s is in use by %s", device,
                  user);
    else
        port_fail(error, "end the program that has it open (`fuser -v` names it)",
                  "%s is in use by another program", device);
}

static void say_no_device(const char *device, port_error_t *error) {
    char list[300], cure[PORT_TEXT];
    list_devices(list, sizeof list);
    if (*list)
        snprintf(cure, sizeof cure, "connect the board; there are: %s", list);
    else
        snprintf(cure, sizeof cure,
                 "connect the board: this machine has no serial device at all now; without a board "
                 "use qemu:netduinoplus2");
    port_fail(error, cure, "%s does not exist", device);
}

static void say_cannot_open(const char *device, int why, port_error_t *error) {
    char cure[PORT_TEXT];
    switch (why) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        say_no_device(device, error);
        return;
    case EACCES:
    case EPERM: {
        snprintf(cure, sizeof cure,
                 "join its group: sudo usermod -aG dialout $USER, then log in again");
        port_fail(error, cure, "you have no permission for %s", device);
        return;
    }
    case EBUSY:
        say_busy(device, error);
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
    line.c_cc[VMIN] = 0;
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
        /* Both formats take the same two texts. */
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
                 "the USB adapter collects bytes for %d ms: at most %d requests a second, and "
                 "samples come in bursts; cure: echo 1 | sudo tee %s",
                 ms, 1000 / ms, path);
}

static int open_device(port_t *port, const char *name, port_error_t *error) {
    char device[PATH_MAX];
    unsigned baud = PORT_BAUD;
    snprintf(device, sizeof device, "%s", name);
    char *at = strrchr(device, '@');
    if (at && at[1] >= '0' && at[1] <= '9') {
        baud = (unsigned)strtoul(at + 1, NULL, 10);
        *at = '\0';
    }
    port->file = open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (port->file < 0) {
        say_cannot_open(device, errno, error);
        return -1;
    }
    if (!isatty(port->file)) {
        port_fail(error, "name a serial device, tcp:HOST:PORT, unix:PATH or qemu:BOARD",
                  "%s is no serial device", device);
        return -1;
    }
    if (flock(port->file, LOCK_EX | LOCK_NB) != 0 || ioctl(port->file, TIOCEXCL) != 0) {
        say_busy(device, error);
        return -1;
    }
    if (set_line(port->file, baud) != 0) {
        port_fail(error, "choose another speed: DEVICE@BAUD, as the board was built for",
                  "%s does not do %u baud", device, baud);
        return -1;
    }
    note_latency(port, device);
    return 0;
}

/* ------------------------------------------------------------------------------------- sockets */

static int open_tcp(port_t *port, const char *name, port_error_t *error) {
    char host[256];
    snprintf(host, sizeof host, "%s", name);
    char *colon = strrchr(host, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (!colon || colon == host || !colon[1]) {
        port_fail(error, "write tcp:HOST:PORT, for example tcp:localhost:4000",
                  "tcp:%s names no host and port", name);
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
    port_fail(error, "start what should listen there, for example an emulator with -serial tcp:",
              "tcp:%s: %s", name, strerror(why));
    return -1;
}

static int open_unix(port_t *port, const char *path, port_error_t *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        port_fail(error, "use a shorter path", "unix:%s: the path is too long for a socket", path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    port->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (port->file >= 0 && connect(port->file, (struct sockaddr *)&address, sizeof address) == 0)
        return 0;
    port_fail(error, "start what should listen there, for example an emulator with -serial unix:",
              "unix:%s: %s", path, strerror(errno));
    return -1;
}

/* -------------------------------------------------------------------------------- the emulator */

/* build/BOARD/firmware.elf beside build/host/appell, or the file itself. */
static int find_firmware(const char *name, char *out, size_t size, port_error_t *error) {
    char own[PATH_MAX], cure[PORT_TEXT];
    const size_t length = strlen(name);
    if (length > 4 && !strcmp(name + length - 4, ".elf")) {
        snprintf(out, size, "%s", name);
    } else {
        const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
        own[n > 0 ? n : 0] = '\0';
        for (int i = 0; i < 2; i++) { /* build/host/appell -> build */
            char *slash = strrchr(own, '/');
            if (slash)
                *slash = '\0';
        }
        if (snprintf(out, size, "%s/%s/firmware.elf", own, name) >= (int)size)
            *out = '\0';
    }
    if (access(out, R_OK) == 0)
        return 0;
    snprintf(cure, sizeof cure, "build it: make BOARD=%.80s firmware", name);
    port_fail(error, cure, "there is no firmware %.200s: %s", out, strerror(errno));
    return -1;
}

/* What make wrote beside the firmware: how this board is emulated. */
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
              "%.300s is missing: nobody says how to emulate this board", path);
    return -1;
}

/*
 * The argument that puts `flash` into the board's flash, empty where the board needs none. *file
 * holds the bytes; the emulator inherits it.
 */
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
        port_fail(error, "build the firmware again", "%.300s holds no address", path);
        return -1;
    }
    *file = memfd_create("slot", MFD_CLOEXEC);
    if (*file < 0 || write(*file, flash->bytes, flash->size) != (ssize_t)flash->size) {
        port_fail(error, "free some files or memory", "the robot for the emulated flash: %s",
                  strerror(errno));
        return -1;
    }
    snprintf(out, size, "loader,file=/proc/self/fd/%d,addr=0x%lx,force-raw=on", *file, address);
    return 0;
}

enum { ARGUMENTS_MOST = 40 };

/* What the emulator is started with. */
typedef struct {
    char text[1000], loader[100];
    int line, slot; /* files that it inherits; slot: -1 for none */
} emulator_t;

static void run_emulator(emulator_t *e, const char *firmware, int told) {
    char *argument[ARGUMENTS_MOST + 10];
    char chardev[64];
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
    argument[count++] = (char *)firmware;
    if (e->slot >= 0) {
        argument[count++] = (char *)"-device";
        argument[count++] = e->loader;
        fcntl(e->slot, F_SETFD, 0);
    }
    argument[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* the terminal's control-C is for us, who stop the arm first; we end it */
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

static int start_emulator(port_t *port, const char *name, emulator_t *e, port_error_t *error) {
    int line[2], told[2], why = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0 ||
        pipe2(told, O_CLOEXEC) != 0) {
        port_fail(error, "free some files or memory", "qemu:%s: %s", name, strerror(errno));
        return -1;
    }
    e->line = line[1];
    port->emulator = fork();
    if (port->emulator == 0)
        run_emulator(e, port->firmware, told[1]);
    close(line[1]);
    close(told[1]);
    port->file = line[0];
    const bool failed = port->emulator < 0 || read(told[0], &why, sizeof why) > 0;
    close(told[0]);
    if (!failed)
        return 0;
    port_fail(error, "install it: tools/dev/setup.sh emu", "the emulator cannot be started: %s",
              strerror(why));
    return -1;
}

static int open_emulator(port_t *port, const char *name, const port_flash_t *flash,
                         port_error_t *error) {
    emulator_t e = {.slot = -1};
    int status = find_firmware(name, port->firmware, sizeof port->firmware, error);
    if (status == 0)
        status = read_arguments(port->firmware, e.text, sizeof e.text, error);
    if (status == 0)
        status = place_flash(port->firmware, flash, e.loader, sizeof e.loader, &e.slot, error);
    if (status == 0)
        status = start_emulator(port, name, &e, error);
    if (e.slot >= 0)
        close(e.slot);
    return status;
}

/* ----------------------------------------------------------------------------------- the rest */

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
    signal(SIGPIPE, SIG_IGN); /* a line that is closed is an error of port_write */
    int status;
    if (!strncmp(name, "tcp:", 4))
        status = open_tcp(port, name + 4, error);
    else if (!strncmp(name, "unix:", 5))
        status = open_unix(port, name + 5, error);
    else if (!strncmp(name, "qemu:", 5))
        status = open_emulator(port, name + 5, flash, error);
    else
        status = open_device(port, name, error);
    port->shared = !strncmp(name, "tcp:", 4) || !strncmp(name, "unix:", 5);
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
    if (port->shared)
        return "another client may hold this port, which serves one at a time: end it; else check "
               "that a board with this firmware is behind it";
    return "check that the board runs this firmware, that the speed is right and that transmit "
           "and receive are not exchanged";
}

const char *port_note(const port_t *port) {
    return *port->note ? port->note : NULL;
}
