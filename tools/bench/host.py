#!/usr/bin/env python3
"""Counts the executed instructions of the kernels on this machine, in f64, with callgrind.

    host.py PROGRAM [--ci] [--measured DIR]    --ci: exit code 1 if a goal is missed

PROGRAM is test/bench/bench_host.c with the kernels of the tool (plain x86-64, -O3). A count is the number of
instructions per call for the PUMA 560, the mean of 100 random states, with sine and cosine. The table is the
block dyn.host of dyn/COSTS.md; --measured writes it to DIR for `pages.py accept`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
STATES = 100
# Largest number of instructions allowed for the best method of each problem.
GOALS = {"id": 2000, "mass": 1800, "fd": 3500}
# Instructions per call of other libraries on the same kind of machine, compiled with -O3. Measured
# once; no script measures them again.
OTHERS = {"Pinocchio": {"id": 5629, "mass": 5123, "fd": 10630}, "RBDL": {"id": 5324, "mass": 6320, "fd": 14945}}
METHODS = ("fast", "ne", "ga", "denoc", "crba", "aba", "wo1")


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


def block(spent):
    """Returns the table for dyn/COSTS.md."""
    lines = ["| | %s | goal | | %s |" % (" | ".join("`%s`" % m for m in METHODS), " | ".join(OTHERS)),
             "|---|" + "---|" * (len(METHODS) + 2 + len(OTHERS))]
    for problem, goal in GOALS.items():
        cells = ["{:,.0f}".format(spent[problem, m]) if (problem, m) in spent else "" for m in METHODS]
        best = round(min(v for (p, _), v in spent.items() if p == problem))
        cells += ["{:,}".format(goal), "reached" if best <= goal else "missed by %d" % (best - goal)]
        lines.append("| `%s` | %s |" % (problem, " | ".join(cells + ["{:,}".format(o[problem]) for o in OTHERS.values()])))
    return "\n".join(lines + ["", "Pinocchio and RBDL were measured once on such a machine, with -O3."])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--measured", metavar="DIR")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    rows = [line.split() for line in subprocess.run([program], stdout=subprocess.PIPE, text=True,
                                                    check=True).stdout.splitlines()]
    best, all_spent = {}, {}
    print("PUMA 560, f64, this machine: executed instructions per call, by callgrind")
    for problem, method, function in rows:
        spent = all_spent[problem, method] = count(program, problem, method, function)
        best[problem] = min(spent, best.get(problem, spent))
        print("%-5s %-6s %7.0f" % (problem, method, spent), flush=True)
    missed = [p for p in GOALS if best.get(p, 1e9) > GOALS[p]]
    for problem, goal in GOALS.items():
        print("best %s: %.0f, goal %d%s" % (problem, best.get(problem, 0), goal,
                                            ", MISSED" if problem in missed else ""))
    print("measured-block dyn.host\n%s\nmeasured-end" % block(all_spent))
    if args.measured:
        sys.path.insert(0, os.path.join(os.path.dirname(HERE), "dev"))
        import measured
        measured.keep(args.measured, "bench-host", "make bench-host", [("dyn.host", block(all_spent), True)])
    return int(args.ci and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
