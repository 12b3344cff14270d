"""Page of Saha 1999: the counts, the C matrix, torques and free falls of the planar arm and of the Stanford arm."""
import math
import os

import chains

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
    page.erratum("The printed forward dynamics takes the bias as an input (633 for Walker and Orin is below their own "
                 "inverse dynamics), so that only the first row of ours compares with it; a program needs both. In Table 1 the sums of "
                 "Luh et al. are 131n − 48. A division is a product, there and here.")


# Table 3: a, b, alpha in degrees, mass, r and the moments of inertia. b of link 3 and the angles are the joints' own.
TABLE_3 = [(0, 0.2, -90, 9, (0, -0.1, 0), (0.01, 0.02, 0.01)), (0, 0.1, -90, 6, (0, 0, 0), (0.05, 0.06, 0.01)),
           (0, 0, 0, 4, (0, 0, 0), (0.4, 0.4, 0.01)), (0, 0.6, 90, 1, (0, -0.1, 0), (0.001, 0.001, 0.0005)),
           (0, 0, -90, 0.6, (0, 0, 0), (0.0005, 0.0005, 0.0002)), (0, 0, 0, 0.5, (0, 0, 0), (0.003, 0.001, 0.002))]


def inputs(page):
    page.heading("Table 3: the Stanford arm")
    frames, links = chains.read("stanford")
    for i, (row, frame, link) in enumerate(zip(TABLE_3, frames, links, strict=True)):
        a, b, alpha, mass, r, inertia = row
        chains.same(f"link {i + 1} of the Stanford arm",
                    [frame["a"], frame["d"], math.degrees(frame["alpha"]), link[0], *link[1], *link[2]],
                    [a, b, alpha, mass, *(-x for x in r), *inertia, 0, 0, 0])
    show = lambda values: ", ".join(f"{x:g}" for x in values)
    page.table(["link", "a, m", "b, m", "α, °", "θ, °", "m, kg", "r, m", "Ixx, Iyy, Izz, kg m²"],
               [[i + 1, f"{a:g}", "b3 (0)" if i == 2 else f"{b:g}", alpha, "0" if i == 2 else f"θ{i + 1} ({90 if i == 1 else 0})",
                 f"{mass:g}", show(r), show(inertia)] for i, (a, b, alpha, mass, r, inertia) in enumerate(TABLE_3)])
    page.text("<code>tools/robots/stanford.yaml</code> has these numbers (compared when this page was made), with the mass "
              "centres at −r.")
    frames, links = chains.read("planar3r")
    page.table(["planar arm: rods, ours", "length, m", "mass, kg"],
               [[f"*link {i + 1}", f"{frame['a']:g}", f"{link[0]:g}"] for i, (frame, link) in enumerate(zip(frames, links))])
    other = os.path.join(page.tool.folder, "other.yaml")
    with open(os.path.join("tools", "robots", "stanford.yaml"), encoding="utf-8") as file, open(other, "w", encoding="utf-8") as out:
        text = file.read()
        if text.count("com: [0, 0.1, 0]") != 2:
            raise SystemExit("papers: stanford.yaml has other mass centres")
        out.write(text.replace("com: [0, 0.1, 0]", "com: [0, -0.1, 0]"))
    start = [0, math.pi / 2, 0, 0, 0, 0]
    lift = [page.tool.table("gravity", robot, rows=[start])[0][1] for robot in ("stanford", other)]
    page.erratum("Item 4 of section 5.1, read literally, puts the mass centres at −r of Table 3; only link 4 feels the difference. "
                 f"At the start joint 2 carries {lift[0]:.2f} N m, and would carry {lift[1]:.2f} N m with +r. Gravity is not given: "
                 "9.81 m/s² along −Z<sub>1</sub>. The paper prints no data of its planar arm: ours is that "
                 "of the planar arm among the examples of ReDySim, the program of S. V. Shah and S. K. Saha.")


def square(flat):
    n = math.isqrt(len(flat))
    return [flat[n * i:n * i + n] for i in range(n)]


