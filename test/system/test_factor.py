#!/usr/bin/env python3
"""Tests `appell factor`: U, D and the articulated inertias of paper 002 against an elimination of the
inertia matrix and against the mass matrix of a floating chain, both written here.

    test_factor.py [PROGRAM [PATTERN]]
"""
import json
import math
import sys

sys.dont_write_bytecode = True
from test_appell import flat, good, near, robot_file, run, table  # noqa: E402
from script_frame import main  # noqa: E402

# A revolute, a prismatic and a revolute joint in general position, the middle one with a rotor.
GEAR, ROTOR = 20, 1e-3
LINKS = [{"type": "R", "theta": 0.2, "d": 0.1, "a": 0, "alpha": 0, "m": 3, "c": [0.1, 0.05, -0.02],
          "I": [0.02, 0.03, 0.025, 0.001, -0.002, 0.003]},
         {"type": "P", "theta": 0.4, "d": 0.3, "a": 0.2, "alpha": 0.7, "m": 2, "c": [0.02, -0.1, 0.2],
          "I": [0.05, 0.04, 0.01, 0.002, 0.001, -0.001], "G": GEAR, "Jm": ROTOR},
         {"type": "R", "theta": -0.3, "d": 0.05, "a": -0.15, "alpha": -1.1, "m": 1.5, "c": [0.2, 0.1, 0.05],
          "I": [0.01, 0.02, 0.022, -0.001, 0.0005, 0.002]}]


def factors(robot, q, *options):
    return json.loads(good("factor", robot, "-q", "--json", *options, rows=[q]))["rows"][0]


def eliminate(M):
    """Returns U and D of M = U D U^T by elimination from the last column, appendix B of the paper."""
    n = len(M)
    M = [list(row) for row in M]
    U = [[float(i == k) for k in range(n)] for i in range(n)]
    for k in reversed(range(n)):
        for i in range(k):
            U[i][k] = M[i][k] / M[k][k]
        for i in range(k):
            for j in range(k):
                M[i][j] -= U[i][k] * M[k][k] * U[j][k]
    return U, [M[k][k] for k in range(n)]


def test_factors_of_the_inertia_matrix(folder):
    """For well conditioned matrices of up to six joints the elimination loses some ten units of the
    last place of the largest element: 1e-11 leaves room for that of both sides."""
    pendulum = robot_file(folder, "one", "mdh", [0, 0, -9.81], LINKS[:1])
    slide = robot_file(folder, "slide", "mdh", [0, 0, -9.81], LINKS[1:2])
    both = robot_file(folder, "general", "mdh", [0, 0, -9.81], LINKS)
    for robot, q, options in ((pendulum, [0.3], []), (slide, [0.1], []), ("twobody", [0.3, 1], []), (both, [0.5, 0.2, -1], []),
                              ("planar3r", [0, 0.5, 1], []), ("puma560", [0.1, 0.5, -0.4, 1, 0.7, -1], []),
                              ("puma560", [0.1, 0.5, -0.4, 1, 0.7, -1], ["--no-rotor", "--payload", "2,0,0,0.1"]),
                              ("stanford", [0.3, 1.2, 0.4, 0.5, -0.6, 0.7], []), ("cmu-dd", [0.3, 1.2, 0.4, 0.5, -0.6, 0.7], [])):
        n = len(q)
        got = factors(robot, q, *options)
        M = table("mass", robot, *options, "-m", "crba", rows=[q])[0]
        U, D = eliminate([M[i * n:i * n + n] for i in range(n)])
        near(flat(got["U"]), flat(U), 1e-11, f"{robot} U")
        near(got["D"], D, 1e-11, f"{robot} D")
        assert got["difference"] < 100 * n * sys.float_info.epsilon and min(got["D"]) > 0, got
        assert got["q"] == q and len(got["articulated"]) == n


# ------------------------------------------------------------------------------ the floating chain

