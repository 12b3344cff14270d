#!/usr/bin/env python3
"""Shows that each guard of the build can fail: the test runner, the lints of includes and headers,
the stack check, the size report and the ban on the heap. A guard that never fails proves nothing.

The script prints like any test program and is itself a job of tools/dev/runtests.py.
"""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "tools/dev")
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)
import elf  # noqa: E402
from script_frame import main  # noqa: E402

BOARD = "netduinoplus2"
CPU = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
CC = "arm-none-eabi-gcc"
# Stack of an exception: 26 words with floating-point registers or 8 without, and one for alignment.
FRAME = 26 * 4 + 4
FRAME_SHORT = 8 * 4 + 4
TIMEOUT_S = 60  # for the slowest machine; each check takes a second or two


def equal(expected, actual, what):
    if expected != actual:
        raise AssertionError("%s: expected %r, was %r" % (what, expected, actual))


def contains(part, text):
    if part not in text:
        raise AssertionError("%r not found in %r" % (part, text[-1500:]))


def run(command, timeout=TIMEOUT_S, **options):
    """Runs a command; returns (exit code, stdout and stderr together)."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout, **options)
    return done.returncode, done.stdout.decode("utf-8", "backslashreplace")


def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def alive(pid):
    """True if a process still runs; a dead process that nobody has waited for does not count."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, what):
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited %g s in vain for %s" % (TIMEOUT_S, what))
        time.sleep(0.01)


# --------------------------------------------------------------------------------------- the runner

def passing(*cases):
    return "".join("echo RUN %s; echo test/test_fake.c:7:%s:PASS; " % (c, c) for c in cases)


def summary(tests, failures=0, ignored=0):
    return "echo '%d Tests %d Failures %d Ignored '; echo %s; " \
        % (tests, failures, ignored, "FAIL" if failures else "OK")


def runner(folder, *jobs, timeout=TIMEOUT_S, options=()):
    """Runs jobs, each a command or machine|test|command; returns exit code, output and last
    line."""
    path = os.path.join(folder, "jobs")
    with open(path, "w", encoding="utf-8") as f:
        for job in jobs:
            f.write((job if job.count("|") >= 2 else "netduino2|test_fake|" + job) + "\n")
    code, out = run([sys.executable, os.path.join(TOOLS, "runtests.py"), path,
                     "--timeout", str(timeout), *options], timeout=timeout + TIMEOUT_S)
    return code, out, out.rstrip("\n").split("\n")[-1]


def expect_red(folder, command, last, *parts, timeout=TIMEOUT_S):
    code, out, line = runner(folder, command, timeout=timeout)
    equal(last, line, "last line")
    equal(1, code, "exit code")
    for part in parts:
        contains(part, out)


def test_runner_is_green_when_all_pass(folder):
    code, out, line = runner(folder, passing("test_a", "test_on_mps2-an500") + summary(2),
                             "host|test_other|" + passing("test_c") + summary(1))
    equal("3 passed, 0 failed", line, "last line")
    equal(0, code, "exit code")
    contains("ok   netduino2 test_fake", out)


def test_runner_shows_notes_when_asked(folder):
    job = "echo NOTE measured 42; " + passing("test_a") + summary(1)
    code, out, _ = runner(folder, job)
    assert code == 0 and "measured" not in out, out
    code, out, line = runner(folder, job, options=["--notes"])
    equal(0, code, "exit code")
    contains("measured 42", out)
    equal("1 passed, 0 failed", line, "last line")


def test_runner_failed_assertion(folder):
    expect_red(folder, passing("test_a") + "echo RUN test_b; "
               "echo 'test/test_fake.c:9:test_b:FAIL: Expected 1 Was 2'; " + summary(2, 1)
               + "exit 1", "1 passed, 1 failed",
               "test_b failed on netduino2 at test/test_fake.c:9: Expected 1 Was 2",
               "make test TEST=fake BOARD=netduino2")


def test_runner_failed_assertion_with_exit_code_0(folder):
    expect_red(folder, "echo RUN test_b; echo 'test/test_fake.c:9:test_b:FAIL: x'; "
               + summary(1, 1), "0 passed, 1 failed")


def test_runner_crash(folder):
    expect_red(folder, passing("test_a") + "echo RUN test_b; kill -SEGV $$", "1 passed, 1 failed",
               "SIGSEGV", "in test_b on netduino2")


def test_runner_lock_up_of_the_core(folder):
    expect_red(folder, "echo RUN test_b; sh -c 'kill -ABRT $$'; exit $?", "0 passed, 1 failed",
               "locked up", "in test_b on netduino2")


def enough_time(attempt, first_s):
    """Finds a time-out that strikes in the middle of a job, starting with a short one.
    attempt(seconds) returns True if the job got that far; on a busy machine it needs longer."""
    seconds = first_s
    while not attempt(seconds):
        seconds *= 4
        if seconds > 4 * TIMEOUT_S:
            raise AssertionError("the job does not even come to where it should hang")


def test_runner_hang_is_ended_with_its_children(folder):
    pid_file = os.path.join(folder, "pid")

    def attempt(seconds):
        job = passing("test_a") + "echo RUN test_b; sleep 600 & echo $! > %s.new; mv %s.new %s; wait" % (3 * (pid_file,))
        code, out, line = runner(folder, job, timeout=seconds)
        if not os.path.exists(pid_file):
            return False
        equal("1 passed, 1 failed", line, "last line")
        equal(1, code, "exit code")
        contains("timed out after %d s in test_b on netduino2" % seconds, out)
        return True
    enough_time(attempt, 1)
    with open(pid_file, encoding="utf-8") as f:
        pid = int(f.read())
    wait_for(lambda: not alive(pid), "the end of the job's child")


def test_runner_child_left_behind_is_ended(folder):
    pid_file = os.path.join(folder, "pid")
    code, _, line = runner(folder, "sleep 60 & echo $! > %s; " % pid_file + passing("test_a")
                           + summary(1))
    equal("1 passed, 0 failed", line, "last line")
    equal(0, code, "exit code")
    with open(pid_file, encoding="utf-8") as f:
        pid = int(f.read())
    wait_for(lambda: not alive(pid), "the end of the job's child")


def test_runner_wrong_count(folder):
    expect_red(folder, passing("test_a", "test_b") + summary(3), "2 passed, 1 failed",
               "says 3 Tests")


def test_runner_no_summary(folder):
    expect_red(folder, passing("test_a"), "1 passed, 1 failed", "no summary")


def test_runner_bad_exit_code_after_ok(folder):
    expect_red(folder, passing("test_a") + summary(1) + "exit 3", "1 passed, 1 failed",
               "exit code 3")


def test_runner_killed_in_the_middle(folder):
    expect_red(folder, passing("test_a") + "echo RUN test_b; kill -KILL $$", "1 passed, 1 failed",
               "killed (SIGKILL) in test_b on netduino2")


