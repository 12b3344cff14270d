/*
 * Tests the robot image. Bytes and checksum of a reference image freeze the layout. No two accepted
 * images have the same content, and no input makes the reader misbehave (the host runs this under
 * the sanitizers).
 */
#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#if defined(__arm__)
enum { MUTATIONS = 300 };
#elif defined(TEST_LONG)
enum { MUTATIONS = 10000000 };
#else
enum { MUTATIONS = 100000 };
#endif

enum { JOINT = 148, JOINT_SIZE = 37 * 4, NAMES = JOINT + 3 * JOINT_SIZE, SECTIONS = NAMES + 24 };
enum { CONSTANTS = SECTIONS + 8 + 8 };

static image_t image, back;
static image_where_t where;
static _Alignas(4) uint8_t bytes[IMAGE_SIZE_MAX], other[IMAGE_SIZE_MAX];
static size_t size;
static dyn_model_t model;
static dyn_arm_q31_t arm;
static _Alignas(4) uint8_t section[IMAGE_Q31_HEAD + sizeof arm];

static void word_set(uint8_t *at, uint32_t word) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> 8 * i);
}

static uint32_t word_of(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static float float_of(const uint8_t *at) {
    const uint32_t word = word_of(at);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void float_set(uint8_t *at, float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    word_set(at, word);
}

static void seal(void) {
    word_set(bytes + 4, crc32_add(0, bytes + 8, size - 8));
}

/* Joins the constants to the numbers again. */
static void join(void) {
    uint32_t crc = crc32_add(0, bytes + 16, NAMES - 16);
    crc = crc32_add(crc, bytes + SECTIONS + 8, 4);
    word_set(bytes + SECTIONS + 12, crc32_add(crc, bytes + CONSTANTS, size - CONSTANTS));
    seal();
}

/* Makes a robot of three joints with a different number in each field. */
static void reference(void) {
    static const char *const names[] = {"waist", "slide", "wrist"};
    float *number;
    memset(&image, 0, sizeof image);
    image.n = 3;
    image.name = "arm";
    image.has = IMAGE_HAS_RATE | IMAGE_HAS_TOOL;
    image.feedback = FEEDBACK_COMPUTED_TORQUE;
    image.proved = true;
    image.q31_length = -2;
    image.q31_time = -3;
    number = (float *)&image.arm;
    for (int i = 0; i < 26; i++) /* all fields except the reserved ones */
        number[i] = 0.5F + (float)i;
    image.arm.rate_hz[0] = 500;
    for (int i = 0; i < 3; i++) {
        image.arm.payload_com[i] -= 10;
        image.arm.payload_inertia[3 + i] /= 16;
    }
    for (uint32_t j = 0; j < image.n; j++) {
        image_joint_t *joint = &image.joint[j];
        joint->type = j == 1 ? DYN_PRISMATIC : DYN_REVOLUTE;
        joint->has = IMAGE_JOINT_HAS_ALL >> j;
        joint->q31_mass = 4 - (int32_t)j;
        number = (float *)joint + IMAGE_JOINT_FIRST;
        for (int i = j == 0 ? 4 : 0; i < 34; i++)
            number[i] = 0.25F * (float)(i + 1) + (float)j;
        for (int i = 3; i < 6; i++)
            joint->inertia[i] /= 16;
        joint->coulomb[0] = -joint->coulomb[0];
        joint->counts[0] = 1000 + (float)j;
        joint->sign[0] = j == 2 ? -1 : 1;
        image.joint_name[j] = names[j];
    }
    arm.n = 3;
    arm.joint[1].prismatic = 1;
    arm.joint[2].mass_shift = 31;
    image_put_q31(&arm, section);
    image.section[IMAGE_SECTION_Q31A] = (image_section_t){section, image_q31_size(3)};
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, &where));
}

/* Makes the same robot without sections. */
static void reference_bare(void) {
    reference();
    image.section[IMAGE_SECTION_Q31A].bytes = NULL;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, &where));
}

static int read_back(void) {
    return image_read(bytes, size, &back, &where);
}

/* ---------------------------------------------------------------------------------------- cases */

/* Checks the standard check value of CRC-32/ISO-HDLC. */
static void test_crc(void) {
    TEST_ASSERT_EQUAL_HEX32(0xCBF43926, crc32_add(0, (const uint8_t *)"123456789", 9));
    TEST_ASSERT_EQUAL_HEX32(0, crc32_add(0, NULL, 0));
}

