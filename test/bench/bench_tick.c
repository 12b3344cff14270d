/*
 * Measures the tick stage by stage: the PUMA 560 with motors in a fast motion, with the control
 * loop in the number type of the board. Each stage is timed in its own run, so that the markers of
 * the plugin enclose nothing else. The method `-` is the whole app_tick with the simulated arm. The
 * method `arm` is the whole app_tick as with a real arm: it gets readings of encoders and supply
 * and simulates nothing.
 */
#include "firmware/app/app.h"
#include "test/bench/bench.h"
#include "test/support/control_arm.h"

#include <string.h>

#define APP bench_app

static app_t bench_app;
static app_inputs_t in;
static app_outputs_t out;

#define SUPPLY_MV  40000 /* nominal supply in test/support/control_arm.c */
#define CONTROL    (&APP.control[APP.now])
#define STEP(name) static BENCH_APART void step_##name(void)

STEP(empty) {
    __asm volatile("");
}
STEP(sense) {
    control_sense(CONTROL, &APP.loop);
}
STEP(estimate) {
    control_estimate(CONTROL, &APP.loop);
}
STEP(reference) {
    reference_step(CONTROL, &APP.motion, &APP.loop);
}
STEP(dynamics) {
    control_dynamics(CONTROL, &APP.memory.scratch, &APP.loop);
}
STEP(feedback) {
    control_feedback(CONTROL, &APP.loop);
}
STEP(drive) {
    control_drive(CONTROL, 0, &APP.loop, out.duty_q15);
}
STEP(sim_arm) {
    sim_arm_step(CONTROL, &APP.sim_arm, &APP.memory.scratch, false);
}
STEP(tick) {
    app_tick(&APP, &in, &out);
}

/* The steps are in the order of the tick; the last two measure the whole tick. */
static const struct {
    const char *name;
    void (*run)(void);
} step[] = {{"sense", step_sense},
            {"estimate", step_estimate},
            {"reference", step_reference},
            {"dynamics", step_dynamics},
            {"feedback", step_feedback},
            {"drive", step_drive},
            {"sim_arm", step_sim_arm},
            {"-", step_tick},
            {"arm", step_tick}};
enum { STEPS = sizeof step / sizeof step[0], ARM = STEPS - 1, ALL_STAGES = ARM - 1 };

/* Puts the arm into the middle of a cycloid motion. */
static bool start(void) {
    static const float from[] = {-0.5f, 1.25f, -2.3f, -0.9f, -1.4f, -1.4f};
    motion_t motion = {
        .kind = MOTION_CYCLOID, .duration_s = 1.5f, .value = {0.5f, 1.9f, -0.8f, 1.9f, 1.4f, 1.4f}};
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    memset(&in, 0, sizeof in);
    app_init(&APP);
    if (!image || app_set(&APP, PARAMETER_rate_check, 0, 0) != APP_OK ||
        app_load(&APP, image, size) != APP_OK || app_place(&APP, from) != APP_OK ||
        app_motion_start(&APP, &motion) != APP_OK)
        return false;
    for (int k = 0; k < 500; k++)
        app_tick(&APP, &in, &out);
    return out.enable;
}

static BENCH_APART uint32_t timed(void (*run)(void)) {
    const uint32_t begin = bench_clock();
    bench_begin();
    run();
    bench_end();
    return bench_elapsed(begin, bench_clock());
}

/* The simulated arm moves outside the measured tick, which treats it as hardware. */
static uint32_t timed_with_arm(void) {
    CONTROL->simulated = false;
    sim_arm_counts(&APP.sim_arm, in.counts);
    in.counts_valid = UINT32_MAX;
    in.supply_mV = SUPPLY_MV;
    in.ready = 1;
    const uint32_t spent = timed(step[ARM].run);
    sim_arm_drive(CONTROL, &APP.sim_arm, out.duty_q15, APP.loop.tau);
    step_sim_arm();
    return spent;
}

static uint32_t timed_stage(uint32_t which) {
    uint32_t spent = 0;
    sim_arm_counts(&APP.sim_arm, APP.loop.counts);
    for (uint32_t s = 0; s < ALL_STAGES; s++) {
        if (s == which)
            spent = timed(step[s].run);
        else
            step[s].run();
        if (step[s].run == step_drive)
            sim_arm_drive(CONTROL, &APP.sim_arm, out.duty_q15, APP.loop.tau);
    }
    return spent;
}

static bench_cost_t measure(uint32_t which, uint32_t ticks) {
    bench_cost_t cost = {UINT32_MAX, 0};
    for (uint32_t k = 0; k < ticks; k++) {
        const uint32_t spent = which == ARM          ? timed_with_arm()
                               : which == ALL_STAGES ? timed(step[ALL_STAGES].run)
                                                     : timed_stage(which);
        cost.least = spent < cost.least ? spent : cost.least;
        cost.most = spent > cost.most ? spent : cost.most;
        APP.tail = APP.head; /* makes room for the next sample */
    }
    bench_row();
    return cost;
}

void bench_run(const bench_choice_t *choice) {
    static const char name[] = "puma560";
    if (!bench_chosen(choice->robot, name) || !bench_chosen(choice->problem, "tick") ||
        !bench_chosen(choice->real, app_real_name()))
        return;
    const uint32_t empty = timed(step_empty);
    bench_row();
    bench_print(name, CONTROL_ARM_JOINTS, "tick", "empty", app_real_name(),
                (bench_cost_t){empty, empty}, "same");
    for (uint32_t s = 0; s < STEPS; s++) {
        if (!bench_chosen(choice->method, step[s].name))
            continue;
        const bool good = start();
        bench_cost_t cost = measure(s, choice->states);
        const bool moved = s < ALL_STAGES || out.enable; /* no fault has stopped the arm */
        cost.least -= empty;
        cost.most -= empty;
        bench_print(name, CONTROL_ARM_JOINTS, "tick", step[s].name, app_real_name(), cost,
                    good && moved ? "same" : "DIFFERENT");
    }
}
