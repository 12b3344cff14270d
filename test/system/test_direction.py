#!/usr/bin/env python3
"""Tests motors and encoders with the wrong direction on the emulated board, with the PUMA 560
(motors, friction) and a Kinova from its URDF (no rotors, no friction, torques commanded). Each case
must end in the direction fault and no other. With feedforward or computed torque the fault must
come within 50 ms after the joint is faster than 2 % of its limit and faster than its encoder
resolves. There is no such limit for PD alone, PD with gravity, and masses that are 10 % wrong,
because other forces move the joint first; the test prints their times. With all directions right,
no controller is stopped, however poor. test_direction.c does the same with random motions.

    test_direction.py [PROGRAM [PATTERN]]
"""
import csv
import glob
import json
import math
import os
import struct
import sys

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import LONG_RUN, ROBOTS, Skip, main, run  # noqa: E402
from test_link import Board, image_of  # noqa: E402

KINOVA = os.path.join(ROBOTS, "kinova.urdf")
MOTOR, ENCODER = 1, 2
CYCLOID, RUNNING, FAULT, DIRECTION = 2, 3, 5, 18  # numbers of the protocol
TO = (1, 1, -1, 1, 1, 1)
COMPUTED_TORQUE = 2
# Allowed time and time between rows, in s. A row comes every 4 ticks, so both ends are uncertain by
# a row.
MOST_S, ROW_S = 0.050, 0.004
# Encoder counts per turn of the joint. OBSERVED is the speed that two counts cause in the observer
# of 50 Hz at 1 kHz, times these counts (firmware/app/setup.c).
COUNTS = {"puma560": 53706, KINOVA: 16384}
OBSERVED = 2 * 6.2832 * (1 - math.exp(-6.2832 * 50 / 1000)) ** 2 * 1000


def compare(folder, robot, settings):
    """Runs the comparison; returns its output and the rows of each motion by file name."""
    done = run("demo", robot, "-q", "--port", "qemu:netduinoplus2/lab", "-o", folder, *(["--set", settings] if settings else []))
    assert done.returncode in (0, 1), done.stderr
    rows = {}
    for path in glob.glob(os.path.join(folder, "*.csv")):
        with open(path, encoding="utf-8") as file:
            rows[os.path.basename(path)] = list(csv.DictReader(file))
    return done.stdout, rows


def move_from_zero(folder, settings):
    """The same for one motion of the PUMA from zero, where it is after loading, with its own gains."""
    os.makedirs(folder, exist_ok=True)
    with Board(folder, "netduinoplus2") as board:
        client = wire.Client(board.connect())
        client.apply(image_of(folder, "puma560"))
        names, fields = client.parameter_names(), [client.field(i)[0] for i in range(client.fields)]
        for setting in settings.split(","):
            name, value = setting.split("=")
            client.set(names.index(name), float(value))
        client.stream([fields.index("state"), fields.index("q_arm")], round(1000 * ROW_S), 10**6)
        client.led(wire.MOTION, struct.pack("<Bf6f", CYCLOID, 0, *TO))
        rows, ended, seen = [], None, 0
        while ended is None:
            client.ask(wire.STATUS)
            for tick, _, _, words in client.collect(len(client.samples))[seen:]:
                state, moving = words[0] & 0xff, words[0] >> 16 & 1
                if state == RUNNING and moving:
                    rows.append({"t": tick / 1000, **{f"q_arm[{i}]": q for i, q in enumerate(struct.unpack("<6f", struct.pack("<6I", *words[1:])))}})
                elif rows or state == FAULT:
                    ended = words[0] >> 8 & 0xff
                    break
            seen = len(client.samples)
    return f"stopped by the fault {'direction' if ended == DIRECTION else ended}", {"alone": rows}


def velocity(robot, joint):
    return json.loads(run("info", robot, "-q", "--json").stdout)["joints"][joint]["velocity"]


def caught(folder, robot, joint, defect, feedback=None):
    # A reversed encoder is right only at zero, where the arm is after loading.
    alone = robot == "puma560" and (defect == ENCODER or feedback or not LONG_RUN)
    chosen = f",feedback={feedback}" if feedback else ""
    settings = f"guard_direction=1,sim_defect={defect},sim_defect_joint={joint}{chosen}"
    text, files = move_from_zero(folder, settings) if alone else compare(folder, robot, settings)
    slowest, slowest_late, moving = 0, 0, max(0.02 * velocity(robot, joint), OBSERVED / COUNTS[robot])
    for name, rows in sorted(files.items()):
        column = [key for key in rows[0] if key.startswith("q_arm[")][joint]
        before, moved = None, None
        for row in rows:
            q, t = float(row[column]), float(row["t"])
            if before is not None and moved is None and abs(q - before[1]) / (t - before[0]) > moving:
                moved = before[0]
            before = t, q
        took = before[0] + ROW_S - moved if moved is not None else 0
        late = "-pd-" in name or "-gravity-" in name or "-wrong" in name
        slowest, slowest_late = max(slowest, 0 if late else took), max(slowest_late, took if late else 0)
        assert late or took <= MOST_S + 2 * ROW_S, f"{robot}, joint {joint}, defect {defect}, {name}: {1000 * took:.0f} ms"
    stopped = text.count("stopped by the fault direction")
    assert stopped == len(files), f"{robot}, joint {joint}, defect {defect}: {stopped} of {len(files)} caught\n{text}"
    print(f"NOTE {os.path.basename(robot)} joint {joint} {'motor' if defect == MOTOR else 'encoder'}"
          f"{', computed torque' if feedback else ''}: {len(files)} of {len(files)} caught, at most {1000 * slowest:.0f} ms; "
          f"{1000 * slowest_late:.0f} ms with poor controllers", flush=True)


def each(folder, robot, joints):
    for joint in joints:
        # The comparison places the arm, and a reversed encoder would then show another position.
        # Only the waist starts at zero.
        for defect in (MOTOR, ENCODER) if robot == "puma560" or joint == 0 else (MOTOR,):
            place = os.path.join(folder, f"{joint}-{defect}")
            caught(place, robot, joint, defect)


def kinova():
    if not os.path.exists(KINOVA):
        raise Skip(f"{KINOVA} is not there")
    return KINOVA


def test_puma(folder):
    each(folder, "puma560", range(6) if LONG_RUN else [1])


def test_computed_torque(folder):
    for joint in range(6) if LONG_RUN else [1]:
        for defect in (MOTOR, ENCODER):
            caught(os.path.join(folder, f"{joint}-{defect}"), "puma560", joint, defect, COMPUTED_TORQUE)


def test_kinova(folder):
    if not LONG_RUN:
        raise Skip("make test-long")
    each(folder, kinova(), range(6))


def test_no_false_alarm(folder):
    """PD without a model on links that disturb each other strongly causes no direction fault."""
    text, _ = compare(folder, kinova(), "guard_direction=1")
    assert "stopped by the fault" not in text, text[:3000]


if __name__ == "__main__":
    sys.exit(main(globals()))
