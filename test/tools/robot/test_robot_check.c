/*
 * Tests `appell check`: which problems it must find, in which line, whether as error or warning,
 * and which correct files must not give a message.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

static const char good[] =
    "name: arm\n"                                                                       /* 1 */
    "convention: dh\n"                                                                  /* 2 */
    "gravity: [0, -9.81, 0]\n"                                                          /* 3 */
    "joints:\n"                                                                         /* 4 */
    "  - name: one\n"                                                                   /* 5 */
    "    type: revolute\n"                                                              /* 6 */
    "    dh: {theta: 0, d: 0, a: 0.5, alpha: 0}\n"                                      /* 7 */
    "    link: {mass: 2, com: [-0.25, 0, 0], inertia: [0.001, 0.05, 0.05, 0, 0, 0]}\n"  /* 8 */
    "    limits: {position: [-2, 2], velocity: 2, torque: 40}\n"                        /* 9 */
    "    motor: {resistance: 1, torque_constant: 0.1, gear: 50, voltage: 24}\n"         /* 10 */
    "  - name: two\n"                                                                   /* 11 */
    "    type: revolute\n"                                                              /* 12 */
    "    dh: {theta: 0, d: 0, a: 0.4, alpha: 0}\n"                                      /* 13 */
    "    link: {mass: 1, com: [-0.2, 0, 0], inertia: [0.001, 0.015, 0.015, 0, 0, 0]}\n" /* 14 */
    "    limits: {position: [-2, 2], velocity: 2, torque: 40}\n";                       /* 15 */

typedef struct {
    const char *find, *replace;
    message_severity_t severity;
    message_code_t code;
    uint32_t line;
    const char *subject, *part;
} case_t;

