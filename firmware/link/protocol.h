/*
 * The protocol of the link, shared by both sides; firmware/link/PROTOCOL.md describes it.
 *
 * Content of a frame (firmware/link/frame.h): message, sequence number, payload. The board answers
 * every request of the host with the same sequence number and the message + PROTOCOL_REPLY. The
 * first byte of an answer's payload is a link_status_t. Samples come between answers without a
 * request. Numbers are little-endian, without gaps; texts are UTF-8 with a final zero.
 */
#ifndef FIRMWARE_LINK_PROTOCOL_H
#define FIRMWARE_LINK_PROTOCOL_H

#include "firmware/link/frame.h"

enum {
    PROTOCOL_VERSION = 1,
    PROTOCOL_REPLY = 0x80,
    PROTOCOL_SAMPLE = 0x7f, /* message of a sample; its sequence number counts the frames of
                             * samples */
    PROTOCOL_HEAD = 2,      /* message and sequence number */
    PROTOCOL_PAYLOAD_MAX = FRAME_CONTENT_MAX - PROTOCOL_HEAD,
    PROTOCOL_PAYLOAD_MIN = 64, /* every board supports payloads of at least this size */
    PROTOCOL_SAMPLE_HEAD = 8,  /* bytes of tick, count of lost samples, index of first value */
    PROTOCOL_ONCE_REPLY = 12,  /* largest reply to a ONCE request, bytes after the status */
};

/* X(number, NAME, ONCE or AGAIN, "payload of the request", "payload of the answer after the
 * status", "help"). ONCE: a repetition with the same sequence number gets the same answer, but is
 * not executed again, until any other request comes. */
