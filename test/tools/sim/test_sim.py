#!/usr/bin/env python3
"""Tests the simulator as a user calls it, under the sanitizers: energy, orders of the integrators,
round trips, reference values, inputs and outputs on the command line. Also runs the animation in a
browser and the interactive program in a terminal.

    test_sim.py [PROGRAM [PATTERN]]
"""
import base64
import csv
import fcntl
import html
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import zlib

sys.dont_write_bytecode = True
import test_appell as tool  # helpers that run the program
from test_appell import PROGRAM, Skip, golden, good, main, near, robot_file, run  # noqa: E402

FAST = "build/host/appell"  # built without sanitizers, for tests that measure seconds or take minutes
INTEGRATORS = {"rk3": 3, "rk4": 4, "rk45": 5, "rk56": 6}


def sim(robot, *options):
    """Runs a simulation and returns its summary."""
    return json.loads(good("sim", robot, "-q", "--json", *options))


def rows_of(path):
    with open(path) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def column(rows, prefix):
    """Returns, for each row, the numbers of all joints with this prefix: q_waist, q_shoulder,
    ..."""
    names = [name for name in rows[0] if name.startswith(prefix + "_")]
    return [[row[name] for name in names] for row in rows]


def joined(values):
    return ",".join(repr(float(x)) for x in values)


# ----------------------------------------------------------------- energy, orders and reference values

def test_energy_of_free_falls(folder):
    """After 10 s with rk45 and tolerance 1e-10, the energy has drifted by less than 1e-8 of the
    largest kinetic energy."""
    for robot, options in (("puma560", ["--no-friction"]),
                           ("stanford", ["--start", "0,1.5707963267948966,0,0,0,0"])):
        done = sim(robot, "--duration", "10", "-i", "rk45", "--tolerance", "1e-10", *options)
        drift = done["balance_most"] / done["kinetic_most"]
        print(f"measured sim.energy.{robot} {drift:.1e}")
        print(f"NOTE {robot}: energy drifts by {drift:.2g} of the largest kinetic energy")
        assert done["kinetic_most"] > 1 and drift < 1e-8, (robot, drift)
        assert done["work_motors"] == done["lost_friction"] == 0


def test_orders_of_the_integrators(folder):
    """Simulates a free fall of the PUMA for 0.4 s with fixed steps that are halved again and again.
    The order is taken from the finest steps whose error is still above 5e-13, fifty times the
    rounding error of some hundred steps, because there the leading term of the error dominates."""
    fall = ["--no-friction", "--start", "0.1,0.8,-0.4,0.3,0.5,0.2", "--duration", "0.4", "--sample", "0.4"]

    def end(integrator, steps):
        done = sim("puma560", *fall, "-i", integrator, "--step", repr(0.4 / steps))
        return done["q"] + done["qd"]
    exact = end("rk56", 1600)
    for name, order in INTEGRATORS.items():
        errors = [math.dist(end(name, steps), exact) for steps in (20, 40, 80, 160, 320)]
        fine = [i for i in range(1, len(errors)) if errors[i] > 5e-13][-1]
        measured = math.log2(errors[fine - 1] / errors[fine])
        print(f"measured sim.order.{name} {measured:.3f}")
        print(f"NOTE {name}: order {measured:.3f}")
        assert abs(measured - order) < 0.1, (name, measured, errors)


def line_motion(folder):
    """Writes the straight line of paper 000 with speeds and accelerations, from the reference
    values."""
    samples = golden("puma560")["straight_line"]["samples"]
    path = os.path.join(folder, "line.txt")
    with open(path, "w") as file:
        for s in samples:
            file.write(" ".join(repr(float(x)) for x in [s["t"]] + s["q"] + s["qd"] + s["qdd"]) + "\n")
    return path, samples


def test_round_trip(folder):
    """The torques of a motion, evaluated at every stage of the integrator, reproduce the motion to
    1e-8: over 5 s with rotors and over 1 s without. Without rotors 5 s would amplify every rounding
    error by 1e9 or more."""
    path, samples = line_motion(folder)
    worst = {}
    for options, until in (([], 5), (["--no-rotor"], 1)):
        out = os.path.join(folder, "line.csv")
        sim("puma560", "--no-friction", "--motion", path, "-i", "rk56", "--step", "0.005", "--sample", "0.1",
            "--duration", until, "-o", out, *options)
        rows = rows_of(out)
        assert len(rows) == 10 * until + 1
        worst[until] = max(abs(a - b) for row, s in zip(column(rows, "q"), samples) for a, b in zip(row, s["q"]))
        assert worst[until] < 1e-8, (options, worst)
    print(f"measured sim.line.rotors {worst[5]:.1e}\nmeasured sim.line.links {worst[1]:.1e}")
    print(f"NOTE line of paper 000: off by {worst[5]:.2g} rad after 5 s, without rotors {worst[1]:.2g} after 1 s")
    to = [1, 1, -1, 0.5, 1, 0.3]
    move = ["--no-friction", "--start", "0.1,0.8,-0.4,0.3,0.5,0.2", "--move", joined(to), "-i", "rk56",
            "--step", "0.005"]
    with_rotors = sim("puma560", *move, "--duration", "5")
    without = sim("puma560", *move, "--duration", "1", "--no-rotor")
    for done in (with_rotors, without):
        assert max(abs(a - b) for a, b in zip(done["q"], to)) < 1e-8, done
        assert max(map(abs, done["qd"])) < 1e-7, done
    # Shows why: measures how much an error of 1e-10 rad at the elbow grows along the line.
    grown = {}
    for rotors in ([], ["--no-rotor"]):
        for until in (2, 5):
            ends = []
            for shift in (0, 1e-10):
                start = list(samples[0]["q"])
                start[2] += shift
                ends.append(sim("puma560", "--no-friction", "--motion", path, "--start", joined(start), "-i", "rk56",
                                "--step", "0.002", "--duration", until, *rotors)["q"])
            grown[bool(rotors), until] = math.dist(*ends) / 1e-10
    for rotors, name in ((False, "rotors"), (True, "links")):  # True: run with --no-rotor
        for until in (2, 5):
            times = grown[rotors, until]
            shown = f"{times:.1e}" if times >= 1e6 else f"{float('%.2g' % times):,.0f}"
            print(f"measured sim.growth.{name}.{until}s {shown}")
    print(f"NOTE the line multiplies a small error by {grown[False, 2]:.2g} in 2 s, {grown[False, 5]:.2g} in 5 s, "
          f"without rotors by {grown[True, 2]:.2g}, {grown[True, 5]:.2g}")
    assert all(grown[True, until] > 10 * grown[False, until] for until in (2, 5)), grown


def test_methods_agree(folder):
    """All methods give the same trajectory. During 1 s a PUMA with rotors amplifies errors by less
    than 10, so some hundred steps of tolerance 1e-11 differ by less than 1e-9."""
    ends = {}
    for method in tool.METHODS["fd"]:
        done = sim("puma560", "--no-friction", "--start", "0.1,0.8,-0.4,0.3,0.5,0.2", "--duration", "1",
                   "-i", "rk45", "--tolerance", "1e-11", "-m", method)
        ends[method] = done["q"] + done["qd"]
    for method, end in ends.items():
        assert max(abs(a - b) for a, b in zip(end, ends["aba"])) < 1e-9, (method, ends)
    # The two-body system of paper 000 is badly conditioned.
    counts = {method: sim("twobody", "--duration", "1", "-i", "rk45", "--tolerance", "1e-6", "-m", method)
              for method in ("aba", "crba")}
    evaluations = {method: done["evaluations"] for method, done in counts.items()}
    for method, count in evaluations.items():
        print(f"measured sim.twobody.{method} {count:,}")
    print(f"NOTE twobody, evaluations: {evaluations}")
    assert evaluations["aba"] <= evaluations["crba"], evaluations
    assert max(abs(a - b) for a, b in zip(counts["aba"]["q"], counts["crba"]["q"])) < 1e-6, counts


