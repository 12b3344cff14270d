/* Implements tools/link/hub.h. */
#define _GNU_SOURCE /* for struct ucred and accept4 */
#include "tools/link/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "firmware/link/protocol.h"
#include "firmware/link/server.h"
#include "firmware/params/store.h"
#include "tools/link/run_folder.h"

/* How long an answer is awaited: ORPHAN_MS if its program has left, if a STOP waits, or if others wait
 * and the request may be done twice; ONCE_MS if others wait and it may not; LONG_MS if it also takes
 * the board long. A STOP whose program has left is sent STOPS times. */
enum { USERS = 16, SEND_ROOM = 1 << 16, LINE_MS = 2000, NOBODY = -1 };
enum { ORPHAN_MS = 100, ONCE_MS = 1000, LONG_MS = 5000, STOPS = 20 };

typedef struct {
    uint8_t bytes[FRAME_CONTENT_MAX];
    size_t size; /* 0: none */
} content_t;

typedef struct {
    int file; /* -1: the place is free */
    char name[64];
    frame_reader_t reader;
    uint8_t rx[FRAME_READ_ROOM(FRAME_CONTENT_MAX)];
    content_t request; /* the last request, with the program's own sequence number */
    bool queued;       /* ... which was not sent yet */
    content_t answer;  /* to the last request */
    bool streams;      /* gets the samples */
    bool stopped;      /* another program has stopped the arm that this one moves */
    uint8_t send[SEND_ROOM];
    size_t sending;
} user_t;

struct hub {
    hub_calls_t calls;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    int listener, line;
    bool heard; /* a frame has come over the line; until then bytes are passed on as they are */
    frame_reader_t reader;
    uint8_t rx[FRAME_READ_ROOM(FRAME_CONTENT_MAX)];
    user_t *user;
    int flying;        /* user whose request is on the line; NOBODY */
    bool orphan;       /* that user has left */
    int64_t since_ms;  /* ... at this time; or the request was sent for the first time */
    content_t on_line; /* the request on the line, with the hub's sequence number */
    content_t owed;    /* a STOP whose program has left before it was sent */
    int stops;         /* how often it was sent */
    uint8_t sequence;  /* the hub's last sequence number */
    int holder;        /* user that has the lease, as far as the hub has seen; NOBODY */
    content_t choice;  /* the last accepted TELEMETRY request */
    content_t chosen;  /* ... and the board's answer to it */
    int turn;          /* user that comes next */
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------------------- programs */

static void leave(hub_t *hub, int u) {
    user_t *user = &hub->user[u];
    close(user->file);
    user->file = -1;
    if (user->queued && user->request.bytes[0] == ASK_STOP)
        hub->owed = user->request;
    user->queued = user->streams = user->stopped = false;
    user->request.size = user->answer.size = user->sending = 0;
    if (hub->flying == u && !hub->orphan) {
        hub->orphan = true;
        hub->since_ms = now_ms();
        hub->stops = 1;
    }
    if (hub->holder == u)
        hub->holder = NOBODY;
}

/* Sends as much as the socket takes. A program that does not read loses frames, and nobody else
 * waits for it. */
static void push(hub_t *hub, int u) {
    user_t *user = &hub->user[u];
    while (user->sending > 0) {
        const ssize_t n = send(user->file, user->send, user->sending, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n < 0 && errno != EAGAIN)
                leave(hub, u);
            return;
        }
        user->sending -= (size_t)n;
        memmove(user->send, user->send + n, user->sending);
    }
}

static void give_bytes(hub_t *hub, int u, const uint8_t *bytes, size_t size) {
    user_t *user = &hub->user[u];
    if (user->file < 0 || size > SEND_ROOM - user->sending)
        return;
    memcpy(user->send + user->sending, bytes, size);
    user->sending += size;
    push(hub, u);
}

static size_t encode(const content_t *content, uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)]) {
    memcpy(frame + FRAME_WRITE_AT, content->bytes, content->size);
    return frame_close(frame, content->size);
}

static void give(hub_t *hub, int u, const content_t *content) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)] = {0};
    const size_t size = encode(content, frame);
    give_bytes(hub, u, frame, size);
}

