#!/usr/bin/env python3
"""A long time with the supervisor awake: random motions of the PUMA 560 on emulated boards, disturbances of the simulated
arm, noise on the line, all guards as they are; no fault, no overrun, every answer comes. gdb has put every counter of 32 bits
close to its end: ticks (49 days at 1 kHz), samples, bytes of the line. Nothing counts microseconds; the counter behind the
costs counts nanoseconds in the emulator and wraps every 4.3 s by itself.

    test_soak.py [PROGRAM [PATTERN]]

Ten seconds in `make test`; an hour in `make test-long`, or so many seconds as SOAK_S says.
"""
import os
import random
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import LONG_RUN, Skip, main  # noqa: E402
from test_link import Board, firmware, image_of  # noqa: E402

SECONDS = int(os.environ.get("SOAK_S", 3660 if LONG_RUN else 10))
RATE = 1000
BEFORE = SECONDS // 2 * RATE  # ticks until the counter wraps: in the middle
FAULT = 26
IDLE, RUNNING, FAILED = 1, 3, 5
HOLD, QUINTIC, CYCLOID, TRAPEZOID, JOG = 0, 1, 2, 3, 5
MOVING = 1 << 4
OVERRUNS = 1  # of COUNTERS
# The PUMA's limits of position, and nine tenths of those of its speeds.
LIMITS = [(-2.79, 2.79), (-0.78, 3.92), (-3.92, 0.78), (-1.91, 2.96), (-1.74, 1.74), (-4.64, 4.64)]
SPEEDS = [1.26, 0.81, 1.89, 3.5, 3.8, 3.5]


def gdb(board, socket, *commands):
    arguments = ["gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set confirm off", "-ex", f"target remote {socket}"]
    for command in commands:
        arguments += ["-ex", command]
    done = subprocess.run(arguments + ["-ex", "detach", firmware(board)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "No symbol" not in done.stderr, done.stdout + done.stderr


def near_the_end(board, socket):
    """Every counter of 32 bits; those of rings keep their place in the ring."""
    app, uart = "'firmware/tick.c'::app", "'hal/stm32/uart.c'::"
    far = 0xffffc000  # 16384 bytes or samples before the end: a multiple of every ring's size
    commands = [f"set var {app}.ticks = {0x100000000 - BEFORE}"]
    for counter in (f"{app}.head", f"{app}.tail", f"{uart}rx.head", f"{uart}rx.tail", f"{uart}tx.head", f"{uart}tx.tail",
                    f"{uart}stats.received", f"{uart}stats.sent"):
        commands.append(f"set var {counter} = {counter} + {far}")
    gdb(board, socket, *commands)


class Soak:
    def __init__(self, folder, board, seed):
        self.random = random.Random(seed)
        self.client = None
        self.refused = self.motions = self.noise = self.changes = 0
        self.folder, self.name = folder, board

    def ask(self, message, payload=b""):
        """A request, and noise before it now and then."""
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
        name, low, high = self.random.choice([("plant_mass", 0.9, 1.1), ("plant_friction", 0.7, 1.3), ("plant_noise", 0, 2)])
        self.client.set(self.names.index(name), self.random.uniform(low, high))
        self.changes += 1

    def move(self):
        kind = self.random.choice([QUINTIC, CYCLOID, TRAPEZOID, QUINTIC, JOG])
        values = [self.random.uniform(low, high) for low, high in LIMITS]
        if kind == JOG:
            values = [self.random.uniform(-s, s) for s in SPEEDS]
        self.last = (kind, values)
        try:
            self.ask(wire.MOTION, struct.pack("<Bf6f", kind, 0, *values))
            self.motions += 1
        except wire.Refused:
            self.refused += 1

    def run(self):
        socket = os.path.join(self.folder, "gdb")
        with Board(self.folder, self.name, "-chardev", f"socket,path={socket},server=on,wait=off,id=g", "-gdb",
                   "chardev:g") as board:
            self.client = wire.Client(board.connect(), patience_s=1)
            self.client.apply(image_of(self.folder, "puma560"))
            self.names = self.client.tunable_names()
            near_the_end(self.name, socket)
            # Samples go out all the time, unpaid ones are counted.
            self.client.stream([0, 1, 8], 50, 1000)
            begin = self.status()[2]
            passed, wrapped, last = 0, False, begin
            while passed < SECONDS * RATE:
                state, flags, tick = self.status()
                passed += (tick - last) & 0xffffffff
                wrapped = wrapped or tick < last
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
        assert wrapped, "the ticks did not wrap"
        assert counters[OVERRUNS] == 0, f"{counters[OVERRUNS]} overruns"
        assert self.motions > SECONDS / 10, f"only {self.motions} motions"
        print(f"NOTE {self.name}: {passed} ticks from {begin} past the wrap, {self.motions} motions ({self.refused} refused), "
              f"{self.changes} disturbances, {self.noise} bytes of noise: 0 faults, {counters[OVERRUNS]} overruns", flush=True)


def test_soak_in_floats(folder):
    Soak(folder, "netduinoplus2", 1).run()


def test_soak_in_fixed_point(folder):
    if not LONG_RUN:
        raise Skip("make test-long")
    Soak(folder, "netduino2", 2).run()


if __name__ == "__main__":
    sys.exit(main(globals()))
