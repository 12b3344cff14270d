"""Page of Swartz 1982: the parts database, the wrench, RK3 at 1 ms, the mechanical time constants, the program sim."""
import math
import os

import elements

TITLE = "Swartz 1982"
SOURCE = "N. M. Swartz, Arm Dynamics Simulation, The Robotics Institute, Carnegie-Mellon University, 23 November 1982."

START = [0.1, 0.8, -0.4, 0.3, 0.5, 0.2]
ROUNDING = 5e-13  # fifty times the rounding error of some hundred steps of this fall


def solids():
    """Returns for each shape of a section its text in a parts database, and its volume, the height of its mass centre along
    z, and its moments of inertia about that centre for mass 1, from the textbook."""
    r, top, length, inner = 0.03, 0.02, 0.1, 0.02
    x, y, z = 0.04, 0.06, 0.1
    round_bar = [(3 * r * r + length ** 2) / 12] * 2 + [r * r / 2]
    cone = [3 / 20 * (r * r + length ** 2 / 4)] * 2 + [0.3 * r * r]
    off = 4 * r / (3 * math.pi)  # of the mass centre of a half disc
    half = [round_bar[0] - off ** 2, round_bar[1], round_bar[2] - off ** 2]
    pipe = [(3 * (r * r + inner ** 2) + length ** 2) / 12] * 2 + [(r * r + inner ** 2) / 2]
    return [("cylinder", f"radius: {r}, length: {length}", math.pi * r * r * length, [0, 0, length / 2], round_bar),
            ("semi_cylinder", f"radius: {r}, length: {length}", math.pi * r * r * length / 2, [0, off, length / 2], half),
            ("cone", f"radius: {r}, length: {length}", math.pi * r * r * length / 3, [0, 0, length / 4], cone),
            ("sphere", f"radius: {r}", 4 / 3 * math.pi * r ** 3, [0, 0, 0], [0.4 * r * r] * 3),
            ("box", f"size: [{x}, {y}, {z}]", x * y * z, [0, 0, 0],
             [(y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12]),
            ("tube", f"radius: {r}, inner_radius: {inner}, length: {length}", math.pi * (r * r - inner ** 2) * length,
             [0, 0, length / 2], pipe)]


def parts(page):
    page.heading("The parts database")
    page.text("The paper builds every link from parts, and every part from sections that are simple solids, and computes mass, mass "
              "centre and moments of inertia from them; it prints neither its database nor a formula. "
              "<code>appell parts</code> does the same. Each shape in aluminium (2700 kg/m³), the tool's numbers below those of the "
              "textbook:")
    path = os.path.join(page.tool.folder, "solid.yaml")
    rows, worst = [], 0.0
    for shape, size, volume, centre, moments in solids():
        with open(path, "w", encoding="utf-8") as file:
            file.write("name: solid\nconvention: frames\ngravity: [0, 0, -9.81]\nmaterials: [{name: aluminium, density: 2700}]\n"
                       f"parts: [{{name: part, sections: [{{shape: {shape}, {size}, material: aluminium}}]}}]\n"
                       "links: [{name: arm, parts: [{part: part}]}]\njoints:\n  - {name: j, type: revolute, "
                       "origin: {xyz: [0, 0, 0], rpy: [0, 0, 0]}, axis: [0, 0, 1], link: arm}\n")
        part = page.tool.json("parts", path, "--list")["parts"][0]
        mass = 2700 * volume
        book = [mass, *centre, *(mass * m for m in moments)]
        ours = [part["mass"], *part["com"], *part["inertia"][:3]]
        worst = max(worst, *(abs(a - b) / max(abs(b), mass * 1e-3) for a, b in zip(ours, book)))
        show = lambda v: [f"{round(x, 9) + 0.0:.6g}" for x in v]
        rows += [[f"{shape}, {size}", *show(book)], ["*parts", *show(ours)]]
    page.table(["section, m", "kg", "x, m", "y", "z", "Ixx, kg m²", "Iyy", "Izz"], rows)
    page.text(f"They differ by at most {worst:.1g} of the number (of a thousandth of the mass where the number is smaller). "
              "Parts and links of our arm in the paper's spirit (<code>tools/robots/cmu-dd.yaml</code>; every dimension in it is ours), by "
              "<code>appell parts --list</code>:")
    made, number = page.tool.json("parts", "cmu-dd", "--list"), lambda x: f"{round(x, 12) + 0.0:.4g}"
    for kind, heads in (("parts", ["part", "used", "in the frame of the part: kg"]), ("links", ["link", "in the frame of the link: kg"])):
        page.table([*heads, "mass centre, m", "Ixx, Iyy, Izz, kg m²"],
                   [[f"*{x['name']}", *([x["used"]] if kind == "parts" else []), number(x["mass"]), ", ".join(map(number, x["com"])),
                     ", ".join(map(number, x["inertia"][:3]))] for x in made[kind]])


def wrench(page):
    page.heading("A force and a moment on the end effector")
    q, force = [0.2, 0.7, -0.3, 0.9, 0.4, 0.5], [4.0, -3.0, 10.0, 0.5, -0.2, 0.3]
    row = [q + [0.5, -0.4, 0.3, 0.2, -0.6, 0.1] + [1.0, 0.5, -1.0, 0.8, 0.3, -0.7]]
    free = page.tool.table("id", "cmu-dd", "--no-friction", rows=row)[0]
    loaded = page.tool.table("id", "cmu-dd", "--no-friction", "--wrench=" + ",".join(map(str, force)), rows=row)[0]
    pose, flat = page.tool.table("fk", "cmu-dd", rows=[q])[0], page.tool.table("jacobian", "cmu-dd", rows=[q])[0]
    turn = lambda v: [sum(pose[4 * i + k] * v[k] for k in range(3)) for i in range(3)]
    world = turn(force[:3]) + turn(force[3:])
    wanted = [-sum(flat[6 * k + i] * world[k] for k in range(6)) for i in range(6)]
    joints = [j["name"] for j in page.tool.json("info", "cmu-dd")["joints"]]
    page.table(["N m", *joints],
               [["*without a wrench", *(f"{x:.6f}" for x in free)], ["*with it", *(f"{x:.6f}" for x in loaded)],
                ["*the difference", *(f"{b - a:.6f}" for a, b in zip(free, loaded))],
                ["*−Jᵀ W", *(f"{x:.6f}" for x in wanted)]])
    off = max(abs(b - a - w) for a, b, w in zip(free, loaded, wanted))
    page.text(f"<code>appell id cmu-dd --wrench</code> with W = {force[:3]} N and {force[3:]} N m in the axes of the end effector, in motion. The "
              f"last two rows come from different commands (<code>id</code>; <code>jacobian</code> and <code>fk</code>) and differ by at "
              f"most {off:.0e} N m.")
    page.erratum("The paper calls f<sub>hand</sub> and n<sub>hand</sub> what is exerted on the end effector, and adds "
                 "K<sub>f</sub>ᵀ f<sub>hand</sub> + K<sub>n</sub>ᵀ n<sub>hand</sub> to the torques. With that sign they are what "
                 "the end effector exerts on its surroundings, the opposite of W here.")
    page.errata([
        ("appendix, eq. 5", "ω × s + s × (ω × s)", "ω' × s + ω × (ω × s)", "checked"),
        ("appendix, eqs. 19, 20, 23, 26", "A<sup>j+1</sup> Z", "A<sub>j</sub><sup>j−1</sup> Z; in eq. 26 A<sub>i</sub><sup>i−1</sup> Z", "checked"),
        ("text, eq. 26", "A<sub>i</sub><sup>j−1</sup>", "A<sub>i</sub><sup>i−1</sup>", "checked"),
        ("before eq. 24", "the distance p<sub>i+1</sub>", "p<sub>i</sub>, as in eq. 25", "checked"),
        ("text, eqs. 3, 7, 8", "ω' × p; r' × (J ω'); F = f − f<sub>+1</sub>", "ω × p; ω × (J ω); F = f − A f<sub>+1</sub>", "read"),
        ("appendix, eq. 18", "A<sub>j</sub><sup>j</sup>", "A<sub>j+1</sub><sup>j</sup>", "read"),
        ("eqs. 10, 21, 23", "ranges N − 1 … 1", "N … 1", "read"),
        ("Denavit-Hartenberg, in words", "r<sub>i</sub> along x, a<sub>i</sub> along z",
         "r<sub>i</sub> along z<sub>i−1</sub>, a<sub>i</sub> along x<sub>i</sub>", "read")])


def rk3(asker, h, steps, literal):
    """Integrates a free fall of the PUMA by the paper's method, with c3 as printed or corrected."""
    n, q, qd = 6, list(START), [0.0] * 6
    F = lambda q, qd: asker.ask(q + qd + [0.0] * n)
    add = lambda x, *terms: [v + sum(f * t[i] for f, t in terms) for i, v in enumerate(x)]
    for _ in range(steps):
        c1, k1 = qd, F(q, qd)
        c2 = add(qd, (h / 2, k1))
        k2 = F(add(q, (h / 2, c1)), c2)
        c3 = add(qd, (2 * h, k2), (-h, c1 if literal else k1))
        k3 = F(add(q, (2 * h, c2), (-h, c1)), c3)
        q = add(q, (h / 6, c1), (4 * h / 6, c2), (h / 6, c3))
        qd = add(qd, (h / 6, k1), (4 * h / 6, k2), (h / 6, k3))
    return q + qd


def orders(page):
    from papers import Asker
    T, counts = 0.4, [20, 40, 80, 160, 320, 400]  # steps halved each time, and 1 ms
    common = ["--no-friction", "--start", ",".join(map(str, START)), "--duration", T, "--sample", T]
    end = lambda *more: (lambda s: s["q"] + s["qd"])(page.tool.json("sim", "puma560", *common, *more))
    exact = end("-i", "rk56", "--step", T / 1600)
    names = ["rk3", "rk4", "rk45", "rk56"]
    errors = {m: [math.dist(end("-i", m, "--step", T / k), exact) for k in counts] for m in names}
    asker = Asker(page.tool, "fd", "puma560", "--no-friction")
    errors["as printed"] = [math.dist(rk3(asker, T / k, k, True), exact) for k in counts]
    errors["as corrected"] = [math.dist(rk3(asker, T / k, k, False), exact) for k in counts]
    asker.close()
    page.heading("RK3 at 1 ms: what is printed, what is right")
    page.errata([("RK3", "c<sub>3</sub> = θ' + 2h k<sub>2</sub> − h c<sub>1</sub>", "θ' + 2h k<sub>2</sub> − h k<sub>1</sub>", "checked below"),
                 ("differential equations", "dθ/dt = F, dθ'/dt = θ'", "dθ/dt = θ', dθ'/dt = F", "read")])
    page.text(f"Free fall of the PUMA for {T} s, error of positions and speeds at the end:")
    at, halved = counts.index(400), range(1, counts.index(320) + 1)

    def order(m):
        """Returns the measured order and the pair of steps that it is read from: the finest whose
        errors are above rounding, because there the leading term of the error dominates."""
        fine = [i for i in halved if errors[m][i] > ROUNDING][-1]
        steps = [f"{1000 * T / counts[i]:g}" for i in (fine - 1, fine)]
        return f"{math.log2(errors[m][fine - 1] / errors[m][fine]):.2f}", f"{steps[0]} to {steps[1]} ms"
    page.table(["integrator", "error at 1 ms", "order", "read from steps of"],
               [["RK3 as printed", f"{errors['as printed'][at]:.2g}", *order("as printed")]]
               + [[f"*{m}", f"{errors[m][at]:.2g}", *order(m)] for m in names])
    same = max(abs(a - b) for a, b in zip(errors["rk3"], errors["as corrected"]))
    page.text(f"Our rk3 is the corrected formula: written out as in the paper it ends at the same place (to {same:.1g}). The printed "
              "one is of order 1. At 1 ms and with order 5 or 6 the rounding of the numbers is what is left; orders are read above it.")
    data = [[1000 * T / k, *(max(errors[m][i], 1e-16) for m in ("as printed", *names))] for i, k in enumerate(counts)]
    page.plot(f"Error after {T} s over the step in ms: the slope is the order.",
              "set logscale xy\nset format y '10^{%L}'\nset xrange [0.8:25]\n"
              "set xtics (1, 1.25, 2.5, 5, 10, 20)\nset xlabel 'step in ms'\nset ylabel 'error in rad and rad/s'\nset key outside\n"
              "plot $d using 1:2 with linespoints lc 'black' dt 2 pt 7 ps 0.6 title 'RK3 as printed', "
              + ", ".join(f"$d using 1:{i + 3} with linespoints pt 7 ps 0.6 title '{m}'" for i, m in enumerate(names)), d=data)


def time_constants(page):
    info = page.tool.json("info", "cmu-dd")
    q = [0.0, 0.5, 0.0, 0.8, 0.0, 0.5]
    mass = page.tool.table("mass", "cmu-dd", rows=[q])[0]
    drag = [(j["gear"] * j["torque_constant"]) ** 2 / j["resistance"] for j in info["joints"]]
    rows = [(j["name"], mass[7 * i] / drag[i]) for i, j in enumerate(info["joints"])]
    smallest = min(t for _, t in rows)
    # The fastest decay of M q'' = -drag q' is the square of the highest frequency of M q'' = -drag q.
    fastest = elements.frequencies([mass[6 * i:6 * i + 6] for i in range(6)], [[d * (i == k) for k in range(6)] for i, d in enumerate(drag)])[-1]
    coupled = (2 * math.pi * fastest) ** -2
    page.heading("The step of 1 ms and the mechanical time constants")
    page.table(["joint of cmu-dd", "R J / Kt², ms"], [[f"*{name}", f"{1000 * t:.3g}"] for name, t in rows])
    page.text("J is the joint's own element of the inertia matrix at q = " + ", ".join(map(str, q)) + ". The paper takes 1 ms, “approximately "
              "1/15th of the smallest mechanical time constant in the arm”, i.e. 15 ms. It prints no data of its arm; in ours, made "
              f"in its spirit, the smallest is {1000 * smallest:.2g} ms, and {1000 * coupled:.2g} ms with the coupling of the joints. A step "
              "of rk3 is stable below about 2.5 time constants, so that 1 ms is a matter of accuracy: the same run with rk3 at 1 ms and "
              "with rk56 at tolerance 1e-12 differ by little.")
    volts, T = "20,15,-10,6,-4,2", 0.5
    common = ["--start", ",".join(map(str, q)), "--voltage", volts, "--duration", T, "--period", "0.001", "--sample", "0.005"]
    coarse, _ = page.tool.simulate("cmu-dd", *common, "-i", "rk3", "--step", "0.001")
    fine, _ = page.tool.simulate("cmu-dd", *common, "-i", "rk56", "--tolerance", "1e-12")
    names = [name for name in coarse if name.startswith("q_")]
    worst = max(abs(a - b) for name in names for a, b in zip(coarse[name], fine[name]))
    page.text(f"Constant voltages {volts} V, {T} s: positions differ by at most <b>{worst:.2g} rad</b>.")
    data = [[t, *(coarse[name][i] for name in names)] for i, t in enumerate(coarse["t"])]
    page.plot("The direct-drive arm under constant voltages, rk3 at 1 ms, positions in rad over s.",
              "set xlabel 's'\nset ylabel 'rad'\nset key outside\nplot " +
              ", ".join(f"$d using 1:{i + 2} with lines title '{name[2:]}' noenhanced" for i, name in enumerate(names)), d=data)


SESSION = """gravity
theta = 0 0.5 0 0.8 0 0.5
inverse_arm
f_hand = 0 0 -10
inverse_arm
f_hand = 0 0 0
voltage = 20 15 -10 6 -4 2
torque
forward_arm
simulate yes no no 100
print_simulation 0 100 50
"""


def session(page):
    page.heading("The program “sim”")
    page.text("The variables and commands of the paper, as <code>appell sim cmu-dd</code> has them. What is typed stands behind "
              "the prompt; <code>simulate</code> asks for what is not said in its line.")
    out, rest = [], SESSION.splitlines()
    for k, line in enumerate(rest):
        shown = page.tool.text("sim", "cmu-dd", "-q", rows="\n".join(rest[:k + 1]) + "\n")
        before = page.tool.text("sim", "cmu-dd", "-q", rows="\n".join(rest[:k]) + "\n") if k else ""
        out.append("sim> " + line + "\n" + shown[len(before):])
    page.pre("".join(out))
    page.text("The paper's default for gravity, −9.80621 for an arm that hangs from its base, is what this arm has. Typesetting has "
              "turned underscores of the command names into dots and slashes in the print.")


def make(page):
    parts(page)
    wrench(page)
    orders(page)
    time_constants(page)
    session(page)
