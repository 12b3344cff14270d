#!/usr/bin/env python3
"""Tests in bash and zsh themselves what they offer when the tab key is pressed.

test_completion.py [PROGRAM [PATTERN]]
"""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from script_frame import Skip, main  # noqa: E402
from test_appell import COMMANDS, PROGRAM, good  # noqa: E402

TIMEOUT_S = 60


def boards():
    """Returns (all boards, the boards that the emulator has)."""
    every = {path.split("/")[1]: open(path).read() for path in glob.glob("boards/*/board.mk")}
    return set(every), {name for name, text in every.items() if re.search(r"^QEMU_MACHINE", text, re.MULTILINE)}


def parameters():
    with open("firmware/params/parameters.h") as file:
        return set(re.findall(r"X\((?:[\s\\]*X, )?(\w+), (?:ONE|JOINT),", file.read()))


def faults():
    return {fault["name"].replace(" ", "-") for fault in json.loads(good("faults", "--json"))["faults"]}


def bash(script):
    """Returns a function that splits a line into words at : and =, as bash does, and gives the
    completions of the last word."""
    def complete(line):
        words = [word for part in line.split(" ") for word in ([w for w in re.split(r"([:=])", part) if w] or [""])]
        ask = (f"source {shlex.quote(script)}; COMP_WORDS=({' '.join(map(shlex.quote, words))}); "
               f"COMP_CWORD={len(words) - 1}; _appell {shlex.quote(PROGRAM)} 2>&1; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True,
                              timeout=TIMEOUT_S).stdout.split()
    return complete


def zsh(script):
    """Returns a function that gives the completions of a line. A link named appell points to the
    tested program, because the script completes that name."""
    program = os.path.join(os.path.dirname(script), "appell")
    os.symlink(PROGRAM, program)

    def complete(line):
        assert line.startswith("appell ")
        done = subprocess.run(["zsh", "-f", "test/support/complete.zsh", script, program + line[6:]],
                              capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        return done.stdout.split()
    return complete


# Lines and exactly their completions, in any order.
OFFERED = [
    ("appell ja", {"jacobian"}),
    ("appell help ja", {"jacobian"}),
    ("appell id puma560 --me", {"--method"}),
    ("appell fd puma560 --method a", {"aba"}),
    ("appell fd puma560 -m a", {"aba"}),
    ("appell id --real q", {"q31"}),
    ("appell id -r ", {"f64", "f32", "q31"}),
    ("appell gen puma560 --strategy ", {"trace", "uicker-kahn"}),
    ("appell sim puma560 --integrator ", {"rk3", "rk4", "rk45", "rk56"}),
    ("appell sim puma560 --controller ", {"firmware"}),
    ("appell id pum", {"puma560"}),
    ("appell id --method ne pum", {"puma560"}),
    ("appell config ", {"read", "write", "diff"}),
    ("appell config write LICEN", {"LICENSE"}),
    ("appell flash pum", {"puma560"}),
    ("appell faults ", {"explain", "provoke"}),
    ("appell faults provoke pum", {"puma560"}),
    ("appell faults explain supp", {"supply-low", "supply-high", "supply-sensor"}),
    ("appell completion ", {"bash", "zsh"}),
    ("appell image --show tools/robots/pum", {"tools/robots/puma560.yaml"}),
    ("appell id puma560 LICEN", {"LICENSE"}),
    ("appell certify puma560 --board netduinop", {"netduinoplus2"}),
    ("appell get observer", {"observer_hz"}),
    ("appell set observer", {"observer_hz"}),
    ("appell get telem", {"telemetry"}),
    ("appell set telem", set()),
    ("appell monitor --fields q,tau_", {"q,tau_model"}),
    ("appell sim puma560 --duration pu", set()),  # this option takes a number, not a robot
    ("appell sim puma560 -t pu", set()),
]


def check(complete):
    for line, expected in OFFERED:
        found = complete(line)
        assert set(found) == expected and len(found) == len(expected), f"{line}: {found}"
    every, emulated = boards()
    assert set(complete("appell certify puma560 --board ")) == every
    assert parameters() <= set(complete("appell get ")), parameters() - set(complete("appell get "))
    assert set(complete("appell set ")) == parameters()
    assert faults() <= set(complete("appell faults explain "))
    assert set(COMMANDS) <= set(complete("appell "))
    return emulated


def test_bash(folder):
    script = os.path.join(folder, "appell.bash")
    with open(script, "w") as file:
        file.write(good("completion", "bash"))
    done = subprocess.run(["bash", "-n", script], text=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    complete = bash(script)
    emulated = check(complete)
    assert complete("appell id --real=q") == ["q31"]
    assert complete("appell home --set=obs") == ["observer_hz"]
    assert set(complete("appell get --port qemu:")) == emulated
    assert complete("appell get --port qemu:mp") == ["mps2-an500"]
    assert {f"qemu:{board}" for board in emulated} <= set(complete("appell get --port "))
    assert complete("appell clear ") == []


def test_zsh(folder):
    if not shutil.which("zsh"):
        raise Skip("there is no zsh on this machine")
    script = os.path.join(folder, "_appell")
    with open(script, "w") as file:
        file.write(good("completion", "zsh"))
    done = subprocess.run(["zsh", "-f", "-n", script], text=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    complete = zsh(script)
    emulated = check(complete)
    assert complete("appell id --real=q") == ["--real=q31"]
    assert complete("appell home --set kp=1,obs") == ["kp=1,observer_hz"]
    assert set(complete("appell get --port qemu:")) == {f"qemu:{board}" for board in emulated}


def test_what_is_offered_is_understood(folder):
    """The program knows all robots and faults that completion offers; the lists of robots come from
    the folders."""
    robots = good("completion", "robots").split()
    assert "puma560" in robots and robots == sorted(set(robots)), robots
    for robot in robots:
        good("info", robot, "-q")
    for fault in faults():
        assert re.match(rf" *\d+  {fault.replace('-', '.')} ", good("faults", "explain", fault)), fault
        assert json.loads(good("faults", "explain", fault, "--json"))["name"] == fault.replace("-", " ") or "-" in fault
    with open(os.path.join(folder, "an_arm_of_mine.yaml"), "w") as file:
        file.write(open("tools/robots/puma560.yaml").read())
    done = subprocess.run([PROGRAM, "completion", "robots"], capture_output=True, text=True, check=True,
                          env=dict(os.environ, APPELL_ROBOTS=folder))
    assert "an_arm_of_mine" in done.stdout.split()


if __name__ == "__main__":
    sys.exit(main(globals()))
