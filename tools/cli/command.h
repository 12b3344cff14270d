/* Tables of the commands and their options. The parser, `appell help`, the shell completion and the
 * man page all use these tables, so that they cannot disagree. */
#ifndef TOOLS_CLI_COMMAND_H
#define TOOLS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * X(NAME, "name", letter or 0, "ARGUMENT" or NULL, kind of the argument for completion, "help"). If
 * the option means something else for one command, that command has its own help in
 * option_help_table.
 */
#define OPTION_TABLE(X)                                                                            \
    X(METHOD, "method", 'm', "NAME", METHOD,                                                       \
      "compute with this method, one of those listed for the command; default: the first")         \
    X(REAL, "real", 'r', "f64|f32|q31", WORDS,                                                     \
      "number type: f64, f32 (as on a board with an FPU) or q31 (as on a board without an FPU); "  \
      "default f64, with --port the type of the board; q31 needs limits of velocity and "          \
      "acceleration, and of position for prismatic joints")                                        \
    X(GRAVITY, "gravity", 0, "X,Y,Z", LIST,                                                        \
      "acceleration of gravity in the base frame, in m/s^2, instead of the value in the file; "    \
      "the vector points down")                                                                    \
    X(WRENCH, "wrench", 0, "FX,FY,FZ,NX,NY,NZ", LIST,                                              \
      "force and moment that the surroundings exert on the end effector, in N and N m, at the "    \
      "origin and along the axes of the tool frame: tau = M qdd + c + g - J^T W")                  \
    X(PAYLOAD, "payload", 0, "M[,X,Y,Z[,IXX,IYY,IZZ,IXY,IYZ,IXZ]]", LIST,                          \
      "payload, instead of that in the file: mass in kg, centre of mass in m (in the last link "   \
      "frame of the file), inertia about that centre in kg m^2")                                   \
    X(NO_FRICTION, "no-friction", 0, NULL, NONE, "leave out the friction of the joints")           \
    X(NO_ROTOR, "no-rotor", 0, NULL, NONE, "leave out the inertia of the rotors")                  \
    X(RIGID, "rigid", 0, NULL, NONE, "treat elastic links as stiff beams of the same mass")        \
    X(STATIC, "static", 0, NULL, NONE,                                                             \
      "elastic links: compute torques and deflections without vibration; the rows of input are "   \
      "q qd qdd")                                                                                  \
    X(LINEAR, "linear", 0, NULL, NONE,                                                             \
      "elastic links: use the small-angle approximation for the rotation of a beam's end, as in "  \
      "Korayem, Shafei 2009")                                                                      \
    X(START, "start", 0, "Q1,Q2,...", LIST,                                                        \
      "joint positions to start from; default: the start of the motion, or 0 without a motion")    \
    X(SPEED, "speed", 0, "QD1,QD2,...", LIST,                                                      \
      "joint speeds at the start; default: those of the motion, or 0 without a motion")            \
    X(DURATION, "duration", 't', "S", NUMBER,                                                      \
      "simulated time in s; default: until the end of the file of --motion, --torque or "          \
      "--voltage")                                                                                 \
    X(INTEGRATOR, "integrator", 'i', "rk3|rk4|rk45|rk56", WORDS,                                   \
      "method of integration; default rk4")                                                        \
    X(STEP, "step", 0, "S", NUMBER,                                                                \
      "use fixed steps of S seconds; a step is shorter if it must end at the time of a row; "      \
      "default 0.001")                                                                             \
    X(TOLERANCE, "tolerance", 0, "E", NUMBER,                                                      \
      "rk45 and rk56: choose the steps so that their error is at most E (1 + |state|); default "   \
      "1e-9, unless --step asks for fixed steps")                                                  \
    X(PERIOD, "period", 0, "S", NUMBER,                                                            \
      "sample period in s (DACTimePeriod): torques or voltages change only at multiples of this "  \
      "period; default: they change whenever their source does")                                   \
    X(SAMPLE, "sample", 0, "S", NUMBER,                                                            \
      "time in s between two rows of the result; default 0.01, with elastic links 0.001")          \
    X(TORQUE, "torque", 0, "LIST|FILE", FILE,                                                      \
      "torques of the motors at the joints: constants, or a file of rows `t tau1 .. taun`; each "  \
      "row is valid until the next; with --period the rows may leave out t")                       \
    X(VOLTAGE, "voltage", 0, "LIST|FILE", FILE,                                                    \
      "voltages of the motors: constants, or a file as for --torque")                              \
    X(MOTION, "motion", 0, "FILE", FILE,                                                           \
      "apply the torques that this motion needs, computed by inverse dynamics; rows are `t q` "    \
      "(joined by a cubic spline) or `t q qd qdd`")                                                \
    X(MOVE, "move", 0, "Q1,Q2,...", LIST,                                                          \
      "apply the torques of a cycloidal motion from --start to these positions in --duration")     \
    X(VOLTS, "volts", 0, NULL, NONE,                                                               \
      "with --motion or --move: apply motor voltages instead of torques")                          \
    X(CONTROLLER, "controller", 0, "firmware", WORDS,                                              \
      "with --move: control the arm with the firmware's own control step, from encoder counts to " \
      "duty cycles, at the control rate of the robot")                                             \
    X(STOPS, "stops", 0, NULL, NONE,                                                               \
      "put a stop at each position limit; a joint that hits a stop loses its speed")               \
    X(SCRIPT, "script", 0, "FILE", FILE,                                                           \
      "read commands of the interactive program from this file")                                   \
    X(PLOT, "plot", 0, "FILE", FILE, "plot the run into this file: .png, .svg or .pdf")            \
    X(BENT, "bent", 0, "FILE", FILE,                                                               \
      "elastic links: write the position of the end effector and, for the middle and the end of "  \
      "each beam, deflection, slope and torsion; FILE ends in .csv for rows, in .png, .svg or "    \
      ".pdf for a plot")                                                                           \
    X(RESTARTS, "restarts", 0, "N", NUMBER,                                                        \
      "number of random positions to start from if --start does not lead to a solution; default "  \
      "100")                                                                                       \
    X(SEED, "seed", 0, "N", NUMBER, "seed of the random numbers; default 1")                       \
    X(ANIMATE, "animate", 0, "FILE", FILE,                                                         \
      "write an animation of the arm into this HTML file, for any browser")                        \
    X(TIP, "tip", 0, "LINK", WORD,                                                                 \
      "URDF: the link that carries the end effector; default: the end of the chain with the "      \
      "most moving joints")                                                                        \
    X(FREEZE, "freeze", 0, "JOINT=VALUE", WORD,                                                    \
      "URDF: fix a joint at this position, in rad or m; may be repeated")                          \
    X(PARALLEL, "parallel", 0, "RAD", NUMBER,                                                      \
      "treat two axes as parallel if the angle between them is at most this; default 1e-9. Use "   \
      "1e-5 for a file that writes 1.5708 for a quarter turn")                                     \
    X(TO, "to", 0, "Q1,Q2,...", LIST, "joint positions to move to")                                \
    X(POSE, "pose", 0, "X,Y,Z,R,P,Y", LIST,                                                        \
      "pose of the tool frame in the world to move to: place in m; roll, pitch and yaw in rad, "   \
      "about the fixed axes x, y, z in this order")                                                \
    X(LINE, "line", 0, NULL, NONE, "with --pose: move the end effector along a straight line")     \
    X(UNATTENDED, "unattended", 0, NULL, NONE,                                                     \
      "switch the outputs of a real arm on although nobody at a terminal has agreed")              \
    X(PROFILE, "profile", 0, "quintic|cycloid|trapezoid", WORDS,                                   \
      "profile of the motion; default quintic. All joints arrive at the same time")                \
    X(AT, "at", 0, "Q1,Q2,...", LIST,                                                              \
      "absolute encoders: the present joint positions of the arm; sets encoder_offset "            \
      "accordingly")                                                                               \
    X(JOINT, "joint", 0, "NAME", WORD, "home this joint only")                                     \
    X(SET, "set", 0, "NAME=VALUE,...", PARAMETERS, "set these parameters of the board first")      \
    X(GENERATED, "generated", 0, NULL, NONE,                                                       \
      "for a board that was built with GEN=1 for this robot: compare the board with generated "    \
      "code on this machine")                                                                      \
    X(STRATEGY, "strategy", 0, "trace|uicker-kahn", WORDS,                                         \
      "how the inertia matrix is derived: trace (default) runs the recursion on symbols; "         \
      "uicker-kahn uses the closed form with a dictionary of monomials")                           \
    X(EFFORT, "effort", 0, "N", NUMBER,                                                            \
      "effort of the annealer that simplifies the code: 0 switches it off, 100 takes ten times "   \
      "as long as the default 10")                                                                 \
    X(PARAMETERS, "parameters", 0, NULL, NONE,                                                     \
      "write names of the parameters (m1, a2, Ixx3) instead of numbers; the robot file may have "  \
      "names in place of numbers, and joints without link:")                                       \
    X(FORMAT, "format", 0, "text|markdown|c", WORDS,                                               \
      "text (default), Markdown with LaTeX, or a C function")                                      \
    X(DICTIONARY, "dictionary", 0, NULL, NONE,                                                     \
      "write the products of sines and cosines as a dictionary, and sums over it; C always does")  \
    X(DIGITS, "digits", 0, "N", NUMBER, "digits of the numbers in text and Markdown; default 6")   \
    X(MONOMIALS, "monomials", 0, "N", NUMBER,                                                      \
      "give up when the closed form has more monomials than this; default 4000000, which takes "   \
      "about 0.7 GB")                                                                              \
    X(KEEP, "keep", 0, "WHAT,...", LIST,                                                           \
      "keep gravity, payload or wrench as arguments of the generated functions")                   \
    X(PREFIX, "prefix", 0, "NAME", WORD,                                                           \
      "prefix of files and functions, a C identifier; default: the name of the robot")             \
    X(BASE, "base", 0, NULL, NONE,                                                                 \
      "regroup the inertial parameters of the links into base parameters; this is the default")    \
    X(NO_BASE, "no-base", 0, NULL, NONE, "do not regroup the parameters of the links")             \
    X(FRICTION, "friction", 0, NULL, NONE,                                                         \
      "add friction to the generated code: viscous, and Coulomb friction with sign(qd)")           \
    X(BOARD, "board", 0, "B", BOARD,                                                               \
      "the board to emulate or, with --port, the type of the connected board; default "            \
      "netduinoplus2")                                                                             \
    X(PORT, "port", 'p', "P", PORT,                                                                \
      "the board: a serial device (/dev/ttyACM0; /dev/ttyACM0@BAUD if the rate is not 921600), "   \
      "tcp:HOST:PORT, unix:PATH, virtual:NAME, or qemu:BOARD, an emulator for this command "       \
      "alone; default: $APPELL_PORT, or the only virtual board that runs")                         \
    X(WATCH, "watch", 0, NULL, NONE, "go on with a line of state until control-C")                 \
    X(ROBOT, "robot", 0, "ROBOT", ROBOT, "load this robot into the virtual board and save it")     \
    X(NAME, "name", 0, "NAME", WORD, "name of the virtual board; default: that of BOARD")          \
    X(DETACH, "detach", 'd', NULL, NONE, "leave the virtual board running and return")             \
    X(LIST, "list", 'l', NULL, NONE, "list the virtual boards that run")                           \
    X(STOP, "stop", 0, NULL, NONE, "end a virtual board; what was saved stays")                    \
    X(RESET, "reset", 0, NULL, NONE, "reset a virtual board, as its reset button does")            \
    X(POWER_CYCLE, "power-cycle", 0, NULL, NONE, "switch a virtual board off and on")              \
    X(CRASH, "crash", 0, NULL, NONE,                                                               \
      "let the firmware of a virtual board jump to an address without memory")                     \
    X(PRESS_ESTOP, "press-estop", 0, NULL, NONE,                                                   \
      "press the emergency stop of the simulated arm, until --release-estop")                      \
    X(RELEASE_ESTOP, "release-estop", 0, NULL, NONE, "release the emergency stop")                 \
    X(DEFECT, "defect", 0, "NAME", DEFECT,                                                         \
      "give the simulated arm a defect, for example 'encoder lost'; 'none' removes it")            \
    X(PRODUCT, "product", 0, NULL, NONE,                                                           \
      "run the product's firmware instead of the laboratory's; it has no defects")                 \
    X(ERASE, "erase", 0, NULL, NONE, "begin with an empty flash")                                  \
    X(FLASH, "flash", 0, "FILE", FILE,                                                             \
      "keep the flash in this file; default: ~/.local/state/appell/NAME.flash")                    \
    X(DRY_RUN, "dry-run", 'n', NULL, NONE, "show the difference and change nothing")               \
    X(NO_SAVE, "no-save", 0, NULL, NONE,                                                           \
      "load the robot until the next reset; `appell save` keeps it")                               \
    X(FIELDS, "fields", 'f', "A,B,...", FIELDS,                                                    \
      "telemetry fields to send; default: the previous choice, or q,tau if there is none")         \
    X(EVERY, "every", 0, "TICKS", NUMBER,                                                          \
      "take one sample every TICKS ticks; default: as many samples as the line can carry")         \
    X(TIMES, "count", 'N', "N", NUMBER, "number of samples or states")                             \
    X(TELEPLOT, "teleplot", 0, "UDP", NUMBER,                                                      \
      "send samples to Teleplot on this machine, at this UDP port (Teleplot listens on 47269)")    \
    X(PLOTJUGGLER, "plotjuggler", 0, "UDP", NUMBER,                                                \
      "send samples as JSON to PlotJuggler on this machine, at this UDP port (its default is "     \
      "9870)")                                                                                     \
    X(FIRMWARE, "firmware", 0, "ELF", FILE,                                                        \
      "look up the names of addresses in this ELF file; default: the firmware of the emulated "    \
      "board, or build/BOARD/firmware.elf")                                                        \
    X(LEAVE, "leave", 0, NULL, NONE, "do not clear the crash record on the board")                 \
    X(YES, "yes", 0, NULL, NONE, "do not ask for confirmation")                                    \
    X(OUTPUT, "output", 'o', "FILE", FILE, "write to this file")                                   \
    X(SHOW, "show", 0, "IMAGE", FILE, "print a robot image as a robot file")                       \
    X(LIMITS, "limits", 0, "V,A", LIST,                                                            \
      "velocity and acceleration limits for joints that have none, in SI units")                   \
    X(VERIFY, "verify", 0, "N", NUMBER,                                                            \
      "test N states, some random, some with values at their limits: check every sum for "         \
      "overflow, and compare the results with the bounds and with double precision")               \
    X(CSV, "csv", 0, NULL, NONE, "print CSV for scripts, with the columns problem,method,mul,add") \
    X(JSON, "json", 0, NULL, NONE, "print the answer as JSON")                                     \
    X(QUIET, "quiet", 'q', NULL, NONE, "do not print warnings, notes and progress")                \
    X(VERBOSE, "verbose", 'v', NULL, NONE,                                                         \
      "print port, version and every request with its answer to standard error")                   \
    X(HELP, "help", 'h', NULL, NONE, "print this help")

