#!/usr/bin/env python3
"""Tests the link to emulated boards with the commands of the tool and with a client in another
language. test_link_wrong.py tests the link when something goes wrong.

    test_link.py [PROGRAM [PATTERN]]
"""
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import zlib

import protocol_client as wire  # noqa: E402
import test_appell as tool  # noqa: E402
from emulator_socket import Inherited  # noqa: E402
from test_appell import Skip, good, run, table  # noqa: E402

TIMEOUT_S = 120


def firmware(board):
    """Returns the ELF file of the laboratory firmware and builds it if it does not exist. The lock
    keeps other scripts from building it at the same time."""
    path = f"build/{board}/lab/firmware.elf"
    with open("build/firmware.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            subprocess.run(["make", "-s", f"BOARD={board}", "LAB=1", "firmware"], check=True, capture_output=True)
    return path


def emulated(board):
    """Returns a port that starts its own emulator."""
    firmware(board)
    return f"qemu:{board}/lab"


class Board:
    """An emulated board that keeps running while several tools connect, one after the other."""

    def __init__(self, folder, board, *options, files=()):
        self.path = os.path.join(folder, board + ".socket")
        with open(firmware(board)[:-4] + ".qemu") as file:
            command = file.read().split()
        with Inherited(self.path) as line:
            self.process = subprocess.Popen(
                [*command, "-kernel", firmware(board), *line.chardev("link", wait=True), "-serial", "chardev:link", *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, pass_fds=(*line.files, *files))
        self.port = "unix:" + self.path

    def connect(self):
        line = socket.socket(socket.AF_UNIX)
        line.connect(self.path)
        return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Watched(Board):
    """A board with a socket for gdb; gdb can connect before the emulator has started."""

    def __init__(self, folder, board, *options):
        self.name = board
        with Inherited(os.path.join(folder, board + ".gdb")) as self.stub:
            super().__init__(folder, board, *options, *self.stub.chardev("g", wait=False), "-gdb", "chardev:g",
                             files=self.stub.files)

    def gdb(self, *commands):
        words = ["set confirm off", f"set remotetimeout {TIMEOUT_S}", f"target remote {self.stub.path}", *commands,
                 "detach"]
        done = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *(w for c in words for w in ("-ex", c)),
                               firmware(self.name)], capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0 and "No symbol" not in done.stderr, done.stdout + done.stderr
        return done.stdout


def image_of(folder, robot):
    path = os.path.join(folder, robot + ".img")
    good("image", robot, "-q", "-o", path)
    with open(path, "rb") as file:
        return file.read()


# ---------------------------------------------------------------------------------------------- rows

def check_chain(folder, chain, port):
    name = f"chain{chain['id']}"
    robot = tool.robot_file(folder, name, tool.CONVENTION[chain["convention"]], chain["gravity"], chain["rows"])
    rows = [s["q"] + s["qd"] + s["qdd"] for s in chain["states"]]
    largest = max(abs(x) for s in chain["states"] for x in s["tau"])
    worst = 0.0
    for s, got in zip(chain["states"], table("id", robot, "--real", "f32", "--port", port, rows=rows)):
        assert len(got) == len(s["tau"])
        worst = max(worst, max(abs(a - b) for a, b in zip(got, s["tau"])))
    assert worst <= 2e-5 * largest, f"{name}: {worst / largest:.3g} of the largest torque"
    return worst / largest


def words_of(payload):
    return struct.unpack(f"<{len(payload) // 4}I", payload)


def test_golden_chains_on_the_board(folder):
    """Golden chains of up to 12 joints, each in its own emulator, are within 2e-5 of the largest
    torque in single precision."""
    chains = [c for c in tool.golden("random_chains")["chains"] if c["n"] <= 12]
    worst = max(check_chain(folder, chain, emulated("netduinoplus2")) for chain in chains)
    print(f"NOTE {len(chains)} chains, worst error {worst:.2g} of the largest torque")
    print(f"measured link.golden_error {worst:.1e}")


def test_every_problem_is_the_host_s_bit_for_bit(folder):
    """The rows of the board equal those of the host in the same number type, from the same
    image."""
    image = os.path.join(folder, "puma.img")
    good("image", "puma560", "-q", "-o", image)
    numbers = random.Random(5)
    row = [[numbers.uniform(-0.5, 0.5) for _ in range(18)] for _ in range(2)]
    with Board(folder, "netduinoplus2") as board:
        for problem, inputs in (("id", 18), ("mass", 6), ("fd", 18), ("bias", 12), ("gravity", 6),
                                ("coriolis", 12), ("fk", 6), ("jacobian", 6), ("volt", 12)):
            rows = [r[:inputs] for r in row]
            here = table(problem, image, "--real", "f32", rows=rows)
            assert table(problem, image, "--real", "f32", "--port", board.port, rows=rows) == here, problem
        for method in ("ne", "ga", "denoc"):
            here = table("id", image, "--real", "f32", "-m", method, rows=row)
            assert table("id", image, "--real", "f32", "-m", method, "--port", board.port, rows=row) == here, method
        wrench = ("--wrench", "1,2,-3,0.1,0.2,0.3", "--no-friction", "--no-rotor")
        here = table("id", image, "--real", "f32", *wrench, rows=row)
        assert table("id", image, *wrench, "--port", board.port, rows=row) == here


def test_what_a_build_lacks_is_named(folder):
    done = run("id", "planar3r", "--real", "f64", "--port", emulated("netduinoplus2"), rows="")
    assert done.returncode == 2 and "no number type 'f64'; the board has: f32, q31" in done.stderr, done.stderr
    done = run("id", "planar3r", "--port", emulated("stm32vldiscovery"), rows="")
    assert done.returncode == 2 and "does not compute id" in done.stderr, done.stderr
    image = os.path.join(folder, "arm.img")
    good("image", "planar3r", "-q", "-o", image)
    there = table("id", image, "--real", "f64", "--port", emulated("mps2-an500"), rows=[[0.1] * 9])
    assert there == table("id", image, rows=[[0.1] * 9]), there


# In q31 a sum wraps around while these accelerations are computed, and the board does not notice.
WRAPS = """name: two
convention: mdh
gravity: [0, 0, -9.81]
joints:
""" + "".join(f"""  - name: {name}
    type: revolute
    dh: {{theta: 0, d: 0, a: {a}, alpha: 0}}
    link: {{mass: 1, com: [0.15, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}}
    limits: {{position: [-3, 3], velocity: 2, acceleration: 20, torque: 40}}
""" for name, a in (("a", 0), ("b", 0.3)))


def test_forward_dynamics_that_overflows_is_refused(folder):
    robot = os.path.join(folder, "two.yaml")
    with open(robot, "w") as file:
        file.write(WRAPS)
    rows = "0.1 0.2 0 0 0.05 -0.02\n0.1 0.2 0 0 5 -2.5\n"
    here = run("fd", robot, "-q", "--real", "q31", rows=rows)
    there = run("fd", robot, "-q", "--real", "q31", "--port", emulated("netduino2"), rows=rows)
    assert here.returncode == 2 and "row 2: an intermediate value overflows" in here.stderr, here
    assert (there.returncode, there.stderr) == (here.returncode, here.stderr), there
    # The previous row was answered, by the host and by the board.
    assert there.stdout.count("\n") == here.stdout.count("\n") == 1, there


def test_selftest(folder):
    for board, real in (("netduinoplus2", "f32"), ("netduino2", "q31")):
        result = json.loads(good("selftest", "--port", emulated(board), "--real", real, "--json", "-q"))
        assert result["good"] and result["states"] == 100 and result["relative"] < 2e-6, result
        assert 900 < result["instructions"] < 2500, result
        print(f"measured link.selftest_{real} {result['relative']:.1e}")
        print(f"measured link.selftest_{real}_instructions {result['instructions']:.0f}")


# ----------------------------------------------------------------------------------------- parameters

def test_flash_survives_a_warm_reset(folder):
    with Board(folder, "mps2-an500") as board:
        first = good("flash", "puma560", "--port", board.port)
        assert "nothing -> puma560, 6 joints" in first and "saved as set number 1 and verified" in first, first
        assert "not persistent here: what is saved survives a reset" in first
        good("set", "kp[2]", "1234", "--port", board.port)
        assert "(only in RAM)" in good("get", "kp[2]", "--port", board.port)
        assert "saved as set number 2 and" in good("save", "--port", board.port)
        assert "(only in RAM)" not in good("get", "kp[2]", "--port", board.port)
        client = wire.Client(board.connect())
        kp = client.parameter_names().index("kp")
        client.set(kp, 4321, 1)  # a restart forgets this value
        client.ask(wire.RESET, struct.pack("<I", 0x4c504152))
        client = wire.Client(client.line)
        assert client.robot()[0] == "puma560"
        assert client.get(kp, 1) == (1234.0, 1), "it did not start again, or not with what was saved"
        client.line.close()
        again = good("flash", "puma560", "--no-save", "--port", board.port)
        assert "kp[shoulder]: 1234 on the board -> " in again and "applied: " in again, again
        assert "already runs this robot" in good("flash", "puma560", "--no-save", "--port", board.port)


def test_apply_on_an_stm32_says_not_persistent(folder):
    out = good("flash", "puma560", "--no-save", "--port", emulated("netduinoplus2"))
    assert "applied:" in out and "not persistent here: the emulated chip keeps nothing" in out, out
    done = run("flash", "puma560", "--port", emulated("netduinoplus2"))
    assert done.returncode == 1 and "applied:" in done.stdout and "not persistent here" in done.stderr, done


def test_the_difference_is_shown_and_dry_run_changes_nothing(folder):
    with Board(folder, "netduinoplus2") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)
        out = good("flash", "puma560", "--dry-run", "--port", board.port)
        assert "name: planar3r -> puma560" in out and "joints: 3 -> 6" in out and "applied" not in out, out
        client = wire.Client(board.connect())
        assert client.robot()[0] == "planar3r"
        client.line.close()