def test_runner_case_without_result(folder):
    expect_red(folder, "echo RUN test_a; " + passing("test_b") + summary(1), "1 passed, 1 failed",
               "test_a on netduino2 was started and never ended")


def test_runner_nothing_tested(folder):
    expect_red(folder, summary(0), "0 passed, 1 failed", "ran no test case")
    for jobs in ((), ("# only a comment",)):
        code, out, line = runner(folder, *(j + "||" for j in jobs))
        equal("0 passed, 1 failed", line, "last line")
        equal(1, code, "exit code")
        contains("no jobs", out)


def test_runner_command_not_found(folder):
    expect_red(folder, "./no-such-program", "0 passed, 1 failed", "exit code 127")


def test_runner_sanitizer_report(folder):
    write(folder, {"bad.c": "#include <stdio.h>\n"
                            "int main(int n, char **v) {\n"
                            "    volatile int a[4] = {0};\n"
                            "    (void)v; puts(\"RUN test_bad\"); fflush(stdout);\n"
                            "    return a[n + 3];\n"
                            "}\n"})
    program = os.path.join(folder, "bad")
    code, out = run(["gcc", "-fsanitize=address,undefined", program + ".c", "-o", program])
    equal(0, code, "compiler: " + out)
    expect_red(folder, "host|test_bad|" + program, "0 passed, 1 failed",
               "sanitizer report in test_bad on host", "runtime error: index 4 out of bounds")
    # A sanitizer report that does not stop the program must also count as a failure.
    expect_red(folder, "host|test_bad|" + passing("test_a")
               + "echo a.c:1:2: runtime error: shift; " + summary(1), "1 passed, 1 failed")


def test_runner_survives_any_byte(folder):
    code, out, line = runner(folder, "printf 'uart \\377\\376\\000\\033[31m'; " + passing("test_a")
                             + summary(1))
    equal("1 passed, 0 failed", line, "last line")
    equal(0, code, "exit code")
    expect_red(folder, "printf '\\377\\376\\033[31m'; echo RUN test_b; exit 1",
               "0 passed, 1 failed", "\\xff\\xfe\\x1b[31m")


def test_runner_output_without_end(folder):
    expect_red(folder, "echo RUN test_b; yes", "0 passed, 1 failed", "MB", "in test_b on netduino2")


def test_runner_names_ignored_tests(folder):
    code, out, line = runner(folder, passing("test_a") + "echo RUN test_b; "
                             "echo 'test/test_fake.c:9:test_b:IGNORE: no such timer here'; "
                             + summary(2, 0, 1), options=("--verbose",))
    equal("1 passed, 0 failed", line, "last line")
    equal(0, code, "exit code")
    contains("test_b in test_fake on netduino2: no such timer here", out)
    contains("slowest:", out)


def test_runner_one_bad_job_among_good_ones(folder):
    good = passing("test_a") + summary(1)
    code, out, line = runner(folder, "host|test_x|" + good, "host|test_y|" + passing("test_b"),
                             "host|test_z|" + good)
    equal("3 passed, 1 failed", line, "last line")
    equal(1, code, "exit code")


def test_runner_interrupted(folder):
    pid_file = os.path.join(folder, "pid")
    jobs = os.path.join(folder, "jobs")
    write(folder, {"jobs": "host|test_x|echo $$ > %s.new; mv %s.new %s; sleep 60\n"
                           % (pid_file, pid_file, pid_file)})
    # SIGINT is restored first, because a shell ignores it in background jobs, and this test may be
    # in one.
    process = subprocess.Popen([sys.executable, os.path.join(TOOLS, "runtests.py"), jobs],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        wait_for(lambda: os.path.exists(pid_file), "the job")
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=TIMEOUT_S)[0].decode()
    finally:
        process.kill()
    with open(pid_file, encoding="utf-8") as f:
        pid = int(f.read())
    wait_for(lambda: not alive(pid), "the end of the job")
    equal(130, process.returncode, "exit code")
    equal("0 passed, 1 failed", out.rstrip("\n").split("\n")[-1], "last line")
    if "Traceback" in out:
        raise AssertionError(out)


def test_runner_runs_a_job_as_often_as_it_is_listed(folder):
    """The job with the longest recorded time runs first; times of jobs that did not run are kept.
    The line with the times comes before the count, which stays the last line."""
    times, order = os.path.join(folder, "times"), os.path.join(folder, "order")
    write(folder, {"times": "host|test_a|1.00|0.10\nhost|test_b|9.00|0.10\nhost|test_other|5.00|4.00\n"})
    jobs = ["host|%s|echo %s >> %s; " % (name, name, order) + passing("test_x") + summary(1)
            for name in ("test_a", "test_a", "test_b 2/3")]
    for first in ("test_a", "test_b 2/3"):
        code, out, line = runner(folder, *jobs, options=("--jobs", "1", "--times", times, "--began", str(time.time() - 100)))
        equal((0, "3 passed, 0 failed"), (code, line), out)
        took = re.search(r"^compiled in (\d+) s, tests ran in \d+ s, \d+ s of processor\n3 passed", out, re.M)
        assert took and 100 <= int(took.group(1)) < 100 + TIMEOUT_S, out
        with open(order, encoding="utf-8") as f:
            ran = f.read().splitlines()
        equal(["test_a", "test_a", "test_b 2/3"], sorted(ran), "jobs that ran")
        equal(first, ran[0], "the longest")
        os.remove(order)
        with open(times, encoding="utf-8") as f:
            kept = f.read()
        contains("host|test_other|5.00|4.00\n", kept)
        contains("host|test_b 2/3|", kept)
        write(folder, {"times": re.sub(r"(test_b 2/3)\|.*", r"\1|9.00|0.10", kept)})


def test_runner_has_more_jobs_at_once_only_while_a_processor_idles(folder):
    """Three jobs that wait for each other finish with --jobs 1 on an idle machine. On a busy
    machine each job runs alone."""
    meet = "touch %s/here.$$; for i in $(seq %d); do [ $(ls %s/here.* | wc -l) = 3 ] && break; sleep 0.1; done; " \
        "[ $(ls %s/here.* | wc -l) = 3 ] || exit 1; " % (folder, 10 * TIMEOUT_S, folder, folder)
    alone = "mkdir %s/alone || exit 1; sleep 0.5; rmdir %s/alone; " % (folder, folder)
    for command, idle_ticks in ((meet, "int(time.monotonic() * os.sysconf('SC_CLK_TCK'))"), (alone, "0")):
        write(folder, {"jobs": ("host|test_x|" + command + passing("test_a") + summary(1) + "\n") * 3})
        source = "import os, sys, time, runtests\nruntests.IDLE_WINDOW_S = 0.1\n" \
            "runtests.Idle.read = staticmethod(lambda: %s)\nsys.exit(runtests.main())" % idle_ticks
        code, out = run([sys.executable, "-c", source, os.path.join(folder, "jobs"), "--jobs", "1", "--timeout", str(TIMEOUT_S)],
                        timeout=5 * TIMEOUT_S, env=dict(os.environ, PYTHONPATH=TOOLS, PYTHONDONTWRITEBYTECODE="1"))
        equal((0, "3 passed, 0 failed"), (code, out.rstrip("\n").split("\n")[-1]), out)


