#!/usr/bin/env python3
"""Tests virtual boards that stay (`appell emulate`) and ports that several programs share.

    test_emulate.py [PROGRAM [PATTERN]]
"""
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import PROGRAM, good, main, run  # noqa: E402
from test_link import firmware  # noqa: E402
from virtual_board import Bridge, Virtual  # noqa: E402

BOARDS = ("netduinoplus2", "netduino2", "stm32vldiscovery", "mps2-an500")  # one of each chip that is emulated


def value(name, *options):
    return json.loads(good("get", name, "--json", *options))


def observer(*options):
    text = json.dumps(value("observer_hz", *options))
    return text


def test_is_found_listed_and_ended(folder):
    assert "no virtual board runs" in good("emulate", "--list")
    none = run("status")
    assert none.returncode == 2 and "no virtual board runs" in none.stderr and "appell emulate" in none.stderr, none.stderr
    with Virtual("netduinoplus2") as board:
        assert good("emulate", "--list").split() == ["virtual:netduinoplus2"]
        assert json.loads(good("emulate", "--list", "--json")) == ["netduinoplus2"]
        assert "1000" in good("get", "rate_hz")
        twice = run("emulate", "netduinoplus2", "--detach")
        assert twice.returncode == 2 and "runs already" in twice.stderr and "--name" in twice.stderr, twice.stderr
        with Virtual("netduinoplus2", "--name", "second") as other:
            both = run("get", "rate_hz")
            assert both.returncode == 2 and board.port in both.stderr and other.port in both.stderr, both.stderr
            assert "1000" in good("get", "rate_hz", "--port", other.port)
            os.environ["APPELL_PORT"] = board.port
            try:
                assert "1000" in good("get", "rate_hz")
            finally:
                del os.environ["APPELL_PORT"]
    gone = run("get", "rate_hz", "--port", board.port)
    assert gone.returncode == 2 and "no virtual board netduinoplus2 runs" in gone.stderr, gone.stderr
    assert "no virtual board runs" in good("emulate", "--list")


def check_saved(name):
    with Virtual(name, "--robot", "puma560"):
        good("set", "observer_hz", "61.5", "-q")
        good("save", "-q")
        good("set", "observer_hz", "70", "-q")  # not saved
        for event in ("--reset", "--power-cycle"):
            assert "puma560" in good("emulate", event)
            assert "61.5" in observer() and "not persistent" not in good("save", "-q")
    with Virtual(name, "--robot", "puma560") as board:  # what was saved survives the end of the virtual board
        assert "already" in board.said and "61.5" in observer()
        os.kill(board.process(), signal.SIGKILL)
    with Virtual(name):  # also its sudden death
        assert "61.5" in observer()
    with Virtual(name, "--erase"):
        assert "61.5" not in observer()


def test_saved_survives_netduinoplus2(folder):
    check_saved("netduinoplus2")


def test_saved_survives_netduino2(folder):
    check_saved("netduino2")


def test_saved_survives_stm32vldiscovery(folder):
    check_saved("stm32vldiscovery")


def test_saved_survives_mps2(folder):
    check_saved("mps2-an500")


def test_damaged_flash_file_is_refused(folder):
    path = os.path.join(folder, "flash")
    for content in (b"", b"something else", b"appellF1" + b"x" * 1000):
        with open(path, "wb") as file:
            file.write(content)
        done = run("emulate", "netduinoplus2", "--detach", "--flash", path)
        assert done.returncode == 2 and "damaged" in done.stderr and "--erase" in done.stderr, done.stderr
        with open(path, "rb") as file:
            assert file.read() == content  # nothing is lost


def test_crash_is_recorded_until_the_power_fails(folder):
    for name in ("netduinoplus2", "mps2-an500"):
        with Virtual(name, "--robot", "puma560"):
            assert "fault" in good("emulate", "--crash")
            record = run("crash", "--leave", "-q")
            assert "e0000000" in record.stdout, record.stdout
            good("emulate", "--reset")
            assert "e0000000" in run("crash", "--leave", "-q").stdout
            good("emulate", "--power-cycle")
            assert "e0000000" not in run("crash", "-q").stdout


def test_foreground_ends_with_its_terminal(folder):
    firmware("netduinoplus2")
    process = subprocess.Popen([PROGRAM, "emulate", "netduinoplus2"], stdout=subprocess.PIPE, text=True)
    assert "virtual:netduinoplus2 runs" in process.stdout.readline()
    assert "stays in" in process.stdout.readline()
    assert "unconfigured" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert "no virtual board runs" in good("emulate", "--list")
    process = subprocess.Popen([PROGRAM, "emulate", "netduinoplus2"], stdout=subprocess.PIPE, text=True)
    assert "virtual:netduinoplus2 runs" in process.stdout.readline()
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.path.join(folder, "appell", "netduinoplus2.board"))
    process.kill()  # the board notices it
    try:
        while line.recv(4096):
            pass
    except ConnectionResetError:  # it had not read the end of this line
        pass
    process.wait()


