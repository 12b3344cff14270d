/* Tests rotors, friction and motors against the reference voltages, the formulas, and the
 * properties that the header of dyn/kernel/drive.c states. */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"
#include "test/support/dyn/motor_data.inc"

#include <math.h>
#include <string.h>

#ifndef __arm__
#include "test/support/dyn/reference.h"
#include "tools/proof/count.h"
#include "tools/proof/range.h"
#include "tools/gen/trace.h"
#endif

enum { MOTORS = sizeof motor_data / sizeof motor_data[0] };

static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_arm_f32_t arm_f32;
static dyn_arm_q31_t arm_q31;

/* Makes an arm of n revolute joints with n motors of the reference values, starting at number
 * `first`. */
static void motor_arm(uint32_t first, uint32_t n) {
    model = (dyn_model_t){.n = n, .base = dyn_pose_identity(), .tool = dyn_pose_identity()};
    for (uint32_t i = 0; i < n; i++) {
        const double *row = motor_data[first + i];
        model.joint[i].link = (dyn_body_t){1, {0.1, 0, 0}, {1, 1, 1, 0, 0, 0}};
        model.joint[i].drive.motor = (dyn_motor_t){.resistance = row[0],
                                                   .torque_constant = row[1],
                                                   .gear = row[2],
                                                   .rotor_inertia = row[3]};
    }
}

/* Each term has three or four roundings; 1e-14 of the larger term is far above that. */
static void expect_close(double expected, double value, double terms) {
    TEST_ASSERT_DOUBLE_WITHIN(1e-14 * (1 + fabs(terms)), expected, value);
}

static void test_voltage_and_torque_of_the_reference(void) {
    double tau[MOTORS], qd[MOTORS], qdd[MOTORS], volt[MOTORS], back[MOTORS];
    motor_arm(0, MOTORS);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    for (uint32_t i = 0; i < MOTORS; i++) {
        tau[i] = motor_data[i][4];
        qd[i] = motor_data[i][5];
        qdd[i] = motor_data[i][6];
    }
    TEST_ASSERT_EQUAL_UINT32(0, dyn_voltage_f64(&arm, qd, tau, volt));
    for (uint32_t i = 0; i < MOTORS; i++)
        expect_close(motor_data[i][7], volt[i], motor_data[i][7]);
    TEST_ASSERT_EQUAL_UINT32(0, dyn_motor_torque_f64(&arm, qd, volt, back));
    for (uint32_t i = 0; i < MOTORS; i++) {
        const double *m = motor_data[i], k = m[1] * m[2];
        expect_close(tau[i], back[i], k / m[0] * (fabs(volt[i]) + fabs(k * qd[i])));
    }
    /* The motor also accelerates its rotor, so this torque is added first. */
    dyn_rotor_inverse_f64(&arm, qdd, tau);
    TEST_ASSERT_EQUAL_UINT32(0, dyn_voltage_f64(&arm, qd, tau, volt));
    for (uint32_t i = 0; i < MOTORS; i++)
        expect_close(motor_data[i][8], volt[i], motor_data[i][8]);
    for (uint32_t i = 0; i < MOTORS; i++)
        volt[i] = motor_data[i][9];
    TEST_ASSERT_EQUAL_UINT32(0, dyn_motor_torque_f64(&arm, qd, volt, tau));
    for (uint32_t i = 0; i < MOTORS; i++) {
        const double *m = motor_data[i], k = m[1] * m[2];
        expect_close(m[10], tau[i], k / m[0] * (fabs(m[9]) + fabs(k * qd[i])));
    }
}

