/* The arms of test/support/dyn/golden_data.inc, and random numbers that are the same on every
 * machine. */
#include "test/support/dyn/dyn_arms.h"

typedef struct {
    int prismatic;
    double dh[4], xyz[3], rpy[3], axis[3];
    double mass, com[3], inertia[6], inertia_rpy[3], rotor_inertia, gear;
} data_joint_t;

typedef struct {
    const char *name;
    int convention;
    uint32_t n;
    double gravity[3];
    uint32_t first_joint, states, first_number;
} data_arm_t;

#include "test/support/dyn/golden_data.inc"

uint32_t dyn_arms_count(void) {
    return (uint32_t)(sizeof data_arms / sizeof data_arms[0]);
}

const char *dyn_arms_name(uint32_t arm) {
    return data_arms[arm].name;
}

uint32_t dyn_arms_joints(uint32_t arm) {
    return data_arms[arm].n;
}

uint32_t dyn_arms_states(uint32_t arm) {
    return data_arms[arm].states;
}

dyn_arms_state_t dyn_arms_state(uint32_t arm, uint32_t state) {
    const uint32_t n = data_arms[arm].n;
    const double *row = &data_states[data_arms[arm].first_number + 4 * n * state];
    return (dyn_arms_state_t){row, row + n, row + 2 * n, row + 3 * n};
}

static void copy(double *to, const double *from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

void dyn_arms_source(uint32_t arm, dyn_source_t *source) {
    const data_arm_t *in = &data_arms[arm];
    *source = (dyn_source_t){.convention = (dyn_convention_t)in->convention, .n = in->n};
    copy(source->gravity, in->gravity, 3);
    for (uint32_t i = 0; i < in->n; i++) {
        const data_joint_t *d = &data_joints[in->first_joint + i];
        dyn_source_joint_t *j = &source->joint[i];
        j->type = d->prismatic ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->theta = d->dh[0];
        j->d = d->dh[1];
        j->a = d->dh[2];
        j->alpha = d->dh[3];
        copy(j->xyz, d->xyz, 3);
        copy(j->rpy, d->rpy, 3);
        copy(j->axis, d->axis, 3);
        j->link.mass = d->mass;
        copy(j->link.com, d->com, 3);
        copy(j->link.inertia, d->inertia, 6);
        copy(j->inertia_rpy, d->inertia_rpy, 3);
        j->drive.motor.rotor_inertia = d->rotor_inertia;
        j->drive.motor.gear = d->gear;
        double reach = d->prismatic ? 0.5 : 3.14159265358979;
        j->drive.limits = (dyn_limits_t){{-reach, reach}, 3, 10, 0};
    }
}

void dyn_arms_model(uint32_t arm, dyn_model_t *model) {
    static dyn_source_t source;
    dyn_arms_source(arm, &source);
    (void)dyn_convert(&source, DYN_PARALLEL_DEFAULT, model, 0);
}

int32_t dyn_arms_random(dyn_arms_random_t *random) {
    /* xorshift64* */
    uint64_t x = random->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random->state = x;
    return (int32_t)(uint32_t)((x * 0x2545F4914F6CDD1Du) >> 32);
}

double dyn_arms_uniform(dyn_arms_random_t *random) {
    return (double)dyn_arms_random(random) / 2147483648.0;
}