def test_ten_seconds_in_a_fifth_of_one(folder):
    if not os.path.exists(FAST):
        raise Skip(f"{FAST} is not built; test-long builds it")
    done = json.loads(subprocess.run([FAST, "sim", "puma560", "--no-friction", "--duration", "10", "-i", "rk4",
                                      "--step", "0.001", "--json", "-q"], capture_output=True, text=True,
                                     check=True).stdout)
    print(f"NOTE 10 s of the PUMA with rk4 at 1 ms: {done['processor_s']:.3f} s of processor time")
    assert done["steps"] == 10000 and done["processor_s"] < 0.2, done


def test_reference_free_falls(folder):
    """The tolerance 1e-7 is the accuracy that the reference values state for their trajectories."""
    arms = [("stanford", golden("stanford")["variants"], golden("stanford")["q_start"]),
            ("planar3r", golden("planar3r")["sets"], None)]
    for name, variants, start in arms:
        for v in variants:
            robot = robot_file(folder, name, "dh", v["gravity"], v["rows"])
            out = os.path.join(folder, "fall.csv")
            fall = v["freefall"]
            sim(robot, "--start", joined(start or v["q_start"]), "--duration", fall["t"][-1], "--sample", "0.1",
                "-i", "rk56", "--tolerance", "1e-12", "-o", out)
            rows = rows_of(out)
            assert len(rows) == len(fall["t"])
            for row, q, qd, t in zip(rows, fall["q"], fall["qd"], fall["t"]):
                got = [value for key, value in row.items() if key.startswith(("q_", "qd_"))]
                assert abs(row["t"] - t) < 1e-12
                near(got, q + qd, 1e-7, f"{name} {v['name']} at {t}")


def test_reference_motors(folder):
    """With constant voltages and the corrected RK3 of paper 001 at 1 ms, every step equals the
    reference, and the motion is as close to the exact one as order 3 allows."""
    for case in golden("motors")["rk3"]:
        rows = [dict({key: value for key, value in row.items() if key != "G"}, more=f"    motor: {{resistance: {R}, torque_constant: {Kt}, gear: {N}, "
                               f"rotor_inertia: {row['Jr'] / N ** 2!r}}}\n")
                for row, R, Kt, N in zip(case["rows"], case["R"], case["Kt"], case["N"])]
        robot = robot_file(folder, "driven", tool.CONVENTION[case["convention"]], case["gravity"], rows)
        out = os.path.join(folder, "driven.csv")
        last = case["rk3_corrected"][-1]["step"]
        sim(robot, "--voltage", joined(case["V"]), "--start", joined(case["q0"]), "--speed", joined(case["qd0"]),
            "-i", "rk3", "--step", case["h"], "--sample", case["h"], "--duration", case["h"] * last, "-o", out)
        got = rows_of(out)
        near(column(got, "qdd")[0], case["acc0"], 1e-10, f"{case['name']} first acceleration")
        for reference, bound in ((case["rk3_corrected"], 1e-9), (case["exact"], 1e-4)):
            for r in reference:
                near(column(got, "q")[r["step"]] + column(got, "qd")[r["step"]], r["q"] + r["qd"], bound,
                     f"{case['name']} step {r['step']}")


# --------------------------------------------------------------------------------------------- inputs

PENDULUM = [{"type": "R", "theta": 0, "d": 0, "a": 0, "alpha": 0, "m": 1, "c": [1, 0, 0], "I": [0] * 6}]
MOTOR = "    motor: {resistance: 2, torque_constant: 0.5, gear: 10, voltage: 24}\n"
STOP = "    limits: {position: [-0.5, 2]}\n    friction: {viscous: 0.3, coulomb: [-0.2, 0.4]}\n"


def pendulum(folder, more="", gravity=(0, -9.81, 0)):
    return robot_file(folder, "pendulum", "mdh", gravity, [dict(PENDULUM[0], more=more)])


def test_schedules(folder):
    """Without gravity, on an inertia of 1 kg m^2, the speed is the sum of torque times time."""
    robot = pendulum(folder, MOTOR, (0, 0, 0))
    timed, even = os.path.join(folder, "timed.txt"), os.path.join(folder, "even.txt")
    with open(timed, "w") as file:
        file.write("# t tau\n0.1, 2\n0.25 -1\n0.65 0\n")
    with open(even, "w") as file:
        file.write("2\n-1\n0.5\n")
    for integrator in (["-i", "rk4", "--step", "0.05"], ["-i", "rk45"], ["-i", "rk56", "--tolerance", "1e-6"]):
        done = sim(robot, "--torque", timed, "--duration", "1", *integrator)
        near(done["qd"], [2 * 0.15 - 0.4], 1e-12, f"timed, {integrator}")
        done = sim(robot, "--torque", even, "--period", "0.2", *integrator)
        assert abs(done["t"] - 0.6) < 1e-12
        near(done["qd"], [(2 - 1 + 0.5) * 0.2], 1e-12, f"one row for each period, {integrator}")
        # With a sample period of 0.1 s the change at 0.25 s acts at 0.3 s, and the one at 0.65 s at
        # 0.7 s.
        done = sim(robot, "--torque", timed, "--duration", "1", "--period", "0.1", *integrator)
        near(done["qd"], [2 * 0.2 - 0.4], 1e-12, f"timed and held, {integrator}")
    # Equation (12) gives tau = N Kt / R (V - Kt N qd) = 2.5 (V - 5 qd): 4 V drive the joint towards
    # 0.8 rad/s at a rate of 12.5 1/s.
    done = sim(robot, "--voltage", "4", "--duration", "0.2", "-i", "rk56", "--tolerance", "1e-12")
    near(done["qd"], [0.8 * (1 - math.exp(-12.5 * 0.2))], 1e-10, "constant voltage")
    # The supply of 24 V limits the requested 60 V.
    done = sim(robot, "--voltage", "60", "--duration", "0.2", "-i", "rk56", "--tolerance", "1e-12")
    near(done["qd"], [4.8 * (1 - math.exp(-12.5 * 0.2))], 1e-10, "limited voltage")
    assert "the supply of 24 V limited the voltage" in run("sim", robot, "--voltage", "60", "--duration", "0.1").stderr


def test_motion_of_control_points(folder):
    """A motion given by rows of t and q: the spline passes through the points, and the arm follows
    it."""
    path, out = os.path.join(folder, "points.txt"), os.path.join(folder, "points.csv")
    points = [(0.2 * k, [math.sin(0.2 * k), 0.5 * math.cos(0.3 * k), 0.1 * k]) for k in range(6)]
    with open(path, "w") as file:
        for t, q in points:
            file.write(f"{t!r} {q[0]!r} {q[1]!r} {q[2]!r}\n")
    done = sim("planar3r", "--motion", path, "-i", "rk56", "--step", "0.002", "--sample", "0.2", "-o", out)
    assert abs(done["t"] - 1) < 1e-12
    for row, (t, q) in zip(column(rows_of(out), "q"), points):
        near(row, q, 1e-9, f"point at {t}")


