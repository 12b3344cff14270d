"""Draws the wiring of a board as SVG, for tools/dev/board_pages.py: one axis in full, what all axes share, and the pins of every
axis in a table.

The drawing checks itself: text that lies on a line, on other text or outside of the drawing is an error. For that all text is
monospaced, so that its width is known.
"""
from xml.sax.saxutils import escape

SIZE, WIDE = 12, 0.602  # size of text, px; width of a character relative to it
WIDTH = 1400
TEXT, SUPPLY, SIGNAL, BUS, GROUND, MOVES = "#111111", "#b3261e", "#1f4e9c", "#1b7a3d", "#333333", "#777777"
BOARD, DRIVER, MOTOR, SHAFT = (520, 940), (1050, 1210), 1265, 1350  # x of the edges of boxes, of the motor and of the shaft
PULL = BOARD[1] + 40  # x of the pull-downs
RAIL = 110  # y of the motor supply


class Canvas:
    """Collects the elements, and what is needed to find overlaps."""

    def __init__(self):
        self.below, self.elements, self.lines, self.texts = [], [], [], []

    def path(self, points, color=SIGNAL, width=1.6, dash=False):
        for a, b in zip(points, points[1:]):
            self.lines.append((min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])))
        self.elements.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="%g"%s/>' % (
            " ".join("%g,%g" % point for point in points), color, width, ' stroke-dasharray="5 4"' if dash else ""))

    def box(self, left, top, right, bottom, color=GROUND, width=1.6):
        self.below.append('<rect x="%g" y="%g" width="%g" height="%g" rx="4" fill="#ffffff" stroke="%s" stroke-width="%g"/>' % (
            left, top, right - left, bottom - top, color, width))
        self.lines += [(left, top, right, top), (left, bottom, right, bottom), (left, top, left, bottom), (right, top, right, bottom)]

    def dot(self, x, y, color=SIGNAL):
        self.elements.append('<circle cx="%g" cy="%g" r="3.4" fill="%s"/>' % (x, y, color))

    def ring(self, x, y, radius, color=GROUND):
        self.elements.append('<circle cx="%g" cy="%g" r="%g" fill="#ffffff" stroke="%s" stroke-width="1.6"/>' % (x, y, radius, color))

    def text(self, x, y, words, anchor="start", size=SIZE, bold=False, color=TEXT):
        """Writes one line; y is its middle."""
        width = len(words) * size * WIDE * (1.0 if not bold else 1.02)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        self.texts.append((left, y - size * 0.5, left + width, y + size * 0.5, words))
        self.elements.append('<text x="%g" y="%g" font-size="%g"%s%s fill="%s">%s</text>' % (
            x, y + size * 0.35, size, ' text-anchor="%s"' % anchor if anchor != "start" else "",
            ' font-weight="bold"' if bold else "", color, escape(words)))

    def svg(self, height, title):
        self.check(height)
        return "\n".join(['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
                          'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">' % (WIDTH, height, WIDTH, height),
                          "<title>%s</title>" % escape(title),
                          '<rect width="%d" height="%d" fill="#ffffff"/>' % (WIDTH, height), *self.below, *self.elements, "</svg>\n"])

    def check(self, height):
        def cross(a, b):
            return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
        for i, text in enumerate(self.texts):
            if text[0] < 0 or text[2] > WIDTH or text[1] < 0 or text[3] > height:
                raise ValueError("the text %r is outside of the drawing" % text[4])
            wide = lambda line: (line[0] - 1, line[1] - 1, line[2] + 1, line[3] + 1)  # noqa: E731
            if any(cross(text, wide(line)) for line in self.lines):
                raise ValueError("the text %r lies on a line" % text[4])
            for other in self.texts[:i]:
                if cross(text, other):
                    raise ValueError("the texts %r and %r overlap" % (text[4], other[4]))


# ---------------------------------------------------------------------------------------------- symbols

def ground(c, x, y):
    c.path([(x, y), (x, y + 8)], GROUND)
    for half, down in ((9, 8), (6, 12), (3, 16)):
        c.path([(x - half, y + down), (x + half, y + down)], GROUND)


