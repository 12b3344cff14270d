#!/usr/bin/env python3
"""Tests the host tool as a user calls it, under the sanitizers: reference values through the
command line, the same arm in three conventions, number types, images, inverse kinematics, help, and
every kind of bad input.

    test_appell.py [PROGRAM [PATTERN]]
"""
import html
import json
import math
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True
from script_frame import Skip, main  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/host/appell-san")
GOLDEN = os.environ.get("GOLDEN", "../shared/golden")
ROBOTS = "../shared/robots"
TIMEOUT_S = 600  # only against hangs: the longest test takes 5 s of processor time, 50 s beside four others
LONG_RUN = bool(os.environ.get("LONG"))  # set by make test-long
os.environ.setdefault("APPELL_LEASE_MS", "60000")  # the emulated boards of the tests outrun their host

COMMANDS = ["info", "check", "id", "mass", "fd", "bias", "gravity", "coriolis", "factor", "fk", "jacobian", "volt",
            "ik", "sim", "demo", "hold", "move", "jog", "stop", "release", "home", "inspect", "clear", "ops", "gen", "scale", "image", "parts",
            "config", "flash", "get", "set", "save", "status", "emulate", "monitor", "crash", "selftest", "silicon", "faults", "certify",
            "help", "man", "completion"]
# Methods of the general kernels; test_gen.py tests generated code.
METHODS = {"id": ["fast", "ne", "ga", "denoc"], "mass": ["fast", "crba", "ga", "denoc", "wo1"],
           "fd": ["fast", "crba", "ga", "aba", "denoc"], "bias": ["fast", "ne", "ga", "denoc"],
           "gravity": ["fast", "ne", "ga", "denoc"], "coriolis": ["denoc"]}


# ------------------------------------------------------------------------------------------ the program

def run(*arguments, rows="", program=PROGRAM, timeout_s=TIMEOUT_S, **more):
    """Runs the program; rows is its standard input, as text or as lists of numbers. Returns the
    finished process."""
    if not isinstance(rows, str):
        rows = "".join(" ".join(repr(float(x)) for x in row) + "\n" for row in rows)
    done = subprocess.run([program, *map(str, arguments)], input=rows, capture_output=True, text=True,
                          timeout=timeout_s, **more)
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr[-2000:]
    assert done.returncode in (0, 1, 2), f"{arguments}: exit {done.returncode}: {done.stderr[-500:]}"
    return done


def good(*arguments, rows=""):
    done = run(*arguments, rows=rows)
    assert done.returncode == 0, f"{arguments}: exit {done.returncode}: {done.stderr[-500:]}"
    return done.stdout


def table(*arguments, rows):
    return [[float(x) for x in line.split()] for line in good(*arguments, "-q", rows=rows).splitlines()]


def flat(matrix):
    return [x for row in matrix for x in row]


def near(got, expected, tolerance, what):
    """Checks that every number is within tolerance * (1 + the largest expected number)."""
    assert len(got) == len(expected), f"{what}: {len(got)} numbers instead of {len(expected)}"
    bound = tolerance * (1 + max(abs(x) for x in expected))
    worst = max(abs(a - b) for a, b in zip(got, expected))
    assert worst <= bound, f"{what}: off by {worst:.3g}, allowed {bound:.3g}"


# -------------------------------------------------------------------------------------------- robot files

def numbers(values):
    return "[" + ", ".join(repr(float(x)) for x in values) + "]"


def robot_file(folder, name, convention, gravity, rows, extra=""):
    """Writes a robot file from rows in the form of the reference data; returns its path."""
    text = f"name: {name}\nconvention: {convention}\ngravity: {numbers(gravity)}\n{extra}joints:\n"
    for i, row in enumerate(rows):
        kind = "prismatic" if row["type"] == "P" else "revolute"
        text += f"  - name: j{i + 1}\n    type: {kind}\n"
        if convention == "frames":
            text += f"    origin: {{xyz: {numbers(row['xyz'])}, rpy: {numbers(row['rpy'])}}}\n"
            text += f"    axis: {numbers(row['axis'])}\n"
            com, turned = row["com_xyz"], f", rpy: {numbers(row['com_rpy'])}"
        else:
            frame = ", ".join(f"{key}: {float(row[key])!r}" for key in ("theta", "d", "a", "alpha"))
            text += f"    dh: {{{frame}}}\n"
            com, turned = row["c"], ""
        text += (f"    link: {{mass: {float(row['m'])!r}, com: {numbers(com)}, "
                 f"inertia: {numbers(row['I'])}{turned}}}\n")
        if row.get("G"):
            text += f"    motor: {{gear: {row['G']!r}, rotor_inertia: {row['Jm']!r}}}\n"
        text += row.get("more", "")
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w") as file:
        file.write(text)
    return path


def golden(name):
    path = os.path.join(GOLDEN, name + ".json")
    if not os.path.exists(path):
        raise Skip(f"no reference values in {GOLDEN}")
    with open(path) as file:
        return json.load(file)


def shared_robot(name):
    path = os.path.join(ROBOTS, name)
    if not os.path.exists(path):
        raise Skip(f"no {name} in {ROBOTS}")
    return path


CONVENTION = {"std_dh": "dh", "mod_dh": "mdh", "urdf": "frames"}

# The tolerance of the reference values. They are exact and double has 1e-16, but 30 joints, sums of
# unlike terms and the condition number of the matrix cost some digits.
TOLERANCE = 1e-10


def fd_tolerance(cond):
    return max(1e-13 * cond, 1e-10)


def chosen(problem, turn):
    """Returns the methods to test: all of them, or, given a turn, only one, which changes with the
    turn. Long tests always run all."""
    methods = METHODS[problem]
    return methods if turn is None or LONG_RUN else [methods[turn % len(methods)]]


def check_states(robot, states, what, *options, turn=None):
    """Checks M, c, g and tau of every state with the chosen methods. Options are those of the tool,
    such as --no-rotor."""
    q = [s["q"] for s in states]
    qqd = [s["q"] + s["qd"] for s in states]
    for method in chosen("mass", turn):
        for s, got in zip(states, table("mass", robot, "-m", method, *options, rows=q)):
            near(got, flat(s["M"]), TOLERANCE, f"{what} mass {method}")
    for method in chosen("id", turn):
        got = table("id", robot, "-m", method, *options,
                    rows=[s["q"] + s["qd"] + s["qdd"] for s in states])
        for s, tau in zip(states, got):
            near(tau, s["tau"], TOLERANCE, f"{what} id {method}")
    for method in chosen("gravity", turn):
        for s, got in zip(states, table("gravity", robot, "-m", method, rows=q)):
            near(got, s["g"], TOLERANCE, f"{what} gravity {method}")
    for method in chosen("bias", turn):
        for s, got in zip(states, table("bias", robot, "-m", method, rows=qqd)):
            near(got, [c + g for c, g in zip(s["c"], s["g"])], TOLERANCE, f"{what} bias {method}")
    for s, got in zip(states, table("coriolis", robot, rows=qqd)):
        n = len(s["q"])
        torque = [sum(got[i * n + j] * s["qd"][j] for j in range(n)) for i in range(n)]
        near(torque, s["c"], TOLERANCE, f"{what} coriolis")


def test_golden_puma560(folder):
    data = golden("puma560")
    robot = robot_file(folder, "puma", "dh", data["gravity"], data["rows"])
    states = data["states"]
    check_states(robot, states, "puma560")
    bare = [dict(s, M=s["M_nomotor"], tau=s["tau_nomotor"]) for s in states]
    check_states(robot, bare, "puma560 without motors", "--no-rotor")
    rows = [s["q"] + s["qd"] + s["fd_tau"] for s in states]
    for method in METHODS["fd"]:
        for s, got in zip(states, table("fd", robot, "-m", method, rows=rows)):
            near(got, s["fd_qdd"], fd_tolerance(s["condM"]), f"puma560 fd {method}")
        for s, got in zip(states, table("fd", robot, "-m", method, "--no-rotor", rows=rows)):
            near(got, s["fd_qdd_nomotor"], fd_tolerance(s["condM_nomotor"]), f"puma560 bare fd {method}")


def test_golden_puma560_of_the_project(folder):
    """The robot in tools/robots is the arm of the reference: rotors as there, friction disabled."""
    data = golden("puma560")
    for s, got in zip(data["states"], table("id", "puma560", "--no-friction",
                                            rows=[s["q"] + s["qd"] + s["qdd"] for s in data["states"]])):
        near(got, s["tau"], TOLERANCE, "puma560")


