#!/usr/bin/env python3
"""Tests commissioning on the emulated boards. `appell home` homes at stops, at switches and by a
known position; before homing, motions are refused. `appell inspect` must find the actual friction
and payload of the simulated arm."""
import json
import os
import subprocess
import sys
import tempfile

APPELL = "build/host/appell-san"
TIMEOUT_S = 300
LONG = os.environ.get("LONG", "")
# wrist_pitch of the PUMA has limits of -1.7453 and 1.7453 rad; the simulated stops are 0.02 rad
# beyond them. Its encoder has 1000 counts on a gear of 71.923, so 2000 counts are 0.1747 rad and
# one is 87 urad.
JOINT, STOP, COUNT = "wrist_pitch", 1.7653292519943295, 6.283185307 / 71923
# The switch is read once per tick, so it is found up to this distance in rad late. The joint then
# moves at a quarter of its homing speed, which is half of 4.2 rad/s.
TICK = 4.2 * 0.5 / 4 * 0.001


def appell(*words):
    done = subprocess.run([APPELL, *words, "-q"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout, done.stderr


def home(board, way, position, *more):
    settings = f"sim_shift=2000,home_speed=0.5,home[{JOINT}]={way},home_position[{JOINT}]={position}"
    return appell("home", "puma560", "--port", f"qemu:{board}", "--set", settings, *more)


def found(board, way, position):
    code, text, errors = home(board, way, position, "--json")
    assert code == 0, f"exit {code}: {text}{errors}"
    rows = json.loads(text)
    assert len(rows) == 1 and rows[0]["joint"] == JOINT, text  # the other joints have absolute encoders
    assert abs(rows[0]["position"]) < 1.7453, "it must end within its limits"
    return abs(rows[0]["error"])


def check_stop():
    """The position is right to one count of the encoder plus half a count for rounding."""
    assert found("netduinoplus2", 1, STOP) < 1.5 * COUNT


def check_stop_in_fixed_point():
    assert found("netduino2", -1, -STOP) < 1.5 * COUNT


def check_switch_on_the_small_board():
    assert found("stm32vldiscovery", 2, 1.2) < 1.5 * COUNT + TICK


def check_robot_file():
    """The robot file says how a joint homes. This setting goes through the image and back and needs
    no parameter."""
    with open("tools/robots/puma560.yaml", encoding="utf-8") as file:
        text = file.read()
    at = text.index("    gains:", text.index(JOINT))
    with tempfile.TemporaryDirectory() as folder:
        path, image = os.path.join(folder, "homed.yaml"), os.path.join(folder, "homed.img")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{text[:at]}    homing: {{to: stop, side: upper, position: {STOP}}}\n{text[at:]}")
        code, _, errors = appell("image", path, "-o", image)
        assert code == 0, errors
        code, shown, errors = appell("image", "--show", image)
        assert "homing: {to: stop, side: upper, position: 1.76532" in shown, shown + errors
        code, text, errors = appell("home", image, "--port", "qemu:netduinoplus2", "--set", "sim_shift=2000,home_speed=0.5", "--json")
    assert code == 0, errors
    row, = json.loads(text)
    assert row["joint"] == JOINT and abs(row["error"]) < 1.5 * COUNT, row


def check_nothing_found():
    """The switch is beyond the stop: the tool prints the text of the fault, and the exit code is
    1."""
    code, text, errors = home("netduinoplus2", -2, -2.5)
    assert code == 1, f"exit {code}: {text}"
    assert "ended with the fault homing" in errors and "home_torque" in errors, errors


def check_refused_before():
    """Before the arm is homed, motions are refused; the message names the joint and the cure."""
    code, text, errors = appell("inspect", "puma560", "--port", "qemu:netduinoplus2", "--set", f"home[{JOINT}]=1")
    assert code != 0 and "the position of the joint is not known yet" in errors and "appell home" in errors, f"{code} {text}{errors}"
    assert JOINT in errors, errors


def check_known_position():
    """The encoders are off by 2000 counts. The arm is at zero, and the command gives this position
    to the board."""
    code, text, errors = appell("home", "puma560", "--port", "qemu:stm32vldiscovery", "--set", "sim_shift=2000", "--at",
                                "0,0,0,0,0,0", "--json")
    assert code == 0, errors
    row = {r["joint"]: r for r in json.loads(text)}[JOINT]
    assert abs(row["read"] - 2000 * COUNT) < COUNT and abs(row["encoder_offset"] + row["read"]) < 1e-5, row
    code, text, errors = appell("home", "puma560", "--port", "qemu:stm32vldiscovery", "--at", "0,0")
    assert code == 2 and "--at" in errors, f"{code} {errors}"


# The result depends on where within a count of the encoder the motions begin; 13 runs had a
# standard deviation of 0.04 kg.
PAYLOAD_OFF = 5 * 0.04


def inspect(settings, board="netduinoplus2"):
    code, text, errors = appell("inspect", "puma560", "--port", f"qemu:{board}", "--json", "--set", settings)
    assert code in (0, 1), errors
    report = json.loads(text)
    assert report["good"] == (code == 0), text
    return report


def check_friction():
    """The arm has 1.5 times the friction at every joint. inspect finds it to a tenth, because a
    count of the encoder in the feedback is a torque error, too."""
    report = inspect("sim_friction=1.5")
    assert not report["good"], "15 % of the torque limit is too far"
    for joint in report["joints"]:
        for side in range(2):
            model, seen = joint["coulomb_model"][side], joint["coulomb"][side]
            assert abs(seen - 1.5 * model) < 0.1 * abs(model), joint
    assert abs(report["payload"]) < PAYLOAD_OFF, report["payload"]


def check_payload():
    """The model has a payload of 1.5 kg that the arm does not have. The motion of the PUMA is too
    short to distinguish that from lighter links."""
    report = inspect("payload_mass=1.5")
    assert not report["good"] and report["explained_by"] != "masses", report
    assert abs(report["payload"]) < PAYLOAD_OFF, report["payload"]


def check_masses():
    report = inspect("sim_mass=1.2")
    assert report["explained_by"] != "payload" and abs(report["mass_factor"] - 1.2) < 0.02, report
    report = inspect("sim_mass=2")  # no payload explains such torques
    assert report["explained_by"] == "masses" and abs(report["mass_factor"] - 2) < 0.02, report


def check_right_model():
    for board in ("netduinoplus2", "netduino2"):
        report = inspect("stages=0", board)
        assert report["good"] and abs(report["payload"]) < PAYLOAD_OFF, report


def main():
    checks = [check_robot_file, check_stop_in_fixed_point, check_switch_on_the_small_board, check_nothing_found,
              check_refused_before, check_known_position]
    if LONG:
        checks += [check_stop, check_friction, check_payload, check_masses, check_right_model]
    failures = 0
    for check in checks:
        name = check.__name__.replace("check_", "test_")
        line = check.__code__.co_firstlineno
        print(f"RUN {name}", flush=True)
        try:
            check()
            print(f"{__file__}:{line}:{name}:PASS", flush=True)
        except (AssertionError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
            failures += 1
            print(f"{__file__}:{line}:{name}:FAIL: {error}", flush=True)
    print(f"\n-----------------------\n{len(checks)} Tests {failures} Failures 0 Ignored")
    print("OK" if failures == 0 else "FAIL")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
