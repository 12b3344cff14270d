/*
 * Tests the readers with the reference arms. Every golden arm written as a robot file gives the
 * golden torques, and the robots of tools/robots equal those arms. One arm written in distal DH, in
 * proximal DH, with frames and as URDF gives the same torques each time.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

/* ----------------------------------------------------------------------------- reference values */

static cJSON *golden(const char *name) {
    const char *folder = getenv("GOLDEN");
    char path[512];
    snprintf(path, sizeof path, "%s/%s.json", folder ? folder : "../shared/golden", name);
    size_t size;
    char *text = help_read(path, &size);
    if (!text)
        TEST_IGNORE_MESSAGE("no reference values (../shared/golden or $GOLDEN)");
    cJSON *json = cJSON_Parse(text);
    free(text);
    TEST_ASSERT_NOT_NULL_MESSAGE(json, path);
    return json;
}

static const cJSON *item(const cJSON *object, const char *key) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    TEST_ASSERT_NOT_NULL_MESSAGE(found, key);
    return found;
}

static size_t numbers(const cJSON *list, double *out) {
    const int n = cJSON_GetArraySize(list);
    TEST_ASSERT_LESS_OR_EQUAL(DYN_MAX_JOINTS, n);
    for (int i = 0; i < n; i++)
        out[i] = cJSON_GetArrayItem(list, i)->valuedouble;
    return (size_t)n;
}

static double number(const cJSON *object, const char *key) {
    return item(object, key)->valuedouble;
}

/* The tolerance 1e-10 (1 + largest) is the one of ../shared/golden/README.md. */
static void compare(const robot_t *robot, const cJSON *states, const char *key, bool rotors,
                    const char *what) {
    const cJSON *state;
    int count = 0;
    cJSON_ArrayForEach(state, states) {
        double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], want[DYN_MAX_JOINTS],
            tau[DYN_MAX_JOINTS];
        TEST_ASSERT_EQUAL_MESSAGE(robot->n, numbers(item(state, "q"), q), what);
        numbers(item(state, "qd"), qd);
        numbers(item(state, "qdd"), qdd);
        numbers(item(state, key), want);
        help_torque(&robot->model, q, qd, qdd, rotors, tau);
        double largest = 0;
        for (uint32_t i = 0; i < robot->n; i++)
            largest = fmax(largest, fabs(want[i]));
        for (uint32_t i = 0; i < robot->n; i++)
            TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-10 * (1 + largest), want[i], tau[i], what);
        count++;
    }
    TEST_ASSERT_GREATER_THAN_MESSAGE(0, count, what);
}

/* ---------------------------------------------------------------------- rows as robot file text */

static void put_row_list(help_text_t *t, const char *before, const cJSON *list, const char *after) {
    double value[DYN_MAX_JOINTS];
    const size_t n = numbers(list, value);
    help_put(t, "%s[", before);
    help_put_numbers(t, value, n, ", ");
    help_put(t, "]%s", after);
}

static void put_rows(help_text_t *t, const char *convention, const cJSON *gravity,
                     const cJSON *rows) {
    const bool frames = strcmp(convention, "urdf") == 0;
    help_put(t, "name: golden\nconvention: %s\n",
             frames                              ? "frames"
             : strcmp(convention, "mod_dh") == 0 ? "mdh"
                                                 : "dh");
    put_row_list(t, "gravity: ", gravity, "\njoints:\n");
    const cJSON *row;
    int index = 0;
    cJSON_ArrayForEach(row, rows) {
        help_put(t, "  - name: j%d\n    type: %s\n", ++index,
                 item(row, "type")->valuestring[0] == 'P' ? "prismatic" : "revolute");
        if (frames) {
            put_row_list(t, "    origin: {xyz: ", item(row, "xyz"), ", ");
            put_row_list(t, "rpy: ", item(row, "rpy"), "}\n");
            put_row_list(t, "    axis: ", item(row, "axis"), "\n");
        } else {
            help_put(t, "    dh: {theta: %.17g, d: %.17g, a: %.17g, alpha: %.17g}\n",
                     number(row, "theta"), number(row, "d"), number(row, "a"),
                     number(row, "alpha"));
        }
        help_put(t, "    link: {mass: %.17g, ", number(row, "m"));
        put_row_list(t, "com: ", item(row, frames ? "com_xyz" : "c"), ", ");
        put_row_list(t, "inertia: ", item(row, "I"), "");
        if (frames)
            put_row_list(t, ", rpy: ", item(row, "com_rpy"), "");
        help_put(t, "}\n");
        const cJSON *gear = cJSON_GetObjectItemCaseSensitive(row, "G");
        if (gear && gear->valuedouble != 0)
            help_put(t, "    motor: {gear: %.17g, rotor_inertia: %.17g}\n", gear->valuedouble,
                     number(row, "Jm"));
    }
}