def test_golden_straight_line(folder):
    """Follows the straight line of paper 000: torques, poses, and from the poses back to the joints
    by inverse kinematics."""
    data = golden("puma560")
    robot = robot_file(folder, "puma", "dh", data["gravity"], data["rows"])
    line = data["straight_line"]
    samples = line["samples"]
    motion = [s["q"] + s["qd"] + s["qdd"] for s in samples]
    for key, options in (("tau", []), ("tau_nomotor", ["--no-rotor"])):
        for s, got in zip(samples, table("id", robot, *options, rows=motion)):
            near(got, s[key], TOLERANCE, f"straight line {key}")
    for s, got in zip(samples, table("fk", robot, rows=[s["q"] for s in samples])):
        near(got, flat(line["R"][i] + [s["p"][i]] for i in range(3)), TOLERANCE, "straight line fk")
    # The orientation R is Ry(-90 deg) Rx(180 deg). The pose is reached to 1e-12; the wrist is about
    # 0.8 rad from its singularity, so the errors of the joints are only a few times larger.
    for s in samples[::10]:
        start = ",".join(repr(q + 0.05) for q in s["q"])
        got = table("ik", robot, "--start", start, rows=[s["p"] + [math.pi, -math.pi / 2, 0]])[0]
        near(got, s["q"], 1e-10, "straight line ik")


def test_golden_stanford(folder):
    for variant in golden("stanford")["variants"]:
        robot = robot_file(folder, variant["name"], "dh", variant["gravity"], variant["rows"])
        check_states(robot, variant["cases"], variant["name"])


def test_golden_planar3r(folder):
    for variant in golden("planar3r")["sets"]:
        robot = robot_file(folder, variant["name"], "dh", variant["gravity"], variant["rows"])
        check_states(robot, variant["cases"], variant["name"])


def test_golden_banse(folder):
    data = golden("banse")
    robot = robot_file(folder, "banse", "dh", data["gravity"], data["rows"])
    check_states(robot, data["states"], "banse")


def test_golden_ascher(folder):
    for arm in golden("ascher")["runs"]:
        robot = robot_file(folder, arm["name"], "mdh", arm["gravity"], arm["rows"])
        steps = arm.get("steps", [])  # other runs have no steps: they study rounding
        rows = [s["q"] + [0, 0] + [0, 0] for s in steps]
        for method in METHODS["fd"]:
            for s, got in zip(steps, table("fd", robot, "-m", method, rows=rows)):
                near(got, s["qdd"], fd_tolerance(s["condM"]), f"ascher {arm['name']} fd {method}")
        for s, got in zip(steps, table("mass", robot, rows=[s["q"] for s in steps])):
            near(got, flat(s["M"]), TOLERANCE, f"ascher {arm['name']} mass")
        for s, got in zip(steps, table("gravity", robot, rows=[s["q"] for s in steps])):
            near(got, s["g"], TOLERANCE, f"ascher {arm['name']} gravity")


def test_golden_random_chains(folder):
    """Tests distal and proximal tables and general frames, with prismatic joints in any mix and 1
    to 30 joints. Every method gets every fourth or fifth chain; the tests of the kernels run all
    chains with each method."""
    for turn, chain in enumerate(golden("random_chains")["chains"]):
        name = f"chain{chain['id']}"
        robot = robot_file(folder, name, CONVENTION[chain["convention"]], chain["gravity"], chain["rows"])
        states = chain["states"]
        check_states(robot, states, name, turn=turn)
        n = chain["n"]
        for s, got in zip(states, table("fk", robot, rows=[s["q"] for s in states])):
            pose = flat(s["tip_R"][i] + [s["tip_p"][i]] for i in range(3))
            near(got, pose, TOLERANCE, f"{name} fk")
        for s, got in zip(states, table("jacobian", robot, rows=[s["q"] for s in states])):
            near(got, flat(s["J_tip"]), TOLERANCE, f"{name} jacobian")
            assert len(got) == 6 * n
        for method in chosen("fd", turn):
            rows = [s["q"] + s["qd"] + s["fd_tau"] for s in states]
            for s, got in zip(states, table("fd", robot, "-m", method, rows=rows)):
                near(got, s["fd_qdd"], fd_tolerance(s["condM"]), f"{name} fd {method}")
        for s in states:
            wrench = ",".join(repr(x) for x in s["wrench_tip"])
            got = table("id", robot, "--wrench", wrench, rows=[s["q"] + s["qd"] + s["qdd"]])[0]
            near(got, s["tau_wrench"], TOLERANCE, f"{name} id with a wrench")
            got = table("fd", robot, "--wrench", wrench, rows=[s["q"] + s["qd"] + s["fd_tau"]])[0]
            near(got, s["fd_qdd_wrench"], fd_tolerance(s["condM"]), f"{name} fd with a wrench")


def test_golden_motors(folder):
    """Each case is one joint. All 24 cases are revolute joints of one arm; a voltage depends on its
    own joint only."""
    cases = golden("motors")["cases"]
    rows = [{"type": "R", "theta": 0, "d": 0, "a": 0, "alpha": 0, "m": 1, "c": [0, 0, 0],
             "I": [1, 1, 1, 0, 0, 0],
             "more": f"    motor: {{resistance: {c['R']!r}, torque_constant: {c['Kt']!r}, "
                     f"gear: {c['N']!r}, rotor_inertia: {c['Jm']!r}}}\n"} for c in cases]
    robot = robot_file(folder, "motors", "mdh", [0, 0, -9.81], rows)
    got = table("volt", robot, rows=[[c["qd"] for c in cases] + [c["tau"] for c in cases]])[0]
    for c, volt in zip(cases, got):
        near([volt], [c["V"]], 1e-12, "volt")


def test_golden_rigid_beams(folder):
    """Tests the rigid limit of the elastic arm of paper 004. Without --rigid its rows are longer
    (test_elastic.py)."""
    data = golden("flexible2")
    states = data["rigid_states"]
    for s, got in zip(states, table("mass", "flex2", "--rigid", rows=[s["q"] for s in states])):
        near(got, flat(s["I"]), TOLERANCE, "flex2 mass")
    for s, got in zip(states, table("bias", "flex2", "--rigid", rows=[s["q"] + s["qd"] for s in states])):
        near(got, [-x for x in s["Re"]], TOLERANCE, "flex2 bias")
    done = run("mass", "flex2", rows=[[0, 0]])
    assert done.returncode == 2 and "2 joints and 2 modes" in done.stderr, done.stderr


# ------------------------------------------------------------------------------- conventions and types

def turn_x(alpha, matrix):
    c, s = math.cos(alpha), math.sin(alpha)
    return [[sum(r[i][k] * matrix[k][j] for k in range(3)) for j in range(len(matrix[0]))]
            for r in [[[1, 0, 0], [0, c, -s], [0, s, c]]] for i in range(3)]