static void test_the_layout_is_as_documented(void) {
    reference();
    TEST_ASSERT_EQUAL_HEX8_ARRAY("\x89"
                                 "APL",
                                 bytes, 4);
    TEST_ASSERT_EQUAL_UINT32(3, word_of(bytes + 8));
    TEST_ASSERT_EQUAL_UINT32(size, word_of(bytes + 12));
    TEST_ASSERT_EQUAL_UINT32(3, word_of(bytes + 16));
    TEST_ASSERT_EQUAL_UINT32(IMAGE_HAS_RATE | IMAGE_HAS_TOOL, word_of(bytes + 20));
    TEST_ASSERT_EQUAL_UINT32(2, word_of(bytes + 24));
    TEST_ASSERT_EQUAL_HEX32(0x00fdfe01, word_of(bytes + 28));
    TEST_ASSERT_EQUAL_FLOAT(500, float_of(bytes + 32));   /* rate_hz */
    TEST_ASSERT_EQUAL_FLOAT(1.5F, float_of(bytes + 36));  /* gravity */
    TEST_ASSERT_EQUAL_FLOAT(16.5F, float_of(bytes + 96)); /* payload_mass */
    TEST_ASSERT_EQUAL_UINT32(1, word_of(bytes + JOINT + JOINT_SIZE));
    TEST_ASSERT_EQUAL_UINT32(3, word_of(bytes + JOINT + JOINT_SIZE + 8));
    TEST_ASSERT_EQUAL_FLOAT(1.25F, float_of(bytes + JOINT + JOINT_SIZE + 12)); /* alpha */
    TEST_ASSERT_EQUAL_STRING("arm", (const char *)bytes + JOINT + 3 * JOINT_SIZE);
    TEST_ASSERT_EQUAL_STRING("wrist", (const char *)bytes + JOINT + 3 * JOINT_SIZE + 16);
    TEST_ASSERT_EQUAL_HEX8_ARRAY("Q31A", bytes + SECTIONS, 4);
    TEST_ASSERT_EQUAL_UINT32(image_q31_size(3), word_of(bytes + SECTIONS + 4));
    TEST_ASSERT_EQUAL_HEX32(dyn_q31_layout(), word_of(bytes + SECTIONS + 8));
    const uint32_t joined = word_of(bytes + SECTIONS + 12);
    join();
    TEST_ASSERT_EQUAL_HEX32(word_of(bytes + SECTIONS + 12), joined);
    TEST_ASSERT_EQUAL_UINT32(3, word_of(bytes + CONSTANTS)); /* n of the prepared arm */
    TEST_ASSERT_EQUAL_UINT32(SECTIONS + 8 + image_q31_size(3), size);
    /* The checksum excludes the section, whose content other tests freeze. Whoever changes the
     * layout must change the version and this checksum. */
    reference_bare();
    TEST_ASSERT_EQUAL_UINT32(SECTIONS, size);
    TEST_ASSERT_EQUAL_HEX32(0xE69E05C5, word_of(bytes + 4));
}

/* No older layout was released, so other versions are refused. */
static void test_another_version_is_refused(void) {
    for (uint32_t version = 0; version < 5; version++) {
        reference();
        word_set(bytes + 8, version);
        seal();
        TEST_ASSERT_EQUAL_INT(version == IMAGE_VERSION ? IMAGE_OK : IMAGE_E_VERSION, read_back());
        TEST_ASSERT_EQUAL_UINT32(version == IMAGE_VERSION ? size : 0,
                                 image_length(bytes, sizeof bytes));
    }
}

/* The arm can be used inside the image, because some boards have no RAM for a copy. */
static void test_the_prepared_arm_is_inside_the_image(void) {
    const dyn_arm_q31_t *at;
    reference();
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, read_back());
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_arm_q31(&back, &at));
    TEST_ASSERT_EQUAL_PTR(bytes + CONSTANTS, at);
    TEST_ASSERT_EQUAL_MEMORY(&arm, at, image_q31_size(3) - IMAGE_Q31_HEAD);
}

