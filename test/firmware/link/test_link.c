/*
 * Runs both ends of the link in one process (test/support/link_board.h): discovery, images,
 * parameters, the store, motions and telemetry, also over a line that damages bytes, with power
 * cuts, and with requests that no client would send.
 */
#include "test/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "test/support/link_board.h"

#ifdef TEST_LONG
enum { STRANGE_REQUESTS = 2000000, NOISE = 20000000 };
#else
enum { STRANGE_REQUESTS = 20000, NOISE = 200000 };
#endif

static board_t board;
static client_t *client;
static uint8_t image[BOARD_ROOM + 4];
static uint32_t length;

static void open_board(void) {
    board_make(&board);
    client = board_client(&board);
    TEST_ASSERT_NOT_NULL(client);
    length = board_image(image, sizeof image, "testarm");
    TEST_ASSERT_GREATER_THAN_UINT32(0, length);
}

static void apply(void) {
    bool kept = true;
    TEST_ASSERT_EQUAL_MESSAGE(
        0, client_send_image(client, TARGET_APP, image, length, &kept, NULL, NULL),
        client->error.what);
    TEST_ASSERT_FALSE(kept);
    board_tick(&board, 2);
    TEST_ASSERT_EQUAL(0, client_discover(client));
}

static device_status_t status_now(void) {
    device_status_t status;
    TEST_ASSERT_EQUAL(0, client_status(client, &status));
    return status;
}

static void done(void) {
    client_close(client);
    client = NULL;
}

static void test_hello_and_empty_board(void) {
    open_board();
    TEST_ASSERT_EQUAL_STRING("in the test", client->device.board);
    TEST_ASSERT_EQUAL_STRING("f32", client->device.real);
    TEST_ASSERT_EQUAL_STRING("0123abcd", client->device.build);
    const device_status_t status = status_now();
    TEST_ASSERT_EQUAL(APP_STATE_UNCONFIGURED, status.state);
    TEST_ASSERT_EQUAL(REASON_STORE + STORE_E_EMPTY, status.reason);
    TEST_ASSERT_EQUAL_STRING("the store of the board is empty", reason_cause(status.reason));
    done();
}

/* Control characters and bytes that are not UTF-8, in the texts of a board, become visible; a text
 * that does not fit is cut between two characters. */
static void test_texts_of_a_hostile_board(void) {
    static const struct {
        const char *text, *visible;
    } table[] = {
        {"\x1b[2J", "\\x1b[2J"},
        {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\xa4\x96", "\xc3\xa4\xe2\x82\xac\xf0\x9f\xa4\x96"},
        {"\x9b\xc2\x9b\xc2\xa0", "\\x9b\\xc2\\x9b\xc2\xa0"},            /* U+009B is a control */
        {"\xc0\x9b\xc1\xbf", "\\xc0\\x9b\\xc1\\xbf"},                   /* more bytes than needed */
        {"\xe0\x80\x9b\xed\xa0\x80", "\\xe0\\x80\\x9b\\xed\\xa0\\x80"}, /* surrogate */
        {"\xf4\x90\x80\x80\xff\xc3", "\\xf4\\x90\\x80\\x80\\xff\\xc3"},
        {"12345678901234567890123456789012345678901234567890123456789\x1b",
         "12345678901234567890123456789012345678901234567890123456789\\x1b"},
        {"123456789012345678901234567890123456789012345678901234567890\x1b",
         "123456789012345678901234567890123456789012345678901234567890"},
    };
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        board_make(&board);
        board.port.board = table[i].text;
        client = board_client(&board);
        TEST_ASSERT_NOT_NULL(client);
        TEST_ASSERT_EQUAL_STRING(table[i].visible, client->device.board);
        done();
    }
    open_board();
    length = board_image(image, sizeof image, "test\xc2\x9b");
    apply();
    TEST_ASSERT_EQUAL_STRING("test\\xc2\\x9b", client->device.robot);
    done();
}

/* The client gets every entry of the tables of the firmware. */
static void test_discovery(void) {
    open_board();
    apply();
    const device_t *d = &client->device;
    TEST_ASSERT_EQUAL_STRING("testarm", d->robot);
    TEST_ASSERT_EQUAL_UINT32(2, d->joints);
    TEST_ASSERT_EQUAL_STRING("shoulder", d->joint[0]);
    TEST_ASSERT_EQUAL_STRING("elbow", d->joint[1]);
    TEST_ASSERT_EQUAL_UINT32(PARAMETERS, d->parameters);
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        TEST_ASSERT_EQUAL_STRING(parameter_table[i].name, d->parameter[i].name);
        TEST_ASSERT_EQUAL_STRING(parameter_table[i].unit, d->parameter[i].unit);
        TEST_ASSERT_EQUAL_STRING(parameter_table[i].help, d->parameter[i].help);
        TEST_ASSERT_TRUE(parameter_table[i].least == d->parameter[i].least);
        TEST_ASSERT_TRUE(parameter_table[i].most == d->parameter[i].most);
        TEST_ASSERT_TRUE(parameter_table[i].fallback == d->parameter[i].fallback);
        TEST_ASSERT_EQUAL(parameter_table[i].per_joint, d->parameter[i].per_joint);
        TEST_ASSERT_EQUAL(parameter_table[i].idle_only, d->parameter[i].idle_only);
    }
    TEST_ASSERT_EQUAL_UINT32(SAMPLE_FIELDS, d->fields);
    for (uint32_t i = 0; i < SAMPLE_FIELDS; i++) {
        TEST_ASSERT_EQUAL_STRING(sample_table[i].name, d->field[i].name);
        TEST_ASSERT_EQUAL_STRING(sample_table[i].help, d->field[i].help);
        TEST_ASSERT_EQUAL_STRING(quantity_unit(sample_table[i].quantity, 0), d->field[i].unit[0]);
        TEST_ASSERT_EQUAL_STRING(quantity_unit(sample_table[i].quantity, 1), d->field[i].unit[1]);
        TEST_ASSERT_EQUAL(sample_table[i].quantity == QUANTITY_NONE ? KIND_U32 : KIND_F32,
                          d->field[i].kind);
    }
    done();
}

static void test_image_runs_and_is_read_back(void) {
    open_board();
    apply();
    uint32_t size;
    uint8_t *back = client_read_image(client, 0, &size);
    TEST_ASSERT_NOT_NULL(back);
    TEST_ASSERT_EQUAL_UINT32(length, size);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(image, back, length);
    free(back);
    TEST_ASSERT_NULL(client_read_image(client, 1, &size)); /* no image is stored */
    const device_status_t status = status_now();
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status.state);
    TEST_ASSERT_EQUAL(SOURCE_LINK, status.source);
    TEST_ASSERT_EQUAL_HEX32(crc32_add(0, image, length), status.image_crc);
    TEST_ASSERT_TRUE(status.flags & STATUS_UNSAVED_IMAGE);
    done();
}