def flag(c, x, y, words, color=SUPPLY):
    """A connection upwards to a supply with this name."""
    c.path([(x, y), (x, y - 10)], color)
    c.path([(x - 8, y - 10), (x + 8, y - 10)], color)
    c.text(x, y - 19, words, "middle", color=color)


def resistor(c, x, y, value, length=50, color=SIGNAL, side="start"):
    """A vertical resistor between y and y + length."""
    c.path([(x, y), (x, y + length / 2 - 13)], color)
    c.box(x - 5, y + length / 2 - 13, x + 5, y + length / 2 + 13, color)
    c.path([(x, y + length / 2 + 13), (x, y + length)], color)
    c.text(x + (11 if side == "start" else -11), y + length / 2, value, side)


def capacitor(c, x, y, value, length=40, color=SIGNAL):
    middle = y + length / 2
    c.path([(x, y), (x, middle - 3)], color)
    c.path([(x - 9, middle - 3), (x + 9, middle - 3)], color, 2.4)
    c.path([(x - 9, middle + 3), (x + 9, middle + 3)], color, 2.4)
    c.path([(x, middle + 3), (x, y + length)], color)
    c.text(x + 14, middle, value)


def contact(c, x, y, closed, color=SIGNAL, width=1.6):
    """A contact between x and x + 50, drawn as it is without current and without a hand on it."""
    for at in (x, x + 50):
        c.dot(at, y, color)
    if closed:
        c.path([(x + 50, y), (x + 50, y - 12)], color, width)
        c.path([(x, y), (x + 54, y - 9)], color, width)
    else:
        c.path([(x, y), (x + 46, y - 15)], color, width)


def pull(c, x, y, up=0):
    """The resistor that holds a line off while the pin floats: to ground, or to 3.3 V."""
    c.dot(x, y)
    resistor(c, x, y, "10 kOhm")
    if up:
        c.text(x, y + 60, "3.3 V", "middle")
    else:
        ground(c, x, y + 50)


# ---------------------------------------------------------------------------------------------- left of the board

def board_pin(c, side, y, words, pin=""):
    """A pin of the board at its left or right edge: its name, and what it is."""
    room = (len(pin) + 1) * SIZE * WIDE * 1.02 if pin else 0
    x, away, anchor = (BOARD[0] + 10, room, "start") if side == "left" else (BOARD[1] - 10, -room, "end")
    if pin:
        c.text(x, y, pin, anchor, bold=True)
    c.text(x + away, y, words, anchor)


def supply_rail(c, board):
    """Supply, fuse, contactor, and the clamp for the energy of a braking arm."""
    c.box(40, RAIL - 26, 190, RAIL + 34, SUPPLY)
    c.text(52, RAIL - 10, "motor supply")
    divider = board.divider()
    c.text(52, RAIL + 12, "up to %d V DC" % (divider[2] / board.supply_guard) if divider else "DC")
    c.path([(115, RAIL + 34), (115, RAIL + 42)], GROUND)
    ground(c, 115, RAIL + 42)
    c.path([(190, RAIL), (220, RAIL)], SUPPLY, 2.4)
    c.box(220, RAIL - 7, 262, RAIL + 7, SUPPLY)
    c.path([(220, RAIL), (262, RAIL)], SUPPLY, 1)
    c.text(241, RAIL - 20, "fuse", "middle")
    c.path([(262, RAIL), (300, RAIL)], SUPPLY, 2.4)
    contact(c, 300, RAIL, False, SUPPLY, 2.4)
    c.text(325, RAIL + 16, "K1, contactor", "middle")
    c.path([(350, RAIL), (1290, RAIL)], SUPPLY, 2.4)
    c.text(700, RAIL - 14, "VM, the motor supply behind the contactor", "middle", color=SUPPLY)
    c.dot(DRIVER[0] - 75, RAIL, SUPPLY)
    capacitor(c, DRIVER[0] - 75, RAIL, "bulk capacitor", 40, SUPPLY)
    ground(c, DRIVER[0] - 75, RAIL + 40)
    c.path([(1290, RAIL), (1290, RAIL + 26)], SUPPLY, 2.4)
    c.box(1210, RAIL + 26, 1370, RAIL + 70, SUPPLY)
    c.text(1290, RAIL + 40, "clamp with a", "middle")
    c.text(1290, RAIL + 56, "braking resistor", "middle")
    c.path([(1345, RAIL + 70), (1345, RAIL + 74)], GROUND)
    ground(c, 1345, RAIL + 74)


