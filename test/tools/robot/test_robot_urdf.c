/*
 * Tests the reader of URDF files: the chain, a note for each frozen joint and each lumped link, and
 * the resulting arm. The arm is compared with a second reading of the same file: the code below
 * places and sums every link of the tree and shares only expat with the reader.
 */
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

#define GRIPPER "test/support/robot_data/gripper.urdf"

/* --------------------------------------------------------------- the second reading of the tree */

enum { TREE_MAX = 80 };

typedef struct {
    char name[100], parent[100], child[100], type[32];
    double xyz[3], rpy[3], axis[3], q;
    bool frozen;
} joint_t;

typedef struct {
    char name[100];
    double mass, xyz[3], rpy[3], six[6];
} link_t;

typedef struct {
    joint_t joint[TREE_MAX];
    link_t link[TREE_MAX];
    int joints, links, depth, inside; /* inside = 1: in a link, 2: in a joint */
} second_t;

static void triple(const char **attribute, const char *key, double out[3]) {
    for (; *attribute; attribute += 2)
        if (strcmp(attribute[0], key) == 0)
            TEST_ASSERT_EQUAL(3, sscanf(attribute[1], "%lf %lf %lf", &out[0], &out[1], &out[2]));
}

static const char *get(const char **attribute, const char *key) {
    for (; *attribute; attribute += 2)
        if (strcmp(attribute[0], key) == 0)
            return attribute[1];
    return "";
}

static void second_begin(void *context, const char *name, const char **attribute) {
    second_t *t = context;
    link_t *link = &t->link[t->links - (t->links > 0)];
    joint_t *joint = &t->joint[t->joints - (t->joints > 0)];
    t->depth++;
    if (t->depth == 2) {
        t->inside = 0;
        if (strcmp(name, "link") == 0) {
            t->inside = 1;
            strcpy(t->link[t->links++].name, get(attribute, "name"));
        } else if (strcmp(name, "joint") == 0) {
            t->inside = 2;
            joint = &t->joint[t->joints++];
            strcpy(joint->name, get(attribute, "name"));
            strcpy(joint->type, get(attribute, "type"));
            joint->axis[0] = 1;
        }
    } else if (t->inside == 1 && t->depth == 4) {
        static const char *const key[6] = {"ixx", "iyy", "izz", "ixy", "iyz", "ixz"};
        if (strcmp(name, "mass") == 0)
            link->mass = atof(get(attribute, "value"));
        if (strcmp(name, "inertia") == 0)
            for (int i = 0; i < 6; i++)
                link->six[i] = atof(get(attribute, key[i]));
        /* This is the origin of <inertial>, because second_read removes <visual> and <collision>.
         * It misses those with attributes, but in these files none of them follows <inertial> in
         * its link with another origin. */
        if (strcmp(name, "origin") == 0) {
            double xyz[3] = {0}, rpy[3] = {0};
            triple(attribute, "xyz", xyz);
            triple(attribute, "rpy", rpy);
            memcpy(link->xyz, xyz, sizeof xyz);
            memcpy(link->rpy, rpy, sizeof rpy);
        }
    } else if (t->inside == 2 && t->depth == 3) {
        if (strcmp(name, "parent") == 0)
            strcpy(joint->parent, get(attribute, "link"));
        if (strcmp(name, "child") == 0)
            strcpy(joint->child, get(attribute, "link"));
        if (strcmp(name, "origin") == 0) {
            triple(attribute, "xyz", joint->xyz);
            triple(attribute, "rpy", joint->rpy);
        }
        if (strcmp(name, "axis") == 0)
            triple(attribute, "xyz", joint->axis);
    }
}

static void second_end(void *context, const char *name) {
    (void)name;
    ((second_t *)context)->depth--;
}

/* Blanks all text from `begin` to `end`: comments, and visuals and collisions, because only the
 * <inertial> element may set the origin of a link. */
