#!/usr/bin/env python3
"""Runs test jobs in parallel and decides, without trusting any of them, whether they passed.

    runtests.py JOBFILE [--jobs N] [--timeout S] [--times FILE] [--began S] [--verbose] [--notes]
                [--measured DIR] [--long]

A line of JOBFILE is `machine|test|command`; blank lines and lines that start with # are skipped. A
word after the test's name, as in `test_link 2/3`, says which part of the test the job is.
The command is run by sh. It prints `RUN <case>` before each test case, Unity's result line after
it, and Unity's summary at the end, on stdout or stderr (semihosting writes to stderr). Lines
`NOTE ...` are findings, which --notes shows. Lines `measured ...` are numbers for the pages
(tools/dev/measured.py): DIR gets those of every job that passed, and the run ends with a notice
if they differ from the accepted ones.

An exit code of 0 alone proves nothing: an emulator that is killed, a target that stops printing or
a harness that loses a case can all end with it. So a job is good only if the exit code is 0, there
is one summary, its counts are those of the result lines seen, every RUN has its result, nothing
failed, no sanitizer reported anything, and at least one case ran. The last line is `N passed, N failed`.

The longest jobs start first, so that none runs alone at the end; FILE stores how long they took.
Jobs that wait, for an emulator that sleeps or for a time to pass, leave processors idle: then more
than N run at once.
"""

import argparse
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import measured  # noqa: E402
import pages  # noqa: E402

# Limit of a job's output in bytes. A target that prints without end would otherwise fill the
# machine's memory before the time-out.
OUTPUT_LIMIT = 8 << 20
TAIL_LINES = 15
SANITIZER_LINES = 12

# More jobs than --jobs start, up to CROWD times as many, while at least IDLE_SHARE of a processor
# was idle for IDLE_WINDOW_S. On a machine that others keep busy, at most --jobs run at once.
CROWD = 3
IDLE_SHARE = 0.3
IDLE_WINDOW_S = 1.0

# Patterns may match inside a line, because the UART shares the pipe and may leave a line open.
# Names of cases may contain more than word characters: a script may name a board in them.
RUN = re.compile(r"\bRUN ([^\s:]+)\s*$")
RESULT = re.compile(r"([^\s:]+):(\d+):([^\s:]+):(PASS|FAIL|IGNORE)\b:? ?(.*)$")
NOTE = re.compile(r"^NOTE (.*)$")
SUMMARY = re.compile(r"\b(\d+) Tests (\d+) Failures (\d+) Ignored")
SANITIZER = re.compile(r"^==\d+==\s?ERROR: \w+Sanitizer|^\S+:\d+:\d+: runtime error: ")

# Every line of interest contains one of these texts. This is a quick first test for megabytes of
# output.
MAY_MATTER = re.compile(rb"RUN |:[PFI]|Tests|runtime error|Sanitizer|NOTE ")


# Environment of the scripts: the folders of their shared modules. main adds the cache of the
# annealer.
ENVIRONMENT = dict(os.environ, PYTHONPATH=os.pathsep.join(["test/support", "test/system", "tools/dev"]))


class Job:
    def __init__(self, machine, test, command):
        self.machine = machine
        self.test = test
        self.command = command
        self.seconds = 0.0
        self.processor_s = 0.0
        self.passed = 0
        self.ignored = []  # (case, reason)
        self.notes = []
        self.measured = []  # (name, text, whether it is a block)
        self.failures = []  # (headline, detail lines)

    def name(self):
        return re.sub("^test_", "", self.test.split()[0])

    def again(self, long=False):
        return "make %s TEST=%s BOARD=%s" % ("test-long" if long else "test", self.name(),
                                             "host" if self.machine == "script" else self.machine)


class JobFileError(Exception):
    pass


