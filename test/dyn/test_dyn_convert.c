/* Every input convention is converted into modified DH and must give the same arm, for axes in any
 * position. */
#include "dyn/model/convert.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"

#include <math.h>

static dyn_source_t source;
static dyn_model_t model;
static dyn_report_t report;
static dyn_arms_random_t seed = {2463534242u};

static dyn_pose_t turn_about(const double u[3], double angle) {
    double c = cos(angle), s = sin(angle), v = 1 - c;
    return (dyn_pose_t){
        .r = {{u[0] * u[0] * v + c, u[0] * u[1] * v - u[2] * s, u[0] * u[2] * v + u[1] * s},
              {u[1] * u[0] * v + u[2] * s, u[1] * u[1] * v + c, u[1] * u[2] * v - u[0] * s},
              {u[2] * u[0] * v - u[1] * s, u[2] * u[1] * v + u[0] * s, u[2] * u[2] * v + c}},
        .p = {0, 0, 0}};
}

/* Returns the pose of a joint by the definition of the convention in the file. */
static dyn_pose_t source_joint(const dyn_source_t *src, uint32_t i, double q) {
    const dyn_source_joint_t *j = &src->joint[i];
    const bool prismatic = j->type == DYN_PRISMATIC;
    const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
    dyn_pose_t along = turn_about(z, j->theta + (prismatic ? 0 : q)),
               across = turn_about(x, j->alpha);
    along.p[2] = j->d + (prismatic ? q : 0);
    across.p[0] = j->a;
    if (src->convention == DYN_CONVENTION_DH)
        return dyn_pose_compose(&along, &across);
    if (src->convention == DYN_CONVENTION_MDH)
        return dyn_pose_compose(&across, &along);
    double len = sqrt(j->axis[0] * j->axis[0] + j->axis[1] * j->axis[1] + j->axis[2] * j->axis[2]);
    const double u[3] = {j->axis[0] / len, j->axis[1] / len, j->axis[2] / len};
    dyn_pose_t origin = dyn_pose_rpy(j->xyz, j->rpy), motion = turn_about(u, prismatic ? 0 : q);
    for (int k = 0; k < 3; k++)
        motion.p[k] = prismatic ? u[k] * q : 0;
    return dyn_pose_compose(&origin, &motion);
}

static void expect_pose(const dyn_pose_t *a, const dyn_pose_t *b, double tolerance) {
    for (int r = 0; r < 3; r++) {
        TEST_ASSERT_DOUBLE_WITHIN(tolerance, a->p[r], b->p[r]);
        for (int c = 0; c < 3; c++)
            TEST_ASSERT_DOUBLE_WITHIN(tolerance, a->r[r][c], b->r[r][c]);
    }
}

/*
 * Compares the end effector and every centre of mass of file and model in world coordinates at
 * random positions. The tolerance allows some 10 products per joint on numbers of the size of the
 * arm, and the digits lost by a common normal that is up to `stretch` arm lengths away.
 */