static void cut(char *text, const char *begin, const char *end) {
    for (char *at = strstr(text, begin); at; at = strstr(at, begin)) {
        char *stop = strstr(at, end);
        TEST_ASSERT_NOT_NULL(stop);
        memset(at, ' ', (size_t)(stop - at) + strlen(end));
    }
}

static second_t *second_read(const char *path) {
    size_t size;
    char *text = help_read(path, &size);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, path);
    cut(text, "<!--", "-->");
    cut(text, "<visual>", "</visual>");
    cut(text, "<collision>", "</collision>");
    second_t *t = calloc(1, sizeof *t);
    TEST_ASSERT_NOT_NULL(t);
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetUserData(parser, t);
    XML_SetElementHandler(parser, second_begin, second_end);
    TEST_ASSERT_EQUAL(XML_STATUS_OK, XML_Parse(parser, text, (int)size, 1));
    XML_ParserFree(parser);
    free(text);
    return t;
}

typedef struct {
    double r[3][3], p[3];
} pose_t;

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

static pose_t turn_about(int axis, double angle) {
    pose_t out = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    out.r[a][a] = out.r[b][b] = cos(angle);
    out.r[a][b] = -sin(angle);
    out.r[b][a] = sin(angle);
    return out;
}

static pose_t pose_of(const double xyz[3], const double rpy[3]) {
    pose_t out = times(turn_about(2, rpy[2]), times(turn_about(1, rpy[1]), turn_about(0, rpy[0])));
    memcpy(out.p, xyz, sizeof out.p);
    return out;
}

/* Rotates about any axis by the matrix exponential: sums the series for 1/1024 of the angle, where
 * 11 terms are exact, then squares the matrix ten times. */
static pose_t motion_of(const joint_t *j) {
    double u[3], norm = 0;
    for (int i = 0; i < 3; i++)
        norm += j->axis[i] * j->axis[i];
    for (int i = 0; i < 3; i++)
        u[i] = j->axis[i] / sqrt(norm);
    pose_t out = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    if (strcmp(j->type, "prismatic") == 0) {
        for (int i = 0; i < 3; i++)
            out.p[i] = u[i] * j->q;
        return out;
    }
    const double small = j->q / 1024;
    const double w[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
    pose_t term = out;
    for (int n = 1; n < 12; n++) {
        pose_t next = {0};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                for (int c = 0; c < 3; c++)
                    next.r[a][b] += term.r[a][c] * w[c][b] * small / n;
                out.r[a][b] += next.r[a][b];
            }
        term = next;
    }
    for (int n = 0; n < 10; n++)
        out = times(out, out);
    return out;
}

typedef struct {
    double mass, first[3], second[3][3]; /* moments about the origin of the base */
} sum_t;

static void sum_add(sum_t *sum, double mass, const double six[6], pose_t pose) {
    const double in[3][3] = {
        {six[0], six[3], six[5]}, {six[3], six[1], six[4]}, {six[5], six[4], six[2]}};
    const double *p = pose.p, square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    sum->mass += mass;
    for (int a = 0; a < 3; a++) {
        sum->first[a] += mass * p[a];
        for (int b = 0; b < 3; b++) {
            sum->second[a][b] += mass * ((a == b ? square : 0) - p[a] * p[b]);
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    sum->second[a][b] += pose.r[a][c] * in[c][d] * pose.r[b][d];
        }
    }
}

/* Sums all links that a moving joint carries, at the positions stored in the joints. */
static void second_sum(const second_t *t, const char *link, pose_t pose, bool moved, sum_t *sum) {
    for (int i = 0; i < t->links; i++)
        if (strcmp(t->link[i].name, link) == 0 && moved)
            sum_add(sum, t->link[i].mass, t->link[i].six,
                    times(pose, pose_of(t->link[i].xyz, t->link[i].rpy)));
    for (int i = 0; i < t->joints; i++) {
        const joint_t *j = &t->joint[i];
        if (strcmp(j->parent, link) != 0)
            continue;
        pose_t at = times(pose, pose_of(j->xyz, j->rpy));
        if (strcmp(j->type, "fixed") != 0)
            at = times(at, motion_of(j));
        second_sum(t, j->child, at, moved || (strcmp(j->type, "fixed") != 0 && !j->frozen), sum);
    }
}

