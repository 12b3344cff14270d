#!/usr/bin/env python3
"""Runs the bench programs in the emulator and writes their results to build/bench.csv.

    bench.py run [--board B,..] [--robot R,..] [--problem P,..] [--method M,..] [--real X,..]
                 [--ci] [--baseline FILE] [--csv FILE] [--plugin FILE]
    bench.py run --explain ROBOT,PROBLEM,METHOD,REAL[,BOARD]
    bench.py accept

A row is one kernel on one robot and board. Instructions are executed instructions, counted by the
emulator's clock (hal/cycles.h) from the first instruction of the kernel to its return: the minimum
and the maximum over 100 random states. cycles_est is an estimate for the most expensive state: the
plugin (tools/bench/plugin.c) counts the same instructions by class, and tools/bench/cores.h has the
cycles of each class. Both counts must agree. flops are multiplications, additions, divisions and
square roots as the `count` backend sees them, without sine and cosine. text_bytes is the code of the
kernel and of everything it calls, without tables of constants; stack_bytes is its deepest stack
(tools/dev/stack.py); scratch and arm are memory of the caller.

A full run writes build/bench.csv. Every run is compared with tools/bench/baseline.csv, which
`accept` replaces by the rows of BASELINE_ROBOTS in build/bench.csv. With --ci the exit code is 1 if
a row takes over 2 % more instructions or estimated cycles than the baseline, or is missing.
"""

import argparse
import bisect
import concurrent.futures
import csv
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "dev"))
import elf  # noqa: E402
import stack  # noqa: E402

HEADER = ["board", "cpu", "robot", "n", "problem", "method", "real", "instructions_min",
          "instructions_max", "cycles_est", "flops", "text_bytes", "stack_bytes"]
KEY = ["board", "robot", "problem", "method", "real"]
CPUS = {"m3": "cortex-m3", "m4f": "cortex-m4f", "m7": "cortex-m7"}
BOARDS = ("netduinoplus2", "netduino2", "mps2-an500")
REALS = ("f32", "q31", "f64")
# The robots of the baseline: a real arm; an arm with a prismatic joint; a long chain, which shows
# how costs grow with the number of joints; and elastic links in the plane and in space, whose
# kernels no other robot calls.
BASELINE_ROBOTS = ("puma560", "stanford", "chain30", "flex2", "flexspace")
SLOWER = 1.02
TIMEOUT_S = 300

SYMBOLS = {"id": "inverse", "mass": "mass", "fd": "forward", "bias": "bias", "gravity": "gravity",
           "coriolis": "coriolis"}
TICK = {"sense": "control_sense", "estimate": "control_estimate", "reference": "reference_step",
        "dynamics": "control_dynamics", "feedback": "control_feedback", "drive": "control_drive",
        "sim_arm": "sim_arm_step", "-": "app_tick", "arm": "app_tick"}
ONLY = {"fk": "pose", "jacobian": "jacobian", "volt": "voltage"}


class BenchError(Exception):
    pass


def symbol_of(problem, method, real):
    """Name of the function that a row measures."""
    if method == "textbook":
        return "textbook_" + SYMBOLS[problem]
    if method == "gen":
        return "gen_%s_%s" % (real, problem)
    if method == "plain":
        return "dyn_yardstick_inverse"
    if problem == "tick":
        return TICK[method]
    if problem == "flex":
        return "dyn_flex_%s_%s" % (method, real)
    if problem in ONLY:
        return "dyn_%s_%s" % (ONLY[problem], real)
    return "dyn_%s_%s_%s" % (method, SYMBOLS[problem], real)


