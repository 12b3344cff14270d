#!/usr/bin/env python3
"""Tests `appell monitor`: the live screen, its prompt, samples that go on after a reset or a pulled cable, and silent ports.

    test_monitor.py [PROGRAM [PATTERN]]
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import tty
from fcntl import ioctl

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from script_frame import Skip  # noqa: E402
from test_appell import PROGRAM, TIMEOUT_S, good, main, run  # noqa: E402
from test_emulate import Virtual  # noqa: E402
from test_link import Board  # noqa: E402
from test_link_wrong import Between  # noqa: E402

ESCAPE = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


# ---------------------------------------------------------------------------------- samples after a gap

class Rows:
    """A monitor that writes CSV into a pipe."""

    def __init__(self, port, *options):
        self.process = subprocess.Popen([PROGRAM, "monitor", "--port", port, "--fields", "q,tau", "--every", "20", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.head = self.process.stdout.readline()
        self.tick = self.time = -1
        self.next()

    def next(self):
        """Returns the tick of the next row. Time goes on whatever happens to the board."""
        row = self.process.stdout.readline()
        assert row.count(",") == self.head.count(","), (row, self.process.stderr.read() if not row else "")
        tick, now = row.split(",")[:2]
        assert float(now) > self.time, (row, self.time)
        self.tick, self.time = int(tick), float(now)
        return self.tick

    def settle(self):
        """Reads until the ticks are so many that their new beginning can be seen: a monitor asks a second after the last sample."""
        while self.next() < 4000:
            pass

    def reset(self):
        """Reads until the ticks have begun again: then they are no longer the seconds at 1000 Hz."""
        before = self.time - self.tick / 1000
        while abs(self.time - self.tick / 1000 - before) < 0.1:
            self.next()

    def says(self, words):
        """Reads notes until one has these words."""
        note = self.process.stderr.readline()
        while note and words not in note:
            note = self.process.stderr.readline()
        assert words in note, words
        return note

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.rest = self.process.stdout.read()
        self.notes = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert self.process.wait() == 0, self.notes


def test_twenty_resets_in_a_row(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Rows(board.port) as rows:
        for _ in range(20):
            rows.settle()
            good("emulate", "--reset", "-q")
            rows.reset()
            assert "the board was reset at" in rows.says("samples come again")
    # a pause of a busy machine is one more
    assert int(re.search(r"interrupted (\d+) times", rows.notes).group(1)) >= 20, rows.notes


class Cable:
    """A serial device with a stable name and a virtual board behind it; it can be pulled and plugged in again."""

    def __init__(self, folder, board):
        self.name, self.board = os.path.join(folder, "tty"), board
        self.plug()

    def plug(self):
        self.line = self.board.connect()
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.end, self.ended = os.pipe()
        os.symlink(os.ttyname(self.slave), self.name)
        self.thread = threading.Thread(target=self.carry)
        self.thread.start()

    def carry(self):
        while True:
            ready = select.select([self.master, self.line, self.end], [], [])[0]
            if self.end in ready:
                return
            if self.master in ready:
                self.line.sendall(os.read(self.master, 4096))
            if self.line in ready:
                os.write(self.master, self.line.recv(4096))

    def pull(self):
        os.unlink(self.name)
        os.close(self.ended)
        self.thread.join()
        self.line.close()
        for file in (self.end, self.slave, self.master):
            os.close(file)


def test_pulled_cable(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        cable = Cable(folder, board)
        with Rows(cable.name) as rows:
            for _ in range(3):
                cable.pull()
                rows.says("the line was closed at")
                cable.plug()
                rows.says("samples come again")
                before = rows.tick
                while rows.next() < before + 1000:  # more than the rows that waited in the pipe
                    pass
        cable.pull()


def test_virtual_board_that_ends_and_starts_again(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Rows(board.port) as rows:
        rows.settle()
        good("emulate", "--stop", "-q")
        rows.says("the line was closed at")
        good("emulate", "netduinoplus2", "--detach", "-q")
        rows.reset()
        rows.says("samples come again")


def test_time_goes_on_when_ticks_wrap_around_or_go_back(folder):
    """2^32 ticks are 50 days at 1000 Hz, so the line adds nearly as many; later it takes 2000 away, as if a reset was not seen."""
    first = []

    def shift(content):
        if content[0] != wire.SAMPLE:
            return content
        tick = struct.unpack_from("<I", content, 2)[0]
        first.extend([tick] * (not first))
        since = tick - first[0]
        return content[:2] + struct.pack("<I", (since - (1000 if since < 4000 else 3000)) % 2**32) + content[6:]

    with Virtual("netduinoplus2", "--robot", "puma560") as board, Between(folder, board, shift) as line, Rows(line.port) as rows:
        began, start = rows.time, rows.tick
        while not 1000 <= rows.next() < 2**31:
            pass
        # nine digits are printed, so that each time is rounded to 0.01 s
        assert abs(rows.time - began - (rows.tick - start) % 2**32 / 1000) < 0.011, (began, start, rows.time, rows.tick)
        before = rows.tick
        while rows.next() > before:
            before = rows.tick
        assert rows.time < began + TIMEOUT_S, (began, rows.time)


def test_robot_that_is_gone_after_the_reset(folder):
    with Virtual("netduinoplus2") as board:
        none = run("monitor", "--count", "1")
        assert none.returncode == 1 and "no robot, so it sends no samples" in none.stderr, none.stderr
        good("flash", "puma560", "--no-save", "-q")  # not saved
        with Rows(board.port) as rows:
            rows.settle()
            good("emulate", "--reset", "-q")
            rows.says("the board has no robot")
            good("flash", "puma560", "--no-save", "-q")
            rows.says("samples come again")
            rows.reset()


def test_other_robot_does_not_fit_the_file(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        process = subprocess.Popen([PROGRAM, "monitor", "--port", board.port, "--every", "20", "--fields", "q", "-o", "-"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        good("flash", "planar3r", "--no-save", "-q")
        out, error = process.communicate()
        assert process.returncode == 1 and "planar3r does not fit the rows before it" in error, error
        assert {row.count(",") for row in out.splitlines()} == {7}, out[-300:]


def test_json_lines_and_misspelt_fields(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        rows = [json.loads(row) for row in good("monitor", "--json", "--fields", "q,state", "--count", "3").splitlines()]
        assert len(rows) == 3 and all(len(row) == 9 and row["state"] == 1 and "q[elbow]" in row for row in rows), rows
        wrong = run("monitor", "--fields", "q,tua", "--count", "1")
        assert wrong.returncode == 1 and "did you mean 'tau'?" in wrong.stderr, wrong.stderr


# ------------------------------------------------------------------------------------------ silent ports

def check_silent(sent, *words):
    """The program may take 2 s from its first question to its verdict. A busy machine only makes it slower, so one try in time is enough."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    took = []
    while not took or (min(took) >= 2 and len(took) < 5):
        termios.tcflush(ours, termios.TCIOFLUSH)
        process = subprocess.Popen([PROGRAM, "get", "kp", "--port", os.ttyname(theirs)], stderr=subprocess.PIPE, text=True)
        assert select.select([ours], [], [], TIMEOUT_S)[0], process.poll()
        began = time.monotonic()
        os.read(ours, 1)
        os.write(ours, sent)
        said = process.stderr.readline()
        took.append(time.monotonic() - began)
        said += process.communicate(timeout=TIMEOUT_S)[1]
        assert process.returncode == 2 and "does not answer" in said and all(word in said for word in words), said
    os.close(ours)
    os.close(theirs)
    assert min(took) < 2, took