/* A bad image is refused with the reason, and the previous arm stays loaded. */
static void test_bad_image_changes_nothing(void) {
    open_board();
    apply();
    bool kept;
    uint8_t *bad = malloc(length);
    memcpy(bad, image, length);
    bad[200] ^= 1;
    TEST_ASSERT_EQUAL(-1, client_send_image(client, TARGET_APP, bad, length, &kept, NULL, NULL));
    TEST_ASSERT_EQUAL(LINK_APP, client->status);
    TEST_ASSERT_EQUAL(APP_E_IMAGE + IMAGE_E_CRC, client->reason);
    TEST_ASSERT_NOT_NULL(strstr(client->error.what, "the checksum of the image does not match"));
    free(bad);
    TEST_ASSERT_EQUAL(
        -1, client_send_image(client, TARGET_APP, image, BOARD_ROOM + 1, &kept, NULL, NULL));
    TEST_ASSERT_EQUAL(LINK_ROOM, client->status);
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status_now().state);
    TEST_ASSERT_EQUAL_HEX32(crc32_add(0, image, length), status_now().image_crc);
    done();
}

static void test_parameters(void) {
    uint32_t parameter;
    int joint;
    float value;
    bool saved;
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_parameter(client, "kp[elbow]", &parameter, &joint));
    TEST_ASSERT_EQUAL_UINT32(PARAMETER_kp, parameter);
    TEST_ASSERT_EQUAL(1, joint);
    TEST_ASSERT_EQUAL(0, client_parameter(client, "kp[2]", &parameter, &joint));
    TEST_ASSERT_EQUAL(1, joint);
    TEST_ASSERT_EQUAL(0, client_parameter(client, "kp", &parameter, &joint));
    TEST_ASSERT_EQUAL(-1, joint);
    TEST_ASSERT_EQUAL(-1, client_parameter(client, "kp[3]", &parameter, &joint));
    TEST_ASSERT_EQUAL(-1, client_parameter(client, "nothing", &parameter, &joint));
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 1, &value, &saved));
    TEST_ASSERT_TRUE(value == 100 && !saved);
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 1, 55.5f, &value));
    TEST_ASSERT_TRUE(value == 55.5f);
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &saved));
    TEST_ASSERT_TRUE(value == 100);
    TEST_ASSERT_EQUAL(-1, client_set(client, PARAMETER_kp, 1, -1, &value));
    TEST_ASSERT_EQUAL(APP_E_RANGE, client->reason);
    TEST_ASSERT_EQUAL(-1, client_set(client, PARAMETER_kp, 1, (float)NAN, &value));
    TEST_ASSERT_EQUAL(-1, client_set(client, PARAMETERS, 0, 1, &value));
    TEST_ASSERT_EQUAL(LINK_INDEX, client->status);
    done();
}

/*
 * Everything that was saved is there after a reset: image, parameters and choice of telemetry. An
 * unsaved value is marked as unsaved.
 */
static void test_save_survives_reset(void) {
    static const char *const names[] = {"q", "tau"};
    float value;
    bool saved, persistent;
    open_board();
    TEST_ASSERT_EQUAL(-1, client_save(client, &persistent));
    TEST_ASSERT_EQUAL(LINK_NOTHING, client->status);
    apply();
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 1, 55.5f, &value));
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_rate_hz, 0, 500, &value));
    TEST_ASSERT_EQUAL(0, client_stream(client, names, 2, 10, 5, NULL, NULL));
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    TEST_ASSERT_TRUE(persistent);
    TEST_ASSERT_EQUAL(STATUS_TELEMETRY, status_now().flags);
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 0, 77, &value));
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &saved));
    TEST_ASSERT_FALSE(saved);
    TEST_ASSERT_EQUAL(STATUS_TELEMETRY | STATUS_UNSAVED_PARAMETERS, status_now().flags);
    TEST_ASSERT_EQUAL(0, client_reset(client));
    TEST_ASSERT_EQUAL_UINT32(1, board.resets);
    const device_status_t status = status_now();
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status.state);
    TEST_ASSERT_EQUAL(SOURCE_STORE, status.source);
    TEST_ASSERT_EQUAL_UINT32(500, status.rate_hz);
    TEST_ASSERT_EQUAL(0, status.flags & ~STATUS_TELEMETRY);
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &saved));
    TEST_ASSERT_TRUE(value == 100 && saved);
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 1, &value, &saved));
    TEST_ASSERT_TRUE(value == 55.5f && saved);
    TEST_ASSERT_EQUAL(0, client_stream(client, NULL, 0, 0, 5, NULL, NULL)); /* the saved fields */
    TEST_ASSERT_EQUAL_UINT32(2, client->choices);
    TEST_ASSERT_EQUAL_UINT32(10, client->every);
    TEST_ASSERT_EQUAL(SAMPLE_tau, client->chosen[1]);
    done();
}

/* ------------------------------------------------------------------------------------ the store */

static void write_set(const uint8_t *set, uint32_t size) {
    store_t store;
    (void)store_open(&store, &board.medium);
    TEST_ASSERT_EQUAL(STORE_OK, store_begin(&store, size));
    TEST_ASSERT_EQUAL(STORE_OK, store_put(&store, set, size));
    TEST_ASSERT_EQUAL(STORE_OK, store_commit(&store));
}

static uint32_t set_of(uint8_t *set, uint32_t version, const uint8_t *from, uint32_t size) {
    put_u32(set, version);
    put_u32(set + 4, size);
    memcpy(set + SET_IMAGE, from, size);
    return SET_IMAGE + size;
}

/* A parameter that no longer exists is skipped; a parameter that is missing in the set gets its
 * default. */
static void test_names_that_the_firmware_does_not_have_are_skipped(void) {
    static uint8_t set[BOARD_ROOM];
    float value;
    bool saved;
    open_board();
    uint32_t used = set_of(set, SET_VERSION, image, length);
    put_u32(set + used, 2);
    put_u32(set + used + 4, crc32_add(0, "a_parameter_of_old_times", 24));
    put_u32(set + used + 8, 0);
    put_f32(set + used + 12, 1);
    put_u32(set + used + 16, crc32_add(0, "kd", 2));
    put_u32(set + used + 20, 1);
    put_f32(set + used + 24, 12.5f);
    put_u32(set + used + 28, 3);
    put_u32(set + used + 32, 1);
    put_u32(set + used + 36, crc32_add(0, "field_of_old_times", 18));
    write_set(set, used + 40);
    board_start(&board);
    const device_status_t status = status_now();
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status.state);
    TEST_ASSERT_TRUE(status.flags & STATUS_UNRESTORED);
    /* who clears a fault has not thereby seen what could not be restored */
    app_fault(&board.app, APP_FAULT_WATCHDOG);
    TEST_ASSERT_EQUAL(0, client_clear(client));
    TEST_ASSERT_EQUAL(APP_FAULT_NONE, status_now().fault);
    TEST_ASSERT_TRUE(status_now().flags & STATUS_UNRESTORED);
    TEST_ASSERT_EQUAL(0, client_clear(client)); /* acknowledges it */
    TEST_ASSERT_FALSE(status_now().flags & STATUS_UNRESTORED);
    TEST_ASSERT_EQUAL(-1, client_clear(client));
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kd, 1, &value, &saved));
    TEST_ASSERT_TRUE(value == 12.5f && saved);
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 1, &value, &saved));
    TEST_ASSERT_TRUE(value == 100 && !saved);
    done();
}

