/*
 * Tests parts databases. Every solid in closed form is compared with numerical integration, and a
 * solid of many parts with the same solid in one part. Links in drawing frames are moved into the
 * frames of the arm, and cmu-dd is checked as a whole.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"
#include "tools/robot/solid.h"

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------------ numerical integration */

typedef struct {
    double volume, first[3],
        second[6]; /* `second` has the integrals of xx yy zz xy yz xz, not the inertia tensor */
} moments_t;

static void moments_add(moments_t *m, double weight, double x, double y, double z) {
    const double square[6] = {x * x, y * y, z * z, x * y, y * z, x * z};
    m->volume += weight;
    m->first[0] += weight * x;
    m->first[1] += weight * y;
    m->first[2] += weight * z;
    for (int i = 0; i < 6; i++)
        m->second[i] += weight * square[i];
}

/* Points and weights of 5-point Gauss-Legendre integration over a cell from 0 to 1. */
static const double gauss_x[5] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052841,
                                  0.953089922969332};
static const double gauss_w[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444,
                                  0.239314335249683, 0.118463442528095};

static double radius_at(const solid_t *s, double z) {
    if (s->shape == SOLID_CONE)
        return s->radius * (1 - z / s->length);
    if (s->shape == SOLID_FRUSTUM)
        return s->radius + (s->top_radius - s->radius) * z / s->length;
    if (s->shape == SOLID_SPHERE)
        return sqrt(fmax(0, s->radius * s->radius - z * z));
    return s->radius;
}

/* Integrates round bodies in cylinder coordinates, in elements of height dz, width dr and angle
 * dphi. */
static void integrate_round(const solid_t *s, moments_t *m) {
    enum { CELLS = 8 };
    const double from = s->shape == SOLID_SPHERE ? -s->radius : 0;
    const double to = s->shape == SOLID_SPHERE ? s->radius : s->length;
    const double angle = s->shape == SOLID_SEMI_CYLINDER ? pi : 2 * pi;
    for (int a = 0; a < 5 * CELLS; a++) {
        const int layer = a / 5;
        const double z = from + (to - from) * (layer + gauss_x[a % 5]) / CELLS;
        const double inner = s->shape == SOLID_TUBE ? s->inner_radius : 0, outer = radius_at(s, z);
        for (int b = 0; b < 5; b++) {
            const double r = inner + (outer - inner) * gauss_x[b];
            for (int c = 0; c < 5 * CELLS; c++) {
                const int slice = c / 5;
                const double phi = angle * (slice + gauss_x[c % 5]) / CELLS;
                const double weight = gauss_w[a % 5] * gauss_w[b] * gauss_w[c % 5] * (to - from) /
                                      CELLS * (outer - inner) * r * angle / CELLS;
                moments_add(m, weight, r * cos(phi), r * sin(phi), z);
            }
        }
    }
}

static void integrate_box(const solid_t *s, moments_t *m) {
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            for (int c = 0; c < 5; c++)
                moments_add(
                    m, gauss_w[a] * gauss_w[b] * gauss_w[c] * s->size[0] * s->size[1] * s->size[2],
                    s->size[0] * (gauss_x[a] - 0.5), s->size[1] * (gauss_x[b] - 0.5),
                    s->size[2] * (gauss_x[c] - 0.5));
}

static dyn_body_t integrated(const solid_t *s, double density) {
    moments_t m = {0};
    if (s->shape == SOLID_BOX)
        integrate_box(s, &m);
    else
        integrate_round(s, &m);
    dyn_body_t out = {.mass = density * m.volume};
    double about[6]; /* second moments about the centre */
    static const int row[6] = {0, 1, 2, 0, 1, 0}, col[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 3; i++)
        out.com[i] = m.first[i] / m.volume;
    for (int k = 0; k < 6; k++)
        about[k] = density * (m.second[k] - m.volume * out.com[row[k]] * out.com[col[k]]);
    out.inertia[0] = about[1] + about[2];
    out.inertia[1] = about[0] + about[2];
    out.inertia[2] = about[0] + about[1];
    for (int k = 3; k < 6; k++)
        out.inertia[k] = -about[k];
    return out;
}

