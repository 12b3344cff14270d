"""Page of Bansevicius et al. 2005: the inertia matrix in closed form, its dictionary, its growth with n, the rotating torque."""
import html
import math
import os
import re
import tempfile

import chains

TITLE = "Bansevicius et al. 2005"
SOURCE = ("R. Bansevicius, A. Cepulkauskas, R. Kulvietiene, G. Kulvietis, Symbolic calculation of the generalized inertia "
          "matrix of robots with a large number of joints, ICCS 2005, LNCS 3516.")

TORQUE_NM, TURNS_HZ, SECONDS = 1e-5, 20.0, 0.5


def generated(page, robot, *options):
    """Returns the operation counts of the inertia matrix, after and before annealing, from the
    comment on top of the generated source, and the source. Without a source, what the tool says."""
    with tempfile.TemporaryDirectory() as folder:
        _, refused = page.tool.attempt("gen", robot, "--real", "f64", "--prefix", "arm", *options, "-q", "-o", folder)
        if refused:
            return None, refused
        with open(os.path.join(folder, "arm.c"), encoding="utf-8") as f:
            source = f.read()
    found = re.search(r"\*   mass +(\d+) mul +(\d+) add(?:.*before annealing (\d+) mul (\d+) add)?", source)
    return [int(x) for x in found.groups() if x], source


CLOSED = ("--strategy", "uicker-kahn")


def table_1(page):
    page.heading("Table 1: the robot")
    frames, links = chains.read("piezo6")
    for i, (row, frame) in enumerate(zip(chains.TABLE_003, frames, strict=True)):
        chains.same(f"joint {i + 1} of paper 003", [frame["alpha"], frame["a"], frame["d"], frame["theta"]], [*row, 0])
    show = lambda values: ", ".join(f"{round(x, 12) + 0.0:g}" for x in values)
    page.table(["joint", "α, °", "a, m", "d, m", "assumed: kg", "mass centre, m", "Ixx, Iyy, Izz, kg m²"],
               [[i + 1, f"{math.degrees(alpha):g}", f"{a:g}", f"{d:g}", f"*{link[0]:g}", f"*{show(link[1])}", f"*{show(link[2][:3])}"]
                for i, ((alpha, a, d), link) in enumerate(zip(chains.TABLE_003, links))])
    page.text("The paper gives no masses. Ours are assumed (<code>tools/robots/piezo6.yaml</code>): joints are spheres and bars are bodies "
              "of revolution, so that many constants vanish. A second set, “full inertias”, has links of which no inertial "
              "parameter is zero: the general case.")
    page.errata([
        ("eq. 2", "sum over k = 1 to j, with W<sub>j</sub> and W<sub>k</sub>",
         "H<sub>ij</sub> = sum over k = max(i, j) to n of tr(∂W<sub>k</sub>/∂q<sub>i</sub> J<sub>k</sub> ∂W<sub>k</sub>ᵀ/∂q<sub>j</sub>)", "checked"),
        ("eq. 6", "(a, d sin α, d cos α)", "that is the vector in frame k; the 4×4 matrix needs (a cos q, a sin q, d)", "checked")])


def table_2(page):
    c = page.counts
    page.heading("Table 2: operations of the inertia matrix")
    at = lambda method: [str(x) for x in c.at("mass", method, 6)]
    rows = [["Walker, Orin (N-E)", "12n² + 56n − 27 (741)", "7n² + 67n − 56 (598)"],
            ["Angeles, Ma (N-E)", "n³ + 17n² − 21n + 8 (710)", "n³ + 14n² − 16n + 5 (629)"],
            ["Mata et al. (G-A)", "11.5n² + 19.5n − 49 (482)", "8.5n² + 31.5n − 69 (426)"],
            ["the paper (L-E), this robot", "144", "186"],
            ["*crba, any robot", *at("crba")], ["*ga, any robot", *at("ga")], ["*fast, any robot", *at("fast")]]
    sums = []
    for name, robot in (("assumed inertias", "piezo6"), ("full inertias", chains.piezo(page.tool.folder, 6, True))):
        printed = page.tool.json("symbolic", robot)
        sums.append((printed["multiplications"], printed["additions"]))
        rows.append([f"*symbolic, dictionary and sums as in Figure 2, {name}", *sums[-1]])
        closed, _ = generated(page, robot, *CLOSED)
        trace, _ = generated(page, robot)
        for kind, count in (("closed form with a dictionary", closed), ("traced", trace)):
            rows += [[f"*gen, {kind}, {name}", count[2], count[3]], [f"*gen, {kind}, {name}, annealed", count[0], count[1]]]
    page.table(["n = 6", "products", "sums"], rows)
    chains.holds("144 and 186 lie between the two sets", all(a < paper < b for a, paper, b in zip(sums[0], (144, 186), sums[1])))
    page.text("Sines, cosines, sums of angles and signs are not counted; a factor 2 counts as a product. <code>symbolic</code> has the "
              "paper's layout; <code>gen</code> starts from the same closed form, but computes a sum that several elements share only once; "
              "“traced” is the recursion of composite bodies, unrolled; “annealed” has been simplified by a search. The paper's "
              "144 and 186 cannot be reproduced without its masses: they lie between what <code>symbolic</code> needs for our two sets.")