static const case_t cases[] = {
    {"mass: 2", "mass: 0", MESSAGE_WARNING, MESSAGE_MASS, 8, "one", "inertia but no mass"},
    {"{mass: 2, com: [-0.25, 0, 0], inertia: [0.001, 0.05, 0.05, 0, 0, 0]}",
     "{mass: 0, com: [0, 0, 0], inertia: [0, 0, 0, 0, 0, 0]}", MESSAGE_WARNING, MESSAGE_MASS, 8,
     "one", "the link has no mass"},
    {"mass: 2", "mass: -2", MESSAGE_ERROR, MESSAGE_MASS, 8, "one", "the mass is negative"},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[0.001, 0.05, 0.05, 0.02, 0, 0]", MESSAGE_ERROR,
     MESSAGE_INERTIA, 8, "one", "principal moment is negative"},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[-0.001, 0.05, 0.05, 0, 0, 0]", MESSAGE_ERROR,
     MESSAGE_INERTIA, 8, "one", "principal moment is negative"},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[0.001, 0.05, 0.06, 0, 0, 0]", MESSAGE_WARNING,
     MESSAGE_INERTIA, 8, "one", "triangle inequality"},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[0.001, 0.05, 0.05, 0, 0, 0], rpy: [0.4, 0.5, 0.6]",
     MESSAGE_NOTE, 0, 0, NULL, NULL},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[0, 0, 0, 0, 0, 0]", MESSAGE_WARNING, MESSAGE_INERTIA, 8,
     "one", "but no inertia"},
    {"com: [-0.25, 0, 0]", "com: [-3, 0, 0]", MESSAGE_WARNING, MESSAGE_COM, 8, "one",
     "far outside of a link that reaches 0.5 m"},
    {"com: [-0.25, 0, 0]", "com: [-250, 0, 0]", MESSAGE_WARNING, MESSAGE_UNITS, 8, "one",
     "looks like millimetres"},
    {"a: 0.5", "a: 500", MESSAGE_WARNING, MESSAGE_UNITS, 7, "one",
     "a distance of 500 m looks like millimetres"},
    {"a: 0.5, alpha: 0", "a: 0.5, alpha: 90", MESSAGE_WARNING, MESSAGE_UNITS, 7, "one",
     "an angle of 90 rad looks like degrees"},
    {"position: [-2, 2], velocity: 2, torque: 40}\n    motor",
     "position: [-170, 170], velocity: 2, torque: 40}\n    motor", MESSAGE_WARNING, MESSAGE_UNITS,
     9, "one", "170 rad looks like degrees"},
    {"velocity: 2, torque: 40}\n    motor", "velocity: 180, torque: 40}\n    motor",
     MESSAGE_WARNING, MESSAGE_UNITS, 9, "one", "degrees per second"},
    {"mass: 2", "mass: 2500", MESSAGE_WARNING, MESSAGE_UNITS, 8, "one", "looks like grams"},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[1000, 50000, 50000, 0, 0, 0]", MESSAGE_WARNING,
     MESSAGE_UNITS, 8, "one", "radius of gyration"},
    {"    limits: {position: [-2, 2], velocity: 2, torque: 40}\n    motor", "    motor",
     MESSAGE_WARNING, MESSAGE_LIMITS, 5, "one", "no limits for position, velocity, torque"},
    {"torque: 40}\n    motor", "torque: 0}\n    motor", MESSAGE_WARNING, MESSAGE_LIMITS, 9, "one",
     "a torque or force limit of zero counts as not given"},
    {"velocity: 2, torque: 40}\n    motor", "velocity: 0, torque: 40}\n    motor", MESSAGE_WARNING,
     MESSAGE_LIMITS, 9, "one", "a velocity limit of zero counts as not given"},
    {"position: [-2, 2], velocity: 2, torque: 40}\n    motor",
     "position: [2, -2], velocity: 2, torque: 40}\n    motor", MESSAGE_ERROR, MESSAGE_LIMITS, 9,
     "one", "the lower limit 2 is not below the upper limit -2"},
    {"position: [-2, 2], velocity: 2, torque: 40}\n    motor",
     "position: [1, 1], velocity: 2, torque: 40}\n    motor", MESSAGE_ERROR, MESSAGE_LIMITS, 9,
     "one", "the lower limit 1 is not below the upper limit 1"},
    {"position: [-2, 2], velocity: 2, torque: 40}\n    motor",
     "position: [0, 0], velocity: 2, torque: 40}\n    motor", MESSAGE_WARNING, MESSAGE_LIMITS, 9,
     "one", "a range of zero counts as no limit"},
    {"position: [-2, 2], velocity: 2, torque: 40}\n    motor",
     "position: [-30, 30], velocity: 2, torque: 40}\n    motor", MESSAGE_WARNING, MESSAGE_UNITS, 9,
     "one", "30 rad looks like degrees"},
    {"position: [-2, 2], velocity: 2, torque: 40}\n    motor",
     "position: [-31.4, 31.4], velocity: 2, torque: 40}\n    motor", MESSAGE_NOTE, 0, 0, NULL,
     NULL},
    {"torque: 40}\n    motor", "torque: 40, acceleration: 0}\n    motor", MESSAGE_WARNING,
     MESSAGE_LIMITS, 9, "one", "an acceleration limit of zero counts as not given"},
    {"torque: 40}\n    motor", "torque: 40, acceleration: 5000}\n    motor", MESSAGE_WARNING,
     MESSAGE_UNITS, 9, "one", "5000 rad/s^2 looks like degrees"},
    {"voltage: 24}\n", "voltage: 24}\n    encoder: {counts: 4096, offset: 90}\n", MESSAGE_WARNING,
     MESSAGE_UNITS, 11, "one", "an encoder offset of 90 rad looks like degrees"},
    {"voltage: 24", "voltage: 0", MESSAGE_WARNING, MESSAGE_MOTOR, 10, "one",
     "a supply of 0 V counts as no limit"},
    /* An unknown supply does not hide a torque limit that is too low. */
    {"torque: 40}\n    motor: {resistance: 1, torque_constant: 0.1, gear: 50, voltage: 24}",
     "torque: 11}\n    motor: {resistance: 1, torque_constant: 0.1, gear: 50, voltage: 0}",
     MESSAGE_WARNING, MESSAGE_WEAK, 9, "one", "its torque limit gives 11 N m"},
    {"joints:\n", "tool: {xyz: [0, 0, 150]}\njoints:\n", MESSAGE_WARNING, MESSAGE_UNITS, 4, "tool",
     "150 m looks like millimetres"},
    {"joints:\n", "tool: {rpy: [0, 90, 0]}\njoints:\n", MESSAGE_WARNING, MESSAGE_UNITS, 4, "tool",
     "90 rad looks like degrees"},
    {"joints:\n", "base: {xyz: [0, 0, 1500]}\njoints:\n", MESSAGE_WARNING, MESSAGE_UNITS, 4, "base",
     "1500 m looks like millimetres"},
    {"joints:\n", "payload: {mass: 1, com: [0, 0, 100]}\njoints:\n", MESSAGE_ERROR, MESSAGE_VALUE,
     4, "", "payload_com is 100; it must be -10 to 10 m"},
    {"[0.001, 0.05, 0.05, 0, 0, 0]", "[0.001, 0.05, 0.05, 0, 0, 0], rpy: [0, 0, 180]",
     MESSAGE_WARNING, MESSAGE_UNITS, 8, "one", "180 rad looks like degrees"},
    /* The stretched arm, with 2 kg at 0.25 m and 1 kg at 0.7 m, needs 9.81 * 1.2 = 11.77 N m. */
    {"torque: 40}\n    motor", "torque: 11}\n    motor", MESSAGE_WARNING, MESSAGE_WEAK, 9, "one",
     "its torque limit gives 11 N m"},
    {"torque: 40}\n    motor", "torque: 12}\n    motor", MESSAGE_NOTE, 0, 0, NULL, NULL},
    {"voltage: 24", "voltage: 2", MESSAGE_WARNING, MESSAGE_WEAK, 9, "one",
     "the motor at its supply voltage gives 10 N m"},
    {"gear: 50", "gear: 500", MESSAGE_WARNING, MESSAGE_MOTOR, 10, "one",
     "induces 100 V, but the supply has 24 V"},
    {"resistance: 1", "resistance: 0", MESSAGE_WARNING, MESSAGE_MOTOR, 10, "one",
     "the resistance of the motor is zero"},
    {"torque_constant: 0.1", "torque_constant: 0", MESSAGE_WARNING, MESSAGE_MOTOR, 10, "one",
     "the torque constant of the motor is zero"},
    {"gravity: [0, -9.81, 0]", "gravity: [0, 0, 0]", MESSAGE_WARNING, MESSAGE_GRAVITY, 3, "",
     "gravity is zero"},
    {"gravity: [0, -9.81, 0]", "gravity: [0, -9810, 0]", MESSAGE_WARNING, MESSAGE_GRAVITY, 3, "",
     "9810 m/s^2"},
    {"{mass: 1, com: [-0.2, 0, 0], inertia: [0.001, 0.015, 0.015, 0, 0, 0]}",
     "{mass: 0, com: [0, 0, 0], inertia: [0, 0, 0, 0, 0, 0]}", MESSAGE_WARNING, MESSAGE_SINGULAR,
     14, "two", "moves no inertia"},
    {"joints:\n", "payload: {mass: -1}\njoints:\n", MESSAGE_ERROR, MESSAGE_MASS, 4, "payload",
     "the mass is negative"},
};