def test_volts_of_a_motion(folder):
    """Voltages of a motion that are constant during each sample period give nearly this motion, and
    come closer with a shorter period."""
    errors = []
    for hold in (0.01, 0.001):
        to = [0.5, 1, -0.8, 0.2, 0.4, 0.3]
        done = sim("puma560", "--start", "0,0.5,-0.5,0,0,0", "--move", joined(to), "--duration", "1", "--volts",
                   "--period", hold, "-i", "rk4", "--step", "0.0005")
        errors.append(max(abs(a - b) for a, b in zip(done["q"], to)))
    print(f"measured sim.volts.10ms {errors[0]:.1e}\nmeasured sim.volts.1ms {errors[1]:.1e}")
    print(f"NOTE held voltages: off by {errors[0]:.2g} at 10 ms, {errors[1]:.2g} at 1 ms")
    assert errors[1] < 0.2 * errors[0] < 0.02, errors


def test_firmware_in_the_loop(folder):
    """The control step of the firmware, in f32 and from encoder counts, moves the simulated arm.
    The encoders resolve 2 pi / 1000 / 62 = 1e-4 rad or better; with an exact model PD control
    leaves a fraction of that as error. The model does not know the force of 20 N at the end
    effector, which deflects the arm by torque / kp, at most 14 N m / 1800."""
    to = [0.5, 1, -0.8, 0.2, 0.4, 0.3]
    move = ["--start", "0,0.5,-0.5,0,0,0", "--move", joined(to), "--duration", "2", "--controller", "firmware"]
    out = os.path.join(folder, "loop.csv")
    done = sim("puma560", *move, "-o", out)
    free = max(abs(a - b) for a, b in zip(done["q"], to))
    pushed = sim("puma560", *move, "--wrench", "0,0,-20,0,0,0")
    bent = max(abs(a - b) for a, b in zip(pushed["q"], to))
    print(f"measured sim.firmware.free {free:.1e}\nmeasured sim.firmware.pushed {bent:.1e}")
    print(f"NOTE firmware in the loop: {free:.2g} rad from the target, with 20 N at the end effector {bent:.2g}")
    assert free < 3e-4 and 10 * free < bent < 0.05, (free, bent)
    # Voltages change once per tick of 1 ms and stay within the supply of 40 V.
    volts = [v for row in column(rows_of(out), "volt") for v in row]
    assert 1 < max(map(abs, volts)) <= 40, max(map(abs, volts))
    for options, part in ((["--controller", "firmware"], "--controller needs --move"),
                          (move[:-1] + ["nobody"], "there is no controller 'nobody'"),
                          (move + ["--period", "0.01"], "neither --volts nor --period"),
                          (move[:4] + ["--duration", "0.5"] + move[6:], "the firmware's controller stopped: the motion is faster")):
        bad = run("sim", "puma560", "-q", *options, *(["--duration", "1"] if len(options) == 2 else []))
        assert bad.returncode == 2 and part in bad.stderr, (options, bad.stderr)
    bad = run("sim", "planar3r", "-q", "--move", "1,0,0", "--duration", "2", "--controller", "firmware")
    assert bad.returncode == 2 and "has neither a motor nor a torque limit" in bad.stderr, bad.stderr


def test_wrench(folder):
    """Tests a constant wrench, and one from a file: a torque that rotates in the x-y plane of the
    tool frame, on the gripper of paper 003. The energy balance includes the work of the wrench."""
    robot = pendulum(folder, "", (0, 0, 0))
    done = sim(robot, "--wrench", "0,0,0,0,0,2", "--duration", "1")
    near(done["qd"], [2.0], 1e-12, "a moment of 2 N m on 1 kg m^2")
    near([done["work_effector"]], [2.0], 1e-12, "its work")
    path = os.path.join(folder, "wrench.txt")
    with open(path, "w") as file:
        for k in range(101):
            t = 0.02 * k
            file.write(f"{t!r} 0 0 0 {0.3 * math.cos(6 * t)!r} {0.3 * math.sin(6 * t)!r} 0\n")
    done = sim("piezo6", "--wrench", path, "--duration", "0.2", "-i", "rk45", "--tolerance", "1e-10")
    still = sim("piezo6", "--duration", "0.2", "-i", "rk45", "--tolerance", "1e-10")
    assert done["q"] != still["q"] and done["work_effector"] != 0
    assert done["balance_most"] < 1e-7 * done["kinetic_most"], done
    # The torques of a motion under the wrench balance the wrench.
    to = [0.4, -0.3, 0.2, 0.1, 0.3, -0.2]
    done = sim("puma560", "--no-friction", "--move", joined(to), "--wrench", "5,-3,10,0.5,0.2,-0.4", "--duration",
               "1", "-i", "rk56", "--step", "0.005")
    near(done["q"], to, 1e-8, "motion under a wrench")


def test_stops_and_friction(folder):
    robot = pendulum(folder, STOP)
    for integrator in (["-i", "rk4"], ["-i", "rk45", "--tolerance", "1e-10"]):
        done = sim(robot, "--duration", "3", "--stops", *integrator)
        near(done["q"] + done["qd"], [-0.5, 0], 1e-15, f"at the stop, {integrator}")
        assert done["impacts"] == 1 and done["lost_friction"] > 0.05 and done["lost_stops"] > 1
        near([done["lost_friction"] + done["lost_stops"]], [9.81 * math.sin(0.5)], 1e-7, "what gravity gave")
        assert done["balance_most"] < 1e-7, done
    bad = run("sim", robot, "--duration", "1", "--stops", "--start", "-1")
    assert bad.returncode == 2 and "outside of its stops at -0.5 and 2" in bad.stderr, bad.stderr


def test_energy_balance_with_everything(folder):
    """Voltages, friction, a wrench and gravity act together. Near rest the smoothed Coulomb
    friction is so steep that the tolerance of 1e-9, not rounding, limits the energy balance."""
    done = sim("puma560", "--voltage", "5,8,-6,3,-3,2", "--wrench", "2,1,-4,0.1,0.2,0.3", "--duration", "1",
               "-i", "rk45", "--tolerance", "1e-9")
    assert min(abs(done[key]) for key in ("work_motors", "lost_friction", "work_effector")) > 0.1, done
    assert done["balance_most"] < 1e-7 * done["kinetic_most"], done


# -------------------------------------------------------------------------------------------- outputs

def test_rows(folder):
    out = os.path.join(folder, "fall.csv")
    good("sim", "planar3r", "-q", "--duration", "0.25", "--sample", "0.1", "-o", out)
    with open(out) as file:
        head = file.readline().strip().split(",")
    joints = ["first", "second", "third"]
    assert head == ["t"] + [f"{kind}_{joint}" for kind in ("q", "qd", "qdd", "tau", "volt") for joint in joints] + [
        "kinetic", "potential", "work_motors", "lost_friction", "work_effector", "lost_stops", "balance"], head
    rows = rows_of(out)
    assert [round(row["t"], 12) for row in rows] == [0, 0.1, 0.2, 0.25], "the end is there too"
    fd = tool.table("fd", "planar3r", rows=[column(rows, "q")[2] + column(rows, "qd")[2] + [0] * 3])[0]
    near(column(rows, "qdd")[2], fd, 1e-12, "accelerations of the rows")
    both = good("sim", "planar3r", "-q", "--duration", "0.25", "--sample", "0.1", "-o", "-")
    assert both == open(out).read()