static void test_saturation_is_told_by_joint(void) {
    const double qd[4] = {0, 0, 0, 0}, tau[4] = {10, -10, 1, -1};
    double volt[4], back[4];
    motor_arm(0, 4);
    for (int i = 0; i < 4; i++)
        model.joint[i].drive.motor = (dyn_motor_t){
            .resistance = 2, .torque_constant = 0.5, .gear = i == 3 ? -1 : 1, .voltage = 24};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_HEX32(3, dyn_voltage_f64(&arm, qd, tau, volt));
    const double expected[4] = {24, -24, 4, 4};
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_TRUE(volt[i] == expected[i]);
    const double asked[4] = {48, 24, -24.5, -12};
    TEST_ASSERT_EQUAL_HEX32(5, dyn_motor_torque_f64(&arm, qd, asked, back));
    const double given[4] = {6, 6, -6, 3};
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_TRUE(back[i] == given[i]);
}

static void test_no_motor_no_volts(void) {
    const double qd[3] = {1, 1, 1}, tau[3] = {5, 5, 5};
    double volt[3], back[3];
    motor_arm(0, 3);
    model.joint[0].drive.motor.gear = 0;
    model.joint[1].drive.motor.torque_constant = 0;
    model.joint[2].drive.motor.resistance = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_HEX32(0, dyn_voltage_f64(&arm, qd, tau, volt));
    TEST_ASSERT_EQUAL_HEX32(0, dyn_motor_torque_f64(&arm, qd, tau, back));
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_TRUE(volt[i] == 0 && back[i] == 0);
}

static double friction_at(double qd) {
    double tau = 0;
    dyn_friction_f64(&arm, &qd, &tau);
    return tau;
}

static void friction_arm(double viscous, double negative, double positive, double width) {
    motor_arm(0, 1);
    model.joint[0].drive.friction = (dyn_friction_t){viscous, {negative, positive}, width};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

static void test_friction_beyond_the_width_is_coulomb(void) {
    friction_arm(0, -3, 3, 0.25);
    for (double v = 0.25; v < 100; v *= 1.7) {
        TEST_ASSERT_TRUE(friction_at(v) == 3);
        TEST_ASSERT_TRUE(friction_at(-v) == -3);
    }
    friction_arm(0.5, -1, 4, 0.25);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 4 + 0.5 * 0.25, friction_at(0.25));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, -1 - 0.5 * 7, friction_at(-7));
    friction_arm(0, -3, 3, 0);
    TEST_ASSERT_TRUE(friction_at(DYN_FRICTION_WIDTH * 1.000001) == 3);
    TEST_ASSERT_TRUE(friction_at(DYN_FRICTION_WIDTH * 0.99) < 3);
}

/* The friction is odd if its constants are symmetric. It is zero at rest, never accelerates the
 * joint and grows with speed. Its slope never jumps: with x = v / width the second derivative is
 * -3 x (P - N) / (2 width^2) plus terms in P + N, here below 40 in magnitude, so the slope changes
 * by less than 40 h from step to step. */
static void test_friction_is_smooth(void) {
    friction_arm(0, -3, 3, 1);
    for (double v = 0; v < 2; v += 0.01)
        TEST_ASSERT_TRUE(friction_at(-v) == -friction_at(v));
    friction_arm(0, -1, 2.5, 1);
    TEST_ASSERT_TRUE(friction_at(0) == 0);
    const double h = 1e-3;
    double slope_before = 0;
    for (double v = -2; v < 2; v += h) {
        const double f = friction_at(v), slope = (friction_at(v + h) - f) / h;
        TEST_ASSERT_TRUE(f * v >= 0);
        TEST_ASSERT_TRUE(slope >= -1e-12);
        TEST_ASSERT_TRUE(fabs(slope - slope_before) < 40 * h);
        slope_before = slope;
    }
}

/* Corke's PUMA 560: B and Tc are viscous and Coulomb friction on the motor side of the gear. The
 * expected torques, reference values, are for joint speeds of 1 rad/s. */