def test_parameters_are_part_of_the_difference(folder):
    """After parameters were set on the board, flashing restores those of the image and keeps the
    others; the tool reports both."""
    with Board(folder, "mps2-an500") as board:
        first = good("flash", "puma560", "--no-save", "--port", board.port)
        assert "the change lasts until the next reset" in first and "survives" not in first, first
        assert "already runs this robot" in good("flash", "puma560", "--port", board.port)
        good("set", "kp[elbow]", "900", "--port", board.port)
        good("set", "observer_hz", "77", "--port", board.port)
        good("save", "--port", board.port)
        out = good("flash", "puma560", "--port", board.port)
        assert "kp[elbow]: 900 on the board -> " in out and "already" not in out and "saved as set" in out, out
        assert "observer_hz: 77 is kept; the default is 50" in out, out
        file_kp = re.search(r"kp\[elbow\]: 900 on the board -> ([\d.]+)", out).group(1)
        assert re.search(rf"kp\[elbow\] +{file_kp} ", good("get", "kp[elbow]", "--port", board.port))
        again = good("flash", "puma560", "--port", board.port)
        assert "already runs this robot" in again and "kp" not in again, again
        out = good("flash", "planar3r", "--no-save", "--port", board.port)
        assert "joints: 6 -> 3" in out and "observer_hz: 77 is kept" in out, out