def read_jobs(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            lines = f.read().splitlines()
    except OSError as e:
        raise JobFileError("cannot read the job file %s: %s" % (path, e.strerror))
    jobs = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("|", 2)
        if len(fields) != 3 or not all(f.strip() for f in fields):
            raise JobFileError("%s:%d: not of the form machine|test|command: %s"
                               % (path, number, line))
        jobs.append(Job(*(f.strip() for f in fields)))
    if not jobs:
        raise JobFileError("%s holds no jobs: no test was selected (a TEST= or BOARD= that matches "
                           "nothing?), and nothing tested is not a success" % path)
    return jobs


def read_times(path):
    """Returns the seconds that earlier jobs took, {(machine, test): (seconds, processor seconds)};
    empty if there is no readable file."""
    try:
        with open(path, encoding="utf-8") as f:
            rows = [line.split("|") for line in f.read().splitlines()]
        return {(machine, test): (float(wall), float(processor)) for machine, test, wall, processor in rows}
    except (OSError, ValueError):
        return {}


def write_times(path, times, jobs):
    """Updates the times of these jobs and keeps the times of others, because a run may have only
    one test."""
    times.update(((j.machine, j.test), (j.seconds, j.processor_s)) for j in jobs if not j.failures)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.writelines("%s|%s|%.2f|%.2f\n" % (key + value) for key, value in sorted(times.items()))
    os.replace(path + ".new", path)


def longest_first(jobs, times):
    """Sorts the jobs by their earlier times, longest first. Among new jobs, scripts count as the
    longest."""
    def guess(job):
        return times.get((job.machine, job.test), (1000.0 if job.machine == "script" else 1.0,))[0]
    return sorted(jobs, key=guess, reverse=True)


def printable(data):
    """Returns the text of a line of output. Bad bytes are replaced, so that they neither stop the
    run nor reach the terminal."""
    text = data.decode("utf-8", errors="backslashreplace").rstrip("\r")
    return "".join(c if c.isprintable() or c == "\t" else "\\x%02x" % ord(c) for c in text)


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


def describe_exit(code, machine):
    """Explains an exit code other than 0. sh reports a signal of its child as 128 + number."""
    number = -code if code < 0 else code - 128 if 128 < code < 192 else 0
    if not number:
        return "exit code %d" % code
    name = signal_name(number)
    if number == signal.SIGABRT and machine not in ("host", "script"):
        return "exit code 134 (%s): the emulated core locked up, a fault inside the fault handler" \
            % name
    if number == signal.SIGKILL:
        return "killed (%s)" % name
    return "crashed (%s)" % name


class Runner:
    """Owns the processes, so that a time-out or Ctrl-C can end each job with all its children."""

    def __init__(self, timeout):
        self.timeout = timeout
        self.lock = threading.Lock()
        self.running = set()
        self.stopped = False

    @staticmethod
    def kill_group(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                self.kill_group(process)

    def run(self, job):
        """Runs a job. Returns (output in bytes, exit code, None or the reason why it was ended), or
        None if the runner was stopped."""
        with self.lock:
            if self.stopped:
                return None
            # A new session gives the job its own process group, with everything that the job
            # starts.
            process = subprocess.Popen(["sh", "-c", job.command], stdin=subprocess.DEVNULL, env=ENVIRONMENT,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            self.running.add(process)
        chunks = []
        ended = []

        def read():
            size = 0
            while True:
                chunk = os.read(process.stdout.fileno(), 65536)
                if not chunk:
                    return
                size += len(chunk)
                if size > OUTPUT_LIMIT:
                    ended.append("printed more than %d MB" % (OUTPUT_LIMIT >> 20))
                    self.kill_group(process)
                    return
                chunks.append(chunk)

        def time_out():
            ended.append("timed out after %g s" % self.timeout)
            self.kill_group(process)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        timer = threading.Timer(self.timeout, time_out)
        timer.start()
        # WNOWAIT does not reap the process, so its number stays reserved until the group is killed.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        timer.cancel()
        timer.join()
        # Done after a normal end, too, because a child left in the background would keep the pipe
        # open.
        self.kill_group(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        job.processor_s = usage.ru_utime + usage.ru_stime
        reader.join(5)
        with self.lock:
            self.running.discard(process)
            if self.stopped:
                return None
        return b"".join(chunks), process.returncode, ended[0] if ended else None


def judge(job, output, code, ended):
    """Fills in the job's results from its output and exit code."""
    lines = output.split(b"\n")
    if not lines[-1]:
        lines.pop()
    report = []
    results = []
    summaries = []
    orphans = []  # cases without a result when another case started
    current = None
    job.measured, taken, wrong = measured.printed(lines)
    for i, line in enumerate(lines):
        if i in taken or not MAY_MATTER.search(line):
            continue
        line = printable(line)
        if not report and SANITIZER.search(line):
            report = lines[i:i + SANITIZER_LINES]
        match = NOTE.search(line)
        if match:
            job.notes.append(match.group(1))
            continue
        match = RESULT.search(line)
        if match:
            path, number, case, verdict, message = match.groups()
            results.append((case, verdict))
            if verdict == "PASS":
                job.passed += 1
            elif verdict == "IGNORE":
                job.ignored.append((case, message or "no reason given"))
            else:
                job.failures.append(("assertion: %s failed on %s at %s:%s: %s"
                                     % (case, job.machine, path, number,
                                        message or "no message"), []))
            current = None
            continue
        match = SUMMARY.search(line)
        if match:
            summaries.append(tuple(int(n) for n in match.groups()))
            continue
        match = RUN.search(line)
        if match:
            # After a reset that a case has announced, the harness starts the same case again.
            if current and current != match.group(1):
                orphans.append(current)
            current = match.group(1)
    assertions = len(job.failures)
    tail = [printable(line) for line in report or lines[-TAIL_LINES:]]
    where = "in %s on %s" % (current, job.machine) if current else \
        "%s of %s on %s" % ("after the last case" if results else "before the first case",
                            job.test, job.machine)

    def fail(kind, headline):
        job.failures.append(("%s: %s" % (kind, headline), tail))

    if ended:
        fail("hang" if ended.startswith("timed out") else "runaway", "%s %s" % (ended, where))
    elif report:
        fail("crash", "sanitizer report %s (%s)" % (where, describe_exit(code, job.machine)
                                                    if code else "exit code 0"))
    elif code and (current or not summaries):
        fail("crash", "%s %s" % (describe_exit(code, job.machine), where))
    elif not summaries:
        fail("no summary", "ended with exit code 0 and no summary line %s" % where)
    elif current:
        fail("no result", "%s printed no result line on %s" % (current, job.machine))
    elif code and not assertions:
        fail("exit code", "%s of %s on %s although no assertion failed"
             % (describe_exit(code, job.machine), job.test, job.machine))
    for text in wrong:
        fail("measured", "%s in %s on %s" % (text, job.test, job.machine))
    for case in orphans:
        fail("no result", "%s on %s was started and never ended (did the target restart?)"
             % (case, job.machine))
    if len(summaries) > 1:
        fail("summary", "%d summary lines from %s on %s instead of one"
             % (len(summaries), job.test, job.machine))
    elif summaries:
        seen = (len(results), assertions, len(job.ignored))
        if summaries[0] != seen:
            fail("summary", "%s on %s says %d Tests %d Failures %d Ignored, its result lines are "
                 "%d, %d and %d" % ((job.test, job.machine) + summaries[0] + seen))
        elif not results:
            fail("no tests", "%s on %s ran no test case" % (job.test, job.machine))


def default_jobs():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Idle:
    """Measures how many of the processors that this process may use were idle since begin()."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.since, self.ticks = time.monotonic(), self.read()

    @staticmethod
    def read():
        """Returns the idle time of the processors in clock ticks, or 0 if the system does not
        report it."""
        try:
            names = {"cpu%d" % number for number in os.sched_getaffinity(0)}
            with open("/proc/stat", encoding="utf-8") as f:
                return sum(int(line.split()[4]) for line in f if line.split()[0] in names)
        except (AttributeError, OSError, ValueError, IndexError):
            return 0

    def room(self):
        """Returns True if a processor is free for one more job; at most once in IDLE_WINDOW_S."""
        passed_s = time.monotonic() - self.since
        if passed_s < IDLE_WINDOW_S:
            return False
        idle = (self.read() - self.ticks) / os.sysconf("SC_CLK_TCK") / passed_s
        self.begin()
        return idle > IDLE_SHARE


def run_job(runner, job, done):
    start = time.monotonic()
    try:
        ran = runner.run(job)
        if ran is None:
            return
        job.seconds = time.monotonic() - start
        judge(job, *ran)
    except Exception as e:  # a job that cannot start counts as failed
        job.failures.append(("not started: %s on %s: %s" % (job.test, job.machine, e), []))
    done.put(job)


def print_progress(job, widths, notes):
    cases = job.passed + len(job.ignored) + len(job.failures)
    print("%-4s %-*s %-*s %3d test%s %.1f s"
          % ("FAIL" if job.failures else "ok", widths[0], job.machine, widths[1], job.test,
             cases, " " if cases == 1 else "s", job.seconds))
    for note in job.notes if notes else []:
        print("     " + note)
    for headline, _ in job.failures:  # printed at once, because the report comes minutes later
        print("     " + headline)
    sys.stdout.flush()


def keep_measured(folder, jobs, long):
    """Writes the values that the jobs measured. Returns a notice if they differ from the accepted
    values."""
    kept = {}
    for job in jobs:
        if not job.failures:
            path = measured.keep(folder, "%s.%s%s" % (job.machine, job.test, ".long" if long else ""),
                                 job.again(long), job.measured)
            if path:
                kept[path] = job
    try:
        new, _ = measured.changes(".", list(kept), pages.shown_in(".") if kept else set())
    except (OSError, ValueError) as e:
        return "what was measured was not compared with what is accepted: %s" % e
    if not new:
        return None
    tests = sorted({job.name() for job in kept.values() if any(name in new for name, _, _ in job.measured)})
    on_host = all(job.machine in ("host", "script") for job in kept.values())
    return '%d measured value%s differ%s from those accepted (%s%s): make measure TEST="%s"%s%s' % (
        len(new), "s" * (len(new) > 1), "s" * (len(new) == 1), ", ".join(list(new)[:3]), ", ..." * (len(new) > 3),
        " ".join(tests), " BOARD=host" * on_host, " LONG=1" * long)


def print_report(jobs, unfinished, verbose, took, long=False, notice=None):
    ignored = [(job, case, reason) for job in jobs for case, reason in job.ignored]
    if ignored:
        print("\nignored:")
        for job, case, reason in ignored:
            print("  %s in %s on %s: %s" % (case, job.test, job.machine, reason))
    if verbose:
        print("\nslowest:")
        for job in sorted(jobs, key=lambda j: -j.seconds)[:10]:
            print("  %6.1f s, %6.1f s of processor  %s on %s"
                  % (job.seconds, job.processor_s, job.test, job.machine))
    bad = [job for job in jobs if job.failures]
    if bad:
        print("\nfailures:")
    for job in bad:
        for headline, detail in job.failures:
            print("  " + headline)
            for line in detail:
                print("      | " + line)
        print("    again: " + job.again(long))
    for job in unfinished:
        print("  not finished: %s on %s" % (job.test, job.machine))
    failed = sum(len(job.failures) for job in jobs) + len(unfinished)
    if ignored or verbose or bad or unfinished:
        print()
    if notice:
        print(notice)
    print(took)
    print("%d passed, %d failed" % (sum(job.passed for job in jobs), failed), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description="run test jobs and judge their output")
    parser.add_argument("jobfile")
    parser.add_argument("--jobs", type=int, default=default_jobs(), metavar="N",
                        help="how many at once while none waits (default: the number of cores)")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S",
                        help="seconds that one job may take (default: 120)")
    parser.add_argument("--times", metavar="FILE", help="where to keep how long each job took")
    parser.add_argument("--began", type=float, metavar="S",
                        help="when compiling began, in seconds since 1970: how long it took is told")
    parser.add_argument("--notes", action="store_true", help="show what the tests found out")
    parser.add_argument("--measured", metavar="DIR", help="where to keep the numbers for the pages")
    parser.add_argument("--long", action="store_true", help="these are the tests of make test-long")
    parser.add_argument("--verbose", action="store_true", help="name the slowest jobs")
    args = parser.parse_args()
    if args.jobs < 1 or args.timeout <= 0:
        parser.error("--jobs and --timeout must be greater than 0")
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        jobs = read_jobs(args.jobfile)
    except JobFileError as e:
        print(e)
        print("0 passed, 1 failed")
        return 1

    ENVIRONMENT.setdefault("APPELL_CACHE", os.path.join(os.path.dirname(os.path.abspath(args.jobfile)), "anneal"))

    def interrupt(_number, _frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    runner = Runner(args.timeout)
    done = queue.Queue()
    times = read_times(args.times) if args.times else {}
    todo = longest_first(jobs, times)
    widths = (max(len(j.machine) for j in jobs), max(len(j.test) for j in jobs))
    started = time.time()
    idle = Idle()
    finished = []
    interrupted = False
    try:
        while len(finished) < len(jobs):
            running = len(jobs) - len(todo) - len(finished)
            if todo and (running < args.jobs or running < CROWD * args.jobs and idle.room()):
                threading.Thread(target=run_job, args=(runner, todo.pop(0), done), daemon=True).start()
                idle.begin()
                continue
            try:
                # The wait has a time-out, because a signal that comes just before it would be
                # handled only after it.
                job = done.get(timeout=0.2)
            except queue.Empty:
                continue
            finished.append(job)
            print_progress(job, widths, args.notes)
    except KeyboardInterrupt:
        interrupted = True
        runner.stop()
        print("\ninterrupted: the running jobs were ended")
    took = "tests ran in %.0f s, %.0f s of processor" % (time.time() - started, sum(j.processor_s for j in finished))
    if args.began:
        took = "compiled in %.0f s, %s" % (started - args.began, took)
    if args.times:
        write_times(args.times, times, finished)
    order = {id(job): i for i, job in enumerate(jobs)}
    finished.sort(key=lambda job: order[id(job)])
    unfinished = [job for job in jobs if job not in finished]
    notice = keep_measured(args.measured, finished, args.long) if args.measured else None
    failed = print_report(finished, unfinished, args.verbose, took, args.long, notice)
    return 130 if interrupted else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