def product(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turned(R, v):
    return [sum(a * b for a, b in zip(row, v)) for row in R]


def place(link, q):
    """Returns rotation and origin of a frame of modified Denavit-Hartenberg in the one before."""
    theta, d = (link["theta"] + q, link["d"]) if link["type"] == "R" else (link["theta"], link["d"] + q)
    c, s, ca, sa = math.cos(theta), math.sin(theta), math.cos(link["alpha"]), math.sin(link["alpha"])
    return ([[c, -s, 0], [s * ca, c * ca, -sa], [s * sa, c * sa, ca]], [link["a"], -sa * d, ca * d])


def floating_mass(links, q):
    """Returns the mass matrix of the chain if its first link floats, on the axes and about the origin
    of that link: sum of J^T M J over the links. Coordinates: turn and shift of the first link, then
    the joints after it."""
    size = 6 + len(links) - 1
    R, p = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]
    total = [[0.0] * size for _ in range(size)]
    joints = []
    for k, link in enumerate(links):
        if k > 0:
            step, shift = place(link, q[k])
            p = [a + b for a, b in zip(p, turned(R, shift))]
            R = product(R, step)
            joints.append((link["type"], [row[2] for row in R], p))
        c = [a + b for a, b in zip(p, turned(R, link["c"]))]
        unit = [[float(i == j) for j in range(3)] for i in range(3)]
        columns = [(e, cross(e, c)) for e in unit] + [([0] * 3, e) for e in unit]
        for kind, z, at in joints:
            columns.append((z, cross(z, [a - b for a, b in zip(c, at)])) if kind == "R" else ([0] * 3, z))
        xx, yy, zz, xy, yz, xz = link["I"]
        I = product(product(R, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), [list(r) for r in zip(*R)])
        for i, (w, v) in enumerate(columns):
            moment, force = turned(I, w), [link["m"] * x for x in v]
            for j, (wj, vj) in enumerate(columns):
                total[i][j] += sum(a * b for a, b in zip(moment + force, wj + vj))
    for k, link in enumerate(links[1:]):
        total[6 + k][6 + k] += link.get("G", 0) ** 2 * link.get("Jm", 0)
    return total


def test_articulated_inertias(folder):
    """The articulated inertia of link i is what is left of the floating chain from link i on when its
    joints are eliminated. 8 x 8 numbers of about 10, some hundred roundings each: 1e-12."""
    q = [0.5, 0.2, -1]
    got = factors(robot_file(folder, "general", "mdh", [0, 0, -9.81], LINKS), q)["articulated"]
    for i in range(3):
        M = floating_mass(LINKS[i:], q[i:])
        for k in reversed(range(6, len(M))):
            M = [[M[r][c] - M[r][k] * M[k][c] / M[k][k] for c in range(k)] for r in range(k)]
        near(flat(got[i]), flat(M), 1e-12, f"link {i + 1}")


def test_text_and_errors(folder):
    text = good("factor", "planar3r", rows="0 0.5 1\n0.1 0.2 0.3\n")
    assert text.count("U, upper triangular:") == 2 and text.count("articulated inertia of link 3 (third):") == 2, text
    exact = factors("planar3r", [0, 0.5, 1])
    lines = text.splitlines()
    near([float(x) for x in lines[lines.index("D, diagonal:") + 1].split()], exact["D"], 1e-5, "D as text")
    near([float(x) for x in " ".join(lines[2:5]).split()], flat(exact["U"]), 1e-5, "U as text")
    bad = run("factor", "planar3r", rows="0 0.5\n")
    assert bad.returncode == 2 and "got 2 numbers, expected 3 (q of 3 joints)" in bad.stderr, bad.stderr
    bad = run("factor", "flex2", rows="0 0\n")
    assert bad.returncode == 2 and "--rigid" in bad.stderr, bad.stderr
    assert "U D U^T differs from M" in good("factor", "flex2", "--rigid", "-q", rows="0 0\n")
    # A prismatic joint that is 1e200 m out: the matrix has no finite numbers.
    far = robot_file(folder, "far", "mdh", [0, 0, -9.81], LINKS[:2])
    bad = run("factor", far, rows="0 1e200\n")
    assert bad.returncode == 2 and "not a finite number" in bad.stderr, bad
    # A link without any mass at the end moves nothing, so the last pivot is zero.
    empty = dict(LINKS[2], m=0, c=[0, 0, 0], I=[0] * 6)
    bad = run("factor", robot_file(folder, "empty", "mdh", [0, 0, -9.81], LINKS[:2] + [empty]), rows="0 0 0\n")
    assert bad.returncode == 2 and "error" in bad.stderr, bad.stderr


def test_the_check_finds_lost_digits(folder):
    """Axes that are parallel but for the 1.5708 of their angle have a common normal that is tens of
    kilometres away. The inertias are taken there and back, which costs digits, and the exit code says
    it; --parallel mends it."""
    body = {"type": "R", "axis": [0, 0, 1], "m": 1, "com_xyz": [0.1, 0.02, 0.03], "com_rpy": [0, 0, 0],
            "I": [0.01, 0.02, 0.015, 0, 0, 0]}
    robot = robot_file(folder, "almost", "frames", [0, 0, -9.81], [
        dict(body, xyz=[0, 0, 0.2], rpy=[0, 0, 0]), dict(body, xyz=[0, 0, 0], rpy=[1.5708, 0, 0]),
        dict(body, xyz=[0.1, 0.2, 0.05], rpy=[3.14159, 0, 0]), dict(body, xyz=[0.05, 0.2, 0.3], rpy=[1.5708, 0, 0])])
    rows = "0.1 0.2 0.3 0.4\n"
    bad = run("factor", robot, "-q", rows=rows)
    assert bad.returncode == 1 and "--parallel mends them" in bad.stderr and "D, diagonal:" in bad.stdout, bad
    good("factor", robot, "-q", "--parallel", "1e-4", rows=rows)


if __name__ == "__main__":
    sys.exit(main(globals()))
