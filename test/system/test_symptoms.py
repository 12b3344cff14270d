#!/usr/bin/env python3
"""Runs the commands of firmware/symptoms/*.md; each must show the symptom of its page. The output
goes into the pages.

test_symptoms.py [PROGRAM [PATTERN]]
"""
import os
import pty
import re
import shlex
import sys
import textwrap

sys.dont_write_bytecode = True
from test_appell import main, run  # noqa: E402

WIDTH = 118
TO = ["--to", "0.5,0.5,-0.5,0.5,0.5,0.5"]
PRODUCT, LABORATORY = "qemu:netduinoplus2", "qemu:netduinoplus2/lab"


def shown(name, words, expected, folder, replaced=()):
    """Runs the command in this folder and prints its output as a block. "..." stands for
    lines whose numbers depend on the speed of this machine. A run without a name prints no block."""
    os.makedirs(os.path.join(folder, "build"), exist_ok=True)
    done = run(*words, cwd=folder)
    text = done.stdout + done.stderr
    assert re.search(expected, text), f"{words}: {text}"
    lines = [f"$ appell {shlex.join(words)}"]
    for line in text.splitlines():
        if re.search(r"ticks, \d+ overruns|values compared", line):
            lines += ["..."] if lines[-1] != "..." else []
        elif line:
            lines += textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False) if len(line) > WIDTH else [line]
    page = "\n".join(lines)
    for old, new in replaced:
        page = page.replace(old, new)
    if name:
        print(f"measured-block symptom_{name}\n```\n{page}\n```\nmeasured-end", flush=True)
    return text


def moved(name, settings, expected, folder, port=PRODUCT):
    return shown(name, ["run", "puma560", "-q", "--port", port, *TO, "--set", settings, "-o", "build/symptom"], expected, folder)


def peak(text, joint):
    return float(re.search(rf"^{joint} +[\d.]+ +([\d.]+)$", text, re.M).group(1))


def test_sags_mass(folder):
    assert peak(moved("sags_mass", "sim_mass=1.5", "tracking error", folder), "shoulder") > 5


def test_sags_pd(folder):
    assert peak(moved("sags_pd", "feedforward=0", "tracking error", folder), "shoulder") > 20


def test_oscillates_gains(folder):
    moved("oscillates_gains", "kp[shoulder]=300000", "stopped by the fault unstable", folder)


def test_oscillates_noise(folder):
    """Without noise no joint is off by 0.05 mrad. The noise differs in each run, but with it at
    least one of six joints is off by ten times that."""
    joints = ("waist", "shoulder", "elbow", "wrist_roll", "wrist_pitch", "flange")
    quiet, noisy = (moved(None, f"sim_noise={counts}", "tracking error", folder) for counts in (0, 30))
    assert max(peak(quiet, joint) for joint in joints) < 0.05, quiet
    assert max(peak(noisy, joint) for joint in joints) > 0.5, noisy


def test_still_fit(folder):
    """The emulator has no motor outputs, so the real arm is refused, with everything that does not
    fit: the encoders of this robot are at its motors, too."""
    text = moved("still_fit", "arm=1", "robot and hardware do not fit", folder)
    for cause in ("no motor output", "no encoder input", "not the number of counts", "not known at power-up", "whether the arm has brakes",
                  "no input for an emergency stop", "the watchdog did not start"):
        assert cause in text, f"{cause}: {text}"


def test_still_weak(folder):
    moved("still_weak", "limits_scale=0.2", "cannot hold the arm in this pose", folder)


def test_still_home(folder):
    moved("still_home", "home[waist]=-1", "the position of the joint is not known yet", folder)


def test_tracking_gains(folder):
    moved("tracking_gains", "kp=0,kd=0,sim_mass=1.3", "stopped by the fault tracking", folder)


def test_tracking_direction(folder):
    moved("tracking_direction", "sim_defect=1,sim_defect_joint=1", "stopped by the fault direction", folder, LABORATORY)


def test_tracking_scale(folder):
    text = moved("tracking_scale", "sim_defect=11,sim_defect_joint=1", "tracking error", folder, LABORATORY)
    assert peak(text, "shoulder") > 100, text


def test_tracking_jammed(folder):
    moved("tracking_jammed", "sim_defect=5,sim_defect_joint=1", "stopped by the fault (torque|tracking)", folder, LABORATORY)


def test_silent_absent(folder):
    port = "/dev/ttyACM9"
    shown("silent_absent", ["get", "--port", port], "does not exist", folder,
          [(found, "this machine has ...") for found in re.findall(r"this machine has [^;]*", run("get", "--port", port).stderr)])


def test_silent_nobody(folder):
    """The line has no board at its other end."""
    ours, theirs = pty.openpty()
    shown("silent_nobody", ["get", "--port", os.ttyname(theirs)], "does not answer", folder, [(os.ttyname(theirs), "/dev/ttyUSB0")])
    os.close(ours)
    os.close(theirs)


if __name__ == "__main__":
    sys.exit(main(globals()))