#define ASK_TABLE(X)                                                                               \
    X(1, HELLO, AGAIN, "u8 version",                                                               \
      "u8 version, u8 payload, u8 joints_max, u8 flags, u32 baud, u8 parameters, u8 fields, "      \
      "u8 methods, text board, text real, text build",                                             \
      "identifies the board, and makes it forget all earlier requests and their answers")          \
    X(2, STATUS, AGAIN, "",                                                                        \
      "u8 state, u8 fault, u8 flags, u8 joints, u32 tick, u32 rate_hz, u32 image_length, "         \
      "u32 image_crc, u8 source, i16 reason, u16 point_credits, u32 sequence, "                    \
      "u8 load_joint, f32 load_torque, f32 load_mass, u32 unhomed, i32 supply_mV",                 \
      "reads the state of the board, and which robot image it runs")                               \
    X(3, COUNTERS, AGAIN, "", "one u32 per counter (listed below)",                                \
      "reads the counters: ticks, their costs, losses on the line")                                \
    X(4, DESCRIBE, AGAIN, "u8 topic, u8 index, u16 offset, u8 most (may be missing)",              \
      "u16 total, bytes from offset on", "reads a record in pieces; the topics are listed below")  \
    X(5, GET, AGAIN, "u8 parameter, u8 joint", "f32 value, u8 saved", "reads a parameter")         \
    X(6, SET, AGAIN, "u8 parameter, u8 joint, f32 value", "f32 value; i16 reason if refused",      \
      "changes a parameter until the next reset; SAVE keeps the change. rate_hz and sample_every " \
      "are refused with BUDGET if the line would be too slow for the chosen samples")              \
    X(7, IMAGE_BEGIN, AGAIN, "u8 target, u32 length, u32 crc", "i16 reason if refused",            \
      "announces a robot image, with the CRC-32 of all its bytes; the outputs must be off")        \
    X(8, IMAGE_DATA, AGAIN, "u32 offset, bytes", "i16 reason if refused",                          \
      "sends the bytes of the image in order; the board ignores a piece that it already has")      \
    X(9, IMAGE_END, ONCE, "u8 target", "i16 reason, u8 joint, u8 kept",                            \
      "ends the transfer; the board checks the image and runs it, or refuses it and keeps the "    \
      "previous one")                                                                              \
    X(10, IMAGE_READ, AGAIN, "u8 which, u32 offset, u8 count", "bytes",                            \
      "reads the image that runs (which = 0) or the stored one (1)")                               \
    X(11, SAVE, ONCE, "", "u8 persistent, u32 sequence; i16 reason if refused",                    \
      "stores image, parameters and chosen telemetry, reads them back, then answers")              \
    X(12, TELEMETRY, ONCE, "u32 every, u8 fields...", "u16 bytes, u32 needed, u32 available",      \
      "chooses the fields of a sample, and the number of ticks from one sample to the next; "      \
      "without fields, telemetry is off; refused if the line is too slow")                         \
    X(13, CREDIT, ONCE, "u32 samples", "", "allows the board to send this many more samples")      \
    X(14, MOTION, ONCE, "u32 token, u8 kind, f32 duration_s, f32 value[joints]",                   \
      "i16 reason, u8 joint",                                                                      \
      "starts a motion; a jog goes on only while new requests arrive, see Motions and Lease")      \
    X(15, POINTS, ONCE, "u32 token, f32 point[joints]...; without a point it ends the points",     \
      "i16 reason, u16 credits",                                                                   \
      "sends control points of a streamed motion, a uniform cubic B-spline")                       \
    X(16, STOP, AGAIN, "u8 how, u32 token if how = 1", "i16 reason",                               \
      "how = 0 brakes the arm, then holds it or, with `brakes` 1, switches the outputs off; how "  \
      "= 1 releases the arm: the outputs go off at once, and an arm without brakes falls")         \
    X(17, CLEAR, AGAIN, "", "i16 reason",                                                          \
      "clears the fault; no output changes: the state becomes running if the loop holds or "       \
      "lowers the arm, damping if the arm is damped, else idle; refused while the arm brakes, "    \
      "and while the hardware keeps the outputs of the real arm off. Without a fault it "          \
      "acknowledges what the board could not restore at its start")                                \
    X(18, PLACE, AGAIN, "u32 token, f32 q[joints]", "i16 reason",                                  \
      "puts the simulated arm at the position q")                                                  \
    X(19, ROW_PUT, AGAIN, "u16 first, f64...", "", "sends input numbers of a row, see Rows")       \
    X(20, ROW_RUN, ONCE, "u8 method", "i16 reason, u32 limited, u32 cost",                         \
      "computes the row with the last robot image that was sent for rows; the result replaces "    \
      "the input")                                                                                 \
    X(21, ROW_GET, AGAIN, "u16 first, u8 count", "f64...", "reads numbers of the result")          \
    X(22, CRASH, AGAIN, "u8 clear, u16 offset", "u16 total, bytes from offset on",                 \
      "reads the record of the crash before this start, see Crash records; total is 0 if there "   \
      "is none")                                                                                   \
    X(23, STAGES, AGAIN, "u8 stage, u8 clear", "u32 ticks, u32 least, u32 mean, u32 most, text",   \
      "reads the cost of a stage of the tick, or of the whole tick if `stage` is one above the "   \
      "last stage")                                                                                \
    X(24, RESET, AGAIN, "u32 0x4c504152", "", "restarts the board")                                \
    X(25, WRENCH, AGAIN, "f64 wrench[6]", "",                                                      \
      "sets the wrench on the end effector for rows; zeros remove it")                             \
    X(26, FAULT, AGAIN, "",                                                                        \
      "u8 fault, u8 joint (255 if none), u8 stop, u8 enabled, f32 value, f32 limit, u32 limited",  \
      "reads the first fault since the last CLEAR, the stop that follows it, and the number of "   \
      "ticks with a torque or voltage at its limit")                                               \
    X(27, HARDWARE, AGAIN, "u8 index",                                                             \
      "u32 misfits, u32 joints (that do not fit in part `index`), u32 motors, u32 encoders, "      \
      "u32 absolute, u32 switches, u32 counts (of encoder `index`), u16 brake_open_ms, "           \
      "u16 brake_close_ms, u16 flags, u8 active, u8 latched, u16 busy_us",                         \
      "reads what the hardware is, and in which parts robot and hardware do not fit (see "         \
      "Hardware)")                                                                                 \
    X(28, LEASE, AGAIN, "u32 token, u16 ms, text name", "i16 reason",                              \
      "takes the lease or renews it for so many ms of the board's time; 0 ends it; see Lease")     \
    X(29, OVERRIDE, AGAIN, "u32 token, u8 parameter, u8 joint, f32 value",                         \
      "f32 value; i16 reason if refused", "sets a parameter until the lease ends, see Lease")

typedef enum {
#define X(number, name, once, request, reply, help) ASK_##name = number,
    ASK_TABLE(X)
#undef X
} link_message_t;

