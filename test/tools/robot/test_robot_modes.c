/*
 * Tests the shapes of beams and the integrals over them: closed forms of the uniform clamped-free
 * beam, shapes given as tables, and refused input.
 */
#include <math.h>
#include <stdlib.h>

#include "test/support/dyn/flex_arms.h"
#include "test/support/harness.h"
#include "test/support/robot_help.h"
#include "tools/robot/modes.h"

/* Allows for the error of the quadrature, 1e-10 of the largest number possible in this place. */
static void near(double want, double got, double scale, const char *what) {
    TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-10 * scale, want, got, what);
}

static void same_link(const dyn_flex_link_t *want, const dyn_flex_link_t *got) {
    const uint32_t modes = dyn_flex_modes(want);
    TEST_ASSERT_EQUAL_UINT32_ARRAY(want->modes, got->modes, DYN_FLEX_KINDS);
    TEST_ASSERT_EQUAL_DOUBLE(want->length, got->length);
    TEST_ASSERT_EQUAL_DOUBLE(want->damping, got->damping);
    double mass = 0, stiffness = 0, slope = 1;
    for (uint32_t k = 0; k < modes; k++) {
        mass = fmax(mass, want->mode[k].mass[k]);
        stiffness = fmax(stiffness, want->mode[k].stiffness[k]);
        slope = fmax(slope, fabs(want->mode[k].slope));
    }
    for (uint32_t k = 0; k < modes; k++) {
        const dyn_flex_mode_t *w = &want->mode[k], *g = &got->mode[k];
        near(w->tip, g->tip, 1, "tip");
        near(w->slope, g->slope, slope, "slope");
        near(w->weight, g->weight, mass, "weight");
        near(w->moment, g->moment, mass * want->length, "moment");
        for (uint32_t h = 0; h < modes; h++) {
            near(w->mass[h], g->mass[h], mass, "mass");
            near(w->stiffness[h], g->stiffness[h], stiffness, "stiffness");
        }
    }
}

static void test_integrals_of_uniform_beams_are_the_closed_forms(void) {
    static const uint32_t sets[][3] = {{6, 0, 0}, {0, 6, 0}, {0, 0, 6}, {3, 3, 0}, {2, 2, 2}};
    static flex_arm_t arm;
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        messages_t messages = MESSAGES_INIT;
        dyn_flex_link_t link;
        arm = (flex_arm_t){.beam = {{.length = 1.3,
                                     .mu = 2.5,
                                     .EI_y = 70,
                                     .EI_z = 90,
                                     .GJ = 11,
                                     .polar = 0.03,
                                     .damping = 0.01,
                                     .xy = sets[s][0],
                                     .xz = sets[s][1],
                                     .torsion = sets[s][2]}}};
        flex_arm_beam(&arm, 0);
        const robot_flex_t beam = {.length = 1.3,
                                   .mass_per_length = 2.5,
                                   .EI_y = 70,
                                   .EI_z = 90,
                                   .GJ = 11,
                                   .polar_inertia = 0.03,
                                   .damping = 0.01,
                                   .modes_xy = sets[s][0],
                                   .modes_xz = sets[s][1],
                                   .modes_torsion = sets[s][2]};
        TEST_ASSERT_EQUAL_INT(0, modes_link(&beam, (message_place_t){0}, &link, &messages));
        same_link(&arm.flex.link[0], &link);
        messages_free(&messages);
    }
}

/* Compares the shape and its derivatives along the beam with the formulas of the textbook, whose
 * rounding error grows with k. */