def coriolis(page):
    page.heading("Equation 29: the C matrix")
    # A state without a zero in it, so that no term hides.
    q, qd = [0.4, 1.2, 0.15, -0.7, 0.9, 0.3], [0.8, -0.5, 0.2, 1.1, -0.9, 0.6]
    C = square(page.tool.table("coriolis", "stanford", rows=[q + qd])[0])
    page.table(["C of the Stanford arm", *(f"joint {i + 1}" for i in range(6))],
               [[f"*joint {i + 1}", *(f"{x:.6f}" for x in row)] for i, row in enumerate(C)])
    page.text("<code>appell coriolis stanford</code> at q = ({}), q' = ({}).".format(*(", ".join(map(str, x)) for x in (q, qd))))
    h, rows = 1e-4, []
    for robot, q, qd in (("planar3r", [0.4, -0.7, 1.1], [0.8, -0.5, 1.3]), ("stanford", q, qd),
                         ("puma560", [0.4, 0.9, -1.2, 0.5, 0.9, 0.3], [0.8, -0.5, 1.2, 1.1, -0.9, 0.6])):
        n = len(q)
        C = square(page.tool.table("coriolis", robot, rows=[q + qd])[0])
        # dM/dt by differences of fourth order along the speed
        M = [square(m) for m in page.tool.table("mass", robot, rows=[[a + k * h * b for a, b in zip(q, qd)] for k in (-2, -1, 1, 2)])]
        rate = [[(M[0][i][j] - 8 * M[1][i][j] + 8 * M[2][i][j] - M[3][i][j]) / (12 * h) for j in range(n)] for i in range(n)]
        skew = [[rate[i][j] - 2 * C[i][j] for j in range(n)] for i in range(n)]
        off = max(abs(skew[i][j] + skew[j][i]) for i in range(n) for j in range(n))
        bias = page.tool.table("bias", robot, rows=[q + qd])[0]
        gravity = page.tool.table("gravity", robot, rows=[q])[0]
        left = [sum(c * v for c, v in zip(row, qd)) + g for row, g in zip(C, gravity)]
        rows.append([f"*{robot}", f"{off:.0e}", f"{max(abs(x) for row in skew for x in row):.2g}",
                     f"{max(abs(a - b) for a, b in zip(left, bias)):.1g}", f"{max(map(abs, bias)):.2g}"])
    page.table(["checks", "S + Sᵀ, S = dM/dt − 2C", "largest of S", "C q' + g − bias", "largest of the bias"], rows)
    page.text("Numbers are the largest entries. S must be skew: dM/dt comes from differences of the inertia matrix, and the first "
              "column is their rounding. g and bias are those of the commands <code>gravity</code> and <code>bias</code>, which "
              "compute with another kernel (<code>fast</code>).")
    page.errata([
        ("eq. 28", "no dots",
         "derivatives: M̃'<sub>i</sub> = M'<sub>i</sub> + M̃'<sub>i+1</sub>; H<sub>ij</sub> = M̃<sub>i</sub> B'<sub>ij</sub> + Bᵀ H<sub>i+1,i</sub>",
         "checked"),
        ("eq. 29, i ≤ j", "H<sub>j+1,i</sub> in the second term", "H<sub>j+1,j</sub>", "checked"),
        ("5.1, B'", "no term for prismatic joints", "contains e<sub>i</sub> b'<sub>i</sub> for them, or half of the Coriolis force is lost", "checked"),
        ("5.1, ν<sub>i</sub>", "p<sub>i</sub> θ'<sub>i</sub> + ν<sub>i−1</sub>", "p<sub>i</sub> θ'<sub>i</sub> + B<sub>i,i−1</sub> ν<sub>i−1</sub>; "
         "harmless, for only the angular part is used", "checked")])