def test_plots(folder):
    for ending, first in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = os.path.join(folder, "it's a plot" + ending)
        done = run("sim", "stanford", "-q", "--duration", "0.5", "--plot", path)
        assert done.returncode == 0 and not done.stderr, done.stderr
        with open(path, "rb") as file:
            bytes_ = file.read()
        assert bytes_.startswith(first) and len(bytes_) > 10000, (ending, len(bytes_))
    done = run("sim", "stanford", "-q", "--duration", "0.1", "--plot", os.path.join(folder, "plot.bmp"))
    assert done.returncode == 2 and "choose .png, .svg or .pdf" in done.stderr, done.stderr
    done = run("sim", "stanford", "-q", "--duration", "0.1", "--plot", os.path.join(folder, "no", "plot.png"))
    assert done.returncode == 2 and "cannot be written: No such file" in done.stderr, done.stderr


def test_panels_of_a_plot(folder):
    """Each panel shows the columns of its title: its axis spans the range of the numbers in the CSV
    file, and at most two and a half times that. Only an arm with motors has a panel of voltages."""
    svg, out = os.path.join(folder, "plot.svg"), os.path.join(folder, "rows.csv")
    motion = ["--start", "0,0.8,-0.8,0,0.5,0", "--move", "1,1,-1,0.2,1,0", "--duration", "2"]
    for robot, options, panels in (
            ("puma560", motion, {"Position": "q", "Speed": "qd", "Acceleration": "qdd", "Torque of the motors": "tau",
                                 "Voltage of the motors": "volt"}),
            ("stanford", ["--start", "0,1.5708,0,0,0,0", "--torque", "1,2,3,4,5,6", "--duration", "0.2"],
             {"Position": "q", "Speed": "qd", "Acceleration": "qdd", "Torque of the motors": "tau"})):
        good("sim", robot, "-q", *options, "--plot", svg, "-o", out)
        with open(svg) as file:
            text = file.read()
        titles = [name for name in re.findall(r"<text>(?:<tspan[^>]*>)?([A-Z][a-z]+(?: of the \w+)?)<", text)]
        assert titles == list(panels) + ["Energy"], titles
        axes = [labels for labels in tick_labels(text) if not re.search("[a-z]{3}", labels[0])]  # without the legends
        rows = rows_of(out)
        assert len(axes) == len(titles), axes
        for (title, prefix), labels in zip(panels.items(), axes):
            shown = [float(x) for x in labels]
            values = [x for row in column(rows, prefix) for x in row]
            low, high = (float(f"{x:.6g}") for x in (min(values), max(values)))  # labels have six digits
            assert min(shown) <= low and high <= max(shown), (robot, title, shown, low, high)
            assert max(shown) - min(shown) <= 2.5 * (high - low), (robot, title, shown, low, high)


def test_lines_of_a_plot_look_different(folder):
    """Ten joints get ten different lines, and the label of the axis is above the legend, not inside
    it."""
    robot, svg = os.path.join(folder, "chain10.yaml"), os.path.join(folder, "chain.svg")
    with open(robot, "w") as file:
        file.write("name: chain10\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n")
        for i in range(10):
            file.write(f"  - name: j{i}\n    type: revolute\n    dh: {{theta: 0, d: 0, a: 0.1, alpha: 1}}\n"
                       "    link: {mass: 1, com: [0.1, 0, 0], inertia: [0.3, 0.4, 0.5, 0, 0, 0]}\n")
    good("sim", robot, "-q", "--duration", "0.1", "--plot", svg)
    with open(svg) as file:
        text = file.read()
    panel = text[:text.index("<title>j9</title>")].rindex("<title>j0</title>")
    looks = re.findall(r"<title>j\d</title>.*?<path stroke='([^']*)'([^/]*?) d=", text[panel:], re.S)[:10]
    assert len(looks) == len(set(looks)) == 10, looks
    places = [(float(y), re.sub("<[^>]*>", "", label)) for y, label in
              re.findall(r'translate\([-\d.]+,([-\d.]+)\)"[^>]*>\s*<text>(.*?)</text>', text)]
    axes = [y for y, label in places if label == "t in s"]
    gap = min(y - axis for axis in axes for y, label in places if re.fullmatch(r"j\d", label) and y > axis)
    assert len(axes) == 5 and gap > 13, gap  # 13 is the height of the letters


def test_what_cannot_be_kept_is_known_before_the_run(folder):
    """A run whose output file cannot be written does not start, and the check leaves no file
    behind."""
    before = os.path.join(folder, "before.csv")
    with open(before, "w") as file:
        file.write("kept")
    inside = sorted(os.listdir(folder))
    no = os.path.join(folder, "no")
    for options, why in ((["-o", no + "/x.csv"], "cannot be written: No such file"),
                         (["-o", folder], "cannot be written: Is a directory"),
                         (["--plot", no + "/x.png"], "cannot be written: No such file"),
                         (["--plot", os.path.join(folder, "x.bmp")], "choose .png, .svg or .pdf"),
                         (["--animate", no + "/x.html"], "cannot be written: No such file"),
                         (["-o", before, "--bent", no + "/x.csv"], "cannot be written: No such file"),
                         (["-o", before, "--bent", os.path.join(folder, "x.bmp")], "choose .png, .svg or .pdf")):
        done = run("sim", "flex2", "-q", "--duration", "0.01", *options)
        assert done.returncode == 2 and why in done.stderr and not done.stdout, (options, done)
    assert sorted(os.listdir(folder)) == inside and open(before).read() == "kept", os.listdir(folder)
    good("sim", "flex2", "-q", "--duration", "0.01", "-o", "/dev/null")


def test_summary(folder):
    text = good("sim", "puma560", "-q", "--duration", "0.5")
    for part in ("puma560: 0.5 s with rk4, steps of 0.001 s, forward dynamics fast", "500 steps, 0 rejected, 2000 ",
                 "position at the end", "kinetic", "lost to friction", "balance: wrong by"):
        assert part in text, (part, text)


def test_bad_usage(folder):
    def rows(text):
        path = os.path.join(folder, f"rows{len(os.listdir(folder))}.txt")
        with open(path, "w") as file:
            file.write(text)
        return path
    for options, part in (
            (["--duration", "-1"], "--duration: -1 is not possible"),
            (["--duration", "1", "-i", "rk9"], "there is no integrator 'rk9'; choose one of: rk3, rk4, rk45, rk56"),
            (["--duration", "1", "-i", "rk4", "--tolerance", "1e-6"], "rk4 does not estimate its error"),
            (["--duration", "1", "-i", "rk45", "--tolerance", "1e-6", "--step", "1"], "leave one of them out"),
            (["--duration", "1", "--torque", "1,2,3", "--move", "1,2,3"], "--torque and --move cannot both drive"),
            (["--duration", "1", "--torque", "1,2"], "2 numbers, expected 3"),
            (["--duration", "1", "--torque", rows("0 1 2 3\n0 1 2 3\n")], ":2: error: the time 0 is not later than 0"),
            (["--duration", "1", "--torque", rows("0 1\n")], "2 numbers, expected 4 or 3"),
            (["--duration", "1", "--torque", rows("1 2 3\n")], "rows without a time need a period"),
            (["--duration", "1", "--torque", rows("# nothing\n")], "the file has no rows"),
            (["--duration", "1", "--torque", os.path.join(folder, "absent")], "cannot be opened"),
            (["--duration", "1", "--voltage", "1,2,3"], "joint first: motor is missing"),
            (["--duration", "1", "--volts"], "--volts needs a motion"),
            (["--move", "1,2,3"], "--move needs a duration"),
            (["--motion", rows("0 1 2 3\n")], "the motion has only one row"),
            (["--duration", "1", "--wrench", rows("0 1 2 3\n")], "4 numbers, expected 7"),
            (["--torque", "1,2,3"], "the duration of the simulation is missing"),
            (["--duration", "1", "-m", "euler"], "there is no method 'euler' for fd"),
            (["--duration", "1e9", "--sample", "1e-3"], "too many rows")):
        done = run("sim", "planar3r", "-q", *options)
        assert done.returncode == 2 and part in done.stderr, (options, done.stderr)
    done = run("sim", "flex2")
    assert done.returncode == 2 and "--rigid" in done.stderr, done.stderr
    done = run("sim", "planar3r", "--duration", "5", "--torque", "1e300,0,0", "-q")
    assert done.returncode == 2 and "the motion diverged" in done.stderr and "shorter steps" in done.stderr, done


