/* Tests tools/link/hub.h: programs and a board at the ends of sockets, one turn after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "firmware/link/protocol.h"
#include "test/support/harness.h"
#include "tools/link/hub.h"
#include "tools/link/run_folder.h"

typedef struct {
    int file;
    frame_reader_t reader;
    uint8_t rx[FRAME_READ_ROOM(FRAME_CONTENT_MAX)];
    uint8_t bytes[4096]; /* received and not decoded yet */
    ssize_t used, at;
} end_t;

static char folder[64], path[RUN_PATH];
static hub_t *hub;
static end_t board, one, two;
static int controlled;

static void begin(end_t *end, int file) {
    *end = (end_t){.file = file};
    frame_reader_init(&end->reader, end->rx, sizeof end->rx);
}

static void turns(void) {
    for (int i = 0; i < 10; i++)
        TEST_ASSERT_EQUAL_HEX32(0, hub_turn(hub, NULL, 0));
}

/* Returns the size of the next frame's content, which is in end->rx; 0 if there is none. */
static size_t next(end_t *end) {
    for (;;) {
        while (end->at < end->used) {
            const size_t size = frame_take(&end->reader, end->bytes[end->at++]);
            if (size > 0)
                return size;
        }
        end->at = 0;
        end->used = recv(end->file, end->bytes, sizeof end->bytes, MSG_DONTWAIT);
        if (end->used <= 0) {
            end->used = 0;
            return 0;
        }
    }
}

static void put(const end_t *end, const uint8_t *content, size_t size) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
    memcpy(frame + FRAME_WRITE_AT, content, size);
    const size_t bytes = frame_close(frame, size);
    TEST_ASSERT_EQUAL(bytes, send(end->file, frame, bytes, MSG_DONTWAIT));
}

#define PUT(end, ...)                                                                              \
    do {                                                                                           \
        const uint8_t content_[] = {__VA_ARGS__};                                                  \
        put(end, content_, sizeof content_);                                                       \
        turns();                                                                                   \
    } while (0)

static void expect(end_t *end, const uint8_t *content, size_t size) {
    TEST_ASSERT_EQUAL(size, next(end));
    TEST_ASSERT_EQUAL_HEX8_ARRAY(content, end->rx, size);
}

#define EXPECT(end, ...)                                                                           \
    do {                                                                                           \
        const uint8_t content_[] = {__VA_ARGS__};                                                  \
        expect(end, content_, sizeof content_);                                                    \
    } while (0)

/* Takes the next request at the board. Returns its sequence number. */
static uint8_t arrives(uint8_t message) {
    TEST_ASSERT_GREATER_OR_EQUAL(2, next(&board));
    TEST_ASSERT_EQUAL_HEX8(message, board.rx[0]);
    return board.rx[1];
}

/* Takes turns until the board gets a request. */
static uint8_t arrives_later(uint8_t message) {
    size_t size = 0;
    while (size == 0) {
        TEST_ASSERT_EQUAL_HEX32(0, hub_turn(hub, NULL, -1));
        size = next(&board);
    }
    TEST_ASSERT_EQUAL_HEX8(message, board.rx[0]);
    return board.rx[1];
}

static void answers(uint8_t message, uint8_t sequence, uint8_t status) {
    PUT(&board, message | PROTOCOL_REPLY, sequence, status);
}

static void join(end_t *end) {
    begin(end, run_connect(path));
    TEST_ASSERT_GREATER_OR_EQUAL(0, end->file);
    turns();
    TEST_ASSERT_GREATER_OR_EQUAL(3, next(end));
    TEST_ASSERT_EQUAL_HEX8(HUB_GREETING, end->rx[0]);
}

static void leave(end_t *end) {
    close(end->file);
    end->file = -1;
    turns();
}

static int control(void *context, uint8_t what) {
    (void)context;
    controlled = what;
    return what == CONTROL_RESET ? LINK_OK : LINK_INDEX;
}

void setUp(void) {
    const hub_calls_t calls = {.control = control};
    int line[2];
    port_error_t error;
    snprintf(folder, sizeof folder, "/tmp/test-hub-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/hub", folder);
    hub = hub_open(path, &calls, &error);
    TEST_ASSERT_NOT_NULL(hub);
    TEST_ASSERT_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, line));
    begin(&board, line[0]);
    hub_line(hub, line[1]);
    join(&one);
    join(&two);
    controlled = -1;
}

