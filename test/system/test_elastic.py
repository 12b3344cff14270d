#!/usr/bin/env python3
"""Tests arms with elastic links in the tool, under the sanitizers: rows, simulations, images and
messages.

    test_elastic.py [PROGRAM [PATTERN]]
"""
import csv
import json
import math
import os
import re
import sys

sys.dont_write_bytecode = True
import test_appell as tool  # helpers that run the program
from test_appell import flat, golden, good, near, run, table  # noqa: E402

SPACE = """name: space
convention: mdh
gravity: [0, 0, -9.81]
joints:
  - name: waist
    type: revolute
    dh: {theta: 0, d: 0, a: 0, alpha: 0}
    link: {mass: 6, com: [0.02, 0.1, -0.05], inertia: [0.2, 0.1, 0.15, 0.01, -0.02, 0.03]}
    friction: {viscous: 0.3}
    motor: {resistance: 1.5, torque_constant: 0.1, gear: 80, rotor_inertia: 2.0e-5, voltage: 40}
  - name: shoulder
    type: revolute
    dh: {theta: 0, d: 0.15, a: 0.2, alpha: 1.3}
    flex: {length: 0.9, mass_per_length: 3, EI_y: 9000, EI_z: 4000, GJ: 1500, polar_inertia: 0.004,
           modes: {xy: 2, xz: 1, torsion: 1}}
    motor: {resistance: 1.5, torque_constant: 0.1, gear: 80, rotor_inertia: 2.0e-5, voltage: 40}
  - name: elbow
    type: revolute
    dh: {theta: 0, d: -0.1, a: 0.9, alpha: -0.7}
    flex: {length: 0.7, mass_per_length: 2, EI_y: 1500, EI_z: 2500, modes: {xy: 1, xz: 1}}
    motor: {resistance: 1.5, torque_constant: 0.1, gear: 80, rotor_inertia: 2.0e-5, voltage: 40}
tool: {xyz: [0.75, 0, 0.05]}
payload: {mass: 0.5, com: [0.7, 0.02, 0], inertia: [0.001, 0.001, 0.001, 0, 0, 0]}
"""
JOINTS, SIZE = 3, 9
AT = [0, 1, 6]  # indices of the joints in Theta
MODES = [k for k in range(SIZE) if k not in AT]
THETA = [0.3, -0.6, 0.002, 0.0004, 0.003, 0.01, 0.9, -0.004, 0.002]
RATE = [0.5, -0.4, 0.02, 0.01, -0.03, 0.1, 0.8, 0.04, -0.05]


