"""Page of Korayem and Shafei 2009: the counts and the free fall of an arm with two elastic links."""
import csv
import os

TITLE = "Korayem, Shafei 2009"
SOURCE = ("M. H. Korayem, A. M. Shafei, Motion equations proper for forward dynamics of robotic manipulator with flexible "
          "links by using recursive Gibbs-Appell formulation, Scientia Iranica 16 (2009).")

# The start of the paper's simulation: the joints at -90 and 5 degrees, everything at rest.
START = "--start=-1.5707963267948966,0,0.08726646259971647,0"


def chain(folder, n, elastic, xy, xz):
    """Writes a robot file of n revolute joints on crossed axes; the last `elastic` links are beams
    with `xy` and `xz` modes in the two planes."""
    path = os.path.join(folder, f"flexchain{n}{elastic}{xy}{xz}.yaml")
    with open(path, "w") as file:
        file.write("name: chain\nconvention: mdh\ngravity: [0, 0, -9.81]\njoints:\n")
        for i in range(n):
            frame = "theta: 0, d: 0, a: 0, alpha: 0" if i == 0 else \
                f"theta: 0, d: 0.1, a: 0.5, alpha: {1.2 if i % 2 else -0.8}"
            link = ("link: {mass: 2, com: [0.2, 0.01, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}" if i + elastic < n else
                    f"flex: {{length: 0.5, mass_per_length: 4, EI_y: 400, EI_z: 500, modes: {{xy: {xy}, xz: {xz}}}}}")
            file.write(f"  - name: j{i}\n    type: revolute\n    dh: {{{frame}}}\n    {link}\n")
    return path


# Numbers of products and sums in each step of the paper's Table 1; f is n_f.
TABLE_1 = [("15*n - 15", "6*n - 6"), ("60*n - 60", "55*n - 55"), ("66*n - 27", "54*n - 21"), ("24*n - 24", "24*n - 24"),
           ("21*m*f", "17*m*f"), ("15*m*f - 15*m", "n - 12*m + 13*m*f"), ("13.5*n² - 40.5*n + 27", "9*n² - 27*n + 18"),
           ("4.5*n² - 13.5*n + 9", "4.5*n² - 13.5*n + 9"), ("390 - 901.5*n + 457.5*n²", "276 - 652.5*n + 328.5*n²"),
           ("30*m*f² - 30*m*f - 60*m²*f + 18*m² + 42*m²*f²",
            "9*n² - 9 + 52.5*m*f² - 79.5*m*f + 18*m - 89.5*m²*f + 18*m² + 53.5*m²*f²")]
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
    page.table(["step", "products", "sums", *("n, n_f, m = {}, {}, {}".format(*case) for case in CASES)],
               rows + [["all", "", "", *total]])
    page.text("The steps add up to the formulas of Table 2. Ours has no such steps to be set beside them: it is counted as a "
              "whole below.")
    return total


def counts(page):
    total = table_1(page)
    page.heading("Table 2: operations")
    rows = []
    for (n, elastic, m), kinds, book, paper in (
            (CASES[0], ((2, 0), (1, 1)), "4922 + 4851", "2706 + 2134"),
            (CASES[1], ((2, 0), (1, 1)), "", total[1]),
            (CASES[2], ((2, 1),), "25251 + 24569", f"19557 + 18332 printed, {total[2]} by its formulas")):
        head = f"n = {n}, n_f = {elastic}, m = {m}"
        if book:
            rows.append([f"{head}: Book 1984", book])
        rows.append([f"{head}: the paper", paper])
        for xy, xz in kinds:
            ops = page.tool.operations(chain(page.tool.folder, n, elastic, xy, xz))
            name = "both modes in one plane" if xz == 0 else "a mode in each plane" if xy == 1 else "two in one plane, one in the other"
            rows.append([f"*{head}: flex, {name}", "{} + {}".format(*ops["equations", "flex"])])
    page.table(["inertia matrix and right-hand side", "products + sums"], rows)
    page.text("What the paper prints for m = 3 is what its formulas give for m = 2. "
              "Ours is the same matrix: what the paper keeps apart for every pair of frames (σ, ψ, U, γ, ξ, λ, V) is the mass, "
              "first moment and inertia of one body, which grows from the end effector to the base.")


