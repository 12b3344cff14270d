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
    PROTOCOL_SAMPLE_HEAD = 8,  /* head of a sample's payload: tick, lost, first value */
    PROTOCOL_ONCE_REPLY = 12,  /* largest reply of a ONCE request */
};

/* X(number, NAME, ONCE or AGAIN, "payload of the request", "payload of the answer after the
 * status", "help"). ONCE: a repetition with the same sequence number gets the same answer, but is
 * not executed again. */
#define ASK_TABLE(X)                                                                               \
    X(1, HELLO, AGAIN, "u8 version",                                                               \
      "u8 version, u8 payload, u8 joints_max, u8 flags, u32 baud, u8 parameters, u8 fields, "      \
      "u8 methods, text board, text real, text build",                                             \
      "who is there; forgets the repetitions of the requests before")                              \
    X(2, STATUS, AGAIN, "",                                                                        \
      "u8 state, u8 fault, u8 flags, u8 joints, u32 tick, u32 rate_hz, u32 image_length, "         \
      "u32 image_crc, u8 source, i16 reason, u16 point_credits, u32 sequence",                     \
      "what the board does, and which set it runs")                                                \
    X(3, COUNTERS, AGAIN, "", "u32 for each counter, below",                                       \
      "ticks, costs, and what the line lost")                                                      \
    X(4, DESCRIBE, AGAIN, "u8 topic, u8 index, u16 offset", "u16 total, bytes from offset on",     \
      "a record about a topic, in pieces; the topics are below")                                   \
    X(5, GET, AGAIN, "u8 parameter, u8 joint", "f32 value, u8 saved", "value of a parameter")      \
    X(6, SET, AGAIN, "u8 parameter, u8 joint, f32 value", "f32 value; refused: i16 reason",        \
      "changes it until the next reset, or until SAVE makes it stay; refused with BUDGET where "   \
      "the samples that are chosen would not fit the line any more (rate_hz, sample_every)")       \
    X(7, IMAGE_BEGIN, AGAIN, "u8 target, u32 length, u32 crc", "refused: i16 reason",              \
      "a robot image will come; the CRC-32 is of all its bytes; outputs must be off")              \
    X(8, IMAGE_DATA, AGAIN, "u32 offset, bytes", "refused: i16 reason",                            \
      "its bytes in their order; a piece that came already is taken for a repetition")             \
    X(9, IMAGE_END, ONCE, "u8 target", "i16 reason, u8 joint, u8 kept",                            \
      "checks it and takes it over; whatever ran before goes on if it is refused")                 \
    X(10, IMAGE_READ, AGAIN, "u8 which, u32 offset, u8 count", "bytes",                            \
      "the image that runs (0) or that is stored (1)")                                             \
    X(11, SAVE, ONCE, "", "u8 persistent, u32 sequence; refused: i16 reason",                      \
      "stores what runs: image, parameters, choice of telemetry; read back before it is answered") \
    X(12, TELEMETRY, ONCE, "u32 every, u8 fields...", "u16 bytes, u32 needed, u32 available",      \
      "choice and decimation in ticks; no field: off; refused where the line is too slow")         \
    X(13, CREDIT, ONCE, "u32 samples", "", "so many more samples may be sent")                     \
    X(14, MOTION, ONCE, "u8 kind, f32 duration_s, f32 value[joints]", "i16 reason, u8 joint",      \
      "starts a motion; a jog is kept up by new requests, see Motions")                            \
    X(15, POINTS, ONCE, "f32 point[joints]...; none: that was the last",                           \
      "i16 reason, u16 credits",                                                                   \
      "points of a streamed motion: control points of a uniform cubic B-spline")                   \
    X(16, STOP, AGAIN, "u8 how", "i16 reason",                                                     \
      "0 brakes, then off with brakes 1, "                                                         \
      "else holds; 1 off at once")                                                                 \
    X(17, CLEAR, AGAIN, "", "i16 reason",                                                          \
      "after a fault: idle, or running where the loop still holds or lowers the arm; refused "     \
      "while it brakes")                                                                           \
    X(18, PLACE, AGAIN, "f32 q[joints]", "i16 reason", "puts the simulated arm somewhere")         \
    X(19, ROW_PUT, AGAIN, "u16 first, f64...", "", "numbers of a row to compute")                  \
    X(20, ROW_RUN, AGAIN, "u8 method", "i16 reason, u32 limited, u32 cost",                        \
      "computes it with the robot image that came last for rows")                                  \
    X(21, ROW_GET, AGAIN, "u16 first, u8 count", "f64...", "numbers of the result")                \
    X(22, CRASH, AGAIN, "u8 clear, u16 offset", "u16 total, bytes from offset on",                 \
      "the record of the crash before this start, see Crash records; total 0: none")               \
    X(23, STAGES, AGAIN, "u8 stage, u8 clear", "u32 ticks, u32 least, u32 mean, u32 most, text",   \
      "what a stage of a tick costs; the stage behind the last: the whole tick")                   \
    X(24, RESET, AGAIN, "u32 0x4c504152", "", "starts the board again")                            \
    X(25, WRENCH, AGAIN, "f64 wrench[6]", "", "on the end effector, for rows; zeros: none")        \
    X(26, FAULT, AGAIN, "",                                                                        \
      "u8 fault, u8 joint (255: none), u8 stop, u8 enabled, f32 value, f32 limit, u32 limited",    \
      "the first fault since the last CLEAR, what goes on after it, and for how many ticks a "     \
      "torque or a voltage was at its limit")

