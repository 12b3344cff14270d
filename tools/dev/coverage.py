#!/usr/bin/env python3
"""Runs test programs and fails unless they reach every line and nearly every branch of some files.

    coverage.py --objects DIR --source FILE... --program PROGRAM... [--lines 100] [--branches 95]
                [--gcov gcov]
    coverage.py @FILE        the same, one argument per line (make coverage writes build/coverage/arguments)

DIR has the objects of the files, compiled with --coverage. Both percentages hold for each file, and
for each header of its folder. A line that cannot be reached is marked in the source, with the
reason: GCOVR_EXCL_LINE: reason; GCOVR_EXCL_BR_LINE: reason leaves out only its branches.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

MARK = re.compile(r"GCOVR_EXCL_\w+(:\s*\w+.*)?")
PROGRAM_TIMEOUT_S = 600


class CoverageError(Exception):
    pass


def run_programs(programs):
    """Each program adds its counts to those of the others."""
    def failed(program):
        done = subprocess.run([os.path.abspath(program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PROGRAM_TIMEOUT_S)
        return done.returncode and "%s failed:\n%s" % (program, done.stdout.decode("utf-8", "backslashreplace")[-2000:])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [text for text in pool.map(failed, programs) if text]
    if failures:
        raise CoverageError("\n".join(failures))


def gcovr(*arguments):
    done = subprocess.run(["gcovr", "--root", ".", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise CoverageError("gcovr failed: %s" % done.stderr.strip())


def filters(sources):
    """The files, and the headers of a folder of which all files are meant."""
    folders = {os.path.dirname(s) for s in sources}
    whole = [d for d in folders if {f for f in os.listdir(d) if f.endswith(".c")} <= {os.path.basename(s) for s in sources}]
    return [a for f in [re.escape(s) + "$" for s in sources] + [re.escape(d) + r"/\w+\.h$" for d in whole] for a in ("--filter", f)]


def marks_without_reason(sources):
    for source in sources:
        with open(source, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                mark = MARK.search(line)
                if mark and not mark[1]:
                    yield "%s:%d: %s needs a reason: %s: why it cannot be reached" % (source, number, mark[0], mark[0])


def measure(args):
    """Returns the rows of gcovr's summary, and its lists of what is missing."""
    for folder, _, names in os.walk(args.objects):
        for name in names:
            if name.endswith(".gcda"):
                os.remove(os.path.join(folder, name))
    run_programs(args.program)
    counts, summary, lines, branches = (os.path.join(args.objects, name) for name in
                                        ("counts.json", "summary.json", "lines.txt", "branches.txt"))
    gcovr("--gcov-executable", args.gcov, *filters(args.source), "--json", counts, "--json-summary", summary,
          "--txt", lines, args.objects)
    gcovr("--add-tracefile", counts, "--branches", "--txt", branches)
    missing = ""
    for path in (lines, branches):
        with open(path, encoding="utf-8") as f:
            missing += f.read()
    with open(summary, encoding="utf-8") as f:
        return json.load(f)["files"], missing


def shortfalls(args, rows):
    yield from marks_without_reason(args.source)
    for source in sorted(set(args.source) - {row["filename"] for row in rows}):
        yield "%s: nothing was measured" % source
    for row in rows:
        for kind, least in (("line", args.lines), ("branch", args.branches)):
            covered, total = row[kind + "_covered"], row[kind + "_total"]
            if 100 * covered < least * total:
                yield "%s: %d of %d %s reached, at least %g %% are needed" % (
                    row["filename"], covered, total, {"line": "lines", "branch": "branches"}[kind], least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     fromfile_prefix_chars="@")
    parser.add_argument("--objects", required=True, metavar="DIR")
    parser.add_argument("--source", required=True, nargs="+", metavar="FILE")
    parser.add_argument("--program", required=True, nargs="+")
    parser.add_argument("--lines", type=float, default=100, metavar="PERCENT")
    parser.add_argument("--branches", type=float, default=95, metavar="PERCENT")
    parser.add_argument("--gcov", default="gcov", help="the gcov of the compiler")
    args = parser.parse_args()
    try:
        rows, missing = measure(args)
    except (CoverageError, OSError, subprocess.TimeoutExpired) as error:
        sys.exit("coverage: %s" % error)
    print(missing)
    short = list(shortfalls(args, rows))
    for text in short:
        print("coverage: " + text)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