def space(folder, text=SPACE, name="space.yaml"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def square(row):
    return [row[i * SIZE:(i + 1) * SIZE] for i in range(SIZE)]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def bent_rows(path):
    with open(path) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


# ------------------------------------------------------------------------------------------------ rows

def test_rows_are_the_reference_values(folder):
    for state in golden("flexible2")["states"]:
        theta, rate, tau = state["Theta"], state["Thetad"], state["tau"]
        near(table("mass", "flex2", rows=[theta])[0], flat(state["I"]), 1e-9, "I")
        bias = table("bias", "flex2", rows=[theta + rate])[0]
        near([tau[0] - bias[0], -bias[1], tau[1] - bias[2], -bias[3]], state["Re"], 1e-9, "Re")
        near(table("fd", "flex2", rows=[theta + rate + tau])[0], state["Thetadd"], 1e-10, "Thetadd")
        effector = table("fk", "flex2", rows=[theta])[0]
        near([effector[3], effector[7]], state["tip"], 1e-12, "tip")
        linear = state["paper_linearised_E"]
        near(table("mass", "flex2", "--linear", rows=[theta])[0], flat(linear["I"]), 1e-9, "linear I")
        bias = table("bias", "flex2", "--linear", rows=[theta + rate])[0]
        near([tau[0] - bias[0], -bias[1], tau[1] - bias[2], -bias[3]], linear["Re"], 1e-9, "linear Re")


def test_the_inverse_problem_undoes_forward_dynamics(folder):
    """With rotors, friction and a wrench, fd with the torques of id gives the same
    accelerations."""
    robot, wrench = space(folder), ["--wrench", "1,-2,3,0.1,0.2,-0.3"]
    qdd = [1.0, -0.5, 2.0]
    for real, tolerance in (("f64", 1e-10), ("f32", 2e-3)):
        answer = table("id", robot, *wrench, "--real", real, rows=[THETA + RATE + qdd])[0]
        tau, more = answer[:JOINTS], answer[JOINTS:]
        back = table("fd", robot, *wrench, "--real", real, rows=[THETA + RATE + tau])[0]
        near([back[k] for k in AT], qdd, tolerance * (1 + max(map(abs, more))), "accelerations of the joints")
        near([back[k] for k in MODES], more, tolerance, "accelerations of the modes")


def test_matrix_bias_gravity_and_coriolis_are_one_arm(folder):
    """Checks I Thetadd + bias = tau, bias = gravity + C Thetad + stiffness, and that dI/dt - 2 C is
    skew-symmetric."""
    robot = space(folder)
    mass = square(table("mass", robot, rows=[THETA])[0])
    bias = table("bias", robot, rows=[THETA + RATE])[0]
    answer = table("fd", robot, "--no-friction", rows=[THETA + RATE + [3, -2, 1]])[0]
    near([x + b for x, b in zip(times(mass, answer), bias)],
         [3 if k == 0 else -2 if k == 1 else 1 if k == 6 else 0 for k in range(SIZE)],
         1e-10 * max(map(abs, bias)), "I Thetadd + bias")
    coriolis = square(table("coriolis", robot, rows=[THETA + RATE])[0])
    gravity = table("gravity", robot, rows=[THETA])[0]
    rest = table("bias", robot, rows=[THETA + [0] * SIZE])[0]  # consists of gravity and stiffness
    near([c + r for c, r in zip(times(coriolis, RATE), rest)], bias, 1e-11, "C Thetad")
    assert [abs(r - g) > 1 for r, g in zip(rest, gravity)] == [k in MODES for k in range(SIZE)]
    step = 1e-5
    ahead = square(table("mass", robot, rows=[[t + step * r for t, r in zip(THETA, RATE)]])[0])
    behind = square(table("mass", robot, rows=[[t - step * r for t, r in zip(THETA, RATE)]])[0])
    for i in range(SIZE):
        for k in range(SIZE):
            change = [(ahead[a][b] - behind[a][b]) / (2 * step) - 2 * coriolis[a][b] for a, b in ((i, k), (k, i))]
            assert abs(change[0] + change[1]) < 1e-7, (i, k, change)


def test_the_jacobian_is_the_slope_of_fk(folder):
    robot, step = space(folder), 1e-6
    jacobian = table("jacobian", robot, rows=[THETA])[0]
    for k in range(SIZE):
        poses = table("fk", robot, rows=[[t + s * (i == k) for i, t in enumerate(THETA)] for s in (step, -step)])
        slope = [(poses[0][i] - poses[1][i]) / (2 * step) for i in (3, 7, 11)]
        near([jacobian[i * SIZE + k] for i in range(3)], slope, 1e-8, f"column {k}")


def test_static_deflection_holds_the_load(folder):
    """At rest in the static deflection, the bias of the modes is zero, and that of the joints is
    the torques of --static."""
    robot = space(folder)
    answer = table("id", robot, "--static", rows=[[0.3, -0.6, 0.9] + [0] * 6])[0]
    theta = [0.0] * SIZE
    for i, k in enumerate(AT):
        theta[k] = [0.3, -0.6, 0.9][i]
    for i, k in enumerate(MODES):
        theta[k] = answer[JOINTS + i]
    bias = table("bias", robot, rows=[theta + [0] * SIZE])[0]
    near([bias[k] for k in AT], answer[:JOINTS], 1e-9, "torques")
    near([bias[k] for k in MODES], [0] * len(MODES), 1e-7, "modes")
    stiff = table("gravity", robot, "--rigid", rows=[[0.3, -0.6, 0.9]])[0]
    assert 1e-4 < max(abs(a - b) for a, b in zip(stiff, answer)) < 0.1 * max(map(abs, stiff))


def test_volts_are_those_of_the_joints(folder):
    rows = [[0.1, 0.2, 0.3, 4, 5, 6]]
    assert table("volt", space(folder), rows=rows) == table("volt", space(folder), "--rigid", rows=rows)


# ------------------------------------------------------------------------------------------------ sim

def test_simulations_are_the_reference_values(folder):
    data = golden("flexible2")
    for sim in data["sims"][:2]:
        more = ["--gravity", "0,0,0"] if sim["name"] == "zero_gravity" else []
        path, bent = os.path.join(folder, "s.csv"), os.path.join(folder, "b.csv")
        done = json.loads(good("sim", "flex2", "-q", "--json", "--duration", "2", "--sample", "0.05", "-i", "rk45",
                               "--tolerance", "1e-11", "--start=" + ",".join(map(repr, sim["Theta0"])),
                               "--speed=" + ",".join(map(repr, map(float, sim["Thetad0"]))), "-o", path,
                               "--bent", bent, *more))
        drift = done["balance_most"] / done["kinetic_most"]
        print(f"NOTE {sim['name']}: energy drifts by {drift:.2g} of the largest kinetic energy")
        assert drift < 1e-8
        rows, shapes = bent_rows(path), bent_rows(bent)
        names = ["q_first", "q_first.xy1", "q_second", "q_second.xy1"]
        for row, want in zip(rows, sim["Theta"]):
            assert max(abs(row[name] - x) for name, x in zip(names, want)) < 1e-6, (sim["name"], row["t"])
        for row, want in zip(shapes, sim["tip"]):
            assert max(abs(row["effector_x"] - want[0]), abs(row["effector_y"] - want[1])) < 1e-6
        columns = {"v1_mid": "first_xy_deflection_mid", "v1_end": "first_xy_deflection_end",
                   "slope1_mid": "first_xy_slope_mid", "slope1_end": "first_xy_slope_end",
                   "v2_mid": "second_xy_deflection_mid", "v2_end": "second_xy_deflection_end",
                   "slope2_mid": "second_xy_slope_mid", "slope2_end": "second_xy_slope_end"}
        for key, name in columns.items():
            for row, want in zip(shapes, sim.get(key, [])):
                assert abs(row[name] - want) < 1e-6, (key, row["t"])


def test_energy_in_space_with_stops_wrench_and_volts(folder):
    """The work of motors, friction, wrench and stops equals the change of energy of an elastic arm,
    too."""
    robot = space(folder, SPACE.replace("friction: {viscous: 0.3}",
                                        "friction: {viscous: 0.3}\n    limits: {position: [-0.2, 0.2]}"))
    common = ["-q", "--json", "--start", "0,0,0.2", "-i", "rk45", "--tolerance", "1e-10"]
    for more in (["--duration", "0.3"], ["--duration", "0.3", "--wrench", "0,2,5,0,0,0"],
                 ["--duration", "0.3", "--voltage", "8,0,0", "--stops"],
                 ["--duration", "0.4", "--move", "0.1,-0.3,0.5", "--volts", "--period", "0.001"]):
        done = json.loads(good("sim", robot, *common, *more))
        assert done["kinetic_most"] > 0.05 and done["balance_most"] < 1e-6 * done["kinetic_most"], (more, done)
    assert done["work_motors"] != 0 and done["lost_friction"] > 0


def test_energy_of_a_damped_arm(folder):
    """The energy balance contains the loss by damping of the beams, with and without joint
    friction."""
    with open("tools/robots/flex2.yaml") as file:
        damped = file.read().replace("{length:", "{damping: 0.0001, length:")
    assert damped.count("damping") == 2
    common = ["-q", "--json", "-i", "rk45", "--tolerance", "1e-10"]
    done = json.loads(good("sim", space(folder, damped), *common, "--start=-1.5708,0.01,0.0873,0", "--duration", "0.5"))
    assert done["lost_friction"] > 0.3 and done["balance_most"] < 1e-6 * done["kinetic_most"], done
    damped = SPACE.replace("{length:", "{damping: 0.0002, length:")
    assert damped.count("damping") == 2
    done = json.loads(good("sim", space(folder, damped), *common, "--start=0,0,0.002,0,0.003,0.01,0.2,0.001,0",
                           "--duration", "0.3"))
    plain = json.loads(good("sim", space(folder), *common, "--start=0,0,0.002,0,0.003,0.01,0.2,0.001,0",
                            "--duration", "0.3"))
    assert done["lost_friction"] > 1.5 * plain["lost_friction"] > 0, (done, plain)
    assert done["balance_most"] < 1e-6 * done["kinetic_most"], done


def test_the_feedforward_of_a_motion_knows_the_deflection(folder):
    """The arm starts in its static deflection and gets the quasi-static torques. It follows far
    better than with the torques of rigid beams."""
    robot = space(folder, SPACE.replace("    friction: {viscous: 0.3}\n", ""))
    target, T = [0.4, 0.3, -0.5], 2.0
    times_ = [T * k / 400 for k in range(401)]
    motion = []
    for t in times_:
        u = 2 * math.pi * t / T
        part, speed, more = (u - math.sin(u)) / (2 * math.pi), (1 - math.cos(u)) / T, 2 * math.pi * math.sin(u) / T ** 2
        motion.append([x * k for k in (part, speed, more) for x in target])
    rigid = table("id", robot, "--rigid", rows=motion)
    path, csv_path = os.path.join(folder, "tau.txt"), os.path.join(folder, "m.csv")
    with open(path, "w") as file:
        for t, row in zip(times_, rigid):
            file.write(" ".join(map(repr, [t] + row)) + "\n")

    def error(*drive):
        good("sim", robot, "-q", "--start", "0,0,0", "--duration", repr(T), "-i", "rk45", "--tolerance", "1e-8",
             "--sample", "0.1", "-o", csv_path, *drive)
        rows = bent_rows(csv_path)
        want = [[x * (u - math.sin(u)) / (2 * math.pi) for x in target]
                for u in (2 * math.pi * row["t"] / T for row in rows)]
        return max(math.dist([row["q_waist"], row["q_shoulder"], row["q_elbow"]], w) for row, w in zip(rows, want))
    elastic, stiff = error("--move", ",".join(map(repr, target))), error("--torque", path)
    print(f"NOTE joints after open-loop feedforward: {elastic:.2g} rad off, with stiff beams {stiff:.2g} rad")
    print(f"measured flex.feedforward_static {elastic:.1g}\nmeasured flex.feedforward_rigid {stiff:.2g}")
    assert elastic < stiff / 3, (elastic, stiff)


FALL = ["-q", "--start=-1.5708,0,0.0873,0", "-i", "rk45", "--duration"]


def test_rows_of_a_vibration_keep_its_peaks(folder):
    """Without --sample the rows are dense enough for vibrations. The beams of flex2 vibrate with
    396 rad/s (RMS acceleration divided by RMS speed), so 0.5 ms beside a peak the value is 1 -
    cos(396 * 0.0005) = 2.0 % lower. Rows every 10 ms would lose 5.4 %."""
    path, most = os.path.join(folder, "peaks.csv"), []
    for more in ([], ["--sample", "0.0005"]):
        good("sim", "flex2", *FALL, "0.5", "--bent", path, *more)
        rows = bent_rows(path)
        most.append({name: max(abs(row[name]) for row in rows) for name in rows[0] if name != "effector_z"})
    for name, value in most[0].items():
        assert value >= 0.98 * most[1][name], (name, value, most[1][name])


def test_torsion_has_columns(folder):
    """The shape of the first torsion mode is sin(pi x / 2 l), so the middle turns 1/sqrt(2) as far
    as the end."""
    path = os.path.join(folder, "torsion.csv")
    good("sim", space(folder), "-q", "--start", "0,0,0.2", "--duration", "0.1", "-i", "rk45", "--bent", path)
    rows = bent_rows(path)
    assert max(abs(row["shoulder_torsion_end"]) for row in rows) > 1e-3 and "elbow_torsion_end" not in rows[0]
    for row in rows:
        near([row["shoulder_torsion_mid"]], [row["shoulder_torsion_end"] / math.sqrt(2)], 1e-9, "torsion")


def test_plots_have_an_axis_for_what_is_small(folder):
    """Modes have an axis with their own units, and the end effector has an axis for each
    coordinate."""
    svg = os.path.join(folder, "p.svg")
    good("sim", space(folder), "-q", "--start", "0,0,0.2", "--duration", "0.05", "--plot", svg)
    with open(svg) as file:
        text = file.read()
    assert "Amplitudes of the modes" in text and "m; torsion rad" in text, text[-2000:]
    good("sim", "flex2", "-q", "--start=-1.5,0.1", "--duration", "0.05", "--plot", svg)
    with open(svg) as file:
        text = file.read()
    labels = re.findall(r'rotate\(270\)"[^>]*>\s*<text><tspan[^>]*>([^<]*)<', text)
    # the fifth is that of the accelerations, before its raised 2
    assert labels == ["rad", "rad/s", "m", "m/s", "rad/s", "N m", "J"], labels
    good("sim", space(folder), "-q", "--start", "0,0,0.2", "--duration", "0.05", "--bent", svg)
    with open(svg) as file:
        text = file.read()
    for title in ("End effector, x", "End effector, y", "End effector, z", "Torsion in the middle", "shoulder_torsion_end"):
        assert title in text, title


def test_more_rows_than_dots_keep_their_extremes(folder):
    """A plot draws 4001 rows as at most 3000 dots. Measured with the ticks of the axis, the height
    of the curve is the range of the values."""
    svg, path = os.path.join(folder, "p.svg"), os.path.join(folder, "p.csv")
    for out in (svg, path):
        good("sim", "flex2", *FALL, "4", "--bent", out)
    values = [row["second_xy_slope_end"] for row in bent_rows(path)]
    with open(svg) as file:
        text = file.read()
    before, panel = text.rsplit(">rad<", 1)
    (y2, v2), (y1, v1) = [map(float, tick) for tick in re.findall(
        r'translate\([-\d.]+,([-\d.]+)\)"[^>]*text-anchor="end">\s*<text><tspan[^>]*>(-?[\d.e-]+)<', before)[-2:]]
    curve = re.search(r"<title>second_xy_slope_end</title>.*? d='([^']*)'", panel, re.S).group(1)
    dots = [float(y) for y in re.findall(r",([\d.]+)", curve)][2:]  # the first two belong to the legend
    assert 1000 < len(dots) <= 3000, len(dots)
    near([max(dots) - min(dots)], [(max(values) - min(values)) * (y1 - y2) / (v2 - v1)], 0.1, "dots that it is high")


def test_plots_and_animation(folder):
    robot = space(folder)
    for option, name, head in (("--bent", "b.png", b"\x89PNG"), ("--plot", "p.svg", b"<?xml"),
                               ("--animate", "a.html", b"<!")):
        path = os.path.join(folder, name)
        good("sim", robot, "-q", "--start", "0,0,0.2", "--duration", "0.1", "--gravity", "0,-9.81,0", option, path)
        with open(path, "rb") as file:
            text = file.read()
        assert text.lstrip().startswith(head), name
        if name == "a.html":  # the picture shows the fall along gravity
            up = json.loads(re.search(rb'"up":(\[[^]]*\])', text).group(1))
            assert up[1] > 9 and up[0] == up[2] == 0, up


# ---------------------------------------------------------------------------------------------- images

def test_images_carry_the_beams(folder):
    robot, image, again = (os.path.join(folder, name) for name in ("space.yaml", "a.img", "b.img"))
    space(folder)
    good("image", robot, "-q", "-o", image)
    shown = os.path.join(folder, "shown.yaml")
    with open(shown, "w") as file:
        file.write(good("image", "-q", "--show", image))
    good("image", shown, "-q", "-o", again)
    with open(image, "rb") as one, open(again, "rb") as two:
        assert one.read() == two.read()
    near(table("mass", image, rows=[THETA])[0], table("mass", robot, rows=[THETA])[0], 1e-6, "mass")
    near(table("bias", image, rows=[THETA + RATE])[0], table("bias", robot, rows=[THETA + RATE])[0], 1e-6, "bias")


def test_images_of_tables_keep_the_integrals_alone(folder):
    text = SPACE.replace("EI_z: 2500, modes: {xy: 1, xz: 1}}",
                         "EI_z: 2500, modes: {xy: 1, xz: 1},\n           shapes: [{plane: xy, values: [0, 0.1, 0.4, 0.9, 1.6]}]}")
    robot, image = space(folder, text), os.path.join(folder, "t.img")
    good("image", robot, "-q", "-o", image)
    near(table("mass", image, rows=[THETA])[0], table("mass", robot, rows=[THETA])[0], 1e-6, "mass")
    for command in (["image", "--show", image], ["sim", image, "--duration", "0.1", "--bent", image + ".csv"]):
        done = run(*command)
        assert done.returncode == 2 and "tables" in done.stderr, done.stderr


def test_damaged_beams_are_refused(folder):
    robot, image = space(folder), os.path.join(folder, "d.img")
    good("image", robot, "-q", "-o", image)
    with open(image, "rb") as file:
        data = bytearray(file.read())
    at = data.index(b"FLEX") + 8
    import zlib
    for offset, word in ((0, 0xFFFFFFFF), (8, 0x7F800000), (4, 0x0000000A), (12, 0x40A00000)):
        broken = bytearray(data)
        broken[at + offset:at + offset + 4] = word.to_bytes(4, "little")
        broken[4:8] = zlib.crc32(bytes(broken[8:])).to_bytes(4, "little")
        with open(image, "wb") as file:
            file.write(broken)
        done = run("mass", image, rows=[THETA])
        assert done.returncode == 2 and "image" in done.stderr, (offset, done.stderr)


# ------------------------------------------------------------------------------------------------ board

def test_a_board_feeds_the_deflection_forward(folder):
    """Six motions in sequence give the same bits as the control step on the host, which starts each
    motion anew. So the deflection at the end of a motion does not affect the next."""
    done = run("demo", "flex2", "-q", "-o", folder, "--port", "qemu:netduinoplus2", timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr
    compared = re.search(r"^(\d+) values compared .*, (\d+) differ", done.stdout, re.M)
    assert compared and int(compared.group(1)) > 6 * 300 * 16 and compared.group(2) == "0", done.stdout


# --------------------------------------------------------------------------------------------- messages

def test_what_is_refused(folder):
    robot = space(folder)
    for command, text in ((["mass", robot, "--real", "q31"], "deflections"),
                          (["fd", robot, "--method", "aba"], "the only method is flex"),
                          (["id", "puma560", "--static"], "elastic links"),
                          (["ik", robot], "--rigid"),
                          (["certify", robot], "--rigid"),
                          (["sim", robot], "interactive"),
                          (["sim", "puma560", "--duration", "1", "--bent", "b.png"], "elastic links"),
                          (["sim", robot, "--duration", "1", "--start", "1,2"], "numbers")):
        done = run(*command, rows=[THETA])
        assert done.returncode == 2 and text in done.stderr, (command, done.stderr)
    # The advice in the message works.
    done = run("certify", robot, "--rigid", "-q")
    assert done.returncode == 0 and "fits" in done.stdout, done.stdout + done.stderr
    done = run("mass", robot, rows=[THETA[:-1]])
    assert done.returncode == 2 and "3 joints and 6 modes" in done.stderr, done.stderr
    many = space(folder, SPACE.replace("modes: {xy: 2,", "modes: {xy: 5,"), "many.yaml")
    done = run("mass", many, rows=[THETA])
    assert done.returncode == 2 and "7 modes" in done.stderr, done.stderr


if __name__ == "__main__":
    sys.exit(tool.main(globals()))