static void test_no_other_arm_is_taken_for_it(void) {
    const dyn_arm_q31_t *at;
    static const uint32_t joint = CONSTANTS + offsetof(dyn_arm_q31_t, joint);
    static const struct {
        int status;
        uint32_t at, word;
    } other_arm[] = {
        {IMAGE_E_BUILD, SECTIONS + 8, 1},
        {IMAGE_E_NUMBER, CONSTANTS + offsetof(dyn_arm_q31_t, n), 2},
        {IMAGE_E_NUMBER, CONSTANTS + offsetof(dyn_arm_q31_t, reach_shift), 32},
        {IMAGE_E_NUMBER, joint + offsetof(dyn_joint_q31_t, prismatic), 1},
        {IMAGE_E_NUMBER, joint + offsetof(dyn_joint_q31_t, mass_shift), 0x00002000},
        {IMAGE_E_NUMBER, joint + offsetof(dyn_joint_q31_t, drive.tau_qd.cut), 64},
        {IMAGE_E_NUMBER, joint + offsetof(dyn_joint_q31_t, drive.volt_max), 0x80000000},
        {IMAGE_E_UNPROVED, 28, 0},
    };
    for (size_t i = 0; i < sizeof other_arm / sizeof other_arm[0]; i++) {
        reference();
        /* Some fields are single bytes; the whole word that contains them is replaced. */
        word_set(bytes + other_arm[i].at / 4 * 4, other_arm[i].word);
        for (uint32_t j = 0; other_arm[i].at == 28 && j < 3; j++)
            word_set(bytes + JOINT + j * JOINT_SIZE + 8, 0);
        join();
        TEST_ASSERT_EQUAL_INT(IMAGE_OK, read_back());
        TEST_ASSERT_EQUAL_INT(other_arm[i].status, image_arm_q31(&back, &at));
        TEST_ASSERT_NULL(at);
    }
    reference();
    image.section[IMAGE_SECTION_Q31A].size -= 4;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_NUMBER, image_arm_q31(&image, &at));
    image.section[IMAGE_SECTION_Q31A].size = 0;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_BUILD, image_arm_q31(&image, &at));
}

static void test_what_was_written_is_read(void) {
    reference();
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, read_back());
    TEST_ASSERT_EQUAL_UINT32(image.n, back.n);
    TEST_ASSERT_EQUAL_UINT32(image.has, back.has);
    TEST_ASSERT_EQUAL_UINT32(image.feedback, back.feedback);
    TEST_ASSERT_TRUE(back.proved);
    TEST_ASSERT_EQUAL_INT(-2, back.q31_length);
    TEST_ASSERT_EQUAL_INT(-3, back.q31_time);
    TEST_ASSERT_EQUAL_MEMORY(&image.arm, &back.arm, sizeof image.arm);
    TEST_ASSERT_EQUAL_MEMORY(image.joint, back.joint, 3 * sizeof image.joint[0]);
    TEST_ASSERT_EQUAL_UINT32(image_q31_size(3), back.section[IMAGE_SECTION_Q31A].size);
    TEST_ASSERT_EQUAL_MEMORY(section, back.section[IMAGE_SECTION_Q31A].bytes, 4);
    TEST_ASSERT_EQUAL_MEMORY(&arm, back.section[IMAGE_SECTION_Q31A].bytes + IMAGE_Q31_HEAD,
                             image_q31_size(3) - IMAGE_Q31_HEAD);
    TEST_ASSERT_EQUAL_STRING("arm", back.name);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_STRING(image.joint_name[i], back.joint_name[i]);
}

/* A flash slot is larger than the image in it, so bytes after the image are ignored. */
static void test_bytes_behind_the_image_do_not_matter(void) {
    reference();
    memset(bytes + size, 0xff, sizeof bytes - size);
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(bytes, sizeof bytes, &back, &where));
    TEST_ASSERT_EQUAL_UINT32(size, image_length(bytes, sizeof bytes));
}

static void test_every_shorter_image_is_rejected(void) {
    reference();
    for (size_t cut = 0; cut < size; cut++)
        TEST_ASSERT_TRUE(image_read(bytes, cut, &back, &where) < 0);
    TEST_ASSERT_EQUAL_INT(IMAGE_E_MAGIC, image_read(bytes, 3, &back, &where));
    TEST_ASSERT_EQUAL_INT(IMAGE_E_SHORT, image_read(bytes, 100, &back, &where));
    TEST_ASSERT_EQUAL_INT(IMAGE_E_SHORT, image_read(bytes, size - 1, &back, NULL));
    TEST_ASSERT_EQUAL_UINT32(0, image_length(bytes, 20));
}

