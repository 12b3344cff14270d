/*
 * Tests frames: whatever is sent is received, damage costs only the damaged frame, and nothing else
 * is ever taken for a frame.
 */
#include "test/support/harness.h"

#include <string.h>

#include "firmware/params/bytes.h"
#include "firmware/link/frame.h"

/*
 * Numbers of random bytes and mutated frames in `make test-long`, in `make test` and on boards.
 */
#if !defined(__arm__) && defined(TEST_LONG)
enum { NOISE_BYTES = 100000000, MUTATED_FRAMES = 1000000 };
#else
enum { NOISE_BYTES = 100000, MUTATED_FRAMES = 1000 };
#endif

static uint8_t line[FRAME_WRITE_ROOM(FRAME_CONTENT_MAX)];
static uint8_t taken[FRAME_READ_ROOM(FRAME_CONTENT_MAX)];
static uint8_t content[FRAME_CONTENT_MAX];

static uint32_t random_state = 1;

static uint32_t random_next(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static size_t make(size_t size) {
    memcpy(line + FRAME_WRITE_AT, content, size);
    return frame_close(line, size);
}

static size_t take_all(frame_reader_t *reader, const uint8_t *bytes, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t size = frame_take(reader, bytes[i]);
        if (size > 0)
            found = size;
    }
    return found;
}

static void test_crc_is_the_known_one(void) {
    TEST_ASSERT_EQUAL_HEX32(0xcbf43926, crc32_add(0, "123456789", 9));
    TEST_ASSERT_EQUAL_HEX32(0xcbf43926, crc32_add(crc32_add(0, "1234", 4), "56789", 5));
    TEST_ASSERT_EQUAL_HEX32(0, crc32_add(0, "", 0));
}

/* The example of the protocol page, computed by hand. */
static void test_known_frame(void) {
    content[0] = 0x11;
    content[1] = 0x00;
    content[2] = 0x22;
    const size_t size = make(3);
    const uint32_t crc = crc32_add(0, content, 3);
    const uint8_t expected[] = {0,
                                2,
                                0x11,
                                6,
                                0x22,
                                (uint8_t)crc,
                                (uint8_t)(crc >> 8),
                                (uint8_t)(crc >> 16),
                                (uint8_t)(crc >> 24),
                                0};
    TEST_ASSERT_EQUAL(sizeof expected, size);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(expected, line, size);
}

static void test_round_trip_of_every_size(void) {
    frame_reader_t reader;
    frame_reader_init(&reader, taken, sizeof taken);
    for (size_t size = 1; size <= FRAME_CONTENT_MAX; size++) {
        for (unsigned kind = 0; kind < 3; kind++) { /* random bytes, only zeros, no zeros */
            for (size_t i = 0; i < size; i++) {
                const uint8_t byte = (uint8_t)random_next();
                content[i] = kind == 0 ? byte : kind == 1 ? 0 : byte | 1;
            }
            const size_t n = make(size);
            TEST_ASSERT_EQUAL(size + FRAME_OVERHEAD, n);
            TEST_ASSERT_NULL(memchr(line + 1, 0, n - 2));
            TEST_ASSERT_EQUAL(size, take_all(&reader, line, n));
            TEST_ASSERT_EQUAL_HEX8_ARRAY(content, taken, size);
        }
    }
    TEST_ASSERT_EQUAL_UINT32(3 * FRAME_CONTENT_MAX, reader.stats.good);
    TEST_ASSERT_EQUAL_UINT32(0, reader.stats.damaged + reader.stats.overlong);
}

/*
 * Bytes between two frames, even if no 0 ends them, do no harm after the next 0. A damaged frame
 * costs only itself.
 */
static void test_garbage_costs_the_frame_it_hits(void) {
    frame_reader_t reader;
    frame_reader_init(&reader, taken, sizeof taken);
    memset(content, 7, sizeof content);
    const size_t n = make(20);
    for (size_t hit = 1; hit + 1 < n; hit++) {
        TEST_ASSERT_EQUAL(0, take_all(&reader, (const uint8_t *)"boot: some text\n", 16));
        TEST_ASSERT_EQUAL(20, take_all(&reader, line, n));
        const uint8_t kept = line[hit];
        line[hit] ^= 0x40;
        TEST_ASSERT_EQUAL(0, take_all(&reader, line, n));
        line[hit] = kept;
        TEST_ASSERT_EQUAL(20, take_all(&reader, line, n));
    }
}