def factors(page):
    """U, D and the articulated inertias (appendix B) by `appell factor`."""
    page.heading("Appendix B: U, D and the articulated inertias")
    row = "0.4 1.2 0.15 -0.7 0.9 0.3"
    page.text("Forward dynamics of section 5.2 factorises the inertia matrix, M = U D Uᵀ. The command <code>appell factor</code> prints what it "
              "computes on the way, and compares U D Uᵀ with the M of <code>appell mass</code> (last line). An articulated inertia "
              "maps the angular acceleration and the acceleration of a link's origin to moment and force; the paper takes the mass "
              "centre for the origin, which changes neither U nor D. The paper prints no numbers of these.")
    page.pre(f"$ echo {row} | appell factor stanford\n" + page.tool.text("factor", "stanford", "-q", rows=row + "\n"))
    page.errata([("eq. 35", "τ̂<sub>i−1</sub>", "τ̂<sub>i+1</sub>", "checked"),
                 ("eqs. 49, 50", "M̂<sub>i</sub>; M̂<sub>kk</sub> = M̂<sub>k</sub> − Ĵ<sub>k</sub> Ψ<sub>k</sub>ᵀ",
                  "M̃<sub>i</sub>; M̂<sub>kk</sub> = M̂<sub>k</sub> − ψ̂<sub>k</sub> ψ<sub>k</sub>ᵀ", "read")])


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
    page.text("The paper prints curves without numbers, so that no digit can be compared.")
    page.heading("Figure 8: torques and force of the Stanford arm")
    end = [math.pi / 3] * 6
    end[2] = 0.1
    times, tau = torques(page, "stanford", [0, math.pi / 2, 0, 0, 0, 0], end)
    script = "set multiplot layout 3,2\nset format y '%.3g'\nset xlabel 's'\nunset key\n"
    for i in range(6):
        script += (f"set title '({'abcdef'[i]}) joint {i + 1}'\nset ylabel '{'N' if i == 2 else 'N m'}'\n"
                   f"plot $d using 1:{i + 2} with lines lc {i % 6 + 1}\n")
    page.plot("Fig. 8: torques and, at joint 3, force of the Stanford arm for eq. 39, over 10 s.", script, (960, 880),
              d=list(zip(times, *tau)))
    page.table(["t = 0", *(f"joint {i + 1}" for i in range(6))],
               [["*ours, N m and N", *(f"{round(v[0], 9) + 0.0:.5g}" for v in tau)]])
    page.erratum("Eq. 39 as printed ends at π, and at π metres for the boom; (q<sub>T</sub> − q<sub>0</sub>)/(2π) in place of 1/2, "
                 "with q<sub>0</sub> added, meets the stated ends.")


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
    script = "set multiplot layout 3,2\nset format y '%.3g'\nset xlabel 's'\nunset key\n"
    for i in range(6):
        script += (f"set title '({'abcdef'[i]}) joint {i + 1}'\nset ylabel '{'m' if i == 2 else 'rad'}'\n"
                   f"plot $d using 1:{i + 2} with lines lc {i % 6 + 1}\n")
    page.plot("Fig. 9: the Stanford arm falling from rest at q = (0, 90°, 0, 0, 0, 0).", script, (960, 880),
              d=list(zip(run["t"], *(run[n] for n in names))))
    lift, boom = run[names[1]], run[names[2]]
    half = next(i for i, v in enumerate(lift) if v < math.pi / 4)
    page.text("The paper says that the boom (joint 3) should move sharply “once the joint 2 turns more than 90 deg”. In ours joint 2 "
              f"starts at 90° and falls to {math.degrees(lift[-1]):.1f}° in 1 s; the boom is {boom[half]:.3f} m out when it has turned by 45° "
              f"(after {run['t'][half]:.2f} s), and {boom[-1]:.2f} m after 1 s. It does not wait for a turn of 90°: it moves out as soon "
              "as it slopes down. The paper does not say in which direction joint 2 turns. "
              f"{done['evaluations']} evaluations, energy kept to {done['balance_most'] / done['kinetic_most']:.1g} of the largest kinetic energy.")


def make(page):
    tables(page)
    inputs(page)
    coriolis(page)
    factors(page)
    torque_figures(page)
    fall_figures(page)
