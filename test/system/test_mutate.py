#!/usr/bin/env python3
"""tools/dev/mutate.py counts a mistake as found only if a test program says so with a failed assertion."""

import json
import os
import subprocess
import sys

from script_frame import main

MUTATE = os.path.abspath("tools/dev/mutate.py")

HEADER = """static inline int twice(int a) {
    return a + a;
}
"""
# No test asks whether 9 or 10 is the limit; to the compiler 5 and 6 are the same in "nothing"; a mistake in "deep" is found
# by a crash or a time-out, if at all.
SOURCE = """#include "code/limit.h"
int limited(int a) {
    if (a > 10)
        return 10;
    return twice(a);
}
int nothing(int a) {
    return 5 * 0 * a;
}
int deep(volatile const int *a) {
    while (*a > 0) {
        a++;
    }
    return *a;
}
"""
PROGRAM = """#include <stdio.h>
int limited(int a);
int nothing(int a);
int deep(volatile const int *a);
int main(void) {
    static const int list[4] = {0, 1, 0, -1};
    if (limited(3) != %d || limited(20) != 10 || nothing(3) != 0)
        printf("main.c:1:test_limited:FAIL: wrong\\n");
    if (deep(list + 1) != 0)
        __builtin_trap();
    return 0;
}
"""


def mutate(folder, *options, expected=6):
    """Runs it on the small program; returns (exit code, output)."""
    os.makedirs(os.path.join(folder, "code"), exist_ok=True)
    for name, text in (("code/limit.h", HEADER), ("code/limit.c", SOURCE), ("main.c", PROGRAM % expected)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    for name in ("code/limit", "main"):
        subprocess.run(["gcc", "-I.", "-MMD", "-c", name + ".c", "-o", name + ".o"], check=True, cwd=folder)
    done = subprocess.run([MUTATE, "--work", "work", "--compile", "gcc -I. -Wconversion", "--link", "gcc", "--core", "code/limit.o",
                           "--test", "main.o CORE", "--source", "code/limit.c", "--limit-s", "2", *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, cwd=folder)
    with open(os.path.join(folder, "code/limit.c"), encoding="utf-8") as f:
        assert f.read() == SOURCE, "the source has changed"
    return done.returncode, done.stdout


def results(folder):
    with open(os.path.join(folder, "work/results.json"), encoding="utf-8") as f:
        return json.load(f)


def test_each_result(folder):
    code, text = mutate(folder)
    assert code == 0, text
    found = {(r["line"], r["to"]): r["result"] for r in results(folder)}
    assert found == {
        (2, "return a - a;"): "killed",
        (3, "if (a >= 10)"): "survived", (3, "if (a <= 10)"): "killed", (3, "if (!(a > 10))"): "killed",
        (3, "if (a > 11)"): "survived", (3, "if (a > 9)"): "survived",
        (4, "return 11;"): "killed", (4, "return 9;"): "killed",
        (8, "return 6 * 0 * a;"): "identical", (8, "return 4 * 0 * a;"): "identical", (8, "return 5 * 1 * a;"): "killed",
        (11, "while (*a >= 0) {"): "crash", (11, "while (*a <= 0) {"): "crash", (11, "while (*a > 1) {"): "crash",
        (12, "a--;"): "survived", (12, ";"): "timeout"}, found
    assert "code/limit.c:3: survived (comparison)" in text and "    + if (a >= 10)" in text, text
    last, counts = text.splitlines()[-1].split(), list(found.values())
    total = sum(counts.count(k) for k in ("killed", "survived", "crash", "timeout"))
    assert last[:3] == ["all", "6", "4"] and last[-2] == "%.1f" % (100 * 6 / total), text


def test_again_runs_the_survivors(folder):
    mutate(folder, "--files", "limit.c", "--sample", "9", "--seed", "3")
    survivors = sorted(r["to"] for r in results(folder) if r["result"] in ("survived", "crash", "timeout"))
    assert survivors and len(results(folder)) == 9
    code, text = mutate(folder, "--again")
    assert code == 0 and sorted(r["to"] for r in results(folder) if r["result"] not in ("killed", "identical")) == survivors, (survivors, text)
    assert len(results(folder)) == 9, results(folder)


def test_results_of_other_files_are_kept(folder):
    mutate(folder, "--files", "limit.h")
    code, text = mutate(folder, "--files", "limit.c")
    assert code == 0 and {r["file"] for r in results(folder)} == {"code/limit.c", "code/limit.h"}, text
    assert text.splitlines()[-1].split()[:2] == ["all", "6"], text
    mutate(folder, "--files", "limit.c")
    assert len(results(folder)) == 16, results(folder)


def test_quick_leaves_slow_programs_out(folder):
    code, text = mutate(folder, "--files", "limit.h", "--quick", "0.000001")
    assert code == 0 and [r["result"] for r in results(folder)] == ["survived"], text


def test_failing_tests_find_nothing(folder):
    code, text = mutate(folder, expected=7)
    assert code == 1 and "main.o fails without a mistake" in text, text


def test_unknown_file(folder):
    code, text = mutate(folder, "--files", "other.c")
    assert code == 1 and "no file matches other.c; the files are code/limit.c code/limit.h" in text, text


if __name__ == "__main__":
    sys.exit(main(globals()))