static const char *second_root(const second_t *t) {
    for (int i = 0; i < t->links; i++) {
        bool child = false;
        for (int k = 0; k < t->joints; k++)
            child = child || strcmp(t->joint[k].child, t->link[i].name) == 0;
        if (!child)
            return t->link[i].name;
    }
    return "";
}

static joint_t *second_joint(second_t *t, const char *name) {
    for (int i = 0; i < t->joints; i++)
        if (strcmp(t->joint[i].name, name) == 0)
            return &t->joint[i];
    TEST_FAIL_MESSAGE(name);
    return NULL;
}

static pose_t from_dyn(const dyn_pose_t *in) {
    pose_t out;
    memcpy(out.r, in->r, sizeof out.r);
    memcpy(out.p, in->p, sizeof out.p);
    return out;
}

/* Computes the same sums from the model that the kernels use. */
static void model_sum(const dyn_model_t *model, const double *q, sum_t *sum) {
    pose_t pose = from_dyn(&model->base);
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_pose_t step = dyn_pose_joint(&model->joint[i], q[i]);
        const dyn_body_t *body = &model->joint[i].link;
        pose = times(pose, from_dyn(&step));
        const pose_t com = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            {body->com[0], body->com[1], body->com[2]}};
        sum_add(sum, body->mass, body->inertia, times(pose, com));
    }
}

/* Tolerance: moments are below 10, and each of up to 8 rotations by motion_of has an error of
 * 1e-13. */
static void compare_sums(const sum_t *want, const sum_t *have) {
    const double tolerance = 10 * 8e-13;
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, want->mass, have->mass);
    for (int a = 0; a < 3; a++) {
        TEST_ASSERT_DOUBLE_WITHIN(tolerance, want->first[a], have->first[a]);
        for (int b = 0; b < 3; b++)
            TEST_ASSERT_DOUBLE_WITHIN(tolerance, want->second[a][b], have->second[a][b]);
    }
}

/* One joint outside the chain and the position at which it is frozen. Lists of these end with
 * NULL. */
typedef struct {
    const char *joint;
    double value;
} frozen_t;

static void compare_with_tree(const robot_t *robot, const char *path, const frozen_t *frozen) {
    second_t *tree = second_read(path);
    uint64_t state = 99;
    for (; frozen->joint; frozen++) {
        second_joint(tree, frozen->joint)->q = frozen->value;
        second_joint(tree, frozen->joint)->frozen = true;
    }
    for (int trial = 0; trial < 20; trial++) {
        double q[DYN_MAX_JOINTS] = {0};
        sum_t want = {0}, have = {0};
        const pose_t identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
        for (uint32_t i = 0; i < robot->n; i++) {
            q[i] = 2 * help_random(&state);
            second_joint(tree, robot->joint[i].name)->q = q[i];
        }
        second_sum(tree, second_root(tree), identity, false, &want);
        model_sum(&robot->model, q, &have);
        compare_sums(&want, &have);
    }
    free(tree);
}

/* ---------------------------------------------------------------------------------------- tests */

static void expect(const messages_t *messages, message_severity_t severity, message_code_t code,
                   const char *subject, const char *part) {
    const message_t *m = help_find(messages, code, subject, part);
    char text[300];
    snprintf(text, sizeof text, "no message %s about %s with \"%s\"", messages_code_name(code),
             subject, part);
    if (!m)
        help_print(messages);
    TEST_ASSERT_NOT_NULL_MESSAGE(m, text);
    if (!m)
        return;
    TEST_ASSERT_EQUAL_MESSAGE(severity, m->severity, text);
    TEST_ASSERT_GREATER_THAN_MESSAGE(0, m->line, text);
}