def supply_divider(c, board, y):
    top, bottom, full = board.divider()
    c.dot(400, RAIL, SUPPLY)
    resistor(c, 400, RAIL, "%g kOhm" % (top / 1e3), y - RAIL, side="end")
    c.dot(400, y)
    resistor(c, 400, y, "%g kOhm" % (bottom / 1e3), 60, side="end")
    ground(c, 400, y + 60)
    c.dot(445, y)
    capacitor(c, 445, y, "100 nF", 60)
    ground(c, 445, y + 60)
    c.path([(400, y), (BOARD[0], y)])
    board_pin(c, "left", y, "motor supply", board.label(board.pin("supply")))
    return y + 110


def emergency_stop(c, board, y):
    """First contact: the BKIN pins to ground. Second contact: the coil of the contactor."""
    pins = [(y + 40 + 28 * i, i) for i in board.timers]
    for at, i in pins:
        board_pin(c, "left", at, "e-stop, %s BKIN" % board.block("timer.regs", i), board.label(board.pin("timer.break", i)))
        c.path([(BOARD[0], at), (480, at)])
    middle = (pins[0][0] + pins[-1][0]) / 2
    c.path([(480, pins[0][0]), (480, pins[-1][0])])
    c.dot(480, middle)
    c.path([(480, middle), (350, middle)])
    contact(c, 300, middle, True)
    c.path([(300, middle), (240, middle)])
    ground(c, 240, middle)
    c.text(360, middle + 14, "first contact")
    second = middle + 74
    contact(c, 300, second, True, SUPPLY)
    c.path([(350, second), (440, second)], SUPPLY)
    c.text(360, second + 14, "second contact")
    flag(c, 440, second, "+ of the coil")
    c.path([(300, second), (250, second)], SUPPLY)
    c.box(210, second - 12, 250, second + 12, SUPPLY)
    c.text(230, second, "K1", "middle")
    c.path([(210, second), (180, second)], SUPPLY)
    ground(c, 180, second)
    c.path([(325, middle - 30), (325, middle - 5)], MOVES, dash=True)
    c.path([(325, middle - 5), (325, second - 5)], MOVES, dash=True)
    c.path([(305, middle - 30), (345, middle - 30)], SUPPLY, 6)
    c.text(240, middle - 30, "e-stop", "end", bold=True)
    c.text(40, middle - 4, "both contacts")
    c.text(40, middle + 12, "normally closed,")
    c.text(40, middle + 28, "forced to open")
    return second + 50


def home_switch(c, board, y):
    board_pin(c, "left", y, "home switch", board.label(board.pin("home")))
    c.path([(BOARD[0], y), (350, y)])
    contact(c, 300, y, False)
    c.path([(300, y), (240, y)])
    ground(c, 240, y)
    c.text(40, y - 8, "closes where the")
    c.text(40, y + 8, "joint is at home")
    return y + 60


def console(c, board, y):
    """The wires to the computer: those of a serial adapter, or the USB cable of the probe on the board."""
    c.box(40, y - 22, 330, y + (22 if board.probe else 78))
    if board.probe:
        c.text(52, y, "computer: USB, 921600 baud")
        board_pin(c, "left", y, "%s: %s" % (board.probe, board.block("console.regs")))
        c.path([(BOARD[0], y), (330, y)])
        return y + 60
    for at, (key, words) in enumerate((("console.tx", "TX"), ("console.rx", "RX"))):
        board_pin(c, "left", y + 28 * at, "%s of %s" % (words, board.block("console.regs")), board.label(board.pin(key)))
        c.path([(BOARD[0], y + 28 * at), (330, y + 28 * at)])
    c.path([(BOARD[0], y + 56), (330, y + 56)], GROUND)
    board_pin(c, "left", y + 56, "GND")
    c.text(52, y, "computer: serial adapter,")
    c.text(52, y + 18, "3.3 V, 921600 baud")
    c.text(318, y, "RX", "end")
    c.text(318, y + 28, "TX", "end")
    c.text(318, y + 56, "GND", "end")
    return y + 112