static void test_shapes_are_those_of_the_textbook(void) {
    const robot_flex_t beam = {.length = 0.8, .modes_xy = 6, .modes_torsion = 6};
    for (uint32_t k = 0; k < 6; k++) {
        modes_shape_t bending, torsion;
        TEST_ASSERT_TRUE(modes_shape(&beam, DYN_FLEX_XY, k, &bending));
        TEST_ASSERT_TRUE(modes_shape(&beam, DYN_FLEX_TORSION, k, &torsion));
        for (int order = 0; order <= 2; order++)
            for (double x = 0; x <= 0.8; x += 0.05) {
                const double scale = pow(modes_root(k) / 0.8, order);
                /* The formula subtracts numbers as large as cosh of the root, 2e7 for the sixth
                 * mode, so its rounding error is larger by that factor. */
                TEST_ASSERT_DOUBLE_WITHIN(scale * 1e-15 * (10 + cosh(modes_root(k))),
                                          flex_bending(k, 0.8, x, order),
                                          modes_at(&bending, x, order));
                TEST_ASSERT_DOUBLE_WITHIN(scale * 1e-14, flex_torsion(k, 0.8, x, order),
                                          modes_at(&torsion, x, order));
            }
    }
}

static void table(double (*shape)(double), uint32_t count, double *value) {
    for (uint32_t i = 0; i < count; i++)
        value[i] = shape((double)i / (count - 1));
}

static double pushed(double x) {
    return x * x * (3 - x) / 2; /* static deflection of a beam with a force at its end */
}

static double twisted(double x) {
    return (3 * x - x * x * x) / 2;
}

static double first_mode(double x) {
    return flex_bending(0, 1, x, 0);
}

/* These cubics satisfy the end conditions of the spline, so the spline equals the shape. */
static void test_tables_are_splines_and_cubics_are_exact(void) {
    double bend[11], twist[6];
    table(pushed, 11, bend);
    table(twisted, 6, twist);
    robot_shape_t xy = {bend, 11}, torsion = {twist, 6};
    const robot_flex_t beam = {.length = 1,
                               .mass_per_length = 4,
                               .EI_z = 7,
                               .GJ = 5,
                               .polar_inertia = 2,
                               .modes_xy = 1,
                               .modes_torsion = 1,
                               .shape_xy = &xy,
                               .shape_torsion = &torsion};
    messages_t messages = MESSAGES_INIT;
    dyn_flex_link_t link;
    TEST_ASSERT_EQUAL_INT(0, modes_link(&beam, (message_place_t){0}, &link, &messages));
    const dyn_flex_mode_t *b = &link.mode[0], *t = &link.mode[1];
    near(1, b->tip, 1, "tip");
    near(1.5, b->slope, 1, "slope");
    near(4 * 3 / 8., b->weight, 1, "weight");
    near(4 * 11 / 40., b->moment, 1, "moment");
    near(4 * 33 / 140., b->mass[0], 1, "mass");
    near(7 * 3, b->stiffness[0], 21, "stiffness");
    near(1, t->slope, 1, "turn of the end");
    near(2 * 5 / 8., t->weight, 1, "weight of torsion");
    near(2 * 17 / 35., t->mass[1], 1, "inertia of torsion");
    near(5 * 6 / 5., t->stiffness[1], 6, "stiffness of torsion");
    near(0, b->mass[1] + t->mass[0] + b->stiffness[1] + t->stiffness[0], 1, "between them");
    messages_free(&messages);
}

/* Compares two forms of the first mode: a table of its values in plane xy, and the closed form in
 * plane xz. */