static void test_default_chain_of_the_gripper(void) {
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(GRIPPER, NULL, &messages);
    static const frozen_t frozen[] = {{"camera_tilt", 0}, {"grip_a", 0.005}, {NULL, 0}};
    TEST_ASSERT_EQUAL(4, robot->n);
    TEST_ASSERT_EQUAL_STRING("grip_b", robot->joint[3].name);
    TEST_ASSERT_EQUAL_STRING("finger_b", robot->joint[3].link_name);
    expect(&messages, MESSAGE_NOTE, MESSAGE_FROZEN, "camera_tilt",
           "the joint is not on the chain, so it is frozen at 0 rad");
    expect(&messages, MESSAGE_WARNING, MESSAGE_MIMIC, "grip_a", "mimics grip_b");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "stand", "12 kg belong to the base");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "camera", "0.3 kg move with the link turret");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "adapter", "(no <inertial>)");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "palm", "0.5 kg move with the link stick");
    expect(&messages, MESSAGE_NOTE, MESSAGE_TRANSMISSION, "lift", "-52.5 is taken as the gear");
    expect(&messages, MESSAGE_NOTE, MESSAGE_IGNORED, "", "<safety_controller>");
    expect(&messages, MESSAGE_NOTE, MESSAGE_IGNORED, "", "<gazebo>");
    expect(&messages, MESSAGE_NOTE, MESSAGE_IGNORED, "", "<other:thing>");
    compare_with_tree(robot, GRIPPER, frozen);
    const robot_joint_t *turn = &robot->joint[0], *lift = &robot->joint[1];
    TEST_ASSERT_EQUAL_DOUBLE(0.5, turn->source.drive.friction.viscous);
    TEST_ASSERT_EQUAL_DOUBLE(-0.25, turn->source.drive.friction.coulomb[0]);
    TEST_ASSERT_EQUAL_DOUBLE(0.25, turn->source.drive.friction.coulomb[1]);
    TEST_ASSERT_FALSE(turn->has & IMAGE_JOINT_HAS_POSITION);
    TEST_ASSERT_EQUAL_DOUBLE(80, turn->source.drive.limits.torque);
    TEST_ASSERT_EQUAL_DOUBLE(-52.5, lift->source.drive.motor.gear);
    TEST_ASSERT_EQUAL_DOUBLE(1.25, lift->source.drive.limits.position[1]);
    help_free(robot);
    messages_free(&messages);
}

static void test_tip_and_freeze(void) {
    messages_t messages = MESSAGES_INIT;
    const robot_freeze_t freeze[] = {{"grip_b", 0.03}, {"camera_tilt", -0.75}, {"slide", 0.125}};
    const robot_options_t options = {.tip = "tcp", .freeze = freeze, .freeze_count = 3};
    robot_t *robot = help_load(GRIPPER, &options, &messages);
    /* The file says grip_a = 1 * grip_b + 0.005. */
    static const frozen_t frozen[] = {
        {"camera_tilt", -0.75}, {"grip_b", 0.03}, {"grip_a", 0.035}, {"slide", 0.125}, {NULL, 0}};
    TEST_ASSERT_EQUAL(2, robot->n);
    expect(&messages, MESSAGE_NOTE, MESSAGE_FROZEN, "slide",
           "--freeze names the joint, so it is frozen at 0.125 m");
    expect(&messages, MESSAGE_NOTE, MESSAGE_MIMIC, "grip_a", "fixed at 0.035 m");
    compare_with_tree(robot, GRIPPER, frozen);
    help_free(robot);
    messages_free(&messages);
}