def proximal(rows):
    """Returns the same arm with proximal instead of distal frames: Craig's table from Paul's."""
    out = []
    for i, row in enumerate(rows):
        before = rows[i - 1] if i else {"a": 0, "alpha": 0}
        xx, yy, zz, xy, yz, xz = row["I"]
        half = turn_x(row["alpha"], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = turn_x(row["alpha"], [[half[j][i] for j in range(3)] for i in range(3)])
        com = turn_x(row["alpha"], [[x] for x in row["c"]])
        out.append(dict(row, a=before["a"], alpha=before["alpha"],
                        c=[com[0][0] + row["a"], com[1][0], com[2][0]],
                        I=[inertia[0][0], inertia[1][1], inertia[2][2], inertia[0][1], inertia[1][2],
                           inertia[0][2]]))
    return out


def urdf(folder, name, rows):
    """Writes a URDF of a proximal table with theta = 0; its link frames are those of the table."""
    text = f'<robot name="{name}">\n  <link name="l0"/>\n'
    for i, row in enumerate(rows):
        xyz = [row["a"], -math.sin(row["alpha"]) * row["d"], math.cos(row["alpha"]) * row["d"]]
        names = ("ixx", "iyy", "izz", "ixy", "iyz", "ixz")
        inertia = " ".join(f'{key}="{value!r}"' for key, value in zip(names, map(float, row["I"])))
        com = " ".join(repr(x) for x in row["c"])
        text += (f'  <link name="l{i + 1}"><inertial><origin xyz="{com}"/><mass value="{row["m"]!r}"/>'
                 f'<inertia {inertia}/></inertial></link>\n'
                 f'  <joint name="j{i + 1}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
                 f'<origin xyz="{xyz[0]!r} {xyz[1]!r} {xyz[2]!r}" rpy="{row["alpha"]!r} 0 0"/>'
                 f'<axis xyz="0 0 1"/></joint>\n')
    path = os.path.join(folder, name + ".urdf")
    with open(path, "w") as file:
        file.write(text + "</robot>\n")
    return path


ARM = [  # a six-joint arm with full tensors and a spherical wrist
    {"type": "R", "theta": 0, "d": 0.4, "a": 0.1, "alpha": -math.pi / 2, "m": 9, "c": [0.02, 0.1, -0.03],
     "I": [0.2, 0.15, 0.18, 0.01, -0.02, 0.015]},
    {"type": "R", "theta": 0, "d": 0.05, "a": 0.5, "alpha": 0.3, "m": 8, "c": [-0.2, 0.01, 0.05],
     "I": [0.05, 0.2, 0.21, 0.012, 0.003, -0.01]},
    {"type": "R", "theta": 0, "d": 0.1, "a": 0.02, "alpha": math.pi / 2, "m": 4, "c": [0.01, -0.05, 0.02],
     "I": [0.06, 0.05, 0.03, -0.004, 0.002, 0.001]},
    {"type": "R", "theta": 0, "d": 0.43, "a": 0, "alpha": -math.pi / 2, "m": 1.5, "c": [0, 0.05, 0.01],
     "I": [0.004, 0.003, 0.004, 0.0002, -0.0003, 0.0001]},
    {"type": "R", "theta": 0, "d": 0, "a": 0, "alpha": 1.1, "m": 0.7, "c": [0.01, 0.02, 0.03],
     "I": [0.001, 0.0012, 0.0009, 0.0001, 0.0002, -0.0001]},
    {"type": "R", "theta": 0, "d": 0.08, "a": 0, "alpha": 0, "m": 0.3, "c": [0.005, -0.01, 0.03],
     "I": [0.0003, 0.0004, 0.0002, 0.00002, -0.00001, 0.00003]}]

LIMITS = ("    limits: {position: [-2.5, 2.5], velocity: 3, acceleration: 10, torque: 100}\n"
          "    motor: {resistance: 2, torque_constant: 0.2, gear: 60, rotor_inertia: 1.0e-4, voltage: 48}\n"
          "    friction: {viscous: 0.5, coulomb: [-2, 1.5]}\n")


def test_three_conventions_one_arm(folder):
    numbers_of = random.Random(3)
    rows = [[numbers_of.uniform(-2, 2) for _ in range(18)] for _ in range(50)]
    craig = proximal(ARM)
    robots = [robot_file(folder, "distal", "dh", [0, 0, -9.81], ARM),
              robot_file(folder, "proximal", "mdh", [0, 0, -9.81], craig), urdf(folder, "general", craig)]
    for method in METHODS["id"]:
        torques = [table("id", robot, "-m", method, "--gravity", "1,2,-9", rows=rows) for robot in robots]
        for one, two, three in zip(*torques):
            near(two, one, 1e-12, f"proximal against distal, {method}")
            near(three, one, 1e-12, f"URDF against distal, {method}")


def limited_arm(folder):
    rows = [dict(row, more=LIMITS) for row in ARM]
    return robot_file(folder, "limited", "dh", [0, 0, -9.81], rows,
                      "tool: {xyz: [0.1, 0.02, 0.05], rpy: [0.1, 0.2, 0.3]}\n"
                      "payload: {mass: 0.5, com: [0, 0, 0.1], inertia: [0.001, 0.001, 0.001, 0, 0, 0]}\n"
                      "base: {xyz: [0.3, 0.2, 0.1], rpy: [0, 0, 0.5]}\n")


def test_number_types_agree(folder):
    """Compares f32 and q31 with f64 for every problem and method. A float has 24 bits, a q31 number
    28 fractional bits. A torque takes some hundred roundings, so the limit is 1e-5 of the largest
    torque, about a hundred times 2^-23. For fd the condition number of the matrix of this arm
    (below 100 with rotors) is a further factor."""
    robot = limited_arm(folder)
    numbers_of = random.Random(5)
    blocks = {"id": 3, "fd": 3, "mass": 1, "bias": 2, "gravity": 1, "coriolis": 2, "fk": 1, "jacobian": 1,
              "volt": 2}
    for problem, count in blocks.items():
        rows = [[numbers_of.uniform(-2, 2) for _ in range(6 * count)] for _ in range(30)]
        if problem == "fd":  # chooses torques whose accelerations are within the limits
            rows = [row[:12] + tau for row, tau in zip(rows, table("id", robot, rows=rows))]
        for method in METHODS.get(problem, [None]):
            choice = ["-m", method] if method else []
            exact = table(problem, robot, *choice, rows=rows)
            for real in ("f32", "q31"):
                got = table(problem, robot, *choice, "--real", real, rows=rows)
                bound = 1e-3 if problem == "fd" else 1e-5
                for one, two in zip(exact, got):
                    near(two, one, bound, f"{problem} {method} in {real}")
                assert got != exact, f"{problem} in {real} is as in f64"


def test_digits(folder):
    out = good("id", limited_arm(folder), rows=[[0.1] * 18])
    values = [float(x) for x in out.split()]
    assert out == " ".join("%.17g" % v for v in values) + "\n", out
    out = good("id", limited_arm(folder), "--real", "f32", rows=[[0.1] * 18])
    for word in out.split():
        assert word == "%.9g" % struct.unpack("f", struct.pack("f", float(word)))[0], word


def test_options_of_the_arm(folder):
    robot = limited_arm(folder)
    row = [[0.3] * 6 + [0.5] * 6 + [1.0] * 6]
    whole = table("id", robot, rows=row)[0]
    bare = table("id", robot, "--no-friction", "--no-rotor", rows=row)[0]
    # Viscous friction 0.5 * 0.5 and Coulomb friction 1.5 N m; the rotor adds 1e-4 * 60^2 * 1 N m.
    near([a - b for a, b in zip(whole, bare)], [0.25 + 1.5 + 0.36] * 6, 1e-12, "friction and rotor")
    half = table("id", robot, "--no-friction", rows=row)[0]
    near([a - b for a, b in zip(half, bare)], [0.36] * 6, 1e-12, "rotor")
    accelerations = table("fd", robot, rows=[row[0][:12] + whole])[0]
    near(accelerations, [1.0] * 6, 1e-11, "fd of id")
    mass = table("mass", robot, rows=[row[0][:6]])[0]
    thin = table("mass", robot, "--no-rotor", rows=[row[0][:6]])[0]
    near([mass[7 * i] - thin[7 * i] for i in range(6)], [0.36] * 6, 1e-12, "rotor on the diagonal")
    holding = table("gravity", robot, rows=[row[0][:6]])[0]
    empty = table("gravity", robot, "--payload", "0", rows=[row[0][:6]])[0]
    same = table("gravity", robot, "--payload", "0.5,0,0,0.1,0.001,0.001,0.001,0,0,0",
                 rows=[row[0][:6]])[0]
    assert holding != empty and holding == same, "payload"
    zero = table("gravity", robot, "--gravity", "0,0,0", rows=[row[0][:6]])[0]
    near(zero, [0] * 6, 1e-15, "no gravity")
    # The wrench changes the torques by -J^T W. It is given on the axes of the tool frame, and the
    # pose turns it to those of the world.
    wrench = [1, -2, 3, 0.4, 0.5, -0.6]
    pose, J = table("fk", robot, rows=[row[0][:6]])[0], table("jacobian", robot, rows=[row[0][:6]])[0]
    world = [sum(pose[4 * i + k] * wrench[3 * part + k] for k in range(3)) for part in (0, 1) for i in range(3)]
    expected = [whole[j] - sum(J[6 * k + j] * world[k] for k in range(6)) for j in range(6)]
    for problem in ("id", "bias"):
        full = row if problem == "id" else [row[0][:12]]
        without = table(problem, robot, rows=full)[0]
        loaded = table(problem, robot, "--wrench", ",".join(map(str, wrench)), rows=full)[0]
        near([a - b for a, b in zip(loaded, without)], [a - b for a, b in zip(expected, whole)], 1e-12,
             f"wrench of {problem}")


# ---------------------------------------------------------------------------------------------- rows

def test_rows_as_people_write_them(folder):
    text = ("# a comment\n\n  0 0 0  0 0 0  1 0 0   # behind a row\n"
            "0,0,0,0,0,0,1,0,0\n0, 0, 0,\t0, 0, 0, 1e0, +0, -0\r\n0. .0 0 0 0 0 1 0 0")
    lines = good("id", "planar3r", rows=text).splitlines()
    assert len(lines) == 4 and len(set(lines)) == 1, lines
    assert good("id", "planar3r", rows="") == "" and good("id", "planar3r", rows="# nothing\n") == ""
    path = os.path.join(folder, "rows.txt")
    with open(path, "w") as file:
        file.write(text)
    assert good("id", "planar3r", path).splitlines() == lines
    assert good("id", "planar3r", "-", rows=text).splitlines() == lines


def test_each_answer_comes_before_the_next_question(folder):
    process = subprocess.Popen([PROGRAM, "gravity", "planar3r"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        for _ in range(3):
            process.stdin.write("0 0 0\n")
            process.stdin.flush()
            assert len(process.stdout.readline().split()) == 3
        process.stdin.close()
        assert process.wait(TIMEOUT_S) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_rows_before_an_error_stay(folder):
    done = run("gravity", "planar3r", rows="0 0 0\n# c\n1 1 1\n2 2\n3 3 3\n")
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 2, done
    assert done.stderr.startswith("stdin:4: error: row 3: got 2 numbers, expected 3"), done.stderr


def test_json(folder):
    answer = json.loads(good("id", "planar3r", "--json", "--method", "ga", rows="0 0 0 0 0 0 1 0 0\n" * 2))
    assert answer["method"] == "ga" and answer["real"] == "f64" and len(answer["rows"]) == 2
    assert answer["rows"][0] == table("id", "planar3r", "-m", "ga", rows=[[0] * 6 + [1, 0, 0]])[0]
    info = json.loads(good("info", "puma560", "--json"))
    assert info["n"] == 6 and [j["name"] for j in info["joints"]][:2] == ["waist", "shoulder"]
    assert info["q31_proved"] is True and info["constants_bytes_f32"] > 500
    check = json.loads(good("check", "puma560", "--json"))
    assert check["errors"] == 0 and check["warnings"] >= 2
    assert {m["code"] for m in check["messages"]} >= {"mass", "inertia"}
    ops = json.loads(good("ops", "puma560", "--json"))
    assert {"problem": "id", "method": "ga"}.items() <= ops["kernels"][2].items(), ops["kernels"][2]
    name = 'a"\\b\tc'
    robot = robot_file(folder, "odd", "mdh", [0, 0, -9.81], ARM[:1])
    with open(robot) as file:
        text = file.read().replace("name: odd", 'name: "a\\"\\\\b c"')
    with open(robot, "w") as file:
        file.write(text)
    assert json.loads(good("info", robot, "--json"))["robot"] == name.replace("\t", " ")


def test_info_and_ops(folder):
    text = good("info", "puma560")
    for word in ("puma560", "waist", "23.45 kg", "proved within the limits", "estimate"):
        assert word in text, word
    # The cycles come from the bench. The arm of the bench, rotors included, costs exactly the
    # measured cycles. After a change of a kernel, `make bench bench-accept` measures them again.
    with open("tools/bench/baseline.csv") as file:
        rows = [line.strip().split(",") for line in file if ",puma560,6," in line]
    bench = {(row[4], row[5], f"cycles_estimate_{row[0]}_{row[6]}"): float(row[9]) for row in rows}
    kernels = json.loads(good("info", "--json", "puma560"))["kernels"]
    costs = {(k["problem"], k["method"], key): value for k in kernels for key, value in k.items()
             if key.startswith("cycles_estimate_")}
    measured = costs.keys() & bench.keys()
    assert len(measured) >= 2 * sum(map(len, METHODS.values())) - 4, measured  # ne and ga compute gravity as bias
    for key in measured:
        assert abs(costs[key] - bench[key]) <= 0.5, f"{key}: {costs[key]} instead of {bench[key]}"
    lines = good("ops", "--csv", "puma560").splitlines()
    assert lines[0] == "problem,method,mul,add"
    counts = {tuple(line.split(",")[:2]): tuple(map(int, line.split(",")[2:])) for line in lines[1:]}
    for problem, methods in METHODS.items():
        for method in methods:
            assert (problem, method) in counts, (problem, method)
    assert counts["id", "ne"] == (570, 417), counts["id", "ne"]  # 111n - 96 multiplications, 84n - 87 additions
    assert counts["id", "fast"][0] <= 419 and counts["id", "fast"][1] <= 348
    text = good("ops", "puma560")
    assert "852, 738 (Luh" in text and "482, 426 (Mata" in text, text
    # Operation counts depend only on the types of the joints; those of generated code also depend
    # on the numbers of the arm.
    other = good("ops", "--csv", robot_file(folder, "six", "dh", [0, 0, -9.81], ARM)).splitlines()
    assert [line for line in other if ",gen," not in line] == [line for line in lines if ",gen," not in line]
    assert other != lines


def test_numbers_of_the_pages(folder):
    """Prints the results that tools/README.md, tools/EVIDENCE.md and dyn/COSTS.md show."""
    torques = good("id", "puma560", rows="0 0.5 -1 0 0.3 0  0 0 0 0 0 0  1 1 1 1 1 1\n")
    lines = good("info", "-q", "puma560").splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("problem"))
    kernels = [line for line in lines[head:] if line.split()[:2] in (["problem", "method"], ["id", "fast"], ["mass", "fast"], ["fd", "fast"])]
    assert len(kernels) == 4, lines
    # The message names the joined link itself, not the link to which it is joined.
    os.mkdir(os.path.join(folder, "build"))
    with open("test/support/robot_data/gripper.urdf") as file, open(os.path.join(folder, "build", "bad.urdf"), "w") as bad:
        bad.write(file.read().replace('mass value="0.5"', 'mass value="-0.5"'))
    check = run("check", "-q", "build/bad.urdf", "--tip", "tcp", cwd=folder).stdout
    assert "palm: the mass is negative" in check, check
    operations = [line for line in good("ops", "puma560").splitlines() if re.match("(problem|id|mass|fd) +(?! |gen)", line)]
    for name, block in (("first_id", torques.splitlines()), ("info", kernels), ("check", check.splitlines()), ("operations", operations)):
        print("\n".join([f"measured-block {name}", "```text", *block, "```", "measured-end"]), flush=True)


def test_check(folder):
    assert run("check", "puma560").returncode == 0
    for options in ((), ("-q",)):  # -q also prints the counts of errors and warnings
        out = good("check", "puma560", *options)
        assert out.count("warning: ") == 2 and "0 errors, 2 warnings" in out, out
    arm = os.path.join("test/support/robot_data", "gripper.urdf")
    assert "note: " in run("check", arm).stdout and "note: " not in run("check", "-q", arm).stdout
    bad = robot_file(folder, "negative", "mdh", [0, 0, -9.81], [dict(ARM[0], m=-1)])
    done = run("check", bad)
    assert done.returncode == 1 and re.search(r"negative\.yaml:\d+: error: j1: .*mass", done.stdout), done
    done = run("gravity", bad, rows=[[0]])
    assert done.returncode == 2 and done.stdout == "" and "the mass is negative: -1 kg" in done.stderr, done
    done = run("check", "--json", bad)
    answer = json.loads(done.stdout)
    assert done.returncode == 1 and answer["errors"] >= 1 and answer["complete"], answer
    # The checks cannot run on a file that cannot be read, and the message says so.
    with open(bad, encoding="utf-8") as file:
        text = file.read()
    with open(bad, "w", encoding="utf-8") as file:
        file.write("velocty: 1\n" + text)
    done = run("check", bad)
    assert done.returncode == 1 and "1 error, 0 warnings; masses, inertias and limits are checked once" in done.stdout, done
    assert not json.loads(run("check", "--json", bad).stdout)["complete"]
    done = run("check", os.path.join(folder, "nothing.yaml"))
    assert done.returncode == 2 and "cannot be opened" in done.stderr, done


if LONG_RUN:
    def test_million_rows(folder):
        """Measures the processor time of the optimised tool for reading, parsing, computing and
        printing a million rows."""
        program = os.path.join(os.path.dirname(PROGRAM), "appell")
        numbers_of = random.Random(23)
        block = "".join(" ".join(repr(numbers_of.uniform(-2, 2)) for _ in range(18)) + "\n" for _ in range(10000))
        path = os.path.join(folder, "million.txt")
        with open(path, "w") as file:
            for _ in range(100):
                file.write(block)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.path.join(folder, "torques.txt"), "w+") as out:
            subprocess.run([program, "id", "puma560", path], stdout=out, check=True, timeout=TIMEOUT_S)
            out.seek(0)
            lines = sum(1 for _ in out)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"NOTE a million rows of id, 6 joints: {seconds:.1f} s of processor time", flush=True)
        assert lines == 1000000, lines
        assert seconds < 10, f"{seconds} s"