def test_only_a_virtual_board_can_lose_its_power(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Bridge(board) as bridge:
        done = run("emulate", "--power-cycle", "--port", bridge.name)
        assert done.returncode == 2 and "only a virtual board" in done.stderr, done.stderr


def test_wrong_defect_gets_a_suggestion(folder):
    with Virtual("netduinoplus2"):
        done = run("emulate", "--defect", "encoder lots")
        assert done.returncode == 2 and "did you mean 'encoder lost'" in done.stderr, done.stderr


def test_status_tells_what_a_person_must_know(folder):
    with Virtual("netduinoplus2") as board:
        empty = good("status")
        assert "unconfigured" in empty and "no robot" in empty, empty
        good("emulate", "--stop")
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        text = good("status")
        for words in ("idle, simulated arm, outputs off", "puma560, 6 joints, all homed", "mode position: feedback pd",
                      "tick: ", "nobody moves the arm", "the real arm would be refused"):
            assert words in text, (words, text)
        good("set", "guard_speed", "9", "-q")
        good("set", "home[elbow]", "1", "-q")
        told = json.loads(good("status", "--json"))
        assert told["unhomed"] == "elbow" and told["saved"] is False and told["tick"]["rate_hz"] == 1000, told
        weaker = [change for change in told["changes"] if change["parameter"] == "guard_speed"]
        assert weaker and weaker[0]["kind"] == "weaker than its default", told
        assert "guard_speed is weaker than its default: 9" in good("status")
        client = wire.Client(board.connect())
        client.ask(28, struct.pack("<IH", 7, 60000) + b"test\0")  # LEASE
        assert json.loads(good("status", "--json", "-q"))["leader"] == "test"
        client.line.close()


def test_watch_shows_each_change(folder):
    with Virtual("netduinoplus2", "--robot", "puma560"):
        watch = subprocess.Popen([PROGRAM, "status", "--watch", "-q"], stdout=subprocess.PIPE, text=True)
        while watch.stdout.readline() != "netduinoplus2: idle\n":
            pass
        good("emulate", "--crash", "-q")
        assert watch.stdout.readline() == "netduinoplus2: fault crash\n"
        good("clear", "-q")
        assert watch.stdout.readline() == "netduinoplus2: idle\n"
        watch.send_signal(signal.SIGINT)
        assert watch.wait() == 0
        watch.stdout.close()


# ----------------------------------------------------------------------------------------- shared ports

def monitor(port, *options):
    """Starts a monitor and waits for its first row."""
    process = subprocess.Popen([PROGRAM, "monitor", "--output", "-", "-q", "--port", port, *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.head = process.stdout.readline()
    process.stdout.readline()
    return process


def more(process, rows=3):
    """Reads rows until a new one has come, so that those in the pipe do not count."""
    process.stdin = None
    return [process.stdout.readline() for _ in range(rows)]


def check_shared(port):
    first = monitor(port, "--fields", "q,tau")
    try:
        told = run("set", "observer_hz", "62.5", "--port", port)
        assert told.returncode == 0 and "shared with appell" in told.stderr and "monitor" in told.stderr, told.stderr
        assert "62.5" in observer("--port", port, "-q")
        other = run("monitor", "--fields", "volt", "--count", "2", "--output", "-", "--port", port)
        assert other.returncode != 0 and "samples of other fields" in other.stderr, other.stderr
        same = good("monitor", "--fields", "q,tau", "--count", "3", "--output", "-", "-q", "--port", port)
        assert len(same.splitlines()) == 4, same
        before = int(more(first)[-1].split(",")[0])
        while int(first.stdout.readline().split(",")[0]) < before + 3000:
            pass  # it goes on
    finally:
        first.send_signal(signal.SIGINT)
        while first.stdout.readline():
            pass
        assert first.wait() == 0, first.stderr.read()
        first.stdout.close()
        first.stderr.close()


def test_programs_share_a_virtual_board(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        check_shared(board.port)


def test_programs_share_a_serial_port(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Bridge(board) as bridge:
        check_shared(bridge.name)
        # The process that served the port has ended with its last program: the device is free.
        while [name for name in os.listdir(os.path.join(folder, "appell")) if name.endswith(".port")]:
            pass
        file = os.open(bridge.name, os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.close(file)
        assert "62.5" in observer("--port", bridge.name, "-q")


def test_killed_program_leaves_the_port_to_others(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Bridge(board) as bridge:
        first = monitor(bridge.name, "--fields", "q")
        first.kill()
        first.wait()
        first.stdout.close()
        first.stderr.close()
        assert "1000" in good("get", "rate_hz", "--port", bridge.name, "-q")


def test_twenty_programs_one_after_the_other(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Bridge(board) as bridge:
        for _ in range(20):  # each starts the process that serves the port, or meets one that ends
            assert "1000" in good("get", "rate_hz", "--port", bridge.name, "-q")


def test_many_programs_at_once(folder):
    with Virtual("netduinoplus2", "--robot", "puma560") as board:
        clients = [wire.Client(board.connect()) for _ in range(4)]
        names = clients[0].parameter_names()
        errors = []

        def work(client, number):
            try:
                for k in range(100):
                    assert client.set(names.index("payload_mass"), number + k / 128) == number + k / 128
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(client, i)) for i, client in enumerate(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors
        for client in clients:
            client.line.close()


def test_lossy_line_is_slower_but_not_dead(folder):
    """One byte in a hundred is lost or altered, at 115,200 baud."""
    with Virtual("netduinoplus2", "--robot", "puma560") as board, Bridge(board, 115200, 0.01) as bridge:
        assert "1000" in good("get", "rate_hz", "--port", bridge.name, "-q")
        good("flash", "stanford", "--port", bridge.name, "-q")
        good("set", "observer_hz", "63.5", "--port", bridge.name, "-q")
        assert "63.5" in observer("--port", bridge.name, "-q")
        told = json.loads(good("status", "--json", "--port", bridge.name, "-q"))
        assert told["robot"] == "stanford", told


if __name__ == "__main__":
    sys.exit(main(globals()))
