/*
 * Simulates motors and encoders with the wrong direction on the PUMA 560, in random motions from
 * random poses. Measures the time to the fault from the moment when the joint is faster than 2 % of
 * its limit and faster than its encoder resolves. Also makes random motions of a correct arm, which
 * must cause no fault.
 *
 * The time to a fault is at most 37 ms: three checks, 6 ms apart, of which the first comes up to 6
 * ms after the joint has become fast; one tick for a doubt; two time constants of the 50 Hz
 * observer; and one more check if the feedback had not grown yet. So the limit of 50 ms is met if
 * the model is right and the joint carries no weight. If the joint carries weight, the feedback
 * must first grow to 3/13 of the weight, and a joint that only sinks a little moves on until the
 * motion drives it; the test prints these times.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "test/support/control_arm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef TEST_LONG
enum { TRIALS = 1000, MINUTES = 60 };
#else
enum { TRIALS = 60, MINUTES = 3 };
#endif
enum { N = CONTROL_ARM_JOINTS, MOST_MS = 50, TIMEOUT_MS = 4000, SHOULDER = 1, ELBOW = 2 };
/* Allowed percentage of faults later than MOST_MS, for a reversed encoder and an exact model. */
enum { LATE_PERCENT = 1 };

static app_t app;
static app_outputs_t out;
static uint64_t chance;

static float between(float low, float high) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (float)((double)(chance >> 11) / 9007199254740992.0);
}

static void set(uint32_t parameter, uint32_t joint, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, parameter, joint, value));
}

static void tick(void) {
    static const app_inputs_t in;
    app_tick(&app, &in, &out);
    app.tail = app.head;
}

static void load(void) {
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    TEST_ASSERT_NOT_NULL(image);
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, image, size));
}

static void random_pose(float q[]) {
    for (uint32_t i = 0; i < N; i++)
        q[i] = between(app.joint[i].position[0] + 0.01f, app.joint[i].position[1] - 0.01f);
}

/* How much the simulated arm differs from its model: fractions of masses and friction, counts of
 * noise. */
typedef struct {
    const char *name;
    float mass, friction, noise;
} error_t;

static const error_t exact = {"exact model", 0, 0, 0};
static const error_t wrong = {"masses 10 %, friction 50 % off, 1 count of noise", 0.1f, 0.5f, 1};

static void disturb(const error_t *e) {
    set(PARAMETER_sim_mass, 0, between(1 - e->mass, 1 + e->mass));
    set(PARAMETER_sim_friction, 0, between(1 - e->friction, 1 + e->friction));
    set(PARAMETER_sim_noise, 0, floorf(between(0, e->noise + 0.999f)));
}

static bool move(void) {
    static const uint32_t kind[] = {MOTION_QUINTIC, MOTION_CYCLOID, MOTION_TRAPEZOID};
    motion_t m = {.kind = kind[(uint32_t)between(0, 2.999f)]};
    random_pose(m.value);
    return app_motion_start(&app, &m) == APP_OK;
}

/* Returns the time in ms from the first movement to the fault; 0 if the fault came before any
 * movement, TIMEOUT_MS if the joint moved without a fault, -1 if neither came. A reversed encoder
 * is right only at zero, so the arm starts there. */
static int caught(uint32_t defect, uint32_t joint, uint32_t feedback, const error_t *e) {
    float q[N] = {0};
    load();
    set(PARAMETER_feedback, 0, (float)feedback);
    disturb(e);
    if (defect == DEFECT_MOTOR)
        random_pose(q);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, q));
    set(PARAMETER_sim_defect_joint, 0, (float)joint);
    set(PARAMETER_sim_defect, 0, (float)defect);
    while (!move()) /* repeats until the motion is accepted */
        ;
    const float moving = 16 * app.control[app.now].joint[joint].wrong;
    int t, moved = -1;
    for (t = 0; t < TIMEOUT_MS && app.safety.state != APP_STATE_FAULT; t++) {
        tick();
        if (moved < 0 && fabsf(app.sim_arm.qd[joint]) > moving)
            moved = t;
    }
    if (app.safety.state != APP_STATE_FAULT)
        return moved < 0 ? -1 : TIMEOUT_MS;
    TEST_ASSERT_EQUAL_STRING("direction", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(joint, app.safety.fault_joint);
    return moved < 0 ? 0 : t - moved;
}

/* Results of `each`, for a table of firmware/safety/README.md. */
typedef struct {
    uint32_t defect, feedback;
    const error_t *error;
    int worst[N], late[N];
} row_t;
static row_t measured[6];
static uint32_t measured_rows;

static void print_measured(void) {
    puts("measured-block firmware_direction\n"
         "| reversed | model | waist | shoulder | elbow | wrist roll | wrist pitch | flange |\n"
         "|---|---|---|---|---|---|---|---|");
    for (uint32_t r = 0; r < measured_rows; r++) {
        const row_t *row = &measured[r];
        printf("| %s%s | %s |", row->defect == DEFECT_MOTOR ? "motor" : "encoder",
               row->feedback == FEEDBACK_PD ? "" : ", computed torque", row->error->name);
        for (uint32_t joint = 0; joint < N; joint++)
            printf(" %d (%d) |", row->worst[joint], row->late[joint]);
        puts("");
    }
    printf("\nEach cell is of %d motions.\nmeasured-end\n", TRIALS);
}