def test_feedback_in_the_difference_is_what_happens(folder):
    """A file without feedback leaves the feedback of the board as it is; a file with feedback
    changes it."""
    with open("tools/robots/planar3r.yaml") as file:
        text = re.sub(r"(?m)^control:.*\n", "", file.read())
    for name, control in (("silent", ""), ("computed", "control: {rate: 1000, feedback: computed_torque}\n")):
        with open(os.path.join(folder, name + ".yaml"), "w") as file:
            file.write(re.sub(r"(?m)^(convention:.*\n)", lambda m: m.group(1) + control, text, count=1))
    with Board(folder, "netduinoplus2") as board:
        def feedback():
            return json.loads(good("get", "feedback", "--json", "--port", board.port))["value"]
        good("flash", os.path.join(folder, "silent.yaml"), "--no-save", "--port", board.port)
        assert feedback() == 1
        out = good("flash", os.path.join(folder, "computed.yaml"), "--no-save", "--port", board.port)
        assert "feedback: 1 on the board -> 2" in out and feedback() == 2, out
        out = good("flash", os.path.join(folder, "silent.yaml"), "--no-save", "--port", board.port)
        assert "feedback: 2 ->" not in out and "feedback: 2 is kept; the default is 1" in out and feedback() == 2, out


def test_a_motion_is_stopped_before_a_change(folder):
    with Board(folder, "netduinoplus2") as board:
        good("flash", "puma560", "--no-save", "--port", board.port)
        client = wire.Client(board.connect())
        # The motion is long enough for an emulator that is much faster than the tool.
        client.led(wire.MOTION, struct.pack("<Bf6f", 2, 40000.0, *[0.3] * 6))
        client.line.close()
        done = run("flash", "planar3r", "--no-save", "--port", board.port)
        assert done.returncode == 0 and "the outputs are on, so the arm is stopped first" in done.stderr, done
        assert "applied" in done.stdout, done