static void test_every_flipped_bit_is_seen(void) {
    reference();
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        TEST_ASSERT_TRUE(read_back() < 0);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, read_back());
}

/* Each case replaces one word of a good image and corrects the checksum. */
static const struct {
    int status;
    uint16_t at;
    uint32_t word;
    uint32_t joint;
    const char *field;
} wrong[] = {
    {IMAGE_E_MAGIC, 0, 0x4c504188, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_VERSION, 8, 2, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_VERSION, 8, 0, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_SHORT, 12, 0xfffffffc, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_LENGTH, 12, 0, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_LENGTH, 12, 149, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_JOINTS, 16, 0, IMAGE_NO_JOINT, "number of joints"},
    {IMAGE_E_JOINTS, 16, DYN_MAX_JOINTS + 1, IMAGE_NO_JOINT, "number of joints"},
    {IMAGE_E_JOINTS, 16, 0x80000001, IMAGE_NO_JOINT, "number of joints"},
    {IMAGE_E_NAMES, 16, 2, IMAGE_NO_JOINT, "name"},
    {IMAGE_E_CODE, 20, IMAGE_HAS_ALL + 1, IMAGE_NO_JOINT, "feedback"},
    {IMAGE_E_CODE, 20, IMAGE_BRAKES, IMAGE_NO_JOINT, "brakes"},
    {IMAGE_E_CODE, 24, 3, IMAGE_NO_JOINT, "feedback"},
    {IMAGE_E_CODE, 28, 0x00fdfe00, IMAGE_NO_JOINT, "q31 units"},
    {IMAGE_E_CODE, 28, 0x01fdfe01, IMAGE_NO_JOINT, "q31 units"},
    {IMAGE_E_NUMBER, 32, 0x7fc00000, IMAGE_NO_JOINT, "rate_hz"}, /* not a number */
    {IMAGE_E_NUMBER, 32, 0, IMAGE_NO_JOINT, "rate_hz"},          /* zero */
    {IMAGE_E_NUMBER, 36, 0x7f800000, IMAGE_NO_JOINT, "gravity"}, /* infinite */
    {IMAGE_E_NUMBER, 36, 0x80000000, IMAGE_NO_JOINT, "-0"},
    {IMAGE_E_NUMBER, JOINT + 2 * JOINT_SIZE + 72, 0x80000000, 2, "-0"},
    {IMAGE_E_NUMBER, 96, 0xbf800000, IMAGE_NO_JOINT, "payload_mass"},
    {IMAGE_E_NUMBER, 144, 0x3f800000, IMAGE_NO_JOINT, "reserved"},
    {IMAGE_E_CODE, JOINT, 2, 0, "type"},
    {IMAGE_E_CODE, JOINT + 4, 1 << 17, 0, "type"},
    {IMAGE_E_CODE, JOINT + 8, 128, 0, "q31 unit of mass"},
    {IMAGE_E_NUMBER, JOINT + 12, 0x3f800000, 0, "alpha, a, theta, d"},
    {IMAGE_E_NUMBER, JOINT + JOINT_SIZE + 12, 0xff800000, 1, "alpha"},
    {IMAGE_E_NUMBER, JOINT + 2 * JOINT_SIZE + 76, 0xbf800000, 2, "velocity"},
    {IMAGE_E_NUMBER, JOINT + 2 * JOINT_SIZE + 128, 0x40000000, 2, "sign"},
    {IMAGE_E_NAMES, JOINT + 3 * JOINT_SIZE, 0x6d726100, IMAGE_NO_JOINT, "name"}, /* empty */
    {IMAGE_E_NAMES, JOINT + 3 * JOINT_SIZE, 0x006d7280, IMAGE_NO_JOINT, "name"}, /* not UTF-8 */
    {IMAGE_E_NAMES, JOINT + 3 * JOINT_SIZE + 4, 0x73696107, 0, "name"},  /* a control code */
    {IMAGE_E_NAMES, JOINT + 3 * JOINT_SIZE + 20, 0x61616161, 2, "name"}, /* without an end */
    {IMAGE_E_LENGTH, JOINT + 3 * JOINT_SIZE + 20, 0x61000074, IMAGE_NO_JOINT, NULL},
    {IMAGE_E_CODE, SECTIONS, 0, IMAGE_NO_JOINT, "tag of a section"},
    {IMAGE_E_CODE, SECTIONS, 0x42313351, IMAGE_NO_JOINT, "tag of a section"},
    {IMAGE_E_LENGTH, SECTIONS + 4, 0xfffffffc, IMAGE_NO_JOINT, "Q31A"},
    {IMAGE_E_LENGTH, SECTIONS + 4, 2, IMAGE_NO_JOINT, "Q31A"},
    {IMAGE_E_CONSTANTS, SECTIONS + 8, 1, IMAGE_NO_JOINT, "Q31A"},
    {IMAGE_E_CONSTANTS, SECTIONS + 12, 1, IMAGE_NO_JOINT, "Q31A"},
    {IMAGE_E_CONSTANTS, CONSTANTS, 2, IMAGE_NO_JOINT, "Q31A"},
    {IMAGE_E_CONSTANTS, JOINT + 28, 0x3f800000, IMAGE_NO_JOINT, "Q31A"}, /* another mass */
    {IMAGE_E_CODE, SECTIONS + 4, 4, IMAGE_NO_JOINT, "tag of a section"}, /* a wrong tag follows */
};

