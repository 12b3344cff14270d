/*
 * Tests the simulation as a library: the interfaces of arm and input, the sample period, stops and
 * the energy balance, on arms so small that the result is known. Tests that need robots and
 * reference values are in test/tools/sim/test_sim.py.
 */
#include <math.h>
#include <string.h>

#include "test/support/harness.h"
#include "tools/sim/rigid.h"
#include "tools/sim/source.h"

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------------------------------- fixtures */

/* A pendulum of n bars of 1 m in the vertical x-y plane, each with a point mass of 1 kg at its
 * end. */
static sim_system_t *pendulum(uint32_t n, double low, double high) {
    dyn_model_t model = {.n = n, .gravity = {0, -9.81, 0}};
    int status;
    model.base = model.tool = dyn_pose_identity();
    for (uint32_t i = 0; i < n; i++) {
        model.joint[i].a = i > 0 ? 1 : 0;
        model.joint[i].link = (dyn_body_t){.mass = 1, .com = {1, 0, 0}};
    }
    model.joint[0].drive.limits.position[0] = low;
    model.joint[0].drive.limits.position[1] = high;
    sim_system_t *arm = rigid_make(&model, METHOD_FD_aba, &status);
    TEST_ASSERT_EQUAL_INT(DYN_OK, status);
    return arm;
}

static sim_options_t options_of(const char *integrator, double tolerance) {
    return (sim_options_t){.integrator = rk_find(integrator),
                           .step_s = 0.001,
                           .tolerance = tolerance,
                           .sample_s = 0.01,
                           .stops = true};
}

static double worst_balance(const sim_record_t *record) {
    double worst = 0;
    for (size_t i = 0; i < record->rows; i++)
        worst = fmax(worst, fabs(sim_record_row(record, i).balance));
    return worst;
}

/* ---------------------------------------------------------------------------- the sample period */

typedef struct {
    unsigned calls;
    double t[64], position[64];
} log_t;

static int controller(void *self, double t, const double *position, const double *speed,
                      double *value) {
    log_t *log = self;
    (void)speed;
    TEST_ASSERT_LESS_THAN(64, log->calls);
    log->t[log->calls] = t;
    log->position[log->calls] = position[0];
    value[0] = (double)++log->calls; /* each call returns its number */
    return SIM_OK;
}

/* The controller is called once per sample period, in order, with the positions of that moment. Its
 * value stays constant until the next call. */
static void test_controller_in_the_loop(void) {
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        log_t log = {0};
        sim_system_t *arm = pendulum(1, 0, 0);
        sim_options_t options = options_of(adaptive ? "rk45" : "rk4", adaptive ? 1e-9 : 0);
        const sim_input_t input = {.quantity = SIM_TORQUE, .self = &log, .value = controller};
        options.period_s = 0.03;
        options.sample_s = 0.005;
        sim_t *sim = sim_make(arm, &input, NULL, &options);
        sim_record_t record = {0};
        const double q = 0.3, qd = 0;
        sim_set(sim, &q, &qd);
        TEST_ASSERT_EQUAL_INT(SIM_OK, sim_run(sim, 0.1, &record));
        TEST_ASSERT_EQUAL_INT(SIM_OK, sim_run(sim, 0.1, &record)); /* continues the run */
        TEST_ASSERT_EQUAL_UINT(7, log.calls);
        for (unsigned i = 0; i < log.calls; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.03 * i, log.t[i]);
        TEST_ASSERT_EQUAL_UINT(41, record.rows);
        for (size_t i = 0; i < record.rows; i++) {
            const sim_row_t row = sim_record_row(&record, i);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.005 * (double)i, row.t);
            TEST_ASSERT_EQUAL_DOUBLE(floor((double)i / 6) + 1, row.torque[0]);
            if (i % 6 == 0)
                TEST_ASSERT_EQUAL_DOUBLE(row.q[0], log.position[i / 6]);
        }
        sim_record_free(&record);
        sim_free(sim);
        rigid_free(arm);
    }
}

/* ---------------------------------------------------------------------------------------- stops */

/* The pendulum starts horizontally at rest. With 9.81 m/s^2 and 1 m it reaches -pi / 2 at a speed
 * of sqrt(2 g). */