void tearDown(void) {
    hub_close(hub);
    TEST_ASSERT_NOT_EQUAL(0, access(path, F_OK));
    rmdir(folder);
    close(board.file);
    if (one.file >= 0)
        close(one.file);
    if (two.file >= 0)
        close(two.file);
}

static void test_each_program_gets_its_own_answer(void) {
    PUT(&one, ASK_STATUS, 7);
    PUT(&two, ASK_FAULT, 7);
    const uint8_t first = arrives(ASK_STATUS);
    TEST_ASSERT_EQUAL(0, next(&board)); /* one request at a time */
    answers(ASK_STATUS, first, LINK_OK);
    EXPECT(&one, ASK_STATUS | PROTOCOL_REPLY, 7, LINK_OK);
    const uint8_t second = arrives(ASK_FAULT);
    TEST_ASSERT_NOT_EQUAL(first, second);
    answers(ASK_FAULT, second, LINK_OK);
    EXPECT(&two, ASK_FAULT | PROTOCOL_REPLY, 7, LINK_OK);
    TEST_ASSERT_EQUAL(0, next(&one));
}

static void test_repetition_keeps_its_number(void) {
    PUT(&one, ASK_MOTION, 9, 1, 2, 3);
    const uint8_t first = arrives(ASK_MOTION);
    PUT(&one, ASK_MOTION, 9, 1, 2, 3); /* the board must see that it is the same one */
    TEST_ASSERT_EQUAL(first, arrives(ASK_MOTION));
    answers(ASK_MOTION, first, LINK_OK);
    EXPECT(&one, ASK_MOTION | PROTOCOL_REPLY, 9, LINK_OK);
    answers(ASK_MOTION, first, LINK_OK); /* the answer to the repetition is nobody's */
    TEST_ASSERT_EQUAL(0, next(&one));
    PUT(&one, ASK_MOTION, 9, 1, 2, 3); /* a repetition that comes late is not executed again */
    TEST_ASSERT_EQUAL(0, next(&board));
    EXPECT(&one, ASK_MOTION | PROTOCOL_REPLY, 9, LINK_OK);
    PUT(&one, ASK_MOTION, 10, 1, 2, 3);
    TEST_ASSERT_NOT_EQUAL(first, arrives(ASK_MOTION));
}

static void test_stop_comes_before_all_that_waits(void) {
    end_t three;
    join(&three);
    PUT(&one, ASK_STATUS, 1);
    const uint8_t first = arrives(ASK_STATUS);
    PUT(&two, ASK_FAULT, 1);
    PUT(&three, ASK_STOP, 1, 0);
    answers(ASK_STATUS, first, LINK_OK);
    const uint8_t stop = arrives(ASK_STOP);
    answers(ASK_STOP, stop, LINK_OK);
    EXPECT(&three, ASK_STOP | PROTOCOL_REPLY, 1, LINK_OK);
    (void)arrives(ASK_FAULT);
    leave(&three);
}

static void test_motion_that_waits_is_refused_after_a_stop(void) {
    end_t three;
    join(&three);
    PUT(&three, ASK_STATUS, 1);
    const uint8_t first = arrives(ASK_STATUS);
    PUT(&two, ASK_MOTION, 1);
    PUT(&one, ASK_STOP, 2, 0);
    answers(ASK_STATUS, first, LINK_OK);
    answers(ASK_STOP, arrives(ASK_STOP), LINK_OK);
    EXPECT(&two, ASK_MOTION | PROTOCOL_REPLY, 1, LINK_STOPPED);
    PUT(&two, ASK_MOTION, 1); /* a repetition is answered in the same way */
    EXPECT(&two, ASK_MOTION | PROTOCOL_REPLY, 1, LINK_STOPPED);
    TEST_ASSERT_EQUAL(0, next(&board));
    leave(&three);
}

