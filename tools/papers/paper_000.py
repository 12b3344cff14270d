"""Page of Mata et al. 2002: the counts, the badly conditioned two-body arm, the PUMA on a straight line."""
import math
import os
import re
import struct

import chains

TITLE = "Mata, Provenzano, Valero, Cuadrado 2002"
SOURCE = ("V. Mata, S. Provenzano, F. Valero, J. I. Cuadrado, Serial-robot dynamics algorithms for moderately large "
          "numbers of joints, Mechanism and Machine Theory 37 (2002).")


def tables_of_counts(page):
    c = page.counts
    page.heading("Tables 1 to 4: operations")
    page.text("Ours are counted by running the very kernels on numbers that count, for chains of 3 to 8 revolute joints with "
              "general constants, and written as the polynomial through the counts (in brackets: n = 6). Divisions and roots "
              "are products, as in the papers; sine and cosine are not counted, there or here.")
    page.table(["Table 1: inverse dynamics", "products", "sums"], [
        ["Luh et al. 1980 (N-E)", "150n − 48 (852)", "131n − 48 (738)"],
        ["Angeles et al. 1989 (Kane)", "105n − 109 (521)", "90n − 105 (435)"],
        ["Balafoutis, Patel 1991 (N-E)", "93n − 69 (489)", "81n − 66 (420)"],
        ["the paper (G-A)", "96n − 101 (475)", "84n − 100 (404)"],
        ["*ga", *c.formula((1, "id", "ga"))], ["*ne", *c.formula((1, "id", "ne"))],
        ["*fast", *c.formula((1, "id", "fast"))]])
    page.table(["Table 2: inertia matrix", "products", "sums"], [
        ["Walker, Orin 1982 (CRBA)", "12n² + 56n − 27 (741)", "7n² + 67n − 56 (598)"],
        ["Angeles, Ma 1988 (NOC)", "n³ + 17n² − 21n + 8 (710)", "n³ + 14n² − 16n + 5 (629)"],
        ["the paper (GA)", "11.5n² + 19.5n − 49 (482)", "8.5n² + 31.5n − 69 (426)"],
        ["*ga", *c.formula((1, "mass", "ga"))], ["*crba", *c.formula((1, "mass", "crba"))],
        ["*fast", *c.formula((1, "mass", "fast"))]])
    page.table(["Table 3: forward dynamics by G-A", "products", "sums"], [
        ["matrix D, the paper", "11.5n² + 19.5n − 49 (482)", "8.5n² + 31.5n − 69 (426)"],
        ["*matrix D, ga", *c.formula((1, "mass", "ga"))],
        ["bias, the paper", "96n − 108 (468)", "83n − 105 (393)"], ["*bias, ga", *c.formula((1, "bias", "ga"))],
        ["Cholesky, the paper", "n³/6 + n²/2 + n/3 (56)", "n³/6 + n²/2 + n/3 (56)"],
        ["solving, the paper", "n² (36)", "n² − n (30)"],
        ["*the rest of fd ga", *c.formula((1, "fd", "ga"), (-1, "mass", "ga"), (-1, "bias", "ga"))],
        ["total, the paper", "n³/6 + 13n² + 695n/6 − 157 (1042)", "n³/6 + 10n² + 683n/6 − 174 (905)"],
        ["*total, fd ga", *c.formula((1, "fd", "ga"))]])
    rows = [["Walker, Orin (CRBA)", 1627, 1261], ["Featherstone (ABA)", 1533, 1415],
            ["Angeles, Ma (NOC)", 1353, 1165], ["the paper (GA)", 1042, 905]]
    rows += [[f"*{method}", *c.at("fd", method, 6)] for method in ("crba", "aba", "ga", "denoc", "fast")]
    page.table(["Table 4: forward dynamics, n = 6", "products", "sums"], rows)
    page.text("Differences: the kernels compute the first link from a base at rest and the last one with nothing behind it, "
              "rotate by two plane rotations, and drop what is known to be zero; <code>fast</code> also regroups the masses "
              "when the model is prepared. The paper's bias has no accelerations and still costs nearly what inverse "
              "dynamics costs; so does ours. Beside its matrix and its bias, fd ga costs more than Cholesky needs: it solves "
              "for other unknowns, which keeps its error in single precision small (Table 5).")
    page.errata([
        ("4.1, step 1", "s''<sub>0</sub> = −g z<sub>0</sub>", "minus the gravity vector: +g z<sub>0</sub> with z up", "checked"),
        ("4.1, step 3", "indices i and j mixed", "χ<sub>j</sub> = r̃<sub>jj</sub> f<sub>j</sub> + s̃<sub>j,j+1</sub> φ<sub>j</sub> + t<sub>j</sub> + "
         "R<sub>j+1</sub> χ<sub>j+1</sub>, φ<sub>n</sub> = 0, χ<sub>n+1</sub> = 0", "checked"),
        ("4.2, step 1", "loop from n to 2",
         "also γ<sub>n</sub> = m<sub>n</sub> r<sub>n,n</sub> and H<sub>n</sub> = I<sub>n</sub> − m<sub>n</sub> r̃ r̃", "checked"),
        ("4.2, step 3", "<sup>i</sup>R<sub>i−1</sub> (∂ω<sub>j−1</sub>/∂q''<sub>i</sub>)",
         "<sup>j</sup>R<sub>j−1</sub>; the outer loop runs to n − 2; loops headed “for i” mean j", "checked"),
        ("4.2, steps 5 and 7", "s̃ φ with the vector φ", "with the tensor φ̃", "checked"),
        ("eq. 22", "last term s̃<sub>k,i</sub> s̃<sub>j,i</sub>", "s̃<sub>k,i</sub> r̃<sub>j,i</sub>", "checked"),
        ("eq. 7b", "last factor <sup>j−1</sup>R<sub>j</sub>", "<sup>j+1</sup>R<sub>j</sub>", "read"),
        ("eq. 7e", "joint i prismatic", "joint k prismatic: the term is <sup>i</sup>R<sub>k</sub> z<sub>k</sub>, and that of rotation vanishes", "read"),
        ("eqs. 9, 17, 18", "g, and the bias as C + G", "g is minus the gravity vector; the bias is inverse dynamics with zero acceleration", "read")])


