/*
 * Messages of the readers of robot descriptions: errors, warnings and notes, each with the place,
 * the link or joint, the reason and the cure. They form a list on the heap, which the caller
 * prints.
 */
#ifndef TOOLS_CLI_MESSAGES_H
#define TOOLS_CLI_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

typedef enum { MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_NOTE } message_severity_t;

/* X(number, NAME, "name for scripts (--json)", "meaning"). Numbers and names are stable; a number
 * is never reused. */
#define MESSAGE_TABLE(X)                                                                           \
    X(1, FILE, "file", "a file cannot be found or read")                                           \
    X(2, FORMAT, "format", "the content is neither robot file, URDF, parts database nor image")    \
    X(3, LIMIT, "limit", "something larger, deeper or longer than is accepted")                    \
    X(4, MEMORY, "memory", "the memory of this machine is exhausted")                              \
    X(10, SYNTAX, "syntax", "not well-formed YAML or XML")                                         \
    X(11, UNKNOWN_KEY, "unknown-key", "a key that the schema does not have")                       \
    X(12, MISSING_KEY, "missing-key", "a key that the schema demands")                             \
    X(13, DUPLICATE_KEY, "duplicate-key", "the same key twice in one mapping")                     \
    X(14, TYPE, "type", "text, list or mapping where something else is expected")                  \
    X(15, COUNT, "count", "a list with a wrong number of entries")                                 \
    X(16, NUMBER, "number", "not a finite decimal number")                                         \
    X(17, VALUE, "value", "a value that makes no sense")                                           \
    X(18, CONVENTION, "convention", "a key that the chosen convention does not use")               \
    X(19, FLEX, "flex", "an elastic link that contradicts itself or its neighbours")               \
    X(20, ALIAS, "alias", "a YAML alias that does not lead anywhere")                              \
    X(30, XACRO, "xacro", "a xacro macro that is not expanded")                                    \
    X(31, ENTITY, "entity", "an XML document type with entities")                                  \
    X(32, TREE, "tree", "links and joints that do not form one tree")                              \
    X(33, DUPLICATE_NAME, "duplicate-name", "two links or two joints of one name")                 \
    X(34, UNKNOWN_NAME, "unknown-name", "a link, joint or part that does not exist")               \
    X(35, JOINT_TYPE, "joint-type", "a joint that a serial arm cannot have")                       \
    X(36, AXIS, "axis", "a joint axis of length zero")                                             \
    X(37, CHAIN, "chain", "the chain that was chosen")                                             \
    X(38, LUMPED, "lumped", "a link that became part of another")                                  \
    X(39, FROZEN, "frozen", "a joint that is held at a fixed position")                            \
    X(40, IGNORED, "ignored", "something that was read and is not used")                           \
    X(41, MIMIC, "mimic", "a joint that follows another")                                          \
    X(42, NO_INERTIA, "no-inertia", "a link without inertial data")                                \
    X(43, TRANSMISSION, "transmission", "a gear found in a transmission")                          \
    X(44, PARALLEL, "parallel", "axes that are parallel except for rounding")                      \
    X(50, MASS, "mass", "missing, zero or negative mass")                                          \
    X(51, INERTIA, "inertia", "an inertia tensor that no body can have")                           \
    X(52, COM, "com", "a centre of mass far outside of the link")                                  \
    X(53, LIMITS, "limits", "limits that are missing, zero or contradictory")                      \
    X(54, UNITS, "units", "numbers that look like another unit")                                   \
    X(55, GRAVITY, "gravity", "an arm or a gravity that cannot be what is meant")                  \
    X(56, HOLD, "hold", "a drive too weak to hold the arm against gravity")                        \
    X(57, MOTOR, "motor", "contradictory motor data")                                              \
    X(58, SINGULAR, "singular", "a joint that moves nothing")                                      \
    X(59, FRICTION, "friction", "friction that would drive the arm")

typedef enum {
#define X(number, name, text, about) MESSAGE_##name = number,
    MESSAGE_TABLE(X)
#undef X
} message_code_t;

typedef struct {
    message_severity_t severity;
    message_code_t code;
    char *file;    /* name of the file, or "" */
    uint32_t line; /* line in the file; 0: the file as a whole */
    char *subject; /* name of the link or joint, or "" */
    char *text;    /* what is wrong and why */
    char *cure;    /* how to correct it, or "" */
} message_t;

typedef struct {
    message_t *item;
    size_t count, room;
    size_t errors, warnings; /* counted even if the list is full */
    /* number of messages that were not stored, because the list has at most MESSAGES_MAX */
    size_t dropped;
} messages_t;

#define MESSAGES_MAX 4000u

typedef struct {
    const char *file;
    uint32_t line;
    const char *subject;
} message_place_t;

#define MESSAGES_INIT                                                                              \
    { 0 }

void messages_free(messages_t *messages);
void messages_add(messages_t *messages, message_severity_t severity, message_code_t code,
                  message_place_t place, const char *cure, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Return names such as "unknown-key" and "error", for texts and --json. */
const char *messages_code_name(message_code_t code);
const char *messages_code_about(message_code_t code);
const char *messages_severity_name(message_severity_t severity);
/* Formats "file:12: error: joint elbow: text; cure [code]"; missing parts are left out. Returns the
 * same as snprintf. */
int messages_format(const message_t *message, char *out, size_t size);

/* Returns the entry of a list (ended by NULL) that is most similar to the word, or NULL. */
const char *messages_nearest(const char *word, const char *const *known);

#endif
