#!/usr/bin/env python3
"""Tests what the board does when the cable is pulled (firmware/safety/README.md). The line is
closed during each kind of motion; a client that connects later finds the state that the page
describes.

    test_cable.py [PROGRAM [PATTERN]]
"""
import contextlib
import os
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import PROGRAM, main  # noqa: E402
from test_link import TIMEOUT_S, Board, image_of  # noqa: E402

HOLD, QUINTIC, POINTS, JOG = 0, 1, 4, 5  # motions
IDLE, RUNNING, FAULT = 1, 3, 5  # states
SETPOINT, HOST = 12, 30  # numbers of faults
MOVING, OVERRIDDEN = 16, 64  # flags in the answer to STATUS
PER_JOINT = ("kp", "kd", "encoder_offset", "encoder_sign", "encoder_ratio", "position_lower", "position_upper", "home",
             "home_position")
ASK_FAULT = 26
FAR = 0.5  # rad


class Pulled:
    """A board with the PUMA. `pull` closes the line, reconnects, and waits for this many ticks, in
    which it only asks for the status."""

    def __init__(self, board, folder, **settings):
        self.board = board
        self.client = wire.Client(board.connect())
        self.client.apply(image_of(folder, "puma560"))
        names = self.client.parameter_names()
        if settings.get("brakes") == 0:
            self.motion(HOLD, 0)  # without brakes the arm falls while the loop is open
        for name, value in settings.items():
            self.client.set(names.index(name), value)

    def motion(self, kind, duration_s, *values):
        self.client.led(wire.MOTION, struct.pack(f"<Bf{len(values)}f", kind, duration_s, *values))

    def status(self):
        """Returns state, fault, flags and tick."""
        state, fault, flags, _, tick = struct.unpack_from("<BBBBI", self.client.ask(wire.STATUS))
        return state, fault, flags, tick

    def pull(self, ticks):
        begun = self.status()[3]
        self.client.line.close()
        self.client = wire.Client(self.board.connect())
        while self.status()[3] - begun < ticks:
            time.sleep(0.02)
        return self.status()

    def position(self):
        """Returns the measured position of the waist."""
        fields = [self.client.field(i)[0] for i in range(self.client.fields)]
        self.client.stream([fields.index("q")], 1, 1)
        return struct.unpack("<f", struct.pack("<I", self.client.collect(1)[0][3][0]))[0]


@contextlib.contextmanager
def pulled(folder, **settings):
    with Board(folder, "netduinoplus2") as board:
        yield Pulled(board, folder, **settings)


def test_profile_ends_and_holds(folder):
    with pulled(folder) as p:
        p.motion(QUINTIC, 1.5, FAR, 0, 0, 0, 0, 0)
        state, fault, flags, _ = p.pull(2500)
        assert (state, fault) == (RUNNING, 0) and not flags & MOVING and abs(p.position() - FAR) < 0.01, (state, fault, flags)


def test_hold_goes_on(folder):
    with pulled(folder) as p:
        p.motion(HOLD, 0)
        state, fault, _, _ = p.pull(2500)
        assert (state, fault) == (RUNNING, 0), (state, fault)


def test_jog_ends_and_holds(folder):
    with pulled(folder) as p:
        p.motion(JOG, 0, 0.2, 0, 0, 0, 0, 0)
        state, fault, flags, _ = p.pull(2000)
        # The jog times out after 0.5 s at 0.2 rad/s; the braking distance is added.
        assert (state, fault) == (RUNNING, 0) and not flags & MOVING and 0.05 < p.position() < 0.15, (state, fault, flags)


def stream(p, points, step_s=0.02):
    """Sends points. An emulator may outrun this host: then the points run out before all are sent."""
    p.motion(POINTS, step_s)
    try:
        for i in range(points):
            p.client.led(wire.POINTS, struct.pack("<6f", 0.001 * max(0, i - 2), 0, 0, 0, 0, 0))
    except wire.Refused:
        assert p.status()[:2] == (FAULT, SETPOINT), p.status()


def run_dry(folder, brakes, stop, enabled):
    with pulled(folder, brakes=brakes) as p:
        stream(p, 24)
        found = p.pull(2500)
        assert found[:2] == (FAULT, SETPOINT), found
        assert struct.unpack_from("<xxBB", p.client.ask(ASK_FAULT)) == (stop, enabled)


def test_points_run_dry(folder):
    """When the points run out, the loop holds the arm, because it has no brakes."""
    run_dry(folder, 0, 0, 1)