static void test_stop_of_a_pendulum(void) {
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        sim_system_t *arm = pendulum(1, -PI / 2, PI);
        const sim_options_t options = options_of(adaptive ? "rk56" : "rk4", adaptive ? 1e-11 : 0);
        source_t source;
        source_constant(&source, SIM_TORQUE, 1, NULL);
        sim_t *sim = sim_make(arm, &source.input, NULL, &options);
        sim_record_t record = {0};
        const double q = 0, qd = 0;
        sim_set(sim, &q, &qd);
        TEST_ASSERT_EQUAL_INT(SIM_OK, sim_run(sim, 1, &record));
        const sim_row_t last = sim_record_row(&record, record.rows - 1);
        TEST_ASSERT_EQUAL_DOUBLE(-PI / 2, last.q[0]);
        TEST_ASSERT_EQUAL_DOUBLE(0, last.qd[0]);
        TEST_ASSERT_EQUAL_DOUBLE(0, last.qdd[0]);
        TEST_ASSERT_EQUAL_UINT(1, sim_impacts(sim));
        /* The error of one rk4 step of 1 ms is about 1e-3^5; the sum over 600 steps is far below
         * 1e-9. */
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 9.81, last.stops);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, worst_balance(&record));
        sim_record_free(&record);
        sim_free(sim);
        rigid_free(arm);
    }
}

static int push_later(void *self, double t, const double *position, const double *speed,
                      double *value) {
    (void)self, (void)position, (void)speed;
    value[0] = -30 + 40 * t; /* negative torque presses against the stop */
    return SIM_OK;
}

/* The arm lies horizontally on its lower stop. A torque presses it down at first and grows; the arm
 * leaves the stop when the torque equals that of gravity: -30 + 40 t = 9.81. */
static void test_stop_is_left(void) {
    sim_system_t *arm = pendulum(1, 0, PI);
    const sim_options_t options = options_of("rk45", 1e-10);
    const sim_input_t input = {.quantity = SIM_TORQUE, .value = push_later};
    sim_t *sim = sim_make(arm, &input, NULL, &options);
    sim_record_t record = {0};
    const double q = 0, qd = -1e-9, leaves = (9.81 + 30) / 40;
    sim_set(sim, &q, &qd);
    TEST_ASSERT_EQUAL_INT(SIM_OK, sim_run(sim, 1.2, &record));
    for (size_t i = 0; i < record.rows; i++) {
        const sim_row_t row = sim_record_row(&record, i);
        const double since = row.t - leaves;
        if (since < 0)
            TEST_ASSERT_EQUAL_DOUBLE(0, row.q[0]);
        else if (since < 0.05) /* t = since: q'' = 40 t at first, so q = 40 t^3 / 6 */
            TEST_ASSERT_DOUBLE_WITHIN(1e-8 + 1e-3 * since * since * since, 40 * pow(since, 3) / 6,
                                      row.q[0]);
    }
    TEST_ASSERT_TRUE(sim_record_row(&record, record.rows - 1).q[0] > 0.02);
    TEST_ASSERT_EQUAL_UINT(0, sim_at_stops(sim));
    sim_record_free(&record);
    sim_free(sim);
    rigid_free(arm);
}

/* The impulse of a stop acts only on the joint that hits it: the component of M qd for the other
 * joint does not change. With point masses at 1 m, M_21 = 1 + cos q2 and M_22 = 1. */
static void test_impact_of_two_links(void) {
    sim_system_t *arm = pendulum(2, -0.5, PI);
    sim_options_t options = options_of("rk56", 1e-12);
    source_t source;
    options.sample_s = 0.0005;
    source_constant(&source, SIM_TORQUE, 2, NULL);
    sim_t *sim = sim_make(arm, &source.input, NULL, &options);
    sim_record_t record = {0};
    const double q[2] = {0, 0.7}, qd[2] = {-1, 0.4};
    sim_set(sim, q, qd);
    TEST_ASSERT_EQUAL_INT(SIM_OK, sim_run(sim, 1.5, &record));
    TEST_ASSERT_TRUE(sim_impacts(sim) >= 1);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, worst_balance(&record));
    size_t at = 0;
    while (sim_record_row(&record, at).stops == 0)
        at++;
    const sim_row_t a = sim_record_row(&record, at - 1), b = sim_record_row(&record, at);
    const double before = (1 + cos(a.q[1])) * a.qd[0] + a.qd[1];
    const double after = (1 + cos(b.q[1])) * b.qd[0] + b.qd[1];
    /* The two samples are 0.5 ms apart. In this time gravity and centrifugal torques, below 40 N m,
     * change the momentum by at most 0.02 N m s; the impulse on the joint is above 2 N m s. */
    TEST_ASSERT_DOUBLE_WITHIN(0.02, before, after);
    TEST_ASSERT_TRUE(fabs(a.qd[0] - b.qd[0]) > 2);
    TEST_ASSERT_TRUE(b.stops > 0.5);
    sim_record_free(&record);
    sim_free(sim);
    rigid_free(arm);
}

/* ----------------------------------------------------- an arm with more coordinates than joints */

/* The arm is two masses of 1 kg with a spring of 100 N/m between them; a motor pushes the
 * second. */