typedef enum {
#define X(name, text, letter, argument, kind, help) OPTION_##name,
    OPTION_TABLE(X)
#undef X
        OPTION_COUNT
} option_id_t;

typedef enum {
    ARGUMENT_NONE,
    ARGUMENT_METHOD, /* one of the methods that the command lists */
    ARGUMENT_WORDS,  /* one of the words in the argument itself: "a|b|c" */
    ARGUMENT_WORD,
    ARGUMENT_BOARD,
    ARGUMENT_ROBOT,
    ARGUMENT_DEFECT, /* name of a defect of the simulated arm */
    ARGUMENT_PORT,
    ARGUMENT_PARAMETERS, /* a list NAME=VALUE,NAME=VALUE */
    ARGUMENT_FIELDS,     /* names of telemetry fields, separated by commas */
    ARGUMENT_NUMBER,
    ARGUMENT_LIST,
    ARGUMENT_FILE
} argument_kind_t;

typedef struct {
    const char *name;
    char letter;
    const char *argument;
    argument_kind_t kind;
    const char *help;
} option_t;

extern const option_t option_table[OPTION_COUNT];

/* A set of options in any order, such as OPTIONS(OPTION_JSON, OPTION_HELP). A repeated option
 * counts once, so lists built from other lists may overlap. */