static void test_room_is_kept(void) {
    uint8_t small[FRAME_READ_ROOM(10) + 1] = {0};
    small[sizeof small - 1] = 0x5a;
    frame_reader_t reader;
    frame_reader_init(&reader, small, sizeof small - 1);
    memset(content, 3, sizeof content);
    size_t n = make(10);
    TEST_ASSERT_EQUAL(10, take_all(&reader, line, n));
    n = make(11);
    TEST_ASSERT_EQUAL(0, take_all(&reader, line, n));
    TEST_ASSERT_EQUAL_UINT32(1, reader.stats.overlong);
    TEST_ASSERT_EQUAL_HEX8(0x5a, small[sizeof small - 1]);
    n = make(1);
    TEST_ASSERT_EQUAL(1, take_all(&reader, line, n));
}

/*
 * A CRC-32 accepts one of 2^32 random frames. The 100 million bytes of `make test-long` contain a
 * few million ends of frames, so a single accepted frame is almost certainly a bug.
 */
static void test_noise(void) {
    frame_reader_t reader;
    frame_reader_init(&reader, taken, sizeof taken);
    for (uint32_t i = 0; i < NOISE_BYTES; i++) {
        const uint32_t r = random_next();
        /* Zeros and full blocks are more frequent than in random bytes. */
        const uint8_t byte = (r & 0xf0000) == 0    ? 0
                             : (r & 0xf00000) == 0 ? 0xff
                                                   : (uint8_t)(r >> 8);
        TEST_ASSERT_EQUAL(0, frame_take(&reader, byte));
    }
    TEST_ASSERT_EQUAL_UINT32(0, reader.stats.good);
    TEST_ASSERT_GREATER_THAN_UINT32(NOISE_BYTES / 1000,
                                    reader.stats.damaged + reader.stats.overlong);
    harness_note_number("random bytes", NOISE_BYTES);
    (void)frame_take(&reader, 0); /* ends the frame that the noise began */
    memset(content, 9, 50);
    TEST_ASSERT_EQUAL(50, take_all(&reader, line, make(50)));
}

/* After a mutation the reader finds either nothing or the unchanged frame, if the mutation had no
 * effect. */
static void test_mutated_frames(void) {
    frame_reader_t reader;
    frame_reader_init(&reader, taken, sizeof taken);
    for (uint32_t i = 0; i < MUTATED_FRAMES; i++) {
        const size_t size = 1 + random_next() % FRAME_CONTENT_MAX;
        for (size_t k = 0; k < size; k++)
            content[k] = (uint8_t)random_next();
        size_t n = make(size);
        const uint32_t kind = random_next() % 4;
        const size_t at = 1 + random_next() % (n - 2);
        if (kind == 0) {
            line[at] ^= (uint8_t)(1u << random_next() % 8);
        } else if (kind == 1) { /* a byte is lost */
            memmove(line + at, line + at + 1, n - at - 1);
            n--;
        } else if (kind == 2) { /* a burst of wrong bytes */
            for (size_t k = at; k < n - 1 && k < at + 6; k++)
                line[k] = (uint8_t)random_next();
        } else { /* cut off; the next frame follows at once */
            n = at;
        }
        for (size_t k = 0; k < n; k++) {
            const size_t got = frame_take(&reader, line[k]);
            if (got > 0) {
                TEST_ASSERT_EQUAL(size, got);
                TEST_ASSERT_EQUAL_HEX8_ARRAY(content, taken, size);
            }
        }
        (void)frame_take(&reader, 0);
    }
    harness_note_number("mutated frames", MUTATED_FRAMES);
    harness_note_number("of them damaged", (int64_t)reader.stats.damaged + reader.stats.overlong);
    TEST_ASSERT_GREATER_THAN_UINT32(MUTATED_FRAMES * 9 / 10, reader.stats.damaged);
}

static void test_numbers(void) {
    uint8_t bytes[32];
    TEST_ASSERT_EQUAL_PTR(bytes + 2, put_u16(bytes, 0xbeef));
    TEST_ASSERT_EQUAL_PTR(bytes + 7, put_u32(bytes + 3, 0xdeadbeef));
    TEST_ASSERT_EQUAL_PTR(bytes + 13, put_f32(bytes + 9, -1.5f));
    TEST_ASSERT_EQUAL_PTR(bytes + 25, put_f64(bytes + 17, 0.1));
    TEST_ASSERT_EQUAL_HEX16(0xbeef, get_u16(bytes));
    TEST_ASSERT_EQUAL_HEX8(0xef, bytes[0]);
    TEST_ASSERT_EQUAL_HEX32(0xdeadbeef, get_u32(bytes + 3));
    TEST_ASSERT_TRUE(get_f32(bytes + 9) == -1.5f);
    TEST_ASSERT_TRUE(get_f64(bytes + 17) == 0.1);
}

TEST_LIST_BEGIN
TEST(test_crc_is_the_known_one)
TEST(test_known_frame)
TEST(test_round_trip_of_every_size)
TEST(test_garbage_costs_the_frame_it_hits)
TEST(test_room_is_kept)
TEST(test_noise)
TEST(test_mutated_frames)
TEST(test_numbers)
TEST_LIST_END