static void test_effector_is_the_tip(void) {
    messages_t messages = MESSAGES_INIT;
    const robot_options_t options = {.tip = "tcp"};
    robot_t *robot = help_load(GRIPPER, &options, &messages);
    second_t *tree = second_read(GRIPPER);
    const double q[3] = {0.4, -0.7, 0.2};
    TEST_ASSERT_EQUAL(3, robot->n);
    TEST_ASSERT_TRUE(robot->has & IMAGE_HAS_TOOL);
    pose_t want = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}},
           have = from_dyn(&robot->model.base);
    static const char *const path[] = {"bolts", "turn", "screws",   "lift",
                                       "slide", "glue", "tcp_mount"};
    for (uint32_t i = 0; i < 3; i++) {
        const dyn_pose_t step = dyn_pose_joint(&robot->model.joint[i], q[i]);
        second_joint(tree, robot->joint[i].name)->q = q[i];
        have = times(have, from_dyn(&step));
    }
    have = times(have, from_dyn(&robot->model.tool));
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
        const joint_t *j = second_joint(tree, path[i]);
        want = times(want, pose_of(j->xyz, j->rpy));
        if (strcmp(j->type, "fixed") != 0)
            want = times(want, motion_of(j));
    }
    /* motion_of squares ten times, so each turn has an error of 1024 * 2^-53; two turns have
     * 2e-13. */
    for (int a = 0; a < 3; a++) {
        TEST_ASSERT_DOUBLE_WITHIN(5e-13, want.p[a], have.p[a]);
        for (int b = 0; b < 3; b++)
            TEST_ASSERT_DOUBLE_WITHIN(5e-13, want.r[a][b], have.r[a][b]);
    }
    free(tree);
    help_free(robot);
    messages_free(&messages);
}

static void test_frozen_outside_of_its_limits(void) {
    messages_t messages = MESSAGES_INIT;
    const robot_freeze_t freeze[] = {{"camera_tilt", 1.5}};
    const robot_options_t options = {.tip = "tcp", .freeze = freeze, .freeze_count = 1};
    robot_t *robot = help_load(GRIPPER, &options, &messages);
    expect(&messages, MESSAGE_WARNING, MESSAGE_FROZEN, "camera_tilt",
           "outside of the joint's limits -1 to 1");
    help_free(robot);
    messages_free(&messages);
}

/* Two branches have one joint each, so the reader takes the first and names the other in a note. */
static void test_tie_names_the_choice(void) {
    static const char text[] =
        "<robot name='t'><link name='b'/><link name='x'/><link name='y'/>"
        "<joint name='jx' type='revolute'><parent link='b'/><child link='x'/></joint>"
        "<joint name='jy' type='revolute'><parent link='b'/><child link='y'/></joint></robot>";
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_parse("tie", text, sizeof text - 1, NULL, &messages);
    TEST_ASSERT_EQUAL(1, robot->n);
    TEST_ASSERT_EQUAL_STRING("jx", robot->joint[0].name);
    expect(&messages, MESSAGE_NOTE, MESSAGE_CHAIN, "x",
           "a chain to y has just as many moving joints");
    expect(&messages, MESSAGE_NOTE, MESSAGE_FROZEN, "jy", "the joint is not on the chain");
    /* The default axis of a URDF is x. */
    TEST_ASSERT_EQUAL_DOUBLE(1, robot->joint[0].source.axis[0]);
    help_free(robot);
    messages_free(&messages);
}

static void test_prefixed_root_and_utf16(void) {
    static const char text[] = "<u:robot xmlns:u='x' name='p'><u:link name='b'/><u:link name='l'/>"
                               "<u:joint name='j' type='prismatic'><u:parent link='b'/>"
                               "<u:child link='l'/></u:joint></u:robot>";
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_parse("prefix", text, sizeof text - 1, NULL, &messages);
    TEST_ASSERT_EQUAL(1, robot->n);
    TEST_ASSERT_EQUAL_STRING("j", robot->joint[0].name);
    help_free(robot);
    char wide[2 * sizeof text] = "\xFF\xFE";
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        wide[2 + 2 * i] = text[i];
        wide[3 + 2 * i] = 0;
    }
    robot = help_parse("utf16", wide, 2 * sizeof text, NULL, &messages);
    TEST_ASSERT_EQUAL(1, robot->n);
    help_free(robot);
    messages_free(&messages);
}

/* ---------------------------------------------------------------------- arms as users have them */