/* A set of another version is refused, also an older one, because its parameters have other names
 * and some of them are limits. */
static void test_set_of_another_version_is_refused(void) {
    static uint8_t set[BOARD_ROOM];
    open_board();
    uint32_t used = 0;
    for (uint32_t version = SET_VERSION - 1; version <= SET_VERSION + 1; version += 2) {
        used = set_of(set, version, image, length);
        memset(set + used, 0, 12);
        write_set(set, used + 12);
        board_start(&board);
        TEST_ASSERT_EQUAL(APP_STATE_FAULT, status_now().state);
        TEST_ASSERT_EQUAL(APP_FAULT_IMAGE, status_now().fault);
        TEST_ASSERT_EQUAL(REASON_STORE + STORE_E_VERSION, status_now().reason);
    }
    /* An image of a newer layout in a set of this layout is refused, too. */
    put_u32(image + 8, IMAGE_VERSION + 1);
    put_u32(image + 4, crc32_add(0, image + 8, length - 8));
    used = set_of(set, SET_VERSION, image, length);
    write_set(set, used + 12);
    board_start(&board);
    TEST_ASSERT_EQUAL(APP_STATE_FAULT, status_now().state);
    TEST_ASSERT_EQUAL(APP_FAULT_IMAGE, status_now().fault);
    TEST_ASSERT_EQUAL(APP_E_IMAGE + IMAGE_E_VERSION, status_now().reason);
    /* A set that contradicts itself is refused. */
    put_u32(set + 4, 0x7ffffffc);
    write_set(set, used + 12);
    board_start(&board);
    TEST_ASSERT_EQUAL(REASON_STORE + STORE_E_CONTENT, status_now().reason);
    done();
}

/*
 * The power fails at one operation of a SAVE over the link, in each round at a later one.
 * Afterwards the board runs the old or the new set.
 */
static void test_power_cut_while_saving(void) {
    uint32_t cuts = 0, kept = 0;
    for (uint64_t at = 0;; at++) {
        float value;
        bool saved, persistent;
        open_board();
        apply();
        TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 0, 11, &value));
        TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
        TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 0, 22, &value));
        power_cut_power_up(&board.flash, at);
        const int status = client_save(client, &persistent);
        const bool cut = board.flash.dead;
        TEST_ASSERT_EQUAL(cut ? -1 : 0, status);
        power_cut_power_up(&board.flash, UINT64_MAX);
        board_start(&board);
        TEST_ASSERT_EQUAL(APP_STATE_IDLE, status_now().state);
        TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &saved));
        TEST_ASSERT_TRUE(saved && (value == 22 || (cut && value == 11)));
        kept += value == 11;
        done();
        if (!cut)
            break;
        cuts++;
        at += at > 20 ? 7 : 0; /* skips some operations; test_store.c tries every one */
    }
    harness_note_number("power cuts while saving over the link", cuts);
    TEST_ASSERT_GREATER_THAN_UINT32(20, cuts);
    TEST_ASSERT_GREATER_THAN_UINT32(20, kept);
}

/*
 * On a board without RAM for images, the pieces go into the spare slot, and the arm is used there.
 */
static void test_image_in_place(void) {
    bool kept, persistent;
    float value;
    board_make(&board);
    board.port.flags |= HELLO_IN_PLACE;
    board.port.image_room = 0;
    board.port.slot[0] = board.memory;
    board.port.slot[1] = board.memory + BOARD_SLOT;
    board_start(&board);
    client = board_client(&board);
    length = board_image(image, sizeof image, "testarm");
    for (unsigned turn = 0; turn < 4; turn++) {
        TEST_ASSERT_EQUAL_MESSAGE(
            0, client_send_image(client, TARGET_APP, image, length, &kept, NULL, NULL),
            client->error.what);
        TEST_ASSERT_TRUE(kept);
        TEST_ASSERT_TRUE(board.server.running >= board.memory &&
                         board.server.running < board.memory + sizeof board.memory);
        TEST_ASSERT_EQUAL(0, status_now().flags);
    }
    TEST_ASSERT_EQUAL(0, client_discover(client));
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 0, 22, &value));
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &kept));
    TEST_ASSERT_TRUE(value == 22 && kept);
    board_start(&board);
    TEST_ASSERT_EQUAL(SOURCE_STORE, status_now().source);
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &kept));
    TEST_ASSERT_TRUE(value == 22 && kept);
    /* To save is to load the robot again, which nobody does under a command. */
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 0, 23, &value));
    TEST_ASSERT_EQUAL(0, client_lead(client, "x"));
    TEST_ASSERT_EQUAL(-1, client_save(client, &persistent));
    TEST_ASSERT_EQUAL(LINK_LEASED, client->status);
    TEST_ASSERT_EQUAL(0, client_follow(client));
    /* A bad image is not stored. */
    image[300] ^= 1;
    TEST_ASSERT_EQUAL(-1, client_send_image(client, TARGET_APP, image, length, &kept, NULL, NULL));
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status_now().state);
    board_start(&board);
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status_now().state);
    done();
}

/* ------------------------------------------------------------------------------------ telemetry */

typedef struct {
    uint32_t count, tick, gaps, every;
    double first_q, last_q;
} heard_t;

static void hear(void *user, const sample_in_t *sample) {
    heard_t *heard = user;
    /* The count of ticks to the next sample restarts with a motion, so one interval may be
     * shorter. */
    if (heard->count > 0 && sample->tick > heard->tick + heard->every)
        heard->gaps++;
    if (heard->count == 0)
        heard->first_q = sample->value[1];
    heard->last_q = sample->value[1];
    TEST_ASSERT_TRUE(sample->value[0] == (double)sample->tick);
    heard->tick = sample->tick;
    heard->count++;
}

static motion_t to_target(float q0, float q1) {
    motion_t motion = {.kind = MOTION_QUINTIC, .duration_s = 1, .value = {q0, q1}};
    return motion;
}