static void expect_same_arm(double stretch) {
    const dyn_pose_t base = dyn_pose_rpy(source.base_xyz, source.base_rpy);
    const dyn_pose_t tool = dyn_pose_rpy(source.tool_xyz, source.tool_rpy);
    const double tolerance = 40 * 2.2e-16 * source.n * (1 + source.n) * stretch;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, &report));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_model_check(&model));
    for (int trial = 0; trial < 10; trial++) {
        dyn_pose_t file = base, ours = model.base;
        for (uint32_t i = 0; i < source.n; i++) {
            double q = 3 * dyn_arms_uniform(&seed);
            dyn_pose_t step = source_joint(&source, i, q);
            file = dyn_pose_compose(&file, &step);
            step = dyn_pose_joint(&model.joint[i], q);
            ours = dyn_pose_compose(&ours, &step);
            const dyn_body_t a = dyn_body_move(&source.joint[i].link, &file);
            const dyn_body_t b = dyn_body_move(&model.joint[i].link, &ours);
            TEST_ASSERT_TRUE(a.mass == b.mass);
            for (int k = 0; k < 3; k++)
                TEST_ASSERT_DOUBLE_WITHIN(tolerance, a.com[k], b.com[k]);
            /* Tensors in axes of their own are skipped here; test_dyn_golden checks them by their
             * torques. */
            for (int k = 0; k < 6 && source.joint[i].inertia_rpy[0] == 0; k++)
                TEST_ASSERT_DOUBLE_WITHIN(tolerance, a.inertia[k], b.inertia[k]);
        }
        dyn_pose_t last = dyn_pose_compose(&ours, &report.last_link);
        expect_pose(&file, &last, tolerance);
        file = dyn_pose_compose(&file, &tool);
        ours = dyn_pose_compose(&ours, &model.tool);
        expect_pose(&file, &ours, tolerance);
    }
    /* Gravity is the same vector, expressed in the base frame of the model. */
    for (int k = 0; k < 3; k++) {
        double world = 0, file = 0;
        for (int i = 0; i < 3; i++) {
            world += model.base.r[k][i] * model.gravity[i];
            file += base.r[k][i] * source.gravity[i];
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-14 * 10, file, world);
    }
}

static void random_list(double *x, int n, double scale) {
    for (int i = 0; i < n; i++)
        x[i] = scale * dyn_arms_uniform(&seed);
}

static void dress(dyn_source_t *src) {
    random_list(src->base_xyz, 3, 1);
    random_list(src->base_rpy, 3, 3);
    random_list(src->tool_xyz, 3, 1);
    random_list(src->tool_rpy, 3, 3);
}

static void test_reference_chains_keep_their_geometry(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_source(k, &source);
        dress(&source);
        expect_same_arm(10);
    }
}

static void frames(uint32_t n) {
    source =
        (dyn_source_t){.convention = DYN_CONVENTION_FRAMES, .n = n, .gravity = {0.3, 0.2, -9.8}};
    for (uint32_t i = 0; i < n; i++) {
        dyn_source_joint_t *j = &source.joint[i];
        j->type = dyn_arms_random(&seed) & 1 ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->link.mass = 1 + dyn_arms_uniform(&seed) / 2;
        random_list(j->link.com, 3, 0.3);
        random_list(j->link.inertia, 6, 0.1);
        j->axis[2] = 1;
    }
    dress(&source);
}

static void set3(double v[3], double x, double y, double z) {
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

static void test_skew_axes(void) {
    for (int trial = 0; trial < 50; trial++) {
        frames(6);
        for (uint32_t i = 0; i < 6; i++) {
            random_list(source.joint[i].xyz, 3, 1);
            random_list(source.joint[i].rpy, 3, 3);
            random_list(source.joint[i].axis, 3, 2);
        }
        /* Random axes are sometimes nearly parallel, which multiplies errors by 1/sin, up to some
         * hundreds. */
        expect_same_arm(1e4);
    }
}

static void test_parallel_and_coincident_axes(void) {
    for (int trial = 0; trial < 20; trial++) {
        frames(6);
        for (uint32_t i = 0; i < 6; i++) {
            random_list(source.joint[i].xyz, 3, 1);
            if (i & 1)
                source.joint[i].xyz[0] = source.joint[i].xyz[1] =
                    0; /* every second axis lies on the same line as the previous one */
            source.joint[i].rpy[2] = 3 * dyn_arms_uniform(&seed);
            source.joint[i].axis[2] = i == 3 ? -2 : 1; /* one axis points opposite to the others */
        }
        expect_same_arm(10);
        TEST_ASSERT_TRUE(report.bent_angle == 0);
        for (uint32_t i = 1; i < 6; i++)
            TEST_ASSERT_TRUE(sin(model.joint[i].alpha) < 1e-15);
    }
}

static void test_intersecting_axes(void) {
    for (int trial = 0; trial < 20; trial++) {
        frames(4);
        for (uint32_t i = 0; i < 4; i++) {
            set3(source.joint[i].rpy, 3 * dyn_arms_uniform(&seed), 0, 0);
            set3(source.joint[i].axis, i & 1, 0, !(i & 1));
            /* Each origin lies on the previous axis. */
            const bool before_x = i > 0 && !(i & 1);
            double along = dyn_arms_uniform(&seed);
            set3(source.joint[i].xyz, before_x ? along : 0, 0, before_x ? 0 : along);
        }
        expect_same_arm(100);
        for (uint32_t i = 1; i < 4; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0, model.joint[i].a);
    }
}

static void test_axes_of_every_direction(void) {
    static const double dir[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                     {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            frames(2);
            set3(source.joint[0].axis, dir[a][0], dir[a][1], dir[a][2]);
            set3(source.joint[1].axis, dir[b][0], dir[b][1], dir[b][2]);
            random_list(source.joint[0].xyz, 3, 1);
            random_list(source.joint[1].xyz, 3, 1);
            expect_same_arm(10);
        }
}

static void test_modified_dh_stays_as_it_is(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_source(k, &source);
        if (source.convention != DYN_CONVENTION_MDH)
            continue;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, &report));
        for (uint32_t i = 1; i < source.n; i++) {
            TEST_ASSERT_TRUE(model.joint[i].alpha == source.joint[i].alpha);
            TEST_ASSERT_TRUE(model.joint[i].a == source.joint[i].a);
            TEST_ASSERT_TRUE(model.joint[i].theta == source.joint[i].theta);
            TEST_ASSERT_TRUE(model.joint[i].d == source.joint[i].d);
        }
    }
}

