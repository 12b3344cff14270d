/*
 * A robot as its file describes it, and the functions that load it from robot files (YAML), URDF,
 * parts databases and, through a hook, robot images.
 *
 *     robot_t *robot = calloc(1, sizeof *robot);
 *     messages_t messages = MESSAGES_INIT;
 *     if (robot_load("puma560", NULL, robot, &messages) == 0) ... robot->model ...
 *     robot_free(robot); messages_free(&messages);
 *
 * No function here prints, exits or keeps state.
 */
#ifndef TOOLS_ROBOT_ROBOT_H
#define TOOLS_ROBOT_ROBOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dyn/model/convert.h"
#include "dyn/model/flex_model.h"
#include "dyn/model/model.h"
#include "firmware/params/image.h"
#include "tools/cli/messages.h"

#define ROBOT_NAME_MAX  128u        /* bytes of a name, including the final zero */
#define ROBOT_FILE_MAX  (16u << 20) /* largest robot file in bytes */
#define ROBOT_MODES_MAX 8u          /* most assumed modes of one kind on one link */

typedef enum {
    ROBOT_FORMAT_FILE, /* robot file */
    ROBOT_FORMAT_URDF,
    ROBOT_FORMAT_PARTS, /* parts database */
    ROBOT_FORMAT_IMAGE  /* robot image */
} robot_format_t;

/*
 * Bits of the optional keys that the file has: IMAGE_HAS_... and IMAGE_JOINT_HAS_..., which the
 * robot image also contains, and the ones below. A missing value is zero, except gear (1 if there
 * is a motor), sign and ratio (1) and rate (1000 Hz).
 */
enum {
    ROBOT_JOINT_INERTIAL = 1 << 17, /* the source has mass data for this link */
    ROBOT_JOINT_ENDLESS = 1 << 18,  /* URDF: continuous, without a range */
    ROBOT_JOINT_LIMITS = 0xf,
    ROBOT_JOINT_MOTOR = 0x1f << 4,
    ROBOT_JOINT_ENCODER = 0xf << 11
};

typedef struct {
    double counts; /* per turn of the encoder, or per metre; zero: no encoder */
    double sign;   /* 1 or -1 */
    double offset; /* position of the joint at counter zero, rad or m */
    double ratio;  /* turns of the encoder per turn (or metre) of the joint */
} robot_encoder_t;

/* How a joint with an incremental encoder finds its position after power-up. */
typedef struct {
    /* 0: absolute encoder; 1 / -1: upper / lower stop; 2 / -2: upper / lower switch */
    int how;
    double position; /* position of the stop or switch, rad or m */
} robot_homing_t;

/* What a motor can give without getting too hot; 0: the file does not say it. */
typedef struct {
    double continuous; /* torque that it can give for ever, N m or N */
    double time;       /* for which it can give its torque limit, from cold, s */
} robot_thermal_t;

/* A mode shape as a table of values at equal steps from the root of the beam to its end. The first
 * value must be zero. */
typedef struct {
    double *value;
    uint32_t count;
} robot_shape_t;

/* An elastic beam along x of the link frame (paper 004). */
typedef struct {
    double length, mass_per_length; /* m, kg/m */
    double EI_y, EI_z, GJ;          /* N m^2 */
    double damping;                 /* damping matrix divided by stiffness matrix, in s */
    double polar_inertia;           /* moment of inertia about x per metre of beam, kg m */
    uint32_t modes_xy, modes_xz, modes_torsion;
    robot_shape_t *shape_xy, *shape_xz,
        *shape_torsion; /* one table for each mode; NULL: clamped-free shapes */
} robot_flex_t;

/* Line numbers of the keys in the file. For an absent key: 0, or the line of the element that lacks
 * it. */
typedef struct {
    uint32_t joint, type, frame, axis, link, mass, com, inertia, limits, motor, friction, encoder,
        gains, flex, position, velocity, torque;
} robot_joint_lines_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    /* name of the link that the joint moves; in robot files the same as name */
    char link_name[ROBOT_NAME_MAX];
    uint32_t has; /* IMAGE_JOINT_HAS_... and ROBOT_JOINT_... */
    /* the link is elastic: flex is set and source.link is the stiff beam */
    bool elastic;
    dyn_source_joint_t source; /* frame, link and drive in the convention of the file */
    robot_encoder_t encoder;
    robot_homing_t homing;
    robot_thermal_t thermal;
    double kp, kd;
    robot_flex_t flex;
    robot_joint_lines_t line;
} robot_joint_t;

/* A link of the source in its own frame, before it is lumped together with others. Only URDF has
 * such links. */
typedef struct {
    char name[ROBOT_NAME_MAX];
    bool inertial; /* the link has a body */
    dyn_body_t body;
    /* rotation between tensor axes and link frame that was applied to the body */
    double inertia_rpy[3];
    uint32_t line_mass, line_com, line_inertia;
    bool stands; /* the link is fixed to the base and never moves */
    /* joint that mounts the link ("" for the root); its pose is xyz and rpy */
    char joint[ROBOT_NAME_MAX];
    double xyz[3], rpy[3];
    uint32_t line_joint;
} robot_piece_t;

/* A part of a parts database, in its own frame. */
typedef struct {
    char name[ROBOT_NAME_MAX];
    dyn_body_t body;
    uint32_t uses; /* how often links have this part */
} robot_part_t;

