/*
 * Tests on the host how the 8 KB board handles images: the server of the firmware as built for that
 * board (fixed point, no RAM for an image) runs over the real flash driver of the F100 with a model
 * of its flash controller. The flash is mapped at its own addresses, so that the arm is used in
 * place as on the chip. The emulator cannot show this, because its flash cannot be written.
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "test/support/harness.h"

#include <string.h>
#include <sys/mman.h>

#include "firmware/params/bytes.h"
#include "firmware/medium.h"
#include "hal/flash.h"
#include "hal/host/host.h"
#include "test/support/control_arm.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/flash_f1_model.h"
#include "test/support/link_board.h"

static board_t host;
static client_t *client;
static uint8_t arm[2][CONTROL_ARM_ROOM]; /* the same arm, with motors and in torque mode */
static uint32_t length[2];
enum { MOTORS, TORQUES };

static uint32_t *flash_memory(void) {
    static void *memory;
    if (memory == NULL) {
        memory = mmap((void *)(uintptr_t)SLOT0, 2 * SLOT, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    TEST_ASSERT_EQUAL_PTR((void *)(uintptr_t)SLOT0, memory);
    return memory;
}

void setUp(void);
void setUp(void) {
    fake_clock = (clock_info_t){.core_hz = 24000000};
    flash_f1_start(flash_memory());
    memset(flash_f1.memory, 0xFF, 2 * SLOT);
    for (int motors = 0; motors < 2; motors++) {
        size_t size;
        const uint8_t *image = control_arm_image(&size, motors);
        TEST_ASSERT_NOT_NULL(image);
        memcpy(arm[motors ? MOTORS : TORQUES], image, size);
        length[motors ? MOTORS : TORQUES] = (uint32_t)size;
    }
    board_make(&host);
    host.port.medium = flash_medium();
    host.port.flags = HELLO_PERSISTENT | HELLO_STORE | HELLO_IN_PLACE;
    host.port.image = host.port.incoming = NULL;
    host.port.image_room = 0;
    for (unsigned i = 0; i < STORE_SLOTS; i++)
        host.port.slot[i] = (const uint8_t *)(uintptr_t)flash_geometry()->slot[i].address;
    board_start(&host);
    client = board_client(&host);
    TEST_ASSERT_NOT_NULL(client);
    client->tries = 3;
}

void tearDown(void);
void tearDown(void) {
    client_close(client);
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, flash_f1.wrong, "an access that the manual forbids");
    TEST_ASSERT_EQUAL_UINT(0, host_irq.lock_depth);
}

static int send(unsigned which) {
    bool kept = false;
    const int status =
        client_send_image(client, TARGET_APP, arm[which], length[which], &kept, NULL, NULL);
    TEST_ASSERT_TRUE(status != 0 || kept);
    return status;
}

static device_status_t status_now(void) {
    device_status_t status;
    TEST_ASSERT_EQUAL_MESSAGE(0, client_status(client, &status), client->error.what);
    return status;
}

static bool in_flash(const void *address, uint32_t bytes) {
    const uintptr_t at = (uintptr_t)address;
    return at >= SLOT0 && at + bytes <= SLOT1 + SLOT;
}

/* True if the arm that the tick uses lies in the flash, within the image that the server reports as
 * running. */
static bool runs(unsigned which) {
    const uint8_t *image = host.server.running, *used = (const uint8_t *)host.app.arm;
    return status_now().state == APP_STATE_IDLE && host.server.running_length == length[which] &&
           in_flash(image, length[which]) && memcmp(image, arm[which], length[which]) == 0 &&
           used > image && used < image + length[which];
}

static float kp_now(void) {
    float value;
    bool saved;
    TEST_ASSERT_EQUAL(0, client_get(client, PARAMETER_kp, 1, &value, &saved));
    return value;
}

/* ---------------------------------------------------------------------------------------- tests */

static void test_an_image_in_pieces_is_used_in_the_flash_and_stays(void) {
    const motion_t motion = {
        .kind = MOTION_QUINTIC, .duration_s = 1, .value = {0.2f, 0.2f, -0.2f, 0.1f, 0.1f, 0.1f}};
    app_status_t now;
    TEST_ASSERT_EQUAL_MESSAGE(0, APP_ARMS, "this board has no RAM for an arm");
    TEST_ASSERT_EQUAL(APP_STATE_UNCONFIGURED, status_now().state);
    for (unsigned turn = 0; turn < 4; turn++) { /* uses both slots twice */
        TEST_ASSERT_EQUAL_MESSAGE(0, send(turn % 2), client->error.what);
        TEST_ASSERT_TRUE(runs(turn % 2));
        TEST_ASSERT_EQUAL(turn + 1, status_now().sequence);
        board_start(&host);
        TEST_ASSERT_TRUE(runs(turn % 2));
        TEST_ASSERT_EQUAL(SOURCE_STORE, status_now().source);
    }
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    TEST_ASSERT_EQUAL(0, client_discover_robot(client));
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    board_tick(&host, 1100);
    app_status(&host.app, &now);
    TEST_ASSERT_EQUAL(APP_STATE_RUNNING, now.state);
    for (unsigned i = 0; i < now.joints; i++)
        TEST_ASSERT_FLOAT_WITHIN(0.01f, motion.value[i], now.q[i]);
}

/* Saving a parameter also writes the image into the other slot, and the tick then uses the arm
 * there. */
static void test_saving_moves_the_arm_to_the_other_slot(void) {
    float value;
    bool persistent;
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    const uint8_t *before = host.server.running;
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 1, 77, &value));
    TEST_ASSERT_EQUAL_MESSAGE(0, client_save(client, &persistent), client->error.what);
    TEST_ASSERT_TRUE(persistent && host.server.running != before && runs(MOTORS));
    TEST_ASSERT_EQUAL_FLOAT(77, kp_now());
    board_start(&host);
    TEST_ASSERT_TRUE(runs(MOTORS));
    TEST_ASSERT_EQUAL_FLOAT(77, kp_now());
}