/* Names a program by its process: "appell monitor, process 12". */
static void name_user(user_t *user) {
    struct ucred who = {0};
    socklen_t size = sizeof who;
    char path[64], line[200] = "";
    if (getsockopt(user->file, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)who.pid);
    FILE *file = fopen(path, "r");
    const size_t n = file ? fread(line, 1, sizeof line - 2, file) : 0;
    if (file)
        fclose(file);
    line[n] = line[n + 1] = '\0';
    const char *program = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
    const char *command = line + strlen(line) + 1;
    snprintf(user->name, sizeof user->name, "%.16s%s%.16s, process %d", program,
             command < line + n ? " " : "", command < line + n ? command : "", (int)who.pid);
}

static void greet(hub_t *hub, int u) {
    content_t greeting = {.bytes = {HUB_GREETING, 0}, .size = PROTOCOL_HEAD};
    char *text = (char *)greeting.bytes + PROTOCOL_HEAD;
    size_t used = 0;
    for (int i = 0; i < USERS; i++)
        if (i != u && hub->user[i].file >= 0 && used < PROTOCOL_PAYLOAD_MAX &&
            strncmp(hub->user[i].name, "appell emulate", 14) !=
                0) /* it only shows a line of state */
            used += (size_t)snprintf(text + used, PROTOCOL_PAYLOAD_MAX - used, "%s%s",
                                     used > 0 ? "; " : "", hub->user[i].name);
    greeting.size += (used < PROTOCOL_PAYLOAD_MAX ? used : PROTOCOL_PAYLOAD_MAX - 1) + 1;
    text[greeting.size - PROTOCOL_HEAD - 1] = '\0';
    give(hub, u, &greeting);
}

static void join(hub_t *hub) {
    const int file = accept4(hub->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int u = 0;
    while (u < USERS && hub->user[u].file >= 0)
        u++;
    if (file < 0)
        return;
    if (u == USERS) {
        close(file);
        return;
    }
    user_t *user = &hub->user[u];
    user->file = file;
    frame_reader_init(&user->reader, user->rx, sizeof user->rx);
    snprintf(user->name, sizeof user->name, "?");
    name_user(user);
    greet(hub, u);
}

/* ------------------------------------------------------------------------------------- requests */

static bool same(const content_t *a, const content_t *b, size_t from) {
    return a->size == b->size && a->size > from &&
           !memcmp(a->bytes + from, b->bytes + from, a->size - from);
}

/* Answers a request without asking the board. */
static void answer_self(hub_t *hub, int u, uint8_t status) {
    user_t *user = &hub->user[u];
    user->answer = (content_t){.bytes = {(uint8_t)(user->request.bytes[0] | PROTOCOL_REPLY),
                                         user->request.bytes[1], status},
                               .size = PROTOCOL_HEAD + 1};
    give(hub, u, &user->answer);
}

static bool anybody_streams(const hub_t *hub, int but) {
    for (int u = 0; u < USERS; u++)
        if (u != but && hub->user[u].file >= 0 && hub->user[u].streams)
            return true;
    return false;
}

/* Decides a request for telemetry while another program streams. Returns true if it is answered. */
static bool share_samples(hub_t *hub, int u) {
    user_t *user = &hub->user[u];
    if (!anybody_streams(hub, u) || hub->holder == u)
        return false;
    if (!same(&user->request, &hub->choice, PROTOCOL_HEAD)) {
        answer_self(hub, u, LINK_TAKEN);
        return true;
    }
    user->answer = hub->chosen;
    user->answer.bytes[1] = user->request.bytes[1];
    user->streams = true;
    give(hub, u, &user->answer);
    return true;
}

static void send_line(hub_t *hub) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
    const uint8_t *at = frame;
    size_t left = encode(&hub->on_line, frame);
    while (left > 0 && hub->line >= 0) {
        const ssize_t n = write(hub->line, at, left);
        struct pollfd wait = {.fd = hub->line, .events = POLLOUT};
        if (n > 0) {
            at += n;
            left -= (size_t)n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR) || poll(&wait, 1, LINE_MS) <= 0) {
            return; /* the program repeats its request */
        }
    }
}

static bool moves_arm(const content_t *request) {
    return request->bytes[0] == ASK_MOTION || request->bytes[0] == ASK_POINTS;
}

/* Forgets the request on the line. If its program repeats it, it counts as a new one; but an arm that
 * somebody has stopped, or whose board was reset, must not be moved by a repetition. */
