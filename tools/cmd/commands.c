/* The table of commands. A summary begins with a small letter and, unless it names a problem that
 * the command solves for rows, with a verb in the imperative. The help of an option that does
 * something begins with such a verb, too. Texts are sentences. */
#include "tools/cmd/commands.h"

#include "firmware/lab/methods.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"

/* Options of commands that compute positions only, of those that compute with masses, and of those
 * that read rows. */
#define PLACES  ARM_OPTIONS, OPTION_RIGID, OPTION_LINEAR, OPTION_JSON
#define COMPUTE PLACES, OPTION_GRAVITY, OPTION_PAYLOAD
#define ROWS    OPTION_METHOD, OPTION_EFFORT, OPTION_REAL, OPTION_PORT, OPTION_VERBOSE

#define PORTS                                                                                      \
    "A port is a serial device (/dev/ttyACM0; /dev/ttyACM0@BAUD if the rate is not 921600), "      \
    "tcp:HOST:PORT, unix:PATH, or qemu:BOARD, which starts an emulator"

const option_help_t option_help_table[] = {
    {cmd_compute, OPTION_PORT,
     "let this board compute the rows with its own kernel; ROBOT is loaded into the board for this "
     "command only. " PORTS},
    {cmd_compute, OPTION_EFFORT,
     "method gen: effort of the annealer that simplifies the generated code; default 10, 0 "
     "switches it off"},
    {cmd_check, OPTION_QUIET, "do not print notes; warnings are still printed"},
    {cmd_parts, OPTION_LIST,
     "print mass, centre of mass and inertia of each part and of each link; no robot file"},
    {cmd_ik, OPTION_START,
     "joint positions to start from; default: the middle of the limits, or 0 without limits"},
    {cmd_ik, OPTION_SEED, "seed of the random starts; default 1"},
    {cmd_sim, OPTION_OUTPUT, "write the motion into this file, as rows of CSV"},
    {cmd_demo, OPTION_PORT, "the board; default qemu:netduinoplus2, an emulator. " PORTS},
    {cmd_demo, OPTION_OUTPUT,
     "write CSV files and a picture into this folder; default appell-demo"},
    {cmd_scale, OPTION_SEED, "seed of the random states of --verify; default 1"},
    {cmd_ops, OPTION_EFFORT,
     "effort of the annealer that simplifies the generated code (method gen); default 0: no "
     "annealing (the default of `appell gen` is 10)"},
    {cmd_gen, OPTION_REAL,
     "number type of the code: f32 (default), f64, or q31 for a core without an FPU; q31 needs "
     "limits of velocity and acceleration, and of position for prismatic joints"},
    {cmd_gen, OPTION_OUTPUT, "write the files into this folder"},
    {cmd_symbolic, OPTION_OUTPUT, "write the formulas into this file; default: standard output"},
    {cmd_symbolic, OPTION_PREFIX, "prefix of the C function; default: the name of the robot"},
    {cmd_monitor, OPTION_DURATION,
     "stop after this time in s, on the clock of the board; default: run until control-C"},
    {cmd_monitor, OPTION_TIMES, "stop after this many samples; default: run until control-C"},
    {cmd_monitor, OPTION_OUTPUT, "write the samples into this file, as CSV; - is standard output"},
    {cmd_move, OPTION_DURATION,
     "duration of the motion in s; default: the shortest that the limits allow, divided by "
     "--speed"},
    {cmd_move, OPTION_SPEED,
     "part of the velocity limits, above 0 and at most 1; default 1. The accelerations are this "
     "part squared of their limits"},
    {cmd_jog, OPTION_SPEED,
     "part of the speed that limits and tool_speed allow, to begin with; default 0.2"},
    {cmd_release, OPTION_YES, "do not ask before the arm is released"},
    {cmd_emulate, OPTION_JOINT, "with --defect: the joint that has it; default: the first"},
    {cmd_faults, OPTION_OUTPUT,
     "write a CSV file of each motion into this folder; default appell-faults"},
    {cmd_inspect, OPTION_TOLERANCE,
     "how much the torques of a joint may differ from the model, as a fraction of its torque "
     "limit; default 0.02"},
    {cmd_selftest, OPTION_METHOD,
     "kernel that the board computes with; `appell help id` lists the kernels"},
    {cmd_selftest, OPTION_REAL,
     "number type that the board computes in; default: that of its control loop"},
    {cmd_selftest, OPTION_TIMES, "number of states; default 100"},
    {cmd_selftest, OPTION_SEED, "seed of the random states; default 1"},
    {cmd_silicon, OPTION_OUTPUT, "write the report into this file, and as text beside it (.txt)"},
    {cmd_silicon, OPTION_YES, "do not ask before the stored robots are erased"},
    {0}};