# ------------------------------------------------------------------------------------------------ images

HEAD = "<4sIIIIIII29f"
JOINT = "<IIi34f"


def round_trip(folder, robot, *options):
    """Converts a robot to an image, to a robot file and to an image again: both images are the
    same. The image of an image is the same, too."""
    one, two, three, shown = (os.path.join(folder, name) for name in ("1.img", "2.img", "3.img", "shown.yaml"))
    good("image", "-q", robot, *options, "-o", one)
    with open(shown, "w") as file:
        file.write(good("image", "-q", "--show", one))
    good("image", "-q", shown, "-o", two)
    good("image", "-q", one, "-o", three)
    contents = [open(path, "rb").read() for path in (one, two, three)]
    assert contents[0] == contents[1] == contents[2], f"{robot}: the images differ"
    # The image only loses digits by its single precision; a few joints multiply that error.
    n = json.loads(good("info", "-q", "--json", robot, *options))["n"]
    rows = [[0.1 * k for k in range(1, n + 1)] + [0.5] * n + [1.0] * n]
    for problem, row in (("id", rows), ("fk", [rows[0][:n]])):
        near(table(problem, one, rows=row)[0], table(problem, robot, *options, rows=row)[0], 2e-6,
             f"{robot} as an image")


def test_image_round_trip(folder):
    """Converts every rigid robot of the project, an arm with all kinds of data, and a URDF."""
    names = [name[:-5] for name in sorted(os.listdir("tools/robots")) if name.endswith(".yaml")]
    rigid = [name for name in names if not json.loads(good("info", "-q", "--json", name))["elastic"]]
    assert len(rigid) >= 6 and "puma560" in rigid, names
    for robot in [*rigid, limited_arm(folder), "test/support/robot_data/gripper.urdf"]:
        round_trip(folder, robot)