static void test_stop_of_another_is_told_to_the_holder_of_the_lease(void) {
    for (int stop = 0; stop < 2; stop++) {
        PUT(&one, ASK_LEASE, (uint8_t)(10 * stop), 1, 1, 1, 1, 0xe8, 3, 'x', 0);
        answers(ASK_LEASE, arrives(ASK_LEASE), LINK_OK);
        EXPECT(&one, ASK_LEASE | PROTOCOL_REPLY, (uint8_t)(10 * stop), LINK_OK);
        PUT(&two, ASK_STOP, (uint8_t)(10 * stop + 1), 0);
        answers(ASK_STOP, arrives(ASK_STOP), LINK_OK);
        EXPECT(&two, ASK_STOP | PROTOCOL_REPLY, (uint8_t)(10 * stop + 1), LINK_OK);
        PUT(&one, ASK_MOTION, (uint8_t)(10 * stop + 2)); /* a key that repeats */
        EXPECT(&one, ASK_MOTION | PROTOCOL_REPLY, (uint8_t)(10 * stop + 2), LINK_STOPPED);
        TEST_ASSERT_EQUAL(0, next(&board));
        PUT(&one, ASK_MOTION, (uint8_t)(10 * stop + 3)); /* it knows of the stop now */
        answers(ASK_MOTION, arrives(ASK_MOTION), LINK_OK);
        EXPECT(&one, ASK_MOTION | PROTOCOL_REPLY, (uint8_t)(10 * stop + 3), LINK_OK);
    }
    PUT(&one, ASK_STOP, 30, 0); /* its own stop is no news */
    answers(ASK_STOP, arrives(ASK_STOP), LINK_OK);
    PUT(&one, ASK_MOTION, 31);
    (void)arrives(ASK_MOTION);
}

static void test_stop_does_not_wait_for_a_program_that_stands_still(void) {
    PUT(&one, ASK_MOTION, 1);
    (void)arrives(ASK_MOTION); /* neither an answer nor a repetition comes */
    PUT(&two, ASK_STOP, 1, 0);
    answers(ASK_STOP, arrives_later(ASK_STOP), LINK_OK);
    PUT(&one, ASK_MOTION, 1);
    EXPECT(&one, ASK_MOTION | PROTOCOL_REPLY, 1, LINK_STOPPED);
    TEST_ASSERT_EQUAL(0, next(&board)); /* the repetition has not moved the arm */
}

static void test_nobody_waits_for_a_program_that_stands_still(void) {
    PUT(&one, ASK_STATUS, 1);
    (void)arrives(ASK_STATUS); /* neither an answer nor a repetition comes */
    PUT(&two, ASK_HELLO, 1, 1);
    answers(ASK_HELLO, arrives_later(ASK_HELLO), LINK_OK);
    EXPECT(&two, ASK_HELLO | PROTOCOL_REPLY, 1, LINK_OK);
    PUT(&one, ASK_TELEMETRY, 2, 1, 0, 0, 0, 5); /* done once: it gets more time */
    (void)arrives(ASK_TELEMETRY);
    PUT(&two, ASK_HELLO, 2, 1);
    answers(ASK_HELLO, arrives_later(ASK_HELLO), LINK_OK);
    EXPECT(&two, ASK_HELLO | PROTOCOL_REPLY, 2, LINK_OK);
}

static void test_stop_of_a_program_that_left_is_sent_until_answered(void) {
    PUT(&one, ASK_STATUS, 1);
    const uint8_t status = arrives(ASK_STATUS);
    PUT(&two, ASK_STOP, 1, 0); /* it waits, and its program ends */
    leave(&two);
    answers(ASK_STATUS, status, LINK_OK);
    const uint8_t first = arrives(ASK_STOP);
    TEST_ASSERT_EQUAL_HEX8(first, arrives_later(ASK_STOP)); /* the same request, repeated */
    answers(ASK_STOP, first, LINK_OK);
    PUT(&one, ASK_FAULT, 2);
    (void)arrives(ASK_FAULT);
    begin(&two, -1);
}

static void test_damaged_answer_is_asked_for_again(void) {
    PUT(&one, ASK_STATUS, 1);
    const uint8_t sequence = arrives(ASK_STATUS);
    static const uint8_t spoilt[] = {0, 5, 1, 2, 3, 4, 0};
    TEST_ASSERT_EQUAL(sizeof spoilt, send(board.file, spoilt, sizeof spoilt, MSG_DONTWAIT));
    turns();
    TEST_ASSERT_EQUAL(sequence, arrives(ASK_STATUS));
    answers(ASK_STATUS, sequence, LINK_OK);
    EXPECT(&one, ASK_STATUS | PROTOCOL_REPLY, 1, LINK_OK);
}

static void test_program_that_gives_up_makes_room(void) {
    PUT(&one, ASK_STATUS, 1);
    (void)arrives(ASK_STATUS);
    PUT(&one, ASK_FAULT, 2); /* it does not wait for the status any more */
    const uint8_t sequence = arrives(ASK_FAULT);
    answers(ASK_STATUS, (uint8_t)(sequence - 1), LINK_OK);
    TEST_ASSERT_EQUAL(0, next(&one));
    answers(ASK_FAULT, sequence, LINK_OK);
    EXPECT(&one, ASK_FAULT | PROTOCOL_REPLY, 2, LINK_OK);
}

