/* The robots of the bench, the same on host and target. */
#include "test/bench/bench.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_forward.h"

static void puma560(dyn_model_t *model) {
    dyn_arms_model(DYN_ARMS_PUMA, model);
    for (uint32_t i = 0; i < model->n; i++) {
        dyn_motor_t *motor = &model->joint[i].drive.motor;
        motor->resistance = 1.6;
        motor->torque_constant = 0.2;
        motor->voltage = 40;
    }
}

/* The arm of tools/robots/stanford.yaml with motors, the only robot here with a prismatic joint. */
static void stanford(dyn_model_t *model) {
    static dyn_source_t source;
    const double quarter = 1.5707963267948966;
    const double d[6] = {0.2, 0.1, 0, 0.6, 0, 0};
    const double alpha[6] = {-quarter, -quarter, 0, quarter, -quarter, 0};
    const dyn_body_t link[6] = {
        {9, {0, 0.1, 0}, {0.01, 0.02, 0.01, 0, 0, 0}},
        {6, {0, 0, 0}, {0.05, 0.06, 0.01, 0, 0, 0}},
        {4, {0, 0, 0}, {0.4, 0.4, 0.01, 0, 0, 0}},
        {1, {0, 0.1, 0}, {0.001, 0.001, 0.0005, 0, 0, 0}},
        {0.6, {0, 0, 0}, {0.0005, 0.0005, 0.0002, 0, 0, 0}},
        {0.5, {0, 0, 0}, {0.003, 0.001, 0.002, 0, 0, 0}},
    };
    source = (dyn_source_t){.convention = DYN_CONVENTION_DH, .n = 6, .gravity = {0, 0, -9.81}};
    for (uint32_t i = 0; i < 6; i++) {
        dyn_source_joint_t *j = &source.joint[i];
        const double reach = i == 2 ? BENCH_TRAVEL : 3.14;
        j->type = i == 2 ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->d = d[i];
        j->alpha = alpha[i];
        j->link = link[i];
        j->drive.limits = (dyn_limits_t){{-reach, reach}, BENCH_SPEED, BENCH_ACCELERATION, 0};
        j->drive.motor = (dyn_motor_t){1.6, 0.2, 60, 2e-4, 40};
    }
    (void)dyn_convert(&source, DYN_PARALLEL_DEFAULT, model, NULL);
}

static const struct {
    const char *name;
    uint32_t n; /* number of joints of a chain */
    void (*make)(dyn_model_t *model);
} robots[] = {
    {"puma560", 0, puma560}, {"stanford", 0, stanford}, {"chain2", 2, NULL},
    {"chain3", 3, NULL},     {"chain6", 6, NULL},       {"chain7", 7, NULL},
    {"chain12", 12, NULL},   {"chain20", 20, NULL},     {"chain30", 30, NULL},
};

uint32_t bench_robot_count(void) {
    return (uint32_t)(sizeof robots / sizeof robots[0]);
}

const char *bench_robot_name(uint32_t robot) {
    return robots[robot].name;
}

static void chain(uint32_t n, dyn_model_t *model) {
    static dyn_source_t source;
    dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};
    source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = n, .gravity = {0, 0, -9.81}};
    for (uint32_t i = 0; i < n; i++) {
        dyn_source_joint_t *j = &source.joint[i];
        /* The first link has about 4 kg, the others less. All inertias are well inside the triangle
         * inequality. */
        const double m = 4.0 / (1 + i) + 0.1 * dyn_arms_uniform(&seed) / (1 + i);
        j->type = DYN_REVOLUTE;
        j->alpha = 3 * dyn_arms_uniform(&seed);
        j->a = 0.2 * dyn_arms_uniform(&seed);
        j->theta = 3 * dyn_arms_uniform(&seed);
        j->d = 0.2 * dyn_arms_uniform(&seed);
        j->link.mass = m;
        for (int k = 0; k < 3; k++) {
            j->link.com[k] = 0.1 * dyn_arms_uniform(&seed);
            j->link.inertia[k] = m * (0.02 + 0.005 * dyn_arms_uniform(&seed));
            j->link.inertia[3 + k] = m * 0.004 * dyn_arms_uniform(&seed);
        }
        j->drive.limits = (dyn_limits_t){{-3.14, 3.14}, BENCH_SPEED, BENCH_ACCELERATION, 0};
        j->drive.motor = (dyn_motor_t){1.6, 0.2, 60, 2e-4, 40};
    }
    (void)dyn_convert(&source, DYN_PARALLEL_DEFAULT, model, NULL);
}

void bench_robot_model(uint32_t robot, dyn_model_t *model) {
    if (robots[robot].n > 0) {
        chain(robots[robot].n, model);
        return;
    }
    robots[robot].make(model);
}

void bench_robot_units(const dyn_model_t *model, dyn_units_t *units) {
    *units = (dyn_units_t){0};
    forward_units(model, units);
}

int32_t bench_part(dyn_arms_random_t *seed, uint32_t left) {
    static const int32_t corner[] = {INT32_MAX, -INT32_MAX, 0, 1 << 30};
    const int32_t value = dyn_arms_random(seed);
    const uint32_t choice = (uint32_t)dyn_arms_random(seed) >> 16;
    switch (left % 4) {
    case 1:
        return value >> choice % 32;
    case 2:
        return corner[choice % 4];
    case 3:
        return choice % 2 ? value : 0;
    default:
        return value;
    }
}