def test_image_round_trip_urdf(folder):
    for name, *options in (["ur5_robot.urdf"], ["ur5_robot.urdf", "--tip", "tool0"], ["kinova.urdf"], ["z1.urdf"],
                           ["panda.urdf"], ["panda.urdf", "--tip", "panda_hand_tcp"]):
        round_trip(folder, shared_robot(name), *options)


def test_image_layout(folder):
    """Checks the bytes with a second reader of the documented layout."""
    path = os.path.join(folder, "limited.img")
    good("image", limited_arm(folder), "-o", path)
    with open(path, "rb") as file:
        data = file.read()
    head = struct.unpack_from(HEAD, data)
    assert head[0] == b"\x89APL" and head[2] == 3 and head[3] == len(data) and head[4] == 6
    assert head[1] == zlib.crc32(data[8:])
    assert struct.calcsize(HEAD) == 148 and struct.calcsize(JOINT) == 148
    assert head[8] == 1000.0, "rate"
    assert abs(head[24] - 0.5) < 1e-7, "mass of the payload"
    joints = [struct.unpack_from(JOINT, data, 148 + 148 * i) for i in range(6)]
    for joint, row in zip(joints, ARM):
        assert joint[0] == 0 and abs(joint[7] - row["m"]) < 1e-6
        assert joint[17:19] == (-2.5, 2.5) and joint[19:22] == (3, 10, 100) and joint[24] == 60
    assert joints[0][3:7] == (0, 0, 0, 0), "the first frame is the base"
    assert head[7] & 1 == 1, "q31 is proved"
    names = data[148 + 148 * 6:].split(b"\0")[:7]
    assert names == [b"limited"] + [f"j{i}".encode() for i in range(1, 7)], names
    section = 148 + 148 * 6 + -(-sum(len(name) + 1 for name in names) // 4) * 4
    tag, length, layout, _, n = struct.unpack_from("<4sIIII", data, section)
    assert tag == b"Q31A" and section + 8 + length == len(data) and layout != 0 and n == 6, "prepared for q31"


def test_bad_images(folder):
    path, bad = os.path.join(folder, "a.img"), os.path.join(folder, "bad.img")
    good("image", "-q", "puma560", "-o", path)
    with open(path, "rb") as file:
        data = file.read()
    numbers_of = random.Random(11)

    def check(content, words):
        with open(bad, "wb") as file:
            file.write(content)
        done = run("info", bad)
        assert done.returncode == 2 and words in done.stderr and done.stdout == "", (words, done)

    def sealed(content):
        return content[:4] + struct.pack("<I", zlib.crc32(content[8:])) + content[8:]

    def joined(content):
        """Makes the checksum of the constants right, too."""
        names = 148 + 148 * 6
        crc = zlib.crc32(content[place + 16:], zlib.crc32(content[place + 8:place + 12], zlib.crc32(content[16:names])))
        return sealed(content[:place + 12] + struct.pack("<I", crc) + content[place + 16:])

    place = data.index(b"Q31A")
    assert joined(data) == data
    check(data[:-4], "ends too early")
    check(data[:60], "ends too early")
    check(data + b"\0" * 8, "8 bytes follow")
    check(data[:300] + bytes([data[300] ^ 1]) + data[301:], "checksum")
    check(sealed(data[:8] + b"\2" + data[9:]), "another version")
    check(sealed(data[:place] + b"Q32A" + data[place + 4:]), "tag of a section")
    # The constants of this section do not belong to the arm in the image. The tool does not check
    # constants that another build has prepared (layout 0).
    check(sealed(data[:-4] + bytes([data[-4] ^ 1]) + data[-3:]), "do not belong to the other numbers")
    check(joined(data[:-4] + bytes([data[-4] ^ 1]) + data[-3:]), "contradict each other")
    with open(bad, "wb") as file:
        file.write(joined(data[:place + 8] + b"\0\0\0\0" + data[place + 12:]))
    good("info", "-q", bad)
    check(sealed(data[:16] + b"\x40" + data[17:]), "number of joints")
    check(sealed(data[:160] + struct.pack("<f", 1.0) + data[164:]), "joint 1: the robot image cannot be used")
    check(sealed(data[:148 + 148 + 12] + struct.pack("<f", math.nan) + data[148 + 148 + 16:]), "alpha")
    # A board accepts this, but a robot file cannot express it.
    check(joined(data[:152] + struct.pack("<I", 0) + data[156:]), "marks numbers as absent although it contains them")
    # A board refuses these, too, and the message names the number and what would be acceptable.
    check(joined(data[:32] + struct.pack("<f", 1e9) + data[36:]), "rate_hz is 1000000000; it must be 100 to 20000 Hz")
    check(joined(data[:148 + 140] + struct.pack("<f", -1) + data[148 + 144:]), "kp is -1; it must be 0 to")
    check(joined(data[:148 + 124] + struct.pack("<f", 0.5) + data[148 + 128:]), "counts is 0.5; it must be 0 to")
    check(joined(data[:148 + 68] + struct.pack("<2f", 1, -1) + data[148 + 76:]), "the lower limit is not below the upper one")
    for _ in range(30):  # test_image tests the reader with many more cases
        cut = bytearray(data)
        for _ in range(numbers_of.randrange(1, 4)):
            cut[numbers_of.randrange(4, len(cut))] = numbers_of.randrange(256)
        with open(bad, "wb") as file:
            file.write(sealed(bytes(cut)) if numbers_of.random() < 0.8 else bytes(cut))
        run("gravity", bad, rows="0 0 0 0 0 0\n")


def test_parts(folder):
    path = os.path.join(folder, "arm.yaml")
    good("parts", "cmu-dd", "-o", path)
    n = json.loads(good("info", "-q", "--json", path))["n"]
    row = [[0.2] * (3 * n)]
    assert table("id", path, rows=row) == table("id", "cmu-dd", rows=row)
    done = run("parts", "puma560")
    assert done.returncode == 2 and "not a parts database" in done.stderr, done


def test_list_of_parts(folder):
    """A rotor of cmu-dd is a tube and a shaft on the same axis and with the same middle, so its
    inertia is the sum of theirs. The links weigh as much as the parts that they use."""
    made = json.loads(good("parts", "cmu-dd", "--list", "--json"))
    parts = {part["name"]: part for part in made["parts"]}
    solids = [(5200, 0.084, 0.05, 0.1), (7850, 0.02, 0, 0.16)]  # density, radius, inner radius, length
    masses = [rho * math.pi * (r * r - i * i) * length for rho, r, i, length in solids]
    turn = sum(m * (r * r + i * i) / 2 for m, (_, r, i, _) in zip(masses, solids))
    tilt = sum(m * (3 * (r * r + i * i) + length ** 2) / 12 for m, (_, r, i, length) in zip(masses, solids))
    rotor = parts["motor_large_rotor"]
    near([rotor["mass"]] + rotor["com"] + rotor["inertia"], [sum(masses), 0, 0, 0, tilt, tilt, turn, 0, 0, 0], 1e-12, "rotor")
    assert rotor["used"] == 2 and len(parts) == len(made["parts"])
    # The fork is symmetric about x and y, and reaches from its bridge at z = -0.14 up.
    fork = parts["shoulder_fork"]
    assert max(map(abs, fork["com"][:2])) < 1e-12 and -0.14 < fork["com"][2] < 0, fork
    near([sum(link["mass"] for link in made["links"])], [sum(p["used"] * p["mass"] for p in parts.values())], 1e-12, "mass")
    path = os.path.join(folder, "arm.yaml")
    good("parts", "cmu-dd", "-o", path)
    with open(path) as file:
        masses = [float(x) for x in re.findall(r"mass: ([-+.\de]+)", file.read())]
    assert masses == [link["mass"] for link in made["links"]], masses
    text = good("parts", "cmu-dd", "--list")
    rows = [line.split() for line in text.splitlines()]
    for name, part in parts.items():
        row = next(r for r in rows if r[:1] == [name] and len(r) == 12)
        near([float(x) for x in row[2:]], [part["mass"]] + part["com"] + part["inertia"], 1e-5, name)
    assert len([r for r in rows if len(r) == 11 and r[0] != "link"]) == len(made["links"]), text
    done = run("parts", "cmu-dd", "--list", "-o", path)
    assert done.returncode == 2 and "--output writes a robot file; leave one of them out" in done.stderr, done


# ----------------------------------------------------------------------------------- inverse kinematics

def rpy_of(pose):
    return [pose[3], pose[7], pose[11], math.atan2(pose[9], pose[10]),
            math.atan2(-pose[8], math.hypot(pose[0], pose[4])), math.atan2(pose[4], pose[0])]


POSES = 1000


def check_ik(robot, *options):
    """For poses of random positions within the limits, ik finds positions within the limits that
    reach the pose to 1e-9."""
    info = json.loads(good("info", "-q", "--json", robot, *options))
    numbers_of = random.Random(17)
    limits = [joint.get("position", [-math.pi, math.pi]) for joint in info["joints"]]
    positions = [[numbers_of.uniform(*limit) for limit in limits] for _ in range(POSES)]
    poses = table("fk", robot, *options, rows=positions)
    done = run("ik", robot, *options, rows=[rpy_of(pose) for pose in poses])
    lines = done.stdout.splitlines()
    assert len(lines) == POSES
    reached = [i for i, line in enumerate(lines) if not line.startswith("#")]
    said = re.search(r"(\d+) of (\d+) poses reached \(([\d.]+) %\)", done.stderr)
    assert said and int(said.group(1)) == len(reached) and int(said.group(2)) == POSES, done.stderr
    found = [[float(x) for x in lines[i].split()] for i in reached]
    for q in found:
        for value, limit in zip(q, limits):
            assert limit[0] - 1e-12 <= value <= limit[1] + 1e-12, f"{robot}: {value} outside of {limit}"
    worst = 0
    for i, pose in zip(reached, table("fk", robot, *options, rows=found)):
        worst = max(worst, max(abs(a - b) for a, b in zip(pose, poses[i])))
    print(f"NOTE ik {os.path.basename(robot)}: {said.group(0)}, at most {worst:.1e} away", flush=True)
    assert worst <= 1e-9, f"{robot}: {worst:.3g} away"
    assert len(reached) > 0.99 * POSES, f"{robot}: {said.group(0)}"
    return f"{len(reached)} of {POSES}", f"{worst:.1e}"


def measured_ik(name, robot, *options):
    """Prints the largest errors for tools/EVIDENCE.md."""
    reached, worst = check_ik(robot, *options)
    print(f"measured tool.ik_{name}_reached {reached}\nmeasured tool.ik_{name} {worst}", flush=True)


def test_ik_then_fk_puma560(folder):
    measured_ik("puma560", "puma560")


def test_ik_then_fk_with_base_and_tool(folder):
    check_ik(limited_arm(folder))


def test_ik_then_fk_ur5(folder):
    measured_ik("ur5", shared_robot("ur5_robot.urdf"))


def test_ik_then_fk_panda(folder):
    measured_ik("panda_finger", shared_robot("panda.urdf"))
    measured_ik("panda_gripper", shared_robot("panda.urdf"), "--tip", "panda_hand_tcp")


def test_ik_that_fails(folder):
    done = run("ik", "puma560", rows=[[3, 0, 0, 0, 0, 0], [0.4, 0.2, 0.3, 0, 1.5, 0]])
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 2, done
    assert done.stdout.startswith("# row 1: not reached"), done.stdout
    assert re.search(r"stdin:1: error: row 1: no solution in 101 attempts; the nearest attempt is [\d.]+ m and "
                     r"[\d.e-]+ rad away", done.stderr), done.stderr
    answer = json.loads(run("ik", "puma560", "--json", "--restarts", "3", rows=[[3, 0, 0, 0, 0, 0]]).stdout)
    assert answer["rows"] == [None] and answer["reached"] == 0 and answer["asked"] == 1


def test_ik_start_and_seed(folder):
    pose = rpy_of(table("fk", "puma560", rows=[[0.3, 0.8, -0.5, 0.2, 0.7, -0.1]])[0])
    near(table("ik", "puma560", "--start", "0.3,0.8,-0.5,0.2,0.7,0", "--restarts", "0", rows=[pose])[0],
         [0.3, 0.8, -0.5, 0.2, 0.7, -0.1], 1e-8, "from nearby")
    one = good("ik", "puma560", "--seed", "7", rows=[pose])
    assert one == good("ik", "puma560", "--seed", "7", rows=[pose])


# ----------------------------------------------------------------------------------- help and bad usage

def test_help(folder):
    listing = good("help")
    assert good("--help") == listing
    for task in ("robot", "compute", "simulate", "board", "move", "trouble", "code and pages"):
        assert re.search(rf"^{task}\b", listing, re.MULTILINE), task
    assert max(map(len, listing.splitlines())) <= 80
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\w", listing, re.MULTILINE), command
        text = good("help", command)
        assert re.search(r"^Example:\n  \$ .*appell", text, re.MULTILINE), text
        assert f"usage: appell {command} [OPTIONS]" in text and good(command, "--help") == text
        assert not re.search(r" $", text, re.MULTILINE), command
        assert max(map(len, text.splitlines())) <= 80, command
    for problem, methods in METHODS.items():
        known = methods + ([] if problem == "coriolis" else ["gen"])
        assert f"Methods: {', '.join(known)}." in good("help", problem)


def test_version(folder):
    """The program prints the version in the Makefile and a commit, which depends on when it was
    linked."""
    with open("Makefile") as file:
        number = re.search(r"^VERSION := (\d+\.\d+\.\d+)$", file.read(), re.MULTILINE).group(1)
    said = good("--version")
    assert re.fullmatch(rf"appell {re.escape(number)} \(([0-9a-f]{{10,}}(-dirty)?|unknown)\)\n", said), said
    assert f'"appell {number}"' in good("man").splitlines()[0]


def option_help(command, option):
    """Returns the text of `appell help` about an option, in one line."""
    text = good("help", command)
    match = re.search(rf"^  (?:-\w, )?--{option}\b.*\n?(?: {{10,}}.*\n)*", text, re.MULTILINE)
    return " ".join(match.group(0).split())


def test_help_of_an_option_is_the_command_s(folder):
    """If commands share an option, the help of each explains its own meaning; the man page says the
    same."""
    man = " ".join(good("man").replace("\\-", "-").split())
    for command, option, word in (("inspect", "tolerance", "0.02"), ("demo", "output", "folder"), ("faults", "output", "folder"),
                                  ("gen", "output", "folder"), ("gen", "real", "f32 (default)"),
                                  ("scale", "seed", "states"), ("selftest", "seed", "states"), ("ik", "seed", "starts"),
                                  ("id", "port", "own kernel"), ("monitor", "count", "samples"),
                                  ("selftest", "count", "100"), ("selftest", "real", "control loop")):
        said = option_help(command, option)
        assert word in said, said
        assert said.split(" ", 3)[3] in man, said
    for command, option, word in (("inspect", "tolerance", "rk45"), ("monitor", "duration", "simulated"),
                                  ("id", "output", "gen"), ("id", "real", "gen"),
                                  *((c, "port", "ows are") for c in ("clear", "crash", "home", "demo")),
                                  *((c, "port", "ROBOT") for c in ("clear", "crash", "home", "demo", "get"))):
        if f"--{option}" in good("help", command):
            assert word not in option_help(command, option), (command, option)
    for command in COMMANDS:  # each line can be typed exactly as printed
        assert not re.search(r"^  \$ .*,\.\.\.", good("help", command), re.MULTILINE), command


def test_examples_run(folder):
    """Every example in the help that needs no file of the user runs and succeeds."""
    for command in COMMANDS:
        text = good("help", command)
        for line in re.findall(r"^  \$ (.*)$", text[text.index("\nExample:"):], re.MULTILINE):
            if re.search(r"\.txt|\.urdf|\.img|\.json|source|--port| -p |appell gen|appell certify", line):
                continue
            if re.search(r"appell (hold|move|jog|stop|release|home|config|emulate|status|flash|get|set|save|monitor|crash|clear)\b", line):
                # they need a board: test_move and test_first_hour
                continue
            line = line.replace("-o arm.yaml", f"-o {folder}/example.yaml")
            line = re.sub(r"(--plot|--animate|--bent|-o) (\w+[\w.]*)", rf"\1 {folder}/\2", line)
            script = re.sub(r"\bappell ", PROGRAM + " ", line)
            if "man -l" in script and not shutil.which("man"):
                continue
            done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
            assert done.returncode == 0, f"{line}: {done.stderr[-500:]}"
            interactive = line == "appell sim cmu-dd"  # prints nothing, because nobody types
            assert done.stdout or "-o" in line or interactive, line


def test_man_page(folder):
    path = os.path.join(folder, "appell.1")
    with open(path, "w") as file:
        file.write(good("man"))
    if not shutil.which("man"):
        raise Skip("there is no man on this machine")
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", path], capture_output=True, text=True,
                          env=dict(os.environ, MANWIDTH="100", LC_ALL="C.UTF-8", MAN_KEEP_FORMATTING=""))
    assert done.returncode == 0 and not done.stderr, done.stderr
    text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)
    for word in ["NAME", "SYNOPSIS", "--method NAME", "$ appell check puma560"] + \
            [f"appell {command}" for command in COMMANDS]:
        assert word in text, word