static void test_friction_of_the_puma(void) {
    const double B[6] = {0.00148, 0.000817, 0.00138, 7.12e-05, 8.26e-05, 3.67e-05};
    const double Tc[6][2] = {{-0.435, 0.395},   {-0.071, 0.126},    {-0.105, 0.132},
                             {-0.0169, 0.0112}, {-0.0145, 0.00926}, {-0.0105, 0.00396}};
    const double expected[6] = {30.5332062679508,   23.081558641824998, 11.069657590372199,
                                1.2632529096971519, 1.0932900009353999, 0.5194998132732};
    const double one[6] = {1, 1, 1, 1, 1, 1};
    double tau[6] = {0, 0, 0, 0, 0, 0};
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    for (int i = 0; i < 6; i++) {
        const double gear = fabs(model.joint[i].drive.motor.gear);
        model.joint[i].drive.friction =
            (dyn_friction_t){B[i] * gear * gear, {Tc[i][0] * gear, Tc[i][1] * gear}, 0};
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    dyn_friction_f64(&arm, one, tau);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected[i], tau[i]);
}

/* Units in which the rotors of the PUMA with motors and friction fit. The proof of range_ne_drive
 * finds them; test_units_of_the_drive checks on the host that it still does. */
static const dyn_units_t puma_units = {.length = -2, .time = -3, .mass = {4, 4, 2, 0, -1, -1}};

static void puma_with_drives(void) {
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    for (int i = 0; i < 6; i++) {
        dyn_drive_t *d = &model.joint[i].drive;
        d->motor.resistance = 1.6;
        d->motor.torque_constant = 0.2;
        d->motor.voltage = 40;
        d->friction = (dyn_friction_t){0.3 * fabs(d->motor.gear) / 60, {-0.2, 0.3}, 0.05};
    }
}

static void random_state(dyn_arms_random_t *seed, double *qd, double *qdd, double *tau) {
    for (int i = 0; i < 6; i++) {
        /* About half of the speeds are below 0.05 rad/s, near the width of the friction. */
        qd[i] = dyn_arms_uniform(seed) * (dyn_arms_random(seed) < 0 ? 3 : 0.05);
        qdd[i] = 10 * dyn_arms_uniform(seed);
        tau[i] = dyn_arms_uniform(seed) * (i < 3 ? 40 : 1);
    }
}

typedef struct {
    double tau[6], volt[6], motor[6], mass[6];
    uint32_t saturated[2];
} drive_result_t;

static drive_result_t drive_f64(const double *qd, const double *qdd, const double *tau) {
    drive_result_t r;
    double M[21] = {0};
    memcpy(r.tau, tau, sizeof r.tau);
    dyn_rotor_inverse_f64(&arm, qdd, r.tau);
    dyn_friction_f64(&arm, qd, r.tau);
    r.saturated[0] = dyn_voltage_f64(&arm, qd, r.tau, r.volt);
    r.saturated[1] = dyn_motor_torque_f64(&arm, qd, r.volt, r.motor);
    dyn_rotor_mass_f64(&arm, M);
    for (int i = 0; i < 6; i++)
        r.mass[i] = M[i * (i + 3) / 2];
    return r;
}

/*
 * Every result is a sum of a few products. Each product has at most 8 roundings of 2^-24 (of
 * constant, inputs, products and sums), which make less than 8e-7 of the sum of the absolute terms.
 * The voltage also contains the error of the torque.
 */