/* What is acceptable of each number, as the arms of this world have it and as mistakes make it. */
static void test_every_number_has_its_range(void) {
    static const struct {
        const char *field;
        uint16_t at; /* byte in the head, or in the second joint + JOINT */
        float good[3], bad[4];
    } rows[] = {
        {"rate_hz", 32, {100, 1000, 20000}, {99, 20001, 1000.5F, -1000}},
        {"gravity", 36, {-9.81F, 0, 1000}, {2e5F, -2e5F, 1e38F, NAN}},
        {"tool_xyz", 72, {-2, 0, 60000}, {2e6F, -2e6F, 1e38F, NAN}},
        {"tool_rpy", 84, {-3.2F, 0, 7}, {2e3F, -2e3F, 1e38F, NAN}},
        {"payload_mass", 96, {0, 5, 1000}, {-0.001F, 1001, 1e38F, NAN}},
        {"payload_com", 100, {-1, 0, 10}, {-11, 11, 1e38F, NAN}},
        {"reserved", 136, {0, 0, 0}, {1, -1, 1e38F, NAN}},
        {"alpha", JOINT + 12, {-1.5F, 0, 3.2F}, {2e3F, -2e3F, 1e38F, NAN}},
        {"a", JOINT + 16, {-1, 0, 60000}, {2e6F, -2e6F, 1e38F, NAN}},
        {"mass", JOINT + 28, {0, 17, 2000}, {-1, -1e-6F, 2e6F, NAN}},
        {"velocity", JOINT + 76, {0, 2, 300}, {-1, 2e6F, 1e38F, NAN}},
        {"acceleration", JOINT + 80, {0, 2, 3000}, {-1, 2e9F, 1e38F, NAN}},
        {"torque", JOINT + 84, {0, 50, 1e5F}, {-1, 2e9F, 1e38F, NAN}},
        {"resistance", JOINT + 88, {0, 1, 100}, {-1, 2e6F, 1e38F, NAN}},
        {"torque_constant", JOINT + 92, {0, 0.1F, 100}, {-1, 2e6F, 1e38F, NAN}},
        {"gear", JOINT + 96, {-107, 0, 10000}, {-2e6F, 2e6F, 1e38F, NAN}},
        {"rotor_inertia", JOINT + 100, {0, 1e-4F, 1}, {-1, 2e6F, 1e38F, NAN}},
        {"voltage", JOINT + 104, {0, 24, 800}, {-1, 2e5F, 1e38F, NAN}},
        {"viscous", JOINT + 108, {0, 1, 1000}, {-1, 2e9F, 1e38F, NAN}},
        {"width", JOINT + 120, {0, 0.02F, 1}, {-1, 2e3F, 1e38F, NAN}},
        {"counts", JOINT + 124, {0, 1, 16777216}, {0.5F, 1000.5F, 2147483648.0F, -1}},
        {"sign", JOINT + 128, {1, -1, 1}, {0, 0.5F, 2, -2}},
        {"offset", JOINT + 132, {-3, 0, 100}, {-2e4F, 2e4F, 1e38F, NAN}},
        {"ratio", JOINT + 136, {0.5F, 1, 1000}, {-1, 0, 1e38F, NAN}},
        {"kp", JOINT + 140, {0, 100, 1e6F}, {-1, -1e-6F, 2e9F, NAN}},
        {"kd", JOINT + 144, {0, 100, 1e6F}, {-1, -1e-6F, 2e9F, NAN}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool joint = rows[i].at >= JOINT;
        const uint32_t at = rows[i].at + (joint ? JOINT_SIZE + 0u : 0u);
        for (int k = 0; k < 3; k++) {
            reference_bare();
            float_set(bytes + at, rows[i].good[k]);
            seal();
            TEST_ASSERT_EQUAL_INT_MESSAGE(IMAGE_OK, read_back(), rows[i].field);
        }
        for (int k = 0; k < 4; k++) {
            reference_bare();
            float_set(bytes + at, rows[i].bad[k]);
            seal();
            TEST_ASSERT_EQUAL_INT_MESSAGE(IMAGE_E_NUMBER, read_back(), rows[i].field);
            TEST_ASSERT_EQUAL_STRING(rows[i].field, where.field);
            TEST_ASSERT_EQUAL_UINT32(joint ? 1 : IMAGE_NO_JOINT, where.joint);
            TEST_ASSERT_EQUAL_MEMORY(&rows[i].bad[k], where.at, sizeof *where.at);
            TEST_ASSERT_FALSE(span_contains(where.span, rows[i].bad[k]));
        }
    }
}

/* Numbers that are possible alone, but not together. */
static void test_numbers_go_together(void) {
    static const struct {
        int status;
        const char *field;
        uint16_t at; /* byte in the second joint */
        float value[6];
        int count;
    } rows[] = {
        {IMAGE_OK, NULL, 68, {0, 0}, 2}, /* no position limits */
        {IMAGE_OK, NULL, 68, {-3, -2}, 2},
        {IMAGE_E_NUMBER, "position", 68, {2, 1}, 2},
        {IMAGE_E_NUMBER, "position", 68, {1, 1}, 2},
        {IMAGE_E_NUMBER, "position", 68, {0, -1}, 2},
        {IMAGE_E_NUMBER, "position", 68, {1, 0}, 2},
        {IMAGE_OK, NULL, 112, {-2, 1}, 2},
        {IMAGE_OK, NULL, 112, {0, 0}, 2},
        {IMAGE_E_NUMBER, "coulomb", 112, {1, 1}, 2},
        {IMAGE_E_NUMBER, "coulomb", 112, {-1, -1}, 2},
        {IMAGE_OK, NULL, 44, {0, 0, 0, 0, 0, 0}, 6},
        {IMAGE_OK, NULL, 44, {0, 1, 1, 0, 0, 0}, 6}, /* a thin rod */
        {IMAGE_OK, NULL, 44, {1, 1, 1, 0.99F, 0, 0}, 6},
        {IMAGE_OK, NULL, 44, {1, 1, 2, -1, 0, 0}, 6}, /* singular */
        {IMAGE_E_NUMBER, "inertia", 44, {-1, 1, 1, 0, 0, 0}, 6},
        {IMAGE_E_NUMBER, "inertia", 44, {1, -1e-3F, 1, 0, 0, 0}, 6},
        {IMAGE_E_NUMBER, "inertia", 44, {1, 1, -1, 0, 0, 0}, 6},
        {IMAGE_E_NUMBER, "inertia", 44, {1, 1, 1, 1.01F, 0, 0}, 6},
        {IMAGE_E_NUMBER, "inertia", 44, {1, 1, 1, 0, 1.01F, 0}, 6},
        {IMAGE_E_NUMBER, "inertia", 44, {1, 1, 1, 0, 0, 1.01F}, 6},
        {IMAGE_E_NUMBER, "inertia", 44, {1, 1, 1, 0.8F, 0.8F, -0.8F}, 6}, /* pairs are possible */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reference_bare();
        for (int k = 0; k < rows[i].count; k++)
            float_set(bytes + JOINT + JOINT_SIZE + rows[i].at + 4 * k, rows[i].value[k]);
        seal();
        TEST_ASSERT_EQUAL_INT_MESSAGE(rows[i].status, read_back(), rows[i].field);
        if (rows[i].field)
            TEST_ASSERT_EQUAL_STRING(rows[i].field, where.field);
    }
    reference_bare();
    float_set(bytes + 112 + 4, -1); /* payload_inertia yy */
    seal();
    TEST_ASSERT_EQUAL_INT(IMAGE_E_NUMBER, read_back());
    TEST_ASSERT_EQUAL_STRING("payload_inertia", where.field);
}

static void test_every_error_names_its_place(void) {
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        reference();
        word_set(bytes + wrong[i].at, wrong[i].word);
        seal();
        /* The length in the image determines the range of the checksum. */
        if (wrong[i].at == 12 && wrong[i].word > 8 && wrong[i].word < size)
            word_set(bytes + 4, crc32_add(0, bytes + 8, wrong[i].word - 8));
        UNITY_UINT line = __LINE__;
        UNITY_TEST_ASSERT_EQUAL_INT(wrong[i].status, read_back(), line, wrong[i].field);
        TEST_ASSERT_EQUAL_UINT32(wrong[i].joint, where.joint);
        if (wrong[i].field)
            TEST_ASSERT_EQUAL_STRING(wrong[i].field, where.field);
        else
            TEST_ASSERT_NULL(where.field);
        TEST_ASSERT_TRUE(strlen(image_cause(wrong[i].status)) > 10);
        TEST_ASSERT_TRUE(strlen(image_cure(wrong[i].status)) > 10);
    }
    reference();
    bytes[200] ^= 1;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_CRC, read_back());
}

