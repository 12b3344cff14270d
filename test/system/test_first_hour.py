#!/usr/bin/env python3
"""Runs "The first hour" of tools/README.md, line by line: as it stands, over a slow line that loses and
spoils bytes, and with a reset of the board before every line.

    test_first_hour.py [PROGRAM [PATTERN]]

A block of text after a line is what that line prints; `...` there stands for any lines."""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from test_appell import PROGRAM, TIMEOUT_S, good, main  # noqa: E402
from test_link import firmware  # noqa: E402
from virtual_board import Bridge, Virtual  # noqa: E402

PAGE, BEGIN, END = "tools/README.md", "## The first hour", "## URDF notes"
BOARD = "netduinoplus2"
SKIPPED = re.compile(r"make ")  # test_setup, test_demo and the build of this test run the targets


def steps():
    """Returns the lines of the page to type, each with the text that it must print, or None."""
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    text = text[text.index(BEGIN):text.index(END)]
    found, block = [], None
    for line in text.splitlines():
        if line.startswith("```"):
            if block is None:
                block = []
            else:
                found[-1][1], block = block, None
        elif block is not None:
            block.append(line)
        elif line.startswith("    "):
            command = re.sub(r"\s{2,}#.*", "", line.strip())
            if not SKIPPED.match(command):
                found.append([command, None])
    assert len(found) > 30 and sum(1 for _, wanted in found if wanted) >= 6, found
    return found


def agree(printed, wanted):
    """Tells whether the lines are as on the page."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in wanted)
    return re.fullmatch(pattern, printed)


class Hour:
    """A folder like a fresh clone, and a shell whose `appell` is the program under test."""

    def __init__(self, folder):
        firmware(BOARD)
        self.folder = os.path.join(folder, "clone")
        os.makedirs(os.path.join(self.folder, "build"))
        os.makedirs(os.path.join(folder, "bin"))
        for name in ("tools", "test", "boards", "firmware"):
            os.symlink(os.path.abspath(name), os.path.join(self.folder, name))
        for board in ("netduinoplus2", "host"):
            os.symlink(os.path.abspath("build/" + board), os.path.join(self.folder, "build", board))
        os.symlink(PROGRAM, os.path.join(folder, "bin", "appell"))
        self.environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"],
                                APPELL_ROBOTS=os.path.abspath("tools/robots"))
        self.environment.pop("APPELL_LEASE_MS", None)  # the leases are those of a user

    def type(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=TIMEOUT_S)
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr[-2000:]
        return done

    def check(self, command, wanted, codes=(0,)):
        done = self.type(command)
        assert done.returncode in codes, f"{command}: exit {done.returncode}: {done.stdout[-600:]} {done.stderr[-600:]}"
        if wanted and codes == (0,):
            assert agree(done.stdout, wanted), f"{command} printed: {done.stdout[-1500:]}"
        return done

    def end(self, port):
        """Nothing that was tried on the way has loosened a guard or stayed as an override."""
        told = json.loads(good("status", "--json", "-q", "--port", port))
        assert told["changes"] == [] and told["leader"] == "" and not told["unrestored"], told
        assert told["state"] == "idle" and told["robot"] == "puma560", told


# A fault is an answer: `status` says 1 while there is one.
NO = re.compile(r"appell (status|hold|clear)")


def run_hour(folder, before=lambda command: None, codes=(0,), port=None):
    """Types the lines up to the last one, which ends the virtual board."""
    hour = Hour(folder)
    lines = steps()
    assert lines[-1][0] == "appell emulate --stop", lines[-1]
    pressed = False
    for command, wanted in lines[:-1]:
        if command.startswith("appell emulate " + BOARD):
            continue  # the caller has started it
        before(command)
        pressed = "--press-estop" in command or (pressed and "--release-estop" not in command)
        typed = command
        if port and command.startswith("appell emulate"):
            typed += f" --port virtual:{BOARD}"
        elif port:
            hour.environment["APPELL_PORT"] = port
        done = hour.check(typed, wanted, (0, 1) if pressed and NO.match(command) else codes)
        for line in done.stderr.splitlines():
            assert not line.startswith(f"{BOARD}: error:") or ";" in line, f"{command}: no cure: {line}"
    hour.end(f"virtual:{BOARD}")


def test_first_hour(folder):
    with Virtual(BOARD):
        run_hour(folder)


def test_first_hour_over_a_bad_line(folder):
    """115,200 baud, and one byte in a hundred is lost or altered."""
    with Virtual(BOARD) as board, Bridge(board, 115200, 0.01) as bridge:
        run_hour(folder, port=bridge.name)


def test_first_hour_with_resets(folder):
    """After a reset each line still does what it can, or says what is in its way and how to mend it."""
    with Virtual(BOARD):
        run_hour(folder, before=lambda command: good("emulate", "--reset", "-q"), codes=(0, 1))


if __name__ == "__main__":
    sys.exit(main(globals()))