static void test_program_that_dies_blocks_nobody(void) {
    PUT(&one, ASK_STATUS, 1);
    (void)arrives(ASK_STATUS);
    leave(&one);
    PUT(&two, ASK_FAULT, 1);
    TEST_ASSERT_EQUAL(0, next(&board)); /* the answer may still come */
    while (next(&board) == 0)           /* it does not: the next one is sent */
        (void)hub_turn(hub, NULL, 100);
    TEST_ASSERT_EQUAL_HEX8(ASK_FAULT, board.rx[0]);
}

static void test_program_that_does_not_read_blocks_nobody(void) {
    static const uint8_t sample[FRAME_CONTENT_MAX] = {PROTOCOL_SAMPLE};
    PUT(&one, ASK_TELEMETRY, 1, 1, 0, 0, 0, 5);
    answers(ASK_TELEMETRY, arrives(ASK_TELEMETRY), LINK_OK);
    for (int i = 0; i < 4000; i++) { /* a megabyte */
        put(&board, sample, sizeof sample);
        turns();
    }
    PUT(&two, ASK_STATUS, 1);
    answers(ASK_STATUS, arrives(ASK_STATUS), LINK_OK);
    EXPECT(&two, ASK_STATUS | PROTOCOL_REPLY, 1, LINK_OK);
}

static void test_samples_go_to_who_chose_them(void) {
    PUT(&one, ASK_TELEMETRY, 1, 1, 0, 0, 0, 5);
    answers(ASK_TELEMETRY, arrives(ASK_TELEMETRY), LINK_OK);
    EXPECT(&one, ASK_TELEMETRY | PROTOCOL_REPLY, 1, LINK_OK);
    PUT(&board, PROTOCOL_SAMPLE, 0, 42);
    EXPECT(&one, PROTOCOL_SAMPLE, 0, 42);
    TEST_ASSERT_EQUAL(0, next(&two));
    PUT(&two, ASK_TELEMETRY, 1, 1, 0, 0, 0, 6); /* other fields */
    EXPECT(&two, ASK_TELEMETRY | PROTOCOL_REPLY, 1, LINK_TAKEN);
    PUT(&two, ASK_TELEMETRY, 2, 1, 0, 0, 0, 5); /* the same */
    EXPECT(&two, ASK_TELEMETRY | PROTOCOL_REPLY, 2, LINK_OK);
    TEST_ASSERT_EQUAL(0, next(&board));
    PUT(&board, PROTOCOL_SAMPLE, 1, 43);
    EXPECT(&one, PROTOCOL_SAMPLE, 1, 43);
    EXPECT(&two, PROTOCOL_SAMPLE, 1, 43);
    leave(&one);
    leave(&two);
    join(&one); /* nobody streams now */
    PUT(&one, ASK_TELEMETRY, 3, 1, 0, 0, 0, 6);
    (void)arrives(ASK_TELEMETRY);
}

static void test_holder_of_the_lease_takes_the_samples(void) {
    PUT(&one, ASK_TELEMETRY, 1, 1, 0, 0, 0, 5);
    answers(ASK_TELEMETRY, arrives(ASK_TELEMETRY), LINK_OK);
    PUT(&two, ASK_LEASE, 1, 1, 1, 1, 1, 0xe8, 3, 'x', 0);
    answers(ASK_LEASE, arrives(ASK_LEASE), LINK_OK);
    PUT(&two, ASK_TELEMETRY, 2, 1, 0, 0, 0, 6);
    answers(ASK_TELEMETRY, arrives(ASK_TELEMETRY), LINK_OK);
    EXPECT(&one, ASK_TELEMETRY | PROTOCOL_REPLY, 1, LINK_OK);
    PUT(&board, PROTOCOL_SAMPLE, 0, 42);
    TEST_ASSERT_EQUAL(0, next(&one));
    PUT(&one, ASK_CREDIT, 2, 1, 0, 0, 0); /* not for the samples of the other program */
    EXPECT(&one, ASK_CREDIT | PROTOCOL_REPLY, 2, LINK_OK);
    TEST_ASSERT_EQUAL(0, next(&board));
    PUT(&one, ASK_TELEMETRY, 3, 1, 0, 0, 0, 5);
    EXPECT(&one, ASK_TELEMETRY | PROTOCOL_REPLY, 3, LINK_TAKEN);
}