def test_interrupt_keeps_what_was_computed(folder):
    """Presses control-C during a run that would take hours. On a terminal a bar shows the
    progress."""
    out = os.path.join(folder, "long.csv")
    command = [PROGRAM, "sim", "puma560", "--duration", "1000", "--sample", "0.5", "-o", out]
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    shown = b""
    try:
        until = time.monotonic() + tool.TIMEOUT_S
        while b" %  t = " not in shown and time.monotonic() < until:
            if select.select([master], [], [], 1)[0]:
                shown += os.read(master, 1000)
        process.send_signal(signal.SIGINT)
        while True:
            try:
                more = os.read(master, 1000)
            except OSError:
                break
            if not more:
                break
            shown += more
        text = process.communicate(timeout=tool.TIMEOUT_S)[0]
    finally:
        process.kill()
        process.wait()
        os.close(master)
    shown = shown.decode()
    assert process.returncode == 1, (process.returncode, shown)
    assert re.search(r"\[#*\.+\] +\d+ %  t = \d+\.\d+ s", shown), shown
    assert "interrupted at" in shown and "of 1000 s; the results until then are kept" in shown, shown
    rows = rows_of(out)
    assert len(rows) > 1 and rows[-1]["t"] < 1000 and "position at the end" in text
    assert abs(float(re.search(r"interrupted at ([\d.]+)", shown).group(1)) - rows[-1]["t"]) < 1e-3
    # Without a terminal there is no progress bar.
    done = run("sim", "planar3r", "-q", "--duration", "20")
    assert done.returncode == 0 and not done.stderr, done.stderr


# ----------------------------------------------------------------------------------------- animation

CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--no-first-run", "--hide-scrollbars", "--force-device-scale-factor=1"]


def browse(folder, *options):
    """Runs a browser without a window and with a new profile; returns its standard output and
    error."""
    profile = os.path.join(folder, f"profile{len(os.listdir(folder))}")
    try:
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={profile}", "--enable-logging=stderr", *options],
                              capture_output=True, timeout=tool.TIMEOUT_S)
    except FileNotFoundError:
        raise Skip("there is no chromium")
    errors = done.stderr.decode(errors="replace")
    assert "Uncaught" not in errors and "CONSOLE" not in errors, errors[-1500:]
    return done.stdout.decode(errors="replace")


