/* Runs the fuzz target of URDF files briefly in every test run and for ten minutes in the long
 * test. */
#include "test/fuzz/fuzz_robot.h"
#include "test/support/harness.h"

static void test_fuzz(void) {
    static const char *const seeds[] = {"test/support/robot_data/gripper.urdf",
                                        "test/support/robot_data/chain.urdf", NULL};
    static const char *const words[] = {"<link name=\"x\"/>",
                                        "<joint name=\"j\" type=\"fixed\">",
                                        "</joint>",
                                        "<robot>",
                                        "</robot>",
                                        "<inertial>",
                                        "</inertial>",
                                        "<mimic joint=\"turn\"/>",
                                        "xacro:",
                                        "${x}",
                                        "type=\"floating\"",
                                        "&lt;",
                                        "&#10;",
                                        "<!DOCTYPE a [",
                                        "<!ENTITY a \"b\">",
                                        "<!--",
                                        "-->",
                                        "<![CDATA[",
                                        "]]>",
                                        "1e308",
                                        "nan",
                                        "-0",
                                        "\"",
                                        ">",
                                        "<",
                                        "/",
                                        "xyz=\"0 0 0\"",
                                        "rpy=\"1 2 3\"",
                                        "<axis xyz=\"1 1 0\"/>",
                                        "<parent link=\"palm\"/>",
                                        "<child link=\"boom\"/>",
                                        "\xff\xfe",
                                        "<?xml version=\"1.1\"?>",
                                        "mechanicalReduction",
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