def board_supply(c, y):
    c.box(40, y - 20, 330, y + 36)
    c.text(52, y, "supply of the board,")
    c.text(52, y + 18, "not through the USB cable alone")
    c.path([(330, y), (BOARD[0], y)], SUPPLY)
    board_pin(c, "left", y, "supply")
    c.path([(330, y + 22), (BOARD[0], y + 22)], GROUND)
    board_pin(c, "left", y + 22, "GND")
    return y + 60


# ---------------------------------------------------------------------------------------------- right of the board

def driver(c, board, y):
    """The motor driver of joint 1. Returns the y below it and the y of the motor."""
    two, top = board.pin("motor.in2"), y - 30
    first = "IN1" if two else "PWM"
    lines = [("stage.enable", "enable", "EN", True), ("motor.pwm", "%s, %s" % (first, board.channel(0)), first, True),
             ("motor.pwm_n", "PWM, " + board.channel(0), "PWM", True), ("motor.direction", "direction", "DIR", False),
             ("motor.in2", "IN2, " + board.second_channel(0) if two else "", "IN2", True)]
    for key, words, name, pulled in lines:
        if not board.pin(key):
            continue
        board_pin(c, "right", y, words, board.label(board.pin(key)))
        c.path([(BOARD[1], y), (DRIVER[0], y)])
        c.text(DRIVER[0] + 10, y, name)
        if pulled:
            pull(c, PULL, y, key == "stage.enable" and board.number("stage.enable_low"))
        y += 84 if pulled else 40
    if board.pin("stage.fault"):
        y += 70 if two else 40
        board_pin(c, "right", y, "driver fault", board.label(board.pin("stage.fault")))
        c.path([(BOARD[1], y), (DRIVER[0], y)])
        c.text(DRIVER[0] + 10, y, "FAULT, high: fault" if board.number("stage.fault_high") else "FAULT, open drain")
        c.dot(PULL, y)
        resistor(c, PULL, y - 50, "10 kOhm")
        flag(c, PULL, y - 50, "3.3 V")
        y += 56
    bottom, right = y - 14, DRIVER[1]
    c.box(DRIVER[0], top, right, bottom, width=2)
    c.path([(DRIVER[0] + 80, RAIL), (DRIVER[0] + 80, top)], SUPPLY, 2.4)
    c.dot(DRIVER[0] + 80, RAIL, SUPPLY)
    c.text(DRIVER[0] + 80, top + 14, "VM", "middle")
    c.path([(DRIVER[0] + 80, bottom), (DRIVER[0] + 80, bottom + 4)], GROUND)
    ground(c, DRIVER[0] + 80, bottom + 4)
    c.text(DRIVER[0] + 80, bottom - 12, "GND", "middle")
    middle = top + 100
    for at in (middle - 24, middle + 24):
        c.path([(right, at), (MOTOR, at), (MOTOR, middle - 20 if at < middle else middle + 20)], GROUND, 2)
    c.text(right - 10, middle - 24, "OUT1", "end")
    c.text(right - 10, middle + 24, "OUT2", "end")
    c.text(DRIVER[0] + 92, top - 12, "motor driver, joint 1", bold=True)
    c.ring(MOTOR, middle, 20)
    c.text(MOTOR, middle, "M", "middle", size=16, bold=True)
    return bottom + 86, middle


