#!/usr/bin/env python3
"""`appell faults` and `appell certify`: the table, and every fault that can be provoked on the emulated boards, with its
words and the motion of the arm after it within the bounds."""
import json
import os
import subprocess
import sys
import tempfile

APPELL = "build/host/appell-san"
PATIENCE_S = 300
# Number, name and best stop of each fault are part of the protocol: they never change.
STABLE = {1: ("overrun", "damp"), 2: ("encoder", "damp"), 3: ("break", "release"), 4: ("number", "damp"),
          5: ("model", "damp"), 6: ("parity", "damp"), 7: ("tracking", "hold"), 8: ("position", "hold"),
          9: ("velocity", "damp"), 10: ("torque", "lower"), 11: ("voltage", "lower"),
          12: ("setpoint", "hold"), 13: ("supply low", "release"), 14: ("supply high", "damp"),
          15: ("generated", "release"), 16: ("watchdog", "release"), 17: ("crash", "release"),
          18: ("direction", "damp"), 19: ("parameters", "release")}


def appell(*words):
    done = subprocess.run([APPELL, "faults", *words], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    return done.returncode, done.stdout, done.stderr


def check_table():
    code, text, errors = appell("--json")
    assert code == 0, errors
    table = json.loads(text)
    found = {row["number"]: (row["name"], row["stop"]) for row in table["faults"]}
    assert found == STABLE, found
    assert all(row["cause"] and row["cure"] for row in table["faults"])
    assert [row["name"] for row in table["stops"]] == ["hold", "lower", "damp", "release"]
    code, text, errors = appell()
    assert code == 0 and all(name in text for name, _ in STABLE.values()), text


def check_provoked(board, expected):
    with tempfile.TemporaryDirectory() as folder:
        code, text, errors = appell("puma560", "-q", "--port", f"qemu:{board}", "-o", folder)
        files = os.listdir(folder)
    assert code == 0, f"exit code {code}: {text}{errors}"
    assert f"\n{expected} faults as expected, 0 not" in text, text
    for stop in ("hold", "lower", "damp", "release"):
        assert f"stop: {stop};" in text, f"no stop {stop}: {text}"
    pictures = sum(name.endswith(".png") for name in files)
    assert pictures == expected and sum(name.endswith(".csv") for name in files) == expected, files


def check_f32():
    check_provoked("netduinoplus2", 12)


def check_q31():
    """Fixed point has no NaN to provoke."""
    check_provoked("netduino2", 11)


def check_certificate():
    """The numbers of the table agree with each other, and a rate that does not fit is exit code 1."""
    done = subprocess.run([APPELL, "certify", "puma560", "-q", "--board", "netduino2", "--json"],
                          capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["fits"] and found["real"] == "q31" and found["clock_hz"] == 120e6, found
    part = found["tick_cycles"] * found["rate_hz"] / found["clock_hz"]
    assert abs(part - found["part"]) < 1e-9, found
    # The dynamics stage is inverse dynamics, and rotors and friction beside it.
    assert found["dynamics_steps"] < found["tick_steps"], found
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fast.yaml")
        with open("tools/robots/puma560.yaml", encoding="utf-8") as robot:
            text = robot.read().replace("control: {rate: 1000", "control: {rate: 8000")
        with open(path, "w", encoding="utf-8") as robot:
            robot.write(text)
        done = subprocess.run([APPELL, "certify", path, "-q", "--board", "netduino2"],
                              capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1, f"{done.returncode}: {done.stdout}{done.stderr}"


def main():
    checks = [check_table, check_f32, check_q31, check_certificate]
    failures = 0
    for check in checks:
        name = check.__name__.replace("check_", "test_")
        line = check.__code__.co_firstlineno
        print(f"RUN {name}", flush=True)
        try:
            check()
            print(f"{__file__}:{line}:{name}:PASS", flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failures += 1
            print(f"{__file__}:{line}:{name}:FAIL: {error}", flush=True)
    print(f"\n-----------------------\n{len(checks)} Tests {failures} Failures 0 Ignored")
    print("OK" if failures == 0 else "FAIL")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
