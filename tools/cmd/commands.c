/* The table of commands. */
#include "tools/cmd/commands.h"

#include "firmware/lab/methods.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"

/* Options of commands that need geometry only, of those that compute with masses, and of those that
 * compute rows. */
#define PLACES  ARM_OPTIONS, OPTION_RIGID, OPTION_LINEAR, OPTION_JSON
#define COMPUTE PLACES, OPTION_GRAVITY, OPTION_PAYLOAD
#define ROWS    OPTION_METHOD, OPTION_REAL, OPTION_PORT

const option_help_t option_help_table[] = {
    {cmd_compute, OPTION_PORT,
     "a board, whose own kernel then computes the rows; ROBOT is loaded into it for that only. A "
     "serial device (/dev/ttyACM0, @BAUD behind it where it is not 921600), tcp:HOST:PORT, "
     "unix:PATH, or qemu:BOARD, which starts an emulator"},
    {cmd_check, OPTION_QUIET, "no notes; warnings stay"},
    {cmd_ik, OPTION_START,
     "joint positions to start from; default: the middle of the limits, 0 where there are none"},
    {cmd_ik, OPTION_SEED, "of the random starts; default 1"},
    {cmd_sim, OPTION_OUTPUT, "rows of the motion as CSV, into this file"},
    {cmd_run, OPTION_PORT,
     "the board; default qemu:netduinoplus2, an emulator. A serial device (/dev/ttyACM0, @BAUD "
     "behind it where it is not 921600), tcp:HOST:PORT, unix:PATH, or qemu:BOARD"},
    {cmd_run, OPTION_DURATION,
     "with --to: how long the way takes; default: as fast as the limits allow"},
    {cmd_run, OPTION_OUTPUT, "rows of each motion into this folder"},
    {cmd_scale, OPTION_SEED, "of the random states of --verify; default 1"},
    {cmd_gen, OPTION_REAL,
     "number type of the code: f32 (default), f64, or q31 for a core without an FPU (the robot "
     "needs limits of velocity and acceleration then)"},
    {cmd_gen, OPTION_OUTPUT, "the folder that the files go into"},
    {cmd_monitor, OPTION_DURATION, "so much of the board's time; default: until control-C"},
    {cmd_monitor, OPTION_TIMES, "how many samples; default: until control-C"},
    {cmd_monitor, OPTION_OUTPUT, "samples as CSV, into this file; - is standard output"},
    {cmd_faults, OPTION_OUTPUT, "rows of each motion into this folder"},
    {cmd_inspect, OPTION_TOLERANCE,
     "by how much of its torque limit a joint's torques may differ from the model; default 0.02"},
    {cmd_selftest, OPTION_METHOD, "which kernel computes there: see `appell help id`"},
    {cmd_selftest, OPTION_REAL,
     "number type that the board computes in; default: that of its control loop"},
    {cmd_selftest, OPTION_TIMES, "how many states; default 100"},
    {cmd_selftest, OPTION_SEED, "of the random states; default 1"},
    {cmd_torture, OPTION_TIMES, "how many times, each with other torn bits; default 1"},
    {0}};