static void compare_bodies(const dyn_body_t *want, const dyn_body_t *have, double tolerance,
                           const char *what) {
    double size = 0, moment = 0;
    for (int i = 0; i < 6; i++)
        moment = fmax(moment, fabs(want->inertia[i]));
    size = sqrt(moment / want->mass);
    TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance * want->mass, want->mass, have->mass, what);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance * size, want->com[i], have->com[i], what);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(tolerance * moment, want->inertia[i], have->inertia[i],
                                          what);
}

static void test_solids_against_integration(void) {
    static const solid_t solid[] = {
        {.shape = SOLID_CYLINDER, .radius = 0.3, .length = 1.7},
        {.shape = SOLID_SEMI_CYLINDER, .radius = 0.4, .length = 0.9},
        {.shape = SOLID_CONE, .radius = 0.5, .length = 1.2},
        {.shape = SOLID_FRUSTUM, .radius = 0.5, .top_radius = 0.2, .length = 0.8},
        {.shape = SOLID_FRUSTUM, .radius = 0.1, .top_radius = 0.6, .length = 0.3},
        {.shape = SOLID_SPHERE, .radius = 0.7},
        {.shape = SOLID_BOX, .size = {0.2, 0.5, 1.1}},
        {.shape = SOLID_TUBE, .radius = 0.6, .inner_radius = 0.45, .length = 0.5},
        {.shape = SOLID_TUBE, .radius = 0.6, .inner_radius = 0, .length = 0.5}};
    for (size_t i = 0; i < sizeof solid / sizeof solid[0]; i++) {
        char what[32];
        snprintf(what, sizeof what, "solid %zu", i);
        const dyn_body_t have = solid_body(&solid[i], 2700 * solid_volume(&solid[i]));
        const dyn_body_t want = integrated(&solid[i], 2700);
        compare_bodies(&want, &have, 1e-6, what);
    }
}

/* -------------------------------------------------------------------------- databases from text */

static const char head[] =
    "name: parts\nconvention: mdh\ngravity: [0, 0, -9.81]\n"
    "joints:\n  - {name: j, type: revolute, dh: {theta: 0, d: 0, a: 0, alpha: "
    "0}, link: whole}\n";

static dyn_body_t body_of(const char *parts, const char *link) {
    help_text_t text = {0};
    messages_t messages = MESSAGES_INIT;
    help_put(&text, "%sparts:\n%slinks:\n%s", head, parts, link);
    robot_t *robot = help_parse("parts.yaml", text.data, text.size, NULL, &messages);
    TEST_ASSERT_EQUAL(ROBOT_FORMAT_PARTS, robot->format);
    TEST_ASSERT_EQUAL_STRING("whole", robot->joint[0].link_name);
    const dyn_body_t body = robot->joint[0].source.link;
    help_text_free(&text);
    help_free(robot);
    messages_free(&messages);
    return body;
}

static void test_many_parts_are_the_solid_they_make(void) {
    help_text_t parts = {0}, link = {0};
    /* The link is a cylinder of ten slices; each slice consists of two half cylinders. */
    help_put(&parts, "  - name: half\n    sections:\n      - {shape: semi_cylinder, radius: 0.3, "
                     "length: 0.1, density: 1000}\n");
    help_put(&link, "  - name: whole\n    parts:\n");
    for (int i = 0; i < 20; i++) {
        const int slice = i / 2;
        help_put(&link, "      - {part: half, pose: {xyz: [0, 0, %g], rpy: [0, 0, %.17g]}}\n",
                 0.1 * slice, i % 2 ? pi : 0);
    }
    const dyn_body_t many = body_of(parts.data, link.data);
    const dyn_body_t one =
        body_of("  - name: all\n    sections:\n      - {shape: cylinder, radius: "
                "0.3, length: 1, density: 1000}\n",
                "  - name: whole\n    parts: [{part: all}]\n");
    /* The tolerance allows twenty sums of numbers of the size of the result. */
    compare_bodies(&one, &many, 1e-14 * 20, "slices");
    help_text_free(&parts);
    help_text_free(&link);
}

