/* Implements test/support/seam_board.h. */
#include "test/support/seam_board.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/motor.h"
#include "tools/image/robot_image.h"

int firmware_main(void);

static const double start_at[SEAM_JOINTS] = {0.3, 1.0, -0.6, 0.2, 0.4, -0.3};
robot_t *robot;
client_t *client;
static messages_t messages = MESSAGES_INIT;
static uint64_t random_state = 7;

/* As reset_handler does (hal/cortexm/start.c). */
static void program(void) {
    motor_safe();
    firmware_main();
}

/* The board runs while the client waits for it. */
static int line_read(void *context, uint8_t *bytes, size_t most, int timeout_ms) {
    enum { SLICE_US = 50 };
    (void)context;
    for (uint64_t end = chip_now() + CHIP_MS(timeout_ms); chip_now() < end;) {
        const size_t n = chip_line_receive(bytes, most);
        if (n > 0)
            return (int)n;
        if (!chip_run(CHIP_US(SLICE_US)))
            return -1;
    }
    return 0;
}

static int line_write(void *context, const uint8_t *bytes, size_t size) {
    (void)context;
    chip_line_send(bytes, size);
    return 0;
}

/* The PUMA 560 with an encoder of the board at every joint. Its gains suit the resolution of that
 * encoder: a count is 0.4 mrad. */
static void make_robot(void) {
    robot = help_load("puma560", NULL, &messages);
    for (unsigned i = 0; i < SEAM_JOINTS; i++) {
        robot->joint[i].encoder = (robot_encoder_t){.counts = SEAM_COUNTS, .sign = 1, .ratio = 1};
        robot->joint[i].kp /= 2;
        robot->joint[i].kd /= 2;
        /* an encoder at the joint knows one turn */
        double *limits = robot->joint[i].source.drive.limits.position;
        limits[0] = fmax(limits[0], -3);
        limits[1] = fmin(limits[1], 3);
    }
    TEST_ASSERT_EQUAL(0, robot_settle(robot, 0, &messages));
}

void send_robot(void) {
    size_t size;
    bool kept;
    uint8_t *image = robot_image_make(robot, &size, &messages);
    TEST_ASSERT_NOT_NULL(image);
    TEST_ASSERT_EQUAL_MESSAGE(
        0, client_send_image(client, TARGET_APP, image, (uint32_t)size, &kept, NULL, NULL),
        client->error.what);
    free(image);
}

int set(const char *name, double value) {
    uint32_t parameter;
    int joint;
    float now;
    TEST_ASSERT_EQUAL_MESSAGE(0, client_parameter(client, name, &parameter, &joint),
                              client->error.what);
    return client_set(client, parameter, joint < 0 ? 0 : (uint32_t)joint, (float)value, &now);
}

void must_set(const char *name, double value) {
    TEST_ASSERT_EQUAL_MESSAGE(0, set(name, value), client->error.what);
}

device_status_t status_now(void) {
    device_status_t status;
    TEST_ASSERT_EQUAL_MESSAGE(0, client_status(client, &status), client->error.what);
    return status;
}

void expect_state(uint32_t state, uint32_t fault) {
    const device_status_t status = status_now();
    TEST_ASSERT_EQUAL_STRING(app_fault_name(fault), app_fault_name(status.fault));
    TEST_ASSERT_EQUAL_STRING(app_state_name(state), app_state_name(status.state));
}

void seam_power_up(void) {
    make_robot();
    chip_power_up(program);
    chip_world.supply_mV = 40000;
    chip_estop(false);
    rig_start(robot, start_at);
    rig.braked = true;
}

