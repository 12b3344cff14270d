#!/usr/bin/env python3
"""The tests reach every line and nearly every branch of firmware/safety, the store and the frame; and
the gate that says so can fail. `make coverage` shows what they miss."""

import os
import subprocess
import sys

from script_frame import main

COVERAGE = os.path.abspath("tools/dev/coverage.py")

SOURCE = """int size(int a);
int size(int a) {
    if (a < 0)
        return -a;
    return a;
}
"""
PROGRAM = "int size(int a); int main(int n, char **v) { (void)v; return %s; }\n"


def coverage(*arguments, **options):
    done = subprocess.run([COVERAGE, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600, **options)
    return done.returncode, done.stdout


def tried(folder, result, source=SOURCE, *options):
    """Runs the gate on a program that returns the result; returns (exit code, output)."""
    os.makedirs(os.path.join(folder, "code"), exist_ok=True)
    for name, text in (("code/size.c", source), ("code/main.c", PROGRAM % result)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    subprocess.run("gcc -O0 --coverage -c code/size.c -o size.o && gcc -c code/main.c -o main.o && gcc --coverage main.o size.o -o program",
                   shell=True, check=True, cwd=folder)
    return coverage("--objects", ".", "--source", "code/size.c", "--program", "./program", *options, cwd=folder)


def test_safety_store_and_frame(folder):
    code, text = coverage("@build/coverage/arguments")
    assert code == 0, text


def test_gate_opens(folder):
    code, text = tried(folder, "size(n) + size(-n) - 2")
    assert code == 0, text


def test_gate_finds_a_line(folder):
    code, text = tried(folder, "size(n) - 1")
    assert code == 1 and "size.c: 3 of 4 lines reached, at least 100 % are needed" in text, text


def test_gate_finds_a_branch(folder):
    source = SOURCE.replace("if (a < 0)\n        return -a;\n    return a;", "return a < 0 ? 7 : a;")
    code, text = tried(folder, "size(n) - 1", source)
    assert code == 1 and "size.c: 1 of 2 branches reached, at least 95 % are needed" in text and "lines reached" not in text, text
    code, text = tried(folder, "size(n) - 1", source, "--branches", "50")
    assert code == 0, text


def test_mark_needs_a_reason(folder):
    marked = SOURCE.replace("if (a < 0)", "if (a < 0) /* GCOVR_EXCL_BR_LINE: the callers give sizes */")
    code, text = tried(folder, "size(n) - 1", marked.replace("-a;", "-a; /* GCOVR_EXCL_LINE: the callers give sizes */"))
    assert code == 0, text
    code, text = tried(folder, "size(n) - 1", marked.replace("-a;", "-a; /* GCOVR_EXCL_LINE */"))
    assert code == 1 and "size.c:4: GCOVR_EXCL_LINE needs a reason" in text, text


def test_failed_program_is_no_coverage(folder):
    code, text = tried(folder, "size(n) + size(-n)")
    assert code == 1 and "program failed" in text, text


def test_nothing_measured_is_no_coverage(folder):
    tried(folder, "0")
    code, text = coverage("--objects", ".", "--source", "code/size.c", "code/main.c", "--program", "./program", "--lines", "0",
                          "--branches", "0", cwd=folder)
    assert code == 1 and "main.c: nothing was measured" in text, text


if __name__ == "__main__":
    sys.exit(main(globals()))
