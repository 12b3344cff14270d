#!/usr/bin/env python3
"""Checks that the interrupt of a board without an FPU has no floating point. In the call graph of
the linked firmware, tick_interrupt reaches no float routine of the compiler and no mathematics of
the C library, and calls nothing through a pointer. `make test` builds the images.

    test_softfloat.py [- [PATTERN]]
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tools/dev")
import elf  # noqa: E402
import stack  # noqa: E402
from test_appell import main  # noqa: E402

# Names of the run-time ABI for the Arm architecture, of the routines of gcc, and of libm.
FLOAT = re.compile(r"^(__aeabi_(f|d|cf|cd|i2f|i2d|ui2f|ui2d|l2f|l2d|ul2f|ul2d|h2f)\w*"
                   r"|__\w*(sf|df|sf2|df2|sf3|df3|sfsi|dfsi|sfdi|dfdi|sfdf2|dfsf2)"
                   r"|__ieee754_\w+|(sin|cos|tan|sqrt|exp|log|pow|atan2?|acos|asin|rint|ldexp|scalbn|frexp|floor|ceil"
                   r"|fmod|hypot|remainder|fma|fmin|fmax|round)f?)$")


class Graph:
    def __init__(self, path):
        assert os.path.exists(path), f"{path} is missing; `make test` builds it"
        image = elf.Elf(path)
        self.program = stack.Program(image, stack.functions_of(image))
        stack.disassemble(self.program, "arm-none-eabi-objdump")
        for function in self.program.functions:
            stack.read_code(self.program, function)

    def reached(self, name):
        """Returns the functions that can be called from here, each with the path to it."""
        start = self.program.named(name)
        assert start, f"the image has no {name}"
        paths = {start[0].start: [name]}
        todo = [start[0]]
        while todo:
            function = todo.pop()
            for target, _ in function.calls:
                callee = self.program.at(target)
                if callee is not None and callee.start not in paths:
                    paths[callee.start] = paths[function.start] + [callee.name]
                    todo.append(callee)
        return [(self.program.at(address), path) for address, path in paths.items()]


def floats(functions):
    return [path for function, path in functions if any(FLOAT.match(name) for name in function.names)]


def check(board):
    graph = Graph(f"build/{board}/firmware.elf")
    inside = graph.reached("tick_interrupt")
    names = {function.name for function, _ in inside}
    assert any("fast_inverse_q31" in name for name in names), f"{board}: the walk does not reach the dynamics"
    found = floats(inside)
    assert not found, f"{board}: floating point in the interrupt: " + "; ".join(" > ".join(p) for p in found[:5])
    indirect = [" > ".join(path) for function, path in inside if function.indirect]
    assert not indirect, f"{board}: calls through pointers: {indirect[:5]}"
    # The set-up may use double. The same search must find it there, which shows that the names are
    # right.
    assert floats(graph.reached("main")), f"{board}: no floats anywhere; the names have changed"
    print(f"measured softfloat.{board} {len(inside)}")
    print(f"NOTE {board}: {len(inside)} functions in the interrupt, none of them floating point")


def test_netduino2(folder):
    check("netduino2")


def test_stm32vldiscovery(folder):
    check("stm32vldiscovery")


if __name__ == "__main__":
    sys.exit(main(globals()))
