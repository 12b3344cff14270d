#!/usr/bin/env python3
"""Tests generated code as a user gets it. The compilers of host and boards compile it with warnings
as errors; its results are compared with the general kernels, its operation counts with published
counts and with our own limits, and its bytes from run to run.

    test_gen.py [PROGRAM [PATTERN]]
"""
import contextlib
import ctypes
import glob
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/host/appell")
sys.argv[1:2] = [PROGRAM]  # test_appell reads the path of the program from there
import test_appell  # noqa: E402
from test_appell import ROBOTS, Skip, good, near, run, table  # noqa: E402

LONG = os.environ.get("LONG")
EFFORT = "10" if LONG else "1"  # effort of the annealer for all arms except the PUMA
OURS = ["puma560", "stanford", "planar3r", "twobody", "piezo6", "cmu-dd"]
DATA = "test/support/robot_data/%s.yaml"
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")
CROSS = os.environ.get("CROSS", "arm-none-eabi-")
WARN = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-ffp-contract=off"]
CORES = {"m3": ["-mcpu=cortex-m3", "-mthumb"],
         "m4f": ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
         "m7": ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"]}
# kernel: (number of inputs in blocks of n values, as in the rows of the tool; number of results)
KERNELS = {"id": (3, lambda n: n), "mass": (1, lambda n: n * (n + 1) // 2), "bias": (2, lambda n: n),
           "gravity": (1, lambda n: n), "fd": (3, lambda n: n), "fk": (1, lambda n: 12),
           "jacobian": (1, lambda n: 6 * n)}


def generate(folder, robot, *options):
    """Returns the path of the generated files without their endings."""
    good("gen", robot, "--prefix", "arm", *options, "-q", "-o", folder)
    return os.path.join(folder, "arm")


def made(folder, robot, *options):
    """Returns the bytes of the generated files."""
    path = generate(folder, robot, *options)
    return [open(path + end, "rb").read() for end in (".c", ".h", "_base.csv")]


@contextlib.contextmanager
def cache(folder=None):
    """Lets the annealer keep its results in this folder. Without a folder it anneals every time."""
    before = os.environ.pop("APPELL_CACHE", None)
    if folder:
        os.environ["APPELL_CACHE"] = folder
    try:
        yield
    finally:
        os.environ.pop("APPELL_CACHE", None)
        if before is not None:
            os.environ["APPELL_CACHE"] = before


def compiled(path, *options):
    """Compiles into a library with a new name, because a library of the same name is not loaded
    again."""
    with tempfile.NamedTemporaryFile(suffix=".so", dir=os.path.dirname(path), delete=False) as f:
        pass
    subprocess.run([CC, *WARN, "-O1", "-shared", "-fPIC", *options, path + ".c", "-lm", "-o", f.name], check=True)
    return ctypes.CDLL(f.name)


def joints_of(robot):
    return len(json.loads(good("info", robot, "--json", "-q"))["joints"])


def call(library, kernel, number, n, row):
    blocks, results = KERNELS[kernel]
    arrays = [(number * n)(*row[k * n:(k + 1) * n]) for k in range(blocks)]
    out = (number * results(n))()
    getattr(library, "arm_" + kernel)(*arrays, out)
    return list(out)


def packed(matrix, n):
    return [matrix[i * n + j] for i in range(n) for j in range(i + 1)]


def counts(path):
    """Returns {kernel: (multiplications, additions)} from the generated header."""
    with open(path + ".h", encoding="utf-8") as f:
        text = f.read()
    return {m[1]: (int(m[2]), int(m[3])) for m in re.finditer(r"\*   (\w+) +(\d+) mul +(\d+) add", text)}


def long_arm(folder, joints):
    """Writes the file of an arm with full inertias and this many joints (more than seven)."""
    with open(DATA % "lwr7", encoding="utf-8") as f:
        text = f.read()
    joint = text[text.index("  - name: joint3"):text.index("  - name: joint4")]
    more = "".join(joint.replace("joint3", f"joint{k}").replace("d: 0.4", f"d: 0.{k}") for k in range(8, joints + 1))
    path = os.path.join(folder, "long.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.rstrip() + "\n" + more)
    return path


def planar_arm(folder, joints, prismatic=0):
    """Writes the file of an arm with this many parallel axes; joint number `prismatic` moves along
    them."""
    text = f"name: planar{joints}\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n"
    for k in range(1, joints + 1):
        a = 0.1 + 0.002 * k
        text += (f"  - name: joint{k}\n    type: {'prismatic' if k == prismatic else 'revolute'}\n"
                 f"    dh: {{theta: 0, d: 0, a: {a:.3f}, alpha: 0}}\n"
                 f"    link: {{mass: 0.2, com: [{-a / 2:.4f}, 0.01, 0], inertia: [1e-5, 2e-4, 2e-4, 0, 0, 0]}}\n"
                 "    limits: {position: [-1, 1], velocity: 0.3, acceleration: 1}\n")
    path = os.path.join(folder, f"planar{joints}_{prismatic}.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def check_robot(folder, robot):
    n = joints_of(robot)
    path = generate(folder, robot, "--real", "f64", "--effort", "1")
    library = compiled(path)
    assert library.arm_selftest() == 0, f"{robot}: {library.arm_selftest()} wrong in the self-test"
    source = random.Random(robot)
    for kernel, (blocks, _) in KERNELS.items():
        rows = [[source.uniform(-1.5, 1.5) for _ in range(blocks * n)] for _ in range(10)]
        friction = ["--no-friction"] if kernel in ("id", "fd") else []
        for row, expected in zip(rows, table(kernel, robot, *friction, rows=rows)):
            if kernel == "mass":
                expected = packed(expected, n)
            # 1e-12 allows some thousand roundings of 1.1e-16 in values up to a few times the
            # largest result. Forward dynamics multiplies errors by the condition number of the
            # inertia matrix, assumed to be below 1e4 here and 1e8 for `twobody`.
            more = 1 if kernel != "fd" else 1e6 if robot == "twobody" else 1e2
            near(call(library, kernel, ctypes.c_double, n, row), expected, 1e-12 * more, f"{robot} {kernel}")


def test_every_robot_of_ours(folder):
    for robot in OURS:
        check_robot(folder, robot)


def test_every_urdf(folder):
    files = sorted(glob.glob(ROBOTS + "/*.urdf"))
    if not files:
        raise Skip(f"there is no {ROBOTS}")
    for robot in files:
        check_robot(folder, robot)


def noise_of(path):
    """Returns the constants in a generated source that are outside 1e-20 to 1e20; no robot has such
    numbers, so they come from rounding errors."""
    with open(path + ".c", encoding="utf-8") as f:
        code = f.read().split("/* Results of the general kernels")[0]
    found = [float(x) for x in re.findall(r"\b\d[0-9.]*e[-+]?\d+(?=f?\b)", code)]
    return [x for x in found if not 1e-20 < abs(x) < 1e20]


def test_every_urdf_in_single_precision(folder):
    """URDF files write right angles with a few digits and zeros as rounding errors. In float
    neither may become a constant outside the number range. The self-test compares with the model as
    given."""
    files = sorted(glob.glob(ROBOTS + "/*.urdf"))
    if not files:
        raise Skip(f"there is no {ROBOTS}")
    for robot in files:
        for effort in ("0", "1"):
            path = generate(folder, robot, "--real", "f32", "--effort", effort)
            assert not noise_of(path), f"{robot} --effort {effort}: {noise_of(path)}"
            assert compiled(path, "-Wdouble-promotion").arm_selftest() == 0, f"{robot} --effort {effort}"


def test_noise_of_a_file_is_not_geometry(folder):
    """The PUMA with right angles of 12 digits and lengths of 1e-14 m instead of 0 costs as many
    operations in float as the exact one; in double the code gives the torques of the file as
    written."""
    with open("tools/robots/puma560.yaml", encoding="utf-8") as f:
        text = f.read()
    rough = text
    for old, new in (("alpha: 1.5707963267948966", "alpha: 1.57079632679"), (" a: 0,", " a: 1e-14,"),
                     ("theta: 0,", "theta: 2e-13,")):
        assert old in rough, old
        rough = rough.replace(old, new)
    path = os.path.join(folder, "rough.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(rough)
    same = [counts(generate(folder, robot, "--effort", "0")) for robot in ("puma560", path)]
    assert same[0] == same[1], same
    check_robot(folder, path)


def test_full_inertias(folder):
    for robot in ("puma560full", "lwr7", "ur10like", "wrist6") if LONG else ("puma560full",):
        check_robot(folder, DATA % robot)


def test_many_parallel_axes(folder):
    """A sum of many angles still gets a unique name. The code compiles as C and as C++ in every
    number type."""
    for joints, prismatic in ((13, 0), (13, 5), (20, 0), (32, 0)):
        robot = planar_arm(folder, joints, prismatic)
        for real in ("f32", "q31", "f64"):
            path = generate(folder, robot, "--real", real, "--effort", "0")
            subprocess.run([CXX, "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                            path + ".c"], check=True)
            library = compiled(path, "-O0")
            assert library.arm_selftest() == 0, f"{joints} joints, {real}"
        source = random.Random(joints)
        for kernel in ("id", "mass"):
            rows = [[source.uniform(-1.5, 1.5) for _ in range(KERNELS[kernel][0] * joints)] for _ in range(3)]
            for row, expected in zip(rows, table(kernel, robot, rows=rows)):
                expected = packed(expected, joints) if kernel == "mass" else expected
                near(call(library, kernel, ctypes.c_double, joints, row), expected, 1e-12, f"{joints} joints, {kernel}")


# ------------------------------------------------------------------------------------ number types

def test_f32_is_what_the_tool_evaluates(folder):
    """The compiled code and the tool agree in every bit, and the tolerances of the self-test allow
    for rounding."""
    path = generate(folder, "puma560", "--real", "f32")
    library = compiled(path, "-Wdouble-promotion")
    assert library.arm_selftest() == 0
    source = random.Random(2)
    for kernel in ("id", "mass", "fd"):
        blocks = KERNELS[kernel][0]
        rows = [[source.uniform(-1, 1) for _ in range(6 * blocks)] for _ in range(20)]
        rows = [[ctypes.c_float(x).value for x in row] for row in rows]
        friction = ["--no-friction"] if kernel != "mass" else []
        for row, said in zip(rows, table(kernel, "puma560", "--method", "gen", "--real", "f32", *friction,
                                         rows=rows)):
            expected = packed(said, 6) if kernel == "mass" else said
            got = [float("%.9g" % x) for x in call(library, kernel, ctypes.c_float, 6, row)]
            if kernel == "mass":
                assert got == expected, f"{kernel}: {got} {expected}"
            else:  # the tool adds a friction of zero, which only turns -0 into 0
                assert [x + 0 for x in got] == [x + 0 for x in expected], f"{kernel}: {got} {expected}"


def two_links(folder, first, second):
    path = os.path.join(folder, "two.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("name: two\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n" + "".join(
            f"  - {{name: j{i}, type: revolute, dh: {{theta: 0, d: 0, a: 0, alpha: {alpha}}}, link: {{mass: {mass}, "
            f"com: [0.5, 0, 0], inertia: [{inertia}, {inertia}, {inertia}, 0, 0, 0]}}}}\n"
            for i, (alpha, mass, inertia) in enumerate((first, second))))
    return path


def test_a_divisor_that_is_a_product(folder):
    """The first joint moves a point mass only, at a distance c2: its pivot is c2 c2 and stands below a line."""
    robot = two_links(folder, (0, 0, 0), ("1.5707963267948966", 2, 0))
    for real in ("f32", "f64"):
        for effort in ("1", "10"):
            assert compiled(generate(folder, robot, "--real", real, "--effort", effort)).arm_selftest() == 0, (real, effort)


def test_an_arm_without_mass_has_no_forward_dynamics(folder):
    robot = two_links(folder, (0, 0, 0), (0, 0, 0))
    done = run("gen", robot, "--prefix", "arm", "-o", folder)
    assert done.returncode == 0 and "fd is not generated: its results are not finite" in done.stderr, done
    with open(os.path.join(folder, "arm.h"), encoding="utf-8") as f:
        header = f.read()
    assert "There is no fd" in header and "#define ARM_WITHOUT_FD 1" in header and "arm_fd(" not in header, header
    assert compiled(os.path.join(folder, "arm")).arm_selftest() == 0


def test_signs_that_change_while_nodes_wait(folder):
    """In this arm the annealer negates a product's operand while the product waits to be simplified, and
    a sum reads it meanwhile."""
    path = generate(folder, DATA % "flipped", "--real", "f64", "--no-base", "--effort", "1")
    assert compiled(path).arm_selftest() == 0


def test_q31_is_proved_and_right(folder):
    """Over many states the error stays below the bound that the header guarantees; the self-test
    passes."""
    for robot in ("puma560", "stanford", "planar3r", "cmu-dd") if LONG else ("stanford", "planar3r"):
        path = generate(folder, robot, "--real", "q31", "--effort", "1")
        library = compiled(path)
        assert library.arm_selftest() == 0, robot
        with open(path + ".h", encoding="utf-8") as f:
            errors = dict(re.findall(r"\*   (\w+) +bound \S+ error (\S+)", f.read()))
        n = joints_of(robot)
        source = random.Random(robot)
        for kernel in ("id", "mass", "bias", "gravity"):
            blocks = KERNELS[kernel][0]
            # These values are within the limits of the arms. All except angles are exact in q31.
            rows = [[source.randrange(-64, 65) / 256 for _ in range(n * blocks)] for _ in range(50)]
            exact = table(kernel, robot, *(["--no-friction"] if kernel == "id" else []), rows=rows)
            fixed = table(kernel, robot, "--method", "gen", "--real", "q31",
                          *(["--no-friction"] if kernel == "id" else []), rows=rows)
            # The second term is the error of positions that are rounded to binary angles: 2^-33
            # turns times a derivative of a few times the largest result.
            for a, b in zip(exact, fixed):
                bound = 2 * float(errors[kernel]) + 2**-30 * 16 * (1 + max(map(abs, a)))
                worst = max(abs(x - y) for x, y in zip(a, b))
                assert worst <= bound, f"{robot} {kernel}: {worst:.3g} above {bound:.3g}"


def example_of(path):
    """Returns the program that the comment in the header of q31 code contains."""
    with open(path + ".h", encoding="utf-8") as f:
        lines = re.search(r"^ \*     #include <math.h>\n(?: \*(?:     .*)?\n)*", f.read(), re.M)[0].splitlines()
    return "".join(line[7:] + "\n" for line in lines)


def test_the_example_of_the_header(folder):
    """The header of q31 code contains a program that calls inverse dynamics from SI units. It
    compiles as C and as C++, and its torques are those of the general kernels in double, to the
    guaranteed error and the rounding of the inputs. One arm has a prismatic joint, one wraps
    around."""
    for robot in ("puma560", "stanford", planar_arm(folder, 13, 5)):
        path = generate(folder, robot, "--real", "q31", "--effort", "0")
        with open(path + ".h", encoding="utf-8") as f:
            error = float(re.search(r"\*   id +bound \S+ error (\S+)", f.read())[1])
        text = example_of(path)
        state = [[float(x) for x in re.search(rf"double {name}\[N\] = \{{(.*?)\}}", text, re.DOTALL)[1].split(",")]
                 for name in ("q", "qd", "qdd")]
        example, program = os.path.join(folder, "example.c"), os.path.join(folder, "example")
        with open(example, "w", encoding="utf-8") as f:
            f.write(text)
        expected = table("id", robot, "--no-friction", rows=[sum(state, [])])[0]
        for compiler in ([CC, *WARN], [CXX, "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror"]):
            subprocess.run([*compiler, "-I", folder, example, path + ".c", "-lm", "-o", program], check=True)
            out = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
            # An input is off by half a unit, at most 2^-23 of an SI unit in these arms, and a
            # torque changes by at most some times its largest value for each unit of an input.
            bar = error + 2**-23 * 8 * (1 + max(map(abs, expected)))
            assert len(out) == len(expected), out
            for x, torque in zip(out, expected):
                assert abs(float(x) - torque) <= bar, f"{robot}: {x} {torque} {bar:.2g}"


def test_the_example_of_the_page(folder):
    """The program in tools/gen/README.md shows how the code is called in f32 and in q31. It
    compiles and runs unchanged by the commands of the page, and both number types give the torques
    of the general kernels to four decimals."""
    with open("tools/gen/README.md", encoding="utf-8") as f:
        page = f.read()
    os.mkdir(os.path.join(folder, "build"))
    commands = re.findall(r"^    appell (gen puma560 [^#\n]*)", page, re.M)
    assert len(commands) == 2, commands
    for command in commands:
        done = run(*shlex.split(command), "-q", cwd=folder)
        assert done.returncode == 0, done.stderr
    output = os.path.join(folder, "build", "puma")
    with open(os.path.join(output, "example.c"), "w", encoding="utf-8") as f:
        f.write(re.search(r"```c\n(.*?)```", page, re.DOTALL)[1])
    gcc, program = re.search(r"^    gcc (.*)\n    (build/.*)$", page, re.M).groups()
    subprocess.run([CC, *WARN, *shlex.split(gcc)], check=True, cwd=folder)
    out = subprocess.run([os.path.join(folder, program)], check=True, capture_output=True, text=True).stdout
    row = [0, 0.5, -1, 0, 0.3, 0, 0.5, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    expected = table("id", "puma560", "--no-friction", rows=[row])[0]
    found = re.findall(r"f32 +(\S+) N m, q31 +(\S+) N m", out)
    assert len(found) == 6 and out.splitlines()[-1].endswith(": 0 and 0"), out
    for pair, torque in zip(found, expected):
        assert all(abs(float(x) - torque) < 1e-4 for x in pair), (pair, torque)
    print(f"measured-block gen.example\n```\n{out}```\nmeasured-end", flush=True)
    with open(os.path.join(output, "puma560_q31.h"), encoding="utf-8") as f:
        bounds = re.findall(r"\*   (\w+) +bound (\S+) error (\S+)", f.read())
    assert {"id", "mass", "fd"} <= {kernel for kernel, _, _ in bounds}, bounds
    for kernel, bound, error in bounds:
        print(f"measured gen.q31.{kernel}_bound {bound}\nmeasured gen.q31.{kernel}_error {error}", flush=True)


def tolerances_of(path):
    """Returns {kernel: tolerances of its self-test}."""
    with open(path + ".c", encoding="utf-8") as f:
        tables = re.findall(r"\} (\w+)_cases\[\d+\] = \{\n(.*?)\n\};", f.read(), re.DOTALL)
    return {name: [float(x) for case in re.findall(r"\n    \{[^{]*\},\n    \},", body) for x in
                   re.findall(r"-?\d[-+.e\d]*", case)] for name, body in tables}


def test_q31_of_a_file_without_acceleration_limits(folder):
    """A URDF has no acceleration limits. The code must be valid for the accelerations for which the
    robot image of the same file is proved."""
    path = generate(folder, "test/support/robot_data/gripper.urdf", "--real", "q31", "--effort", "0")
    assert compiled(path).arm_selftest() == 0


def test_q31_has_no_forward_dynamics_without_a_bound(folder):
    """Without a rotor the pivots have no lower bound, so the error bound can exceed the number
    range. Then fd and its self-test, whose tolerance would be useless, are not generated. The PUMA
    has rotors."""
    for robot, has in (("cmu-dd", False), ("stanford", False), ("planar3r", False), ("puma560", True)):
        done = run("gen", robot, "--prefix", "arm", "--real", "q31", "--effort", "0", "-o", folder)
        assert done.returncode == 0 and ("fd is not generated in q31" in done.stderr) != has, f"{robot}: {done.stderr}"
        path = os.path.join(folder, "arm")
        with open(path + ".h", encoding="utf-8") as f:
            header = f.read()
        assert ("void arm_fd(" in header) == has and ("There is no fd" in header) != has, robot
        assert ("#define ARM_WITHOUT_FD 1" in header) != has, robot
        assert has or "has no rotor" in " ".join(header.replace("\n *", " ").split()), header
        assert compiled(path).arm_selftest() == 0, robot
        found = tolerances_of(path)
        assert set(found) == set(KERNELS) - (set() if has else {"fd"}), f"{robot}: {set(found)}"
        for kernel, values in found.items():
            # An error bound above 2^30, half of the number range, would mean nothing.
            assert values and max(values) < 2**30, f"{robot} {kernel}: {max(values)}"
    done = run("fd", "cmu-dd", "--method", "gen", "--real", "q31", "--no-friction", rows=[[0] * 18])
    assert done.returncode == 2 and "q31" in done.stderr, f"{done.returncode} {done.stdout} {done.stderr}"


def test_boards_compile_it_without_a_warning(folder):
    for robot, real in (("puma560", "f32"), ("puma560", "q31"), ("stanford", "f32"), (DATA % "lwr7", "q31")):
        path = generate(folder, robot, "--real", real, "--effort", "1")
        for core, flags in CORES.items():
            subprocess.run([CROSS + "gcc", *WARN, "-Wdouble-promotion", "-O2", *flags, "-c", path + ".c", "-o",
                            os.path.join(folder, core + ".o")], check=True)
        # The compiler must not fuse products and sums in fd, because host and board would differ.
        # The only fused ones are the two of each angle.
        if real == "f32":
            listing = subprocess.run([CROSS + "objdump", "-d", os.path.join(folder, "m4f.o")], check=True,
                                     capture_output=True, text=True).stdout
            body = re.search(r"<arm_fd>:(.*?)\n\n", listing, re.DOTALL)[1]
            with open(path + ".h", encoding="utf-8") as f:
                angles = int(re.search(r"\*   fd .* (\d+) angles", f.read())[1])
            assert len(re.findall(r"\tvf[n]?m[as]|\tvml[as]", body)) == 2 * angles, robot


def test_the_firmware_lets_generated_frames_be_larger(folder):
    """Values that do not fit into the registers go to the stack frame. A large frame is an error in
    other files; in generated code it is allowed, and tools/dev/stack.py still reads its size from
    the .su file."""
    built = os.path.join(folder, "build")
    made = built + "/netduino2/firmware/gen_q31"
    subprocess.run(["make", "-s", "-o", PROGRAM, "BOARD=netduino2", "GEN=1", "ROBOT=puma560", "GEN_EFFORT=0", "WERROR=1",
                    "FRAME_MAX=100", "APPELL=" + PROGRAM, "BUILD=" + built, made + ".o"], check=True,
                   env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BOARD", "BUILD")})
    with open(made + ".su", encoding="utf-8") as f:
        frames = {m[1]: int(m[2]) for m in re.finditer(r"gen_q31_(\w+)\t(\d+)", f.read())}
    assert 100 < frames["fd"] <= 1024, frames


def test_what_asks_for_generated_code_is_compiled_with_it(folder):
    """Sources that test GENERATED_H must be compiled with it defined. Otherwise they would silently
    do something else, for example use a payload that the generated code does not have."""
    asking = [path for path in sorted(glob.glob("firmware/*/*.c")) if "#ifdef GENERATED_H" in open(path, encoding="utf-8").read()]
    assert "firmware/app/arm.c" in asking and "firmware/control/control.c" in asking, asking
    built = os.path.join(folder, "build")
    done = subprocess.run(["make", "-n", "V=1", "-o", PROGRAM, "BOARD=netduino2", "GEN=1", "ROBOT=puma560", "APPELL=" + PROGRAM,
                           "BUILD=" + built, *(f"{built}/netduino2/{path[:-2]}.o" for path in asking)],
                          check=True, capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BOARD", "BUILD")})
    for path in asking:
        lines = [line for line in done.stdout.splitlines() if f"-c {path} " in line]
        assert len(lines) == 1 and "-DGENERATED_H=" in lines[0], (path, lines)


# ----------------------------------------------------------------------------- options and the rest

def test_arguments_at_run_time(folder):
    for keep in ("payload", "gravity", "wrench", "payload,gravity,wrench"):
        for robot in ("puma560", "stanford", DATA % "ur10like"):
            library = compiled(generate(folder, robot, "--real", "f64", "--effort", "0", "--keep", keep))
            assert library.arm_selftest() == 0, f"{robot} --keep {keep}"
    for options in (["--no-base"], ["--friction"], ["--no-rotor"], ["--strategy", "uicker-kahn"]):
        library = compiled(generate(folder, "puma560", "--real", "f64", "--effort", "1", *options))
        assert library.arm_selftest() == 0, options


def test_arguments_are_what_the_header_says(folder):
    """Gravity and wrench have the same meaning as in the options of the tool: gravity points down
    in the base frame, and the wrench is what the surroundings exert on the end effector, in its
    axes."""
    path = generate(folder, "puma560", "--real", "f64", "--effort", "0", "--keep", "gravity,wrench")
    library = compiled(path)
    with open(path + ".h", encoding="utf-8") as f:
        header = " ".join(f.read().replace(" *", " ").split())
    for says in ("Joints: waist, shoulder, elbow, wrist_roll, wrist_pitch, flange.", "SI units: q rad,", "tau N m,",
                 "gravity[3]: acceleration of gravity in m/s^2, a vector that points down,", "wrench[6]: force (N), then moment"):
        assert says in header, says
    source = random.Random(3)
    row = [source.uniform(-1, 1) for _ in range(18)]
    gravity, wrench = [1, -2, -9], [3, -4, 5, 0.5, -0.25, 0.75]
    out = (ctypes.c_double * 6)()
    arrays = [(ctypes.c_double * len(x))(*x) for x in (row[:6], row[6:12], row[12:], gravity, wrench)]
    library.arm_id(*arrays, out)
    said = table("id", "puma560", "--no-friction", "--gravity", ",".join(map(str, gravity)), "--wrench",
                 ",".join(map(str, wrench)), rows=[row])[0]
    near(list(out), said, 1e-12, "gravity and wrench")


def test_functions_can_be_read(folder):
    """A comment above each result says what it is, and the legend explains every name of a
    quantity."""
    path = generate(folder, "puma560", "--effort", "1")
    with open(path + ".c", encoding="utf-8") as f:
        text = f.read()
    legend = re.search(r"/\*\n \* Names\..*?\*/", text, re.DOTALL)[0]
    code = text[text.index(legend) + len(legend):text.index("/* Results of the general kernels")]
    for name in set(re.findall(r"const float (?:m_)?([A-Za-z]+)\d", code)) | {"s", "c"}:
        assert re.search(rf"\b{name}(\d|\b)", legend), f"{name} is not in the legend"
    for heading in ("tau[0]: torque of waist", "M[1]: shoulder and waist", "qdd[1]: acceleration of shoulder",
                    "the pivot of elbow", "pose[3]: x of the end effector", "J[0]: velocity along x due to waist"):
        assert f"    /* {heading} */" in code, heading
    assert all(len(line) <= (100 if line.startswith(("/*", " *")) else 120) for line in text.splitlines())


def test_friction_of_both_directions(folder):
    """The Coulomb friction of the PUMA differs between negative and positive speed. The general
    kernels are the reference. The test uses speeds above 0.02 rad/s, because below that width the
    general kernels let the friction grow from zero. On the LWR, viscous and symmetric Coulomb
    friction together cost two multiplications and two additions per joint, also if the file gives
    both directions."""
    source = random.Random(5)
    for kernel in ("id", "fd"):
        rows = [[source.uniform(-1, 1) for _ in range(18)] for _ in range(20)]
        for row in rows:
            row[6:12] = [source.choice((-1, 1)) * source.uniform(0.05, 1) for _ in range(6)]
        expected = table(kernel, "puma560", rows=rows)
        for real, number, options, bar in (("f64", ctypes.c_double, [], 1e-12),
                                           # up to 1e3 roundings of 6e-8
                                           ("f32", ctypes.c_float, ["-Wdouble-promotion"], 6e-5)):
            library = compiled(generate(folder, "puma560", "--friction", "--real", real, "--effort", "1"), *options)
            assert library.arm_selftest() == 0, real
            for row, said in zip(rows, expected):
                near(call(library, kernel, number, 6, row), said, bar * (1 if kernel == "id" else 1e2),
                     f"{kernel} {real} {row}")
    both = os.path.join(folder, "both.yaml")
    with open(DATA % "lwr7", encoding="utf-8") as f:
        text = f.read()
    with open(both, "w", encoding="utf-8") as f:
        f.write(re.sub(r"coulomb: ([0-9.]+)", r"coulomb: [-\1, \1]", text))
    one, two, none = (counts(generate(folder, robot, "--effort", "0", *options))["id"] for robot, options in
                      ((DATA % "lwr7", ["--friction"]), (both, ["--friction"]), (both, [])))
    assert one == two == (none[0] + 2 * 7, none[1] + 2 * 7), f"{one} {two} {none}"


def test_the_same_bytes_every_time(folder):
    with cache():
        assert made(folder, "puma560", "--effort", "3") == made(folder, "puma560", "--effort", "3")


def kept_in(folder):
    """Returns {name: (bytes, inode number, time of change)} of the cache files of the annealer;
    writing a file again changes the inode number."""
    found = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with open(path, "rb") as f:
            found[name] = f.read(), os.stat(path).st_ino, os.stat(path).st_mtime_ns
    return found


def test_the_cache_changes_no_byte(folder):
    """A cache changes no byte, neither a new one nor the one of the test run. The latter may
    contain results of an older annealer: whoever changes the annealer must change its version in
    anneal_cache.c."""
    kept = os.path.join(folder, "kept")
    for words in (("stanford", "--effort", "1"), ("planar3r", "--real", "q31", "--effort", "2")):
        as_asked = made(folder, *words)
        with cache():
            expected = made(folder, *words)
        assert as_asked == expected, words
        with cache(kept):
            assert made(folder, *words) == expected, words
            first = kept_in(kept)
            assert made(folder, *words) == expected, words
        assert first and kept_in(kept) == first, "not used"


def test_a_damaged_cache_is_written_anew(folder):
    words = "planar3r", "--effort", "2"
    kept = os.path.join(folder, "kept")
    with cache(kept):
        expected = made(folder, *words)
        good_files = {name: found[0] for name, found in kept_in(kept).items()}
        names = sorted(good_files)
        assert len(names) > 2
        for damage in (lambda k, b: b"", lambda k, b: b[:len(b) // 2], lambda k, b: b[:-1], lambda k, b: b + b"x",
                       lambda k, b: b[:-9] + bytes([b[-9] ^ 1]) + b[-8:], lambda k, b: b"Z" + b[1:],
                       lambda k, b: good_files[names[k - 1]], lambda k, b: b"not one of ours\n"):
            for k, name in enumerate(names):
                with open(os.path.join(kept, name), "wb") as f:
                    f.write(damage(k, good_files[name]))
            assert made(folder, *words) == expected
            assert {name: found[0] for name, found in kept_in(kept).items()} == good_files
    with cache("/proc/nowhere/kept"):
        assert made(folder, *words) == expected


def test_the_command_of_the_header_gives_the_file(folder):
    """The command in the header contains every option that changes a byte, quoted for the shell."""
    shutil.copy("test/support/robot_data/gripper.urdf", folder)

    def make(where, *words):
        done = subprocess.run([PROGRAM, *words, "--quiet", "-o", where], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        found = {}
        for name in sorted(os.listdir(os.path.join(folder, where))):
            with open(os.path.join(folder, where, name), encoding="utf-8") as f:
                found[name] = f.read()
        return found
    for k, words in enumerate((
            ["gripper.urdf", "--tip", "palm", "--freeze", "camera_tilt=0.5", "--freeze", "lift=0.25", "--effort", "0",
             "--parallel", "0.03", "--keep", "gravity,wrench", "--friction"],
            ["gripper.urdf", "--gravity", "0, 1, -9", "--payload", "0.5,0,0,0.1", "--no-base", "--no-rotor", "--effort",
             "1", "--prefix", "Hand_2"],
            [os.path.abspath("tools/robots/puma560.yaml"), "--real", "q31", "--strategy", "uicker-kahn", "--effort", "0"])):
        first = make(f"{k}a", "gen", *words)
        header = next(text for name, text in first.items() if name.endswith(".h"))
        command = shlex.split(re.search(r"^ \*     (appell gen .*)$", header, re.MULTILINE)[1])
        if k == 2:
            shutil.copy("tools/robots/puma560.yaml", folder)
        assert all(word in command for word in words[1:]), command
        assert make(f"{k}b", *command[1:]) == first, command


def test_the_hash_is_of_the_dynamics(folder):
    def hash_of(*arguments):
        with open(generate(folder, *arguments, "--effort", "0") + ".h", encoding="utf-8") as f:
            return re.search(r"MODEL_HASH (\w+)", f.read())[1]
    with open("tools/robots/puma560.yaml", encoding="utf-8") as f:
        text = f.read()
    changed = {}
    for name, old, new in (("gain", "kp: 1800", "kp: 1700"), ("mass", "mass: 17.4", "mass: 17.5"),
                           ("limit", "velocity: 1.4", "velocity: 1.3")):
        assert old in text
        changed[name] = os.path.join(folder, name + ".yaml")
        with open(changed[name], "w", encoding="utf-8") as f:
            f.write(text.replace(old, new, 1))
    assert hash_of("puma560") == hash_of(changed["gain"]) == hash_of(changed["limit"])
    assert hash_of("puma560") != hash_of(changed["mass"])
    assert hash_of("puma560") != hash_of("puma560", "--payload", "0.5")
    # The q31 hash includes the limits, because the proof of the number ranges depends on them.
    assert hash_of("puma560", "--real", "q31") == hash_of(changed["gain"], "--real", "q31")
    assert hash_of("puma560", "--real", "q31") != hash_of(changed["limit"], "--real", "q31")


def test_bad_usage(folder):
    for arguments, says in ((["puma560"], "-o DIR"), (["puma560", "-o", folder, "--keep", "mass"], "--keep"),
                            (["puma560", "-o", folder, "--strategy", "magic"], "uicker-kahn"),
                            (["puma560", "-o", folder, "--real", "f16"], "f32"),
                            (["puma560", "-o", folder, "--strategy", "uicker-kahn", "--keep", "payload"], "payload"),
                            ([long_arm(folder, 9), "-o", folder, "--strategy", "uicker-kahn", "--monomials", "1000"],
                             "more than 1000 monomials"),
                            (["twobody", "-o", folder, "--real", "q31"], "limits"),
                            (["puma560", "-o", folder, "--real", "q31", "--keep", "gravity"], "f32"),
                            (["puma560", "-o", folder, "--prefix", ""], "C identifier"),
                            (["puma560", "-o", folder, "--prefix", "my-arm"], "C identifier"),
                            (["puma560", "-o", folder, "--prefix", "../arm"], "C identifier"),
                            (["puma560", "-o", folder, "--prefix", "7dof"], "C identifier"),
                            (["puma560", "-o", folder, "--base", "--no-base"], "contradict"),
                            (["puma560", "-o", "/proc/nowhere/x"], "folder")):
        done = run("gen", *arguments, "-q")
        assert done.returncode == 2 and says in done.stderr, f"{arguments}: {done.returncode} {done.stderr}"


def test_a_prefix_keeps_its_case(folder):
    good("gen", "planar3r", "--prefix", "MyArm", "--effort", "0", "-q", "-o", folder)
    assert sorted(os.listdir(folder)) == ["MyArm.c", "MyArm.h", "MyArm_base.csv"]
    assert hasattr(compiled(os.path.join(folder, "MyArm")), "MyArm_id")


def test_base_is_the_default(folder):
    """Without options the base parameters are used, as with --base."""
    files = []
    for k, words in enumerate(([], ["--base"], ["--no-base"])):
        path = generate(os.path.join(folder, str(k)), "puma560", "--effort", "0", *words)
        files.append(counts(path))
    assert files[0] == files[1] and files[2]["id"][0] > files[0]["id"][0], files


def base_of(folder, *options):
    """Returns, for the PUMA, the text of the CSV file, the rows of the parameters in the code, and
    the rows of the links as given."""
    with open(generate(folder, "puma560", "--effort", "0", *options) + "_base.csv", encoding="utf-8") as f:
        text = f.read()
    rows = [line.split(",") for line in text.splitlines() if line[0] != "#"]
    cut = next(i for i, row in enumerate(rows) if row[0] == "literal")
    parts = [[dict(zip(part[0], map(float, row))) for row in part[1:]] for part in (rows[:cut], rows[cut:])]
    return text, *parts


def test_the_table_says_what_the_code_contains(folder):
    text, with_rotors, _ = base_of(folder)
    _, without, _ = base_of(folder, "--no-rotor")
    # Reflected rotor inertia G^2 J from the file. The rotors of joints 1 and 2 become part of the
    # links.
    first, second = 0.0002 * 62.6111**2, 0.0002 * 107.815**2
    assert "rotor of joint 1" in text and "rotor of joint 2" in text
    assert [row["rotor"] for row in with_rotors[:2]] == [0, 0] and all(row["rotor"] > 0 for row in with_rotors[2:])
    more = [{name: a[name] - b[name] for name in a} for a, b in zip(with_rotors, without)]
    near([more[0]["Jxx"], more[0]["Jyy"], more[1]["Jxx"], more[1]["Jyy"]],
         [first, -second / 2, second / 2, second / 2], 1e-14, "rotors in the links")
    text, plain, literal = base_of(folder, "--no-base")
    assert "nothing is regrouped" in text and "link before" not in text and "rotor of joint" not in text
    assert [row["m"] for row in plain] == [row["m"] for row in literal]
    near([plain[0]["rotor"], plain[1]["rotor"]], [first, second], 1e-14, "rotors")


# ------------------------------------------------------------------------------------ operation counts

def check_counts(folder, robot, name, bars, *options):
    """Checks operation counts against limits {kernel: (multiplications, additions)}; None means no
    limit. Prints the counts as measured values with this name, for the page."""
    got = counts(generate(folder, robot, *options))
    for kernel, goal in bars.items():
        print(f"measured gen.{name}.{kernel} {got[kernel][0]} / {got[kernel][1]}", flush=True)
        if not goal:
            continue
        mul, add = goal
        print(f"NOTE {robot} {kernel}: {got[kernel][0]} / {got[kernel][1]}, allowed {mul} / {add}", flush=True)
        assert got[kernel][0] <= mul and got[kernel][1] <= add, f"{robot} {kernel}: {got[kernel]}, allowed {mul}, {add}"


def test_counts_of_the_puma(folder):
    """The published count of `id` is 224 multiplications and 174 additions. Generating all kernels
    should take less than 5 s of processor time; the test prints the time without asserting it,
    because it depends on the machine and its load."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with cache():
        check_counts(folder, "puma560", "puma560", {"id": (159, 130), "mass": (75, 52), "fd": (292, 206)})
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print(f"NOTE puma560 generated in {spent:.1f} s of processor time", flush=True)


def test_counts_of_the_papers_robot(folder):
    """The published count of `mass` is 144 multiplications and 186 additions. Both strategies are
    checked."""
    check_counts(folder, "piezo6", "piezo6", {"mass": (29, 13)})
    check_counts(folder, "piezo6", "piezo6.uicker_kahn", {"mass": (29, 13)}, "--strategy", "uicker-kahn")


def test_counts_of_the_others(folder):
    """Published counts in multiplications/additions are 371/402 for `id` of the LWR 7R, 446/400 for
    `id` and 329/246 for `mass` of the UR10, and 240/217 for `mass` of the wrist."""
    check_counts(folder, "stanford", "stanford", {"id": (106, 74)})
    effort = ["--effort", EFFORT]
    check_counts(folder, DATA % "puma560full", f"puma560full.effort{EFFORT}", {"id": None, "mass": None, "fd": None}, *effort)
    check_counts(folder, DATA % "lwr7", f"lwr7.effort{EFFORT}", {"id": (319, 283), "mass": None, "fd": None}, "--friction",
                 *effort)
    check_counts(folder, DATA % "lwr7", f"lwr7.wrench.effort{EFFORT}", {"id": None}, "--friction", "--keep", "wrench", *effort)
    check_counts(folder, DATA % "ur10like", f"ur10like.effort{EFFORT}", {"id": (270, 247), "mass": (162, 113)}, "--friction",
                 "--keep", "wrench", *effort)
    check_counts(folder, DATA % "wrist6", f"wrist6.effort{EFFORT}", {"mass": (156, 110)}, *effort)


def test_a_name_cannot_leave_its_comment(folder):
    """The name of a robot in an untrusted file cannot close a comment and insert code."""
    path = os.path.join(folder, "odd.yaml")
    with open("tools/robots/planar3r.yaml", encoding="utf-8") as f:
        text = re.sub("^name: .*$", r'name: "a*/ #error */ /*/"', f.read(), count=1, flags=re.MULTILINE)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    good("gen", path, "--effort", "0", "--prefix", "arm", "-q", "-o", folder)
    compiled(os.path.join(folder, "arm"))


def test_a_long_arm_in_a_minute(folder):
    """Generating all kernels of thirty joints with full inertias takes less than 60 s of processor
    time at the default effort."""
    if not LONG:
        raise Skip("make test-long")
    path = long_arm(folder, 30)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with cache():
        generate(folder, path)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print(f"NOTE thirty joints in {spent:.1f} s", flush=True)
    assert spent < 60, f"{spent:.1f} s"


if __name__ == "__main__":
    sys.exit(test_appell.main(globals()))