def test_silent_port_is_told_within_two_seconds(folder):
    check_silent(b"", "nothing comes from this port", "baud rate")


def test_text_of_another_program_is_shown(folder):
    check_silent(b"Booting\r\nlogin: \x1b[0m", '"Booting\\x0d\\x0alogin: \\x1b[0m"', "another program")


def test_noise_is_told(folder):
    check_silent(bytes(range(128, 256)), "noise (80 81 82 83 ...)", "DEVICE@BAUD")


# ---------------------------------------------------------------------------------------------- the screen

class Screen:
    """A monitor on a terminal of 80 x 24."""

    def __init__(self, port, *options, **environment):
        self.ours, self.theirs = pty.openpty()
        ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen([PROGRAM, "monitor", "--port", port, *options], stdin=self.theirs, stdout=self.theirs,
                                        stderr=self.theirs, start_new_session=True, env={**os.environ, **environment},
                                        preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0))  # so that control-C is a signal
        self.seen = b""

    def read(self):
        self.seen += os.read(self.ours, 65536)

    def shown(self):
        """Returns the last whole screen as text, with colours."""
        frames = self.seen.split(b"\x1b[H")
        return frames[-2].decode() if len(frames) > 2 else ""

    def wait(self, pattern):
        """Waits until the screen shows this; a monitor that ends meanwhile is an error."""
        until = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, ESCAPE.sub("", self.shown())):
            assert self.process.poll() is None and time.monotonic() < until, (pattern, self.seen[-2000:])
            if select.select([self.ours], [], [], 1)[0]:
                self.read()
        return self.shown()

    def type(self, text):
        os.write(self.ours, text.encode())

    def line(self, text, pattern):
        self.type(text + "\n")
        return self.wait(pattern)

    def end(self, code=0):
        """Returns what is on the terminal after the end; its settings are as before."""
        until = time.monotonic() + TIMEOUT_S
        while self.process.poll() is None or select.select([self.ours], [], [], 0)[0]:
            assert time.monotonic() < until, self.seen[-2000:]
            if select.select([self.ours], [], [], 0.1)[0]:
                self.read()
        assert self.process.returncode == code, self.seen[-500:]
        assert termios.tcgetattr(self.theirs) == self.before
        after = self.seen.split(b"\x1b[?1049l")
        assert len(after) == 2, self.seen[-500:]
        os.close(self.ours)
        os.close(self.theirs)
        return after[1].decode()