static robot_t *rows_robot(const char *convention, const cJSON *gravity, const cJSON *rows) {
    help_text_t text = {0};
    messages_t messages = MESSAGES_INIT;
    put_rows(&text, convention, gravity, rows);
    robot_t *robot = help_parse("golden.yaml", text.data, text.size, NULL, &messages);
    help_text_free(&text);
    messages_free(&messages);
    return robot;
}

/* ---------------------------------------------------------------------------------------- tests */

static void test_random_chains_in_three_conventions(void) {
    cJSON *json = golden("random_chains");
    const cJSON *chain;
    int seen[3] = {0};
    cJSON_ArrayForEach(chain, item(json, "chains")) {
        char what[80];
        const char *convention = item(chain, "convention")->valuestring;
        snprintf(what, sizeof what, "chain %d, %s", (int)number(chain, "id"), convention);
        robot_t *robot = rows_robot(convention, item(chain, "gravity"), item(chain, "rows"));
        compare(robot, item(chain, "states"), "tau", true, what);
        seen[robot->convention]++;
        help_free(robot);
    }
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_GREATER_THAN(0, seen[i]);
    cJSON_Delete(json);
}

static void compare_named(const char *name, const cJSON *states, const char *key, bool rotors) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(name, NULL, &messages);
    compare(robot, states, key, rotors, name);
    help_free(robot);
    messages_free(&messages);
}

static void test_puma560(void) {
    cJSON *json = golden("puma560");
    compare_named("puma560", item(json, "states"), "tau", true);
    compare_named("puma560", item(json, "states"), "tau_nomotor", false);
    compare_named("puma560", item(item(json, "straight_line"), "samples"), "tau", true);
    cJSON_Delete(json);
}

static void test_puma560_friction_at_one_radian_per_second(void) {
    cJSON *json = golden("puma560");
    double want[DYN_MAX_JOINTS];
    numbers(item(item(json, "rtb_check"), "friction_at_qd1"), want);
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("puma560", NULL, &messages);
    for (uint32_t i = 0; i < robot->n; i++) {
        const dyn_friction_t *f = &robot->model.joint[i].drive.friction;
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * want[i], want[i], f->viscous + f->coulomb[1]);
        TEST_ASSERT_TRUE(f->coulomb[0] < 0);
    }
    help_free(robot);
    messages_free(&messages);
    cJSON_Delete(json);
}

static void test_stanford_variant_a(void) {
    cJSON *json = golden("stanford");
    compare_named("stanford", item(cJSON_GetArrayItem(item(json, "variants"), 0), "cases"), "tau",
                  true);
    cJSON_Delete(json);
}

static void test_planar3r_set_a(void) {
    cJSON *json = golden("planar3r");
    compare_named("planar3r", item(cJSON_GetArrayItem(item(json, "sets"), 0), "cases"), "tau",
                  true);
    cJSON_Delete(json);
}

static void test_piezo6(void) {
    cJSON *json = golden("banse");
    compare_named("piezo6", item(json, "states"), "tau", true);
    cJSON_Delete(json);
}

/* The reference values come from forward dynamics at rest without torque, so inverse dynamics of
 * the reference accelerations must give zero torque. */
static void test_twobody(void) {
    cJSON *json = golden("ascher");
    const cJSON *run = cJSON_GetArrayItem(item(json, "runs"), 0), *steps = item(run, "steps"),
                *step;
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("twobody", NULL, &messages);
    const double rest[2] = {0, 0};
    int count = 0;
    cJSON_ArrayForEach(step, steps) {
        double q[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS], largest = 0;
        numbers(item(step, "q"), q);
        numbers(item(step, "qdd"), qdd);
        help_torque(&robot->model, q, rest, qdd, false, tau);
        for (int i = 0; i < 2; i++)
            largest = fmax(largest, fabs(qdd[i]));
        /* The reference prints qdd with 17 digits, and entries of M are at most 40. The error is
         * therefore about 40 * 2^-53 * largest plus a few more roundings. */
        for (int i = 0; i < 2; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-13 * (1 + largest), 0, tau[i]);
        count++;
    }
    TEST_ASSERT_EQUAL(180, count);
    help_free(robot);
    messages_free(&messages);
    cJSON_Delete(json);
}