def test_points_run_dry_with_brakes(folder):
    """When the points run out, the brakes engage in the end and the outputs are off."""
    run_dry(folder, 1, 3, 0)


def test_points_with_a_guard(folder):
    """With guard_setpoint the motion ends before the last point."""
    with pulled(folder, guard_setpoint=100, brakes=0) as p:
        stream(p, 24, 0.1)  # 24 points take 2.4 s
        found = p.pull(600)
        assert found[:2] == (FAULT, SETPOINT), found


def test_points_that_have_not_begun(folder):
    with pulled(folder) as p:
        stream(p, 5)
        assert p.pull(1000)[:2] == (IDLE, 0)


def test_leased_motion_stops(folder):
    """The client that moves the arm dies: the arm stops with the fault host, and is held."""
    with pulled(folder, brakes=0) as p:
        p.client.token = 7
        p.client.ask(wire.LEASE, struct.pack("<IH", 7, 1000) + b"test\0")
        p.motion(QUINTIC, 5, FAR, 0, 0, 0, 0, 0)
        found = p.pull(2500)
        assert found[:2] == (FAULT, HOST) and not found[2] & MOVING, found
        assert struct.unpack_from("<xxBB", p.client.ask(ASK_FAULT)) == (0, 1)
        assert 0 < p.position() < FAR / 2


def ticks(client):
    return struct.unpack_from("<I", client.ask(wire.STATUS), 4)[0]


def values(client, names):
    """Returns every parameter of the board that is not per joint, and the gains."""
    found = {name: client.get(i)[0] for i, name in enumerate(names) if name not in PER_JOINT}
    return found | {(name, joint): client.get(names.index(name), joint)[0] for name in ("kp", "kd") for joint in range(3)}


def killed(folder, busy):
    """A comparison of controllers overrides guards, gains, masses and telemetry. It is killed; as soon as
    its lease has lapsed, every guard is what it was, whether or not somebody keeps the line busy meanwhile.
    Gains stay as long as the loop brakes or holds the arm with them; when the outputs are off, every parameter
    is what it was."""
    with Board(folder, "netduinoplus2") as board:
        client = wire.Client(board.connect())
        client.apply(image_of(folder, "planar3r"))
        names = client.parameter_names()
        client.set(names.index("guard_tracking"), 0.2)
        before = values(client, names)
        client.line.close()
        output = os.path.join(folder, "rows")
        command = subprocess.Popen([PROGRAM, "demo", "planar3r", "-q", "-o", output, "--port", board.port],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "APPELL_LEASE_MS": "5000"})
        while not (os.path.isdir(output) and os.listdir(output)):  # the first motion has ended
            assert command.poll() is None, "the command has ended by itself"
            time.sleep(0.02)
        command.kill()
        command.wait()
        client = wire.Client(board.connect())
        assert client.ask(wire.STATUS)[2] & OVERRIDDEN, "the command had overridden nothing"
        lease_ends = ticks(client) + struct.unpack_from("<I", client.describe(wire.LEASED))[0]
        while ticks(client) <= lease_ends + 20:
            until = time.monotonic() + 0.1
            while not busy and time.monotonic() < until:  # a line that nobody reads would stall the emulator
                client.frames(0.1)
        guards = [k for k in before if k[:6] == "guard_"]
        after = values(client, names)
        assert guards and all(after[k] == before[k] for k in guards), (before, after)
        with contextlib.suppress(wire.Refused):  # a board with a fault has stopped the arm already
            client.ask(wire.STOP, b"\0")
        until = time.monotonic() + TIMEOUT_S
        while client.ask(wire.STATUS)[2] & OVERRIDDEN:
            assert time.monotonic() < until, client.ask(wire.STATUS)
        assert values(client, names) == before, (before, values(client, names))


def test_killed_comparison_leaves_nothing(folder):
    killed(folder, False)


def test_killed_comparison_leaves_nothing_on_a_busy_line(folder):
    killed(folder, True)


def test_half_an_image(folder):
    """A part of an image changes nothing: the board keeps its robot."""
    with pulled(folder) as p:
        image = image_of(folder, "stanford")
        p.client.ask(wire.IMAGE_BEGIN, struct.pack("<BII", 0, len(image), 0))
        p.client.ask(wire.IMAGE_DATA, struct.pack("<I", 0) + image[:100])
        assert p.pull(100)[:2] == (IDLE, 0) and p.client.robot()[0] == "puma560"


if __name__ == "__main__":
    sys.exit(main(globals()))
