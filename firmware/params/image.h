/*
 * The robot image: everything that a board must know about its robot, as bytes. The tool writes it,
 * the firmware keeps it in flash or RAM, and both read it through this file. The same robot always
 * gives the same bytes.
 *
 * Layout, version 3. Little-endian words of 4 bytes; numbers are IEEE single precision in SI units,
 * finite, never -0. The arm is in the frames of dyn/model/model.h (modified Denavit-Hartenberg, the
 * first joint with a frame of zeros), whatever convention its file was written in.
 *
 *     byte   what
 *       0    magic, IMAGE_MAGIC
 *       4    CRC-32 (ISO-HDLC, the one of zip and Ethernet) of the bytes from 8 to the end
 *       8    version of the layout, 3
 *      12    length of the image in bytes, a multiple of 4
 *      16    n, number of joints
 *      20    IMAGE_HAS_...: which optional things the robot file gave
 *      24    feedback: 0 off, 1 pd, 2 computed torque
 *      28    q31: 0 if there are no proved units; else 1 | length << 8 | time << 16, the exponents
 *            of dyn_units_t as signed bytes. The units are proved for the tool's default
 *            methods, with the numbers and limits of this image
 *      32    IMAGE_ARM_FIELDS in their order
 *     148    n joints of IMAGE_JOINT_SIZE bytes each: type (0 revolute, 1 prismatic),
 *            IMAGE_JOINT_HAS_..., q31 exponent of the mass unit (signed), IMAGE_JOINT_FIELDS
 *            then the names of the robot and of its joints, UTF-8, each with a final zero, filled
 *            up with zeros to a whole word
 *            then sections, each of IMAGE_SECTION_TABLE at most once and in its order: tag (four
 *            characters), bytes of content (a multiple of 4), content
 *
 * Angles are stored, not their sines. Single precision cannot represent a quarter turn exactly. A
 * number that is the nearest single to a multiple of a quarter turn, up to four turns, is read as
 * that multiple, so that perpendicular axes stay perpendicular.
 */
#ifndef FIRMWARE_PARAMS_IMAGE_H
#define FIRMWARE_PARAMS_IMAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/flex_model.h"
#include "dyn/model/model.h"
#include "dyn/number/q31.h"
#include "firmware/params/parameters.h"

// clang-format off
#define IMAGE_MAGIC       "\x89" "APL"
#define IMAGE_MAGIC_BYTES {0x89, 'A', 'P', 'L'}
// clang-format on
#define IMAGE_VERSION 3u

/* The four characters of a tag as a word. */
#define IMAGE_TAG(a, b, c, d)                                                                      \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* X(NAME, tag, most bytes of content, help)
 * Q31A: a word dyn_q31_layout(), a word CRC-32 of the image's bytes from 16 to the names, of the
 * layout word and of the constants, then dyn_arm_q31_t with only n joints: the proved constants,
 * which a board without RAM for an arm uses in place. The CRC joins the constants to the numbers of
 * which they were prepared, because such a board cannot prepare them again.
 * FLEX: firmware/params/image_flex.h.
 * HOME: for each of the n joints how it finds its position (0 absolute encoder, 1/-1 upper/lower
 * stop, 2/-2 switch at the upper/lower end) and the position of stop or switch; absent if all
 * encoders are absolute.
 * THRM: for each of the n joints the torque (N m or N) that its motor can give for ever, and the
 * seconds for which it can give its torque limit, from cold; 0 if the file does not say it; absent
 * if it says nothing. */
#define IMAGE_SECTION_TABLE(X)                                                                     \
    X(Q31A, IMAGE_TAG('Q', '3', '1', 'A'), IMAGE_Q31_HEAD + (uint32_t)sizeof(dyn_arm_q31_t),       \
      "constants of the arm, prepared for fixed point (q31)")                                      \
    X(FLEX, IMAGE_TAG('F', 'L', 'E', 'X'), IMAGE_FLEX_MOST,                                        \
      "beams and modes of the elastic links")                                                      \
    X(HOME, IMAGE_TAG('H', 'O', 'M', 'E'), DYN_MAX_JOINTS *IMAGE_HOME_SIZE,                        \
      "homing: how each joint finds its position")                                                 \
    X(THRM, IMAGE_TAG('T', 'H', 'R', 'M'), DYN_MAX_JOINTS *IMAGE_THERMAL_SIZE,                     \
      "what the motors can give for ever, and for how long they can give their limits")