/* X(number, NAME, "cause", "cure") */
#define LINK_STATUS_TABLE(X)                                                                       \
    X(0, OK, "done", "")                                                                           \
    X(1, MESSAGE, "the board does not know this message",                                          \
      "use `appell` and firmware of the same version")                                             \
    X(2, SIZE, "the request has a wrong size", "use `appell` and firmware of the same version")    \
    X(3, VERSION, "the board uses another version of the protocol",                                \
      "use `appell` and firmware of the same version")                                             \
    X(4, INDEX, "there is no such parameter, joint, topic, stage, method, field or range",         \
      "DESCRIBE lists what the board has")                                                         \
    X(5, STATE, "the outputs are on", "switch them off first")                                     \
    X(6, APP, "refused", "see the reason")                                                         \
    X(7, ORDER, "the pieces arrived out of order", "repeat the transfer from the beginning")       \
    X(8, CRC, "the checksum of the transferred image does not match", "repeat the transfer")       \
    X(9, ROOM, "the image is larger than the memory of this board",                                \
      "use a board with more memory")                                                              \
    X(10, STORE, "the board could not store the data", "see the reason")                           \
    X(11, BUDGET, "the line is too slow for these samples",                                        \
      "choose fewer fields, or samples at larger intervals")                                       \
    X(12, ABSENT, "this build of the firmware does not have this function",                        \
      "use another board, or another build (LAB=1)")                                               \
    X(13, NOTHING, "there is nothing to save", "load a robot first: `appell flash ROBOT`")         \
    X(14, LEASED, "a command has the lease of the arm", "end that command first")                  \
    X(15, TAKEN, "another program that shares this port receives samples of other fields",         \
      "end that program, or choose the same fields")                                               \
    X(16, STOPPED,                                                                                 \
      "the motion was not started: another program has stopped the arm, or the board was reset",   \
      "look at the arm, then move it again")

typedef enum {
#define X(number, name, cause, cure) LINK_##name = number,
    LINK_STATUS_TABLE(X)
#undef X
} link_status_t;

/* Flags in the answer to HELLO. */
enum {
    HELLO_EMULATED = 1 << 0,
    HELLO_PERSISTENT = 1 << 1,   /* saved data survive a loss of power */
    HELLO_INSTRUCTIONS = 1 << 2, /* costs are in executed instructions, otherwise in core cycles */
    HELLO_IN_PLACE = 1 << 3,     /* an image is used in place in the store: applying it saves it */
    HELLO_LAB = 1 << 5,          /* laboratory build: all methods, injected defects */
    HELLO_STORE = 1 << 4,        /* SAVE works, at least until the next loss of power */
};

/* Flags in the answer to STATUS. */
enum {
    STATUS_UNSAVED_IMAGE = 1 << 0,
    STATUS_UNSAVED_PARAMETERS = 1 << 1,
    STATUS_TELEMETRY = 1 << 2,
    STATUS_CRASHED = 1 << 3, /* CRASH returns a record */
    STATUS_MOVING = 1 << 4,
    STATUS_WEAKER = 1 << 5,     /* a guard is weaker than its default */
    STATUS_OVERRIDDEN = 1 << 6, /* a command overrides a parameter */
    STATUS_UNRESTORED = 1 << 7, /* a stored value was refused at the start; until CLEAR */
};
enum { SOURCE_NONE, SOURCE_STORE, SOURCE_LINK };

/* Targets of IMAGE_BEGIN and IMAGE_END. */
enum { TARGET_APP, TARGET_BATCH }; /* TARGET_BATCH + 0 is f32, + 1 f64, + 2 q31 */
#define RESET_WORD 0x4c504152u

/* X(NAME, "name", "help") */
#define COUNTER_TABLE(X)                                                                           \
    X(TICKS, "ticks", "ticks of the control loop since the start")                                 \
    X(OVERRUNS, "overruns", "ticks that were not finished when the next one was due")              \
    X(BEST, "best", "cost of the cheapest tick")                                                   \
    X(WORST, "worst", "cost of the most expensive tick")                                           \
    X(FRAMES, "frames", "good frames received")                                                    \
    X(DAMAGED, "damaged", "frames with a wrong checksum")                                          \
    X(OVERLONG, "overlong", "frames that were too long for the board")                             \
    X(RECEIVED, "received", "bytes received")                                                      \
    X(RX_LOST, "rx_lost", "bytes lost because receiving was too slow")                             \
    X(TX_LOST, "tx_lost", "bytes of text lost because the send buffer was full")                   \
    X(SAMPLES, "samples", "samples sent since the last TELEMETRY request")                         \
    X(DROPPED, "dropped",                                                                          \
      "samples lost since the last TELEMETRY request: the ring or the send buffer was full, or "   \
      "the credit was used up")                                                                    \
    X(UNPROVED, "unproved", "ticks in which a value left its proved range in q31 and was clamped") \
    X(LOST, "lost", "ticks that did not happen")

