/* A robot saved as a robot file loads into the identical model, whatever format it came from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

static char *saved(const robot_t *robot, size_t *size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    TEST_ASSERT_NOT_NULL(stream);
    TEST_ASSERT_EQUAL(0, robot_save(stream, robot));
    fclose(stream);
    return text;
}

static void compare_shapes(const robot_shape_t *a, const robot_shape_t *b, uint32_t count) {
    TEST_ASSERT_EQUAL(a == NULL, b == NULL);
    for (uint32_t i = 0; a && b && i < count; i++) {
        TEST_ASSERT_EQUAL(a[i].count, b[i].count);
        TEST_ASSERT_EQUAL_MEMORY(a[i].value, b[i].value, a[i].count * sizeof *a[i].value);
    }
}

static void compare(const robot_t *a, const robot_t *b) {
    TEST_ASSERT_EQUAL_STRING(a->name, b->name);
    TEST_ASSERT_EQUAL(a->convention, b->convention);
    TEST_ASSERT_EQUAL(a->n, b->n);
    TEST_ASSERT_EQUAL_HEX(a->has, b->has);
    TEST_ASSERT_EQUAL(a->elastic, b->elastic);
    TEST_ASSERT_EQUAL(a->feedback, b->feedback);
    TEST_ASSERT_EQUAL_MEMORY(&a->rate_hz, &b->rate_hz, sizeof a->rate_hz);
    for (uint32_t i = 0; i < a->n; i++) {
        const robot_joint_t *x = &a->joint[i], *y = &b->joint[i];
        const uint32_t lost = ROBOT_JOINT_ENDLESS |
                              ROBOT_JOINT_INERTIAL; /* a robot file has no place for these flags */
        TEST_ASSERT_EQUAL_STRING(x->name, y->name);
        TEST_ASSERT_EQUAL_HEX(x->has & ~lost, y->has & ~lost);
        TEST_ASSERT_EQUAL_MEMORY(&x->source, &y->source, sizeof x->source);
        TEST_ASSERT_EQUAL_MEMORY(&x->encoder, &y->encoder, sizeof x->encoder);
        TEST_ASSERT_EQUAL_MEMORY(&x->kp, &y->kp, sizeof x->kp);
        TEST_ASSERT_EQUAL_MEMORY(&x->kd, &y->kd, sizeof x->kd);
        TEST_ASSERT_EQUAL(x->elastic, y->elastic);
        robot_flex_t f = x->flex, g = y->flex;
        TEST_ASSERT_EQUAL(f.modes_xy, g.modes_xy);
        compare_shapes(f.shape_xy, g.shape_xy, f.modes_xy);
        compare_shapes(f.shape_xz, g.shape_xz, f.modes_xz);
        compare_shapes(f.shape_torsion, g.shape_torsion, f.modes_torsion);
        f.shape_xy = f.shape_xz = f.shape_torsion = NULL;
        g.shape_xy = g.shape_xz = g.shape_torsion = NULL;
        TEST_ASSERT_EQUAL_MEMORY(&f, &g, sizeof f);
    }
    TEST_ASSERT_EQUAL_MEMORY(&a->model, &b->model, sizeof a->model);
}

static void round_trip(const char *what, const robot_options_t *options) {
    messages_t messages = MESSAGES_INIT;
    size_t size = 0, again = 0;
    robot_t *robot = help_load(what, options, &messages);
    char *text = saved(robot, &size);
    robot_t *copy = help_parse("saved.yaml", text, size, NULL, &messages);
    char *second = saved(copy, &again);
    compare(robot, copy);
    if (robot->format == ROBOT_FORMAT_FILE)
        TEST_ASSERT_EQUAL_STRING_MESSAGE(text, second, what);
    free(text);
    free(second);
    help_free(robot);
    help_free(copy);
    messages_free(&messages);
}

