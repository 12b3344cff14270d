/* certify: whether the tick of a robot fits on a board, predicted from the bench and measured in
 * the emulator (or on the board itself), and at which rates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/appell/arm.h"
#include "tools/appell/board.h"
#include "tools/appell/budget.h"
#include "tools/appell/commands.h"
#include "tools/appell/eval.h"
#include "tools/appell/json.h"
#include "tools/appell/out.h"
#include "tools/appell/say.h"
#include "tools/run/run.h"

/* Part of a period that a tick may take; the same as in firmware/core/app.c. */
#define BUDGET      0.9
#define PUMA_JOINTS 6.0
enum { TICKS = 300, TICKS_MOST = 10 * TICKS };
/* The tick costs the same at every rate from here on (below, the simulated arm takes more steps),
 * and no board is late at this one, and refuses. */
#define MEASURED_HZ 1000

/* What a board clocks its core with. */
typedef struct {
    const char *board, *real;
    double clock_hz;
    bool emulated;
} clock_row_t;
static const clock_row_t clocks[] = {{"netduinoplus2", "f32", 168e6, true},
                                     {"netduino2", "q31", 120e6, true},
                                     {"nucleo-f446re", "f32", 168e6, false},
                                     {"stm32vldiscovery", "q31", 24e6, true},
                                     {"mps2-an500", "f32", 25e6, true}};
static const double rates[] = {500, 1000, 2000, 4000, 5000, 8000, 10000, 20000};

typedef struct {
    const char *board, *real;
    double clock_hz, rate_hz, per_instruction;
    /* Of the tick with a robot, and with a simulated arm; negative: the bench does not have it. */
    double predicted[2], instructions_predicted[2];
    costs_t costs;
    bool instructions;
} certificate_t;

static const clock_row_t *clock_of(const char *board) {
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        if (!strcmp(board, clocks[i].board))
            return &clocks[i];
    return NULL;
}

/* Cycles of a kernel of an arm, on the board of the bench with this number type. */
static double cycles_of(const char *real, const dyn_model_t *model, method_id_t method) {
    for (int i = 0; i < BUDGET_CORES; i++)
        if (!strcmp(budget_core[i].real, real)) {
            const count_ops_t ops = eval_count_ops(model, method);
            return budget_cycles(&budget_core[i], method,
                                 (double)(ops.mul + ops.add + ops.div + ops.sqrt));
        }
    return -1;
}

/*
 * From the tick of the PUMA 560 in the bench: inverse dynamics (and forward dynamics, of a
 * simulated arm) are exchanged for those of this arm, the rest goes with the number of joints.
 * Cycles, and instructions by the ratio of that tick.
 */
static void predict(certificate_t *c, const dyn_model_t *model, const dyn_model_t *puma) {
    for (int plant = 0; plant < 2; plant++) {
        double instructions, cycles, own = 0, its = 0;
        c->predicted[plant] = -1;
        if (!budget_tick(c->board, c->real, plant, &instructions, &cycles))
            continue;
        for (int k = 0; k <= plant; k++) {
            const method_id_t method = k ? METHOD_FD_fast : METHOD_ID_fast;
            own += cycles_of(c->real, model, method);
            its += cycles_of(c->real, puma, method);
        }
        c->predicted[plant] = (cycles - its) * model->n / PUMA_JOINTS + own;
        c->instructions_predicted[plant] = c->predicted[plant] * instructions / cycles;
    }
}

/* The loop is closed until enough ticks were measured, or a fault has opened it: then the board's
 * ticks go on, and their costs do not. */
static int measure(client_t *client, costs_t *costs) {
    const motion_t hold = {.kind = MOTION_HOLD};
    device_status_t status;
    uint32_t tunable;
    int joint;
    float now;
    if (client_tunable(client, "stages", &tunable, &joint) != 0 ||
        client_set(client, tunable, 0, 1, &now) != 0 || client_motion(client, &hold) != 0)
        return -1;
    if (client_status(client, &status) != 0)
        return -1;
    const uint32_t first = status.tick;
    do {
        if (client_status(client, &status) != 0 || costs_fetch(client, costs) != 0)
            return -1;
    } while (costs->ticks < TICKS && status.tick - first < TICKS_MOST);
    if (costs->ticks < TICKS) /* the fault stays: the answer says to look at it */
        return client_stop(client, true);
    /* All stages of the same ticks: with the loop open none is added. */
    return client_off(client) != 0 ? -1 : costs_fetch(client, costs);
}

