#!/usr/bin/env python3
"""Tests the link to an emulated board when something goes wrong: bytes are corrupted, dropped or
cut off on the line; noise; resets; crashes.

    test_link_wrong.py [PROGRAM [PATTERN]]
"""
import html
import json
import os
import pty
import random
import re
import select
import socket
import struct
import sys
import threading

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
import test_appell as tool  # noqa: E402
from test_appell import LONG_RUN, good, run  # noqa: E402
from test_link import TIMEOUT_S, Board, Watched, firmware, image_of, words_of  # noqa: E402

# Long tests send 10 MB; make test sends a part that takes a few seconds.
NOISE_BYTES = 10_000_000 if LONG_RUN else 30_000


# ----------------------------------------------------------------------------------- a line with somebody on it

class Between:
    """Stands on the line between a tool and a board. meddle(content) gets each frame, in both
    directions. It returns the content to pass on or None to drop the frame, or raises an exception
    to cut the line. Serves one tool, then closes the line."""

    def __init__(self, folder, board, meddle):
        self.meddle, self.board = meddle, board.connect()
        path = os.path.join(folder, "between%d.socket" % len(os.listdir(folder)))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.port = "unix:" + path
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        tool_line, _ = self.listener.accept()
        rest = {tool_line: b"", self.board: b""}
        with tool_line:
            while True:
                for line in select.select(list(rest), [], [], TIMEOUT_S)[0]:
                    data = line.recv(65536)
                    if not data:
                        return
                    *whole, rest[line] = (rest[line] + data).split(b"\0")
                    for content in filter(None, map(wire.decode, filter(None, whole))):
                        try:
                            content = self.meddle(content)
                        except EOFError:
                            return
                        if content is not None:
                            (self.board if line is tool_line else tool_line).sendall(wire.encode(content))

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if not failed:  # the tool has ended, or ends now
            self.thread.join(TIMEOUT_S)
            assert not self.thread.is_alive(), "the tool still holds the line"
        self.board.close()
        self.listener.close()


def flipped(content, at=-1):
    spoilt = bytearray(content)
    spoilt[at] ^= 1
    return bytes(spoilt)


def has_arm(board, robot, kp=None, stored=None):
    """Asks the board directly which arm it runs, and checks it."""
    client = wire.Client(board.connect())
    try:
        assert client.robot()[0] == robot, client.robot()
        if kp is not None:
            assert client.get(client.parameter_names().index("kp"), 1)[0] == kp
        if stored is not None:
            assert client.read_image(1) == stored
    finally:
        client.line.close()


class Reads:
    """Corrupts `times` answers to IMAGE_READ of one image (0 running, 1 stored), once the request
    `after` was answered."""

    def __init__(self, which, after, times):
        self.which, self.after, self.times, self.armed, self.asked = which, after, times, False, None

    def __call__(self, content):
        self.armed |= content[0] == self.after | wire.ANSWER
        if content[0] == wire.IMAGE_READ:
            self.asked = content[2]
        hits = content[0] == wire.IMAGE_READ | wire.ANSWER and self.asked == self.which and self.armed
        if hits and self.times > 0 and len(content) > 20:  # corrupts the image, not its header
            self.times -= 1
            return flipped(content)
        return content


def test_a_change_that_is_read_back_wrong_is_rolled_back(folder):
    """If one readback differs, the previous arm with its unsaved parameters is restored and
    verified."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)
        good("set", "kp[2]", "77", "--port", board.port)
        with Between(folder, board, Reads(0, wire.IMAGE_END, 1)) as line:
            done = run("flash", "puma560", "--no-save", "--port", line.port)
        assert done.returncode == 1 and "applied" not in done.stdout, done
        assert "the bytes that were read back differ from those that were sent" in done.stderr, done.stderr
        assert "the previous robot was put back and verified" in done.stderr, done.stderr
        has_arm(board, "planar3r", kp=77)
        # If every readback is wrong, the message does not claim that the previous robot runs.
        with Between(folder, board, Reads(0, wire.IMAGE_END, 10**6)) as line:
            done = run("flash", "puma560", "--no-save", "--port", line.port)
        assert done.returncode == 1 and "could not be put back" in done.stderr, done


def test_a_change_that_the_board_refuses_leaves_what_ran(folder):
    """Bytes change on the line although the frame checksum is valid; the checksum of the image
    detects this."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)
        good("set", "kp[2]", "77", "--port", board.port)
        for spoils in (lambda c: flipped(c) if c[0] == wire.IMAGE_DATA else c,
                       lambda c: flipped(c, 2) if c[0] == wire.IMAGE_BEGIN else c):
            with Between(folder, board, spoils) as line:
                done = run("flash", "puma560", "--no-save", "--port", line.port)
            assert done.returncode == 1 and "the board refuses" in done.stderr, done
            assert "the previous robot still runs" in done.stderr and "applied" not in done.stdout, done
            has_arm(board, "planar3r", kp=77)


