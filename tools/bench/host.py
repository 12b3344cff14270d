#!/usr/bin/env python3
"""Executed instructions of the kernels on this machine, in f64, counted by callgrind.

    host.py PROGRAM [--ci]    --ci: exit code 1 where a goal is missed

PROGRAM is test/bench/bench_host.c with the kernels as the tool has them (plain x86-64, -O2). Per call, PUMA 560, mean of
100 random states, sine and cosine included.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

STATES = 100
# The best of ours at most; others (Pinocchio, RBDL): 5,629 and 5,324, 5,123 and 6,320, 10,630 and 14,945.
GOALS = {"id": 2000, "mass": 1800, "fd": 3500}


def count(program, problem, method, function):
    with tempfile.TemporaryDirectory(prefix="host.") as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=" + function,
                               "--callgrind-out-file=" + os.path.join(folder, "out"),
                               program, problem, method],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found.group(1)) == 0:
        sys.exit("host: callgrind counted nothing of %s: %s" % (function, done.stderr[-500:]))
    return int(found.group(1)) / STATES


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--ci", action="store_true")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    rows = [line.split() for line in subprocess.run([program], stdout=subprocess.PIPE, text=True,
                                                    check=True).stdout.splitlines()]
    best = {}
    print("PUMA 560, f64, this machine: executed instructions per call, by callgrind")
    for problem, method, function in rows:
        spent = count(program, problem, method, function)
        best[problem] = min(spent, best.get(problem, spent))
        print("%-5s %-6s %7.0f" % (problem, method, spent), flush=True)
    missed = [p for p in GOALS if best.get(p, 1e9) > GOALS[p]]
    for problem, goal in GOALS.items():
        print("best %s: %.0f, goal %d%s" % (problem, best.get(problem, 0), goal,
                                            ", MISSED" if problem in missed else ""))
    return int(args.ci and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
