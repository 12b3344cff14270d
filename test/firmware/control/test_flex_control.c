/*
 * Tests elastic links in the control step. The feedforward of the board equals the quasi-static
 * torque of dyn/flex/flex_forward.c bit for bit, and its deflection is in equilibrium with the
 * motion.
 */
#include <math.h>
#include <string.h>

#include "firmware/app/app.h"
#include "firmware/params/image_flex.h"
#include "test/support/dyn/flex_arms.h"
#include "test/support/harness.h"

static flex_arm_t made;
static app_t app;
static image_t image;
static uint8_t bytes[2048], section[1024];
static dyn_flex_static_scratch_f32_t scratch;

static void fill_joint(uint32_t i, image_joint_t *out) {
    const dyn_model_joint_t *j = &made.model.joint[i];
    image_joint_t *f = out;
    out->type = j->type;
    f->alpha[0] = (float)j->alpha;
    f->a[0] = (float)j->a;
    f->d[0] = (float)j->d;
    f->mass[0] = (float)j->link.mass;
    for (int k = 0; k < 3; k++)
        f->com[k] = (float)j->link.com[k];
    for (int k = 0; k < 6; k++)
        f->inertia[k] = (float)j->link.inertia[k];
    f->velocity[0] = 2;
    f->acceleration[0] = 10;
    f->sign[0] = 1;
    f->ratio[0] = 1;
    f->counts[0] = 65536;
    f->kp[0] = 2000;
    f->kd[0] = 100;
    image.joint_name[i] = "joint";
}

/* Makes the image of the arm of paper 004, or of the same arm with rigid links. */
static size_t make_image(bool elastic) {
    image_beam_t beam[2] = {{.beam = true, .modes = {1, 0, 0}, .length = 1, .mass_per_length = 5},
                            {.beam = true, .modes = {1, 0, 0}, .length = 1, .mass_per_length = 5}};
    size_t size;
    flex_arm(FLEX_ARM_PLANAR, &made);
    memset(&image, 0, sizeof image);
    image.n = 2;
    image.name = "flex2";
    image.feedback = FEEDBACK_PD;
    image.has = IMAGE_HAS_FEEDBACK;
    image.arm.rate_hz[0] = 1000;
    image.arm.gravity[1] = -9.81f;
    for (uint32_t i = 0; i < 2; i++)
        fill_joint(i, &image.joint[i]);
    if (elastic) {
        const uint32_t content = image_flex_size(2, beam);
        TEST_ASSERT_TRUE(content <= sizeof section);
        image_put_flex(2, beam, &made.flex, section);
        image.section[IMAGE_SECTION_FLEX] = (image_section_t){section, content};
    }
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    return size;
}

static void load(bool elastic) {
    const size_t size = make_image(elastic);
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
}

static void ticks(uint32_t count) {
    static const app_inputs_t in;
    app_outputs_t out;
    for (uint32_t i = 0; i < count; i++)
        app_tick(&app, &in, &out);
}

static void start(float first, float second) {
    const motion_t motion = {MOTION_CYCLOID, 1, {first, second}};
    ticks(2);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    ticks(5);
}

static void test_the_feedforward_is_the_quasi_static_torque(void) {
    load(true);
    TEST_ASSERT_NOT_NULL(app.flex);
    start(0.5f, -0.8f);
    for (int k = 0; k < 200; k++) {
        float theta[DYN_FLEX_MAX], tau[2];
        memcpy(theta, app.loop.theta, sizeof theta);
        ticks(1);
        theta[0] = app.loop.q_mid[0];
        theta[2] = app.loop.q_mid[1];
        dyn_flex_static_f32(app.arm, app.flex, &scratch, app.loop.qd_mid, app.loop.qdd_ref, NULL, 1,
                            theta, tau);
        TEST_ASSERT_EQUAL_MEMORY(tau, app.loop.tau_model, sizeof tau);
        TEST_ASSERT_EQUAL_MEMORY(theta, app.loop.theta, 4 * sizeof theta[0]);
    }
}

/* One iteration per tick is enough: the deflection equals the result of thirty iterations that
 * start at zero. */
static void test_the_deflection_follows_the_motion(void) {
    load(true);
    start(0.5f, -0.8f);
    for (int k = 0; k < 20; k++) {
        float theta[DYN_FLEX_MAX] = {0}, tau[2];
        ticks(30);
        theta[0] = app.loop.q_mid[0];
        theta[2] = app.loop.q_mid[1];
        dyn_flex_static_f32(app.arm, app.flex, &scratch, app.loop.qd_mid, app.loop.qdd_ref, NULL,
                            30, theta, tau);
        /* The links sag by 15 mm and 2 mm. In one tick the motion changes this by less than 0.1 mm,
         * and one iteration leaves a tenth of the change as error. */
        TEST_ASSERT_FLOAT_WITHIN(2e-5f, theta[1], app.loop.theta[1]);
        TEST_ASSERT_FLOAT_WITHIN(2e-5f, theta[3], app.loop.theta[3]);
        TEST_ASSERT_TRUE(fabsf(theta[1]) > 5e-3f);
        for (int i = 0; i < 2; i++)
            TEST_ASSERT_FLOAT_WITHIN(0.05f, tau[i], app.loop.tau_model[i]);
    }
}

static void test_a_payload_bends_the_links_more(void) {
    load(true);
    start(0, 0);
    ticks(100);
    const float before = app.loop.theta[3], torque = app.loop.tau_model[0];
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_payload_x, 0, 1));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_payload_mass, 0, 1));
    ticks(100);
    /* The payload adds 9.81 N at the tip, where the mode shape is 2. With a modal stiffness of
     * 12.36 kN/m the mode coordinate changes by 2 x 9.81 N / 12.36 kN/m = 1.59 mm. */
    TEST_ASSERT_FLOAT_WITHIN(2e-4f, before - 1.59e-3f, app.loop.theta[3]);
    TEST_ASSERT_FLOAT_WITHIN(0.5f, torque + 2 * 9.81f, app.loop.tau_model[0]);
}

static void test_without_beams_the_links_are_stiff(void) {
    load(false);
    TEST_ASSERT_NULL(app.flex);
    start(0.5f, -0.8f);
    const float stiff = app.loop.tau_model[0];
    load(true);
    start(0.5f, -0.8f);
    TEST_ASSERT_TRUE(fabsf(app.loop.tau_model[0] - stiff) > 0.01f);
}

TEST_LIST_BEGIN
TEST(test_the_feedforward_is_the_quasi_static_torque)
TEST(test_the_deflection_follows_the_motion)
TEST(test_a_payload_bends_the_links_more)
TEST(test_without_beams_the_links_are_stiff)
TEST_LIST_END