#define OPTIONS(...) ((const option_id_t[]){__VA_ARGS__, OPTION_COUNT})

enum { ARGUMENTS_MAX = 9, FREEZE_MAX = 64 };

struct command;

/* A parsed command line. */
typedef struct {
    const struct command *command;
    const char *argument[ARGUMENTS_MAX];
    int arguments;
    bool given[OPTION_COUNT];
    const char *value[OPTION_COUNT]; /* value of the last occurrence of each option */
    const char *freeze[FREEZE_MAX];
    size_t freezes;
} request_t;

/* Groups of commands, in the order of `appell help`. X(NAME, "title") */
#define TASK_TABLE(X)                                                                              \
    X(ROBOT, "robot")                                                                              \
    X(COMPUTE, "compute (rows of numbers in, rows out)")                                           \
    X(SIMULATE, "simulate")                                                                        \
    X(BOARD, "board")                                                                              \
    X(MOVE, "move")                                                                                \
    X(TROUBLE, "trouble")                                                                          \
    X(KNOW, "know your arm")                                                                       \
    X(CODE, "code and pages")

typedef enum {
#define X(name, title) TASK_##name,
    TASK_TABLE(X)
#undef X
        TASK_COUNT
} task_t;

typedef struct command {
    task_t task;
    const char *name;
    /*
     * The arguments as the synopsis shows them. Words in capitals are placeholders that completion
     * knows (ROBOT, FILE, ROWS, NAME of a parameter, COMMAND, FAULT); words in lower case are typed
     * literally.
     */
    const char *arguments;
    int arguments_least, arguments_most;
    const option_id_t *options; /* OPTIONS(...) */
    const char *summary;        /* one line for the list of commands */
    const char *text;           /* paragraphs, separated by empty lines; wrapped when printed */
    const char *example;        /* command lines and their output, printed verbatim */
    int problem;                /* the problem_t of a command that computes rows, else -1 */
    int (*run)(const request_t *request);
} command_t;

