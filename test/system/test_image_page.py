#!/usr/bin/env python3
"""Compares a reader of robot images, written only from firmware/params/IMAGE.md, with `appell
info`."""
import json
import os
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from test_appell import good, main  # noqa: E402
from test_fixed_board import slot_of  # noqa: E402

ARM = {"rate_hz": 1, "gravity": 3, "base_xyz": 3, "base_rpy": 3, "tool_xyz": 3, "tool_rpy": 3, "payload_mass": 1,
       "payload_com": 3, "payload_inertia": 6, "reserved": 3}
JOINT = {"alpha": 1, "a": 1, "theta": 1, "d": 1, "mass": 1, "com": 3, "inertia": 6, "position": 2, "velocity": 1,
         "acceleration": 1, "torque": 1, "resistance": 1, "torque_constant": 1, "gear": 1, "rotor_inertia": 1, "voltage": 1,
         "viscous": 1, "coulomb": 2, "width": 1, "counts": 1, "sign": 1, "offset": 1, "ratio": 1, "kp": 1, "kd": 1}


def numbers(data, at, fields):
    """Returns the values by name, and the position after them."""
    out = {}
    for name, count in fields.items():
        value = struct.unpack_from(f"<{count}f", data, at)
        out[name], at = value if count > 1 else value[0], at + 4 * count
    return out, at


def read(data):
    crc, version, length, n, has, feedback, units = struct.unpack_from("<7I", data, 4)
    assert data[:4] == b"\x89APL" and version == 3 and length == len(data) and length % 4 == 0
    assert crc == zlib.crc32(data[8:])
    out, at = numbers(data, 32, ARM)
    out.update(has=has, feedback=feedback, units=struct.unpack("<xbbx", struct.pack("<I", units)) if units else None, joints=[])
    assert at == 148
    for _ in range(n):
        kind, given, mass = struct.unpack_from("<IIi", data, at)
        joint, at = numbers(data, at + 12, JOINT)
        out["joints"].append(dict(joint, prismatic=kind == 1, has=given, q31_mass=mass, home=(0, 0.0)))
    assert at == 148 + 148 * n
    for place in [out] + out["joints"]:
        end = data.index(b"\0", at)
        place["name"], at = data[at:end].decode(), end + 1
    assert not any(data[at:at + -at % 4])
    at += -at % 4
    out["sections"] = {}
    while at < length:
        tag, size = data[at:at + 4].decode(), struct.unpack_from("<I", data, at + 4)[0]
        out["sections"][tag], at = data[at + 8:at + 8 + size], at + 8 + size
    assert at == length and list(out["sections"]) == [tag for tag in ("Q31A", "FLEX", "HOME") if tag in out["sections"]]
    for i, joint in enumerate(out["joints"] if "HOME" in out["sections"] else []):
        joint["home"] = struct.unpack_from("<if", out["sections"]["HOME"], 8 * i)
    return out


def image_of(folder, robot):
    path = os.path.join(folder, "x.img")
    good("image", robot, "-q", "-o", path)
    with open(path, "rb") as file:
        return file.read()


def near(a, b):
    a, b = (x if isinstance(x, (list, tuple)) else [x] for x in (a, b))
    return len(a) == len(b) and all(abs(x - y) <= 1e-6 * max(1, abs(y)) for x, y in zip(a, b))


def test_reader(folder):
    """Compares every number that `appell info` prints."""
    for name in ("puma560", "stanford", "planar3r", "twobody", "piezo6", "flex2"):
        got, said = read(image_of(folder, name)), json.loads(good("info", name, "-q", "--json"))
        assert got["name"] == said["robot"] and near(got["gravity"], said["gravity"]) and len(got["joints"]) == said["n"]
        for a, b in zip(got["joints"], said["joints"]):
            assert a["name"] == b["name"] and a["prismatic"] == (b["type"] == "prismatic"), (a, b)
            assert all(b[key] is None or near(a[key], b[key]) for key in set(a) & set(b) - {"name"}), (a, b)
        assert ("FLEX" in got["sections"]) == said["elastic"], name


def test_puma(folder):
    """The image contains the numbers of tools/robots/puma560.yaml."""
    got = read(image_of(folder, "puma560"))
    waist, shoulder = got["joints"][:2]
    assert got["rate_hz"] == 1000 and near(got["gravity"][2], -9.81) and got["feedback"] == 1 and got["units"] and got["has"] == 6
    assert near(waist["torque"], 97.6) and near(waist["gear"], -62.6111) and waist["sign"] == -1 and waist["counts"] == 1000
    assert near(shoulder["mass"], 17.4) and shoulder["kp"] == 2200 and near(shoulder["coulomb"][1], 13.58469)
    assert list(got["sections"]) == ["Q31A"]


def test_slot(folder):
    """A slot of the store, built as the page describes, contains the image."""
    slot = slot_of(image := image_of(folder, "puma560"))
    magic, _, length, crc, zero, head = struct.unpack_from("<6I", slot)
    body = slot[24:24 + length]
    assert (magic, zero, crc, head) == (0x314C5041, 0, zlib.crc32(body), zlib.crc32(slot[:20]))
    assert struct.unpack_from("<II", body) == (2, len(image)) and read(body[8:8 + len(image)])["name"] == "puma560"


if __name__ == "__main__":
    sys.exit(main(globals()))