def test_every_test_of_a_script_is_in_one_of_its_parts(folder):
    """The parts that make lists are those of script_frame.py, and each test is in exactly one
    part."""
    code, out = run(["make", "-n", "--no-print-directory", "BOARD=host", "test-build"], cwd=ROOT, env=make_environment())
    equal(0, code, out[-1500:])
    listed = {}
    for script, part, path in re.findall(r"'script\|(\w+)(?: ([^|]*))?\|SCRIPT_PART=\S+ (\S+)'", out):
        listed.setdefault((script, path), []).append(part)
    split = {key: parts for key, parts in listed.items() if parts != [""]}
    assert split, "no script is in parts"
    for (script, path), parts in split.items():
        equal(["%d/%d" % (i + 1, len(parts)) for i in range(len(parts))], parts, script)
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        assert re.search(r"sys.exit\((\w+\.)?main\(globals\(\)\)\)\n$", text), "%s does not use the frame of the scripts" % path
        names = re.findall(r"^ *def (test_\w+)\(", text, re.M)
        source = "from script_frame import main\n" + "".join("def %s(folder): pass\n" % n for n in names) + "main(globals())\n"
        seen = []
        for part in parts:
            code, out = run([sys.executable, "-c", source], env=dict(os.environ, SCRIPT_PART=part))
            seen += re.findall(r"^RUN (\S+)$", out, re.M)
        equal(sorted(names), sorted(seen), script)


# --------------------------------------------------------------- real test programs in the emulator

MAKE_VARIABLES = {}


def make_variable(name):
    """Returns a variable of the Makefile for BOARD, so that the flags are those of the firmware."""
    if not MAKE_VARIABLES:
        names = ["LDFLAGS", "QEMU_COUNT", "OUT"]
        code, out = run(["make", "-s", "--no-print-directory", "LAB=1", "BOARD=" + BOARD]
                        + ["print-" + n for n in names], cwd=ROOT, env=make_environment())
        lines = out.rstrip("\n").split("\n")[-len(names):]
        if code or len(lines) != len(names):
            raise AssertionError("make print-%s: %s" % (names[0], out))
        MAKE_VARIABLES.update(zip(names, lines))
    return MAKE_VARIABLES[name]


def make_environment():
    # Inside `make test` this make would otherwise inherit the options and job slots of the outer
    # make.
    return {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL",
                                                             "MAKEOVERRIDES", "BOARD", "TEST")}


