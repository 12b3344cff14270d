#!/usr/bin/env python3
"""Writes the pins and the wiring of the boards from the tables in boards/*/board.c:

    boards/PINS.md                between two marker comments for each board
    boards/<board>/wiring.svg     the drawing (tools/dev/wiring.py)

    board_pages.py                writes them
    board_pages.py --check        only compares; exit code 1 if one is out of date

The host's compiler compiles each board.c with a program that prints its table, so nothing here
knows a pin.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import wiring  # noqa: E402

PAGE = "boards/PINS.md"
# Labels beside the pins of a board; the other boards print the names of the chip.
ARDUINO = dict(zip("PC7 PC6 PA3 PA2 PB12 PB8 PB9 PA1 PA0 PA6 PB10 PB15 PB14 PB13 PC0 PC1 PC2 PC3 PC4 PC5 PB6 PB7".split(),
                   "D0 D1 D2 D3 D4 D5 D6 D7 D8 D9 D10 D11 D12 D13 A0 A1 A2 A3 A4 A5 SDA SCL".split()))
# Pin numbers of the two morpho connectors (UM1724); the names in print are of the Arduino connectors inside.
MORPHO = {f"P{pin}": f"{connector}-{number}" for connector, pins in (
    ("CN7", "C10 1 C11 2 C12 3 D2 4 B7 21 A0 28 A1 30 A4 32 B0 34 C2 35 C1 36 C3 37 C0 38"),
    ("CN10", "C9 1 C8 2 C6 4 C5 6 A12 12 A6 13 A11 14 A7 15 B12 16 B6 17 C7 19 A9 21 A8 23 B1 24 B10 25 B15 26 B4 27 B14 28 B5 29 B13 30 A10 33 C4 34"))
    for pin, number in zip(pins.split()[::2], pins.split()[1::2])}
LABELS = {"netduino2": ARDUINO, "netduinoplus2": ARDUINO, "nucleo-f446re": MORPHO}
# Boards whose debug probe is also the console.
PROBES = {"nucleo-f446re": "ST-LINK"}
# Boards whose power pin was taken over from another one.
UNCHECKED = {"netduino2": " (not checked on this board)"}
# Pins of the debug port, which are pulled during and after reset (RM0090, RM0390, RM0033, RM0041); all others float.
DEBUG_PORT = {"PA13": "pull-up", "PA14": "pull-down", "PA15": "pull-up", "PB4": "pull-up"}

PROGRAM = r"""
#include <stdio.h>
#include BOARD_FILE
static void pin(const char *key, unsigned i, pin_t p) {
    if (p)
        printf("%s.%u=P%c%u\n", key, i, 'A' + PIN_PORT(p), (unsigned)PIN_NUMBER(p));
}
#define NUMBER(key, i, value) printf("%s.%u=%lu\n", key, i, (unsigned long)(uintptr_t)(value))
int main(void) {
    pin("console.tx", 0, board.uart.tx), pin("console.rx", 0, board.uart.rx);
    NUMBER("console.regs", 0, board.uart.regs);
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        const board_motor_timer_t *t = &board.motor.timers[i];
        NUMBER("timer.regs", i, t->regs);
        pin("timer.break", i, t->break_pin);
        NUMBER("timer.break_low", i, t->break_active_low);
    }
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *m = &board.motor.motors[i];
        NUMBER("motor.timer", i, m->timer), NUMBER("motor.channel", i, m->channel);
        pin("motor.pwm", i, m->pwm), pin("motor.pwm_n", i, m->pwm_n);
        pin("motor.direction", i, m->direction), pin("motor.in2", i, m->in2);
        NUMBER("motor.in2_channel", i, m->in2_channel);
    }
    const board_stage_t *s = &board.motor.stage;
    pin("stage.enable", 0, s->enable), pin("stage.brake", 0, s->brake), pin("stage.fault", 0, s->fault);
    NUMBER("stage.enable_low", 0, s->enable_low), NUMBER("stage.brake_low", 0, s->brake_low);
    NUMBER("stage.fault_high", 0, s->fault_high);
    NUMBER("stage.open", 0, s->brake_open_ms), NUMBER("stage.close", 0, s->brake_close_ms);
    const board_encoders_t *e = &board.encoder;
    NUMBER("spi.regs", 0, e->regs);
    pin("spi.sck", 0, e->sck), pin("spi.miso", 0, e->miso), pin("spi.mosi", 0, e->mosi);
    pin("spi.power", 0, e->power);
    for (unsigned i = 0; i < e->count; i++) {
        pin("encoder.select", i, e->select[i]);
        pin("encoder.a", i, e->quadrature[i].a), pin("encoder.b", i, e->quadrature[i].b);
        NUMBER("encoder.regs", i, e->quadrature[i].regs);
    }
    for (unsigned i = 0; i < board.home.count; i++)
        pin("home", i, board.home.pin[i]);
    pin("supply", 0, board.supply.pin);
    NUMBER("supply.top", 0, board.supply.top_ohm), NUMBER("supply.bottom", 0, board.supply.bottom_ohm);
    NUMBER("supply.reference", 0, board.supply.reference_mV);
    return 0;
}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Board:
    """The table of a board. `pins` has a row for each pin that is used: (signal, pin, in reset, set by the program)."""

    def __init__(self, name):
        self.name, self.probe, self.unchecked = name, PROBES.get(name), UNCHECKED.get(name, "")
        # The range of the divider must reach to guard_supply_high times the nominal voltage.
        self.supply_guard = float(re.search(r"X\(guard_supply_high,[^\"]*\"\", [\d.]+, [\d.]+, ([\d.]+)f", read("firmware/params/parameters.h"))[1])
        self.facts, self.registers = self.compiled(re.search(r"^FAMILY\s*:=\s*(\w+)", read(f"boards/{name}/board.mk"), re.M)[1])
        self.motors = range(self.count("motor.timer"))
        self.timers = range(self.count("timer.regs"))
        self.joints = range(max(len(self.motors), self.count("encoder.regs")))
        self.pins = list(self.rows())

    def compiled(self, family):
        """Returns the facts that the program prints, {"motor.pwm.0": "PA8"}, and names of register blocks, {address: name}."""
        words = [os.environ.get("HOSTCC", "gcc"), "-std=gnu11", "-I.", f"-DHAL_{family.upper()}",
                 f'-DBOARD_FILE="boards/{self.name}/board.c"', "-xc", "-"]
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "table")
            subprocess.run([*words, "-o", program], input=PROGRAM, text=True, check=True)
            printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        macros = subprocess.run([*words, "-E", "-dM"], input=PROGRAM, capture_output=True, text=True, check=True).stdout
        names = {int(address, 16): name for name, address in
                 re.findall(r"^#define (\w+) REG_BLOCK\(\w+, (0x\w+)\)", macros, re.M)}
        return dict(line.split("=") for line in printed.split()), names

    def count(self, key):
        return sum(fact.rpartition(".")[0] == key for fact in self.facts)

    def number(self, key, i=0):
        return int(self.facts[f"{key}.{i}"])

    def pin(self, key, i=0):
        """Returns the name of a pin, such as PA8, or None."""
        return self.facts.get(f"{key}.{i}")

    def label(self, pin):
        """Returns the name of a pin with its label on the board: PB13 (D13)."""
        printed = LABELS.get(self.name, {}).get(pin)
        return f"{pin} ({printed})" if printed else pin or "none"

    def block(self, key, i=0):
        """Returns the name of a register block, such as TIM1."""
        return self.registers[self.number(key, i)]

    def channel(self, i):
        timer = self.block("timer.regs", self.number("motor.timer", i))
        return f"{timer} CH{self.number('motor.channel', i)}{'' if self.pin('motor.pwm', i) else 'N'}"

    def second_channel(self, i):
        return f"{self.block('timer.regs', self.number('motor.timer', i))} CH{self.number('motor.in2_channel', i)}"

    def divider(self):
        """Returns the resistors, Ohm, and the full scale, V; None for a board without a divider."""
        top, bottom = self.number("supply.top"), self.number("supply.bottom")
        return (top, bottom, self.number("supply.reference") * 1e-3 * (top + bottom) / bottom) if bottom else None

    def signals(self):
        """Yields (signal, key of its pin, index, what the program makes of it). The outputs of the stages come first."""
        first, up = "low, as the first thing", "pull-up"
        for i in self.motors:
            joint, two = f"joint {i + 1}, ", self.pin("motor.in2", i)
            yield f"{joint}{'IN1' if two else 'PWM'}, {self.channel(i)}", "motor.pwm", i, first
            yield f"{joint}PWM, {self.channel(i)}" + ("N" if self.pin("motor.pwm", i) else ""), "motor.pwm_n", i, first
            yield joint + "direction", "motor.direction", i, first
            yield f"{joint}IN2, {self.second_channel(i)}" if two else "", "motor.in2", i, first
        for words, key in (("enable of the motor drivers, {}: on", "stage.enable"), ("brakes, {}: open", "stage.brake")):
            low = self.number(key + "_low")
            yield words.format("low" if low else "high"), key, 0, "high, as the first thing" if low else first
        yield f"fault of the motor drivers, {'high' if self.number('stage.fault_high') else 'low'}: fault", "stage.fault", 0, up
        for i in self.timers:
            yield (f"e-stop, {self.block('timer.regs', i)} BKIN", "timer.break", i,
                   "pull-down" if self.number("timer.break_low", i) else up)
        for i in self.joints:
            yield f"joint {i + 1}, encoder select", "encoder.select", i, "high"
            for channel in "ab":
                yield f"joint {i + 1}, encoder {channel.upper()}", "encoder." + channel, i, up
        spi = self.block("spi.regs") if self.number("spi.regs") else ""
        for name, state in (("sck", "low"), ("miso", up), ("mosi", "driven")):
            yield f"encoders, {name.upper()} of {spi}", "spi." + name, 0, state
        yield "switches the 3.3 V and 5 V of the headers on", "spi.power", 0, "high"
        for i in self.joints:
            yield f"joint {i + 1}, home switch", "home", i, up
        if self.divider():
            yield "motor supply, through %.1f kOhm over %.1f kOhm, full scale %.1f V" % (
                self.divider()[0] / 1e3, self.divider()[1] / 1e3, self.divider()[2]), "supply", 0, "analog"
        yield f"console, TX of {self.block('console.regs')}", "console.tx", 0, "high"
        yield f"console, RX of {self.block('console.regs')}", "console.rx", 0, up

    def rows(self):
        for signal, key, i, state in self.signals():
            pin = self.pin(key, i)
            if pin:
                yield signal, pin, DEBUG_PORT.get(pin, "floats"), state


