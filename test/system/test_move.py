#!/usr/bin/env python3
"""Tests the commands that move the arm of a board: hold, move, jog, stop, release, and control-C.

The virtual board runs in the time of its host as well as it can, so times are counted in ticks of the
board, by a second program that receives samples through the shared port.

    test_move.py [PROGRAM [PATTERN]]
"""
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import PROGRAM, good, run, table  # noqa: E402
from script_frame import main  # noqa: E402
from test_emulate import Virtual  # noqa: E402

IDLE, HOMING, RUNNING, STOPPING, FAULT, DAMPING = range(1, 7)
PAUSED = "0,0.8,-1.6,0,0.3,0"  # a pose in the middle of the PUMA's range
FAR = "1.5,1.5,-2.5,1,1,1"
# From the robot file: velocity and acceleration limits, encoder counts per turn of the joint.
VELOCITY = [1.4, 0.9, 2.1, 3.9, 4.2, 4.5]
ACCELERATION = [6, 6, 10, 20, 20, 20]
RATIO = [62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686]
COUNT = [2 * math.pi / (1000 * r) for r in RATIO]
REACH_M = 0.4318 + 0.4323 + 0.15005  # lengths of the PUMA from its shoulder on
EVERY = 5  # ticks between samples
HANG_S = 120  # only against hangs
HELD, BRAKED = "the loop holds the arm", "the brakes hold the arm, and the outputs are off"


def braking_ticks(rate=1000):
    """The longest braking within the limits, and two samples: the one before and the one after."""
    return max(v / a for v, a in zip(VELOCITY, ACCELERATION)) * rate + 2 * EVERY


class Watch:
    """Receives samples of a virtual board in a thread, beside other programs."""
    FIELDS = ("state", "q", "q_ref", "q_arm", "qd")

    def __init__(self, board):
        self.client = wire.Client(board.connect())
        described = [self.client.field(i) for i in range(self.client.fields)]
        names = [f[0] for f in described]
        joints = len(self.client.robot()[1])
        self.shape = [(name, joints if described[names.index(name)][1] else 1, *described[names.index(name)][2:])
                      for name in self.FIELDS]
        self.client.stream([names.index(name) for name in self.FIELDS], EVERY, 100000000)
        self.samples, self.ended, self.news = [], False, threading.Condition()
        self.thread = threading.Thread(target=self.receive)
        self.thread.start()

    def receive(self):
        while not self.ended:
            for content in self.client.frames(0.1):
                if content[0] == wire.SAMPLE:
                    self.take(content[2:])

    def take(self, payload):
        sample, at = {"tick": struct.unpack_from("<I", payload)[0]}, 8
        for name, count, kind, exponents in self.shape:
            words = payload[at:at + 4 * count]
            at += 4 * count
            sample[name] = struct.unpack("<%d%s" % (count, "Ifi"[kind]), words)
            if kind == 2:
                sample[name] = [raw * 2.0 ** (exponents[i] - 28) for i, raw in enumerate(sample[name])]
        word = sample["state"][0]
        sample.update(state=word & 0xff, fault=word >> 8 & 0xff, moving=bool(word >> 16 & 1))
        with self.news:
            self.samples.append(sample)
            self.news.notify_all()

    def renew(self):
        """Allows more samples: when a lease lapses, the board chooses its fields again, and no credit is left."""
        self.client.sequence = (self.client.sequence + 1) & 255
        self.client.line.sendall(wire.encode(bytes([wire.CREDIT, self.client.sequence]) + struct.pack("<I", 100000000)))

    def now(self):
        with self.news:
            return len(self.samples)

    def wait(self, what, since=0):
        """Returns the index of the first sample from `since` on for which what(sample) is true."""
        until = time.monotonic() + HANG_S
        with self.news:
            while True:
                while since < len(self.samples):
                    if what(self.samples[since]):
                        return since
                    since += 1
                assert time.monotonic() < until, f"waited in vain; the last sample is {self.samples[-1:]}"
                self.news.wait(1)

    def moving(self, since=0):
        """Waits until a joint has a tenth of its velocity limit, so that there is something to stop."""
        return self.wait(lambda s: any(abs(v) > limit / 10 for v, limit in zip(s["qd"], VELOCITY)), since)

    def after(self, ticks, since):
        first = self.samples[since]["tick"]
        return self.wait(lambda s: s["tick"] - first >= ticks, since)

    def rests(self, since):
        """Checks that the arm rests: the reference does in this sample, the control loop settles in a fifth of a second, and a
        quarter of a second later the arm is in the same place."""
        since = self.after(200, since)
        later = self.after(250, since)
        for name in ("q", "q_arm"):
            for i, count in enumerate(COUNT):
                off = abs(self.samples[later][name][i] - self.samples[since][name][i])
                assert off <= 1.001 * count, f"{name}[{i}] moves by {off} after the stop, a count is {count}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()
        self.client.line.close()


