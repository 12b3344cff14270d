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
    X(2, FORMAT, "format",                                                                         \
      "the content is not a robot file, a URDF, a parts database or a robot image")                \
    X(3, LIMIT, "limit", "the file, a list or a text exceeds a size limit")                        \
    X(4, MEMORY, "memory", "this machine does not have enough memory")                             \
    X(10, SYNTAX, "syntax", "the file is not well-formed YAML or XML")                             \
    X(11, UNKNOWN_KEY, "unknown-key", "a key is unknown")                                          \
    X(12, MISSING_KEY, "missing-key", "a required key is missing")                                 \
    X(13, DUPLICATE_KEY, "duplicate-key", "a key occurs twice in one mapping")                     \
    X(14, TYPE, "type", "a value has the wrong type (types: text, list, mapping)")                 \
    X(15, COUNT, "count", "a list has the wrong number of entries")                                \
    X(16, NUMBER, "number", "a value is not a finite decimal number")                              \
    X(17, VALUE, "value", "a value is outside its possible range")                                 \
    X(18, CONVENTION, "convention", "a key is not used in the chosen convention")                  \
    X(19, FLEX, "flex",                                                                            \
      "the data of an elastic link contradict each other or those of its neighbours")              \
    X(20, ALIAS, "alias", "a YAML alias has no anchor")                                            \
    X(30, XACRO, "xacro", "a xacro macro is not expanded")                                         \
    X(31, ENTITY, "entity", "the XML file has a document type, which could define entities")       \
    X(32, TREE, "tree", "links and joints do not form one tree")                                   \
    X(33, DUPLICATE_NAME, "duplicate-name", "two links or two joints have the same name")          \
    X(34, UNKNOWN_NAME, "unknown-name", "no link, joint or part has this name")                    \
    X(35, JOINT_TYPE, "joint-type", "a serial arm cannot have a joint of this type")               \
    X(36, AXIS, "axis", "a joint axis has length zero")                                            \
    X(37, CHAIN, "chain", "this chain of joints was chosen")                                       \
    X(38, LUMPED, "lumped", "a link became part of another link")                                  \
    X(39, FROZEN, "frozen", "a joint is kept at a fixed position")                                 \
    X(40, IGNORED, "ignored", "some content of the file is not used")                              \
    X(41, MIMIC, "mimic", "a joint mimics another joint")                                          \
    X(42, NO_INERTIA, "no-inertia", "a link has no inertial data")                                 \
    X(43, TRANSMISSION, "transmission", "a transmission contains a gear ratio")                    \
    X(44, PARALLEL, "parallel", "axes are parallel except for rounding")                           \
    X(50, MASS, "mass", "a mass is missing, zero or negative")                                     \
    X(51, INERTIA, "inertia", "no body can have this inertia tensor")                              \
    X(52, COM, "com", "a centre of mass is far outside of its link")                               \
    X(53, LIMITS, "limits", "limits are missing, zero or contradictory")                           \
    X(54, UNITS, "units", "a number seems to be in another unit")                                  \
    X(55, GRAVITY, "gravity", "gravity looks wrong")                                               \
    X(56, WEAK, "weak", "a drive is too weak to hold the arm against gravity")                     \
    X(57, MOTOR, "motor", "the data of a motor contradict each other")                             \
    X(58, SINGULAR, "singular", "a joint moves no inertia")                                        \
    X(59, FRICTION, "friction", "friction would drive the arm instead of braking it")

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
    /* number of messages that were not stored, because the list was full or memory was short */
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
/* Names such as "unknown-key" and "error", for texts and --json, and the meaning of a code. */
const char *messages_code_name(message_code_t code);
const char *messages_code_about(message_code_t code);
const char *messages_severity_name(message_severity_t severity);
/* Formats "file:12: error: joint elbow: text; cure [code]"; missing parts are left out. Returns the
 * same as snprintf. */
int messages_format(const message_t *message, char *out, size_t size);

/* Returns the entry of a list (ended by NULL) that is most similar to the word, or NULL. */
const char *messages_nearest(const char *word, const char *const *known);
/* Writes the cure for a misspelt word: "did you mean x? otherwise", or `otherwise` alone if no entry
 * of the list is similar. Returns out. */
char *messages_suggest(char *out, size_t size, const char *word, const char *const *known,
                       const char *otherwise);

#endif
