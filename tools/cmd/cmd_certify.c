/* certify: predicts from the bench, and measures in the emulator or on the board, whether the tick
 * of a robot fits on a board, and at which rates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/args/budget.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/progress.h"
#include "tools/cli/diagnostics.h"
#include "tools/motion/costs.h"
#include "tools/motion/trial.h"

/* Fraction of a period that a tick may take; firmware/app/handover.c has the same value. */
#define BUDGET      0.9
#define PUMA_JOINTS 6.0
enum { TICKS = 300, TICKS_MOST = 10 * TICKS, POLL_MS = 50, POLLS = 100 };
/*
 * Seconds between the points of the streamed motion. It is short enough that some points are used
 * up within TICKS, and long enough that the buffer of the smallest board lasts longer than an
 * answer takes.
 */
#define POINT_S 0.1
/* Rate of the measurement, unless the robot's rate is lower. No board is too slow for it. At lower
 * rates the tick costs more, because the simulated arm takes more steps; at higher rates the cost
 * does not change. */
#define MEASURED_HZ 1000

/* Number type and clock of a board that the command knows. */
typedef struct {
    const char *board, *real;
    double clock_hz;
} clock_row_t;
static const clock_row_t clocks[] = {{"netduinoplus2", "f32", 168e6},
                                     {"netduino2", "q31", 120e6},
                                     {"nucleo-f446re", "f32", 168e6},
                                     {"stm32vldiscovery", "q31", 24e6},
                                     {"mps2-an500", "f32", 25e6}};
static const double rates[] = {500, 1000, 2000, 4000, 5000, 8000, 10000, 20000};

typedef struct {
    const char *board, *real;
    double clock_hz, rate_hz;
    double per_instruction; /* cycles per instruction in the kernels */
    /* cycles per instruction in the whole tick: [0] real arm, [1] simulated arm */
    double per_tick[2];
    /* Predicted cycles and instructions of a tick: [0] real arm, [1] simulated arm; negative if the
     * bench has no row. */
    double predicted[2], instructions_predicted[2];
    double busy_s; /* time that the hardware of a real arm takes in a tick */
    costs_t costs;
    bool instructions;
} certificate_t;

const char *certify_board(size_t i) {
    return i < sizeof clocks / sizeof clocks[0] ? clocks[i].board : NULL;
}

static const clock_row_t *clock_of(const char *board) {
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        if (!strcmp(board, clocks[i].board))
            return &clocks[i];
    return NULL;
}

/* Returns the cycles of a kernel for an arm, on the bench's board with this number type. */
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
 * Predicts the tick of this arm from the tick of the PUMA 560 in the bench: replaces the cost of
 * inverse dynamics (and of forward dynamics with a simulated arm) by that of this arm and scales
 * the rest with the number of joints. Instructions follow from the cycles by the ratio in the tick
 * of the PUMA 560.
 */
static void predict(certificate_t *c, const dyn_model_t *model, const dyn_model_t *puma) {
    for (int simulated = 0; simulated < 2; simulated++) {
        double instructions, cycles, own = 0, its = 0;
        c->predicted[simulated] = -1;
        if (!budget_tick(c->board, c->real, simulated, &instructions, &cycles))
            continue;
        for (int k = 0; k <= simulated; k++) {
            const method_id_t method = k ? METHOD_FD_fast : METHOD_ID_fast;
            own += cycles_of(c->real, model, method);
            its += cycles_of(c->real, puma, method);
        }
        c->predicted[simulated] = (cycles - its) * model->n / PUMA_JOINTS + own;
        c->instructions_predicted[simulated] = c->predicted[simulated] * instructions / cycles;
    }
}

typedef struct {
    int at;
    uint32_t n;
    bool known;
    float q[DYN_MAX_JOINTS];
} place_t;

