#!/usr/bin/env python3
"""Compares arms from URDF files in the tool with the Orocos KDL: torques, gravity, bias, inertia
matrix, pose and Jacobian of random states. test/support/urdf_kdl.cpp reads the same file
independently, with another XML library and as a whole tree instead of joined links.

    test_urdf_kdl.py [PROGRAM [PATTERN]]
"""
import os
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import test_appell as appell  # noqa: E402

ORACLE = os.path.join(os.path.dirname(appell.PROGRAM), "test", "urdf_kdl")
ROWS = 40
# Both programs compute in double. A torque is a sum over n links of products that pass n frames.
# That makes about 20 n^2 roundings of 1.1e-16 relative to the largest term, 1.4e-13 for 8 joints.
# In addition kinova.urdf writes angles with 13 digits: the tool reports that it turned one axis by
# 2.1e-13 rad to make it parallel, which changes the torques of a one-metre arm by the same
# fraction.
TOLERANCE = 4e-13


def compare(path, tip, n, options=(), frozen=()):
    name = f"{os.path.basename(path)} to {tip}"
    numbers = random.Random(29)
    rows = [[numbers.uniform(-3, 3) for _ in range(3 * n)] for _ in range(ROWS)]
    text = "".join(" ".join(map(repr, row)) + "\n" for row in rows)
    done = subprocess.run([ORACLE, path, tip, *frozen], input=text, capture_output=True, text=True,
                          timeout=appell.TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    answers = [[float(x) for x in line.split()] for line in done.stdout.splitlines()]
    for joint in frozen:
        options = [*options, "--freeze", joint]
    worst = 0
    at = 0
    for problem, width, columns, more in (("id", n, 3 * n, ["--no-friction"]), ("gravity", n, n, []),
                                          ("bias", n, 2 * n, []), ("mass", n * n, n, []),
                                          ("fk", 12, n, []), ("jacobian", 6 * n, n, [])):
        got = appell.table(problem, path, *options, *more, rows=[row[:columns] for row in rows])
        for mine, all_of_it in zip(got, answers):
            expected = all_of_it[at:at + width]
            appell.near(mine, expected, TOLERANCE, f"{name}: {problem}")
            scale = 1 + max(map(abs, expected))
            worst = max(worst, max(abs(a - b) for a, b in zip(mine, expected)) / scale)
        at += width
    assert len(answers) == ROWS and all(len(row) == at for row in answers), name
    print(f"NOTE {name}, {n} joints: worst difference {worst:.1e} (1 + largest)", flush=True)
    return worst


def measured(name, *worst):
    """Prints the largest of these errors as a measured value for tools/EVIDENCE.md."""
    print(f"measured tool.kdl_{name} {max(worst):.1e}", flush=True)


def shared(name):
    path = os.path.join(appell.ROBOTS, name)
    if not os.path.exists(path):
        raise appell.Skip(f"no {name} in {appell.ROBOTS}")
    return path


def without(path, link, out):
    """Writes a copy of the file without this link and everything that is attached to it."""
    document = ElementTree.parse(path)
    robot = document.getroot()
    gone = {link}
    for _ in robot:
        gone |= {j.find("child").get("link") for j in robot.findall("joint")
                 if j.find("parent").get("link") in gone}
    for element in list(robot):
        child = element.find("child")
        if element.get("name") in gone or (element.tag == "joint" and child.get("link") in gone):
            robot.remove(element)
    document.write(out)
    return out


def test_ur5(folder):
    path = shared("ur5_robot.urdf")
    measured("ur5", compare(path, "wrist_3_link", 6),
             compare(path, "tool0", 6, ["--tip", "tool0"]))


def test_panda_with_hand(folder):
    path = shared("panda.urdf")
    measured("panda", compare(path, "panda_leftfinger", 8),
             compare(path, "panda_hand_tcp", 7, ["--tip", "panda_hand_tcp"]),
             compare(path, "panda_hand_tcp", 7, ["--tip", "panda_hand_tcp"], ["panda_finger_joint1=0.03"]))


def test_panda_without_hand(folder):
    path = without(shared("panda.urdf"), "panda_hand", os.path.join(folder, "bare.urdf"))
    measured("panda_bare", compare(path, "panda_link7", 7),
             compare(path, "panda_link8", 7, ["--tip", "panda_link8"]))


def test_kinova(folder):
    path = shared("kinova.urdf")
    measured("kinova", compare(path, "j2s6s200_link_6", 6),
             compare(path, "j2s6s200_end_effector", 6, ["--tip", "j2s6s200_end_effector"]),
             compare(path, "j2s6s200_end_effector", 5, ["--tip", "j2s6s200_end_effector"], ["j2s6s200_joint_4=2.1"]))


def test_z1(folder):
    path = shared("z1.urdf")
    measured("z1", compare(path, "gripperMover", 7),
             compare(path, "gripperStator", 6, ["--tip", "gripperStator"], ["jointGripper=-0.5"]))


def test_every_kind_of_joint(folder):
    """Uses a file of the project with rotated inertias, a mimic finger, a branch with a camera and
    a prismatic joint."""
    path = "test/support/robot_data/gripper.urdf"
    measured("gripper", compare(path, "finger_b", 4),
             compare(path, "tcp", 3, ["--tip", "tcp"], ["camera_tilt=0.7", "grip_b=0.01"]))


if __name__ == "__main__":
    sys.exit(appell.main(globals()))