static void test_f32_agrees_with_f64(void) {
    dyn_arms_random_t seed = {7};
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int s = 0; s < 300; s++) {
        double qd[6], qdd[6], tau[6];
        float fqd[6], fqdd[6], ftau[6], fvolt[6], fmotor[6];
        random_state(&seed, qd, qdd, tau);
        const drive_result_t r = drive_f64(qd, qdd, tau);
        for (int i = 0; i < 6; i++) {
            fqd[i] = (float)qd[i];
            fqdd[i] = (float)qdd[i];
            ftau[i] = (float)tau[i];
        }
        dyn_rotor_inverse_f32(&arm_f32, fqdd, ftau);
        dyn_friction_f32(&arm_f32, fqd, ftau);
        for (int i = 0; i < 6; i++)
            TEST_ASSERT_DOUBLE_WITHIN(8e-7 * (40 + 24 + 10), r.tau[i], (double)ftau[i]);
        const uint32_t saturated = dyn_voltage_f32(&arm_f32, fqd, ftau, fvolt);
        TEST_ASSERT_EQUAL_UINT32(0, dyn_motor_torque_f32(&arm_f32, fqd, fvolt, fmotor));
        TEST_ASSERT_EQUAL_HEX32(r.saturated[0], saturated);
        for (int i = 0; i < 6; i++) {
            const dyn_motor_t *m = &model.joint[i].drive.motor;
            const double k = fabs(m->gear * m->torque_constant), ohm = m->resistance;
            const double volts = ohm / k * 74 + k * fabs(qd[i]);
            TEST_ASSERT_DOUBLE_WITHIN(16e-7 * volts, r.volt[i], (double)fvolt[i]);
            TEST_ASSERT_DOUBLE_WITHIN(k / ohm * 24e-7 * (volts + k * fabs(qd[i])), r.motor[i],
                                      (double)fmotor[i]);
        }
    }
}

/*
 * A torque in q31 is a sum of a dozen truncated numbers, each with an error below one unit of the
 * torque. Inputs and constants have an error of half a unit times the factors written out below.
 */
static void test_q31_agrees_with_f64(void) {
    dyn_arms_random_t seed = {7};
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &puma_units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.drive_status);
    for (int s = 0; s < 300; s++) {
        double qd[6], qdd[6], tau[6];
        int32_t iqd[6], iqdd[6], itau[6], ivolt[6], imotor[6];
        dyn_q31_exponents_t e[6];
        random_state(&seed, qd, qdd, tau);
        for (uint32_t i = 0; i < 6; i++) {
            e[i] = dyn_q31_exponents(&model, &puma_units, i);
            iqd[i] = dyn_q31_from(qd[i], e[i].velocity);
            iqdd[i] = dyn_q31_from(qdd[i], e[i].acceleration);
            itau[i] = dyn_q31_from(tau[i], e[i].torque);
            qd[i] = dyn_q31_to(iqd[i], e[i].velocity);
            qdd[i] = dyn_q31_to(iqdd[i], e[i].acceleration);
            tau[i] = dyn_q31_to(itau[i], e[i].torque);
        }
        const drive_result_t r = drive_f64(qd, qdd, tau);
        dyn_rotor_inverse_q31(&arm_q31, iqdd, itau);
        dyn_friction_q31(&arm_q31, iqd, itau);
        for (uint32_t i = 0; i < 6; i++) {
            const double unit = ldexp(1, e[i].torque - 28);
            /* The rotor inertia is off by half a unit, times an acceleration below one unit. In the
             * friction, x has an error of 2^-28 and t of 7 times that; the Coulomb torque of 0.3 N
             * m has the same relative error. */
            TEST_ASSERT_DOUBLE_WITHIN(12 * unit + 7 * 0x1p-28, r.tau[i],
                                      dyn_q31_to(itau[i], e[i].torque));
        }
        const uint32_t saturated = dyn_voltage_q31(&arm_q31, iqd, itau, ivolt);
        TEST_ASSERT_EQUAL_HEX32(r.saturated[0], saturated);
        const uint32_t unfit = dyn_motor_torque_q31(&arm_q31, iqd, ivolt, imotor);
        for (uint32_t i = 0; i < 6; i++) {
            const dyn_motor_t *m = &model.joint[i].drive.motor;
            const double k = fabs(m->gear * m->torque_constant), ohm = m->resistance;
            const double unit = ldexp(1, e[i].torque - 28), volt_unit = ldexp(1, e[i].voltage - 28);
            /* Sum of errors: that of the torque, two truncations, half a unit of the voltage limit,
             * and constants accurate to 2^-30. */
            const double volts = ohm / k * (12 * unit + 7 * 0x1p-28) + 3 * volt_unit +
                                 0x1p-30 * (ohm / k * fabs(r.tau[i]) + k * fabs(qd[i]));
            TEST_ASSERT_DOUBLE_WITHIN(volts, r.volt[i], dyn_q31_to(ivolt[i], e[i].voltage));
            /* A motor can deliver more torque than q31 can represent in this unit; then the flag is
             * set. */
            const bool fits = fabs(r.motor[i]) < ldexp(7.99, e[i].torque);
            if (fabs(fabs(r.motor[i]) - ldexp(8, e[i].torque)) > ldexp(0.01, e[i].torque))
                TEST_ASSERT_EQUAL_UINT32(!fits, unfit >> i & 1);
            if (!fits)
                continue;
            TEST_ASSERT_DOUBLE_WITHIN(k / ohm * (volts + 0x1p-29 * (40 + k * fabs(qd[i]))) +
                                          2 * unit,
                                      r.motor[i], dyn_q31_to(imotor[i], e[i].torque));
        }
    }
}