#define IMAGE_Q31_HEAD     8u /* bytes before the constants */
#define IMAGE_HOME_SIZE    8u /* bytes per joint */
#define IMAGE_HOME_MOST    2  /* codes are -2 to 2 */
#define IMAGE_THERMAL_SIZE 8u
#define IMAGE_THERMAL_MOST 1e9f /* N m or N, and s */

/* Largest section FLEX: every link is a beam with all modes. */
#define IMAGE_FLEX_MOST                                                                            \
    (DYN_FLEX_MAX_JOINTS * 4u * (8u + DYN_FLEX_LINK_MODES * (4u + 2u * DYN_FLEX_LINK_MODES)))

/* Largest size of a name in bytes, with the final zero. */
#define IMAGE_NAME_MAX 128u

/*
 * X(name, count, unit, range, help). The range is what reader, writer and `appell check` accept of
 * each number:
 *   FROM(least, most)   WHOLE(least, most) if only integers are valid
 *   LIKE(parameter)     the range of this parameter (firmware/params/parameters.h)
 *   ANGLE               up to IMAGE_ANGLE_MOST in both directions, read by image_angle
 * The ends are far beyond all arms: they stop mistakes of units and numbers with which the constants
 * of a tick overflow. Lengths have room for frames of nearly parallel axes, whose common normal may
 * be kilometres away. What two numbers have to do with each other is in image_check.
 */
#define IMAGE_ANGLE_MOST 1e3f
#define IMAGE_ARM_FIELDS(X)                                                                        \
    X(rate_hz, 1, "Hz", LIKE(rate_hz), "ticks of the control loop per second")                     \
    X(gravity, 3, "m/s^2", FROM(-1e5f, 1e5f),                                                      \
      "acceleration of gravity in the base frame; the vector points down")                         \
    X(base_xyz, 3, "m", FROM(-1e6f, 1e6f), "position of the base frame in the world")              \
    X(base_rpy, 3, "rad", ANGLE, "orientation of the base frame in the world: Rz(y) Ry(p) Rx(r)")  \
    X(tool_xyz, 3, "m", FROM(-1e6f, 1e6f), "position of the tool frame in the last link frame")    \
    X(tool_rpy, 3, "rad", ANGLE, "orientation of the tool frame in the last link frame")           \
    X(payload_mass, 1, "kg", LIKE(payload_mass), "mass of the payload on the last link")           \
    X(payload_com, 3, "m", LIKE(payload_x),                                                        \
      "centre of mass of the payload in the last link frame")                                      \
    X(payload_inertia, 6, "kg m^2", FROM(-1e9f, 1e9f),                                             \
      "inertia xx yy zz xy yz xz of the payload about its centre of mass")                         \
    X(reserved, 3, "", FROM(0, 0), "zero")

