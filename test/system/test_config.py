#!/usr/bin/env python3
"""Tests `appell config`: the configuration of a board in a file, on virtual boards.

    test_config.py [PROGRAM [PATTERN]]
"""
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import LONG_RUN, PROGRAM, TIMEOUT_S, good, main, run  # noqa: E402
from test_emulate import Virtual  # noqa: E402
from test_link_wrong import Between  # noqa: E402

def configuration(*options):
    return good("config", "read", "-q", *options)


def write(folder, text, name="edited.conf"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def edited(text, **values):
    """Returns the text with other values; a name ends in _ and a number for a joint."""
    for name, value in values.items():
        name = re.sub(r"__(\d)$", r"[\1]", name)
        text, count = re.subn(rf"(?m)^({re.escape(name)}) = [^ \n]+", rf"\1 = {value}", text)
        assert count == 1, name
    return text


def check_round_trip(folder, name):
    """read, flash of another robot, write: the same bytes as before, also after a power cycle."""
    path = os.path.join(folder, "own.conf")
    with Virtual(name, "--robot", "puma560"):
        # values that no robot gives, some of which need all digits; limits that pass each other on the way
        values = {"observer_hz": "61.7", "kp__2": "33.3333", "guard_tracking": "0.1", "rate_hz": "500", "position_lower__1": "3.5",
                  "position_upper__1": "4.1", "sample_every": "50", "telemetry": "q,tau"}
        if name != "stm32vldiscovery":  # it uses the arm in its flash, which has the payload
            values["payload_x"] = "-0.1"
        good("config", "write", write(folder, edited(configuration(), **values)), "-q")
        good("config", "read", "-o", path)
        with open(path) as file:
            before = file.read()
        assert "kp[2] = 33.3333015 N m/rad  # shoulder" in before and "telemetry = q,tau" in before, before
        good("flash", "planar3r", "-q")
        differs = run("config", "diff", path)
        assert differs.returncode == 1 and "name: planar3r -> puma560" in differs.stdout, differs
        assert "rate_hz: 1000 -> 500 Hz" in differs.stdout, differs.stdout
        done = good("config", "write", path)
        assert "saved as set number" in done, done
        assert configuration() == before
        good("emulate", "--power-cycle")
        assert configuration() == before
        assert good("config", "diff", path) == ""
        again = good("config", "write", path)
        assert "already has this configuration" in again and "saved as" not in again, again


def test_round_trip_netduinoplus2(folder):
    check_round_trip(folder, "netduinoplus2")


def test_round_trip_stm32vldiscovery(folder):
    check_round_trip(folder, "stm32vldiscovery")


def test_round_trip_mps2(folder):
    check_round_trip(folder, "mps2-an500")


def test_an_edited_value_is_what_changes(folder):
    with Virtual("netduinoplus2", "--robot", "planar3r"):
        before = configuration()
        path = write(folder, before.replace("observer_hz = 50 Hz", "observer_hz = 55.5 Hz"))
        assert run("config", "diff", write(folder, before, "same.conf"), path).stdout.split() == "observer_hz: 50 -> 55.5 Hz".split()
        assert json.loads(run("config", "diff", path, "--json").stdout) == [
            {"name": "observer_hz", "from": 50, "to": 55.5, "unit": "Hz"}]
        told = json.loads(good("config", "write", path, "--json", "-q"))
        assert told["saved"] and not told["same"] and [c["name"] for c in told["changes"]] == ["observer_hz"], told
        assert configuration() == before.replace("observer_hz = 50 Hz", "observer_hz = 55.5 Hz")
        # what runs and is not saved is in the file, and told
        good("set", "observer_hz", "44", "-q")
        done = run("config", "read")
        assert "observer_hz = 44 Hz" in done.stdout and "not everything that the board runs is saved" in done.stderr, done
        told = json.loads(good("config", "read", "--json", "-q"))
        assert [p for p in told["parameters"] if not p["saved"]][0]["name"] == "observer_hz", told
        assert told["robot"] == "planar3r" and told["telemetry"] == "none" and told["version"] == 1, told


# ------------------------------------------------------------------------------- what is refused

def refused(path, *sentences, code=1):
    """Writes a file that must be refused with these sentences and no others."""
    done = run("config", "write", path)
    assert done.returncode == code and done.stdout == "", done
    errors = [line for line in done.stderr.splitlines() if " error: " in line]
    assert len(errors) == len(sentences), done.stderr
    for error, sentence in zip(errors, sentences):
        assert re.search(sentence, error) and "; " in error, (error, sentence)
    return done.stderr


def test_of_another_board_or_version(folder):
    with Virtual("netduinoplus2", "--robot", "planar3r"):
        before = configuration()
        changed = before.replace("board = netduinoplus2", "board = netduino2")
        refused(write(folder, changed), r":5: .*of a board netduino2, and this is a netduinoplus2")
        # an older firmware: a parameter has gone, one was renamed, one had another unit, one another range
        changed = re.sub(r"(?m)^guard_direction .*\n", "", before).replace("observer_hz =", "observer_h =")
        changed = re.sub(r"(?m)^(torque_hz = 5) Hz", r"\1 rad/s", changed).replace("limits_scale = 1\n", "limits_scale = 2\n")
        told = refused(write(folder, changed), r"no parameter observer_h; did you mean observer_hz\?", "`rad/s` in the file, and in `Hz`",
                       r"limits_scale = 2 is outside of the range of this board, 0.01 \.\. 1",
                       "parameter observer_hz, and the file does not", "parameter guard_direction, and the file does not")
        assert "nothing was written" in told, told
        refused(write(folder, re.sub(r"(?m)^(kp)\[3\]", r"\1[4]", before)), r"kp\[4\]: the robot in the file has 3 joints",
                r"kp\[3\], and the file does not")
        refused(write(folder, before.replace("telemetry = none", "telemetry = q,tua")), "no field tua")
        refused(write(folder, before.replace("appell-config 1", "appell-config 2")), "version 2 of the format", code=2)
        refused(write(folder, "joints: []\n"), "not a configuration", code=2)
        refused(write(folder, ""), "empty", code=2)
        refused(folder, "cannot be read", code=2)
        refused(os.path.join(folder, "none"), "cannot be read", code=2)
        # another build alone is a note
        other = re.sub(r"(?m)^firmware = .*", "firmware = 01234567", before)
        done = run("config", "write", write(folder, other))
        assert done.returncode == 0 and "another build of the firmware" in done.stderr, done
        assert configuration() == before


def test_refused_by_the_board_is_put_back(folder):
    """The real arm does not fit this board; a fraction is no rate. Everything else was accepted before."""
    with Virtual("netduinoplus2", "--robot", "planar3r"):
        good("set", "observer_hz", "44", "-q")  # not saved: comes back, too
        before, other = configuration(), os.path.join(folder, "other.conf")
        with Virtual("netduinoplus2", "--name", "second", "--robot", "puma560"):
            good("config", "read", "-o", other, "--port", "virtual:second", "-q")
        with open(other) as file:
            text = file.read()
        for old, new, sentence in (("arm = 0\n", "arm = 1\n", "arm = 1: the board refuses: robot and hardware do not fit"),
                                   ("rate_hz = 1000 ", "rate_hz = 1000.5 ", "rate_hz = 1000.5: the board refuses: the value is outside")):
            assert old in text
            done = run("config", "write", write(folder, text.replace(old, new)))
            assert done.returncode == 1 and sentence in done.stderr and "was put back" in done.stderr, done.stderr
            assert configuration() == before
        good("emulate", "--reset")
        assert configuration() == before.replace("observer_hz = 44", "observer_hz = 50")


def test_damaged_lines(folder):
    """Each line dropped, doubled, cut and flipped: the file is refused with the line, or by the board with a sentence, or it is a
    good file with another value; never a half-written board."""
    rng = random.Random(1)
    with Virtual("netduinoplus2", "--robot", "planar3r"):
        before = configuration()
        original = write(folder, before, "before.conf")
        lines = before.splitlines(keepends=True)
        damaged = []
        for i, line in enumerate(lines):
            if line.startswith("#") or not line.strip():
                continue
            at = rng.randrange(len(line) - 1)
            flipped = line[:at] + chr(ord(line[at]) ^ 1 << rng.randrange(7)) + line[at + 1:]
            damaged += ["".join(lines[:i] + [new] + lines[i + 1:]) for new in ("", line + line, line[:at] + "\n", flipped)]
        possible = []
        for text in damaged:  # without a board
            path = write(folder, text)
            done = run("config", "diff", path, path)
            assert done.returncode in (0, 2) and (done.returncode == 0) == (done.stderr == ""), done
            assert done.returncode == 0 or "edited.conf" in done.stderr, done.stderr
            possible += [text] * (done.returncode == 0)
        print(f"{len(damaged)} damaged files, {len(possible)} of them are configurations")
        assert len(possible) < len(damaged) / 2
        for text in possible if LONG_RUN else rng.sample(possible, 20):
            if run("config", "write", write(folder, text), "-q").returncode == 0:
                assert run("config", "diff", path).returncode == 0
                good("config", "write", original, "-q")
        assert configuration() == before


# ---------------------------------------------------------------------------------- in the middle

class Leader:
    """Holds the lease of the arm, renewed as a command does it."""

    def __init__(self, client):
        self.client, self.ends = client, threading.Event()
        self.lease(1000)
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def lease(self, ms):
        self.client.ask(wire.LEASE, struct.pack("<IH", 7, ms) + b"somebody\0")

    def work(self):
        while not self.ends.wait(0.1):
            self.lease(1000)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        self.lease(0)


def test_outputs_on_or_leased(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        before = configuration()
        path = write(folder, before.replace("observer_hz = 50", "observer_hz = 60"))
        client = wire.Client(board.connect())
        with Leader(client):
            refused(path, "the command `somebody` has the lease of the arm, so nothing was written; end that command first")
        # A host without time for the emulator loses ticks: the fault switches the outputs off, and the file is written. Then again.
        for _ in range(10):
            client.led(wire.MOTION, struct.pack("<Bf6f", 0, *[0] * 7))  # holds the arm
            done = run("config", "write", path)
            if done.returncode != 0 or "fault 22, lost ticks" not in run("status").stdout:
                break
            client.ask(wire.CLEAR)
            good("config", "write", write(folder, before, "before.conf"), "-q")
        client.line.close()
        assert done.returncode == 1 and "the outputs are on, so nothing was written; stop the arm first" in done.stderr, done
        assert "support it" in done.stderr and configuration() == before


class ResetAt:
    """Resets the board at the n-th request of a kind, before it reaches the board."""

    def __init__(self, request, number):
        self.request, self.left = request, number

    def __call__(self, content):
        if content[0] == self.request:
            self.left -= 1
            if self.left == 0:
                good("emulate", "--reset")
        return content


def check_reset(folder, name, request, number):
    with Virtual(name, "--robot", "planar3r") as board:
        before = configuration()
        with Virtual(name, "--name", "second", "--robot", "puma560"):
            wanted = edited(configuration("--port", "virtual:second"), observer_hz="66")
        path = write(folder, wanted)
        with Between(folder, board, ResetAt(request, number)) as line:
            done = run("config", "write", path, "--port", line.port)
        now = configuration()
        if done.returncode == 0:  # the reset came when all was saved, or SAVE found everything in its place
            assert now == wanted, done
        else:
            assert done.returncode == 1 and now == before, (done, now)
            assert "reset" in done.stderr and ("put back" in done.stderr or "still runs" in done.stderr), done.stderr
        good("config", "write", path, "-q")
        assert configuration() == wanted


def test_reset_while_the_image_is_sent(folder):
    check_reset(folder, "netduinoplus2", wire.IMAGE_DATA, 3)


def test_reset_while_parameters_are_set(folder):
    check_reset(folder, "netduinoplus2", wire.SET, 1)


def test_reset_before_save(folder):
    check_reset(folder, "netduinoplus2", wire.SAVE, 1)


def test_reset_of_the_board_that_runs_from_flash(folder):
    check_reset(folder, "stm32vldiscovery", wire.SET, 1)


class SignalAt:
    """Sends a signal to the program at its first request of a kind, before that reaches the board."""

    def __init__(self, request, kind):
        self.request, self.kind, self.starts, self.sent = request, kind, threading.Event(), False

    def start(self, *words):
        self.process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.starts.set()

    def __call__(self, content):
        self.starts.wait()
        if content[0] == self.request and not self.sent:
            self.sent = True
            self.process.send_signal(self.kind)
        return content


def check_interrupted(folder, board, before, words, request, kind=signal.SIGINT):
    """The board is as before, also in what was not saved."""
    at = SignalAt(request, kind)
    with Between(folder, board, at) as line:
        at.start(*words, "--port", line.port)
        out, error = at.process.communicate(timeout=TIMEOUT_S)
    assert at.sent and at.process.returncode == 1, (at.sent, at.process.returncode, error)
    assert "the command was interrupted before" in error and ("put back" in error or "still runs" in error), error
    assert "saved as" not in out and "applied" not in out, out
    assert configuration() == before, error


def check_interrupts(folder, name):
    with Virtual(name, "--name", "second", "--robot", "puma560"):
        path = write(folder, edited(configuration(), observer_hz="66"))
    with Virtual(name, "--robot", "planar3r") as board:
        saved = configuration()
        good("set", "observer_hz", "44", "-q")
        before = configuration()
        check_interrupted(folder, board, before, ["config", "write", path], wire.IMAGE_DATA, kind=signal.SIGTERM)
        check_interrupted(folder, board, before, ["config", "write", path], wire.SET)
        check_interrupted(folder, board, before, ["flash", "puma560"], wire.IMAGE_DATA)
        check_interrupted(folder, board, before, ["flash", "puma560", "--no-save"], wire.IMAGE_END, kind=signal.SIGHUP)
        good("emulate", "--reset")
        # a board that runs its robot from flash has saved what ran, and told so
        assert configuration() == (before if name == "stm32vldiscovery" else saved)


def test_interrupted_on_a_board_with_its_robot_in_ram(folder):
    check_interrupts(folder, "netduinoplus2")


def test_interrupted_on_a_board_that_runs_from_flash(folder):
    check_interrupts(folder, "stm32vldiscovery")


# -------------------------------------------------------------------------------- flash, get, set

def test_flash_and_save_as_json(folder):
    with Virtual("netduinoplus2"):
        none = run("config", "read")
        assert none.returncode == 1 and "no robot" in none.stderr, none
        told = json.loads(good("flash", "planar3r", "--json", "-q"))
        assert told["applied"] and told["saved"] and told["changes"][0]["to"] == "planar3r, 3 joints", told
        good("set", "kp[2]", "99", "-q")
        told = json.loads(good("flash", "planar3r", "--dry-run", "--json", "-q"))
        assert not told["applied"] and not told["saved"] and [c["from"] for c in told["changes"]] == [99], told
        assert json.loads(good("save", "--json", "-q"))["saved"]


def test_misspelt_names(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        for words, suggestion in ((["get", "observr_hz"], "did you mean observer_hz?"), (["set", "kpp", "1"], "did you mean kp?"),
                                  (["get", "kp[elbwo]"], "did you mean elbow?"), (["set", "kd[wrist_rol]", "1"], "did you mean wrist_roll?")):
            done = run(*words)
            assert done.returncode == 2 and suggestion in done.stderr, done.stderr
        assert "there is no `config wirte`" in run("config", "wirte", "x").stderr


if __name__ == "__main__":
    sys.exit(main(globals()))
