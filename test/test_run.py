#!/usr/bin/env python3
"""`appell run` against emulated boards: the same bits as on the host, a soak without an overrun, and
a rate that is too high.

With LONG=1 the soak is ten simulated minutes.
"""
import os
import re
import subprocess
import sys
import tempfile

APPELL = "build/host/appell-san"
PATIENCE_S = 1100
LONG = bool(os.environ.get("LONG"))
# The waist at 93 % of its velocity limit; all joints move.
TO = "1.3,0.85,-0.8,1.5,1.2,1.5"


def run(*words):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([APPELL, "run", "puma560", "-q", "-o", folder, *words],
                              capture_output=True, text=True, timeout=PATIENCE_S)
        rows = [name for name in os.listdir(folder) if name.endswith(".csv")]
    return done.returncode, done.stdout, done.stderr, rows


def counts(text):
    match = re.search(r"^(\d+) ticks, (\d+) overruns; (\d+) samples sent, (\d+) dropped", text, re.M)
    assert match, f"no line of counts: {text}"
    return [int(group) for group in match.groups()]


def check_same_bits_and_soak():
    """One way and back for as long as asked; the first way is compared with the host's twin."""
    ways = "300" if LONG else "4"
    code, text, errors, rows = run("--port", "qemu:netduinoplus2", "--to", TO, "--profile",
                                   "cycloid", "--duration", "2", "--repeat", ways)
    assert code == 0, f"exit code {code}: {text}{errors}"
    match = re.search(r"^(\d+) values compared .*, (\d+) differ", text, re.M)
    assert match, f"nothing was compared: {text}"
    # A quarter of 2,000 ticks, 44 values a sample.
    assert int(match.group(1)) >= 500 * 44, match.group(0)
    assert match.group(2) == "0", match.group(0)
    ticks, overruns, sent, dropped = counts(text)
    assert ticks >= (600000 if LONG else 8000), f"{ticks} ticks"
    assert overruns == 0, f"{overruns} overruns"
    assert sent >= int(ways) * 500 and dropped == 0, f"{sent} samples sent, {dropped} dropped"
    assert rows == ["cycloid.csv"], rows


def check_rate_above_the_budget():
    """Refused, and where it is taken all the same it overruns, which stops the arm."""
    code, text, errors, _ = run("--port", "qemu:netduino2", "--set", "rate_hz=20000", "--to", TO)
    assert code == 2 and "a tick takes longer than this rate allows" in errors, f"{code}: {text}{errors}"
    code, text, errors, _ = run("--port", "qemu:netduino2", "--set", "rate_check=0,rate_hz=20000",
                                "--to", TO)
    assert code == 1, f"exit code {code}: {text}{errors}"
    assert "stopped by the fault overrun" in text, text
    # The windings are shorted for half a second, in which the simulated arm still costs its time.
    ticks, overruns, _, _ = counts(text)
    assert 2 <= overruns <= 10010, f"{overruns} overruns in {ticks} ticks"


def main():
    checks = [check_same_bits_and_soak, check_rate_above_the_budget]
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
