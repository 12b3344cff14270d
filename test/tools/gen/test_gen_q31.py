#!/usr/bin/env python3
"""Tests what fixed-point code of `appell gen` promises for few and for many joints: its guaranteed
errors hold, they and the errors seen are those of the general kernels or not much larger, and no
kernel is left out for a wrong reason.

    test_gen_q31.py [PROGRAM [PATTERN]]
"""
import ctypes
import json
import math
import os
import random
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/host/appell")
sys.argv[1:2] = [PROGRAM]  # test_appell reads the path of the program from there
import test_appell  # noqa: E402
from test_appell import good, run, table  # noqa: E402

LONG = os.environ.get("LONG")
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")
WARN = ["-std=c11", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
SPEED, ACCELERATION, GEAR, ROTOR = 1.0, 3.0, 60, 2e-4
# kernel: (number of inputs, number of results, macro with the bits of the results)
KERNELS = {"id": (3, lambda n: n, "TAU"), "mass": (1, lambda n: n * (n + 1) // 2, "MASS"), "bias": (2, lambda n: n, "TAU"),
           "gravity": (1, lambda n: n, "TAU"), "fk": (1, lambda n: 12, "FK"), "jacobian": (1, lambda n: 6 * n, "JACOBIAN")}
# How much larger than those of the general kernels the errors may be.
FACTOR = 8


class Arm:
    """Random links that get lighter outward. Axes in general directions; or parallel, anti-parallel
    and at right angles, some of them prismatic."""

    def __init__(self, folder, joints, seed, square=False):
        draw = random.Random(f"{joints} {seed} {square}")
        text = f"name: arm\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n"
        self.n, self.limits = joints, []
        for i in range(joints):
            mass = (4 + 0.1 * draw.uniform(-1, 1)) / (1 + i)
            along = square and i % 5 == 3
            alpha = draw.choice([0, 0, 1, -1, 2]) * math.pi / 2 if square else draw.uniform(-3, 3)
            self.limits.append((-0.1, 0.2) if along else (-3.14, 3.14))
            inertia = [mass * draw.uniform(0.015, 0.025) for _ in range(3)]
            inertia += [mass * draw.uniform(-0.004, 0.004) for _ in range(3)]
            text += (f"  - name: j{i + 1}\n    type: {'prismatic' if along else 'revolute'}\n    dh: {{theta: "
                     f"{0 if square else draw.uniform(-3, 3)!r}, d: {draw.uniform(-0.2, 0.2)!r}, "
                     f"a: {draw.uniform(-0.2, 0.2)!r}, alpha: {alpha!r}}}\n    link: {{mass: {mass!r}, com: "
                     f"{[draw.uniform(-0.1, 0.1) for _ in range(3)]}, inertia: {inertia}}}\n    limits: {{position: "
                     f"{list(self.limits[i])}, velocity: {SPEED}, acceleration: {ACCELERATION}}}\n"
                     f"    motor: {{gear: {GEAR}, rotor_inertia: {ROTOR}}}\n")
        self.path = os.path.join(folder, f"arm{joints}_{seed}.yaml")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)


class Code:
    """Generated code of an arm in fixed point, and the same in double to compare with."""

    def __init__(self, folder, arm, effort):
        self.arm = arm
        done = run("gen", arm.path, "--real", "q31", "--effort", effort, "--prefix", "fixed", "-o", folder)
        assert done.returncode == 0, done.stderr
        self.notes = done.stderr
        good("gen", arm.path, "--real", "f64", "--effort", "0", "--prefix", "exact", "-q", "-o", folder)
        self.library = {}
        for name in ("fixed", "exact"):
            path = os.path.join(folder, name)
            library = f"{path}{arm.n}_{os.path.basename(arm.path)}.so"
            subprocess.run([CC, *WARN, "-shared", "-fPIC", path + ".c", "-lm", "-o", library], check=True)
            subprocess.run([CXX, "-x", "c++", "-std=c++11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", path + ".c"], check=True)
            self.library[name] = ctypes.CDLL(library)
            wrong = getattr(self.library[name], name + "_selftest")()
            assert wrong == 0, f"{arm.path}: {wrong} wrong in the self-test of {name}"
        with open(os.path.join(folder, "fixed.h"), encoding="utf-8") as f:
            self.header = f.read()
        # printed with two and four digits, rounded up
        self.error = {m[1]: float(m[3]) for m in re.finditer(r"\*   (\w+) +bound (\S+) error (\S+)", self.header)}
        self.bound = {m[1]: float(m[2]) for m in re.finditer(r"\*   (\w+) +bound (\S+) error (\S+)", self.header)}

    def bits(self, name):
        found = re.search(r"#define FIXED_%s(?:_BITS)? \{(.*?)\}" % name, self.header, re.DOTALL)[1]
        return [int(x) for x in found.replace("\\", "").split(",")]

    def state(self, source, which):
        """Returns positions, speeds and accelerations as raw numbers, and the same numbers in SI."""
        def value(low, high):
            inside = source.uniform(low, high)
            return [inside, source.choice([low, high]), source.choice([low, high, 0, inside]),
                    inside * source.random()**2][which % 4]
        raw, exact = [[], [], []], [[], [], []]
        prismatic = self.bits("PRISMATIC")
        for k, (name, low, high) in enumerate((("Q", 0, 0), ("QD", -SPEED, SPEED), ("QDD", -ACCELERATION, ACCELERATION))):
            for i, bits in enumerate(self.bits(name)):
                if k == 0:
                    low, high = self.arm.limits[i]
                unit = 2.0**bits / (2 * math.pi if k == 0 and not prismatic[i] else 1)
                number = math.trunc(value(low, high) * unit)
                exact[k].append(number / unit)
                raw[k].append((number + 2**31) % 2**32 - 2**31)
        return raw, exact

    def check(self, states):
        """Returns {kernel: largest error seen}. Asserts that it is below the guaranteed one, and
        values below their bounds."""
        worst = dict.fromkeys(self.error, 0)
        source, n = random.Random(states), self.arm.n
        for which in range(states):
            raw, exact = self.state(source, which)
            for kernel in set(self.error) - {"fd"}:
                inputs, results, macro = KERNELS[kernel]
                fixed, right = (ctypes.c_int32 * results(n))(), (ctypes.c_double * results(n))()
                getattr(self.library["fixed"], "fixed_" + kernel)(*[(ctypes.c_int32 * n)(*x) for x in raw[:inputs]], fixed)
                getattr(self.library["exact"], "exact_" + kernel)(*[(ctypes.c_double * n)(*x) for x in exact[:inputs]], right)
                for a, bits, b in zip(fixed, self.bits(macro), right):
                    worst[kernel] = max(worst[kernel], abs(a / 2.0**bits - b))
                    assert abs(b) <= self.bound[kernel], f"{self.arm.path} {kernel}: {b}, bound {self.bound[kernel]}"
        for kernel, error in worst.items():
            assert error <= self.error[kernel], f"{self.arm.path} {kernel}: {error:.3g}, guaranteed {self.error[kernel]:.3g}"
        return worst


def general(arm, states):
    """Returns {problem: (guaranteed error, error seen)} of the general kernels, the largest of all
    joints."""
    joints = json.loads(good("scale", arm.path, "--verify", str(states), "--json", "-q"))["verify"]["joints"]
    return {k: (max(j[k]["guaranteed"] for j in joints), max(j[k]["error"] for j in joints))
            for k in ("id", "bias", "gravity", "mass")}


def test_errors_of_many_joints(folder):
    """Errors of generated code against those of the general kernels; the table of the page."""
    rows = ["| joints | | `id`: general | generated | `mass`: general | generated | `fk` | `jacobian` |",
            "|---|---|---|---|---|---|---|---|"]
    for joints in (7, 10, 12, 20, 30):
        arm = Arm(folder, joints, "table")
        code = Code(folder, arm, "1")
        states = 2000 if LONG else 400
        seen, theirs = code.check(states), general(arm, states)
        assert set(seen) >= set(KERNELS), f"{joints} joints: {code.notes}"
        for kernel, (guaranteed, error) in theirs.items():
            assert code.error[kernel] <= FACTOR * guaranteed, f"{joints} joints, {kernel}: {code.error[kernel]:.2g} {guaranteed:.2g}"
            assert seen[kernel] <= FACTOR * error, f"{joints} joints, {kernel}: seen {seen[kernel]:.2g} {error:.2g}"
        for k, (name, ours) in enumerate((("guaranteed", code.error), ("seen", seen))):
            cells = [f"{x:.1e}" for x in (theirs["id"][k], ours["id"], theirs["mass"][k], ours["mass"], ours["fk"], ours["jacobian"])]
            rows.append(f"| {joints if k == 0 else ''} | {name} | {' | '.join(cells)} |")
    print("measured-block gen.q31.joints\n" + "\n".join(rows) + "\nmeasured-end", flush=True)


def test_every_kind_of_axis(folder):
    """Parallel, anti-parallel and right-angled axes, prismatic joints; every kernel but fd exists."""
    for joints, seed in ((4, 1), (7, 2), (9, 3), (16, 4)) if not LONG else [(n, n) for n in range(2, 33)]:
        code = Code(folder, Arm(folder, joints, seed, square=True), "1")
        assert set(code.check(200)) >= set(KERNELS), code.notes


class Written:
    """An arm of which the test writes the file."""

    def __init__(self, folder, gravity, joints):
        """Joints are (theta, d, a, alpha, link, limits, rotor inertia)."""
        self.n, self.path = len(joints), os.path.join(folder, "written.yaml")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(f"name: arm\nconvention: mdh\ngravity: {gravity}\njoints:\n")
            for i, (theta, d, a, alpha, link, limits, rotor) in enumerate(joints):
                f.write(f"  - name: j{i + 1}\n    type: revolute\n    dh: {{theta: {theta}, d: {d}, a: {a}, alpha: {alpha}}}\n"
                        f"    link: {{{link}}}\n    limits: {{{limits}}}\n    motor: {{gear: 60, rotor_inertia: {rotor}}}\n")


def test_a_pivot_with_a_minus(folder):
    """The annealed graph may contain the negative of a pivot; its bound is then the negative one.
    The self-test, which Code runs, covers forward dynamics."""
    full = "mass: 1, com: [0, -0.05, 0.1], inertia: [0.012, 0.01, 0.011, 0.001, 0, -0.001]"
    limits = "position: [-1, 1.5], velocity: 1, acceleration: 1"
    code = Code(folder, Written(folder, [0, 0, -9.81], [
        (0, 0.3, 0, 0, "mass: 1, com: [0, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0]", limits, 2e-5),
        (0, 0, 0.5, math.pi, full, limits, 2e-5), (0, -0.2, 0.5, math.pi / 2, full, limits, 2e-5)]), "0")
    assert "fd" in code.error, code.notes


def test_a_term_that_only_matters_at_full_speed(folder):
    """An offset of 1e-9 m changes an acceleration by 1.6e-4 m/s^2 at 400 rad/s: it must not pass for
    one that rotations keep. Without it, the acceleration would stay just below a power of two."""
    link = "mass: 1, com: [0.1, 0.05, 0.02], inertia: [0.02, 0.03, 0.01, {}, {}, 0]"
    joints = [(0, 0, 0, 0, link.format(0, 0), "position: [0, 0.0005], velocity: 400, acceleration: 3", 2e-4)]
    for k in range(11):
        joints.append((0.3, 0.2, 0.1 if k else 1e-9, 0.7 + 0.1 * max(k - 1, 0), link.format(0.001, 0.001),
                       "velocity: 1, acceleration: 3", 2e-4))
    arm = Written(folder, [5.6568188941533215, 4.326573736076448, 3.6442227851139255], joints)
    code, n = Code(folder, arm, "0"), arm.n
    speed = math.trunc(400 * 2.0**code.bits("QD")[0])
    fixed, right = (ctypes.c_int32 * n)(), (ctypes.c_double * n)()
    for step in range(-1800, 1800):
        angle = step * 2**32 // 3600
        code.library["fixed"].fixed_bias((ctypes.c_int32 * n)(0, angle), (ctypes.c_int32 * n)(speed), fixed)
        code.library["exact"].exact_bias((ctypes.c_double * n)(0, angle * 2 * math.pi / 2**32),
                                         (ctypes.c_double * n)(speed / 2.0**code.bits("QD")[0]), right)
        error = max(abs(a / 2.0**bits - b) for a, bits, b in zip(fixed, code.bits("TAU"), right))
        assert error <= code.error["bias"], f"step {step}: {error:.3g}, guaranteed {code.error['bias']:.3g}"


def test_rows_are_those_of_the_code(folder):
    """`-m gen` evaluates the graph that `gen` writes: the same numbers, also for many joints."""
    arm = Arm(folder, 20, "rows")
    code, source = Code(folder, arm, "0"), random.Random(20)
    for kernel in ("id", "mass"):
        inputs, results, macro = KERNELS[kernel]
        for which in range(3):
            raw, exact = code.state(source, which)
            fixed = (ctypes.c_int32 * results(arm.n))()
            getattr(code.library["fixed"], "fixed_" + kernel)(*[(ctypes.c_int32 * arm.n)(*x) for x in raw[:inputs]], fixed)
            ours, = table(kernel, arm.path, "--real", "q31", "-m", "gen", "--effort", "0", rows=[[x for k in exact[:inputs] for x in k]])
            if kernel == "mass":  # the whole matrix
                ours = [ours[i * arm.n + j] for i in range(arm.n) for j in range(i + 1)]
            theirs = [float(f"{a / 2.0**bits:.9g}") for a, bits in zip(fixed, code.bits(macro))]
            assert ours == theirs, [(a, b) for a, b in zip(ours, theirs) if a != b]
    refused = run("fd", arm.path, "--real", "q31", "-m", "gen", "--effort", "0", rows=[[0] * 60])
    assert refused.returncode == 2 and "cannot be used in q31: the error bound of the pivot of joint " in refused.stderr, refused


def test_the_reason_is_true(folder):
    """Forward dynamics of a long arm is left out, and the sentence says why with the numbers."""
    code = Code(folder, Arm(folder, 12, "reason"), "0")
    said = re.search(r"fd is not generated in q31: the error bound of the pivot of joint (\d+), (\S+), exceeds the least "
                     r"value of this pivot, the rotor inertia (\S+);", code.notes)
    assert said and float(said[2]) > float(said[3]) and f"{GEAR**2 * ROTOR:.2g}" == said[3], code.notes
    assert "FIXED_WITHOUT_FD" in code.header


if __name__ == "__main__":
    sys.exit(test_appell.main(globals()))