LONG = " ".join(["1"] * 18)

# Rows of (arguments, standard input, exit code, part of standard error).
BAD = [
    ([], "", 2, ""),
    (["idd"], "", 2, "there is no command 'idd'; did you mean id?"),
    (["inof", "puma560"], "", 2, "did you mean info?"),
    (["gen", "puma560"], "", 2, "so a folder is needed; write -o DIR"),
    (["--method"], "", 2, "the command comes first"),
    (["help", "jacobien"], "", 2, "did you mean jacobian?"),
    (["run", "puma560"], "", 2, "there is no command 'run' any more; `appell demo ROBOT` compares controllers"),
    (["faults", "tracking"], "", 2, "'tracking' is neither explain nor provoke; write `appell faults explain tracking`"),
    (["faults", "explain"], "", 2, "FAULT is missing"),
    (["faults", "provoke"], "", 2, "ROBOT is missing"),
    (["faults", "--port", "x"], "", 2, "`appell status` shows the fault of a board"),
    (["image", "puma560", "--json", "-o", "-"], "", 2, "standard output cannot carry the robot and JSON"),
    (["id"], "", 2, "ROBOT is missing; usage: appell id [OPTIONS] ROBOT [ROWS]"),
    (["id", "puma560", "a", "b"], "", 2, "one argument too many: 'b'"),
    (["id", "puma560", "--metod", "ne"], "", 2, "unknown option --metod; did you mean --method?"),
    (["id", "puma560", "-x"], "", 2, "unknown option -x"),
    (["id", "puma560", "--port", "/no/such/port"], "", 2, "/no/such/port"),
    (["id", "puma560", "--method"], "", 2, "option --method needs a value; write --method NAME"),
    (["id", "puma560", "--json=yes"], "", 2, "option --json takes no value"),
    (["mass", "puma560", "--wrench", "1,2,3,4,5,6"], "", 2, "this command has no option --wrench"),
    (["id", "puma560", "--method", "lagrange"], "", 2,
     "there is no method 'lagrange' for id; choose one of: fast, ne, ga, denoc, gen"),
    (["fd", "puma560", "-m", "ne"], "", 2,
     "there is no method 'ne' for fd; choose one of: fast, crba, ga, aba, denoc, gen"),
    (["fk", "puma560", "-m", "fast"], "", 2, "there is no method 'fast' for fk; choose one of: -, gen"),
    (["id", "puma560", "--real", "f16"], "", 2, "there is no number type 'f16'; choose one of: f64, f32, q31"),
    (["id", "puma560", "--gravity", "1,2"], "", 2, "--gravity: got 2 numbers, expected 3"),
    (["id", "puma560", "--gravity", "1,2,x"], "", 2, "'1,2,x' is not a list of finite numbers"),
    (["id", "puma560", "--gravity", "1,2,nan"], "", 2, "'1,2,nan' is not a list of finite numbers"),
    (["id", "puma560", "--wrench", "1,2,3"], "", 2, "--wrench: got 3 numbers, expected 6"),
    (["id", "puma560", "--payload", "1,2"], "", 2, "--payload: 1, 4 or 10 numbers are expected"),
    (["id", "puma560", "--payload", "-1"], "", 2, "--payload: the mass is negative"),
    (["id", "puma560", "--freeze", "elbow"], "", 2, "--freeze: 'elbow' is not of the form JOINT=VALUE"),
    (["id", "puma560", "--freeze", "elbow=1"], "", 2, "with a URDF only"),
    (["id", "puma560", "--parallel", "2"], "", 2, "--parallel: the angle must be above 0"),
    (["ik", "puma560", "--start", "1,2"], "", 2, "--start: got 2 numbers, expected 6"),
    (["ik", "puma560", "--start", "9,0,0,0,0,0"], "", 2, "--start: joint waist is at 9, outside of its limits"),
    (["ik", "puma560", "--restarts", "many"], "", 2, "--restarts: 'many' is not a possible value; write a whole number"),
    (["id", "nobody"], "", 2, "there is no file of this name, and no robot of this name in"),
    (["id", "./nobody.yaml"], "", 2, "./nobody.yaml: error: cannot be opened: No such file"),
    (["id", "tools"], "", 2, "there is no file of this name"),
    (["id", "./tools"], "", 2, "this is a folder"),
    (["id", "puma560", "./no-rows"], "", 2, "./no-rows: error: cannot be opened: No such file"),
    (["id", "puma560", "./tools"], "", 2, "./tools:1: error: reading failed: Is a directory"),
    (["id", "puma560"], LONG[:-2] + "\n", 2,
     "stdin:1: error: row 1: got 17 numbers, expected 18 (q qd qdd of 6 joints)"),
    (["id", "puma560"], LONG + " 1\n", 2, "row 1: got 19 numbers, expected 18"),
    (["gravity", "planar3r"], "0 0 0\n\n# c\n1 2 nan\n", 2, "stdin:4: error: row 2: 'nan' is not a finite number"),
    (["gravity", "planar3r"], "1 2 inf\n", 2, "'inf' is not a finite number"),
    (["gravity", "planar3r"], "1 2 1e999\n", 2, "'1e999' is not a finite number"),
    (["gravity", "planar3r"], "1 2 0x10\n", 2, "'0x10' is not a finite number"),
    (["gravity", "planar3r"], "1 2 3;\n", 2, "'3;' is not a finite number"),
    (["gravity", "planar3r"], "1 2 1.2.3\n", 2, "'1.2.3' is not a finite number"),
    (["gravity", "planar3r"], "1,,2,3\n", 2, "a number is missing before a comma"),
    (["gravity", "planar3r"], "1 \0 2\n", 2, "is not a finite number"),
    (["gravity", "planar3r"], "\x01\x02\x7f\n", 2, "'\\x01\\x02\\x7f' is not a finite number"),
    (["gravity", "planar3r"], "1 " * 700000, 2, "longer than 1048576 bytes"),
    (["gravity", "planar3r"], "1 2 3 " + "a" * 300 + "\n", 2, "'aaaaaaaaaaaaaaaaaaaaaaa...' is not a finite"),
    (["bias", "planar3r"], "1 1 1 1e200 1e200 1e200\n", 2, "the result in f64 is not a finite number; use smaller numbers\n"),
    (["ik", "puma560", "-q"], "1e155 0 0 0 0 0\n", 2, "1e+155 is larger than 1e15"),
    (["id", "puma56"], "", 2, "did you mean puma560?"),
    (["ops", "puma560", "--csv", "--json"], "", 2, "--csv and --json cannot be used together"),
    (["id", "puma560", "--payload", "1,0,0,0,-1,-1,-1,0,0,0"], "", 2, "payload: no body has this inertia"),
    (["bias", "planar3r", "--real", "f32"], "1 1 1 1e30 1e30 1e30\n", 2, "the result in f32 is not a finite number"),
    (["gravity", "puma560", "--real", "q31"], "3 0 0 0 0 0\n", 2,
     "position of joint waist is 3, outside of -2.79252"),
    (["bias", "puma560", "--real", "q31"], "0 0 0 0 0 0 9 0 0 0 0 0\n", 2, "velocity of joint waist is 9"),
    (["id", "puma560", "--real", "q31"], "0 " * 17 + "99\n", 2, "acceleration of joint flange is 99"),
    (["id", "twobody", "--real", "q31"], "", 2,
     "joint small: the proof that q31 cannot overflow needs limits of velocity, acceleration"),
    (["volt", "stanford"], "", 2, "joint shoulder_pan: motor is missing, so the motor voltage cannot be computed"),
    (["image", "puma560"], "", 2, "an image is binary and is not printed without -o"),
    (["image", "--show", "./tools/robots/puma560.yaml"], "", 2, "the file is not a robot image"),
    (["image", "puma560", "--show", "x"], "", 2, "--show IMAGE and ROBOT cannot be used together"),
    (["gen", "puma560", "-q", "-o", "./no/such/folder"], "", 2, "./no/such/folder: error: cannot be made: No such file"),
    (["image", "puma560", "-q", "-o", "./no/such/folder/x"], "", 2, "cannot be written: No such file"),
    (["image", "puma560", "-q", "-o", "/dev/full"], "", 2, "writing failed: No space left"),
    (["completion", "fish"], "", 2, "there is no completion for 'fish'; write `appell completion bash` or `appell completion zsh`"),
]


