#!/usr/bin/env python3
"""Runs the self-test image in the emulator and checks its report, the comparison of reports, and
what the command says to bad input.

    test_silicon.py [PROGRAM [PATTERN]]
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from test_appell import good, main, run  # noqa: E402

IMAGE = "qemu:build/{}/silicon.elf"
# What the emulator cannot see (platform limits), and what it must see.
UNSEEN = {"core_clock", "lsi", "hse", "watchdog", "pwm", "break", "spi", "adc", "uart_rate", "dma_moves", "flash"}
SEEN = {"tick_count", "sleep_counted", "tick_overruns", "uart_echoed", "uart_lost", "uart_gaps", "uart_errors", "fpu_wrong",
        "fpu_lazy_stacking", "fpu_interrupts", "fpu_lost", "stack_guard", "unaligned", "hard_fault"}


def report_of(folder, board):
    path = f"{folder}/{board}.json"
    said = good("silicon", "--port", IMAGE.format(board), "-o", path)
    with open(path, encoding="utf-8") as file:
        return path, said, json.load(file)


def test_the_emulated_board(folder):
    path, said, report = report_of(folder, "netduinoplus2")
    tests = {test["name"]: test for test in report["tests"]}
    assert report["board"] == "netduinoplus2" and report["chip"] == "stm32f405" and report["emulated"] is True
    assert len(report["build"]) == 40 and len(tests) == len(report["tests"])
    assert {name for name, test in tests.items() if test["verdict"] == "unseen"} == UNSEEN, tests
    rows = {name for name in tests if name.startswith("cycles.")}
    assert set(tests) - UNSEEN - rows == SEEN, set(tests)
    for name in SEEN | rows:
        assert tests[name]["verdict"] == "ok", tests[name]
    for name in UNSEEN:
        assert tests[name]["reason"].startswith("the emulator does not model "), tests[name]
    # In the emulator a row counts instructions. The kernels are those of the bench, built for fewer joints.
    with open("tools/bench/baseline.csv", encoding="utf-8") as file:
        model = {tuple(line.split(",")[i] for i in (2, 4, 5, 6)): int(line.split(",")[8])
                 for line in file if line.startswith("netduinoplus2,")}
    assert len(rows) == 10, rows
    for name in rows:
        if not name.endswith(".least"):
            wanted = model[tuple(name.split(".")[1:5])]
            assert tests[name]["unit"] == "instructions"
            assert abs(tests[name]["value"] / wanted - 1) < 0.03, (tests[name], wanted)
    with open(path.replace(".json", ".txt"), encoding="utf-8") as file:
        text = file.read()
    for name in tests:
        assert f"\n{name} " in text and f"\n{name} " in said, name
    assert f"{len(SEEN | rows)} ok, 0 failed, {len(UNSEEN)} unseen" in text


def test_a_board_without_fpu_and_memory(folder):
    """The 8 KB board leaves out what it does not have, and says so."""
    _, _, report = report_of(folder, "stm32vldiscovery")
    reasons = {test["name"]: test["reason"] for test in report["tests"] if test["verdict"] == "unseen"}
    assert reasons["fpu"] == "this core has no FPU" and "memory" in reasons["cycles"], reasons
    assert {"stack_guard", "hard_fault", "uart_lost"} <= {t["name"] for t in report["tests"] if t["verdict"] == "ok"}


def test_compare(folder):
    """A report from a real chip beside one of the emulator: ratio to the model, and exit code 1 because
    of its failed test."""
    chip = {"format": 1, "board": "nucleo-f446re", "chip": "stm32f446", "idcode": "10006421", "cpuid": "410fc241",
            "build": "0" * 40, "emulated": False, "tests": [
                {"name": "lsi", "value": 31870, "unit": "Hz", "low": 17000, "high": 47000, "verdict": "ok"},
                {"name": "cycles.puma560.id.fast.f32", "value": 1838, "unit": "cycles", "verdict": "ok"}]}
    one, two = f"{folder}/one.json", f"{folder}/two.json"
    with open(one, "w", encoding="utf-8") as file:
        json.dump(chip, file)
    chip["tests"][0].update(value=9, verdict="FAIL")
    chip["tests"].append({"name": "fpu", "verdict": "unseen", "reason": "no"})
    with open(two, "w", encoding="utf-8") as file:
        json.dump(chip, file)
    assert run("silicon", "compare", one).returncode == 0
    done = run("silicon", "compare", one, two)
    assert done.returncode == 1, done
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines["lsi"].split() == ["lsi", "Hz", "31870", "9", "FAIL"], lines
    # 1313 cycles are the model's for the same core.
    assert lines["cycles.puma560.id.fast.f32"].split()[1:] == ["cycles"] + ["1838", "=", "1.40", "x", "1313"] * 2, lines
    assert lines["fpu"].split() == ["fpu", "-", "unseen"], lines


def test_bad_input(folder):
    whole = f"{folder}/cut.json"
    with open(whole, "w", encoding="utf-8") as file:
        file.write('{"format": 1, "board": "x"')
    for words, text in ((["compare"], "REPORT is missing"), (["compare", whole], "this is not a report"),
                        (["compare", f"{folder}/none.json"], "cannot be read"), (["compare", "README.md"], "not a report"),
                        (["compere"], "not a word of this command"), ([], "--port is missing"),
                        (["--port", "qemu:build/netduinoplus2/silicon.elf", "-o", f"{folder}/no/no/x.json"], "x.json")):
        done = run("silicon", *words)
        assert done.returncode == 2 and text in done.stderr, (words, done)


def test_it_asks_before_it_erases(folder):
    """On a port that is no emulator nothing is sent before the user has agreed."""
    master, slave = os.openpty()
    done = run("silicon", "--port", os.ttyname(slave))
    assert done.returncode == 2 and "erases the stored robots" in done.stderr and "--yes" in done.stderr, done
    os.set_blocking(master, False)
    try:
        sent = os.read(master, 10)
    except BlockingIOError:
        sent = b""
    assert sent == b"", sent
    os.close(master)
    os.close(slave)


if __name__ == "__main__":
    sys.exit(main(globals()))
