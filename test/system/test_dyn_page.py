#!/usr/bin/env python3
"""Tests the pages about the kernels: their commands run, and their programs and tables agree with
the sources."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "support"))
from script_frame import main  # noqa: E402

PROGRAM = os.path.join(ROOT, "build", "host", "appell-san")
CROSS = "arm-none-eabi-"
CORES = (("Cortex-M4F `f32`", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "f32"),
         ("Cortex-M3 `q31`", "-mcpu=cortex-m3 -mthumb", "q31"))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def blocks(path, language):
    return re.findall(r"^```%s\n(.*?)^```$" % language, read(path), re.M | re.S)


def equal(expected, actual, what):
    if expected != actual:
        raise AssertionError("%s: expected %r, got %r" % (what, expected, actual))


def run(command, folder, **options):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options)
    equal(0, done.returncode, "exit code of %s: %s" % (command[0], done.stdout[-1500:]))
    return done.stdout


def tree(folder):
    """Makes a folder with links to dyn and test, in which the commands of the page can be typed."""
    for name in ("dyn", "test"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    return folder


def test_the_commands_of_the_page_run(folder):
    script = "set -eu\n" + "".join(blocks("dyn/README.md", "sh"))
    lines = run(["sh", "-c", script], tree(folder)).splitlines()
    equal(4, len(lines), "lines of both programs, and no warning: %s" % lines)
    equal(lines[:2], lines[2:], "the program compiled as C++")
    torques = [float(word) for word in lines[0].split()[1:4]]
    wanted = [float(word) for word in run([PROGRAM, "id", "planar3r"], ROOT, input="0.1 0.2 0.3 1 1 1 2 2 2\n").split()]
    for got, want in zip(torques, wanted):
        if abs(got - want) > 1e-4:
            raise AssertionError("torques %s, the tool says %s" % (torques, wanted))
    equal("accelerations  2.0000 2.0000 2.0000 rad/s^2", lines[1], "accelerations")
    print("measured-block dyn.example\n```\n%s\n```\nmeasured-end" % "\n".join(lines[:2]))


def test_fixed_point_gives_the_same_torques(folder):
    script = blocks("dyn/README.md", "sh")[0].replace("real_f32", "real_q31").replace("example.c", "example_q31.c")
    out = run(["sh", "-c", "set -eu\n" + script], tree(folder))
    want = run([PROGRAM, "id", "planar3r"], ROOT, input="0.1 0.2 0.3 1 1 1 2 2 2\n").split()
    equal(["%.4f" % float(word) for word in want] + ["N", "m"], out.split(), "torques")


def test_the_programs_of_the_page_are_the_files(folder):
    program, fixed = blocks("dyn/README.md", "c")
    equal(read("test/dyn/example.c"), program, "copy test/dyn/example.c into dyn/README.md: the program")
    source = re.sub(r"\s+", " ", read("test/dyn/example_q31.c"))
    for part in fixed.split("...\n"):
        if re.sub(r"\s+", " ", part).strip() not in source:
            raise AssertionError("not in test/dyn/example_q31.c: " + part)
    newton = re.sub(r"\s+", " ", re.sub(r"\n *NAMED\(.*\);", "", read("dyn/paper/newton.h")))
    for part in blocks("dyn/KERNELS.md", "c"):
        if re.sub(r"\s+", " ", part).strip() not in newton:
            raise AssertionError("not in dyn/paper/newton.h: " + part)


def test_the_size_of_an_arm(folder):
    page = read("dyn/README.md")
    per, each = re.search(r"takes\s+(\d+) \+ (\d+) n bytes", page).groups()
    sizes = re.search(r"which is ([\d,]+) bytes for 6, ([\d,]+) for 12 and ([\d,]+) for 32", page).groups()
    for n, size in zip((6, 12, 32), sizes):
        size = int(size.replace(",", ""))
        equal(int(per) + int(each) * n, size, "the formula of the page for %d joints" % n)
        for real in ("f32", "q31"):
            source = '#include "dyn/number/%s.h"\n_Static_assert(sizeof(dyn_arm_%s_t) == %d, "");\n' % (real, real, size)
            run([CROSS + "gcc", "-mcpu=cortex-m4", "-I.", "-DDYN_MAX_JOINTS=%d" % n, "-fsyntax-only", "-x", "c", "-"],
                ROOT, input=source)


def test_the_page_has_every_status(folder):
    table = re.findall(r"X\((DYN_E_\w+), (-\d+),", read("dyn/model/status.h"))
    equal(table, re.findall(r"^\| `(DYN_E_\w+)` \| (-\d+) \|", read("dyn/README.md"), re.M), "table of status codes")


def test_code_of_fast(folder):
    """Compiles with the options of the page; the limits are in dyn/COSTS.md."""
    options = re.search(r'^OPTIONS="(.*)"$', read("dyn/README.md"), re.M).group(1).split()
    lines = ["| | fastest | `-DDYN_FAST_SMALL` |", "|---|---|---|"]
    total = {}
    for name, core, real in CORES:
        flags = " ".join(re.findall(r"^DYN_(?:KERNEL_)?FLAGS_%s := (.*)$" % real, read("dyn/dyn.mk"), re.M))
        for small in ([], ["-DDYN_FAST_SMALL"]):
            total[real, bool(small)] = 0
            for kernel in ("fast", "fast_mass", "fast_forward"):
                out = os.path.join(folder, kernel + ".o")
                run([CROSS + "gcc", "-std=gnu11", *core.split(), *options, *flags.split(), *small,
                     '-DDYN_REAL_H="dyn/number/real_%s.h"' % real, "-c", "dyn/kernel/%s.c" % kernel, "-o", out], ROOT)
                total[real, bool(small)] += int(run([CROSS + "size", out], ROOT).splitlines()[1].split()[0])
        lines.append("| %s | %s | %s |" % (name, "{:,}".format(total[real, False]), "{:,}".format(total[real, True])))
    print("measured-block dyn.code\n%s\nmeasured-end" % "\n".join(lines))
    if total["f32", False] > 18 * 1024 or total["f32", True] > 12 * 1024:
        raise AssertionError("the goals of dyn/COSTS.md are missed: %s" % total)


if __name__ == "__main__":
    sys.exit(main(globals()))
