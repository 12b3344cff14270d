#!/usr/bin/env python3
"""What the product's image may take of a board, and what must not be in it.

    test_size.py [unused [PATTERN]]
"""
import re
import sys

sys.dont_write_bytecode = True
import elf  # noqa: E402
import size  # noqa: E402
from script_frame import main  # noqa: E402

# The gates that later changes must keep; today's numbers are printed as notes.
RAM_MOST = 0.65
TEXT_MOST = 200 * 1024
# Number type of the board's core, and one that the product must not have.
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


def test_product_has_no_laboratory(folder):
    """Neither the papers' methods nor another number type; the laboratory has both."""
    for board, (own, other) in BOARDS.items():
        for lab in (False, True):
            names = functions(image(board, lab))
            papers = sorted(name for name in names if PAPERS.fullmatch(name))
            others = sorted(name for name in names if re.fullmatch(rf"dyn_fast_\w+_{other}", name))
            assert f"dyn_fast_inverse_{own}" in names, f"{board}: the dynamics are not in the image"
            assert bool(papers) == lab, f"{board}{'/lab' if lab else ''}: {papers[:3]}"
            assert bool(others) == lab, f"{board}{'/lab' if lab else ''}: {others[:3]}"


if __name__ == "__main__":
    sys.exit(main(globals()))
