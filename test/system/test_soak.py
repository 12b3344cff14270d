#!/usr/bin/env python3
"""Runs random motions of the PUMA 560 on emulated boards for a long time, with all guards active,
disturbances of the simulated arm and noise on the line. There must be no fault and no overrun, and
every request must be answered. gdb sets every 32-bit counter close to its end: ticks (49 days at 1
kHz), samples, bytes of the line. Nothing counts microseconds; the counter that measures costs
counts nanoseconds in the emulator and wraps every 4.3 s.

    test_soak.py [PROGRAM [PATTERN]]

The run takes ten seconds in `make test` and an hour in `make test-long`, or SOAK_S seconds.
"""
import os
import random
import struct
import sys
import time

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import LONG_RUN, Skip, main  # noqa: E402
from test_link import Watched, image_of  # noqa: E402

SECONDS = int(os.environ.get("SOAK_S", 3660 if LONG_RUN else 10))
RATE = 1000
START = 2**32 - SECONDS // 2 * RATE  # gdb sets the ticks to this, so that they wrap in the middle
MOTIONS = SECONDS // 10  # at least this many motions; a slow machine sends fewer of them per tick
FAULT = 26
IDLE, RUNNING, FAILED = 1, 3, 5
HOLD, QUINTIC, CYCLOID, TRAPEZOID, JOG = 0, 1, 2, 3, 5
MOVING = 1 << 4
OVERRUNS = 1  # index in COUNTERS
# Position limits of the PUMA, and nine tenths of its speed limits.
LIMITS = [(-2.79, 2.79), (-0.78, 3.92), (-3.92, 0.78), (-1.91, 2.96), (-1.74, 1.74), (-4.64, 4.64)]
SPEEDS = [1.26, 0.81, 1.89, 3.5, 3.8, 3.5]


def near_the_end(board):
    """Sets every 32-bit counter near its end; counters of rings keep their place in the ring."""
    app, uart = "'firmware/tick.c'::app", "'hal/stm32/uart.c'::"
    far = 0xffffc000  # 16384 before the end, a multiple of the size of every ring
    commands = [f"set var {app}.ticks = {START}"]
    for counter in (f"{app}.head", f"{app}.tail", f"{uart}rx.head", f"{uart}rx.tail", f"{uart}tx.head", f"{uart}tx.tail",
                    f"{uart}stats.received", f"{uart}stats.sent"):
        commands.append(f"set var {counter} = {counter} + {far}")
    shown = board.gdb(*commands, f"output {app}.ticks", "echo \\n")
    assert f"{START}\n" in shown, shown


class Soak:
    def __init__(self, folder, board, seed):
        self.random = random.Random(seed)
        self.client = None
        self.refused = self.motions = self.noise = self.changes = 0
        self.folder, self.name = folder, board

    def ask(self, message, payload=b""):
        """Sends a request, sometimes with noise before it."""
        if self.random.random() < 0.2:
            rubbish = self.random.randbytes(self.random.randint(1, 12))
            self.client.line.sendall(rubbish + b"\0")
            self.noise += len(rubbish) + 1
        return self.client.ask(message, payload)

    def status(self):
        answer = self.ask(wire.STATUS)
        state, fault, flags = answer[0], answer[1], answer[2]
        tick = struct.unpack_from("<I", answer, 4)[0]
        if fault:
            raise AssertionError(f"fault {fault} in tick {tick}, after {self.motions} motions: "
                                 f"{struct.unpack('<BBBBffI', self.ask(FAULT))}; last {self.last}")
        return state, flags, tick

    def disturb(self):
        name, low, high = self.random.choice([("sim_mass", 0.9, 1.1), ("sim_friction", 0.7, 1.3), ("sim_noise", 0, 2)])
        value = self.random.randint(low, high) if name == "sim_noise" else self.random.uniform(low, high)
        self.client.set(self.names.index(name), value)
        self.changes += 1

    def move(self):
        kind = self.random.choice([QUINTIC, CYCLOID, TRAPEZOID, QUINTIC, JOG])
        values = [self.random.uniform(low, high) for low, high in LIMITS]
        if kind == JOG:
            values = [self.random.uniform(-s, s) for s in SPEEDS]
        self.last = (kind, values)
        try:
            self.ask(wire.MOTION, struct.pack("<IBf6f", 0, kind, 0, *values))
            self.motions += 1
        except wire.Refused:
            self.refused += 1

    def run(self):
        with Watched(self.folder, self.name) as board:
            self.client = wire.Client(board.connect())
            self.client.apply(image_of(self.folder, "puma560"))
            self.names = self.client.parameter_names()
            near_the_end(board)
            # Samples are sent all the time; those without credit are counted.
            self.client.stream([0, 1, 8], 50, 1000)
            passed, last = 0, START
            while passed < SECONDS * RATE or self.motions <= MOTIONS:
                state, flags, tick = self.status()
                passed += (tick - last) & 0xffffffff
                last = tick
                self.client.samples.clear()
                if state in (IDLE, RUNNING) and not flags & MOVING:
                    if self.random.random() < 0.3:
                        self.disturb()
                    self.ask(wire.CREDIT, struct.pack("<I", 20))
                    self.move()
                elif self.random.random() < 0.1:
                    self.ask(wire.STOP, b"\0")
                else:
                    time.sleep(0.05)
            counters = struct.unpack_from("<13I", self.ask(wire.COUNTERS))
        assert last < START, "the ticks did not wrap"
        assert counters[OVERRUNS] == 0, f"{counters[OVERRUNS]} overruns"
        print(f"NOTE {self.name}: {passed} ticks from {START} past the wrap, {self.motions} motions ({self.refused} refused), "
              f"{self.changes} disturbances, {self.noise} bytes of noise: 0 faults, {counters[OVERRUNS]} overruns", flush=True)


def test_soak_in_floats(folder):
    Soak(folder, "netduinoplus2", 1).run()


def test_soak_in_fixed_point(folder):
    if not LONG_RUN:
        raise Skip("make test-long")
    Soak(folder, "netduino2", 2).run()


if __name__ == "__main__":
    sys.exit(main(globals()))