def brake(c, board, y):
    """A transistor switches the coil; without current a spring closes the brake."""
    x = DRIVER[0] + 25
    board_pin(c, "right", y, "brake", board.label(board.pin("stage.brake")))
    c.path([(BOARD[1], y), (x, y)])
    pull(c, PULL, y, board.number("stage.brake_low"))
    c.path([(x, y - 14), (x, y + 14)])
    c.path([(x + 6, y - 18), (x + 6, y + 18)], SIGNAL, 2.4)
    c.path([(x + 6, y - 12), (x + 30, y - 12), (x + 30, y - 46)], SUPPLY)
    c.path([(x + 6, y + 12), (x + 30, y + 12), (x + 30, y + 20)], GROUND)
    ground(c, x + 30, y + 20)
    c.text(x + 44, y - 4, "switch that is on when low" if board.number("stage.brake_low") else "MOSFET, logic level")
    c.box(x + 18, y - 86, x + 42, y - 46, SUPPLY)
    flag(c, x + 30, y - 86, "VM")
    c.text(x + 56, y - 66, "coil of the brake")
    # The diode points to VM, against the current of the coil.
    c.path([(x + 30, y - 92), (x - 30, y - 92), (x - 30, y - 74)], SUPPLY)
    c.path([(x - 30, y - 58), (x - 30, y - 40), (x + 30, y - 40)], SUPPLY)
    c.path([(x - 38, y - 74), (x - 22, y - 74)], SUPPLY, 2.4)
    c.path([(x - 30, y - 74), (x - 39, y - 58), (x - 21, y - 58), (x - 30, y - 74)], SUPPLY)
    c.dot(x + 30, y - 92, SUPPLY)
    c.dot(x + 30, y - 40, SUPPLY)
    c.text(x - 50, y - 66, "diode", "end")
    c.path([(x + 190, y - 66), (SHAFT, y - 66)], MOVES, dash=True)
    return y + 124


def encoder(c, board, i, y):
    """Returns the y below the encoder of joint i and the y of its shaft."""
    spi = board.pin("encoder.select", i)
    top = y - 46
    if spi:
        lines = [(board.label(spi), "select", "CSn"), (board.label(board.pin("spi.sck")), "SCK", "CLK"),
                 (board.label(board.pin("spi.mosi")), "MOSI", "MOSI"), (board.label(board.pin("spi.miso")), "MISO", "MISO")]
    else:
        lines = [(board.label(board.pin("encoder.a", i)), "encoder A", "A"), (board.label(board.pin("encoder.b", i)), "encoder B", "B")]
    lines += [("", "3.3 V", "VDD, VDD3V" if spi else "VDD"), ("", "GND", "GND")]
    c.text(DRIVER[0] + 80, top + 18, "AS5047P" if spi else "quadrature", "middle", bold=True)
    for pin, words, name in lines:
        color = SUPPLY if name.startswith("VDD") else GROUND if name == "GND" else BUS
        board_pin(c, "right", y, words, pin)
        c.path([(BOARD[1], y), (DRIVER[0], y)], color)
        c.text(DRIVER[0] + 10, y, name)
        y += 26
    c.box(DRIVER[0], top, DRIVER[1], y - 8, width=2)
    c.text((BOARD[1] + DRIVER[0]) / 2, top + 18, "joint %d" % (i + 1), "middle")
    return y + 54, (top + y - 8) / 2


def mechanics(c, motor, end):
    """The shaft: motor, gear, joint, encoder."""
    c.path([(MOTOR + 20, motor), (SHAFT, motor), (SHAFT, motor + 40)], MOVES, dash=True)
    c.box(SHAFT - 28, motor + 40, SHAFT + 28, motor + 68, MOVES)
    c.text(SHAFT, motor + 54, "gear", "middle")
    c.path([(SHAFT, motor + 68), (SHAFT, end), (DRIVER[1], end)], MOVES, dash=True)
    c.text(SHAFT - 10, end - 12, "shaft of joint 1", "end")


# ---------------------------------------------------------------------------------------------- below the board

def table(c, x, y, head, rows):
    widths = [max(len(row[i]) for row in (head, *rows)) * SIZE * WIDE + 24 for i in range(len(head))]
    for line, row in enumerate((head, *rows)):
        at = x
        for words, width in zip(row, widths):
            c.text(at + 8, y + 14 + 24 * line, words, bold=line == 0)
            at += width
        c.path([(x, y + 26 + 24 * line), (at, y + 26 + 24 * line)], "#bbbbbb", 2 if line == 0 else 1)
    return y + 24 * (len(rows) + 1) + 26