def test_a_line_that_breaks_during_a_change_leaves_what_ran(folder):
    def breaks(content):
        if content[0] == wire.IMAGE_DATA:
            raise EOFError
        return content
    with Board(folder, "netduinoplus2") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)
        with Between(folder, board, breaks) as line:
            done = run("flash", "puma560", "--no-save", "--port", line.port)
        assert done.returncode == 1 and "the line to the board was closed" in done.stderr, done
        assert "could not be put back" in done.stderr, done.stderr  # the tool cannot know what runs
        has_arm(board, "planar3r")
        assert "applied" in good("flash", "puma560", "--no-save", "--port", board.port)


def test_answers_that_get_lost_are_asked_for_again(folder):
    """The first answers to two kinds of requests are dropped. Everything is done once, and the
    result is right."""
    lose = {wire.IMAGE_DATA, wire.IMAGE_READ}

    def swallows(content):
        if content[0] & wire.ANSWER and content[0] & 0x7f in lose:
            lose.remove(content[0] & 0x7f)
            return None
        return content
    with Board(folder, "netduinoplus2") as board:
        with Between(folder, board, swallows) as line:
            assert "applied" in good("flash", "planar3r", "--no-save", "--port", line.port)
        assert not lose
        has_arm(board, "planar3r")


def test_what_is_stored_wrong_is_rolled_back(folder):
    """The stored set is read back wrong, so store, arm and parameters are restored."""
    before = image_of(folder, "planar3r")
    with Board(folder, "mps2-an500") as board:
        good("flash", "planar3r", "--port", board.port)
        good("set", "kp[2]", "77", "--port", board.port)
        good("save", "--port", board.port)
        good("set", "kp[2]", "78", "--port", board.port)
        with Between(folder, board, Reads(1, wire.SAVE, 1)) as line:
            done = run("flash", "puma560", "--port", line.port)
        assert done.returncode == 1 and "saved" not in done.stdout, done
        assert "what is stored differs from what ran before" in done.stderr, done.stderr
        assert "the previous robot was put back and verified" in done.stderr, done.stderr
        has_arm(board, "planar3r", kp=78, stored=before)
        client = wire.Client(board.connect())
        client.ask(wire.RESET, struct.pack("<I", 0x4c504152))
        client = wire.Client(client.line)
        assert client.robot()[0] == "planar3r"


# --------------------------------------------------------------------------------------- a hostile board

class Hostile:
    """Changes the texts with which a board describes itself: letters become an escape, a line end, a byte that is not UTF-8, and quotes.
    With `names` only the names of board, robot and joints are changed, so that the tool still finds parameters and fields."""
    LETTERS = bytes.maketrans(b"enati", b"\x1b\n\x9b'\"")

    def __init__(self, names):
        self.names, self.asked = names, None

    def __call__(self, content):
        texts = len(content)
        if content[0] == wire.DESCRIBE:
            self.asked = content
        elif content[0] == wire.HELLO | wire.ANSWER:
            texts = 14
        elif content[0] == wire.DESCRIBE | wire.ANSWER:
            topic, offset = self.asked[2], struct.unpack("<H", self.asked[4:6])[0]
            if topic == wire.ROBOT or (topic < wire.CHOICE and not self.names):
                texts = 5 + (max(0, 14 - offset) if topic == wire.PARAMETER else 0)
        return content[:texts] + content[texts:].translate(self.LETTERS)