typedef enum {
#define X(name, text, help) COUNTER_##name,
    COUNTER_TABLE(X)
#undef X
        COUNTERS
} counter_t;

/* DESCRIBE: X(number, NAME, "what the record holds") */
#define TOPIC_TABLE(X)                                                                             \
    X(0, ROBOT,                                                                                    \
      "u8 joints, u8 type[joints] (0 revolute, 1 prismatic), text name, text joint[joints]")       \
    X(1, PARAMETER,                                                                                \
      "u8 per_joint, u8 when (bit 0: changes only while the outputs are off; bit 1: a guard that " \
      "gets weaker with larger values, bit 2: with smaller ones), f32 least, f32 most, f32 "       \
      "fallback, text name, text unit "                                                            \
      "(revolute|prismatic where they differ), text help (empty on a small board)")                \
    X(2, FIELD,                                                                                    \
      "u8 per_joint, u8 kind (0 u32, 1 f32, 2 q31), u8 count, i8 exponent[count] (q31 only: "      \
      "value = raw * 2^(exponent - 28)), text name, text unit (revolute), text unit (prismatic), " \
      "text help")                                                                                 \
    X(3, METHOD, "u8 problem, u8 reals (bits f32, f64, q31), text problem, text method")           \
    X(4, CHOICE, "u32 every, u8 count, u8 field[count]: the chosen telemetry")                     \
    X(5, LEASE, "u32 ticks until the lease lapses (0: nobody has it), text name of its holder")    \
    X(6, OVERRIDE, "u8 parameter, u8 joint, f32 value that returns when the override ends")        \
    X(7, HEAT,                                                                                     \
      "u8 heat[joints]: percent of the heat at which the fault `thermal` comes; 255 if the joint " \
      "has no torque limit and so no guard")

typedef enum {
#define X(number, name, record) TOPIC_##name = number,
    TOPIC_TABLE(X)
#undef X
} topic_t;

enum { KIND_U32, KIND_F32, KIND_Q31 };

/* CRASH: X(name, words). Words of 4 bytes; build_id is an array of 20 bytes. */
#define CRASH_TABLE(X)                                                                             \
    X(cause, 1) /* CRASH_CAUSES */                                                                 \
    X(r, 13)    /* r0 to r12 */                                                                    \
    X(sp, 1)                                                                                       \
    X(lr, 1)                                                                                       \
    X(pc, 1)                                                                                       \
    X(xpsr, 1)                                                                                     \
    X(exc_return, 1)                                                                               \
    X(exception, 1) /* 3 hard fault, 4 memory, 5 bus, 6 usage, 16 + n interrupt n */               \
    X(cfsr, 1)                                                                                     \
    X(hfsr, 1)                                                                                     \
    X(mmfar, 1)                                                                                    \
    X(bfar, 1)                                                                                     \
    X(frame_valid, 1) /* 0: r0 to r3, r12, lr, pc and xpsr did not reach memory */                 \
    X(stack_words, 1) /* words of the stack that were readable */                                  \
    X(stack, 16)      /* from sp on */                                                             \
    X(build_id, 5)    /* of the firmware that crashed */                                           \
    X(count, 1)       /* crashes since power-up */

typedef struct {
#define X(name, words) uint32_t name[words];
    CRASH_TABLE(X)
#undef X
} crash_t;

/* X(number, NAME, "name") */
#define CRASH_CAUSES(X)                                                                            \
    X(0, NONE, "none")                                                                             \
    X(1, STACK_OVERFLOW, "stack overflow")                                                         \
    X(2, BAD_ADDRESS, "bad address")                                                               \
    X(3, DIVIDE_BY_ZERO, "division by zero")                                                       \
    X(4, UNDEFINED_INSTRUCTION, "undefined instruction")                                           \
    X(5, UNALIGNED, "unaligned access")                                                            \
    X(6, UNEXPECTED_INTERRUPT, "interrupt without a handler")                                      \
    X(7, ASSERT, "assertion")                                                                      \
    X(8, OTHER, "fault of another kind")

#endif