def test_terminal_is_restored(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, "quit\n", "\x03"):
            screen = Screen(board.port, "--fields", "q,tau")
            screen.wait("flange +\\S+ +\\S+")
            if isinstance(end, str):
                screen.type(end)
            else:
                screen.process.send_signal(end)
            left = screen.end()
            assert "flange" in left and re.search(r"note: \d+ samples, every \d+ ticks", left), left


def slow_arm(folder):
    """Returns a PUMA whose motions take so long that they are seen on the screen although the emulator outruns the host."""
    path = os.path.join(folder, "slow.yaml")
    with open("tools/robots/puma560.yaml") as file, open(path, "w") as slow:
        slow.write(re.sub(r"velocity: [\d.]+", "velocity: 0.05", file.read()))
    return path


def test_prompt(folder):
    """The emulator counts instructions, so that no tick is lost on a busy machine; it outruns the host, so the lease is long."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", slow_arm(folder), "--no-save", "--port", board.port)
        screen = Screen(board.port, "--fields", "q,tau", "--every", "20", APPELL_LEASE_MS="60000", NO_COLOR="1")
        screen.wait("puma560  idle\\s+no fault")
        screen.line("set observer_hz 61.5", "observer_hz: 61.5 Hz")
        screen.line("get kp[elbow]", r"kp\[elbow\]: \d")
        screen.line("set observer_hz 1e9", "refuses")
        screen.line("stpo", "did you mean stop")
        screen.line("move 1,2", "not moved: the arm has 6 joints")
        screen.line("move x,0,0,0,0,0", "not moved: 'x,0,0,0,0,0' is not a list")
        screen.type("move 0,0,0.1,0,0,0")  # typed, but not sent
        shown = screen.wait("> move 0,0,0.1,0,0,0")
        assert "puma560  idle" in shown, shown
        screen.type("\x15")  # erases the line
        screen.line("move 0.2,0,0,0,0,0", "the arm is at rest; the board goes on holding it")
        shown = screen.wait("running, holds")
        assert re.search("waist +0.2 ", shown), shown
        screen.line("move -2,0,0,0,0,0", r"(?s)running, moves.*waist +(-|0\.[01])")  # is on its way
        screen.type("set kp")  # control-X stops, whatever was typed
        screen.type("\x18")
        shown = screen.wait("(?s)puma560  idle.*the arm is at rest: .* the outputs are off.*> set kp")  # the arm has brakes
        waist = float(re.search(r"waist +(\S+)", shown).group(1))
        assert -2 < waist < 0.2, shown
        screen.type("\x15")
        screen.line("move 2,0,0,0,0,0", "running, moves")
        screen.type("quit\n")
        left = screen.end()
        assert "puma560  idle" in left and "the stop is confirmed: the brakes hold the arm, and the outputs are off" in left, left
        state = json.loads(run("status", "--json", "--port", board.port).stdout)
        assert state["state"] == "idle" and state["leader"] == "", state


def board_state(board):
    return json.loads(run("status", "--json", "--port", board.port).stdout)


def test_motion_without_an_answer_is_stopped(folder):
    """The board gets the motion, and its answer is lost: nobody knows whether the arm moves, so it is stopped."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", "puma560", "--no-save", "--port", board.port)
        asked = []

        def lose(content):
            asked.append(content[0])
            return None if content[0] == wire.MOTION | wire.ANSWER else content

        with Between(folder, board, lose) as line:
            screen = Screen(line.port, "--fields", "q,tau", "--every", "20", APPELL_LEASE_MS="60000", NO_COLOR="1")
            screen.wait("puma560  idle\\s+no fault")
            screen.line("move 2,0,0,0,0,0", r"(?s)puma560  idle.*the motion was not confirmed, so a stop was sent")
            assert wire.STOP in asked[asked.index(wire.MOTION):], asked
            screen.type("quit\n")
            screen.end()
        assert board_state(board)["state"] == "idle" and board_state(board)["leader"] == "", board_state(board)