/*
 * Saving uses the memory of the points. While a client has the lease, SAVE is refused and its points
 * stay; a motion without a lease that waits for more points is dropped. If the next tick would start
 * the motion, SAVE is refused, too.
 */
static void test_saving_ends_a_motion_that_has_not_begun(void) {
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.02f};
    const float point[CONTROL_ARM_JOINTS] = {0};
    uint32_t credits;
    bool persistent;
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    TEST_ASSERT_EQUAL(0, client_discover_robot(client));
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point, 1, &credits), client->error.what);
    TEST_ASSERT_EQUAL(-1, client_save(client, &persistent));
    TEST_ASSERT_EQUAL(LINK_LEASED, client->status);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point, 1, &credits), client->error.what);
    host.app.lease.left = host.app.lease.token = client->token = 0; /* it has ended */
    TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point, 1, &credits), client->error.what);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_save(client, &persistent), client->error.what);
    TEST_ASSERT_TRUE(runs(MOTORS));
    TEST_ASSERT_EQUAL(-1, client_points(client, point, 1, &credits));
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    host.ticks_per_poll = 0; /* the next tick would close the loop */
    while (!host.app.closing)
        TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point, 1, &credits), client->error.what);
    TEST_ASSERT_EQUAL(-1, client_save(client, &persistent));
    TEST_ASSERT_NOT_NULL(strstr(client->error.what, "the outputs are on"));
    board_tick(&host, 5);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, host.app.safety.state);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_points(client, point, 1, &credits), client->error.what);
    TEST_ASSERT_EQUAL(0, client_stop(client, true));
    board_tick(&host, 5);
}

/* A motion starts between two pieces of an image; then the flash is not written while the loop is
 * closed. */
static void test_no_writing_while_the_loop_is_closed(void) {
    const motion_t hold = {.kind = MOTION_HOLD};
    uint8_t begin[9] = {TARGET_APP}, piece[4 + 32] = {0};
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    TEST_ASSERT_EQUAL(0, client_discover_robot(client));
    put_u32(put_u32(begin + 1, length[TORQUES]), crc32_add(0, arm[TORQUES], length[TORQUES]));
    TEST_ASSERT_EQUAL(0, client_ask(client, ASK_IMAGE_BEGIN, begin, sizeof begin));
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &hold), client->error.what);
    memcpy(piece + 4, arm[TORQUES], sizeof piece - 4);
    const uint64_t before = flash_f1.operations;
    for (int ticks = 0; ticks < 2; ticks++) { /* first the loop is about to close, then it is
                                               * closed */
        TEST_ASSERT_EQUAL(-1, client_ask(client, ASK_IMAGE_DATA, piece, sizeof piece));
        TEST_ASSERT_NOT_NULL(strstr(client->error.what, "the outputs are on"));
        board_tick(&host, 1);
    }
    TEST_ASSERT_EQUAL_UINT64(before, flash_f1.operations);
    TEST_ASSERT_EQUAL(0, client_stop(client, true));
    board_tick(&host, 1);
    TEST_ASSERT_EQUAL(0, client_ask(client, ASK_IMAGE_DATA, piece, sizeof piece));
    TEST_ASSERT_TRUE(runs(MOTORS));
}

