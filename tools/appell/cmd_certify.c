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
#define BUDGET 0.9
enum { TICKS = 300, POLLS = 4000 };
/* A tick costs the same at every rate, but for the simulated arm, which takes several steps in a
 * long one: measured at the robot's own rate, and at this one where the board refuses a higher. */
#define MEASURED_HZ 1000

/* What a board clocks its core with. */
static const struct {
    const char *board;
    double clock_hz;
} clocks[] = {{"netduinoplus2", 168e6},
              {"netduino2", 120e6},
              {"nucleo-f446re", 168e6},
              {"stm32vldiscovery", 24e6},
              {"mps2-an500", 25e6}};
static const double rates[] = {500, 1000, 2000, 4000, 5000, 8000, 10000, 20000};

typedef struct {
    const char *board, *real;
    double clock_hz, rate_hz, per_instruction;
    double predicted, predicted_plant; /* cycles; negative: the bench does not have it */
    costs_t costs;
    bool instructions;
} certificate_t;

static double clock_of(const char *board) {
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        if (!strcmp(board, clocks[i].board))
            return clocks[i].clock_hz;
    return 0;
}

static double cycles_of(const certificate_t *c, const dyn_model_t *model, method_id_t method) {
    for (int i = 0; i < BUDGET_CORES; i++)
        if (!strcmp(budget_core[i].board, c->board) && !strcmp(budget_core[i].real, c->real)) {
            const count_ops_t ops = eval_count_arm(model, method);
            return budget_cycles(&budget_core[i], method,
                                 (double)(ops.mul + ops.add + ops.div + ops.sqrt));
        }
    return -1;
}

/* Inverse dynamics for the controller; forward dynamics for the simulated arm. */
static void predict(certificate_t *c, const dyn_model_t *model) {
    c->predicted = cycles_of(c, model, METHOD_ID_fast);
    c->predicted_plant = cycles_of(c, model, METHOD_FD_fast);
}

/* The loop is closed until enough ticks were measured. */
static int measure(client_t *client, costs_t *costs) {
    const motion_t hold = {.kind = MOTION_HOLD};
    uint32_t tunable;
    int joint;
    float now;
    if (client_tunable(client, "stages", &tunable, &joint) != 0 ||
        client_set(client, tunable, 0, 1, &now) != 0 || client_motion(client, &hold) != 0)
        return -1;
    for (int k = 0; k < POLLS; k++) {
        if (costs_fetch(client, costs) != 0)
            return -1;
        if (costs->ticks >= TICKS)
            break;
    }
    return client_stop(client, true);
}

static int too_few(const certificate_t *c) {
    return say_error(c->board, "look at its fault with `appell get` and `appell dump`",
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
    json_begin(NULL);
    json_string("board", c->board);
    json_string("real", c->real);
    json_number("clock_hz", c->clock_hz);
    json_number("predicted_id_cycles", c->predicted);
    json_number("predicted_fd_cycles", c->predicted_plant);
    json_integer("dynamics_steps", (long)c->costs.most[STAGE_DYNAMICS]);
    json_integer("tick_steps", (long)c->costs.most[STAGES]);
    json_number("tick_cycles", tick_cycles(c, false));
    json_number("rate_hz", c->rate_hz);
    json_number("part", part);
    json_bool("fits", part <= BUDGET);
    json_end();
    return part <= BUDGET ? EXIT_YES : EXIT_NO;
}

static uint8_t *image_at(const request_t *request, robot_t *robot, double rate_hz, size_t *size) {
    const double own = robot->rate_hz;
    robot->rate_hz = rate_hz;
    uint8_t *image = board_image(request, robot, size);
    robot->rate_hz = own;
    return image;
}

/* The robot into a board, at this rate. EXIT_NO: not taken, the client knows why. */
static int load(const request_t *request, robot_t *robot, double rate_hz, client_t *client) {
    size_t size = 0;
    bool kept;
    uint8_t *image = image_at(request, robot, rate_hz, &size);
    if (!image)
        return EXIT_BAD;
    const int sent =
        client_send_image(client, TARGET_APP, image, (uint32_t)size, &kept, NULL, NULL);
    free(image);
    return sent == 0 ? EXIT_YES : EXIT_NO;
}

/* A board with the robot, at a rate that it takes; NULL after saying why not. */
static client_t *open_with(const request_t *request, robot_t *robot) {
    const double rate_hz = robot->rate_hz;
    size_t size = 0;
    uint8_t *image = image_at(request, robot, fmin(rate_hz, MEASURED_HZ), &size);
    client_t *client = image ? board_open_image(request->value[OPTION_PORT], image, size) : NULL;
    free(image);
    if (!client || rate_hz <= MEASURED_HZ)
        return client;
    int loaded = load(request, robot, rate_hz, client);
    if (loaded == EXIT_NO && client->status >= 0)
        loaded = load(request, robot, MEASURED_HZ, client);
    if (loaded == EXIT_YES)
        return client;
    if (loaded == EXIT_NO)
        board_error(client);
    client_close(client);
    return NULL;
}

static int certify(const request_t *request, const robot_t *robot, client_t *client) {
    certificate_t c = {
        .board = client->device.board, .real = client->device.real, .rate_hz = robot->rate_hz};
    c.clock_hz = clock_of(c.board);
    c.per_instruction = budget_cycles_per_instruction(c.board, c.real);
    c.instructions = client->device.flags & HELLO_INSTRUCTIONS;
    if (c.clock_hz <= 0)
        return say_error(c.board, "add it to the table of clocks", "its clock is not known");
    predict(&c, &robot->model);
    if (client_discover(client) != 0 || measure(client, &c.costs) != 0)
        return board_error(client);
    if (c.costs.ticks < TICKS)
        return too_few(&c);
    if (request_has(request, OPTION_JSON))
        return judge_json(&c);
    out_format("%s on %s (%s, %.0f MHz), %u ticks measured\n", robot->name, c.board, c.real,
               c.clock_hz / 1e6, (unsigned)c.costs.ticks);
    if (c.predicted > 0)
        out_format(
            "predicted from the bench: inverse dynamics %.0f cycles, forward dynamics of the "
            "simulated arm %.0f\n",
            c.predicted, c.predicted_plant);
    if (c.instructions)
        out_format("measured: executed instructions; %.3f estimated cycles each, from the bench\n",
                   c.per_instruction);
    print_stages(&c);
    print_rates(&c);
    return judge(&c);
}

int certify_run(const request_t *request) {
    char port[128];
    request_t here = *request;
    if (!request_has(request, OPTION_PORT)) {
        snprintf(port, sizeof port, "qemu:%s",
                 request_has(request, OPTION_BOARD) ? request->value[OPTION_BOARD]
                                                    : "netduinoplus2");
        here.value[OPTION_PORT] = port;
    }
    robot_t *robot = arm_load_rigid(&here);
    if (!robot)
        return EXIT_BAD;
    client_t *client = open_with(&here, robot);
    const int status = client ? certify(&here, robot, client) : EXIT_BAD;
    if (client)
        client_close(client);
    arm_free(robot);
    return status;
}
