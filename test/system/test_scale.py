#!/usr/bin/env python3
"""Tests proved fixed point on many robots: every rigid robot of tools/robots, the URDFs of
../shared/robots and the random chains of the reference values. For each robot q31 is proved. Then a
checked variant of q31 computes random states and corners of the limits, and no error may exceed the
guaranteed one.

    test_scale.py [PROGRAM [STATES]]

STATES is a million for each robot of tools/robots and 20,000 for the others; with LONG=1 it is ten
million for all.
"""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

arguments, sys.argv = sys.argv, sys.argv[:1]  # test_appell reads the arguments, too
sys.dont_write_bytecode = True
from test_appell import CONVENTION, ROBOTS, Skip, golden, main, robot_file  # noqa: E402

PROGRAM = os.path.abspath(arguments[1] if len(arguments) > 1 else "build/host/appell")
STATES = int(arguments[2]) if len(arguments) > 2 else 10_000_000 if os.environ.get("LONG") else None
# Limits of speed and acceleration for files without limits and for the random chains.
SPEEDS = "3,10"
OWN = ["puma560", "stanford", "planar3r", "twobody", "piezo6", "cmu-dd"]


def scale(*arguments):
    done = subprocess.run([PROGRAM, "scale", "-q", *arguments], capture_output=True, text=True)
    assert done.returncode in (0, 1, 2), f"{arguments}: exit {done.returncode}: {done.stderr[-500:]}"
    return done


def chains(folder):
    limits = "    limits: {position: [%r, %r], velocity: 3, acceleration: 10}\n"
    out = []
    for chain in golden("random_chains")["chains"]:
        if chain["n"] > 12:
            continue
        rows = [dict(row, more=limits % ((-0.5, 0.5) if row["type"] == "P" else (-3.14159265, 3.14159265)))
                for row in chain["rows"]]
        out.append(robot_file(folder, f"chain{chain['id']}", CONVENTION[chain["convention"]], chain["gravity"], rows))
    return out


def urdfs():
    if not os.path.isdir(ROBOTS):
        raise Skip(f"no robots in {ROBOTS}")
    return [os.path.join(ROBOTS, name) for name in sorted(os.listdir(ROBOTS)) if name.endswith(".urdf")]


def verify(robot, states):
    done = scale(robot, "--limits", SPEEDS, "--json", "--verify", str(states))
    assert done.returncode == 0, f"{robot}: exit {done.returncode}: {done.stdout[:600]} {done.stderr[:300]}"
    answer = json.loads(done.stdout)
    assert answer["proved"] and answer["verify"]["states"] == states
    assert answer["tightest"]["headroom_bits"] > 0
    worst = 0
    for joint in answer["verify"]["joints"]:
        seen = joint["id"]
        part = seen["error"] / seen["largest"]
        # The limit is 1e-5 of the largest torque of the joint.
        assert part < 1e-5, f"{robot}: {joint['name']} is off by {part:.1e} of its largest torque"
        assert 0 < seen["error"] <= seen["guaranteed"], f"{robot}: {joint['name']}: {seen}"
        worst = max(worst, part)
    return os.path.basename(robot), worst, answer


def verify_all(name, robots, states=20_000):
    states = STATES or states
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda robot: verify(robot, states), robots))
    robot, worst, _ = max(answers, key=lambda a: a[1])
    loose = max(answers, key=lambda a: a[2]["verify"]["loosest_bits"])
    print(f"NOTE {len(answers)} robots, {states} states each: worst error {worst:.1e} of the joint's largest torque ({robot}), "
          f"loosest bound {loose[2]['verify']['loosest_bits']:.2f} bits above the largest value ({loose[0]})")
    print(f"measured scale.{name}.error {worst:.1e} ({robot.partition('.')[0]})")
    print(f"measured scale.{name}.loosest {loose[2]['verify']['loosest_bits']:.2f} bits ({loose[0].partition('.')[0]})")
    return answers


def test_robots_of_our_own(folder):
    answers = verify_all("own", OWN, 1_000_000)
    puma = answers[0][2]
    # The bounds are tight: at most 3 bits above the largest value that occurred.
    assert puma["verify"]["loosest_bits"] <= 3, puma["verify"]["loosest"]


def test_urdfs(folder):
    verify_all("urdf", urdfs())


def test_random_chains(folder):
    robots = chains(folder)
    assert len(robots) == 18
    verify_all("chains", robots)


def test_statement(folder):
    """The output contains the statement, the tightest intermediate value with its name and joint,
    and the errors of the torques."""
    text = scale("puma560").stdout
    print(f"measured-block scale.puma560\n```\n{text}```\nmeasured-end")
    answer = json.loads(scale("puma560", "--json").stdout)
    tightest = answer["tightest"]
    assert "cannot overflow within these limits" in text and "not proved" in text
    assert f"{tightest['headroom_bits']:.2f} bits; tightest value" in text
    assert f"({tightest['name']}) of {tightest['joint']} in {tightest['problem']}" in text
    assert {e["problem"] for e in answer["intermediates"]} == {"constants", "id", "bias", "gravity", "mass"}
    for joint in answer["joints"]:
        assert 0 < joint["torque_error"] < 1e-5 * joint["torque_bound"], joint


def changed(folder, name, robot, old, new):
    with open(os.path.join("tools/robots", robot + ".yaml")) as file:
        text = file.read()
    assert old in text
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w") as file:
        file.write(text.replace(old, new, 1))
    return path


def test_refusals(folder):
    """For an arm that does not fit, the message says which value overflows, at which joint, and
    what to change."""
    path = changed(folder, "wild", "puma560", "velocity: 3.9, acceleration: 20", "velocity: 3.9, acceleration: 1.0e+9")
    done = scale(path)
    assert done.returncode == 1 and "can overflow" in done.stdout, done.stdout
    # The later joints accelerate together with the joint whose limit is wrong.
    assert "angular acceleration (wd) of flange" in done.stdout and "lower the limits of acceleration" in done.stdout
    assert "acceleration limit of wrist_roll, 1e+09" in done.stdout
    answer = json.loads(scale(path, "--json").stdout)
    assert not answer["proved"] and answer["tightest"]["joint"] == "flange" and answer["tightest"]["change"]
    done = scale("twobody")
    assert done.returncode == 2 and "limits of velocity, acceleration" in done.stderr, done.stderr
    for bad in (["--limits", "3"], ["--limits", "3,0"], ["--verify", "0"], ["--verify", "x"]):
        assert scale("puma560", *bad).returncode == 2, bad
    # An image of this arm is marked as valid only for floats and has no constants for q31.
    image = os.path.join(folder, "wild.img")
    done = subprocess.run([PROGRAM, "image", path, "-o", image], capture_output=True, text=True)
    assert done.returncode == 0 and "float32 only" in done.stderr
    with open(image, "rb") as file:
        assert b"Q31A" not in file.read()


def test_a_falsified_limit(folder):
    """A state beyond the proved limits is refused, with a message that names the range of the
    proof."""
    answer = json.loads(scale("puma560", "--json").stdout)
    rows = " ".join(["0"] * 6 + ["1e3"] * 6 + ["0"] * 6)
    done = subprocess.run([PROGRAM, "id", "-q", "puma560", "--real", "q31"], input=rows + "\n", capture_output=True,
                          text=True)
    assert answer["proved"] and done.returncode == 2 and "its range in q31" in done.stderr, done.stderr


if __name__ == "__main__":
    sys.exit(main(globals()))
