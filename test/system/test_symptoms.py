#!/usr/bin/env python3
"""Runs the commands of firmware/symptoms/*.md; each must show the symptom of its page. The output
goes into the pages.

test_symptoms.py [PROGRAM [PATTERN]]
"""
import os
import pty
import re
import shlex
import struct
import sys
import textwrap

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import main, run  # noqa: E402
from test_link import Board, image_of  # noqa: E402

WIDTH = 118
# What inspect finds depends on where within a count of the encoder the motions begin.
VARIES = r"^joint  |^ +coulomb|^(waist|shoulder|elbow|wrist_\w+|flange) |^payload: |^shoulder: |samples at constant speed|instead of 0.000 kg"
QUINTIC, ENCODER_NOISE = 1, 34  # kind of motion, number of a fault
PRODUCT, LABORATORY = "qemu:netduinoplus2", "qemu:netduinoplus2/lab"


def shown(name, words, expected, folder, replaced=(), also=None):
    """Runs the command in this folder and prints its output as a block. "..." stands for
    lines whose numbers differ in each run. `also` is another outcome that the page speaks of: the command runs again
    until the one that the page shows."""
    for _ in range(10):
        done = run(*words, cwd=folder)
        text = done.stdout + done.stderr
        if not (also and re.search(also, text)):
            break
    assert re.search(expected, text), f"{words}: {text}"
    lines = [f"$ appell {shlex.join(words)}"]
    for line in text.splitlines():
        if re.search(VARIES, line):
            lines += ["..."] if lines[-1] != "..." else []
        elif line:
            lines += textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False) if len(line) > WIDTH else [line]
    page = "\n".join(lines)
    for old, new in replaced:
        page = page.replace(old, new)
    print(f"measured-block symptom_{name}\n```\n{page}\n```\nmeasured-end", flush=True)
    return text


def inspected(name, settings, expected, folder, port=PRODUCT, replaced=(), also=None):
    """`inspect` moves every joint slowly, back and forth, with the settings of a fault."""
    return shown(name, ["inspect", "puma560", "-q", "--port", port, "--set", settings], expected, folder, replaced, also)


def test_sags_mass(folder):
    text = inspected("sags_mass", "sim_mass=1.5", "all masses seem to be 1.5", folder,
                     replaced=[(f"1.5{digits:02}", "1.5") for digits in range(100)])
    assert re.search(r"^shoulder .* too far$", text, re.M) and "NOT good" in text, text


def test_oscillates_gains(folder):
    inspected("oscillates_gains", "kp[shoulder]=300000", "ended with the fault unstable", folder)


def largest_error(folder, noise):
    """Moves the simulated PUMA with its own gains and this noise at the encoders, in counts. Returns
    the largest tracking error in mrad."""
    os.makedirs(folder)
    with Board(folder, "netduinoplus2") as board:
        client = wire.Client(board.connect())
        client.apply(image_of(folder, "puma560"))
        client.set(client.parameter_names().index("sim_noise"), noise)
        fields = [client.field(i)[0] for i in range(client.fields)]
        client.stream([fields.index(name) for name in ("state", "q_ref", "q_arm")], 4, 10**6)
        client.led(wire.MOTION, struct.pack("<Bf6f", QUINTIC, 0, 0.5, 0.5, -0.5, 0.5, 0.5, 0.5))
        worst, seen, moving = 0, 0, None
        while moving is not False:
            status = client.ask(wire.STATUS)
            assert status[1] in ((0, ENCODER_NOISE) if noise else (0,)), f"fault {status[1]}"
            for _, _, _, words in client.collect(len(client.samples))[seen:]:
                moving = bool(words[0] >> 16 & 1) or (None if moving is None else False)
                q = struct.unpack("<12f", struct.pack("<12I", *words[1:]))
                worst = max(worst, *(1000 * abs(a - b) for a, b in zip(q[:6], q[6:]))) if moving else worst
            seen = len(client.samples)
    return worst


def test_oscillates_noise(folder):
    """Without noise no joint is off by 0.05 mrad. The noise differs in each run, but with it at
    least one of six joints is off by ten times that."""
    quiet, noisy = (largest_error(os.path.join(folder, str(counts)), counts) for counts in (0, 30))
    assert 0 < quiet < 0.05 and noisy > 0.5, (quiet, noisy)

def test_still_fit(folder):
    """The emulator has no motor outputs, so the real arm is refused, with everything that does not
    fit: the encoders of this robot are at its motors, too."""
    text = inspected("still_fit", "arm=1", "robot and hardware do not fit", folder)
    for cause in ("no motor output", "no encoder input", "not the number of counts", "not known at power-up", "whether the arm has brakes",
                  "no input for an emergency stop", "the watchdog did not start"):
        assert cause in text, f"{cause}: {text}"


def test_still_weak(folder):
    inspected("still_weak", "limits_scale=0.2", "cannot hold the arm in this pose", folder)


def test_still_home(folder):
    inspected("still_home", "home[waist]=-1", "the position of the joint is not known yet", folder)


def test_tracking_gains(folder):
    inspected("tracking_gains", "kp=0,kd=0,sim_mass=1.3", "ended with the fault tracking", folder)


def test_tracking_direction(folder):
    inspected("tracking_direction", "sim_defect=1,sim_defect_joint=1", "ended with the fault direction", folder, LABORATORY)


def test_tracking_scale(folder):
    inspected("tracking_scale", "sim_defect=11,sim_defect_joint=1", "ended with the fault (direction|tracking)", folder, LABORATORY,
              also="NOT good")  # the motion ends without a fault


def test_tracking_jammed(folder):
    inspected("tracking_jammed", "sim_defect=5,sim_defect_joint=1", "ended with the fault (torque|tracking)", folder, LABORATORY)


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
