"""Page of Bansevicius et al. 2005: the inertia matrix in closed form, its generated code, the rotating torque."""
import math
import os
import re
import tempfile

TITLE = "Bansevicius et al. 2005"
SOURCE = ("R. Bansevicius, A. Cepulkauskas, R. Kulvietiene, G. Kulvietis, Symbolic calculation of the generalized inertia "
          "matrix of robots with a large number of joints, ICCS 2005, LNCS 3516.")

TORQUE_NM, TURNS_HZ, SECONDS = 1e-5, 20.0, 0.5


def generated(page, *options):
    """Returns the operation counts of the inertia matrix, after and before annealing, from the
    comment on top of the generated source, and the source."""
    with tempfile.TemporaryDirectory() as folder:
        page.tool.text("gen", "piezo6", "--real", "f64", *options, "-q", "-o", folder)
        with open(os.path.join(folder, "piezo6.c"), encoding="utf-8") as f:
            source = f.read()
    found = re.search(r"\*   mass +(\d+) mul +(\d+) add.*before annealing (\d+) mul (\d+) add", source)
    return [int(x) for x in found.groups()], source


def table_2(page):
    c = page.counts
    page.heading("Table 2: operations of the inertia matrix")
    trace, _ = generated(page)
    closed, source = generated(page, "--strategy", "uicker-kahn")
    at = lambda method: [str(x) for x in c.at("mass", method, 6)]
    page.table(["n = 6", "products", "sums"], [
        ["Walker, Orin (N-E)", "12n² + 56n − 27 (741)", "7n² + 67n − 56 (598)"],
        ["Angeles, Ma (N-E)", "n³ + 17n² − 21n + 8 (710)", "n³ + 14n² − 16n + 5 (629)"],
        ["Mata et al. (G-A)", "11.5n² + 19.5n − 49 (482)", "8.5n² + 31.5n − 69 (426)"],
        ["the paper (L-E), this robot", "144", "186"],
        ["*crba, any robot", *at("crba")], ["*ga, any robot", *at("ga")], ["*fast, any robot", *at("fast")],
        ["*gen, closed form with a dictionary, this robot", str(closed[2]), str(closed[3])],
        ["*gen, the same annealed", str(closed[0]), str(closed[1])],
        ["*gen, traced, this robot", str(trace[2]), str(trace[3])],
        ["*gen, the same annealed", str(trace[0]), str(trace[1])]])
    page.text("The paper gives no masses. Ours are assumed (tools/robots/piezo6.yaml): joints are spheres and bars are bodies of "
              "revolution, so that many constants vanish and the counts are not for the paper's (unknown) inertias. Signs and "
              "sums of angles are free, a factor 2 is a product, sines and cosines are not counted. Equation 2 is corrected: the "
              "sum runs over the links behind both joints; equation 6 prints the vector in the frame behind the joint.")
    return source


def figure_2(page, source):
    page.heading("Figure 2: generated code")
    start = source.index("void piezo6_mass(")
    page.text("The paper shows FORTRAN of its program VIBRAN, a dictionary of 230 entries and sums over it. This is what "
              "<code>appell gen piezo6 --strategy uicker-kahn --real f64</code> writes, whole:")
    page.pre(source[start:source.index("\n}\n", start) + 2])


def rotating_torque(page):
    page.heading("The robot under the rotating torque of its gripper")
    rows = 400
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wrench.txt")
        with open(path, "w", encoding="utf-8") as f:
            for k in range(rows + 1):
                t = SECONDS * k / rows
                x = 2 * math.pi * TURNS_HZ * t
                f.write(f"{t!r} 0 0 0 {TORQUE_NM * math.cos(x)!r} {TORQUE_NM * math.sin(x)!r} 0\n")
        run, done = page.tool.simulate("piezo6", "--gravity", "0,0,0", "--wrench", path, "--start", "0,0.4,0.3,0.2,0.5,0",
                                       "--duration", SECONDS, "--sample", "0.001", "-i", "rk45", "--tolerance", "1e-9")
    names = [name for name in run if name.startswith("q_")]
    # The joints move by only a thousandth of their angles, so the curves show the difference from
    # the start.
    moved = [[1000 * (x - run[n][0]) for x in run[n]] for n in names]
    script = "set multiplot layout 3,2\nset format y '%g'\nunset key\n"
    rests = [max(map(abs, values)) < 1e-9 for values in moved]  # a joint that does not move: its curve would be rounding
    for i in range(6):
        script += (f"set title 'q_{i + 1}'\nset ylabel 'mrad'\nset yrange [{'-0.01:0.01' if rests[i] else '*:*'}]\n"
                   f"plot $d using 1:{i + 2} with lines lc {i + 1}\n")
    page.plot(f"Angles in mrad from their start over s, without gravity and drives, under {TORQUE_NM:g} N m that turn "
              f"{TURNS_HZ:g} times a second in the plane perpendicular to the gripper.", script, (960, 820),
              d=list(zip(run["t"], *moved)))
    drift = [f"{0 if still else values[-1]:.2g}" for values, still in zip(moved, rests)]
    page.text("Two kinds of motion, as the paper says: a vibration with the torque and a continuous motion beside it, over "
              f"{SECONDS:g} s by " + ", ".join(drift) + f" mrad. {done['evaluations']} evaluations by rk45. The paper "
              "prints no amplitude, speed or curve of this: torque and speed are ours.")


def make(page):
    source = table_2(page)
    figure_2(page, source)
    rotating_torque(page)