def columns(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def figures(page):
    page.heading("Figures 4 to 15: free fall of two elastic links")
    bent = os.path.join(page.tool.folder, "bent.csv")
    run, done = page.tool.simulate("flex2", START, "--duration", "2", "--sample", "0.001", "-i", "rk45", "--tolerance",
                                   "1e-10", "--bent", bent)
    shape = columns(bent)
    os.remove(bent)
    turn = 57.29577951308232
    curves = [("4", "first joint", "deg", [turn * x for x in run["q_first"]]),
              ("5", "second joint", "deg", [turn * x for x in run["q_second"]]),
              ("6", "end effector, x", "m", shape["effector_x"]), ("7", "end effector, y", "m", shape["effector_y"])]
    for link, first in (("first", 8), ("second", 12)):
        for k, (what, unit) in enumerate((("deflection_mid", "m"), ("deflection_end", "m"), ("slope_mid", "rad"),
                                          ("slope_end", "rad"))):
            place = "middle" if what.endswith("mid") else "end"
            kind = "deflection" if what.startswith("deflection") else "slope"
            curves.append((str(first + k), f"{kind}, {place} of the {link} link", unit, shape[f"{link}_xy_{what}"]))
    script = "set multiplot layout 6,2\nset format y '%g'\nunset key\n"
    for i, (number, name, unit, _) in enumerate(curves):
        script += (f"set title 'Fig. {number}: {name}'\nset ylabel '{unit}'\n"
                   f"plot $d using 1:{i + 2} with lines lc {i % 6 + 1}\n")
    page.plot("Figs. 4 to 15: two links of 1 m, 5 kg/m and EI = 1000 N m², one clamped-free mode each, released from −90° and "
              "5°, 2 s.", script, (960, 1500), d=list(zip(run["t"], *(values for *_, values in curves))))
    drift = done["balance_most"] / done["kinetic_most"]
    linear, other = page.tool.simulate("flex2", START, "--duration", "2", "--sample", "0.001", "-i", "rk45", "--tolerance",
                                       "1e-10", "--linear")
    away = max(abs(a - b) for name in ("q_first", "q_second") for a, b in zip(run[name], linear[name]))
    page.table(["2 s", "energy drifts by, of the largest kinetic energy"],
               [["*E a rotation", f"{drift:.1e}"],
                ["*E of eq. 6 as printed", f"{other['balance_most'] / other['kinetic_most']:.1e}"]])
    page.text("The paper prints curves without numbers. With its linear E (option <code>--linear</code>), which is no rotation, the "
              f"joints end up to {away:.1e} rad beside ours here, where slopes stay below 0.001 rad.")
    page.heading("More modes than the paper's one")
    rows = []
    with open(os.path.join("tools", "robots", "flex2.yaml")) as file:
        text = file.read()
    for modes in (1, 2, 3):
        path = os.path.join(page.tool.folder, f"flex2_{modes}.yaml")
        with open(path, "w") as file:
            file.write(text.replace("modes: {xy: 1}", f"modes: {{xy: {modes}}}"))
        start = ["--start=-0.5,0.6", "--duration", "0.5", "--sample", "0.5", "-i", "rk45", "--tolerance", "1e-9"]
        bent = os.path.join(page.tool.folder, "bent.csv")
        page.tool.simulate(path, *start, "--bent", bent)
        end = columns(bent)
        rows.append([f"*{modes} mode{'s' if modes > 1 else ''} a link", f"{end['effector_x'][-1]:.6f}",
                     f"{end['effector_y'][-1]:.6f}"])
    page.table(["released from −0.5 and 0.6 rad, after 0.5 s", "x of the end effector, m", "y"], rows)


def make(page):
    counts(page)
    figures(page)