/* Values far beyond the number range give the limit and the flag, not a wrapped number. */
static void test_q31_saturates_without_wrapping(void) {
    int32_t qd[6], tau[6], volt[6];
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &puma_units, &arm_q31));
    for (int i = 0; i < 6; i++) {
        qd[i] = model.joint[i].drive.motor.gear > 0 ? INT32_MAX : -INT32_MAX;
        tau[i] = qd[i];
    }
    TEST_ASSERT_EQUAL_HEX32(0x3F, dyn_voltage_q31(&arm_q31, qd, tau, volt));
    for (uint32_t i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(
            1e-6, 40, dyn_q31_to(volt[i], dyn_q31_exponents(&model, &puma_units, i).voltage));
    for (int i = 0; i < 6; i++)
        volt[i] = -volt[i];
    dyn_motor_torque_q31(&arm_q31, qd, volt, tau);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_TRUE(model.joint[i].drive.motor.gear > 0 ? tau[i] < 0 : tau[i] > 0);
}

/* A constant that does not fit is left out and reported; the links are prepared nevertheless. */
static void test_q31_units_without_room_for_rotors(void) {
    const dyn_units_t small = {.length = -4, .time = -4, .mass = {6, 6, 3, 0, -1, -4}};
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &small, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, arm_q31.drive_status);
    TEST_ASSERT_EQUAL_INT32(0, arm_q31.joint[5].rotor);
}

static void test_rotor_mass_is_on_the_diagonal(void) {
    double M[21];
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    for (int i = 0; i < 21; i++)
        M[i] = i;
    dyn_rotor_mass_f64(&arm, M);
    for (uint32_t r = 0, k = 0; r < 6; r++)
        for (uint32_t c = 0; c <= r; c++, k++)
            TEST_ASSERT_TRUE(M[k] == (double)k + (r == c ? dyn_model_rotor(&model.joint[r]) : 0));
}

#ifndef __arm__
static void test_carried_motors_are_the_reference(void) {
    const reference_motor_t *m;
    const uint32_t count = reference_motors(&m);
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    TEST_ASSERT_EQUAL_UINT(MOTORS, count);
    for (uint32_t i = 0; i < count; i++) {
        const double row[11] = {m[i].resistance,
                                m[i].torque_constant,
                                m[i].gear,
                                m[i].rotor_inertia,
                                m[i].tau,
                                m[i].qd,
                                m[i].qdd,
                                m[i].volt,
                                m[i].volt_rotor,
                                m[i].volt_in,
                                m[i].tau_from_volt_in};
        TEST_ASSERT_EQUAL_MEMORY(motor_data[i], row, sizeof row);
    }
}