class Gdb:
    """A part of the remote protocol of gdb, enough to stop a target inside a function and to
    corrupt it."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.buffer = b""

        def connected():
            try:
                self.socket.connect(path)
                return True
            except OSError:
                return False
        wait_for(connected, "the emulator's gdb stub")

    def send(self, text):
        data = text.encode()
        self.socket.sendall(b"$%s#%02x" % (data, sum(data) & 255))

    def ask(self, text):
        self.send(text)
        while True:
            match = re.search(rb"\$([^#]*)#..", self.buffer)
            if match:
                self.buffer = self.buffer[match.end():]
                self.socket.sendall(b"+")
                return match.group(1).decode()
            data = self.socket.recv(4096)
            if not data:
                raise AssertionError("the emulator ended before the answer to %s" % text)
            self.buffer += data

    def stop_at(self, address):
        equal("OK", self.ask("Z0,%x,2" % address), "breakpoint")
        if not self.ask("c").startswith("T05"):
            raise AssertionError("the breakpoint was not reached")
        equal("OK", self.ask("z0,%x,2" % address), "breakpoint removed")


def emulated(folder, meddle, last, *parts, timeout=TIMEOUT_S):
    """Runs test_harness in the emulator, stops it in its second case and calls meddle."""
    program = os.path.join(make_variable("OUT"), "test", "test_harness.elf")
    if not emulated.built:
        code, out = run(["make", "-s", "--no-print-directory", "LAB=1", "BOARD=" + BOARD, program], cwd=ROOT,
                        env=make_environment(), timeout=2 * TIMEOUT_S)
        equal(0, code, "make %s: %s" % (program, out))
        emulated.built = True
    program = os.path.join(ROOT, program)
    image = elf.Elf(program)
    gdb_path = os.path.join(folder, "gdb")
    pid_path = os.path.join(folder, "qemu.pid")
    command = "%s -serial null -semihosting-config enable=on,target=native -kernel %s -S " \
        "-gdb unix:%s,server=on,wait=off & echo $! > %s.new; mv %s.new %s; wait $!" \
        % (make_variable("QEMU_COUNT"), shlex.quote(program), gdb_path, pid_path, pid_path, pid_path)
    write(folder, {"jobs": "%s|test_harness|%s\n" % (BOARD, command)})
    process = subprocess.Popen([sys.executable, os.path.join(TOOLS, "runtests.py"),
                                os.path.join(folder, "jobs"), "--timeout", str(timeout)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        gdb = Gdb(gdb_path)
        gdb.stop_at(image.value("test_runs_second") & ~1)
        wait_for(lambda: os.path.exists(pid_path), "the number of its process")
        with open(pid_path, encoding="utf-8") as f:
            meddle(gdb, int(f.read()), image)
        out = process.communicate(timeout=timeout + TIMEOUT_S)[0].decode()
    finally:
        process.terminate()
    gdb.socket.close()
    equal(last, out.rstrip("\n").split("\n")[-1], "last line of %r" % out)
    equal(1 if not last.endswith(" 0 failed") else 0, process.returncode, "exit code")
    for part in parts:
        contains(part, out)


emulated.built = False


def test_target_left_alone_is_green(folder):
    emulated(folder, lambda gdb, pid, image: gdb.send("c"), "3 passed, 0 failed")


def test_target_emulator_killed_in_the_middle(folder):
    emulated(folder, lambda gdb, pid, image: os.kill(pid, signal.SIGKILL), "1 passed, 1 failed",
             "killed (SIGKILL) in test_runs_second on " + BOARD)


def test_target_hang(folder):
    def attempt(seconds):
        place = os.path.join(folder, str(seconds))
        os.mkdir(place)
        there = []
        try:
            emulated(place, lambda gdb, pid, image: there.append(pid), "1 passed, 1 failed",
                     "timed out after %d s in test_runs_second on %s" % (seconds, BOARD), timeout=seconds)
        except (AssertionError, OSError):
            if there:
                raise
        return bool(there)
    enough_time(attempt, 4)


def test_target_false_assertion(folder):
    def spoil(gdb, pid, image):
        equal("OK", gdb.ask("M%x,4:07000000" % image.value("order")), "write to memory")
        gdb.send("c")
    emulated(folder, spoil, "2 passed, 1 failed", "test_runs_second failed on " + BOARD,
             "Expected 1 Was 7")


def test_target_crash(folder):
    def spoil(gdb, pid, image):
        # The emulator accepts writes to single registers only after a request for their
        # description.
        gdb.ask("qXfer:features:read:target.xml:0,ffb")
        equal("OK", gdb.ask("Pf=000000f0"), "write to the program counter")  # 0xf0000000: there is no code
        gdb.send("c")
    emulated(folder, spoil, "2 passed, 1 failed", "test_runs_second failed on " + BOARD,
             "the target was reset")


# ----------------------------------------------------------------------------------------- the lint

def lint(folder):
    return run([sys.executable, os.path.join(TOOLS, "lint_includes.py"), folder])


CLEAN = {
    "dyn/model/model.h": "#include <math.h>\n#include <stdint.h>\n",
    "dyn/paper/ga.c": '#include "dyn/model/model.h"\n#include DYN_REAL_H\n// malloc( in a comment is none\n',
    "hal/uart.h": '#include <stddef.h>\n#include "hal/clock.h"\n',
    "hal/clock.h": "",
    "hal/cortexm/core.h": "#include <core_cm4.h>\n#include HAL_CORE_H\n",
    "hal/stm32/regs.h": "",
    "hal/stm32/f4/flash.c": '#include "hal/stm32/regs.h"\n#include "hal/cortexm/core.h"\n'
                            '#include "hal/clock.h"\n#include <cmsis_gcc.h>\n',
    "hal/stm32f7/flash.c": '#include "hal/stm32/regs.h"\n',
    "hal/host/uart.c": '#include "hal/uart.h"\n#include <string.h>\n',
    "boards/one/board.c": '#include "boards/pins.h"\n#include "hal/uart.h"\n',
    "boards/pins.h": "",
    "firmware/main.c": '#include "firmware/control/step.h"\n#include "hal/uart.h"\n'
                       '#include "dyn/model/model.h"\n'
                       "void pool_free(int);\nint f(void) { pool_free(1); return g->free(2); }\n"
                       'const char *s = "free(x)";\n',
    "firmware/control/step.h": '#include "dyn/model/model.h"\n#include <string.h>\n',
    "tools/appell.c": '#include <stdlib.h>\n#include <expat.h>\n#include "firmware/control/step.h"\n'
                      '#include "tools/robot.h"\n#include "dyn/model/model.h"\n'
                      "int f(void) { free(malloc(1)); return 0; }\n",
    "tools/robot.h": "",
    "test/test_x.c": '#include "unity.h"\n#include "test/support/harness.h"\n#include "hal/stm32/regs.h"\n'
                     '#include "tools/robot.h"\n#include "boards/pins.h"\n#include <stdlib.h>\n',
    "test/support/harness.h": "",
    "build/out.c": '#include "nothing.h"\n',
    "README.md": "See network/" + "root/ and $(HOME)/" + "work/ and a/" + "home/user/x.\n"
                 "Get http" + "://mirror.invalid/deb" + "ian for a test.\n",
}

# Written in pieces, so that the lint does not find them in this file.
MACHINE_PATHS = ["/" + "work/main", "/" + "root/x", "/" + "home/anna/x", "-I/" + "work/include"]
REGISTRIES = ["https" + "://deb.deb" + "ian.org/x", "http" + "://registry.np" + "mjs.org",
              "ftp.deb" + "ian.org"]

# (path, line of code, text that the message must contain)
VIOLATIONS = [
    ("dyn/a.c", '#include "firmware/control/step.h"', "knows nothing above"),
    ("dyn/b.c", '#include "hal/uart.h"', "knows nothing above"),
    ("dyn/c.c", "#include <string.h>", "only <math.h>"),
    ("dyn/d.c", "#include <stdio.h>", "no heap"),
    ("dyn/e.c", "  #  include  \"tools/robot.h\" // why", "knows nothing above"),
    ("firmware/a.c", '#include "boards/pins.h"', "firmware, dyn and hal"),
    ("firmware/b.c", '#include "tools/robot.h"', "firmware, dyn and hal"),
    ("firmware/c.c", "#include <stdlib.h>", "no heap"),
    ("firmware/d.c", "#include <core_cm4.h>", "CMSIS"),
    ("firmware/e.c", "#include FIRMWARE_X_H", "macro"),
    ("firmware/f.c", "#include <unistd.h>", "standard C"),
    ("firmware/g.c", '#include <hal/uart.h>', 'write "hal/uart.h"'),
    ("firmware/control/a.c", '#include "hal/uart.h"', "pure"),
    ("firmware/link/b.c", '#include "firmware/main.h"', "pure"),
    ("firmware/control/c.c", "#include <time.h>", "pure"),
    ("boards/one/a.c", '#include "firmware/control/step.h"', "only hal and boards"),
    ("boards/one/b.c", '#include "dyn/model/model.h"', "only hal and boards"),
    ("boards/one/c.c", "#include <malloc.h>", "no heap"),
    ("hal/a.h", "#include <core_cm4.h>", "CMSIS"),
    ("hal/b.h", '#include "hal/stm32/regs.h"', "know no chip"),
    ("hal/stm32/a.c", '#include "dyn/model/model.h"', "knows nothing above"),
    ("hal/stm32/b.c", '#include "uart.h"', 'write "hal/uart.h"'),
    ("hal/stm32/c.c", '#include "../clock.h"', 'write "hal/clock.h"'),
    ("hal/stm32/d.c", '#include "regs.h"', 'write "hal/stm32/regs.h"'),
    ("hal/stm32/e.c", '#include "hal/stm32/f4/x.h"', "its own folder"),
    ("hal/mps2/a.c", '#include "hal/stm32/regs.h"', "its own folder"),
    ("hal/stm32/f1/a.c", '#include "hal/stm32/f4/x.h"', "its own folder"),
    ("hal/stm32/f.c", "#include OTHER_MACRO", "macro"),
    ("tools/a.c", '#include "hal/uart.h"', "pure folders of firmware"),
    ("tools/x/b.c", '#include "firmware/main.h"', "pure folders of firmware"),
    ("test/a.c", '#include "harness.h"', 'write "test/support/harness.h"'),
    ("stray/a.c", "int x;", "no layer"),
] + [("%s/heap%d.c" % (layer, i), "int f(void) { %s(x); }" % call, "no heap")
     for i, (layer, call) in enumerate([
         ("dyn", "malloc"), ("firmware", "calloc"), ("hal/stm32", "realloc"),
         ("boards/one", "free"), ("firmware/control", "alloca"), ("hal", "strdup"),
         ("dyn", "__builtin_alloca")])] \
  + [("firmware/path%d.mk" % i, "X = 1 %s" % p, "path of one machine")
     for i, p in enumerate(MACHINE_PATHS)] \
  + [("tools/host%d.sh" % i, "get %s" % h, "registry") for i, h in enumerate(REGISTRIES)]


def test_lint_accepts_a_clean_tree(folder):
    write(folder, CLEAN)
    code, out = lint(folder)
    # All files except build/out.c are read; all of these except README.md are C.
    equal((0, "lint_includes: %d files, %d C sources, 0 findings"
           % (len(CLEAN) - 1, len(CLEAN) - 2)), (code, out.strip()), "lint")


def test_lint_finds_each_violation_and_nothing_else(folder):
    write(folder, CLEAN)
    # The violation is on line 2, to test the line number.
    write(folder, {path: "\n%s\n" % text for path, text, _ in VIOLATIONS})
    code, out = lint(folder)
    equal(1, code, "exit code")
    found = {}
    for line in out.splitlines()[:-1]:
        match = re.match(r"([^:]+):(\d+): (.*)", line)
        found.setdefault(match.group(1), []).append((int(match.group(2)), match.group(3)))
    for path, text, message in VIOLATIONS:
        equal(1, len(found.get(path, [])), "findings for %s in %s" % (text, path))
        number, said = found[path][0]
        equal(1 if path.startswith("stray/") else 2, number, "line of " + path)
        contains(message, said)
    equal(sorted(p for p, _, _ in VIOLATIONS), sorted(found), "files with findings")


def test_lint_finds_a_circle_of_folders(folder):
    """A circle through any number of folders is reported once, with the places that make it."""
    circle = {"tools/a/a.h": '#include "tools/b/b.h"\n', "tools/b/b.h": '#include "tools/c/c.h"\n',
              "tools/b/beside.h": '#include "tools/d/d.h"\n', "tools/d/d.h": "",
              "tools/c/c.c": '\n#include "tools/a/a.h"\n', "tools/c/c.h": ""}
    write(folder, dict(CLEAN, **circle))
    code, out = lint(folder)
    equal(1, code, "exit code")
    contains("tools/a -> tools/b (tools/a/a.h:1), tools/b -> tools/c (tools/b/b.h:1), "
             "tools/c -> tools/a (tools/c/c.c:2)", out)
    contains("1 finding\n", out)
    write(folder, {"tools/c/c.c": ""})
    equal(0, lint(folder)[0], "exit code without it")


def test_lint_sees_new_files_in_a_repository(folder):
    write(folder, dict(CLEAN, **{".gitignore": "build/\n"}))
    equal(0, run(["git", "init", "-q", folder])[0], "git init")
    equal(0, lint(folder)[0], "exit code for a clean tree")
    write(folder, {"dyn/new.c": "#include <stdio.h>\n"})
    code, out = lint(folder)
    equal(1, code, "exit code")
    contains("dyn/new.c:1: ", out)


def test_lint_of_nothing_is_red(folder):
    equal(1, lint(folder)[0], "exit code for an empty tree")


def lint_headers(folder, files):
    """Runs the lint on a tree with these files; returns the exit code, {header: compilers that
    refuse it}, and the output."""
    write(folder, files)
    os.symlink(os.path.join(ROOT, "build"), os.path.join(folder, "build"))  # contains CMSIS and unity
    code, out = run([os.path.join(TOOLS, "lint_headers.sh"), *files], cwd=folder)
    found = {}
    for path, compiler in re.findall(r"^(\S+) does not compile alone and twice with (\S+):", out, re.M):
        found.setdefault(path, []).append(compiler)
    return code, found, out


GUARDED = "#ifndef X_H\n#define X_H\n%s\n#endif\n"


def test_lint_accepts_headers_that_compile_alone(folder):
    code, found, out = lint_headers(folder, {
        "dyn/number/real_f64.h": "#ifndef R_H\n#define R_H\ntypedef double real;\n#endif\n",
        "dyn/kernel/a.h": GUARDED % "#include DYN_REAL_H\nreal f(real x);",
        "dyn/number/a.inc": "typedef missing template;\n",
        "dyn/paper/a.c": "missing\n",
        "hal/cortexm/a.h": GUARDED % "#ifndef HAL_CORE_H\n#error core\n#endif",
        "hal/stm32/f1/a.h": GUARDED % "#ifndef HAL_STM32F1\n#error family\n#endif",
        "hal/stm32/f4/a.h": GUARDED % "#ifndef HAL_STM32F4\n#error family\n#endif",
        "dyn/model/model.h": GUARDED % "#include <stdint.h>\ntypedef struct { uint32_t n; } model_t;",
        "test/support/unity_config.h": "",
        "test/support/a.h": GUARDED % "#include <unity.h>"})
    equal((0, {}, ""), (code, found, out), "lint of headers")


def test_lint_finds_each_header_that_does_not_compile_alone(folder):
    wrong = {
        "dyn/kernel/needs.h": (GUARDED % "uint32_t f(void);", ["gcc"]),
        "hal/unguarded.h": ("typedef struct { int a; } a_t;\n", ["gcc"]),
        "dyn/model/model.h": (GUARDED % "_Static_assert(1, \"C alone\");", ["g++"]),
        "firmware/params/image.h": (GUARDED % "size_t f(int class);", ["gcc", "g++"]),
    }
    files = {path: text for path, (text, _) in wrong.items()}
    code, found, out = lint_headers(folder, dict(files, **{
        "dyn/kernel/good.h": GUARDED % "#include <stdint.h>\nuint32_t f(void);",
        "tools/c_alone.h": GUARDED % "_Static_assert(1, \"no user includes it\");"}))
    if code == 0:
        raise AssertionError("exit code 0")
    equal({path: compilers for path, (_, compilers) in wrong.items()}, found, "findings")
    contains("unknown type name", out)


# ---------------------------------------------------------------------------------------- the stack

LINKER_SCRIPT = """
MEMORY
{
    FLASH (rx)  : ORIGIN = 0x08000000, LENGTH = 64K
    RAM   (rwx) : ORIGIN = 0x20000000, LENGTH = 16K
}
__flash_size = LENGTH(FLASH);
__ram_size = LENGTH(RAM);
__stack_top = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS
{
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
    .data : { __start = .; *(.data*) . = ALIGN(4); __end = .; } > RAM AT > FLASH
    __load = LOADADDR(.data);
    .bss (NOLOAD) : { *(.bss*) } > RAM
}
"""

# A vector table and functions that the programs share. use() keeps arrays alive. It is compiled
# without -fstack-usage, like a library.
COMMON = """
void use(volatile void *p);
void reset(void);
void irq(void);
void irq2(void);
void fault(void);
extern unsigned __stack_top;
typedef void (*vector_t)(void);
#define VECTORS(...) \\
    __attribute__((section(".vectors"), used)) const vector_t vectors[] = \\
        {(vector_t)&__stack_top, __VA_ARGS__};