static void test_box_of_eight_boxes(void) {
    help_text_t parts = {0};
    help_put(&parts, "  - name: all\n    sections:\n");
    for (int i = 0; i < 8; i++)
        help_put(&parts,
                 "      - {shape: box, size: [0.1, 0.2, 0.3], mass: 0.5, pose: {xyz: [%g, %g, "
                 "%g]}}\n",
                 i & 1 ? 0.05 : -0.05, i & 2 ? 0.1 : -0.1, i & 4 ? 0.15 : -0.15);
    const char *link = "  - name: whole\n    parts: [{part: all, pose: {xyz: [1, 2, 3], rpy: [0.3, "
                       "-0.4, 0.5]}}]\n";
    const dyn_body_t many = body_of(parts.data, link);
    const dyn_body_t one =
        body_of("  - name: all\n    sections:\n      - {shape: box, size: [0.2, 0.4, 0.6], mass: "
                "4}\n",
                link);
    compare_bodies(&one, &many, 1e-13, "boxes");
    help_text_free(&parts);
}

static void test_hole_makes_a_tube(void) {
    const char *link = "  - name: whole\n    parts: [{part: all}]\n";
    /* The hole comes first, so the mass is negative until the cylinder is added. */
    const dyn_body_t bored =
        body_of("  - name: all\n    sections:\n"
                "      - {shape: cylinder, radius: 0.2, length: 0.7, density: 2700, hole: true}\n"
                "      - {shape: cylinder, radius: 0.3, length: 0.7, density: 2700}\n",
                link);
    const dyn_body_t tube =
        body_of("  - name: all\n    sections:\n      - {shape: tube, radius: 0.3, "
                "inner_radius: 0.2, length: 0.7, density: 2700}\n",
                link);
    compare_bodies(&tube, &bored, 1e-14, "tube");
}

static void test_convenient_frame_moves_into_the_arms_frame(void) {
    const char *parts =
        "  - name: all\n    sections:\n      - {shape: cone, radius: 0.1, length: 0.4, "
        "mass: 2}\n";
    const dyn_body_t plain = body_of(parts, "  - name: whole\n    parts: [{part: all}]\n");
    /* The frame of the arm and the part move by the same pose in the drawing, so the result is the
     * same. */
    const dyn_body_t moved =
        body_of(parts, "  - name: whole\n    frame: {xyz: [0.5, -0.25, 1], rpy: [0.7, -0.2, 1.1]}\n"
                       "    parts: [{part: all, pose: {xyz: [0.5, -0.25, 1], rpy: [0.7, -0.2, "
                       "1.1]}}]\n");
    compare_bodies(&plain, &moved, 1e-14, "frame");
    /* The drawing is turned by 90 degrees about x, so that its z points along -y of the arm. */
    const dyn_body_t turned = body_of(
        parts, "  - name: whole\n    frame: {rpy: [-1.5707963267948966, 0, 0]}\n    parts: [{part: "
               "all}]\n");
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.1, turned.com[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, plain.inertia[2], turned.inertia[1]);
}

/* ---------------------------------------------------------------------------- cmu-dd as a whole */

/* At q = 0 the arm hangs straight, and the drawing frames of its links are upright at these heights
 * (tools/robots/cmu-dd.yaml). */