/* Returns the number of flash operations that writing the other arm takes. */
static uint64_t operations(void) {
    const uint64_t before = flash_f1.operations;
    TEST_ASSERT_EQUAL(0, send(TORQUES));
    return flash_f1.operations - before;
}

/* Long tests cut at every operation; others at the erasures, the first and last writes and some
 * between. */
static uint64_t next_cut(uint64_t at, uint64_t all) {
#ifdef TEST_LONG
    (void)all;
    return at + 1;
#else
    return at < 20 || at + 40 >= all ? at + 1 : at + 37;
#endif
}

/*
 * The power fails at the operations of writing an image that next_cut selects; afterwards the old
 * or the new image runs.
 */
static void test_power_cuts(void) {
    static uint8_t saved[2 * SLOT];
    uint32_t cuts = 0, kept = 0;
    float value;
    bool persistent;
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 1, 77, &value));
    TEST_ASSERT_EQUAL(0, client_save(client, &persistent));
    memcpy(saved, flash_f1.memory, sizeof saved);
    const uint64_t all = operations();
    for (uint64_t at = 0; at < all; at = next_cut(at, all)) {
        memcpy(flash_f1.memory, saved, sizeof saved);
        flash_f1_power_up(at);
        board_start(&host);
        TEST_ASSERT_TRUE(runs(MOTORS));
        TEST_ASSERT_EQUAL(-1, send(TORQUES));
        TEST_ASSERT_TRUE(flash_f1.dead);
        flash_f1_power_up(UINT64_MAX);
        board_start(&host);
        const bool old = runs(MOTORS);
        TEST_ASSERT_TRUE(old || runs(TORQUES));
        TEST_ASSERT_TRUE(!old || kp_now() == 77);
        cuts++;
        kept += old;
    }
    harness_note_number("operations of writing an image", (uint32_t)all);
    harness_note_number("power cuts", cuts);
    harness_note_number("of them with the old set afterwards", kept);
    TEST_ASSERT_GREATER_THAN_UINT32(80, cuts);
}

/*
 * The flash controller reports errors from one operation on, until flash_f1_power_up; the board is
 * not restarted. It continues with the previous state, including parameters that are only in RAM,
 * or without an arm if none was loaded.
 */
static void test_errors_of_the_controller(void) {
    static uint8_t empty[2 * SLOT], saved[2 * SLOT];
    float value;
    memset(empty, 0xFF, sizeof empty);
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    memcpy(saved, flash_f1.memory, sizeof saved);
    const uint64_t all = operations();
    for (uint64_t at = 0; at < all; at = next_cut(at, all)) {
        for (unsigned has = 0; has < 2; has++) {
            memcpy(flash_f1.memory, has ? saved : empty, sizeof saved);
            flash_f1_power_up(at);
            board_start(&host);
            if (has)
                TEST_ASSERT_EQUAL(0, client_set(client, PARAMETER_kp, 1, 78, &value));
            TEST_ASSERT_EQUAL(-1, send(TORQUES));
            TEST_ASSERT_EQUAL(LINK_STORE, client->status);
            flash_f1_power_up(UINT64_MAX);
            board_tick(&host, 5);
            if (has) {
                TEST_ASSERT_TRUE(runs(MOTORS));
                TEST_ASSERT_EQUAL_FLOAT(78, kp_now());
            } else {
                TEST_ASSERT_EQUAL(0, host.app.loaded);
                TEST_ASSERT_EQUAL(0, status_now().joints);
            }
            TEST_ASSERT_EQUAL_MESSAGE(0, send(TORQUES), client->error.what);
            TEST_ASSERT_TRUE(runs(TORQUES));
        }
    }
}

/* An image with a wrong checksum is refused; the previous arm keeps running and stays stored. */
static void test_a_refused_image_is_not_stored(void) {
    TEST_ASSERT_EQUAL(0, send(MOTORS));
    arm[TORQUES][300] ^= 1;
    TEST_ASSERT_EQUAL(-1, send(TORQUES));
    TEST_ASSERT_TRUE(runs(MOTORS));
    board_start(&host);
    TEST_ASSERT_TRUE(runs(MOTORS));
}

TEST_LIST_BEGIN
TEST(test_an_image_in_pieces_is_used_in_the_flash_and_stays)
TEST(test_saving_moves_the_arm_to_the_other_slot)
TEST(test_saving_ends_a_motion_that_has_not_begun)
TEST(test_no_writing_while_the_loop_is_closed)
TEST(test_power_cuts)
TEST(test_errors_of_the_controller)
TEST(test_a_refused_image_is_not_stored)
TEST_LIST_END