static int spring_acceleration(void *self, const double *q, const double *qd, const double *force,
                               double *qdd) {
    (void)self, (void)qd;
    qdd[0] = force[0] - 100 * (q[0] - q[1]);
    qdd[1] = force[1] + 100 * (q[0] - q[1]);
    return SIM_OK;
}

static void spring_energy(void *self, const double *q, const double *qd, double *kinetic,
                          double *potential) {
    (void)self;
    *kinetic = (qd[0] * qd[0] + qd[1] * qd[1]) / 2;
    *potential = 50 * (q[0] - q[1]) * (q[0] - q[1]);
}

static void rub(void *self, const double *speed, double *torque) {
    (void)self;
    torque[0] = 0.5 * speed[0];
}

static uint32_t no_voltage(void *self, const double *speed, const double *torque, double *volt) {
    (void)self, (void)speed, (void)torque;
    volt[0] = 0;
    return 0;
}

static void test_more_coordinates_than_joints(void) {
    const sim_system_t arm = {.n = 2,
                              .joints = 1,
                              .coordinate = {1},
                              .acceleration = spring_acceleration,
                              .energy = spring_energy,
                              .friction = rub,
                              .voltage = no_voltage};
    const sim_options_t options = options_of("rk45", 1e-11);
    const double push = 3, q[2] = {0, 0}, qd[2] = {0, 0};
    source_t source;
    source_constant(&source, SIM_TORQUE, 1, &push);
    sim_t *sim = sim_make(&arm, &source.input, NULL, &options);
    sim_record_t record = {0};
    sim_set(sim, q, qd);
    TEST_ASSERT_EQUAL_INT(SIM_OK, sim_run(sim, 60, &record));
    const sim_row_t last = sim_record_row(&record, record.rows - 1);
    /* The final speed is 6 m/s, where the damper of 0.5 N s/m takes the 3 N. Both masses, 2 kg,
     * reach it as 1 - exp(-0.25 t). The oscillation of the spring decays at half that rate: it is
     * 6e-5 m/s after 60 s. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 6, last.qd[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 6, last.qd[1]);
    TEST_ASSERT_TRUE(last.motor > 500 && last.friction > 400);
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0, worst_balance(&record));
    sim_record_free(&record);
    sim_free(sim);
}

/* --------------------------------------------------------------------------------------- errors */

static int explode(void *self, double t, const double *position, const double *speed,
                   double *value) {
    (void)self, (void)t, (void)speed;
    value[0] = 1e9 * position[0] * position[0];
    return SIM_OK;
}

static bool stop_at_half(void *self, double t) {
    (void)self;
    return t >= 0.5;
}

static void test_ends_that_are_no_success(void) {
    sim_system_t *arm = pendulum(1, 0, 0);
    sim_options_t options = options_of("rk4", 0);
    const sim_input_t input = {.quantity = SIM_TORQUE, .value = explode};
    sim_t *sim = sim_make(arm, &input, NULL, &options);
    sim_record_t record = {0};
    const double q = 1, qd = 0;
    sim_set(sim, &q, &qd);
    TEST_ASSERT_EQUAL_INT(SIM_E_NUMBER, sim_run(sim, 1, &record));
    TEST_ASSERT_TRUE(record.rows >= 1);
    sim_free(sim);
    sim_record_free(&record);
    /* The speed of the same motion becomes infinite in finite time, so under error control no step
     * is short enough. */
    options.integrator = rk_find("rk45");
    options.tolerance = 1e-9;
    sim = sim_make(arm, &input, NULL, &options);
    sim_set(sim, &q, &qd);
    const int status = sim_run(sim, 1, &record);
    TEST_ASSERT_TRUE(status == SIM_E_STEP || status == SIM_E_NUMBER);
    sim_free(sim);
    sim_record_free(&record);
    /* The callback stops the run; the record contains the moment of the stop. */
    source_t source;
    source_constant(&source, SIM_TORQUE, 1, NULL);
    options.stop = stop_at_half;
    options.sample_s = 0.2;
    sim = sim_make(arm, &source.input, NULL, &options);
    sim_set(sim, &q, &qd);
    TEST_ASSERT_EQUAL_INT(SIM_STOPPED, sim_run(sim, 1, &record));
    TEST_ASSERT_EQUAL_UINT(4, record.rows);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 0.5, sim_record_row(&record, 3).t);
    sim_free(sim);
    sim_record_free(&record);
    rigid_free(arm);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_controller_in_the_loop)
    TEST(test_stop_of_a_pendulum)
    TEST(test_stop_is_left)
    TEST(test_impact_of_two_links)
    TEST(test_more_coordinates_than_joints)
    TEST(test_ends_that_are_no_success)
TEST_LIST_END
// clang-format on