def test_the_8_kb_board_takes_images_in_pieces(folder):
    """The emulator cannot write the flash of this board, so the transfer is refused with that
    reason."""
    done = run("flash", "puma560", "--no-save", "--port", emulated("stm32vldiscovery"))
    assert done.returncode == 1 and "cannot be erased or programmed" in done.stderr, done


def test_parameters(folder):
    with Board(folder, "netduinoplus2") as board:
        good("flash", "puma560", "--no-save", "--port", board.port)
        everything = good("get", "--port", board.port)
        for word in ("rate_hz", "Hz", "[100 .. 20000]", "this many ticks per second", "sim_mass",
                     "(only in RAM)"):
            assert word in everything, word
        out = good("set", "observer_hz", "150", "--port", board.port)
        assert re.search(r"observer_hz +150 Hz", out), out
        assert re.search(r"payload_x +-2.5 m", good("set", "payload_x", "-2.5", "--port", board.port))
        assert re.search(r"payload_x +-0.5 m", good("set", "--port", board.port, "payload_x", "-.5"))
        done = run("set", "observer_hz", "1e6", "--port", board.port)
        assert done.returncode == 1 and "outside the range" in done.stderr and "1 .. 2000" in done.stderr, done
        assert run("set", "nothing", "1", "--port", board.port).returncode == 2
        assert json.loads(good("get", "observer_hz", "--json", "--port", board.port))["value"] == 150


def test_a_repeated_row_is_computed_once(folder):
    """The result of a row replaces its input. Who repeats the request, because the answer is late, gets
    the same result."""
    row = struct.pack("<H9d", 0, 0.3, -0.4, 0.5, 1, -2, 3, 4, 5, -6)
    with Board(folder, "netduinoplus2") as board:
        client = wire.Client(board.connect())
        client.apply(image_of(folder, "planar3r"), target=1)
        method = next(i for i in range(client.methods) if client.describe(wire.METHOD, i)[2:].split(b"\0")[:2] == [b"id", b"fast"])
        results = []
        for repeats in (1, 3):
            client.ask(wire.ROW_PUT, row)
            for _ in range(repeats):
                client.sequence = 77
                client.ask(wire.ROW_RUN, bytes([method]))  # each time with the same number
            results.append(struct.unpack("<3d", client.ask(wire.ROW_GET, struct.pack("<HB", 0, 3))))
    assert results[0] == results[1] and any(results[0]), results


# ------------------------------------------------------------------------------------------ telemetry

def test_monitor(folder):
    csv, plot = os.path.join(folder, "m.csv"), os.path.join(folder, "m.svg")
    udp = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for s in udp:
        s.bind(("127.0.0.1", 0))
        s.settimeout(10)
    with Board(folder, "netduinoplus2") as board:
        good("flash", "puma560", "--no-save", "--port", board.port)
        done = run("monitor", "--port", board.port, "--fields", "q,tau,state", "--every", "10", "--count", "40",
                   "-o", csv, "--plot", plot, "--teleplot", udp[0].getsockname()[1],
                   "--plotjuggler", udp[1].getsockname()[1])
        assert done.returncode == 0, done
        assert "40 samples, every 10 ticks; lost: 0 samples on the board, 0 frames on the line" in done.stderr, done.stderr
        lines = open(csv).read().splitlines()
        assert lines[0].startswith("tick,t,q[waist],") and lines[0].endswith(",state"), lines[0]
        ticks = [int(line.split(",")[0]) for line in lines[1:]]
        assert len(ticks) == 40 and all(b - a == 10 for a, b in zip(ticks, ticks[1:])), ticks
        assert all(len(line.split(",")) == 2 + 6 + 6 + 1 for line in lines[1:])
        assert "<svg" in open(plot).read(500)
        assert re.match(rb"q\[waist\]:[\d.]+:-?[\d.e-]+\n", udp[0].recv(65536))
        sample = json.loads(udp[1].recv(65536))
        assert "t" in sample and "tau[waist]" in sample, sample
        done = run("monitor", "--port", board.port, "--fields", "q,qd,q_ref,qd_ref,qdd_ref,tau,volt", "--every", "1",
                   "--count", "5")
        assert done.returncode == 1, done
        match = re.search(r"(\d+) bytes per sample x 10 bits x 1000 ticks/s / 1 ticks per sample = (\d+) bit/s, but 921600 "
                          r"baud leave 829440 bit/s for samples; take one sample in (\d+) ticks", done.stderr)
        assert match and int(match.group(1)) * 10000 == int(match.group(2)), done.stderr
        done = run("monitor", "--port", board.port, "--fields", "nonsense")
        assert done.returncode == 1 and "choose from: tick, state" in done.stderr, done
        done = run("monitor", "--port", board.port, "--fields", "q,tau,q")
        assert done.returncode == 1 and "q is named twice" in done.stderr, done
    for s in udp:
        s.close()