/* Tests all joints. The limits above are asserted if the model is exact. */
static void each(uint32_t defect, uint32_t feedback, const error_t *e) {
    row_t *row = &measured[measured_rows++];
    *row = (row_t){defect, feedback, e, {0}, {0}};
    char text[200];
    int size =
        snprintf(text, sizeof text,
                 "%s, %s, %s; worst ms, late of %d:", defect == DEFECT_MOTOR ? "motor" : "encoder",
                 feedback == FEEDBACK_PD ? "PD" : "computed torque", e->name, TRIALS);
    chance = 7;
    for (uint32_t joint = 0; joint < N; joint++) {
        int worst = 0, late = 0;
        for (int k = 0; k < TRIALS; k++) {
            const int took = caught(defect, joint, feedback, e);
            worst = took > worst ? took : worst;
            late += took > MOST_MS;
        }
        size += snprintf(text + size, sizeof text - (size_t)size, " %d %d,", worst, late);
        row->worst[joint] = worst;
        row->late[joint] = late;
        const bool loaded = joint == SHOULDER || joint == ELBOW;
        if (e == &exact && !loaded) {
            TEST_ASSERT_TRUE_MESSAGE(worst <= MOST_MS, text);
        }
        if (e == &exact && defect == DEFECT_REVERSED) {
            TEST_ASSERT_TRUE_MESSAGE(late * 100 <= TRIALS * LATE_PERCENT, text);
        }
    }
    text[size - 1] = '\0';
    harness_note(text);
}

static void test_motors(void) {
    each(DEFECT_MOTOR, FEEDBACK_PD, &exact);
    each(DEFECT_MOTOR, FEEDBACK_PD, &wrong);
}

static void test_encoders(void) {
    each(DEFECT_REVERSED, FEEDBACK_PD, &exact);
    each(DEFECT_REVERSED, FEEDBACK_PD, &wrong);
}

/* Computed torque control multiplies the feedback by the inertia matrix of the model. */
static void test_computed_torque(void) {
    each(DEFECT_MOTOR, FEEDBACK_COMPUTED_TORQUE, &exact);
    each(DEFECT_REVERSED, FEEDBACK_COMPUTED_TORQUE, &exact);
    print_measured();
}

/* An arm may sink because only 5 % of its supply voltage is left. The motor then did not get the
 * commanded voltage, so this is not a wrong direction. */
static void test_weak_supply_is_no_direction(void) {
    static const float stretched[N] = {0, 0, -1.5f, 0, 0, 0};
    const motion_t hold = {.kind = MOTION_HOLD};
    load();
    set(PARAMETER_guard_tracking, 0, 10);
    set(PARAMETER_guard_supply_low, 0, 0.01f);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, stretched));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &hold));
    for (int t = 0; t < 50; t++)
        tick();
    set(PARAMETER_sim_defect, 0, DEFECT_WEAK);
    for (int t = 0; t < TIMEOUT_MS && app.safety.state != APP_STATE_FAULT; t++)
        tick();
    TEST_ASSERT_EQUAL_STRING("voltage", app_fault_name(app.safety.fault));
}

/* Clears the fault and places the arm at rest in another pose. */
static void recover(void) {
    float q[N];
    (void)app_off(&app);
    tick();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    random_pose(q);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, q));
}

/* Returns the number of false alarms of a correct arm. All other guards are wide open, so that none
 * of them ends a motion. */
static uint32_t accused(uint32_t feedback, uint32_t feedforward, const char *name) {
    static const error_t off = {"", 0.1f, 0.5f, 2};
    uint32_t motions = 0, alarms = 0;
    char text[100];
    load();
    set(PARAMETER_feedback, 0, (float)feedback);
    set(PARAMETER_feedforward, 0, (float)feedforward);
    set(PARAMETER_guard_tracking, 0, 10);
    set(PARAMETER_guard_speed, 0, 10);
    set(PARAMETER_guard_limit_s, 0, 10);
    set(PARAMETER_guard_position, 0, 1);
    chance = 11;
    for (uint32_t t = 0; t < MINUTES * 60000; t++) {
        tick();
        if (app.safety.state == APP_STATE_FAULT) {
            TEST_ASSERT_EQUAL_STRING("direction", app_fault_name(app.safety.fault));
            alarms++;
            recover();
        }
        if (app.motion.kind != MOTION_HOLD) {
            if (between(0, 2000) < 1)
                (void)app_stop(&app);
            continue;
        }
        disturb(&off);
        motions += move();
    }
    TEST_ASSERT_TRUE(motions > MINUTES * 10);
    (void)snprintf(text, sizeof text, "%s: %u motions in %d minutes, false alarms:", name,
                   (unsigned)motions, MINUTES);
    harness_note_number(text, alarms);
    return alarms;
}

/* PD without a model has a few false alarms per hour; the test prints them. */
static void test_no_false_alarm(void) {
    TEST_ASSERT_EQUAL_UINT32(0, accused(FEEDBACK_PD, FEEDFORWARD_FULL, "model fed forward"));
    TEST_ASSERT_EQUAL_UINT32(
        0, accused(FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_FULL, "computed torque"));
    TEST_ASSERT_EQUAL_UINT32(0, accused(FEEDBACK_PD, FEEDFORWARD_GRAVITY, "PD + gravity"));
    (void)accused(FEEDBACK_PD, FEEDFORWARD_OFF, "PD alone");
}

TEST_LIST_BEGIN
TEST(test_motors)
TEST(test_encoders)
TEST(test_computed_torque)
TEST(test_weak_supply_is_no_direction)
TEST(test_no_false_alarm)
TEST_LIST_END