def figure_2(page):
    page.heading("Figure 2: dictionary and sums")
    few, many = (page.tool.json("symbolic", robot)["dictionary"] for robot in ("piezo6", chains.piezo(page.tool.folder, 6, True)))
    page.text("The paper's program VIBRAN writes two FORTRAN subroutines: a dictionary of monomials, O (230 entries), and the "
              "elements of the matrix as sums over it. <code>appell symbolic --dictionary</code> prints the same layout: "
              f"<b>{few} entries</b> for H with the assumed inertias and <b>{many}</b> with full inertias, sines and cosines included. "
              "Angles of parallel axes are added first (s34 is the sine of q₃ + q₄), and what cancels is gone; how many the paper's "
              "masses would need is not known.")
    page.command("symbolic", "piezo6", "--dictionary")


def symbolic(page):
    """The formulas written out, for a planar arm and for the robot of the paper."""
    page.heading("The matrix as formulas")
    page.text("The same without a dictionary: a planar arm, in numbers and in the names of its parameters, and the paper's robot with the "
              "assumed inertias.")
    page.command("symbolic", "planar3r")
    page.command("symbolic", "planar3r", "--parameters")
    page.command("symbolic", "piezo6")


def growth(page):
    """Operations of both ways to derive the matrix, without annealing, for chains of up to 30 joints."""
    page.heading("Growth with the number of joints")
    sizes, folder = (6, 8, 12, 20, 30), page.tool.folder
    rows, curves, stops = [], {}, {}
    for name, make_robot in (("this robot, assumed inertias", lambda n: chains.piezo(folder, n, False)),
                             ("this robot, full inertias", lambda n: chains.piezo(folder, n, True)),
                             ("parallel axes", lambda n: chains.planar(folder, n))):
        for kind, options in (("closed form", CLOSED), ("traced", ())):
            cells, refused = [], None
            for n in sizes:
                count = None
                if not refused:
                    count, refused = generated(page, make_robot(n), *options, "--effort", "0")
                    if count:
                        refused = None
                    else:
                        stops.setdefault((n, html.escape(refused.split("error: ")[-1])), []).append(f"{kind}, {name}")
                cells.append(f"{count[0]} + {count[1]}" if count else "–")
                if count:
                    curves.setdefault(f"{kind}, {name}", []).append((n, count[0]))
            rows.append([f"*{kind}, {name}", *cells])
    c = page.counts
    full = dict(curves["closed form, this robot, full inertias"])
    chains.holds("the closed form is derived for 12 and 20 joints", {12, 20} <= set(full))
    chains.holds("the traced recursion stays below crba", all(count < c.at("mass", "crba", n)[0] for name, points in curves.items()
                                                              if name.startswith("traced") for n, count in points))
    chains.holds("the closed form needs more products than crba", full[20] > c.at("mass", "crba", 20)[0])
    worse = min(n for n in full if full[n] > c.at("mass", "crba", n)[0])
    power = math.log(full[20] / full[12]) / math.log(20 / 12)
    rows.append(["*crba, any robot", *("{} + {}".format(*c.at("mass", "crba", n)) for n in sizes)])
    rows.append(["*fast, any robot", *("{} + {}".format(*c.at("mass", "fast", n)) for n in sizes)])
    curves["crba, any robot"] = [(n, c.at("mass", "crba", n)[0]) for n in sizes]
    page.table(["products + sums, not annealed", *(f"n = {n}" for n in sizes)], rows)
    page.text("The robot of Table 1 with its six rows repeated; rods with parallel axes. The paper expects its gain “particularly for the "
              "robots with a large number of joints”. Our counts do not bear that out: with full inertias its robot needs more products in "
              f"closed form than by crba from n = {worse} on, and between 12 and 20 joints they grow as n to the power of {power:.1f} (the paper "
              "gives n⁴ for its method done in numbers). The traced recursion stays below crba. "
              + " ".join(f"The tool refuses n = {n} ({'; '.join(who)}): “{why}.”" for (n, why), who in stops.items()))
    page.plot("Products of the inertia matrix over the number of joints. The closed form multiplies sums out, the traced "
              "recursion keeps them as factors.",
              "set logscale y\nset format y '10^{%L}'\nset xlabel 'joints'\nset ylabel 'products'\nset xrange [5:31]\nset xtics (6, 8, 12, 20, 30)\n"
              "set key outside below maxcols 2 Left reverse\nplot "
              + ", ".join(f"$d{i} using 1:2 with linespoints lc {i // 2 + 1 if i < 6 else chr(34) + 'black' + chr(34)} "
                          f"dt {2 if name.startswith('closed') else 1} pt {6 if name.startswith('closed') else 7} ps 0.7 title '{name}'"
                          for i, name in enumerate(curves)), (960, 520),
              **{f"d{i}": points for i, points in enumerate(curves.values())})