static void see_place(void *user, const sample_in_t *sample) {
    place_t *place = user;
    for (uint32_t i = 0; i < place->n && place->at >= 0; i++)
        place->q[i] = (float)sample->value[(uint32_t)place->at + i];
    place->known = true;
}

/* Reads the position of the arm, because a streamed motion must begin there. */
static int find_place(client_t *client, place_t *place) {
    static const char *const field[] = {"q"};
    if (client_stream(client, field, 1, 1, 1, see_place, place) != 0)
        return -1;
    place->at = client_value_of(client, "q");
    for (int k = 0; k < POLLS && !place->known; k++)
        if (client_poll(client, POLL_MS) < 0)
            return -1;
    if (!place->known)
        port_fail(&client->error, "see `appell monitor`", "the board sends no position");
    return place->known ? client_stream_end(client) : -1;
}

/*
 * Waits until the costs of TICKS more ticks are recorded, and sends points while the board has room
 * for them. Gives up after TICKS_MOST ticks: if a fault has opened the loop, ticks go on but their
 * costs are not recorded.
 */
static int measure_ticks(client_t *client, const place_t *place, uint32_t credits, costs_t *costs) {
    device_status_t status;
    if (client_status(client, &status) != 0)
        return -1;
    const uint32_t first = status.tick, enough = costs->ticks + TICKS;
    do {
        while (credits > 0)
            if (client_points(client, place->q, 1, &credits) != 0 && trial_in_fault(client) != 0)
                return -1;
        if (client_status(client, &status) != 0 || costs_fetch(client, costs) != 0)
            return -1;
        credits = status.fault == APP_FAULT_NONE ? status.point_credits : 0;
        progress_show("ticks", costs->ticks, 2 * TICKS);
    } while (costs->ticks < enough && status.tick - first < TICKS_MOST);
    return 0;
}

/*
 * Measures the most expensive ticks without the direction check. First it streams points, then it
 * jogs: the references of a jog and of braking are the most expensive ones, because they look ahead
 * for limits. All points are the present position and the jog speed is zero, so the arm does not
 * move.
 */
static int measure(client_t *client, costs_t *costs) {
    const motion_t stream = {.kind = MOTION_POINTS, .duration_s = (float)POINT_S};
    const motion_t jog = {.kind = MOTION_JOG};
    place_t place = {.n = client->device.joints};
    uint32_t parameter;
    int joint;
    float now;
    costs->ticks = 0;
    /* Nobody can choose the other arm from here on. */
    if (client_lead(client, "certify") != 0 || client_simulated(client, "certify") != 0 ||
        find_place(client, &place) != 0 ||
        client_parameter(client, "stages", &parameter, &joint) != 0 ||
        client_override(client, parameter, 0, 1, &now) != 0 ||
        client_motion(client, &stream) != 0 || measure_ticks(client, &place, 1, costs) != 0)
        return -1;
    if (costs->ticks >= TICKS && (client_off(client) != 0 || client_motion(client, &jog) != 0 ||
                                  measure_ticks(client, &place, 0, costs) != 0))
        return -1;
    /* the fault is not cleared, because the error message refers to it */
    if (costs->ticks < 2 * TICKS)
        return client_stop(client, true);
    /* While the loop is open no tick is recorded, so the costs of all stages come from the same
     * ticks. */
    return client_off(client) != 0 ? -1 : costs_fetch(client, costs);
}

static int too_few(const certificate_t *c) {
    return diag_error(c->board, "see the board's fault with `appell status` and `appell crash`",
                      "the control loop ran for only %u ticks; %d are needed",
                      (unsigned)c->costs.ticks, 2 * TICKS);
}

/*
 * Bounds the cost of the direction check, which the guards add to a tick at most every 6 ms when a
 * direction looks wrong (firmware/safety/direction.c). It is inverse dynamics with rotors and
 * friction, as in the dynamics stage, and tests of half of the joints, which cost less than the
 * feedback of all joints.
 */