def table_5(page):
    methods = ["aba", "crba", "ga", "denoc", "fast"]
    angles = [2 * k for k in range(180)]
    rows = [[0, math.radians(a), 0, 0, 0, 0] for a in angles]
    exact = [r[0] for r in page.tool.table("fd", "twobody", rows=rows)]
    single = {m: [r[0] for r in page.tool.table("fd", "twobody", "-m", m, "--real", "f32", rows=rows)] for m in methods}
    error = {m: [abs(a - b) for a, b in zip(single[m], exact)] for m in methods}
    paper = {"aba": (0.4976, 0.01324), "crba": (1.2922, 0.275063), "ga": (0.534002, 0.0087611)}
    page.heading("Table 5 and Figure 2: single precision on the two-body arm")
    frames, links = chains.read("twobody")
    chains.same("the arm of section 5.1", [links[0][0], links[1][0], 2 * links[0][1][0], 2 * links[1][1][0], frames[1]["a"]],
                [0.1, 10, 0.02, 2, 0.02])
    page.table(["input, section 5.1", "length, m", "width, m", "mass, kg"],
               [["body 1", "0.02", "0.02", "0.1"], ["body 2", "2.0", "0.02", "10.0"]])
    page.table(["acceleration of joint 1, rad/s²", "paper, largest", "paper, mean", "ours, largest", "ours, mean"],
               [[m, *(paper.get(m, ("", ""))), f"*{max(error[m]):.2g}", f"*{sum(error[m]) / 180:.2g}"] for m in methods])
    rounded = []
    for a, right in zip(angles, exact):
        q = [0, math.radians(a)]
        m, bias = (page.tool.table(*what, rows=[row])[0] for what, row in
                   ((("mass", "twobody"), q), (("bias", "twobody"), q + [0, 0])))
        m = [struct.unpack("f", struct.pack("f", x))[0] for x in m]
        rounded.append(abs((-bias[0] * m[3] + bias[1] * m[1]) / (m[0] * m[3] - m[1] * m[2]) - right))
    page.text("180 positions of joint 2, gravity across the arm, no torques: forward dynamics in 32-bit floats against 64-bit. "
              "aba and denoc never form the inertia matrix. Our crba and ga differ from the paper's here: they solve for the "
              "accelerations across the joints, so that no digits are lost where the elements of the matrix are nearly equal. "
              "<code>fast</code> solves with the matrix itself, as the paper does, and pays for it: its largest error is "
              f"{max(error['fast']):.2g}, more than the paper has for ABA and GA. For an arm like this one choose another method.")
    page.erratum("The caption of Table 5 says joint 1, its head acceleration 2: joint 1 fits. The printed mean of 0.0088 for GA "
                 "cannot be a mean of absolute errors: who rounds the inertia matrix of this arm to single precision, with "
                 f"everything else exact, is off by up to {max(rounded):.2f} (mean {sum(rounded) / 180:.2f}).")
    condition = []
    for m in page.tool.table("mass", "twobody", rows=[[0, math.radians(a)] for a in angles]):
        half, det = (m[0] + m[3]) / 2, m[0] * m[3] - m[1] * m[2]
        root = math.sqrt(half * half - det)
        condition.append((half + root) ** 2 / det)
    data = [[a, e, *(single[m][k] for m in ("aba", "crba", "ga"))] for k, (a, e) in enumerate(zip(angles, exact))]
    script = "set multiplot layout 2,2\nset xrange [0:360]\nset xtics 60\nset key top center samplen 2\nset xlabel 'angle of joint 2, degrees'\n"
    for column, name in ((3, "ABA"), (4, "CRBA"), (5, "GA")):
        script += (f"set title '{name}'\nset ylabel 'rad/s^2'\nplot $d using 1:{column} with lines lc 1 title 'single', "
                   "$d using 1:2 with lines lc 'black' dt 2 title 'double'\n")
    script += "set title 'Condition of the inertia matrix'\nset ylabel ''\nplot $c using 1:2 with lines lc 3 notitle\n"
    page.plot("Fig. 2: acceleration of joint 1 over the angle of joint 2, and the condition number of the inertia matrix. Single and "
              "double precision coincide at this scale.", script, (960, 660), d=data, c=list(zip(angles, condition)))
    few = [[a, *(error[m][k] for m in methods)] for k, a in enumerate(angles)]
    page.plot("What Fig. 2 cannot show: the size of the difference between single and double precision.",
              "set logscale y\nset xrange [0:360]\nset xtics 60\nset xlabel 'angle of joint 2, degrees'\n"
              "set format y '10^{%L}'\nset ylabel 'rad/s^2'\nset key outside\nplot "
              + ", ".join(f"$d using 1:{i + 2} with lines title '{m}'" for i, m in enumerate(methods)), d=few)