static void test_motion_with_telemetry(void) {
    static const char *const names[] = {"tick", "q", "tau"};
    heard_t heard = {.every = 5};
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_stream(client, names, 3, 5, 100, hear, &heard));
    TEST_ASSERT_EQUAL(1, client_value_of(client, "q"));
    TEST_ASSERT_EQUAL(3, client_value_of(client, "tau"));
    char title[100];
    const char *unit;
    client_value_title(client, 2, title, sizeof title, &unit);
    TEST_ASSERT_EQUAL_STRING("q[elbow]", title);
    TEST_ASSERT_EQUAL_STRING("rad", unit);
    const motion_t motion = to_target(0.5f, -0.4f);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    for (int i = 0; i < 2000 && heard.count < 300; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(300, heard.count);
    TEST_ASSERT_EQUAL_UINT32(0, heard.gaps);
    TEST_ASSERT_EQUAL_UINT32(0, client->lost_total);
    TEST_ASSERT_EQUAL_UINT64(0, client->torn);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, heard.first_q);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.5, heard.last_q);
    /* While the outputs are on, requests that need them off are refused. */
    bool persistent;
    TEST_ASSERT_EQUAL(-1, client_save(client, &persistent));
    TEST_ASSERT_EQUAL(LINK_STATE, client->status);
    TEST_ASSERT_EQUAL(
        -1, client_send_image(client, TARGET_APP, image, length, &persistent, NULL, NULL));
    TEST_ASSERT_EQUAL(LINK_STATE, client->status);
    const motion_t beyond = to_target(9, 0);
    TEST_ASSERT_EQUAL(-1, client_motion(client, &beyond));
    TEST_ASSERT_EQUAL(APP_E_POSITION, client->reason);
    TEST_ASSERT_NOT_NULL(strstr(client->error.what, "shoulder"));
    TEST_ASSERT_EQUAL(0, client_stop(client, true));
    done();
}

/*
 * Without credit, or when the line is full, samples are dropped and counted; the tick never waits.
 */
static void test_drops_are_counted(void) {
    static const char *const names[] = {"tick", "q"};
    heard_t heard = {.every = 2};
    uint32_t counter[COUNTERS];
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_stream(client, names, 2, 2, 1000000, hear, &heard));
    for (int i = 0; i < 100; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_EQUAL_UINT32(0, client->lost_total);
    board_tick(&board, 2000); /* while the background does not run */
    for (int i = 0; i < 100; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_EQUAL_UINT32(1, heard.gaps);
    TEST_ASSERT_UINT32_WITHIN(4, 1000 - APP_SAMPLES, client->lost_total);
    TEST_ASSERT_EQUAL(0, client_counters(client, counter));
    TEST_ASSERT_EQUAL_UINT32(client->lost_total, counter[COUNTER_DROPPED]);
    board.server.telemetry.credit = 3;
    client->window = 0; /* the client gives no more credit */
    for (int i = 0; i < 100; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_EQUAL(0, client_counters(client, counter));
    TEST_ASSERT_GREATER_THAN_UINT32(client->lost_total, counter[COUNTER_DROPPED]);
    TEST_ASSERT_EQUAL_UINT32((uint32_t)client->samples, counter[COUNTER_SAMPLES]);
    done();
}

/* Samples with more values than fit a frame are sent in several pieces with the same tick. */
static void test_long_samples_in_pieces(void) {
    const telemetry_budget_t one = telemetry_budget(60, 248, 1000, 1, 921600);
    const telemetry_budget_t two = telemetry_budget(61, 248, 1000, 1, 921600);
    TEST_ASSERT_EQUAL_UINT32(60 * 4 + 17, one.bytes);
    TEST_ASSERT_EQUAL_UINT32(61 * 4 + 34, two.bytes);
    const char *names[SAMPLE_FIELDS];
    heard_t heard = {.every = 4};
    open_board();
    apply();
    for (uint32_t i = 0; i < SAMPLE_FIELDS; i++)
        names[i] = sample_table[i].name;
    TEST_ASSERT_EQUAL(0, client_stream(client, names, SAMPLE_FIELDS, 4, 100, hear, &heard));
    for (int i = 0; i < 200; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_GREATER_THAN_UINT32(10, heard.count);
    TEST_ASSERT_EQUAL_UINT32(0, heard.gaps);
    done();
}

static void test_budget_is_refused_with_its_arithmetic(void) {
    const char *names[SAMPLE_FIELDS];
    float now;
    open_board();
    apply();
    for (uint32_t i = 0; i < SAMPLE_FIELDS; i++)
        names[i] = sample_table[i].name;
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_rate_hz, 0, 1000, &now));
    TEST_ASSERT_EQUAL(-1, client_stream(client, names, SAMPLE_FIELDS, 1, 100, NULL, NULL));
    uint32_t values = 0;
    for (uint32_t i = 0; i < SAMPLE_FIELDS; i++)
        values += sample_table[i].per_joint ? 2 : 1;
    const telemetry_budget_t b = telemetry_budget(values, PROTOCOL_PAYLOAD_MAX, 1000, 1, 921600);
    char expected[PORT_TEXT];
    snprintf(expected, sizeof expected,
             "%u bytes per sample x 10 bits x 1000 ticks/s / 1 ticks per sample = %u bit/s, but "
             "921600 baud leave 829440 bit/s for samples",
             (unsigned)b.bytes, (unsigned)b.needed);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(client->error.what, expected), client->error.what);
    /* The interval that the message proposes works, and one tick less does not. */
    unsigned every = 0;
    TEST_ASSERT_EQUAL(1, sscanf(client->error.cure, "take one sample in %u ticks", &every));
    TEST_ASSERT_EQUAL(-1, client_stream(client, names, SAMPLE_FIELDS, every - 1, 9, NULL, NULL));
    TEST_ASSERT_EQUAL(0, client_stream(client, names, SAMPLE_FIELDS, every, 9, NULL, NULL));
    done();
}

/*
 * Changes after the choice of fields count, too: faster ticks and denser samples are checked
 * against the capacity of the line. The choice that the board describes and stores is the one in
 * use.
 */