static uint32_t direction_steps(const certificate_t *c) {
    return c->costs.most[STAGE_DYNAMICS] + c->costs.most[STAGE_FEEDBACK];
}

/*
 * Returns the cost of the worst tick without the direction check: the sum of the largest costs of
 * all stages, which need not occur in the same tick. With a real arm the stage of the simulated arm
 * does not count.
 */
static uint32_t stage_steps(const certificate_t *c, bool simulated) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < STAGES; k++)
        sum += k != STAGE_SIM_ARM || simulated ? c->costs.most[k] : 0;
    return sum;
}

/* Returns the cycles of the most expensive tick; with a real arm it includes what reading the
 * encoders takes between two ticks. */
static double tick_cycles(const certificate_t *c, bool simulated) {
    const uint32_t steps = stage_steps(c, simulated);
    const double busy = simulated ? 0 : c->busy_s * c->clock_hz;
    if (!c->instructions)
        return steps + direction_steps(c) + busy;
    return steps * c->per_tick[simulated] + direction_steps(c) * c->per_instruction + busy;
}

static void print_stages(const certificate_t *c) {
    out_format("%-10s %12s %12s %12s\n", "stage", c->instructions ? "mean instr." : "mean cycles",
               c->instructions ? "most instr." : "most cycles", "most cycles");
    for (uint32_t k = 0; k <= STAGES; k++)
        out_format("%-10s %12u %12u %12.0f\n", k < STAGES ? stage_name(k) : "tick",
                   (unsigned)c->costs.mean[k], (unsigned)c->costs.most[k],
                   c->instructions
                       ? c->costs.most[k] * (k < STAGES ? c->per_instruction : c->per_tick[1])
                       : c->costs.most[k]);
    out_format("%-10s %12s %12u %12.0f   check of a joint that seems to turn against its motor\n",
               "direction", "", (unsigned)direction_steps(c),
               c->instructions ? direction_steps(c) * c->per_instruction : direction_steps(c));
    out_format("%-10s %12s %12s %12.0f   reading the encoders of a real arm\n", "encoders", "", "",
               c->busy_s * c->clock_hz);
    out_format("%-10s %12s %12u %12.0f   with a simulated arm; %.0f with a real arm\n",
               "worst tick", "", (unsigned)(stage_steps(c, true) + direction_steps(c)),
               tick_cycles(c, true), tick_cycles(c, false));
}

static void print_rates(const certificate_t *c) {
    out_format("\n%-8s %22s %22s\n", "rate", "with a real arm", "with a simulated arm");
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        out_format("%5.0f Hz", rates[i]);
        for (int simulated = 0; simulated < 2; simulated++) {
            const double part = tick_cycles(c, simulated) * rates[i] / c->clock_hz;
            out_format("   %5.1f %% %-12s", 100 * part, part <= BUDGET ? "fits" : "does not fit");
        }
        out_text("\n");
    }
}

static void print_prediction(const certificate_t *c) {
    if (c->predicted[0] < 0) {
        out_text("no prediction: there is no stored benchmark of a tick on this core, or the robot "
                 "puma560 was not found\n");
        return;
    }
    out_format(
        "predicted cost of a tick, from the stored benchmark of the PUMA 560: with a real arm %.0f "
        "instructions, %.0f cycles; with a simulated arm %.0f instructions, %.0f cycles\n",
        c->instructions_predicted[0], c->predicted[0], c->instructions_predicted[1],
        c->predicted[1]);
}

/* Writes the JSON fields that the report of every board has. */
static void begin_json(const certificate_t *c) {
    json_begin(NULL);
    json_string("board", c->board);
    json_string("real", c->real);
    json_number("clock_hz", c->clock_hz);
    json_number("predicted_tick_cycles", c->predicted[0]);
    json_number("predicted_tick_instructions", c->instructions_predicted[0]);
}

/* The parts of FIT_TABLE that follow from the robot and the pins of the board, in the emulator,
 * too. */
