"""Page of Korayem and Shafei 2009: the counts and the free fall of an arm with two elastic links. The comparison with
finite elements is in elastic_004.py."""
import os
import re

import chains
import elastic_004

TITLE = "Korayem, Shafei 2009"
SOURCE = ("M. H. Korayem, A. M. Shafei, Motion equations proper for forward dynamics of robotic manipulator with flexible "
          "links by using recursive Gibbs-Appell formulation, Scientia Iranica 16 (2009).")

# Numbers of products and sums in each step of the paper's Table 1; f is n_f.
TABLE_1 = [("15*n - 15", "6*n - 6"), ("60*n - 60", "55*n - 55"), ("66*n - 27", "54*n - 21"), ("24*n - 24", "24*n - 24"),
           ("21*m*f", "17*m*f"), ("15*m*f - 15*m", "n - 12*m + 13*m*f"), ("13.5*n² - 40.5*n + 27", "9*n² - 27*n + 18"),
           ("4.5*n² - 13.5*n + 9", "4.5*n² - 13.5*n + 9"), ("390 - 901.5*n + 457.5*n²", "276 - 652.5*n + 328.5*n²"),
           ("30*m*f² - 30*m*f - 60*m²*f + 18*m² + 42*m²*f²",
            "9*n² - 9 + 52.5*m*f² - 79.5*m*f + 18*m - 89.5*m²*f + 18*m² + 53.5*m²*f²")]
# Table 2: Book's products and sums
BOOK = ("279*n + 118*m*f² + 17.5*m²*f + 137.5*m*f + 84*n² + 74*n*m*f + 6*m²*f² - 57 + 86*n*f + 126*f",
        "329*n + 115.5*m*f² + 19*m²*f + 123*m*f + 85*n² + 68*n*m*f + 6.5*m²*f² - 91 + 80*n*f + 111*f")
CASES = [(3, 2, 2), (6, 6, 2), (6, 6, 3)]


def value(formula, n, f, m):
    return eval(formula.replace("²", "**2"), {}, {"n": n, "f": f, "m": m})  # evaluates only the formulas above


def printed(formula):
    return formula.replace("*", "").replace("f", "n_f").replace(" - ", " − ")


def table_1(page):
    page.heading("Table 1: operations of the paper's steps")
    rows = [[k + 1, *map(printed, step), *("{:g} + {:g}".format(*(value(x, *case) for x in step)) for case in CASES)]
            for k, step in enumerate(TABLE_1)]
    total = ["{:g} + {:g}".format(*(sum(value(step[k], *case) for step in TABLE_1) for k in range(2))) for case in CASES]
    page.table(["step", "products", "sums", *("n, n_f, m =\N{NO-BREAK SPACE}{},\N{NO-BREAK SPACE}{},\N{NO-BREAK SPACE}{}".format(*case) for case in CASES)],
               rows + [["all", "", "", *total]])
    page.text("The steps add up to the formulas of Table 2. Ours has no such steps to be set beside them: it is counted as a "
              "whole below.")
    return total


def counts(page):
    total = table_1(page)
    page.heading("Table 2: operations")
    rows = []
    for (n, elastic, m), kinds, book, paper in (
            (CASES[0], ((2, 0), (1, 1)), "4922 + 4851", total[0]),
            (CASES[1], ((2, 0), (1, 1)), "25251 + 24569, printed as m = 3", f"{total[1]}, printed as m = 3"),
            (CASES[2], ((2, 1),), "{:g} + {:g}, by its formulas".format(*(value(x, *CASES[2]) for x in BOOK)),
             f"{total[2]}, by its formulas")):
        head = f"n = {n}, n_f = {elastic}, m = {m}"
        rows += [[f"{head}: Book 1984", book], [f"{head}: the paper", paper]]
        for xy, xz in kinds:
            ops = page.tool.operations(chains.elastic(page.tool.folder, n, elastic, xy, xz))
            name = "both modes in one plane" if xz == 0 else "a mode in each plane" if xy == 1 else "two in one plane, one in the other"
            rows.append([f"*{head}: flex, {name}", "{} + {}".format(*ops["equations", "flex"])])
    page.table(["inertia matrix and right-hand side", "products + sums"], rows)
    page.erratum("What Table 2 prints for n = 6, n_f = 6, m = 3 is what its formulas give for m = 2, Book's as well as the paper's. (Where "
                 "its formulas have mn_f m, read m n_f: then they are the sums of Table 1 and give the printed numbers.)")
    page.text("Ours is the same matrix for fewer operations: what the paper keeps apart for every pair of frames (σ, ψ, U, γ, ξ, λ, V) is "
              "the mass, first moment and inertia of one body, which grows from the end effector to the base.")