static int too_few(const certificate_t *c) {
    return say_error(c->board, "look at its fault with `appell faults` and `appell dump`",
                     "the loop was closed for %u ticks only, %d are needed",
                     (unsigned)c->costs.ticks, TICKS);
}

/* Cycles of the whole tick; without the simulated arm where a robot is attached. */
static double tick_cycles(const certificate_t *c, bool plant) {
    const uint32_t steps = c->costs.most[STAGES] - (plant ? 0 : c->costs.most[STAGE_PLANT]);
    return c->instructions ? steps * c->per_instruction : steps;
}

static void print_stages(const certificate_t *c) {
    out_format("%-10s %12s %12s %12s\n", "stage", c->instructions ? "instructions" : "cycles",
               "most", "cycles");
    for (uint32_t k = 0; k <= STAGES; k++)
        out_format("%-10s %12u %12u %12.0f\n", k < STAGES ? stage_name(k) : "tick",
                   (unsigned)c->costs.mean[k], (unsigned)c->costs.most[k],
                   c->instructions ? c->costs.most[k] * c->per_instruction : c->costs.most[k]);
}

static void print_rates(const certificate_t *c) {
    out_format("\n%-8s %22s %22s\n", "rate", "with a robot", "with a simulated arm");
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        out_format("%5.0f Hz", rates[i]);
        for (int plant = 0; plant < 2; plant++) {
            const double part = tick_cycles(c, plant) * rates[i] / c->clock_hz;
            out_format("   %5.1f %% %-12s", 100 * part, part <= BUDGET ? "fits" : "does not fit");
        }
        out_text("\n");
    }
}

static void print_prediction(const certificate_t *c) {
    if (c->predicted[0] < 0) {
        out_text("not predicted: the bench has no tick of this core\n");
        return;
    }
    out_format(
        "predicted from the tick of the PUMA 560 in the bench: %.0f instructions, %.0f cycles "
        "with a robot; %.0f, %.0f with a simulated arm\n",
        c->instructions_predicted[0], c->predicted[0], c->instructions_predicted[1],
        c->predicted[1]);
}

/* What is known of every board. */
static void begin_json(const certificate_t *c) {
    json_begin(NULL);
    json_string("board", c->board);
    json_string("real", c->real);
    json_number("clock_hz", c->clock_hz);
    json_number("predicted_tick_cycles", c->predicted[0]);
    json_number("predicted_tick_instructions", c->instructions_predicted[0]);
}

/* Without an emulator the bench alone decides. */
static int judge_prediction(const request_t *request, const certificate_t *c) {
    const double part = c->predicted[0] * c->rate_hz / c->clock_hz;
    const bool fits = c->predicted[0] >= 0 && part <= BUDGET;
    if (request_has(request, OPTION_JSON)) {
        begin_json(c);
        json_number("rate_hz", c->rate_hz);
        json_number("part", part);
        json_bool("measured", false);
        json_bool("fits", fits);
        json_end();
        return fits ? EXIT_YES : EXIT_NO;
    }
    print_prediction(c);
    out_format("not measured: the emulator has no such board\n"
               "the robot's %.0f Hz take %.1f %% of the core (%.0f %% are allowed): %s\n",
               c->rate_hz, 100 * part, 100 * BUDGET, fits ? "fits" : "does NOT fit");
    return fits ? EXIT_YES : EXIT_NO;
}

static int judge(const certificate_t *c) {
    const double part = tick_cycles(c, false) * c->rate_hz / c->clock_hz;
    const bool fits = part <= BUDGET;
    out_format(
        "\nthe robot's %.0f Hz take %.1f %% of the core (%.0f %% are allowed): %s; fastest rate "
        "%.0f Hz\n",
        c->rate_hz, 100 * part, 100 * BUDGET, fits ? "fits" : "does NOT fit",
        BUDGET * c->clock_hz / tick_cycles(c, false));
    return fits ? EXIT_YES : EXIT_NO;
}

