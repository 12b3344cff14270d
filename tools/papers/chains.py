"""Robot files that the pages make: chains of any number of joints.

`general` has general constants, because the papers count for general arms; `piezo` continues the robot of paper 003;
`planar` has parallel axes; `elastic` has beams as its last links. `read` returns the numbers of a file of tools/robots,
so that a page can set them beside a paper's table.
"""
import os
import re

QUARTER = 1.5707963267948966
# Bansevicius et al. 2005, Table 1, one row a joint: alpha, a, d.
TABLE_003 = [(0, 0, 0), (QUARTER, 0, 0), (0, 0.04, 0), (-QUARTER, 0, 0), (-QUARTER, 0, 0), (0, 0, 0.04)]


def write(folder, name, head, joints):
    """Writes a robot file; `joints` has the frame and the link of each."""
    path = os.path.join(folder, f"{name}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"name: {name}\n{head}joints:\n")
        for i, (frame, link) in enumerate(joints):
            file.write(f"  - name: j{i + 1}\n    type: revolute\n    dh: {{{frame}}}\n    {link}\n")
    return path


def general(folder, n):
    joints = []
    for i in range(n):
        frame = "theta: 0, d: 0, a: 0, alpha: 0" if i == 0 else \
            f"theta: 0.{i + 1}, d: 0.{i + 2}1, a: 0.{i + 3}2, alpha: 0.{i + 4}3"
        joints.append((frame, f"link: {{mass: {n - i}, com: [0.1, 0.2, 0.05], inertia: [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]}}"))
    return write(folder, f"chain{n}", "convention: mdh\ngravity: [0, 0, -9.81]\n", joints)


def piezo(folder, n, full):
    """The robot of paper 003 with its six rows repeated up to n joints. The paper has no masses: those
    that tools/robots/piezo6.yaml assumes, or, with `full`, links of which no inertial parameter is zero."""
    joints = []
    for i in range(n):
        alpha, a, d = TABLE_003[i % 6]
        bar = a or d
        if full:
            # All ten numbers of a link are there and differ from link to link. The moments obey the
            # triangle inequality and the products are small beside them, so that each is a body.
            mass, unit = (0.06 if bar else 0.02) + 0.001 * i, 1e-7 * (i % 6 + 1)
            com = f"[{-a / 2 + 0.001}, {0.002 + 0.0001 * (i % 6)}, {-d / 2 + 0.003}]"
            inertia = f"[{9e-6 + unit}, {8e-6 + 2 * unit}, {7e-6 + 3 * unit}, {4e-7 + unit}, {-5e-7 + unit / 2}, {6e-7 - unit / 3}]"
        else:
            mass, com = 0.06 if bar else 0.02, f"[{-a / 2}, 0, {-d / 2}]"
            inertia = ("[8e-7, 8e-7, 8e-7, 0, 0, 0]" if not bar else
                       "[1.5e-6, 9.5e-6, 9.5e-6, 0, 0, 0]" if a else "[9.5e-6, 9.5e-6, 1.5e-6, 0, 0, 0]")
        joints.append((f"theta: 0, d: {d}, a: {a}, alpha: {alpha}", f"link: {{mass: {mass}, com: {com}, inertia: {inertia}}}"))
    return write(folder, f"piezo{n}{'full' if full else ''}", "convention: dh\ngravity: [0, 0, -9.81]\n", joints)


def planar(folder, n):
    """Rods with parallel axes in a vertical plane."""
    joints = []
    for i in range(n):
        length, mass = 0.1 + 0.002 * i, 0.2 + 0.001 * i
        swing = mass * length ** 2 / 12
        joints.append((f"theta: 0, d: 0, a: {length!r}, alpha: 0",
                       f"link: {{mass: {mass!r}, com: [{-length / 2!r}, 0, 0], inertia: [1e-6, {swing!r}, {swing!r}, 0, 0, 0]}}"))
    return write(folder, f"planar{n}", "convention: dh\ngravity: [0, -9.81, 0]\n", joints)


def elastic(folder, n, beams, xy, xz):
    """Crossed axes; the last `beams` links are beams with `xy` and `xz` modes in the two planes."""
    joints = []
    for i in range(n):
        frame = "theta: 0, d: 0, a: 0, alpha: 0" if i == 0 else f"theta: 0, d: 0.1, a: 0.5, alpha: {1.2 if i % 2 else -0.8}"
        joints.append((frame, "link: {mass: 2, com: [0.2, 0.01, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}" if i + beams < n else
                       f"flex: {{length: 0.5, mass_per_length: 4, EI_y: 400, EI_z: 500, modes: {{xy: {xy}, xz: {xz}}}}}"))
    return write(folder, f"elastic{n}{beams}{xy}{xz}", "convention: mdh\ngravity: [0, 0, -9.81]\n", joints)


def read(name):
    """Returns for each joint of tools/robots/NAME.yaml its frame {theta, d, a, alpha}, and mass, com and inertia."""
    with open(os.path.join("tools", "robots", f"{name}.yaml"), encoding="utf-8") as file:
        text = file.read()
    frames = [{key: float(value) for key, value in re.findall(r"(\w+): ([-\d.e]+)", frame)}
              for frame in re.findall(r"dh: \{(.*?)\}", text)]
    links = [(float(mass), [float(x) for x in com.split(",")], [float(x) for x in inertia.split(",")])
             for mass, com, inertia in re.findall(r"link: \{mass: (.*?), com: \[(.*?)\], inertia: \[(.*?)\]\}", text)]
    return frames, links


def holds(what, condition):
    """Ends the program if a sentence of a page is no longer true of the numbers beside it."""
    if not condition:
        raise SystemExit(f"papers: no longer true: {what}")


def same(what, ours, printed):
    """Ends the program if numbers of ours are not those of a paper's table."""
    if any(abs(a - b) > 1e-12 for a, b in zip(ours, printed, strict=True)):
        raise SystemExit(f"papers: {what}: {ours}, the paper has {printed}")