static void test_flex2_as_stiff_beams(void) {
    cJSON *json = golden("flexible2");
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load("flex2", NULL, &messages);
    const cJSON *state;
    TEST_ASSERT_TRUE(robot->elastic);
    TEST_ASSERT_EQUAL(1, robot->joint[1].flex.modes_xy);
    cJSON_ArrayForEach(state, item(json, "rigid_states")) {
        double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], re[DYN_MAX_JOINTS] = {0}, tau[DYN_MAX_JOINTS];
        const double none[2] = {0, 0};
        numbers(item(state, "q"), q);
        numbers(item(state, "qd"), qd);
        numbers(item(state, "Re"), re);
        /* Re is the right-hand side of the equations of motion, which is minus the bias. */
        help_torque(&robot->model, q, qd, none, false, tau);
        for (int i = 0; i < 2; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + fabs(re[i])), -re[i], tau[i]);
        const cJSON *matrix = item(state, "I");
        for (int k = 0; k < 2; k++) {
            double unit[2] = {k == 0, k == 1}, row[DYN_MAX_JOINTS] = {0}, with[DYN_MAX_JOINTS];
            numbers(cJSON_GetArrayItem(matrix, k), row);
            help_torque(&robot->model, q, qd, unit, false, with);
            for (int i = 0; i < 2; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + fabs(re[i])), row[i], with[i] - tau[i]);
        }
    }
    help_free(robot);
    messages_free(&messages);
    cJSON_Delete(json);
}

/* -------------------------------------------------------------- one arm, written four ways here */

typedef struct {
    double r[3][3], p[3];
} pose_t;

static pose_t pose_rx(double alpha, double a) {
    const double c = cos(alpha), s = sin(alpha);
    return (pose_t){{{1, 0, 0}, {0, c, -s}, {0, s, c}}, {a, 0, 0}};
}

static pose_t pose_rz(double theta, double d) {
    const double c = cos(theta), s = sin(theta);
    return (pose_t){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, {0, 0, d}};
}

static pose_t times(pose_t a, pose_t b) {
    pose_t out;
    for (int i = 0; i < 3; i++) {
        out.p[i] = a.p[i];
        for (int j = 0; j < 3; j++) {
            out.p[i] += a.r[i][j] * b.p[j];
            out.r[i][j] = 0;
            for (int k = 0; k < 3; k++)
                out.r[i][j] += a.r[i][k] * b.r[k][j];
        }
    }
    return out;
}

static void pose_to_rpy(const pose_t *p, double rpy[3]) {
    rpy[2] = atan2(p->r[1][0], p->r[0][0]);
    rpy[1] = atan2(-p->r[2][0], hypot(p->r[0][0], p->r[1][0]));
    rpy[0] = atan2(p->r[2][1], p->r[2][2]);
}

enum { ARM_MAX = 8 };

typedef struct {
    int n;
    bool prismatic[ARM_MAX];
    double dh[ARM_MAX][4];                                      /* theta d a alpha, distal */
    double mass[ARM_MAX], com[ARM_MAX][3], inertia[ARM_MAX][6]; /* in the distal frame */
    double gravity[3];
} arm_t;

/* Moves the body of link i into the proximal frame, in which the distal frame is at Tx(a)
 * Rx(alpha). */
static void proximal_body(const arm_t *arm, int i, double com[3], double six[6]) {
    static const int row[6] = {0, 1, 2, 0, 1, 0}, col[6] = {0, 1, 2, 1, 2, 2};
    const pose_t t = pose_rx(arm->dh[i][3], arm->dh[i][2]);
    const double *in = arm->inertia[i];
    const double m[3][3] = {{in[0], in[3], in[5]}, {in[3], in[1], in[4]}, {in[5], in[4], in[2]}};
    for (int a = 0; a < 3; a++) {
        com[a] = t.p[a];
        for (int b = 0; b < 3; b++)
            com[a] += t.r[a][b] * arm->com[i][b];
    }
    for (int k = 0; k < 6; k++) {
        six[k] = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                six[k] += t.r[row[k]][a] * m[a][b] * t.r[col[k]][b];
    }
}

static void put_head(help_text_t *t, const arm_t *arm, const char *convention) {
    help_put(t, "name: a\nconvention: %s\ngravity: [", convention);
    help_put_numbers(t, arm->gravity, 3, ", ");
    help_put(t, "]\njoints:\n");
}