static void test_robots_of_the_tree(void) {
    static const char *const names[] = {"puma560", "stanford", "planar3r", "twobody",
                                        "piezo6",  "flex2",    "cmu-dd"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        round_trip(names[i], NULL);
}

static void test_every_key(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("test/support/robot_data/everything.yaml", NULL, &messages);
    const robot_joint_t *first = &robot->joint[0], *beam = &robot->joint[1],
                        *last = &robot->joint[2];
    TEST_ASSERT_EQUAL_STRING("all of it", robot->name);
    TEST_ASSERT_EQUAL_HEX(IMAGE_HAS_BASE | IMAGE_HAS_RATE | IMAGE_HAS_FEEDBACK | IMAGE_HAS_TOOL |
                              IMAGE_HAS_PAYLOAD | IMAGE_HAS_BRAKES | IMAGE_BRAKES,
                          robot->has);
    TEST_ASSERT_EQUAL(FEEDBACK_COMPUTED_TORQUE, robot->feedback);
    TEST_ASSERT_EQUAL_DOUBLE(500, robot->rate_hz);
    TEST_ASSERT_EQUAL_HEX((1u << 18) - 1, first->has);
    TEST_ASSERT_EQUAL_DOUBLE(-1.5, first->source.drive.friction.coulomb[0]);
    TEST_ASSERT_EQUAL_DOUBLE(-1, first->encoder.sign);
    TEST_ASSERT_EQUAL_DOUBLE(20, first->kd);
    TEST_ASSERT_EQUAL(11, first->line.link);
    TEST_ASSERT_EQUAL(9, first->line.type);
    TEST_ASSERT_EQUAL_DOUBLE(-2, beam->source.drive.friction.coulomb[0]);
    TEST_ASSERT_EQUAL_DOUBLE(2, beam->source.drive.friction.coulomb[1]);
    TEST_ASSERT_EQUAL_DOUBLE(1, beam->source.drive.motor.gear);
    TEST_ASSERT_FALSE(beam->has & IMAGE_JOINT_HAS_GEAR);
    TEST_ASSERT_TRUE(robot->elastic && beam->elastic && !last->elastic);
    TEST_ASSERT_EQUAL_DOUBLE(2.5 * 0.75, beam->source.link.mass);
    TEST_ASSERT_EQUAL(5, beam->flex.shape_xy[1].count);
    TEST_ASSERT_EQUAL_DOUBLE(-0.7, beam->flex.shape_xy[1].value[2]);
    TEST_ASSERT_NULL(beam->flex.shape_xz);
    TEST_ASSERT_EQUAL_DOUBLE(0.95, beam->flex.shape_torsion[0].value[4]);
    TEST_ASSERT_EQUAL_DOUBLE(1, last->encoder.ratio);
    TEST_ASSERT_EQUAL_HEX(IMAGE_JOINT_HAS_VELOCITY | IMAGE_JOINT_HAS_COUNTS | ROBOT_JOINT_INERTIAL,
                          last->has);
    TEST_ASSERT_EQUAL_DOUBLE(2, robot->payload.mass);
    help_free(robot);
    messages_free(&messages);
    round_trip("test/support/robot_data/everything.yaml", NULL);
}

static void test_urdf_becomes_a_robot_file(void) {
    const robot_options_t tip = {.tip = "tcp"};
    round_trip("test/support/robot_data/gripper.urdf", NULL);
    round_trip("test/support/robot_data/gripper.urdf", &tip);
    static const char *const names[] = {"ur5_robot", "panda", "kinova", "z1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[100];
        size_t size;
        snprintf(path, sizeof path, "../shared/robots/%s.urdf", names[i]);
        char *text = help_read(path, &size);
        if (!text)
            TEST_IGNORE_MESSAGE("no ../shared/robots: only our own URDF was tried");
        free(text);
        round_trip(path, NULL);
    }
}

/* Saves and reads doubles of many sizes, including subnormal numbers, -0 and neighbours of 0.1. */
static void test_numbers_come_back_to_the_last_bit(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("stanford", NULL, &messages);
    uint64_t state = 5;
    for (int trial = 0; trial < 200; trial++) {
        dyn_source_joint_t *s = &robot->joint[trial % 6].source;
        s->a = ldexp(help_random(&state), trial % 40 - 30);
        s->theta = help_random(&state) * 1e-300;
        s->link.mass = fabs(help_random(&state)) * 5e-324;
        s->link.com[1] = -0.0;
        s->link.com[2] = nextafter(0.1, trial % 2);
        TEST_ASSERT_EQUAL(0, robot_settle(robot, 0, &messages));
        size_t size = 0;
        char *text = saved(robot, &size);
        robot_t *copy = help_parse("saved.yaml", text, size, NULL, &messages);
        compare(robot, copy);
        help_free(copy);
        free(text);
    }
    help_free(robot);
    messages_free(&messages);
}

static void test_full_disk_is_told(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("stanford", NULL, &messages);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        TEST_ASSERT_EQUAL(-1, robot_save(full, robot));
        fclose(full);
    }
    help_free(robot);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_robots_of_the_tree)
TEST(test_every_key)
TEST(test_urdf_becomes_a_robot_file)
TEST(test_numbers_come_back_to_the_last_bit)
TEST(test_full_disk_is_told)
TEST_LIST_END
