/*
 * Tests that tool and board accept the same robots: both use the table of firmware/params/image.h.
 * Images are altered at random, with right checksums, and given to both; numbers that are also
 * parameters are given to the tool in a robot and to the board by app_set.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/app/app.h"
#include "firmware/params/bytes.h"
#include "test/support/harness.h"
#include "test/support/robot_help.h"
#include "tools/image/robot_image.h"

enum { ALTERATIONS = 10000 };

static uint8_t *bytes;
static size_t size;
static app_t app;
static uint64_t seed = 20261118;

static uint32_t chance(void) {
    return (uint32_t)(int64_t)((help_random(&seed) + 1) * 2147483647.0);
}

/* Makes an image for floats in which every number is marked as given, so that a robot file can
 * express each: what the tool refuses then, it refuses for the sake of the number. */
static void make(const char *name) {
    static image_t image;
    static uint8_t again[IMAGE_SIZE_MAX];
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(name, NULL, &messages);
    free(bytes);
    bytes = robot_image_make(robot, &size, &messages);
    TEST_ASSERT_NOT_NULL(bytes);
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(bytes, size, &image, NULL));
    image.proved = false;
    image.section[IMAGE_SECTION_Q31A].bytes = NULL;
    image.has = IMAGE_HAS_ALL;
    for (uint32_t i = 0; i < image.n; i++) {
        image_joint_t *j = &image.joint[i];
        j->q31_mass = 0;
        j->has = IMAGE_JOINT_HAS_ALL;
        j->counts[0] = 1000;
        j->gear[0] = j->gear[0] != 0 ? j->gear[0] : 1;
    }
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, again, sizeof again, &size, NULL));
    memcpy(bytes, again, size); /* without the section it is not longer */
    help_free(robot);
    messages_free(&messages);
}

static bool board_accepts(void) {
    app_init(&app);
    return app_load(&app, bytes, size) == APP_OK;
}

static bool tool_accepts(messages_t *messages) {
    static robot_t robot;
    const robot_options_t options = {.image_magic = IMAGE_MAGIC,
                                     .image_magic_size = sizeof IMAGE_MAGIC - 1,
                                     .image_reader = robot_image_read};
    const bool good = robot_parse("altered", bytes, size, &options, &robot, messages) == 0 &&
                      robot_possible(&robot, messages) == 0 && robot_image_drives(&robot, messages);
    robot_free(&robot);
    return good;
}

static float altered(float value) {
    static const float ends[] = {-1,    1,    0.5F,  1000.5F, 1e38F,      -1e38F, 1e9F,     -1e9F,
                                 1e6F,  2e6F, -1e6F, 1e3F,    1e4F,       -1e4F,  2e4F,     100,
                                 20000, 1e5F, 1e-3F, 1e-9F,   4294967296, 1e15F,  INFINITY, NAN};
    switch (chance() % 5) {
    case 0:
        return -value;
    case 1:
        return value * (float)(1 + help_random(&seed));
    case 2:
        return (float)(help_random(&seed) * pow(10, 12 * help_random(&seed)));
    case 3:
        return nextafterf(ends[chance() % (sizeof ends / sizeof ends[0])],
                          (float)help_random(&seed) * 1e30F);
    default:
        return ends[chance() % (sizeof ends / sizeof ends[0])];
    }
}

/* Counts what both accept. A number that is zero is left alone, or becomes one that is not: a zero
 * that a robot file says is another message (a gear of zero, for example). */