def star(c, x, y):
    """Grounds meet at one point, near the motor drivers."""
    c.text(x, y, "All GND meet at one point, near the motor drivers:", bold=True)
    center = (x + 170, y + 74)
    for dy, left, right in ((-38, "minus of the supply", "motor drivers"), (0, "board", "clamp, brakes"), (38, "encoders, switches", "shields, one end")):
        c.text(center[0] - 36, center[1] + dy, left, "end")
        c.path([(center[0] - 30, center[1] + dy), center], GROUND)
        c.text(center[0] + 36, center[1] + dy, right)
        c.path([(center[0] + 30, center[1] + dy), center], GROUND)
    c.elements.append('<circle cx="%g" cy="%g" r="6" fill="%s"/>' % (*center, GROUND))
    return y + 140


def legend(c, x, y):
    rows = [(SUPPLY, 2.4, False, "supply of motors, brakes, chips"), (SIGNAL, 1.6, False, "signal, 3.3 V"),
            (BUS, 1.6, False, "encoder; the bus is shared, a select line is not"), (GROUND, 2, False, "ground, winding"),
            (MOVES, 1.6, True, "moves together")]
    for i, (color, width, dash, words) in enumerate(rows):
        c.path([(x, y + 22 * i), (x + 40, y + 22 * i)], color, width, dash)
        c.text(x + 52, y + 22 * i, words)
    c.dot(x + 20, y + 22 * len(rows))
    c.text(x + 52, y + 22 * len(rows), "joined; lines without a dot only cross")
    return y + 22 * (len(rows) + 1)


def notes(board):
    yield "PWM, IN1, IN2, enable and brake pins float while the chip is in reset or is programmed: the pull-downs keep the motors off."
    if board.pin("stage.brake"):
        yield "board.c gives the brake %d ms to open and %d ms to hold: change them to the times of yours." % (board.number("stage.open"), board.number("stage.close"))
    missing = [words for key, words in (("stage.enable", "enable output"), ("stage.brake", "brake output"),
                                        ("stage.fault", "input for the fault of the motor drivers"), ("home", "inputs for home switches")) if not board.pin(key)]
    if missing:
        yield "This board has no " + ", no ".join(missing) + "."
    if board.pin("spi.power"):
        yield "%s switches the 3.3 V and 5 V of the headers on%s." % (board.pin("spi.power"), board.unchecked)


def draw(board, heads, encoder_head, joints):
    c = Canvas()
    c.text(40, 30, "%s: joint 1 drawn in full, the pins of all joints in the table" % board.name, size=17, bold=True)
    c.text(40, 54, "made from boards/%s/board.c by make pages; states of the pins in reset: boards/PINS.md" % board.name, color="#555555")
    supply_rail(c, board)

    left = RAIL + 120
    left = supply_divider(c, board, left) if board.divider() else left
    left = emergency_stop(c, board, left)
    if board.pin("home"):
        left = home_switch(c, board, left)
    left = console(c, board, left)
    left = board_supply(c, left)

    right, motor = driver(c, board, RAIL + 130)
    if board.pin("stage.brake"):
        right = brake(c, board, right + 100)
    # The encoder of joint 1, and the first one of the other kind if there is one.
    first = bool(board.pin("encoder.select"))
    kinds = [0] + [i for i in board.joints if board.pin("encoder.a" if first else "encoder.select", i)][:1]
    for i in kinds:
        right, end = encoder(c, board, i, right)
        if i == 0:
            mechanics(c, motor, end)

    bottom = max(left, right - 40)
    c.box(BOARD[0], RAIL + 60, BOARD[1], bottom, TEXT, 2.4)
    c.text(sum(BOARD) / 2, RAIL + 80, board.name, "middle", size=16, bold=True)

    below = bottom + 40
    under = table(c, 40, below, ("joint", *heads, encoder_head, "home switch"), joints)
    for words in notes(board):
        c.text(40, under, words)
        under += 20
    side = legend(c, 980, star(c, 980, below + 8) + 10)
    return c.svg(max(under, side) + 10, "wiring of the " + board.name)