static void test_budget_holds_after_the_choice(void) {
    const char *names[SAMPLE_FIELDS];
    float now, before;
    bool saved;
    unsigned every = 0;
    uint8_t choice[4] = {TOPIC_CHOICE};
    open_board();
    apply();
    for (uint32_t i = 0; i < SAMPLE_FIELDS; i++)
        names[i] = sample_table[i].name;
    /* Without a choice of fields there is no limit. */
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_rate_hz, 0, 8000, &now));
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_rate_hz, 0, 1000, &now));
    TEST_ASSERT_EQUAL(-1, client_stream(client, names, SAMPLE_FIELDS, 1, 9, NULL, NULL));
    TEST_ASSERT_EQUAL(1, sscanf(client->error.cure, "take one sample in %u ticks", &every));
    TEST_ASSERT_EQUAL(0, client_stream(client, names, SAMPLE_FIELDS, every, 9, NULL, NULL));
    static const struct {
        uint32_t parameter;
        float value;
    } worse[] = {{PARAMETER_sample_every, 1}, {PARAMETER_rate_hz, 8000}};
    for (unsigned i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL(0, client_get(client, worse[i].parameter, 0, &before, &saved));
        TEST_ASSERT_EQUAL(-1, client_set(client, worse[i].parameter, 0, worse[i].value, &now));
        TEST_ASSERT_EQUAL(LINK_BUDGET, client->status);
        TEST_ASSERT_NOT_NULL(strstr(client->error.cure, "monitor --every"));
        TEST_ASSERT_EQUAL(0, client_get(client, worse[i].parameter, 0, &now, &saved));
        TEST_ASSERT_TRUE(now == before);
    }
    TEST_ASSERT_EQUAL(-1, client_set(client, PARAMETER_sample_every, 0, (float)NAN, &now));
    TEST_ASSERT_EQUAL(APP_E_RANGE, client->reason);
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_sample_every, 0, 50, &now));
    TEST_ASSERT_EQUAL(0, client_ask(client, ASK_DESCRIBE, choice, sizeof choice));
    TEST_ASSERT_EQUAL_UINT32(50, get_u32(client->reply + 2));
    /* With a sample every 50 ticks there is room. */
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_rate_hz, 0, 8000, &now));
    TEST_ASSERT_EQUAL(-1, client_set(client, PARAMETER_sample_every, 0, (float)every, &now));
    TEST_ASSERT_EQUAL(LINK_BUDGET, client->status);
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_sample_every, 0, 0, &now)); /* no samples */
    done();
}

/* A second client connects while the samples of the first one are streaming. */
static void test_starts_while_streaming(void) {
    static const char *const names[] = {"tick", "q"};
    heard_t heard = {.every = 1};
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_stream(client, names, 2, 1, 1000000, hear, &heard));
    for (int i = 0; i < 10; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    client->choices = 0; /* the first client disappears silently */
    done();
    TEST_ASSERT_GREATER_THAN_UINT32(5, heard.count);
    TEST_ASSERT_GREATER_THAN_UINT32(0, board.server.telemetry.credit);
    client = board_client(&board);
    TEST_ASSERT_NOT_NULL(client);
    TEST_ASSERT_EQUAL(0, client_discover(client));
    TEST_ASSERT_EQUAL_STRING("testarm", client->device.robot);
    TEST_ASSERT_TRUE(status_now().flags & STATUS_TELEMETRY);
    TEST_ASSERT_EQUAL(0, client_stream_end(client));
    TEST_ASSERT_EQUAL_UINT32(0, board.server.telemetry.credit);
    /* The choice of the first client remains, but no samples are sent. */
    TEST_ASSERT_TRUE(status_now().flags & STATUS_TELEMETRY);
    done();
}

static void choice_is(const char *const *names, uint32_t count, uint32_t ticks) {
    uint8_t chosen[256];
    uint32_t choices, every;
    TEST_ASSERT_EQUAL(0, client_choice(client, chosen, &choices, &every));
    TEST_ASSERT_EQUAL_UINT32(count, choices);
    TEST_ASSERT_EQUAL_UINT32(ticks, every);
    for (uint32_t i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_STRING(names[i], client->device.field[chosen[i]].name);
    TEST_ASSERT_EQUAL_UINT32(0, board.server.telemetry.credit);
}

/*
 * One client leaves its choice of fields on the board. Other clients stream their own fields and
 * restore that choice when they end the stream or disconnect. A SAVE then stores it.
 */
static void test_choice_outlives_its_stream(void) {
    static const char *const kept[] = {"volt", "tick"}, *const own[] = {"q"};
    bool persistent;
    open_board();
    apply();
    choice_is(NULL, 0, 0);
    TEST_ASSERT_EQUAL(0, client_stream(client, own, 1, 3, 100, NULL, NULL));
    TEST_ASSERT_EQUAL(0, client_stream_end(client));
    choice_is(NULL, 0, 0);
    TEST_ASSERT_EQUAL(0, client_stream(client, kept, 2, 7, 100, NULL, NULL));
    TEST_ASSERT_EQUAL(0, client_stream_keep(client));
    choice_is(kept, 2, 7);
    for (int i = 0; i < 2; i++) {
        done();
        client = board_client(&board);
        TEST_ASSERT_NOT_NULL(client);
        TEST_ASSERT_EQUAL(0, client_stream(client, own, 1, 3, 100, NULL, NULL));
        if (i == 0) {
            TEST_ASSERT_EQUAL(0, client_stream_end(client));
            choice_is(kept, 2, 7);
        }
    }
    done();
    client = board_client(&board);
    TEST_ASSERT_EQUAL(0, client_discover(client));
    choice_is(kept, 2, 7);
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    TEST_ASSERT_EQUAL(0, client_reset(client));
    choice_is(kept, 2, 7);
    apply(); /* a new arm starts without a choice */
    choice_is(NULL, 0, 0);
    done();
}

/* ----------------------------------------------------------------------------------- a bad line */

/*
 * In both directions two bytes in a thousand are lost, changed or doubled. Everything still works,
 * and nothing is done twice.
 */
static void test_damaged_line(void) {
    static const char *const names[] = {"tick", "q"};
    heard_t heard = {.every = 20};
    open_board();
    board.damage = 500;
    apply();
    TEST_ASSERT_EQUAL_HEX32(crc32_add(0, image, length), status_now().image_crc);
    const uint32_t loads = board.app.loads;
    TEST_ASSERT_EQUAL_UINT32(1, loads);
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.05f};
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    const uint32_t room = app_point_credits(&board.app);
    board.ticks_per_poll = 0;
    const float point[2] = {0, 0};
    for (uint32_t i = 1; i <= 10; i++) {
        uint32_t credits;
        TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point, 1, &credits), client->error.what);
        TEST_ASSERT_LESS_THAN_UINT32(room, credits);
        TEST_ASSERT_EQUAL_UINT32(credits, app_point_credits(&board.app));
    }
    const uint32_t left = app_point_credits(&board.app);
    TEST_ASSERT_UINT32_WITHIN(3, room - 10, left); /* the first point is stored three times */
    board.ticks_per_poll = 1;
    TEST_ASSERT_EQUAL(0, client_stop(client, true));
    TEST_ASSERT_EQUAL(0, client_stream(client, names, 2, 20, 1000, hear, &heard));
    for (int i = 0; i < 3000; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_GREATER_THAN_UINT64(0, client->repeated);
    TEST_ASSERT_GREATER_THAN_UINT64(0, client->torn);
    TEST_ASSERT_GREATER_THAN_UINT32(100, heard.count);
    harness_note_number("requests repeated over the damaged line", (int64_t)client->repeated);
    done();
}