def test_monitor_into_a_pipe(folder):
    """monitor writes all rows and only whole rows, however it ends: by count, by control-C, or
    because the reader closes the pipe."""
    with Board(folder, "netduinoplus2") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)
        monitor = [tool.PROGRAM, "monitor", "--port", board.port, "--fields", "q", "--every", "10"]
        rows = good(*monitor[1:], "-N", 3).splitlines()
        assert rows[0].startswith("tick,t,q[") and [row.count(",") for row in rows] == [4] * 4, rows
        for end in ("interrupt", "close"):
            process = subprocess.Popen(monitor, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(200):
                assert process.stdout.readline().count(",") == 4
            if end == "interrupt":
                process.send_signal(signal.SIGINT)
                rest = process.stdout.read()
                assert rest == "" or rest.endswith("\n") and all(r.count(",") == 4 for r in rest.splitlines()), rest[-200:]
            process.stdout.close()
            error = process.stderr.read()
            process.stderr.close()
            assert process.wait(TIMEOUT_S) == 0 and "error" not in error, error


def test_choice_of_telemetry_is_kept(folder):
    """get shows the choice given to monitor, save keeps it, and the next monitor uses it."""
    with Board(folder, "mps2-an500") as board:
        good("flash", "planar3r", "--no-save", "--port", board.port)
        assert "no fields are chosen" in good("get", "telemetry", "--port", board.port)
        good("monitor", "--port", board.port, "--fields", "volt,cost", "--every", 7, "-N", 3)
        assert "saved" in good("save", "--port", board.port)
        client = wire.Client(board.connect())
        client.ask(wire.RESET, struct.pack("<I", 0x4c504152))
        wire.Client(client.line).line.close()
        assert "volt,cost every 7 ticks" in good("get", "--port", board.port)
        told = json.loads(good("get", "telemetry", "--json", "--port", board.port))
        assert told == {"name": "telemetry", "fields": ["volt", "cost"], "every": 7}, told
        rows = good("monitor", "--port", board.port, "-N", 3).splitlines()
        assert rows[0].startswith("tick,t,volt[") and rows[0].endswith(",cost"), rows
        ticks = [int(row.split(",")[0]) for row in rows[1:]]
        assert ticks[1] - ticks[0] == 7, ticks


# ----------------------------------------------------------------------------- a client of another kind

def test_protocol_page_has_every_number(folder):
    """The page lists reasons, faults, stops, states and motions, so that nobody needs a header to
    understand an answer."""
    with open("firmware/link/PROTOCOL.md") as file:
        page = file.read()
    for header, table, form, base in (("app/errors", "APP_ERROR_TABLE", "| {} | request | `{}` |", 0),
                                      ("params/image", "IMAGE_ERROR_TABLE", "| {} | image | `{}` |", -100),
                                      ("params/store", "STORE_ERROR_TABLE", "| {} | store | `{}` |", -300),
                                      ("safety/faults", "APP_FAULT_TABLE", "| {} | {} |", 0),
                                      ("safety/faults", "APP_STOP_TABLE", "| {} | {} |", 0),
                                      ("safety/faults", "APP_STATE_TABLE", "{} {}", 0),
                                      ("control/motion", "MOTION_TABLE", "| {} | {} |", 0)):
        with open(f"firmware/{header}.h") as file:
            body = re.search(rf"#define {table}\(X\)((?:.*\\\n)*.*\n)", file.read()).group(1)
        entries = re.findall(r'X\((-?\d+), (\w+),[\s\\]*"([^"]*)"', body)
        assert len(entries) >= 4, table
        for number, name, text in entries:
            assert form.format(base + int(number), name if "`" in form else text) in page, (table, number, name)


def test_client_written_from_the_page(folder):
    """The client has at most 150 lines. It discovers the board, loads an image, sets parameters,
    streams telemetry, starts a motion, and gets refusals."""
    with open("test/support/protocol_client.py") as file:
        assert len(file.readlines()) <= 150
    image = image_of(folder, "puma560")
    with Board(folder, "netduinoplus2") as board:
        line = board.connect()
        line.sendall(b"noise \x00\x05garbage")  # bytes left by an earlier client
        client = wire.Client(line)
        assert client.board == "netduinoplus2" and client.real == "f32" and client.payload == 248
        names = client.parameter_names()
        assert "observer_hz" in names and "kp" in names
        assert struct.unpack("<h", client.apply(image)[:2]) == (0,)
        assert client.read_image() == image
        assert client.robot()[0] == "puma560" and len(client.robot()[1]) == 6
        try:
            client.set(names.index("observer_hz"), 1e9)
            raise AssertionError("taken although out of range")
        except wire.Refused as refusal:
            assert refusal.args == (6, struct.pack("<h", -11)), refusal.args  # the page: out of range
        fields = {client.field(i)[0]: i for i in range(client.fields)}
        size, needed, available = client.stream([fields["tick"], fields["q"]], 5, 10**6)
        assert (size, needed, available) == (7 * 4 + 17, 450 * 1000 // 5, 829440), (size, needed, available)
        target = struct.pack("<6f", *(0.3, -0.2, 0.4, 0.1, 0.1, 0.1))
        client.led(wire.MOTION, struct.pack("<Bf", 2, 1.0) + target)
        begun = struct.unpack_from("<I", client.ask(wire.STATUS), 4)[0]  # the motion starts with the next tick at the latest
        samples = client.collect(1)
        while samples[-1][0] <= begun + 1000:
            samples = client.collect(len(samples) + 1)
        ticks = [tick for tick, _, _, _ in samples]
        steps = [b - a for a, b in zip(ticks, ticks[1:])]
        assert steps.count(5) >= len(steps) - 1 and 1 <= min(steps), ticks  # the motion restarts the count
        for tick, lost, first, words in samples:
            assert lost == 0 and first == 0 and words[0] == tick, (tick, lost, first, words)
        waist = struct.unpack("<f", struct.pack("<I", samples[-1][3][1]))[0]
        assert abs(waist - 0.3) < 0.01, waist
        try:
            client.ask(wire.SAVE)
            raise AssertionError("saved while the outputs are on")
        except wire.Refused as refusal:
            assert refusal.args[0] == 5
        # A second client connects while samples are streaming.
        line.close()
        client = wire.Client(board.connect())
        assert client.robot()[0] == "puma560"
        client.ask(wire.TELEMETRY, struct.pack("<I", 0))
        client.ask(wire.STOP, b"\1\0\0\0\0")


def changes_behind_an_image(folder, name, image):
    """Sends the end of the first image and changes of a parameter in one burst; returns flags,
    joints and the parameter."""
    with Board(folder, name) as board:
        line = board.connect()
        client = wire.Client(line)
        observer = client.parameter_names().index("observer_hz")
        client.ask(wire.IMAGE_BEGIN, struct.pack("<BII", 0, len(image), zlib.crc32(image)))
        for at in range(0, len(image), client.payload - 4):
            client.ask(wire.IMAGE_DATA, struct.pack("<I", at) + image[at:at + client.payload - 4])
        burst = wire.encode(bytes([wire.IMAGE_END, 1, 0]))
        for i in range(12):
            burst += wire.encode(bytes([wire.SET, 2 + i]) + struct.pack("<BBf", observer, 0, 60 + i))
        line.sendall(burst)
        status = client.ask(wire.STATUS)
        return status[2], status[3], client.get(observer)[0]


def test_changes_right_behind_an_image(folder):
    """Parameters change before the first tick with the arm. That tick comes while constants are
    prepared and must find valid ones."""
    for name in ("netduinoplus2", "netduino2"):
        image = image_of(folder, "puma560")
        for again in range(3):
            place = os.path.join(folder, f"{name}{again}")
            os.mkdir(place)
            flags, joints, observer_hz = changes_behind_an_image(place, name, image)
            assert flags & 8 == 0, f"{name} crashed"
            assert joints == 6 and observer_hz == 71, f"{name}: {joints} joints, {observer_hz} Hz"


# ---------------------------------------------------------------------------------------------- ports

def test_ports_that_cannot_be_opened(folder):
    done = run("get", "--port", "/dev/ttyNOTHERE9")
    assert done.returncode == 2 and "does not exist" in done.stderr and "connect the board" in done.stderr, done
    path = os.path.join(folder, "file")
    open(path, "w").close()
    done = run("get", "--port", path)
    assert done.returncode == 2 and "is not a serial device" in done.stderr, done
    done = run("get", "--port", "tcp:127.0.0.1:1")
    assert done.returncode == 2 and "Connection refused" in done.stderr, done
    done = run("get", "--port", "unix:" + os.path.join(folder, "none"))
    assert done.returncode == 2 and "start the program that should listen there" in done.stderr, done
    done = run("get", "--port", "qemu:nothing")
    assert done.returncode == 2 and "there is no board nothing that can be emulated" in done.stderr, done
    done = run("get")
    assert done.returncode == 2 and "--port /dev/ttyACM0" in done.stderr, done


def test_a_socket_that_somebody_else_holds(folder):
    """An emulator serves one client. The next one gets no answer, and the message names the
    possible reason."""
    path = os.path.join(folder, "held")
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(path)
        line.listen(2)
        done = run("get", "--port", "unix:" + path)
    assert done.returncode == 2 and "end any other program that uses this port" in done.stderr, done
    assert "transmit" not in done.stderr, done


def test_port_in_use_names_the_user(folder):
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys, time\n"
                               f"f = open('{name}', 'r+b', buffering=0)\nfcntl.flock(f, fcntl.LOCK_EX)\n"
                               "print('held', flush=True)\ntime.sleep(600)"], stdout=subprocess.PIPE)
    try:
        holder.stdout.readline()
        os.close(slave)
        done = run("get", "--port", name)
        assert done.returncode == 2 and f"is in use by python3, process {holder.pid}" in done.stderr, done
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        os.close(master)


