/* Runs the fuzz target of robot files briefly in every test run and for ten minutes in the long
 * test. */
#include "test/fuzz/fuzz_robot.h"
#include "test/support/harness.h"

static void test_fuzz(void) {
    static const char *const seeds[] = {
        "tools/robots/puma560.yaml",           "tools/robots/flex2.yaml",
        "tools/robots/stanford.yaml",          "test/support/robot_data/everything.yaml",
        "test/support/robot_data/frames.yaml", NULL};
    static const char *const words[] = {"name: ",
                                        "convention: ",
                                        "mdh",
                                        "frames",
                                        "dh: ",
                                        "gravity: [",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ": ",
                                        ", ",
                                        "\n- ",
                                        "\n  ",
                                        "flex: ",
                                        "modes: {xy: 3}",
                                        "shapes: ",
                                        "&a ",
                                        "*a",
                                        "!!int",
                                        "\"",
                                        "'",
                                        "|\n",
                                        "%YAML 1.2\n",
                                        "---\n",
                                        "1e308",
                                        "-0",
                                        "nan",
                                        ".inf",
                                        "0x1p3",
                                        "999999999999",
                                        "\t",
                                        "\xff",
                                        "#",
                                        "origin: ",
                                        "axis: [0, 0, 0]",
                                        "prismatic",
                                        "coulomb: [-1, 1]",
                                        "null",
                                        "~",
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
