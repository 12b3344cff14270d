#!/usr/bin/env python3
"""Tests what all commands with a board have in common: the suggestion for a misspelt name, --verbose,
--quiet, and progress on a terminal.

test_words.py [PROGRAM [PATTERN]]
"""
import os
import pty
import re
import select
import sys

sys.dont_write_bytecode = True
from test_appell import PROGRAM, good, main, run  # noqa: E402

PORT = "qemu:netduinoplus2"
SILENT_S = 120


def refused(*words):
    done = run(*words)
    assert done.returncode in (1, 2) and not done.stdout, done
    return done.stderr


def on_terminal(*words):
    """Runs the program on a terminal and returns its exit code and what it prints there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [PROGRAM, *words])
    seen = b""
    while select.select([terminal], [], [], SILENT_S)[0]:
        try:
            seen += os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


def test_misspelt_names(folder):
    """The nearest name is suggested wherever a name of a table is typed."""
    for words, near in ((["get", "observ_hz", "--port", PORT], "did you mean observer_hz?"),
                        (["set", "kpp", "1", "--port", PORT], "did you mean kp?"),
                        (["inspect", "puma560", "--set", "sim_mas=2", "--port", PORT], "did you mean sim_mass?"),
                        (["faults", "explain", "trackin"], "did you mean tracking?"),
                        (["faults", "explian", "tracking"], "did you mean explain?"),
                        (["id", "pumma560"], "did you mean puma560?"),
                        (["fd", "puma560", "--method", "abaa"], "did you mean aba?"),
                        (["certify", "puma560", "--board", "netdunio2"], "did you mean netduino2?"),
                        (["emulate", "netduino-plus2"], "did you mean netduinoplus2?"),
                        (["demmo", "puma560"], "did you mean demo?")):
        errors = refused(*words)
        assert near in errors, f"{words}: {errors}"


def test_boards_that_there_are(folder):
    """Who asks for a board without firmware is told which boards are built, and how to build one."""
    for words, lab in ((["get", "--port", "qemu:arduino"], ""), (["emulate", "arduino"], "/lab")):
        errors = refused(*words)
        assert "there is no board arduino that can be emulated" in errors, errors
        for board in ("mps2-an500", "netduino2", "netduinoplus2", "nucleo-f446re", "stm32vldiscovery"):
            assert board in errors, errors
        if not all(os.path.exists(f"build/{board}{lab}/firmware.elf") for board in os.listdir("boards") if os.path.isdir(f"boards/{board}")):
            assert "make BOARD=" in errors, errors


def test_devices(folder):
    """A device is named with its folder; who leaves it out is told the whole path."""
    assert "write /dev/null" in refused("get", "--port", "null")
    assert "/dev/ttyACM77" in refused("get", "--port", "ttyACM77")
    assert "name a serial device" in refused("get", "--port", "board")


def test_former_commands(folder):
    for name, now in (("run", "appell demo"), ("dump", "appell crash")):
        errors = refused(name)
        assert f"there is no command '{name}' any more; `{now}" in errors, errors


def test_verbose(folder):
    """Requests and their answers go to standard error; the answer of the command is the same."""
    plain, done = good("get", "observer_hz", "--port", PORT), run("get", "observer_hz", "-v", "--port", PORT)
    assert done.returncode == 0 and done.stdout == plain, done
    lines = done.stderr.splitlines()
    assert lines[0] == f"port {PORT}" and lines[1].startswith("HELLO: OK, "), lines
    assert re.fullmatch(r"board netduinoplus2, f32, build \S+, protocol 1", lines[2]), lines
    assert any(re.fullmatch(r"GET: OK, \d+ ms(, \d+ repetitions)?", line) for line in lines), lines
    done = run("set", "observer_hz", "-1", "--verbose", "--port", PORT)
    assert done.returncode == 1 and re.search(r"^SET: APP, \d+ ms, reason -\d+ \(", done.stderr, re.M), done


def test_progress(folder):
    """Progress is shown on a terminal, not with --quiet, and nowhere else; it leaves nothing behind."""
    for count in ("100", "1000", "10000"):  # half a second of work, on a machine of any speed
        words = ["selftest", "planar3r", "--count", count, "--port", PORT]
        code, seen = on_terminal(*words)
        if "states [" in seen:
            break
    assert code == 0 and re.search(r"\rstates \[#* *\] \d+ of %s\x1b\[K" % count, seen), seen
    last = seen[seen.rindex("\r\x1b[K") + 4:]
    assert "planar3r" in last and "states [" not in last, seen
    code, seen = on_terminal(*words, "-q")
    assert code == 0 and "states [" not in seen and "note" not in seen, seen
    done = run(*words)
    assert done.returncode == 0 and "states [" not in done.stderr, done


def test_quiet_leaves_out_notes_only(folder):
    loud, quiet = run("selftest", "-N", "3", "--port", PORT), run("selftest", "-N", "3", "-q", "--port", PORT)
    assert "note: " in loud.stderr and not quiet.stderr, (loud, quiet)
    figures = [re.sub(r"the cheapest call took \d+", "", each.stdout) for each in (loud, quiet)]
    assert figures[0] == figures[1] and figures[0], figures
    assert "no parameter" in run("get", "none", "-q", "--port", PORT).stderr


if __name__ == "__main__":
    sys.exit(main(globals()))