static char *shared(const char *name) {
    static char path[300];
    size_t size;
    snprintf(path, sizeof path, "../shared/robots/%s", name);
    char *text = help_read(path, &size);
    if (!text)
        TEST_IGNORE_MESSAGE("no ../shared/robots: arms of users are not tried");
    free(text);
    return path;
}

static double moving_mass(const robot_t *robot) {
    double sum = 0;
    for (uint32_t i = 0; i < robot->n; i++)
        sum += robot->model.joint[i].link.mass;
    return sum;
}

/* Every element of a URDF that is not used is reported, as a warning where ignoring it changes the
 * arm. */
static void test_nothing_is_dropped_silently(void) {
    static const struct {
        const char *find, *replace;
        message_severity_t severity;
        message_code_t code;
        const char *subject, *part;
    } cases[] = {
        {"<origin xyz=\"0 0 0.3\"/>", "<origin xzy=\"0 0 0.3\"/>", MESSAGE_WARNING,
         MESSAGE_UNKNOWN_KEY, "j2", "did you mean xyz"},
        {"<origin xyz=\"0 0 0.3\"/>", "<origin xyz=\"0 0 0.3\" RPY=\"1 0 0\"/>", MESSAGE_WARNING,
         MESSAGE_UNKNOWN_KEY, "j2", "RPY of <origin>"},
        {"<origin xyz=\"0 0 0.3\"/>", "<origin xyz=\"0 0 0.3\" quat_xyzw=\"0 0 0 1\"/>",
         MESSAGE_WARNING, MESSAGE_UNKNOWN_KEY, "j2", "rotations are given as rpy"},
        {"<mass value=\"2\"/>", "<mass value=\"2\" unit=\"g\"/>", MESSAGE_WARNING,
         MESSAGE_UNKNOWN_KEY, "arm", "unit of <mass>"},
        {"<mimic joint=\"j1\"", "<mimic joint=\"j1\" multiplyer=\"-2\"", MESSAGE_WARNING,
         MESSAGE_UNKNOWN_KEY, "j3", "did you mean multiplier"},
        {"<joint name=\"j2\"", "<joint rotor=\"1\" name=\"j2\"", MESSAGE_NOTE, MESSAGE_IGNORED, "",
         "rotor of <joint>"},
        {"<link name=\"flange\">", "<link name=\"flange\"><inertia><mass value=\"9\"/></inertia>",
         MESSAGE_WARNING, MESSAGE_UNKNOWN_KEY, "flange", "did you mean <inertial>"},
        {"<joint name=\"j2\" type=\"continuous\">",
         "<joint name=\"j2\" type=\"continuous\"><limits effort=\"1\"/>", MESSAGE_WARNING,
         MESSAGE_UNKNOWN_KEY, "j2", "did you mean <limit>"},
        {"<hardwareInterface/>", "<motorTorqueConstant>1</motorTorqueConstant>", MESSAGE_NOTE,
         MESSAGE_IGNORED, "", "<motorTorqueConstant> of a transmission"},
        {"<mechanicalReduction>50<", "<mechanicalReduction>0<", MESSAGE_NOTE, MESSAGE_IGNORED, "",
         "<mechanicalReduction> of 0"},
        {"<mechanicalReduction>50<", "<mechanicalReduction> <", MESSAGE_NOTE, MESSAGE_IGNORED, "",
         "<mechanicalReduction> without a number"},
        {"</robot>",
         "<transmission name=\"u\"><joint name=\"j1\"/><actuator name=\"b\">"
         "<mechanicalReduction>60</mechanicalReduction></actuator></transmission></robot>",
         MESSAGE_WARNING, MESSAGE_DUPLICATE_NAME, "j1", "60 is used instead of 50"},
        {"<origin xyz=\"0 0 0.1\"/>", "<origin xyz=\"0 0 82\" rpy=\"0 90 0\"/>", MESSAGE_WARNING,
         MESSAGE_UNITS, "plate", "82 m looks like millimetres"},
        {"<mimic joint=\"j1\"", "<mimic joint=\"j1\"", MESSAGE_WARNING, MESSAGE_MIMIC, "j4",
         "the joint mimics j1, a moving joint"},
    };
    static const char body[] = "<inertial><mass value=\"%s\"/><inertia ixx=\"1\" iyy=\"1\" "
                               "izz=\"1\" ixy=\"0\" iyz=\"0\" ixz=\"0\"/></inertial></link>";
    help_text_t urdf = {0};
    static const char *const links[] = {"base", "turret", "arm", "finger", "nail", "flange"};
    help_put(&urdf, "<robot name=\"r\">\n");
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        help_put(&urdf, "<link name=\"%s\">", links[i]);
        help_put(&urdf, body, i == 2 ? "2" : "1");
    }
    help_put(&urdf,
             "<joint name=\"j1\" type=\"continuous\"><parent link=\"base\"/><child "
             "link=\"turret\"/></joint>\n"
             "<joint name=\"j2\" type=\"continuous\"><origin xyz=\"0 0 0.3\"/><parent "
             "link=\"turret\"/><child link=\"arm\"/></joint>\n"
             "<joint name=\"j3\" type=\"continuous\"><parent link=\"arm\"/><child "
             "link=\"finger\"/><mimic joint=\"j1\"/></joint>\n"
             "<joint name=\"j4\" type=\"continuous\"><parent link=\"finger\"/><child "
             "link=\"nail\"/><mimic joint=\"j3\"/></joint>\n"
             "<joint name=\"plate\" type=\"fixed\"><origin xyz=\"0 0 0.1\"/><parent "
             "link=\"arm\"/><child link=\"flange\"/></joint>\n"
             "<transmission name=\"t\"><joint name=\"j1\"><hardwareInterface/></joint><actuator "
             "name=\"a\"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>\n"
             "</robot>\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        messages_t messages = MESSAGES_INIT;
        help_text_t text = {0};
        const char *at = strstr(urdf.data, cases[i].find);
        TEST_ASSERT_NOT_NULL_MESSAGE(at, cases[i].find);
        help_put(&text, "%.*s%s%s", (int)(at - urdf.data), urdf.data, cases[i].replace,
                 at + strlen(cases[i].find));
        robot_t *robot = help_parse("r.urdf", text.data, text.size, NULL, &messages);
        (void)robot_check(robot, &messages);
        expect(&messages, cases[i].severity, cases[i].code, cases[i].subject, cases[i].part);
        help_free(robot);
        help_text_free(&text);
        messages_free(&messages);
    }
    help_text_free(&urdf);
}