/* The board still answers after noise of any kind between frames. */
static void test_noise(void) {
    open_board();
    apply();
    for (uint32_t i = 0; i < NOISE; i++) {
        board.to.bytes[board.to.head++ % BOARD_LINE] = (uint8_t)board_random(&board);
        if (i % 1000 == 999) {
            server_poll(&board.server);
            board_tick(&board, 1);
            board.from.tail = board.from.head;
        }
    }
    server_poll(&board.server);
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status_now().state);
    TEST_ASSERT_GREATER_THAN_UINT32(NOISE / 1000, board.server.reader.stats.damaged);
    harness_note_number("bytes of noise into the server", NOISE);
    done();
}

static void put_frame(uint8_t *frame, size_t size) {
    const size_t n = frame_close(frame, size);
    for (size_t k = 0; k < n; k++)
        board.to.bytes[board.to.head++ % BOARD_LINE] = frame[k];
}

/*
 * Sends a rate and a motion together. The main program runs between the two requests and sets the
 * timer of the tick before the loop is closed.
 */
static void test_one_request_at_a_time(void) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
    uint8_t *content = frame + FRAME_WRITE_AT;
    open_board();
    apply();
    board.from.tail = board.from.head;
    content[0] = ASK_SET;
    content[1] = 100;
    content[2] = PARAMETER_rate_hz;
    content[3] = 0;
    put_f32(content + 4, 500);
    put_frame(frame, 8);
    content[0] = ASK_MOTION;
    content[1] = 101;
    put_u32(content + 2, 0); /* no lease */
    content[6] = MOTION_HOLD;
    put_f32(content + 7, 0);
    put_frame(frame, 11);
    TEST_ASSERT_TRUE(server_poll(&board.server));
    TEST_ASSERT_EQUAL_FLOAT(500, board.app.parameter[PARAMETER_rate_hz]);
    TEST_ASSERT_EQUAL_UINT32(0, board.app.closing);
    TEST_ASSERT_TRUE(server_poll(&board.server));
    TEST_ASSERT_EQUAL_UINT32(1, board.app.closing);
    TEST_ASSERT_FALSE(server_poll(&board.server));
    board_tick(&board, 1);
    (void)client_stop(client, true);
    done();
}

/* Sends LEASE for a client with this token. */
static int lease(uint32_t token, uint32_t ms) {
    uint8_t request[8] = {0};
    put_u32(request, token);
    put_u16(request + 4, ms);
    request[6] = 'x';
    return client_ask(client, ASK_LEASE, request, sizeof request);
}

/* Everybody may look and stop; only the holder of the lease may move, place, override and release,
 * and nobody may replace the robot or reset the board under it. */
static void test_one_commander(void) {
    const motion_t hold = {.kind = MOTION_HOLD};
    const float q[DYN_MAX_JOINTS] = {0};
    float now;
    bool kept;
    char leader[CLIENT_NAME];
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_leader(client, leader));
    TEST_ASSERT_EQUAL_STRING("", leader);
    TEST_ASSERT_EQUAL(0, lease(77, 1000));
    TEST_ASSERT_EQUAL(0, client_leader(client, leader));
    TEST_ASSERT_EQUAL_STRING("x", leader);
    TEST_ASSERT_EQUAL(-1, client_motion(client, &hold));
    TEST_ASSERT_NOT_NULL(strstr(client->error.what, "`x` moves the arm"));
    TEST_ASSERT_EQUAL(-1, client_place(client, q));
    TEST_ASSERT_EQUAL(APP_E_LEASE, client->reason);
    TEST_ASSERT_EQUAL(-1, client_stop(client, true));
    TEST_ASSERT_EQUAL(APP_E_LEASE, client->reason);
    TEST_ASSERT_EQUAL(0, client_stop(client, false));
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kd, 0, 2, &now));
    TEST_ASSERT_EQUAL(-1, client_send_image(client, TARGET_APP, image, length, &kept, NULL, NULL));
    TEST_ASSERT_EQUAL(LINK_LEASED, client->status);
    TEST_ASSERT_EQUAL(-1, client_reset(client));
    TEST_ASSERT_EQUAL(LINK_LEASED, client->status);
    board_tick(&board, 1002); /* it lapses */
    TEST_ASSERT_EQUAL(0, client_motion(client, &hold));
    TEST_ASSERT_EQUAL(-1, lease(77, 1000));
    TEST_ASSERT_EQUAL(APP_E_LEASE, client->reason);
    board_tick(&board, 2);
    TEST_ASSERT_EQUAL(APP_STATE_RUNNING, status_now().state);
    TEST_ASSERT_EQUAL(0, client_off(client));
    done();
}

/* The robot was sent before somebody took the lease: it does not replace the one under him. */
static void test_lease_between_the_pieces_of_an_image(void) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX] = {TARGET_APP};
    open_board();
    apply();
    put_u32(request + 1, length);
    put_u32(request + 5, crc32_add(0, image, length));
    TEST_ASSERT_EQUAL(0, client_ask(client, ASK_IMAGE_BEGIN, request, 9));
    const uint32_t most = client->device.payload - 4u;
    for (uint32_t at = 0; at < length; at += most) {
        const uint32_t n = length - at < most ? length - at : most;
        put_u32(request, at);
        memcpy(request + 4, image + at, n);
        TEST_ASSERT_EQUAL(0, client_ask(client, ASK_IMAGE_DATA, request, 4 + n));
    }
    const uint32_t loads = board.app.loads;
    TEST_ASSERT_EQUAL(0, lease(77, 1000));
    request[0] = TARGET_APP;
    TEST_ASSERT_EQUAL(-1, client_ask(client, ASK_IMAGE_END, request, 1));
    TEST_ASSERT_EQUAL(LINK_LEASED, client->status);
    TEST_ASSERT_EQUAL_UINT32(loads, board.app.loads);
    done();
}

/* A client that has lost its lease to another one can still stop the arm. */
static void test_everybody_stops(void) {
    const motion_t move = {.kind = MOTION_QUINTIC, .duration_s = 5, .value = {0.5f}};
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_motion(client, &move));
    board_tick(&board, 10);
    board.app.lease.token = 77;
    client->renewed_ms -= 1000; /* it is time to renew it */
    TEST_ASSERT_EQUAL(0, client_stop(client, false));
    board_tick(&board, 500);
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, board.app.safety.state); /* the brakes hold it */
    done();
}