/* Runs the range proof with rotors and friction, and checks that states stay within its bounds. */
static void test_units_of_the_drive(void) {
    static range_report_t report;
    static dyn_ne_scratch_f64_t scratch;
    static dyn_ne_scratch_q31_t scratch_q31;
    dyn_units_t units;
    dyn_arms_random_t seed = {99};
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_choose_units(range_ne_drive, &model, &units, &report));
    TEST_ASSERT_TRUE(report.fits);
    TEST_ASSERT_EQUAL_INT(puma_units.length, units.length);
    TEST_ASSERT_EQUAL_INT(puma_units.time, units.time);
    TEST_ASSERT_EQUAL_INT8_ARRAY(puma_units.mass, units.mass, 6);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.drive_status);
    double worst = 0;
    for (int s = 0; s < 20000; s++) {
        double q[6], qd[6], qdd[6], tau[6];
        int32_t iq[6], iqd[6], iqdd[6], itau[6];
        random_state(&seed, qd, qdd, tau);
        for (uint32_t i = 0; i < 6; i++) {
            const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
            q[i] = 3.14159 * dyn_arms_uniform(&seed);
            iq[i] = dyn_q31_angle(q[i]);
            iqd[i] = dyn_q31_from(qd[i], e.velocity);
            iqdd[i] = dyn_q31_from(qdd[i], e.acceleration);
        }
        dyn_ne_inverse_f64(&arm, &scratch, q, qd, qdd, tau);
        dyn_rotor_inverse_f64(&arm, qdd, tau);
        dyn_friction_f64(&arm, qd, tau);
        dyn_ne_inverse_q31(&arm_q31, &scratch_q31, iq, iqd, iqdd, itau);
        dyn_rotor_inverse_q31(&arm_q31, iqdd, itau);
        dyn_friction_q31(&arm_q31, iqd, itau);
        for (uint32_t i = 0; i < 6; i++) {
            const double got = dyn_q31_to(itau[i], dyn_q31_exponents(&model, &units, i).torque);
            TEST_ASSERT_DOUBLE_WITHIN(report.tau_error[i], tau[i], got);
            TEST_ASSERT_TRUE(fabs(got) <= report.tau_bound[i]);
            worst = fmax(worst, fabs(got - tau[i]) / report.tau_bound[i]);
        }
    }
    harness_note_number("q31 ne + rotor + friction, 1e-12 of the largest torque of the joint",
                        (int64_t)(worst * 1e12));
}

/* Random states stay within the error that the f32 proof guarantees for arms with drives. */
static void test_f32_error_of_the_drive_is_guaranteed(void) {
    static range_report_t report;
    static dyn_ne_scratch_f64_t scratch;
    static dyn_ne_scratch_f32_t scratch_f32;
    dyn_arms_random_t seed = {5};
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_ne_drive, &model, NULL, RANGE_F32, &report));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int s = 0; s < 5000; s++) {
        double q[6], qd[6], qdd[6], tau[6];
        float fq[6], fqd[6], fqdd[6], ftau[6];
        random_state(&seed, qd, qdd, tau);
        for (int i = 0; i < 6; i++) {
            /* The bound assumes exact inputs, so f64 gets the same float values. */
            fq[i] = (float)(3.14159 * dyn_arms_uniform(&seed));
            fqd[i] = (float)qd[i];
            fqdd[i] = (float)qdd[i];
            q[i] = (double)fq[i];
            qd[i] = (double)fqd[i];
            qdd[i] = (double)fqdd[i];
        }
        dyn_ne_inverse_f64(&arm, &scratch, q, qd, qdd, tau);
        dyn_rotor_inverse_f64(&arm, qdd, tau);
        dyn_friction_f64(&arm, qd, tau);
        dyn_ne_inverse_f32(&arm_f32, &scratch_f32, fq, fqd, fqdd, ftau);
        dyn_rotor_inverse_f32(&arm_f32, fqdd, ftau);
        dyn_friction_f32(&arm_f32, fqd, ftau);
        for (int i = 0; i < 6; i++)
            TEST_ASSERT_DOUBLE_WITHIN(report.tau_error[i], tau[i], (double)ftau[i]);
    }
}

