#!/usr/bin/env python3
"""Tests `appell demo` on emulated boards: the same bits as on the host, a rate that is too high, and
arms from URDFs. test_soak.py moves the arm for longer.
"""
import json
import math
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from test_appell import LONG_RUN, PROGRAM, main, run as appell  # noqa: E402
from test_link import Board  # noqa: E402

TIMEOUT_S = 1100
TRIALS = 6  # three controllers, with exact and with wrong masses
RATE_HZ = 20000  # more than the board can compute


def demo(folder, robot, *words):
    done = appell("demo", robot, "-q", "-o", folder, *words, timeout_s=TIMEOUT_S)
    rows = [name for name in os.listdir(folder) if name.endswith(".csv")]
    return done.returncode, done.stdout, done.stderr, rows


def counts(text):
    match = re.search(r"^(\d+) ticks, (\d+) overruns; (\d+) samples sent, (\d+) dropped", text, re.M)
    assert match, f"no line of counts: {text}"
    return [int(group) for group in match.groups()]


def test_same_bits(folder):
    """Every value of every motion is that of the same control step on the host, on the board of `make
    run` and with the image of the Nucleo, which the emulator runs on the same machine with the
    console at the second serial port. --json says the same as the text."""
    for board in ("netduinoplus2", "nucleo-f446re"):
        code, text, errors, rows = demo(folder, "planar3r", "--port", f"qemu:{board}")
        assert code == 0 and f"planar3r on {board} (f32)" in text, f"exit code {code}: {text}{errors}"
        match = re.search(r"^(\d+) values compared .*, (\d+) differ", text, re.M)
        # Each of the motions lasts 1.5 s and has a sample every second tick, with 23 values each.
        assert match and int(match.group(1)) >= TRIALS * 750 * 23 and match.group(2) == "0", text
        ticks, overruns, sent, dropped = counts(text)
        assert ticks >= TRIALS * 1500 and overruns == 0 and sent >= TRIALS * 750 and dropped == 0, text
        assert len(rows) == TRIALS, rows
    code, text, errors, _ = demo(folder, "planar3r", "--json")
    found = json.loads(text)
    assert code == 0 and found["different"] == 0 and found["overruns"] == 0 and len(found["motions"]) == TRIALS, text
    assert {motion["controller"] for motion in found["motions"]} == {"PD", "PD + gravity", "full feedforward"}, text
    assert all(motion["fault"] is None and len(motion["joint_rms"]) == 3 for motion in found["motions"]), text


def test_feedforward_is_worth_it(folder):
    """Runs the comparison of `make run`, whose errors go into firmware/README.md."""
    code, text, errors, _ = demo(folder, "puma560", "--port", "qemu:netduinoplus2")
    assert code == 0, f"exit code {code}: {text}{errors}"
    parts = re.findall(r"^(straight line|cycloid).*?, ([\d.]+) s, (exact masses|masses 10 % wrong)$(.*?)^    full feedforward is "
                       r"([\d.]+) times better than PD and ([\d.]+) times better than PD \+ gravity", text, re.M | re.S)
    assert len(parts) == 4, text
    print("measured-block firmware_tracking")
    print("| motion | masses | PD, mrad | PD + gravity | full feedforward | times better |\n|---|---|---|---|---|---|")
    for motion, seconds, masses, table, factor, gravity in parts:
        errors = re.search(r"all joints +([\d.]+) +([\d.]+) +([\d.]+)", table).groups()
        assert float(factor) > (1000 if masses.startswith("exact") else 10), parts
        what = "straight line of the end effector" if motion[0] == "s" else "cycloid of all joints near their velocity limits"
        print(f"| {what}, {seconds} s | {masses.replace('masses 10', '10').replace(' masses', '')} | {' | '.join(errors)} | "
              f"{factor}, {gravity} |")
    print("measured-end", flush=True)


