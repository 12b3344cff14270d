#!/usr/bin/env python3
"""Boots the firmware image in the emulator: banner, tick, crash record, console, loading by gdb.

Runs on every board that the emulator has (print-QEMU_BOARDS); `make test` builds the images.
"""
import functools
import os
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from emulator_socket import Inherited  # noqa: E402

TIMEOUT_S = 60  # for the slowest machine; each check takes a second or two


@functools.lru_cache(maxsize=None)
def make_variable(name, board):
    text = subprocess.run(["make", "-s", f"print-{name}", f"BOARD={board}"], check=True,
                          capture_output=True, text=True).stdout
    return tuple(text.split())


class Emulator:
    """An emulated board with its console on pipes. Used in a `with` statement, whose end stops the
    emulator."""

    def __init__(self, board, *options, mode="QEMU_RUN", files=()):
        command = [*make_variable(mode, board), "-serial", "stdio", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True, pass_fds=files)
        self.seen = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, data):
        os.write(self.process.stdin.fileno(), data)

    def _more(self, deadline, what):
        left = deadline - time.monotonic()
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, left))
        if not ready:
            raise AssertionError(f"no {what} within {TIMEOUT_S} s; seen: {self.seen[-400:]!r}")
        data = os.read(self.process.stdout.fileno(), 65536)
        if not data:
            raise AssertionError(f"the emulator ended before {what}; seen: {self.seen[-400:]!r}")
        self.seen += data

    def expect(self, pattern):
        """Waits for a line that matches, returns the match and discards everything before it."""
        deadline = time.monotonic() + TIMEOUT_S
        regex = re.compile(pattern.encode(), re.MULTILINE)
        while True:
            match = regex.search(self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            self._more(deadline, f"line like {pattern!r}")

    def take(self, n):
        deadline = time.monotonic() + TIMEOUT_S
        while len(self.seen) < n:
            self._more(deadline, f"{n} bytes")
        data, self.seen = self.seen[:n], self.seen[n:]
        return data


def gdb(elf, socket, *commands):
    arguments = ["gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set confirm off",
                 "-ex", f"set remotetimeout {TIMEOUT_S}", "-ex", f"target remote {socket}"]
    for command in commands:
        arguments += ["-ex", command]
    done = subprocess.run(arguments + [elf], capture_output=True, text=True, timeout=TIMEOUT_S)
    return done.stdout + done.stderr


def firmware(board):
    return f"build/{board}/firmware.elf"


def check_boot(board):
    with Emulator(board, "-kernel", firmware(board)) as emulator:
        number = re.escape(make_variable("VERSION", board)[0])
        emulator.expect(rf"^appell {number} \((?:[0-9a-f]{{10,}}(?:-dirty)?|unknown)\) on {board}, build [0-9a-f]{{8}}, reset by .+$")
        emulator.expect(r"^clock: \d+ Hz")
        match = emulator.expect(r"^tick: (\d+) ticks at 1000 Hz, instructions per interrupt: "
                                r"best (\d+) worst (\d+), overruns (\d+)$")
        ticks, best, worst, overruns = (int(group) for group in match.groups())
        assert ticks == 1000, f"{ticks} ticks instead of 1000"
        assert overruns == 0, f"{overruns} overruns"
        assert 0 < best <= worst, f"best {best}, worst {worst}"


def check_crash_record(board):
    """gdb forces a jump to an invalid address. The firmware reports this at its next boot, but only
    once."""
    with tempfile.TemporaryDirectory() as folder:
        with Inherited(f"{folder}/gdb") as socket, \
             Emulator(board, "-kernel", firmware(board), *socket.chardev("g", wait=False), "-gdb", "chardev:g",
                      files=socket.files) as emulator:
            emulator.expect(r"^clock: ")
            gdb(firmware(board), socket.path, "set $r5 = 0x600d0005", "set $pc = 0x90000000", "detach")
            emulator.expect(r"^crash: .* pc=90000000 ")
            emulator.expect(r"^crash: registers( [0-9a-f]{8}){5} 600d0005( [0-9a-f]{8}){7}$")
            emulator.expect(r"^crash: status exception=0000000[3-6] cfsr=[0-9a-f]{8}")
            emulator.expect(r"^crash: build [0-9a-f]{40} count=00000001$")
            emulator.expect(rf"^appell .* on {board}, build ")


def check_gdb_load(board):
    """Loads as `make debug` and a probe do: section by section, then compares and starts."""
    with tempfile.TemporaryDirectory() as folder:
        with Inherited(f"{folder}/gdb") as socket, \
             Emulator(board, "-S", *socket.chardev("g", wait=False), "-gdb", "chardev:g",
                      files=socket.files) as emulator:
            said = gdb(firmware(board), socket.path, "load", "compare-sections",
                       "set $sp = *(unsigned *)&vectors", "set $pc = reset_handler", "detach")
            assert "Transfer rate" in said, f"gdb could not load: {said}"
            assert "MIS-MATCHED" not in said, f"what gdb loaded is not in memory: {said}"
            assert said.count("matched.") >= 2, f"no section was compared: {said}"
            emulator.expect(rf"^appell .* on {board}, build ")
            emulator.expect(r"^tick: 1000 ticks")


def check_echo(board):
    """Sends 4,000 random bytes in chunks through the receive interrupt and the transmit ring."""
    numbers = random.Random(1)
    with Emulator(board, "-kernel", f"build/{board}/lab/test/uart_echo.elf") as emulator:
        emulator.expect(r"^echo ready\n")
        total = 0
        while total < 4000:
            chunk = bytes(b for b in numbers.randbytes(64) if b != ord("Q"))
            emulator.send(chunk)
            answer = emulator.take(len(chunk))
            assert answer == bytes(255 - b for b in chunk), f"after {total} bytes: {chunk!r} -> {answer!r}"
            total += len(chunk)
        emulator.send(b"Q")
        emulator.take(1)
        match = emulator.expect(r"^done received (\d+) sent (\d+) dropped (\d+) errors (\d+)$")
        received, sent, dropped, errors = (int(group) for group in match.groups())
        assert received == total + 1, f"{received} bytes received of {total + 1}"
        assert sent >= total + 1 and dropped == 0 and errors == 0, match.group(0)


def check_pins_first(board):
    """The start-up code drives the pins of the motors before anything that takes time: its first branch is the call
    of motor_safe."""
    text = subprocess.run(["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", "--disassemble=reset_handler", firmware(board)],
                          check=True, capture_output=True, text=True).stdout
    branches = re.findall(r"\t((?:b|cb)[a-z.]*)\t(?:\w+, )?[0-9a-f]+ <([^>]+)>", text)
    assert branches and branches[0] == ("bl", "motor_safe"), branches


def main():
    boards = make_variable("QEMU_BOARDS", "netduinoplus2")
    checks = [check_boot, check_crash_record, check_gdb_load, check_echo, check_pins_first]
    count = failures = ignored = 0
    for board in boards:
        for check in checks:
            name = f"{check.__name__}_{board}".replace("check_", "test_")
            line = check.__code__.co_firstlineno
            print(f"RUN {name}", flush=True)
            count += 1
            if check is check_crash_record and board == "netduino2":
                # The jump causes no fault, because this machine answers on every address.
                ignored += 1
                print(f"{__file__}:{line}:{name}:IGNORE: this machine answers on every address", flush=True)
                continue
            try:
                check(board)
                print(f"{__file__}:{line}:{name}:PASS", flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"{__file__}:{line}:{name}:FAIL: {error}", flush=True)
    print(f"\n-----------------------\n{count} Tests {failures} Failures {ignored} Ignored")
    print("OK" if failures == 0 else "FAIL")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