class Program:
    """A program that runs beside the test."""

    def __init__(self, *arguments, keys=None, **environment):
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        if keys is not None:
            self.process.stdin.write(keys)
            self.process.stdin.flush()

    def end(self, number=None):
        """Sends a signal, waits, and returns exit code, standard output and standard error."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=HANG_S)
        assert "Sanitizer" not in err and "runtime error" not in err, err[-2000:]
        return self.process.returncode, out, err


def state():
    return json.loads(run("stop", "--json", "-q").stdout)


def moved(to=PAUSED, *options):
    return json.loads(good("move", "--to", to, "--json", "-q", *options))


def without_brakes():
    """Takes the brakes away from an arm that is held: with the outputs off it would fall until the next command."""
    good("hold", "-q")
    good("set", "brakes", "0", "-q")


MOTIONS = {
    "quintic": ("move", "--to", FAR, "--duration", "6"),
    "trapezoid": ("move", "--to", FAR, "--profile", "trapezoid", "--duration", "6"),
    "cycloid": ("move", "--to", FAR, "--profile", "cycloid", "--duration", "6"),
    "line": ("move", "--pose", "0.5,0.15,-0.2,0,3.1416,0", "--line", "--duration", "8"),
    "jog": ("jog", "--speed", "1"),
}
LINE_START = ("move", "--pose", "0.5,0.15,0.3,0,3.1416,0")


def start(name):
    return Program(*MOTIONS[name], "-q", keys="1" + "+" * 200 if name == "jog" else None)


def check_stopped(watch, since, rest=IDLE):
    """Checks the stop after sample `since`: braked in time, and at rest."""
    first = watch.wait(lambda s: s["state"] == STOPPING, since)
    last = watch.wait(lambda s: s["state"] == rest and not s["moving"], first)
    took = watch.samples[last]["tick"] - watch.samples[first - 1]["tick"]
    assert took <= braking_ticks(), f"stopped in {took} ticks, {braking_ticks():.0f} are allowed"
    watch.rests(last)


def check_stop_during(name):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        if name == "line":
            good(*LINE_START, "-q")
        with Watch(board) as watch:
            mover = start(name)
            since = watch.moving()
            assert good("stop", "-q").strip() == BRAKED
            assert good("stop", "-q").strip() == BRAKED
            check_stopped(watch, since)
            code, out, err = mover.end()
            said = "(another program has|the arm was) stopped.*" if name == "jog" else "stopped before the target"
            assert code == 1 and re.search(f"^{said}; {BRAKED}$", out, re.MULTILINE), (code, out, err)
            rested = watch.now()
            watch.rests(watch.wait(lambda s: True, rested))  # nothing starts again by itself
            assert watch.samples[-1]["state"] == IDLE


def test_stop_during_quintic(folder):
    check_stop_during("quintic")


def test_stop_during_trapezoid(folder):
    check_stop_during("trapezoid")


def test_stop_during_cycloid(folder):
    check_stop_during("cycloid")


def test_stop_during_line(folder):
    check_stop_during("line")


def test_stop_during_jog(folder):
    check_stop_during("jog")


def test_stop_during_home(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        for name, number in (("home", -1), ("home_position", -2.0)):
            good("set", f"{name}[flange]", number, "-q")
        for number in (None, signal.SIGINT):
            with Watch(board) as watch:
                homing = Program("home", "-q")
                since = watch.wait(lambda s: s["state"] == HOMING and abs(s["qd"][5]) > VELOCITY[5] / 20)
                if number is None:
                    assert good("stop", "-q").strip() == BRAKED
                    code, out, err = homing.end()
                    assert code == 1 and f"stopped before the lower stop was found; {BRAKED}" in err, (code, out, err)
                    assert "found the" not in out and "are homed" not in out, out
                else:
                    code, out, err = homing.end(number)
                    assert code == -number and f"interrupted: {BRAKED}" in err, (code, out, err)
                check_stopped(watch, since)


def test_stop_without_brakes_holds(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        without_brakes()
        moved()
        with Watch(board) as watch:
            mover = start("quintic")
            since = watch.moving()
            assert good("stop", "-q").strip() == HELD
            check_stopped(watch, since, RUNNING)
            code, out, err = mover.end()
            assert code == 1 and f"stopped before the target; {HELD}" in out, (code, out, err)
            assert good("stop", "-q").strip() == HELD
        refused = run("release", "-q")
        assert refused.returncode == 2 and "falls" in refused.stderr and "--yes" in refused.stderr, refused.stderr
        assert state()["outputs"]
        assert "nothing holds the arm: it has no brakes" in good("release", "--yes", "-q")
        assert not state()["outputs"]


def test_stop_in_every_state(folder):
    with Virtual("netduinoplus2"):
        assert "no robot" in good("stop", "-q")
        none = run("move", "--to", PAUSED, "-q")
        assert none.returncode == 2 and "no robot" in none.stderr and "appell flash" in none.stderr, none.stderr
    with Virtual("netduinoplus2", "--robot", "puma560"):
        assert good("stop", "-q").strip() == BRAKED  # idle
        assert HELD in good("hold", "-q")
        assert good("stop", "-q").strip() == BRAKED  # running
        without_brakes()
        moved()
        good("emulate", "--defect", "encoder lost")
        for _ in range(2):  # fault, with the arm damped
            done = run("stop", "-q")
            assert done.returncode == 1 and "only damp" in done.stdout and "fault encoder" in done.stderr, done
        refused = run("hold", "-q")
        assert refused.returncode == 1 and "fault encoder" in refused.stderr and "appell clear" in refused.stderr, refused
        good("emulate", "--defect", "none")
        good("clear", "-q")
        done = good("stop", "-q")  # damping
        assert "only damp" in done and "appell hold" in done, done
        assert HELD in good("hold", "-q")
        assert good("stop", "-q").strip() == HELD


def test_killed_host(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        without_brakes()
        other = wire.Client(board.connect())

        def told():
            now, _, flags, _, tick = struct.unpack_from("<BBBBI", other.ask(wire.STATUS))
            return tick, now, bool(flags & 16)

        with Watch(board) as watch:
            mover = Program("move", "--to", FAR, "--duration", "20", "-q", APPELL_LEASE_MS="1000")
            watch.moving()
            mover.end(signal.SIGKILL)
            seen = [told()]
            while seen[-1][1] != FAULT or seen[-1][2]:
                seen.append(told())
            led = [tick for tick, now, _ in seen if now == RUNNING][-1]
            # The lease lapsed after `led`, and the arm has braked before the last answer; between answers nothing is known.
            unknown = max(b[0] - a[0] for a, b in zip(seen, seen[1:]))
            assert seen[-1][0] - led <= braking_ticks() + 2 * unknown, seen
            watch.renew()
            watch.rests(watch.wait(lambda s: s["state"] == FAULT and not s["moving"]))
            for _ in range(2):
                done = run("stop", "-q")
                assert done.returncode == 1 and done.stdout.strip() == HELD and "fault host" in done.stderr, done
        other.line.close()


def test_stop_while_the_board_lowers_the_arm(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        without_brakes()
        moved()
        with Watch(board) as watch:
            # Now gravity takes more than the motors can give for ever: they get hot, and no stop may hold the arm.
            good("set", "hold_fraction", "0.01", "-q")
            watch.wait(lambda s: s["state"] == FAULT)
            for _ in range(2):
                done = run("stop", "-q")
                assert done.returncode == 1 and "lowers the arm" in done.stdout and "fault thermal" in done.stderr, done


def test_killed_jog_stops_by_the_boards_time(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        timeout = 0.5  # default of jog_timeout_s
        other = wire.Client(board.connect())
        with Watch(board) as watch:
            jog = start("jog")
            since = watch.moving()
            jog.end(signal.SIGKILL)
            # The board answers this after every request of the killed program.
            tick = struct.unpack_from("<I", other.ask(wire.STATUS), 4)[0]
            last = watch.wait(lambda s: not s["moving"], since)
            took = watch.samples[last]["tick"] - tick
            assert took <= timeout * 1000 + braking_ticks(), took
            assert watch.samples[last]["state"] == RUNNING and watch.samples[last]["fault"] == 0
            watch.rests(last)
        other.line.close()


# ------------------------------------------------------------------------------------------------ motions

def pose_of(q):
    return table("fk", "puma560", rows=[q])[0]


def check_arrived(got, target):
    """The loop holds the arm at its reference, which is the target: what is left is its tracking error."""
    assert got["arm"] == HELD and got["state"] == "running" and got["outputs"] and not got["moving"], got
    for q, error, wanted in zip(got["q"], got["error"], target):
        assert abs(q + error - wanted) < 1e-5, got  # rounding of floats and of the printed digits
        assert abs(error) < 0.005, got  # stiction that the gains of the robot file leave


def test_move_reaches_its_target(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        target = [float(x) for x in PAUSED.split(",")]
        for options in ((), ("--speed", "0.5")):
            check_arrived(moved(PAUSED, *options), target)
        assert "at the target already" in good("move", "--to", PAUSED)
        other = [x + 0.2 for x in target]
        check_arrived(moved(",".join(map(str, other)), "--profile", "trapezoid", "--speed", "0.7"), other)
        check_arrived(moved(PAUSED, "--profile", "cycloid", "--duration", "1.5"), target)


def test_move_q31(folder):
    with Virtual("netduino2", "--robot", "puma560"):
        check_arrived(moved(), [float(x) for x in PAUSED.split(",")])
        assert good("stop", "-q").strip() == BRAKED


def test_speed_is_a_part_of_the_limits(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        moved()
        with Watch(board) as watch:
            for profile in ("quintic", "trapezoid"):
                since = watch.now()
                moved("0.5,0.8,-1.6,0,0.3,0", "--profile", profile, "--speed", "0.5")
                moved(PAUSED, "--profile", profile, "--speed", "0.5")
                fastest = max(abs(b["q_ref"][0] - a["q_ref"][0]) / (b["tick"] - a["tick"]) * 1000
                              for a, b in zip(watch.samples[since:], watch.samples[since + 1:]))
                # 0.5 rad is too short for full speed: the acceleration is a quarter of its limit, 6 rad/s^2
                peak = {"quintic": (1.875, 10 / math.sqrt(3)), "trapezoid": (2, 4)}[profile]
                seconds = math.sqrt(0.5 * peak[1] / 6) / 0.5
                assert fastest <= 0.5 * VELOCITY[0] and fastest <= 1.02 * 0.5 * peak[0] / seconds, (profile, fastest)
                assert fastest >= 0.9 * 0.5 * 1.0 / seconds, (profile, fastest)


def test_pose_and_line(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        first, last = (0.5, 0.15, 0.3, 0, math.pi, 0), (0.45, -0.1, 0.05, 0.2, math.pi - 0.1, 0.3)
        for pose, options in ((first, ()), (last, ("--line", "--speed", "0.8"))):
            with Watch(board) as watch:
                got = json.loads(good("move", "--pose", ",".join(map(repr, pose)), *options, "--json", "-q"))
            reached = pose_of(got["q"])
            off = sum(abs(e) for e in got["error"]) * REACH_M + 1e-5
            assert math.dist((reached[3], reached[7], reached[11]), pose[:3]) <= off, (reached, pose)
            cr, sr, cp, sp, cy, sy = (f(x) for x in pose[3:] for f in (math.cos, math.sin))
            wanted = (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, sy * cp, sy * sp * sr + cy * cr,
                      sy * sp * cr - cy * sr, -sp, cp * sr, cp * cr)
            turned = [x for i, x in enumerate(reached) if i % 4 != 3]
            assert max(abs(a - b) for a, b in zip(turned, wanted)) <= sum(abs(e) for e in got["error"]) + 1e-5
        way = [s for s in watch.samples if s["moving"]]
        assert len(way) > 50
        length = math.dist(first[:3], last[:3])
        along = [(b - a) / length for a, b in zip(first, last[:3])]
        for field, rows in (("q_ref", table("fk", "puma560", rows=[s["q_ref"] for s in way])),
                            ("q_arm", table("fk", "puma560", rows=[s["q_arm"] for s in way]))):
            for sample, row in zip(way, rows):
                p = [row[3] - first[0], row[7] - first[1], row[11] - first[2]]
                t = sum(a * b for a, b in zip(p, along))
                beside = math.dist(p, [t * a for a in along])
                # The start is where the arm was; a cubic between nodes 1/25 of the way apart is off by less
                # than (1/25)^4 of it times some derivative; the arm follows with its tracking error.
                lag = sum(abs(a - b) for a, b in zip(sample["q_ref"], sample["q_arm"])) if field == "q_arm" else 0
                assert beside <= 2e-4 + lag * REACH_M, (field, beside, lag)


def test_examples_run(folder):
    """The examples of the help, in their order."""
    with Virtual("netduinoplus2", "--robot", "puma560"):
        ran = 0
        for command in ("hold", "move", "jog", "stop"):
            text = good("help", command)
            for line in re.findall(r"^  \$ (.*)$", text[text.index("\nExample:"):], re.MULTILINE):
                if "--port" in line:
                    continue
                script = re.sub(r"\bappell ", PROGRAM + " ", line)
                done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, timeout=HANG_S)
                assert done.returncode == 0 and (HELD in done.stdout or BRAKED in done.stdout), (line, done)
                ran += 1
        assert ran == 8, ran


def test_impossible_motions_are_refused_before_anything_moves(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        good(*LINE_START, "-q")
        for options, words in ((("--to", "0,9,0,0,0,0"), ("shoulder", "position limits")),
                               (("--to", FAR, "--duration", "0.1"), ("velocity limit", "more time")),
                               (("--pose", "2,0,0,0,0,0"), ("out of reach",)),
                               (("--pose", "1.5,0.15,0.3,0,3.1416,0", "--line"), ("leaves the reach", "% of the way")),
                               (("--pose", "0.5,0.15,0.1,0,3.1416,0", "--line", "--duration", "0.05"),
                                ("% of the line",))):
            done = run("move", *options)
            assert done.returncode == 1 and "nothing has moved" in done.stderr, done.stderr
            assert all(word in done.stderr for word in words), done.stderr
        for options in ((), ("--to", PAUSED, "--line"), ("--to", PAUSED, "--speed", "2"), ("--to", "0,1"),
                        ("--to", PAUSED, "--duration", "-1"), ("--to", PAUSED, "--profile", "cubic")):
            assert run("move", *options).returncode == 2, options
        assert good("stop", "-q").strip() == BRAKED


# ------------------------------------------------------------------------------------- people and signals

def test_one_moves_and_everybody_stops(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        with Watch(board) as watch:
            mover = start("quintic")
            watch.moving()
            for command in (("move", "--to", PAUSED), ("jog",), ("hold",), ("release", "--yes")):
                done = run(*command, "-q")
                assert done.returncode == 2 and "`move` moves the arm" in done.stderr, done.stderr
            assert good("stop", "-q").strip() == BRAKED
            code, out, err = mover.end()
            assert code == 1 and "stopped before the target" in out, (code, out, err)


def check_interrupt(motion, number, brakes):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        # the arm is held from here on: without brakes it would sink before the motion begins
        good(*(LINE_START if motion == "line" else ("hold",)), "-q")
        good("set", "brakes", brakes, "-q")
        with Watch(board) as watch:
            mover = start(motion)
            since = watch.moving()
            code, out, err = mover.end(number)
            said = BRAKED if brakes else HELD
            assert code == -number and f"interrupted: {said}" in err, (code, out, err)
            check_stopped(watch, since, IDLE if brakes else RUNNING)
            assert state()["outputs"] == (not brakes)


def test_control_c_tells_what_the_board_does(folder):
    check_interrupt("quintic", signal.SIGINT, 1)
    check_interrupt("line", signal.SIGINT, 0)


def test_end_and_hangup_stop_the_arm(folder):
    check_interrupt("jog", signal.SIGTERM, 1)
    check_interrupt("trapezoid", signal.SIGHUP, 0)


# ------------------------------------------------------------------------------------------------ the jog

def test_jog_from_a_pipe(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        got = json.loads(good("jog", "--json", "-q", rows="2++1-]]"))
        # how far depends on how many ticks the board makes while a key counts as held
        reference = [q + error for q, error in zip(got["q"], got["error"])]
        assert got["arm"] == HELD and reference[1] > 0 and reference[0] < 0, got
        got = json.loads(good("jog", "--json", "-q", rows="xq+++"))
        assert got["q"][2] == 0 and got["arm"] == HELD, got
        assert good("stop", "-q").strip() == BRAKED


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, *arguments, stopped=False):
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        if stopped:  # as after control-S: what the program writes waits
            termios.tcflow(slave, termios.TCOOFF)
        # setsid makes it the controlling terminal, so that control-C is a signal
        self.process = subprocess.Popen(["setsid", "-c", PROGRAM, *arguments], stdin=slave, stdout=slave, stderr=slave)
        self.slave, self.text, self.ended, self.news = slave, "", False, threading.Condition()
        # a program whose text nobody takes would wait, and read no keys
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def receive(self):
        while select.select([self.master], [], [], 0.1)[0] or not self.ended:
            if select.select([self.master], [], [], 0)[0]:
                with self.news:
                    self.text += os.read(self.master, 4096).decode()
                    self.news.notify_all()

    def read_until(self, pattern):
        with self.news:
            assert self.news.wait_for(lambda: re.search(pattern, self.text), HANG_S), self.text

    def type(self, keys):
        os.write(self.master, keys.encode())

    def hold(self, key, watch, what, since=0):
        """Types a key again with every sample until what(sample) is true; returns that sample's index."""
        until = time.monotonic() + HANG_S
        while True:
            self.type(key)
            since = watch.wait(lambda s: True, since)
            if what(watch.samples[since]):
                return since
            assert time.monotonic() < until, self.text
            since += 1

    def end(self):
        code = self.process.wait(timeout=HANG_S)
        self.ended = True
        self.thread.join()
        after = termios.tcgetattr(self.slave)
        os.close(self.master)
        os.close(self.slave)
        assert after == self.before, "the terminal is not as it was"
        assert "Sanitizer" not in self.text, self.text
        return code


