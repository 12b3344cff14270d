#!/usr/bin/env python3
"""Tests what the board does when the cable is pulled (firmware/safety/README.md). The line is
closed during each kind of motion; a client that connects later finds the state that the page
describes.

    test_cable.py [PROGRAM [PATTERN]]
"""
import contextlib
import struct
import sys
import time

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import main  # noqa: E402
from test_link import Board, image_of  # noqa: E402

HOLD, QUINTIC, POINTS, JOG = 0, 1, 4, 5  # motions
IDLE, RUNNING, FAULT = 1, 3, 5  # states
SETPOINT = 12  # number of the fault
MOVING = 16  # a flag in the answer to STATUS
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
        for name, value in settings.items():
            self.client.set(names.index(name), value)

    def motion(self, kind, duration_s, *values):
        self.client.ask(wire.MOTION, struct.pack(f"<Bf{len(values)}f", kind, duration_s, *values))

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
    p.motion(POINTS, step_s)
    for i in range(points):
        p.client.ask(wire.POINTS, struct.pack("<6f", 0.001 * max(0, i - 2), 0, 0, 0, 0, 0))


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


def test_half_an_image(folder):
    """A part of an image changes nothing: the board keeps its robot."""
    with pulled(folder) as p:
        image = image_of(folder, "stanford")
        p.client.ask(wire.IMAGE_BEGIN, struct.pack("<BII", 0, len(image), 0))
        p.client.ask(wire.IMAGE_DATA, struct.pack("<I", 0) + image[:100])
        assert p.pull(100)[:2] == (IDLE, 0) and p.client.robot()[0] == "puma560"


if __name__ == "__main__":
    sys.exit(main(globals()))