static void test_cmu_dd_hangs_straight(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("cmu-dd", NULL, &messages);
    static const double height[6] = {0, 0, 0.6, 0.6, 1.05, 1.05};
    TEST_ASSERT_EQUAL(6, robot->n);
    double mass = 0, moment = 0;
    dyn_pose_t pose = robot->model.base;
    for (uint32_t i = 0; i < robot->n; i++) {
        const dyn_pose_t step = dyn_pose_joint(&robot->model.joint[i], 0);
        pose = dyn_pose_compose(&pose, &step);
        const dyn_body_t body = dyn_body_move(&robot->model.joint[i].link, &pose);
        mass += body.mass;
        moment += body.mass * body.com[2];
        /* Every link is built around the axis of the arm: its centre of mass lies on the axis,
         * within 0.3 m of its height. */
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, body.com[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, body.com[1]);
        TEST_ASSERT_DOUBLE_WITHIN(0.3, height[i], body.com[2]);
        const double *I = body.inertia;
        TEST_ASSERT_TRUE(I[0] > 0 && I[1] > 0 && I[2] > 0);
        TEST_ASSERT_TRUE(I[0] + I[1] > I[2] && I[0] + I[2] > I[1] && I[1] + I[2] > I[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, I[3]);
    }
    TEST_ASSERT_TRUE(moment > 0 && mass > 0);
    /* Masses and centres of the end effector's parts, computed by hand: rotor (two solids about the
     * wrist), palm, two fingers, ball, and a cone that stands on its tip, with its centre of mass a
     * quarter of its length below its base. */
    const double part[5] = {
        5200 * pi * 0.045 * (0.029 * 0.029 - 0.015 * 0.015) + 7850 * pi * 0.07 * 0.008 * 0.008,
        2700 * 0.07 * 0.09 * 0.03, 2 * 1200 * 0.02 * 0.012 * 0.06,
        1200 * 4 * pi / 3 * 0.012 * 0.012 * 0.012, 2700 * pi * 0.02 * 0.02 * 0.03 / 3};
    static const double place[5] = {0, 0.045, 0.09, 0.065, 0.03 - 0.03 / 4};
    double effector = 0, along = 0;
    for (int i = 0; i < 5; i++) {
        effector += part[i];
        along += part[i] * place[i];
    }
    const dyn_body_t *last = &robot->joint[5].source.link;
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, effector, last->mass);
    /* In the frame of the arm, x points along the end effector, and the origin is 0.12 m from the
     * wrist. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, along / effector - 0.12, last->com[0]);
    /* The arm that hangs straight rests without torque at any angle of the first joint and of the
     * roll joints. */
    const double q[6] = {0.7, 0, -0.3, 0, 1.1, 0}, rest[6] = {0};
    double tau[6];
    help_torque(&robot->model, q, rest, rest, false, tau);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, 0, tau[i]);
    /* With the shoulder at a right angle, the torque is the sum of all weights times their
     * distances. */
    double beyond = 0;
    const double out[6] = {0, pi / 2, 0, 0, 0, 0};
    pose = robot->model.base;
    for (uint32_t i = 0; i < robot->n; i++) {
        const dyn_pose_t step = dyn_pose_joint(&robot->model.joint[i], 0);
        pose = dyn_pose_compose(&pose, &step);
        const dyn_body_t body = dyn_body_move(&robot->model.joint[i].link, &pose);
        beyond += i > 0 ? body.mass * body.com[2] * 9.80621 : 0;
    }
    help_torque(&robot->model, out, rest, rest, false, tau);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, beyond, fabs(tau[1]));
    TEST_ASSERT_EQUAL(0, robot_check(robot, &messages));
    TEST_ASSERT_EQUAL(0, messages.warnings);
    help_free(robot);
    messages_free(&messages);
}

static void test_unused_link_is_named(void) {
    static const char text[] =
        "name: p\nconvention: mdh\ngravity: [0, 0, -9.81]\n"
        "joints: [{name: j, type: revolute, dh: {theta: 0, d: 0, a: 0, alpha: 0}, link: one}]\n"
        "parts: [{name: ball, sections: [{shape: sphere, radius: 0.1, mass: 1}]}]\n"
        "links:\n  - {name: one, parts: [{part: ball}]}\n  - {name: two, parts: [{part: ball}]}\n";
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_parse("p", text, sizeof text - 1, NULL, &messages);
    const message_t *m = help_find(&messages, MESSAGE_IGNORED, "two", "no joint carries this link");
    TEST_ASSERT_NOT_NULL(m);
    TEST_ASSERT_EQUAL(8, m->line);
    help_free(robot);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_solids_against_integration)
TEST(test_many_parts_are_the_solid_they_make)
TEST(test_box_of_eight_boxes)
TEST(test_hole_makes_a_tube)
TEST(test_convenient_frame_moves_into_the_arms_frame)
TEST(test_cmu_dd_hangs_straight)
TEST(test_unused_link_is_named)
TEST_LIST_END