static void test_the_writer_rejects_what_the_reader_would(void) {
    reference();
    image.joint[1].kp[0] = (float)NAN;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_NUMBER, image_write(&image, other, sizeof other, &size, &where));
    TEST_ASSERT_EQUAL_UINT32(1, where.joint);
    TEST_ASSERT_EQUAL_STRING("kp", where.field);
    reference();
    image.joint[0].a[0] = 1;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_NUMBER, image_write(&image, other, sizeof other, &size, &where));
    reference();
    image.n = 0;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_JOINTS, image_write(&image, other, sizeof other, &size, &where));
    reference();
    image.joint_name[2] = "";
    TEST_ASSERT_EQUAL_INT(IMAGE_E_NAMES, image_write(&image, other, sizeof other, &size, &where));
    reference();
    image.section[IMAGE_SECTION_Q31A].size -= 1;
    TEST_ASSERT_EQUAL_INT(IMAGE_E_LENGTH, image_write(&image, other, sizeof other, &size, &where));
    reference();
    const size_t needed = size;
    for (size_t room = 0; room < needed; room++)
        TEST_ASSERT_EQUAL_INT(IMAGE_E_ROOM, image_write(&image, other, room, &size, &where));
}

/* -0 and 0 give the same image. */
static void test_minus_zero_is_zero(void) {
    reference();
    image.arm.gravity[0] = 0;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, &where));
    image.arm.gravity[0] = -0.0F;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, other, sizeof other, &size, &where));
    TEST_ASSERT_EQUAL_MEMORY(bytes, other, size);
}

