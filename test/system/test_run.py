#!/usr/bin/env python3
"""Tests `appell run` on emulated boards: the same bits as on the host, a soak without an overrun, a
rate that is too high, and arms from URDFs.

With LONG=1 the soak takes ten simulated minutes.
"""
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
# With this target all joints move, and the waist reaches 93 % of its velocity limit.
TO = "1.3,0.85,-0.8,1.5,1.2,1.5"
RATE_HZ = 20000  # more than the board can compute


def run(folder, *words):
    done = appell("run", "puma560", "-q", "-o", folder, *words, timeout_s=TIMEOUT_S)
    rows = [name for name in os.listdir(folder) if name.endswith(".csv")]
    return done.returncode, done.stdout, done.stderr, rows


def counts(text):
    match = re.search(r"^(\d+) ticks, (\d+) overruns; (\d+) samples sent, (\d+) dropped", text, re.M)
    assert match, f"no line of counts: {text}"
    return [int(group) for group in match.groups()]


def test_same_bits_and_soak(folder):
    """Moves there and back as often as requested. The first motion is compared with the same
    control step on the host."""
    ways = "300" if LONG_RUN else "4"
    code, text, errors, rows = run(folder, "--port", "qemu:netduinoplus2", "--to", TO, "--profile", "cycloid",
                                   "--duration", "2", "--repeat", ways)
    assert code == 0, f"exit code {code}: {text}{errors}"
    match = re.search(r"^(\d+) values compared .*, (\d+) differ", text, re.M)
    assert match, f"nothing was compared: {text}"
    # There is a sample every fourth of 2,000 ticks, with 44 values each.
    assert int(match.group(1)) >= 500 * 44, match.group(0)
    assert match.group(2) == "0", match.group(0)
    ticks, overruns, sent, dropped = counts(text)
    assert ticks >= (600000 if LONG_RUN else 8000), f"{ticks} ticks"
    assert overruns == 0, f"{overruns} overruns"
    assert sent >= int(ways) * 500 and dropped == 0, f"{sent} samples sent, {dropped} dropped"
    assert rows == ["cycloid.csv"], rows


def test_the_image_of_the_nucleo(folder):
    """The emulator runs it on the machine of the Netduino Plus 2, with the console at the second
    serial port."""
    code, text, errors, _ = run(folder, "--port", "qemu:nucleo-f446re", "--to", "0.1,0,0,0,0,0", "--duration", "1")
    assert code == 0 and "puma560 on nucleo-f446re (f32)" in text, f"exit code {code}: {text}{errors}"
    assert re.search(r"^\d{4,} values compared .*, 0 differ", text, re.M), text
    ticks, overruns, sent, dropped = counts(text)
    assert ticks >= 1000 and overruns == 0 and sent >= 200 and dropped == 0, text


def test_feedforward_is_worth_it(folder):
    """Runs the comparison of `make run`, whose errors go into firmware/README.md."""
    code, text, errors, _ = run(folder, "--port", "qemu:netduinoplus2")
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
    code, text, errors, _ = run(folder, "--port", "qemu:netduino2", "--set", rate, "--to", TO)
    assert code == 2 and "a tick takes longer than this rate allows" in errors, f"{code}: {text}{errors}"
    code, text, errors, _ = run(folder, "--port", "qemu:netduino2", "--set", f"rate_check=0,{rate}", "--to", TO)
    assert code == 1, f"exit code {code}: {text}{errors}"
    assert "stopped by the fault overrun" in text, text
    # guard_overruns allows one late tick, so the second is the fault. From then on the windings are
    # shorted for 0.5 s (DAMP_S of firmware/app/setup.c). In these ticks and in the one after them
    # the simulated arm is still computed, which makes them late. Then the brakes hold the arm,
    # which is not computed any more, so no further tick is late.
    ticks, overruns, _, _ = counts(text)
    assert 2 <= overruns <= 2 + RATE_HZ // 2 + 1, f"{overruns} overruns in {ticks} ticks"
    assert ticks > overruns, f"{overruns} overruns in {ticks} ticks: it never came to rest"