static void put_link(help_text_t *t, double mass, const double com[3], const double six[6]) {
    help_put(t, "    link: {mass: %.17g, com: [", mass);
    help_put_numbers(t, com, 3, ", ");
    help_put(t, "], inertia: [");
    help_put_numbers(t, six, 6, ", ");
    help_put(t, "]}\n");
}

static void put_distal(help_text_t *t, const arm_t *arm) {
    put_head(t, arm, "dh");
    for (int i = 0; i < arm->n; i++) {
        const double *d = arm->dh[i];
        help_put(t, "  - name: j%d\n    type: %s\n", i,
                 arm->prismatic[i] ? "prismatic" : "revolute");
        help_put(t, "    dh: {theta: %.17g, d: %.17g, a: %.17g, alpha: %.17g}\n", d[0], d[1], d[2],
                 d[3]);
        put_link(t, arm->mass[i], arm->com[i], arm->inertia[i]);
    }
}

static void put_proximal(help_text_t *t, const arm_t *arm) {
    put_head(t, arm, "mdh");
    for (int i = 0; i < arm->n; i++) {
        const double *d = arm->dh[i], *before = i ? arm->dh[i - 1] : (double[4]){0, 0, 0, 0};
        double com[3], six[6];
        proximal_body(arm, i, com, six);
        help_put(t, "  - name: j%d\n    type: %s\n", i,
                 arm->prismatic[i] ? "prismatic" : "revolute");
        help_put(t, "    dh: {theta: %.17g, d: %.17g, a: %.17g, alpha: %.17g}\n", d[0], d[1],
                 before[2], before[3]);
        put_link(t, arm->mass[i], com, six);
    }
}

/* Returns Rx(alpha) Tx(a) Rz(theta) Tz(d). The motion of the joint about z follows; it commutes
 * with Rz and Tz. */
static void frame_of(const arm_t *arm, int i, double xyz[3], double rpy[3]) {
    const double *before = i ? arm->dh[i - 1] : (double[4]){0, 0, 0, 0};
    const pose_t p = times(pose_rx(before[3], before[2]), pose_rz(arm->dh[i][0], arm->dh[i][1]));
    memcpy(xyz, p.p, sizeof p.p);
    pose_to_rpy(&p, rpy);
}

static void put_urdf(help_text_t *t, const arm_t *arm) {
    help_put(t, "<?xml version=\"1.0\"?>\n<robot name=\"a\">\n<link name=\"base\"/>\n");
    for (int i = 0; i < arm->n; i++) {
        double com[3], six[6], xyz[3], rpy[3];
        proximal_body(arm, i, com, six);
        frame_of(arm, i, xyz, rpy);
        help_put(t, "<link name=\"l%d\"><inertial><origin xyz=\"", i);
        help_put_numbers(t, com, 3, " ");
        help_put(t, "\"/><mass value=\"%.17g\"/>", arm->mass[i]);
        help_put(t, "<inertia ixx=\"%.17g\" iyy=\"%.17g\" izz=\"%.17g\" ", six[0], six[1], six[2]);
        help_put(t, "ixy=\"%.17g\" iyz=\"%.17g\" ixz=\"%.17g\"/>", six[3], six[4], six[5]);
        help_put(t, "</inertial></link>\n<joint name=\"j%d\" type=\"%s\">", i,
                 arm->prismatic[i] ? "prismatic" : "continuous");
        if (i == 0)
            help_put(t, "<parent link=\"base\"/>");
        else
            help_put(t, "<parent link=\"l%d\"/>", i - 1);
        help_put(t, "<child link=\"l%d\"/><axis xyz=\"0 0 %d\"/><origin xyz=\"", i, i + 1);
        help_put_numbers(t, xyz, 3, " ");
        help_put(t, "\" rpy=\"");
        help_put_numbers(t, rpy, 3, " ");
        help_put(t, "\"/></joint>\n");
    }
    help_put(t, "</robot>\n");
}

/* Writes the arm as general frames; the axis of each joint is z of its frame. */
static void put_frames(help_text_t *t, const arm_t *arm) {
    put_head(t, arm, "frames");
    for (int i = 0; i < arm->n; i++) {
        double com[3], six[6], xyz[3], rpy[3];
        proximal_body(arm, i, com, six);
        frame_of(arm, i, xyz, rpy);
        help_put(t, "  - name: j%d\n    type: %s\n    origin: {xyz: [", i,
                 arm->prismatic[i] ? "prismatic" : "revolute");
        help_put_numbers(t, xyz, 3, ", ");
        help_put(t, "], rpy: [");
        help_put_numbers(t, rpy, 3, ", ");
        help_put(t, "]}\n    axis: [0, 0, 1]\n");
        put_link(t, arm->mass[i], com, six);
    }
}

