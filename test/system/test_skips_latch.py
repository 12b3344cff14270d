#!/usr/bin/env python3
"""Tests instruction skips, as test_skips.py, over enable, latch, lease and overrides.

Enable and latch: the emulator has neither motor timers nor pins, so their registers lie in memory
(Pins), and the loop drives them. The e-stop opens or the drivers report a fault: in the middle of
the motion, just before the outputs come on, while it is latched, and while somebody asks to clear
it. Timers, enable and brake may be on in the tick of the skip only. The model is stricter than the
chip: it does not keep MOE clear while the e-stop is open, and its interrupt does not come.

Lease and overrides: the lease of a client lapses in the tick of the skip, or the background takes
its override back meanwhile.

    test_skips_latch.py [PROGRAM [PATTERN]]
"""
import struct
import sys

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import main  # noqa: E402
from test_skips import TICKS, TOKEN, Situation, count, functions, symbol  # noqa: E402

LATCH_INPUTS = ["latch_look", "latch_active", "open_inputs", "break_flag"]
ENABLE_FUNCTIONS = LATCH_INPUTS + ["motor_enable", "motor_enabled", "motor_off", "nothing_latched", "zero_duty", "latch_set"]
LATCH_FUNCTIONS = ENABLE_FUNCTIONS + ["latch_read", "motor_brake_open", "motor_set", "guard", "guard_inputs", "take", "supervisor_take",
                                      "supervisor_latch", "supervisor_stop", "supervisor_opens", "supervisor_shut", "stop_choose",
                                      "app_state_next", "app_tick", "tick_interrupt"]
CLEAR_FUNCTIONS = LATCH_INPUTS + ["app_clear", "app_unlatch", "latch_clear", "app_state_next"]
LEASE_FUNCTIONS = ["app_tick", "take", "supervisor_take", "supervisor_latch", "reference_brake", "app_state_next"]
OVERRIDE_FUNCTIONS = ["app_poll", "setup_restore", "put"]
FAULT, RUNNING = 5, 3  # states
TURNS = 4  # of the background


class Pins:
    """Motor timers and pins of a situation, in memory that the firmware does not use; the arm is then the one at the
    hardware. Its encoders stand still, because the board finds none."""
    AT = 0x20020000  # the emulated chip has 64 KB more here than the real one
    TIMERS = (AT + 0x400, AT + 0x800)
    SR, BDTR = 0x10, 0x44
    BIF, MOE = 1 << 7, 1 << 15
    DRIVER_FAULT = 0x8f  # PIN(A, 15), which the board does not use

    def __init__(self, situation):
        self.stub = situation.stub
        for name, body in (("gpio_write", 0x5411), ("gpio_read", 0x5c10)):  # strb r1, [r2, r0]; ldrb r0, [r2, r0]
            code = functions([name])[name]
            assert code[0][0] % 4 == 0 and code[-1][0] - code[0][0] >= 10, f"{name} has no place for another one"
            self.stub.write(code[0][0], struct.pack("<4HI", 0x4a01, body, 0x4770, 0xbf00, self.AT))
        situation.returns("supply_read", 1)  # SUPPLY_ERR_ABSENT: the emulator has no converter
        for i, timer in enumerate(self.TIMERS):
            self.put(f"board.motor.timers[{i}].regs", "<I", timer)
        for i in range(4):  # to write ones into SR changes nothing in the chip, but it does in memory: no motor that does that
            self.put(f"board.motor.motors[{i}].direction", "<B", 0)
        self.stage = {name: self.get(f"board.motor.stage.{name}", "<B") for name in ("enable", "brake")}
        self.estop = [self.get(f"board.motor.timers[{i}].break_pin", "<B") for i in range(2)]
        self.put("board.motor.stage.fault", "<B", self.DRIVER_FAULT)
        self.level(self.DRIVER_FAULT, 1)
        self.put("'hal/stm32/motor.c'::period", "<H", 8400)
        self.put("'hal/stm32/latch.c'::inputs", "<B", 2)
        self.put("'hal/stm32/watchdog.c'::mode", "<B", 2 | 4)  # ON, SETTLED
        for i in range(2):
            self.put(f"'firmware/tick.c'::app.control[{i}].unread", "<H", 0xffff)
            self.put(f"'firmware/tick.c'::app.control[{i}].simulated", "<B", 0)

    def put(self, what, form, value):
        self.stub.write(symbol(what), struct.pack(form, value))

    def get(self, what, form):
        return struct.unpack(form, self.stub.read(symbol(what), struct.calcsize(form)))[0]

    def level(self, pin, value):
        self.stub.write(self.AT + pin, bytes([value]))

    def word(self, address):
        return struct.unpack("<I", self.stub.read(address, 4))[0]

    def on(self):
        """Returns whether a timer, the enable pin or the brake pin is on; one value for each of them."""
        return tuple(bool(self.word(t + self.BDTR) & self.MOE) for t in self.TIMERS) + \
            tuple(self.stub.read(self.AT + pin, 1) != b"\0" for pin in self.stage.values())

    def press(self, _stub=None):
        """The e-stop opens: the chip clears MOE and sets BIF."""
        for timer, pin in zip(self.TIMERS, self.estop):
            self.stub.write(timer + self.BDTR, struct.pack("<I", self.word(timer + self.BDTR) & ~self.MOE))
            self.stub.write(timer + self.SR, struct.pack("<I", self.BIF))
            self.level(pin, 1)

    def fail(self, _stub=None):
        """The drivers report a fault; nothing but the program switches the outputs off."""
        self.level(self.DRIVER_FAULT, 0)