def joint_table(board):
    """Returns the rows of the pins by joint: (joint, PWM or IN1, direction or IN2, encoder, home switch)."""
    for i in board.joints:
        first = board.pin("motor.pwm", i) or board.pin("motor.pwm_n", i)
        second = board.pin("motor.direction", i) or board.pin("motor.in2", i)
        encoder = [board.label(board.pin("encoder." + key, i)) for key in ("select", "a", "b") if board.pin("encoder." + key, i)]
        yield (str(i + 1), f"{board.label(first)}, {board.channel(i)}" if first else "none",
               board.label(second) + (f", {board.second_channel(i)}" if board.pin("motor.in2", i) else ""),
               ("A and B: " if len(encoder) == 2 else "") + (" and ".join(encoder) or "none"), board.label(board.pin("home", i)))


def heads(board):
    """Returns the words for the two pins of a motor driver on this board."""
    two = [bool(board.pin("motor.in2", i)) for i in board.motors]
    return ("IN1", "IN2") if all(two) else ("PWM or IN1", "direction or IN2") if any(two) else ("PWM", "direction")


def encoder_head(board):
    kinds = [text for key, text in (("select", "select"), ("a", "A and B")) if board.count("encoder." + key)]
    return "encoder " + " or ".join(kinds)


def markdown(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def tables(board):
    return (markdown(("joint", *heads(board), encoder_head(board), "home switch"), joint_table(board)) + "\n\n" +
            markdown(("signal", "pin", "in reset", "set by the program"),
                     [(signal, board.label(pin), *states) for signal, pin, *states in board.pins]))


def made():
    """Returns {path: text} of all that is generated."""
    page, files = read(PAGE), {}
    for names in re.findall(r"^<!-- PINS (.+?) -->$", page, re.M):
        boards = [Board(name) for name in names.split()]
        if any(tables(board) != tables(boards[0]) for board in boards):
            sys.exit(f"{PAGE}: {names} do not have the same pins any more: give each its own table")
        page = re.sub(r"(?s)(<!-- PINS %s -->\n).*?(\n<!-- /PINS)" % re.escape(names),
                      lambda found: found[1] + tables(boards[0]) + found[2], page)
        for board in boards:
            files[f"boards/{board.name}/wiring.svg"] = wiring.draw(board, heads(board), encoder_head(board), list(joint_table(board)))
    return {PAGE: page, **files}


def main():
    old = 0
    for path, text in made().items():
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        elif not os.path.exists(path) or read(path) != text:
            print(f"{path} is not what the table of the board says: make pages")
            old = 1
    return old


if __name__ == "__main__":
    sys.exit(main())
