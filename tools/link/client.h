/*
 * The host's end of the link: sends requests and repeats them, receives samples between answers,
 * and reads the board's description of itself. Functions return 0, or -1 with client->error filled
 * in.
 */
#ifndef TOOLS_LINK_CLIENT_H
#define TOOLS_LINK_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"
#include "firmware/app/fit_table.h"
#include "firmware/control/io.h"
#include "firmware/control/motion.h"
#include "firmware/link/protocol.h"
#include "tools/link/port.h"

enum { CLIENT_VALUES_MAX = 1024, CLIENT_NAME = 128, CLIENT_LONG_MS = 30000 };

typedef struct {
    char name[CLIENT_NAME], unit[CLIENT_NAME], help[512];
    bool per_joint, idle_only;
    int8_t weaker; /* 1 or -1: a guard that gets weaker with larger or smaller values */
    float least, most, fallback;
} device_parameter_t;

typedef struct {
    /* unit[0]: revolute, unit[1]: prismatic */
    char name[CLIENT_NAME], unit[2][CLIENT_NAME], help[512];
    bool per_joint;
    uint8_t kind;                    /* KIND_... */
    int8_t exponent[DYN_MAX_JOINTS]; /* KIND_Q31 */
} device_field_t;

typedef struct {
    uint8_t problem, reals; /* reals: bits 0 to 2 are f32, f64 and q31 */
    char problem_name[32], name[32];
} device_method_t;

/* What the board reports about itself. */
typedef struct {
    uint8_t version, payload, joints_max, flags;
    uint32_t baud;
    uint32_t parameters, fields, methods;
    char board[64], real[8], build[48];
    uint32_t joints; /* number of joints of the running arm; 0: no arm */
    char robot[CLIENT_NAME], joint[DYN_MAX_JOINTS][CLIENT_NAME];
    uint8_t prismatic[DYN_MAX_JOINTS];
    device_parameter_t *parameter;
    device_field_t *field;
    device_method_t *method;
} device_t;

typedef struct {
    uint8_t state, fault, flags, joints, source;
    uint32_t tick, rate_hz, image_length, image_crc, sequence;
    int reason;
    uint16_t point_credits;
    uint8_t load_joint; /* whose torque tells of a load beside the model; 255: none */
    float load_torque, load_mass;
    uint32_t unhomed;  /* bit i: joint i must be homed before it can move */
    int32_t supply_mV; /* or SUPPLY_... (firmware/control/io.h) */
} device_status_t;

/* The latched fault; firmware/safety/faults.h has the names. */
typedef struct {
    uint8_t fault, joint, stop, enabled; /* joint is 255 if the fault has no joint */
    float value, limit;
    uint32_t limited; /* number of ticks with a torque or a voltage at its limit */
} device_fault_t;

/* What the hardware of a board is, and in which parts it does not fit the robot. */
typedef struct {
    uint32_t misfits;            /* bits FIT_... */
    uint32_t joints[FITS_JOINT]; /* joints that do not fit */
    hardware_t is;
} device_hardware_t;

/*
 * A whole sample: the raw words in the order of the chosen fields, and the same values in SI units.
 */
typedef struct {
    uint32_t tick;
    uint32_t values;
    uint32_t word[CLIENT_VALUES_MAX];
    double value[CLIENT_VALUES_MAX];
    uint16_t lost; /* number of samples that the board has dropped so far, modulo 2^16 */
} sample_in_t;

typedef void (*client_sample_t)(void *user, const sample_in_t *sample);

typedef struct {
    port_t *port;
    device_t device;
    port_error_t error;
    int reason;   /* reason of the last refusal: an app_error_t, image or store status; 0: none */
    int status;   /* status of the last answer: a link_status_t; -1: no answer */
    int place;    /* joint of the last refusal; -1: none */
    uint8_t next; /* sequence number of the next request */
    int tries;
    int timeout_ms; /* time-out of one try */
    int answer_ms;  /* how long an answer usually takes */
    /* The lease: its token (0: none), the name that others see, and when it was last renewed. */
    uint32_t token;
    char holder[16];
    int64_t renewed_ms;
    frame_reader_t reader;
    uint8_t rx[FRAME_READ_ROOM(FRAME_CONTENT_MAX)];
    uint8_t reply[FRAME_CONTENT_MAX];
    size_t reply_size;
    bool waiting;
    uint8_t wait_message, wait_sequence;
    bool closed; /* the line is closed: only client_reopen helps */
    /* The first bytes since the last HELLO, and the number of frames, to tell what answers there. */
    uint8_t heard[80];
    size_t heard_size, frames;
    uint64_t asked;    /* number of requests */
    uint64_t repeated; /* number of times that one was sent again */
    /* telemetry */
    uint8_t chosen[256];
    uint32_t choices, every, window, credit;
    /* The choice of fields that the board had before this client streamed anything. It is read once
     * and restored at the end. */
    bool found_known;
    uint8_t found[256];
    uint32_t founds, found_every;
    sample_in_t sample;
    uint32_t filled;
    uint64_t samples; /* number of complete samples */
    uint64_t torn;    /* number of sample frames that were lost on the line */
    uint8_t sample_sequence;
    bool sample_seen;
    uint32_t lost_total; /* samples that the board has dropped since the fields were chosen */
    uint16_t lost_last;
    client_sample_t on_sample;
    void *user;
} client_t;