def pixels(path):
    """Reads a PNG with 8 bits per channel; returns rows of (red, green, blue)."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and color in (2, 6) and not interlaced
            step = 3 if color == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    raw, before, rows = zlib.decompress(packed), bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            above, corner = before[i], before[i - step] if i >= step else 0
            if kind == 1:
                line[i] = (line[i] + left) & 255
            elif kind == 2:
                line[i] = (line[i] + above) & 255
            elif kind == 3:
                line[i] = (line[i] + (left + above) // 2) & 255
            elif kind == 4:
                guess = left + above - corner
                best = min((left, above, corner), key=lambda v: abs(guess - v))
                line[i] = (line[i] + best) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), step)])
        before = line
    return rows


def test_animation(folder):
    """The page draws the arm with its links in their colours, at different places at different
    times. It fetches nothing from a network."""
    page = os.path.join(folder, "fall.html")
    good("sim", "puma560", "-q", "--no-friction", "--start", "0,1.2,-0.5,0,0.3,0", "--duration", "1.5", "-i", "rk45",
         "--animate", page)
    with open(page) as file:
        text = file.read()
    assert not re.search(r"https?:|src=|href=|import\b|fetch\(|url\(", text), "something is fetched"
    data = json.loads(re.search(r"const D = (\{.*?\n?.*?\});\n\nconst COLORS", text, re.S).group(1))
    assert len(data["t"]) == 151 and data["t"][-1] == 1.5 and data["names"][1] == "shoulder"
    # The last point is the end effector; forward kinematics gives its first and last position.
    for k in (0, -1):
        pose = tool.table("fk", "puma560", rows=[data["q"][k]])[0]
        near(data["xyz"][k][-3:], [pose[3], pose[7], pose[11]], 1e-5, "place of the end effector")
        near(data["effector"][k], [pose[i] for i in (0, 1, 2, 4, 5, 6, 8, 9, 10)], 1e-5, "axes of the end effector")
    shots = []
    for t in ("0.1", "1.2"):
        shot = os.path.join(folder, f"at{t}.png")
        browse(folder, "--window-size=640,440", f"--screenshot={shot}", f"file://{page}#t={t}")
        shots.append(pixels(shot))
    # The scene is the left part of the page. It shows both long links in their colours, and many
    # pixels change with time.
    counts = []
    for shot in shots:
        scene = [p for row in shot[:380] for p in row[:380]]
        near_color = lambda r, g, b: sum(abs(p[0] - r) + abs(p[1] - g) + abs(p[2] - b) < 40 for p in scene)
        counts.append((near_color(0xd5, 0x5e, 0x00), near_color(0x00, 0x9e, 0x73), len(set(scene))))
    assert all(orange > 100 and green > 100 and colors > 100 for orange, green, colors in counts), counts
    moved = sum(a != b for one, two in zip(*shots) for a, b in zip(one[:380], two[:380]))
    assert moved > 2000, moved


def test_animation_of_an_arm_that_hangs(folder):
    """The support of the base does not hide an arm that hangs below it. On the screen of a phone
    the clock stays within the page."""
    page, shot = os.path.join(folder, "hangs.html"), os.path.join(folder, "hangs.png")
    good("sim", "flex2", "-q", "--start=-1.5708,0,0.0873,0", "--duration", "1", "-i", "rk45", "--animate", page)
    browse(folder, "--window-size=640,440", f"--screenshot={shot}", f"file://{page}#t=0.8")
    scene = [p for row in pixels(shot)[:380] for p in row[:380]]
    blue, orange, grey = (sum(sum(abs(x - y) for x, y in zip(p, color)) < 40 for p in scene)
                          for color in ((0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00), (0x8a, 0x93, 0xa3)))
    # Each link takes a third of the height of the scene. A pillar beside them would be as long as
    # both.
    assert blue > 400 and orange > 400 and grey < blue + orange, (blue, orange, grey)
    with open(page) as file:
        text = file.read()
    with open(page, "w") as file:  # a browser without a window may be wider than requested
        file.write(text.replace("</body>", "<script>document.body.style.width = '390px'; document.title = 'ends at ' + "
                                           "$('clock').getBoundingClientRect().right;</script></body>"))
    dom = browse(folder, "--window-size=390,700", "--dump-dom", f"file://{page}#t=0.8")
    assert float(re.search(r"<title>ends at ([\d.]+)</title>", dom).group(1)) <= 390, "the clock is cut off"


# --------------------------------------------------------------------------------- interactive program

class Terminal:
    """Runs the program in a pseudo-terminal. The test types only after a prompt."""

    def __init__(self, folder, *arguments):
        # libedit copies the name of a function that is bound to a key and never frees it.
        known = os.path.join(folder, "leaks.txt")
        with open(known, "w") as file:
            file.write("leak:wcsdup\n")
        self.text = ""
        self.at = 0
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="vt100", LSAN_OPTIONS=f"suppressions={known}")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))  # sets the size before the program reads it
            os.execv(PROGRAM, [PROGRAM, *arguments])

    def expect(self, text):
        """Waits for this text and returns the output since the last call up to the text."""
        until = time.monotonic() + tool.TIMEOUT_S
        while self.text.find(text, self.at) < 0:
            assert time.monotonic() < until, f"no {text!r} in {self.text[self.at:]!r}"
            if select.select([self.file], [], [], 1)[0]:
                try:
                    more = os.read(self.file, 4096).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"ended without {text!r}: {self.text[self.at:]!r}")
                self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", more)
        begin, self.at = self.at, self.text.find(text, self.at) + len(text)
        return self.text[begin:self.at]

    def type(self, keys):
        """Types keys once the terminal is in single-key mode. The program prints its prompt before
        it switches to that mode, and until then some keys have another meaning."""
        until = time.monotonic() + tool.TIMEOUT_S
        while termios.tcgetattr(self.file)[3] & termios.ICANON:
            assert time.monotonic() < until, f"it takes no keys: {self.text[self.at:]!r}"
            time.sleep(0.001)
        os.write(self.file, keys.encode())

    def say(self, line, prompt="sim> "):
        """Types a line and returns everything up to the next prompt."""
        self.type(line + "\r")
        return self.expect(prompt)

    def end(self):
        try:
            while os.read(self.file, 4096):
                pass
        except OSError:
            pass
        os.close(self.file)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_interactive(folder):
    out, page, plot = (os.path.join(folder, name) for name in ("out.txt", "arm.html", "plot.svg"))
    t = Terminal(folder, "sim", "-q", "puma560")
    assert "puma560, 6 joints. `help` lists commands" in t.expect("sim> ")
    t.say("theta = 0.1 0.8 -0.4 0.3 0.5 0.2")
    # A wrong command, a wrong number of values or an unknown file gives a helpful line and loses
    # nothing.
    assert "no command or variable 'thetta'; did you mean theta? `help` lists" in t.say("thetta = 1")
    assert "theta: got 3 numbers, expected 6; give one number for each joint" in t.say("theta = 1 2 3")
    assert "theta: 'x' is not a finite number" in t.say("theta = 1 2 x 4 5 6")
    assert "nowhere.yaml was not read; puma560 stays" in t.say("database_read nowhere.yaml")
    assert "cannot be opened: No such file" in t.say("open_output_file " + os.path.join(folder, "no", "file"))
    assert "there is no simulation yet" in t.say("print_simulation")
    assert "theta = 0.1 0.8 -0.4 0.3 0.5 0.2" in t.say("theta")
    # Tests editing, completion and history.
    t.type("inv\t")
    t.expect("erse_arm ")
    assert "torque = " in t.say("")
    assert "theta = 0.1" in t.say("thetaX\x7f")
    assert "torque = " in t.say("\x1b[A\x1b[A"), "two lines up was inverse_arm"
    # Setting the torque recomputes the voltage, and vice versa.
    t.say("omega = 0 0 0 0 0 0")
    t.say("torque = 1 2 3 4 5 6")
    volts = [float(x) for x in re.search(r"voltage = (.*)", t.say("voltage")).group(1).split()]
    near(volts, tool.table("volt", "puma560", rows=[[0] * 6 + [1, 2, 3, 4, 5, 6]])[0], 1e-8, "volts of the torques")
    t.say("voltage = " + " ".join(repr(2 * v) for v in volts))
    torques = [float(x) for x in re.search(r"torque = (.*)", t.say("torque")).group(1).split()]
    near(torques, [2, 4, 6, 8, 10, 12], 1e-8, "torques of the volts")
    alpha = [float(x) for x in re.search(r"alpha = (.*)", t.say("forward_arm")).group(1).split()]
    near(alpha, tool.table("fd", "puma560", rows=[[0.1, 0.8, -0.4, 0.3, 0.5, 0.2] + [0] * 6 + torques])[0], 1e-7,
         "forward_arm")
    # `simulate` asks the questions that paper 001 describes.
    t.type("simulate\r")
    t.expect("Start a new simulation? ")
    t.type("yes\r")
    t.expect("Set theta and omega to zero? ")
    t.type("no\r")
    t.expect("Use a voltage schedule file? ")
    t.type("no\r")
    t.expect("Number of timesteps? ")
    assert "'many' is not possible; write a whole number" in t.say("many")
    assert "101 rows, 0.1 s simulated" in t.say("simulate yes no no 100")
    assert "151 rows, 0.15 s simulated" in t.say("simulate no no 50")
    t.type("print_simulation\r")
    t.expect("Start, in timesteps? ")
    t.type("0\r")
    t.expect("Finish? ")
    t.type("150\r")
    t.expect("Step? ")
    printed = t.say("75")
    assert len(re.findall(r"^0\S* 0\.\S+ ", printed, re.M)) == 3, printed
    t.say("open_output_file " + out)
    t.say("print_simulation 0 150 1")
    t.say("close_output_file")
    with open(out) as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    assert len(rows) == 151 and all(len(row) == 31 for row in rows), len(rows)
    assert "animation in " in t.say("write_graphic_file " + page) and os.path.getsize(page) > 10000
    assert "plot in " in t.say("plot_simulation " + plot) and os.path.getsize(plot) > 10000
    # Tests gravity with the sign of the paper, then loads another arm and reads its variables.
    assert "the base's Z axis points up; as a vector 0 0 -9.81" in t.say("gravity")
    t.say("gravity = -9.80621")
    assert "the base's Z axis points down; as a vector 0 0 9.80621" in t.say("gravity")
    t.say("gravity = 1 2 3")
    assert "gravity = 1 2 3" in t.say("gravity")
    assert "cmu-dd, 6 joints" in t.say("database_read cmu-dd")
    assert "gravity = -9.80621 " in t.say("gravity"), "the paper's default"
    # control-C ends a run or a line, but not the program; control-D ends the program.
    t.type("simulate yes yes no 1000000\r")
    t.expect(" %  t = ")
    os.write(t.file, b"\x03")
    assert "interrupted: " in t.expect("s simulated")
    t.expect("sim> ")
    t.type("half a line\x03")
    t.expect("sim> ")
    t.type("simulate yes\r")
    t.expect("? ")
    t.type("\x03")
    assert "error" not in t.expect("sim> "), "a question left is no error"
    # Elastic arms can only be simulated with command line options, and the error message names
    # them.
    said = t.say("database_read flex2")
    assert "the interactive program is for rigid links; cmu-dd stays loaded; `appell sim flex2` with options" in said, said
    known = t.say("help method")
    assert all(re.search(rf"\b{name}\b", known) for name in ("fast", "crba", "ga", "aba", "denoc", "gen")), known
    assert "DACTimePeriod = 0.001" in t.say("DACTimePeriod")
    t.type("\x04")
    assert t.end() == 0


def test_scripts(folder):
    """The same lines can come from a file and from standard input. Then there are no prompts, and
    the first error ends the program."""
    script, volts = os.path.join(folder, "script.txt"), os.path.join(folder, "volts.txt")
    with open(volts, "w") as file:
        file.write("1 2 -1 0.5 -0.5 0.3\n" * 20)
    lines = ("# a comment\ntheta = 0 0.8 -0.5 0 0.3 0   # behind a line\nmethod = aba\nintegrator=rk4\n"
             f"DACTimePeriod = 0.005\nsimulate\nyes\nno\nyes\n{volts}\nprint_simulation 0 100 100\ntheta\n")
    with open(script, "w") as file:
        file.write(lines)
    one = run("sim", "puma560", "-q", "--script", script)
    two = run("sim", "puma560", "-q", rows=lines)
    assert one.returncode == two.returncode == 0 and one.stdout == two.stdout and not one.stderr, (one, two)
    assert "sim>" not in one.stdout and "?" not in one.stdout, one.stdout
    assert "101 rows, 0.1 s simulated" in one.stdout, one.stdout
    # The same run with command line options: the schedule is sampled with a period of 5 ms.
    done = sim("puma560", "--start", "0,0.8,-0.5,0,0.3,0", "--voltage", volts, "--period", "0.005", "-m", "aba", "-i", "rk4")
    end = [float(x) for x in re.search(r"theta = (.*)", one.stdout).group(1).split()]
    near(end, done["q"], 1e-8, "script and options")
    bad = run("sim", "puma560", "-q", rows="theta = 1 2 3 4 5 6\nomega = 1\ntheta\n")
    assert bad.returncode == 2 and bad.stderr.startswith("stdin:2: error: omega: got 1 number, expected 6"), bad
    assert not bad.stdout, bad.stdout
    bad = run("sim", "puma560", "-q", rows="simulate yes\n")
    assert bad.returncode == 2 and "no answer to: Set theta" in bad.stderr, bad
    bad = run("sim", "puma560", "-q", "--script", os.path.join(folder, "absent"))
    assert bad.returncode == 2 and "absent: error: cannot be opened" in bad.stderr, bad
    bad = run("sim", "puma560", "-q", "--script", script, "--duration", "1")
    assert bad.returncode == 2 and "put the options into the script as commands" in bad.stderr, bad
    # An arm without motors is driven by torques.
    out = good("sim", "planar3r", "-q", rows="torque = 1 0 0\nsimulate yes yes no 10\nprint_simulation 0 10 10\n")
    assert "# t, then theta of all joints" in out
    bad = run("sim", "planar3r", "-q", rows="voltage = 1 2 3\n")
    assert bad.returncode == 2 and "the motor data of a joint are incomplete" in bad.stderr, bad
    assert "inverse_arm" in good("sim", "planar3r", "-q", rows="help\nhelp theta\n")


def test_wrench_of_the_session(folder):
    """f_hand and n_hand of paper 001: what the surroundings exert on the end effector, along the
    axes of the tool frame. The torques change by -J^T W, with J and the attitude R of the tool frame
    from other kernels; J is in the world. The session prints nine digits."""
    q = [0.3, 0.8, -0.5, 0.4, 0.6, 0.2]
    f, n = [3, -5, 10], [0.5, 1, -2]
    state = "theta = " + " ".join(map(str, q)) + "\n"
    wrench = f"f_hand = {f[0]} {f[1]} {f[2]}\nn_hand = {n[0]} {n[1]} {n[2]}\n"
    rows = f"{state}alpha = 1 -1 2 0 1 0\ninverse_arm\n{wrench}inverse_arm\nalpha = 0 0 0 0 0 0\nforward_arm\nf_hand\n"
    said = good("sim", "cmu-dd", "-q", rows=rows)
    numbers = [[float(x) for x in line.split("=")[1].split()] for line in said.splitlines()]
    free, pulled, alpha, shown = numbers[0], numbers[2], numbers[4], numbers[5]
    line = " ".join(map(str, q)) + "\n"
    J = [float(x) for x in good("jacobian", "cmu-dd", "-q", rows=line).split()]
    pose = [float(x) for x in good("fk", "cmu-dd", "-q", rows=line).split()]
    world = [sum(pose[4 * r + c] * part[c] for c in range(3)) for part in (f, n) for r in range(3)]
    push = [sum(J[6 * k + i] * world[k] for k in range(6)) for i in range(6)]
    assert max(map(abs, push)) > 1, push
    near([a - b for a, b in zip(pulled, free)], [-x for x in push], 1e-7, "torques balance the wrench")
    near(alpha, [1, -1, 2, 0, 1, 0], 1e-7, "forward_arm inverts inverse_arm")
    assert shown == f and "effector_force = 3 -5 10" in said
    # The wrench moves the simulated arm as --wrench does, and a simulation continues with another one.
    said = good("sim", "cmu-dd", "-q", rows=f"{state}{wrench}simulate yes no no 50\ntheta\nomega\neffector_force = 0 0 0\n"
                                           "effector_moment = 0 0 0\nsimulate no no 50\ntheta\n")
    theta, omega, end = ([float(x) for x in text.split()] for text in re.findall(r"(?:theta|omega) = (.*)", said))
    how = ["-i", "rk3", "--step", "0.001", "--voltage", "0,0,0,0,0,0", "--duration", "0.05"]
    done = sim("cmu-dd", "--start", joined(q), "--wrench", joined(f + n), *how)
    near(theta + omega, done["q"] + done["qd"], 1e-7, "session and options")
    near(end, sim("cmu-dd", "--start", joined(theta), "--speed", joined(omega), *how)["q"], 1e-7, "continued without it")
    still = sim("cmu-dd", "--start", joined(q), *how)
    assert math.dist(still["q"], theta) > 1e-3, "the wrench has moved the arm"
    assert "effector_force = 0 0 0" in good("sim", "cmu-dd", "-q", rows=f"{wrench}database_read puma560\nf_hand\n")
    assert "opposite sign" in good("sim", "cmu-dd", "-q", rows="help f_hand\n")
    bad = run("sim", "cmu-dd", "-q", rows="f_hand = 1 2\n")
    assert bad.returncode == 2 and bad.stderr.startswith("stdin:1: error: effector_force: got 2 numbers, expected 3"), bad


def test_inverse_arm_of_many_sets(folder):
    """The torques and voltages of a file of sets are those of `appell id` and `appell volt`, with the
    wrench of the session. They are printed with nine digits."""
    path, out = os.path.join(folder, "sets.txt"), os.path.join(folder, "torques.txt")
    sets = [[math.sin(0.7 * k + i) for i in range(18)] for k in range(5)]
    with open(path, "w") as file:
        file.write("# theta omega alpha\n" + "".join(" ".join(map(repr, row)) + "\n" for row in sets))
    said = good("sim", "cmu-dd", "-q", rows=f"f_hand = 1 2 3\ninverse_arm {path}\ntorque\n").splitlines()
    assert said[0] == "# torque of all joints, then voltage of all joints" and said[-1] == "torque = 0 0 0 0 0 0", said
    got = [[float(x) for x in line.split()] for line in said[1:-1]]
    torques = [[float(x) for x in line.split()]
               for line in good("id", "cmu-dd", "-q", "--wrench", "1,2,3,0,0,0", path).splitlines()]
    volts = good("volt", "cmu-dd", "-q", rows="".join(" ".join(map(repr, row[6:12] + tau)) + "\n"
                                                     for row, tau in zip(sets, torques))).splitlines()
    assert len(got) == len(torques) == len(volts) == 5
    for row, tau, volt in zip(got, torques, volts):
        near(row, tau + [float(x) for x in volt.split()], 1e-7, "a set")
    # Into a file; and a joint whose voltage the supply limits is named.
    assert "sets" not in good("sim", "cmu-dd", "-q", rows=f"f_hand = 1 2 3\nopen_output_file {out}\ninverse_arm {path}\n")
    with open(out) as file:
        assert file.read().splitlines() == said[:-1]
    robot = pendulum(folder, MOTOR, (0, 0, 0))
    with open(path, "w") as file:
        file.write("0 0 1\n0 0 100\n")
    done = run("sim", robot, rows=f"inverse_arm {path}\n")
    assert done.stdout.splitlines()[1:] == ["1 0.4", "100 24"], done.stdout
    assert "the supply of 24 V limited the voltage in 1 of 2 sets" in done.stderr, done.stderr
    bare = good("sim", pendulum(folder), "-q", "--gravity", "0,0,0", rows=f"inverse_arm {path}\n")
    assert bare == "# torque of all joints\n1\n100\n", bare
    bad = run("sim", "planar3r", "-q", rows=f"inverse_arm {path}\n")
    assert bad.returncode == 2 and bad.stderr.startswith(f"{path}:1: error: row 1: got 3 numbers, expected 9"), bad.stderr


def test_the_session_of_the_page(folder):
    """Types the lines that tools/sim/README.md gives to the interactive program."""
    with open("tools/sim/README.md", encoding="utf-8") as file:
        lines = re.search(r"printf '(.*?)' \| appell sim cmu-dd", file.read())[1].replace("\\n", "\n")
    done = run("sim", "cmu-dd", "-q", rows=lines)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "101 rows, 0.1 s simulated" in done.stdout and len(done.stdout.splitlines()) == 4, done.stdout
    print(f"measured-block sim.session\n```\n{done.stdout}```\nmeasured-end")


def tick_labels(picture):
    """Returns the labels of each vertical axis of a gnuplot picture: consecutive labels at the same
    x."""
    axes, at = [], None
    for x, anchor, label in re.findall(r'translate\(([-\d.]+),[-\d.]+\)" stroke="none"[^>]*text-anchor="(\w+)">\s*'
                                       r"<text>(.*?)</text>", picture):
        if anchor != "end" or x != at:
            axes.append([])
        axes[-1].append(re.sub("<[^>]*>", "", label))
        at = x if anchor == "end" else None
    return [labels for labels in axes if len(labels) > 1]


def test_papers(folder):
    """Every page of `make papers` shows the numbers of the paper and ours, with embedded pictures,
    and nothing is missing. The optimised tool takes a minute; sanitizers look at it in `make
    test-long`, and at the same commands in other tests."""
    program = PROGRAM if os.environ.get("LONG") else FAST
    done = subprocess.run(["tools/papers/papers.py", "--program", program, "--out", folder], capture_output=True, text=True,
                          timeout=tool.TIMEOUT_S * 4)
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.listdir(folder) == ["index.html"], os.listdir(folder)
    with open(os.path.join(folder, "index.html")) as file:
        text = file.read()
    pictures = [base64.b64decode(p) for p in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)]
    assert len(pictures) >= 9 and all(p.startswith(b"<?xml") and len(p) > 3000 for p in pictures), len(pictures)
    axes = [labels for p in pictures for labels in tick_labels(p.decode())]
    assert len(axes) > 30 and all(len(set(labels)) == len(labels) for labels in axes), "an axis says a number twice"
    # The six joints of paper 003 move by less than 2 mrad; with an axis in rad the lines would look
    # straight.
    moved = next(p.decode() for p in pictures if p.count(b">mrad<") == 6)
    assert all(abs(float(x)) < 2 for labels in tick_labels(moved) for x in labels), tick_labels(moved)
    plain = re.sub(r'src="[^"]*"|</?span>', "", text)
    assert not re.search(r"https?:|\bnan\b|\binf\b", plain), "a number is missing, or something is fetched"
    for part in ("Tables 1 to 4", "Table 5 and Figure 2", "Figure 3", "Table 6", "Table 7", "RK3 at 1 ms",
                 "Tables 1 and 2", "Figure 5", "Figure 8", "Figure 6", "Figure 9", "Table 2: operations of the inertia matrix",
                 "Figure 2: dictionary and sums", "$ appell symbolic planar3r\n", "$ appell symbolic piezo6\n", "H33 = 0.0002286",
                 "Growth with the number of joints", "| appell factor stanford", "U D U^T differs", "C of the Stanford arm",
                 "The parts database", "−Jᵀ W", "Finite elements", "rotating torque", "Table 1: operations of the paper",
                 "Table 2: operations<", "Figures 4 to 15", "More modes than the paper",
                 "96n − 101 (475)", "n³/6 + 13n² + 695n/6 − 157 (1042)", "n³/6 + n²/2 + n/3 (56)", "871 + 797", "1.2922",
                 "1122", "n³/6 + 11½n² + 38⅓n − 47", "n³/6 + 7n² + 38⅚n − 46"):
        assert part in plain, part
    # Collects the cells of each row under its name, as (is it our number?, text).
    rows = {}
    for kind, row in re.findall(r"<tr( class=ours)?>(<td.*?)</tr>", plain):
        cells = [(bool(kind or own), html.unescape(cell)) for own, cell in re.findall(r"<td( class=ours)?>([^<]*)", row)]
        rows.setdefault(cells[0][1], []).append(cells)
    first = lambda name: [int(re.search(r"\((\d+)\)", text).group(1)) for _, text in rows[name][0][1:]]
    assert first("ga")[0] <= 475 and first("fast")[0] <= 390, rows["ga"]
    # In tables with both kinds of numbers, the numbers of a paper are not marked as ours.
    aba = next(cells for cells in rows["aba"] if cells[1][1] == "0.4976")
    joint = next(cells for cells in rows["1"] if len(cells) == 10)
    evaluations = next(cells for cells in rows["crba"] if cells[1][1] == "1122")
    assert [own for own, _ in aba] == [False] * 3 + [True] * 2, aba
    assert [own for own, _ in joint] == [False] * 4 + [True] * 6, joint
    assert [own for own, _ in evaluations] == [False] * 3 + [True] * 3, evaluations
    for name, order in INTEGRATORS.items():
        assert abs(float(rows[name][0][2][1]) - order) < 0.1, rows[name]
    # Products in Saha's and Mata's tables include divisions and roots. Ours have n divisions in
    # denoc, and n divisions and n roots in ga.
    saha = [rows[name][0][3:] for name in ("denoc, fd less its bias", "denoc, with the bias")]
    bare = json.loads(good("ops", "puma560", "--json", "-q", "--effort", "0"))["kernels"]
    bare = {(k["problem"], k["method"]): k for k in bare}
    fd, bias = bare["fd", "denoc"], bare["bias", "denoc"]
    assert [cells[0][1] for cells in saha] == [f"{fd['mul'] - bias['mul'] + 6} + {fd['add'] - bias['add']}",
                                              f"{fd['mul'] + 6} + {fd['add']}"], saha
    assert first("total, fd ga")[0] == bare["fd", "ga"]["mul"] + 12
    # Paper 004: the steps in Table 1 add up to the sums in Table 2, and our counts for three modes
    # are on the page.
    assert [text for _, text in rows["all"][0][3:]] == ["2706 + 2134", "19557 + 18332", "26508 + 26966"], rows["all"]
    three = [cells[1][1] for name, found in rows.items() if "m = 3: flex" in name for cells in found]
    mul, add = map(int, three[0].split(" + "))
    assert len(three) == 1 and 3 * mul < 26508 and 3 * add < 26966, three


if __name__ == "__main__":
    sys.exit(main(globals()))