static void random_arm(arm_t *arm, int n, uint64_t *state) {
    *arm = (arm_t){.n = n, .gravity = {0.3, -1.2, -9.6}};
    for (int i = 0; i < n; i++) {
        arm->prismatic[i] = help_random(state) < -0.5;
        arm->dh[i][0] = 3 * help_random(state);
        arm->dh[i][1] = 0.4 * help_random(state);
        arm->dh[i][2] = 0.4 * help_random(state);
        arm->dh[i][3] = i % 3 == 2 ? 0 : 3 * help_random(state);
        arm->mass[i] = 3 + 2 * help_random(state);
        for (int k = 0; k < 3; k++)
            arm->com[i][k] = 0.2 * help_random(state);
        for (int k = 0; k < 3; k++) {
            arm->inertia[i][k] = 0.1 + 0.02 * help_random(state);
            arm->inertia[i][3 + k] = 0.01 * help_random(state);
        }
    }
}

/* Each of 8 links adds about 10 roundings of 1e-16, together about 1e-14 of the largest torque; the
 * test allows a hundred times that. */
static void compare_ways(const arm_t *arm, uint64_t *state) {
    static void (*const way[4])(help_text_t *, const arm_t *) = {put_distal, put_proximal, put_urdf,
                                                                 put_frames};
    robot_t *robot[4];
    for (int k = 0; k < 4; k++) {
        help_text_t text = {0};
        messages_t messages = MESSAGES_INIT;
        const robot_options_t options = {.gravity = arm->gravity};
        way[k](&text, arm);
        robot[k] = help_parse("ways", text.data, text.size, &options, &messages);
        help_text_free(&text);
        messages_free(&messages);
        TEST_ASSERT_EQUAL(arm->n, robot[k]->n);
    }
    for (int trial = 0; trial < 10; trial++) {
        double q[ARM_MAX], qd[ARM_MAX], qdd[ARM_MAX], want[ARM_MAX], tau[ARM_MAX], largest = 0;
        for (int i = 0; i < arm->n; i++) {
            q[i] = (arm->prismatic[i] ? 0.3 : 3) * help_random(state);
            qd[i] = 2 * help_random(state);
            qdd[i] = 5 * help_random(state);
        }
        help_torque(&robot[0]->model, q, qd, qdd, false, want);
        for (int i = 0; i < arm->n; i++)
            largest = fmax(largest, fabs(want[i]));
        for (int k = 1; k < 4; k++) {
            help_torque(&robot[k]->model, q, qd, qdd, false, tau);
            for (int i = 0; i < arm->n; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + largest), want[i], tau[i]);
        }
    }
    for (int k = 0; k < 4; k++)
        help_free(robot[k]);
}

static void test_same_arm_in_every_convention(void) {
    uint64_t state = 42;
    for (int k = 0; k < 60; k++) {
        arm_t arm;
        random_arm(&arm, 1 + k % ARM_MAX, &state);
        compare_ways(&arm, &state);
    }
}

static void test_puma_in_every_convention(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *puma = help_load("puma560", NULL, &messages);
    arm_t arm = {.n = 6, .gravity = {0, 0, -9.81}};
    uint64_t state = 7;
    for (int i = 0; i < 6; i++) {
        const dyn_source_joint_t *s = &puma->joint[i].source;
        const double dh[4] = {s->theta, s->d, s->a, s->alpha};
        memcpy(arm.dh[i], dh, sizeof dh);
        arm.mass[i] = s->link.mass;
        memcpy(arm.com[i], s->link.com, sizeof arm.com[i]);
        memcpy(arm.inertia[i], s->link.inertia, sizeof arm.inertia[i]);
    }
    compare_ways(&arm, &state);
    help_free(puma);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_random_chains_in_three_conventions)
TEST(test_puma560)
TEST(test_puma560_friction_at_one_radian_per_second)
TEST(test_stanford_variant_a)
TEST(test_planar3r_set_a)
TEST(test_piezo6)
TEST(test_twobody)
TEST(test_flex2_as_stiff_beams)
TEST(test_same_arm_in_every_convention)
TEST(test_puma_in_every_convention)
TEST_LIST_END
