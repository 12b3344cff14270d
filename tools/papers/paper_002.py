"""Page of Saha 1999: the counts, torques and free falls of the planar arm and of the Stanford arm."""
import math

TITLE = "Saha 1999"
SOURCE = ("S. K. Saha, Dynamics of serial multibody systems using the decoupled natural orthogonal complement matrices, "
          "ASME Journal of Applied Mechanics 66 (1999).")


def tables(page):
    c = page.counts
    page.heading("Tables 1 and 2: operations")
    page.table(["Table 1: inverse dynamics", "products", "sums"], [
        ["Hollerbach 1980", "412n − 277 (2195)", "320n − 201 (1719)"],
        ["Luh et al. 1980", "150n − 48 (852)", "131n + 48 (834), misprint of − 48 (738)"],
        ["Walker, Orin 1982", "137n − 22 (800)", "101n − 11 (595)"], ["the paper", "120n − 44 (676)", "97n − 55 (527)"],
        ["Khalil et al. 1986", "105n − 92 (538)", "94n − 86 (478)"],
        ["Angeles et al. 1989", "105n − 109 (521)", "90n − 105 (435)"],
        ["Balafoutis et al. 1988", "93n − 69 (489)", "81n − 65 (421)"], ["*denoc", *c.formula((1, "id", "denoc"))],
        ["*fast", *c.formula((1, "id", "fast"))]])
    rows = [["the paper, without the bias", "201n − 335", "193n − 361", "871 + 797", "2077 + 1955"],
            ["Featherstone 1983", "199n − 198", "174n − 173", "996 + 871", "2190 + 1915"],
            ["Walker, Orin 1982", "n³/6 + 11½n² + 38⅓n − 47", "n³/6 + 7n² + 38⅚n − 46", "633 + 480", "2357 + 1716"]]
    bare = lambda n: tuple(a - b for a, b in zip(c.at("fd", "denoc", n), c.at("bias", "denoc", n)))
    cut = lambda f: [x.rsplit(" (", 1)[0] for x in f]
    for name, parts, at in (("*denoc, fd less its bias", ((1, "fd", "denoc"), (-1, "bias", "denoc")), bare),
                            ("*denoc, with the bias", ((1, "fd", "denoc"),), lambda n: c.at("fd", "denoc", n)),
                            ("*aba, with the bias", ((1, "fd", "aba"),), lambda n: c.at("fd", "aba", n)),
                            ("*crba, with the bias", ((1, "fd", "crba"),), lambda n: c.at("fd", "crba", n)),
                            ("*fast, with the bias", ((1, "fd", "fast"),), lambda n: c.at("fd", "fast", n))):
        rows.append([name, *cut(c.formula(*parts)), "{} + {}".format(*at(6)), "{} + {}".format(*at(12))])
    page.table(["Table 2: forward dynamics", "products", "sums", "n = 6", "n = 12"], rows)
    page.text("Differences: the printed forward dynamics takes the bias as an input (633 for Walker and Orin is below their own "
              "inverse dynamics), so that only the first row of ours compares with it; a program needs both. A division is a "
              "product, there and here.")


def torques(page, robot, start, end, T=10.0):
    """Returns times, and the torques of each joint along the cycloid of eq. 39, computed by denoc."""
    times, rows = [T * k / 200 for k in range(201)], []
    for t in times:
        x = 2 * math.pi * t / T
        way = [b - a for a, b in zip(start, end)]
        rows.append([a + w * (x - math.sin(x)) / (2 * math.pi) for a, w in zip(start, way)]
                    + [w * (1 - math.cos(x)) / T for w in way]
                    + [w * 2 * math.pi * math.sin(x) / T ** 2 for w in way])
    return times, [list(column) for column in zip(*page.tool.table("id", robot, "-m", "denoc", rows=rows))]