static void test_altered_images(void) {
    static const char *const robots[] = {"puma560", "stanford", "planar3r"};
    enum { ROBOTS = sizeof robots / sizeof robots[0] };
    int accepted = 0;
    for (int i = 0; i < ALTERATIONS; i++) {
        if (i % ((ALTERATIONS + ROBOTS - 1) / ROBOTS) == 0)
            make(robots[i * ROBOTS / ALTERATIONS]);
        const uint32_t n = get_u32(bytes + 16);
        const uint32_t joint = chance() % n, number = chance() % IMAGE_JOINT_NUMBERS;
        const uint32_t word = 4 * (IMAGE_JOINT_FIRST + number);
        const uint32_t at = chance() % 5 == 0 ? 32 + 4 * (chance() % 26)
                                              : IMAGE_HEAD_SIZE + joint * IMAGE_JOINT_SIZE + word;
        const uint32_t before = get_u32(bytes + at);
        const float value = altered(get_f32(bytes + at));
        if (value == 0 || word == offsetof(image_joint_t, width)) { /* no key says the width */
            i--;
            continue;
        }
        messages_t messages = MESSAGES_INIT;
        put_f32(bytes + at, value);
        put_u32(bytes + 4, crc32_add(0, bytes + 8, size - 8));
        const bool board = board_accepts(), tool = tool_accepts(&messages);
        if (board != tool) {
            harness_note_number("byte of the image:", at);
            help_print(&messages);
        }
        TEST_ASSERT_EQUAL_MESSAGE(board, tool, "board and tool disagree");
        accepted += board;
        put_u32(bytes + at, before);
        messages_free(&messages);
    }
    harness_note_number("altered images:", ALTERATIONS);
    harness_note_number("of them accepted by board and tool:", accepted);
    TEST_ASSERT_TRUE(accepted > ALTERATIONS / 10 && accepted < ALTERATIONS * 9 / 10);
    free(bytes);
    bytes = NULL;
}

/* The field of an image, and the parameter that has the same number. */
static const struct {
    uint32_t parameter;
    size_t arm, joint;
} both[] = {
#define ARM(parameter, field)                                                                      \
    { PARAMETER_##parameter, offsetof(image_arm_t, field), 0 }
#define JOINT(parameter, field)                                                                    \
    { PARAMETER_##parameter, 0, offsetof(image_joint_t, field) }
    ARM(rate_hz, rate_hz),
    ARM(payload_mass, payload_mass),
    ARM(payload_x, payload_com[0]),
    ARM(payload_y, payload_com[1]),
    ARM(payload_z, payload_com[2]),
    JOINT(kp, kp),
    JOINT(kd, kd),
    JOINT(encoder_offset, offset),
    JOINT(encoder_sign, sign),
    JOINT(encoder_ratio, ratio),
    JOINT(position_lower, position[0]),
    JOINT(position_upper, position[1]),
};

/* A number is acceptable as a parameter exactly if it is in an image. */
static void test_altered_parameters(void) {
    static image_t image;
    int refused = 0;
    make("puma560");
    TEST_ASSERT_TRUE(board_accepts());
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(bytes, size, &image, NULL));
    for (int i = 0; i < ALTERATIONS; i++) {
        const size_t row = chance() % (sizeof both / sizeof both[0]);
        const uint32_t at = both[row].joint ? chance() % image.n : 0;
        char *in = both[row].joint ? (char *)&image.joint[at] + both[row].joint
                                   : (char *)&image.arm + both[row].arm;
        float before, value;
        memcpy(&before, in, sizeof before);
        value = altered(before);
        memcpy(in, &value, sizeof value);
        const bool possible = image_check(&image, NULL) == IMAGE_OK;
        memcpy(in, &before, sizeof before);
        const int status = app_set(&app, both[row].parameter, at, value);
        TEST_ASSERT_EQUAL_MESSAGE(possible, status != APP_E_RANGE,
                                  parameter_table[both[row].parameter].name);
        refused += status == APP_E_RANGE;
        if (status == APP_OK)
            TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, both[row].parameter, at, before));
    }
    harness_note_number("altered parameters:", ALTERATIONS);
    harness_note_number("of them refused as in an image:", refused);
    TEST_ASSERT_TRUE(refused > ALTERATIONS / 10 && refused < ALTERATIONS * 9 / 10);
    free(bytes);
    bytes = NULL;
}

/* Every robot of this tree is acceptable. */
static void test_real_arms_are_accepted(void) {
    static const char *const robots[] = {"cmu-dd",  "flex2",    "piezo6", "planar3r",
                                         "puma560", "stanford", "twobody"};
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        messages_t messages = MESSAGES_INIT;
        size_t length;
        robot_t *robot = help_load(robots[i], NULL, &messages);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, robot_possible(robot, &messages), robots[i]);
        uint8_t *image = robot_image_make(robot, &length, &messages);
        TEST_ASSERT_NOT_NULL_MESSAGE(image, robots[i]);
        free(image);
        help_free(robot);
        messages_free(&messages);
    }
}

TEST_LIST_BEGIN
TEST(test_altered_images)
TEST(test_altered_parameters)
TEST(test_real_arms_are_accepted)
TEST_LIST_END