def rotating_torque(page):
    page.heading("The robot under the rotating torque of its gripper")
    path, steps = os.path.join(page.tool.folder, "wrench.txt"), 400

    def run(phase):
        """Returns times, the angles of the joints from their start in mrad, and the summary."""
        with open(path, "w", encoding="utf-8") as f:
            for k in range(steps + 1):
                t = SECONDS * k / steps
                x = 2 * math.pi * TURNS_HZ * t + phase
                f.write(f"{t!r} 0 0 0 {TORQUE_NM * math.cos(x)!r} {TORQUE_NM * math.sin(x)!r} 0\n")
        rows, done = page.tool.simulate("piezo6", "--gravity", "0,0,0", "--wrench", path, "--start", "0,0.4,0.3,0.2,0.5,0",
                                        "--duration", SECONDS, "--sample", "0.001", "-i", "rk45", "--tolerance", "1e-9")
        return rows["t"], [[1000 * (x - q[0]) for x in q] for name, q in rows.items() if name.startswith("q_")], done
    times, moved, done = run(0.0)
    _, opposite, _ = run(math.pi)
    script = "set multiplot layout 3,2\nset format y '%g'\nset xlabel 's'\nunset key\n"
    rests = [max(map(abs, values)) < 1e-9 for values in moved]  # a joint that does not move: its curve would be rounding
    for i in range(6):
        script += (f"set title 'q_{i + 1}'\nset ylabel 'mrad'\nset yrange [{'-0.01:0.01' if rests[i] else '*:*'}]\n"
                   f"plot $d using 1:{i + 2} with lines lc {i + 1}\n")
    page.plot(f"Angles in mrad from their start over s, without gravity and drives, under {TORQUE_NM:g} N m that turn "
              f"{TURNS_HZ:g} times a second in the plane perpendicular to the gripper.", script, (960, 880),
              d=list(zip(times, *moved)))
    drift = lambda angles: ", ".join(f"{0 if still else values[-1]:.2g}" for values, still in zip(angles, rests))
    page.text("The paper speaks of two kinds of motion, continuous and vibrating, and prints no amplitude, speed or curve: torque and "
              f"turns are ours. The vibration is there. The drift beside it, over {SECONDS:g} s {drift(moved)} mrad, is not the "
              "paper's continuous motion, which the contacts of the piezoelectric transducers make and our model does not have: it comes "
              f"from the start at rest, and a torque that starts the other way makes {drift(opposite)} mrad. Joints 1 and 2 have one axis, "
              f"and the torque moves only joint 2. {done['evaluations']} evaluations by rk45.")


def make(page):
    table_1(page)
    table_2(page)
    figure_2(page)
    symbolic(page)
    growth(page)
    rotating_torque(page)