static void give_up(hub_t *hub) {
    if (hub->flying != NOBODY && !hub->orphan) {
        if (moves_arm(&hub->user[hub->flying].request))
            answer_self(hub, hub->flying, LINK_STOPPED);
        else
            hub->user[hub->flying].request.size = 0;
    }
    hub->flying = NOBODY;
}

static bool done_once(uint8_t message) {
    static const bool once[] = {
#define AGAIN                                                false
#define ONCE                                                 true
#define X(number, name, again_or_once, request, reply, help) [number] = again_or_once,
        ASK_TABLE(X)
#undef X
#undef AGAIN
#undef ONCE
    };
    return message < sizeof once / sizeof once[0] && once[message];
}

/* Returns how long the request on the line may stay there without an answer; -1: as long as its
 * program repeats it. */
static int allowed_ms(const hub_t *hub) {
    const uint8_t message = hub->on_line.bytes[0];
    bool stop = hub->owed.size > 0, others = stop;
    if (hub->flying == NOBODY)
        return -1;
    if (hub->orphan)
        return ORPHAN_MS;
    for (int u = 0; u < USERS; u++)
        if (u != hub->flying && hub->user[u].queued) {
            others = true;
            stop |= hub->user[u].request.bytes[0] == ASK_STOP;
        }
    if (!others)
        return -1;
    if (stop || !done_once(message))
        return ORPHAN_MS;
    return message == ASK_SAVE || message == ASK_IMAGE_END ? LONG_MS : ONCE_MS;
}

/* A STOP goes out: what another program has not sent yet, or sends next without knowing of the STOP,
 * must not move the arm again. */
static void note_stop(hub_t *hub, int by) {
    for (int u = 0; u < USERS; u++) {
        user_t *user = &hub->user[u];
        if (u == by || user->file < 0)
            continue;
        if (user->queued && moves_arm(&user->request)) {
            user->queued = false;
            answer_self(hub, u, LINK_STOPPED);
        } else if (u == hub->holder) {
            user->stopped = true;
        }
    }
}

/* Sends a STOP for a program that has left: it belongs to nobody any more. */
static void send_owed(hub_t *hub) {
    note_stop(hub, NOBODY);
    hub->on_line = hub->owed;
    hub->on_line.bytes[1] = ++hub->sequence;
    hub->owed.size = 0;
    hub->flying = 0;
    hub->orphan = true;
    hub->since_ms = now_ms();
    hub->stops = 1;
    send_line(hub);
}

/* Sends the next request, a STOP before all others. */
static void pump(hub_t *hub) {
    const int allowed = allowed_ms(hub);
    if (allowed >= 0 && now_ms() - hub->since_ms > allowed) {
        if (hub->orphan && hub->on_line.bytes[0] == ASK_STOP && hub->stops++ < STOPS) {
            hub->since_ms = now_ms();
            send_line(hub);
        } else {
            give_up(hub);
        }
    }
    if (hub->flying == NOBODY && hub->owed.size > 0)
        send_owed(hub);
    while (hub->flying == NOBODY) {
        int next = NOBODY;
        for (int k = 0; k < USERS; k++) {
            const int u = (hub->turn + k) % USERS;
            const user_t *user = &hub->user[u];
            if (user->file >= 0 && user->queued &&
                (next == NOBODY || user->request.bytes[0] == ASK_STOP))
                next = u;
        }
        if (next == NOBODY)
            return;
        user_t *user = &hub->user[next];
        const uint8_t message = user->request.bytes[0];
        hub->turn = next + 1;
        user->queued = false;
        if (message == ASK_TELEMETRY && share_samples(hub, next))
            continue;
        if (message == ASK_CREDIT && !user->streams) {
            answer_self(hub, next, LINK_OK); /* somebody else's samples */
            continue;
        }
        if (moves_arm(&user->request) && user->stopped) {
            user->stopped = false;
            answer_self(hub, next, LINK_STOPPED);
            continue;
        }
        if (message == ASK_STOP)
            note_stop(hub, next);
        hub->since_ms = now_ms();
        hub->on_line = user->request;
        hub->on_line.bytes[1] = ++hub->sequence;
        hub->flying = next;
        hub->orphan = false;
        send_line(hub);
    }
}