def test_jog_at_a_terminal(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Watch(board) as watch:
        jog = Terminal("jog", "--speed", "0.5")
        jog.read_until("1 waist at")
        jog.type("\033[A")
        jog.read_until("2 shoulder at")
        since = jog.hold("\033[C", watch, lambda s: s["qd"][1] > 0.01, watch.now())
        # without a repetition the arm stops by itself, and is held
        rest = watch.wait(lambda s: not s["moving"], since)
        assert watch.samples[rest]["state"] == RUNNING
        watch.rests(rest)
        since = jog.hold("-", watch, lambda s: s["qd"][1] < -0.01, watch.now())
        jog.type(" ")
        watch.wait(lambda s: abs(s["qd"][1]) < 0.001, since)
        jog.type("q")
        assert jog.end() == 0 and HELD in jog.text, jog.text
        for key, number in (("\003", signal.SIGINT), ("\034", signal.SIGQUIT)):
            jog = Terminal("jog")
            jog.read_until("1 waist at")
            # control-Z would leave the terminal as the command needs it, and the arm without its keys
            assert termios.tcgetattr(jog.slave)[6][termios.VSUSP] == b"\0"
            jog.type(key)
            assert jog.end() == -number and f"interrupted: {BRAKED}" in jog.text, jog.text


def test_jog_forgets_keys_that_have_queued_up(folder):
    keys, timeout, repeat = 300, 0.5, 0.15  # jog_timeout_s, and how long a repetition counts
    most = (timeout + repeat) * 1000 + braking_ticks()
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Watch(board) as watch:
        other = wire.Client(board.connect())
        jog = Terminal("jog")
        jog.read_until("1 waist at")
        for queue in ("+" * keys, "+" * keys + " "):
            since = jog.hold("+", watch, lambda s: s["moving"], watch.now())
            tick = struct.unpack_from("<I", other.ask(wire.STATUS), 4)[0]
            jog.type(queue)
            last = watch.wait(lambda s: s["tick"] > tick and not s["moving"], since)
            took = watch.samples[last]["tick"] - tick
            assert took <= most, f"the arm moved for {took} ticks after the keys"
            assert watch.samples[last]["state"] == RUNNING
            watch.rests(last)
        jog.type("q")
        assert jog.end() == 0 and HELD in jog.text, jog.text
        other.line.close()


def test_release_asks(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        good("hold", "-q")
        for answer, outputs in (("n\n", True), ("\003", True), ("y\n", False)):
            asked = Terminal("release")
            asked.read_until(r"Go on\?")
            asked.type(answer)
            asked.end()
            if answer == "\003":
                assert "interrupted" in asked.text, asked.text
                good("hold", "-q")
            told = json.loads(run("status", "--json", "-q").stdout)
            assert told["enabled"] == outputs, (answer, asked.text)


def test_control_c_while_the_question_is_written(folder):
    """The signal comes when the program no longer looks whether one came, and does not wait for the answer yet."""
    with Virtual("netduinoplus2", "--robot", "puma560"):
        good("hold", "-q")
        asked = Terminal("release", stopped=True)
        until = time.monotonic() + HANG_S
        writes = ""
        while not re.match(r"\d+ 0x2 ", writes):  # waits in a call whose first argument is the terminal's output
            assert asked.process.poll() is None and time.monotonic() < until, writes
            with open(f"/proc/{asked.process.pid}/syscall") as file:
                writes = file.read()
        asked.process.send_signal(signal.SIGINT)
        termios.tcflow(asked.slave, termios.TCOON)
        assert asked.end() == -signal.SIGINT and "interrupted" in asked.text, asked.text


if __name__ == "__main__":
    sys.exit(main(globals()))