static void test_counts(void) {
    static dyn_arm_count_t counted;
    dyn_real_count_t x[6], y[6], M[21];
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &counted));
    for (int i = 0; i < 6; i++)
        x[i] = y[i] = count_input(0.01);
    for (int i = 0; i < 21; i++)
        M[i] = count_input(1);
    count_begin();
    dyn_rotor_inverse_count(&counted, x, y);
    TEST_ASSERT_EQUAL_INT(6, count_all().mul);
    TEST_ASSERT_EQUAL_INT(6, count_all().add);
    count_begin();
    dyn_rotor_mass_count(&counted, M);
    TEST_ASSERT_EQUAL_INT(0, count_all().mul + count_all().add);
    TEST_ASSERT_TRUE(M[0].v > 1);
    count_begin();
    dyn_friction_count(&counted, x, y);
    TEST_ASSERT_EQUAL_INT(36, count_all().mul);
    TEST_ASSERT_EQUAL_INT(24, count_all().add);
    count_begin();
    TEST_ASSERT_EQUAL_HEX32(0, dyn_voltage_count(&counted, x, x, y));
    TEST_ASSERT_EQUAL_INT(12, count_all().mul);
    TEST_ASSERT_EQUAL_INT(6, count_all().add);
    count_begin();
    TEST_ASSERT_EQUAL_HEX32(0, dyn_motor_torque_count(&counted, x, x, y));
    TEST_ASSERT_EQUAL_INT(12, count_all().mul);
    TEST_ASSERT_EQUAL_INT(6, count_all().add);
}

static double lookup(void *context, int32_t array, int32_t index) {
    const double *in = context;
    return in[6 * array + index];
}

static void test_trace_computes_the_same(void) {
    static dyn_arm_trace_t traced;
    dyn_real_trace_t qd[6], qdd[6], tau[6], volt[6], result[12];
    double in[12], value[12], torque[6];
    dyn_arms_random_t seed = {3};
    graph_t *graph = graph_new();
    trace_use(graph);
    puma_with_drives();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &traced));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    for (int i = 0; i < 6; i++) {
        qd[i] = trace_input(0, i);
        qdd[i] = trace_input(1, i);
        tau[i] = trace_const(0);
    }
    dyn_rotor_inverse_trace(&traced, qdd, tau);
    dyn_friction_trace(&traced, qd, tau);
    TEST_ASSERT_EQUAL_HEX32(0, dyn_voltage_trace(&traced, qd, tau, volt));
    memcpy(result, tau, sizeof tau);
    memcpy(result + 6, volt, sizeof volt);
    for (int s = 0; s < 100; s++) {
        random_state(&seed, in, in + 6, torque);
        memset(torque, 0, sizeof torque);
        const drive_result_t r = drive_f64(in, in + 6, torque);
        trace_values(graph, lookup, in, result, 12, value);
        for (int i = 0; i < 6; i++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + fabs(r.tau[i])), r.tau[i], value[i]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * 80, r.volt[i], value[6 + i]);
        }
    }
    graph_free(graph);
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_voltage_and_torque_of_the_reference)
    TEST(test_saturation_is_told_by_joint)
    TEST(test_no_motor_no_volts)
    TEST(test_friction_beyond_the_width_is_coulomb)
    TEST(test_friction_is_smooth)
    TEST(test_friction_of_the_puma)
    TEST(test_f32_agrees_with_f64)
    TEST(test_q31_agrees_with_f64)
    TEST(test_q31_saturates_without_wrapping)
    TEST(test_q31_units_without_room_for_rotors)
    TEST(test_rotor_mass_is_on_the_diagonal)
#ifndef __arm__
    TEST(test_carried_motors_are_the_reference)
    TEST(test_units_of_the_drive)
    TEST(test_f32_error_of_the_drive_is_guaranteed)
    TEST(test_counts)
    TEST(test_trace_computes_the_same)
#endif
TEST_LIST_END
// clang-format on