void seam_connect(void) {
    const port_calls_t calls = {line_read, line_write, NULL};
    port_error_t error;
    client = client_over(port_from(&calls), &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(client, error.what);
    send_robot();
    TEST_ASSERT_EQUAL(0, client_discover(client));
}

void press_once(void) {
    chip_estop(true);
    chip_run(CHIP_MS(5));
    chip_estop(false);
    chip_run(CHIP_MS(5));
}

/* Power-up, the robot, and the real arm chosen; the outputs are off. */
static void start_board(void) {
    if (client != NULL)
        return;
    seam_power_up();
    seam_connect();
    must_set("brakes", 1);
    press_once();
    must_set("arm", ARM_REAL);
    chip_run(CHIP_MS(10));
    if (status_now().fault == APP_FAULT_ESTOP)
        TEST_ASSERT_EQUAL_MESSAGE(0, client_clear(client), client->error.what);
    chip_run(CHIP_MS(10));
    expect_state(APP_STATE_IDLE, APP_FAULT_NONE);
}

static void copy(void (*scenario)(void)) {
    int ends[2];
    fflush(stdout);
    TEST_ASSERT_EQUAL(0, pipe(ends));
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (TEST_PROTECT())
            scenario();
        fflush(stdout);
        _exit(Unity.CurrentTestFailed != 0);
    }
    close(ends[1]);
    char text[4096];
    size_t used = 0;
    for (ssize_t n; (n = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]);
    int result;
    waitpid(child, &result, 0);
    /* the copy prints notes, then at most one line of Unity: file, line, case, FAIL and the reason */
    char *fail = strstr(text, ":FAIL");
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strncmp(line, "NOTE ", 5) == 0)
            harness_note(line + 5);
    if (result != 0) {
        const char *where = fail;
        while (where != NULL && where > text && where[-1] != '\n' && where[-1] != '\0')
            where--;
        TEST_FAIL_MESSAGE(where != NULL ? where : "the copy of the process ended");
    }
}

void in_copy(void (*scenario)(void)) {
    start_board();
    copy(scenario);
}

/* The variables of the program must be as after a reset. */
void in_new_copy(void (*scenario)(void)) {
    TEST_ASSERT_NULL_MESSAGE(client, "the board has been started");
    copy(scenario);
}

double random_part(void) { /* 0 to 1 */
    return 0.5 + 0.5 * help_random(&random_state);
}

void live(unsigned ms) {
    enum { RENEW_MS = 100 };
    for (unsigned part = 0; ms > 0; ms -= part) {
        device_status_t status;
        part = ms < RENEW_MS ? ms : RENEW_MS;
        chip_run(CHIP_MS(part));
        client->renewed_ms = 0; /* the client counts real time, in which nothing passes here */
        TEST_ASSERT_EQUAL_MESSAGE(0, client_status(client, &status), client->error.what);
    }
}

int hold(void) {
    const motion_t motion = {.kind = MOTION_HOLD};
    return client_motion(client, &motion);
}

void must_hold(void) {
    enum { MOST_MS = 200 }; /* the watchdog takes up to 40 ms, the brakes 60 ms */
    const bool brakes = tick_app()->parameter[PARAMETER_brakes] > 0;
    TEST_ASSERT_EQUAL_MESSAGE(0, hold(), client->error.what);
    for (unsigned ms = 0; ms < MOST_MS && !(chip_outputs_on() && (chip_brake_open() || !brakes));
         ms++)
        chip_run(CHIP_MS(1));
    chip_run(CHIP_MS(1));
    expect_state(APP_STATE_RUNNING, APP_FAULT_NONE);
    TEST_ASSERT_TRUE(chip_outputs_on());
}

void fail_if_wrong(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, chip_report.wrong, chip_report.what);
}

void expect_stopped(uint32_t fault, uint64_t within) {
    const uint64_t end = chip_now() + within;
    while (chip_now() < end && tick_app()->safety.state != APP_STATE_FAULT)
        chip_run(CHIP_MS(1));
    expect_state(APP_STATE_FAULT, fault);
}

void random_from(uint64_t seed) {
    random_state = 7 + seed;
    (void)help_random(&random_state);
}