#define IMAGE_JOINT_FIELDS(X)                                                                      \
    X(alpha, 1, "rad", ANGLE, "angle between the previous joint axis and this one")                \
    X(a, 1, "m", FROM(-1e6f, 1e6f), "distance between the previous joint axis and this one")       \
    X(theta, 1, "rad", ANGLE, "angle about the joint axis at q = 0")                               \
    X(d, 1, "m", FROM(-1e6f, 1e6f), "offset along the joint axis at q = 0")                        \
    X(mass, 1, "kg", FROM(0, 1e6f), "mass of the link that the joint moves")                       \
    X(com, 3, "m", FROM(-1e6f, 1e6f), "centre of mass of that link in the frame of the joint")     \
    X(inertia, 6, "kg m^2", FROM(-1e9f, 1e9f),                                                     \
      "inertia xx yy zz xy yz xz of that link about its centre of mass")                           \
    X(position, 2, "rad or m", LIKE(position_lower), "lower and upper limit of the position")      \
    X(velocity, 1, "rad/s or m/s", FROM(0, 1e6f), "velocity limit in both directions")             \
    X(acceleration, 1, "rad/s^2 or m/s^2", FROM(0, 1e9f), "acceleration limit in both directions") \
    X(torque, 1, "N m or N", FROM(0, 1e9f), "torque limit in both directions")                     \
    X(resistance, 1, "ohm", FROM(0, 1e6f), "winding resistance of the motor")                      \
    X(torque_constant, 1, "N m/A", FROM(0, 1e6f),                                                  \
      "torque constant of the motor, on the motor side of the gear")                               \
    X(gear, 1, "", FROM(-1e6f, 1e6f),                                                              \
      "turns of the motor per turn of the joint, with sign; 0 if there is no motor")               \
    X(rotor_inertia, 1, "kg m^2", FROM(0, 1e6f),                                                   \
      "inertia of the rotor, on the motor side of the gear")                                       \
    X(voltage, 1, "V", FROM(0, 1e5f), "supply voltage of the motor")                               \
    X(viscous, 1, "N m s/rad or N s/m", FROM(0, 1e9f), "viscous friction at the joint")            \
    X(coulomb, 2, "N m or N", FROM(-1e9f, 1e9f),                                                   \
      "Coulomb friction at negative and at positive speed")                                        \
    X(width, 1, "rad/s or m/s", FROM(0, 1e3f),                                                     \
      "speed above which Coulomb friction has its full value")                                     \
    X(counts, 1, "1/turn or 1/m", WHOLE(0, 1073741824),                                            \
      "counts of the encoder; 0 if the robot file gives none")                                     \
    X(sign, 1, "", LIKE(encoder_sign), "direction of the encoder, 1 or -1")                        \
    X(offset, 1, "rad or m", LIKE(encoder_offset),                                                 \
      "position of the joint where the encoder reads zero")                                        \
    X(ratio, 1, "", LIKE(encoder_ratio), "turns of the encoder per turn (or metre) of the joint")  \
    X(kp, 1, "N m/rad or N/m", LIKE(kp), "feedback gain of the position")                          \
    X(kd, 1, "N m s/rad or N s/m", LIKE(kd), "feedback gain of the velocity")

/* Limits of motions if the image has none. The proof of the q31 units uses the default
 * acceleration, too; without a velocity limit there is no proof. */
#define IMAGE_VELOCITY_DEFAULT 1.0f /* rad/s or m/s */
#define IMAGE_RISE_DEFAULT_S   0.5f /* time from rest to the velocity limit, s */

/* Optional keys that the robot file gave; the others have their defaults. */
enum {
    IMAGE_HAS_BASE = 1 << 0,
    IMAGE_HAS_RATE = 1 << 1,
    IMAGE_HAS_FEEDBACK = 1 << 2,
    IMAGE_HAS_TOOL = 1 << 3,
    IMAGE_HAS_PAYLOAD = 1 << 4,
    IMAGE_HAS_BRAKES = 1 << 5, /* the file says whether the arm has brakes ... */
    IMAGE_BRAKES = 1 << 6,     /* ... and it has */
    IMAGE_HAS_ALL = (1 << 7) - 1
};

enum {
    IMAGE_JOINT_HAS_POSITION = 1 << 0,
    IMAGE_JOINT_HAS_VELOCITY = 1 << 1,
    IMAGE_JOINT_HAS_ACCELERATION = 1 << 2,
    IMAGE_JOINT_HAS_TORQUE = 1 << 3,
    IMAGE_JOINT_HAS_RESISTANCE = 1 << 4,
    IMAGE_JOINT_HAS_TORQUE_CONSTANT = 1 << 5,
    IMAGE_JOINT_HAS_GEAR = 1 << 6,
    IMAGE_JOINT_HAS_ROTOR_INERTIA = 1 << 7,
    IMAGE_JOINT_HAS_VOLTAGE = 1 << 8,
    IMAGE_JOINT_HAS_VISCOUS = 1 << 9,
    IMAGE_JOINT_HAS_COULOMB = 1 << 10,
    IMAGE_JOINT_HAS_COUNTS = 1 << 11,
    IMAGE_JOINT_HAS_SIGN = 1 << 12,
    IMAGE_JOINT_HAS_OFFSET = 1 << 13,
    IMAGE_JOINT_HAS_RATIO = 1 << 14,
    IMAGE_JOINT_HAS_KP = 1 << 15,
    IMAGE_JOINT_HAS_KD = 1 << 16,
    IMAGE_JOINT_HAS_ALL = (1 << 17) - 1
};