typedef enum {
#define X(number, name, once, request, reply, help) ASK_##name = number,
    ASK_TABLE(X)
#undef X
} link_message_t;

/* X(number, NAME, "cause", "cure") */
#define LINK_STATUS_TABLE(X)                                                                       \
    X(0, OK, "done", "")                                                                           \
    X(1, MESSAGE, "the board does not know this message", "use tool and firmware of one version")  \
    X(2, SIZE, "the request has a wrong size", "use tool and firmware of one version")             \
    X(3, VERSION, "the board speaks another version of the protocol",                              \
      "use tool and firmware of one version")                                                      \
    X(4, INDEX, "there is no such thing on this board", "ask for what it has")                     \
    X(5, STATE, "the outputs are on", "stop the motion first")                                     \
    X(6, APP, "refused", "see the reason")                                                         \
    X(7, ORDER, "the pieces did not come in their order", "begin the transfer again")              \
    X(8, CRC, "the checksum of the whole does not match", "transfer it again")                     \
    X(9, ROOM, "this board has no memory for that", "use a board with more memory")                \
    X(10, STORE, "the store did not take it", "see the reason")                                    \
    X(11, BUDGET, "the line is too slow for these samples", "choose fewer fields or send fewer")   \
    X(12, ABSENT, "this build does not have it", "use another board or build")                     \
    X(13, NOTHING, "there is nothing to save", "apply a robot first")

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
};
enum { SOURCE_NONE, SOURCE_STORE, SOURCE_LINK };

/* Targets of IMAGE_BEGIN and IMAGE_END. */
enum { TARGET_APP, TARGET_BATCH }; /* TARGET_BATCH + 0 is f32, + 1 f64, + 2 q31 */
#define RESET_WORD 0x4c504152u

/* X(NAME, "name", "help") */
#define COUNTER_TABLE(X)                                                                           \
    X(TICKS, "ticks", "of the control loop since the start")                                       \
    X(OVERRUNS, "overruns", "ticks that were not finished when the next was due")                  \
    X(BEST, "best", "cheapest tick")                                                               \
    X(WORST, "worst", "dearest tick")                                                              \
    X(FRAMES, "frames", "good frames received")                                                    \
    X(DAMAGED, "damaged", "frames with a wrong checksum")                                          \
    X(OVERLONG, "overlong", "frames longer than the board takes")                                  \
    X(RECEIVED, "received", "bytes")                                                               \
    X(RX_LOST, "rx_lost", "bytes lost because receiving was too slow")                             \
    X(TX_LOST, "tx_lost", "bytes of text that found no room")                                      \
    X(SAMPLES, "samples", "sent since telemetry was chosen")                                       \
    X(DROPPED, "dropped", "samples lost since then: in the ring, for lack of credit or of room")   \
    X(UNPROVED, "unproved", "ticks in which fixed point was asked beyond its proof, and saturated")

typedef enum {
#define X(name, text, help) COUNTER_##name,
    COUNTER_TABLE(X)
#undef X
        COUNTERS
} counter_t;

/* DESCRIBE: X(number, NAME, "what the record holds") */
#define TOPIC_TABLE(X)                                                                             \
    X(0, ROBOT, "u8 joints, u8 type[joints] (1 prismatic), text name, text joint[joints]")         \
    X(1, PARAMETER,                                                                                \
      "u8 per_joint, u8 idle_only, f32 least, f32 most, f32 fallback, text name, text unit "       \
      "(revolute|prismatic where they differ), text help")                                         \
    X(2, FIELD,                                                                                    \
      "u8 per_joint, u8 kind (0 u32, 1 f32, 2 q31), u8 count, i8 exponent[count] (q31 only: "      \
      "value = raw 2^(exponent - 28)), text name, text unit of a revolute, of a prismatic joint, " \
      "text help")                                                                                 \
    X(3, METHOD, "u8 problem, u8 reals (bits f32, f64, q31), text problem, text method")           \
    X(4, CHOICE, "u32 every, u8 count, u8 field[count]: the telemetry that is chosen")

typedef enum {
#define X(number, name, record) TOPIC_##name = number,
    TOPIC_TABLE(X)
#undef X
} topic_t;

enum { KIND_U32, KIND_F32, KIND_Q31 };

/* CRASH: X(name, words). Words of 4 bytes; build_id is bytes in their order. */
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