def on_terminal(*words):
    """Runs the program on a terminal and returns what it prints there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(tool.PROGRAM, [tool.PROGRAM, *words])
    seen = b""
    while True:
        try:
            seen += os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
    os.waitpid(pid, 0)
    os.close(terminal)
    return seen


def test_texts_of_a_hostile_board_are_printable(folder):
    """No command prints a control character that the board sends, and a picture shows the names."""
    svg, csv = os.path.join(folder, "m.svg"), os.path.join(folder, "m.csv")
    some = ["monitor", "--fields", "q,tau", "--count", "50", "--every", "10"]
    found = [["get", "kp"], ["set", "kp[no]", "1"], ["monitor", "--fields", "no"], ["selftest", "planar3r", "-N", "2"],
             ["flash", "planar3r", "--dry-run"], ["home"]]
    with Board(folder, "netduinoplus2") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)

        def ask(words, names):
            with Between(folder, board, Hostile(names)) as line:
                return tool.printable(*words, "--port", line.port)
        for words in (["status"], ["save"], ["clear"], ["crash"], some, [*some, "-o", csv, "--plot", svg],
                      ["demo", "planar3r", "-o", folder], *found):
            done = ask(words, True)
            assert "\\x1b" in done.stdout + done.stderr or words == ["home"], done
        for words in (["get"], *found):
            done = ask(words, False)
            assert "\\x1b" in done.stdout + done.stderr, done
        assert json.loads(ask(["status", "--json"], True).stdout)["board"] == "\\x0a\\x1b'du\"\\x0aoplus2"
        with open(svg, encoding="utf-8") as file:
            texts = html.unescape(file.read())
        assert "pl\\x9b\\x0a\\x9br3r on \\x0a\\x1b'du\"\\x0aoplus2" in texts and "f\"rs'" in texts and "'h\"rd" in texts, texts
        with open(csv, encoding="utf-8") as file:
            assert not tool.CONTROL.search(file.read())
        with Between(folder, board, Hostile(True)) as line:
            seen = on_terminal(*some, "--port", line.port).decode()
        controls = r"\x1b\[(H|J|2K|\?1049[hl])|\r\n"  # those of the live screen
        assert "\x1b[H" in seen and not tool.CONTROL.search(re.sub(controls, "", seen)), seen


# ------------------------------------------------------------------------------------- noise, crashes

class Counted(socket.socket):
    """A connection to a board; it counts the bytes sent over it."""
    bytes_sent = 0

    def send(self, data):
        taken = super().send(data)
        self.bytes_sent += taken
        return taken

    def sendall(self, data):
        super().sendall(data)
        self.bytes_sent += len(data)


def flood(client, numbers, count):
    """Sends noise as fast as the emulator takes it; discards answers in between."""
    left = count
    while left > 0:
        chunk = numbers.randbytes(min(4096, left))
        left -= len(chunk)
        while chunk:
            ready_in, ready_out, _ = select.select([client.line], [client.line], [], TIMEOUT_S)
            assert ready_in or ready_out, "the board takes no more bytes"
            if ready_in:
                client.line.recv(65536)
            if ready_out:
                chunk = chunk[client.line.send(chunk[:512]):]
    client.line.sendall(b"\0")
    client.received = b""
    return count + 1


def test_noise_into_the_running_board(folder):
    """After noise there is no fault and no missed tick, and the board answers. The test also counts
    the bytes that are lost.

    Bytes are lost if the ring of the receiver (256 bytes, hal/stm32/uart.c) is full. An answer
    shows that the ring was empty after its request was read. So noise plus the next request, if
    together smaller than the ring, lose nothing, and the test asserts every byte. A flood comes
    faster than any line: a part of it is lost and counted, and the board must survive it. The
    request after the flood may be lost, too, and is repeated.
    """
    noise, ring, request = 200, 256, len(wire.encode(bytes([wire.COUNTERS, 0])))
    assert noise + request < ring
    numbers = random.Random(9)
    image = image_of(folder, "puma560")
    with Board(folder, "netduinoplus2") as board:
        line = Counted(fileno=board.connect().detach())
        client = wire.Client(line)
        client.apply(image)
        client.led(wire.MOTION, struct.pack("<Bf", 0, 0))  # the loop is closed and stays closed
        before, counted = words_of(client.ask(wire.COUNTERS)), line.bytes_sent
        flooded = flood(client, numbers, NOISE_BYTES // 3)
        client.ask(wire.COUNTERS)
        # From here on nothing may be lost, and all repetitions come before the next answer.
        client.timeout_s = TIMEOUT_S
        first = after = words_of(client.ask(wire.COUNTERS))
        assert after[8] < flooded, f"all of {flooded} bytes lost"
        sent = 0
        while sent < NOISE_BYTES - flooded:
            client.line.sendall(numbers.randbytes(noise) + b"\0")
            sent += noise + 1
            last, after = after, words_of(client.ask(wire.COUNTERS))
            told = line.bytes_sent
            assert after[8] == last[8], f"{after[8] - last[8]} bytes lost of the last {noise + request}"
            assert after[0] >= last[0] and after[4] == last[4] + 1, (last, after)
        status = client.ask(wire.STATUS)
        assert status[0] == 3 and status[1] == 0, f"state {status[0]}, fault {status[1]}"
        assert after[1] == 0, f"{after[1]} overruns"
        arrived, expected = after[7] - before[7], told - counted
        assert arrived == expected, f"{arrived} of {expected} bytes arrived"
        assert after[5] + after[6] > (flooded - after[8] + sent) / 1000, after
        print(f"NOTE {flooded} bytes of a flood, {first[8] - before[8]} of them lost; {sent} bytes of noise, none lost; "
              f"{after[0] - before[0]} ticks, {after[5]} damaged and {after[6]} overlong frames, 0 overruns")
        if not tool.LONG_RUN:
            print(f"measured link.flood_bytes {flooded}\nmeasured link.flood_lost {first[8] - before[8]}\n"
                  f"measured link.noise_bytes {sent}")


# For each board the address of a counter of virtual time in the emulator, and its steps per second.
CLOCKS = {"netduinoplus2": (0x40000c24, 1_000_000_000), "netduino2": (0x40000c24, 1_000_000_000),
          "mps2-an500": (0x40028018, 25_000_000)}


def ticks_apart(board):
    """Returns the seconds between successive ticks in the time of the emulator, which stops while
    gdb has the board."""
    address, hz = CLOCKS[board.name]
    seen = board.gdb("break tick_interrupt", *(["continue", f"output *(unsigned *){address}", "echo \\n"] * 6), "delete")
    counts = [int(line) for line in re.findall(r"^(\d+)$", seen, re.M)]
    assert len(counts) == 6, seen
    return [(b - a) % 2**32 / hz for a, b in zip(counts, counts[1:])]


def test_the_tick_is_right_after_a_reset(folder):
    for name in CLOCKS:
        with Watched(folder, name) as board:
            client = wire.Client(board.connect())
            for start in ("power-up", "a reset"):
                # The limit of 10 us is 1,250 instructions of 8 ns. A tick waits for code that runs
                # with interrupts off, which is far shorter.
                apart = ticks_apart(board)
                assert all(abs(s - 1e-3) <= 1e-5 for s in apart), f"{name}, after {start}: {apart}"
                client.ask(wire.RESET, struct.pack("<I", 0x4c504152))
                client = wire.Client(client.line)


def crash(folder, board_name):
    with Watched(folder, board_name) as board:
        client = wire.Client(board.connect())
        assert client.ask(wire.CRASH, b"\0\0\0") == b"\0\0"
        board.gdb("set $r5 = 0x600d0005", "set $lr = (unsigned)server_poll + 5", "set $pc = 0x90000000")
        client.line.close()
        out = good("crash", "--port", board.port, "--firmware", firmware(board_name), "--leave")
        assert re.search(r"^pc +90000000$", out, re.M), out
        assert re.search(r"^lr +[0-9a-f]{8}  server_poll \+ 4$", out, re.M), out
        assert "600d0005" in out and "number 1 since power-up" in out, out
        assert "crash" in good("crash", "--port", board.port, "--firmware", firmware(board_name))
        assert "no crash since power-up" in good("crash", "--port", board.port)


def test_crash_is_dumped_with_names(folder):
    crash(folder, "mps2-an500")


def test_crash_on_an_stm32(folder):
    crash(folder, "netduinoplus2")


if __name__ == "__main__":
    sys.exit(tool.main(globals()))