/* A motion of an arm that is damped holds it first. */
static void test_a_motion_of_a_damped_arm(void) {
    const motion_t move = {.kind = MOTION_QUINTIC, .value = {0.01f}};
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_discover_robot(client));
    board.app.parameter[PARAMETER_brakes] = 0;
    board.app.control[board.app.now].brakes = 0;
    board.app.safety.state = APP_STATE_DAMPING;
    board.app.safety.stop = APP_STOP_DAMP;
    board_tick(&board, 5);
    TEST_ASSERT_EQUAL(APP_STATE_DAMPING, status_now().state);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &move), client->error.what);
    TEST_ASSERT_EQUAL(APP_STATE_RUNNING, status_now().state);
    /* a refusal for another reason stays what it is */
    TEST_ASSERT_EQUAL(-1, client_motion(client, &move));
    TEST_ASSERT_EQUAL(APP_E_STATE, client->reason);
    TEST_ASSERT_NOT_NULL(strstr(client->error.what, "the present state of the board"));
    TEST_ASSERT_EQUAL(0, client_off(client));
    done();
}

/* No command releases the real arm, whatever it believed when it began. */
static void test_commands_release_the_simulated_arm_only(void) {
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_off(client));
    board.app.parameter[PARAMETER_arm] = ARM_REAL;
    TEST_ASSERT_EQUAL(-1, client_off(client));
    TEST_ASSERT_NOT_NULL(strstr(client->error.what, "simulated arm only"));
    TEST_ASSERT_EQUAL_UINT32(0, board.app.leaving);
    done();
}

/* Overrides are told, end with the lease, and are not saved; what is stored is not written again. */
static void test_overrides_over_the_link(void) {
    device_override_t o;
    float now;
    bool saved, persistent;
    open_board();
    apply();
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    const uint32_t sequence = status_now().sequence;
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    TEST_ASSERT_EQUAL_UINT32(sequence, status_now().sequence);
    TEST_ASSERT_EQUAL(0, client_override(client, PARAMETER_guard_speed, 0, 9, &now));
    TEST_ASSERT_EQUAL_FLOAT(9, now);
    TEST_ASSERT_EQUAL(0, client_overridden(client, 0, &o));
    TEST_ASSERT_EQUAL(PARAMETER_guard_speed, o.parameter);
    TEST_ASSERT_EQUAL_FLOAT(1.5f, o.beneath);
    TEST_ASSERT_EQUAL(1, client_overridden(client, 1, &o));
    TEST_ASSERT_EQUAL(STATUS_OVERRIDDEN | STATUS_WEAKER,
                      status_now().flags & (STATUS_OVERRIDDEN | STATUS_WEAKER));
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_guard_speed, 0, &now, &saved));
    TEST_ASSERT_TRUE(now == 9 && saved); /* the lasting value is the stored one */
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    TEST_ASSERT_EQUAL_UINT32(sequence, status_now().sequence);
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kd, 0, 2, &now));
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    TEST_ASSERT_EQUAL_UINT32(sequence + 1, status_now().sequence);
    TEST_ASSERT_EQUAL(0, client_follow(client));
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_guard_speed, 0, &now, &saved));
    TEST_ASSERT_TRUE(now == 1.5f && saved);
    board_start(&board);
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_guard_speed, 0, &now, &saved));
    TEST_ASSERT_EQUAL_FLOAT(1.5f, now);
    done();
}

/* Sends a request as it stands, with a sequence number of the caller's choice, and returns the status
 * of its answer. */
static int send_raw(link_message_t message, uint8_t sequence, const void *payload, size_t size) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
    uint8_t *content = frame + FRAME_WRITE_AT;
    content[0] = (uint8_t)message;
    content[1] = sequence;
    if (size > 0)
        memcpy(content + PROTOCOL_HEAD, payload, size);
    put_frame(frame, PROTOCOL_HEAD + size);
    client->waiting = true;
    client->wait_message = (uint8_t)(message | PROTOCOL_REPLY);
    client->wait_sequence = sequence;
    for (int i = 0; i < 10 && client->waiting; i++)
        TEST_ASSERT_GREATER_OR_EQUAL(0, client_poll(client, 0));
    TEST_ASSERT_FALSE(client->waiting);
    return client->status;
}

/*
 * A once-request that comes again is answered again and not done again. After any other request it
 * is a new one, even if its sequence number and its content are the same: the sequence numbers of a
 * long session come again.
 */
static void test_once_ends_with_the_next_request(void) {
    static const uint8_t other[] = {ASK_STATUS, ASK_CREDIT, 99 /* unknown */};
    uint8_t samples[4];
    open_board();
    apply();
    board.server.telemetry.fields = 1; /* so that credit counts */
    board.ticks_per_poll = 0;          /* and no sample uses it up */
    put_u32(samples, 10);
    for (unsigned i = 0; i < sizeof other; i++) {
        board.server.telemetry.credit = 0;
        for (int k = 0; k < 3; k++)
            TEST_ASSERT_EQUAL(LINK_OK, send_raw(ASK_CREDIT, 7, samples, sizeof samples));
        TEST_ASSERT_EQUAL_UINT32(10, board.server.telemetry.credit);
        const bool pays = other[i] == ASK_CREDIT;
        (void)send_raw(other[i], 8, samples, pays ? sizeof samples : 0);
        TEST_ASSERT_EQUAL_UINT32(pays ? 20 : 10, board.server.telemetry.credit);
        TEST_ASSERT_EQUAL(LINK_OK, send_raw(ASK_CREDIT, 7, samples, sizeof samples));
        TEST_ASSERT_EQUAL_UINT32(pays ? 30 : 20, board.server.telemetry.credit);
        (void)send_raw(ASK_STATUS, 9, NULL, 0);
    }
    done();
}

/* 256 requests after a SAVE the same sequence number comes again, in a session that only reads in
 * between. */
static void test_save_again_after_256_requests(void) {
    float value;
    bool saved = true, persistent;
    open_board();
    apply();
    for (int k = 1; k <= 3; k++) {
        const uint8_t sequence = client->next;
        TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
        TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 0, (float)k, &value));
        while (client->next != sequence)
            TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &saved));
        TEST_ASSERT_FALSE(saved);
        TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
        TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 0, &value, &saved));
        TEST_ASSERT_TRUE(value == (float)k && saved);
    }
    done();
}