def inputs(page):
    page.heading("Table 3: the arm")
    with open(os.path.join("tools", "robots", "flex2.yaml"), encoding="utf-8") as file:
        beams = re.findall(r"flex: \{length: (.*?), mass_per_length: (.*?), EI_z: (.*?), modes: \{xy: (\d+)\}\}", file.read())
    E, I = 2.0e11, 5.0e-9
    for beam in beams:
        chains.same("a beam of flex2", map(float, beam), [1, 5, E * I, 1])
    page.table(["both links", "length, m", "E, N/m²", "Iz, m⁴", "mass, kg/m", "EI, N m²", "modes"],
               [["the paper", "1", f"{E:g}", f"{I:g}", "5", f"{E * I:g}", "1"],
                ["*tools/robots/flex2.yaml", beams[0][0], "", "", beams[0][1], beams[0][2], beams[0][3]]])
    page.text("Start: θ<sub>1</sub> = −90°, θ<sub>2</sub> = 5°, everything at rest and straight; no torques.")
    page.erratum("The paper does not say where gravity points: the arm hangs at −90°, so that y is up and θ<sub>1</sub> is measured "
                 "from x. Eq. 6 turns the end of a beam by E = 1 + θ̃, which is no rotation; ours is one, and "
                 "<code>--linear</code> computes the printed form.")
    page.errata([
        ("eq. 86", "B<sub>3i</sub>", "B<sub>9i</sub>", "checked"),
        ("step 9, U", "ξ<sub>k+1</sub>", "ξ<sub>k+1</sub> <sup>k+1</sup>R<sub>k</sub>", "checked"),
        ("eqs. 13, 44", "−2 ω'ᵀ B<sub>5</sub>; −ω̃ B<sub>9</sub> ω", "−2 ωᵀ B<sub>5</sub>; +ω̃ B<sub>9</sub> ω, as in eq. 97", "read"),
        ("eqs. 19, 21", "∫μ r'' r''; ∫μ r''ᵀ r'", "∫μ r̃ r''; ∫μ r̃ᵀ r̃'", "read"),
        ("eqs. 46, 47", "", "a factor δ<sub>ij</sub> is missing", "read"),
        ("eq. 70, step 2", "ω<sub>i−1</sub> × θ'<sub>i−1</sub> of eq. 65 is dropped", "it stays: zero for planar arms, not in space", "read"),
        ("eqs. 81, 85", "", "end in δ''", "read"), ("eq. 102", "δ", "δ'", "read"),
        ("step 10", "", "−r̃ᵀ(…) stands outside θ̃ᵀ(…)", "read")])


def figures(page):
    page.heading("Figures 4 to 15: free fall of two elastic links")
    run, shape, done = elastic_004.fall(page, 1, elastic_004.START, 2)
    turn = 57.29577951308232
    slow = [("4", "first joint", "degrees", [turn * x for x in run["q_first"]]),
            ("5", "second joint", "degrees", [turn * x for x in run["q_second"]]),
            ("6", "end effector, x", "m", shape["effector_x"]), ("7", "end effector, y", "m", shape["effector_y"])]
    script = "set multiplot layout 2,2\nset format y '%g'\nset xlabel 's'\nunset key\n"
    for i, (number, name, unit, _) in enumerate(slow):
        script += f"set title 'Fig. {number}: {name}'\nset ylabel '{unit}'\nplot $d using 1:{i + 2} with lines lc {i + 1}\n"
    page.plot("Figs. 4 to 7: two links of 1 m, 5 kg/m and EI = 1000 N m², one clamped-free mode each, released from −90° and "
              "5°, 2 s.", script, (960, 620), d=list(zip(run["t"], *(values for *_, values in slow))))
    fast = []
    for link, first in (("first", 8), ("second", 12)):
        for k, (what, unit) in enumerate((("deflection_mid", "mm"), ("deflection_end", "mm"), ("slope_mid", "mrad"),
                                          ("slope_end", "mrad"))):
            place = "middle" if what.endswith("mid") else "end"
            kind = "deflection" if what.startswith("deflection") else "slope"
            fast.append((str(first + k), f"{kind}, {place} of the {link} link", unit,
                         [1000 * x for x in shape[f"{link}_xy_{what}"]]))
    script = "set multiplot layout 8,2\nset format y '%g'\nset xlabel 's'\nunset key\n"
    for i, (number, name, unit, _) in enumerate(fast):
        for until, text, weight in ((2, name, 0.6), (0.2, "its first 0.2 s", 2)):
            script += (f"set title 'Fig. {number}: {text}'\nset ylabel '{unit}'\nset xrange [0:{until}]\n"
                       f"plot $d using 1:{i + 2} with lines lc {i % 6 + 1} lw {weight}\n")
    page.plot("Figs. 8 to 15: deflections in mm and slopes in mrad of the two links, 2 s, and the first 0.2 s beside them.", script, (960, 2100),
              d=list(zip(run["t"], *(values for *_, values in fast))))
    drift = done["balance_most"] / done["kinetic_most"]
    linear, _, other = elastic_004.fall(page, 1, elastic_004.START, 2, "--linear")
    away = max(abs(a - b) for name in ("q_first", "q_second") for a, b in zip(run[name], linear[name]))
    steepest = max(abs(x) for *_, unit, values in fast for x in values if unit == "mrad")
    page.table(["2 s", "energy drifts by, of the largest kinetic energy"],
               [["*E a rotation", f"{drift:.1e}"],
                ["*E of eq. 6 as printed", f"{other['balance_most'] / other['kinetic_most']:.1e}"]])
    page.text("The paper prints curves without numbers. With the printed E the joints are never more than "
              f"{away:.1e} rad away from ours here, where slopes stay below {steepest:.2g} mrad.")
    return run, shape


def make(page):
    counts(page)
    inputs(page)
    run, shape = figures(page)
    elastic_004.compare(page, run, shape)