/* Help of an option for the commands with this `run`, instead of the text in OPTION_TABLE. */
typedef struct {
    int (*run)(const request_t *request);
    option_id_t option;
    const char *help;
} option_help_t;

/* The list ends with an entry without `run`. */
extern const option_help_t option_help_table[];
/* Writes the part of a usage line after the command's name, such as "[OPTIONS] ROBOT". */
const char *command_synopsis(const command_t *command, char *out, size_t size);
const char *command_option_help(const command_t *command, option_id_t option);

/* The list ends with a command without a name. */
extern const command_t command_table[];
const command_t *command_find(const char *name);
bool command_takes(const command_t *command, option_id_t option);
/* Like command_takes, but false for --method if there is only one method. */
bool command_lists(const command_t *command, option_id_t option);
/* Prints that there is no such command, and the most similar name. Returns EXIT_BAD. */
int command_unknown(const char *name);

/* Returns 0, or EXIT_BAD after printing what is wrong. argv begins with the name of the command. */
int command_parse(const command_t *command, int argc, char **argv, request_t *request);

bool request_has(const request_t *request, option_id_t option);
bool request_has_any(const request_t *request, const option_id_t *options);
/* Reads numbers separated by commas or blanks. Returns 0, or EXIT_BAD after printing what is
 * wrong. */
int request_list(const request_t *request, option_id_t option, double *value, size_t least,
                 size_t most, size_t *count);
int request_integer(const request_t *request, option_id_t option, long least, long most,
                    long *value);

/* Implemented in tools/cli/help.c. */
int help_run(const request_t *request);
int man_run(const request_t *request);
void help_command(const command_t *command);
void help_all(void);

#endif