const command_t command_table[] = {
    {"info", "ROBOT", 1, 1, OPTIONS(ARM_OPTIONS, OPTION_JSON), "what was understood of a robot",
     "Joints, masses, limits and drives as the kernels get them, the memory of the prepared "
     "constants and of each kernel's scratch, operation counts, and an estimate of what a kernel "
     "takes of a control tick.",
     "$ appell info puma560\n"
     "$ appell info --json --tip tool0 ur5.urdf",
     -1, cmd_info},
    {"check", "ROBOT", 1, 1, OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_JSON),
     "the import doctor: what is wrong or suspicious, where, and the cure",
     "Missing or impossible masses and inertias, limits that are missing or contradict themselves, "
     "frames, names, units that look like millimetres or degrees, drives too weak to hold the arm. "
     "Errors are what cannot be computed with: then the exit code is 1. Warnings leave it at 0.",
     "$ appell check puma560\n"
     "$ appell check --json arm.urdf",
     -1, cmd_check},
    {"id", "ROBOT [ROWS]", 1, 2,
     OPTIONS(COMPUTE, ROWS, OPTION_WRENCH, OPTION_NO_FRICTION, OPTION_NO_ROTOR, OPTION_STATIC),
     "inverse dynamics: rows q qd qdd to rows tau",
     "The torque (force where a joint is prismatic) that each joint must deliver for the motion. "
     "Rotors "
     "and friction are included where the file has them.\n\n"
     "An arm with elastic links has the coordinates Theta: q1, the amplitudes of the modes of link "
     "1, q2, those of link 2, and so on. A row is then Theta Thetad qdd, and the answer the "
     "torques of the joints followed by the accelerations of the modes; with --static a row is q "
     "qd qdd, and the answer the torques followed by the deflections that the motion holds.",
     "$ echo 0 0 0  0 0 0  1 0 0 | appell id planar3r\n"
     "$ appell id puma560 --method ne --real f32 motion.txt > torques.txt\n"
     "$ appell id puma560 --wrench 0,0,-10,0,0,0 --no-friction motion.txt",
     PROBLEM_ID, cmd_compute},
    {"mass", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS, OPTION_NO_ROTOR),
     "inertia matrix: rows q to rows of M, row by row",
     "n x n numbers a row. The inertia of the rotors stands on the diagonal where the file has it. "
     "With elastic links rows are Theta, see `appell help id`.",
     "$ echo 0 0.5 1 | appell mass planar3r", PROBLEM_MASS, cmd_compute},
    {"fd", "ROBOT [ROWS]", 1, 2,
     OPTIONS(COMPUTE, ROWS, OPTION_WRENCH, OPTION_NO_FRICTION, OPTION_NO_ROTOR),
     "forward dynamics: rows q qd tau to rows qdd",
     "The acceleration of each joint under the torques. Rotors and friction are included where the "
     "file has them. With elastic links rows Theta Thetad tau (torques of the joints only) give "
     "rows Thetadd, see `appell help id`.",
     "$ echo 0 0 0  0 0 0  1 0 0 | appell fd planar3r --method aba", PROBLEM_FD, cmd_compute},
    {"bias", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS, OPTION_WRENCH),
     "torques at zero acceleration: rows q qd to rows tau",
     "Gravity, Coriolis and centrifugal torques, and the wrench; no friction. With elastic links "
     "rows Theta Thetad, and their stiffness and damping are in it.",
     "$ echo 0 0 0  1 1 1 | appell bias planar3r\n"
     "$ echo -1 0.01 0.5 0  0 0 0 0 | appell bias flex2",
     PROBLEM_BIAS, cmd_compute},
    {"gravity", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS), "gravity torques: rows q to rows tau",
     "The torques that hold the arm at rest. With a wrench: `appell bias` with zero velocities.",
     "$ echo 0 0 0 | appell gravity planar3r\n"
     "$ echo 0 0 0 | appell gravity planar3r --gravity 0,0,-1.62",
     PROBLEM_GRAVITY, cmd_compute},
    {"coriolis", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS),
     "Coriolis and centrifugal matrix: rows q qd to rows of C, row by row",
     "n x n numbers a row. C qd are the Coriolis and centrifugal torques, and dM/dt - 2 C is "
     "skew-symmetric.",
     "$ echo 0 0.5 1  1 1 1 | appell coriolis planar3r", PROBLEM_CORIOLIS, cmd_compute},
    {"fk", "ROBOT [ROWS]", 1, 2, OPTIONS(PLACES, ROWS),
     "forward kinematics: rows q to rows of the end effector's pose",
     "Twelve numbers a row: the 3 x 4 matrix [R p] of the end effector in the world, row by row.",
     "$ echo 0 0 0 | appell fk planar3r", PROBLEM_FK, cmd_compute},
    {"jacobian", "ROBOT [ROWS]", 1, 2, OPTIONS(PLACES, ROWS),
     "Jacobian of the end effector: rows q to rows of J, row by row",
     "6 x n numbers a row: velocity of the end effector's origin, then angular velocity, on the "
     "axes of "
     "the world, for each joint speed.",
     "$ echo 0 0 0 | appell jacobian planar3r", PROBLEM_JACOBIAN, cmd_compute},
    {"volt", "ROBOT [ROWS]", 1, 2, OPTIONS(PLACES, ROWS),
     "motor voltages: rows qd tau to rows of volts",
     "V = R tau / (N Kt) + Kt N qd, with tau at the joint as `appell id` gives it, limited to the "
     "supply of the motor; joints and rows that were limited are counted in a note.",
     "$ echo 0.1 0 0 0 0 0  10 20 5 1 1 1 | appell volt puma560", PROBLEM_VOLT, cmd_compute},
    {"ik", "ROBOT [ROWS]", 1, 2,
     OPTIONS(ARM_OPTIONS, OPTION_RIGID, OPTION_START, OPTION_RESTARTS, OPTION_SEED, OPTION_JSON),
     "inverse kinematics: rows x y z roll pitch yaw of the end effector to rows q",
     "Damped least squares from --start, within the limits of the joints; where that fails, from "
     "random positions. Joints without limits end within half a turn of the start. The angles turn "
     "the end effector by Rz(yaw) Ry(pitch) Rx(roll). The pose is met to 1e-9. A pose that is not "
     "reached "
     "is an error with the distance that is left, a comment in the output (null with --json), and "
     "makes the exit code 1; the other rows are computed.",
     "$ echo 0.4 0.2 0.3  0 1.5 0 | appell ik puma560\n"
     "$ appell ik puma560 --start 0,0.8,0,0,0,0 poses.txt | appell fk puma560",
     -1, cmd_ik},
    {"sim", "ROBOT", 1, 1,
     OPTIONS(COMPUTE, OPTION_METHOD, OPTION_WRENCH, OPTION_NO_FRICTION, OPTION_NO_ROTOR,
             OPTION_START, OPTION_SPEED, OPTION_DURATION, OPTION_INTEGRATOR, OPTION_STEP,
             OPTION_TOLERANCE, OPTION_PERIOD, OPTION_SAMPLE, OPTION_TORQUE, OPTION_VOLTAGE,
             OPTION_MOTION, OPTION_MOVE, OPTION_VOLTS, OPTION_STOPS, OPTION_SCRIPT, OPTION_PLOT,
             OPTION_ANIMATE, OPTION_BENT, OPTION_CONTROLLER, OPTION_OUTPUT),
     "the simulator: by options, by a script, or interactive",
     "With options, the motion of the arm over --duration under torques, voltages, the torques of "
     "a motion, or nothing (free fall). A summary with the energy balance is printed; --output "
     "(rows as CSV), --plot and --animate keep the motion. --wrench may be a file of rows `t fx fy "
     "fz nx ny nz`. control-C ends a run and keeps what was computed.\n\nWithout such options, the "
     "interactive program of Swartz (1982): `help` lists its variables and commands. It takes the "
     "same lines from --script or from standard input; then the first error ends it.\n\n"
     "An arm with elastic links has more coordinates than joints (`appell help id`). --start and "
     "--speed are of the joints, then the links begin as they hang at rest, or of all coordinates; "
     "motions are of the joints.",
     "$ appell sim puma560 --no-friction --duration 10 -i rk45 --tolerance 1e-10 --plot fall.png\n"
     "$ appell sim stanford --start 0,1.5708,0,0,0,0 --duration 2 --animate fall.html -o fall.csv\n"
     "$ appell sim puma560 --move 1,1,-1,0,1,0 --duration 2 --volts --period 0.001 --stops\n"
     "$ appell sim flex2 --start=-1.5708,0,0.0873,0 --duration 2 -i rk45 --bent bent.png\n"
     "$ appell sim puma560 --move 1,1,-1,0,1,0 --duration 3 --controller firmware\n"
     "$ appell sim cmu-dd",
     PROBLEM_FD, cmd_sim},
    {"run", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_PORT, OPTION_TO, OPTION_PROFILE, OPTION_REPEAT, OPTION_SET,
             OPTION_GENERATED, OPTION_DURATION, OPTION_OUTPUT),
     "motions on a board: tracking errors, what a tick costs, rows, a picture",
     "The robot is loaded into the board until its next reset. With --to the arm moves there from "
     "where it is, with the controller that the board is set to; without --duration as fast as its "
     "limits allow. Rows and the picture go to the folder --output, by default appell-run.\n\n"
     "Without --to controllers are compared on the simulated arm beside the loop: PD (critically "
     "damped at 5 Hz), PD with gravity, and full feedforward, with exact masses and with an arm "
     "that is 10 % heavier than its model; for the PUMA 560 along the straight line of Mata et al. "
     "(2002), for every robot in a cycloid near its limits. A board with f32 must give the same "
     "bits as this program: else, or with an overrun, the exit code is 1.",
     "$ appell run puma560 --port qemu:netduinoplus2 -o build/run\n"
     "$ appell run puma560 --port /dev/ttyACM0 --to 0,0.8,-1.6,0,0,0 --profile cycloid --duration "
     "3",
     -1, cmd_run},
    {"ops", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_RIGID, OPTION_EFFORT, OPTION_CSV, OPTION_JSON),
     "operation counts of every kernel, general and generated, beside the papers'",
     "Multiplications and additions of one call for this robot's joints, counted by running the "
     "kernels themselves; of generated code (method gen) by counting its graph.",
     "$ appell ops puma560\n"
     "$ appell ops --csv puma560 | grep ^id,",
     -1, cmd_ops},
    {"scale", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_RIGID, OPTION_PAYLOAD, OPTION_VERIFY, OPTION_SEED,
             OPTION_JSON),
     "the proof and the scales for q31, fixed point on a board without an FPU",
     "From the limits of the joints, a guaranteed bound on every intermediate of inverse dynamics, "
     "bias, gravity and inertia matrix (nothing is sampled), the units that use the bits best, "
     "where least room is left, and a guaranteed bound on the error of each torque. An arm that "
     "does not fit makes the exit code 1 and is told what overflows and what to change. The "
     "scaled constants travel in the robot image. Forward dynamics has pivots and is not "
     "proved.\n"
     "\n"
     "--verify computes the same in the checked variant of q31; an overflow, a value outside of "
     "its bound or an error above the guaranteed one make the exit code 1.",
     "$ appell scale puma560\n"
     "$ appell scale puma560 --verify 1000000\n"
     "$ appell scale ur5.urdf --limits 3,10 --json",
     -1, cmd_scale},
    {"gen", "ROBOT -o DIR", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_PAYLOAD, OPTION_RIGID, OPTION_NO_ROTOR,
             OPTION_REAL, OPTION_STRATEGY, OPTION_EFFORT, OPTION_KEEP, OPTION_PREFIX, OPTION_BASE,
             OPTION_NO_BASE, OPTION_FRICTION, OPTION_OUTPUT),
     "straight-line C for one robot: DIR/ROBOT.c, .h and its base parameters",
     "Inverse dynamics, inertia matrix, bias, gravity, forward dynamics, forward kinematics and "
     "Jacobian, with all constants of the robot folded in: one header, one source, nothing needed "
     "but <math.h>, and a self-test. The links are regrouped to base parameters first "
     "(DIR/ROBOT_base.csv), parallel axes become sums of angles, and an annealer rewrites the "
     "expressions for fewer operations. The same command always gives the same bytes. In q31 every "
     "value has an exponent that is proved for the limits of the robot.",
     "$ appell gen puma560 -o puma\n"
     "$ appell gen puma560 --real q31 -o puma\n"
     "$ appell gen arm.urdf --keep payload,gravity --effort 100 -o arm",
     -1, cmd_gen},
    {"image", "ROBOT -o FILE | --show IMAGE", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_RIGID, OPTION_OUTPUT, OPTION_SHOW),
     "the robot image of a robot, and an image as robot file",
     "The image is what a board gets: the arm, motors, limits, encoders, gains and rate in single "
     "precision (firmware/params/image.h has the layout). The same robot always gives the same "
     "bytes, and what --show prints gives the identical image. An image can stand wherever a "
     "ROBOT can.",
     "$ appell image puma560 -o puma560.img\n"
     "$ appell image --show puma560.img > copy.yaml\n"
     "$ appell id puma560.img < motion.txt",
     -1, cmd_image},
    {"parts", "FILE", 1, 1, OPTIONS(OPTION_QUIET, OPTION_HELP, OPTION_OUTPUT, OPTION_PARALLEL),
     "a parts database as robot file",
     "Sections of cylinder, semi-cylinder, cone, sphere, box and tube with density and pose make "
     "parts, parts make links: their mass, centre and inertia go into the robot file.",
     "$ appell parts tools/robots/cmu-dd.yaml -o arm.yaml", -1, cmd_parts},
    {"params", "apply ROBOT | save", 1, 2,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_GRAVITY, OPTION_DRY_RUN),
     "the parameters of a board: apply until the next reset, or make persistent",
     "apply shows what changes, stops the arm and switches the outputs off, sends the image, reads "
     "back what runs and verifies it. save stores what runs, parameters and the choice of "
     "telemetry "
     "included, in the spare slot of the board's store, and reads it back; the set before stays "
     "until then. Where anything is refused or comes back wrong, what was there before is put "
     "back: the image that ran, the one that was stored, and the parameters.",
     "$ appell params apply puma560 --port /dev/ttyACM0\n"
     "$ appell params apply arm.yaml --port /dev/ttyACM0 --dry-run\n"
     "$ appell params save --port /dev/ttyACM0",
     -1, cmd_params},
    {"flash", "ROBOT", 1, 1, OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_GRAVITY, OPTION_DRY_RUN),
     "apply parameters to a board and save them",
     "`appell params apply` and `appell params save` in one. The firmware itself goes through "
     "`make flash`.",
     "$ appell flash puma560 --port /dev/ttyACM0", -1, cmd_flash},
    {"get", "[NAME]", 0, 1, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "parameters of a board: value, unit, range, help, and whether it is saved",
     "All of them, or the one of this name: kp is every joint's, kp[elbow] or kp[3] one joint's. "
     "telemetry is what `appell monitor` was told to show, which is saved with them.",
     "$ appell get --port /dev/ttyACM0\n"
     "$ appell get kp[elbow] --port /dev/ttyACM0",
     -1, cmd_get},
    {"set", "NAME VALUE", 2, 2, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "change a parameter of a board, until the next reset or `appell save`",
     "Takes effect between two ticks. A value outside of its range is refused.",
     "$ appell set observer_hz 150 --port /dev/ttyACM0\n"
     "$ appell set kp[elbow] 800 --port /dev/ttyACM0",
     -1, cmd_set},
    {"save", "", 0, 0, OPTIONS(BOARD_OPTIONS), "make what runs on a board persistent",
     "The same as `appell params save`.", "$ appell save --port /dev/ttyACM0", -1, cmd_save},
    {"monitor", "", 0, 0,
     OPTIONS(BOARD_OPTIONS, OPTION_FIELDS, OPTION_EVERY, OPTION_TIMES, OPTION_DURATION,
             OPTION_OUTPUT, OPTION_PLOT, OPTION_TELEPLOT, OPTION_PLOTJUGGLER),
     "watch a board: live table, CSV, plots, Teleplot, PlotJuggler",
     "On a terminal a table that is kept up to date; into a pipe or with --output CSV: tick, "
     "seconds, one column a value. --plot draws at the end. Control-C ends. Samples that the board "
     "or the line lost are counted. Plotting programs are served on this machine only.\n\n"
     "What --fields and --every choose stays the board's choice until it gets another robot or is "
     "reset; `appell get telemetry` tells it, `appell save` keeps it.",
     "$ appell monitor --port /dev/ttyACM0 --fields q,tau,volt\n"
     "$ appell monitor --port /dev/ttyACM0 --duration 5 --output run.csv --plot run.png\n"
     "$ appell monitor --port /dev/ttyACM0 --teleplot 47269",
     -1, cmd_monitor},
    {"faults", "[ROBOT]", 0, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_OUTPUT, OPTION_JSON),
     "what can go wrong on a board: numbers, names, causes, cures; or all of it on purpose",
     "Alone the table of faults and of the ways to stop an arm; with --port the fault that a board "
     "has latched, and exit code 1 where there is one. With ROBOT and --port the "
     "robot is loaded into the board, the simulated arm is put into the pose that gravity loads "
     "most, without brakes, and one fault after the other is provoked: what the user sees, which "
     "stop the board chose, how fast joints became and how far the end effector fell, beside "
     "bounds that "
     "follow from the model. Exit code 1 where something was not as expected. Rows of each motion "
     "go to the folder --output, by default appell-faults.",
     "$ appell faults\n"
     "$ appell faults --port /dev/ttyACM0\n"
     "$ appell faults puma560 --port qemu:netduinoplus2 -o build/faults",
     -1, cmd_faults},
    {"clear", "", 0, 0, OPTIONS(BOARD_OPTIONS), "clears the fault of a board",
     "Its cause should be gone: `appell faults --port P` says what it was. The board is idle then, "
     "or, where the loop holds an arm without brakes, goes on holding it.",
     "$ appell clear --port /dev/ttyACM0", -1, cmd_clear},
    {"home", "[ROBOT]", 0, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_AT, OPTION_JOINT, OPTION_SET,
             OPTION_JSON),
     "finds out where the joints are: at stops, at switches, or because somebody says so",
     "Joints whose parameter `home` is 1 or -1 go slowly against their upper or lower stop, those "
     "with 2 or -2 to a switch, the last joint first, one at a time, while the loop holds the "
     "others: there, back, and again at a quarter of the speed. home_position says where stop or "
     "switch is; home_speed and home_torque how fast, and how hard it presses beyond what the "
     "model says. Until then every other motion is refused, and limits of the position count from "
     "then on.\n\n"
     "Absolute encoders need nothing of that: put the arm where you know it is, and --at Q1,Q2,... "
     "sets encoder_offset; `appell save` keeps it. With ROBOT the robot is loaded first. Exit code "
     "1 where a joint found nothing.",
     "$ appell home --port /dev/ttyACM0\n"
     "$ appell home puma560 -p qemu:netduinoplus2 --set "
     "home[waist]=-1,home_position[waist]=-2.8125\n"
     "$ appell home --port /dev/ttyACM0 --at 0,1.5708,-1.5708,0,0,0",
     -1, cmd_home},
    {"inspect", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_SET, OPTION_TOLERANCE, OPTION_JSON),
     "friction and payload: what the arm really takes, beside what its model says",
     "All joints go slowly to and fro at two speeds, and the torques that the controller had to "
     "command are held against the model of the robot, with the payload that the board was told: "
     "friction of each joint and the mass in the end effector that explain them, how far the "
     "torques are "
     "apart, and what to write instead. Where all masses times a factor explain them better than "
     "a payload, that is said. Exit code 1 where a joint's torques differ by more than "
     "--tolerance (0.02) of its torque limit.",
     "$ appell inspect puma560 --port /dev/ttyACM0\n"
     "$ appell inspect puma560 --port qemu:netduinoplus2 --set sim_friction=1.5",
     -1, cmd_inspect},
    {"certify", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_BOARD, OPTION_JSON),
     "whether the control loop of a robot fits on a board, and at which rates",
     "Cycles of the kernels as the bench predicts them for this arm, every stage of the tick as it "
     "is measured on the emulated --board (or on the board at --port), and the part of the core "
     "that the tick takes at usual rates, with a robot and with a simulated arm. Exit code 1 where "
     "the robot's own rate leaves less than a tenth of the time to the background.",
     "$ appell certify puma560 --board netduino2", -1, cmd_certify},
    {"dump", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_FIRMWARE, OPTION_LEAVE),
     "the record of a board's last crash, with the names of its firmware",
     "Cause, registers and stack of the crash before the last start. Addresses get their names "
     "from the firmware's ELF file if that is of the same build. The record is cleared unless "
     "--leave.",
     "$ appell dump --port /dev/ttyACM0", -1, cmd_dump},
    {"selftest", "[ROBOT]", 0, 1,
     OPTIONS(COMPUTE, OPTION_RIGID, OPTION_METHOD, OPTION_REAL, OPTION_PORT, OPTION_TIMES,
             OPTION_SEED, OPTION_NO_FRICTION, OPTION_NO_ROTOR),
     "random states on a board against double on this machine",
     "Inverse dynamics of random states within the limits, computed by the board's kernel and in "
     "double here: the worst error, by the largest result, and what a call costs there. Exit code "
     "1 where the error is above 2e-5 (f32, q31) or 1e-6 (f64, whose parameters travel as "
     "singles). ROBOT is puma560 where none is given.",
     "$ appell selftest --port qemu:netduinoplus2\n"
     "$ appell selftest panda.urdf --port /dev/ttyACM0 --count 1000",
     -1, cmd_selftest},
    {"torture", "ROBOT", 1, 1, OPTIONS(ARM_OPTIONS, OPTION_TIMES),
     "power cuts at every flash operation of writing an image, in simulation",
     "Writes the image of the robot into the two slots of a simulated flash, with the power "
     "failing at each operation of it in turn, in the middle of a word or an erase, and looks "
     "whether the old or the new set is there afterwards. --count repeats it with other torn bits.",
     "$ appell torture puma560", -1, cmd_torture},
    {"help", "[COMMAND]", 0, 1, OPTIONS(OPTION_HELP), "this list, or more about one command",
     "Without a command the list of all.", "$ appell help id", -1, help_run},
    {"man", "", 0, 0, OPTIONS(OPTION_HELP), "the manual page, as troff",
     "Everything of `appell help` on a page.", "$ appell man | man -l -", -1, man_run},
    {"completion", "bash", 1, 1, OPTIONS(OPTION_HELP),
     "completion of commands and options for the shell", "A script for the shell to source.",
     "$ source <(appell completion bash)", -1, completion_run},
    {0}};