static void test_quarter_turns_are_exact(void) {
    const double quarter = 1.57079632679489661923;
    for (int k = -16; k <= 16; k++)
        TEST_ASSERT_EQUAL_DOUBLE(k * quarter, image_angle((float)(k * quarter)));
    TEST_ASSERT_EQUAL_DOUBLE(1.5, image_angle(1.5F));
    TEST_ASSERT_EQUAL_DOUBLE((double)1.57F, image_angle(1.57F));
    const float next = nextafterf((float)quarter, 2);
    TEST_ASSERT_EQUAL_DOUBLE((double)next, image_angle(next));
    TEST_ASSERT_EQUAL_DOUBLE((double)1e30F, image_angle(1e30F));
}

static void test_the_model_has_the_numbers_of_the_image(void) {
    dyn_units_t units;
    reference();
    image.joint[1].alpha[0] = (float)1.57079632679489661923;
    TEST_ASSERT_EQUAL_INT(DYN_OK, image_model(&image, &model));
    TEST_ASSERT_EQUAL_UINT32(3, model.n);
    TEST_ASSERT_EQUAL_DOUBLE(1.5, model.gravity[0]);
    TEST_ASSERT_EQUAL_DOUBLE(4.5, model.base.p[0]);
    TEST_ASSERT_EQUAL_INT(DYN_PRISMATIC, model.joint[1].type);
    TEST_ASSERT_EQUAL_DOUBLE(1.57079632679489661923, model.joint[1].alpha);
    TEST_ASSERT_EQUAL_DOUBLE(1.25, model.joint[0].link.mass);
    TEST_ASSERT_EQUAL_DOUBLE(4.25, model.joint[0].drive.limits.velocity - 0);
    TEST_ASSERT_EQUAL_DOUBLE(0.25 * 20 + 2, model.joint[2].drive.motor.resistance);
    TEST_ASSERT_TRUE(image_units(&image, &units));
    TEST_ASSERT_EQUAL_INT(-2, units.length);
    TEST_ASSERT_EQUAL_INT(-3, units.time);
    TEST_ASSERT_EQUAL_INT(2, units.mass[2]);
    image.proved = false;
    TEST_ASSERT_FALSE(image_units(&image, &units));
}

