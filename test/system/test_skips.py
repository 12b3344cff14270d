#!/usr/bin/env python3
"""Tests instruction skips: the emulated F405 executes a tick in which one instruction, or two in
sequence, are skipped, as by a glitch of the supply. The test covers every instruction of the code
that limits outputs, detects faults and latches them, and of the tick around it. There are two
situations of the PUMA 560: a jammed joint at its torque limit, and the tick in which an encoder
fails. Outputs may exceed their limit, or be on after the fault, only in the tick of the skip. The
test also covers every instruction that checks the CRC of an image, with an image that was damaged
in memory, and counts how often it is accepted.

The test talks to the gdb stub of the emulator directly. It skips an instruction by overwriting it
with NOP while it executes; every case begins from a snapshot.

    test_skips.py [PROGRAM [PATTERN]]

`make test` runs a sample, `make test-long` all cases.
"""
import os
import random
import re
import socket
import struct
import subprocess
import sys
import time
import zlib

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import LONG_RUN, main  # noqa: E402
from test_link import TIMEOUT_S, Watched, firmware, image_of  # noqa: E402

BOARD = "netduinoplus2"
SAMPLE = 15  # skips of each situation in `make test`
HANG_S = 10  # without a tick for this real time the board counts as hung; five simulated milliseconds take less
FUNCTIONS = ["control_feedback", "control_drive", "guard_inputs", "guard_loop", "supervisor_take", "app_stages_run",
             "app_tick", "tick_interrupt"]
CRC_FUNCTIONS = ["app_load", "app_load_arm", "image_read", "crc32_add"]
LINK = 14  # number of the link register
TICKS = 5  # number of ticks observed from the skip on
JAMMED, LOST = 5, 3
TOKEN = 7  # of the client that moves the arm


def limits_of_duty():
    """Returns the limit of the duty of each joint in Q15, from the robot file: V = R tau / (k N) +
    k N qd, divided by the supply, with the torque limit and the speed of the arm at that time, 0.1
    rad/s."""
    with open("tools/robots/puma560.yaml", encoding="utf-8") as file:
        text = file.read()
    motors = re.findall(r"motor: \{resistance: ([\d.]+), torque_constant: ([\d.]+), gear: (-?[\d.]+), .*?voltage: ([\d.]+)\}", text)
    torques = re.findall(r"acceleration: [\d.]+, torque: ([\d.]+)\}", text)
    assert len(motors) == len(torques) == 6, "the robot file has another form"
    out = []
    for (resistance, constant, gear, volts), torque in zip(motors, torques):
        drive = abs(float(constant) * float(gear))
        out.append(32767 * (float(resistance) * float(torque) / drive + drive * 0.1) / float(volts) + 1)
    return out


class Stub:
    """A connection to the gdb stub of the emulator."""

    def __init__(self, path):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(path)
        self.line.settimeout(TIMEOUT_S)
        self.received = b""
        self.send("qC")  # this answer is unique; connecting has stopped the machine, which also sends a report
        while not self.packet().startswith("QC"):
            pass

    def packet(self):
        while True:
            match = re.search(rb"\$([^#]*)#..", self.received, re.S)
            if match:
                self.received = self.received[match.end():]
                self.line.sendall(b"+")
                return match.group(1).decode("latin1")
            data = self.line.recv(65536)
            assert data, "the emulator has gone"
            self.received += data

    def send(self, text):
        body = text.encode("latin1")
        self.line.sendall(b"$" + body + b"#%02x" % (sum(body) & 255))

    def ask(self, text):
        self.send(text)
        return self.packet()

    def monitor(self, command):
        self.send("qRcmd," + command.encode().hex())
        out = b""
        while True:
            answer = self.packet()
            if answer == "OK":
                return out.decode()
            assert not re.fullmatch(r"E\d\d", answer), f"{command}: {answer}"
            out += bytes.fromhex(answer[1:])

    def read(self, address, size):
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}"))

    def write(self, address, data):
        assert self.ask(f"M{address:x},{len(data):x}:{data.hex()}") == "OK", hex(address)

    def register(self, number):
        return struct.unpack_from("<16I", bytes.fromhex(self.ask("g")[:128]))[number]

    def jump(self, address):
        registers = self.ask("g")
        assert self.ask("G" + registers[:120] + struct.pack("<I", address).hex() + registers[128:]) == "OK"

    def pc(self):
        return self.register(15)

    def stop_at(self, address, on):
        answer = self.ask(f"{'Z' if on else 'z'}0,{address:x},2")
        assert answer == "OK", f"breakpoint {address:x}: {answer}"

    def stop_at_write(self, address, on):
        """Switches a watchpoint for writes to a word on or off."""
        answer = self.ask(f"{'Z' if on else 'z'}2,{address:x},4")
        assert answer == "OK", f"watchpoint {address:x}: {answer}"

    def go(self, timeout_s=TIMEOUT_S):
        """Lets the board run; returns the address where it stops, or 0 if it does not stop."""
        self.line.settimeout(timeout_s)
        try:
            self.ask("c")
        except TimeoutError:
            self.line.settimeout(TIMEOUT_S)
            self.line.sendall(b"\x03")
            self.packet()
            return 0
        self.line.settimeout(TIMEOUT_S)
        return self.pc()