/* One problem does not hide the next. */
static void test_all_at_once(void) {
    static const struct {
        const char *link;
        message_code_t code;
        const char *subject, *part;
    } both[] = {
        {"{mass: -1, com: [0, 0, 0], inertia: [-1, 1, 1, 0, 0, 0]}", MESSAGE_MASS, "two",
         "the mass is negative"},
        {"{mass: -1, com: [0, 0, 0], inertia: [-1, 1, 1, 0, 0, 0]}", MESSAGE_INERTIA, "two",
         "principal moment is negative"},
        {"{mass: 0, com: [0, 0, 0], inertia: [0, 0, 0, 0, 0, 0]}", MESSAGE_SINGULAR, "one",
         "moves no inertia"},
        {"{mass: 0, com: [0, 0, 0], inertia: [0, 0, 0, 0, 0, 0]}", MESSAGE_SINGULAR, "two",
         "moves no inertia"},
    };
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        messages_t messages = MESSAGES_INIT;
        help_text_t text = {0};
        help_put(&text, "name: arm\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n");
        for (int k = 0; k < 2; k++)
            help_put(
                &text,
                "  - name: %s\n    type: revolute\n    dh: {theta: 0, d: 0, a: 0.5, alpha: 0}\n"
                "    link: %s\n",
                k ? "two" : "one", both[i].link);
        robot_t *robot = help_parse("ill", text.data, text.size, NULL, &messages);
        (void)robot_check(robot, &messages);
        TEST_ASSERT_NOT_NULL_MESSAGE(
            help_find(&messages, both[i].code, both[i].subject, both[i].part), both[i].part);
        help_free(robot);
        help_text_free(&text);
        messages_free(&messages);
    }
}