static const uint32_t known_parts =
    1u << FIT_ENCODER | 1u << FIT_COUNTS | 1u << FIT_TURNS | 1u << FIT_GAINS | 1u << FIT_VELOCITY |
    1u << FIT_TORQUE | 1u << FIT_SPEED | 1u << FIT_SWITCH | 1u << FIT_FEEDBACK | 1u << FIT_BRAKES;

/* Prints what else a real arm needs: time is not everything. */
static void print_misfits(const client_t *client, const device_hardware_t *h) {
    char joints[512];
    const uint32_t misfits = h->misfits & known_parts;
    const unsigned wired = (unsigned)__builtin_popcount(h->is.encoders);
    out_format("this board has pins for %u joints, the robot has %u; %s\n", wired,
               client->device.joints,
               misfits ? "a real arm would be refused, because:" : "the pins fit a real arm");
    for (unsigned part = 0; part < FITS; part++) {
        if (!(misfits >> part & 1))
            continue;
        board_fit_joints(client, h, part, joints, sizeof joints);
        out_format("    %s%s%s\n        cure: %s\n", joints, *joints ? ": " : "",
                   board_fit_cause(part), board_fit_cure(part));
    }
}

static int judge(const certificate_t *c) {
    const double part = tick_cycles(c, false) * c->rate_hz / c->clock_hz;
    const bool fits = part <= BUDGET;
    out_format("\nat the robot's rate of %.0f Hz, a tick takes at most %.1f %% of the core; %.0f "
               "%% are allowed: the time %s; the fastest rate is %.0f Hz\n",
               c->rate_hz, 100 * part, 100 * BUDGET, fits ? "fits" : "does NOT fit",
               BUDGET * c->clock_hz / tick_cycles(c, false));
    return fits ? EXIT_YES : EXIT_NO;
}

/* Returns the cycles of the mean tick with a real arm, without the direction check, for comparison
 * with the prediction. */
static double ordinary_cycles(const certificate_t *c) {
    const uint32_t steps = c->costs.mean[STAGES] - c->costs.mean[STAGE_SIM_ARM];
    return c->instructions ? steps * c->per_tick[0] : steps;
}

static int judge_json(const certificate_t *c, const device_hardware_t *h) {
    const double part = tick_cycles(c, false) * c->rate_hz / c->clock_hz;
    begin_json(c);
    json_integer("dynamics_steps", (long)c->costs.most[STAGE_DYNAMICS]);
    json_integer("reference_steps", (long)c->costs.most[STAGE_REFERENCE]);
    json_integer("guard_steps", (long)c->costs.most[STAGE_GUARD]);
    json_integer("direction_steps", (long)direction_steps(c));
    json_integer("tick_steps", (long)c->costs.most[STAGES]);
    json_integer("worst_steps", (long)stage_steps(c, true) + (long)direction_steps(c));
    json_number("ordinary_cycles", ordinary_cycles(c));
    json_number("tick_cycles", tick_cycles(c, false));
    json_number("rate_hz", c->rate_hz);
    json_number("part", part);
    json_bool("fits", part <= BUDGET);
    json_integer("joints_wired", (long)__builtin_popcount(h->is.encoders));
    json_bool("real_arm_fits", (h->misfits & known_parts) == 0);
    json_end();
    return part <= BUDGET ? EXIT_YES : EXIT_NO;
}