static int judge_json(const certificate_t *c) {
    const double part = tick_cycles(c, false) * c->rate_hz / c->clock_hz;
    begin_json(c);
    json_integer("dynamics_steps", (long)c->costs.most[STAGE_DYNAMICS]);
    json_integer("tick_steps", (long)c->costs.most[STAGES]);
    json_number("tick_cycles", tick_cycles(c, false));
    json_number("rate_hz", c->rate_hz);
    json_number("part", part);
    json_bool("measured", true);
    json_bool("fits", part <= BUDGET);
    json_end();
    return part <= BUDGET ? EXIT_YES : EXIT_NO;
}

static int certify(const request_t *request, const robot_t *robot, client_t *client,
                   certificate_t *c) {
    device_status_t status;
    c->board = client->device.board;
    c->real = client->device.real;
    c->per_instruction = budget_cycles_per_instruction(c->board, c->real);
    c->instructions = client->device.flags & HELLO_INSTRUCTIONS;
    if (client_status(client, &status) != 0 || measure(client, &c->costs) != 0)
        return board_error(client);
    if (c->costs.ticks < TICKS)
        return too_few(c);
    if (request_has(request, OPTION_JSON))
        return judge_json(c);
    out_format("%s on %s (%s, %.0f MHz), %u ticks measured at %u Hz\n", robot->name, c->board,
               c->real, c->clock_hz / 1e6, (unsigned)c->costs.ticks, (unsigned)status.rate_hz);
    print_prediction(c);
    if (c->instructions)
        out_format("measured: executed instructions; %.3f estimated cycles each, from the bench\n",
                   c->per_instruction);
    print_stages(c);
    print_rates(c);
    return judge(c);
}

/* Predicts, and measures where that is possible. */
static int with_robot(const request_t *request, robot_t *robot, const char *board) {
    const clock_row_t *row = clock_of(board);
    certificate_t c = {.board = board, .rate_hz = robot->rate_hz};
    messages_t messages = MESSAGES_INIT;
    if (!row)
        return say_error(board,
                         "netduinoplus2, netduino2, nucleo-f446re, stm32vldiscovery or "
                         "mps2-an500",
                         "there is no such board");
    c.real = row->real;
    c.clock_hz = row->clock_hz;
    robot_t *puma = calloc(1, sizeof *puma);
    const bool known = puma && robot_load("puma560", NULL, puma, &messages) == 0;
    messages_free(&messages);
    c.predicted[0] = c.predicted[1] = -1;
    if (known)
        predict(&c, &robot->model, &puma->model);
    arm_free(puma);
    if (!row->emulated && !request_has(request, OPTION_PORT))
        return judge_prediction(request, &c);
    robot->rate_hz = fmin(robot->rate_hz, MEASURED_HZ);
    client_t *client = board_open_with(request, robot);
    const int status = client ? certify(request, robot, client, &c) : EXIT_BAD;
    if (client)
        client_close(client);
    return status;
}

int certify_run(const request_t *request) {
    char port[128];
    request_t here = *request;
    const char *board =
        request_has(request, OPTION_BOARD) ? request->value[OPTION_BOARD] : "netduinoplus2";
    if (request_has(request, OPTION_PORT) && !strncmp(request->value[OPTION_PORT], "qemu:", 5))
        board = request->value[OPTION_PORT] + 5;
    robot_t *robot = arm_load_rigid(&here);
    if (!robot)
        return EXIT_BAD;
    const clock_row_t *row = clock_of(board);
    if (!request_has(request, OPTION_PORT) && row && row->emulated) {
        snprintf(port, sizeof port, "qemu:%s", board);
        here.value[OPTION_PORT] = port;
        here.given[OPTION_PORT] = true;
    }
    const int status = with_robot(&here, robot, board);
    arm_free(robot);
    return status;
}