static void take_request(hub_t *hub, int u, size_t size) {
    user_t *user = &hub->user[u];
    content_t request = {.size = size};
    memcpy(request.bytes, user->rx, size);
    const bool again = same(&request, &user->request, 0);
    if (again && hub->flying == u && !hub->orphan) {
        send_line(hub);
    } else if (again && user->answer.size > 0) {
        give(hub, u, &user->answer);
    } else if (!again || !user->queued) {
        if (hub->flying == u && !hub->orphan) /* the program has given up the one before */
            hub->flying = NOBODY;
        user->request = request;
        user->answer.size = 0;
        user->queued = request.bytes[0] != HUB_CONTROL;
        if (!user->queued)
            answer_self(hub, u,
                        hub->calls.control && size > PROTOCOL_HEAD
                            ? (uint8_t)hub->calls.control(hub->calls.context, request.bytes[2])
                            : LINK_MESSAGE);
    }
    pump(hub);
}

static void hear_user(hub_t *hub, int u) {
    uint8_t bytes[1024];
    user_t *user = &hub->user[u];
    const ssize_t n = read(user->file, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        leave(hub, u);
    for (ssize_t i = 0; i < n && user->file >= 0; i++) {
        const size_t size = frame_take(&user->reader, bytes[i]);
        if (size >= PROTOCOL_HEAD)
            take_request(hub, u, size);
    }
}

/* -------------------------------------------------------------------------------------- answers */

/* Remembers who streams and who has the lease. */
static void note_answer(hub_t *hub, int u) {
    const content_t *request = &hub->user[u].request;
    const bool ok = hub->user[u].answer.bytes[PROTOCOL_HEAD] == LINK_OK;
    if (ok && request->bytes[0] == ASK_TELEMETRY) {
        hub->choice = *request;
        hub->chosen = hub->user[u].answer;
        for (int i = 0; i < USERS; i++)
            hub->user[i].streams = i == u && request->size > PROTOCOL_HEAD + 4;
    }
    if (ok && request->bytes[0] == ASK_LEASE && request->size >= PROTOCOL_HEAD + 6) {
        if (hub->holder != u)
            hub->user[u].stopped = false; /* it takes the arm after the stop */
        hub->holder = get_u16(request->bytes + PROTOCOL_HEAD + 4) > 0 ? u : NOBODY;
    }
}

static void take_answer(hub_t *hub, size_t size) {
    content_t frame = {.size = size};
    memcpy(frame.bytes, hub->rx, size);
    hub->heard = true;
    if (frame.bytes[0] == PROTOCOL_SAMPLE) {
        for (int u = 0; u < USERS; u++)
            if (hub->user[u].streams)
                give(hub, u, &frame);
    } else if (hub->flying != NOBODY && size > PROTOCOL_HEAD &&
               frame.bytes[0] == (hub->on_line.bytes[0] | PROTOCOL_REPLY) &&
               frame.bytes[1] == hub->sequence) {
        const int u = hub->flying;
        hub->flying = NOBODY;
        if (hub->calls.answering && hub->calls.answering(hub->calls.context) != 0) {
            frame.bytes[PROTOCOL_HEAD] = LINK_STORE;
            put_u16(frame.bytes + PROTOCOL_HEAD + 1, (uint32_t)(REASON_STORE + STORE_E_MEDIUM));
            frame.size = PROTOCOL_HEAD + 3;
        }
        if (!hub->orphan) {
            frame.bytes[1] = hub->user[u].request.bytes[1];
            hub->user[u].answer = frame;
            note_answer(hub, u);
            give(hub, u, &frame);
        }
        pump(hub);
    }
}

/* Returns false if the line is closed. */
static bool hear_line(hub_t *hub) {
    uint8_t bytes[4096];
    const uint32_t damaged = hub->reader.stats.damaged;
    const ssize_t n = read(hub->line, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    for (ssize_t i = 0; i < n; i++) {
        const size_t size = frame_take(&hub->reader, bytes[i]);
        if (size >= PROTOCOL_HEAD)
            take_answer(hub, size);
    }
    if (hub->flying != NOBODY && !hub->orphan && hub->reader.stats.damaged != damaged)
        send_line(hub);
    for (int u = 0; u < USERS && !hub->heard && n > 0; u++)
        give_bytes(hub, u, bytes, (size_t)n);
    return true;
}

/* ---------------------------------------------------------------------------------- the hub itself */

/* Takes the name of a socket, also from one that nobody serves any more. Only one program at a time
 * may look whether that is so. */
static int listen_at(int listener, const struct sockaddr_un *address) {
    char folder[sizeof address->sun_path];
    snprintf(folder, sizeof folder, "%s", address->sun_path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    const int lock = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0)
        (void)flock(lock, LOCK_EX);
    const int other = run_connect(address->sun_path);
    if (other < 0 && errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    if (other >= 0)
        close(other);
    int status = bind(listener, (const struct sockaddr *)address, sizeof *address);
    status = status == 0 ? listen(listener, USERS) : status;
    const int why = errno;
    if (lock >= 0)
        close(lock);
    errno = why;
    return status;
}

hub_t *hub_open(const char *path, const hub_calls_t *calls, port_error_t *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    hub_t *hub = calloc(1, sizeof *hub);
    user_t *user = calloc(USERS, sizeof *user);
    if (!hub || !user || strlen(path) >= sizeof address.sun_path) {
        free(hub);
        free(user);
        port_fail(error, "close some programs, or use a shorter path", "%s: there is no room",
                  path);
        return NULL;
    }
    hub->user = user;
    for (int u = 0; u < USERS; u++)
        user[u].file = -1;
    if (calls)
        hub->calls = *calls;
    hub->line = hub->flying = hub->holder = NOBODY;
    (void)!getrandom(&hub->sequence, 1, 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    memcpy(hub->path, path, strlen(path) + 1);
    hub->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (hub->listener >= 0 && listen_at(hub->listener, &address) == 0)
        return hub;
    port_fail(error, "end the program that serves it, or remove the file", "%s: %s", path,
              strerror(errno));
    hub->path[0] = '\0'; /* somebody else's */
    hub_close(hub);
    return NULL;
}

void hub_close(hub_t *hub) {
    if (hub->path[0])
        (void)unlink(hub->path);
    for (int u = 0; u < USERS; u++)
        if (hub->user[u].file >= 0)
            leave(hub, u);
    if (hub->listener >= 0)
        close(hub->listener);
    free(hub->user);
    free(hub);
}

void hub_leave(hub_t *hub) {
    hub->path[0] = '\0';
    hub_close(hub);
}

void hub_line(hub_t *hub, int file) {
    hub->line = file;
    hub->heard = false;
    frame_reader_init(&hub->reader, hub->rx, sizeof hub->rx);
    give_up(hub); /* it is lost */
    hub->holder = NOBODY;
    for (int u = 0; u < USERS; u++)
        hub->user[u].streams = false;
}

int hub_users(const hub_t *hub) {
    int count = 0;
    for (int u = 0; u < USERS; u++)
        count += hub->user[u].file >= 0;
    return count;
}

unsigned hub_turn(hub_t *hub, const int other[HUB_OTHERS], int timeout_ms) {
    enum { FIRST = 2 + HUB_OTHERS };
    struct pollfd wait[FIRST + USERS];
    int who[FIRST + USERS];
    nfds_t files = 0;
    unsigned told = 0;
    wait[files++] = (struct pollfd){.fd = hub->listener, .events = POLLIN};
    wait[files++] = (struct pollfd){.fd = hub->line, .events = POLLIN};
    for (int i = 0; i < HUB_OTHERS; i++)
        wait[files++] = (struct pollfd){.fd = other ? other[i] : -1, .events = POLLIN};
    for (int u = 0; u < USERS; u++)
        if (hub->user[u].file >= 0) {
            who[files] = u;
            wait[files++] = (struct pollfd){
                .fd = hub->user[u].file,
                .events = (short)(POLLIN | (hub->user[u].sending > 0 ? POLLOUT : 0))};
        }
    if (allowed_ms(hub) >= 0 && (timeout_ms < 0 || timeout_ms > ORPHAN_MS))
        timeout_ms = ORPHAN_MS;
    if (poll(wait, files, timeout_ms) > 0) {
        for (nfds_t i = FIRST; i < files; i++) {
            if (wait[i].revents & POLLOUT)
                push(hub, who[i]);
            if (wait[i].revents & (POLLIN | POLLHUP | POLLERR) && hub->user[who[i]].file >= 0)
                hear_user(hub, who[i]);
        }
        if (wait[1].revents && hub->line == wait[1].fd && !hear_line(hub))
            told |= HUB_LINE_CLOSED;
        if (wait[0].revents)
            join(hub);
        for (unsigned i = 0; i < HUB_OTHERS; i++)
            told |= wait[2 + i].revents ? (unsigned)HUB_OTHER << i : 0;
    }
    pump(hub);
    return told;
}