/* A file that writes 1.5708 for a quarter turn is off by 3.7e-6 rad. An exact conversion then
 * places the next frame over 1e3 m away. With a tolerance of 1e-5 rad the converter makes the axes
 * parallel and reports the angle. */
static void test_almost_parallel_axes_are_reported(void) {
    frames(2);
    source.joint[1].xyz[0] = 0.4;
    source.joint[1].xyz[1] = 0.1;
    source.joint[1].rpy[0] = 3.7e-6;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, &report));
    TEST_ASSERT_TRUE(report.bent_angle == 0);
    TEST_ASSERT_TRUE(fabs(model.joint[1].d) > 1e3);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, 1e-5, &model, &report));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3.7e-6, report.bent_angle);
    TEST_ASSERT_EQUAL_UINT(1, report.bent_joint);
    TEST_ASSERT_TRUE(fabs(model.joint[1].d) < 1 && model.joint[1].alpha == 0);
}

static void test_bad_input_is_refused(void) {
    frames(3);
    source.n = 0;
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_convert(&source, 0, &model, NULL));
    source.n = DYN_MAX_JOINTS + 1;
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_convert(&source, 0, &model, NULL));
    frames(3);
    set3(source.joint[2].axis, 0, 0, 0);
    TEST_ASSERT_EQUAL_INT(DYN_E_AXIS, dyn_convert(&source, 0, &model, &report));
    TEST_ASSERT_EQUAL_UINT(2, report.joint);
    frames(3);
    source.joint[1].link.com[2] = NAN;
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_convert(&source, 0, &model, &report));
    TEST_ASSERT_EQUAL_UINT(1, report.joint);
    frames(3);
    source.gravity[0] = INFINITY;
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_convert(&source, 0, &model, NULL));
    frames(3);
    source.joint[0].type = (dyn_joint_type_t)7;
    TEST_ASSERT_EQUAL_INT(DYN_E_TYPE, dyn_convert(&source, 0, &model, NULL));
    frames(3);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, 0, &model, NULL));
    model.joint[0].a = 0.1;
    TEST_ASSERT_EQUAL_INT(DYN_E_BASE, dyn_model_check(&model));
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_reference_chains_keep_their_geometry)
    TEST(test_skew_axes)
    TEST(test_parallel_and_coincident_axes)
    TEST(test_intersecting_axes)
    TEST(test_axes_of_every_direction)
    TEST(test_modified_dh_stays_as_it_is)
    TEST(test_almost_parallel_axes_are_reported)
    TEST(test_bad_input_is_refused)
TEST_LIST_END
// clang-format on
