#!/usr/bin/env python3
"""`appell faults` and `appell certify`: the table, and every fault that can be provoked on the emulated boards, with its
words and the motion of the arm after it within the bounds."""
import json
import os
import sys

sys.dont_write_bytecode = True
from test_appell import main, run  # noqa: E402

PATIENCE_S = 300
# Number, name and best stop of each fault are part of the protocol: they never change.
STABLE = {1: ("overrun", "damp"), 2: ("encoder", "damp"), 3: ("break", "release"), 4: ("number", "damp"),
          5: ("model", "damp"), 6: ("parity", "damp"), 7: ("tracking", "hold"), 8: ("position", "hold"),
          9: ("velocity", "damp"), 10: ("torque", "lower"), 11: ("voltage", "lower"),
          12: ("setpoint", "hold"), 13: ("supply low", "release"), 14: ("supply high", "damp"),
          15: ("generated", "release"), 16: ("watchdog", "release"), 17: ("crash", "release"),
          18: ("direction", "damp"), 19: ("parameters", "release"),
          20: ("homing", "hold")}


def appell(*words):
    done = run(*words, patience_s=PATIENCE_S)
    return done.returncode, done.stdout, done.stderr


def test_table(folder):
    code, text, errors = appell("faults", "--json")
    assert code == 0, errors
    table = json.loads(text)
    found = {row["number"]: (row["name"], row["stop"]) for row in table["faults"]}
    assert found == STABLE, found
    assert all(row["cause"] and row["cure"] for row in table["faults"])
    assert [row["name"] for row in table["stops"]] == ["hold", "lower", "damp", "release"]
    code, text, errors = appell("faults")
    assert code == 0 and all(name in text for name, _ in STABLE.values()), text


def provoke(folder, board, expected):
    code, text, errors = appell("faults", "puma560", "-q", "--port", f"qemu:{board}", "-o", folder)
    files = os.listdir(folder)
    assert code == 0, f"exit code {code}: {text}{errors}"
    assert f"\n{expected} faults as expected, 0 not" in text, text
    for stop in ("hold", "lower", "damp", "release"):
        assert f"stop: {stop};" in text, f"no stop {stop}: {text}"
    pictures = sum(name.endswith(".png") for name in files)
    assert pictures == expected and sum(name.endswith(".csv") for name in files) == expected, files


def test_f32(folder):
    provoke(folder, "netduinoplus2", 15)


def test_q31(folder):
    """Fixed point has no NaN to provoke."""
    provoke(folder, "netduino2", 14)


def test_certificate(folder):
    """The numbers of the table agree with each other, and a rate that does not fit is exit code 1."""
    code, text, errors = appell("certify", "puma560", "-q", "--board", "netduino2", "--json")
    assert code == 0, errors
    found = json.loads(text)
    assert found["fits"] and found["real"] == "q31" and found["clock_hz"] == 120e6, found
    part = found["tick_cycles"] * found["rate_hz"] / found["clock_hz"]
    assert abs(part - found["part"]) < 1e-9, found
    # The dynamics stage is inverse dynamics, and rotors and friction beside it.
    assert found["dynamics_steps"] < found["tick_steps"], found
    # The smallest board has its robot in flash, and a fifth of the clock.
    code, text, errors = appell("certify", "puma560", "-q", "--board", "stm32vldiscovery", "--json")
    assert code == 0, errors
    small = json.loads(text)
    assert small["clock_hz"] == 24e6 and 4 * found["part"] < small["part"] < 6 * found["part"], small
    path = os.path.join(folder, "fast.yaml")
    with open("tools/robots/puma560.yaml", encoding="utf-8") as robot:
        text = robot.read()
    with open(path, "w", encoding="utf-8") as robot:
        robot.write(text.replace("control: {rate: 1000", "control: {rate: 8000"))
    code, text, errors = appell("certify", path, "-q", "--board", "netduino2")
    assert code == 1 and "the robot's 8000 Hz" in text and "does NOT fit" in text, f"{code}: {text}{errors}"


if __name__ == "__main__":
    sys.exit(main(globals()))