class Board:
    def __init__(self, name, build, program="bench.elf"):
        self.name = name
        path = os.path.join(ROOT, "boards", name, "board.mk")
        try:
            with open(path, encoding="utf-8") as f:
                text = f.read()
        except OSError:
            raise BenchError("there is no board %s: the bench runs on %s" % (name,
                                                                           ", ".join(BOARDS)))

        def value(key):
            match = re.search(r"^%s\s*:=\s*([^#\s]*)" % key, text, re.M)
            if not match:
                raise BenchError("%s does not say %s" % (path, key))
            return match.group(1)
        self.core = value("CPU")
        self.machine = value("QEMU_MACHINE")
        self.shift = value("ICOUNT_COUNT")
        self.objects = os.path.join(build, name, "lab")
        self.elf = os.path.join(self.objects, program)
        if not os.path.exists(self.elf):
            raise BenchError("%s is not there: make bench builds it" % self.elf)
        image = elf.Elf(self.elf)
        self.markers = {m: image.value("bench_" + m) & ~1 for m in ("begin", "end", "row")}

    def command(self, choice, plugin):
        words = " ".join("%s=%s" % item for item in choice.items())
        # In an option of the emulator a comma is written twice.
        command = ["qemu-system-arm", "-M", self.machine, "-display", "none", "-monitor", "none",
                   "-serial", "null", "-icount", "shift=%s,sleep=off" % self.shift,
                   "-semihosting-config",
                   "enable=on,target=native,arg=bench,arg=" + words.replace(",", ",,"),
                   "-kernel", self.elf]
        if plugin:
            options = ["core=" + self.core] + ["%s=0x%x" % m for m in self.markers.items()]
            options += ["%s=%s" % (k, v) for k, v in plugin.items() if k != "file"]
            command += ["-plugin", ",".join([plugin["file"]] + options)]
        return command