#define NOINLINE __attribute__((noinline, noclone))
"""
LIBRARY = "void use(volatile void *p); void use(volatile void *p) { *(volatile char *)p; }\n"


def build(folder, source, stack_size=1024, library=LIBRARY, other="", options=()):
    write(folder, {"main.c": COMMON + source, "other.c": COMMON + other, "library.c": library,
                   "link.ld": LINKER_SCRIPT, "su/empty": ""})
    compile_ = [CC, *CPU, "-O2", "-g", "-ffreestanding"]
    for command in (compile_ + ["-fstack-usage", "-c", "main.c", "-o", "su/main.o"],
                    compile_ + ["-fstack-usage", "-c", "other.c", "-o", "su/other.o"],
                    compile_ + ["-c", "library.c", "-o", "library.o"],
                    [CC, *CPU, "-nostdlib", "-T", "link.ld", "su/main.o", "su/other.o", "library.o",
                     "-lgcc", "-o", "x.elf", "-Wl,--defsym=__stack_size=%d" % stack_size,
                     *options]):
        code, out = run(command, cwd=folder)
        equal(0, code, "%s: %s" % (" ".join(command), out))


def stack(folder, *options):
    return run([sys.executable, os.path.join(TOOLS, "stack.py"), "x.elf", "--su", "su", *options],
               cwd=folder)


def stack_json(folder, *options):
    done = subprocess.run([sys.executable, os.path.join(TOOLS, "stack.py"), "x.elf", "--su", "su",
                           "--json", *options], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.returncode, json.loads(done.stdout)


def frames(folder):
    """Returns the stack frames as gcc reports them."""
    with open(os.path.join(folder, "su", "main.su"), encoding="utf-8") as f:
        rows = [line.split("\t") for line in f]
    return {row[0].rpartition(":")[2]: int(row[1]) for row in rows}


NESTED = """
NOINLINE void deep(void) { volatile char a[200]; use(a); use(a); }
NOINLINE void shallow(void) { volatile char a[40]; use(a); use(a); }
NOINLINE void middle(void) { volatile char a[100]; use(a); deep(); shallow(); use(a); }
void reset(void) { middle(); for (;;) { } }
void irq(void) { volatile char a[60]; use(a); shallow(); use(a); }
void irq2(void) { volatile char a[20]; use(a); use(a); }
VECTORS(reset, irq, irq2, irq)
"""


def test_stack_adds_nested_calls_and_levels(folder):
    build(folder, NESTED)
    su = frames(folder)
    main = su["reset"] + su["middle"] + su["deep"]
    irq = su["irq"] + su["shallow"]
    irq2 = su["irq2"]
    code, result = stack_json(folder, "--group", "tick=irq", "--group", "slow=irq2")
    equal(0, code, "exit code")
    equal(main + irq + irq2 + 2 * FRAME, result["total"], "two levels")
    equal(["reset", "middle", "deep"], [p["function"] for p in result["entries"][0]["path"]],
          "path")
    equal(1024, result["limit"], "limit")
    equal(["use"], result["without_su"], "functions without .su")
    code, result = stack_json(folder, "--group", "tick=irq,irq2")
    equal(main + max(irq, irq2) + FRAME, result["total"], "one level")
    # A vector without a group may interrupt all others.
    code, result = stack_json(folder, "--irq-frame", "32")
    equal(main + irq + irq2 + 2 * FRAME_SHORT, result["total"], "no groups")


def test_stack_tells_statics_of_one_name_apart(folder):
    work = "static NOINLINE void work(void) { volatile char a[%d]; use(a); use(a); }\n"
    build(folder, work % 40 + "void reset(void) { work(); for (;;) { } }\nVECTORS(reset, irq)\n",
          other=work % 400 + "void irq(void) { work(); use(0); }\n")
    code, result = stack_json(folder)
    equal(0, code, "exit code")
    small, large = [e["path"][1] for e in result["entries"]]
    equal(("work", "work"), (small["function"], large["function"]), "paths")
    if not (40 <= small["bytes"] < 80 and 400 <= large["bytes"] < 440):
        raise AssertionError("frames %d and %d for arrays of 40 and 400" % (small["bytes"],
                                                                         large["bytes"]))


def test_stack_is_not_misled_by_other_programs(folder):
    build(folder, NESTED)
    total = stack_json(folder)[1]["total"]
    write(folder, {"su/x.su": "x.c:1:1:reset\t900\tstatic\nx.c:2:2:deep\t16\tdynamic\n"})
    code, result = stack_json(folder)
    equal((0, total), (code, result["total"]), "exit code and total beside another program's .su")


def test_stack_too_small(folder):
    build(folder, NESTED)
    total = stack_json(folder)[1]["total"]
    build(folder, NESTED, stack_size=total)
    equal(0, stack(folder)[0], "exit code when it just fits")
    build(folder, NESTED, stack_size=total - 4)
    code, out = stack(folder)
    equal(1, code, "exit code")
    contains("needs %d bytes of stack, __stack_size is %d: 4 bytes too few"
             % (total, total - 4), out)


def test_stack_recursion(folder):
    build(folder, "NOINLINE int even(int n); NOINLINE int odd(int n);\n"
                  "NOINLINE int even(int n) { use(&n); return n ? odd(n - 1) + 1 : 0; }\n"
                  "NOINLINE int odd(int n) { use(&n); return n ? even(n - 1) + 1 : 0; }\n"
                  "void reset(void) { even(9); for (;;) { } }\nVECTORS(reset)\n")
    code, out = stack(folder)
    equal(1, code, "exit code")
    contains("recursion has no bound: even -> odd -> even", out)


def test_stack_indirect_call(folder):
    build(folder, "vector_t hook;\n"
                  "NOINLINE void one(void) { volatile char a[300]; use(a); use(a); }\n"
                  "NOINLINE void two(void) { volatile char a[100]; use(a); use(a); }\n"
                  "NOINLINE void caller(void) { volatile int a; use(&a); hook(); use(&a); }\n"
                  "void reset(void) { hook = one; caller(); hook = two; caller(); for (;;) { } }\n"
                  "VECTORS(reset)\n")
    su = frames(folder)
    code, out = stack(folder)
    equal(1, code, "exit code")
    contains("caller calls through a pointer", out)
    code, result = stack_json(folder, "--indirect", "caller:one,two")
    equal(0, code, "exit code with --indirect")
    equal(su["reset"] + su["caller"] + su["one"], result["total"], "total")
    code, out = stack(folder, "--indirect", "caller:three")
    equal(1, code, "exit code for a function that is not there")
    contains("no function three", out)


def test_stack_indirect_tail_call(folder):
    build(folder, "vector_t hook;\nNOINLINE void caller(void) { hook(); }\n"
                  "void reset(void) { caller(); for (;;) { } }\nVECTORS(reset)\n")
    code, out = stack(folder)
    equal(1, code, "exit code")
    contains("caller calls through a pointer", out)


def test_stack_alloca(folder):
    build(folder, "NOINLINE void f(int n) { char *a = __builtin_alloca(n); use(a); use(a); }\n"
                  "volatile int n;\nvoid reset(void) { f(n); for (;;) { } }\nVECTORS(reset)\n")
    code, out = stack(folder)
    equal(1, code, "exit code")
    contains("f has a stack frame of variable size", out)
    # The same function in a library, which has no .su file, is an error, too.
    build(folder, "void f(int);\nvolatile int n;\nvoid reset(void) { f(n); for (;;) { } }\n"
                  "VECTORS(reset)\n",
          library=LIBRARY + "void f(int n) { char *a = __builtin_alloca(n); use(a); use(a); }\n")
    code, out = stack(folder)
    equal(1, code, "exit code for a library")
    contains("the stack frame of f is neither", out)


def test_stack_tail_call_leaves_its_frame(folder):
    # The frame of first() contains only registers whose values survive a call; an array on the
    # stack would prevent the tail call.
    build(folder, "volatile int v[4];\n"
                  "NOINLINE void last(void) { volatile char a[200]; use(a); use(a); }\n"
                  "NOINLINE void first(void) {\n"
                  "    int a = v[0], b = v[1], c = v[2], d = v[3];\n"
                  "    use(0); v[0] = b; v[1] = a; v[2] = d; v[3] = c; last(); }\n"
                  "void reset(void) { first(); for (;;) { } }\nVECTORS(reset)\n")
    su = frames(folder)
    code, out = run(["arm-none-eabi-objdump", "-d", "x.elf"], cwd=folder)
    if not re.search(r"\bb\.[wn]\s.*<last>", out) or not su["first"]:
        raise AssertionError("the compiler made no tail call: this test shows nothing")
    code, result = stack_json(folder)
    equal(0, code, "exit code")
    equal(su["reset"] + max(su["first"], su["last"]), result["total"], "total")
    equal([("first", 0), ("last", su["last"])],
          [(p["function"], p["bytes"]) for p in result["entries"][0]["path"]][1:], "path")


def test_stack_own_stack_of_the_fault_handler(folder):
    source = "NOINLINE void dump(void) { volatile char a[200]; use(a); use(a); for (;;) { } }\n" \
             "__attribute__((naked)) void fault(void) {\n" \
             "    __asm volatile(\"msr msp, r3\\npush {r4-r11}\\nb dump\"); }\n" \
             "void reset(void) { for (;;) { } }\nVECTORS(reset, fault)\n"
    build(folder, source, options=("-Wl,--defsym=__fault_size=512",))
    su = frames(folder)
    own = ("--own-stack", "fault=__fault_size")
    code, result = stack_json(folder, *own)
    equal(0, code, "exit code")
    equal(32 + su["dump"], result["own_stacks"][0]["worst"], "own stack")
    equal(su["reset"] + FRAME, result["total"], "main stack: the frame that the core pushes")
    build(folder, source, options=("-Wl,--defsym=__fault_size=%d" % (32 + su["dump"] - 4),))
    code, out = stack(folder, *own)
    equal(1, code, "exit code")
    contains("4 bytes too few", out)


def test_stack_bad_vector(folder):
    build(folder, "void reset(void) { for (;;) { } }\nVECTORS(reset, (vector_t)0x20000001)\n")
    code, out = stack(folder)
    equal(1, code, "exit code")
    contains("vector 2 of vectors is 0x20000001", out)


# This program measures the true stack depth: it records its lowest stack pointer on the way down
# through calls, a jump table, a tail call, a function with variable arguments (whose .su is too
# small in gcc 12), code in RAM called through a veneer, and an interrupt that it pends itself at
# the deepest point.
MEASURED = """
#include <stdarg.h>
extern unsigned __load, __start, __end;
static volatile unsigned lowest = 0xFFFFFFFF;
static inline __attribute__((always_inline)) void note(void) {
    unsigned sp;
    __asm volatile("mov %0, sp" : "=r"(sp));
    if (sp < lowest) lowest = sp;
}
static void quit(const char *text) {
    register unsigned r0 __asm("r0") = 4;
    register const void *r1 __asm("r1") = text;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    static const unsigned end[2] = {0x20026, 0};
    r0 = 0x20;
    r1 = end;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
volatile float x = 1.0f;
NOINLINE void in_irq(void) { volatile char a[52]; use(a); note(); use(a); }
void irq(void) { in_irq(); x = x + 1.0f; }
NOINLINE __attribute__((section(".data.ramfunc"))) void in_ram(void) {
    volatile char a[80];
    use(a);
    note();
    *(volatile unsigned *)0xE000ED04 = 1u << 28; /* ICSR.PENDSVSET */
    __asm volatile("dsb\\nisb");
    use(a);
}
NOINLINE void variable(int n, ...) {
    va_list list;
    va_start(list, n);
    volatile int a[3] = {va_arg(list, int)};
    va_end(list);
    in_ram();
    use(a);
}
NOINLINE void by_tail(int n) { use(0); x += 1.0f; variable(n, n + 1); }
NOINLINE void choose(int n) {
    switch (n) { /* a jump table */
    case 0: use((void *)1); x += 2.0f; break;
    case 1: use((void *)9); x -= 3.0f; break;
    case 2: use((void *)5); x *= 4.0f; break;
    case 3: by_tail(5); x -= 7.0f; break;
    case 4: use((void *)7); x /= 6.0f; break;
    case 5: use((void *)3); x = 7.0f; break;
    }
}
NOINLINE void first(void) { volatile char a[24]; a[0] = 1; use(a); choose(a[0] ? 3 : 1); use(a); }
void reset(void) {
    *(volatile unsigned *)0xE000ED88 = 0xFu << 20; /* CPACR: FPU on, its registers are pushed */
    __asm volatile("dsb\\nisb");
    for (unsigned *from = &__load, *to = &__start; to < &__end;) *to++ = *from++;
    lowest = 0xFFFFFFFF;
    x = x * 2.0f;
    first();
    static char text[11];
    unsigned used = (unsigned)&__stack_top - lowest;
    for (int i = 8; i >= 0; i--, used /= 10) text[i] = (char)('0' + used % 10);
    text[9] = '\\n';
    quit(text);
    for (;;) { }
}
VECTORS(reset, reset, reset, reset, reset, reset, reset, reset, reset, reset, reset, reset, reset,
        irq, reset)
"""


def test_stack_agrees_with_what_runs(folder):
    build(folder, MEASURED)
    code, result = stack_json(folder, "--group", "pendsv=irq")
    equal([], result["errors"], "errors")
    equal(["reset", "first", "choose", "by_tail", "variable"],
          [p["function"] for p in result["entries"][0]["path"]][:5], "path")
    code, out = run(["qemu-system-arm", "-M", BOARD, "-display", "none", "-monitor", "none",
                     "-serial", "null", "-semihosting-config", "enable=on,target=native",
                     "-kernel", "x.elf"], cwd=folder)
    equal(0, code, "emulator: " + out)
    # The prediction is exact, except for the word that the core adds only if it must align its
    # frame.
    measured = int(out)
    if measured not in (result["total"], result["total"] - 4):
        raise AssertionError("predicted %d, measured %d" % (result["total"], measured))


# ----------------------------------------------------------------------------------------- the size

def test_size_reports_and_shows_what_moved(folder):
    build(folder, "volatile int d[10] = {1}; volatile int b[20];\n"
                  "void reset(void) { d[0] = b[0]; for (;;) { } }\nVECTORS(reset)\n")
    tool = [sys.executable, os.path.join(TOOLS, "size.py")]
    code, out = run(tool + ["a:x.elf", "--csv", "old.csv"], cwd=folder)
    equal(0, code, "size.py: " + out)
    with open(os.path.join(folder, "old.csv"), encoding="utf-8") as f:
        header, row = f.read().splitlines()
    old = dict(zip(header.split(","), row.split(",")))
    equal(("40", "80", "1024", "65536", "16384", str(40 + 80 + 1024)),
          tuple(old[c] for c in ("data", "bss", "stack", "flash_total", "ram_total", "ram_used")),
          "row")
    code, out = run(["arm-none-eabi-size", "x.elf"], cwd=folder)
    equal(out.splitlines()[1].split()[0], old["text"], "text against binutils")
    build(folder, "volatile int d[10] = {1}; volatile int b[30];\n"
                  "void reset(void) { d[0] = b[0]; for (;;) { } }\nVECTORS(reset)\n")
    code, out = run(tool + ["a:x.elf", "--diff", "old.csv"], cwd=folder)
    equal(0, code, "size.py --diff: " + out)
    moved = [line.split()[:2] for line in out.splitlines() if "->" in line]
    equal([["a", "bss"], ["a", "ram_used"]], moved, "what moved")
    contains("+40", out)
    write(folder, {"bad.elf": "not an image"})
    code, out = run(tool + ["a:bad.elf"], cwd=folder)
    equal(1, code, "exit code for a file that is not a program")
    contains("bad.elf is not a 32-bit", out)


# ----------------------------------------------------------------------------------------- the heap

HEAP = """
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
void *sbrk(ptrdiff_t);
void *_sbrk(ptrdiff_t);
void reset_handler(void);
void *volatile p;
%s
void reset_handler(void) { %s; for (;;) { } }
__attribute__((section(".vectors"), used)) void (*const vectors[])(void) = {0, reset_handler};
"""
OWN_SBRK = "void *_sbrk(ptrdiff_t n) { static char pool[64]; return pool + n; }"


def link_with_firmware_flags(folder, before, statement):
    write(folder, {"heap.c": HEAP % (before, statement)})
    return run([CC, "-O1", "-ffunction-sections", "-fno-builtin", os.path.join(folder, "heap.c"),
                *shlex.split(make_variable("LDFLAGS")), "-lc", "-lgcc", "-o",
                os.path.join(folder, "heap.elf")], cwd=ROOT)


def test_heap_program_without_links(folder):
    code, out = link_with_firmware_flags(folder, "", "memset((void *)p, 0, 4)")
    equal(0, code, "link: " + out)
    if elf.Elf(os.path.join(folder, "heap.elf")).find("reset_handler") is None:
        raise AssertionError("the image is empty")


def test_heap_each_way_to_it_stops_the_link(folder):
    for before, statement, name in (("", "p = malloc(4)", "malloc"),
                                    (OWN_SBRK, "p = malloc(4)", "malloc"),
                                    (OWN_SBRK, "p = calloc(1, 4)", "malloc"),
                                    (OWN_SBRK, "p = realloc(p, 4)", "malloc"),
                                    (OWN_SBRK, "p = strdup(\"x\")", "malloc"),
                                    (OWN_SBRK, "free(p)", "free"),
                                    (OWN_SBRK, "p = _sbrk(4)", "sbrk"),
                                    ("", "p = sbrk(4)", "sbrk")):
        code, out = link_with_firmware_flags(folder, before, statement)
        if code == 0:
            raise AssertionError("%s was linked" % statement)
        if not re.search(r"no heap.*\b%s\b" % name, out):
            raise AssertionError("%s: the message does not name heap and %s: %s"
                                 % (statement, name, out))


# ------------------------------------------------------------------------------------ the editors' file

def compile_commands():
    """Returns the entries that `make compile_commands.json` writes for BOARD; restores an existing
    file."""
    path = os.path.join(ROOT, "compile_commands.json")
    old = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            old = f.read()
    try:
        code, out = run(["make", "-s", "--no-print-directory", "BOARD=" + BOARD, "compile_commands.json"], cwd=ROOT,
                        env=make_environment())
        equal(0, code, "make compile_commands.json: " + out)
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    finally:
        if old is not None:
            write(ROOT, {"compile_commands.json": old})
        elif os.path.exists(path):
            os.remove(path)


def test_editors_know_how_each_file_is_compiled(folder):
    """Firmware, tool and host tests have one entry per file, and its command works."""
    entries = compile_commands()
    files = [entry["file"] for entry in entries]
    equal(sorted(set(files)), sorted(files), "files")
    by_file = {entry["file"]: entry["arguments"] for entry in entries}
    for path, compiler in (("firmware/main.c", CC), ("hal/cortexm/start.c", CC), ("boards/%s/board.c" % BOARD, CC),
                           ("firmware/app/tick.c", "gcc"), ("dyn/paper/ne.c", "gcc"), ("tools/cmd/main.c", "gcc"),
                           ("test/tools/robot/test_robot_load.c", "gcc")):
        words = by_file[path]
        equal(compiler, words[0], "compiler of " + path)
        words[words.index("-o") + 1] = os.path.join(folder, "x.o")
        code, out = run(words, cwd=ROOT)
        equal(0, code, "%s: %s" % (path, out))


# ------------------------------------------------------------------------------------------------ flags


def test_other_flags_compile_everything_again(folder):
    """Objects that disagree about a struct would link without a message, so other flags must
    compile all of them again. Tests a kernel, the core and the program."""
    names = ["dyn/paper/crba_q31.o", "firmware/app/tick.o", "firmware/params/bytes.o", "firmware/print.o"]
    paths = [os.path.join(folder, "stm32vldiscovery/lab", name) for name in names]

    def made(*words):
        """Returns the objects that make has built."""
        before = [os.stat(path).st_mtime_ns if os.path.exists(path) else 0 for path in paths]
        code, out = run(["make", "-s", "--no-print-directory", "BOARD=stm32vldiscovery", "LAB=1", "BUILD=" + folder, *words, *paths],
                        cwd=ROOT, timeout=5 * TIMEOUT_S)
        equal(0, code, out)
        return [name for name, path, then in zip(names, paths, before) if os.stat(path).st_mtime_ns != then]

    equal(names, made(), "the first time")
    equal([], made("WERROR=1"), "nothing has changed, warnings as errors do not count")
    equal(names, made("BOARD_DEFS=-DSOMETHING_ELSE"), "as if board.mk had other defines")
    equal(names[:2], [name for name in made("BOARD_DEFS=-DSOMETHING_ELSE", "DYN_FLAGS_q31=-DDYN_FAST_SMALL") if name in names[:2]],
          "flags of a number type")


if __name__ == "__main__":
    sys.exit(main(globals()))