def functions(names):
    """Returns {name: [(address, size) of each instruction]} of these functions, from the
    disassembly."""
    text = subprocess.run(["arm-none-eabi-objdump", "-d", firmware(BOARD)], check=True, capture_output=True, text=True).stdout
    out = {}
    for name in names:
        body = re.search(rf"^[0-9a-f]+ <{name}>:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
        assert body, f"there is no {name}"
        found = re.findall(r"^ ([0-9a-f]+):\t([0-9a-f]{4}(?: [0-9a-f]{4})?) *\t(\S+)", body.group(1), re.M)
        out[name] = [(int(a, 16), len(code.replace(" ", "")) // 2) for a, code, word in found if not word.startswith(".")]
    return out


def symbol(expression):
    done = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", "-ex", f"print/x (unsigned)&({expression})", firmware(BOARD)],
                          capture_output=True, text=True, check=True)
    return int(re.search(r"= (0x[0-9a-f]+)", done.stdout).group(1), 16)


def empty_disk(path):
    """Writes an empty qcow2 image of 64 MB for the snapshots of the emulator: header, table and
    block of reference counts, L1."""
    cluster = 0x10000
    head = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, 64 << 20, 0, 1, 3 * cluster, cluster, 1, 0, 0)
    with open(path, "wb") as file:
        for content in (head, struct.pack(">Q", 2 * cluster), struct.pack(">4H", 1, 1, 1, 1), b""):
            file.write(content.ljust(cluster, b"\0"))


class Situation:
    """A board in a snapshot, with the addresses needed to observe it."""

    def __init__(self, folder):
        self.folder = folder
        self.disk = os.path.join(folder, "snapshots.qcow2")
        empty_disk(self.disk)
        self.board = Watched(folder, BOARD, "-drive", f"if=none,format=qcow2,file={self.disk}")
        self.client = wire.Client(self.board.connect(), timeout_s=5, token=TOKEN)
        self.out, self.defect = symbol("'firmware/tick.c'::out"), symbol("'firmware/tick.c'::app.sim_arm.defect")
        self.kind = symbol("'firmware/tick.c'::app.motion.kind")
        self.safety = symbol("'firmware/tick.c'::app.safety")
        code = functions(["tick_interrupt", "fault_entry", "reset_handler"])
        self.begin = self.turn = self.entry = self.end = code["tick_interrupt"][0][0]
        self.crashes = {code["fault_entry"][0][0], code["reset_handler"][0][0]}

    def close(self):
        self.board.__exit__()

    def load(self):
        self.client.apply(image_of(self.folder, "puma560"))
        self.names = self.client.parameter_names()

    def set(self, **values):
        for name, value in values.items():
            self.client.set(self.names.index(name), value)

    def wait(self, ticks):
        now = begin = struct.unpack_from("<I", self.client.ask(wire.STATUS), 4)[0]
        while (now - begin) & 0xffffffff < ticks:
            time.sleep(0.02)
            now = struct.unpack_from("<I", self.client.ask(wire.STATUS), 4)[0]

    def attach(self):
        """Attaches to the stub; the board stands still from here on, between two turns of the background. It has no tick half
        done there: one that has read its inputs already would check them against what a test changes."""
        self.stub = Stub(self.board.stub.path)
        self.run_to(functions(["app_poll"])["app_poll"][0][0])
        # The stub makes ticks late, and the emulator lose some. Neither may be the fault that ends a case.
        self.returns("tick_lost", 0)
        for i in range(2):
            self.stub.write(symbol(f"'firmware/tick.c'::app.control[{i}].late"), b"\xff\xff")

    def returns(self, name, number):
        """Replaces a function by one that returns -number: movs r0, #number; negs r0, r0; bx lr."""
        self.stub.write(functions([name])[name][0][0], struct.pack("<3H", 0x2000 | number, 0x4240, 0x4770))

    def restore(self):
        """Loads the snapshot. The flash is part of it, with all that a test has changed there."""
        self.stub.monitor("loadvm begin")

    def move(self, motion):
        """Runs a motion from its request to its end and not one tick more. The stub must be
        attached."""
        stub = self.stub
        self.client.line.sendall(wire.encode(bytes([wire.MOTION, (self.client.sequence + 1) & 255]) + bytes(4) + motion))
        begun = ended = False
        while not ended:
            stub.stop_at_write(self.kind, True)
            assert stub.go() != 0, "the motion does not end"
            stub.stop_at_write(self.kind, False)
            stub.ask("s")  # executes the write before which it stopped
            moving = stub.read(self.kind, 4) != bytes(4)
            begun, ended = begun or moving, begun and not moving

    def run_to(self, address):
        self.stub.stop_at(address, True)
        assert self.stub.go() == address, hex(address)
        self.stub.stop_at(address, False)

    def run_ticks(self, count):
        for _ in range(count):
            self.run_to(self.begin)
            self.stub.ask("s")

    def freeze(self, name="tick_interrupt", instead=None):
        """Stops at the beginning of a tick, or of another function, and takes the snapshot. What is skipped is executed
        before the next tick, or before the function returns. It may be another function with the same arguments."""
        self.run_to(functions([name])[name][0][0])
        self.entry = functions([instead or name])[instead or name][0][0]
        if instead:
            self.stub.jump(self.entry)
        self.end = self.begin if self.entry == self.begin else self.stub.register(LINK) & ~1
        self.stub.monitor("savevm begin")

    def state(self):
        return struct.unpack("<I", self.stub.read(self.safety, 4))

    def outputs(self):
        data = self.stub.read(self.out, 6 * 4), self.stub.read(self.out + 128, 1)
        return struct.unpack("<6i", data[0]), data[1][0]

    def case(self, address, sizes, prepare, observe, ticks=TICKS):
        """Returns what is observed at the end of each tick (turn) from the skip on, fewer if ticks stop coming;
        None if the instruction was not executed; False after a crash."""
        stub = self.stub
        self.restore()
        prepare(stub)
        if address != self.entry:
            if self.entry == self.end:
                stub.ask("s")  # or it would stop at once
            stub.stop_at(self.end, True)
            stub.stop_at(address, True)
            at = stub.pc() if stub.pc() == address else stub.go(HANG_S)
            stub.stop_at(address, False)
            stub.stop_at(self.end, False)
            if at != address:
                return None
        return self.skip(address, sizes, observe, ticks)

    def answer(self, address, sizes, after):
        """Returns r0 when the function returns to `after`; None if the instruction was not
        executed; False after a crash or a hang."""
        stub = self.stub
        stops = {after, *self.crashes}
        for stop in stops:
            stub.stop_at(stop, True)
        at = address
        if sizes:
            stub.stop_at(address, True)
            at = stub.go(HANG_S)
            stub.stop_at(address, False)
            if at == address:
                self.pass_over(address, sizes)
        if at == address:
            at = stub.go(HANG_S)
            result = stub.register(0) if at == after else False
        else:
            result = None
        for stop in stops:
            stub.stop_at(stop, False)
        return result

    def pass_over(self, address, sizes):
        stub = self.stub
        original = stub.read(address, sum(sizes))
        stub.write(address, b"\x00\xbf" * (sum(sizes) // 2))
        for _ in range(sum(sizes) // 2):
            stub.ask("s")
        stub.write(address, original)

    def skip(self, address, sizes, observe, ticks):
        stub = self.stub
        self.pass_over(address, sizes)
        stops = {self.turn, *self.crashes}
        for stop in stops:
            stub.stop_at(stop, True)
        seen = []
        for _ in range(ticks):
            at = stub.go(HANG_S)
            if at in self.crashes:
                seen = False
                break
            if at == 0:
                self.hung = observe()
                break
            seen.append(observe())
            stub.ask("s")  # leaves the breakpoint
        for stop in stops:
            stub.stop_at(stop, False)
        return seen


def cases(names):
    """Returns (address, sizes of the skipped instructions) for single instructions and for two in
    sequence."""
    out = []
    for code in functions(names).values():
        out += [(a, [size]) for a, size in code]
        out += [(a, [size, after]) for (a, size), (_, after) in zip(code, code[1:])]
    return out if LONG_RUN else random.Random(1).sample(out, len(out))


def count(situation, prepare, exceeds, what, names=FUNCTIONS, observe=None, ticks=TICKS, late=1):
    """Runs the cases, in make test a sample of them, and returns those whose outputs are wrong in more
    ticks than `late`."""
    skipped = idle = crashed = hung = hung_on = once = 0
    wrong = []
    for address, sizes in cases(names):
        if skipped >= SAMPLE and not LONG_RUN:
            break
        seen = situation.case(address, sizes, prepare, observe or situation.outputs, ticks)
        if seen is None:
            idle += 1
            continue
        skipped += 1
        crashed += seen is False
        if seen is not False and len(seen) < ticks:
            hung += 1
            hung_on += exceeds(*situation.hung)
        above = sum(exceeds(*outputs) for outputs in seen or [])
        once += 0 < above <= late
        if above > late:
            wrong.append(f"{address:x} ({len(sizes)}): {above} ticks, {seen}")
    print(f"NOTE {what}: {skipped} skips ({idle} of code that this tick does not execute), {crashed} ended in a crash, which "
          f"switches the outputs off, {hung} without further ticks, where the watchdog does ({hung_on} wrong until then), {once} wrong in one tick, "
          f"{len(wrong)} in more", flush=True)
    assert skipped >= SAMPLE, "hardly anything was executed"
    return wrong


def test_limits(folder):
    """The shoulder is jammed and needs far more than its torque limit."""
    situation = Situation(folder)
    try:
        situation.load()
        situation.set(guard_tracking=10, guard_limit_s=10, guard_direction=0, hold_fraction=1, sim_defect_joint=1)
        situation.client.led(wire.MOTION, struct.pack("<Bf6f", 0, 0, 0, 0, 0, 0, 0, 0))
        situation.set(sim_defect=JAMMED)
        situation.attach()  # from here on, more than guard_limit_s at the limit would be a fault
        for i in range(2):  # and so would a joint that is stuck
            situation.stub.write(symbol(f"'firmware/tick.c'::app.control[{i}].stuck_turns"), b"\xff")
        situation.move(struct.pack("<Bf6f", 1, 3, 0, 1, 0, 0, 0, 0))
        situation.freeze()
        limits = limits_of_duty()
        duty, enable = situation.outputs()
        assert enable and abs(duty[1]) > 0.9 * (limits[1] - 32767 * 23.6 * 0.1 / 40), f"not at its limit: {duty} {limits}"

        def exceeds(duty, enable):
            return bool(enable) and any(abs(d) > limit for d, limit in zip(duty, limits))

        wrong = count(situation, lambda stub: None, exceeds, "torque limit")
        assert not wrong, wrong
    finally:
        situation.close()


def test_fault(folder):
    """An encoder fails; from this tick on the duty must be zero."""
    situation = Situation(folder)
    try:
        situation.load()
        situation.set(guard_encoder_ticks=0, sim_defect_joint=1, brakes=0)
        situation.client.led(wire.MOTION, struct.pack("<Bf6f", 1, 3, 0, 1, 0, 0, 0, 0))
        situation.wait(600)
        situation.attach()
        situation.freeze()
        assert any(situation.outputs()[0]), "the arm is not driven"

        def lose(stub):
            stub.write(situation.defect, struct.pack("<I", LOST))

        wrong = count(situation, lose, lambda duty, enable: bool(enable) and any(duty), "fault")
        assert not wrong, wrong
    finally:
        situation.close()


def damaged(image):
    """Returns the image of the PUMA with one wrong bit: an exponent, which makes the torque limit
    of the shoulder four times larger."""
    at = image.find(struct.pack("<f", 186.4))
    assert at > 0, "there is no such limit"
    return image[:at] + struct.pack("<f", 4 * 186.4) + image[at + 4:]


def test_crc(folder):
    """The image was damaged after it was made and before it was sent, so only its own CRC can
    detect it. Skips instructions from the start of reading on the board until its answer."""
    situation = Situation(folder)
    try:
        situation.load()
        image = damaged(image_of(folder, "puma560"))
        client, entry = situation.client, functions(["app_load"])["app_load"][0][0]
        client.ask(wire.IMAGE_BEGIN, struct.pack("<BII", 0, len(image), zlib.crc32(image)))
        for at in range(0, len(image), client.payload - 4):
            client.ask(wire.IMAGE_DATA, struct.pack("<I", at) + image[at:at + client.payload - 4])
        situation.attach()
        stub = situation.stub
        stub.stop_at(entry, True)
        client.line.sendall(wire.encode(bytes([wire.IMAGE_END, (client.sequence + 1) & 255, 0])))
        assert stub.go() == entry
        after = stub.register(LINK) & ~1
        stub.stop_at(entry, False)
        stub.monitor("savevm begin")
        # The answer alone is not enough: a skipped jump may continue in a function that answers OK
        # without loading anything.
        loads = symbol("'firmware/tick.c'::app.loads")
        before = stub.read(loads, 4)
        taken, skipped, crashed = [], 0, 0
        for address, sizes in [(0, [])] + cases(CRC_FUNCTIONS):
            if skipped >= SAMPLE and not LONG_RUN:
                break
            situation.restore()
            answer = situation.answer(address, sizes, after)
            skipped += answer is not None
            crashed += answer is False
            if answer is not None and stub.read(loads, 4) != before:
                taken.append(f"{address:x} ({len(sizes)})")
        print(f"NOTE CRC: {skipped} skips, {crashed} ended in a crash, the damaged image was taken after {len(taken)}: {taken}",
              flush=True)
        assert skipped >= SAMPLE and not taken, taken
    finally:
        situation.close()


if __name__ == "__main__":
    sys.exit(main(globals()))