/* X(number, NAME, "cause", "cure"). A number is never reused. */
#define IMAGE_ERROR_TABLE(X)                                                                       \
    X(-1, SHORT, "the image ends too early", "repeat the transfer")                                \
    X(-2, MAGIC, "the file is not a robot image",                                                  \
      "make an image with `appell image ROBOT -o FILE`")                                           \
    X(-3, VERSION, "the image has the layout of another version",                                  \
      "make a new image with this `appell`")                                                       \
    X(-4, LENGTH, "the length in the image does not match its content", "repeat the transfer")     \
    X(-5, CRC, "the checksum of the image does not match", "repeat the transfer")                  \
    X(-6, JOINTS, "the image has no joint, or more joints than this build supports",               \
      "use a build that supports more joints")                                                     \
    X(-7, CODE, "a code in the image is unknown to this version",                                  \
      "make a new image with this `appell`")                                                       \
    X(-8, NUMBER, "a number in the image is outside of its range",                                 \
      "correct the robot file and make the image again")                                           \
    X(-9, NAMES, "a name in the image is too long, has no final zero or is not UTF-8",             \
      "correct the robot file and make the image again")                                           \
    X(-10, ROOM, "the image does not fit the memory", "use a board with more memory")              \
    X(-11, BUILD, "the constants in the image were prepared for another build",                    \
      "make a new image with this firmware's `appell`")                                            \
    X(-12, UNPROVED, "the image has no constants for fixed point",                                 \
      "see `appell scale ROBOT`, then make the image again")                                       \
    X(-13, CONSTANTS,                                                                              \
      "the constants for fixed point do not belong to the other numbers in the image",             \
      "make the image again")

typedef enum {
    IMAGE_OK = 0,
#define X(number, name, cause, cure) IMAGE_E_##name = number,
    IMAGE_ERROR_TABLE(X)
#undef X
} image_status_t;

const char *image_cause(int status);
const char *image_cure(int status);

typedef struct {
#define X(name, count, unit, range, help) float name[count];
    IMAGE_ARM_FIELDS(X)
#undef X
} image_arm_t;

typedef struct {
    uint32_t type;
    uint32_t has;
    int32_t q31_mass;
#define X(name, count, unit, range, help) float name[count];
    IMAGE_JOINT_FIELDS(X)
#undef X
} image_joint_t;

#define IMAGE_HEAD_SIZE  (32u + (uint32_t)sizeof(image_arm_t))
#define IMAGE_JOINT_SIZE ((uint32_t)sizeof(image_joint_t))
/* Words before the numbers of a joint, which begin with alpha. */
#define IMAGE_JOINT_FIRST   3
#define IMAGE_JOINT_NUMBERS (IMAGE_JOINT_SIZE / 4 - IMAGE_JOINT_FIRST)

static_assert(sizeof(image_arm_t) == 29 * 4, "the layout must have no gaps");
static_assert(sizeof(image_joint_t) == 37 * 4, "the layout must have no gaps");

enum {
#define X(name, tag, most, help) IMAGE_SECTION_##name,
    IMAGE_SECTION_TABLE(X)
#undef X
        IMAGE_SECTIONS
};

/* Size of the largest possible image. */
#define IMAGE_SECTION_SIZE(name, tag, most, help) +8u + (most)
#define IMAGE_SIZE_MAX                                                                             \
    (IMAGE_HEAD_SIZE + DYN_MAX_JOINTS * IMAGE_JOINT_SIZE +                                         \
     (DYN_MAX_JOINTS + 1) * IMAGE_NAME_MAX IMAGE_SECTION_TABLE(IMAGE_SECTION_SIZE))

/* Content of a section; bytes is NULL if the image does not have it. After image_read it points
 * into the bytes of the image. */