static void test_a_table_of_the_first_mode_is_nearly_the_first_mode(void) {
    enum { COUNT = 201 };
    double value[COUNT];
    table(first_mode, COUNT, value);
    robot_shape_t xy = {value, COUNT};
    const robot_flex_t beam = {.length = 1,
                               .mass_per_length = 1,
                               .EI_y = 1,
                               .EI_z = 1,
                               .modes_xy = 1,
                               .modes_xz = 1,
                               .shape_xy = &xy};
    messages_t messages = MESSAGES_INIT;
    dyn_flex_link_t link;
    TEST_ASSERT_EQUAL_INT(0, modes_link(&beam, (message_place_t){0}, &link, &messages));
    const dyn_flex_mode_t *y = &link.mode[0], *z = &link.mode[1];
    /* The spline has an error of 5/384 h^4 times the fourth derivative (25), which is 2e-10. Its
     * second derivative has an error of h^2/8 times the fourth derivative, 8e-5. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, y->mass[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, y->mass[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, z->weight, y->weight);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, z->moment, y->moment);
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, -z->slope, y->slope);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4 * z->stiffness[1], z->stiffness[1], y->stiffness[0]);
    messages_free(&messages);
}

static void test_flex2_has_the_modes_of_the_paper(void) {
    static flex_arm_t arm;
    static dyn_flex_model_t flex;
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("flex2", NULL, &messages);
    TEST_ASSERT_EQUAL_INT(0, modes_robot(robot, &flex, &messages));
    flex_arm(FLEX_ARM_PLANAR, &arm);
    same_link(&arm.flex.link[0], &flex.link[0]);
    same_link(&arm.flex.link[1], &flex.link[1]);
    help_free(robot);
    messages_free(&messages);
}

static robot_t *beam_robot(const char *modes, const char *more, messages_t *messages) {
    help_text_t text = {0};
    help_put(&text,
             "name: beam\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n"
             "  - name: one\n    type: revolute\n    dh: {theta: 0, d: 0, a: 0, alpha: 0}\n"
             "    flex: {length: 1, mass_per_length: 5, EI_y: 1, EI_z: 1, GJ: 1, modes: {%s}%s}\n",
             modes, more);
    robot_t *robot = calloc(1, sizeof *robot);
    TEST_ASSERT_NOT_NULL(robot);
    const int status = robot_parse("beam.yaml", text.data, text.size, NULL, robot, messages);
    help_text_free(&text);
    if (status == 0)
        return robot;
    help_free(robot);
    return NULL;
}

static void test_more_modes_than_the_kernels_have_are_refused(void) {
    static dyn_flex_model_t flex;
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = beam_robot("xy: 4, xz: 3", "", &messages);
    TEST_ASSERT_NOT_NULL(robot);
    TEST_ASSERT_EQUAL_INT(-1, modes_robot(robot, &flex, &messages));
    TEST_ASSERT_NOT_NULL(help_find(&messages, MESSAGE_FLEX, "one", "7 modes"));
    help_free(robot);
    messages_free(&messages);
}

static void test_shapes_that_are_the_same_are_refused(void) {
    static dyn_flex_model_t flex;
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = beam_robot("xy: 2",
                                ", shapes: [{plane: xy, values: [0, 0.1, 0.4, 0.9, 1.6]}, "
                                "{plane: xy, values: [0, 0.1, 0.4, 0.9, 1.6]}]",
                                &messages);
    TEST_ASSERT_NOT_NULL(robot);
    TEST_ASSERT_EQUAL_INT(-1, modes_robot(robot, &flex, &messages));
    TEST_ASSERT_NOT_NULL(help_find(&messages, MESSAGE_FLEX, NULL, "positive definite"));
    help_free(robot);
    messages_free(&messages);
}

static void test_torsion_of_the_last_link_needs_inertia(void) {
    messages_t messages = MESSAGES_INIT;
    TEST_ASSERT_NULL(beam_robot("torsion: 1", "", &messages));
    TEST_ASSERT_NOT_NULL(help_find(&messages, MESSAGE_FLEX, "one", "polar_inertia"));
    messages_free(&messages);
    messages = (messages_t)MESSAGES_INIT;
    robot_t *robot = beam_robot("torsion: 1", ", polar_inertia: 0.01", &messages);
    TEST_ASSERT_NOT_NULL(robot);
    help_free(robot);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_integrals_of_uniform_beams_are_the_closed_forms)
TEST(test_shapes_are_those_of_the_textbook)
TEST(test_tables_are_splines_and_cubics_are_exact)
TEST(test_a_table_of_the_first_mode_is_nearly_the_first_mode)
TEST(test_flex2_has_the_modes_of_the_paper)
TEST(test_more_modes_than_the_kernels_have_are_refused)
TEST(test_shapes_that_are_the_same_are_refused)
TEST(test_torsion_of_the_last_link_needs_inertia)
TEST_LIST_END
