/* Runs the fuzz target of robot images briefly in every test run and for ten minutes in the long
 * test. */
#include <stdlib.h>

#include "test/fuzz/fuzz_robot.h"
#include "test/support/harness.h"
#include "test/support/robot_help.h"
#include "tools/image/robot_image.h"

static void test_fuzz(void) {
    static const char *const robots[] = {"puma560", "stanford", "planar3r", "twobody"};
    enum { ROBOTS = sizeof robots / sizeof robots[0] };
    fuzz_seed_t seed[ROBOTS + 1] = {{0}};
    for (int i = 0; i < ROBOTS; i++) {
        messages_t messages = MESSAGES_INIT;
        robot_t *robot = help_load(robots[i], NULL, &messages);
        seed[i].bytes = robot_image_make(robot, &seed[i].size, &messages);
        TEST_ASSERT_NOT_NULL(seed[i].bytes);
        help_free(robot);
        messages_free(&messages);
    }
    const fuzz_plan_t plan = {.seeds = seed};
    const uint64_t tried = fuzz_drive(&plan, FUZZ_SECONDS, 20260701);
    harness_note_number("inputs tried:", (int64_t)tried);
    harness_note_number("of them loaded:", (int64_t)fuzz_loaded());
    TEST_ASSERT_GREATER_THAN(50, tried);
    TEST_ASSERT_GREATER_THAN(5, fuzz_loaded());
    for (int i = 0; i < ROBOTS; i++)
        free((void *)(uintptr_t)seed[i].bytes);
}

TEST_LIST_BEGIN
TEST(test_fuzz)
TEST_LIST_END