def test_latch(folder):
    """The loop drives timers and pins. E-stop and driver fault in a tick; then the e-stop is latched; then somebody asks to
    clear it while it is still open."""
    situation = Situation(folder)
    try:
        situation.load()
        situation.set(guard_direction=0, brakes=1)
        situation.client.led(wire.MOTION, struct.pack("<Bf6f", 0, 0, 0, 0, 0, 0, 0, 0))
        situation.wait(TICKS)
        situation.attach()
        pins = Pins(situation)
        wrong = []

        def against(*on):
            return any(on)

        situation.freeze("motor_enable")
        wrong += count(situation, pins.press, against, "e-stop before the outputs come on", ENABLE_FUNCTIONS, pins.on)
        situation.restore()
        situation.run_ticks(4 * TICKS)
        situation.freeze()
        assert situation.state() == (RUNNING,) and all(pins.on()), \
            f"not driven: {situation.state()} {pins.on()}, fault {pins.word(situation.safety + 4)}"
        wrong += count(situation, pins.fail, against, "driver fault", LATCH_FUNCTIONS, pins.on)
        wrong += count(situation, pins.press, against, "e-stop", LATCH_FUNCTIONS, pins.on)
        situation.restore()
        pins.press()
        situation.stub.ask("s")
        situation.run_ticks(TICKS)
        situation.freeze()
        assert situation.state() == (FAULT,) and not any(pins.on()), (situation.state(), pins.on())
        wrong += count(situation, lambda stub: None, against, "latched", LATCH_FUNCTIONS, pins.on)
        situation.restore()
        situation.freeze("app_poll", "app_clear")  # both get the application
        wrong += count(situation, lambda stub: None, against, "clear", CLEAR_FUNCTIONS, pins.on)
        assert not wrong, wrong
    finally:
        situation.close()


def test_lease(folder):
    """A motion runs, and the lease of its client lapses: it may go on for one tick more."""
    situation = Situation(folder)
    try:
        situation.load()
        situation.client.ask(wire.LEASE, struct.pack("<IH", TOKEN, 60000) + b"test\0")
        situation.client.led(wire.MOTION, struct.pack("<Bf6f", 1, 30, 0, 1, 0, 0, 0, 0))
        situation.wait(600)
        left = symbol("'firmware/tick.c'::app.lease.left")
        situation.attach()
        situation.freeze()
        assert situation.state() == (RUNNING,) and situation.stub.read(left, 4) != bytes(4), "no motion, or no lease"
        wrong = count(situation, lambda stub: stub.write(left, struct.pack("<I", 1)), lambda state, kind: state == RUNNING and kind != 0,
                      "lease", LEASE_FUNCTIONS, lambda: situation.state() + struct.unpack("<I", situation.stub.read(situation.kind, 4)))
        assert not wrong, wrong
    finally:
        situation.close()


def test_overrides(folder):
    """The lease has lapsed, and the background takes two overrides of guards back. A skip there may cost it some turns; after
    that the values are those beneath, and so is what the tick uses."""
    situation = Situation(folder)
    try:
        situation.load()
        client = situation.client
        client.ask(wire.LEASE, struct.pack("<IH", TOKEN, 60000) + b"test\0")
        for name in ("guard_tracking", "guard_limit_s"):
            client.led(wire.OVERRIDE, struct.pack("<BBf", situation.names.index(name), 0, 5))
        left, count_at = symbol("'firmware/tick.c'::app.lease.left"), symbol("'firmware/tick.c'::app.overrides.count")
        places = [symbol(f"'firmware/tick.c'::app.parameter[{situation.names.index(n)}]") for n in ("guard_tracking", "guard_limit_s")]
        now_at = symbol("'firmware/tick.c'::app.now")
        half_ticks = [symbol(f"'firmware/tick.c'::app.control[{i}].limit_half_ticks") for i in range(2)]
        situation.attach()
        situation.freeze("app_poll")
        stub, situation.turn = situation.stub, situation.entry
        assert [stub.read(p, 4) for p in places] == [struct.pack("<f", 5)] * 2, "there are no overrides"

        def limit():
            """Returns guard_limit_s as the tick has it, in half ticks."""
            now = struct.unpack("<I", stub.read(now_at, 4))[0]
            return struct.unpack("<H", stub.read(half_ticks[now], 2))[0] if now < 2 else None

        loose = limit()

        def overridden():
            return sum(stub.read(p, 4) == struct.pack("<f", 5) for p in places), struct.unpack("<I", stub.read(count_at, 4))[0], limit()

        lost = count(situation, lambda stub: stub.write(left, bytes(4)), lambda values, listed, half_ticks: values > 0 or half_ticks == loose,
                     "overrides", OVERRIDE_FUNCTIONS, overridden, ticks=TURNS, late=TURNS - 1)
        assert len(lost) == 0, lost
    finally:
        situation.close()


if __name__ == "__main__":
    sys.exit(main(globals()))