/* A motion that needs values is refused without them; a target of zeros would be a guess. */
static void test_motion_without_values(void) {
    open_board();
    apply();
    for (uint32_t kind = 0; kind < MOTIONS; kind++) {
        uint8_t request[9] = {0, 0, 0, 0, (uint8_t)kind}; /* no lease */
        put_f32(request + 5, 1);
        const bool needs = kind != MOTION_HOLD && kind != MOTION_POINTS;
        (void)client_ask(client, ASK_MOTION, request, sizeof request);
        TEST_ASSERT_EQUAL(needs ? LINK_SIZE : LINK_OK, client->status);
        if (needs)
            TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state);
        TEST_ASSERT_EQUAL(0, client_off(client));
    }
    uint8_t three[9 + 3 * 4] = {0, 0, 0, 0, MOTION_QUINTIC}; /* the arm has two joints */
    put_f32(three + 5, 1);
    (void)client_ask(client, ASK_MOTION, three, sizeof three);
    TEST_ASSERT_EQUAL(LINK_SIZE, client->status);
    (void)client_ask(client, ASK_PLACE, three, 4);
    TEST_ASSERT_EQUAL(LINK_SIZE, client->status);
    (void)client_ask(client, ASK_PLACE, three, 4 + 3 * 4);
    TEST_ASSERT_EQUAL(LINK_SIZE, client->status);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state);
    done();
}

/* Position limits that are exchanged or equal would be none. Two zeros are none on purpose. */
static void test_position_limits_stay_in_order(void) {
    static const struct {
        uint32_t parameter;
        float value;
        int status;
    } steps[] = {
        /* from -3 .. 3 */
        {PARAMETER_position_lower, 3, -1},          {PARAMETER_position_lower, 4, -1},
        {PARAMETER_position_upper, -3, -1},         {PARAMETER_position_upper, 1e38f, -1},
        {PARAMETER_position_upper, (float)NAN, -1}, {PARAMETER_position_upper, 6, 0},
        {PARAMETER_position_lower, 4, 0},           {PARAMETER_position_upper, 0, -1},
        {PARAMETER_position_lower, 0, 0},           {PARAMETER_position_upper, 0, 0},
        {PARAMETER_position_upper, -1, -1},         {PARAMETER_position_lower, -2, 0},
        {PARAMETER_position_upper, -1, 0},
    };
    float value;
    open_board();
    apply();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        TEST_ASSERT_EQUAL(steps[i].status,
                          client_set(client, steps[i].parameter, 1, steps[i].value, &value));
        if (steps[i].status != 0)
            TEST_ASSERT_EQUAL_INT(APP_E_RANGE, client->reason);
    }
    done();
}

/* If one point of a frame is refused, none is taken, and a corrected frame goes on from the same
 * point. */
static void test_points_all_or_none(void) {
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.05f};
    uint32_t credits, before;
    float point[4][2] = {{0}};
    open_board();
    apply();
    board.ticks_per_poll = 0;
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    before = app_point_credits(&board.app);
    point[3][1] = 2; /* 40 rad/s */
    TEST_ASSERT_EQUAL(-1, client_points(client, point[0], 4, &credits));
    TEST_ASSERT_EQUAL(APP_E_VELOCITY, client->reason);
    TEST_ASSERT_EQUAL_UINT32(before, credits);
    point[3][1] = 0;
    TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point[0], 4, &credits), client->error.what);
    TEST_ASSERT_EQUAL_UINT32(before - 4, credits);
    point[3][1] = (float)NAN;
    TEST_ASSERT_EQUAL(-1, client_points(client, point[0], 4, &credits));
    TEST_ASSERT_EQUAL(APP_E_NUMBER, client->reason);
    TEST_ASSERT_EQUAL_UINT32(before - 4, credits);
    TEST_ASSERT_EQUAL(0, client_stop(client, true));
    done();
}

/*
 * Valid frames with any content are answered, and afterwards the board still works.
 */
static void test_strange_requests(void) {
    uint8_t frame[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
    uint32_t answers = 0;
    open_board();
    apply();
    for (uint32_t i = 0; i < STRANGE_REQUESTS; i++) {
        uint8_t *content = frame + FRAME_WRITE_AT;
        const size_t size =
            PROTOCOL_HEAD + board_random(&board) % (i % 7 == 0 ? PROTOCOL_PAYLOAD_MAX : 13);
        for (size_t k = 0; k < size; k++)
            content[k] = (uint8_t)board_random(&board);
        content[0] = (uint8_t)(board_random(&board) % 28);
        if (content[0] == ASK_RESET && i % 50 != 0)
            content[0] = ASK_STATUS;
        put_frame(frame, size);
        server_poll(&board.server);
        board_tick(&board, i % 3);
        answers += board.from.head != board.from.tail;
        board.from.tail = board.from.head;
    }
    TEST_ASSERT_EQUAL_UINT32(STRANGE_REQUESTS, answers);
    (void)client_stop(client, true);
    board_tick(&board, 5);
    apply();
    TEST_ASSERT_EQUAL(APP_STATE_IDLE, status_now().state);
    harness_note_number("strange requests", STRANGE_REQUESTS);
    done();
}

static void test_crash_record(void) {
    uint8_t *bytes;
    size_t size;
    open_board();
    TEST_ASSERT_EQUAL(0, client_crash(client, &bytes, &size, true));
    TEST_ASSERT_NULL(bytes);
    board.crash_size = sizeof board.crash;
    memset(board.crash, 0x5a, sizeof board.crash);
    TEST_ASSERT_TRUE(status_now().flags & STATUS_CRASHED);
    TEST_ASSERT_EQUAL(0, client_crash(client, &bytes, &size, true));
    TEST_ASSERT_EQUAL(sizeof board.crash, size);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(board.crash, bytes, size);
    free(bytes);
    TEST_ASSERT_FALSE(status_now().flags & STATUS_CRASHED);
    done();
}

TEST_LIST_BEGIN
TEST(test_hello_and_empty_board)
TEST(test_texts_of_a_hostile_board)
TEST(test_discovery)
TEST(test_image_runs_and_is_read_back)
TEST(test_bad_image_changes_nothing)
TEST(test_parameters)
TEST(test_save_survives_reset)
TEST(test_names_that_the_firmware_does_not_have_are_skipped)
TEST(test_set_of_another_version_is_refused)
TEST(test_power_cut_while_saving)
TEST(test_image_in_place)
TEST(test_motion_with_telemetry)
TEST(test_drops_are_counted)
TEST(test_long_samples_in_pieces)
TEST(test_budget_is_refused_with_its_arithmetic)
TEST(test_budget_holds_after_the_choice)
TEST(test_starts_while_streaming)
TEST(test_choice_outlives_its_stream)
TEST(test_damaged_line)
TEST(test_noise)
TEST(test_one_request_at_a_time)
TEST(test_one_commander)
TEST(test_lease_between_the_pieces_of_an_image)
TEST(test_everybody_stops)
TEST(test_a_motion_of_a_damped_arm)
TEST(test_commands_release_the_simulated_arm_only)
TEST(test_overrides_over_the_link)
TEST(test_once_ends_with_the_next_request)
TEST(test_save_again_after_256_requests)
TEST(test_motion_without_values)
TEST(test_position_limits_stay_in_order)
TEST(test_points_all_or_none)
TEST(test_strange_requests)
TEST(test_crash_record)
TEST_LIST_END
