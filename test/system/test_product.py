#!/usr/bin/env python3
"""Tests how much of a board the image of the product may take, what must not be in it, and what the
tool says about missing parts.

test_product.py [unused [PATTERN]]
"""
import re
import sys

sys.dont_write_bytecode = True
import elf  # noqa: E402
import size  # noqa: E402
from test_appell import main, run  # noqa: E402

# Limits that later changes must keep; the test prints the present numbers as notes.
RAM_MOST = 0.65
TEXT_MOST = 200 * 1024
# Number type of the core of the board, and one that must not be in the product.
BOARDS = {"netduinoplus2": ("f32", "q31"), "netduino2": ("q31", "f32")}
PAPERS = re.compile(r"dyn_(ne|wo1|crba|aba|ga|denoc)_\w+")


def image(board, lab=False):
    return f"build/{board}/{'lab/' if lab else ''}firmware.elf"


def functions(path):
    return {symbol.name for symbol in elf.Elf(path).symbols if symbol.name}


def test_product_fits(folder):
    for board in BOARDS:
        row = size.measure(image(board))
        part = row["ram_used"] / row["ram_total"]
        print(f"NOTE {board}: text {row['text']} bytes, RAM {row['ram_used']} of {row['ram_total']}, {100 * part:.1f} %")
        assert part <= RAM_MOST, f"{board}: {100 * part:.1f} % of the RAM, {100 * RAM_MOST:.0f} % are allowed"
        assert row["text"] <= TEXT_MOST, f"{board}: {row['text']} bytes of text, {TEXT_MOST} are allowed"


def test_server_of_the_small_board(folder):
    found = [symbol.size for symbol in elf.Elf(image("stm32vldiscovery")).symbols if symbol.name == "server"]
    assert len(found) == 1 and found[0] < 400, found
    print(f"measured link.server_ram_f100 {found[0]}")


def test_product_has_no_laboratory(folder):
    """The product has neither the methods of the papers nor another number type; the laboratory
    firmware has both."""
    for board, (own, other) in BOARDS.items():
        for lab in (False, True):
            names = functions(image(board, lab))
            papers = sorted(name for name in names if PAPERS.fullmatch(name))
            others = sorted(name for name in names if re.fullmatch(rf"dyn_fast_\w+_{other}", name))
            assert f"dyn_fast_inverse_{own}" in names, f"{board}: the dynamics are not in the image"
            assert bool(papers) == lab, f"{board}{'/lab' if lab else ''}: {papers[:3]}"
            assert bool(others) == lab, f"{board}{'/lab' if lab else ''}: {others[:3]}"


PORT = "qemu:build/netduinoplus2/firmware.elf"


def test_selftest_works_on_the_product(folder):
    """selftest tests the kernels that the product has."""
    done = run("selftest", "--port", PORT, "-q")
    assert done.returncode == 0 and "method fast in f32" in done.stdout, done


def test_what_needs_the_laboratory_says_so(folder):
    cure = "make BOARD=netduinoplus2 LAB=1 flash"
    for words, what in ((["faults", "provoke", "puma560", "-o", folder], "provoking faults"),
                        (["selftest", "--method", "ga"], "method ga for id"),
                        (["selftest", "--real", "q31"], "number type q31"),
                        (["set", "sim_defect", "3"], "sim_defect")):
        done = run(*words, "--port", PORT, "-q")
        assert done.returncode == 2 or what == "sim_defect" and done.returncode == 1, done
        assert f"{what} needs the laboratory firmware" in done.stderr, done
        assert cure in done.stderr or "LAB=1 flash" in done.stderr, done


def test_more_joints_than_the_product_takes(folder):
    """The tool refuses a robot with more joints than the product takes, before it sends anything;
    the message contains both numbers and the cure. The laboratory firmware accepts the same
    robot."""
    robot = f"{folder}/chain.yaml"
    with open(robot, "w", encoding="utf-8") as file:
        file.write("name: chain\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n")
        for i in range(13):
            file.write(f"  - {{name: j{i}, type: revolute, dh: {{theta: 0, d: 0, a: {0.1 * (i > 0)}, alpha: 0}},\n"
                       "     link: {mass: 0.1, com: [0.05, 0, 0], inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]},\n"
                       "     limits: {position: [-1, 1], velocity: 1, acceleration: 5, torque: 100}}\n")
    done = run("selftest", robot, "--port", PORT, "-q")
    assert done.returncode == 1 and "the robot has 13 joints; this firmware takes at most 12" in done.stderr, done
    assert "JOINTS in boards/netduinoplus2/board.mk" in done.stderr, done
    done = run("selftest", robot, "--port", "qemu:netduinoplus2/lab", "--count", "2", "-q")
    assert done.returncode == 0, done


if __name__ == "__main__":
    sys.exit(main(globals()))