static void test_good_arm_is_healthy(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_parse("good", good, strlen(good), NULL, &messages);
    TEST_ASSERT_EQUAL(0, robot_check(robot, &messages));
    help_print(&messages);
    TEST_ASSERT_EQUAL(0, messages.count);
    help_free(robot);
    messages_free(&messages);
}

static void test_table(void) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const case_t *c = &cases[i];
        char what[300];
        help_text_t text = {0};
        messages_t messages = MESSAGES_INIT;
        const char *at = strstr(good, c->find);
        snprintf(what, sizeof what, "case %zu: %s", i, c->part ? c->part : "nothing");
        TEST_ASSERT_NOT_NULL_MESSAGE(at, what);
        help_put(&text, "%.*s%s%s", (int)(at - good), good, c->replace, at + strlen(c->find));
        robot_t *robot = help_parse("ill", text.data, text.size, NULL, &messages);
        const int status = robot_check(robot, &messages);
        const message_t *m = c->part ? help_find(&messages, c->code, c->subject, c->part) : NULL;
        if (c->part && (!m || m->line != c->line || m->severity != c->severity))
            help_print(&messages);
        TEST_ASSERT_EQUAL_MESSAGE(c->severity == MESSAGE_ERROR ? -1 : 0, status, what);
        if (c->part) {
            TEST_ASSERT_NOT_NULL_MESSAGE(m, what);
            if (!m)
                return;
            TEST_ASSERT_EQUAL_MESSAGE(c->severity, m->severity, what);
            TEST_ASSERT_EQUAL_MESSAGE(c->line, m->line, what);
            TEST_ASSERT_TRUE_MESSAGE(*m->cure != '\0', what);
        } else {
            TEST_ASSERT_EQUAL_MESSAGE(0, messages.count, what);
        }
        help_text_free(&text);
        help_free(robot);
        messages_free(&messages);
    }
}

/* The published data load, and only their two well-known flaws are reported. */
static void test_published_puma(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("puma560", NULL, &messages);
    TEST_ASSERT_EQUAL(0, robot_check(robot, &messages));
    TEST_ASSERT_EQUAL(2, messages.warnings);
    TEST_ASSERT_NOT_NULL(help_find(&messages, MESSAGE_MASS, "waist", "no mass"));
    TEST_ASSERT_NOT_NULL(help_find(&messages, MESSAGE_INERTIA, "elbow", "triangle inequality"));
    help_free(robot);
    messages_free(&messages);
}

static void test_robots_of_the_tree_have_no_errors(void) {
    static const char *const names[] = {"stanford", "planar3r", "twobody",
                                        "piezo6",   "flex2",    "cmu-dd"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        messages_t messages = MESSAGES_INIT;
        robot_t *robot = help_load(names[i], NULL, &messages);
        TEST_ASSERT_EQUAL_MESSAGE(0, robot_check(robot, &messages), names[i]);
        /* Papers give no limits, so messages about missing limits are expected. */
        for (size_t k = 0; k < messages.count; k++)
            TEST_ASSERT_EQUAL_MESSAGE(MESSAGE_LIMITS, messages.item[k].code, names[i]);
        help_free(robot);
        messages_free(&messages);
    }
}

/* The largest holding torque of the stretched two-link arm is known to be 11.772 N m. */
static void test_worst_pose_is_found(void) {
    messages_t messages = MESSAGES_INIT;
    help_text_t text = {0};
    const char *at = strstr(good, "torque: 40");
    help_put(&text, "%.*storque: 11.5%s", (int)(at - good), good, at + strlen("torque: 40"));
    robot_t *robot = help_parse("weak", text.data, text.size, NULL, &messages);
    robot_check(robot, &messages);
    const message_t *m = help_find(&messages, MESSAGE_WEAK, "one", "up to 11.7");
    TEST_ASSERT_NOT_NULL(m);
    help_text_free(&text);
    help_free(robot);
    messages_free(&messages);
}

