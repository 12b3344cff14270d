#!/usr/bin/env python3
"""Tests the 24 MHz board without an FPU and with 8 KB of RAM: it controls six joints in fixed point
at 1 kHz, with the simulated arm beside the controller. The robot is in flash, where the emulator
loads it.

    test_fixed_board.py [PROGRAM [PATTERN]]
"""
import json
import os
import struct
import sys
import time
import zlib

sys.dont_write_bytecode = True
import protocol_client as wire  # noqa: E402
from test_appell import good, main  # noqa: E402
from test_link import TIMEOUT_S, Board, firmware, image_of, words_of  # noqa: E402

CYCLOID = 2
IDLE, RUNNING = 1, 3  # states
TICK_CYCLES = 24_000


def slot_address():
    """Returns the flash address at which the emulator loads a robot, from the file that make
    wrote."""
    with open(firmware("stm32vldiscovery")[:-4] + ".slot") as file:
        return int(file.read(), 16)


def slot_of(image, version=2):
    """Returns a slot of the store (firmware/params/store.h) with this image and no parameters; the
    version is that of the set (set.h)."""
    body = struct.pack("<II", version, len(image)) + image + struct.pack("<III", 0, 1, 0)
    head = struct.pack("<IIIII", 0x314c5041, 1, len(body), zlib.crc32(body), 0)
    return head + struct.pack("<I", zlib.crc32(head)) + body


def stages(client):
    """Returns the mean instructions of each stage of a tick by name; "tick" is the whole tick."""
    out = {}
    while "tick" not in out:
        answer = client.ask(wire.STAGES, bytes([len(out), 0]))
        out[answer[16:].split(b"\0")[0].decode()] = struct.unpack_from("<4I", answer)[2]
    return out


def test_closed_loop_in_8_kB(folder):
    path = os.path.join(folder, "puma560.slot")
    with open(path, "wb") as file:
        file.write(slot_of(image_of(folder, "puma560")))
    with Board(folder, "stm32vldiscovery", "-device", f"loader,file={path},addr={slot_address()},force-raw=on") as board:
        line = board.connect()
        line.sendall(bytes(5000))  # zeros from the first moment on: they end frames and contain none
        client = wire.Client(line, timeout_s=20)
        assert client.real == "q31" and client.robot()[0] == "puma560"
        client.set(client.parameter_names().index("stages"), 1)
        client.led(wire.MOTION, struct.pack("<Bf6f", CYCLOID, 2, 0.5, 0.5, -0.5, 0.5, 0.5, 0.5))
        until, ticks = time.monotonic() + TIMEOUT_S, 0
        first = struct.unpack_from("<I", client.ask(wire.STATUS), 4)[0]
        while ticks < first + 2500 and time.monotonic() < until:
            status = client.ask(wire.STATUS)
            ticks = struct.unpack_from("<I", status, 4)[0]
            # An accepted motion runs from the next tick on.
            assert (status[0] == RUNNING or ticks == first) and status[1] == 0, f"state {status[0]}, fault {status[1]}"
        counters = words_of(client.ask(wire.COUNTERS))
        client.ask(wire.STOP, b"\1\0\0\0\0")  # opens the loop, so that all means are over the same ticks
        while client.ask(wire.STATUS)[0] != IDLE:
            pass
        costs = stages(client)
    assert ticks >= first + 2500, "the board is too slow"
    assert counters[1] == 0, f"{counters[1]} overruns"
    assert counters[12] == 0, f"{counters[12]} ticks beyond the proof"
    alone = costs["tick"] - costs["sim_arm"]
    print("NOTE instructions of a tick: " + ", ".join(f"{name} {mean}" for name, mean in costs.items()))
    # A tick consists of its stages and a few instructions between them, which read the counter. If
    # a byte interrupted the calibration of the counter, every stage would be too short by that
    # interrupt.
    apart = costs["tick"] - sum(cost for name, cost in costs.items() if name != "tick")
    assert 0 <= apart < 20 * len(costs), f"tick {costs['tick']} differs by {apart} from the sum of its stages"
    # These are executed instructions, not cycles, which the bench estimates.
    assert alone < TICK_CYCLES / 2, f"{alone} instructions without the simulated arm"


def test_demo_puts_the_robot_into_the_flash(folder):
    found = json.loads(good("demo", "puma560", "-q", "--json", "-o", folder, "--port", "qemu:stm32vldiscovery"))
    assert (found["robot"], found["board"], found["real"], found["overruns"]) == ("puma560", "stm32vldiscovery", "q31", 0), found
    # Along the slow line full feedforward is below one count of the coarsest encoder, 2 pi / (1000 *
    # 53.7063) rad. With gravity feedforward alone it would be some mrad.
    line, = (m for m in found["motions"] if "line" in m["motion"] and m["masses"] == "exact masses" and m["controller"] == "full feedforward")
    assert line["samples_at_a_limit"] == 0 and all(0 < rms < 0.000117 for rms in line["joint_rms"]), line


if __name__ == "__main__":
    sys.exit(main(globals()))