def test_urdf_without_an_fpu(folder):
    """A URDF has no acceleration limits, so fixed point is proved for those that the board assumes
    for its motions."""
    urdf = "test/support/robot_data/gripper.urdf"
    done = appell("run", urdf, "-o", folder, "--port", "qemu:netduino2", "--to", "0.5,0.3,0.1,0.01")
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
    # Without gains nothing brings the finger back, so the error of the simulated arm stays. Above
    # the width w of 0.02 rad/s the Coulomb friction P is too large by h P a / v. Divided by the
    # viscous friction f this is a speed, and over the motion a distance of h P / f ln(v / w). In
    # fixed point v counts as at most 8 w; above that the distance is h P / f v / 8w. The distance
    # within the width and the lag of the viscous friction add less than 2 h P / f.
    step_s, width, fastest = 0.001, 0.02, 1.875 * 0.5 / 0.85  # a quintic of 0.5 rad in 0.85 s
    bounds = {"netduinoplus2": step_s * (math.log(fastest / width) + 2),
              "netduino2": step_s * (math.log(8) + fastest / (8 * width) + 2)}
    for board, bound in bounds.items():
        done = appell("run", urdf, "-q", "-o", folder, "--port", f"qemu:{board}", "--to", "0.4,0.5")
        assert done.returncode == 0, f"{board}: exit code {done.returncode}: {done.stdout}{done.stderr}"
        assert re.search(r"^shoulder_lift_joint_left +[\d.]", done.stdout, re.M), done.stdout  # the name is not truncated
        peak = float(re.search(r"^grip +[\d.]+ +([\d.]+)$", done.stdout, re.M).group(1))
        assert peak < 1000 * bound, f"{board}: {peak} mrad, {1000 * bound:.3g} allowed"


def test_comparison_is_not_cut_off(folder):
    """With PD alone the links of planar3r disturb each other strongly. No guard ends this motion
    early, unless the guards are set to stay active; a stopped motion gives no factor. The names of the joints are text in
    the picture, also if they look like commands of gnuplot."""
    robot, mark = os.path.join(folder, "planar3r.yaml"), os.path.join(folder, "mark")
    with open("tools/robots/planar3r.yaml") as source, open(robot, "w") as copy:
        copy.write(source.read().replace("name: first", f"name: \"'; system('touch {mark}'); '\"").replace("name: second", 'name: "`\\"\\\\"'))
    words = ["run", robot, "-q", "-o", folder, "--port", "qemu:netduinoplus2"]
    done = appell(*words)
    assert done.returncode == 0 and "stopped by" not in done.stdout, f"exit code {done.returncode}: {done.stdout}"
    assert not done.stderr and not os.path.exists(mark) and "run.png" in os.listdir(folder), (done.stderr, os.listdir(folder))
    assert done.stdout.count("times better than PD and") == 2, done.stdout
    done = appell(*words, "--set", "guard_direction=1")
    exact, wrong = done.stdout.split("masses 10 % wrong")
    assert done.returncode == 1 and "PD: stopped by the fault direction" in exact, done.stdout
    assert "times better" not in exact and "times better" in wrong, done.stdout


def test_files_have_a_folder_of_their_own(folder):
    done = appell("run", "puma560", "-q", "--port", "qemu:netduinoplus2", "--to", "0.1,0,0,0,0,0", cwd=folder)
    assert done.returncode == 0 and "saved in appell-run/quintic.csv" in done.stdout, done
    assert os.listdir(folder) == ["appell-run"], os.listdir(folder)
    assert "appell-run" in appell("help", "run").stdout and "appell-faults" in appell("help", "faults").stdout


def test_a_changed_parameter_is_not_a_difference(folder):
    """The host's control step has defaults where neither image nor run sets a parameter: with another
    value on the board nothing can be compared, and run says so."""
    code, text, errors, _ = run(folder, "--port", "qemu:netduinoplus2", "--to", "0.1,0,0,0,0,0", "--set", "observer_hz=60")
    assert code == 0 and "not compared with the host's control step: --set was given" in text, text + errors
    with Board(folder, "netduinoplus2") as board:
        for words in (["flash", "puma560", "--no-save"], ["set", "observer_hz", "60"]):
            done = appell(*words, "-q", "--port", board.port)
            assert done.returncode == 0, done
        code, text, errors, _ = run(folder, "--port", board.port, "--to", "0.1,0,0,0,0,0")
    assert code == 0 and "not compared with the host's control step: observer_hz is not at its default" in text, text + errors


def test_interrupted_run_stops_the_arm(folder):
    for number in (signal.SIGINT, signal.SIGTERM):
        words = [PROGRAM, "run", "puma560", "-q", "-o", folder, "--port", "qemu:netduinoplus2", "--repeat", "1000000",
                 "--to", "0.5,0,0,0,0,0"]
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
            code, text, errors, _ = run(folder, "--port", f"qemu:{board}")
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