def torque_figures(page):
    page.heading("Figure 5: torques of the planar arm")
    times, tau = torques(page, "planar3r", [0] * 3, [math.pi] * 3)
    page.plot("Fig. 5: torques in N m for the cycloid of eq. 38, from 0 to π in 10 s.",
              "set xlabel 's'\nset ylabel 'N m'\nplot " +
              ", ".join(f"$d using 1:{i + 2} with lines title 'tau_{i + 1}'" for i in range(3)),
              d=list(zip(times, *tau)))
    page.table(["t = 0", "tau_1", "tau_2", "tau_3"], [["*ours, N m", *(f"{v[0]:.5g}" for v in tau)]])
    page.text("The paper prints neither data of this arm nor numbers at its curves, so that no digit can be compared. Ours are "
              "rods of 0.3, 0.25 and 0.22 m with 0.5, 0.4 and 0.3 kg, those of the planar arm among the examples of ReDySim, the "
              "program of S. V. Shah and S. K. Saha.")
    page.heading("Figure 8: torques and force of the Stanford arm")
    end = [math.pi / 3] * 6
    end[2] = 0.1
    times, tau = torques(page, "stanford", [0, math.pi / 2, 0, 0, 0, 0], end)
    script = "set multiplot layout 3,2\nset format y '%.3g'\nunset key\n"
    for i in range(6):
        script += (f"set title '({'abcdef'[i]}) joint {i + 1}'\nset ylabel '{'N' if i == 2 else 'N m'}'\n"
                   f"plot $d using 1:{i + 2} with lines lc {i % 6 + 1}\n")
    page.plot("Fig. 8: torques and, at joint 3, force of the Stanford arm for eq. 39, over 10 s.", script, (960, 820),
              d=list(zip(times, *tau)))
    page.table(["t = 0", *(f"joint {i + 1}" for i in range(6))],
               [["*ours, N m and N", *(f"{round(v[0], 9) + 0.0:.5g}" for v in tau)]])
    page.text("Eq. 39 as printed ends at π, and at π metres for the boom; (q<sub>T</sub> − q<sub>0</sub>)/(2π) in place of 1/2 "
              "meets the stated ends. Item 4 of section 5.1 read literally puts the mass centres at −r of Table 3, which "
              "only link 4 feels (13.34 N m at joint 2 at the start; the other reading gives 11.38). Gravity is not given: "
              "9.81 m/s² along −Z<sub>1</sub>.")


def fall_figures(page):
    page.heading("Figure 6: free fall of the planar arm")
    run, done = page.tool.simulate("planar3r", "--duration", "2", "--sample", "0.01", "-i", "rk56", "--tolerance", "1e-9",
                                   "-m", "denoc")
    names = [name for name in run if name.startswith("q_")]
    page.plot("Fig. 6: angles in rad of the planar arm falling from rest.", "set xlabel 's'\nset ylabel 'rad'\nplot " +
              ", ".join(f"$d using 1:{i + 2} with lines title 'th_{i + 1}'" for i in range(3)),
              d=list(zip(run["t"], *(run[n] for n in names))))
    page.text("As the paper says, the first angle grows in the negative direction first, and the arm swings as a triple "
              f"pendulum. {done['evaluations']} evaluations by rk56 (Verner's pair; the paper's is from Numerical Recipes); the energy is "
              f"kept to {done['balance_most'] / done['kinetic_most']:.1g} of the largest kinetic energy.")
    page.heading("Figure 9: free fall of the Stanford arm")
    run, done = page.tool.simulate("stanford", "--start", f"0,{math.pi / 2!r},0,0,0,0", "--duration", "1", "--sample", "0.005",
                                   "-i", "rk56", "--tolerance", "1e-9", "-m", "denoc")
    names = [name for name in run if name.startswith("q_")]
    script = "set multiplot layout 3,2\nset format y '%.3g'\nunset key\n"
    for i in range(6):
        script += (f"set title '({'abcdef'[i]}) joint {i + 1}'\nset ylabel '{'m' if i == 2 else 'rad'}'\n"
                   f"plot $d using 1:{i + 2} with lines lc {i % 6 + 1}\n")
    page.plot("Fig. 9: the Stanford arm falling from rest at q = (0, 90°, 0, 0, 0, 0).", script, (960, 820),
              d=list(zip(run["t"], *(run[n] for n in names))))
    lift, boom = run[names[1]], run[names[2]]
    half = next(i for i, v in enumerate(lift) if v < math.pi / 4)
    page.text(f"The boom does what the paper says: it moves off as soon as joint 2 has turned (after {run['t'][half]:.2f} s, "
              f"half way down, it is {boom[half]:.3f} m out and {boom[-1]:.2f} m after 1 s). {done['evaluations']} evaluations, energy "
              f"kept to {done['balance_most'] / done['kinetic_most']:.1g}.")


def make(page):
    tables(page)
    torque_figures(page)
    fall_figures(page)