static void test_axes_parallel_but_for_rounding(void) {
    static const char urdf[] =
        "<robot name='r'><link name='b'/><link name='l'/><link name='m'/>\n"
        "<joint name='j' type='continuous'><parent link='b'/><child link='l'/><axis xyz='0 0 1'/>"
        "</joint>\n"
        "<joint name='k' type='continuous'><parent link='l'/><child link='m'/><axis xyz='0 0 1'/>"
        "<origin xyz='0.3 0.2 0' rpy='%s 0 0'/></joint></robot>";
    static const struct {
        const char *roll;
        double parallel_rad;
        bool note, warning;
    } row[] = {{"3.14159265358979", 0, true, false},
               {"3.1416", 0, false, true},
               {"3.1416", 1e-4, true, false},
               {"1.5707963267948966", 0, false, false}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        messages_t messages = MESSAGES_INIT;
        help_text_t text = {0};
        const char *mark = strstr(urdf, "%s");
        help_put(&text, "%.*s%s%s", (int)(mark - urdf), urdf, row[i].roll, mark + 2);
        const robot_options_t options = {.parallel_rad = row[i].parallel_rad};
        robot_t *robot = help_parse("parallel", text.data, text.size, &options, &messages);
        robot_check(robot, &messages);
        TEST_ASSERT_EQUAL(row[i].note,
                          help_find(&messages, MESSAGE_PARALLEL, "k", "was turned") != NULL);
        TEST_ASSERT_EQUAL(row[i].warning,
                          help_find(&messages, MESSAGE_PARALLEL, "k", "almost parallel") != NULL);
        help_text_free(&text);
        help_free(robot);
        messages_free(&messages);
    }
}

/* Links that are fixed to others are checked one by one as the file gives them; the sum of the
 * joined links could hide a mistake. */
static void test_lumped_links_are_named(void) {
    static const struct {
        const char *find, *replace;
        message_severity_t severity;
        message_code_t code;
        uint32_t line;
        const char *subject, *part;
    } row[] = {
        {"ixx=\"0.0004\" iyy=\"0.0003\"", "ixx=\"-0.0004\" iyy=\"0.0003\"", MESSAGE_ERROR,
         MESSAGE_INERTIA, 24, "camera", "a principal moment is negative"},
        {"value=\"0.3\"", "value=\"-0.3\"", MESSAGE_ERROR, MESSAGE_MASS, 23, "camera",
         "the mass is negative"},
        {"ixx=\"0.0006\"", "ixx=\"0.006\"", MESSAGE_WARNING, MESSAGE_INERTIA, 54, "palm",
         "triangle inequality"},
        {"xyz=\"0 0 0.03\"/><mass", "xyz=\"0 0 30\"/><mass", MESSAGE_WARNING, MESSAGE_UNITS, 53,
         "palm", "a centre of mass at 30 m looks like millimetres"},
        /* The stand is fixed to the base. Its mass is wrong, but enters no result, so this is a
         * warning. */
        {"value=\"12\"", "value=\"-12\"", MESSAGE_WARNING, MESSAGE_MASS, 8, "stand",
         "the mass is negative"},
    };
    size_t size;
    char *file = help_read("test/support/robot_data/gripper.urdf", &size);
    TEST_ASSERT_NOT_NULL(file);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        messages_t messages = MESSAGES_INIT;
        help_text_t text = {0};
        const char *at = strstr(file, row[i].find);
        TEST_ASSERT_NOT_NULL_MESSAGE(at, row[i].find);
        help_put(&text, "%.*s%s%s", (int)(at - file), file, row[i].replace,
                 at + strlen(row[i].find));
        robot_t *robot = help_parse("lumped", text.data, text.size, NULL, &messages);
        const int status = robot_check(robot, &messages);
        const message_t *m = help_find(&messages, row[i].code, row[i].subject, row[i].part);
        if (!m || m->line != row[i].line)
            help_print(&messages);
        TEST_ASSERT_EQUAL_MESSAGE(row[i].severity == MESSAGE_ERROR ? -1 : 0, status, row[i].find);
        TEST_ASSERT_NOT_NULL_MESSAGE(m, row[i].find);
        TEST_ASSERT_EQUAL_MESSAGE(row[i].line, m ? m->line : 0, row[i].find);
        TEST_ASSERT_EQUAL_MESSAGE(row[i].severity, m ? m->severity : MESSAGE_NOTE, row[i].find);
        help_text_free(&text);
        help_free(robot);
        messages_free(&messages);
    }
    free(file);
}

TEST_LIST_BEGIN
TEST(test_good_arm_is_healthy)
TEST(test_table)
TEST(test_all_at_once)
TEST(test_published_puma)
TEST(test_robots_of_the_tree_have_no_errors)
TEST(test_worst_pose_is_found)
TEST(test_axes_parallel_but_for_rounding)
TEST(test_lumped_links_are_named)
TEST_LIST_END