typedef struct {
    char name[ROBOT_NAME_MAX];
    char *file; /* file that was read, for messages */
    robot_format_t format;
    dyn_convention_t convention;
    uint32_t has; /* bits IMAGE_HAS_... */
    bool elastic; /* true if any joint is elastic */
    uint32_t n;
    double gravity[3]; /* m/s^2 in the base frame of the file */
    double base_xyz[3], base_rpy[3];
    double tool_xyz[3], tool_rpy[3];
    double rate_hz; /* rate of the control loop; 1000 if the file gives none */
    uint32_t feedback;
    dyn_body_t payload; /* body in the file's frame of the last link */
    uint32_t line_name, line_gravity, line_base, line_control, line_tool, line_payload, line_joints;
    robot_joint_t joint[DYN_MAX_JOINTS];
    robot_piece_t *piece; /* all links of a URDF one by one, for the doctor; otherwise NULL */
    size_t pieces;
    robot_part_t *part; /* the parts of a parts database; otherwise NULL */
    size_t parts;

    /* Only for a robot that was read from an image: the elastic part of the image. shapes_lost: the
     * mode shapes were tables, which an image does not contain. */
    dyn_flex_model_t *integrals;
    bool shapes_lost;

    dyn_model_t model;   /* the same arm for the kernels; elastic links are stiff beams here */
    dyn_report_t report; /* also gives the file's last link frame relative to the model's */
} robot_t;

typedef struct {
    const char *joint;
    double value; /* rad or m */
} robot_freeze_t;

/*
 * Names that a robot file has in place of numbers: in dh d, a and alpha, in link mass, com and
 * inertia. The arm gets a number for each name, the same positive one every time, negative where the
 * name has a minus, so that everything can be computed with it. A joint without `link:` gets such
 * numbers, too, under names of our own.
 */
enum { ROBOT_SYMBOLS = 13, ROBOT_SYMBOL_SIZE = 24 }; /* d a alpha m x y z xx yy zz xy yz xz */
typedef struct {
    char name[DYN_MAX_JOINTS][ROBOT_SYMBOLS][ROBOT_SYMBOL_SIZE];   /* empty: a number */
    char number[DYN_MAX_JOINTS][ROBOT_SYMBOLS][ROBOT_SYMBOL_SIZE]; /* empty: from the file */
    bool any;                      /* there is a name, or a joint without link */
    char first[ROBOT_SYMBOL_SIZE]; /* the first name, or empty, and its line */
    uint32_t line;
} robot_symbols_t;

struct robot_options;
typedef int (*robot_reader_t)(const char *file, const uint8_t *bytes, size_t size,
                              const struct robot_options *options, robot_t *out,
                              messages_t *messages);

typedef struct robot_options {
    /* URDF only: the link of the end effector; NULL: robot_load chooses it */
    const char *tip;
    const robot_freeze_t *freeze; /* URDF only: joints to fix, and their positions */
    size_t freeze_count;
    /* replaces the gravity of the file, m/s^2 in the base frame; NULL: not replaced */
    const double *gravity;
    /* names may stand in place of numbers; they go here. NULL: a name is an error */
    robot_symbols_t *symbols;
    double parallel_rad; /* argument of dyn_convert; 0: DYN_PARALLEL_DEFAULT */
    /* first bytes of a robot image, and the reader of images; NULL: images are not read */
    const char *image_magic;
    size_t image_magic_size;
    robot_reader_t image_reader;
} robot_options_t;

/*
 * Loads an arm. `what` is a file, or the name of a robot in $APPELL_ROBOTS, ./tools/robots or
 * ../../tools/robots relative to the program. Returns 0, or -1 with at least one error among the
 * messages. `out` need not be initialised; call robot_free in either case. options may be NULL.
 *
 * A URDF is a tree. Without a tip, the chain with the most moving joints is taken, and the end
 * effector is the frame of its last moving link. All other links are fixed and lumped into the
 * links of the chain or the base, with a note for each.
 */
int robot_load(const char *what, const robot_options_t *options, robot_t *out,
               messages_t *messages);
/* Like robot_load, but reads from memory; `file` is only a name for messages. */
int robot_parse(const char *file, const void *bytes, size_t size, const robot_options_t *options,
                robot_t *out, messages_t *messages);
void robot_free(robot_t *robot);

/*
 * Makes robot->model from the description, as robot_load does. Call it again after a change of the
 * description (another payload, another gravity). Returns 0, or -1 with errors.
 */
int robot_settle(robot_t *robot, double parallel_rad, messages_t *messages);

/* Returns what the voltage of this joint's motor cannot be computed without, as a key of the robot
 * file; NULL: nothing is missing. */
const char *robot_motor_missing(const robot_t *robot, uint32_t joint);

/* Writes a robot file that loads into the identical model. Returns 0, or -1 if the stream
 * failed. */
int robot_save(FILE *stream, const robot_t *robot);

/* Fills in everything of a robot image except the sections and the proof of q31. */
void robot_to_image(const robot_t *robot, image_t *image);
/* Rounds to single precision; a number that is too large becomes infinite. */
float robot_single(double in);
/* Says which number of an image is not acceptable, and what would be. */
void robot_number_text(const image_where_t *where, char *out, size_t size);

/* The import doctor: adds messages about what is suspicious. Returns 0, or -1 if there is an error,
 * that is, something that nothing can be computed with. */
int robot_check(const robot_t *robot, messages_t *messages);
/* Like robot_check, but finds only the errors, which saves the time that the warnings take. */
int robot_possible(const robot_t *robot, messages_t *messages);

/* Lists at most `max` folders that are searched for robots by name, in the order of the search. The
 * caller frees each. */
size_t robot_folders(char **folder, size_t max);

#endif