/* ------------------------------------------------------------------------------------ mutations */

static uint32_t seed = 2463534242u;

static uint32_t chance(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static void mutate(void) {
    static const uint32_t words[] = {0,          1,          0xffffffff, 0x80000000, 0x7f800000,
                                     0x7fc00000, 0x00000001, 0x3f800000, 0x7f7fffff, 33};
    const uint32_t at = chance() % (uint32_t)size;
    switch (chance() % 5) {
    case 0:
        bytes[at] = (uint8_t)chance();
        break;
    case 1:
        bytes[at] ^= (uint8_t)(1u << chance() % 8);
        break;
    case 2:
        word_set(bytes + at / 4 * 4, words[chance() % (sizeof words / sizeof words[0])]);
        break;
    case 3: /* a plausible number */
        float_set(bytes + at / 4 * 4, (float)(int32_t)chance() * 1e-8F);
        break;
    default: /* in the header or the names, which contain the structure */
        bytes[chance() % 2 ? chance() % 32 : (uint32_t)size - 1 - chance() % 24] =
            (uint8_t)chance();
    }
}

/* Any bytes are either rejected or read completely, so that writing the result gives the same
 * bytes. */
static void test_mutations(void) {
    long accepted = 0;
    size_t again;
    for (long i = 0; i < MUTATIONS; i++) {
        if (i % 8 == 0) {
            if (i % 16 == 0)
                reference();
            else
                reference_bare();
        }
        mutate();
        const uint32_t length = word_of(bytes + 12);
        if (chance() % 16 && length > 8 && length <= sizeof bytes)
            word_set(bytes + 4, crc32_add(0, bytes + 8, length - 8));
        const size_t given = chance() % 16 ? sizeof bytes : chance() % (sizeof bytes + 1);
        if (image_read(bytes, given, &back, &where) != IMAGE_OK)
            continue;
        accepted++;
        TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&back, other, sizeof other, &again, &where));
        TEST_ASSERT_EQUAL_UINT32(word_of(bytes + 12), again);
        TEST_ASSERT_EQUAL_MEMORY(bytes, other, again);
        const dyn_arm_q31_t *at;
        (void)image_arm_q31(&back, &at);
        TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_check(&back, &where));
        TEST_ASSERT_EQUAL_INT(DYN_OK, image_model(&back, &model));
    }
    harness_note_number("mutated images", MUTATIONS);
    harness_note_number("of them acceptable", (int64_t)accepted);
    TEST_ASSERT_TRUE(accepted > MUTATIONS / 100);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_crc)
    TEST(test_the_layout_is_as_documented)
    TEST(test_another_version_is_refused)
    TEST(test_the_prepared_arm_is_inside_the_image)
    TEST(test_no_other_arm_is_taken_for_it)
    TEST(test_what_was_written_is_read)
    TEST(test_bytes_behind_the_image_do_not_matter)
    TEST(test_every_shorter_image_is_rejected)
    TEST(test_every_flipped_bit_is_seen)
    TEST(test_every_number_has_its_range)
    TEST(test_numbers_go_together)
    TEST(test_every_error_names_its_place)
    TEST(test_the_writer_rejects_what_the_reader_would)
    TEST(test_minus_zero_is_zero)
    TEST(test_quarter_turns_are_exact)
    TEST(test_the_model_has_the_numbers_of_the_image)
    TEST(test_mutations)
TEST_LIST_END
// clang-format on