def test_bad_usage_and_rows(folder):
    for arguments, rows, code, words in BAD:
        done = run(*arguments, rows=rows)
        said = f"appell {' '.join(arguments)[:80]}: exit {done.returncode}, {done.stderr[:300]!r}"
        assert done.returncode == code, said
        assert words in done.stderr, f"{said} without {words!r}"
        if words:
            assert done.stderr.count("\n") == 1, f"{said}: more than one line"
    print(f"NOTE {len(BAD)} cases of bad usage and rows\nmeasured tool.bad_usage {len(BAD)}", flush=True)


def test_a_singular_matrix(folder):
    rows = [dict(ARM[0]), dict(ARM[1], m=0, I=[0] * 6)]
    robot = robot_file(folder, "singular", "dh", [0, 0, -9.81], rows)
    for method in METHODS["fd"]:
        done = run("fd", robot, "-q", "-m", method, rows=[[0.1] * 6])
        assert done.returncode == 2 and "row 1: the inertia matrix is not positive definite" in done.stderr, \
            (method, done)


# --------------------------------------------------------------------------------- unwilling machines

# Everything but tabs and line ends that a terminal takes for a command. run() fails if the output is not UTF-8.
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")


def printable(*arguments, **more):
    """Runs the program and checks that it prints no control characters. Returns the finished process."""
    done = run(*arguments, **more)
    bad = CONTROL.search(done.stdout + done.stderr)
    assert not bad, f"{arguments}: control character {bad} in {done.stdout + done.stderr!r:.600}"
    return done


