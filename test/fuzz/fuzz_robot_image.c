/*
 * Fuzz target of both readers of robot images, that of the firmware and that of the tool. A fuzzer
 * cannot get past a wrong checksum, so each input is tried as it is and once more with corrected
 * length and checksum.
 */
#include <stdlib.h>
#include <string.h>

#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "test/fuzz/fuzz_robot.h"
#include "tools/image/robot_image.h"

static image_t image;
static uint8_t again[IMAGE_SIZE_MAX];

/* Reads an image as the board does. An image that is read must give the same bytes when it is
 * written. Returns true if the board accepts it and no bytes follow it. */
static bool board_accepts(const uint8_t *data, size_t size) {
    static dyn_model_t model;
    image_where_t where;
    size_t length = 0;
    dyn_units_t units;
    if (image_read(data, size, &image, &where) != IMAGE_OK)
        return false;
    if (image_write(&image, again, sizeof again, &length, &where) != IMAGE_OK ||
        length != image_length(data, size) || memcmp(again, data, length) != 0)
        fuzz_failed("an image that was read is written as another one");
    if (image_model(&image, &model) != DYN_OK)
        fuzz_failed("an image without a model");
    (void)image_units(&image, &units);
    return length == size;
}

static uint8_t *make(const robot_t *robot, size_t *size) {
    messages_t messages = MESSAGES_INIT;
    uint8_t *bytes = robot_image_make(robot, size, &messages);
    messages_free(&messages);
    return bytes;
}

/* The text of `image --show` must make the identical image. This takes time, because it includes
 * the proof. */
static void same_image(const robot_t *robot, const robot_t *copy) {
    size_t size[2] = {0, 0};
    uint8_t *bytes[2] = {make(robot, &size[0]), make(copy, &size[1])};
    if (!bytes[0] || !bytes[1] || size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0)
        fuzz_failed("the robot file of an image makes another image");
    free(bytes[0]);
    free(bytes[1]);
}

static void one(const uint8_t *data, size_t size) {
    static robot_t robot, copy;
    const robot_options_t options = {.image_magic = IMAGE_MAGIC,
                                     .image_magic_size = sizeof IMAGE_MAGIC - 1,
                                     .image_reader = robot_image_read};
    const bool accepted = board_accepts(data, size);
    if (size < 4 || memcmp(data, IMAGE_MAGIC, 4) != 0 ||
        !fuzz_robot_load(data, size, &options, &robot, &copy))
        return;
    if (!accepted)
        fuzz_failed("the tool takes an image that a board refuses");
    if (crc32_add(0, data, size) % 64 == 0)
        same_image(&robot, &copy);
    robot_free(&robot);
    robot_free(&copy);
}

static void put_word(uint8_t *at, size_t word) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    one(data, size);
    if (size < IMAGE_HEAD_SIZE)
        return 0;
    uint8_t *sealed = fuzz_memory(size);
    memcpy(sealed, data, size);
    put_word(sealed + 12, size);
    put_word(sealed + 4, crc32_add(0, sealed + 8, size - 8));
    one(sealed, size);
    free(sealed);
    return 0;
}