static void test_new_line_forgets_what_was_on_the_old_one(void) {
    int line[2];
    PUT(&one, ASK_STATUS, 1);
    const uint8_t first = arrives(ASK_STATUS);
    close(board.file);
    TEST_ASSERT_EQUAL(HUB_LINE_CLOSED, hub_turn(hub, NULL, 0));
    hub_line(hub, -1);
    TEST_ASSERT_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, line));
    begin(&board, line[0]);
    hub_line(hub, line[1]);
    turns();
    TEST_ASSERT_EQUAL(0, next(&board)); /* the hub repeats nothing by itself */
    PUT(&one, ASK_STATUS, 1);
    const uint8_t again = arrives(ASK_STATUS);
    TEST_ASSERT_NOT_EQUAL(first, again);
    answers(ASK_STATUS, again, LINK_OK);
    EXPECT(&one, ASK_STATUS | PROTOCOL_REPLY, 1, LINK_OK);
}

static void test_control_does_not_reach_the_board(void) {
    PUT(&one, HUB_CONTROL, 1, CONTROL_RESET);
    TEST_ASSERT_EQUAL(CONTROL_RESET, controlled);
    EXPECT(&one, HUB_CONTROL | PROTOCOL_REPLY, 1, LINK_OK);
    PUT(&one, HUB_CONTROL, 1, CONTROL_RESET); /* a repetition is not executed again */
    controlled = -1;
    EXPECT(&one, HUB_CONTROL | PROTOCOL_REPLY, 1, LINK_OK);
    TEST_ASSERT_EQUAL(-1, controlled);
    PUT(&one, HUB_CONTROL, 2, 99);
    EXPECT(&one, HUB_CONTROL | PROTOCOL_REPLY, 2, LINK_INDEX);
    TEST_ASSERT_EQUAL(0, next(&board));
}

/* Until the first frame a program sees what is on the line, so that it can say what answers there. */
static void test_text_of_another_program_is_passed_on(void) {
    char text[16] = "";
    TEST_ASSERT_EQUAL(6, send(board.file, "login:", 6, 0));
    turns();
    TEST_ASSERT_EQUAL(6, recv(one.file, text, sizeof text - 1, MSG_DONTWAIT));
    TEST_ASSERT_EQUAL_STRING("login:", text);
    PUT(&one, ASK_STATUS, 1);
    send(board.file, "\0", 1, 0);
    answers(ASK_STATUS, arrives(ASK_STATUS), LINK_OK);
    send(board.file, "noise", 5, 0);
    turns();
    while (recv(one.file, text, sizeof text - 1, MSG_DONTWAIT) > 0)
        TEST_ASSERT_NULL(strstr(text, "noise"));
}

static void test_too_many_programs_are_turned_away(void) {
    int file[20];
    char byte;
    for (int i = 0; i < 20; i++) {
        file[i] = run_connect(path);
        turns();
    }
    TEST_ASSERT_EQUAL(16, hub_users(hub));
    TEST_ASSERT_EQUAL(0, recv(file[19], &byte, 1, 0)); /* closed */
    for (int i = 0; i < 20; i++)
        close(file[i]);
    turns();
    TEST_ASSERT_EQUAL(2, hub_users(hub));
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_each_program_gets_its_own_answer)
    TEST(test_repetition_keeps_its_number)
    TEST(test_stop_comes_before_all_that_waits)
    TEST(test_motion_that_waits_is_refused_after_a_stop)
    TEST(test_stop_of_another_is_told_to_the_holder_of_the_lease)
    TEST(test_stop_does_not_wait_for_a_program_that_stands_still)
    TEST(test_nobody_waits_for_a_program_that_stands_still)
    TEST(test_stop_of_a_program_that_left_is_sent_until_answered)
    TEST(test_damaged_answer_is_asked_for_again)
    TEST(test_program_that_gives_up_makes_room)
    TEST(test_program_that_dies_blocks_nobody)
    TEST(test_program_that_does_not_read_blocks_nobody)
    TEST(test_samples_go_to_who_chose_them)
    TEST(test_holder_of_the_lease_takes_the_samples)
    TEST(test_new_line_forgets_what_was_on_the_old_one)
    TEST(test_control_does_not_reach_the_board)
    TEST(test_text_of_another_program_is_passed_on)
    TEST(test_too_many_programs_are_turned_away)
TEST_LIST_END
// clang-format on