static void test_ur5(void) {
    const char *path = shared("ur5_robot.urdf");
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(path, NULL, &messages);
    static const frozen_t none[] = {{NULL, 0}};
    TEST_ASSERT_EQUAL(6, robot->n);
    TEST_ASSERT_EQUAL_STRING("wrist_3_joint", robot->joint[5].name);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3.7 + 8.393 + 2.275 + 1.219 + 1.219 + 0.1879,
                              moving_mass(robot));
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "base_link", "4 kg belong to the base");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "tool0", "move with the link wrist_3_link");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "ee_link", "move with the link wrist_3_link");
    expect(&messages, MESSAGE_NOTE, MESSAGE_TRANSMISSION, "elbow_joint",
           "exporters write this value if they do not know the gear");
    TEST_ASSERT_EQUAL(0, robot_check(robot, &messages));
    /* A well-known mistake of this file: its wrists of 1.2 kg have the inertia of a disc one metre
     * wide. */
    expect(&messages, MESSAGE_WARNING, MESSAGE_INERTIA, "wrist_2_link", "radius of gyration");
    compare_with_tree(robot, path, none);
    help_free(robot);
    messages_free(&messages);
}

static void test_panda_with_and_without_hand(void) {
    const char *path = shared("panda.urdf");
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(path, NULL, &messages);
    static const frozen_t finger[] = {{"panda_finger_joint2", 0}, {NULL, 0}};
    TEST_ASSERT_EQUAL(8, robot->n);
    TEST_ASSERT_EQUAL(DYN_PRISMATIC, robot->model.joint[7].type);
    expect(&messages, MESSAGE_WARNING, MESSAGE_MIMIC, "panda_finger_joint2", "panda_finger_joint1");
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "panda_hand", "0.73 kg move with");
    expect(&messages, MESSAGE_NOTE, MESSAGE_IGNORED, "", "attribute mu_viscous");
    compare_with_tree(robot, path, finger);
    const double whole = moving_mass(robot);
    help_free(robot);
    messages_free(&messages);

    const robot_freeze_t open[] = {{"panda_finger_joint1", 0.04}};
    const robot_options_t options = {.tip = "panda_hand_tcp", .freeze = open, .freeze_count = 1};
    robot = help_load(path, &options, &messages);
    static const frozen_t fingers[] = {
        {"panda_finger_joint1", 0.04}, {"panda_finger_joint2", 0.04}, {NULL, 0}};
    TEST_ASSERT_EQUAL(7, robot->n);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, whole, moving_mass(robot));
    expect(&messages, MESSAGE_NOTE, MESSAGE_FROZEN, "panda_finger_joint1", "0.04 m");
    expect(&messages, MESSAGE_NOTE, MESSAGE_MIMIC, "panda_finger_joint2", "0.04 m");
    compare_with_tree(robot, path, fingers);
    TEST_ASSERT_EQUAL(0, robot_check(robot, &messages));
    help_free(robot);
    messages_free(&messages);
}