typedef struct {
    const uint8_t *bytes;
    uint32_t size;
} image_section_t;

/* A parsed image. */
typedef struct {
    uint32_t n;
    uint32_t has;
    uint32_t feedback;
    bool proved; /* the q31 units are proved */
    int8_t q31_length, q31_time;
    image_arm_t arm;
    image_joint_t joint[DYN_MAX_JOINTS];
    const char *name;                       /* after image_read it points into the bytes */
    const char *joint_name[DYN_MAX_JOINTS]; /* like name */
    image_section_t section[IMAGE_SECTIONS];
    /* Section HOME; zeros mean an absolute encoder. */
    float home_position[DYN_MAX_JOINTS];
    int8_t home_how[DYN_MAX_JOINTS];
} image_t;

/* What the section THRM says about a joint; 0: it does not say it. */
typedef struct {
    float continuous; /* torque that the motor can give for ever, N m or N */
    float time_s;     /* for which it can give its torque limit, from cold */
} image_thermal_t;
image_thermal_t image_thermal(const image_t *image, uint32_t joint);

/* Where an error was found: a joint (or IMAGE_NO_JOINT) and a field of the tables, or NULL. For
 * IMAGE_E_NUMBER also the number inside the image_t, and the span in which it must be. If that is
 * empty (least above most), the number is possible alone, but not together with others. */
#define IMAGE_NO_JOINT UINT32_MAX
typedef struct {
    uint32_t joint;
    const char *field;
    const float *at;
    span_t span;
} image_where_t;

/* Checks everything and parses the image. `size` may be larger than the image, for example a slot
 * of flash. Returns IMAGE_OK or a negative image_status_t. `where` may be NULL. */
int image_read(const uint8_t *bytes, size_t size, image_t *out, image_where_t *where);
/* Returns the length in the head of the image; 0 if the bytes do not begin with an image of this
 * version. */
uint32_t image_length(const uint8_t *bytes, size_t size);

/* Writes an image of IMAGE_VERSION into at most `room` bytes; *size is its size. Returns IMAGE_OK
 * or a negative image_status_t. */
int image_write(const image_t *image, uint8_t *bytes, size_t room, size_t *size,
                image_where_t *where);

/* Checks the numbers of a robot that is not bytes yet, as image_read and image_write do: IMAGE_OK or
 * IMAGE_E_NUMBER. */
int image_check(const image_t *image, image_where_t *where);
/* Returns whether a body can have this inertia: no principal moment is negative. Rounding to single
 * precision changes a moment by at most 3 * 2^-24 of the largest element; the check allows 1e-6. */
bool image_inertia_possible(const double inertia[6]);

/* Makes the arm for the kernels. A joint without an acceleration limit gets its velocity limit
 * divided by IMAGE_RISE_DEFAULT_S. Returns 0 or a negative dyn_status_t. */
int image_model(const image_t *image, dyn_model_t *model);
/* Returns the units for q31; false if none were proved. */
bool image_units(const image_t *image, dyn_units_t *units);

/* Size of the section Q31A for n joints, and a function that writes it: the arm must be prepared in
 * the units of the image, in memory that was zeroed before. image_write adds the CRC. */
uint32_t image_q31_size(uint32_t n);
void image_put_q31(const dyn_arm_q31_t *arm, uint8_t *bytes);
/* Finds the prepared arm inside the bytes of the image, which must be word-aligned. Returns
 * IMAGE_OK, IMAGE_E_UNPROVED if the image has none, IMAGE_E_BUILD if another build prepared it, or
 * IMAGE_E_NUMBER if its size, its alignment or a constant is impossible for this image. */
int image_arm_q31(const image_t *image, const dyn_arm_q31_t **arm);

/* Returns a hash of everything in the image that generated code contains: frames, links, rotors,
 * gravity, payload, base and tool; for fixed point also the units and the limits for which they are
 * proved. Generated code contains the hash, so that a mismatch of code and image is found. */
uint32_t image_model_hash(const image_t *image, bool fixed_point);

/* Returns the exact angle for a stored number. */
double image_angle(float stored);

#endif