def test_rate_above_the_budget(folder):
    """A rate that is too high is refused. If it is forced, ticks overrun, and this fault stops the
    arm."""
    rate = f"rate_hz={RATE_HZ}"
    words = ["puma560", "--port", "qemu:netduino2", "--set"]
    code, text, errors, _ = demo(folder, *words, rate)
    assert code == 2 and "a tick takes longer than this rate allows" in errors, f"{code}: {text}{errors}"
    code, text, errors, rows = demo(folder, *words, f"rate_check=0,{rate}")
    assert code == 1, f"exit code {code}: {text}{errors}"
    assert text.count("stopped by the fault overrun") == len(rows), text
    # guard_overruns allows one late tick, so the second is the fault, in each motion. From then on
    # the windings are shorted for 0.5 s (DAMP_S of firmware/app/setup.c), unless the next motion
    # begins before that. In these ticks and in the one after them the simulated arm is still
    # computed, which makes them late. Then the brakes hold the arm, which is not computed any more,
    # so no further tick is late.
    ticks, overruns, _, _ = counts(text)
    assert 2 * len(rows) <= overruns <= len(rows) * (2 + RATE_HZ // 2 + 1), f"{overruns} overruns in {ticks} ticks"


def test_urdf_without_an_fpu(folder):
    """A URDF has no acceleration limits, so fixed point is proved for those that the board assumes
    for its motions."""
    urdf = "test/support/robot_data/gripper.urdf"
    done = appell("demo", urdf, "-o", folder, "--port", "qemu:netduino2")
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    assert "gripper on netduino2 (q31)" in done.stdout, done.stdout
    # The joint `turn` has a velocity limit of 2 rad/s, reached in 0.5 s.
    assert re.search(r"turn: there is no acceleration limit; 4 is assumed, .* with --limits V,A", done.stderr), done.stderr
    image = os.path.join(folder, "limits.img")
    done = appell("image", urdf, "--limits", "9,7", "-o", image)
    assert done.returncode == 0 and "no acceleration limit" not in done.stderr, done.stderr
    shown = re.findall(r"velocity: ([\d.]+), acceleration: ([\d.]+)", appell("image", "--show", image).stdout)
    assert shown and {each[1] for each in shown} == {"7"} and "9" not in {each[0] for each in shown}, shown


LIGHT = """<robot name="light"><link name="base"/>
<link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" iyz="0" ixz="0"/></inertial></link>
<link name="finger"><inertial><mass value="0.02"/>
  <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" iyz="0" ixz="0"/></inertial></link>
<joint name="shoulder_lift_joint_left" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="20" velocity="2"/></joint>
<joint name="grip" type="revolute"><parent link="arm"/><child link="finger"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
  <dynamics damping="1" friction="1"/><limit lower="-1" upper="1" effort="20" velocity="2"/></joint></robot>
"""


def test_friction_of_a_light_joint(folder):
    """Friction stops this finger within a hundredth of a step; an explicit integrator would be
    unstable."""
    urdf = os.path.join(folder, "light.urdf")
    with open(urdf, "w") as file:
        file.write(LIGHT)
    # Without gains nothing brings the finger back, so with full feedforward and exact masses the
    # error of the simulated arm stays. Above
    # the width w of 0.02 rad/s the Coulomb friction P is too large by h P a / v. Divided by the
    # viscous friction f this is a speed, and over the motion a distance of h P / f ln(v / w). In
    # fixed point v counts as at most 8 w; above that the distance is h P / f v / 8w. The distance
    # within the width and the lag of the viscous friction add less than 2 h P / f.
    step_s, width, fastest = 0.001, 0.02, 2  # the velocity limit
    bounds = {"netduinoplus2": step_s * (math.log(fastest / width) + 2),
              "netduino2": step_s * (math.log(8) + fastest / (8 * width) + 2)}
    for board, bound in bounds.items():
        words = ["demo", urdf, "-q", "-o", folder, "--port", f"qemu:{board}", "--set", "kp=0,kd=0"]
        done = appell(*words)
        assert done.returncode == 0, f"{board}: exit code {done.returncode}: {done.stdout}{done.stderr}"
        assert re.search(r"^  shoulder_lift_joint_left +[\d.]", done.stdout, re.M), done.stdout  # the name is not truncated
        exact = done.stdout.split("masses 10 % wrong")[0]
        peak = float(re.search(r"^  grip +.* ([\d.]+)$", exact, re.M).group(1))
        assert peak < 1000 * bound, f"{board}: {peak} mrad, {1000 * bound:.3g} allowed"


def test_comparison_is_not_cut_off(folder):
    """With PD alone the links of planar3r disturb each other strongly. No guard ends this motion
    early, unless the guards are set to stay active; a stopped motion gives no factor. The names of the joints are text in
    the picture, also if they look like commands of gnuplot."""
    robot, mark = os.path.join(folder, "planar3r.yaml"), os.path.join(folder, "mark")
    with open("tools/robots/planar3r.yaml") as source, open(robot, "w") as copy:
        copy.write(source.read().replace("name: first", f"name: \"'; system('touch {mark}'); '\"").replace("name: second", 'name: "`\\"\\\\"'))
    words = ["demo", robot, "-q", "-o", folder, "--port", "qemu:netduinoplus2"]
    done = appell(*words)
    assert done.returncode == 0 and "stopped by" not in done.stdout, f"exit code {done.returncode}: {done.stdout}"
    assert not done.stderr and not os.path.exists(mark) and "run.png" in os.listdir(folder), (done.stderr, os.listdir(folder))
    assert done.stdout.count("times better than PD and") == 2, done.stdout
    done = appell(*words, "--set", "guard_direction=1")
    exact, wrong = done.stdout.split("masses 10 % wrong")
    assert done.returncode == 1 and "PD: stopped by the fault direction" in exact, done.stdout
    assert "times better" not in exact and "times better" in wrong, done.stdout


def test_files_have_a_folder_of_their_own(folder):
    done = appell("demo", "planar3r", "-q", cwd=folder)
    assert done.returncode == 0 and "rows in appell-demo/*.csv, picture in appell-demo/run.png" in done.stdout, done
    assert os.listdir(folder) == ["appell-demo"], os.listdir(folder)
    assert "appell-demo" in appell("help", "demo").stdout and "appell-faults" in appell("help", "faults").stdout


def test_a_changed_parameter_is_not_a_difference(folder):
    """The host's control step has defaults where neither image nor demo sets a parameter: with another
    value on the board nothing can be compared, and demo says so."""
    code, text, errors, _ = demo(folder, "planar3r", "--set", "observer_hz=60")
    assert code == 0 and "not compared with the host's control step: --set was given" in text, text + errors
    with Board(folder, "netduinoplus2") as board:
        for words in (["flash", "planar3r", "--no-save"], ["set", "observer_hz", "60"]):
            done = appell(*words, "-q", "--port", board.port)
            assert done.returncode == 0, done
        code, text, errors, _ = demo(folder, "planar3r", "--port", board.port)
    assert code == 0 and "not compared with the host's control step: observer_hz is not at its default" in text, text + errors


def test_interrupted_demo_stops_the_arm(folder):
    for number in (signal.SIGINT, signal.SIGTERM):
        words = [PROGRAM, "demo", "puma560", "-q", "-o", folder]
        tool = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not tool.stdout.readline().startswith("puma560 on"):  # from here on the arm moves
            assert tool.poll() is None, tool.stderr.read()
        tool.send_signal(number)
        _, errors = tool.communicate(timeout=TIMEOUT_S)
        assert tool.returncode == -number, f"exit code {tool.returncode}: {errors}"
        assert "interrupted: the arm rests, and the outputs are off" in errors, errors


def test_parameters_of_joints_need_a_robot(folder):
    """On a board without a robot there are no joints whose parameters could be read or set."""
    for words in (["get", "kp"], ["set", "kp", "1"]):
        done = appell(*words, "--port", "qemu:netduinoplus2")
        assert done.returncode == 1 and "kp has a value for each joint, but the board has no robot" in done.stderr, done
        assert not done.stdout, done.stdout


def motions(text):
    """Returns the compared motions: title, masses, lines of the table, RMS errors of the three
    controllers, two factors."""
    found = []
    for part in text.split("\n\n"):
        rms = re.search(r"^  all joints" + 3 * r" +([\d.]+)", part, re.M)
        factors = re.search(r"is ([\d.]+) times better than PD and ([\d.]+) times", part)
        if rms and factors:
            title, masses = part.splitlines()[0].rsplit(", ", 1)
            found.append((title, masses, part.splitlines(), rms.groups(), [float(x) for x in factors.groups()]))
    return found


def tracking_rows(board, found):
    """Yields the rows of the table in tools/EVIDENCE.md."""
    for title, masses, _, rms, factors in found:
        motion = "straight line" if title.startswith("straight line") else "cycloid"
        times = " / ".join(f"{x:,.0f}" if x >= 100 else f"{x:.1f}" for x in factors)
        yield f"| {board} | {motion} | {masses.replace(' masses', '').replace('masses ', '')} | {' | '.join(rms)} | {times} |"


if LONG_RUN:
    def test_numbers_of_the_pages(folder):
        """Prints a part of the output of `make run` for README.md, and the table of tracking errors
        for tools/EVIDENCE.md."""
        table = ["| board | motion | masses | PD | PD + gravity | full feedforward | times better |", "|---|---|---|---|---|---|---|"]
        for board, name in (("netduinoplus2", "F405, f32"), ("netduino2", "F205, q31")):
            code, text, errors, _ = demo(folder, "puma560", "--port", f"qemu:{board}")
            assert code == 0, f"{board}: exit code {code}: {text}{errors}"
            found = motions(text)
            assert len(found) == 4, text
            table += tracking_rows(name, found)
            if board == "netduinoplus2":
                cycloid = next(lines for title, masses, lines, _, _ in found if "cycloid" in title and "exact" in masses)
                compared = re.search(r"^\d+ values compared .*", text, re.M).group(0)
                assert ", 0 differ" in compared, compared
                print("\n".join(["measured-block run", "```text", text.splitlines()[0], "...", *cycloid, "...", compared, "```",
                                 "measured-end"]), flush=True)
        print("\n".join(["measured-block run.tracking", *table, "measured-end"]), flush=True)


if __name__ == "__main__":
    sys.exit(main(globals()))