def emulate(board, choice, plugin):
    """Runs one emulator. Returns the rows of the program, the lines of the plugin or None, the exit
    code and the output."""
    try:
        run = subprocess.run(board.command(choice, plugin), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
    except OSError as e:
        raise BenchError("cannot run qemu-system-arm: %s" % e.strerror)
    except subprocess.TimeoutExpired:
        raise BenchError("%s did not end within %d s" % (board.name, TIMEOUT_S))
    text = run.stdout.decode("utf-8", "backslashreplace")
    lines = [line.split() for line in text.splitlines() if line.startswith("bench ")]
    counts = None
    if plugin:
        try:
            with open(plugin["out"], encoding="utf-8") as f:
                counts = [line.split() for line in f]
        except OSError:
            counts = []
    return lines, counts, run.returncode, text


def plugin_works(boards, path):
    """Returns None, or the reason why the emulator refuses the plugin."""
    if not os.path.exists(path):
        return "%s is not there" % path
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        plugin = {"file": os.path.abspath(path), "out": os.path.join(folder, "out")}
        choice = {"robot": "chain2", "problem": "volt", "real": "f32", "states": "1"}
        _, counts, code, text = emulate(boards[0], choice, plugin)
        if code == 0 and counts and len(counts) == 3:
            return None
        last = [line for line in text.splitlines() if line.strip() and "module ui-" not in line]
        return last[-1] if last else "it wrote nothing"


def measure(board, choice, plugin_file):
    """Returns the rows of one emulator run: [(line of the program, counts of the plugin or None)]."""
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        plugin = plugin_file and {"file": os.path.abspath(plugin_file),
                                  "out": os.path.join(folder, "out")}
        lines, counts, code, text = emulate(board, choice, plugin)
    if code:
        raise BenchError("the bench program failed on %s with exit code %d:\n%s"
                         % (board.name, code, "\n".join(text.splitlines()[-8:])))
    if counts is not None:
        names = counts[0]
        counts = [dict(zip(names, map(int, row))) for row in counts[1:]]
    rows = []
    base = None
    measured = [line for line in lines if line[3] not in ("prepare", "units")]
    for line in lines:
        if line[3] in ("prepare", "units"):
            raise BenchError("%s on %s: a constant of %s does not fit in %s" % (
                line[3], board.name, line[1], line[5]))
    if counts is not None and len(counts) != len(measured):
        raise BenchError("%s: %d rows printed, %d counted by the plugin" % (
            board.name, len(measured), len(counts)))
    for i, line in enumerate(measured):
        _, robot, n, problem, method, real, least, most, verdict = line
        if verdict == "DIFFERENT":
            raise BenchError("%s: %s of %s by %s in %s is not what the first method gives"
                             % (board.name, problem, robot, method, real))
        count = counts[i] if counts is not None else None
        if method == "empty":
            base = count
            continue
        if count is not None:
            count = {k: v - (base[k] if k != "calls" else 0) for k, v in count.items()}
            if count["least"] != int(least):
                raise BenchError("%s: %s of %s by %s in %s takes %s instructions by the clock of "
                                 "the emulator and %d by the plugin"
                                 % (board.name, problem, robot, method, real, least,
                                    count["least"]))
        rows.append(({"board": board.name, "cpu": CPUS[board.core], "robot": robot, "n": n,
                      "problem": problem, "method": method, "real": real,
                      "instructions_min": least, "instructions_max": most,
                      "cycles_est": count["cycles"] + count["uses"] if count else ""}, count))
    return rows


def read_flops(path):
    try:
        run = subprocess.run([path], stdout=subprocess.PIPE, encoding="utf-8")
    except OSError as e:
        raise BenchError("cannot run %s: %s" % (path, e.strerror))
    if run.returncode:
        raise BenchError("%s failed" % path)
    flops = {}
    for line in run.stdout.splitlines():
        robot, problem, method, *ops = line.split()
        flops[robot, problem, method] = sum(int(o) for o in ops[:4])
    return flops


def covered(ranges):
    """Number of bytes in the union of the ranges. Ranges may overlap, because assembly has entry
    points inside functions."""
    total = reached = 0
    for start, end in sorted(ranges):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


class Sizes:
    """Sizes of code and stack of the kernels of a board, computed from its bench program."""

    def __init__(self, board, cross):
        image = elf.Elf(board.elf)
        self.program = stack.Program(image, stack.functions_of(image))
        stack.disassemble(self.program, cross + "objdump")
        folders = [os.path.join(board.objects, d) for d in ("dyn", "firmware", "test", "hal")]
        self.entries = stack.read_su([f for f in folders if os.path.isdir(f)])
        self.analysis = stack.Analysis(self.program, {}, set())
        self.ready = set()
        self.known = {}

    def prepare(self, function):
        """Reads the code of one function when it is needed; most of the image is never needed."""
        if function.start in self.ready:
            return
        self.ready.add(function.start)
        stack.read_code(self.program, function)
        stack.attach_su([function], self.entries)
        if function.su_frame is None:
            stack.add_fall_through(self.program, function)

    def whole(self, address):
        """Returns the function that contains this address. The address need not be the start: code
        also jumps into the middle."""
        i = bisect.bisect_right(self.program.starts, address & ~1) - 1
        return self.program.functions[i]

    def reach(self, root):
        """Returns every function that can run when `root` is called."""
        todo, seen = [root], {}
        while todo:
            function = todo.pop()
            if function.start in seen:
                continue
            seen[function.start] = function
            self.prepare(function)
            for target, _ in function.calls:
                todo.append(self.whole(target))
        return seen.values()

    def of(self, name):
        if name not in self.known:
            found = self.program.named(name)
            if not found:
                raise BenchError("%s has no function %s" % (self.program.image.path, name))
            text = covered((f.start, f.end) for f in self.reach(found[0]))
            self.analysis.errors = []
            worst, _ = self.analysis.visit(found[0])
            # The field stays empty if the code gives no bound of the stack.
            self.known[name] = (text, "" if self.analysis.errors else worst)
        return self.known[name]


def first_line(command):
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             encoding="utf-8")
        return run.stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def versions(cross):
    return "# %s; %s; cycles_est is an estimate (tools/bench/cores.h)" % (
        first_line([cross + "gcc", "--version"]), first_line(["qemu-system-arm", "--version"]))


