#!/usr/bin/env python3
"""Tests formulas and generated code against Lagrange's equations (test/support/lagrange.py), which
share no code with them: `appell symbolic` in all formats, and `appell gen` in closed form and
traced, for few and for many joints.

    test_symbolic.py [PROGRAM [PATTERN]]
"""
import ctypes
import json
import os
import random
import re
import resource
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/host/appell")
sys.argv[1:2] = [PROGRAM]  # test_appell reads the path of the program from there
import test_appell  # noqa: E402
from test_appell import good, run  # noqa: E402
import lagrange  # noqa: E402

LONG = os.environ.get("LONG")
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")
WARN = ["-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
AGREE = 1e-12  # of the largest element: what `appell symbolic` promises, too
ARMS = {"planar3": lambda: lagrange.planar(3), "planar12": lambda: lagrange.planar(12),
        "planar20": lambda: lagrange.planar(20), "planar32": lambda: lagrange.planar(32),
        "piezo6": lambda: lagrange.piezo(6), "piezo12": lambda: lagrange.piezo(12),
        "piezo18": lambda: lagrange.piezo(18), "piezo24": lambda: lagrange.piezo(24),
        "piezo30": lambda: lagrange.piezo(30), "general7": lambda: lagrange.general(7, 7),
        "stanford": lambda: lagrange.Arm.read("tools/robots/stanford.yaml")}


def compiled(source, folder, name):
    """Compiles C as C and, without linking, as C++; returns the library."""
    library = os.path.join(folder, name + ".so")
    subprocess.run([CXX, "-x", "c++", "-O0", "-fsyntax-only", *WARN, source], check=True)
    subprocess.run([CC, "-std=c11", "-O0", "-shared", "-fPIC", *WARN, source, "-lm", "-o", library], check=True)
    return ctypes.CDLL(library)


def call(function, results, *inputs):
    out = (ctypes.c_double * results)()
    function(*[(ctypes.c_double * len(x))(*x) for x in inputs], out)
    return list(out)


def same(ours, theirs, what):
    most = max(abs(x) for x in theirs)
    worst = max(abs(a - b) for a, b in zip(ours, theirs))
    assert worst <= AGREE * most, f"{what}: differs by {worst / most:.1e} of the largest element"


def file_of(arm, folder):
    path = os.path.join(folder, arm.name + ".yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(arm.text())
    return path


def state(arm, seed):
    draw = random.Random(seed).uniform
    return [[draw(-3, 3) for _ in range(arm.n)] for _ in range(3)]


def generated(folder, arm, strategy):
    """Compares generated code in double with Lagrange's equations at two states."""
    path = file_of(arm, folder)
    good("gen", path, "--real", "f64", "--strategy", strategy, "--effort", "0", "--prefix", strategy[:5], "-q", "-o",
         folder)
    library = compiled(os.path.join(folder, strategy[:5] + ".c"), folder, arm.name + strategy)
    for seed in (1, 2):
        q, qd, qdd = state(arm, seed)
        same(call(library[strategy[:5] + "_mass"], arm.n * (arm.n + 1) // 2, q), arm.mass(q), f"{arm.name} {strategy} mass")
        if strategy == "trace":
            same(call(library.trace_id, arm.n, q, qd, qdd), arm.torque(q, qd, qdd), f"{arm.name} id")
    assert library[strategy[:5] + "_selftest"]() == 0


def test_traced(folder):
    for name in ARMS:
        generated(folder, ARMS[name](), "trace")


def test_closed_form(folder):
    """To 18 joints of paper 003's robot, whose code is 40,000 products then."""
    for name in ("planar3", "planar12", "planar20", "planar32", "piezo6", "piezo12", "piezo18", "stanford", "general7"):
        generated(folder, ARMS[name](), "uicker-kahn")


def test_closed_form_of_24_joints(folder):
    """700,000 products are too many for a compiler; 30 joints do not fit in memory."""
    if not LONG:
        raise test_appell.Skip("takes a minute; LONG=1")
    arm = ARMS["piezo24"]()
    text = good("symbolic", file_of(arm, folder), "--dictionary", "--digits", "17", "--monomials", "8000000")
    q = state(arm, 1)[0]
    ours = values_of(text, q)
    same([ours[f"H{j + 1},{i + 1}"] for i in range(24) for j in range(i + 1)], arm.mass(q), "piezo24")


def test_q31_of_30_joints_compiles_or_is_refused(folder):
    """General axes are the worst case of the guaranteed errors; a file without any kernel is none.
    test_gen_q31 has arms of thirty joints in every run."""
    if not LONG:
        raise test_appell.Skip("takes ten seconds; LONG=1")
    for arm in (lagrange.planar(30), lagrange.general(30, 30)):
        made = run("gen", file_of(arm, folder), "--real", "q31", "--limits", "1,2", "--effort", "0", "-q", "--prefix", "q31",
                   "-o", folder)
        if made.returncode == 0:
            assert compiled(os.path.join(folder, "q31.c"), folder, "q31" + arm.name).q31_selftest() == 0
        else:
            assert made.returncode == 2 and "generate f32" in made.stderr, made.stderr


def counted(source):
    """Counts the operations of the C with numbers, and compares them with those that it says."""
    said = [int(x) for x in re.search(r"H takes (\d+) multiplications, (\d+) of them for the dictionary, and (\d+) "
                                      r"additions; with G (\d+), (\d+) and (\d+)", re.sub(r"\s+(\* )?", " ", source)).groups()]
    body = " ".join(source[source.rindex("_symbolic("):].split())
    products = {"H": 0, "G": 0, "o": body.count(" * ", 0, body.index("H[0] ="))}
    sums = {"H": 0, "G": 0}
    for result, formula in re.findall(r"([HG])\[\d+\] = ([^;]*);", body):
        products[result] += formula.count(" * ")
        sums[result] += len(re.findall(r" [+-] ", formula))
    assert [products["H"], sums["H"]] == [said[0] - said[1], said[2]], (products, sums, said)
    assert [sum(products.values()), products["o"], sum(sums.values())] == said[3:], (products, sums, said)


def test_formulas_as_c(folder):
    """The C of `symbolic` gives the matrix and the gravity torques of Lagrange's equations, with
    numbers and with parameters."""
    arms = [ARMS[name]() for name in ("planar3", "planar12", "piezo6", "stanford")]
    for arm in arms + [lagrange.mixed(seed) for seed in range(60 if LONG else 12)]:
        path = file_of(arm, folder)
        for options in ([], ["--parameters"]):
            source = os.path.join(folder, "formulas.c")
            # digits: the values of the parameters stand in the comments
            good("symbolic", path, "--format", "c", "--digits", "17", "--prefix", "arm", *options, "-o", source)
            library = compiled(source, folder, arm.name + str(len(options)))
            with open(source, encoding="utf-8") as f:
                values = [float(x) for x in re.findall(r"^    double \w+; /\* ([^;]*);", f.read(), re.M)]
            q = state(arm, 3)[0]
            H, G = (ctypes.c_double * (arm.n * (arm.n + 1) // 2))(), (ctypes.c_double * arm.n)()
            given = [(ctypes.c_double * len(values))(*values)] if options else []
            library.arm_symbolic(*given, (ctypes.c_double * arm.n)(*q), H, G)
            same(list(H), arm.mass(q), f"{arm.name} {options} H")
            same(list(G), arm.torque(q, [0] * arm.n, [0] * arm.n), f"{arm.name} {options} G")
            if not options:
                with open(source, encoding="utf-8") as f:
                    counted(f.read())


def test_formulas_of_the_planar_arm(folder):
    """What a person reads: sums of angles and no products of sines."""
    text = good("symbolic", "planar3r")
    print(f"measured-block symbolic.planar3r\n```text\n{text}```\nmeasured-end", flush=True)
    for line in ("H11 = 0.109923 + 0.075 cos q2 + 0.0198 cos(q2 + q3) + 0.0165 cos q3",
                 "H22 = 0.0319233 + 0.0165 cos q3", "H33 = 0.00484", "G3 = 0.32373 cos(q1 + q2 + q3)"):
        assert "  " + line + "\n" in text, text
    assert "sin" not in text.split("Checked")[0].split("H takes")[0]
    named = good("symbolic", "planar3r", "--parameters")
    assert "  H23 = m3 a3^2 + 2 m3 a3 x3 + m3 x3^2 + Izz3 + (m3 a2 a3 + m3 a2 x3) cos q3\n" in named, named
    markdown = good("symbolic", "planar3r", "--format", "markdown")
    assert "H_{22} &= 0.0319233 + 0.0165\\,\\cos q_{3}\n" in markdown, markdown


def values_of(text, q):
    """Evaluates the formulas of the text as they are printed, with their dictionary."""
    import math
    known = {}
    for line in re.sub(r"\n +([+-])", r" \1", text).splitlines():
        angle = re.match(r"  (\w+(?:, \w+)?) = (\w+(?:, \w+)?)\(([^)]*)\)$", line)
        if angle:
            x = sum(q[int(k) - 1] for k in re.findall(r"q(\d+)", angle[3]))
            for symbol, function in zip(angle[1].split(", "), angle[2].split(", ")):
                known[symbol] = getattr(math, function)(x)
            continue
        formula = re.match(r"  (\S+) = (.*)$", line)
        if not formula:
            continue
        total = 0
        for sign, term in re.findall(r"(^-|[+-] |^)([^+]+?)(?= [+-] |$)", formula[2]):
            product = -1 if sign.strip() == "-" else 1
            for factor in term.split():
                base, _, power = factor.partition("^")
                product *= (known[base] if base in known else float(base)) ** int(power or 1)
            total += product
        known[formula[1]] = total
    return known


def test_printed_digits_are_the_matrix(folder):
    """The printed formulas of paper 003's robot, evaluated as a person would, are its matrix."""
    arm = lagrange.Arm.read("tools/robots/piezo6.yaml")
    q = state(arm, 5)[0]
    theirs = arm.mass(q)
    for options in ([], ["--dictionary"]):
        text = good("symbolic", "piezo6", "--digits", "15", *options)
        for i, j in ((1, 1), (1, 5), (2, 3), (3, 4), (4, 4)):
            ours = values_of(text, q)[f"H{i}{j}"]
            assert abs(ours - theirs[(j - 1) * j // 2 + i - 1]) <= AGREE * max(theirs), (options, i, j, ours)


def test_a_file_without_numbers(folder):
    path = os.path.join(folder, "named.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("name: two\nconvention: mdh\ngravity: [0, -9.81, 0]\njoints:\n"
                "  - {name: one, type: revolute, dh: {theta: 0, d: 0, a: 0, alpha: 0}}\n"
                "  - {name: two, type: revolute, dh: {theta: 0, d: 0, a: l1, alpha: 0}, "
                "link: {mass: M, com: [r, 0, 0], inertia: [0, 0, I, 0, 0, 0]}}\n")
    text = good("symbolic", path, "--parameters")
    assert "  H22 = M r^2 + I\n" in text and "  H12 = M r^2 + I + M l1 r cos q2\n" in text, text
    assert "\n  M                     link 2: mass\n" in text, text  # without a number
    refused = run("symbolic", path)
    assert refused.returncode == 2 and "add --parameters" in refused.stderr, refused.stderr
    assert "named.yaml:6: error: 'l1' is not a finite" in run("symbolic", path).stderr, run("symbolic", path).stderr
    numbers = [(name, f'"{name}" is not a finite') for name in ("nan", "-inf", "r r")]
    names = ("c2", "q1", "H11", "m1", "g", "double", "namespace", "NULL", "M")  # the last is a mass already
    for name, says in numbers + [(name, f"the name {name} ") for name in names]:
        with open(path, encoding="utf-8") as f:
            odd = f.read().replace("com: [r,", f"com: [{name},")
        with open(path + ".odd", "w", encoding="utf-8") as f:
            f.write(odd)
        refused = run("symbolic", path + ".odd", "--parameters")
        assert refused.returncode == 2 and says in refused.stderr, refused.stderr


def test_names_with_a_minus(folder):
    """The distal link of the usual drawing, whose centre is at -r, and a twist that is the opposite of another one."""
    path = odd_arm(folder, [("l", "beta", "M", 0.1), ("l", "-beta", 1, 0.1)])
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("com: [0, 0, 0]", "com: [-r, 0, 0]")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    text = good("symbolic", path, "--parameters")
    assert "- 2 M l r" in text and "  beta " in text and "-beta" not in text and "  r   " in text, text


def odd_arm(folder, joints, gravity="[0, 0, -9.81]"):
    path = os.path.join(folder, "odd.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"name: odd\nconvention: dh\ngravity: {gravity}\njoints:\n" + "".join(
            f"  - {{name: j{i}, type: revolute, dh: {{theta: 0, d: 0, a: {a}, alpha: {alpha}}}, link: {{mass: {mass}, "
            f"com: [0, 0, 0], inertia: [{inertia}, 0, 0, 0, 0, 0]}}}}\n" for i, (a, alpha, mass, inertia) in enumerate(joints)))
    return path


def test_c_without_parameters_or_positions_compiles(folder):
    """Of an arm without mass, with a matrix that only a parameter changes, and with one that nothing does."""
    for joint in ((0, 0, 0, 0), (0, "beta_1", 1, "J"), ("l", 0, "m", 0)):
        source = os.path.join(folder, "odd.c")
        good("symbolic", odd_arm(folder, [joint], "[0, 0, 0]"), "--parameters", "--format", "c", "-o", source)
        compiled(source, folder, "odd" + str(joint[0]) + str(joint[3]))


def test_powers_of_a_named_angle(folder):
    """Prismatic joints with the same angle: the powers of its cosine go up to 2 n - 2."""
    path = odd_arm(folder, [(0.1, "beta", 1, 0.1)] * 12)
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("revolute", "prismatic")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    assert "cos(beta)" in good("symbolic", path, "--parameters", "-q")


def test_named_products_beside_moments(folder):
    """The number that stands for a product of inertia is small beside moments that have numbers."""
    path = odd_arm(folder, [(0.1, 0, 1, 0.01)])
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("[0.01, 0, 0, 0, 0, 0]", "[0.01, 0.01, J, Ixy, Iyz, Ixz]")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    assert "H11 = " in good("symbolic", path, "--parameters", "-q")
    # one name in two links whose moments differ, and a number beside names
    path = odd_arm(folder, [(0.1, "beta", 1, 0.01), (0.1, "beta", 1, 3)])
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("[0.01, 0, 0, 0, 0, 0]", "[0.01, 0.01, 0.01, P, 0, 0]").replace("[3, 0, 0, 0, 0, 0]", "[3, 3, 3, P, 0, 0]")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    assert text.count("P, 0, 0") == 2 and "product of inertia xy" in good("symbolic", path, "--parameters", "-q")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("[3, 3, 3, P", "[A, B, C, 2"))
    assert "Ixy2   = 2 " in good("symbolic", path, "--parameters", "-q")


def test_axes_that_are_almost_parallel(folder):
    """Their common normal is far away, and its rounding is in the formulas: a note says what helps."""
    path = odd_arm(folder, [(0, 1.5708, 1, 0.1), (0.2, 3.14159, 1, 0.1), (0.2, 1.5708, 1, 0.1)])
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"(j[12],.*?) d: 0,", r"\1 d: 30000,", f.read())
        text = re.sub(r"(j1,.*?)0\], inertia", r"\g<1>30000], inertia", text)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    far = run("symbolic", path)
    assert far.returncode == 1 and "--parallel 1e-5" in far.stderr, (far.returncode, far.stderr)


def test_torques_that_cancel_are_no_difference(folder):
    """A pendulum that hangs in the plane across gravity, but for the rounding of its angle, and one
    that passes its balance: rounding is relative to the weights."""
    path = os.path.join(folder, "pendulum.yaml")
    for alpha in ("1.5707963267948966", "0"):
        with open(path, "w", encoding="utf-8") as f:
            f.write("name: pendulum\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n  - {name: one, type: revolute, "
                    f"dh: {{theta: -1.2, d: 0, a: 0, alpha: {alpha}}}, link: {{mass: 10, com: [0.17, 0.35, 0], "
                    "inertia: [0.1, 0.2, 0.25, 0, 0, 0]}}\n")
        assert json.loads(good("symbolic", path, "--json"))["gravity_error"] < AGREE


def of_latex(text):
    """The formulas of the Markdown in the notation of the text."""
    for pattern, by in ((r" \\\\\n&\\quad", ""), (r"\\,", " "), (r"\^\{(\d+)\}", r"^\1"), (r" \\cdot 10\^\{-(\d)\}", r"e-0\1"),
                        (r"(\d+) \\ldots (\d+)", r"\1_to_\2"), (r"H_\{(\d+),(\d+)\}", r"H\1,\2"),
                        (r"_\{(\d+),(\d+)\}", r"\1_\2"), (r"\\mathrm\{([^{}]*)\}", r"\1"), (r"\\_", "_"),
                        (r"\b([cs])_\{([A-Za-z]\w*)\}", r"\1_\2"), (r"_\{(\w+)\}", r"\1"), (r"\\(sin|cos)", r"\1"),
                        (r" \\\\$", "")):
        text = re.sub(pattern, by, text, flags=re.M)
    return dict(re.findall(r"^&?([HGo]\S+) &?= (.*)$", text, re.M))


def test_markdown_has_the_formulas_of_the_text(folder):
    named = odd_arm(folder, [("l_1", "beta_1", "M", "J"), (0, "beta_2", "m_2", 1), (0.1, 0, 1, 1)])
    for robot in ("planar3r", "piezo6", "stanford", file_of(lagrange.planar(12), folder), named):
        for options in (["--parameters"], ["--parameters", "--dictionary"], *([] if robot == named else [[]])):
            text = re.sub(r"\n {7,}([+-])", r" \1", good("symbolic", robot, *options))
            markdown = good("symbolic", robot, "--format", "markdown", *options)
            assert of_latex(markdown) == dict(re.findall(r"^  ([HGo]\S+) = (.*)$", text, re.M)), (robot, options)
            assert all(markdown.count(a) == markdown.count(b) for a, b in ("{}", "()"))
    assert r"\mathrm{l\_1}" in markdown and r"s_{\mathrm{beta\_1}}" in markdown, markdown


def test_a_c_file_has_its_command(folder):
    source = good("symbolic", "puma560", "--format", "c", "--no-rotor", "--gravity", "0,0,1", "--payload", "1")
    assert "     appell symbolic puma560 --gravity 0,0,1 --payload 1 --format c --no-rotor\n" in source, source[:600]


def test_no_memory_ends_cleanly(folder):
    path, out = file_of(lagrange.piezo(30), folder), os.path.join(folder, "none")
    little = 80 << 20
    for command in (["symbolic", path, "-o", out], ["gen", path, "--strategy", "uicker-kahn", "-o", out]):
        ended = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (little, little)))
        assert ended.returncode == 2 and "no memory" in ended.stderr, (ended.returncode, ended.stderr)
        assert not os.path.isfile(out) and not (os.path.isdir(out) and os.listdir(out))


def test_too_many_monomials_end_cleanly(folder):
    path = file_of(lagrange.piezo(30), folder)
    for command in (["symbolic", path, "--monomials", "20000"],
                    ["gen", path, "--strategy", "uicker-kahn", "--monomials", "20000", "-o", folder]):
        refused = run(*command)
        assert refused.returncode == 2 and "more than 20000 monomials" in refused.stderr, refused.stderr
        assert "--monomials" in refused.stderr
    assert "add --strategy uicker-kahn" in run("gen", path, "--monomials", "20000", "-o", folder).stderr
    assert "add --format c" in run("symbolic", path, "--prefix", "arm").stderr


def test_json(folder):
    data = json.loads(good("symbolic", "piezo6", "--json"))
    assert data["joints"] == 6 and data["checked_states"] == 100 and data["matrix_error"] < AGREE
    assert "H66 = 1.5e-06" in data["text"]


if __name__ == "__main__":
    sys.exit(test_appell.main(globals()))