const command_t command_table[] = {
    /* ------------------------------------------------------------------------------------- robot */
    {TASK_ROBOT, "check", "ROBOT", 1, 1, OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_JSON),
     "find errors and suspicious values in a robot, and their cures",
     "Reports missing or impossible masses and inertias, missing or contradictory limits, wrong "
     "frames and names, numbers that look like millimetres or degrees, and drives too weak to hold "
     "the arm. If there is an error, no command can compute with the robot, and the exit code is "
     "1. With warnings only, the exit code is 0.",
     "$ appell check puma560\n"
     "$ appell check --json arm.urdf",
     -1, cmd_check},
    {TASK_ROBOT, "info", "ROBOT", 1, 1, OPTIONS(ARM_OPTIONS, OPTION_JSON),
     "show a robot as this program has read it",
     "Shows joints, masses, limits and drives as the kernels get them; the memory for the "
     "prepared constants; and, for each kernel, the scratch memory, the operation counts and the "
     "estimated part of a control tick.",
     "$ appell info puma560\n"
     "$ appell info --json --tip tool0 ur5.urdf",
     -1, cmd_info},
    {TASK_ROBOT, "parts", "FILE", 1, 1,
     OPTIONS(OPTION_QUIET, OPTION_HELP, OPTION_OUTPUT, OPTION_PARALLEL, OPTION_LIST, OPTION_JSON),
     "turn a parts database into a robot file, or list its parts",
     "A parts database builds each link from parts, and each part from sections (cylinder, "
     "semi-cylinder, cone, sphere, box, tube) with density and pose. The robot file gets the mass, "
     "the centre of mass and the inertia of each link. With --list the command prints them "
     "instead, of every part in its own frame and of every link in its link frame.",
     "$ appell parts tools/robots/cmu-dd.yaml -o arm.yaml\n"
     "$ appell parts cmu-dd --list",
     -1, cmd_parts},
    {TASK_ROBOT, "image", "ROBOT -o FILE | --show IMAGE", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_RIGID, OPTION_OUTPUT, OPTION_SHOW, OPTION_JSON),
     "make the robot image for a board, or show one as a robot file",
     "The robot image is what a board gets: the arm, motors, limits, encoders, gains and rate in "
     "single precision (layout: firmware/params/image.h). The same robot always gives the same "
     "bytes, and the robot file that --show prints gives the identical image. Wherever a command "
     "takes ROBOT, it also takes an image.",
     "$ appell image puma560 -o puma560.img\n"
     "$ appell image --show puma560.img > copy.yaml\n"
     "$ appell id puma560.img < motion.txt",
     -1, cmd_image},
    {TASK_ROBOT, "scale", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_RIGID, OPTION_PAYLOAD, OPTION_VERIFY, OPTION_SEED,
             OPTION_JSON),
     "prove that fixed point (q31) cannot overflow, and choose scales",
     "q31 is for a board without an FPU. From the limits of the joints the command derives a "
     "guaranteed bound on every intermediate value of inverse dynamics, bias, gravity and inertia "
     "matrix, without sampling. It prints the units that use the bits best, the intermediate value "
     "with the least headroom, and a guaranteed bound on the error of each torque. If the arm does "
     "not fit, the command prints what overflows and what to change, and the exit code is 1. The "
     "scaled constants are part of the robot image. Forward dynamics is not proved, because its "
     "pivots depend on the state.\n\n--verify computes random states in a checked variant of q31. "
     "The exit code is 1 if a sum overflows, a value is outside its bound, or an error is larger "
     "than its guaranteed bound.",
     "$ appell scale puma560\n"
     "$ appell scale puma560 --verify 1000000\n"
     "$ appell scale ur5.urdf --limits 3,10 --json",
     -1, cmd_scale},
    /* ----------------------------------------------------------------------------------- compute */
    {TASK_COMPUTE, "id", "ROBOT [ROWS]", 1, 2,
     OPTIONS(COMPUTE, ROWS, OPTION_WRENCH, OPTION_NO_FRICTION, OPTION_NO_ROTOR, OPTION_STATIC),
     "inverse dynamics: from rows q qd qdd to rows tau",
     "Computes the torque (for a prismatic joint: the force) that each joint must deliver for the "
     "motion. Rotors and friction are included if the robot has them.\n\nThe coordinates Theta of "
     "an arm with elastic links are, link by link, the position q of the joint and then the "
     "amplitudes of the modes of the link. A row is then Theta Thetad qdd; the answer is the "
     "torques of the joints followed by the accelerations of the modes. With --static a row is q "
     "qd qdd; the answer is the torques followed by the steady deflections of the links.",
     "$ echo 0 0 0  0 0 0  1 0 0 | appell id planar3r\n"
     "$ appell id puma560 --method ne --real f32 motion.txt > torques.txt\n"
     "$ appell id puma560 --wrench 0,0,-10,0,0,0 --no-friction motion.txt",
     PROBLEM_ID, cmd_compute},
    {TASK_COMPUTE, "fd", "ROBOT [ROWS]", 1, 2,
     OPTIONS(COMPUTE, ROWS, OPTION_WRENCH, OPTION_NO_FRICTION, OPTION_NO_ROTOR),
     "forward dynamics: from rows q qd tau to rows qdd",
     "Computes the acceleration of each joint under the torques. Rotors and friction are included "
     "if the robot has them.\n\nFor an arm with elastic links a row is Theta Thetad tau, where tau "
     "has one torque per joint and none for the modes; the answer is Thetadd. `appell help id` "
     "explains Theta.",
     "$ echo 0 0 0  0 0 0  1 0 0 | appell fd planar3r --method aba", PROBLEM_FD, cmd_compute},
    {TASK_COMPUTE, "mass", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS, OPTION_NO_ROTOR),
     "inertia matrix: from rows q to rows M in row-major order",
     "Each row of output has the n x n numbers of M. The diagonal includes the inertia of the "
     "rotors if the robot file gives it.\n\nFor an arm with elastic links a row of input is Theta, "
     "and n is the number of its coordinates. `appell help id` explains Theta.",
     "$ echo 0 0.5 1 | appell mass planar3r", PROBLEM_MASS, cmd_compute},
    {TASK_COMPUTE, "bias", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS, OPTION_WRENCH),
     "torques at zero acceleration: from rows q qd to rows tau",
     "The answer is the sum of the torques due to gravity, Coriolis and centrifugal forces and the "
     "wrench; friction is left out.\n\nFor an arm with elastic links a row is Theta Thetad, and "
     "the answer includes stiffness and damping. `appell help id` explains Theta.",
     "$ echo 0 0 0  1 1 1 | appell bias planar3r\n"
     "$ echo -1 0.01 0.5 0  0 0 0 0 | appell bias flex2",
     PROBLEM_BIAS, cmd_compute},
    {TASK_COMPUTE, "gravity", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS),
     "gravity torques: from rows q to rows tau",
     "The answer is the torques that keep the arm at rest. To include a wrench, use `appell bias` "
     "with zero velocities.\n\nFor an arm with elastic links a row is Theta, and the answer is the "
     "force on each coordinate that balances gravity, without stiffness. `appell help id` explains "
     "Theta.",
     "$ echo 0 0 0 | appell gravity planar3r\n"
     "$ echo 0 0 0 | appell gravity planar3r --gravity 0,0,-1.62",
     PROBLEM_GRAVITY, cmd_compute},
    {TASK_COMPUTE, "coriolis", "ROBOT [ROWS]", 1, 2, OPTIONS(COMPUTE, ROWS),
     "Coriolis matrix: from rows q qd to rows C in row-major order",
     "Each row of output has the n x n numbers of C. C qd are the Coriolis and centrifugal "
     "torques, and dM/dt - 2 C is skew-symmetric.",
     "$ echo 0 0.5 1  1 1 1 | appell coriolis planar3r", PROBLEM_CORIOLIS, cmd_compute},
    {TASK_COMPUTE, "factor", "ROBOT [ROWS]", 1, 2,
     OPTIONS(ARM_OPTIONS, OPTION_RIGID, OPTION_PAYLOAD, OPTION_NO_ROTOR, OPTION_JSON),
     "factors of the inertia matrix: from rows q to U and D",
     "M = U D U^T, as in Saha (1999), section 5.2 and appendix B: U is upper triangular with a "
     "diagonal of ones, D is diagonal. d_i is what joint i feels of link i and all that follows if "
     "the joints after it are free, the rotor included. The articulated inertia of a link is the 6 "
     "x 6 matrix for that body, without the rotor. It maps the angular acceleration and the "
     "acceleration of the origin of the link frame to the moment about this origin and the force, "
     "on the axes of the frame, which are those of modified Denavit-Hartenberg; the paper has the "
     "centre of mass in place of the origin, which changes neither U nor D.\n\nAll numbers are "
     "intermediate results of forward dynamics by the method denoc. The command compares U D U^T "
     "with the M of `appell mass`; the exit code is 1 if they differ by more than rounding "
     "explains.",
     "$ echo 0 0.5 1 | appell factor planar3r\n"
     "$ appell factor puma560 --json states.txt",
     -1, cmd_factor},
    {TASK_COMPUTE, "fk", "ROBOT [ROWS]", 1, 2, OPTIONS(PLACES, ROWS),
     "forward kinematics: from rows q to poses of the tool frame",
     "Each row of output has twelve numbers: the 3 x 4 matrix [R p] of the tool frame in the "
     "world, in row-major order.",
     "$ echo 0 0 0 | appell fk planar3r", PROBLEM_FK, cmd_compute},
    {TASK_COMPUTE, "jacobian", "ROBOT [ROWS]", 1, 2, OPTIONS(PLACES, ROWS),
     "end-effector Jacobian: from rows q to rows J in row-major order",
     "Each row of output has the 6 x n numbers of J. J qd is the velocity of the origin of the "
     "tool frame, followed by its angular velocity, both in the world frame.",
     "$ echo 0 0 0 | appell jacobian planar3r", PROBLEM_JACOBIAN, cmd_compute},
    {TASK_COMPUTE, "ik", "ROBOT [ROWS]", 1, 2,
     OPTIONS(ARM_OPTIONS, OPTION_RIGID, OPTION_START, OPTION_RESTARTS, OPTION_SEED, OPTION_JSON),
     "inverse kinematics: from rows x y z roll pitch yaw to rows q",
     "Solves for the pose of the tool frame by damped least squares, from --start and within the "
     "limits of the joints; if that fails, from random positions. Joints without limits end within "
     "half a turn of the start. The angles mean the rotation Rz(yaw) Ry(pitch) Rx(roll). The "
     "solution meets the pose to 1e-9 m and rad. For a pose that is not reached the command prints "
     "an error with the remaining distance and writes a comment into the output (null with "
     "--json). The other rows are computed, and the exit code is 1.",
     "$ echo 0.4 0.2 0.3  0 1.5 0 | appell ik puma560\n"
     "$ appell ik puma560 --start 0,0.8,0,0,0,0 poses.txt | appell fk puma560",
     -1, cmd_ik},
    {TASK_COMPUTE, "volt", "ROBOT [ROWS]", 1, 2, OPTIONS(PLACES, ROWS),
     "motor voltages: from rows qd tau to rows of volts",
     "V = R tau / (N Kt) + Kt N qd, limited to the supply voltage; tau is at the joint, as "
     "`appell id` gives it. A note for each limited joint counts the rows.",
     "$ echo 0.1 0 0 0 0 0  10 20 5 1 1 1 | appell volt puma560", PROBLEM_VOLT, cmd_compute},
    {TASK_COMPUTE, "ops", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_RIGID, OPTION_EFFORT, OPTION_CSV, OPTION_JSON),
     "count the operations of every kernel, and compare with the papers",
     "Prints the multiplications and additions of one call for the joints of this robot. The "
     "operations of general kernels are counted while they run, those of generated code (method "
     "gen) in its expression graph.",
     "$ appell ops puma560\n"
     "$ appell ops --csv puma560 | grep ^id,",
     -1, cmd_ops},
    /* ---------------------------------------------------------------------------------- simulate */
    {TASK_SIMULATE, "sim", "ROBOT", 1, 1,
     OPTIONS(COMPUTE, OPTION_METHOD, OPTION_WRENCH, OPTION_NO_FRICTION, OPTION_NO_ROTOR,
             OPTION_START, OPTION_SPEED, OPTION_DURATION, OPTION_INTEGRATOR, OPTION_STEP,
             OPTION_TOLERANCE, OPTION_PERIOD, OPTION_SAMPLE, OPTION_TORQUE, OPTION_VOLTAGE,
             OPTION_MOTION, OPTION_MOVE, OPTION_VOLTS, OPTION_STOPS, OPTION_SCRIPT, OPTION_PLOT,
             OPTION_ANIMATE, OPTION_BENT, OPTION_CONTROLLER, OPTION_OUTPUT),
     "simulate a motion, with options, with a script, or interactively",
     "With options the command simulates the arm over --duration, under given torques or voltages, "
     "under the torques that a motion needs, or in free fall. It prints a summary with the energy "
     "balance; --output (rows of CSV), --plot and --animate keep the motion. --wrench may be a "
     "file of rows `t fx fy fz nx ny nz`. Control-C ends a run and keeps the results until "
     "then.\n\nWithout these options the command starts the interactive program of Swartz (1982), "
     "whose `help` lists its variables and commands. The program can also read its lines from "
     "--script or from standard input; it then ends at the first error.\n\nAn arm with elastic "
     "links has more coordinates than joints (`appell help id`). --start and --speed give either "
     "all coordinates or only the joints. If --start does not give all coordinates, the links "
     "start with their deflection at rest. Motions are given for the joints only.",
     "$ appell sim puma560 --no-friction --duration 10 -i rk45 --plot fall.png\n"
     "$ appell sim stanford --start 0,1.5708,0,0,0,0 --duration 2 -o fall.csv\n"
     "$ appell sim puma560 --move 1,1,-1,0,1,0 --duration 2 --volts --stops\n"
     "$ appell sim flex2 --start=-1.5708,0,0.0873,0 --duration 2 --bent bent.png\n"
     "$ appell sim planar3r --duration 2 --animate fall.html\n"
     "$ appell sim puma560 --move 1,1,-1,0,1,0 --duration 3 --controller firmware\n"
     "$ appell sim cmu-dd",
     PROBLEM_FD, cmd_sim},
    /* ------------------------------------------------------------------------------------- board */
    {TASK_BOARD, "emulate", "[BOARD]", 0, 1,
     OPTIONS(ARM_OPTIONS, OPTION_PORT, OPTION_ROBOT, OPTION_NAME, OPTION_DETACH, OPTION_LIST,
             OPTION_STOP, OPTION_RESET, OPTION_POWER_CYCLE, OPTION_CRASH, OPTION_PRESS_ESTOP,
             OPTION_RELEASE_ESTOP, OPTION_DEFECT, OPTION_JOINT, OPTION_PRODUCT, OPTION_ERASE,
             OPTION_FLASH, OPTION_JSON),
     "run a virtual board that stays, or do something to one",
     "Starts the firmware of BOARD in an emulator that runs in real time and stays until it is "
     "ended: with control-C, or after --detach with --stop. Every command that takes --port finds "
     "it by itself while it is the only one, and several commands can use it at the same time. "
     "What is saved stays in a file, over resets and over the end of the virtual board. It runs "
     "the laboratory firmware, so that defects can be tried.\n\nThe other options do something to "
     "a virtual board that runs already; BOARD is then its name, and can be left out if it is the "
     "only one.",
     "$ appell emulate netduinoplus2 --robot puma560 --detach\n"
     "$ appell status\n"
     "$ appell emulate --press-estop\n"
     "$ appell emulate --power-cycle\n"
     "$ appell emulate --stop",
     -1, cmd_emulate},
    {TASK_BOARD, "status", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_WATCH, OPTION_JSON),
     "show what a board and its arm do, and whether a real arm may move",
     "Prints the state, the fault with its cure, the robot and its joints that must still be "
     "homed, "
     "the mode, the supply, how hot the motors are by their model, the cost of a tick, who has the "
     "lease of the arm, every guard that is weaker than its default or overridden, the e-stop, the "
     "outputs and inputs of the board, and every part in which robot and hardware do not fit, each "
     "with its cure. While there is such a part, the board refuses the real arm (`arm` 1). With "
     "--watch a line of state follows until control-C. The exit code is 1 if there is a fault, or "
     "if the real arm is chosen and does not fit. Appell is not safety-rated.",
     "$ appell status\n"
     "$ appell status --port /dev/ttyACM0 --json\n"
     "$ appell status --watch",
     -1, cmd_status},
    {TASK_BOARD, "flash", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_GRAVITY, OPTION_DRY_RUN, OPTION_NO_SAVE,
             OPTION_JSON),
     "write a robot into a board and keep it over resets",
     "Shows what changes, stops the arm and switches the outputs off, sends the robot image, reads "
     "the image back and verifies it. Then saves it with the parameters and the choice of "
     "telemetry, as `appell save` does. The robot sets the parameters that it has, such as gains "
     "and encoder offsets; the others stay. Joints that have to be homed must be homed again. If "
     "the board refuses something, or if the bytes that it returns are wrong, the command restores "
     "the image that ran, the stored image, and the parameters. `make flash` writes the firmware "
     "itself.",
     "$ appell flash puma560 --port /dev/ttyACM0\n"
     "$ appell flash arm.yaml --dry-run\n"
     "$ appell flash arm.yaml --no-save",
     -1, cmd_flash},
    {TASK_BOARD, "get", "[NAME]", 0, 1, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "show parameters of a board: value, unit, range, help, saved or not",
     "Shows all parameters, or the one that is called NAME. Some parameters, such as kp, have a "
     "value for each joint: `appell get kp` shows all values, kp[elbow] or kp[3] that of one "
     "joint. `appell get telemetry` shows the choice of fields for `appell monitor`, which is "
     "saved with the parameters.",
     "$ appell get --port /dev/ttyACM0\n"
     "$ appell get kp[elbow] --port /dev/ttyACM0",
     -1, cmd_get},
    {TASK_BOARD, "set", "NAME VALUE", 2, 2, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "set a parameter of a board until its next reset",
     "The value takes effect between two ticks. The board refuses a value outside its range. It "
     "also refuses the real arm (`arm` 1) as long as robot and hardware do not fit; the command "
     "then prints every part that does not fit, with its cure. `appell save` keeps the value over "
     "resets.",
     "$ appell set observer_hz 150 --port /dev/ttyACM0\n"
     "$ appell set kp[elbow] 800 --port /dev/ttyACM0\n"
     "$ appell set arm 1 --port /dev/ttyACM0",
     -1, cmd_set},
    {TASK_BOARD, "save", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "save the robot and parameters of a board, so that resets keep them",
     "Stops the arm and switches the outputs off, writes what runs into the spare slot of the "
     "board's store, with the parameters and the choice of telemetry, and reads all of it back. "
     "Until then the board keeps the previous robot and parameters.",
     "$ appell save --port /dev/ttyACM0", -1, cmd_save},
    {TASK_BOARD, "config", "read | write FILE | diff FILE [FILE]", 1, 3,
     OPTIONS(BOARD_OPTIONS, OPTION_OUTPUT, OPTION_JSON),
     "keep the configuration of a board in a file, and restore it",
     "read writes robot image, parameters and choice of telemetry as text, for people and for "
     "version control; the values of parameters can be edited in it. write gives a configuration "
     "to the board of which it is, bit for bit: it checks every line first, prints a sentence for "
     "each difference that the board cannot take, and then changes nothing. It loads the robot, "
     "sets the parameters, reads everything back, and saves. If that fails, the board gets back "
     "what it had. The outputs must be off. diff prints how the board differs from the file, or "
     "how the first file differs from the second; the exit code is 1 if it does.",
     "$ appell config read -o arm.conf\n"
     "$ appell config diff arm.conf\n"
     "$ appell config write arm.conf",
     -1, cmd_config},
    {TASK_BOARD, "monitor", "", 0, 0,
     OPTIONS(BOARD_OPTIONS, OPTION_FIELDS, OPTION_EVERY, OPTION_TIMES, OPTION_DURATION,
             OPTION_OUTPUT, OPTION_JSON, OPTION_PLOT, OPTION_TELEPLOT, OPTION_PLOTJUGGLER),
     "watch a board: live table, CSV, plots, Teleplot, PlotJuggler",
     "On a terminal the command shows a live screen: state and fault, a row for each joint and a "
     "column for each field; the arrow and page keys turn pages. ! and yellow mark a value near "
     "its limit, # and red one at it. Control-X stops the arm, whatever was typed. The prompt "
     "takes "
     "set NAME VALUE, get NAME, move Q1,Q2,... (as fast as the limits allow), hold, stop, clear "
     "and quit. A motion that is under way when the command ends is stopped. Other commands can "
     "use the port at the same time.\n\nInto a pipe or with --output it writes CSV: tick, seconds, "
     "and one column for each value; with --json a JSON object per line. --plot draws at the end. "
     "Control-C ends the command. The command counts the samples that the board or the line lost. "
     "It sends samples to plotting programs on this machine only.\n\nA reset of the board or a "
     "pulled cable does not end the command: it says what happened, waits, and goes on. The ticks "
     "begin again after a reset; the seconds go on, with the clock of this machine over the "
     "gap.\n\nThe board keeps the choice of --fields and "
     "--every until it gets another robot or is reset. `appell get telemetry` shows the choice, "
     "`appell save` keeps it over resets.",
     "$ appell monitor --port /dev/ttyACM0 --fields q,tau,volt\n"
     "$ appell monitor --port /dev/ttyACM0 --duration 5 -o run.csv --plot run.png\n"
     "$ appell monitor --port /dev/ttyACM0 --teleplot 47269",
     -1, cmd_monitor},
    {TASK_BOARD, "selftest", "[ROBOT]", 0, 1,
     OPTIONS(COMPUTE, OPTION_RIGID, OPTION_METHOD, OPTION_REAL, OPTION_PORT, OPTION_VERBOSE,
             OPTION_TIMES, OPTION_SEED, OPTION_NO_FRICTION, OPTION_NO_ROTOR),
     "compare a board's kernel with double precision on this machine",
     "The board and this machine compute the inverse dynamics of random states within the limits. "
     "The command prints the worst error relative to the largest result, and the cost of a call on "
     "the board. The exit code is 1 if the error is above 2e-5 (f32, q31) or 1e-6 (f64, because "
     "the robot image is in single precision). The default ROBOT is puma560.",
     "$ appell selftest --port qemu:netduinoplus2\n"
     "$ appell selftest panda.urdf --port /dev/ttyACM0 --count 1000",
     -1, cmd_selftest},
    {TASK_BOARD, "silicon", "[compare FILE...]", 0, ARGUMENTS_MAX,
     OPTIONS(BOARD_OPTIONS, OPTION_YES, OPTION_OUTPUT, OPTION_JSON),
     "test the chip of a bare board with the self-test image",
     "`make silicon BOARD=x PORT=P` writes the self-test image into the board and runs this "
     "command. Nothing may be connected to the board but its cable. The test measures the "
     "oscillators and the watchdog, reads back what it drives at the pins, exchanges bytes at the "
     "full rate, erases and writes the two slots of the store, causes crashes and reads their "
     "records, and counts the cycles of the kernels. Stored robots are erased, so the command asks "
     "first. A test that a chip or the emulator cannot do is `unseen`, with the reason. The exit "
     "code is 1 if a test failed.\n\ncompare prints up to eight reports side by side; rows of the "
     "bench with their ratio to the model's instructions or cycles. The exit code is 1 if a report "
     "has a failed test.",
     "$ appell silicon --port /dev/ttyACM0 -o nucleo.json\n"
     "$ appell silicon compare nucleo.json build/silicon/netduinoplus2.json",
     -1, cmd_silicon},
    {TASK_BOARD, "certify", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_BOARD, OPTION_JSON),
     "find out whether a robot's control loop fits on a board",
     "Prints the cost of a tick for this arm, predicted from stored benchmarks, the cost of every "
     "stage of the tick as measured on the emulated --board or on the board at --port, and the "
     "part of the core's time that the tick takes at usual rates, with a real and with a simulated "
     "arm. The exit code is 1 if the robot's own rate leaves less than a tenth of the time to the "
     "background. The last lines list what else a real arm needs: encoder inputs, counts, homing, "
     "gains, limits, brakes; they do not change the exit code.",
     "$ appell certify puma560 --board netduino2", -1, cmd_certify},
    {TASK_BOARD, "crash", "", 0, 0,
     OPTIONS(BOARD_OPTIONS, OPTION_FIRMWARE, OPTION_LEAVE, OPTION_JSON),
     "fetch the record of a board's last crash",
     "Prints cause, registers and stack of the crash before the last start. Addresses get their "
     "names from the firmware's ELF file if it is of the same build. The command clears the record "
     "unless --leave is given.",
     "$ appell crash --port /dev/ttyACM0", -1, cmd_crash},
    /* -------------------------------------------------------------------------------------- move */
    {TASK_MOVE, "hold", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_UNATTENDED, OPTION_JSON),
     "switch the outputs on and hold the arm where it is",
     "The control loop holds the arm, also after the command has ended and while no computer is "
     "connected, until `appell stop`, `appell release` or a fault. With brakes, they open. An arm "
     "that is only damped after a fault is caught.\n\nThe outputs of a real arm come on only after "
     "a person at the terminal has agreed; `appell hold`, `move`, `jog` and `home` ask. Without a "
     "terminal they are refused, unless --unattended is given.",
     "$ appell hold\n"
     "$ appell hold --port /dev/ttyACM0",
     -1, cmd_hold},
    {TASK_MOVE, "move", "--to Q1,Q2,... | --pose X,Y,Z,R,P,Y", 0, 0,
     OPTIONS(BOARD_OPTIONS, OPTION_TO, OPTION_POSE, OPTION_LINE, OPTION_PROFILE, OPTION_DURATION,
             OPTION_SPEED, OPTION_UNATTENDED, OPTION_JSON),
     "move the arm to joint positions, or its end effector to a pose",
     "The arm moves from where it is, with the robot, the limits and the controller that are on "
     "the board; the command waits for the end. With --to and --pose all joints move together and "
     "arrive at the same time. With --pose the joint positions come from inverse kinematics that "
     "begins at the present ones; if none is found near them, the arm may fold itself another way. "
     "With --line the end effector moves on a straight line, and its attitude turns evenly about "
     "one axis.\n\nThis machine checks the motion first, with the firmware's own code: a motion "
     "that leaves the reach or a limit is refused before anything moves, with the joint and the "
     "place. Only one command at a time moves the arm; a second one is refused and told which. "
     "Everybody can stop it: `appell stop`.\n\nControl-C, the end of the terminal or SIGTERM stop "
     "the arm; the command waits until it rests and says what holds it. If the command is killed "
     "or "
     "the cable pulled, the board stops the arm with the fault `host` after at most a second. At "
     "the "
     "end the loop holds the arm. The exit code is 1 if the motion was refused or did not reach "
     "its "
     "target.",
     "$ appell move --to 0,0.8,-1.6,0,0,0 --speed 0.3\n"
     "$ appell move --to 0,0.8,-1.6,0,0,0 --profile trapezoid --duration 4\n"
     "$ appell move --pose 0.5,0.15,0.2,0,3.1416,0 --speed 0.5\n"
     "$ appell move --pose 0.5,0.15,0.1,0,3.1416,0 --line --speed 0.2",
     -1, cmd_move},
    {TASK_MOVE, "jog", "", 0, 0,
     OPTIONS(BOARD_OPTIONS, OPTION_SPEED, OPTION_UNATTENDED, OPTION_JSON),
     "move single joints with the keys, for as long as a key is held",
     "1 to 9, or the arrows up and down, choose a joint. The arrows left and right, or - and +, "
     "move "
     "it while the key is held. [ and ] make it slower and faster, at most as fast as the limits "
     "and "
     "tool_speed allow. Every other key stops it. q ends the command; the loop then holds the arm. "
     "Control-C ends it, too, and stops the arm as `appell stop` does.\n\nA terminal tells only "
     "that "
     "keys come, not that one is released. The arm stops 0.15 s after the last repetition of a "
     "key, "
     "and 0.6 s after a key that is not repeated, because terminals wait that long before they "
     "repeat. If the command dies or the cable is pulled, the board itself stops the arm after "
     "jog_timeout_s. If another program stops the arm, the command ends.\n\nKeys can also come "
     "from "
     "a pipe: each key that moves a joint then counts as held for 0.5 s, and the end of the input "
     "ends the command as q does.",
     "$ appell jog\n"
     "$ appell jog --speed 0.05 --port /dev/ttyACM0\n"
     "$ printf '2+++1--' | appell jog",
     -1, cmd_jog},
    {TASK_MOVE, "stop", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "stop the arm, whoever moves it, and say what holds it",
     "The arm brakes within its acceleration limits. Then the loop holds it; an arm with brakes is "
     "held by them, and the outputs go off. The command waits until the arm rests. It works in "
     "every "
     "state of the board, as often as wanted, and also while another command moves the arm, which "
     "then ends. After a fault the board has stopped the arm already, and the command says what "
     "became of it; the exit code is then 1.\n\nThis is not an emergency stop: it needs a "
     "computer, a "
     "cable and a board that work.",
     "$ appell stop\n"
     "$ appell stop --port /dev/ttyACM0",
     -1, cmd_stop},
    {TASK_MOVE, "release", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_YES, OPTION_JSON),
     "switch the outputs off at once; an arm without brakes falls",
     "Nothing brakes the arm first: brakes close at the same moment, and an arm without brakes "
     "falls. The command says which of the two and asks before it acts; without a terminal it "
     "needs "
     "--yes. `appell stop` is the gentle way. The command is refused while another one moves the "
     "arm.",
     "$ appell release\n"
     "$ appell release --yes --port /dev/ttyACM0",
     -1, cmd_release},
    {TASK_MOVE, "home", "[ROBOT]", 0, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_AT, OPTION_JOINT, OPTION_SET,
             OPTION_UNATTENDED, OPTION_JSON),
     "find the zero positions of the joints, at stops or switches",
     "A joint whose parameter `home` is 1 or -1 moves slowly against its upper or lower stop; with "
     "2 or -2 it moves to a switch. The joints are homed one at a time, from the last to the "
     "first, while the loop holds the others. Each joint moves to its stop or switch, then back, "
     "then to it again at a quarter of the speed. home_position is the position of the stop or "
     "switch. home_speed sets the speed. home_torque sets the torque, in addition to that of the "
     "model, with which the joint presses against a stop. The board refuses every other motion, "
     "except to hold the arm, until all joints whose `home` is not 0 are homed. The position "
     "limits of a joint apply from the moment it is homed.\n\nA joint needs no homing if its "
     "encoder is absolute and makes at most one turn within the position limits: move the arm to a "
     "known position, and give it with --at Q1,Q2,..., which sets encoder_offset; `appell save` "
     "keeps it. With ROBOT the robot is loaded first. Control-C stops the arm; the command then "
     "says "
     "what holds it. If the board is reset or somebody stops the arm, the command ends. The exit "
     "code is 1 if a joint does not find its stop or switch.",
     "$ appell home --port /dev/ttyACM0\n"
     "$ appell home arm.yaml -p /dev/ttyACM0 --set home[1]=-1,home_position[1]=-2.8\n"
     "$ appell home --port /dev/ttyACM0 --at 0,1.5708,-1.5708,0,0,0",
     -1, cmd_home},
    {TASK_MOVE, "demo", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_SET, OPTION_GENERATED, OPTION_OUTPUT, OPTION_JSON),
     "compare controllers on the simulated arm of a board",
     "Loads the robot into the board until its next reset and compares controllers on the "
     "simulated arm, never on a real one: PD (critically damped at 5 Hz), PD with gravity, and "
     "full feedforward, each with exact masses and with an arm that is 10 % heavier than its "
     "model. Every robot follows a cycloid near its limits, and the PUMA 560 also the straight "
     "line of Mata et al. (2002). The command prints the tracking errors and the cost of a tick; "
     "CSV files and a picture go into the folder --output.\n\nA board with f32 must give the same "
     "bits as this program. The exit code is 1 if a bit differs, a tick overruns, or a fault stops "
     "a motion. `appell move` moves an arm to a position, with the controller that is set on the "
     "board.",
     "$ appell demo puma560 --port qemu:netduinoplus2\n"
     "$ appell demo puma560 --port qemu:netduino2 -o build/run",
     -1, cmd_demo},
    /* ----------------------------------------------------------------------------------- trouble */
    {TASK_TROUBLE, "faults", "[explain FAULT | provoke ROBOT]", 0, 2,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_OUTPUT, OPTION_JSON),
     "list all faults, explain one, or provoke them on a simulated arm",
     "Without arguments the command prints the tables of faults and of stops; explain prints one "
     "fault with its cause and its cure. `appell status` prints the fault of a board.\n\nprovoke "
     "injects every defect that the command knows into the same application in this process, "
     "without a board: the "
     "simulated arm is in the pose with the largest load by gravity, once without and once with "
     "brakes. For each defect it prints how it was found or why not, the time until then, the "
     "stop, and how fast and how far the arm moved after it, with bounds that follow from the "
     "model.\n\nprovoke with --port loads the robot into the board and provokes one fault after "
     "the other on its simulated arm, without brakes; it prints the message that a user sees, the "
     "stop, speed and fall, with bounds. The exit code is 1 if a result is not as expected.",
     "$ appell faults\n"
     "$ appell faults explain tracking\n"
     "$ appell faults provoke puma560\n"
     "$ appell faults provoke puma560 --port qemu:netduinoplus2 -o build/faults",
     -1, cmd_faults},
    {TASK_TROUBLE, "clear", "", 0, 0, OPTIONS(BOARD_OPTIONS, OPTION_JSON),
     "clear the fault of a board",
     "Remove the cause first: `appell status` names it. If the control loop still holds "
     "or lowers the arm, the loop holds the arm afterwards. Otherwise the board becomes idle, or "
     "unconfigured if it has no robot; nothing moves until the next motion is started. The board "
     "refuses while its hardware keeps the outputs off: release the e-stop first.",
     "$ appell clear --port /dev/ttyACM0", -1, cmd_clear},
    {TASK_TROUBLE, "inspect", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, BOARD_OPTIONS, OPTION_RIGID, OPTION_SET, OPTION_TOLERANCE, OPTION_JSON),
     "compare friction and payload of the arm with its model",
     "All joints move slowly back and forth at two speeds. The command compares the torques that "
     "the controller commanded with those that the model predicts for the payload that is set on "
     "the board. It prints the friction of each joint and the mass at the end effector that "
     "explain the torques, how much the torques differ from the model, and what to change. It also "
     "reports if one common factor on all masses explains the torques better than a payload does. "
     "The exit code is 1 if the torques of a joint differ by more than --tolerance.",
     "$ appell inspect puma560 --port /dev/ttyACM0\n"
     "$ appell inspect puma560 -p qemu:netduinoplus2 --set sim_friction=1.5",
     -1, cmd_inspect},
    /* ----------------------------------------------------------------------------- code and pages */
    {TASK_CODE, "gen", "ROBOT -o DIR", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_PAYLOAD, OPTION_RIGID, OPTION_NO_ROTOR,
             OPTION_REAL, OPTION_STRATEGY, OPTION_MONOMIALS, OPTION_EFFORT, OPTION_KEEP,
             OPTION_PREFIX, OPTION_BASE, OPTION_NO_BASE, OPTION_FRICTION, OPTION_OUTPUT,
             OPTION_JSON),
     "generate C code for one robot: DIR/ROBOT.c and DIR/ROBOT.h",
     "Writes straight-line C for inverse dynamics, inertia matrix, bias, gravity, forward "
     "dynamics, forward kinematics and Jacobian, with all constants of the robot folded in. One "
     "header and one source need nothing but <math.h> and contain a self-test. The inertial "
     "parameters of the links are first regrouped into base parameters (DIR/ROBOT_base.csv), the "
     "angles of parallel axes are added, and an annealer rewrites the expressions for fewer "
     "operations. The same command always gives the same bytes. In q31 every value has an exponent "
     "that is proved for the limits of the robot.",
     "$ appell gen puma560 -o puma\n"
     "$ appell gen puma560 --real q31 -o puma\n"
     "$ appell gen arm.urdf --keep payload,gravity --effort 100 -o arm",
     -1, cmd_gen},
    {TASK_CODE, "symbolic", "ROBOT", 1, 1,
     OPTIONS(ARM_OPTIONS, OPTION_GRAVITY, OPTION_PAYLOAD, OPTION_RIGID, OPTION_NO_ROTOR,
             OPTION_PARAMETERS, OPTION_FORMAT, OPTION_DICTIONARY, OPTION_DIGITS, OPTION_MONOMIALS,
             OPTION_PREFIX, OPTION_OUTPUT, OPTION_JSON),
     "print the inertia matrix and the gravity torques as formulas",
     "Derives H(q) and G(q) in closed form, as Bansevicius et al. do (paper 003): sums of products "
     "of sines and cosines. Angles of parallel axes are added (c23 is the cosine of q2 + q3), and "
     "what cancels is gone. With --parameters masses, lengths and inertias are names; a robot file "
     "in convention dh or mdh keeps its own frames, any other description has those of convention "
     "mdh. The formulas are compared with the kernels at 100 random states; the exit code is 1 if "
     "they differ. Many general axes have too many products: the command ends at --monomials, and "
     "`appell gen` writes the recursion as code instead.",
     "$ appell symbolic planar3r\n"
     "$ appell symbolic piezo6 --dictionary\n"
     "$ appell symbolic planar3r --parameters --format markdown -o planar3r.md\n"
     "$ appell symbolic puma560 --format c -o puma560_symbolic.c",
     -1, cmd_symbolic},
    {TASK_CODE, "help", "[COMMAND]", 0, 1, OPTIONS(OPTION_HELP),
     "list the commands, or explain one", "Prints the list of all commands if COMMAND is left out.",
     "$ appell help id", -1, help_run},
    {TASK_CODE, "man", "", 0, 0, OPTIONS(OPTION_HELP), "print the manual page, as troff",
     "The page contains the help of all commands.", "$ appell man | man -l -", -1, man_run},
    {TASK_CODE, "completion", "bash|zsh", 1, 1, OPTIONS(OPTION_HELP),
     "print the completion script for a shell",
     "The script completes commands, options and their values, robots, boards, parameters, fields "
     "and faults. It asks `appell completion robots` for the names of the robots.",
     "$ source <(appell completion bash)\n"
     "$ source <(appell completion zsh)",
     -1, completion_run},
    {0}};