def write_csv(path, comment, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        f.write(",".join(HEADER) + "\n" + comment + "\n")
        out = csv.DictWriter(f, HEADER, lineterminator="\n")
        out.writerows(rows)


def read_csv(path):
    """Returns the comment on top of the file, and its rows."""
    try:
        with open(path, newline="", encoding="utf-8") as f:
            lines = f.read().splitlines()
    except OSError as e:
        raise BenchError("cannot read %s: %s" % (path, e.strerror))
    comments = [line for line in lines if line.startswith("#")]
    lines = [line for line in lines if not line.startswith("#")]
    if not lines or lines[0] != ",".join(HEADER):
        raise BenchError("%s:1: expected the header %s" % (path, ",".join(HEADER)))
    rows = []
    for number, row in enumerate(csv.DictReader(lines), 2):
        try:
            if None in row or None in row.values():
                raise ValueError
            for column in HEADER[7:]:
                row[column] = int(row[column]) if row[column] else ""
            if row["instructions_max"] == "":
                raise ValueError
        except ValueError:
            raise BenchError("%s: row %d: expected %d columns, whole numbers from "
                             "instructions_min on" % (path, number, len(HEADER)))
        rows.append(row)
    return comments[0] if comments else "", rows


def print_columns(table, numbers_from):
    widths = [max(len(str(row[i])) for row in table) for i in range(len(table[0]))]
    for row in table:
        cells = [str(c).ljust(w) if i < numbers_from else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def print_rows(rows):
    print_columns([HEADER] + [[row[c] for c in HEADER] for row in rows], 7)


def key_of(row):
    return tuple(row[k] for k in KEY)


def compare(rows, baseline_path, comment, complete):
    """Prints the changes since the baseline. Returns True if a row is missing or too slow."""
    if not os.path.exists(baseline_path):
        print("\nno baseline yet: make bench-accept makes this run the baseline")
        return False
    old_comment, old = read_csv(baseline_path)
    now = {key_of(row): row for row in rows}
    # Another compiler makes other code; then differences from the baseline do not come from our
    # sources and are not judged.
    judged = old_comment.split(";")[0] == comment.split(";")[0]
    moved = []
    slower = False
    known = 0
    for row in old:
        key = key_of(row)
        if key not in now:
            if complete:
                moved.append([" ".join(key), "gone", "", "", "", "SLOWER"])
                slower = True
            continue
        known += 1
        for column in ("instructions_max", "cycles_est"):
            before, after = row[column], now[key][column]
            if before == "" or after == "" or int(after) == before:
                continue
            bad = int(after) > before * SLOWER
            slower = slower or bad
            moved.append([" ".join(key), column, before, "->", after,
                          "%+.1f %%%s" % (100.0 * (int(after) - before) / max(before, 1),
                                          " SLOWER" if bad else "")])
    print("\nmoved since %s (%d rows of it were run):" % (
        os.path.relpath(baseline_path, ROOT) if baseline_path.startswith(ROOT) else baseline_path,
        known))
    if moved:
        print_columns(moved, 2)
    else:
        print("nothing")
    if slower and not judged:
        print("not judged: the baseline was measured with another compiler:\n  %s\n  %s"
              % (old_comment, comment))
    elif slower:
        print("SLOWER: beyond %d %%, or gone. If that is meant: make bench-accept"
              % round(100 * (SLOWER - 1)))
    return slower and judged


def jobs_of(boards, choice):
    """Returns the jobs, one emulator for each board and number type; the longest runs come first."""
    reals = choice.get("real", ",".join(REALS)).split(",")
    jobs = [(b, dict(choice, real=r)) for r in reversed(REALS) if r in reals for b in boards]
    unknown = [r for r in reals if r not in REALS]
    if unknown:
        raise BenchError("there is no number type %s: %s" % (unknown[0], ", ".join(REALS)))
    return jobs


def run_bench(args):
    names = args.board.split(",") if args.board else BOARDS
    boards = [Board(name, args.build) for name in names]
    if args.explain:
        return explain(args, boards)
    choice = {k: getattr(args, k) for k in ("robot", "problem", "method", "real")
              if getattr(args, k)}
    complete = not choice and not args.board
    if args.states:
        choice["states"] = str(args.states)
    why_not = plugin_works(boards, args.plugin)
    if why_not:
        print("no cycle estimate, because the emulator does not take the plugin: %s" % why_not)
    flops = read_flops(args.flops)
    jobs = jobs_of(boards, choice)
    # The tick is measured by a separate program, because application and kernels do not fit into
    # the memory together.
    if "tick" in choice.get("problem", "tick").split(","):
        jobs += jobs_of([Board(name, args.build, "bench_tick.elf") for name in names], choice)
    with concurrent.futures.ThreadPoolExecutor(max(args.jobs, 1)) as pool:
        results = list(pool.map(lambda job: measure(*job, None if why_not else args.plugin),
                                jobs))
    order = {(b.name, r): i for i, (b, r) in
             enumerate((b, r) for b in boards for r in REALS)}
    robots = {}
    rows = []
    made_by = {}
    for (board, _), result in zip(jobs, results):
        for row, _ in result:
            robots.setdefault(row["robot"], len(robots))
            rows.append(row)
            made_by.setdefault(board.elf, (board, []))[1].append(row)
    if not rows:
        raise BenchError("no row is called so: %s" % " ".join("%s=%s" % c for c in choice.items()))
    # Rows are sorted by board, robot and number type; otherwise they keep the program's order.
    rows.sort(key=lambda r: (order[r["board"], REALS[0]], robots[r["robot"]],
                             order[r["board"], r["real"]]))
    for board, its_rows in made_by.values():
        sizes = Sizes(board, args.cross)
        for row in its_rows:
            row["flops"] = flops.get((row["robot"], row["problem"], row["method"]), "")
            row["text_bytes"], row["stack_bytes"] = sizes.of(
                symbol_of(row["problem"], row["method"], row["real"]))
    comment = versions(args.cross)
    print(comment)
    print_rows(rows)
    if complete or args.csv:
        path = args.csv or os.path.join(args.build, "bench.csv")
        write_csv(path, comment, rows)
        print("\n%d rows in %s" % (len(rows), path))
    slower = compare(rows, args.baseline, comment, complete)
    return 1 if slower and args.ci else 0


# ------------------------------------------------------------------------------------------ explain

TRIG = re.compile(r"sincos|(^|_)(sin|cos)f?$|rem_pio2|__kernel_|__ieee754_")


def inlined_chains(board, cross, addresses):
    """Returns {address: names of the functions that the instruction was inlined through, innermost
    first}."""
    run = subprocess.run([cross + "addr2line", "-a", "-f", "-i", "-e", board.elf],
                         input="\n".join(addresses), stdout=subprocess.PIPE, encoding="utf-8")
    chains = {}
    names = None
    lines = iter(run.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            names = chains.setdefault("%x" % int(line, 16), [])
        else:
            names.append(line)
            next(lines, None)  # file and line
    return chains


def read_where(path):
    """Returns {address: (runs, class)} for each row."""
    rows = [{}]
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("row"):
                rows.append({})
            else:
                address, runs, kind = line.split()
                before = rows[-1].get(address, (0, kind))[0]
                rows[-1][address] = (before + int(runs), kind)
    return rows[:-1]


def groups_of():
    """Returns {class: group}, from the table in thumb.h."""
    with open(os.path.join(HERE, "thumb.h"), encoding="utf-8") as f:
        return {m.group(1): m.group(2) for m in
                re.finditer(r'X\(\w+, "(\w+)", "(\w+)"\)', f.read())}


class Explained:
    """Shows which functions execute the instructions of one row."""
    GROUPS = ("arithmetic", "loads", "stores", "moves", "branches", "other")

    def __init__(self, board, choice, plugin_file, cross):
        root = symbol_of(choice["problem"], choice["method"], choice["real"])
        with tempfile.TemporaryDirectory(prefix="bench.") as folder:
            plugin = {"file": os.path.abspath(plugin_file), "out": os.path.join(folder, "out"),
                      "where": os.path.join(folder, "where")}
            lines, counts, code, _ = emulate(board, choice, plugin)
            if code or len(lines) != 2:
                raise BenchError("no row is called %s on %s" % (",".join(choice.values()), board.name))
            empty, where = read_where(plugin["where"])
        names = counts[0]
        base, count = (dict(zip(names, map(int, row))) for row in counts[1:])
        count = {k: v - base[k] for k, v in count.items()}
        # Instructions that an empty call also executes belong to the frame of the measurement and
        # are left out. The empty call also executes a return; in a real call the jump to the kernel
        # takes its place.
        chains = inlined_chains(board, cross, sorted(where))
        groups = groups_of()
        self.root, self.uses, self.cycles = root, count["uses"], count["cycles"] + count["uses"]
        self.table, self.kinds, self.functions, self.total = {}, {}, {}, 0
        for address, (runs, kind) in where.items():
            chain = chains.get(address, ["?"])
            if address in empty or re.search(r"_row(_\w+)?$|^jump_|^measure", chain[-1]):
                continue
            self.total += runs
            part = "trig" if any(TRIG.search(name) for name in chain) else "rest"
            key = groups.get(kind, "other"), part
            self.table[key] = self.table.get(key, 0) + runs
            self.kinds[kind] = self.kinds.get(kind, 0) + runs
            self.functions[chain[0]] = self.functions.get(chain[0], 0) + runs
        if self.total != count["most"]:
            raise BenchError("%d instructions found, %d counted: the frame of the call has changed"
                             % (self.total, count["most"]))
        self.trig = sum(v for (_, part), v in self.table.items() if part == "trig")

    def of(self, group):
        """Instructions of a group: (in sines and cosines, elsewhere)."""
        return self.table.get((group, "trig"), 0), self.table.get((group, "rest"), 0)


def explain(args, boards):
    words = args.explain.split(",")
    if len(words) not in (4, 5):
        raise BenchError("--explain %s: expected ROBOT,PROBLEM,METHOD,REAL[,BOARD], as in "
                         "puma560,id,fast,f32" % args.explain)
    robot, problem, method, real = words[:4]
    board = Board(words[4], args.build) if len(words) == 5 else boards[0]
    why_not = plugin_works([board], args.plugin)
    if why_not:
        raise BenchError("the emulator does not take the plugin: %s" % why_not)
    found = Explained(board, {"robot": robot, "problem": problem, "method": method, "real": real},
                      args.plugin, args.cross)
    print("%s of %s by %s in %s on %s (%s): %d instructions, about %d cycles (estimate)" % (
        problem, robot, method, real, board.name, CPUS[board.core], found.total, found.cycles))
    print("function %s; %d of the cycles because a result is used at once\n"
          % (found.root, found.uses))
    rows = [["", "all", "share", "trig", "without trig"]]
    for group in found.GROUPS:
        trig, rest = found.of(group)
        if trig + rest:
            rows.append([group, trig + rest, "%.1f %%" % (100.0 * (trig + rest) / found.total), trig,
                         rest])
    rows.append(["together", found.total, "100 %", found.trig, found.total - found.trig])
    print_columns(rows, 1)
    print("\nby class:     " + "  ".join(
        "%s %d" % item for item in sorted(found.kinds.items(), key=lambda i: -i[1])))
    print("by function:  " + "  ".join(
        "%s %d" % item for item in sorted(found.functions.items(), key=lambda i: -i[1])[:16]))
    return 0


def accept(args):
    path = os.path.join(args.build, "bench.csv")
    comment, rows = read_csv(path)
    for board in BOARDS:
        image = os.path.join(args.build, board, "lab", "bench.elf")
        if os.path.exists(image) and os.path.getmtime(image) > os.path.getmtime(path):
            raise BenchError("%s is older than %s: make bench first" % (path, image))
    named = [row for row in rows if row["robot"] in BASELINE_ROBOTS]
    compare(named, args.baseline, comment, True)
    write_csv(args.baseline, comment, named)
    print("\n%d rows are the baseline now: commit %s" % (len(named),
                                                       os.path.relpath(args.baseline, ROOT)))
    return 0


def main():
    parser = argparse.ArgumentParser(description="the bench: run it, accept it")
    parser.add_argument("--build", default="build")
    parser.add_argument("--cross", default="arm-none-eabi-")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    for option in ("board", "robot", "problem", "method", "real", "explain", "csv"):
        run.add_argument("--" + option)
    run.add_argument("--states", type=int, help="states per row (default: 100)")
    run.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    run.add_argument("--ci", action="store_true", help="a slower row is exit code 1")
    run.add_argument("--plugin", help="default: BUILD/host/bench/count.so")
    run.add_argument("--flops", help="default: BUILD/host/bench/flops")
    commands.add_parser("accept")
    for command in commands.choices.values():
        command.add_argument("--baseline", default=os.path.join(HERE, "baseline.csv"))
    args = parser.parse_args()
    if args.command == "run":
        args.plugin = args.plugin or os.path.join(args.build, "host", "bench", "count.so")
        args.flops = args.flops or os.path.join(args.build, "host", "bench", "flops")
    try:
        return run_bench(args) if args.command == "run" else accept(args)
    except (BenchError, elf.ElfError, stack.StackError) as e:
        print("bench: %s" % e, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
