/* Runs the fuzz target of parts databases briefly in every test run and for ten minutes in the long
 * test. */
#include "test/fuzz/fuzz_robot.h"
#include "test/support/harness.h"

static void test_fuzz(void) {
    static const char *const seeds[] = {"tools/robots/cmu-dd.yaml",
                                        "test/support/robot_data/parts.yaml", NULL};
    static const char *const words[] = {"shape: ",
                                        "cone",
                                        "frustum",
                                        "sphere",
                                        "tube",
                                        "box",
                                        "hole: true",
                                        "radius: ",
                                        "inner_radius: ",
                                        "top_radius: ",
                                        "size: [1, 2, 3]",
                                        "mass: ",
                                        "density: ",
                                        "material: ",
                                        "pose: {xyz: [1, 0, 0]}",
                                        "rpy: [1, 2, 3]",
                                        "parts: ",
                                        "sections: ",
                                        "links: ",
                                        "frame: ",
                                        "part: rod",
                                        "link: ",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ", ",
                                        ": ",
                                        "\n",
                                        "- ",
                                        "1e15",
                                        "1e-300",
                                        "-1",
                                        "0",
                                        "&a ",
                                        "*a",
                                        NULL};
    const fuzz_plan_t plan = {.files = seeds, .words = words};
    const uint64_t tried = fuzz_drive(&plan, FUZZ_SECONDS, 20260701);
    harness_note_number("inputs tried:", (int64_t)tried);
    harness_note_number("of them loaded:", (int64_t)fuzz_loaded());
    TEST_ASSERT_GREATER_THAN(50, tried);
    TEST_ASSERT_GREATER_THAN(5, fuzz_loaded());
}

TEST_LIST_BEGIN
TEST(test_fuzz)
TEST_LIST_END