def test_port_without_permission(folder):
    if os.geteuid() != 0:
        raise Skip("only root can make a device that somebody else may not open")
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    program = os.path.join(folder, "appell")
    os.chmod(folder, 0o755)
    os.chmod(name, 0o600)
    tool.shutil.copy(tool.PROGRAM, program)
    try:
        others = {key: value for key, value in os.environ.items() if key != "XDG_RUNTIME_DIR"}  # that of the test is root's
        done = run("get", "--port", name, program=program, user=65534, group=65534, extra_groups=[], cwd=folder, env=others)
    except (OSError, subprocess.SubprocessError):
        raise Skip("nobody else can run the program here")
    finally:
        os.close(slave)
        os.close(master)
    assert done.returncode == 2 and "no permission" in done.stderr and "dialout" in done.stderr, done


def test_latency_timer_is_noticed(folder):
    """A folder in place of sysfs simulates an adapter that buffers bytes for 16 ms. The emulated
    board is behind a pseudo-terminal."""
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    place = os.path.join(folder, "class/tty", os.path.basename(name), "device")
    os.makedirs(place)
    timer = os.path.join(place, "latency_timer")
    environment = {**os.environ, "APPELL_SYSFS": folder}
    with Board(folder, "netduinoplus2") as board:
        line = board.connect()
        wire.Client(line)  # it has started
        for ms, told in (("16\n", True), ("1\n", False)):
            with open(timer, "w") as file:
                file.write(ms)
            process = subprocess.Popen([tool.PROGRAM, "get", "rate_hz", "--port", name], env=environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            until = time.monotonic() + TIMEOUT_S
            while process.poll() is None and time.monotonic() < until:
                for ready in select.select([master, line], [], [], 0.1)[0]:
                    if ready is master:
                        line.sendall(os.read(master, 4096))
                    else:
                        os.write(master, line.recv(4096))
            out, error = process.communicate(timeout=5)
            assert process.returncode == 0 and "rate_hz" in out, (out, error)
            assert ("collects bytes for 16 ms" in error) == told, error
            assert (f"echo 1 | sudo tee {timer}" in error) == told, error
    os.close(slave)
    os.close(master)


if __name__ == "__main__":
    sys.exit(tool.main(globals()))