/* Opens the port and connects to the board. An emulator may still be starting; a serial port that is
 * silent for 2 s is an error. On failure returns NULL and fills in *error. */
client_t *client_open(const char *port, const port_flash_t *flash, port_error_t *error);
/* Like client_open, but waits for no board for more than 2 s: the caller tries again. */
client_t *client_reopen(const char *port, port_error_t *error);
/* Like client_open, but over an open port. The client owns the port, also after a failure. */
client_t *client_over(port_t *port, port_error_t *error);
void client_close(client_t *client);
/* Says HELLO and takes what the board says about itself. Waits for at most 2 s, or a patient caller
 * for 20 s more. The error tells what does answer there. */
int client_greet(client_t *client, bool patient);

/* Sends a request, again if necessary, until its answer comes. client->reply is the payload of the
 * answer after the status. Returns 0 if the status is LINK_OK. */
int client_ask(client_t *client, link_message_t message, const void *payload, size_t size);
/* Like client_ask, for requests that may take the board a long time, such as erasing flash. */
int client_ask_long(client_t *client, link_message_t message, const void *payload, size_t size);
/* Returns how many bytes to send or read at once: `most`, or less over a line that has lost requests,
 * because a long frame seldom arrives whole there. */
uint32_t client_piece(const client_t *client, uint32_t most);

/* Lists to read from the board. The robot is read each time, the other lists only once. */
enum {
    DISCOVER_ROBOT = 0,
    DISCOVER_PARAMETERS = 1 << 0,
    DISCOVER_FIELDS = 1 << 1,
    DISCOVER_METHODS = 1 << 2,
    DISCOVER_ALL = 7
};
int client_discover_some(client_t *client, unsigned what);
int client_discover(client_t *client); /* reads all lists again */
int client_discover_robot(client_t *client);
int client_status(client_t *client, device_status_t *status);
int client_fault(client_t *client, device_fault_t *fault);
int client_hardware(client_t *client, device_hardware_t *hardware);
int client_counters(client_t *client, uint32_t counter[COUNTERS]);

/* Finds the number of the parameter and the joint for "kp", "kp[2]" or "kp[elbow]"; *joint is -1
 * for all joints. The error for a name that does not exist suggests the most similar one. */
int client_parameter(client_t *client, const char *name, uint32_t *parameter, int *joint);
/* Writes the unit of a parameter; it may depend on the type of the joint. */
void client_unit(const device_parameter_t *parameter, bool prismatic, char *out, size_t size);
int client_get(client_t *client, uint32_t parameter, uint32_t joint, float *value, bool *saved);
int client_set(client_t *client, uint32_t parameter, uint32_t joint, float value, float *now);

/* Checks whether the board has room for an arm of this many joints; client_send_image checks it
 * too. Returns 0, or -1 with the same error as if the board had refused. */
int client_takes(client_t *client, uint32_t joints);

typedef void (*client_progress_t)(void *user, uint32_t done, uint32_t all);
/* Sends an image to `target`: TARGET_APP, or TARGET_BATCH + real. *kept is true if the board has
 * already stored it. */
int client_send_image(client_t *client, uint8_t target, const uint8_t *image, uint32_t length,
                      bool *kept, client_progress_t progress, void *user);
/* Reads the running image (which = 0) or the stored image (1); the caller frees it. Returns NULL
 * with an error if reading fails, and NULL without an error if there is no image. */
uint8_t *client_read_image(client_t *client, uint8_t which, uint32_t *length);
int client_save(client_t *client, bool *persistent);