def solve(matrix, right):
    """Solves a linear system by elimination with pivoting."""
    n = len(right)
    a = [list(row) + [r] for row, r in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for j in range(i + 1, n):
            f = a[j][i] / a[i][i]
            a[j] = [x - f * y for x, y in zip(a[j], a[i])]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def line_motion(page):
    """Returns t, q, qd, qdd along the line, on which the end effector moves at constant speed and
    does not turn."""
    from papers import Asker
    fk, jacobian = Asker(page.tool, "fk", "puma560"), Asker(page.tool, "jacobian", "puma560")
    p0, p1, T = [0.50, 0.0, 0.05], [0.62, 0.30, 0.11], 5.0
    turned = [[0, 0, 1], [0, -1, 0], [1, 0, 0]]  # Rz(0) Ry(90) Rz(180)
    velocity = [(b - a) / T for a, b in zip(p0, p1)] + [0.0] * 3
    matrix = lambda q: [row for row in zip(*[iter(jacobian.ask(q))] * 6)]
    # Start of the iteration. The paper's end effector is the wrist centre; the elbow is above it in
    # this solution.
    q = [0.3, 1.09, -3.49, 0.4, 0.87, -0.27]
    rows = []
    for k in range(101):
        t = T * k / 100
        goal = [a + v * t for a, v in zip(p0, velocity)]
        for _ in range(50):
            pose = fk.ask(q)
            R = [pose[4 * i:4 * i + 3] for i in range(3)]
            off = [goal[i] - pose[4 * i + 3] for i in range(3)]
            cross = [0.0] * 3
            for c in range(3):
                a, b = [R[i][c] for i in range(3)], [turned[i][c] for i in range(3)]
                cross = [x + y / 2 for x, y in zip(cross, (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                                          a[0] * b[1] - a[1] * b[0]))]
            if max(map(abs, off + cross)) < 1e-13:
                break
            q = [x + y for x, y in zip(q, solve(matrix(q), off + cross))]
        else:
            raise SystemExit("papers: the line of paper 000 is out of reach")
        qd = solve(matrix(q), velocity)
        h = 1e-5
        ahead, behind = (matrix([x + s * h * v for x, v in zip(q, qd)]) for s in (1, -1))
        change = [sum((a - b) / (2 * h) * v for a, b, v in zip(one, two, qd)) for one, two in zip(ahead, behind)]
        rows.append([t] + q + qd + solve(matrix(q), [-x for x in change]))
    fk.close()
    jacobian.close()
    return rows


def arm_picture(page, rows):
    """Draws the arm at the start and at the end, as the animation shows it."""
    motion, shape = (os.path.join(page.tool.folder, name) for name in ("line.txt", "line.html"))
    with open(motion, "w") as file:
        file.writelines(" ".join(map(repr, row)) + "\n" for row in rows)
    page.tool.text("sim", "puma560", "-q", "--motion", motion, "--no-friction", "-i", "rk56", "--step", "0.005",
                   "--sample", "0.05", "--animate", shape)
    with open(shape) as file:
        xyz = re.search(r'"xyz":\[(\[.*?\])\]', file.read(), re.S).group(1)
    os.remove(shape)
    frames = [[float(x) for x in f.split(",")] for f in re.findall(r"\[([^\]]*)\]", xyz)]
    points = [[f[i:i + 3] for i in range(0, len(f), 3)] for f in frames]
    page.heading("Figure 3: the PUMA on its straight line")
    page.plot("Fig. 3: first position (blue), last position (orange) and the path of the end effector (green), in m.",
              "set view 66,32,1.6\nset view equal xyz\nset xyplane at -0.2\nset xtics 0.2\nset ytics 0.2\nset ztics 0.2\nset key top right\nset xlabel 'x'\nset ylabel 'y'\nset zlabel 'z'\n"
              "splot $a using 1:2:3 with linespoints lc 1 lw 5 pt 7 ps 0.9 title 'at 0 s', "
              "$b using 1:2:3 with linespoints lc 2 lw 5 pt 7 ps 0.9 title 'at 5 s', "
              "$p using 1:2:3 with lines lc 3 lw 3 title 'path of the end effector'", (960, 560),
              a=points[0], b=points[-1], p=[f[-1] for f in points])
    page.table(["input, section 5.2", "x, m", "y", "z"], [["start", "0.50", "0.00", "0.05"], ["end, after 5 s", "0.62", "0.30", "0.11"]])
    page.text("The attitude is constant, (Z, Y, Z) = (0°, 90°, 180°). The paper prints no masses of its PUMA; ours are those of "
              "<code>tools/robots/puma560.yaml</code>.")
    way = math.dist([0.5, 0, 0.05], [0.62, 0.3, 0.11])
    page.erratum(f"The paper says 0.1 m/s for 5 s, but its points are {way:.4f} m apart: {way / 5:.4f} m/s is what fits.")
    return motion


PAPER_6 = [(6.919e-4, 1.282e-3, 2.844e-3), (1.740e-2, 1.661e-3, 9.223e-2), (8.547e-4, 1.661e-3, 3.133e-3),
           (1.740e-2, 4.056e-2, 9.223e-2), (1.783e-2, 4.176e-2, 9.542e-3), (6.919e-4, 1.219e-3, 2.437e-3)]


PAPER_7 = {"crba": (1122, 0.65), "aba": (1089, 0.71), "ga": (1092, 0.59)}


def averages(page, motion, rows, *options, tolerance=1e-6):
    """Returns the mean absolute differences of position, speed and acceleration from the motion for
    each joint, at samples every 0.1 s, and the summary of the run."""
    run, summary = page.tool.simulate("puma560", "--no-friction", "--motion", motion, "--sample", "0.1", "-i", "rk45",
                                      "--tolerance", tolerance, *options)
    names = [name[2:] for name in run if name.startswith("q_")]
    wanted = rows[::2]
    out = []
    for i, name in enumerate(names):
        out.append([sum(abs(a - row[1 + 6 * part + i]) for a, row in zip(run[f"{kind}_{name}"], wanted)) / len(wanted)
                    for part, kind in enumerate(("q", "qd", "qdd"))])
    return out, summary


def amplification(page, motion, rows, *options):
    """Returns by how much the arm is off at the end, for an error of one joint at the start; the largest over the joints."""
    def end(*more):
        done = page.tool.json("sim", "puma560", "--no-friction", "--motion", motion, "-i", "rk56", "--tolerance", "1e-12", *more, *options)
        return done["q"]
    right, small = end(), 1e-12
    moved = lambda k: ",".join(repr(q + small * (i == k)) for i, q in enumerate(rows[0][1:7]))
    return max(math.dist(end("--start=" + moved(k)), right) / small for k in range(6))


def equal_work(page, motion, rows, *options):
    """Returns tolerance, averages and evaluations at the paper's tolerance, and at the smallest power of
    ten with which the integrator does not evaluate more often than the paper's."""
    tolerance, found = 1e-6, []
    while True:
        means, done = averages(page, motion, rows, "-m", "ga", *options, tolerance=tolerance)
        if done["evaluations"] > PAPER_7["ga"][0]:
            return found[0], found[-1]
        found.append((tolerance, means, done["evaluations"]))
        tolerance = float(f"{tolerance / 10:.0e}")


def tables_6_and_7(page, motion, rows):
    page.heading("Table 6: the motion comes back from its torques")
    loose, bare = equal_work(page, motion, rows, "--no-rotor")
    loose_rotors, rotors = equal_work(page, motion, rows)
    page.table(["joint", f"paper, {PAPER_7['ga'][0]} evaluations: rad", "rad/s", "rad/s²",
                f"ours, links alone, {bare[2]} evaluations: rad", "rad/s", "rad/s²",
                f"with rotors, {rotors[2]} evaluations: rad", "rad/s", "rad/s²"],
               [[i + 1, *(f"{x:.2g}" for x in PAPER_6[i]), *(f"*{x:.2g}" for x in bare[1][i] + rotors[1][i])]
                for i in range(6)])
    page.text("Mean differences every 0.1 s over 5 s; method <code>ga</code>, rk45. Tolerances are not comparable between "
              "two step controls, evaluations of the derivative are. So the table has our run with the tightest power of ten "
              "that needs no more evaluations than the paper (Table 7); the paper's own tolerance, 1e-6, is in the rows "
              "below, where every number is the sum over the joints divided by the paper's sum.")
    ratio = lambda means, k: f"{sum(r[k] for r in means) / sum(p[k] for p in PAPER_6):.2g}"
    page.table(["sum over the joints, paper = 1", "tolerance", "evaluations", "rad", "rad/s", "rad/s²"],
               [["the paper", "1e-06", PAPER_7["ga"][0], "1", "1", "1"]]
               + [[f"*{name}", f"{run[0]:.0e}", run[2], *(ratio(run[1], k) for k in range(3))] for name, run in (
                   ("links alone, the paper's tolerance", loose), ("links alone, the paper's evaluations", bare),
                   ("with rotors, the paper's tolerance", loose_rotors), ("with rotors, the paper's evaluations", rotors))])
    grown = [f"{amplification(page, motion, rows, *options):.0e}" for options in (("--no-rotor",), ())]
    page.text("Ours takes the torques of the motion at every stage of the integrator; the paper does not say how it fills the "
              "time between its instants, nor which masses its PUMA has. An open loop corrects nothing: an arm that starts "
              f"with one joint displaced is off by up to {grown[0]} times as much after 5 s, with rotors {grown[1]} times. So this "
              "table measures the arm more than the method.")
    page.erratum("Row 2 of the printed table has the positions and accelerations of row 4 and the speed of row 3, to six digits, and "
                 "row 6 the position of row 1, to nine: they are probably not the joints' own.")
    page.heading("Table 7: evaluations for each method")
    table = []
    for method in ("crba", "aba", "ga", "denoc", "fast"):
        _, bare = averages(page, motion, rows, "-m", method, "--no-rotor")
        _, driven = averages(page, motion, rows, "-m", method)
        table.append([method, *PAPER_7.get(method, ("", "")), f"*{bare['evaluations']}", f"*{driven['evaluations']}",
                      f"*{1000 * driven['processor_s']:.2g} ms"])
    page.table(["method", "paper: evaluations", "paper: s (400 MHz)", "ours, links alone: evaluations", "with rotors: evaluations", "with rotors: time"], table)
    page.text("The count depends on the integrator and its step control more than on the method: our pair is Dormand and "
              "Prince's with six new evaluations a step, and steps end at every 0.1 s, as in the paper. Both have the "
              "tolerance 1e-6, which is not the same demand in both (Table 6). Times are of this machine.")


def make(page):
    tables_of_counts(page)
    table_5(page)
    rows = line_motion(page)
    motion = arm_picture(page, rows)
    tables_6_and_7(page, motion, rows)
    os.remove(motion)