static void test_kinova(void) {
    const char *path = shared("kinova.urdf");
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(path, NULL, &messages);
    static const frozen_t none[] = {{NULL, 0}};
    TEST_ASSERT_EQUAL(6, robot->n);
    TEST_ASSERT_TRUE(robot->joint[0].has & ROBOT_JOINT_ENDLESS);
    TEST_ASSERT_EQUAL_DOUBLE(160, robot->joint[0].source.drive.motor.gear);
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "j2s6s200_link_finger_tip_2",
           "move with the link j2s6s200_link_6");
    compare_with_tree(robot, path, none);
    TEST_ASSERT_EQUAL(0, robot_check(robot, &messages));
    TEST_ASSERT_NULL(help_find(&messages, MESSAGE_LIMITS, "j2s6s200_joint_1", "position"));
    help_free(robot);
    messages_free(&messages);
}

static void test_z1(void) {
    const char *path = shared("z1.urdf");
    messages_t messages = MESSAGES_INIT;
    robot_t *robot = help_load(path, NULL, &messages);
    static const frozen_t none[] = {{NULL, 0}};
    TEST_ASSERT_EQUAL(7, robot->n);
    TEST_ASSERT_EQUAL_DOUBLE(2, robot->joint[1].source.drive.friction.viscous);
    expect(&messages, MESSAGE_NOTE, MESSAGE_LUMPED, "gripperStator", "0.526037 kg move with");
    compare_with_tree(robot, path, none);
    help_free(robot);
    messages_free(&messages);
    const robot_options_t options = {.tip = "link06"};
    robot = help_load(path, &options, &messages);
    static const frozen_t gripper[] = {{"jointGripper", 0}, {NULL, 0}};
    TEST_ASSERT_EQUAL(6, robot->n);
    expect(&messages, MESSAGE_NOTE, MESSAGE_FROZEN, "jointGripper", "frozen at 0 rad");
    compare_with_tree(robot, path, gripper);
    help_free(robot);
    messages_free(&messages);
}

TEST_LIST_BEGIN
TEST(test_default_chain_of_the_gripper)
TEST(test_tip_and_freeze)
TEST(test_effector_is_the_tip)
TEST(test_frozen_outside_of_its_limits)
TEST(test_tie_names_the_choice)
TEST(test_prefixed_root_and_utf16)
TEST(test_nothing_is_dropped_silently)
TEST(test_ur5)
TEST(test_panda_with_and_without_hand)
TEST(test_kinova)
TEST(test_z1)
TEST_LIST_END