def check_lost_after_stop(folder, lost, words):
    """From the stop at the end on, the answers to one request are lost."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", "puma560", "--no-save", "--port", board.port)
        stops = []

        def lose(content):
            stops.extend([True] * (content[0] == wire.STOP))
            return None if stops and content[0] == lost | wire.ANSWER else content

        with Between(folder, board, lose) as line:
            screen = Screen(line.port, "--fields", "q,tau", "--every", "20", APPELL_LEASE_MS="60000", NO_COLOR="1")
            screen.wait("puma560  idle")
            screen.type("move 2,0,0,0,0,0\nquit\n")  # at once, because the emulator outruns the host
            left = screen.end()
        assert words in left, left


def test_stop_at_the_end_that_is_not_confirmed(folder):
    check_lost_after_stop(folder, wire.STOP, "THE STOP IS NOT CONFIRMED")


def test_state_after_the_end_that_is_not_known(folder):
    check_lost_after_stop(folder, wire.FAULT, "the stop is confirmed; the state is not known: ")


def test_prompt_does_not_switch_a_real_arm_on(folder):
    """No emulator has the outputs of a real arm: the answers say that this one has."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", "puma560", "--no-save", "--port", board.port)
        client = wire.Client(board.connect())
        arm, asked = client.parameter_names().index("arm"), []
        client.line.close()

        def pretend(content):
            asked.append(content[:4])
            if content[0] == wire.GET | wire.ANSWER and [a for a in asked if a[:2] == bytes([wire.GET, content[1]])][-1][2] == arm:
                return content[:3] + struct.pack("<f", 1) + content[7:]
            return content

        with Between(folder, board, pretend) as line:
            screen = Screen(line.port, "--fields", "q,tau", "--every", "20", NO_COLOR="1")
            for words in ("move 0.2,0,0,0,0,0", "hold"):
                screen.wait("puma560  idle")
                screen.line(words, r"(?s)the outputs of the real arm are off.*`appell\s+hold`.*>\s*$")
                screen.line("get rate_hz", "rate_hz: 1000 Hz")  # another event
            screen.type("quit\n")
            screen.end()
        assert wire.MOTION not in [a[0] for a in asked] and board_state(board)["state"] == "idle", asked[-20:]


def test_limits_are_marked(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        screen = Screen(board.port, "--fields", "q")
        screen.line("set position_lower[waist] -0.001", "position_lower")
        shown = screen.wait("waist +0!|waist +0#")
        assert re.search("\x1b\\[3[13]m +0[!#]\x1b\\[0m", shown), shown
        screen.type("quit\n")
        screen.end()


# ------------------------------------------------------------------------------------------------- in tmux

TWELVE = """name: twelve
convention: dh
gravity: [0, -9.81, 0]
joints:
""" + "".join(f"""  - name: joint_{i}
    type: revolute
    dh: {{theta: 0, d: 0, a: 0.1, alpha: 0}}
    link: {{mass: 0.1, com: [-0.05, 0, 0], inertia: [1e-05, 0.0001, 0.0001, 0, 0, 0]}}
    limits: {{position: [-3, 3], velocity: 3, acceleration: 10}}
""" for i in range(1, 13))


class Tmux:
    """A terminal of 80 x 24 in tmux, which runs the program."""

    def __init__(self, folder, *words):
        if not shutil.which("tmux"):
            raise Skip("tmux is not installed")
        self.socket = os.path.join(folder, "tmux")
        self.run("-f", os.devnull, "new-session", "-d", "-x", "80", "-y", "24", *words)

    def run(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True, text=True).stdout

    def wait(self, pattern):
        until = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, shown := self.run("capture-pane", "-p")):
            assert time.monotonic() < until, (pattern, shown)
            time.sleep(0.05)
        return shown

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)


def test_twelve_joints_fit_80_by_24_in_tmux(folder):
    path = os.path.join(folder, "twelve.yaml")
    with open(path, "w") as file:
        file.write(TWELVE)
    with Virtual("netduinoplus2", "--robot", path) as board, \
            Tmux(folder, PROGRAM, "monitor", "--port", board.port, "--fields", "tick,state,limited,cost,q,qd,q_ref,qd_ref,tau,volt") as window:
        for key, page in ((None, "fields 1/2"), ("Right", "fields 2/2"), ("Left", "fields 1/2"), ("PageDown", "joints 1/1")):
            if key:
                window.run("send-keys", key)
            shown = window.wait(f"(?s)joint_12.*{page}")
            assert len(shown.splitlines()) <= 24 and all(f"joint_{i} " in shown for i in range(1, 13)), shown
            assert shown.startswith(("netduinoplus2  twelve  idle", "NO SAMPLES")), shown
        assert window.run("display-message", "-p", "#{history_size}").strip() == "0"  # nothing has scrolled
        window.run("send-keys", "quit", "Enter")


if __name__ == "__main__":
    sys.exit(main(globals()))