static int certify(const request_t *request, const robot_t *robot, client_t *client,
                   certificate_t *c) {
    device_status_t status;
    device_hardware_t hardware;
    c->board = client->device.board;
    c->real = client->device.real;
    c->per_instruction = budget_cycles_per_instruction(c->board, c->real);
    for (int simulated = 0; simulated < 2; simulated++) {
        double instructions, cycles;
        const bool known = budget_tick(c->board, c->real, simulated, &instructions, &cycles);
        c->per_tick[simulated] = known ? cycles / instructions : c->per_instruction;
    }
    c->instructions = client->device.flags & HELLO_INSTRUCTIONS;
    if (client_status(client, &status) != 0 || client_hardware(client, &hardware) != 0 ||
        measure(client, &c->costs) != 0)
        return board_error(client);
    c->busy_s = 1e-9 * hardware.is.busy_ns;
    if (c->costs.ticks < 2 * TICKS)
        return too_few(c);
    if (request_has(request, OPTION_JSON))
        return judge_json(c, &hardware);
    out_format("%s on %s (%s, %.0f MHz), %u ticks measured at %u Hz\n", robot->name, c->board,
               c->real, c->clock_hz / 1e6, (unsigned)c->costs.ticks, (unsigned)status.rate_hz);
    print_prediction(c);
    if (c->instructions)
        out_format("instructions were counted during a streamed motion and a jog; cycles per "
                   "instruction are estimates from stored benchmarks: %.3f in a stage, %.3f in a "
                   "tick with a real arm, %.3f in a tick with a simulated arm\n",
                   c->per_instruction, c->per_tick[0], c->per_tick[1]);
    print_stages(c);
    print_rates(c);
    const int fits = judge(c);
    print_misfits(client, &hardware);
    return fits;
}

static int unknown_board(const char *board) {
    const char *known[sizeof clocks / sizeof clocks[0] + 1] = {NULL};
    char list[200] = "choose one of: ", cure[300];
    size_t used = strlen(list);
    for (size_t i = 0; certify_board(i) && used < sizeof list; i++) {
        known[i] = certify_board(i);
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    messages_suggest(cure, sizeof cure, board, known, list);
    return diag_error(board, cure, "there is no such board");
}

/* Predicts the tick, and measures it on the board or in the emulator. */
static int with_robot(const request_t *request, robot_t *robot, const char *board) {
    const clock_row_t *row = clock_of(board);
    certificate_t c = {.board = board, .rate_hz = robot->rate_hz};
    messages_t messages = MESSAGES_INIT;
    if (!row)
        return unknown_board(board);
    c.real = row->real;
    c.clock_hz = row->clock_hz;
    robot_t *puma = calloc(1, sizeof *puma);
    const bool known = puma && robot_load("puma560", NULL, puma, &messages) == 0;
    messages_free(&messages);
    c.predicted[0] = c.predicted[1] = -1;
    if (known)
        predict(&c, &robot->model, &puma->model);
    arm_free(puma);
    if (!strncmp(request->value[OPTION_PORT], "qemu:", 5))
        robot->rate_hz = fmin(robot->rate_hz, MEASURED_HZ);
    client_t *client = board_open_with(request, robot, "certify");
    const int status = client ? certify(request, robot, client, &c) : EXIT_BAD;
    if (client)
        client_close(client);
    return status;
}

/* Removes "/lab" from BOARD/lab. */
static const char *emulated_board(const char *name, char *room, size_t size) {
    snprintf(room, size, "%.*s", (int)strcspn(name, "/"), name);
    return room;
}

int cmd_certify(const request_t *request) {
    char port[128], named[64];
    request_t here = *request;
    const char *board =
        request_has(request, OPTION_BOARD) ? request->value[OPTION_BOARD] : "netduinoplus2";
    if (request_has(request, OPTION_PORT) && !strncmp(request->value[OPTION_PORT], "qemu:", 5))
        board = emulated_board(request->value[OPTION_PORT] + 5, named, sizeof named);
    robot_t *robot = arm_load_rigid(&here);
    if (!robot)
        return EXIT_BAD;
    if (!request_has(request, OPTION_PORT)) {
        snprintf(port, sizeof port, "qemu:%s", board);
        here.value[OPTION_PORT] = port;
        here.given[OPTION_PORT] = true;
    }
    const int status = with_robot(&here, robot, board);
    arm_free(robot);
    return status;
}