def hostile_urdf(folder, name, first, second):
    """Writes a URDF whose file, robot, links and joints have bad names. Expat refuses most control characters, but not U+009B, which is
    an escape sequence in one character."""
    path = os.path.join(folder, name)
    inertial = ('<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" iyz="0" ixz="0"/>'
                '</inertial>')
    joint = ('<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><axis xyz="0 1 0"/><origin xyz="0 0 0.2"/>'
             '<limit lower="-1" upper="1" velocity="1" effort="9"/></joint>')
    bad = html.escape(first)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<robot name="r{bad}"><link name="base{bad}"/><link name="one{bad}">{inertial}</link><link name="two">{inertial}</link>'
                   + joint.format(bad, "base" + bad, "one" + bad) + joint.format(html.escape(second), "one" + bad, "two") + "</robot>")
    return path


def test_what_files_say_is_printable(folder):
    """Names of files, and names and texts in files, reach the terminal without control characters: as results, as JSON, as messages."""
    arm = hostile_urdf(folder, "a\x1b[31m\udc9b.urdf", "j\u009b31m", "k\u0085")
    rows = os.path.join(folder, "rows\x1bc")
    with open(rows, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("1 2 3 4 \x1b[2J\udcff\n")
    for command in ("info", "check"):
        shown = printable(command, arm)
        assert "a\\x1b[31m\\x9b.urdf" in shown.stdout + shown.stderr and "j\\xc2\\x9b31m" in shown.stdout + shown.stderr, shown
        json.loads(printable(command, arm, "--json").stdout)
    assert json.loads(good("info", arm, "--json"))["joints"][0]["name"] == "j\u009b31m"
    for command in (["id"], ["gravity"], ["ops"], ["scale"], ["sim", "--duration", "0.01"], ["sim", "--duration", "0.01", "-o", "-"],
                    ["gen", "-o", os.path.join(folder, "gen\x1b")]):
        printable(*command, arm, rows=[[0] * 6])
    shown = printable("id", "planar3r", rows)
    assert "rows\\x1bc" in shown.stderr and "\\x1b[2J\\xff" in shown.stderr, shown
    image = os.path.join(folder, "a\x07.img")
    printable("image", arm, "-o", image)
    assert "a\\x07.img" in printable("image", "--show", image).stderr  # YAML does not allow such names
    shown = printable("sim", "planar3r", rows="theta = 1 2 3\n\x1b]0;title\x07\n")
    assert "\\x1b]0;title\\x07" in shown.stderr, shown


def test_what_people_type_is_printable(folder):
    for words in (["id", "planar3r", "--method", "\x1b[31m"], ["\x1b[31m"], ["info", "no\x1b[31m\nerror: such"], ["help", "\x9b"],
                  ["status", "--port", "tcp:\x1b[31m"], ["status", "--port", "unix:" + folder + "/\x1b"], ["status", "--port", "qemu:\x1b"],
                  ["status", "--port", folder + "/\x1b[31m\udcff"], ["info", "planar3r", "--\x1b[2J"]):
        done = printable(*words)
        assert done.returncode == 2 and "\\x" in done.stderr, done
        assert done.stderr.count("\n") == 1 or "\n" not in words[-1], done


def test_names_with_quotes_are_plotted(folder):
    """A name in a picture is text and nothing else: it cannot end the text, and gnuplot runs no command of it."""
    mark = os.path.join(folder, "mark")
    for name in ("'", "'x", "x'", "a''b", f"'; system('touch {mark}'); #", f"'`touch {mark}`", f"`touch {mark}`", '"x', "a\\"):
        arm = hostile_urdf(folder, "quotes.urdf", name, "k\u009b")
        svg = os.path.join(folder, "'it''s.svg")
        done = printable("sim", arm, "-q", "--duration", "0.05", "--plot", svg)
        assert done.returncode == 0 and not done.stderr, done
        with open(svg, encoding="utf-8") as file:
            texts = [html.unescape(re.sub("<.*?>", "", t)).strip() for t in re.findall(r"<text>(.*?)</text>", file.read(), re.S)]
        assert name in texts and "k\\xc2\\x9b" in texts, (name, texts)
        os.remove(svg)
    assert not os.path.exists(mark)


def test_closed_pipe(folder):
    path = os.path.join(folder, "many.txt")
    with open(path, "w") as file:
        file.write("0 0 0 0 0 0 1 0 0\n" * 200000)
    for signal in ("", "trap '' PIPE; "):
        done = subprocess.run(["bash", "-c", f"{signal}{PROGRAM} id planar3r {path} | head -1 >/dev/null; "
                               "echo ${PIPESTATUS[0]}"], capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.stdout == "0\n" and done.stderr == "", done
    done = subprocess.run(["bash", "-c", f"{PROGRAM} man | true; echo ${{PIPESTATUS[0]}}"],
                          capture_output=True, text=True)
    assert done.stdout == "0\n" and done.stderr == "", done


def test_full_disk(folder):
    for arguments in (["id", "planar3r"], ["info", "puma560"], ["help"], ["check", "puma560"], ["man"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, *arguments], input="0 0 0 0 0 0 1 0 0\n", stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and "writing failed: No space left on device" in done.stderr, done


def test_unwilling_disk(folder):
    """/proc/self/mem can be opened, but reading it fails, as on a broken disk."""
    for arguments, words in ((["id", "puma560", "/proc/self/mem"], "/proc/self/mem:1: error: reading failed: "),
                             (["id", "/proc/self/mem"], "/proc/self/mem: error: reading failed: ")):
        done = run(*arguments)
        assert done.returncode == 2 and words + "Input/output error" in done.stderr, done
    done = subprocess.run(["bash", "-c", f"{PROGRAM} gravity planar3r <&-"], capture_output=True, text=True)
    assert done.returncode == 2 and "reading failed: Bad file descriptor" in done.stderr, done


def test_no_permission(folder):
    path, program, robot = (os.path.join(folder, name) for name in ("secret.yaml", "appell", "robot.yaml"))
    shutil.copy("tools/robots/planar3r.yaml", path)
    shutil.copy("tools/robots/planar3r.yaml", robot)
    os.chmod(path, 0)
    os.chmod(folder, 0o755)
    more = {}
    if os.geteuid() == 0:  # root can read everything, so another user tries, who may not enter this tree
        shutil.copy(PROGRAM, program)
        more = {"user": 65534, "group": 65534, "cwd": folder, "program": program}
        try:
            run("help", **more)
        except (OSError, subprocess.SubprocessError):
            raise Skip("root may read everything, and nobody else can run the program here")
    for arguments in (["info", path], ["id", robot, path]):
        done = run(*arguments, **more)
        assert done.returncode == 2 and "cannot be opened: Permission denied" in done.stderr, done


def test_a_broken_input_leaves_the_output_file(folder):
    path = os.path.join(folder, "kept.img")
    good("image", "-q", "planar3r", "-o", path)
    before = open(path, "rb").read()
    assert run("image", "no/such/robot", "-o", path).returncode == 2
    assert open(path, "rb").read() == before
    assert [name for name in os.listdir(folder) if name.startswith("kept")] == ["kept.img"]


if __name__ == "__main__":
    sys.exit(main(globals()))