/*
 * Streams the named fields, or, without names, the fields that are chosen on the board. every:
 * ticks between samples; 0: for named fields as often as the line can carry, otherwise as chosen on
 * the board. window: number of samples that may be in transit; the client renews the credit itself.
 */
int client_stream(client_t *client, const char *const *name, uint32_t names, uint32_t every,
                  uint32_t window, client_sample_t on_sample, void *user);
/* Ends the samples and restores the choice of fields that the board had before this client
 * streamed. */
int client_stream_end(client_t *client);
/* Ends the samples and leaves the streamed fields as the board's choice, for SAVE and for later
 * clients. */
int client_stream_keep(client_t *client);
/* Reads the board's choice: the numbers of the fields, and the ticks between samples. *choices is 0
 * if nothing is chosen. */
int client_choice(client_t *client, uint8_t chosen[256], uint32_t *choices, uint32_t *every);
/* Returns the number of a field, or -1. The fields must be known. */
int client_field(client_t *client, const char *name);
/* Chooses these fields for the board, with the ticks between samples that the line can carry; none
 * if `choices` is 0. No samples are sent. */
int client_choose(client_t *client, const uint8_t *chosen, uint32_t choices);
/* Writes the title of a value of a sample, such as "q[elbow]", and returns its unit in *unit. */
void client_value_title(const client_t *client, uint32_t value, char *name, size_t size,
                        const char **unit);
/* Returns the index of the first value of a field in a sample, or -1 if the field is not chosen. */
int client_value_of(const client_t *client, const char *field);

/* Receives the bytes that have come, and waits at most timeout_ms for the first. Returns their
 * number, or -1 if the line is closed or the credit for samples cannot be renewed. */
int client_poll(client_t *client, int timeout_ms);

/* Takes the lease of the arm for this command; `name` is what others see. From then on requests and
 * client_poll renew it, and client_close ends it. */
int client_lead(client_t *client, const char *name);
/* Ends the lease, and with it the overrides. */
int client_follow(client_t *client);
/* Like client_set, until the lease ends. Takes the lease if this client does not have it. */
int client_override(client_t *client, uint32_t parameter, uint32_t joint, float value, float *now);
/* Reads the name of the command that has the lease; "" if nobody has it. */
int client_leader(client_t *client, char name[CLIENT_NAME]);
/* Reads how hot each motor is, in percent of the heat that raises the fault `thermal`; 255: the
 * joint has no torque limit, and so no thermal guard. */
int client_heat(client_t *client, uint8_t percent[DYN_MAX_JOINTS]);
/* Reads the k-th override. Returns 1 if there are no more. */
typedef struct {
    uint8_t parameter, joint;
    float beneath; /* the value that returns */
} device_override_t;
int client_overridden(client_t *client, uint32_t k, device_override_t *out);
/* Checks that the board controls the simulated arm. `what` completes "... is for the simulated arm
 * only". */
int client_simulated(client_t *client, const char *what);

int client_motion(client_t *client, const motion_t *motion);
int client_points(client_t *client, const float *point, uint32_t points, uint32_t *credits);
int client_stop(client_t *client, bool at_once);
int client_clear(client_t *client);
/*
 * Releases the simulated arm, the real one never: switches the outputs off at once and clears the
 * fault. Returns after a tick of the board has done so. After that the board accepts requests that
 * need an arm at rest, and a new motion cannot be confused with the stopped one.
 */
int client_off(client_t *client);
int client_place(client_t *client, const float *q);
int client_reset(client_t *client); /* resets the board and waits until it runs again */

/* client_row evaluates a row on the board, with the arm that was sent to TARGET_BATCH + real (0:
 * f32, 1: f64, 2: q31). method: index into device.method. client_wrench sets the wrench for the
 * rows. */
int client_wrench(client_t *client, const double wrench[6]);
int client_row(client_t *client, uint32_t method, const double *in, size_t inputs, double *out,
               size_t outputs, uint32_t *limited, uint32_t *cost);

/* Reads the record of the last crash and, if `clear` is true, clears it. The caller frees *bytes,
 * which is NULL if there was no crash. Returns 0, or -1 on an error. */
int client_crash(client_t *client, uint8_t **bytes, size_t *size, bool clear);

/* From now on every request and its answer are printed to standard error: --verbose. */
void client_verbose(void);

/* Texts that explain client->reason. */
const char *reason_cause(int reason);
const char *reason_cure(int reason);

#endif
